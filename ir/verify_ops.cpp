// The verifier's hooks: what a single operation demands beyond its row (see verifier.h). Named verify_DIALECT_NAME; the
// generic checks have passed when a hook runs.
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::ir {
#define HOOK(name) bool verify_##name(Operation *op, DiagnosticEngine &diag)

/// Shape and layout of two values agree (element types may differ).
static bool sameShape(Type a, Type b) {
  Context &c = *a.context();
  return a.isTensor() == b.isTensor() && (!a.isTensor() || a.withScalar(c.i1()) == b.withScalar(c.i1()));
}
static llvm::ArrayRef<int64_t> shapeOf(Value v) { return v.type().cast<TensorType>().shape(); }
static const layouts::Encoding *encodingOf(Value v) { return v.type().cast<TensorType>().encoding(); }

// ---- functions and control flow -------------------------------------------------------------------------------------

HOOK(builtin_module) {
  for (auto [name, most] :
       {std::pair(kNumWarpsAttr, 64), std::pair(kNumCtasAttr, 32), std::pair(kThreadsPerWarpAttr, 64)})
    if (Attribute a = op->attr(name)) {
      auto v = a.dyn_cast<IntegerAttr>();
      if (!v || v.value().getSignificantBits() > 32 || v.sext() < 1 || v.sext() > most ||
          !llvm::isPowerOf2_64(v.sext()))
        return opError(op, diag, name + " must be a power of two from 1 to " + llvm::Twine(most) + ", not " + a.str());
    }
  for (auto name : {kSharedAttr, kMaxRegistersAttr, kGlobalScratchSizeAttr, kGlobalScratchAlignAttr})
    if (Attribute a = op->attr(name)) {
      auto v = a.dyn_cast<IntegerAttr>();
      if (!v || v.value().getSignificantBits() > 32 || v.sext() < 0)
        return opError(op, diag, name + " must be an integer that is at least 0, not " + a.str());
    }
  if (Attribute a = op->attr(kTargetAttr); a && !a.isa<StringAttr>())
    return opError(op, diag, kTargetAttr + " must be a string such as \"cuda:90\" or \"hip:gfx942\", not " + a.str());
  return true;
}

HOOK(tt_func) {
  auto f = op->cast<tt::FuncOp>();
  auto type = f.functionType().dyn_cast<FunctionType>();
  if (!type) return opError(op, diag, "needs a function type");
  if (Block *entry = f.body().front()) {
    if (entry->numArgs() != type.numInputs())
      return opError(op, diag,
                     "has " + llvm::Twine(entry->numArgs()) + " block arguments but " + llvm::Twine(type.numInputs()) +
                         " inputs in its type");
    for (unsigned i = 0; i < type.numInputs(); ++i)
      if (entry->arg(i).type() != type.input(i))
        return opError(op, diag, "argument " + llvm::Twine(i) + " differs from the function's type");
  }
  if (auto attrs = op->attr<ArrayAttr>("arg_attrs")) {
    if (attrs.size() != type.numInputs())
      return opError(op, diag,
                     "has attributes for " + counted(attrs.size(), "argument") + " but " +
                         llvm::Twine(type.numInputs()) + " inputs");
    for (unsigned i = 0; i < attrs.size(); ++i) {
      auto d = attrs[i].dyn_cast<DictionaryAttr>();
      if (!d) return opError(op, diag, "has argument attributes that are no dictionary");
      for (llvm::StringRef key : {"tt.divisibility", "tt.contiguity", "tt.constancy"})
        if (Attribute a = d.get(key)) {
          auto v = a.dyn_cast<IntegerAttr>();
          if (v && (v.sext() <= 0 || !llvm::isPowerOf2_64(v.sext())))
            return opError(op, diag,
                           key + " of argument " + llvm::Twine(i) + " must be a power of two, not " +
                               llvm::Twine(v.sext()));
        }
    }
  }
  return true;
}

HOOK(tt_return) {
  auto f = op->parentOfType<tt::FuncOp>();
  if (!f || op->parentOp() != f.op) return opError(op, diag, "must stand directly in a function");
  auto type = f.functionType().cast<FunctionType>();
  if (op->numOperands() != type.numResults())
    return opError(op, diag,
                   "returns " + counted(op->numOperands(), "value") + "; the function has " +
                       counted(type.numResults(), "result"));
  for (unsigned i = 0; i < type.numResults(); ++i)
    if (op->operand(i).type() != type.result(i))
      return opError(op, diag,
                     "returns " + op->operand(i).type().str() + " for result " + llvm::Twine(i) + " of type " +
                         type.result(i).str(),
                     i);
  return true;
}

HOOK(tt_call) {
  auto call = op->cast<tt::CallOp>();
  Operation *callee = nullptr;
  for (Operation *m = op->parentOp(); m && !callee; m = m->parentOp())
    if (m->opcode() == Opcode::builtin_module)
      for (auto &f : *m->region(0).front())
        if (auto n = f.attr<StringAttr>("sym_name"); n && n.value() == call.callee()) callee = &f;
  if (!callee || !callee->is<tt::FuncOp>())
    return opError(op, diag, "calls '@" + call.callee() + "', which the module does not have");
  auto type = callee->cast<tt::FuncOp>().functionType().cast<FunctionType>();
  if (type.numInputs() != op->numOperands() || type.numResults() != op->numResults())
    return opError(op, diag, "does not match the type of '@" + call.callee() + "'");
  for (unsigned i = 0; i < op->numOperands(); ++i)
    if (op->operand(i).type() != type.input(i))
      return opError(op, diag,
                     "passes " + op->operand(i).type().str() + " for an argument of type " + type.input(i).str(), i);
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (op->result(i).type() != type.result(i))
      return opError(op, diag, "result " + llvm::Twine(i) + " does not match the type of '@" + call.callee() + "'");
  return true;
}

static bool yields(Operation *op, Region &r, ResultRange results, DiagnosticEngine &diag) {
  for (auto *b = r.front(); b; b = b->next()) {
    Operation *t = b->terminator();
    if (!t || !t->is<scf::YieldOp>()) {
      if (r.hasOneBlock()) return opError(op, diag, "must end its regions in scf.yield");
      continue;
    }
    if (t->numOperands() != results.size())
      return opError(t, diag,
                     "yields " + counted(t->numOperands(), "value") + "; " + llvm::Twine(results.size()) +
                         " are expected");
    for (unsigned i = 0; i < results.size(); ++i)
      if (t->operand(i).type() != results[i].type())
        return opError(t, diag,
                       "yields " + t->operand(i).type().str() + " for a result of type " + results[i].type().str(), i);
  }
  return true;
}

HOOK(scf_for) {
  auto f = op->cast<scf::ForOp>();
  if (f.body().empty()) return opError(op, diag, "needs a body");
  Type t = f.lowerBound().type();
  if (f.upperBound().type() != t || f.step().type() != t)
    return opError(op, diag, "bounds and step must have one type");
  Block *b = f.body().front();
  unsigned n = f.initArgs().size();
  if (b->numArgs() != n + 1 || op->numResults() != n)
    return opError(op, diag,
                   "carries " + counted(n, "value") + "; its body has " + counted(b->numArgs(), "argument") + " and it has " + counted(op->numResults(), "result"));
  if (b->arg(0).type() != t) return opError(op, diag, "the induction variable must have the bounds' type");
  for (unsigned i = 0; i < n; ++i)
    if (f.initArgs()[i].type() != b->arg(i + 1).type() || f.initArgs()[i].type() != op->result(i).type())
      return opError(op, diag, "carried value " + llvm::Twine(i) + " changes its type", 3 + i);
  return yields(op, f.body(), op->results(), diag);
}

HOOK(scf_if) {
  auto i = op->cast<scf::IfOp>();
  if (i.thenRegion().empty()) return opError(op, diag, "needs a region");
  if (i.elseRegion().empty() && op->numResults()) return opError(op, diag, "has results, so it needs an else region");
  return yields(op, i.thenRegion(), op->results(), diag) && yields(op, i.elseRegion(), op->results(), diag);
}

HOOK(scf_while) {
  auto w = op->cast<scf::WhileOp>();
  if (w.before().empty() || w.after().empty()) return opError(op, diag, "needs two regions");
  Block *before = w.before().front(), *after = w.after().front();
  auto *cond = before->terminator();
  if (!cond || !cond->is<scf::ConditionOp>()) return opError(op, diag, "must end its first region in scf.condition");
  if (before->numArgs() != w.inits().size())
    return opError(op, diag,
                   "carries " + counted(w.inits().size(), "value") + " but its first region has " +
                       counted(before->numArgs(), "argument"));
  for (unsigned k = 0; k < w.inits().size(); ++k)
    if (w.inits()[k].type() != before->arg(k).type())
      return opError(op, diag, "carried value " + llvm::Twine(k) + " changes its type", k);
  auto args = cond->cast<scf::ConditionOp>().args();
  if (args.size() != op->numResults() || args.size() != after->numArgs())
    return opError(cond, diag,
                   "passes " + counted(args.size(), "value") + "; " + llvm::Twine(op->numResults()) +
                       " are expected");
  for (unsigned k = 0; k < args.size(); ++k)
    if (args[k].type() != op->result(k).type() || args[k].type() != after->arg(k).type())
      return opError(cond, diag, "passes a value of another type", k + 1);
  auto *y = after->terminator();
  if (!y || !y->is<scf::YieldOp>() || y->numOperands() != w.inits().size())
    return opError(op, diag, "must end its second region in scf.yield of the carried values");
  for (unsigned k = 0; k < w.inits().size(); ++k)
    if (y->operand(k).type() != w.inits()[k].type()) return opError(y, diag, "yields a value of another type", k);
  return true;
}

static bool branchArgs(Operation *op, Block *to, OperandRange args, DiagnosticEngine &diag) {
  if (args.size() != to->numArgs())
    return opError(op, diag,
                   "passes " + counted(args.size(), "value") + " to a block with " + counted(to->numArgs(), "argument"));
  for (unsigned i = 0; i < args.size(); ++i)
    if (args[i].type() != to->arg(i).type())
      return opError(op, diag,
                     "passes " + args[i].type().str() + " for a block argument of type " + to->arg(i).type().str());
  return true;
}
HOOK(cf_br) { return branchArgs(op, op->successor(0), op->operands(), diag); }
HOOK(cf_cond_br) {
  auto c = op->cast<cf::CondBrOp>();
  return branchArgs(op, op->successor(0), c.trueArgs(), diag) && branchArgs(op, op->successor(1), c.falseArgs(), diag);
}

// ---- constants, casts and comparisons -------------------------------------------------------------------------------

HOOK(arith_constant) {
  Attribute a = op->attr("value");
  Type t;
  if (auto i = a.dyn_cast<IntegerAttr>())
    t = i.type();
  else if (auto f = a.dyn_cast<FloatAttr>())
    t = f.type();
  else if (auto d = a.dyn_cast<DenseElementsAttr>())
    t = d.type();
  return t == op->result().type() || opError(op, diag, "has a value of another type than its result");
}
HOOK(arith_cmpi) {
  return sameShape(op->operand(0).type(), op->result().type()) && op->operand(0).type() == op->operand(1).type()
             ? true
             : opError(op, diag, "compares values of different types");
}
HOOK(arith_cmpf) { return verify_arith_cmpi(op, diag); }
HOOK(arith_select) {
  auto s = op->cast<arith::SelectOp>();
  if (s.trueValue().type() != s.falseValue().type() || s.trueValue().type() != s.result().type())
    return opError(op, diag, "selects between values of different types");
  if (s.condition().type().isTensor() && !sameShape(s.condition().type(), s.result().type()))
    return opError(op, diag, "has a condition of another shape or layout than its values", 0);
  return true;
}
static bool widths(Operation *op, DiagnosticEngine &diag, bool widens) {
  unsigned a = op->operand(0).type().scalar().bitWidth(), b = op->result().type().scalar().bitWidth();
  if (widens ? b > a : b < a) return true;
  return opError(op, diag,
                 llvm::Twine("must ") + (widens ? "widen" : "narrow") + ": " + op->operand(0).type().str() + " to " +
                     op->result().type().str(),
                 0);
}
HOOK(arith_extsi) { return widths(op, diag, true); }
HOOK(arith_extui) { return widths(op, diag, true); }
HOOK(arith_extf) { return widths(op, diag, true); }
HOOK(arith_trunci) { return widths(op, diag, false); }
HOOK(arith_truncf) { return widths(op, diag, false); }
HOOK(arith_bitcast) {
  unsigned a = op->operand(0).type().scalar().bitWidth(), b = op->result().type().scalar().bitWidth();
  return a == b ||
         opError(op, diag, "changes the width: " + op->operand(0).type().str() + " to " + op->result().type().str(), 0);
}
HOOK(tt_bitcast) { return verify_arith_bitcast(op, diag); }
HOOK(tt_fp_to_fp) {
  unsigned a = op->operand(0).type().scalar().bitWidth(), b = op->result().type().scalar().bitWidth();
  if (b < a && !op->hasAttr("rounding")) return opError(op, diag, "narrows, so it must state its rounding");
  return true;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static Type pointeeOf(Type ptr) { return ptr.withScalar(ptr.scalar().cast<PointerType>().pointee()); }
static bool isBlockPointer(Type t) { return t.isPointer() && t.cast<PointerType>().pointee().isTensor(); }

HOOK(tt_addptr) {
  auto a = op->cast<tt::AddptrOp>();
  return a.ptr().type() == a.result().type() || opError(op, diag, "must give a pointer of its operand's type", 0);
}
HOOK(tt_load) {
  auto l = op->cast<tt::LoadOp>();
  if (isBlockPointer(l.ptr().type())) {
    Type want = l.ptr().type().cast<PointerType>().pointee();
    if (l.result().type().scalar() != want.scalar()) return opError(op, diag, "must give " + want.str());
    if (l.mask() || l.other())
      return opError(op, diag, "of a block pointer takes boundaryCheck and padding, not mask and other");
    for (auto d : l.boundaryCheck())
      if (d < 0 || d >= int64_t(want.cast<TensorType>().rank()))
        return opError(op, diag, "boundaryCheck names dimension " + llvm::Twine(d) + ", which the block does not have");
    return true;
  }
  if (!l.boundaryCheck().empty()) return opError(op, diag, "takes boundaryCheck for block pointers only");
  Type want = pointeeOf(l.ptr().type());
  if (l.result().type() != want)
    return opError(op, diag, "must give " + want.str() + ", not " + l.result().type().str());
  if (l.mask() && !sameShape(l.mask().type(), l.ptr().type()))
    return opError(op, diag, "has a mask of type " + l.mask().type().str() + ", which does not have the pointers' shape and layout", 1);
  if (l.other() && !l.mask()) return opError(op, diag, "has a value for masked-off elements but no mask");
  if (l.other() && l.other().type() != want)
    return opError(op, diag,
                   "the value for masked-off elements must be " + want.str() + ", not " + l.other().type().str(), 2);
  return true;
}
HOOK(tt_store) {
  auto s = op->cast<tt::StoreOp>();
  if (isBlockPointer(s.ptr().type())) {
    if (s.mask()) return opError(op, diag, "of a block pointer takes boundaryCheck, not a mask");
    Type want = s.ptr().type().cast<PointerType>().pointee();
    if (s.value().type().scalar() != want.scalar())
      return opError(op, diag, "stores " + s.value().type().str() + " through a pointer to " + want.str(), 1);
    for (auto d : s.boundaryCheck())
      if (d < 0 || d >= int64_t(want.cast<TensorType>().rank()))
        return opError(op, diag, "boundaryCheck names dimension " + llvm::Twine(d) + ", which the block does not have");
    return true;
  }
  Type want = pointeeOf(s.ptr().type());
  if (s.value().type() != want)
    return opError(op, diag, "stores " + s.value().type().str() + " through a pointer to " + want.str(), 1);
  if (s.mask() && !sameShape(s.mask().type(), s.ptr().type()))
    return opError(op, diag, "has a mask of type " + s.mask().type().str() + ", which does not have the pointers' shape and layout", 2);
  return true;
}
/// Memory is changed at once in units of 8, 16, 32 or 64 bits.
static bool hasAtomicWidth(Type t) { return t.isPointer() || llvm::is_contained({8u, 16u, 32u, 64u}, t.bitWidth()); }
HOOK(tt_atomic_rmw) {
  auto a = op->cast<tt::AtomicRmwOp>();
  Type want = pointeeOf(a.ptr().type());
  if (a.val().type() != want)
    return opError(op, diag, "combines " + a.val().type().str() + " through a pointer to " + want.str(), 1);
  if (a.result().type() != want) return opError(op, diag, "must give " + want.str());
  if (a.mask() && !sameShape(a.mask().type(), a.ptr().type()))
    return opError(op, diag, "mask does not match the pointers", 2);
  bool f = want.scalar().isFloat(), floatOp = a.atomicRmwOp() == RmwOp::Fadd;
  bool exchange = a.atomicRmwOp() == RmwOp::Exch;
  if (floatOp && !f) return opError(op, diag, "fadd needs floats, not " + want.str(), 1);
  if (!hasAtomicWidth(want.scalar()) || (f && !exchange && want.scalar().bitWidth() < 16)) return opError(op, diag, "cannot combine values of type " + want.scalar().str() + " in memory", 1);
  bool either = exchange || a.atomicRmwOp() == RmwOp::Max || a.atomicRmwOp() == RmwOp::Min;
  if ((f && !floatOp && !either) || (want.scalar().isPointer() && !exchange)) return opError(op, diag, "combines integers this way, not " + want.str(), 1);
  return true;
}
HOOK(tt_atomic_cas) {
  auto a = op->cast<tt::AtomicCasOp>();
  Type want = pointeeOf(a.ptr().type());
  if (a.cmp().type() != want || a.val().type() != want || a.result().type() != want)
    return opError(op, diag, "compares and swaps values of type " + want.str());
  if (!hasAtomicWidth(want.scalar())) return opError(op, diag, "cannot compare and swap values of type " + want.scalar().str() + " in memory", 1);
  return true;
}
HOOK(tt_make_tensor_ptr) {
  auto m = op->cast<tt::MakeTensorPtrOp>();
  auto block = m.result().type().cast<PointerType>().pointee().dyn_cast<TensorType>();
  if (!block) return opError(op, diag, "must give a pointer to a tensor");
  unsigned rank = block.rank();
  if (m.shape().size() != rank || m.strides().size() != rank || m.offsets().size() != rank || m.order().size() != rank)
    return opError(op, diag, "needs a shape, strides, offsets and order of rank " + llvm::Twine(rank));
  if (m.base().type().cast<PointerType>().pointee() != block.element())
    return opError(op, diag, "base points to another type than the block holds", 0);
  return true;
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

HOOK(tt_splat) {
  bool scalar = !op->operand(0).type().isTensor() || shapeOf(op->operand(0)).empty();
  return (scalar && op->operand(0).type().scalar() == op->result().type().scalar()) ||
         opError(op, diag, "splats " + op->operand(0).type().str() + " to " + op->result().type().str(), 0);
}
HOOK(tt_unsplat) {
  auto t = op->operand(0).type().cast<TensorType>();
  if (t.numElements() != 1) return opError(op, diag, "needs a tensor of one element", 0);
  return op->result().type() == t.element() || opError(op, diag, "must give the tensor's element type");
}
HOOK(tt_make_range) {
  auto r = op->cast<tt::MakeRangeOp>();
  auto t = r.result().type().cast<TensorType>();
  if (t.rank() != 1) return opError(op, diag, "gives a tensor of one dimension");
  if (r.end() <= r.start())
    return opError(op, diag, "needs start < end, not " + llvm::Twine(r.start()) + " and " + llvm::Twine(r.end()));
  if (r.end() - r.start() != t.dim(0))
    return opError(op, diag,
                   "has " + counted(r.end() - r.start(), "value") + " but its type has " + llvm::Twine(t.dim(0)));
  return t.element().isInteger(32) || opError(op, diag, "gives a tensor of i32");
}
HOOK(tt_expand_dims) {
  auto e = op->cast<tt::ExpandDimsOp>();
  auto src = shapeOf(e.src()), dst = shapeOf(e.result());
  if (e.src().type().scalar() != e.result().type().scalar()) return opError(op, diag, "changes the element type");
  if (e.axis() < 0 || e.axis() > int64_t(src.size()) || dst.size() != src.size() + 1)
    return opError(op, diag, "axis " + llvm::Twine(e.axis()) + " is out of range");
  llvm::SmallVector<int64_t, 4> want(src.begin(), src.end());
  want.insert(want.begin() + e.axis(), 1);
  if (llvm::ArrayRef(want) != dst) return opError(op, diag, "gives a tensor of the wrong shape");
  if (auto *enc = encodingOf(e.src())) {
    auto *slice = layouts::dynCast<layouts::SliceEncoding>(enc);
    if (!slice || slice->dim() != e.axis() || slice->parent() != encodingOf(e.result()))
      return opError(op, diag, "needs an operand in the slice of its result's layout", 0);
  }
  return true;
}
HOOK(tt_reshape) {
  if (op->operand(0).type().scalar() != op->result().type().scalar())
    return opError(op, diag, "changes the element type");
  if (op->operand(0).type().cast<TensorType>().numElements() != op->result().type().cast<TensorType>().numElements())
    return opError(op, diag, "changes the number of elements");
  return true;
}
HOOK(tt_broadcast) {
  auto src = shapeOf(op->operand(0)), dst = shapeOf(op->result());
  if (op->operand(0).type().scalar() != op->result().type().scalar())
    return opError(op, diag, "changes the element type");
  if (src.size() != dst.size()) return opError(op, diag, "changes the rank");
  for (unsigned i = 0; i < src.size(); ++i)
    if (src[i] != dst[i] && src[i] != 1)
      return opError(op, diag, "cannot repeat dimension " + llvm::Twine(i) + " of size " + llvm::Twine(src[i]));
  return encodingOf(op->operand(0)) == encodingOf(op->result()) || opError(op, diag, "must keep the layout");
}
HOOK(tt_cat) {
  if (op->operand(0).type() != op->operand(1).type()) return opError(op, diag, "needs operands of one type");
  auto src = shapeOf(op->operand(0)), dst = shapeOf(op->result());
  if (dst.size() != src.size() || dst[0] != 2 * src[0] || dst.drop_front() != src.drop_front())
    return opError(op, diag, "gives a tensor of the wrong shape");
  return true;
}
HOOK(tt_join) {
  if (op->operand(0).type() != op->operand(1).type()) return opError(op, diag, "needs operands of one type");
  auto src = shapeOf(op->operand(0)), dst = shapeOf(op->result());
  if (dst.size() != src.size() + 1 || dst.back() != 2 || dst.drop_back() != src)
    return opError(op, diag, "gives a tensor of the wrong shape");
  return true;
}
HOOK(tt_split) {
  auto src = shapeOf(op->operand(0)), dst = shapeOf(op->result(0));
  if (op->result(0).type() != op->result(1).type()) return opError(op, diag, "gives two tensors of one type");
  if (src.back() != 2 || src.drop_back() != dst)
    return opError(op, diag, "needs a last dimension of 2, which the results lack");
  return true;
}
HOOK(tt_trans) {
  auto t = op->cast<tt::TransOp>();
  auto src = shapeOf(t.src()), dst = shapeOf(t.result());
  llvm::SmallVector<int64_t, 4> sorted(t.order());
  llvm::sort(sorted);
  bool permutation = sorted.size() == src.size();
  for (unsigned i = 0; permutation && i < sorted.size(); ++i) permutation = sorted[i] == i;
  if (!permutation) return opError(op, diag, "needs an order that is a permutation of its dimensions");
  if (dst.size() != src.size()) return opError(op, diag, "changes the rank");
  for (unsigned i = 0; i < dst.size(); ++i)
    if (dst[i] != src[t.order()[i]]) return opError(op, diag, "gives a tensor of the wrong shape");
  return t.src().type().scalar() == t.result().type().scalar() || opError(op, diag, "changes the element type");
}
HOOK(tt_gather) {
  auto g = op->cast<tt::GatherOp>();
  if (g.axis() < 0 || g.axis() >= int64_t(shapeOf(g.src()).size()))
    return opError(op, diag, "axis " + llvm::Twine(g.axis()) + " is out of range");
  if (!sameShape(g.indices().type(), g.result().type()))
    return opError(op, diag, "gives a tensor of its indices' shape");
  return true;
}
HOOK(tt_histogram) { return shapeOf(op->result()).size() == 1 || opError(op, diag, "gives a tensor of one dimension"); }

// ---- computation ----------------------------------------------------------------------------------------------------

HOOK(tt_dot) {
  auto d = op->cast<tt::DotOp>();
  auto a = shapeOf(d.a()), b = shapeOf(d.b()), c = shapeOf(d.c());
  unsigned r = a.size();
  if (r < 2 || b.size() != r || c.size() != r) return opError(op, diag, "needs matrices of one rank, 2 or 3");
  if (a[r - 1] != b[r - 2])
    return opError(op, diag, "inner dimensions differ: " + llvm::Twine(a[r - 1]) + " and " + llvm::Twine(b[r - 2]));
  if (c[r - 2] != a[r - 2] || c[r - 1] != b[r - 1]) return opError(op, diag, "the accumulator has the wrong shape", 2);
  return d.c().type() == d.d().type() || opError(op, diag, "gives the accumulator's type");
}

/// An operand of a product of microscaled matrices and its scales. `packed` of its last two dimensions (0 or 1) has two e2m1
/// to a byte; `kDim` is K, the other one `outer`.
static bool scaledOperand(Operation *op, DiagnosticEngine &diag, unsigned index, Value scale, ScaleDotElemType kind, unsigned packed, unsigned kDim, int64_t &outer, int64_t &k) {
  auto type = op->operand(index).type().cast<TensorType>();
  Type element = type.element();
  unsigned rank = type.rank(), bits = element.isFloat() || element.isInteger() ? element.bitWidth() : 0;
  bool wide = kind == ScaleDotElemType::Bf16 || kind == ScaleDotElemType::Fp16;
  if (rank < 2 || rank > 3) return opError(op, diag, "needs matrices of one rank, 2 or 3", index);
  if (bits != (wide ? 16 : 8) || (kind == ScaleDotElemType::E2m1 && !element.isInteger()))
    return opError(op, diag, "has elements of " + element.str() + " for " + (wide ? "16-bit floats" : kind == ScaleDotElemType::E2m1 ? "bytes of two 4-bit floats" : "8-bit floats"), index);
  int64_t sizes[2] = {type.dim(rank - 2), type.dim(rank - 1)};
  if (kind == ScaleDotElemType::E2m1) sizes[packed] *= 2;
  k = sizes[kDim], outer = sizes[1 - kDim];
  if (!scale) return true;
  auto s = scale.type().cast<TensorType>();
  unsigned at = scale == op->operand(op->operandGroupStart(index + 3)) ? op->operandGroupStart(index + 3) : index;
  if (!(s.element().isInteger() && s.element().bitWidth() == 8) && !(s.element().isFloat() && s.element().bitWidth() <= 16))
    return opError(op, diag, "needs scales of 8-bit integers or floats, not of " + s.element().str(), at);
  if (s.rank() != rank || (rank == 3 && s.dim(0) != type.dim(0)) || s.dim(rank - 2) != outer || s.dim(rank - 1) > k || k % s.dim(rank - 1))
    return opError(op, diag, "needs scales of the operand's other dimension by a divisor of K, " + llvm::Twine(outer) + " by one of " + llvm::Twine(k), at);
  return true;
}

HOOK(tt_dot_scaled) {
  auto d = op->cast<tt::DotScaledOp>();
  int64_t m, n, ka, kb;
  if (!scaledOperand(op, diag, 0, d.aScale(), d.aElemType(), d.lhsKPack() ? 1 : 0, 1, m, ka) || !scaledOperand(op, diag, 1, d.bScale(), d.bElemType(), d.rhsKPack() ? 0 : 1, 0, n, kb)) return false;
  auto a = shapeOf(d.a()), b = shapeOf(d.b()), c = shapeOf(d.c());
  unsigned r = a.size();
  if (b.size() != r || c.size() != r || (r == 3 && (a[0] != b[0] || c[0] != a[0]))) return opError(op, diag, "needs matrices of one rank, 2 or 3");
  if (ka != kb) return opError(op, diag, "inner dimensions differ: " + llvm::Twine(ka) + " and " + llvm::Twine(kb));
  if (c[r - 2] != m || c[r - 1] != n) return opError(op, diag, "the accumulator has the wrong shape", 2);
  return d.c().type() == d.d().type() || opError(op, diag, "gives the accumulator's type");
}

static bool combines(Operation *op, DiagnosticEngine &diag, Opcode terminator) {
  unsigned n = op->numOperands();
  if (!n) return opError(op, diag, "needs an operand");
  if (op->numResults() != n)
    return opError(op, diag, "has " + counted(n, "operand") + " but " + counted(op->numResults(), "result"));
  auto first = op->operand(0).type().cast<TensorType>();
  for (unsigned i = 1; i < n; ++i)
    if (!sameShape(op->operand(i).type(), first)) return opError(op, diag, "needs operands of one shape and layout", i);
  auto axis = op->attr<IntegerAttr>("axis").sext();
  if (axis < 0 || axis >= int64_t(first.rank()))
    return opError(op, diag, "axis " + llvm::Twine(axis) + " is out of range for rank " + llvm::Twine(first.rank()));
  if (op->region(0).empty()) return opError(op, diag, "needs a region");
  Block *b = op->region(0).front();
  if (b->numArgs() != 2 * n)
    return opError(op, diag,
                   "needs a region of " + counted(2 * n, "argument") + ", not " + llvm::Twine(b->numArgs()));
  for (unsigned i = 0; i < 2 * n; ++i)
    if (b->arg(i).type() != op->operand(i % n).type().scalar())
      return opError(op, diag,
                     "region argument " + llvm::Twine(i) + " must have type " +
                         op->operand(i % n).type().scalar().str());
  Operation *t = b->terminator();
  if (!t || t->opcode() != terminator) return opError(op, diag, "must end its region in " + opInfo(terminator).name);
  if (t->numOperands() != n)
    return opError(t, diag, "gives " + counted(t->numOperands(), "value") + "; " + llvm::Twine(n) + " are expected");
  for (unsigned i = 0; i < n; ++i)
    if (t->operand(i).type() != op->operand(i).type().scalar())
      return opError(t, diag, "gives a value of another type", i);
  return true;
}
HOOK(tt_reduce) {
  if (!combines(op, diag, Opcode::tt_reduce_return)) return false;
  auto first = op->operand(0).type().cast<TensorType>();
  int64_t axis = op->attr<IntegerAttr>("axis").sext();
  for (unsigned i = 0; i < op->numResults(); ++i) {
    Type t = op->result(i).type();
    if (t.scalar() != op->operand(i).type().scalar())
      return opError(op, diag, "result " + llvm::Twine(i) + " has another element type than its operand");
    llvm::SmallVector<int64_t, 4> want(first.shape());
    want.erase(want.begin() + axis);
    if (want.empty() ? t.isTensor() : (!t.isTensor() || t.cast<TensorType>().shape() != llvm::ArrayRef(want)))
      return opError(op, diag, "result " + llvm::Twine(i) + " has the wrong shape");
    if (first.encoding() && t.isTensor()) {
      auto *slice = layouts::dynCast<layouts::SliceEncoding>(t.cast<TensorType>().encoding());
      if (!slice || slice->dim() != axis || slice->parent() != first.encoding())
        return opError(op, diag, "result " + llvm::Twine(i) + " must have the slice of its operand's layout");
    }
  }
  return true;
}
HOOK(tt_scan) {
  if (!combines(op, diag, Opcode::tt_scan_return)) return false;
  for (unsigned i = 0; i < op->numResults(); ++i)
    if (op->result(i).type() != op->operand(i).type())
      return opError(op, diag, "result " + llvm::Twine(i) + " must have its operand's type");
  return true;
}
HOOK(tt_extern_elementwise) {
  return !op->attr<StringAttr>("symbol").value().empty() ||
         opError(op, diag, "needs the name of a function in 'symbol'");
}
HOOK(tt_elementwise_inline_asm) {
  auto a = op->cast<tt::ElementwiseInlineAsmOp>();
  return a.packedElement() >= 1 || opError(op, diag, "packed_element must be at least 1");
}

// ---- layouts and shared memory --------------------------------------------------------------------------------------

HOOK(ttg_convert_layout) {
  auto src = op->operand(0).type().cast<TensorType>(), dst = op->result().type().cast<TensorType>();
  return (src.shape() == dst.shape() && src.element() == dst.element()) ||
         opError(op, diag, "changes more than the layout");
}
HOOK(ttg_local_alloc) {
  auto a = op->cast<ttg::LocalAllocOp>();
  auto t = a.result().type().cast<MemDescType>();
  if (a.src()) {
    auto s = a.src().type().cast<TensorType>();
    if (s.shape() != t.shape() || s.element() != t.element())
      return opError(op, diag, "is filled with " + s.str() + ", which does not match the buffer", 0);
  }
  return true;
}
static MemDescType bufferOf(Value v) { return v.type().cast<MemDescType>(); }

/// A tensor and a buffer that holds it.
static bool sameContents(Operation *op, Value tensor, Value buffer, DiagnosticEngine &diag) {
  auto t = tensor.type().cast<TensorType>();
  auto b = bufferOf(buffer);
  return (t.shape() == b.shape() && t.element() == b.element()) ||
         opError(op, diag, "moves " + t.str() + " from or to a buffer of " + b.str());
}
HOOK(ttg_local_load) { return sameContents(op, op->result(), op->operand(0), diag); }
HOOK(ttg_local_store) {
  if (!bufferOf(op->operand(1)).isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 1);
  return sameContents(op, op->operand(0), op->operand(1), diag);
}
HOOK(ttg_local_dealloc) {
  return bufferOf(op->operand(0)).isMutable() || opError(op, diag, "ends a buffer that is not mutable", 0);
}
HOOK(ttg_memdesc_index) {
  auto src = bufferOf(op->operand(0)), dst = bufferOf(op->result());
  if (src.rank() < 2 || dst.rank() + 1 != src.rank() || src.shape().drop_front() != dst.shape())
    return opError(op, diag, "must give the buffer's shape without its first dimension");
  return src.element() == dst.element() || opError(op, diag, "changes the element type");
}
HOOK(ttg_memdesc_subslice) {
  auto s = op->cast<ttg::MemdescSubsliceOp>();
  auto src = bufferOf(s.src()), dst = bufferOf(s.result());
  if (src.element() != dst.element()) return opError(op, diag, "changes the element type");
  if (src.rank() != dst.rank() || s.offsets().size() != src.rank())
    return opError(op, diag, "needs an offset for each dimension, and a result of the buffer's rank");
  for (unsigned i = 0; i < src.rank(); ++i)
    if (s.offsets()[i] < 0 || s.offsets()[i] > src.dim(i) || dst.dim(i) > src.dim(i) - s.offsets()[i])
      return opError(op, diag, "reaches out of the buffer in dimension " + llvm::Twine(i));
  return true;
}
static bool isPermutation(llvm::ArrayRef<int64_t> order, size_t rank) {
  llvm::SmallVector<int64_t, 4> sorted(order);
  llvm::sort(sorted);
  for (unsigned i = 0; i < sorted.size(); ++i)
    if (sorted[i] != i) return false;
  return sorted.size() == rank;
}
HOOK(ttg_memdesc_trans) {
  auto t = op->cast<ttg::MemdescTransOp>();
  auto src = bufferOf(t.src()), dst = bufferOf(t.result());
  if (!isPermutation(t.order(), src.rank()))
    return opError(op, diag, "needs an order that is a permutation of its dimensions");
  if (dst.rank() != src.rank()) return opError(op, diag, "changes the rank");
  for (unsigned i = 0; i < dst.rank(); ++i)
    if (dst.dim(i) != src.dim(t.order()[i])) return opError(op, diag, "gives a buffer of the wrong shape");
  return src.element() == dst.element() || opError(op, diag, "changes the element type");
}
HOOK(ttg_memdesc_reshape) {
  auto src = bufferOf(op->operand(0)), dst = bufferOf(op->result());
  if (src.element() != dst.element()) return opError(op, diag, "changes the element type");
  return src.numElements() == dst.numElements() || opError(op, diag, "changes the number of elements");
}
HOOK(ttg_async_copy_global_to_local) {
  auto c = op->cast<ttg::AsyncCopyGlobalToLocalOp>();
  auto buffer = bufferOf(c.result());
  if (!buffer.isMutable()) return opError(op, diag, "writes to a buffer that is not mutable", 1);
  auto t = c.src().type().dyn_cast<TensorType>();
  if (!t || t.shape() != buffer.shape())
    return opError(op, diag, "copies " + c.src().type().str() + " to a buffer of " + buffer.str(), 0);
  if (t.element().cast<PointerType>().pointee() != buffer.element())
    return opError(op, diag, "copies elements of another type than the buffer's", 0);
  if (c.mask() && !sameShape(c.mask().type(), t)) return opError(op, diag, "mask does not match the pointers", 2);
  if (c.other() && !c.mask()) return opError(op, diag, "has a value for masked-off elements but no mask");
  if (c.other() && c.other().type() != t.withElement(buffer.element()))
    return opError(op, diag, "the value for masked-off elements must be " + t.withElement(buffer.element()).str(), 3);
  return true;
}
HOOK(ttg_async_wait) {
  auto n = op->cast<ttg::AsyncWaitOp>().num();
  return n >= 0 || opError(op, diag, "waits for a number of groups that is at least 0, not " + llvm::Twine(n));
}

// ---- descriptors ----------------------------------------------------------------------------------------------------

static bool describesBlock(Operation *op, Value desc, Value tensor, unsigned indices, DiagnosticEngine &diag) {
  auto d = desc.type().cast<TensorDescType>();
  auto t = tensor.type().cast<TensorType>();
  if (indices != d.rank())
    return opError(op, diag, "needs " + llvm::Twine(d.rank()) + " indices, not " + llvm::Twine(indices));
  auto scalar = [](Type e) { // the signs of a descriptor's integers are for the unit that loads
    auto i = e.dyn_cast<IntegerType>();
    return i ? Type(IntegerType::get(*e.context(), i.width())) : e;
  };
  if (scalar(d.element()) != scalar(t.element()) || d.numElements() != t.numElements())
    return opError(op, diag, "moves " + t.str() + " through " + d.str());
  return true;
}
HOOK(tt_descriptor_load) {
  auto l = op->cast<tt::DescriptorLoadOp>();
  return describesBlock(op, l.desc(), l.result(), l.indices().size(), diag);
}
HOOK(tt_descriptor_store) {
  auto s = op->cast<tt::DescriptorStoreOp>();
  return describesBlock(op, s.desc(), s.src(), s.indices().size(), diag);
}
HOOK(tt_descriptor_reduce) {
  auto r = op->cast<tt::DescriptorReduceOp>();
  return describesBlock(op, r.desc(), r.src(), r.indices().size(), diag);
}
HOOK(tt_make_tensor_descriptor) {
  auto m = op->cast<tt::MakeTensorDescriptorOp>();
  auto d = m.result().type().cast<TensorDescType>();
  if (m.shape().size() != d.rank() || m.strides().size() != d.rank())
    return opError(op, diag, "needs a shape and strides for " + counted(d.rank(), "dimension"));
  for (Value v : m.shape())
    if (!v.type().isIntOrIndex()) return opError(op, diag, "needs integers for its shape, not " + v.type().str());
  return true;
}

// ---- places ---------------------------------------------------------------------------------------------------------

static bool standsIn(Operation *op, llvm::ArrayRef<Opcode> parents, DiagnosticEngine &diag) {
  Operation *p = op->parentOp();
  // An operation of an unknown dialect may hold anything.
  if (p && (llvm::is_contained(parents, p->opcode()) || p->opcode() == Opcode::unregistered)) return true;
  std::string list;
  for (auto o : parents) list += (list.empty() ? "'" : " or '") + opInfo(o).name.str() + "'";
  return opError(op, diag, "must stand directly in " + list);
}
HOOK(scf_condition) { return standsIn(op, {Opcode::scf_while}, diag); }
HOOK(scf_yield) {
  return standsIn(op, {Opcode::scf_for, Opcode::scf_if, Opcode::scf_while, Opcode::scf_execute_region}, diag);
}
HOOK(tt_reduce_return) { return standsIn(op, {Opcode::tt_reduce}, diag); }
HOOK(tt_scan_return) { return standsIn(op, {Opcode::tt_scan}, diag); }
HOOK(ttg_warp_yield) { return standsIn(op, {Opcode::ttg_warp_specialize}, diag); }
HOOK(ttg_warp_return) { return standsIn(op, {Opcode::ttg_warp_specialize_partitions}, diag); }

HOOK(scf_execute_region) {
  if (op->region(0).empty()) return opError(op, diag, "needs a body");
  return yields(op, op->region(0), op->results(), diag);
}
HOOK(ttg_warp_specialize) {
  auto w = op->cast<ttg::WarpSpecializeOp>();
  Block *holder = op->region(1).front(), *main = op->region(0).front();
  Operation *partitions = holder ? holder->front() : nullptr;
  if (!main) return opError(op, diag, "needs a default region");
  if (!partitions || !partitions->is<ttg::WarpSpecializePartitionsOp>() || partitions->next())
    return opError(op, diag, "must hold its partitions in ttg.warp_specialize.partitions alone");
  unsigned n = partitions->numRegions();
  if (w.partitionNumWarps().size() != n)
    return opError(op, diag,
                   "has " + llvm::Twine(n) + " partitions but numbers of warps for " +
                       llvm::Twine(w.partitionNumWarps().size()));
  for (auto k : w.partitionNumWarps())
    if (k < 1 || k > 64 || !llvm::isPowerOf2_64(k))
      return opError(op, diag, "a partition's number of warps must be a power of two, not " + llvm::Twine(k));
  // The captures are this operation's operands, or (in the generic form) the holder's.
  auto captures = op->numOperands() ? op->operands() : partitions->operands();
  for (auto &r : partitions->regions()) {
    if (r.empty()) return opError(op, diag, "has an empty partition");
    if (r.front()->numArgs() != captures.size())
      return opError(op, diag,
                     "captures " + counted(captures.size(), "value") + "; a partition has " +
                         counted(r.front()->numArgs(), "argument"));
    for (unsigned i = 0; i < captures.size(); ++i)
      if (r.front()->arg(i).type() != captures[i].type())
        return opError(op, diag,
                       "captures " + captures[i].type().str() + " for a partition's argument of type " +
                           r.front()->arg(i).type().str());
  }
  for (auto *b = main; b; b = b->next()) {
    Operation *t = b->terminator();
    if (!t || !t->is<ttg::WarpYieldOp>()) continue;
    if (t->numOperands() != op->numResults())
      return opError(t, diag,
                     "yields " + counted(t->numOperands(), "value") + "; " + llvm::Twine(op->numResults()) +
                         " are expected");
    for (unsigned i = 0; i < op->numResults(); ++i)
      if (t->operand(i).type() != op->result(i).type())
        return opError(
            t, diag, "yields " + t->operand(i).type().str() + " for a result of type " + op->result(i).type().str(), i);
  }
  return true;
}
HOOK(tt_map_elementwise) {
  auto m = op->cast<tt::MapElementwiseOp>();
  if (m.pack() < 1) return opError(op, diag, "pack must be at least 1");
  if (!op->numOperands() || op->region(0).empty()) return opError(op, diag, "needs an operand and a region");
  Block *b = op->region(0).front();
  if (b->numArgs() != op->numOperands() * uint64_t(m.pack()))
    return opError(op, diag,
                   "needs a region of " + counted(op->numOperands() * uint64_t(m.pack()), "argument") + ", not " +
                       llvm::Twine(b->numArgs()));
  for (auto v : op->operands())
    if (!sameShape(v.type(), op->operand(0).type())) return opError(op, diag, "needs operands of one shape and layout");
  for (auto v : op->results())
    if (!sameShape(v.type(), op->operand(0).type())) return opError(op, diag, "gives tensors of its operands' shape");
  return true;
}

// ---- small ones -----------------------------------------------------------------------------------------------------

HOOK(tt_int_to_ptr) {
  return op->operand(0).type().scalar().isInteger(64) || opError(op, diag, "takes integers of 64 bits", 0);
}
HOOK(tt_ptr_to_int) {
  return op->result().type().scalar().isInteger(64) || opError(op, diag, "gives integers of 64 bits");
}
HOOK(arith_index_cast) {
  return op->operand(0).type().scalar().isIndex() != op->result().type().scalar().isIndex() ||
         opError(op, diag, "converts between index and an integer type", 0);
}
HOOK(tt_advance) {
  auto a = op->cast<tt::AdvanceOp>();
  auto block = a.ptr().type().cast<PointerType>().pointee().dyn_cast<TensorType>();
  if (!block) return opError(op, diag, "needs a pointer to a tensor", 0);
  if (a.result().type() != a.ptr().type()) return opError(op, diag, "must give a pointer of its operand's type");
  if (a.offsets().size() != block.rank())
    return opError(op, diag, "needs " + llvm::Twine(block.rank()) + " offsets, not " + llvm::Twine(a.offsets().size()));
  for (Value v : a.offsets())
    if (!v.type().isInteger(32)) return opError(op, diag, "needs offsets of type i32, not " + v.type().str());
  return true;
}
HOOK(tt_print) {
  auto p = op->cast<tt::PrintOp>();
  return p.isSigned().size() >= op->numOperands() || // more are of no consequence, and Triton takes them
         opError(op, diag,
                 "says of " + counted(p.isSigned().size(), "value") + " whether they are signed; it prints " +
                     llvm::Twine(op->numOperands()));
}
HOOK(amdg_buffer_load) {
  auto l = op->cast<amdg::BufferLoadOp>();
  Type element = l.ptr().type().cast<PointerType>().pointee();
  auto t = l.result().type().cast<TensorType>();
  if (t.element() != element) return opError(op, diag, "gives " + t.str() + " from a pointer to " + element.str());
  if (!sameShape(l.offsets().type(), t)) return opError(op, diag, "has offsets of another shape or layout", 1);
  if (l.mask() && !sameShape(l.mask().type(), t)) return opError(op, diag, "mask does not match the offsets");
  return true;
}
HOOK(amdg_buffer_store) {
  auto s = op->cast<amdg::BufferStoreOp>();
  Type element = s.ptr().type().cast<PointerType>().pointee();
  auto t = s.value().type().cast<TensorType>();
  if (t.element() != element)
    return opError(op, diag, "stores " + t.str() + " through a pointer to " + element.str(), 0);
  if (!sameShape(s.offsets().type(), t)) return opError(op, diag, "has offsets of another shape or layout", 2);
  return true;
}
HOOK(ttng_warp_group_dot) {
  auto d = op->cast<ttng::WarpGroupDotOp>();
  auto shapeOf = [](Type t) { return t.isa<MemDescType>() ? t.cast<MemDescType>().shape() : t.isTensor() ? t.cast<TensorType>().shape() : llvm::ArrayRef<int64_t>(); };
  auto a = shapeOf(d.a().type()), b = shapeOf(d.b().type()), c = shapeOf(d.c().type());
  if (a.size() != 2 || b.size() != 2 || c.size() != 2) return opError(op, diag, "needs matrices");
  if (a[1] != b[0])
    return opError(op, diag, "inner dimensions differ: " + llvm::Twine(a[1]) + " and " + llvm::Twine(b[0]));
  return (c[0] == a[0] && c[1] == b[1]) || opError(op, diag, "the accumulator has the wrong shape", 2);
}
HOOK(ttng_warp_group_dot_wait) {
  if (op->numOperands() != op->numResults()) return opError(op, diag, "needs a result for every operand");
  return true;
}
#undef HOOK

} // namespace tessera::ir
