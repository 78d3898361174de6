// What both targets build on their own primitives. Shuffles of any value through the 32-bit ones of the Target:
// narrow values travel in the low bits of a word, wide ones word by word.
#include "codegen/lowering/target.h"
#include "codegen/address_spaces.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace tessera::codegen {

llvm::Value *ofGrid(llvm::Instruction *i, unsigned least) {
  llvm::ConstantRange range(llvm::APInt(32, least), llvm::APInt::getSignedMinValue(32));
  if (auto *call = llvm::dyn_cast<llvm::CallInst>(i))
    call->addRangeRetAttr(range);
  else
    i->setMetadata(llvm::LLVMContext::MD_range,
                   llvm::MDBuilder(i->getContext()).createRange(range.getLower(), range.getUpper()));
  return i;
}

llvm::GlobalVariable *dynamicSharedMemory(llvm::Module &m, llvm::Align alignment) {
  constexpr llvm::StringLiteral kName = "global_smem"; // as Triton names it
  if (llvm::GlobalVariable *known = m.getNamedGlobal(kName)) return known;
  auto *bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(m.getContext()), 0);
  auto *g = new llvm::GlobalVariable(m, bytes, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage, nullptr, kName,
                                     nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  g->setAlignment(alignment);
  return g;
}

llvm::AtomicRMWInst::BinOp rmwOperation(ir::RmwOp op, llvm::Type *type) {
  using Rmw = llvm::AtomicRMWInst;
  bool fp = type->isFPOrFPVectorTy();
  switch (op) {
  case ir::RmwOp::And: return Rmw::And;
  case ir::RmwOp::Or: return Rmw::Or;
  case ir::RmwOp::Xor: return Rmw::Xor;
  case ir::RmwOp::Add: return fp ? Rmw::FAdd : Rmw::Add;
  case ir::RmwOp::Fadd: return Rmw::FAdd;
  case ir::RmwOp::Max: return fp ? Rmw::FMax : Rmw::Max;
  case ir::RmwOp::Min: return fp ? Rmw::FMin : Rmw::Min;
  case ir::RmwOp::Umax: return Rmw::UMax;
  case ir::RmwOp::Umin: return Rmw::UMin;
  case ir::RmwOp::Exch: return Rmw::Xchg;
  }
  llvm_unreachable("atomic operation");
}

llvm::AtomicOrdering orderingOf(ir::MemSemantic s) {
  switch (s) {
  case ir::MemSemantic::Relaxed: return llvm::AtomicOrdering::Monotonic;
  case ir::MemSemantic::Acquire: return llvm::AtomicOrdering::Acquire;
  case ir::MemSemantic::Release: return llvm::AtomicOrdering::Release;
  case ir::MemSemantic::AcqRel: return llvm::AtomicOrdering::AcquireRelease;
  }
  llvm_unreachable("memory semantics");
}

/// Cuts the value into i32 words, moves each, and puts them together again.
template <class Move> static llvm::Value *byWords(llvm::IRBuilder<> &b, llvm::Value *v, Move &&move) {
  llvm::Type *type = v->getType();
  if (type->isPointerTy()) {
    llvm::Type *asInt = b.getIntNTy(type->getPointerAddressSpace() == kSharedSpace ? 32 : 64);
    return b.CreateIntToPtr(byWords(b, b.CreatePtrToInt(v, asInt), move), type);
  }
  unsigned bits = type->getPrimitiveSizeInBits();
  llvm::Value *whole = type->isIntegerTy() ? v : b.CreateBitCast(v, b.getIntNTy(bits));
  llvm::Value *result;
  if (bits <= 32) {
    result = b.CreateTrunc(move(b.CreateZExt(whole, b.getInt32Ty())), b.getIntNTy(bits));
  } else {
    unsigned words = (bits + 31) / 32;
    auto *vector = llvm::FixedVectorType::get(b.getInt32Ty(), words);
    llvm::Value *parts = b.CreateBitCast(b.CreateZExt(whole, b.getIntNTy(32 * words)), vector);
    llvm::Value *moved = llvm::PoisonValue::get(vector);
    for (unsigned i = 0; i < words; ++i)
      moved = b.CreateInsertElement(moved, move(b.CreateExtractElement(parts, i)), i);
    result = b.CreateTrunc(b.CreateBitCast(moved, b.getIntNTy(32 * words)), b.getIntNTy(bits));
  }
  return b.CreateBitCast(result, type);
}

llvm::Value *shuffleXor(llvm::IRBuilder<> &b, const Target &t, llvm::Value *v, unsigned mask, unsigned uniform) {
  return byWords(b, v, [&](llvm::Value *word) { return t.shuffleXor32(b, word, mask, uniform); });
}
std::pair<llvm::Value *, llvm::Value *> halves(llvm::IRBuilder<> &b, const Target &t, llvm::Value *v, unsigned mask) {
  llvm::SmallVector<std::pair<llvm::Value *, llvm::Value *>, 4> words;
  llvm::Value *lower =
      byWords(b, v, [&](llvm::Value *word) { return words.emplace_back(t.halves32(b, word, word, mask)).first; });
  auto *next = words.begin();
  return {lower, byWords(b, v, [&](llvm::Value *) { return (next++)->second; })};
}
llvm::Value *shuffleIndex(llvm::IRBuilder<> &b, const Target &t, llvm::Value *v, llvm::Value *lane) {
  return byWords(b, v, [&](llvm::Value *word) { return t.shuffleIndex32(b, word, lane); });
}
llvm::Value *shuffleFixed(llvm::IRBuilder<> &b, const Target &t, llvm::Value *v, llvm::ArrayRef<int8_t> sources,
                          llvm::Value *lane) {
  return byWords(b, v, [&](llvm::Value *word) {
    llvm::Value *moved = t.shuffleFixed32(b, word, sources);
    return moved ? moved : t.shuffleIndex32(b, word, lane);
  });
}

} // namespace tessera::codegen
