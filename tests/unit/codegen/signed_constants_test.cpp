// Constants that are added are the nearest ones to 0 of those that agree in the bits that are used.
#include "codegen/object/signed_constants.h"
#include "run_pass.h"

namespace tessera::codegen {
namespace {

testing::PassRun run(const std::string &body) {
  return testing::runPass(SignedConstantsPass(), "define i32 @f(i32 %x, i1 %c) {\n" + body + "}\n");
}

TEST(SignedConstants, AboveBitsThatAreShiftedOut) {
  auto minus = run("%a = add nsw i32 %x, 67108863\n%r = shl i32 %a, 6\nret i32 %r\n");
  EXPECT_TRUE(minus.has("%a = add i32 %x, -1")) << minus.after;
  auto sum = run("%a = add nsw i32 %x, 67108865\n%r = shl i32 %a, 6\nret i32 %r\n");
  EXPECT_TRUE(sum.has("%a = add i32 %x, 1")) << sum.after;
}

TEST(SignedConstants, AcrossBlocksAndMuls) {
  auto phi = run("br i1 %c, label %then, label %end\nthen:\n%a = add nsw i32 %x, 67108863\nbr label %end\nend:\n"
                 "%p = phi i32 [ %x, %0 ], [ %a, %then ]\n%m = mul i32 %p, 9\n%r = shl i32 %m, 6\nret i32 %r\n");
  EXPECT_TRUE(phi.has("%a = add i32 %x, -1")) << phi.after;
}

TEST(SignedConstants, StayWhereAllBitsAreUsed) {
  EXPECT_FALSE(run("%r = add nsw i32 %x, 67108863\nret i32 %r\n").changed());
  EXPECT_FALSE(run("%a = add nsw i32 %x, 67108863\n%s = shl i32 %a, 6\n%r = add i32 %s, %a\nret i32 %r\n").changed());
}

TEST(SignedConstants, StayWhereFewBitsAreUsed) {
  EXPECT_FALSE(run("%a = add i32 %x, 255\n%r = and i32 %a, 255\nret i32 %r\n").changed());
}

TEST(SignedConstants, StayWhereTheyAreSmall) {
  EXPECT_FALSE(run("%a = add nsw i32 %x, 5\n%r = shl i32 %a, 6\nret i32 %r\n").changed());
}

} // namespace
} // namespace tessera::codegen
