// Conversion plans (see conversion_plan.h).
//
// Shared memory. As in section 5.4 of arXiv 2505.23819. View a tensor's index space as a vector space over F₂. The bits
// of an offset are, from below: the vector V of one access, the rest of a row of banks, the segments S. Two lanes
// served at once conflict if the difference of their indices lies in span(word, S) but not in span(word). So S must
// avoid what the lanes of either side span. Vectors are added to S one at a time: as long as neither side's forbidden
// subspace is everything, a vector outside both exists (of x outside one and y outside the other, x, y or x + y is
// outside both: this sum is what swizzling by xor is). That V is the low bits for a side means that its other columns
// have no part in V: S and the banks are taken from a complement H of V that holds them. Candidates for V are compared
// by passes over its banks. The order of S decides neither conflicts nor passes: it is one that makes an offset of the
// thread's number by few masks and shifts.
#include "layouts/conversion_plan.h"
#include "layouts/shuffle_plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

namespace tessera::layouts {

bool ConversionPlan::hasSelects() const {
  auto any = [](auto &v) { return llvm::any_of(v, [](unsigned x) { return x != 0; }); };
  return any(sendSelect) || any(receiveSelect);
}

bool ConversionPlan::readsAtDistances(unsigned bits) const {
  if (llvm::any_of(sourceLaneConstant, [&](unsigned c) { return c & ~bits; })) return false;
  for (unsigned bit = 0; bit < laneOf.size(); ++bit)
    if (laneOf[bit] != 1u << bit) return false;
  for (Dim in : {Dim::Warp, Dim::Block})
    for (unsigned bit = 0; bit < sourceOf.inDimBits(in); ++bit)
      for (Dim out : {Dim::Register, Dim::Lane})
        if (sourceOf.hasOutDim(out) && sourceOf.basis(in, bit, out)) return false;
  return true;
}

bool ConversionPlan::staysInLane(unsigned k) const {
  if (sourceLaneConstant[k]) return false;
  for (unsigned bit = 0; bit < laneOf.size(); ++bit)
    if (laneOf[bit] != 1u << bit) return false;
  return true;
}

LinearLayout ConversionPlan::sharedWithBlocks() const {
  if (shared.hasInDim(Dim::Block)) return shared;
  llvm::SmallVector<LinearLayout::InDim, 4> ins(shared.ins());
  ins.push_back({Dim::Block, {}});
  return LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(shared.outs()));
}

// ---- shared memory --------------------------------------------------------------------------------------------------

namespace {

/// One side of the conversion as columns over flat indices of the tensor.
struct Side {
  llvm::SmallVector<uint64_t, 8> registers, lanes, warps;
  explicit Side(const LinearLayout &l)
      : registers(l.columns(Dim::Register)), lanes(l.columns(Dim::Lane)), warps(l.columns(Dim::Warp)) {}
};

/// The two sides of a conversion, with the memory between them.
struct SharedPlanner {
  const LinearLayout &src, &dst;
  int bytes; // of an element
  const MemoryModel &m;
  Side source, destination;
  llvm::SmallVector<uint64_t, 4> blocks; // the columns of the block dimension that are not zero
  unsigned total = 0;                    // bits of an offset

  SharedPlanner(const LinearLayout &src, const LinearLayout &dst, int bytes, const MemoryModel &m)
      : src(src), dst(dst), bytes(bytes), m(m), source(src), destination(dst) {}

  unsigned rowBits() const { return llvm::Log2_32(std::max(1, m.banks * m.bankBytes / bytes)); }
  unsigned wordBits() const { return llvm::Log2_32(std::max(1, m.bankBytes / bytes)); }
  unsigned vectorLimit() const { return llvm::Log2_32(std::max(1, m.maxAccessBytes / bytes)); }
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

namespace {

namespace {
/// The bits of the thread's number, and the bits of the offset that each of them decides.
class ThreadBits {
public:
  ThreadBits(const LinearLayout &side, const LinearLayout &shared) {
    LinearLayout toOffset = side.invertAndCompose(shared);
    for (Dim d : {Dim::Lane, Dim::Warp})
      for (unsigned bit = 0; bit < toOffset.inDimBits(d); ++bit)
        columns_.push_back(toOffset.basis(d, bit, Dim::Offset));
  }

  /// By how many different distances bits move, if bit i of the offset is in the place bitOf[i].
  unsigned distances(llvm::ArrayRef<unsigned> bitOf) const {
    uint64_t seen = 0; // at most 32 bits each way
    for (auto [bit, column] : llvm::enumerate(columns_))
      for (uint32_t rest = column; rest; rest &= rest - 1)
        seen |= uint64_t(1) << (32 + bitOf[llvm::countr_zero(rest)] - bit);
    return llvm::popcount(seen);
  }

private:
  llvm::SmallVector<uint32_t, 12> columns_;
};
} // namespace

/// The layout of shared memory for one vector V, in the steps of the head of this file. `forSrc`, `forDst`: V is the
/// vector of that side's accesses, so that its lanes and warps must have no part in V. `forPart`: the accesses of the
/// other side have as much of V as that side's registers have from its beginning; else they are taken to be of a word,
/// whose lanes are more that are served at once.
class SharedLayoutBuilder {
public:
  SharedLayoutBuilder(const SharedPlanner &planner, llvm::ArrayRef<uint64_t> vector, bool forSrc, bool forDst,
                      bool forPart)
      : planner_(planner), source_(planner.source), destination_(planner.destination), vector_(vector), forSrc_(forSrc),
        forDst_(forDst), forPart_(forPart) {}

  /// Nothing if V is no vector of the sides that it is for.
  std::optional<LinearLayout> run() {
    if (!chooseBasis()) return std::nullopt;
    if (!chooseSegments()) return std::nullopt;
    chooseBanks();
    orderSegmentsByThreads();
    return layout();
  }

private:
  using Columns = llvm::SmallVector<uint64_t, 24>;

  /// The sides that V is for.
  llvm::SmallVector<const Side *, 2> sidesOfVector() const {
    llvm::SmallVector<const Side *, 2> sides;
    if (forSrc_) sides.push_back(&source_);
    if (forDst_) sides.push_back(&destination_);
    return sides;
  }

  /// Step 1: a basis of the index space: V, then fillers up to a word, then the rest of a complement H.
  bool chooseBasis() {
    // Lanes and warps of V's sides must have no part in it; their registers may (an access gathers a coset of
    // registers).
    llvm::SmallVector<uint64_t, 32> apart;
    for (auto *side : sidesOfVector()) {
      llvm::append_range(apart, side->lanes);
      llvm::append_range(apart, side->warps);
    }
    F2Span apartSpan;
    for (auto c : apart) apartSpan.add(c);
    for (auto c : planner_.blocks) apartSpan.add(c);
    F2Span closed; // what the basis and the blocks span; blocks are apart from all the rest
    for (auto c : vector_)
      if (!closed.add(c) || !apartSpan.add(c)) return false;
    basis_.assign(vector_.begin(), vector_.end());
    for (auto c : planner_.blocks) closed.add(c);
    auto add = [&](uint64_t c) {
      if (closed.add(c)) basis_.push_back(c);
    };
    llvm::SmallVector<uint64_t, 32> units;
    for (unsigned bit = 0; bit < planner_.src.totalOutBits(); ++bit) units.push_back(uint64_t(1) << bit);

    // Fillers of the word if V is less than one: lanes, so that neighbours share words.
    low_ = std::max<unsigned>(vector_.size(), std::min(planner_.wordBits(), planner_.total));
    for (llvm::ArrayRef<uint64_t> columns :
         {llvm::ArrayRef<uint64_t>(apart), llvm::ArrayRef<uint64_t>(destination_.lanes),
          llvm::ArrayRef<uint64_t>(source_.lanes), llvm::ArrayRef<uint64_t>(units)})
      for (auto c : columns)
        if (basis_.size() < low_) add(c);

    // H: the columns that are apart, then the registers of V's sides, then anything.
    for (auto c : apart) add(c);
    for (auto *side : sidesOfVector())
      for (auto c : side->registers) add(c);
    for (auto *side : {&source_, &destination_})
      for (auto *columns : {&side->lanes, &side->warps, &side->registers})
        for (auto c : *columns) add(c);
    for (auto c : units) add(c);
    if (basis_.size() != planner_.total) return false;
    for (auto c : basis_) coordinates_.add(c);
    for (auto c : planner_.blocks) coordinates_.add(c);
    high_ = planner_.total - low_;
    return true;
  }

  /// Columns in coordinates of the basis, the blocks' share left out.
  Columns inBasis(llvm::ArrayRef<uint64_t> columns) const {
    unsigned total = planner_.total;
    uint64_t mask = total == 64 ? ~uint64_t(0) : (uint64_t(1) << total) - 1;
    Columns out;
    for (auto c : columns) out.push_back(coordinates_.solve(c).value_or(0) & mask);
    return out;
  }

  /// How many of V's columns, from the first, a side's registers have.
  unsigned partOf(const Side &side) const {
    auto *end = llvm::find_if(vector_, [&](uint64_t c) { return !llvm::is_contained(side.registers, c); });
    return end - vector_.begin();
  }

  /// What no segment may be for a side: differences of lanes that are served at once.
  F2Span forbiddenFor(const Side &side, bool isForVector) const {
    const MemoryModel &m = planner_.m;
    unsigned accessBits = isForVector ? vector_.size() : forPart_ ? partOf(side) : 0;
    int accessBytes = std::max(m.bankBytes, planner_.bytes << accessBits);
    size_t served = llvm::Log2_32(std::max(1, m.banks * m.bankBytes / accessBytes));
    auto lanes = inBasis(llvm::ArrayRef(side.lanes).take_front(std::min(side.lanes.size(), served)));
    F2Span span;
    for (auto x : forbidden(lanes, std::max(accessBits, planner_.wordBits()), low_)) span.add(x);
    return span;
  }

  /// Vectors for segments, best first: those that cost nothing to address (registers of both sides), then other single
  /// columns, then any.
  llvm::SmallVector<uint64_t, 48> segmentCandidates() const {
    llvm::SmallVector<uint64_t, 48> candidates;
    auto add = [&](uint64_t x) {
      if (x >> low_) candidates.push_back(x >> low_);
    };
    auto sourceRegisters = inBasis(source_.registers), destinationRegisters = inBasis(destination_.registers);
    for (auto x : sourceRegisters)
      if (llvm::is_contained(destinationRegisters, x)) add(x);
    for (auto x : inBasis(source_.warps)) add(x);
    for (auto x : inBasis(destination_.warps)) add(x);
    for (auto x : sourceRegisters) add(x);
    for (auto x : destinationRegisters) add(x);
    for (unsigned bit = high_; bit-- > 0;) candidates.push_back(uint64_t(1) << bit);
    return candidates;
  }

  /// Step 2: the bits of an offset above a row of banks.
  bool chooseSegments() {
    unsigned count = planner_.total > planner_.rowBits() ? planner_.total - planner_.rowBits() : 0;
    count = std::min(count, high_);
    F2Span forbiddenForSource = forbiddenFor(source_, forSrc_);
    F2Span forbiddenForDestination = forbiddenFor(destination_, forDst_);
    auto candidates = segmentCandidates();
    while (segments_.size() < count) {
      // A side whose forbidden subspace is everything has conflicts in any case.
      bool sourceIsLost = forbiddenForSource.dimension() == high_;
      bool destinationIsLost = forbiddenForDestination.dimension() == high_;
      auto fits = [&](uint64_t x) {
        return x && !chosen_.contains(x) && (sourceIsLost || !forbiddenForSource.contains(x)) &&
               (destinationIsLost || !forbiddenForDestination.contains(x));
      };
      uint64_t found = 0;
      if (auto *it = llvm::find_if(candidates, fits); it != candidates.end()) found = *it;
      // Else a sum of two: x outside the one and y outside the other, both in what the other lacks.
      for (unsigned i = 0; i < candidates.size() && !found; ++i)
        for (unsigned j = 0; j < i && !found; ++j)
          if (fits(candidates[i] ^ candidates[j])) found = candidates[i] ^ candidates[j];
      if (!found) return false; // not reached: see the head of the file
      segments_.push_back(found);
      chosen_.add(found);
      forbiddenForSource.add(found);
      forbiddenForDestination.add(found);
    }
    // Registers of both sides on top: they can be split off in repetitions.
    std::reverse(segments_.begin(), segments_.end());
    constexpr int kPairedBytes = 8; // of one of two places
    bool isPaired = planner_.m.pairsReads && (!forDst_ || planner_.bytes << vector_.size() <= kPairedBytes);
    if (isPaired) orderSegmentsByRegisters();
    return true;
  }

  /// Among the segments that are registers of the destination, those of lower registers first, in the places that they
  /// have together; for registers of both sides and others apart. Where one instruction reads two places, the nearest
  /// then belong into registers that follow each other.
  void orderSegmentsByRegisters() {
    auto sourceRegisters = inBasis(source_.registers), destinationRegisters = inBasis(destination_.registers);
    for (bool ofBoth : {true, false}) {
      llvm::SmallVector<unsigned, 8> places;
      Columns ordered;
      for (auto x : destinationRegisters)
        if (llvm::is_contained(sourceRegisters, x) == ofBoth && llvm::is_contained(segments_, x >> low_) &&
            x >> low_ << low_ == x)
          ordered.push_back(x >> low_);
      for (unsigned i = 0; i < segments_.size(); ++i)
        if (llvm::is_contained(ordered, segments_[i])) places.push_back(i);
      if (places.size() != ordered.size()) continue; // copies
      for (auto [place, x] : llvm::zip(places, ordered)) segments_[place] = x;
    }
  }

  /// Step 3: the rest of a row of banks: lanes in order, then anything.
  void chooseBanks() {
    auto add = [&](uint64_t x) {
      if (banks_.size() + segments_.size() < high_ && chosen_.add(x >> low_)) banks_.push_back(x >> low_);
    };
    for (auto *columns : {&source_.lanes, &destination_.lanes, &source_.registers, &destination_.registers})
      for (auto x : inBasis(*columns)) add(x);
    for (unsigned bit = 0; bit < high_; ++bit) add(uint64_t(1) << (bit + low_));
  }

  /// Step 4: an offset takes a mask and a shift for each distance by which bits of the thread's number move. The order
  /// of segments, apart from the destination's registers (step 2), is free: one with fewer distances, of which the
  /// source has no more than before.
  void orderSegmentsByThreads() {
    auto destinationRegisters = inBasis(destination_.registers);
    llvm::SmallVector<unsigned, 8> places; // of what may move
    for (unsigned i = 0; i < segments_.size(); ++i)
      if (!llvm::is_contained(destinationRegisters, segments_[i] << low_)) places.push_back(i);
    if (places.size() < 2) return;
    LinearLayout shared = layout();
    ThreadBits ofSource(planner_.src, shared), ofDestination(planner_.dst, shared);
    const unsigned first = low_ + banks_.size();  // bit of the first segment
    llvm::SmallVector<unsigned, 8> order(places); // order[i]: the segment for places[i]
    llvm::SmallVector<unsigned, 24> bitOf(planner_.total);
    auto distances = [&](const ThreadBits &side, llvm::ArrayRef<unsigned> order) {
      std::iota(bitOf.begin(), bitOf.end(), 0);
      for (auto [place, segment] : llvm::zip(places, order)) bitOf[first + segment] = first + place;
      return side.distances(bitOf);
    };
    const unsigned most = distances(ofSource, order);
    unsigned best = most + distances(ofDestination, order);
    for (bool isBetter = true; isBetter;) {
      isBetter = false;
      for (unsigned from = 0; from < order.size(); ++from)
        for (unsigned to = 0; to < order.size(); ++to) {
          auto moved = order;
          moved.erase(moved.begin() + from);
          moved.insert(moved.begin() + to, order[from]);
          unsigned source = distances(ofSource, moved), sum = source + distances(ofDestination, moved);
          if (source > most || sum >= best) continue;
          best = sum;
          order = moved;
          isBetter = true;
        }
    }
    Columns segments = segments_;
    for (auto [place, segment] : llvm::zip(places, order)) segments_[place] = segments[segment];
  }

  /// Offset bits from below: V and the fillers, banks, segments.
  LinearLayout layout() const {
    Columns offsets(basis_.begin(), basis_.begin() + low_);
    for (auto *part : {&banks_, &segments_})
      for (auto x : *part) offsets.push_back(sumOf(llvm::ArrayRef(basis_).drop_front(low_), x));
    auto outs = planner_.src.outs();
    LinearLayout l = LinearLayout::fromColumns(Dim::Offset, offsets, outs);
    if (!planner_.src.hasInDim(Dim::Block) || planner_.blocks.empty()) return l;
    return l.concatIns(LinearLayout::fromColumns(Dim::Block, planner_.blocks, outs));
  }

  const SharedPlanner &planner_;
  const Side &source_, &destination_;
  llvm::ArrayRef<uint64_t> vector_;
  bool forSrc_, forDst_, forPart_;
  Columns basis_;            // V first; `low_` of them are within a word or access
  F2Span coordinates_;       // of the basis, then of the blocks
  unsigned low_ = 0;         // bits of an offset within a word or access
  unsigned high_ = 0;        // the others
  F2Span chosen_;            // segments and banks, as sums of the high vectors of the basis
  Columns segments_, banks_; // likewise
};

} // namespace

namespace {
/// How a side accesses the memory.
struct Access {
  int vector = 1, conflicts = 1;
  double sharedPasses = 0;
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
  auto w = countSharedPasses(offsets, r.vector * bytes, m);
  r.conflicts = (w.actual + w.least - 1) / w.least;
  r.instructions = std::max(1, (1 << distinct) / r.vector);
  r.sharedPasses = double(r.instructions) * w.actual;
  return r;
}

SharedAccessCost costOfSharedAccess(const LinearLayout &side, const LinearLayout &shared, int bytes,
                                    const MemoryModel &m) {
  Access a = accessOf(side, shared, bytes, m, /*gather=*/false);
  return {a.instructions, int(a.sharedPasses)};
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

/// Fills `planner.blocks` and `planner.total`.
static absl::Status findBlocks(SharedPlanner &planner) {
  F2Span threads;
  for (auto *side : {&planner.source, &planner.destination})
    for (auto *columns : {&side->registers, &side->lanes, &side->warps})
      for (auto c : *columns) threads.add(c);
  for (auto c : planner.src.columns(Dim::Block)) {
    if (!c) continue;
    if (!threads.add(c))
      return absl::UnimplementedError("a layout conversion in which blocks of a cluster overlap in part");
    planner.blocks.push_back(c);
  }
  planner.total = planner.src.totalOutBits() - planner.blocks.size();
  return absl::OkStatus();
}

namespace {
/// A vector V to try, and the sides whose accesses it is for.
struct CandidateVector {
  llvm::SmallVector<uint64_t, 8> vector;
  bool forSrc, forDst;
};
} // namespace

/// The vectors of registers of both sides, of either and of neither; from the longest down to a word.
static llvm::SmallVector<CandidateVector, 12> candidateVectors(const SharedPlanner &planner, bool gather) {
  llvm::SmallVector<CandidateVector, 12> candidates;
  auto add = [&](llvm::SmallVector<uint64_t, 8> vector, bool forSrc, bool forDst) {
    if (gather)
      llvm::erase(vector, uint64_t(0));
    else
      vector.truncate(llvm::find(vector, uint64_t(0)) - vector.begin());
    for (unsigned n = std::min<size_t>(vector.size(), planner.vectorLimit());; --n) {
      candidates.push_back({{vector.begin(), vector.begin() + n}, forSrc, forDst});
      if (n <= planner.wordBits() || n == 0) break;
    }
  };
  add(commonRegisters(planner.source, planner.destination, gather), true, true);
  add(planner.source.registers, true, false);
  add(planner.destination.registers, false, true);
  add({}, false, false);
  return candidates;
}

/// Halves the scratch until it is as small as wanted, or accesses would be cut.
static void splitInRepetitions(ConversionPlan &p, unsigned offsetBits, int64_t maxScratchBytes) {
  if (!maxScratchBytes) return;
  for (unsigned bit = offsetBits; bit-- > 0 && p.scratchBytes > maxScratchBytes;) {
    if ((1 << bit) < std::max(p.writeVector, p.readVector)) break;
    p.scratchBytes /= 2;
    p.repetitions *= 2;
  }
}

/// Plans a conversion through shared memory; returns its cost, of one repetition.
static absl::StatusOr<double> planShared(SharedPlanner &planner, const PlanOptions &options, ConversionPlan &p) {
  if (auto s = findBlocks(planner); !s.ok()) return s;
  const MemoryModel &m = planner.m;
  std::optional<double> best;
  Access write, read;
  // Wider reads of what narrower writes stored. Another plan brings another order of accesses, which may be worse by as
  // much as a few less bring.
  constexpr double kManyMore = 1.33;
  auto consider = [&](const CandidateVector &c, bool forPart) {
    auto shared = SharedLayoutBuilder(planner, c.vector, c.forSrc, c.forDst, forPart).run();
    if (!shared) return;
    auto w = accessOf(planner.src, *shared, planner.bytes, m, options.gatherRegisters);
    auto r = accessOf(planner.dst, *shared, planner.bytes, m, options.gatherRegisters);
    double passes = w.sharedPasses + r.sharedPasses;
    double cost = passes + (w.instructions + r.instructions) * m.instructionCost;
    bool isWorthIt =
        !forPart || (passes <= p.sharedPasses && kManyMore * (w.instructions + r.instructions) <= p.instructions);
    if (best && (cost >= *best || !isWorthIt)) return;
    best = cost;
    p.shared = std::move(*shared);
    p.sharedPasses = passes;
    p.instructions = w.instructions + r.instructions;
    write = std::move(w);
    read = std::move(r);
  };
  auto candidates = candidateVectors(planner, options.gatherRegisters);
  for (auto &c : candidates) consider(c, /*forPart=*/false);
  bool mayWiden = m.widensReads && planner.bytes == 1;
  for (auto &c : candidates)
    if (best && mayWiden && c.forDst && !c.forSrc) consider(c, /*forPart=*/true);
  if (!best) return absl::InternalError("no layout of shared memory was found for a conversion");
  p.writeVector = write.vector;
  p.readVector = read.vector;
  p.writeConflicts = write.conflicts;
  p.readConflicts = read.conflicts;
  p.writeVectorRegisters = write.vectorRegisters;
  p.readVectorRegisters = read.vectorRegisters;
  p.scratchBytes = (int64_t(1) << planner.total) * planner.bytes;
  splitInRepetitions(p, planner.total, options.maxScratchBytes);
  return *best + m.roundTripCost;
}

// ---- the plan -------------------------------------------------------------------------------------------------------

/// Whether data neither move along a dimension nor are mixed into it by others.
static bool staysPut(const LinearLayout &map, Dim d) {
  for (auto &i : map.ins())
    for (unsigned bit = 0; bit < i.bases.size(); ++bit)
      for (auto &o : map.outs()) {
        if (i.dim != d && o.dim != d) continue;
        int32_t unmoved = i.dim == o.dim ? 1 << bit : 0;
        if (map.basis(i.dim, bit, o.dim) != unmoved) return false;
      }
  return true;
}

absl::StatusOr<ConversionPlan> planConversion(const LinearLayout &src, const LinearLayout &dstAsGiven, int elementBits,
                                              const MemoryModel &m, const PlanOptions &options) {
  llvm::SmallVector<Dim, 4> outs;
  for (auto &o : src.outs()) outs.push_back(o.dim);
  LinearLayout dst = dstAsGiven.transposeOuts(outs);
  ConversionPlan p;
  p.sourceOf = dst.invertAndCompose(src);
  auto &map = p.sourceOf;
  if (!staysPut(map, Dim::Block))
    return absl::UnimplementedError("a layout conversion that moves data between the blocks of a cluster");

  bool shuffles = false;
  int registers = src.inDimSize(Dim::Register), bytes = std::max(1, elementBits / 8);
  if (staysPut(map, Dim::Warp)) {
    shuffles = planShuffles(map, options.laneSelects || options.selectDistances, p);
    bool isWord = bytes >= 4; // narrower elements would be chosen and moved one by one
    bool maySelect = options.laneSelects || (isWord && p.readsAtDistances(options.selectDistances));
    if (p.hasSelects() && !maySelect) shuffles = false;
    if (staysPut(map, Dim::Lane)) {
      bool none = int(p.sourceRegister.size()) == registers;
      for (unsigned r = 0; r < p.sourceRegister.size(); ++r) none &= p.sourceRegister[r] == r;
      p.kind = none ? ConversionPlan::None : ConversionPlan::RegisterPermutation;
      return p;
    }
  }
  SharedPlanner planner(src, dst, bytes, m);
  auto memoryCost = planShared(planner, options, p);
  if (!memoryCost.ok()) {
    if (!shuffles) return memoryCost.status();
    p.kind = ConversionPlan::WarpShuffle;
    return p;
  }
  bool preferShuffles =
      shuffles && shuffleCost(p, registers, bytes, src.inDimSize(Dim::Lane), m) <= *memoryCost * p.repetitions;
  p.kind = preferShuffles ? ConversionPlan::WarpShuffle : ConversionPlan::SharedMemory;
  if (preferShuffles) p.scratchBytes = 0;
  return p;
}

absl::StatusOr<ConversionPlan> planConversionOf(const Encoding *src, const Encoding *dst, llvm::ArrayRef<int64_t> shape,
                                                int bits, const MemoryModel &m, const PlanOptions &options) {
  auto &a = src->layoutOf(shape), &b = dst->layoutOf(shape);
  if (!a.ok()) return a.status();
  if (!b.ok()) return b.status();
  return planConversion(*a, *b, bits, m, options);
}

} // namespace tessera::layouts
