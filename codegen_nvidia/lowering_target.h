// What NVIDIA GPUs do their own way in the lowering of IR to LLVM IR: the Target of codegen/lowering/target.h in nvvm
// intrinsics and inline PTX. lowering_target.cpp: threads, lanes, functions; lowering_memory.cpp: accesses and
// atomics; lowering_math.cpp: functions and conversions; lowering_matrix.cpp, lowering_warp_group.cpp: matrix
// instructions; lowering_tensor_memory.cpp: those in tensor memory; lowering_tensor_copy.cpp: bulk copies. Source of
// instructions and their restrictions: "Parallel Thread Execution ISA".
#pragma once
#include "codegen/lowering/target_without.h"
#include <memory>

namespace tessera::nvidia {

std::unique_ptr<codegen::Target> makeTarget(const ir::TargetInfo &);

class NvidiaTarget final : public codegen::WithoutScheduleBarriers,
                           public codegen::WithoutDivision,
                           public codegen::WithoutWarpCopies,
                           public codegen::WithoutBroadcastMatrices,
                           public codegen::WithoutTransposedLdsRead {
public:
  explicit NvidiaTarget(const ir::TargetInfo &info) : info_(info) {}
  const ir::TargetInfo &info() const override { return info_; }

  llvm::Value *threadId(llvm::IRBuilder<> &) const override;
  llvm::Value *programId(llvm::IRBuilder<> &, int axis, bool ofCluster) const override;
  llvm::Value *numPrograms(llvm::IRBuilder<> &, int axis, bool ofCluster) const override;
  llvm::Value *blockInCluster(llvm::IRBuilder<> &) const override;
  llvm::Value *uniform(llvm::IRBuilder<> &, llvm::Value *) const override;
  void barrier(llvm::IRBuilder<> &, bool global) const override;
  void namedBarrier(llvm::IRBuilder<> &, llvm::Value *number, unsigned threads, bool onePlace) const override;
  void arriveAtNamedBarrier(llvm::IRBuilder<> &, llvm::Value *number, unsigned threads) const override;
  void setRegisters(llvm::IRBuilder<> &, unsigned count, bool more) const override;
  llvm::StringRef blockScope() const override { return "block"; }
  void warpBarrier(llvm::IRBuilder<> &) const override;

  llvm::Value *shuffleXor32(llvm::IRBuilder<> &, llvm::Value *, unsigned mask, unsigned uniform) const override;
  llvm::Value *shuffleIndex32(llvm::IRBuilder<> &, llvm::Value *, llvm::Value *lane) const override;
  llvm::Value *shuffleFixed32(llvm::IRBuilder<> &, llvm::Value *, llvm::ArrayRef<int8_t> sources) const override;
  bool hasHalves(unsigned) const override { return false; }
  std::pair<llvm::Value *, llvm::Value *> halves32(llvm::IRBuilder<> &, llvm::Value *, llvm::Value *,
                                                   unsigned) const override {
    return {};
  }
  llvm::Value *combineLanes(llvm::IRBuilder<> &, codegen::LaneCombination, llvm::Value *) const override;
  bool combinesThree(ir::Opcode, ir::Type) const override { return false; }

  void load(llvm::IRBuilder<> &, llvm::Type *element, llvm::MutableArrayRef<codegen::LoadAccess>) const override;
  void store(llvm::IRBuilder<> &, llvm::ArrayRef<codegen::StoreAccess>) const override;
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

  llvm::Value *mathOp(llvm::IRBuilder<> &, ir::Opcode, llvm::Type *, llvm::ArrayRef<llvm::Value *>) const override;
  std::string libraryFunction(llvm::StringRef name, llvm::Type *) const override;
  bool convertFloat(llvm::IRBuilder<> &, ir::FloatKind from, ir::FloatKind to, ir::RoundingMode,
                    llvm::ArrayRef<llvm::Value *> in, llvm::SmallVectorImpl<llvm::Value *> &out) const override;
  bool convertE2m1(llvm::IRBuilder<> &, bool high, ir::FloatKind to, llvm::ArrayRef<llvm::Value *> bytes,
                   llvm::SmallVectorImpl<llvm::Value *> &out) const override;

  codegen::MatrixFragment matrixFragment(const ir::MatrixInstruction &, const layouts::Encoding *) const override;
  void multiply(llvm::IRBuilder<> &, const ir::MatrixInstruction &, llvm::ArrayRef<llvm::Value *> a,
                llvm::ArrayRef<llvm::Value *> b, llvm::MutableArrayRef<llvm::Value *> acc) const override;
  llvm::SmallVector<llvm::Value *, 4> loadMatrices(llvm::IRBuilder<> &, llvm::Value *ptr, unsigned count,
                                                   bool transposed) const override;
  void storeMatrices(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::ArrayRef<llvm::Value *> words,
                     bool transposed) const override;
  void warpGroupMultiply(llvm::IRBuilder<> &, const codegen::WarpGroupDot &,
                         llvm::MutableArrayRef<llvm::Value *> acc) const override;
  llvm::Value *opaqueFalse(llvm::IRBuilder<> &) const override;
  void commitDots(llvm::IRBuilder<> &) const override;
  void waitForDots(llvm::IRBuilder<> &, unsigned pending, llvm::MutableArrayRef<llvm::Value *>) const override;
  void fenceAsyncShared(llvm::IRBuilder<> &) const override;

  void allocateTensorMemory(llvm::IRBuilder<> &, llvm::Value *word, unsigned columns) const override;
  void freeTensorMemory(llvm::IRBuilder<> &, llvm::Value *address, unsigned columns) const override;
  llvm::SmallVector<llvm::Value *, 32> loadTensorMemory(llvm::IRBuilder<> &,
                                                        llvm::ArrayRef<codegen::TensorMemoryAccess>) const override;
  void storeTensorMemory(llvm::IRBuilder<> &, llvm::ArrayRef<codegen::TensorMemoryAccess>,
                         llvm::ArrayRef<llvm::Value *> words, llvm::Value *predicate) const override;
  void multiplyInTensorMemory(llvm::IRBuilder<> &, const codegen::TensorMemoryDot &) const override;

  bool copyToShared(llvm::IRBuilder<> &, const codegen::MemoryAccess &, llvm::Value *shared, unsigned bytes,
                    llvm::Value *acts) const override;
  void commitCopies(llvm::IRBuilder<> &) const override;
  void waitForCopies(llvm::IRBuilder<> &, unsigned pending) const override;

  llvm::Value *electThread(llvm::IRBuilder<> &) const override;
  void makeTensorMap(llvm::IRBuilder<> &, const codegen::TensorMap &, llvm::Value *shared, llvm::Value *lane,
                     llvm::Value *leader) const override;
  void acquireTensorMap(llvm::IRBuilder<> &, llvm::Value *map) const override;
  void tensorMapArgument(llvm::Argument &) const override;
  void copyTensor(llvm::IRBuilder<> &, const codegen::TensorCopy &, llvm::Value *predicate) const override;
  void commitTensorCopies(llvm::IRBuilder<> &) const override;
  void waitForTensorCopies(llvm::IRBuilder<> &, unsigned pending, bool readsOnly) const override;
  void initBarrier(llvm::IRBuilder<> &, llvm::Value *barrier, unsigned count, llvm::Value *predicate) const override;
  void invalidateBarrier(llvm::IRBuilder<> &, llvm::Value *barrier, llvm::Value *predicate) const override;
  void arriveAtBarrier(llvm::IRBuilder<> &, llvm::Value *barrier, unsigned count, int64_t bytes,
                       llvm::Value *predicate) const override;
  llvm::Value *testBarrier(llvm::IRBuilder<> &, llvm::Value *barrier, llvm::Value *parity) const override;

  void assertFail(llvm::IRBuilder<> &, llvm::StringRef message, llvm::StringRef file, unsigned line,
                  llvm::StringRef function) const override;
  bool print(llvm::IRBuilder<> &, llvm::StringRef format, llvm::ArrayRef<llvm::Value *>) const override;

  void kernelAttributes(llvm::Function &, unsigned threadsPerBlock, unsigned numCtas, unsigned maxRegisters,
                        unsigned widestTensor) const override;
  void finish(llvm::Function &) const override {}
  llvm::GlobalVariable *sharedMemory(llvm::Module &) const override;

private:
  const ir::TargetInfo &info_;
};

} // namespace tessera::nvidia
