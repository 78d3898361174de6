// The numbers that a kernel is configured by, and how each is spelled and checked wherever it is written. The rows are
// in options.def.
#pragma once
#include "ir/target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tessera::runtime {

/// What changes a kernel's code but not its results. CompileOptions, LaunchDescription and KernelMetadata derive from
/// it.
struct KernelConfig {
#define KERNEL_OPTION(field, key, flag, initial, form, least, most, help, needs) int field = initial;
#include "runtime/options.def"

  /// This part of a larger struct, to copy all of it.
  KernelConfig &config() { return *this; }
  const KernelConfig &config() const { return *this; }
};

/// One field of KernelConfig.
struct KernelOption {
  enum Form : uint8_t { PowerOfTwo, Range, MatrixTile };
  int KernelConfig::*field;
  llvm::StringRef key;  // "num_warps": launch descriptions, metadata, the C API
  llvm::StringRef flag; // "--num-warps"
  int initial;
  Form form;
  int least;
  int most;
  llvm::StringRef help;        // one line
  bool ir::TargetInfo::*needs; // the capability of targets that read it; null: all do

  bool isReadBy(const ir::TargetInfo &t) const { return !needs || t.*needs; }
  bool allows(int64_t value) const;
  /// The values that every check allows: "a power of two up to 64". A target may allow fewer (checkOptions).
  std::string allowed() const;
  /// "" or what is wrong: "must be a power of two up to 64, not 3". The one check of launch descriptions, metadata, the
  /// C API and the compiler; the command line uses its parts.
  std::string problem(int64_t value) const;
};

/// In the order of the rows.
inline llvm::ArrayRef<KernelOption> kernelOptions() {
  static constexpr KernelOption rows[] = {
#define KERNEL_OPTION(field, key, flag, initial, form, least, most, help, needs)                                       \
  {&KernelConfig::field, #key, flag, initial, KernelOption::form, least, most, help, needs},
#include "runtime/options.def"
  };
  return rows;
}
inline constexpr size_t kNumKernelOptions = 0
#define KERNEL_OPTION(field, key, flag, initial, form, least, most, help, needs) +1
#include "runtime/options.def"
    ;

} // namespace tessera::runtime
