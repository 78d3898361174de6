// Lowering of asynchronous copies from global to shared memory: ttg.async_copy_global_to_local, the groups that they
// are counted in, and the wait for them. An access of global memory is split into parts that are consecutive in shared
// memory too; a part of a size that the target copies asynchronously becomes such a copy, where the lanes of a warp
// choose their places themselves (cp.async) or the layouts put them one after the other (AMD's loads into LDS). All
// others become a load and a store at the place of the copy: parts of other sizes, masked-off elements with a value
// other than zero, and all copies on targets without asynchronous ones. A store that early is correct, since no program
// accesses the buffer between a copy and its wait.
//
// Copies by warps are in no groups; the hardware counts them. What a wait for groups means is known when all copies of
// the function are made: those that come after the last group that must have arrived may be in flight.
#include "codegen/lowering/access_plan.h"
#include "codegen/lowering/shared_access.h"
#include "codegen/lowering/target.h"
#include "ir/constants.h"
#include "ir/ops.h"

namespace tessera::codegen {
using namespace ir;

/// What a copy is given: tensors of one layout, whose elements go to a buffer.
struct CopyOperands {
  Operation *op;
  Value from; // pointers, or offsets
  Value mask, other, to;
  MemoryAccess hints; // how memory is accessed
};

/// A part of an access to global memory: `length` elements from the `first` on.
static LoadAccess partOf(const CopyOperands &c, LoadAccess a, unsigned first, unsigned length, int64_t elementBytes,
                         llvm::IRBuilder<> &b) {
  if (first) {
    int64_t offset = first * elementBytes;
    a.pointer = b.CreateConstGEP1_64(b.getInt8Ty(), a.pointer, offset);
    a.constant += offset;
    a.alignment = llvm::MinAlign(a.alignment, offset);
  }
  a.count = length;
  a.cache = c.hints.cache;
  a.evict = c.hints.evict;
  a.isVolatile = c.hints.isVolatile;
  return a;
}

/// Loads, and stores to shared memory what was loaded, where no copy can.
static void copyThroughRegisters(FunctionLowering &fl, LoadAccess &a, llvm::Type *element, llvm::Value *to,
                                 llvm::Value *acts) {
  auto &b = fl.b;
  fl.target.load(b, element, a);
  llvm::Value *value = a.result[0];
  if (a.count > 1) {
    value = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, a.count));
    for (unsigned k = 0; k < a.count; ++k) value = b.CreateInsertElement(value, a.result[k], k);
  }
  fl.target.storeShared(b, to, value, a.count * byteSize(element), acts);
}

static bool copy(const CopyOperands &c, AccessPlan &plan, FunctionLowering &fl,
                 llvm::function_ref<void(const VectorAccess &, MemoryAccess &)> address) {
  auto &b = fl.b;
  auto type = c.to.type().cast<MemDescType>();
  auto shared = sharedLayoutOf(type);
  if (!shared.ok()) return fl.error(c.op, std::string(shared.status().message()));
  llvm::Type *element = fl.memoryType(type.element());
  int64_t bytes = byteSize(element);
  auto &registers = fl.layout(c.from.type());
  ViewOffset view = viewOffset(c.to, *shared, fl);
  SharedAccess access(registers, *shared, element, fl, type.encoding(), view);
  llvm::Value *base = fl.get(c.to)[0];
  llvm::Value *acts = fl.isRepresentative(registers);
  bool stored = false;
  bool mayCopy = !c.hints.isVolatile && (!c.other || isZero(c.other));
  auto *moved = llvm::dyn_cast_or_null<llvm::ConstantInt>(view.value);
  bool byWarps = fl.target.info().warpCopyBytes() && !acts && (!view.value || (moved && moved->isZero()));
  std::optional<SharedAccess> ofWarp;
  for (auto &v : plan.accesses()) {
    bool consecutive = true;
    for (auto [i, r] : llvm::enumerate(v.registers)) consecutive &= r == v.registers[0] + i;
    unsigned length = std::min<unsigned>(v.registers.size(), consecutive ? access.vectorLength() : 1);
    for (unsigned i = 0; i < v.registers.size(); i += length) {
      auto elementOf = [&](Value tensor, unsigned k) {
        return fl.get(tensor)[tensor.type().isTensor() ? v.registers[i + k] : 0];
      };
      LoadAccess whole;
      address(v, whole);
      LoadAccess a = partOf(c, whole, i, length, bytes, b);
      a.mask = c.mask ? fl.get(c.mask)[c.mask.type().isTensor() ? v.registers[0] : 0] : nullptr;
      bool isAligned = a.alignment >= length * bytes;
      if (mayCopy && isAligned && byWarps && access.followsLanes(length)) {
        if (!ofWarp) {
          ofWarp.emplace(registers, *shared, element, fl, type.encoding());
          ofWarp->takeAddressOfWarp();
        }
        if (fl.target.copyWarpToShared(b, a, ofWarp->address(base, v.registers[i]), length * bytes)) {
          ++fl.warpCopies.count[c.op];
          continue;
        }
      }
      llvm::Value *to = access.address(base, v.registers[i]);
      if (mayCopy && isAligned && fl.target.copyToShared(b, a, to, length * bytes, acts)) continue;
      if (a.mask)
        for (unsigned k = 0; k < length; ++k)
          a.other.push_back(c.other ? elementOf(c.other, k) : llvm::Constant::getNullValue(element));
      copyThroughRegisters(fl, a, element, to, acts);
      stored = true;
    }
  }
  // Buffers of this layout may be read by a matrix unit through the asynchronous proxy. The copies themselves would
  // need no fence, but the stores that replaced them do.
  if (stored && type.encoding()->kind() == layouts::EncodingKind::NvmmaShared) fl.target.fenceAsyncShared(b);
  fl.set(c.op->result(), Elements());
  return true;
}

static bool copy(ttg::AsyncCopyGlobalToLocalOp op, FunctionLowering &fl) {
  CopyOperands c{op.op, op.src(), op.mask(), op.other(), op.result(), {}};
  c.hints.cache = op.cache();
  c.hints.evict = op.evict();
  c.hints.isVolatile = op.isVolatile();
  int64_t bytes = byteSize(fl.memoryType(op.result().type().cast<MemDescType>().element()));
  AccessPlan plan(fl, op.src(), op.mask(), bytes, fl.target.info().maxGlobalAccessBytes);
  return copy(c, plan, fl, [&](auto &v, auto &a) { plan.address(v, a); });
}

static bool copy(amdg::BufferLoadToLocalOp op, FunctionLowering &fl) {
  CopyOperands c{op.op, op.offsets(), op.mask(), op.other(), op.dest(), {}};
  c.hints.cache = op.cache();
  int64_t bytes = byteSize(fl.memoryType(op.dest().type().cast<MemDescType>().element()));
  AccessPlan plan(fl, op.offsets(), op.mask(), bytes, fl.target.info().maxGlobalAccessBytes, op.contiguity());
  BufferAddress address{fl.scalar(op.ptr()), op.offsets(), bytes};
  return copy(c, plan, fl, [&](auto &v, auto &a) { plan.address(address, v, a); });
}

static bool isCopy(Operation *op) {
  return op->is<ttg::AsyncCopyGlobalToLocalOp>() || op->is<amdg::BufferLoadToLocalOp>();
}

namespace {

/// How many copies may be in flight after a wait: those that follow the last group that must have arrived, on every way
/// to the wait. What is not followed (branches, inner loops, callers) ends the count: fewer in flight are always right.
class CopiesAfter {
public:
  explicit CopiesAfter(const FunctionLowering &fl) : fl_(fl) {}
  /// @pre `pending` groups may be in flight
  unsigned before(Operation *wait, int64_t pending) const { return count(wait->block(), wait->prev(), pending, 0); }

private:
  static constexpr unsigned kMaxLaps = 8; // around loops

  static bool holdsCopies(Operation *op) {
    bool holds = false;
    op->walk([&](Operation *inner) {
      holds |= isCopy(inner) || inner->is<ttg::AsyncCommitGroupOp>() || inner->is<tt::CallOp>();
    });
    return holds;
  }
  /// From `op` back to the beginning of the block, and on from there.
  unsigned count(Block *block, Operation *op, int64_t pending, unsigned laps) const {
    unsigned copies = 0;
    for (; op; op = op->prev()) {
      if (op->is<ttg::AsyncCommitGroupOp>() && pending-- == 0) return copies;
      if (isCopy(op))
        copies += fl_.warpCopies.count.lookup(op);
      else if (!op->is<ttg::AsyncCommitGroupOp>() && holdsCopies(op))
        return copies;
    }
    Operation *around = block->parentOp();
    if (!around->is<scf::ForOp>() && !around->is<scf::IfOp>()) return copies;
    unsigned more = count(around->block(), around->prev(), pending, laps);
    if (around->is<scf::ForOp>())
      more = std::min(more, laps == kMaxLaps ? 0 : count(block, block->terminator()->prev(), pending, laps + 1));
    return copies + more;
  }

  const FunctionLowering &fl_;
};

} // namespace

void completeWaits(FunctionLowering &fl) {
  CopiesAfter copies(fl);
  llvm::IRBuilder<>::InsertPointGuard guard(fl.b);
  for (auto [op, placeholder] : fl.warpCopies.waits) {
    if (!fl.warpCopies.count.empty()) {
      fl.b.SetInsertPoint(placeholder);
      fl.target.waitForCopies(fl.b, copies.before(op, op->cast<ttg::AsyncWaitOp>().num()));
    }
    placeholder->eraseFromParent();
  }
}

bool lowerAsyncCopy(Operation *op, FunctionLowering &fl) {
  switch (op->opcode()) {
  case Opcode::ttg_async_copy_global_to_local: return copy(op->cast<ttg::AsyncCopyGlobalToLocalOp>(), fl);
  case Opcode::amdg_buffer_load_to_local: return copy(op->cast<amdg::BufferLoadToLocalOp>(), fl);
  case Opcode::ttg_async_commit_group:
    fl.target.commitCopies(fl.b);
    fl.set(op->result(), Elements());
    return true;
  case Opcode::ttg_async_wait:
    fl.target.waitForCopies(fl.b, op->cast<ttg::AsyncWaitOp>().num());
    if (fl.target.info().warpCopyBytes()) fl.warpCopies.waits.emplace_back(op, &fl.b.GetInsertBlock()->back());
    fl.set(op->result(), Elements());
    return true;
  default: return fl.error(op, "is not an asynchronous copy");
  }
}

} // namespace tessera::codegen
