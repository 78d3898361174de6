// Lowering of atomics. Each element is updated once: of registers and threads that hold copies one acts. Where the
// result is used and other threads hold copies of it, the acting threads put it into shared memory (scratchOf gives the
// room: one element per index), and after a barrier every thread reads what it holds. A scalar atomic is the extreme:
// the first thread acts, everybody reads.
#include "codegen/lowering/access_plan.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"

namespace tessera::codegen {
using namespace ir;

static bool acquires(MemSemantic sem) { return sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel; }
static bool releases(MemSemantic sem) { return sem == MemSemantic::Release || sem == MemSemantic::AcqRel; }

/// Gives every thread the values that the acting threads hold. What an acquiring one has seen, the threads see after
/// the barrier: it orders global memory too.
static void broadcast(Operation *op, FunctionLowering &fl, Elements &values, llvm::Value *acts, MemSemantic sem) {
  auto &b = fl.b;
  Value result = op->result();
  llvm::Type *type = fl.elementType(result.type());
  llvm::Value *base = fl.scratch(op);
  unsigned alignment = byteSize(type);
  if (!result.type().isTensor()) {
    fl.target.storeShared(b, base, values[0], alignment, acts);
    fl.barrier(acquires(sem));
    values[0] = fl.target.loadShared(b, base, type, alignment);
    return;
  }
  auto shape = result.type().cast<TensorType>().shape();
  auto index = fl.indices(result.type());
  llvm::SmallVector<llvm::Value *, 8> at;
  for (auto &i : index) {
    llvm::Value *flat = fl.i32(0);
    for (unsigned d = 0; d < shape.size(); ++d) flat = b.CreateAdd(b.CreateMul(flat, fl.i32(shape[d])), i[d]);
    at.push_back(b.CreateGEP(type, base, flat));
  }
  unsigned free = fl.freeRegisters(result.type());
  for (unsigned r = 0; r < values.size(); ++r)
    if (!(r & free)) fl.target.storeShared(b, at[r], values[r], alignment, acts);
  fl.barrier(acquires(sem));
  for (unsigned r = 0; r < values.size(); ++r)
    values[r] = r & free ? values[r & ~free] : fl.target.loadShared(b, at[r], type, alignment);
}

/// The atomics of one operation: relaxed ones between two fences where the target takes that for several.
class OrderedAtomics {
public:
  OrderedAtomics(llvm::IRBuilder<> &b, const FunctionLowering &fl, size_t atomics, MemSemantic sem, MemSyncScope scope)
      : b_(b), sem_(sem) {
    if (atomics > 1 && sem != MemSemantic::Relaxed) fences_ = fl.target.fenceScope(b.getContext(), scope);
    if (fences_ && releases(sem)) b.CreateFence(llvm::AtomicOrdering::Release, *fences_);
  }
  MemSemantic ofEach() const { return fences_ ? MemSemantic::Relaxed : sem_; }
  void close() {
    if (fences_ && acquires(sem_)) b_.CreateFence(llvm::AtomicOrdering::Acquire, *fences_);
  }

private:
  llvm::IRBuilder<> &b_;
  MemSemantic sem_;
  std::optional<llvm::SyncScope::ID> fences_;
};

static bool lowerRmw(Operation *op, FunctionLowering &fl, AccessPlan &plan,
                     llvm::function_ref<void(const VectorAccess &, MemoryAccess &)> address, RmwOp kind, Value value,
                     Value mask, MemSemantic sem, MemSyncScope scope) {
  auto &b = fl.b;
  Value result = op->result();
  bool used = !result.useEmpty();
  const Elements &values = fl.get(value);
  llvm::Value *acts = value.type().isTensor() ? fl.isRepresentative(fl.layout(value.type())) : fl.isFirstThread();
  llvm::Type *type = fl.elementType(value.type());
  Elements out(values.size(), nullptr);
  llvm::SmallVector<MemoryAccess, 8> accesses;
  for (auto &v : plan.accesses()) {
    MemoryAccess &a = accesses.emplace_back();
    address(v, a);
    llvm::Value *m = mask ? fl.get(mask)[mask.type().isTensor() ? v.registers[0] : 0] : nullptr;
    if (auto *c = llvm::dyn_cast_or_null<llvm::ConstantInt>(m); c && c->isOne()) m = nullptr;
    if (acts) m = m ? b.CreateAnd(m, acts) : acts;
    a.mask = m;
  }
  bool masksDiffer = llvm::any_of(accesses, [&](const MemoryAccess &a) { return a.mask != accesses.front().mask; });
  OrderedAtomics ordered(b, fl, accesses.size(), sem, scope);
  for (auto [v, a] : llvm::zip(plan.accesses(), accesses)) {
    a.masksDiffer = masksDiffer;
    llvm::SmallVector<llvm::Value *, 4> elements;
    for (unsigned r : v.registers) elements.push_back(values[r]);
    auto old = fl.target.atomicRmw(b, kind, a, elements, ordered.ofEach(), scope, used);
    for (auto [r, e] : llvm::zip(v.registers, old)) out[r] = e;
  }
  ordered.close();
  unsigned free = value.type().isTensor() ? fl.freeRegisters(value.type()) : 0;
  for (unsigned r = 0; r < out.size(); ++r) {
    if (r & free) out[r] = out[r & ~free];
    if (!out[r]) out[r] = llvm::PoisonValue::get(type);
  }
  if (used && acts) broadcast(op, fl, out, acts, sem);
  fl.set(result, std::move(out));
  return true;
}

static bool lowerCas(Operation *op, FunctionLowering &fl, AccessPlan &plan,
                     llvm::function_ref<void(const VectorAccess &, MemoryAccess &)> address, Value cmp, Value value,
                     MemSemantic sem, MemSyncScope scope) {
  bool tensor = value.type().isTensor();
  llvm::Value *acts = tensor ? fl.isRepresentative(fl.layout(value.type())) : fl.isFirstThread();
  Elements out(fl.get(value).size(), nullptr);
  OrderedAtomics ordered(fl.b, fl, plan.accesses().size(), sem, scope);
  for (auto &v : plan.accesses()) {
    MemoryAccess a;
    address(v, a);
    a.mask = acts;
    unsigned r = v.registers[0];
    out[r] = fl.target.atomicCas(fl.b, a, fl.get(cmp)[r], fl.get(value)[r], ordered.ofEach(), scope);
  }
  ordered.close();
  unsigned free = tensor ? fl.freeRegisters(value.type()) : 0;
  for (unsigned r = 0; r < out.size(); ++r)
    if (r & free) out[r] = out[r & ~free];
  if (!op->result().useEmpty() && acts) broadcast(op, fl, out, acts, sem);
  fl.set(op->result(), std::move(out));
  return true;
}

/// A scalar base and an offset in elements.
static void bufferAddress(FunctionLowering &fl, Value base, Value offsets, int64_t bytes, const VectorAccess &v,
                          MemoryAccess &a) {
  auto &b = fl.b;
  llvm::Value *offset = b.CreateMul(fl.get(offsets)[v.registers[0]], fl.i32(bytes));
  a.pointer = b.CreateGEP(b.getInt8Ty(), fl.scalar(base), b.CreateZExt(offset, b.getInt64Ty()));
  a.alignment = bytes;
}

bool lowerAtomic(Operation *op, FunctionLowering &fl) {
  switch (op->opcode()) {
  case Opcode::tt_atomic_rmw: {
    auto o = op->cast<tt::AtomicRmwOp>();
    int64_t bytes = byteSize(fl.elementType(o.val().type()));
    auto *type = fl.elementType(o.val().type());
    unsigned vector = o.atomicRmwOp() == RmwOp::Fadd
                          ? fl.target.info().atomicAddElements(8 * bytes, type->isBFloatTy(), !o.result().useEmpty())
                          : 1;
    AccessPlan plan(fl, o.ptr(), o.mask(), bytes, bytes * vector);
    return lowerRmw(
        op, fl, plan, [&](auto &v, auto &a) { plan.address(v, a); }, o.atomicRmwOp(), o.val(), o.mask(), o.sem(),
        o.scope());
  }
  case Opcode::amdg_buffer_atomic_rmw: {
    auto o = op->cast<amdg::BufferAtomicRmwOp>();
    int64_t bytes = byteSize(fl.elementType(o.value().type()));
    AccessPlan plan(fl, o.offsets(), o.mask(), bytes, bytes, 1);
    auto address = [&](const VectorAccess &v, MemoryAccess &a) {
      bufferAddress(fl, o.ptr(), o.offsets(), bytes, v, a);
    };
    return lowerRmw(op, fl, plan, address, o.atomicRmwOp(), o.value(), o.mask(), o.sem(), o.scope());
  }
  case Opcode::tt_atomic_cas: {
    auto o = op->cast<tt::AtomicCasOp>();
    int64_t bytes = byteSize(fl.elementType(o.val().type()));
    AccessPlan plan(fl, o.ptr(), Value(), bytes, bytes);
    return lowerCas(op, fl, plan, [&](auto &v, auto &a) { plan.address(v, a); }, o.cmp(), o.val(), o.sem(), o.scope());
  }
  case Opcode::amdg_buffer_atomic_cas: {
    auto o = op->cast<amdg::BufferAtomicCasOp>();
    int64_t bytes = byteSize(fl.elementType(o.val().type()));
    AccessPlan plan(fl, o.offsets(), Value(), bytes, bytes, 1);
    auto address = [&](const VectorAccess &v, MemoryAccess &a) {
      bufferAddress(fl, o.ptr(), o.offsets(), bytes, v, a);
    };
    return lowerCas(op, fl, plan, address, o.cmp(), o.val(), o.sem(), o.scope());
  }
  default: return fl.error(op, "is not an atomic");
  }
}

} // namespace tessera::codegen
