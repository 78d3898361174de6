// Fuzzing of the passes and of the lowering: bytes → parser → TTIR and TTGIR pipelines with the verifier after every
// pass → LLVM IR. What the parser and the verifier accept, a pass either transforms into IR that they accept too, or
// refuses with a diagnostic; the lowering makes a valid LLVM module of it, or refuses it. Neither crashes, hangs or
// leaves broken IR. The first byte chooses the target, the second one pass alone or a pipeline, which is then lowered.
#include "codegen/lowering/lowering.h"
#include "frontend/parser.h"
#include "ir/module_attributes.h"
#include "ir/printer.h"
#include "runtime/compiler/targets.h"
#include "transforms/pipelines.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>

using namespace tessera;

static void fail(const char *what, llvm::StringRef text, llvm::StringRef more = "") {
  std::fprintf(stderr, "%s\n--- text\n%.*s\n--- more\n%.*s\n", what, int(text.size()), text.data(), int(more.size()),
               more.data());
  std::abort();
}

static const ir::TargetInfo &target(unsigned which) {
  auto targets = runtime::allTargets();
  return targets[which % targets.size()]->info;
}

/// Lowers what the pipelines made. @pre it has layouts, for the target's lanes
static void lower(ir::Module &module, const ir::TargetInfo &t, llvm::StringRef text, const std::string &errors,
                  ir::DiagnosticEngine &diag) {
  unsigned before = diag.errors();
  llvm::LLVMContext context;
  auto lowering = runtime::createTarget(t);
  auto lowered = codegen::lowerToLLVM(module, *lowering, context, {}, diag);
  if (!lowered) {
    if (diag.errors() == before) fail("the lowering refused without an error", text, errors);
    return;
  }
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*lowered, &stream)) fail("the lowering made an invalid LLVM module", text, broken);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 20000) return 0;
  llvm::StringRef text(reinterpret_cast<const char *>(data) + 2, size - 2);
  std::string errors;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += ir::render(d); });
  ir::Context context;
  auto module = frontend::parseModule(text, "fuzz", context, diag);
  if (!module) return 0;
  auto &t = target(data[0]);
  transforms::Pipeline pipeline;
  unsigned choice = data[1] % (transforms::allPasses().size() + 1);
  bool isAlone = choice < transforms::allPasses().size();
  if (isAlone)
    pipeline.push_back({&transforms::allPasses()[choice], {}});
  else {
    auto append = [&](const transforms::Pipeline &p) { pipeline.insert(pipeline.end(), p.begin(), p.end()); };
    if (ir::hasLayouts(module->op()))
      append(transforms::givenTtgirPipeline(t));
    else {
      append(transforms::ttirPipeline(t));
      append(transforms::ttgirPipeline(t, {}));
    }
    append(transforms::loweringPipeline(t));
  }
  transforms::RunOptions run;
  run.target = &t;
  run.verifyEach = true;
  unsigned before = diag.errors();
  auto status = transforms::runPipeline(*module, pipeline, run, diag);
  if (!status.ok()) {
    if (diag.errors() == before) fail("refused without an error", text, std::string(status.message()));
    if (absl::IsInternal(status)) fail("a pass left broken IR", text, errors);
    return 0;
  }
  std::string printed = ir::printToString(*module);
  ir::Context fresh;
  if (!frontend::parseModule(printed, "printed", fresh, diag))
    fail("what a pass made does not read back", printed, errors);
  if (!isAlone && ir::threadsPerWarp(module->op()) == t.warpSize) lower(*module, t, text, errors, diag);
  return 0;
}
