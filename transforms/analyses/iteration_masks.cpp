// Masks that are false after a loop's last iteration (see iteration_masks.h).
//
//   %n = (%K + 31) / 32
//   scf.for %k = 0 to %n step 1:
//     %left = %K - %k * 32
//     %mask = cmpi slt, %columns, splat %left        columns: 0 to 31
//
// From iteration n on, k * 32 is at least K, nothing is left, and no column is below it. A load that is issued ahead of
// its iteration needs no other mask for whether that exists.
//
// Recognised are K - iv * c, or K - iv, in loops to ceil(K / c), or K, that begin at no negative number and take
// constant steps. K - iv * c does not wrap around: K is not negative if there are iterations, and the number stays
// above -c times the iterations ahead, which are few. Where K + 31 wraps, n is negative, and the loop has no iteration.
#include "transforms/analyses/iteration_masks.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "transforms/analyses/integer_facts.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// The loop goes to ceil(%size / tile).
struct Bound {
  Value size;
  int64_t tile = 1;
};

/// The ways to read the loop's bound.
llvm::SmallVector<Bound, 2> boundsOf(scf::ForOp loop) {
  Value upper = loop.upperBound();
  llvm::SmallVector<Bound, 2> bounds = {{upper, 1}};
  auto divided = upper.definedBy<arith::DivsiOp>();
  auto tile = divided ? intConstantOf(divided.rhs()) : std::nullopt;
  auto sum = divided ? divided.lhs().definedBy<arith::AddiOp>() : arith::AddiOp();
  if (!tile || *tile <= 1 || !sum) return bounds;
  if (intConstantOf(sum.rhs()) == *tile - 1) bounds.push_back({sum.lhs(), *tile});
  if (intConstantOf(sum.lhs()) == *tile - 1) bounds.push_back({sum.rhs(), *tile});
  return bounds;
}

/// The value whose elements those of `v` are, in another shape or layout.
Value withoutViews(Value v) {
  while (true) {
    if (auto b = v.definedBy<tt::BroadcastOp>())
      v = b.src();
    else if (auto e = v.definedBy<tt::ExpandDimsOp>())
      v = e.src();
    else if (auto c = v.definedBy<ttg::ConvertLayoutOp>())
      v = c.src();
    else
      break;
  }
  return v;
}

/// The scalar that all elements of the value are; null if that is not known.
Value splatOf(Value v) {
  v = withoutViews(v);
  if (auto s = v.definedBy<tt::SplatOp>()) return s.src();
  return v.type().isTensor() ? Value() : v;
}

/// Whether the scalar is what is left of the loop's range: zero or less after its last iteration.
bool isLeft(Value v, scf::ForOp loop) {
  auto difference = v ? v.definedBy<arith::SubiOp>() : arith::SubiOp();
  if (!difference) return false;
  Value done = difference.rhs(), counter = inductionVariable(loop);
  int64_t tile = 1;
  if (auto scaled = done.definedBy<arith::MuliOp>()) {
    bool isCounterFirst = scaled.lhs() == counter;
    auto by = intConstantOf(isCounterFirst ? scaled.rhs() : scaled.lhs());
    if (!by) return false;
    tile = *by;
    done = isCounterFirst ? scaled.lhs() : scaled.rhs();
  }
  if (done != counter) return false;
  return llvm::any_of(boundsOf(loop), [&](const Bound &b) { return b.size == difference.lhs() && b.tile == tile; });
}

bool isNonNegative(Value v) {
  auto range = integerRange(v);
  return range && range->low >= 0;
}

} // namespace

bool isFalseAfterLoop(Value mask, scf::ForOp loop, int64_t ahead) {
  constexpr int64_t kMostAhead = int64_t(1) << 30; // of numbers that are counted beyond the range
  auto lower = intConstantOf(loop.lowerBound()), step = intConstantOf(loop.step());
  if (!lower || *lower < 0 || !step || *step <= 0 || inductionVariable(loop).type() != loop->context().i32())
    return false;
  mask = withoutViews(mask);
  if (auto both = mask.definedBy<arith::AndiOp>())
    return isFalseAfterLoop(both.lhs(), loop, ahead) || isFalseAfterLoop(both.rhs(), loop, ahead);
  auto compared = mask.definedBy<arith::CmpiOp>();
  if (!compared) return false;
  bool isLess = compared.predicate() == CmpIPredicate::Slt, isMore = compared.predicate() == CmpIPredicate::Sgt;
  if (!isLess && !isMore) return false;
  Value smaller = isLess ? compared.lhs() : compared.rhs(), greater = isLess ? compared.rhs() : compared.lhs();
  for (const Bound &b : boundsOf(loop))
    if (b.tile > kMostAhead / *step || b.tile * *step > kMostAhead / (ahead + 1)) return false;
  return isLeft(splatOf(greater), loop) && isNonNegative(smaller);
}

} // namespace tessera::transforms
