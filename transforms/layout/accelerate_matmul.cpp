// Pass tritongpu-accelerate-matmul: a dot whose result has a blocked layout gets the layout of an instruction of the
// target's table (TargetInfo::matrixInstructions), its operands the instruction's operand layouts:
//
//   %d = tt.dot %a, %b, %c : (dot_op over #blocked) … -> tensor<64x64xf32, #blocked>
//   →
//   %c1 = ttg.convert_layout %c : #blocked -> #mma
//   %a1 = ttg.convert_layout %a : … -> #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>      (%b likewise)
//   %d1 = tt.dot %a1, %b1, %c1 : … -> tensor<64x64xf32, #mma>
//   %d = ttg.convert_layout %d1 : #mma -> #blocked
//
// Five files do the work:
//   matrix_instruction_choice   which instruction, in which element types, with which warps
//   joined_dots                 mma.sync: dots that take the warps of a chain with whose dots they are joined
//   dot_decomposition           tf32x3, bf16x3 and bf16x6: a dot of f32 as several dots of narrower parts
//   warp_group_dot              wgmma, which is tried first where the target has it
//   tensor_memory_dot           tcgen05, likewise
//
// Limits: a dot that fits no instruction stays as it is and is lowered to fma. It does not fit if the target has none
// for its types or if, except on AMD, its shape is smaller than the instruction's tile.
//
// Runs: both pipelines.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/accumulator_buffers.h"
#include "transforms/analyses/dots.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/dot_decomposition.h"
#include "transforms/layout/joined_dots.h"
#include "transforms/layout/matrix_instruction_choice.h"
#include "transforms/layout/tensor_memory_dot.h"
#include "transforms/layout/warp_group_dot.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

/// A dot with its place in chains of dots, which is determined before anything changes.
struct ChainedDot {
  tt::DotOp dot;
  DotChain chain;
};

std::vector<ChainedDot> blockedDots(Module &m) {
  std::vector<ChainedDot> dots;
  m.op()->walk([&](Operation *op) {
    auto dot = op->dyn<tt::DotOp>();
    if (dot && layouts::dynCast<layouts::BlockedEncoding>(encodingOf(dot.d()))) dots.push_back({dot, chainOf(dot)});
  });
  return dots;
}

/// MFMA and WMMA: a dot whose result another one of the block adds to has the place of that one in the chain, as the
/// first of two dots of queries and keys that are each in two parts. Both then have one layout. The dots are in the
/// order of the text.
void joinAccumulations(llvm::MutableArrayRef<ChainedDot> dots) {
  for (ChainedDot &first : llvm::reverse(dots))
    for (const ChainedDot &second : dots)
      if (second.dot.c() == first.dot.d() && second.dot->block() == first.dot->block())
        first.chain.to |= second.chain.to;
}

/// Elements along K that a lane holds of an operand of tf32: two for operands of 32 bits that a loop computes from
/// narrower elements which it loads, so that they are computed in registers from whole words of the copy's buffer. Both
/// operands take K in one order.
int64_t widthOfTf32(tt::DotOp dot, int64_t k) {
  constexpr int64_t kMinK = 16; // two instructions' K
  if (!dot->block()->parentOp()->is<scf::ForOp>() || k < kMinK) return 1;
  auto a = widestLoadedBits(dot.a(), dot->block());
  auto b = widestLoadedBits(dot.b(), dot->block());
  bool anyIsLoaded = a || b;
  bool loadedAreNarrow = a.value_or(0) < 32 && b.value_or(0) < 32;
  return anyIsLoaded && loadedAreNarrow ? 2 : 1;
}

/// Replaces the dot's result, and erases the dot with the conversions of its operands that nothing else uses.
void replaceDot(tt::DotOp dot, Value result) {
  dot.d().replaceAllUsesWith(result);
  Operation *a = dot.a().definingOp();
  Operation *b = dot.b().definingOp();
  Operation *c = dot.c().definingOp();
  dot->erase();
  if (b == a) b = nullptr;
  if (c == a || c == b) c = nullptr;
  for (auto *old : {a, b, c})
    if (old && old->is<ttg::ConvertLayoutOp>() && old->useEmpty()) old->erase();
}

class MatmulAcceleration {
public:
  MatmulAcceleration(Module &m, const AccelerateMatmulOptions &options, const PassContext &context,
                     llvm::ArrayRef<ChainedDot> dots)
      : context_(context), target_(*context.target), pool_(m.context().encodings()), numWarps_(numWarps(m.op())),
        usesTensorMemory_(target_.matrixUnit == MatrixUnit::Tcgen05 && options.tensorMemory),
        choice_(target_, numWarps_, options.matrixInstructionSize,
                llvm::any_of(dots, [](auto &d) { return (d.chain.to | d.chain.from) & kOperandA; })) {}

  /// Whether the dot was changed.
  bool rewrite(const ChainedDot &d) {
    std::string whyNot;
    if (rewrite(d.dot, d.chain, whyNot)) return true;
    remark(d.dot, Remark::Missed, "is computed by fma: " + whyNot);
    return false;
  }

  /// When all dots have their instructions: dots by mma.sync take the warps of chains that they join.
  void joinChains() {
    llvm::SmallVector<PlacedDot, 8> placed;
    for (auto &d : onRegisters_) placed.push_back(d.placed);
    for (unsigned i : dotsJoiningChains(placed)) {
      DotOnRegisters &d = onRegisters_[i];
      tt::DotOp dot = d.placed.dot;
      auto &cta = encodingOf(dot.d())->cta();
      const Encoding *layout = resultLayout(pool_, target_, *d.instruction, d.placed.warpsOfChain, cta);
      Value result = layout ? build(dot, d.problem, *d.instruction, layout, d.placed.dot) : Value();
      if (!result) continue;
      d.placed.warps = d.placed.warpsOfChain;
      replaceDot(dot, result);
    }
    for (auto &d : onRegisters_)
      remarkOfRegisters(d.placed.dot.op, d.types, *d.instruction, d.placed.warps, d.whyNotByWarpGroups);
  }

private:
  /// A dot of two dimensions by mma.sync.
  struct DotOnRegisters {
    PlacedDot placed;
    DotProblem problem;
    const MatrixInstruction *instruction;
    std::string types; // for remarks: those of the dot as it was
    std::string whyNotByWarpGroups;
  };

  /// False: the dot is unchanged, and `whyNot` gives the reason.
  bool rewrite(tt::DotOp dot, DotChain chain, std::string &whyNot) {
    unsigned rank = tensorOf(dot.d()).rank();
    if (rank != 2 && rank != 3) {
      whyNot = "matrix instructions are for operands of two or three dimensions";
      return false;
    }
    auto types = chooseDotTypes(dot, target_);
    if (!types) {
      bool hasPrecision = dot.a().type().scalar().isF32();
      whyNot = llvm::formatv("{0} has no matrix instruction for the types{1}", target_.name,
                             hasPrecision ? " and this precision" : "");
      return false;
    }
    return rewrite(dot, chain, *types, whyNot);
  }

  bool rewrite(tt::DotOp dot, DotChain chain, const DotTypes &types, std::string &whyNot) {
    auto type = tensorOf(dot.d());
    unsigned rank = type.rank();
    DotProblem problem;
    problem.types = types;
    problem.shape.assign(type.shape().begin(), type.shape().end());
    problem.k = tensorOf(dot.a()).dim(rank - 1);
    problem.inLoop = dot->block()->parentOp()->is<scf::ForOp>();
    problem.chain = chain;
    DotOperands along = choice_.warpsAlong(problem);
    const MatrixInstruction *instruction = choice_.instruction(problem, along);
    llvm::SmallVector<int32_t, 4> warps;
    std::optional<int64_t> columnsOfWarp;
    if (instruction) {
      warps = choice_.warps(problem.shape, *instruction, along);
      columnsOfWarp = std::max<int64_t>(type.dim(rank - 1) / warps[rank - 1], instruction->n);
    }
    std::string whyNotByWarpGroups;
    if (auto plan = planWarpGroupDot(dot, problem, target_, numWarps_, columnsOfWarp, whyNotByWarpGroups)) {
      remark(dot, Remark::Applied, "is computed by " + plan->description(),
             llvm::json::Object{{"instruction", plan->instruction()},
                                {"registersOperand", plan->leftInRegisters},
                                {"transposed", plan->transposed}});
      replaceDot(dot, buildWarpGroupDot(dot, types, *plan));
      return true;
    }
    if (Value result = inTensorMemory(dot, problem, whyNotByWarpGroups)) {
      replaceDot(dot, result);
      return true;
    }
    if (!instruction) {
      whyNot = "K is shorter than half of that of the instructions for its types";
      return false;
    }
    const Encoding *layout = resultLayout(pool_, target_, *instruction, warps, type.encoding()->cta());
    tt::DotOp newDot = dot;
    Value result = layout ? build(dot, problem, *instruction, layout, newDot) : Value();
    if (!result) {
      whyNot = "its result or an operand has no layout of the instruction";
      return false;
    }

    // Others stand where they are: AMD's, batches, and the parts of a decomposed dot.
    bool mayJoin = usesMmaSync(target_.matrixUnit) && rank == 2 && types.decomposition == DotDecomposition::None;
    if (mayJoin) {
      auto warpsOfChain = choice_.warps(problem.shape, *instruction, kOperandA);
      PlacedDot placed = {newDot, along, warps, warpsOfChain};
      onRegisters_.push_back({placed, problem, instruction, typesOf(dot), whyNotByWarpGroups});
    } else {
      remarkOfRegisters(dot.op, typesOf(dot), *instruction, warps, whyNotByWarpGroups);
    }
    replaceDot(dot, result);
    return true;
  }

  /// The new dot's result in the old one's type; null if its accumulator cannot be in tensor memory, with the reason.
  Value inTensorMemory(tt::DotOp dot, const DotProblem &problem, std::string &whyNot) {
    if (!usesTensorMemory_) return {};
    auto plan = planTensorMemoryDot(dot, problem, target_, numWarps_, whyNot);
    if (!plan) return {};
    auto accumulator = TensorType::get(problem.shape, problem.types.accumulator, plan->resultLayout);
    Operation *func = dot->parentOfType<tt::FuncOp>().op;
    if (!tensorMemory_[func].add(accumulator, plan->columns, extentOfAccumulator(dot.op, dot.c()))) {
      whyNot = llvm::formatv("the {0} columns of its accumulator do not fit into tensor memory beside those of other "
                             "dots",
                             plan->columns)
                   .str();
      return {};
    }
    remark(dot, Remark::Applied, "is computed by " + plan->description(),
           llvm::json::Object{{"instruction", plan->instruction()}, {"columns", plan->columns}});
    return buildTensorMemoryDot(dot, problem.types, *plan);
  }

  /// The layout of an operand; null if there is none.
  const Encoding *operandLayout(tt::DotOp dot, const DotProblem &problem, const MatrixInstruction &instruction,
                                unsigned index, Type element, const Encoding *layout) {
    const DotTypes &types = problem.types;
    bool isDecomposed = types.decomposition != DotDecomposition::None;
    bool isTf32 = !isDecomposed && types.a == MatrixType::TF32 && types.b == MatrixType::TF32;
    int64_t width = isTf32 ? widthOfTf32(dot, problem.k)
                           : operandKWidth(target_, instruction, problem.k, bitsOfPart(types.decomposition, element),
                                           problem.chain.from != kNoOperand);
    auto e = pool_.getDotOperand(index, layout, width);
    return e.ok() ? *e : nullptr;
  }

  /// The new dot's result in the old one's type; null if its operands have no layout. `built`: the new dot, the last
  /// one of a decomposed dot.
  Value build(tt::DotOp dot, const DotProblem &problem, const MatrixInstruction &instruction, const Encoding *layout,
              tt::DotOp &built) {
    const DotTypes &types = problem.types;
    auto *layoutA = operandLayout(dot, problem, instruction, 0, types.operandA, layout);
    auto *layoutB = operandLayout(dot, problem, instruction, 1, types.operandB, layout);
    if (!layoutA || !layoutB) return {};
    Builder b(dot.op);
    Location loc = dot->loc();
    auto type = tensorOf(dot.d());
    Value a = inElementType(b, loc, beforeConversions(dot.a()), types.operandA);
    Value bOperand = inElementType(b, loc, beforeConversions(dot.b()), types.operandB);
    Value c = inElementType(b, loc, inLayout(b, loc, dot.c(), layout), types.accumulator);
    llvm::SmallVector<NamedAttribute, 2> attrs(dot->attrs().begin(), dot->attrs().end());
    auto newDot = [&](Value x, Value y, Value accumulator) -> Value {
      Value operandA = inLayout(b, loc, x, layoutA);
      Value operandB = inLayout(b, loc, y, layoutB);
      built = tt::DotOp::create(b, loc, operandA, operandB, accumulator, attrs);
      return built.d();
    };
    Value result;
    if (types.decomposition == DotDecomposition::None) {
      result = newDot(a, bOperand, c);
    } else {
      // The dots of parts have the instruction's own precision.
      llvm::erase_if(attrs, [](auto &x) { return x.name == "inputPrecision"; });
      if (types.decomposition == DotDecomposition::Tf32x3)
        attrs.push_back(b.i32Attr("inputPrecision", int(InputPrecision::Tf32)));
      result = decomposedDot(b, loc, types.decomposition, a, bOperand, c, newDot);
    }
    return inLayout(b, loc, inElementType(b, loc, result, type.element()), type.encoding());
  }

  // ---- remarks ----

  void remarkOfRegisters(Operation *dot, const std::string &types, const MatrixInstruction &instruction,
                         llvm::ArrayRef<int32_t> warps, const std::string &whyNotByWarpGroups) {
    if (!context_.wantsRemarks()) return;
    std::string what =
        llvm::formatv("is computed by {0} {1}x{2}x{3}, {4} warps along the rows and {5} along the columns",
                      registerInstructionName(target_.matrixUnit), instruction.m, instruction.n, instruction.k,
                      warps[warps.size() - 2], warps.back())
            .str();
    if (!whyNotByWarpGroups.empty())
      what +=
          (target_.matrixUnit == MatrixUnit::Tcgen05 ? "; not by tcgen05: " : "; not by wgmma: ") + whyNotByWarpGroups;
    remark(dot, types, Remark::Applied, what,
           llvm::json::Object{{"instruction", registerInstructionName(target_.matrixUnit)},
                              {"m", instruction.m},
                              {"n", instruction.n},
                              {"k", instruction.k}});
  }

  /// Empty if nobody wants remarks.
  std::string typesOf(tt::DotOp dot) const {
    if (!context_.wantsRemarks()) return "";
    return dot.a().type().scalar().str() + " by " + dot.b().type().scalar().str() + " into " +
           dot.d().type().scalar().str();
  }
  void remark(tt::DotOp dot, Remark::Kind kind, const std::string &what, llvm::json::Object facts = {}) {
    remark(dot.op, typesOf(dot), kind, what, std::move(facts));
  }
  void remark(Operation *dot, const std::string &types, Remark::Kind kind, const std::string &what,
              llvm::json::Object facts) {
    if (!context_.wantsRemarks()) return;
    context_.remark({kind, "", "DotInstruction", dot, "the dot of " + types + " " + what, std::move(facts)});
  }

  const PassContext &context_;
  const TargetInfo &target_;
  layouts::EncodingPool &pool_;
  int64_t numWarps_;
  bool usesTensorMemory_;
  MatrixInstructionChoice choice_;
  std::vector<DotOnRegisters> onRegisters_;
  llvm::DenseMap<Operation *, TensorMemoryBudget> tensorMemory_; // of functions
};

} // namespace

absl::StatusOr<bool> accelerateMatmul(Module &m, const AccelerateMatmulOptions &options, PassContext &c) {
  if (!c.target) return requiresTarget(c, m, "tritongpu-accelerate-matmul");
  auto dots = blockedDots(m);
  if (isMfmaOrWmma(c.target->matrixUnit)) joinAccumulations(dots);
  MatmulAcceleration acceleration(m, options, c, dots);
  bool changed = false;
  for (auto &d : dots) changed |= acceleration.rewrite(d);
  acceleration.joinChains();
  return changed;
}

} // namespace tessera::transforms
