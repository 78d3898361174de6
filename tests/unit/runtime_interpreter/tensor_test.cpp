// Shapes, reductions, scans and dots against loops written here, at several shapes.
#include "evaluation.h"
#include "runtime/float_formats.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <numeric>
#include <random>

namespace tessera {
namespace {
using test::Evaluation;
using Dims = std::vector<int64_t>;

int64_t product(const Dims &d) { return std::accumulate(d.begin(), d.end(), int64_t(1), std::multiplies<>()); }
std::string tensor(const Dims &d, const std::string &element) {
  std::string s = "tensor<";
  for (auto x : d) s += std::to_string(x) + "x";
  return s + element + ">";
}
/// Coordinates of element i, row-major.
Dims at(int64_t i, const Dims &shape) {
  Dims x(shape.size());
  for (size_t d = shape.size(); d-- > 0;) x[d] = i % shape[d], i /= shape[d];
  return x;
}
int64_t flat(const Dims &x, const Dims &shape) {
  int64_t i = 0;
  for (size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + x[d];
  return i;
}

struct Operand {
  std::string name;
  Dims shape;
  std::string type;
};

/// A kernel that loads tensors of these shapes (row-major from a buffer each), runs the lines and stores results.
std::string tensorKernel(const std::vector<Operand> &in, const std::string &lines, const std::vector<Operand> &out,
                         const std::string &functions = "") {
  std::string args, body;
  auto pointers = [&](const Operand &o) {
    std::string n = std::to_string(product(o.shape)), pointer = "!tt.ptr<" + o.type + ">",
                list = "tensor<" + n + "x" + pointer + ">";
    args += (args.empty() ? "" : ", ") + ("%" + o.name + "_p: ") + pointer;
    body += "    %" + o.name + "_i = tt.make_range {end = " + n + " : i32, start = 0 : i32} : tensor<" + n + "xi32>\n";
    body += "    %" + o.name + "_s = tt.splat %" + o.name + "_p : " + pointer + " -> " + list + "\n";
    body += "    %" + o.name + "_q = tt.addptr %" + o.name + "_s, %" + o.name + "_i : " + list + ", tensor<" + n +
            "xi32>\n";
  };
  for (auto &o : in) {
    pointers(o);
    std::string n = std::to_string(product(o.shape)), list = "tensor<" + n + "x!tt.ptr<" + o.type + ">>";
    body += "    %" + o.name + "_f = tt.load %" + o.name + "_q : " + list + "\n";
    body += "    %" + o.name + " = tt.reshape %" + o.name + "_f : tensor<" + n + "x" + o.type + "> -> " +
            tensor(o.shape, o.type) + "\n";
  }
  body += lines + "\n";
  for (auto &o : out) {
    if (o.shape.empty()) {
      args += ", %" + o.name + "_p: !tt.ptr<" + o.type + ">";
      body += "    tt.store %" + o.name + "_p, %" + o.name + " : !tt.ptr<" + o.type + ">\n";
      continue;
    }
    pointers(o);
    std::string n = std::to_string(product(o.shape)), list = "tensor<" + n + "x!tt.ptr<" + o.type + ">>";
    body += "    %" + o.name + "_f = tt.reshape %" + o.name + " : " + tensor(o.shape, o.type) + " -> tensor<" + n +
            "x" + o.type + ">\n";
    body += "    tt.store %" + o.name + "_q, %" + o.name + "_f : " + list + "\n";
  }
  return "module {\n  tt.func public @k(" + args + ") {\n" + body + "    tt.return\n  }\n" + functions + "}\n";
}

std::vector<int32_t> iota(int64_t n, int32_t start = 0) {
  std::vector<int32_t> v(n);
  std::iota(v.begin(), v.end(), start);
  return v;
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

TEST(Shapes, Transpose) {
  struct Case {
    Dims shape, order;
  };
  for (auto &c : {Case{{4, 8}, {1, 0}}, Case{{2, 4, 8}, {2, 0, 1}}, Case{{2, 4, 8}, {0, 2, 1}},
                  Case{{2, 1, 4, 2}, {3, 1, 0, 2}}, Case{{16}, {0}}}) {
    Dims to;
    std::string order;
    for (auto d : c.order) to.push_back(c.shape[d]), order += (order.empty() ? "" : ", ") + std::to_string(d);
    auto x = iota(product(c.shape));
    std::vector<int32_t> r(x.size());
    Evaluation(tensorKernel({{"x", c.shape, "i32"}},
                            "%r = tt.trans %x {order = array<i32: " + order + ">} : " + tensor(c.shape, "i32") +
                                " -> " + tensor(to, "i32"),
                            {{"r", to, "i32"}}))
        .buffer(x)
        .buffer(r)
        .ok();
    for (int64_t i = 0; i < product(to); ++i) {
      Dims y = at(i, to), from(y.size());
      for (size_t d = 0; d < y.size(); ++d) from[c.order[d]] = y[d];
      ASSERT_EQ(r[i], x[flat(from, c.shape)]);
    }
  }
}

TEST(Shapes, Broadcast) {
  struct Case {
    Dims from, to;
  };
  for (auto &c : {Case{{1, 8}, {4, 8}}, Case{{4, 1}, {4, 8}}, Case{{1, 4, 1}, {2, 4, 8}}, Case{{1, 1}, {8, 4}},
                  Case{{2, 1, 2}, {2, 4, 2}}}) {
    auto x = iota(product(c.from));
    std::vector<int32_t> r(product(c.to));
    Evaluation(tensorKernel({{"x", c.from, "i32"}},
                            "%r = tt.broadcast %x : " + tensor(c.from, "i32") + " -> " + tensor(c.to, "i32"),
                            {{"r", c.to, "i32"}}))
        .buffer(x)
        .buffer(r)
        .ok();
    for (int64_t i = 0; i < product(c.to); ++i) {
      Dims y = at(i, c.to);
      for (size_t d = 0; d < y.size(); ++d) y[d] = c.from[d] == 1 ? 0 : y[d];
      ASSERT_EQ(r[i], x[flat(y, c.from)]);
    }
  }
}

TEST(Shapes, JoinSplitCatExpandSplat) {
  std::vector<int32_t> a = {0, 1, 2, 3}, b = {10, 11, 12, 13}, j(8), s(4), t(4), c(8), e(8), u(1);
  std::string text = R"(
    %j = tt.join %a, %b : tensor<4xi32> -> tensor<4x2xi32>
    %s, %t = tt.split %j : tensor<4x2xi32> -> tensor<4xi32>
    %c = tt.cat %a, %b : tensor<4xi32> -> tensor<8xi32>
    %x = tt.expand_dims %a {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %e = tt.broadcast %x : tensor<1x4xi32> -> tensor<2x4xi32>
    %f = arith.constant dense<7> : tensor<1xi32>
    %u = "tt.unsplat"(%f) : (tensor<1xi32>) -> i32)";
  Evaluation(tensorKernel({{"a", {4}, "i32"}, {"b", {4}, "i32"}}, text,
                          {{"j", {4, 2}, "i32"},
                           {"s", {4}, "i32"},
                           {"t", {4}, "i32"},
                           {"c", {8}, "i32"},
                           {"e", {2, 4}, "i32"},
                           {"u", {}, "i32"}}))
      .buffer(a)
      .buffer(b)
      .buffer(j)
      .buffer(s)
      .buffer(t)
      .buffer(c)
      .buffer(e)
      .buffer(u)
      .ok();
  EXPECT_EQ(j, (std::vector<int32_t>{0, 10, 1, 11, 2, 12, 3, 13}));
  EXPECT_EQ(s, a);
  EXPECT_EQ(t, b);
  EXPECT_EQ(c, (std::vector<int32_t>{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(e, (std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(u[0], 7);
}

TEST(Shapes, Gather) {
  for (int axis : {0, 1}) {
    Dims from = {4, 8}, to = axis == 0 ? Dims{16, 8} : Dims{4, 2};
    auto x = iota(32);
    std::vector<int32_t> index(product(to)), r(product(to));
    std::mt19937 random(axis);
    for (auto &i : index) i = random() % from[axis];
    std::string text = "%r = tt.gather %x[%i] {axis = " + std::to_string(axis) + " : i32} : (" + tensor(from, "i32") +
                       ", " + tensor(to, "i32") + ") -> " + tensor(to, "i32");
    Evaluation(tensorKernel({{"x", from, "i32"}, {"i", to, "i32"}}, text, {{"r", to, "i32"}}))
        .buffer(x)
        .buffer(index)
        .buffer(r)
        .ok();
    for (int64_t i = 0; i < product(to); ++i) {
      Dims y = at(i, to);
      y[axis] = index[i];
      ASSERT_EQ(r[i], x[flat(y, from)]);
    }
    index[3] = from[axis];
    Evaluation(tensorKernel({{"x", from, "i32"}, {"i", to, "i32"}}, text, {{"r", to, "i32"}}))
        .buffer(x)
        .buffer(index)
        .buffer(r)
        .fails("(element 3) is outside of dimension");
  }
}

TEST(Shapes, Histogram) {
  std::vector<int32_t> x = {0, 1, 1, 3, 7, 8, -1, 3}, r(8), s(8);
  std::vector<uint8_t> m = {1, 1, 0, 1, 1, 1, 1, 0};
  std::string text = "%r = tt.histogram %x : tensor<8xi32> -> tensor<8xi32>\n%s = tt.histogram %x, %m : tensor<8xi32> "
                     "-> tensor<8xi32>";
  Evaluation(tensorKernel({{"x", {8}, "i32"}, {"m", {8}, "i1"}}, text, {{"r", {8}, "i32"}, {"s", {8}, "i32"}}))
      .buffer(x)
      .buffer(m)
      .buffer(r)
      .buffer(s)
      .ok();
  EXPECT_EQ(r, (std::vector<int32_t>{1, 2, 0, 2, 0, 0, 0, 1}));
  EXPECT_EQ(s, (std::vector<int32_t>{1, 1, 0, 1, 0, 0, 0, 1}));
}

TEST(Shapes, DenseConstants) {
  std::vector<int64_t> r(4);
  std::vector<uint16_t> h(2);
  std::vector<uint8_t> b(2);
  std::string text = R"(%r = arith.constant dense<[[1, -2], [3, 9223372036854775807]]> : tensor<2x2xi64>
    %h = arith.constant dense<[1.5, -0.0]> : tensor<2xf16>
    %b = arith.constant dense<[true, false]> : tensor<2xi1>)";
  Evaluation(tensorKernel({}, text, {{"r", {2, 2}, "i64"}, {"h", {2}, "f16"}, {"b", {2}, "i1"}}))
      .buffer(r)
      .buffer(h)
      .buffer(b)
      .ok();
  EXPECT_EQ(r, (std::vector<int64_t>{1, -2, 3, INT64_MAX}));
  EXPECT_EQ(h, (std::vector<uint16_t>{0x3E00, 0x8000}));
  EXPECT_EQ(b, (std::vector<uint8_t>{1, 0}));
}

// ---- reductions -----------------------------------------------------------------------------------------------------

std::string reduceText(const std::string &op, int axis, const Dims &shape, const std::string &type,
                       const std::string &lines, const std::string &results) {
  Dims rest = shape;
  rest.erase(rest.begin() + axis);
  std::string result = op == "tt.scan" ? tensor(shape, type) : rest.empty() ? type : tensor(rest, type);
  return "%r = \"" + op + "\"(%x) <{axis = " + std::to_string(axis) + " : i32" +
         (op == "tt.scan" ? ", reverse = " + results : "") + "}> ({\n^bb0(%p: " + type + ", %q: " + type + "):\n" +
         lines + "\n" + op + ".return %v : " + type + "\n}) : (" + tensor(shape, type) + ") -> " + result;
}

TEST(Reductions, SumsAlongEveryAxis) {
  std::mt19937 random(1);
  for (Dims shape : {Dims{64}, Dims{1}, Dims{8, 4}, Dims{4, 32}, Dims{2, 4, 8}, Dims{4, 1, 2}})
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      std::vector<int32_t> x(product(shape));
      for (auto &v : x) v = int32_t(random());
      Dims rest = shape;
      rest.erase(rest.begin() + axis);
      std::vector<int32_t> r(product(rest)), want(product(rest));
      for (size_t i = 0; i < x.size(); ++i) {
        Dims y = at(i, shape);
        y.erase(y.begin() + axis);
        auto &w = want[flat(y, rest)];
        w = int32_t(uint32_t(w) + uint32_t(x[i]));
      }
      Evaluation(tensorKernel({{"x", shape, "i32"}},
                              reduceText("tt.reduce", axis, shape, "i32", "%v = arith.addi %p, %q : i32", ""),
                              {{"r", rest, "i32"}}))
          .buffer(x)
          .buffer(r)
          .ok();
      ASSERT_EQ(r, want) << axis;
    }
}

TEST(Reductions, CombinePairwiseInOrder) {
  // A tree of neighbours is exact here, and a running sum is not: 2^24 + 1 + 1 + … in f32.
  std::vector<float> x(1024, 1.0f), r(1);
  x[0] = 0x1p24f;
  x[1] = 0;
  Evaluation(tensorKernel({{"x", {1024}, "f32"}},
                          reduceText("tt.reduce", 0, {1024}, "f32", "%v = arith.addf %p, %q : f32", ""),
                          {{"r", {}, "f32"}}))
      .buffer(x)
      .buffer(r)
      .ok();
  EXPECT_EQ(r[0], 0x1p24f + 1022);
  // An associative function that does not commute: the left operand. And the right one.
  std::vector<int32_t> y = {5, 6, 7, 8}, s(1);
  Evaluation(tensorKernel({{"x", {4}, "i32"}},
                          "%zero = arith.constant 0 : i32\n" +
                              reduceText("tt.reduce", 0, {4}, "i32", "%v = arith.addi %p, %zero : i32", ""),
                          {{"r", {}, "i32"}}))
      .buffer(y)
      .buffer(s)
      .ok();
  EXPECT_EQ(s[0], 5);
  Evaluation(tensorKernel({{"x", {4}, "i32"}},
                          "%zero = arith.constant 0 : i32\n" +
                              reduceText("tt.reduce", 0, {4}, "i32", "%v = arith.addi %q, %zero : i32", ""),
                          {{"r", {}, "i32"}}))
      .buffer(y)
      .buffer(s)
      .ok();
  EXPECT_EQ(s[0], 8);
}

const char *kArgMax = R"(
    %m, %k = "tt.reduce"(%x, %i) <{axis = AXIS : i32}> ({
    ^bb0(%v0: f32, %i0: i32, %v1: f32, %i1: i32):
      %gt = arith.cmpf ogt, %v0, %v1 : f32
      %eq = arith.cmpf oeq, %v0, %v1 : f32
      %lt = arith.cmpi slt, %i0, %i1 : i32
      %tie = arith.andi %eq, %lt : i1
      %first = arith.ori %gt, %tie : i1
      %v = arith.select %first, %v0, %v1 : f32
      %j = arith.select %first, %i0, %i1 : i32
      tt.reduce.return %v, %j : f32, i32
    }) : (tensor<8x16xf32>, tensor<8x16xi32>) -> (RESULTxf32>, RESULTxi32>))";

TEST(Reductions, SeveralOperands) {
  std::mt19937 random(3);
  std::vector<float> x(128);
  for (auto &v : x) v = float(random() % 10);
  auto index = iota(128);
  for (int axis : {0, 1}) {
    Dims rest = {axis == 0 ? 16 : 8};
    std::vector<float> m(rest[0]);
    std::vector<int32_t> k(rest[0]);
    std::string text = kArgMax;
    text.replace(text.find("AXIS"), 4, std::to_string(axis));
    for (size_t p; (p = text.find("RESULT")) != std::string::npos;)
      text.replace(p, 6, "tensor<" + std::to_string(rest[0]));
    Evaluation(
        tensorKernel({{"x", {8, 16}, "f32"}, {"i", {8, 16}, "i32"}}, text, {{"m", rest, "f32"}, {"k", rest, "i32"}}))
        .buffer(x)
        .buffer(index)
        .buffer(m)
        .buffer(k)
        .ok();
    for (int64_t o = 0; o < rest[0]; ++o) {
      int64_t best = axis == 0 ? o : o * 16;
      for (int64_t n = 0; n < (axis == 0 ? 8 : 16); ++n) {
        int64_t e = axis == 0 ? n * 16 + o : o * 16 + n;
        if (x[e] > x[best]) best = e;
      }
      ASSERT_EQ(m[o], x[best]);
      ASSERT_EQ(k[o], index[best]);
    }
  }
}

TEST(Reductions, RegionsWithControlFlowAndCalls) {
  // The same maximum three ways: by scf.if (evaluated element by element), by a call of a function, by both.
  std::vector<int32_t> x = {3, -1, 9, 4, 9, 0, 2, -8}, r(1);
  std::string withIf = "%g = arith.cmpi sgt, %p, %q : i32\n%v = scf.if %g -> (i32) {\nscf.yield %p : i32\n} else "
                       "{\nscf.yield %q : i32\n}";
  std::string withCall = "%v = tt.call @larger(%p, %q) : (i32, i32) -> i32";
  std::string simple =
      "  tt.func private @larger(%a: i32, %b: i32) -> i32 {\n%m = arith.maxsi %a, %b : i32\ntt.return %m : i32\n}\n";
  std::string branching = "  tt.func private @larger(%a: i32, %b: i32) -> i32 {\n%g = arith.cmpi sgt, %a, %b : "
                          "i32\ncf.cond_br %g, ^bb1(%a : i32), ^bb1(%b : i32)\n^bb1(%m: i32):\ntt.return %m : i32\n}\n";
  for (auto &[region, function] : {std::pair{withIf, std::string()}, {withCall, simple}, {withCall, branching}}) {
    r[0] = 0;
    Evaluation(tensorKernel({{"x", {8}, "i32"}}, reduceText("tt.reduce", 0, {8}, "i32", region, ""), {{"r", {}, "i32"}},
                            function))
        .buffer(x)
        .buffer(r)
        .ok();
    EXPECT_EQ(r[0], 9);
  }
}

TEST(Scans, AlongEveryAxisBothWays) {
  std::mt19937 random(1);
  for (Dims shape : {Dims{64}, Dims{8, 4}, Dims{2, 4, 8}, Dims{1, 4}})
    for (size_t axis = 0; axis < shape.size(); ++axis)
      for (bool reverse : {false, true}) {
        std::vector<int32_t> x(product(shape)), r(x.size());
        for (auto &v : x) v = int32_t(random() % 1000);
        // v = p * 3 + q depends on the order.
        std::string lines = "%c = arith.constant 3 : i32\n%t = arith.muli %p, %c : i32\n%v = arith.addi %t, %q : i32";
        Evaluation(tensorKernel({{"x", shape, "i32"}},
                                reduceText("tt.scan", axis, shape, "i32", lines, reverse ? "true" : "false"),
                                {{"r", shape, "i32"}}))
            .buffer(x)
            .buffer(r)
            .ok();
        for (size_t i = 0; i < x.size(); ++i) {
          Dims y = at(i, shape);
          uint32_t want = 0;
          bool first = true;
          for (int64_t n = reverse ? shape[axis] - 1 : 0; reverse ? n >= y[axis] : n <= y[axis];
               n += reverse ? -1 : 1) {
            Dims z = y;
            z[axis] = n;
            uint32_t v = uint32_t(x[flat(z, shape)]);
            want = first ? v : want * 3 + v;
            first = false;
          }
          ASSERT_EQ(uint32_t(r[i]), want) << axis << reverse;
        }
      }
}

TEST(MapElementwise, PacksAndBranches) {
  std::vector<int32_t> a = {1, 2, 3, 4, -5, 6, 7, 8}, b = {1, 1, 1, 1, 1, 1, 1, 1}, r(8), s(8);
  std::string text = R"(
    %r, %s = "tt.map_elementwise"(%a, %b) <{pack = 2 : i32}> ({
    ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
      %zero = arith.constant 0 : i32
      %negative = arith.cmpi slt, %a0, %zero : i32
      cf.cond_br %negative, ^bb1, ^bb2(%a1, %a0 : i32, i32)
    ^bb1:
      cf.br ^bb2(%zero, %zero : i32, i32)
    ^bb2(%x: i32, %y: i32):
      %u = arith.addi %x, %b0 : i32
      %v = arith.subi %y, %b1 : i32
      tt.map_elementwise.return %x, %y, %u, %v : i32, i32, i32, i32
    }) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>))";
  Evaluation(tensorKernel({{"a", {8}, "i32"}, {"b", {8}, "i32"}}, text, {{"r", {8}, "i32"}, {"s", {8}, "i32"}}))
      .buffer(a)
      .buffer(b)
      .buffer(r)
      .buffer(s)
      .ok();
  EXPECT_EQ(r, (std::vector<int32_t>{2, 1, 4, 3, 0, 0, 8, 7}));
  EXPECT_EQ(s, (std::vector<int32_t>{3, 0, 5, 2, 1, -1, 9, 6}));
}

// ---- dots -----------------------------------------------------------------------------------------------------------

TEST(Dots, OfFloats) {
  struct Case {
    int64_t batch, m, n, k;
    const char *type;
    ir::FloatKind kind;
    const char *precision;
    bool tf32;
  };
  using ir::FloatKind;
  std::mt19937 random(1);
  for (auto &c : {Case{0, 16, 16, 16, "f16", FloatKind::F16, "ieee", false},
                  Case{0, 4, 8, 32, "bf16", FloatKind::BF16, "ieee", false},
                  Case{2, 16, 8, 16, "f32", FloatKind::F32, "tf32", true},
                  Case{0, 8, 16, 4, "f32", FloatKind::F32, "ieee", false},
                  Case{4, 2, 2, 2, "f8E4M3FN", FloatKind::F8E4M3FN, "ieee", false}}) {
    unsigned bytes = llvm::APFloat::semanticsSizeInBits(ir::FloatType::semantics(c.kind)) / 8;
    int64_t batches = std::max<int64_t>(1, c.batch);
    Dims as = {c.m, c.k}, bs = {c.k, c.n}, cs = {c.m, c.n};
    if (c.batch) as.insert(as.begin(), c.batch), bs.insert(bs.begin(), c.batch), cs.insert(cs.begin(), c.batch);
    std::vector<double> a(product(as)), b(product(bs));
    std::vector<uint8_t> aBytes(a.size() * bytes), bBytes(b.size() * bytes);
    auto fill = [&](std::vector<double> &v, std::vector<uint8_t> &out) {
      for (size_t i = 0; i < v.size(); ++i) {
        uint64_t bits = runtime::encodeFloat(c.kind, double(int32_t(random())) * 0x1p-30);
        std::memcpy(&out[i * bytes], &bits, bytes);
        v[i] = runtime::decodeFloat(c.kind, bits);
        if (c.tf32) v[i] = runtime::roundToTf32(float(v[i]), false);
      }
    };
    fill(a, aBytes);
    fill(b, bBytes);
    std::vector<float> acc(product(cs)), r(acc.size());
    for (auto &v : acc) v = float(random() % 100);
    std::string text = "%r = tt.dot %a, %b, %c, inputPrecision = " + std::string(c.precision) + " : " +
                       tensor(as, c.type) + " * " + tensor(bs, c.type) + " -> " + tensor(cs, "f32");
    Evaluation(tensorKernel({{"a", as, c.type}, {"b", bs, c.type}, {"c", cs, "f32"}}, text, {{"r", cs, "f32"}}))
        .buffer(aBytes)
        .buffer(bBytes)
        .buffer(acc)
        .buffer(r)
        .ok();
    for (int64_t z = 0; z < batches; ++z)
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j) {
          long double want = acc[(z * c.m + i) * c.n + j];
          for (int64_t k = 0; k < c.k; ++k)
            want += (long double)(a[(z * c.m + i) * c.k + k]) * b[(z * c.k + k) * c.n + j];
          ASSERT_FLOAT_EQ(r[(z * c.m + i) * c.n + j], float(want)) << c.type;
        }
  }
}

TEST(Dots, OfIntegersWrap) {
  std::vector<int8_t> a(16 * 32, -128), b(32 * 16, -128);
  std::vector<int32_t> c(256, INT32_MAX), r(256);
  Evaluation(tensorKernel({{"a", {16, 32}, "i8"}, {"b", {32, 16}, "i8"}, {"c", {16, 16}, "i32"}},
                          "%r = tt.dot %a, %b, %c : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>",
                          {{"r", {16, 16}, "i32"}}))
      .buffer(a)
      .buffer(b)
      .buffer(c)
      .buffer(r)
      .ok();
  for (auto v : r) EXPECT_EQ(v, int32_t(uint32_t(INT32_MAX) + 32 * 128 * 128));
}

TEST(Dots, ScaledFp4) {
  // a: e2m1, two values to a byte along k, scale 2^(129 - 127) = 4 in the second group of 32; b: bf16 ones without
  // scale.
  int64_t m = 2, n = 2, k = 64;
  std::vector<uint8_t> a(m * k / 2, 0x42), scale = {127, 129, 127, 127}; // 1.0 and 2.0
  std::vector<uint16_t> b(k * n, 0x3F80);
  std::vector<float> c(m * n, 1), r(m * n);
  std::string text = "%r = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : "
                     "tensor<2x32xi8>, tensor<2x2xi8> * tensor<64x2xbf16> -> tensor<2x2xf32>";
  Evaluation(tensorKernel({{"a", {m, k / 2}, "i8"}, {"s", {m, 2}, "i8"}, {"b", {k, n}, "bf16"}, {"c", {m, n}, "f32"}},
                          text, {{"r", {m, n}, "f32"}}))
      .buffer(a)
      .buffer(scale)
      .buffer(b)
      .buffer(c)
      .buffer(r)
      .ok();
  EXPECT_EQ(r, (std::vector<float>{1 + 48 + 4 * 48, 1 + 48 + 4 * 48, 1 + 96, 1 + 96}));
}

} // namespace
} // namespace tessera
