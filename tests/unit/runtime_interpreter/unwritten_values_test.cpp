// Reads of memory that nothing wrote: a fault if the launch depends on what they find, and then of the read on which it
// depends.
#include "evaluation.h"
#include "runtime/unwritten_values.h"

namespace tessera {
namespace {
using runtime::placeThatMatters;
using runtime::UnwrittenValue;
using test::elementwiseKernel;
using test::Evaluation;

// ---- the search ----

using Only = std::optional<size_t>;

TEST(UnwrittenValues, NoPlaceMattersIfNoRunDiffers) {
  int runs = 0;
  auto never = [&](UnwrittenValue, Only only) {
    EXPECT_FALSE(only);
    ++runs;
    return false;
  };
  EXPECT_EQ(placeThatMatters(3, never), std::nullopt);
  EXPECT_EQ(runs, 4);
}

TEST(UnwrittenValues, TheFirstPlaceThatDiffersByItself) {
  for (size_t matters = 0; matters < 5; ++matters)
    for (UnwrittenValue by : {UnwrittenValue::Ones, UnwrittenValue::Large, UnwrittenValue::Low, UnwrittenValue::One}) {
      auto differs = [&](UnwrittenValue v, Only only) { return v == by && (!only || *only >= matters); };
      EXPECT_EQ(placeThatMatters(5, differs), matters);
    }
}

TEST(UnwrittenValues, PlacesThatMatterOnlyTogether) {
  EXPECT_EQ(placeThatMatters(3, [](UnwrittenValue, Only only) { return !only; }), 0);
}

TEST(UnwrittenValues, OnlyBytesThatNothingWroteChange) {
  uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const uint8_t undefined[8] = {1, 1, 1, 1, 0, 0, 1, 0};
  runtime::putValue(UnwrittenValue::One, data, undefined, 8, 4);
  const uint8_t expected[8] = {1, 0, 0, 0, 5, 6, 0, 8};
  EXPECT_TRUE(std::equal(data, data + 8, expected));
}

// ---- on the interpreter ----

/// r[i] = what the lines make of a[i], of which element 2 was never written, and b[i].
struct Launch {
  explicit Launch(const char *lines) : text(elementwiseKernel(4, {"i32", "i32"}, {"i32"}, lines)) {}

  Evaluation evaluation() {
    Evaluation e(text);
    e.buffer(a).undefined(ofA).buffer(b).undefined(ofB).buffer(r);
    return e;
  }
  std::string text;
  std::vector<int32_t> a = {8, 9, 77, 11}, b = {1, 1, 0, 1}, r = {0, 0, 0, 0};
  std::vector<uint8_t> ofA = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0}, ofB = std::vector<uint8_t>(16);
};

constexpr const char *kSelect = "%z = arith.constant dense<0> : tensor<4xi32>\n"
                                "%keep = arith.cmpi ne, %b, %z : tensor<4xi32>\n"
                                "%r = arith.select %keep, %a, %z : tensor<4xi1>, tensor<4xi32>";

TEST(UnwrittenValues, ThatASelectDropsAreNoFault) {
  Launch l(kSelect);
  l.evaluation().ok();
  EXPECT_EQ(l.r, (std::vector<int32_t>{8, 9, 0, 11}));
  // What nobody wrote is as it was.
  EXPECT_EQ(l.a, (std::vector<int32_t>{8, 9, 77, 11}));
  EXPECT_EQ(l.ofA[8], 1);
}

TEST(UnwrittenValues, ThatReachMemoryAreFaults) {
  Launch stored("%r = arith.addi %a, %b : tensor<4xi32>");
  stored.evaluation().fails("load of 4 bytes at byte 8 of buffer 'arg0', which nothing ever wrote (element 2 of 4)");
  Launch kept(kSelect);
  kept.b[2] = 5;
  kept.evaluation().fails("at byte 8 of buffer 'arg0', which nothing ever wrote");
  // Zeros and NaN alone would not show it.
  Launch largest("%z = arith.constant dense<-1> : tensor<4xi32>\n%m = arith.maxsi %a, %z : tensor<4xi32>\n"
                 "%one = arith.constant dense<1> : tensor<4xi32>\n%r = arith.minsi %m, %b : tensor<4xi32>");
  largest.b[2] = 6;
  largest.evaluation().fails("at byte 8 of buffer 'arg0', which nothing ever wrote");
}

TEST(UnwrittenValues, ThePlaceThatMattersIsNamed) {
  // Of both inputs an element was never written; that of %a is dropped.
  Launch l("%z = arith.constant dense<0> : tensor<4xi32>\n%i = arith.constant dense<[1, 1, 0, 1]> : tensor<4xi32>\n"
           "%keep = arith.cmpi ne, %i, %z : tensor<4xi32>\n"
           "%k = arith.select %keep, %a, %z : tensor<4xi1>, tensor<4xi32>\n%r = arith.addi %k, %b : tensor<4xi32>");
  l.ofB[12] = 1;
  l.evaluation().fails("at byte 12 of buffer 'arg1', which nothing ever wrote");
  l.ofB[12] = 0;
  l.evaluation().ok();
}

TEST(UnwrittenValues, OtherFaultsAfterHarmlessReadsAreReported) {
  Launch l("%z = arith.constant dense<0> : tensor<4xi32>\n%k = arith.muli %a, %z : tensor<4xi32>\n"
           "%r = arith.divsi %b, %k : tensor<4xi32>");
  Evaluation e = l.evaluation();
  e.options.findOpenValues = true;
  e.fails("division by zero");
}

} // namespace
} // namespace tessera
