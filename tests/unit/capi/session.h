// A kernel on a device through the C API, for the tests of launches and of tuning.
#pragma once
#include "capi/tessera.h"
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// o[i] = a * x[i] + y[i] for i < n
inline const char kAxpy[] = R"(module {
  tt.func public @axpy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %a: f32, %n: i32) {
    %c256 = arith.constant 256 : i32
    %pid = tt.get_program_id x : i32
    %base = arith.muli %pid, %c256 : i32
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %b = tt.splat %base : i32 -> tensor<256xi32>
    %i = arith.addi %b, %r : tensor<256xi32>
    %ns = tt.splat %n : i32 -> tensor<256xi32>
    %m = arith.cmpi slt, %i, %ns : tensor<256xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %xv = tt.load %xp, %m : tensor<256x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %yv = tt.load %yp, %m : tensor<256x!tt.ptr<f32>>
    %as = tt.splat %a : f32 -> tensor<256xf32>
    %ax = arith.mulf %as, %xv : tensor<256xf32>
    %s = arith.addf %ax, %yv : tensor<256xf32>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %op = tt.addptr %os, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    tt.store %op, %s, %m : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
)";
/// A whole ELF file without sections, which the drivers' stand-ins load.
inline const std::string kEmptyObject = std::string("\177ELF\2\1\1", 7) + std::string(57, '\0');

inline constexpr int kN = 300;
inline const uint32_t kGrid[3] = {2, 1, 1};

/// What the context's handler received. Threads that use one context call it at the same time.
struct Diagnostics {
  std::mutex mutex;
  std::string texts;
  unsigned line = 0;
};
inline void take(const tessera_diagnostic *d, void *user) {
  auto &t = *static_cast<Diagnostics *>(user);
  std::lock_guard<std::mutex> lock(t.mutex);
  t.texts += d->text;
  if (!t.line) t.line = d->line;
}

/// A context, a device and the kernel with its buffers.
struct Session {
  Diagnostics diagnostics;
  tessera_context *context = nullptr;
  tessera_device *device = nullptr;
  tessera_kernel *kernel = nullptr;
  tessera_buffer *x = nullptr, *y = nullptr, *o = nullptr;
  float a = 2;
  int32_t n = kN;
  std::vector<tessera_argument> arguments;

  explicit Session(const char *spec, const char *directory = nullptr) {
    tessera_context_options options;
    tessera_context_options_init(&options, sizeof options);
    options.handler = take;
    options.user = &diagnostics;
    options.cache_directory = directory;
    EXPECT_EQ(tessera_context_create(&options, &context, nullptr), TESSERA_OK);
    if (spec) EXPECT_EQ(tessera_device_open(context, spec, &device, nullptr), TESSERA_OK) << diagnostics.texts;
  }
  ~Session() {
    // The parents first: nothing may depend on the order.
    tessera_context_destroy(context), tessera_device_destroy(device);
    tessera_buffer_destroy(x), tessera_buffer_destroy(y), tessera_buffer_destroy(o), tessera_kernel_destroy(kernel);
  }
  tessera_status prepare() {
    if (auto s = tessera_kernel_compile(device, kAxpy, sizeof kAxpy - 1, "axpy.ttir", nullptr, &kernel, nullptr))
      return s;
    std::vector<float> xs(kN), ys(kN);
    for (int i = 0; i < kN; ++i) xs[i] = float(i), ys[i] = float(1000 - 3 * i);
    for (auto *b : {&x, &y, &o})
      EXPECT_EQ(tessera_buffer_create(device, kN * 4, b, nullptr), TESSERA_OK) << diagnostics.texts;
    EXPECT_EQ(tessera_buffer_write(x, 0, xs.data(), kN * 4, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_buffer_write(y, 0, ys.data(), kN * 2, nullptr), TESSERA_OK); // in two halves
    EXPECT_EQ(tessera_buffer_write(y, kN * 2, reinterpret_cast<char *>(ys.data()) + kN * 2, kN * 2, nullptr),
              TESSERA_OK);
    arguments = {tessera_argument_buffer(x), tessera_argument_buffer(y), tessera_argument_buffer(o),
                 tessera_argument_value(&a, sizeof a), tessera_argument_value(&n, sizeof n)};
    return TESSERA_OK;
  }
  tessera_status launch(const uint32_t *grid = kGrid) {
    return tessera_launch(kernel, grid, arguments.data(), arguments.size(), nullptr);
  }
  /// Elements from `first` on that are not what they must be.
  int wrong() {
    std::vector<float> out(kN);
    EXPECT_EQ(tessera_buffer_read(o, 0, out.data(), kN * 4, nullptr), TESSERA_OK);
    int n = 0;
    for (int i = 0; i < kN; ++i) n += out[i] != a * float(i) + float(1000 - 3 * i);
    return n;
  }
};

/// A stand-in for a GPU's driver (tests/fakes). They keep memory, and count what is held; they do not execute kernels.
struct Gpu {
  const char *spec, *library;
  std::string name() const { return std::string(spec, strcspn(spec, ":")); }
  /// What counts; null if the stand-in cannot be loaded.
  int (*held() const)() {
    void *opened = dlopen(library, RTLD_NOW);
    return opened ? reinterpret_cast<int (*)()>(dlsym(opened, "fakeDriverHeld")) : nullptr;
  }
};
inline void PrintTo(const Gpu &g, std::ostream *o) { *o << g.spec; }
inline constexpr Gpu kGpus[] = {{"cuda:0", FAKE_CUDA}, {"hip:0", FAKE_HIP}};
