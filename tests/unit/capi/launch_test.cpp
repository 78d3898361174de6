// The C API's devices, buffers and kernels, on the interpreter, an emulator of either vendor, and stand-ins
// for the drivers of GPUs (tests/fakes): what a launch computes, every request that is invalid, and that
// handles may be destroyed in any order.
#include "session.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace {
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OnDevice : public testing::TestWithParam<const char *> {};

TEST_P(OnDevice, Launches) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  EXPECT_THAT(tessera_kernel_metadata(s.kernel), HasSubstr("\"kernel\": \"axpy\""));
  EXPECT_EQ(s.launch(), TESSERA_OK) << s.diagnostics.texts;
  EXPECT_EQ(s.wrong(), 0);
  s.a = -7; // read at every launch
  EXPECT_EQ(s.wrong(), kN - 1);
  EXPECT_EQ(s.launch(), TESSERA_OK);
  EXPECT_EQ(s.wrong(), 0);
  tessera_times t;
  EXPECT_EQ(tessera_time(s.kernel, kGrid, s.arguments.data(), s.arguments.size(), 3, &t, nullptr), TESSERA_OK);
  EXPECT_GT(t.min_ms, 0);
  EXPECT_LE(t.min_ms, t.median_ms);
  EXPECT_STREQ(tessera_device_describe(s.device)->spec, GetParam());
}

TEST_P(OnDevice, OffsetsAndSharedBuffers) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  // Elements 100 to 163 in place: o = x, both from element 100 on.
  s.n = 64;
  s.arguments[0].offset = s.arguments[2].offset = 400;
  s.arguments[2].buffer = s.x;
  uint32_t one[3] = {1, 1, 1};
  EXPECT_EQ(s.launch(one), TESSERA_OK) << s.diagnostics.texts;
  std::vector<float> out(kN);
  EXPECT_EQ(tessera_buffer_read(s.x, 0, out.data(), kN * 4, nullptr), TESSERA_OK);
  for (int i = 0; i < kN; ++i)
    EXPECT_EQ(out[i], i < 100 || i >= 164 ? float(i) : 2 * float(i) + float(1000 - 3 * (i - 100))) << i;
}

TEST_P(OnDevice, FaultsOfTheKernelAreReported) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  s.n = 100000; // beyond the buffers
  tessera_error *e;
  EXPECT_EQ(tessera_launch(s.kernel, kGrid, s.arguments.data(), s.arguments.size(), &e), TESSERA_FAILED);
  EXPECT_THAT(tessera_error_text(e), HasSubstr("axpy"));
  EXPECT_THAT(tessera_error_text(e), HasSubstr("axpy.ttir:1")); // in lines 14 and after
  tessera_error_destroy(e);
  s.n = kN;
  EXPECT_EQ(s.launch(), TESSERA_OK); // and the device is fine
  EXPECT_EQ(s.wrong(), 0);
  s.arguments[0] = tessera_argument_value(&s.context, 0);
  void *null = nullptr;
  s.arguments[0] = tessera_argument_value(&null, sizeof null);
  EXPECT_EQ(s.launch(), TESSERA_FAILED);
}

TEST_P(OnDevice, ReadsOfWhatNothingWroteAreFaults) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  ASSERT_EQ(tessera_buffer_undefine(s.o, 0, kN * 4, nullptr), TESSERA_OK);
  EXPECT_EQ(s.launch(), TESSERA_OK) << s.diagnostics.texts; // the kernel writes it all
  ASSERT_EQ(tessera_buffer_undefine(s.x, 400, 4, nullptr), TESSERA_OK);
  tessera_error *e;
  ASSERT_EQ(tessera_launch(s.kernel, kGrid, s.arguments.data(), s.arguments.size(), &e), TESSERA_FAILED);
  EXPECT_THAT(tessera_error_text(e), HasSubstr("which nothing ever wrote"));
  EXPECT_THAT(tessera_error_text(e), HasSubstr("byte 400 of"));
  tessera_error_destroy(e);
  float value = 100;
  ASSERT_EQ(tessera_buffer_write(s.x, 400, &value, 4, nullptr), TESSERA_OK);
  EXPECT_EQ(s.launch(), TESSERA_OK) << s.diagnostics.texts;
  EXPECT_EQ(s.wrong(), 0);
  EXPECT_EQ(tessera_buffer_undefine(s.x, kN * 4, 1, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_buffer_undefine(nullptr, 0, 1, nullptr), TESSERA_USAGE);
}

TEST_P(OnDevice, WrongArgumentsAreRefused) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  Session other(GetParam() == std::string("interpreter") ? "emulator:gfx90a" : "interpreter");
  ASSERT_EQ(other.prepare(), TESSERA_OK);
  std::vector<tessera_argument> good = s.arguments;
  auto refused = [&](const char *why, const uint32_t *grid = kGrid) {
    tessera_error *e;
    EXPECT_EQ(tessera_launch(s.kernel, grid, s.arguments.data(), s.arguments.size(), &e), TESSERA_USAGE);
    EXPECT_THAT(tessera_error_message(e), HasSubstr(why));
    tessera_error_destroy(e);
    tessera_times t;
    EXPECT_EQ(tessera_time(s.kernel, grid, s.arguments.data(), s.arguments.size(), 1, &t, nullptr), TESSERA_USAGE);
    EXPECT_EQ(t.median_ms, 0);
    s.arguments = good;
  };
  s.arguments.pop_back();
  refused("kernel 'axpy' takes 5 arguments, but 4 are given");
  s.arguments.clear();
  refused("kernel 'axpy' takes 5 arguments, but 0 are given");
  for (size_t count : {size_t(6), SIZE_MAX / 2, SIZE_MAX}) // of which nobody may read even the first
    for (const tessera_argument *arguments : {(const tessera_argument *)nullptr, (const tessera_argument *)8}) {
      tessera_error *e;
      EXPECT_EQ(tessera_launch(s.kernel, kGrid, arguments, count, &e), TESSERA_USAGE);
      EXPECT_THAT(tessera_error_message(e), HasSubstr("kernel 'axpy' takes 5 arguments, but "));
      tessera_error_destroy(e);
    }
  std::swap(s.arguments[0], s.arguments[4]);
  refused("argument 0 ('arg0') of kernel 'axpy' is of type *f32, of 8 bytes, and a value of 4 is given");
  s.arguments[4] = tessera_argument_buffer(s.x);
  refused("argument 4 ('arg4') of kernel 'axpy' is of type i32, and a buffer is given");
  int64_t wide = 1;
  s.arguments[4] = tessera_argument_value(&wide, sizeof wide);
  refused("is of type i32, of 4 bytes, and a value of 8 is given");
  s.arguments[3] = tessera_argument_value(nullptr, 4);
  refused("the value of argument 3 ('arg3') of kernel 'axpy' is null");
  s.arguments[1].offset = kN * 4 + 1;
  refused("1201 bytes into a buffer of 1200");
  s.arguments[0] = tessera_argument_buffer(other.x);
  refused("is a buffer of");
  s.arguments[0] = tessera_argument_buffer(nullptr);
  refused("of type *f32, of 8 bytes, and a value of 0 is given");
  s.arguments[0] = tessera_argument_value(&wide, sizeof wide);
  refused("a buffer is needed");
  refused("the grid is null", nullptr);
  uint32_t empty[3] = {1, 0, 1}, large[3] = {0x80000000u, 1, 1}, largeTogether[3] = {1 << 20, 60000, 60000};
  refused("the grid (1, 0, 1) is empty", empty);
  refused("is too large", large);
  refused("is too large", largeTogether);
  tessera_times t;
  EXPECT_EQ(tessera_time(s.kernel, kGrid, s.arguments.data(), s.arguments.size(), 0, &t, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_time(s.kernel, kGrid, s.arguments.data(), s.arguments.size(), 1, nullptr, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_time(nullptr, kGrid, nullptr, 0, 1, &t, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_launch(nullptr, kGrid, nullptr, 0, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_launch(s.kernel, kGrid, nullptr, 5, nullptr), TESSERA_USAGE);
  EXPECT_EQ(s.launch(), TESSERA_OK);
}

TEST_P(OnDevice, PiecesOfBuffers) {
  Session s(GetParam());
  tessera_error *e;
  EXPECT_EQ(tessera_buffer_create(s.device, 16, &s.x, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_buffer_bytes(s.x), 16u);
  char host[32] = {};
  for (auto [offset, bytes] :
       {std::pair<size_t, size_t>{0, 17}, {16, 1}, {17, 0}, {1, SIZE_MAX}, {SIZE_MAX, 1}, {SIZE_MAX, SIZE_MAX}}) {
    EXPECT_EQ(tessera_buffer_write(s.x, offset, host, bytes, &e), TESSERA_USAGE);
    EXPECT_THAT(tessera_error_message(e), HasSubstr("do not lie in a buffer of 16"));
    tessera_error_destroy(e);
    EXPECT_EQ(tessera_buffer_read(s.x, offset, host, bytes, nullptr), TESSERA_USAGE);
  }
  EXPECT_EQ(tessera_buffer_write(s.x, 16, host, 0, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_buffer_read(s.x, 0, nullptr, 0, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_buffer_read(s.x, 0, nullptr, 1, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_buffer_write(nullptr, 0, host, 1, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_buffer_read(nullptr, 0, host, 1, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_buffer_create(s.device, 0, &s.y, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_buffer_create(s.device, 16, nullptr, nullptr), TESSERA_USAGE);
  tessera_buffer *none = s.x;
  EXPECT_EQ(tessera_buffer_create(nullptr, 16, &none, nullptr), TESSERA_USAGE);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(tessera_buffer_create(s.device, SIZE_MAX / 2, &none, &e), TESSERA_FAILED);
  EXPECT_THAT(tessera_error_message(e), HasSubstr("for a buffer"));
  tessera_error_destroy(e);
}

/// Limits of the target's row in the table; the interpreter has none.
TEST(Devices, SayWhatABlockOfTheirTargetCanHave) {
  struct {
    const char *spec;
    uint64_t sharedBytes;
    uint32_t lanes;
  } const devices[] = {{"interpreter", 0, 0},
                       {"emulator:sm_86", 99 << 10, 32},
                       {"emulator:sm_90a", 227 << 10, 32},
                       {"emulator:gfx950", 160 << 10, 64},
                       {"emulator:gfx1201", 64 << 10, 32}};
  for (auto &d : devices) {
    Session s(d.spec);
    auto *info = tessera_device_describe(s.device);
    EXPECT_EQ(info->shared_bytes_per_block, d.sharedBytes) << d.spec;
    EXPECT_EQ(info->threads_per_warp, d.lanes) << d.spec;
  }
}

/// A kernel compiled ahead and loaded from its bytes does what one compiled for the device does.
TEST_P(OnDevice, LoadsWhatWasCompiledBefore) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  auto *info = tessera_device_describe(s.device);
  std::string data = kAxpy, metadata;
  if (*info->target) {
    tessera_options o;
    tessera_options_init(&o, sizeof o);
    o.target = info->target, o.stage = info->stage;
    tessera_result *r;
    ASSERT_EQ(tessera_compile(s.context, kAxpy, sizeof kAxpy - 1, "axpy.ttir", &o, &r, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    size_t length;
    const char *bytes = tessera_result_data(r, &length);
    data.assign(bytes, length), metadata = tessera_result_metadata(r);
    tessera_result_destroy(r);
  }
  tessera_kernel_destroy(s.kernel);
  ASSERT_EQ(tessera_kernel_load(s.device, data.data(), data.size(), metadata.c_str(), &s.kernel, nullptr), TESSERA_OK)
      << s.diagnostics.texts;
  EXPECT_EQ(s.launch(), TESSERA_OK) << s.diagnostics.texts;
  EXPECT_EQ(s.wrong(), 0);

  auto refused = [&](const std::string &object, const char *md, const char *why,
                     tessera_status status = TESSERA_USAGE) {
    tessera_kernel *k = s.kernel;
    tessera_error *e;
    EXPECT_EQ(tessera_kernel_load(s.device, object.data(), object.size(), md, &k, &e), status);
    EXPECT_EQ(k, nullptr);
    EXPECT_THAT(tessera_error_text(e), HasSubstr(why));
    tessera_error_destroy(e);
  };
  refused(data, "{", "metadata:1:");
  refused(data, "{}", "kernel");
  if (!*info->target) {
    refused("nonsense", nullptr, "<text>:1:1: error:", TESSERA_INPUT);
    return;
  }
  refused(data, nullptr, "the metadata is missing");
  refused("nonsense", metadata.c_str(), "");
  if (std::string(info->stage) == "bitcode") {
    // LLVM's reader may crash on bitcode with a bit that is another.
    for (size_t at : {size_t(0), size_t(30), data.size() / 3, data.size() / 2, data.size() - 1}) {
      std::string damaged = data;
      damaged[at] ^= 4;
      refused(damaged, metadata.c_str(), "the emulator cannot read the object: it is ");
    }
    refused(data.substr(0, data.size() - 4), metadata.c_str(), "damaged");
    refused(data.substr(0, 10), metadata.c_str(), "no bitcode of this compiler's");
  }
  std::string many = metadata;
  many.replace(many.find("\"threads_per_block\": ") + 21, 3, "5000");
  refused(data, many.c_str(), "threads_per_block: must be");
  // What `--emit ttgir` says of a kernel.
  std::regex bytes("\"dynamic_shared_bytes\": [0-9]+");
  refused(data, std::regex_replace(metadata, bytes, "\"dynamic_shared_bytes\": null").c_str(),
          "the metadata says nothing of a launch");
  std::string other = metadata;
  other.replace(other.find(info->target), strlen(info->target), "vax");
  refused(data, other.c_str(), "the object is for vax");
}

TEST_P(OnDevice, ThreadsShareAKernel) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      tessera_buffer *mine;
      failed += tessera_buffer_create(s.device, kN * 4, &mine, nullptr) != TESSERA_OK;
      auto args = s.arguments;
      args[2].buffer = mine;
      failed += tessera_launch(s.kernel, kGrid, args.data(), args.size(), nullptr) != TESSERA_OK;
      std::vector<float> out(kN);
      failed += tessera_buffer_read(mine, 0, out.data(), kN * 4, nullptr) != TESSERA_OK;
      for (int i = 0; i < kN; ++i) failed += out[i] != 2 * float(i) + float(1000 - 3 * i);
      tessera_buffer_destroy(mine);
    });
  for (auto &t : threads) t.join();
  EXPECT_EQ(failed, 0);
}

TEST_P(OnDevice, StreamsAndEvents) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  tessera_stream *one, *two;
  tessera_event *start, *stop;
  for (auto *st : {&one, &two})
    ASSERT_EQ(tessera_stream_create(s.device, st, nullptr), TESSERA_OK) << s.diagnostics.texts;
  for (auto *e : {&start, &stop})
    ASSERT_EQ(tessera_event_create(s.device, e, nullptr), TESSERA_OK) << s.diagnostics.texts;
  EXPECT_EQ(tessera_stream_native(one), nullptr);
  double ms = -1;
  EXPECT_EQ(tessera_event_elapsed(start, stop, &ms, nullptr), TESSERA_USAGE); // neither is recorded
  EXPECT_EQ(tessera_stream_wait(two, stop, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_event_record(start, one, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_stream_launch(one, s.kernel, kGrid, s.arguments.data(), s.arguments.size(), nullptr), TESSERA_OK)
      << s.diagnostics.texts;
  EXPECT_EQ(tessera_event_record(stop, one, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_stream_wait(two, stop, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_event_elapsed(start, stop, &ms, nullptr), TESSERA_OK);
  EXPECT_GT(ms, 0);
  EXPECT_EQ(tessera_stream_synchronize(one, nullptr), TESSERA_OK);
  EXPECT_EQ(s.wrong(), 0);
  // What cannot be.
  tessera_error *e;
  EXPECT_EQ(tessera_stream_launch(one, s.kernel, kGrid, s.arguments.data(), 4, &e), TESSERA_USAGE);
  EXPECT_THAT(tessera_error_message(e), HasSubstr("takes 5 arguments"));
  tessera_error_destroy(e);
  tessera_stream *none;
  EXPECT_EQ(tessera_stream_adopt(s.device, nullptr, &none, &e), TESSERA_USAGE);
  EXPECT_THAT(tessera_error_message(e), HasSubstr("no driver whose stream could be adopted"));
  EXPECT_EQ(none, nullptr);
  tessera_error_destroy(e);
  EXPECT_EQ(tessera_stream_launch(nullptr, s.kernel, kGrid, nullptr, 0, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_stream_launch(one, nullptr, kGrid, nullptr, 0, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_stream_synchronize(nullptr, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_event_record(nullptr, one, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_event_record(start, nullptr, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_stream_create(nullptr, &none, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_event_create(s.device, nullptr, nullptr), TESSERA_USAGE);
  Session other("emulator:gfx1100");
  tessera_event *elsewhere;
  ASSERT_EQ(tessera_event_create(other.device, &elsewhere, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_event_record(elsewhere, one, nullptr), TESSERA_USAGE);
  tessera_event_destroy(elsewhere);
  tessera_stream *strange;
  ASSERT_EQ(tessera_stream_create(other.device, &strange, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_stream_launch(strange, s.kernel, kGrid, s.arguments.data(), s.arguments.size(), nullptr),
            TESSERA_USAGE);
  tessera_stream_destroy(strange);
  // After their device.
  tessera_device_destroy(s.device), s.device = nullptr;
  tessera_stream_destroy(one), tessera_stream_destroy(two), tessera_event_destroy(start), tessera_event_destroy(stop);
}

/// x[i] = 2 * x[i] with fewer elements than threads: one warp of several loads and stores it.
TEST_P(OnDevice, OneBufferAsInputAndOutput) {
  const std::string text = R"(module {
  tt.func public @twice(%p: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %a : tensor<64x!tt.ptr<f32>>
    %y = arith.addf %x, %x : tensor<64xf32>
    %t = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %b = tt.addptr %t, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %b, %y : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
)";
  Session s(GetParam());
  tessera_options o;
  tessera_options_init(&o, sizeof o);
  o.num_warps = 8;
  ASSERT_EQ(tessera_kernel_compile(s.device, text.data(), text.size(), "k", &o, &s.kernel, nullptr), TESSERA_OK)
      << s.diagnostics.texts;
  ASSERT_EQ(tessera_buffer_create(s.device, 64 * 4, &s.x, nullptr), TESSERA_OK);
  std::vector<float> values(64), out(64);
  for (int i = 0; i < 64; ++i) values[i] = float(i);
  ASSERT_EQ(tessera_buffer_write(s.x, 0, values.data(), 64 * 4, nullptr), TESSERA_OK);
  tessera_argument argument = tessera_argument_buffer(s.x);
  const uint32_t grid[3] = {1, 1, 1};
  EXPECT_EQ(tessera_launch(s.kernel, grid, &argument, 1, nullptr), TESSERA_OK) << s.diagnostics.texts;
  ASSERT_EQ(tessera_buffer_read(s.x, 0, out.data(), 64 * 4, nullptr), TESSERA_OK);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], float(2 * i));
}

/// The interpreter does not read them, but takes no values that other devices refuse.
TEST_P(OnDevice, OptionsAreChecked) {
  Session s(GetParam());
  tessera_options o;
  auto refused = [&](const char *why) {
    tessera_error *e;
    EXPECT_EQ(tessera_kernel_compile(s.device, kAxpy, strlen(kAxpy), "k.ttir", &o, &s.kernel, &e), TESSERA_USAGE);
    EXPECT_THAT(tessera_error_text(e), HasSubstr(why));
    tessera_error_destroy(e);
  };
  tessera_options_init(&o, sizeof o);
  o.num_warps = 3;
  refused("num_warps must be a power of two up to 64, not 3");
  o.num_warps = 4, o.num_stages = -1;
  refused("num_stages must be");
  o.num_stages = 3, o.opt_level = 4;
  refused("opt_level must be 0 to 3, not 4");
}

TEST_P(OnDevice, GridsAsLargeAsTheGpuTakes) {
  Session s(GetParam());
  ASSERT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
  tessera_error *e;
  auto refused = [&](std::initializer_list<uint32_t> grid, const std::string &why) {
    EXPECT_EQ(tessera_launch(s.kernel, std::data(grid), s.arguments.data(), s.arguments.size(), &e), TESSERA_USAGE);
    EXPECT_THAT(tessera_error_text(e), HasSubstr(why));
    tessera_error_destroy(e);
  };
  refused({1, 1u << 31, 1}, "is too large for " + std::string(GetParam()));
  if (GetParam() == std::string("emulator:sm_80"))
    refused({1, 1, 65536}, "the grid (1, 1, 65536) is too large for emulator:sm_80, which takes at most 65535 in z");
}

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, testing::Values("interpreter", "emulator:sm_80", "emulator:gfx942"),
                         [](auto &p) {
                           std::string n = p.param;
                           for (char &c : n)
                             if (!std::isalnum(c)) c = '_';
                           return n;
                         });

TEST(CApiDevices, ListEndsWithTheInterpreter) {
  Session s(nullptr);
  tessera_device_list *l;
  ASSERT_EQ(tessera_device_list_create(s.context, &l, nullptr), TESSERA_OK);
  size_t n = tessera_device_list_count(l);
  ASSERT_GE(n, 1u);
  EXPECT_STREQ(tessera_device_list_info(l, n - 1)->spec, "interpreter");
  EXPECT_EQ(tessera_device_list_info(l, n), nullptr);
  ASSERT_EQ(tessera_device_open(s.context, nullptr, &s.device, nullptr), TESSERA_OK);
  EXPECT_STREQ(tessera_device_describe(s.device)->spec, tessera_device_list_info(l, 0)->spec);
  tessera_device_list_destroy(l);
  EXPECT_EQ(tessera_device_list_create(s.context, nullptr, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_device_list_create(nullptr, &l, nullptr), TESSERA_USAGE);
}

TEST(CApiDevices, WhatIsNotThere) {
  Session s(nullptr);
  auto refused = [&](const char *spec, tessera_status status, const char *why) {
    tessera_device *d = reinterpret_cast<tessera_device *>(&s);
    tessera_error *e;
    EXPECT_EQ(tessera_device_open(s.context, spec, &d, &e), status) << spec;
    EXPECT_EQ(d, nullptr);
    EXPECT_THAT(tessera_error_message(e), HasSubstr(why));
    tessera_error_destroy(e);
  };
  refused("vulkan", TESSERA_USAGE, "unknown device 'vulkan'");
  refused("emulator:vax", TESSERA_USAGE, "unknown target 'vax' of the emulator");
  refused("cuda:x", TESSERA_USAGE, "the device number must be a whole number from 0 up");
  refused("", TESSERA_USAGE, "unknown device ''");
  EXPECT_EQ(tessera_device_open(s.context, "interpreter", nullptr, nullptr), TESSERA_USAGE);
  tessera_device *d;
  EXPECT_EQ(tessera_device_open(nullptr, "interpreter", &d, nullptr), TESSERA_USAGE);
}

TEST(CApiDevices, TextsAreCompiledForTheDevice) {
  Session s("emulator:sm_80");
  auto fails = [&](const char *text, const tessera_options *o, tessera_status status, const char *why) {
    tessera_kernel *k = reinterpret_cast<tessera_kernel *>(&s);
    tessera_error *e;
    EXPECT_EQ(tessera_kernel_compile(s.device, text, strlen(text), "k.ttir", o, &k, &e), status);
    EXPECT_EQ(k, nullptr);
    EXPECT_THAT(tessera_error_text(e), HasSubstr(why));
    tessera_error_destroy(e);
  };
  fails("tt.func @k() {\n  tt.nonsense\n}\n", nullptr, TESSERA_INPUT, "k.ttir:2:3: error: unknown operation");
  fails("", nullptr, TESSERA_INPUT, "the module has no kernel");
  tessera_options o;
  tessera_options_init(&o, sizeof o);
  o.num_warps = 64;
  fails(kAxpy, &o, TESSERA_USAGE, "but sm_80 allows 1024");
  o.num_warps = 4, o.kernel = "other";
  fails(kAxpy, &o, TESSERA_INPUT, "no kernel 'other'");
  o.kernel = nullptr, o.target = "gfx942";
  fails(kAxpy, &o, TESSERA_USAGE, "the options' target is gfx942, but emulator:sm_80 runs code for sm_80");
  o.target = "vax";
  fails(kAxpy, &o, TESSERA_USAGE, "unknown target 'vax'");
  o.size = 3;
  fails(kAxpy, &o, TESSERA_USAGE, "not made by tessera_options_init");
  tessera_kernel *k;
  EXPECT_EQ(tessera_kernel_compile(nullptr, kAxpy, 1, nullptr, nullptr, &k, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_kernel_compile(s.device, nullptr, 1, nullptr, nullptr, &k, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_kernel_compile(s.device, kAxpy, 1, nullptr, nullptr, nullptr, nullptr), TESSERA_USAGE);
}

/// What a kernel prints goes to the handler, on every device that computes on the host.
TEST(CApiDevices, PrintsGoToTheHandler) {
  const char text[] = "tt.func public @k(%n: i32) {\n  tt.print \" n = \" {hex = false, isSigned = array<i32: 1>} : %n "
                      ": i32\n  tt.return\n}\n";
  for (const char *spec : {"interpreter", "emulator:sm_80", "emulator:gfx942"}) {
    SCOPED_TRACE(spec);
    Session s(spec);
    ASSERT_EQ(tessera_kernel_compile(s.device, text, sizeof text - 1, "k.ttir", nullptr, &s.kernel, nullptr),
              TESSERA_OK)
        << s.diagnostics.texts;
    int32_t n = -42;
    auto argument = tessera_argument_value(&n, sizeof n);
    uint32_t one[3] = {1, 1, 1};
    testing::internal::CaptureStdout();
    EXPECT_EQ(tessera_launch(s.kernel, one, &argument, 1, nullptr), TESSERA_OK) << s.diagnostics.texts;
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_THAT(s.diagnostics.texts, HasSubstr("n = -42"));
  }
}

/// The drivers are looked for once in a process: all of this program's tests have the stand-ins.
[[maybe_unused]] const bool kStandIns =
    !setenv("TESSERA_CUDA_LIBRARY", FAKE_CUDA, 1) && !setenv("TESSERA_HIP_LIBRARY", FAKE_HIP, 1);

class OnGpu : public testing::TestWithParam<Gpu> {};

/// What is no whole object is refused before a driver gets it.
void refusesOtherObjects(Session &s) {
  tessera_kernel *none;
  tessera_error *e;
  EXPECT_EQ(tessera_kernel_load(s.device, "text", 4, tessera_kernel_metadata(s.kernel), &none, &e), TESSERA_USAGE);
  EXPECT_THAT(tessera_error_message(e), StartsWith("this is no "));
  tessera_error_destroy(e);
  std::string header = kEmptyObject;
  header[0x29] = 1; // sections at byte 256, which the driver would read
  EXPECT_EQ(tessera_kernel_load(s.device, header.data(), header.size(), tessera_kernel_metadata(s.kernel), &none, &e),
            TESSERA_USAGE);
  EXPECT_THAT(tessera_error_message(e), StartsWith("this is no "));
  tessera_error_destroy(e);
}

/// The stand-ins keep memory, and count what is held; they do not execute kernels.
TEST_P(OnGpu, LaunchesAndGivesEverythingBack) {
  auto held = GetParam().held();
  ASSERT_TRUE(held) << dlerror();
  {
    Session s(GetParam().spec);
    auto *info = tessera_device_describe(s.device);
    EXPECT_STREQ(info->name, "Stand-in GPU");
    EXPECT_EQ(info->memory_bytes, uint64_t(1) << 30);
    if (auto status = s.prepare();
        status == TESSERA_FAILED && s.diagnostics.texts.find("no tool to compile PTX") != std::string::npos)
      GTEST_SKIP() << s.diagnostics.texts;
    else
      ASSERT_EQ(status, TESSERA_OK) << s.diagnostics.texts;
    EXPECT_EQ(s.launch(), TESSERA_OK) << s.diagnostics.texts;
    std::vector<float> back(kN);
    EXPECT_EQ(tessera_buffer_read(s.x, 4, back.data(), 8, nullptr), TESSERA_OK);
    EXPECT_EQ(back[0], 1.0f);
    EXPECT_EQ(back[1], 2.0f);
    tessera_times t;
    EXPECT_EQ(tessera_time(s.kernel, kGrid, s.arguments.data(), s.arguments.size(), 3, &t, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    EXPECT_EQ(t.median_ms, 0.5);
    // Streams of its own and of others.
    tessera_stream *own, *adopted;
    tessera_event *start, *stop;
    ASSERT_EQ(tessera_stream_create(s.device, &own, nullptr), TESSERA_OK) << s.diagnostics.texts;
    EXPECT_NE(tessera_stream_native(own), nullptr);
    ASSERT_EQ(tessera_stream_adopt(s.device, tessera_stream_native(own), &adopted, nullptr), TESSERA_OK);
    ASSERT_EQ(tessera_event_create(s.device, &start, nullptr), TESSERA_OK);
    ASSERT_EQ(tessera_event_create(s.device, &stop, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_event_record(start, own, nullptr), TESSERA_OK);
    for (auto *on : {own, adopted})
      EXPECT_EQ(tessera_stream_launch(on, s.kernel, kGrid, s.arguments.data(), s.arguments.size(), nullptr), TESSERA_OK)
          << s.diagnostics.texts;
    EXPECT_EQ(tessera_event_record(stop, adopted, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_stream_wait(own, stop, nullptr), TESSERA_OK);
    double ms = 0;
    EXPECT_EQ(tessera_event_elapsed(start, stop, &ms, nullptr), TESSERA_OK);
    EXPECT_EQ(ms, 0.5);
    EXPECT_EQ(tessera_stream_synchronize(adopted, nullptr), TESSERA_OK);
    tessera_stream_destroy(own), tessera_event_destroy(start), tessera_event_destroy(stop);
    EXPECT_EQ(tessera_stream_synchronize(adopted, nullptr), TESSERA_FAILED); // its owner has destroyed it
    EXPECT_THAT(s.diagnostics.texts, HasSubstr("running what was launched on a stream failed"));
    tessera_stream_destroy(adopted);
    tessera_tensor_descriptor descriptor; // all other arguments are buffers and values
    tessera_tensor_descriptor_init(&descriptor, sizeof descriptor);
    s.arguments[0] = tessera_argument_descriptor(s.x, 0, &descriptor);
    EXPECT_EQ(s.launch(), TESSERA_USAGE);
    uint64_t address = 4096; // of another library's memory
    s.arguments[0] = tessera_argument_value(&address, sizeof address);
    EXPECT_EQ(s.launch(), TESSERA_OK) << s.diagnostics.texts;
    uint32_t tall[3] = {1, 65536, 1};
    EXPECT_EQ(s.launch(tall), info->spec[0] == 'c' ? TESSERA_USAGE : TESSERA_OK);
    refusesOtherObjects(s);
    // On another thread, and through another handle of the same device.
    std::thread([&] {
      tessera_device *again;
      EXPECT_EQ(tessera_device_open(s.context, GetParam().spec, &again, nullptr), TESSERA_OK);
      tessera_buffer *b;
      EXPECT_EQ(tessera_buffer_create(again, 64, &b, nullptr), TESSERA_OK);
      s.arguments[0] = tessera_argument_buffer(b);
      EXPECT_EQ(s.launch(), TESSERA_OK) << s.diagnostics.texts;
      tessera_device_destroy(again), tessera_buffer_destroy(b);
    }).join();
    tessera_device_list *l;
    ASSERT_EQ(tessera_device_list_create(s.context, &l, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_device_list_count(l), 3u);
    EXPECT_STREQ(tessera_device_list_info(l, GetParam().spec[0] == 'h')->spec, GetParam().spec);
    tessera_device_list_destroy(l);
    EXPECT_GT(held(), 0);
  }
  EXPECT_EQ(held(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, OnGpu, testing::ValuesIn(kGpus), [](auto &p) { return p.param.name(); });

} // namespace
