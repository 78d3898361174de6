// Lowering of bulk copies of tensors between global and shared memory, which are done by a unit of the multiprocessor
// (NVIDIA's TMA), and of the barriers in shared memory that signal their arrival:
//
//   ttng.tensormap_create             one warp describes the tensor in 128 bytes: address, sizes, strides, box, swizzle
//   ttng.tensormap_fenceproxy_acquire … and makes the description visible to the unit; the other warps wait
//   ttng.async_tma_copy_*             one thread of the first warp starts a copy, box by box; many boxes are started by
//                                     one thread of each warp, boxes of the rows of warp groups by one of each group
//   ttng.*_barrier                    one thread of the first warp changes a barrier's state; all threads wait
//
// One copy moves a box: at most 256 elements along a dimension, and along the innermost one as many as the swizzle
// spans. Boxes follow each other in shared memory; the buffer's linear layout gives the place in the tensor of each
// one's first element. Descriptors of tensors are pointers to their 128 bytes, as generic addresses.
//
// Not lowered: copies of several blocks of a cluster (multicast), im2col copies, parts of buffers that are not made of
// whole boxes, buffers under layouts other than #ttg.nvmma_shared without padding.
#include "codegen/lowering/shared_access.h"
#include "codegen/lowering/target.h"
#include "ir/attribute_names.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/nvmma_shared.h"
#include "transforms/memory/warp_group_stores.h"
#include "transforms/memory/warp_groups.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

namespace {

llvm::Value *addressOf(Value desc, FunctionLowering &fl) { return fl.get(desc)[0]; }

// ---- boxes ----

constexpr int64_t kBoxAlignment = 128; // bytes, in shared memory (PTX ISA, cp.async.bulk.tensor)

struct Box {
  int64_t offset = 0;                        // bytes in shared memory
  llvm::SmallVector<int32_t, 5> coordinates; // in the block, outermost dimension first
};

/// Whether a copy through a tensor map that was made for one of the layouts moves a block as the other has it.
bool sameInMemory(const layouts::NvmmaSharedParams &a, const layouts::NvmmaSharedParams &b) {
  return a.swizzlingByteWidth == b.swizzlingByteWidth && a.elementBitWidth == b.elementBitWidth &&
         a.transposed == b.transposed && a.fp4Padded == b.fp4Padded;
}

/// The launcher makes the tensor map of an argument for the layout of the argument's type: the buffer has the same.
/// What a program makes itself it may describe as it likes.
bool checkLayouts(Operation *op, Value desc, MemDescType buffer, FunctionLowering &fl) {
  auto *ofDescriptor = layouts::dynCast<layouts::NvmmaSharedEncoding>(desc.type().cast<TensorDescType>().encoding());
  auto *ofBuffer = layouts::dynCast<layouts::NvmmaSharedEncoding>(buffer.encoding());
  if (!ofDescriptor || !ofBuffer || desc.definedBy<ttng::ReinterpretTensorDescriptorOp>()) return true;
  return sameInMemory(ofDescriptor->params(), ofBuffer->params()) ||
         fl.error(op, "copies between a buffer under " + buffer.encoding()->str() +
                          " and a tensor map that is made for " + ofDescriptor->str() + "; they must be the same");
}

bool isPart(MemDescType buffer) { return buffer.allocShape().take_back(buffer.rank()) != buffer.shape(); }

/// Where a part begins in the whole buffer; none if that is not constant.
std::optional<llvm::SmallVector<int64_t, 5>> beginOfPart(Value part) {
  llvm::SmallVector<int64_t, 5> begin(part.type().cast<MemDescType>().rank(), 0);
  while (isPart(part.type().cast<MemDescType>())) {
    if (Value captured = captureOf(part)) {
      part = captured;
      continue;
    }
    auto slice = part.definedBy<ttg::MemdescSubsliceOp>();
    if (!slice) return std::nullopt;
    for (auto [at, offset] : llvm::zip_equal(begin, slice.offsets())) at += offset;
    part = slice.src();
  }
  return begin;
}

/// Moves the boxes of a part of a buffer, `elements` each, to where they lie in the whole buffer. There each must be in
/// one piece, with the swizzle's rows as it has them; `layout` is the part's. False after a diagnostic.
bool placeInWhole(Operation *op, Value part, const layouts::LinearLayout &layout, int64_t elements,
                  FunctionLowering &fl, llvm::SmallVectorImpl<Box> &boxes) {
  auto type = part.type().cast<MemDescType>();
  auto refuse = [&] { return fl.error(op, "copies a part of a buffer that is not made of whole boxes"); };
  auto whole = sharedLayoutOf(type);
  if (!whole.ok()) return fl.error(op, std::string(whole.status().message()));
  if (layout.numOutDims() != type.rank() || whole->numOutDims() != type.rank()) return refuse();
  for (unsigned bit = 0; bit < unsigned(llvm::Log2_64(uint64_t(elements))); ++bit)
    for (unsigned d = 0; d < type.rank(); ++d)
      if (layout.basis(Dim::Offset, bit)[d] != whole->basis(Dim::Offset, bit)[d]) return refuse();
  auto begin = beginOfPart(part);
  if (!begin) return fl.error(op, "copies a part of a buffer whose place is not constant");
  layouts::LinearLayout offsetOf = whole->pseudoInvert();
  for (Box &b : boxes) {
    llvm::SmallVector<std::pair<Dim, int32_t>, 5> at;
    for (auto [d, c] : llvm::enumerate(b.coordinates))
      at.push_back({layouts::tensorDim(unsigned(d)), c + int32_t((*begin)[d])});
    int64_t first = offsetOf.apply(at)[0];
    if (first % elements) return refuse();
    b.offset = first * type.element().bitWidth() / 8;
    if (b.offset % kBoxAlignment)
      return fl.error(op, "copies a part of a buffer that begins at byte " + llvm::Twine(b.offset) +
                              "; bulk copies need multiples of " + llvm::Twine(kBoxAlignment));
  }
  return true;
}

/// The boxes of a block, of `rows` rows unless that is 0; false after a diagnostic.
bool boxesOf(Operation *op, Type desc, Value view, int64_t rows, FunctionLowering &fl,
             llvm::SmallVectorImpl<Box> &out) {
  auto buffer = view.type().cast<MemDescType>();
  auto block = desc.cast<TensorDescType>();
  auto refuse = [&](const llvm::Twine &why) { return fl.error(op, why); };
  auto *encoding = layouts::dynCast<layouts::NvmmaSharedEncoding>(buffer.encoding());
  if (!encoding)
    return refuse("copies a buffer under " + buffer.encoding()->str() +
                  "; the unit that copies knows #ttg.nvmma_shared");
  llvm::ArrayRef<int64_t> shape = buffer.shape();
  // A block with leading dimensions of size 1 may be copied to a buffer without them.
  const layouts::Encoding *under = encoding;
  if (block.rank() != buffer.rank()) {
    under = block.encoding();
    if (block.encoding()) encoding = layouts::dynCast<layouts::NvmmaSharedEncoding>(block.encoding());
    if (!under || !encoding)
      return refuse("copies between a block of " + llvm::Twine(block.rank()) + " and a buffer of " +
                    llvm::Twine(buffer.rank()) + " dimensions");
    shape = block.shape();
    int64_t n = 1;
    for (auto d : shape) n *= d;
    if (n != buffer.numElements()) return refuse("copies between a block and a buffer of different sizes");
  }
  auto &p = encoding->params();
  if (p.fp4Padded || (p.transposed && shape.size() > 1) || !p.cta.isTrivial())
    return refuse("copies a buffer under " + encoding->str() + ", which its lowering does not know");
  if (shape.size() > 5) return refuse("copies blocks of " + llvm::Twine(shape.size()) + " dimensions; there may be 5");
  unsigned bits = buffer.element().bitWidth();
  if (bits < 8 || bits != unsigned(p.elementBitWidth))
    return refuse("copies elements of " + buffer.element().str() + " under " + encoding->str());
  auto box = encoding->copyBox(shape);
  auto layout = encoding->toLinearLayout(shape);
  if (!box.ok()) return refuse(std::string(box.status().message()));
  if (!layout.ok()) return refuse(std::string(layout.status().message()));
  if (rows && (shape.size() != 2 || rows < 0 || rows % layouts::kSwizzleRows || (*box)[0] % rows))
    return refuse("copies " + llvm::Twine(rows) + " rows at once; the layout has boxes of " + llvm::Twine((*box)[0]));
  if (rows) (*box)[0] = rows;
  int64_t elements = 1, all = 1;
  for (auto d : *box) elements *= d;
  for (auto d : shape) all *= d;
  if (box->back() * int64_t(bits) % 128)
    return refuse("copies rows of " + llvm::Twine(box->back() * bits / 8) + " bytes; they must be a multiple of 16");
  for (int64_t at = 0; at < all; at += elements) {
    Box b;
    b.offset = at * bits / 8;
    auto first = layout->apply({{Dim::Offset, int32_t(at)}});
    b.coordinates.assign(first.begin(), first.end());
    out.push_back(std::move(b));
  }
  return !isPart(buffer) || placeInWhole(op, view, *layout, elements, fl, out);
}

/// Whether all warps start boxes of a copy: one thread starts one after the other. What goes to global memory must be
/// marked, since one thread waits for it otherwise; a map that the kernel makes is acquired by one thread alone.
bool startsInAllWarps(Operation *op, TensorCopy::Kind kind, Value desc, size_t boxes, FunctionLowering &fl) {
  bool isArgument = desc.isBlockArgument() && desc.ownerBlock()->parentOp()->is<tt::FuncOp>();
  bool mayStart = kind == TensorCopy::ToShared || op->hasAttr(kEachWarpStartsAttr);
  return mayStart && isArgument && int64_t(boxes) >= fl.target.info().tuning.boxesOfAllWarps;
}

/// The rows that each warp group of a copy from shared memory moves at once; 0: one thread moves all. Nothing after a
/// diagnostic: the launcher makes one tensor map for all copies through an argument.
std::optional<int64_t> rowsOfGroups(Operation *op, Value desc, FunctionLowering &fl) {
  auto attribute = op->attr<IntegerAttr>(kWarpGroupRowsAttr);
  int64_t rows = attribute ? attribute.sext() : 0;
  if (!transforms::isArgumentOfFunction(desc)) {
    if (rows) return fl.error(op, "copies the rows of warp groups; its descriptor must be an argument"), std::nullopt;
    return 0;
  }
  if (transforms::rowsOfCopies(desc) == rows) return rows;
  return fl.error(op, "copies boxes of other sizes than another use of its descriptor"), std::nullopt;
}

/// The boxes that a warp starts, or a warp group, of each run of `warps` boxes one. Their places are linear in the bits
/// of their number: in the number of the run's first box, and in the warp's.
class WarpBoxes {
public:
  WarpBoxes(llvm::ArrayRef<Box> boxes, size_t warps, bool areGroups, FunctionLowering &fl)
      : boxes_(boxes), warps_(warps), areGroups_(areGroups), fl_(fl) {
    if (areGroups_)
      warp_ = fl.warpGroup();
    else if (warps_ > 1)
      warp_ = fl.warpId();
  }

  /// Whether the thread starts copies.
  llvm::Value *acts() {
    if (areGroups_) return fl_.leaderOfWarpGroup();
    if (!warp_) return fl_.leader();
    return fl_.b.CreateAnd(fl_.target.electThread(fl_.b), fl_.b.CreateICmpULT(warp_, fl_.i32(int32_t(warps_))));
  }
  llvm::Value *coordinate(size_t first, unsigned d) {
    llvm::Value *sum = fl_.i32(boxes_[first].coordinates[d]);
    for (size_t bit = 1; bit < warps_; bit *= 2) {
      int32_t step = boxes_[bit].coordinates[d];
      if (!step) continue;
      llvm::Value *isSet = fl_.b.CreateAnd(fl_.b.CreateLShr(warp_, llvm::Log2_64(bit)), fl_.i32(1));
      sum = fl_.b.CreateAdd(sum, fl_.b.CreateMul(isSet, fl_.i32(step)));
    }
    return sum;
  }
  /// Bytes from the start of the buffer.
  llvm::Value *offset(size_t first) {
    llvm::Value *sum = fl_.b.getInt64(boxes_[first].offset);
    if (!warp_) return sum;
    return fl_.b.CreateAdd(
        sum, fl_.b.CreateMul(fl_.b.CreateZExt(warp_, fl_.b.getInt64Ty()), fl_.b.getInt64(boxes_[1].offset)));
  }

private:
  llvm::ArrayRef<Box> boxes_;
  size_t warps_;
  bool areGroups_;
  FunctionLowering &fl_;
  llvm::Value *warp_ = nullptr; // its number, or that of its group
};

bool copy(Operation *op, TensorCopy::Kind kind, Value desc, OperandRange coordinates, Value buffer, Value barrier,
          Value pred, FunctionLowering &fl) {
  auto &b = fl.b;
  auto type = buffer.type().cast<MemDescType>();
  llvm::SmallVector<Box, 4> boxes;
  auto rows = rowsOfGroups(op, desc, fl);
  if (!rows || !boxesOf(op, desc.type(), buffer, *rows, fl, boxes) || !checkLayouts(op, desc, type, fl)) return false;
  if (coordinates.size() != boxes[0].coordinates.size())
    return fl.error(op, "has " + llvm::Twine(coordinates.size()) + " coordinates in a tensor of " +
                            llvm::Twine(boxes[0].coordinates.size()) + " dimensions");
  size_t warps = !isPart(type) && startsInAllWarps(op, kind, desc, boxes.size(), fl)
                     ? llvm::bit_floor(std::min<size_t>(boxes.size(), fl.numWarps()))
                     : 1;
  if (*rows) {
    if (isPart(type)) return fl.error(op, "copies the rows of warp groups from a part of a buffer");
    warps = size_t(fl.numWarps()) / transforms::kWarpGroup;
    bool areInTurn = fl.specialized() && !fl.inPartition() && warps && boxes.size() % warps == 0;
    for (size_t k = 0; areInTurn && k < warps; ++k) areInTurn = boxes[k].coordinates[0] == int64_t(k) * *rows;
    if (!areInTurn)
      return fl.error(op, "copies the rows of warp groups; a box must have rows of each one beside partitions");
  }
  WarpBoxes mine(boxes, warps, *rows != 0, fl);
  llvm::Value *acts = mine.acts();
  if (pred) acts = b.CreateAnd(acts, fl.scalar(pred));
  for (size_t i = 0; i < boxes.size(); i += warps) {
    TensorCopy c;
    c.kind = kind;
    if (auto reduce = op->dyn<ttng::AsyncTmaReduceOp>()) c.reduction = reduce.kind();
    c.map = fl.scalar(desc);
    for (unsigned d = coordinates.size(); d-- > 0;)
      c.coordinates.push_back(b.CreateAdd(fl.scalar(coordinates[d]), mine.coordinate(i, d)));
    c.shared = b.CreateGEP(b.getInt8Ty(), addressOf(buffer, fl), mine.offset(i));
    if (barrier) c.barrier = addressOf(barrier, fl);
    fl.target.copyTensor(b, c, acts);
  }
  if (kind != TensorCopy::ToShared) fl.target.commitTensorCopies(b);
  return true;
}

// ---- descriptions ----

bool create(ttng::TensormapCreateOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  unsigned rank = op.globalDim().size();
  if (rank < 1 || rank > 5)
    return fl.error(op, "describes a tensor of " + llvm::Twine(rank) + " dimensions; there may be 1 to 5");
  if (op.boxDim().size() != rank || op.elementStride().size() != rank || op.globalStride().size() != rank - 1)
    return fl.error(op, "must have as many box sizes and element strides as sizes, and one stride less");
  auto within = [&](int64_t v, int64_t most, const char *what) {
    return (v >= 0 && v <= most) ||
           fl.error(op, llvm::Twine("has ") + what + " = " + llvm::Twine(v) + "; 0 to " + llvm::Twine(most) + " exist");
  };
  if (!within(op.elemType(), 15, "elem_type") || !within(op.interleaveLayout(), 2, "interleave_layout") ||
      !within(op.swizzleMode(), 3, "swizzle_mode") || !within(op.fillMode(), 1, "fill_mode"))
    return false;
  TensorMap map;
  map.address = fl.scalar(op.globalAddress());
  map.map = fl.scalar(op.descPtr());
  auto as = [&](Value v, unsigned bits) { return b.CreateSExtOrTrunc(fl.scalar(v), b.getIntNTy(bits)); };
  for (auto v : op.boxDim()) map.box.push_back(as(v, 32));
  for (auto v : op.globalDim()) map.size.push_back(as(v, 32));
  for (auto v : op.globalStride()) map.stride.push_back(as(v, 64));
  for (auto v : op.elementStride()) map.elementStride.push_back(as(v, 32));
  map.elementType = op.elemType(), map.interleave = op.interleaveLayout(), map.swizzle = op.swizzleMode(),
  map.fill = op.fillMode();
  llvm::Value *first = b.CreateICmpEQ(fl.warpId(), fl.i32(0)), *lane = fl.laneId(), *one = fl.leader(),
              *shared = fl.scratch(op);
  fl.inBranch(first, [&] { fl.target.makeTensorMap(b, map, shared, lane, one); });
  return true;
}

/// A loop until the barrier's phase is complete; nothing where the predicate is false.
bool wait(ttng::WaitBarrierOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  llvm::Value *barrier = addressOf(op.alloc(), fl), *parity = fl.scalar(op.phase());
  fl.inBranch(op.pred() ? fl.scalar(op.pred()) : nullptr, [&] {
    llvm::BasicBlock *loop = fl.newBlock("wait");
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::Value *complete = fl.target.testBarrier(b, barrier, parity);
    llvm::BasicBlock *arrived = fl.newBlock("arrived");
    b.CreateCondBr(complete, arrived, loop);
    b.SetInsertPoint(arrived);
  });
  return true;
}

/// Barriers in shared memory (mbarrier), by which copies are waited for.
bool lowerMemoryBarrier(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  switch (op->opcode()) {
  case Opcode::ttng_init_barrier: {
    auto i = op->cast<ttng::InitBarrierOp>();
    if (i.count() < 1 || i.count() >= 1 << 20)
      return fl.error(op, "is a barrier of " + llvm::Twine(i.count()) + " arrivals; there must be 1 to 2^20 - 1");
    fl.target.initBarrier(b, addressOf(i.alloc(), fl), unsigned(i.count()), fl.leader());
    return true;
  }
  case Opcode::ttng_inval_barrier:
    fl.target.invalidateBarrier(b, addressOf(op->cast<ttng::InvalBarrierOp>().alloc(), fl), fl.leader());
    return true;
  case Opcode::ttng_barrier_expect: {
    auto e = op->cast<ttng::BarrierExpectOp>();
    if (e.size() < 0 || e.size() >= 1 << 20)
      return fl.error(op, "expects " + llvm::Twine(e.size()) + " bytes; there may be 2^20 - 1");
    fl.target.arriveAtBarrier(b, addressOf(e.alloc(), fl), 1, e.size(), b.CreateAnd(fl.leader(), fl.scalar(e.pred())));
    return true;
  }
  case Opcode::ttng_arrive_barrier: {
    auto a = op->cast<ttng::ArriveBarrierOp>();
    llvm::Value *acts = a->hasAttr(kEachWarpArrivesAttr) ? fl.target.electThread(b) : fl.leader();
    if (a.pred()) acts = b.CreateAnd(acts, fl.scalar(a.pred()));
    fl.target.arriveAtBarrier(b, addressOf(a.alloc(), fl), unsigned(a.count()), 0, acts);
    return true;
  }
  case Opcode::ttng_wait_barrier: return wait(op->cast<ttng::WaitBarrierOp>(), fl);
  default: return fl.error(op, "is not a bulk copy of a tensor");
  }
}

} // namespace

bool lowerTensorCopy(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  if (!fl.target.info().hasTensorCopy)
    return fl.error(op, "cannot be lowered: " + fl.target.info().name +
                            " has no bulk copies of tensors and no barriers in shared memory");
  switch (op->opcode()) {
  case Opcode::ttng_tensormap_create: return create(op->cast<ttng::TensormapCreateOp>(), fl);
  case Opcode::ttng_tensormap_fenceproxy_acquire: {
    llvm::Value *map = fl.scalar(op->cast<ttng::TensormapFenceproxyAcquireOp>().descPtr());
    fl.inBranch(b.CreateICmpEQ(fl.warpId(), fl.i32(0)), [&] { fl.target.acquireTensorMap(b, map); });
    fl.barrier(true);
    return true;
  }
  case Opcode::ttng_reinterpret_tensor_descriptor: {
    auto r = op->cast<ttng::ReinterpretTensorDescriptorOp>();
    fl.set(r.result(), b.CreateAddrSpaceCast(fl.scalar(r.rawDesc()), b.getPtrTy()));
    return true;
  }
  case Opcode::ttng_async_tma_copy_global_to_local: {
    auto c = op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>();
    if (!c.offsets().empty() || c.multicast())
      return fl.error(op, c.multicast() ? "copies to several blocks, which its lowering does not know"
                                        : "is an im2col copy, which its lowering does not know");
    return copy(op, TensorCopy::ToShared, c.desc(), c.coord(), c.result(), c.barrier(), c.pred(), fl);
  }
  case Opcode::ttng_async_tma_copy_local_to_global: {
    auto c = op->cast<ttng::AsyncTmaCopyLocalToGlobalOp>();
    return copy(op, TensorCopy::ToGlobal, c.desc(), c.coord(), c.src(), {}, {}, fl);
  }
  case Opcode::ttng_async_tma_reduce: {
    auto c = op->cast<ttng::AsyncTmaReduceOp>();
    return copy(op, TensorCopy::Reduce, c.desc(), c.coord(), c.src(), {}, {}, fl);
  }
  case Opcode::ttng_async_tma_store_wait: {
    auto wait = op->cast<ttng::AsyncTmaStoreWaitOp>();
    fl.target.waitForTensorCopies(b, unsigned(wait.pendings()), wait.readOnly());
    return true;
  }
  default: return lowerMemoryBarrier(op, fl);
  }
}

} // namespace tessera::codegen
