// Comparisons become comparisons of one difference only where these have the same results.
#include "codegen_nvidia/passes/compare_differences.h"
#include "run_pass.h"

namespace tessera::nvidia {
namespace {

using testing::PassRun;

constexpr unsigned kLeast = 2;

/// Two comparisons of `%y1` and `%y2`, which `sums` compute, with `other`.
PassRun compare(const std::string &sums, const std::string &type = "i64", const std::string &other = "%label",
                unsigned least = kLeast) {
  std::string compared = type + " %y1, " + other, compared2 = type + " %y2, " + other;
  return testing::runPass(CompareDifferencesPass(least),
                          "define void @f(i32 %column, i16 %narrow, i64 %start, i64 %label, i32 %label32, ptr %p) {\n" +
                              sums + "  %p1 = icmp eq " + compared + "\n  %p2 = icmp eq " + compared2 +
                              "\n  store i1 %p1, ptr %p\n  store i1 %p2, ptr %p\n  ret void\n}\n");
}

/// Of a column and 1 and 2, added by `add` and extended by `extend`.
std::string columns(const std::string &add, const std::string &extend) {
  std::string text;
  for (std::string k : {"1", "2"})
    text += "  %c" + k + " = " + add + " i32 %column, " + k + "\n  %x" + k + " = " + extend + " i32 %c" + k +
            " to i64\n  %y" + k + " = add i64 %start, %x" + k + "\n";
  return text;
}

TEST(CompareDifferences, ConstantsAreComparedWithOneDifference) {
  PassRun run = compare(columns("or disjoint", "zext"));
  EXPECT_TRUE(run.has("sub i64 %label"));
  EXPECT_TRUE(run.has("icmp eq i32"));
  EXPECT_FALSE(run.has("icmp eq i64"));
}

TEST(CompareDifferences, ASumIsTakenApartIfItDoesNotWrapBeforeItsExtension) {
  for (const char *extend : {"zext", "sext"}) EXPECT_TRUE(compare(columns("or disjoint", extend)).changed()) << extend;
  EXPECT_TRUE(compare(columns("add nuw", "zext")).changed());
  EXPECT_TRUE(compare(columns("add nsw", "sext")).changed());
  EXPECT_FALSE(compare(columns("add nsw", "zext")).changed());
  EXPECT_FALSE(compare(columns("add nuw", "sext")).changed());
  EXPECT_FALSE(compare(columns("or", "zext")).changed());
}

// The upper half of an extension with zeros is none of one with signs.
TEST(CompareDifferences, ASignExtensionWithinAnotherExtensionStays) {
  std::string wide = "  %w = sext i16 %narrow to i32\n  %z = zext i32 %w to i64\n";
  PassRun run = compare(wide + "  %y1 = add i64 %z, 1\n  %y2 = add i64 %z, 2\n");
  EXPECT_TRUE(run.changed());
  EXPECT_TRUE(run.has("zext i32 %w to i64")) << run.after;
  EXPECT_FALSE(run.has("sext i16 %narrow to i64")) << run.after;
}

// A difference of 2^31 and more is none that is compared.
TEST(CompareDifferences, ConstantsAreLessThanTwoToThe31Apart) {
  auto apart = [](const std::string &far) {
    return compare("  %y1 = add i64 %start, 0\n  %y2 = add i64 %start, " + far + "\n").changed();
  };
  EXPECT_TRUE(apart("2147483647"));
  EXPECT_FALSE(apart("2147483648"));
  EXPECT_FALSE(apart("4294967297"));
}

TEST(CompareDifferences, OneConstantNeedsNoDifference) {
  EXPECT_FALSE(compare("  %y1 = add i64 %start, 5\n  %y2 = add i64 %start, 5\n").changed());
}

TEST(CompareDifferences, FewComparisonsStay) {
  std::string two = columns("or disjoint", "zext");
  EXPECT_FALSE(compare(two, "i64", "%label", kLeast + 1).changed());
}

TEST(CompareDifferences, ComparisonsWithConstantsStay) {
  std::string sums = "  %y1 = add i32 %column, 1\n  %y2 = add i32 %column, 2\n";
  EXPECT_TRUE(compare(sums, "i32", "%label32").changed());
  EXPECT_FALSE(compare(sums, "i32", "7").changed());
}

} // namespace
} // namespace tessera::nvidia
