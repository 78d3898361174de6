// The padded_shared encoding (see padded_shared.h).
#include "layouts/padded_shared.h"
#include "layouts/layout_order.h"
#include "layouts/parameter_checks.h"
#include "layouts/tensor_dims.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

PaddedSharedEncoding::PaddedSharedEncoding(PaddedSharedParams p)
    : Encoding(kKind), p_(std::move(p)), cta_(CtaLayout::ofBlockBases(p_.layout)) {}

absl::Status PaddedSharedEncoding::check(const PaddedSharedParams &p) {
  if (p.paddings.empty()) return invalid("a padded layout needs at least one interval:+padding");
  for (size_t i = 0; i < p.paddings.size(); ++i) {
    if (auto s = checkPowerOfTwo("interval", p.paddings[i].interval); !s.ok()) return s;
    if (auto s = checkPowerOfTwo("padding", p.paddings[i].padding); !s.ok()) return s;
    for (size_t j = 0; j < i; ++j)
      if (p.paddings[i].interval == p.paddings[j].interval)
        return invalid(llvm::formatv("the interval {0} is given twice", p.paddings[i].interval));
  }
  if (auto s = checkSharedBases(p.layout); !s.ok()) return s;
  for (auto &i : p.layout.ins())
    for (auto &b : i.bases) {
      if (llvm::count_if(b, [](auto x) { return x != 0; }) > 1)
        return invalid(llvm::formatv("a basis of '{0}' touches several dimensions", dimName(i.dim)));
      for (auto x : b)
        if (x && !llvm::isPowerOf2_32(x)) return invalid(llvm::formatv("{0} is not zero or a power of two", x));
    }
  llvm::SmallVector<Dim, 4> outs;
  for (auto &o : p.layout.outs()) outs.push_back(o.dim);
  if (!p.layout.sublayout({Dim::Offset}, outs).isInjective()) return invalid("two offsets hold the same element");
  return absl::OkStatus();
}

LinearLayout PaddedSharedEncoding::identityLayout(llvm::ArrayRef<int32_t> order, llvm::ArrayRef<int32_t> shape) {
  return (identityND(Dim::Offset, shape, order) * LinearLayout::identity1D(1, Dim::Block, Dim::Dim0))
      .transposeOuts(tensorDims(shape.size()));
}

int64_t PaddedSharedEncoding::paddedOffset(int64_t offset) const {
  int64_t at = offset;
  for (auto &p : p_.paddings) at += offset / p.interval * p.padding;
  return at;
}

absl::StatusOr<LinearLayout> PaddedSharedEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  if (auto s = checkShapeIs(p_.layout, shape); !s.ok()) return s;
  return p_.layout;
}

void PaddedSharedEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.padded_shared<[";
  llvm::interleaveComma(p_.paddings, o, [&](auto &p) { o << p.interval << ":+" << p.padding; });
  o << "] {";
  auto order = orderOf(p_.layout, Dim::Offset);
  llvm::SmallVector<int32_t, 4> shape;
  for (auto &d : p_.layout.outs()) shape.push_back(d.size);
  if (p_.layout == identityLayout(order, shape)) {
    o << "order = ";
    printList(o, order);
    o << ", shape = ";
    printList(o, shape);
  } else {
    o << "offset = ";
    printBases(o, p_.layout, Dim::Offset);
    o << ", block = ";
    printBases(o, p_.layout, Dim::Block);
  }
  o << "}>";
}

} // namespace tessera::layouts
