// Elementwise evaluation of integer operations: arithmetic, comparisons and counts of bits. Divisions by zero and
// shifts by the width or more have the results that elementwise.h states.
#include "runtime/interpreter/elementwise_functions.h"
#include "runtime/interpreter/lane_loops.h"

namespace tessera::runtime::elementwise {
using namespace ir;

template <class I> static Lanes arithmetic(LanePool &p, Opcode op, I t, const Lanes &a, const Lanes &b) {
  using U = typename I::Word;
  using S = typename I::Signed;
  using W = typename I::Wide;
  auto divide = [](S x, S y) -> S { return y == 0 ? S(-1) : y == -1 ? S(W(0) - W(U(x))) : S(x / y); };
  auto inexact = [](S x, S y) { return y != 0 && y != -1 && x % y != 0; };
  auto negative = [](S x, S y) { return (x < 0) != (y < 0); };
#define CASE(name, expr)                                                                                               \
  case Opcode::name: return map<U>(p, a, b, [=](U x, U y) -> U { return expr; });
  switch (op) {
    CASE(arith_addi, t.cut(W(x) + W(y)))
    CASE(arith_subi, t.cut(W(x) - W(y)))
    CASE(arith_muli, t.cut(W(x) * W(y)))
    CASE(arith_andi, U(x & y))
    CASE(arith_ori, U(x | y))
    CASE(arith_xori, U(x ^ y))
    CASE(arith_shli, y < t.w ? t.cut(W(x) << y) : U(0))
    CASE(arith_shrui, y < t.w ? U(x >> y) : U(0))
    CASE(arith_shrsi, t.cutSigned(S(t.s(x) >> (y < t.w ? y : U(t.w - 1)))))
    CASE(arith_divui, y ? U(x / y) : t.cut(W(-1)))
    CASE(arith_remui, y ? U(x % y) : x)
    CASE(arith_ceildivui, y ? U(x / y + (x % y != 0)) : t.cut(W(-1)))
    CASE(arith_divsi, t.cutSigned(divide(t.s(x), t.s(y))))
    CASE(arith_remsi, y == 0 ? x : t.s(y) == -1 ? U(0) : t.cutSigned(S(t.s(x) % t.s(y))))
    CASE(arith_ceildivsi,
         t.cutSigned(S(divide(t.s(x), t.s(y)) + (inexact(t.s(x), t.s(y)) && !negative(t.s(x), t.s(y))))))
    CASE(arith_floordivsi,
         t.cutSigned(S(divide(t.s(x), t.s(y)) - (inexact(t.s(x), t.s(y)) && negative(t.s(x), t.s(y))))))
    CASE(arith_maxsi, t.s(x) > t.s(y) ? x : y)
    CASE(arith_minsi, t.s(x) < t.s(y) ? x : y)
    CASE(arith_maxui, x > y ? x : y)
    CASE(arith_minui, x < y ? x : y)
  default: return {};
  }
#undef CASE
}

Lanes integerArithmetic(LanePool &p, Opcode op, unsigned width, const Lanes &a, const Lanes &b) {
  // Bitwise operations on less than a byte need no masking of the unused bits.
  bool isBitwise = op == Opcode::arith_andi || op == Opcode::arith_ori || op == Opcode::arith_xori;
  if (isBitwise && width < 8) return arithmetic(p, op, Ints<uint8_t, true>(), a, b);
  Lanes wide = withInts(p, width, [&](auto ints, auto bring) { return arithmetic(p, op, ints, bring(a), bring(b)); });
  return fit(p, std::move(wide), width);
}

template <class I> static Lanes compare(LanePool &p, CmpIPredicate predicate, I t, const Lanes &a, const Lanes &b) {
  using U = typename I::Word;
#define CASE(name, expr)                                                                                               \
  case CmpIPredicate::name: return map<U>(p, a, b, [=](U x, U y) -> uint8_t { return expr; });
  switch (predicate) {
    CASE(Eq, x == y)
    CASE(Ne, x != y)
    CASE(Slt, t.s(x) < t.s(y))
    CASE(Sle, t.s(x) <= t.s(y))
    CASE(Sgt, t.s(x) > t.s(y))
    CASE(Sge, t.s(x) >= t.s(y))
    CASE(Ult, x < y)
    CASE(Ule, x <= y)
    CASE(Ugt, x > y)
    CASE(Uge, x >= y)
  }
#undef CASE
  return {};
}

Lanes integerCompare(LanePool &p, CmpIPredicate predicate, unsigned width, const Lanes &a, const Lanes &b) {
  return withInts(p, width, [&](auto ints, auto bring) { return compare(p, predicate, ints, bring(a), bring(b)); });
}

Lanes highHalf(LanePool &p, bool isSigned, unsigned width, const Lanes &a, const Lanes &b) {
  Lanes high = map<uint64_t>(p, resize(p, a, 8), resize(p, b, 8), [=](uint64_t x, uint64_t y) -> uint64_t {
    if (isSigned) return zeroExtend(uint64_t(Int128(signExtend(x, width)) * signExtend(y, width) >> width), width);
    return zeroExtend(uint64_t(UInt128(x) * y >> width), width);
  });
  return fit(p, high, width);
}

Lanes hasWrapped(LanePool &p, const Lanes &sum, const Lanes &first) {
  return withWord(sum.width(), [&](auto zero) {
    using U = decltype(zero);
    return map<U>(p, sum, first, [](U s, U x) -> uint8_t { return s < x; });
  });
}

Lanes integerAbsolute(LanePool &p, unsigned width, const Lanes &a) {
  Lanes wide = withInts(p, width, [&](auto ints, auto bring) {
    using U = typename decltype(ints)::Word;
    using W = typename decltype(ints)::Wide;
    return map<U>(p, bring(a), [=](U x) -> U { return ints.s(x) < 0 ? ints.cut(W(0) - W(x)) : x; });
  });
  return fit(p, std::move(wide), width);
}

Lanes countBits(LanePool &p, Opcode op, unsigned width, const Lanes &a) {
  Lanes wide = map<uint64_t>(p, resize(p, a, 8), [=](uint64_t x) -> uint64_t {
    uint64_t n = op == Opcode::math_ctpop  ? std::popcount(x)
                 : op == Opcode::math_ctlz ? std::countl_zero(x) - (64 - width)
                 : x                       ? std::countr_zero(x)
                                           : width;
    return zeroExtend(n, width);
  });
  return fit(p, std::move(wide), width);
}

} // namespace tessera::runtime::elementwise
