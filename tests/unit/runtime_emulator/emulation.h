// Kernels on the emulator in a few lines: compile a text for a target, change the lowered module where a test plants a
// fault, run it on buffers. LLVM modules written by hand run too.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/emulator/emulator.h"
#include "runtime/launch/launch_description.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::testing {

/// A kernel argument: a buffer of so many bytes, filled with a byte or with i32 (0, 1, 2, …), or a scalar.
struct Arg {
  enum Kind { Bytes, Counting, Scalar } kind = Bytes;
  size_t bytes = 0;
  uint64_t value = 0;                                               // scalar's bits, or the byte
  std::vector<uint8_t> contents = {};                               // instead of a byte
  std::optional<runtime::HostDescriptor> descriptor = std::nullopt; // the buffer is passed as a tensor descriptor
};
inline Arg bytesOf(std::vector<uint8_t> v) { return {Arg::Bytes, v.size(), 0, std::move(v)}; }
inline Arg zeros(size_t bytes) { return {Arg::Bytes, bytes, 0}; }
inline Arg counting(size_t bytes) { return {Arg::Counting, bytes, 0}; }
inline Arg described(Arg buffer, runtime::HostDescriptor d) {
  buffer.descriptor = std::move(d);
  return buffer;
}
inline Arg scalar(uint64_t v) { return {Arg::Scalar, 0, v}; }

/// The target of a TTGIR text: what the module's attributes and its layouts say of it.
struct GivenTarget {
  const char *name;   // Tessera's
  const char *triton; // in ttg.target
  unsigned lanes;     // threads of a warp
};

struct Emulation {
  std::string target = "sm_90a";
  int numWarps = 4;
  bool exactNumWarps = true;     // false: the compiler may take more
  bool specializesWarps = false; // the kernel's loops request it
  int numStages = 3;
  std::array<int64_t, 3> grid{1, 1, 1};
  emulator::Options options;
  std::vector<std::vector<uint8_t>> buffers;        // after the run, by argument
  std::map<size_t, std::vector<uint8_t>> undefined; // by argument, as emulator::Buffer's; changed by the run
  int64_t sharedBytes = 0;                          // of modules written by hand

  /// Compiles TTIR or TTGIR, lets `change` at the module, and runs it.
  absl::StatusOr<emulator::Report> text(llvm::StringRef ir, const std::string &kernel, std::vector<Arg> args,
                                        llvm::function_ref<void(llvm::Module &)> change = nullptr);
  /// The same for LLVM IR written by hand; the kernel is called `kernel`.
  absl::StatusOr<emulator::Report> llvmModule(llvm::StringRef ir, std::vector<Arg> args);
  /// A launch description; outputs are compared (a difference is DataLoss).
  absl::StatusOr<emulator::Report> launch(const std::string &folder,
                                          llvm::function_ref<void(llvm::Module &)> change = nullptr);
};

} // namespace tessera::testing
