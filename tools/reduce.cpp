// `tessera reduce FILE …`: makes a failing kernel small (runtime/debug/reducer.h). What fails: a compilation
// (--target), passes (--pass), or a launch on a device, whose results differ from the interpreter's or which reports
// a fault (a launch description with --device). Every candidate is tried in a child process: a crash is a failure
// like others.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "runtime/debug/isolated.h"
#include "runtime/debug/reducer.h"
#include "runtime/device.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/launch/npy.h"
#include "runtime/launcher.h"
#include "tools/arguments.h"
#include "tools/commands.h"
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

/// What a module does wrong: empty kind, nothing. Two failures are the same if kind and normalised text are.
struct Failure {
  std::string kind, text;
  std::string encode() const { return kind + "\t" + text; }
  static Failure decode(llvm::StringRef s) {
    auto [kind, text] = s.split('\t');
    return {kind.str(), text.str()};
  }
  /// Without what changes as the kernel shrinks: numbers, names of values, places in the text, and, in reports of
  /// devices, the operations concerned.
  std::string same() const {
    std::string s = llvm::StringRef(text).split('\n').first.str();
    if (kind == "report") { // "…, at FILE:1:2: race: it reads …": who met whom does not matter
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

struct Question {
  const ir::TargetInfo *target = nullptr;
  CompileOptions compile;
  transforms::Pipeline passes;
  std::string device;
};

/// Whether a device's output is another than the interpreter's; empty: it is not. NaNs are equal to each other.
std::string difference(const LaunchArg &a, double limit, llvm::ArrayRef<uint8_t> actual,
                       llvm::ArrayRef<uint8_t> expected) {
  std::vector<double> bounds(size_t(a.elements()), 0);
  auto r = compareWithin(a.name, a.dtype, a.shape, actual, expected, bounds);
  if (r.ok) return "";
  if (isFloat(a.dtype) &&
      limit > 0) { // rel_l2 over what is a number in both; a NaN or infinity of one alone is a difference
    double error = 0, norm = 0;
    bool special = false;
    for (int64_t i = 0; i < a.elements(); ++i) {
      double u = toDouble(a.dtype, &actual[i * dtypeBytes(a.dtype)]),
             v = toDouble(a.dtype, &expected[i * dtypeBytes(a.dtype)]);
      if (std::isnan(u) && std::isnan(v)) continue;
      if (u == v) {
        if (std::isfinite(v)) norm += v * v;
        continue;
      }
      special |= !std::isfinite(u) || !std::isfinite(v);
      error += (u - v) * (u - v), norm += v * v;
    }
    if (!special && error <= limit * limit * norm) return "";
  }
  return r.line;
}

/// Runs in the child: what this module does.
Failure observe(const Question &q, Failing &f) {
  std::string text = ir::printToString(*f.module, {.locations = false});
  std::string first;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) {
    if (first.empty() && d.severity == ir::Severity::Error) first = d.message;
  });
  auto message = [&](const absl::Status &s) { return first.empty() ? std::string(s.message()) : first; };
  ir::Context context;
  auto parse = [&] { return frontend::parseModule(text, "reduced.mlir", context, diag, {.locateByText = true}); };
  auto m = parse();
  if (!m) return {"unreadable", first};
  if (!q.passes.empty()) {
    transforms::RunOptions run;
    run.target = q.target;
    run.verifyEach = true;
    auto s = transforms::runPipeline(*m, q.passes, run, diag);
    return s.ok() ? Failure() : Failure{"error", message(s)};
  }
  if (!f.launch) {
    auto r = compile(*m, *q.target, q.compile, diag);
    return r.ok() ? Failure() : Failure{"error", message(r.status())};
  }
  const LaunchDescription &l = *f.launch;
  auto kernel = selectKernel(*m, l.kernel);
  if (!kernel.ok()) return {"unreadable", std::string(kernel.status().message())};
  // What is undefined must not reach the results: it may differ as it likes.
  std::vector<std::vector<uint8_t>> expected;
  for (bool zero : {false, true}) {
    auto args = prepareArguments(l, *kernel);
    if (!args.ok()) return {"unreadable", std::string(args.status().message())};
    InterpreterOptions o;
    o.undefinedIsZero = zero;
    o.maxSteps = 1 << 24;
    if (auto s = interpretLaunch(*m, *kernel, l, *args, o, diag); !s.ok())
      return {q.device == "interpreter" ? "report" : "uninterpretable", message(s)};
    if (zero && args->buffers != expected) return {"undefined", ""};
    expected = std::move(args->buffers);
  }
  if (q.device == "interpreter") return {};
  llvm::StringRef spec(q.device);
  auto device = spec.consume_front("emulator:") ? openEmulator(spec) : openDevice(q.device);
  if (!device.ok()) return {"device", std::string(device.status().message())};
  auto target = requireTarget((*device)->target());
  if (!target.ok()) return {"device", std::string(target.status().message())};
  CompileOptions o = q.compile;
  o.numWarps = l.numWarps, o.numStages = l.numStages, o.numCtas = l.numCtas, o.wavesPerEu = l.wavesPerEu,
  o.matrixInstrNonkdim = l.matrixInstrNonkdim, o.kernel = l.kernel;
  if ((*device)->takesBitcode()) o.stage = Stage::Llir, o.bitcode = o.lineInfo = o.opNames = true;
  auto args = prepareArguments(l, *kernel);
  if (!args.ok()) return {"unreadable", std::string(args.status().message())};
  auto r = compile(*m, **target, o, diag);
  if (!r.ok()) return {"error", message(r.status())};
  auto values = args->values();
  if (auto s = (*device)->run(r->output, r->metadata, l.grid, values, 0, nullptr); !s.ok())
    return {"report", std::string(s.message())};
  for (size_t i = 0; i < l.args.size(); ++i) {
    if (l.args[i].isScalar) continue;
    double limit = isFloat(l.args[i].dtype) ? 1e-5 : 0;
    for (auto &e : l.expected)
      if (e.arg == i && e.within.empty()) limit = e.relL2;
    if (auto d = difference(l.args[i], limit, args->buffers[i], expected[i]); !d.empty()) return {"difference", d};
  }
  return {};
}

/// In a child process, within the limit.
Failure ask(const Question &q, Failing &f, double limit) {
  Failure result;
  IsolatedWork w;
  w.jobs = 1;
  w.limitSeconds = limit;
  w.parts = [](size_t) { return 1; };
  w.work = [&](size_t, size_t, bool &) { return observe(q, f).encode(); };
  w.done = [&](size_t, size_t, const std::string &s) { result = Failure::decode(s); };
  w.lost = [&](size_t, size_t, const std::string &what, const std::string &said) {
    // The last line that says something, such as LLVM's own complaint.
    auto last = llvm::StringRef(said).trim().rsplit('\n');
    result = {"crash", what + (said.empty() ? "" : ": " + (last.second.empty() ? last.first : last.second).str())};
  };
  if (auto s = runIsolated(w); !s.empty()) result = {"device", s};
  return result;
}

/// Written beside and renamed: whoever looks sees the old file or the new one.
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

/// A launch description of the reduced kernel beside it, with what the interpreter gives as what is expected.
bool writeLaunch(const Failing &f, const std::string &stem) {
  const LaunchDescription &l = *f.launch;
  llvm::json::Array args;
  llvm::json::Object expected;
  auto m = f.module->clone();
  auto kernel = selectKernel(*m, l.kernel);
  ir::DiagnosticEngine quiet;
  auto a = kernel.ok() ? prepareArguments(l, *kernel) : absl::StatusOr<LaunchArguments>(kernel.status());
  bool interpreted = a.ok();
  std::vector<std::vector<uint8_t>> before;
  if (interpreted) before = a->buffers, interpreted = interpretLaunch(*m, *kernel, l, *a, {}, quiet).ok();
  auto name = llvm::sys::path::filename(stem).str();
  for (size_t i = 0; i < l.args.size(); ++i) {
    auto &x = l.args[i];
    llvm::json::Object o{{"name", x.name}};
    if (x.isScalar) {
      o["type"] = x.scalarType;
      auto t = parseDType(x.scalarType);
      if (t && isFloat(*t))
        o["scalar"] = x.floatValue;
      else
        o["scalar"] = x.intValue;
    } else {
      llvm::json::Array shape;
      for (auto d : x.shape) shape.push_back(d);
      o["dtype"] = dtypeName(x.dtype), o["shape"] = std::move(shape);
      // As memory lies, whatever the original said.
      std::string file = name + "." + std::to_string(i) + ".npy";
      if (!before.empty()) {
        if (auto s = writeNpy(llvm::sys::path::parent_path(stem).empty()
                                  ? file
                                  : (llvm::sys::path::parent_path(stem) + "/" + file).str(),
                              x.dtype, x.shape, before[i]);
            !s.ok())
          return fail(kRunFailed, std::string(s.message())), false;
        o["file"] = file;
      }
      if (interpreted && a->buffers[i] != before[i]) {
        std::string wanted = name + "." + std::to_string(i) + ".expected.npy";
        if (auto s = writeNpy(llvm::sys::path::parent_path(stem).empty()
                                  ? wanted
                                  : (llvm::sys::path::parent_path(stem) + "/" + wanted).str(),
                              x.dtype, x.shape, a->buffers[i]);
            !s.ok())
          return fail(kRunFailed, std::string(s.message())), false;
        double limit = isFloat(x.dtype) ? 1e-5 : 0;
        for (auto &e : l.expected)
          if (e.arg == i && e.within.empty()) limit = e.relL2;
        // A NaN is expected where memory was not written, which "rel_l2" has no word for.
        double largest = 0;
        for (int64_t k = 0; k < x.elements(); ++k)
          if (double v = std::abs(toDouble(x.dtype, &a->buffers[i][k * dtypeBytes(x.dtype)])); std::isfinite(v))
            largest = std::max(largest, v);
        std::vector<double> bounds(size_t(x.elements()), limit * largest);
        std::string within = name + "." + std::to_string(i) + ".within.npy";
        if (auto s = writeNpy(
                llvm::sys::path::parent_path(stem).empty() ? within
                                                           : (llvm::sys::path::parent_path(stem) + "/" + within).str(),
                DType::F64, x.shape,
                llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bounds.data()), bounds.size() * sizeof(double)));
            !s.ok())
          return fail(kRunFailed, std::string(s.message())), false;
        expected[std::to_string(i)] = llvm::json::Object{{"file", wanted}, {"within", within}};
      }
    }
    args.push_back(std::move(o));
  }
  llvm::json::Object o{{"ttir", name + ".mlir"},  {"grid", llvm::json::Array{l.grid[0], l.grid[1], l.grid[2]}},
                       {"num_warps", l.numWarps}, {"num_stages", l.numStages},
                       {"args", std::move(args)}, {"expected", std::move(expected)}};
  if (l.wavesPerEu) o["waves_per_eu"] = l.wavesPerEu;
  if (l.matrixInstrNonkdim) o["matrix_instr_nonkdim"] = l.matrixInstrNonkdim;
  if (!l.kernel.empty()) o["kernel"] = l.kernel;
  return writeAtomically(stem + ".json", llvm::formatv("{0:2}\n", llvm::json::Value(std::move(o))).str());
}

} // namespace

int reduceCommand(int argc, char **argv) {
  CLI::App app("Makes a failing kernel small", "tessera reduce");
  std::string input, target, emit, output, match;
  std::vector<std::string> passNames;
  Question q;
  int timeLimit = 300, checkLimit = 30;
  app.add_option("FILE", input,
                 "the kernel (.mlir, .ttir), - for standard input; or with --device a launch description (.json)")
      ->required();
  app.add_option("--device", q.device,
                 "run the launch on this device; what fails is a report, or a difference from the interpreter");
  app.add_option("--target", target, "compile for this target; what fails is an error or a crash");
  app.add_option("--emit", emit, "compile to this stage only");
  app.add_option("--kernel", q.compile.kernel, "which function of several");
  app.add_option("--num-warps", q.compile.numWarps, "warps per block")->check(powerOfTwo);
  app.add_option("--num-stages", q.compile.numStages, "stages of software pipelines")->check(wholeNumber(1));
  app.add_option(
         "--pass", passNames,
         "run this pass, NAME or NAME=\"KEY=VALUE …\" (may be given several times); what fails is an error or a crash")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--match", match,
                 "the failure is one whose text matches this regular expression, not one like the first");
  app.add_option("-o", output,
                 "output file; with a launch description NAME.mlir, and NAME.json with its data beside it");
  app.add_option("--time-limit", timeLimit, "seconds in all (default 300); what was reached until then is written")
      ->check(wholeNumber(1, 1000000));
  app.add_option("--check-limit", checkLimit, "seconds that one try may take (default 30)")
      ->check(wholeNumber(1, 1000000));
  if (auto code = parseArguments(app, argc, argv)) return *code;
  auto start = std::chrono::steady_clock::now();
  RE2 re(match, RE2::Quiet);
  if (!re.ok()) return fail(kUsage, "--match: bad regular expression '" + match + "': " + re.error());
  if (!target.empty()) {
    auto t = requireTarget(target);
    if (!t.ok()) return fail(kUsage, std::string(t.status().message()));
    q.target = *t;
  }
  if (!q.device.empty() && (!passNames.empty() || q.target))
    return fail(kUsage, "--device excludes --target and --pass");
  if (q.device.empty() && passNames.empty() && !q.target)
    return fail(kUsage, "what fails? --target, --pass or --device says it; `tessera reduce --help` tells more");
  if (!emit.empty()) {
    if (!q.target) return fail(kUsage, "--emit needs --target");
    auto s = parseStage(emit, *q.target);
    if (!s.ok()) return fail(kUsage, std::string(s.status().message()));
    q.compile.stage = *s;
  }
  std::vector<llvm::StringRef> known;
  for (auto &p : transforms::allPasses()) known.push_back(p.name);
  for (auto &p : passNames) {
    auto [name, options] = llvm::StringRef(p).ltrim('-').split('=');
    auto *pass = transforms::findPass(name);
    if (!pass) return fail(kUsage, "--pass: unknown pass '" + name + "'" + suggest(name, known));
    auto step = transforms::parseStep(*pass, options);
    if (!step.ok()) return fail(kUsage, std::string(step.status().message()));
    q.passes.push_back(*std::move(step));
  }
  Failing f;
  std::string irPath = input;
  if (!q.device.empty()) {
    if (q.device != "interpreter") {
      llvm::StringRef spec(q.device);
      if (spec.consume_front("emulator:"))
        if (auto d = openEmulator(spec); !d.ok()) return fail(kUsage, std::string(d.status().message()));
    }
    if (!llvm::StringRef(input).ends_with(".json")) return fail(kUsage, "--device needs a launch description (.json)");
    if (output == "-" || output.empty()) return fail(kUsage, "with a launch description -o is needed: NAME.mlir");
    auto text = readInput(input);
    if (!text) return kInputAtFault;
    auto d = readLaunchText(text->getBuffer(), input);
    if (!d.ok()) return failLocated(std::string(d.status().message()), input, text->getBuffer());
    if (d->ttir.empty()) return fail(kInputAtFault, input + ": \"ttir\" is missing");
    irPath = d->resolve(d->ttir);
    f.launch = std::move(*d);
  }
  auto buffer = readInput(irPath);
  if (!buffer) return kInputAtFault;
  ir::Context context;
  auto diag = printingDiagnostics();
  f.module = frontend::parseModule(buffer->getBuffer(), irPath == "-" ? "<stdin>" : irPath, context, diag);
  if (!f.module) return kInputAtFault;

  Failure original = ask(q, f, checkLimit);
  if (original.kind.empty()) return fail(kInputAtFault, irPath + ": does not fail: nothing to reduce");
  if (original.kind == "device")
    return fail(llvm::StringRef(original.text).starts_with("unknown device") ? kUsage : kRunFailed, original.text);
  if (original.kind == "unreadable" || original.kind == "uninterpretable" || original.kind == "undefined")
    return fail(kInputAtFault,
                irPath + ": " +
                    (original.kind == "undefined" ? "its results depend on what is undefined (masked-off elements "
                                                    "without another value, memory that was not written)"
                                                  : original.text));
  if (!match.empty() && !RE2::PartialMatch(original.text, re))
    return fail(kInputAtFault, irPath + ": fails otherwise than --match says: " + original.text);
  llvm::errs() << "fails: " << original.text << "\n";
  std::string same = original.same();

  bool terminal = isatty(2);
  ReduceOptions o;
  o.stop = [&] { return std::chrono::steady_clock::now() - start > std::chrono::seconds(timeLimit); };
  o.fails = [&](Failing &c) {
    Failure now = ask(q, c, checkLimit);
    if (now.kind.empty()) return false;
    return match.empty() ? now.same() == same
                         : now.kind != "unreadable" && now.kind != "uninterpretable" && now.kind != "undefined" &&
                               RE2::PartialMatch(now.text, re);
  };
  if (terminal)
    o.progress = [](size_t operations, size_t checks) {
      llvm::errs() << "\r\033[K" << operations << " operations left, " << checks << " tries";
    };
  auto r = reduce(f, o);
  if (terminal) llvm::errs() << "\r\033[K";
  llvm::errs() << r.operationsBefore << " operations became " << r.operationsAfter << " in " << r.checks
               << (r.checks == 1 ? " try" : " tries") << (r.finished ? "" : "; the time was over") << "\n";
  std::string text = ir::printToString(*f.module, {.locations = false});
  if (!f.launch)
    return output.empty() || output == "-" ? (writeOutput("", text) ? kOk : kRunFailed)
           : writeAtomically(output, text) ? kOk
                                           : kRunFailed;
  llvm::StringRef stem = output;
  stem.consume_back(".mlir");
  if (!writeAtomically((stem + ".mlir").str(), text) || !writeLaunch(f, stem.str())) return kRunFailed;
  return kOk;
}

} // namespace tessera::tools
