// Dots with the accumulator in tensor memory (see tensor_memory_dot.h).
#include "transforms/layout/tensor_memory_dot.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/tensor_queries.h"
#include "layouts/nvidia_mma.h"
#include "layouts/tensor_memory_access.h"
#include "layouts/tensor_memory_places.h"
#include "transforms/analyses/accumulator_buffers.h"
#include "transforms/analyses/dots.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/shared_dot_operand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;

static SharedReading readingOf(bool alongK) { return {.alongK = alongK, .bytesAcross = true}; }

namespace {

class Planner {
public:
  Planner(tt::DotOp dot, const DotProblem &problem, const TargetInfo &target, int64_t numWarps)
      : dot_(dot), types_(problem.types), k_(problem.k), target_(target), numWarps_(numWarps),
        result_(tensorOf(dot.d())) {}

  /// None: whyNot() gives the reason.
  std::optional<TensorMemoryDotPlan> run() {
    if (result_.rank() != 2 || types_.decomposition != DotDecomposition::None || !result_.encoding()->cta().isTrivial())
      return no("it has no batches, decomposed f32 or clusters here");
    if (dot_->parentOfType<tt::FuncOp>().symVisibility() == "private") // the kernel allocates tensor memory
      return no("it is in a function that kernels call");
    if (numWarps_ < layouts::kTensorMemoryWarps) return no("four warps and more access tensor memory");
    if (!hasInstruction()) return no("no instruction has the types, or K is shorter than a step");
    if (result_.dim(0) < kFewestAccumulatorRows || result_.dim(1) < kFewestAccumulatorColumns)
      return no("a tile has 64 rows and 16 columns at least");
    if (!planAccumulator()) return no("there are more warps than the columns of the accumulator are divided among");
    if (!planOperands()) return no("an operand cannot be read from shared memory: its rows are too short");
    // mma.sync takes operands in several repetitions.
    if (!fitTogether({dot_.a(), dot_.b()}, bitWidthOf(types_.a), target_))
      return no("its operands do not fit into shared memory together");
    return plan_;
  }
  llvm::StringRef whyNot() const { return whyNot_; }

private:
  std::nullopt_t no(const char *why) {
    whyNot_ = why;
    return std::nullopt;
  }

  bool hasInstruction() const {
    auto isF8 = [](MatrixType t) { return t == MatrixType::F8E4M3FN || t == MatrixType::F8E5M2; };
    MatrixType a = types_.a, b = types_.b, c = types_.c;
    bool isHalf = a == MatrixType::F16 && c == MatrixType::F16;
    bool isFloat = a == MatrixType::F16 || a == MatrixType::BF16 || a == MatrixType::TF32;
    bool isKnown = (a == b && (isHalf || (isFloat && c == MatrixType::F32))) ||
                   (a == b && a == MatrixType::I8 && c == MatrixType::I32) ||
                   (isF8(a) && isF8(b) && c == MatrixType::F32);
    return isKnown && k_ * bitWidthOf(a) >= layouts::kWgmmaBitsAlongK;
  }

  bool planAccumulator() {
    auto &pool = dot_->context().encodings();
    unsigned bits = types_.accumulator.bitWidth();
    plan_.memory = accumulatorEncoding(pool, result_.shape(), bits);
    if (!plan_.memory) return false;
    auto registers = layouts::tensorMemoryRegisters(*plan_.memory, result_.shape(), bits, unsigned(numWarps_));
    if (!registers || !layouts::planTensorMemoryAccess(*registers, *plan_.memory, result_.shape(), bits).ok())
      return false;
    auto columns = layouts::tensorMemoryColumns(*plan_.memory, result_.shape(), bits);
    auto layout = pool.getLinear(*registers);
    if (!columns.ok() || !layout.ok()) return false;
    plan_.columns = *columns;
    plan_.resultLayout = *layout;
    plan_.m = plan_.memory->params().blockM;
    plan_.n = plan_.memory->params().blockN;
    plan_.k = layouts::kWgmmaBitsAlongK / bitWidthOf(types_.a);
    return true;
  }

  bool planOperands() {
    auto canRead = [&](bool left, bool alongK) {
      return left ? isReadable(dot_.a(), 1, types_.operandA, plan_.m, readingOf(alongK))
                  : isReadable(dot_.b(), 0, types_.operandB, plan_.n, readingOf(alongK));
    };
    plan_.leftRewritten = !canRead(true, false);
    plan_.rightRewritten = !canRead(false, false);
    return canRead(true, plan_.leftRewritten) && canRead(false, plan_.rightRewritten);
  }

  tt::DotOp dot_;
  const DotTypes &types_;
  int64_t k_;
  const TargetInfo &target_;
  int64_t numWarps_;
  TensorType result_;
  const char *whyNot_ = "";
  TensorMemoryDotPlan plan_;
};

} // namespace

std::string TensorMemoryDotPlan::instruction() const {
  return llvm::formatv("tcgen05.mma m{0}n{1}k{2}", m, n, k).str();
}
std::string TensorMemoryDotPlan::description() const {
  std::string text = instruction();
  if (leftRewritten) text += ", the A operand stored along K";
  if (rightRewritten) text += ", the B operand stored along K";
  return text;
}

std::optional<TensorMemoryDotPlan> planTensorMemoryDot(tt::DotOp dot, const DotProblem &problem,
                                                       const TargetInfo &target, int64_t numWarps,
                                                       std::string &whyNot) {
  whyNot.clear();
  if (target.matrixUnit != MatrixUnit::Tcgen05) return std::nullopt;
  Planner planner(dot, problem, target, numWarps);
  auto plan = planner.run();
  if (!plan) whyNot = planner.whyNot();
  return plan;
}

Value buildTensorMemoryDot(tt::DotOp dot, const DotTypes &types, const TensorMemoryDotPlan &plan) {
  Location loc = dot->loc();
  auto type = tensorOf(dot.d());
  llvm::SmallVector<NamedAttribute, 2> attrs(dot->attrs().begin(), dot->attrs().end());
  // The unit accumulates 8-bit floats in f32: there are no partial sums of limited precision.
  llvm::erase_if(attrs, [](auto &x) { return x.name == "maxNumImpreciseAcc"; });
  Builder b(dot.op);
  if (bitWidthOf(types.a) == 8) attrs.push_back(b.i32Attr("maxNumImpreciseAcc", std::numeric_limits<int32_t>::max()));
  Value left = toShared(loc, dot.a(), 1, types.operandA, plan.m, readingOf(plan.leftRewritten));
  Value right = toShared(loc, dot.b(), 0, types.operandB, plan.n, readingOf(plan.rightRewritten));
  Value c = inElementType(b, loc, inLayout(b, loc, dot.c(), plan.resultLayout), types.accumulator);
  Value d = ttng::WarpGroupDotOp::create(b, loc, left, right, c, Value(), attrs).d();
  return inLayout(b, loc, inElementType(b, loc, d, type.element()), type.encoding());
}

Operation *extentOfAccumulator(Operation *dot, Value accumulator) {
  Value v = beforeConversions(accumulator);
  auto carried = v.isBlockArgument() ? carriedByArgument(v) : std::nullopt;
  bool isOfItsLoop = carried && carried->loop.op == dot->block()->parentOp();
  return isOfItsLoop ? carried->loop.op : dot;
}

} // namespace tessera::transforms
