// The nvmma_shared encoding: shared memory as NVIDIA's matrix units (wgmma, tcgen05) and its bulk copies (TMA) want it:
// tiles of 8 rows of `swizzlingByteWidth` bytes in which groups of 16 bytes are exchanged by xor with the row number,
// tile after tile. Width 0 is the plain layout without swizzle. The exchange is the one of the PTX ISA's "swizzle
// modes" of tensor copies (section "Tensors", swizzle mode 32B/64B/128B).
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

/// The rows after which the pattern of a swizzle repeats, and the widths of swizzled rows (PTX ISA, "Asynchronous
/// warpgroup level matrix instructions", swizzling modes).
inline constexpr int64_t kSwizzleRows = 8;
inline constexpr int64_t kMinSwizzleBytes = 32;
inline constexpr int64_t kMaxSwizzleBytes = 128;

struct NvmmaSharedParams {
  int32_t swizzlingByteWidth = 0; // 0, 32, 64 or 128
  bool transposed = false;        // dimension 0 is the contiguous one, not the last
  int32_t elementBitWidth = 16;
  bool fp4Padded = false; // 16-byte groups of which 8 bytes hold data
  CtaLayout cta;
  int32_t rank = 2;
};

class NvmmaSharedEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::NvmmaShared;
  explicit NvmmaSharedEncoding(NvmmaSharedParams p) : Encoding(kKind), p_(std::move(p)) {}
  /// Width 0, 32, 64 or 128; element width a power of two from 4 to 64.
  static absl::Status check(const NvmmaSharedParams &);

  const NvmmaSharedParams &params() const { return p_; }
  /// Elements in the 16 bytes that move together; 1 without swizzle.
  int32_t vec() const { return p_.swizzlingByteWidth ? 128 / p_.elementBitWidth : 1; }
  /// Rows that share a phase.
  int32_t perPhase() const { return p_.swizzlingByteWidth ? 128 / p_.swizzlingByteWidth : 1; }
  int32_t maxPhase() const { return p_.swizzlingByteWidth ? p_.swizzlingByteWidth / 16 : 1; }
  /// Bytes to which the allocation must be aligned, so that address bits and row numbers agree.
  int32_t alignment() const { return 128 * maxPhase(); }
  /// The box of elements that one bulk copy moves and the layout is tiled by: at most 256 per dimension, the contiguous
  /// one as wide as the swizzle. Error: the block is narrower than the swizzle.
  absl::StatusOr<llvm::SmallVector<int64_t, 4>> copyBox(llvm::ArrayRef<int64_t> shape) const;

  unsigned rank() const override { return p_.rank; }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  NvmmaSharedParams p_;
};

} // namespace tessera::layouts
