// Thread locality of reductions in loops. A loop that reduces a tensor and adds the result to what it carries makes
// lanes and warps exchange partial results in every round:
//
//   %sum = scf.for … iter_args(%acc = %init) -> (tensor<64xf32, #slice>) {
//     %x = "tt.reduce"(%t) <{axis = 1}> ({ addf }) : (tensor<64x256xf32, #L>) -> tensor<64xf32, #slice>
//     %n = arith.addf %acc, %x
//     scf.yield %n
//   }
//   →
//   %part = scf.for … iter_args(%acc = %neutral) -> (tensor<64x32xf32, …>) {
//     %r = tt.reshape %t : … -> tensor<64x2x32x4xf32, …>          (runs of bits of the axis: registers, threads, registers)
//     %l = "tt.reduce"(%r) <{axis = 3}> …, then axis 1             (inside the thread)
//     %n = arith.addf %acc, %l
//     scf.yield %n
//   }
//   %x = "tt.reduce"(%part) <{axis = 1}> …                          (threads and warps, once)
//   %sum = arith.addf %init, %x
//
// The axis is cut, in row-major order, where bits of the element's number change between those that tell registers
// and those that tell lanes and warps; a dimension of registers alone is reduced without leaving the thread. The
// order of the sum changes, as it does in Triton. The neutral element changes no value: -0.0 for sums (0.0 would turn
// -0.0 into 0.0), a NaN for maxnumf and minnumf, which ignore it.
//
// Done where the combination is one operation, the same as the update; the carried value has no other use; and the axis
// reaches over threads, else the reduction is local already.
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "layouts/infer.h"
#include "transforms/passes.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;

namespace {

struct Candidate {
  scf::ForOp loop;
  unsigned carried; // index among the carried values
  tt::ReduceOp reduce;
  Operation *update;
  Operation *conversion; // of the reduction's result, or null
};

/// The one operation that a reduction combines with, or null.
Operation *combination(Operation *reduce) {
  Block *b = reduce->region(0).front();
  Operation *op = b->front(), *end = b->terminator();
  if (!op || op->next() != end || op->numOperands() != 2 || op->numResults() != 1 || end->operand(0) != op->result())
    return nullptr;
  bool straight = op->operand(0) == b->arg(0) && op->operand(1) == b->arg(1),
       crossed = op->operand(0) == b->arg(1) && op->operand(1) == b->arg(0);
  return straight || crossed ? op : nullptr;
}

/// A splat that leaves every value as it is when combined with it; nothing for other operations.
std::optional<llvm::APInt> neutralBits(Opcode op, Type element) {
  unsigned width = element.bitWidth();
  auto real = [&](auto make) -> std::optional<llvm::APInt> {
    if (!element.isFloat()) return std::nullopt;
    return make(element.cast<FloatType>().semantics()).bitcastToAPInt();
  };
  using llvm::APFloat;
  switch (op) {
  case Opcode::arith_addf: return real([](auto &s) { return APFloat::getZero(s, true); });
  case Opcode::arith_mulf: return real([](auto &s) { return APFloat::getOne(s); });
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf: return real([](auto &s) { return APFloat::getQNaN(s); });
  case Opcode::arith_maximumf: return real([](auto &s) { return APFloat::getInf(s, true); });
  case Opcode::arith_minimumf: return real([](auto &s) { return APFloat::getInf(s, false); });
  case Opcode::arith_addi:
  case Opcode::arith_ori:
  case Opcode::arith_xori:
  case Opcode::arith_maxui: return llvm::APInt::getZero(width);
  case Opcode::arith_muli: return llvm::APInt(width, 1);
  case Opcode::arith_andi:
  case Opcode::arith_minui: return llvm::APInt::getAllOnes(width);
  case Opcode::arith_maxsi: return llvm::APInt::getSignedMinValue(width);
  case Opcode::arith_minsi: return llvm::APInt::getSignedMaxValue(width);
  default: return std::nullopt;
  }
}

class Locality {
public:
  explicit Locality(Module &m) : m_(m), pool_(m.context().encodings()) {}

  bool run() {
    std::vector<Candidate> all;
    m_.op()->walk([&](Operation *op) {
      if (auto r = op->dyn<tt::ReduceOp>())
        if (auto c = candidate(r)) all.push_back(*c);
    });
    bool changed = false;
    for (auto &c : all) changed |= rewrite(c);
    return changed;
  }

private:
  std::optional<Candidate> candidate(tt::ReduceOp reduce) {
    Operation *op = reduce.op, *combine = combination(op);
    auto loop = op->parentOp() ? op->parentOp()->dyn<scf::ForOp>() : scf::ForOp();
    if (!loop || op->numOperands() != 1 || !combine || !op->result().type().isTensor() || !op->result().hasOneUse())
      return std::nullopt;
    Operation *update = op->result().users()[0], *conversion = nullptr;
    if (update->is<ttg::ConvertLayoutOp>() && update->result().hasOneUse())
      conversion = update, update = update->result().users()[0];
    Value reduced = conversion ? conversion->result() : op->result();
    if (update->opcode() != combine->opcode() || update->block() != op->block() || update->numOperands() != 2 ||
        !update->result().hasOneUse())
      return std::nullopt;
    unsigned self = update->operand(0) == reduced ? 0 : 1;
    Value acc = update->operand(1 - self);
    Operation *yield = loop.body().front()->terminator();
    OpOperand *use = update->result().firstUse();
    if (use->owner != yield || !acc.isBlockArgument() || acc.ownerBlock() != loop.body().front() ||
        acc.index() != use->index() + 1 || !acc.hasOneUse())
      return std::nullopt;
    if (!neutralBits(combine->opcode(), acc.type().scalar())) return std::nullopt;
    return Candidate{loop, use->index(), reduce, update, conversion};
  }

  /// Runs of bits of the axis, lowest first: length of the run, and whether registers tell them.
  std::optional<llvm::SmallVector<std::pair<int64_t, bool>, 4>> runsOf(TensorType t, unsigned axis) {
    auto l = t.encoding()->toLinearLayout(t.shape());
    if (!l.ok()) return std::nullopt;
    unsigned bits = llvm::Log2_64(t.dim(axis));
    llvm::SmallVector<int, 16> owner(bits, 0); // 1: registers, 2: threads
    for (auto [in, who] :
         {std::pair(Dim::Register, 1), std::pair(Dim::Lane, 2), std::pair(Dim::Warp, 2), std::pair(Dim::Block, 2)})
      for (unsigned b = 0; b < l->inDimBits(in); ++b) {
        int32_t along = l->basis(in, b)[axis];
        if (!along) continue;
        if (!llvm::isPowerOf2_32(along)) return std::nullopt; // swizzled: bits mix
        int &o = owner[llvm::Log2_32(along)];
        if (o) return std::nullopt;
        o = who;
      }
    llvm::SmallVector<std::pair<int64_t, bool>, 4> runs;
    for (int o : owner) {
      bool registers = o == 1;
      if (runs.empty() || runs.back().second != registers) runs.push_back({1, registers});
      runs.back().first *= 2;
    }
    return runs;
  }

  /// A reduction like the original, of another tensor along another axis.
  Value reduceLike(Builder &b, tt::ReduceOp like, Value v, unsigned axis) {
    auto t = v.type().cast<TensorType>();
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
    auto t = v.type().cast<TensorType>();
    if (t.shape() == shape) return v;
    auto *e = layouts::inferReshape(pool_, t.encoding(), t.shape(), shape);
    return e ? tt::ReshapeOp::create(b, loc, {TensorType::get(shape, t.element(), e)}, v).result() : Value();
  }

  bool rewrite(Candidate &c) {
    unsigned axis = c.reduce.axis();
    auto source = c.reduce.op->operand(0).type().cast<TensorType>();
    auto runs = runsOf(source, axis);
    if (!runs || llvm::all_of(*runs, [](auto &r) { return r.second; })) return false;
    Location loc = c.reduce.op->loc();

    // In the loop: one dimension per run, those of registers reduced, the others put together again.
    Builder b(c.reduce.op);
    llvm::SmallVector<int64_t, 8> cut(source.shape().begin(), source.shape().begin() + axis);
    for (auto &run : llvm::reverse(*runs)) cut.push_back(run.first);
    cut.append(source.shape().begin() + axis + 1, source.shape().end());
    Value v = reshape(b, loc, c.reduce.op->operand(0), cut);
    if (!v) return false;
    int64_t threads = 1;
    for (unsigned i = 0; i < runs->size(); ++i) { // lowest run first: later dimensions go before earlier ones
      if ((*runs)[i].second)
        v = reduceLike(b, c.reduce, v, axis + runs->size() - 1 - i);
      else
        threads *= (*runs)[i].first;
    }
    llvm::SmallVector<int64_t, 4> kept(source.shape());
    kept[axis] = threads;
    v = reshape(b, loc, v, kept);
    if (!v) return false;

    // The carried value becomes the partial results.
    auto type = v.type().cast<TensorType>();
    Value init = c.loop.initArgs()[c.carried], acc = c.loop.body().front()->arg(c.carried + 1),
          result = c.loop.op->result(c.carried);
    auto oldType = result.type().cast<TensorType>();
    Builder before(c.loop.op);
    auto neutral = DenseElementsAttr::get(type, {*neutralBits(c.update->opcode(), type.element())});
    c.loop.op->setOperand(3 + c.carried, before.constant(loc, type, neutral));
    acc.setType(type);
    OperationState s(c.update->opcode(), c.update->loc());
    s.operands = {acc, v};
    s.resultTypes = {type};
    s.attrs.assign(c.update->attrs().begin(), c.update->attrs().end());
    Value updated = b.create(s)->result();
    c.loop.body().front()->terminator()->setOperand(c.carried, updated);
    result.setType(type);

    // After it: what remains of the reduction, and the initial value.
    Builder after = Builder::after(c.loop.op);
    Value whole = reduceLike(after, c.reduce, result, axis);
    Operation *first = whole.definingOp();
    if (whole.type() != Type(oldType)) whole = ttg::ConvertLayoutOp::create(after, loc, oldType, whole).result();
    auto *initBits = constantBits(init);
    if (!initBits || *initBits != *neutralBits(c.update->opcode(), type.element())) {
      OperationState sum(c.update->opcode(), c.update->loc());
      sum.operands = {init, whole};
      sum.resultTypes = {oldType};
      sum.attrs.assign(c.update->attrs().begin(), c.update->attrs().end());
      whole = after.create(sum)->result();
    }
    result.replaceUsesIf(whole, [&](OpOperand &u) { return u.owner != first; });
    c.update->erase();
    if (c.conversion) c.conversion->erase();
    c.reduce.op->erase();
    return true;
  }

  Module &m_;
  layouts::EncodingPool &pool_;
};

} // namespace

absl::StatusOr<bool> optimizeThreadLocality(Module &m, PassContext &) { return Locality(m).run(); }

} // namespace tessera::transforms
