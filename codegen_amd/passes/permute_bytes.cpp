// Permutes bytes of vectors by v_perm_b32, which takes any four of the eight bytes of two words.
//
//   %x = shufflevector %a, %b, <0, 4>             %ab = perm(a0 b0 a1 b1)
//   %y = shufflevector %x, %c, <0, 1, 4>          %cd = perm(c0 d0 c1 d1)
//   %z = shufflevector %y, %d, <0, 1, 2, 4>  →    %z  = perm(low halves of %ab, %cd)
//   … the same with the second bytes: %w          %w  = perm(high halves of %ab, %cd)
//
// An operand of 8 bits whose rows are across K is transposed in registers before it is stored to LDS. LLVM takes the
// bytes apart and puts them together by shifts, masks and SDWA: about 7 instructions a word where 2 suffice.
//
// A word whose bytes come from one or two words takes one instruction, from three words two, from four words three. Two
// words with bytes of the same four words at the same places share two of them.
//
// Limits: vectors of whole words that are used whole (stored, cast, passed on), all of whose bytes are bytes of other
// vectors of whole words. Bytes that are computed one by one stay with LLVM.
//
// Runs: after the last InstCombine, which would not undo it, but makes the chains of shufflevector that are looked for.
#include "codegen_amd/passes/permute_bytes.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include <array>
#include <map>

namespace tessera::amd {
using namespace llvm;
namespace {

constexpr unsigned kWordBytes = 4;

/// A word of a vector.
struct Word {
  Value *vector = nullptr;
  unsigned index = 0;
  bool operator==(const Word &o) const { return vector == o.vector && index == o.index; }
  bool operator<(const Word &o) const { return std::tie(vector, index) < std::tie(o.vector, o.index); }
};

/// Where a byte comes from; no vector: it may be anything.
struct Byte {
  Word word;
  unsigned at = 0;
};

using Bytes = std::array<Byte, kWordBytes>;

/// The bytes of a vector of whole words; 0 for other types.
unsigned bytesOf(const Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  bool isBytes = vector && vector->getElementType()->isIntegerTy(8) && vector->getNumElements() % kWordBytes == 0;
  return isBytes ? vector->getNumElements() : 0;
}

/// Finds where element `at` of the vector comes from. False: from no vector of whole words.
bool trace(Value *vector, unsigned at, Byte &out) {
  while (true) {
    if (isa<UndefValue>(vector)) { // poison, too
      out = {};
      return true;
    }
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(vector)) {
      int from = shuffle->getMaskValue(at);
      unsigned size = cast<FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements();
      if (from < 0) {
        out = {};
        return true;
      }
      vector = shuffle->getOperand(unsigned(from) >= size);
      at = unsigned(from) % size;
      continue;
    }
    if (auto *insert = dyn_cast<InsertElementInst>(vector)) {
      auto *index = dyn_cast<ConstantInt>(insert->getOperand(2));
      if (!index) return false;
      if (index->getZExtValue() != at) {
        vector = insert->getOperand(0);
        continue;
      }
      auto *extract = dyn_cast<ExtractElementInst>(insert->getOperand(1));
      auto *from = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
      if (!from) return false;
      vector = extract->getVectorOperand();
      at = unsigned(from->getZExtValue());
      continue;
    }
    if (!bytesOf(vector->getType()) || isa<Constant>(vector)) return false;
    out = {{vector, at / kWordBytes}, at % kWordBytes};
    return true;
  }
}

/// Whether the vector is put together of others' bytes, and used as a whole.
bool isWhole(const Instruction &i) {
  if (!isa<ShuffleVectorInst, InsertElementInst>(i) || !bytesOf(i.getType())) return false;
  return any_of(i.users(),
                [](const User *u) { return !isa<ShuffleVectorInst, InsertElementInst, ExtractElementInst>(u); });
}

class Permuter {
public:
  explicit Permuter(Function &f) : f_(f) {}

  bool run() {
    SmallVector<Instruction *, 32> whole;
    for (Instruction &i : instructions(f_))
      if (isWhole(i)) whole.push_back(&i);
    bool changed = false;
    for (Instruction *i : whole) changed |= permute(*i);
    return changed;
  }

private:
  bool permute(Instruction &vector) {
    unsigned size = bytesOf(vector.getType());
    SmallVector<Bytes, 4> words(size / kWordBytes);
    bool isPermuted = false;
    for (unsigned i = 0; i < size; ++i) {
      Byte &byte = words[i / kWordBytes][i % kWordBytes];
      if (!trace(&vector, i, byte)) return false;
      isPermuted |= byte.word.vector && byte.at != i % kWordBytes;
    }
    for (const Bytes &bytes : words)
      for (const Byte &b : bytes) isPermuted |= b.word.vector && !(b.word == firstWord(bytes));
    if (!isPermuted) return false; // whole words, which take no instruction
    IRBuilder<> b(&vector);
    Value *result = PoisonValue::get(FixedVectorType::get(b.getInt32Ty(), unsigned(words.size())));
    for (auto [i, bytes] : enumerate(words)) result = b.CreateInsertElement(result, wordOf(b, bytes), uint64_t(i));
    vector.replaceAllUsesWith(b.CreateBitCast(result, vector.getType()));
    return true;
  }

  static Word firstWord(const Bytes &bytes) {
    auto it = find_if(bytes, [](const Byte &b) { return b.word.vector; });
    return it == bytes.end() ? Word() : it->word;
  }

  Value *read(IRBuilder<> &b, const Word &word) {
    unsigned words = bytesOf(word.vector->getType()) / kWordBytes;
    Value *all = b.CreateBitCast(word.vector, FixedVectorType::get(b.getInt32Ty(), words));
    return b.CreateExtractElement(all, uint64_t(word.index));
  }

  /// Bytes 0 to 3 of `low`, 4 to 7 of `high`.
  static Value *permuted(IRBuilder<> &b, Value *low, Value *high, const std::array<unsigned, kWordBytes> &selected) {
    uint32_t select = 0;
    for (unsigned i = 0; i < kWordBytes; ++i) select |= selected[i] << (8 * i);
    return b.CreateIntrinsic(Intrinsic::amdgcn_perm, {}, {high, low, b.getInt32(select)});
  }

  Value *wordOf(IRBuilder<> &b, const Bytes &bytes) {
    SmallVector<Word, kWordBytes> sources;
    for (const Byte &byte : bytes)
      if (byte.word.vector && !is_contained(sources, byte.word)) sources.push_back(byte.word);
    if (sources.empty()) return PoisonValue::get(b.getInt32Ty());
    if (sources.size() == kWordBytes) return wordOfFour(b, bytes);
    Value *low = read(b, sources[0]);
    auto select = [&](const Word &second) {
      std::array<unsigned, kWordBytes> selected = {};
      for (unsigned i = 0; i < kWordBytes; ++i)
        if (bytes[i].word.vector) selected[i] = bytes[i].at + (bytes[i].word == second ? kWordBytes : 0);
      return selected;
    };
    if (sources.size() == 1) {
      std::array<unsigned, kWordBytes> selected = select({});
      bool isSame =
          all_of(enumerate(bytes), [](auto e) { return !e.value().word.vector || e.value().at == e.index(); });
      return isSame ? low : permuted(b, low, low, selected);
    }
    Value *two = permuted(b, low, read(b, sources[1]), select(sources[1]));
    if (sources.size() == 2) return two;
    std::array<unsigned, kWordBytes> selected = {};
    for (unsigned i = 0; i < kWordBytes; ++i) selected[i] = bytes[i].word == sources[2] ? bytes[i].at + kWordBytes : i;
    return permuted(b, two, read(b, sources[2]), selected);
  }

  /// A word of four others: two of each are taken first, as for another word of the same four, if there is one.
  Value *wordOfFour(IRBuilder<> &b, const Bytes &bytes) {
    std::array<Word, kWordBytes> sources;
    for (unsigned i = 0; i < kWordBytes; ++i) sources[i] = bytes[i].word;
    auto key = std::pair(b.GetInsertBlock(), sources);
    if (auto it = halves_.find(key); it != halves_.end()) {
      for (Half &half : it->second)
        if (all_of(enumerate(half.at), [&](auto e) { return e.value() == bytes[e.index()].at; }))
          return permuted(b, half.low, half.high, {2, 3, 6, 7});
    }
    // The next word of the four is most often that of the bytes that follow.
    std::array<unsigned, kWordBytes> next;
    for (unsigned i = 0; i < kWordBytes; ++i) next[i] = (bytes[i].at + 1) % kWordBytes;
    auto pair = [&](unsigned i) {
      return permuted(b, read(b, sources[i]), read(b, sources[i + 1]),
                      {bytes[i].at, bytes[i + 1].at + kWordBytes, next[i], next[i + 1] + kWordBytes});
    };
    Value *low = pair(0), *high = pair(2);
    halves_[key].push_back({next, low, high});
    return permuted(b, low, high, {0, 1, 4, 5});
  }

  /// Bytes of two words each, of which the high halves are of a word that may still come.
  struct Half {
    std::array<unsigned, kWordBytes> at;
    Value *low, *high;
  };

  Function &f_;
  std::map<std::pair<BasicBlock *, std::array<Word, kWordBytes>>, SmallVector<Half, 2>> halves_;
};

} // namespace

PreservedAnalyses PermuteBytesPass::run(Function &f, FunctionAnalysisManager &) {
  return codegen::preservedIn(Permuter(f).run());
}

} // namespace tessera::amd
