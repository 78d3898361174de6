// Dots by warp groups (see warp_group_dot.h).
#include "transforms/layout/warp_group_dot.h"
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/nvmma_shared.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/operand_layouts.h"
#include "transforms/layout/shared_dot_operand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;
using layouts::NvidiaMmaEncoding;

// wgmma: PTX ISA, "Asynchronous warpgroup level matrix instructions".
static constexpr int kWarpsOfGroup = 4;
static constexpr int64_t kRowsOfGroup = 64;
static constexpr int64_t kRowsOfWarp = 16;
static constexpr int64_t kMinColumns = 8;
static constexpr int64_t kMaxColumns = 256;
static constexpr int kPermutesOfWord = 2; // four words of bytes are transposed by eight permutes

/// Whether the value is computed, in the dot's block, from another dot's result in a layout of mma.sync.
static bool dependsOnMmaSync(Value v, Block *block) {
  llvm::SetVector<Value> reached;
  reached.insert(v);
  for (unsigned i = 0; i < reached.size(); ++i) {
    Operation *def = reached[i].definingOp();
    Block *at = def ? def->block() : nullptr;
    while (at && at != block) at = at->parentOp() ? at->parentOp()->block() : nullptr;
    if (!at) continue; // from before the block, or carried to it
    if (auto dot = def->dyn<tt::DotOp>()) {
      auto *mma = layouts::dynCast<NvidiaMmaEncoding>(encodingOf(dot.d()));
      if (mma && mma->versionMajor() == 2) return true;
      continue;
    }
    reached.insert(def->operands().begin(), def->operands().end());
    if (!def->is<scf::IfOp>()) continue;
    for (auto &r : def->regions())
      if (r.hasOneBlock()) reached.insert(r.front()->terminator()->operand(reached[i].index()));
  }
  return false;
}

// ---- the plan -------------------------------------------------------------------------------------------------------

/// The columns of the widest instruction for a block of so many warps, and a result of such elements. An accumulator of
/// 32 bits takes a register for two columns; ptxas refuses an instruction whose operands do not fit into a thread's
/// registers. With half of the registers at most, everything else may be spilled around it.
static int64_t mostColumns(const TargetInfo &target, int64_t numWarps, Type result) {
  int64_t registers = target.registersPerThread(numWarps, RegisterSplit::Evenly);
  int64_t columns = int64_t(llvm::PowerOf2Ceil(uint64_t(registers))) * 32 / result.bitWidth();
  return std::min(kMaxColumns, columns);
}

/// The layout of a result of m by n elements: warps along the rows as long as there are rows for them, the rest along
/// the columns; tiles as wide as the instruction goes. Null if a group has less than a tile.
static const NvidiaMmaEncoding *layoutOfResult(layouts::EncodingPool &pool, int64_t m, int64_t n, int bits,
                                               int64_t numWarps, int64_t mostColumns, const layouts::CtaLayout &cta) {
  if (m < kRowsOfGroup) return nullptr;
  int64_t warpsAlongM = kWarpsOfGroup;
  while (warpsAlongM < numWarps && m >= kRowsOfWarp * warpsAlongM * 2) warpsAlongM *= 2;
  int64_t warpsAlongN = numWarps / warpsAlongM;
  int64_t tileN = std::min(mostColumns, n / warpsAlongN);
  if (tileN < kMinColumns) return nullptr;
  layouts::NvidiaMmaParams p;
  p.versionMajor = 3;
  p.warpsPerCta = {int32_t(warpsAlongM), int32_t(warpsAlongN)};
  p.instrShape = {int32_t(kRowsOfWarp), int32_t(tileN), layouts::kWgmmaBitsAlongK / bits};
  p.cta = cta;
  auto e = pool.getNvidiaMma(p);
  return e.ok() ? *e : nullptr;
}

static bool hasWarpGroupInstruction(const DotTypes &types, int64_t k) {
  bool isKnown = types.a == MatrixType::F16 || types.a == MatrixType::BF16 || types.a == MatrixType::TF32 ||
                 types.a == MatrixType::I8 || types.a == MatrixType::F8E4M3FN || types.a == MatrixType::F8E5M2;
  int bits = bitWidthOf(types.a);
  return isKnown && bitWidthOf(types.b) == bits && k * bits >= layouts::kWgmmaBitsAlongK;
}

namespace {

class WarpGroupDotPlanner {
public:
  WarpGroupDotPlanner(tt::DotOp dot, const DotProblem &problem, const TargetInfo &target, int64_t numWarps,
                      std::optional<int64_t> columnsByMmaSync)
      : dot_(dot), types_(problem.types), chain_(problem.chain), k_(problem.k), target_(target), tuning_(target.tuning),
        numWarps_(numWarps), columnsByMmaSync_(columnsByMmaSync), pool_(dot->context().encodings()),
        result_(tensorOf(dot.d())), mostColumns_(mostColumns(target, numWarps, result_.element())) {}

  /// None: whyNot() gives the reason.
  std::optional<WarpGroupDotPlan> run() {
    if (numWarps_ % kWarpsOfGroup) return no("a warp group is four warps");
    bool isDecomposed = types_.decomposition != DotDecomposition::None;
    if (result_.rank() != 2 || isDecomposed || !result_.encoding()->cta().isTrivial())
      return no("wgmma has no batches, decomposed f32 or clusters here");
    if (!hasWarpGroupInstruction(types_, k_)) return no("no instruction has the types, or K is shorter than a step");
    plan_.bits = bitWidthOf(types_.a);
    plan_.instructionLayout = layoutFor(result_.dim(0), result_.dim(1));
    bool asItIs = plan_.instructionLayout && isReadable(dot_.b(), 0, types_.operandB, tileN());
    plan_.rightRewritten = !asItIs && isInChain() && canRewriteRight();
    if (asItIs || plan_.rightRewritten)
      planLeft();
    else if (!planTransposed() && !planRewritten())
      return std::nullopt;
    if (!planComputedLeft() || !planLayouts()) return std::nullopt;
    if (!hasRoomForOperands()) return no("its operands do not fit into shared memory together");
    return plan_;
  }
  llvm::StringRef whyNot() const { return whyNot_; }

private:
  std::nullopt_t no(const char *why) {
    whyNot_ = why;
    return std::nullopt;
  }
  bool fails(const char *why) {
    whyNot_ = why;
    return false;
  }
  int64_t tileN() const { return plan_.instructionLayout->tileN(); }
  bool hasWarpsAlongColumns() const { return plan_.instructionLayout->params().warpsPerCta[1] > 1; }
  const NvidiaMmaEncoding *layoutFor(int64_t m, int64_t n) {
    return layoutOfResult(pool_, m, n, plan_.bits, numWarps_, mostColumns_, result_.encoding()->cta());
  }

  bool isInChain() const { return chain_.to != kNoOperand || chain_.from != kNoOperand; }
  /// Whether B can be stored to a buffer along K, element by element. By mma.sync, which has half the speed, threads
  /// would read B element by element instead.
  bool canRewriteRight() {
    return plan_.instructionLayout && isReadable(dot_.b(), 0, types_.operandB, tileN(), {.alongK = true});
  }

  /// D = A · B + C, with B in shared memory.
  void planLeft() {
    bool comesFromDot = chain_.from & kOperandA;
    bool isInItsWarps = comesFromDot && !hasWarpsAlongColumns();
    plan_.leftInRegisters = isInItsWarps || !isReadable(dot_.a(), 1, types_.operandA, kRowsOfGroup);
  }
  /// Whether the result is the accumulator of another dot, which is part of a chain.
  bool isAccumulatedOnInChain() const {
    for (Value v = dot_.d(); v.hasOneUse();) {
      Operation *user = v.users().front();
      if (auto next = user->dyn<tt::DotOp>()) {
        if (next.c() != v) return false;
        DotChain chain = chainOf(next);
        if (chain.to != kNoOperand || chain.from != kNoOperand) return true;
      } else if (!user->is<ttg::ConvertLayoutOp>()) {
        return false;
      }
      v = user->result();
    }
    return false;
  }
  /// Dᵀ = Bᵀ · Aᵀ + Cᵀ, with A in shared memory.
  bool planTransposed() {
    if (isInChain()) // they take the result as it is
      return fails("an operand cannot be read from shared memory as it lies, and the dot is part of a chain");
    if (isAccumulatedOnInChain())
      return fails("an operand cannot be read from shared memory as it lies, and a dot that is part of a chain "
                   "accumulates on the result");
    // The values that rows have in common (a maximum, a sum) would change their layout in each iteration.
    if (dependsOnMmaSync(dot_.a(), dot_->block()))
      return fails("the A operand is computed from the result of a dot by mma.sync");
    plan_.transposed = true;
    plan_.instructionLayout = layoutFor(result_.dim(1), result_.dim(0));
    if (!plan_.instructionLayout || !isReadable(dot_.a(), 1, types_.operandA, tileN()))
      return fails("the shape has no tile of 64 rows for a warp group, or no operand can be read from shared memory as "
                   "it lies");
    plan_.leftInRegisters = !isReadable(dot_.b(), 0, types_.operandB, kRowsOfGroup);
    if (plan_.leftInRegisters && hasWarpsAlongColumns() && tileN() < tuning_.warpGroupRegisterColumns)
      return fails("the transposed dot has too few columns for each warp group to load all rows of its operand");
    return true;
  }
  /// D = A · B + C, with B stored along K where that takes less than mma.sync does. Of elements as wide as a word, it
  /// would be copied one at a time.
  bool planRewritten() {
    if (plan_.bits >= kWordBits || isInChain() || dependsOnMmaSync(dot_.a(), dot_->block())) return false;
    plan_.transposed = false;
    plan_.instructionLayout = layoutFor(result_.dim(0), result_.dim(1));
    if (!canRewriteRight() || !isRewritingCheaper()) return false;
    plan_.rightRewritten = true;
    planLeft();
    return true;
  }
  /// In instructions of a thread (transforms/analyses/op_cost.h). By mma.sync, a lane reads the columns of its warp
  /// element by element. Rewriting reads words, stores words along K, and waits for them.
  bool isRewritingCheaper() {
    if (!columnsByMmaSync_) return true;
    double k = k_;
    double threads = numWarps_ * target_.warpSize;
    double words = k * result_.dim(1) * plan_.bits / kWordBits / threads; // of a thread
    double rewritten =
        tuning_.conversionRoundTripCost + 2 * tuning_.conversionWordCost * words + kPermutesOfWord * words;
    double read = tuning_.conversionWordCost * k * *columnsByMmaSync_ / target_.warpSize;
    // mma.sync has half of the speed of wgmma, and takes as many cycles more, in which a multiprocessor's schedulers
    // could issue instructions.
    double extraCycles = double(result_.numElements()) * k * plan_.bits / tuning_.wgmmaBitsPerCycle;
    return rewritten < read + extraCycles * target_.schedulersPerMultiprocessor / numWarps_;
  }
  /// An A operand that the loop computes from what it loads stays in registers.
  bool planComputedLeft() {
    Value left = plan_.transposed ? dot_.b() : dot_.a();
    bool mayBeComputed = !plan_.leftInRegisters && !hasWarpsAlongColumns();
    plan_.leftIsComputedFromLoad =
        mayBeComputed && (isComputedFromOneLoad(left, dot_->block()) || isRearrangedFromLoad(left));
    plan_.leftInRegisters |= plan_.leftIsComputedFromLoad;
    plan_.leftComesFromDot = chain_.from & kOperandA;
    if (plan_.leftComesFromDot && plan_.leftInRegisters && hasWarpsAlongColumns())
      return fails("the A operand comes from another dot, and its values would have to move between warps");
    return true;
  }
  /// What the instruction reads from shared memory; mma.sync takes operands in several repetitions.
  bool hasRoomForOperands() {
    Value left = plan_.transposed ? dot_.b() : dot_.a(), right = plan_.transposed ? dot_.a() : dot_.b();
    llvm::SmallVector<Value, 2> shared{right};
    if (!plan_.leftInRegisters) shared.push_back(left);
    return fitTogether(shared, plan_.bits, target_);
  }
  auto layoutOfLeft() { return pool_.getDotOperand(0, plan_.instructionLayout, std::max(1, kWordBits / plan_.bits)); }
  /// The same through rearrangements: packed weights of 4 bits, say, that are stored as the instruction takes them.
  bool isRearrangedFromLoad(Value left) {
    auto layout = layoutOfLeft();
    return !plan_.transposed && layout.ok() &&
           isComputedFromWords(left, *layout, dot_->block(), tuning_.narrowOperandFraction);
  }
  bool planLayouts() {
    plan_.resultLayout = plan_.instructionLayout;
    if (plan_.transposed)
      plan_.resultLayout =
          layouts::inferTrans(pool_, plan_.instructionLayout, {1, 0}, {result_.dim(1), result_.dim(0)});
    if (!plan_.resultLayout) return false;
    if (!plan_.leftInRegisters) return true;
    auto layout = layoutOfLeft();
    if (!layout.ok()) return false;
    plan_.leftLayout = *layout;
    if (!plan_.transposed) return true;
    auto source = tensorOf(beforeConversions(dot_.b()));
    plan_.leftTransposedLayout = layouts::inferTrans(pool_, source.encoding(), {1, 0}, source.shape());
    return plan_.leftTransposedLayout;
  }

  tt::DotOp dot_;
  const DotTypes &types_;
  DotChain chain_;
  int64_t k_;
  const TargetInfo &target_;
  const Tuning &tuning_;
  int64_t numWarps_;
  std::optional<int64_t> columnsByMmaSync_;
  const char *whyNot_ = "";
  layouts::EncodingPool &pool_;
  TensorType result_;
  int64_t mostColumns_; // of an instruction
  WarpGroupDotPlan plan_;
};

} // namespace

std::string WarpGroupDotPlan::instruction() const {
  return llvm::formatv("wgmma m64n{0}k{1}", instructionLayout->tileN(), layouts::kWgmmaBitsAlongK / bits).str();
}
std::string WarpGroupDotPlan::description() const {
  std::string text = instruction();
  if (transposed) text += " as the transposed dot";
  if (rightRewritten) text += ", the B operand stored along K";
  if (!leftInRegisters) return text;
  text += llvm::formatv(", the {0} operand in registers", transposed ? "B" : "A").str();
  if (leftIsComputedFromLoad && !leftComesFromDot) text += ", where it is computed from what is loaded";
  if (!leftIsComputedFromLoad && !leftComesFromDot) text += ": it cannot be read from shared memory across K";
  return text;
}

std::optional<WarpGroupDotPlan> planWarpGroupDot(tt::DotOp dot, const DotProblem &problem, const TargetInfo &target,
                                                 int64_t numWarps, std::optional<int64_t> columnsByMmaSync,
                                                 std::string &whyNot) {
  whyNot.clear();
  if (target.matrixUnit != MatrixUnit::Wgmma) return std::nullopt;
  WarpGroupDotPlanner planner(dot, problem, target, numWarps, columnsByMmaSync);
  auto plan = planner.run();
  if (!plan) whyNot = planner.whyNot();
  return plan;
}

// ---- the rewrite ----------------------------------------------------------------------------------------------------

/// The addition that is the only user of a dot of floats that starts from zero, and what it adds to, if that is known
/// before the dot: x + (0 + a·b). Null if partial sums of limited precision are added up before K ends.
static Operation *additionAfter(tt::DotOp dot, int64_t k, Value &addend) {
  bool startsFromZero = isZero(beforeConversions(dot.c()));
  bool addsUpWithinK = dot.maxNumImpreciseAcc() <= k;
  if (!startsFromZero || !dot.d().type().scalar().isF32() || addsUpWithinK) return nullptr;
  Value sum = dot.d();
  while (sum.hasOneUse() && sum.users()[0]->is<ttg::ConvertLayoutOp>()) sum = sum.users()[0]->result();
  auto add = sum.hasOneUse() ? sum.users()[0]->dyn<arith::AddfOp>() : arith::AddfOp();
  if (!add || add->block() != dot->block()) return nullptr;
  Value other = add.lhs() == sum ? add.rhs() : add.lhs();
  Operation *def = other.definingOp();
  if (def && def->block() == dot->block() && !def->isBeforeInBlock(dot.op)) return nullptr;
  addend = other;
  return add.op;
}

/// A dot of 8-bit floats whose sum is then added to what there is accumulates on that itself; its lowering decides how
/// many partial sums there are. Returns the accumulator.
static Value absorbAddition(tt::DotOp dot, int bits, llvm::SmallVectorImpl<NamedAttribute> &attrs) {
  Value accumulator = dot.c();
  if (bits != 8) return accumulator;
  int64_t k = tensorOf(dot.a()).dim(1);
  Operation *addition = additionAfter(dot, k, accumulator);
  if (!addition) return accumulator;
  auto add = addition->cast<arith::AddfOp>();
  addition->result().replaceAllUsesWith(beforeConversions(add.lhs()) == dot.d() ? add.lhs() : add.rhs());
  addition->erase();
  llvm::erase_if(attrs, [](auto &x) { return x.name == "maxNumImpreciseAcc"; });
  attrs.push_back(Builder(dot.op).i32Attr("maxNumImpreciseAcc", k));
  return accumulator;
}

static Value transposedTensor(Builder &b, Location loc, Value v, const Encoding *layout) {
  auto t = tensorOf(v);
  return tt::TransOp::create(b, loc, TensorType::get({t.dim(1), t.dim(0)}, t.element(), layout), v,
                             {b.denseI32Attr("order", {1, 0})})
      ->result();
}

/// The instruction's A operand, in registers or in shared memory.
static Value leftOperand(Builder &b, tt::DotOp dot, const DotTypes &types, const WarpGroupDotPlan &plan) {
  Location loc = dot->loc();
  Value left = plan.transposed ? dot.b() : dot.a();
  Type element = plan.transposed ? types.operandB : types.operandA;
  if (plan.leftInRegisters) {
    left = inElementType(b, loc, beforeConversions(left), element);
    if (plan.transposed) left = transposedTensor(b, loc, left, plan.leftTransposedLayout);
    return inLayout(b, loc, left, plan.leftLayout);
  }
  unsigned kDim = plan.transposed ? 0 : 1;
  Value buffer = toShared(loc, left, kDim, element, kRowsOfGroup);
  return plan.transposed ? transposedView(b, loc, buffer) : buffer;
}

Value buildWarpGroupDot(tt::DotOp dot, const DotTypes &types, const WarpGroupDotPlan &plan) {
  Location loc = dot->loc();
  auto type = tensorOf(dot.d());
  int64_t tileN = plan.instructionLayout->tileN();
  llvm::SmallVector<NamedAttribute, 2> attrs(dot->attrs().begin(), dot->attrs().end());
  Value accumulator = absorbAddition(dot, plan.bits, attrs);

  Builder b(dot.op);
  Value left = leftOperand(b, dot, types, plan);
  Value right = plan.transposed ? toShared(loc, dot.a(), 1, types.operandA, tileN)
                                : toShared(loc, dot.b(), 0, types.operandB, tileN, {.alongK = plan.rightRewritten});
  if (plan.transposed) right = transposedView(b, loc, right);
  Value c = inElementType(b, loc, inLayout(b, loc, accumulator, plan.resultLayout), types.accumulator);
  if (plan.transposed) c = transposedTensor(b, loc, c, plan.instructionLayout);
  Value d = ttng::WarpGroupDotOp::create(b, loc, left, right, c, Value(), attrs).d();
  if (plan.transposed) d = transposedTensor(b, loc, d, plan.resultLayout);
  return inLayout(b, loc, inElementType(b, loc, d, type.element()), type.encoding());
}

} // namespace tessera::transforms
