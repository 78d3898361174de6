// Conversion plans (see conversion_plan.h).
//
// Shuffles. Let M be the map from destination (register r', lane l') to source (register r, lane l). If the source
// register does not depend on the destination lane, every destination register is one shuffle. Else the destination
// registers are written in an order that depends on the lane: in round k lane l' fills register k ^ C·l'. C is chosen
// such that the source register of a round is a function of the *source* lane alone, so that the sender can choose it;
// such a C exists unless copies get in the way, because over F₂ two subspaces of one dimension (the lanes' graph must
// avoid both the registers and what lane 0 holds) have a common complement.
//
// Shared memory. As in section 5.4 of arXiv 2505.23819. View a tensor's index space as a vector space over F₂. The bits
// of an offset are, from below: the vector V of one access, the rest of a row of banks, the segments S. Two lanes
// served at once conflict if the difference of their indices lies in span(word, S) but not in span(word). So S must
// avoid what the lanes of either side span. Vectors are added to S one at a time: as long as neither side's forbidden
// subspace is everything, a vector outside both exists (of x outside one and y outside the other, x, y or x + y is
// outside both: this sum is what swizzling by xor is). That V is the low bits for a side means that its other columns
// have no part in V: S and the banks are taken from a complement H of V that holds them. Candidates for V are compared
// by wavefronts.
#include "layouts/conversion_plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::layouts {

bool ConversionPlan::hasSelects() const {
  auto any = [](auto &v) { return llvm::any_of(v, [](unsigned x) { return x != 0; }); };
  return any(sendSelect) || any(receiveSelect);
}

bool ConversionPlan::staysInLane(unsigned k) const {
  if (sourceLaneConstant[k]) return false;
  for (unsigned bit = 0; bit < laneOf.size(); ++bit)
    if (laneOf[bit] != 1u << bit) return false;
  return true;
}

// Costs in wavefronts of shared memory (one a cycle). An instruction that only computes is issued four to a cycle.
static constexpr double kInstruction = 0.25, kRoundTrip = 24; // store, barrier, load: latency that little else hides

// ---- shuffles -------------------------------------------------------------------------------------------------------

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

static uint64_t sumOf(llvm::ArrayRef<uint64_t> columns, uint64_t bits) {
  uint64_t v = 0;
  for (unsigned b = 0; b < columns.size(); ++b)
    if (bits >> b & 1) v ^= columns[b];
  return v;
}

/// Fills the schedule of a WarpShuffle. Returns whether there is one.
static bool planShuffles(const LinearLayout &map, bool laneSelects, ConversionPlan &p) {
  WarpMap w = warpMap(map);
  unsigned numRegisters = 1u << w.ofRegister.size(), numLaneBits = w.ofLane.size();
  p.laneOf.assign(numLaneBits, 0);
  p.sendSelect.assign(w.laneBits, 0);
  p.receiveSelect.assign(numLaneBits, 0);

  bool registersByLane = llvm::any_of(w.ofLane, [&](uint64_t v) { return v >> w.laneBits; });
  if (registersByLane) {
    if (!laneSelects || numRegisters > 256) return false;
    // Lanes whose image is independent of what registers can reach come first; they need no select.
    F2Span reached;                                             // source lanes, numbered as in `chosen`
    llvm::SmallVector<std::pair<unsigned, uint64_t>, 6> chosen; // destination lane bit, image with its C
    auto take = [&](unsigned bit, uint64_t c) {
      uint64_t image = w.ofLane[bit] ^ sumOf(w.ofRegister, c);
      p.receiveSelect[bit] = c;
      chosen.push_back({bit, image});
      reached.add(image & w.laneMask());
    };
    F2Span byRegisters;
    for (auto v : w.ofRegister) byRegisters.add(v & w.laneMask());
    llvm::SmallVector<unsigned, 6> rest;
    for (unsigned bit = 0; bit < numLaneBits; ++bit)
      if (byRegisters.add(w.ofLane[bit] & w.laneMask()))
        take(bit, 0);
      else
        rest.push_back(bit);
    for (unsigned bit : rest) {
      // The fewest register bits that give a new source lane; else a combination of lanes taken before.
      std::optional<uint64_t> best;
      auto consider = [&](uint64_t c, bool mustBeNew) {
        if (best && llvm::popcount(*best) <= llvm::popcount(c)) return;
        uint64_t image = w.ofLane[bit] ^ sumOf(w.ofRegister, c);
        auto solution = reached.solve(image & w.laneMask());
        if (mustBeNew ? solution.has_value() : !solution.has_value()) return;
        if (solution) { // the same lane is asked twice: for the same register?
          for (unsigned i = 0; i < chosen.size(); ++i)
            if (*solution >> i & 1) image ^= chosen[i].second;
          if (image) return;
        }
        best = c;
      };
      for (uint64_t c = 0; c < numRegisters; ++c) consider(c, true);
      if (!best)
        for (uint64_t c = 0; c < numRegisters; ++c) consider(c, false);
      if (!best) return false;
      take(bit, *best);
    }
    // What a source lane sends: the register part of the image that its number solves to; lanes that nobody asks,
    // nothing.
    llvm::SmallVector<uint64_t, 16> sends;
    for (auto &c : chosen) sends.push_back(c.second >> w.laneBits);
    for (unsigned lane = 0; lane < w.laneBits; ++lane) {
      reached.add(uint64_t(1) << lane);
      sends.push_back(0);
    }
    for (unsigned lane = 0; lane < w.laneBits; ++lane)
      p.sendSelect[lane] = sumOf(sends, *reached.solve(uint64_t(1) << lane));
    for (auto &c : chosen) p.laneOf[c.first] = c.second & w.laneMask();
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

static double shuffleCost(const ConversionPlan &p, int sourceRegisters, int bytes, int lanes, const MemoryModel &m) {
  int words = std::max(1, bytes / 4);
  double wave = std::max(1.0, double(lanes) * 4 / (m.banks * m.bankBytes)), cost = 0;
  for (unsigned k = 0; k < p.sourceRegister.size(); ++k)
    if (!p.staysInLane(k)) cost += words * (wave + kInstruction);
  auto selects = [&](llvm::ArrayRef<unsigned> columns, int registers) {
    F2Span span;
    for (auto c : columns) span.add(c);
    cost += span.dimension() * double(registers) * words * kInstruction;
  };
  selects(p.sendSelect, sourceRegisters);
  selects(p.receiveSelect, p.sourceRegister.size());
  return cost;
}

// ---- shared memory --------------------------------------------------------------------------------------------------

namespace {

/// One side of the conversion as columns over flat indices of the tensor.
struct Side {
  llvm::SmallVector<uint64_t, 8> registers, lanes, warps;
  explicit Side(const LinearLayout &l)
      : registers(l.columns(Dim::Register)), lanes(l.columns(Dim::Lane)), warps(l.columns(Dim::Warp)) {}
};

struct SharedPlanner {
  const LinearLayout &src, &dst;
  int bytes;
  const MemoryModel &m;
  Side a, b;
  llvm::SmallVector<uint64_t, 4> blocks; // the columns of the block dimension that are not zero
  unsigned total = 0;                    // bits of an offset

  SharedPlanner(const LinearLayout &src, const LinearLayout &dst, int bytes, const MemoryModel &m)
      : src(src), dst(dst), bytes(bytes), m(m), a(src), b(dst) {}

  unsigned rowBits() const { return llvm::Log2_32(std::max(1, m.banks * m.bankBytes / bytes)); }
  unsigned wordBits() const { return llvm::Log2_32(std::max(1, m.bankBytes / bytes)); }
  unsigned vectorLimit() const { return llvm::Log2_32(std::max(1, m.maxAccessBytes / bytes)); }

  std::optional<LinearLayout> layoutFor(llvm::ArrayRef<uint64_t> vector, bool forSrc, bool forDst) const;
};

} // namespace

/// The part of the space of h-bits (those from `low` on) that two lanes of a side must not differ by: differences whose
/// bits in [same, low) vanish. Bits below `same` are the same word or access.
static llvm::SmallVector<uint64_t, 8> forbidden(llvm::ArrayRef<uint64_t> lanes, unsigned same, unsigned low) {
  llvm::SmallVector<uint64_t, 8> rows, out;
  for (auto l : lanes) rows.push_back(l >> same << same);
  for (unsigned bit = same; bit < low; ++bit) { // eliminate the bits that must vanish
    auto pivot = llvm::find_if(rows, [&](uint64_t r) { return r >> bit & 1; });
    if (pivot == rows.end()) continue;
    uint64_t p = *pivot;
    rows.erase(pivot);
    for (auto &r : rows)
      if (r >> bit & 1) r ^= p;
  }
  for (auto r : rows) out.push_back(r >> low);
  return out;
}

std::optional<LinearLayout> SharedPlanner::layoutFor(llvm::ArrayRef<uint64_t> vector, bool forSrc, bool forDst) const {
  unsigned v = vector.size();
  // A basis of the index space: V, then a complement H.
  F2Span span;
  llvm::SmallVector<uint64_t, 24> basis(vector.begin(), vector.end());
  for (auto c : vector)
    if (!span.add(c)) return std::nullopt;
  // Lanes and warps of those sides must have no part in V; their registers may (an access gathers a coset of
  // registers).
  llvm::SmallVector<uint64_t, 32> apart;
  for (auto *side : {&a, &b})
    if (side == &a ? forSrc : forDst) {
      llvm::append_range(apart, side->lanes);
      llvm::append_range(apart, side->warps);
    }
  F2Span check;
  for (auto c : apart) check.add(c);
  for (auto c : blocks) check.add(c);
  for (auto c : vector)
    if (!check.add(c)) return std::nullopt;
  F2Span closed = span; // what the basis and the blocks span; blocks are apart from all the rest
  for (auto c : blocks) closed.add(c);
  auto add = [&](uint64_t c) {
    if (closed.add(c)) basis.push_back(c);
  };
  // Fillers of the word first, if V is less than one: lanes, so that neighbours share words.
  unsigned low = std::max(v, std::min(wordBits(), total));
  auto fill = [&](llvm::ArrayRef<uint64_t> columns) {
    for (auto c : columns)
      if (basis.size() < low) add(c);
  };
  llvm::SmallVector<uint64_t, 32> units;
  for (unsigned bit = 0; bit < src.totalOutBits(); ++bit) units.push_back(uint64_t(1) << bit);
  for (llvm::ArrayRef<uint64_t> columns : {llvm::ArrayRef<uint64_t>(apart), llvm::ArrayRef<uint64_t>(b.lanes),
                                           llvm::ArrayRef<uint64_t>(a.lanes), llvm::ArrayRef<uint64_t>(units)})
    fill(columns);
  // H: those columns, then the registers, then anything.
  for (auto c : apart) add(c);
  for (auto *side : {&a, &b})
    if (side == &a ? forSrc : forDst)
      for (auto c : side->registers) add(c);
  for (auto *side : {&a, &b})
    for (auto *columns : {&side->lanes, &side->warps, &side->registers})
      for (auto c : *columns) add(c);
  for (auto c : units) add(c);
  if (basis.size() != total) return std::nullopt;

  // Everything in coordinates of that basis, the blocks' share left out.
  F2Span coordinates;
  for (auto c : basis) coordinates.add(c);
  for (auto c : blocks) coordinates.add(c);
  uint64_t mask = total == 64 ? ~uint64_t(0) : (uint64_t(1) << total) - 1;
  auto inBasis = [&](llvm::ArrayRef<uint64_t> columns) {
    llvm::SmallVector<uint64_t, 24> out;
    for (auto c : columns) out.push_back(coordinates.solve(c).value_or(0) & mask);
    return out;
  };
  unsigned n = total - low, segments = total > rowBits() ? total - rowBits() : 0;
  segments = std::min(segments, n);
  auto forbiddenBy = [&](const Side &side, bool byV) {
    unsigned access = byV ? v : 0;
    size_t served = llvm::Log2_32(std::max(1, m.banks * m.bankBytes / std::max(m.bankBytes, bytes << access)));
    auto lanes = inBasis(llvm::ArrayRef(side.lanes).take_front(std::min(side.lanes.size(), served)));
    return forbidden(lanes, std::max(access, wordBits()), low);
  };
  F2Span ua, ub, chosen;
  for (auto x : forbiddenBy(a, forSrc)) ua.add(x);
  for (auto x : forbiddenBy(b, forDst)) ub.add(x);

  // Segments. Preferred are vectors that cost nothing to address: registers of both sides, then other single columns.
  llvm::SmallVector<uint64_t, 48> singles;
  auto ha = inBasis(a.registers), hb = inBasis(b.registers), wa = inBasis(a.warps), wb = inBasis(b.warps);
  auto prefer = [&](uint64_t x) {
    if (x >> low) singles.push_back(x >> low);
  };
  for (auto x : ha)
    if (llvm::is_contained(hb, x)) prefer(x);
  for (auto &columns : {wa, wb, ha, hb})
    for (auto x : columns) prefer(x);
  for (unsigned bit = n; bit-- > 0;) singles.push_back(uint64_t(1) << bit);
  llvm::SmallVector<uint64_t, 24> s;
  while (s.size() < segments) {
    bool fullA = ua.dimension() == n, fullB = ub.dimension() == n;
    auto fits = [&](uint64_t x) {
      return x && !chosen.contains(x) && (fullA || !ua.contains(x)) && (fullB || !ub.contains(x));
    };
    uint64_t found = 0;
    if (auto *it = llvm::find_if(singles, fits); it != singles.end()) found = *it;
    // Else a sum of two: x outside the one and y outside the other, both in what the other lacks.
    for (unsigned i = 0; i < singles.size() && !found; ++i)
      for (unsigned j = 0; j < i && !found; ++j)
        if (fits(singles[i] ^ singles[j])) found = singles[i] ^ singles[j];
    if (!found) return std::nullopt; // not reached: see the top of the file
    s.push_back(found);
    chosen.add(found), ua.add(found), ub.add(found);
  }
  std::reverse(s.begin(), s.end()); // registers of both sides on top: they can be split off in repetitions
  // The rest of a row of banks: lanes in order, then anything.
  llvm::SmallVector<uint64_t, 24> row;
  auto bank = [&](uint64_t x) {
    if (row.size() + s.size() < n && chosen.add(x >> low)) row.push_back(x >> low);
  };
  for (auto &columns : {inBasis(a.lanes), inBasis(b.lanes), ha, hb}) // by value: columns are few
    for (auto x : columns) bank(x);
  for (unsigned bit = 0; bit < n; ++bit) bank(uint64_t(1) << (bit + low));

  llvm::SmallVector<uint64_t, 24> offsets(basis.begin(), basis.begin() + low);
  for (auto &part : {row, s})
    for (auto x : part) offsets.push_back(sumOf(llvm::ArrayRef(basis).drop_front(low), x));
  LinearLayout l = LinearLayout::fromColumns(Dim::Offset, offsets, src.outs());
  if (!src.hasInDim(Dim::Block) || blocks.empty()) return l;
  return l.concatIns(LinearLayout::fromColumns(Dim::Block, blocks, src.outs()));
}

namespace {
struct Access {
  int vector = 1, conflicts = 1;
  double wavefronts = 0;
  int instructions = 0;
  llvm::SmallVector<unsigned, 4> vectorRegisters;
  uint64_t threadBits = 0; // bits of the offset that lanes or warps decide
  LinearLayout toOffset;
};
} // namespace

static Access accessOf(const LinearLayout &side, const LinearLayout &shared, int bytes, const MemoryModel &m,
                       bool gather) {
  Access r;
  r.toOffset = side.invertAndCompose(shared);
  auto columns = [&](Dim d) {
    llvm::SmallVector<uint64_t, 8> c;
    for (unsigned bit = 0; bit < r.toOffset.inDimBits(d); ++bit) c.push_back(r.toOffset.basis(d, bit, Dim::Offset));
    return c;
  };
  auto registers = columns(Dim::Register), lanes = columns(Dim::Lane), warps = columns(Dim::Warp);
  for (auto x : lanes) r.threadBits |= x;
  for (auto x : warps) r.threadBits |= x;
  F2Span span;
  unsigned distinct = 0;
  for (auto x : registers) distinct += span.add(x);
  int limit = std::max(1, m.maxAccessBytes / bytes);
  for (uint64_t offset = 1; r.vector < limit && !(r.threadBits & offset); offset <<= 1) {
    // A register's own bit where there is one.
    auto *it = llvm::find(registers, offset);
    std::optional<uint64_t> made;
    if (it != registers.end())
      made = uint64_t(1) << (it - registers.begin());
    else if (gather)
      made = span.solve(offset);
    if (!made || (!gather && *made != offset)) break;
    r.vectorRegisters.push_back(*made);
    r.vector *= 2;
  }
  // Without gathering the other registers must be aligned.
  auto aligned = [&] {
    return llvm::all_of(llvm::ArrayRef(registers).drop_front(r.vectorRegisters.size()),
                        [&](uint64_t x) { return !(x & (r.vector - 1)); });
  };
  while (!gather && r.vector > 1 && !aligned()) {
    r.vectorRegisters.pop_back();
    r.vector /= 2;
  }
  llvm::SmallVector<int64_t, 64> offsets;
  for (unsigned lane = 0; lane < 1u << lanes.size(); ++lane) offsets.push_back(int64_t(sumOf(lanes, lane)) * bytes);
  auto w = countWavefronts(offsets, r.vector * bytes, m);
  r.conflicts = (w.actual + w.least - 1) / w.least;
  r.instructions = std::max(1, (1 << distinct) / r.vector);
  r.wavefronts = double(r.instructions) * w.actual;
  return r;
}

/// Vectors that both sides' registers span, in the source's order; without gathering, the first registers that they
/// share.
static llvm::SmallVector<uint64_t, 8> commonRegisters(const Side &a, const Side &b, bool gather) {
  llvm::SmallVector<uint64_t, 8> out;
  if (!gather) {
    for (unsigned i = 0; i < a.registers.size() && i < b.registers.size() && a.registers[i] == b.registers[i]; ++i)
      out.push_back(a.registers[i]);
    return out;
  }
  F2Span other;
  for (auto c : b.registers) other.add(c);
  for (auto c : a.registers)
    if (c && other.contains(c)) out.push_back(c);
  return out;
}

static absl::Status planShared(const LinearLayout &src, const LinearLayout &dst, int bytes, const MemoryModel &m,
                               const PlanOptions &options, ConversionPlan &p, double &cost) {
  SharedPlanner planner(src, dst, bytes, m);
  F2Span threads;
  for (auto *side : {&planner.a, &planner.b})
    for (auto *columns : {&side->registers, &side->lanes, &side->warps})
      for (auto c : *columns) threads.add(c);
  for (auto c : src.columns(Dim::Block))
    if (c) {
      if (!threads.add(c))
        return absl::UnimplementedError("a layout conversion in which blocks of a cluster overlap in part");
      planner.blocks.push_back(c);
    }
  planner.total = src.totalOutBits() - planner.blocks.size();

  struct Candidate {
    llvm::SmallVector<uint64_t, 8> vector;
    bool src, dst;
  };
  llvm::SmallVector<Candidate, 12> candidates;
  auto consider = [&](llvm::SmallVector<uint64_t, 8> vector, bool forSrc, bool forDst) {
    if (options.gatherRegisters)
      llvm::erase(vector, uint64_t(0));
    else
      vector.truncate(llvm::find(vector, uint64_t(0)) - vector.begin());
    for (unsigned n = std::min<size_t>(vector.size(), planner.vectorLimit());; --n) {
      candidates.push_back({{vector.begin(), vector.begin() + n}, forSrc, forDst});
      if (n <= planner.wordBits() || n == 0) break;
    }
  };
  consider(commonRegisters(planner.a, planner.b, options.gatherRegisters), true, true);
  consider(planner.a.registers, true, false);
  consider(planner.b.registers, false, true);
  consider({}, false, false);
  std::optional<double> best;
  Access write, read;
  for (auto &c : candidates) {
    auto shared = planner.layoutFor(c.vector, c.src, c.dst);
    if (!shared) continue;
    auto w = accessOf(src, *shared, bytes, m, options.gatherRegisters),
         r = accessOf(dst, *shared, bytes, m, options.gatherRegisters);
    double waves = w.wavefronts + r.wavefronts, now = waves + (w.instructions + r.instructions) * kInstruction;
    if (best && now >= *best) continue;
    best = now;
    p.shared = std::move(*shared);
    p.wavefronts = waves;
    p.instructions = w.instructions + r.instructions;
    write = std::move(w), read = std::move(r);
  }
  if (!best) return absl::InternalError("no layout of shared memory was found for a conversion");
  cost = *best + kRoundTrip;
  p.writeVector = write.vector, p.readVector = read.vector;
  p.writeConflicts = write.conflicts, p.readConflicts = read.conflicts;
  p.writeVectorRegisters = write.vectorRegisters, p.readVectorRegisters = read.vectorRegisters;
  p.scratchBytes = (int64_t(1) << planner.total) * bytes;
  for (unsigned bit = planner.total;
       bit-- > 0 && options.maxScratchBytes && p.scratchBytes > options.maxScratchBytes;) {
    if ((1 << bit) < std::max(p.writeVector, p.readVector)) break;
    p.scratchBytes /= 2;
    p.repetitions *= 2;
  }
  return absl::OkStatus();
}

// ---- the plan -------------------------------------------------------------------------------------------------------

absl::StatusOr<ConversionPlan> planConversion(const LinearLayout &src, const LinearLayout &dstAsGiven, int elementBits,
                                              const MemoryModel &m, const PlanOptions &options) {
  llvm::SmallVector<Dim, 4> outs;
  for (auto &o : src.outs()) outs.push_back(o.dim);
  LinearLayout dst = dstAsGiven.transposeOuts(outs);
  ConversionPlan p;
  p.sourceOf = dst.invertAndCompose(src);
  auto &map = p.sourceOf;
  auto staysPut = [&](Dim d) { // neither moved nor mixed into by others
    for (auto &i : map.ins())
      for (unsigned bit = 0; bit < i.bases.size(); ++bit)
        for (auto &o : map.outs())
          if ((i.dim == d || o.dim == d) && map.basis(i.dim, bit, o.dim) != (i.dim == d && o.dim == d ? 1 << bit : 0))
            return false;
    return true;
  };
  if (!staysPut(Dim::Block))
    return absl::UnimplementedError("a layout conversion that moves data between the blocks of a cluster");

  bool shuffles = false;
  int registers = src.inDimSize(Dim::Register), bytes = std::max(1, elementBits / 8);
  if (staysPut(Dim::Warp)) {
    shuffles = planShuffles(map, options.laneSelects, p);
    if (staysPut(Dim::Lane)) {
      bool none = int(p.sourceRegister.size()) == registers;
      for (unsigned r = 0; r < p.sourceRegister.size(); ++r) none &= p.sourceRegister[r] == r;
      p.kind = none ? ConversionPlan::None : ConversionPlan::RegisterPermutation;
      return p;
    }
  }
  double memory = 0;
  if (auto s = planShared(src, dst, bytes, m, options, p, memory); !s.ok()) {
    if (!shuffles) return s;
    p.kind = ConversionPlan::WarpShuffle;
    return p;
  }
  bool preferShuffles =
      shuffles && shuffleCost(p, registers, bytes, src.inDimSize(Dim::Lane), m) <= memory * p.repetitions;
  p.kind = preferShuffles ? ConversionPlan::WarpShuffle : ConversionPlan::SharedMemory;
  if (preferShuffles) p.scratchBytes = 0;
  return p;
}

// ---- reads that transpose ----

/// The bits of the first two registers that are no copies; fewer if there are none.
static llvm::SmallVector<unsigned, 2> firstRegisters(const LinearLayout &l) {
  llvm::SmallVector<unsigned, 2> bits;
  for (unsigned bit = 0; bit < l.inDimBits(Dim::Register) && bits.size() < 2; ++bit)
    if (llvm::any_of(l.basis(Dim::Register, bit), [](int32_t x) { return x != 0; })) bits.push_back(bit);
  return bits;
}

bool canReadTransposed(const LinearLayout &map) {
  if (map.inDimBits(Dim::Lane) < 4 || firstRegisters(map).size() < 2) return false;
  for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp})
    for (unsigned bit = 0; bit < map.inDimBits(d); ++bit) {
      auto basis = map.basis(d, bit);
      if (basis.size() > 1 && basis[1]) return false; // in another block
      if (d == Dim::Lane && bit < 2 ? basis[0] != 1 << bit : basis[0] % 4 != 0) return false;
    }
  return true;
}

std::optional<LinearLayout> transposedReadAddresses(const LinearLayout &layout) {
  auto bits = firstRegisters(layout);
  if (layout.inDimBits(Dim::Lane) < 4 || bits.size() < 2) return std::nullopt;
  llvm::SmallVector<LinearLayout::InDim, 4> ins(layout.ins());
  auto *registers = llvm::find_if(ins, [](auto &i) { return i.dim == Dim::Register; });
  auto *lanes = llvm::find_if(ins, [](auto &i) { return i.dim == Dim::Lane; });
  for (unsigned k = 0; k < 2; ++k) {
    Basis ofRegister = registers->bases[bits[k]];
    registers->bases[bits[k]] = lanes->bases[k];
    lanes->bases[k] = lanes->bases[2 + k];
    lanes->bases[2 + k] = ofRegister;
  }
  return LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(layout.outs()));
}

absl::StatusOr<ConversionPlan> planConversionOf(const Encoding *src, const Encoding *dst, llvm::ArrayRef<int64_t> shape,
                                                int bits, const MemoryModel &m, const PlanOptions &options) {
  auto &a = src->layoutOf(shape), &b = dst->layoutOf(shape);
  if (!a.ok()) return a.status();
  if (!b.ok()) return b.status();
  return planConversion(*a, *b, bits, m, options);
}

} // namespace tessera::layouts
