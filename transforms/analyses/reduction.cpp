// Reductions that combine by one operation (see reduction.h).
#include "transforms/analyses/reduction.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"

namespace tessera::transforms {
using namespace ir;

Operation *combination(Operation *reduce) {
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

bool isOrderFree(Value v) {
  llvm::SmallVector<Value, 4> left{v};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    for (Operation *user : next.users()) {
      if (user->is<tt::ReduceOp>() && user->numOperands() == 1 && !user->result(0).type().isTensor()) continue;
      auto isOneValue = [](Value o) {
        Operation *made = o.definingOp();
        return made && makesAnyLayout(made) && !made->is<tt::MakeRangeOp>();
      };
      bool isOfEach = (isElementwise(user) && isPure(user)) || user->is<ttg::ConvertLayoutOp>();
      isOfEach = isOfEach && llvm::all_of(user->operands(), [&](Value o) { return o == next || isOneValue(o); });
      if (!isOfEach) return false;
      left.push_back(user->result(0));
    }
  }
  return true;
}

} // namespace tessera::transforms
