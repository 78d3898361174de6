// Checks of encodings' parameters, with the messages that users see.
#pragma once
#include "absl/status/status.h"
#include "layouts/cta_layout.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
}
namespace tessera::layouts {

absl::Status invalid(const std::string &message);
absl::Status checkPermutation(llvm::StringRef name, llvm::ArrayRef<int32_t> order);
absl::Status checkPowersOfTwo(llvm::StringRef name, llvm::ArrayRef<int32_t> values, unsigned rank);
absl::Status checkPowerOfTwo(llvm::StringRef name, int64_t value);
absl::Status checkCta(const CtaLayout &, unsigned rank);
/// The shape has that rank and powers of two that fit a layout.
absl::Status checkShape(llvm::ArrayRef<int64_t> shape, unsigned rank);
/// ", CGALayout = [[0, 1]]" where there is more than one block.
void printCta(llvm::raw_ostream &, const CtaLayout &);

/// "[[0, 1], [2, 0]]": the bases of one input dimension.
void printBases(llvm::raw_ostream &, const LinearLayout &, Dim in);
/// The layout maps offset and block, in this order, to dim0, dim1, ….
absl::Status checkSharedBases(const LinearLayout &);
/// The shape is the layout's own.
absl::Status checkShapeIs(const LinearLayout &, llvm::ArrayRef<int64_t> shape);

} // namespace tessera::layouts
