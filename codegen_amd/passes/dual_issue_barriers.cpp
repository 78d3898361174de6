// Keeps loads from memory ahead of the first use of any of them, on targets with dual-issue instructions (RDNA).
//
//   buffer_load v9, v1                     buffer_load v9, v1
//   s_waitcnt vmcnt(0)                     v_add v3, …
//   v_dual_mul v4, v9, v9 ::               buffer_load v17, v3
//          v_add v3, …                →    s_waitcnt vmcnt(1)
//   buffer_load v17, v3                    v_mul v4, v9, v9
//
// LLVM's scheduler issues the loads first. After register allocation, its next scheduler pairs instructions for dual
// issue, the first one of a block with the next one that fits, wherever that is. If it pairs the use of one load with
// the address of another, the other load is issued after the wait for the first: the latencies of memory add up.
//
// A SCHED_BARRIER, which becomes no instruction, is put ahead of an instruction that uses a load's result if another
// load was issued since the last one: no pair crosses it.
//
// Limits: vector loads of global memory; within a block, in the order that LLVM's first scheduler chose.
//
// Runs: after LLVM's scheduler, before register allocation (codegen/object/backend.h, addCodegenPassesAfter).
#include "codegen_amd/passes/dual_issue_barriers.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

// What may still cross a SCHED_BARRIER: scalar, matrix and LDS instructions, and stores to memory.
constexpr int64_t kMayCross = 0x4 | 0x8 | 0x40 | 0x80;

class DualIssueBarriers final : public MachineFunctionPass {
public:
  static char ID;
  DualIssueBarriers() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: barriers for dual issue"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<LiveIntervalsWrapperPass>();
    au.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    tii_ = mf.getSubtarget().getInstrInfo();
    lis_ = &getAnalysis<LiveIntervalsWrapperPass>().getLIS();
    barrier_ = opcodeNamed(*tii_, "SCHED_BARRIER");
    if (!barrier_) return false;
    bool changed = false;
    for (MachineBasicBlock &block : mf) changed |= holdIn(block);
    return changed;
  }

private:
  bool holdIn(MachineBasicBlock &block) {
    DenseSet<Register> loaded; // in this block
    DenseSet<Register> latest; // … since the last barrier
    bool changed = false;
    for (MachineInstr &mi : block) {
      unsigned used = 0, usedOfLatest = 0;
      DenseSet<Register> seen;
      for (const MachineOperand &o : mi.all_uses())
        if (loaded.contains(o.getReg()) && seen.insert(o.getReg()).second) {
          ++used;
          usedOfLatest += latest.contains(o.getReg());
        }
      if (used && usedOfLatest < latest.size()) {
        MachineInstr *barrier =
            BuildMI(block, mi.getIterator(), mi.getDebugLoc(), tii_->get(barrier_)).addImm(kMayCross);
        lis_->InsertMachineInstrInMaps(*barrier);
        latest.clear();
        changed = true;
      }
      for (const MachineOperand &o : mi.all_defs()) {
        loaded.erase(o.getReg());
        latest.erase(o.getReg());
      }
      if (isMemoryLoad(mi, *tii_)) {
        loaded.insert(mi.getOperand(0).getReg());
        latest.insert(mi.getOperand(0).getReg());
      }
    }
    return changed;
  }

  const TargetInstrInfo *tii_ = nullptr;
  LiveIntervals *lis_ = nullptr;
  unsigned barrier_ = 0; // opcode of SCHED_BARRIER
};

char DualIssueBarriers::ID = 0;

} // namespace

Pass *createDualIssueBarriers() { return new DualIssueBarriers(); }

} // namespace tessera::amd
