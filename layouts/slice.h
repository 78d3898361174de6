// The slice encoding: what is left of a distributed parent when one dimension is squeezed out, as by a reduction or
// before expand_dims. Threads that differed along that dimension alone hold the same element.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

class SliceEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::Slice;
  SliceEncoding(unsigned dim, const Encoding *parent)
      : Encoding(kKind), dim_(dim), parent_(parent), cta_(parent->cta().dropDim(dim)) {}
  static absl::Status check(int64_t dim, const Encoding *parent);
  unsigned dim() const { return dim_; }
  const Encoding *parent() const { return parent_; }
  unsigned rank() const override { return parent_->rank() - 1; }
  const CtaLayout &cta() const override { return cta_; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  unsigned dim_;
  const Encoding *parent_;
  CtaLayout cta_;
};

} // namespace tessera::layouts
