// Asynchronous copies that waves of gfx950 make straight to LDS: they arrive when they are waited for, write zeros for
// lanes that are masked off, and are reported where they are read before.
#include "emulation.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace tessera {
namespace {

using testing::Emulation;

constexpr int kElements = 1024; // of a buffer

/// Copies x to buffer 0 and y to buffer 1, each in a group of its own, and stores what `body` loads (%v).
/// A lane copies `elements` at once.
std::string kernel(const std::string &body, const std::string &mask = "", const std::string &masked = "",
                   int elements = 4) {
  return "#b = #ttg.blocked<{sizePerThread = [" + std::to_string(elements) +
         R"(], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#m = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32},
                    %o: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
)" + mask +
         R"(    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #b>
    %xp = tt.addptr %xs, %r : tensor<1024x!tt.ptr<i32>, #b>, tensor<1024xi32, #b>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #b>
    %yp = tt.addptr %ys, %r : tensor<1024x!tt.ptr<i32>, #b>, tensor<1024xi32, #b>
    %a = ttg.local_alloc : () -> !ttg.memdesc<2x1024xi32, #s, #m, mutable>
    %a0 = ttg.memdesc_index %a[%c0] : !ttg.memdesc<2x1024xi32, #s, #m, mutable> -> !ttg.memdesc<1024xi32, #s, #m, mutable>
    %a1 = ttg.memdesc_index %a[%c1] : !ttg.memdesc<2x1024xi32, #s, #m, mutable> -> !ttg.memdesc<1024xi32, #s, #m, mutable>
    %t0 = ttg.async_copy_global_to_local %xp, %a0 )" +
         masked + R"( : tensor<1024x!tt.ptr<i32>, #b> -> <1024xi32, #s, #m, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %t1 = ttg.async_copy_global_to_local %yp, %a1 : tensor<1024x!tt.ptr<i32>, #b> -> <1024xi32, #s, #m, mutable>
    %g1 = ttg.async_commit_group tokens %t1
)" + body +
         R"(
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #b>
    %op = tt.addptr %os, %r : tensor<1024x!tt.ptr<i32>, #b>, tensor<1024xi32, #b>
    tt.store %op, %v : tensor<1024x!tt.ptr<i32>, #b>
    tt.return
  }
}
)";
}

std::string waitAndLoad(int pending, int buffer) {
  std::string b = std::to_string(buffer);
  return "    %w = ttg.async_wait {num = " + std::to_string(pending) + " : i32}\n    %v = ttg.local_load %a" + b +
         " token %w : !ttg.memdesc<1024xi32, #s, #m, mutable> -> tensor<1024xi32, #b>\n";
}

unsigned copiesIn(llvm::Module &m) {
  unsigned copies = 0;
  for (auto &f : m)
    if (f.getIntrinsicID() == llvm::Intrinsic::amdgcn_raw_ptr_buffer_load_lds ||
        f.getIntrinsicID() == llvm::Intrinsic::amdgcn_global_load_lds)
      copies += f.getNumUses();
  return copies;
}

struct CopiesOfTwoBuffers : Emulation {
  unsigned copies = 0;
  absl::StatusOr<emulator::Report> of(const std::string &text, int n = kElements, const char *on = "gfx950") {
    target = on;
    std::vector<uint8_t> more(kElements * 4);
    for (int32_t i = 0; i < kElements; ++i) {
      int32_t v = 5000 + i;
      memcpy(more.data() + i * 4, &v, 4);
    }
    return Emulation::text(text, "k",
                           {testing::counting(kElements * 4), testing::bytesOf(more), testing::zeros(kElements * 4),
                            testing::scalar(uint64_t(n))},
                           [&](llvm::Module &m) { copies = copiesIn(m); });
  }
  int32_t out(int i) const {
    int32_t v;
    memcpy(&v, buffers[2].data() + i * 4, 4);
    return v;
  }
};

TEST(CopiesToLds, ArriveInOrder) {
  for (int buffer : {0, 1}) {
    CopiesOfTwoBuffers r;
    auto report = r.of(kernel(waitAndLoad(1 - buffer, buffer)));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(r.copies, 2u);
    for (int i = 0; i < kElements; ++i) ASSERT_EQ(r.out(i), buffer ? 5000 + i : i);
  }
}

/// gfx942 copies 4 bytes a lane.
TEST(CopiesToLds, AreOfWordsOnOlderTargets) {
  std::string text = kernel(waitAndLoad(1, 0), "", "", /*elements=*/1);
  text.replace(text.find("hip:gfx950"), 10, "hip:gfx942");
  CopiesOfTwoBuffers r;
  auto report = r.of(text, kElements, "gfx942");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(r.copies, 8u); // four of each buffer
  for (int i = 0; i < kElements; ++i) ASSERT_EQ(r.out(i), i);
}

TEST(CopiesToLds, AreReportedWhereNobodyWaited) {
  CopiesOfTwoBuffers r;
  auto report = r.of(kernel(waitAndLoad(1, 1))); // the second group may be in flight
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("an asynchronous copy is in flight"), std::string::npos) << report.status();
}

TEST(CopiesToLds, WriteZerosForMaskedLanes) {
  const std::string mask = R"(    %ns = tt.splat %n : i32 -> tensor<1024xi32, #b>
    %in = arith.cmpi slt, %r, %ns : tensor<1024xi32, #b>
)";
  CopiesOfTwoBuffers r;
  auto report = r.of(kernel(waitAndLoad(0, 0), mask, "mask %in"), 400);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(r.copies, 2u);
  for (int i = 0; i < kElements; ++i) ASSERT_EQ(r.out(i), i < 400 ? i : 0);
}

/// A mask that differs between the elements of a lane: loads and stores instead.
TEST(CopiesToLds, GiveWayToStoresWhereMasksAreNarrow) {
  const std::string mask = R"(    %n1 = arith.addi %n, %c1 : i32
    %ns = tt.splat %n1 : i32 -> tensor<1024xi32, #b>
    %in = arith.cmpi slt, %r, %ns : tensor<1024xi32, #b>
)";
  CopiesOfTwoBuffers r;
  auto report = r.of(kernel(waitAndLoad(0, 0), mask, "mask %in"), 400);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(r.copies, 1u); // of y
  for (int i = 0; i < kElements; ++i) ASSERT_EQ(r.out(i), i < 401 ? i : 0);
}

} // namespace
} // namespace tessera
