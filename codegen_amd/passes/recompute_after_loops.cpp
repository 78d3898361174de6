// Recomputes after a loop with matrix instructions what was computed before it and is not used in it.
//
//   %a = V_LSHLREV 4, %tid                    …
//   loop: … %a is not used, but alive …   →   loop: …
//   use(%a)                                   %a' = V_LSHLREV 4, %tid
//                                             use(%a')
//
// Of two loops over the same tiles, as in causal attention, the second one's addresses have parts in common with the
// first one's. LLVM computes them once (GVN, MachineCSE) and keeps them in registers during the first loop, which holds
// accumulators, operands and loads in flight: as many registers as decide how many blocks of threads a compute unit
// takes. Computing them again takes a few instructions once a loop.
//
// Only vector instructions without memory or side effects are repeated, all of whose operands are constants, scalar
// registers, or vector registers that the loop needs, too, or that are recomputed themselves. A lane's index (the copy
// of a register in which the kernel starts) counts as needed.
//
// Limits: functions with two such loops at least (with one it gains nothing on CDNA, and on RDNA, where LLVM's
// scheduler takes the registers for more waves, kernels were up to a fifth slower by the model); loops from which the
// code before them is not reached again; at least 8 registers must be gained.
//
// Functions whose code spills around such loops are compiled once more without these limits (codegen_amd/backend.cpp,
// RecomputedAfter::EveryLoop): after each innermost loop with matrix instructions, also in a loop over tiles, for any
// number of registers, and with copies and pairs of registers, of which 64-bit offsets are made. Where a number of
// registers suffices, those that take the fewest instructions.
//
// Runs: on machine code in SSA form, after LLVM has merged equal instructions for the last time
// (codegen/object/backend.h, addCodegenPassesAfter).
#include "codegen_amd/passes/recompute_after_loops.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

using Blocks = SmallPtrSet<MachineBasicBlock *, 16>;

class RecomputeAfterLoops final : public MachineFunctionPass {
public:
  static char ID;
  RecomputeAfterLoops(const ir::Tuning &tuning, RecomputedAfter where, int64_t most)
      : MachineFunctionPass(ID), tuning_(tuning), everyLoop_(where == RecomputedAfter::EveryLoop), most_(most) {}
  StringRef getPassName() const override { return "Tessera: recomputation after loops"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<MachineLoopInfoWrapperPass>();
    au.addRequired<MachineDominatorTreeWrapperPass>();
    au.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    auto &loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    dominators_ = &getAnalysis<MachineDominatorTreeWrapperPass>().getDomTree();
    loops_ = &loops;
    mri_ = &mf.getRegInfo();
    tii_ = mf.getSubtarget().getInstrInfo();
    tri_ = mf.getSubtarget().getRegisterInfo();
    if (!mri_->isSSA()) return false;
    SmallVector<MachineLoop *, 4> withMatrices;
    auto considered = everyLoop_ ? innermost(loops) : SmallVector<MachineLoop *, 4>(loops.begin(), loops.end());
    for (MachineLoop *loop : considered)
      if (hasMatrix(*loop)) withMatrices.push_back(loop);
    if (withMatrices.size() < 2 && !everyLoop_) return false;
    bool changed = false;
    for (MachineLoop *loop : withMatrices) {
      Blocks later = reachedAfter(*loop);
      if (everyLoop_ || !later.contains(loop->getHeader())) changed |= after(*loop, later);
    }
    return changed;
  }

private:
  static SmallVector<MachineLoop *, 4> innermost(MachineLoopInfo &loops) {
    SmallVector<MachineLoop *, 4> found;
    for (MachineLoop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost()) found.push_back(loop);
    return found;
  }

  bool hasMatrix(const MachineLoop &loop) const {
    return llvm::any_of(loop.blocks(), [&](MachineBasicBlock *b) {
      return llvm::any_of(*b, [&](const MachineInstr &mi) { return isMatrixInstruction(mi, *tii_); });
    });
  }

  bool isVector(Register r) const {
    const TargetRegisterClass *c = r.isVirtual() ? mri_->getRegClassOrNull(r) : nullptr;
    StringRef name = c ? tri_->getRegClassName(c) : "";
    return name.starts_with("V") || name.starts_with("A");
  }

  bool after(MachineLoop &loop, const Blocks &later) {
    recomputable_.clear();
    SmallVector<std::pair<Register, MachineBasicBlock *>, 16> candidates;
    for (unsigned i = 0, e = mri_->getNumVirtRegs(); i < e; ++i) {
      Register r = Register::index2VirtReg(i);
      if (!isVector(r) || !mri_->hasOneDef(r)) continue;
      MachineBasicBlock *from = mri_->getVRegDef(r)->getParent();
      bool isBefore = !loop.contains(from) && dominators_->dominates(from, loop.getHeader());
      MachineBasicBlock *place = isBefore && !isHeld(r, loop) ? placeOf(r, loop, later) : nullptr;
      if (!place || !isRecomputable(r, loop)) continue;
      candidates.push_back({r, place});
    }
    if (most_) cheapestFirst(candidates, loop);
    MapVector<MachineBasicBlock *, SmallVector<Register, 8>> places;
    int64_t gained = 0;
    DenseSet<Register> repeated;
    for (auto [r, place] : candidates) {
      if (most_ && gained >= most_) break;
      places[place].push_back(r);
      countInstructions(r, loop, repeated);
      gained += tri_->getRegSizeInBits(*mri_->getRegClass(r)) / 32;
    }
    if (gained < (everyLoop_ ? 1 : tuning_.recomputeLeastRegisters)) return false;
    if (int64_t(repeated.size()) > tuning_.recomputeMaxInstructions * gained) return false;
    for (auto &[place, registers] : places) recompute(*place, registers, loop, later);
    return true;
  }

  /// The blocks that are reached from the loop's exits, not through the loop or the other block.
  static Blocks reachedAfter(MachineLoop &loop, MachineBasicBlock *except = nullptr) {
    SmallVector<MachineBasicBlock *, 8> open;
    loop.getExitBlocks(open);
    Blocks reached;
    while (!open.empty()) {
      MachineBasicBlock *b = open.pop_back_val();
      if (b != except && !loop.contains(b) && reached.insert(b).second) open.append(b->succ_begin(), b->succ_end());
    }
    return reached;
  }

  static MachineBasicBlock *blockOf(MachineOperand &use) {
    MachineInstr &user = *use.getParent();
    return user.isPHI() ? user.getOperand(user.getOperandNo(&use) + 1).getMBB() : user.getParent();
  }

  bool isUsedIn(MachineLoop &loop, Register r) const {
    return llvm::any_of(mri_->use_nodbg_operands(r), [&](MachineOperand &o) { return loop.contains(blockOf(o)); });
  }

  /// The block for a copy of the instruction that all uses after the loop can use, so that the loop need not hold the
  /// register. It is after the loop, too, and in no loop but those around this one. Null if there is none.
  MachineBasicBlock *placeOf(Register r, MachineLoop &loop, const Blocks &later) const {
    MachineBasicBlock *place = nullptr;
    for (MachineOperand &o : mri_->use_nodbg_operands(r)) {
      MachineBasicBlock *b = blockOf(o);
      if (!later.contains(b)) continue;
      place = place ? dominators_->findNearestCommonDominator(place, b) : b;
    }
    auto isInOtherLoop = [&](MachineBasicBlock *b) {
      MachineLoop *around = loops_->getLoopFor(b);
      return around && !around->contains(loop.getHeader());
    };
    while (place && isInOtherLoop(place)) {
      auto *node = dominators_->getNode(place)->getIDom();
      place = node ? node->getBlock() : nullptr;
    }
    if (!place || !later.contains(place)) return nullptr;
    if (loop.contains(place) || !dominates(*mri_->getVRegDef(r)->getParent(), *place)) return nullptr;
    // In a loop around this one, the place may be before this one, if all uses are, too.
    return !dominates(*place, *loop.getHeader()) || !reachesUse(r, loop, *place) ? place : nullptr;
  }

  bool dominates(MachineBasicBlock &a, MachineBasicBlock &b) const { return dominators_->dominates(&a, &b); }

  /// Whether a use of the register is reached from the loop's exits without passing the place.
  bool reachesUse(Register r, MachineLoop &loop, MachineBasicBlock &place) const {
    Blocks reached = reachedAfter(loop, &place);
    return llvm::any_of(mri_->use_nodbg_operands(r), [&](MachineOperand &o) { return reached.contains(blockOf(o)); });
  }

  /// Whether a vector register is held during the loop in any case: it is used there, or holds the lane's index.
  bool isHeld(Register r, MachineLoop &loop) const {
    MachineInstr &def = *mri_->getVRegDef(r);
    return isUsedIn(loop, r) || (def.isCopy() && def.getOperand(1).getReg().isPhysical());
  }

  /// Whether the instruction computes a vector from its operands alone, and would compute the same one later. In a loop
  /// a scalar operand may have had another value when some lanes left it.
  bool isPlain(const MachineInstr &mi) const {
    StringRef name = tii_->getName(mi.getOpcode());
    bool movesLanes = name.contains("_READ") || name.contains("_WRITE") || name.contains("PERMLANE") ||
                      name.contains("DPP") || name.contains("SWAP");
    bool mayBePlain = name.starts_with("V_") || (everyLoop_ && (mi.isCopy() || mi.isRegSequence()));
    return mayBePlain && !isMatrixInstruction(mi, *tii_) && !movesLanes && !loops_->getLoopFor(mi.getParent()) &&
           !mi.mayLoadOrStore() && !mi.hasUnmodeledSideEffects() && !mi.isConvergent() && !mi.mayRaiseFPException() &&
           definesOne(mi) && !mi.getOperand(0).getSubReg();
  }
  /// Further results, such as a carry, are used by nobody.
  bool definesOne(const MachineInstr &mi) const {
    if (mi.getNumExplicitDefs() == 1) return true;
    return everyLoop_ && mi.getNumExplicitDefs() > 1 &&
           llvm::all_of(llvm::drop_begin(mi.defs()), [&](const MachineOperand &o) {
             return o.getReg().isVirtual() && mri_->use_nodbg_empty(o.getReg());
           });
  }

  /// Whether the register's value follows from what is in registers during the loop anyway.
  bool isRecomputable(Register r, MachineLoop &loop) {
    if (auto it = recomputable_.find(r); it != recomputable_.end()) return it->second;
    MachineInstr &mi = *mri_->getVRegDef(r);
    bool can = isPlain(mi) && llvm::all_of(mi.operands(), [&](const MachineOperand &o) {
                 if (!o.isReg() || !o.getReg()) return true;
                 Register x = o.getReg();
                 if (o.isDef() && !o.isImplicit()) return true; // one of those that definesOne admits
                 if (o.isDef()) return x == r;
                 if (x.isPhysical()) return StringRef(tri_->getName(x)).starts_with("EXEC");
                 return mri_->hasOneDef(x) && (!isVector(x) || isHeld(x, loop) || isRecomputable(x, loop));
               });
    return recomputable_[r] = can;
  }

  /// Instructions that computing the register again takes, without those that `seen` has.
  void countInstructions(Register r, MachineLoop &loop, DenseSet<Register> &seen) const {
    if (!isVector(r) || isHeld(r, loop) || !seen.insert(r).second) return;
    for (const MachineOperand &o : mri_->getVRegDef(r)->all_uses())
      if (o.getReg().isVirtual()) countInstructions(o.getReg(), loop, seen);
  }

  void cheapestFirst(MutableArrayRef<std::pair<Register, MachineBasicBlock *>> candidates, MachineLoop &loop) const {
    auto cost = [&](Register r) {
      DenseSet<Register> seen;
      countInstructions(r, loop, seen);
      return seen.size();
    };
    DenseMap<Register, size_t> costs;
    for (auto [r, place] : candidates) costs[r] = cost(r);
    llvm::stable_sort(candidates, [&](auto &a, auto &b) { return costs.at(a.first) < costs.at(b.first); });
  }

  /// A copy, before `at`, of what computes the register.
  Register copyOf(Register r, MachineLoop &loop, MachineInstr &at, DenseMap<Register, Register> &copies) {
    if (!r.isVirtual()) return r;
    if (!isVector(r) || isHeld(r, loop)) {
      mri_->clearKillFlags(r);
      return r;
    }
    if (auto it = copies.find(r); it != copies.end()) return it->second;
    MachineInstr *copy = at.getMF()->CloneMachineInstr(mri_->getVRegDef(r));
    for (MachineOperand &o : copy->all_uses())
      if (o.getReg().isVirtual()) {
        o.setIsKill(false);
        o.setReg(copyOf(o.getReg(), loop, at, copies));
      }
    Register made = mri_->cloneVirtualRegister(r);
    copy->getOperand(0).setReg(made);
    for (MachineOperand &o : llvm::drop_begin(copy->defs())) o.setReg(mri_->cloneVirtualRegister(o.getReg()));
    at.getParent()->insert(at.getIterator(), copy);
    return copies[r] = made;
  }

  /// Computes all registers of a place again there, and makes the instructions after the loop use them.
  void recompute(MachineBasicBlock &place, ArrayRef<Register> registers, MachineLoop &loop, const Blocks &later) {
    auto usesThem = [&](MachineInstr &mi) {
      return !mi.isPHI() && llvm::any_of(mi.all_uses(), [&](const MachineOperand &o) {
        return llvm::is_contained(registers, o.getReg());
      });
    };
    auto end = place.getFirstTerminator();
    auto at = std::find_if(place.begin(), end, usesThem); // not before: lanes may have been off there
    if (at == place.end()) return;
    DenseMap<Register, Register> copies;
    for (Register r : registers) {
      Register made = copyOf(r, loop, *at, copies);
      for (MachineOperand &o : llvm::make_early_inc_range(mri_->use_nodbg_operands(r)))
        if (later.contains(blockOf(o))) o.setReg(made);
    }
  }

  const ir::Tuning &tuning_;
  const bool everyLoop_;
  const int64_t most_;
  MachineDominatorTree *dominators_ = nullptr;
  MachineLoopInfo *loops_ = nullptr;
  MachineRegisterInfo *mri_ = nullptr;
  const TargetInstrInfo *tii_ = nullptr;
  const TargetRegisterInfo *tri_ = nullptr;
  DenseMap<Register, bool> recomputable_; // of one loop
};

char RecomputeAfterLoops::ID = 0;

} // namespace

Pass *createRecomputeAfterLoops(const ir::Tuning &tuning, RecomputedAfter where, int64_t most) {
  return new RecomputeAfterLoops(tuning, where, most);
}

} // namespace tessera::amd
