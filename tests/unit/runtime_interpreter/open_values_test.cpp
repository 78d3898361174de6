// Values that the IR leaves open: a launch whose outcome depends on one is a fault of the operation that made it, and
// one that drops them is none.
#include "evaluation.h"

namespace tessera {
namespace {
using test::elementwiseKernel;
using test::Evaluation;

std::string binary(const char *op) { return elementwiseKernel(4, {"i32", "i32"}, {"i32"}, op); }

const char *const kDivide = "%r = arith.divsi %a, %b : tensor<4xi32>";

Evaluation checked(std::string text) {
  Evaluation e(std::move(text));
  e.options.findOpenValues = true;
  return e;
}

TEST(OpenValues, AreFoundWhereTheyReachMemory) {
  struct {
    const char *op;
    int32_t b;
    const char *what;
  } cases[] = {
      {kDivide, 0, "division by zero (element 2)"},
      {"%r = arith.remui %a, %b : tensor<4xi32>", 0, "remainder of a division by zero (element 2)"},
      {"%r = arith.shli %a, %b : tensor<4xi32>", 32, "shift of 32 bits by 32 (element 2)"},
      {"%r = arith.shrsi %a, %b : tensor<4xi32>", -1, "shift of 32 bits by -1 (element 2)"},
  };
  for (auto &c : cases) {
    std::vector<int32_t> a = {8, 9, 10, 11}, b = {1, 2, c.b, 3}, r(4);
    checked(binary(c.op)).buffer(a).buffer(b).buffer(r).fails(c.what);
    Evaluation(binary(c.op)).buffer(a).buffer(b).buffer(r).ok(); // not looked for by default
  }
}

TEST(OpenValues, ConversionsThatDoNotFit) {
  auto run = [](float number, const char *op, const char *type) {
    std::vector<float> a = {1, number, 3, 4};
    std::vector<int64_t> r(4);
    std::string lines = std::string("%r = arith.") + op + " %a : tensor<4xf32> to tensor<4x" + type + ">";
    Evaluation e = checked(elementwiseKernel(4, {"f32"}, {type}, lines));
    auto s = e.buffer(a).buffer(r).run();
    return s.ok() ? "" : e.messages;
  };
  EXPECT_NE(run(3e9f, "fptosi", "i32").find("conversion of 3e+09 to a signed integer of 32 bits"), std::string::npos);
  EXPECT_NE(run(-1, "fptoui", "i8").find("conversion of -1 to an unsigned integer of 8 bits"), std::string::npos);
  EXPECT_NE(run(__builtin_nanf(""), "fptosi", "i8").find("conversion of nan"), std::string::npos);
  EXPECT_EQ(run(-0.5f, "fptoui", "i8"), "");
  EXPECT_EQ(run(255.9f, "fptoui", "i8"), "");
  EXPECT_EQ(run(-128.9f, "fptosi", "i8"), "");
  EXPECT_NE(run(128, "fptosi", "i8"), "");
}

TEST(OpenValues, ThatAreDroppedAreNoFault) {
  std::vector<int32_t> a = {8, 9, 10, 11}, b = {1, 2, 0, 3}, r(4);
  checked(binary("%z = arith.constant dense<0> : tensor<4xi32>\n"
                 "%q = arith.divsi %a, %b : tensor<4xi32>\n"
                 "%n = arith.cmpi ne, %b, %z : tensor<4xi32>\n"
                 "%r = arith.select %n, %q, %z : tensor<4xi1>, tensor<4xi32>"))
      .buffer(a)
      .buffer(b)
      .buffer(r)
      .ok();
  EXPECT_EQ(r, (std::vector<int32_t>{8, 4, 0, 3}));
  // Three of four elements: the fourth of each input is masked off, and its quotient is not stored.
  std::vector<int32_t> c = {1, 2, 3}, d = {1, 1, 1}, s(3);
  Evaluation masked = checked(elementwiseKernel(3, {"i32", "i32"}, {"i32"}, "%r = arith.divsi %a, %b : tensor<3xi32>"));
  masked.options.undefinedIsZero = true;
  masked.buffer(c).buffer(d).buffer(s).ok();
  EXPECT_EQ(s, c);
}

TEST(OpenValues, ThePlaceThatMattersIsNamed) {
  std::vector<int32_t> a = {8, 9, 10, 11}, b = {1, 2, 0, 40}, r(4);
  // The division's element is dropped, the shift's is not.
  Evaluation e = checked(binary("%z = arith.constant dense<0> : tensor<4xi32>\n"
                                "%q = arith.divsi %a, %b : tensor<4xi32>\n"
                                "%n = arith.cmpi ne, %b, %z : tensor<4xi32>\n"
                                "%t = arith.select %n, %q, %z : tensor<4xi1>, tensor<4xi32>\n"
                                "%s = arith.shli %a, %b : tensor<4xi32>\n"
                                "%r = arith.addi %s, %t : tensor<4xi32>"));
  e.buffer(a).buffer(b).buffer(r).fails("shift of 32 bits by 40 (element 3)");
  EXPECT_EQ(e.messages.find("division"), std::string::npos) << e.messages;
}

/// Of an operation's open elements, too: a select drops two of three.
TEST(OpenValues, TheElementThatMattersIsNamed) {
  std::vector<int32_t> a = {-8, -9, 10, -11}, b = {33, 2, 40, 50}, r(4);
  checked(binary("%z = arith.constant dense<0> : tensor<4xi32>\n"
                 "%s = arith.shli %a, %b : tensor<4xi32>\n"
                 "%n = arith.cmpi sgt, %a, %z : tensor<4xi32>\n"
                 "%r = arith.select %n, %s, %z : tensor<4xi1>, tensor<4xi32>"))
      .buffer(a)
      .buffer(b)
      .buffer(r)
      .fails("shift of 32 bits by 40 (element 2)");
  EXPECT_EQ(r, (std::vector<int32_t>{0, 0, 0, 0}));
}

/// An access out of bounds, or a loop without an end, that comes of one is its fault.
TEST(OpenValues, WhatTheyLeadTo) {
  std::vector<int32_t> x(4), r(1);
  std::string text = R"(module {
  tt.func public @k(%x: !tt.ptr<i32>, %n: i32, %o: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %i = arith.remsi %c1, %n : i32
    %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %v = tt.load %p : !tt.ptr<i32>
    tt.store %o, %v : !tt.ptr<i32>
    tt.return
  }
})";
  checked(text).buffer(x).scalar(0).buffer(r).fails("remainder of a division by zero: the result has no meaning");
  checked(text).buffer(x).scalar(2).buffer(r).ok();
}

TEST(OpenValues, WhatTheFirstRunWroteStays) {
  std::vector<int32_t> a = {8, 9, 10, 11}, b = {1, 2, 0, 3}, r(4);
  checked(binary(kDivide)).buffer(a).buffer(b).buffer(r).fails("division by zero");
  EXPECT_EQ(r, (std::vector<int32_t>{8, 4, -1, 3}));
}

} // namespace
} // namespace tessera
