// The AMD Target: what one lane does, in amdgcn intrinsics.
//
// Peculiar about the target:
// - A masked access is a branch that switches lanes off (EXEC); accesses under one mask share one branch. Where an address
//   is known as a uniform base and a 31-bit offset, buffer instructions do better: a masked-off lane gets an offset beyond
//   the buffer, reads 0 or writes nothing, and there is no branch. The resource descriptor's words are those of the
//   "Buffer Resource Descriptor" tables of AMD's "CDNA3" and "RDNA3" Instruction Set Architecture documents.
// - Lanes exchange values by DPP (data-parallel primitives) as part of an arithmetic instruction within rows of 16, by
//   permlanex16 between rows (RDNA), by ds_swizzle within 32 lanes, and by ds_bpermute in general.
// - A barrier orders only what the fences around it name; shared memory alone unless asked.
#include "codegen_amd/lowering_target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

namespace tessera::amd {
using namespace codegen;
using namespace ir;
using llvm::IRBuilder;
using llvm::SmallVector;
using LValue = llvm::Value;
using LType = llvm::Type;
namespace Intrinsic = llvm::Intrinsic;

namespace {

class AmdTarget final : public Target {
public:
  explicit AmdTarget(const TargetInfo &info) : info_(info), rdna_(info.warpSize == 32) {}
  const TargetInfo &info() const override { return info_; }

  // ---- the thread ----
  LValue *threadId(IRBuilder<> &b) const override {
    auto *call = b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::amdgcn_workitem_id_x, {});
    call->setMetadata(llvm::LLVMContext::MD_range, llvm::MDBuilder(b.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, info_.maxThreadsPerBlock)));
    return call;
  }
  LValue *programId(IRBuilder<> &b, int axis, bool) const override {
    static constexpr Intrinsic::ID ids[] = {Intrinsic::amdgcn_workgroup_id_x, Intrinsic::amdgcn_workgroup_id_y, Intrinsic::amdgcn_workgroup_id_z};
    return b.CreateIntrinsic(b.getInt32Ty(), ids[axis], {});
  }
  LValue *numPrograms(IRBuilder<> &b, int axis, bool) const override {
    // The hidden argument "block count" of code object version 5 (LLVM's AMDGPUUsage, kernel argument metadata).
    auto *args = b.CreateIntrinsic(llvm::PointerType::get(b.getContext(), 4), Intrinsic::amdgcn_implicitarg_ptr, {});
    auto *load = b.CreateAlignedLoad(b.getInt32Ty(), b.CreateConstGEP1_32(b.getInt8Ty(), args, axis * 4), llvm::Align(4));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    return load;
  }
  LValue *blockInCluster(IRBuilder<> &b) const override { return b.getInt32(0); }
  LValue *uniform(IRBuilder<> &b, LValue *v) const override { return b.CreateIntrinsic(v->getType(), Intrinsic::amdgcn_readfirstlane, {v}); }
  void barrier(IRBuilder<> &b, bool global) const override {
    auto scope = b.getContext().getOrInsertSyncScopeID("workgroup");
    auto fence = [&](llvm::AtomicOrdering o) {
      auto *f = b.CreateFence(o, scope);
      if (global) return;
      // Shared memory alone: what is in flight to global memory need not be waited for.
      auto &c = b.getContext();
      f->setMetadata(llvm::LLVMContext::MD_mmra, llvm::MDTuple::get(c, {llvm::MDString::get(c, "amdgpu-synchronize-as"), llvm::MDString::get(c, "local")}));
    };
    fence(llvm::AtomicOrdering::Release);
    b.CreateIntrinsic(b.getVoidTy(), Intrinsic::amdgcn_s_barrier, {});
    fence(llvm::AtomicOrdering::Acquire);
  }
  void warpBarrier(IRBuilder<> &b) const override { b.CreateIntrinsic(b.getVoidTy(), Intrinsic::amdgcn_wave_barrier, {}); }

  // ---- lanes ----
  LValue *dpp(IRBuilder<> &b, LValue *v, unsigned control) const {
    return b.CreateIntrinsic(v->getType(), Intrinsic::amdgcn_update_dpp, {llvm::PoisonValue::get(v->getType()), v, b.getInt32(control), b.getInt32(15), b.getInt32(15), b.getTrue()});
  }
  LValue *lane(IRBuilder<> &b) const {
    LValue *ones = b.getInt32(-1);
    LValue *low = b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::amdgcn_mbcnt_lo, {ones, b.getInt32(0)});
    return info_.warpSize == 32 ? low : b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::amdgcn_mbcnt_hi, {ones, low});
  }
  LValue *shuffleXor32(IRBuilder<> &b, LValue *v, unsigned mask, unsigned uniform) const override {
    // DPP controls: quad_perm 0x00-0xFF, row_ror 0x120 + n, row_mirror 0x140, row_half_mirror 0x141, row_xmask 0x160 + mask (RDNA).
    if (mask == 1) return dpp(b, v, 0xB1);
    if (mask == 2) return dpp(b, v, 0x4E);
    if (mask < 16 && rdna_) return dpp(b, v, 0x160 | mask);
    if (mask == 4 && (uniform & 3) == 3) return dpp(b, v, 0x141);
    if (mask == 8) return dpp(b, v, 0x128);
    if (mask == 16 && rdna_)
      return b.CreateIntrinsic(v->getType(), Intrinsic::amdgcn_permlanex16, {llvm::PoisonValue::get(v->getType()), v, b.getInt32(0x76543210), b.getInt32(0xFEDCBA98), b.getFalse(), b.getFalse()});
    if (mask < 32) return b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::amdgcn_ds_swizzle, {v, b.getInt32(mask << 10 | 0x1F)}); // BitMode: and 31, or 0, xor mask
    return shuffleIndex32(b, v, b.CreateXor(lane(b), mask));
  }
  LValue *shuffleIndex32(IRBuilder<> &b, LValue *v, LValue *from) const override {
    return b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::amdgcn_ds_bpermute, {b.CreateShl(from, 2), v}); // by byte address
  }
  LValue *shuffleUp32(IRBuilder<> &b, LValue *v, unsigned delta) const override { return shuffleIndex32(b, v, b.CreateSub(lane(b), b.getInt32(delta))); }

  // ---- global memory ----
  static unsigned bytesOf(LType *t) { return t->isPointerTy() ? 8 : t->getPrimitiveSizeInBits() / 8; }
  static LType *vectorOf(LType *t, unsigned n) { return n == 1 ? t : (LType *)llvm::FixedVectorType::get(t, n); }
  static LValue *pack(IRBuilder<> &b, llvm::ArrayRef<LValue *> values) {
    if (values.size() == 1) return values[0];
    LValue *v = llvm::PoisonValue::get(vectorOf(values[0]->getType(), values.size()));
    for (unsigned i = 0; i < values.size(); ++i) v = b.CreateInsertElement(v, values[i], i);
    return v;
  }
  static void unpack(IRBuilder<> &b, LValue *v, unsigned n, SmallVector<LValue *, 8> &out) {
    if (n == 1) out.push_back(v);
    else
      for (unsigned i = 0; i < n; ++i) out.push_back(b.CreateExtractElement(v, i));
  }
  static void nonTemporal(llvm::Instruction *i, const MemoryAccess &a) {
    if (a.evict == EvictionPolicy::EvictFirst || a.cache == CacheModifier::Cs || a.cache == CacheModifier::Cv || a.cache == CacheModifier::Wt) {
      auto &c = i->getContext();
      i->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(c, llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(LType::getInt32Ty(c), 1))));
    }
  }
  /// Runs `body` with the lanes of the mask (null: all) and comes back to one block; `before` and the block of the body are
  /// given for phis.
  template <class F> static void masked(IRBuilder<> &b, LValue *mask, F body) {
    if (!mask) return body(nullptr, nullptr);
    auto *before = b.GetInsertBlock();
    auto *f = before->getParent();
    auto &c = b.getContext();
    // Instructions after the insertion point go on in the last block.
    llvm::BasicBlock *after;
    if (b.GetInsertPoint() == before->end()) after = llvm::BasicBlock::Create(c, "", f, before->getNextNode());
    else {
      after = before->splitBasicBlock(b.GetInsertPoint());
      before->getTerminator()->eraseFromParent();
    }
    auto *then = llvm::BasicBlock::Create(c, "", f, after);
    b.SetInsertPoint(before);
    b.CreateCondBr(mask, then, after);
    b.SetInsertPoint(then);
    body(before, after);
    b.CreateBr(after);
    b.SetInsertPoint(after, after->begin());
  }

  /// The buffer resource of a base pointer: stride 0, 2^31 - 2 bytes.
  LValue *resource(IRBuilder<> &b, LValue *base) const {
    uint32_t flags = 7 << 12 | 4 << 15;              // NUM_FORMAT and DATA_FORMAT of 32-bit data
    if (rdna_) flags |= 1u << 24 | 3u << 28;         // reserved bit that must be set; bounds checked against the offset
    return b.CreateIntrinsic(Intrinsic::amdgcn_make_buffer_rsrc, {llvm::PointerType::get(b.getContext(), 8), base->getType()}, {base, b.getInt16(0), b.getInt64(0x7FFFFFFE), b.getInt32(flags)});
  }
  bool bufferable(const MemoryAccess &a, unsigned bytes) const {
    return info_.hasBufferOps && a.base && a.mask && !a.isVolatile && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) && a.alignment >= std::min(bytes, 4u);
  }
  static LType *bufferType(IRBuilder<> &b, unsigned bytes) {
    if (bytes <= 4) return b.getIntNTy(bytes * 8);
    return llvm::FixedVectorType::get(b.getInt32Ty(), bytes / 4);
  }
  LValue *bufferOffset(IRBuilder<> &b, const MemoryAccess &a) const {
    LValue *o = a.constant ? b.CreateAdd(a.offset, b.getInt32(a.constant)) : a.offset;
    return b.CreateSelect(a.mask, o, b.getInt32(0x80000000));
  }

  void load(IRBuilder<> &b, LType *element, llvm::MutableArrayRef<LoadAccess> accesses) const override {
    // Under one mask a single branch is cheaper than a resource descriptor and a select per access.
    bool oneMask = llvm::all_of(accesses, [&](auto &a) { return a.mask == accesses[0].mask; });
    if (oneMask)
      for (auto &a : accesses) a.base = nullptr;
    for (unsigned i = 0; i < accesses.size();) {
      auto &first = accesses[i];
      unsigned bytes = bytesOf(element) * first.count;
      LType *type = vectorOf(element, first.count);
      if (bufferable(first, bytes) && !element->isPointerTy()) {
        auto *v = b.CreateIntrinsic(bufferType(b, bytes), Intrinsic::amdgcn_raw_ptr_buffer_load, {resource(b, first.base), bufferOffset(b, first), b.getInt32(0), b.getInt32(0)});
        LValue *r = b.CreateBitCast(v, type);
        if (!first.other.empty()) {
          LValue *other = pack(b, first.other);
          auto *c = llvm::dyn_cast<llvm::Constant>(other);
          if (!c || !c->isNullValue()) r = b.CreateSelect(first.mask, r, other);
        }
        unpack(b, r, first.count, first.result);
        ++i;
        continue;
      }
      // All that follow under the same mask share its branch.
      unsigned end = i + 1;
      while (end < accesses.size() && accesses[end].mask == first.mask && !(bufferable(accesses[end], bytesOf(element) * accesses[end].count) && !element->isPointerTy())) ++end;
      SmallVector<LValue *, 8> others, loaded;
      for (unsigned k = i; k < end; ++k) others.push_back(accesses[k].other.empty() ? nullptr : pack(b, accesses[k].other));
      llvm::BasicBlock *before = nullptr, *body = nullptr;
      masked(b, first.mask, [&](llvm::BasicBlock *from, llvm::BasicBlock *) {
        before = from;
        for (unsigned k = i; k < end; ++k) {
          auto &a = accesses[k];
          auto *l = b.CreateAlignedLoad(vectorOf(element, a.count), a.pointer, llvm::Align(a.alignment), a.isVolatile);
          nonTemporal(l, a);
          loaded.push_back(l);
        }
        body = b.GetInsertBlock();
      });
      for (unsigned k = i; k < end; ++k) {
        LValue *v = loaded[k - i];
        if (before) {
          auto *phi = b.CreatePHI(v->getType(), 2);
          phi->addIncoming(v, body);
          phi->addIncoming(others[k - i] ? others[k - i] : llvm::PoisonValue::get(v->getType()), before);
          loaded[k - i] = phi;
        }
      }
      for (unsigned k = i; k < end; ++k) unpack(b, loaded[k - i], accesses[k].count, accesses[k].result);
      i = end;
    }
  }

  void store(IRBuilder<> &b, llvm::ArrayRef<StoreAccess> given) const override {
    SmallVector<StoreAccess, 8> accesses(given.begin(), given.end());
    if (llvm::all_of(accesses, [&](auto &a) { return a.mask == accesses[0].mask; }))
      for (auto &a : accesses) a.base = nullptr;
    for (unsigned i = 0; i < accesses.size();) {
      auto &first = accesses[i];
      LType *element = first.values[0]->getType();
      unsigned bytes = bytesOf(element) * first.values.size();
      if (bufferable(first, bytes) && !element->isPointerTy()) {
        LValue *v = b.CreateBitCast(pack(b, first.values), bufferType(b, bytes));
        b.CreateIntrinsic(b.getVoidTy(), Intrinsic::amdgcn_raw_ptr_buffer_store, {v, resource(b, first.base), bufferOffset(b, first), b.getInt32(0), b.getInt32(0)});
        ++i;
        continue;
      }
      unsigned end = i + 1;
      while (end < accesses.size() && accesses[end].mask == first.mask && !bufferable(accesses[end], bytesOf(accesses[end].values[0]->getType()) * accesses[end].values.size())) ++end;
      SmallVector<LValue *, 8> packed;
      for (unsigned k = i; k < end; ++k) packed.push_back(pack(b, accesses[k].values));
      masked(b, first.mask, [&](llvm::BasicBlock *, llvm::BasicBlock *) {
        for (unsigned k = i; k < end; ++k) nonTemporal(b.CreateAlignedStore(packed[k - i], accesses[k].pointer, llvm::Align(accesses[k].alignment), accesses[k].isVolatile), accesses[k]);
      });
      i = end;
    }
  }

  // ---- atomics ----
  static llvm::SyncScope::ID scopeOf(IRBuilder<> &b, MemSyncScope s) {
    return b.getContext().getOrInsertSyncScopeID(s == MemSyncScope::Cta ? "workgroup" : s == MemSyncScope::Gpu ? "agent" : "");
  }
  static llvm::AtomicOrdering orderOf(MemSemantic s) {
    switch (s) {
    case MemSemantic::Relaxed: return llvm::AtomicOrdering::Monotonic;
    case MemSemantic::Acquire: return llvm::AtomicOrdering::Acquire;
    case MemSemantic::Release: return llvm::AtomicOrdering::Release;
    case MemSemantic::AcqRel: return llvm::AtomicOrdering::AcquireRelease;
    }
    llvm_unreachable("memory semantic");
  }
  unsigned atomicVector(RmwOp op, LType *t, bool) const override {
    if (op != RmwOp::Fadd) return 1;
    return (t->isHalfTy() && info_.atomicAddF16x2) || (t->isBFloatTy() && info_.atomicAddBf16x2) ? 2 : 1;
  }
  SmallVector<LValue *, 4> atomicRmw(IRBuilder<> &b, RmwOp op, const MemoryAccess &a, llvm::ArrayRef<LValue *> values, MemSemantic sem, MemSyncScope scope, bool used) const override {
    using Op = llvm::AtomicRMWInst;
    LValue *v = pack(b, values);
    bool f = values[0]->getType()->isFloatingPointTy();
    auto kind = [&] {
      switch (op) {
      case RmwOp::And: return Op::And;
      case RmwOp::Or: return Op::Or;
      case RmwOp::Xor: return Op::Xor;
      case RmwOp::Add: return Op::Add;
      case RmwOp::Fadd: return Op::FAdd;
      case RmwOp::Max: return f ? Op::FMax : Op::Max;
      case RmwOp::Min: return f ? Op::FMin : Op::Min;
      case RmwOp::Umax: return Op::UMax;
      case RmwOp::Umin: return Op::UMin;
      case RmwOp::Exch: return Op::Xchg;
      }
      llvm_unreachable("atomic");
    }();
    LValue *old = nullptr;
    llvm::BasicBlock *before = nullptr, *body = nullptr;
    masked(b, a.mask, [&](llvm::BasicBlock *from, llvm::BasicBlock *) {
      before = from;
      auto *i = b.CreateAtomicRMW(kind, a.pointer, v, llvm::Align(std::max(a.alignment, bytesOf(values[0]->getType()) * unsigned(values.size()))), orderOf(sem), scopeOf(b, scope));
      // Buffers lie in the device's own, coarse-grained memory, where the hardware's float atomics are atomic.
      auto *none = llvm::MDNode::get(b.getContext(), {});
      i->setMetadata("amdgpu.no.fine.grained.memory", none);
      i->setMetadata("amdgpu.no.remote.memory", none);
      if (op == RmwOp::Fadd && values[0]->getType()->isFloatTy()) i->setMetadata("amdgpu.ignore.denormal.mode", none);
      old = i;
      body = b.GetInsertBlock();
    });
    if (before && used) {
      auto *phi = b.CreatePHI(old->getType(), 2);
      phi->addIncoming(old, body);
      phi->addIncoming(llvm::PoisonValue::get(old->getType()), before);
      old = phi;
    }
    SmallVector<LValue *, 8> out;
    if (used) unpack(b, old, values.size(), out);
    return SmallVector<LValue *, 4>(out.begin(), out.end());
  }
  LValue *atomicCas(IRBuilder<> &b, const MemoryAccess &a, LValue *cmp, LValue *value, MemSemantic sem, MemSyncScope scope) const override {
    LType *t = cmp->getType(), *i = t->isPointerTy() ? b.getInt64Ty() : b.getIntNTy(bytesOf(t) * 8);
    auto toInt = [&](LValue *v) { return t->isPointerTy() ? b.CreatePtrToInt(v, i) : b.CreateBitCast(v, i); };
    LValue *c = toInt(cmp), *n = toInt(value), *old = nullptr;
    llvm::BasicBlock *before = nullptr, *body = nullptr;
    masked(b, a.mask, [&](llvm::BasicBlock *from, llvm::BasicBlock *) {
      before = from;
      auto order = orderOf(sem);
      auto *x = b.CreateAtomicCmpXchg(a.pointer, c, n, llvm::Align(std::max(a.alignment, bytesOf(t))), order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order), scopeOf(b, scope));
      old = b.CreateExtractValue(x, 0);
      body = b.GetInsertBlock();
    });
    if (before) {
      auto *phi = b.CreatePHI(i, 2);
      phi->addIncoming(old, body);
      phi->addIncoming(llvm::PoisonValue::get(i), before);
      old = phi;
    }
    return t->isPointerTy() ? b.CreateIntToPtr(old, t) : b.CreateBitCast(old, t);
  }

  // ---- shared memory ----
  LValue *loadShared(IRBuilder<> &b, LValue *ptr, LType *type, unsigned alignment, LValue *mask) const override {
    LValue *v = nullptr;
    llvm::BasicBlock *before = nullptr, *body = nullptr;
    masked(b, mask, [&](llvm::BasicBlock *from, llvm::BasicBlock *) {
      before = from;
      v = b.CreateAlignedLoad(type, ptr, llvm::Align(alignment));
      body = b.GetInsertBlock();
    });
    if (!before) return v;
    auto *phi = b.CreatePHI(type, 2);
    phi->addIncoming(v, body);
    phi->addIncoming(llvm::PoisonValue::get(type), before);
    return phi;
  }
  void storeShared(IRBuilder<> &b, LValue *ptr, LValue *value, unsigned alignment, LValue *mask) const override {
    masked(b, mask, [&](llvm::BasicBlock *, llvm::BasicBlock *) { b.CreateAlignedStore(value, ptr, llvm::Align(alignment)); });
  }

  // ---- arithmetic ----
  LValue *mathOp(IRBuilder<> &b, Opcode op, LType *t, llvm::ArrayRef<LValue *> args) const override {
    auto call = [&](Intrinsic::ID id, LValue *v) { return b.CreateIntrinsic(t, id, {v}); };
    auto scale = [&](LValue *v, double f) { return b.CreateFMul(v, llvm::ConstantFP::get(t, f)); };
    if (op == Opcode::arith_divf && t->isFloatTy()) {
      auto *d = b.CreateFDiv(args[0], args[1]);
      // 2.5 ulp: the reciprocal with scaling instead of the correctly rounded sequence.
      if (auto *i = llvm::dyn_cast<llvm::Instruction>(d)) i->setMetadata(llvm::LLVMContext::MD_fpmath, llvm::MDBuilder(b.getContext()).createFPMath(2.5));
      return d;
    }
    if (!t->isFloatTy()) return nullptr;
    // The hardware's base-2 functions, within 1 ulp, denormals flushed.
    switch (op) {
    case Opcode::math_exp2: return call(Intrinsic::amdgcn_exp2, args[0]);
    case Opcode::math_exp: return call(Intrinsic::amdgcn_exp2, scale(args[0], 1.4426950408889634));
    case Opcode::math_log2: return call(Intrinsic::amdgcn_log, args[0]);
    case Opcode::math_log: return scale(call(Intrinsic::amdgcn_log, args[0]), 0.6931471805599453);
    case Opcode::math_sqrt: return call(Intrinsic::amdgcn_sqrt, args[0]);
    case Opcode::math_rsqrt: return call(Intrinsic::amdgcn_rsq, args[0]);
    default: return nullptr;
    }
  }
  std::string libraryFunction(Opcode op, LType *t) const override {
    llvm::StringRef name = opInfo(op).name;
    if (!name.consume_front("math.")) return "";
    static constexpr std::pair<const char *, const char *> renamed[] = {{"powf", "pow"}, {"absf", "fabs"}, {"roundeven", "rint"}};
    std::string stem = name.str();
    for (auto [from, to] : renamed)
      if (name == from) stem = to;
    return "__ocml_" + stem + (t->isHalfTy() ? "_f16" : t->isDoubleTy() ? "_f64" : "_f32");
  }
  bool convertFloat(IRBuilder<> &, FloatKind, FloatKind, RoundingMode, llvm::ArrayRef<LValue *>, llvm::SmallVectorImpl<LValue *> &) const override { return false; }

  // ---- talking back ----
  void assertFail(IRBuilder<> &b, llvm::StringRef, llvm::StringRef, unsigned, llvm::StringRef) const override { b.CreateIntrinsic(b.getVoidTy(), Intrinsic::trap, {}); }
  bool print(IRBuilder<> &, llvm::StringRef, llvm::ArrayRef<LValue *>) const override { return false; }

  // ---- functions ----
  void kernelAttributes(llvm::Function &f, unsigned, unsigned, unsigned) const override { f.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL); }
  llvm::GlobalVariable *sharedMemory(llvm::Module &m) const override {
    auto *t = llvm::ArrayType::get(LType::getInt8Ty(m.getContext()), 0);
    auto *g = new llvm::GlobalVariable(m, t, false, llvm::GlobalValue::ExternalLinkage, nullptr, "global_smem", nullptr, llvm::GlobalValue::NotThreadLocal, 3);
    g->setAlignment(llvm::Align(16));
    return g;
  }

private:
  const TargetInfo &info_;
  bool rdna_;
};

} // namespace

std::unique_ptr<Target> makeTarget(const TargetInfo &info) { return std::make_unique<AmdTarget>(info); }

} // namespace tessera::amd
