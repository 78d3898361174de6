// Pass keep-reshaped-order: in TTGIR that is given, a tt.reshape with allow_reorder keeps row-major order where
// something depends on the order. Lowered by the layouts alone, every register keeps its value, so that the order is
// one that nobody wrote: the place of a tensor's largest element, with the places counted after the reshape, would be
// another one for each target and number of warps, and not the interpreter's.
//
//   %f = tt.reshape %x allow_reorder : tensor<16x64xf32, #rows> -> tensor<1024xf32, #line>
//   %i = tt.make_range … : tensor<1024xi32, #line>
//   %m:2 = "tt.reduce"(%f, %i) …
//     →
//   %g = tt.reshape %x : tensor<16x64xf32, #rows> -> tensor<1024xf32, #linear>
//   %f = ttg.convert_layout %g : tensor<1024xf32, #linear> -> tensor<1024xf32, #line>
//
// A reshape stays as it is where the order changes nothing but how results are rounded: its elements are only reduced,
// along all dimensions in which the layouts reorder them. So are those by which Triton keeps the parts of a loop's sums
// in threads. Where the layouts give row-major order, allow_reorder is dropped.
//
// TTIR has no layouts, and convert-triton-to-tritongpu decides by the same rule (isOrderFree).
//
// Runs: on TTGIR that is given.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "transforms/analyses/reduction.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

namespace {

/// The dimensions along which a place of the one layout is another element in the other one. @pre they are for tensors
/// of one shape, and as many threads and registers
llvm::SmallVector<unsigned, 4> differingDims(const LinearLayout &a, const LinearLayout &b) {
  llvm::SmallVector<unsigned, 4> dims;
  for (unsigned d = 0; d < a.numOutDims(); ++d) {
    bool differs = false;
    for (Dim in : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block})
      for (unsigned bit = 0; bit < a.inDimBits(in); ++bit) differs |= a.basis(in, bit)[d] != b.basis(in, bit)[d];
    if (differs) dims.push_back(d);
  }
  return dims;
}

/// Whether the operation was changed. An error if its operand's layout gives its result none in row-major order.
absl::StatusOr<bool> keepOrder(tt::ReshapeOp reshape, PassContext &c) {
  if (!reshape.allowReorder() || !encodingOf(reshape.src())) return false;
  auto src = tensorOf(reshape.src()), type = tensorOf(reshape.result());
  auto &from = src.encoding()->layoutOf(src.shape()), &to = type.encoding()->layoutOf(type.shape());
  auto dropFreedom = [&] {
    reshape->removeAttr("allow_reorder");
    reshape->removeAttr("efficient_layout");
    return true;
  };
  // Others are lowered in row-major order, which the verifier has checked.
  if (!from.ok() || !to.ok() || !layouts::holdCopiesAlike(*from, *to)) return dropFreedom();
  auto *encoding = layouts::inferReshape(reshape->context().encodings(), src.encoding(), src.shape(), type.shape());
  if (encoding) {
    auto reordered = differingDims(*encoding->layoutOf(type.shape()), *to);
    if (reordered.empty()) return dropFreedom();
    if (isOrderFree(reshape.result(), reordered)) return false;
  } else {
    if (isOrderFree(reshape.result())) return false;
    c.diagnostics.error(reshape->loc(), "'tt.reshape' has a result in whose order elements are used, but " +
                                            src.encoding()->str() + " gives it no layout in row-major order");
    return absl::InvalidArgumentError("a reshape without a layout");
  }
  dropFreedom();
  reshape.result().setType(type.withEncoding(encoding));
  Builder after = Builder::after(reshape.op);
  auto convert = ttg::ConvertLayoutOp::create(after, reshape->loc(), type, reshape.result());
  reshape.result().replaceAllUsesWith(convert.result());
  convert.setSrc(reshape.result());
  return true;
}

} // namespace

absl::StatusOr<bool> keepReshapedOrder(Module &m, PassContext &c) {
  bool changed = false;
  for (auto reshape : collect<tt::ReshapeOp>(m.op())) {
    auto kept = keepOrder(reshape, c);
    if (!kept.ok()) return kept.status();
    changed |= *kept;
  }
  return changed;
}

} // namespace tessera::transforms
