// What the verifier demands of layouts where an operation only renames elements (tt.trans, tt.reshape, tt.join,
// tt.split): no data moves between threads, so each thread must already hold every element that the result's layout
// gives it. Lowering maps registers by the layouts of one thread alone and would permute the elements of others.
//
//   tt.trans  tensor<4x8, A> -> tensor<8x4, B>     accepted if B = A with its dimensions exchanged
//
// Elements are numbered row by row, so that a layout is a list of columns over F₂, one for each bit of the register,
// lane, warp and block. Registers may come in another order than the operand's. Triton demands the same order.
#include "ir/verify_hook.h"
#include "layouts/dot_operand.h"
#include "layouts/infer.h"
#include "llvm/ADT/Sequence.h"

namespace tessera::ir {
using layouts::Dim;
using Columns = llvm::SmallVector<uint64_t, 8>;

namespace {

/// Where a layout puts the elements of a tensor.
struct Placement {
  Columns registers, lanes, warps, blocks;

  /// The same in a tensor with one more dimension of 2 at its end, of which each thread has both elements.
  Placement joined() const {
    Placement out = *this;
    for (Columns *columns : {&out.registers, &out.lanes, &out.warps, &out.blocks})
      for (uint64_t &c : *columns) c <<= 1;
    out.registers.push_back(1);
    return out;
  }
};

/// `dimensions`: the tensor's, the last one running fastest in the numbering. Nothing if the tensor has no layout, or
/// one that is not modelled, which is reported elsewhere.
std::optional<Placement> placementOf(Type t, llvm::ArrayRef<int64_t> dimensions) {
  auto tensor = t.cast<TensorType>();
  if (!tensor.encoding()) return std::nullopt;
  auto &layout = tensor.encoding()->layoutOf(tensor.shape());
  if (!layout.ok()) return std::nullopt;
  llvm::SmallVector<Dim, 4> fastestFirst;
  for (int64_t d : llvm::reverse(dimensions)) fastestFirst.push_back(layouts::tensorDim(unsigned(d)));
  auto numbered = layout->transposeOuts(fastestFirst);
  return Placement{numbered.columns(Dim::Register), numbered.columns(Dim::Lane), numbered.columns(Dim::Warp),
                   numbered.columns(Dim::Block)};
}
std::optional<Placement> placementOf(Type t) {
  return placementOf(t, llvm::to_vector(llvm::seq<int64_t>(0, t.cast<TensorType>().rank())));
}

bool haveSameThreads(const Placement &a, const Placement &b) {
  auto columnsAgree = [](llvm::ArrayRef<uint64_t> x, llvm::ArrayRef<uint64_t> y) {
    auto at = [](llvm::ArrayRef<uint64_t> columns, size_t i) { return i < columns.size() ? columns[i] : 0; };
    for (size_t i = 0; i < std::max(x.size(), y.size()); ++i)
      if (at(x, i) != at(y, i)) return false;
    return true;
  };
  return columnsAgree(a.lanes, b.lanes) && columnsAgree(a.warps, b.warps) && columnsAgree(a.blocks, b.blocks);
}

/// Whether each thread holds, by `from`, what it has by `to`.
bool holds(const Placement &from, const Placement &to) {
  layouts::F2Span held;
  for (uint64_t c : from.registers) held.add(c);
  return haveSameThreads(from, to) && llvm::all_of(to.registers, [&](uint64_t c) { return held.contains(c); });
}

using InferLayout = llvm::function_ref<const layouts::Encoding *(layouts::EncodingPool &)>;

/// `infer`: the layout that the operand's gives the result, for the error.
/// @pre the placements are of the same elements, as far as there are any
bool keepsElements(Operation *op, DiagnosticEngine &diag, const std::optional<Placement> &from,
                   const std::optional<Placement> &to, InferLayout infer) {
  if (!from || !to || holds(*from, *to)) return true;
  std::string message = "has a result whose layout moves elements between threads";
  if (auto *inferred = infer(op->context().encodings())) message += "; the operand's makes it " + inferred->str();
  return opError(op, diag, message + "; change layouts by ttg.convert_layout", 0);
}

} // namespace

bool checkTransposedLayout(tt::TransOp trans, DiagnosticEngine &diag) {
  auto src = tensorOf(trans.src());
  return keepsElements(
      trans.op, diag, placementOf(src, trans.order()), placementOf(trans.result().type()),
      [&](layouts::EncodingPool &pool) { return inferTrans(pool, src.encoding(), trans.order(), src.shape()); });
}

bool checkReshapedLayout(tt::ReshapeOp reshape, DiagnosticEngine &diag) {
  auto src = tensorOf(reshape.src()), dst = tensorOf(reshape.result());
  auto from = placementOf(src), to = placementOf(dst);
  if (!from || !to) return true;
  bool mayReorder = reshape.allowReorder() && layouts::holdCopiesAlike(*src.encoding()->layoutOf(src.shape()),
                                                                       *dst.encoding()->layoutOf(dst.shape()));
  if (mayReorder) return true;
  return keepsElements(reshape.op, diag, from, to, [&](layouts::EncodingPool &pool) {
    return inferReshape(pool, src.encoding(), src.shape(), dst.shape());
  });
}

bool checkJoinedLayout(tt::JoinOp join, DiagnosticEngine &diag) {
  auto src = tensorOf(join.lhs());
  auto from = placementOf(src);
  if (from) from = from->joined();
  return keepsElements(join.op, diag, from, placementOf(join.result().type()),
                       [&](layouts::EncodingPool &pool) { return inferJoin(pool, src.encoding(), src.shape()); });
}

bool checkSplitLayout(tt::SplitOp split, DiagnosticEngine &diag) {
  auto src = tensorOf(split.src());
  auto to = placementOf(split->result(0).type());
  if (to) to = to->joined();
  return keepsElements(split.op, diag, placementOf(src), to,
                       [&](layouts::EncodingPool &pool) { return inferSplit(pool, src.encoding(), src.shape()); });
}

bool checkDotLayouts(tt::DotOp dot, DiagnosticEngine &diag) {
  auto *result = encodingOf(dot.d());
  if (!result) return true;
  for (unsigned i : {0u, 1u}) {
    auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(encodingOf(dot->operand(i)));
    if (operand && operand->opIdx() == i && operand->parent() == result) continue;
    return opError(dot.op, diag,
                   "needs operand " + llvm::Twine(i) + " in a layout #ttg.dot_op<{opIdx = " + llvm::Twine(i) +
                       ", parent = " + result->str() + "}>, not " + encodingOf(dot->operand(i))->str(),
                   int(i));
  }
  return true;
}

} // namespace tessera::ir
