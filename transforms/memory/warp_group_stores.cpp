// Pass tritongpu-warp-group-stores: where warps are specialised, each warp group stores its own rows of a tile, and
// waits for no other warp group.
// Runs: before lowering, on targets with TMA, after triton-nvidia-tma-lowering, which makes the copies.
//
//   ttng.async_tma_store_wait {pendings = 0, read_only}
//   ttg.local_store %v, %b                             →   … {tessera.warp_group_rows = 64}
//   ttng.async_tma_copy_local_to_global %d[%i, %j] %b  →   … {tessera.warp_group_rows = 64}
//
// Without the mark, one thread copies the tile when all warps have written to the buffer, and all wait for that thread
// before they write the next one. The warp groups of a loop with a producer would run in step for that: all use the
// matrix units, then none does.
//
// With it, the rows belong to the warp groups in turn, so many at a time: of 128 rows by two groups, 0 to 63 and 64 to
// 127. A group writes its rows to their place in the buffer; insert-barriers then needs a barrier of the group alone
// (rule 11 there), and a thread of each group copies its rows and waits for them. The boxes of the tensor map have so
// many rows, which the launcher learns from the copies (rowsOfCopies).
//
// Conditions:
//   - The store is in a loop of the default region of the function's only ttg.warp_specialize, in a kernel, with two
//     warp groups or more, for which there are named barriers.
//   - The layout of what is stored gives each warp group whole rows in turn, as wgmma with all warps along M does.
//   - The descriptor is an argument, all uses of which are such copies: its only tensor map has boxes of one size.
//   - All that writes to the buffer and copies from it is marked, or nothing: what waits for a group alone may reach
//     the rows of that group alone. (So two descriptors with one buffer are marked together, or none.)
//   - Nothing else in the kernel writes global memory, so that no barrier orders such writes, and no copy waits until
//     another one has arrived: the threads of two groups may have begun them.
#include "transforms/memory/warp_group_stores.h"
#include "ir/attribute_names.h"
#include "ir/collect.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/memory/warp_groups.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

namespace {

/// The rows that each of so many warp groups holds in turn, all elements of them; 0: the groups have no whole rows.
int64_t rowsInTurn(TensorType type, int64_t groups) {
  constexpr unsigned kWarpBitsOfGroup = 2;
  if (type.rank() != 2 || !type.encoding()) return 0;
  auto layout = type.encoding()->toLinearLayout(type.shape());
  if (!layout.ok() || layout->inDimBits(Dim::Warp) != kWarpBitsOfGroup + llvm::Log2_64(uint64_t(groups))) return 0;
  Dim row = layouts::tensorDim(0), column = layouts::tensorDim(1);
  int64_t rows = layout->basis(Dim::Warp, kWarpBitsOfGroup, row);
  if (!llvm::isPowerOf2_64(uint64_t(rows))) return 0;
  int64_t ofGroups = rows * (groups - 1); // the bits of a row's number that say which group has it
  for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block}) {
    if (!layout->hasInDim(dim)) continue;
    for (unsigned bit = 0; bit < layout->inDimBits(dim); ++bit) {
      bool isOfGroup = dim == Dim::Warp && bit >= kWarpBitsOfGroup;
      int64_t to = layout->basis(dim, bit, row);
      if (isOfGroup ? to != rows << (bit - kWarpBitsOfGroup) || layout->basis(dim, bit, column) : to & ofGroups)
        return 0;
    }
  }
  return rows;
}

class StoresOfGroups {
public:
  StoresOfGroups(tt::FuncOp func, const TargetInfo &target) : func_(func), target_(target) {}

  bool run() {
    if (!isSuitable()) return false;
    func_->walk([&](Operation *op) {
      if (auto copy = op->dyn<ttng::AsyncTmaCopyLocalToGlobalOp>())
        if (int64_t rows = rowsOf(copy)) rows_[op] = rows;
    });
    while (dropOneThatDiffers()) {
    }
    auto attribute = [&](int64_t rows) { return IntegerAttr::getI32(func_->context(), rows); };
    for (auto [op, rows] : rows_) {
      op->setAttr(kWarpGroupRowsAttr, attribute(rows));
      auto alloc = bufferOf(op);
      if (alloc.src()) alloc->setAttr(kWarpGroupRowsAttr, attribute(rows));
      for (Operation *user : alloc.result().users())
        if (user->is<ttg::LocalStoreOp>()) user->setAttr(kWarpGroupRowsAttr, attribute(rows));
    }
    return !rows_.empty();
  }

private:
  /// The function's conditions.
  bool isSuitable() {
    if (func_.symVisibility() == "private") return false;
    auto specialized = collect<ttg::WarpSpecializeOp>(func_.op);
    if (specialized.size() != 1) return false;
    specialized_ = specialized[0];
    int64_t own = numWarps(func_->module().op());
    groups_ = own / kWarpGroup;
    int64_t barriers = kReservedBarriers + int64_t(partitionRegions(specialized_).size()) + groups_;
    if (own % kWarpGroup || groups_ < 2 || barriers > target_.namedBarriers) return false;
    bool isSuitable = true;
    func_->walk([&](Operation *op) {
      auto wait = op->dyn<ttng::AsyncTmaStoreWaitOp>();
      bool writes =
          (effectsOf(op) & kWritesGlobal) && !op->is<ttng::AsyncTmaCopyLocalToGlobalOp>() && !op->numRegions();
      isSuitable &= !writes && !op->is<tt::CallOp>() && !(wait && !wait.readOnly());
    });
    return isSuitable;
  }

  /// The buffer, if it is all of an allocation.
  static ttg::LocalAllocOp bufferOf(Operation *copy) {
    return copy->cast<ttng::AsyncTmaCopyLocalToGlobalOp>().src().definedBy<ttg::LocalAllocOp>();
  }

  /// The rows that the warp groups hold in turn of what the copy stores, if nothing else is against it; else 0.
  int64_t rowsOf(ttng::AsyncTmaCopyLocalToGlobalOp copy) {
    auto alloc = bufferOf(copy.op);
    Partition partition = partitionOf(copy.op);
    bool isOfConsumers = partition && !partition.hasOwnWarps() && isInLoop(copy.op);
    if (!alloc || !isOfConsumers || !isArgumentOfFunction(copy.desc())) return 0;
    if (partitionOf(alloc.op).op.op != specialized_.op) return 0; // other partitions might reach it
    auto type = alloc.result().type().cast<MemDescType>();
    auto *layout = layouts::dynCast<layouts::NvmmaSharedEncoding>(type.encoding());
    bool isOfRows = layout && type.rank() == 2 && !layout->params().transposed &&
                    copy.desc().type().cast<TensorDescType>().shape() == type.shape();
    if (!isOfRows) return 0;
    int64_t rows = 0;
    auto holds = [&](Value stored) {
      int64_t these = rowsInTurn(tensorOf(stored), groups_);
      bool isFirst = !rows;
      if (isFirst) rows = these;
      return these && these == rows;
    };
    if (alloc.src() && !holds(alloc.src())) return 0;
    for (Operation *user : alloc.result().users()) {
      if (auto store = user->dyn<ttg::LocalStoreOp>()) {
        if (!holds(store.src())) return 0;
      } else if (!user->is<ttng::AsyncTmaCopyLocalToGlobalOp>() && !user->is<ttg::LocalDeallocOp>()) {
        return 0;
      }
    }
    // The groups' boxes follow each other in those of the layout, whose swizzle begins anew in each.
    auto box = layout->copyBox(type.shape());
    bool areBoxes = rows % layouts::kSwizzleRows == 0 && box.ok() && rows * groups_ <= (*box)[0];
    return areBoxes ? rows : 0;
  }

  /// A copy is left out if its buffer or its descriptor has another one that is, or that has other rows.
  bool dropOneThatDiffers() {
    auto differs = [&](Operation *user, int64_t rows) {
      auto it = rows_.find(user);
      return it == rows_.end() || it->second != rows;
    };
    for (auto [op, rows] : rows_) {
      auto copy = op->cast<ttng::AsyncTmaCopyLocalToGlobalOp>();
      bool drop = llvm::any_of(copy.desc().users(), [&, n = rows](Operation *user) { return differs(user, n); });
      for (Operation *user : copy.src().users())
        drop |= user->is<ttng::AsyncTmaCopyLocalToGlobalOp>() && differs(user, rows);
      if (!drop) continue;
      rows_.erase(op);
      return true;
    }
    return false;
  }

  tt::FuncOp func_;
  const TargetInfo &target_;
  ttg::WarpSpecializeOp specialized_;
  int64_t groups_ = 0;
  llvm::MapVector<Operation *, int64_t> rows_; // of the copies to mark
};

} // namespace

std::optional<int64_t> rowsOfCopies(Value desc) {
  std::optional<int64_t> rows;
  for (Operation *user : desc.users()) {
    auto attribute = user->attr<IntegerAttr>(kWarpGroupRowsAttr);
    int64_t these = attribute ? attribute.sext() : 0;
    if (rows && *rows != these) return std::nullopt;
    rows = these;
  }
  return rows.value_or(0);
}

absl::StatusOr<bool> warpGroupStores(Module &m, PassContext &c) {
  if (!c.target) return requiresTarget(c, m, "tritongpu-warp-group-stores");
  if (!mayHaveProducers(*c.target)) return false;
  bool changed = false;
  for (auto &op : *m.body())
    if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty()) changed |= StoresOfGroups(f, *c.target).run();
  return changed;
}

} // namespace tessera::transforms
