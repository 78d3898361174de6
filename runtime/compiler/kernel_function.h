// The function of a module that is compiled and launched: which one it is, and what its arguments are to a launcher.
#pragma once
#include "absl/status/statusor.h"
#include "ir/operation.h"
#include "runtime/compiler/metadata.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace tessera::runtime {

/// The public function to compile: the named one, or the only one. An error names the candidates.
absl::StatusOr<ir::Operation *> selectKernel(const ir::Module &, llvm::StringRef name);
/// The kernel and what it may call; not the module's other kernels.
llvm::SmallVector<ir::Operation *, 2> functionsOf(const ir::Module &, llvm::StringRef kernel);
/// Erases functions with a body that the kernel does not call, directly or not.
void keepReachable(ir::Module &, ir::Operation *kernel);
/// A kernel's arguments as the metadata has them: "*f32", named as in the source if its locations have the names.
std::vector<KernelMetadata::Arg> describeArguments(ir::Operation *kernel);

} // namespace tessera::runtime
