// The verifier's check that each operation gets buffers of the memory that it works on: tensor memory for ttng.tmem_*
// and the accumulators of dots in it, shared memory for all others (see verifier.h). Without it the lowering would take
// the address of one for that of the other.
#include "ir/verify_hook.h"
#include "layouts/encoding.h"

namespace tessera::ir {

namespace {

enum class Memory { Either, Shared, Tensor };

/// `name`: of the operand or result in the operation's row. Operands that a row says nothing of may be anything.
Memory memoryOf(Opcode opcode, llvm::StringRef name, bool isMemDesc) {
  switch (opcode) {
  case Opcode::ttng_tmem_alloc:
  case Opcode::ttng_tmem_load:
  case Opcode::ttng_tmem_store:
  case Opcode::ttng_tmem_subslice: return isMemDesc ? Memory::Tensor : Memory::Either;
  case Opcode::ttng_tmem_copy: return name == "dst" ? Memory::Tensor : Memory::Shared;
  case Opcode::ttng_tc_gen5_mma:
  case Opcode::ttng_tc_gen5_mma_scaled:
    if (name == "d") return Memory::Tensor;
    return name == "b" || name == "barriers" ? Memory::Shared : Memory::Either;
  case Opcode::ttg_memdesc_index:
  case Opcode::ttg_memdesc_subslice:
  case Opcode::ttg_memdesc_trans:
  case Opcode::ttg_memdesc_reshape:
  case Opcode::ttg_memdesc_reinterpret: return Memory::Either;
  default: return isMemDesc ? Memory::Shared : Memory::Either;
  }
}

bool isTensorMemoryLayout(const layouts::Encoding *e) {
  return e &&
         (e->kind() == layouts::EncodingKind::TensorMemory || e->kind() == layouts::EncodingKind::TensorMemoryScales);
}

bool checkValue(Operation *op, DiagnosticEngine &diag, const ValueSpec &spec, Value v, int operand) {
  Memory wanted = memoryOf(op->opcode(), spec.name, spec.rule == TypeRule::MemDesc);
  if (wanted == Memory::Either) return true;
  auto buffer = v.type().dyn_cast<MemDescType>();
  bool isTensor = wanted == Memory::Tensor;
  if (buffer && isTensorMemoryLayout(buffer.encoding()) == isTensor) return true;
  return opError(op, diag,
                 llvm::Twine(operand < 0 ? "gives" : "needs") + " a buffer in " + (isTensor ? "tensor" : "shared") +
                     " memory, not " + v.type().str(),
                 operand);
}

} // namespace

bool checkMemorySpace(Operation *op, DiagnosticEngine &diag, MemDescType t) {
  if (isTensorMemoryLayout(t.encoding()) == (t.memorySpace().str() == kTensorMemorySpace)) return true;
  return opError(op, diag,
                 "has type " + t.str() + ": buffers in " + kTensorMemorySpace +
                     ", and no others, have layouts of tensor memory");
}

bool checkMemorySpaces(Operation *op, DiagnosticEngine &diag) {
  auto &info = op->info();
  for (unsigned i = 0; i < info.operands.size(); ++i)
    for (auto [k, v] : llvm::enumerate(op->operandGroup(i)))
      if (!checkValue(op, diag, info.operands[i], v, int(op->operandGroupStart(i) + k))) return false;
  for (unsigned i = 0; i < info.results.size(); ++i)
    for (Value v : op->resultGroup(i))
      if (!checkValue(op, diag, info.results[i], v, -1)) return false;
  if (!op->is<MemdescViewOp>() || op->is<ttg::MemdescReinterpretOp>()) return true; // the latter's hook says so
  auto src = MemdescViewOp(op).src().type().cast<MemDescType>(), dst = op->result().type().cast<MemDescType>();
  return src.memorySpace() == dst.memorySpace() || opError(op, diag, "changes the memory space");
}

} // namespace tessera::ir
