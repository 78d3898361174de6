// Creating and recognising the next index into a multi-buffer (see multi_buffer_index.h).
#include "transforms/analyses/multi_buffer_index.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

Value createNextBufferIndex(Builder &b, Location loc, Value index, int64_t buffers) {
  Context &c = b.context();
  auto integer = [&](int64_t v) { return b.intConstant(loc, c.i32(), v); };
  Value next = arith::AddiOp::create(b, loc, index, integer(1)).op->result();
  Value wraps = compare(b, loc, CmpIPredicate::Sge, next, integer(buffers));
  return arith::SelectOp::create(b, loc, wraps, integer(0), next).op->result();
}

Value createNextPhase(Builder &b, Location loc, Value phase, Value next) {
  auto integer = [&](int64_t v) { return b.intConstant(loc, b.context().i32(), v); };
  Value wraps = compare(b, loc, CmpIPredicate::Eq, next, integer(0));
  Value other = arith::XoriOp::create(b, loc, phase, integer(1)).op->result();
  return arith::SelectOp::create(b, loc, wraps, other, phase).op->result();
}

bool isNextPhase(Value next, Value phase, Value nextIndex) {
  auto select = next.definedBy<arith::SelectOp>();
  if (!select || select.falseValue() != phase) return false;
  auto other = select.trueValue().definedBy<arith::XoriOp>();
  auto compare = select.condition().definedBy<arith::CmpiOp>();
  return other && other.lhs() == phase && intConstantOf(other.rhs()) == 1 && compare &&
         compare.predicate() == CmpIPredicate::Eq && compare.lhs() == nextIndex && intConstantOf(compare.rhs()) == 0;
}

std::optional<MultiBufferStep> multiBufferStep(Value v) {
  auto select = v.definedBy<arith::SelectOp>();
  if (!select || intConstantOf(select.trueValue()) != 0) return {};
  auto next = select.falseValue().definedBy<arith::AddiOp>();
  if (!next || intConstantOf(next.rhs()) != 1) return {};
  auto compare = select.condition().definedBy<arith::CmpiOp>();
  bool comparesNext = compare && compare.predicate() == CmpIPredicate::Sge && compare.lhs() == select.falseValue();
  if (!comparesNext) return {};
  auto buffers = intConstantOf(compare.rhs());
  return buffers ? std::optional(MultiBufferStep{next.lhs(), *buffers}) : std::nullopt;
}

namespace {

/// How many steps an index into one of N buffers is after another, modulo N.
class StepsBetween {
public:
  explicit StepsBetween(int64_t buffers) : buffers_(buffers) {}

  std::optional<int64_t> from(Value a, Value b) {
    if (a == b) return 0;
    if (--budget_ < 0) return {};
    auto x = intConstantOf(a), y = intConstantOf(b);
    auto isIndex = [&](int64_t v) { return v >= 0 && v < buffers_; };
    if (x && y) return isIndex(*x) && isIndex(*y) ? modulo(*y - *x) : std::optional<int64_t>();
    if (auto step = stepTo(b)) return plus(from(a, *step), 1);
    if (auto step = stepTo(a)) return plus(from(*step, b), -1);
    auto carriedA = carriedOf(a), carriedB = carriedOf(b);
    if (!carriedA || !carriedB || carriedA->loop.op != carriedB->loop.op) return {};
    bool areArguments = a == carriedA->argument && b == carriedB->argument;
    if (!areArguments && (a == carriedA->argument || b == carriedB->argument)) return {}; // of different iterations
    return betweenCarried(*carriedA, *carriedB);
  }

private:
  struct Assumption {
    Value a, b;
    int64_t steps;
  };

  std::optional<int64_t> modulo(int64_t v) const { return (v % buffers_ + buffers_) % buffers_; }
  std::optional<int64_t> plus(std::optional<int64_t> steps, int64_t more) const {
    return steps ? modulo(*steps + more) : std::nullopt;
  }
  /// The index that `v` is the next one after.
  std::optional<Value> stepTo(Value v) const {
    auto step = multiBufferStep(v);
    return step && step->buffers == buffers_ ? std::optional(step->index) : std::nullopt;
  }
  /// By induction over the iterations. Results are what the last iteration yields, or the initial values: as far apart.
  std::optional<int64_t> betweenCarried(const CarriedValue &a, const CarriedValue &b) {
    for (auto &known : assumptions_)
      if (known.a == a.argument && known.b == b.argument) return known.steps;
    auto atStart = from(a.init, b.init);
    if (!atStart) return {};
    assumptions_.push_back({a.argument, b.argument, *atStart});
    auto atEnd = from(a.yielded, b.yielded);
    assumptions_.pop_back();
    return atEnd == atStart ? atStart : std::nullopt;
  }

  int64_t buffers_;
  int budget_ = 100; // values that are followed
  llvm::SmallVector<Assumption, 2> assumptions_;
};

/// N if `to` is the index after `from` in one of N buffers.
std::optional<int64_t> buffersIfNext(Value from, Value to) {
  auto step = multiBufferStep(to);
  bool isNext = step && step->index == from && step->buffers >= 2;
  return isNext ? std::optional(step->buffers) : std::nullopt;
}

/// The number of buffers of an index that a loop carries, and that ends each iteration with a step, or of one that is
/// such an index of the iteration before.
std::optional<int64_t> buffersOf(Value argument) {
  auto value = carriedByArgument(argument);
  if (!value) return {};
  auto current = carriedByArgument(value->yielded);
  bool isOfIterationBefore = current && current->loop.op == value->loop.op && value->yielded != argument;
  auto step = multiBufferStep(isOfIterationBefore ? current->yielded : value->yielded);
  return step ? std::optional(step->buffers) : std::nullopt;
}

} // namespace

std::optional<int64_t> buffersSteppedThrough(Value argument) {
  auto value = carriedByArgument(argument);
  return value ? buffersIfNext(argument, value->yielded) : std::nullopt;
}

std::optional<StepsApart> stepsApart(Value a, Value b) {
  if (auto buffers = buffersIfNext(a, b)) return StepsApart{1, *buffers};
  if (auto buffers = buffersIfNext(b, a)) return StepsApart{*buffers - 1, *buffers};
  auto buffers = buffersOf(a);
  if (!buffers || buffers != buffersOf(b)) return {};
  auto steps = StepsBetween(*buffers).from(a, b);
  return steps ? std::optional(StepsApart{*steps, *buffers}) : std::nullopt;
}

} // namespace tessera::transforms
