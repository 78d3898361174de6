// The verifier's hooks of what reads, writes or names memory: pointers, buffers in shared memory, descriptors (see
// verifier.h).
#include "ir/verify_hook.h"
#include "layouts/padded_shared.h"
#include "layouts/tensor_memory_places.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::ir {

// ---- global memory --------------------------------------------------------------------------------------------------

bool checkMask(Operation *op, DiagnosticEngine &diag, Value mask, Type accessed, unsigned operand) {
  if (!mask || sameShape(mask.type(), accessed)) return true;
  return opError(op, diag,
                 "needs a mask of type " + accessed.withScalar(accessed.context()->i1()).str() + ", not " +
                     mask.type().str(),
                 op->operandGroupStart(operand));
}
/// The value for masked-off elements, if there is one, is of the type that the operation reads. `operand`: its place in
/// the operation's row.
static bool checkOther(Operation *op, DiagnosticEngine &diag, Value other, Type read, unsigned operand) {
  if (!other || other.type() == read) return true;
  return opError(op, diag, "the value for masked-off elements must be " + read.str() + ", not " + other.type().str(),
                 op->operandGroupStart(operand));
}
/// The type of what is read or written through a pointer, or through a tensor of pointers.
static Type accessedType(Value ptr) { return ptr.type().withScalar(pointeeOf(ptr)); }
HOOK(tt_addptr) {
  auto a = op->cast<tt::AddptrOp>();
  return a.ptr().type() == a.result().type() || opError(op, diag, "must give a pointer of its operand's type", 0);
}
HOOK(tt_load) {
  auto l = op->cast<tt::LoadOp>();
  if (isBlockPointer(l.ptr().type())) {
    Type want = l.ptr().type().cast<PointerType>().pointee();
    auto block = want.cast<TensorType>();
    auto read = l.result().type().dyn_cast<TensorType>();
    if (!read || read.element() != block.element() || read.shape() != block.shape())
      return opError(op, diag, "must give " + want.str());
    if (l.mask() || l.other())
      return opError(op, diag, "of a block pointer takes boundaryCheck and padding, not mask and other");
    for (auto d : l.boundaryCheck())
      if (d < 0 || d >= int64_t(want.cast<TensorType>().rank()))
        return opError(op, diag, "boundaryCheck names dimension " + llvm::Twine(d) + ", which the block does not have");
    return true;
  }
  if (!l.boundaryCheck().empty()) return opError(op, diag, "takes boundaryCheck for block pointers only");
  Type want = accessedType(l.ptr());
  if (l.result().type() != want)
    return opError(op, diag, "must give " + want.str() + ", not " + l.result().type().str());
  if (!checkMask(op, diag, l.mask(), l.ptr().type(), 1)) return false;
  if (l.other() && !l.mask()) return opError(op, diag, "has a value for masked-off elements but no mask");
  return checkOther(op, diag, l.other(), want, 2);
}
HOOK(tt_store) {
  auto s = op->cast<tt::StoreOp>();
  if (isBlockPointer(s.ptr().type())) {
    if (s.mask()) return opError(op, diag, "of a block pointer takes boundaryCheck, not a mask");
    Type want = s.ptr().type().cast<PointerType>().pointee();
    auto block = want.cast<TensorType>();
    auto value = s.value().type().dyn_cast<TensorType>();
    if (!value || value.element() != block.element() || value.shape() != block.shape())
      return opError(op, diag, "stores " + s.value().type().str() + " through a pointer to " + want.str(), 1);
    for (auto d : s.boundaryCheck())
      if (d < 0 || d >= int64_t(want.cast<TensorType>().rank()))
        return opError(op, diag, "boundaryCheck names dimension " + llvm::Twine(d) + ", which the block does not have");
    return true;
  }
  Type want = accessedType(s.ptr());
  if (s.value().type() != want)
    return opError(op, diag, "stores " + s.value().type().str() + " through a pointer to " + want.str(), 1);
  return checkMask(op, diag, s.mask(), s.ptr().type(), 2);
}

/// Memory is changed at once in units of 8, 16, 32 or 64 bits.
static bool hasAtomicWidth(Type t) { return t.isPointer() || llvm::is_contained({8u, 16u, 32u, 64u}, t.bitWidth()); }
/// Whether memory that holds `type` can be combined with a value by `kind`. `operand`: the value.
static bool canCombine(Operation *op, DiagnosticEngine &diag, RmwOp kind, Type type, unsigned operand) {
  bool isFloat = type.scalar().isFloat(), adds = kind == RmwOp::Fadd, exchanges = kind == RmwOp::Exch;
  if (adds && !isFloat) return opError(op, diag, "fadd needs floats, not " + type.str(), operand);
  if (!hasAtomicWidth(type.scalar()) || (isFloat && !exchanges && type.scalar().bitWidth() < 16))
    return opError(op, diag, "cannot combine values of type " + type.scalar().str() + " in memory", operand);
  bool isForBoth = exchanges || kind == RmwOp::Max || kind == RmwOp::Min;
  if ((isFloat && !adds && !isForBoth) || (type.scalar().isPointer() && !exchanges))
    return opError(op, diag, "combines integers this way, not " + type.str(), operand);
  return true;
}
HOOK(tt_atomic_rmw) {
  auto a = op->cast<tt::AtomicRmwOp>();
  Type want = accessedType(a.ptr());
  if (a.val().type() != want)
    return opError(op, diag, "combines " + a.val().type().str() + " through a pointer to " + want.str(), 1);
  if (a.result().type() != want) return opError(op, diag, "must give " + want.str());
  return checkMask(op, diag, a.mask(), a.ptr().type(), 2) && canCombine(op, diag, a.atomicRmwOp(), want, 1);
}
HOOK(tt_atomic_cas) {
  auto a = op->cast<tt::AtomicCasOp>();
  Type want = accessedType(a.ptr());
  if (a.cmp().type() != want || a.val().type() != want || a.result().type() != want)
    return opError(op, diag, "compares and swaps values of type " + want.str());
  if (!hasAtomicWidth(want.scalar()))
    return opError(op, diag, "cannot compare and swap values of type " + want.scalar().str() + " in memory", 1);
  return true;
}
/// Loads acquire, stores release, and neither need.
static bool hasOrder(Operation *op, DiagnosticEngine &diag, MemSemantic sem, MemSemantic most) {
  auto nameOf = [&](MemSemantic s) { return enumName(*op->info().attr("sem")->enumInfo, int64_t(s)); };
  return sem == MemSemantic::Relaxed || sem == most ||
         opError(op, diag, "can be relaxed or " + nameOf(most) + ", not " + nameOf(sem));
}
HOOK(tt_atomic_load) {
  auto l = op->cast<tt::AtomicLoadOp>();
  Type want = accessedType(l.ptr());
  if (l.result().type() != want) return opError(op, diag, "must give " + want.str());
  if (!hasAtomicWidth(want.scalar()))
    return opError(op, diag, "cannot load values of type " + want.scalar().str() + " at once", 0);
  return checkMask(op, diag, l.mask(), l.ptr().type(), 1) && hasOrder(op, diag, l.sem(), MemSemantic::Acquire);
}
HOOK(tt_atomic_store) {
  auto s = op->cast<tt::AtomicStoreOp>();
  Type want = accessedType(s.ptr());
  if (s.value().type() != want)
    return opError(op, diag, "stores " + s.value().type().str() + " through a pointer to " + want.str(), 1);
  if (!hasAtomicWidth(want.scalar()))
    return opError(op, diag, "cannot store values of type " + want.scalar().str() + " at once", 1);
  return checkMask(op, diag, s.mask(), s.ptr().type(), 2) && hasOrder(op, diag, s.sem(), MemSemantic::Release);
}
HOOK(tt_atomic_poll) {
  auto p = op->cast<tt::AtomicPollOp>();
  Type want = accessedType(p.ptr());
  if (p.expected().type() != want)
    return opError(op, diag, "expects " + p.expected().type().str() + " through a pointer to " + want.str(), 1);
  if (!hasAtomicWidth(want.scalar()))
    return opError(op, diag, "waits for integers of 8, 16, 32 or 64 bits, not " + want.scalar().str(), 1);
  Type bits = want.withScalar(want.context()->i1());
  if (p.result().type() != bits) return opError(op, diag, "must give " + bits.str());
  return hasOrder(op, diag, p.sem(), MemSemantic::Acquire);
}
HOOK(tt_make_tensor_ptr) {
  auto m = op->cast<tt::MakeTensorPtrOp>();
  auto block = m.result().type().cast<PointerType>().pointee().dyn_cast<TensorType>();
  if (!block) return opError(op, diag, "must give a pointer to a tensor");
  unsigned rank = block.rank();
  if (m.shape().size() != rank || m.strides().size() != rank || m.offsets().size() != rank || m.order().size() != rank)
    return opError(op, diag, "needs a shape, strides, offsets and order of rank " + llvm::Twine(rank));
  if (m.base().type().cast<PointerType>().pointee() != block.element())
    return opError(op, diag, "base points to another type than the block holds", 0);
  return true;
}
HOOK(tt_advance) {
  auto a = op->cast<tt::AdvanceOp>();
  auto block = a.ptr().type().cast<PointerType>().pointee().dyn_cast<TensorType>();
  if (!block) return opError(op, diag, "needs a pointer to a tensor", 0);
  if (a.result().type() != a.ptr().type()) return opError(op, diag, "must give a pointer of its operand's type");
  if (a.offsets().size() != block.rank())
    return opError(op, diag, "needs " + llvm::Twine(block.rank()) + " offsets, not " + llvm::Twine(a.offsets().size()));
  for (Value v : a.offsets())
    if (!v.type().isInteger(32)) return opError(op, diag, "needs offsets of type i32, not " + v.type().str());
  return true;
}
/// A buffer access moves `elements`, one at each of `offsets`, through a scalar pointer to their type. `operand`: the
/// offsets.
static bool accessesBuffer(Operation *op, DiagnosticEngine &diag, Value ptr, Value offsets, Type elements,
                           unsigned operand) {
  Type element = ptr.type().cast<PointerType>().pointee();
  if (elements.scalar() != element)
    return opError(op, diag, "accesses " + elements.str() + " through a pointer to " + element.str());
  if (!sameShape(offsets.type(), elements))
    return opError(op, diag, "has offsets of another shape or layout than " + elements.str(), operand);
  return offsets.type().scalar().isInteger(32) ||
         opError(op, diag, "needs offsets of i32, not of " + offsets.type().scalar().str(), operand);
}
HOOK(amdg_buffer_load) {
  auto l = op->cast<amdg::BufferLoadOp>();
  Type read = l.result().type();
  return accessesBuffer(op, diag, l.ptr(), l.offsets(), read, 1) && checkMask(op, diag, l.mask(), read, 3) &&
         checkOther(op, diag, l.other(), read, 4);
}
HOOK(amdg_buffer_store) {
  auto s = op->cast<amdg::BufferStoreOp>();
  Type written = s.value().type();
  return accessesBuffer(op, diag, s.ptr(), s.offsets(), written, 2) && checkMask(op, diag, s.mask(), written, 4);
}
HOOK(amdg_buffer_atomic_rmw) {
  auto a = op->cast<amdg::BufferAtomicRmwOp>();
  Type combined = a.value().type();
  if (a.result().type() != combined) return opError(op, diag, "must give " + combined.str());
  return accessesBuffer(op, diag, a.ptr(), a.offsets(), combined, 1) && checkMask(op, diag, a.mask(), combined, 4) &&
         canCombine(op, diag, a.atomicRmwOp(), combined, 2);
}
HOOK(amdg_buffer_atomic_cas) {
  auto a = op->cast<amdg::BufferAtomicCasOp>();
  Type swapped = a.val().type();
  if (a.cmp().type() != swapped || a.result().type() != swapped)
    return opError(op, diag, "compares and swaps values of type " + swapped.str());
  if (!hasAtomicWidth(swapped.scalar()))
    return opError(op, diag, "cannot compare and swap values of type " + swapped.scalar().str() + " in memory", 3);
  return accessesBuffer(op, diag, a.ptr(), a.offsets(), swapped, 1);
}

// ---- layouts and shared memory --------------------------------------------------------------------------------------

HOOK(ttg_convert_layout) {
  auto convert = op->cast<ttg::ConvertLayoutOp>();
  auto src = convert.src().type().cast<TensorType>(), dst = convert.result().type().cast<TensorType>();
  return (src.shape() == dst.shape() && src.element() == dst.element()) ||
         opError(op, diag, "changes more than the layout");
}
HOOK(ttg_local_alloc) {
  auto a = op->cast<ttg::LocalAllocOp>();
  auto t = a.result().type().cast<MemDescType>();
  if (t.allocShape() != t.shape()) return opError(op, diag, "makes a whole buffer, not " + t.str());
  if (a.src()) {
    auto s = a.src().type().cast<TensorType>();
    if (s.shape() != t.shape() || s.element() != t.element())
      return opError(op, diag, "is filled with " + s.str() + ", which does not match the buffer", 0);
  }
  return true;
}
static MemDescType bufferOf(Value v) { return v.type().cast<MemDescType>(); }

/// A tensor and a buffer that holds it.
static bool sameContents(Operation *op, Value tensor, Value buffer, DiagnosticEngine &diag) {
  auto t = tensor.type().cast<TensorType>();
  auto b = bufferOf(buffer);
  return (t.shape() == b.shape() && t.element() == b.element()) ||
         opError(op, diag, "moves " + t.str() + " from or to a buffer of " + b.str());
}
HOOK(ttg_local_load) { return sameContents(op, op->result(), op->cast<ttg::LocalLoadOp>().src(), diag); }
HOOK(ttg_local_store) {
  auto store = op->cast<ttg::LocalStoreOp>();
  if (!bufferOf(store.dst()).isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 1);
  return sameContents(op, store.src(), store.dst(), diag);
}
HOOK(ttg_local_dealloc) {
  return bufferOf(op->cast<ttg::LocalDeallocOp>().src()).isMutable() ||
         opError(op, diag, "ends a buffer that is not mutable", 0);
}

/// What reads or changes elements of a buffer that a tensor of indices names along an axis: `elements` has one for each
/// index. `operand`: the indices.
static bool namesElements(Operation *op, DiagnosticEngine &diag, Value buffer, Value indices, Value elements,
                          int64_t axis, unsigned operand) {
  auto b = bufferOf(buffer);
  auto t = elements.type().cast<TensorType>();
  if (t.element() != b.element()) return opError(op, diag, "moves " + t.str() + " from or to a buffer of " + b.str());
  if (!sameShape(indices.type(), t))
    return opError(op, diag, "needs indices of the shape and layout of " + t.str() + ", not " + indices.type().str(),
                   operand);
  if (t.rank() != b.rank())
    return opError(op, diag, "needs indices of the buffer's rank, " + llvm::Twine(b.rank()), operand);
  return (axis >= 0 && axis < int64_t(b.rank())) || opError(op, diag, "axis " + llvm::Twine(axis) + " is out of range");
}
HOOK(ttg_local_gather) {
  auto g = op->cast<ttg::LocalGatherOp>();
  return namesElements(op, diag, g.src(), g.indices(), g.result(), g.axis(), 1);
}
HOOK(ttg_local_scatter) {
  auto s = op->cast<ttg::LocalScatterOp>();
  if (!bufferOf(s.dst()).isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 0);
  return namesElements(op, diag, s.dst(), s.indices(), s.values(), s.axis(), 2);
}
HOOK(ttg_local_atomic_scatter_rmw) {
  auto s = op->cast<ttg::LocalAtomicScatterRmwOp>();
  if (!bufferOf(s.dst()).isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 0);
  Type values = s.values().type();
  if (s.result().type() != values) return opError(op, diag, "must give " + values.str());
  return namesElements(op, diag, s.dst(), s.indices(), s.values(), s.axis(), 2) &&
         checkMask(op, diag, s.mask(), values, 3) && canCombine(op, diag, s.atomicRmwOp(), values, 1);
}

// ---- views of buffers -----------------------------------------------------------------------------------------------
//
// A view's type says where its elements are: its layout must be the one that the source's gives it.

/// The shape of the buffer that a view is a part of, in the view's dimensions.
static llvm::ArrayRef<int64_t> wholeShape(MemDescType t) { return t.allocShape().take_back(t.rank()); }

/// The columns of offsets of a shared layout over elements that are numbered with the last of these dimensions running
/// fastest; empty if the layout is not modelled, which is reported elsewhere.
static llvm::SmallVector<uint64_t, 8> columnsOf(const layouts::Encoding *e, llvm::ArrayRef<int64_t> shape,
                                                llvm::ArrayRef<int64_t> dimensions) {
  auto &layout = e->layoutOf(shape);
  if (!layout.ok()) return {};
  llvm::SmallVector<layouts::Dim, 4> fastestFirst;
  for (int64_t d : llvm::reverse(dimensions)) fastestFirst.push_back(layouts::tensorDim(unsigned(d)));
  return layout->transposeOuts(fastestFirst).columns(layouts::Dim::Offset);
}
static llvm::SmallVector<uint64_t, 8> columnsOf(const layouts::Encoding *e, llvm::ArrayRef<int64_t> shape) {
  return columnsOf(e, shape, llvm::to_vector(llvm::seq<int64_t>(0, int64_t(shape.size()))));
}

static bool isOfBuffer(Operation *op, DiagnosticEngine &diag, MemDescType view, llvm::ArrayRef<int64_t> shape) {
  if (wholeShape(view) == shape) return true;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::interleaved(shape, "x");
  return opError(op, diag, "must give a view of a buffer of " + text + ", not " + view.str());
}

static bool haveSamePadding(const layouts::Encoding *a, const layouts::Encoding *b) {
  auto *x = layouts::dynCast<layouts::PaddedSharedEncoding>(a), *y = layouts::dynCast<layouts::PaddedSharedEncoding>(b);
  return x && y ? x->params().paddings == y->params().paddings : x == y;
}

/// `wanted`: the columns that the view's layout must have.
static bool keepsLayout(Operation *op, DiagnosticEngine &diag, MemDescType src, MemDescType dst,
                        llvm::ArrayRef<uint64_t> wanted) {
  auto given = columnsOf(dst.encoding(), wholeShape(dst));
  bool isModelled = !wanted.empty() && !given.empty();
  if (!isModelled || (given == wanted && haveSamePadding(src.encoding(), dst.encoding()))) return true;
  return opError(op, diag, "gives a view whose layout places elements elsewhere than the buffer's: " + dst.str());
}

HOOK(ttg_memdesc_index) {
  auto src = bufferOf(MemdescViewOp(op).src()), dst = bufferOf(op->result());
  if (src.rank() < 2 || dst.rank() + 1 != src.rank() || src.shape().drop_front() != dst.shape())
    return opError(op, diag, "must give the buffer's shape without its first dimension");
  if (src.element() != dst.element()) return opError(op, diag, "changes the element type");
  if (!isOfBuffer(op, diag, dst, wholeShape(src).drop_front())) return false;
  // Layouts of one dimension less leave the first one out; others must have whole buffers one after the other.
  if (src.encoding()->rank() == dst.rank())
    return keepsLayout(op, diag, src, dst, columnsOf(src.encoding(), wholeShape(dst)));
  auto columns = columnsOf(src.encoding(), wholeShape(src));
  if (columns.empty()) return true;
  uint64_t size = 1;
  for (int64_t d : wholeShape(dst)) size *= uint64_t(d);
  for (uint64_t column = size * uint64_t(wholeShape(src)[0]) / 2; column >= size; column /= 2)
    if (!columns.empty() && columns.back() == column) columns.pop_back();
  return columns.empty() || keepsLayout(op, diag, src, dst, columns);
}
HOOK(ttg_memdesc_subslice) {
  auto s = op->cast<ttg::MemdescSubsliceOp>();
  auto src = bufferOf(s.src()), dst = bufferOf(s.result());
  if (src.element() != dst.element()) return opError(op, diag, "changes the element type");
  if (src.rank() != dst.rank() || s.offsets().size() != src.rank())
    return opError(op, diag, "needs an offset for each dimension, and a result of the buffer's rank");
  for (unsigned i = 0; i < src.rank(); ++i) {
    if (s.offsets()[i] < 0 || s.offsets()[i] > src.dim(i) || dst.dim(i) > src.dim(i) - s.offsets()[i])
      return opError(op, diag, "reaches out of the buffer in dimension " + llvm::Twine(i));
    // Accesses combine the bits of a place in the part with those of its offset.
    if (dst.dim(i) && s.offsets()[i] % dst.dim(i))
      return opError(op, diag,
                     "begins at " + llvm::Twine(s.offsets()[i]) + " in dimension " + llvm::Twine(i) +
                         ", which is not a multiple of the part's " + llvm::Twine(dst.dim(i)));
  }
  return isOfBuffer(op, diag, dst, wholeShape(src)) &&
         keepsLayout(op, diag, src, dst, columnsOf(src.encoding(), wholeShape(src)));
}
static bool isPermutation(llvm::ArrayRef<int64_t> order, size_t rank) {
  llvm::SmallVector<int64_t, 4> sorted(order);
  llvm::sort(sorted);
  for (unsigned i = 0; i < sorted.size(); ++i)
    if (sorted[i] != i) return false;
  return sorted.size() == rank;
}
HOOK(ttg_memdesc_trans) {
  auto t = op->cast<ttg::MemdescTransOp>();
  auto src = bufferOf(t.src()), dst = bufferOf(t.result());
  if (!isPermutation(t.order(), src.rank()))
    return opError(op, diag, "needs an order that is a permutation of its dimensions");
  if (dst.rank() != src.rank()) return opError(op, diag, "changes the rank");
  for (unsigned i = 0; i < dst.rank(); ++i)
    if (dst.dim(i) != src.dim(t.order()[i])) return opError(op, diag, "gives a buffer of the wrong shape");
  if (src.element() != dst.element()) return opError(op, diag, "changes the element type");
  return keepsLayout(op, diag, src, dst, columnsOf(src.encoding(), wholeShape(src), t.order()));
}
/// Views of another shape begin where the buffer does.
static bool isWhole(Operation *op, DiagnosticEngine &diag, MemDescType src) {
  return src.shape() == wholeShape(src) || opError(op, diag, "takes a whole buffer, not a part of one: " + src.str());
}
HOOK(ttg_memdesc_reshape) {
  auto src = bufferOf(MemdescViewOp(op).src()), dst = bufferOf(op->result());
  if (src.element() != dst.element()) return opError(op, diag, "changes the element type");
  if (src.numElements() != dst.numElements()) return opError(op, diag, "changes the number of elements");
  return isWhole(op, diag, src) && keepsLayout(op, diag, src, dst, columnsOf(src.encoding(), wholeShape(src)));
}
/// Columns of tensor memory that a buffer takes, all of a multi-buffer's; none if its layout is not modelled.
static std::optional<int64_t> tensorMemoryColumnsOf(MemDescType t) {
  auto *encoding = layouts::dynCast<layouts::TensorMemoryEncoding>(t.encoding());
  if (!encoding || t.rank() < 2) return std::nullopt;
  auto columns = layouts::tensorMemoryColumns(*encoding, t.shape().take_back(2), t.element().bitWidth());
  if (!columns.ok()) return std::nullopt;
  int64_t all = *columns;
  for (int64_t d : t.shape().drop_back(2)) all *= std::min<int64_t>(d, layouts::kTensorMemoryColumns + 1);
  return all;
}
HOOK(ttg_memdesc_reinterpret) {
  auto src = bufferOf(MemdescViewOp(op).src()), dst = bufferOf(op->result());
  if (src.memorySpace() != dst.memorySpace()) return opError(op, diag, "changes the memory space");
  auto columns = tensorMemoryColumnsOf(src), columnsSeen = tensorMemoryColumnsOf(dst);
  if (columns && columnsSeen) // a part of a buffer has its columns to itself
    return *columnsSeen <= *columns || opError(op, diag,
                                               "gives a view of " + llvm::Twine(*columnsSeen) +
                                                   " columns of tensor memory of a buffer of " + llvm::Twine(*columns));
  if (!isWhole(op, diag, src)) return false;
  auto bytes = [](MemDescType t) {
    return llvm::divideCeil(t.numElements() * (t.element().isPointer() ? 64 : t.element().bitWidth()), 8);
  };
  return bytes(dst) <= bytes(src) ||
         opError(op, diag,
                 "gives a view of " + llvm::Twine(bytes(dst)) + " bytes of a buffer of " + llvm::Twine(bytes(src)));
}
HOOK(ttg_async_copy_global_to_local) {
  auto c = op->cast<ttg::AsyncCopyGlobalToLocalOp>();
  auto buffer = bufferOf(c.result());
  if (!buffer.isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 1);
  auto t = c.src().type().dyn_cast<TensorType>();
  if (!t || t.shape() != buffer.shape())
    return opError(op, diag, "copies " + c.src().type().str() + " to a buffer of " + buffer.str(), 0);
  if (t.element().cast<PointerType>().pointee() != buffer.element())
    return opError(op, diag, "copies elements of another type than the buffer's", 0);
  if (!checkMask(op, diag, c.mask(), t, 2)) return false;
  if (c.other() && !c.mask()) return opError(op, diag, "has a value for masked-off elements but no mask");
  return checkOther(op, diag, c.other(), t.withElement(buffer.element()), 3);
}
HOOK(amdg_buffer_load_to_local) {
  auto l = op->cast<amdg::BufferLoadToLocalOp>();
  auto buffer = bufferOf(l.dest());
  if (!buffer.isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 0);
  auto offsets = l.offsets().type().dyn_cast<TensorType>();
  if (!offsets || offsets.shape() != buffer.shape())
    return opError(op, diag, "copies what " + l.offsets().type().str() + " names to a buffer of " + buffer.str(), 2);
  Type read = offsets.withElement(buffer.element());
  return accessesBuffer(op, diag, l.ptr(), l.offsets(), read, 2) && checkMask(op, diag, l.mask(), read, 3) &&
         checkOther(op, diag, l.other(), read, 4);
}

// ---- tensor memory --------------------------------------------------------------------------------------------------

HOOK(ttng_tmem_alloc) {
  auto a = op->cast<ttng::TmemAllocOp>();
  auto t = bufferOf(a.result());
  if (t.allocShape() != t.shape()) return opError(op, diag, "makes a whole buffer, not " + t.str());
  return !a.src() || sameContents(op, a.src(), a.result(), diag);
}
HOOK(ttng_tmem_load) { return sameContents(op, op->result(0), op->cast<ttng::TmemLoadOp>().src(), diag); }
HOOK(ttng_tmem_store) {
  auto store = op->cast<ttng::TmemStoreOp>();
  if (!bufferOf(store.dst()).isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 0);
  return sameContents(op, store.src(), store.dst(), diag);
}
HOOK(ttng_tmem_subslice) {
  auto s = op->cast<ttng::TmemSubsliceOp>();
  auto src = bufferOf(s.src()), dst = bufferOf(s.result());
  if (src.element() != dst.element()) return opError(op, diag, "changes the element type");
  if (src.rank() != 2 || dst.rank() != 2 || src.dim(0) != dst.dim(0))
    return opError(op, diag, "takes columns of a buffer of two dimensions, with all rows");
  return (s.N() >= 0 && s.N() <= src.dim(1) && dst.dim(1) <= src.dim(1) - s.N()) ||
         opError(op, diag, "reaches out of the buffer");
}
HOOK(ttng_tc_gen5_mma) {
  auto m = op->cast<ttng::TcGen5MmaOp>();
  auto a = bufferOf(m.a()), b = bufferOf(m.b()), d = bufferOf(m.d());
  if (a.rank() != 2 || b.rank() != 2 || d.rank() != 2) return opError(op, diag, "needs matrices");
  if (a.dim(1) != b.dim(0))
    return opError(op, diag, "inner dimensions differ: " + llvm::Twine(a.dim(1)) + " and " + llvm::Twine(b.dim(0)));
  return (d.dim(0) == a.dim(0) && d.dim(1) == b.dim(1)) || opError(op, diag, "the accumulator has the wrong shape", 2);
}

HOOK(ttg_async_wait) {
  auto n = op->cast<ttg::AsyncWaitOp>().num();
  return n >= 0 || opError(op, diag, "waits for a number of groups that is at least 0, not " + llvm::Twine(n));
}

/// The PTX ISA's bounds of an mbarrier's counts.
static bool countsArrivals(Operation *op, int64_t count, DiagnosticEngine &diag) {
  return (count >= 1 && count < 1 << 20) ||
         opError(op, diag, "counts 1 to 1048575 arrivals, not " + llvm::Twine(count));
}
HOOK(ttng_init_barrier) { return countsArrivals(op, op->cast<ttng::InitBarrierOp>().count(), diag); }
HOOK(ttng_arrive_barrier) { return countsArrivals(op, op->cast<ttng::ArriveBarrierOp>().count(), diag); }

// ---- descriptors ----------------------------------------------------------------------------------------------------

/// Whether elements have one type, but for the signs of integers: those of a descriptor are for the unit that loads.
static bool sameElements(Type a, Type b) {
  auto signless = [](Type e) {
    auto i = e.dyn_cast<IntegerType>();
    return i ? Type(IntegerType::get(*e.context(), i.width())) : e;
  };
  return signless(a) == signless(b);
}
/// A descriptor's block and the tensor or buffer that is moved through it.
static bool describesBlock(Operation *op, Value desc, Value moved, unsigned indices, DiagnosticEngine &diag) {
  auto d = desc.type().dyn_cast<TensorDescType>();
  if (!d) return opError(op, diag, "needs a tensor descriptor, not " + desc.type().str(), 0);
  auto t = moved.type().cast<ShapedType>();
  if (indices != d.rank())
    return opError(op, diag, "needs " + llvm::Twine(d.rank()) + " indices, not " + llvm::Twine(indices));
  if (!sameElements(d.element(), t.element()) || d.numElements() != t.numElements())
    return opError(op, diag, "moves " + t.str() + " through " + d.str());
  return true;
}
/// A descriptor of rows, and the matrix or buffer of the rows that indices name.
static bool describesRows(Operation *op, Value desc, Value moved, Value rows, DiagnosticEngine &diag) {
  auto d = desc.type().dyn_cast<TensorDescType>();
  auto t = moved.type().dyn_cast<ShapedType>();
  if (!d || !t) return opError(op, diag, "needs a tensor descriptor and what is moved through it", 0);
  bool fits = d.rank() == 2 && t.rank() == 2 && d.dim(1) == t.dim(1) && sameElements(d.element(), t.element());
  if (!fits) return opError(op, diag, "moves " + moved.type().str() + " through " + d.str());
  auto indices = rows.type().dyn_cast<TensorType>();
  return (indices && indices.rank() == 1 && indices.dim(0) == t.dim(0)) ||
         opError(op, diag, "needs a matrix and an index for each of its rows");
}
HOOK(tt_descriptor_gather) {
  auto g = op->cast<tt::DescriptorGatherOp>();
  return describesRows(op, g.desc(), g.result(), g.xOffsets(), diag);
}
HOOK(tt_descriptor_scatter) {
  auto s = op->cast<tt::DescriptorScatterOp>();
  return describesRows(op, s.desc(), s.src(), s.xOffsets(), diag);
}
HOOK(ttng_async_tma_gather) {
  auto g = op->cast<ttng::AsyncTmaGatherOp>();
  return describesRows(op, g.desc(), g.result(), g.xOffsets(), diag);
}
HOOK(ttng_async_tma_scatter) {
  auto s = op->cast<ttng::AsyncTmaScatterOp>();
  return describesRows(op, s.desc(), s.src(), s.xOffsets(), diag);
}
HOOK(ttng_async_tma_copy_global_to_local) {
  auto c = op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>();
  return describesBlock(op, c.desc(), c.result(), c.coord().size(), diag);
}
HOOK(ttng_async_tma_copy_local_to_global) {
  auto c = op->cast<ttng::AsyncTmaCopyLocalToGlobalOp>();
  return describesBlock(op, c.desc(), c.src(), c.coord().size(), diag);
}
HOOK(ttng_async_tma_reduce) {
  auto r = op->cast<ttng::AsyncTmaReduceOp>();
  return describesBlock(op, r.desc(), r.src(), r.coord().size(), diag);
}
HOOK(tt_descriptor_load) {
  auto l = op->cast<tt::DescriptorLoadOp>();
  return describesBlock(op, l.desc(), l.result(), l.indices().size(), diag);
}
HOOK(tt_descriptor_store) {
  auto s = op->cast<tt::DescriptorStoreOp>();
  return describesBlock(op, s.desc(), s.src(), s.indices().size(), diag);
}
HOOK(tt_descriptor_reduce) {
  auto r = op->cast<tt::DescriptorReduceOp>();
  bool isForFloats =
      llvm::is_contained({DescriptorReduceKind::Add, DescriptorReduceKind::Min, DescriptorReduceKind::Max}, r.kind());
  if (r.src().type().scalar().isFloat() && !isForFloats)
    return opError(op, diag, "combines integers this way, not " + r.src().type().str(), 1);
  return describesBlock(op, r.desc(), r.src(), r.indices().size(), diag);
}
HOOK(tt_make_tensor_descriptor) {
  auto m = op->cast<tt::MakeTensorDescriptorOp>();
  auto d = m.result().type().cast<TensorDescType>();
  if (m.shape().size() != d.rank() || m.strides().size() != d.rank())
    return opError(op, diag, "needs a shape and strides for " + counted(d.rank(), "dimension"));
  for (Value v : m.shape())
    if (!v.type().isIntOrIndex()) return opError(op, diag, "needs integers for its shape, not " + v.type().str());
  return true;
}

} // namespace tessera::ir
