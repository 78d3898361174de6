// Whole workgroups: barriers, memory, the trace, the choice of workgroups, and what a reader is told when code goes
// wrong.
#include "assembled.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using code_object::ExecuteOptions;
using code_object::Grid;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::runBody;

constexpr const char *kPrologue = "s_load_dwordx2 s[0:1], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n";

Grid waves(unsigned count, unsigned groups = 1) {
  Grid g;
  g.workItems = {64 * count, 1, 1};
  g.workgroups = {groups, 1, 1};
  return g;
}

std::string errorOf(const std::string &body, const Grid &grid = waves(1), testing::AssembledOptions o = {},
                    ExecuteOptions options = {}, const char *target = "gfx942") {
  std::vector<uint8_t> buffer(256);
  auto r = runBody(target, kPrologue + body, buffer, grid, o, options);
  return r.ok() ? "" : std::string(r.status().message());
}

uint32_t word(const std::vector<uint8_t> &b, size_t i) {
  uint32_t v;
  std::memcpy(&v, b.data() + 4 * i, 4);
  return v;
}

// Each of two waves writes LDS and, after a barrier, reads what the other wrote.
TEST(Workgroups, WavesMeetAtBarriers) {
  const std::string body = std::string(kPrologue) + "ds_write_b32 v1, v0\ns_barrier\nv_xor_b32 v2, 0x100, v1\n"
                                                    "ds_read_b32 v3, v2\nglobal_store_dword v1, v3, s[0:1]\ns_endpgm";
  for (bool reverse : {false, true}) {
    std::vector<uint8_t> buffer(512);
    ExecuteOptions options;
    options.reverseWaves = reverse;
    auto r = runBody("gfx942", body, buffer, waves(2), {.ldsBytes = 512}, options);
    ASSERT_TRUE(r.ok()) << r.status();
    for (unsigned l = 0; l < 128; ++l) EXPECT_EQ(word(buffer, l), l ^ 64);
    EXPECT_EQ(r->executedWaves, 2u);
    EXPECT_EQ(r->executedInstructions, 2u * 8);
  }
}

TEST(Workgroups, OnlyTheChosenOnesAreExecuted) {
  std::vector<uint8_t> buffer(16);
  ExecuteOptions options;
  options.workgroups = {{2, 0, 0}};
  auto r = runBody("gfx942",
                   "s_load_dwordx2 s[0:1], s[0:1], 0x0\ns_lshl_b32 s3, s2, 2\nv_mov_b32 v1, s3\nv_mov_b32 v2, 7\n"
                   "global_store_dword v1, v2, s[0:1]\ns_endpgm",
                   buffer, waves(1, 4), {}, options);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(word(buffer, 2), 7u);
  EXPECT_EQ(word(buffer, 0) + word(buffer, 1) + word(buffer, 3), 0u);
}

TEST(Traces, HaveLanesAndAddresses) {
  std::vector<uint8_t> buffer(1024);
  ExecuteOptions options;
  options.isTraced = [](const code_object::WorkgroupId &) { return true; };
  auto r = runBody("gfx942",
                   std::string(kPrologue) + "s_mov_b64 exec, 0xf0\nglobal_load_dword v2, v1, s[0:1] offset:4\n"
                                            "ds_write2_b32 v1, v2, v2 offset1:1\ns_endpgm",
                   buffer, waves(1), {.ldsBytes = 512}, options);
  ASSERT_TRUE(r.ok()) << r.status();
  ASSERT_EQ(r->waves.size(), 1u);
  const code_object::WaveTrace &w = r->waves[0];
  ASSERT_EQ(w.events.size(), 6u);
  EXPECT_EQ(w.events[0].addressCount, 1u);
  EXPECT_EQ(w.events[0].bytes, 8u);
  const auto &load = w.events[3];
  EXPECT_EQ(load.lanes(), 4u);
  EXPECT_EQ(load.instruction, 3u);
  ASSERT_EQ(load.addressCount, 4u);
  EXPECT_EQ(load.bytes, 4u);
  EXPECT_EQ(w.addresses[load.firstAddress + 1] - w.addresses[load.firstAddress], 4u);
  const auto &write = w.events[4];
  ASSERT_EQ(write.ldsCount, 8u);
  EXPECT_EQ(w.ldsAddresses[write.firstLds], 16u);
  EXPECT_EQ(w.ldsAddresses[write.firstLds + 4], 20u);
}

TEST(Memory, BuffersEndWhereTheDescriptorSays) {
  std::vector<uint8_t> buffer(512, 0xff);
  const std::string body = std::string(kPrologue) +
                           "s_mov_b32 s2, 128\ns_mov_b32 s3, 0x27000\nv_mov_b32 v2, 3\n"
                           "buffer_store_dword v2, v1, s[0:3], 0 offen\nbuffer_load_dword v3, v1, s[0:3], 0 offen\n"
                           "global_store_dword v1, v3, s[0:1] offset:256\ns_endpgm";
  auto r = runBody("gfx942", body, buffer, waves(1));
  ASSERT_TRUE(r.ok()) << r.status();
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(word(buffer, l), l < 32 ? 3u : ~0u);
    EXPECT_EQ(word(buffer, 64 + l), l < 32 ? 3u : 0u);
  }
}

TEST(Memory, LoadsIntoLds) {
  std::vector<uint8_t> buffer(512);
  for (unsigned i = 0; i < 64; ++i) buffer[4 * i] = uint8_t(i);
  auto r = runBody("gfx942",
                   std::string(kPrologue) + "s_mov_b32 m0, 64\ns_nop 0\nglobal_load_lds_dword v1, s[0:1]\n"
                                            "v_xor_b32 v2, 4, v1\nds_read_b32 v3, v2 offset:64\n"
                                            "global_store_dword v1, v3, s[0:1] offset:256\ns_endpgm",
                   buffer, waves(1), {.ldsBytes = 512});
  ASSERT_TRUE(r.ok()) << r.status();
  for (unsigned l = 0; l < 64; ++l) EXPECT_EQ(word(buffer, 64 + l), l ^ 1);
}

TEST(Memory, AtomicsAddUp) {
  std::vector<uint8_t> buffer(16);
  auto r = runBody("gfx942",
                   "s_load_dwordx2 s[0:1], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_mov_b32 v2, 2\n"
                   "global_atomic_add v3, v1, v2, s[0:1] sc0\nglobal_atomic_umax v1, v3, s[0:1] offset:4\ns_endpgm",
                   buffer, waves(2));
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(word(buffer, 0), 256u);
  EXPECT_EQ(word(buffer, 1), 254u);
}

TEST(Memory, ScratchIsEachLanes) {
  std::vector<uint8_t> buffer(256);
  auto r = runBody("gfx942",
                   std::string(kPrologue) + "v_mov_b32 v2, 4\nscratch_store_dword v2, v0, off\n"
                                            "scratch_load_dword v3, off, off offset:4\n"
                                            "global_store_dword v1, v3, s[0:1]\ns_endpgm",
                   buffer, waves(1), {.scratchBytes = 16});
  ASSERT_TRUE(r.ok()) << r.status();
  for (unsigned l = 0; l < 64; ++l) EXPECT_EQ(word(buffer, l), l);
}

TEST(Matrix, MultipliesAndAdds) {
  // A and B of 32 x 8 and 8 x 32 f16 ones: every sum is 8, and C adds 1.
  std::vector<uint8_t> buffer(256);
  std::string body = std::string(kPrologue) + "v_mov_b32 v2, 0x3c003c00\nv_mov_b32 v3, v2\n";
  for (unsigned k = 16; k < 32; ++k) body += "v_mov_b32 v" + std::to_string(k) + ", 1.0\n";
  body += "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[2:3], v[16:31]\nv_accvgpr_read_b32 v4, a15\n"
          "global_store_dword v1, v4, s[0:1]\ns_endpgm";
  auto r = runBody("gfx90a", body, buffer, waves(1));
  EXPECT_FALSE(r.ok()); // gfx90a writes the name otherwise
  r = runBody("gfx942", body, buffer, waves(1));
  ASSERT_TRUE(r.ok()) << r.status();
  for (unsigned l = 0; l < 64; ++l) EXPECT_EQ(word(buffer, l), 0x41100000u);
}

TEST(Errors, AreLocated) {
  EXPECT_THAT(errorOf("global_load_dword v2, v1, s[0:1] offset:4\ns_endpgm"),
              AllOf(HasSubstr("kernel 'k' (gfx942), workgroup (0, 0, 0), wave 0"),
                    HasSubstr("global_load_dword v2, v1, s[0:1] offset:4: reads 4 bytes at address"),
                    HasSubstr("0 bytes after the end of the buffer (256 bytes)")));
  EXPECT_THAT(errorOf("ds_read_b64 v[2:3], v1\ns_endpgm", waves(1), {.ldsBytes = 256}),
              HasSubstr("reads 8 bytes at address 252 of LDS, of which the workgroup has 256 bytes"));
  EXPECT_THAT(errorOf("scratch_load_dword v3, off, off offset:16\ns_endpgm", waves(1), {.scratchBytes = 16}),
              HasSubstr("accesses byte 16 of 16 of its scratch"));
  EXPECT_THAT(errorOf("s_nop 0"), HasSubstr("execution has left the kernel's code"));
  EXPECT_THAT(errorOf("s_trap 2\ns_endpgm"), HasSubstr("has come to a trap"));
}

TEST(Errors, UnknownInstructionsAreNamed) {
  EXPECT_THAT(errorOf("v_smfmac_f32_16x16x32_f16 v[4:7], v[2:3], v[8:11], v12\ns_endpgm"),
              AllOf(HasSubstr("v_smfmac_f32_16x16x32_f16 v[4:7], v[2:3], v[8:11], v12"),
                    HasSubstr("not known to this model yet")));
}

TEST(Errors, EndlessLoopsEnd) {
  ExecuteOptions options;
  options.maxInstructionsPerWave = 1000;
  EXPECT_THAT(errorOf(".Lagain:\ns_nop 0\ns_branch .Lagain\ns_endpgm", waves(1), {}, options),
              HasSubstr("has executed 1000 instructions: an endless loop?"));
}

TEST(Errors, LaunchesMustFitTheKernel) {
  Grid none = waves(1);
  none.workgroups[1] = 0;
  EXPECT_THAT(errorOf("s_endpgm", none), HasSubstr("the grid is empty"));
  EXPECT_THAT(errorOf("s_endpgm", waves(17)), HasSubstr("more than 1024 work-items"));
  Grid large = waves(1);
  large.dynamicLdsBytes = 65537;
  EXPECT_THAT(errorOf("s_endpgm", large), HasSubstr("needs 65537 bytes of LDS; a workgroup has 65536"));
  ExecuteOptions outside;
  outside.workgroups = {{1, 0, 0}};
  EXPECT_THAT(errorOf("s_endpgm", waves(1), {}, outside), HasSubstr("there is no workgroup (1, 0, 0)"));
}

} // namespace
} // namespace tessera
