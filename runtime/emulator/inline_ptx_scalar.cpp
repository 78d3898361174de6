// Inline PTX: arithmetic, comparisons, conversions and moves, lane by lane. What they compute is
// runtime/ptx_arithmetic.h.
#include "runtime/emulator/inline_ptx.h"

namespace tessera::emulator::ptx {
using namespace llvm;
using inline_ptx::Operation;
using inline_ptx::operationOf;

namespace {

void runScalar(Warp &w, const Instruction &i) {
  const ScalarCall &c = *reinterpret_cast<const ScalarCall *>(i.immediate);
  for (uint64_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (c.guard != kNoRow && bool(w.row<uint8_t>(c.guard)[l] & 1) == c.negated) continue;
    uint64_t in[4] = {};
    for (unsigned k = 0; k < i.more.size(); ++k) in[k] = loadRow(w, i.more[k], c.bytes[k], l);
    if (c.carry != kNoRow) {
      bool carry = w.row<uint8_t>(c.carry)[l];
      storeRow(w, i.to, c.to, l, c.operation.run(in, &carry));
      w.row<uint8_t>(c.carry)[l] = carry;
      continue;
    }
    storeRow(w, i.to, c.to, l, c.second ? c.operation.runSecond(in) : c.operation.run(in));
  }
}

/// The guard in `a`; the immediate: negated.
void runTrap(Warp &w, const Instruction &i) {
  for (uint64_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    bool isReached = i.a == kNoRow || bool(w.row<uint8_t>(i.a)[l] & 1) != bool(i.immediate);
    if (isReached) return fail(w, &i, int(l), "the kernel traps (inline PTX 'trap')");
  }
}

/// A plain instruction that the table has.
Operation plain(StringRef opcode, StringRef type, size_t operands) {
  std::string why;
  return *operationOf(opcode, {type}, operands, why);
}

} // namespace

void PtxDecoder::call(const Statement &s, const Operand &to, ArrayRef<Operand> in, const Operation &operation,
                      bool second) {
  auto c = std::make_shared<ScalarCall>();
  c->operation = operation;
  c->second = second;
  c->guard = s.guard;
  c->negated = s.guardNegated;
  c->to = uint8_t(to.bytes);
  if (operation.readsCarry || operation.writesCarry) c->carry = carry();
  SmallVector<Row, 4> rows;
  for (const Operand &o : in) {
    bool isImmediate = o.kind == Operand::Immediate;
    uint64_t v =
        o.isReal ? inline_ptx::encodeLiteral(operation.literalType(), std::bit_cast<double>(o.immediate)) : o.immediate;
    rows.push_back(isImmediate ? d_.constant(v, 8) : o.row);
    c->bytes.push_back(uint8_t(isImmediate ? 8 : o.bytes));
  }
  d_.emit(runScalar, to.row, kNoRow, kNoRow, kNoRow, reinterpret_cast<uint64_t>(c.get())).more = d_.list(rows);
  d_.program().owned.push_back(c);
}

bool PtxDecoder::emitTrap(Statement &s) {
  if (!s.operands.empty() || !s.modifiers.empty()) return false;
  d_.emit(runTrap, kNoRow, s.guard, kNoRow, kNoRow, s.guardNegated);
  return true;
}

bool PtxDecoder::emitMove(Statement &s) {
  if (s.operands.size() != 2 || s.modifiers.size() != 1) return false;
  PtxType t = typeOf(s.modifiers[0]);
  if (!t) return bad("type");
  Operand &to = s.operands[0], &from = s.operands[1];
  auto shiftBy = [](unsigned bits) {
    Operand shift;
    shift.kind = Operand::Immediate;
    shift.immediate = bits;
    return shift;
  };
  if (to.kind == Operand::Vector) {
    if (from.kind != Operand::Register || to.parts.empty()) return false;
    unsigned part = t.bits / unsigned(to.parts.size());
    for (auto [k, p] : enumerate(to.parts))
      if (p.kind != Operand::Sink) call(s, p, {from, shiftBy(part * unsigned(k))}, plain("shr", "u64", 2));
    return true;
  }
  if (from.kind == Operand::Vector) {
    if (to.kind != Operand::Register || from.parts.empty()) return false;
    unsigned part = t.bits / unsigned(from.parts.size());
    Operand whole; // apart from the result, which may be one of the parts
    whole.row = d_.fresh(8);
    whole.bytes = 8;
    for (auto [k, p] : enumerate(from.parts)) {
      Operand shifted = whole;
      if (k) shifted.row = d_.fresh(8);
      call({}, shifted, {p, shiftBy(part * unsigned(k))}, plain("shl", "b64", 2));
      if (k) call({}, whole, {whole, shifted}, plain("or", "b64", 2));
    }
    call(s, to, {whole}, plain("mov", "b64", 1));
    return true;
  }
  if (to.kind != Operand::Register) return false;
  std::string why;
  auto operation = operationOf("mov", s.modifiers, 1, why);
  if (!operation) return bad(why);
  call(s, to, {from}, *operation);
  return true;
}

bool PtxDecoder::emitScalar(Statement &s) {
  if (s.operands.size() < 2) return false;
  SmallVector<Operand, 4> in(s.operands.begin() + 1, s.operands.end());
  for (Operand &o : in)
    if (o.kind != Operand::Register && o.kind != Operand::Immediate) return false;
  if (in.size() > 4) return false;
  std::string why;
  auto operation = operationOf(s.opcode, s.modifiers, in.size(), why);
  if (!operation) return bad(why);
  Operand &to = s.operands[0];
  if (to.kind == Operand::Register) {
    call(s, to, in, *operation);
    return true;
  }
  if (to.kind != Operand::Vector || to.parts.size() != 2 || !operation->hasSecond) return bad("results");
  // Both are computed from the operands, of which the first result may be one.
  Operand first = to.parts[0];
  if (first.kind == Operand::Register) first.row = d_.fresh(first.bytes);
  for (unsigned k = 0; k < 2; ++k)
    if (to.parts[k].kind == Operand::Register) call(s, k ? to.parts[k] : first, in, *operation, k == 1);
  if (first.kind == Operand::Register) call(s, to.parts[0], {first}, plain("mov", "pred", 1));
  return true;
}

} // namespace tessera::emulator::ptx
