// Pass tritongpu-accelerate-scaled-dot: a dot of microscaled operands gets the layout of an instruction that takes
// scales (TargetInfo::scaledMatrixInstructions), its operands the instruction's operand layouts, and its scales the
// layout in which each lane has the scales that it gives to the instruction:
//
//   %d = tt.dot_scaled %a scale %s, %b scale %t, %c … -> tensor<128x128xf32, #blocked>
//   →
//   %a1 = ttg.convert_layout %a : #blocked -> #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>   (%b likewise)
//   %s1 = ttg.convert_layout %s : #blocked -> #linear                                                (%t likewise)
//   %d1 = tt.dot_scaled %a1 scale %s1, %b1 scale %t1, %c1 … -> tensor<128x128xf32, #mma>
//   %d = ttg.convert_layout %d1 : #mma -> #blocked
//
// Operands. A lane holds 16 bytes in sequence along K, which is what an instruction takes of 4-bit elements, and half
// of what it takes of 8-bit ones. If both operands have 4 bits, a lane holds what up to four instructions take, so that
// its scales follow each other in memory.
//
// Scales. They go through shared memory (tritongpu-optimize-dot-operands): a block reads each row of them once, since a
// row is a few bytes of a cache line of its own, and lanes then read several at once. If a kernel has them in memory in
// the order in which lanes take them, and brings them into the shape of the matrix by reshapes and transpositions, they
// are loaded in the layout in which the dot takes them.
//
// Limits: dots for which there is an instruction (ir/scaled_dots.h); all others are decomposed before.
//
// Runs: AMD pipeline, after tritongpu-accelerate-matmul.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/scaled_dots.h"
#include "ir/tensor_queries.h"
#include "layouts/amd_mfma_scales.h"
#include "layouts/infer.h"
#include "layouts/layout_order.h"
#include "transforms/analyses/dots.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/matrix_instruction_choice.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

constexpr int64_t kOperandBytes = 16;      // in sequence along K: the widest read of shared memory
constexpr int64_t kMaxStepsInSequence = 4; // scales of a word

/// The layout before a transposition or reshape whose result has a layout; null if there is none.
const Encoding *beforeReshaping(layouts::EncodingPool &pool, Operation *op, const Encoding *e) {
  auto to = tensorOf(op->result());
  if (auto reshape = op->dyn<tt::ReshapeOp>()) {
    if (reshape.allowReorder()) return nullptr;
    return layouts::inferReshape(pool, e, to.shape(), tensorOf(reshape.src()).shape());
  }
  auto order = op->cast<tt::TransOp>().order();
  llvm::SmallVector<int64_t, 4> inverse(order.size());
  for (unsigned d = 0; d < order.size(); ++d) inverse[order[d]] = d;
  return layouts::inferTrans(pool, e, inverse, to.shape());
}

/// Whether lanes that load in a layout access words that follow each other in memory, rows being consecutive there.
bool loadsWords(const Encoding *e, llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t kWordBytes = 4; // of scales, which are bytes
  auto &l = e->layoutOf(shape);
  if (!l.ok() || !l->inDimBits(layouts::Dim::Lane)) return false;
  unsigned last = shape.size() - 1;
  int64_t n = layouts::consecutiveElements(*l, last);
  return n >= kWordBytes && l->basis(layouts::Dim::Lane, 0, layouts::tensorDim(last)) == n;
}

/// Has a value that is loaded for one use alone be loaded so that it arrives in a layout. False: it comes from
/// elsewhere, or lanes would not access consecutive words.
bool loadInLayout(Builder &b, Value v, const Encoding *e, Value &arrived) {
  auto &pool = b.context().encodings();
  v = beforeConversions(v);
  Operation *def = v.definingOp();
  auto isUnused = [](Operation *user) { return user->is<ttg::ConvertLayoutOp>() && user->result().useEmpty(); };
  if (!def || llvm::count_if(v.users(), [&](Operation *user) { return !isUnused(user); }) != 1) return false;
  if (auto load = def->dyn<tt::LoadOp>()) {
    if (!load.ptr().type().isTensor() || !loadsWords(e, tensorOf(load.result()).shape())) return false;
    computeInLayout(def, e);
    arrived = load.result();
    return true;
  }
  if (!def->is<tt::TransOp>() && !def->is<tt::ReshapeOp>()) return false;
  auto *before = beforeReshaping(pool, def, e);
  Value source;
  if (!before || !loadInLayout(b, def->operand(0), before, source)) return false;
  auto type = tensorOf(v).withEncoding(e);
  arrived = def->is<tt::TransOp>() ? tt::TransOp::create(b, def->loc(), type, source, def->attrs()).result()
                                   : tt::ReshapeOp::create(b, def->loc(), type, source, def->attrs()).result();
  return true;
}

class ScaledDotAcceleration {
public:
  ScaledDotAcceleration(tt::DotScaledOp dot, int64_t tileSize, const PassContext &context)
      : dot_(dot), context_(context), target_(*context.target), pool_(dot->context().encodings()), b_(dot.op),
        loc_(dot->loc()), place_(dot.op),
        choice_(MatrixInstructionChoice::withScales(target_, numWarps(dot->module().op()), tileSize)) {}

  /// False: there is no instruction.
  bool run() {
    if (!hasMatrixInstruction(dot_, target_)) return false;
    auto type = tensorOf(dot_.d());
    DotProblem problem;
    problem.types = {*matrixTypeOf(dot_.aElemType()), *matrixTypeOf(dot_.bElemType()), MatrixType::F32,
                     dot_.a().type().scalar(),        dot_.b().type().scalar(),        dot_->context().f32()};
    problem.shape.assign(type.shape().begin(), type.shape().end());
    problem.k = depthOf(dot_);
    problem.inLoop = dot_->block()->parentOp()->is<scf::ForOp>();
    problem.chain.to = dotOperandsFedBy(dot_.d(), kInPlace);
    DotOperands along = choice_.warpsAlong(problem);
    const MatrixInstruction *instruction = choice_.instruction(problem, along);
    if (!instruction) return false;
    auto warps = choice_.warps(problem.shape, *instruction, along);
    auto *layout = layouts::dynCast<layouts::AmdMfmaEncoding>(
        resultLayout(pool_, target_, *instruction, warps, type.encoding()->cta()));
    if (!layout || !build(problem, *instruction, *layout)) return false;
    remark(*instruction, warps);
    return true;
  }

private:
  /// How many instructions in sequence a lane's elements in sequence are for.
  static int64_t stepsInSequence(const DotProblem &problem, const MatrixInstruction &instruction) {
    bool have4Bits = problem.types.a == kPackedE2M1 && problem.types.b == kPackedE2M1;
    return have4Bits ? std::clamp<int64_t>(problem.k / instruction.k, 1, kMaxStepsInSequence) : 1;
  }

  /// Scales in the instruction's layout; null for none, or if there is no such layout (`exists` is then false).
  Value scales(Value v, unsigned operand, const layouts::AmdMfmaEncoding &layout, int64_t groups, bool &exists) {
    if (!v) return v;
    auto linear = layouts::scaleLayout(layout, tensorOf(v).shape(), operand, groups);
    auto e = linear.ok() ? pool_.getLinear(*linear) : linear.status();
    exists &= e.ok();
    if (!e.ok()) return {};
    Value arrived;
    return loadInLayout(b_, v, *e, arrived) ? arrived : inLayout(b_, loc_, beforeConversions(v), *e);
  }

  bool build(const DotProblem &problem, const MatrixInstruction &instruction, const layouts::AmdMfmaEncoding &layout) {
    int64_t steps = stepsInSequence(problem, instruction);
    auto layoutA = pool_.getDotOperand(0, &layout, kOperandBytes * steps);
    auto layoutB = pool_.getDotOperand(1, &layout, kOperandBytes * steps);
    bool exists = layoutA.ok() && layoutB.ok();
    Value scaleA = scales(dot_.aScale(), 0, layout, steps, exists);
    Value scaleB = scales(dot_.bScale(), 1, layout, steps, exists);
    if (!exists) return false;
    Value a = inLayout(b_, loc_, beforeConversions(dot_.a()), *layoutA);
    Value b = inLayout(b_, loc_, beforeConversions(dot_.b()), *layoutB);
    Value c = inElementType(b_, loc_, inLayout(b_, loc_, dot_.c(), &layout), problem.types.accumulator);
    auto type = tensorOf(dot_.d());
    Value d = tt::DotScaledOp::create(b_, loc_, c.type(), a, b, c, scaleA, scaleB, dot_->attrs()).d();
    dot_.d().replaceAllUsesWith(inLayout(b_, loc_, inElementType(b_, loc_, d, type.element()), type.encoding()));
    dot_->erase();
    return true;
  }

  void remark(const MatrixInstruction &i, llvm::ArrayRef<int32_t> warps) {
    if (!context_.wantsRemarks()) return;
    unsigned rank = warps.size();
    std::string what =
        llvm::formatv("the dot of microscaled operands is computed by {5} {0}x{1}x{2} with scales, {3} "
                      "warps along the rows and {4} along the columns",
                      i.m, i.n, i.k, warps[rank - 2], warps[rank - 1], registerInstructionName(target_.matrixUnit))
            .str();
    context_.remark(
        {Remark::Applied, "", "DotInstruction", place_, what,
         llvm::json::Object{
             {"instruction", registerInstructionName(target_.matrixUnit)}, {"m", i.m}, {"n", i.n}, {"k", i.k}}});
  }

  tt::DotScaledOp dot_;
  const PassContext &context_;
  const TargetInfo &target_;
  layouts::EncodingPool &pool_;
  Builder b_;
  Location loc_;
  RemarkPlace place_;
  MatrixInstructionChoice choice_;
};

} // namespace

absl::StatusOr<bool> accelerateScaledDot(Module &m, const AccelerateScaledDotOptions &options, PassContext &c) {
  std::vector<tt::DotScaledOp> dots;
  m.op()->walk([&](Operation *op) {
    auto dot = op->dyn<tt::DotScaledOp>();
    if (dot && layouts::dynCast<layouts::BlockedEncoding>(encodingOf(dot.d()))) dots.push_back(dot);
  });
  if (dots.empty()) return false;
  if (!c.target) return requiresTarget(c, m, "tritongpu-accelerate-scaled-dot");
  bool changed = false;
  for (auto dot : dots) changed |= ScaledDotAcceleration(dot, options.matrixInstructionSize, c).run();
  return changed;
}

} // namespace tessera::transforms
