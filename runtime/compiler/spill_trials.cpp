// The trials where loops spill (see spill_trials.h).
#include "runtime/compiler/spill_trials.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "llvm/Support/FormatVariadic.h"
#include <memory>
#include <utility>

namespace tessera::runtime {
using namespace ir;

bool hasSpillTrials(const Module &m, const TargetInfo &target, const CompileOptions &o) {
  bool holdsLoads = !target.hasPerLaneAsyncCopy && target.matrixUnit != MatrixUnit::Mfma;
  bool isAllocated = o.stage >= Stage::Asm && o.optLevel >= 2;
  if (!holdsLoads || !isAllocated || o.numStages < 2 || hasLayouts(m.op())) return false;
  bool hasDotInLoop = false;
  m.op()->walk([&](Operation *op) { hasDotInLoop |= isDot(op) && isInLoop(op); });
  return hasDotInLoop;
}

namespace {

/// An iteration of so many instructions is long: while one wave waits for its loads, another one computes for about as
/// long as they take.
constexpr int64_t kLongIteration = 512;

/// The trial that spills least, if that is less than as requested.
std::unique_ptr<Trial> spillLess(const std::optional<CompileOptions> &moreWarps, const Trial &requested,
                                 TryOptions tryOptions) {
  std::unique_ptr<Trial> best;
  // Of all threads, in an iteration.
  auto spilled = [](const Trial &x) { return x.spilledInLoops * x.warps(); };
  auto attempt = [&](const CompileOptions &o, bool takesEqual) {
    auto trial = std::make_unique<Trial>(tryOptions(o));
    if (!trial->result.ok()) return;
    int64_t least = spilled(best ? *best : requested);
    if (spilled(*trial) < least + (takesEqual && best)) best = std::move(trial);
  };
  if (moreWarps) attempt(*moreWarps, /*takesEqual=*/false);
  if (best && !best->spilledInLoops && requested.instructionsInLoops < kLongIteration) return best;
  CompileOptions fewer = requested.options;
  fewer.numStages = 1;
  attempt(fewer, /*takesEqual=*/true);
  return best;
}

transforms::Remark remarkAt(Operation *kernel, const char *pass, const char *name, llvm::json::Object facts) {
  return {transforms::Remark::Applied, pass, name, kernel->loc(), "", std::move(facts)};
}

transforms::Remark remarkOf(Operation *kernel, const Trial &requested, const Trial &taken) {
  auto name = kernel->cast<tt::FuncOp>().symName();
  int64_t before = requested.spilledInLoops, after = taken.spilledInLoops;
  llvm::json::Object facts{{"spillBytesRequested", before}, {"spillBytes", after}};
  if (int stages = requested.options.numStages; taken.options.numStages != stages) {
    facts["requestedNumStages"] = stages;
    transforms::Remark r = remarkAt(kernel, "fewer-stages", "FewerStages", std::move(facts));
    r.message = llvm::formatv("'{0}' loads nothing ahead of an iteration: with {1} stages, an iteration of its loops "
                              "spills {2} bytes of a thread's registers, and {3} without",
                              name, stages, before, after)
                    .str();
    return r;
  }
  facts["requestedNumWarps"] = requested.options.numWarps;
  facts["numWarps"] = taken.warps();
  transforms::Remark r = remarkAt(kernel, "more-warps", "WarpsDoubled", std::move(facts));
  r.message = llvm::formatv("'{0}' has {1} warps: with {2}, an iteration of its loops spills {3} bytes of a thread's "
                            "registers, and {4} with these",
                            name, taken.warps(), requested.warps(), before, after)
                  .str();
  return r;
}

} // namespace

absl::StatusOr<CompileResult> compileWithSpillTrials(Module &m, const TargetInfo &target, const CompileOptions &o,
                                                     DiagnosticEngine &diag, CompileOnce compileOnce) {
  auto search = [&](const Module &unchanged, const Trial &requested, TryOptions tryOptions) -> std::unique_ptr<Trial> {
    if (!requested.spilledInLoops) return nullptr;
    return spillLess(withTwiceTheWarps(unchanged, target, requested), requested, tryOptions);
  };
  return compileWithTrials(m, target, o, diag, compileOnce, search, remarkOf);
}

} // namespace tessera::runtime
