// Lowering of tt.reduce. A reduction along an axis goes through three stages, each of which the source's layout
// shortens or removes:
//   thread  registers whose indices differ along the axis alone are combined, as a balanced tree: of pairs, or of
//           threes where an instruction combines three (v_max3_f32); of very many in runs (combineInRuns); one after
//           the other where a thread has several results (inOneChain); sums of x * y in chains of fma
//           (combineInChains)
//   warp    lanes that differ along the axis are combined by butterfly shuffles, integers of a whole warp by one
//           instruction where the target has it (Target::combineLanes); afterwards all of them hold the result. Where
//           a thread has several results and that takes less time, the lanes of a pair divide the results between them
//           in the first steps (reduce_halving.h)
//   block   when warps differ along the axis, one lane per result and warp stores its partial value to shared memory;
//           after one barrier the lanes that want the same result read a share of its partial values each, combine
//           them and exchange what they have by shuffles; of many results, or if a combination is costly
//           (combinesOnce), one thread combines each, and all read what came out after another barrier
// The result has the slice of the source's layout, so each thread ends with exactly the registers it needs.
// How partial values lie in shared memory: warp_partials.h.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/reduce_halving.h"
#include "codegen/lowering/target.h"
#include "codegen/lowering/warp_partials.h"
#include "ir/ops.h"
#include "layouts/reduce_shape.h"
#include "transforms/analyses/reduction.h"
#include "transforms/memory/scratch.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <optional>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

namespace {

class ReduceLowering {
public:
  ReduceLowering(tt::ReduceOp op, FunctionLowering &fl)
      : op_(op), fl_(fl), axis_(op.axis()), type_(op.srcs()[0].type().cast<TensorType>()), layout_(fl.layout(type_)),
        shape_(layouts::reduceShape(layout_, axis_)), halving_(fl, op, layout_, shape_) {}

  bool run() {
    reduceWithinThread();
    for (auto &[key, p] : partials_) keys_.push_back(key);
    reduceWithinWarp();
    if (shape_.warps > 1)
      reduceAcrossWarps();
    else
      halving_.giveBack(partials_);
    return writeResults();
  }

private:
  using Key = WarpPartials::Key;
  using Partial = WarpPartials::Partial;
  static constexpr unsigned kRowBits = 4; // of a lane in a row of 16, within which lanes are exchanged cheaply

  Partial combine(const Partial &a, const Partial &b) {
    Partial args(a);
    args.append(b.begin(), b.end());
    return lowerCombine(op_.combine(), args, fl_);
  }

  Partial shuffled(const Partial &p, unsigned mask, unsigned uniform) {
    Partial other;
    for (auto *v : p) other.push_back(shuffleXor(fl_.b, fl_.target, v, mask, uniform));
    return other;
  }

  /// One step of a butterfly.
  Partial exchanged(const Partial &p, unsigned mask, unsigned uniform) {
    if (!fl_.target.hasHalves(mask)) return combine(p, shuffled(p, mask, uniform));
    Partial lower, upper;
    for (auto *v : p) {
      auto both = halves(fl_.b, fl_.target, v, mask);
      lower.push_back(both.first), upper.push_back(both.second);
    }
    return combine(lower, upper);
  }

  void reduceWithinThread() {
    std::map<Key, std::map<int64_t, Partial>> groups; // key → index along the axis → values
    llvm::SmallVector<const Elements *, 2> srcs;
    for (auto v : op_.srcs()) srcs.push_back(&fl_.get(v));
    for (unsigned r = 0; r < srcs[0]->size(); ++r) {
      auto index = layout_.apply({{Dim::Register, int32_t(r)}, {Dim::Lane, 0}, {Dim::Warp, 0}, {Dim::Block, 0}});
      auto &values = groups[WarpPartials::keyOf(layout_, r, axis_)][index[axis_]];
      if (!values.empty()) continue; // a register that holds a copy
      for (auto *s : srcs) values.push_back((*s)[r]);
    }
    std::map<Key, llvm::SmallVector<Partial, 16>> values;
    for (auto &[key, members] : groups)
      for (auto &[i, v] : members) values[key].push_back(v);
    auto &info = fl_.target.info();
    size_t few = size_t(info.maxRegistersPerThread) * info.tuning.reduceRunPercent / 100;
    bool isLarge = info.hasScheduleBarriers && srcs[0]->size() > few;
    auto only = onlyOperation();
    unsigned width = only && fl_.target.combinesThree(*only, type_.element()) ? 3 : 2;
    if (isLarge)
      combineInRuns(values, width);
    else if (width == 2 && inOneChain(values.size()))
      combineInChains(values, values.begin()->second.size());
    else if (addsByFma())
      combineInChains(values, info.tuning.reduceRun);
    for (auto &[key, members] : values) partials_[key] = tree(members, width);
  }

  /// Of more values than half of the registers, the runs of neighbours are combined run by run for all results: the
  /// values of a run die together, in the order in which they were made, so that the scheduler need not hold them all.
  void combineInRuns(std::map<Key, llvm::SmallVector<Partial, 16>> &values, unsigned width) {
    size_t length = fl_.target.info().tuning.reduceRun;
    std::map<Key, llvm::SmallVector<Partial, 16>> runs;
    for (size_t at = 0; at < values.begin()->second.size(); at += length)
      for (auto &[key, members] : values)
        runs[key].push_back(tree(llvm::ArrayRef<Partial>(members).drop_front(at).take_front(length), width));
    values = std::move(runs);
  }

  /// Whether x * y is summed up, so that additions may be fma. It may have been given another shape, in which what a
  /// thread has is an axis of its own (optimize-thread-locality).
  bool addsByFma() {
    auto only = onlyOperation();
    bool addsFloats = only && *only == Opcode::arith_addf;
    Value source = op_.srcs()[0];
    bool hasOneUse = source.hasOneUse();
    while (auto reshape = source.definedBy<tt::ReshapeOp>()) {
      source = reshape.src();
      hasOneUse &= source.hasOneUse();
    }
    return addsFloats && source.definedBy<arith::MulfOp>() && hasOneUse && fl_.options.fpFusion &&
           fl_.target.info().tuning.reduceByFma;
  }

  /// Whether the values of each result are combined one after the other. The other results' chains hide the latency, a
  /// value dies as soon as it has been combined, and a chain has one partial result, a tree one for each level: the
  /// exponentials of attention, say, which with the scores and the accumulator take all registers. Sums of narrow
  /// floats stay trees, which round less often.
  bool inOneChain(size_t results) {
    auto only = onlyOperation();
    bool isNarrowSum = only && *only == Opcode::arith_addf && type_.element().bitWidth() < 32;
    return fl_.target.info().tuning.reduceInOneChain && results > 1 && only && !isNarrowSum;
  }

  /// Values are combined one after the other within a run. Of sums of x * y that is one mul and n - 1 fma, where a tree
  /// takes as many of one as of the other, and additions above them.
  void combineInChains(std::map<Key, llvm::SmallVector<Partial, 16>> &values, size_t length) {
    for (auto &[key, members] : values) {
      llvm::SmallVector<Partial, 16> chains;
      for (auto [i, member] : llvm::enumerate(members)) {
        if (i % length == 0)
          chains.push_back(member);
        else
          chains.back() = combine(chains.back(), member);
      }
      members = std::move(chains);
    }
  }

  /// The values combined as a balanced tree of neighbours: short chains. Depth first, so that what the values are
  /// computed from (wide exponentials of narrow numbers, say) is needed for few of them at a time.
  Partial tree(llvm::ArrayRef<Partial> values, unsigned width = 2) {
    struct Subtree {
      Partial value;
      unsigned height;
    };
    llvm::SmallVector<Subtree, 16> left; // subtrees that wait for their neighbours, the highest first
    auto join = [&](unsigned n) {
      auto last = llvm::ArrayRef(left).take_back(n);
      Subtree joined = last[0];
      for (auto &next : last.drop_front()) joined.value = combine(joined.value, next.value);
      ++joined.height;
      left.truncate(left.size() - n);
      left.push_back(std::move(joined));
    };
    for (auto &v : values) {
      left.push_back({v, 0});
      while (left.size() >= width && left[left.size() - width].height == left.back().height) join(width);
    }
    while (left.size() > 1) join(std::min<unsigned>(width, left.size()));
    return left[0].value;
  }

  /// The combination if it is a single operation on both values.
  std::optional<Opcode> onlyOperation() {
    Operation *only = transforms::combination(op_.op);
    return only ? std::optional(only->opcode()) : std::nullopt;
  }

  /// What the combination is to one instruction on integers.
  std::optional<LaneCombination> combinationOfLanes() {
    auto only = onlyOperation();
    if (!only) return std::nullopt;
    switch (*only) {
    case Opcode::arith_addi: return LaneCombination::Add;
    case Opcode::arith_minsi: return LaneCombination::MinS;
    case Opcode::arith_maxsi: return LaneCombination::MaxS;
    case Opcode::arith_minui: return LaneCombination::MinU;
    case Opcode::arith_maxui: return LaneCombination::MaxU;
    case Opcode::arith_andi: return LaneCombination::And;
    case Opcode::arith_ori: return LaneCombination::Or;
    case Opcode::arith_xori: return LaneCombination::Xor;
    default: return std::nullopt;
    }
  }
  /// All lanes at once, if each has a part of its own: no copies, which a sum would count twice.
  bool reduceByLanes() {
    Type element = type_.element();
    if (!element.isInteger() || element.bitWidth() > 32) return false;
    for (unsigned bit = 0; bit < layout_.inDimBits(Dim::Lane); ++bit)
      if (!layout_.basis(Dim::Lane, bit)[axis_]) return false;
    auto how = combinationOfLanes();
    if (!how || !layout_.inDimBits(Dim::Lane)) return false;
    auto &b = fl_.b;
    for (auto &[key, p] : partials_) {
      llvm::Value *v = p[0];
      llvm::Type *own = v->getType();
      bool isSigned = *how == LaneCombination::MinS || *how == LaneCombination::MaxS,
           asIs = own->isIntegerTy(1) && (*how == LaneCombination::And || *how == LaneCombination::Or);
      if (!asIs) v = isSigned ? b.CreateSExt(v, b.getInt32Ty()) : b.CreateZExt(v, b.getInt32Ty());
      if (!(v = fl_.target.combineLanes(b, *how, v))) return false;
      p[0] = asIs ? v : b.CreateTrunc(v, own);
    }
    return true;
  }

  void reduceWithinWarp() {
    if (reduceByLanes()) return;
    llvm::SmallVector<unsigned, 6> masks;
    for (unsigned bit = 0, n = layout_.inDimBits(Dim::Lane); bit < n; ++bit)
      if (layout_.basis(Dim::Lane, bit)[axis_]) masks.push_back(1u << bit);
    unsigned halved = halving_.chooseSteps(masks.size(), partials_.size());
    for (unsigned mask : llvm::ArrayRef(masks).take_front(halved)) halving_.halve(mask, partials_);
    // Ascending masks: what is already reduced is the same in those lanes, which lets a target use a cheaper exchange.
    unsigned uniform = 0;
    for (unsigned mask : llvm::ArrayRef(masks).drop_front(halved)) {
      if (mask == 1u << kRowBits && reduceRows(uniform)) return;
      for (auto &[key, p] : partials_) p = exchanged(p, mask, uniform);
      uniform |= mask;
    }
  }

  /// Of a whole warp of 64 lanes whose rows of 16 are reduced: rows take what the last lane of the row before has, then
  /// the upper half what lane 31 has, then all lanes what the last one has. What other lanes hold in between is not
  /// read. Two moves within instructions and one to a scalar where exchanges of rows would pass shared memory. False,
  /// and nothing done, for other warps and where the target exchanges halves.
  bool reduceRows(unsigned uniform) {
    constexpr unsigned kRow = 1u << kRowBits, kHalf = 32, kLanes = 64;
    bool isWholeWarp = layout_.inDimSize(Dim::Lane) == kLanes && uniform == kRow - 1 &&
                       layout_.basis(Dim::Lane, kRowBits)[axis_] && layout_.basis(Dim::Lane, kRowBits + 1)[axis_];
    if (!isWholeWarp || fl_.target.hasHalves(kHalf)) return false;
    auto &b = fl_.b;
    llvm::Value *lane = fl_.laneId();
    auto moved = [&](const Partial &p, llvm::ArrayRef<int8_t> sources, llvm::Value *source) {
      Partial result;
      for (auto *v : p) result.push_back(shuffleFixed(b, fl_.target, v, sources, source));
      return result;
    };
    for (unsigned mask : {kRow, kHalf}) {
      llvm::SmallVector<int8_t, kLanes> sources;
      for (unsigned l = 0; l < kLanes; ++l) sources.push_back(l & mask ? int8_t((l & ~(2 * mask - 1)) + mask - 1) : -1);
      llvm::Value *source = b.CreateOr(b.CreateAnd(lane, ~(2 * mask - 1)), mask - 1);
      for (auto &[key, p] : partials_) p = combine(moved(p, sources, source), p);
    }
    llvm::SmallVector<int8_t, kLanes> last(kLanes, kLanes - 1);
    for (auto &[key, p] : partials_) p = moved(p, last, b.getInt32(kLanes - 1));
    return true;
  }

  void reduceAcrossWarps() {
    WarpPartials exchange(fl_, op_, layout_, axis_, shape_);
    // Lanes that halved the results store what they have, which then need not come back.
    std::optional<WarpPartials> ofHalves;
    if (halving_.anyStep()) ofHalves.emplace(fl_, op_, halving_.layout(), axis_, shape_);
    WarpPartials &mine = ofHalves ? *ofHalves : exchange;
    bool once = transforms::combinesOnce(op_.op, layout_, fl_.target.info());
    if (!once && (exchange.lanesApart() || exchange.vectorsApart(keys_))) {
      mine.storeByWarp(partials_);
      return combineByWarp(exchange);
    }
    for (auto &[key, p] : partials_) mine.store(key, 0, p);
    fl_.barrier();
    if (once) return combineOnce(exchange);
    auto share = exchange.share();
    for (auto &key : keys_) {
      Partial &p = partials_[key];
      p = tree(exchange.load(key, 0, share));
      unsigned uniform = 0;
      for (unsigned mask : share.exchanges) {
        p = exchanged(p, mask, uniform);
        uniform |= mask;
      }
    }
  }

  /// After they were stored by warp, each lane reads what the warps have for its results, as vectors of neighbours.
  void combineByWarp(WarpPartials &exchange) {
    fl_.barrier();
    for (auto &[key, level] : exchange.loadByWarp(keys_)) partials_[key] = tree(level);
  }

  /// Each result is combined by one thread, which stores it for the others.
  void combineOnce(WarpPartials &exchange) {
    auto &b = fl_.b;
    int64_t threads = int64_t(fl_.warpSize()) * fl_.numWarps();
    for (int64_t first = 0; first < shape_.results; first += threads) {
      llvm::Value *flat = b.CreateAdd(fl_.threadId(), fl_.i32(first)), *acts = nullptr;
      if (int64_t left = shape_.results - first; left < threads) {
        acts = b.CreateICmpULT(fl_.threadId(), fl_.i32(left));
        flat = b.CreateSelect(acts, flat, fl_.i32(first));
      }
      exchange.storeCombined(flat, tree(exchange.loadResult(flat)), acts);
    }
    fl_.barrier();
    partials_ = exchange.loadCombined(keys_);
  }

  bool writeResults() {
    for (unsigned i = 0; i < op_->numResults(); ++i) {
      Value result = op_->result(i);
      if (!result.type().isTensor()) {
        fl_.set(result, partials_.begin()->second[i]);
        continue;
      }
      auto &to = fl_.layout(result.type());
      Elements out;
      for (unsigned r = 0, n = to.inDimSize(Dim::Register); r < n; ++r) {
        auto it = partials_.find(WarpPartials::keyOf(to, r));
        if (it == partials_.end()) return fl_.error(op_, "the result's layout is not the slice of the operand's");
        out.push_back(it->second[i]);
      }
      fl_.set(result, std::move(out));
    }
    return true;
  }

  tt::ReduceOp op_;
  FunctionLowering &fl_;
  int axis_;
  TensorType type_;
  const LinearLayout layout_;
  const layouts::ReduceShape shape_;
  ReduceHalving halving_;
  llvm::SmallVector<Key, 16> keys_; // of the thread's results
  std::map<Key, Partial> partials_; // what the thread has of each of them so far
};

} // namespace

bool lowerReduce(Operation *op, FunctionLowering &fl) {
  auto reduce = op->cast<tt::ReduceOp>();
  auto &layout = fl.layout(reduce.srcs()[0].type());
  for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp})
    for (unsigned bit = 0, n = llvm::Log2_32(layout.inDimSize(d)); bit < n; ++bit) {
      auto basis = layout.basis(d, bit);
      unsigned touched = llvm::count_if(basis, [](auto x) { return x != 0; });
      if (touched > 1 && basis[reduce.axis()])
        return fl.error(op, "cannot reduce along an axis that a register, lane or warp shares with another");
    }
  for (unsigned bit = 0, n = llvm::Log2_32(layout.inDimSize(Dim::Block)); bit < n; ++bit)
    if (layout.basis(Dim::Block, bit)[reduce.axis()])
      return fl.error(op, "cannot reduce along an axis that is split between the blocks of a cluster");
  return ReduceLowering(reduce, fl).run();
}

} // namespace tessera::codegen
