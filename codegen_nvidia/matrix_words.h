// What the lowerings of NVIDIA's matrix instructions share: how PTX names the types, and operands as 32-bit words.
#pragma once
#include "ir/matrix_instruction.h"
#include "llvm/IR/IRBuilder.h"

namespace tessera::nvidia {

/// "f16", "tf32", "e4m3", …; empty for types that are not NVIDIA's.
llvm::StringRef matrixTypeName(ir::MatrixType);
/// Values as words of 32 bits (f64 stays), appended to `out`.
void words(llvm::IRBuilder<> &, llvm::ArrayRef<llvm::Value *> values, llvm::SmallVectorImpl<llvm::Value *> &out);

} // namespace tessera::nvidia
