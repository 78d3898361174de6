// wgmma as the manual has it (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions":
// "Register Fragments and Shared Memory Matrix Layouts", "Matrix Descriptor Format", "Canonical Layouts",
// "wgmma.mma_async").
//
// A warp computes its 16 rows when it issues the instruction, and keeps them aside until it waits for their group;
// until then the accumulator's rows hold a pattern that is no result, and whoever reads them is reported. Copies of a
// row on the way (phis, operands that an asm statement ties to a result) are copies of the promise. Issuing marks the
// 16-byte chunks of shared memory that are read as in use, until the wait: a write there is a race. What was written
// to them by ordinary stores must have come through fence.proxy.async: of the writer and then a barrier, or a barrier
// and then of the reader (PTX ISA, "Memory Consistency Model: Causality Order", proxy-preserved base causality
// order). cp.async needs no fence. The four warps of a warpgroup must issue the same instructions with the same
// descriptors.
#include "runtime/emulator/warpgroup.h"
#include "runtime/emulator/matrix_descriptor.h"
#include "runtime/emulator/races.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {
using namespace llvm;

namespace {

constexpr uint32_t kInFlightPattern = 0xffffdead; // NaN as f32 and in both halves
constexpr unsigned kWarps = 4;                    // of a warpgroup

WarpgroupState &stateOf(Warp &w) {
  if (!w.warpgroup) w.warpgroup = std::make_unique<WarpgroupState>();
  return *w.warpgroup;
}

// ---- order ----

} // namespace

bool fencedSince(Warp &w, const Mark &m) {
  Block &b = *w.block;
  if (m.thread >= b.copyUnit()) return true;
  const Access *a = w.program->instructions[m.site].access;
  if (a && a->asynchronous) return true;
  bool own = m.thread / w.lanes == w.index;
  const Warp &writer = b.warps[m.thread / w.lanes];
  // The writer's first fence after it; it may have gone on, and fenced later writes, since the barrier that matters.
  auto f = std::upper_bound(writer.fences.begin(), writer.fences.end(), std::pair(m.stamp, ~uint64_t(0)));
  while (f != writer.fences.end() && !(f->second >> (m.thread % w.lanes) & 1)) ++f;
  if (f != writer.fences.end() && (f->first <= b.lastBarrier || own || w.knows(m.thread, f->first))) return true;
  bool fenced = true, knew = m.thread < w.knownAtFence.size() && m.stamp <= w.knownAtFence[m.thread];
  for (unsigned lane = 0; lane < w.lanes; ++lane)
    fenced &= w.proxyFences[lane].stamp > m.stamp && (w.proxyFences[lane].barrier >= m.stamp || own || knew);
  return fenced;
}

bool mayReadAsynchronously(Warp &w, const Instruction &i, uint32_t offset, const char *who) {
  Block &b = *w.block;
  Launch &l = *b.launch;
  if (l.checks.undefined)
    for (unsigned k = 0; k < 16; ++k)
      if (b.defined[offset + k] != kArrived) {
        fail(w, &i, -1,
             b.defined[offset + k]
                 ? formatv("{1} reads byte {0} of shared memory, into which an asynchronous copy is in flight: nobody "
                           "has waited for it",
                           offset + k, who)
                 : formatv("{1} reads byte {0} of shared memory, which the block never wrote", offset + k, who));
        return false;
      }
  if (!l.checks.races) return true;
  const Mark *last = nullptr;
  for (unsigned k = 0; k < 16; ++k) {
    const Mark &m = b.cells[offset + k].write;
    if (!m.stamp || (last && last->stamp == m.stamp && last->thread == m.thread)) continue;
    last = &m;
    bool own = m.thread / w.lanes == w.index;
    bool ordered = m.stamp <= b.lastBarrier || (own && m.stamp <= w.lastSync) || w.knows(m.thread, m.stamp);
    if (!ordered) {
      fail(w, &i, -1,
           formatv("race: {3} reads byte {0} of shared memory, which {1} wrote{2}, and no barrier orders the two",
                   offset + k, threadName(w, m.thread), placeOf(w, m.site), who));
      return false;
    }
    if (!fencedSince(w, m)) {
      fail(w, &i, -1,
           formatv("{3} reads byte {0} of shared memory, which {1} wrote{2}: it reads by the asynchronous proxy, and "
                   "no fence.proxy.async lies between, together with a barrier",
                   offset + k, threadName(w, m.thread), placeOf(w, m.site), who));
      return false;
    }
  }
  return true;
}

namespace {

/// Host address of a chunk of an operand; null after an error.
const uint8_t *chunkAt(Warp &w, const Instruction &i, uint32_t address, bool isA, SmallVectorImpl<uint32_t> &chunks) {
  Block &b = *w.block;
  uint32_t offset = address - kSharedBase;
  if (address < kSharedBase || offset + 16 > b.shared.size()) {
    fail(w, &i, -1,
         formatv("out of bounds: wgmma reads 16 bytes of {0} at byte {1} of shared memory, which "
                 "has {2}",
                 isA ? "A" : "B", int64_t(address) - kSharedBase, b.shared.size()));
    return nullptr;
  }
  if (!mayReadAsynchronously(w, i, offset, "wgmma")) return nullptr;
  chunks.push_back(offset / 16);
  return b.shared.data() + offset;
}

// ---- the instruction ----

/// The other warps of the warpgroup must issue the same.
bool sameInWarpgroup(Warp &w, const Instruction &i, uint64_t a, uint64_t bDescriptor) {
  Block &b = *w.block;
  unsigned group = w.index / kWarps;
  if (kWarps * (group + 1) > b.warps.size()) {
    fail(w, &i, -1, formatv("wgmma needs a warpgroup of {0} warps; the block has {1}", kWarps, b.warps.size()));
    return false;
  }
  if (b.issued.size() <= group) b.issued.resize(b.warps.size() / kWarps);
  auto &log = b.issued[group];
  uint64_t at = stateOf(w).issued++;
  if (at == log.size()) {
    log.push_back({i.id, w.index, a, bDescriptor});
    return true;
  }
  const Issued &first = log[at];
  if (first.site != i.id) {
    fail(w, &i, -1,
         formatv("its warpgroup is not together: this is its wgmma number {0}, which warp {1} executes "
                 "at another place{2}",
                 at + 1, first.warp, placeOf(w, first.site)));
    return false;
  }
  if (first.a != a || first.b != bDescriptor) {
    fail(w, &i, -1,
         formatv("the matrix descriptor of {0} is {1:x} here, but {2:x} in warp {3} of the same warpgroup",
                 first.a != a ? "A" : "B", first.a != a ? a : bDescriptor, first.a != a ? first.a : first.b,
                 first.warp));
    return false;
  }
  return true;
}

bool uniform(Warp &w, const Instruction &i, Row r, unsigned bytes, uint64_t &value, const char *what) {
  value = loadRow(w, r, bytes, 0);
  for (unsigned l = 1; l < w.lanes; ++l)
    if (loadRow(w, r, bytes, l) != value)
      return fail(w, &i, int(l), formatv("{0} of wgmma is not the same in all threads of the warp", what)), false;
  return true;
}

/// The operands of one warp's part of a wgmma as numbers, and its sums. A: 16 rows of k; B: k rows of
/// n.
struct MultiplyBuffers {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> sums;
};

constexpr unsigned kRowsOfWarp = 16;

double readNumber(const uint8_t *p, MatrixElement e, unsigned index) {
  unsigned bits = elementBits(e);
  uint64_t v = 0;
  memcpy(&v, p + index * bits / 8, bits / 8);
  return matrixNumber(e, v);
}

/// A in registers ("Register Fragments"): word by word, eight rows below, then the second half of K.
void readAFromRegisters(Warp &w, const WarpgroupOperation &op, std::vector<double> &a) {
  unsigned bits = elementBits(op.a);
  unsigned perWord = 32 / bits;
  for (unsigned l = 0; l < w.lanes; ++l)
    for (unsigned e = 0; e < 4 * 32 / bits; ++e) {
      unsigned word = e / perWord;
      unsigned row = l / 4 + 8 * (word & 1);
      unsigned depth = (l % 4 + 4 * (word >> 1)) * perWord + e % perWord;
      uint64_t v = w.row<uint32_t>(op.aRows[word])[l] >> (e % perWord * bits);
      a[row * op.k + depth] = matrixNumber(op.a, bits == 32 ? v : v & ((1u << bits) - 1));
    }
}

/// This warp's rows of A in shared memory, by chunks of 16 bytes. False: a fault was reported.
bool readAFromShared(Warp &w, const Instruction &i, const WarpgroupOperation &op, const MatrixDescriptor &d,
                     SmallVectorImpl<uint32_t> &chunks, std::vector<double> &a) {
  unsigned perChunk = 128 / elementBits(op.a);
  unsigned k = op.k;
  unsigned firstRow = w.index % kWarps * kRowsOfWarp;
  if (!op.transposeA) {
    for (unsigned row = 0; row < kRowsOfWarp; ++row)
      for (unsigned chunk = 0; chunk < k / perChunk; ++chunk) {
        const uint8_t *p = chunkAt(w, i, d.alongK(firstRow + row, chunk), true, chunks);
        if (!p) return false;
        for (unsigned e = 0; e < perChunk; ++e) a[row * k + chunk * perChunk + e] = readNumber(p, op.a, e);
      }
    return true;
  }
  for (unsigned chunk = 0; chunk < kRowsOfWarp / perChunk; ++chunk)
    for (unsigned depth = 0; depth < k; ++depth) {
      const uint8_t *p = chunkAt(w, i, d.alongMn(firstRow / perChunk + chunk, depth), true, chunks);
      if (!p) return false;
      for (unsigned e = 0; e < perChunk; ++e) a[(chunk * perChunk + e) * k + depth] = readNumber(p, op.a, e);
    }
  return true;
}

bool readB(Warp &w, const Instruction &i, const WarpgroupOperation &op, const MatrixDescriptor &d,
           SmallVectorImpl<uint32_t> &chunks, std::vector<double> &b) {
  unsigned perChunk = 128 / elementBits(op.a); // B's elements are as wide as A's
  unsigned n = op.n;
  if (!op.transposeB) {
    for (unsigned column = 0; column < n; ++column)
      for (unsigned chunk = 0; chunk < op.k / perChunk; ++chunk) {
        const uint8_t *p = chunkAt(w, i, d.alongK(column, chunk), false, chunks);
        if (!p) return false;
        for (unsigned e = 0; e < perChunk; ++e) b[(chunk * perChunk + e) * n + column] = readNumber(p, op.b, e);
      }
    return true;
  }
  for (unsigned chunk = 0; chunk < n / perChunk; ++chunk)
    for (unsigned depth = 0; depth < op.k; ++depth) {
      const uint8_t *p = chunkAt(w, i, d.alongMn(chunk, depth), false, chunks);
      if (!p) return false;
      for (unsigned e = 0; e < perChunk; ++e) b[depth * n + chunk * perChunk + e] = readNumber(p, op.b, e);
    }
  return true;
}

void accumulateRows(const WarpgroupOperation &op, MultiplyBuffers &m) {
  unsigned n = op.n;
  unsigned k = op.k;
  bool negative = op.negateA != op.negateB;
  m.sums.assign(kRowsOfWarp * size_t(n), 0.0);
  for (unsigned row = 0; row < kRowsOfWarp; ++row) {
    double *s = &m.sums[row * n];
    for (unsigned depth = 0; depth < k; ++depth) {
      double x = negative ? -m.a[row * k + depth] : m.a[row * k + depth];
      const double *y = &m.b[depth * n];
      for (unsigned column = 0; column < n; ++column) s[column] += x * y[column];
    }
  }
}

/// A register of the accumulator as it is, or as the wgmma in flight that writes it will leave it.
void readAccumulator(Warp &w, const WarpgroupState &state, Row row, uint32_t *old) {
  memcpy(old, w.row<uint32_t>(row), sizeof(uint32_t) * w.lanes);
  auto it = state.promises.find(row);
  if (it == state.promises.end()) return;
  for (auto &p : it->second)
    for (auto &m : state.pending)
      if (m.number == p.operation)
        for (uint64_t lanes = p.lanes; lanes; lanes &= lanes - 1)
          old[std::countr_zero(lanes)] = m.results[p.index * w.lanes + unsigned(std::countr_zero(lanes))];
}

/// The element `sum` (plus that of the accumulator's register) at its place in a register.
uint32_t accumulatedWord(const WarpgroupOperation &op, double sum, bool accumulate, uint32_t old, unsigned element) {
  if (op.c == MatrixElement::S32) {
    int64_t whole = int64_t(sum) + (accumulate ? int64_t(int32_t(old)) : 0);
    if (op.saturate) whole = std::clamp<int64_t>(whole, INT32_MIN, INT32_MAX);
    return uint32_t(whole);
  }
  if (op.c == MatrixElement::F16) {
    if (accumulate) sum += matrixNumber(op.c, old >> (16 * element) & 0xffff);
    return uint32_t(roundTo(op.c, sum)) << (16 * element);
  }
  if (accumulate) sum += matrixNumber(op.c, old);
  return uint32_t(roundTo(op.c, sum));
}

void computeResults(Warp &w, const WarpgroupOperation &op, const WarpgroupState &state, const MultiplyBuffers &m,
                    bool accumulate, PendingMultiply &out) {
  unsigned perRegister = op.c == MatrixElement::F16 ? 2 : 1;
  out.results.assign(op.d.size() * w.lanes, 0);
  for (auto [r, row] : enumerate(op.d)) {
    uint32_t old[kMaxLanes];
    readAccumulator(w, state, row, old);
    for (unsigned l = 0; l < w.lanes; ++l) {
      uint32_t word = 0;
      for (unsigned e = 0; e < perRegister; ++e) {
        unsigned index = unsigned(r) * perRegister + e;
        unsigned at = (l / 4 + 8 * (index / 2 % 2)) * op.n + index / 4 * 8 + 2 * (l % 4) + index % 2;
        word |= accumulatedWord(op, m.sums[at], accumulate, old[l], e);
      }
      out.results[r * w.lanes + l] = word;
    }
  }
}

/// Computes the warp's part at once, but keeps the results apart until a wait: the registers hold a pattern meanwhile.
void multiply(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "wgmma")) return;
  countWarpOperation(w, i, SiteCounters::Kind::Matrix, "wgmma");
  const auto &op = *reinterpret_cast<const WarpgroupOperation *>(i.immediate);
  Block &block = *w.block;
  WarpgroupState &state = stateOf(w);
  uint64_t descriptorA = 0;
  uint64_t descriptorB = 0;
  uint64_t accumulate = 0;
  if (op.aRows.empty() && !uniform(w, i, op.aDescriptor, 8, descriptorA, "the descriptor of A")) return;
  if (!uniform(w, i, op.bDescriptor, 8, descriptorB, "the descriptor of B")) return;
  if (!uniform(w, i, op.accumulate, 1, accumulate, "the predicate that adds the accumulator")) return;
  if (!sameInWarpgroup(w, i, descriptorA, descriptorB)) return;
  if (!state.fenced) return fail(w, &i, -1, "the warp's first wgmma comes before any wgmma.fence");
  if (block.inFlight.empty()) block.inFlight.resize(block.shared.size() / 16 + 1);

  PendingMultiply now;
  if (auto &spare = block.launch->spare; !spare.empty()) {
    now = std::move(spare.back());
    spare.pop_back();
    now.chunks.clear();
  }
  now.group = state.group;
  now.site = i.id;
  now.number = ++state.operations;
  thread_local MultiplyBuffers m;
  m.a.resize(kRowsOfWarp * op.k);
  m.b.resize(size_t(op.n) * op.k);
  if (!op.aRows.empty())
    readAFromRegisters(w, op, m.a);
  else if (!readAFromShared(w, i, op, MatrixDescriptor::ofWgmma(descriptorA), now.chunks, m.a))
    return;
  if (!readB(w, i, op, MatrixDescriptor::ofWgmma(descriptorB), now.chunks, m.b)) return;
  accumulateRows(op, m);
  computeResults(w, op, state, m, accumulate, now);
  for (auto [r, row] : enumerate(op.d)) {
    state.promises[row].assign(1, {now.number, unsigned(r), w.full});
    std::fill_n(w.row<uint32_t>(row), w.lanes, kInFlightPattern);
  }
  for (uint32_t p : now.chunks) ++block.inFlight[p];
  state.pending.push_back(std::move(now));
}

void fence(Warp &w, const Instruction &i) {
  if (requireConverged(w, i, "wgmma.fence")) stateOf(w).fenced = true;
}
void commit(Warp &w, const Instruction &i) {
  if (requireConverged(w, i, "wgmma.commit_group")) ++stateOf(w).group;
}
void wait(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "wgmma.wait_group")) return;
  WarpgroupState &s = stateOf(w);
  Block &b = *w.block;
  auto done = [&](const PendingMultiply &m) { return m.group + i.immediate < s.group; };
  if (none_of(s.pending, done)) return;
  uint64_t now = ++b.launch->stamp;
  for (auto &m : s.pending) {
    if (!done(m)) continue;
    for (uint32_t p : m.chunks) {
      --b.inFlight[p];
      if (!b.launch->checks.races) continue;
      // It may have read them until now, for all threads of the warp.
      for (unsigned k = 0; k < 16; ++k) {
        SharedCell &c = b.cells[p * 16 + k];
        if (c.read.stamp == now) continue;
        if (c.read.stamp > b.lastBarrier && c.read.thread / w.lanes != w.index) c.otherRead = c.read;
        c.read = {now, m.site, b.number, uint16_t(w.index * w.lanes), false};
      }
    }
  }
  // The promises that are kept.
  SmallVector<Row, 32> empty;
  for (auto &[row, list] : s.promises) {
    for (auto &p : list)
      for (auto &m : s.pending)
        if (m.number == p.operation && done(m))
          for (uint64_t lanes = p.lanes; lanes; lanes &= lanes - 1) {
            unsigned l = unsigned(std::countr_zero(lanes));
            w.row<uint32_t>(row)[l] = m.results[p.index * w.lanes + l];
          }
    erase_if(list, [&](const Promise &p) {
      return any_of(s.pending, [&](auto &m) { return m.number == p.operation && done(m); });
    });
    if (list.empty()) empty.push_back(row);
  }
  for (Row r : empty) s.promises.erase(r);
  for (auto &m : s.pending)
    if (done(m)) b.launch->spare.push_back(std::move(m));
  erase_if(s.pending, done);
}

void proxyFence(Warp &w, const Instruction &) {
  uint64_t now = ++w.block->launch->stamp;
  uint64_t barrier = w.block->lastBarrier;
  forLanes(w, [&](unsigned l) { w.proxyFences[l] = {now, barrier}; });
  // Of those before a barrier of the block, which everybody knows, the last will do.
  auto ordered = [&](auto &f) { return f.first <= barrier && f.second == w.full; };
  auto last = std::find_if(w.fences.rbegin(), w.fences.rend(), ordered);
  if (last != w.fences.rend()) w.fences.erase(w.fences.begin(), last.base() - 1);
  w.fences.push_back({now, w.mask});
  if (w.mask == w.full) w.knownAtFence = w.known;
}

void copyAccumulator(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = w.row<uint32_t>(i.a)[l]; });
  if (w.warpgroup && !w.warpgroup->promises.empty()) movePromises(w, Copy{i.a, i.to, 4}, w.mask);
}

void checkArrived(Warp &w, const Instruction &i) {
  if (!w.warpgroup || w.warpgroup->promises.empty()) return;
  for (Row r : i.more)
    if (auto it = w.warpgroup->promises.find(r); it != w.warpgroup->promises.end())
      for (auto &p : it->second)
        if (p.lanes & w.mask)
          for (auto &m : w.warpgroup->pending)
            if (m.number == p.operation)
              return fail(w, &i, int(std::countr_zero(p.lanes & w.mask)),
                          formatv("it reads the accumulator of a wgmma{0} that is in flight: no "
                                  "wgmma.wait_group has waited for it",
                                  placeOf(w, m.site)));
}

} // namespace

void movePromises(Warp &w, ArrayRef<Copy> copies, uint64_t lanes) {
  auto &promises = w.warpgroup->promises;
  SmallVector<std::pair<Row, SmallVector<Promise, 1>>, 16> moved;
  for (auto &c : copies) {
    SmallVector<Promise, 1> list;
    if (auto it = promises.find(c.to); it != promises.end())
      for (Promise p : it->second)
        if ((p.lanes &= ~lanes)) list.push_back(p);
    if (auto it = promises.find(c.from); it != promises.end())
      for (Promise p : it->second)
        if ((p.lanes &= lanes)) list.push_back(p);
    if (!list.empty() || promises.contains(c.to)) moved.push_back({c.to, std::move(list)});
  }
  for (auto &[row, list] : moved) {
    if (list.empty())
      promises.erase(row);
    else
      promises[row] = std::move(list);
  }
}

std::string wgmmaInFlight(const Block &b, uint32_t chunk) {
  for (const Warp &w : b.warps)
    if (w.warpgroup)
      for (auto &m : w.warpgroup->pending)
        if (is_contained(m.chunks, chunk)) return formatv("a wgmma of warp {0}{1}", w.index, placeOf(w, m.site));
  return "a wgmma";
}

bool warpgroupsTogether(Block &b, const Instruction *at, function_ref<bool(const Warp &)> among) {
  for (Warp &w : b.warps) {
    if ((!w.warpgroup && b.issued.empty()) || !among(w)) continue;
    unsigned group = w.index / kWarps;
    uint64_t issued = w.warpgroup ? w.warpgroup->issued : 0;
    if (group < b.issued.size() && issued < b.issued[group].size()) {
      auto &first = b.issued[group][issued];
      fail(w, at, -1,
           formatv("its warpgroup is not together: warp {0} has executed a wgmma{1} that this warp has not", first.warp,
                   placeOf(w, first.site)));
      return false;
    }
  }
  return true;
}

bool emitWarpgroupOperation(Decoder &d, WarpgroupOperation op, std::string &why) {
  using E = MatrixElement;
  auto refuse = [&](const char *reason) {
    why = reason;
    return false;
  };
  if (d.target().matrixUnit != ir::MatrixUnit::Wgmma) return refuse("only sm_90a has it");
  bool f8 = (op.a == E::E4M3FN || op.a == E::E5M2) && (op.b == E::E4M3FN || op.b == E::E5M2);
  bool i8 = (op.a == E::S8 || op.a == E::U8) && (op.b == E::S8 || op.b == E::U8);
  bool half = op.a == op.b && (op.a == E::F16 || op.a == E::BF16), tf32 = op.a == E::TF32 && op.b == E::TF32;
  if (!f8 && !i8 && !half && !tf32) return refuse("types");
  bool c = i8 ? op.c == E::S32 : op.c == E::F32 || (op.c == E::F16 && op.a != E::BF16 && !tf32);
  if (!c || (op.saturate && !i8)) return refuse("type of the accumulator");
  unsigned bits = elementBits(op.a);
  if (op.k != 256 / bits || op.n % 8 || op.n < 8 || op.n > 256 || (i8 && op.n > 32 && op.n % 16))
    return refuse("shape");
  if (op.d.size() != op.n / (op.c == E::F16 ? 4 : 2)) return refuse("number of accumulator registers");
  if (!op.aRows.empty() && op.aRows.size() != 4) return refuse("number of registers of A");
  if ((op.transposeA || op.transposeB) && !half) return refuse("transposed operands of this type");
  auto kept = std::make_shared<WarpgroupOperation>(std::move(op));
  d.emitImmediate(multiply, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
  return true;
}
void emitWarpgroupFence(Decoder &d) { d.emit(fence); }
void emitWarpgroupCommit(Decoder &d) { d.emit(commit); }
void emitWarpgroupWait(Decoder &d, uint64_t pending) { d.emitImmediate(wait, pending); }
void emitProxyFence(Decoder &d) { d.emit(proxyFence); }
void emitAccumulatorCopy(Decoder &d, Row to, Row from) { d.emit(copyAccumulator, to, from); }
void emitArrivalCheck(Decoder &d, ArrayRef<Row> rows) { d.emit(checkArrived).more = d.list(rows); }

} // namespace tessera::emulator
