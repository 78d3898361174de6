// `tessera compile FILE --target T [--emit STAGE] …`: text in, any stage out.
#include "runtime/compiler/compile_cache.h"
#include "runtime/compiler/targets.h"
#include "runtime/open_device.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

namespace tessera::tools {
using namespace runtime;

namespace {

/// The command line of `tessera compile`.
struct CompileFlags {
  std::string input, target, emit, output, metadata;
  std::string fusion = "on";
  CompileOptions options;
  PassFlags passes;
  CacheFlags cache;

  void add(CLI::App &);
  /// Takes over what is not bound to `options` directly; an exit code after an error was printed.
  int apply();
  /// What diagnostics call the input.
  std::string inputName() const { return input == "-" ? "<stdin>" : input; }
};

void CompileFlags::add(CLI::App &app) {
  std::string targets;
  for (auto *t : allTargets()) targets += t->info.name.str() + " ";
  targets.back() = ';';
  app.add_option("FILE", input, "input, - for standard input")->required();
  app.add_option("--target", target, targets + " default: the first GPU found");
  app.add_option("--emit", emit, "ttir, ttgir, llir, ptx or amdgcn, cubin or hsaco (default: the last)");
  app.add_option("-o", output,
                 "output file; default: standard output for text, NAME.cubin or NAME.hsaco for an object");
  app.add_option("--metadata", metadata, "write the kernel's metadata as JSON");
  app.add_option("--kernel", options.kernel, "the function to compile, if there are several");
  addKernelOptions(app, options);
  addExactNumWarps(app, options.exactNumWarps);
  addNoTensorMemory(app, options.tensorMemory);
  const char *help[] = {"disable LLVM optimisation (also written -O0, and so on)", "", "", "the default"};
  for (int level = 0; level <= 3; ++level)
    app.add_flag_callback(
           "--O" + std::to_string(level), [this, level] { options.optLevel = level; }, help[level])
        ->trigger_on_parse(); // in the order of the command line: the last one wins
  app.add_option("--fp-fusion", fusion, "contract a*b+c into fma: on or off")->check(oneOf("on", "off"));
  app.add_flag("--lineinfo", options.lineInfo, "keep source lines in the object");
  app.add_option("--print-ir-before", passes.before,
                 "dump the IR before passes whose name matches this regular expression");
  app.add_option("--print-ir-after", passes.after,
                 "dump the IR after passes whose name matches this regular expression");
  app.add_flag("--print-ir-before-all", passes.beforeAll, "dump the IR before every pass");
  app.add_flag("--print-ir-after-all", passes.afterAll, "dump the IR after every pass");
  app.add_flag("--time-passes", passes.time, "print the time of every pass and stage");
  app.add_flag("--verify-each", passes.verifyEach, "verify after every pass");
  app.add_option("--skip-pass", passes.skip, "skip a pass (may be given several times)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--bisect-limit", passes.bisectLimit,
                 "run only the first N passes that can be skipped, and print which ran")
      ->check(wholeNumber(0));
  passes.addRemarks(app);
  app.add_option("--reproducer", options.passes.reproducerPath, "where to write the IR before a failing pass");
  cache.add(app);
}

int CompileFlags::apply() {
  if (!passes.apply(options.passes)) return kUsage;
  for (auto &name : passes.skip)
    if (transforms::findPass(name)->required)
      return fail(kUsage, "--skip-pass: '" + name + "' cannot be left out: what comes after it needs what it makes");
  options.fpFusion = fusion == "on";
  if (!target.empty()) return kOk;
  std::vector<std::string> problems;
  auto devices = enumerateDevices(problems);
  if (devices.empty()) {
    std::string all;
    for (auto *t : allTargets()) all += " " + t->info.name.str();
    return fail(kUsage, "no GPU found, so --target is needed, one of" + all);
  }
  target = devices[0]->target();
  return kOk;
}

/// Reads -O0 to -O3 as --O0 to --O3.
std::vector<std::string> withLongLevels(int argc, char **argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (auto &a : arguments) {
    bool isLevel = a.size() == 3 && a[0] == '-' && a[1] == 'O' && a[2] >= '0' && a[2] <= '3';
    if (isLevel) a.insert(0, "-");
  }
  return arguments;
}

/// Where the code goes if -o does not say: objects to a file beside the caller, text to standard output.
std::string defaultOutput(const CompileFlags &flags, const ir::TargetInfo &target) {
  if (flags.options.stage != Stage::Object) return "-";
  llvm::StringRef stem = flags.input == "-" ? "a" : llvm::sys::path::filename(flags.input);
  return (stem.rsplit('.').first + "." + stageName(Stage::Object, target)).str();
}

/// Writes code and metadata.
int write(const CompileFlags &flags, const CompileResult &result) {
  if (!writeOutput(flags.output, result.output)) return kRunFailed;
  if (!flags.metadata.empty() && !writeOutput(flags.metadata, toJson(result.metadata))) return kRunFailed;
  return kOk;
}

} // namespace

int compileCommand(int argc, char **argv) {
  CLI::App app("Compiles TTIR or TTGIR", "tessera compile");
  CompileFlags flags;
  flags.add(app);
  if (auto code = parseArguments(app, withLongLevels(argc, argv))) return *code;
  std::unique_ptr<CompileCache> cache;
  if (int code = flags.cache.open(cache)) return code;
  if (int code = flags.apply()) return code;
  auto target = requireTarget(flags.target);
  if (!target.ok()) return fail(kUsage, std::string(target.status().message()));
  if (!flags.emit.empty()) {
    auto stage = parseStage(flags.emit, **target);
    if (!stage.ok()) return fail(kUsage, std::string(stage.status().message()));
    flags.options.stage = *stage;
  }
  warnOfUnreadOptions(app, **target);
  flags.passes.warnOfLaterRemarks(flags.options.stage, **target);
  if (auto s = checkOptions(**target, flags.options); !s.ok()) return fail(kUsage, std::string(s.message()));
  if (auto s = checkEnvironment(**target, flags.options); !s.ok()) return fail(kUsage, std::string(s.message()));
  bool isNamed = !flags.output.empty();
  if (!isNamed) flags.output = defaultOutput(flags, **target);
  const char *output = isNamed || flags.output == "-" ? "-o" : "without -o, the output";
  if (int code = checkOutputFiles({{output, flags.output},
                                   {"--metadata", flags.metadata},
                                   {"--remarks-json", flags.passes.remarksFile},
                                   {"--reproducer", flags.options.passes.reproducerPath}},
                                  {flags.input}))
    return code;

  auto buffer = readInput(flags.input);
  if (!buffer) return kInputAtFault;
  auto diag = printingDiagnostics();
  auto result = cache->compile(buffer->getBuffer(), flags.inputName(), nullptr, **target, flags.options, diag);
  CacheFlags::warn(*cache);
  if (!flags.passes.writeRemarks()) return kRunFailed;
  if (!result.ok()) {
    bool isInput = absl::IsInvalidArgument(result.status());
    if (!diag.errors())
      fail(kInputAtFault, (isInput ? flags.inputName() + ": " : "") + std::string(result.status().message()));
    return isInput || absl::IsResourceExhausted(result.status()) ? kInputAtFault : kRunFailed;
  }
  int warps = result->metadata.numWarps;
  bool isTtgir = buffer->getBuffer().contains("ttg.num-warps");
  if (isTtgir && app.count("--num-warps") && warps != flags.options.numWarps)
    llvm::errs() << "tessera: warning: --num-warps " << flags.options.numWarps << " does nothing: " << flags.inputName()
                 << " has layouts for " << ir::counted(size_t(warps), "warp") << "\n";
  if (flags.passes.time) {
    flags.passes.printTimings();
    for (auto &[name, ms] : result->metadata.compileMs)
      llvm::errs() << llvm::formatv("{0,8:f3} ms  stage {1}\n", ms, name);
  }
  return write(flags, *result);
}

} // namespace tessera::tools
