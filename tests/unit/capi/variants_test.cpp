// Variants of a kernel: which arguments share one, what is known in its code, and that results do not change.
#include "session.h"
#include <gmock/gmock.h>
#include <thread>

namespace {
using testing::HasSubstr;

class Variants : public testing::TestWithParam<const char *> {
protected:
  Variants() : s(GetParam()) {
    tessera_module *module;
    EXPECT_EQ(tessera_module_parse(s.context, kAxpy, sizeof kAxpy - 1, "axpy.ttir", &module, nullptr), TESSERA_OK);
    EXPECT_EQ(s.prepare(), TESSERA_OK) << s.diagnostics.texts;
    EXPECT_EQ(tessera_variants_create(s.device, module, nullptr, &variants, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    tessera_module_destroy(module); // it is not needed any longer
  }
  ~Variants() override { tessera_variants_destroy(variants); }
  tessera_kernel *find() {
    tessera_kernel *k = nullptr;
    EXPECT_EQ(tessera_variants_kernel(variants, s.arguments.data(), s.arguments.size(), &k, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    return k;
  }
  Session s;
  tessera_variants *variants = nullptr;
};

TEST_P(Variants, OneForEachClass) {
  EXPECT_EQ(tessera_variants_count(variants), 0u);
  s.n = 300;
  tessera_kernel *any = find();
  EXPECT_EQ(tessera_variants_count(variants), 1u);
  s.n = 7; // of the same class
  EXPECT_EQ(find(), any);
  s.a = 1; // a float has no class
  EXPECT_EQ(find(), any);
  s.n = 256;
  tessera_kernel *divisible = find();
  EXPECT_NE(divisible, any);
  s.n = 1;
  tessera_kernel *one = find();
  EXPECT_NE(one, any);
  EXPECT_NE(one, divisible);
  s.n = 0;
  EXPECT_EQ(find(), divisible);
  s.n = -16;
  EXPECT_EQ(find(), divisible);
  s.arguments[0].offset = 4;
  tessera_kernel *unaligned = find();
  EXPECT_NE(unaligned, divisible);
  s.arguments[0].offset = 32;
  EXPECT_EQ(find(), divisible);
  EXPECT_EQ(tessera_variants_count(variants), 4u);
}

TEST_P(Variants, ComputeTheSame) {
  std::vector<float> out(kN);
  for (size_t offset : {0, 4})
    for (int32_t n : {1, 16, 256, 7}) {
      SCOPED_TRACE("offset " + std::to_string(offset) + ", n " + std::to_string(n));
      s.n = n;
      s.arguments[0].offset = offset;
      std::vector<float> before(kN, -1);
      ASSERT_EQ(tessera_buffer_write(s.o, 0, before.data(), kN * 4, nullptr), TESSERA_OK);
      ASSERT_EQ(tessera_launch(find(), kGrid, s.arguments.data(), s.arguments.size(), nullptr), TESSERA_OK)
          << s.diagnostics.texts;
      ASSERT_EQ(tessera_buffer_read(s.o, 0, out.data(), kN * 4, nullptr), TESSERA_OK);
      for (int i = 0; i < kN; ++i)
        EXPECT_EQ(out[i], i < n ? s.a * float(i + int(offset) / 4) + float(1000 - 3 * i) : -1.0f) << i;
    }
  EXPECT_EQ(tessera_variants_count(variants), 6u); // 16 and 256 are of one class
}

TEST_P(Variants, ThreadsCompileOnce) {
  std::vector<std::thread> threads;
  std::vector<tessera_kernel *> found(8);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto arguments = s.arguments;
      int32_t n = t % 2 ? 16 : 1;
      arguments[4] = tessera_argument_value(&n, sizeof n);
      EXPECT_EQ(tessera_variants_kernel(variants, arguments.data(), arguments.size(), &found[t], nullptr), TESSERA_OK);
    });
  for (auto &t : threads) t.join();
  for (int t = 2; t < 8; ++t) EXPECT_EQ(found[t], found[t % 2]);
  EXPECT_NE(found[0], found[1]);
  EXPECT_EQ(tessera_variants_count(variants), 2u);
}

TEST_P(Variants, WrongCallsAreRefused) {
  tessera_kernel *k;
  tessera_error *e;
  auto refused = [&](tessera_variants *v, const tessera_argument *a, size_t count, tessera_kernel **to,
                     const char *message) {
    EXPECT_EQ(tessera_variants_kernel(v, a, count, to, &e), TESSERA_USAGE);
    EXPECT_THAT(tessera_error_message(e), HasSubstr(message));
    tessera_error_destroy(e);
  };
  refused(nullptr, s.arguments.data(), 5, &k, "the variants are null");
  refused(variants, nullptr, 5, &k, "the arguments are null");
  refused(variants, s.arguments.data(), 5, nullptr, "the out-parameter for the kernel is null");
  refused(variants, s.arguments.data(), 4, &k, "kernel 'axpy' takes 5 arguments, but 4 are given");
  // What an argument is, the launch checks.
  s.arguments[4].bytes = 8;
  int64_t wide = 1;
  s.arguments[4].value = &wide;
  EXPECT_EQ(tessera_launch(find(), kGrid, s.arguments.data(), s.arguments.size(), nullptr), TESSERA_USAGE);
  tessera_variants *none = variants;
  EXPECT_EQ(tessera_variants_create(s.device, nullptr, nullptr, &none, nullptr), TESSERA_USAGE);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(tessera_variants_count(nullptr), 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Variants, testing::Values("interpreter", "emulator:sm_80", "emulator:gfx942"),
                         [](auto &p) {
                           std::string name = p.param;
                           for (char &c : name)
                             if (!isalnum(c)) c = '_';
                           return name;
                         });

/// A kernel of more than 64 arguments has a key of three words.
TEST(VariantKeys, ManyArguments) {
  Session s("interpreter");
  std::string text = "module { tt.func public @many(";
  for (int i = 0; i < 70; ++i) text += "%a" + std::to_string(i) + ": i32, ";
  text += "%o: !tt.ptr<i32>) { tt.store %o, %a69 : !tt.ptr<i32> tt.return } }";
  tessera_module *module;
  ASSERT_EQ(tessera_module_parse(s.context, text.data(), text.size(), nullptr, &module, nullptr), TESSERA_OK)
      << s.diagnostics.texts;
  tessera_variants *v;
  ASSERT_EQ(tessera_variants_create(s.device, module, nullptr, &v, nullptr), TESSERA_OK) << s.diagnostics.texts;
  ASSERT_EQ(tessera_buffer_create(s.device, 4, &s.o, nullptr), TESSERA_OK);
  int32_t some = 5, last = 5, back = 0;
  std::vector<tessera_argument> arguments(70, tessera_argument_value(&some, 4));
  arguments[69] = tessera_argument_value(&last, 4);
  arguments.push_back(tessera_argument_buffer(s.o));
  tessera_kernel *kernels[3];
  const int32_t lasts[3] = {5, 1, 32}; // of no class, one, and divisible
  const uint32_t grid[3] = {1, 1, 1};
  for (int i = 0; i < 3; ++i) {
    last = lasts[i];
    ASSERT_EQ(tessera_variants_kernel(v, arguments.data(), arguments.size(), &kernels[i], nullptr), TESSERA_OK);
    ASSERT_EQ(tessera_launch(kernels[i], grid, arguments.data(), arguments.size(), nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    ASSERT_EQ(tessera_buffer_read(s.o, 0, &back, 4, nullptr), TESSERA_OK);
    EXPECT_EQ(back, last);
  }
  EXPECT_NE(kernels[0], kernels[1]);
  EXPECT_NE(kernels[1], kernels[2]);
  EXPECT_EQ(tessera_variants_count(v), 3u);
  tessera_module_destroy(module), tessera_variants_destroy(v);
}

TEST(VariantOptions, AreThoseOfAllVariants) {
  Session s("emulator:gfx942");
  ASSERT_EQ(s.prepare(), TESSERA_OK);
  tessera_module *module;
  ASSERT_EQ(tessera_module_parse(s.context, kAxpy, sizeof kAxpy - 1, "axpy.ttir", &module, nullptr), TESSERA_OK);
  tessera_options options, second;
  tessera_options_init(&options, sizeof options);
  options.num_warps = 1;
  tessera_variants *v;
  ASSERT_EQ(tessera_variants_create(s.device, module, &options, &v, nullptr), TESSERA_OK) << s.diagnostics.texts;
  tessera_kernel *kernel;
  s.n = 256;
  ASSERT_EQ(tessera_variants_kernel(v, s.arguments.data(), 5, &kernel, nullptr), TESSERA_OK) << s.diagnostics.texts;
  EXPECT_THAT(tessera_kernel_metadata(kernel), HasSubstr("\"num_warps\": 1,"));
  second = options;
  second.kernel = "other";
  tessera_error *e;
  tessera_variants *none;
  EXPECT_EQ(tessera_variants_create(s.device, module, &second, &none, &e), TESSERA_INPUT);
  EXPECT_EQ(none, nullptr);
  EXPECT_THAT(tessera_error_message(e), HasSubstr("other"));
  tessera_error_destroy(e), tessera_module_destroy(module), tessera_variants_destroy(v);
}

} // namespace
