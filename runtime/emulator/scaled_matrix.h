// MFMA whose operands have formats of their own and scales, llvm.amdgcn.mfma.scale.* (see scaled_matrix.cpp).
#pragma once
#include "runtime/emulator/decode.h"

namespace tessera::emulator {

void decodeScaledMatrix(Decoder &, llvm::CallInst &);

} // namespace tessera::emulator
