// The compiler as a whole under unusual conditions: many threads at once, every number of warps, tensors of any rank
// and of fewer elements than threads, and programs that exceed a limit.
#include "cuda_toolkit.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "one_operation_kernels.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace tessera {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  std::string output, errors;
  runtime::KernelMetadata metadata;
};

Outcome compile(const std::string &text, llvm::StringRef target, int warps = 4, bool object = false) {
  ir::Context context;
  Outcome out;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) {
    if (d.severity == ir::Severity::Error) out.errors += ir::render(d);
  });
  auto m = frontend::parseModule(text, "test.ttir", context, diag);
  if (!m) return out;
  auto t = runtime::requireTarget(target);
  runtime::CompileOptions o;
  o.stage = object ? runtime::Stage::Object : runtime::Stage::Asm;
  o.numWarps = warps;
  o.exactNumWarps = true;
  auto r = runtime::compile(*m, **t, o, diag);
  if (!r.ok())
    out.errors += std::string(r.status().message());
  else
    out.output = r->output, out.metadata = r->metadata;
  return out;
}

// Not even with passes that are not verified one by one: wrong IR is not lowered.
TEST(Configurations, IrThatAPassLeftInvalidIsRefused) {
  for (const char *target : {"sm_90a", "gfx942"}) {
    SCOPED_TRACE(target);
    ir::Context context;
    std::string errors;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += ir::render(d); });
    auto m = frontend::parseModule("module {\n tt.func public @k() {\n tt.return\n }\n}", "test.ttir", context, diag);
    ASSERT_TRUE(m) << errors;
    runtime::CompileOptions o;
    o.stage = runtime::Stage::Asm;
    o.passes.hook = [](const transforms::PassInfo &pass, ir::Module &module, bool before) {
      if (!before && pass.name == "insert-barriers")
        module.lookupSymbol("k")->regions().front().front()->terminator()->erase();
    };
    auto r = runtime::compile(*m, **runtime::requireTarget(target), o, diag);
    EXPECT_EQ(r.status().code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(r.status().message()), HasSubstr("the passes made invalid IR, see above; please report"));
    EXPECT_THAT(errors, HasSubstr("a block must end in a terminator")); // above: the verifier's
  }
}

TEST(Configurations, EightThreadsGiveTheBytesOfOne) {
  NEEDS_LIBDEVICE();
  auto kernels = testing::oneOperationKernels();
  struct Job {
    const std::string *text;
    const char *target;
    bool object;
  };
  std::vector<Job> jobs;
  const std::pair<const char *, bool> targets[] = {
      {"sm_80", false}, {"gfx942", true}, {"sm_90a", false}, {"gfx1201", true}};
  for (size_t i = 0, k = 0; i < kernels.size(); i += 61, ++k)
    jobs.push_back({&kernels[i].text, targets[k % 4].first, targets[k % 4].second});
  std::vector<std::string> alone, together(jobs.size());
  for (auto &j : jobs) alone.push_back(compile(*j.text, j.target, 4, j.object).output);
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < jobs.size();)
        together[i] = compile(*jobs[i].text, jobs[i].target, 4, jobs[i].object).output;
    });
  for (auto &t : threads) t.join();
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_NE(alone[i], "") << i;
    EXPECT_TRUE(alone[i] == together[i]) << i << " " << jobs[i].target;
  }
}

/// LLVM numbers calls by a counter of the process: none of it is in the text.
TEST(Configurations, CallsAreNotNumberedByTheProcess) {
  auto kernels = testing::oneOperationKernels();
  auto prints = llvm::find_if(kernels, [](auto &k) { return k.text.find("tt.print") != std::string::npos; });
  ASSERT_NE(prints, kernels.end());
  std::string first = compile(prints->text, "sm_80").output;
  EXPECT_THAT(first, HasSubstr("call.uni"));
  EXPECT_EQ(first, compile(prints->text, "sm_80").output);
}

/// Loads a tensor of the shape, adds it to itself, reduces it along its last dimension and stores both.
std::string shapedKernel(const std::vector<int> &shape) {
  int64_t n = 1;
  std::string dims, reduced;
  for (int s : shape) n *= s, dims += std::to_string(s) + "x";
  for (size_t i = 0; i + 1 < shape.size(); ++i) reduced += std::to_string(shape[i]) + "x";
  auto flat = [&](const std::string &e) { return "tensor<" + std::to_string(n) + "x" + e + ">"; };
  std::string t = "tensor<" + dims + "f32>", r = reduced.empty() ? "f32" : "tensor<" + reduced + "f32>";
  return "module {\ntt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>) {\n%i = tt.make_range "
         "{start = 0 : i32, end = " +
         std::to_string(n) + " : i32} : " + flat("i32") + "\n%xs = tt.splat %x : !tt.ptr<f32> -> " +
         flat("!tt.ptr<f32>") + "\n%xp = tt.addptr %xs, %i : " + flat("!tt.ptr<f32>") + ", " + flat("i32") +
         "\n%l = tt.load %xp : " + flat("!tt.ptr<f32>") + "\n%v = tt.reshape %l : " + flat("f32") + " -> " + t +
         "\n%w = arith.addf %v, %v : " + t + "\n%s = \"tt.reduce\"(%w) <{axis = " + std::to_string(shape.size() - 1) +
         " : i32}> ({\n^bb0(%a: f32, %b: f32):\n%c = arith.addf %a, %b : f32\ntt.reduce.return %c : f32\n}) : (" + t +
         ") -> " + r + "\n%f = tt.reshape %w : " + t + " -> " + flat("f32") + "\n%ys = tt.splat %y : !tt.ptr<f32> -> " +
         flat("!tt.ptr<f32>") + "\n%yp = tt.addptr %ys, %i : " + flat("!tt.ptr<f32>") + ", " + flat("i32") +
         "\ntt.store %yp, %f : " + flat("!tt.ptr<f32>") + "\n" +
         (reduced.empty() ? "tt.store %z, %s : !tt.ptr<f32>\n"
                          : "%zs = tt.splat %z : !tt.ptr<f32> -> tensor<" + reduced +
                                "!tt.ptr<f32>>\ntt.store %zs, %s : tensor<" + reduced + "!tt.ptr<f32>>\n") +
         "tt.return\n}\n}\n";
}

TEST(Configurations, EveryRankSizeAndNumberOfWarps) {
  const std::vector<std::vector<int>> shapes{
      {1},     {2},       {16},      {4096},       {1, 1},          {2, 64},
      {64, 2}, {4, 4, 4}, {1, 8, 1}, {2, 2, 2, 8}, {4, 1, 2, 2, 8}, {1, 1, 1, 1, 1}};
  size_t k = 0;
  for (auto &shape : shapes)
    for (int warps : {1, 2, 4, 8, 16, 32}) {
      for (const char *target : {"sm_80", "gfx942", "gfx1100", "sm_90a", "gfx1201", "sm_120a"}) {
        if (k++ % 3) continue; // a third of the combinations
        bool wave64 = std::string(target) == "gfx942";
        if (wave64 && warps == 32) continue; // 2048 threads
        auto r = compile(shapedKernel(shape), target, warps);
        EXPECT_EQ(r.errors, "") << ::testing::PrintToString(shape) << " " << warps << " warps, " << target;
        EXPECT_EQ(r.metadata.threadsPerBlock, warps * (wave64 ? 64 : 32));
      }
    }
}

TEST(Configurations, ThreadsPerBlockHaveALimit) {
  EXPECT_THAT(compile(shapedKernel({64}), "gfx942", 32).errors,
              HasSubstr("32 warps of 64 threads are 2048 threads per block, but gfx942 allows 1024"));
  EXPECT_THAT(compile(shapedKernel({64}), "sm_90a", 3).errors,
              HasSubstr("num-warps must be a power of two up to 64, not 3"));
}

TEST(Configurations, SharedMemoryOverTheLimitNamesItsUsers) {
  // A gather of 256 KiB.
  std::string text = R"(module {
tt.func public @k(%x: !tt.ptr<i64>) {
  %i = tt.make_range {start = 0 : i32, end = 32768 : i32} : tensor<32768xi32>
  %p = tt.splat %x : !tt.ptr<i64> -> tensor<32768x!tt.ptr<i64>>
  %q = tt.addptr %p, %i : tensor<32768x!tt.ptr<i64>>, tensor<32768xi32>
  %v = tt.load %q : tensor<32768x!tt.ptr<i64>>
  %g = tt.gather %v[%i] {axis = 0 : i32} : (tensor<32768xi64>, tensor<32768xi32>) -> tensor<32768xi64> loc("kernel.py":7:3)
  tt.store %q, %g : tensor<32768x!tt.ptr<i64>>
  tt.return
}
})";
  for (const char *target : {"gfx942", "gfx950", "gfx1100", "sm_80", "sm_90a"}) {
    std::string errors = compile(text, target, 16).errors;
    EXPECT_THAT(errors, HasSubstr("262144 bytes of shared memory")) << target;
    EXPECT_THAT(errors, HasSubstr("kernel.py:7:3")) << target;
  }
}

TEST(Configurations, WhatTheBackEndRefusesIsReportedWhereItStands) {
  std::string unknown = R"(module {
tt.func public @k(%x: !tt.ptr<f32>) {
  %a = tt.load %x : !tt.ptr<f32>
  %b = tt.extern_elementwise %a {libname = "", libpath = "", pure = true, symbol = "__nv_no_such_function"} : (f32) -> f32 loc("kernel.py":12:5)
  tt.store %x, %b : !tt.ptr<f32>
  tt.return
}
})";
  for (const char *target : {"gfx942", "gfx1201"}) {
    std::string errors = compile(unknown, target).errors;
    EXPECT_THAT(errors, HasSubstr("kernel.py:12:5")) << target;
    EXPECT_THAT(errors, HasSubstr("'__nv_no_such_function'")) << target;
  }
  std::string assembly = R"(module {
tt.func public @k(%x: !tt.ptr<i32>) {
  %a = tt.load %x : !tt.ptr<i32>
  %b = tt.elementwise_inline_asm "v_mov_b32 $0, $1" {constraints = "=v,v", packed_element = 1 : i32, pure = true} %a : i32 -> i32
  %c = tt.elementwise_inline_asm "v_no_such_instruction $0, $1" {constraints = "=v,v", packed_element = 1 : i32, pure = true} %b : i32 -> i32 loc("kernel.py":20:9)
  tt.store %x, %c : !tt.ptr<i32>
  tt.return
}
})";
  EXPECT_THAT(compile(assembly, "gfx942", 4, true).errors, HasSubstr("kernel.py:20:9"));
}

} // namespace
} // namespace tessera
