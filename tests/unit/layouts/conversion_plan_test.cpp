// Conversion plans, carried out on simulated registers, lanes, warps and shared memory, must bring every element where
// the destination layout wants it; and the layouts chosen for shared memory must be free of bank conflicts where that
// is possible.
#include "generated.h"
#include "layouts/conversion_plan.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

namespace tessera::layouts::test {
namespace {

using Kind = ConversionPlan::Kind;
constexpr Dim R = Dim::Register, L = Dim::Lane, W = Dim::Warp;

/// The element that a place holds, as a flat number.
int64_t elementAt(const LinearLayout &l, int r, int lane, int w) {
  auto x = l.apply({{R, r}, {L, lane}, {W, w}});
  int64_t v = 0;
  for (unsigned d = 0; d < l.numOutDims(); ++d) v = v * l.outDimSize(tensorDim(d)) + x[l.outIndex(tensorDim(d))];
  return v;
}
unsigned select(llvm::ArrayRef<unsigned> columns, unsigned lane) {
  unsigned v = 0;
  for (unsigned b = 0; b < columns.size(); ++b)
    if (lane >> b & 1) v ^= columns[b];
  return v;
}

struct Counts {
  int none = 0, registers = 0, shuffles = 0, selects = 0, memory = 0;
};

void checkShuffle(const ConversionPlan &p, const LinearLayout &src, const LinearLayout &dst) {
  int srcRegs = src.inDimSize(R), dstRegs = dst.inDimSize(R), lanes = dst.inDimSize(L);
  ASSERT_EQ(int(p.sourceRegister.size()), dstRegs);
  ASSERT_EQ(int(p.sourceLaneConstant.size()), dstRegs);
  for (int w = 0; w < dst.inDimSize(W); ++w) {
    std::vector<std::vector<int64_t>> sent(lanes), got(lanes);
    for (int l = 0; l < lanes; ++l)
      for (int i = 0; i < srcRegs; ++i) {
        unsigned from = i ^ select(p.sendSelect, l);
        ASSERT_LT(from, unsigned(srcRegs));
        sent[l].push_back(elementAt(src, from, l, w));
      }
    for (int l = 0; l < lanes; ++l)
      for (int k = 0; k < dstRegs; ++k) {
        unsigned from = select(p.laneOf, l) ^ p.sourceLaneConstant[k];
        ASSERT_LT(from, unsigned(lanes));
        ASSERT_LT(p.sourceRegister[k], unsigned(srcRegs));
        if (p.staysInLane(k)) ASSERT_EQ(from, unsigned(l));
        got[l].push_back(sent[from][p.sourceRegister[k]]);
      }
    for (int l = 0; l < lanes; ++l)
      for (int k = 0; k < dstRegs; ++k)
        ASSERT_EQ(got[l][k ^ select(p.receiveSelect, l)], elementAt(dst, k, l, w)) << src.str() << "\n" << dst.str();
  }
}

/// Walks one side's accesses of a repetition and checks their form: aligned, consecutive, as many conflicts as the plan
/// says.
template <class F>
void forEachAccess(const ConversionPlan &p, const LinearLayout &side, int vector,
                   llvm::ArrayRef<unsigned> vectorRegisters, int conflicts, int bytes, const MemoryModel &m,
                   bool gather, int repetition, F f) {
  LinearLayout toOffset = side.invertAndCompose(p.shared);
  auto offsetOf = [&](int r, int l, int w) {
    return toOffset.apply({{R, r}, {L, l}, {W, w}})[toOffset.outIndex(Dim::Offset)];
  };
  ASSERT_EQ(1 << vectorRegisters.size(), vector);
  ASSERT_LE(vector * bytes, std::max(bytes, m.maxAccessBytes));
  int64_t perRepetition = p.scratchBytes / bytes;
  std::vector<bool> done(side.inDimSize(R));
  for (int r = 0; r < side.inDimSize(R); ++r) {
    // The lowest register of a group whose offset is aligned.
    if (done[r]) continue;
    std::vector<unsigned> group;
    for (int e = 0; e < vector; ++e) group.push_back(r ^ select(vectorRegisters, e));
    for (auto g : group) done[g] = true;
    // Without gathering a vector is registers in a row, in the order of their offsets.
    if (!gather)
      for (int e = 0; e < vector; ++e) ASSERT_EQ(offsetOf(r + e, 0, 0), offsetOf(r, 0, 0) + e);
    for (int w = 0; w < side.inDimSize(W); ++w) {
      std::vector<int64_t> laneOffsets;
      for (int l = 0; l < side.inDimSize(L); ++l) {
        std::map<int64_t, unsigned> byOffset;
        for (auto g : group) byOffset[offsetOf(g, l, w)] = g;
        int64_t base = byOffset.begin()->first, next = base;
        ASSERT_EQ(base % vector, 0);
        ASSERT_EQ(int(byOffset.size()), vector);
        for (auto &[o, g] : byOffset) ASSERT_EQ(o, next++);
        laneOffsets.push_back(base * bytes);
        if (base / perRepetition == repetition)
          for (auto &[o, g] : byOffset) f(o % perRepetition, int(g), l, w);
      }
      ASSERT_EQ(bankConflicts(laneOffsets, vector * bytes, m), conflicts);
    }
  }
}

void checkMemory(const ConversionPlan &p, const LinearLayout &src, const LinearLayout &dst, int bytes,
                 const MemoryModel &m, bool gather) {
  ASSERT_TRUE(p.shared.isInvertible());
  auto free = src.freeVariableMasks();
  std::vector<bool> read(dst.inDimSize(R) * dst.inDimSize(L) * dst.inDimSize(W));
  for (int repetition = 0; repetition < p.repetitions; ++repetition) {
    std::map<int64_t, int64_t> memory;
    forEachAccess(p, src, p.writeVector, p.writeVectorRegisters, p.writeConflicts, bytes, m, gather, repetition,
                  [&](int64_t offset, int r, int l, int w) {
                    if ((l & valueOf(free, L)) || (w & valueOf(free, W))) return; // a copy
                    ASSERT_LT(offset * bytes, p.scratchBytes);
                    auto [it, first] = memory.try_emplace(offset, elementAt(src, r, l, w));
                    ASSERT_EQ(it->second, elementAt(src, r, l, w));
                  });
    forEachAccess(p, dst, p.readVector, p.readVectorRegisters, p.readConflicts, bytes, m, gather, repetition,
                  [&](int64_t offset, int r, int l, int w) {
                    ASSERT_TRUE(memory.count(offset)) << "read of memory that was not written";
                    ASSERT_EQ(memory[offset], elementAt(dst, r, l, w));
                    read[(r * dst.inDimSize(L) + l) * dst.inDimSize(W) + w] = true;
                  });
  }
  ASSERT_TRUE(llvm::all_of(read, [](bool b) { return b; }));
}

void check(const LinearLayout &src, const LinearLayout &dst, int bits, const MemoryModel &m, const PlanOptions &options,
           Counts &counts) {
  auto plan = planConversion(src, dst, bits, m, options);
  ASSERT_TRUE(plan.ok()) << plan.status() << src.str() << "\n" << dst.str();
  auto &p = *plan;
  int bytes = std::max(1, bits / 8);
  switch (p.kind) {
  case Kind::None:
    ++counts.none;
    ASSERT_EQ(src.inDimSize(R), dst.inDimSize(R));
    for (int w = 0; w < dst.inDimSize(W); ++w)
      for (int l = 0; l < dst.inDimSize(L); ++l)
        for (int r = 0; r < dst.inDimSize(R); ++r) ASSERT_EQ(elementAt(src, r, l, w), elementAt(dst, r, l, w));
    break;
  case Kind::RegisterPermutation:
    ++counts.registers;
    for (int w = 0; w < dst.inDimSize(W); ++w)
      for (int l = 0; l < dst.inDimSize(L); ++l)
        for (int r = 0; r < dst.inDimSize(R); ++r)
          ASSERT_EQ(elementAt(src, p.sourceRegister[r], l, w), elementAt(dst, r, l, w));
    break;
  case Kind::WarpShuffle:
    ++(p.hasSelects() ? counts.selects : counts.shuffles);
    if (!options.laneSelects) ASSERT_TRUE(!p.hasSelects() || p.readsAtDistances(options.selectDistances));
    checkShuffle(p, src, dst);
    break;
  case Kind::SharedMemory:
    ++counts.memory;
    checkMemory(p, src, dst, bytes, m, options.gatherRegisters);
    if (options.maxScratchBytes && p.repetitions == 1)
      ASSERT_LE(p.scratchBytes, int64_t(src.outDimSize(Dim::Dim0)) * src.outDimSize(Dim::Dim1) * bytes);
    break;
  }
}

TEST(ConversionPlan, BlockedToBlocked) {
  Generator g(40);
  EncodingPool pool;
  Counts counts;
  for (int n = 0; n < 250; ++n) {
    int lanes = g.below(2) ? 32 : 64, warps = g.powerOfTwo(2);
    auto shape = g.shape(2, 11);
    auto src = *g.blocked(pool, 2, lanes, warps)->toLinearLayout(shape),
         dst = *g.blocked(pool, 2, lanes, warps)->toLinearLayout(shape);
    check(src, dst, 8 << g.below(4), {}, {g.below(2) == 1, g.below(2) == 1, 0}, counts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(counts.memory, 100);
}

/// A bit of the lane and one of the register change places, alone or with others: lanes read lanes at a distance, and
/// choose which register they send and where they put what they get.
TEST(ConversionPlan, BitsOfLaneAndRegisterChangePlaces) {
  Generator g(43);
  Counts counts;
  PlanOptions options;
  options.selectDistances = 31;
  for (int n = 0; n < 200; ++n) {
    unsigned lanes = 5 + g.below(2), regs = 1 + g.below(4);
    llvm::SmallVector<LinearLayout::OutDim, 4> outs = {{Dim::Dim0, 1 << regs}, {Dim::Dim1, 1 << lanes}};
    auto src = g.bijective({{R, regs}, {L, lanes}, {W, 0}}, outs);
    llvm::SmallVector<LinearLayout::InDim, 4> ins(src.ins());
    for (unsigned swaps = 1 + g.below(2); swaps; --swaps)
      std::swap(ins[0].bases[g.below(regs)], ins[1].bases[g.below(lanes)]);
    check(src, LinearLayout(ins, outs), 32, {}, options, counts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(counts.selects, 100);
}

/// Within a warp: nothing but registers and lanes differs, with copies on either side.
TEST(ConversionPlan, WithinAWarp) {
  Generator g(41);
  Counts counts;
  for (int n = 0; n < 600; ++n) {
    unsigned lanes = 5 + g.below(2), regs = g.below(5), d0 = g.below(lanes + regs + 1);
    llvm::SmallVector<LinearLayout::OutDim, 4> outs = {{Dim::Dim0, 1 << d0}, {Dim::Dim1, 1 << (lanes + regs - d0)}};
    auto src = g.bijective({{R, regs}, {L, lanes}, {W, 0}}, outs),
         dst = g.bijective({{R, regs}, {L, lanes}, {W, 0}}, outs);
    // Copies: some bits of the input mean nothing.
    auto withCopies = [&](LinearLayout l) {
      llvm::SmallVector<LinearLayout::InDim, 4> ins(l.ins());
      if (g.below(3) == 0) ins[0].bases.insert(ins[0].bases.begin() + g.below(ins[0].bases.size() + 1), Basis{0, 0});
      return LinearLayout(ins, llvm::SmallVector<LinearLayout::OutDim, 4>(l.outs()));
    };
    check(withCopies(src), withCopies(dst), 32, {}, {g.below(4) != 0, true, 0}, counts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(counts.selects, 100);
  EXPECT_GT(counts.memory, 50);
}

TEST(ConversionPlan, WithinAWarpWithIdleLanes) {
  // Tensors smaller than a warp: lanes hold copies in different ways.
  Generator g(42);
  EncodingPool pool;
  Counts counts;
  for (int n = 0; n < 400; ++n) {
    int lanes = g.below(2) ? 32 : 64;
    auto shape = g.shape(2, 7);
    auto src = *g.blocked(pool, 2, lanes, 1)->toLinearLayout(shape),
         dst = *g.blocked(pool, 2, lanes, 1)->toLinearLayout(shape);
    check(src, dst, 16 << g.below(3), {}, PlanOptions::all(), counts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(counts.shuffles, 50);
  EXPECT_GT(counts.selects, 10);
}

TEST(ConversionPlan, MatrixAndSliceLayouts) {
  Generator g(43);
  EncodingPool pool;
  Counts counts;
  for (int n = 0; n < 120; ++n) {
    bool amd = g.below(2);
    int lanes = amd ? 64 : 32;
    llvm::SmallVector<const Encoding *, 8> all;
    for (int k = 0; k < 3; ++k) all.push_back(g.blocked(pool, 2, lanes, 4));
    const Encoding *mma =
        amd ? (const Encoding *)*pool.getAmdMfma({3, {2, 2}, {32, 32, 8}, g.below(2) == 1, {}, {}, 32})
            : *pool.getNvidiaMma({2, 0, {2, 2}, {16, 8}, {}});
    all.push_back(mma);
    all.push_back(*pool.getDotOperand(0, mma, 4));
    all.push_back(*pool.getDotOperand(1, mma, 4));
    all.push_back(*pool.getSlice(g.below(3), g.blocked(pool, 3, lanes, 4)));
    auto *a = all[g.below(all.size())], *b = all[g.below(all.size())];
    llvm::SmallVector<int64_t, 2> shape = {64, 1 << (3 + g.below(4))};
    check(*a->toLinearLayout(shape), *b->toLinearLayout(shape), 16, {amd && g.below(2) ? 64 : 32, 4, 16},
          PlanOptions::all(), counts);
    if (HasFatalFailure()) return;
  }
}

TEST(ConversionPlan, OfSmallScratchIsDoneInRepetitions) {
  Generator g(44);
  EncodingPool pool;
  Counts counts;
  int inRepetitions = 0;
  for (int n = 0; n < 150; ++n) {
    auto shape = g.shape(2, 11);
    auto *a = g.blocked(pool, 2, 32, 4), *b = g.blocked(pool, 2, 32, 4);
    auto src = *a->toLinearLayout(shape), dst = *b->toLinearLayout(shape);
    check(src, dst, 32, {}, {false, true, 1024}, counts);
    if (HasFatalFailure()) return;
    auto p = *planConversion(src, dst, 32, {}, {false, true, 1024});
    inRepetitions += p.kind == Kind::SharedMemory && p.repetitions > 1;
  }
  EXPECT_GT(inRepetitions, 10);
}

/// Where one instruction reads two places of a lane, the places of lower registers come first: the nearest two fill
/// registers that follow each other.
TEST(ConversionPlan, PairedReadsAreInOrderOfRegisters) {
  EncodingPool pool;
  auto *rows = *pool.getBlocked({{1, 8}, {2, 16}, {8, 1}, {1, 0}, {}});
  auto *mma = *pool.getAmdWmma({1, true, AmdWmmaParams::tilesOf({8, 1}), {}, {16, 16, 16}});
  auto *operand = *pool.getDotOperand(1, mma, 16);
  for (bool pairs : {false, true}) {
    MemoryModel m;
    m.pairsReads = pairs;
    auto plan = planConversionOf(rows, operand, {64, 128}, 16, m);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->readVector, 4);
    auto map = operand->layoutOf({64, 128})->invertAndCompose(plan->shared);
    llvm::SmallVector<int32_t, 8> places; // of the operand's steps of four along K
    for (unsigned bit = 2; bit < 4; ++bit) places.push_back(map.basis(R, bit)[0]);
    EXPECT_EQ(llvm::is_sorted(places), pairs);
  }
}

/// By how many different distances bits of a thread's number move to bits of its offset, if two of these are exchanged.
int distancesOf(const LinearLayout &side, const LinearLayout &shared, int first = 0, int second = 0) {
  auto map = side.invertAndCompose(shared);
  std::set<int> distances;
  int bitOfThread = 0;
  for (Dim d : {L, W})
    for (unsigned bit = 0; bit < map.inDimBits(d); ++bit, ++bitOfThread)
      for (int to = 0; to < 32; ++to)
        if (map.basis(d, bit)[0] >> to & 1)
          distances.insert((to == first ? second : to == second ? first : to) - bitOfThread);
  return distances.size();
}

/// Each distance takes a mask and a shift. What is above a row of banks is in an order that no exchange of two bits
/// improves, unless the source had more, or one of them is a register of the destination, which has its place.
TEST(ConversionPlan, OrdersSegmentsByTheBitsOfThreads) {
  EncodingPool pool;
  auto *mfma = *pool.getAmdMfma({3, {4, 1, 1}, {32, 32, 8}, true, {}, {}, 32});
  auto *wide = *pool.getAmdMfma({3, {2, 2}, {32, 32, 8}, true, {}, {}, 32});
  struct Case {
    const Encoding *from, *to;
    llvm::SmallVector<int64_t, 3> shape;
  };
  const Case cases[] = {
      {*pool.getBlocked({{1, 1, 8}, {1, 16, 4}, {4, 1, 1}, {2, 1, 0}, {}}),
       *pool.getDotOperand(0, mfma, 8),
       {4, 32, 32}},
      {*pool.getBlocked({{1, 1, 8}, {1, 16, 4}, {2, 2, 1}, {2, 1, 0}, {}}),
       *pool.getDotOperand(0, mfma, 8),
       {4, 32, 32}},
      {*pool.getBlocked({{1, 8}, {8, 8}, {4, 1}, {1, 0}, {}}), *pool.getDotOperand(0, wide, 8), {128, 64}},
      {*pool.getBlocked({{1, 8}, {4, 16}, {4, 1}, {1, 0}, {}}),
       *pool.getBlocked({{8, 1}, {16, 4}, {1, 4}, {0, 1}, {}}),
       {128, 128}},
  };
  for (auto &[from, to, shape] : cases) {
    MemoryModel m;
    auto src = *from->layoutOf(shape), dst = *to->layoutOf(shape);
    auto plan = planConversion(src, dst, 16, m);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->kind, Kind::SharedMemory);
    const int ofSource = distancesOf(src, plan->shared), sum = ofSource + distancesOf(dst, plan->shared);
    int registers = 0;
    auto map = dst.invertAndCompose(plan->shared);
    for (unsigned bit = 0; bit < map.inDimBits(R); ++bit) registers |= map.basis(R, bit)[0];
    const int rowBits = 6, bits = int(plan->shared.inDimBits(Dim::Offset)); // 32 banks of two elements
    for (int first = rowBits; first < bits; ++first)
      for (int second = rowBits; second < first; ++second) {
        if ((registers >> first | registers >> second) & 1) continue;
        int swapped = distancesOf(src, plan->shared, first, second);
        if (swapped <= ofSource) EXPECT_GE(swapped + distancesOf(dst, plan->shared, first, second), sum);
      }
  }
}

/// Rows of bytes that are stored by 8 bytes: both sides have so many in common, but the operand's fragments are of 16.
TEST(ConversionPlan, BytesAreReadWiderThanTheyAreWritten) {
  EncodingPool pool;
  auto *rows = *pool.getBlocked({{1, 8}, {4, 16}, {8, 1}, {1, 0}, {}});
  auto *mma = *pool.getAmdMfma({4, {2, 4}, {32, 32, 64}, true, {}, {}, 32});
  auto *operand = *pool.getDotOperand(0, mma, 16);
  for (bool widens : {false, true}) {
    MemoryModel m;
    m.banks = 64;
    m.widensReads = widens;
    auto plan = planConversionOf(rows, operand, {128, 128}, 8, m);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->writeVector, 8);
    EXPECT_EQ(plan->readVector, widens ? 16 : 8);
    EXPECT_EQ(plan->writeConflicts, 1);
    EXPECT_EQ(plan->readConflicts, 1);
    EXPECT_EQ(plan->instructions, widens ? 12 : 20);
  }
}

// ---- reads that transpose ----

/// What the instruction brings, by its definition, is what the map says, for all lanes of maps that have the form;
/// and the form is distinguished from others.
TEST(TransposedReads, BringWhatTheMapSays) {
  Generator g(44);
  int readable = 0;
  for (int n = 0; n < 800; ++n) {
    unsigned log = 2 + n % 2, count = 1u << log; // elements of a lane's 8 bytes
    int elementBits = int(64 >> log);
    unsigned lanes = 4 + g.below(3), registers = log + g.below(3), warps = g.below(3);
    // Offsets 1, 2 (and 4) to the first lanes, the others to anyone; now and then two places exchanged, or a copy.
    llvm::SmallVector<int32_t, 16> offsets;
    for (unsigned bit = log; bit < lanes + registers + warps; ++bit) offsets.push_back(1 << bit);
    for (unsigned i = offsets.size(); i > 1; --i) std::swap(offsets[i - 1], offsets[g.below(i)]);
    for (unsigned bit = log; bit-- > 0;) offsets.insert(offsets.begin(), 1 << bit);
    bool broken = g.below(4) == 0;
    if (broken) std::swap(offsets[g.below(log)], offsets[log + g.below(offsets.size() - log)]);
    LinearLayout::InDim in[3] = {{R, {}}, {L, {}}, {W, {}}};
    unsigned at = 0;
    for (auto [d, bits] : {std::pair{1, lanes}, {0, registers}, {2, warps}})
      for (unsigned bit = 0; bit < bits; ++bit) in[d].bases.push_back({offsets[at++]});
    if (g.below(3) == 0) in[0].bases.insert(in[0].bases.begin() + g.below(registers + 1), {0});
    LinearLayout map({in[0], in[1], in[2]}, {{Dim::Offset, 1 << (lanes + registers + warps)}});
    ASSERT_EQ(canReadTransposed(map, elementBits), !broken) << map.str();
    if (broken) continue;
    ++readable;
    LinearLayout addresses = *transposedReadAddresses(map, elementBits);
    llvm::SmallVector<int, 8> bits;
    for (unsigned bit = 0; bit < map.inDimBits(R) && bits.size() < log; ++bit)
      if (map.basis(R, bit)[0]) bits.push_back(bit);
    auto registerOf = [&](int r, int j) {
      for (unsigned k = 0; k < log; ++k) r |= (j >> k & 1) << bits[k];
      return r;
    };
    auto offset = [](const LinearLayout &l, int r, int lane, int w) { return l.apply({{R, r}, {L, lane}, {W, w}})[0]; };
    for (int r = 0; r < map.inDimSize(R); ++r) {
      if (llvm::any_of(bits, [&](int bit) { return r >> bit & 1; })) continue;
      for (int w = 0; w < map.inDimSize(W); ++w)
        for (int l = 0; l < map.inDimSize(L); ++l) {
          ASSERT_EQ(offset(addresses, r, l, w) % count, 0);
          for (int j = 0; j < int(count); ++j)
            ASSERT_EQ(offset(addresses, r, (l & ~15) + 16 / count * j + l % 16 / count, w) + int(l % count),
                      offset(map, registerOf(r, j), l, w))
                << map.str();
        }
    }
  }
  EXPECT_GT(readable, 400);
}

TEST(TransposedReads, AreOfHalvesAndBytes) {
  LinearLayout::InDim in[2] = {{R, {{16}, {32}, {64}}}, {L, {{1}, {2}, {4}, {8}}}};
  LinearLayout map({in[0], in[1]}, {{Dim::Offset, 128}});
  for (int bits : {4, 8, 16, 32}) {
    EXPECT_EQ(canReadTransposed(map, bits), bits == 8 || bits == 16);
    EXPECT_EQ(transposedReadAddresses(map, bits).has_value(), bits == 8 || bits == 16);
  }
}

// ---- quality --------------------------------------------------------------------------------------------------------

TEST(ConversionPlan, TransposesHaveNoBankConflicts) {
  EncodingPool pool;
  struct Case {
    const char *name;
    BlockedParams src, dst;
    llvm::SmallVector<int64_t, 2> shape;
    int bits;
    int write, read;             // elements per access, of registers in order
    int gatherWrite, gatherRead; // of any registers
  };
  BlockedParams row1{{1, 1}, {1, 32}, {4, 1}, {1, 0}, {}}, column1{{1, 1}, {32, 1}, {1, 4}, {0, 1}, {}};
  BlockedParams row4{{1, 4}, {4, 8}, {4, 1}, {1, 0}, {}}, column4{{4, 1}, {8, 4}, {1, 4}, {0, 1}, {}};
  BlockedParams row8{{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}}, column8{{8, 1}, {8, 4}, {1, 4}, {0, 1}, {}};
  BlockedParams row16{{1, 16}, {4, 8}, {4, 1}, {1, 0}, {}}, column16{{16, 1}, {8, 4}, {1, 4}, {0, 1}, {}};
  Case cases[] = {
      {"f32 scalar", row1, column1, {64, 64}, 32, 1, 1, 4, 4},
      {"f64 scalar", row1, column1, {64, 64}, 64, 1, 1, 2, 2},
      {"f32 by rows to by columns", row4, column4, {64, 64}, 32, 0, 0, 4, 4},
      {"f16 by rows to by columns", row8, column8, {64, 64}, 16, 0, 0, 0, 0},
      {"i8 by rows to by columns", row16, column16, {128, 128}, 8, 0, 0, 0, 0},
      {"f16 rows of other threads", row8, {{1, 8}, {16, 2}, {4, 1}, {1, 0}, {}}, {64, 64}, 16, 8, 8, 8, 8},
      {"f32 rows of other warps",
       {{1, 4}, {8, 4}, {4, 1}, {1, 0}, {}},
       {{1, 4}, {8, 4}, {1, 4}, {1, 0}, {}},
       {128, 64},
       32,
       4,
       4,
       4,
       4},
  };
  for (bool gather : {false, true})
    for (auto &c : cases) {
      SCOPED_TRACE(std::string(c.name) + (gather ? ", gathering" : ""));
      auto src = *(*pool.getBlocked(c.src))->toLinearLayout(c.shape),
           dst = *(*pool.getBlocked(c.dst))->toLinearLayout(c.shape);
      auto p = *planConversion(src, dst, c.bits, {}, {false, gather, 0});
      EXPECT_EQ(p.kind, Kind::SharedMemory);
      EXPECT_EQ(p.writeConflicts, 1);
      EXPECT_EQ(p.readConflicts, 1);
      if (int v = gather ? c.gatherWrite : c.write) EXPECT_EQ(p.writeVector, v);
      if (int v = gather ? c.gatherRead : c.read) EXPECT_EQ(p.readVector, v);
      EXPECT_EQ(p.scratchBytes, c.shape[0] * c.shape[1] * c.bits / 8);
      if (gather) continue;
      for (unsigned i = 0; i < p.writeVectorRegisters.size(); ++i) EXPECT_EQ(p.writeVectorRegisters[i], 1u << i);
      for (unsigned i = 0; i < p.readVectorRegisters.size(); ++i) EXPECT_EQ(p.readVectorRegisters[i], 1u << i);
    }
}

TEST(ConversionPlan, ScalarAccessesAreConflictFreeWheneverPossible) {
  // With vectors of one word, no conflict is ever needed: whatever 32 lanes of each side span, a common complement
  // exists.
  Generator g(45);
  EncodingPool pool;
  for (int n = 0; n < 200; ++n) {
    llvm::SmallVector<int64_t, 2> shape = {64, 64};
    auto src = *g.blocked(pool, 2, 32, 4)->toLinearLayout(shape),
         dst = *g.blocked(pool, 2, 32, 4)->toLinearLayout(shape);
    auto p = *planConversion(src, dst, 32, {32, 4, 4});
    if (p.kind != Kind::SharedMemory) continue;
    EXPECT_EQ(p.writeConflicts, 1) << src.str() << dst.str();
    EXPECT_EQ(p.readConflicts, 1) << src.str() << dst.str();
  }
}

TEST(ConversionPlan, KindsOfKnownConversions) {
  EncodingPool pool;
  auto layout = [&](BlockedParams p, llvm::ArrayRef<int64_t> shape) {
    return *(*pool.getBlocked(p))->toLinearLayout(shape);
  };
  auto kind = [&](const LinearLayout &a, const LinearLayout &b, bool selects = false) {
    return planConversion(a, b, 32, {}, {selects, selects, 0})->kind;
  };
  auto rows = layout({{1, 4}, {4, 8}, {4, 1}, {1, 0}, {}}, {16, 32});
  EXPECT_EQ(kind(rows, rows), Kind::None);
  // The same elements, registers listed in another order.
  EXPECT_EQ(kind(layout({{2, 2}, {4, 8}, {4, 1}, {1, 0}, {}}, {32, 16}),
                 layout({{2, 2}, {8, 4}, {4, 1}, {0, 1}, {}}, {32, 16})),
            Kind::SharedMemory);
  EXPECT_EQ(kind(layout({{2, 2}, {32, 1}, {4, 1}, {1, 0}, {}}, {256, 2}),
                 layout({{2, 2}, {32, 1}, {4, 1}, {0, 1}, {}}, {256, 2})),
            Kind::RegisterPermutation);
  // A broadcast dimension: lanes that hold copies give to others.
  EXPECT_EQ(kind(layout({{1}, {32}, {1}, {0}, {}}, {16}), layout({{1}, {32}, {1}, {0}, {}}, {16})), Kind::None);
  // Lanes and registers exchanged within a warp: by selects, or through memory.
  auto a = layout({{1, 2}, {32, 1}, {1, 1}, {1, 0}, {}}, {32, 2}),
       b = layout({{2, 1}, {16, 2}, {1, 1}, {1, 0}, {}}, {32, 2});
  EXPECT_EQ(kind(a, b, true), Kind::WarpShuffle);
  EXPECT_EQ(kind(a, b, false), Kind::SharedMemory);
  // Half of the shuffles of such an exchange stay in their lane when lanes keep their numbers.
  auto swap = layout({{1, 2}, {16, 2}, {1, 1}, {1, 0}, {}}, {32, 4}),
       swapped = LinearLayout(
           {{R, {{0, 2}, {16, 0}}}, {L, {{0, 1}, {1, 0}, {2, 0}, {4, 0}, {8, 0}}}, {W, {}}, {Dim::Block, {}}},
           {{Dim::Dim0, 32}, {Dim::Dim1, 4}});
  auto p = *planConversion(swap, swapped, 32, {}, PlanOptions::all());
  ASSERT_EQ(p.kind, Kind::WarpShuffle);
  int stays = 0;
  for (unsigned k = 0; k < p.sourceRegister.size(); ++k) stays += p.staysInLane(k);
  EXPECT_EQ(stays, int(p.sourceRegister.size()) / 2);
}

TEST(ConversionPlan, BlocksOfAClusterKeepToThemselves) {
  EncodingPool pool;
  BlockedParams a{{1, 1}, {1, 32}, {4, 1}, {1, 0}, {}}, b{{1, 1}, {32, 1}, {1, 4}, {0, 1}, {}};
  a.cta.bases = b.cta.bases = {{0, 1}};
  auto plan = *planConversionOf(*pool.getBlocked(a), *pool.getBlocked(b), {64, 128}, 32, {});
  EXPECT_EQ(plan.kind, Kind::SharedMemory);
  EXPECT_EQ(plan.scratchBytes, 64 * 64 * 4); // a block's part
  EXPECT_TRUE(plan.shared.isInvertible());
  EXPECT_EQ(plan.shared.inDimBits(Dim::Block), 1u);
  b.cta.bases = {{1, 0}};
  EXPECT_FALSE(planConversionOf(*pool.getBlocked(a), *pool.getBlocked(b), {64, 128}, 32, {}).ok());
}

TEST(BankConflicts, OfKnownPatterns) {
  auto lanes = [](int n, int64_t stride) {
    std::vector<int64_t> v;
    for (int i = 0; i < n; ++i) v.push_back(i * stride);
    return v;
  };
  EXPECT_EQ(bankConflicts(lanes(32, 4), 4, {}), 1);
  EXPECT_EQ(bankConflicts(lanes(32, 8), 4, {}), 2);
  EXPECT_EQ(bankConflicts(lanes(32, 128), 4, {}), 32);
  EXPECT_EQ(bankConflicts(lanes(32, 132), 4, {}), 1);
  EXPECT_EQ(bankConflicts(lanes(32, 0), 4, {}), 1); // one word for all
  EXPECT_EQ(bankConflicts(lanes(32, 2), 2, {}), 1); // two lanes a word
  EXPECT_EQ(bankConflicts(lanes(32, 16), 16, {}), 1);
  EXPECT_EQ(countSharedPasses(lanes(32, 16), 16, {}).actual, 4);
  EXPECT_EQ(bankConflicts(lanes(32, 128), 16, {}), 8);
  EXPECT_EQ(countSharedPasses(lanes(64, 4), 4, {}).actual, 2);
  EXPECT_EQ(countSharedPasses(lanes(64, 4), 4, {64, 4, 16}).actual, 1);
}

} // namespace
} // namespace tessera::layouts::test
