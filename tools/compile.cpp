// `tessera compile FILE --target T [--emit STAGE] …`: text in, any stage out.
#include "frontend/parser.h"
#include "ir/context.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/compiler.h"
#include "runtime/device.h"
#include "tools/commands.h"
#include <CLI/CLI.hpp>

namespace tessera::tools {
using namespace runtime;

int compileCommand(int argc, char **argv) {
  CLI::App app("Compiles TTIR or TTGIR", "tessera compile");
  std::string input, target, emit, output, metadata, fusion = "on";
  CompileOptions o;
  bool o0 = false, o1 = false, o2 = false, o3 = false, time = false;
  app.add_option("FILE", input, "input, - for standard input")->required();
  app.add_option("--target", target, "sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a gfx90a gfx942 gfx950 gfx1100 gfx1200 gfx1201; default: the first GPU found");
  app.add_option("--emit", emit, "ttir, ttgir, llir, ptx or amdgcn, cubin or hsaco (default: the last)");
  app.add_option("-o", output, "output file");
  app.add_option("--metadata", metadata, "write what is known of the kernel as JSON");
  app.add_option("--kernel", o.kernel, "which function of several");
  app.add_option("--num-warps", o.numWarps, "warps per block");
  app.add_option("--num-stages", o.numStages, "stages of software pipelines");
  app.add_option("--num-ctas", o.numCtas, "blocks per cluster");
  app.add_flag("-0,--O0", o0), app.add_flag("-1,--O1", o1), app.add_flag("-2,--O2", o2), app.add_flag("-3,--O3", o3);
  app.add_option("--fp-fusion", fusion, "contract a*b+c into fma: on or off")->check(CLI::IsMember({"on", "off"}));
  app.add_flag("--lineinfo", o.lineInfo, "keep source lines in the object");
  app.add_option("--print-ir-before", o.passes.printBefore, "dump the IR before passes whose name matches");
  app.add_option("--print-ir-after", o.passes.printAfter, "dump the IR after passes whose name matches");
  app.add_flag("--print-ir-after-all", o.passes.printAfterAll, "dump the IR after every pass");
  app.add_flag("--time-passes", time, "print the time of every pass and stage");
  app.add_flag("--verify-each", o.passes.verifyEach, "verify after every pass");
  app.add_option("--skip-pass", o.passes.skip, "leave a pass out");
  app.add_option("--bisect-limit", o.passes.bisectLimit, "run only the first N passes of each pipeline");
  app.add_option("--reproducer", o.passes.reproducerPath, "where to write the IR before a failing pass");
  // -O0 … -O3 as compilers take them.
  std::vector<std::string> args;
  for (int i = argc - 1; i > 0; --i) {
    llvm::StringRef a = argv[i];
    args.push_back(a.size() == 3 && a.starts_with("-O") && a[2] >= '0' && a[2] <= '3' ? ("--O" + a.substr(2)).str() : a.str());
  }
  try {
    app.parse(args);
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? kOk : kUsage;
  }
  o.optLevel = o0 ? 0 : o1 ? 1 : o2 ? 2 : 3;
  o.fpFusion = fusion == "on";
  if (target.empty()) {
    std::vector<std::string> problems;
    auto devices = enumerateDevices(problems);
    if (devices.empty()) return fail(kUsage, "no GPU found, so --target is needed: " + std::string(requireTarget("?").status().message()));
    target = devices[0]->target();
  }
  auto t = requireTarget(target);
  if (!t.ok()) return fail(kUsage, std::string(t.status().message()));
  if (!emit.empty()) {
    auto s = parseStage(emit, **t);
    if (!s.ok()) return fail(kUsage, std::string(s.status().message()));
    o.stage = *s;
  }
  auto buffer = readInput(input);
  if (!buffer) return kInputAtFault;
  ir::Context context;
  auto diag = printingDiagnostics();
  o.passes.dump = [](llvm::StringRef s) { llvm::errs() << s; };
  std::vector<transforms::PassTiming> timings;
  if (time) o.passes.timings = &timings;
  auto m = frontend::parseModule(buffer->getBuffer(), input == "-" ? "<stdin>" : input, context, diag);
  if (!m) return kInputAtFault;
  auto r = compile(*m, **t, o, diag);
  if (!r.ok()) {
    if (!diag.errors()) fail(kInputAtFault, std::string(r.status().message()));
    return absl::IsInvalidArgument(r.status()) || absl::IsResourceExhausted(r.status()) || diag.errors() ? kInputAtFault : kRunFailed;
  }
  if (time) {
    for (auto &p : timings) llvm::errs() << llvm::formatv("{0,8:f3} ms  pass {1}{2}\n", p.ms, p.name, p.changed ? "" : " (no change)");
    for (auto &[n, ms] : r->metadata.compileMs) llvm::errs() << llvm::formatv("{0,8:f3} ms  stage {1}\n", ms, n);
  }
  bool text = o.stage != Stage::Object;
  if (output.empty() && !text) {
    llvm::StringRef stem = input == "-" ? "a" : llvm::sys::path::filename(input);
    output = (stem.rsplit('.').first + "." + stageName(o.stage, **t)).str();
  }
  if (!writeOutput(output, r->output)) return kInputAtFault;
  if (!metadata.empty() && !writeOutput(metadata, toJson(r->metadata))) return kInputAtFault;
  return kOk;
}

} // namespace tessera::tools
