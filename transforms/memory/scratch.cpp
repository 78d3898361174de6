// Bytes of shared memory that operations need (see scratch.h).
#include "transforms/memory/scratch.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "layouts/cat_shape.h"
#include "layouts/padded_shared.h"
#include "layouts/reduce_shape.h"
#include "layouts/scan_shape.h"
#include "transforms/analyses/op_cost.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

/// Instructions that combine two values, of all operands.
static int64_t instructionsOfCombination(tt::ReduceOp reduce, const Tuning &tuning) {
  int64_t instructions = 0;
  reduce->walk([&](Operation *op) {
    if (op != reduce.op && !op->info().has(kTerminator)) instructions += costOf(op, tuning).instructions;
  });
  return instructions;
}

bool combinesOnce(Operation *op, const layouts::LinearLayout &source, const TargetInfo &target) {
  auto reduce = op->cast<tt::ReduceOp>();
  return layouts::combinesOnce(source, layouts::reduceShape(source, reduce.axis()), reduce.axis(),
                               reduce->numOperands(), instructionsOfCombination(reduce, target.tuning),
                               target.tuning.reduceCombineOnceValues, target.tuning.reduceCombineOnceInstructions);
}

namespace {

constexpr int64_t kHistogramBinBytes = 4;        // an i32
constexpr int64_t kScalarAtomicBytes = 16;       // one result, rounded up to the alignment
constexpr int64_t kTensorMemoryAddressBytes = 4; // through shared memory, before anything else is in it
constexpr int64_t kPartitionStateBytes = 4;      // which ttg.warp_specialize the partitions' warps run next; 0: none

const absl::StatusOr<layouts::LinearLayout> &layoutOf(TensorType type) {
  return type.encoding()->layoutOf(type.shape());
}

/// The bytes of a conversion that goes through shared memory; 0 for other ways and where there is no plan.
int64_t scratchOfPlan(const absl::StatusOr<layouts::ConversionPlan> &plan) {
  return plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory ? plan->scratchBytes : 0;
}

int64_t scratchOfReduce(tt::ReduceOp reduce, const TargetInfo &target) {
  auto &layout = layoutOf(tensorOf(reduce.srcs()[0]));
  if (!layout.ok()) return 0;
  auto shape = layouts::reduceShape(*layout, reduce.axis());
  if (shape.warps == 1) return 0;
  bool once = combinesOnce(reduce.op, *layout, target);
  int64_t bytes = 0;
  for (auto v : reduce->operands()) {
    int64_t element = scratchElementBytes(v.type());
    bytes += layouts::reduceScratchBytes(shape, element);
    if (once) bytes += layouts::combinedScratchBytes(shape, element);
  }
  return bytes;
}

int64_t scratchOfScan(tt::ScanOp scan) {
  auto &layout = layoutOf(tensorOf(scan.srcs()[0]));
  if (!layout.ok()) return 0;
  auto shape = layouts::scanShape(*layout, scan.axis());
  auto warps = layouts::reduceShape(*layout, scan.axis());
  if (!shape.inOrder || warps.warps == 1) return 0;
  int64_t bytes = 0;
  for (auto v : scan->operands())
    bytes += layouts::reduceScratchBytes(warps, scratchElementBytes(v.type()), shape.chunks);
  return bytes;
}

int64_t scratchOfConversion(ttg::ConvertLayoutOp convert, const TargetInfo &target) {
  TensorType from = tensorOf(convert.src());
  return scratchOfPlan(layouts::planConversionOf(from.encoding(), encodingOf(convert.result()), from.shape(),
                                                 from.element().bitWidth(), target.memoryModel(),
                                                 planOptionsOf(convert.op, target)));
}

int64_t scratchOfCat(tt::CatOp cat, const TargetInfo &target) {
  TensorType type = tensorOf(cat.result());
  TensorType part = tensorOf(cat.lhs());
  auto from = part.encoding()->toLinearLayout(part.shape());
  auto to = type.encoding()->toLinearLayout(type.shape());
  if (!from.ok() || !to.ok() || layouts::catKeepsRegisters(*from, *to)) return 0;
  return scratchOfPlan(layouts::planConversion(layouts::catLayout(*from), *to, type.element().bitWidth(),
                                               target.memoryModel(), planOptionsOf(cat.op, target)));
}

/// One thread does the atomic; other threads that hold copies of its result read it from scratch.
int64_t scratchOfAtomic(Operation *op) {
  if (op->useEmpty()) return 0;
  auto type = tensorOrNull(op->result());
  if (!type) return kScalarAtomicBytes;
  auto &layout = layoutOf(type);
  if (!layout.ok()) return 0;
  for (auto [dim, mask] : layout->freeVariableMasks())
    if (mask && dim != Dim::Register) return type.numElements() * scratchElementBytes(type);
  return 0;
}

int64_t scratchOfCaptures(ttg::WarpSpecializeOp specialize) {
  int64_t bytes = 0;
  for (Value v : capturesOf(specialize)) {
    if (v.type().isa<AsyncTokenType>()) continue;
    auto buffer = v.type().dyn_cast<MemDescType>(); // a pointer and its offsets
    bytes += kCaptureBytes * (buffer ? 1 + int64_t(buffer.rank()) : 1);
  }
  return bytes;
}

} // namespace

int64_t scratchElementBytes(Type type) { return std::max<int64_t>(1, type.scalar().bitWidth() / 8); }

int64_t bufferBytes(MemDescType type) {
  int64_t elements = type.numElements();
  if (auto *padded = layouts::dynCast<layouts::PaddedSharedEncoding>(type.encoding()))
    elements = padded->paddedSize(elements);
  return llvm::divideCeil(elements * std::max<int64_t>(8, type.element().bitWidth()), 8);
}

layouts::PlanOptions planOptionsOf(Operation *op, const TargetInfo &target) {
  layouts::PlanOptions options;
  // Without an exchange of halves, a wave of 64 lanes shuffles through LDS between rows of 16.
  constexpr unsigned kInRows = 15;
  bool betweenRows = target.warpSize == 32 || target.hasHalfWarpSwap;
  if (target.hasRowShuffles) options.selectDistances = betweenRows ? unsigned(target.warpSize) - 1 : kInRows;
  if (auto bytes = op->attr<IntegerAttr>("allocation.scratch")) options.maxScratchBytes = bytes.sext();
  return options;
}

Scratch scratchOf(Operation *op, const TargetInfo &target) {
  switch (op->opcode()) {
  case Opcode::tt_reduce: return {scratchOfReduce(op->cast<tt::ReduceOp>(), target)};
  case Opcode::tt_scan: return {scratchOfScan(op->cast<tt::ScanOp>())};
  case Opcode::ttg_convert_layout: return {scratchOfConversion(op->cast<ttg::ConvertLayoutOp>(), target)};
  case Opcode::tt_cat: return {scratchOfCat(op->cast<tt::CatOp>(), target)};
  case Opcode::tt_gather: {
    auto source = tensorOf(op->cast<tt::GatherOp>().src());
    return {source.numElements() * scratchElementBytes(source)};
  }
  case Opcode::tt_histogram: return {tensorOf(op->result()).numElements() * kHistogramBinBytes};
  case Opcode::tt_atomic_rmw:
  case Opcode::tt_atomic_cas:
  case Opcode::tt_atomic_load:
  case Opcode::ttg_local_atomic_scatter_rmw:
  case Opcode::amdg_buffer_atomic_rmw:
  case Opcode::amdg_buffer_atomic_cas: return {scratchOfAtomic(op)};
  case Opcode::tt_atomic_poll: return {op->cast<tt::AtomicPollOp>().timeout() ? scratchOfAtomic(op) : 0};
  case Opcode::ttng_tensormap_create: return {kTensorMapBytes, kTensorMapBytes};
  case Opcode::ttg_warp_specialize: return {scratchOfCaptures(op->cast<ttg::WarpSpecializeOp>())};
  case Opcode::ttng_tmem_alloc: return {kTensorMemoryAddressBytes};
  case Opcode::tt_func: return {specializesWarps(op) && !specializesWarpsOnce(op) ? kPartitionStateBytes : 0};
  default: return {};
  }
}

std::string scratchPurpose(Operation *op) {
  switch (op->opcode()) {
  case Opcode::tt_reduce: return "partial results of warps";
  case Opcode::tt_scan: return "totals of warps";
  case Opcode::ttg_convert_layout: return "layout conversion";
  case Opcode::tt_cat: return "layout conversion of the joined registers";
  case Opcode::tt_gather: return "the tensor that is read by index";
  case Opcode::tt_histogram: return "counts of the bins";
  case Opcode::tt_atomic_rmw:
  case Opcode::tt_atomic_cas:
  case Opcode::tt_atomic_load:
  case Opcode::tt_atomic_poll:
  case Opcode::ttg_local_atomic_scatter_rmw:
  case Opcode::amdg_buffer_atomic_rmw:
  case Opcode::amdg_buffer_atomic_cas: return "result of the atomic, for threads that hold a copy";
  case Opcode::ttng_tensormap_create: return "tensor map under construction";
  case Opcode::ttg_warp_specialize: return "values that the partitions capture";
  case Opcode::ttng_tmem_alloc: return "the address of tensor memory, when the kernel begins";
  case Opcode::tt_func: return "what the warps of partitions run next";
  case Opcode::tt_call: return "frame of the called function";
  default: return "scratch";
  }
}

} // namespace tessera::transforms
