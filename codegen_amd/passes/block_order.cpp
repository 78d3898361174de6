// The order of a block's machine instructions by which its MFMA wait least: list scheduling on LLVM's dependence graph,
// by a model of when units are free and results are there.
//
// The block is filled from its end: each instruction is placed at the latest time at which its results are there for
// all that use them, and its unit is free.
//
// Where operands of MFMA are computed (attention, conversions), the latest times would leave the MFMAs to the end, when
// nothing is left to compute beside them. There the block is filled a second time, from its beginning:
// MFMAs, and vector instructions that lead to one, as early as they can, everything else not before its latest time.
//
// Time is that of one wave of several: its SIMD's matrix and vector units are shared with the block's other waves on
// the SIMD, LDS with all of the block's waves.
#include "codegen_amd/passes/block_order.h"
#include "codegen_amd/passes/copies_to_lds.h"
#include "codegen_amd/passes/opcodes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

namespace tessera::amd {
using namespace llvm;
namespace {

enum Unit : uint8_t { kMatrix, kLds, kMemory, kVector, kScalar, kUnits };

/// What the model of an instruction says.
struct Cost {
  Unit unit = kScalar;
  int64_t busy = 0;    // clocks of the unit, in the time of one wave
  int64_t latency = 0; // until another instruction uses the result
};

/// Instructions that can be placed. Each waits for a time of its own and for its unit's, which only grows: once it
/// waits for the unit, its own time does not matter any more. So a block does not take a time by the square of its
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
  BlockOrder(BlockGraph &graph, const Sharing &sharing, Latencies latencies, bool isPart)
      : graph_(graph), sharing_(sharing), ldsLatency_(latencies.lds), memoryLatency_(latencies.memory),
        isPart_(isPart) {}

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

} // namespace

SmallVector<MachineInstr *, 0> orderOf(BlockGraph &graph, const Sharing &sharing, Latencies latencies, bool isPart) {
  return BlockOrder(graph, sharing, latencies, isPart).run();
}

} // namespace tessera::amd
