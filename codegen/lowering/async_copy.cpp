// Lowering of asynchronous copies from global to shared memory: ttg.async_copy_global_to_local, the groups that they
// are counted in, and the wait for them. An access of global memory is split into parts that are consecutive in shared
// memory too; a part of a size that the target copies asynchronously becomes such a copy. All others become a load and
// a store at the place of the copy: parts of other sizes, masked-off elements with a value other than zero, and all
// copies on targets without asynchronous ones. A store that early is correct, since no program accesses the buffer
// between a copy and its wait.
#include "codegen/lowering/access_plan.h"
#include "codegen/lowering/shared_access.h"
#include "codegen/lowering/target.h"
#include "ir/constants.h"
#include "ir/ops.h"

namespace tessera::codegen {
using namespace ir;

static bool copy(ttg::AsyncCopyGlobalToLocalOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  auto type = op.result().type().cast<MemDescType>();
  auto shared = sharedLayoutOf(type);
  if (!shared.ok()) return fl.error(op.op, std::string(shared.status().message()));
  llvm::Type *element = fl.memoryType(type.element());
  int64_t bytes = element->isPointerTy() ? 8 : element->getPrimitiveSizeInBits() / 8;
  auto &registers = fl.layout(op.src().type());
  SharedAccess access(registers, *shared, element, fl, type.encoding());
  llvm::Value *base = fl.get(op.result())[0];
  llvm::Value *view = viewOffset(op.result(), *shared, fl);
  llvm::Value *acts = fl.isRepresentative(registers);
  AccessPlan plan(fl, op.src(), op.mask(), bytes, fl.target.info().maxGlobalAccessBytes);
  bool stored = false;
  bool zeroFills = !op.other() || isZero(op.other());
  for (auto &v : plan.accesses()) {
    bool consecutive = true;
    for (auto [i, r] : llvm::enumerate(v.registers)) consecutive &= r == v.registers[0] + i;
    unsigned length = std::min<unsigned>(v.registers.size(), consecutive ? access.vectorLength() : 1);
    llvm::Value *mask = op.mask() ? fl.get(op.mask())[op.mask().type().isTensor() ? v.registers[0] : 0] : nullptr;
    for (unsigned i = 0; i < v.registers.size(); i += length) {
      LoadAccess a;
      plan.address(v, a);
      if (i) {
        a.pointer = b.CreateConstGEP1_64(b.getInt8Ty(), a.pointer, i * bytes);
        a.constant += i * bytes;
        a.alignment = llvm::MinAlign(a.alignment, i * bytes);
      }
      a.mask = mask;
      a.count = length;
      a.cache = op.cache();
      a.evict = op.evict();
      a.isVolatile = op.isVolatile();
      llvm::Value *to = access.address(base, v.registers[i], view);
      bool mayBeAsynchronous = zeroFills && !a.isVolatile && a.alignment >= length * bytes;
      if (mayBeAsynchronous && fl.target.copyToShared(b, a, to, length * bytes, acts)) continue;
      if (mask)
        for (unsigned k = 0; k < length; ++k)
          a.other.push_back(op.other() ? fl.get(op.other())[op.other().type().isTensor() ? v.registers[i + k] : 0]
                                       : llvm::Constant::getNullValue(element));
      fl.target.load(b, element, a);
      llvm::Value *value = a.result[0];
      if (length > 1) {
        value = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, length));
        for (unsigned k = 0; k < length; ++k) value = b.CreateInsertElement(value, a.result[k], k);
      }
      fl.target.storeShared(b, to, value, length * bytes, acts);
      stored = true;
    }
  }
  // Buffers of this layout may be read by a matrix unit through the asynchronous proxy. The copies themselves would
  // need no fence, but the stores that replaced them do.
  if (stored && type.encoding()->kind() == layouts::EncodingKind::NvmmaShared) fl.target.fenceAsyncShared(b);
  fl.set(op.token(), Elements());
  return true;
}

bool lowerAsyncCopy(Operation *op, FunctionLowering &fl) {
  switch (op->opcode()) {
  case Opcode::ttg_async_copy_global_to_local: return copy(op->cast<ttg::AsyncCopyGlobalToLocalOp>(), fl);
  case Opcode::ttg_async_commit_group:
    fl.target.commitCopies(fl.b);
    fl.set(op->result(), Elements());
    return true;
  case Opcode::ttg_async_wait:
    fl.target.waitForCopies(fl.b, op->cast<ttg::AsyncWaitOp>().num());
    fl.set(op->result(), Elements());
    return true;
  default: return fl.error(op, "is not an asynchronous copy");
  }
}

} // namespace tessera::codegen
