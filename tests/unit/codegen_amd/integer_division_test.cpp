// Division of 32-bit integers as AMD's code does it, run on the host. The reciprocal that hardware estimates is off by
// a unit in the last place, in either direction or not at all; quotients and remainders must be exact all the same, of
// all divisors: by zero the quotient is all ones and the remainder x, and the smallest integer by -1 is itself.
#include "codegen/lowering/targets.h"
#include "codegen_amd/arch_table.h"
#include "codegen_amd/lowering_target.h"
#include "codegen_amd/passes/expand_divisions.h"
#include "host_execution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/ValueHandle.h"
#include <cmath>
#include <gtest/gtest.h>

namespace tessera {
namespace {

int reciprocalError; // units in the last place

float reciprocal(float d) {
  float r = 1 / d;
  int exponent;
  bool isExact = std::frexp(d, &exponent) == 0.5f;
  return reciprocalError && d != 0 && !isExact ? std::nextafterf(r, reciprocalError > 0 ? INFINITY : 0) : r;
}

/// AMD's divisions on the host.
class DivisionTarget : public testing::HostTarget {
public:
  explicit DivisionTarget(const ir::TargetInfo &info) : amd_(amd::makeTarget(info)) {}
  llvm::Value *divideIntegers(llvm::IRBuilder<> &b, llvm::Instruction::BinaryOps op, llvm::Value *x,
                              llvm::Value *y) const override {
    llvm::WeakTrackingVH v = amd_->divideIntegers(b, op, x, y);
    llvm::Function &f = *b.GetInsertBlock()->getParent();
    llvm::FunctionAnalysisManager analyses;
    amd::ExpandDivisionsPass().run(f, analyses);
    for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(f))) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::amdgcn_rcp) continue;
      llvm::IRBuilder<> at(call);
      llvm::Type *f32 = at.getFloatTy();
      auto *function = at.CreateIntToPtr(at.getInt64(uint64_t((void *)reciprocal)), at.getPtrTy());
      call->replaceAllUsesWith(
          at.CreateCall(llvm::FunctionType::get(f32, {f32}, false), function, {call->getArgOperand(0)}));
      call->eraseFromParent();
    }
    return v;
  }

private:
  std::unique_ptr<codegen::Target> amd_;
};

constexpr int kCount = 4096;

std::vector<uint32_t> divided(const std::string &op, const std::vector<uint32_t> &x, const std::vector<uint32_t> &y) {
  std::string text = testing::kernelOfTwo("i32", "arith." + op);
  std::vector<uint32_t> out(kCount);
  std::string errors;
  DivisionTarget target(codegen::findArch(amd::archTable(), "gfx942")->info);
  int64_t stored = testing::runOnHost(text, "k", {uint64_t(x.data()), uint64_t(y.data()), uint64_t(out.data())}, errors,
                                      target, 128, 1, [](int) {});
  EXPECT_EQ(stored, kCount) << errors;
  return out;
}

uint32_t expected(const std::string &op, uint32_t x, uint32_t y) {
  bool isRemainder = op.starts_with("rem"), isSigned = op.ends_with("si");
  if (y == 0) return isRemainder ? x : ~0u;
  if (!isSigned) return isRemainder ? x % y : x / y;
  int64_t a = int32_t(x), b = int32_t(y);
  return uint32_t(isRemainder ? a % b : a / b);
}

struct Inputs {
  std::vector<uint32_t> x, y;
  Inputs() {
    uint32_t seed = 1;
    auto random = [&] { return seed = seed * 1664525 + 1013904223; };
    const uint32_t special[] = {0, 1, 2, 3, 7, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffd, 0xffffffff, 0x1000001};
    for (uint32_t a : special)
      for (uint32_t b : special) x.push_back(a), y.push_back(b);
    while (x.size() < kCount) {
      // Any numbers of all lengths; every other dividend next to a multiple, where an estimate is off.
      uint32_t b = random() >> (random() >> 27), a = random();
      if (x.size() % 2 && b) a = a / b * b + (random() >> 30) - 1;
      x.push_back(a), y.push_back(b);
    }
  }
};

TEST(AmdIntegerDivision, IsExact) {
  Inputs in;
  for (std::string op : {"divsi", "divui", "remsi", "remui"})
    for (int error : {-1, 0, 1}) {
      reciprocalError = error;
      std::vector<uint32_t> out = divided(op, in.x, in.y);
      for (int i = 0; i < kCount; ++i)
        EXPECT_EQ(out[i], expected(op, in.x[i], in.y[i])) << op << " " << in.x[i] << " " << in.y[i] << ", " << error;
    }
}

} // namespace
} // namespace tessera
