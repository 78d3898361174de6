// Remarks on a compilation as a whole: its number of warps, its resources, and what code generation did to functions.
// Those of passes on the IR are reported where they are decided.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/fewer_warps.h"
#include "runtime/compiler/more_warps.h"

namespace llvm {
class Module;
}

namespace tessera::runtime {

/// `MoreWarps`: more warps than requested.
transforms::Remark moreWarpsRemark(ir::Operation *kernel, const MoreWarps &, int requestedWarps,
                                   const ir::TargetInfo &);
/// `FewerWarps`: fewer warps than requested.
transforms::Remark fewerWarpsRemark(ir::Operation *kernel, const FewerWarps &, int requestedWarps);
/// `Resources`: what an object takes.
transforms::Remark resourcesRemark(ir::Operation *kernel, const KernelMetadata &);
/// That the tool which made the object lets no two warp-group dots run at a time, with its reason.
transforms::Remark dotsSerializedRemark(ir::Operation *kernel, llvm::StringRef reason);

/// Unoptimized: what is known even if code generation fails.
enum class CodeRemarks : uint8_t { Unoptimized, All };
/// `NotOptimized`, `WavesAlternate`, `PrioritiesRaised`: what LLVM's passes and ours noted as attributes of the code's
/// functions (codegen/attribute_names.h). `m`: the module that was lowered.
void reportCodeRemarks(const llvm::Module &code, ir::Module &m, const ir::TargetInfo &, Stage, CodeRemarks,
                       const std::function<void(const transforms::Remark &)> &report);

} // namespace tessera::runtime
