// Pass tritongpu-global-scratch-memory-allocation: every ttg.global_scratch_alloc gets its offset in the program's part
// of the kernel's scratch buffer in global memory. The module gets the size and alignment of that part, which the
// metadata hands to the launcher.
// Runs: before lowering, on all targets.
//
//   %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32}
//
//   →  %0 = ttg.global_scratch_alloc {…, ttg.global_scratch_memory_offset = 0 : i32}
//      module attributes {ttg.global_scratch_memory_size = 128 : i32,
//                         ttg.global_scratch_memory_alignment = 128 : i32, …}
//
// Allocations never share bytes: what is written there (tensor maps) is read asynchronously by a unit of the
// multiprocessor. A function that is called has its own frame inside its caller's, after what the caller allocates
// itself; the call gets the frame's offset. The attributes are Triton's.
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/symbol_table.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr const char *kOffsetAttr = "ttg.global_scratch_memory_offset";
constexpr int64_t kMaxBytes = int64_t(1) << 30; // of a program
constexpr int64_t kMaxAlignment = 1 << 20;

/// The scratch of a function and of what it calls.
struct Frame {
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
  ScratchAllocation(Module &m, PassContext &c) : module_(m), symbols_(m), context_(c) {}

  bool run(Frame &largest) {
    for (auto &op : *module_.body())
      if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty()) {
        if (!visit(&op)) return false;
        largest.bytes = std::max(largest.bytes, frames_[&op].bytes);
        largest.alignment = std::max(largest.alignment, frames_[&op].alignment);
      }
    largest.bytes = llvm::alignTo(largest.bytes, largest.alignment);
    return true;
  }

private:
  /// Callees before callers; the inliner has refused recursion.
  bool visit(Operation *func) {
    if (!frames_.try_emplace(func).second) return true;
    Frame frame;
    llvm::SmallVector<Operation *, 4> calls;
    bool ok = true;
    func->walk([&](Operation *op) {
      if (op->is<tt::CallOp>()) calls.push_back(op);
      auto alloc = op->dyn<ttg::GlobalScratchAllocOp>();
      if (!alloc || !ok) return;
      bool validBytes = alloc.nbytes() >= 0 && alloc.nbytes() <= kMaxBytes;
      bool validAlignment = alloc.alignment() >= 1 && alloc.alignment() <= kMaxAlignment &&
                            llvm::isPowerOf2_64(uint64_t(alloc.alignment()));
      if (!validBytes || !validAlignment) {
        context_.diagnostics.error(
            op->loc(), llvm::formatv("'ttg.global_scratch_alloc' requests {0} bytes of scratch memory, aligned to {1}",
                                     alloc.nbytes(), alloc.alignment())
                           .str());
        ok = false;
        return;
      }
      set(op, frame.place(alloc.nbytes(), alloc.alignment()));
    });
    for (auto *call : calls) {
      Operation *callee = symbols_.callee(call->cast<tt::CallOp>());
      if (!callee || callee->cast<tt::FuncOp>().body().empty()) continue;
      if (!visit(callee)) return false;
      Frame inner = frames_[callee];
      if (inner.bytes) set(call, frame.place(inner.bytes, inner.alignment));
    }
    if (ok && frame.bytes > kMaxBytes) {
      context_.diagnostics.error(func->loc(),
                                 llvm::formatv("a program needs {0} bytes of scratch memory", frame.bytes).str());
      ok = false;
    }
    frames_[func] = frame;
    return ok;
  }
  void set(Operation *op, int64_t offset) {
    op->setAttr(kOffsetAttr, IntegerAttr::getI32(module_.op()->context(), offset));
  }

  Module &module_;
  SymbolTable symbols_;
  PassContext &context_;
  llvm::DenseMap<Operation *, Frame> frames_;
};

} // namespace

absl::StatusOr<bool> allocateGlobalScratch(Module &m, PassContext &c) {
  Frame largest;
  if (!ScratchAllocation(m, c).run(largest)) return absl::InvalidArgumentError("scratch memory");
  if (!largest.bytes) return false;
  setModuleInt(m.op(), kGlobalScratchSizeAttr, largest.bytes);
  setModuleInt(m.op(), kGlobalScratchAlignAttr, largest.alignment);
  return true;
}

} // namespace tessera::transforms
