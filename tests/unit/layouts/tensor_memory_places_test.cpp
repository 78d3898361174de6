// Where elements lie in tensor memory: each in one place, in whole columns, and where the figures of the PTX manual
// ("Data Path Layout Organization") have the rows.
#include "layouts/tensor_memory_access.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace tessera::layouts {
namespace {

TensorMemoryEncoding encoding(int32_t blockM, int32_t blockN, int32_t colStride = 1) {
  TensorMemoryParams p;
  p.blockM = blockM;
  p.blockN = blockN;
  p.colStride = colStride;
  return TensorMemoryEncoding(p);
}

TEST(TensorMemoryPlaces, EachElementHasAPlaceOfItsOwn) {
  for (int32_t blockM : {64, 128})
    for (int32_t blockN : {16, 64, 256})
      for (int32_t stride : {1, 2})
        for (int64_t rows : {64, 128, 256})
          for (int64_t columns : {16, 64, 256}) {
            if (rows < blockM) continue;
            auto places = tensorMemoryPlaces(encoding(blockM, blockN, stride), {rows, columns});
            ASSERT_TRUE(places.ok()) << places.status();
            ASSERT_TRUE(places->isSurjective());
            EXPECT_EQ(places->inDimSize(Dim::Lane), kTensorMemoryLanes);
            auto inverse = places->pseudoInvert();
            std::set<std::pair<int32_t, int32_t>> taken;
            for (int32_t row = 0; row < rows; ++row)
              for (int32_t column = 0; column < columns; ++column) {
                auto at = inverse.apply({{Dim::Dim0, row}, {Dim::Dim1, column}});
                ASSERT_TRUE(taken.insert({at[0], at[1]}).second);
                ASSERT_EQ(at[1] % stride, 0);
                auto back = places->apply({{Dim::Lane, at[0]}, {Dim::Offset, at[1]}});
                ASSERT_THAT(back, ::testing::ElementsAre(row, column));
              }
          }
}

TEST(TensorMemoryPlaces, RowsAreInTheLanesOfTheManual) {
  auto laneOf = [](const TensorMemoryEncoding &e, int64_t rows, int32_t row) {
    return tensorMemoryPlaces(e, {rows, 64})->pseudoInvert().apply({{Dim::Dim0, row}, {Dim::Dim1, 0}})[0];
  };
  for (int32_t row = 0; row < 128; ++row) EXPECT_EQ(laneOf(encoding(128, 64), 128, row), row);
  for (int32_t row = 0; row < 64; ++row) EXPECT_EQ(laneOf(encoding(64, 64), 64, row), row / 16 * 32 + row % 16);
  for (int32_t row = 64; row < 128; ++row)
    EXPECT_EQ(laneOf(encoding(64, 64), 128, row), (row - 64) / 16 * 32 + row % 16 + 16);
}

TEST(TensorMemoryAccess, ChosenRegistersAreMoved) {
  for (int32_t blockM : {64, 128})
    for (unsigned bits : {8u, 16u, 32u})
      for (unsigned warps : {4u, 8u})
        for (int64_t rows : {64, 128, 256})
          for (int64_t columns : {16, 64, 256}) {
            if (rows < blockM) continue;
            auto e = encoding(blockM, 64);
            auto registers = tensorMemoryRegisters(e, {rows, columns}, bits, warps);
            if (!registers) continue; // too few columns
            EXPECT_TRUE(registers->isInvertible());
            auto plan = planTensorMemoryAccess(*registers, e, {rows, columns}, bits);
            ASSERT_TRUE(plan.ok()) << plan.status();
            EXPECT_EQ(plan->words.size() * (32 / bits), size_t(registers->inDimSize(Dim::Register)));
          }
}

TEST(TensorMemoryAccess, PlacesThatAreNoSumsAreRefused) {
  auto e = encoding(128, 64);
  auto layout = [](int32_t warpColumn) {
    LinearLayout::InDim registers{Dim::Register, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}}},
        lane{Dim::Lane, {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}},
        warp{Dim::Warp, {{32, 0}, {64, 0}, {0, warpColumn}}}, block{Dim::Block, {}};
    return LinearLayout({registers, lane, warp, block}, {{Dim::Dim0, 128}, {Dim::Dim1, 64}});
  };
  EXPECT_TRUE(planTensorMemoryAccess(layout(32), e, {128, 64}, 32).ok());
  EXPECT_FALSE(planTensorMemoryAccess(layout(48), e, {128, 64}, 32).ok()); // 48 ^ 16 is not 48 + 16
}

TEST(TensorMemoryPlaces, Columns) {
  EXPECT_EQ(*tensorMemoryColumns(encoding(128, 128), {128, 128}, 32), 128);
  EXPECT_EQ(*tensorMemoryColumns(encoding(128, 64), {128, 64}, 16), 32);
  EXPECT_EQ(*tensorMemoryColumns(encoding(128, 64, 2), {128, 64}, 16), 64);
  EXPECT_EQ(*tensorMemoryColumns(encoding(128, 128), {256, 128}, 32), 256);
  EXPECT_EQ(*tensorMemoryColumns(encoding(64, 64), {128, 64}, 32), 64); // both halves of the lanes
}

TEST(TensorMemoryPlaces, Errors) {
  EXPECT_FALSE(tensorMemoryPlaces(encoding(128, 64), {64, 64}).ok());
  EXPECT_FALSE(tensorMemoryPlaces(encoding(128, 64), {128, 48}).ok());
  EXPECT_FALSE(tensorMemoryPlaces(encoding(128, 64), {128}).ok());
  TensorMemoryParams p;
  p.blockN = 64;
  p.twoCtas = true;
  EXPECT_FALSE(tensorMemoryPlaces(TensorMemoryEncoding(p), {128, 64}).ok());
}

} // namespace
} // namespace tessera::layouts
