// The C API from a program: every status, what the handler receives, several threads at once.
#include "capi/tessera.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char kKernel[] = R"(module {
  tt.func public @twice(%p: !tt.ptr<f32>) {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %b = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %a = tt.addptr %b, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %a : tensor<128x!tt.ptr<f32>>
    %y = arith.addf %x, %x : tensor<128xf32>
    tt.store %a, %y : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
)";

struct Outcome {
  tessera_status status = TESSERA_OK;
  bool hasResult = false;
  std::string data, metadata, messages, texts;
  unsigned line = 0, column = 0; // of the first diagnostic
};
void take(const tessera_diagnostic *d, void *user) {
  auto &o = *static_cast<Outcome *>(user);
  if (o.messages.empty()) o.line = d->line, o.column = d->column;
  o.messages += std::string(d->message) + "\n", o.texts += d->text;
}
void finish(Outcome &o, tessera_result *r) {
  o.hasResult = r;
  size_t length = 0;
  const char *data = tessera_result_data(r, &length);
  o.data.assign(data, length);
  o.metadata = tessera_result_metadata(r);
  tessera_result_destroy(r);
}
tessera_context *newContext(Outcome &o) {
  tessera_context_options options;
  tessera_context_options_init(&options, sizeof options);
  options.handler = take, options.user = &o;
  tessera_context *c = nullptr;
  EXPECT_EQ(tessera_context_create(&options, &c, nullptr), TESSERA_OK);
  return c;
}
/// The out-parameter and the handler must receive the same error.
void checkError(const Outcome &o, tessera_error *e) {
  EXPECT_EQ(tessera_error_status(e), o.status);
  EXPECT_EQ(e == nullptr, o.status == TESSERA_OK);
  EXPECT_THAT(o.texts, HasSubstr(tessera_error_text(e)));
  EXPECT_THAT(o.messages, HasSubstr(tessera_error_message(e)));
  if (e) EXPECT_STRNE(tessera_error_message(e), "");
  tessera_error_destroy(e);
}
Outcome compile(const std::string &text, const char *target, const char *stage = "ttgir",
                void (*change)(tessera_options &) = nullptr) {
  tessera_options options;
  tessera_options_init(&options, sizeof options);
  options.target = target, options.stage = stage;
  if (change) change(options);
  Outcome o;
  tessera_result *r = reinterpret_cast<tessera_result *>(&o);
  tessera_error *e = reinterpret_cast<tessera_error *>(&o);
  tessera_context *c = newContext(o);
  o.status = tessera_compile(c, text.data(), text.size(), "k.ttir", &options, &r, &e);
  finish(o, r);
  checkError(o, e);
  tessera_context_destroy(c);
  return o;
}
Outcome passes(const std::string &text, std::vector<const char *> names, const char *target = nullptr) {
  Outcome o;
  tessera_result *r = reinterpret_cast<tessera_result *>(&o);
  tessera_error *e = reinterpret_cast<tessera_error *>(&o);
  tessera_context *c = newContext(o);
  o.status = tessera_run_passes(c, text.data(), text.size(), nullptr, names.data(), names.size(), target, &r, &e);
  finish(o, r);
  checkError(o, e);
  tessera_context_destroy(c);
  return o;
}

/// A parsed module, its code and its text.
class CApiModule : public testing::Test {
protected:
  void SetUp() override {
    context_ = newContext(outcome_);
    tessera_options_init(&options_, sizeof options_);
    ASSERT_EQ(tessera_module_parse(context_, text_.data(), text_.size(), "k.ttir", &module_, nullptr), TESSERA_OK)
        << outcome_.texts;
  }
  void TearDown() override {
    tessera_context_destroy(context_); // before the module, which does not need it
    tessera_module_destroy(module_);
  }
  std::string code(const char *target, const char *stage) {
    options_.target = target;
    options_.stage = stage;
    tessera_result *r;
    EXPECT_EQ(tessera_module_compile(module_, &options_, &r, nullptr), TESSERA_OK) << outcome_.texts;
    Outcome out;
    finish(out, r);
    return out.data;
  }
  std::string printed(int locations) {
    tessera_result *r;
    EXPECT_EQ(tessera_module_print(module_, locations, &r, nullptr), TESSERA_OK) << outcome_.texts;
    Outcome out;
    finish(out, r);
    return out.data;
  }
  /// Gives the module layouts for 8 warps of 32 lanes.
  void addLayouts() {
    const char *convert[] = {"convert-triton-to-tritongpu=num-warps=8", "tritongpu-coalesce"};
    EXPECT_EQ(tessera_module_run_passes(module_, convert, 2, "sm_80", nullptr), TESSERA_OK) << outcome_.texts;
  }

  const std::string text_ = std::string(kKernel, sizeof kKernel - 1);
  Outcome outcome_;
  tessera_context *context_ = nullptr;
  tessera_module *module_ = nullptr;
  tessera_options options_;
};

TEST_F(CApiModule, IsParsedOnceAndCompiledOften) {
  EXPECT_STREQ(tessera_module_kernel(module_, 0), "twice");
  EXPECT_EQ(tessera_module_kernel(module_, 1), nullptr);
  // For several targets, each as from the text; the module stays as it is.
  EXPECT_EQ(code("sm_80", "ptx"), compile(text_, "sm_80", "ptx").data);
  EXPECT_EQ(code("gfx942", "amdgcn"), compile(text_, "gfx942", "amdgcn").data);
  EXPECT_EQ(code("sm_80", "ptx"), compile(text_, "sm_80", "ptx").data);
  std::string before = printed(0);
  EXPECT_THAT(before, HasSubstr("tt.make_range"));
  EXPECT_THAT(before, testing::Not(HasSubstr("loc(")));
  EXPECT_THAT(printed(1), HasSubstr("loc("));
}

TEST_F(CApiModule, IsChangedByPassesThatSucceed) {
  addLayouts();
  std::string layouts = printed(0);
  EXPECT_THAT(layouts, HasSubstr("\"ttg.num-warps\" = 8"));
  EXPECT_EQ(tessera_module_run_passes(module_, nullptr, 0, nullptr, nullptr), TESSERA_OK);
  EXPECT_EQ(printed(0), layouts);
  const char *unknown[] = {"cse", "no-such-pass"}, *bad[] = {"tritongpu-pipeline=num-stages=-1"};
  EXPECT_EQ(tessera_module_run_passes(module_, unknown, 2, nullptr, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_module_run_passes(module_, bad, 1, nullptr, nullptr), TESSERA_USAGE);
  EXPECT_THAT(outcome_.messages, HasSubstr("'num-stages' must be at least 0, not -1"));
  EXPECT_EQ(printed(0), layouts);
  EXPECT_THAT(code("sm_80", "ptx"), HasSubstr(".reqntid 256"));
}

TEST_F(CApiModule, KeepsLocationsWhenPassesChangeIt) {
  const std::string text = R"(tt.func public @f(%p: !tt.ptr<f32>, %v: f32) {
  tt.store %p, %v : !tt.ptr<f32> loc("kernel.py":42:7)
  tt.return
})";
  tessera_module *m = nullptr;
  ASSERT_EQ(tessera_module_parse(context_, text.data(), text.size(), nullptr, &m, nullptr), TESSERA_OK);
  const char *cse[] = {"cse"};
  ASSERT_EQ(tessera_module_run_passes(m, cse, 1, nullptr, nullptr), TESSERA_OK);
  options_.target = "sm_80";
  options_.stage = "llir";
  options_.line_info = 1;
  tessera_result *r = nullptr;
  ASSERT_EQ(tessera_module_compile(m, &options_, &r, nullptr), TESSERA_OK) << outcome_.texts;
  Outcome out;
  finish(out, r);
  EXPECT_THAT(out.data, HasSubstr("!DILocation(line: 42, column: 7"));
  tessera_module_destroy(m);
}

TEST_F(CApiModule, ErrorsOfPassesHaveAPlaceInTextsWithoutLocations) {
  const std::string text = R"(tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {
  %c = arith.constant 1 : i32
  scf.for %i = %c to %n step %c : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 100000 : i32}
  tt.return
})";
  const char *unroll[] = {"triton-loop-unroll"};
  tessera_module *m = nullptr;
  ASSERT_EQ(tessera_module_parse(context_, text.data(), text.size(), "f.mlir", &m, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_module_run_passes(m, unroll, 1, nullptr, nullptr), TESSERA_INPUT);
  EXPECT_THAT(outcome_.texts, StartsWith("f.mlir:3:3: error: tt.loop_unroll_factor = 100000 is too much"));
  outcome_ = {};
  tessera_result *r = nullptr;
  EXPECT_EQ(tessera_run_passes(context_, text.data(), text.size(), "g.mlir", unroll, 1, nullptr, &r, nullptr),
            TESSERA_INPUT);
  EXPECT_THAT(outcome_.texts, StartsWith("g.mlir:3:3: error: tt.loop_unroll_factor = 100000 is too much"));
  tessera_module_destroy(m);
}

TEST_F(CApiModule, RefusesInvalidRequests) {
  addLayouts();
  tessera_module *none;
  EXPECT_EQ(tessera_module_parse(context_, "module {", 8, nullptr, &none, nullptr), TESSERA_INPUT);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(tessera_module_parse(nullptr, "", 0, nullptr, &none, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_module_parse(context_, nullptr, 1, nullptr, &none, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_module_parse(context_, "", 0, nullptr, nullptr, nullptr), TESSERA_USAGE);
  tessera_result *r;
  EXPECT_EQ(tessera_module_compile(module_, nullptr, &r, nullptr), TESSERA_USAGE); // no target
  EXPECT_EQ(tessera_module_compile(nullptr, &options_, &r, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_module_print(module_, 0, nullptr, nullptr), TESSERA_USAGE);
  options_.target = "gfx942"; // has waves of 64 lanes, and the module's layouts are for 32
  options_.stage = nullptr;
  EXPECT_EQ(tessera_module_compile(module_, &options_, &r, nullptr), TESSERA_INPUT);
  EXPECT_EQ(r, nullptr);
}

TEST_F(CApiModule, IsCompiledForADevice) {
  addLayouts();
  tessera_device *d;
  ASSERT_EQ(tessera_device_open(context_, "emulator:sm_80", &d, nullptr), TESSERA_OK) << outcome_.texts;
  tessera_kernel *k;
  EXPECT_EQ(tessera_kernel_compile_module(d, module_, nullptr, &k, nullptr), TESSERA_OK) << outcome_.texts;
  EXPECT_THAT(tessera_kernel_metadata(k), HasSubstr("\"num_warps\": 8"));
  tessera_kernel_destroy(k);
  EXPECT_EQ(tessera_kernel_compile_module(d, nullptr, nullptr, &k, nullptr), TESSERA_USAGE);
  EXPECT_EQ(k, nullptr);
  tessera_device_destroy(d);
}

TEST_F(CApiModule, IsCompiledWhileOtherThreadsRunPasses) {
  addLayouts();
  tessera_context_destroy(context_); // the module does not need it
  context_ = nullptr;
  options_.target = "sm_80";
  options_.stage = "ptx";
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const char *cse[] = {"cse"};
      tessera_result *mine = nullptr;
      failed += i % 2 ? tessera_module_run_passes(module_, cse, 1, nullptr, nullptr) != TESSERA_OK
                      : tessera_module_compile(module_, &options_, &mine, nullptr) != TESSERA_OK;
      tessera_result_destroy(mine);
    });
  for (auto &t : threads) t.join();
  EXPECT_EQ(failed, 0);
}

TEST(CApi, CompilesForBothVendors) {
  Outcome nv = compile(kKernel, "sm_80", "ptx");
  EXPECT_EQ(nv.status, TESSERA_OK) << nv.texts;
  EXPECT_THAT(nv.data, HasSubstr(".visible .entry twice"));
  EXPECT_THAT(nv.metadata, HasSubstr("\"threads_per_block\": 128"));
  Outcome amd = compile(kKernel, "gfx942", nullptr);
  EXPECT_EQ(amd.status, TESSERA_OK) << amd.texts;
  EXPECT_EQ(amd.data.substr(1, 3), "ELF");
}

TEST(CApi, RunsPasses) {
  Outcome o =
      passes(kKernel, {"canonicalize", "convert-triton-to-tritongpu=num-warps=2", "tritongpu-coalesce"}, "sm_80");
  EXPECT_EQ(o.status, TESSERA_OK) << o.texts;
  EXPECT_THAT(o.data, HasSubstr("\"ttg.num-warps\" = 2"));
  EXPECT_EQ(passes(o.data, {}).data, o.data); // checked and printed only
  EXPECT_EQ(passes(o.data, {}).metadata, "");
}

TEST(CApi, ErrorsOfTheTextAreLocated) {
  Outcome o = compile("tt.func @k() {\n  tt.nonsense\n}\n", "sm_80");
  EXPECT_EQ(o.status, TESSERA_INPUT);
  EXPECT_FALSE(o.hasResult);
  EXPECT_EQ(o.line, 2u);
  EXPECT_EQ(o.column, 3u);
  EXPECT_THAT(o.texts, StartsWith("k.ttir:2:3: error: unknown operation 'tt.nonsense'\n  tt.nonsense\n  ^\n"));
  EXPECT_EQ(compile("", "sm_80").status, TESSERA_INPUT);
  EXPECT_THAT(compile("", "sm_80").texts, HasSubstr("k.ttir: error: the module has no kernel"));
  EXPECT_EQ(compile(std::string("\0\1\2", 3), "sm_80").status, TESSERA_INPUT);
  Outcome noLayouts = passes(kKernel, {"tritongpu-coalesce"}, "sm_80");
  EXPECT_EQ(noLayouts.status, TESSERA_INPUT);
  EXPECT_FALSE(noLayouts.messages.empty());
}

TEST(CApi, UsageIsRefused) {
  auto refused = [](const Outcome &o, const char *why) {
    EXPECT_EQ(o.status, TESSERA_USAGE);
    EXPECT_FALSE(o.hasResult);
    EXPECT_THAT(o.messages, HasSubstr(why));
  };
  refused(compile(kKernel, nullptr), "tessera_options.target is null; targets: sm_80, ");
  refused(compile(kKernel, "sm_1"), "unknown target 'sm_1'");
  refused(compile(kKernel, "gfx942", "ptx"), "'ptx' is not a stage of gfx942");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.num_warps = 3; }),
          "num_warps must be a power of two up to 64, not 3");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.num_ctas = 0; }),
          "num_ctas must be a power of two up to 16, not 0");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.num_stages = -1; }),
          "num_stages must be a whole number from 0 to 100, not -1");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.num_stages = 101; }),
          "num_stages must be a whole number from 0 to 100, not 101");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.waves_per_eu = 17; }),
          "waves_per_eu must be a whole number from 0 to 16, not 17");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.matrix_instr_nonkdim = 8; }),
          "matrix_instr_nonkdim must be 0, 16 or 32, not 8");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.opt_level = 4; }), "opt_level must be 0 to 3");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.size = 0; }),
          "not made by tessera_options_init");
  refused(passes(kKernel, {"no-such-pass"}), "unknown pass 'no-such-pass'");
  refused(passes(kKernel, {nullptr}), "unknown pass ''");
  refused(passes(kKernel, {"cse=x=1"}), "pass 'cse' takes no options");
  refused(passes(passes(kKernel, {"convert-triton-to-tritongpu"}, "sm_80").data, {"tritongpu-pipeline=num-stages=many"},
                 "sm_80"),
          "must be an integer");
  refused(passes(kKernel, {}, "vax"), "unknown target 'vax'");
  refused(compile(kKernel, "sm_80", "ttgir", [](tessera_options &o) { o.num_warps = 64; }),
          "64 warps of 32 threads are 2048 threads per block, but sm_80 allows 1024");
  refused(compile(kKernel, "sm_90a", "ttgir", [](tessera_options &o) { o.num_ctas = 16; }),
          "num-ctas must be a power of two up to 8 on sm_90a, not 16");
  refused(compile(kKernel, "gfx942", "ttgir", [](tessera_options &o) { o.num_warps = 32; }),
          "32 warps of 64 threads are 2048 threads per block, but gfx942 allows 1024");
  Outcome o;
  tessera_context *c = newContext(o);
  EXPECT_EQ(tessera_compile(c, kKernel, sizeof kKernel - 1, nullptr, nullptr, nullptr, nullptr), TESSERA_USAGE);
  tessera_result *r;
  EXPECT_EQ(tessera_compile(c, nullptr, 1, nullptr, nullptr, &r, nullptr), TESSERA_USAGE);
  EXPECT_EQ(r, nullptr);
  EXPECT_EQ(tessera_compile(c, kKernel, sizeof kKernel - 1, nullptr, nullptr, &r, nullptr), TESSERA_USAGE); // no target
  tessera_error *e;
  EXPECT_EQ(tessera_compile(nullptr, kKernel, sizeof kKernel - 1, nullptr, nullptr, &r, &e), TESSERA_USAGE);
  EXPECT_STREQ(tessera_error_message(e), "the context is null");
  EXPECT_EQ(tessera_error_status(e), TESSERA_USAGE);
  tessera_error_destroy(e);
  tessera_context_destroy(c);
}

TEST(CApi, WarningsAreReportedAndNoErrors) {
  Outcome o = compile(kKernel, "sm_90a", "ptx", [](tessera_options &given) { given.num_ctas = 2; });
  EXPECT_EQ(o.status, TESSERA_OK);
  EXPECT_TRUE(o.hasResult);
  EXPECT_THAT(o.texts, HasSubstr("warning: num-ctas = 2"));
}

/// A loop-carried tensor and one that the loop reads, of 128 registers of a thread each, for 4 warps.
TEST(CApi, RequestedWarpsAreAWishUnlessExact) {
  constexpr const char *text = R"(
tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<16384xf32>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %r = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
  %ps = tt.addptr %s, %r : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
  %sum = scf.for %k = %i0 to %n step %i1 iter_args(%acc = %zero) -> (tensor<16384xf32>) : i32 {
    %x = tt.load %ps : tensor<16384x!tt.ptr<f32>>
    %d = arith.addf %acc, %x : tensor<16384xf32>
    scf.yield %d : tensor<16384xf32>
  }
  tt.store %ps, %sum : tensor<16384x!tt.ptr<f32>>
  tt.return
}
)";
  EXPECT_THAT(compile(text, "sm_90a").metadata, HasSubstr("\"num_warps\": 8"));
  EXPECT_THAT(compile(text, "sm_90a", "ptx").metadata, HasSubstr("\"threads_per_block\": 256"));
  auto exact = [](tessera_options &o) { o.exact_num_warps = 1; };
  EXPECT_THAT(compile(text, "sm_90a", "ttgir", exact).metadata, HasSubstr("\"num_warps\": 4"));
}

/// The texts are those that a compilation to each stage gives.
TEST(CApi, OneCompilationGivesAllTexts) {
  tessera_context *c = nullptr;
  ASSERT_EQ(tessera_context_create(nullptr, &c, nullptr), TESSERA_OK);
  for (const char *assembly : {"ptx", "amdgcn"}) {
    bool isPtx = std::string(assembly) == "ptx";
    const char *target = isPtx ? "sm_90a" : "gfx942";
    tessera_options options;
    tessera_options_init(&options, sizeof options);
    options.target = target, options.stage = isPtx ? "ptx" : "hsaco", options.keep_texts = 1;
    tessera_result *r = nullptr;
    ASSERT_EQ(tessera_compile(c, kKernel, std::strlen(kKernel), nullptr, &options, &r, nullptr), TESSERA_OK);
    for (const char *stage : {"ttgir", "llir", assembly}) {
      size_t length = 0;
      const char *text = tessera_result_text(r, stage, &length);
      ASSERT_TRUE(text) << stage;
      EXPECT_EQ(length, std::strlen(text));
      if (std::string(stage) != "ttgir") EXPECT_EQ(text, compile(kKernel, target, stage).data) << stage;
    }
    EXPECT_THAT(tessera_result_text(r, "ttgir", nullptr), HasSubstr("#ttg.blocked"));
    EXPECT_EQ(tessera_result_text(r, "ttir", nullptr), nullptr);
    EXPECT_EQ(tessera_result_text(r, nullptr, nullptr), nullptr);
    tessera_result_destroy(r);
  }
  tessera_result *plain = nullptr;
  tessera_options options;
  tessera_options_init(&options, sizeof options);
  options.target = "sm_90a", options.stage = "ptx";
  ASSERT_EQ(tessera_compile(c, kKernel, std::strlen(kKernel), nullptr, &options, &plain, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_result_text(plain, "ttgir", nullptr), nullptr);
  EXPECT_EQ(tessera_result_text(nullptr, "ttgir", nullptr), nullptr);
  tessera_result_destroy(plain);
  tessera_context_destroy(c);
}

TEST(CApi, RemarksReachTheHandlerOnRequest) {
  Outcome o = compile(kKernel, "gfx942", "hsaco", [](tessera_options &given) { given.remarks = 1; });
  EXPECT_EQ(o.status, TESSERA_OK);
  EXPECT_THAT(o.texts, HasSubstr("registers of a thread"));
  EXPECT_THAT(o.messages, HasSubstr("[codegen:Resources]"));
  EXPECT_EQ(compile(kKernel, "gfx942", "hsaco").texts, "");
}

TEST(CApi, RemarksSayWhichVersionOfTheKernelTheyAreAbout) {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/golden/ttgir/remarks_of_versions.mlir");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  using Versions = std::map<std::string, std::set<std::string>>; // by the remark's name
  Versions versions;
  auto take = [](const tessera_diagnostic *d, void *user) {
    std::string message = d->message;
    size_t name = message.rfind(':') + 1;
    (*static_cast<Versions *>(user))[message.substr(name, message.find(']', name) - name)].insert(d->version);
    EXPECT_EQ(message.back() == ')', *d->version != 0) << message;
  };
  tessera_context_options of;
  tessera_context_options_init(&of, sizeof of);
  of.handler = take, of.user = &versions;
  tessera_context *c = nullptr;
  ASSERT_EQ(tessera_context_create(&of, &c, nullptr), TESSERA_OK);
  tessera_options options;
  tessera_options_init(&options, sizeof options);
  options.target = "sm_90a", options.stage = "ptx", options.remarks = 1;
  tessera_result *r = nullptr;
  ASSERT_EQ(tessera_compile(c, text.data(), text.size(), nullptr, &options, &r, nullptr), TESSERA_OK);
  tessera_result_destroy(r);
  tessera_context_destroy(c);
  EXPECT_EQ(versions["LoopPipelined"], (std::set<std::string>{"aligned", "general"}));
  EXPECT_EQ(versions["AlignmentVersions"], std::set<std::string>{""});
  EXPECT_EQ(versions["SharedMemory"], std::set<std::string>{""});
}

TEST(CApi, Layouts) {
  const char *layout = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>";
  auto draw = [&](const char *what, const char *tensor, const char *format) {
    Outcome o;
    tessera_context *c = newContext(o);
    tessera_result *r = nullptr;
    tessera_error *e = nullptr;
    o.status = tessera_layout(c, what, tensor, format, &r, &e);
    finish(o, r);
    checkError(o, e);
    tessera_context_destroy(c);
    return o;
  };
  EXPECT_THAT(draw(layout, "tensor<128xf32>", "text").data, HasSubstr("T31:3"));
  EXPECT_THAT(draw(layout, "tensor<128xf32>", "hardware").data, HasSubstr("Warp0"));
  EXPECT_THAT(draw(layout, "tensor<128xf32>", "svg").data, HasSubstr("<svg"));
  EXPECT_THAT(draw(layout, "tensor<128xf32>", "html").data, HasSubstr("<html"));
  EXPECT_EQ(draw(layout, "tensor<128xf32>", "png").status, TESSERA_USAGE);
  EXPECT_EQ(draw(layout, "tensor<128xf32>", nullptr).status, TESSERA_USAGE);
  EXPECT_EQ(draw(layout, "f32", "text").status, TESSERA_INPUT);
  EXPECT_EQ(draw(layout, "tensor<4194304xf32>", "text").status, TESSERA_INPUT);
  EXPECT_EQ(draw("#ttg.nothing", "tensor<128xf32>", "text").status, TESSERA_INPUT);
  EXPECT_EQ(draw(nullptr, nullptr, "text").status, TESSERA_INPUT);
}

TEST(CApi, MissingToolsAreFailures) {
  // A file that is there and no library: it is opened when it is needed.
  setenv("TESSERA_PTXAS", "none", 1), setenv("TESSERA_NVJITLINK", "/etc/passwd", 1);
  Outcome o = compile(kKernel, "sm_80", "cubin");
  unsetenv("TESSERA_PTXAS"), unsetenv("TESSERA_NVJITLINK");
  EXPECT_EQ(o.status, TESSERA_FAILED);
  EXPECT_THAT(o.messages, HasSubstr("cannot load /etc/passwd"));
}

TEST(CApi, ValuesOfTheEnvironmentAreUsage) {
  setenv("TESSERA_PTXAS_SECONDS", "soon", 1);
  Outcome object = compile(kKernel, "sm_80", "cubin"), text = compile(kKernel, "sm_80", "ptx");
  unsetenv("TESSERA_PTXAS_SECONDS");
  EXPECT_EQ(object.status, TESSERA_USAGE);
  EXPECT_THAT(object.messages, HasSubstr("TESSERA_PTXAS_SECONDS must be a whole number of seconds"));
  EXPECT_EQ(text.status, TESSERA_OK); // reads no such variable
  setenv("TESSERA_PTXAS", "/no/ptxas", 1);
  object = compile(kKernel, "sm_80", "cubin"), text = compile(kKernel, "sm_80", "ptx");
  unsetenv("TESSERA_PTXAS");
  EXPECT_EQ(object.status, TESSERA_USAGE);
  EXPECT_THAT(object.messages, HasSubstr("ptxas (CUDA toolkit) not found: TESSERA_PTXAS is set to '/no/ptxas'"));
  EXPECT_EQ(text.status, TESSERA_OK);
}

/// Programs built with an older header give fewer options.
TEST(CApi, OptionsThatTheCallerDoesNotKnowAreDefaults) {
  Outcome o = compile(kKernel, "sm_80", "ttgir", [](tessera_options &given) {
    given.num_warps = 3; // not seen
    given.size = offsetof(tessera_options, num_warps);
  });
  EXPECT_EQ(o.status, TESSERA_OK) << o.texts;
  EXPECT_THAT(o.data, HasSubstr("\"ttg.num-warps\" = 4"));
}

TEST(CApi, ThreadsGetWhatOneGets) {
  std::vector<std::string> targets;
  for (size_t i = 0; const char *t = tessera_target(i); ++i) targets.push_back(t);
  ASSERT_GE(targets.size(), 12u);
  std::vector<std::string> alone;
  for (auto &t : targets) alone.push_back(compile(kKernel, t.c_str(), "llir").data);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (size_t i = 0; i < targets.size(); ++i) {
        size_t t = (i + k * 3) % targets.size();
        wrong += compile(kKernel, targets[t].c_str(), "llir").data != alone[t] || alone[t].empty();
        wrong += compile("tt.func @k() { bad }", targets[t].c_str()).status != TESSERA_INPUT;
      }
    });
  for (auto &t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

/// In a build with shared LLVM the host program's handler is LLVM's again after a compilation.
TEST(CApi, HostProgramKeepsItsHandlerOfFatalErrors) {
  using Report = void (*)(const char *reason, bool crashDiagnostics);
  auto report = reinterpret_cast<Report>(dlsym(RTLD_DEFAULT, "_ZN4llvm18report_fatal_errorEPKcb"));
  if (!report) GTEST_SKIP() << "the library has its own LLVM";
  EXPECT_EXIT(
      {
        auto host = [](void *user, const char *reason, bool) {
          std::fprintf(stderr, "%s: %s\n", static_cast<const char *>(user), reason);
          std::_Exit(7);
        };
        char name[] = "the host's";
        tessera_set_fatal_error_handler(host, name);
        if (compile(kKernel, "gfx942", "amdgcn").status) std::_Exit(1);
        report("later", true);
      },
      ::testing::ExitedWithCode(7), "the host's: later");
}

TEST(CApi, NothingIsFine) {
  tessera_result_destroy(nullptr);
  size_t length = 1;
  EXPECT_STREQ(tessera_result_data(nullptr, &length), "");
  EXPECT_EQ(length, 0u);
  EXPECT_STREQ(tessera_result_metadata(nullptr), "");
  tessera_error_destroy(nullptr), tessera_context_destroy(nullptr), tessera_device_destroy(nullptr),
      tessera_device_list_destroy(nullptr), tessera_buffer_destroy(nullptr), tessera_kernel_destroy(nullptr);
  EXPECT_EQ(tessera_error_status(nullptr), TESSERA_OK);
  EXPECT_STREQ(tessera_error_message(nullptr), "");
  EXPECT_STREQ(tessera_error_text(nullptr), "");
  EXPECT_EQ(tessera_device_list_count(nullptr), 0u);
  EXPECT_EQ(tessera_device_list_info(nullptr, 0), nullptr);
  EXPECT_EQ(tessera_device_describe(nullptr), nullptr);
  EXPECT_EQ(tessera_buffer_bytes(nullptr), 0u);
  EXPECT_STREQ(tessera_kernel_metadata(nullptr), "");
  tessera_options_init(nullptr, 8), tessera_context_options_init(nullptr, 8);
  EXPECT_NE(std::strlen(tessera_version()), 0u);
}

} // namespace
