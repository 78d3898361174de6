// Loads the constant that an accumulator starts from once, for all ways that lead around its loop.
//
//   entry:                                             entry:
//     %z0 = mov 0                                        %z = mov 0
//     branch %none, %end                                 branch %none, %end
//   before:                                       →    before:
//     %z1 = mov 0                                        …
//   loop:                                              loop:
//     %acc = phi [%z1, %before], [%sum, %loop]           %acc = phi [%z, %before], [%sum, %loop]
//   end:                                               end:
//     %last = phi [%z0, %entry], [%sum, %loop]           %last = phi [%z, %entry], [%sum, %loop]
//
// A loop may have no iteration, and an unrolled one has its last iteration apart. Each way around one of them ends with
// the accumulator's first value, which LLVM moves to the registers anew: up to 64 moves for 16 registers, in blocks of
// which all are executed. The phis of an accumulator get one register, and so does a constant that only they use.
//
// An accumulator's phis are found lane by lane (32 bits), through copies, register sequences and matrix instructions
// that accumulate in place. The constant is moved where the blocks that it comes from have their common dominator. Left
// alone is what would take another register: constants of an outer loop, and those to which a path from there computes
// the accumulator, or where it is already computed.
//
// Limits: kernels with MFMA. Loops with WMMA are not unrolled, which leaves little to share, and LLVM's scheduler for
// RDNA orders their loads worse: by the timing model, 2026-11, up to 2 % slower (i8 and f16 GEMMs of 1024).
//
// Runs: on machine code in SSA form, before phis become copies (codegen/object/backend.h, addCodegenPassesAfter).
#include "codegen_amd/passes/share_constants.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include <tuple>

namespace tessera::amd {
using namespace llvm;
namespace {

constexpr unsigned kLaneBits = 32;

/// 32 bits of a virtual register: its number and which of its parts.
using Lane = std::pair<unsigned, unsigned>;

/// A constant that comes to a phi from a block.
struct Start {
  MachineOperand *use;
  MachineBasicBlock *from;
};

class ShareConstants final : public MachineFunctionPass {
public:
  static char ID;
  ShareConstants() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: sharing of constants"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<MachineLoopInfoWrapperPass>();
    au.addRequired<MachineDominatorTreeWrapperPass>();
    au.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    loops_ = &getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    dominators_ = &getAnalysis<MachineDominatorTreeWrapperPass>().getDomTree();
    mri_ = &mf.getRegInfo();
    tii_ = mf.getSubtarget().getInstrInfo();
    tri_ = mf.getSubtarget().getRegisterInfo();
    if (!mri_->isSSA()) return false;
    lanes_ = EquivalenceClasses<Lane>();
    for (MachineBasicBlock &block : mf)
      for (MachineInstr &mi : block) joinLanesOf(mi);
    // Starts of one accumulator that are the same constant, of blocks in the same loop.
    using Key = std::tuple<Lane, unsigned, int64_t, MachineLoop *>;
    MapVector<Key, SmallVector<Start, 4>> groups;
    for (MachineBasicBlock &block : mf)
      for (MachineInstr &phi : block.phis()) {
        if (!isWord(phi.getOperand(0).getReg())) continue;
        for (unsigned i = 1; i + 1 < phi.getNumOperands(); i += 2)
          if (MachineInstr *move = constantMove(phi.getOperand(i))) {
            MachineBasicBlock *from = phi.getOperand(i + 1).getMBB();
            Lane accumulator = lanes_.getOrInsertLeaderValue({phi.getOperand(0).getReg().id(), 0});
            Key key = {accumulator, move->getOpcode(), move->getOperand(1).getImm(), loops_->getLoopFor(from)};
            groups[key].push_back({&phi.getOperand(i), from});
          }
      }
    bool changed = false;
    for (auto &[key, starts] : groups)
      if (starts.size() > 1) changed |= share(std::get<Lane>(key), std::get<MachineLoop *>(key), starts);
    return changed;
  }

private:
  bool isVector(Register r) const {
    const TargetRegisterClass *c = r.isVirtual() ? mri_->getRegClassOrNull(r) : nullptr;
    StringRef name = c ? tri_->getRegClassName(c) : "";
    return name.starts_with_insensitive("v") || name.starts_with_insensitive("a");
  }

  bool isWord(Register r) const { return isVector(r) && sizeOf(r) == kLaneBits; }

  unsigned sizeOf(Register r) const { return unsigned(tri_->getRegSizeInBits(*mri_->getRegClass(r))); }

  /// What moves a constant to the vector register; null if the register has anything else.
  MachineInstr *constantMove(const MachineOperand &o) const {
    Register r = o.getReg();
    if (o.getSubReg() || !r.isVirtual()) return nullptr;
    MachineInstr *def = mri_->getVRegDef(r);
    if (!def || !isWord(r)) return nullptr;
    StringRef name = tii_->getName(def->getOpcode());
    bool isMove =
        name == "AV_MOV_B32_IMM_PSEUDO" || name.starts_with("V_MOV_B32_e") || name.starts_with("V_ACCVGPR_WRITE_B32");
    return isMove && def->getOperand(1).isImm() ? def : nullptr;
  }

  /// The lanes that the operand names; none if they are not whole ones.
  SmallVector<Lane, 16> lanesOf(Register r, unsigned part) const {
    SmallVector<Lane, 16> out;
    if (!isVector(r)) return out;
    unsigned begin = part ? tri_->getSubRegIdxOffset(part) : 0, size = part ? tri_->getSubRegIdxSize(part) : sizeOf(r);
    if (begin % kLaneBits || size % kLaneBits) return out;
    for (unsigned i = 0; i < size / kLaneBits; ++i) out.push_back({r.id(), begin / kLaneBits + i});
    return out;
  }

  void join(ArrayRef<Lane> a, ArrayRef<Lane> b) {
    if (a.size() != b.size()) return;
    for (auto [x, y] : zip(a, b)) lanes_.unionSets(x, y);
  }

  /// Joins the lanes of which the instruction's result is the same accumulator. Constants belong to none: one register
  /// with a constant may be the start of several.
  void joinLanesOf(MachineInstr &mi) {
    auto joinWith = [&](const MachineOperand &o, ArrayRef<Lane> lanes) {
      if (o.isReg() && !constantMove(o)) join(lanes, lanesOf(o.getReg(), o.getSubReg()));
    };
    if (!mi.isPHI() && !mi.isFullCopy() && !mi.isCopy() && !mi.isRegSequence() && !isMatrixInstruction(mi, *tii_))
      return;
    const MachineOperand &result = mi.getOperand(0);
    if (mi.isRegSequence()) {
      for (unsigned i = 1; i + 1 < mi.getNumOperands(); i += 2)
        joinWith(mi.getOperand(i), lanesOf(result.getReg(), unsigned(mi.getOperand(i + 1).getImm())));
      return;
    }
    SmallVector<Lane, 16> lanes = lanesOf(result.getReg(), result.getSubReg());
    if (mi.isPHI())
      for (unsigned i = 1; i + 1 < mi.getNumOperands(); i += 2) joinWith(mi.getOperand(i), lanes);
    else if (mi.isCopy())
      joinWith(mi.getOperand(1), lanes);
    else if (result.isTied())
      joinWith(mi.getOperand(mi.findTiedOperandIdx(0)), lanes);
  }

  /// The block in which the constant can be moved for all starts: in their loop, and in no inner one.
  MachineBasicBlock *placeOf(ArrayRef<Start> starts, MachineLoop *loop) const {
    MachineBasicBlock *place = starts.front().from;
    for (const Start &s : starts.drop_front()) place = dominators_->findNearestCommonDominator(place, s.from);
    while (place && loops_->getLoopFor(place) != loop) {
      auto *node = dominators_->getNode(place)->getIDom();
      place = node ? node->getBlock() : nullptr;
    }
    return place;
  }

  /// Whether the accumulator is computed between the place and the block.
  static bool isComputedBetween(MachineBasicBlock *place, MachineBasicBlock *block,
                                const SmallPtrSetImpl<MachineBasicBlock *> &computedIn) {
    SmallVector<MachineBasicBlock *, 16> open = {block};
    SmallPtrSet<MachineBasicBlock *, 16> seen = {block};
    while (!open.empty()) {
      MachineBasicBlock *b = open.pop_back_val();
      if (b == place) continue;
      if (computedIn.contains(b)) return true;
      for (MachineBasicBlock *before : b->predecessors())
        if (seen.insert(before).second) open.push_back(before);
    }
    return false;
  }

  bool share(Lane accumulator, MachineLoop *loop, SmallVectorImpl<Start> &starts) {
    SmallPtrSet<MachineBasicBlock *, 16> computedIn;
    for (const Lane &lane : lanes_.members(accumulator))
      if (MachineInstr *def = mri_->getVRegDef(Register(lane.first))) computedIn.insert(def->getParent());
    MachineBasicBlock *place = nullptr;
    for (size_t before = 0; before != starts.size();) {
      before = starts.size();
      if (before < 2) return false;
      place = placeOf(starts, loop);
      if (!place || any_of(computedIn, [&](auto *b) { return dominators_->dominates(b, place); })) return false;
      erase_if(starts, [&](const Start &s) { return isComputedBetween(place, s.from, computedIn); });
    }
    MachineInstr *move = constantMove(*starts.front().use);
    MachineInstr *shared = place->getParent()->CloneMachineInstr(move);
    Register constant = mri_->cloneVirtualRegister(move->getOperand(0).getReg());
    shared->getOperand(0).setReg(constant);
    place->insert(place->getFirstTerminator(), shared);
    for (const Start &s : starts) {
      MachineInstr *old = constantMove(*s.use);
      s.use->setReg(constant);
      if (mri_->use_empty(old->getOperand(0).getReg())) old->eraseFromParent();
    }
    return true;
  }

  MachineDominatorTree *dominators_ = nullptr;
  MachineLoopInfo *loops_ = nullptr;
  MachineRegisterInfo *mri_ = nullptr;
  const TargetInstrInfo *tii_ = nullptr;
  const TargetRegisterInfo *tri_ = nullptr;
  EquivalenceClasses<Lane> lanes_; // of one accumulator each
};

char ShareConstants::ID = 0;

} // namespace

Pass *createShareConstants() { return new ShareConstants(); }

} // namespace tessera::amd
