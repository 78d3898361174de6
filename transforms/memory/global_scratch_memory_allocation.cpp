// Pass tritongpu-global-scratch-memory-allocation: every ttg.global_scratch_alloc gets its place in the program's
// piece of the kernel's scratch buffer, and the module the size of that piece, which the metadata tells whoever
// launches the kernel:
//
//   %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32, ttg.global_scratch_memory_offset = 0 : i32}
//   module attributes {ttg.global_scratch_memory_size = 128 : i32, ttg.global_scratch_memory_alignment = 128 : i32, …}
//
// Places are never shared: what is written there (descriptors of tensors) is read by a unit of the multiprocessor at
// times that the program does not show. A function that stays a call has its own piece inside of its caller's, after
// what the caller allocates itself; the call has the piece's offset. The attributes are Triton's.
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr const char *kOffsetAttr = "ttg.global_scratch_memory_offset";
constexpr int64_t kMostBytes = int64_t(1) << 30; // of a program

struct Piece {
  int64_t bytes = 0, alignment = 1;
  int64_t place(int64_t size, int64_t align) {
    int64_t at = llvm::alignTo(bytes, align);
    bytes = at + size;
    alignment = std::max(alignment, align);
    return at;
  }
};

class ScratchAllocation {
public:
  ScratchAllocation(Module &m, PassContext &c) : module_(m), context_(c) {}

  bool run(Piece &largest) {
    for (auto &op : *module_.body())
      if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty()) {
        if (!visit(&op)) return false;
        largest.bytes = std::max(largest.bytes, pieces_[&op].bytes);
        largest.alignment = std::max(largest.alignment, pieces_[&op].alignment);
      }
    largest.bytes = llvm::alignTo(largest.bytes, largest.alignment);
    return true;
  }

private:
  /// Callees before callers; the inliner has refused recursion.
  bool visit(Operation *func) {
    if (!pieces_.try_emplace(func).second) return true;
    Piece piece;
    llvm::SmallVector<Operation *, 4> calls;
    bool ok = true;
    func->walk([&](Operation *op) {
      if (op->is<tt::CallOp>()) calls.push_back(op);
      auto alloc = op->dyn<ttg::GlobalScratchAllocOp>();
      if (!alloc || !ok) return;
      if (alloc.nbytes() < 0 || alloc.nbytes() > kMostBytes || alloc.alignment() < 1 || alloc.alignment() > 1 << 20 ||
          !llvm::isPowerOf2_64(uint64_t(alloc.alignment()))) {
        context_.diagnostics.error(
            op->loc(), llvm::formatv("'ttg.global_scratch_alloc' asks for {0} bytes of scratch memory, aligned to {1}",
                                     alloc.nbytes(), alloc.alignment())
                           .str());
        ok = false;
        return;
      }
      set(op, piece.place(alloc.nbytes(), alloc.alignment()));
    });
    for (auto *call : calls) {
      Operation *callee = module_.lookupSymbol(call->cast<tt::CallOp>().callee());
      if (!callee || callee->cast<tt::FuncOp>().body().empty()) continue;
      if (!visit(callee)) return false;
      Piece inner = pieces_[callee];
      if (inner.bytes) set(call, piece.place(inner.bytes, inner.alignment));
    }
    if (ok && piece.bytes > kMostBytes) {
      context_.diagnostics.error(func->loc(),
                                 llvm::formatv("a program needs {0} bytes of scratch memory", piece.bytes).str());
      ok = false;
    }
    pieces_[func] = piece;
    return ok;
  }
  void set(Operation *op, int64_t offset) {
    op->setAttr(kOffsetAttr, IntegerAttr::getI32(module_.op()->context(), offset));
  }

  Module &module_;
  PassContext &context_;
  llvm::DenseMap<Operation *, Piece> pieces_;
};

} // namespace

absl::StatusOr<bool> allocateGlobalScratch(Module &m, PassContext &c) {
  Piece largest;
  if (!ScratchAllocation(m, c).run(largest)) return absl::InvalidArgumentError("scratch memory");
  if (!largest.bytes) return false;
  setModuleInt(m.op(), kGlobalScratchSizeAttr, largest.bytes);
  setModuleInt(m.op(), kGlobalScratchAlignAttr, largest.alignment);
  return true;
}

} // namespace tessera::transforms
