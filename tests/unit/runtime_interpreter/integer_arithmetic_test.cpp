// Elementwise operations on integers against loops written here: every pair of 8-bit integers, special and random ones
// of the other widths.
#include "evaluation.h"
#include <random>

namespace tessera {
namespace {
using test::elementwiseKernel;
using test::Evaluation;

template <class U> std::string typeName() { return "i" + std::to_string(sizeof(U) * 8); }

/// The answer for integers of `w` bits held in 64, computed in 128 bits.
struct IntegerOp {
  const char *name;
  int64_t (*f)(__int128 a, __int128 b, __int128 ua, __int128 ub, int w);
};
const IntegerOp kIntegerOps[] = {
    {"addi", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a + b); }},
    {"subi", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a - b); }},
    {"muli", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a * b); }},
    {"andi", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a & b); }},
    {"ori", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a | b); }},
    {"xori", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a ^ b); }},
    {"shli",
     [](__int128, __int128, __int128 a, __int128 b, int w) { return b < w ? int64_t(uint64_t(a) << int(b)) : 0; }},
    {"shrui", [](__int128, __int128, __int128 a, __int128 b, int w) { return b < w ? int64_t(a >> int(b)) : 0; }},
    {"shrsi", [](__int128 a, __int128, __int128, __int128 b, int w) { return int64_t(a >> int(b < w ? b : w - 1)); }},
    {"divsi", [](__int128 a, __int128 b, __int128, __int128, int) { return b == 0 ? int64_t(-1) : int64_t(a / b); }},
    {"divui", [](__int128, __int128, __int128 a, __int128 b, int) { return b == 0 ? int64_t(-1) : int64_t(a / b); }},
    {"remsi", [](__int128 a, __int128 b, __int128, __int128, int) { return b == 0 ? int64_t(a) : int64_t(a % b); }},
    {"remui", [](__int128, __int128, __int128 a, __int128 b, int) { return b == 0 ? int64_t(a) : int64_t(a % b); }},
    {"ceildivsi", [](__int128 a, __int128 b, __int128, __int128,
                     int) { return b == 0 ? int64_t(-1) : int64_t(a / b + (a % b != 0 && (a < 0) == (b < 0))); }},
    {"ceildivui",
     [](__int128, __int128, __int128 a, __int128 b, int) { return b == 0 ? int64_t(-1) : int64_t((a + b - 1) / b); }},
    {"floordivsi", [](__int128 a, __int128 b, __int128, __int128,
                      int) { return b == 0 ? int64_t(-1) : int64_t(a / b - (a % b != 0 && (a < 0) != (b < 0))); }},
    {"maxsi", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a > b ? a : b); }},
    {"minsi", [](__int128 a, __int128 b, __int128, __int128, int) { return int64_t(a < b ? a : b); }},
    {"maxui", [](__int128, __int128, __int128 a, __int128 b, int) { return int64_t(a > b ? a : b); }},
    {"minui", [](__int128, __int128, __int128 a, __int128 b, int) { return int64_t(a < b ? a : b); }},
};

/// All pairs of 8-bit numbers, or all pairs of special ones and many random pairs.
template <class U> void pairs(std::vector<U> &a, std::vector<U> &b) {
  if (sizeof(U) == 1) {
    for (int i = 0; i < 65536; ++i) a.push_back(U(i)), b.push_back(U(i >> 8));
    return;
  }
  using S = std::make_signed_t<U>;
  constexpr int w = sizeof(U) * 8;
  const U special[] = {0,
                       1,
                       2,
                       3,
                       U(-1),
                       U(-2),
                       U(-3),
                       U(S(1) << (w - 2)),
                       U(U(1) << (w - 1)),
                       U((U(1) << (w - 1)) + 1),
                       U((U(1) << (w - 1)) - 1),
                       7,
                       U(-7),
                       w - 1,
                       w,
                       w + 1,
                       100};
  std::mt19937_64 random(w);
  for (U x : special)
    for (U y : special) a.push_back(x), b.push_back(y);
  while (a.size() < 1024) {
    a.push_back(U(random() >> (random() % w)));
    b.push_back(U(random() >> (random() % w)));
  }
}

template <class U> void checkIntegers() {
  std::vector<U> a, b;
  pairs(a, b);
  using S = std::make_signed_t<U>;
  std::string t = typeName<U>(), type = "tensor<" + std::to_string(a.size()) + "x" + t + ">";
  for (auto &op : kIntegerOps) {
    std::vector<U> r(a.size());
    Evaluation(elementwiseKernel(a.size(), {t, t}, {t}, std::string("%r = arith.") + op.name + " %a, %b : " + type))
        .buffer(a)
        .buffer(b)
        .buffer(r)
        .ok();
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(r[i], U(op.f(S(a[i]), S(b[i]), a[i], b[i], sizeof(U) * 8)))
          << op.name << " of " << uint64_t(a[i]) << " and " << uint64_t(b[i]) << " in " << t;
  }
  struct Predicate {
    const char *name;
    bool (*f)(S, S, U, U);
  };
  const Predicate predicates[] = {
      {"eq", [](S, S, U x, U y) { return x == y; }}, {"ne", [](S, S, U x, U y) { return x != y; }},
      {"slt", [](S x, S y, U, U) { return x < y; }}, {"sle", [](S x, S y, U, U) { return x <= y; }},
      {"sgt", [](S x, S y, U, U) { return x > y; }}, {"sge", [](S x, S y, U, U) { return x >= y; }},
      {"ult", [](S, S, U x, U y) { return x < y; }}, {"ule", [](S, S, U x, U y) { return x <= y; }},
      {"ugt", [](S, S, U x, U y) { return x > y; }}, {"uge", [](S, S, U x, U y) { return x >= y; }}};
  for (auto &p : predicates) {
    std::vector<uint8_t> r(a.size());
    Evaluation(
        elementwiseKernel(a.size(), {t, t}, {"i1"}, std::string("%r = arith.cmpi ") + p.name + ", %a, %b : " + type))
        .buffer(a)
        .buffer(b)
        .buffer(r)
        .ok();
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(r[i], p.f(S(a[i]), S(b[i]), a[i], b[i])) << p.name;
  }
  // Both halves of arith.mulsi_extended and arith.mului_extended.
  for (bool isSigned : {false, true}) {
    std::vector<U> low(a.size()), high(a.size());
    Evaluation(elementwiseKernel(a.size(), {t, t}, {t, t},
                                 std::string("%r, %s = arith.") + (isSigned ? "mulsi" : "mului") +
                                     "_extended %a, %b : " + type))
        .buffer(a)
        .buffer(b)
        .buffer(low)
        .buffer(high)
        .ok();
    for (size_t i = 0; i < a.size(); ++i) {
      unsigned __int128 product =
          isSigned ? (unsigned __int128)(__int128(S(a[i])) * S(b[i])) : (unsigned __int128)(a[i]) * b[i];
      ASSERT_EQ(low[i], U(product));
      ASSERT_EQ(high[i], U(product >> (sizeof(U) * 8)));
    }
  }
}
TEST(Integers, EveryPairOf8Bits) { checkIntegers<uint8_t>(); }
TEST(Integers, Of16Bits) { checkIntegers<uint16_t>(); }
TEST(Integers, Of32Bits) { checkIntegers<uint32_t>(); }
TEST(Integers, Of64Bits) { checkIntegers<uint64_t>(); }

TEST(Integers, OddWidths) {
  // In 4 bits, by way of 8: 7 + 1 = -8, -8 / -1 wraps to -8, 1 << 3 = -8, 1 << 4 is out of range.
  std::vector<int8_t> a = {7, -8, 1, 1, -3, 0, 5, 3}, b = {1, -1, 3, 4, 2, 0, -3, 3}, r(8), s(8), q(8);
  std::string text = R"(
    %x = arith.trunci %a : tensor<8xi8> to tensor<8xi4>
    %y = arith.trunci %b : tensor<8xi8> to tensor<8xi4>
    %sum = arith.addi %x, %y : tensor<8xi4>
    %quotient = arith.divsi %x, %y : tensor<8xi4>
    %shifted = arith.shli %x, %y : tensor<8xi4>
    %r = arith.extsi %sum : tensor<8xi4> to tensor<8xi8>
    %s = arith.extsi %quotient : tensor<8xi4> to tensor<8xi8>
    %t = arith.extui %shifted : tensor<8xi4> to tensor<8xi8>)";
  Evaluation(elementwiseKernel(8, {"i8", "i8"}, {"i8", "i8", "i8"}, text))
      .buffer(a)
      .buffer(b)
      .buffer(r)
      .buffer(s)
      .buffer(q)
      .ok();
  EXPECT_EQ(r, (std::vector<int8_t>{-8, 7, 4, 5, -1, 0, 2, 6}));
  EXPECT_EQ(s, (std::vector<int8_t>{7, -8, 0, 0, -1, -1, -1, 1}));
  EXPECT_EQ(q, (std::vector<int8_t>{14, 0, 8, 0, 4, 0, 0, 8}));
}

TEST(Integers, Bools) {
  std::vector<uint8_t> a = {0, 0, 1, 1}, b = {0, 1, 0, 1}, sum(4), less(4);
  std::vector<float> f(4), g(4);
  std::vector<int32_t> x(4);
  std::string text = R"(
    %r = arith.addi %a, %b : tensor<4xi1>
    %s = arith.cmpi slt, %a, %b : tensor<4xi1>
    %t = arith.sitofp %a : tensor<4xi1> to tensor<4xf32>
    %u = arith.uitofp %a : tensor<4xi1> to tensor<4xf32>
    %v = arith.extsi %b : tensor<4xi1> to tensor<4xi32>)";
  Evaluation(elementwiseKernel(4, {"i1", "i1"}, {"i1", "i1", "f32", "f32", "i32"}, text))
      .buffer(a)
      .buffer(b)
      .buffer(sum)
      .buffer(less)
      .buffer(f)
      .buffer(g)
      .buffer(x)
      .ok();
  EXPECT_EQ(sum, (std::vector<uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ(less, (std::vector<uint8_t>{0, 0, 1, 0})); // true is -1
  EXPECT_EQ(f, (std::vector<float>{0, 0, -1, -1}));
  EXPECT_EQ(g, (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(x, (std::vector<int32_t>{0, -1, 0, -1}));
}

TEST(Integers, CountsAndHalves) {
  std::vector<uint32_t> a = {0, 1, 0x80000000, 0xFFFFFFFF, 0x00F0}, r(5), s(5), t(5), u(5), v(5);
  std::string text = R"(
    %r = math.ctlz %a : tensor<5xi32>
    %s = math.cttz %a : tensor<5xi32>
    %t = math.ctpop %a : tensor<5xi32>
    %u = math.absi %a : tensor<5xi32>
    %v = tt.mulhiui %a, %a : tensor<5xi32>)";
  Evaluation(elementwiseKernel(5, {"i32"}, {"i32", "i32", "i32", "i32", "i32"}, text))
      .buffer(a)
      .buffer(r)
      .buffer(s)
      .buffer(t)
      .buffer(u)
      .buffer(v)
      .ok();
  EXPECT_EQ(r, (std::vector<uint32_t>{32, 31, 0, 0, 24}));
  EXPECT_EQ(s, (std::vector<uint32_t>{32, 0, 31, 0, 4}));
  EXPECT_EQ(t, (std::vector<uint32_t>{0, 1, 1, 32, 4}));
  EXPECT_EQ(u, (std::vector<uint32_t>{0, 1, 0x80000000, 1, 0xF0}));
  EXPECT_EQ(v, (std::vector<uint32_t>{0, 0, 0x40000000, 0xFFFFFFFE, 0}));
}

TEST(Integers, WidthsOf128Bits) {
  std::vector<int64_t> a = {INT64_MIN, -1, 5, INT64_MAX}, b = {INT64_MIN, 3, 7, INT64_MAX}, high(4), low(4);
  std::string text = R"(
    %x = arith.extsi %a : tensor<4xi64> to tensor<4xi128>
    %y = arith.extsi %b : tensor<4xi64> to tensor<4xi128>
    %p = arith.muli %x, %y : tensor<4xi128>
    %c = arith.constant dense<64> : tensor<4xi128>
    %h = arith.shrsi %p, %c : tensor<4xi128>
    %r = arith.trunci %h : tensor<4xi128> to tensor<4xi64>
    %s = arith.trunci %p : tensor<4xi128> to tensor<4xi64>)";
  Evaluation(elementwiseKernel(4, {"i64", "i64"}, {"i64", "i64"}, text))
      .buffer(a)
      .buffer(b)
      .buffer(high)
      .buffer(low)
      .ok();
  for (int i = 0; i < 4; ++i) {
    __int128 p = __int128(a[i]) * b[i];
    EXPECT_EQ(high[i], int64_t(p >> 64));
    EXPECT_EQ(low[i], int64_t(p));
  }
}

} // namespace
} // namespace tessera
