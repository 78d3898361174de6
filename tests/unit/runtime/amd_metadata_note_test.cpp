// What an hsaco says about its kernel in its AMDGPU metadata note (AMDGPUUsage, code object V5), from which a loader
// builds the kernel's arguments and a dispatch: every argument's place, size and kind for all types that a kernel
// takes, the wave's size, the block's size and LDS. The figures are those of the ABI: arguments in order, each at a
// multiple of its size, then the two pointers to scratch memory that every kernel has last; LDS is given at launch.
#include "codegen_amd/arch_table.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include "sum_of_scalars.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include <gmock/gmock.h>

namespace tessera {
namespace {

const std::string kKernel = R"(
tt.func public @k(%b: i1, %c: i8, %p: !tt.ptr<f32>, %h: i16, %i: i32, %l: i64, %f: f16, %g: bf16, %s: f32, %d: f64, %q: !tt.ptr<i8>, %e: i1, %o: !tt.ptr<f64>, %m: !tt.ptr<i64>) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %sp = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %a = tt.addptr %sp, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %a : tensor<128x!tt.ptr<f32>>
  %z = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %w = arith.addf %x, %y : f32
    tt.reduce.return %w : f32
  }) : (tensor<128xf32>) -> f32
  tt.store %m, %l : !tt.ptr<i64>
  tt.store %q, %c : !tt.ptr<i8>
)" +
                            sumOfScalars({{"b", "i1"},
                                          {"c", "i8"},
                                          {"h", "i16"},
                                          {"i", "i32"},
                                          {"f", "f16"},
                                          {"g", "bf16"},
                                          {"s", "f32"},
                                          {"d", "f64"},
                                          {"e", "i1"},
                                          {"z", "f32"}}) +
                            R"(
  tt.store %o, %sum : !tt.ptr<f64>
  tt.return
})";

struct Argument {
  uint64_t offset, size;
  std::string kind, space;
  bool operator==(const Argument &) const = default;
};
std::ostream &operator<<(std::ostream &os, const Argument &a) {
  return os << a.offset << " " << a.size << " " << a.kind << " " << a.space;
}

/// The map of the only kernel in the note of an hsaco, in a document that outlives it.
llvm::msgpack::MapDocNode kernelOf(llvm::StringRef hsaco, llvm::msgpack::Document &document) {
  auto file = llvm::cantFail(llvm::object::ELFFile<llvm::object::ELF64LE>::create(hsaco));
  for (auto &header : llvm::cantFail(file.program_headers())) {
    if (header.p_type != llvm::ELF::PT_NOTE) continue;
    llvm::Error error = llvm::Error::success();
    for (auto note : file.notes(header, error))
      if (note.getName() == "AMDGPU")
        EXPECT_TRUE(document.readFromBlob(note.getDescAsStringRef(header.p_align), false));
    llvm::cantFail(std::move(error));
  }
  auto &kernels = document.getRoot().getMap(/*Convert=*/true)["amdhsa.kernels"].getArray(/*Convert=*/true);
  EXPECT_EQ(kernels.size(), 1u);
  return kernels[0].getMap(/*Convert=*/true);
}

class AmdMetadataNote : public testing::TestWithParam<std::string> {};

TEST_P(AmdMetadataNote, DescribesArgumentsAndLaunch) {
  const ir::TargetInfo *target = *runtime::requireTarget(GetParam());
  for (int warps : {1, 4}) {
    SCOPED_TRACE(warps);
    ir::Context context;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { ADD_FAILURE() << ir::render(d); });
    auto m = frontend::parseModule(kKernel, "test.ttir", context, diag);
    ASSERT_TRUE(m);
    runtime::CompileOptions o;
    o.numWarps = warps;
    auto r = runtime::compile(*m, *target, o, diag);
    ASSERT_TRUE(r.ok()) << r.status();
    llvm::msgpack::Document document;
    auto kernel = kernelOf(r->output, document);
    auto number = [&](llvm::StringRef key) { return kernel[key].getUInt(); };
    EXPECT_EQ(kernel[".name"].getString(), "k");
    EXPECT_EQ(kernel[".symbol"].getString(), "k.kd");
    EXPECT_EQ(number(".wavefront_size"), uint64_t(target->warpSize));
    EXPECT_EQ(number(".max_flat_workgroup_size"), uint64_t(target->warpSize * warps));
    EXPECT_EQ(number(".kernarg_segment_size"), 96u);
    EXPECT_EQ(number(".kernarg_segment_align"), 8u);
    EXPECT_EQ(number(".private_segment_fixed_size"), 0u);
    EXPECT_EQ(number(".vgpr_spill_count"), 0u);
    EXPECT_EQ(number(".sgpr_spill_count"), 0u);
    // LDS is dynamic: the loader adds what the compiler's metadata requests. One wave reduces without it.
    EXPECT_EQ(number(".group_segment_fixed_size"), 0u);
    EXPECT_EQ(r->metadata.dynamicSharedBytes > 0, warps > 1);
    const Argument expected[] = {{0, 1, "by_value", ""},
                                 {1, 1, "by_value", ""},
                                 {8, 8, "global_buffer", "global"},
                                 {16, 2, "by_value", ""},
                                 {20, 4, "by_value", ""},
                                 {24, 8, "by_value", ""},
                                 {32, 2, "by_value", ""},
                                 {34, 2, "by_value", ""},
                                 {36, 4, "by_value", ""},
                                 {40, 8, "by_value", ""},
                                 {48, 8, "global_buffer", "global"},
                                 {56, 1, "by_value", ""},
                                 {64, 8, "global_buffer", "global"},
                                 {72, 8, "global_buffer", "global"},
                                 {80, 8, "global_buffer", "global"},
                                 {88, 8, "global_buffer", "global"}};
    std::vector<Argument> got;
    for (auto &node : kernel[".args"].getArray(/*Convert=*/true)) {
      auto &a = node.getMap();
      got.push_back({a[".offset"].getUInt(), a[".size"].getUInt(), a[".value_kind"].getString().str(),
                     a.find(".address_space") == a.end() ? "" : a[".address_space"].getString().str()});
    }
    EXPECT_THAT(got, testing::ElementsAreArray(expected));
  }
}

std::vector<std::string> amdTargets() {
  std::vector<std::string> names;
  for (auto &arch : amd::archTable()) names.push_back(arch.info.name.str());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Targets, AmdMetadataNote, testing::ValuesIn(amdTargets()), [](auto &p) { return p.param; });

} // namespace
} // namespace tessera
