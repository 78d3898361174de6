// Runs lowered code on the host: a Target whose instructions are plain LLVM ones (a mask is a branch, the thread index
// a global variable) and LLVM's JIT. Threads run one after the other, so code with barriers or shuffles cannot be run;
// it is meant for what a thread does alone: arithmetic, control flow, indices, which elements it loads and stores.
#pragma once
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target_without.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>
#include <string>

namespace tessera::testing {

class HostTarget : public codegen::WithoutPartitions,
                   public codegen::WithoutScheduleBarriers,
                   public codegen::WithoutDivision,
                   public codegen::WithoutE2m1,
                   public codegen::WithoutAsyncCopies,
                   public codegen::WithoutMatrices,
                   public codegen::WithoutLdmatrix,
                   public codegen::WithoutTransposedLdsRead,
                   public codegen::WithoutWarpGroupDots,
                   public codegen::WithoutTensorMemory,
                   public codegen::WithoutTensorCopies {
public:
  explicit HostTarget(int warpSize = 32) {
    info_.name = "host", info_.warpSize = warpSize, info_.maxGlobalAccessBytes = 16, info_.maxSharedAccessBytes = 16;
  }
  const ir::TargetInfo &info() const override { return info_; }
  ir::TargetInfo info_;
  // Of the accesses that the lowering emitted; lengths in elements.
  mutable unsigned widestLoad = 0, widestStore = 0, stores = 0;
  mutable unsigned loadsFromBase = 0; // with a uniform base and an offset of 32 bits

  llvm::Value *variable(llvm::IRBuilder<> &b, const char *name) const {
    auto *g = b.GetInsertBlock()->getModule()->getOrInsertGlobal(name, b.getInt32Ty());
    return b.CreateLoad(b.getInt32Ty(), g);
  }
  llvm::Value *threadId(llvm::IRBuilder<> &b) const override { return variable(b, "tid"); }
  llvm::Value *programId(llvm::IRBuilder<> &b, int axis, bool) const override {
    return axis ? (llvm::Value *)b.getInt32(0) : variable(b, "pid");
  }
  llvm::Value *numPrograms(llvm::IRBuilder<> &b, int, bool) const override { return b.getInt32(1); }
  llvm::Value *blockInCluster(llvm::IRBuilder<> &b) const override { return b.getInt32(0); }
  llvm::Value *uniform(llvm::IRBuilder<> &, llvm::Value *v) const override { return v; }
  void barrier(llvm::IRBuilder<> &, bool) const override {}
  llvm::StringRef blockScope() const override { return ""; } // all threads
  void warpBarrier(llvm::IRBuilder<> &) const override {}
  llvm::Value *shuffleXor32(llvm::IRBuilder<> &, llvm::Value *v, unsigned, unsigned) const override { return v; }
  llvm::Value *shuffleIndex32(llvm::IRBuilder<> &, llvm::Value *v, llvm::Value *) const override { return v; }
  llvm::Value *shuffleFixed32(llvm::IRBuilder<> &, llvm::Value *, llvm::ArrayRef<int8_t>) const override {
    return nullptr;
  }
  bool hasHalves(unsigned) const override { return false; }
  std::pair<llvm::Value *, llvm::Value *> halves32(llvm::IRBuilder<> &, llvm::Value *, llvm::Value *,
                                                   unsigned) const override {
    return {};
  }
  llvm::Value *combineLanes(llvm::IRBuilder<> &, codegen::LaneCombination, llvm::Value *) const override {
    return nullptr;
  }
  bool combinesThree(ir::Opcode, ir::Type) const override { return false; }

  template <class F> static void masked(llvm::IRBuilder<> &b, llvm::Value *mask, F &&body) {
    if (!mask) return body();
    auto *f = b.GetInsertBlock()->getParent();
    auto *then = llvm::BasicBlock::Create(b.getContext(), "", f),
         *after = llvm::BasicBlock::Create(b.getContext(), "", f);
    b.CreateCondBr(mask, then, after);
    b.SetInsertPoint(then);
    body();
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }
  void load(llvm::IRBuilder<> &b, llvm::Type *element,
            llvm::MutableArrayRef<codegen::LoadAccess> accesses) const override {
    for (auto &a : accesses) {
      widestLoad = std::max(widestLoad, a.count);
      loadsFromBase += a.base != nullptr;
      for (unsigned i = 0; i < a.count; ++i) {
        auto *result = b.CreateAlloca(element);
        b.CreateStore(a.other.empty() ? llvm::Constant::getNullValue(element) : a.other[i], result);
        masked(b, a.mask,
               [&] { b.CreateStore(b.CreateLoad(element, b.CreateConstGEP1_32(element, a.pointer, i)), result); });
        a.result.push_back(b.CreateLoad(element, result));
      }
    }
  }
  void store(llvm::IRBuilder<> &b, llvm::ArrayRef<codegen::StoreAccess> accesses) const override {
    for (auto &a : accesses) {
      ++stores;
      widestStore = std::max<unsigned>(widestStore, a.values.size());
      masked(b, a.mask, [&] {
        for (auto [i, v] : llvm::enumerate(a.values))
          b.CreateStore(v, b.CreateConstGEP1_32(v->getType(), a.pointer, i));
        auto *count = b.GetInsertBlock()->getModule()->getOrInsertGlobal("elements_stored", b.getInt32Ty());
        b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt32Ty(), count), b.getInt32(a.values.size())), count);
      });
    }
  }
  llvm::SmallVector<llvm::Value *, 4> atomicRmw(llvm::IRBuilder<> &b, ir::RmwOp op, const codegen::MemoryAccess &a,
                                                llvm::ArrayRef<llvm::Value *> values, ir::MemSemantic, ir::MemSyncScope,
                                                bool) const override {
    auto *result = b.CreateAlloca(values[0]->getType());
    masked(b, a.mask, [&] {
      auto *old = b.CreateLoad(values[0]->getType(), a.pointer);
      b.CreateStore(old, result);
      b.CreateStore(op == ir::RmwOp::Exch ? values[0] : b.CreateAdd(old, values[0]), a.pointer);
    });
    return {b.CreateLoad(values[0]->getType(), result)};
  }
  llvm::Value *atomicCas(llvm::IRBuilder<> &, const codegen::MemoryAccess &, llvm::Value *cmp, llvm::Value *,
                         ir::MemSemantic, ir::MemSyncScope) const override {
    return cmp;
  }
  llvm::SyncScope::ID syncScope(llvm::LLVMContext &, ir::MemSyncScope) const override {
    return llvm::SyncScope::System;
  }
  llvm::Value *nanoseconds(llvm::IRBuilder<> &b) const override { return b.getInt64(0); }
  llvm::Value *loadShared(llvm::IRBuilder<> &b, llvm::Value *p, llvm::Type *t, unsigned, llvm::Value *) const override {
    return b.CreateLoad(t, p);
  }
  void storeShared(llvm::IRBuilder<> &b, llvm::Value *p, llvm::Value *v, unsigned, llvm::Value *mask) const override {
    masked(b, mask, [&] { b.CreateStore(v, p); });
  }
  llvm::Value *mathOp(llvm::IRBuilder<> &, ir::Opcode, llvm::Type *, llvm::ArrayRef<llvm::Value *>) const override {
    return nullptr;
  }
  std::string libraryFunction(llvm::StringRef, llvm::Type *) const override { return ""; }
  bool convertFloat(llvm::IRBuilder<> &, ir::FloatKind, ir::FloatKind, ir::RoundingMode, llvm::ArrayRef<llvm::Value *>,
                    llvm::SmallVectorImpl<llvm::Value *> &) const override {
    return false;
  }
  void assertFail(llvm::IRBuilder<> &, llvm::StringRef, llvm::StringRef, unsigned, llvm::StringRef) const override {}
  bool print(llvm::IRBuilder<> &, llvm::StringRef, llvm::ArrayRef<llvm::Value *>) const override { return false; }
  void kernelAttributes(llvm::Function &, unsigned, unsigned, unsigned, unsigned) const override {}
  void finish(llvm::Function &) const override {}
  llvm::GlobalVariable *sharedMemory(llvm::Module &m) const override {
    if (auto *g = m.getNamedGlobal("shared")) return g;
    return new llvm::GlobalVariable(
        m, llvm::ArrayType::get(llvm::Type::getInt8Ty(m.getContext()), 65536), false,
        llvm::GlobalValue::InternalLinkage,
        llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt8Ty(m.getContext()), 65536)), "shared",
        nullptr, llvm::GlobalValue::NotThreadLocal, 3);
  }
};

/// A compiled module of the host.
class HostProgram {
public:
  HostProgram(std::unique_ptr<llvm::LLVMContext>, std::unique_ptr<llvm::Module>);
  /// Null after a failure, with `error` set.
  void *lookup(const char *symbol);
  std::string error;
  int32_t *tid() { return (int32_t *)lookup("tid"); }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

/// TTGIR text → the lowered module, or null with the diagnostics in `errors`.
std::unique_ptr<llvm::Module> lowerText(llvm::StringRef text, const codegen::Target &, llvm::LLVMContext &,
                                        std::string &errors, const codegen::LoweringOptions & = {});

/// A kernel `k` of pointers a, b and c: c[i] = op(a[i], b[i]) for 4,096 elements of a type, by 128 threads.
std::string kernelOfTwo(const std::string &type, const std::string &op);

/// The same with a target of one's own; `before` is called before each of `rounds` rounds over all threads (a target
/// whose instructions exchange values between lanes can collect them in one round and deliver them in the next).
int64_t runOnHost(llvm::StringRef text, llvm::StringRef kernel, llvm::ArrayRef<uint64_t> args, std::string &errors,
                  const codegen::Target &, int threads, int rounds, llvm::function_ref<void(int round)> before);

/// Lowers one kernel for the host and runs all threads of `programs` blocks one after the other. Arguments are pointers
/// and integers, passed as 64-bit registers. Returns the number of elements stored, or -1 with `errors` filled.
int64_t runOnHost(llvm::StringRef text, llvm::StringRef kernel, llvm::ArrayRef<uint64_t> args, std::string &errors,
                  int threads = 128, int programs = 1);

} // namespace tessera::testing
