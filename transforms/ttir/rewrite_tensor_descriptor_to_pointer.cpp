// Pass triton-rewrite-tensor-descriptor-to-pointer: rewrites tensor descriptors as tensors of pointers, for all
// targets. A descriptor is its base, shape, strides and the value that out-of-bounds elements read as; they travel as
// scalars, and each access gets a tensor of pointers and a mask:
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
// descriptor's type as an attribute (ir/attribute_names.h), so that a launcher finds such groups of arguments.
//
// What every descriptor that a launch passes guarantees is said of the arguments: base and strides are multiples of 16
// bytes (tt.divisibility), and the last stride is the constant 1. Kernels get two versions (descriptor_versions.h), on
// targets with TMA if a loop loads by descriptors that became pointers, if anything gathers by one, or if all
// descriptors became pointers. A launch takes the fast one if
//
//   shape.last % vector = 0      so that a mask is the same for a vector of 16 bytes
//   shape < 2^30, strides so small that offsets in a block fit i32
//   no padding with NaN          masked-off elements are zeros, as asynchronous copies write them
//
// Limits: TTIR only (no layouts yet); descriptor_reduce inc and dec have no atomic and are errors.
//
// Runs: TTIR.
#include "ir/attribute_names.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/passes.h"
#include "transforms/ttir/block_access.h"
#include "transforms/ttir/descriptor_versions.h"
#include "transforms/ttir/expand_values.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace tessera::transforms {
using namespace ir;

namespace {

class Descriptors : public ValueExpansion {
public:
  using ValueExpansion::ValueExpansion;

  /// Says what launches guarantee of the expanded arguments of kernels.
  static void stateGuarantees(tt::FuncOp kernel);

private:
  static constexpr int64_t kVectorBytes = 16;

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

  // ---- the fast version (descriptor_versions.h) ----

  /// In memory, where an i1 has a byte.
  static int64_t elementBytes(TensorDescType d) { return llvm::divideCeil(d.element().bitWidth(), 8); }
  /// Elements of the widest access to a row of the block.
  static int64_t vectorOf(TensorDescType d) { return std::min(kVectorBytes / elementBytes(d), d.shape().back()); }
  /// Strides of the dimension are less than 2 to the power of this in the fast version: the offsets of a block's last
  /// elements are then less than 2^31 bytes.
  static unsigned strideBits(TensorDescType d, unsigned dim) {
    unsigned used = llvm::Log2_64_Ceil(uint64_t(d.shape()[dim] * elementBytes(d))) + llvm::Log2_64_Ceil(d.rank());
    return used < 30 ? 30 - used : 0;
  }

  Value constant64(Builder &b, Location loc, int64_t v) { return b.intConstant(loc, b.context().i64(), v); }

  /// Whether all of these descriptors may be taken as fast ones. Bits that may not be set are gathered with `or`.
  Value isFast(Builder &b, Location loc, OperandRange descriptors) {
    auto gather = [&](Value &all, Value v) { all = all ? arith::OriOp::create(b, loc, all, v).result() : v; };
    auto above = [&](Value v, unsigned bits) {
      return v ? arith::ShruiOp::create(b, loc, v, constant64(b, loc, bits)).result() : Value();
    };
    Value shapes, strides, isNan, excess;
    unsigned mostBits = 64;        // of a stride
    std::map<int64_t, Value> rows; // sizes of rows, by the elements of a vector
    for (Value v : descriptors) {
      auto d = v.type().cast<TensorDescType>();
      unsigned rank = d.rank();
      auto p = parts(v);
      for (unsigned k = 0; k < rank; ++k) gather(shapes, p[1 + k]);
      for (unsigned k = 0; k + 1 < rank; ++k) {
        gather(strides, p[1 + rank + k]);
        mostBits = std::min(mostBits, strideBits(d, k));
      }
      if (vectorOf(d) > 1) gather(rows[vectorOf(d)], p[rank]);
      if (d.element().isFloat()) gather(isNan, p.back());
    }
    gather(excess, above(shapes, llvm::Log2_64(kNarrowLimit)));
    if (strides) gather(excess, above(strides, mostBits));
    for (auto &[vector, sizes] : rows)
      gather(excess, arith::AndiOp::create(b, loc, sizes, constant64(b, loc, vector - 1)).result());
    if (isNan) gather(excess, arith::ExtuiOp::create(b, loc, b.context().i64(), isNan)->result());
    return compare(b, loc, CmpIPredicate::Eq, excess, constant64(b, loc, 0));
  }

  /// The parts of a descriptor that isFast holds of. By masks that change no bit every analysis knows it.
  void defineFast(Builder &b, Operation *cast) {
    Location loc = cast->loc();
    auto d = cast->result(0).type().cast<TensorDescType>();
    unsigned rank = d.rank();
    llvm::SmallVector<Value, 8> p(parts(cast->operand(0)));
    auto keep = [&](Value &v, int64_t bits) {
      v = arith::AndiOp::create(b, loc, v, constant64(b, loc, bits)).result();
    };
    keep(p[rank], kNarrowLimit - vectorOf(d));
    int64_t unit = std::max<int64_t>(1, kVectorBytes / elementBytes(d)); // strides are multiples of 16 bytes
    for (unsigned k = 0; k + 1 < rank; ++k) {
      keep(p[1 + rank + k], std::max<int64_t>(0, (int64_t(1) << strideBits(d, k)) - unit));
      narrowStrides_.insert(p[1 + rank + k]);
    }
    p[2 * rank] = constant64(b, loc, 1);
    narrowStrides_.insert(p[2 * rank]);
    p.back() = b.constant(loc, b.context().i1(), IntegerAttr::getBool(b.context(), false));
    define(cast->result(0), p);
  }

  bool rewrite(Operation *op) override {
    Builder b(op);
    Location loc = op->loc();
    switch (op->opcode()) {
    case Opcode::builtin_unrealized_conversion_cast:
      if (!op->hasAttr(kFastDescriptorAttr)) return false;
      if (op->result(0).type().isa<TensorDescType>())
        defineFast(b, op);
      else
        op->result(0).replaceAllUsesWith(isFast(b, loc, op->operands()));
      return true;
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
    for (size_t d = 0, rank = shape.size(); d < rank; ++d) {
      bool isNarrow = narrowStrides_.contains(p[1 + rank + d]) && indices[d].type() == b.context().i32();
      dims.push_back({shape[d], toI64(b, op->loc(), indices[d]), p[1 + rank + d], p[1 + d], {}, axis[d], isNarrow});
    }
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

  llvm::DenseSet<Value> narrowStrides_; // of fast descriptors
};

void Descriptors::stateGuarantees(tt::FuncOp kernel) {
  auto attrs = kernel.argAttrs() ? kernel.argAttrs().dyn_cast<ArrayAttr>() : ArrayAttr();
  if (!attrs || kernel.body().empty()) return;
  Context &c = kernel->module().context();
  Block *body = kernel.body().front();
  llvm::SmallVector<Attribute, 16> newAttrs;
  for (unsigned i = 0; i < attrs.size(); ++i) newAttrs.push_back(attrs[i]);
  auto divisible = [&](unsigned i, int64_t by) {
    llvm::SmallVector<NamedAttribute, 4> all;
    if (auto dict = newAttrs[i].dyn_cast<DictionaryAttr>()) llvm::append_range(all, dict.entries());
    all.push_back({c.intern(kDivisibilityAttr), IntegerAttr::getI32(c, by)});
    newAttrs[i] = DictionaryAttr::get(c, all);
  };
  for (unsigned i = 0; i < attrs.size(); ++i) {
    auto dict = attrs[i].dyn_cast<DictionaryAttr>();
    auto type = dict ? dict.get(kDescriptorArgumentAttr) : Attribute();
    if (!type) continue;
    auto d = type.cast<TypeAttr>().value().cast<TensorDescType>();
    divisible(i, kVectorBytes);
    unsigned strides = i + 1 + d.rank(), last = strides + d.rank() - 1;
    for (unsigned k = strides; k < last; ++k) divisible(k, std::max<int64_t>(1, kVectorBytes / elementBytes(d)));
    if (body->arg(last).useEmpty()) continue;
    Builder b(body->front());
    body->arg(last).replaceAllUsesWith(b.intConstant(kernel->loc(), c.i64(), 1));
  }
  kernel->setAttr("arg_attrs", ArrayAttr::get(c, newAttrs));
}

} // namespace

/// Whether two versions are worth their code. Without TMA they always are. With it, a kernel often has loops that TMA
/// serves, and stores by pointers after them. It stays as it is, since no warps are specialised for loops in a branch.
static bool profitsFromVersions(tt::FuncOp kernel, const TargetInfo &target) {
  if (!target.hasTensorCopy) return true;
  bool hasTensorMaps = false;
  bool loadsByPointers = false; // in a loop, or rows
  kernel->walk([&](Operation *op) {
    for (Value v : op->operands()) {
      auto type = v.type().dyn_cast<TensorDescType>();
      if (!type) continue;
      hasTensorMaps |= bool(type.encoding());
      bool becomesPointers = !type.encoding() && !v.definedBy<tt::MakeTensorDescriptorOp>();
      bool loads = op->is<tt::DescriptorGatherOp>() || (op->is<tt::DescriptorLoadOp>() && isInLoop(op));
      loadsByPointers |= becomesPointers && loads;
    }
  });
  return loadsByPointers || !hasTensorMaps;
}

absl::StatusOr<bool> rewriteTensorDescriptorToPointer(Module &m, PassContext &c) {
  if (hasLayouts(m.op())) return false; // shared layouts of descriptors belong to the copies that use them
  auto kernels = [&] {
    llvm::SmallVector<tt::FuncOp, 2> out;
    for (auto &op : *m.body())
      if (auto f = op.dyn<tt::FuncOp>(); f && f.symVisibility() != "private" && !f.body().empty()) out.push_back(f);
    return out;
  };
  bool changed = false;
  if (c.target)
    for (auto f : kernels()) {
      if (!profitsFromVersions(f, *c.target) || !makeDescriptorVersions(f)) continue;
      changed = true;
      c.remark(
          {Remark::Applied,
           "",
           "DescriptorVersions",
           f->loc(),
           "the kernel has a second version, 'fast', for descriptors with rows of whole vectors and no padding with "
           "NaN; the other one is 'general'",
           {}});
    }
  auto rewritten = Descriptors(m, c.diagnostics, "a tensor descriptor").run();
  if (!rewritten.ok()) return rewritten;
  for (auto f : kernels()) Descriptors::stateGuarantees(f);
  return changed || *rewritten;
}

} // namespace tessera::transforms
