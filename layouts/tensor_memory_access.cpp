// Accesses to tensor memory (see tensor_memory_access.h).
#include "layouts/tensor_memory_access.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace tessera::layouts {

namespace {

constexpr int32_t kHalfLanes = 16;
constexpr unsigned kLaneBits = 5, kWarpBits = 2; // of the lanes of tensor memory

struct Place {
  int32_t lane = 0, element = 0;
  auto operator<=>(const Place &) const = default;
};

class Planner {
public:
  Planner(const LinearLayout &registers, const LinearLayout &places, unsigned bits)
      : registers_(registers), places_(places.pseudoInvert()), bits_(bits) {}

  /// Whether there is a plan, which `plan` then is.
  bool run(unsigned perWord) { return findLanes() && findWarps() && findWords(perWord) && bitsAreApart(); }
  TensorMemoryPlan plan;

private:
  Place placeOf(llvm::ArrayRef<int32_t> index) const {
    auto at = places_.apply({{Dim::Dim0, index[0]}, {Dim::Dim1, index[1]}});
    return {at[0], at[1]};
  }
  Place placeOf(Dim dim, unsigned bit) const { return placeOf(registers_.basis(dim, bit)); }
  bool isColumn(int32_t element) const { return int64_t(element) * bits_ % kTensorMemoryColumnBits == 0; }
  int32_t columnOf(int32_t element) const { return int32_t(int64_t(element) * bits_ / kTensorMemoryColumnBits); }
  int32_t addressOf(Place p) const { return (p.lane << kTensorMemoryLaneBit) + columnOf(p.element); }
  /// Accesses begin at lane 0 of the warp's, or, if they have half of them, at lane 16.
  bool isFirstLane(int32_t lane) const { return lane == 0 || (lane == kHalfLanes && plan.half); }

  bool findLanes() {
    if (registers_.numOutDims() != 2 || registers_.inDimBits(Dim::Lane) != kLaneBits) return false;
    for (unsigned bit = 0; bit + 1 < kLaneBits; ++bit)
      if (placeOf(Dim::Lane, bit) != Place{1 << bit, 0}) return false;
    Place last = placeOf(Dim::Lane, kLaneBits - 1);
    if (last == Place{kHalfLanes, 0}) return true;
    if (last.lane || last.element <= 0 || !isColumn(last.element)) return false;
    plan.half = unsigned(columnOf(last.element));
    return true;
  }
  bool findWarps() {
    unsigned bits = registers_.inDimBits(Dim::Warp);
    if (bits < kWarpBits) return false;
    for (unsigned bit = 0; bit < bits; ++bit) {
      Place p = placeOf(Dim::Warp, bit);
      if (bit < kWarpBits) {
        if (p != Place{kTensorMemoryLanesOfWarp << bit, 0}) return false;
        continue;
      }
      if (!isColumn(p.element) || !isFirstLane(p.lane)) return false;
      plan.warps.push_back(addressOf(p));
    }
    return true;
  }
  /// `perWord`: elements of a column, all of which a thread must have.
  bool findWords(unsigned perWord) {
    std::map<Place, int> first;
    std::map<int32_t, TensorMemoryPlan::Word> words;
    for (int32_t r = 0; r < registers_.inDimSize(Dim::Register); ++r) {
      Place p = placeOf(registers_.apply({{Dim::Register, r}}));
      int same = first.try_emplace(p, r).first->second;
      plan.sameAs.push_back(same);
      if (same != r) continue;
      if (!isFirstLane(p.lane)) return false;
      auto &w = words[addressOf(p)];
      w.address = addressOf(p);
      auto in = unsigned(int64_t(p.element) * bits_ % kTensorMemoryColumnBits) / bits_;
      w.registers.resize(std::max<size_t>(w.registers.size(), in + 1), -1);
      w.registers[in] = r;
    }
    for (auto &[address, w] : words) {
      if (w.registers.size() - size_t(llvm::count(w.registers, -1)) != perWord) return false;
      plan.words.push_back(w);
    }
    return true;
  }
  /// What lanes, warps and registers contribute to a place is added: no two of them may have a bit in common.
  bool bitsAreApart() const {
    int32_t taken = int32_t(plan.half);
    auto take = [&](int32_t bits) {
      bool isFree = !(taken & bits);
      taken |= bits;
      return isFree;
    };
    int32_t ofWords = 0;
    for (auto &w : plan.words) ofWords |= w.address;
    return take(ofWords) && llvm::all_of(plan.warps, take);
  }

  const LinearLayout &registers_;
  LinearLayout places_; // dim0, dim1 → lane, element
  unsigned bits_;
};

absl::Status checkBits(const TensorMemoryEncoding &e, unsigned bits) {
  unsigned stride = unsigned(e.params().colStride);
  if (bits >= 8 && bits <= 32 && bits * stride <= kTensorMemoryColumnBits) return absl::OkStatus();
  return invalid(
      llvm::formatv("moves elements of {0} bits, {1} apart; a column of tensor memory has 32 bits", bits, stride));
}

} // namespace

absl::StatusOr<TensorMemoryPlan> planTensorMemoryAccess(const LinearLayout &registers, const TensorMemoryEncoding &e,
                                                        llvm::ArrayRef<int64_t> shape, unsigned elementBits) {
  if (auto s = checkBits(e, elementBits); !s.ok()) return s;
  auto places = tensorMemoryPlaces(e, shape);
  if (!places.ok()) return places.status();
  Planner planner(registers, *places, elementBits);
  unsigned perWord = kTensorMemoryColumnBits / (elementBits * unsigned(e.params().colStride));
  if (!planner.run(perWord)) return invalid("has registers under a layout that no access to tensor memory serves");
  return std::move(planner.plan);
}

std::optional<LinearLayout> tensorMemoryRegisters(const TensorMemoryEncoding &e, llvm::ArrayRef<int64_t> shape,
                                                  unsigned elementBits, unsigned warps) {
  auto places = tensorMemoryPlaces(e, shape);
  if (!places.ok() || !llvm::isPowerOf2_32(warps) || warps < unsigned(kTensorMemoryWarps)) return std::nullopt;
  // Bits of the offset that choose an element of a word, and those that choose a column.
  llvm::SmallVector<Basis, 8> inWord, columns;
  for (unsigned bit = 0; bit < places->inDimBits(Dim::Offset); ++bit) {
    auto b = places->basis(Dim::Offset, bit);
    if (!b[0] && !b[1]) continue;
    (int64_t(elementBits) << bit < kTensorMemoryColumnBits ? inWord : columns).push_back(Basis(b.begin(), b.end()));
  }
  LinearLayout::InDim lane{Dim::Lane, {}}, warp{Dim::Warp, {}}, registers{Dim::Register, {}}, block{Dim::Block, {}};
  auto lanePlace = [&](unsigned bit) {
    auto b = places->basis(Dim::Lane, bit);
    return Basis(b.begin(), b.end());
  };
  for (unsigned bit = 0; bit < kLaneBits; ++bit) lane.bases.push_back(lanePlace(bit));
  auto takeColumn = [&]() -> std::optional<Basis> {
    if (columns.empty()) return std::nullopt;
    return columns.pop_back_val();
  };
  if (Basis &last = lane.bases.back(); !last[0] && !last[1]) { // 64 rows alone: their second half is further columns
    auto column = takeColumn();
    if (!column) return std::nullopt;
    last = *column;
  }
  for (unsigned bit = 0; bit < kWarpBits; ++bit) warp.bases.push_back(lanePlace(kLaneBits + bit));
  for (unsigned w = unsigned(kTensorMemoryWarps); w < warps; w *= 2) {
    auto column = takeColumn();
    if (!column) return std::nullopt;
    warp.bases.push_back(*column);
  }
  registers.bases.append(inWord.begin(), inWord.end());
  registers.bases.append(columns.begin(), columns.end());
  return LinearLayout({registers, lane, warp, block}, {{Dim::Dim0, int32_t(shape[0])}, {Dim::Dim1, int32_t(shape[1])}});
}

} // namespace tessera::layouts
