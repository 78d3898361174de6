// Pass tritongpu-allocate-warp-groups: which warps of a block run the partitions of ttg.warp_specialize, how many
// threads a block then has, and how many registers each of them may use.
//
// Runs: before lowering, on all targets.
//
//   ttg.warp_specialize(%a)                     ttg.warp_specialize(%a)
//     attributes {requestedRegisters = …}         attributes {warpGroupStartIds = array<i32: 8, 4>,
//                                                             actualRegisters = array<i32: …>}
//   default {…}                             →   default {…}                            warps 0 to 3, as all outside
//   partition0(%b: i32) num_warps(1) {…}        partition0(%b: i32) num_warps(1) {…}   warp 8
//   partition1(%b: i32) num_warps(4) {…}        partition1(%b: i32) num_warps(4) {…}   warps 4 to 7
//                                               and on the module: ttg.total-num-warps = 12
//
// Larger partitions come first and begin at a multiple of four warps (or of their own number, if that is less), which
// wgmma requires of a warp group. Start ids that the input has are kept. Two ttg.warp_specialize one after the other
// share warps.
//
// Registers (targets that can reallocate them): a kernel starts with the same number for all its warps, `ttg.maxnreg`.
// Only groups of four warps can change theirs: a group gets the largest number that any of its partitions requests, the
// kernel's own warps get what the others leave. If that is too little, or the kernel's own warps are no whole groups of
// four, all warps keep their number.
//
// Captured values that are a few operations on scalars are computed by the partitions instead (recompute_captures.cpp).
//
// Limits, all of them errors: partitions must be in kernels, and not in each other; there may be no more of them than
// named barriers (two are used for the block and the kernel's own warps); tensors cannot be captured.
#include "ir/collect.h"
#include "ir/module_attributes.h"
#include "ir/partitions.h"
#include "transforms/memory/recompute_captures.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr int64_t kPrintingRegisters = 32; // needed by the driver's functions for assertions and printing

class WarpGroups {
public:
  WarpGroups(Module &module, PassContext &context)
      : module_(module), target_(*context.target), diag_(context.diagnostics), own_(numWarps(module.op())) {}

  /// False after an error.
  bool run(llvm::ArrayRef<ttg::WarpSpecializeOp> ops) {
    bool ok = true;
    for (auto op : ops) ok &= check(op) && place(op);
    if (!ok) return false;
    int64_t given = totalNumWarps(module_.op());
    if (module_.op()->hasAttr(kTotalNumWarpsAttr) && given < total_)
      return error(ops[0], llvm::formatv("needs {0} warps, but the module says that {1} = {2}", total_,
                                         kTotalNumWarpsAttr, given));
    total_ = std::max(total_, given);
    bool reallocates = target_.reallocatesRegisters && own_ % kWarpGroup == 0 &&
                       llvm::any_of(ops, [](auto op) { return !op.requestedRegisters().empty(); });
    if (reallocates) total_ = llvm::alignTo(total_, kWarpGroup); // whole groups
    if (int64_t threads = total_ * threadsPerWarp(module_.op()); threads > target_.maxThreadsPerBlock)
      return error(ops[0], llvm::formatv("needs {0} warps, which are {1} threads; {2} allows {3} in a block", total_,
                                         threads, target_.name, target_.maxThreadsPerBlock));
    setModuleInt(module_.op(), kTotalNumWarpsAttr, total_);
    for (auto op : ops) op->removeAttr("actualRegisters");
    if (reallocates) shareRegisters(ops);
    return true;
  }

private:
  bool error(ttg::WarpSpecializeOp op, const std::string &message) {
    diag_.error(op->loc(), "'ttg.warp_specialize' " + message);
    return false;
  }

  bool check(ttg::WarpSpecializeOp op) {
    auto regions = partitionRegions(op);
    if (target_.namedBarriers <= kReservedBarriers)
      return error(op,
                   llvm::formatv("cannot be lowered: {0} has no barriers for a part of a block's warps", target_.name));
    if (int64_t most = target_.namedBarriers - kReservedBarriers; int64_t(regions.size()) > most)
      return error(op, llvm::formatv("has {0} partitions; there are named barriers for {1}", regions.size(), most));
    if (partitionOf(op)) return error(op, "must not be nested in another ttg.warp_specialize");
    if (auto func = op->parentOfType<tt::FuncOp>(); func.symVisibility() == "private")
      return error(op,
                   llvm::formatv("is in the function '{0}', which is called and not inlined; it must be in a kernel",
                                 func.symName()));
    for (Value v : capturesOf(op))
      if (v.type().isTensor())
        return error(op, "captures a tensor, whose elements lie in the registers of other warps");
    return true;
  }

  bool place(ttg::WarpSpecializeOp op) {
    auto sizes = op.partitionNumWarps();
    llvm::SmallVector<unsigned, 8> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    if (op->hasAttr("warpGroupStartIds")) {
      auto starts = op.warpGroupStartIds();
      llvm::stable_sort(order, [&](unsigned a, unsigned b) { return starts[a] < starts[b]; });
      int64_t next = own_;
      for (unsigned p : order) {
        if (starts[p] < next)
          return error(op, llvm::formatv("lets partition {0} begin at warp {1}, which other warps of the kernel use", p,
                                         starts[p]));
        if (starts[p] % std::min(sizes[p], kWarpGroup))
          return error(op, llvm::formatv("lets partition {0} of {1} warps begin at warp {2}", p, sizes[p], starts[p]));
        if (starts[p] > target_.maxThreadsPerBlock)
          return error(op, llvm::formatv("lets partition {0} begin at warp {1}", p, starts[p]));
        next = starts[p] + sizes[p];
      }
      total_ = std::max(total_, next);
      return true;
    }
    llvm::stable_sort(order, [&](unsigned a, unsigned b) { return sizes[a] > sizes[b]; });
    llvm::SmallVector<int64_t, 8> starts(sizes.size());
    int64_t next = own_;
    for (unsigned p : order) {
      starts[p] = llvm::alignTo(next, std::min(sizes[p], kWarpGroup));
      next = starts[p] + sizes[p];
    }
    op->setAttr("warpGroupStartIds", DenseArrayAttr::getI32(module_.context(), starts));
    total_ = std::max(total_, next);
    return true;
  }

  static bool printsOrAsserts(Region &r) {
    bool any = false;
    for (auto *b = r.front(); b; b = b->next())
      for (auto &op : *b)
        op.walk([&](Operation *inner) {
          any |= inner->is<tt::PrintOp>() || inner->is<tt::AssertOp>() || inner->is<cf::AssertOp>();
        });
    return any;
  }

  void shareRegisters(llvm::ArrayRef<ttg::WarpSpecializeOp> ops) {
    int64_t each = registersAtStart(target_, total_);
    if (int64_t given = moduleInt(module_.op(), kMaxRegistersAttr, 0))
      each = std::min<int64_t>(each, llvm::alignDown(given, kRegisterStep));
    if (each < kFewestRegisters) return;
    bool any = false;
    for (auto op : ops) {
      auto requested = op.requestedRegisters();
      if (requested.empty()) continue;
      auto regions = partitionRegions(op);
      auto starts = op.warpGroupStartIds(), sizes = op.partitionNumWarps();
      llvm::SmallVector<int64_t, 8> groups((total_ - own_) / kWarpGroup, kFewestRegisters);
      auto groupsOf = [&](unsigned p) {
        return llvm::MutableArrayRef(groups).slice((starts[p] - own_) / kWarpGroup,
                                                   llvm::divideCeil(sizes[p], kWarpGroup));
      };
      for (unsigned p = 0; p < regions.size(); ++p) {
        int64_t wanted = std::max(requested[p], printsOrAsserts(regions[p]) ? kPrintingRegisters : kFewestRegisters);
        for (int64_t &g : groupsOf(p))
          g = std::max(g, std::min<int64_t>(registersAtStart(target_, 1), llvm::alignTo(wanted, kRegisterStep)));
      }
      int64_t taken = 0;
      for (int64_t g : groups) taken += g * kWarpGroup;
      int64_t left = registersOfOwnWarps(each, target_, own_, total_, taken);
      if (left < (printsOrAsserts(op.defaultRegion()) ? kPrintingRegisters : kFewestRegisters)) {
        Diagnostic d;
        d.severity = Severity::Warning;
        d.loc = op->loc();
        d.message = llvm::formatv("'ttg.warp_specialize' requests more registers than there are: of {0} for each of "
                                  "{1} warps it leaves {2} to the kernel's own; no warp changes its number",
                                  each, total_, left);
        diag_.report(std::move(d));
        continue;
      }
      llvm::SmallVector<int64_t, 8> actual{left};
      for (unsigned p = 0; p < regions.size(); ++p) actual.push_back(groupsOf(p).front());
      op->setAttr("actualRegisters", DenseArrayAttr::getI32(module_.context(), actual));
      any = true;
    }
    if (any) setModuleInt(module_.op(), kMaxRegistersAttr, each);
  }

  Module &module_;
  const TargetInfo &target_;
  DiagnosticEngine &diag_;
  int64_t own_; // the kernel's own warps
  int64_t total_ = own_;
};

} // namespace

absl::StatusOr<bool> allocateWarpGroups(Module &m, PassContext &c) {
  auto ops = collect<ttg::WarpSpecializeOp>(m.op());
  if (ops.empty()) return false;
  if (!c.target) return requiresTarget(c, m, "tritongpu-allocate-warp-groups");
  if (!WarpGroups(m, c).run(ops)) return absl::InvalidArgumentError("no warps for the partitions");
  for (auto op : ops) recomputeCaptures(op);
  return true;
}

} // namespace tessera::transforms
