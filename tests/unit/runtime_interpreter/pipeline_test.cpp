// Pipelined loops do the same work whatever the number of stages and of iterations: a matmul with masked
// loads along K is made TTGIR and pipelined for targets that copy asynchronously and through registers, and the
// interpreter compares it with a plain sum. Reads outside of the buffers are faults of the interpreter, so a load
// that runs ahead too far is found.
#include "evaluation.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "transforms/pipelines.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {

/// c[16, 16] += a[16, K] · b[K, 16] in steps of 16; with `cast` the operands are f16 in memory and f32 in the dot.
/// `masked` leaves the tail of K out; else K is a multiple of 16.
std::string matmul(bool masked, bool cast) {
  std::string type = cast ? "f16" : "f32", op = "tensor<16x16x" + type + ">",
              ptr = "tensor<16x16x!tt.ptr<" + type + ">>";
  auto load = [&](const std::string &name, const std::string &index) {
    std::string s;
    if (masked)
      s = "%left" + name + " = arith.subi %k, %at : i32\n%ls" + name + " = tt.splat %left" + name +
          " : i32 -> tensor<16x16xi32>\n%in" + name + " = arith.cmpi slt, " + index + ", %ls" + name +
          " : tensor<16x16xi32>\n%" + name + "0 = tt.load %p" + name + ", %in" + name + ", %zero : " + ptr + "\n";
    else
      s = "%" + name + "0 = tt.load %p" + name + " : " + ptr + "\n";
    return s + (cast ? "%" + name + "1 = arith.extf %" + name + "0 : " + op + " to tensor<16x16xf32>\n" : "");
  };
  std::string x = cast ? "1" : "0";
  return "module {\ntt.func public @mm(%a: !tt.ptr<" + type + "> {tt.divisibility = 16 : i32}, %b: !tt.ptr<" + type +
         "> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32" +
         (masked ? "" : " {tt.divisibility = 16 : i32}") + R"() {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %acc0 = arith.constant dense<0.0> : tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : )" +
         op + R"(
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %row = tt.broadcast %r1 : tensor<16x1xi32> -> tensor<16x16xi32>
  %col = tt.broadcast %r0 : tensor<1x16xi32> -> tensor<16x16xi32>
  %ks = tt.splat %k : i32 -> tensor<16x16xi32>
  %n = arith.constant dense<16> : tensor<16x16xi32>
  %ar = arith.muli %row, %ks : tensor<16x16xi32>
  %ai = arith.addi %ar, %col : tensor<16x16xi32>
  %br = arith.muli %row, %n : tensor<16x16xi32>
  %bi = arith.addi %br, %col : tensor<16x16xi32>
  %as = tt.splat %a : !tt.ptr<)" +
         type + "> -> " + ptr + "\n%pa0 = tt.addptr %as, %ai : " + ptr +
         ", tensor<16x16xi32>\n%bs = tt.splat %b : !tt.ptr<" + type + "> -> " + ptr +
         "\n%pb0 = tt.addptr %bs, %bi : " + ptr +
         ", tensor<16x16xi32>\n%stepB = arith.constant dense<256> : tensor<16x16xi32>\n" +
         "%out:3 = scf.for %at = %c0 to %k step %c16 iter_args(%pa = %pa0, %pb = %pb0, %acc = %acc0) -> (" + ptr +
         ", " + ptr + ", tensor<16x16xf32>) : i32 {\n" + load("a", "%col") + load("b", "%row") + "%d = tt.dot %a" + x +
         ", %b" + x +
         ", %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n%pa2 = tt.addptr %pa, %n : " + ptr +
         ", tensor<16x16xi32>\n%pb2 = tt.addptr %pb, %stepB : " + ptr +
         ", tensor<16x16xi32>\nscf.yield %pa2, %pb2, %d : " + ptr + ", " + ptr + R"(, tensor<16x16xf32>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %bi : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %pc, %out#2 : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
}
)";
}

/// `versions`: with a second version of the kernel for aligned rows.
std::string pipelined(const std::string &text, const char *target, int stages, bool versions) {
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(text, "kernel.ttir", context, diag);
  EXPECT_TRUE(m) << messages;
  if (!m) return "";
  transforms::RunOptions o;
  o.target = *runtime::requireTarget(target);
  o.verifyEach = true;
  if (!versions) o.skip = {"alignment-versions"};
  EXPECT_TRUE(transforms::runPipeline(*m, transforms::ttirPipeline(*o.target), o, diag).ok()) << messages;
  EXPECT_TRUE(transforms::runPipeline(*m, transforms::ttgirPipeline(*o.target, {.numStages = stages}), o, diag).ok())
      << messages;
  return printToString(*m);
}

struct Case {
  const char *target;
  bool masked, cast;
  const char *way; // what the pipelined text has more often
  int without;     // so often the text has it that is not pipelined
};
class Pipelined : public testing::TestWithParam<Case> {};

TEST_P(Pipelined, AnyStagesAnyIterations) {
  auto &c = GetParam();
  for (int i = 0; i < 10; ++i) {
    int stages = 1 + i / 2;
    bool versions = i % 2;
    std::string text = pipelined(matmul(c.masked, c.cast), c.target, stages, versions);
    if (!versions) EXPECT_EQ(int(llvm::StringRef(text).count(c.way)) > c.without, stages > 1) << stages << "\n" << text;
    for (int iterations = 0; iterations <= 6; ++iterations) {
      int k = 16 * iterations;
      if (c.masked && k) k -= 5;
      std::vector<float> a(16 * k), b(k * 16), out(256, -1), want(256, 0);
      for (size_t i = 0; i < a.size(); ++i) a[i] = float(int(i * 7 % 11) - 5);
      for (size_t i = 0; i < b.size(); ++i) b[i] = float(int(i * 5 % 13) - 6);
      for (int i = 0; i < 16; ++i)
        for (int l = 0; l < k; ++l)
          for (int j = 0; j < 16; ++j) want[i * 16 + j] += a[i * k + l] * b[l * 16 + j];
      test::Evaluation e(text);
      std::vector<uint16_t> ha, hb;
      if (c.cast) {
        for (auto x : a) ha.push_back(llvm::bit_cast<uint16_t>(_Float16(x)));
        for (auto x : b) hb.push_back(llvm::bit_cast<uint16_t>(_Float16(x)));
        e.buffer(ha).buffer(hb);
      } else
        e.buffer(a).buffer(b);
      e.buffer(out).scalar(k);
      e.ok();
      if (HasFatalFailure()) return;
      ASSERT_EQ(out, want) << c.target << ", " << stages << " stages, " << iterations << " iterations\n" << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Pipelined,
                         testing::Values(Case{"sm_80", false, false, "async_copy_global_to_local", 0},
                                         Case{"sm_80", true, false, "async_copy_global_to_local", 0},
                                         Case{"sm_80", false, true, "async_copy_global_to_local", 0},
                                         // Masks that may end anywhere: 2 bytes an access, so through registers.
                                         Case{"sm_80", true, true, "tt.load", 2},
                                         Case{"gfx942", false, false, "memdesc_index", 0},
                                         Case{"gfx942", true, false, "memdesc_index", 0},
                                         Case{"gfx942", true, true, "tt.load", 2},
                                         Case{"gfx1100", true, false, "memdesc_index", 0}));

} // namespace
} // namespace tessera
