// Conversion plans (see conversion_plan.h).
//
// The layout of shared memory is chosen as in section 5.4 of arXiv 2505.23819. View a tensor's index space as a vector
// space over F₂. The bytes of one access come first (the vector V), then the banks, then the segments S, the bits above
// a row of all banks. Two lanes conflict if they hit one bank in different segments, that is if the difference of their
// indices lies in span(V, S) but not in span(V). So S is built from vectors that keep span(V, S) apart from what the
// lanes of either side span: first vectors outside both, then sums of a lane vector of one side and one of the other,
// which is what swizzling by xor is. What remains fills the banks. Candidates for V (shared by both sides, the
// writer's, the reader's) are compared by the number of accesses and their conflicts.
#include "layouts/conversion_plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

namespace tessera::layouts {

int bankConflicts(llvm::ArrayRef<int64_t> lanes, int bytes, const MemoryModel &m) {
  // The hardware serves as many lanes at once as fill a row of banks.
  int row = m.banks * m.bankBytes, group = std::max(1, std::min<int>(lanes.size(), row / std::max(bytes, m.bankBytes)));
  int wavefronts = 0, groups = 0;
  for (size_t from = 0; from < lanes.size(); from += group, ++groups) {
    llvm::DenseMap<int, std::set<int64_t>> words; // bank → words asked of it
    for (size_t i = from; i < std::min(lanes.size(), from + group); ++i)
      for (int64_t w = lanes[i] / m.bankBytes; w <= (lanes[i] + bytes - 1) / m.bankBytes; ++w)
        words[w % m.banks].insert(w);
    size_t most = 1;
    for (auto &[b, s] : words) most = std::max(most, s.size());
    wavefronts += most;
  }
  return std::max(1, (wavefronts + groups - 1) / groups);
}

namespace {

/// The layout as columns over flat indices (first output dimension lowest).
struct Flat {
  llvm::SmallVector<uint64_t, 8> registers, lanes, warps;
};
Flat flatten(const LinearLayout &l) { return {l.columns(Dim::Register), l.columns(Dim::Lane), l.columns(Dim::Warp)}; }

unsigned vectorBits(const Flat &side, llvm::ArrayRef<uint64_t> basis) {
  // Registers 1, 2, 4… that fall on offsets 1, 2, 4….
  unsigned n = 0;
  while (n < side.registers.size() && n < basis.size() && side.registers[n] == basis[n]) ++n;
  return n;
}

} // namespace

static LinearLayout chooseShared(const LinearLayout &src, const LinearLayout &dst, int bytes, const MemoryModel &m,
                                 llvm::ArrayRef<uint64_t> vector) {
  unsigned total = src.totalOutBits();
  Flat a = flatten(src), b = flatten(dst);
  unsigned rowBits = llvm::Log2_32(std::max(1, m.banks * m.bankBytes / bytes)); // offsets below are banks (and bytes)
  unsigned wordBits = llvm::Log2_32(std::max(1, m.bankBytes / bytes));
  // Lanes that are served at once.
  auto laneGroup = [&](const Flat &f, unsigned vec) {
    unsigned served =
        llvm::Log2_32(std::max<unsigned>(1, m.banks * m.bankBytes / std::max<int>(m.bankBytes, bytes << vec)));
    return llvm::ArrayRef(f.lanes).take_front(std::min<size_t>(f.lanes.size(), served));
  };
  unsigned va = 0, vb = 0;
  {
    va = vectorBits(a, vector), vb = vectorBits(b, vector);
  }
  auto la = laneGroup(a, va), lb = laneGroup(b, vb);
  llvm::SmallVector<uint64_t, 24> basis(vector.begin(), vector.end());
  F2Span all;
  for (auto v : basis) all.add(v);
  unsigned segments = total > rowBits ? total - rowBits : 0;
  segments = std::min<unsigned>(segments, total - basis.size());

  // span(V_word, S) must meet the lanes' span only in span(V_word).
  llvm::SmallVector<uint64_t, 24> s;
  auto keepsApart = [&](uint64_t candidate, llvm::ArrayRef<uint64_t> lanes) {
    F2Span low;
    for (unsigned i = 0; i < std::min<size_t>(wordBits, basis.size()); ++i) low.add(basis[i]);
    F2Span both = low;
    for (auto l : lanes) both.add(l);
    unsigned segmentRank = 0;
    F2Span withS = low;
    for (auto x : s) segmentRank += withS.add(x);
    segmentRank += withS.add(candidate);
    unsigned joint = 0;
    for (auto x : s) joint += both.add(x);
    joint += both.add(candidate);
    return joint == segmentRank;
  };
  auto tryAdd = [&](uint64_t c, bool strict) {
    if (s.size() == segments || !c) return;
    F2Span probe = all;
    for (auto x : s) probe.add(x);
    if (!probe.add(c)) return;
    if (strict && (!keepsApart(c, la) || !keepsApart(c, lb))) return;
    s.push_back(c);
  };
  // Outside both sides' lanes: single index bits first (they cost nothing to address).
  llvm::SmallVector<uint64_t, 48> singles;
  llvm::append_range(singles, a.warps);
  llvm::append_range(singles, b.warps);
  for (unsigned i = a.registers.size(); i-- > 0;) singles.push_back(a.registers[i]);
  for (unsigned i = b.registers.size(); i-- > 0;) singles.push_back(b.registers[i]);
  for (unsigned i = 0; i < total; ++i) singles.push_back(uint64_t(1) << i);
  for (auto c : singles)
    if (!llvm::is_contained(la, c) && !llvm::is_contained(lb, c)) tryAdd(c, true);
  for (auto x : la)
    for (auto y : lb) tryAdd(x ^ y, true);
  for (auto x : la)
    for (auto y : singles) tryAdd(x ^ y, true);
  for (auto x : lb)
    for (auto y : singles) tryAdd(x ^ y, true);
  for (unsigned i = total; i-- > 0;) tryAdd(uint64_t(1) << i, false);
  for (auto c : singles) tryAdd(c, false);

  // Banks: lanes in order, then anything.
  F2Span used = all;
  for (auto x : s) used.add(x);
  auto bank = [&](uint64_t c) {
    if (basis.size() + s.size() < total && used.add(c)) basis.push_back(c);
  };
  for (auto c : a.lanes) bank(c);
  for (auto c : b.lanes) bank(c);
  for (unsigned i = 0; i < total; ++i) bank(uint64_t(1) << i);
  basis.append(s.begin(), s.end());
  return LinearLayout::fromColumns(Dim::Offset, basis, src.outs());
}

/// Accesses and conflicts of one side.
static std::pair<int, int> sideCost(const LinearLayout &side, const LinearLayout &shared, int bytes,
                                    const MemoryModel &m, int &vector) {
  LinearLayout toOffset = side.invertAndCompose(shared);
  vector = 1;
  unsigned limit = std::max(1, m.maxAccessBytes / bytes), bits = toOffset.inDimBits(Dim::Register);
  for (unsigned bit = 0; bit < bits && vector < int(limit) && toOffset.basis(Dim::Register, bit)[0] == vector; ++bit)
    vector *= 2;
  auto low = [&](int v) {
    for (auto &i : toOffset.ins())
      for (unsigned bit = 0; bit < i.bases.size(); ++bit)
        if (!(i.dim == Dim::Register && (1 << bit) < v) && (i.bases[bit][0] & (v - 1))) return false;
    return true;
  };
  while (vector > 1 && !low(vector)) vector /= 2;
  llvm::SmallVector<int64_t, 64> offsets;
  for (int lane = 0; lane < toOffset.inDimSize(Dim::Lane); ++lane)
    offsets.push_back(int64_t(toOffset.apply({{Dim::Lane, lane}})[0]) * bytes);
  return {std::max(1, toOffset.inDimSize(Dim::Register) / vector), bankConflicts(offsets, vector * bytes, m)};
}

absl::StatusOr<ConversionPlan> planConversion(const LinearLayout &src, const LinearLayout &dst, int elementBits,
                                              const MemoryModel &m) {
  ConversionPlan p;
  p.sourceOf = dst.invertAndCompose(src);
  auto &map = p.sourceOf;
  auto partOf = [&](Dim in, unsigned bit, Dim out) { return map.basis(in, bit, out); };
  auto identityOn = [&](Dim d) {
    for (unsigned bit = 0; bit < map.inDimBits(d); ++bit)
      for (auto &o : map.outs())
        if (map.basis(d, bit, o.dim) != (o.dim == d ? 1 << bit : 0)) {
          // A bit that the destination does not depend on may come from anywhere; it was solved to stay if it could.
          return false;
        }
    return true;
  };
  auto zeroInto = [&](Dim in, Dim out) {
    for (unsigned bit = 0; bit < map.inDimBits(in); ++bit)
      if (map.hasOutDim(out) && partOf(in, bit, out)) return false;
    return true;
  };
  if (map.hasInDim(Dim::Block) && !identityOn(Dim::Block))
    return absl::UnimplementedError("a layout conversion that moves data between the blocks of a cluster");
  bool warpsStay = identityOn(Dim::Warp) && zeroInto(Dim::Register, Dim::Warp) && zeroInto(Dim::Lane, Dim::Warp);
  int registers = map.inDimSize(Dim::Register);
  if (warpsStay && zeroInto(Dim::Lane, Dim::Register)) {
    for (int r = 0; r < registers; ++r) {
      auto at = map.apply({{Dim::Register, r}});
      p.sourceRegister.push_back(map.hasOutDim(Dim::Register) ? at[map.outIndex(Dim::Register)] : 0);
      p.sourceLaneConstant.push_back(map.hasOutDim(Dim::Lane) ? at[map.outIndex(Dim::Lane)] : 0);
    }
    if (identityOn(Dim::Lane) && zeroInto(Dim::Register, Dim::Lane)) {
      bool none = registers == src.inDimSize(Dim::Register);
      for (int r = 0; r < registers; ++r) none &= p.sourceRegister[r] == unsigned(r);
      p.kind = none ? ConversionPlan::None : ConversionPlan::RegisterPermutation;
      return p;
    }
  }
  bool shuffles = !p.sourceRegister.empty();

  // Through shared memory.
  int bytes = std::max(1, elementBits / 8);
  unsigned limit = llvm::Log2_32(std::max(1, m.maxAccessBytes / bytes));
  LinearLayout s = src;
  for (auto d : {Dim::Register, Dim::Lane, Dim::Warp}) s = s.removeZeroBases(d);
  Flat a = flatten(src.removeZeroBases(Dim::Register)), b = flatten(dst.removeZeroBases(Dim::Register));
  llvm::SmallVector<llvm::SmallVector<uint64_t, 4>, 3> candidates(3);
  for (auto c : a.registers)
    if (llvm::is_contained(b.registers, c) && candidates[0].size() < limit) candidates[0].push_back(c);
  candidates[1].append(a.registers.begin(), a.registers.begin() + std::min<size_t>(limit, a.registers.size()));
  candidates[2].append(b.registers.begin(), b.registers.begin() + std::min<size_t>(limit, b.registers.size()));
  long best = -1;
  for (auto &v : candidates) {
    LinearLayout shared = chooseShared(src, dst, bytes, m, v);
    if (!shared.isInvertible()) continue;
    int wv, rv;
    auto [writes, wc] = sideCost(src, shared, bytes, m, wv);
    auto [reads, rc] = sideCost(dst, shared, bytes, m, rv);
    // Wavefronts of the memory, and issue slots.
    auto waves = [&](int n, int vec, int conflicts) {
      return long(n) * (std::max(1, vec * bytes / m.bankBytes) * conflicts + 2);
    };
    long cost = waves(writes, wv, wc) + waves(reads, rv, rc);
    if (best >= 0 && cost >= best) continue;
    best = cost;
    p.shared = shared;
    p.writeVector = wv, p.readVector = rv, p.writeConflicts = wc, p.readConflicts = rc;
  }
  if (best < 0) return absl::InternalError("no shared layout found");
  // A shuffle moves one word of one register; memory costs its accesses and a barrier.
  long shuffleCost = long(registers) * std::max(1, bytes / 4) * 6;
  if (shuffles && shuffleCost <= best + 16) {
    p.kind = ConversionPlan::WarpShuffle;
    return p;
  }
  p.kind = ConversionPlan::SharedMemory;
  p.scratchBytes = (int64_t(1) << src.totalOutBits()) * bytes;
  return p;
}

absl::StatusOr<ConversionPlan> planConversionOf(const Encoding *src, const Encoding *dst, llvm::ArrayRef<int64_t> shape,
                                                int bits, const MemoryModel &m) {
  auto a = src->toLinearLayout(shape), b = dst->toLinearLayout(shape);
  if (!a.ok()) return a.status();
  if (!b.ok()) return b.status();
  return planConversion(*a, *b, bits, m);
}

} // namespace tessera::layouts
