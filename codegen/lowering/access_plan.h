// How the register elements of a tensor of pointers are grouped into memory accesses, and what is known of their
// addresses. Used by loads, stores and atomics.
//
//   registers  0 1 2 3 | 4 5 6 7        contiguity 8, alignment 16 bytes, f32   →   two accesses of 4 elements,
//   offsets    0 1 2 3 | 4 5 6 7                                                   the second at the first's + 16 bytes
//
// An access takes registers whose indices are consecutive along one dimension, in an aligned group that the pointer's
// AxisInfo says is contiguous, as many as fit 16 bytes, the pointer's alignment and, where there is a mask, the groups
// in which the mask is constant. Registers that hold copies of others are left out; where several threads hold copies
// is the caller's concern (FunctionLowering::isRepresentative). Accesses inside one contiguous group of AxisInfo share
// one pointer, to which they add a constant, which instructions take as an immediate. So do, with joinRows, those that
// are constants apart along other dimensions:
//
//   offsets %row * 32 + %column, registers of rows 0, 4, 8 and 12   →   one offset, and 0, 128, 256 and 384 elements
#pragma once
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include <map>

namespace tessera::codegen {

struct VectorAccess {
  llvm::SmallVector<unsigned, 8> registers; // of the elements, in memory order
  unsigned baseRegister = 0;                // the register whose pointer is the address up to a constant
  int64_t constant = 0;                     // bytes after it
};

/// Where buffer accesses are (amdg.buffer_load): a scalar base and a tensor of offsets in elements.
struct BufferAddress {
  llvm::Value *base = nullptr;
  ir::Value offsets;
  int64_t elementBytes = 1;
  std::map<unsigned, llvm::Value *> bytes = {}; // offsets of registers, as they are needed
};

class AccessPlan {
public:
  /// `ptr` is a pointer or a tensor of pointers; `mask` may be null. `elementBytes` is the size of an element in
  /// memory, `maxBytes` bounds an access.
  AccessPlan(FunctionLowering &, ir::Value ptr, ir::Value mask, int64_t elementBytes, int64_t maxBytes);
  /// The same for a scalar base with a tensor of offsets in elements (amdg.buffer_load); `contiguity` is what the
  /// operation says of its offsets.
  AccessPlan(FunctionLowering &, ir::Value offsets, ir::Value mask, int64_t elementBytes, int64_t maxBytes,
             int64_t contiguity);

  llvm::ArrayRef<VectorAccess> accesses() const { return accesses_; }
  unsigned alignment() const { return alignment_; }
  /// Accesses a constant apart share a pointer, where instructions take the constant. For accesses outside of loops,
  /// which carry offsets and advance them (codegen_amd/passes), and without a mask: the shared pointer must be one that
  /// is accessed.
  void joinRows() { joinsRows_ = true; }
  /// Fills the access's address (pointer, and base with offset where it is known).
  void address(const VectorAccess &, MemoryAccess &);
  /// The same for a plan of offsets. @pre the offsets are the plan's
  void address(BufferAddress &, const VectorAccess &, MemoryAccess &);

private:
  void group(ir::Type, int64_t contiguity, unsigned dim, unsigned vector, int64_t elementBytes);
  void shareRows();
  void plan(ir::Value value, ir::Value mask, int64_t elementBytes, int64_t maxBytes,
            llvm::function_ref<int64_t(unsigned)> alignmentOf, llvm::function_ref<int64_t(unsigned)> contiguityOf);

  FunctionLowering &fl_;
  ir::Value ptr_;
  llvm::SmallVector<VectorAccess, 8> accesses_;
  unsigned alignment_ = 1;
  llvm::DenseMap<unsigned, llvm::Value *> offsets_; // by register
  bool splitTried_ = false, joinsRows_ = false;
  bool wraps_ = false;
  uint32_t moved_ = 0;
  llvm::Value *base_ = nullptr;
  llvm::SmallVector<std::pair<ir::Value, int64_t>, 4> terms_; // per-lane parts of the offset and their scale
};

} // namespace tessera::codegen
