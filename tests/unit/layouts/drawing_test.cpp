// Drawings of layouts: the examples printed in the documentation of triton-tensor-layout, letter by letter; and
// pictures that say of every element who holds it.
#include "layouts/drawing.h"
#include "layouts/encoding_pool.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tessera::layouts::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Drawing, TensorViewOfBlocked) {
  EncodingPool pool;
  auto *e = *pool.getBlocked({{1, 4}, {4, 8}, {1, 1}, {1, 0}, {}});
  EXPECT_EQ(
      *drawTensorView(*e, {4, 32}),
      R"([[ T0:0,  T0:1,  T0:2,  T0:3,  T1:0,  T1:1,  T1:2,  T1:3,  T2:0,  T2:1,  T2:2,  T2:3,  T3:0,  T3:1,  T3:2,  T3:3,  T4:0,  T4:1,  T4:2,  T4:3,  T5:0,  T5:1,  T5:2,  T5:3,  T6:0,  T6:1,  T6:2,  T6:3,  T7:0,  T7:1,  T7:2,  T7:3]
[  T8:0,  T8:1,  T8:2,  T8:3,  T9:0,  T9:1,  T9:2,  T9:3, T10:0, T10:1, T10:2, T10:3, T11:0, T11:1, T11:2, T11:3, T12:0, T12:1, T12:2, T12:3, T13:0, T13:1, T13:2, T13:3, T14:0, T14:1, T14:2, T14:3, T15:0, T15:1, T15:2, T15:3]
[ T16:0, T16:1, T16:2, T16:3, T17:0, T17:1, T17:2, T17:3, T18:0, T18:1, T18:2, T18:3, T19:0, T19:1, T19:2, T19:3, T20:0, T20:1, T20:2, T20:3, T21:0, T21:1, T21:2, T21:3, T22:0, T22:1, T22:2, T22:3, T23:0, T23:1, T23:2, T23:3]
[ T24:0, T24:1, T24:2, T24:3, T25:0, T25:1, T25:2, T25:3, T26:0, T26:1, T26:2, T26:3, T27:0, T27:1, T27:2, T27:3, T28:0, T28:1, T28:2, T28:3, T29:0, T29:1, T29:2, T29:3, T30:0, T30:1, T30:2, T30:3, T31:0, T31:1, T31:2, T31:3]]
)");
  // Taller than the tile: the same threads' next registers.
  EXPECT_THAT(*drawTensorView(*e, {8, 32}), HasSubstr("\n[  T0:4,  T0:5,  T0:6,  T0:7,  T1:4,"));
  auto *tall = *pool.getBlocked({{2, 4}, {4, 8}, {1, 1}, {1, 0}, {}});
  EXPECT_THAT(*drawTensorView(*tall, {8, 32}), HasSubstr("T7:3]\n[  T0:4,  T0:5,  T0:6,  T0:7,  T1:4,"));
}

TEST(Drawing, TensorViewOfCopies) {
  EncodingPool pool;
  auto view = *drawTensorView(**pool.getBlocked({{1, 4}, {4, 8}, {4, 1}, {1, 0}, {}}), {16, 16});
  EXPECT_THAT(
      view,
      StartsWith(
          R"([[  T0:0|  T4:0,   T0:1|  T4:1,   T0:2|  T4:2,   T0:3|  T4:3,   T1:0|  T5:0,   T1:1|  T5:1,   T1:2|  T5:2,   T1:3|  T5:3,   T2:0|  T6:0,   T2:1|  T6:1,   T2:2|  T6:2,   T2:3|  T6:3,   T3:0|  T7:0,   T3:1|  T7:1,   T3:2|  T7:2,   T3:3|  T7:3]
[   T8:0| T12:0,   T8:1| T12:1,   T8:2| T12:2,   T8:3| T12:3,   T9:0| T13:0,   T9:1| T13:1,   T9:2| T13:2,   T9:3| T13:3,  T10:0| T14:0,  T10:1| T14:1,  T10:2| T14:2,  T10:3| T14:3,  T11:0| T15:0,  T11:1| T15:1,  T11:2| T15:2,  T11:3| T15:3]
)"));
  EXPECT_THAT(view, HasSubstr("\n[  T96:0|T100:0,  T96:1|T100:1,  T96:2|T100:2,"));
  EXPECT_THAT(view, testing::EndsWith("T127:0, T123:1|T127:1, T123:2|T127:2, T123:3|T127:3]]\n"));
}

TEST(Drawing, TensorViewOfShared) {
  EncodingPool pool;
  EXPECT_EQ(*drawTensorView(**pool.getSwizzledShared({2, 1, 4, {1, 0}, {}}), {4, 8}),
            R"([[(0:0),(0:1),(0:2),(0:3),(0:4),(0:5),(0:6),(0:7)]
[ (1:2),(1:3),(1:0),(1:1),(1:6),(1:7),(1:4),(1:5)]
[ (2:4),(2:5),(2:6),(2:7),(2:0),(2:1),(2:2),(2:3)]
[ (3:6),(3:7),(3:4),(3:5),(3:2),(3:3),(3:0),(3:1)]]
)");
  EXPECT_EQ(*drawTensorView(**pool.getSwizzledShared({2, 2, 4, {1, 0}, {}}), {4, 4}), R"([[(0:0),(0:1),(0:2),(0:3)]
[ (1:0),(1:1),(1:2),(1:3)]
[ (2:2),(2:3),(2:0),(2:1)]
[ (3:2),(3:3),(3:0),(3:1)]]
)");
  EXPECT_THAT(*drawTensorView(**pool.getSwizzledShared({1, 1, 1, {1, 0}, {}}), {2, 16}),
              StartsWith("[[(0: 0),(0: 1),"));
}

TEST(Drawing, MoreDimensions) {
  EncodingPool pool;
  EXPECT_EQ(*drawTensorView(**pool.getBlocked({{1, 1, 2}, {2, 2, 1}, {1, 1, 1}, {2, 1, 0}, {}}), {2, 2, 2}),
            "[[[T0:0, T0:1]\n[  T1:0, T1:1]]\n[[ T2:0, T2:1]\n[  T3:0, T3:1]]]\n");
  EXPECT_EQ(*drawTensorView(**pool.getBlocked({{2}, {2}, {1}, {0}, {}}), {4}), "[T0:0, T0:1, T1:0, T1:1]\n");
  BlockedParams p{{1}, {2}, {1}, {0}, {}};
  p.cta.bases = {{1}};
  EXPECT_EQ(*drawTensorView(**pool.getBlocked(p), {4}), "[B0:T0:0, B0:T1:0, B1:T0:0, B1:T1:0]\n");
}

TEST(Drawing, HardwareView) {
  EncodingPool pool;
  EXPECT_EQ(*drawHardwareView(**pool.getBlocked({{1, 2}, {2, 1}, {1, 2}, {1, 0}, {}}), {2, 4}),
            "Warp0:\n(0,0), (1,0)\n(0,1), (1,1)\nWarp1:\n(0,2), (1,2)\n(0,3), (1,3)\n");
  EXPECT_EQ(*drawHardwareView(**pool.getSwizzledShared({1, 1, 2, {1, 0}, {}}), {2, 2}),
            "Block: 0:\nOffset: 0 -> (0,0)\nOffset: 1 -> (0,1)\nOffset: 2 -> (1,1)\nOffset: 3 -> (1,0)\n");
}

TEST(Drawing, Pictures) {
  EncodingPool pool;
  auto *e = *pool.getBlocked({{1, 4}, {4, 8}, {4, 1}, {1, 0}, {}});
  std::string svg = *drawSvg(*e, {16, 16});
  EXPECT_THAT(svg, StartsWith("<svg xmlns="));
  size_t cells = 0;
  for (size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) ++cells;
  EXPECT_EQ(cells, 256u);
  EXPECT_THAT(svg, HasSubstr("<title>(4, 1)\nwarp 1, lane 0, register 1\nwarp 1, lane 4, register 1</title>"));
  EXPECT_THAT(svg, HasSubstr(">0:1+</text>"));
  std::string html = *drawHtml(*e, {16, 16});
  EXPECT_THAT(html, HasSubstr("#ttg.blocked&lt;{sizePerThread"));
  EXPECT_THAT(html, HasSubstr(" - register=1 -&gt; (0, 1)"));
  EXPECT_THAT(*drawSvg(**pool.getSwizzledShared({1, 1, 2, {1, 0}, {}}), {2, 64}),
              HasSubstr("<title>(1, 1)\noffset 64, bank 0 of 32</title>"));
  EXPECT_FALSE(drawSvg(*e, {1024, 1024}).ok());
}

} // namespace
} // namespace tessera::layouts::test
