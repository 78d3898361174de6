// Reading code objects: what descriptors say, and that damaged files give errors.
#include "assembled.h"
#include "runtime/code_object/code_object.h"
#include "runtime/code_object/decoder.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {

using code_object::readCodeObject;
using ::testing::HasSubstr;

constexpr const char *kBody = "s_load_dwordx2 s[0:1], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
                              ".Lloop:\nv_add_u32 v1, 4, v1\ns_cbranch_scc1 .Lloop\n"
                              "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]\n"
                              "global_store_dword v1, v1, s[0:1]\ns_endpgm";

TEST(CodeObject, HasWhatTheDescriptorSays) {
  auto hsaco = testing::assembleObject("gfx942", kBody, {.ldsBytes = 1000, .scratchBytes = 16});
  ASSERT_TRUE(hsaco.ok()) << hsaco.status();
  auto object = readCodeObject(*hsaco);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(object->target, "gfx942");
  ASSERT_EQ(object->kernels.size(), 1u);
  const code_object::Kernel &k = object->kernels[0];
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.waveSize, 64u);
  EXPECT_EQ(k.vgprs, 128u);
  EXPECT_EQ(k.firstAgpr, 64u);
  EXPECT_EQ(k.descriptor.ldsBytes, 1000u);
  EXPECT_EQ(k.descriptor.privateBytes, 16u);
  EXPECT_TRUE(k.descriptor.kernargSegmentPtr());
  EXPECT_EQ(k.descriptor.kernargBytes, 8u);
  EXPECT_FALSE(k.hasMetadata);
}

TEST(CodeObject, IsDecoded) {
  auto hsaco = testing::assembleObject("gfx942", kBody);
  ASSERT_TRUE(hsaco.ok()) << hsaco.status();
  auto object = readCodeObject(*hsaco);
  ASSERT_TRUE(object.ok()) << object.status();
  auto program = code_object::decode(*object, object->kernels[0]);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto &code = program->instructions;
  ASSERT_EQ(code.size(), 8u);
  EXPECT_EQ(code[0].unit, code_object::Unit::Smem);
  EXPECT_EQ(code[0].accessBytes, 8u);
  EXPECT_EQ(code[2].unit, code_object::Unit::Wait);
  EXPECT_EQ(code[2].waits.lgkm, 0);
  EXPECT_EQ(code[2].waits.vm, -1);
  EXPECT_EQ(code[4].target, 3u);
  EXPECT_EQ(code[5].unit, code_object::Unit::Matrix);
  ASSERT_EQ(code[5].defs.size(), 1u);
  EXPECT_EQ(code[5].defs[0].file, code_object::RegisterFile::Agpr);
  EXPECT_EQ(code[5].defs[0].count, 16u);
  EXPECT_TRUE(code[6].isStore);
}

TEST(CodeObject, OtherFilesAreErrors) {
  auto errorOf = [](llvm::StringRef bytes) { return std::string(readCodeObject(bytes).status().message()); };
  EXPECT_THAT(errorOf(""), HasSubstr("is not an ELF file"));
  EXPECT_THAT(errorOf("module attributes {}"), HasSubstr("is not an ELF file"));
  auto hsaco = testing::assembleObject("gfx942", kBody);
  ASSERT_TRUE(hsaco.ok()) << hsaco.status();
  std::string other = *hsaco;
  other[18] = 62; // e_machine: x86-64
  EXPECT_THAT(errorOf(other), HasSubstr("is for another machine"));
  other = *hsaco;
  other[16] = 1; // e_type: ET_REL
  EXPECT_THAT(errorOf(other), HasSubstr("is not linked"));
  other = *hsaco;
  other[48] = 0x77; // e_flags: EF_AMDGPU_MACH
  EXPECT_THAT(errorOf(other), HasSubstr("target that is not known"));
  other = *hsaco;
  other[48] = 0x49; // gfx1250, which is not RDNA 4
  EXPECT_THAT(errorOf(other), HasSubstr("is for gfx1250: more than 256 vector registers"));
}

TEST(CodeObject, WaitsAreRead) {
  auto read = [](llvm::StringRef text, uint32_t immediate = 0) {
    auto w = code_object::waitCounts(text, immediate);
    EXPECT_TRUE(w.ok()) << w.status();
    return w.ok() ? *w : code_object::WaitCounts();
  };
  EXPECT_EQ(read("s_waitcnt vmcnt(3) lgkmcnt(0)").vm, 3);
  EXPECT_EQ(read("s_waitcnt vmcnt(3) lgkmcnt(0)").lgkm, 0);
  EXPECT_EQ(read("s_waitcnt vmcnt(3) lgkmcnt(0)").exp, -1);
  EXPECT_EQ(read("s_waitcnt_vscnt null, 0x2", 2).store, 2);
  EXPECT_EQ(read("s_wait_loadcnt_dscnt 0x203", 0x203).vm, 2);
  EXPECT_EQ(read("s_wait_loadcnt_dscnt 0x203", 0x203).ds, 3);
  EXPECT_EQ(read("s_wait_storecnt_dscnt 0x203", 0x203).store, 2);
  EXPECT_EQ(read("s_wait_idle").km, 0);
  EXPECT_EQ(read("s_wait_idle").vm, 0);
  EXPECT_EQ(read("s_wait_alu 0xfffe", 0xfffe).vm, -1);
  for (llvm::StringRef text : {"s_wait_tensorcnt 0x0", "s_wait_asynccnt 0x1", "s_wait_nothing"}) {
    auto w = code_object::waitCounts(text, 0);
    EXPECT_EQ(w.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(w.status().message()), HasSubstr("what '" + text.str() + "' waits for"));
  }
}

TEST(CodeObject, ImpossibleSizesAreErrors) {
  auto errorOf = [](const testing::AssembledOptions &o) {
    auto hsaco = testing::assembleObject("gfx942", kBody, o);
    return std::string((hsaco.ok() ? readCodeObject(*hsaco).status() : hsaco.status()).message());
  };
  EXPECT_EQ(errorOf({.scratchBytes = 1 << 20}), "");
  EXPECT_THAT(errorOf({.scratchBytes = 1 << 30}),
              HasSubstr("with 1073741824 bytes of scratch for each work-item: 'k'"));
}

/// LLVM's document of metadata cannot compare such keys.
TEST(CodeObject, MetadataWithMapsAsKeysIsAnError) {
  const std::string metadata =
      "\n.amdgpu_metadata\n---\namdhsa.kernels:\n  - .args: []\n    .name: k\n    .symbol: k.kd\n"
      "    .kernarg_segment_align: 8\n    .kernarg_segment_size: 8\n"
      "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n"
      "    .max_flat_workgroup_size: 256\n    .wavefront_size: 64\n    .sgpr_count: 64\n"
      "    .vgpr_count: 64\namdhsa.version: [1, 2]\n...\n.end_amdgpu_metadata\n.text\n";
  auto hsaco = testing::assembleObject("gfx942", kBody + metadata);
  ASSERT_TRUE(hsaco.ok()) << hsaco.status();
  auto object = readCodeObject(*hsaco);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(object->kernels[0].maxWorkItems, 256u);
  std::string damaged = *hsaco;
  size_t at = damaged.find("\xa5.name");
  ASSERT_NE(at, std::string::npos);
  damaged.replace(at, 6, "\x81\x01\x02\x80\x03\x04"); // {1: 2}: {}, 3: 4
  EXPECT_THAT(std::string(readCodeObject(damaged).status().message()), HasSubstr("has damaged metadata"));
}

/// A literal after an instruction that has no room for one, and one after the end: LLVM's disassembler crashes there.
TEST(CodeObject, LiteralsWithoutRoomAreData) {
  for (const char *target : {"gfx942", "gfx1100", "gfx1201"}) {
    std::string body = std::string("s_endpgm\n") +
                       (target[3] == '9' ? ".long 0xd1d30000\n.long 0x000000ff\n.long 0\n" : "") + ".long 0x7e0002ff";
    auto hsaco = testing::assembleObject(target, body);
    ASSERT_TRUE(hsaco.ok()) << hsaco.status();
    auto object = readCodeObject(*hsaco);
    ASSERT_TRUE(object.ok()) << object.status();
    auto program = code_object::decode(*object, object->kernels[0]);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(program->instructions[0].text, "s_endpgm");
    if (target[3] == '9') EXPECT_EQ(program->instructions[1].text, ".long 0xd1d30000");
    EXPECT_EQ(program->instructions.back().text, ".long 0x7e0002ff");
  }
}

/// Reads, decodes and executes; whatever comes of it.
void tryToRun(const std::string &bytes) {
  auto object = readCodeObject(bytes);
  if (!object.ok()) return;
  for (const code_object::Kernel &k : object->kernels) {
    if (k.codeBytes > 4096) continue; // a size that was damaged: decoding it takes long and shows no more
    auto program = code_object::decode(*object, k);
    if (!program.ok()) continue;
    code_object::Memory memory;
    std::vector<uint8_t> buffer(256), kernarg(8);
    memory.add("the buffer", buffer.data(), buffer.size());
    code_object::ExecuteOptions options;
    options.maxInstructionsPerWave = 200;
    if (k.descriptor.ldsBytes < 65536 && k.descriptor.privateBytes < 65536)
      (void)code_object::execute(*object, k, *program, {}, kernarg, memory, options);
  }
}

TEST(CodeObject, DamagedFilesGiveErrors) {
  auto hsaco = testing::assembleObject("gfx942", kBody);
  ASSERT_TRUE(hsaco.ok()) << hsaco.status();
  for (size_t n = 0; n < hsaco->size(); n += n < 512 ? 1 : 37) {
    auto r = readCodeObject(llvm::StringRef(*hsaco).take_front(n));
    EXPECT_FALSE(r.ok()) << n << " bytes of " << hsaco->size();
  }
  std::mt19937 random(7);
  for (unsigned i = 0; i < 1500; ++i) {
    std::string damaged = *hsaco;
    for (unsigned k = 0; k < 1 + i % 3; ++k) damaged[random() % damaged.size()] ^= char(1u << random() % 8);
    tryToRun(damaged);
  }
  // In the code itself, where most flips give other instructions.
  auto object = readCodeObject(*hsaco);
  ASSERT_TRUE(object.ok());
  llvm::ArrayRef<uint8_t> code = object->at(object->kernels[0].entry).take_front(object->kernels[0].codeBytes);
  size_t at = hsaco->find(std::string(reinterpret_cast<const char *>(code.data()), code.size()));
  ASSERT_NE(at, std::string::npos);
  for (unsigned i = 0; i < 8 * code.size(); ++i) {
    std::string damaged = *hsaco;
    damaged[at + i / 8] ^= char(1u << i % 8);
    tryToRun(damaged);
  }
}

} // namespace
} // namespace tessera
