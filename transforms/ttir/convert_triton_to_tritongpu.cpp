// Pass convert-triton-to-tritongpu: every tensor of TTIR gets a layout, which makes it TTGIR, and the module says for
// how many threads it is meant.
//
//   %0 = tt.make_range {…} : tensor<128xi32>
//   %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
//   →
//   %0 = tt.make_range {…} : tensor<128xi32, #blocked1>
//   %1 = ttg.convert_layout %0 : … -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
//   %2 = tt.expand_dims %1 {axis = 1 : i32} : … -> tensor<128x1xi32, #blocked2>
//
// The rules are Triton's (lib/Conversion/TritonToTritonGPU): a tensor has the default blocked layout of its shape
// (layouts/blocked.h), except where an operation ties its result's layout to its operands' (broadcast, expand_dims,
// trans, reshape, join, split, cat, reduce, dot). Where an operand has another layout than its operation requires, a
// ttg.convert_layout is inserted; later passes remove nearly all of these. One rule more: the elements of a scan's axis
// that a thread has follow each other, where they are computed from smaller tensors.
//
// A function whose tensors have layouts stays as it is. They must fit the numbers of warps and threads that the module
// gets: a module with layouts usually has these numbers already (`ttg.num-warps`), and then the pass changes nothing.
//
// Runs: NVIDIA pipeline, AMD pipeline.
#include "ir/builder.h"
#include "ir/defined_types.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/stages.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/scan_shape.h"
#include "transforms/analyses/broadcasts.h"
#include "transforms/analyses/reduction.h"
#include "transforms/passes.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

/// An operation and a type that it defines.
struct OperationWithType {
  Operation *op = nullptr;
  TensorType type;
};

/// The first operation in `root` that defines a tensor, or a pointer to one, of which the predicate is true.
OperationWithType findTensor(Operation *root, llvm::function_ref<bool(Operation *, TensorType)> predicate) {
  OperationWithType found;
  root->walk([&](Operation *op) {
    forEachDefinedType(op, [&](Type t) {
      if (auto p = t.dyn_cast<PointerType>()) t = p.pointee();
      if (found.op || !t || !t.isTensor()) return;
      if (predicate(op, t.cast<TensorType>())) found = {op, t.cast<TensorType>()};
    });
  });
  return found;
}

bool hasLayout(Operation *, TensorType t) { return t.encoding(); }
bool lacksLayout(Operation *, TensorType t) { return !t.encoding(); }

class Conversion {
public:
  Conversion(Module &m, int warps, int lanes, int ctas)
      : m_(m), pool_(m.context().encodings()), warps_(warps), lanes_(lanes), ctas_(ctas) {}

  void run() {
    for (auto &op : *m_.body())
      if (op.is<tt::FuncOp>() && !findTensor(&op, hasLayout).op) function(&op);
  }

private:
  const Encoding *defaultFor(llvm::ArrayRef<int64_t> shape) {
    return pool_.defaultBlocked(shape, warps_, lanes_, ctas_);
  }
  Type convert(Type t) {
    if (auto tensor = t.dyn_cast<TensorType>(); tensor && !tensor.encoding())
      return tensor.withEncoding(defaultFor(tensor.shape()));
    if (auto p = t.dyn_cast<PointerType>(); p && p.pointee().isTensor())
      return PointerType::get(convert(p.pointee()), p.addressSpace());
    return t;
  }
  static Type with(Type t, const Encoding *e) { return t.cast<TensorType>().withEncoding(e); }

  /// Converts the i-th operand to a layout, if it is a tensor with another one.
  void require(Operation *op, unsigned i, const Encoding *e) {
    Value v = op->operand(i);
    if (!v.type().isTensor() || encodingOf(v) == e) return;
    Builder b(op);
    op->setOperand(i, ttg::ConvertLayoutOp::create(b, op->loc(), with(v.type(), e), v).result());
  }
  void requireDefault(Operation *op) {
    for (unsigned i = 0; i < op->numOperands(); ++i)
      if (auto t = tensorOrNull(op->operand(i))) require(op, i, defaultFor(t.shape()));
  }
  void setResultsDefault(Operation *op) {
    for (auto r : op->results()) r.setType(convert(r.type()));
  }

  void function(Operation *op) {
    auto f = op->cast<tt::FuncOp>();
    auto type = f.functionType().cast<FunctionType>();
    llvm::SmallVector<Type, 8> ins, outs;
    for (unsigned i = 0; i < type.numInputs(); ++i) ins.push_back(convert(type.input(i)));
    for (unsigned i = 0; i < type.numResults(); ++i) outs.push_back(convert(type.result(i)));
    op->setAttr("function_type", TypeAttr::get(FunctionType::get(m_.context(), ins, outs)));
    region(f.body());
  }
  void region(Region &r) {
    for (auto *b = r.front(); b; b = b->next())
      for (auto *a : b->args()) a->type = convert(a->type);
    for (auto *b = r.front(); b; b = b->next())
      for (auto &op : *b) operation(&op);
  }

  void operation(Operation *op) {
    switch (op->opcode()) {
    case Opcode::arith_constant: return constant(op);
    case Opcode::tt_broadcast: return broadcast(op->cast<tt::BroadcastOp>());
    case Opcode::tt_expand_dims: return expandDims(op->cast<tt::ExpandDimsOp>());
    case Opcode::tt_trans: return trans(op->cast<tt::TransOp>());
    case Opcode::tt_reshape: return reshape(op->cast<tt::ReshapeOp>());
    case Opcode::tt_join: return join(op->cast<tt::JoinOp>());
    case Opcode::tt_split: return split(op->cast<tt::SplitOp>());
    case Opcode::tt_cat: return cat(op->cast<tt::CatOp>());
    case Opcode::tt_reduce: return reduce(op->cast<tt::ReduceOp>());
    case Opcode::tt_scan: return scan(op->cast<tt::ScanOp>());
    case Opcode::tt_dot: return dot(op->cast<tt::DotOp>());
    case Opcode::tt_map_elementwise: return mapElementwise(op->cast<tt::MapElementwiseOp>());
    default: return inDefaultLayouts(op);
    }
  }

  /// Elementwise operations, loads and stores, loops, branches, calls, terminators: operands, results and loop-carried
  /// values in the default layouts of their shapes.
  void inDefaultLayouts(Operation *op) {
    bool isTerminator = op->info().has(kTerminator);
    // The regions of reductions and scans work on scalars.
    if (isTerminator && (op->parentOp()->is<tt::ReduceOp>() || op->parentOp()->is<tt::ScanOp>())) return;
    requireDefault(op);
    setResultsDefault(op);
    // The partitions of a ttg.warp_specialize run on other warps; TTIR has none.
    if (isTerminator) return;
    for (auto &r : op->regions()) region(r);
  }

  void constant(Operation *op) {
    Type t = convert(op->result().type());
    if (auto elements = op->attr<DenseElementsAttr>("value"))
      op->setAttr("value", elements.withType(t.cast<TensorType>()));
    op->result().setType(t);
  }

  void broadcast(tt::BroadcastOp op) { op.result().setType(with(op.result().type(), encodingOf(op.src()))); }

  /// The result's layout is the source's with another dimension; the source is then a slice of it.
  void expandDims(tt::ExpandDimsOp op) {
    unsigned axis = op.axis();
    TensorType source = tensorOf(op.src());
    auto *blocked = layouts::dynCast<layouts::BlockedEncoding>(source.encoding());
    if (!blocked) blocked = layouts::dynCast<layouts::BlockedEncoding>(defaultFor(source.shape()));
    layouts::BlockedParams p = blocked->params();
    p.sizePerThread.insert(p.sizePerThread.begin() + axis, 1);
    p.threadsPerWarp.insert(p.threadsPerWarp.begin() + axis, 1);
    p.warpsPerCta.insert(p.warpsPerCta.begin() + axis, 1);
    p.order.clear();
    for (unsigned i = 0; i < p.sizePerThread.size(); ++i) p.order.push_back(i);
    for (auto &basis : p.cta.bases) basis.insert(basis.begin() + axis, 0);
    auto *e = *pool_.getBlocked(std::move(p));
    op.result().setType(with(op.result().type(), e));
    require(op.op, kSource, *pool_.getSlice(axis, e));
  }

  void trans(tt::TransOp op) {
    TensorType source = tensorOf(op.src());
    op.result().setType(
        with(op.result().type(), layouts::inferTrans(pool_, source.encoding(), op.order(), source.shape())));
  }

  /// In any order means by registers, so that the order follows from layouts, and those differ: tensors that are
  /// combined after they were reshaped must not be reordered.
  void reshape(tt::ReshapeOp op) {
    if (op.allowReorder() && !(isOrderFree(op.result()) && keepsRegisters(op))) op->removeAttr("allow_reorder");
    TensorType source = tensorOf(op.src());
    TensorType result = tensorOf(op.result());
    auto *e = op.allowReorder() ? defaultFor(result.shape())
                                : layouts::inferReshape(pool_, source.encoding(), source.shape(), result.shape());
    op.result().setType(result.withEncoding(e));
  }

  /// Whether registers may keep their values where the result is in the default layout: it then holds copies as the
  /// source's layout does. The source of several reductions may be in one of other copies, and is converted.
  bool keepsRegisters(tt::ReshapeOp op) {
    TensorType source = tensorOf(op.src());
    auto result = tensorOf(op.result()).shape();
    auto &to = defaultFor(result)->layoutOf(result);
    auto isAlike = [&](const Encoding *e) {
      auto &from = e->layoutOf(source.shape());
      return from.ok() && to.ok() && layouts::holdCopiesAlike(*from, *to);
    };
    if (isAlike(source.encoding())) return true;
    if (!isAlike(defaultFor(source.shape()))) return false;
    require(op.op, kSource, defaultFor(source.shape()));
    return true;
  }

  void join(tt::JoinOp op) {
    auto shape = tensorOf(op.lhs()).shape();
    requireDefault(op.op);
    op.result().setType(with(op.result().type(), layouts::inferJoin(pool_, defaultFor(shape), shape)));
  }

  void split(tt::SplitOp op) {
    setResultsDefault(op.op);
    TensorType half = tensorOf(op->result(0));
    require(op.op, kSource, layouts::inferJoin(pool_, half.encoding(), half.shape()));
  }

  /// A thread keeps the elements of both operands, so that its layout must have room for twice as many registers.
  void cat(tt::CatOp op) {
    requireDefault(op.op);
    TensorType result = tensorOf(op.result());
    auto params = layouts::dynCast<layouts::BlockedEncoding>(defaultFor(result.shape()))->params();
    auto registersOf = [](TensorType t) {
      return int64_t(t.encoding()->toLinearLayout(t.shape())->inDimSize(layouts::Dim::Register));
    };
    int64_t needed = llvm::PowerOf2Ceil(2 * registersOf(tensorOf(op.lhs())));
    int64_t present = registersOf(result.withEncoding(defaultFor(result.shape())));
    params.sizePerThread[params.order[0]] *= std::max<int64_t>(1, needed / present);
    op.result().setType(result.withEncoding(*pool_.getBlocked(std::move(params))));
  }

  /// All operands get the first one's layout; the results lack its reduced dimension.
  void reduce(tt::ReduceOp op) {
    auto *e = encodingOf(op.srcs()[0]);
    for (unsigned i = 1; i < op->numOperands(); ++i) require(op.op, i, e);
    for (auto r : op->results())
      if (r.type().isTensor()) r.setType(with(r.type(), *pool_.getSlice(op.axis(), e)));
  }

  /// Where a thread has several chunks of the axis, other warps' parts lie between them, and the warps exchange a total
  /// for each. In one chunk it has one: its elements follow each other. What was loaded would have to be converted.
  const Encoding *inOneChunk(tt::ScanOp op) {
    const Encoding *e = encodingOf(op.srcs()[0]);
    auto *blocked = layouts::dynCast<layouts::BlockedEncoding>(e);
    auto &layout = e->layoutOf(tensorOf(op.srcs()[0]).shape());
    bool isComputed = llvm::all_of(op.srcs(), [](Value v) { return isMadeOfBroadcasts(v); });
    if (!blocked || !layout.ok() || !isComputed) return e;
    auto shape = layouts::scanShape(*layout, op.axis());
    if (!shape.inOrder || shape.chunks == 1) return e;
    auto params = blocked->params();
    params.sizePerThread[op.axis()] = shape.chunk * shape.chunks;
    return *pool_.getBlocked(std::move(params));
  }

  void scan(tt::ScanOp op) {
    auto *e = inOneChunk(op);
    for (unsigned i = 0; i < op->numOperands(); ++i) require(op.op, i, e);
    for (auto r : op->results()) r.setType(with(r.type(), e));
  }

  /// The accumulator's layout has tiles of 4x4 or 2x2 elements per thread, if there are as many, as in Triton's
  /// TritonDotPattern; accelerateMatmul replaces it on targets with matrix instructions. The operands follow it.
  void dot(tt::DotOp op) {
    TensorType type = tensorOf(op.d());
    auto shape = type.shape();
    unsigned rank = shape.size();
    int64_t perThread = type.numElements() / (int64_t(warps_) * lanes_);
    int32_t tile = perThread >= 16 ? 4 : perThread >= 4 ? 2 : 1;
    llvm::SmallVector<int32_t, 4> size(rank, 1);
    size[rank - 1] = size[rank - 2] = tile;
    llvm::SmallVector<int32_t, 4> order;
    for (unsigned i = 0; i < rank; ++i) order.push_back(rank - 1 - i);
    auto *e = *pool_.getBlocked(layouts::blockedParamsFor(shape, size, order, warps_, lanes_));
    op.d().setType(type.withEncoding(e));
    enum : unsigned { A, B, Accumulator }; // tt.dot's operands
    require(op.op, A, *pool_.getDotOperand(0, e, 0));
    require(op.op, B, *pool_.getDotOperand(1, e, 0));
    require(op.op, Accumulator, e);
  }

  /// A thread has the elements of a pack: neighbours in row-major order, which may lie in several rows.
  void mapElementwise(tt::MapElementwiseOp op) {
    auto shape = tensorOf(op.srcs()[0]).shape();
    auto params = layouts::dynCast<layouts::BlockedEncoding>(defaultFor(shape))->params();
    int64_t left = op.pack();
    for (unsigned d : params.order) {
      int64_t here = llvm::isPowerOf2_64(left) ? std::min(left, shape[d]) : 1;
      params.sizePerThread[d] = std::max<int64_t>(params.sizePerThread[d], here);
      left /= here;
    }
    auto *e = *pool_.getBlocked(std::move(params));
    for (unsigned i = 0; i < op->numOperands(); ++i) require(op.op, i, e);
    for (auto r : op->results()) r.setType(with(r.type(), e));
  }

  static constexpr unsigned kSource = 0; // the operand of shape operations

  Module &m_;
  layouts::EncodingPool &pool_;
  int warps_, lanes_, ctas_;
};

absl::Status report(PassContext &c, Operation *op, const llvm::Twine &message) {
  Diagnostic d;
  d.message = message.str();
  d.loc = op->loc();
  d.op = op;
  c.diagnostics.report(std::move(d));
  return absl::InvalidArgumentError("the input has no TTGIR form");
}

/// Reports tensors that no layout can be given to, whose layouts are for another number of warps or threads, or that
/// have none although others of their function do.
absl::Status checkTensors(Module &m, int64_t warps, int64_t lanes, PassContext &c) {
  auto scalar = findTensor(m.op(), [](Operation *, TensorType t) { return t.shape().empty(); });
  if (scalar.op)
    return report(c, scalar.op,
                  "'" + scalar.op->name() + "' has type " + scalar.type.str() +
                      ", and a tensor without dimensions has no layout; use a scalar");
  int64_t itsWarps = 0;
  int64_t itsLanes = 0;
  auto misfit = findTensor(m.op(), [&](Operation *op, TensorType t) {
    if (!t.encoding() || !t.encoding()->isDistributed()) return false;
    auto layout = t.encoding()->toLinearLayout(t.shape());
    if (!layout.ok()) return false; // the verifier reports it
    itsWarps = layout->inDimSize(layouts::Dim::Warp);
    itsLanes = layout->inDimSize(layouts::Dim::Lane);
    Partition partition = partitionOf(op);
    int64_t warpsHere = partition && partition.hasOwnWarps() ? numWarpsAt(op) : warps;
    return itsWarps != warpsHere || itsLanes != lanes;
  });
  if (misfit.op)
    return report(c, misfit.op,
                  "'" + misfit.op->name() + "' has type " + misfit.type.str() + " with " + llvm::Twine(itsWarps) +
                      " warps of " + llvm::Twine(itsLanes) + " threads, but the module is converted for " +
                      llvm::Twine(warps) + " warps of " + llvm::Twine(lanes) +
                      "; compile it for the number of warps of its layouts");
  for (auto &op : *m.body()) {
    auto without = findTensor(&op, lacksLayout);
    if (without.op && findTensor(&op, hasLayout).op)
      return report(c, without.op,
                    "'" + without.op->name() + "' has type " + without.type.str() +
                        ", but other tensors of the function have layouts");
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<bool> convertTritonToTritonGpu(Module &m, const ConvertTritonToTritonGpuOptions &o, PassContext &c) {
  if (hasLayouts(m.op())) {
    if (Operation *op = firstContradicting(m, IrStage::LayoutsAssigned))
      return report(c, op,
                    "'" + op->name() + "' makes a tensor without a layout, but the module has '" + kNumWarpsAttr +
                        "', so that all of its tensors need one");
    return false;
  }
  std::string target = !o.target.empty() ? o.target : c.target ? c.target->tritonTarget.str() : "";
  int64_t lanes = o.threadsPerWarp.value_or(c.target ? c.target->warpSize : 32);
  if (auto status = checkTensors(m, o.numWarps, lanes, c); !status.ok()) return status;
  setModuleInt(m.op(), kNumCtasAttr, o.numCtas);
  setModuleInt(m.op(), kNumWarpsAttr, o.numWarps);
  if (!target.empty()) m.op()->setAttr(kTargetAttr, StringAttr::get(m.context(), target));
  setModuleInt(m.op(), kThreadsPerWarpAttr, lanes);
  Conversion(m, o.numWarps, lanes, o.numCtas).run();
  if (Operation *op = firstContradicting(m, IrStage::LayoutsAssigned))
    return report(c, op, "'" + op->name() + "' makes a tensor without a layout in a partition of ttg.warp_specialize");
  return true;
}

} // namespace tessera::transforms
