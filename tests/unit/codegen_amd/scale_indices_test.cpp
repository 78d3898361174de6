// Indices are made bytes by shifting what they are made of only where that gives the same bytes.
#include "codegen_amd/passes/scale_indices.h"
#include "run_pass.h"

namespace tessera::amd {
namespace {

using testing::PassRun;

/// Two loads of 2-byte elements of LDS, from `%x` and `%y`, which `indices` compute. `more` is executed after them.
PassRun loads(const std::string &indices, const std::string &more = "", const std::string &lds = "@lds") {
  return testing::runPass(ScaleIndicesPass(),
                          "@lds = internal addrspace(3) global [65536 x i8] poison\n"
                          "define void @f(i32 %thread, i32 %n, ptr addrspace(1) %out, ptr addrspace(3) %any) {\n"
                          "entry:\n" +
                              indices + "  %p = getelementptr half, ptr addrspace(3) " + lds +
                              ", i32 %x\n  %q = getelementptr half, ptr addrspace(3) " + lds +
                              ", i32 %y\n  %v = load half, ptr addrspace(3) %p\n  %w = load half, ptr addrspace(3) %q\n"
                              "  store half %v, ptr addrspace(1) %out\n  store half %w, ptr addrspace(1) %out\n" +
                              more + "  ret void\n}\n");
}

const std::string kIndex = "  %a = shl i32 %thread, 3\n  %x = and i32 %a, 1528\n";
const std::string kOther = "  %y = xor i32 %x, 16\n";

TEST(ScaleIndices, PartsOfAnIndexAreShiftedByMore) {
  PassRun run = loads(kIndex + kOther);
  EXPECT_TRUE(run.has("shl i32 %thread, 4")) << run.after;
  EXPECT_TRUE(run.has(", 3056"));
  EXPECT_TRUE(run.has(", 32"));
  EXPECT_FALSE(run.has("getelementptr half"));
}

// One shift by all 32 bits is undefined. The result of the smaller one is shifted.
TEST(ScaleIndices, ShiftsByAllBitsAreTwo) {
  PassRun run = loads("  %a = shl i32 %thread, 31\n  %x = xor i32 %a, 8\n" + kOther);
  EXPECT_FALSE(run.has("shl i32 %thread, 32")) << run.after;
  EXPECT_TRUE(run.has("shl i32 %a, 1")) << run.after;
}

// A shift to the right drops bits, which a smaller shift would keep: they must be masked.
TEST(ScaleIndices, ShiftsToTheRightAreMasked) {
  PassRun masked = loads("  %a = lshr i32 %thread, 2\n  %x = and i32 %a, 8\n" + kOther);
  EXPECT_TRUE(masked.has("lshr i32 %thread, 1")) << masked.after;
  PassRun whole = loads("  %x = lshr i32 %thread, 2\n" + kOther);
  EXPECT_FALSE(whole.has("lshr i32 %thread, 1")) << whole.after;
}

// What something else uses as well stays an index.
TEST(ScaleIndices, AnIndexThatIsStoredIsShiftedItself) {
  PassRun run = loads(kIndex + kOther, "  store i32 %x, ptr addrspace(1) %out\n");
  EXPECT_TRUE(run.has("store i32 %x"));
  EXPECT_FALSE(run.has("shl i32 %thread, 4")) << run.after;
}

// An index of a loop that is used after it would be shifted in each iteration.
TEST(ScaleIndices, NothingIsShiftedInALoopForWhatIsBehindIt) {
  PassRun run = testing::runPass(ScaleIndicesPass(), R"(
@lds = internal addrspace(3) global [65536 x i8] poison
define void @f(i32 %thread, i32 %n, ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %thread, %entry ], [ %x, %loop ]
  %x = add i32 %i, 3
  %more = icmp ult i32 %x, %n
  br i1 %more, label %loop, label %next
next:
  %j = phi i32 [ 0, %loop ], [ %j1, %next ]
  %y = xor i32 %x, 16
  %p = getelementptr half, ptr addrspace(3) @lds, i32 %x
  %q = getelementptr half, ptr addrspace(3) @lds, i32 %y
  %v = load half, ptr addrspace(3) %p
  %w = load half, ptr addrspace(3) %q
  store half %v, ptr addrspace(1) %out
  store half %w, ptr addrspace(1) %out
  %j1 = add i32 %j, 1
  %again = icmp ult i32 %j1, %n
  br i1 %again, label %next, label %end
end:
  ret void
}
)");
  EXPECT_FALSE(run.has("shl i32 %x")) << run.after;
}

// An address far into LDS would be a constant that the index is added to; one that is no constant is another index.
TEST(ScaleIndices, AddressesBeginNearTheBeginningOfLds) {
  auto at = [](const std::string &bytes) {
    return loads(kIndex + kOther, "", "getelementptr (i8, ptr addrspace(3) @lds, i32 " + bytes + ")").changed();
  };
  EXPECT_TRUE(at("32764"));
  EXPECT_FALSE(at("32768"));
  EXPECT_FALSE(loads(kIndex + kOther, "", "%any").changed());
}

// An index that is only shifted has the shift already: both become one instruction by themselves.
TEST(ScaleIndices, ShiftedIndicesStay) {
  EXPECT_FALSE(loads("  %x = shl i32 %thread, 3\n  %y = mul i32 %thread, 24\n").changed());
}

/// Shifts of `%x` and `%y`, of which `use` makes something.
PassRun shifts(const std::string &use) {
  return testing::runPass(ScaleIndicesPass(), "define void @f(i32 %thread, i32 %n, ptr addrspace(1) %out) {\n" +
                                                  kIndex + kOther + "  %p = shl i32 %x, 1\n  %q = shl i32 %y, 1\n" +
                                                  use + "  ret void\n}\n");
}

// An addition shifts as well (v_lshl_add_u32).
TEST(ScaleIndices, ShiftsThatAreAddedStay) {
  EXPECT_TRUE(shifts("  %pw = zext i32 %p to i64\n  %qw = zext i32 %q to i64\n  store i64 %pw, ptr addrspace(1) %out\n"
                     "  store i64 %qw, ptr addrspace(1) %out\n")
                  .changed());
  EXPECT_FALSE(shifts("  %pn = add i32 %p, %n\n  %qn = add i32 %q, %n\n  store i32 %pn, ptr addrspace(1) %out\n"
                      "  store i32 %qn, ptr addrspace(1) %out\n")
                   .changed());
}

} // namespace
} // namespace tessera::amd
