// The blocked encoding: each thread owns a `sizePerThread` box of elements, a warp `threadsPerWarp` such boxes, a block
// `warpsPerCTA` such warps, all laid out fastest dimension first by `order`; the whole repeats over the tensor. It is
// the layout of coalesced global accesses.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct BlockedParams {
  llvm::SmallVector<int32_t, 4> sizePerThread, threadsPerWarp, warpsPerCta, order;
  CtaLayout cta;
};

class BlockedEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::Blocked;
  explicit BlockedEncoding(BlockedParams p) : Encoding(kKind), p_(std::move(p)) {}
  /// One message for the first parameter that is wrong: ranks agree, sizes are powers of two, order is a permutation.
  static absl::Status check(const BlockedParams &);

  const BlockedParams &params() const { return p_; }
  llvm::ArrayRef<int32_t> sizePerThread() const { return p_.sizePerThread; }
  llvm::ArrayRef<int32_t> threadsPerWarp() const { return p_.threadsPerWarp; }
  llvm::ArrayRef<int32_t> warpsPerCta() const { return p_.warpsPerCta; }
  llvm::ArrayRef<int32_t> order() const { return p_.order; }
  unsigned rank() const override { return p_.order.size(); }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  BlockedParams p_;
};

/// Parameters of the blocked encoding that a tensor gets by default: one element per thread, last dimension fastest,
/// threads and warps filling the fast dimensions first (the seeds of triton's conversion call it the default encoding).
BlockedParams defaultBlockedParams(llvm::ArrayRef<int64_t> shape, int numWarps, int threadsPerWarp, int numCtas = 1);
/// Likewise for a given size per thread and order: threads and warps are distributed fastest dimension first, as many
/// as the shape has work for; the slowest dimension takes what is left.
BlockedParams blockedParamsFor(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> sizePerThread,
                               llvm::ArrayRef<int32_t> order, int numWarps, int threadsPerWarp,
                               const CtaLayout &cta = {});

} // namespace tessera::layouts
