// The linear encoding (see linear.h).
#include "layouts/linear.h"
#include "layouts/parameter_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

LinearEncoding::LinearEncoding(LinearLayout l, bool generic)
    : Encoding(generic ? EncodingKind::GenericLinear : EncodingKind::Linear), layout_(std::move(l)),
      cta_(CtaLayout::ofBlockBases(layout_)) {}

absl::Status LinearEncoding::check(const LinearLayout &l, bool generic) {
  if (l.numOutDims() == 0 || l.numOutDims() > kMaxRank)
    return invalid(llvm::formatv("a linear layout needs 1 to {0} dimensions", kMaxRank));
  if (l.totalOutBits() > 40) return invalid("a linear layout covers too many elements");
  for (auto &i : l.ins())
    for (auto &b : i.bases)
      if (!(generic && (i.dim == Dim::Warp || i.dim == Dim::Lane)) &&
          llvm::count_if(b, [](auto x) { return x != 0; }) > 1)
        return invalid(llvm::formatv("a basis of '{0}' touches several dimensions", dimName(i.dim)));
  if (!l.isSurjective()) return invalid("the layout is not surjective: some elements are held by no thread");
  if (!generic) {
    LinearLayout nonZero = l;
    for (auto &i : l.ins()) nonZero = nonZero.removeZeroBases(i.dim);
    if (!nonZero.isInvertible())
      return invalid("the layout is not bijective: two bases that are not zero hold the same element");
  }
  return absl::OkStatus();
}

absl::StatusOr<LinearLayout> LinearEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  return ensureNotLargerThan(ensureNotSmallerThan(layout_, shape), shape);
}

void LinearEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << (kind() == EncodingKind::Linear ? "#ttg.linear<{" : "#ttg.generic_linear<{");
  bool first = true;
  for (auto d : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block}) {
    o << (first ? "" : ", ") << dimName(d) << " = [";
    first = false;
    for (unsigned b = 0; b < layout_.inDimBits(d); ++b) {
      if (b) o << ", ";
      printList(o, layout_.basis(d, b));
    }
    o << "]";
  }
  o << "}>";
}

} // namespace tessera::layouts
