// Raises the priority of waves that are near a barrier, in loops with MFMA that keep LDS busier than the matrix units.
//
//   loop: mfma; mfma              loop: mfma; mfma
//         mfma; mfma                    s_setprio 1
//         s_barrier                     mfma; mfma
//         ds_read; …          →         s_barrier
//                                       s_setprio 0
//                                       ds_read; …
//                                 exit: s_setprio 0
//
// Of the waves of a SIMD that could issue, the one with the highest priority does, among equals the oldest (ISA guides,
// S_SETPRIO). With two blocks on a compute unit, that delays the younger block's waves wherever the older one's can
// issue: the last of them comes to the barrier late, and the others of its block, which leave LDS alone meanwhile, wait
// for it. With the priority by progress, a block that has come far in its iteration reaches the barrier soon, and the
// other one, at the beginning of its own, uses LDS after it: they stay out of step.
//
// Priorities change the order of issue, never a result.
//
// Limits: targets with priorityLevels of two and more (gfx950); kernels of which a compute unit runs two blocks and
// more (with one, the oldest wave is also the one that has come farthest), with two waves of each on a SIMD (smaller
// blocks mostly lose, the more so in launches that leave one for a compute unit); loops of one machine block; LDS that
// is busier than the matrix unit. Figures: benchmarks/results/2026-11-26-amd-priorities.md.
//
// Runs: on machine code after prologues and epilogues are inserted, when the registers are known (codegen/object/
// backend.h, addCodegenPassesAfter). For LLVM's last scheduler S_SETPRIO is a boundary.
#include "codegen_amd/passes/raise_priorities.h"
#include "codegen/attribute_names.h"
#include "codegen_amd/passes/block_resources.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSchedule.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"

namespace tessera::amd {
using namespace llvm;
namespace {

class RaisePriorities final : public MachineFunctionPass {
public:
  static char ID;
  explicit RaisePriorities(const ir::TargetInfo &info) : MachineFunctionPass(ID), info_(info) {}
  StringRef getPassName() const override { return "Tessera: priorities of waves"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<MachineLoopInfoWrapperPass>();
    au.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    if (info_.tuning.priorityLevels < 2) return false;
    tii_ = mf.getSubtarget().getInstrInfo();
    schedule_.init(&mf.getSubtarget());
    block_ = resourcesOf(mf, info_);
    blocks_ = info_.occupancy(block_);
    constexpr int64_t kWaves = 2; // of a block on a SIMD, at least
    bool hasFewWaves = block_.warps < kWaves * info_.schedulersPerMultiprocessor;
    if (hasFewWaves || blocks_ < info_.tuning.priorityLeastBlocks) return false;
    setPriority_ = opcodeNamed(*tii_, "S_SETPRIO");
    if (!setPriority_) return false;
    auto &loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    unsigned raised = 0;
    for (MachineBasicBlock &block : mf) {
      MachineLoop *loop = loops.getLoopFor(&block);
      if (!loop || loop->getNumBlocks() != 1 || !keepsLdsBusier(block) || !raise(block)) continue;
      ++raised;
      SmallVector<MachineBasicBlock *, 2> exits;
      loop->getUniqueExitBlocks(exits);
      for (MachineBasicBlock *exit : exits) set(*exit, exit->SkipPHIsLabelsAndDebug(exit->begin()), 0);
    }
    if (raised) mf.getFunction().addFnAttr(codegen::kRaisedPriorities, std::to_string(blocks_));
    return raised != 0;
  }

private:
  StringRef nameOf(const MachineInstr &mi) const { return tii_->getName(mi.getOpcode()); }
  bool isBarrier(const MachineInstr &mi) const { return nameOf(mi) == "S_BARRIER"; }

  /// Whether an iteration takes more clocks of LDS than of the matrix units.
  bool keepsLdsBusier(const MachineBasicBlock &block) const {
    constexpr int64_t kPass = 4, kLanes = 64, kWritten = 128; // bytes of LDS, a clock
    int64_t read = info_.sharedMemoryBanks * info_.sharedMemoryBankBytes;
    int64_t lds = 0, matrix = 0;
    for (const MachineInstr &mi : block) {
      if (isMfma(mi, *tii_)) matrix += kPass * schedule_.computeInstrLatency(&mi);
      if (!nameOf(mi).starts_with("DS_")) continue;
      for (const MachineMemOperand *m : mi.memoperands()) {
        if (!m->getSize().hasValue() || m->getSize().isScalable()) continue;
        int64_t bytes = int64_t(m->getSize().getValue().getFixedValue()) * kLanes;
        lds += bytes / (mi.mayStore() ? kWritten : read);
      }
    }
    // The matrix units are one for each SIMD.
    int64_t wavesOfSimd = divideCeil(block_.warps, info_.schedulersPerMultiprocessor);
    return matrix && lds * block_.warps * 100 >= matrix * wavesOfSimd * info_.tuning.priorityLdsPercent;
  }

  void set(MachineBasicBlock &block, MachineBasicBlock::iterator at, int64_t priority) const {
    BuildMI(block, at, DebugLoc(), tii_->get(setPriority_)).addImm(priority);
  }

  /// Raises priorities in the loop's block. False if no two barriers, of an iteration or of two, have enough MFMA
  /// between them.
  bool raise(MachineBasicBlock &block) const {
    SmallVector<MachineInstr *, 4> barriers;
    SmallVector<SmallVector<MachineInstr *, 64>, 4> segments(1);
    for (MachineInstr &mi : block) {
      if (isMfma(mi, *tii_)) segments.back().push_back(&mi);
      if (!isBarrier(mi)) continue;
      barriers.push_back(&mi);
      segments.emplace_back();
    }
    if (barriers.empty()) return false;
    // What follows the last barrier leads to the next iteration's first one.
    SmallVector<MachineInstr *, 64> around = segments.pop_back_val();
    around.append(segments.front());
    segments.front() = std::move(around);
    int64_t steps = info_.tuning.priorityLevels;
    bool raises = false;
    for (auto &matrices : segments) {
      if (int64_t(matrices.size()) < std::max(steps, info_.tuning.orderLeastMatrices)) continue;
      raises = true;
      for (int64_t step = 1; step < steps; ++step) {
        MachineInstr *mi = matrices[matrices.size() * size_t(step) / size_t(steps)];
        set(block, mi->getIterator(), step);
      }
    }
    if (!raises) return false;
    for (MachineInstr *b : barriers) set(block, std::next(b->getIterator()), 0);
    return true;
  }

  const ir::TargetInfo &info_;
  const TargetInstrInfo *tii_ = nullptr;
  TargetSchedModel schedule_;
  ir::BlockResources block_;
  int blocks_ = 0; // on a compute unit
  unsigned setPriority_ = 0;
};

char RaisePriorities::ID = 0;

} // namespace

Pass *createRaisePriorities(const ir::TargetInfo &info) { return new RaisePriorities(info); }

} // namespace tessera::amd
