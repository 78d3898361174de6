// AxisInfo (see axis_info.h): one forward walk per function; values carried by loops are taken from their initial values
// and joined with what the body yields until nothing falls any more.
#include "transforms/analyses/axis_info.h"
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tessera::transforms {
using namespace ir;

static constexpr int64_t kMaxDivisor = int64_t(1) << 32;

static int64_t powerOfTwoDivisor(int64_t v) { return v == 0 ? kMaxDivisor : std::min<int64_t>(kMaxDivisor, v & -v); }
static int64_t capped(int64_t a, int64_t b) { return a > kMaxDivisor / b ? kMaxDivisor : a * b; }
static int64_t minp(int64_t a, int64_t b) { return std::min(a, b); } // gcd of powers of two

static unsigned rankOf(Type t) { return t.isTensor() ? t.cast<TensorType>().rank() : 1; }
static int64_t dimOf(Type t, unsigned d) { return t.isTensor() ? t.cast<TensorType>().dim(d) : 1; }

static AxisInfo unknown(Type t) {
  unsigned r = rankOf(t);
  AxisInfo i;
  i.contiguity.assign(r, 1);
  i.divisibility.assign(r, 1);
  i.constancy.assign(r, 1);
  return i;
}
static AxisInfo constantInfo(Type t, int64_t v) {
  AxisInfo i = unknown(t);
  for (unsigned d = 0; d < i.rank(); ++d) {
    i.constancy[d] = dimOf(t, d);
    i.divisibility[d] = powerOfTwoDivisor(v);
  }
  i.constant = v;
  return i;
}

/// Divisibility of an operand's values at the starts of groups of `group` elements, which may lie inside its own groups.
static int64_t divisibilityAt(const AxisInfo &i, unsigned d, int64_t group) { return i.contiguity[d] > group ? minp(i.divisibility[d], group) : i.divisibility[d]; }
/// … of every value, contiguous ones included.
static int64_t divisibilityOfAll(const AxisInfo &i, unsigned d) { return i.contiguity[d] > 1 ? 1 : i.divisibility[d]; }

AxisInfo AxisInfoAnalysis::get(Value v) const {
  auto it = info_.find(v);
  return it != info_.end() ? it->second : unknown(v.type());
}

bool AxisInfoAnalysis::join(Value v, const AxisInfo &n) {
  auto [it, fresh] = info_.try_emplace(v, n);
  if (fresh) return true;
  AxisInfo old = it->second, &i = it->second;
  for (unsigned d = 0; d < i.rank(); ++d) {
    int64_t c = minp(i.contiguity[d], n.contiguity[d]);
    i.divisibility[d] = minp(divisibilityAt(i, d, c), divisibilityAt(n, d, c));
    i.contiguity[d] = c;
    i.constancy[d] = minp(i.constancy[d], n.constancy[d]);
  }
  if (i.constant != n.constant) i.constant.reset();
  return !(i == old);
}

AxisInfo AxisInfoAnalysis::compute(Operation *op) const {
  Type t = op->result().type();
  AxisInfo r = unknown(t);
  unsigned rank = r.rank();
  auto in = [&](unsigned i) { return get(op->operand(i)); };

  if (auto c = op->dyn<arith::ConstantOp>()) {
    auto *bits = splatBits(c.value());
    if (bits && t.scalar().isIntOrIndex() && bits->getSignificantBits() <= 64) return constantInfo(t, t.scalar().isInteger(1) ? bits->getZExtValue() : bits->getSExtValue());
    if (bits) r.constancy.assign(rank, 1);
    if (bits && t.isTensor())
      for (unsigned d = 0; d < rank; ++d) r.constancy[d] = dimOf(t, d);
    return r;
  }
  auto scalarAll = [&](const AxisInfo &i) { return divisibilityOfAll(i, 0); };

  switch (op->opcode()) {
  case Opcode::tt_make_range: {
    auto m = op->cast<tt::MakeRangeOp>();
    r.contiguity[0] = m.end() - m.start();
    r.divisibility[0] = powerOfTwoDivisor(m.start());
    break;
  }
  case Opcode::tt_splat: {
    AxisInfo a = in(0);
    for (unsigned d = 0; d < rank; ++d) r.constancy[d] = dimOf(t, d), r.divisibility[d] = scalarAll(a);
    r.constant = a.constant;
    break;
  }
  case Opcode::tt_expand_dims: {
    AxisInfo a = in(0);
    unsigned axis = op->cast<tt::ExpandDimsOp>().axis();
    int64_t all = 1;
    for (unsigned d = 0; d < a.rank(); ++d)
      if (a.contiguity[d] == 1) all = std::max(all, a.divisibility[d]);
    r = a;
    r.contiguity.insert(r.contiguity.begin() + axis, 1);
    r.divisibility.insert(r.divisibility.begin() + axis, all);
    r.constancy.insert(r.constancy.begin() + axis, 1);
    break;
  }
  case Opcode::tt_broadcast: {
    r = in(0);
    for (unsigned d = 0; d < rank; ++d)
      if (dimOf(op->operand(0).type(), d) == 1) r.constancy[d] = dimOf(t, d), r.contiguity[d] = 1;
    break;
  }
  case Opcode::tt_trans: {
    AxisInfo a = in(0);
    r.constant = a.constant;
    for (auto [d, from] : llvm::enumerate(op->cast<tt::TransOp>().order())) r.contiguity[d] = a.contiguity[from], r.divisibility[d] = a.divisibility[from], r.constancy[d] = a.constancy[from];
    break;
  }
  case Opcode::ttg_convert_layout:
  case Opcode::arith_extsi:
  case Opcode::arith_extui:
  case Opcode::arith_index_cast:
  case Opcode::arith_index_castui:
  case Opcode::llvm_intr_assume: r = in(0); break;
  case Opcode::arith_trunci:
    r = in(0);
    if (r.constant && (*r.constant < INT32_MIN || *r.constant > INT32_MAX || t.scalar().bitWidth() < 32)) r.constant.reset();
    break;
  case Opcode::tt_bitcast: {
    AxisInfo a = in(0);
    auto from = op->operand(0).type().scalar().dyn_cast<PointerType>(), to = t.scalar().dyn_cast<PointerType>();
    if (from && to) {
      r = a;
      if (from.pointee().bitWidth() != to.pointee().bitWidth())
        for (unsigned d = 0; d < rank; ++d) r.divisibility[d] = divisibilityAt(a, d, 1), r.contiguity[d] = 1;
    } else r.constancy = a.constancy;
    break;
  }
  case Opcode::arith_addi:
  case Opcode::tt_addptr: {
    AxisInfo a = in(0), b = in(1);
    int64_t scale = 1;
    if (auto p = t.scalar().dyn_cast<PointerType>()) scale = p.pointee().isTensor() ? 1 : std::max<int64_t>(1, p.pointee().bitWidth() / 8);
    for (unsigned d = 0; d < rank; ++d) {
      r.contiguity[d] = std::max(minp(a.contiguity[d], b.constancy[d]), minp(a.constancy[d], b.contiguity[d]));
      // A pointer's group starts at multiples of elements, in bytes.
      int64_t da = a.contiguity[d] > r.contiguity[d] ? minp(a.divisibility[d], capped(r.contiguity[d], scale)) : a.divisibility[d];
      r.divisibility[d] = minp(da, capped(divisibilityAt(b, d, r.contiguity[d]), scale));
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    }
    if (op->is<arith::AddiOp>() && a.constant && b.constant) return constantInfo(t, int64_t(uint64_t(*a.constant) + uint64_t(*b.constant)));
    break;
  }
  case Opcode::arith_subi: {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank; ++d) {
      r.contiguity[d] = minp(a.contiguity[d], b.constancy[d]);
      r.divisibility[d] = minp(divisibilityAt(a, d, r.contiguity[d]), divisibilityAt(b, d, 1));
      if (b.contiguity[d] > 1) r.divisibility[d] = 1;
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    }
    if (a.constant && b.constant) return constantInfo(t, int64_t(uint64_t(*a.constant) - uint64_t(*b.constant)));
    break;
  }
  case Opcode::arith_muli:
  case Opcode::arith_shli: {
    AxisInfo a = in(0), b = in(1);
    if (op->is<arith::ShliOp>()) {
      if (!b.constant || *b.constant < 0 || *b.constant > 31) break;
      b = constantInfo(op->operand(1).type(), int64_t(1) << *b.constant);
    }
    for (unsigned d = 0; d < rank; ++d) {
      if (b.constant == 1) r.contiguity[d] = a.contiguity[d];
      if (a.constant == 1) r.contiguity[d] = b.contiguity[d];
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      r.divisibility[d] = r.contiguity[d] > 1 ? (b.constant == 1 ? a.divisibility[d] : b.divisibility[d]) : capped(divisibilityOfAll(a, d), divisibilityOfAll(b, d));
    }
    if (a.constant && b.constant) return constantInfo(t, int64_t(uint64_t(*a.constant) * uint64_t(*b.constant)));
    break;
  }
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui: {
    AxisInfo a = in(0), b = in(1);
    if (op->is<arith::ShrsiOp>() || op->is<arith::ShruiOp>()) {
      if (!b.constant || *b.constant < 0 || *b.constant > 30) break;
      b = constantInfo(op->operand(1).type(), int64_t(1) << *b.constant);
    }
    for (unsigned d = 0; d < rank; ++d) {
      if (b.constant == 1) {
        r.contiguity[d] = a.contiguity[d];
        r.divisibility[d] = a.divisibility[d];
        r.constancy[d] = a.constancy[d];
        continue;
      }
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      // Consecutive numbers from a multiple of the divisor's power of two share their quotient.
      if (a.contiguity[d] > 1) r.constancy[d] = std::max(r.constancy[d], minp(minp(a.contiguity[d], b.constancy[d]), minp(a.divisibility[d], b.divisibility[d])));
      if (a.contiguity[d] == 1 && b.constant && *b.constant > 0 && llvm::isPowerOf2_64(*b.constant)) r.divisibility[d] = std::max<int64_t>(1, a.divisibility[d] / *b.constant);
    }
    break;
  }
  case Opcode::arith_remsi:
  case Opcode::arith_remui: {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank; ++d) {
      r.contiguity[d] = minp(minp(a.contiguity[d], b.constancy[d]), minp(a.divisibility[d], b.divisibility[d]));
      r.divisibility[d] = minp(divisibilityAt(a, d, r.contiguity[d]), divisibilityOfAll(b, d));
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
    }
    break;
  }
  case Opcode::arith_andi:
  case Opcode::arith_ori:
  case Opcode::arith_xori: {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank; ++d) {
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      int64_t da = divisibilityOfAll(a, d), db = divisibilityOfAll(b, d);
      r.divisibility[d] = op->is<arith::AndiOp>() ? std::max(da, db) : minp(da, db);
    }
    break;
  }
  case Opcode::arith_cmpi: {
    AxisInfo a = in(0), b = in(1);
    auto p = op->cast<arith::CmpiOp>().predicate();
    bool low = p == CmpIPredicate::Slt || p == CmpIPredicate::Ult || p == CmpIPredicate::Sge || p == CmpIPredicate::Uge;
    bool high = p == CmpIPredicate::Sgt || p == CmpIPredicate::Ugt || p == CmpIPredicate::Sle || p == CmpIPredicate::Ule;
    for (unsigned d = 0; d < rank; ++d) {
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      // x + i < n, i below a power of two that divides both, is one answer for all i.
      int64_t common = minp(a.divisibility[d], b.divisibility[d]);
      if (low) r.constancy[d] = std::max(r.constancy[d], minp(minp(a.contiguity[d], b.constancy[d]), common));
      if (high) r.constancy[d] = std::max(r.constancy[d], minp(minp(b.contiguity[d], a.constancy[d]), common));
    }
    break;
  }
  case Opcode::arith_select: {
    AxisInfo c = in(0), a = in(1), b = in(2);
    bool scalar = !op->operand(0).type().isTensor();
    for (unsigned d = 0; d < rank; ++d) {
      int64_t limit = scalar ? INT64_MAX : c.constancy[d];
      r.contiguity[d] = minp(minp(a.contiguity[d], b.contiguity[d]), limit);
      r.constancy[d] = minp(minp(a.constancy[d], b.constancy[d]), limit);
      r.divisibility[d] = minp(divisibilityAt(a, d, r.contiguity[d]), divisibilityAt(b, d, r.contiguity[d]));
    }
    break;
  }
  case Opcode::arith_maxsi:
  case Opcode::arith_maxui:
  case Opcode::arith_minsi:
  case Opcode::arith_minui: {
    AxisInfo a = in(0), b = in(1);
    for (unsigned d = 0; d < rank; ++d) {
      r.constancy[d] = minp(a.constancy[d], b.constancy[d]);
      r.divisibility[d] = minp(divisibilityOfAll(a, d), divisibilityOfAll(b, d));
    }
    break;
  }
  case Opcode::tt_load: {
    AxisInfo p = in(0);
    r.constancy = p.constancy;
    for (unsigned i = 1; i < op->numOperands(); ++i) {
      AxisInfo m = in(i);
      for (unsigned d = 0; d < rank; ++d) r.constancy[d] = minp(r.constancy[d], m.constancy[d]);
    }
    break;
  }
  default:
    // Elementwise work keeps what is constant in all operands.
    if (op->info().has(kElementwise) && op->numOperands() && op->numResults() == 1) {
      r.constancy = in(0).constancy;
      for (unsigned i = 1; i < op->numOperands(); ++i)
        for (unsigned d = 0; d < rank; ++d) r.constancy[d] = minp(r.constancy[d], in(i).constancy[d]);
    }
  }
  // What the frontend promised (tl.multiple_of and its kin).
  for (auto [name, field] : {std::pair("tt.contiguity", &r.contiguity), std::pair("tt.divisibility", &r.divisibility), std::pair("tt.constancy", &r.constancy)}) {
    Attribute a = op->attr(name);
    if (!a) continue;
    if (auto dense = a.dyn_cast<DenseElementsAttr>())
      for (unsigned d = 0; d < rank && d < dense.size(); ++d) (*field)[d] = std::max((*field)[d], powerOfTwoDivisor(dense.element(d).getSExtValue()));
    else if (auto i = a.dyn_cast<IntegerAttr>()) (*field)[0] = std::max((*field)[0], powerOfTwoDivisor(i.sext()));
  }
  for (unsigned d = 0; d < rank; ++d) {
    r.contiguity[d] = std::min(r.contiguity[d], std::max<int64_t>(1, dimOf(t, d)));
    r.constancy[d] = std::min(r.constancy[d], std::max<int64_t>(1, dimOf(t, d)));
  }
  return r;
}

void AxisInfoAnalysis::visit(Operation *op) {
  if (auto f = op->dyn<scf::ForOp>()) {
    Block *b = f.body().front();
    // The induction variable: what divides the lower bound and the step.
    AxisInfo lo = get(f.lowerBound()), st = get(f.step()), iv = unknown(f.lowerBound().type());
    iv.divisibility[0] = minp(lo.divisibility[0], st.divisibility[0]);
    info_[b->arg(0)] = iv;
    for (unsigned i = 0; i < f.initArgs().size(); ++i) info_[b->arg(i + 1)] = get(f.initArgs()[i]);
    for (bool changed = true; changed;) {
      changed = false;
      walk(b);
      Operation *y = b->terminator();
      for (unsigned i = 0; i < f.initArgs().size(); ++i) changed |= join(b->arg(i + 1), get(y->operand(i)));
    }
    for (unsigned i = 0; i < op->numResults(); ++i) info_[op->result(i)] = get(b->arg(i + 1));
    return;
  }
  if (auto w = op->dyn<scf::WhileOp>()) {
    Block *before = w.before().front(), *after = w.after().front();
    for (unsigned i = 0; i < w.inits().size(); ++i) info_[before->arg(i)] = get(w.inits()[i]);
    for (bool changed = true; changed;) {
      changed = false;
      walk(before);
      auto args = before->terminator()->cast<scf::ConditionOp>().args();
      for (unsigned i = 0; i < args.size(); ++i) info_[after->arg(i)] = get(args[i]);
      walk(after);
      for (unsigned i = 0; i < w.inits().size(); ++i) changed |= join(before->arg(i), get(after->terminator()->operand(i)));
    }
    for (unsigned i = 0; i < op->numResults(); ++i) info_[op->result(i)] = get(after->arg(i));
    return;
  }
  if (auto s = op->dyn<scf::IfOp>()) {
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next()) walk(b);
    for (unsigned i = 0; i < op->numResults(); ++i) {
      info_.erase(op->result(i));
      join(op->result(i), get(s.thenRegion().back()->terminator()->operand(i)));
      join(op->result(i), get(s.elseRegion().back()->terminator()->operand(i)));
    }
    return;
  }
  for (auto &r : op->regions())
    if (!op->is<tt::ReduceOp>() && !op->is<tt::ScanOp>())
      for (auto *b = r.front(); b; b = b->next()) walk(b);
  if (op->numResults() == 1) info_[op->result()] = compute(op);
}

void AxisInfoAnalysis::walk(Block *b) {
  for (auto &op : *b) visit(&op);
}

AxisInfoAnalysis::AxisInfoAnalysis(Module &m) {
  for (auto &op : *m.body()) {
    auto f = op.dyn<tt::FuncOp>();
    if (!f || f.body().empty()) continue;
    Block *entry = f.body().front();
    auto attrs = op.attr<ArrayAttr>("arg_attrs");
    for (unsigned i = 0; i < entry->numArgs(); ++i) {
      AxisInfo info = unknown(entry->arg(i).type());
      if (attrs && i < attrs.size()) {
        auto d = attrs[i].cast<DictionaryAttr>();
        for (auto [name, field] : {std::pair("tt.contiguity", &info.contiguity), std::pair("tt.divisibility", &info.divisibility), std::pair("tt.constancy", &info.constancy)})
          if (Attribute a = d.get(name))
            if (auto v = a.dyn_cast<IntegerAttr>()) field->assign(info.rank(), powerOfTwoDivisor(v.sext()));
      }
      info_[entry->arg(i)] = info;
    }
    // Arguments of further blocks are unknown.
    for (auto *b = entry; b; b = b->next()) walk(b);
  }
}

int64_t AxisInfoAnalysis::alignment(Value ptr, unsigned dim) const { return get(ptr).divisibility[dim]; }
int64_t AxisInfoAnalysis::contiguousElements(Value ptr, unsigned dim) const {
  AxisInfo i = get(ptr);
  int64_t bytes = std::max<int64_t>(1, ptr.type().scalar().cast<PointerType>().pointee().bitWidth() / 8);
  return std::max<int64_t>(1, minp(i.contiguity[dim], std::max<int64_t>(1, i.divisibility[dim] / bytes)));
}
int64_t AxisInfoAnalysis::maskConstancy(Value mask, unsigned dim) const { return get(mask).constancy[dim]; }

} // namespace tessera::transforms
