// Pass tritongpu-optimize-thread-locality: thread locality of reductions in loops. A loop that reduces a tensor and
// adds the result to a loop-carried value makes lanes and warps exchange partial results in every iteration:
//
//   %sum = scf.for … iter_args(%acc = %init) -> (tensor<64xf32, #slice>) {
//     %x = "tt.reduce"(%t) <{axis = 1}> ({ addf }) : (tensor<64x256xf32, #L>) -> tensor<64xf32, #slice>
//     %n = arith.addf %acc, %x
//     scf.yield %n
//   }
//   →
//   %part = scf.for … iter_args(%acc = %neutral) -> (tensor<64x32xf32, …>) {
//     %r = tt.reshape %t : … -> tensor<64x2x32x4xf32, …>     (runs of bits of the axis: registers, threads, registers)
//     %l = "tt.reduce"(%r) <{axis = 3}> …, then axis 1             (inside the thread)
//     %n = arith.addf %acc, %l
//     scf.yield %n
//   }
//   %x = "tt.reduce"(%part) <{axis = 1}> …                          (threads and warps, once)
//   %sum = arith.addf %init, %x
//
// The axis is cut, in row-major order, where bits of the element's number change between those that select registers
// and those that select lanes and warps; a dimension of registers alone is reduced without leaving the thread. The
// order of the sum changes, as it does in Triton. The neutral element changes no value: -0.0 for sums (0.0 would turn
// -0.0 into 0.0), a NaN for maxnumf and minnumf, which ignore it.
//
// Limits: the combination is one operation, the same as the update; the loop-carried value has no other use; the axis
// reaches over threads, else the reduction is local already.
//
// Runs: both pipelines, when layouts are final, and again on the loops over strips of strip-mine.
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "transforms/analyses/reduction.h"
#include "transforms/passes.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

namespace {

/// A reduction in a loop with the update of the loop-carried value that it belongs to.
struct LoopReduction {
  scf::ForOp loop;
  unsigned index; // among the loop-carried values
  tt::ReduceOp reduce;
  Operation *update;
  Operation *conversion; // of the reduction's result, or null
};

class ThreadLocality {
public:
  explicit ThreadLocality(Module &m) : m_(m), pool_(m.context().encodings()) {}

  bool run() {
    std::vector<LoopReduction> all;
    m_.op()->walk([&](Operation *op) {
      if (auto r = op->dyn<tt::ReduceOp>())
        if (auto c = loopReduction(r)) all.push_back(*c);
    });
    bool changed = false;
    for (auto &c : all) changed |= rewrite(c);
    return changed;
  }

private:
  std::optional<LoopReduction> loopReduction(tt::ReduceOp reduce) {
    Operation *combine = combination(reduce.op);
    auto loop = reduce->parentOp() ? reduce->parentOp()->dyn<scf::ForOp>() : scf::ForOp();
    bool isOneTensor = reduce->numOperands() == 1 && reduce->result().type().isTensor();
    if (!loop || !combine || !isOneTensor || !reduce->result().hasOneUse()) return std::nullopt;

    // The only user of the result, a conversion aside, combines it with a loop-carried value.
    Value reduced = reduce->result();
    Operation *conversion = nullptr;
    if (Operation *user = reduced.users()[0]; user->is<ttg::ConvertLayoutOp>() && user->result().hasOneUse()) {
      conversion = user;
      reduced = user->result();
    }
    Operation *update = reduced.users()[0];
    if (update->opcode() != combine->opcode() || update->block() != reduce->block() || !update->result().hasOneUse())
      return std::nullopt;
    BinaryOp sum(update);
    Value other = sum.lhs() == reduced ? sum.rhs() : sum.lhs();
    auto c = carriedByArgument(other);
    bool isUpdate = c && c->loop.op == loop.op && c->yielded == update->result();
    if (!isUpdate || !c->argument.hasOneUse()) return std::nullopt;
    if (!neutralBits(combine->opcode(), c->argument.type().scalar())) return std::nullopt;
    return LoopReduction{loop, c->index, reduce, update, conversion};
  }

  /// Consecutive elements of the axis, all in one thread's registers or all in different threads.
  struct AxisRun {
    int64_t length;
    bool ofRegisters;
  };
  using AxisRuns = llvm::SmallVector<AxisRun, 4>;

  /// Runs of bits of the axis, lowest first. None if a basis moves along several bits, or several along one.
  std::optional<AxisRuns> runsOf(TensorType t, unsigned axis) {
    auto l = t.encoding()->toLinearLayout(t.shape());
    if (!l.ok()) return std::nullopt;
    unsigned bits = llvm::Log2_64(t.dim(axis));
    enum Owner { kNobody, kRegisters, kThreads };
    llvm::SmallVector<Owner, 16> owners(bits, kNobody);
    for (Dim in : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block})
      for (unsigned b = 0; b < l->inDimBits(in); ++b) {
        int32_t along = l->basis(in, b)[axis];
        if (!along) continue;
        if (!llvm::isPowerOf2_32(along)) return std::nullopt; // swizzled: bits mix
        Owner &owner = owners[llvm::Log2_32(along)];
        if (owner != kNobody) return std::nullopt;
        owner = in == Dim::Register ? kRegisters : kThreads;
      }
    AxisRuns runs;
    for (Owner owner : owners) {
      bool ofRegisters = owner == kRegisters;
      if (runs.empty() || runs.back().ofRegisters != ofRegisters) runs.push_back({1, ofRegisters});
      runs.back().length *= 2;
    }
    return runs;
  }

  /// A reduction like the original, of another tensor along another axis.
  Value reduceLike(Builder &b, tt::ReduceOp like, Value v, unsigned axis) {
    auto t = tensorOf(v);
    auto *e = layouts::inferReduce(pool_, t.encoding(), axis);
    llvm::SmallVector<int64_t, 4> shape(t.shape());
    shape.erase(shape.begin() + axis);
    OperationState s(Opcode::tt_reduce, like.op->loc());
    s.operands = {v};
    s.resultTypes = {TensorType::get(shape, t.element(), e)};
    s.attrs.assign(like.op->attrs().begin(), like.op->attrs().end());
    s.numRegions = 1;
    Operation *op = b.create(s);
    op->setAttr("axis", IntegerAttr::getI32(op->context(), axis));
    Block *from = like.op->region(0).front(), *to = op->region(0).addBlock();
    ValueMap map;
    for (unsigned i = 0; i < from->numArgs(); ++i)
      map.map(from->arg(i), to->addArg(from->arg(i).type(), from->arg(i).loc()));
    Builder inner = Builder::atEnd(to);
    for (auto &x : *from) inner.clone(&x, map);
    return op->result();
  }
  /// Null if the layout does not follow.
  Value reshape(Builder &b, Location loc, Value v, llvm::ArrayRef<int64_t> shape) {
    auto t = tensorOf(v);
    if (t.shape() == shape) return v;
    auto *e = layouts::inferReshape(pool_, t.encoding(), t.shape(), shape);
    return e ? tt::ReshapeOp::create(b, loc, {TensorType::get(shape, t.element(), e)}, v).result() : Value();
  }

  /// In the loop: one dimension per run, those of registers reduced, the others put together again. Null if a layout
  /// does not follow.
  Value reduceInThread(Builder &b, const LoopReduction &r, const AxisRuns &runs) {
    Location loc = r.reduce->loc();
    Value source = r.reduce.srcs()[0]; // the only one
    auto shape = tensorOf(source).shape();
    unsigned axis = r.reduce.axis();
    llvm::SmallVector<int64_t, 8> cut(shape.begin(), shape.begin() + axis);
    for (auto &run : llvm::reverse(runs)) cut.push_back(run.length);
    cut.append(shape.begin() + axis + 1, shape.end());
    Value v = reshape(b, loc, source, cut);
    if (!v) return {};
    int64_t threads = 1;
    for (unsigned i = 0; i < runs.size(); ++i) { // lowest run first: later dimensions go before earlier ones
      if (runs[i].ofRegisters)
        v = reduceLike(b, r.reduce, v, axis + runs.size() - 1 - i);
      else
        threads *= runs[i].length;
    }
    llvm::SmallVector<int64_t, 4> kept(shape);
    kept[axis] = threads;
    return reshape(b, loc, v, kept);
  }

  bool rewrite(const LoopReduction &r) {
    unsigned axis = r.reduce.axis();
    auto runs = runsOf(tensorOf(r.reduce.srcs()[0]), axis);
    if (!runs || llvm::all_of(*runs, [](auto &run) { return run.ofRegisters; })) return false;
    Location loc = r.reduce->loc();
    Builder b(r.reduce.op);
    Value partial = reduceInThread(b, r, *runs);
    if (!partial) return false;

    // The loop-carried value becomes the partial results.
    auto c = carried(r.loop, r.index);
    auto oldType = tensorOf(c.result), type = tensorOf(partial);
    auto neutral = *neutralBits(r.update->opcode(), type.element());
    Builder before(r.loop.op);
    c.setInit(before.constant(loc, type, DenseElementsAttr::get(type, {neutral})));
    c.argument.setType(type);
    c.setYielded(combineLike(b, r.update, c.argument, partial));
    c.result.setType(type);

    // After the loop: what remains of the reduction, and the initial value.
    Builder after = Builder::after(r.loop.op);
    Value whole = reduceLike(after, r.reduce, c.result, axis);
    Operation *reductionOfResult = whole.definingOp();
    if (whole.type() != Type(oldType)) whole = ttg::ConvertLayoutOp::create(after, loc, oldType, whole).result();
    auto *initBits = constantBits(c.init);
    bool startsFromNeutral = initBits && *initBits == neutral;
    if (!startsFromNeutral) whole = combineLike(after, r.update, c.init, whole);
    c.result.replaceUsesIf(whole, [&](OpOperand &u) { return u.owner != reductionOfResult; });
    r.update->erase();
    if (r.conversion) r.conversion->erase();
    r.reduce->erase();
    return true;
  }

  Module &m_;
  layouts::EncodingPool &pool_;
};

} // namespace

absl::StatusOr<bool> optimizeThreadLocality(Module &m, PassContext &) { return ThreadLocality(m).run(); }

} // namespace tessera::transforms
