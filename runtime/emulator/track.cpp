// Overflow of 32-bit arithmetic on the way to an address. For the rows that addresses are computed from (decode.cpp
// marks them) the value that unbounded integers would have is kept beside the row, but only once an overflow has
// happened: a row without such a record is exact. An overflow that a later step takes back (x + y - y) does no harm
// and is not reported; a value that is widened to 64 bits or used as an address while it differs from the exact one
// makes the lane's address wrong, which the access reports. Masking, shifting right, division and comparisons drop
// the record: hash functions and the like overflow on purpose. So does a shift left by 31, which is how LLVM makes
// the offset that is out of bounds where a mask is not set (select of 0 and the sign bit by bit 0): no stride is so
// large. Nor does an integer mul or a shift count as overflown if LLVM has dropped the upper bits of a constant that it
// shifts out: (x - 1) * 64 is written as (x + 0x3ffffff) * 64, and (y - x) << 1 as (x * 0x7fffffff + y) << 1.
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::emulator {

static Exact *find(Warp &w, Row r) {
  if (w.exact.empty() || r == kNoRow) return nullptr;
  auto it = w.exact.find(r);
  return it == w.exact.end() ? nullptr : it->second.get();
}

/// The bits that are left of a constant if it is a small negative one whose upper bits were dropped, else 0.
static unsigned bitsLeft(const llvm::Value *v) {
  auto *c = llvm::dyn_cast<llvm::ConstantInt>(v);
  if (!c || c->getBitWidth() != 32 || c->isNegative()) return 0;
  unsigned bits = c->getValue().getActiveBits();
  return bits >= 20 && (c->getZExtValue() >> (bits - 12)) == 0xfff ? bits : 0;
}

/// A sum, or what LLVM writes for one whose terms have no bits in common.
static bool isSum(const llvm::Value *v) {
  auto *op = llvm::dyn_cast<llvm::BinaryOperator>(v);
  if (!op) return false;
  auto *bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(op);
  return bits ? bits->isDisjoint() : op->getOpcode() == llvm::Instruction::Add;
}

/// If an operand of an integer mul adds such a constant: by how much the operand is too large.
static int64_t droppedBits(const llvm::Value *v) {
  constexpr int kDeepest = 4;
  for (int depth = 0; depth < kDeepest && isSum(v); ++depth) {
    auto *sum = llvm::cast<llvm::BinaryOperator>(v);
    if (unsigned bits = bitsLeft(sum->getOperand(1))) return int64_t(1) << bits;
    v = sum->getOperand(isSum(sum->getOperand(0)) ? 0 : 1);
  }
  return 0;
}

/// Whether a sum has such a constant of so many bits as a term, or in one that is multiplied by it; or one of two that
/// are selected from.
static bool hasConstantOf(const llvm::Value *v, unsigned bits, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  if (auto *select = llvm::dyn_cast<llvm::SelectInst>(v); select && depth < kDeepest)
    return hasConstantOf(select->getTrueValue(), bits, depth + 1) ||
           hasConstantOf(select->getFalseValue(), bits, depth + 1);
  auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(v);
  if (!sum || depth == kDeepest) return false;
  bool isOther = sum->getOpcode() == llvm::Instruction::Sub || sum->getOpcode() == llvm::Instruction::Mul;
  if (!isOther && !isSum(sum)) return false;
  for (const llvm::Value *operand : sum->operands())
    if (bitsLeft(operand) == bits || hasConstantOf(operand, bits, depth + 1)) return true;
  return false;
}

void copyExact(Warp &w, Row from, Row to) {
  if (Exact *e = find(w, from))
    w.exact[to] = std::make_unique<Exact>(*e);
  else
    w.exact.erase(to);
}

/// The result is exact.
static void dropRecord(Warp &w, const Instruction &i) {
  if (!w.exact.empty()) w.exact.erase(i.to);
}

static void trackSelect(Warp &w, const Instruction &i) {
  if (w.exact.empty()) return;
  Exact *a = find(w, i.a);
  Exact *b = find(w, i.b);
  if (!a && !b) return dropRecord(w, i);
  auto out = std::make_unique<Exact>();
  const uint8_t *c = w.row<uint8_t>(i.c);
  for (unsigned l = 0; l < w.lanes; ++l) {
    Exact *from = c[l] ? a : b;
    out->value[l] = from ? from->value[l] : i.immediate == 4 ? int32_t(w.row<uint32_t>(i.to)[l]) : 0;
    if (from) out->wrong |= from->wrong & uint64_t(1) << l;
  }
  out->origin = a ? a->origin : b->origin;
  w.exact[i.to] = std::move(out);
}

/// From 4 bytes to 8.
static void trackExtension(Warp &w, const Instruction &i) {
  Exact *a = find(w, i.a);
  if (!a) return dropRecord(w, i);
  auto out = std::make_unique<Exact>();
  out->origin = a->origin;
  const uint64_t *to = w.row<uint64_t>(i.to);
  for (unsigned l = 0; l < w.lanes; ++l)
    if (i.tracking == Tracking::SExt ? a->value[l] != int64_t(to[l]) : a->value[l] != i128(to[l]))
      out->wrong |= uint64_t(1) << l;
  w.exact[i.to] = std::move(out);
}

/// Arithmetic on 8 bytes: a lane is wrong if an operand is.
static void trackWide(Warp &w, const Instruction &i) {
  if (w.exact.empty()) return;
  Exact *a = find(w, i.a);
  Exact *b = find(w, i.b);
  uint64_t wrong = (a ? a->wrong : 0) | (b ? b->wrong : 0);
  if (b && i.c == 4) { // the index of an address
    const uint32_t *index = w.row<uint32_t>(i.b);
    for (unsigned l = 0; l < w.lanes; ++l)
      if (b->value[l] != int32_t(index[l])) wrong |= uint64_t(1) << l;
  }
  if (!wrong) return dropRecord(w, i);
  auto out = std::make_unique<Exact>();
  out->origin = a && a->origin ? a->origin : b->origin;
  out->wrong = wrong;
  w.exact[i.to] = std::move(out);
}

/// The exact values of a 32-bit operation that overflowed, or of whose operands one has a record.
static void recordArithmetic(Warp &w, const Instruction &i, Exact *a, Exact *b) {
  const uint32_t *x = w.row<uint32_t>(i.a);
  const uint32_t *y = w.row<uint32_t>(i.b);
  const uint32_t *to = w.row<uint32_t>(i.to);
  int64_t dropped[2] = {0, 0};
  if (!a && !b && i.source && (i.tracking == Tracking::Mul || i.tracking == Tracking::Shl)) {
    dropped[0] = droppedBits(i.source->getOperand(0));
    if (i.tracking == Tracking::Mul) dropped[1] = droppedBits(i.source->getOperand(1));
  }
  // Whether the integer mul is in range as it was written, before LLVM dropped bits of a constant.
  auto inRangeAsWritten = [&](unsigned l) {
    for (int64_t p : {int64_t(int32_t(x[l])), int32_t(x[l]) - dropped[0]})
      for (int64_t q : {int64_t(int32_t(y[l])), int32_t(y[l]) - dropped[1]})
        if (i128(p) * (i.tracking == Tracking::Shl ? int64_t(1) << (q & 31) : q) == int32_t(to[l])) return true;
    return false;
  };
  unsigned shift = i.tracking == Tracking::Shl ? y[std::countr_zero(w.mask)] : 0;
  if (shift && i.source && hasConstantOf(i.source->getOperand(0), 32 - shift)) return dropRecord(w, i);
  auto out = std::make_unique<Exact>();
  bool any = false;
  for (unsigned l = 0; l < w.lanes; ++l) {
    if ((dropped[0] || dropped[1]) && inRangeAsWritten(l)) {
      out->value[l] = int32_t(to[l]);
      continue;
    }
    any |= w.mask >> l & 1;
    i128 p = a ? a->value[l] : int32_t(x[l]);
    i128 q = b ? b->value[l] : int32_t(y[l]);
    switch (i.tracking) {
    case Tracking::Add: out->value[l] = p + q; break;
    case Tracking::Sub: out->value[l] = p - q; break;
    case Tracking::Mul: out->value[l] = p * q; break;
    default: out->value[l] = y[l] < 32 ? i128(u128(p) << y[l]) : 0; break;
    }
    // Clamped, so that later steps cannot overflow 128 bits: such a value is wrong anyway.
    constexpr i128 kFar = i128(1) << 60;
    if (out->value[l] > kFar) out->value[l] = kFar;
    if (out->value[l] < -kFar) out->value[l] = -kFar;
  }
  if (!any) return dropRecord(w, i);
  out->origin = a ? a->origin : b ? b->origin : i.source;
  w.exact[i.to] = std::move(out);
}

/// Four bytes in, four bytes out.
static void trackArithmetic(Warp &w, const Instruction &i) {
  const uint32_t *x = w.row<uint32_t>(i.a);
  const uint32_t *y = w.row<uint32_t>(i.b);
  const uint32_t *to = w.row<uint32_t>(i.to);
  if (i.tracking == Tracking::Shl && y[std::countr_zero(w.mask)] == 31) return dropRecord(w, i);
  Exact *a = find(w, i.a);
  Exact *b = find(w, i.b);
  if (a || b) return recordArithmetic(w, i, a, b);
  uint32_t over = 0;
  auto overflows = [&](unsigned l) -> uint32_t {
    switch (i.tracking) {
    case Tracking::Add: return ((x[l] ^ to[l]) & (y[l] ^ to[l])) >> 31;
    case Tracking::Sub: return ((x[l] ^ y[l]) & (x[l] ^ to[l])) >> 31;
    case Tracking::Mul: return int64_t(int32_t(x[l])) * int32_t(y[l]) != int32_t(to[l]);
    default: return y[l] > 31 || int64_t(uint64_t(int64_t(int32_t(x[l]))) << y[l]) != int32_t(to[l]);
    }
  };
  if (w.mask == w.full)
    for (unsigned l = 0; l < w.lanes; ++l) over |= overflows(l);
  else
    for (uint64_t m = w.mask; m; m &= m - 1) over |= overflows(unsigned(std::countr_zero(m)));
  if (over) return recordArithmetic(w, i, nullptr, nullptr);
  dropRecord(w, i);
}

void runTracked(Warp &w, const Instruction &i) {
  // The operands' rows may be overwritten only by the handler of a later instruction: rows are single-assignment.
  i.tracked(w, i);
  switch (i.tracking) {
  case Tracking::None: return;
  case Tracking::Select: return trackSelect(w, i);
  case Tracking::SExt:
  case Tracking::ZExt: return trackExtension(w, i);
  case Tracking::Trunc: return dropRecord(w, i);
  case Tracking::Wide: return trackWide(w, i);
  case Tracking::Add:
  case Tracking::Sub:
  case Tracking::Mul:
  case Tracking::Shl: return trackArithmetic(w, i);
  }
}

std::string whyWrong(Warp &w, Row address, unsigned bytes, unsigned lane) {
  Exact *e = find(w, address);
  if (!e) return "";
  if (bytes == 8 ? !(e->wrong >> lane & 1)
                 : e->value[lane] == i128(w.row<uint32_t>(address)[lane]) ||
                       e->value[lane] == int32_t(w.row<uint32_t>(address)[lane]))
    return "";
  std::string at = describe(e->origin);
  return "an index overflowed 32 bits on its way to this address" +
         (at.empty() ? std::string() : "; the overflow is in " + at);
}

} // namespace tessera::emulator
