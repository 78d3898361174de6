// Lowering of tt.gather and tt.histogram: data decides which thread an element comes from or goes to. Both go through
// shared memory.
//
//   tt.gather     every thread stores what it holds of the source; after a barrier each result register is read at
//                 its own index with the axis' coordinate replaced. Indices are unsigned.
//   tt.histogram  one counter per bin, zeroed together; each element, counted by one of the threads that hold it,
//                 adds one to its bin; every thread reads its bins. Values that are no bin are not counted.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/shared_access.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

static bool lowerGather(tt::GatherOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  auto type = op.src().type().cast<TensorType>();
  auto &registers = fl.layout(type);
  unsigned rank = type.rank(), axis = op.axis();
  // The dimension along which a thread's registers run is the fastest, so that stores are wide.
  unsigned fastest = rank - 1;
  if (registers.inDimBits(Dim::Register))
    for (unsigned d = 0; d < rank; ++d)
      if (registers.basis(Dim::Register, 0)[d] == 1) fastest = d;
  llvm::SmallVector<int64_t, 4> strides(rank);
  LinearLayout shared = LinearLayout::identity1D(type.dim(fastest), Dim::Offset, layouts::tensorDim(fastest));
  strides[fastest] = 1;
  int64_t stride = type.dim(fastest);
  for (unsigned d = rank; d-- > 0;)
    if (d != fastest) {
      shared *= LinearLayout::identity1D(type.dim(d), Dim::Offset, layouts::tensorDim(d));
      strides[d] = stride;
      stride *= type.dim(d);
    }
  llvm::Type *element = fl.elementType(type), *memory = fl.memoryType(type);
  llvm::Value *base = fl.scratch(op);
  SharedAccess(registers, shared, element, fl).store(base, fl.get(op.src()), fl.isRepresentative(registers));
  fl.barrier();

  auto &indices = fl.get(op.indices());
  unsigned alignment = memory->isPointerTy() ? 8 : memory->getPrimitiveSizeInBits() / 8;
  Elements out;
  unsigned free = fl.freeRegisters(op.result().type());
  auto coordinates = fl.indices(op.indices().type());
  for (unsigned r = 0; r < indices.size(); ++r) {
    if (r & free) {
      out.push_back(out[r & ~free]);
      continue;
    }
    llvm::Value *at = nullptr;
    for (unsigned d = 0; d < rank; ++d) {
      llvm::Value *c = d == axis ? b.CreateZExtOrTrunc(indices[r], b.getInt32Ty()) : coordinates[r][d];
      llvm::Value *part = b.CreateMul(c, fl.i32(strides[d]));
      at = at ? b.CreateAdd(at, part) : part;
    }
    llvm::Value *v = fl.target.loadShared(b, b.CreateGEP(memory, base, at), memory, alignment);
    out.push_back(element == memory ? v : b.CreateTrunc(v, element));
  }
  fl.set(op.result(), std::move(out));
  return true;
}

static bool lowerHistogram(tt::HistogramOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  Value src = op.src(), result = op.result();
  llvm::Type *i32 = b.getInt32Ty();
  auto bins = result.type().cast<TensorType>();
  llvm::Value *base = fl.scratch(op);
  auto &registers = fl.layout(bins);
  LinearLayout shared = LinearLayout::identity1D(bins.numElements(), Dim::Offset, Dim::Dim0);
  SharedAccess access(registers, shared, i32, fl);
  access.store(base, Elements(fl.numElements(bins), fl.i32(0)), fl.isRepresentative(registers));
  fl.barrier();

  auto &values = fl.get(src);
  unsigned free = fl.freeRegisters(src.type());
  llvm::Value *acts = fl.isRepresentative(fl.layout(src.type()));
  auto scope = b.getContext().getOrInsertSyncScopeID(fl.target.blockScope());
  for (unsigned r = 0; r < values.size(); ++r) {
    if (r & free) continue;
    unsigned width = values[r]->getType()->getIntegerBitWidth();
    llvm::Value *m = acts;
    auto also = [&](llvm::Value *c) { m = m ? b.CreateAnd(m, c) : c; };
    if (width >= 63 || bins.numElements() < int64_t(1) << width)
      also(b.CreateICmpULT(values[r], llvm::ConstantInt::get(values[r]->getType(), bins.numElements())));
    if (op.mask()) also(fl.get(op.mask())[op.mask().type().isTensor() ? r : 0]);
    fl.inBranch(m, [&] {
      llvm::Value *p = b.CreateGEP(i32, base, b.CreateZExtOrTrunc(values[r], i32));
      b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, p, fl.i32(1), llvm::Align(4), llvm::AtomicOrdering::Monotonic, scope);
    });
  }
  fl.barrier();
  Elements counts = access.load(base, i32);
  llvm::Type *type = fl.elementType(bins);
  for (llvm::Value *&v : counts) v = b.CreateZExtOrTrunc(v, type);
  fl.set(result, std::move(counts));
  return true;
}

bool lowerGatherLike(Operation *op, FunctionLowering &fl) {
  if (auto gather = op->dyn<tt::GatherOp>()) return lowerGather(gather, fl);
  return lowerHistogram(op->cast<tt::HistogramOp>(), fl);
}

} // namespace tessera::codegen
