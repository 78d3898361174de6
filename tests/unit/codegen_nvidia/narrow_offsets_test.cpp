// Offsets of addresses in a loop are added in 64 bits only where 32 bits hold their sum.
#include "codegen_nvidia/passes/narrow_offsets.h"
#include "run_pass.h"

namespace tessera::nvidia {
namespace {

using testing::PassRun;

ir::Tuning forAny() {
  ir::Tuning tuning;
  tuning.narrowOffsetsMinAnalysed = 1;
  tuning.narrowOffsetsMinDistinct = 1;
  return tuning;
}

PassRun run(const std::string &ir) {
  static const ir::Tuning tuning = forAny();
  return testing::runPass(NarrowOffsetsPass(tuning), ir);
}

/// A loop over `%k` from `first` by 64 while `more` (of %k1) holds, whose body loads from element %o of `type`.
PassRun address(const std::string &entry, const std::string &offset, const std::string &type = "half",
                const std::string &first = "0", const std::string &more = "icmp slt i32 %k1, 4096") {
  return run("define void @f(ptr addrspace(1) %a, i32 %row, i32 %thread, i32 %n, ptr %out) {\nentry:\n" + entry +
             "  br label %loop\nloop:\n  %k = phi i32 [ " + first + ", %entry ], [ %k1, %loop ]\n" + offset +
             "  %s = sext i32 %o to i64\n  %p = getelementptr " + type + ", ptr addrspace(1) %a, i64 %s\n  %v = load " +
             type + ", ptr addrspace(1) %p\n  store " + type + " %v, ptr %out\n  %k1 = add i32 %k, 64\n  %more = " +
             more + "\n  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n");
}

const std::string kSmallRow = "  %r = and i32 %row, 1023\n";
const std::string kSum = "  %o = add i32 %k, %r\n";

TEST(NarrowOffsets, ASumThatCannotOverflowIsAddedInParts) {
  PassRun small = address(kSmallRow, kSum);
  EXPECT_TRUE(small.has("cvt.s64.s32")) << small.after;
  // The counter may be any number, and the sum with it overflow.
  EXPECT_FALSE(address(kSmallRow, kSum, "half", "0", "icmp ne i32 %k1, %n").changed());
}

TEST(NarrowOffsets, FixedPartsFitInto32BitsAsBytes) {
  std::string row = "  %r = lshr i32 %row, 2\n"; // up to 2^30
  EXPECT_TRUE(address(row, kSum, "i8").changed());
  EXPECT_FALSE(address(row, kSum, "float").changed());
}

// The lane is added to the fixed part if that sum cannot overflow. %k is negative, so that no other sum can.
TEST(NarrowOffsets, TheLaneIsAFixedPart) {
  const std::string lane = "  %lane = and i32 %thread, 31\n",
                    sums = "  %m = add i32 %k, %lane\n  %o = add i32 %m, %r\n";
  auto withRow = [&](const std::string &row) {
    return address(lane + row, sums, "i8", "-4096", "icmp slt i32 %k1, -64");
  };
  EXPECT_TRUE(withRow(kSmallRow).has("add nsw i32 %r, %lane"));
  PassRun far = withRow("  %r = lshr i32 %row, 1\n"); // up to 2^31 - 1
  EXPECT_TRUE(far.changed());
  EXPECT_FALSE(far.has("add nsw i32 %r, %lane")) << far.after;
}

// An inner loop's addresses are its own: what is fixed in it may change in this one.
TEST(NarrowOffsets, AddressesOfInnerLoopsAreTheirs) {
  PassRun nested = run(R"(
define void @f(ptr addrspace(1) %a, i32 %row, ptr %out) {
entry:
  %r = and i32 %row, 1023
  br label %outer
outer:
  %k = phi i32 [ 0, %entry ], [ %k1, %next ]
  %o = add i32 %k, %r
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j1, %inner ]
  %s = sext i32 %o to i64
  %p = getelementptr half, ptr addrspace(1) %a, i64 %s
  %v = load half, ptr addrspace(1) %p
  store half %v, ptr %out
  %j1 = add i32 %j, 1
  %again = icmp slt i32 %j1, 8
  br i1 %again, label %inner, label %next
next:
  %k1 = add i32 %k, 64
  %more = icmp slt i32 %k1, 4096
  br i1 %more, label %outer, label %end
end:
  ret void
}
)");
  EXPECT_FALSE(nested.changed()) << nested.after;
}

/// A loop-carried pointer that advances by `step`; `rest` of the body.
PassRun carried(const std::string &step, const std::string &rest = "") {
  return run("define void @f(ptr addrspace(1) %a, i32 %row, i64 %by, ptr %out) {\nentry:\n  %s = sext i32 %row to i64\n"
             "  %start = getelementptr half, ptr addrspace(1) %a, i64 %s\n  br label %loop\nloop:\n"
             "  %p = phi ptr addrspace(1) [ %start, %entry ], [ %next, %loop ]\n"
             "  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]\n  %v = load half, ptr addrspace(1) %p\n"
             "  store half %v, ptr %out\n  %next = getelementptr half, ptr addrspace(1) %p, i64 " +
             step + "\n" + rest +
             "  %i1 = add i64 %i, 1\n  %more = icmp slt i64 %i1, 100\n  br i1 %more, label %loop, label %end\nend:\n"
             "  ret void\n}\n");
}

TEST(NarrowOffsets, ACarriedPointerIsItsBaseAndAnOffset) {
  EXPECT_TRUE(carried("%by").has("mad.wide.s32"));
  EXPECT_FALSE(carried("%i").changed()); // another step in each iteration
  EXPECT_FALSE(carried("%by", "  store ptr addrspace(1) %next, ptr %out\n").changed()); // the next one is used, too
}

} // namespace
} // namespace tessera::nvidia
