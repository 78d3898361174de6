// `tessera run LAUNCH.json --device DEV [--out DIR] [--check]`: runs a kernel and checks what comes out; `tessera bench` with
// the same descriptions: measures it.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/compiler.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/launcher.h"
#include "runtime/npy.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <unistd.h>

namespace tessera::tools {
using namespace runtime;

/// A description on standard input; its files are relative to the working directory.
static absl::StatusOr<LaunchDescription> readLaunchFromInput() {
  auto text = llvm::MemoryBuffer::getSTDIN();
  if (!text) return absl::InvalidArgumentError("<stdin>: " + text.getError().message());
  return parseLaunch((*text)->getBuffer(), "<stdin>");
}

/// A description's errors, `FILE:LINE:COL: what` on a line each, in the form of all diagnostics: with the line they are
/// about and a caret.
static void printLocated(llvm::StringRef errors, const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  llvm::StringRef text = buffer ? (*buffer)->getBuffer() : "";
  llvm::SmallVector<llvm::StringRef, 8> lines, textLines;
  errors.split(lines, '\n');
  text.split(textLines, '\n');
  for (auto line : lines) {
    ir::Diagnostic d;
    llvm::StringRef rest = line;
    if (!rest.consume_front(path == "-" ? "<stdin>:" : path + ":") || rest.consumeInteger(10, d.position.line) || !rest.consume_front(":") || rest.consumeInteger(10, d.position.col) || !rest.consume_front(": ")) {
      fail(kInputAtFault, line);
      continue;
    }
    d.position.file = path == "-" ? "<stdin>" : path;
    d.message = rest.str();
    if (d.position.line <= textLines.size() && path != "-") d.snippet = ir::lineWithCaret(textLines[d.position.line - 1].rtrim('\r'), d.position.col);
    llvm::errs() << ir::render(d);
  }
}

namespace {

/// A description with its kernel and arguments. What fails is printed, and gives the exit code.
struct Launch {
  LaunchDescription description;
  ir::Context context;
  std::unique_ptr<ir::Module> module;
  ir::Operation *kernel = nullptr;
  LaunchArguments arguments;

  int readDescription(const std::string &path) {
    auto d = path == "-" ? readLaunchFromInput() : readLaunch(path);
    if (!d.ok()) {
      printLocated(std::string(d.status().message()), path);
      return kInputAtFault;
    }
    if (d->ttir.empty()) return fail(kInputAtFault, path + ": \"ttir\" is missing");
    description = *std::move(d);
    return kOk;
  }
  int readKernel(ir::DiagnosticEngine &diag) {
    std::string path = description.resolve(description.ttir);
    auto buffer = readInput(path);
    if (!buffer) return kInputAtFault;
    module = frontend::parseModule(buffer->getBuffer(), path, context, diag, {.locateByText = true});
    if (!module) return kInputAtFault;
    auto k = selectKernel(*module, description.kernel);
    if (!k.ok()) return fail(kInputAtFault, path + ": " + std::string(k.status().message()));
    kernel = *k;
    auto args = prepareArguments(description, kernel);
    if (!args.ok()) return fail(kInputAtFault, std::string(args.status().message()));
    arguments = *std::move(args);
    return kOk;
  }
  /// For the device, or for a target that was asked for; warps and stages 0, and the others where there are none: the description's.
  int compile(const Device &device, const std::string &targetName, int warps, int stages, std::optional<int> waves, std::optional<int> nonkdim, ir::DiagnosticEngine &diag, CompileResult &out) {
    auto t = requireTarget(targetName.empty() ? device.target() : targetName);
    if (!t.ok()) return fail(kRunFailed, device.name() + ": " + std::string(t.status().message())); // the device's own
    CompileOptions o;
    o.numWarps = warps ? warps : description.numWarps;
    o.numStages = stages ? stages : description.numStages;
    o.numCtas = description.numCtas;
    o.wavesPerEu = waves.value_or(description.wavesPerEu);
    o.matrixInstrNonkdim = nonkdim.value_or(description.matrixInstrNonkdim);
    o.kernel = kernel->cast<ir::tt::FuncOp>().symName().str();
    if (device.takesBitcode()) o.stage = Stage::Llir, o.bitcode = o.lineInfo = o.opNames = true;
    auto r = runtime::compile(*module, **t, o, diag);
    if (!r.ok()) {
      int code = absl::IsInvalidArgument(r.status()) || absl::IsResourceExhausted(r.status()) ? kInputAtFault : kRunFailed;
      return diag.errors() ? code : fail(code, std::string(r.status().message()));
    }
    out = *std::move(r);
    return kOk;
  }
};

} // namespace

int runCommand(int argc, char **argv) {
  CLI::App app("Runs a kernel as a launch description says", "tessera run");
  std::string path, deviceName, outDir, targetName;
  bool doCheck = false;
  int warps = 0, stages = 0, reps = 0, threads = 1;
  std::optional<int> waves, nonkdim;
  app.add_option("LAUNCH", path, "launch description (launch.json)")->required();
  app.add_option("--device", deviceName, "interpreter, emulator:TARGET, cuda[:N] or hip[:N]; default: the first GPU found, else the interpreter");
  app.add_flag("--check", doCheck, "compare the expected outputs");
  app.add_option("--out", outDir, "write the buffers after the run as .npy files");
  app.add_option("--target", targetName, "compile for this target instead of the GPU's own");
  app.add_option("--num-warps", warps, "warps per block, instead of the description's")->check(powerOfTwo);
  app.add_option("--num-stages", stages, "pipeline stages, instead of the description's")->check(wholeNumber(1));
  app.add_option("--waves-per-eu", waves, "AMD: waves of a SIMD that registers are to allow, instead of the description's")->check(wholeNumber(0, 16));
  app.add_option("--matrix-instr-nonkdim", nonkdim, "AMD: rows and columns of matrix instructions, instead of the description's")->check(matrixTile);
  app.add_option("--reps", reps, "launch so many more times and print the time (on GPUs and emulators)")->check(wholeNumber(0));
  app.add_option("--threads", threads, "programs that run at once: on the interpreter atomics then happen in any order; on an emulator the results are the same")->check(wholeNumber(1, 1024));
  bool counters = false;
  std::vector<std::string> off;
  emulator::Options eo;
  app.add_flag("--counters", counters, "emulator: print what each access, barrier and shuffle did, and the most registers that a thread holds live");
  app.add_option("--no-check", off, "emulator: turn checks off: bounds, alignment, undefined, races, wraps, all")->delimiter(',');
  std::string undefined = "ones";
  app.add_option("--undefined", undefined, "interpreter: bits of elements that nothing defines, as a masked load without a value for the rest leaves them: ones (NaN, -1) or zeros")->check(CLI::IsMember({"ones", "zeros"}));
  app.add_option("--max-instructions", eo.maxInstructions, "emulator: give up when a block's warps have executed so many")->check(wholeNumber(1));
  if (auto code = parseArguments(app, argc, argv)) return *code;
  emulator::Report report;
  eo.counters = counters;
  eo.threads = threads;
  if (!llvm::StringRef(deviceName).starts_with("emulator:") && (counters || !off.empty())) return fail(kUsage, "--counters and --no-check need --device emulator:TARGET");
  if (!deviceName.empty() && deviceName != "interpreter" && app.count("--undefined")) return fail(kUsage, "--undefined needs --device interpreter");
  for (auto &name : off) {
    bool all = name == "all", known = all;
    std::pair<const char *, bool *> checks[] = {{"bounds", &eo.checks.bounds}, {"alignment", &eo.checks.alignment}, {"undefined", &eo.checks.undefined}, {"races", &eo.checks.races}, {"wraps", &eo.checks.wraps}};
    for (auto [n, on] : checks)
      if (all || name == n) *on = false, known = true;
    if (!known) return fail(kUsage, "--no-check " + name + ": the checks are bounds, alignment, undefined, races, wraps, and all for all of them");
  }
  Launch l;
  if (int code = l.readDescription(path)) return code;
  if (!targetName.empty())
    if (auto t = requireTarget(targetName); !t.ok()) return fail(kUsage, std::string(t.status().message()));
  std::unique_ptr<Device> device;
  if (deviceName.empty()) {
    std::vector<std::string> problems;
    auto all = enumerateDevices(problems);
    if (!all.empty()) device = std::move(all[0]);
    else deviceName = "interpreter";
  } else if (deviceName != "interpreter") {
    llvm::StringRef spec(deviceName);
    auto opened = spec.consume_front("emulator:") ? openEmulator(spec, eo, &report) : openDevice(deviceName);
    if (!opened.ok()) return fail(absl::IsInvalidArgument(opened.status()) ? kUsage : kRunFailed, std::string(opened.status().message()));
    device = std::move(*opened);
  }
  if (!device && reps) return fail(kUsage, "--reps needs a GPU or an emulator");
  if (!device && !targetName.empty()) return fail(kUsage, "--target needs a GPU: the interpreter evaluates the text");
  if (device && device->takesBitcode() && !targetName.empty() && (*requireTarget(targetName))->name != device->target()) return fail(kUsage, "--target " + targetName + " needs a GPU: " + deviceName + " executes code for its own target");
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
    if (isatty(2)) o.progress = [&](int64_t done, int64_t all) {
      if (shown < 0 && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500)) return;
      if (done * 100 / all != shown) llvm::errs() << "\r" << (shown = done * 100 / all) << " % of " << all << " programs" << (done == all ? "\r\033[K" : "");
    };
    auto s = interpretLaunch(*l.module, l.kernel, d, l.arguments, o, diag);
    if (!s.ok()) return diag.errors() ? kRunFailed : fail(kRunFailed, std::string(s.message()));
  } else {
    CompileResult r;
    if (int code = l.compile(*device, targetName, warps, stages, waves, nonkdim, diag, r)) return code;
    auto values = l.arguments.values();
    LaunchTiming timing;
    auto s = device->run(r.output, r.metadata, d.grid, values, reps, &timing);
    if (!s.ok()) return fail(kRunFailed, std::string(s.message()));
    if (counters) llvm::outs() << emulator::counterTable(report);
    if (reps) llvm::outs() << llvm::formatv("{0}: median {1:f4} ms, min {2:f4} ms over {3} launches\n", d.kernel, timing.medianMs, timing.minMs, reps);
  }
  if (!outDir.empty()) {
    if (auto ec = llvm::sys::fs::create_directories(outDir)) return fail(kRunFailed, outDir + ": " + ec.message());
    for (unsigned i = 0; i < d.args.size(); ++i)
      if (!d.args[i].isScalar)
        if (auto s = writeNpy(outDir + "/" + d.args[i].name + ".npy", d.args[i].dtype, d.args[i].shape, l.arguments.buffers[i]); !s.ok()) return fail(kRunFailed, std::string(s.message()));
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

int benchCommand(int argc, char **argv) {
  CLI::App app("Measures a kernel as a launch description says", "tessera bench");
  std::string path, deviceName, jsonFile;
  int warps = 0, stages = 0, reps = 100;
  std::optional<int> waves, nonkdim;
  app.add_option("LAUNCH", path, "launch description (launch.json)")->required();
  app.add_option("--device", deviceName, "cuda[:N], hip[:N] or emulator:TARGET; default: the first GPU found");
  app.add_option("--reps", reps, "launches that are measured, after one that is not (default 100)")->check(wholeNumber(1));
  app.add_option("--num-warps", warps, "warps per block, instead of the description's")->check(powerOfTwo);
  app.add_option("--num-stages", stages, "pipeline stages, instead of the description's")->check(wholeNumber(1));
  app.add_option("--waves-per-eu", waves, "AMD: waves of a SIMD that registers are to allow, instead of the description's")->check(wholeNumber(0, 16));
  app.add_option("--matrix-instr-nonkdim", nonkdim, "AMD: rows and columns of matrix instructions, instead of the description's")->check(matrixTile);
  app.add_option("--json", jsonFile, "write the figures as JSON (- for standard output)");
  if (auto code = parseArguments(app, argc, argv)) return *code;
  if (deviceName == "interpreter") return fail(kUsage, "the interpreter's time says nothing of a kernel: --device is a GPU or an emulator");
  Launch l;
  if (int code = l.readDescription(path)) return code;
  auto &d = l.description;
  std::unique_ptr<Device> device;
  if (deviceName.empty()) {
    std::vector<std::string> problems;
    auto all = enumerateDevices(problems);
    if (all.empty()) return fail(kUsage, "no GPU found, so --device is needed");
    device = std::move(all[0]);
  } else {
    auto opened = openDevice(deviceName);
    if (!opened.ok()) return fail(absl::IsInvalidArgument(opened.status()) ? kUsage : kRunFailed, std::string(opened.status().message()));
    device = std::move(*opened);
  }
  auto diag = printingDiagnostics();
  CompileResult r;
  if (int code = l.readKernel(diag)) return code;
  if (int code = l.compile(*device, "", warps, stages, waves, nonkdim, diag, r)) return code;
  auto values = l.arguments.values();
  LaunchTiming t;
  if (auto s = device->run(r.output, r.metadata, d.grid, values, reps, &t); !s.ok()) return fail(kRunFailed, std::string(s.message()));
  auto &md = r.metadata;
  double perSecond = t.medianMs > 0 ? 1000 / t.medianMs : 0;
  if (jsonFile != "-") {
    llvm::outs() << llvm::formatv("{0} on {1} ({2}): median {3:f4} ms, min {4:f4} ms over {5} launches", md.kernel, device->spec(), device->name(), t.medianMs, t.minMs, reps);
    if (d.flops > 0) llvm::outs() << llvm::formatv(", {0:f2} TFLOP/s", d.flops * perSecond / 1e12);
    if (d.bytesMoved > 0) llvm::outs() << llvm::formatv(", {0:f1} GB/s", d.bytesMoved * perSecond / 1e9);
    llvm::outs() << "\n";
  }
  if (jsonFile.empty()) return kOk;
  llvm::json::Object o{{"kernel", md.kernel}, {"device", device->spec()}, {"name", device->name()}, {"target", md.target}, {"driver", device->driver()}, {"num_warps", md.numWarps}, {"reps", reps}, {"median_ms", t.medianMs}, {"min_ms", t.minMs}, {"registers", md.registers}, {"spill_bytes", md.spillBytes}};
  if (d.flops > 0) o["tflops"] = d.flops * perSecond / 1e12;
  if (d.bytesMoved > 0) o["gb_per_s"] = d.bytesMoved * perSecond / 1e9;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(o)));
  return writeOutput(jsonFile, text) ? kOk : kRunFailed;
}

int devicesCommand(int argc, char **argv) {
  CLI::App app("Lists the GPUs of this machine with their targets", "tessera devices");
  if (auto code = parseArguments(app, argc, argv)) return *code;
  std::vector<std::string> problems;
  for (auto &d : enumerateDevices(problems)) llvm::outs() << llvm::formatv("{0}  {1}  {2}  {3} MiB  {4}\n", d->spec(), d->name(), d->target(), d->memoryBytes() >> 20, d->driver());
  llvm::outs() << "interpreter  any IR\nemulator:TARGET  any target, on the CPU\n";
  for (auto &p : problems) llvm::outs() << "note: " << p << "\n";
  return kOk;
}

} // namespace tessera::tools
