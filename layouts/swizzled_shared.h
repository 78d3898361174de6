// The swizzled shared encoding: rows of the fastest dimension in which groups of `vec` elements are exchanged, by xor
// with a phase that changes every `perPhase` rows and has `maxPhase` values, so that a column's elements lie in
// different banks. Offset of (row r, column c): r·columns + (((c / vec) ^ ((r / perPhase) % maxPhase)) · vec + c %
// vec).
#pragma once
#include "layouts/bank_conflicts.h"
#include "layouts/encoding.h"

namespace tessera::layouts {

struct SwizzledSharedParams {
  int32_t vec = 1, perPhase = 1, maxPhase = 1;
  llvm::SmallVector<int32_t, 4> order;
  CtaLayout cta;
};

class SwizzledSharedEncoding : public Encoding {
public:
  static constexpr EncodingKind kKind = EncodingKind::SwizzledShared;
  /// `rotating`: the AMD variant, whose phase is also xored with the number of the block of rows.
  explicit SwizzledSharedEncoding(SwizzledSharedParams p, bool rotating = false)
      : Encoding(rotating ? EncodingKind::AmdRotatingShared : kKind), p_(std::move(p)) {}
  static absl::Status check(const SwizzledSharedParams &);
  const SwizzledSharedParams &params() const { return p_; }
  unsigned rank() const override { return p_.order.size(); }
  const CtaLayout &cta() const override { return p_.cta; }
  absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const override;
  using Encoding::print;
  void print(llvm::raw_ostream &, AliasPrinter) const override;

private:
  SwizzledSharedParams p_;
};

/// The swizzle of a buffer whose rows are written 16 bytes at a time and read `groupBytes` at a time: in eight
/// consecutive rows, what lies in one column is in different banks, as far as rows are long enough for that. The rows
/// that fill all banks once share a phase. Used for matrices that ldmatrix reads, for buffers that loops copy to and
/// read by plain loads, and for bytes and words across K.
/// @pre rank 2 or more; `elementBytes` is a power of two up to 16. `order`: fastest dimension first. `minRowsPerPhase`:
/// consecutive rows that each lane reads itself (kWidth of an operand across K), which need no phases of their own.
/// `minPhases`: groups of rows that lanes read at once; rows too short for so many have groups of half the bytes.
/// `groupBytes`: 16 or 32, what lanes read of a row at once, which is exchanged whole.
SwizzledSharedParams conflictFreeSwizzle(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> order,
                                         const CtaLayout &cta, int64_t elementBytes, const MemoryModel &,
                                         int64_t minRowsPerPhase = 1, int64_t minPhases = 1, int64_t groupBytes = 16);

} // namespace tessera::layouts
