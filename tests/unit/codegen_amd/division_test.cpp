// Division of f32 as AMD's lowering makes it, run on the host with the instructions that it takes from the hardware
// put in by the ISA guides' words: v_rcp_f32 (off by one unit in the last place, if not of powers of two),
// v_frexp_mant_f32, v_frexp_exp_i32_f32, v_div_fixup_f32. With an exact reciprocal every quotient that is no denormal
// is rounded correctly, else it is off by a unit at most. (tt.precise_divf is LLVM's own division.)
#include "codegen/lowering/targets.h"
#include "codegen_amd/arch_table.h"
#include "codegen_amd/lowering_target.h"
#include "host_execution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace tessera {
namespace {

int reciprocalError; // units in the last place

float reciprocal(float d) {
  float r = 1 / d;
  return reciprocalError && r * d != 1 ? std::nextafterf(r, reciprocalError > 0 ? INFINITY : -INFINITY) : r;
}
float mantissa(float x) {
  int e;
  return std::isfinite(x) ? std::frexp(x, &e) : x;
}
int exponent(float x) {
  int e = 0;
  if (std::isfinite(x)) std::frexp(x, &e);
  return e;
}
float fixup(float q, float y, float x) {
  bool negative = std::signbit(x) != std::signbit(y);
  if (std::isnan(x) || std::isnan(y) || (x == 0 && y == 0) || (std::isinf(x) && std::isinf(y))) return NAN;
  if (std::isinf(x) || y == 0) return negative ? -INFINITY : INFINITY;
  if (std::isinf(y) || x == 0) return negative ? -0.0f : 0.0f;
  return std::copysign(q, negative ? -1.0f : 1.0f);
}

/// AMD's arithmetic on the host.
class ArithmeticTarget : public testing::HostTarget {
public:
  explicit ArithmeticTarget(const ir::TargetInfo &info) : amd_(amd::makeTarget(info)) {}
  llvm::Value *mathOp(llvm::IRBuilder<> &b, ir::Opcode op, llvm::Type *type,
                      llvm::ArrayRef<llvm::Value *> args) const override {
    llvm::Value *v = amd_->mathOp(b, op, type, args);
    for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(b.GetInsertBlock()->getParent()))) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      void *f = !call                                                          ? nullptr
                : call->getIntrinsicID() == llvm::Intrinsic::amdgcn_rcp        ? (void *)reciprocal
                : call->getIntrinsicID() == llvm::Intrinsic::amdgcn_frexp_mant ? (void *)mantissa
                : call->getIntrinsicID() == llvm::Intrinsic::amdgcn_frexp_exp  ? (void *)exponent
                : call->getIntrinsicID() == llvm::Intrinsic::amdgcn_div_fixup  ? (void *)fixup
                                                                               : nullptr;
      if (!f) continue;
      llvm::IRBuilder<> at(call);
      llvm::SmallVector<llvm::Value *, 3> operands(call->args());
      llvm::SmallVector<llvm::Type *, 3> types;
      for (auto *o : operands) types.push_back(o->getType());
      auto *made = at.CreateCall(llvm::FunctionType::get(call->getType(), types, false),
                                 at.CreateIntToPtr(at.getInt64(uint64_t(f)), at.getPtrTy()), operands);
      if (v == call) v = made;
      call->replaceAllUsesWith(made);
      call->eraseFromParent();
    }
    return v;
  }

private:
  std::unique_ptr<codegen::Target> amd_;
};

constexpr int kCount = 4096;

std::vector<float> divided(const std::vector<float> &x, const std::vector<float> &y) {
  std::string text = testing::kernelOfTwo("f32", "arith.divf");
  std::vector<float> out(kCount);
  std::string errors;
  ArithmeticTarget target(codegen::findArch(amd::archTable(), "gfx942")->info);
  int64_t stored = testing::runOnHost(text, "k", {uint64_t(x.data()), uint64_t(y.data()), uint64_t(out.data())}, errors,
                                      target, 128, 1, [](int) {});
  EXPECT_EQ(stored, kCount) << errors;
  return out;
}

float bits(uint32_t v) {
  float f;
  std::memcpy(&f, &v, 4);
  return f;
}
/// Units in the last place between two numbers of one sign.
int64_t apart(float a, float b) {
  int32_t x, y;
  std::memcpy(&x, &a, 4), std::memcpy(&y, &b, 4);
  return std::abs(int64_t(x) - int64_t(y));
}

struct Inputs {
  std::vector<float> x, y;
  Inputs() {
    uint32_t seed = 1;
    auto random = [&] { return seed = seed * 1664525 + 1013904223; };
    const float special[] = {0.0f, -0.0f,     1.0f,       -1.0f,    INFINITY,        -INFINITY,
                             NAN,  0x1p-149f, -0x1p-126f, 0x1p127f, 0x1.fffffep127f, 3.0f};
    for (float a : special)
      for (float b : special) x.push_back(a), y.push_back(b);
    while (x.size() < kCount) {
      // Any numbers; close to a power of two, where rounding is hardest.
      uint32_t a = random(), b = random();
      if (x.size() % 4 == 1) a = 0x3f800000 | (a >> 24), b = 0x3f800000 | (b >> 9);
      if (x.size() % 4 == 2) a = 0x3f800000 | (a >> 9), b = 0x3fffffff - (b >> 24);
      x.push_back(bits(a)), y.push_back(bits(b));
    }
  }
};

TEST(AmdDivision, IsRoundedCorrectlyWithAnExactReciprocal) {
  Inputs in;
  reciprocalError = 0;
  std::vector<float> q = divided(in.x, in.y);
  for (int i = 0; i < kCount; ++i) {
    float want = in.x[i] / in.y[i];
    SCOPED_TRACE(std::to_string(in.x[i]) + " / " + std::to_string(in.y[i]));
    if (std::isnan(want))
      EXPECT_TRUE(std::isnan(q[i]));
    else if (std::fabs(want) < 0x1p-126f && in.x[i] != 0 && std::isfinite(in.y[i]))
      EXPECT_LE(apart(q[i], want), 1) << q[i] << " for " << want; // rounded twice
    else
      EXPECT_EQ(std::memcmp(&q[i], &want, 4), 0) << q[i] << " for " << want;
  }
}

TEST(AmdDivision, IsOffByAUnitAtMostWithTheHardwares) {
  Inputs in;
  for (int error : {-1, 1}) {
    reciprocalError = error;
    std::vector<float> q = divided(in.x, in.y);
    for (int i = 0; i < kCount; ++i) {
      float want = in.x[i] / in.y[i];
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(q[i]));
      else
        EXPECT_LE(apart(q[i], want), 1) << in.x[i] << " / " << in.y[i] << ": " << q[i] << " for " << want;
    }
  }
}

} // namespace
} // namespace tessera
