// The trial with twice the warps (see warps_after_spills.h).
#include "runtime/compiler/warps_after_spills.h"
#include "ir/ops.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/more_warps.h"
#include "llvm/Support/FormatVariadic.h"
#include <memory>
#include <utility>
#include <vector>

namespace tessera::runtime {
using namespace ir;

bool mayDoubleWarps(const Module &m, const TargetInfo &target, const CompileOptions &o) {
  bool isAllocated = o.stage == Stage::Object && o.optLevel >= 2;
  if (!target.tuning.spillBytesForMoreWarps || !isAllocated || o.exactNumWarps) return false;
  auto kernel = selectKernel(m, o.kernel);
  return kernel.ok() && mayTakeMoreWarps(m, (*kernel)->cast<tt::FuncOp>().symName(), target);
}

namespace {

using Remarks = std::vector<transforms::Remark>;

/// Twice the warps of what was compiled; 0: its threads spill little, or the target has no block of so many.
int warpsToTry(const CompileResult &made, const TargetInfo &target, const CompileOptions &o) {
  const KernelMetadata &md = made.metadata;
  if (md.spillBytes < target.tuning.spillBytesForMoreWarps) return 0;
  int warps = 2 * md.numWarps;
  bool isAllowed = warps <= kMostTimesWarps * o.numWarps && warps * target.warpSize <= target.maxThreadsPerBlock;
  return isAllowed ? warps : 0;
}

bool isBetter(const KernelMetadata &made, const KernelMetadata &before) {
  constexpr int kLeastGain = 4;
  return int64_t(made.spillBytes) * made.numWarps * kLeastGain <= int64_t(before.spillBytes) * before.numWarps;
}

CompileOptions withWarps(const CompileOptions &o, int warps) {
  CompileOptions more = o;
  more.numWarps = warps;
  more.exactNumWarps = true;
  return more;
}

/// The options of a compilation of which remarks alone are kept, where they are wanted.
CompileOptions collecting(const CompileOptions &o, Remarks &remarks) {
  CompileOptions quiet = unobserved(o);
  if (o.passes.remarks) quiet.passes.remarks = [&](const transforms::Remark &r) { remarks.push_back(r); };
  return quiet;
}

/// Whether more is observed of a compilation than its remarks.
bool isObserved(const CompileOptions &o) {
  transforms::RunOptions others = o.passes;
  others.remarks = nullptr;
  others.skip.clear();
  others.bisectLimit = -1;
  return !transforms::hasNoObservers(others);
}

transforms::Remark remarkOf(const Module &m, const CompileOptions &o, const KernelMetadata &before,
                            const KernelMetadata &taken) {
  Operation *kernel = *selectKernel(m, o.kernel);
  transforms::Remark r{transforms::Remark::Applied,
                       "more-warps",
                       "WarpsDoubled",
                       kernel->loc(),
                       "",
                       llvm::json::Object{{"requestedNumWarps", o.numWarps},
                                          {"numWarps", taken.numWarps},
                                          {"spillBytesRequested", before.spillBytes},
                                          {"spillBytes", taken.spillBytes}}};
  r.message = llvm::formatv("'{0}' has {1} warps: with {2}, a thread spills {3} bytes of its registers, and {4} with "
                            "these",
                            kernel->cast<tt::FuncOp>().symName(), taken.numWarps, before.numWarps, before.spillBytes,
                            taken.spillBytes)
                  .str();
  return r;
}

} // namespace

absl::StatusOr<CompileResult> compileDoublingWarps(Module &m, const TargetInfo &target, const CompileOptions &o,
                                                   DiagnosticEngine &diag, CompileOnce compileOnce) {
  DiagnosticEngine nobody([](const Diagnostic &) {});
  bool observed = isObserved(o);
  std::unique_ptr<Module> second = m.clone(), copy = observed ? m.clone() : nullptr;
  Remarks remarks, remarksOfMore;
  // What users see of the passes is a run of each with the options that are taken: a copy decides.
  absl::StatusOr<CompileResult> requested =
      compileOnce(observed ? *copy : m, target, collecting(o, remarks), observed ? nobody : diag).result;
  int warps = requested.ok() ? warpsToTry(*requested, target, o) : 0;
  absl::StatusOr<CompileResult> more = absl::NotFoundError("not tried");
  if (warps) more = compileOnce(*second, target, collecting(withWarps(o, warps), remarksOfMore), nobody).result;
  bool isTaken = more.ok() && isBetter(more->metadata, requested->metadata);
  if (observed) {
    if (isTaken && o.passes.remarks) o.passes.remarks(remarkOf(m, o, requested->metadata, more->metadata));
    return compileOnce(m, target, isTaken ? withWarps(o, warps) : o, diag).result;
  }
  if (isTaken) remarksOfMore.push_back(remarkOf(m, o, requested->metadata, more->metadata));
  if (o.passes.remarks)
    for (const transforms::Remark &r : isTaken ? remarksOfMore : remarks) o.passes.remarks(r);
  if (!isTaken) return requested;
  more->metadata.compileMs.emplace_back("as requested", milliseconds(*requested));
  return more;
}

} // namespace tessera::runtime
