// The LLVM passes that run on a lowered module before instruction selection.
#pragma once
#include "absl/status/status.h"
#include "ir/target.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm
namespace tessera::amd {

absl::Status runLLVMPasses(llvm::Module &, llvm::TargetMachine &, int optLevel, const ir::TargetInfo &);

} // namespace tessera::amd
