// The LLVM passes that run on a lowered module before instruction selection.
#pragma once
#include "absl/status/status.h"
#include "ir/tuning.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm
namespace tessera::nvidia {

absl::Status runLLVMPasses(llvm::Module &, llvm::TargetMachine &, int optLevel, const ir::Tuning &);

} // namespace tessera::nvidia
