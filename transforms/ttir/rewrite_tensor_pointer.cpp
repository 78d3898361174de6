// Pass triton-rewrite-tensor-pointer: rewrites block pointers as tensors of pointers. A block pointer
// (`!tt.ptr<tensor<…>>`) is its base, shape, strides and offsets; these become scalar values, through loops, branches
// and calls. Loads and stores through it get tensors of pointers and masks for the dimensions that are checked. No
// later pass knows block pointers.
//
//   %p = tt.make_tensor_ptr %base, [%n], [%s], [%o] {order = array<i32: 0>} : <tensor<64xf16>>
//   %q = tt.advance %p, [%c] : <tensor<64xf16>>
//   %v = tt.load %q {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<64xf16>>
//     →
//   %o1 = arith.addi %o, %c : i32
//   %x  = arith.extsi %o1 : i32 to i64
//   %a  = tt.addptr %base, %x * %s                                    (scalar)
//   %m  = %range >= splat(0 - %x)  &  %range < splat(%n - %x)         (i64)
//   %v  = tt.load (splat(%a) + %range * splat(%s)), %m, dense<0.0>
//
// Offsets are 32-bit numbers and wrap as such when advanced; addresses and bounds are computed in 64 bits. The order is
// a hint that later layouts do not need: they follow the strides.
//
// Limits: TTIR only (no layouts yet); atomics take no block pointers.
//
// Runs: TTIR.
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "transforms/ttir/block_access.h"
#include "transforms/ttir/expand_values.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class BlockPointers : public ValueExpansion {
public:
  using ValueExpansion::ValueExpansion;

private:
  static TensorType blockOf(Type t) {
    auto p = t.dyn_cast<PointerType>();
    return p ? p.pointee().dyn_cast<TensorType>() : TensorType();
  }

  // base, shape…, strides…, offsets…
  llvm::SmallVector<Type, 8> partsOf(Type t) override {
    auto block = blockOf(t);
    if (!block) return {};
    auto &c = *t.context();
    llvm::SmallVector<Type, 8> out{PointerType::get(block.element(), t.cast<PointerType>().addressSpace())};
    out.append(2 * block.rank(), c.i64());
    out.append(block.rank(), c.i32());
    return out;
  }

  std::string partName(Type t, unsigned part) override {
    unsigned rank = blockOf(t).rank();
    static const char *const kGroups[] = {"shape.", "stride.", "offset."};
    return part == 0 ? "" : kGroups[(part - 1) / rank] + std::to_string((part - 1) % rank);
  }

  bool rewrite(Operation *op) override {
    Builder b(op);
    switch (op->opcode()) {
    case Opcode::tt_make_tensor_ptr: {
      define(op->result(), op->operands().vec());
      return true;
    }
    case Opcode::tt_advance: {
      auto a = op->cast<tt::AdvanceOp>();
      llvm::SmallVector<Value, 8> by(parts(a.ptr()));
      unsigned first = by.size() - a.offsets().size();
      for (unsigned d = 0; d < a.offsets().size(); ++d) {
        Value o = a.offsets()[d];
        if (!o.type().isInteger(32))
          o = arith::TrunciOp::create(b, op->loc(), b.context().i32(), toI64(b, op->loc(), o))->result();
        by[first + d] = arith::AddiOp::create(b, op->loc(), by[first + d], o).result();
      }
      define(op->result(), by);
      return true;
    }
    case Opcode::tt_load: {
      auto l = op->cast<tt::LoadOp>();
      auto data = l.result().type().cast<TensorType>();
      auto access = make(b, op, l.ptr(), data, l.boundaryCheck());
      Value other;
      if (access.inside && l.padding())
        other = *l.padding() == PaddingOption::Nan && data.element().isFloat()
                    ? b.floatConstant(op->loc(), data, std::numeric_limits<double>::quiet_NaN())
                    : zero(b, op->loc(), data);
      auto by = tt::LoadOp::create(b, op->loc(), access.pointers, access.inside, other, without(op->attrs()));
      l.result().replaceAllUsesWith(by.result());
      return true;
    }
    case Opcode::tt_store: {
      auto s = op->cast<tt::StoreOp>();
      auto access = make(b, op, s.ptr(), s.value().type().cast<TensorType>(), s.boundaryCheck());
      tt::StoreOp::create(b, op->loc(), access.pointers, s.value(), access.inside, without(op->attrs()));
      return true;
    }
    default: return false;
    }
  }

  BlockAccess make(Builder &b, Operation *op, Value pointer, TensorType data, llvm::ArrayRef<int64_t> checked) {
    auto p = parts(pointer);
    unsigned rank = data.rank();
    llvm::SmallVector<BlockDim, 4> dims;
    for (unsigned d = 0; d < rank; ++d)
      dims.push_back({data.dim(d),
                      toI64(b, op->loc(), p[1 + 2 * rank + d]),
                      p[1 + rank + d],
                      llvm::is_contained(checked, d) ? p[1 + d] : Value(),
                      {},
                      int(d)});
    return accessBlock(b, op->loc(), p[0], dims, data);
  }

  static Value zero(Builder &b, Location loc, TensorType t) {
    return t.element().isFloat() ? b.floatConstant(loc, t, 0) : b.intConstant(loc, t, 0);
  }

  static llvm::SmallVector<NamedAttribute, 4> without(llvm::ArrayRef<NamedAttribute> attrs) {
    llvm::SmallVector<NamedAttribute, 4> out;
    for (auto &a : attrs)
      if (a.name != "boundaryCheck" && a.name != "padding") out.push_back(a);
    return out;
  }
};

} // namespace

absl::StatusOr<bool> rewriteTensorPointer(Module &m, PassContext &c) {
  if (hasLayouts(m.op())) return false; // block pointers are gone by then
  return BlockPointers(m, c.diagnostics, "a block pointer").run();
}

} // namespace tessera::transforms
