// Pass load-repeated-once: weights of a few bits are packed, several in a word, and a kernel loads each word once for
// every weight in it, by addresses that repeat along a dimension (GPTQ's 4-bit weights: eight rows have one word). Such
// a block is loaded without the repetitions; the elements are repeated then.
//
//   %i = arith.divsi %k, 8 : tensor<64x1xi32>                 %i' : tensor<8x1xi32>, of every eighth %k
//   …                                                         …
//   %p = tt.addptr … : tensor<64x32x!tt.ptr<i32>>             %p' : tensor<8x32x!tt.ptr<i32>>
//   %w = tt.load %p                                       →   %l = tt.load %p'
//                                                             %e = tt.expand_dims %l : … -> tensor<8x1x32xi32>
//                                                             %b = tt.broadcast %e : … -> tensor<8x8x32xi32>
//                                                             %w = tt.reshape %b : … -> tensor<64x32xi32>
//
// Each thread keeps one register for equal elements, and an eighth of the block is loaded. Layouts are chosen for it:
// what was a column of single bytes may be rows of 16, and few words for each thread need no shared memory on the way
// to the dot (ConversionSlice::canLoadIn). Which addresses are equal is known by AxisInfo; a mask and the values of
// masked-off elements must be equal for them, too.
//
// Modelled, 2026-11: 32 loops with weights of 4 bits, tiles of 16 x 64 to 128 x 128. gfx942: 26 of words 0.91 to 1.43
// times as fast, 6 of bytes 1.04 to 2.0; gfx950: 1.09 to 1.68, 0.97 to 2.4; gfx1201: 0.90 to 1.62, 0.90 to 9 (0.90:
// tiles of 128 x 128); gfx1100: of bytes 0.96 to 5.7, of words 0.82 to 1.24, which therefore stay
// (repeatedLoadMostBits of ir/tuning.def).
//
// A block of equal rows, such as one of scales that groups of rows share, is loaded as one row beside packed elements.
// Where nothing is packed it stays, since one row is loaded less early: 0.65 to 1.7 times as fast on all targets.
//
// A quotient of a sum becomes the sum of quotients where the terms are multiples of the divisor: of indices that wrap,
// which are out of range, it is another one.
//
// Limits: bodies of loops with dots, blocks of more elements than the threads of the block. Addresses, masks and other
// values of splats, ranges, constants and elementwise operations, and a pointer that the loop carries for this load
// alone and advances once. AMD: elsewhere asynchronous copies hide the loads, and nothing was measured.
//
// Runs: TTIR, after loop-invariant code is out of the loops.
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/dots.h"
#include "transforms/passes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>
#include <numeric>

namespace tessera::transforms {
using namespace ir;

namespace {

/// How many elements of each dimension are equal, by aligned groups. All divide their dimension.
using Groups = llvm::SmallVector<int64_t, 4>;

/// Elements of a group.
int64_t sizeOf(llvm::ArrayRef<int64_t> groups) {
  return std::accumulate(groups.begin(), groups.end(), int64_t(1), std::multiplies<>());
}

TensorType typeWithout(TensorType whole, llvm::ArrayRef<int64_t> groups) {
  llvm::SmallVector<int64_t, 4> shape;
  for (unsigned d = 0; d < whole.rank(); ++d) shape.push_back(whole.dim(d) / groups[d]);
  return whole.withShape(shape);
}

/// The attributes of an operation without those that speak of neighbouring elements, which the first ones of groups are
/// not.
llvm::SmallVector<NamedAttribute, 4> attributesOfFirst(Operation *op) {
  llvm::SmallVector<NamedAttribute, 4> kept;
  for (auto &a : op->attrs())
    if (a.name != kContiguityAttr && a.name != kConstancyAttr && a.name != kDivisibilityAttr) kept.push_back(a);
  return kept;
}

/// Makes tensors of the first elements of each group of another one.
class FirstElements {
public:
  explicit FirstElements(const AxisInfoAnalysis &axes) : axes_(axes) {}

  /// Whether `of` can. `load`: for which.
  bool exist(Value v, llvm::ArrayRef<int64_t> groups, tt::LoadOp load) {
    if (auto c = advancedPointer(v, load))
      return exist(c->init, groups) && exist(c->yielded.definedBy<tt::AddptrOp>().offset(), groups);
    return exist(v, groups);
  }

  /// @pre exist(v, groups, load)
  Value of(Value v, llvm::ArrayRef<int64_t> groups, tt::LoadOp load) {
    if (sizeOf(groups) == 1) return v;
    std::pair key(v.impl(), Groups(groups));
    if (auto known = made_.find(key); known != made_.end()) return known->second;
    auto c = advancedPointer(v, load);
    Value made = c ? shrink(*c, groups, load) : create(v, groups, load);
    made_[key] = made;
    return made;
  }

private:
  bool exist(Value v, llvm::ArrayRef<int64_t> groups) {
    Operation *op = v.definingOp();
    if (sizeOf(groups) == 1) return true;
    if (!op) return false;
    std::pair key(v.impl(), Groups(groups));
    if (auto known = exists_.find(key); known != exists_.end()) return known->second;
    return exists_[key] = existOfResult(op, groups);
  }
  bool existOfResult(Operation *op, llvm::ArrayRef<int64_t> groups) {
    if (auto e = op->dyn<tt::ExpandDimsOp>()) return exist(e.src(), ofSource(e, groups));
    if (auto b = op->dyn<tt::BroadcastOp>()) return exist(b.src(), ofSource(b, groups));
    if (op->is<tt::SplatOp>() || op->is<tt::MakeRangeOp>()) return true;
    if (op->is<arith::ConstantOp>()) return splatBits(op->attr("value")) != nullptr;
    auto existOf = [&](Value o) { return !o.type().isTensor() || exist(o, groups); };
    return isComputedByElement(op) && llvm::all_of(op->operands(), existOf);
  }
  static bool isComputedByElement(Operation *op) {
    if (op->numResults() != 1 || op->numRegions() || !isPure(op)) return false;
    return isElementwise(op) || op->is<arith::SelectOp>();
  }
  static Groups ofSource(tt::ExpandDimsOp e, llvm::ArrayRef<int64_t> groups) {
    Groups source(groups);
    source.erase(source.begin() + e.axis());
    return source;
  }
  static Groups ofSource(tt::BroadcastOp b, llvm::ArrayRef<int64_t> groups) {
    Groups source(groups);
    for (unsigned d = 0; d < source.size(); ++d)
      if (tensorOf(b.src()).dim(d) == 1) source[d] = 1;
    return source;
  }

  /// The loop-carried pointer of which `v` is the argument, if the loop advances it once and only the load uses it.
  static std::optional<CarriedValue> advancedPointer(Value v, tt::LoadOp load) {
    auto c = carriedByArgument(v);
    if (!c || !c->result.useEmpty() || load.ptr() != v) return std::nullopt;
    auto next = c->yielded.definedBy<tt::AddptrOp>();
    if (!next || next.ptr() != v || !c->yielded.hasOneUse()) return std::nullopt;
    bool isUsedByBothAlone =
        llvm::all_of(v.users(), [&](Operation *user) { return user == load.op || user == next.op; });
    return isUsedByBothAlone ? c : std::nullopt;
  }

  /// Lets the loop carry the first elements of the pointers.
  Value shrink(const CarriedValue &c, llvm::ArrayRef<int64_t> groups, tt::LoadOp load) {
    auto next = c.yielded.definedBy<tt::AddptrOp>();
    Value init = of(c.init, groups, load), offset = of(next.offset(), groups, load);
    Type type = init.type();
    c.setInit(init);
    c.argument.setType(type);
    c.result.setType(type);
    Builder b(next.op);
    c.setYielded(tt::AddptrOp::create(b, next.loc(), type, c.argument, offset).result());
    next->erase();
    return c.argument;
  }

  Value create(Value v, llvm::ArrayRef<int64_t> groups, tt::LoadOp load) {
    Operation *op = v.definingOp();
    Builder b(op);
    TensorType type = typeWithout(tensorOf(v), groups);
    if (op->is<arith::ConstantOp>())
      return b.constant(op->loc(), type, DenseElementsAttr::get(type, {*splatBits(op->attr("value"))}));
    if (auto range = op->dyn<tt::MakeRangeOp>()) return everyNth(range, groups[0], type);
    if (auto n = divisor(op); n && isMultiple(op->operand(0), groups, *n)) return quotient(op->operand(0), groups, *n);
    OperationState s(op->opcode(), op->loc());
    auto groupsOf = [&]() -> Groups {
      if (auto e = op->dyn<tt::ExpandDimsOp>()) return ofSource(e, groups);
      if (auto spread = op->dyn<tt::BroadcastOp>()) return ofSource(spread, groups);
      return Groups(groups);
    };
    for (Value o : op->operands()) s.operands.push_back(o.type().isTensor() ? of(o, groupsOf(), load) : o);
    s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
    llvm::append_range(s.attrs, attributesOfFirst(op));
    s.resultTypes.push_back(type);
    return b.create(s)->result();
  }

  static Value everyNth(tt::MakeRangeOp range, int64_t n, TensorType type) {
    Builder b(range.op);
    Location loc = range.loc();
    auto splat = [&](int64_t x) { return b.intConstant(loc, type, x); };
    Value i = tt::MakeRangeOp::create(b, loc, type, {b.i32Attr("end", type.dim(0)), b.i32Attr("start", 0)}).result();
    i = arith::MuliOp::create(b, loc, i, splat(n)).result();
    return range.start() ? arith::AddiOp::create(b, loc, i, splat(range.start())).result() : i;
  }

  // ---- quotients of indices: what a group shares is most often the index divided by the number of its elements

  static std::optional<int64_t> divisor(Operation *op) {
    if (!op->is<arith::DivsiOp>()) return std::nullopt;
    auto n = intConstantOf(op->operand(1));
    return n && *n > 1 ? n : std::nullopt;
  }

  /// Whether the first elements are sums of multiples of n, so that each term can be divided by itself.
  bool isMultiple(Value v, llvm::ArrayRef<int64_t> groups, int64_t n) const {
    Operation *op = v.definingOp();
    if (!op) return false;
    if (auto e = op->dyn<tt::ExpandDimsOp>()) return isMultiple(e.src(), ofSource(e, groups), n);
    if (auto b = op->dyn<tt::BroadcastOp>()) return isMultiple(b.src(), ofSource(b, groups), n);
    if (auto range = op->dyn<tt::MakeRangeOp>()) return range.start() % n == 0 && groups[0] == n;
    if (auto splat = op->dyn<tt::SplatOp>()) return axes_.get(splat.src()).divisibility[0] % n == 0;
    return op->is<arith::AddiOp>() && isMultiple(op->operand(0), groups, n) && isMultiple(op->operand(1), groups, n);
  }

  /// The first elements divided by n. @pre isMultiple(v, groups, n)
  Value quotient(Value v, llvm::ArrayRef<int64_t> groups, int64_t n) {
    Operation *op = v.definingOp();
    Builder b(op);
    Location loc = op->loc();
    TensorType type = typeWithout(tensorOf(v), groups);
    if (op->is<tt::MakeRangeOp>()) {
      int64_t start = op->cast<tt::MakeRangeOp>().start() / n;
      return tt::MakeRangeOp::create(b, loc, type, {b.i32Attr("end", start + type.dim(0)), b.i32Attr("start", start)})
          .result();
    }
    if (auto splat = op->dyn<tt::SplatOp>()) {
      Value by = b.intConstant(loc, splat.src().type(), n);
      return tt::SplatOp::create(b, loc, type, arith::DivsiOp::create(b, loc, splat.src(), by).result()).result();
    }
    if (auto e = op->dyn<tt::ExpandDimsOp>()) {
      Value source = quotient(e.src(), ofSource(e, groups), n);
      return tt::ExpandDimsOp::create(b, loc, type, source, {b.i32Attr("axis", e.axis())}).result();
    }
    if (auto spread = op->dyn<tt::BroadcastOp>())
      return tt::BroadcastOp::create(b, loc, type, quotient(spread.src(), ofSource(spread, groups), n)).result();
    Value x = quotient(op->operand(0), groups, n), y = quotient(op->operand(1), groups, n);
    return arith::AddiOp::create(b, loc, x, y).result();
  }

  const AxisInfoAnalysis &axes_;
  std::map<std::pair<ValueImpl *, Groups>, bool> exists_;
  std::map<std::pair<ValueImpl *, Groups>, Value> made_;
};

bool isSplat(Value v) { return v.definedBy<tt::SplatOp>() || constantBits(v); }

Groups equalElements(const AxisInfoAnalysis &axes, tt::LoadOp load) {
  TensorType type = tensorOf(load.result());
  AxisInfo ptr = axes.get(load.ptr());
  Groups groups;
  for (unsigned d = 0; d < type.rank(); ++d) {
    int64_t equal = ptr.constancy[d];
    if (load.mask()) equal = std::min(equal, axes.maskConstancy(load.mask(), d));
    if (load.other() && !isSplat(load.other())) equal = std::min(equal, axes.get(load.other()).constancy[d]);
    groups.push_back(std::gcd(equal, type.dim(d)));
  }
  return groups;
}

/// Whether a dimension has several groups of several elements.
bool isPacked(llvm::ArrayRef<int64_t> groups, TensorType type) {
  for (unsigned d = 0; d < type.rank(); ++d)
    if (groups[d] > 1 && groups[d] < type.dim(d)) return true;
  return false;
}

/// Repeats each element as often as its group has elements.
Value repeat(Builder &b, Location loc, Value v, llvm::ArrayRef<int64_t> groups, TensorType whole) {
  llvm::SmallVector<int64_t, 8> shape; // of groups and of elements in them, where both are more than one
  TensorType first = tensorOf(v);
  for (unsigned d = 0; d < whole.rank(); ++d) {
    bool isPart = groups[d] > 1 && groups[d] < whole.dim(d);
    shape.push_back(isPart ? first.dim(d) : whole.dim(d));
    if (!isPart) continue;
    int64_t axis = shape.size();
    TensorType before = tensorOf(v);
    llvm::SmallVector<int64_t, 8> expanded(before.shape().begin(), before.shape().end());
    expanded.insert(expanded.begin() + axis, 1);
    v = tt::ExpandDimsOp::create(b, loc, before.withShape(expanded), v, {b.i32Attr("axis", axis)}).result();
    shape.push_back(groups[d]);
  }
  v = tt::BroadcastOp::create(b, loc, whole.withShape(shape), v).result();
  return shape.size() == whole.rank() ? v : tt::ReshapeOp::create(b, loc, whole, v).result();
}

bool loadOnce(tt::LoadOp load, const AxisInfoAnalysis &axes, FirstElements &first) {
  Groups groups = equalElements(axes, load);
  if (sizeOf(groups) == 1) return false;
  auto isPossible = [&](Value v) { return !v || first.exist(v, groups, load); };
  if (!isPossible(load.ptr()) || !isPossible(load.mask()) || !isPossible(load.other())) return false;
  auto make = [&](Value v) { return v ? first.of(v, groups, load) : Value(); };
  // The pointer last: a loop-carried one changes its type in place.
  Value mask = make(load.mask()), other = make(load.other()), ptr = make(load.ptr());
  TensorType whole = tensorOf(load.result());
  Builder b(load.op);
  Value loaded =
      tt::LoadOp::create(b, load.loc(), typeWithout(whole, groups), ptr, mask, other, attributesOfFirst(load.op))
          .result();
  load.result().replaceAllUsesWith(repeat(b, load.loc(), loaded, groups, whole));
  load->erase();
  return true;
}

} // namespace

absl::StatusOr<bool> loadRepeatedOnce(Module &m, const LoadRepeatedOnceOptions &options, PassContext &) {
  llvm::SmallVector<tt::LoadOp, 4> loads;
  for (auto load : collect<tt::LoadOp>(m.op())) {
    bool isLargeBlock = load.ptr().type().isTensor() && tensorOf(load.result()).numElements() > options.threads;
    if (!isLargeBlock || load.isVolatile() || !isLoopBodyWithDot(load->block())) continue;
    if (load.result().type().scalar().bitWidth() > options.mostBits) continue;
    loads.push_back(load);
  }
  if (loads.empty()) return false;
  AxisInfoAnalysis axes(m, AssumedArguments(), StatedContiguity::IsLeftOut); // the addresses of wrapped indices differ
  FirstElements first(axes);
  llvm::SmallPtrSet<Block *, 4> withPackedElements;
  for (auto load : loads)
    if (isPacked(equalElements(axes, load), tensorOf(load.result()))) withPackedElements.insert(load->block());
  bool changed = false;
  for (auto load : loads)
    if (withPackedElements.contains(load->block())) changed |= loadOnce(load, axes, first);
  return changed;
}

} // namespace tessera::transforms
