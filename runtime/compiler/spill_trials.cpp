// The trials with more warps, and with loads where they are used (see spill_trials.h).
#include "runtime/compiler/spill_trials.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/more_warps.h"
#include "llvm/Support/FormatVariadic.h"
#include <memory>
#include <utility>

namespace tessera::runtime {
using namespace ir;

bool maySpillLess(const Module &m, const TargetInfo &target, const CompileOptions &o) {
  bool holdsLoads = !target.hasPerLaneAsyncCopy && target.matrixUnit != MatrixUnit::Mfma;
  bool isAllocated = o.stage >= Stage::Asm && o.optLevel >= 2;
  if (!holdsLoads || !isAllocated || o.numStages < 2 || hasLayouts(m.op())) return false;
  bool hasDotInLoop = false;
  m.op()->walk([&](Operation *op) { hasDotInLoop |= isDot(op) && isInLoop(op); });
  return hasDotInLoop;
}

namespace {

/// Code, and with which options it was made.
struct Made {
  CompileOptions options;
  CompiledOnce code;

  bool spills() const { return code.result.ok() && code.spilledInLoops; }
  int warps() const { return code.result->metadata.numWarps; }
};

/// Twice the warps of code that spills; 0: the kernel or the target forbids it.
int moreWarps(const Module &m, const TargetInfo &target, const CompileOptions &o, const Made &before) {
  auto kernel = selectKernel(m, o.kernel);
  if (!kernel.ok() || o.exactNumWarps) return 0;
  if (!mayTakeMoreWarps(m, (*kernel)->cast<tt::FuncOp>().symName(), target)) return 0;
  int warps = 2 * before.warps();
  return warps <= kMostTimesWarps * o.numWarps && warps * target.warpSize <= target.maxThreadsPerBlock ? warps : 0;
}

/// An iteration of so many instructions is long: while one wave waits for its loads, another one computes for about as
/// long as they take.
constexpr int64_t kLongIteration = 512;

/// The code that spills least of what was made as requested and the trials; null: that of the request.
std::unique_ptr<Made> spillLess(const Module &m, const TargetInfo &target, const Made &requested,
                                CompileOnce compileOnce) {
  if (!requested.spills()) return nullptr;
  DiagnosticEngine nobody([](const Diagnostic &) {});
  std::unique_ptr<Made> best;
  // Of all threads, in an iteration.
  auto spilled = [](const Made &x) { return x.code.spilledInLoops * x.warps(); };
  auto attempt = [&](const CompileOptions &o, bool takesEqual) {
    auto made = std::make_unique<Made>(Made{o, compileOnce(*m.clone(), target, o, nobody)});
    if (!made->code.result.ok()) return;
    int64_t least = spilled(best ? *best : requested);
    if (spilled(*made) < least + (takesEqual && best)) best = std::move(made);
  };
  CompileOptions more = requested.options;
  more.numWarps = moreWarps(m, target, requested.options, requested);
  more.exactNumWarps = true;
  if (more.numWarps) attempt(more, /*takesEqual=*/false);
  if (best && !best->spills() && requested.code.instructionsInLoops < kLongIteration) return best;
  CompileOptions fewer = requested.options;
  fewer.numStages = 1;
  attempt(fewer, /*takesEqual=*/true);
  return best;
}

transforms::Remark remarkAt(Operation *kernel, const char *pass, const char *name, llvm::json::Object facts) {
  return {transforms::Remark::Applied, pass, name, kernel->loc(), "", std::move(facts)};
}

void remark(const Module &m, const CompileOptions &o, const Made &requested, const Made &taken) {
  auto kernel = selectKernel(m, o.kernel);
  if (!kernel.ok() || !o.passes.remarks) return;
  auto name = (*kernel)->cast<tt::FuncOp>().symName();
  int64_t before = requested.code.spilledInLoops, after = taken.code.spilledInLoops;
  llvm::json::Object facts{{"spillBytesRequested", before}, {"spillBytes", after}};
  if (taken.options.numStages != o.numStages) {
    facts["requestedNumStages"] = o.numStages;
    transforms::Remark r = remarkAt(*kernel, "fewer-stages", "FewerStages", std::move(facts));
    r.message = llvm::formatv("'{0}' loads nothing ahead of an iteration: with {1} stages, an iteration of its loops "
                              "spills {2} bytes of a thread's registers, and {3} without",
                              name, o.numStages, before, after)
                    .str();
    o.passes.remarks(r);
    return;
  }
  facts["requestedNumWarps"] = o.numWarps;
  facts["numWarps"] = taken.warps();
  transforms::Remark r = remarkAt(*kernel, "more-warps", "WarpsDoubled", std::move(facts));
  r.message = llvm::formatv("'{0}' has {1} warps: with {2}, an iteration of its loops spills {3} bytes of a thread's "
                            "registers, and {4} with these",
                            name, taken.warps(), requested.warps(), before, after)
                  .str();
  o.passes.remarks(r);
}

/// The trial's stages are not of the configuration that was requested; its warps are what a launch needs.
void describe(KernelMetadata &md, const CompileOptions &o) { md.numStages = o.numStages; }

} // namespace

absl::StatusOr<CompileResult> compileToSpillLess(Module &m, const TargetInfo &target, const CompileOptions &o,
                                                 DiagnosticEngine &diag, CompileOnce compileOnce) {
  std::unique_ptr<Module> copy = m.clone();
  CompileOptions quiet = unobserved(o);
  quiet.keepTexts = false;
  if (transforms::hasNoObservers(o.passes)) {
    quiet.keepTexts = o.keepTexts;
    Made requested{quiet, compileOnce(m, target, o, diag)};
    std::unique_ptr<Made> taken = spillLess(*copy, target, requested, compileOnce);
    if (!taken) return std::move(requested.code.result);
    KernelMetadata &md = taken->code.result->metadata;
    describe(md, o);
    md.compileMs.emplace_back("as requested", milliseconds(*requested.code.result));
    return std::move(taken->code.result);
  }
  // What users see of the passes is a run of each with the options that are taken: copies decide.
  DiagnosticEngine nobody([](const Diagnostic &) {});
  CompileOptions options = o;
  Made requested{quiet, compileOnce(*copy, target, quiet, nobody)};
  if (std::unique_ptr<Made> taken = spillLess(m, target, requested, compileOnce)) {
    options.numStages = taken->options.numStages;
    options.numWarps = taken->options.numWarps;
    options.exactNumWarps = taken->options.exactNumWarps;
    remark(m, o, requested, *taken);
  }
  absl::StatusOr<CompileResult> result = compileOnce(m, target, options, diag).result;
  if (result.ok()) describe(result->metadata, o);
  return result;
}

} // namespace tessera::runtime
