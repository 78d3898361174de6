// The C API's tuning: on emulators of both vendors and on stand-ins for the drivers of GPUs (tests/fakes) what is
// measured and what is best, that the caller's buffers stay as they are, and every request that is invalid.
#include "session.h"
#include <cstring>
#include <gmock/gmock.h>

namespace {
using ::testing::HasSubstr;

struct Tuning {
  Session s;
  tessera_module *module = nullptr;
  tessera_tuning *result = nullptr;
  std::vector<tessera_options> options;

  explicit Tuning(const char *spec, const char *text = kAxpy) : s(spec) {
    EXPECT_EQ(tessera_module_parse(s.context, text, strlen(text), "axpy.ttir", &module, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
  }
  ~Tuning() { tessera_module_destroy(module), tessera_tuning_destroy(result); }
  tessera_options &add(int warps, int stages = 1) {
    auto &o = options.emplace_back();
    tessera_options_init(&o, sizeof o);
    o.num_warps = warps, o.num_stages = stages;
    return o;
  }
  tessera_status tune(tessera_error **error = nullptr, int repetitions = 3, const uint32_t *grid = kGrid) {
    std::vector<const tessera_options *> all;
    for (auto &o : options) all.push_back(&o);
    tessera_tuning_destroy(result);
    return tessera_tune(s.device, module, all.data(), all.size(), grid, s.arguments.data(), s.arguments.size(),
                        repetitions, &result, error);
  }
  const tessera_measurement &at(size_t i) { return *tessera_tuning_measurement(result, i); }
};

class TuneOnEmulator : public testing::TestWithParam<const char *> {};

TEST_P(TuneOnEmulator, ReportsWhatBecomesOfEach) {
  Tuning t(GetParam());
  ASSERT_EQ(t.s.prepare(), TESSERA_OK) << t.s.diagnostics.texts;
  std::vector<float> nothing(kN, -1), after(kN);
  ASSERT_EQ(tessera_buffer_write(t.s.o, 0, nothing.data(), kN * 4, nullptr), TESSERA_OK);
  t.add(8), t.add(1), t.add(1, 4), t.add(64);
  ASSERT_EQ(t.tune(), TESSERA_OK) << t.s.diagnostics.texts;
  ASSERT_EQ(tessera_tuning_count(t.result), 4u);
  EXPECT_EQ(tessera_tuning_measurement(t.result, 4), nullptr);
  EXPECT_EQ(t.at(0).outcome, TESSERA_MEASURED) << t.at(0).reason;
  EXPECT_EQ(t.at(1).outcome, TESSERA_MEASURED) << t.at(1).reason;
  EXPECT_GT(t.at(1).instructions, 0u);
  EXPECT_LT(t.at(1).instructions, t.at(0).instructions); // 256 elements: fewer warps do the same work
  EXPECT_EQ(t.at(1).times.median_ms, 0);
  EXPECT_THAT(t.at(1).metadata, HasSubstr("\"num_warps\": 1,"));
  EXPECT_EQ(t.at(2).outcome, TESSERA_SAME_CODE); // there is no loop
  EXPECT_EQ(t.at(2).same_as, 1u);
  EXPECT_EQ(t.at(2).instructions, t.at(1).instructions);
  EXPECT_EQ(t.at(3).outcome, TESSERA_NOT_COMPILED);
  EXPECT_THAT(t.at(3).reason, HasSubstr("allows 1024"));
  EXPECT_STREQ(t.at(3).metadata, "");
  EXPECT_EQ(tessera_tuning_best(t.result), 1u);
  // On copies.
  ASSERT_EQ(tessera_buffer_read(t.s.o, 0, after.data(), kN * 4, nullptr), TESSERA_OK);
  EXPECT_EQ(after, nothing);
  EXPECT_EQ(t.s.launch(), TESSERA_OK);
  EXPECT_EQ(t.s.wrong(), 0);
}

/// A launch that fails, and offsets: the copies end where the buffers do.
TEST_P(TuneOnEmulator, FaultsAreReasons) {
  Tuning t(GetParam());
  ASSERT_EQ(t.s.prepare(), TESSERA_OK) << t.s.diagnostics.texts;
  t.add(4);
  t.s.n = 200;
  t.s.arguments[0].offset = 4 * (kN - 200);
  ASSERT_EQ(t.tune(), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.at(0).outcome, TESSERA_MEASURED) << t.at(0).reason;
  t.s.arguments[0].offset += 4;
  ASSERT_EQ(t.tune(), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.at(0).outcome, TESSERA_RUN_FAILED);
  EXPECT_THAT(t.at(0).reason, HasSubstr("out of bounds"));
  EXPECT_EQ(tessera_tuning_best(t.result), 1u);
}

/// A pointer into the middle of its buffer: what lies before it is copied, too.
TEST_P(TuneOnEmulator, KernelsMayReadBeforeAnOffset) {
  constexpr const char *kBackwards = R"(
tt.func public @axpy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %a: f32, %n: i32) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %back = arith.constant dense<-128> : tensor<128xi32>
  %j = arith.addi %i, %back : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %j : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %c128 = arith.constant 128 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c128 : i32
  %fs = tt.splat %first : i32 -> tensor<128xi32>
  %k = arith.addi %fs, %i : tensor<128xi32>
  %op = tt.addptr %os, %k : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %op, %v : tensor<128x!tt.ptr<f32>>
  tt.return
}
)";
  Tuning t(GetParam(), kBackwards);
  ASSERT_EQ(t.s.prepare(), TESSERA_OK) << t.s.diagnostics.texts;
  t.add(4);
  t.s.arguments[0].offset = 4 * 128;
  ASSERT_EQ(t.tune(), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.at(0).outcome, TESSERA_MEASURED) << t.at(0).reason;
  t.s.arguments[0].offset = 4 * 127;
  ASSERT_EQ(t.tune(), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.at(0).outcome, TESSERA_RUN_FAILED);
}

TEST_P(TuneOnEmulator, WhatCannotBeRequestedIsRefused) {
  Tuning t(GetParam());
  ASSERT_EQ(t.s.prepare(), TESSERA_OK) << t.s.diagnostics.texts;
  auto good = t.s.arguments;
  auto refused = [&](const char *why, tessera_status status = TESSERA_USAGE, int repetitions = 1,
                     const uint32_t *grid = kGrid) {
    tessera_error *e;
    EXPECT_EQ(t.tune(&e, repetitions, grid), status) << why;
    EXPECT_EQ(t.result, nullptr);
    EXPECT_THAT(tessera_error_message(e), HasSubstr(why));
    tessera_error_destroy(e);
    t.s.arguments = good;
    t.options.clear();
    t.add(4);
  };
  refused("there are no options to try");
  t.add(3);
  refused("num_warps must be a power of two up to 64, not 3");
  t.add(4).target = "gfx1200";
  refused("options 1 are for gfx1200, and emulator:");
  t.add(4).kernel = "axpy";
  refused("options 1 are for kernel 'axpy', and the first for ''");
  t.options[0].kernel = "other";
  refused("no kernel 'other'", TESSERA_INPUT);
  t.options[0].size = 3;
  refused("not made by tessera_options_init");
  refused("repetitions must be at least 1, not 0", TESSERA_USAGE, 0);
  refused("the grid is null", TESSERA_USAGE, 1, nullptr);
  t.s.arguments.pop_back();
  refused("kernel 'axpy' takes 5 arguments, but 4 are given");
  t.s.arguments[2].buffer = t.s.x;
  refused("argument 2 ('arg2') of kernel 'axpy' is of the buffer of argument 0: each has a copy of its own here");
  const tessera_options *null = nullptr;
  EXPECT_EQ(tessera_tune(t.s.device, t.module, &null, 1, kGrid, good.data(), good.size(), 1, &t.result, nullptr),
            TESSERA_USAGE);
  const tessera_options *one = &t.options[0];
  EXPECT_EQ(tessera_tune(t.s.device, t.module, &one, 1, kGrid, good.data(), good.size(), 1, nullptr, nullptr),
            TESSERA_USAGE);
  EXPECT_EQ(tessera_tune(t.s.device, nullptr, &one, 1, kGrid, good.data(), good.size(), 1, &t.result, nullptr),
            TESSERA_USAGE);
  EXPECT_EQ(tessera_tune(nullptr, t.module, &one, 1, kGrid, good.data(), good.size(), 1, &t.result, nullptr),
            TESSERA_USAGE);
  EXPECT_EQ(t.tune(), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.at(0).outcome, TESSERA_MEASURED);
}

INSTANTIATE_TEST_SUITE_P(Devices, TuneOnEmulator, testing::Values("emulator:sm_90a", "emulator:gfx942"),
                         [](auto &p) { return std::string(p.param + strlen("emulator:")); });

TEST(CApiTuning, TheInterpreterIsNotMeasured) {
  Tuning t("interpreter");
  ASSERT_EQ(t.s.prepare(), TESSERA_OK) << t.s.diagnostics.texts;
  t.add(4);
  EXPECT_EQ(t.tune(), TESSERA_USAGE);
  EXPECT_THAT(t.s.diagnostics.texts, HasSubstr("the interpreter's time says nothing of a kernel"));
  EXPECT_EQ(tessera_tuning_count(nullptr), 0u);
  EXPECT_EQ(tessera_tuning_measurement(nullptr, 0), nullptr);
  tessera_tuning_destroy(nullptr);
}

class TuneOnGpu : public testing::TestWithParam<Gpu> {};

/// The stand-ins' clock says half a millisecond of everything, so that the first is best; what was taken is given back.
TEST_P(TuneOnGpu, TakesTheTime) {
  auto held = GetParam().held();
  ASSERT_TRUE(held) << dlerror();
  {
    Tuning t(GetParam().spec);
    if (auto status = t.s.prepare();
        status == TESSERA_FAILED && t.s.diagnostics.texts.find("no tool to compile PTX") != std::string::npos)
      GTEST_SKIP() << t.s.diagnostics.texts;
    else
      ASSERT_EQ(status, TESSERA_OK) << t.s.diagnostics.texts;
    t.add(2), t.add(4), t.add(4, 2);
    int before = held();
    ASSERT_EQ(t.tune(), TESSERA_OK) << t.s.diagnostics.texts;
    EXPECT_EQ(held(), before);
    EXPECT_EQ(t.at(0).outcome, TESSERA_MEASURED) << t.at(0).reason;
    EXPECT_EQ(t.at(0).times.median_ms, 0.5);
    EXPECT_EQ(t.at(0).instructions, 0u);
    EXPECT_EQ(t.at(1).outcome, TESSERA_MEASURED) << t.at(1).reason;
    EXPECT_EQ(t.at(2).outcome, TESSERA_SAME_CODE);
    EXPECT_EQ(tessera_tuning_best(t.result), 0u);
    uint64_t address = 4096;
    t.s.arguments[0] = tessera_argument_value(&address, sizeof address);
    EXPECT_EQ(t.tune(), TESSERA_USAGE);
    EXPECT_THAT(t.s.diagnostics.texts, HasSubstr("is an address, of whose memory there is no copy"));
  }
  EXPECT_EQ(held(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, TuneOnGpu, testing::ValuesIn(kGpus), [](auto &p) { return p.param.name(); });

} // namespace
