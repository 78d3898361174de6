// The launch path on GPUs, with the drivers' stand-ins: which calls a launch on a stream makes, that it allocates
// nothing, and that streams can be captured into graphs.
#include "session.h"
#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<size_t> allocations; // none are counted with AddressSanitizer, which has operators of its own
#if !__has_feature(address_sanitizer)
void *operator new(size_t bytes) {
  ++allocations;
  if (void *p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, size_t) noexcept { std::free(p); }
#endif

namespace {

/// A function of a stand-in.
template <class F> F *standIn(const Gpu &gpu, const std::string &name) {
  return reinterpret_cast<F *>(dlsym(dlopen(gpu.library, RTLD_NOW), name.c_str()));
}

class LaunchPath : public testing::TestWithParam<Gpu> {
protected:
  LaunchPath() : session(GetParam().spec) {}
  ~LaunchPath() override { tessera_stream_destroy(stream); }

  /// A kernel that was compiled to text, under an object that only stand-ins take.
  void load(int scratchBytes = 0) {
    Session &s = session;
    bool isCuda = GetParam().name() == "cuda";
    tessera_options options;
    tessera_options_init(&options, sizeof options);
    options.target = isCuda ? "sm_90a" : "gfx942";
    options.stage = isCuda ? "ptx" : "amdgcn";
    tessera_result *result;
    ASSERT_EQ(tessera_compile(s.context, kAxpy, sizeof kAxpy - 1, "axpy.ttir", &options, &result, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    std::string metadata = tessera_result_metadata(result);
    tessera_result_destroy(result);
    const std::string key = "\"global_scratch_bytes\":";
    size_t at = metadata.find(key);
    ASSERT_NE(at, std::string::npos) << metadata;
    at += key.size();
    metadata.replace(at, metadata.find_first_of(",}\n", at) - at, std::to_string(scratchBytes));
    ASSERT_EQ(
        tessera_kernel_load(s.device, kEmptyObject.data(), kEmptyObject.size(), metadata.c_str(), &s.kernel, nullptr),
        TESSERA_OK)
        << s.diagnostics.texts;
    for (auto *b : {&s.x, &s.y, &s.o}) ASSERT_EQ(tessera_buffer_create(s.device, kN * 4, b, nullptr), TESSERA_OK);
    s.arguments = {tessera_argument_buffer(s.x), tessera_argument_buffer(s.y), tessera_argument_buffer(s.o),
                   tessera_argument_value(&s.a, sizeof s.a), tessera_argument_value(&s.n, sizeof s.n)};
    ASSERT_EQ(tessera_stream_create(s.device, &stream, nullptr), TESSERA_OK);
  }
  tessera_status launch(uint32_t blocks = 2) {
    const uint32_t grid[3] = {blocks, 1, 1};
    return tessera_stream_launch(stream, session.kernel, grid, session.arguments.data(), session.arguments.size(),
                                 nullptr);
  }
  std::string driverName(const char *cuda, const char *hip) { return GetParam().name() == "cuda" ? cuda : hip; }
  int beginCapture() {
    auto *f = standIn<int(void *, int)>(GetParam(), driverName("cuStreamBeginCapture", "hipStreamBeginCapture"));
    return f(tessera_stream_native(stream), 0);
  }
  int endCapture() {
    void *graph;
    auto *f = standIn<int(void *, void **)>(GetParam(), driverName("cuStreamEndCapture", "hipStreamEndCapture"));
    return f(tessera_stream_native(stream), &graph);
  }
  int held() { return standIn<int()>(GetParam(), "fakeDriverHeld")(); }

  Session session;
  tessera_stream *stream = nullptr;
};

TEST_P(LaunchPath, TwoCallsAndNoAllocation) {
  load();
  ASSERT_EQ(launch(), TESSERA_OK) << session.diagnostics.texts;
  auto *calls = standIn<int()>(GetParam(), "fakeDriverCalls");
  int callsBefore = calls();
  size_t before = allocations;
  ASSERT_EQ(launch(), TESSERA_OK);
  size_t ofLaunch = allocations - before;
  EXPECT_EQ(calls() - callsBefore, 2); // the device is current; the launch
  // The stand-in allocates, too.
  using Launch =
      int(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  auto *driverLaunch = standIn<Launch>(GetParam(), driverName("cuLaunchKernel", "hipModuleLaunchKernel"));
  uint64_t values[7] = {};
  void *parameters[7];
  for (int i = 0; i < 7; ++i) parameters[i] = &values[i];
  before = allocations;
  driverLaunch(nullptr, 2, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr);
  EXPECT_LE(ofLaunch, allocations - before);
}

TEST_P(LaunchPath, StreamsCanBeCaptured) {
  load();
  ASSERT_EQ(beginCapture(), 0);
  EXPECT_EQ(launch(), TESSERA_OK) << session.diagnostics.texts;
  EXPECT_EQ(tessera_launch(session.kernel, kGrid, session.arguments.data(), session.arguments.size(), nullptr),
            TESSERA_FAILED); // it waits
  EXPECT_EQ(endCapture(), 0);
  EXPECT_EQ(launch(), TESSERA_OK);
}

TEST_P(LaunchPath, ScratchMemoryOfGraphsStays) {
  load(/*scratchBytes=*/64);
  int before = held();
  ASSERT_EQ(beginCapture(), 0);
  EXPECT_EQ(launch(1), TESSERA_OK) << session.diagnostics.texts; // allocates during the capture
  EXPECT_EQ(held(), before + 1);
  EXPECT_EQ(launch(1), TESSERA_OK) << session.diagnostics.texts; // the launches of a graph may run at once
  EXPECT_EQ(held(), before + 2);
  ASSERT_EQ(endCapture(), 0);
  EXPECT_EQ(launch(4), TESSERA_OK); // beside the graph
  EXPECT_EQ(held(), before + 3);
  EXPECT_EQ(launch(4), TESSERA_OK); // after the launch before
  EXPECT_EQ(held(), before + 3);
  EXPECT_EQ(launch(8), TESSERA_OK); // in place of what no graph uses
  EXPECT_EQ(held(), before + 3);
  tessera_kernel_destroy(session.kernel);
  session.kernel = nullptr;
  EXPECT_EQ(held(), before - 1); // and the module
}

INSTANTIATE_TEST_SUITE_P(Devices, LaunchPath, testing::ValuesIn(kGpus), [](auto &p) { return p.param.name(); });

} // namespace
