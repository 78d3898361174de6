// Pass choose-scan-layouts: every tt.scan gets a layout that it can be lowered in. Its axis must run through a
// thread's registers, then lanes, then warps (layouts/scan_shape.h), which the layouts of matrix instructions, for one,
// do not: rows of an nvidia_mma result go lanes, registers, warps.
//
//   %1 = "tt.scan"(%0) … : tensor<64x64xf32, #mma>     →     %0' = ttg.convert_layout %0 : #mma -> #linear
//                                                            %1' = "tt.scan"(%0') … : tensor<64x64xf32, #linear>
//                                                            %1 = ttg.convert_layout %1' : #linear -> #mma
//
// The layout chosen is the tensor's own with the positions along the axis distributed anew, registers first: what a
// thread, lane or warp holds of the other dimensions stays where it is. The conversions are as any others: they go
// through shared memory in repetitions if there is little of it, so that no scan needs memory for its whole tensor.
//
// Kernels compiled from TTIR hardly have such scans: remove-layout-conversions moves none into a layout out of order.
// Limits: axes that reach across the blocks of a cluster stay as they are.
//
// Runs: before lowering.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/ops.h"
#include "layouts/scan_shape.h"
#include "transforms/passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using layouts::LinearLayout;

absl::StatusOr<bool> chooseScanLayouts(Module &m, PassContext &context) {
  bool changed = false;
  for (auto s : collect<tt::ScanOp>(m.op())) {
    auto type = s.srcs()[0].type().cast<TensorType>();
    auto &layout = type.encoding()->layoutOf(type.shape());
    if (!layout.ok() || layouts::scanShape(*layout, s.axis()).inOrder) continue;
    LinearLayout better = layouts::scanLayout(*layout, s.axis());
    if (!layouts::scanShape(better, s.axis()).inOrder) continue;
    auto encoding = m.context().encodings().getLinear(std::move(better));
    if (!encoding.ok()) {
      context.diagnostics.error(
          s->loc(), llvm::formatv("no layout for this scan: {0}", std::string(encoding.status().message())).str());
      return absl::InvalidArgumentError("scan without a layout");
    }
    Builder before(s.op);
    for (unsigned i = 0; i < s->numOperands(); ++i) {
      auto t = s->operand(i).type().cast<TensorType>();
      s->setOperand(i,
                    ttg::ConvertLayoutOp::create(before, s->loc(), t.withEncoding(*encoding), s->operand(i)).result());
    }
    for (auto r : s->results()) {
      auto t = r.type().cast<TensorType>();
      r.setType(t.withEncoding(*encoding));
      // What is converted anyway is converted from here.
      auto converts = [](OpOperand &u) { return u.owner->is<ttg::ConvertLayoutOp>(); };
      if (llvm::all_of(r.uses(), [&](auto *u) { return converts(*u); })) continue;
      Builder after = Builder::after(s.op);
      auto back = ttg::ConvertLayoutOp::create(after, s->loc(), t, r);
      r.replaceUsesIf(back.result(), [&](OpOperand &u) { return !converts(u); });
    }
    changed = true;
  }
  return changed;
}

} // namespace tessera::transforms
