// All targets of both vendors by name, and the back end of each: the one place above the two vendor folders.
#pragma once
#include "codegen/lowering/target.h"
#include "codegen/lowering/targets.h"
#include "codegen/object/backend.h"

namespace tessera::runtime {

/// Every target, NVIDIA's first, each vendor's oldest first. The rows live as long as the program.
std::vector<const codegen::ArchInfo *> allTargets();

/// The target of a --target name (aliases too: "sm_90" is sm_90a) or a `ttg.target` value ("cuda:90", "hip:gfx942");
/// null if there is none.
const codegen::ArchInfo *findArch(llvm::StringRef name);
inline const ir::TargetInfo *findTarget(llvm::StringRef name) {
  const codegen::ArchInfo *arch = findArch(name);
  return arch ? &arch->info : nullptr;
}

/// "sm_80, …, gfx1201"
std::string targetNames();
/// The error of a name that findArch does not know: "unknown target 'h100'; did you mean 'sm_90a'? targets: …". `of`
/// follows the name: " of the emulator".
std::string unknownTarget(llvm::StringRef name, llvm::StringRef of = "");

/// One line per tool and library of the vendors' toolkits: where it was found, or what is missing and how to name it.
std::vector<std::string> describeToolchains();
/// The same for one target's vendor only.
std::vector<std::string> describeTools(const codegen::ArchInfo &);

struct CompileOptions;
/// InvalidArgument if an environment variable that such a compilation may read has a value that it cannot have, or
/// names a tool or a library that is not there: to take another one would not be what was asked for.
absl::Status checkEnvironment(const ir::TargetInfo &, const CompileOptions &);

/// The vendor's part of the lowering to LLVM IR.
std::unique_ptr<codegen::Target> createTarget(const ir::TargetInfo &);

struct KernelMetadata;
/// The back end's options for a compilation. What they say of the kernel (warps, blocks, memory) is set if it is known:
/// `kernel` is not null. `maxRegisters`: the module's ttg.maxnreg; 0: no bound.
codegen::BackendOptions backendOptions(const CompileOptions &, const KernelMetadata *kernel = nullptr,
                                       int maxRegisters = 0);

/// Starts what makes the object, if it is a process, so that it gets ready while the assembly is made: for
/// BackendOptions::ahead. Null where there is nothing to start.
std::shared_ptr<codegen::ToolAhead> startAhead(const codegen::ArchInfo &arch, const codegen::BackendOptions &);

/// @pre arch is a row of allTargets().
std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &);

} // namespace tessera::runtime
