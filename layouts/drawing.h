// Drawings of layouts as text: what `tessera layout` prints.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

/// The tensor's view: for every element who holds it, as triton-tensor-layout prints it. Distributed: `T5:2` (thread of
/// the block, register), several joined by `|`; shared: `(row:column)` of what stands at each place.
absl::StatusOr<std::string> drawTensorView(const Encoding &, llvm::ArrayRef<int64_t> shape);
/// The hardware's view. Distributed: for every warp and thread the elements in its registers; shared: every offset.
absl::StatusOr<std::string> drawHardwareView(const Encoding &, llvm::ArrayRef<int64_t> shape);
/// A self-contained SVG of a two-dimensional view (leading dimensions unrolled), one cell per element, coloured by
/// warp.
absl::StatusOr<std::string> drawSvg(const Encoding &, llvm::ArrayRef<int64_t> shape);

} // namespace tessera::layouts
