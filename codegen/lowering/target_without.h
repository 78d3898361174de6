// What a target lacks, said by its class. All functions of Target are pure, so a target that implements too few does
// not compile. A target without a capability derives from the class here that implements the capability's functions:
//
//   class MyTarget final : public WithoutWarpGroupDots, public WithoutTensorCopies { … };
//
// Where the lowering tests the capability first (a field of TargetInfo, named below), the functions are never called:
// they end the process, since the target's row in the architecture table has what its class lacks. Where it tests
// nothing, they are what is right without the capability.
#pragma once
#include "codegen/lowering/target.h"
#include "llvm/Support/ErrorHandling.h"

namespace tessera::codegen {

[[noreturn]] inline void lacks(const char *capability) {
  llvm::report_fatal_error(llvm::Twine("the architecture table says '") + capability +
                           "' of a target whose class lacks it");
}

/// info().namedBarriers is 0: nothing of ttg.warp_specialize.
class WithoutPartitions : public virtual Target {
public:
  void namedBarrier(llvm::IRBuilder<> &, llvm::Value *, unsigned, bool) const override { lacks("namedBarriers"); }
  void arriveAtNamedBarrier(llvm::IRBuilder<> &, llvm::Value *, unsigned) const override { lacks("namedBarriers"); }
  void setRegisters(llvm::IRBuilder<> &, unsigned, bool) const override { lacks("reallocatesRegisters"); }
};

/// info().hasScheduleBarriers is false. A barrier would hold nothing.
class WithoutScheduleBarriers : public virtual Target {
public:
  void scheduleBarrier(llvm::IRBuilder<> &, unsigned) const override {}
};

/// Integers are divided by LLVM's instructions.
class WithoutDivision : public virtual Target {
public:
  llvm::Value *divideIntegers(llvm::IRBuilder<> &, llvm::Instruction::BinaryOps, llvm::Value *,
                              llvm::Value *) const override {
    return nullptr;
  }
};

/// 4-bit floats are converted by arithmetic on their bits.
class WithoutE2m1 : public virtual Target {
public:
  bool convertE2m1(llvm::IRBuilder<> &, bool, ir::FloatKind, llvm::ArrayRef<llvm::Value *>,
                   llvm::SmallVectorImpl<llvm::Value *> &) const override {
    return false;
  }
};

/// info().hasPerLaneAsyncCopy is false.
class WithoutPerLaneAsyncCopies : public virtual Target {
public:
  bool copyToShared(llvm::IRBuilder<> &, const MemoryAccess &, llvm::Value *, unsigned, llvm::Value *) const override {
    return false;
  }
  void commitCopies(llvm::IRBuilder<> &) const override {}
};

/// The lanes of a warp copy to shared memory each by itself, or not at all.
class WithoutWarpCopies : public virtual Target {
public:
  bool copyWarpToShared(llvm::IRBuilder<> &, const MemoryAccess &, llvm::Value *, unsigned) const override {
    return false;
  }
};

/// info().asyncCopyBytes is 0: all copies to shared memory go through registers, and none is in flight.
class WithoutAsyncCopies : public WithoutPerLaneAsyncCopies, public WithoutWarpCopies {
public:
  void waitForCopies(llvm::IRBuilder<> &, unsigned) const override {}
};

/// No row of info().matrixInstructions has 4 rows or columns, as those that broadcast have.
class WithoutBroadcastMatrices : public virtual Target {
public:
  void multiplyBroadcast(llvm::IRBuilder<> &, const ir::MatrixInstruction &, llvm::ArrayRef<llvm::Value *>,
                         llvm::ArrayRef<llvm::Value *>, llvm::MutableArrayRef<llvm::Value *>, unsigned) const override {
    lacks("matrixInstructions");
  }
};

/// info().matrixInstructions is empty: dots are computed by fma.
class WithoutMatrices : public WithoutBroadcastMatrices {
public:
  MatrixFragment matrixFragment(const ir::MatrixInstruction &, const layouts::Encoding *) const override {
    lacks("matrixInstructions");
  }
  void multiply(llvm::IRBuilder<> &, const ir::MatrixInstruction &, llvm::ArrayRef<llvm::Value *>,
                llvm::ArrayRef<llvm::Value *>, llvm::MutableArrayRef<llvm::Value *>) const override {
    lacks("matrixInstructions");
  }
};

/// info().hasLdmatrix and hasStmatrix are false.
class WithoutLdmatrix : public virtual Target {
public:
  llvm::SmallVector<llvm::Value *, 4> loadMatrices(llvm::IRBuilder<> &, llvm::Value *, unsigned, bool) const override {
    lacks("hasLdmatrix");
  }
  void storeMatrices(llvm::IRBuilder<> &, llvm::Value *, llvm::ArrayRef<llvm::Value *>, bool) const override {
    lacks("hasStmatrix");
  }
};

/// info().hasTransposedLdsRead is false.
class WithoutTransposedLdsRead : public virtual Target {
public:
  llvm::Value *loadTransposed(llvm::IRBuilder<> &, llvm::Value *, llvm::Type *) const override {
    lacks("hasTransposedLdsRead");
  }
};

/// info().matrixUnit is not Wgmma.
class WithoutWarpGroupDots : public virtual Target {
public:
  void warpGroupMultiply(llvm::IRBuilder<> &, const WarpGroupDot &,
                         llvm::MutableArrayRef<llvm::Value *>) const override {
    lacks("MatrixUnit::Wgmma");
  }
  llvm::Value *opaqueFalse(llvm::IRBuilder<> &) const override { lacks("MatrixUnit::Wgmma"); }
  void commitDots(llvm::IRBuilder<> &) const override { lacks("MatrixUnit::Wgmma"); }
  void waitForDots(llvm::IRBuilder<> &, unsigned, llvm::MutableArrayRef<llvm::Value *>) const override {
    lacks("MatrixUnit::Wgmma");
  }
};

/// info().matrixUnit is not Tcgen05.
class WithoutTensorMemory : public virtual Target {
public:
  void allocateTensorMemory(llvm::IRBuilder<> &, llvm::Value *, unsigned) const override {
    lacks("MatrixUnit::Tcgen05");
  }
  void freeTensorMemory(llvm::IRBuilder<> &, llvm::Value *, unsigned) const override { lacks("MatrixUnit::Tcgen05"); }
  llvm::SmallVector<llvm::Value *, 32> loadTensorMemory(llvm::IRBuilder<> &,
                                                        llvm::ArrayRef<TensorMemoryAccess>) const override {
    lacks("MatrixUnit::Tcgen05");
  }
  void storeTensorMemory(llvm::IRBuilder<> &, llvm::ArrayRef<TensorMemoryAccess>, llvm::ArrayRef<llvm::Value *>,
                         llvm::Value *) const override {
    lacks("MatrixUnit::Tcgen05");
  }
  void multiplyInTensorMemory(llvm::IRBuilder<> &, const TensorMemoryDot &) const override {
    lacks("MatrixUnit::Tcgen05");
  }
};

/// info().hasTensorCopy is false. Nothing but lanes accesses shared memory: no access needs a fence.
class WithoutTensorCopies : public virtual Target {
public:
  void fenceAsyncShared(llvm::IRBuilder<> &) const override {}
  llvm::Value *electThread(llvm::IRBuilder<> &) const override { lacks("hasTensorCopy"); }
  void makeTensorMap(llvm::IRBuilder<> &, const TensorMap &, llvm::Value *, llvm::Value *,
                     llvm::Value *) const override {
    lacks("hasTensorCopy");
  }
  void acquireTensorMap(llvm::IRBuilder<> &, llvm::Value *) const override { lacks("hasTensorCopy"); }
  void tensorMapArgument(llvm::Argument &) const override { lacks("hasTensorCopy"); }
  void copyTensor(llvm::IRBuilder<> &, const TensorCopy &, llvm::Value *) const override { lacks("hasTensorCopy"); }
  void commitTensorCopies(llvm::IRBuilder<> &) const override { lacks("hasTensorCopy"); }
  void waitForTensorCopies(llvm::IRBuilder<> &, unsigned, bool) const override { lacks("hasTensorCopy"); }
  void initBarrier(llvm::IRBuilder<> &, llvm::Value *, unsigned, llvm::Value *) const override {
    lacks("hasTensorCopy");
  }
  void invalidateBarrier(llvm::IRBuilder<> &, llvm::Value *, llvm::Value *) const override { lacks("hasTensorCopy"); }
  void arriveAtBarrier(llvm::IRBuilder<> &, llvm::Value *, unsigned, int64_t, llvm::Value *) const override {
    lacks("hasTensorCopy");
  }
  llvm::Value *testBarrier(llvm::IRBuilder<> &, llvm::Value *, llvm::Value *) const override { lacks("hasTensorCopy"); }
};

} // namespace tessera::codegen
