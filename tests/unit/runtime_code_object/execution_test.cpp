// Whole workgroups: barriers, memory, the trace, the choice of workgroups, and errors.
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
TEST(Workgroups, BarriersSynchroniseWaves) {
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
  body += "v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[2:3], v[16:31]\nv_accvgpr_write_b32 a3, v47\nv_accvgpr_read_b32 "
          "v4, a3\n"
          "global_store_dword v1, v4, s[0:1]\ns_endpgm";
  auto r = runBody("gfx90a", body, buffer, waves(1));
  EXPECT_FALSE(r.ok()); // gfx90a writes the name otherwise
  r = runBody("gfx942", body, buffer, waves(1));
  ASSERT_TRUE(r.ok()) << r.status();
  for (unsigned l = 0; l < 64; ++l) EXPECT_EQ(word(buffer, l), 0x41100000u);
}

// ---- workgroups that wait for each other ----

// Workgroup 0 polls until the first word is 1, which workgroup 3 writes; both then add to the second word.
const char *const kWaiting = "s_load_dwordx2 s[0:1], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_mov_b32 v2, 1\n"
                             "s_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s2, 3\ns_cbranch_scc1 .Lset\n"
                             "s_cmp_eq_u32 s2, 0\ns_cbranch_scc0 .Lend2\n"
                             ".Lpoll:\ns_load_dword s4, s[0:1], 0x0 glc\ns_waitcnt lgkmcnt(0)\n"
                             "s_cmp_eq_u32 s4, 1\ns_cbranch_scc0 .Lpoll\ns_branch .Ladd\n"
                             ".Lset:\nglobal_store_dword v1, v2, s[0:1]\n"
                             ".Ladd:\ns_mov_b64 exec, 1\nglobal_atomic_add v1, v2, s[0:1] offset:4\n.Lend2:\ns_endpgm";

TEST(Workgroups, WaitForEachOther) {
  for (bool all : {true, false}) {
    std::vector<uint8_t> buffer(8);
    ExecuteOptions options;
    if (!all) options.workgroups = {{0, 0, 0}};
    options.isTraced = [](const code_object::WorkgroupId &id) { return id[0] == 0; };
    Grid g = waves(1);
    g.workgroups = {5, 1, 1};
    auto r = runBody("gfx942", kWaiting, buffer, g, {}, options);
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ(word(buffer, 0), 1u);
    EXPECT_EQ(word(buffer, 1), 2u);
    // Of the wait one iteration is left: the prologue, it, the one that gets the 1, and what follows.
    ASSERT_EQ(r->waves.size(), 1u);
    EXPECT_EQ(r->waves[0].events.size(), 8u + 4 + 4 + 4);
  }
}

// One that is to stop early executes all if another waits for it.
TEST(Workgroups, DoNotStopIfOthersWait) {
  std::vector<uint8_t> buffer(8);
  ExecuteOptions options;
  options.workgroups = {{0, 0, 0}, {3, 0, 0}};
  options.stopsAfter = [](const code_object::WorkgroupId &id) { return id[0] == 3 ? 4 : ~uint64_t(0); };
  Grid g = waves(1);
  g.workgroups = {5, 1, 1};
  auto r = runBody("gfx942", kWaiting, buffer, g, {}, options);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(word(buffer, 1), 2u);
}

TEST(Workgroups, ThatWaitForNobodyAreErrors) {
  std::vector<uint8_t> buffer(8);
  Grid g = waves(1);
  g.workgroups = {3, 1, 1}; // there is no workgroup 3
  auto r = runBody("gfx942", kWaiting, buffer, g);
  EXPECT_THAT(std::string(r.status().message()), HasSubstr("waits for a change of memory that no workgroup makes"));
}

// A loop that reads the same again, but counts, is no wait: its whole trace is kept.
TEST(Workgroups, LoopsThatCountAreNoWaits) {
  std::vector<uint8_t> buffer(8);
  ExecuteOptions options;
  options.isTraced = [](const code_object::WorkgroupId &) { return true; };
  auto r = runBody("gfx942",
                   "s_load_dwordx2 s[0:1], s[0:1], 0x0\ns_mov_b32 s5, 0\n.Lagain:\ns_load_dword s4, s[0:1], 0x0\n"
                   "s_add_u32 s5, s5, 1\ns_cmp_lt_u32 s5, 20\ns_cbranch_scc1 .Lagain\ns_endpgm",
                   buffer, waves(1), {}, options);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->waves[0].events.size(), 2u + 20 * 4 + 1);
}

TEST(Workgroups, MayStopEarly) {
  std::vector<uint8_t> buffer(8);
  ExecuteOptions options;
  options.isTraced = [](const code_object::WorkgroupId &) { return true; };
  options.stopsAfter = [](const code_object::WorkgroupId &id) { return id[0] == 0 ? ~uint64_t(0) : 3; };
  Grid g = waves(1);
  g.workgroups = {2, 1, 1};
  auto r = runBody("gfx942", "s_nop 0\ns_nop 0\ns_nop 0\ns_nop 0\ns_endpgm", buffer, g, {}, options);
  ASSERT_TRUE(r.ok()) << r.status();
  ASSERT_EQ(r->waves.size(), 2u);
  EXPECT_EQ(r->waves[0].events.size(), 5u);
  EXPECT_EQ(r->waves[1].events.size(), 3u);
}

// The second wave does not pass the barrier that the first one, which is stopped, has not come to.
TEST(Workgroups, StopAtBarriers) {
  std::vector<uint8_t> buffer(8);
  ExecuteOptions options;
  options.isTraced = [](const code_object::WorkgroupId &) { return true; };
  options.stopsAfter = [](const code_object::WorkgroupId &) { return 5; };
  auto r = runBody("gfx942",
                   "v_readfirstlane_b32 s4, v0\ns_cmp_eq_u32 s4, 0\ns_cbranch_scc0 .Lbarrier\ns_nop 0\ns_nop 0\n"
                   "s_nop 0\n.Lbarrier:\ns_barrier\ns_nop 0\ns_endpgm",
                   buffer, waves(2), {}, options);
  ASSERT_TRUE(r.ok()) << r.status();
  ASSERT_EQ(r->waves.size(), 2u);
  EXPECT_EQ(r->waves[0].events.size(), 5u);
  EXPECT_EQ(r->waves[1].events.size(), 4u);
}

// ---- scalar stores, bounds of buffers with a stride ----

TEST(Memory, ScalarStores) {
  std::vector<uint8_t> buffer(16);
  auto r = runBody("gfx90a",
                   "s_load_dwordx2 s[0:1], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s4, 7\n"
                   "s_store_dword s4, s[0:1], 0x4\ns_movk_i32 s5, 8\ns_store_dword s5, s[0:1], s5\ns_endpgm",
                   buffer, waves(1));
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(word(buffer, 1), 7u);
  EXPECT_EQ(word(buffer, 2), 8u);
}

// Without swizzling NUM_RECORDS counts bytes on gfx9, whatever the stride is.
TEST(Memory, BuffersWithAStrideEndAfterTheirBytes) {
  std::vector<uint8_t> buffer(512, 0xff);
  auto r = runBody("gfx942",
                   std::string(kPrologue) + "s_or_b32 s1, s1, 0x40000\ns_mov_b32 s2, 128\ns_mov_b32 s3, 0x20000\n"
                                            "v_mov_b32 v2, 3\nbuffer_store_dword v2, v1, s[0:3], 0 offen\ns_endpgm",
                   buffer, waves(1));
  ASSERT_TRUE(r.ok()) << r.status();
  for (unsigned l = 0; l < 64; ++l) EXPECT_EQ(word(buffer, l), l < 32 ? 3u : ~0u);
}

// ---- waves of 64 on RDNA; the assembler writes what waves of 32 have, whose code is the same ----

TEST(Waves64, ExecuteOnRdna) {
  for (const char *target : {"gfx1100", "gfx1201"}) {
    std::vector<uint8_t> buffer(256);
    auto r = runBody(target,
                     "s_load_b64 s[0:1], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"
                     "v_cmp_lt_u32 vcc_lo, 40, v0\nv_cndmask_b32 v2, 1, 2, vcc_lo\n"
                     "v_mbcnt_lo_u32_b32 v3, -1, 0\nv_mbcnt_hi_u32_b32 v3, -1, v3\nv_lshl_or_b32 v2, v3, 8, v2\n"
                     "s_and_saveexec_b64 s[4:5], vcc\nv_or_b32 v2, 0x10000, v2\ns_mov_b64 exec, s[4:5]\n"
                     "global_store_b32 v1, v2, s[0:1]\ns_endpgm",
                     buffer, waves(1), {.hasWaves64 = true});
    ASSERT_TRUE(r.ok()) << target << ": " << r.status();
    for (unsigned l = 0; l < 64; ++l) EXPECT_EQ(word(buffer, l), l > 40 ? 0x10002 + l * 256 : 1 + l * 256) << target;
  }
}

TEST(Waves64, HaveNoMatrixInstructionsYet) {
  std::vector<uint8_t> buffer(8);
  auto r = runBody("gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\ns_endpgm", buffer, waves(1),
                   {.hasWaves64 = true});
  EXPECT_THAT(std::string(r.status().message()), HasSubstr("matrix instructions of waves of 64 lanes"));
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
