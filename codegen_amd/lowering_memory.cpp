// Global and shared memory accesses and atomics on AMD GPUs, which have no predicates. A masked access is
//
//   a branch          that switches lanes off (EXEC); accesses under one mask share one branch; or
//   a buffer access   through a resource descriptor of base and length, where the address is a uniform base and an
//                     offset below 2^31: a masked-off lane gets an offset beyond the end, reads 0 and writes
//                     nothing; or
//   a place of zeros  loads of 8 bytes and more in loops, where no buffer serves: a masked-off lane reads zeros that
//                     the object has.
//
// A branch costs three instructions, a buffer access one per mask and offset and four scalar ones per base; buffer
// accesses leave the scheduler free to move them. Where the caller promises that a buffer has less than 2 GiB, the
// base is the argument itself and the offset everything else, modulo 2^32 (layout/canonicalize_pointers.cpp): masked
// loads in loops and of several words are then buffer accesses even under one mask. Unmasked accesses with such an
// address are global accesses with a scalar base. Offsets are unsigned in both. Where one may be negative, base and
// offset are moved by almost 2 GiB (MemoryAccess::moved), and the buffer has almost 4 GiB; then unmasked accesses are
// buffer accesses as well, as LLVM would add the move to 64-bit addresses in each lane instead of to the base.
//
// Sources: "Buffer Resource Descriptor" in the ISA guides (words 2 and 3, range checking of raw buffers); LLVM's "User
// Guide for AMDGPU Backend" for the cache bits of the intrinsics' last operand and for the memory model.
#include "codegen/address_spaces.h"
#include "codegen_amd/lowering_target.h"
#include "codegen_amd/passes/copies_to_lds.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

namespace tessera::amd {
using namespace llvm;
using codegen::LoadAccess;
using codegen::MemoryAccess;
using codegen::StoreAccess;

namespace {

unsigned bytesOf(Type *t) { return t->isPointerTy() ? 8 : t->getPrimitiveSizeInBits() / 8; }
Type *vectorOf(Type *t, unsigned n) { return n == 1 ? t : FixedVectorType::get(t, n); }

Value *pack(IRBuilder<> &b, ArrayRef<Value *> values) {
  if (values.size() == 1) return values[0];
  Value *v = PoisonValue::get(vectorOf(values[0]->getType(), values.size()));
  for (auto [i, e] : enumerate(values)) v = b.CreateInsertElement(v, e, i);
  return v;
}
template <class Out> void unpack(IRBuilder<> &b, Value *v, unsigned n, Out &out) {
  for (unsigned i = 0; i < n; ++i) out.push_back(n == 1 ? v : b.CreateExtractElement(v, i));
}

/// What the data is used for once: streaming.
bool isStreaming(const MemoryAccess &a) {
  return a.evict == ir::EvictionPolicy::EvictFirst || a.cache == ir::CacheModifier::Cs ||
         a.cache == ir::CacheModifier::Cg;
}
/// What must not come from a cache.
bool bypassesCaches(const MemoryAccess &a) {
  return a.isVolatile || a.cache == ir::CacheModifier::Cv || a.cache == ir::CacheModifier::Wt;
}
void setHints(Instruction *i, const MemoryAccess &a) {
  if (!isStreaming(a)) return;
  LLVMContext &c = i->getContext();
  i->setMetadata(LLVMContext::MD_nontemporal,
                 MDNode::get(c, ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(c), 1))));
}

/// A block whose instructions run in the lanes of the mask; `close` continues after it.
class Branch {
public:
  Branch(IRBuilder<> &b, Value *mask) : b_(b) {
    if (!mask) return;
    from_ = b.GetInsertBlock();
    Function *f = from_->getParent();
    auto *then = BasicBlock::Create(b.getContext(), "masked", f, from_->getNextNode());
    after_ = BasicBlock::Create(b.getContext(), "after", f, then->getNextNode());
    b.CreateCondBr(mask, then, after_);
    b.SetInsertPoint(then);
  }
  void close() {
    if (!from_) return;
    end_ = b_.GetInsertBlock();
    b_.CreateBr(after_);
    b_.SetInsertPoint(after_);
  }
  /// The value computed in the branch, or `other` in the other lanes. After close().
  Value *merge(Value *value, Value *other) {
    if (!from_) return value;
    auto *phi = b_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, end_);
    phi->addIncoming(other, from_);
    return phi;
  }

private:
  IRBuilder<> &b_;
  BasicBlock *from_ = nullptr, *end_ = nullptr, *after_ = nullptr;
};

/// The length of buffers, and the offset of lanes that are masked off: what they would access ends below 2^32, so that
/// no part of it wraps around to the beginning.
struct BufferEnd {
  uint32_t bytes, beyond;
};
constexpr BufferEnd kEnd = {0x7fffffff, 0x80000000}, kMovedEnd = {0xfffffff0, 0xfffffff0},
                    kFarthestEnd = {0xffffffff, 0xffffffff}; // for accesses without a mask
BufferEnd endOf(const MemoryAccess &a) {
  return !a.moved ? kEnd : a.moved <= codegen::kMovedBytes ? kMovedEnd : kFarthestEnd;
}

/// One mask for all of an operation's accesses: one branch does, which neighbouring operations under it can join
/// (merge_branches.h).
template <class Accesses> bool underOneMask(const Accesses &accesses) {
  return all_of(accesses, [&](const MemoryAccess &a) { return a.mask == accesses.front().mask; });
}

/// Whether buffer accesses are better than a branch even so: the resource of a whole buffer, whose base is an
/// argument, is made once. In a loop, or for several loads, it is there already; elsewhere it costs what a branch
/// costs, which also has to write the zeros of the lanes that load nothing.
bool betterThanBranch(ArrayRef<LoadAccess> accesses, unsigned elementBytes, const ir::Tuning &tuning) {
  const LoadAccess &first = accesses.front();
  if (!first.wraps) return false;
  if (first.repeated || first.masksDiffer) return true;
  unsigned bytes = 0;
  for (const LoadAccess &a : accesses) {
    bytes += a.count * elementBytes;
    for (Value *o : a.other)
      if (auto *c = dyn_cast<Constant>(o); !c || !c->isNullValue()) return false;
  }
  return bytes >= tuning.branchlessLoadBytes;
}

/// Whether masked-off lanes read zeros from a place in the object, rather than that a branch is taken round the load.
/// The two selections for an address cost less than the branch, which also writes the zeros and cuts a loop's body into
/// blocks, so that nothing is ordered across the load.
bool readsZeros(const LoadAccess &a, unsigned elementBytes, const ir::Tuning &tuning) {
  if (!a.mask || !a.repeated || a.isVolatile || a.count * elementBytes < tuning.branchlessLoadBytes) return false;
  return all_of(a.other, [](Value *v) {
    auto *c = dyn_cast<Constant>(v);
    return c && (c->isNullValue() || isa<UndefValue>(c));
  });
}

/// 16 bytes of zeros in the object.
GlobalVariable *zeros(Module &m) {
  constexpr StringRef kName = "tessera_zeros";
  if (GlobalVariable *g = m.getNamedGlobal(kName)) return g;
  auto *type = ArrayType::get(Type::getInt8Ty(m.getContext()), ir::kGlobalAccessBytes);
  auto *g =
      new GlobalVariable(m, type, /*isConstant=*/true, GlobalValue::InternalLinkage, ConstantAggregateZero::get(type),
                         kName, nullptr, GlobalValue::NotThreadLocal, codegen::kGlobalSpace);
  g->setAlignment(Align(ir::kGlobalAccessBytes));
  return g;
}

/// The address of a global access: as a scalar base and an unsigned offset, which the instruction adds itself, where
/// that is cheaper than 64-bit additions per lane (one instruction on gfx942 and gfx950, two elsewhere). `together`:
/// under this mask there is also the access that starts at the offset without the constant.
Value *globalPointer(IRBuilder<> &b, const MemoryAccess &a, bool wideAdd, bool together, bool mayBeMoved) {
  if (!a.base || (a.moved && !mayBeMoved) || (wideAdd && !a.wraps)) return a.pointer;
  bool apart = a.constant && (!a.wraps || !a.mask || together);
  Value *o = a.constant && !apart ? b.CreateAdd(a.offset, b.getInt32(a.constant)) : a.offset;
  Value *base = a.base;
  // LLVM would add the move to each lane's offset, with 64 bits, rather than to the base. The intrinsic hides it and
  // becomes nothing for what is in scalar registers.
  if (a.moved) base = b.CreateIntrinsic(Intrinsic::amdgcn_readfirstlane, {base->getType()}, base);
  Value *p = b.CreateGEP(b.getInt8Ty(), base, b.CreateZExt(o, b.getInt64Ty()));
  return apart ? b.CreateConstGEP1_64(b.getInt8Ty(), p, a.constant) : p;
}

/// The conditions whose conjunction the mask is.
void conjuncts(Value *mask, SmallSetVector<Value *, 4> &out) {
  auto *both = dyn_cast<BinaryOperator>(mask);
  if (!both || both->getOpcode() != Instruction::And) {
    out.insert(mask);
    return;
  }
  conjuncts(both->getOperand(0), out);
  conjuncts(both->getOperand(1), out);
}
Value *conjunction(IRBuilder<> &b, ArrayRef<Value *> conditions) {
  Value *all = nullptr;
  for (Value *c : conditions) all = all ? b.CreateAnd(all, c) : c;
  return all;
}

/// What the masks of accesses have in common, as of a tile whose columns end: one branch round all of them. What is
/// left to each is then often the same for the whole wave (its row) and a scalar branch.
struct CommonMask {
  SmallVector<Value *, 2> common;
  SmallVector<SmallVector<Value *, 2>, 16> rest; // of each access

  template <class Accesses> explicit CommonMask(const Accesses &accesses) {
    SmallVector<SmallSetVector<Value *, 4>, 16> all(accesses.size());
    for (auto [a, set] : zip(accesses, all)) {
      if (!a.mask) return;
      conjuncts(a.mask, set);
    }
    for (Value *c : all.front())
      if (all_of(all, [&](auto &set) { return set.contains(c); })) common.push_back(c);
    for (auto &set : all) {
      auto &r = rest.emplace_back();
      for (Value *c : set)
        if (!is_contained(common, c)) r.push_back(c);
    }
  }
};

/// Whether an access before was under the mask: it is there as a whole.
bool isUsed(Value *mask) {
  return any_of(mask->users(), [&](User *u) {
    auto *br = dyn_cast<BranchInst>(u);
    auto *select = dyn_cast<SelectInst>(u);
    return br || (select && select->getCondition() == mask);
  });
}

/// `mask`: of lanes that are on here; null: all.
Value *bufferOffset(IRBuilder<> &b, const MemoryAccess &a, Value *mask) {
  Value *constant = b.getInt32(a.constant), *beyond = b.getInt32(endOf(a).beyond);
  auto sum = [&](Value *o) { return a.constant ? b.CreateAdd(o, constant, "", !a.wraps) : o; };
  if (!mask) return sum(a.offset);
  // The constant comes after the selection, so that it becomes the instruction's immediate: it does not bring an offset
  // beyond the end back. Beyond a moved buffer there is no room for it.
  return a.moved ? b.CreateSelect(mask, sum(a.offset), beyond) : sum(b.CreateSelect(mask, a.offset, beyond));
}

/// The type a buffer instruction moves: words, or one narrow element.
Type *bufferType(IRBuilder<> &b, unsigned bytes) {
  return bytes <= 4 ? (Type *)b.getIntNTy(bytes * 8) : FixedVectorType::get(b.getInt32Ty(), bytes / 4);
}

} // namespace

Value *AmdTarget::resource(IRBuilder<> &b, const MemoryAccess &a) const {
  // Word 3: data format of 32-bit data; RDNA also wants its format number, and range checks of the offset alone
  // (OOB_SELECT 3).
  uint32_t flags = rdna_ ? 0x31027000 : 0x00027000;
  return b.CreateIntrinsic(Intrinsic::amdgcn_make_buffer_rsrc,
                           {b.getPtrTy(AMDGPUAS::BUFFER_RESOURCE), a.base->getType()},
                           {a.base, b.getInt16(0), b.getInt64(endOf(a).bytes), b.getInt32(flags)});
}

/// Whether one buffer instruction moves so many elements.
static bool isBufferAccess(const MemoryAccess &a, Type *element, unsigned count) {
  unsigned bytes = bytesOf(element) * count;
  return a.base && !element->isPointerTy() && isPowerOf2_32(bytes) && bytes <= 16 && a.alignment >= std::min(bytes, 4u);
}

bool AmdTarget::takesBuffer(const MemoryAccess &a, Type *element, unsigned count) const {
  bool hasRoomBeyond = a.moved <= codegen::kMovedBytes;
  return info_.hasBufferOps && hasRoomBeyond && a.mask && isBufferAccess(a, element, count);
}

/// Whether an access without a mask adds its offset to a moved base, which takes no descriptor. In loops there is one
/// already, and what advances is the scalar offset (scalar_offsets.cpp).
bool AmdTarget::addsToMovedBase(const MemoryAccess &a) const { return a.moved && !a.repeated; }

bool AmdTarget::takesMovedBuffer(const MemoryAccess &a, Type *element, unsigned count, bool together) const {
  // Without the constant, the offset must be that of an access, too: the instruction's sum does not wrap around.
  bool isSumInside = !a.constant || !a.mask || together;
  if (addsToMovedBase(a)) return false;
  return info_.hasBufferOps && a.moved && isSumInside && !bypassesCaches(a) && isBufferAccess(a, element, count);
}

/// Moves a base by all of 2^31: nothing is left of the constant that LLVM would make the instruction's immediate, which
/// the unit adds to an offset that must not wrap around there.
static void moveFarthest(IRBuilder<> &b, MemoryAccess &a) {
  constexpr uint32_t kFarthest = uint32_t(1) << 31;
  uint32_t more = kFarthest - a.moved;
  if (!a.moved || !more) return;
  a.base = b.CreateConstGEP1_64(b.getInt8Ty(), a.base, uint64_t(-int64_t(more)));
  a.offset = b.CreateAdd(a.offset, b.getInt32(more));
  a.moved = kFarthest;
}

Value *AmdTarget::loadBuffer(IRBuilder<> &b, LoadAccess a, Type *element, Value *mask) const {
  if (!mask) moveFarthest(b, a);
  Value *v = b.CreateIntrinsic(Intrinsic::amdgcn_raw_ptr_buffer_load, {bufferType(b, bytesOf(element) * a.count)},
                               {resource(b, a), bufferOffset(b, a, mask), b.getInt32(0), b.getInt32(bufferHints(a))});
  return b.CreateBitCast(v, vectorOf(element, a.count));
}

void AmdTarget::storeBuffer(IRBuilder<> &b, StoreAccess a, Value *packed, Value *mask) const {
  if (!mask) moveFarthest(b, a);
  unsigned bytes = bytesOf(a.values[0]->getType()) * a.values.size();
  Value *v = b.CreateBitCast(packed, bufferType(b, bytes));
  b.CreateIntrinsic(Intrinsic::amdgcn_raw_ptr_buffer_store, {v->getType()},
                    {v, resource(b, a), bufferOffset(b, a, mask), b.getInt32(0), b.getInt32(bufferHints(a))});
}

/// The cache policy operand of buffer intrinsics.
int AmdTarget::bufferHints(const MemoryAccess &a) const {
  bool coherent = bypassesCaches(a), streaming = isStreaming(a);
  if (!coherent && !streaming) return 0;
  switch (info_.cachePolicy) {
  case ir::CachePolicyBits::None: break;
  case ir::CachePolicyBits::GlcSlc: return coherent ? 1 : 2;        // glc; slc
  case ir::CachePolicyBits::Sc0Sc1Nt: return coherent ? 1 | 16 : 2; // sc0 sc1: system scope; nt
  case ir::CachePolicyBits::ScopeTh: return coherent ? 3 << 3 : 1;  // scope:SCOPE_SYS; th:TH_LOAD_NT
  }
  return 0;
}

/// Buffer loads give zeros where they are masked off; another value is selected.
void AmdTarget::loadByBuffer(IRBuilder<> &b, Type *element, LoadAccess &a) const {
  Value *v = loadBuffer(b, a, element, a.mask);
  SmallVector<Value *, 8> values;
  unpack(b, v, a.count, values);
  for (auto [k, e] : enumerate(values)) {
    auto *c = a.other.empty() ? nullptr : dyn_cast<Constant>(a.other[k]);
    bool zero = a.other.empty() || (c && c->isNullValue());
    a.result.push_back(zero ? e : b.CreateSelect(a.mask, e, a.other[k]));
  }
}

/// Where the mask is false, zeros are read from a constant of the module.
void AmdTarget::loadOrZeros(IRBuilder<> &b, Type *element, LoadAccess &a, bool together) const {
  Value *p = globalPointer(b, a, info_.hasWideAddressAdd, together, addsToMovedBase(a));
  Value *safe = b.CreateSelect(a.mask, p, zeros(*b.GetInsertBlock()->getModule()));
  auto *l = b.CreateAlignedLoad(vectorOf(element, a.count), safe, Align(a.alignment), bypassesCaches(a));
  setHints(l, a);
  unpack(b, l, a.count, a.result);
}

/// Loads under one mask share a branch.
void AmdTarget::loadInBranch(IRBuilder<> &b, Type *element, MutableArrayRef<LoadAccess> accesses, bool together) const {
  // Phis after the branch are of words: LLVM would cut a vector of bytes or halves into its elements there.
  auto moved = [&](const LoadAccess &a) -> Type * {
    unsigned bytes = bytesOf(element) * a.count;
    bool isOfWords = a.mask && a.count > 1 && bytesOf(element) < 4 && bytes % 4 == 0;
    return isOfWords ? bufferType(b, bytes) : vectorOf(element, a.count);
  };
  SmallVector<Value *, 8> others, loaded;
  for (LoadAccess &a : accesses)
    others.push_back(a.other.empty() ? Constant::getNullValue(moved(a)) : b.CreateBitCast(pack(b, a.other), moved(a)));
  Branch branch(b, accesses[0].mask);
  for (LoadAccess &a : accesses) {
    if (takesMovedBuffer(a, element, a.count, together)) {
      loaded.push_back(b.CreateBitCast(loadBuffer(b, a, element, nullptr), moved(a)));
      continue;
    }
    Value *p = globalPointer(b, a, info_.hasWideAddressAdd, together, addsToMovedBase(a));
    auto *l = b.CreateAlignedLoad(moved(a), p, Align(a.alignment), bypassesCaches(a));
    setHints(l, a);
    loaded.push_back(l);
  }
  branch.close();
  for (auto [v, other] : zip(loaded, others)) v = branch.merge(v, other);
  for (auto [v, a] : zip(loaded, accesses))
    unpack(b, b.CreateBitCast(v, vectorOf(element, a.count)), a.count, a.result);
}

void AmdTarget::load(IRBuilder<> &b, Type *element, MutableArrayRef<LoadAccess> accesses) const {
  if (accesses.empty()) return;
  bool together = underOneMask(accesses) && !betterThanBranch(accesses, bytesOf(element), info_.tuning);
  auto isByBuffer = [&](const LoadAccess &a) { return !together && takesBuffer(a, element, a.count); };
  for (size_t i = 0; i < accesses.size();) {
    LoadAccess &first = accesses[i];
    size_t end = i + 1;
    if (isByBuffer(first)) {
      loadByBuffer(b, element, first);
    } else if (readsZeros(first, bytesOf(element), info_.tuning)) {
      loadOrZeros(b, element, first, together);
    } else {
      while (end < accesses.size() && accesses[end].mask == first.mask && !isByBuffer(accesses[end])) ++end;
      loadInBranch(b, element, accesses.slice(i, end - i), together);
    }
    i = end;
  }
}

void AmdTarget::store(IRBuilder<> &b, ArrayRef<StoreAccess> accesses) const {
  // LLVM sinks what only the stores need into a branch, loads among it, whose latency nothing hides there. A branch
  // that no warp takes round its stores is not worth that in a loop.
  auto isOfEachWarp = [](const StoreAccess &a) { return a.repeated && a.inEachWarp; };
  bool branches = underOneMask(accesses) && !all_of(accesses, isOfEachWarp);
  auto buffered = [&](const StoreAccess &a) {
    return !branches && takesBuffer(a, a.values[0]->getType(), a.values.size());
  };
  for (size_t i = 0; i < accesses.size();) {
    const StoreAccess &first = accesses[i];
    if (buffered(first)) {
      storeBuffer(b, first, pack(b, first.values), first.mask);
      ++i;
      continue;
    }
    ArrayRef<StoreAccess> run = accesses.slice(i).take_until([&](const StoreAccess &a) { return buffered(a); });
    i += run.size();
    CommonMask masks(run);
    bool nested = !masks.common.empty() && !underOneMask(run) &&
                  !all_of(run, [](const StoreAccess &a) { return isUsed(a.mask); });
    Branch outer(b, nested ? conjunction(b, masks.common) : nullptr);
    for (size_t r = 0, end; r < run.size(); r = end) {
      for (end = r + 1; end < run.size() && run[end].mask == run[r].mask;) ++end;
      SmallVector<Value *, 8> packed;
      for (size_t k = r; k < end; ++k) packed.push_back(pack(b, run[k].values));
      Branch branch(b, nested ? conjunction(b, masks.rest[r]) : run[r].mask);
      for (size_t k = r; k < end; ++k) {
        const StoreAccess &a = run[k];
        if (takesMovedBuffer(a, a.values[0]->getType(), a.values.size(), branches)) {
          storeBuffer(b, a, packed[k - r], nullptr);
          continue;
        }
        setHints(b.CreateAlignedStore(packed[k - r],
                                      globalPointer(b, a, info_.hasWideAddressAdd, branches, addsToMovedBase(a)),
                                      Align(a.alignment), bypassesCaches(a)),
                 a);
      }
      branch.close();
    }
    outer.close();
  }
}

// ---- atomics -------------------------------------------------------------------------------------------------------

namespace {

/// Buffers of programs lie in the device's own memory, where the hardware's float atomics are atomic, and denormals are
/// the hardware's business.
void setMemoryKind(AtomicRMWInst *i) {
  MDNode *empty = MDNode::get(i->getContext(), {});
  i->setMetadata("amdgpu.no.fine.grained.memory", empty);
  i->setMetadata("amdgpu.no.remote.memory", empty);
  if (i->getOperation() == AtomicRMWInst::FAdd && i->getType()->getScalarType()->isFloatTy())
    i->setMetadata("amdgpu.ignore.denormal.mode", empty);
}

} // namespace

SyncScope::ID AmdTarget::syncScope(LLVMContext &c, ir::MemSyncScope s) const {
  switch (s) {
  case ir::MemSyncScope::Gpu: return c.getOrInsertSyncScopeID("agent");
  case ir::MemSyncScope::Cta: return c.getOrInsertSyncScopeID("workgroup");
  case ir::MemSyncScope::Sys: return SyncScope::System;
  }
  return SyncScope::System;
}

/// The clock of constant frequency has 100 MHz ("S_MEMREALTIME", "S_SENDMSG_RTN: GET_REALTIME").
Value *AmdTarget::nanoseconds(IRBuilder<> &b) const {
  constexpr int kNanosecondsPerTick = 10;
  return b.CreateMul(b.CreateIntrinsic(b.getInt64Ty(), Intrinsic::readsteadycounter, ArrayRef<Value *>()),
                     b.getInt64(kNanosecondsPerTick));
}

/// An atomic that orders memory waits for all accesses before it, and then for itself: of several, each would wait for
/// the one before it.
std::optional<SyncScope::ID> AmdTarget::fenceScope(LLVMContext &c, ir::MemSyncScope scope) const {
  return syncScope(c, scope);
}

/// The buffer instruction for an atomic operation, or none. Those of single floats and integers are on all targets.
static Intrinsic::ID bufferAtomic(ir::RmwOp op, Type *type) {
  bool isInteger = type->isIntegerTy(32) || type->isIntegerTy(64);
  switch (op) {
  case ir::RmwOp::Fadd: return type->isFloatTy() ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_fadd : 0;
  case ir::RmwOp::Add: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_add : 0;
  case ir::RmwOp::And: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_and : 0;
  case ir::RmwOp::Or: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_or : 0;
  case ir::RmwOp::Xor: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_xor : 0;
  case ir::RmwOp::Max: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_smax : 0;
  case ir::RmwOp::Min: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_smin : 0;
  case ir::RmwOp::Umax: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_umax : 0;
  case ir::RmwOp::Umin: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_umin : 0;
  case ir::RmwOp::Exch: return isInteger ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_swap : 0;
  }
  llvm_unreachable("atomic operation");
}

/// Cache policy of an atomic of the device's scope; none for others.
static std::optional<int> atomicHints(ir::CachePolicyBits bits, ir::MemSyncScope scope) {
  if (scope != ir::MemSyncScope::Gpu) return {};
  constexpr int kDeviceScope = 2 << 3; // scope:SCOPE_DEV
  return bits == ir::CachePolicyBits::ScopeTh ? kDeviceScope : 0;
}

/// A relaxed atomic among others that have other masks: a buffer access rather than a branch of its own. Null where
/// there is none.
Value *AmdTarget::atomicByBuffer(IRBuilder<> &b, ir::RmwOp op, const MemoryAccess &a, Value *v, ir::MemSemantic sem,
                                 ir::MemSyncScope scope) const {
  Intrinsic::ID intrinsic = bufferAtomic(op, v->getType());
  auto hints = atomicHints(info_.cachePolicy, scope);
  if (!a.masksDiffer || sem != ir::MemSemantic::Relaxed || !intrinsic || !hints) return nullptr;
  if (!takesBuffer(a, v->getType(), 1)) return nullptr;
  Value *offset = bufferOffset(b, a, a.mask);
  return b.CreateIntrinsic(intrinsic, {v->getType()}, {v, resource(b, a), offset, b.getInt32(0), b.getInt32(*hints)});
}

SmallVector<Value *, 4> AmdTarget::atomicRmw(IRBuilder<> &b, ir::RmwOp op, const MemoryAccess &a,
                                             ArrayRef<Value *> values, ir::MemSemantic sem, ir::MemSyncScope scope,
                                             bool resultUsed) const {
  Value *v = pack(b, values);
  if (Value *old = atomicByBuffer(b, op, a, v, sem, scope)) return {old};
  unsigned bytes = bytesOf(values[0]->getType()) * values.size();
  Branch branch(b, a.mask);
  auto *old = b.CreateAtomicRMW(codegen::rmwOperation(op, v->getType()),
                                globalPointer(b, a, info_.hasWideAddressAdd, false, /*mayBeMoved=*/true), v,
                                Align(bytes), codegen::orderingOf(sem), syncScope(b.getContext(), scope));
  setMemoryKind(old);
  branch.close();
  SmallVector<Value *, 4> out;
  if (resultUsed) unpack(b, branch.merge(old, PoisonValue::get(old->getType())), values.size(), out);
  return out;
}

Value *AmdTarget::atomicCas(IRBuilder<> &b, const MemoryAccess &a, Value *cmp, Value *value, ir::MemSemantic sem,
                            ir::MemSyncScope scope) const {
  Type *type = value->getType(), *asInt = b.getIntNTy(bytesOf(type) * 8);
  auto toInt = [&](Value *v) { return type->isPointerTy() ? b.CreatePtrToInt(v, asInt) : b.CreateBitCast(v, asInt); };
  Value *expected = toInt(cmp), *desired = toInt(value);
  AtomicOrdering order = codegen::orderingOf(sem);
  Branch branch(b, a.mask);
  auto *pair = b.CreateAtomicCmpXchg(
      globalPointer(b, a, info_.hasWideAddressAdd, false, /*mayBeMoved=*/true), expected, desired, Align(bytesOf(type)),
      order, AtomicCmpXchgInst::getStrongestFailureOrdering(order), syncScope(b.getContext(), scope));
  Value *old = b.CreateExtractValue(pair, 0);
  branch.close();
  old = branch.merge(old, PoisonValue::get(asInt));
  return type->isPointerTy() ? b.CreateIntToPtr(old, type) : b.CreateBitCast(old, type);
}

// ---- copies to LDS -------------------------------------------------------------------------------------------------

/// A buffer access where there is a base, whose offset beyond the end writes zeros for a lane that is masked off; else
/// by whole addresses, where such a lane copies zeros that the object has. The instructions' own offset stays 0: it
/// would move the place in LDS, too.
bool AmdTarget::copyWarpToShared(IRBuilder<> &b, const MemoryAccess &access, Value *shared, unsigned bytes) const {
  if (!(info_.asyncCopyBytes & bytes)) return false;
  MemoryAccess a = access;
  Value *size = b.getInt32(bytes), *none = b.getInt32(0), *hints = b.getInt32(bufferHints(a));
  bool hasRoomBeyond = a.moved <= codegen::kMovedBytes;
  if (info_.hasBufferOps && a.base && (!a.mask || hasRoomBeyond)) {
    if (!a.mask) moveFarthest(b, a);
    b.CreateIntrinsic(Intrinsic::amdgcn_raw_ptr_buffer_load_lds, {},
                      {resource(b, a), shared, size, bufferOffset(b, a, a.mask), none, none, hints});
    return true;
  }
  Value *from = a.pointer;
  if (a.mask) from = b.CreateSelect(a.mask, from, zeros(*b.GetInsertBlock()->getModule()));
  b.CreateIntrinsic(Intrinsic::amdgcn_global_load_lds, {}, {from, shared, size, none, hints});
  return true;
}

/// Loads return in order. Those that do not copy are not counted: with them more are in flight, and more is waited for.
void AmdTarget::waitForCopies(IRBuilder<> &b, unsigned pending) const { waitForLoads(b, pending); }

// ---- shared memory -------------------------------------------------------------------------------------------------

Value *AmdTarget::loadTransposed(IRBuilder<> &b, Value *ptr, Type *element) const {
  if (element->isIntegerTy(8)) {
    Value *v = b.CreateIntrinsic(Intrinsic::amdgcn_ds_read_tr8_b64, {FixedVectorType::get(b.getInt32Ty(), 2)}, {ptr});
    return b.CreateBitCast(v, FixedVectorType::get(element, 8));
  }
  // The intrinsic knows i16, f16 and bf16.
  return b.CreateIntrinsic(Intrinsic::amdgcn_ds_read_tr16_b64, {FixedVectorType::get(element, 4)}, {ptr});
}

Value *AmdTarget::loadShared(IRBuilder<> &b, Value *ptr, Type *type, unsigned alignment, Value *mask) const {
  Branch branch(b, mask);
  Value *v = b.CreateAlignedLoad(type, ptr, Align(alignment));
  branch.close();
  return branch.merge(v, PoisonValue::get(type));
}

void AmdTarget::storeShared(IRBuilder<> &b, Value *ptr, Value *value, unsigned alignment, Value *mask) const {
  Branch branch(b, mask);
  b.CreateAlignedStore(value, ptr, Align(alignment));
  branch.close();
}

} // namespace tessera::amd
