// The autotuner: compiles a launch description's kernel with several sets of options (numbers of warps and stages,
// and what else changes the code and not what it computes), runs each, checks that each computes the same, and measures
// it.
//
// On GPUs and by the host's clock nothing else is needed of the device; an emulator has no time, so there the measure
// is the number of instructions that its warps executed: it shows work that was saved, not latencies that were
// hidden (stages of a pipeline look like more work, and never like less).
//
// What is right: the description's expected outputs; else what the interpreter or the first configuration computes,
// within what another order of additions explains (equalLimit).
#pragma once
#include "runtime/compiler/compile_cache.h"
#include "runtime/emulator/emulator.h"
#include "runtime/launcher.h"

namespace tessera::runtime {

struct TuneMeasurement {
  CompileOptions configuration;
  enum Outcome : uint8_t {
    Measured,
    SameCode,    // as the one at `sameAs`, whose figures it has
    NotCompiled, // cannot be: `reason`
    Failed,      // while it ran
    Wrong        // has run, and computed something else
  } outcome = Measured;
  std::string reason;
  size_t sameAs = 0;
  KernelMetadata metadata;
  double medianMs = 0, minMs = 0;
  uint64_t instructions = 0; // of an emulator's warps
};

struct TuneJob {
  const LaunchDescription &description;
  llvm::StringRef source; // the kernel's text, and what diagnostics call it
  std::string sourcePath;
  const LaunchArguments &arguments; // as they are before a launch
  Device &device;
  const emulator::Report *report = nullptr; // the emulator's; null: a device with a clock
  CompileCache &cache;
  std::vector<CompileOptions> configurations;
  int reps = 100;
  const LaunchArguments *right =
      nullptr; // what must come out where nothing is expected; null: what the first that runs gives
  std::function<void(size_t done)> progress;
};

/// One for each configuration, in their order.
std::vector<TuneMeasurement> tune(const TuneJob &);

/// The index of the fastest (on an emulator: of the one with the fewest instructions), the first of equals; nullopt
/// if none has run.
std::optional<size_t> best(llvm::ArrayRef<TuneMeasurement>, bool byInstructions);

/// By how much two runs of a kernel may differ whose sums are taken in another order, as ‖a − b‖₂ / ‖b‖₂: nothing for
/// integers; for floats a unit in the last place of the type, and 1e-5 at least for what has been added up in f32.
double equalLimit(DType);

} // namespace tessera::runtime
