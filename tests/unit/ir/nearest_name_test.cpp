// The name that was probably meant: the nearest one, if it is near enough.
#include "ir/nearest_name.h"
#include "gtest/gtest.h"

namespace tessera::ir {
namespace {

TEST(NearestName, HasTheFewestEditsBelowTheLimit) {
  constexpr llvm::StringRef kNames[] = {"blocked", "slice", "slices"};
  EXPECT_EQ(nearestName("blokced", kNames, 3), "blocked");
  EXPECT_EQ(nearestName("blokced", kNames, 2), ""); // two edits
  EXPECT_EQ(nearestName("slics", kNames, 4), "slice") << "the first of several";
  EXPECT_EQ(nearestName("slices", kNames, 4), "slices");
  EXPECT_EQ(nearestName("x", {}, 4), "");
}

} // namespace
} // namespace tessera::ir
