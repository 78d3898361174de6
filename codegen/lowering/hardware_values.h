// Values that hardware gives to a thread: its number, its block's, the size of the grid.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {

/// The value of an intrinsic without operands.
inline llvm::CallInst *readHardware(llvm::IRBuilder<> &b, llvm::Intrinsic::ID id) {
  return b.CreateIntrinsic(id, {}, llvm::ArrayRef<llvm::Value *>());
}

} // namespace tessera::codegen
