// Inline PTX: ldmatrix, stmatrix, mma.sync, wgmma (PTX ISA, "Warp Level Matrix Instructions", "Asynchronous Warpgroup
// Level Matrix Instructions").
#include "runtime/emulator/inline_ptx.h"
#include "runtime/emulator/matrix.h"
#include "runtime/emulator/warpgroup.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::emulator::ptx {
using namespace llvm;

namespace {

/// ldmatrix: lanes 8i to 8i + 7 give the addresses of the rows of matrix i, 16 bytes each; each lane then gets the
/// two elements of row lane / 4 that begin at column 2 (lane % 4), of the transpose with .trans. immediate: matrices
/// | trans << 8; more: the four words of the row that a lane's address leads to, then the results.
void distribute(Warp &w, const Instruction &i) {
  unsigned count = unsigned(i.immediate & 0xff);
  bool transposed = i.immediate >> 8;
  for (unsigned m = 0; m < count; ++m)
    for (unsigned l = 0; l < 32; ++l) {
      auto element = [&](unsigned row, unsigned column) {
        return w.row<uint32_t>(i.more[column / 2])[8 * m + row] >> (16 * (column & 1)) & 0xffff;
      };
      unsigned r = l / 4, c = 2 * (l % 4);
      w.row<uint32_t>(i.more[4 + m])[l] =
          transposed ? element(c, r) | element(c + 1, r) << 16 : element(r, c) | element(r, c + 1) << 16;
    }
}
/// stmatrix: the reverse; what each address's lane then stores.
void collect(Warp &w, const Instruction &i) {
  unsigned count = unsigned(i.immediate & 0xff);
  bool transposed = i.immediate >> 8;
  for (unsigned m = 0; m < count; ++m)
    for (unsigned row = 0; row < 8; ++row) {
      uint32_t words[4] = {};
      for (unsigned column = 0; column < 8; ++column) {
        unsigned r = transposed ? column : row, c = transposed ? row : column;
        uint32_t v = w.row<uint32_t>(i.more[4 + m])[4 * r + c / 2] >> (16 * (c & 1)) & 0xffff;
        words[column / 2] |= v << (16 * (column & 1));
      }
      for (unsigned k = 0; k < 4; ++k) w.row<uint32_t>(i.more[k])[8 * m + row] = words[k];
    }
}
void firstLanes(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the matrix access")) return;
  for (unsigned l = 0; l < 32; ++l) w.row<uint8_t>(i.to)[l] = l < i.immediate;
}

} // namespace

bool PtxDecoder::emitMatrixAccess(Statement &s) {
  unsigned count = 0;
  bool transposed = false, shape = false, b16 = false, load = s.opcode == "ldmatrix";
  for (StringRef m : s.modifiers) {
    if (m == "sync" || m == "aligned" || m == "shared" || m == "shared::cta") continue;
    if (m == "m8n8")
      shape = true;
    else if (m == "b16")
      b16 = true;
    else if (m == "trans")
      transposed = true;
    else if (m == "x1" || m == "x2" || m == "x4")
      count = unsigned(m[1] - '0');
    else
      return bad("modifier ." + m);
  }
  if (!shape || !b16 || !count || s.operands.size() != 2 || s.guard != kNoRow) return false;
  Operand &address = s.operands[load ? 1 : 0], &data = s.operands[load ? 0 : 1];
  std::vector<Operand> parts = data.kind == Operand::Vector ? data.parts : std::vector<Operand>{data};
  if (address.kind != Operand::Address || parts.size() != count) return bad("number of registers");
  Access a = access(s, address);
  a.space = Space::Shared;
  a.kind = load ? Access::Kind::Load : Access::Kind::Store;
  a.bytes = a.alignment = 16;
  SmallVector<Row, 8> rows;
  for (unsigned k = 0; k < 4; ++k) {
    rows.push_back(d_.fresh(4));
    a.elements.push_back({rows.back(), 4, 4});
  }
  for (Operand &p : parts) {
    if (p.bytes != 4 || p.kind != Operand::Register) return bad("register");
    rows.push_back(p.row);
  }
  a.predicate = d_.fresh(1);
  d_.emit(firstLanes, a.predicate, kNoRow, kNoRow, kNoRow, 8 * count);
  uint64_t how = count | uint64_t(transposed) << 8;
  if (!load) d_.emitImmediate(collect, how).more = d_.list(rows);
  d_.emitAccess(std::move(a));
  if (load) d_.emitImmediate(distribute, how).more = d_.list(rows);
  return true;
}

bool PtxDecoder::emitMma(Statement &s) {
  MatrixOperation op;
  op.family = MatrixFamily::MmaSync;
  SmallVector<StringRef, 4> types;
  bool row = false, column = false;
  for (StringRef m : s.modifiers) {
    if (m == "sync" || m == "aligned") continue;
    if (m == "row")
      row = true;
    else if (m == "col")
      column = true;
    else if (m == "satfinite")
      return bad("modifier .satfinite");
    else if (m.size() > 4 && m[0] == 'm' && isDigit(m[1])) {
      StringRef rest = m.drop_front();
      if (rest.consumeInteger(10, op.m) || !rest.consume_front("n") || rest.consumeInteger(10, op.n) ||
          !rest.consume_front("k") || rest.consumeInteger(10, op.k) || !rest.empty())
        return bad("shape");
    } else
      types.push_back(m);
  }
  if (!row || !column || types.size() != 4 || types[0] != types[3] || s.operands.size() != 4) return bad("types");
  op.c = ptxElement(types[0]);
  op.a = ptxElement(types[1]);
  op.b = ptxElement(types[2]);
  SmallVector<Row, 8> rows[4];
  for (unsigned k = 0; k < 4; ++k) {
    auto &o = s.operands[k];
    for (const Operand &p : o.kind == Operand::Vector ? o.parts : std::vector<Operand>{o}) {
      if (p.kind != Operand::Register) return bad("register");
      rows[k].push_back(p.row);
    }
  }
  op.d = rows[0];
  op.aRows = rows[1];
  op.bRows = rows[2];
  op.cRows = rows[3];
  op.aBytes = op.bBytes = op.c == MatrixElement::F64 ? 8 : 4;
  op.accumulatorBytes = op.c == MatrixElement::F64 ? 8 : 4;
  std::string why;
  if (!emitMatrixOperation(d_, std::move(op), why)) return bad(why);
  return true;
}

// wgmma.fence, .commit_group, .wait_group and .mma_async.
bool PtxDecoder::emitWarpgroup(Statement &s) {
  if (s.modifiers.size() < 3 || s.guard != kNoRow || s.modifiers[1] != "sync" || s.modifiers[2] != "aligned")
    return bad("without .sync.aligned");
  StringRef kind = s.modifiers[0];
  if (kind == "mma_async") return s.modifiers.size() >= 7 && emitWarpgroupDot(s);
  if (s.modifiers.size() != 3) return false;
  if (kind == "wait_group") {
    if (s.operands.size() != 1 || s.operands[0].kind != Operand::Immediate) return false;
    emitWarpgroupWait(d_, s.operands[0].immediate);
    return true;
  }
  if (!s.operands.empty()) return false;
  if (kind == "fence")
    emitWarpgroupFence(d_);
  else if (kind == "commit_group")
    emitWarpgroupCommit(d_);
  else
    return false;
  return true;
}

// wgmma.mma_async.sync.aligned.m64n…k…{.satfinite}.dtype.atype.btype
//     d, a, b, scale-d{, imm-scale-a, imm-scale-b}{{, imm-trans-a}, imm-trans-b}
// a is a vector of registers or a descriptor. Integers have no scales; 16-bit floats alone can be transposed, a only in
// shared memory.
bool PtxDecoder::emitWarpgroupDot(Statement &s) {
  WarpgroupOperation op;
  StringRef shape = s.modifiers[3];
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, op.n) || !shape.consume_front("k") ||
      shape.getAsInteger(10, op.k))
    return bad("shape");
  size_t types = 4; // the first of them
  op.saturate = s.modifiers[types] == "satfinite";
  if (op.saturate) ++types;
  if (s.modifiers.size() != types + 3) return bad("types");
  op.c = ptxElement(s.modifiers[types]);
  op.a = ptxElement(s.modifiers[types + 1]);
  op.b = ptxElement(s.modifiers[types + 2]);
  bool hasScales = op.c != MatrixElement::S32;
  bool mayTranspose = op.a == MatrixElement::F16 || op.a == MatrixElement::BF16;

  if (s.operands.size() < 4 || s.operands[0].kind != Operand::Vector) return bad("operands");
  bool aInRegisters = s.operands[1].kind == Operand::Vector;
  size_t scales = hasScales ? 2 : 0;
  size_t transpositions = !mayTranspose ? 0 : aInRegisters ? 1 : 2;
  if (s.operands.size() != 4 + scales + transpositions) return bad("number of operands");
  auto rowsOf = [&](Operand &o, auto &rows) {
    for (Operand &p : o.parts) {
      if (p.kind != Operand::Register || p.bytes != 4) return false;
      rows.push_back(p.row);
    }
    return true;
  };
  if (!rowsOf(s.operands[0], op.d) || (aInRegisters && !rowsOf(s.operands[1], op.aRows))) return bad("register");
  if (aInRegisters) emitArrivalCheck(d_, op.aRows);
  for (unsigned k : {1u, 2u}) {
    if (k == 1 && aInRegisters) continue;
    Operand &o = s.operands[k];
    if (o.kind != Operand::Register || o.bytes != 8) return bad("descriptor");
    (k == 1 ? op.aDescriptor : op.bDescriptor) = o.row;
  }
  if (s.operands[3].kind != Operand::Register || s.operands[3].bytes != 1) return bad("scale-d, which is a predicate");
  op.accumulate = s.operands[3].row;

  SmallVector<int64_t, 4> immediates;
  for (const Operand &o : ArrayRef(s.operands).drop_front(4)) {
    if (o.kind != Operand::Immediate) return bad("immediate");
    immediates.push_back(int64_t(o.immediate));
  }
  for (auto [k, v] : enumerate(immediates)) {
    bool isScale = k < scales;
    bool isAllowed = isScale ? v == 1 || v == -1 : v == 0 || v == 1;
    if (!isAllowed) return bad("immediate " + Twine(v));
  }
  if (hasScales) {
    op.negateA = immediates[0] < 0;
    op.negateB = immediates[1] < 0;
  }
  if (mayTranspose) {
    op.transposeB = immediates.back();
    op.transposeA = !aInRegisters && immediates[scales];
  }
  std::string why;
  return emitWarpgroupOperation(d_, std::move(op), why) || bad(why);
}

} // namespace tessera::emulator::ptx
