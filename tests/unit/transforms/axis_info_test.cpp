// AxisInfo against values: random programs of index arithmetic are evaluated by the interpreter, and every claim of
// the analysis about every value must hold on what it was. Programs mix widths (narrow ones wrap around often),
// signs, shapes of one and two dimensions, masks, divisions of both signs, pointers, loops and branches.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/interpreter/interpreter.h"
#include "transforms/analyses/axis_info.h"
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {

using transforms::AxisInfo;
using transforms::AxisInfoAnalysis;

struct Shape {
  int64_t rows, cols; // rows 0: one dimension
  bool operator==(const Shape &) const = default;
  int64_t size() const { return std::max<int64_t>(1, rows) * cols; }
  std::string dims() const { return rows ? std::to_string(rows) + "x" + std::to_string(cols) : std::to_string(cols); }
};

/// A value of the program under construction: an upper bound of its magnitude, and whether nothing has wrapped on the
/// way to it.
struct Node {
  std::string name;
  int width;
  Shape shape;
  bool scalar = false;
  double bound;
  bool exact = true;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program(int steps) {
    for (int a = 0; a < 3; ++a) nodes_.push_back({"%arg" + std::to_string(a), 32, {0, 1}, true, 4096});
    for (int s = 0; s < steps; ++s) step();
    std::string args =
        "%arg0: i32, %arg1: i32 {tt.divisibility = 16 : i32}, %arg2: i32 {tt.divisibility = 4 : i32}, %pos: i32 "
        "{tt.divisibility = 8 : i32}, %flag: i1, %base: !tt.ptr<i32> {tt.divisibility = 16 : i32}";
    return "module {\n  tt.func public @k(" + args + ", %out: !tt.ptr<i64>) {\n" + body_ + "    tt.return\n  }\n}\n";
  }
  int stores() const { return stores_; }
  std::vector<bool> exact; // by store: nothing wrapped

private:
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  static std::string typeOf(const Node &n) {
    return n.scalar ? "i" + std::to_string(n.width) : "tensor<" + n.shape.dims() + "xi" + std::to_string(n.width) + ">";
  }
  void line(const std::string &s) { body_ += "    " + s + "\n"; }
  static double limit(int width) { return std::ldexp(1.0, width - 1) - 1; }

  /// Adds the value and a store of it: extended to 64 bits, in row-major order, at its own place of the output.
  void add(Node n) {
    if (n.width > 1 && n.bound > limit(n.width)) n.bound = limit(n.width) + 1, n.exact = false;
    nodes_.push_back(n);
    std::string wide = n.name;
    Node w = n;
    w.width = 64;
    if (n.width < 64) {
      wide = fresh();
      line(wide + " = arith.extsi " + n.name + " : " + typeOf(n) + " to " + typeOf(w));
    }
    observe(w, wide, n.exact);
  }
  void observe(const Node &w, const std::string &wide, bool isExact) {
    std::string at = fresh(), p = fresh();
    line(at + " = arith.constant " + std::to_string(stores_++ * kRoom) + " : i32");
    line(p + " = tt.addptr %out, " + at + " : !tt.ptr<i64>, i32");
    exact.push_back(isExact);
    if (w.scalar) {
      line("tt.store " + p + ", " + wide + " : !tt.ptr<i64>");
      return;
    }
    std::string range = fresh(), shaped = range, splat = fresh(), q = fresh(), n = std::to_string(w.shape.size());
    line(range + " = tt.make_range {end = " + n + " : i32, start = 0 : i32} : tensor<" + n + "xi32>");
    if (w.shape.rows) {
      shaped = fresh();
      line(shaped + " = tt.reshape " + range + " : tensor<" + n + "xi32> -> tensor<" + w.shape.dims() + "xi32>");
    }
    std::string pt = "tensor<" + w.shape.dims() + "x!tt.ptr<i64>>";
    line(splat + " = tt.splat " + p + " : !tt.ptr<i64> -> " + pt);
    line(q + " = tt.addptr " + splat + ", " + shaped + " : " + pt + ", tensor<" + w.shape.dims() + "xi32>");
    line("tt.store " + q + ", " + wide + " : " + pt);
  }

  const Node *choose(auto accept) {
    std::vector<const Node *> fit;
    for (auto &n : nodes_)
      if (accept(n)) fit.push_back(&n);
    return fit.empty() ? nullptr : fit[pick(fit.size())];
  }
  Shape shape() {
    static const Shape all[] = {{0, 16}, {0, 32}, {0, 4}, {4, 8}, {8, 4}, {2, 16}, {16, 1}, {1, 16}};
    return all[pick(8)];
  }
  int64_t number() {
    static const int64_t some[] = {0,  1,  2,  3,  4,   6,  7,  8,  12, 15,  16,  24, 31,
                                   32, 48, 63, 64, 127, -1, -2, -4, -8, -16, -64, -3, 100};
    return some[pick(26)];
  }
  int widthOf() {
    static const int all[] = {8, 16, 32, 32, 64};
    return all[pick(5)];
  }

  Node constant(int width, Shape shape, bool scalar, int64_t v) {
    Node n{fresh(), width, shape, scalar, std::abs(double(v))};
    // A constant that does not fit is given wrapped.
    v = int64_t(uint64_t(v) << (64 - width)) >> (64 - width);
    line(n.name + " = arith.constant " +
         (scalar ? std::to_string(v) + " : i" + std::to_string(width)
                 : "dense<" + std::to_string(v) + "> : " + typeOf(n)));
    return n;
  }

  void step() {
    switch (pick(30)) {
    case 0:
    case 1: {
      Node v = range();
      return add(v);
    }
    case 2:
    case 3: return add(constant(widthOf(), shape(), pick(4) == 0, number()));
    case 4:
    case 5:
    case 6:
    case 7: return index();
    case 8:
    case 9:
      if (auto *a = choose([](auto &n) { return n.scalar && n.width > 1; })) {
        Node v{fresh(), a->width, shape(), false, a->bound, a->exact};
        line(v.name + " = tt.splat " + a->name + " : " + typeOf(*a) + " -> " + typeOf(v));
        return add(v);
      }
      return;
    case 10:
    case 11:
    case 12: return cast();
    case 13:
    case 14: return reshape();
    case 15: return expand();
    case 16:
    case 17: return compareOrSelect();
    case 18: return loop();
    case 19: return pointer();
    case 20: return joinSplit();
    default: return arithmetic();
    }
  }

  Node range() {
    static const int starts[] = {0, 0, 1, 4, 8, 16, 20, 96};
    int n = 4 << pick(7), s = starts[pick(8)];
    Node v{fresh(), 32, {0, n}, false, double(s + n)};
    line(v.name + " = tt.make_range {end = " + std::to_string(s + n) + " : i32, start = " + std::to_string(s) +
         " : i32} : " + typeOf(v));
    return v;
  }
  /// What kernels do: a range from some start of either sign, in some width, then one operation with a power of two.
  void index() {
    Node r = range(), start = r, sum = r;
    if (pick(2))
      start = constant(32, r.shape, false, (pick(9) - 4) * 16);
    else {
      start.name = fresh(), start.bound = 4096;
      line(start.name + " = tt.splat %arg" + std::to_string(pick(3)) + " : i32 -> " + typeOf(start));
    }
    sum.name = fresh(), sum.bound = r.bound + start.bound;
    line(sum.name + " = arith.addi " + r.name + ", " + start.name + " : " + typeOf(sum));
    add(sum);
    if (pick(3) == 0) {
      Node narrow = sum;
      narrow.name = fresh(), narrow.width = pick(2) ? 8 : 16;
      line(narrow.name + " = arith.trunci " + sum.name + " : " + typeOf(sum) + " to " + typeOf(narrow));
      add(narrow);
      sum = nodes_.back();
    }
    static const char *names[] = {"divsi", "divui", "remsi", "remui", "andi", "shrsi", "shrui"};
    std::string op = names[pick(7)];
    Node by = constant(sum.width, sum.shape, false,
                       op[0] == 's'   ? 1 + pick(5)
                       : op[0] == 'a' ? (pick(2) ? (1 << pick(6)) - 1 : -(1 << pick(6)))
                                      : 1 << pick(6));
    Node v{fresh(), sum.width, sum.shape, false, op[0] == 'a' || op.ends_with("ui") ? INFINITY : sum.bound, sum.exact};
    line(v.name + " = arith." + op + " " + sum.name + ", " + by.name + " : " + typeOf(v));
    add(v);
  }

  void arithmetic() {
    auto *a = choose([](auto &n) { return n.width > 1; });
    if (!a) return;
    Node x = *a;
    static const char *names[] = {"addi", "addi", "subi", "muli",  "divsi", "divui", "remsi", "remui", "andi",
                                  "ori",  "xori", "shli", "shrsi", "shrui", "maxsi", "minsi", "maxui", "minui"};
    std::string op = names[pick(18)];
    Node y;
    bool division = op.starts_with("div") || op.starts_with("rem"), shift = op.starts_with("sh");
    if (shift)
      y = constant(x.width, x.shape, x.scalar, pick(6));
    else if (division) {
      // Constants of either sign, or an argument that is positive.
      if (pick(4) || x.width != 32) {
        int64_t v;
        do v = number();
        while (v == 0 || v < -127);
        y = constant(x.width, x.shape, x.scalar, v);
      } else {
        y = {"%pos", 32, x.shape, true, 64};
        if (!x.scalar) {
          y = {fresh(), 32, x.shape, false, 64};
          line(y.name + " = tt.splat %pos : i32 -> " + typeOf(y));
        }
      }
    } else if (pick(2)) {
      auto *b = choose(
          [&](auto &n) { return n.width == x.width && n.scalar == x.scalar && (n.scalar || n.shape == x.shape); });
      y = *b;
    } else
      y = constant(x.width, x.shape, x.scalar, number());
    Node v{fresh(), x.width, x.shape, x.scalar, INFINITY, x.exact && y.exact};
    if (op == "addi" || op == "subi" || op == "ori" || op == "xori")
      v.bound = x.bound + y.bound + (op[0] == 'o' || op[0] == 'x' ? x.bound + y.bound + 1 : 0);
    else if (op == "muli")
      v.bound = x.bound * y.bound;
    else if (op == "shli")
      v.bound = x.bound * 32;
    else if (op == "divsi" || op == "remsi" || op == "shrsi")
      v.bound = x.bound + 1;
    else if (op == "maxsi" || op == "minsi" || op == "andi")
      v.bound = std::max(x.bound, y.bound) * 2 + 1;
    // What overflows 32 and 64 bits is outside of what the analysis promises; narrower types may.
    if (x.width >= 32 && (op == "addi" || op == "muli" || op == "shli" || op == "subi") && v.bound > limit(x.width))
      return;
    line(v.name + " = arith." + op + " " + x.name + ", " + y.name + " : " + typeOf(v));
    add(v);
  }
  void cast() {
    auto *a = choose([](auto &) { return true; });
    Node x = *a, v = x;
    v.name = fresh();
    v.width = x.width == 1 ? 32 : widthOf();
    if (v.width == x.width) return;
    bool zero = pick(2);
    if (v.width > x.width && zero) v.bound = std::ldexp(1.0, x.width), v.exact = false;
    line(v.name + " = arith." +
         (v.width < x.width ? "trunci"
          : zero            ? "extui"
                            : "extsi") +
         " " + x.name + " : " + typeOf(x) + " to " + typeOf(v));
    add(v);
  }
  void reshape() {
    auto *a = choose([](auto &n) { return !n.scalar && n.width > 1; });
    if (!a) return;
    Node x = *a, v = x;
    v.name = fresh();
    int64_t n = x.shape.size();
    if (x.shape.rows && pick(3) == 0) {
      v.shape = {x.shape.cols, x.shape.rows};
      line(v.name + " = tt.trans " + x.name + " {order = array<i32: 1, 0>} : " + typeOf(x) + " -> " + typeOf(v));
      return add(v);
    }
    switch (pick(4)) {
    case 0: v.shape = {0, n}; break;
    case 1: v.shape = {2, n / 2}; break;
    case 2: v.shape = {n / 2, 2}; break;
    default: v.shape = {4, n / 4};
    }
    if (v.shape.cols < 1 || v.shape == x.shape) return;
    line(v.name + " = tt.reshape " + x.name + " : " + typeOf(x) + " -> " + typeOf(v));
    add(v);
  }
  void expand() {
    auto *a = choose([](auto &n) { return !n.scalar && n.width > 1 && !n.shape.rows; });
    if (!a) return;
    Node x = *a, e = x, v = x;
    int axis = pick(2);
    e.name = fresh(), v.name = fresh();
    e.shape = axis ? Shape{x.shape.cols, 1} : Shape{1, x.shape.cols};
    v.shape = axis ? Shape{x.shape.cols, 4} : Shape{4, x.shape.cols};
    if (v.shape.size() > kRoom) return;
    line(e.name + " = tt.expand_dims " + x.name + " {axis = " + std::to_string(axis) + " : i32} : " + typeOf(x) +
         " -> " + typeOf(e));
    add(e);
    line(v.name + " = tt.broadcast " + e.name + " : " + typeOf(e) + " -> " + typeOf(v));
    add(v);
  }
  void compareOrSelect() {
    auto *a = choose([](auto &n) { return n.width > 1; });
    if (!a) return;
    Node x = *a;
    auto *b =
        choose([&](auto &n) { return n.width == x.width && n.scalar == x.scalar && (n.scalar || n.shape == x.shape); });
    Node y = *b;
    if (pick(3) == 0) y = constant(x.width, x.shape, x.scalar, number());
    static const char *predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    Node c{fresh(), 1, x.shape, x.scalar, 1};
    line(c.name + " = arith.cmpi " + predicates[pick(10)] + ", " + x.name + ", " + y.name + " : " + typeOf(x));
    add(c);
    Node v{fresh(), x.width, x.shape, x.scalar, std::max(x.bound, y.bound), x.exact && y.exact};
    if (pick(4) == 0 && !x.scalar)
      line(v.name + " = arith.select %flag, " + x.name + ", " + y.name + " : " + typeOf(v));
    else
      line(v.name + " = arith.select " + c.name + ", " + x.name + ", " + y.name + " : " +
           (x.scalar ? "" : typeOf(c) + ", ") + typeOf(v));
    add(v);
  }
  void loop() {
    auto *a = choose([](auto &n) { return n.width > 1; });
    if (!a) return;
    Node x = *a, v = x;
    auto *b =
        choose([&](auto &n) { return n.width == x.width && n.scalar == x.scalar && (n.scalar || n.shape == x.shape); });
    Node y = *b;
    v.name = fresh(), v.exact = x.exact && y.exact;
    std::string t = typeOf(x);
    if (pick(2)) {
      line(v.name + " = scf.if %flag -> (" + t + ") {\n      scf.yield " + x.name + " : " + t +
           "\n    } else {\n      scf.yield " + y.name + " : " + t + "\n    }");
      v.bound = std::max(x.bound, y.bound);
      return add(v);
    }
    v.bound = x.bound + 3 * y.bound;
    if (x.width >= 32 && v.bound > limit(x.width)) return;
    std::string lo = constant(32, {0, 1}, true, 0).name, hi = constant(32, {0, 1}, true, 3).name,
                one = constant(32, {0, 1}, true, 1).name, s = fresh(), arg = fresh();
    line(v.name + " = scf.for %i" + v.name.substr(1) + " = " + lo + " to " + hi + " step " + one + " iter_args(" + arg +
         " = " + x.name + ") -> (" + t + ") : i32 {\n      " + s + " = arith.addi " + arg + ", " + y.name + " : " + t +
         "\n      scf.yield " + s + " : " + t + "\n    }");
    add(v);
  }
  void pointer() {
    auto *a = choose([](auto &n) { return !n.scalar && n.width >= 32; });
    if (!a || a->bound > 1e6) return;
    Node x = *a, v = x;
    std::string s = fresh(), p = fresh(), pt = "tensor<" + x.shape.dims() + "x!tt.ptr<i32>>";
    line(s + " = tt.splat %base : !tt.ptr<i32> -> " + pt);
    line(p + " = tt.addptr " + s + ", " + x.name + " : " + pt + ", " + typeOf(x));
    v.name = fresh(), v.width = 64, v.bound = INFINITY;
    line(v.name + " = tt.ptr_to_int " + p + " : " + pt + " -> " + typeOf(v));
    observe(v, v.name, false);
  }
  void joinSplit() {
    auto *a = choose([](auto &n) { return !n.scalar && n.width > 1; });
    if (!a) return;
    Node x = *a;
    if (x.shape.rows && x.shape.cols == 2) {
      Node l = x, r = x;
      l.name = fresh(), l.shape = {0, x.shape.rows}, r = l, r.name = fresh();
      line(l.name + ", " + r.name + " = tt.split " + x.name + " : " + typeOf(x) + " -> " + typeOf(l));
      add(l);
      return add(r);
    }
    if (x.shape.rows) return;
    Node y = *choose([&](auto &n) { return n.width == x.width && !n.scalar && n.shape == x.shape; }), v = x;
    v.name = fresh(), v.shape = {x.shape.cols, 2}, v.bound = std::max(x.bound, y.bound), v.exact = x.exact && y.exact;
    if (v.shape.size() > kRoom) return;
    line(v.name + " = tt.join " + x.name + ", " + y.name + " : " + typeOf(x) + " -> " + typeOf(v));
    add(v);
  }

public:
  static constexpr int64_t kRoom = 256;

private:
  std::mt19937 random_;
  std::vector<Node> nodes_;
  std::string body_;
  int next_ = 0, stores_ = 0;
};

/// Every claim about the value, on its elements in row-major order.
void check(const AxisInfo &info, llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> shape, int64_t unit,
           bool exact, const std::string &what, int64_t &nontrivial) {
  int64_t stride = values.size();
  for (unsigned d = 0; d < shape.size(); ++d) {
    stride /= shape[d];
    int64_t claimed = info.contiguity[d], divisor = info.divisibility[d];
    int64_t group = std::min(claimed, std::max<int64_t>(1, divisor / unit));
    nontrivial += (group > 1) + (divisor > 1) + (info.constancy[d] > 1);
    for (size_t e = 0; e < values.size(); ++e) {
      int64_t i = (e / stride) % shape[d];
      auto at = [&](int64_t j) { return values[e - (i - j) * stride]; };
      int64_t first = i & ~(group - 1);
      ASSERT_EQ(at(i), at(first) + (i - first) * unit) << what << ": contiguity along " << d << " at element " << e;
      if (i == first)
        ASSERT_EQ(values[e] & (divisor - 1), 0)
            << what << ": divisibility along " << d << " at element " << e << " = " << values[e];
      ASSERT_EQ(at(i), at(i & ~(info.constancy[d] - 1))) << what << ": constancy along " << d << " at element " << e;
      if (exact)
        ASSERT_EQ(at(i), at(i & ~(claimed - 1)) + (i & (claimed - 1)) * unit)
            << what << ": contiguity (nothing overflowed) along " << d << " at element " << e;
      if (info.constant) ASSERT_EQ(values[e], *info.constant) << what << ": constant";
    }
  }
}

std::string describeInfo(const AxisInfo &i) {
  std::string s;
  for (unsigned d = 0; d < i.rank(); ++d)
    s += " [C " + std::to_string(i.contiguity[d]) + " D " + std::to_string(i.divisibility[d]) + " K " +
         std::to_string(i.constancy[d]) + "]";
  return s;
}

void runSeed(unsigned seed, int64_t &claims) {
  Generator g(seed);
  std::string text = g.program(14);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(text, "program.ttir", context, diag);
  ASSERT_TRUE(m) << messages;
  AxisInfoAnalysis axis(*m);
  auto kernel = runtime::selectKernel(*m, "");
  ASSERT_TRUE(kernel.ok()) << kernel.status();

  std::mt19937 random(seed * 7 + 1);
  auto between = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  for (int run = 0; run < 3; ++run) {
    std::vector<int64_t> out(g.stores() * Generator::kRoom, 0x5a5a5a5a);
    alignas(16) static int32_t base[16];
    std::vector<runtime::InterpreterBuffer> buffers = {{"out", reinterpret_cast<uint8_t *>(out.data()), out.size() * 8},
                                                       {"base", reinterpret_cast<uint8_t *>(base), sizeof base}};
    std::vector<runtime::InterpreterArg> args;
    for (int v :
         {between(-4000, 4000), between(-250, 250) * 16, between(-1000, 1000) * 4, between(1, 8) * 8, between(0, 1)})
      args.push_back({-1, uint64_t(uint32_t(v))});
    args.push_back({1, 0});
    args.push_back({0, 0});
    auto s = runtime::interpret(*m, *kernel, {1, 1, 1}, buffers, args, {}, diag);
    ASSERT_TRUE(s.ok()) << s << messages;

    size_t n = 0;
    (*kernel)->walk([&](ir::Operation *op) {
      auto store = op->dyn<ir::tt::StoreOp>();
      if (!store) return;
      ir::Value v = store.value();
      llvm::SmallVector<int64_t, 2> shape = {1};
      if (auto t = v.type().dyn_cast<ir::TensorType>()) shape.assign(t.shape().begin(), t.shape().end());
      int64_t size = 1;
      for (auto d : shape) size *= d;
      llvm::SmallVector<int64_t, 64> values(out.begin() + n * Generator::kRoom,
                                            out.begin() + n * Generator::kRoom + size);
      bool exact = g.exact[n++];
      AxisInfo info = axis.get(v);
      check(info, values, shape, 1, exact, "stored" + describeInfo(info), claims);
      // The value before it was widened, and the pointer behind an address.
      if (auto widened = v.definedBy<ir::arith::ExtsiOp>()) {
        AxisInfo narrow = axis.get(widened.in());
        if (narrow.constant && widened.in().type().scalar().isInteger(1)) narrow.constant = *narrow.constant ? -1 : 0;
        check(narrow, values, shape, 1, exact, "value" + describeInfo(narrow), claims);
        if (axis.nonNegative(widened.in()))
          for (auto x : values) ASSERT_GE(x, 0) << "not negative";
      } else if (auto address = v.definedBy<ir::tt::PtrToIntOp>()) {
        AxisInfo pointer = axis.get(address.src());
        check(pointer, values, shape, 4, exact, "pointer" + describeInfo(pointer), claims);
      }
    });
  }
}

TEST(AxisInfoOnValues, EveryClaimHolds) {
  int64_t claims = 0;
  const char *more = getenv("TESSERA_SEEDS"); // for long runs
  unsigned seeds = more ? atoi(more) : 1500;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    runSeed(seed, claims);
    if (testing::Test::HasFatalFailure()) return;
  }
  // The programs are not such that nothing is ever claimed.
  EXPECT_GT(claims, 10000);
}

} // namespace
} // namespace tessera
