// Pass choose-scan-layouts: every tt.scan gets a layout that it can be lowered in. Its axis must run through a
// thread's registers, then lanes, then warps (scan_shape.h), which the layouts of matrix instructions, for one, do
// not: rows of an nvidia_mma result go lanes, registers, warps.
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
#include "ir/ops.h"
#include "transforms/memory/scan_shape.h"
#include "transforms/passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

LinearLayout scanLayout(const LinearLayout &source, int axis) {
  llvm::SmallVector<LinearLayout::InDim, 4> ins(source.ins());
  unsigned rank = source.numOutDims();
  // Which units of the index space some basis has, by dimension.
  llvm::SmallVector<llvm::SmallVector<bool, 16>, 4> taken;
  for (auto &o : source.outs()) taken.emplace_back(llvm::Log2_32(o.size), false);
  auto zero = [](layouts::Basis &b) { return llvm::all_of(b, [](auto x) { return x == 0; }); };
  llvm::SmallVector<layouts::Basis *, 16> others, along;
  for (auto &in : ins)
    for (auto &b : in.bases) {
      if (zero(b)) continue;
      unsigned d = llvm::find_if(b, [](auto x) { return x != 0; }) - b.begin();
      bool unit = llvm::count_if(b, [](auto x) { return x != 0; }) == 1 && llvm::isPowerOf2_32(b[d]);
      if (in.dim == Dim::Block || (unit && !taken[d][llvm::Log2_32(b[d])])) {
        if (unit) taken[d][llvm::Log2_32(b[d])] = true;
      } else {
        others.push_back(&b);
      }
    }
  // Bases that are no unit, or one that another basis has, get a unit that none has, or become copies.
  auto *next = others.begin();
  for (unsigned d = 0; d < rank; ++d)
    for (unsigned bit = 0; bit < taken[d].size(); ++bit) {
      if (taken[d][bit] || next == others.end()) continue;
      layouts::Basis b(rank, 0);
      b[d] = 1 << bit;
      **next++ = b;
    }
  for (; next != others.end(); ++next) **next = layouts::Basis(rank, 0);
  // Positions along the axis in the order of scans.
  for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp})
    for (auto &in : ins)
      if (in.dim == dim)
        for (auto &b : in.bases)
          if (b[axis]) along.push_back(&b);
  for (auto [bit, b] : llvm::enumerate(along)) (*b)[axis] = 1 << bit;
  return LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(source.outs()));
}

absl::StatusOr<bool> chooseScanLayouts(Module &m, PassContext &context) {
  std::vector<tt::ScanOp> scans;
  m.op()->walk([&](Operation *op) {
    if (auto s = op->dyn<tt::ScanOp>()) scans.push_back(s);
  });
  bool changed = false;
  for (auto s : scans) {
    auto type = s->operand(0).type().cast<TensorType>();
    auto &layout = type.encoding()->layoutOf(type.shape());
    if (!layout.ok() || scanShape(*layout, s.axis()).inOrder) continue;
    LinearLayout better = scanLayout(*layout, s.axis());
    if (!scanShape(better, s.axis()).inOrder) continue;
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
