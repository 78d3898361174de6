// What AMD GPUs do their own way in the lowering of IR to LLVM IR: the Target of codegen/lowering/target.h in amdgcn
// intrinsics. lowering_target.cpp: threads, functions; lowering_lanes.cpp: lanes; lowering_memory.cpp: accesses and
// atomics; lowering_math.cpp: functions and conversions. Sources: the instruction set architecture guides "AMD
// Instinct MI300" (CDNA3), "CDNA4", "RDNA3", "RDNA4", and LLVM's "User Guide for AMDGPU Backend".
#pragma once
#include "codegen/lowering/target_without.h"
#include <memory>

namespace tessera::amd {

std::unique_ptr<codegen::Target> makeTarget(const ir::TargetInfo &);

class AmdTarget final : public codegen::WithoutPartitions,
                        public codegen::WithoutPerLaneAsyncCopies,
                        public codegen::WithoutLdmatrix,
                        public codegen::WithoutWarpGroupDots,
                        public codegen::WithoutTensorMemory,
                        public codegen::WithoutTensorCopies {
public:
  explicit AmdTarget(const ir::TargetInfo &info) : info_(info), rdna_(info.warpSize == 32) {}
  const ir::TargetInfo &info() const override { return info_; }

  llvm::Value *threadId(llvm::IRBuilder<> &) const override;
  llvm::Value *programId(llvm::IRBuilder<> &, int axis, bool ofCluster) const override;
  llvm::Value *numPrograms(llvm::IRBuilder<> &, int axis, bool ofCluster) const override;
  llvm::Value *blockInCluster(llvm::IRBuilder<> &) const override;
  llvm::Value *uniform(llvm::IRBuilder<> &, llvm::Value *) const override;
  void barrier(llvm::IRBuilder<> &, bool global) const override;
  llvm::StringRef blockScope() const override { return "workgroup"; }
  void warpBarrier(llvm::IRBuilder<> &) const override;
  void scheduleBarrier(llvm::IRBuilder<> &, unsigned mask) const override;

  llvm::Value *shuffleXor32(llvm::IRBuilder<> &, llvm::Value *, unsigned mask, unsigned uniform) const override;
  bool hasHalves(unsigned mask) const override { return info_.hasHalfWarpSwap && !rdna_ && (mask == 16 || mask == 32); }
  std::pair<llvm::Value *, llvm::Value *> halves32(llvm::IRBuilder<> &, llvm::Value *low, llvm::Value *high,
                                                   unsigned mask) const override;
  llvm::Value *shuffleIndex32(llvm::IRBuilder<> &, llvm::Value *, llvm::Value *lane) const override;
  llvm::Value *shuffleFixed32(llvm::IRBuilder<> &, llvm::Value *, llvm::ArrayRef<int8_t> sources) const override;
  llvm::Value *combineLanes(llvm::IRBuilder<> &, codegen::LaneCombination, llvm::Value *) const override {
    return nullptr; // no instruction combines all lanes
  }
  bool combinesThree(ir::Opcode, ir::Type) const override;

  void load(llvm::IRBuilder<> &, llvm::Type *element, llvm::MutableArrayRef<codegen::LoadAccess>) const override;
  void store(llvm::IRBuilder<> &, llvm::ArrayRef<codegen::StoreAccess>) const override;
  std::optional<llvm::SyncScope::ID> fenceScope(llvm::LLVMContext &, ir::MemSyncScope) const override;
  llvm::SmallVector<llvm::Value *, 4> atomicRmw(llvm::IRBuilder<> &, ir::RmwOp, const codegen::MemoryAccess &,
                                                llvm::ArrayRef<llvm::Value *>, ir::MemSemantic, ir::MemSyncScope,
                                                bool resultUsed) const override;
  llvm::SyncScope::ID syncScope(llvm::LLVMContext &, ir::MemSyncScope) const override;
  llvm::Value *nanoseconds(llvm::IRBuilder<> &) const override;
  llvm::Value *atomicCas(llvm::IRBuilder<> &, const codegen::MemoryAccess &, llvm::Value *cmp, llvm::Value *value,
                         ir::MemSemantic, ir::MemSyncScope) const override;
  llvm::Value *loadShared(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Type *, unsigned alignment,
                          llvm::Value *mask) const override;
  void storeShared(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Value *value, unsigned alignment,
                   llvm::Value *mask) const override;
  llvm::Value *loadTransposed(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Type *element) const override;
  bool copyWarpToShared(llvm::IRBuilder<> &, const codegen::MemoryAccess &, llvm::Value *shared,
                        unsigned bytes) const override;
  void waitForCopies(llvm::IRBuilder<> &, unsigned pending) const override;

  llvm::Value *mathOp(llvm::IRBuilder<> &, ir::Opcode, llvm::Type *, llvm::ArrayRef<llvm::Value *>) const override;
  llvm::Value *divideIntegers(llvm::IRBuilder<> &, llvm::Instruction::BinaryOps, llvm::Value *x,
                              llvm::Value *y) const override;
  std::string libraryFunction(llvm::StringRef name, llvm::Type *) const override;
  bool convertE2m1(llvm::IRBuilder<> &, bool high, ir::FloatKind to, llvm::ArrayRef<llvm::Value *> bytes,
                   llvm::SmallVectorImpl<llvm::Value *> &out) const override;
  bool convertFloat(llvm::IRBuilder<> &, ir::FloatKind from, ir::FloatKind to, ir::RoundingMode,
                    llvm::ArrayRef<llvm::Value *> in, llvm::SmallVectorImpl<llvm::Value *> &out) const override;

  codegen::MatrixFragment matrixFragment(const ir::MatrixInstruction &, const layouts::Encoding *) const override;
  void multiply(llvm::IRBuilder<> &, const ir::MatrixInstruction &, llvm::ArrayRef<llvm::Value *> a,
                llvm::ArrayRef<llvm::Value *> b, llvm::MutableArrayRef<llvm::Value *> acc) const override;
  void multiplyBroadcast(llvm::IRBuilder<> &, const ir::MatrixInstruction &, llvm::ArrayRef<llvm::Value *> a,
                         llvm::ArrayRef<llvm::Value *> b, llvm::MutableArrayRef<llvm::Value *> acc,
                         unsigned group) const override;

  void assertFail(llvm::IRBuilder<> &, llvm::StringRef message, llvm::StringRef file, unsigned line,
                  llvm::StringRef function) const override;
  bool print(llvm::IRBuilder<> &, llvm::StringRef format, llvm::ArrayRef<llvm::Value *>) const override;

  void kernelAttributes(llvm::Function &, unsigned threadsPerBlock, unsigned numCtas, unsigned maxRegisters,
                        unsigned widestTensor) const override;
  void finish(llvm::Function &) const override;
  llvm::GlobalVariable *sharedMemory(llvm::Module &) const override;

private:
  llvm::Value *resource(llvm::IRBuilder<> &, const codegen::MemoryAccess &) const;
  bool takesBuffer(const codegen::MemoryAccess &, llvm::Type *element, unsigned count) const;
  bool addsToMovedBase(const codegen::MemoryAccess &) const;
  /// The same for lanes that are all on, where the base is moved. `together` as in globalPointer.
  bool takesMovedBuffer(const codegen::MemoryAccess &, llvm::Type *element, unsigned count, bool together) const;
  llvm::Value *loadBuffer(llvm::IRBuilder<> &, codegen::LoadAccess, llvm::Type *element, llvm::Value *mask) const;
  void loadByBuffer(llvm::IRBuilder<> &, llvm::Type *element, codegen::LoadAccess &) const;
  void loadOrZeros(llvm::IRBuilder<> &, llvm::Type *element, codegen::LoadAccess &, bool together) const;
  void loadInBranch(llvm::IRBuilder<> &, llvm::Type *element, llvm::MutableArrayRef<codegen::LoadAccess>,
                    bool together) const;
  llvm::Value *atomicByBuffer(llvm::IRBuilder<> &, ir::RmwOp, const codegen::MemoryAccess &, llvm::Value *,
                              ir::MemSemantic, ir::MemSyncScope) const;
  void storeBuffer(llvm::IRBuilder<> &, codegen::StoreAccess, llvm::Value *packed, llvm::Value *mask) const;
  int bufferHints(const codegen::MemoryAccess &) const;

  const ir::TargetInfo &info_;
  bool rdna_; // waves of 32 lanes, DPP16, permlanex16
};

} // namespace tessera::amd
