// PassChecker: a pass that keeps what a kernel computes passes, one that does not is named with the output it
// changes, and one after which the kernel cannot be evaluated is named too.
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/debug/check_passes.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::HasSubstr;

std::string kernel(const char *operation) {
  return std::string(R"(
module {
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %two = arith.constant dense<2.0> : tensor<64xf32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %w = )") +
         operation + R"( : tensor<64xf32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %ys, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %q, %w : tensor<64x!tt.ptr<f32>>
    tt.return
  }
})";
}

TEST(PassChecker, NamesTheFirstPassThatChangesAnOutput) {
  runtime::LaunchDescription d;
  d.path = "here";
  d.kernel = "k";
  for (const char *name : {"x", "y"}) {
    runtime::LaunchArg a;
    a.name = name;
    a.dtype = runtime::DType::F32;
    a.shape = {64};
    a.source = runtime::LaunchArg::Fill;
    a.fill = 3;
    d.args.push_back(a);
  }
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &x) { messages += ir::render(x); });
  auto doubled = frontend::parseModule(kernel("arith.mulf %v, %two"), "a", context, diag);
  auto added = frontend::parseModule(kernel("arith.addf %v, %v"), "b", context, diag);
  auto squared = frontend::parseModule(kernel("arith.mulf %v, %v"), "c", context, diag);
  ASSERT_TRUE(doubled && added && squared) << messages;
  runtime::PassChecker checker(d);
  ASSERT_TRUE(checker.start(*doubled).ok());
  checker.after("strength-reduction", *added);
  EXPECT_EQ(checker.finding(), "");
  checker.after("squaring", *squared);
  EXPECT_THAT(checker.finding(), HasSubstr("pass 2, 'squaring', changes what the kernel computes: FAIL y"));
  checker.after("later", *squared);
  EXPECT_THAT(checker.finding(), HasSubstr("'squaring'")); // the first stays
}

TEST(PassChecker, NamesAPassThatLeavesNoKernel) {
  runtime::LaunchDescription d;
  d.kernel = "k";
  ir::Context context;
  ir::DiagnosticEngine diag([](const ir::Diagnostic &) {});
  auto sound = frontend::parseModule("module {\n tt.func public @k() {\n tt.return\n }\n}", "a", context, diag);
  auto broken = frontend::parseModule("module {\n tt.func public @other() {\n tt.return\n }\n}", "b", context, diag);
  ASSERT_TRUE(sound && broken);
  runtime::PassChecker checker(d);
  ASSERT_TRUE(checker.start(*sound).ok());
  checker.after("dead-kernel-elimination", *broken);
  EXPECT_THAT(checker.finding(), HasSubstr("after pass 1, 'dead-kernel-elimination', the kernel cannot be evaluated"));
}

TEST(PassChecker, NamesThePassAfterWhichTheIrIsInvalid) {
  runtime::LaunchDescription d;
  d.kernel = "k";
  ir::Context context;
  ir::DiagnosticEngine diag([](const ir::Diagnostic &) {});
  auto m = frontend::parseModule("module {\n tt.func public @k() {\n gpu.barrier\n tt.return\n }\n}", "a.ttir", context,
                                 diag);
  ASSERT_TRUE(m);
  runtime::PassChecker checker(d);
  ASSERT_TRUE(checker.start(*m).ok());
  checker.after("no-change", *m);
  EXPECT_EQ(checker.finding(), "");
  m->lookupSymbol("k")->regions().front().front()->terminator()->erase();
  checker.after("drop-terminators", *m);
  EXPECT_THAT(
      checker.finding(),
      HasSubstr("after pass 2, 'drop-terminators', the IR is invalid: 'gpu.barrier' op is the last of its block"));
}

} // namespace
} // namespace tessera
