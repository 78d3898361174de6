// Carries bytes from block to block as words of four.
//
//   loop:                                                 loop:
//     %a = phi i8 [%a0, %before], [%a1, %loop]              %word = phi i32 [%v0', %before], [%v1', %loop]
//     %b = phi i8 [%b0, %before], [%b1, %loop]              %bytes = bitcast i32 %word to <4 x i8>
//     … %c, %d                                        →     %a = extractelement <4 x i8> %bytes, 0   …
//     %v1 = load <8 x i8>                                   %v1 = load <8 x i8>
//     %a1 = extractelement <8 x i8> %v1, 4   …              %v1' = extractelement <2 x i32> (bitcast %v1), 1
//
// What a pipelined loop loads for its next iteration it carries element by element. Bytes each take a register then,
// and three instructions put four of them into a word again, which conversions take. Vectors of bytes are the same to
// LLVM's code generation, which takes them apart.
//
// Limits: bytes whose values come, on every way into the block, from one word of a vector, or are constants.
#include "codegen_amd/passes/carry_words.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include <array>
#include <optional>

namespace tessera::amd {
using namespace llvm;
namespace {

constexpr unsigned kBytes = 4; // of a word

using Word = std::array<PHINode *, kBytes>;

/// A byte of a vector.
struct Byte {
  Value *vector;
  unsigned index;
};

/// The byte that a value is, of a vector of whole words.
std::optional<Byte> byteOf(Value *v) {
  auto *extract = dyn_cast<ExtractElementInst>(v);
  auto *index = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
  auto *type = extract ? dyn_cast<FixedVectorType>(extract->getVectorOperandType()) : nullptr;
  if (!index || type->getNumElements() % kBytes || index->getZExtValue() >= type->getNumElements()) return std::nullopt;
  return Byte{extract->getVectorOperand(), unsigned(index->getZExtValue())};
}

bool isByte(const Type *t) { return t->isIntegerTy(8); }

class Carrier {
public:
  bool run(Function &f) {
    bool changed = false;
    // In this order the bytes of a loop are words where the phis behind it take them.
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&f)) {
      for (Word &word : wordsOf(*block)) replaceBytes(word), changed = true;
      changed |= replaceVectors(*block);
    }
    return changed;
  }

private:
  /// Phis of a block that are a word on every way into it.
  static SmallVector<Word, 8> wordsOf(BasicBlock &block) {
    DenseMap<std::pair<Value *, unsigned>, PHINode *> phis; // by a byte that they take
    for (PHINode &phi : block.phis())
      for (Value *v : phi.incoming_values())
        if (auto byte = byteOf(v); byte && isByte(phi.getType())) phis.try_emplace({byte->vector, byte->index}, &phi);
    SmallVector<Word, 8> words;
    for (PHINode &phi : block.phis()) {
      if (!isByte(phi.getType())) continue;
      auto *from = find_if(phi.incoming_values(), [](Value *v) { return byteOf(v).has_value(); });
      if (from == phi.incoming_values().end()) continue;
      Byte first = *byteOf(*from);
      if (first.index % kBytes) continue;
      Word word;
      for (unsigned i = 0; i < kBytes; ++i) word[i] = phis.lookup({first.vector, first.index + i});
      if (word[0] == &phi && isWord(word)) words.push_back(word);
    }
    return words;
  }

  static bool isWord(const Word &word) {
    if (is_contained(word, nullptr)) return false;
    for (unsigned way = 0; way < word[0]->getNumIncomingValues(); ++way) {
      BasicBlock *from = word[0]->getIncomingBlock(way);
      auto first = byteOf(word[0]->getIncomingValue(way));
      for (unsigned i = 0; i < kBytes; ++i) {
        Value *v = word[i]->getIncomingValueForBlock(from);
        auto byte = byteOf(v);
        bool isNext = first && byte && byte->vector == first->vector && byte->index == first->index + i;
        bool isConstant = !first && isa<ConstantInt>(v);
        if (!isNext && !isConstant) return false;
      }
      if (first && first->index % kBytes) return false;
    }
    return true;
  }

  /// The type of as many words as a vector of bytes has.
  static Type *wordsOf(Type *bytes) {
    unsigned words = cast<FixedVectorType>(bytes)->getNumElements() / kBytes;
    Type *word = Type::getInt32Ty(bytes->getContext());
    return words == 1 ? word : FixedVectorType::get(word, words);
  }

  /// Whether all bytes come from memory. Of others one may be poison, which would make its whole word poison.
  static bool isLoaded(Value *bytes) {
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(bytes))
      return !is_contained(shuffle->getShuffleMask(), PoisonMaskElem) && isLoaded(shuffle->getOperand(0)) &&
             (isa<PoisonValue>(shuffle->getOperand(1)) || isLoaded(shuffle->getOperand(1)));
    if (auto *cast = dyn_cast<BitCastInst>(bytes)) return isLoaded(cast->getOperand(0));
    return isa<LoadInst>(bytes) || isa<CallInst>(bytes);
  }

  /// A vector of bytes as words, where it is defined, so that it is live as words alone.
  static Value *asWords(Value *bytes, BasicBlock *user) {
    Type *words = wordsOf(bytes->getType());
    if (auto *cast = dyn_cast<BitCastInst>(bytes); cast && cast->getSrcTy() == words) return cast->getOperand(0);
    bool loaded = isLoaded(bytes);
    IRBuilder<> b(user->getTerminator());
    if (auto *i = dyn_cast<Instruction>(bytes)) {
      auto isMade = [&](User *u) { // for another way or another block
        return isa<BitCastInst>(u) && u->getType() == words && cast<Instruction>(u)->getParent() == i->getParent();
      };
      if (auto made = find_if(i->users(), isMade); loaded && made != i->user_end()) return *made;
      if (auto after = i->getInsertionPointAfterDef()) b.SetInsertPoint(i->getParent(), *after);
    }
    return b.CreateBitCast(loaded ? bytes : b.CreateFreeze(bytes), words);
  }

  /// The word that comes from a block.
  static Value *incomingWord(const Word &word, BasicBlock *from) {
    if (auto first = byteOf(word[0]->getIncomingValueForBlock(from))) {
      Value *all = asWords(first->vector, from);
      IRBuilder<> b(from->getTerminator());
      return all->getType()->isVectorTy() ? b.CreateExtractElement(all, first->index / kBytes) : all;
    }
    uint32_t bits = 0;
    for (unsigned i = 0; i < kBytes; ++i)
      bits |= uint32_t(cast<ConstantInt>(word[i]->getIncomingValueForBlock(from))->getZExtValue()) << 8 * i;
    return ConstantInt::get(Type::getInt32Ty(from->getContext()), bits);
  }

  /// A phi of a type in place of another, whose values `valueFrom` makes for each block.
  static PHINode *replacement(PHINode &old, Type *type, function_ref<Value *(BasicBlock *)> valueFrom) {
    PHINode *phi = PHINode::Create(type, old.getNumIncomingValues(), "", old.getIterator());
    for (BasicBlock *from : old.blocks()) {
      int known = phi->getBasicBlockIndex(from); // a block may lead here in several ways
      phi->addIncoming(known >= 0 ? phi->getIncomingValue(known) : valueFrom(from), from);
    }
    return phi;
  }

  static void replaceBytes(const Word &word) {
    BasicBlock &block = *word[0]->getParent();
    PHINode *phi = replacement(*word[0], Type::getInt32Ty(block.getContext()),
                               [&](BasicBlock *from) { return incomingWord(word, from); });
    IRBuilder<> b(&block, block.getFirstInsertionPt());
    Value *bytes = b.CreateBitCast(phi, FixedVectorType::get(b.getInt8Ty(), kBytes));
    for (unsigned i = 0; i < kBytes; ++i) word[i]->replaceAllUsesWith(b.CreateExtractElement(bytes, uint64_t(i)));
    for (PHINode *byte : word) byte->eraseFromParent();
    joinAgain(bytes, phi);
  }

  /// Vectors that are put together from the bytes in their order are the vector, and its bits are the word.
  static void joinAgain(Value *bytes, Value *word) {
    SmallVector<InsertElementInst *, 4> last;
    for (User *extract : bytes->users())
      for (User *user : extract->users())
        if (auto *insert = dyn_cast<InsertElementInst>(user); insert && isInOrder(insert, bytes))
          last.push_back(insert);
    for (InsertElementInst *insert : last) insert->replaceAllUsesWith(bytes);
    useBits(bytes, word);
  }

  static void useBits(Value *bytes, Value *words) {
    for (User *user : bytes->users())
      if (isa<BitCastInst>(user) && user->getType() == words->getType()) user->replaceAllUsesWith(words);
  }

  static bool isInOrder(Value *v, Value *bytes) {
    if (v->getType() != bytes->getType()) return false;
    for (unsigned i = kBytes; i-- > 0;) {
      auto *insert = dyn_cast<InsertElementInst>(v);
      auto *at = insert ? dyn_cast<ConstantInt>(insert->getOperand(2)) : nullptr;
      auto byte = insert ? byteOf(insert->getOperand(1)) : std::nullopt;
      if (!at || at->getZExtValue() != i || !byte || byte->vector != bytes || byte->index != i) return false;
      v = insert->getOperand(0);
    }
    return true;
  }

  /// Phis of vectors of bytes.
  static bool replaceVectors(BasicBlock &block) {
    SmallVector<PHINode *, 8> phis;
    for (PHINode &phi : block.phis())
      if (auto *type = dyn_cast<FixedVectorType>(phi.getType());
          type && isByte(type->getElementType()) && type->getNumElements() % kBytes == 0)
        phis.push_back(&phi);
    for (PHINode *phi : phis) {
      PHINode *words = replacement(*phi, wordsOf(phi->getType()), [&](BasicBlock *from) {
        return asWords(phi->getIncomingValueForBlock(from), from);
      });
      IRBuilder<> b(&block, block.getFirstInsertionPt());
      Value *bytes = b.CreateBitCast(words, phi->getType());
      phi->replaceAllUsesWith(bytes);
      phi->eraseFromParent();
      useBits(bytes, words);
    }
    return !phis.empty();
  }
};

} // namespace

PreservedAnalyses CarryWordsPass::run(Function &f, FunctionAnalysisManager &) {
  return codegen::preservedIn(Carrier().run(f));
}

} // namespace tessera::amd
