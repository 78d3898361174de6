// Pass full-block-versions: a second version of kernels without loops, for programs whose block is full.
//
// A program at the end of a tensor of n elements accesses fewer than its block holds, and masks the rest. Unless a
// power of two is known to divide n, any element may be the last one: masks tell neighbours apart, and each element is
// loaded and stored by itself, although all other programs access all of theirs. The kernel tests for that once and
// has its body twice:
//
//   %last = %start + 1023                           computed as 64-bit numbers
//   %full = arith.cmpi slt, %last, %n
//   scf.if %full {
//     … body, in which  %indices < splat %n  is true: accesses without mask, 16 bytes at a time
//   } else {
//     … body
//   } {tessera.versions = "full"}
//
// The test covers comparisons that meet three conditions:
//
//   - They compare indices %start + 0, 1, …, 1023 with one number. Both are computed from arguments and program ids.
//   - Nothing states a divisor of the number, which would keep the masks of neighbours equal.
//   - They split the mask of an access of at most 4 bytes, which becomes at least twice as wide without them. Threads
//     have so many elements.
//
// A kernel stays as it is if it has dots, versions, or loops, whose iterations would each have a block of their own.
//
// Runs late in the TTIR pipeline, on both vendors, before the canonicalization that drops the masks.
#include "ir/attribute_names.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/target.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/passes.h"
#include "transforms/ttir/block_access.h"
#include "transforms/ttir/kernel_versions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <optional>

namespace tessera::transforms {
using namespace ir;

namespace {

// No tuning parameters: these follow from the accesses of all targets, and from what launches distinguish.
/// Accesses that may gain.
constexpr int64_t kNarrowBytes = 4;
/// Scalar operations that the test of a comparison may repeat.
constexpr unsigned kMostOperations = 16;

/// The elements of a tensor of indices are at least `start`, and at most `start` + most; without a start, 0 and most.
struct Indices {
  Value start;
  int64_t most = 0;
  bool isExtended = false; // the sum has 32 bits and was extended to 64: nothing can be added
};

std::optional<Indices> sumOf(const Indices &a, const Indices &b) {
  // Without a start, sums of 32 bits do not wrap around; with one, what does is negative.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if ((a.start && b.start) || a.isExtended || b.isExtended) return std::nullopt;
  if (a.most > kMost || b.most > kMost || a.most + b.most > kMost) return std::nullopt;
  return Indices{a.start ? a.start : b.start, a.most + b.most};
}

/// None for other tensors.
std::optional<Indices> indicesOf(Value v) {
  if (auto range = v.definedBy<tt::MakeRangeOp>())
    return range.start() < 0 ? std::nullopt : std::optional(Indices{{}, range.end() - 1});
  if (auto n = intConstantOf(v)) return *n < 0 ? std::nullopt : std::optional(Indices{{}, *n});
  if (auto splat = v.definedBy<tt::SplatOp>()) return Indices{splat.src()};
  if (auto expand = v.definedBy<tt::ExpandDimsOp>()) return indicesOf(expand.src());
  if (auto broadcast = v.definedBy<tt::BroadcastOp>()) return indicesOf(broadcast.src());
  if (auto extended = v.definedBy<arith::ExtsiOp>()) {
    auto of = indicesOf(extended->operand(0));
    if (of && of->start) of->isExtended = true;
    return of && bitsOf(extended->operand(0)) == 32 ? of : std::nullopt;
  }
  if (auto add = v.definedBy<arith::AddiOp>()) {
    auto lhs = indicesOf(add.lhs()), rhs = indicesOf(add.rhs());
    return lhs && rhs ? sumOf(*lhs, *rhs) : std::nullopt;
  }
  return std::nullopt;
}

/// A comparison that holds in all elements if `indices` end before `bound`, a scalar, or before `number` if there is no
/// such value.
struct Comparison {
  arith::CmpiOp op;
  Indices indices;
  Value bound;
  int64_t number = 0;
  bool isStrict = true;
};

/// Whether a launch may have any such number: a constant that 16 does not divide, an argument without a stated divisor
/// (of any value: hasStatedDivisor), or what is computed.
bool mayBeAnyNumber(Value scalar, tt::FuncOp kernel) {
  if (auto extended = scalar.definedBy<arith::ExtsiOp>()) scalar = extended->operand(0);
  if (auto n = intConstantOf(scalar)) return *n % kLaunchDivisor != 0;
  bool isArgument = !scalar.definingOp() && scalar.ownerBlock() == kernel.body().front();
  return !isArgument || !hasStatedDivisor(kernel, scalar);
}

std::optional<Comparison> comparisonOf(arith::CmpiOp op, tt::FuncOp kernel) {
  auto predicate = op.predicate();
  bool isLess = predicate == CmpIPredicate::Slt || predicate == CmpIPredicate::Sle;
  bool isMore = predicate == CmpIPredicate::Sgt || predicate == CmpIPredicate::Sge;
  unsigned bits = bitsOf(op.lhs());
  if ((!isLess && !isMore) || !op->result().type().isTensor() || (bits != 32 && bits != 64)) return std::nullopt;
  Value end = isLess ? op.rhs() : op.lhs();
  auto splat = end.definedBy<tt::SplatOp>();
  auto number = intConstantOf(end);
  if (splat ? !mayBeAnyNumber(splat.src(), kernel) : !number || *number % kLaunchDivisor == 0) return std::nullopt;
  auto indices = indicesOf(isLess ? op.lhs() : op.rhs());
  // Without a start there is one block, whose length is, as a rule, the next power of two: it is not full.
  if (!indices || !indices->start) return std::nullopt;
  bool isStrict = predicate == CmpIPredicate::Slt || predicate == CmpIPredicate::Sgt;
  return Comparison{op, *indices, splat ? splat.src() : Value(), number.value_or(0), isStrict};
}

/// Repeats scalar arithmetic of a block before the versions of it.
class ScalarClone {
public:
  ScalarClone(Block &body) : body_(body) {}
  /// Whether the value is known before the body, or can be.
  bool isPossible(Value v) const {
    llvm::DenseSet<Operation *> seen;
    return isPossible(v, seen);
  }
  /// @pre isPossible
  Value make(Builder &b, Value v) {
    Operation *op = v.definingOp();
    if (!op || op->block() != &body_) return v;
    if (map_.contains(v)) return map_.lookup(v);
    for (Value operand : op->operands()) make(b, operand);
    b.clone(op, map_);
    return map_.lookup(v);
  }

private:
  bool isPossible(Value v, llvm::DenseSet<Operation *> &seen) const {
    Operation *op = v.definingOp();
    if (!op || op->block() != &body_ || !seen.insert(op).second) return true;
    if (!isPure(op) || op->numRegions() || seen.size() > kMostOperations) return false;
    return llvm::all_of(op->operands(), [&](Value operand) { return isPossible(operand, seen); });
  }
  Block &body_;
  ValueMap map_;
};

/// What of a kernel's accesses changes if its block is full.
class FullBlock {
public:
  /// `threads`: of a block
  FullBlock(tt::FuncOp kernel, Block &body, Module &m, int64_t threads)
      : kernel_(kernel), body_(body), module_(m), scalars_(body), threads_(threads) {}

  /// The comparisons that keep accesses narrow and are true in a full block; none if the kernel stays as it is.
  llvm::SmallVector<Comparison, 4> narrowingComparisons() {
    bool staysAsItIs = false;
    for (Operation &op : body_) {
      op.walk([&](Operation *inner) { staysAsItIs |= isLoop(inner) || isDot(inner) || inner->hasAttr(kVersionsAttr); });
      if (auto compared = op.dyn<arith::CmpiOp>())
        if (auto c = comparisonOf(compared, kernel_); c && isKnownBefore(*c)) comparisons_.push_back(*c);
    }
    if (staysAsItIs || comparisons_.empty()) return {};
    AxisInfoAnalysis axis(module_);
    for (Operation &op : body_) {
      if (auto load = op.dyn<tt::LoadOp>()) consider(load.ptr(), load.mask(), axis);
      if (auto store = op.dyn<tt::StoreOp>()) consider(store.ptr(), store.mask(), axis);
    }
    llvm::erase_if(comparisons_, [&](const Comparison &c) { return !narrowing_.contains(c.op.op); });
    return comparisons_;
  }

private:
  bool isKnownBefore(const Comparison &c) const {
    return (!c.bound || scalars_.isPossible(c.bound)) && scalars_.isPossible(c.indices.start);
  }

  /// Marks the comparisons that keep an access narrow.
  void consider(Value ptr, Value mask, const AxisInfoAnalysis &axis) {
    if (!ptr.type().isTensor() || !mask || !mask.type().isTensor()) return;
    int64_t bytes = pointeeBytes(ptr);
    int64_t widest = std::min(kGlobalAccessBytes / bytes, tensorOf(ptr).numElements() / threads_);
    for (unsigned d = 0; d < tensorOf(ptr).rank(); ++d) {
      int64_t run = std::min(axis.contiguousElements(ptr, d), std::max<int64_t>(1, widest));
      int64_t now = std::min(run, axis.maskConstancy(mask, d));
      llvm::SmallVector<Operation *, 2> splitting;
      if (now * bytes > kNarrowBytes || !remainsWhole(mask, d, run, axis, splitting) || run < 2 * now) continue;
      narrowing_.insert(splitting.begin(), splitting.end());
    }
  }

  /// Whether a mask would be equal in each `run` elements along a dimension if the comparisons that split it were true.
  /// Adds these to `splitting`.
  bool remainsWhole(Value mask, unsigned dim, int64_t run, const AxisInfoAnalysis &axis,
                    llvm::SmallVectorImpl<Operation *> &splitting) const {
    if (axis.maskConstancy(mask, dim) >= run) return true;
    if (auto both = mask.definedBy<arith::AndiOp>())
      return remainsWhole(both.lhs(), dim, run, axis, splitting) && remainsWhole(both.rhs(), dim, run, axis, splitting);
    if (auto broadcast = mask.definedBy<tt::BroadcastOp>())
      return remainsWhole(broadcast.src(), dim, run, axis, splitting);
    if (auto expand = mask.definedBy<tt::ExpandDimsOp>())
      return unsigned(expand.axis()) == dim ||
             remainsWhole(expand.src(), dim - (unsigned(expand.axis()) < dim), run, axis, splitting);
    Operation *op = mask.definingOp();
    if (llvm::none_of(comparisons_, [&](const Comparison &c) { return c.op.op == op; })) return false;
    splitting.push_back(op);
    return true;
  }

  tt::FuncOp kernel_;
  Block &body_;
  Module &module_;
  ScalarClone scalars_;
  int64_t threads_;
  llvm::SmallVector<Comparison, 4> comparisons_;
  llvm::DenseSet<Operation *> narrowing_;
};

/// Whether a comparison holds in all elements: an i1. Indices of 32 bits are summed as 64-bit numbers: one that wraps
/// around in the kernel is negative there, and less than a bound that is beyond the greatest 32-bit number. A sum of 64
/// bits must not wrap around.
Value holdsEverywhere(Builder &b, const Comparison &c, ScalarClone &scalars) {
  Location loc = c.op->loc();
  auto number = [&](int64_t n) { return b.intConstant(loc, b.context().i64(), n); };
  Value bound = c.bound ? toI64(b, loc, scalars.make(b, c.bound)) : number(c.number);
  Value start = toI64(b, loc, scalars.make(b, c.indices.start));
  Value last = arith::AddiOp::create(b, loc, start, number(c.indices.most)).result();
  Value holds = compare(b, loc, c.isStrict ? CmpIPredicate::Slt : CmpIPredicate::Sle, last, bound);
  if (bitsOf(c.indices.start) != 64) return holds;
  int64_t greatest = std::numeric_limits<int64_t>::max() - c.indices.most;
  Value doesNotWrap = compare(b, loc, CmpIPredicate::Sle, start, number(greatest));
  return arith::AndiOp::create(b, loc, holds, doesNotWrap).result();
}

/// Makes the versions: the first one has true for the comparisons.
void makeVersionsFor(Block *body, llvm::ArrayRef<Comparison> comparisons) {
  ScalarClone scalars(*body);
  auto condition = [&](Builder &b) {
    Value all;
    for (const Comparison &c : comparisons) {
      Value holds = holdsEverywhere(b, c, scalars);
      all = all ? arith::AndiOp::create(b, c.op->loc(), all, holds).result() : holds;
    }
    return all;
  };
  scf::IfOp versions = makeVersions(body, "full", condition, [](Builder &, ValueMap &) {});
  llvm::SmallVector<Operation *, 4> copies;
  for (auto [copy, original] : llvm::zip(*versions.thenRegion().front(), *versions.elseRegion().front()))
    if (llvm::any_of(comparisons, [&](const Comparison &c) { return c.op.op == &original; })) copies.push_back(&copy);
  for (Operation *copy : copies) {
    Builder b(copy);
    copy->result().replaceAllUsesWith(b.intConstant(copy->loc(), copy->result().type(), 1));
    copy->erase();
  }
}

} // namespace

absl::StatusOr<bool> fullBlockVersions(Module &m, const FullBlockVersionsOptions &options, PassContext &c) {
  constexpr int64_t kFewestThreads = 32; // of a warp of any target
  const int64_t threads = options.numWarps * (c.target ? c.target->warpSize : kFewestThreads);
  bool changed = false;
  for (auto &op : *m.body()) {
    auto kernel = op.dyn<tt::FuncOp>();
    if (!kernel || kernel.symVisibility() == "private" || kernel.body().empty()) continue;
    Block *body = bodyForVersions(kernel);
    if (!body) continue;
    auto comparisons = FullBlock(kernel, *body, m, threads).narrowingComparisons();
    if (comparisons.empty()) continue;
    makeVersionsFor(body, comparisons);
    changed = true;
    c.remark({Remark::Applied, "", "FullBlockVersions", kernel->loc(),
              "the kernel has a second version, 'full', for programs whose block has no element that is masked for "
              "being beyond the end; the other one is 'general'",
              llvm::json::Object{{"comparisons", int64_t(comparisons.size())}}});
  }
  return changed;
}

} // namespace tessera::transforms
