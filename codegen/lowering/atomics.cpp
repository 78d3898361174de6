// Lowering of atomics. Each element is updated once: of registers and threads that hold copies one acts. Where the
// result is used and other threads hold copies of it, the acting threads put it into shared memory (scratchOf gives the
// room: one element per index), and after a barrier every thread reads what it holds. A scalar atomic is the extreme:
// the first thread acts, everybody reads.
//
// Loads, stores and polls order the accesses of all threads, so there is a barrier before a store that releases and
// after a load or poll that acquires. A poll is a loop of each thread for each of its elements:
//
//   %ok = tt.atomic_poll acquire, gpu, %p, %x   →   poll:   %v = load atomic %p syncscope(…) acquire
//                                                           br (%v == %x), polled, poll
//                                                   polled: barrier
#include "codegen/lowering/access_plan.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"

namespace tessera::codegen {
using namespace ir;

static bool acquires(MemSemantic sem) { return sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel; }
static bool releases(MemSemantic sem) { return sem == MemSemantic::Release || sem == MemSemantic::AcqRel; }

void shareAtomicResult(Operation *op, FunctionLowering &fl, Elements &values, llvm::Value *acts, MemSemantic sem) {
  auto &b = fl.b;
  Value result = op->result();
  llvm::Type *element = fl.elementType(result.type()), *type = fl.memoryType(result.type()); // i1 takes a byte
  for (llvm::Value *&v : values)
    if (type != element) v = b.CreateZExt(v, type);
  llvm::Value *base = fl.scratch(op);
  unsigned alignment = byteSize(type);
  auto load = [&](llvm::Value *at) {
    llvm::Value *v = fl.target.loadShared(b, at, type, alignment);
    return type == element ? v : b.CreateTrunc(v, element);
  };
  if (!result.type().isTensor()) {
    fl.target.storeShared(b, base, values[0], alignment, acts);
    fl.barrier(acquires(sem));
    values[0] = load(base);
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
  for (unsigned r = 0; r < values.size(); ++r) values[r] = r & free ? values[r & ~free] : load(at[r]);
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

/// i1: this thread acts for elements of the type; null: all do.
static llvm::Value *actsFor(FunctionLowering &fl, Type type) {
  return type.isTensor() ? fl.isRepresentative(fl.layout(type)) : fl.isFirstThread();
}

/// i1: where the access is made, by a thread that acts; null: everywhere.
static llvm::Value *conditionOf(FunctionLowering &fl, Value mask, const VectorAccess &v, llvm::Value *acts) {
  llvm::Value *m = mask ? fl.get(mask)[mask.type().isTensor() ? v.registers[0] : 0] : nullptr;
  if (auto *c = llvm::dyn_cast_or_null<llvm::ConstantInt>(m); c && c->isOne()) m = nullptr;
  return m && acts ? fl.b.CreateAnd(m, acts) : m ? m : acts;
}

static bool lowerRmw(Operation *op, FunctionLowering &fl, AccessPlan &plan,
                     llvm::function_ref<void(const VectorAccess &, MemoryAccess &)> address, RmwOp kind, Value value,
                     Value mask, MemSemantic sem, MemSyncScope scope) {
  auto &b = fl.b;
  Value result = op->result();
  bool used = !result.useEmpty();
  const Elements &values = fl.get(value);
  llvm::Value *acts = actsFor(fl, value.type());
  llvm::Type *type = fl.elementType(value.type());
  Elements out(values.size(), nullptr);
  llvm::SmallVector<MemoryAccess, 8> accesses;
  for (auto &v : plan.accesses()) {
    MemoryAccess &a = accesses.emplace_back();
    address(v, a);
    a.mask = conditionOf(fl, mask, v, acts);
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
  if (used && acts) shareAtomicResult(op, fl, out, acts, sem);
  fl.set(result, std::move(out));
  return true;
}

static bool lowerCas(Operation *op, FunctionLowering &fl, AccessPlan &plan,
                     llvm::function_ref<void(const VectorAccess &, MemoryAccess &)> address, Value cmp, Value value,
                     MemSemantic sem, MemSyncScope scope) {
  bool tensor = value.type().isTensor();
  llvm::Value *acts = actsFor(fl, value.type());
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
  if (!op->result().useEmpty() && acts) shareAtomicResult(op, fl, out, acts, sem);
  fl.set(op->result(), std::move(out));
  return true;
}

// ---- loads, stores and polls ----------------------------------------------------------------------------------------

/// The accesses of one of these operations: each is an integer's and has the operation's order.
class AtomicAccesses {
public:
  AtomicAccesses(FunctionLowering &fl, Value ptr, Value mask, MemSemantic sem, MemSyncScope scope)
      : b_(fl.b), bytes_(byteSize(fl.memoryType(pointeeOf(ptr)))), word_(b_.getIntNTy(8 * bytes_)),
        plan_(fl, ptr, mask, bytes_, bytes_), order_(orderingOf(sem)),
        scope_(fl.target.syncScope(b_.getContext(), scope)) {}

  llvm::ArrayRef<VectorAccess> all() const { return plan_.accesses(); }
  llvm::Value *pointer(const VectorAccess &v) {
    MemoryAccess a;
    plan_.address(v, a);
    return a.pointer;
  }
  llvm::Type *word() const { return word_; }
  llvm::Value *load(llvm::Value *pointer) {
    auto *load = b_.CreateAlignedLoad(word_, pointer, llvm::Align(bytes_));
    load->setAtomic(order_, scope_);
    return load;
  }
  void store(llvm::Value *pointer, llvm::Value *value) {
    llvm::Value *bits =
        value->getType()->isPointerTy() ? b_.CreatePtrToInt(value, word_) : b_.CreateBitCast(value, word_);
    b_.CreateAlignedStore(bits, pointer, llvm::Align(bytes_))->setAtomic(order_, scope_);
  }

private:
  llvm::IRBuilder<> &b_;
  unsigned bytes_;
  llvm::Type *word_;
  AccessPlan plan_;
  llvm::AtomicOrdering order_;
  llvm::SyncScope::ID scope_;
};

/// Sets the result from the values that the acting threads hold, and lets all threads wait for them.
static void finish(Operation *op, FunctionLowering &fl, Elements &out, llvm::Value *acts, MemSemantic sem, bool waits) {
  unsigned free = op->result().type().isTensor() ? fl.freeRegisters(op->result().type()) : 0;
  for (unsigned r = 0; r < out.size(); ++r)
    if (r & free) out[r] = out[r & ~free];
  if (acts && !op->result().useEmpty())
    shareAtomicResult(op, fl, out, acts, sem);
  else if (waits)
    fl.barrier(acquires(sem));
  fl.set(op->result(), std::move(out));
}

static bool lowerLoad(tt::AtomicLoadOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  AtomicAccesses accesses(fl, op.ptr(), op.mask(), op.sem(), op.scope());
  llvm::Type *type = fl.elementType(op.result().type());
  llvm::Value *acts = actsFor(fl, op.result().type());
  Elements out(fl.numElements(op.result().type()), nullptr);
  for (auto &v : accesses.all()) {
    llvm::Value *pointer = accesses.pointer(v), *condition = conditionOf(fl, op.mask(), v, acts), *loaded = nullptr;
    llvm::BasicBlock *before = b.GetInsertBlock(), *end = nullptr;
    fl.inBranch(condition, [&] {
      loaded = accesses.load(pointer);
      end = b.GetInsertBlock();
    });
    if (condition) {
      auto *merged = b.CreatePHI(accesses.word(), 2);
      merged->addIncoming(loaded, end);
      merged->addIncoming(llvm::Constant::getNullValue(accesses.word()), before);
      loaded = merged;
    }
    out[v.registers[0]] = type->isPointerTy() ? b.CreateIntToPtr(loaded, type) : b.CreateBitCast(loaded, type);
  }
  finish(op.op, fl, out, acts, op.sem(), /*waits=*/acquires(op.sem()));
  return true;
}

static bool lowerStore(tt::AtomicStoreOp op, FunctionLowering &fl) {
  AtomicAccesses accesses(fl, op.ptr(), op.mask(), op.sem(), op.scope());
  const Elements &values = fl.get(op.value());
  llvm::Value *acts = actsFor(fl, op.value().type());
  if (releases(op.sem())) fl.barrier(/*global=*/true);
  for (auto &v : accesses.all()) {
    llvm::Value *pointer = accesses.pointer(v);
    fl.inBranch(conditionOf(fl, op.mask(), v, acts), [&] { accesses.store(pointer, values[v.registers[0]]); });
  }
  return true;
}

/// Loads until the value is the expected one, or the time is over: whether it was.
static llvm::Value *poll(FunctionLowering &fl, AtomicAccesses &accesses, llvm::Value *pointer, llvm::Value *expected,
                         llvm::Value *acts, llvm::function_ref<llvm::Value *()> isOver) {
  auto &b = fl.b;
  llvm::BasicBlock *before = b.GetInsertBlock(), *after = fl.newBlock("polled"), *loop = fl.newBlock("poll");
  if (acts)
    b.CreateCondBr(acts, loop, after);
  else
    b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::Value *found = b.CreateICmpEQ(accesses.load(pointer), expected), *over = isOver();
  b.CreateCondBr(over ? b.CreateOr(found, over) : found, after, loop);
  b.SetInsertPoint(after);
  if (!over) return b.getTrue();
  auto *result = b.CreatePHI(b.getInt1Ty(), 2);
  result->addIncoming(found, loop);
  if (acts) result->addIncoming(b.getFalse(), before);
  return result;
}

static bool lowerPoll(tt::AtomicPollOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  AtomicAccesses accesses(fl, op.ptr(), Value(), op.sem(), op.scope());
  const Elements &expected = fl.get(op.expected());
  llvm::Value *timeout = op.timeout() ? fl.scalar(op.timeout()) : nullptr;
  llvm::Value *start = timeout ? fl.target.nanoseconds(b) : nullptr;
  auto isOver = [&] {
    return timeout ? b.CreateICmpUGE(b.CreateSub(fl.target.nanoseconds(b), start), timeout) : nullptr;
  };
  llvm::Value *acts = actsFor(fl, op.ptr().type());
  Elements out(expected.size(), nullptr);
  for (auto &v : accesses.all()) {
    unsigned r = v.registers[0];
    llvm::Value *pointer = accesses.pointer(v);
    out[r] = poll(fl, accesses, pointer, expected[r], acts, isOver);
  }
  finish(op.op, fl, out, timeout ? acts : nullptr, op.sem(), /*waits=*/true);
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
  case Opcode::tt_atomic_load: return lowerLoad(op->cast<tt::AtomicLoadOp>(), fl);
  case Opcode::tt_atomic_store: return lowerStore(op->cast<tt::AtomicStoreOp>(), fl);
  case Opcode::tt_atomic_poll: return lowerPoll(op->cast<tt::AtomicPollOp>(), fl);
  default: return fl.error(op, "is not an atomic");
  }
}

} // namespace tessera::codegen
