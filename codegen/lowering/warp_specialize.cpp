// Lowering of ttg.warp_specialize: code for warps beyond those that run the kernel.
//
//   entry:    warp < numWarps ? main : workers       (executed once by every warp of the block)
//
//   main:     … the kernel …                         workers:  barrier 1
//             store captures, number of the operation          switch (number of the operation)
//             barrier 1                              op 1:     warp in partition 0 ? load captures, run its region
//             default region                                   warp in partition 1 ? …
//             barrier 1                                        barrier 1
//             … the rest of the kernel …                       back to workers
//             store 0, barrier 1, return             op 0:     return
//
// If a kernel executes its only such operation exactly once, no number is stored: the warps of partitions pass barrier
// 1, run their regions, pass it again, and end; the kernel's own warps keep the registers that these leave.
// Otherwise LICM is disabled for the loop of the workers: all that a partition computes from its threads' numbers is
// loop-invariant, and would take registers that they do not have yet.
//
// Between two operations, warps of partitions wait at barrier 1, which is the whole block's. The number of the next
// operation is a word of shared memory that the allocation gives the function. Captured values are in the scratch of
// the operation, except constants and arguments of the kernel, which every warp has. Both are written before a barrier
// that the readers pass, and not again before the next one.
//
// Barriers inside of a region are named: 0 is that of the kernel's own warps, partition p has 2 + p (one warp needs
// none: a barrier of its lanes does). The numbers after those of the partitions are for the warp groups of the kernel's
// own warps (warp_groups.cpp). Threads and warps are numbered from 0 in each partition, so that each
// has a prologue.
//
// Registers (actualRegisters, see allocate_warp_groups.cpp): four warps change their number together at the beginning,
// and back at the end, each time after barrier 1. Warps that take more wait until others have released theirs, which
// these do without waiting.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/module_attributes.h"
#include "ir/partitions.h"
#include "transforms/memory/scratch.h"
#include "transforms/memory/warp_groups.h"

namespace tessera::codegen {
using namespace ir;

namespace {

constexpr unsigned kBlockBarrier = 1; // and FunctionLowering::kOwnBarrier
constexpr unsigned kFirstPartitionBarrier = transforms::kReservedBarriers;
using transforms::kFewestRegisters;
using transforms::kWarpGroup;

/// Whether every warp has the value: it is defined before all code.
bool isKnownEverywhere(llvm::Value *v) { return llvm::isa<llvm::Constant>(v) || llvm::isa<llvm::Argument>(v); }

/// Calls `f` for every captured value that is handed over, with its place in the scratch.
void forHandedOver(ttg::WarpSpecializeOp op, FunctionLowering &fl,
                   llvm::function_ref<void(unsigned capture, unsigned element, llvm::Value *, int64_t at)> f) {
  int64_t at = 0;
  for (auto [c, v] : llvm::enumerate(capturesOf(op)))
    for (auto [i, e] : llvm::enumerate(fl.get(v))) {
      if (!isKnownEverywhere(e)) f(c, i, e, at);
      at += transforms::kCaptureBytes;
    }
}
/// As it lies in memory: i1 takes a byte.
llvm::Type *storedType(FunctionLowering &fl, llvm::Type *t) { return t->isIntegerTy(1) ? fl.b.getInt8Ty() : t; }
unsigned alignmentOf(FunctionLowering &fl, llvm::Type *t) {
  return unsigned(fl.function()->getParent()->getDataLayout().getTypeStoreSize(t));
}
llvm::Value *placeOf(ttg::WarpSpecializeOp op, FunctionLowering &fl, int64_t at) {
  return fl.b.CreateConstInBoundsGEP1_32(fl.b.getInt8Ty(), fl.scratch(op), at);
}

/// Starts the operation of that number on the warps of partitions; 0: they end.
void startWorkers(FunctionLowering &fl, unsigned number) {
  if (!fl.specialized()->once)
    fl.target.storeShared(fl.b, fl.scratch(fl.specialized()->func), fl.i32(number), 4, fl.isFirstThread());
  fl.blockBarrier();
}

void setRegisters(FunctionLowering &fl, int64_t from, int64_t to) {
  if (from != to) fl.target.setRegisters(fl.b, unsigned(to), to > from);
}

} // namespace

void FunctionLowering::blockBarrier() {
  target.namedBarrier(b, i32(kBlockBarrier), unsigned(specialized_->totalWarps * context_.warpSize),
                      /*onePlace=*/false);
}

void FunctionLowering::barrier(bool global) {
  if (!partition_.barrier)
    target.barrier(b, global);
  else if (partition_.numWarps == 1)
    target.warpBarrier(b);
  else
    target.namedBarrier(b, i32(*partition_.barrier), unsigned(partition_.numWarps * context_.warpSize),
                        /*onePlace=*/true);
}

void FunctionLowering::enterPartition(int firstWarp, int numWarps, std::optional<unsigned> barrier,
                                      llvm::Instruction *prologueEnd) {
  partition_ = Partition();
  partition_.firstWarp = firstWarp;
  partition_.numWarps = numWarps;
  partition_.barrier = barrier;
  partition_.prologueEnd = prologueEnd;
  for (auto &l : layoutStorage_) l.thread.clear();
}

/// The kernel's own warps continue at `main`; the code of the others follows when all of theirs is lowered.
void FunctionLowering::beginSpecialized(Operation *func, llvm::BasicBlock *entry, llvm::BasicBlock *main) {
  Operation *module = func->module().op();
  specialized_.emplace();
  specialized_->func = func;
  specialized_->once = specializesWarpsOnce(func);
  specialized_->ownWarps = partition_.numWarps;
  specialized_->totalWarps = int(totalNumWarps(module));
  specialized_->registers = moduleInt(module, kMaxRegistersAttr, 0);
  specialized_->firstGroupBarrier = kFirstPartitionBarrier;
  func->walk([&](Operation *op) {
    auto specialize = op->dyn<ttg::WarpSpecializeOp>();
    if (!specialize) return;
    int64_t next = kFirstPartitionBarrier + int64_t(partitionRegions(specialize).size());
    specialized_->firstGroupBarrier = std::max(specialized_->firstGroupBarrier, next);
  });
  b.SetInsertPoint(entry);
  llvm::Value *tid = target.threadId(b);
  specialized_->warp = b.CreateLShr(tid, llvm::Log2_32(context_.warpSize));
  specialized_->workers = llvm::BasicBlock::Create(b.getContext(), "workers", context_.function);
  b.CreateCondBr(b.CreateICmpULT(tid, i32(int64_t(partition_.numWarps) * context_.warpSize)), main,
                 specialized_->workers);
}

void FunctionLowering::endSpecialized() {
  if (specialized_ && !specialized_->once) startWorkers(*this, 0);
}

bool lowerWarpSpecialize(Operation *operation, FunctionLowering &fl) {
  auto &b = fl.b;
  auto op = operation->cast<ttg::WarpSpecializeOp>();
  auto *s = fl.specialized();
  if (!s) return fl.error(operation, "cannot be lowered: its function is no kernel");
  s->ops.push_back(operation);
  forHandedOver(op, fl, [&](unsigned, unsigned, llvm::Value *e, int64_t at) {
    if (e->getType()->isIntegerTy(1)) e = b.CreateZExt(e, b.getInt8Ty());
    fl.target.storeShared(b, placeOf(op, fl, at), e, alignmentOf(fl, e->getType()), fl.isFirstThread());
  });
  startWorkers(fl, unsigned(s->ops.size()));
  auto registers = op.actualRegisters();
  if (!registers.empty()) setRegisters(fl, s->registers, registers[0]);
  llvm::SmallVector<std::pair<llvm::BasicBlock *, llvm::SmallVector<Value, 4>>, 2> exits;
  bool ok = fl.lowerRegion(op.defaultRegion(), [&](Operation *yield) {
    exits.push_back({b.GetInsertBlock(), yield->operands().vec()});
    return true;
  });
  if (!ok) return false;
  fl.joinExits(operation->results().vec(), exits);
  fl.blockBarrier();
  if (!registers.empty() && !s->once) setRegisters(fl, registers[0], s->registers);
  return true;
}

namespace {

/// What the warps beyond the kernel's own do in one operation. They come in at the builder's point and leave for
/// `next`.
class Workers {
public:
  Workers(ttg::WarpSpecializeOp op, FunctionLowering &fl, llvm::BasicBlock *next)
      : op_(op), fl_(fl), b_(fl.b), s_(*fl.specialized()), next_(next) {}

  bool run() {
    // What they capture, as the kernel's own warps have it, before anything is lowered for others.
    forHandedOver(op_, fl_, [&](unsigned c, unsigned i, llvm::Value *e, int64_t at) {
      handedOver_.push_back({c, i, e->getType(), at});
    });
    auto starts = op_.warpGroupStartIds(), sizes = op_.partitionNumWarps();
    llvm::SmallVector<unsigned, 8> order;
    for (unsigned p = 0; p < starts.size(); ++p) order.push_back(p);
    llvm::sort(order, [&](unsigned a, unsigned b) { return starts[a] < starts[b]; });
    // Each unit of warps that change registers together, or each partition where none do.
    int64_t known = s_.ownWarps; // warps below it are excluded here already
    for (size_t i = 0; i < order.size();) {
      int64_t first = starts[order[i]], last = first + sizes[order[i]];
      size_t end = i + 1;
      if (!op_.actualRegisters().empty()) {
        first = llvm::alignDown(first, kWarpGroup);
        last = llvm::alignTo(last, kWarpGroup);
        while (end < order.size() && starts[order[end]] < last) ++end;
      }
      auto make = [&] { return unit(first, last, llvm::ArrayRef(order).slice(i, end - i), registersOf(order[i])); };
      if (first == known && last == s_.totalWarps) return make();
      if (!in(first, last, make)) return false;
      if (first == known) known = last;
      i = end;
    }
    return unit(0, 0, {}, op_.actualRegisters().empty() ? 0 : kFewestRegisters); // warps of no partition
  }

private:
  int64_t registersOf(unsigned partition) {
    return op_.actualRegisters().empty() ? 0 : op_.actualRegisters()[1 + partition];
  }
  struct HandedOver {
    unsigned capture, element;
    llvm::Type *type;
    int64_t at;
  };

  /// Warps from `first` up to `last` execute what `body` emits; the builder is left where the others continue.
  bool in(int64_t first, int64_t last, llvm::function_ref<bool()> body) {
    llvm::BasicBlock *these = fl_.newBlock("partition"),
                     *others = llvm::BasicBlock::Create(b_.getContext(), "others", fl_.function());
    b_.CreateCondBr(b_.CreateICmpULT(b_.CreateSub(s_.warp, fl_.i32(first)), fl_.i32(last - first)), these, others);
    b_.SetInsertPoint(these);
    bool ok = body();
    b_.SetInsertPoint(others);
    return ok;
  }

  /// Warps from `first` up to `last`, which change their registers together.
  bool unit(int64_t first, int64_t last, llvm::ArrayRef<unsigned> partitions, int64_t registers) {
    if (registers) setRegisters(fl_, s_.registers, registers);
    auto *done = llvm::BasicBlock::Create(b_.getContext(), "done", fl_.function());
    auto starts = op_.warpGroupStartIds(), sizes = op_.partitionNumWarps();
    bool ok = true, all = false;
    for (unsigned p : partitions) {
      all = starts[p] == first && starts[p] + sizes[p] == last;
      ok &= all ? partition(p, done) : in(starts[p], starts[p] + sizes[p], [&] { return partition(p, done); });
    }
    if (!all) b_.CreateBr(done);
    b_.SetInsertPoint(done);
    b_.SetCurrentDebugLocation({});
    fl_.blockBarrier();
    if (registers && !s_.once) setRegisters(fl_, registers, s_.registers);
    b_.CreateBr(next_);
    return ok;
  }

  bool partition(unsigned p, llvm::BasicBlock *done) {
    Region &region = partitionRegions(op_)[p];
    llvm::BasicBlock *body = fl_.newBlock("body");
    auto captures = capturesOf(op_);
    llvm::SmallVector<Elements, 8> values;
    for (Value v : captures) values.push_back(fl_.get(v));
    fl_.enterPartition(int(op_.warpGroupStartIds()[p]), int(op_.partitionNumWarps()[p]), kFirstPartitionBarrier + p,
                       b_.CreateBr(body));
    b_.SetInsertPoint(body);
    for (auto &h : handedOver_) {
      llvm::Type *stored = storedType(fl_, h.type);
      llvm::Value *v = fl_.target.loadShared(b_, placeOf(op_, fl_, h.at), stored, alignmentOf(fl_, stored));
      values[h.capture][h.element] = stored == h.type ? v : b_.CreateTrunc(v, h.type);
    }
    for (auto [arg, e] : llvm::zip(region.front()->args(), values)) fl_.set(Value(arg), e);
    return fl_.lowerRegion(region, [&](Operation *) {
      b_.CreateBr(done);
      return true;
    });
  }

  ttg::WarpSpecializeOp op_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  FunctionLowering::Specialized &s_;
  llvm::BasicBlock *next_;
  llvm::SmallVector<HandedOver, 8> handedOver_;
};

} // namespace

bool FunctionLowering::lowerWorkers() {
  if (!specialized_) return true;
  auto &s = *specialized_;
  b.SetInsertPoint(s.workers);
  b.SetCurrentDebugLocation({});
  blockBarrier();
  auto *end = llvm::BasicBlock::Create(b.getContext(), "end", context_.function);
  if (s.once) {
    if (!Workers(s.ops[0]->cast<ttg::WarpSpecializeOp>(), *this, end).run()) return false;
    b.SetInsertPoint(end);
    b.CreateRetVoid();
    return true;
  }
  llvm::Value *number = target.loadShared(b, scratch(s.func), b.getInt32Ty(), 4);
  auto *next = b.CreateSwitch(number, end, s.ops.size());
  b.SetInsertPoint(end);
  b.CreateRetVoid();
  auto *again = llvm::BasicBlock::Create(b.getContext(), "again", context_.function);
  b.SetInsertPoint(again);
  auto &c = b.getContext();
  auto *distinct =
      llvm::MDNode::getDistinct(c, {nullptr, llvm::MDNode::get(c, llvm::MDString::get(c, "llvm.licm.disable"))});
  distinct->replaceOperandWith(0, distinct);
  b.CreateBr(s.workers)->setMetadata(llvm::LLVMContext::MD_loop, distinct);
  for (auto [i, op] : llvm::enumerate(s.ops)) {
    auto *block = llvm::BasicBlock::Create(b.getContext(), "specialized", context_.function);
    next->addCase(b.getInt32(uint32_t(i + 1)), block);
    b.SetInsertPoint(block);
    if (!Workers(op->cast<ttg::WarpSpecializeOp>(), *this, again).run()) return false;
  }
  return true;
}

} // namespace tessera::codegen
