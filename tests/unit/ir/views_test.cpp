// Named access to operands: the views of families of operations (ir/ops.h) and the four places of loop-carried values
// (ir/loops.h).
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/loops.h"
#include <gtest/gtest.h>

namespace tessera::ir {
namespace {

constexpr llvm::StringLiteral kText = R"(
tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %t: tensor<4xf32>, %ptrs: tensor<4x!tt.ptr<f32>>) {
  %one = arith.constant 1 : i32
  %sum = arith.addi %n, %one : i32
  %less = arith.cmpi slt, %n, %sum : i32
  %wide = arith.extsi %n : i32 to i64
  %joined = tt.join %t, %t : tensor<4xf32> -> tensor<4x2xf32>
  %next = tt.addptr %p, %n : !tt.ptr<f32>, i32
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %next, %x : !tt.ptr<f32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %ptrs, %t : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>) -> tensor<4xf32>
  %r:2 = scf.for %i = %one to %n step %one iter_args(%a = %one, %b = %sum) -> (i32, i32) : i32 {
    %c = arith.addi %a, %b : i32
    scf.yield %b, %c : i32, i32
  }
  tt.return
}
)";

class Views : public testing::Test {
protected:
  void SetUp() override {
    DiagnosticEngine diag;
    module_ = frontend::parseModule(kText, "test.mlir", context_, diag);
    ASSERT_TRUE(module_);
  }
  template <class OpT> OpT first() {
    OpT found;
    module_->op()->walk([&](Operation *op) {
      if (!found) found = op->dyn<OpT>();
    });
    return found;
  }

  Context context_;
  std::unique_ptr<Module> module_;
};

TEST_F(Views, FamiliesNameTheOperandsOfTheirOperations) {
  auto sum = first<arith::AddiOp>();
  EXPECT_TRUE(sum->is<BinaryOp>());
  EXPECT_EQ(BinaryOp(sum).lhs(), sum.lhs());
  EXPECT_EQ(BinaryOp(sum).rhs(), sum.rhs());
  EXPECT_EQ(BinaryOp(sum).other(0), sum.rhs());
  EXPECT_EQ(BinaryOp(sum).other(1), sum.lhs());
  EXPECT_EQ(BinaryOp(first<arith::CmpiOp>()).rhs(), sum.result());
  EXPECT_TRUE(first<tt::JoinOp>()->is<BinaryOp>());
  EXPECT_EQ(UnaryOp(first<arith::ExtsiOp>()).value(), sum.lhs());
  EXPECT_EQ(GlobalAccessOp(first<tt::LoadOp>()).ptr(), first<tt::LoadOp>().ptr());
  EXPECT_EQ(GlobalAccessOp(first<tt::StoreOp>()).ptr(), first<tt::AddptrOp>().result());
  EXPECT_TRUE(first<tt::AtomicRmwOp>()->is<GlobalAccessOp>());
}

TEST_F(Views, FamiliesHaveNoOtherOperations) {
  EXPECT_FALSE(first<tt::AddptrOp>()->is<BinaryOp>());
  EXPECT_FALSE(first<tt::AddptrOp>()->is<GlobalAccessOp>());
  EXPECT_FALSE(first<arith::ConstantOp>()->is<UnaryOp>());
  EXPECT_FALSE(first<tt::LoadOp>()->is<UnaryOp>()); // its mask is optional
  EXPECT_FALSE(first<arith::AddiOp>()->is<UnaryOp>());
  EXPECT_FALSE(first<scf::ForOp>()->is<BinaryOp>());
}

TEST_F(Views, SettersReplaceTheNamedOperand) {
  auto sum = first<arith::AddiOp>();
  Value lhs = sum.lhs(), rhs = sum.rhs();
  sum.setRhs(lhs);
  EXPECT_EQ(sum.rhs(), lhs);
  BinaryOp(sum).setLhs(rhs);
  EXPECT_EQ(sum.lhs(), rhs);
}

TEST_F(Views, CarriedValuesAreFoundFromEachOfTheirPlaces) {
  auto loop = first<scf::ForOp>();
  ASSERT_EQ(numCarried(loop), 2u);
  Block &body = *loop.body().front();
  for (unsigned i = 0; i < 2; ++i) {
    CarriedValue value = carried(loop, i);
    EXPECT_EQ(value.init, loop.initArgs()[i]);
    EXPECT_EQ(value.argument, carriedArgument(body, i));
    EXPECT_EQ(value.argument, Value(carriedArguments(body)[i]));
    EXPECT_EQ(value.yielded, body.terminator()->operand(i));
    EXPECT_EQ(value.result, loop->result(i));
    EXPECT_EQ(carriedByArgument(value.argument)->index, i);
    EXPECT_EQ(carriedByResult(value.result)->index, i);
    EXPECT_EQ(carriedByInit(loop.initArgs().operand(i))->index, i);
  }
  EXPECT_EQ(inductionVariable(loop), inductionVariable(body));
  EXPECT_TRUE(isInductionVariable(inductionVariable(loop)));
  EXPECT_FALSE(carriedByArgument(inductionVariable(loop)));
}

TEST_F(Views, BoundsAndStepCarryNothing) {
  auto loop = first<scf::ForOp>();
  for (unsigned i = 0; i < 3; ++i) EXPECT_FALSE(carriedByInit(loop->opOperand(i)));
  EXPECT_FALSE(carriedByInit(first<arith::AddiOp>()->opOperand(0)));
}

} // namespace
} // namespace tessera::ir
