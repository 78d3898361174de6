// Launch descriptions: `launch.json` says which kernel of which file to run, on what grid, with which arguments, and what
// must come out (docs/launch.md). Files are relative to the description's folder.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/dtype.h"
#include <array>
#include <string>
#include <vector>

namespace tessera::runtime {

struct LaunchArg {
  std::string name;
  bool isScalar = false;
  // Scalars: type as in the IR ("i32", "f32"), and the value.
  std::string scalarType;
  double floatValue = 0;
  int64_t intValue = 0;
  // Buffers.
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  enum Source { File, Fill, Randn, Randint, Poison } source = Fill;
  std::string file;
  double fill = 0, scale = 1;
  int64_t lo = 0, hi = 1;
  int64_t elements() const {
    int64_t n = 1;
    for (auto d : shape) n *= d;
    return n;
  }
};

struct ExpectedOutput {
  unsigned arg = 0;
  std::string file;
  double relL2 = 0; // 0: bit-exact
};

struct LaunchDescription {
  std::string path, directory;
  std::string kernel, ttir;
  std::array<int64_t, 3> grid{1, 1, 1};
  int numWarps = 4, numStages = 3;
  std::vector<LaunchArg> args;
  std::vector<ExpectedOutput> expected;
};

/// Errors name the file, and line and column (syntax) or the place in the document (`args[2].shape[0]`).
absl::StatusOr<LaunchDescription> parseLaunch(llvm::StringRef text, const std::string &path);
absl::StatusOr<LaunchDescription> readLaunch(const std::string &path);

/// The bytes of a buffer argument before the launch. Random data depend on the argument's index alone.
absl::StatusOr<std::vector<uint8_t>> materialize(const LaunchDescription &, unsigned arg);

struct CheckResult {
  bool ok = false;
  std::string line; // one line for people
};
/// Compares a buffer after the launch with what is expected.
absl::StatusOr<CheckResult> check(const LaunchDescription &, const ExpectedOutput &, llvm::ArrayRef<uint8_t> actual);

} // namespace tessera::runtime
