// The shared_linear encoding: shared memory given by its bases, offset (in elements) and block → dimensions of the
// tensor.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

class SharedLinearEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::SharedLinear;
  SharedLinearEncoding(LinearLayout l, int32_t alignment);
  /// Offset and block → dim0…; every element has exactly one place; the alignment is a power of two.
  static absl::Status check(const LinearLayout &, int64_t alignment);
  const LinearLayout &layout() const { return layout_; }
  int32_t alignment() const { return alignment_; } // bytes
  unsigned rank() const override { return layout_.numOutDims(); }
  const CtaLayout &cta() const override { return cta_; }
  /// Error: the shape is not the layout's own (there is no repetition).
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  LinearLayout layout_;
  int32_t alignment_;
  CtaLayout cta_;
};

} // namespace tessera::layouts
