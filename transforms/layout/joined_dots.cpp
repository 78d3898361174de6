// Dots that join a chain (see joined_dots.h).
#include "transforms/layout/joined_dots.h"
#include "ir/tensor_queries.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <set>
#include <tuple>

namespace tessera::transforms {
using namespace ir;

namespace {

using Warps = llvm::SmallVector<int32_t, 4>;

class JoinedDots {
public:
  explicit JoinedDots(llvm::ArrayRef<PlacedDot> dots) : dots_(dots), fromResult_(dots.size()) {
    for (unsigned i = 0; i < dots.size(); ++i) followResult(i);
    for (unsigned i = 0; i < dots.size(); ++i) groups_.insert(i);
    for (unsigned i = 0; i < dots.size(); ++i)
      for (unsigned j = 0; j < i; ++j)
        if (dots_[i].dot->block() == dots_[j].dot->block()) join(i, j);
  }

  llvm::SmallVector<unsigned, 4> run() {
    llvm::SmallVector<unsigned, 4> joining;
    for (auto &leader : groups_) {
      if (!leader->isLeader()) continue;
      llvm::SmallVector<unsigned, 8> group(groups_.member_begin(*leader), groups_.member_end());
      if (llvm::none_of(group, [&](unsigned i) { return dots_[i].along == kOperandA; })) continue;
      auto others = llvm::to_vector(llvm::make_filter_range(
          group, [&](unsigned i) { return dots_[i].along != kOperandA && dots_[i].warps != dots_[i].warpsOfChain; }));
      bool isLess = wordsThroughShared(group, /*inChain=*/true) < wordsThroughShared(group, /*inChain=*/false);
      if (!others.empty() && isLess) joining.append(others.begin(), others.end());
    }
    llvm::sort(joining);
    return joining;
  }

private:
  /// What is computed from the dot's result elementwise, the result included.
  void followResult(unsigned index) {
    auto &values = fromResult_[index];
    values.insert(dots_[index].dot.d());
    for (unsigned i = 0; i < values.size(); ++i) {
      Value v = values[i];
      for (Operation *user : v.users()) {
        if (!kInPlace.mayLieBetween(user)) continue;
        Value result = user->result();
        if (result.type().isTensor() && tensorOf(result).shape() == tensorOf(v).shape()) values.insert(result);
      }
    }
  }

  bool resultsMeet(unsigned i, unsigned j) const {
    auto isAccumulatorOf = [&](unsigned from, unsigned to) { return fromResult_[from].contains(dots_[to].dot.c()); };
    bool haveCommonUse = llvm::any_of(fromResult_[i], [&](Value v) { return fromResult_[j].contains(v); });
    return haveCommonUse || isAccumulatorOf(i, j) || isAccumulatorOf(j, i);
  }
  void join(unsigned i, unsigned j) {
    bool byResults = resultsMeet(i, j);
    if (byResults) meetings_.push_back({i, j});
    auto x = dots_[i].dot, y = dots_[j].dot;
    bool byOperands =
        beforeConversions(x.a()) == beforeConversions(y.a()) || beforeConversions(x.b()) == beforeConversions(y.b());
    if (byResults || byOperands) groups_.unionSets(i, j);
  }

  const Warps &warpsOf(unsigned index, bool inChain) const {
    return inChain ? dots_[index].warpsOfChain : dots_[index].warps;
  }

  /// 32-bit words that the group's dots read from shared memory, and of results that are converted through it.
  int64_t wordsThroughShared(llvm::ArrayRef<unsigned> group, bool inChain) const {
    std::set<std::tuple<ValueImpl *, unsigned, Warps>> seen; // operands by value, place and layout
    int64_t words = 0;
    auto read = [&](unsigned index, unsigned place, Value operand) {
      const Warps &warps = warpsOf(index, inChain);
      if (place == 0 && isInRegisters(operand, warps, inChain)) return;
      Value source = beforeConversions(operand);
      if (!seen.insert({source.impl(), place, warps}).second) return;
      int32_t readers = warps[1 - place]; // each row of warps reads all of B, each column all of A
      words += wordsOf(operand) * readers;
    };
    for (unsigned i : group) {
      read(i, 0, dots_[i].dot.a());
      read(i, 1, dots_[i].dot.b());
    }
    // Of results that meet all those in other layouts than the first one are converted, each once: written and read.
    std::set<unsigned> converted;
    for (auto [i, j] : meetings_)
      if (llvm::is_contained(group, i) && warpsOf(i, inChain) != warpsOf(j, inChain) &&
          converted.insert(isChained(i) ? j : i).second)
        words += 2 * wordsOf(dots_[i].dot.d());
    return words;
  }
  bool isChained(unsigned index) const { return dots_[index].along == kOperandA; }

  /// Whether an A operand is computed from results of dots whose threads have its rows.
  bool isInRegisters(Value operand, const Warps &warps, bool inChain) const {
    bool isResult = false;
    for (unsigned i = 0; i < dots_.size(); ++i) {
      if (!fromResult_[i].contains(operand)) continue;
      if (warps[1] != 1 || warpsOf(i, inChain) != warps) return false;
      isResult = true;
    }
    return isResult;
  }
  static int64_t wordsOf(Value v) {
    auto type = tensorOf(v);
    return type.numElements() * type.element().bitWidth() / kWordBits;
  }

  llvm::ArrayRef<PlacedDot> dots_;
  std::vector<llvm::SetVector<Value>> fromResult_;            // of each dot
  llvm::SmallVector<std::pair<unsigned, unsigned>> meetings_; // dots that are joined by results
  llvm::EquivalenceClasses<unsigned> groups_;
};

} // namespace

llvm::SmallVector<unsigned, 4> dotsJoiningChains(llvm::ArrayRef<PlacedDot> dots) { return JoinedDots(dots).run(); }

} // namespace tessera::transforms
