// Coalescing: each access to global memory by a tensor of pointers gets a blocked layout in which a thread holds as
// many elements that lie one after the other in memory as it can move at once, and neighbouring lanes hold
// neighbouring elements.
//
//   %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>            (one element per thread and step)
//   →
//   %q = ttg.convert_layout %p : … -> tensor<1024x!tt.ptr<f16>, #blocked1>     (sizePerThread = [8])
//   %w = tt.load %q : tensor<1024x!tt.ptr<f16>, #blocked1>
//   %v = ttg.convert_layout %w : … -> tensor<1024xf16, #blocked>
//
// The fastest dimension is the one with the longest runs of consecutive addresses (AxisInfo); the run, its alignment,
// the 16 bytes of one access and the number of elements that a thread has at all bound the width. Accesses of one
// order and length in a function take one width together, so that values flow between them without conversions: the
// one at which the memory system has the least to do for all of them (`widthOf`).
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/local_stride.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

namespace tessera::transforms {
using namespace ir;

namespace {

struct Access {
  Operation *op;
  Value ptr;
  llvm::SmallVector<int32_t, 4> order;
  int64_t bytes = 1;        // of an element
  int64_t width = 1;        // elements of one access
  bool indifferent = false; // to the layout's width
  bool proved = false;      // that something runs along the first dimension of the order
  bool multiplied = false;  // what is loaded goes into a matrix multiplication, what is stored comes from one
};

bool isAtomic(Operation *op) { return op->is<tt::AtomicRmwOp>() || op->is<tt::AtomicCasOp>(); }

/// What an element costs the load/store unit in a layout that gives each thread `w` elements in a row. An instruction
/// takes one step, and one for each 128 bytes from its first lane's address to its last's. Where it moves less than
/// the `w` elements, its lanes leave gaps: a load finds the rest in the cache, but a store writes parts of sectors,
/// up to one for each lane. An atomic operation holds each part for as long as some stores (sums into 512 columns of
/// each of 32,768 rows of f32: 97 µs on an H200 by neighbouring lanes, 144 with gaps of three elements).
double cost(const Access &a, int64_t w) {
  constexpr double kAtomic = 3;
  double steps = std::max<double>(1, a.op->is<tt::LoadOp>() ? w * a.bytes / 4 : std::min<int64_t>(w * a.bytes, 32) / 4);
  if (isAtomic(a.op)) steps *= kAtomic;
  return (steps + 1) / std::min(a.width, w);
}

int64_t widestOf(llvm::ArrayRef<const Access *> accesses) {
  int64_t widest = 1;
  for (auto *a : accesses) widest = std::max(widest, a->width);
  return widest;
}
/// The width for accesses of one order, the widest of the cheapest.
int64_t widthOf(llvm::ArrayRef<const Access *> accesses) {
  int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t w = widestOf(accesses); w >= 1; w /= 2) {
    double total = 0;
    for (auto *a : accesses) total += cost(*a, w) * a->ptr.type().cast<TensorType>().numElements();
    if (total < least) least = total, best = w;
  }
  return best;
}

Value pointerOf(Operation *op) {
  Value p;
  if (auto l = op->dyn<tt::LoadOp>())
    p = l.ptr();
  else if (auto s = op->dyn<tt::StoreOp>())
    p = s.ptr();
  else if (auto a = op->dyn<tt::AtomicRmwOp>())
    p = a.ptr();
  else if (auto c = op->dyn<tt::AtomicCasOp>())
    p = c.ptr();
  return p && p.type().isTensor() ? p : Value();
}

/// The axis along which a loaded value is reduced first, as it is or after elementwise work; -1: none, or several.
int reducedAxis(Value v, int depth = 0) {
  int axis = -1;
  for (auto *user : v.users()) {
    int found = -1;
    if (auto r = user->dyn<tt::ReduceOp>())
      found = r.axis();
    else if (depth < 8 && user->info().has(kElementwise) && user->numResults() == 1)
      found = reducedAxis(user->result(), depth + 1);
    if (found < 0) continue;
    if (axis >= 0 && axis != found) return -1;
    axis = found;
  }
  return axis;
}

/// Fastest dimension first: by run length, then the last dimension first. Where nothing runs along any dimension, one
/// that is reduced comes last: it stays in a thread as far as it can, which saves most of the steps between lanes.
/// Not where the memory is also written: the accesses of a pointer are in one layout, by which threads read what they
/// wrote.
llvm::SmallVector<int32_t, 4> orderOf(Operation *op, Value ptr, const AxisInfoAnalysis &axis,
                                      const GlobalAccesses &accessed) {
  auto info = axis.get(ptr);
  llvm::SmallVector<int32_t, 4> order(info.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  if (op->is<tt::LoadOp>() && llvm::all_of(info.contiguity, [](int64_t run) { return run == 1; }) &&
      !accessed.mayBeWritten(ptr))
    if (int reduced = reducedAxis(op->result()); reduced >= 0)
      llvm::stable_sort(order, [&](int a, int b) { return a != reduced && b == reduced; });
  llvm::stable_sort(order, [&](int a, int b) { return info.contiguity[a] > info.contiguity[b]; });
  return order;
}

/// The dimensions with the one first along which alone neighbours lie in one sector of memory, by local strides; of
/// what does not, one along which nothing moves comes first. Empty: there is none.
llvm::SmallVector<int32_t, 4> orderByStrides(Value ptr, llvm::ArrayRef<int32_t> order) {
  constexpr int64_t kSector = 32;
  auto strides = localStrides(ptr);
  int64_t bytes =
      std::max<int64_t>(1, ptr.type().cast<TensorType>().element().cast<PointerType>().pointee().bitWidth() / 8);
  auto rank = [&](int d) {
    auto s = strides[d];
    return s == 0 ? 1 : s && std::abs(*s) < kSector && std::abs(*s) * bytes < kSector ? 0 : 2;
  };
  llvm::SmallVector<int32_t, 4> near(order);
  llvm::stable_sort(near, [&](int a, int b) { return rank(a) < rank(b); });
  return rank(near[0]) < rank(near[1]) ? near : llvm::SmallVector<int32_t, 4>();
}

/// Accesses of which no run is proved take the order of their local strides, unless an access of that shape is proved
/// to run along another dimension: what flows between the two would change its layout, which costs more than it
/// brings.
void orderTheUnproved(llvm::MutableArrayRef<Access> accesses, const GlobalAccesses &accessed) {
  using Shape = std::pair<Operation *, llvm::SmallVector<int64_t, 4>>;
  auto shapeOf = [](const Access &a) {
    return Shape{a.op->parentOfType<tt::FuncOp>().op,
                 llvm::SmallVector<int64_t, 4>(a.ptr.type().cast<TensorType>().shape())};
  };
  std::map<Shape, llvm::SmallVector<llvm::SmallVector<int32_t, 4>, 4>> proved;
  for (auto &a : accesses)
    if (a.proved) proved[shapeOf(a)].push_back(a.order);
  for (auto &a : accesses) {
    if (a.proved || a.order.size() < 2 ||
        !(a.op->is<tt::LoadOp>() ? !accessed.mayBeWritten(a.ptr)
                                 : a.op->is<tt::StoreOp>() && !accessed.isShared(a.ptr)))
      continue;
    auto order = orderByStrides(a.ptr, a.order);
    if (!order.empty() && llvm::all_of(proved[shapeOf(a)], [&](auto &other) { return other[0] == order[0]; }))
      a.order = order;
  }
}

/// Whether a value is made elementwise from the result of a multiplication: it changes its layout on the way to
/// memory anyway.
bool fromMultiplication(Value v, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = v.definingOp();
  if (!op || !v.type().isTensor() || !seen.insert(op).second) return false;
  if (op->is<tt::DotOp>()) return true;
  if (auto loop = op->dyn<scf::ForOp>())
    return fromMultiplication(loop.body().front()->terminator()->operand(v.index()), seen);
  if (!op->info().has(kElementwise) && !op->is<ttg::ConvertLayoutOp>() && !op->is<arith::SelectOp>()) return false;
  return llvm::any_of(op->operands(), [&](Value o) { return fromMultiplication(o, seen); });
}

/// Whether a loaded value, as it is or after elementwise work, is multiplied as a matrix.
bool intoMultiplication(Value v, llvm::SmallPtrSetImpl<Operation *> &seen) {
  return llvm::any_of(v.users(), [&](Operation *user) {
    if (!seen.insert(user).second) return false;
    if (user->is<tt::DotOp>() || user->is<tt::DotScaledOp>() || user->is<ttg::LocalAllocOp>()) return true;
    bool passes = user->info().has(kElementwise) || user->is<ttg::ConvertLayoutOp>() || user->is<tt::TransOp>() ||
                  user->is<tt::ReshapeOp>();
    return passes && user->numResults() == 1 && intoMultiplication(user->result(), seen);
  });
}

/// Whether a matrix of bytes is loaded for a multiplication by rows that run across K. They are turned byte by byte
/// on their way, so that wide accesses have no use.
bool isTurnedByBytes(const Access &a) {
  auto load = a.op->dyn<tt::LoadOp>();
  unsigned rank = a.order.size();
  if (!load || a.bytes != 1 || rank < 2) return false;
  for (Operation *user : load.result().users()) {
    Value v = load.result();
    bool turned = false;
    while (user && (user->is<ttg::ConvertLayoutOp>() || user->is<tt::BitcastOp>() || user->is<tt::TransOp>()) &&
           user->result().hasOneUse()) {
      if (user->is<tt::TransOp>()) turned = !turned;
      v = user->result(), user = *v.users().begin();
    }
    auto dot = user->dyn<tt::DotOp>();
    if (!dot) continue;
    unsigned k = (dot.a() == v) != turned ? rank - 1 : rank - 2;
    if (a.order[0] != int32_t(k)) return true;
  }
  return false;
}

/// Whether a load's mask is the same for all rows, a row being what lies along the first dimension of the order.
/// Where each row has a mask of its own (convolutions), the fewer of them a thread has the less it computes.
bool rowsAreAlike(const Access &a, const AxisInfoAnalysis &axis) {
  auto load = a.op->dyn<tt::LoadOp>();
  if (!load) return false;
  if (!load.mask()) return true;
  auto shape = a.ptr.type().cast<TensorType>().shape();
  AxisInfo mask = axis.get(load.mask());
  for (unsigned d = 0; d < shape.size(); ++d)
    if (int32_t(d) != a.order[0] && mask.constancy[d] < shape[d]) return false;
  return true;
}

void relayout(Operation *op, const layouts::Encoding *e) {
  Builder b(op);
  for (unsigned i = 0; i < op->numOperands(); ++i)
    if (auto t = op->operand(i).type().dyn_cast<TensorType>(); t && t.encoding() != e)
      op->setOperand(i, ttg::ConvertLayoutOp::create(b, op->loc(), t.withEncoding(e), op->operand(i)).result());
  b.setInsertionPointAfter(op);
  for (auto r : op->results()) {
    auto t = r.type().dyn_cast<TensorType>();
    if (!t || t.encoding() == e) continue;
    r.setType(t.withEncoding(e));
    auto back = ttg::ConvertLayoutOp::create(b, op->loc(), t, r);
    r.replaceUsesIf(back.result(), [&](OpOperand &u) { return u.owner != back.op; });
  }
}

} // namespace

absl::StatusOr<bool> coalesce(Module &m, PassContext &context) {
  AxisInfoAnalysis axis(m);
  GlobalAccesses accessed(m);
  int warps = numWarps(m.op()), lanes = threadsPerWarp(m.op());
  std::vector<Access> accesses;
  // By function, order and length of the fastest dimension: the shapes of the others may differ, as those of a matrix
  // and of a row that is broadcast to it. What goes into multiplications or comes from them by whole shapes.
  using Key = std::tuple<Operation *, llvm::SmallVector<int32_t, 4>, llvm::SmallVector<int64_t, 4>, bool>;
  std::map<Key, llvm::SmallVector<const Access *, 8>> groups;
  auto keyOf = [](const Access &a) {
    auto shape = a.ptr.type().cast<TensorType>().shape();
    return Key{a.op->parentOfType<tt::FuncOp>().op, a.order,
               a.multiplied ? llvm::SmallVector<int64_t, 4>(shape) : llvm::SmallVector<int64_t, 4>{shape[a.order[0]]},
               a.multiplied};
  };
  m.op()->walk([&](Operation *op) {
    Value ptr = pointerOf(op);
    if (!ptr) return;
    Access a{op, ptr, orderOf(op, ptr, axis, accessed)};
    a.proved = axis.get(ptr).contiguity[a.order[0]] > 1;
    accesses.push_back(a);
  });
  orderTheUnproved(accesses, accessed);
  for (auto &a : accesses) {
    Operation *op = a.op;
    Value ptr = a.ptr;
    auto strides = localStrides(ptr);
    auto type = ptr.type().cast<TensorType>();
    Type element = type.element().cast<PointerType>().pointee();
    a.bytes = std::max<int64_t>(1, element.bitWidth() / 8);
    int64_t perThread = std::max<int64_t>(1, type.numElements() / (int64_t(warps) * lanes)),
            most = std::max<int64_t>(1, 16 / a.bytes);
    if (auto atomic = op->dyn<tt::AtomicRmwOp>(); atomic && atomic.atomicRmwOp() == RmwOp::Fadd && context.target)
      most = context.target->atomicAddElements(element.bitWidth(), element.isFloat(FloatKind::BF16),
                                               !atomic.result().useEmpty());
    else if (!op->is<tt::LoadOp>() && !op->is<tt::StoreOp>())
      most = 1;
    a.width = std::min({axis.contiguousElements(ptr, a.order[0]), most, perThread, type.dim(a.order[0])});
    // Elements that are equal, or far from each other, cost as much in any layout, and few cost little. What is known
    // of nothing (an index that is loaded) is taken to be far, but for atomic operations, which lose most where it is
    // not.
    auto stride = strides[a.order[0]];
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (auto store = op->dyn<tt::StoreOp>())
      a.multiplied = !accessed.isShared(ptr) && fromMultiplication(store.value(), seen);
    else if (op->is<tt::LoadOp>())
      a.multiplied = !accessed.mayBeWritten(ptr) && intoMultiplication(op->result(), seen);
    bool near = stride ? std::abs(*stride) == 1 : isAtomic(op);
    a.indifferent = a.width == 1 && (!near || type.numElements() < int64_t(warps) * lanes);
  }
  for (auto &a : accesses)
    if (auto &group = groups[keyOf(a)]; !a.indifferent) group.push_back(&a);
  // Scans take few steps between lanes where each thread has many elements in a row; loads for multiplications are
  // copies as wide as can be, or, where nothing runs, less index arithmetic the fewer rows a thread has. What a
  // multiplication made changes its layout on the way to memory, so that its stores are each as wide as they can be.
  llvm::DenseSet<Operation *> scanning;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::ScanOp>()) scanning.insert(op->parentOfType<tt::FuncOp>().op);
  });
  std::map<Key, int64_t> widths;
  for (auto &[key, group] : groups)
    widths[key] = scanning.contains(std::get<0>(key)) || std::get<3>(key) ? widestOf(group) : widthOf(group);
  for (auto &a : accesses) {
    auto type = a.ptr.type().cast<TensorType>();
    llvm::SmallVector<int32_t, 4> size(type.rank(), 1);
    int64_t width = widths[keyOf(a)];
    if (a.multiplied && a.op->is<tt::StoreOp>()) width = a.width;
    // What is loaded by less than a word at a time comes from fewer sectors if lanes are beside each other.
    if (a.multiplied && a.bytes < 4 && ((a.width == 1 && rowsAreAlike(a, axis)) || isTurnedByBytes(a)))
      width = std::min(width, 4 / a.bytes);
    size[a.order[0]] = int32_t(width);
    auto *e = *m.context().encodings().getBlocked(
        layouts::blockedParamsFor(type.shape(), size, a.order, warps, lanes, type.encoding()->cta()));
    relayout(a.op, e);
  }
  return !accesses.empty();
}

} // namespace tessera::transforms
