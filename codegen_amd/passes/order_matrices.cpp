// Orders the machine instructions of blocks with MFMA so that the matrix unit does not wait.
//
//   ds_read b0, a0                         ds_read b0, a0
//   s_waitcnt; mfma a0, b0                 ds_read b1
//   ds_read b1                             s_waitcnt lgkmcnt(1)
//   s_waitcnt; mfma a0, b1          →      mfma a0, b0
//   ds_read b0', a0'                       ds_read b0', a0'
//   s_waitcnt; mfma a0', b0'               s_waitcnt lgkmcnt(2)
//   …                                      mfma a0, b1
//
// LLVM's scheduler knows one wave. Its latency of an LDS read is 5 of its cycles, of 4 clocks each, and it saves
// registers where that costs no more waves, so nearly every MFMA is preceded by a wait for its operands. Here a block
// is filled from its end: each instruction is placed at the latest time at which its results are there for all that use
// them, and its unit is free. So reads come as far ahead of their MFMA as LDS takes and no further, stores to LDS and
// the barrier for the next tile come between MFMAs, and MFMAs do not depend on barriers at all. Loads from memory are
// placed a memory latency before the block's end, or their use, mostly at the head of the block. (The model, and how a
// block is filled: block_order.cpp.)
//
// Iterations of an unrolled loop between which kEndsIteration stands are ordered one after the other, each as if it
// were the block: what one of them holds for the next then takes no more registers than around the loop.
//
// Order is all that changes, and only where LLVM's dependence graph (registers, memory, side effects) allows it.
// LLVM inserts s_waitcnt and s_nop afterwards, for the order that it finds. SCHED_BARRIER keeps the order until
// after register allocation.
//
// Afterwards the register allocator is bounded where that decides how many blocks of threads fit.
//
// Limits: blocks without calls; if the order takes so many registers that fewer blocks of threads fit, others with
// shorter latencies are tried, of LDS first, then of memory; if all do, the same for one block of threads fewer where
// that leaves two, and LLVM's order stays if none of those fits either.
//
// Runs: after LLVM's scheduler, before register allocation (codegen/object/backend.h, addCodegenPassesAfter).
#include "codegen_amd/passes/order_matrices.h"
#include "codegen_amd/passes/block_attributes.h"
#include "codegen_amd/passes/block_order.h"
#include "codegen_amd/passes/opcodes.h"
#include "codegen_amd/passes/vector_pressure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace tessera::amd {
using namespace llvm;
namespace {

class OrderMatrices final : public MachineFunctionPass {
public:
  static char ID;
  explicit OrderMatrices(const ir::TargetInfo &info) : MachineFunctionPass(ID), info_(info) {}
  StringRef getPassName() const override { return "Tessera: order of MFMA"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<MachineLoopInfoWrapperPass>();
    au.addRequired<AAResultsWrapperPass>();
    au.addRequired<LiveIntervalsWrapperPass>();
    au.setPreservesAll(); // live intervals are updated
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    auto *loops = &getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    lis_ = &getAnalysis<LiveIntervalsWrapperPass>().getLIS();
    aliases_ = &getAnalysis<AAResultsWrapperPass>().getAAResults();
    sharing_.wavesOfBlock = wavesOfBlock(mf.getFunction(), info_);
    sharing_.wavesOfSimd = divideCeil(sharing_.wavesOfBlock, info_.schedulersPerMultiprocessor);
    blocksByLds_ = std::max<int64_t>(1, info_.blocksBySharedMemory(sharedBytesOfBlock(mf.getFunction())));
    bool changed = false;
    mostRegisters_ = 0;
    for (MachineBasicBlock &block : mf)
      if (loops->getLoopFor(&block)) changed |= orderBlock(mf, block, loops);
    boundRegisters(mf);
    return changed;
  }

private:
  bool isBarrier(const MachineInstr &mi) const { return tii_->getName(mi.getOpcode()) == "SCHED_BARRIER"; }

  bool orderBlock(MachineFunction &mf, MachineBasicBlock &block, const MachineLoopInfo *loops) {
    tii_ = mf.getSubtarget().getInstrInfo();
    auto begin = block.SkipPHIsLabelsAndDebug(block.begin());
    auto end = block.getFirstTerminator();
    int64_t matrices = 0;
    SmallVector<MachineInstr *, 0> before;
    for (auto it = begin; it != end; ++it) {
      if (it->isCall() || it->isInlineAsm() || it->isDebugInstr() || it->isPosition() || it->isBundle()) return false;
      if (tii_->getName(it->getOpcode()) == "S_SETPRIO") return false; // ordered by alternate-waves
      matrices += isMfma(*it, *tii_);
      before.push_back(&*it);
    }
    if (matrices < info_.tuning.orderLeastMatrices) return false;
    if (before.size() > size_t(info_.tuning.orderMaxInstructions)) return false;
    SmallVector<size_t, 2> ends; // of the parts, in `before`
    SmallVector<MachineInstr *, 0> kept;
    for (MachineInstr *mi : before) { // what is to stay after MFMA does so by its time
      if (!isBarrier(*mi)) {
        kept.push_back(mi);
        continue;
      }
      if (mi->getOperand(0).getImm() == kEndsIteration && !kept.empty()) ends.push_back(kept.size());
      lis_->RemoveMachineInstrFromMaps(*mi);
      mi->eraseFromParent();
    }
    if (ends.empty() || ends.back() != kept.size()) ends.push_back(kept.size());
    before = std::move(kept);

    VectorPressure pressure(mf, *lis_);
    BlockGraph graph(mf, loops);
    bool changed = false;
    size_t first = 0;
    for (size_t last : ends) {
      changed |= orderPart(block, first, last, before, ends.size() > 1, graph, pressure);
      first = last;
    }
    if (changed) hold(block, before);
    return changed;
  }

  /// Orders `order[first, last)`, and moves the instructions of the block.
  bool orderPart(MachineBasicBlock &block, size_t first, size_t last, SmallVectorImpl<MachineInstr *> &order,
                 bool isPart, BlockGraph &graph, VectorPressure &pressure) {
    if (first == last) return false;
    MachineBasicBlock::iterator begin = order[first]->getIterator();
    MachineBasicBlock::iterator end = last < order.size() ? order[last]->getIterator() : block.getFirstTerminator();
    int64_t registers = pressure.of(block, order);
    int64_t limit = registersFor(registers);
    graph.build(block, begin, end, *aliases_);
    Part part = {graph, pressure, block, order, first, last, isPart};
    SmallVector<MachineInstr *, 0> best = orderWithin(limit, part);
    // One block fewer of them costs less than waits for nearly every operand, which LLVM's order has, or for loads that
    // come late, as long as there are two. By the timing model, gfx950, 2026-11: GEMMs are as fast as before, or up to
    // a quarter faster. With one left, attention on gfx942 and a GEMM by eight waves on gfx950 take a fifth longer.
    if (best.empty() || memoryLatency_ < info_.tuning.orderMemoryLatency) {
      auto ofFewerBlocks = orderWithin(registersFor(registers, 1), part);
      if (!ofFewerBlocks.empty()) best = std::move(ofFewerBlocks);
    }
    graph.finish();
    mostRegisters_ = std::max(mostRegisters_, best.empty() ? registers : pressure.of(block, best));
    if (best.empty()) return false;
    move(block, begin, ArrayRef(best).slice(first, last - first));
    order.assign(best.begin(), best.end());
    return true;
  }

  /// Instructions `[first, last)` of a block's.
  struct Part {
    BlockGraph &graph;
    VectorPressure &pressure;
    MachineBasicBlock &block;
    ArrayRef<MachineInstr *> all;
    size_t first, last;
    bool isPart; // of several
  };

  /// The order with the longest latencies that takes no more registers; empty if none does. Reads of LDS give way
  /// first: a load that comes late costs more.
  SmallVector<MachineInstr *, 0> orderWithin(int64_t limit, const Part &part) {
    const ir::Tuning &t = info_.tuning;
    for (int64_t memory = t.orderMemoryLatency; memory >= t.orderLeastMemoryLatency; memory /= 2)
      for (int64_t lds = t.orderLdsLatency; lds >= t.orderLeastLdsLatency; lds /= 2) {
        auto order = orderOf(part.graph, sharing_, {.lds = lds, .memory = memory}, part.isPart);
        if (order.size() != part.last - part.first) return {};
        memoryLatency_ = memory;
        SmallVector<MachineInstr *, 0> all(part.all);
        llvm::copy(order, all.begin() + part.first);
        if (part.pressure.of(part.block, all) <= limit) return all;
      }
    return {};
  }

  /// The registers with which as many blocks fit a compute unit as with `words`, or as LDS admits, or `less` fewer.
  int64_t registersFor(int64_t words, int64_t less = 0) const {
    int64_t countedTwice = info_.tuning.orderRegistersCountedTwice;
    int64_t waves = std::max<int64_t>(1, info_.registersPerScheduler / std::max<int64_t>(1, words - countedTwice));
    waves = std::min<int64_t>(waves, info_.tuning.orderMostWaves);
    // Of blocks with fewer waves than there are SIMDs, several share these.
    waves =
        std::min<int64_t>(waves, divideCeil(blocksByLds_ * sharing_.wavesOfBlock, info_.schedulersPerMultiprocessor));
    int64_t blocks = std::max<int64_t>(1, waves / sharing_.wavesOfSimd);
    if (blocks - less >= info_.tuning.orderLeastBlocks) blocks -= less;
    return info_.registersPerScheduler / (blocks * sharing_.wavesOfSimd) + countedTwice;
  }

  /// Where it finds no free one of the vector registers, LLVM's allocator takes accumulation registers as far as a
  /// single wave has them. If the loops need nearly all vector registers, nothing needs more of them, and without the
  /// others twice as many blocks of threads fit, it takes none: it then packs its tuples closer.
  void boundRegisters(MachineFunction &mf) {
    int64_t bound = info_.registersPerScheduler / 2;
    bool isShared = registersFor(mostRegisters_) - info_.tuning.orderRegistersCountedTwice == bound;
    bool isNear = mostRegisters_ <= bound && mostRegisters_ + info_.tuning.orderAllocatorExcess > bound;
    if (!mostRegisters_ || !isShared || !isNear) return;
    Function &f = mf.getFunction();
    if (f.hasFnAttribute("amdgpu-num-vgpr") || f.hasFnAttribute("amdgpu-waves-per-eu")) return; // the user's choice
    VectorPressure pressure(mf, *lis_);
    for (MachineBasicBlock &block : mf) {
      SmallVector<MachineInstr *, 0> order;
      for (MachineInstr &mi : make_range(block.SkipPHIsLabelsAndDebug(block.begin()), block.end()))
        order.push_back(&mi);
      if (pressure.of(block, order) > bound) return;
    }
    f.addFnAttr("amdgpu-num-vgpr", std::to_string(bound / 2)); // LLVM counts one of two files
  }

  void move(MachineBasicBlock &block, MachineBasicBlock::iterator at, ArrayRef<MachineInstr *> order) {
    for (MachineInstr *mi : order) {
      if (at != block.end() && &*at == mi) {
        ++at;
        continue;
      }
      block.splice(at, &block, mi->getIterator());
      lis_->handleMove(*mi, /*UpdateFlags=*/true);
    }
  }

  /// Keeps the order of what is around MFMA.
  void hold(MachineBasicBlock &block, ArrayRef<MachineInstr *> order) {
    unsigned opcode = opcodeNamed(*tii_, "SCHED_BARRIER");
    if (!opcode) return;
    for (MachineInstr *mi : order)
      if (isMfma(*mi, *tii_)) {
        MachineInstr *barrier = BuildMI(block, mi->getIterator(), mi->getDebugLoc(), tii_->get(opcode)).addImm(0);
        lis_->InsertMachineInstrInMaps(*barrier);
      }
  }

  const ir::TargetInfo &info_;
  const TargetInstrInfo *tii_ = nullptr;
  LiveIntervals *lis_ = nullptr;
  AAResults *aliases_ = nullptr;
  int64_t memoryLatency_ = 0; // of the last order
  int64_t blocksByLds_ = 1;   // that a compute unit has LDS for
  int64_t mostRegisters_ = 0; // of a block in a loop with MFMA
  Sharing sharing_;
};

char OrderMatrices::ID = 0;

} // namespace

Pass *createOrderMatrices(const ir::TargetInfo &info) { return new OrderMatrices(info); }

} // namespace tessera::amd
