// Lowering of operations on shared memory: buffers (local_alloc), views of them (memdesc_index, memdesc_subslice,
// memdesc_trans), reads and writes of whole tensors (local_load, local_store) and of elements by index (local_gather,
// local_scatter, local_atomic_scatter_rmw). A memory descriptor is a base pointer and one i32 offset per dimension.
#include "codegen/lowering/shared_access.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "transforms/memory/tensor_memory.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

static bool lowerStore(Operation *op, Value src, Value desc, FunctionLowering &fl) {
  auto shared = sharedLayoutOf(desc.type().cast<MemDescType>());
  if (!shared.ok()) return fl.error(op, std::string(shared.status().message()));
  auto &registers = fl.layout(src.type());
  SharedAccess access(registers, *shared, fl.elementType(src.type()), fl, desc.type().cast<MemDescType>().encoding(),
                      viewOffset(desc, *shared, fl));
  access.store(fl.get(desc)[0], fl.get(src), fl.isRepresentative(registers));
  return true;
}

static bool lowerView(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  MemdescViewOp view(op);
  Value src = view.src(), result = view.result();
  auto srcType = src.type().cast<MemDescType>(), type = result.type().cast<MemDescType>();
  Elements parts(fl.get(src));
  llvm::Type *element = fl.elementType(type);
  switch (op->opcode()) {
  case Opcode::ttg_memdesc_index: {
    // The first dimension is one of whole buffers: their size apart, from the first that the view has.
    int64_t size = 1;
    for (auto d : srcType.allocShape().take_back(type.rank())) size *= d;
    llvm::Value *at = withPadding(
        srcType.encoding(),
        b.CreateMul(b.CreateAdd(parts[1], fl.scalar(op->cast<ttg::MemdescIndexOp>().index())), fl.i32(size)), fl);
    parts[0] = b.CreateGEP(element, parts[0], at);
    parts.erase(parts.begin() + 1, parts.begin() + 1 + (srcType.rank() - type.rank()));
    while (parts.size() < type.rank() + 1) parts.push_back(fl.i32(0));
    break;
  }
  case Opcode::ttg_memdesc_subslice:
    for (auto [d, o] : llvm::enumerate(op->cast<ttg::MemdescSubsliceOp>().offsets()))
      parts[d + 1] = b.CreateAdd(parts[d + 1], fl.i32(o));
    break;
  case Opcode::ttg_memdesc_trans: {
    Elements moved{parts[0]};
    for (auto o : op->cast<ttg::MemdescTransOp>().order()) moved.push_back(parts[o + 1]);
    parts = moved;
    break;
  }
  default: // reshape and reinterpret: the same bytes; only whole buffers can be seen anew
    parts.resize(1);
    parts.append(type.rank(), fl.i32(0));
  }
  fl.set(result, std::move(parts));
  return true;
}

/// Pointers to the elements of a buffer that a tensor of indices names: each register's own place with the axis'
/// coordinate replaced. Indices are unsigned.
static bool addressesByIndex(Operation *op, Value desc, Value indices, unsigned axis, FunctionLowering &fl,
                             llvm::SmallVectorImpl<llvm::Value *> &out) {
  auto &b = fl.b;
  auto type = desc.type().cast<MemDescType>();
  auto shared = sharedLayoutOf(type);
  if (!shared.ok()) return fl.error(op, std::string(shared.status().message()));
  LinearLayout offsetOf = shared->pseudoInvert();
  auto &parts = fl.get(desc);
  auto coordinates = fl.indices(indices.type());
  llvm::Type *element = fl.memoryType(type);
  for (auto [r, index] : llvm::enumerate(fl.get(indices))) {
    llvm::SmallVector<std::pair<Dim, llvm::Value *>, 4> in;
    for (unsigned d = 0; d < type.rank(); ++d) {
      llvm::Value *c = d == axis ? b.CreateZExtOrTrunc(index, b.getInt32Ty()) : coordinates[r][d];
      in.push_back({layouts::tensorDim(d), b.CreateAdd(parts[d + 1], c)});
    }
    out.push_back(b.CreateGEP(element, parts[0], withPadding(type.encoding(), fl.applyLayout(offsetOf, in)[0], fl)));
  }
  return true;
}

static bool lowerLocalGather(ttg::LocalGatherOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  llvm::SmallVector<llvm::Value *, 8> pointers;
  if (!addressesByIndex(op, op.src(), op.indices(), op.axis(), fl, pointers)) return false;
  llvm::Type *type = fl.elementType(op.result().type()), *memory = fl.memoryType(op.result().type());
  unsigned free = fl.freeRegisters(op.result().type());
  Elements out;
  for (unsigned r = 0; r < pointers.size(); ++r) {
    if (r & free)
      out.push_back(out[r & ~free]);
    else
      out.push_back(b.CreateBitCast(fl.target.loadShared(b, pointers[r], memory, byteSize(memory)), memory));
  }
  for (llvm::Value *&v : out)
    if (v->getType() != type) v = b.CreateTrunc(v, type);
  fl.set(op.result(), std::move(out));
  return true;
}

static bool lowerLocalScatter(ttg::LocalScatterOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  llvm::SmallVector<llvm::Value *, 8> pointers;
  if (!addressesByIndex(op, op.dst(), op.indices(), op.axis(), fl, pointers)) return false;
  auto &values = fl.get(op.values());
  llvm::Value *acts = fl.isRepresentative(fl.layout(op.values().type()));
  unsigned free = fl.freeRegisters(op.values().type());
  llvm::Type *memory = fl.memoryType(op.values().type());
  for (unsigned r = 0; r < pointers.size(); ++r) {
    if (r & free) continue;
    llvm::Value *v = values[r]->getType() == memory ? values[r] : b.CreateZExt(values[r], memory);
    fl.target.storeShared(b, pointers[r], v, byteSize(memory), acts);
  }
  return true;
}

/// Each named element is combined once per index that names it, by one of the threads that hold copies of the index; it
/// gives the others the old value.
static bool lowerLocalAtomic(ttg::LocalAtomicScatterRmwOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  llvm::SmallVector<llvm::Value *, 8> pointers;
  if (!addressesByIndex(op, op.dst(), op.indices(), op.axis(), fl, pointers)) return false;
  llvm::Type *type = fl.memoryType(op.values().type());
  auto &layout = fl.layout(op.values().type());
  llvm::Value *acts = fl.isRepresentative(layout);
  unsigned free = fl.freeRegisters(op.values().type());
  auto scope = b.getContext().getOrInsertSyncScopeID(fl.target.blockScope());
  Elements out;
  for (unsigned r = 0; r < pointers.size(); ++r) {
    if (r & free) {
      out.push_back(out[r & ~free]);
      continue;
    }
    llvm::Value *m = acts;
    if (op.mask()) {
      llvm::Value *own = fl.get(op.mask())[op.mask().type().isTensor() ? r : 0];
      m = m ? b.CreateAnd(m, own) : own;
    }
    llvm::BasicBlock *from = b.GetInsertBlock(), *done = from;
    llvm::Value *old = nullptr;
    fl.inBranch(m, [&] {
      old = b.CreateAtomicRMW(rmwOperation(op.atomicRmwOp(), type), pointers[r], fl.get(op.values())[r],
                              llvm::Align(byteSize(type)), llvm::AtomicOrdering::Monotonic, scope);
      done = b.GetInsertBlock();
    });
    if (m) {
      auto *phi = b.CreatePHI(type, 2);
      phi->addIncoming(old, done);
      phi->addIncoming(llvm::PoisonValue::get(type), from);
      old = phi;
    }
    out.push_back(old);
  }
  if (acts && !op.result().useEmpty()) shareAtomicResult(op.op, fl, out, acts, MemSemantic::Relaxed);
  fl.set(op.result(), std::move(out));
  return true;
}

bool lowerShared(Operation *op, FunctionLowering &fl) {
  switch (op->opcode()) {
  case Opcode::ttg_local_alloc: {
    auto alloc = op->cast<ttg::LocalAllocOp>();
    Elements parts{fl.scratch(op)};
    parts.append(alloc.result().type().cast<MemDescType>().rank(), fl.i32(0));
    fl.set(alloc.result(), std::move(parts));
    return !alloc.src() || lowerStore(op, alloc.src(), alloc.result(), fl);
  }
  case Opcode::ttg_local_dealloc: return true;
  case Opcode::ttg_local_store:
    return lowerStore(op, op->cast<ttg::LocalStoreOp>().src(), op->cast<ttg::LocalStoreOp>().dst(), fl);
  case Opcode::ttg_local_load: {
    auto load = op->cast<ttg::LocalLoadOp>();
    auto shared = sharedLayoutOf(load.src().type().cast<MemDescType>());
    if (!shared.ok()) return fl.error(op, std::string(shared.status().message()));
    llvm::Type *element = fl.elementType(load.result().type());
    SharedAccess access(fl.layout(load.result().type()), *shared, element, fl,
                        load.src().type().cast<MemDescType>().encoding(), viewOffset(load.src(), *shared, fl));
    fl.set(load.result(), access.load(fl.get(load.src())[0], element));
    return true;
  }
  case Opcode::ttg_local_gather: return lowerLocalGather(op->cast<ttg::LocalGatherOp>(), fl);
  case Opcode::ttg_local_scatter: return lowerLocalScatter(op->cast<ttg::LocalScatterOp>(), fl);
  case Opcode::ttg_local_atomic_scatter_rmw: return lowerLocalAtomic(op->cast<ttg::LocalAtomicScatterRmwOp>(), fl);
  case Opcode::ttg_memdesc_index:
  case Opcode::ttg_memdesc_subslice:
  case Opcode::ttg_memdesc_trans:
  case Opcode::ttg_memdesc_reshape:
  case Opcode::ttg_memdesc_reinterpret:
    return transforms::isInTensorMemory(op->operand(0).type()) ? lowerTensorMemory(op, fl) : lowerView(op, fl);
  default: return fl.error(op, "is not an operation on shared memory");
  }
}

} // namespace tessera::codegen
