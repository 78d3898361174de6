// Pass tritongpu-coalesce: each access to global memory by a tensor of pointers gets a blocked layout in which a thread
// holds as many elements that are consecutive in memory as it can move at once, and neighbouring lanes hold
// neighbouring elements.
//
//   %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>            (one element per thread and step)
//   →
//   %q = ttg.convert_layout %p : … -> tensor<1024x!tt.ptr<f16>, #blocked1>     (sizePerThread = [8])
//   %w = tt.load %q : tensor<1024x!tt.ptr<f16>, #blocked1>
//   %v = ttg.convert_layout %w : … -> tensor<1024xf16, #blocked>
//
// Steps:
//   1. order    The fastest dimension is the one with the longest runs of consecutive addresses (AxisInfo). If no run
//               is proved, it is the one with small local strides.
//   2. width    The run, its alignment, masks that tell neighbours apart, the 16 bytes of one access and the number of
//               elements that a thread has bound how many elements an access may take.
//   3. groups   Accesses of one function (of one version of it), order and row length share one width, so that values
//               flow between them without conversions: the one that costs the memory system least for all of them
//               (cheapestWidth). Data of dots, and rows that are scanned or sorted, take the widest instead. Where no
//               width costs less than another, a thread has all elements that share a word (weights of 4 bits).
//   4. layouts  Each access gets the blocked layout of its order and its group's width; what is loaded through a
//               descriptor that of descriptor_load_layout.h. Batches of operands for MFMA and WMMA are distributed over
//               the warps, as these are.
//
// Runs: both pipelines.
#include "ir/collect.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/local_stride.h"
#include "transforms/analyses/plain_stores.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/descriptor_load_layout.h"
#include "transforms/layout/matrix_instruction_choice.h"
#include "transforms/layout/store_layout.h"
#include "transforms/passes.h"
#include "transforms/ttir/kernel_versions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

namespace tessera::transforms {
using namespace ir;

namespace {

using Order = llvm::SmallVector<int32_t, 4>; // dimensions, fastest first
using Shape = llvm::SmallVector<int64_t, 4>;

constexpr int64_t kWordBytes = 4;

struct Access {
  Operation *op;
  Value ptr;
  Order order;
  int64_t bytes = 1; // of an element
  int64_t width = 1; // elements of one access
  int64_t run = 1;   // the same but for the mask
  int64_t elementsPerThread = 1;
  int64_t equal = 1;          // elements in a row that one access of a thread loads, as they have one address
  bool anyWidth = false;      // it costs as much at any width of the layout
  bool hasProvedRun = false;  // elements are consecutive along the first dimension of the order
  bool hasUnitStride = false; // the same, but what aligns them is not known
  bool isDotData = false;     // what is loaded goes into a dot, what is stored comes from one

  TensorType pointers() const { return tensorOf(ptr); }
  unsigned fastest() const { return order[0]; }
  Operation *function() const { return op->parentOfType<tt::FuncOp>().op; }
};

/// The pointers of an access to global memory; null for other operations and for scalar pointers.
Value pointerOf(Operation *op) {
  auto access = op->dyn<GlobalAccessOp>();
  return access && access.ptr().type().isTensor() ? access.ptr() : Value();
}

// ---- step 1: orders -------------------------------------------------------------------------------------------------

/// The axis along which a loaded value is reduced first, as it is or after elementwise operations and, if `selected`,
/// selections (masks); -1: none, or several.
int reducedAxis(Value v, bool selected, int depth = 0) {
  constexpr int kMaxDepth = 8;
  int axis = -1;
  for (auto *user : v.users()) {
    int found = -1;
    bool isFollowed = user->info().has(kElementwise) || (selected && user->is<arith::SelectOp>());
    if (auto r = user->dyn<tt::ReduceOp>())
      found = r.axis();
    else if (depth < kMaxDepth && isFollowed && user->numResults() == 1)
      found = reducedAxis(user->result(), selected, depth + 1);
    if (found < 0) continue;
    if (axis >= 0 && axis != found) return -1;
    axis = found;
  }
  return axis;
}

/// Fastest dimension first: by run length, then the last dimension first. Where nothing runs along any dimension, one
/// that is reduced comes last: it stays in a thread as far as it can, which saves most of the steps between lanes.
/// Except where the memory is also written: the accesses of a pointer are in one layout, by which threads read what
/// they wrote.
Order orderOf(Operation *op, Value ptr, const AxisInfoAnalysis &axis, const GlobalAccesses &accesses) {
  auto info = axis.get(ptr);
  Order order(info.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  bool hasNoRun = llvm::all_of(info.contiguity, [](int64_t run) { return run == 1; });
  if (op->is<tt::LoadOp>() && hasNoRun && !accesses.mayBeWritten(ptr))
    if (int reduced = reducedAxis(op->result(), /*selected=*/false); reduced >= 0)
      llvm::stable_sort(order, [&](int a, int b) { return a != reduced && b == reduced; });
  llvm::stable_sort(order, [&](int a, int b) { return info.contiguity[a] > info.contiguity[b]; });
  return order;
}

/// In tensors of three dimensions and more, one runs, and the others are equal: of these the one that is reduced comes
/// last, for the same reason. That holds for all accesses of such a shape, between which values flow. Runs that fill
/// sectors of memory stay in neighbouring lanes; the memory does not care which row comes next.
void orderReducedLast(llvm::MutableArrayRef<Access> accesses, const AxisInfoAnalysis &axis, const Tuning &tuning) {
  int64_t runBytes = tuning.reducedLastMinSectors * kSectorBytes;
  constexpr int kSeveral = -2;
  struct Reduced {
    int axis = -1;
    bool runsAreLong = true;
  };
  std::map<std::pair<Operation *, Shape>, Reduced> ofShape;
  auto reducedOf = [&](const Access &a) -> Reduced & { return ofShape[{a.function(), Shape(a.pointers().shape())}]; };
  for (auto &a : accesses) {
    if (a.order.size() < 3) continue;
    Reduced &r = reducedOf(a);
    int64_t bytes = pointeeBytes(a.ptr);
    r.runsAreLong &= axis.get(a.ptr).contiguity[a.fastest()] * bytes >= runBytes;
    int found = a.op->is<tt::LoadOp>() ? reducedAxis(a.op->result(), /*selected=*/true) : -1;
    if (found < 0) continue;
    bool isOther = r.axis != -1 && r.axis != found;
    r.axis = isOther || found == int(a.fastest()) ? kSeveral : found;
  }
  for (auto &a : accesses) {
    if (a.order.size() < 3) continue;
    const Reduced &r = reducedOf(a);
    if (r.axis < 0 || !r.runsAreLong) continue;
    auto runs = axis.get(a.ptr).contiguity;
    llvm::stable_sort(a.order, [&](int d, int e) {
      if (runs[d] != runs[e]) return runs[d] > runs[e];
      return d != r.axis && e == r.axis;
    });
  }
}

/// The dimensions by their local strides: first those along which neighbours lie in one sector of memory, then those
/// with stride 0, those of unknown stride (it may be 1), and those whose neighbours lie far apart. Empty: no dimension
/// alone comes first.
Order orderByStrides(Value ptr, llvm::ArrayRef<int32_t> order) {
  auto strides = localStrides(ptr);
  int64_t bytes = pointeeBytes(ptr);
  enum Rank { kNear, kEqual, kUnknown, kFar };
  auto rank = [&](int d) {
    auto s = strides[d];
    if (!s) return kUnknown;
    if (*s == 0) return kEqual;
    return std::abs(*s) < kSectorBytes && std::abs(*s) * bytes < kSectorBytes ? kNear : kFar;
  };
  Order nearFirst(order);
  llvm::stable_sort(nearFirst, [&](int a, int b) { return rank(a) < rank(b); });
  return rank(nearFirst[0]) < rank(nearFirst[1]) ? nearFirst : Order();
}

/// Whether a load or store is of a dot's data and need not be in the layout of other accesses to the memory.
bool isDotData(const Access &a, const GlobalAccesses &global) {
  if (auto store = a.op->dyn<tt::StoreOp>())
    return !global.isSharedByItsThreads(a.ptr) && comesFromDot(store.value(), kTowardsStore);
  if (auto load = a.op->dyn<tt::LoadOp>())
    return !global.mayBeWrittenByItsThreads(a.ptr) && feedsDotOrBuffer(load.result(), kFromLoad);
  return false;
}

/// Accesses without a proved run take the order of their local strides, unless an access of that shape is proved to run
/// along another dimension: what flows between the two would change its layout, which costs more than it brings.
/// Nothing flows between the loads of dots' operands and other accesses, but through the dots.
void orderUnprovedByStrides(llvm::MutableArrayRef<Access> accesses, const GlobalAccesses &global) {
  using FunctionAndShape = std::pair<Operation *, Shape>;
  auto keyOf = [](const Access &a) { return FunctionAndShape{a.function(), Shape(a.pointers().shape())}; };
  struct Proved {
    Order order;
    bool isOperand;
  };
  auto isOperand = [&](const Access &a) { return a.op->is<tt::LoadOp>() && isDotData(a, global); };
  std::map<FunctionAndShape, llvm::SmallVector<Proved, 4>> proved;
  for (auto &a : accesses)
    if (a.hasProvedRun) proved[keyOf(a)].push_back({a.order, isOperand(a)});
  for (auto &a : accesses) {
    bool isFreeLoad = a.op->is<tt::LoadOp>() && !global.mayBeWritten(a.ptr);
    bool isFreeStore = a.op->is<tt::StoreOp>() && !global.isShared(a.ptr);
    if (a.hasProvedRun || a.order.size() < 2 || (!isFreeLoad && !isFreeStore)) continue;
    auto order = orderByStrides(a.ptr, a.order);
    if (order.empty()) continue;
    bool feedsDot = isOperand(a);
    bool agrees = llvm::all_of(proved[keyOf(a)], [&](const Proved &other) {
      return other.order[0] == order[0] || feedsDot != other.isOperand;
    });
    if (agrees) a.order = order;
  }
}

// ---- step 2: the widest access --------------------------------------------------------------------------------------

/// Elements that the operation may access at once.
int64_t widestOf(const Access &a, const TargetInfo *target) {
  Type element = pointeeOf(a.ptr);
  auto rmw = a.op->dyn<tt::AtomicRmwOp>();
  if (rmw && rmw.atomicRmwOp() == RmwOp::Fadd && target)
    return target->atomicAddElements(element.bitWidth(), element.isFloat(FloatKind::BF16), !rmw.result().useEmpty());
  if (isGlobalAtomic(a.op)) return 1;
  int64_t bytes = target ? target->maxGlobalAccessBytes : kGlobalAccessBytes;
  return std::max<int64_t>(1, bytes / a.bytes);
}

/// The tensor of masks of a load or store; null if it has none, or one scalar mask for all elements.
Value masksOf(Operation *op) {
  auto load = op->dyn<tt::LoadOp>();
  auto store = op->dyn<tt::StoreOp>();
  Value mask = load ? load.mask() : store ? store.mask() : Value();
  return mask && mask.type().isTensor() ? mask : Value();
}

/// How many elements of a row, one after the other, have the same address and mask. 1 if a thread has fewer, or if
/// they are no packed word: the whole row, or more than a word has bits (scales of long groups).
int64_t equalElements(const Access &a, const AxisInfoAnalysis &axis) {
  int64_t equal = axis.get(a.ptr).constancy[a.fastest()];
  if (Value masks = masksOf(a.op)) equal = std::min(equal, axis.maskConstancy(masks, a.fastest()));
  bool isWord = equal < a.pointers().dim(a.fastest()) && equal <= 8 * a.bytes && llvm::isPowerOf2_64(uint64_t(equal));
  return isWord && equal <= a.elementsPerThread ? equal : 1;
}

/// Fills in all of an access but its order, by which widths are chosen. `threads`: of a block.
void analyzeWidth(Access &a, const AxisInfoAnalysis &axis, const GlobalAccesses &global, int64_t threads,
                  const TargetInfo *target) {
  auto type = a.pointers();
  a.bytes = pointeeBytes(a.ptr);
  a.elementsPerThread = std::max<int64_t>(1, type.numElements() / threads);
  a.run = std::min(
      {axis.contiguousElements(a.ptr, a.fastest()), widestOf(a, target), a.elementsPerThread, type.dim(a.fastest())});
  a.isDotData = isDotData(a, global);
  // A mask that may tell neighbours apart splits the access. (Not copies for dots: masks of theirs cost them little.)
  Value masks = a.isDotData ? Value() : masksOf(a.op);
  a.width = masks ? std::min(a.run, axis.maskConstancy(masks, a.fastest())) : a.run;
  // Elements that are equal, or far from each other, cost as much in any layout, and few cost little. Unknown strides
  // (an index that is loaded) are taken to be far, except for atomic operations, which lose most where they are not.
  auto stride = localStrides(a.ptr)[a.fastest()];
  a.hasUnitStride = stride == 1;
  bool isNear = stride ? std::abs(*stride) == 1 : isGlobalAtomic(a.op);
  bool leavesThreadsIdle = type.numElements() < threads;
  a.anyWidth = a.width == 1 && (!isNear || leavesThreadsIdle);
  if (a.anyWidth && a.op->is<tt::LoadOp>()) a.equal = equalElements(a, axis);
}

// ---- step 3: one width for a group ----------------------------------------------------------------------------------

/// What an element costs the load/store unit in a layout that gives each thread `w` elements in a row. An instruction
/// takes one step, and one for each 128 bytes from its first lane's address to its last's. Where it moves less than the
/// `w` elements, its lanes leave gaps: a load finds the rest in the cache, but a store writes parts of sectors, up to
/// one for each lane. An atomic operation holds each part for as long as several stores (tuning.atomicAccessCost).
double costOfElement(const Access &a, int64_t w, const Tuning &tuning) {
  int64_t bytesOfLane = a.op->is<tt::LoadOp>() ? w * a.bytes : std::min<int64_t>(w * a.bytes, kSectorBytes);
  double steps = std::max<double>(1, bytesOfLane / kWordBytes); // 32 lanes of a word are 128 bytes
  if (isGlobalAtomic(a.op)) steps *= tuning.atomicAccessCost;
  return (steps + 1) / std::min(a.width, w);
}

int64_t widestOfGroup(llvm::ArrayRef<const Access *> group) {
  int64_t widest = 1;
  for (auto *a : group) widest = std::max(widest, a->run);
  return widest;
}
/// The widest of the cheapest widths.
int64_t cheapestWidth(llvm::ArrayRef<const Access *> group, const Tuning &tuning) {
  int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t w = widestOfGroup(group); w >= 1; w /= 2) {
    double total = 0;
    for (auto *a : group) total += costOfElement(*a, w, tuning) * a->pointers().numElements();
    if (total >= least) continue;
    least = total;
    best = w;
  }
  return best;
}

/// The width of a group in which no access has a cheapest one: that of words that several elements share, such as
/// weights of 4 bits. A thread that has all elements of a word loads it once, and its neighbour the next word. With one
/// element each, neighbours load the same word, and a thread as many words as it has elements.
int64_t widthOfSharedWords(llvm::ArrayRef<const Access *> group) {
  int64_t least = 1;
  for (auto *a : group)
    if (a->equal > 1) least = least == 1 ? a->equal : std::min(least, a->equal);
  return least;
}

/// Accesses of one version of a function, order and length of the fastest dimension: the other dimensions may differ,
/// as those of a matrix and of a row that is broadcast to it. A dot's data is grouped by whole shapes, its operands
/// apart from its results: the dot is between them.
struct GroupKey {
  Operation *function;
  Block *version;
  Order order;
  Shape shape;
  bool isDotData;
  bool isDotResult;
  bool operator<(const GroupKey &o) const {
    return std::tie(function, version, order, shape, isDotData, isDotResult) <
           std::tie(o.function, o.version, o.order, o.shape, o.isDotData, o.isDotResult);
  }
};
GroupKey groupOf(const Access &a) {
  auto shape = a.pointers().shape();
  bool isDotResult = a.isDotData && !a.op->is<tt::LoadOp>();
  return {a.function(), versionOf(a.op), a.order, a.isDotData ? Shape(shape) : Shape{shape[a.fastest()]},
          a.isDotData,  isDotResult};
}

/// By function and number of elements: how many reductions combine pairs of elements at some distance. Sorts (tl.sort,
/// tl.topk) exchange elements by them. A bitonic sort of 2^k elements has k (k + 1) / 2, most of them at small
/// distances (k at distance 1, one at 2^(k-1)). A butterfly has one for each distance: k.
std::map<std::pair<Operation *, int64_t>, int64_t> exchangesOfNeighbours(Module &m) {
  std::map<std::pair<Operation *, int64_t>, int64_t> exchanges;
  for (auto reduce : collect<tt::ReduceOp>(m.op())) {
    auto type = tensorOf(reduce->operand(0));
    constexpr unsigned kLeastRank = 3; // what is before the pair, the pair, and what is after it
    if (type.rank() >= kLeastRank && type.dim(reduce.axis()) == 2)
      ++exchanges[{reduce->parentOfType<tt::FuncOp>().op, type.numElements()}];
  }
  return exchanges;
}

std::map<GroupKey, int64_t> widthsOfGroups(Module &m, llvm::ArrayRef<Access> accesses, const Tuning &tuning) {
  std::map<GroupKey, llvm::SmallVector<const Access *, 8>> groups, anyWidth;
  for (auto &a : accesses) {
    auto &group = groups[groupOf(a)];
    if (!a.anyWidth)
      group.push_back(&a);
    else
      anyWidth[groupOf(a)].push_back(&a);
  }
  auto scans = collect<tt::ScanOp>(m.op());
  auto isScannedAlongRows = [&](const GroupKey &key) {
    return llvm::any_of(scans, [&](tt::ScanOp scan) {
      bool isRank = size_t(tensorOf(scan->operand(0)).rank()) == key.order.size();
      return scan->parentOfType<tt::FuncOp>().op == key.function && (!isRank || scan.axis() == key.order[0]);
    });
  };
  auto exchanges = exchangesOfNeighbours(m);
  auto isSortedAlongRows = [&](const GroupKey &key, llvm::ArrayRef<const Access *> group) {
    return llvm::any_of(group, [&](const Access *a) {
      auto found = exchanges.find({key.function, a->pointers().numElements()});
      return found != exchanges.end() && found->second > llvm::Log2_64(uint64_t(a->pointers().dim(a->fastest())));
    });
  };
  // Scans and sorts along rows take few steps between lanes if each thread has many elements in a row. Loads for dots
  // are copies as wide as can be or, where nothing runs, take less index arithmetic the fewer rows a thread has.
  std::map<GroupKey, int64_t> widths;
  for (auto &[key, group] : groups) {
    bool asWideAsCanBe = isScannedAlongRows(key) || isSortedAlongRows(key, group) || key.isDotData;
    widths[key] = asWideAsCanBe ? widestOfGroup(group) : cheapestWidth(group, tuning);
    if (group.empty() && !key.isDotData) widths[key] = widthOfSharedWords(anyWidth[key]);
  }
  return widths;
}

// ---- step 4: layouts ------------------------------------------------------------------------------------------------

/// The dot for which a matrix of bytes is loaded by rows that run across K; null if there is none. The bytes are
/// transposed one by one on their way, so that wide accesses have no use, unless reads of shared memory transpose them
/// (ds_read_b64_tr_b8).
Operation *dotOfBytesAcrossK(const Access &a, const TargetInfo *target) {
  auto load = a.op->dyn<tt::LoadOp>();
  unsigned rank = a.order.size();
  if (!load || a.bytes != 1 || rank < 2 || (target && target->hasTransposedLdsRead)) return nullptr;
  auto leadsOn = [](Operation *op) {
    bool keepsBytes = op->is<ttg::ConvertLayoutOp>() || op->is<tt::BitcastOp>() || op->is<tt::TransOp>();
    return keepsBytes && op->result().hasOneUse();
  };
  for (Operation *user : load.result().users()) {
    Value v = load.result();
    bool isTransposed = false;
    while (leadsOn(user)) {
      if (user->is<tt::TransOp>()) isTransposed = !isTransposed;
      v = user->result();
      user = v.users()[0];
    }
    auto scaled = user->dyn<tt::DotScaledOp>();
    if (!isDot(user) || (scaled && isScaleOf(v, scaled))) continue;
    bool isLeft = user->operand(0) == v;
    unsigned k = isLeft != isTransposed ? rank - 1 : rank - 2;
    if (a.fastest() != k) return user;
  }
  return nullptr;
}

/// How many bytes of a row across K a thread has of what a loop copies to shared memory. Short rows are swizzled there
/// in units of 8 bytes, which the lanes of mma.sync read side by side (optimize_dot_operands.cpp), so that no more are
/// copied at once: with more, each instruction would copy every other unit of a row.
int64_t copiedBytesAcrossK(const Access &a, Operation *dot, const TargetInfo &target) {
  constexpr int64_t kShortRow = 32, kUnit = 8, kRowsOfWarpGroup = 64;
  if (a.pointers().dim(a.fastest()) != kShortRow) return kMaxAsyncCopyBytes;
  auto shape = tensorOf(dot->result(0)).shape();
  bool isOfWarpGroup = target.matrixUnit == MatrixUnit::Wgmma && *llvm::max_element(shape) >= kRowsOfWarpGroup;
  return isOfWarpGroup ? kMaxAsyncCopyBytes : kUnit;
}

/// Whether a load's mask is the same for all rows, a row being what lies along the fastest dimension. Where each row
/// has a mask of its own (convolutions), the fewer of them a thread has the less it computes.
bool rowsHaveOneMask(const Access &a, const AxisInfoAnalysis &axis) {
  auto load = a.op->dyn<tt::LoadOp>();
  if (!load) return false;
  if (!load.mask()) return true;
  auto shape = a.pointers().shape();
  AxisInfo mask = axis.get(load.mask());
  for (unsigned d = 0; d < shape.size(); ++d)
    if (d != a.fastest() && mask.constancy[d] < shape[d]) return false;
  return true;
}

/// Whether a load has the same address, and the same mask, for so many elements along the fastest dimension: the scales
/// of groups of weights. A thread loads them once, whatever their layout.
bool isConstantAlongRow(const Access &a, int64_t elements, const AxisInfoAnalysis &axis) {
  auto load = a.op->dyn<tt::LoadOp>();
  if (!load || axis.get(a.ptr).constancy[a.fastest()] < elements) return false;
  bool hasMasks = load.mask() && load.mask().type().isTensor();
  return !hasMasks || axis.maskConstancy(load.mask(), a.fastest()) >= elements;
}

/// The width of the access's layout in a group of a width.
int64_t widthOfLayout(const Access &a, int64_t widthOfGroup, const AxisInfoAnalysis &axis, const TargetInfo *target) {
  if (!a.isDotData) return widthOfGroup;
  // A dot's result changes its layout on the way to memory, so that each store is as wide as it can be.
  int64_t width = a.op->is<tt::StoreOp>() ? a.width : widthOfGroup;
  // What is loaded by less than a word at a time comes from fewer sectors if lanes are beside each other. A thread has
  // words of a row all the same: it stores them for the dot, and has fewer rows to compute addresses for.
  if (a.bytes >= kWordBytes) return width;
  const int64_t word = kWordBytes / a.bytes;
  // A loop copies words and more to shared memory as they are, from where single bytes are read.
  bool isCopied = a.width >= word && target && target->hasPerLaneAsyncCopy && isInLoop(a.op);
  if (Operation *dot = dotOfBytesAcrossK(a, target))
    return std::min(width, isCopied ? copiedBytesAcrossK(a, dot, *target) : word);
  bool isLoadedByElements = a.width == 1 && !isConstantAlongRow(a, std::max(word, widthOfGroup), axis);
  if (!isLoadedByElements) return width;
  // Rows within a sector (scales of blocks along K) stay whole in neighbouring lanes: each instruction of a thread that
  // has more of its row would access as many more sectors.
  bool isLongRow = a.pointers().dim(a.fastest()) * a.bytes >= kSectorBytes;
  bool isRow = a.hasUnitStride && isLongRow && a.op->is<tt::LoadOp>();
  int64_t wordOfRow = isRow ? std::min({word, a.elementsPerThread, a.pointers().dim(a.fastest())}) : 1;
  return std::max(wordOfRow, rowsHaveOneMask(a, axis) ? std::min(width, word) : width);
}

/// Distributes a batch of matrices over the warps, as instructions do, and not parts of matrices: a thread's addresses
/// are then rows apart, less than what an instruction's offset can hold.
void keepBatchesInWarps(layouts::BlockedParams &p, llvm::ArrayRef<int64_t> shape) {
  constexpr unsigned batch = 0;
  if (shape.size() < 3 || p.order.back() != batch) return;
  for (unsigned d = 1; d < shape.size(); ++d)
    while (p.warpsPerCta[d] > 1 && p.warpsPerCta[batch] * p.threadsPerWarp[batch] < shape[batch]) {
      p.warpsPerCta[d] /= 2;
      p.warpsPerCta[batch] *= 2;
    }
}

} // namespace

absl::StatusOr<bool> coalesce(Module &m, PassContext &context) {
  const Tuning tuning = context.target ? context.target->tuning : Tuning();
  AxisInfoAnalysis axis(m);
  GlobalAccesses global(m);
  int warps = numWarps(m.op()), lanes = threadsPerWarp(m.op());

  std::vector<Access> accesses;
  llvm::SmallVector<tt::DescriptorLoadOp, 4> descriptorLoads;
  m.op()->walk([&](Operation *op) {
    if (auto load = op->dyn<tt::DescriptorLoadOp>()) descriptorLoads.push_back(load);
    Value ptr = pointerOf(op);
    if (!ptr) return;
    Access a{op, ptr, orderOf(op, ptr, axis, global)};
    a.hasProvedRun = axis.get(ptr).contiguity[a.fastest()] > 1;
    accesses.push_back(a);
  });
  orderReducedLast(accesses, axis, tuning);
  orderUnprovedByStrides(accesses, global);
  for (auto &a : accesses) analyzeWidth(a, axis, global, int64_t(warps) * lanes, context.target);
  auto widths = widthsOfGroups(m, accesses, tuning);

  for (auto &a : accesses) {
    auto type = a.pointers();
    llvm::SmallVector<int32_t, 4> sizePerThread(type.rank(), 1);
    sizePerThread[a.fastest()] = int32_t(widthOfLayout(a, widths[groupOf(a)], axis, context.target));
    auto params = layouts::blockedParamsFor(type.shape(), sizePerThread, a.order, warps, lanes, type.encoding()->cta());
    if (a.isDotData && a.op->is<tt::LoadOp>() && context.target && isMfmaOrWmma(context.target->matrixUnit))
      keepBatchesInWarps(params, type.shape());
    computeInLayout(a.op, *m.context().encodings().getBlocked(params));
  }
  for (auto load : descriptorLoads)
    computeInLayout(load.op, layoutOfDescriptorLoad(load, warps, lanes, context.target));
  return !accesses.empty() || !descriptorLoads.empty();
}

} // namespace tessera::transforms
