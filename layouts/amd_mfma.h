// The amd_mfma encoding: the accumulator layout of CDNA's matrix instructions (v_mfma_*), wave64. versions 1 to 4 are
// gfx908, gfx90a, gfx942 and gfx950; the accumulator's fragment is the same in all (see the "AMD Instinct MI300
// Instruction Set Architecture", chapter "Matrix Arithmetic Instructions", and AMD's matrix instruction calculator):
// groups of four rows of M go to four registers, lanes run along N and then down M by four rows; transposed, M and N
// are exchanged, so that a lane's registers are consecutive along N.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct AmdMfmaParams {
  int32_t version = 3;
  llvm::SmallVector<int32_t, 4> warpsPerCta;
  llvm::SmallVector<int32_t, 4> instrShape; // M, N and, in current text, K
  bool isTransposed = false;
  CtaLayout cta;
  llvm::SmallVector<int32_t, 4> tilesPerWarp; // instruction tiles that a warp holds side by side; empty: one each
  int32_t elementBitWidth = 32;               // of the accumulator: 32 or 64
};

class AmdMfmaEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::AmdMfma;
  explicit AmdMfmaEncoding(AmdMfmaParams p);
  static absl::Status check(const AmdMfmaParams &);
  const AmdMfmaParams &params() const { return p_; }
  int32_t m() const { return p_.instrShape[0]; }
  int32_t n() const { return p_.instrShape[1]; }
  /// Tiles of a warp along a tensor dimension.
  int32_t tilesPerWarp(unsigned dim) const { return p_.tilesPerWarp[dim]; }
  unsigned rank() const override { return p_.warpsPerCta.size(); }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  /// The layout of an operand (0: M×K, 1: K×N) of which a lane holds kWidth consecutive elements along K.
  absl::StatusOr<LinearLayout> operandLayout(llvm::ArrayRef<int64_t> shape, unsigned opIdx, int32_t kWidth) const;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  AmdMfmaParams p_; // tilesPerWarp has the rank
};

} // namespace tessera::layouts
