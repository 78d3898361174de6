// Wrong calls of the C API. Random calls pick each parameter among right and wrong values, from a fixed seed: each must
// succeed, or fail with an error that says why and leave its other out-parameters null. Also from several threads, on
// shared objects. (A length beyond the text, or a pointer to nothing, is beyond what the library can notice.)
#include "capi/tessera.h"
#include "random_calls.h"
#include "session.h"
#include <climits>
#include <functional>
#include <thread>

namespace {

/// Every diagnostic that a handler receives is complete.
void check(const tessera_diagnostic *d, void *) {
  EXPECT_GE(d->severity, TESSERA_ERROR);
  EXPECT_LE(d->severity, TESSERA_NOTE);
  ASSERT_TRUE(d->message && d->file && d->text);
  EXPECT_STRNE(d->text, "");
}

std::string repeated(const char *part, int times) {
  std::string s;
  for (int i = 0; i < times; ++i) s += part;
  return s;
}

const std::vector<std::string> &texts() {
  static const std::vector<std::string> all = {
      kAxpy,
      kAxpy,
      kAxpy,
      "",
      "module {",
      "module {\n}",
      "\xff\xfe\x80",
      std::string("module {\0}", 10),
      "tt.func public @\"\xff\xfe\"(%p: !tt.ptr<f32>) { tt.return }",
      "tt.func public @f() { tt.return } loc(\"\xc3\x28\":1:2)",
      repeated("(", 100000),
      repeated("module {\n", 20000),
      "tt.func public @f(%p: " + repeated("tensor<2x", 20000) + "f32" + repeated(">", 20000) + ") { tt.return }",
      "tt.func public @f() { tt.return } loc(" + repeated("callsite(", 20000) + ")",
      "tt.func public @" + std::string(1 << 20, 'x') + "() { tt.return }",
      "tt.func public @f(%p: tensor<9223372036854775807x9223372036854775807xf32>) { tt.return }",
      "tt.func public @f(%p: i99999999999) { tt.return }",
  };
  return all;
}

const std::vector<std::string> &names() {
  static const std::vector<std::string> all = {
      "",
      "sm_90a",
      "gfx942",
      "sm_1",
      "ttir",
      "ttgir",
      "bitcode",
      "axpy",
      "cse",
      "canonicalize",
      "cse=x=1",
      "tritongpu-pipeline=num-stages=-1",
      "convert-triton-to-tritongpu=num-warps=99999999999999999999",
      "text",
      "svg",
      "interpreter",
      "emulator:sm_80",
      "emulator:",
      "emulator:gfx1",
      "cuda:-1",
      "cuda:99999999999999999999",
      "hip:x",
      "f32",
      "i1",
      "nan",
      "\xff\xfe\x80",
      "%s%n{0}{99}",
      std::string(1 << 20, 'x'),
      "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
      "#ttg.blocked<{sizePerThread = [0], threadsPerWarp = [-1], warpsPerCTA = [4611686018427387904], order = [9]}>",
      "tensor<128xf16>",
      "tensor<9223372036854775807x2xf16>",
      "{}",
      "{\"kernel\": \"axpy\", \"target\": \"sm_80\", \"num_warps\": -1e400}",
      repeated("[", 100000),
      repeated("{\"args\":", 50000),
  };
  return all;
}

/// Objects that calls may pick, and the values of their parameters.
class RandomCalls : CheckedCalls {
public:
  RandomCalls(unsigned seed, const Session &shared, tessera_module *module, tessera_variants *variants)
      : CheckedCalls(seed), shared_(shared), module_(module), variants_(variants) {
    EXPECT_EQ(tessera_buffer_create(shared.device, kN * sizeof(float), &buffer_, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_stream_create(shared.device, &stream_, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_event_create(shared.device, &event_, nullptr), TESSERA_OK);
    // The kernel's functions come first, with the most weight: they have the most parameters.
    calls_ = {[&] { launch(); },  [&] { launch(); },  [&] { compile(); },     [&] { compile(); },  [&] { load(); },
              [&] { variant(); }, [&] { buffers(); }, [&] { buffers(); },     [&] { events(); },   [&] { events(); },
              [&] { modules(); }, [&] { passes(); },  [&] { layout(); },      [&] { contexts(); }, [&] { devices(); },
              [&] { tune(); },    [&] { readers(); }, [&] { initialisers(); }};
  }
  ~RandomCalls() { tessera_buffer_destroy(buffer_), tessera_stream_destroy(stream_), tessera_event_destroy(event_); }
  using CheckedCalls::succeeded;
  void run(int count) {
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("call " + std::to_string(i));
      calls_[below(calls_.size())]();
    }
  }

private:
  // ---- values ----

  const char *name() { return oneIn(6) ? nullptr : names()[below(names().size())].c_str(); }
  int number() {
    const int all[] = {INT_MIN, -1, 0, 1, 2, 3, 4, 4, 4, 8, 16, 32, 64, 1024, 65536, INT_MAX};
    return all[below(std::size(all))];
  }
  size_t size() {
    const size_t all[] = {0,       1, 2, 4, 7, 8, 16, 1200, 4096, 4097, size_t(1) << 46, SIZE_MAX / 2, SIZE_MAX - 1,
                          SIZE_MAX};
    return all[below(std::size(all))];
  }
  /// A text, or a piece of one, or one with a wrong byte; often the kernel.
  std::string text() {
    std::string t = texts()[below(texts().size())];
    if (oneIn(6)) t.resize(below(t.size() + 1));
    if (oneIn(4) && !t.empty()) t[below(t.size())] = char(random_());
    return t;
  }
  /// Options of which most fields are the defaults.
  const tessera_options *options() {
    if (oneIn(6)) return nullptr;
    tessera_options_init(&options_, sizeof options_);
    options_.target = oneIn(2) ? "sm_80" : oneIn(2) ? nullptr : name();
    options_.stage = oneIn(2) ? "ttgir" : name();
    int *fields[] = {
        &options_.num_warps,       &options_.num_stages, &options_.num_ctas,     &options_.opt_level,
        &options_.fp_fusion,       &options_.line_info,  &options_.waves_per_eu, &options_.matrix_instr_nonkdim,
        &options_.exact_num_warps, &options_.keep_texts, &options_.remarks,      &options_.maxnreg,
        &options_.no_tensor_memory};
    if (oneIn(2)) *fields[below(std::size(fields))] = number();
    if (oneIn(8)) options_.kernel = name();
    if (oneIn(10)) options_.size = size();
    return &options_;
  }
  const uint32_t *grid() {
    static const uint32_t all[][3] = {{1, 1, 1},
                                      {2, 1, 1},
                                      {2, 1, 1},
                                      {0, 1, 1},
                                      {1, 1, 0xffffffff},
                                      {0xffffffff, 0xffffffff, 0xffffffff},
                                      {0x7fffffff, 65535, 65535}};
    return oneIn(10) ? nullptr : all[below(std::size(all))];
  }
  tessera_argument argument(size_t i) {
    if (oneIn(3)) { // of any kind
      tessera_tensor_descriptor_init(&descriptor_, sizeof descriptor_);
      descriptor_.element_type = name();
      descriptor_.rank = unsigned(number());
      for (int d = 0; d < 5; ++d)
        descriptor_.shape[d] = number(), descriptor_.strides[d] = number(), descriptor_.block_shape[d] = number();
      if (oneIn(4)) descriptor_.size = size();
      if (oneIn(3)) return tessera_argument_descriptor(orNull(buffer_), size(), &descriptor_);
      return oneIn(2) ? tessera_argument{orNull(buffer_), size(), nullptr, 0}
                      : tessera_argument_value(orNull(&bits_), below(sizeof bits_ + 1));
    }
    if (i < 3) return tessera_argument_buffer(buffer_);
    return i == 3 ? tessera_argument_value(&nan_, sizeof nan_) : tessera_argument_value(&n_, sizeof n_);
  }
  std::vector<tessera_argument> arguments() {
    std::vector<tessera_argument> all;
    for (size_t i = 0, n = oneIn(6) ? below(8) : 5; i < n; ++i) all.push_back(argument(i));
    return all;
  }

  // ---- calls ----

  void compile() {
    std::string t = text();
    const char *data = oneIn(10) ? nullptr : t.data();
    const char *file = name();
    if (oneIn(2))
      making<tessera_result>(tessera_result_destroy, [&](auto **out, auto **e) {
        return tessera_compile(orNull(shared_.context), data, t.size(), file, options(), out, e);
      });
    else
      making<tessera_kernel>(tessera_kernel_destroy, [&](auto **out, auto **e) {
        return tessera_kernel_compile(orNull(shared_.device), data, t.size(), file, options(), out, e);
      });
  }
  void load() {
    std::string t = text();
    making<tessera_kernel>(tessera_kernel_destroy, [&](auto **out, auto **e) {
      return tessera_kernel_load(orNull(shared_.device), t.data(), t.size(), name(), out, e);
    });
  }
  void launch() {
    auto given = arguments();
    tessera_argument *data = oneIn(10) ? nullptr : given.data();
    if (oneIn(3)) {
      check(tessera_stream_launch(orNull(stream_), orNull(shared_.kernel), grid(), data, given.size(), error()));
      return;
    }
    if (oneIn(3)) {
      const int repetitions[] = {INT_MIN, -1, 0, 1, 2};
      tessera_times times;
      check(tessera_time(orNull(shared_.kernel), grid(), data, given.size(), repetitions[below(5)],
                         oneIn(10) ? nullptr : &times, error()));
      return;
    }
    check(tessera_launch(orNull(shared_.kernel), grid(), data, given.size(), error()));
  }
  void variant() {
    if (oneIn(4)) {
      making<tessera_variants>(tessera_variants_destroy, [&](auto **out, auto **e) {
        return tessera_variants_create(orNull(shared_.device), orNull(module_), options(), out, e);
      });
      return;
    }
    auto given = arguments();
    making<tessera_kernel>([](tessera_kernel *) {}, [&](auto **out, auto **e) { // belongs to the variants
      return tessera_variants_kernel(orNull(variants_), oneIn(10) ? nullptr : given.data(), given.size(), out, e);
    });
  }
  void buffers() {
    std::vector<char> host(kN * sizeof(float));
    void *memory = oneIn(6) ? nullptr : host.data();
    size_t offset = oneIn(2) ? 0 : size(), bytes = oneIn(2) ? host.size() : size();
    if (bytes > host.size() && offset < kN * sizeof(float)) offset = 0; // then it is refused for the buffer's size
    switch (below(4)) {
    case 0: check(tessera_buffer_write(orNull(buffer_), offset, memory, bytes, error())); return;
    case 1: check(tessera_buffer_read(orNull(buffer_), offset, memory, bytes, error())); return;
    case 2: check(tessera_buffer_undefine(orNull(buffer_), offset, bytes, error())); return;
    default:
      making<tessera_buffer>(
          [](tessera_buffer *b) {
            tessera_buffer_undefine(b, 0, tessera_buffer_bytes(b), nullptr);
            tessera_buffer_destroy(b);
          },
          [&](auto **out, auto **e) { return tessera_buffer_create(orNull(shared_.device), size(), out, e); });
    }
  }
  void events() {
    double milliseconds;
    switch (below(7)) {
    case 0: check(tessera_event_record(orNull(event_), orNull(stream_), error())); return;
    case 1: check(tessera_stream_wait(orNull(stream_), orNull(event_), error())); return;
    case 2: check(tessera_stream_synchronize(orNull(stream_), error())); return;
    case 3:
      check(tessera_event_elapsed(orNull(event_), orNull(event_), oneIn(10) ? nullptr : &milliseconds, error()));
      return;
    case 4:
      making<tessera_stream>(tessera_stream_destroy, [&](auto **out, auto **e) {
        return tessera_stream_adopt(orNull(shared_.device), nullptr, out, e);
      });
      return;
    case 5:
      making<tessera_stream>(tessera_stream_destroy, [&](auto **out, auto **e) {
        return tessera_stream_create(orNull(shared_.device), out, e);
      });
      return;
    default:
      making<tessera_event>(tessera_event_destroy,
                            [&](auto **out, auto **e) { return tessera_event_create(orNull(shared_.device), out, e); });
    }
  }
  std::vector<const char *> passNames() {
    std::vector<const char *> all(below(4));
    for (auto &p : all) p = name();
    return all;
  }
  void modules() {
    std::string t = text();
    tessera_module *own = nullptr;
    check(tessera_module_parse(orNull(shared_.context), t.data(), t.size(), name(), &own, error()));
    tessera_module_kernel(own, size());
    auto all = passNames();
    check(tessera_module_run_passes(own, all.data(), all.size(), oneIn(2) ? nullptr : name(), error()));
    making<tessera_result>(tessera_result_destroy,
                           [&](auto **out, auto **e) { return tessera_module_print(own, number(), out, e); });
    making<tessera_result>(tessera_result_destroy, [&](auto **out, auto **e) {
      return tessera_module_compile(oneIn(2) ? own : orNull(module_), options(), out, e);
    });
    making<tessera_kernel>(tessera_kernel_destroy, [&](auto **out, auto **e) {
      return tessera_kernel_compile_module(orNull(shared_.device), own, options(), out, e);
    });
    tessera_module_destroy(own);
  }
  void passes() {
    std::string t = text();
    auto all = passNames();
    making<tessera_result>(tessera_result_destroy, [&](auto **out, auto **e) {
      return tessera_run_passes(orNull(shared_.context), t.data(), t.size(), name(), oneIn(8) ? nullptr : all.data(),
                                all.size(), oneIn(2) ? nullptr : name(), out, e);
    });
  }
  void layout() {
    making<tessera_result>(tessera_result_destroy, [&](auto **out, auto **e) {
      return tessera_layout(orNull(shared_.context), name(), name(), oneIn(2) ? "text" : name(), out, e);
    });
  }
  void contexts() {
    tessera_context_options o;
    tessera_context_options_init(&o, sizeof o);
    o.handler = ::check;
    if (oneIn(3)) o.size = size();
    o.cache_memory_bytes = size();
    o.cache_directory = oneIn(2) ? nullptr : "/dev/null/no/folder";
    o.cache_directory_bytes = size();
    making<tessera_context>(tessera_context_destroy, [&](auto **out, auto **e) {
      return tessera_context_create(oneIn(6) ? nullptr : &o, out, e);
    });
    tessera_cache_counts counts;
    check(tessera_cache_count(orNull(shared_.context), oneIn(6) ? nullptr : &counts, error()));
    check(tessera_cache_clear(orNull(shared_.context), error()));
  }
  void devices() {
    making<tessera_device>(tessera_device_destroy, [&](auto **out, auto **e) {
      return tessera_device_open(orNull(shared_.context), name(), out, e);
    });
    making<tessera_device_list>(tessera_device_list_destroy, [&](auto **out, auto **e) {
      return tessera_device_list_create(orNull(shared_.context), out, e);
    });
  }
  void tune() {
    auto given = arguments();
    const tessera_options *options[2] = {orNull(this->options()), orNull(&options_)};
    making<tessera_tuning>(tessera_tuning_destroy, [&](auto **out, auto **e) {
      return tessera_tune(orNull(shared_.device), orNull(module_), oneIn(8) ? nullptr : options, below(3), grid(),
                          given.data(), given.size(), int(below(3)) - 1, out, e);
    });
  }
  /// Functions that cannot fail: of nothing, and out of range.
  void readers() {
    size_t length = 1;
    EXPECT_STREQ(tessera_result_data(nullptr, &length), "");
    EXPECT_EQ(length, 0u);
    EXPECT_STREQ(tessera_result_metadata(nullptr), "");
    EXPECT_EQ(tessera_result_text(nullptr, name(), &length), nullptr);
    EXPECT_EQ(tessera_device_list_info(nullptr, size()), nullptr);
    EXPECT_EQ(tessera_device_describe(nullptr), nullptr);
    EXPECT_STREQ(tessera_kernel_metadata(nullptr), "");
    EXPECT_EQ(tessera_stream_native(nullptr), nullptr);
    EXPECT_EQ(tessera_tuning_measurement(nullptr, size()), nullptr);
    EXPECT_EQ(tessera_module_kernel(module_, 1 + below(9)), nullptr);
    EXPECT_EQ(tessera_target(1000 + below(9)), nullptr);
    EXPECT_EQ(tessera_variants_count(nullptr), 0u);
  }
  /// A structure of a version with fewer fields, and nothing at all. (More would be written beyond it.)
  void initialisers() {
    char bytes[256];
    std::memset(bytes, 0x5a, sizeof bytes);
    size_t known = below(64);
    tessera_options_init(reinterpret_cast<tessera_options *>(bytes), known);
    for (size_t i = known; i < sizeof bytes; ++i) ASSERT_EQ(bytes[i], 0x5a);
    tessera_context_options_init(reinterpret_cast<tessera_context_options *>(bytes), below(48));
    tessera_tensor_descriptor_init(reinterpret_cast<tessera_tensor_descriptor *>(bytes), below(64));
    tessera_options_init(nullptr, size());
    tessera_context_options_init(nullptr, size());
    tessera_tensor_descriptor_init(nullptr, size());
  }

  const Session &shared_;
  tessera_module *module_;
  tessera_variants *variants_;
  tessera_buffer *buffer_ = nullptr;
  tessera_stream *stream_ = nullptr;
  tessera_event *event_ = nullptr;
  std::vector<std::function<void()>> calls_;
  tessera_options options_;
  tessera_tensor_descriptor descriptor_;
  char bits_[256] = {1};
  float nan_ = NAN;
  int32_t n_ = kN;
};

class Misuse : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    ASSERT_EQ(session_.prepare(), TESSERA_OK);
    ASSERT_EQ(tessera_module_parse(session_.context, kAxpy, sizeof kAxpy - 1, "axpy.ttir", &module_, nullptr),
              TESSERA_OK);
    ASSERT_EQ(tessera_variants_create(session_.device, module_, nullptr, &variants_, nullptr), TESSERA_OK);
  }
  void TearDown() override {
    tessera_variants_destroy(variants_);
    tessera_module_destroy(module_);
  }
  Session session_{GetParam()};
  tessera_module *module_ = nullptr;
  tessera_variants *variants_ = nullptr;
};

TEST_P(Misuse, RandomCallsSucceedOrSayWhyNot) {
  constexpr int kCalls = 1500;
  for (unsigned seed = 1; seed <= seeds() && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomCalls calls(seed, session_, module_, variants_);
    calls.run(kCalls);
    EXPECT_GT(calls.succeeded, kCalls / 10);
  }
  // The objects are as good as before.
  ASSERT_EQ(session_.launch(), TESSERA_OK) << session_.diagnostics.texts;
  EXPECT_EQ(session_.wrong(), 0);
}

TEST_P(Misuse, RandomCallsFromThreads) {
  std::vector<std::thread> threads;
  constexpr unsigned kThreads = 4;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (unsigned s = 0; s < seeds(); ++s)
        RandomCalls(1000 + s * kThreads + thread, session_, module_, variants_).run(150);
    });
  for (auto &t : threads) t.join();
  ASSERT_EQ(session_.launch(), TESSERA_OK);
  EXPECT_EQ(session_.wrong(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, Misuse, testing::Values("interpreter", "emulator:sm_80"),
                         [](auto &info) { return info.index ? "Emulator" : "Interpreter"; });

} // namespace
