// Comparing outputs: ‖actual − expected‖₂ / ‖expected‖₂ against a limit, where 0 means the same bits.
//
// In detail: a NaN on either side never passes. Where the expected value is infinite the actual one must be the same,
// and such elements count in neither norm. If every expected value is zero, every actual one must be. Integers are
// compared bit by bit at limit 0 and by value otherwise. Sums are taken in double, scaled so that they neither over-
// nor underflow.
#pragma once
#include "runtime/launch/dtype.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera::runtime {

struct CheckResult {
  bool ok = false;
  double relL2 = 0;      // infinite where the expected values are all zero and the actual ones are not
  int64_t elements = 0;  // compared
  int64_t differing = 0; // elements with other bits
  int64_t nans = 0;      // elements that are NaN on either side
  int64_t worst = -1;    // the first NaN, else the largest difference; -1 if nothing differs
  double worstActual = 0, worstExpected = 0;
  std::string line; // all of it for people: "ok   o: …" or "FAIL o: …"
};

/// Both arrays hold the shape's elements in C order; a size that does not fit is a failed check.
CheckResult compareArrays(llvm::StringRef name, DType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> actual,
                          llvm::ArrayRef<uint8_t> expected, double relL2);

/// Element by element: |actual - expected| is at most the element's bound, in doubles; a bound of 0 means the same
/// value (0 and -0 are), integers beyond double's precision for the same bits at bound 0. A NaN passes where a NaN is
/// expected.
CheckResult compareWithin(llvm::StringRef name, DType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> actual,
                          llvm::ArrayRef<uint8_t> expected, llvm::ArrayRef<double> bounds);

} // namespace tessera::runtime
