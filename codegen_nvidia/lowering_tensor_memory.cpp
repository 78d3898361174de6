// Tensor memory and the matrix unit of Blackwell: tcgen05. What is peculiar: tensor memory is allocated by the kernel;
// loads and stores are asynchronous and belong to a warp, of which each has the 32 lanes of its number modulo 4; a dot
// is issued by one thread, runs asynchronously, and arrives at an mbarrier when it and all dots before it are done.
//
//   tcgen05.st.sync.aligned.32x32b.x64.b32 [address], {words…};
//   tcgen05.wait::st.sync.aligned;
//   tcgen05.fence::before_thread_sync;
//   bar.sync 0;
//   tcgen05.fence::after_thread_sync;
//   @leader tcgen05.mma.cta_group::1.kind::f16 [accumulator], descriptor of A, descriptor of B, instruction, add;
//   @leader tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [barrier];
//
// Order: an access of a thread and one of another are ordered if the first is waited for (wait::ld, wait::st, or the
// mbarrier of a commit), fence::before_thread_sync follows it, fence::after_thread_sync precedes the second, and the
// two threads synchronise in between. Each access here waits and brings both fences with it, so that every barrier
// orders it. A commit implies the fence before.
//
// Source: PTX ISA, "TensorCore 5th Generation Family Instructions": "Shared Memory Descriptor", "Instruction
// Descriptor", "Memory Consistency Model", "Tensor Memory Allocation and Management Instructions", "Tensor Memory Load
// and Store Instructions", "tcgen05.mma", "tcgen05.commit".
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/lowering_target.h"
#include "codegen_nvidia/occupancy.h"

namespace tessera::nvidia {
using namespace llvm;
using codegen::SharedMatrix;
using codegen::TensorMemoryAccess;
using codegen::TensorMemoryDot;
using ir::MatrixType;

namespace {

constexpr const char *kBefore = "tcgen05.fence::before_thread_sync;\n", *kAfter = "tcgen05.fence::after_thread_sync;\n";

/// "Shared Memory Descriptor": bits 0-13 address, 16-29 leading and 32-45 stride offset, all in units of 16 bytes; bits
/// 46-48 the constant 1; bits 61-63 the swizzle. Its pattern begins at the address or before it, at a multiple of its
/// size, so that the base offset, bits 49-51, is 0.
uint64_t constantOf(const SharedMatrix &m) {
  uint64_t swizzle = m.swizzleBytes == 128 ? 2 : m.swizzleBytes == 64 ? 4 : 6;
  return swizzle << 61 | uint64_t(1) << 46 | uint64_t(m.strideBytes >> 4 & 0x3fff) << 32 |
         uint64_t(m.kMajor ? 0 : m.leadingBytes >> 4 & 0x3fff) << 16;
}
Value *descriptor(IRBuilder<> &b, const SharedMatrix &m) {
  Value *address = b.CreateAnd(b.CreateLShr(b.CreatePtrToInt(m.pointer, b.getInt32Ty()), 4), 0x3fff);
  return b.CreateOr(b.CreateZExt(address, b.getInt64Ty()), b.getInt64(constantOf(m)));
}

/// How "Instruction Descriptor" numbers the types of operands, per kind.
uint32_t operandCode(MatrixType t, bool isUnsigned) {
  switch (t) {
  case MatrixType::BF16:
  case MatrixType::F8E5M2: return 1;
  case MatrixType::TF32: return 2;
  case MatrixType::I8: return isUnsigned ? 0 : 1;
  default: return 0; // f16, e4m3
  }
}

/// "Instruction Descriptor": bits 4-5 the type of D, 7-9 of A, 10-12 of B; 15 and 16 whether A and B run across K;
/// 17-22 N / 8; 24-28 M / 16.
uint32_t instructionOf(const TensorMemoryDot &t) {
  uint32_t accumulator = t.c == MatrixType::I32 ? 2 : t.c == MatrixType::F16 ? 0 : 1;
  bool acrossA = t.matrixA && !t.matrixA->kMajor, acrossB = !t.matrixB.kMajor;
  return accumulator << 4 | operandCode(t.a, t.isUnsigned) << 7 | operandCode(t.b, t.isUnsigned) << 10 |
         uint32_t(acrossA) << 15 | uint32_t(acrossB) << 16 | t.n >> 3 << 17 | t.m >> 4 << 24;
}

const char *kindOf(MatrixType a) {
  switch (a) {
  case MatrixType::TF32: return "tf32";
  case MatrixType::I8: return "i8";
  case MatrixType::F8E4M3FN:
  case MatrixType::F8E5M2: return "f8f6f4";
  default: return "f16";
  }
}

/// "32x32b.x64.b32"
std::string shapeOf(const TensorMemoryAccess &a) {
  return std::string(a.half ? "16x32bx2" : "32x32b") + ".x" + std::to_string(a.columns) + ".b32 ";
}
std::string half(const TensorMemoryAccess &a) { return a.half ? ", " + std::to_string(a.half) : std::string(); }

} // namespace

void NvidiaTarget::allocateTensorMemory(IRBuilder<> &b, Value *word, unsigned columns) const {
  InlinePtx ptx(b);
  ptx.emitConvergent("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [" + ptx.operand(word) + "], " +
                     std::to_string(columns) + ";\ntcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}

void NvidiaTarget::freeTensorMemory(IRBuilder<> &b, Value *address, unsigned columns) const {
  InlinePtx ptx(b);
  ptx.emitConvergent(kAfter + ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 " + ptx.operand(address)) + ", " +
                     std::to_string(columns) + ";");
}

SmallVector<Value *, 32> NvidiaTarget::loadTensorMemory(IRBuilder<> &b, ArrayRef<TensorMemoryAccess> accesses) const {
  SmallVector<Value *, 32> out;
  for (auto &a : accesses) {
    InlinePtx ptx(b);
    ptx.addResults(b.getInt32Ty(), a.columns);
    std::string text = kAfter + ("tcgen05.ld.sync.aligned." + shapeOf(a)) + InlinePtx::list(0, a.columns) + ", [" +
                       ptx.operand(a.address) + "]" + half(a) + ";\ntcgen05.wait::ld.sync.aligned;\n" + kBefore;
    append_range(out, ptx.resultsOf(ptx.emitConvergent(text)));
  }
  return out;
}

void NvidiaTarget::storeTensorMemory(IRBuilder<> &b, ArrayRef<TensorMemoryAccess> accesses, ArrayRef<Value *> words,
                                     Value *predicate) const {
  size_t first = 0;
  for (auto &a : accesses) {
    InlinePtx ptx(b);
    std::string guard = "@" + ptx.operand(predicate) + " ", address = "[" + ptx.operand(a.address) + "]";
    std::string text = kAfter + guard + "tcgen05.st.sync.aligned." + shapeOf(a) + address + half(a) + ", " +
                       ptx.operands(words.slice(first, a.columns)) + ";\ntcgen05.wait::st.sync.aligned;\n" + kBefore;
    ptx.emitConvergent(text);
    first += a.columns;
  }
}

void NvidiaTarget::multiplyInTensorMemory(IRBuilder<> &b, const TensorMemoryDot &t) const {
  InlinePtx ptx(b);
  std::string text = kAfter, guard = "@" + ptx.operand(t.predicate) + " ";
  if (!t.steps.empty()) {
    Value *da = t.matrixA ? descriptor(b, *t.matrixA) : nullptr, *db = descriptor(b, t.matrixB);
    auto plus = [&](Value *v, int64_t n) {
      return ptx.operand(n ? b.CreateAdd(v, ConstantInt::get(v->getType(), uint64_t(n))) : v);
    };
    std::string instruction = ptx.operand(b.getInt32(instructionOf(t))), first = ptx.operand(t.accumulates),
                always = ptx.operand(b.getTrue());
    for (auto &s : t.steps) {
      std::string d = plus(t.accumulators, s.accumulator);
      std::string a = da ? plus(da, s.offsetA >> 4) : "[" + plus(t.addressA, s.offsetA) + "]";
      text += guard + "tcgen05.mma.cta_group::1.kind::" + kindOf(t.a) + " [" + d + "], " + a + ", " +
              plus(db, s.offsetB >> 4) + ", " + instruction + ", " + (s.begins ? first : always) + ";\n";
    }
  }
  for (auto &arrival : t.arrivals) {
    std::string p = ptx.operand(arrival.predicate), at = ptx.operand(arrival.barrier);
    text += "@" + p + " tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [" + at + "];\n";
  }
  auto *call = ptx.emitConvergent(text);
  if (!t.steps.empty()) recordMatrixInstruction(*call, /*ofWarpGroup=*/false);
}

} // namespace tessera::nvidia
