// LLVM's intrinsics for AMD by kind, for passes on LLVM IR (machine instructions: opcodes.h).
#pragma once
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tessera::amd {

inline bool isIntrinsic(const llvm::Instruction &i, llvm::Intrinsic::ID id) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  return call && call->getIntrinsicID() == id;
}

/// Whether it is an intrinsic whose name begins so.
inline bool isIntrinsicOf(const llvm::Instruction &i, llvm::StringRef family) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  return call && llvm::Intrinsic::getBaseName(call->getIntrinsicID()).starts_with(family);
}

inline bool isMfma(const llvm::Instruction &i) { return isIntrinsicOf(i, "llvm.amdgcn.mfma"); }
inline bool isWmma(const llvm::Instruction &i) { return isIntrinsicOf(i, "llvm.amdgcn.wmma"); }

/// Whether it loads from a buffer to registers.
inline bool isBufferLoad(const llvm::Instruction &i) {
  return isIntrinsic(i, llvm::Intrinsic::amdgcn_raw_ptr_buffer_load);
}

} // namespace tessera::amd
