// The verifier's hooks of operations on values: constants, casts, shapes of tensors, dots, reductions and scans (see
// verifier.h).
#include "ir/verify_hook.h"

namespace tessera::ir {

// ---- constants, casts and comparisons -------------------------------------------------------------------------------

/// The operands of binary operations, of unary ones, and the first of those that have any number.
static Value lhs(Operation *op) { return BinaryOp(op).lhs(); }
static Value rhs(Operation *op) { return BinaryOp(op).rhs(); }
static Value input(Operation *op) { return UnaryOp(op).value(); }
static Value firstOf(Operation *op) { return op->operands()[0]; }

HOOK(arith_constant) {
  return typeOfConstant(op->attr("value")) == op->result().type() ||
         opError(op, diag, "has a value of another type than its result");
}
HOOK(arith_cmpi) {
  bool fits = sameShape(lhs(op).type(), op->result().type()) && lhs(op).type() == rhs(op).type();
  return fits || opError(op, diag, "compares values of different types");
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
  unsigned a = input(op).type().scalar().bitWidth(), b = op->result().type().scalar().bitWidth();
  if (widens ? b > a : b < a) return true;
  return opError(op, diag,
                 llvm::Twine("must ") + (widens ? "widen" : "narrow") + ": " + input(op).type().str() + " to " +
                     op->result().type().str(),
                 0);
}
HOOK(arith_extsi) { return widths(op, diag, true); }
HOOK(arith_extui) { return widths(op, diag, true); }
HOOK(arith_extf) { return widths(op, diag, true); }
HOOK(arith_trunci) { return widths(op, diag, false); }
HOOK(arith_truncf) { return widths(op, diag, false); }
HOOK(arith_bitcast) {
  unsigned a = input(op).type().scalar().bitWidth(), b = op->result().type().scalar().bitWidth();
  return a == b ||
         opError(op, diag, "changes the width: " + input(op).type().str() + " to " + op->result().type().str(), 0);
}
HOOK(tt_bitcast) { return verify_arith_bitcast(op, diag); }
HOOK(tt_fp_to_fp) {
  unsigned a = input(op).type().scalar().bitWidth(), b = op->result().type().scalar().bitWidth();
  if (b < a && !op->hasAttr("rounding")) return opError(op, diag, "narrows, so it must state its rounding");
  return true;
}
HOOK(tt_e2m1_to_fp) {
  if (!input(op).type().scalar().isInteger(8)) return opError(op, diag, "takes integers of 8 bits", 0);
  Type to = op->result().type().scalar();
  auto &c = op->context();
  return to == c.f16() || to == c.bf16() || to == c.f32() || opError(op, diag, "gives f16, bf16 or f32");
}
/// Scales are e8m0: bytes, or bf16 with these as exponents. What they scale becomes f16 or bf16.
static bool checkScaledUpcast(Operation *op, DiagnosticEngine &diag, Value scale, Value output) {
  auto &c = op->context();
  Type s = scale.type().scalar(), to = output.type().scalar();
  if (!s.isInteger(8) && s != c.bf16()) return opError(op, diag, "takes scales of i8 or bf16, not of " + s.str(), 1);
  if (shapeOf(scale) != shapeOf(output)) return opError(op, diag, "needs a scale for each element of its result", 1);
  return to == c.f16() || to == c.bf16() || opError(op, diag, "gives f16 or bf16, not " + to.str());
}
HOOK(amdg_scaled_upcast_fp8) {
  auto u = op->cast<amdg::ScaledUpcastFp8Op>();
  Type from = u.input().type().scalar();
  auto kind = from.isFloat() ? from.cast<FloatType>().floatKind() : FloatKind::F64;
  if (kind != FloatKind::F8E4M3FN && kind != FloatKind::F8E5M2)
    return opError(op, diag, "takes elements of f8E4M3FN or f8E5M2, not of " + from.str(), 0);
  if (!sameShape(u.input().type(), u.output().type()) || !sameShape(u.scale().type(), u.output().type()))
    return opError(op, diag, "needs operands of its result's shape and layout");
  return checkScaledUpcast(op, diag, u.scale(), u.output());
}
HOOK(amdg_scaled_upcast_fp4) {
  auto u = op->cast<amdg::ScaledUpcastFp4Op>();
  auto from = shapeOf(u.input()), to = shapeOf(u.output());
  if (!u.input().type().scalar().isInteger(8)) return opError(op, diag, "takes bytes of two 4-bit floats", 0);
  if (u.axis() < 0 || u.axis() >= int64_t(from.size()))
    return opError(op, diag, "axis " + llvm::Twine(u.axis()) + " is out of range");
  llvm::SmallVector<int64_t, 4> want(from);
  want[u.axis()] *= 2;
  if (llvm::ArrayRef(want) != to) return opError(op, diag, "gives a tensor of the wrong shape");
  return checkScaledUpcast(op, diag, u.scale(), u.output());
}
HOOK(tt_approx_divf) {
  return input(op).type().scalar().bitWidth() == 32 || opError(op, diag, "divides numbers of f32", 0);
}
HOOK(tt_int_to_ptr) {
  return input(op).type().scalar().isInteger(64) || opError(op, diag, "takes integers of 64 bits", 0);
}
HOOK(tt_ptr_to_int) {
  return op->result().type().scalar().isInteger(64) || opError(op, diag, "gives integers of 64 bits");
}
HOOK(arith_index_cast) {
  return input(op).type().scalar().isIndex() != op->result().type().scalar().isIndex() ||
         opError(op, diag, "converts between index and an integer type", 0);
}
HOOK(arith_index_castui) { return verify_arith_index_cast(op, diag); }

// ---- shapes ---------------------------------------------------------------------------------------------------------

HOOK(tt_splat) {
  bool scalar = !input(op).type().isTensor() || shapeOf(input(op)).empty();
  return (scalar && input(op).type().scalar() == op->result().type().scalar()) ||
         opError(op, diag, "splats " + input(op).type().str() + " to " + op->result().type().str(), 0);
}
HOOK(tt_unsplat) {
  auto t = input(op).type().cast<TensorType>();
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
  if (input(op).type().scalar() != op->result().type().scalar()) return opError(op, diag, "changes the element type");
  if (input(op).type().cast<TensorType>().numElements() != op->result().type().cast<TensorType>().numElements())
    return opError(op, diag, "changes the number of elements");
  return checkReshapedLayout(op->cast<tt::ReshapeOp>(), diag);
}
HOOK(tt_broadcast) {
  auto src = shapeOf(input(op)), dst = shapeOf(op->result());
  if (input(op).type().scalar() != op->result().type().scalar()) return opError(op, diag, "changes the element type");
  if (src.size() != dst.size()) return opError(op, diag, "changes the rank");
  for (unsigned i = 0; i < src.size(); ++i)
    if (src[i] != dst[i] && src[i] != 1)
      return opError(op, diag, "cannot repeat dimension " + llvm::Twine(i) + " of size " + llvm::Twine(src[i]));
  return encodingOf(input(op)) == encodingOf(op->result()) || opError(op, diag, "must keep the layout");
}
HOOK(tt_cat) {
  if (lhs(op).type() != rhs(op).type()) return opError(op, diag, "needs operands of one type");
  auto src = shapeOf(lhs(op)), dst = shapeOf(op->result());
  if (src.empty() || dst.size() != src.size() || dst[0] != 2 * src[0] || dst.drop_front() != src.drop_front())
    return opError(op, diag, "gives a tensor of the wrong shape");
  return lhs(op).type().scalar() == op->result().type().scalar() || opError(op, diag, "changes the element type");
}
HOOK(tt_join) {
  if (lhs(op).type() != rhs(op).type()) return opError(op, diag, "needs operands of one type");
  auto src = shapeOf(lhs(op)), dst = shapeOf(op->result());
  if (dst.size() != src.size() + 1 || dst.back() != 2 || dst.drop_back() != src)
    return opError(op, diag, "gives a tensor of the wrong shape");
  if (lhs(op).type().scalar() != op->result().type().scalar()) return opError(op, diag, "changes the element type");
  return checkJoinedLayout(op->cast<tt::JoinOp>(), diag);
}
HOOK(tt_split) {
  auto src = shapeOf(op->cast<tt::SplitOp>().src()), dst = shapeOf(op->result(0));
  if (op->result(0).type() != op->result(1).type()) return opError(op, diag, "gives two tensors of one type");
  if (src.empty() || src.back() != 2 || src.drop_back() != dst)
    return opError(op, diag, "needs a last dimension of 2, which the results lack");
  auto from = op->cast<tt::SplitOp>().src().type().scalar();
  if (from != op->result(0).type().scalar()) return opError(op, diag, "changes the element type");
  return checkSplitLayout(op->cast<tt::SplitOp>(), diag);
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
  if (t.src().type().scalar() != t.result().type().scalar()) return opError(op, diag, "changes the element type");
  return checkTransposedLayout(t, diag);
}
HOOK(tt_gather) {
  auto g = op->cast<tt::GatherOp>();
  if (g.axis() < 0 || g.axis() >= int64_t(shapeOf(g.src()).size()))
    return opError(op, diag, "axis " + llvm::Twine(g.axis()) + " is out of range");
  if (!sameShape(g.indices().type(), g.result().type()))
    return opError(op, diag, "must give a tensor of its indices' shape and layout");
  if (g.src().type().scalar() != g.result().type().scalar()) return opError(op, diag, "changes the element type");
  auto src = shapeOf(g.src()), indices = shapeOf(g.indices());
  bool fits = src.size() == indices.size();
  for (unsigned i = 0; fits && i < src.size(); ++i) fits = int64_t(i) == g.axis() || src[i] == indices[i];
  return fits || opError(op, diag, "needs indices of its source's shape, but for the axis", 1);
}
HOOK(tt_histogram) {
  auto h = op->cast<tt::HistogramOp>();
  if (shapeOf(h.result()).size() != 1) return opError(op, diag, "gives a tensor of one dimension");
  return checkMask(op, diag, h.mask(), h.src().type(), 1);
}

// ---- computation ----------------------------------------------------------------------------------------------------

HOOK(tt_dot) {
  auto d = op->cast<tt::DotOp>();
  auto a = shapeOf(d.a()), b = shapeOf(d.b()), c = shapeOf(d.c());
  unsigned r = a.size();
  if (r < 2 || b.size() != r || c.size() != r) return opError(op, diag, "needs matrices of one rank, 2 or 3");
  if (a[r - 1] != b[r - 2])
    return opError(op, diag, "inner dimensions differ: " + llvm::Twine(a[r - 1]) + " and " + llvm::Twine(b[r - 2]));
  if (c[r - 2] != a[r - 2] || c[r - 1] != b[r - 1]) return opError(op, diag, "the accumulator has the wrong shape", 2);
  if (d.c().type() != d.d().type()) return opError(op, diag, "gives the accumulator's type");
  return checkDotLayouts(d, diag);
}

/// An operand of a dot of microscaled matrices and its scales. `packed` of its last two dimensions (0 or 1) has
/// two e2m1 to a byte; `kDim` is K, the other one `outer`.
static bool scaledOperand(Operation *op, DiagnosticEngine &diag, unsigned index, Value scale, ScaleDotElemType kind,
                          unsigned packed, unsigned kDim, int64_t &outer, int64_t &k) {
  auto type = op->operand(index).type().cast<TensorType>();
  Type element = type.element();
  unsigned rank = type.rank(), bits = element.isFloat() || element.isInteger() ? element.bitWidth() : 0;
  bool wide = kind == ScaleDotElemType::Bf16 || kind == ScaleDotElemType::Fp16;
  if (rank < 2 || rank > 3) return opError(op, diag, "needs matrices of one rank, 2 or 3", index);
  if (bits != (wide ? 16 : 8) || (kind == ScaleDotElemType::E2m1 && !element.isInteger()))
    return opError(op, diag,
                   "has elements of " + element.str() + " for " +
                       (wide                             ? "16-bit floats"
                        : kind == ScaleDotElemType::E2m1 ? "bytes of two 4-bit floats"
                                                         : "8-bit floats"),
                   index);
  int64_t sizes[2] = {type.dim(rank - 2), type.dim(rank - 1)};
  if (kind == ScaleDotElemType::E2m1) sizes[packed] *= 2;
  k = sizes[kDim];
  outer = sizes[1 - kDim];
  if (!scale) return true;
  auto s = scale.type().cast<TensorType>();
  constexpr unsigned kFirstScale = 3; // in the row: a, b, c, a_scale, b_scale
  unsigned at = op->operandGroupStart(kFirstScale + index);
  if (!(s.element().isInteger() && s.element().bitWidth() == 8) &&
      !(s.element().isFloat() && s.element().bitWidth() <= 16))
    return opError(op, diag, "needs scales of 8-bit integers or floats, not of " + s.element().str(), at);
  if (s.rank() != rank || (rank == 3 && s.dim(0) != type.dim(0)) || s.dim(rank - 2) != outer || s.dim(rank - 1) > k ||
      k % s.dim(rank - 1))
    return opError(op, diag,
                   "needs scales of the operand's other dimension by a divisor of K, " + llvm::Twine(outer) +
                       " by one of " + llvm::Twine(k),
                   at);
  return true;
}
HOOK(tt_dot_scaled) {
  auto d = op->cast<tt::DotScaledOp>();
  int64_t m, n, ka, kb;
  if (!scaledOperand(op, diag, 0, d.aScale(), d.aElemType(), d.lhsKPack() ? 1 : 0, 1, m, ka) ||
      !scaledOperand(op, diag, 1, d.bScale(), d.bElemType(), d.rhsKPack() ? 0 : 1, 0, n, kb))
    return false;
  auto a = shapeOf(d.a()), b = shapeOf(d.b()), c = shapeOf(d.c());
  unsigned r = a.size();
  if (b.size() != r || c.size() != r || (r == 3 && (a[0] != b[0] || c[0] != a[0])))
    return opError(op, diag, "needs matrices of one rank, 2 or 3");
  if (ka != kb) return opError(op, diag, "inner dimensions differ: " + llvm::Twine(ka) + " and " + llvm::Twine(kb));
  if (c[r - 2] != m || c[r - 1] != n) return opError(op, diag, "the accumulator has the wrong shape", 2);
  return d.c().type() == d.d().type() || opError(op, diag, "gives the accumulator's type");
}
static bool combines(Operation *op, DiagnosticEngine &diag, Opcode terminator) {
  unsigned n = op->numOperands();
  if (!n) return opError(op, diag, "needs an operand");
  if (op->numResults() != n)
    return opError(op, diag, "has " + counted(n, "operand") + " but " + counted(op->numResults(), "result"));
  auto first = firstOf(op).type().cast<TensorType>();
  for (unsigned i = 1; i < n; ++i)
    if (!sameShape(op->operand(i).type(), first)) return opError(op, diag, "needs operands of one shape and layout", i);
  auto axis = op->attr<IntegerAttr>("axis").sext();
  if (axis < 0 || axis >= int64_t(first.rank()))
    return opError(op, diag, "axis " + llvm::Twine(axis) + " is out of range for rank " + llvm::Twine(first.rank()));
  if (op->region(0).empty()) return opError(op, diag, "needs a region");
  Block *b = op->region(0).front();
  if (b->numArgs() != 2 * n)
    return opError(op, diag, "needs a region of " + counted(2 * n, "argument") + ", not " + llvm::Twine(b->numArgs()));
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
  auto first = firstOf(op).type().cast<TensorType>();
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
    if (!sameShape(v.type(), firstOf(op).type())) return opError(op, diag, "needs operands of one shape and layout");
  for (auto v : op->results())
    if (!sameShape(v.type(), firstOf(op).type())) return opError(op, diag, "gives tensors of its operands' shape");
  int64_t elements = firstOf(op).type().cast<TensorType>().numElements();
  return elements % m.pack() == 0 ||
         opError(op, diag, counted(elements, "element") + " cannot be divided into groups of " + llvm::Twine(m.pack()));
}
HOOK(ttng_warp_group_dot) {
  auto d = op->cast<ttng::WarpGroupDotOp>();
  auto shapeOf = [](Type t) {
    return t.isa<MemDescType>() ? t.cast<MemDescType>().shape()
           : t.isTensor()       ? t.cast<TensorType>().shape()
                                : llvm::ArrayRef<int64_t>();
  };
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
HOOK(tt_print) {
  auto p = op->cast<tt::PrintOp>();
  return p.isSigned().size() >= op->numOperands() || // more are of no consequence, and Triton takes them
         opError(op, diag,
                 "says of " + counted(p.isSigned().size(), "value") + " whether they are signed; it prints " +
                     llvm::Twine(op->numOperands()));
}

} // namespace tessera::ir
