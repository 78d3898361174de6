// The shared_linear encoding (see shared_linear.h).
#include "layouts/shared_linear.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

SharedLinearEncoding::SharedLinearEncoding(LinearLayout l, int32_t alignment)
    : Encoding(kKind), layout_(std::move(l)), alignment_(alignment), cta_(CtaLayout::ofBlockBases(layout_)) {}

absl::Status SharedLinearEncoding::check(const LinearLayout &l, int64_t alignment) {
  if (auto s = checkPowerOfTwo("alignment", alignment); !s.ok()) return s;
  if (alignment > (1 << 20)) return invalid("alignment is too large");
  if (auto s = checkSharedBases(l); !s.ok()) return s;
  if (!l.isSurjective()) return invalid("the layout is not surjective: some elements have no place");
  LinearLayout withoutCopies = l.removeZeroBases(Dim::Block);
  if (!withoutCopies.isInjective()) return invalid("the layout is not injective: two places hold the same element");
  return absl::OkStatus();
}

absl::StatusOr<LinearLayout> SharedLinearEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  if (auto s = checkShapeIs(layout_, shape); !s.ok()) return s;
  return layout_;
}

void SharedLinearEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.shared_linear<{offset = ";
  printBases(o, layout_, Dim::Offset);
  if (layout_.inDimBits(Dim::Block)) {
    o << ", block = ";
    printBases(o, layout_, Dim::Block);
  }
  o << "}, alignment = " << alignment_ << ">";
}

} // namespace tessera::layouts
