// `tessera bench LAUNCH.json --device DEV`: measures a kernel as a launch description says.
#include "runtime/compiler/targets.h"
#include "tools/arguments.h"
#include "tools/launch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <optional>

namespace tessera::tools {
using namespace runtime;

int benchCommand(int argc, char **argv) {
  CLI::App app("Measures a kernel as a launch description says", "tessera bench");
  std::string path, deviceName, jsonFile;
  int reps = 100;
  NumberFlags numbers;
  CacheFlags cacheFlags;
  std::unique_ptr<Device> device;
  app.add_option("LAUNCH", path, "launch description (launch.json)")->required();
  app.add_option("--device", deviceName, "cuda[:N], hip[:N] or emulator:TARGET; default: the first GPU found");
  app.add_option("--reps", reps, "measured launches, after one warm-up launch (default 100)")->check(wholeNumber(1));
  numbers.add(app);
  app.add_option("--json", jsonFile, "write the figures as JSON (- for standard output)");
  cacheFlags.add(app);
  if (auto code = parseArguments(app, argc, argv)) return *code;
  std::unique_ptr<CompileCache> cache;
  if (int code = cacheFlags.open(cache)) return code;
  if (int code = checkOutputFiles({{"--json", jsonFile}}, {path})) return code;
  if (deviceName == "interpreter") return openMeasuredDevice(deviceName, device);
  Launch l;
  if (int code = l.readDescription(path)) return code;
  if (int code = checkInputsAreKept({{"--json", jsonFile}}, l.description.files())) return code;
  auto &d = l.description;
  if (int code = openMeasuredDevice(deviceName, device)) return code;
  if (auto *target = findTarget(device->target())) warnOfUnreadOptions(app, *target);
  auto diag = printingDiagnostics();
  CompileResult r;
  if (int code = l.readKernel(diag)) return code;
  CompileOptions o = l.options(*device);
  numbers.apply(o);
  if (int code = l.compile(*cache, *device, "", o, diag, r)) return code;
  CacheFlags::warn(*cache);
  auto values = l.arguments.values();
  LaunchTiming t;
  if (auto s = device->run(r.output, r.metadata, d.grid, values, reps, &t); !s.ok())
    return fail(kRunFailed, std::string(s.message()));
  auto &md = r.metadata;
  double perSecond = t.medianMs > 0 ? 1000 / t.medianMs : 0;
  if (jsonFile != "-") {
    llvm::outs() << llvm::formatv("{0} on {1} ({2}): median {3:f4} ms, min {4:f4} ms over {5} launch{6}", md.kernel,
                                  device->spec(), device->name(), t.medianMs, t.minMs, reps, reps == 1 ? "" : "es");
    if (d.flops > 0) llvm::outs() << llvm::formatv(", {0:f2} TFLOP/s", d.flops * perSecond / 1e12);
    if (d.bytesMoved > 0) llvm::outs() << llvm::formatv(", {0:f1} GB/s", d.bytesMoved * perSecond / 1e9);
    if (llvm::StringRef(device->spec()).starts_with("emulator:"))
      llvm::outs() << "; times of the emulator on this host, not of a GPU";
    llvm::outs() << "\n";
  }
  if (jsonFile.empty()) return kOk;
  llvm::json::Object figures{{"kernel", md.kernel}, {"device", device->spec()},   {"name", device->name()},
                             {"target", md.target}, {"driver", device->driver()}, {"num_warps", md.numWarps},
                             {"reps", reps},        {"median_ms", t.medianMs},    {"min_ms", t.minMs}};
  bool isObject = md.known >= runtime::KernelMetadata::Resources; // an emulator executes what has no registers yet
  figures["registers"] = isObject ? llvm::json::Value(md.registers) : llvm::json::Value(nullptr);
  figures["spill_bytes"] = isObject ? llvm::json::Value(md.spillBytes) : llvm::json::Value(nullptr);
  if (d.flops > 0) figures["tflops"] = d.flops * perSecond / 1e12;
  if (d.bytesMoved > 0) figures["gb_per_s"] = d.bytesMoved * perSecond / 1e9;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(figures)));
  return writeOutput(jsonFile, text) ? kOk : kRunFailed;
}

} // namespace tessera::tools
