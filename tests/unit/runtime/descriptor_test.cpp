// Tensor descriptors as arguments: their types as text, the rules that they must meet, tensor maps, which arguments of
// the code belong to which of the text, and descriptions that do not fit their kernels.
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/targets.h"
#include "runtime/kernel_arguments.h"
#include "runtime/launch/descriptor.h"
#include "runtime/launcher.h"
#include "transforms/pipelines.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DescriptorType, IsText) {
  DescriptorType t{DType::F8E4M3FN, {64, 128}};
  EXPECT_EQ(t.str(), "tensordesc<f8E4M3FN[64, 128]>");
  for (const char *good : {"tensordesc<f16[1]>", "tensordesc<u8[1, 2, 4, 8, 16]>"}) {
    auto parsed = DescriptorType::parse(good);
    ASSERT_TRUE(parsed) << good;
    EXPECT_EQ(parsed->str(), good);
  }
  for (const char *bad : {"*f16", "tensordesc<f16[]>", "tensordesc<f16[0]>", "tensordesc<f16[8", "tensordesc<[8]>",
                          "tensordesc<f16[1, 1, 1, 1, 1, 1]>", "tensordesc<f16[a]>", "tensordesc<>"})
    EXPECT_FALSE(DescriptorType::parse(bad)) << bad;
}

std::vector<std::string> problems(const HostDescriptor &d) {
  std::vector<std::string> out;
  checkDescriptor(
      d, [&](DescriptorPart part, const std::string &what) { out.push_back((partName(part) + " " + what).str()); });
  return out;
}

TEST(Descriptor, MustMeetTheRules) {
  const HostDescriptor good{DType::F16, {37, 50}, {56, 1}, {16, 32}, true};
  EXPECT_THAT(problems(good), ElementsAre());
  EXPECT_EQ(good.spannedElements(), 36 * 56 + 50);
  EXPECT_THAT(contiguousStrides({4, 3, 8}), ElementsAre(24, 8, 1));
  std::vector<uint64_t> parts;
  for (size_t k = 0; k < 7; ++k) parts.push_back(good.part(k));
  EXPECT_THAT(parts, ElementsAre(0, 37, 50, 56, 1, 1, 0));

  HostDescriptor d = good;
  d.dtype = DType::I16;
  EXPECT_THAT(problems(d), ElementsAre("padding cannot be NaN: the elements are i16"));
  d = good;
  d.strides = {1};
  d.blockShape = {16};
  EXPECT_THAT(problems(d), ElementsAre("strides must have as many numbers as the shape has dimensions, 2, not 1",
                                       "block shape must have as many sizes as the shape has dimensions, 2, not 1"));
  d = good;
  d.strides = {-56, 1};
  EXPECT_THAT(problems(d),
              ElementsAre("strides must be from 0 to less than 2^40 bytes, and one is -56 elements of f16"));
  d = good;
  d.shape = {};
  EXPECT_THAT(problems(d), ElementsAre("shape must have 1 to 5 dimensions, not 0"));
}

TEST(Descriptor, HasTheKernelsType) {
  HostDescriptor d{DType::I8, {64}, {1}, {16}, false};
  DescriptorPart part;
  EXPECT_EQ((DescriptorType{DType::U8, {16}}.mismatch(d, part)), ""); // integers have no sign
  EXPECT_EQ((DescriptorType{DType::F8E5M2, {16}}.mismatch(d, part)), "is i8, but the kernel's descriptor has f8E5M2");
  EXPECT_EQ((DescriptorType{DType::I8, {32}}.mismatch(d, part)), "is [16], but the kernel's is [32]");
  EXPECT_EQ(part, DescriptorPart::BlockShape);
}

TEST(TensorMap, HasTheDriversOrder) {
  HostDescriptor d{DType::F16, {5, 37, 50}, {3000, 56, 1}, {1, 16, 64}, true};
  TensorMapFormat f{2, 2, 6, {1, 16, 32}, false};
  auto m = tensorMapOf(d, f);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_THAT(m->size, ElementsAre(50, 37, 5));
  EXPECT_THAT(m->strides, ElementsAre(112, 6000));
  EXPECT_THAT(m->box, ElementsAre(32, 16, 1));
  EXPECT_EQ(m->swizzle, 2);
  EXPECT_TRUE(m->nanFill);
  f.elementBytes = 4;
  EXPECT_THAT(std::string(tensorMapOf(d, f).status().message()), HasSubstr("elements of 4 bytes, but f16 has 2"));
  f.blockSize = {16, 32};
  EXPECT_THAT(std::string(tensorMapOf(d, f).status().message()), HasSubstr("has 2 dimensions, but the descriptor 3"));
}

std::string pairs(const std::optional<std::vector<ArgumentSource>> &sources) {
  std::string out;
  if (!sources) return "none";
  for (auto &s : *sources) out += std::to_string(s.given) + "." + std::to_string(s.part) + " ";
  return out;
}

TEST(KernelArguments, OfTextAndCode) {
  std::vector<KernelMetadata::Arg> args(7);
  args[0].type = "i32";
  args[1].descriptor = "tensordesc<f16[8]>";
  args[5].type = "tensordesc<f16[8]>"; // a tensor map
  EXPECT_EQ(argumentsInText(args), 4u);
  EXPECT_EQ(pairs(argumentSources(args, {false, true, true, false})), "0.0 1.0 1.1 1.2 1.3 2.0 3.0 ");
  EXPECT_EQ(pairs(argumentSources(args, {false, false, true, false})),
            "0.0 1.0 1.1 1.2 1.3 2.0 3.0 "); // an error later
  EXPECT_EQ(pairs(argumentSources(args, {false, false, false, false, false, true, false})),
            "0.0 1.0 2.0 3.0 4.0 5.0 6.0 ");
  EXPECT_EQ(pairs(argumentSources(args, {false, true, true})), "none");
  EXPECT_EQ(pairs(argumentSources(args, {false, true, true, false, false})), "none");
}

TEST(KernelArguments, IntegersThatRepeatADescriptor) {
  HostDescriptor d;
  d.shape = {int64_t(1) << 31, 5}, d.strides = {8, 1};
  auto why = [&](const char *name, const char *type, uint64_t bits) {
    KernelMetadata::Arg takes;
    takes.name = name, takes.type = type;
    return contradiction({"x", &d}, takes, bits);
  };
  EXPECT_EQ(why("x_shape_1", "i32", 5), "");
  EXPECT_EQ(why("x_shape_1", "i32", 6), "is 6, but size 1 of the descriptor 'x' is 5");
  EXPECT_EQ(why("x_shape_1", "i32", uint32_t(-1)), "is -1, but size 1 of the descriptor 'x' is 5");
  EXPECT_EQ(why("x_shape_0", "i64", uint64_t(1) << 31), "");
  EXPECT_EQ(why("x_shape_0", "i32", uint64_t(1) << 31),
            "is -2147483648, but size 0 of the descriptor 'x' is 2147483648"); // which the kernel would compute with
  EXPECT_EQ(why("x_stride_0", "i64", 8), "");
  EXPECT_EQ(why("x_stride_0", "i64", 9), "is 9, but stride 0 of the descriptor 'x' is 8");
  for (const char *other : {"y_shape_1", "x_shape_2", "x_shape_", "x_shape_1a", "x_shape_-1", "x_size_1", "x", ""})
    EXPECT_EQ(why(other, "i32", 77), "") << other;
  for (const char *type : {"f32", "*f32", "i", "i65", "i0"}) EXPECT_EQ(why("x_shape_1", type, 77), "") << type;
}

constexpr llvm::StringRef kText = R"(
tt.func public @k(%d: !tt.tensordesc<tensor<8x16xf16>>, %p: !tt.ptr<f16>, %n: i32) {
  %zero = arith.constant 0 : i32
  %v = tt.descriptor_load %d[%n, %zero] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.descriptor_store %d[%zero, %n], %v : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  tt.return
}
)";

TEST(KernelArguments, DescriptionsThatDoNotFit) {
  ir::Context context;
  ir::DiagnosticEngine diag([](const ir::Diagnostic &d) { ADD_FAILURE() << d.message; });
  auto m = frontend::parseModule(kText, "k.ttir", context, diag);
  ASSERT_TRUE(m);
  auto why = [&](const std::string &args) {
    auto d = parseLaunch(R"({"grid": [1], "args": [)" + args + "]}", "l");
    EXPECT_TRUE(d.ok()) << d.status();
    auto prepared = prepareArguments(*d, *selectKernel(*m, ""));
    return std::string(prepared.status().message());
  };
  auto descriptor = [](const char *name, const char *dtype, const char *block) {
    return std::string(R"({"name": ")") + name + R"(", "dtype": ")" + dtype +
           R"(", "shape": [8, 16], "fill": 0, "block_shape": )" + block + "}";
  };
  std::string good = descriptor("d", "f16", "[8, 16]"), buffer = R"({"name": "p", "dtype": "f16", "shape": [8]})",
              n = R"({"name": "n", "scalar": 0, "type": "i32"})";
  for (bool expanded : {false, true}) {
    SCOPED_TRACE(expanded);
    const char *type = expanded ? "tensordesc<f16[8, 16]>" : "!tt.tensordesc<tensor<8x16xf16>>";
    EXPECT_EQ(why(good + "," + buffer + "," + n), "");
    EXPECT_EQ(why(descriptor("d", "bf16", "[8, 16]") + "," + buffer + "," + n),
              "l:1:24: args[0] ('d') has a wrong element type: it is bf16, but the kernel's descriptor has f16");
    EXPECT_EQ(why(descriptor("d", "f16", "[8, 8]") + "," + buffer + "," + n),
              "l:1:24: args[0] ('d') has a wrong block shape: it is [8, 8], but the kernel's is [8, 16]");
    EXPECT_EQ(why(buffer + "," + good + "," + n),
              "l:1:24: args[0] ('p') is a buffer, but the kernel takes a tensor descriptor, " + std::string(type) +
                  "; a buffer with \"block_shape\" is one\nl:1:68: args[1] ('d') is a tensor descriptor "
                  "(\"block_shape\"), but the kernel takes !tt.ptr<f16>");
    EXPECT_THAT(why(good + "," + n), HasSubstr("kernel 'k' takes 3 arguments, but the description gives 2"));
    if (expanded) break;
    // Passes may expand the descriptor: the same description is right.
    transforms::RunOptions o;
    ASSERT_TRUE(transforms::runPipeline(*m, transforms::ttirPipeline(**requireTarget("gfx942")), o, diag).ok());
    auto args = describeArguments(*selectKernel(*m, ""));
    ASSERT_EQ(args.size(), 8u);
    EXPECT_EQ(args[0].descriptor, "tensordesc<f16[8, 16]>");
    EXPECT_EQ(args[0].type, "*f16");
  }
}

TEST(KernelMetadata, KeepsDescriptors) {
  KernelMetadata md;
  md.kernel = "k";
  md.target = "sm_90a";
  md.args = {{"a", "tensordesc<f16[64, 64]>", "", TensorMapFormat{3, 2, 6, {64, 64}, false}},
             {"b", "*f32", "tensordesc<f32[8]>", std::nullopt},
             {"b.shape.0", "i64", "", std::nullopt},
             {"b.stride.0", "i64", "", std::nullopt},
             {"b.padding", "i1", "", std::nullopt}};
  std::string json = toJson(md);
  EXPECT_THAT(json, HasSubstr("\"tensordesc_meta\": [\n"));
  auto back = metadataFromJson(json);
  ASSERT_TRUE(back.ok()) << back.status() << json;
  EXPECT_EQ(toJson(*back), json);
  EXPECT_EQ(back->args[0].tensorMap, md.args[0].tensorMap);
  EXPECT_EQ(back->args[1].descriptor, md.args[1].descriptor);
  md.args.pop_back();
  EXPECT_THAT(std::string(metadataFromJson(toJson(md)).status().message()),
              HasSubstr("args[1]: is not followed by the parts of a tensor descriptor"));
}

// Unknown is null, not 0, and stays unknown.
TEST(KernelMetadata, KeepsWhatIsUnknown) {
  KernelMetadata md;
  md.kernel = "k";
  md.target = "sm_90a";
  md.dynamicSharedBytes = 1024;
  md.registers = 40;
  auto text = [&](KernelMetadata::Known known) {
    md.known = known;
    std::string json = toJson(md);
    auto back = metadataFromJson(json);
    EXPECT_TRUE(back.ok()) << back.status() << json;
    if (!back.ok()) return json;
    EXPECT_EQ(back->known, known);
    EXPECT_EQ(toJson(*back), json);
    return json;
  };
  std::string json = text(KernelMetadata::Configuration);
  for (const char *key : {"threads_per_block", "dynamic_shared_bytes", "static_shared_bytes", "global_scratch_bytes",
                          "global_scratch_align", "registers", "spill_bytes", "occupancy"})
    EXPECT_THAT(json, HasSubstr("\"" + std::string(key) + "\": null"));
  json = text(KernelMetadata::Launch);
  EXPECT_THAT(json, HasSubstr("\"dynamic_shared_bytes\": 1024"));
  EXPECT_THAT(json, HasSubstr("\"registers\": null"));
  json = text(KernelMetadata::Resources);
  EXPECT_THAT(json, HasSubstr("\"registers\": 40"));
  EXPECT_EQ(json.find("null"), std::string::npos);
  // Metadata that others wrote may leave out what no launch needs.
  std::string others = R"({"kernel": "k", "target": "t", "num_warps": 1, "threads_per_warp": 32,
                           "threads_per_block": 32, "dynamic_shared_bytes": 0, "args": []})";
  ASSERT_TRUE(metadataFromJson(others).ok()) << metadataFromJson(others).status();
}

} // namespace
} // namespace tessera::runtime
