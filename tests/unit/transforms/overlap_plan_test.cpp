// Which dots of a loop overlap-dots can delay (schedule/overlap_plan.h), by each of the conditions, on a loop like that
// of attention: a dot, work on its result, and a dot that adds up.
#include "ir/ops.h"
#include "transforms/run_pass.h"
#include "transforms/schedule/overlap_plan.h"

namespace tessera::transforms {
namespace {

/// The loop with replacements, which are made in their order. Comments of the body are there to be replaced.
using Replacements = std::vector<std::pair<std::string, std::string>>;

std::string loopWith(const Replacements &replacements) {
  std::string function = R"(
  tt.func public @k(%q: !m, %k: !m, %zeros: !t, %y: !t, %n: i32, %c: i1, %p: tensor<64x64x!tt.ptr<f16>, #mma>) -> !t {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %vs = ttg.local_alloc : () -> !ms
    %us = ttg.local_alloc : () -> !us
    %bars = ttg.local_alloc : () -> !mbars
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros, %read = %c0, %carried = %y) -> (!t, i32, !t) : i32 {
      // first
      %s = DOT(%q, %k, %zeros)
      // work
      %e = math.exp2 %s : !t
      %h = arith.truncf %e : !t to tensor<64x64xf16, #mma>
      %x = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> !x
      %v = ttg.memdesc_index %vs[%read] : !ms -> !m
      %d = XDOT(%x, %v, %acc)
      // end
      %next = arith.addi %read, %c1 : i32
      scf.yield %d, %next, %carried : !t, i32, !t
    } {attributes}
    tt.return %r#0 : !t
  }
)";
  for (auto &[old, replacement] : replacements) {
    size_t at = function.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    if (at != std::string::npos) function.replace(at, old.size(), replacement);
  }
  if (size_t at = function.find("{attributes}"); at != std::string::npos) function.replace(at, 12, "");
  std::string aliases = R"(
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#shared8 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
!ms = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!us = !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
!mt = !ttg.memdesc<64x64xf16, #sharedT, #smem, mutable>
!m8 = !ttg.memdesc<64x64xf8E4M3FN, #shared8, #smem, mutable>
!ms8 = !ttg.memdesc<3x64x64xf8E4M3FN, #shared8, #smem, mutable>
!mbar = !ttg.memdesc<1xi64, #plain, #smem, mutable>
!mbars = !ttg.memdesc<3x1xi64, #plain, #smem, mutable>
)";
  std::string text = testing::wgmmaModule(testing::withDots(function));
  return text.insert(text.find("module"), aliases);
}

/// "none", or how many dots are delayed and beside the first one, views of their operands, arrivals, values that they
/// need and operations that come last; and what the plan says of their buffers.
std::string plan(const Replacements &replacements) {
  std::string errors;
  ir::Context context;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += ir::render(d); });
  auto module = frontend::parseModule(loopWith(replacements), "test", context, diag);
  if (!module) return errors;
  ir::scf::ForOp loop;
  module->op()->walk([&](ir::Operation *op) {
    if (auto found = op->dyn<ir::scf::ForOp>(); found && !loop) loop = found;
  });
  auto p = planOverlap(loop, *runtime::findTarget("sm_90a"));
  if (!p) return "none";
  std::string out;
  auto count = [&](const char *what, size_t n) {
    if (n) out += (out.empty() ? "" : ", ") + std::to_string(n) + " " + what;
  };
  count("delayed", p->delayed.size());
  count("beside", p->besideFirst.size());
  count("views", p->views.size());
  count("views beside", p->viewsOfBesideFirst.size());
  count("arrivals", p->arrivals.size());
  count("needed", p->needed.size());
  count("last", p->last.size());
  count("buffers", size_t(p->fewestBuffers));
  if (p->isFilledInLoop) out += ", filled";
  if (p->sharesBuffers) out += ", shared";
  return out;
}

const char *const kPlan = "1 delayed, 1 views, 2 needed, 2 last, 3 buffers";

TEST(OverlapPlan, TheDotThatAddsUpIsDelayed) { EXPECT_EQ(plan({}), kPlan); }

TEST(OverlapPlan, LoopsThatDoNotOverlap) {
  EXPECT_EQ(plan({{"scf.for %i", "scf.for unsigned %i"}}), "none");
  EXPECT_EQ(plan({{"// end", "scf.for %j = %c0 to %n step %c1 : i32 {\n %w = math.absf %y : !t\n }"}}), "none");
  EXPECT_EQ(plan({{"// end", "scf.if %c {\n %w = math.absf %y : !t\n }"}}), kPlan);
  EXPECT_EQ(plan({{"// end", "scf.if %c {\n %w = DOT(%q, %k, %zeros)\n }"}}), "none");
  EXPECT_EQ(plan({{"// end", "gpu.barrier"}}), "none");
  EXPECT_EQ(plan({{"// end", "%w = ttng.warp_group_dot_wait %y {pendings = 1 : i32} : !t"}}), "none");
  EXPECT_EQ(plan({{"// end", "%w = ttng.warp_group_dot_wait %y {pendings = 0 : i32} : !t"}}), kPlan);
}

/// A dot of two buffers of f8, which adds outside of the instruction unless it is `imprecise`.
std::string float8Dot(const std::string &a, const std::string &b, const std::string &acc,
                      const std::string &imprecise) {
  return "ttng.warp_group_dot " + a + ", " + b + ", " + acc +
         " {inputPrecision = 0 : i32, maxNumImpreciseAcc = " + imprecise + " : i32} : !m8 * !m8 -> !t";
}
const std::pair<std::string, std::string> kFloat8{"%bars =", "%f8 = ttg.local_alloc : () -> !m8\n"
                                                             " %f8s = ttg.local_alloc : () -> !ms8\n %bars ="};

TEST(OverlapPlan, FirstDot) {
  EXPECT_EQ(plan({kFloat8, {"DOT(%q, %k, %zeros)", float8Dot("%f8", "%f8", "%zeros", "128")}}), kPlan);
  EXPECT_EQ(plan({kFloat8, {"DOT(%q, %k, %zeros)", float8Dot("%f8", "%f8", "%zeros", "0")}}), "none");
  EXPECT_EQ(plan({{"%s = DOT(%q, %k, %zeros)", "%s = ADOT(%q, %k, %zeros)"}}), "none") << "nothing waits for it";
  std::string wait = "%s0 = ADOT(%q, %k, %zeros)\n %s = ttng.warp_group_dot_wait %s0 {pendings = 0 : i32} : !t";
  EXPECT_EQ(plan({{"%s = DOT(%q, %k, %zeros)", wait}}), kPlan);
  EXPECT_EQ(plan({{"%s = DOT(%q, %k, %zeros)", wait}, {"%s = ttng", "%w = math.absf %s0 : !t\n %s = ttng"}}), "none");
  EXPECT_EQ(
      plan({{"%s = DOT(%q, %k, %zeros)",
             "%s0 = ADOT(%q, %k, %zeros)\n %s, %o = ttng.warp_group_dot_wait %s0, %y {pendings = 0 : i32} : !t, !t"}}),
      "none")
      << "the wait is for more";
  for (const char *buffer : {"%q", "%k"})
    EXPECT_EQ(plan({{"// end", std::string("ttg.local_store %h, ") + buffer + " : tensor<64x64xf16, #mma> -> !m"}}),
              "none")
        << buffer;
  EXPECT_EQ(plan({{"// end", "%w = ttg.memdesc_trans %k {order = array<i32: 1, 0>} : !m -> !mt\n"
                             " ttg.local_store %h, %w : tensor<64x64xf16, #mma> -> !mt"}}),
            "none")
      << "written through a view";
}

TEST(OverlapPlan, DelayedDot) {
  EXPECT_EQ(
      plan({{"XDOT(%x, %v, %acc)", "ttng.warp_group_dot %x, %v, %acc, %c {inputPrecision = 0 : i32} : !x * !m -> !t"}}),
      "none")
      << "it has a scale";
  std::string index = "%v = ttg.memdesc_index %vs[%read] : !ms -> !m\n      %d = XDOT(%x, %v, %acc)";
  std::string float8Index = "%v = ttg.memdesc_index %f8s[%read] : !ms8 -> !m8\n %d = ";
  EXPECT_EQ(plan({kFloat8, {index, float8Index + float8Dot("%f8", "%v", "%acc", "128")}}),
            "1 delayed, 1 views, 1 needed, 2 last, 3 buffers");
  EXPECT_EQ(plan({kFloat8, {index, float8Index + float8Dot("%f8", "%v", "%acc", "0")}}), "none");
  EXPECT_EQ(plan({{"// end", "%w = math.absf %d : !t"}}), "none") << "the iteration uses the result";
  std::string wait = "%d0 = AXDOT(%x, %v, %acc)\n %d = ttng.warp_group_dot_wait %d0 {pendings = 0 : i32} : !t";
  EXPECT_EQ(plan({{"%d = XDOT(%x, %v, %acc)", wait}}), kPlan);
  EXPECT_EQ(plan({{"%d = XDOT(%x, %v, %acc)", wait}, {"// end", "%w = math.absf %d : !t"}}), "none");
  EXPECT_EQ(plan({{"DOT(%q, %k, %zeros)", "DOT(%q, %k, %acc)"}}), "none") << "the next iteration's first dot needs it";
}

TEST(OverlapPlan, TwoDelayedDots) {
  EXPECT_EQ(plan({{"// end", "%u = ttg.memdesc_index %us[%read] : !us -> !m\n %f = XDOT(%x, %u, %carried)"},
                  {"%next, %carried", "%next, %f"}}),
            "2 delayed, 2 views, 2 needed, 2 last, 2 buffers")
      << "the fewer buffers count";
  std::string own = "%own = ttg.local_alloc %h : (tensor<64x64xf16, #mma>) -> !m\n %d = XDOT(%x, %own, %acc)";
  EXPECT_EQ(plan({{"%d = XDOT(%x, %v, %acc)", own},
                  {"%bars =", "%a = ttg.memdesc_index %us[%c0] : !us -> !m\n %bars ="},
                  {"// end", "%f = DOT(%a, %v, %carried)"},
                  {"%next, %carried", "%next, %f"}}),
            "1 delayed, 1 views, 1 needed, 3 buffers")
      << "nothing is needed for a dot that is not delayed: its buffer is of the iteration";
}

/// All dots but the delayed one are to be issued together: one more, `dot`, with `before` before it.
std::string gathered(const std::string &dot, const std::string &before = "", const Replacements &more = {}) {
  Replacements r{{"// work", before + "\n %g = " + dot + "\n // work"},
                 {"// end", "%w = arith.addf %g, %s : !t"},
                 {"{attributes}", "{tessera.keeps_last_buffers}"}};
  r.insert(r.begin(), more.begin(), more.end());
  return plan(r);
}

TEST(OverlapPlan, DotsBesideTheFirst) {
  const char *const beside = "1 delayed, 1 beside, 1 views, 2 needed, 2 last, 3 buffers";
  EXPECT_EQ(gathered("DOT(%k, %q, %zeros)"), beside);
  EXPECT_EQ(gathered("DOT(%k, %t, %zeros)", "%t = ttg.memdesc_index %us[%read] : !us -> !m"),
            "1 delayed, 1 beside, 1 views, 1 views beside, 2 needed, 2 last, 3 buffers");
  EXPECT_EQ(gathered("DOT(%k, %t, %zeros)", "%j = arith.addi %read, %c1 : i32\n"
                                            " %t = ttg.memdesc_index %us[%j] : !us -> !m"),
            "none")
      << "its index is computed";
  EXPECT_EQ(gathered("ADOT(%k, %q, %zeros)"), "none");
  EXPECT_EQ(gathered(float8Dot("%f8", "%f8", "%zeros", "128"), "", {kFloat8}), beside);
  EXPECT_EQ(gathered(float8Dot("%f8", "%f8", "%zeros", "0"), "", {kFloat8}), "none");
  EXPECT_EQ(gathered("XDOT(%gx, %q, %zeros)",
                     "%ge = math.exp2 %s : !t\n %gh = arith.truncf %ge : !t to tensor<64x64xf16, "
                     "#mma>\n %gx = ttg.convert_layout %gh : tensor<64x64xf16, #mma> -> !x"),
            "none")
      << "it needs work of the iteration";
  EXPECT_EQ(gathered("DOT(%k, %one, %zeros)", "",
                     {{"%bars =", "%one = ttg.local_alloc : () -> !m\n %bars ="},
                      {"scf.yield", "ttg.local_store %h, %one : tensor<64x64xf16, #mma> -> !m\n scf.yield"}}),
            "none")
      << "the iteration writes its operand";
}

TEST(OverlapPlan, WhoUsesTheBuffers) {
  EXPECT_EQ(plan({{"// end", "%w = ttg.local_load %v : !m -> tensor<64x64xf16, #mma>"}}), "none");
  EXPECT_EQ(plan({{"tt.return", "%vl = ttg.memdesc_index %vs[%c0] : !ms -> !m\n"
                                " %w = ttg.local_load %vl : !m -> tensor<64x64xf16, #mma>\n tt.return"}}),
            kPlan)
      << "outside of the loop";
  EXPECT_EQ(plan({{"// work", "%g = DOT(%k, %v, %zeros)"},
                  {"%v = ", "%unused = "},
                  {"// first", "%v = ttg.memdesc_index %vs[%read] : !ms -> !m"}})
                .substr(0, 9),
            "1 delayed");
}

TEST(OverlapPlan, Arrivals) {
  std::string bar = "%bar = ttg.memdesc_index %bars[%read] : !mbars -> !mbar\n ttng.arrive_barrier %bar, 1";
  EXPECT_EQ(plan({{"// end", bar + " : !mbar"}}), "1 delayed, 1 views, 2 arrivals, 2 needed, 2 last, 3 buffers");
  EXPECT_EQ(plan({{"// end", bar + ", %c : !mbar"}}), "none");
  EXPECT_EQ(plan({{"// work", bar + " : !mbar"}}), "none") << "it may stand for reads of the delayed dot";
  EXPECT_EQ(plan({{"// work", bar + " {tessera.each_warp} : !mbar"}}), kPlan);
  std::string second = " {tessera.each_warp} : !mbar\n %u = ttg.memdesc_index %us[%read] : !us -> !m\n"
                       " %f = XDOT(%x, %u, %carried)";
  EXPECT_EQ(plan({{"// end", bar + second}, {"%next, %carried", "%next, %f"}}), "none") << "between two delayed dots";
}

TEST(OverlapPlan, WhatComesLast) {
  EXPECT_EQ(plan({{"// work", "%sum = arith.addf %acc, %y : !t"}, {"%next, %carried", "%next, %sum"}}),
            "1 delayed, 1 views, 2 needed, 3 last, 3 buffers");
  EXPECT_EQ(
      plan({{"// work", "%sum = arith.addf %acc, %y : !t\n %sh = arith.truncf %sum : !t to tensor<64x64xf16, #mma>\n"
                        " tt.store %p, %sh : tensor<64x64x!tt.ptr<f16>, #mma>"}}),
      kPlan)
      << "a store does not move";
  EXPECT_EQ(
      plan({{"// work", "%m = arith.cmpf olt, %acc, %y : !t\n %l = tt.load %p, %m : tensor<64x64x!tt.ptr<f16>, #mma>\n"
                        " %lf = arith.extf %l : tensor<64x64xf16, #mma> to !t"},
            {"%next, %carried", "%next, %lf"}}),
      "1 delayed, 1 views, 2 needed, 3 last, 3 buffers")
      << "nor does a load";
  EXPECT_EQ(plan({{"// work", R"(%row = "tt.reduce"(%acc) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %rr: f32):
        %m = arith.addf %l, %rr : f32
        tt.reduce.return %m : f32
      }) : (!t) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %col = tt.expand_dims %row {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xf32, #mma>
      %sum = tt.broadcast %col : tensor<64x1xf32, #mma> -> !t)"},
                  {"%next, %carried", "%next, %sum"}}),
            "1 delayed, 1 views, 2 needed, 4 last, 3 buffers")
      << "nor does a reduction";
}

} // namespace
} // namespace tessera::transforms
