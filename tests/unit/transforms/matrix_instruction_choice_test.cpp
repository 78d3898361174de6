// The choice of matrix instructions: laws over all targets, shapes and warps, and examples of each rule.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "runtime/compiler/targets.h"
#include "transforms/layout/matrix_instruction_choice.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {

using namespace ir;
using transforms::DotDecomposition;
using transforms::DotOperands;
using transforms::DotProblem;
using transforms::DotTypes;
using transforms::MatrixInstructionChoice;

const TargetInfo &target(const char *name) {
  auto *t = runtime::findTarget(name);
  EXPECT_TRUE(t) << name;
  return *t;
}

DotProblem problem(const MatrixInstruction &types, int64_t m, int64_t n, int64_t k) {
  DotProblem p;
  p.types.a = types.a;
  p.types.b = types.b;
  p.types.c = types.c;
  p.shape = {m, n};
  p.k = k;
  return p;
}
DotProblem f16Problem(int64_t m, int64_t n, int64_t k) {
  return problem({MatrixType::F16, MatrixType::F16, MatrixType::F32, 0, 0, 0, 1}, m, n, k);
}

std::string tileOf(const char *name, const DotProblem &p, int64_t warps, int64_t tileSize = 0) {
  MatrixInstructionChoice choice(target(name), warps, tileSize, /*anyChainThroughA=*/false);
  auto *i = choice.instruction(p, choice.warpsAlong(p));
  if (!i) return "none";
  return std::to_string(i->m) + "x" + std::to_string(i->n) + "x" + std::to_string(i->k);
}

// ---- laws ----

TEST(MatrixInstructionChoice, RowsFitTheDotAndWarpsAreAllUsed) {
  for (auto *arch : runtime::allTargets()) {
    const TargetInfo &t = arch->info;
    for (auto &row : t.matrixInstructions)
      for (int64_t m = 4; m <= 256; m *= 2)
        for (int64_t n = 4; n <= 256; n *= 2)
          for (int64_t k : {8, 16, 64})
            for (int64_t warps : {1, 4, 8})
              for (DotOperands along : {transforms::kNoOperand, transforms::kOperandA, transforms::kOperandB}) {
                DotProblem p = problem(row, m, n, k);
                MatrixInstructionChoice choice(t, warps, 0, false);
                auto *i = choice.instruction(p, along);
                if (!i) continue;
                EXPECT_TRUE(i->a == row.a && i->b == row.b && i->c == row.c);
                bool isSkinny = i->m == 4 || i->n == 4; // MFMA's for few rows or columns, of any K
                EXPECT_TRUE(isSkinny || i->k <= 2 * k);
                auto split = choice.warps(p.shape, *i, along);
                EXPECT_EQ(split[0] * split[1], warps);
              }
  }
}

TEST(MatrixInstructionChoice, BatchesShareWarpsFirst) {
  auto p = f16Problem(32, 32, 32);
  p.shape = {4, 32, 32};
  MatrixInstructionChoice choice(target("sm_80"), 8, 0, false);
  auto *i = choice.instruction(p, transforms::kNoOperand);
  ASSERT_TRUE(i);
  auto warps = choice.warps(p.shape, *i, transforms::kNoOperand);
  EXPECT_EQ(warps[0], 4);
  EXPECT_EQ(warps[1] * warps[2], 2);
}

// ---- tiles ----

TEST(MatrixInstructionChoice, LargestTileOfEqualWork) {
  EXPECT_EQ(tileOf("sm_80", f16Problem(64, 64, 64), 4), "16x8x16");
  EXPECT_EQ(tileOf("gfx942", f16Problem(64, 64, 64), 1), "32x32x8");
  EXPECT_EQ(tileOf("gfx1100", f16Problem(64, 64, 64), 4), "16x16x16");
}
TEST(MatrixInstructionChoice, UserRequestsATile) {
  EXPECT_EQ(tileOf("gfx942", f16Problem(64, 64, 64), 1, 16), "16x16x16");
  EXPECT_EQ(tileOf("sm_80", f16Problem(64, 64, 64), 1, 16), "16x8x16"); // not for mma.sync
}
TEST(MatrixInstructionChoice, TilesMayExceedTheDot) {
  EXPECT_NE(tileOf("sm_80", f16Problem(8, 4, 16), 1), "none");
  EXPECT_NE(tileOf("gfx942", f16Problem(16, 8, 16), 1), "none");
}

// ---- chains ----

TEST(MatrixInstructionChoice, WarpsStandAlongAChain) {
  auto p = f16Problem(64, 64, 64);
  p.chain.to = transforms::kOperandA;
  MatrixInstructionChoice nvidia(target("sm_80"), 4, 0, true);
  EXPECT_EQ(nvidia.warpsAlong(p), transforms::kOperandA);
  auto warps = nvidia.warps(p.shape, *nvidia.instruction(p, transforms::kOperandA), transforms::kOperandA);
  EXPECT_EQ(warps[0], 4);
  EXPECT_EQ(warps[1], 1);
}
TEST(MatrixInstructionChoice, MmaSyncKeepsNoChainThroughTheRightOperand) {
  auto p = f16Problem(64, 64, 64);
  p.chain.to = transforms::kOperandB;
  EXPECT_EQ(MatrixInstructionChoice(target("sm_80"), 4, 0, false).warpsAlong(p), transforms::kNoOperand);
  EXPECT_EQ(MatrixInstructionChoice(target("gfx942"), 4, 0, false).warpsAlong(p), transforms::kOperandB);
}
TEST(MatrixInstructionChoice, LastDotOfAChainInALoopTakesALargerTileOfMfma) {
  auto p = f16Problem(64, 128, 64);
  p.chain.from = transforms::kOperandA;
  MatrixInstructionChoice choice(target("gfx942"), 4, 0, true);
  EXPECT_EQ(choice.warpsAlong(p), transforms::kOperandA);
  p.inLoop = true;
  EXPECT_EQ(choice.warpsAlong(p), transforms::kNoOperand);
  p.chain.to = transforms::kOperandA; // not the last
  EXPECT_EQ(choice.warpsAlong(p), transforms::kOperandA);
}

// ---- element types ----

/// The types for a dot of `a` by `b` into `d`.
std::optional<DotTypes> typesOf(const char *name, const std::string &a, const std::string &b, const std::string &d,
                                const std::string &precision = "") {
  auto tensor = [](const std::string &element) { return "tensor<32x32x" + element + ">"; };
  std::string text = "tt.func public @k(%a: " + tensor(a) + ", %b: " + tensor(b) + ", %c: " + tensor(d) + ") {\n" +
                     "  %d = tt.dot %a, %b, %c" + (precision.empty() ? "" : ", inputPrecision = " + precision) + " : " +
                     tensor(a) + " * " + tensor(b) + " -> " + tensor(d) + "\n  tt.return\n}\n";
  Context context;
  DiagnosticEngine diagnostics;
  auto m = frontend::parseModule("module {\n" + text + "}\n", "dot.ttir", context, diagnostics);
  EXPECT_TRUE(m) << text;
  std::optional<DotTypes> types;
  if (m)
    m->op()->walk([&](Operation *op) {
      if (auto dot = op->dyn<tt::DotOp>()) types = transforms::chooseDotTypes(dot, target(name));
    });
  return types;
}

TEST(DotTypes, NarrowAccumulatorsWithoutAnInstructionAreF32) {
  auto types = typesOf("sm_80", "bf16", "bf16", "bf16");
  ASSERT_TRUE(types);
  EXPECT_EQ(types->c, MatrixType::F32);
  EXPECT_EQ(typesOf("sm_80", "f16", "f16", "f16")->c, MatrixType::F16);
}
TEST(DotTypes, Float8WithoutAnInstructionIsF16) {
  auto types = typesOf("sm_80", "f8E4M3FN", "f8E4M3FN", "f32");
  ASSERT_TRUE(types);
  EXPECT_EQ(types->a, MatrixType::F16);
  EXPECT_EQ(typesOf("sm_90a", "f8E4M3FN", "f8E4M3FN", "f32")->a, MatrixType::F8E4M3FN);
}
TEST(DotTypes, F32ByPrecision) {
  EXPECT_EQ(typesOf("sm_80", "f32", "f32", "f32", "tf32")->a, MatrixType::TF32);
  EXPECT_EQ(typesOf("sm_80", "f32", "f32", "f32", "tf32x3")->decomposition, DotDecomposition::Tf32x3);
  EXPECT_EQ(typesOf("sm_80", "f32", "f32", "f32", "bf16x6")->decomposition, DotDecomposition::Bf16x6);
  EXPECT_FALSE(typesOf("sm_80", "f32", "f32", "f32", "ieee"));
  EXPECT_EQ(typesOf("gfx942", "f32", "f32", "f32", "tf32x3")->decomposition, DotDecomposition::None);
  EXPECT_EQ(typesOf("gfx942", "f32", "f32", "f32", "ieee")->a, MatrixType::F32);
}
TEST(DotTypes, NoneForTypesWithoutAnInstruction) { EXPECT_FALSE(typesOf("gfx1100", "f32", "f32", "f32", "ieee")); }

} // namespace
} // namespace tessera
