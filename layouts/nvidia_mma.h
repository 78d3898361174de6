// The nvidia_mma encoding: the accumulator layout of a tensor-core instruction. versionMajor 1: Volta, 2: mma.sync of
// Turing to Ada and consumer Blackwell, 3: Hopper's wgmma; instrShape is the instruction's tile.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

/// Bits along K of a row of A, and of a column of B, that wgmma takes (PTX ISA, "wgmma.mma_async", shapes).
constexpr int kWgmmaBitsAlongK = 256;

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
  /// M and N of the tile that a warp's instruction computes.
  int32_t tileM() const { return p_.instrShape[p_.versionMajor >= 3 ? 0 : p_.instrShape.size() - 2]; }
  int32_t tileN() const { return p_.instrShape[p_.versionMajor >= 3 ? 1 : p_.instrShape.size() - 1]; }
  /// Error: version 5, which keeps its accumulator in tensor memory.
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  /// The layout of an operand (0: M×K, 1: K×N) held in registers, of which a lane has kWidth consecutive elements along
  /// K. Versions 1 (always four of them, kWidth is not used), 2 and, for operand 0 alone, 3.
  absl::StatusOr<LinearLayout> operandLayout(llvm::ArrayRef<int64_t> shape, unsigned opIdx, int32_t kWidth) const;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  absl::Status checkModelled() const;
  NvidiaMmaParams p_;
};

} // namespace tessera::layouts
