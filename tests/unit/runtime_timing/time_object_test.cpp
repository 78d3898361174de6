// Times of whole objects that have neither metadata nor debug information, as hand-written ones may.
#include "runtime/timing/time_object.h"
#include "runtime_code_object/assembled.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tessera::timing {
namespace {

const char *const kLaunch = R"({"kernel": "k", "grid": [600, 1, 1], "num_warps": 1,
  "args": [{"name": "x", "dtype": "i32", "shape": [64], "fill": 0}]})";

absl::StatusOr<TimedObject> timeBody(const std::string &body, const char *launch = kLaunch) {
  auto d = runtime::readLaunchText(launch, "launch.json");
  if (!d.ok()) return d.status();
  auto hsaco = tessera::testing::assembleObject("gfx942", body);
  if (!hsaco.ok()) return hsaco.status();
  return timeObject(*d, *hsaco);
}

TEST(TimeObject, NeedsNoMetadataAndNoLines) {
  auto t = timeBody("s_load_dwordx2 s[0:1], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
                    "global_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0)\nv_add_u32 v2, 1, v2\n"
                    "global_store_dword v1, v2, s[0:1]\ns_endpgm");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->time.workgroups, 600u);
  EXPECT_EQ(t->program.instructions.size(), 8u);
  EXPECT_EQ(t->program.sourceFile, "");
  for (auto &i : t->program.instructions) EXPECT_EQ(i.sourceLine, 0u);
  // At least the load's way to the memory-side cache, where the buffer fits; one line is behind L2, which all share.
  EXPECT_GT(t->time.replay.cycles, t->time.machine.cacheLatency);
  EXPECT_LE(t->time.footprintBytes, 256);
}

// Split K: the workgroup that is timed waits for the first one, which is not in the sample.
TEST(TimeObject, ExecutesWhatTheSampleWaitsFor) {
  auto t = timeBody("s_load_dwordx2 s[0:1], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_waitcnt lgkmcnt(0)\n"
                    "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .Lfirst\n"
                    ".Lpoll:\ns_load_dword s4, s[0:1], 0x0 glc\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s4, 1\n"
                    "s_cbranch_scc0 .Lpoll\ns_endpgm\n.Lfirst:\nglobal_store_dword v1, v2, s[0:1]\ns_endpgm");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_GE(t->time.replay.issued, 11u);
  EXPECT_LE(t->time.replay.issued, 11u * t->time.sample.replayed.size() + 4 * t->time.sample.replayed.size());
}

TEST(TimeObject, AnArgumentTooFewIsAFault) {
  auto t = timeBody("s_load_dwordx2 s[0:1], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_load_dword s4, s[0:1], 0x0\n"
                    "s_endpgm",
                    R"({"kernel": "k", "grid": [1, 1, 1], "num_warps": 1, "args": []})");
  EXPECT_THAT(std::string(t.status().message()), ::testing::HasSubstr("reads 4 bytes at address 0x0"));
}

} // namespace
} // namespace tessera::timing
