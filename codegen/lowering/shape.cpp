// Lowering of the operations that only rename elements: splat, broadcast, expand_dims, reshape, trans, join, split,
// cat, make_range and unsplat. None of them moves data between threads: layout inference gave the result the layout
// in which each thread already holds what it needs, so each result register is some source register. Which one
// follows from the layouts alone: two registers correspond when their indices with lane, warp and block at zero do.
// (One exception: tt.cat of tensors that threads hold copies of, where the result's layout has other copies, is
// converted.)
#include "codegen/lowering/lowering.h"
#include "ir/ops.h"
#include "layouts/cat_shape.h"
#include "layouts/infer.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

/// Index along each dimension of register r of the layout in lane 0 of warp 0 of block 0.
static llvm::SmallVector<int64_t, 4> registerIndex(const layouts::LinearLayout &l, unsigned r) {
  llvm::SmallVector<int64_t, 4> out;
  for (auto v : l.apply({{Dim::Register, int32_t(r)}, {Dim::Lane, 0}, {Dim::Warp, 0}, {Dim::Block, 0}}))
    out.push_back(v);
  return out;
}

/// Fills result registers from those of `src`, through the index map `toSource` (result index → source index).
static bool gatherRegisters(Operation *op, FunctionLowering &fl, Value src, Type resultType,
                            llvm::function_ref<void(llvm::SmallVectorImpl<int64_t> &)> toSource, Elements &out) {
  auto &from = fl.layout(src.type());
  auto &to = fl.layout(resultType);
  auto &values = fl.get(src);
  std::map<llvm::SmallVector<int64_t, 4>, unsigned> bySource;
  for (unsigned r = 0; r < values.size(); ++r) bySource.try_emplace(registerIndex(from, r), r);
  unsigned n = to.inDimSize(Dim::Register);
  for (unsigned r = 0; r < n; ++r) {
    auto index = registerIndex(to, r);
    toSource(index);
    auto it = bySource.find(index);
    if (it == bySource.end())
      return fl.error(op,
                      "the layouts of operand and result do not agree: no thread-local element for a result register");
    out.push_back(values[it->second]);
  }
  return true;
}

static bool lowerReshapeLike(Operation *op, FunctionLowering &fl) {
  Value src = UnaryOp(op).value(), result = UnaryOp(op).result();
  auto srcShape = src.type().cast<TensorType>().shape(), dstShape = result.type().cast<TensorType>().shape();
  Elements out;
  if (auto reshape = op->dyn<tt::ReshapeOp>(); reshape && reshape.allowReorder()) {
    // Any order will do: registers keep their places.
    if (layouts::holdCopiesAlike(fl.layout(src.type()), fl.layout(result.type()))) {
      fl.set(result, fl.get(src));
      return true;
    }
  }
  auto map = [&](llvm::SmallVectorImpl<int64_t> &index) {
    switch (op->opcode()) {
    case Opcode::tt_expand_dims: index.erase(index.begin() + op->cast<tt::ExpandDimsOp>().axis()); break;
    case Opcode::tt_broadcast:
      for (unsigned d = 0; d < index.size(); ++d)
        if (srcShape[d] == 1) index[d] = 0;
      break;
    case Opcode::tt_trans: {
      llvm::SmallVector<int64_t, 4> s(index.size());
      for (auto [d, from] : llvm::enumerate(op->cast<tt::TransOp>().order())) s[from] = index[d];
      index.assign(s.begin(), s.end());
      break;
    }
    default: { // reshape: row-major
      int64_t flat = 0;
      for (unsigned d = 0; d < index.size(); ++d) flat = flat * dstShape[d] + index[d];
      index.assign(srcShape.size(), 0);
      for (unsigned d = srcShape.size(); d-- > 0;) {
        index[d] = flat % srcShape[d];
        flat /= srcShape[d];
      }
    }
    }
  };
  if (!gatherRegisters(op, fl, src, result.type(), map, out)) return false;
  fl.set(result, std::move(out));
  return true;
}

static bool lowerJoin(Operation *op, FunctionLowering &fl) {
  auto join = op->cast<tt::JoinOp>();
  auto &to = fl.layout(join.result().type());
  Elements parts[2], out;
  // Both operands have one layout, so one map serves; the last index says which operand.
  auto drop = [](llvm::SmallVectorImpl<int64_t> &index) { index.pop_back(); };
  if (!gatherRegisters(op, fl, join.lhs(), join.result().type(), drop, parts[0]) ||
      !gatherRegisters(op, fl, join.rhs(), join.result().type(), drop, parts[1]))
    return false;
  for (unsigned r = 0; r < parts[0].size(); ++r) out.push_back(parts[registerIndex(to, r).back()][r]);
  fl.set(join.result(), std::move(out));
  return true;
}

static bool lowerSplit(Operation *op, FunctionLowering &fl) {
  auto split = op->cast<tt::SplitOp>();
  for (int64_t which = 0; which < 2; ++which) {
    Value result = op->result(which);
    Elements out;
    if (!gatherRegisters(
            op, fl, split.src(), result.type(), [&](llvm::SmallVectorImpl<int64_t> &index) { index.push_back(which); },
            out))
      return false;
    fl.set(result, std::move(out));
  }
  return true;
}

static bool lowerCat(Operation *op, FunctionLowering &fl) {
  // The order of the elements is not specified: the registers of both operands, one after the other.
  auto cat = op->cast<tt::CatOp>();
  Elements both(fl.get(cat.lhs())), out;
  auto &rhs = fl.get(cat.rhs());
  both.append(rhs.begin(), rhs.end());
  auto &part = fl.layout(cat.lhs().type()), &whole = fl.layout(cat.result().type());
  if (layouts::catKeepsRegisters(part, whole))
    out = std::move(both);
  else if (!convertElements(op, fl, both, cat.lhs().type(), layouts::catLayout(part), whole, out))
    return false;
  fl.set(cat.result(), std::move(out));
  return true;
}

static bool lowerMakeRange(Operation *op, FunctionLowering &fl) {
  auto range = op->cast<tt::MakeRangeOp>();
  llvm::Type *type = fl.elementType(range.result().type());
  Elements out;
  for (auto &index : fl.indices(range.result().type())) {
    llvm::Value *v = range.start() ? fl.b.CreateAdd(index[0], fl.i32(range.start())) : index[0];
    out.push_back(type->isIntegerTy(32) ? v : fl.b.CreateIntCast(v, type, false));
  }
  fl.set(range.result(), std::move(out));
  return true;
}

bool lowerShape(Operation *op, FunctionLowering &fl) {
  switch (op->opcode()) {
  case Opcode::tt_splat: {
    auto splat = op->cast<tt::SplatOp>();
    fl.set(splat.result(), Elements(fl.numElements(splat.result().type()), fl.scalar(splat.src())));
    return true;
  }
  case Opcode::tt_unsplat: fl.set(op->result(), fl.get(op->cast<tt::UnsplatOp>().src())[0]); return true;
  case Opcode::tt_make_range: return lowerMakeRange(op, fl);
  case Opcode::tt_join: return lowerJoin(op, fl);
  case Opcode::tt_split: return lowerSplit(op, fl);
  case Opcode::tt_cat: return lowerCat(op, fl);
  case Opcode::tt_expand_dims:
  case Opcode::tt_broadcast:
  case Opcode::tt_trans:
  case Opcode::tt_reshape: return lowerReshapeLike(op, fl);
  default: return fl.error(op, "is not a shape operation");
  }
}

} // namespace tessera::codegen
