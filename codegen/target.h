// The Target: what the vendor-neutral lowering asks of a vendor, per thread. One implementation in codegen_nvidia/
// (inline PTX and nvvm intrinsics) and one in codegen_amd/ (amdgcn intrinsics); the files of the two have the same names
// for the same jobs. All functions insert at the builder's point. Lengths are in bytes unless said otherwise.
#pragma once
#include "ir/op_table.h"
#include "ir/target.h"
#include "llvm/IR/IRBuilder.h"

namespace tessera::codegen {

struct MemoryAccess {
  llvm::Value *pointer = nullptr;   // ptr addrspace(1)
  llvm::Value *mask = nullptr;      // i1; null: always
  unsigned alignment = 1;           // known alignment of the pointer
  ir::CacheModifier cache = ir::CacheModifier::None;
  ir::EvictionPolicy evict = ir::EvictionPolicy::EvictNormal;
  bool isVolatile = false;
};

class Target {
public:
  virtual ~Target() = default;
  virtual const ir::TargetInfo &info() const = 0;

  // ---- the thread ----
  virtual llvm::Value *threadId(llvm::IRBuilder<> &) const = 0;                 // i32, x dimension
  virtual llvm::Value *programId(llvm::IRBuilder<> &, int axis) const = 0;      // i32
  virtual llvm::Value *numPrograms(llvm::IRBuilder<> &, int axis) const = 0;    // i32
  /// The value as one that the hardware knows to be the same in all lanes of a warp. @pre it is.
  virtual llvm::Value *uniform(llvm::IRBuilder<> &, llvm::Value *i32) const = 0;
  virtual void barrier(llvm::IRBuilder<> &) const = 0;                          // all threads of the block; shared memory is visible after it
  virtual void warpBarrier(llvm::IRBuilder<> &) const = 0;                      // orders shared-memory accesses of one warp's lanes

  // ---- lanes ----
  /// Value of lane (lane ^ mask) / of lane `lane`, for i32. Other types go through codegen::shuffleXor and shuffleIndex,
  /// which cut them into words.
  /// Lanes that differ only in bits of `uniform` hold equal values, so the value of any lane that equals lane ^ mask up to
  /// those bits will do (on AMD xor 4 after 1 and 2 is a half-row mirror, for instance).
  virtual llvm::Value *shuffleXor32(llvm::IRBuilder<> &, llvm::Value *v, unsigned mask, unsigned uniform) const = 0;
  virtual llvm::Value *shuffleIndex32(llvm::IRBuilder<> &, llvm::Value *v, llvm::Value *lane) const = 0;
  virtual llvm::Value *shuffleUp32(llvm::IRBuilder<> &, llvm::Value *v, unsigned delta) const = 0;

  // ---- global memory ----
  /// Reads `count` consecutive elements of type `element`; where the mask is false gives `other` (same length, or empty:
  /// undefined). Returns the elements.
  virtual llvm::SmallVector<llvm::Value *, 8> load(llvm::IRBuilder<> &, const MemoryAccess &, llvm::Type *element, unsigned count, llvm::ArrayRef<llvm::Value *> other) const = 0;
  virtual void store(llvm::IRBuilder<> &, const MemoryAccess &, llvm::ArrayRef<llvm::Value *> values) const = 0;
  /// One atomic; the old value where the mask is true. `count` > 1 packs (f16x2, bf16x2) where info() says it can.
  virtual llvm::Value *atomicRmw(llvm::IRBuilder<> &, ir::RmwOp, const MemoryAccess &, llvm::Value *value, ir::MemSemantic, ir::MemSyncScope, bool resultUsed) const = 0;
  virtual llvm::Value *atomicCas(llvm::IRBuilder<> &, const MemoryAccess &, llvm::Value *cmp, llvm::Value *value, ir::MemSemantic, ir::MemSyncScope) const = 0;

  // ---- shared memory ----
  virtual llvm::Value *loadShared(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Type *type, unsigned alignment, llvm::Value *mask = nullptr) const = 0;
  virtual void storeShared(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Value *value, unsigned alignment, llvm::Value *mask = nullptr) const = 0;

  // ---- arithmetic ----
  /// A `math.*`, `arith.divf`, `tt.precise_*` … operation on scalars the target's own way, or null: then the neutral
  /// expansion or the device library is used.
  virtual llvm::Value *mathOp(llvm::IRBuilder<> &, ir::Opcode, llvm::Type *, llvm::ArrayRef<llvm::Value *> args) const = 0;
  /// The device library's function for an operation on a type ("__nv_sinf", "__ocml_sin_f32"), or empty.
  virtual std::string libraryFunction(ir::Opcode, llvm::Type *) const = 0;
  /// Converts floats between element kinds with the target's instructions, several at once where they pack; false when
  /// it has none for the pair (then the neutral bit manipulation is used).
  virtual bool convertFloat(llvm::IRBuilder<> &, ir::FloatKind from, ir::FloatKind to, ir::RoundingMode, llvm::ArrayRef<llvm::Value *> in, llvm::SmallVectorImpl<llvm::Value *> &out) const = 0;
  virtual void assertFail(llvm::IRBuilder<> &, llvm::StringRef message, llvm::StringRef file, unsigned line, llvm::StringRef function) const = 0;
  virtual void print(llvm::IRBuilder<> &, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> args) const = 0;
  virtual bool inlineAssembly(ir::Operation *, llvm::IRBuilder<> &, llvm::ArrayRef<llvm::Value *> args, llvm::ArrayRef<llvm::Type *> results, llvm::SmallVectorImpl<llvm::Value *> &out) const = 0;

  // ---- functions ----
  /// Calling convention, launch bounds and attributes of a kernel of so many threads.
  virtual void kernelAttributes(llvm::Function &, unsigned threadsPerBlock, unsigned maxRegisters) const = 0;
  /// The block's dynamic shared memory.
  virtual llvm::GlobalVariable *sharedMemory(llvm::Module &) const = 0;
};

/// Any scalar, vector or pointer value through 32-bit shuffles.
/// Lanes that differ only in bits of `uniform` are known to hold equal values (see shuffleXor32).
llvm::Value *shuffleXor(llvm::IRBuilder<> &, const Target &, llvm::Value *, unsigned mask, unsigned uniform = 0);
llvm::Value *shuffleIndex(llvm::IRBuilder<> &, const Target &, llvm::Value *, llvm::Value *lane);

} // namespace tessera::codegen
