// `tessera run LAUNCH.json --device DEV [--out DIR] [--check]`: runs a kernel and checks what comes out.
#include "runtime/emulator/emulator_device.h"
#include "runtime/launch/npy.h"
#include "tools/arguments.h"
#include "tools/launch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <unistd.h>

namespace tessera::tools {
using namespace runtime;

int runCommand(int argc, char **argv) {
  CLI::App app("Runs a kernel as a launch description says", "tessera run");
  std::string path, deviceName, outDir, targetName;
  bool doCheck = false;
  int reps = 0, threads = 1;
  NumberFlags numbers;
  app.add_option("LAUNCH", path, "launch description (launch.json)")->required();
  app.add_option(
      "--device", deviceName,
      "interpreter, emulator:TARGET, cuda[:N] or hip[:N]; default: the first GPU found, else the interpreter");
  app.add_flag("--check", doCheck, "compare the expected outputs");
  app.add_option("--out", outDir, "write the buffers after the run as .npy files");
  app.add_option("--target", targetName, "compile for this target instead of the GPU's own");
  numbers.add(app);
  app.add_option("--reps", reps, "launch so many more times and print the time (on GPUs and emulators)")
      ->check(wholeNumber(0));
  app.add_option("--threads", threads,
                 "programs that run at once: on the interpreter atomics then happen in any order; on an emulator the "
                 "results are the same")
      ->check(wholeNumber(1, 1024));
  bool counters = false;
  std::vector<std::string> off;
  emulator::Options eo;
  app.add_flag(
      "--counters", counters,
      "emulator: print what each access, barrier and shuffle did, and the most registers that a thread holds live");
  app.add_option("--no-check", off, "emulator: turn checks off: bounds, alignment, undefined, races, wraps, all")
      ->delimiter(',');
  std::string undefined = "ones";
  app.add_option("--undefined", undefined,
                 "interpreter: bits of elements that nothing defines, as a masked load without a value for the rest "
                 "leaves them: ones (NaN, -1) or zeros")
      ->check(CLI::IsMember({"ones", "zeros"}));
  app.add_option("--max-instructions", eo.maxInstructions,
                 "emulator: give up when a block's warps have executed so many")
      ->check(wholeNumber(1));
  CacheFlags cacheFlags;
  cacheFlags.add(app);
  if (auto code = parseArguments(app, argc, argv)) return *code;
  std::unique_ptr<CompileCache> cache;
  if (int code = cacheFlags.open(cache)) return code;
  emulator::Report report;
  eo.counters = counters;
  eo.threads = threads;
  if (!llvm::StringRef(deviceName).starts_with("emulator:") && (counters || !off.empty()))
    return fail(kUsage, "--counters and --no-check need --device emulator:TARGET");
  if (!deviceName.empty() && deviceName != "interpreter" && app.count("--undefined"))
    return fail(kUsage, "--undefined needs --device interpreter");
  for (auto &name : off) {
    bool all = name == "all", known = all;
    std::pair<const char *, bool *> checks[] = {{"bounds", &eo.checks.bounds},
                                                {"alignment", &eo.checks.alignment},
                                                {"undefined", &eo.checks.undefined},
                                                {"races", &eo.checks.races},
                                                {"wraps", &eo.checks.wraps}};
    for (auto [n, on] : checks)
      if (all || name == n) *on = false, known = true;
    if (!known)
      return fail(kUsage, "--no-check " + name +
                              ": the checks are bounds, alignment, undefined, races, wraps, and all for all of them");
  }
  Launch l;
  if (int code = l.readDescription(path)) return code;
  if (!targetName.empty())
    if (auto t = requireTarget(targetName); !t.ok()) return fail(kUsage, std::string(t.status().message()));
  std::unique_ptr<Device> device;
  if (deviceName.empty()) {
    std::vector<std::string> problems;
    auto all = enumerateDevices(problems);
    if (!all.empty())
      device = std::move(all[0]);
    else
      deviceName = "interpreter";
  } else if (deviceName != "interpreter") {
    llvm::StringRef spec(deviceName);
    auto opened = spec.consume_front("emulator:") ? openEmulator(spec, eo, &report) : openDevice(deviceName);
    if (!opened.ok())
      return fail(absl::IsInvalidArgument(opened.status()) ? kUsage : kRunFailed,
                  std::string(opened.status().message()));
    device = std::move(*opened);
  }
  if (!device && reps) return fail(kUsage, "--reps needs a GPU or an emulator");
  if (!device && !targetName.empty()) return fail(kUsage, "--target needs a GPU: the interpreter evaluates the text");
  if (device && device->takesBitcode() && !targetName.empty() && (*requireTarget(targetName))->name != device->target())
    return fail(kUsage, "--target " + targetName + " needs a GPU: " + deviceName + " executes code for its own target");
  auto diag = printingDiagnostics();
  if (int code = l.readKernel(diag)) return code;
  auto &d = l.description;
  if (!device) {
    InterpreterOptions o;
    o.threads = threads;
    o.undefinedIsZero = undefined == "zeros";
    o.print = [](llvm::StringRef line) { llvm::outs() << line << "\n"; };
    // A run of some length shows how far it is, where somebody looks on.
    int64_t shown = -1;
    auto start = std::chrono::steady_clock::now();
    if (isatty(2))
      o.progress = [&](int64_t done, int64_t all) {
        if (shown < 0 && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500)) return;
        if (done * 100 / all != shown)
          llvm::errs() << "\r" << (shown = done * 100 / all) << " % of " << all << " programs"
                       << (done == all ? "\r\033[K" : "");
      };
    auto s = interpretLaunch(*l.module, l.kernel, d, l.arguments, o, diag);
    if (!s.ok()) return diag.errors() ? kRunFailed : fail(kRunFailed, std::string(s.message()));
  } else {
    CompileResult r;
    CompileOptions o = l.options(*device);
    numbers.apply(o);
    if (int code = l.compile(*cache, *device, targetName, o, diag, r)) return code;
    CacheFlags::warn(*cache);
    auto values = l.arguments.values();
    LaunchTiming timing;
    auto s = device->run(r.output, r.metadata, d.grid, values, reps, &timing);
    if (!s.ok()) return fail(kRunFailed, std::string(s.message()));
    if (counters) llvm::outs() << emulator::counterTable(report);
    if (reps)
      llvm::outs() << llvm::formatv("{0}: median {1:f4} ms, min {2:f4} ms over {3} launches\n", d.kernel,
                                    timing.medianMs, timing.minMs, reps);
  }
  if (!outDir.empty()) {
    if (auto ec = llvm::sys::fs::create_directories(outDir)) return fail(kRunFailed, outDir + ": " + ec.message());
    for (unsigned i = 0; i < d.args.size(); ++i)
      if (!d.args[i].isScalar)
        if (auto s = writeNpy(outDir + "/" + d.args[i].name + ".npy", d.args[i].dtype, d.args[i].shape,
                              l.arguments.buffers[i]);
            !s.ok())
          return fail(kRunFailed, std::string(s.message()));
  }
  int code = kOk;
  if (doCheck) {
    if (d.expected.empty()) return fail(kInputAtFault, path + ": --check, but the description expects nothing");
    for (auto &e : d.expected) {
      auto c = check(d, e, l.arguments.buffers[e.arg]);
      if (!c.ok()) return fail(kInputAtFault, std::string(c.status().message()));
      llvm::outs() << c->line << "\n";
      if (!c->ok) code = kRunFailed;
    }
  }
  return code;
}

} // namespace tessera::tools
