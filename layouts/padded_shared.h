// The padded_shared encoding: a linear layout of shared memory into which `padding` unused elements are put after every
// `interval` elements, so that columns spread over the banks:
//   address = offset + Σ (offset / interval) · padding
// The linear part maps offset (in elements, before padding) and block → dimensions of the tensor; the padding is not
// linear over F₂ and so is not part of toLinearLayout: lowerings add it to the offset.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct PaddedSharedParams {
  struct Padding {
    int32_t interval, padding; // elements
    bool operator==(const Padding &) const = default;
  };
  llvm::SmallVector<Padding, 2> paddings;
  LinearLayout layout; // offset, block → dim0…
};

class PaddedSharedEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::PaddedShared;
  explicit PaddedSharedEncoding(PaddedSharedParams p);
  /// Powers of two, different intervals, at least one; offset bases are powers of two along one dimension and
  /// injective.
  static absl::Status check(const PaddedSharedParams &);
  /// The linear part of `{order = …, shape = …}`: the elements one after the other.
  static LinearLayout identityLayout(llvm::ArrayRef<int32_t> order, llvm::ArrayRef<int32_t> shape);

  const PaddedSharedParams &params() const { return p_; }
  int64_t paddedOffset(int64_t offset) const;
  /// Elements that a buffer of `size` elements takes, without padding after its end.
  int64_t paddedSize(int64_t size) const { return size ? paddedOffset(size - 1) + 1 : 0; }
  unsigned rank() const override { return p_.layout.numOutDims(); }
  const CtaLayout &cta() const override { return cta_; }
  /// The linear part. Error: the shape is not the layout's own.
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  PaddedSharedParams p_;
  CtaLayout cta_;
};

} // namespace tessera::layouts
