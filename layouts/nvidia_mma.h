// The nvidia_mma encoding: the accumulator layout of a tensor-core instruction. versionMajor 1: Volta, 2: mma.sync of
// Turing to Ada and consumer Blackwell, 3: Hopper's wgmma; instrShape is the instruction's tile.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct NvidiaMmaParams {
  int32_t versionMajor = 2, versionMinor = 0;
  llvm::SmallVector<int32_t, 4> warpsPerCta, instrShape;
  CtaLayout cta;
};

class NvidiaMmaEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::NvidiaMma;
  explicit NvidiaMmaEncoding(NvidiaMmaParams p) : Encoding(kKind), p_(std::move(p)) {}
  static absl::Status check(const NvidiaMmaParams &);
  const NvidiaMmaParams &params() const { return p_; }
  int32_t versionMajor() const { return p_.versionMajor; }
  unsigned rank() const override { return p_.warpsPerCta.size(); }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  NvidiaMmaParams p_;
};

} // namespace tessera::layouts
