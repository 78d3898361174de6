// Drawings of layouts: what `tessera layout` prints (in the format of triton-tensor-layout) and draws.
//
// Distributed layouts are drawn in all kinds that are modelled; of shared ones the elements at each offset. Errors are
// those of toLinearLayout, and tensors too large to draw.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

/// Elements of the largest tensor that is shown, in either view.
inline constexpr int64_t kMaxElementsShown = 1 << 20;

/// The tensor's view: for every element, row by row, who holds it. Distributed: `T5:2` (thread of the block, register;
/// with several blocks `B1:T5:2`), several holders joined by `|`; shared: for every offset, row by row, the element
/// that stands there, `(row:column)`.
absl::StatusOr<std::string> drawTensorView(const Encoding &, llvm::ArrayRef<int64_t> shape);
/// The hardware's view. Distributed: for every warp a row per register, with the element that each thread has in it;
/// shared: every offset and the element there.
absl::StatusOr<std::string> drawHardwareView(const Encoding &, llvm::ArrayRef<int64_t> shape);

/// A self-contained picture: the tensor as a grid (leading dimensions unrolled into rows), one cell per element. Of a
/// distributed layout cells are coloured by warp, lighter for higher lanes, and labelled `lane:register` of the first
/// holder; of a shared one coloured by bank of 4 bytes (`elementBits` wide elements) and labelled by offset. Pointing
/// at a cell shows the element's index and all holders. At most 65,536 elements.
absl::StatusOr<std::string> drawSvg(const Encoding &, llvm::ArrayRef<int64_t> shape, int elementBits = 32);
/// The same as a page with the layout's text, its linear layout and a legend.
absl::StatusOr<std::string> drawHtml(const Encoding &, llvm::ArrayRef<int64_t> shape, int elementBits = 32);

} // namespace tessera::layouts
