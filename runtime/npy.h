// The .npy format, versions 1 and 2 (numpy's documentation of numpy.lib.format). Little endian. Data keep the order
// in which they lie in the file (a Fortran-order array is a buffer that the kernel sees column by column); what is written
// is in C order. Nothing in a file is trusted: sizes are checked against the file's before memory is taken.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/dtype.h"
#include <string>
#include <vector>

namespace tessera::runtime {

struct NpyArray {
  DType dtype = DType::F32; // what numpy calls it: a dtype without a numpy type travels as the integer of its width
  std::vector<int64_t> shape;
  std::vector<uint8_t> data; // as in the file
};

absl::StatusOr<NpyArray> parseNpy(llvm::StringRef bytes, llvm::StringRef fileName);
absl::StatusOr<NpyArray> readNpy(const std::string &path);
absl::Status writeNpy(const std::string &path, DType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> data);

} // namespace tessera::runtime
