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

int compileCommand(int argc, char **argv) {
  CLI::App app("Compiles TTIR or TTGIR", "tessera compile");
  std::string input, target, emit, output, metadata, fusion = "on";
  CompileOptions o;
  bool o0 = false, o1 = false, o2 = false, o3 = false;
  PassFlags passes;
  app.add_option("FILE", input, "input, - for standard input")->required();
  app.add_option("--target", target,
                 "sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a gfx90a gfx942 gfx950 gfx1100 gfx1200 gfx1201; default: the "
                 "first GPU found");
  app.add_option("--emit", emit, "ttir, ttgir, llir, ptx or amdgcn, cubin or hsaco (default: the last)");
  app.add_option("-o", output, "output file");
  app.add_option("--metadata", metadata, "write what is known of the kernel as JSON");
  app.add_option("--kernel", o.kernel, "which function of several");
  app.add_option("--num-warps", o.numWarps, "warps per block")->check(powerOfTwo);
  app.add_option("--num-stages", o.numStages, "stages of software pipelines")->check(wholeNumber(1));
  app.add_option("--num-ctas", o.numCtas, "blocks per cluster")->check(powerOfTwo);
  app.add_option("--waves-per-eu", o.wavesPerEu,
                 "AMD: how many waves of a SIMD the registers are to allow (a hint), 0: the compiler's choice")
      ->check(wholeNumber(0, 16));
  app.add_option("--matrix-instr-nonkdim", o.matrixInstrNonkdim,
                 "AMD: rows and columns of matrix instructions, 16 or 32, 0: the compiler's choice")
      ->check(matrixTile);
  app.add_flag("--O0", o0, "optimise the LLVM code not at all (also written -O0, and so on)"), app.add_flag("--O1", o1),
      app.add_flag("--O2", o2), app.add_flag("--O3", o3, "the default");
  app.add_option("--fp-fusion", fusion, "contract a*b+c into fma: on or off")->check(onOrOff);
  app.add_flag("--lineinfo", o.lineInfo, "keep source lines in the object");
  app.add_option("--print-ir-before", passes.before,
                 "dump the IR before passes whose name matches this regular expression");
  app.add_option("--print-ir-after", passes.after,
                 "dump the IR after passes whose name matches this regular expression");
  app.add_flag("--print-ir-before-all", passes.beforeAll, "dump the IR before every pass");
  app.add_flag("--print-ir-after-all", passes.afterAll, "dump the IR after every pass");
  app.add_flag("--time-passes", passes.time, "print the time of every pass and stage");
  app.add_flag("--verify-each", passes.verifyEach, "verify after every pass");
  app.add_option("--skip-pass", passes.skip, "leave a pass out (may be given several times)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--bisect-limit", passes.bisectLimit,
                 "run only the first N passes that can be left out, and say which")
      ->check(wholeNumber(0));
  passes.addRemarks(app);
  app.add_option("--reproducer", o.passes.reproducerPath, "where to write the IR before a failing pass");
  CacheFlags cacheFlags;
  cacheFlags.add(app);
  // -O0 … -O3 as compilers take them.
  std::vector<std::string> spelt(argv, argv + argc);
  for (auto &a : spelt)
    if (a.size() == 3 && a[0] == '-' && a[1] == 'O' && a[2] >= '0' && a[2] <= '3') a.insert(0, "-");
  std::vector<char *> arguments;
  for (auto &a : spelt) arguments.push_back(a.data());
  if (auto code = parseArguments(app, arguments.size(), arguments.data())) return *code;
  if (!passes.apply(o.passes)) return kUsage;
  for (auto &name : passes.skip)
    if (transforms::findPass(name)->required)
      return fail(kUsage, "--skip-pass: '" + name + "' cannot be left out: what comes after it needs what it makes");
  std::unique_ptr<CompileCache> cache;
  if (int code = cacheFlags.open(cache)) return code;
  o.optLevel = o0 ? 0 : o1 ? 1 : o2 ? 2 : 3;
  o.fpFusion = fusion == "on";
  if (target.empty()) {
    std::vector<std::string> problems;
    auto devices = enumerateDevices(problems);
    if (devices.empty()) {
      std::string all;
      for (auto *t : allTargets()) all += " " + t->info.name.str();
      return fail(kUsage, "no GPU found, so --target is needed, one of" + all);
    }
    target = devices[0]->target();
  }
  auto t = requireTarget(target);
  if (!t.ok()) return fail(kUsage, std::string(t.status().message()));
  if (!emit.empty()) {
    auto s = parseStage(emit, **t);
    if (!s.ok()) return fail(kUsage, std::string(s.status().message()));
    o.stage = *s;
  }
  if (auto possible = checkShape(**t, o); !possible.ok()) return fail(kUsage, std::string(possible.message()));
  auto buffer = readInput(input);
  if (!buffer) return kInputAtFault;
  auto diag = printingDiagnostics();
  auto r = cache->compile(buffer->getBuffer(), input == "-" ? "<stdin>" : input, nullptr, **t, o, diag);
  CacheFlags::warn(*cache);
  if (!passes.writeRemarks()) return kRunFailed;
  if (!r.ok()) {
    if (!diag.errors())
      fail(kInputAtFault, (absl::IsInvalidArgument(r.status()) ? (input == "-" ? "<stdin>" : input) + ": " : "") +
                              std::string(r.status().message()));
    return absl::IsInvalidArgument(r.status()) || absl::IsResourceExhausted(r.status()) ? kInputAtFault : kRunFailed;
  }
  if (passes.time) {
    passes.printTimings();
    for (auto &[n, ms] : r->metadata.compileMs) llvm::errs() << llvm::formatv("{0,8:f3} ms  stage {1}\n", ms, n);
  }
  bool text = o.stage != Stage::Object;
  if (output.empty() && !text) {
    llvm::StringRef stem = input == "-" ? "a" : llvm::sys::path::filename(input);
    output = (stem.rsplit('.').first + "." + stageName(o.stage, **t)).str();
  }
  if (!writeOutput(output, r->output)) return kRunFailed;
  if (!metadata.empty() && !writeOutput(metadata, toJson(r->metadata))) return kRunFailed;
  return kOk;
}

} // namespace tessera::tools
