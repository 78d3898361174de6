// Trials (see trials.h).
#include "runtime/compiler/trials.h"
#include "ir/ops.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/more_warps.h"
#include <utility>

namespace tessera::runtime {
using namespace ir;

namespace {

/// Whether more is observed of the passes than their remarks, or some of them are left out.
bool isObserved(const CompileOptions &o) {
  transforms::RunOptions others = o.passes;
  others.remarks = nullptr;
  return !transforms::hasNoObservers(others);
}

/// The options of a compilation that nobody observes: it runs the same passes.
CompileOptions unobserved(const CompileOptions &o) {
  CompileOptions quiet = o;
  quiet.passes = {};
  quiet.passes.skip = o.passes.skip;
  quiet.passes.bisectLimit = o.passes.bisectLimit;
  return quiet;
}

/// The time that the stages of a compilation took.
double milliseconds(const CompileResult &r) {
  double sum = 0;
  for (auto &[stage, ms] : r.metadata.compileMs) sum += ms;
  return sum;
}

} // namespace

absl::StatusOr<CompileResult> compileWithTrials(Module &m, const TargetInfo &target, const CompileOptions &o,
                                                DiagnosticEngine &diag, CompileOnce compileOnce, TrialSearch search,
                                                TrialRemark remark) {
  bool compilesOnceMore = isObserved(o);
  auto compileQuietly = [&](Module &module, const CompileOptions &options, DiagnosticEngine &to) {
    std::vector<transforms::Remark> remarks;
    CompileOptions quiet = unobserved(options);
    if (compilesOnceMore)
      quiet.keepTexts = false;
    else if (o.passes.remarks)
      quiet.passes.remarks = [&](const transforms::Remark &r) { remarks.push_back(r); };
    Trial trial = compileOnce(module, target, quiet, to);
    trial.options = options;
    trial.remarks = std::move(remarks);
    return trial;
  };
  DiagnosticEngine nobody([](const Diagnostic &) {});
  std::unique_ptr<Module> copy = m.clone();
  Module &original = compilesOnceMore ? m : *copy; // which no trial changes
  Trial requested = compilesOnceMore ? compileQuietly(*copy, o, nobody) : compileQuietly(m, o, diag);
  auto tryOptions = [&](const CompileOptions &options) { return compileQuietly(*original.clone(), options, nobody); };
  std::unique_ptr<Trial> taken = requested.result.ok() ? search(original, requested, tryOptions) : nullptr;
  if (taken && o.passes.remarks) o.passes.remarks(remark(*selectKernel(original, o.kernel), requested, *taken));
  absl::StatusOr<CompileResult> result = absl::InternalError("not compiled");
  if (compilesOnceMore) {
    result = compileOnce(m, target, taken ? taken->options : o, diag).result;
  } else {
    Trial &trial = taken ? *taken : requested;
    for (const transforms::Remark &r : trial.remarks) o.passes.remarks(r);
    result = std::move(trial.result);
    if (taken) result->metadata.compileMs.emplace_back("as requested", milliseconds(*requested.result));
  }
  // A trial's stages are not of the configuration that was requested; its warps are what a launch needs.
  if (result.ok()) result->metadata.numStages = o.numStages;
  return result;
}

bool mayTryMoreWarps(const Module &m, const CompileOptions &o) {
  auto kernel = selectKernel(m, o.kernel);
  return kernel.ok() && !o.exactNumWarps && mayTakeMoreWarps(m, (*kernel)->cast<tt::FuncOp>().symName());
}

std::optional<CompileOptions> withTwiceTheWarps(const Module &m, const TargetInfo &target, const Trial &requested) {
  if (!mayTryMoreWarps(m, requested.options)) return std::nullopt;
  int warps = 2 * requested.warps();
  bool isAllowed =
      warps <= kMostTimesWarps * requested.options.numWarps && warps * target.warpSize <= target.maxThreadsPerBlock;
  if (!isAllowed) return std::nullopt;
  CompileOptions more = requested.options;
  more.numWarps = warps;
  more.exactNumWarps = true;
  return more;
}

} // namespace tessera::runtime
