// The order between blocks: what a block released by an atomic access, one that acquires from the same word knows of.
//
//   block 0: store %x; atomic %lock, release        block 1: atomic %lock, acquire; load %x     ordered
//   block 0: store %x; atomic %lock, release        block 1: atomic %other, acquire; load %x    a race
//
// Stamps count all events of the launch. A block's release at a stamp covers what it did before, and what it had
// acquired. What a block knows is kept by word, not by block: blocks are many, and the words of locks and counters few.
// Limits, all of which take more for ordered: a word has 4 bytes, and an access to more than one word (a tensor's, or
// of 8 bytes) counts as a release to all words, or as an acquire from all. Whatever was released to a word stays known
// through it, also after others wrote it. Who knows of many words, as at the end of a long chain, knows of all.
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::emulator {

/// The releases that are known: to each word up to a stamp, and to any word up to another.
struct KnownReleases {
  static constexpr unsigned kMostWords = 32;
  llvm::DenseMap<uint64_t, uint64_t> toWord;
  uint64_t toAny = 0;

  void know(uint64_t word, uint64_t stamp) {
    if (stamp <= toAny) return;
    uint64_t &known = toWord[word];
    known = std::max(known, stamp);
    if (toWord.size() <= kMostWords) return;
    for (auto &entry : toWord) stamp = std::max(stamp, entry.second);
    knowAll(stamp);
  }
  void knowAll(uint64_t stamp) {
    toWord.clear();
    toAny = stamp;
  }
  void join(const KnownReleases &other) {
    toAny = std::max(toAny, other.toAny);
    for (auto &[word, stamp] : other.toWord) know(word, stamp);
  }
};

/// What a block, or a warp before its next fence, has acquired.
struct Acquired {
  KnownReleases known;
  llvm::DenseMap<uint64_t, uint64_t> seen; // by word: the last release to it whose knowledge was taken over

  void clear() { *this = Acquired(); }
};

/// The releases of a launch. Stamps of calls do not decrease.
class BlockOrder {
public:
  static constexpr uint64_t kAllWords = uint64_t(1) << 63; // no address / 4

  /// `known`: what the block has acquired.
  void release(uint32_t block, uint64_t word, const KnownReleases &known, uint64_t now) {
    OfBlock &of = blocks_[block];
    of.stamps.push_back(now);
    auto at = std::find_if(of.words.begin(), of.words.end(), [&](auto &w) { return w.first == word; });
    if (at == of.words.end()) at = of.words.insert(at, {word, {}});
    at->second.push_back(now);
    Word &to = words_[word];
    to.known.join(known);
    to.lastRelease = now;
  }
  void acquire(Acquired &by, uint64_t word, uint64_t now) const {
    if (word == kAllWords) return by.known.knowAll(now);
    takeOver(by, word, now);
    takeOver(by, kAllWords, now);
  }
  /// Whether a block that knows this knows of what another one did by `stamp`.
  bool isKnown(const KnownReleases &known, uint32_t block, uint64_t stamp) const {
    auto found = blocks_.find(block);
    if (found == blocks_.end()) return false;
    const OfBlock &of = found->second;
    if (hasWithin(of.stamps, stamp, known.toAny)) return true;
    auto isThrough = [&](size_t k) {
      auto to = known.toWord.find(of.words[k].first);
      return to != known.toWord.end() && hasWithin(of.words[k].second, stamp, to->second);
    };
    if (isThrough(of.lastThrough)) return true;
    for (size_t k = 0; k < of.words.size(); ++k)
      if (isThrough(k)) {
        of.lastThrough = k;
        return true;
      }
    return false;
  }

private:
  struct OfBlock {
    std::vector<uint64_t> stamps;                                           // of its releases
    llvm::SmallVector<std::pair<uint64_t, std::vector<uint64_t>>, 1> words; // the same by word
    mutable size_t lastThrough = 0; // the word that last answered a query, which most often answers the next
  };
  struct Word {
    KnownReleases known; // by those that released to it
    uint64_t lastRelease = 0;
  };

  /// Whether one of the stamps is after the first and not after the last.
  static bool hasWithin(const std::vector<uint64_t> &stamps, uint64_t first, uint64_t last) {
    auto at = std::upper_bound(stamps.begin(), stamps.end(), first);
    return at != stamps.end() && *at <= last;
  }
  void takeOver(Acquired &by, uint64_t word, uint64_t now) const {
    auto found = words_.find(word);
    if (found == words_.end()) return;
    by.known.know(word, now);
    uint64_t &seen = by.seen[word];
    if (seen == found->second.lastRelease) return;
    seen = found->second.lastRelease;
    by.known.join(found->second.known);
  }

  llvm::DenseMap<uint32_t, OfBlock> blocks_;
  llvm::DenseMap<uint64_t, Word> words_; // by address / 4
};

} // namespace tessera::emulator
