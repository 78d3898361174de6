// Launch descriptions: `launch.json` says which kernel of which file to run, on what grid, with which arguments, and
// what must come out. The form:
//
//   {"kernel": "vecadd", "ttir": "vecadd.ttir", "grid": [4, 1, 1], "num_warps": 4, "num_stages": 3,
//    "args": [{"name": "x", "dtype": "f32", "shape": [1000], "file": "x.npy"},
//             {"name": "o", "dtype": "f32", "shape": [1000], "fill": "poison"},
//             {"name": "n", "scalar": 1000, "type": "i32"}],
//    "expected": {"1": {"file": "o.npy", "rel_l2": 1e-05}}}
//
// Instead of "rel_l2" an output may have "within": a .npy file of f64 in the output's shape, by how much each element
// may be missed.
//
// Arguments are the function's, in order. A buffer's contents: "file" (a .npy file), or "fill": a number ("inf", "-inf"
// and "nan" as text), "randn" (standard normal times "scale"; also what a float buffer without "file" and "fill" gets),
// "randint" (whole numbers in ["lo", "hi")), or "poison" (0xFF bytes). "transposed": true lays a buffer out column by
// column. "offset": the kernel's pointer points at this element, as that of a view does. "block_shape" makes it a
// tensor descriptor (descriptor.h), with "strides" in elements where it is not contiguous, and "padding": "nan" where
// elements outside of it are to read as NaN.
//
// Scalars are numbers (true and false for i1; "inf", "-inf", "nan" for floats). "flops" and "bytes" are the work of one
// launch, for `tessera bench`. Ignored are "name", "description", "note", "comment", "library" and keys that begin with
// "triton_" (times of others, for example).
//
// Random contents depend on the argument's index and the element's alone (a counter-based generator and arithmetic
// without a mathematics library), so every device on every host gets the same data.
//
// Files are relative to the description's folder. What is wrong with a description or a file that it names is
// InvalidArgument; every error of a description is reported, each with line, column and path.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/kernel_config.h"
#include "runtime/launch/descriptor.h"
#include "runtime/launch/dtype.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

/// Line and column in the description, from 1; 0: it was not written there.
using LaunchPlace = std::pair<unsigned, unsigned>;

struct LaunchArg {
  std::string name;
  bool isScalar = false;
  LaunchPlace place{0, 0};

  // Scalars: type as in the IR ("i32", "f32"), and the value (intValue for iN, floatValue for the others).
  std::string scalarType;
  double floatValue = 0;
  int64_t intValue = 0;

  // Buffers.
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  enum Source { File, Fill, Randn, Randint, Poison } source = Fill;
  std::string file;
  LaunchPlace filePlace{0, 0};
  double fill = 0, scale = 1;
  int64_t lo = 0, hi = 1;  // hi excluded
  bool transposed = false; // the memory is column-major
  int64_t offset = 0;      // the element in memory that the kernel's pointer points at
  /// Of a buffer that is passed as a tensor descriptor. Memory between its rows is filled with 0xFF bytes.
  std::optional<HostDescriptor> descriptor;
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return n;
  }
  int64_t offsetBytes() const { return offset * dtypeBytes(dtype); }
  int64_t bytes() const {
    if (isScalar) return 0;
    return (descriptor ? descriptor->spannedElements() : elements()) * dtypeBytes(dtype);
  }
};

struct ExpectedOutput {
  unsigned arg = 0;
  std::string file;
  double relL2 = 0;   // 0: bit-exact
  std::string within; // instead of it: the file of the allowed error of every element
  LaunchPlace filePlace{0, 0};
};

struct LaunchDescription : KernelConfig {
  std::string path, directory;
  std::string kernel; // empty: the module's only one
  std::string ttir;   // as written, or what readLaunch found
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<LaunchArg> args;
  LaunchPlace argsPlace{0, 0}, kernelPlace{0, 0}, ttirPlace{0, 0};
  std::vector<ExpectedOutput> expected; // by argument
  // For measurements; 0 and empty where not said.
  double flops = 0, bytesMoved = 0;

  /// A file named by the description, found from its folder.
  std::string resolve(llvm::StringRef file) const;
  /// The description and the files that it names, found from its folder.
  std::vector<std::string> files() const;
  /// "launch.json:3:9: ", or "launch.json: " where the place is not known: how errors begin.
  std::string at(LaunchPlace) const;
};

absl::StatusOr<LaunchDescription> parseLaunch(llvm::StringRef text, const std::string &path);
/// Where no "ttir" is named, FOLDER.ttir in the description's folder FOLDER is taken if it exists.
absl::StatusOr<LaunchDescription> readLaunch(const std::string &path);
/// As readLaunch, of a text that was read from there.
absl::StatusOr<LaunchDescription> readLaunchText(llvm::StringRef text, const std::string &path);
/// The text of a description with other numbers, for a file in another folder or the same.
std::string launchWith(llvm::StringRef text, const LaunchDescription &, const KernelConfig &,
                       const std::string &folder);

} // namespace tessera::runtime
