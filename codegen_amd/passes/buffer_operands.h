// Where buffer accesses of LLVM IR have their operands, and what numbers these are.
#pragma once
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include <cstdint>
#include <optional>

namespace tessera::amd {

/// Constants that a buffer access adds to its offset are less: its immediate has 12 bits.
inline constexpr uint64_t kBufferImmediates = 4096;
/// The offset of lanes that are masked off: beyond the end of every buffer but those that have all 32-bit offsets.
inline constexpr uint32_t kBeyondBuffers = 0x80000000;

/// Numbers of a buffer access's operands.
struct BufferOperands {
  unsigned resource = 0;
  unsigned offset = 0; // of each lane
  unsigned scalar = 0; // of the wave, added to the address
  bool isCopy = false; // into LDS
  /// Whether a constant added to the offset can be the instruction's immediate. A copy's moves the place in LDS, too.
  bool takesImmediate() const { return !isCopy; }
};

/// Those of a load, a load into LDS or a store; nothing for other instructions.
inline std::optional<BufferOperands> bufferOperands(const llvm::Value &v) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&v);
  if (!call) return std::nullopt;
  switch (call->getIntrinsicID()) {
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_load: return BufferOperands{0, 1, 2};
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_load_lds: return BufferOperands{0, 3, 4, true};
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_store: return BufferOperands{1, 2, 3};
  default: return std::nullopt;
  }
}

} // namespace tessera::amd
