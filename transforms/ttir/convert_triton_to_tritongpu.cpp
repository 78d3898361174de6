// TTIR → TTGIR: every tensor gets a layout, and the module says for how many threads it is meant.
//
//   %0 = tt.make_range {…} : tensor<128xi32>
//   %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
//   →
//   %0 = tt.make_range {…} : tensor<128xi32, #blocked1>
//   %1 = ttg.convert_layout %0 : … -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
//   %2 = tt.expand_dims %1 {axis = 1 : i32} : … -> tensor<128x1xi32, #blocked2>
//
// The rules are Triton's: a tensor has the default blocked layout of its shape (layouts/blocked.h), except where an
// operation ties its result's layout to its operands' (broadcast, expand_dims, trans, reshape, join, split, cat,
// reduce, dot); where an operand has another layout than is wanted, ttg.convert_layout stands between. Later passes
// remove nearly all of these conversions.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "transforms/passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

class Conversion {
public:
  Conversion(Module &m, int warps, int lanes, int ctas)
      : m_(m), pool_(m.context().encodings()), warps_(warps), lanes_(lanes), ctas_(ctas) {}

  bool run() {
    for (auto &op : *m_.body())
      if (op.is<tt::FuncOp>()) function(&op);
    return ok_;
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

  /// The operand in the wanted layout, through a conversion if needed.
  void want(Operation *op, unsigned i, const Encoding *e) {
    Value v = op->operand(i);
    if (!v.type().isTensor() || encodingOf(v) == e) return;
    Builder b(op);
    op->setOperand(i, ttg::ConvertLayoutOp::create(b, op->loc(), with(v.type(), e), v).result());
  }
  void wantType(Operation *op, unsigned i, Type t) {
    if (t.isTensor()) want(op, i, t.cast<TensorType>().encoding());
  }
  void wantAllDefault(Operation *op) {
    for (unsigned i = 0; i < op->numOperands(); ++i)
      if (auto t = op->operand(i).type().dyn_cast<TensorType>()) want(op, i, defaultFor(t.shape()));
  }
  void resultsDefault(Operation *op) {
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
    Builder b(op);
    switch (op->opcode()) {
    case Opcode::arith_constant: {
      Type t = convert(op->result().type());
      if (auto d = op->attr<DenseElementsAttr>("value")) op->setAttr("value", d.withType(t.cast<TensorType>()));
      op->result().setType(t);
      return;
    }
    case Opcode::tt_broadcast: op->result().setType(with(op->result().type(), encodingOf(op->operand(0)))); return;
    case Opcode::tt_expand_dims: {
      unsigned axis = op->cast<tt::ExpandDimsOp>().axis();
      auto srcType = op->operand(0).type().cast<TensorType>();
      auto *blocked = layouts::dynCast<layouts::BlockedEncoding>(srcType.encoding());
      if (!blocked) blocked = layouts::dynCast<layouts::BlockedEncoding>(defaultFor(srcType.shape()));
      layouts::BlockedParams p = blocked->params();
      p.sizePerThread.insert(p.sizePerThread.begin() + axis, 1);
      p.threadsPerWarp.insert(p.threadsPerWarp.begin() + axis, 1);
      p.warpsPerCta.insert(p.warpsPerCta.begin() + axis, 1);
      p.order.clear();
      for (unsigned i = 0; i < p.sizePerThread.size(); ++i) p.order.push_back(i);
      for (auto &basis : p.cta.bases) basis.insert(basis.begin() + axis, 0);
      auto *e = *pool_.getBlocked(std::move(p));
      op->result().setType(with(op->result().type(), e));
      want(op, 0, *pool_.getSlice(axis, e));
      return;
    }
    case Opcode::tt_trans: {
      auto src = op->operand(0).type().cast<TensorType>();
      op->result().setType(
          with(op->result().type(),
               layouts::inferTrans(pool_, src.encoding(), op->cast<tt::TransOp>().order(), src.shape())));
      return;
    }
    case Opcode::tt_reshape: {
      auto src = op->operand(0).type().cast<TensorType>();
      auto dst = op->result().type().cast<TensorType>();
      auto *e = op->cast<tt::ReshapeOp>().allowReorder()
                    ? defaultFor(dst.shape())
                    : layouts::inferReshape(pool_, src.encoding(), src.shape(), dst.shape());
      op->result().setType(dst.withEncoding(e));
      return;
    }
    case Opcode::tt_join: {
      auto src = op->operand(0).type().cast<TensorType>();
      for (unsigned i = 0; i < 2; ++i) want(op, i, defaultFor(src.shape()));
      op->result().setType(with(op->result().type(), layouts::inferJoin(pool_, defaultFor(src.shape()), src.shape())));
      return;
    }
    case Opcode::tt_split: {
      resultsDefault(op);
      auto dst = op->result(0).type().cast<TensorType>();
      want(op, 0, layouts::inferJoin(pool_, dst.encoding(), dst.shape()));
      return;
    }
    case Opcode::tt_cat: {
      wantAllDefault(op);
      auto dst = op->result().type().cast<TensorType>();
      auto p = layouts::dynCast<layouts::BlockedEncoding>(defaultFor(dst.shape()))->params();
      auto perThread = [&](Type t) {
        return int64_t(t.cast<TensorType>()
                           .encoding()
                           ->toLinearLayout(t.cast<TensorType>().shape())
                           ->inDimSize(layouts::Dim::Register));
      };
      int64_t wanted = llvm::PowerOf2Ceil(2 * perThread(op->operand(0).type())),
              has = perThread(dst.withEncoding(defaultFor(dst.shape())));
      p.sizePerThread[p.order[0]] *= std::max<int64_t>(1, wanted / has);
      op->result().setType(dst.withEncoding(*pool_.getBlocked(std::move(p))));
      return;
    }
    case Opcode::tt_reduce: {
      auto *e = encodingOf(op->operand(0));
      for (unsigned i = 1; i < op->numOperands(); ++i) want(op, i, e);
      auto axis = op->cast<tt::ReduceOp>().axis();
      for (auto r : op->results())
        if (r.type().isTensor()) r.setType(with(r.type(), *pool_.getSlice(axis, e)));
      return;
    }
    case Opcode::tt_scan: {
      auto *e = encodingOf(op->operand(0));
      for (unsigned i = 1; i < op->numOperands(); ++i) want(op, i, e);
      for (auto r : op->results()) r.setType(with(r.type(), e));
      return;
    }
    case Opcode::tt_dot: return dot(op);
    case Opcode::scf_for: {
      auto f = op->cast<scf::ForOp>();
      for (unsigned i = 0; i < f.initArgs().size(); ++i)
        wantType(op, i + 3,
                 convert(f.initArgs()[i].type().isTensor()
                             ? f.initArgs()[i].type().cast<TensorType>().withEncoding(nullptr)
                             : f.initArgs()[i].type()));
      resultsDefault(op);
      region(f.body());
      return;
    }
    case Opcode::scf_while: {
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (auto t = op->operand(i).type().dyn_cast<TensorType>()) want(op, i, defaultFor(t.shape()));
      resultsDefault(op);
      region(op->region(0));
      region(op->region(1));
      return;
    }
    case Opcode::scf_if:
    case Opcode::scf_execute_region:
      resultsDefault(op);
      for (auto &r : op->regions()) region(r);
      return;
    default:
      if (op->info().has(kTerminator) || op->is<tt::CallOp>()) {
        if (op->parentOp()->is<tt::ReduceOp>() || op->parentOp()->is<tt::ScanOp>()) return;
        wantAllDefault(op);
        resultsDefault(op);
        return;
      }
      // Everything else acts elementwise in the default layouts of its shapes.
      wantAllDefault(op);
      resultsDefault(op);
      for (auto &r : op->regions()) region(r);
    }
  }

  void dot(Operation *op) {
    auto d = op->cast<tt::DotOp>();
    auto type = op->result().type().cast<TensorType>();
    auto shape = type.shape();
    unsigned rank = shape.size();
    int64_t perThread = type.numElements() / (int64_t(warps_) * lanes_);
    llvm::SmallVector<int32_t, 4> size(rank, 1), order;
    int32_t s = perThread >= 16 ? 4 : perThread >= 4 ? 2 : 1;
    size[rank - 1] = size[rank - 2] = s;
    for (unsigned i = 0; i < rank; ++i) order.push_back(rank - 1 - i);
    auto *e = *pool_.getBlocked(layouts::blockedParamsFor(shape, size, order, warps_, lanes_));
    op->result().setType(type.withEncoding(e));
    auto isDotOperand = [](Value v) {
      return encodingOf(v) && encodingOf(v)->kind() == layouts::EncodingKind::DotOperand;
    };
    for (unsigned i = 0; i < 2; ++i)
      if (!isDotOperand(op->operand(i))) want(op, i, *pool_.getDotOperand(i, e, 0));
    want(op, 2, e);
    (void)d;
  }

  Module &m_;
  layouts::EncodingPool &pool_;
  int warps_, lanes_, ctas_;
  bool ok_ = true;
};

/// The first operation with a tensor that has no dimensions: there is no layout to give it.
Operation *firstWithoutDimensions(Module &m, Type &which) {
  Operation *found = nullptr;
  m.op()->walk([&](Operation *op) {
    auto look = [&](Type t) {
      if (auto p = t.dyn_cast<PointerType>()) t = p.pointee();
      if (found || !t || !t.isTensor() || !t.cast<TensorType>().shape().empty()) return;
      found = op;
      which = t;
    };
    for (auto r : op->results()) look(r.type());
    if (auto f = op->dyn<tt::FuncOp>()) {
      auto type = f.functionType().cast<FunctionType>();
      for (unsigned i = 0; i < type.numInputs(); ++i) look(type.input(i));
      for (unsigned i = 0; i < type.numResults(); ++i) look(type.result(i));
    }
    for (auto &region : op->regions())
      for (auto *b = region.front(); b; b = b->next())
        for (auto *a : b->args()) look(a->type);
  });
  return found;
}

} // namespace

absl::StatusOr<bool> convertTritonToTritonGpu(Module &m, const ConvertTritonToTritonGpuOptions &o, PassContext &c) {
  if (hasLayouts(m.op())) return false;
  std::string target = !o.target.empty() ? o.target : c.target ? c.target->tritonTarget.str() : "";
  int64_t lanes = o.threadsPerWarp.value_or(c.target ? c.target->warpSize : 32);
  Type type;
  if (Operation *op = firstWithoutDimensions(m, type)) {
    Diagnostic d;
    d.message = "'" + op->name().str() + "' has type " + type.str() +
                ", and a tensor without dimensions has no layout; use a scalar";
    d.loc = op->loc();
    d.op = op;
    c.diagnostics.report(std::move(d));
    return absl::InvalidArgumentError("a tensor has no dimensions");
  }
  setModuleInt(m.op(), kNumCtasAttr, o.numCtas);
  setModuleInt(m.op(), kNumWarpsAttr, o.numWarps);
  if (!target.empty()) m.op()->setAttr(kTargetAttr, StringAttr::get(m.context(), target));
  setModuleInt(m.op(), kThreadsPerWarpAttr, lanes);
  Conversion(m, o.numWarps, lanes, o.numCtas).run();
  return true;
}

} // namespace tessera::transforms
