// Blocks that begin with what was loaded before wait for the loads, not for stores that were issued since.
//
//     v2 = load the next row                             v2 = load the next row
//     …                                                  …
//     s_cbranch_execz join             LLVM              s_waitcnt vmcnt(0)
//     store v1                          →                s_cbranch_execz join
//   join:                                                store v1
//     s_waitcnt vmcnt(0)                               join:
//     v1 = v2                                            v1 = v2
//
// On gfx9 one counter counts loads and stores in the order of their issue. Behind the store the load is there at 1, on
// the way around it at 0, so that LLVM's si-insert-waitcnts waits for 0, which is the store, issued just before. So it
// does at the head of a loop: ahead of it no access follows the load, in it the last iteration's stores do.
//
// Where such a block needs a load first of all, this pass waits for it on the way there: ahead of the branch around
// stores, in a loop, and ahead of the loop. The load is waited for earlier by the time that the branch's block takes to
// issue.
//
// Limits: results that the block uses ahead of accesses to memory and LDS and of barriers. Branches around stores alone
// (a load would be issued later) that are further behind the load than their block is long: a shorter way leaves the
// load in flight, and the block's instructions overlap with it. Of the way from the load to the branch, blocks of the
// loop that are always executed; ahead of a loop the block before it alone. Not in loops that load and then use what
// was loaded before them: they wait for the stores there, unless they waited ahead of the loop, where the first
// iteration's loads would be issued a latency later.
//
// Runs: on machine code whose order is final, just before LLVM's pass; targets whose counter of loads counts stores,
// too.
#include "codegen_amd/passes/wait_before_joins.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

class WaitBeforeJoins final : public MachineFunctionPass {
public:
  static char ID;
  WaitBeforeJoins() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: waits ahead of joins"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<MachineDominatorTreeWrapperPass>();
    au.addRequired<MachineLoopInfoWrapperPass>();
    au.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    tii_ = mf.getSubtarget().getInstrInfo();
    tri_ = mf.getSubtarget().getRegisterInfo();
    tree_ = &getAnalysis<MachineDominatorTreeWrapperPass>().getDomTree();
    const MachineLoopInfo &loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    bool changed = false;
    for (MachineBasicBlock &join : mf) {
      const MachineLoop *loop = loops.getLoopFor(&join);
      if (!loop) continue;
      MachineBasicBlock *before = loop->getLoopPreheader();
      if (loop->getHeader() == &join && before && any_of(loop->blocks(), [&](auto *b) { return accessesMemory(*b); }))
        changed |= waitAtEnd(*before, join, /*within=*/nullptr, /*leastPassed=*/0);
      auto [branch, around] = branchAroundStores(join);
      if (branch && loops.getLoopFor(branch) == loop && !waitsBehindLoads(*loop))
        changed |= waitAtEnd(*branch, join, loop, unsigned(around->size()));
    }
    return changed;
  }

private:
  bool isVectorAccess(const MachineInstr &mi) const {
    StringRef name = tii_->getName(mi.getOpcode());
    bool isNamed = name.starts_with("BUFFER_") || name.starts_with("GLOBAL_") || name.starts_with("FLAT_") ||
                   name.starts_with("SCRATCH_");
    return isNamed && mi.mayLoadOrStore() && !mi.isBundle();
  }
  bool accessesMemory(const MachineBasicBlock &block) const {
    return any_of(block.instrs(), [&](const MachineInstr &mi) { return isVectorAccess(mi); });
  }

  bool loadsMemory(const MachineBasicBlock &block) const {
    return any_of(block.instrs(), [&](const MachineInstr &mi) { return isVectorAccess(mi) && mi.mayLoad(); });
  }

  /// The block that ends with a branch to the join, and the one block around which it branches, which stores; null:
  /// there are none.
  std::pair<MachineBasicBlock *, MachineBasicBlock *> branchAroundStores(const MachineBasicBlock &join) const {
    if (join.pred_size() != 2) return {};
    MachineBasicBlock *a = *join.pred_begin(), *b = *std::next(join.pred_begin());
    for (auto [branch, around] : {std::pair(a, b), std::pair(b, a)})
      if (around->pred_size() == 1 && *around->pred_begin() == branch && around->succ_size() == 1 &&
          accessesMemory(*around) && !loadsMemory(*around))
        return {branch, around};
    return {};
  }

  static bool hasUnit(const MachineOperand &o, MCRegUnit unit, const TargetRegisterInfo &tri) {
    return o.getReg().isPhysical() && is_contained(tri.regunits(o.getReg()), unit);
  }

  /// The parts of registers that the block reads as they come, before it accesses memory (but for loads, if they do not
  /// count) or LDS or waits for others.
  SmallVector<MCRegUnit, 32> readFirst(const MachineBasicBlock &block, bool passesLoads = false) const {
    SmallVector<MCRegUnit, 32> read;
    SmallSet<unsigned, 32> known; // read or defined here
    for (const MachineInstr &mi : block.instrs()) {
      bool isPassed = passesLoads && (mi.isBundle() || isMemoryLoad(mi, *tii_)); // what a bundle has comes behind it
      if (!isPassed && (mi.mayLoadOrStore() || mi.hasUnmodeledSideEffects() || mi.isTerminator())) break;
      for (const MachineOperand &o : mi.all_uses())
        if (o.getReg().isPhysical() && !o.isUndef())
          for (MCRegUnit unit : tri_->regunits(o.getReg()))
            if (known.insert(unsigned(unit)).second) read.push_back(unit);
      for (const MachineOperand &o : mi.all_defs())
        if (o.getReg().isPhysical())
          for (MCRegUnit unit : tri_->regunits(o.getReg())) known.insert(unsigned(unit));
    }
    return read;
  }

  /// What a wave could issue while it exchanges values with others: a write to LDS, a barrier and a read take 64 cycles
  /// or more each (runtime/timing/machine.def), an instruction four.
  static constexpr unsigned kInstructionsOfExchange = 64;

  struct Behind {
    unsigned accesses = 0, instructions = 0;
  };

  /// What follows the load that gives the unit its value at the block's end, on the way there through the blocks of the
  /// loop that are always executed (none given: this block). None: no load does, or its result was used.
  std::optional<Behind> behindLoad(const MachineBasicBlock &block, MCRegUnit unit, const MachineLoop *within) const {
    Behind passed;
    for (const MachineBasicBlock *at = &block; at;) {
      for (const MachineInstr &mi : reverse(at->instrs())) {
        if (mi.isBundle()) continue;
        auto isUnit = [&](const MachineOperand &o) { return hasUnit(o, unit, *tri_); };
        if (any_of(mi.all_defs(), isUnit)) return isMemoryLoad(mi, *tii_) ? std::optional(passed) : std::nullopt;
        if (any_of(mi.all_uses(), isUnit)) return std::nullopt;
        passed.accesses += isVectorAccess(mi);
        bool isBarrier = tii_->getName(mi.getOpcode()) == "S_BARRIER";
        passed.instructions += isBarrier ? kInstructionsOfExchange : 1;
      }
      const auto *parent = tree_->getNode(at)->getIDom();
      at = parent && within && within->contains(parent->getBlock()) ? parent->getBlock() : nullptr;
    }
    return std::nullopt;
  }

  /// Whether the loop's first block uses what was loaded before the loop, but not before it loads more.
  bool waitsBehindLoads(const MachineLoop &loop) const {
    const MachineBasicBlock *before = loop.getLoopPreheader();
    auto isLoaded = [&](MCRegUnit unit) { return behindLoad(*before, unit, nullptr).has_value(); };
    return before && none_of(readFirst(*loop.getHeader()), isLoaded) &&
           any_of(readFirst(*loop.getHeader(), /*passesLoads=*/true), isLoaded);
  }

  /// Waits at the end of `block` for the loads that the join needs first, unless one has passed fewer instructions.
  bool waitAtEnd(MachineBasicBlock &block, const MachineBasicBlock &join, const MachineLoop *within,
                 unsigned leastPassed) {
    std::optional<Behind> latest;
    for (MCRegUnit unit : readFirst(join))
      if (std::optional<Behind> passed = behindLoad(block, unit, within))
        if (!latest || passed->instructions < latest->instructions) latest = passed;
    if (!latest || latest->instructions < leastPassed) return false;
    // Of S_WAITCNT on gfx9 bits 15:14 and 3:0 are of vmcnt; the other counters stay as they are.
    constexpr unsigned kOthers = 0x0f70, kMost = 63;
    unsigned n = std::min(latest->accesses, kMost);
    BuildMI(block, block.getFirstTerminator(), DebugLoc(), tii_->get(opcodeNamed(*tii_, "S_WAITCNT")))
        .addImm(kOthers | (n & 15) | (n >> 4) << 14);
    return true;
  }

  const TargetInstrInfo *tii_ = nullptr;
  const TargetRegisterInfo *tri_ = nullptr;
  const MachineDominatorTree *tree_ = nullptr;
};

char WaitBeforeJoins::ID = 0;

} // namespace

Pass *createWaitBeforeJoins() { return new WaitBeforeJoins; }

} // namespace tessera::amd
