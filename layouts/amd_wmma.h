// The amd_wmma encoding: the accumulator layout of RDNA's matrix instructions (v_wmma_*), wave32. Version 1 is RDNA 3
// (gfx11), 2 RDNA 4 (gfx12), 3 gfx1250. A 16 by 16 tile takes 8 registers of every lane: the low four lane bits run
// along N; in version 1 the registers take every second row of M and the fifth lane bit the odd ones, in versions 2 and
// 3 the registers take eight consecutive rows and the fifth lane bit the lower eight ("RDNA 3" and "RDNA 4 Instruction
// Set Architecture", section "Wave Matrix Multiply Accumulate"). Transposed, M and N are exchanged.
//
// With consecutiveRows, version 1 has the accumulator of versions 2 and 3: an even lane of the instruction's A (B if
// transposed) takes a row of the upper eight, the next lane one of the lower eight, so that the even rows of the
// instruction, which are in the lower half of the wave, are the upper eight. Triton has no such parameter.
//
// Which tiles a warp holds is given by `tiles`: register, warp → tensor dimensions in units of tiles. Text before
// Triton 3.7 says it by warpsPerCTA and tilesPerWarp, later text by ctaLayout; the former is printed wherever it can
// be.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct AmdWmmaParams {
  int32_t version = 2;
  bool isTransposed = false;
  LinearLayout tiles; // register, warp → dim0, dim1[, dim2], in tiles
  CtaLayout cta;
  llvm::SmallVector<int32_t, 4> instrShape = {16, 16, 16}; // M, N, K
  bool consecutiveRows = false;                            // version 1 only; the others' rows are consecutive anyway

  /// Whether a lane's registers take every second row.
  bool alternatesRows() const { return version == 1 && !consecutiveRows; }

  /// The tiles of warpsPerCTA and tilesPerWarp (empty: one each): last dimension first, a warp's own tiles together.
  static LinearLayout tilesOf(llvm::ArrayRef<int32_t> warpsPerCta, llvm::ArrayRef<int32_t> tilesPerWarp = {});
};

class AmdWmmaEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::AmdWmma;
  explicit AmdWmmaEncoding(AmdWmmaParams p) : Encoding(kKind), p_(std::move(p)) {}
  static absl::Status check(const AmdWmmaParams &);
  const AmdWmmaParams &params() const { return p_; }
  unsigned rank() const override { return p_.tiles.numOutDims(); }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  /// The layout of an operand (0: M×K, 1: K×N) of which a lane holds kWidth consecutive elements along K. In version 1
  /// both halves of a wave hold the same.
  absl::StatusOr<LinearLayout> operandLayout(llvm::ArrayRef<int64_t> shape, unsigned opIdx, int32_t kWidth) const;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  AmdWmmaParams p_;
};

} // namespace tessera::layouts
