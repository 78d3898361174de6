// Random kernels, the interpreter's results against the emulator's, bit by bit: chains of integer arithmetic (and float
// arithmetic on small integers, which is exact), reductions, scans, transposes, reshapes, broadcasts, selections, masked
// loads and loops on two-dimensional tensors. A seed gives the same kernel, target and number of warps in every run:
// TESSERA_RANDOM_SEED=N runs that one alone and prints the kernel, TESSERA_RANDOM_COUNT=N so many from 1 on.
#include "emulation.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/compiler.h"
#include "runtime/interpreter/interpreter.h"
#include "runtime/targets.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <random>

namespace tessera {
namespace {

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}
  unsigned upTo(unsigned n) { return unsigned(random_() % n); } // excluded; the same on every platform

  std::string kernel() {
    unsigned rows = 1u << (1 + upTo(5)), columns = 1u << (1 + upTo(6));
    total_ = rows * columns;
    values_.push_back(load(rows, columns, "", ""));
    for (unsigned steps = 3 + upTo(8), k = 0; k < steps; ++k) step();
    std::string stores;
    Value v = values_.back();
    std::string i = index(v);
    std::string p = pointer("%y", i, v);
    text_ += llvm::formatv("    tt.store {0}, {1} : {2}\n", p, v.name, tensor(v, "!tt.ptr<i32>"));
    return "module {\n  tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {\n" + text_ + "    tt.return\n  }\n}\n";
  }
  unsigned total() const { return total_; }

private:
  struct Value {
    std::string name;
    unsigned rows, columns;
  };
  std::string fresh() { return "%v" + std::to_string(next_++); }
  static std::string tensor(const Value &v, const std::string &element = "i32") { return llvm::formatv("tensor<{0}x{1}x{2}>", v.rows, v.columns, element); }
  template <class... A> std::string emit(const char *format, A... args) {
    std::string n = fresh();
    text_ += "    " + n + " = " + llvm::formatv(format, args...).str() + "\n";
    return n;
  }
  std::string constant(const Value &v, int64_t c) { return emit("arith.constant dense<{0}> : {1}", c, tensor(v)); }
  std::string range(const Value &v, bool alongRows) {
    unsigned n = alongRows ? v.rows : v.columns;
    std::string r = emit("tt.make_range {{end = {0} : i32, start = 0 : i32} : tensor<{0}xi32>", n);
    std::string e = emit("tt.expand_dims {0} {{axis = {1} : i32} : tensor<{2}xi32> -> {3}", r, alongRows ? 1 : 0, n, alongRows ? llvm::formatv("tensor<{0}x1xi32>", n).str() : llvm::formatv("tensor<1x{0}xi32>", n).str());
    return emit("tt.broadcast {0} : {1} -> {2}", e, alongRows ? llvm::formatv("tensor<{0}x1xi32>", n).str() : llvm::formatv("tensor<1x{0}xi32>", n).str(), tensor(v));
  }
  std::string index(const Value &v) {
    std::string r = range(v, true), c = range(v, false), n = constant(v, v.columns);
    std::string s = emit("arith.muli {0}, {1} : {2}", r, n, tensor(v));
    return emit("arith.addi {0}, {1} : {2}", s, c, tensor(v));
  }
  std::string pointer(const char *base, const std::string &i, const Value &v) {
    std::string s = emit("tt.splat {0} : !tt.ptr<i32> -> {1}", base, tensor(v, "!tt.ptr<i32>"));
    return emit("tt.addptr {0}, {1} : {2}, {3}", s, i, tensor(v, "!tt.ptr<i32>"), tensor(v));
  }
  Value load(unsigned rows, unsigned columns, const std::string &mask, const std::string &other) {
    Value v{"", rows, columns};
    std::string p = pointer("%x", index(v), v);
    v.name = mask.empty() ? emit("tt.load {0} : {1}", p, tensor(v, "!tt.ptr<i32>")) : emit("tt.load {0}, {1}, {2} : {3}", p, mask, other, tensor(v, "!tt.ptr<i32>"));
    return v;
  }
  const char *binary() {
    static constexpr const char *kOps[] = {"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maxsi", "arith.minui"};
    return kOps[upTo(8)];
  }
  const char *combining() {
    static constexpr const char *kOps[] = {"arith.addi", "arith.xori", "arith.maxsi", "arith.minsi", "arith.ori"};
    return kOps[upTo(5)];
  }
  /// Another value of the same shape, or one made of the index.
  std::string partner(const Value &v) {
    for (unsigned tries = 0; tries < 3; ++tries) {
      Value &o = values_[upTo(unsigned(values_.size()))];
      if (o.rows == v.rows && o.columns == v.columns) return o.name;
    }
    return index(v);
  }

  void step() {
    Value v = values_.back();
    std::string t = tensor(v);
    switch (upTo(9)) {
    case 0:
    case 1: v.name = emit("{0} {1}, {2} : {3}", binary(), v.name, partner(v), t); break;
    case 2: { // reduce and broadcast back
      unsigned axis = upTo(2), kept = axis ? v.rows : v.columns;
      std::string r = fresh();
      text_ += llvm::formatv("    {0} = \"tt.reduce\"({1}) <{{axis = {2} : i32}> ({{\n    ^bb0(%a: i32, %b: i32):\n      %s = {3} %a, %b : i32\n      tt.reduce.return %s : i32\n    }) : ({4}) -> tensor<{5}xi32>\n", r, v.name, axis, combining(), t, kept);
      std::string one = axis ? llvm::formatv("tensor<{0}x1xi32>", kept).str() : llvm::formatv("tensor<1x{0}xi32>", kept).str();
      std::string e = emit("tt.expand_dims {0} {{axis = {1} : i32} : tensor<{2}xi32> -> {3}", r, axis, kept, one);
      std::string b = emit("tt.broadcast {0} : {1} -> {2}", e, one, t);
      v.name = emit("{0} {1}, {2} : {3}", binary(), v.name, b, t);
      break;
    }
    case 3: { // scan
      std::string r = fresh();
      text_ += llvm::formatv("    {0} = \"tt.scan\"({1}) <{{axis = {2} : i32, reverse = {3}}> ({{\n    ^bb0(%a: i32, %b: i32):\n      %s = {4} %a, %b : i32\n      tt.scan.return %s : i32\n    }) : ({5}) -> {5}\n", r, v.name, upTo(2), upTo(2) ? "true" : "false", combining(), t);
      v.name = r;
      break;
    }
    case 4: {
      Value w{"", v.columns, v.rows};
      w.name = emit("tt.trans {0} {{order = array<i32: 1, 0>} : {1} -> {2}", v.name, t, tensor(w));
      v = w;
      break;
    }
    case 5: {
      Value w{"", v.rows * 2, v.columns / 2};
      if (upTo(2) || w.columns == 0) w = {"", v.rows / 2, v.columns * 2};
      if (!w.rows || !w.columns) return;
      w.name = emit("tt.reshape {0} : {1} -> {2}", v.name, t, tensor(w));
      v = w;
      break;
    }
    case 6: {
      std::string o = partner(v), c = emit("arith.cmpi slt, {0}, {1} : {2}", v.name, o, t);
      if (upTo(2)) v.name = emit("arith.select {0}, {1}, {2} : {3}, {4}", c, o, index(v), tensor(v, "i1"), t);
      else v.name = load(v.rows, v.columns, c, o).name;
      break;
    }
    case 7: { // exact float arithmetic
      std::string m = emit("arith.andi {0}, {1} : {2}", v.name, constant(v, 1023), t), ft = tensor(v, "f32");
      std::string f = emit("arith.sitofp {0} : {1} to {2}", m, t, ft), g = emit("arith.mulf {0}, {0} : {1}", f, ft), h = emit("arith.subf {0}, {1} : {2}", g, f, ft);
      v.name = emit("arith.fptosi {0} : {1} to {2}", h, ft, t);
      break;
    }
    default: { // a loop
      std::string lo = emit("arith.constant 0 : i32"), hi = emit("arith.constant {0} : i32", 1 + upTo(4)), one = emit("arith.constant 1 : i32"), o = partner(v), r = fresh();
      text_ += llvm::formatv("    {0} = scf.for %i{1} = {2} to {3} step {4} iter_args(%acc = {5}) -> ({6}) : i32 {{\n      %d{1} = tt.splat %i{1} : i32 -> {6}\n      %e{1} = arith.addi %acc, %d{1} : {6}\n      %f{1} = {7} %e{1}, {8} : {6}\n      scf.yield %f{1} : {6}\n    }\n",
                             r, r.substr(2), lo, hi, one, v.name, t, binary(), o);
      v.name = r;
      break;
    }
    }
    values_.push_back(v);
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<Value> values_;
  unsigned next_ = 0, total_ = 0;
};

std::vector<uint8_t> data(unsigned count, unsigned seed) {
  std::mt19937 random(seed ^ 0x5eed);
  std::vector<uint8_t> b(count * 4);
  for (unsigned k = 0; k < count; ++k) {
    uint32_t v = uint32_t(random());
    if (random() & 1) v &= 0xff; // small ones too
    memcpy(b.data() + 4 * k, &v, 4);
  }
  return b;
}

void compare(unsigned seed, bool show) {
  Generator g(seed);
  std::string text = g.kernel();
  auto targets = runtime::allTargets();
  std::string target = targets[g.upTo(unsigned(targets.size()))]->info.name.str();
  int warps = 1 << g.upTo(4);
  SCOPED_TRACE(llvm::formatv("seed {0}: {1}, {2} warps", seed, target, warps).str());
  if (show) std::cout << text;
  std::vector<uint8_t> x = data(g.total(), seed), expected(g.total() * 4);
  {
    ir::Context context;
    std::string messages;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
    auto m = frontend::parseModule(text, "random.ttir", context, diag);
    ASSERT_TRUE(m) << messages << text;
    auto kernel = runtime::selectKernel(*m, "k");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::vector<uint8_t> input = x;
    std::vector<runtime::InterpreterBuffer> memory{{"x", input.data(), input.size()}, {"y", expected.data(), expected.size()}};
    auto s = runtime::interpret(*m, *kernel, {1, 1, 1}, memory, {{0, 0}, {1, 0}}, {}, diag);
    ASSERT_TRUE(s.ok()) << s << messages << text;
  }
  testing::Emulation e;
  e.target = target;
  e.numWarps = warps;
  auto r = e.text(text, "k", {testing::bytesOf(x), testing::zeros(expected.size())});
  ASSERT_TRUE(r.ok()) << r.status() << "\n" << text;
  for (unsigned k = 0; k < g.total(); ++k) {
    int32_t want, got;
    memcpy(&want, expected.data() + 4 * k, 4);
    memcpy(&got, e.buffers[1].data() + 4 * k, 4);
    ASSERT_EQ(want, got) << "element " << k << " of\n" << text;
  }
}

TEST(Random, KernelsComputeTheSameOnInterpreterAndEmulator) {
  if (const char *one = getenv("TESSERA_RANDOM_SEED")) return compare(unsigned(atoi(one)), true);
  const char *many = getenv("TESSERA_RANDOM_COUNT");
  unsigned count = many ? unsigned(atoi(many)) : 60;
  for (unsigned seed = 1; seed <= count && !::testing::Test::HasFatalFailure(); ++seed) compare(seed, false);
}

} // namespace
} // namespace tessera
