// Bounds the time that LLVM's greedy register allocator spends on evictions.
//
// A live range that finds no free register may evict others. Before a live range of one basic block evicts another of
// that block, LLVM's default advisor tries every register for the evicted one. It does so for each candidate register,
// so a search among 256 registers tries up to 256 x 256. In a block with far more live ranges than registers most of
// these tries are in vain, and they take up to nine tenths of the compile time (gfx1100, softmax of 8,192 columns by
// one warp: 8 of 9 s).
//
// The advisor here counts the registers that such searches may try. When the budget of a run of the allocator is spent,
// a live range of one block is split or spilled without a search. Other live ranges are still given LLVM's answer:
// those across blocks, since no registers are tried for what they evict, and those that cannot be spilled, since they
// need a register. The count does not depend on the machine or the time, so the code does not either. A kernel within
// the budget has the code that LLVM makes of it.
//
// The pass has the identity of LLVM's analysis. The pass manager takes it instead of the default one if it is added
// first.
#include "codegen_amd/eviction_budget.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/RegAllocEvictionAdvisor.h"
#include "llvm/CodeGen/RegisterClassInfo.h"
#include "llvm/IR/Module.h"

namespace tessera::amd {
using namespace llvm;
namespace {

class BudgetedAdvisor final : public RegAllocEvictionAdvisor {
public:
  BudgetedAdvisor(const MachineFunction &mf, const RAGreedy &allocator, int64_t maxTries, int64_t *tried)
      : RegAllocEvictionAdvisor(mf, allocator), default_(mf, allocator), triesLeft_(maxTries), tried_(tried) {}

private:
  MCRegister tryFindEvictionCandidate(const LiveInterval &range, const AllocationOrder &order, uint8_t costPerUseLimit,
                                      const SmallVirtRegSet &fixed) const override {
    bool isLocal = range.empty() || LIS->intervalIsInOneMBB(range);
    if (isLocal && range.isSpillable()) {
      if (triesLeft_ <= 0) return MCRegister();
      int64_t registers = RegClassInfo.getNumAllocatableRegs(MRI->getRegClass(range.reg()));
      triesLeft_ -= registers * registers;
      if (tried_) *tried_ += registers * registers;
    }
    return defaultAdvisor().tryFindEvictionCandidate(range, order, costPerUseLimit, fixed);
  }

  bool canEvictHintInterference(const LiveInterval &range, MCRegister hint,
                                const SmallVirtRegSet &fixed) const override {
    return defaultAdvisor().canEvictHintInterference(range, hint, fixed);
  }

  /// The functions are public in the interface only.
  const RegAllocEvictionAdvisor &defaultAdvisor() const { return default_; }

  DefaultEvictionAdvisor default_;
  mutable int64_t triesLeft_; // the interface is const
  int64_t *tried_;            // of all runs; null: nobody counts
};

class BudgetedAdvisorProvider final : public RegAllocEvictionAdvisorProvider {
public:
  BudgetedAdvisorProvider(LLVMContext &context, int64_t maxTries, int64_t *tried)
      : RegAllocEvictionAdvisorProvider(AdvisorMode::Default, context), maxTries_(maxTries), tried_(tried) {}

  std::unique_ptr<RegAllocEvictionAdvisor> getAdvisor(const MachineFunction &mf, const RAGreedy &allocator,
                                                      MachineBlockFrequencyInfo *, MachineLoopInfo *) override {
    return std::make_unique<BudgetedAdvisor>(mf, allocator, maxTries_, tried_);
  }

private:
  int64_t maxTries_;
  int64_t *tried_;
};

class EvictionBudget final : public RegAllocEvictionAdvisorAnalysisLegacy {
public:
  EvictionBudget(int64_t maxTries, int64_t *tried)
      : RegAllocEvictionAdvisorAnalysisLegacy(AdvisorMode::Default), maxTries_(maxTries), tried_(tried) {}

  bool doInitialization(Module &module) override {
    Provider = std::make_unique<BudgetedAdvisorProvider>(module.getContext(), maxTries_, tried_);
    return false;
  }

private:
  int64_t maxTries_;
  int64_t *tried_;
};

} // namespace

ImmutablePass *createEvictionBudget(int64_t maxTries, int64_t *tried) { return new EvictionBudget(maxTries, tried); }

} // namespace tessera::amd
