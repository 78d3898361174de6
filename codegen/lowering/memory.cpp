// Lowering of loads and stores of global memory. AccessPlan groups elements into accesses, and the Target emits an
// access; this file collects an access's operands: masks, values where the mask is false, hints.
//
// A masked-off element without a value for it is zero, as in Triton; programs rely on it. If several threads hold
// copies of an element, one stores it and all load it. Exception: a loaded value that is only stored, and may be
// through the same argument of the kernel. Such a load has the store's predicate, so that it does not read what another
// thread has stored and needs no barrier (insert_barriers.cpp). A scalar store is done by the first thread of the
// block.
#include "codegen/lowering/access_plan.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/only_stored.h"
#include "transforms/analyses/pointer_root.h"

namespace tessera::codegen {
using namespace ir;

namespace {

bool isConstantBool(llvm::Value *v, bool value) {
  auto *c = llvm::dyn_cast_or_null<llvm::ConstantInt>(v);
  return c && c->isOne() == value;
}

/// i1 ↔ the byte that it is in memory.
llvm::Value *toMemory(llvm::IRBuilder<> &b, llvm::Value *v) {
  return v->getType()->isIntegerTy(1) ? b.CreateZExt(v, b.getInt8Ty()) : v;
}
llvm::Value *fromMemory(llvm::IRBuilder<> &b, llvm::Value *v, llvm::Type *type) {
  return type->isIntegerTy(1) ? b.CreateTrunc(v, type) : v;
}

struct Hints {
  CacheModifier cache = CacheModifier::None;
  EvictionPolicy evict = EvictionPolicy::EvictNormal;
  bool isVolatile = false;
  bool repeated = false;
  bool masksDiffer = false;
  void apply(MemoryAccess &a) const {
    a.cache = cache;
    a.evict = evict;
    a.isVolatile = isVolatile;
    a.repeated = repeated;
    a.masksDiffer = masksDiffer;
  }
};

/// i1: this thread stores a value of the type; null: all do.
llvm::Value *storesIt(FunctionLowering &fl, Type t) {
  return t.isTensor() ? fl.isRepresentative(fl.layout(t)) : fl.isFirstThread();
}

/// Whether threads of each warp store a value of the type.
bool eachWarpStores(FunctionLowering &fl, Type t) {
  if (!t.isTensor()) return false;
  using layouts::Dim;
  auto &layout = fl.layout(t);
  bool hasAllWarps = layout.inDimSize(Dim::Warp) == fl.numWarps();
  return hasAllWarps && llvm::none_of(layout.freeVariableMasks(), [](auto &free) {
           return (free.first == Dim::Warp || free.first == Dim::Block) && free.second;
         });
}

/// An access's mask in the threads that act, else false; once for each mask.
class MaskOfActing {
public:
  MaskOfActing(llvm::IRBuilder<> &b, llvm::Value *acts) : b_(b), acts_(acts) {}
  llvm::Value *operator()(llvm::Value *mask) {
    if (!acts_) return mask;
    llvm::Value *&both = combined_[mask];
    if (!both) both = mask ? b_.CreateAnd(mask, acts_) : acts_;
    return both;
  }

private:
  llvm::IRBuilder<> &b_;
  llvm::Value *acts_;
  llvm::DenseMap<llvm::Value *, llvm::Value *> combined_;
};

/// Whether a load is one of several of its block that read one argument's memory under masks of their own: the taps of
/// a window, rows that end in different places.
bool hasLoadsOfOtherMasks(tt::LoadOp load) {
  constexpr size_t kSeveral = 3;
  if (!load.mask() || !load.ptr().type().isTensor()) return false;
  Value root = transforms::pointerRoot(load.ptr());
  llvm::SmallDenseSet<Value, 4> masks = {load.mask()};
  for (Operation &op : *load->block()) {
    auto other = op.dyn<tt::LoadOp>();
    if (!other || !other.mask() || masks.contains(other.mask()) || transforms::pointerRoot(other.ptr()) != root)
      continue;
    masks.insert(other.mask());
    if (masks.size() == kSeveral) return true;
  }
  return false;
}

using AddressFn = llvm::function_ref<void(const VectorAccess &, MemoryAccess &)>;

bool load(Operation *op, FunctionLowering &fl, const AccessPlan &plan, AddressFn address, Value ptr, Value mask,
          Value other, const Hints &hints) {
  auto &b = fl.b;
  Value result = op->result();
  llvm::Type *type = fl.elementType(result.type()), *memory = fl.memoryType(result.type());
  llvm::Value *zero = llvm::Constant::getNullValue(memory);
  llvm::SmallVector<LoadAccess, 8> accesses;
  llvm::SmallVector<const VectorAccess *, 8> vectors;
  Elements out(fl.numElements(result.type()), nullptr);
  bool byOne = fl.target.info().hasPredicatedAccess && fl.numWarps() > 1 && !hints.isVolatile &&
               fl.globalAccesses().mayBeWritten(ptr) && transforms::isOnlyStored(result);
  MaskOfActing maskOf(b, byOne ? storesIt(fl, result.type()) : nullptr);
  auto otherOf = [&](unsigned r) -> llvm::Value * {
    if (!other) return zero;
    const Elements &e = fl.get(other);
    return toMemory(b, e[other.type().isTensor() ? r : 0]);
  };
  for (auto &v : plan.accesses()) {
    llvm::Value *m = mask ? fl.get(mask)[mask.type().isTensor() ? v.registers[0] : 0] : nullptr;
    if (isConstantBool(m, true)) m = nullptr;
    if (isConstantBool(m, false)) {
      for (unsigned r : v.registers) out[r] = fromMemory(b, otherOf(r), type);
      continue;
    }
    m = maskOf(m);
    LoadAccess a;
    address(v, a);
    hints.apply(a);
    a.mask = m;
    a.count = v.registers.size();
    if (m)
      for (unsigned r : v.registers) a.other.push_back(otherOf(r));
    accesses.push_back(std::move(a));
    vectors.push_back(&v);
  }
  fl.target.load(b, memory, accesses);
  for (auto [a, v] : llvm::zip(accesses, vectors))
    for (auto [r, e] : llvm::zip(v->registers, a.result)) out[r] = fromMemory(b, e, type);
  // Registers that hold copies.
  unsigned free = result.type().isTensor() ? fl.freeRegisters(result.type()) : 0;
  for (unsigned r = 0; r < out.size(); ++r)
    if (r & free) out[r] = out[r & ~free];
  fl.set(result, std::move(out));
  return true;
}

bool store(FunctionLowering &fl, const AccessPlan &plan, AddressFn address, Value value, Value mask,
           const Hints &hints) {
  auto &b = fl.b;
  const Elements &values = fl.get(value);
  MaskOfActing maskOf(b, storesIt(fl, value.type()));
  bool inEachWarp = eachWarpStores(fl, value.type());
  llvm::SmallVector<StoreAccess, 8> accesses;
  for (auto &v : plan.accesses()) {
    llvm::Value *m = mask ? fl.get(mask)[mask.type().isTensor() ? v.registers[0] : 0] : nullptr;
    if (isConstantBool(m, true)) m = nullptr;
    if (isConstantBool(m, false)) continue;
    StoreAccess a;
    address(v, a);
    hints.apply(a);
    a.mask = maskOf(m);
    a.inEachWarp = inEachWarp && !m && a.mask;
    for (unsigned r : v.registers) a.values.push_back(toMemory(b, values[r]));
    accesses.push_back(std::move(a));
  }
  fl.target.store(b, accesses);
  return true;
}

} // namespace

bool lowerMemory(Operation *op, FunctionLowering &fl) {
  int64_t widest = fl.target.info().maxGlobalAccessBytes;
  bool repeated = op->parentOfType<scf::ForOp>() || op->parentOfType<scf::WhileOp>();
  auto typeOk = [&](Type t) { return t && fl.memoryType(t) && !t.isTensor(); };
  switch (op->opcode()) {
  case Opcode::tt_load: {
    auto o = op->cast<tt::LoadOp>();
    if (!typeOk(pointeeOf(o.ptr()))) return fl.error(op, "of a block pointer must be rewritten before lowering");
    AccessPlan plan(fl, o.ptr(), o.mask(), byteSize(fl.memoryType(pointeeOf(o.ptr()))), widest);
    if (!repeated && !o.mask()) plan.joinRows();
    return load(op, fl, plan, [&](auto &v, auto &a) { plan.address(v, a); }, o.ptr(), o.mask(), o.other(),
                {o.cache(), o.evict(), o.isVolatile(), repeated, hasLoadsOfOtherMasks(o)});
  }
  case Opcode::tt_store: {
    auto o = op->cast<tt::StoreOp>();
    if (!typeOk(pointeeOf(o.ptr()))) return fl.error(op, "to a block pointer must be rewritten before lowering");
    AccessPlan plan(fl, o.ptr(), o.mask(), byteSize(fl.memoryType(pointeeOf(o.ptr()))), widest);
    if (!repeated && !o.mask()) plan.joinRows();
    return store(fl, plan, [&](auto &v, auto &a) { plan.address(v, a); }, o.value(), o.mask(),
                 {o.cache(), o.evict(), false, repeated});
  }
  case Opcode::amdg_buffer_load: {
    auto o = op->cast<amdg::BufferLoadOp>();
    int64_t bytes = byteSize(fl.memoryType(o.result().type()));
    AccessPlan plan(fl, o.offsets(), o.mask(), bytes, widest, o.contiguity());
    BufferAddress address(fl.scalar(o.ptr()), o.offsets(), bytes);
    return load(op, fl, plan, [&](auto &v, auto &a) { plan.address(address, v, a); }, o.ptr(), o.mask(), o.other(),
                {o.cache(), EvictionPolicy::EvictNormal, false, repeated});
  }
  case Opcode::amdg_buffer_store: {
    auto o = op->cast<amdg::BufferStoreOp>();
    int64_t bytes = byteSize(fl.memoryType(o.value().type()));
    AccessPlan plan(fl, o.offsets(), o.mask(), bytes, widest, o.contiguity());
    BufferAddress address(fl.scalar(o.ptr()), o.offsets(), bytes);
    return store(fl, plan, [&](auto &v, auto &a) { plan.address(address, v, a); }, o.value(), o.mask(),
                 {o.cache(), EvictionPolicy::EvictNormal, false, repeated});
  }
  default: return fl.error(op, "is not a memory access");
  }
}

} // namespace tessera::codegen
