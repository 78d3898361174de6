// Reshapes in any order in TTGIR that is given: the place of the largest element, counted after the reshape, is that of
// row-major order on every target, although the layouts put another element into each place.
#include "emulation.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::Emulation;
using testing::GivenTarget;

std::string text(const GivenTarget &t) {
  return llvm::formatv(
             R"(#rows = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [{2}, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{1}], warpsPerCTA = [4], order = [0]}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "{0}", "ttg.threads-per-warp" = {1} : i32} {{
  tt.func public @k(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {{
    %r = tt.make_range {{end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{{dim = 1, parent = #rows}>>
    %re = tt.expand_dims %r {{axis = 1 : i32} : tensor<16xi32, #ttg.slice<{{dim = 1, parent = #rows}>> -> tensor<16x1xi32, #rows>
    %c = tt.make_range {{end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #rows}>>
    %ce = tt.expand_dims %c {{axis = 0 : i32} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %n = arith.constant dense<64> : tensor<16x1xi32, #rows>
    %rn = arith.muli %re, %n : tensor<16x1xi32, #rows>
    %rb = tt.broadcast %rn : tensor<16x1xi32, #rows> -> tensor<16x64xi32, #rows>
    %cb = tt.broadcast %ce : tensor<1x64xi32, #rows> -> tensor<16x64xi32, #rows>
    %i = arith.addi %rb, %cb : tensor<16x64xi32, #rows>
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<16x64x!tt.ptr<i32>, #rows>
    %q = tt.addptr %p, %i : tensor<16x64x!tt.ptr<i32>, #rows>, tensor<16x64xi32, #rows>
    %v = tt.load %q : tensor<16x64x!tt.ptr<i32>, #rows>
    %f = tt.reshape %v allow_reorder : tensor<16x64xi32, #rows> -> tensor<1024xi32, #line>
    %at = tt.make_range {{end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #line>
    %m:2 = "tt.reduce"(%f, %at) <{{axis = 0 : i32}> ({{
    ^bb0(%a: i32, %j: i32, %b: i32, %k: i32):
      %g = arith.cmpi sgt, %a, %b : i32
      %s = arith.select %g, %a, %b : i32
      %w = arith.select %g, %j, %k : i32
      tt.reduce.return %s, %w : i32, i32
    }) : (tensor<1024xi32, #line>, tensor<1024xi32, #line>) -> (i32, i32)
    tt.store %o, %m#1 : !tt.ptr<i32>
    tt.return
  }
}
)",
             t.triton, t.lanes, t.lanes / 16)
      .str();
}

TEST(ReshapedOrder, PlacesAreRowMajor) {
  for (GivenTarget t : {GivenTarget{"sm_90a", "cuda:90", 32}, {"gfx942", "hip:gfx942", 64}})
    for (int place : {1, 70, 1000}) {
      std::vector<uint8_t> bytes(1024 * 4);
      bytes[place * 4] = 1;
      Emulation e;
      e.target = t.name;
      auto r = e.text(text(t), "k", {testing::bytesOf(bytes), testing::zeros(4)});
      ASSERT_TRUE(r.ok()) << t.name << ": " << r.status();
      int found;
      std::memcpy(&found, e.buffers[1].data(), 4);
      EXPECT_EQ(found, place) << t.name;
    }
}

} // namespace
} // namespace tessera
