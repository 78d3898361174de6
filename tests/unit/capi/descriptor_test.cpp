// Tensor descriptors as arguments of launches through the C API: on the interpreter and emulators of both vendors what
// a copy computes, every descriptor that is refused, and on the stand-in for CUDA how its tensor map is encoded.
#include "session.h"
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>

namespace {
using ::testing::HasSubstr;

// y[r][c] = x[i + r][c]
const char kCopy[] =
    R"(tt.func public @copy(%x: !tt.tensordesc<tensor<8x16xf32>>, %y: !tt.tensordesc<tensor<8x16xf32>>, %i: i32) {
  %zero = arith.constant 0 : i32
  %v = tt.descriptor_load %x[%i, %zero] : !tt.tensordesc<tensor<8x16xf32>> -> tensor<8x16xf32>
  tt.descriptor_store %y[%zero, %zero], %v : !tt.tensordesc<tensor<8x16xf32>>, tensor<8x16xf32>
  tt.return
}
)";
constexpr int kRows = 5, kColumns = 12, kPitch = 20; // of x, which begins 32 bytes into its buffer
constexpr size_t kOffset = 32;
constexpr int kOutRows = 8, kOutColumns = 16;
const uint32_t kOne[3] = {1, 1, 1};

tessera_tensor_descriptor descriptorOf(int rows, int columns, int pitch) {
  tessera_tensor_descriptor d;
  tessera_tensor_descriptor_init(&d, sizeof d);
  d.element_type = "f32";
  d.rank = 2;
  d.shape[0] = rows, d.shape[1] = columns;
  d.strides[0] = pitch, d.strides[1] = 1;
  d.block_shape[0] = 8, d.block_shape[1] = 16;
  return d;
}

/// The kernel with its buffers: x[r][c] = 100 r + c.
struct Copy {
  Session s;
  tessera_tensor_descriptor x = descriptorOf(kRows, kColumns, kPitch);
  tessera_tensor_descriptor y = descriptorOf(kOutRows, kOutColumns, kOutColumns);
  int32_t i = 1;

  explicit Copy(const char *spec) : s(spec) {
    if (!s.device) return;
    EXPECT_EQ(tessera_buffer_create(s.device, kOffset + 4 * kPitch * kRows, &s.x, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_buffer_create(s.device, 4 * kOutRows * kOutColumns, &s.y, nullptr), TESSERA_OK);
    std::vector<float> values(kPitch * kRows);
    for (int r = 0; r < kRows; ++r)
      for (int c = 0; c < kPitch; ++c) values[r * kPitch + c] = c < kColumns ? float(100 * r + c) : -1;
    EXPECT_EQ(tessera_buffer_write(s.x, kOffset, values.data(), 4 * values.size(), nullptr), TESSERA_OK);
    x.nan_padding = 1;
    arguments();
  }
  void arguments() {
    s.arguments = {tessera_argument_descriptor(s.x, kOffset, &x), tessera_argument_descriptor(s.y, 0, &y),
                   tessera_argument_value(&i, sizeof i)};
  }
  tessera_status compile() {
    return tessera_kernel_compile(s.device, kCopy, sizeof kCopy - 1, "copy.ttir", nullptr, &s.kernel, nullptr);
  }
  int wrong() {
    std::vector<float> out(kOutRows * kOutColumns);
    EXPECT_EQ(tessera_buffer_read(s.y, 0, out.data(), 4 * out.size(), nullptr), TESSERA_OK);
    int n = 0;
    for (int r = 0; r < kOutRows; ++r)
      for (int c = 0; c < kOutColumns; ++c) {
        float got = out[r * kOutColumns + c];
        bool inside = i + r < kRows && c < kColumns;
        n += inside ? got != float(100 * (i + r) + c) : !std::isnan(got);
      }
    return n;
  }
};

class Descriptors : public testing::TestWithParam<const char *> {};

TEST_P(Descriptors, AreArguments) {
  Copy t(GetParam());
  ASSERT_EQ(t.compile(), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_THAT(tessera_kernel_metadata(t.s.kernel), HasSubstr("tensordesc<f32[8, 16]>"));
  ASSERT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.wrong(), 0);
  t.i = 3;
  ASSERT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.wrong(), 0);
}

/// The metadata says how the arguments are passed.
TEST_P(Descriptors, AreArgumentsOfALoadedKernel) {
  if (GetParam() == std::string("interpreter")) GTEST_SKIP() << "the interpreter loads text";
  Copy t(GetParam());
  tessera_options o;
  tessera_options_init(&o, sizeof o);
  o.target = tessera_device_describe(t.s.device)->target;
  o.stage = "bitcode";
  tessera_result *r;
  ASSERT_EQ(tessera_compile(t.s.context, kCopy, sizeof kCopy - 1, nullptr, &o, &r, nullptr), TESSERA_OK)
      << t.s.diagnostics.texts;
  size_t length;
  const char *object = tessera_result_data(r, &length);
  ASSERT_EQ(tessera_kernel_load(t.s.device, object, length, tessera_result_metadata(r), &t.s.kernel, nullptr),
            TESSERA_OK)
      << t.s.diagnostics.texts;
  tessera_result_destroy(r);
  ASSERT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.wrong(), 0);
}

/// As ragged batches have: 2^30 rows of which a block lies in the buffer. What is accessed is checked.
TEST_P(Descriptors, MayDescribeMoreThanTheBuffer) {
  Copy t(GetParam());
  ASSERT_EQ(t.compile(), TESSERA_OK) << t.s.diagnostics.texts;
  t.x.shape[0] = 1 << 30;
  t.i = 0;
  tessera_error *e;
  EXPECT_EQ(tessera_launch(t.s.kernel, kOne, t.s.arguments.data(), t.s.arguments.size(), &e), TESSERA_FAILED);
  EXPECT_THAT(t.s.diagnostics.texts, HasSubstr("out of bounds"));
  tessera_error_destroy(e);
  // The block's first rows are below 0, and its last one is row 0.
  t.i = 1 - kOutRows;
  ASSERT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  std::vector<float> out(kOutRows * kOutColumns);
  EXPECT_EQ(tessera_buffer_read(t.s.y, 0, out.data(), 4 * out.size(), nullptr), TESSERA_OK);
  for (int c = 0; c < kColumns; ++c) EXPECT_EQ(out[(kOutRows - 1) * kOutColumns + c], float(c));
  EXPECT_TRUE(std::isnan(out[0]));
}

TEST_P(Descriptors, ThatAreWrongAreRefused) {
  Copy t(GetParam());
  ASSERT_EQ(t.compile(), TESSERA_OK) << t.s.diagnostics.texts;
  const auto x = t.x;
  auto refused = [&](const char *why) {
    tessera_error *e;
    EXPECT_EQ(tessera_launch(t.s.kernel, kOne, t.s.arguments.data(), t.s.arguments.size(), &e), TESSERA_USAGE) << why;
    EXPECT_THAT(tessera_error_message(e), HasSubstr(why));
    tessera_error_destroy(e);
    t.x = x;
    t.arguments();
  };
  t.x.element_type = "f31";
  refused("the element type of argument 0 ('arg0') of kernel 'copy', 'f31', is unknown");
  t.x.element_type = nullptr;
  refused("the element type of argument 0 ('arg0') of kernel 'copy', '', is unknown");
  t.x.element_type = "f16", t.x.strides[0] = 40;
  refused("the element type of argument 0 ('arg0') of kernel 'copy' is f16, but the kernel's descriptor has f32");
  t.x.rank = 0;
  refused("the rank of argument 0 ('arg0') of kernel 'copy' must be 1 to 5, not 0");
  t.x.rank = 6;
  refused("must be 1 to 5, not 6");
  t.x.rank = 1, t.x.strides[0] = 1;
  refused("the block shape of argument 0 ('arg0') of kernel 'copy' is [8], but the kernel's is [8, 16]");
  t.x.shape[1] = 0;
  refused("the shape of argument 0 ('arg0') of kernel 'copy' must have sizes from 1 to 2147483647, not 0");
  t.x.strides[0] = 18;
  refused("must be multiples of 16 bytes, except for the last, and one is 18 elements of f32, 72 bytes");
  t.x.strides[1] = 2;
  refused("the strides of argument 0 ('arg0') of kernel 'copy' must end in 1, not 2");
  t.x.block_shape[0] = 16;
  refused("is [16, 16], but the kernel's is [8, 16]");
  t.x.block_shape[0] = 12;
  refused("must have powers of two, and one size is 12");
  t.x.block_shape[0] = 1 << 20;
  refused("is too large: a block has at most 1048576 elements");
  t.s.arguments[0].offset = 40;
  refused("the base of argument 0 ('arg0') of kernel 'copy' must be a multiple of 16 bytes, not 40");
  t.s.arguments[0].offset = 1 << 20;
  refused("bytes into a buffer of");
  t.s.arguments[0] = tessera_argument_descriptor(nullptr, 0, &t.x);
  t.x.address = 4096;
  refused("is an address, of which");
  t.s.arguments[0] = tessera_argument_buffer(t.s.x);
  refused("argument 0 ('arg0') of kernel 'copy' is of type tensordesc<f32[8, 16]>, and a buffer is given");
  t.s.arguments[1] = tessera_argument_value(&t.i, sizeof t.i);
  refused("is of type tensordesc<f32[8, 16]>, and a value is given");
  t.s.arguments[2] = tessera_argument_descriptor(t.s.x, 0, &t.x);
  refused("is of type i32, and a tensor descriptor is given");
  t.s.arguments.pop_back();
  refused("kernel 'copy' takes 3 arguments, but 2 are given");
  EXPECT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.wrong(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Descriptors,
                         testing::Values("interpreter", "emulator:sm_80", "emulator:sm_90a", "emulator:gfx942"),
                         [](auto &p) {
                           std::string s = p.param;
                           for (char &c : s)
                             if (c == ':') c = '_';
                           return s;
                         });

/// Where the code takes the parts, they may be given one by one.
TEST(DescriptorParts, AreArgumentsToo) {
  Copy t("emulator:gfx942");
  ASSERT_EQ(t.compile(), TESSERA_OK) << t.s.diagnostics.texts;
  int64_t numbers[] = {kRows, kColumns, kPitch, 1};
  uint8_t nan = 1;
  tessera_argument base = tessera_argument_buffer(t.s.x);
  base.offset = kOffset;
  t.s.arguments = {base};
  for (auto &n : numbers) t.s.arguments.push_back(tessera_argument_value(&n, sizeof n));
  t.s.arguments.push_back(tessera_argument_value(&nan, 1));
  t.s.arguments.push_back(tessera_argument_descriptor(t.s.y, 0, &t.y));
  t.s.arguments.push_back(tessera_argument_value(&t.i, sizeof t.i));
  EXPECT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_EQ(t.wrong(), 0);
}

/// Triton's kernels compute with the shape and strides that stand once more behind a descriptor.
TEST(DescriptorParts, ThatAreRepeatedAreCompared) {
  const char text[] = R"(
tt.func public @k(%x: !tt.tensordesc<tensor<8x16xf32>> loc("x"), %h: i32 loc("x_shape_0"), %s: i64 loc("x_stride_0")) {
  tt.return
})";
  for (const char *spec : {"interpreter", "emulator:sm_90a", "emulator:gfx942"}) {
    SCOPED_TRACE(spec);
    Copy t(spec);
    ASSERT_EQ(tessera_kernel_compile(t.s.device, text, sizeof text - 1, "k.ttir", nullptr, &t.s.kernel, nullptr),
              TESSERA_OK)
        << t.s.diagnostics.texts;
    int32_t rows = kRows;
    int64_t pitch = kPitch;
    t.s.arguments = {tessera_argument_descriptor(t.s.x, kOffset, &t.x), tessera_argument_value(&rows, sizeof rows),
                     tessera_argument_value(&pitch, sizeof pitch)};
    EXPECT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
    rows = kRows + 1;
    EXPECT_EQ(t.s.launch(kOne), TESSERA_USAGE);
    EXPECT_THAT(t.s.diagnostics.texts, HasSubstr("argument 1 ('x_shape_0') of kernel 'k' is 6, but size 0 of the "
                                                 "descriptor 'x' is 5"));
    rows = kRows, pitch = kRows;
    EXPECT_EQ(t.s.launch(kOne), TESSERA_USAGE);
  }
}

TEST(DescriptorTuning, WorksOnCopies) {
  for (const char *spec : {"emulator:sm_90a", "emulator:gfx1100"}) {
    Copy t(spec);
    tessera_module *module;
    ASSERT_EQ(tessera_module_parse(t.s.context, kCopy, sizeof kCopy - 1, "copy.ttir", &module, nullptr), TESSERA_OK);
    tessera_options o;
    tessera_options_init(&o, sizeof o);
    o.num_warps = 1;
    const tessera_options *all[] = {&o};
    tessera_tuning *tuning;
    ASSERT_EQ(
        tessera_tune(t.s.device, module, all, 1, kOne, t.s.arguments.data(), t.s.arguments.size(), 1, &tuning, nullptr),
        TESSERA_OK)
        << t.s.diagnostics.texts;
    EXPECT_EQ(tessera_tuning_measurement(tuning, 0)->outcome, TESSERA_MEASURED)
        << tessera_tuning_measurement(tuning, 0)->reason;
    tessera_tuning_destroy(tuning);
    tessera_module_destroy(module);
  }
}

/// What a device loads that cannot execute it: the stand-ins read the first bytes only.
const char kMetadata[] = R"({"kernel": "k", "target": "sm_90a", "num_warps": 4, "threads_per_warp": 32,
  "threads_per_block": 128, "dynamic_shared_bytes": 0,
  "args": [{"name": "x", "type": "tensordesc<bf16[64, 128]>"}, {"name": "n", "type": "i32"}],
  "tensordesc_meta": [{"swizzle": 3, "elem_size": 2, "elem_type": 10, "block_size": [64, 64], "fp4_padded": false}]})";

struct OnStandIn {
  Session s;
  tessera_tensor_descriptor x = descriptorOf(37, 50, 56);
  int32_t n = 7;
  explicit OnStandIn(const char *spec) : s(spec) {
    x.element_type = "bf16";
    x.block_shape[0] = 64, x.block_shape[1] = 128;
    EXPECT_EQ(tessera_buffer_create(s.device, 64 * 1024, &s.x, nullptr), TESSERA_OK);
    EXPECT_EQ(tessera_kernel_load(s.device, kEmptyObject.data(), kEmptyObject.size(), kMetadata, &s.kernel, nullptr),
              TESSERA_OK)
        << s.diagnostics.texts;
    s.arguments = {tessera_argument_descriptor(s.x, 256, &x), tessera_argument_value(&n, sizeof n)};
  }
};

TEST(TensorMaps, AreEncodedByTheDriver) {
  OnStandIn t("cuda:0");
  void *driver = dlopen(FAKE_CUDA, RTLD_NOW);
  ASSERT_TRUE(driver) << dlerror();
  auto last = reinterpret_cast<const char *(*)()>(dlsym(driver, "fakeDriverTensorMap"));
  ASSERT_TRUE(last);
  ASSERT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  // The host's number of bf16 is 9; innermost dimension first.
  EXPECT_STREQ(last(), "type 9 rank 2 size 50 37 stride 112 box 64 64 element stride 1 1 interleave 0 swizzle 3 "
                       "promotion 2 fill 0, launched");
  t.x.nan_padding = 1;
  t.x.rank = 2;
  t.x.strides[0] = 64;
  ASSERT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  EXPECT_STREQ(last(), "type 9 rank 2 size 50 37 stride 128 box 64 64 element stride 1 1 interleave 0 swizzle 3 "
                       "promotion 2 fill 1, launched");
  // Memory of another library.
  uint64_t address = reinterpret_cast<uint64_t>(&t.x) / 16 * 16;
  t.x.address = address;
  t.s.arguments[0] = tessera_argument_descriptor(nullptr, 0, &t.x);
  EXPECT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  t.x.address = address + 8;
  EXPECT_EQ(t.s.launch(kOne), TESSERA_USAGE);
  EXPECT_THAT(t.s.diagnostics.texts, HasSubstr("must be a multiple of 16 bytes, not"));
}

TEST(TensorMaps, OfBytesHaveNoNan) {
  OnStandIn t("cuda:0");
  std::string metadata = kMetadata;
  auto put = [&](const std::string &from, const std::string &to) {
    metadata.replace(metadata.find(from), from.size(), to);
  };
  put("bf16", "f8E5M2");
  put("\"elem_size\": 2, \"elem_type\": 10", "\"elem_size\": 1, \"elem_type\": 0");
  tessera_kernel_destroy(t.s.kernel);
  ASSERT_EQ(
      tessera_kernel_load(t.s.device, kEmptyObject.data(), kEmptyObject.size(), metadata.c_str(), &t.s.kernel, nullptr),
      TESSERA_OK)
      << t.s.diagnostics.texts;
  t.x.element_type = "f8E5M2";
  t.x.strides[0] = 64;
  EXPECT_EQ(t.s.launch(kOne), TESSERA_OK) << t.s.diagnostics.texts;
  t.x.nan_padding = 1;
  EXPECT_EQ(t.s.launch(kOne), TESSERA_USAGE);
  EXPECT_THAT(t.s.diagnostics.texts, HasSubstr("tensor maps of f8E5M2 cannot be padded with NaN"));
}

TEST(TensorMaps, AreNotOfHip) {
  OnStandIn t("hip:0");
  EXPECT_EQ(t.s.launch(kOne), TESSERA_FAILED);
  EXPECT_THAT(t.s.diagnostics.texts, HasSubstr("hip:0 has no tensor maps, which kernel 'k' takes"));
}

TEST(TensorMaps, MustFitTheirArguments) {
  Session s("cuda:0");
  auto refused = [&](std::string from, const std::string &to, const char *why) {
    std::string metadata = kMetadata;
    metadata.replace(metadata.find(from), from.size(), to);
    tessera_error *e;
    EXPECT_EQ(tessera_kernel_load(s.device, kEmptyObject.data(), kEmptyObject.size(), metadata.c_str(), &s.kernel, &e),
              TESSERA_USAGE);
    EXPECT_THAT(tessera_error_text(e), HasSubstr(why));
    tessera_error_destroy(e);
  };
  refused("[64, 64]", "[64]", "tensordesc_meta[0]: has another rank than its argument's type");
  refused("[64, 64]", "[64, 512]", "must be between 1 and 256, not 512");
  refused("\"swizzle\": 3", "\"swizzle\": 4", "must be between 0 and 3, not 4");
  refused("bf16[64, 128]", "bf99[64, 128]", "args[0]: is no type of a tensor descriptor");
  refused("\"i32\"}]", "\"i32\"}, {\"name\": \"y\", \"type\": \"tensordesc<f16[8]>\"}]",
          "tensordesc_meta: has 1 entries, but \"args\" has 2 tensor descriptors");
  refused("\"type\": \"tensordesc<bf16[64, 128]>\"",
          "\"type\": \"*bf16\", \"descriptor\": \"tensordesc<bf16[64, 128]>\"",
          "args[0]: is not followed by the parts of a tensor descriptor");
}

} // namespace
