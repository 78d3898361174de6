// The trial with twice the warps (see warps_after_spills.h).
#include "runtime/compiler/warps_after_spills.h"
#include "ir/ops.h"
#include "llvm/Support/FormatVariadic.h"
#include <memory>
#include <utility>

namespace tessera::runtime {
using namespace ir;

/// Whether the rule for idle schedulers holds for the target.
static bool mayLeaveIdle(const TargetInfo &target) { return target.matrixUnit == MatrixUnit::Mfma; }

bool hasWarpsTrial(const Module &m, const TargetInfo &target, const CompileOptions &o) {
  bool isAllocated = o.stage == Stage::Object && o.optLevel >= 2;
  bool mayFollow = target.tuning.spillBytesForMoreWarps || mayLeaveIdle(target);
  return mayFollow && isAllocated && mayTryMoreWarps(m, o);
}

namespace {

/// Whether what the object spills is worth another compilation.
bool spillsTooMuch(const KernelMetadata &md, const TargetInfo &target) {
  int64_t least = target.tuning.spillBytesForMoreWarps;
  bool leavesIdle = mayLeaveIdle(target) && md.occupancy * md.numWarps < target.schedulersPerMultiprocessor;
  return (least && md.spillBytes >= least) || (leavesIdle && md.spillBytes);
}

bool isBetter(const KernelMetadata &made, const KernelMetadata &before) {
  constexpr int kLeastGain = 4;
  return int64_t(made.spillBytes) * made.numWarps * kLeastGain <= int64_t(before.spillBytes) * before.numWarps;
}

transforms::Remark remarkOf(Operation *kernel, const Trial &requested, const Trial &taken) {
  int before = requested.result->metadata.spillBytes, after = taken.result->metadata.spillBytes;
  transforms::Remark r{transforms::Remark::Applied,
                       "more-warps",
                       "WarpsDoubled",
                       kernel->loc(),
                       "",
                       llvm::json::Object{{"requestedNumWarps", requested.options.numWarps},
                                          {"numWarps", taken.warps()},
                                          {"spillBytesRequested", before},
                                          {"spillBytes", after}}};
  r.message = llvm::formatv("'{0}' has {1} warps: with {2}, a thread spills {3} bytes of its registers, and {4} with "
                            "these",
                            kernel->cast<tt::FuncOp>().symName(), taken.warps(), requested.warps(), before, after)
                  .str();
  return r;
}

} // namespace

absl::StatusOr<CompileResult> compileWithWarpsTrial(Module &m, const TargetInfo &target, const CompileOptions &o,
                                                    DiagnosticEngine &diag, CompileOnce compileOnce) {
  auto search = [&](const Module &unchanged, const Trial &requested, TryOptions tryOptions) -> std::unique_ptr<Trial> {
    const KernelMetadata &md = requested.result->metadata;
    if (!spillsTooMuch(md, target)) return nullptr;
    std::optional<CompileOptions> more = withTwiceTheWarps(unchanged, target, requested);
    if (!more) return nullptr;
    auto trial = std::make_unique<Trial>(tryOptions(*more));
    return trial->result.ok() && isBetter(trial->result->metadata, md) ? std::move(trial) : nullptr;
  };
  return compileWithTrials(m, target, o, diag, compileOnce, search, remarkOf);
}

} // namespace tessera::runtime
