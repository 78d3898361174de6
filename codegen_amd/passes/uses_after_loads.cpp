// Moves arithmetic on loaded values behind the loads that follow.
//
//   v0 = buffer_load_u16                   v0 = buffer_load_u16
//   v1 = buffer_load_u16                   v1 = buffer_load_u16
//   v0.hi16 = copy v1.lo16                 v2 = buffer_load_u16
//   v2 = buffer_load_u16            →      v3 = buffer_load_u16
//   v3 = buffer_load_u16                   v0.hi16 = copy v1.lo16
//   v2.hi16 = copy v3.lo16                 v2.hi16 = copy v3.lo16
//
// Where a block takes nearly all registers at one place, LLVM's scheduler saves them at every place of it: each pair of
// loads is waited for and packed before the next pair is issued, and the latencies of memory add up.
//
// Limits: blocks without MFMA, which order-matrices orders; vector loads of global memory, up to the next barrier,
// store or use that is not plain arithmetic; no more registers than the function takes elsewhere, where fewer uses are
// moved otherwise.
//
// Runs: after LLVM's scheduler, before register allocation (codegen/object/backend.h, addCodegenPassesAfter).
#include "codegen_amd/passes/uses_after_loads.h"
#include "codegen_amd/passes/opcodes.h"
#include "codegen_amd/passes/vector_pressure.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include <optional>

namespace tessera::amd {
using namespace llvm;
namespace {

class UsesAfterLoads final : public MachineFunctionPass {
public:
  static char ID;
  explicit UsesAfterLoads(const ir::Tuning &tuning) : MachineFunctionPass(ID), tuning_(tuning) {}
  StringRef getPassName() const override { return "Tessera: uses after loads"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<LiveIntervalsWrapperPass>();
    au.setPreservesAll(); // live intervals are updated
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    tii_ = mf.getSubtarget().getInstrInfo();
    tri_ = mf.getSubtarget().getRegisterInfo();
    lis_ = &getAnalysis<LiveIntervalsWrapperPass>().getLIS();
    limit_.reset();
    bool changed = false;
    for (MachineBasicBlock &block : mf) {
      if (hasMfma(block, *tii_)) continue;
      loaded_.clear();
      for (auto it = block.begin(); it != block.end();) {
        Run run = runFrom(block, it);
        if (!run.loads.empty() && move(mf, block, run)) changed = true;
        // The next run starts behind this one's loads: its uses are there now, or stay where they are.
        it = run.end;
      }
    }
    return changed;
  }

private:
  /// Uses of loaded values, and loads behind the first of them that need none of them.
  struct Run {
    SmallVector<MachineInstr *, 0> uses, loads; // in their order
    MachineBasicBlock::iterator end;            // where to look for the next one
  };

  /// Arithmetic on virtual registers, which no load can be in the way of.
  bool isMovable(const MachineInstr &mi) const {
    return isArithmetic(mi, [&](Register r) { return isMode(r); });
  }

  /// Which lanes are active, and how numbers are rounded: all arithmetic reads them.
  bool isMode(Register r) const {
    StringRef name = tri_->getName(r);
    return name.starts_with("EXEC") || name == "MODE";
  }

  bool writesMode(const MachineInstr &mi) const {
    return llvm::any_of(mi.all_defs(),
                        [&](const MachineOperand &o) { return o.getReg().isPhysical() && isMode(o.getReg()); });
  }

  bool usesLoaded(const MachineInstr &mi) const {
    return llvm::any_of(mi.all_uses(), [&](const MachineOperand &o) { return loaded_.contains(o.getReg()); });
  }

  Run runFrom(MachineBasicBlock &block, MachineBasicBlock::iterator begin) {
    Run run;
    DenseSet<Register> defined, read; // by the uses
    unsigned usesBeforeLoad = 0;
    auto it = begin;
    for (; it != block.end(); ++it) {
      MachineInstr &mi = *it;
      bool depends = false; // on a use, or is in the way of moving one
      for (const MachineOperand &o : mi.operands())
        if (o.isReg() && o.getReg().isVirtual())
          depends |= defined.contains(o.getReg()) || (o.isDef() && read.contains(o.getReg()));
      bool isUse = depends || usesLoaded(mi);
      if (isUse && !isMemoryLoad(mi, *tii_) && isMovable(mi)) {
        run.uses.push_back(&mi);
        for (const MachineOperand &o : mi.operands())
          if (o.isReg() && o.getReg().isVirtual()) (o.isDef() ? defined : read).insert(o.getReg());
        continue;
      }
      if (isMemoryLoad(mi, *tii_) && !depends) {
        loaded_.insert(mi.getOperand(0).getReg());
        if (!run.uses.empty()) {
          run.loads.push_back(&mi);
          usesBeforeLoad = run.uses.size();
        }
        continue;
      }
      if (isUse || mi.mayStore() || mi.hasUnmodeledSideEffects() || mi.isTerminator() || mi.isCall() ||
          mi.isInlineAsm() || writesMode(mi)) {
        if (isMemoryLoad(mi, *tii_)) loaded_.insert(mi.getOperand(0).getReg()); // from an address that is a use
        break;
      }
    }
    run.uses.truncate(usesBeforeLoad);
    if (it != block.end()) ++it;
    run.end = it;
    return run;
  }

  bool move(MachineFunction &mf, MachineBasicBlock &block, Run &run) {
    VectorPressure pressure(mf, *lis_);
    if (!limit_) limit_ = std::min(pressure.ofFunction(), tuning_.usesAfterLoadsRegisters);
    // Behind all of the loads, or a half of them, and so on.
    for (; !run.loads.empty(); run.loads.truncate(run.loads.size() / 2)) {
      DenseSet<MachineInstr *> moved;
      SmallVector<MachineInstr *, 0> order = orderBehind(block, run, moved);
      if (pressure.of(block, order) > *limit_) continue;
      auto at = std::next(run.loads.back()->getIterator());
      for (MachineInstr *mi : llvm::reverse(run.uses)) { // no value is moved behind its use
        if (!moved.contains(mi)) continue;
        block.splice(at, &block, mi->getIterator());
        lis_->handleMove(*mi, /*UpdateFlags=*/true);
        at = mi->getIterator();
      }
      return true;
    }
    return false;
  }

  /// The block's instructions with the uses ahead of the last load behind it.
  SmallVector<MachineInstr *, 0> orderBehind(MachineBasicBlock &block, const Run &run,
                                             DenseSet<MachineInstr *> &moved) const {
    DenseSet<MachineInstr *> uses(run.uses.begin(), run.uses.end());
    SmallVector<MachineInstr *, 0> order, behind;
    bool isBehind = false;
    for (MachineInstr &mi : block) {
      if (!isBehind && uses.contains(&mi)) {
        behind.push_back(&mi);
        continue;
      }
      order.push_back(&mi);
      if (&mi != run.loads.back()) continue;
      isBehind = true;
      moved.insert(behind.begin(), behind.end());
      order.append(behind);
    }
    return order;
  }

  const ir::Tuning &tuning_;
  const TargetInstrInfo *tii_ = nullptr;
  const TargetRegisterInfo *tri_ = nullptr;
  LiveIntervals *lis_ = nullptr;
  DenseSet<Register> loaded_;    // in the block, by the loads so far
  std::optional<int64_t> limit_; // of registers
};

char UsesAfterLoads::ID = 0;

} // namespace

Pass *createUsesAfterLoads(const ir::Tuning &tuning) { return new UsesAfterLoads(tuning); }

} // namespace tessera::amd
