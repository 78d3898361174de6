// Shuffles (see shuffle_plan.h).
//
// Let M be the map from destination (register r', lane l') to source (register r, lane l). If the source
// register does not depend on the destination lane, every destination register is one shuffle. Else the destination
// registers are written in an order that depends on the lane: by shuffle k lane l' fills register k ^ C·l'. C, the
// lane-to-register twist, is chosen such that the source register of a shuffle is a function of the *source* lane
// alone, so that the sender can choose it. Such a C exists unless copies get in the way, because over F₂ two subspaces
// of one dimension (the lanes' graph must avoid both the registers and what lane 0 holds) have a common complement.
//
// Example: a matrix of 4 by 4 is transposed. Source lane l holds row l in its registers, destination lane l' column l'.
// The element of row r' and column l' is in register l' of lane r': M(r', l') = (l', r'). A plain shuffle for register
// r' would make lane r' send all its readers one register, but each reader l' needs another, l'. With C = 1, shuffle k
// serves register k ^ l' of lane l', which comes from lane k ^ l', register l'. Its sender l = k ^ l' knows that
// register: it is k ^ l.
//
//   shuffle k    lane 0             lane 1             lane 2             lane 3
//   0            r0 = lane 0's r0   r1 = lane 1's r1   r2 = lane 2's r2   r3 = lane 3's r3       (nothing moves)
//   1            r1 = lane 1's r0   r0 = lane 0's r1   r3 = lane 3's r2   r2 = lane 2's r3
//   2            r2 = lane 2's r0   r3 = lane 3's r1   r0 = lane 0's r2   r1 = lane 1's r3
//   3            r3 = lane 3's r0   r2 = lane 2's r1   r1 = lane 1's r2   r0 = lane 0's r3
//
// Each lane sends one register in each shuffle: lane 1 its r0 in shuffle 1, its r3 in shuffle 2, its r2 in shuffle 3.
// In the plan: sendSelect, receiveSelect and laneOf are the lane's own number, and sourceRegister[k] and
// sourceLaneConstant[k] are k.
#include "layouts/shuffle_plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::layouts {

namespace {

/// A (register, lane) pair of the source as one vector: the register above the lane.
struct WarpMap {
  unsigned laneBits, sourceRegisterBits;
  llvm::SmallVector<uint64_t, 8> ofRegister; // image of each destination register bit
  llvm::SmallVector<uint64_t, 8> ofLane;     // image of each destination lane bit
  uint64_t laneMask() const { return (uint64_t(1) << laneBits) - 1; }
};

} // namespace

static WarpMap warpMap(const LinearLayout &map) {
  WarpMap w;
  w.laneBits = map.hasOutDim(Dim::Lane) ? llvm::Log2_32(map.outDimSize(Dim::Lane)) : 0;
  w.sourceRegisterBits = map.hasOutDim(Dim::Register) ? llvm::Log2_32(map.outDimSize(Dim::Register)) : 0;
  auto image = [&](Dim in, unsigned bit) {
    uint64_t reg = map.hasOutDim(Dim::Register) ? map.basis(in, bit, Dim::Register) : 0;
    uint64_t lane = map.hasOutDim(Dim::Lane) ? map.basis(in, bit, Dim::Lane) : 0;
    return reg << w.laneBits | lane;
  };
  for (unsigned b = 0; b < map.inDimBits(Dim::Register); ++b) w.ofRegister.push_back(image(Dim::Register, b));
  for (unsigned b = 0; b < map.inDimBits(Dim::Lane); ++b) w.ofLane.push_back(image(Dim::Lane, b));
  return w;
}

/// A thread has fewer; the search for a twist tries all sums of a lane's registers.
static constexpr unsigned kMostRegisters = 256;

namespace {

/// The twist C, and from it what each lane reads and sends, if source registers depend on the destination lane.
class TwistPlanner {
public:
  TwistPlanner(const WarpMap &w, ConversionPlan &p) : w_(w), p_(p) {}

  /// False: there is no twist.
  bool run() {
    for (unsigned bit : takeLanesWithoutTwist()) {
      auto c = fewestRegisters(bit, [&](uint64_t image) { return !reached_.contains(laneOf(image)); });
      if (!c) c = fewestRegisters(bit, [&](uint64_t image) { return isReadAlready(image); });
      if (!c) return false;
      take(bit, *c);
    }
    planSends();
    return true;
  }

private:
  uint64_t laneOf(uint64_t image) const { return image & w_.laneMask(); }
  uint64_t imageOf(unsigned bit, uint64_t c) const { return w_.ofLane[bit] ^ sumOf(w_.ofRegister, c); }

  void take(unsigned bit, uint64_t c) {
    uint64_t image = imageOf(bit, c);
    p_.receiveSelect[bit] = c;
    p_.laneOf[bit] = laneOf(image);
    images_.push_back(image);
    reached_.add(laneOf(image));
  }

  /// Lanes whose image is independent of what registers can reach come first; they need no select. Returns the others.
  llvm::SmallVector<unsigned, 6> takeLanesWithoutTwist() {
    F2Span byRegisters;
    for (auto v : w_.ofRegister) byRegisters.add(laneOf(v));
    llvm::SmallVector<unsigned, 6> rest;
    for (unsigned bit = 0; bit < w_.ofLane.size(); ++bit)
      if (byRegisters.add(laneOf(w_.ofLane[bit])))
        take(bit, 0);
      else
        rest.push_back(bit);
    return rest;
  }

  /// The column of fewest registers by which the lane bit's image is as wanted.
  std::optional<uint64_t> fewestRegisters(unsigned bit, llvm::function_ref<bool(uint64_t)> isWanted) const {
    std::optional<uint64_t> best;
    for (uint64_t c = 0; c < uint64_t(1) << w_.ofRegister.size(); ++c)
      if ((!best || llvm::popcount(c) < llvm::popcount(*best)) && isWanted(imageOf(bit, c))) best = c;
    return best;
  }

  /// Whether lanes that were taken before read the same source lane, and the same register of it.
  bool isReadAlready(uint64_t image) const {
    auto solution = reached_.solve(laneOf(image));
    return solution && sumOf(images_, *solution) == image;
  }

  /// What a source lane sends: the register part of the image that its number solves to; lanes that nobody reads send
  /// nothing.
  void planSends() {
    llvm::SmallVector<uint64_t, 16> sends;
    for (uint64_t image : images_) sends.push_back(image >> w_.laneBits);
    for (unsigned lane = 0; lane < w_.laneBits; ++lane) {
      reached_.add(uint64_t(1) << lane);
      sends.push_back(0);
    }
    for (unsigned lane = 0; lane < w_.laneBits; ++lane)
      p_.sendSelect[lane] = sumOf(sends, *reached_.solve(uint64_t(1) << lane));
  }

  const WarpMap &w_;
  ConversionPlan &p_;
  llvm::SmallVector<uint64_t, 6> images_; // of the lane bits that were taken, with their registers by C
  F2Span reached_;                        // source lanes, numbered as in images_
};

} // namespace

bool planShuffles(const LinearLayout &map, bool laneSelects, ConversionPlan &p) {
  WarpMap w = warpMap(map);
  unsigned numRegisters = 1u << w.ofRegister.size(), numLaneBits = w.ofLane.size();
  p.laneOf.assign(numLaneBits, 0);
  p.sendSelect.assign(w.laneBits, 0);
  p.receiveSelect.assign(numLaneBits, 0);

  bool registersByLane = llvm::any_of(w.ofLane, [&](uint64_t v) { return v >> w.laneBits; });
  if (registersByLane) {
    if (!laneSelects || numRegisters > kMostRegisters || !TwistPlanner(w, p).run()) return false;
  } else {
    for (unsigned bit = 0; bit < numLaneBits; ++bit) p.laneOf[bit] = w.ofLane[bit] & w.laneMask();
  }
  p.sourceRegister.clear();
  p.sourceLaneConstant.clear();
  for (unsigned k = 0; k < numRegisters; ++k) {
    uint64_t image = sumOf(w.ofRegister, k);
    unsigned lane = image & w.laneMask(), reg = image >> w.laneBits;
    for (unsigned b = 0; b < w.laneBits; ++b)
      if (lane >> b & 1) reg ^= p.sendSelect[b];
    p.sourceRegister.push_back(reg);
    p.sourceLaneConstant.push_back(lane);
  }
  return true;
}

double shuffleCost(const ConversionPlan &p, int sourceRegisters, int bytes, int lanes, const MemoryModel &m) {
  int words = std::max(1, bytes / 4);
  double wave = std::max(1.0, double(lanes) * 4 / (m.banks * m.bankBytes)), cost = 0;
  // Narrow elements move in words (codegen/lowering/convert_layout.cpp). Where two lanes hold the same, such as both
  // halves of a wave an operand of RDNA 3's WMMA, a word moves once, and each of the two chooses whose it takes.
  bool isTwice = bytes < 4 && llvm::count(p.laneOf, 0u) == 1 && sourceRegisters % (4 / bytes) == 0;
  if (isTwice) {
    llvm::SmallSet<unsigned, 32> moved;
    for (unsigned r : p.sourceRegister) moved.insert(r * bytes / 4);
    double chosen = double(p.sourceRegister.size()) * bytes / 4;
    cost += double(moved.size()) * (wave + m.instructionCost) + chosen * m.instructionCost;
  } else {
    for (unsigned k = 0; k < p.sourceRegister.size(); ++k)
      if (!p.staysInLane(k)) cost += words * (wave + m.instructionCost);
  }
  auto selects = [&](llvm::ArrayRef<unsigned> columns, int registers) {
    F2Span span;
    for (auto c : columns) span.add(c);
    cost += span.dimension() * double(registers) * words * m.instructionCost;
  };
  selects(p.sendSelect, sourceRegisters);
  selects(p.receiveSelect, p.sourceRegister.size());
  return cost;
}

} // namespace tessera::layouts
