// `tessera reduce FILE …`: shrinks a failing kernel (runtime/debug/reducer.h). The failure is an error or a crash of a
// compilation (--target) or of passes (--pass), or a launch on a device (--device with a launch description) that
// reports a fault or gives other results than the interpreter. Every candidate runs in a child process, so that a crash
// is a failure like any other.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/targets.h"
#include "runtime/debug/isolated.h"
#include "runtime/debug/reducer.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/npy.h"
#include "runtime/launcher.h"
#include "runtime/open_device.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/launch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <re2/re2.h>
#include <unistd.h>

namespace tessera::tools {
using namespace runtime;

namespace {

/// How a module fails; an empty kind: it does not. Two failures are the same if their signatures are.
struct Failure {
  std::string kind;
  std::string text;
  std::string encode() const { return kind + "\t" + text; }
  static Failure decode(llvm::StringRef s) {
    auto [kind, text] = s.split('\t');
    return {kind.str(), text.str()};
  }
  /// Whether there is nothing to compare with: the kernel is unreadable, or its results are not defined.
  bool invalidInput() const { return kind == "unreadable" || kind == "uninterpretable" || kind == "undefined"; }
  /// Kind and text without the parts that change as the kernel shrinks: numbers, names of values, positions in the
  /// text, and, in reports of devices, the operations.
  std::string signature() const {
    std::string s = llvm::StringRef(text).split('\n').first.str();
    if (kind == "report") { // "…, at FILE:1:2: race: it reads …": the kind of report is enough
      std::string what;
      if (RE2::PartialMatch(s, R"(at \S+:\d+:\d+: ([a-z][a-z ]*):)", &what)) return kind + ": " + what;
    }
    if (kind != "error") {
      RE2::GlobalReplace(&s, R"(\b(tt|ttg|ttng|arith|math|scf|cf|ub|amdg)\.[a-z_.]+ at [^\s,)]+)", "OP");
      RE2::GlobalReplace(&s, R"('[^']*')", "NAME");
    }
    RE2::GlobalReplace(&s, R"(%[\w.$#]+)", "%");
    RE2::GlobalReplace(&s, R"(\d+)", "N");
    RE2::GlobalReplace(&s, R"((Nx)+)", "Nx");
    return kind + ": " + s;
  }
};

/// What every candidate goes through: passes, a compilation for the target, or a launch on the device.
struct Trial {
  const ir::TargetInfo *target = nullptr;
  CompileOptions compile;
  transforms::Pipeline passes;
  std::string device;
};

constexpr double kFloatTolerance = 1e-5; // relative l2, where the description expects nothing

/// The tolerance of an argument's results.
double toleranceOf(const LaunchDescription &l, size_t arg) {
  for (auto &e : l.expected)
    if (e.arg == arg && e.within.empty()) return e.relL2;
  return isFloat(l.args[arg].dtype) ? kFloatTolerance : 0;
}

/// How a device's output differs from the interpreter's; empty: it does not. NaNs are equal to each other.
std::string difference(const LaunchArg &a, double limit, llvm::ArrayRef<uint8_t> actual,
                       llvm::ArrayRef<uint8_t> expected) {
  std::vector<double> bounds(size_t(a.elements()), 0);
  auto r = compareWithin(a.name, a.dtype, a.shape, actual, expected, bounds);
  if (r.ok) return "";
  if (isFloat(a.dtype) && limit > 0) {
    // The relative l2 error over the elements that are finite in both; a NaN or infinity in one alone is a difference.
    double error = 0;
    double norm = 0;
    bool special = false;
    for (int64_t i = 0; i < a.elements(); ++i) {
      double u = toDouble(a.dtype, &actual[i * dtypeBytes(a.dtype)]);
      double v = toDouble(a.dtype, &expected[i * dtypeBytes(a.dtype)]);
      if (std::isnan(u) && std::isnan(v)) continue;
      if (u == v) {
        if (std::isfinite(v)) norm += v * v;
        continue;
      }
      special |= !std::isfinite(u) || !std::isfinite(v);
      error += (u - v) * (u - v);
      norm += v * v;
    }
    if (!special && error <= limit * limit * norm) return "";
  }
  return r.line;
}

/// The interpreter's results in `expected`, by argument. They must not depend on undefined values, in which a device
/// may differ.
Failure interpretCandidate(const Trial &trial, ir::Module &m, ir::Operation *kernel, const LaunchDescription &l,
                           ir::DiagnosticEngine &diag, std::vector<std::vector<uint8_t>> &expected) {
  constexpr int64_t kMaxSteps = 1 << 24; // of one program: a reduced kernel is small
  for (bool zero : {false, true}) {
    auto args = prepareArguments(l, kernel);
    if (!args.ok()) return {"unreadable", std::string(args.status().message())};
    InterpreterOptions o;
    o.undefinedIsZero = zero;
    o.maxSteps = kMaxSteps;
    if (auto s = interpretLaunch(m, kernel, l, *args, o, diag); !s.ok())
      return {trial.device == "interpreter" ? "report" : "uninterpretable", std::string(s.message())};
    if (zero && args->buffers != expected) return {"undefined", ""};
    expected = std::move(args->buffers);
  }
  return {};
}

/// Launches the candidate on the trial's device and compares its buffers with `expected`.
Failure launchCandidate(const Trial &trial, ir::Module &m, ir::Operation *kernel, const LaunchDescription &l,
                        ir::DiagnosticEngine &diag, llvm::ArrayRef<std::vector<uint8_t>> expected) {
  llvm::StringRef spec(trial.device);
  auto device = spec.consume_front("emulator:") ? openEmulator(spec) : openDevice(trial.device);
  if (!device.ok()) return {"device", std::string(device.status().message())};
  auto target = requireTarget((*device)->target());
  if (!target.ok()) return {"device", std::string(target.status().message())};
  CompileOptions o = trial.compile;
  o.config() = l.config();
  o.kernel = l.kernel;
  if ((*device)->takesBitcode()) {
    o.stage = Stage::Llir;
    o.bitcode = o.lineInfo = o.opNames = true;
  }
  auto args = prepareArguments(l, kernel);
  if (!args.ok()) return {"unreadable", std::string(args.status().message())};
  auto r = compile(m, **target, o, diag);
  if (!r.ok()) return {"error", std::string(r.status().message())};
  auto values = args->values();
  if (auto s = (*device)->run(r->output, r->metadata, l.grid, values, 0, nullptr); !s.ok())
    return {"report", std::string(s.message())};
  for (size_t i = 0; i < l.args.size(); ++i) {
    if (l.args[i].isScalar) continue;
    auto &arg = l.args[i];
    auto d = difference(arg, toleranceOf(l, i), withoutGaps(arg, args->buffers[i]), withoutGaps(arg, expected[i]));
    if (!d.empty()) return {"difference", d};
  }
  return {};
}

/// Runs the trial on a candidate, in the child process.
Failure runTrial(const Trial &trial, Failing &candidate) {
  std::string text = ir::printToString(*candidate.module, {.locations = false});
  std::string firstError;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) {
    if (firstError.empty() && d.severity == ir::Severity::Error) firstError = d.message;
  });
  // The message of a failure is the first diagnostic, if there was one.
  auto withDiagnostic = [&](Failure f) {
    bool interpreterReport = f.kind == "report" && trial.device == "interpreter";
    bool reported = f.kind == "error" || f.kind == "uninterpretable" || interpreterReport;
    if (!f.kind.empty() && reported && !firstError.empty()) f.text = firstError;
    return f;
  };
  auto failureOf = [&](const absl::Status &s) {
    return s.ok() ? Failure() : withDiagnostic({"error", std::string(s.message())});
  };
  ir::Context context;
  auto m = frontend::parseModule(text, "reduced.mlir", context, diag, {.locateByText = true});
  if (!m) return {"unreadable", firstError};
  if (!trial.passes.empty()) {
    transforms::RunOptions run;
    run.target = trial.target;
    run.verifyEach = true;
    return failureOf(transforms::runPipeline(*m, trial.passes, run, diag));
  }
  if (!candidate.launch) return failureOf(compile(*m, *trial.target, trial.compile, diag).status());

  const LaunchDescription &l = *candidate.launch;
  auto kernel = selectKernel(*m, l.kernel);
  if (!kernel.ok()) return {"unreadable", std::string(kernel.status().message())};
  std::vector<std::vector<uint8_t>> expected;
  Failure f = interpretCandidate(trial, *m, *kernel, l, diag, expected);
  if (!f.kind.empty() || trial.device == "interpreter") return withDiagnostic(f);
  return withDiagnostic(launchCandidate(trial, *m, *kernel, l, diag, expected));
}

/// Runs the trial in a child process, for `limit` seconds at most.
Failure runIsolatedTrial(const Trial &trial, Failing &candidate, double limit) {
  Failure result;
  IsolatedWork w;
  w.jobs = 1;
  w.limitSeconds = limit;
  w.parts = [](size_t) { return 1; };
  w.work = [&](size_t, size_t, bool &) { return runTrial(trial, candidate).encode(); };
  w.done = [&](size_t, size_t, const std::string &s) { result = Failure::decode(s); };
  w.lost = [&](size_t, size_t, const std::string &what, const std::string &said) {
    // The last line of the child's output, such as LLVM's message.
    auto last = llvm::StringRef(said).trim().rsplit('\n');
    result = {"crash", what + (said.empty() ? "" : ": " + (last.second.empty() ? last.first : last.second).str())};
  };
  if (auto s = runIsolated(w); !s.empty()) result = {"device", s};
  return result;
}

/// Writes a temporary file and renames it: a reader gets the old file or the new one.
bool writeAtomically(const std::string &path, llvm::StringRef contents) {
  std::string part = path + ".part" + std::to_string(getpid());
  if (!writeOutput(part, contents)) return false;
  if (auto ec = llvm::sys::fs::rename(part, path)) {
    llvm::sys::fs::remove(part);
    fail(kRunFailed, path + ": " + ec.message());
    return false;
  }
  return true;
}

/// A launch description of the reduced kernel, with the interpreter's results as the expected ones, and its data beside
/// it.
class LaunchWriter {
public:
  LaunchWriter(const Failing &f, const std::string &stem)
      : launch_(*f.launch), stem_(stem), name_(llvm::sys::path::filename(stem).str()) {
    auto m = f.module->clone();
    auto kernel = selectKernel(*m, launch_.kernel);
    if (!kernel.ok()) return;
    auto args = prepareArguments(launch_, *kernel);
    if (!args.ok()) return;
    before_ = args->buffers;
    ir::DiagnosticEngine quiet;
    if (interpretLaunch(*m, *kernel, launch_, *args, {}, quiet).ok()) after_ = std::move(args->buffers);
  }

  /// False after an error was printed.
  bool write() {
    llvm::json::Array args;
    for (size_t i = 0; i < launch_.args.size(); ++i) {
      auto &arg = launch_.args[i];
      llvm::json::Object o{{"name", arg.name}};
      if (arg.isScalar)
        scalar(arg, o);
      else if (!buffer(i, o))
        return false;
      args.push_back(std::move(o));
    }
    const LaunchDescription &l = launch_;
    llvm::json::Object o{{"ttir", name_ + ".mlir"},
                         {"grid", llvm::json::Array{l.grid[0], l.grid[1], l.grid[2]}},
                         {"args", std::move(args)},
                         {"expected", std::move(expected_)}};
    for (auto &option : kernelOptions()) {
      int value = l.*option.field;
      bool alwaysWritten = option.field == &KernelConfig::numWarps || option.field == &KernelConfig::numStages;
      if (value != option.initial || alwaysWritten) o[option.key] = value;
    }
    if (!l.kernel.empty()) o["kernel"] = l.kernel;
    return writeAtomically(stem_ + ".json", llvm::formatv("{0:2}\n", llvm::json::Value(std::move(o))).str());
  }

private:
  static void scalar(const LaunchArg &arg, llvm::json::Object &o) {
    o["type"] = arg.scalarType;
    auto t = parseDType(arg.scalarType);
    if (t && isFloat(*t))
      o["scalar"] = arg.floatValue;
    else
      o["scalar"] = arg.intValue;
  }

  /// Writes the buffer as it lies in memory, whatever the original description had, and its expected contents.
  bool buffer(size_t i, llvm::json::Object &o) {
    auto &arg = launch_.args[i];
    llvm::json::Array shape;
    for (auto d : arg.shape) shape.push_back(d);
    o["dtype"] = dtypeName(arg.dtype);
    o["shape"] = std::move(shape);
    if (arg.offset) o["offset"] = arg.offset;
    if (arg.descriptor) {
      o["block_shape"] = llvm::json::Array(arg.descriptor->blockShape);
      o["strides"] = llvm::json::Array(arg.descriptor->strides);
      o["padding"] = arg.descriptor->nanPadding ? "nan" : "zero";
    }
    if (!before_.empty()) {
      std::string file = dataFile(i, ".npy");
      if (!writeData(file, arg.dtype, arg.shape, withoutGaps(arg, before_[i]))) return false;
      o["file"] = file;
    }
    bool written = !after_.empty() && after_[i] != before_[i];
    return !written || expectedData(i);
  }

  /// Writes the expected contents and the bounds of their elements. ("rel_l2" could not express the NaNs that are
  /// expected in memory that is not written.)
  bool expectedData(size_t i) {
    auto &arg = launch_.args[i];
    std::string wanted = dataFile(i, ".expected.npy");
    std::vector<uint8_t> after = withoutGaps(arg, after_[i]);
    if (!writeData(wanted, arg.dtype, arg.shape, after)) return false;
    double largest = 0;
    for (int64_t k = 0; k < arg.elements(); ++k) {
      double v = std::abs(toDouble(arg.dtype, &after[k * dtypeBytes(arg.dtype)]));
      if (std::isfinite(v)) largest = std::max(largest, v);
    }
    std::vector<double> bounds(size_t(arg.elements()), toleranceOf(launch_, i) * largest);
    llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(bounds.data()), bounds.size() * sizeof(double));
    std::string within = dataFile(i, ".within.npy");
    if (!writeData(within, DType::F64, arg.shape, bytes)) return false;
    expected_[std::to_string(i)] = llvm::json::Object{{"file", wanted}, {"within", within}};
    return true;
  }

  std::string dataFile(size_t i, llvm::StringRef suffix) const { return (name_ + "." + llvm::Twine(i) + suffix).str(); }
  bool writeData(const std::string &file, DType dtype, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> data) {
    auto folder = llvm::sys::path::parent_path(stem_);
    auto s = writeNpy(folder.empty() ? file : (folder + "/" + file).str(), dtype, shape, data);
    if (s.ok()) return true;
    fail(kRunFailed, std::string(s.message()));
    return false;
  }

  const LaunchDescription &launch_;
  std::string stem_;
  std::string name_;
  std::vector<std::vector<uint8_t>> before_; // contents by argument; empty: unknown
  std::vector<std::vector<uint8_t>> after_;  // the interpreter's
  llvm::json::Object expected_;
};

struct ReduceFlags {
  std::string input;
  std::string target;
  std::string emit;
  std::string output;
  std::string match;
  std::vector<std::string> passNames;
  int timeLimit = 300; // seconds
  int checkLimit = 30; // seconds of one trial

  void add(CLI::App &, Trial &);
  /// Checks the flags and completes the trial; an exit code after an error was printed.
  int complete(Trial &) const;

private:
  int addPasses(Trial &) const;
};

void ReduceFlags::add(CLI::App &app, Trial &trial) {
  app.add_option("FILE", input,
                 "the kernel (.mlir, .ttir), - for standard input; or with --device a launch description (.json)")
      ->required();
  app.add_option("--device", trial.device,
                 "run the launch on this device; a failure is a report or a difference from the interpreter");
  app.add_option("--target", target, "compile for this target; a failure is an error or a crash");
  app.add_option("--emit", emit, "compile to this stage only");
  app.add_option("--kernel", trial.compile.kernel, "the function to compile, if there are several");
  addKernelOptions(app, trial.compile);
  addExactNumWarps(app, trial.compile.exactNumWarps);
  addNoTensorMemory(app, trial.compile.tensorMemory);
  app.add_option("--pass", passNames,
                 "run this pass, NAME or NAME=\"KEY=VALUE …\" (may be repeated); a failure is an error or a crash")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--match", match,
                 "accept failures whose text matches this regular expression; default: failures like the first");
  app.add_option("-o", output,
                 "output file; with a launch description NAME.mlir, and NAME.json with its data beside it");
  app.add_option("--time-limit", timeLimit, "seconds in all (default 300); the smallest kernel so far is written then")
      ->check(wholeNumber(1, 1000000));
  app.add_option("--check-limit", checkLimit, "seconds of one try (default 30)")->check(wholeNumber(1, 1000000));
}

int ReduceFlags::complete(Trial &trial) const {
  if (!target.empty()) {
    auto t = requireTarget(target);
    if (!t.ok()) return fail(kUsage, std::string(t.status().message()));
    trial.target = *t;
  }
  if (!trial.device.empty() && (!passNames.empty() || trial.target))
    return fail(kUsage, "--device excludes --target and --pass");
  if (trial.device.empty() && passNames.empty() && !trial.target)
    return fail(kUsage, "one of --target, --pass and --device must say what fails; see `tessera reduce --help`");
  if (!emit.empty()) {
    if (!trial.target) return fail(kUsage, "--emit needs --target");
    auto s = parseStage(emit, *trial.target);
    if (!s.ok()) return fail(kUsage, std::string(s.status().message()));
    trial.compile.stage = *s;
  }
  if (trial.target) {
    auto s = runtime::checkOptions(*trial.target, trial.compile);
    if (s.ok()) s = runtime::checkEnvironment(*trial.target, trial.compile);
    if (!s.ok()) return fail(kUsage, std::string(s.message()));
  }
  return addPasses(trial);
}

int ReduceFlags::addPasses(Trial &trial) const {
  std::vector<llvm::StringRef> known;
  for (auto &p : transforms::allPasses()) known.push_back(p.name);
  for (auto &p : passNames) {
    auto [name, options] = llvm::StringRef(p).ltrim('-').split('=');
    auto *pass = transforms::findPass(name);
    if (!pass) return fail(kUsage, "--pass: unknown pass '" + name + "'" + suggest(name, known));
    auto step = transforms::parseStep(*pass, options);
    if (!step.ok()) return fail(kUsage, std::string(step.status().message()));
    trial.passes.push_back(*std::move(step));
  }
  return kOk;
}

/// NAME, for an -o that is NAME.mlir or NAME.
std::string stemOf(llvm::StringRef output) {
  output.consume_back(".mlir");
  return output.str();
}

/// Reads the launch description of a trial on a device; `irPath`: its kernel's file.
int readLaunch(const ReduceFlags &flags, const Trial &trial, ir::Context &context, Failing &f, std::string &irPath) {
  llvm::StringRef spec(trial.device);
  if (spec.consume_front("emulator:"))
    if (auto d = openEmulator(spec); !d.ok()) return fail(kUsage, std::string(d.status().message()));
  if (!llvm::StringRef(flags.input).ends_with(".json"))
    return fail(kUsage, "--device needs a launch description (.json)");
  if (flags.output == "-" || flags.output.empty())
    return fail(kUsage, "with a launch description -o is needed: NAME.mlir");
  std::string text;
  LaunchDescription d;
  if (int code = readDescription(flags.input, text, d)) return code;
  auto diag = printingDiagnostics();
  DescribedKernel kernel;
  if (int code = readDescribedKernel(d, text, context, diag, {}, kernel)) return code;
  irPath = kernel.path;
  f.module = std::move(kernel.module);
  // NAME.json is written beside NAME.mlir.
  std::string stem = stemOf(flags.output);
  if (int code = checkInputsAreKept({{"-o", stem + ".mlir"}, {"-o", stem + ".json"}}, d.files())) return code;
  f.launch = std::move(d);
  return kOk;
}

/// Why there is nothing to reduce, of a trial that does not fail.
std::string whatDoesNotFail(const Trial &trial) {
  if (trial.device == "interpreter") return "the interpreter evaluates it without a report";
  if (!trial.device.empty()) return "it runs, and its results agree with the interpreter's, on " + trial.device;
  if (!trial.passes.empty()) return "the passes do not fail on it";
  return "it compiles for " + trial.target->name.str();
}

/// Whether the kernel fails in a way that can be reduced; else an exit code after an error was printed.
int checkOriginal(const Failure &original, const Trial &trial, const std::string &irPath, const std::string &match,
                  const RE2 &re) {
  if (original.kind.empty()) return fail(kInputAtFault, irPath + ": nothing to reduce: " + whatDoesNotFail(trial));
  if (original.kind == "device")
    return fail(llvm::StringRef(original.text).starts_with("unknown device") ? kUsage : kRunFailed, original.text);
  if (original.kind == "undefined")
    return fail(kInputAtFault, irPath + ": its results depend on undefined values (masked-off elements without another "
                                        "value, memory that was not written)");
  if (original.invalidInput()) return fail(kInputAtFault, irPath + ": " + original.text);
  if (!match.empty() && !RE2::PartialMatch(original.text, re))
    return fail(kInputAtFault, irPath + ": the failure does not match --match: " + original.text);
  return kOk;
}

int writeReduced(const Failing &f, const std::string &output) {
  std::string text = ir::printToString(*f.module, {.locations = false});
  if (f.launch) {
    std::string stem = stemOf(output);
    bool written = writeAtomically(stem + ".mlir", text) && LaunchWriter(f, stem).write();
    return written ? kOk : kRunFailed;
  }
  bool toStandardOutput = output.empty() || output == "-";
  return (toStandardOutput ? writeOutput("", text) : writeAtomically(output, text)) ? kOk : kRunFailed;
}

} // namespace

int reduceCommand(int argc, char **argv) {
  CLI::App app("Shrinks a failing kernel", "tessera reduce");
  ReduceFlags flags;
  Trial trial;
  flags.add(app, trial);
  if (auto code = parseArguments(app, argc, argv)) return *code;
  auto start = std::chrono::steady_clock::now();
  RE2 re(flags.match, RE2::Quiet);
  if (!re.ok()) return fail(kUsage, "--match: bad regular expression '" + flags.match + "': " + re.error());
  if (int code = flags.complete(trial)) return code;
  if (int code = checkOutputFiles({{"-o", flags.output}}, {flags.input})) return code;
  ir::Context context;
  Failing f;
  std::string irPath = flags.input;
  if (!trial.device.empty()) {
    if (int code = readLaunch(flags, trial, context, f, irPath)) return code;
  } else {
    auto buffer = readInput(irPath);
    if (!buffer) return kInputAtFault;
    auto diag = printingDiagnostics();
    f.module = frontend::parseModule(buffer->getBuffer(), irPath == "-" ? "<stdin>" : irPath, context, diag);
    if (!f.module) return kInputAtFault;
  }

  Failure original = runIsolatedTrial(trial, f, flags.checkLimit);
  if (int code = checkOriginal(original, trial, irPath, flags.match, re)) return code;
  llvm::errs() << "fails: " << original.text << "\n";
  std::string signature = original.signature();

  bool terminal = isatty(STDERR_FILENO);
  ReduceOptions o;
  o.stop = [&] { return std::chrono::steady_clock::now() - start > std::chrono::seconds(flags.timeLimit); };
  o.fails = [&](Failing &candidate) {
    Failure now = runIsolatedTrial(trial, candidate, flags.checkLimit);
    if (now.kind.empty()) return false;
    if (flags.match.empty()) return now.signature() == signature;
    return !now.invalidInput() && RE2::PartialMatch(now.text, re);
  };
  if (terminal)
    o.progress = [](size_t operations, size_t checks) {
      llvm::errs() << "\r\033[K" << operations << " operations left, " << checks << " tries";
    };
  auto r = reduce(f, o);
  if (terminal) llvm::errs() << "\r\033[K";
  llvm::errs() << r.operationsBefore << " operations became " << r.operationsAfter << " in " << r.checks
               << (r.checks == 1 ? " try" : " tries") << (r.finished ? "" : "; the time was over") << "\n";
  return writeReduced(f, flags.output);
}

} // namespace tessera::tools
