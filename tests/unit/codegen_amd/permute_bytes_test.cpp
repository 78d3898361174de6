// Random chains of shuffles of bytes: each byte that is stored is the same before and after they become v_perm_b32.
#include "codegen_amd/passes/permute_bytes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {
using namespace llvm;

constexpr int kAnything = -1;
using Contents = std::vector<int>; // of bytes

/// The bytes of a value, those of argument i being 16 * i and following.
Contents contentsOf(Value *v) {
  size_t size = v->getType()->getPrimitiveSizeInBits() / 8;
  if (auto *argument = dyn_cast<Argument>(v)) {
    Contents out;
    for (size_t i = 0; i < size; ++i) out.push_back(int(16 * argument->getArgNo() + i));
    return out;
  }
  if (isa<Constant>(v)) return Contents(size, kAnything); // poison, or undef elements: nothing else is made here
  if (auto *cast = dyn_cast<BitCastInst>(v)) return contentsOf(cast->getOperand(0));
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(v)) {
    Contents all = contentsOf(shuffle->getOperand(0)), second = contentsOf(shuffle->getOperand(1)), out;
    all.insert(all.end(), second.begin(), second.end());
    for (int from : shuffle->getShuffleMask()) out.push_back(from < 0 ? kAnything : all[size_t(from)]);
    return out;
  }
  if (auto *insert = dyn_cast<InsertElementInst>(v)) {
    Contents out = contentsOf(insert->getOperand(0)), part = contentsOf(insert->getOperand(1));
    size_t at = cast<ConstantInt>(insert->getOperand(2))->getZExtValue() * part.size();
    std::copy(part.begin(), part.end(), out.begin() + int64_t(at));
    return out;
  }
  if (auto *extract = dyn_cast<ExtractElementInst>(v)) {
    Contents all = contentsOf(extract->getVectorOperand());
    size_t at = cast<ConstantInt>(extract->getIndexOperand())->getZExtValue() * size;
    return {all.begin() + int64_t(at), all.begin() + int64_t(at + size)};
  }
  auto *call = cast<IntrinsicInst>(v);
  EXPECT_EQ(call->getIntrinsicID(), Intrinsic::amdgcn_perm);
  Contents all = contentsOf(call->getArgOperand(1)), high = contentsOf(call->getArgOperand(0)), out;
  all.insert(all.end(), high.begin(), high.end());
  uint64_t select = cast<ConstantInt>(call->getArgOperand(2))->getZExtValue();
  for (unsigned i = 0; i < 4; ++i) out.push_back(all[select >> (8 * i) & 7]);
  return out;
}

TEST(PermuteBytes, StoredBytesStayTheSame) {
  std::mt19937 random(7);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  int permuted = 0;
  for (int test = 0; test < 500; ++test) {
    LLVMContext context;
    Module module("m", context);
    Type *byte = Type::getInt8Ty(context), *pointer = PointerType::get(context, 3);
    auto vectorOf = [&](unsigned n) { return FixedVectorType::get(byte, n); };
    std::vector<Type *> types = {pointer};
    for (int i = 0; i < 5; ++i) types.push_back(vectorOf(below(2) ? 4 : 8));
    auto *f = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false), Function::ExternalLinkage,
                               "f", module);
    IRBuilder<> b(BasicBlock::Create(context, "entry", f));
    std::vector<Value *> values;
    for (unsigned i = 1; i < types.size(); ++i) values.push_back(f->getArg(i));
    auto anyOfSize = [&](unsigned n) {
      std::vector<Value *> fitting;
      for (Value *v : values)
        if (cast<FixedVectorType>(v->getType())->getNumElements() == n) fitting.push_back(v);
      return fitting.empty() ? PoisonValue::get(vectorOf(n)) : fitting[below(unsigned(fitting.size()))];
    };
    std::vector<StoreInst *> stores;
    std::vector<Contents> before;
    auto store = [&](Value *v) {
      stores.push_back(b.CreateStore(v, f->getArg(0)));
      before.push_back(contentsOf(v));
    };
    for (int i = 0; i < 12; ++i) {
      unsigned size = below(2) ? 4 : 8, result = 4U << below(3);
      Value *v = nullptr;
      switch (below(5)) {
      case 0: { // rows that are transposed
        Value *rows[] = {anyOfSize(4), anyOfSize(4), anyOfSize(4), anyOfSize(4)};
        for (int at = int(below(4)), last = at + int(below(4)); at <= last; ++at) {
          v = b.CreateShuffleVector(rows[0], rows[1], ArrayRef<int>{at % 4, 4 + at % 4, -1, -1});
          v = b.CreateShuffleVector(v, rows[2], ArrayRef<int>{0, 1, 4 + at % 4, -1});
          store(v = b.CreateShuffleVector(v, rows[3], ArrayRef<int>{0, 1, 2, 4 + at % 4}));
        }
        break;
      }
      case 1:
        v = b.CreateExtractElement(anyOfSize(size), uint64_t(below(size)));
        v = b.CreateInsertElement(anyOfSize(4), v, uint64_t(below(4)));
        break;
      default:
        SmallVector<int, 16> mask;
        for (unsigned j = 0; j < result; ++j) mask.push_back(int(below(2 * size + 1)) - 1);
        v = b.CreateShuffleVector(anyOfSize(size), anyOfSize(size), mask);
      }
      values.push_back(v);
      if (below(2)) store(v);
    }
    b.CreateRetVoid();
    FunctionAnalysisManager analyses;
    amd::PermuteBytesPass().run(*f, analyses);
    for (auto [store, contents] : zip(stores, before)) {
      Contents after = contentsOf(store->getValueOperand());
      ASSERT_EQ(after.size(), contents.size());
      for (size_t i = 0; i < after.size(); ++i)
        if (contents[i] != kAnything) ASSERT_EQ(after[i], contents[i]) << "test " << test << ", byte " << i;
    }
    for (Instruction &i : instructions(*f)) permuted += isa<IntrinsicInst>(i);
  }
  EXPECT_GT(permuted, 1000);
}

} // namespace
} // namespace tessera
