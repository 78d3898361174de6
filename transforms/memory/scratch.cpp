// Scratch in shared memory that lowerings use, asked by the allocation and by the lowering (see
// allocate_shared_memory.h).
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/conversion_plan.h"
#include "layouts/padded_shared.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/memory/cat_shape.h"
#include "transforms/memory/reduce_shape.h"
#include "transforms/memory/scan_shape.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

ReduceShape reduceShape(const layouts::LinearLayout &source, int axis) {
  ReduceShape s;
  for (unsigned bit = 0, n = source.inDimBits(Dim::Warp); bit < n; ++bit)
    if (source.basis(Dim::Warp, bit)[axis]) s.warps *= 2;
  for (unsigned d = 0; d < source.numOutDims(); ++d)
    if (int(d) != axis) {
      s.resultSizes.push_back(source.outs()[d].size);
      s.results *= source.outs()[d].size;
    }
  return s;
}

bool combinesOnce(const layouts::LinearLayout &source, const ReduceShape &s, int axis, unsigned operands) {
  if (s.warps == 1) return false;
  for (unsigned bit = 0; bit < source.inDimBits(Dim::Block); ++bit) // another block has some of the results
    if (llvm::any_of(source.basis(Dim::Block, bit), [](int32_t x) { return x != 0; })) return false;
  int64_t resultsOfThread = 1;
  for (unsigned bit = 0; bit < source.inDimBits(Dim::Register); ++bit)
    for (unsigned d = 0; d < source.numOutDims(); ++d)
      if (int(d) != axis && source.basis(Dim::Register, bit)[d]) {
        resultsOfThread *= 2;
        break;
      }
  return resultsOfThread * s.warps * operands >= 64;
}

int64_t combinedScratchBytes(const ReduceShape &s, Type operand) {
  return llvm::alignTo(s.results * std::max<int64_t>(1, operand.scalar().bitWidth() / 8), 16);
}

int64_t reduceScratchBytes(const ReduceShape &s, Type operand, int64_t chunks) {
  int64_t bytes = std::max<int64_t>(1, operand.scalar().bitWidth() / 8);
  return llvm::alignTo(s.results * s.warps * chunks * bytes, 16);
}

ScanShape scanShape(const layouts::LinearLayout &source, int axis) {
  ScanShape s;
  // Who has which bit of the axis.
  llvm::SmallVector<std::pair<Dim, unsigned>, 16> owner(llvm::Log2_32(source.outs()[axis].size), {Dim::Block, 0});
  for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block})
    for (unsigned bit = 0; bit < source.inDimBits(d); ++bit) {
      auto basis = source.basis(d, bit);
      if (!basis[axis]) continue;
      unsigned others = llvm::count_if(basis, [](auto x) { return x != 0; }) - 1;
      if (others || !llvm::isPowerOf2_32(basis[axis]) || d == Dim::Block) return s;
      auto &o = owner[llvm::Log2_32(basis[axis])];
      if (o.first != Dim::Block) return s; // two owners: the one's elements are the other's
      o = {d, bit};
    }
  unsigned k = 0, lane = 0;
  auto run = [&](Dim d) {
    unsigned from = k;
    for (; k < owner.size() && owner[k].first == d; ++k) {
      if (d == Dim::Lane && k > from && owner[k].second < lane) return -1;
      lane = owner[k].second;
    }
    return int(k - from);
  };
  int low = run(Dim::Register), lanes = run(Dim::Lane), warps = run(Dim::Warp), high = run(Dim::Register);
  if (low < 0 || lanes < 0 || warps < 0 || high < 0 || k != owner.size()) return s;
  if (!lanes && !warps) low += high, high = 0;
  s.inOrder = true;
  s.chunk = 1 << low;
  s.chunks = 1 << high;
  return s;
}

layouts::LinearLayout catLayout(const layouts::LinearLayout &operand) {
  llvm::SmallVector<layouts::LinearLayout::InDim, 4> ins(operand.ins());
  llvm::SmallVector<layouts::LinearLayout::OutDim, 4> outs(operand.outs());
  layouts::Basis second(outs.size(), 0);
  second[0] = outs[0].size;
  outs[0].size *= 2;
  for (auto &in : ins)
    if (in.dim == Dim::Register) in.bases.push_back(second);
  return layouts::LinearLayout(std::move(ins), std::move(outs));
}

bool catKeepsRegisters(const layouts::LinearLayout &operand, const layouts::LinearLayout &result) {
  auto cat = catLayout(operand);
  for (auto &in : cat.ins())
    if (in.bases.size() != result.inDimBits(in.dim)) return false;
  if (cat.numInDims() != result.numInDims()) return false;
  // What the result's layout maps to one element, the other must map to one: it adds nothing to the rank.
  return result.concatOuts(cat.flattenOuts(Dim::Offset)).rank() == result.rank();
}

int64_t bufferBytes(MemDescType type) {
  int64_t elements = type.numElements();
  if (auto *padded = layouts::dynCast<layouts::PaddedSharedEncoding>(type.encoding()))
    elements = padded->paddedSize(elements);
  return llvm::divideCeil(elements * std::max<int64_t>(8, type.element().bitWidth()), 8);
}

layouts::PlanOptions planOptionsOf(Operation *op) {
  layouts::PlanOptions o;
  if (auto bytes = op->attr<IntegerAttr>("allocation.scratch")) o.maxScratchBytes = bytes.sext();
  return o;
}

Scratch scratchOf(Operation *op, const TargetInfo &target) {
  Scratch s;
  if (auto reduce = op->dyn<tt::ReduceOp>()) {
    auto type = op->operand(0).type().cast<TensorType>();
    auto &layout = type.encoding()->layoutOf(type.shape());
    if (!layout.ok()) return s;
    auto shape = reduceShape(*layout, reduce.axis());
    if (shape.warps == 1) return s;
    bool once = combinesOnce(*layout, shape, reduce.axis(), op->numOperands());
    for (auto v : op->operands())
      s.bytes += reduceScratchBytes(shape, v.type()) + (once ? combinedScratchBytes(shape, v.type()) : 0);
  } else if (auto scan = op->dyn<tt::ScanOp>()) {
    auto type = op->operand(0).type().cast<TensorType>();
    auto &layout = type.encoding()->layoutOf(type.shape());
    if (!layout.ok()) return s;
    auto shape = scanShape(*layout, scan.axis());
    if (auto warps = reduceShape(*layout, scan.axis()); shape.inOrder && warps.warps > 1)
      for (auto v : op->operands()) s.bytes += reduceScratchBytes(warps, v.type(), shape.chunks);
  } else if (auto convert = op->dyn<ttg::ConvertLayoutOp>()) {
    auto plan = layouts::planConversionOf(
        convert.src().type().cast<TensorType>().encoding(), convert.result().type().cast<TensorType>().encoding(),
        convert.src().type().cast<TensorType>().shape(), convert.src().type().scalar().bitWidth(), target.memoryModel(),
        planOptionsOf(op));
    if (plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory) s.bytes = plan->scratchBytes;
  } else if (auto cat = op->dyn<tt::CatOp>()) {
    auto type = cat.result().type().cast<TensorType>(), part = cat.lhs().type().cast<TensorType>();
    auto from = part.encoding()->toLinearLayout(part.shape()), to = type.encoding()->toLinearLayout(type.shape());
    if (!from.ok() || !to.ok() || catKeepsRegisters(*from, *to)) return s;
    auto plan = layouts::planConversion(catLayout(*from), *to, type.scalar().bitWidth(), target.memoryModel(),
                                        planOptionsOf(op));
    if (plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory) s.bytes = plan->scratchBytes;
  } else if (op->is<tt::GatherOp>()) {
    auto type = op->operand(0).type().cast<TensorType>();
    s.bytes = type.numElements() * std::max<int64_t>(1, type.scalar().bitWidth() / 8);
  } else if (op->is<tt::HistogramOp>()) {
    s.bytes = op->result().type().cast<TensorType>().numElements() * 4;
  } else if ((op->is<tt::AtomicRmwOp>() || op->is<tt::AtomicCasOp>() || op->is<amdg::BufferAtomicRmwOp>() ||
              op->is<amdg::BufferAtomicCasOp>()) &&
             !op->useEmpty()) {
    // One thread does the atomic; the others read its result here.
    Type t = op->result().type();
    if (!t.isTensor())
      s.bytes = 16;
    else {
      auto &layout = t.cast<TensorType>().encoding()->layoutOf(t.cast<TensorType>().shape());
      if (!layout.ok()) return s;
      for (auto [dim, mask] : layout->freeVariableMasks())
        if (mask && dim != Dim::Register)
          s.bytes = t.cast<TensorType>().numElements() * std::max<int64_t>(1, t.scalar().bitWidth() / 8);
    }
  } else if (op->is<ttng::TensormapCreateOp>()) {
    s.bytes = s.alignment = 128; // the tensor map is put together here
  } else if (auto specialize = op->dyn<ttg::WarpSpecializeOp>()) {
    for (Value v : capturesOf(specialize)) {
      auto buffer = v.type().dyn_cast<MemDescType>(); // a pointer and its offsets
      s.bytes += v.type().isa<AsyncTokenType>() ? 0 : kCaptureBytes * (buffer ? 1 + int64_t(buffer.rank()) : 1);
    }
  } else if (op->is<tt::FuncOp>() && specializesWarps(op) && !specializesWarpsOnce(op)) {
    s.bytes = 4; // what the warps of partitions are to do next
  }
  return s;
}

} // namespace tessera::transforms
