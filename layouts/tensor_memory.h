// The encodings of Blackwell's tensor memory: accumulators and operands (#ttng.tensor_memory_encoding) and block scales
// (#ttng.tensor_memory_scales_encoding). Read, checked and printed; their maps from rows and columns are not modelled.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct TensorMemoryParams {
  int32_t blockM = 128, blockN = 0, colStride = 1;
  int32_t ctaSplitM = 1, ctaSplitN = 1;
  CtaLayout cta; // in text later than 3.6, instead of the splits
  bool twoCtas = false;
};

class TensorMemoryEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::TensorMemory;
  explicit TensorMemoryEncoding(TensorMemoryParams p) : Encoding(kKind), p_(std::move(p)) {}
  /// blockM is 64 or 128; blockN and colStride are powers of two.
  static absl::Status check(const TensorMemoryParams &);
  const TensorMemoryParams &params() const { return p_; }
  unsigned rank() const override { return 2; }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t>) const override {
    return absl::UnimplementedError("the layout of tensor memory is not modelled");
  }
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  TensorMemoryParams p_;
};

struct TensorMemoryScalesParams {
  int32_t ctaSplitM = 1, ctaSplitN = 1;
  CtaLayout cta;
};

class TensorMemoryScalesEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::TensorMemoryScales;
  explicit TensorMemoryScalesEncoding(TensorMemoryScalesParams p) : Encoding(kKind), p_(std::move(p)) {}
  static absl::Status check(const TensorMemoryScalesParams &);
  const TensorMemoryScalesParams &params() const { return p_; }
  unsigned rank() const override { return 2; }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t>) const override {
    return absl::UnimplementedError("the layout of scales in tensor memory is not modelled");
  }
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  TensorMemoryScalesParams p_;
};

} // namespace tessera::layouts
