// Rewrites tensor descriptors as tensors of pointers, for all targets. A descriptor is its base, shape, strides and the
// value that out-of-bounds elements read as; they travel as scalars, and each access gets a tensor of pointers and a
// mask:
//
//   %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f16>, <tensor<64x64xf16>>
//   %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
//     →
//   %v = tt.load %pointers, %inside, %padding : tensor<64x64x!tt.ptr<f16>>
//
// (what %pointers and %inside are: block_access.h). descriptor_store and _scatter become masked stores, _gather a
// masked load whose row offsets are the indices given, _reduce a masked atomic with release semantics, as Triton
// makes it. A kernel's argument of descriptor type becomes a pointer, the shape and strides as i64, and an i1 that
// says whether the padding is NaN, in the order in which Triton's launcher passes them. The pointer keeps the
// descriptor's type as an attribute (ir/argument_attributes.h), so that a launcher finds such groups of arguments.
//
// Limits: TTIR only (no layouts yet); descriptor_reduce inc and dec have no atomic and are errors.
//
// Runs: TTIR.
#include "ir/argument_attributes.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/passes.h"
#include "transforms/ttir/block_access.h"
#include "transforms/ttir/expand_values.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class Descriptors : public ValueExpansion {
public:
  using ValueExpansion::ValueExpansion;

private:
  /// The element as memory and arithmetic know it: the signs of a descriptor's integers are for the unit that moves
  /// them.
  static Type elementOf(TensorDescType d) {
    auto i = d.element().dyn_cast<IntegerType>();
    return i ? Type(IntegerType::get(*d.context(), i.width())) : d.element();
  }

  // base, shape…, strides…, NaN padding
  llvm::SmallVector<Type, 8> partsOf(Type t) override {
    auto d = t.dyn_cast<TensorDescType>();
    if (!d || d.encoding()) return {}; // with a layout it stays (triton-nvidia-optimize-descriptor-encoding)
    auto &c = *t.context();
    llvm::SmallVector<Type, 8> out{PointerType::get(elementOf(d))};
    out.append(2 * d.rank(), c.i64());
    out.push_back(c.i1());
    return out;
  }

  std::string partName(Type t, unsigned part) override {
    unsigned rank = t.cast<TensorDescType>().rank();
    if (part == 0) return "";
    if (part > 2 * rank) return "padding";
    return (part <= rank ? "shape." : "stride.") + std::to_string((part - 1) % rank);
  }

  DictionaryAttr partAttrs(Type t, unsigned part) override {
    if (part != 0) return {};
    return DictionaryAttr::get(*t.context(), {{kDescriptorArgumentAttr, TypeAttr::get(t)}});
  }

  bool rewrite(Operation *op) override {
    Builder b(op);
    Location loc = op->loc();
    switch (op->opcode()) {
    case Opcode::tt_make_tensor_descriptor: {
      auto m = op->cast<tt::MakeTensorDescriptorOp>();
      Type base = partsOf(op->result().type())[0];
      Value p = m.base();
      if (p.type() != base) p = tt::BitcastOp::create(b, loc, base, p).result();
      llvm::SmallVector<Value, 8> by{p};
      for (auto v : m.shape()) by.push_back(toI64(b, loc, v));
      for (auto v : m.strides()) by.push_back(toI64(b, loc, v));
      by.push_back(
          b.constant(loc, b.context().i1(), IntegerAttr::getBool(b.context(), m.padding() == PaddingOption::Nan)));
      define(op->result(), by);
      return true;
    }
    case Opcode::tt_descriptor_load: {
      auto l = op->cast<tt::DescriptorLoadOp>();
      auto data = l.result().type().cast<TensorType>();
      TensorType shape = accessShape(l.desc(), data);
      Value v = load(b, op, block(b, op, l.desc(), l.indices(), shape), l.desc(), shape);
      if (shape != data) v = tt::ReshapeOp::create(b, loc, data, v).result();
      l.result().replaceAllUsesWith(v);
      return true;
    }
    case Opcode::tt_descriptor_store: {
      auto s = op->cast<tt::DescriptorStoreOp>();
      Value v = shaped(b, loc, s.desc(), s.src());
      auto access = block(b, op, s.desc(), s.indices(), v.type().cast<TensorType>());
      tt::StoreOp::create(b, loc, access.pointers, v, access.inside, cacheAttrsOf(op));
      return true;
    }
    case Opcode::tt_descriptor_reduce: {
      auto r = op->cast<tt::DescriptorReduceOp>();
      auto kind = atomicOf(r.kind(), r.desc().type().cast<TensorDescType>().element());
      if (!kind) return fail(op, "has no atomic operation to be rewritten to");
      Value v = shaped(b, loc, r.desc(), r.src());
      auto access = block(b, op, r.desc(), r.indices(), v.type().cast<TensorType>());
      tt::AtomicRmwOp::create(b, loc, access.pointers, v, access.inside,
                              {b.i32Attr("atomic_rmw_op", int(*kind)), b.i32Attr("sem", int(MemSemantic::Release)),
                               b.i32Attr("scope", int(MemSyncScope::Gpu))});
      return true;
    }
    case Opcode::tt_descriptor_gather: {
      auto g = op->cast<tt::DescriptorGatherOp>();
      auto data = g.result().type().cast<TensorType>();
      BlockAccess access;
      if (!rows(b, op, g.desc(), g.xOffsets(), g.yOffset(), data, access)) return false;
      g.result().replaceAllUsesWith(load(b, op, access, g.desc(), data));
      return true;
    }
    case Opcode::tt_descriptor_scatter: {
      auto s = op->cast<tt::DescriptorScatterOp>();
      BlockAccess access;
      if (!rows(b, op, s.desc(), s.xOffsets(), s.yOffset(), s.src().type().cast<TensorType>(), access)) return false;
      tt::StoreOp::create(b, loc, access.pointers, s.src(), access.inside, cacheAttrsOf(op));
      return true;
    }
    default: return false;
    }
  }

  static std::optional<RmwOp> atomicOf(DescriptorReduceKind k, Type element) {
    auto i = element.dyn_cast<IntegerType>();
    bool isUnsigned = i && i.signedness() == Signedness::Unsigned;
    switch (k) {
    case DescriptorReduceKind::Add: return element.isFloat() ? RmwOp::Fadd : RmwOp::Add;
    case DescriptorReduceKind::Min: return isUnsigned ? RmwOp::Umin : RmwOp::Min;
    case DescriptorReduceKind::Max: return isUnsigned ? RmwOp::Umax : RmwOp::Max;
    case DescriptorReduceKind::And: return RmwOp::And;
    case DescriptorReduceKind::Or: return RmwOp::Or;
    case DescriptorReduceKind::Xor: return RmwOp::Xor;
    case DescriptorReduceKind::Inc:
    case DescriptorReduceKind::Dec: return {};
    }
    return {};
  }

  /// For each dimension of the block its axis in data of this shape: dimensions of size 1 may be lacking. Empty where
  /// the shapes have no such relation.
  static llvm::SmallVector<int, 4> axes(llvm::ArrayRef<int64_t> block, llvm::ArrayRef<int64_t> data) {
    llvm::SmallVector<int, 4> out;
    unsigned k = 0;
    for (size_t d = 0; d < block.size(); ++d) {
      bool must = block.size() - d == data.size() - k; // as many left as are needed
      if (k < data.size() && block[d] == data[k] && (block[d] != 1 || must))
        out.push_back(k++);
      else if (block[d] == 1)
        out.push_back(-1);
      else
        return {};
    }
    if (k != data.size()) out.clear();
    return out;
  }
  /// The shape in which the memory is accessed: the data's, or the block's where the data is reshaped.
  static TensorType accessShape(Value desc, TensorType data) {
    auto d = desc.type().cast<TensorDescType>();
    return axes(d.shape(), data.shape()).empty() ? TensorType::get(d.shape(), data.element()) : data;
  }
  static Value shaped(Builder &b, Location loc, Value desc, Value v) {
    TensorType t = accessShape(desc, v.type().cast<TensorType>());
    return t == v.type() ? v : tt::ReshapeOp::create(b, loc, t, v).result();
  }

  BlockAccess block(Builder &b, Operation *op, Value desc, OperandRange indices, TensorType data) {
    auto p = parts(desc);
    auto shape = desc.type().cast<TensorDescType>().shape();
    auto axis = axes(shape, data.shape());
    llvm::SmallVector<BlockDim, 4> dims;
    for (size_t d = 0, rank = shape.size(); d < rank; ++d)
      dims.push_back({shape[d], toI64(b, op->loc(), indices[d]), p[1 + rank + d], p[1 + d], {}, axis[d]});
    return accessBlock(b, op->loc(), p[0], dims, data);
  }
  /// Rows of a matrix by index, from a column on.
  bool rows(Builder &b, Operation *op, Value desc, Value indices, Value column, TensorType data, BlockAccess &out) {
    auto p = parts(desc);
    auto d = desc.type().cast<TensorDescType>();
    auto i = indices.type().cast<TensorType>();
    if (d.rank() != 2 || data.rank() != 2 || i.rank() != 1 || i.dim(0) != data.dim(0))
      return fail(op, "needs a matrix and an index for each of its rows");
    BlockDim row{data.dim(0), {}, p[3], p[1], indices, 0},
        col{data.dim(1), toI64(b, op->loc(), column), p[4], p[2], {}, 1};
    out = accessBlock(b, op->loc(), p[0], {row, col}, data);
    return true;
  }

  Value load(Builder &b, Operation *op, const BlockAccess &access, Value desc, TensorType data) {
    Location loc = op->loc();
    Value other;
    if (data.element().isFloat()) {
      Value nan = b.floatConstant(loc, data, std::numeric_limits<double>::quiet_NaN()),
            zero = b.floatConstant(loc, data, 0);
      other = arith::SelectOp::create(b, loc, parts(desc).back(), nan, zero).result();
    } else
      other = b.intConstant(loc, data, 0);
    return tt::LoadOp::create(b, loc, access.pointers, access.inside, other, cacheAttrsOf(op)).result();
  }
};

} // namespace

absl::StatusOr<bool> rewriteTensorDescriptorToPointer(Module &m, PassContext &c) {
  if (hasLayouts(m.op())) return false; // shared layouts of descriptors belong to the copies that use them
  return Descriptors(m, c.diagnostics, "a tensor descriptor").run();
}

} // namespace tessera::transforms
