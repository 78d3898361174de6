// Which loads of a loop may be issued ahead (see pipeline_loads.h).
#include "transforms/schedule/pipeline_loads.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/plain_stores.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Whether all buffers of a multi-buffer, which lie one after the other, begin where a bulk copy may, and where the
/// layout's swizzle begins anew.
bool isAlignedInMultiBuffer(MemDescType buffer) {
  auto *layout = layouts::dynCast<layouts::NvmmaSharedEncoding>(buffer.encoding());
  return layout && totalBytes(buffer) % layout->alignment() == 0;
}

bool isLoadOfTensor(Operation *op) {
  if (auto load = op->dyn<tt::DescriptorLoadOp>()) {
    auto buffer = bufferOfBlock(load.desc(), tensorOf(load.result()), /*isMutable=*/true);
    return buffer && isAlignedInMultiBuffer(buffer);
  }
  auto load = op->cast<tt::LoadOp>();
  if (!load.ptr().type().isTensor() || load.isVolatile()) return false;
  return pointeeOf(load.ptr()).bitWidth() >= 8;
}

llvm::SmallVector<Operation *, 4> bulkLoadsOf(Block &body) {
  llvm::SmallVector<Operation *, 4> loads;
  for (auto &op : body)
    if (op.is<tt::DescriptorLoadOp>() && isLoadOfTensor(&op)) loads.push_back(&op);
  return loads;
}

/// Whether it is a branch that only computes, like the number of the next tile at the end of one in a loop over all
/// tiles.
bool isPureBranch(Operation *op) {
  if (!op->is<scf::IfOp>()) return false;
  bool pure = true;
  op->walk([&](Operation *inner) {
    if (inner == op || inner->is<scf::YieldOp>()) return;
    bool needsSharedMemory = inner->is<ttg::ConvertLayoutOp>() || inner->is<tt::ReduceOp>() || inner->is<tt::ScanOp>();
    pure &= isPure(inner) && !inner->numRegions() && !isDot(inner) && !needsSharedMemory;
  });
  return pure;
}

/// Whether the producer may contain the operation.
bool mayBeProducer(Operation *def) {
  bool isPlainLoad = def->is<tt::LoadOp>() && !def->cast<tt::LoadOp>().isVolatile();
  if (def->numRegions() && !isPureBranch(def)) return false;
  if (effectsOf(def) && !isPlainLoad) return false;
  return !isDot(def) && !def->is<ttg::LocalAllocOp>();
}

/// The search in one loop.
class LoadFinder {
public:
  LoadFinder(scf::ForOp loop, const TargetInfo &target, std::string &whyNot)
      : loop_(loop), body_(*loop.body().front()), target_(target), whyNot_(whyNot) {}

  std::optional<LoopLoads> run() {
    found_.hasDots = llvm::any_of(body_, [](Operation &op) { return isDot(&op); });
    if (!found_.hasDots && bulkLoadsOf(body_).empty()) return std::nullopt;
    if (!isSuitable() || !findLoads() || !findProducer(found_, body_, whyNot_) || !readsNothingStored())
      return std::nullopt;
    return std::move(found_);
  }

private:
  bool refuse(const llvm::Twine &reason) {
    whyNot_ = reason.str();
    return false;
  }

  /// Whether iterations may be split. Collects the stores.
  bool isSuitable() {
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock())
      return refuse("its counter is unsigned, or its body has several blocks");
    auto contains = [](Operation &op) { return ("it contains '" + op.name() + "' at " + describe(op.loc())).str(); };
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (isLoopOrCall(&op)) return refuse(contains(op));
      if (!onlyStores(&op, stores_))
        return refuse("'" + op.name() + "' at " + describe(op.loc()) + " writes memory or synchronizes");
      bool isPipelinedAlready = op.is<ttg::AsyncCopyGlobalToLocalOp>() || op.is<ttg::AsyncCommitGroupOp>();
      if (isPipelinedAlready) return false;
      for (auto &r : op.regions())
        for (auto *b = r.front(); b; b = b->next())
          for (auto &inner : *b)
            if (isLoopOrCall(&inner)) return refuse(contains(inner));
    }
    return true;
  }

  bool findLoads() {
    for (auto *load : found_.hasDots ? loadsFeedingDots(body_) : bulkLoadsOf(body_)) {
      if (!isLoadOfTensor(load)) continue;
      PipelinedLoad a;
      a.op = load;
      if (auto buffer = bufferFilledBy(load); buffer && canBeFilled(buffer, load)) a.alloc = buffer;
      a.isBulkCopy = load->is<tt::DescriptorLoadOp>();
      a.selectsOther = target_.hasPerLaneAsyncCopy && hasOtherThanZero(a) && isReadAsValue(load);
      found_.loads.push_back(a);
    }
    return !found_.loads.empty() || refuse("no load of the loop feeds a dot");
  }

  /// Whether threads compute with the loaded value, or a few elements of it are converted, which can be read, selected
  /// and converted one after the other. Else it goes to another layout or a buffer as it is, which an asynchronous copy
  /// can replace; reading it to select other elements would undo that.
  bool isReadAsValue(Operation *load) const {
    if (load->result().type().scalar().isa<PointerType>()) return false; // no constant of zeros
    int64_t threads = numWarps(loop_->module().op()) * target_.warpSize;
    bool isSmall = load->result().type().isTensor() && tensorOf(load->result()).numElements() <= threads;
    return llvm::none_of(load->result().users(), [&](Operation *user) {
      return user->is<ttg::LocalAllocOp>() || (user->is<ttg::ConvertLayoutOp>() && !isSmall);
    });
  }

  /// Whether no load that would be issued ahead reads what the body stores.
  bool readsNothingStored() {
    llvm::SmallVector<Operation *, 8> early;
    for (auto &a : found_.loads) early.push_back(a.op);
    for (auto *op : found_.producer.operations)
      if (op->is<tt::LoadOp>()) early.push_back(op);
    if (auto [store, load] = conflictBetween(stores_, early); store)
      return refuse("'" + store->name() + "' at " + describe(store->loc()) + " may write what '" + load->name() +
                    "' at " + describe(load->loc()) + " reads");
    return true;
  }

  scf::ForOp loop_;
  Block &body_;
  const TargetInfo &target_;
  std::string &whyNot_;
  LoopLoads found_;
  llvm::SmallVector<Operation *, 4> stores_; // of the body, through pointers and descriptors
};

} // namespace

bool canBeFilled(ttg::LocalAllocOp alloc, Operation *op) {
  auto load = op->dyn<tt::DescriptorLoadOp>();
  if (!load) return true;
  auto buffer = alloc.result().type().cast<MemDescType>();
  return buffer.encoding() == bufferOfBlock(load.desc(), tensorOf(load.result()), /*isMutable=*/true).encoding();
}

bool hasOtherThanZero(const PipelinedLoad &a) {
  auto load = a.load();
  return load && load.other() && !isZero(load.other());
}

bool findProducer(LoopLoads &found, const Block &body, std::string &whyNot) {
  auto loadOf = [&](Operation *op) { return llvm::find_if(found.loads, [&](auto &a) { return a.op == op; }); };
  auto mayContain = [&](Operation *op) { return loadOf(op) == found.loads.end() && mayBeProducer(op); };
  while (true) {
    found.producer = {};
    llvm::SmallVector<Value, 16> needed;
    for (auto &a : found.loads) needed.append(a.op->operands().begin(), a.op->operands().end());
    Operation *refused = addToSlice(found.producer, body, needed, Across::Iterations, mayContain);
    if (!refused) return true;
    auto load = loadOf(refused);
    if (load == found.loads.end()) {
      whyNot = ("an address or mask depends on '" + refused->name() + "' at " + describe(refused->loc())).str();
      return false;
    }
    // A load that the address of another one needs is done when the address is: it is not issued ahead by itself.
    found.loads.erase(load);
    if (found.loads.empty()) {
      whyNot = "each load's address depends on another load";
      return false;
    }
  }
}

std::optional<LoopLoads> findLoopLoads(scf::ForOp loop, const TargetInfo &target, std::string &whyNot) {
  return LoadFinder(loop, target, whyNot).run();
}

} // namespace tessera::transforms
