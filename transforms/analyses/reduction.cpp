// Reductions that combine by one operation (see reduction.h).
#include "transforms/analyses/reduction.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tessera::transforms {
using namespace ir;

Operation *combination(Operation *reduce) {
  if (reduce->numOperands() != 1 || !reduce->region(0).hasOneBlock()) return nullptr;
  Block *b = reduce->region(0).front();
  auto op = b->front() ? b->front()->dyn<BinaryOp>() : BinaryOp();
  auto end = b->terminator()->cast<tt::ReduceReturnOp>();
  bool isOnlyOperation = op && op->next() == end.op;
  if (!isOnlyOperation || op->numResults() != 1 || end.results()[0] != op.result()) return nullptr;
  bool inOrder = op.lhs() == b->arg(0) && op.rhs() == b->arg(1);
  bool swapped = op.lhs() == b->arg(1) && op.rhs() == b->arg(0);
  return inOrder || swapped ? op.op : nullptr;
}

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

Value combineLike(Builder &b, Operation *op, Value x, Value y) {
  OperationState s(op->opcode(), op->loc());
  s.operands = {x, y};
  s.resultTypes = {x.type()};
  s.attrs.assign(op->attrs().begin(), op->attrs().end());
  return b.create(s)->result();
}

namespace {

/// What is computed from a tensor whose elements may be in any order within some dimensions.
class OrderFreedom {
public:
  bool holds(Value v, llvm::ArrayRef<unsigned> dims) {
    add({v, llvm::to_vector(dims), std::nullopt});
    while (!left_.empty()) {
      Reordered next = left_.pop_back_val();
      for (OpOperand *use : next.value.uses())
        if (!follow(next, *use)) return false;
    }
    return true;
  }

private:
  using Dims = llvm::SmallVector<unsigned, 4>;
  struct Reordered {
    Value value;
    Dims dims;                 // within which its elements may be in another order; not empty
    std::optional<Opcode> sum; // of parts, by this operation; none: the tensor's own elements, each computed on
  };

  bool add(Reordered r) {
    if (seen_.insert(r.value.impl()).second) left_.push_back(std::move(r));
    return true;
  }

  /// Whether the user does not depend on the order; what it gives is followed further.
  bool follow(const Reordered &r, OpOperand &use) {
    Operation *user = use.owner;
    if (auto reduce = user->dyn<tt::ReduceOp>()) return followReduction(r, reduce);
    if (r.sum && user->is<scf::YieldOp>()) return followLoop(r, use);
    bool continues =
        user->is<ttg::ConvertLayoutOp>() || (r.sum ? user->opcode() == *r.sum : isOfEachElement(user, r.value));
    return continues && add({user->result(0), r.dims, r.sum});
  }

  bool followReduction(const Reordered &r, tt::ReduceOp reduce) {
    auto *along = llvm::find(r.dims, unsigned(reduce.axis()));
    if (reduce->numOperands() != 1 || along == r.dims.end()) return false;
    Operation *by = combination(reduce.op);
    // Others may depend on the order: one that gives its first operand does.
    bool inAnyOrder = by && neutralBits(by->opcode(), r.value.type().scalar());
    if (!inAnyOrder || (r.sum && by->opcode() != *r.sum)) return false;
    Dims rest;
    for (unsigned d : r.dims)
      if (d != *along) rest.push_back(d > *along ? d - 1 : d);
    // What is left are parts, of which more are to be combined.
    return rest.empty() || add({reduce->result(), rest, by->opcode()});
  }

  /// Parts that a loop carries: its argument and its result are sums of them, too.
  bool followLoop(const Reordered &r, OpOperand &use) {
    auto loop = use.owner->parentOp()->dyn<scf::ForOp>();
    if (!loop) return false;
    CarriedValue c = carried(loop, use.index());
    return add({c.argument, r.dims, r.sum}) && add({c.result, r.dims, r.sum});
  }

  /// Whether the operation computes each element of its result from that of `v` and from one value for all.
  static bool isOfEachElement(Operation *op, Value v) {
    auto isOneValue = [](Value o) {
      Operation *made = o.definingOp();
      return made && makesAnyLayout(made) && !made->is<tt::MakeRangeOp>();
    };
    return isElementwise(op) && isPure(op) &&
           llvm::all_of(op->operands(), [&](Value o) { return o == v || isOneValue(o); });
  }

  llvm::SmallVector<Reordered, 4> left_;
  llvm::DenseSet<const ValueImpl *> seen_;
};

} // namespace

bool isOrderFree(Value v, llvm::ArrayRef<unsigned> dims) { return OrderFreedom().holds(v, dims); }
bool isOrderFree(Value v) { return isOrderFree(v, llvm::to_vector<4>(llvm::seq<unsigned>(0, tensorOf(v).rank()))); }

} // namespace tessera::transforms
