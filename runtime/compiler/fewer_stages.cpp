// The trial with loads where they are used (see fewer_stages.h).
#include "runtime/compiler/fewer_stages.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "runtime/compiler/kernel_function.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::runtime {
using namespace ir;

bool mayTakeFewerStages(const Module &m, const TargetInfo &target, const CompileOptions &o) {
  bool holdsLoads = !target.hasPerLaneAsyncCopy && target.matrixUnit != MatrixUnit::Mfma;
  bool isAllocated = o.stage >= Stage::Asm && o.optLevel >= 2;
  if (!holdsLoads || !isAllocated || o.numStages < 2 || hasLayouts(m.op())) return false;
  bool hasDotInLoop = false;
  m.op()->walk([&](Operation *op) { hasDotInLoop |= isDot(op) && isInLoop(op); });
  return hasDotInLoop;
}

namespace {

/// The options of a compilation that nobody observes, with other stages.
CompileOptions unobserved(const CompileOptions &o, int numStages) {
  CompileOptions quiet = o;
  quiet.numStages = numStages;
  quiet.keepTexts = false;
  quiet.passes = {};
  quiet.passes.skip = o.passes.skip;
  quiet.passes.bisectLimit = o.passes.bisectLimit;
  return quiet;
}

double milliseconds(const CompileResult &r) {
  double sum = 0;
  for (auto &[stage, ms] : r.metadata.compileMs) sum += ms;
  return sum;
}

void remarkFewerStages(const Module &m, const CompileOptions &o, int64_t before, int64_t after) {
  auto kernel = selectKernel(m, o.kernel);
  if (!kernel.ok()) return;
  transforms::Remark r{
      transforms::Remark::Applied,
      "fewer-stages",
      "FewerStages",
      (*kernel)->loc(),
      "",
      llvm::json::Object{{"requestedNumStages", o.numStages}, {"spillBytesRequested", before}, {"spillBytes", after}}};
  r.message = llvm::formatv("'{0}' loads nothing ahead of an iteration: with {1} stages, an iteration of its loops "
                            "spills {2} bytes of a thread's registers, and {3} without",
                            (*kernel)->cast<tt::FuncOp>().symName(), o.numStages, before, after)
                  .str();
  o.passes.remarks(r);
}

} // namespace

absl::StatusOr<CompileResult> compileWithFewerStages(Module &m, const TargetInfo &target, const CompileOptions &o,
                                                     DiagnosticEngine &diag, CompileOnce compileOnce) {
  std::unique_ptr<Module> copy = m.clone();
  DiagnosticEngine nobody([](const Diagnostic &) {});
  auto takesFewer = [](const CompiledOnce &fewer, int64_t spilled) {
    return fewer.result.ok() && fewer.spilledInLoops < spilled;
  };
  if (transforms::hasNoObservers(o.passes)) {
    CompiledOnce requested = compileOnce(m, target, o, diag);
    if (!requested.result.ok() || !requested.spilledInLoops) return std::move(requested.result);
    CompileOptions options = unobserved(o, 1);
    options.keepTexts = o.keepTexts;
    CompiledOnce fewer = compileOnce(*copy, target, options, nobody);
    if (!takesFewer(fewer, requested.spilledInLoops)) return std::move(requested.result);
    KernelMetadata &md = fewer.result->metadata;
    md.config() = o.config();
    md.compileMs.emplace_back("with the requested stages", milliseconds(*requested.result));
    return std::move(fewer.result);
  }
  // What users see of the passes is a run of each with the stages that are taken: copies decide.
  CompileOptions taken = o;
  CompiledOnce requested = compileOnce(*copy, target, unobserved(o, o.numStages), nobody);
  if (requested.result.ok() && requested.spilledInLoops) {
    CompiledOnce fewer = compileOnce(*m.clone(), target, unobserved(o, 1), nobody);
    if (takesFewer(fewer, requested.spilledInLoops)) {
      taken.numStages = 1;
      if (o.passes.remarks) remarkFewerStages(m, o, requested.spilledInLoops, fewer.spilledInLoops);
    }
  }
  absl::StatusOr<CompileResult> result = compileOnce(m, target, taken, diag).result;
  if (result.ok()) result->metadata.config() = o.config();
  return result;
}

} // namespace tessera::runtime
