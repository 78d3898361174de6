// AMD's buffer instructions, loads into LDS and the wait for them. Sources: the ISA guides ("AMD Instinct MI300" for
// gfx9, "RDNA3" and "RDNA4" for gfx11 and gfx12), "Vector Memory Buffer Instructions". Memory checks the range of a
// resource (memory.cpp).
#pragma once
#include "runtime/emulator/decode.h"

namespace tessera::emulator {

void decodeMakeResource(Decoder &, llvm::CallInst &);
void decodeBufferLoad(Decoder &, llvm::CallInst &);
void decodeBufferStore(Decoder &, llvm::CallInst &);
void decodeBufferAtomic(Decoder &, llvm::CallInst &);
void decodeBufferLoadToLds(Decoder &, llvm::CallInst &);
void decodeGlobalLoadToLds(Decoder &, llvm::CallInst &);
/// s_waitcnt: its count of vector loads bounds the loads into LDS that are in flight; all other loads are done at once.
void decodeWaitCount(Decoder &, llvm::CallInst &);

} // namespace tessera::emulator
