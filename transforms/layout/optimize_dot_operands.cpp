// Operands of multiplications that have to move between warps go through a buffer in shared memory of their own:
//
//   %b = ttg.convert_layout %a : #blocked -> #ttg.dot_op<…>
//   →
//   %m = ttg.local_alloc %a : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//   %b = ttg.local_load %m : … -> tensor<64x32xf16, #ttg.dot_op<…>>
//
// so that the pipeliner can give the buffer several stages, and the lowering can use instructions that read matrices. A
// conversion that is a renaming of registers or a few shuffles stays one: values computed in the layout of one
// multiplication's result feed the next without memory. Three exceptions:
//
//   copied loads    what a loop loads, where the target copies it to shared memory in the background: the operand is
//                   read from there as well as what was loaded
//   fma operands    of which each lane needs rows that others loaded, a shuffle for each element: through a buffer
//                   where that takes less than half as many accesses (in loops on AMD, where reads are scheduled to
//                   where they are multiplied; in straight code of many small products the scheduler brings them
//                   forward and spills)
//   warp groups     a left operand that its threads already have as the instruction takes it goes the other way, from
//                   its buffer to registers
//
// The buffer's layout. Where the target reads 8 by 8 matrices (ldmatrix), rows are swizzled in groups of the 16 bytes
// of a matrix row such that the eight rows of a matrix lie in different banks: a group is xored with the row's number
// within the rows that fill all banks once. Bytes across K that a loop copies in the background lie in the same way,
// in pieces of 16 (a layout for reads of words along K would take the copies apart). Elsewhere it is the layout that
// the conversion's plan finds best for the writes and the reads (layouts/conversion_plan.h), as #ttg.shared_linear;
// where reads transpose (ds_read_b64_tr_b16), the one for rows written as they come, if that costs less.
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/conversion_plan.h"
#include "layouts/infer.h"
#include "layouts/layout_order.h"
#include "transforms/passes.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

namespace {

const Encoding *sharedFor(layouts::EncodingPool &pool, TensorType type, const layouts::DotOperandEncoding *to,
                          const layouts::LinearLayout &from, const layouts::ConversionPlan &plan, bool copied,
                          const TargetInfo &target) {
  int64_t bytes = type.element().bitWidth() / 8;
  auto order = layouts::storageOrderOf(type.encoding(), from);
  unsigned rank = type.rank();
  bool matrix = layouts::dynCast<layouts::NvidiaMmaEncoding>(to->parent());
  bool alongK = order[0] == int32_t(to->kDim());
  // ldmatrix serves rows along K of any width up to a word, and transposed ones of 16 bits.
  if (target.hasLdmatrix && matrix && bytes <= 4 && (alongK || bytes == 2)) {
    layouts::SwizzledSharedParams p;
    p.order = order;
    p.cta = type.encoding()->cta();
    int64_t rowBytes = type.dim(order[0]) * bytes,
            allBanks = int64_t(target.sharedMemoryBanks) * target.sharedMemoryBankBytes;
    p.vec = std::min<int64_t>(16 / bytes, type.dim(order[0]));
    p.perPhase = std::max<int64_t>(1, allBanks / rowBytes);
    p.maxPhase = std::max<int64_t>(1, std::min<int64_t>(8, std::min<int64_t>(rowBytes, allBanks) / (p.vec * bytes)));
    p.maxPhase = std::min<int64_t>(p.maxPhase, std::max<int64_t>(1, type.dim(order[1 % rank]) / p.perPhase));
    if (auto e = pool.getSwizzledShared(p); e.ok()) return *e;
  }
  // Bytes across K: the plan would let a word along K be read at once, but only whole words of memory can be copied
  // in the background. Lanes that differ in K read rows a word's elements apart.
  int64_t piece = 1;
  for (unsigned bit = 0;
       bit < from.inDimBits(Dim::Register) && from.basis(Dim::Register, bit, layouts::tensorDim(order[0])) == piece;
       ++bit)
    piece *= 2;
  if (copied && target.hasLdmatrix && matrix && bytes == 1 && !alongK && piece >= 4) {
    layouts::SwizzledSharedParams p;
    p.order = order;
    p.cta = type.encoding()->cta();
    int64_t row = type.dim(order[0]), allBanks = int64_t(target.sharedMemoryBanks) * target.sharedMemoryBankBytes;
    p.vec = std::min<int64_t>(16, row);
    p.perPhase = std::max<int64_t>(to->kWidth(), allBanks / row);
    p.maxPhase = std::max<int64_t>(
        1, std::min<int64_t>({8, std::min(row, allBanks) / p.vec, type.dim(order[1 % rank]) / p.perPhase}));
    if (auto e = pool.getSwizzledShared(p); e.ok()) return *e;
  }
  layouts::LinearLayout shared = plan.shared;
  if (!shared.hasInDim(Dim::Block)) {
    llvm::SmallVector<layouts::LinearLayout::InDim, 4> ins(shared.ins());
    ins.push_back({Dim::Block, {}});
    shared = layouts::LinearLayout(ins, llvm::SmallVector<layouts::LinearLayout::OutDim, 4>(shared.outs()));
  }
  if (auto e = pool.getSharedLinear(shared); e.ok()) return *e;
  return nullptr;
}

/// What a plan costs: accesses, and the times that the banks are busy.
int costOf(const layouts::ConversionPlan &plan, const layouts::LinearLayout &from, const layouts::LinearLayout &into) {
  return plan.wavefronts + from.inDimSize(Dim::Register) / plan.writeVector +
         into.inDimSize(Dim::Register) / plan.readVector;
}

/// Whether a multiplication by fma gets an operand by more than twice as many shuffles as it takes accesses of a
/// buffer.
bool manyShuffles(const layouts::ConversionPlan &plan, const layouts::DotOperandEncoding *to,
                  const layouts::LinearLayout &from, const layouts::LinearLayout &into, const TargetInfo &target) {
  if (plan.kind != layouts::ConversionPlan::WarpShuffle || !target.hasScheduleBarriers ||
      !layouts::dynCast<layouts::BlockedEncoding>(to->parent()) || plan.writeVector < 1 || plan.readVector < 1)
    return false;
  if (int64_t(into.inDimSize(Dim::Register)) > target.maxRegistersPerThread / 2)
    return false; // what hardly fits into registers as it is would spill more
  int shuffles = 0;
  for (unsigned r = 0; r < plan.sourceRegister.size(); ++r) shuffles += !plan.staysInLane(r);
  return shuffles >
         2 * int(from.inDimSize(Dim::Register) / plan.writeVector + into.inDimSize(Dim::Register) / plan.readVector);
}

/// Where the target's reads transpose: the plan by which rows that do not run along K are written as they come and
/// transposed by the reads, if it costs less than the other.
std::optional<layouts::ConversionPlan> transposedPlan(const layouts::LinearLayout &from,
                                                      const layouts::LinearLayout &into, int64_t bits,
                                                      const layouts::ConversionPlan &other, const TargetInfo &target) {
  if (!target.hasTransposedLdsRead || bits != 16) return std::nullopt;
  auto read = layouts::transposedReadAddresses(into);
  if (!read) return std::nullopt;
  auto plan = layouts::planConversion(from, *read, bits, target.memoryModel());
  if (!plan.ok() || plan->kind != layouts::ConversionPlan::SharedMemory ||
      !layouts::canReadTransposed(into.invertAndCompose(plan->shared)))
    return std::nullopt;
  if (costOf(*plan, from, *read) >= costOf(other, from, into)) return std::nullopt;
  return *std::move(plan);
}

/// Whether the value is loaded in the innermost loop for the conversion alone: the pipeliner copies it to shared
/// memory.
bool isLoadedInLoop(Value v) {
  return v.definedBy<tt::LoadOp>() && v.hasOneUse() && v.parentBlock()->parentOp()->is<scf::ForOp>();
}

} // namespace

/// The left operand of a product by warp groups, if it is stored for the product alone and its threads have it as the
/// instruction takes it from registers: a result of another one, say, that a loop carries.
static bool keepLeftInRegisters(ttng::WarpGroupDotOp dot, const TargetInfo &target) {
  auto buffer = dot.a().definedBy<ttg::LocalAllocOp>();
  auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(tensorOf(dot.d()).encoding());
  if (!buffer || !buffer.src() || buffer->block() != dot->block() || !buffer.result().hasOneUse() || !mma ||
      mma->versionMajor() != 3)
    return false;
  auto type = tensorOf(buffer.src());
  auto &pool = dot->context().encodings();
  auto to = pool.getDotOperand(0, mma, std::max<unsigned>(1, 32 / type.element().bitWidth()));
  if (!to.ok()) return false;
  auto plan =
      layouts::planConversionOf(type.encoding(), *to, type.shape(), type.element().bitWidth(), target.memoryModel());
  if (!plan.ok() ||
      (plan->kind != layouts::ConversionPlan::None && plan->kind != layouts::ConversionPlan::RegisterPermutation))
    return false;
  Builder b(dot.op);
  dot->setOperand(0, ttg::ConvertLayoutOp::create(b, buffer->loc(), type.withEncoding(*to), buffer.src()).result());
  buffer->erase();
  return true;
}

absl::StatusOr<bool> optimizeDotOperands(Module &m, PassContext &c) {
  if (!c.target) {
    c.diagnostics.error({}, "tritongpu-optimize-dot-operands needs a target");
    return absl::InvalidArgumentError("no target");
  }
  std::vector<ttg::ConvertLayoutOp> conversions;
  std::vector<ttng::WarpGroupDotOp> products;
  m.op()->walk([&](Operation *op) {
    if (auto x = op->dyn<ttg::ConvertLayoutOp>()) conversions.push_back(x);
    if (auto x = op->dyn<ttng::WarpGroupDotOp>()) products.push_back(x);
  });
  auto &pool = m.context().encodings();
  bool changed = false;
  for (auto x : products) changed |= keepLeftInRegisters(x, *c.target);
  for (auto x : conversions) {
    auto type = x.src().type().cast<TensorType>(), result = x.result().type().cast<TensorType>();
    auto *to = layouts::dynCast<layouts::DotOperandEncoding>(result.encoding());
    if (!to || type.element().isPointer() || type.element().bitWidth() < 8) continue;
    auto from = type.encoding()->toLinearLayout(type.shape()), into = to->toLinearLayout(type.shape());
    if (!from.ok() || !into.ok()) continue;
    auto plan = layouts::planConversion(*from, *into, type.element().bitWidth(), c.target->memoryModel());
    if (!plan.ok()) continue;
    bool copied = c.target->asyncCopyAnyDestination && plan->kind == layouts::ConversionPlan::WarpShuffle &&
                  plan->instructions > 0 && isLoadedInLoop(x.src());
    bool shuffled = x->parentOfType<scf::ForOp>() && manyShuffles(*plan, to, *from, *into, *c.target);
    if (plan->kind != layouts::ConversionPlan::SharedMemory && !copied && !shuffled) continue;
    if (auto transposed = transposedPlan(*from, *into, type.element().bitWidth(), *plan, *c.target))
      plan = *std::move(transposed);
    const Encoding *shared = sharedFor(pool, type, to, *from, *plan,
                                       c.target->asyncCopyAnyDestination && isLoadedInLoop(x.src()), *c.target);
    if (!shared) continue;
    Builder b(x.op);
    Attribute memory = sharedMemorySpace(m.context());
    auto buffer = [&](TensorType t, const Encoding *e, Value v) {
      return ttg::LocalAllocOp::create(b, x->loc(), MemDescType::get(t.shape(), t.element(), e, memory, false), v)
          .result();
    };
    // What is loaded and then transposed goes to the buffer as it is loaded, so that the copy can be one in the
    // background.
    Value source;
    if (auto trans = x.src().definedBy<tt::TransOp>();
        trans && type.rank() == 2 && trans.order()[0] == 1 && trans.src().definedBy<tt::LoadOp>())
      if (auto *turned = layouts::inferTrans(pool, shared, {1, 0}, type.shape()))
        source = ttg::MemdescTransOp::create(
                     b, x->loc(), MemDescType::get(type.shape(), type.element(), shared, memory, false),
                     buffer(tensorOf(trans.src()), turned, trans.src()), {b.denseI32Attr("order", {1, 0})})
                     .op->result();
    if (!source) source = buffer(type, shared, x.src());
    Value loaded = ttg::LocalLoadOp::create(b, x->loc(), result, source, Value()).result();
    x.result().replaceAllUsesWith(loaded);
    Operation *before = x.src().definingOp();
    x->erase();
    if (before && before->is<tt::TransOp>() && before->useEmpty())
      before->erase(); // the load has one user then, which the pipeliner looks for
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
