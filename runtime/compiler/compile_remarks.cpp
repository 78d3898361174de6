// Remarks on a compilation as a whole (see compile_remarks.h).
#include "runtime/compiler/compile_remarks.h"
#include "codegen/attribute_names.h"
#include "ir/ops.h"
#include "ir/symbol_table.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::runtime {
using namespace ir;
using transforms::Remark;

transforms::Remark moreWarpsRemark(Operation *kernel, const MoreWarps &more, int requested, const TargetInfo &target) {
  int exist = target.registersPerThread(requested, RegisterSplit::Allocated);
  std::string message =
      llvm::formatv("'{0}' has {1} warps instead of {2}: tensors would hold {3} registers of a thread instead of {4}, "
                    "and {5} exist",
                    kernel->cast<tt::FuncOp>().symName(), more.warps, requested, more.heldBefore, more.held, exist);
  return {Remark::Applied,
          "more-warps",
          "MoreWarps",
          kernel->loc(),
          std::move(message),
          llvm::json::Object{{"numWarps", more.warps},
                             {"requestedNumWarps", requested},
                             {"heldRegisters", more.held},
                             {"heldRegistersRequested", more.heldBefore},
                             {"registersPerThread", exist}}};
}

transforms::Remark fewerWarpsRemark(Operation *kernel, const FewerWarps &fewer, int requested) {
  std::string message =
      llvm::formatv("'{0}' has {1} {2} instead of {3}: no tensor of it has more than {4} {5}",
                    kernel->cast<tt::FuncOp>().symName(), fewer.warps, fewer.warps == 1 ? "warp" : "warps", requested,
                    fewer.mostElements, fewer.mostElements == 1 ? "element" : "elements");
  return {Remark::Applied,
          "fewer-warps",
          "FewerWarps",
          kernel->loc(),
          std::move(message),
          llvm::json::Object{
              {"numWarps", fewer.warps}, {"requestedNumWarps", requested}, {"mostElements", fewer.mostElements}}};
}

transforms::Remark resourcesRemark(Operation *kernel, const KernelMetadata &md) {
  int64_t shared = md.dynamicSharedBytes + md.staticSharedBytes;
  std::string message = llvm::formatv("'{0}' takes {1} registers of a thread ({2} bytes spilled) and {3} bytes of "
                                      "shared memory; {4} blocks of {5} warps fit on a multiprocessor",
                                      md.kernel, md.registers, md.spillBytes, shared, md.occupancy, md.warpsPerBlock());
  return {Remark::Analysis,
          "codegen",
          "Resources",
          kernel->loc(),
          std::move(message),
          llvm::json::Object{{"registers", md.registers},
                             {"spillBytes", md.spillBytes},
                             {"sharedBytes", shared},
                             {"blocksPerMultiprocessor", md.occupancy}}};
}

transforms::Remark dotsSerializedRemark(Operation *kernel, llvm::StringRef reason) {
  std::string message = llvm::formatv("ptxas lets each warp-group dot of '{0}' wait for the one before it, due to {1}",
                                      kernel->cast<tt::FuncOp>().symName(), reason);
  return {Remark::Missed, "codegen", "DotsSerialized", kernel->loc(), std::move(message), {}};
}

/// The back end marks further functions while it optimises.
static Remark notOptimized(llvm::StringRef function, const TargetInfo &target) {
  int64_t most = target.maxRegistersPerThread;
  std::string message = llvm::formatv("machine code of '{0}' is made without optimisation, in seconds instead of "
                                      "minutes: a tensor of it, or the values of a loop, take more than the {1} "
                                      "registers that a thread may have; with more warps or smaller blocks they would "
                                      "fit",
                                      function, most);
  return {Remark::Missed,     "codegen",
          "NotOptimized",     {},
          std::move(message), llvm::json::Object{{"registersPerThread", most}}};
}

static Remark wavesAlternate(llvm::StringRef function) {
  std::string message = llvm::formatv("in loops with dots of '{0}', half of the waves use the matrix units while the "
                                      "other half accesses memory",
                                      function);
  return {Remark::Applied, "codegen", "WavesAlternate", {}, std::move(message), {}};
}

static Remark prioritiesRaised(llvm::StringRef function, int64_t blocks) {
  std::string message = llvm::formatv(
      "waves of '{0}' raise their priority on the way to a barrier of a loop with dots, which keeps shared memory "
      "busier than the matrix units: the {1} blocks on a compute unit then use it one after the other, instead of "
      "waiting for their last waves together",
      function, blocks);
  return {Remark::Applied,    "codegen",
          "PrioritiesRaised", {},
          std::move(message), llvm::json::Object{{"blocksPerMultiprocessor", blocks}}};
}

void reportCodeRemarks(const llvm::Module &code, Module &m, const TargetInfo &target, Stage stage, CodeRemarks which,
                       const std::function<void(const Remark &)> &report) {
  SymbolTable symbols(m);
  auto forEach = [&](llvm::StringRef attribute, auto &&remarkOn) {
    for (const llvm::Function &f : code) {
      if (!f.hasFnAttribute(attribute)) continue;
      Remark remark = remarkOn(f);
      if (Operation *function = symbols.lookup(f.getName())) remark.place = function->loc();
      report(remark);
    }
  };
  bool isGenerated = stage >= Stage::Asm;
  if (isGenerated) forEach(codegen::kSpillsAnyway, [&](auto &f) { return notOptimized(f.getName(), target); });
  if (which == CodeRemarks::Unoptimized) return;
  forEach(codegen::kAlternatingWaves, [](auto &f) { return wavesAlternate(f.getName()); });
  if (!isGenerated) return;
  forEach(codegen::kRaisedPriorities, [](auto &f) {
    return prioritiesRaised(f.getName(), int64_t(f.getFnAttributeAsParsedInteger(codegen::kRaisedPriorities)));
  });
}

} // namespace tessera::runtime
