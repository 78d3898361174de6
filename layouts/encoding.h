// Encodings: what a user writes as `#ttg.blocked<{...}>` and its kin. An Encoding is immutable and lives in the
// EncodingPool of a Context, which makes equal ones the same object, so they are compared by pointer. What an encoding
// means is the linear layout it gives for a shape; everything else uses that.
#pragma once
#include "absl/status/statusor.h"
#include "layouts/cta_layout.h"
#include "layouts/linear_layout.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <list>

namespace llvm {
class raw_ostream;
}
namespace tessera::layouts {
class EncodingPool;

enum class EncodingKind : uint8_t {
  Blocked,
  Slice,
  DotOperand,
  NvidiaMma,
  AmdMfma,
  AmdWmma,
  Linear,
  GenericLinear, // distributed: over registers and threads
  SwizzledShared,
  NvmmaShared,
  AmdRotatingShared,
  PaddedShared,
  SharedLinear,
  PartitionedShared, // shared memory
  TensorMemory,
  TensorMemoryScales, // tensor memory
};

class Encoding;
/// Prints the alias of an encoding and returns true, or returns false to have it printed in full.
using AliasPrinter = llvm::function_ref<bool(const Encoding *, llvm::raw_ostream &)>;

class Encoding {
public:
  virtual ~Encoding() = default;
  EncodingKind kind() const { return kind_; }
  bool isDistributed() const { return kind_ <= EncodingKind::GenericLinear; }
  bool isShared() const { return kind_ >= EncodingKind::SwizzledShared && kind_ <= EncodingKind::PartitionedShared; }

  virtual unsigned rank() const = 0;
  virtual const CtaLayout &cta() const = 0;

  /// For distributed encodings: register, lane, warp, block → dim0, dim1, …; where the shape is larger than the
  /// layout's tile, registers grow; where it is smaller, bases that lead outside become zero (several threads hold an
  /// element). For shared ones: offset (in elements), block → dim0, …. Errors: kinds whose layout is not modelled;
  /// shapes of another rank.
  virtual absl::StatusOr<LinearLayout> toLinearLayout(llvm::ArrayRef<int64_t> shape) const = 0;

  /// The same, worked out once per shape: passes need it of few encodings, thousands of times.
  const absl::StatusOr<LinearLayout> &layoutOf(llvm::ArrayRef<int64_t> shape) const;

  /// The parameters in Triton 3.6's spelling with its elisions: `#ttg.blocked<{sizePerThread = [1], …}>`.
  virtual void print(llvm::raw_ostream &, AliasPrinter) const = 0;
  void print(llvm::raw_ostream &) const;
  std::string str() const;
  /// "blocked", "shared", "mma", "linear", …; empty for kinds that are always printed in place (slice, dot_op).
  llvm::StringRef aliasStem() const;

protected:
  explicit Encoding(EncodingKind k) : kind_(k) {}

private:
  EncodingKind kind_;
  mutable std::list<std::pair<llvm::SmallVector<int64_t, 4>, absl::StatusOr<LinearLayout>>> layouts_; // of layoutOf
};

template <class T> const T *dynCast(const Encoding *e) {
  return e && e->kind() == T::kKind ? static_cast<const T *>(e) : nullptr;
}

/// Whether it is the layout of a dot's operand. @pre e is not null
inline bool isDotOperand(const Encoding *e) { return e->kind() == EncodingKind::DotOperand; }

/// "[1, 8]"
void printList(llvm::raw_ostream &, llvm::ArrayRef<int32_t>);

// ---- pieces that encodings are built from ----

/// Product of identities along the dimensions, in `order` (fastest first).
LinearLayout identityND(Dim in, llvm::ArrayRef<int32_t> shape, llvm::ArrayRef<int32_t> order);
/// Bases that lead outside the shape become zero; output sizes become at most the shape's.
LinearLayout ensureNotLargerThan(const LinearLayout &, llvm::ArrayRef<int64_t> shape);
/// Repeats the first input dimension (registers, or offsets) along dimensions where the layout is smaller than the
/// shape, in the layout's order of outputs.
LinearLayout ensureNotSmallerThan(const LinearLayout &, llvm::ArrayRef<int64_t> shape);
/// A block's layout spread over the blocks of a cluster, fitted to the shape, outputs in standard order.
LinearLayout combineCtaWithShape(const LinearLayout &block, const CtaLayout &, llvm::ArrayRef<int64_t> shape);

} // namespace tessera::layouts
