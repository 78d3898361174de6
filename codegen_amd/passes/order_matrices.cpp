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
// placed a memory latency before the block's end, or their use, mostly at the head of the block.
//
// Where operands of MFMA are computed (attention, conversions), the latest times would leave the MFMAs to the end, when
// nothing is left to compute beside them. There the block is filled a second time, from its beginning:
// MFMAs, and vector instructions that lead to one, as early as they can, everything else not before its latest time.
//
// Time is that of one wave of several: its SIMD's matrix and vector units are shared with the block's other waves on
// the SIMD, LDS with all of the block's waves.
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
#include "codegen_amd/passes/copies_to_lds.h"
#include "codegen_amd/passes/opcodes.h"
#include "codegen_amd/passes/vector_pressure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/ScheduleDAGInstrs.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/InitializePasses.h"
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

namespace tessera::amd {
using namespace llvm;
namespace {

enum Unit : uint8_t { kMatrix, kLds, kMemory, kVector, kScalar, kUnits };

/// The dependence graph of a block.
class BlockGraph final : public ScheduleDAGInstrs {
public:
  BlockGraph(MachineFunction &mf, const MachineLoopInfo *loops) : ScheduleDAGInstrs(mf, loops) {}
  void schedule() override {}
  void build(MachineBasicBlock &block, MachineBasicBlock::iterator begin, MachineBasicBlock::iterator end,
             AAResults &aliases) {
    startBlock(&block);
    enterRegion(&block, begin, end, unsigned(std::distance(begin, end)));
    buildSchedGraph(&aliases);
  }
  void finish() {
    exitRegion();
    finishBlock();
  }
};

/// What the model of an instruction says.
struct Cost {
  Unit unit = kScalar;
  int64_t busy = 0;    // clocks of the unit, in the time of one wave
  int64_t latency = 0; // until another instruction uses the result
};

/// Numbers of the model that depend on the kernel.
struct Sharing {
  int64_t wavesOfSimd = 1;
  int64_t wavesOfBlock = 1;
};

/// Instructions that can be placed. Each waits for a time of its own and for its unit's, which only grows: once it
/// waits for the unit, its own time need not be looked at again. So a block does not take a time by the square of its
/// instructions.
class ReadyInstructions {
public:
  struct Item {
    int64_t time, second; // what is least first; `time`: its own
    int64_t last;         // of all that wait, only one has it
    unsigned node;
  };

  void add(Unit unit, int64_t busy, const Item &item) {
    for (Queue &q : queues_)
      if (q.unit == unit && q.busy == busy) return q.early.push(item);
    queues_.push_back({unit, busy, {}, {}});
    queues_.back().early.push(item);
  }

  /// Takes the first one by its time or its unit's, whichever is later, then by the other members.
  std::optional<unsigned> take(function_ref<int64_t(Unit, int64_t busy)> timeOf) {
    Queue *best = nullptr;
    bool bestIsKept = false;
    std::tuple<int64_t, int64_t, int64_t> bestKey;
    for (Queue &q : queues_) {
      int64_t time = timeOf(q.unit, q.busy);
      for (; !q.early.empty() && q.early.top().time <= time; q.early.pop()) q.kept.push(q.early.top());
      bool isKept = !q.kept.empty();
      if (!isKept && q.early.empty()) continue;
      const Item &item = isKept ? q.kept.top() : q.early.top();
      std::tuple key(isKept ? time : item.time, item.second, item.last);
      if (best && bestKey < key) continue;
      best = &q;
      bestIsKept = isKept;
      bestKey = key;
    }
    if (!best) return std::nullopt;
    unsigned node = bestIsKept ? best->kept.top().node : best->early.top().node;
    if (bestIsKept)
      best->kept.pop();
    else
      best->early.pop();
    return node;
  }

private:
  struct ByTime {
    bool operator()(const Item &a, const Item &b) const {
      return std::tie(a.time, a.second, a.last) > std::tie(b.time, b.second, b.last);
    }
  };
  struct ByRest {
    bool operator()(const Item &a, const Item &b) const {
      return std::tie(a.second, a.last) > std::tie(b.second, b.last);
    }
  };
  /// Instructions that take the same time of the same unit.
  struct Queue {
    Unit unit;
    int64_t busy;
    std::priority_queue<Item, std::vector<Item>, ByTime> early; // wait for their own time
    std::priority_queue<Item, std::vector<Item>, ByRest> kept;  // wait for the unit
  };
  std::vector<Queue> queues_;
};

class BlockOrder {
public:
  /// `isPart`: of a block that has several, an iteration each.
  BlockOrder(BlockGraph &graph, const Sharing &sharing, int64_t ldsLatency, int64_t memoryLatency, bool isPart)
      : graph_(graph), sharing_(sharing), ldsLatency_(ldsLatency), memoryLatency_(memoryLatency), isPart_(isPart) {}

  /// The instructions in their new order; empty if the graph has a node that cannot be placed.
  SmallVector<MachineInstr *, 0> run() {
    size_t n = graph_.SUnits.size();
    cost_.resize(n);
    latest_.assign(n, std::numeric_limits<int64_t>::max());
    left_.assign(n, 0);
    depth_.assign(n, 0);
    start_.assign(n, 0);
    feedsMatrix_.assign(n, false);
    copiesBefore_.assign(n + 1, 0);
    for (SUnit &u : graph_.SUnits) { // in the order of the block
      cost_[u.NodeNum] = costOf(*u.getInstr());
      if (isLdsStore(u)) storing_ += cost_[u.NodeNum].busy;
      copiesBefore_[u.NodeNum + 1] = copiesBefore_[u.NodeNum] + isCopyToLds(u);
    }
    for (SUnit &u : graph_.SUnits) {
      latest_[u.NodeNum] = endOf(u);
      for (SDep &d : u.Succs)
        if (!d.isWeak() && !d.getSUnit()->isBoundaryNode()) ++left_[u.NodeNum];
    }
    for (SUnit &u : graph_.SUnits) // in topological order: the block's
      for (SDep &d : u.Preds)
        if (!d.isWeak() && !d.getSUnit()->isBoundaryNode())
          depth_[u.NodeNum] = std::max(depth_[u.NodeNum], depth_[d.getSUnit()->NodeNum] + isMatrix(*d.getSUnit()));
    for (SUnit &u : llvm::reverse(graph_.SUnits))
      for (SDep &d : u.Succs)
        if (!d.isWeak() && !d.getSUnit()->isBoundaryNode() && d.getKind() == SDep::Data)
          feedsMatrix_[u.NodeNum] |= isMatrix(*d.getSUnit()) || (cost_[d.getSUnit()->NodeNum].unit == kVector &&
                                                                 feedsMatrix_[d.getSUnit()->NodeNum]);
    if (!placeFromEnd()) return {};
    return computesOperands() ? placeFromBegin() : inOrderOfStarts();
  }

private:
  static constexpr int64_t kIssue = 4;        // clocks between two instructions of a wave
  static constexpr int64_t kResultExtra = 16; // … from the end of an MFMA to another instruction's use of its result

  bool isLdsStore(const SUnit &u) const { return cost_[u.NodeNum].unit == kLds && u.getInstr()->mayStore(); }
  /// A load from memory straight into LDS, which an s_waitcnt of ours waits for.
  bool isCopyToLds(const SUnit &u) const {
    return cost_[u.NodeNum].unit == kMemory && graph_.TII->getName(u.getInstr()->getOpcode()).contains("_LDS");
  }
  /// Whether the wait, which lets some of the last loads be in flight, is for the copy, too.
  bool waitsFor(const SUnit &wait, const SUnit &copy) const {
    if (graph_.TII->getName(wait.getInstr()->getOpcode()) != "S_WAITCNT") return false;
    int64_t inFlight = loadsInFlight(unsigned(wait.getInstr()->getOperand(0).getImm()));
    return wait.NodeNum > copy.NodeNum && copiesBefore_[wait.NodeNum] - copiesBefore_[copy.NodeNum + 1] >= inFlight;
  }
  bool isMatrix(const SUnit &u) const { return cost_[u.NodeNum].unit == kMatrix; }

  int64_t bytesOf(const MachineInstr &mi) const {
    int64_t bytes = 4;
    for (MachineMemOperand *m : mi.memoperands())
      if (m->getSize().hasValue() && !m->getSize().isScalable())
        bytes = std::max<int64_t>(bytes, int64_t(m->getSize().getValue().getFixedValue()));
    return bytes;
  }

  Cost costOf(const MachineInstr &mi) const {
    constexpr int64_t kPass = 4;       // clocks of a vector instruction, and of LLVM's unit of time
    constexpr int64_t kLdsBytes = 128; // of LDS, a clock
    StringRef name = graph_.TII->getName(mi.getOpcode());
    if (isMfma(mi, *graph_.TII)) {
      int64_t clocks = kPass * graph_.getSchedModel()->computeInstrLatency(&mi);
      return {kMatrix, clocks * sharing_.wavesOfSimd, clocks + kResultExtra};
    }
    if (name.starts_with("DS_")) {
      int64_t clocks = std::max<int64_t>(1, bytesOf(mi) * 64 / kLdsBytes);
      return {kLds, clocks * sharing_.wavesOfBlock, mi.mayStore() ? ldsLatency_ / 2 : ldsLatency_};
    }
    bool isMemory = name.starts_with("BUFFER_") || name.starts_with("GLOBAL_") || name.starts_with("FLAT_");
    if (isMemory && name.contains("_LDS")) { // straight into LDS: spread over the time in which L1 delivers them all
      constexpr int64_t kL1Bytes = 64, kLanes = 64; // of L1, a clock; of a wave
      int64_t clocks = (name.contains("DWORDX4") ? 16 : 4) * kLanes / kL1Bytes;
      return {kMemory, clocks * sharing_.wavesOfBlock, memoryLatency_};
    }
    if (isMemory) return {kMemory, kPass, mi.mayLoad() ? memoryLatency_ : 0};
    if (name.starts_with("V_")) {
      static constexpr StringLiteral kSlow[] = {"V_EXP_", "V_LOG_", "V_RCP_", "V_RSQ_", "V_SQRT_", "V_SIN_", "V_COS_"};
      int64_t passes = llvm::any_of(kSlow, [&](StringRef s) { return name.starts_with(s); }) ? 4 : 1;
      return {kVector, passes * kPass * sharing_.wavesOfSimd, (passes + 1) * kPass};
    }
    if (name.starts_with("S_LOAD") || name.starts_with("S_BUFFER_LOAD")) return {kScalar, kPass, ldsLatency_};
    return {kScalar, mi.isMetaInstruction() ? 0 : kPass, kPass};
  }

  /// Whether a part loads it from memory for the next one.
  bool isForNext(const SUnit &u) const {
    return isPart_ && cost_[u.NodeNum].unit == kMemory && llvm::none_of(u.Succs, [](const SDep &d) {
             return d.getKind() == SDep::Data && !d.getSUnit()->isBoundaryNode();
           });
  }

  /// When an instruction without users in the block must start at the latest; the block ends at 0. What the next
  /// iteration uses is there when it starts.
  int64_t endOf(const SUnit &u) const {
    const Cost &c = cost_[u.NodeNum];
    // A load into registers that a store to LDS frees has until that store of the next iteration. It should follow the
    // store, which comes before the barrier and the reads at the block's end.
    bool followsStore = llvm::any_of(u.Preds, [&](const SDep &d) {
      return d.getKind() == SDep::Anti && !d.getSUnit()->isBoundaryNode() && isLdsStore(*d.getSUnit());
    });
    // In a part, they are not yet the same registers.
    followsStore |= isForNext(u);
    if (c.unit == kMemory && followsStore) return -std::min(c.latency, 2 * ldsLatency_ + storing_ / 2);
    if (c.unit == kMatrix || c.unit == kVector || c.unit == kScalar) return -c.busy;
    return -c.latency;
  }

  /// Clocks between the starts of an instruction and of one that depends on it.
  int64_t latencyOf(const SUnit &from, const SUnit &to, SDep::Kind kind) const {
    const Cost &c = cost_[from.NodeNum];
    if (kind == SDep::Anti || kind == SDep::Output) return 0;
    if (kind == SDep::Order) {
      // A barrier waits for LDS, not for memory.
      bool waits = c.unit == kLds && to.getInstr()->hasUnmodeledSideEffects();
      waits |= isCopyToLds(from) && waitsFor(to, from);
      return waits ? c.latency : 0;
    }
    // An MFMA hands its accumulator on to the next one at once.
    if (c.unit == kMatrix && isMatrix(to)) return c.latency - kResultExtra + 2;
    return c.latency;
  }

  /// Gives each instruction the latest start. False if some cannot be placed.
  bool placeFromEnd() {
    ReadyInstructions ready; // times from the end
    auto add = [&](unsigned n) {
      ready.add(cost_[n].unit, cost_[n].busy, {-latest_[n], -int64_t(depth_[n]), -int64_t(n), n});
    };
    for (SUnit &u : graph_.SUnits)
      if (!left_[u.NodeNum]) add(u.NodeNum);
    int64_t free[kUnits] = {};
    int64_t issue = 0;
    auto unitsTime = [&](Unit unit, int64_t busy) { return -std::min(free[unit] - busy, issue - (busy ? kIssue : 0)); };
    while (std::optional<unsigned> next = ready.take(unitsTime)) {
      unsigned n = *next;
      start_[n] = std::min(latest_[n], -unitsTime(cost_[n].unit, cost_[n].busy));
      free[cost_[n].unit] = issue = start_[n];
      fromEnd_.push_back(graph_.SUnits[n].getInstr());
      SUnit &u = graph_.SUnits[n];
      for (SDep &d : u.Preds) {
        SUnit *p = d.getSUnit();
        if (d.isWeak() || p->isBoundaryNode()) continue;
        latest_[p->NodeNum] = std::min(latest_[p->NodeNum], start_[n] - latencyOf(*p, u, d.getKind()));
        if (!--left_[p->NodeNum]) add(p->NodeNum);
      }
    }
    return fromEnd_.size() == graph_.SUnits.size();
  }

  SmallVector<MachineInstr *, 0> inOrderOfStarts() const { return {fromEnd_.rbegin(), fromEnd_.rend()}; }

  /// Whether operands of MFMA are computed in the block: from another one's result, as in attention, or converted.
  bool computesOperands() const {
    return llvm::any_of(graph_.SUnits,
                        [&](const SUnit &u) { return cost_[u.NodeNum].unit == kVector && feedsMatrix_[u.NodeNum]; });
  }

  /// The instructions in the order in which a wave issues them: MFMA, and vector instructions that these need, as early
  /// as they can; all others not before their start, so that they hold no registers before they have to.
  SmallVector<MachineInstr *, 0> placeFromBegin() {
    size_t n = graph_.SUnits.size();
    SmallVector<int64_t, 0> available(n, std::numeric_limits<int64_t>::min() / 2);
    ReadyInstructions ready;
    auto ownTime = [&](unsigned i) {
      Unit unit = cost_[i].unit;
      bool early = unit == kMatrix || (unit == kVector && feedsMatrix_[i]);
      return early ? available[i] : std::max(available[i], start_[i]);
    };
    auto add = [&](unsigned i) { ready.add(cost_[i].unit, 0, {ownTime(i), start_[i], int64_t(i), i}); };
    int64_t clock = 0;
    for (SUnit &u : graph_.SUnits) {
      clock = std::min(clock, start_[u.NodeNum]);
      for (SDep &d : u.Preds)
        if (!d.isWeak() && !d.getSUnit()->isBoundaryNode()) ++left_[u.NodeNum];
      if (!left_[u.NodeNum]) add(u.NodeNum);
    }
    int64_t free[kUnits];
    std::fill(std::begin(free), std::end(free), clock);
    SmallVector<MachineInstr *, 0> order;
    auto unitsTime = [&](Unit unit, int64_t) { return std::max(clock, free[unit]); };
    while (std::optional<unsigned> next = ready.take(unitsTime)) {
      unsigned i = *next;
      int64_t t = std::max(ownTime(i), unitsTime(cost_[i].unit, 0));
      free[cost_[i].unit] = t + cost_[i].busy;
      clock = t + (cost_[i].busy ? kIssue : 0);
      SUnit &u = graph_.SUnits[i];
      order.push_back(u.getInstr());
      for (SDep &d : u.Succs) {
        SUnit *s = d.getSUnit();
        if (d.isWeak() || s->isBoundaryNode()) continue;
        available[s->NodeNum] = std::max(available[s->NodeNum], t + latencyOf(u, *s, d.getKind()));
        if (!--left_[s->NodeNum]) add(s->NodeNum);
      }
    }
    return order;
  }

  BlockGraph &graph_;
  const Sharing &sharing_;
  int64_t ldsLatency_;
  int64_t memoryLatency_;
  bool isPart_;
  int64_t storing_ = 0; // clocks of LDS for the block's stores
  SmallVector<Cost, 0> cost_;
  SmallVector<int64_t, 0> copiesBefore_;   // to LDS, before each instruction
  SmallVector<int64_t, 0> latest_;         // start that those placed allow
  SmallVector<int64_t, 0> start_;          // the latest one
  SmallVector<bool, 0> feedsMatrix_;       // an MFMA, through vector instructions alone
  SmallVector<MachineInstr *, 0> fromEnd_; // as placed
  SmallVector<unsigned, 0> left_;          // users, then operands, that are not placed yet
  SmallVector<unsigned, 0> depth_;         // MFMA before it on the longest chain
};

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
        auto order = BlockOrder(part.graph, sharing_, lds, memory, part.isPart).run();
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
