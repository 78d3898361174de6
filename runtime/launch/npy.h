// The .npy format, versions 1.0 to 3.0 (numpy's documentation of numpy.lib.format). Little endian.
//
// Read: f2 f4 f8 i1..i8 u1..u8 b1, and the raw kinds V1 V2 V4 V8 (how ml_dtypes stores bf16 and the 8-bit floats),
// which read as unsigned integers; C and Fortran order, the latter turned into C order and noted. Written: version
// 1.0, C order; a dtype without a numpy type as the unsigned integer of its width.
//
// Nothing in a file is trusted: the header must be the dictionary that the format prescribes and no more, sizes are
// checked against the file's before memory is taken, and bytes after the data are an error. What is wrong with a file
// is InvalidArgument and names it.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/launch/dtype.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tessera::runtime {

struct NpyArray {
  DType dtype = DType::F32; // what numpy calls it
  std::vector<int64_t> shape;
  std::vector<uint8_t> data; // in C order, also where the file's was not
  bool fortranOrder = false; // the file holds the array in column order: a transposed view, as numpy saves it
  int64_t elements() const { return int64_t(data.size()) / dtypeBytes(dtype); }
};

absl::StatusOr<NpyArray> parseNpy(llvm::StringRef bytes, llvm::StringRef fileName);
absl::StatusOr<NpyArray> readNpy(const std::string &path);

/// The file's contents. InvalidArgument if the data's size is not the shape's.
absl::StatusOr<std::string> formatNpy(DType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> data);
/// Unavailable with the system's text if the file cannot be written.
absl::Status writeNpy(const std::string &path, DType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> data);

/// The elements of a row-major array rearranged to column-major (`toColumnMajor`) or back.
/// @pre data.size() is the shape's element count times elementBytes
std::vector<uint8_t> reorder(llvm::ArrayRef<uint8_t> data, llvm::ArrayRef<int64_t> shape, unsigned elementBytes,
                             bool toColumnMajor);

} // namespace tessera::runtime
