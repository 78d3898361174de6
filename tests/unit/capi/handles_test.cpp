// Random calls on many objects at once, from a fixed seed: of several contexts and devices, destroyed in any order,
// kernels of all types of arguments, and objects and metadata that were damaged after they were compiled. Each call
// must keep what random_calls.h checks. (misuse_test.cpp makes random calls of all functions on one device.)
#include "capi/tessera.h"
#include "random_calls.h"
#include "session.h"
#include "sum_of_scalars.h"
#include <algorithm>
#include <climits>
#include <map>
#include <thread>

namespace {

// o[0] = the sum of a bit, integers and floats of all widths, as f64.
std::string textOfScalars() {
  std::string arguments = "%o: !tt.ptr<f64>";
  for (auto &[name, type] : kScalarArguments) arguments += ", %" + name + ": " + type;
  return "module {\ntt.func public @scalars(" + arguments + ") {\n" + sumOfScalars(kScalarArguments) +
         "tt.store %o, %sum : !tt.ptr<f64>\ntt.return\n}\n}\n";
}
const std::string kScalars = textOfScalars();

// o = 2 * x for the first 32 by 32 elements of a descriptor.
const char kDescribed[] = R"(module {
  tt.func public @described(%x: !tt.tensordesc<tensor<32x32xf32>>, %o: !tt.ptr<f32>) {
    %zero = arith.constant 0 : i32
    %v = tt.descriptor_load %x[%zero, %zero] : !tt.tensordesc<tensor<32x32xf32>> -> tensor<32x32xf32>
    %w = arith.addf %v, %v : tensor<32x32xf32>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %c = arith.constant dense<32> : tensor<32x1xi32>
    %m = arith.muli %e, %c : tensor<32x1xi32>
    %l = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %mb = tt.broadcast %m : tensor<32x1xi32> -> tensor<32x32xi32>
    %lb = tt.broadcast %l : tensor<1x32xi32> -> tensor<32x32xi32>
    %at = arith.addi %mb, %lb : tensor<32x32xi32>
    %p = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %q = tt.addptr %p, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %q, %w : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
)";

const std::string kTexts[] = {kAxpy, kScalars, kDescribed};
const char *const kSpecs[] = {"interpreter", "emulator:sm_80", "emulator:sm_90a", "emulator:gfx942",
                              "emulator:gfx1201"};
constexpr size_t kBufferBytes = 8192;
constexpr size_t kOfAKind = 4; // objects of a kind at a time

/// Objects of one kind, each null until it is made and after it was destroyed.
template <class T> class Family {
public:
  explicit Family(void (*destroy)(T *)) : destroy_(destroy) {}
  ~Family() {
    for (size_t i = 0; i < kOfAKind; ++i) drop(i);
  }
  T *operator[](size_t i) const { return all_[i]; }
  T **place(size_t i) {
    drop(i);
    return &all_[i];
  }
  void drop(size_t i) { destroy_(std::exchange(all_[i], nullptr)); }

private:
  void (*destroy_)(T *);
  T *all_[kOfAKind] = {};
};

/// Makes, uses and destroys objects of several contexts and devices.
class ManyObjects : CheckedCalls {
public:
  explicit ManyObjects(unsigned seed) : CheckedCalls(seed) {
    for (size_t i = 0; i < kOfAKind; ++i) make();
  }
  using CheckedCalls::succeeded;
  void run(int count) {
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("call " + std::to_string(i));
      if (oneIn(3))
        make();
      else if (oneIn(8))
        destroy();
      else
        use();
    }
  }
  /// Launches that ran.
  int launched = 0;

private:
  size_t any() { return below(kOfAKind); }

  /// The device of a buffer or kernel that exists.
  void note(const void *object, const tessera_device *device) {
    if (object) specs_[object] = tessera_device_describe(device)->spec;
  }
  /// A launch is refused where a buffer is of another device than the kernel.
  void checkDevices(tessera_status status, const tessera_kernel *kernel, const std::vector<tessera_argument> &given) {
    auto isElsewhere = [&](const tessera_argument &a) { return a.buffer && specs_[a.buffer] != specs_[kernel]; };
    if (kernel && std::any_of(given.begin(), given.end(), isElsewhere)) EXPECT_EQ(status, TESSERA_USAGE);
  }

  template <class T, class Make> void into(Family<T> &family, Make make) {
    T **place = family.place(any());
    tessera_status status = make(place, error());
    check(status);
    ASSERT_EQ(*place != nullptr, status == TESSERA_OK);
  }

  void make() {
    auto *context = contexts_[any()];
    auto *device = devices_[any()];
    const char *text = kTexts[below(std::size(kTexts))].c_str();
    switch (below(9)) {
    case 0: into(contexts_, [&](auto **o, auto **e) { return tessera_context_create(nullptr, o, e); }); return;
    case 1:
      into(devices_,
           [&](auto **o, auto **e) { return tessera_device_open(context, kSpecs[below(std::size(kSpecs))], o, e); });
      return;
    case 2:
      into(buffers_, [&](auto **o, auto **e) {
        tessera_status status = tessera_buffer_create(device, oneIn(4) ? below(64) : kBufferBytes, o, e);
        note(*o, device);
        return status;
      });
      return;
    case 3:
      into(modules_,
           [&](auto **o, auto **e) { return tessera_module_parse(context, text, std::strlen(text), "k.ttir", o, e); });
      return;
    case 4: into(streams_, [&](auto **o, auto **e) { return tessera_stream_create(device, o, e); }); return;
    case 5: into(events_, [&](auto **o, auto **e) { return tessera_event_create(device, o, e); }); return;
    case 6:
      into(variants_,
           [&](auto **o, auto **e) { return tessera_variants_create(device, modules_[any()], nullptr, o, e); });
      return;
    case 7:
      into(kernels_, [&](auto **o, auto **e) {
        tessera_status status = tessera_kernel_compile_module(device, modules_[any()], nullptr, o, e);
        note(*o, device);
        return status;
      });
      return;
    default:
      into(kernels_, [&](auto **o, auto **e) {
        tessera_status status = tessera_kernel_compile(device, text, std::strlen(text), nullptr, nullptr, o, e);
        note(*o, device);
        return status;
      });
    }
  }
  void destroy() {
    switch (below(8)) {
    case 0: contexts_.drop(any()); return;
    case 1: devices_.drop(any()); return;
    case 2: buffers_.drop(any()); return;
    case 3: modules_.drop(any()); return;
    case 4: streams_.drop(any()); return;
    case 5: events_.drop(any()); return;
    case 6: variants_.drop(any()); return;
    default: kernels_.drop(any());
    }
  }

  // ---- arguments ----

  int64_t number() {
    const int64_t all[] = {INT64_MIN, -1, 0, 1, 2, 4, 16, 31, 32, 33, 64, 1 << 20, int64_t(1) << 32, INT64_MAX};
    return all[below(std::size(all))];
  }
  tessera_argument descriptor(const tessera_buffer *buffer) {
    tessera_tensor_descriptor &d = descriptors_[below(kOfAKind)];
    tessera_tensor_descriptor_init(&d, sizeof d);
    d.element_type = oneIn(6) ? "f16" : "f32";
    d.rank = 2;
    for (int i = 0; i < 2; ++i) d.shape[i] = d.block_shape[i] = 32;
    d.strides[0] = 32, d.strides[1] = 1;
    int64_t *fields[] = {&d.shape[0], &d.shape[1], &d.strides[0], &d.strides[1], &d.block_shape[0], &d.block_shape[1]};
    if (oneIn(2)) *fields[below(std::size(fields))] = number();
    if (oneIn(8)) d.rank = unsigned(number());
    if (oneIn(8)) d.address = uint64_t(number());
    if (oneIn(8)) d.nan_padding = int(number());
    return tessera_argument_descriptor(buffer, oneIn(4) ? size_t(number()) : 0, &d);
  }
  /// An argument of the type, mostly.
  tessera_argument argument(char type) {
    if (oneIn(12)) type = "pbhilfd"[below(7)];
    auto *buffer = buffers_[any()];
    switch (type) {
    case 'p': {
      tessera_argument a = tessera_argument_buffer(buffer);
      if (oneIn(8)) a.offset = size_t(number());
      return a;
    }
    case 'd': return descriptor(buffer);
    default: break;
    }
    size_t bytes = type == 'b' ? 1 : type == 'h' ? 2 : type == 'i' ? 4 : 8;
    uint64_t &bits = values_[below(std::size(values_))];
    bits = type == 'b' ? below(2) : random_() | uint64_t(random_()) << 32;
    if (bytes == 4 && oneIn(2)) bits = below(256);
    return tessera_argument_value(&bits, bytes);
  }
  /// Of one of the texts.
  std::vector<tessera_argument> arguments() {
    const char *const forms[] = {"pppii", "pbbhilhhil", "dp"}; // b h i l: 1 to 8 bytes
    std::vector<tessera_argument> all;
    for (const char *t = forms[below(std::size(forms))]; *t; ++t) all.push_back(argument(*t));
    if (oneIn(10)) all.resize(below(all.size() + 2));
    return all;
  }

  // ---- calls ----

  void use() {
    auto *kernel = kernels_[any()];
    auto *stream = streams_[any()];
    auto *event = events_[any()], *other = events_[any()];
    auto given = arguments();
    const uint32_t grid[3] = {1 + uint32_t(below(2)), 1, 1};
    tessera_status status;
    double milliseconds;
    switch (below(10)) {
    case 0: check(tessera_event_record(event, stream, error())); return;
    case 1: check(tessera_stream_wait(stream, event, error())); return;
    case 2: check(tessera_event_elapsed(event, other, &milliseconds, error())); return;
    case 3: tessera_kernel_interrupt(kernel); return;
    case 4: tune(given); return;
    case 5: {
      auto *variants = variants_[any()];
      tessera_kernel *made = nullptr;
      check(status = tessera_variants_kernel(variants, given.data(), given.size(), &made, error()));
      ASSERT_EQ(made != nullptr, status == TESSERA_OK);
      if (made) check(tessera_launch(made, grid, given.data(), given.size(), error()));
      return;
    }
    case 6:
      check(status = tessera_stream_launch(stream, kernel, grid, given.data(), given.size(), error()));
      launched += !status;
      return;
    default:
      check(status = tessera_launch(kernel, grid, given.data(), given.size(), error()));
      checkDevices(status, kernel, given);
      launched += !status;
    }
  }
  void tune(const std::vector<tessera_argument> &given) {
    tessera_options options;
    tessera_options_init(&options, sizeof options);
    const tessera_options *tried[] = {&options};
    const uint32_t grid[3] = {1, 1, 1};
    tessera_tuning *tuning = nullptr;
    tessera_status status =
        tessera_tune(devices_[any()], modules_[any()], tried, 1, grid, given.data(), given.size(), 1, &tuning, error());
    check(status);
    ASSERT_EQ(tuning != nullptr, status == TESSERA_OK);
    tessera_tuning_destroy(tuning);
  }

  Family<tessera_context> contexts_{tessera_context_destroy};
  Family<tessera_device> devices_{tessera_device_destroy};
  Family<tessera_buffer> buffers_{tessera_buffer_destroy};
  Family<tessera_module> modules_{tessera_module_destroy};
  Family<tessera_stream> streams_{tessera_stream_destroy};
  Family<tessera_event> events_{tessera_event_destroy};
  Family<tessera_variants> variants_{tessera_variants_destroy};
  Family<tessera_kernel> kernels_{tessera_kernel_destroy};
  tessera_tensor_descriptor descriptors_[kOfAKind] = {};
  uint64_t values_[16] = {};
  std::map<const void *, std::string> specs_;
};

TEST(Handles, OfSeveralDevicesInAnyOrder) {
  int launched = 0;
  for (unsigned seed = 1; seed <= seeds() && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ManyObjects objects(seed);
    objects.run(2500);
    EXPECT_GT(objects.succeeded, 250);
    launched += objects.launched;
  }
  EXPECT_GT(launched, 0); // of all seeds: a launch needs a kernel and buffers of one device, and right arguments
}

/// Loads what was compiled, after changes, and launches it.
class DamagedObjects : CheckedCalls {
public:
  DamagedObjects(unsigned seed, const Session &session, std::string object, std::string metadata)
      : CheckedCalls(seed), session_(session), object_(std::move(object)), metadata_(std::move(metadata)) {}
  using CheckedCalls::succeeded;
  void run(int count) {
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("object " + std::to_string(i));
      std::string object = object_, metadata = metadata_;
      if (oneIn(3))
        damage(object);
      else
        change(metadata);
      SCOPED_TRACE(metadata);
      tessera_kernel *kernel = nullptr;
      check(tessera_kernel_load(session_.device, object.data(), object.size(), metadata.c_str(), &kernel, error()));
      if (!kernel) continue;
      auto given = session_.arguments;
      if (oneIn(4)) given.resize(below(given.size()));
      check(tessera_launch(kernel, kGrid, given.data(), given.size(), error()));
      tessera_kernel_destroy(kernel);
    }
  }

private:
  void damage(std::string &bytes) {
    if (oneIn(4)) bytes.resize(below(bytes.size()));
    for (size_t n = below(4); n && !bytes.empty(); --n) bytes[below(bytes.size())] ^= char(1u << below(8));
  }
  /// Replaces a number, a string or a bracket of the JSON, or damages it.
  void change(std::string &json) {
    if (oneIn(8)) return damage(json);
    for (size_t n = 1 + below(2); n; --n) {
      std::vector<std::pair<size_t, size_t>> tokens;
      for (size_t at = 0; at < json.size();) {
        size_t end = at + 1;
        if (json[at] == '"')
          end = std::min(json.size(), json.find('"', at + 1) + 1);
        else if (std::isalnum(json[at]) || json[at] == '-')
          while (end < json.size() && (std::isalnum(json[end]) || json[end] == '.')) ++end;
        if (!std::isspace(json[at])) tokens.push_back({at, end - at});
        at = end;
      }
      const char *with[] = {"0",
                            "1",
                            "-1",
                            "7",
                            "64",
                            "1024",
                            "1025",
                            "65536",
                            "2147483648",
                            "9223372036854775807",
                            "-9223372036854775808",
                            "1e300",
                            "0.5",
                            "true",
                            "null",
                            "\"\"",
                            "\"axpy\"",
                            "\"*f32\"",
                            "\"i1\"",
                            "\"f64\"",
                            "\"*i8\"",
                            "\"tensordesc<f32[32,32]>\"",
                            "\"sm_80\"",
                            "\"gfx942\"",
                            "[]",
                            "{}",
                            "[1, 2, 3]",
                            "\"args\"",
                            "\"threads_per_block\""};
      auto [at, length] = tokens[below(tokens.size())];
      json.replace(at, length, with[below(std::size(with))]);
    }
  }
  const Session &session_;
  const std::string object_, metadata_;
};

class Objects : public testing::TestWithParam<const char *> {};

TEST_P(Objects, DamagedOnesAreRefusedOrRun) {
  const std::string target = GetParam();
  Session session(("emulator:" + target).c_str());
  ASSERT_EQ(session.prepare(), TESSERA_OK);
  tessera_options options;
  tessera_options_init(&options, sizeof options);
  options.target = target.c_str();
  options.stage = "bitcode";
  tessera_result *result = nullptr;
  ASSERT_EQ(tessera_compile(session.context, kAxpy, sizeof kAxpy - 1, nullptr, &options, &result, nullptr), TESSERA_OK);
  size_t length = 0;
  const char *data = tessera_result_data(result, &length);
  std::string object(data, length), metadata = tessera_result_metadata(result);
  tessera_result_destroy(result);
  for (unsigned seed = 1; seed <= seeds() && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    DamagedObjects objects(seed, session, object, metadata);
    objects.run(300);
    EXPECT_GT(objects.succeeded, 10);
  }
  ASSERT_EQ(session.launch(), TESSERA_OK) << session.diagnostics.texts;
}
INSTANTIATE_TEST_SUITE_P(Targets, Objects, testing::Values("sm_80", "gfx942"), [](auto &info) { return info.param; });

/// An interrupt ends the launch that runs, and none that begins later.
TEST(Interrupt, EndsLaunchesThatRun) {
  for (const char *spec : {"interpreter", "emulator:sm_80", "emulator:gfx942"}) {
    SCOPED_TRACE(spec);
    Session session(spec);
    ASSERT_EQ(session.prepare(), TESSERA_OK);
    const uint32_t many[3] = {1u << 30, 1, 1}; // more than a day
    std::atomic<bool> ended = false;
    std::thread interrupts([&] {
      while (!ended) tessera_kernel_interrupt(session.kernel);
    });
    tessera_error *error = nullptr;
    EXPECT_EQ(tessera_launch(session.kernel, many, session.arguments.data(), session.arguments.size(), &error),
              TESSERA_FAILED);
    ended = true;
    interrupts.join();
    EXPECT_TRUE(strstr(tessera_error_message(error), "interrupted")) << tessera_error_message(error);
    tessera_error_destroy(error);
    EXPECT_EQ(session.launch(), TESSERA_OK);
    EXPECT_EQ(session.wrong(), 0);
  }
  tessera_kernel_interrupt(nullptr);
}

} // namespace
