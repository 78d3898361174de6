// `tessera run LAUNCH.json --device DEV [--out DIR] [--check]`: runs a kernel and compares its outputs.
#include "ir/ops.h"
#include "runtime/compiler/targets.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/npy.h"
#include "runtime/open_device.h"
#include "tools/arguments.h"
#include "tools/launch.h"
#include "tools/timing.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <unistd.h>
#include <utility>

namespace tessera::tools {
using namespace runtime;

namespace {

// Those of TimingFlags, and the one beside them.
constexpr const char *kTimingOptions[] = {"--workgroups",    "--neighbours", "--timeline", "--timeline-instructions",
                                          "--compute-units", "--clock",      "--machine",  "--timing-json",
                                          "--cold"};

struct RunFlags {
  std::string path;
  std::string deviceName;
  std::string outDir;
  std::string targetName;
  bool checkOutputs = false;
  int reps = 0;
  int threads = 1;
  NumberFlags numbers;
  bool counters = false;
  std::vector<std::string> disabledChecks;
  emulator::Options emulator;
  bool timing = false;
  TimingFlags timingFlags;
  std::string undefined = "ones"; // bits of undefined elements: ones or zeros
  CacheFlags cache;

  void add(CLI::App &);
  /// Checks flags that exclude each other; an exit code after an error was printed.
  int validate(const CLI::App &);

private:
  int disableChecks();
};

void RunFlags::add(CLI::App &app) {
  app.add_option("LAUNCH", path, "launch description (launch.json)")->required();
  app.add_option(
      "--device", deviceName,
      "interpreter, emulator:TARGET, cuda[:N] or hip[:N]; default: the first GPU found, else the interpreter");
  app.add_flag("--check", checkOutputs, "compare the buffers with the description's expected outputs");
  app.add_option("--out", outDir, "write the buffers after the run as .npy files");
  app.add_option("--target", targetName, "compile for this target instead of the GPU's own");
  numbers.add(app);
  app.add_option("--reps", reps, "launch N more times and print the time (GPUs and emulators)")->check(wholeNumber(0));
  app.add_option("--threads", threads,
                 "host threads that execute blocks; on the interpreter the order of atomics then varies, on an "
                 "emulator results do not change")
      ->check(wholeNumber(1, 1024));
  app.add_flag("--counters", counters,
               "emulator: print counters of memory accesses, barriers and shuffles, and the maximum number of live "
               "registers of a thread");
  app.add_flag("--timing", timing,
               "emulator of an AMD target: instead of running, time the compiled kernel by a model of the machine");
  timingFlags.add(app);
  app.add_option("--timing-json", timingFlags.json, "write the figures of --timing as JSON (- for standard output)");
  app.add_option("--no-check", disabledChecks,
                 "emulator: disable checks: bounds, alignment, undefined, races, wraps, all")
      ->delimiter(',');
  app.add_option("--undefined", undefined,
                 "interpreter: bits of undefined elements, such as those of a masked load without another value: ones "
                 "(NaN, -1) or zeros")
      ->check(oneOf("ones", "zeros"));
  app.add_option("--max-instructions", emulator.maxInstructions,
                 "emulator: stop when the warps of a block have executed N instructions")
      ->check(wholeNumber(1));
  cache.add(app);
}

int RunFlags::validate(const CLI::App &app) {
  bool emulated = llvm::StringRef(deviceName).starts_with("emulator:");
  for (const char *option : {"--counters", "--no-check", "--max-instructions"})
    if (!emulated && app.count(option)) return fail(kUsage, std::string(option) + " needs --device emulator:TARGET");
  if (timing && !llvm::StringRef(deviceName).starts_with("emulator:gfx"))
    return fail(kUsage, "--timing needs --device emulator:TARGET of an AMD target");
  for (const char *option : kTimingOptions)
    if (!timing && app.count(option)) return fail(kUsage, std::string(option) + " needs --timing");
  for (const char *option : {"--check", "--out", "--reps", "--counters"})
    if (timing && app.count(option))
      return fail(kUsage,
                  std::string(option) + " and --timing exclude each other: the model executes a few workgroups");
  bool mayInterpret = deviceName.empty() || deviceName == "interpreter";
  if (!mayInterpret && app.count("--undefined")) return fail(kUsage, "--undefined needs --device interpreter");
  if (int code = checkOutputFiles({{"--timeline", timingFlags.timeline}, {"--timing-json", timingFlags.json}}, {path}))
    return code;
  if (int code = checkOutputFolder(outDir)) return code;
  emulator.counters = counters;
  emulator.threads = threads;
  return disableChecks();
}

int RunFlags::disableChecks() {
  std::pair<const char *, bool *> checks[] = {{"bounds", &emulator.checks.bounds},
                                              {"alignment", &emulator.checks.alignment},
                                              {"undefined", &emulator.checks.undefined},
                                              {"races", &emulator.checks.races},
                                              {"wraps", &emulator.checks.wraps}};
  for (auto &name : disabledChecks) {
    bool all = name == "all";
    bool known = all;
    for (auto [checkName, enabled] : checks)
      if (all || name == checkName) {
        *enabled = false;
        known = true;
      }
    if (!known)
      return fail(kUsage, "--no-check " + name +
                              ": the checks are bounds, alignment, undefined, races, wraps, and all for all of them");
  }
  return kOk;
}

/// The device to run on; null: the interpreter.
int openRunDevice(const RunFlags &flags, emulator::Report &report, std::unique_ptr<Device> &device) {
  if (flags.deviceName.empty()) {
    std::vector<std::string> problems;
    auto gpus = enumerateDevices(problems);
    if (!gpus.empty()) device = std::move(gpus[0]);
  } else if (flags.deviceName != "interpreter") {
    llvm::StringRef spec(flags.deviceName);
    auto opened =
        spec.consume_front("emulator:") ? openEmulator(spec, flags.emulator, &report) : openDevice(flags.deviceName);
    if (!opened.ok())
      return fail(absl::IsInvalidArgument(opened.status()) ? kUsage : kRunFailed,
                  std::string(opened.status().message()));
    device = std::move(*opened);
  }
  if (!device && flags.reps) return fail(kUsage, "--reps needs a GPU or an emulator");
  if (!device && !flags.targetName.empty())
    return fail(kUsage, "--target needs a GPU: the interpreter evaluates the text");
  bool otherTarget = device && device->takesBitcode() && !flags.targetName.empty() &&
                     (*requireTarget(flags.targetName))->name != device->target();
  if (otherTarget)
    return fail(kUsage, "--target " + flags.targetName + " needs a GPU: " + flags.deviceName +
                            " executes code for its own target");
  return kOk;
}

/// How long the parts of a run took, in seconds.
struct RunTimes {
  double compile = 0; // 0: nothing was compiled
  double run = 0;     // with copies of the buffers to the device and back
};
class StopWatch {
public:
  /// Seconds since it was made, or since the last call.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int runOnInterpreter(const RunFlags &flags, Launch &l, ir::DiagnosticEngine &diag, RunTimes &times) {
  InterpreterOptions o;
  o.threads = flags.threads;
  o.undefinedIsZero = flags.undefined == "zeros";
  o.print = [](llvm::StringRef line) { llvm::outs() << line << "\n"; };
  // Long runs show their progress on a terminal.
  constexpr std::chrono::milliseconds kQuietTime(500);
  int64_t shown = -1; // percent
  auto start = std::chrono::steady_clock::now();
  if (isatty(STDERR_FILENO))
    o.progress = [&](int64_t done, int64_t all) {
      if (shown < 0 && std::chrono::steady_clock::now() - start < kQuietTime) return;
      int64_t percent = done * 100 / all;
      if (percent == shown) return;
      shown = percent;
      llvm::errs() << "\r" << percent << " % of " << all << " programs" << (done == all ? "\r\033[K" : "");
    };
  StopWatch watch;
  auto s = interpretLaunch(*l.kernel.module, l.kernel.function, l.description, l.arguments, o, diag);
  times.run = watch.lap();
  if (!s.ok()) return diag.errors() ? kRunFailed : fail(kRunFailed, std::string(s.message()));
  return kOk;
}

int runOnDevice(const RunFlags &flags, Launch &l, Device &device, CompileCache &cache, const emulator::Report &report,
                ir::DiagnosticEngine &diag, RunTimes &times) {
  CompileOptions o = l.options(device);
  flags.numbers.apply(o);
  CompileResult compiled;
  StopWatch watch;
  if (int code = l.compile(cache, device, flags.targetName, o, diag, compiled)) return code;
  times.compile = watch.lap();
  CacheFlags::warn(cache);
  auto values = l.arguments.values();
  LaunchTiming timing;
  auto s = device.run(compiled.output, compiled.metadata, l.description.grid, values, flags.reps, &timing);
  times.run = watch.lap();
  if (!s.ok()) return fail(kRunFailed, std::string(s.message()));
  if (flags.counters) llvm::outs() << emulator::counterTable(report);
  if (flags.reps)
    llvm::outs() << llvm::formatv("{0}: median {1:f4} ms, min {2:f4} ms over {3} launch{4}\n", l.description.kernel,
                                  timing.medianMs, timing.minMs, flags.reps, flags.reps == 1 ? "" : "es");
  return kOk;
}

/// Compiles to an object and times it by the model.
int timeCompiled(const RunFlags &flags, Launch &l, Device &device, CompileCache &cache, ir::DiagnosticEngine &diag) {
  CompileOptions o;
  o.config() = l.description.config();
  o.kernel = l.kernel.function->cast<ir::tt::FuncOp>().symName().str();
  o.lineInfo = true;
  flags.numbers.apply(o);
  CompileResult compiled;
  if (int code = l.compile(cache, device, flags.targetName, o, diag, compiled)) return code;
  CacheFlags::warn(cache);
  TimingFlags timing = flags.timingFlags;
  timing.options.kernel = compiled.metadata.kernel;
  timing.options.workItems = uint32_t(compiled.metadata.threadsPerBlock);
  timing.options.dynamicLdsBytes = uint32_t(compiled.metadata.dynamicSharedBytes);
  return timeAndReport(timing, l.description, l.text, compiled.output, flags.path);
}

/// The file that --out gives a buffer.
std::string bufferFile(const std::string &folder, const LaunchArg &a) { return folder + "/" + a.name + ".npy"; }

/// Whether nothing that the run writes is a file that the description names.
int checkFilesAreKept(const RunFlags &flags, const LaunchDescription &d) {
  std::vector<OutputOption> outputs{{"--timeline", flags.timingFlags.timeline},
                                    {"--timing-json", flags.timingFlags.json}};
  for (auto &a : d.args)
    if (!a.isScalar && !flags.outDir.empty()) outputs.push_back({"--out", bufferFile(flags.outDir, a)});
  return checkInputsAreKept(outputs, d.files());
}

int writeBuffers(const std::string &folder, const Launch &l) {
  if (auto ec = llvm::sys::fs::create_directories(folder)) return fail(kRunFailed, folder + ": " + ec.message());
  for (auto [i, a] : llvm::enumerate(l.description.args)) {
    if (a.isScalar) continue;
    auto s = writeNpy(bufferFile(folder, a), a.dtype, a.shape, withoutGaps(a, l.arguments.buffers[i]));
    if (!s.ok()) return fail(kRunFailed, std::string(s.message()));
  }
  return kOk;
}

/// On a terminal a run ends with a line that says what ran: "vecadd: 4 programs on interpreter, 0.01 s; buffers in
/// out". Output that a program reads has results alone.
void summarize(const RunFlags &flags, const Launch &l, const Device *device, const RunTimes &times) {
  if (!isatty(STDERR_FILENO)) return;
  auto grid = l.description.grid;
  int64_t programs = grid[0] * grid[1] * grid[2];
  std::string where = device ? device->spec() : "interpreter";
  llvm::errs() << llvm::formatv("{0}: {1} program{2} on {3}, {4:f3} s",
                                l.kernel.function->cast<ir::tt::FuncOp>().symName(), programs, programs == 1 ? "" : "s",
                                where, times.run);
  if (times.compile) llvm::errs() << llvm::formatv(" (compiled in {0:f3} s)", times.compile);
  if (!flags.outDir.empty()) llvm::errs() << "; buffers in " << flags.outDir;
  if (!flags.checkOutputs && !l.description.expected.empty())
    llvm::errs() << "; --check compares them with the expected outputs";
  llvm::errs() << "\n";
}

int compareOutputs(const Launch &l) {
  auto &d = l.description;
  int code = kOk;
  for (auto &e : d.expected) {
    auto c = check(d, e, l.arguments.buffers[e.arg]);
    if (!c.ok()) return failLocated(std::string(c.status().message()), d.path, l.text);
    llvm::outs() << c->line << "\n";
    if (!c->ok) code = kRunFailed;
  }
  return code;
}

} // namespace

int runCommand(int argc, char **argv) {
  CLI::App app("Runs a kernel as a launch description says", "tessera run");
  RunFlags flags;
  flags.add(app);
  if (auto code = parseArguments(app, argc, argv)) return *code;
  std::unique_ptr<CompileCache> cache;
  if (int code = flags.cache.open(cache)) return code;
  if (int code = flags.validate(app)) return code;
  Launch l;
  if (int code = l.readDescription(flags.path)) return code;
  if (int code = checkFilesAreKept(flags, l.description)) return code;
  if (!flags.targetName.empty())
    if (auto t = requireTarget(flags.targetName); !t.ok()) return fail(kUsage, std::string(t.status().message()));
  emulator::Report report;
  std::unique_ptr<Device> device;
  if (int code = openRunDevice(flags, report, device)) return code;
  if (flags.checkOutputs && l.description.expected.empty())
    return fail(kInputAtFault, flags.path + ": --check, but the description expects nothing");
  const ir::TargetInfo *target = device ? findTarget(device->target()) : nullptr;
  if (target) warnOfUnreadOptions(app, *target);
  auto diag = printingDiagnostics();
  if (int code = l.readKernel(diag)) return code;
  if (flags.timing) return timeCompiled(flags, l, *device, *cache, diag);
  RunTimes times;
  int code =
      device ? runOnDevice(flags, l, *device, *cache, report, diag, times) : runOnInterpreter(flags, l, diag, times);
  if (code) return code;
  if (!flags.outDir.empty())
    if (int code = writeBuffers(flags.outDir, l)) return code;
  summarize(flags, l, device.get(), times);
  return flags.checkOutputs ? compareOutputs(l) : int(kOk);
}

} // namespace tessera::tools
