// The address spaces of LLVM IR that both vendors have, by the same numbers. Names are CUDA's; AMD's LDS is shared
// memory, and its scratch is private memory.
#pragma once
#include "llvm/Support/AMDGPUAddrSpace.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace tessera::codegen {

inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;
inline constexpr unsigned kConstantSpace = 4;
inline constexpr unsigned kPrivateSpace = 5;

static_assert(kGlobalSpace == unsigned(llvm::AMDGPUAS::GLOBAL_ADDRESS) &&
              kGlobalSpace == unsigned(llvm::NVPTXAS::ADDRESS_SPACE_GLOBAL));
static_assert(kSharedSpace == unsigned(llvm::AMDGPUAS::LOCAL_ADDRESS) &&
              kSharedSpace == unsigned(llvm::NVPTXAS::ADDRESS_SPACE_SHARED));
static_assert(kConstantSpace == unsigned(llvm::AMDGPUAS::CONSTANT_ADDRESS) &&
              kConstantSpace == unsigned(llvm::NVPTXAS::ADDRESS_SPACE_CONST));
static_assert(kPrivateSpace == unsigned(llvm::AMDGPUAS::PRIVATE_ADDRESS) &&
              kPrivateSpace == unsigned(llvm::NVPTXAS::ADDRESS_SPACE_LOCAL));

} // namespace tessera::codegen
