// Pass triton-loop-unroll: unrolls loops that have `tt.loop_unroll_factor = U`: the loop becomes one with U copies of
// the body and U times the step, and a remainder loop for the iterations that are left.
//
//   scf.for %i = %lo to %hi step %s iter_args(%x = %x0) {      scf.for %i = %lo to %mid step %s·U iter_args(%x = %x0) {
//     %y = f(%i, %x)                                             %y = f(%i, %x)
//     scf.yield %y                                        →      %z = f(%i + %s, %y)        … U times
//   } {tt.loop_unroll_factor = 2 : i32}                          scf.yield %z
//                                                              }
//                                                              scf.for %i = %mid to %hi step %s {…} {tt.num_stages = 1}
//
// where %mid = %lo + %s · (trips - trips mod U). With constant bounds the parts that do not run are left out. The
// remainder loop is short, so it is marked not to be pipelined. The trip count is computed unsigned, so that it is
// right for every pair of bounds. Inner loops are unrolled first. A factor that is no integer, or that makes a body of
// more operations than LLVM compiles in seconds, is an error.
//
// Runs: TTIR.
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr llvm::StringRef kFactor = "tt.loop_unroll_factor";

/// What is wrong with the loop's factor, of which `factor` is the value if it is an integer; empty: nothing.
/// `maxOperations`: of the unrolled body.
std::string whyNotUnrolled(Operation *loop, IntegerAttr factor, int64_t maxOperations) {
  if (!factor) return " must be an integer, not " + loop->attr(kFactor).str();
  std::optional<int64_t> known = constantIterations(loop->cast<scf::ForOp>());
  if (factor.sext() <= 1 || (known && *known < factor.sext())) return ""; // the loop stays as it is
  int64_t operations = 0;
  loop->walk([&](Operation *) { ++operations; });
  int64_t most = std::max<int64_t>(1, maxOperations / operations);
  if (factor.sext() <= most) return "";
  return llvm::formatv(" = {0} is too much for a loop of {1} operations; at most {2}", factor.sext(), operations, most);
}

class Unroller {
public:
  Unroller(scf::ForOp f, int64_t factor)
      : f_(f), b_(f.op), loc_(f->loc()), type_(f.lowerBound().type()), factor_(factor) {}

  void run() {
    std::optional<int64_t> known = constantIterations(f_);
    Value lower = f_.lowerBound(), upper = f_.upperBound(), step = f_.step();
    if (known && *known < factor_) return f_->removeAttr(kFactor);
    Value middle;
    if (known && *known % factor_ == 0)
      middle = upper;
    else {
      Value one = constant(1), n = constant(factor_);
      Value runs = compare(b_, loc_, f_.unsignedCmp() ? CmpIPredicate::Ult : CmpIPredicate::Slt, lower, upper);
      Value last =
          arith::SubiOp::create(b_, loc_, arith::SubiOp::create(b_, loc_, upper, lower).result(), one).result();
      Value trips =
          arith::AddiOp::create(b_, loc_, arith::DivuiOp::create(b_, loc_, last, step).result(), one).result();
      trips = arith::SelectOp::create(b_, loc_, runs, trips, constant(0)).result();
      Value whole =
          arith::SubiOp::create(b_, loc_, trips, arith::RemuiOp::create(b_, loc_, trips, n).result()).result();
      middle = arith::AddiOp::create(b_, loc_, lower, arith::MuliOp::create(b_, loc_, whole, step).result()).result();
    }
    auto main = loop(lower, middle, arith::MuliOp::create(b_, loc_, step, constant(factor_)).result(),
                     f_.initArgs().vec(), factor_);
    if (known && *known % factor_ == 0)
      f_->replaceAllUsesWith(main.op);
    else {
      auto rest = loop(middle, upper, step, main->results().vec(), 1);
      rest->setAttr(kNumStagesAttr, IntegerAttr::getI32(b_.context(), 1));
      f_->replaceAllUsesWith(rest.op);
    }
    f_->erase();
  }

private:
  Value constant(int64_t v) { return b_.intConstant(loc_, type_, v); }

  /// A loop with so many copies of the body.
  scf::ForOp loop(Value lower, Value upper, Value step, llvm::ArrayRef<Value> inits, int64_t copies) {
    llvm::SmallVector<Type, 8> types;
    for (auto v : inits) types.push_back(v.type());
    auto out = scf::ForOp::create(b_, loc_, types, lower, upper, step, inits, f_->attrs());
    out->removeAttr(kFactor);
    Block *from = f_.body().front(), *to = out.body().addBlock();
    llvm::SmallVector<Value, 8> values;
    Value induction = to->addArg(type_, inductionVariable(f_).loc());
    for (unsigned i = 0; i < inits.size(); ++i) values.push_back(to->addArg(types[i], carried(f_, i).argument.loc()));
    Builder in = Builder::atEnd(to);
    Operation *yield = from->terminator();
    for (int64_t k = 0; k < copies; ++k) {
      ValueMap map;
      Value i = induction;
      if (k)
        i = arith::AddiOp::create(in, loc_, induction,
                                  arith::MuliOp::create(in, loc_, f_.step(), in.intConstant(loc_, type_, k)).result())
                .result();
      map.map(inductionVariable(f_), i);
      for (unsigned a = 0; a < values.size(); ++a) map.map(carried(f_, a).argument, values[a]);
      for (auto &op : *from)
        if (&op != yield) in.clone(&op, map);
      for (unsigned a = 0; a < values.size(); ++a) values[a] = map.lookupOrSelf(carried(f_, a).yielded);
    }
    scf::YieldOp::create(in, yield->loc(), values);
    return out;
  }

  scf::ForOp f_;
  Builder b_;
  Location loc_;
  Type type_;
  int64_t factor_;
};

} // namespace

absl::StatusOr<bool> loopUnroll(Module &m, PassContext &c) {
  std::vector<Operation *> loops;
  m.op()->walkPostOrder([&](Operation *op) {
    if (op->is<scf::ForOp>() && op->hasAttr(kFactor)) loops.push_back(op);
  });
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  for (auto *op : loops) {
    auto factor = op->attr<IntegerAttr>(kFactor);
    if (std::string problem = whyNotUnrolled(op, factor, tuning.unrolledMaxOperations); !problem.empty()) {
      c.diagnostics.error(op->loc(), std::string(kFactor) + problem);
      return absl::InvalidArgumentError("a loop cannot be unrolled");
    }
    if (factor && factor.sext() > 1)
      Unroller(op->cast<scf::ForOp>(), factor.sext()).run();
    else
      op->removeAttr(kFactor);
  }
  return !loops.empty();
}

} // namespace tessera::transforms
