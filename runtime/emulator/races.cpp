// Order between the accesses of threads: what is recorded of each place in memory, and which accesses race.
//
// Every access takes a stamp, a number that counts up over the launch; so do barriers. An access is ordered after an
// earlier one of another thread if a barrier of the block lies between their stamps (for global memory: one that orders
// global memory, or any if the earlier one is a read whose value was used before it), if both are of one warp and a
// warp barrier does, or, on AMD, if both are of one wave and of different instructions, since a wave's accesses are
// carried out in order; on NVIDIA only a write after a read, since the lanes of a warp that runs together have issued
// the read; between blocks, if the other block released after it and this block acquired after that, by an atomic or by
// a fence beside one. Two that are not ordered, and of which one changes what is there, are a race. Atomics do not race
// with each other; between blocks one whose scope is the block is an ordinary access, which orders nothing. A write of
// what is there already changes nothing: layouts that hold copies write them. They load them, too: a read that races
// with a write of the same block is none while its value has no effect (unused_reads.h). Nor does a read race with
// another block's write if no other write has changed the place, and the reader's block wrote the same there before:
// all programs may write a table that each then reads. In buffers the record is kept by granules, the largest that all
// accesses nearby are made of; a granule is changed if one of its bytes is.
#include "runtime/emulator/races.h"
#include "runtime/emulator/unused_reads.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {

std::string placeOf(const Warp &w, uint32_t site) {
  std::string at = describe(w.program->instructions[site].source);
  return at.empty() ? at : " (" + at + ")";
}

std::string threadName(const Warp &w, unsigned thread) {
  if (thread >= w.block->copyUnit()) return "a bulk copy";
  return llvm::formatv("thread {0} (warp {1}, lane {2})", thread, thread / w.lanes, thread % w.lanes);
}

namespace {

/// Calls `f` on the cells of bytes of a buffer, where there are any.
template <class F> void forCells(Region &r, uint64_t offset, uint64_t bytes, F f) {
  for (uint64_t at = offset, step; at < offset + bytes; at += step) {
    uint64_t page = at / kShadowPage;
    step = kShadowPage - at % kShadowPage;
    if (page >= r.shadow.size() || !r.shadow[page].cells) continue;
    step = r.shadow[page].granule - at % r.shadow[page].granule;
    f(r.shadow[page].cells[at % kShadowPage / r.shadow[page].granule]);
  }
}

/// `wasRead`: the earlier access was a read, this one is a write.
bool ordered(const Warp &w, const Mark &m, uint64_t barrier, unsigned thread, uint64_t now, bool wasRead = false) {
  if (!m.stamp || m.stamp <= barrier) return true;
  if (m.thread == thread && !m.several) return true;
  if (w.knows(m.thread, m.stamp)) return true;
  if (m.thread / w.lanes != w.index) return false;
  // Lanes in lockstep order one instruction before the next.
  if (!w.program->target->hasIndependentLanes) return m.stamp != now;
  return m.stamp <= w.lastSync || (wasRead && m.stamp != now);
}

/// What is said of an access by the warp and an earlier or later one, `m`.
std::string raceText(const Warp &w, const char *doing, const Mark &m, const char *did, const std::string &place,
                     bool otherBlock) {
  std::string who = otherBlock ? [&] {
    auto &g = w.block->launch->grid;
    return llvm::formatv("thread {0} of block ({1}, {2}, {3})", m.thread, m.block % g[0], m.block / g[0] % g[1],
                         m.block / g[0] / g[1])
        .str();
  }()
                               : threadName(w, m.thread);
  const char *missing = otherBlock                 ? "release and acquire"
                        : m.stamp == kNeverOrdered ? "cp.async.bulk.wait_group (without .read)"
                                                   : "barrier";
  return llvm::formatv("race: it {0} {1}, which {2} {3}{4}, and no {5} orders the two", doing, place, who, did,
                       placeOf(w, m.site), missing);
}

void raceBetween(Warp &w, const Instruction &i, unsigned lane, const char *doing, const Mark &m, const char *did,
                 const std::string &place, bool otherBlock) {
  fail(w, &i, int(lane), raceText(w, doing, m, did, place, otherBlock));
}

/// Whether the race of a write, `write`, with an earlier or later read, `read`, was put aside: both are of this block,
/// and what was read has had no effect.
bool isPutAside(Block &b, const Mark &read, const Mark &write, const char *did, const std::string &place) {
  if (read.block != b.number || write.block != b.number) return false;
  if (read.thread >= b.copyUnit() || write.thread >= b.copyUnit()) return false;
  unsigned lanes = b.warps[0].lanes;
  Warp &reader = b.warps[read.thread / lanes];
  if (!isUnused(reader, read.site)) return false;
  putAside(reader, read.site, read.thread % lanes, raceText(reader, "reads", write, did, place, false));
  return true;
}

/// Whether a read of a thread of this block was over at the last barrier, which did not order global memory.
bool isOver(Block &b, const Mark &read) {
  if (b.lastBarrier == b.lastGlobalBarrier || read.thread >= b.copyUnit()) return false;
  return wasUsedBeforeBarrier(b.warps[read.thread / b.warps[0].lanes], read);
}

} // namespace

void checkSharedOrder(Warp &w, const Instruction &i, const Access &a, unsigned lane, uint32_t offset, bool writes,
                      const uint8_t *changed, uint64_t now) {
  Block &b = *w.block;
  unsigned thread = w.index * w.lanes + lane;
  auto drained = [&](unsigned byte) -> const PendingDrain * {
    for (Warp &other : b.warps)
      for (auto &d : other.drains)
        if (byte >= d.offset && byte < d.offset + d.bytes) return &d;
    return nullptr;
  };
  for (unsigned k = 0; k < a.bytes; ++k) {
    SharedCell &c = b.cells[offset + k];
    auto place = [&] { return llvm::formatv("byte {0} of shared memory", offset + k).str(); };
    if (!writes) {
      if (!ordered(w, c.write, b.lastBarrier, thread, now))
        return raceBetween(w, i, lane, "reads", c.write, "wrote", place(), false);
      if (c.read.stamp > b.lastBarrier && c.read.thread / w.lanes != w.index) c.otherRead = c.read;
      bool several = c.read.stamp > b.lastBarrier && c.read.thread / w.lanes == w.index && c.read.stamp > w.lastSync &&
                     (c.read.several || c.read.thread != thread);
      c.read = {now, i.id, b.number, uint16_t(thread), several};
      continue;
    }
    if (changed && !changed[k]) continue;
    if (!b.mbarriers.empty() && b.mbarriers.contains((offset + k) & ~7u))
      return fail(w, &i, int(lane), llvm::formatv("it writes {0}, where an mbarrier lives", place()));
    if (!b.inFlight.empty() && b.inFlight[(offset + k) / 16])
      return fail(w, &i, int(lane),
                  llvm::formatv(
                      "race: it changes {0}, which {1} reads: that is in flight, no wgmma.wait_group has waited for it",
                      place(), wgmmaInFlight(b, (offset + k) / 16)));
    if (auto *dot = b.tensor ? dotReading(w, (offset + k) / 16) : nullptr) {
      return fail(
          w, &i, int(lane),
          llvm::formatv("race: it changes {0}, which a tcgen05.mma of warp {1}{2} reads: that is in flight, and "
                        "no wait for an mbarrier at which a tcgen05.commit arrives comes before",
                        place(), dot->warp, placeOf(w, dot->site)));
    }
    if (auto *d = b.drains ? drained(offset + k) : nullptr) {
      return fail(w, &i, int(lane),
                  llvm::formatv("race: it changes {0}, which a bulk copy{1} reads: that is in flight, no "
                                "cp.async.bulk.wait_group has waited for it",
                                place(), placeOf(w, d->site)));
    }
    if (!ordered(w, c.write, b.lastBarrier, thread, now))
      return raceBetween(w, i, lane, "changes", c.write, "wrote", place(), false);
    if (!ordered(w, c.read, b.lastBarrier, thread, now, true))
      return raceBetween(w, i, lane, "changes", c.read, "read", place(), false);
    if (!ordered(w, c.otherRead, b.lastBarrier, thread, now, true))
      return raceBetween(w, i, lane, "changes", c.otherRead, "read", place(), false);
    c.write = {now, i.id, b.number, uint16_t(thread), false};
  }
}

namespace {

/// One lane's access to global memory, and the accesses to a byte that must come before it.
class GlobalOrder {
public:
  GlobalOrder(Warp &w, const Instruction &i, unsigned lane, const Region &r, bool writes, bool atomic, uint64_t now)
      : w_(w), b_(*w.block), i_(i), lane_(lane), thread_(w.index * w.lanes + lane), r_(r), writes_(writes),
        atomic_(atomic), now_(now) {}

  /// False: a read, or an atomic access, races with the last write, which is reported. `at`: the byte's offset.
  bool followsWrite(const GlobalCell &c, uint64_t at) const {
    if ((atomic_ && c.atomic && isAtomicTo(c)) || isKnown(c.write) || (!writes_ && isRepeated(c))) return true;
    const char *did = !c.atomic ? "wrote" : c.isOfBlock ? "updated in the scope of its block" : "updated";
    bool isHarmless = !writes_ && isPutAside(b_, mark(), c.write, did, place(at));
    const char *does = !writes_ ? "reads" : isOfBlock() ? "updates, in the scope of its block," : "updates";
    return isHarmless || race(at, does, c.write, did);
  }
  /// Whether this atomic access and the last one are so to each other.
  bool isAtomicTo(const GlobalCell &c) const { return c.write.block == b_.number || !(c.isOfBlock || isOfBlock()); }
  void noteRead(GlobalCell &c) const {
    bool byThisWarp = c.read.stamp && c.read.block == b_.number && c.read.thread / w_.lanes == w_.index;
    if (c.read.stamp && !byThisWarp) c.otherRead = c.read;
    bool several = byThisWarp && c.read.stamp > std::max(w_.lastSync, b_.lastGlobalBarrier) &&
                   (c.read.several || c.read.thread != thread_);
    // An atomic read (volatile, acquire) races with no atomic.
    if (!atomic_) c.read = mark(several);
  }
  void noteRepeated(GlobalCell &c) const {
    c.touched = true;
    if (atomic_) return;
    c.repeatedAt = now_;
    c.repeatingBlock = b_.number;
    c.repeatingThread = uint16_t(thread_);
  }
  /// False: the write races with an earlier access, which is reported.
  bool noteWrite(GlobalCell &c, uint64_t at) const {
    if (!atomic_ && !isKnown(c.write)) return race(at, "changes", c.write, c.atomic ? "updated" : "wrote");
    if (atomic_ && c.hasPlain) {
      Mark plain = b_.launch->plainWrites.lookup(r_.base + at);
      if (!isKnown(plain)) return race(at, "updates", plain, "wrote");
    }
    const char *does = atomic_ ? "updates" : "changes";
    for (const Mark &read : {c.read, c.otherRead})
      if (!isKnown(read, true) && !isPutAside(b_, read, mark(), does, place(at))) return race(at, does, read, "read");
    c.changedAgain = c.write.stamp;
    if (!atomic_) {
      c.hasPlain = false;
    } else if (!c.atomic && c.write.stamp) {
      c.hasPlain = true;
      b_.launch->plainWrites[r_.base + at] = c.write;
    }
    c.write = mark();
    c.atomic = atomic_;
    c.isOfBlock = atomic_ && isOfBlock();
    return true;
  }

private:
  bool isOfBlock() const { return i_.access && i_.access->isOfBlock; }
  Mark mark(bool several = false) const { return {now_, i_.id, b_.number, uint16_t(thread_), several}; }
  /// Whether barriers or acquires put the earlier access before this one.
  bool isKnown(const Mark &m, bool wasRead = false) const {
    if (!m.stamp) return true;
    if (m.block != b_.number) return b_.launch->blockOrder.isKnown(b_.acquired.known, m.block, m.stamp);
    return ordered(w_, m, b_.lastGlobalBarrier, thread_, now_, wasRead) || (wasRead && isOver(b_, m));
  }
  /// Whether this block has written what another block's write, the only one, left there: the value is the same
  /// whichever comes first.
  bool isRepeated(const GlobalCell &c) const {
    bool isOnlyWrite = c.write.block != b_.number && !c.changedAgain && !c.atomic;
    if (!isOnlyWrite || c.repeatedAt <= c.write.stamp || c.repeatingBlock != b_.number) return false;
    return isKnown({c.repeatedAt, i_.id, b_.number, c.repeatingThread, false});
  }
  std::string place(uint64_t at) const { return llvm::formatv("byte {0} of '{1}'", at, r_.name).str(); }
  bool race(uint64_t at, const char *doing, const Mark &m, const char *did) const {
    raceBetween(w_, i_, lane_, doing, m, did, place(at), m.block != b_.number);
    return false;
  }

  Warp &w_;
  Block &b_;
  const Instruction &i_;
  unsigned lane_, thread_;
  const Region &r_;
  bool writes_, atomic_;
  uint64_t now_;
};

} // namespace

void checkGlobalOrder(Warp &w, const Instruction &i, const Access &a, unsigned lane, Region &r, uint64_t offset,
                      bool writes, bool atomic, const uint8_t *changed, uint64_t now) {
  if (r.bytes > kMaxShadowed) return;
  if (r.shadow.empty()) r.shadow.resize((r.bytes + kShadowPage - 1) / kShadowPage);
  ShadowMemory &shadow = w.block->launch->shadow;
  GlobalOrder order(w, i, lane, r, writes, atomic, now);
  unsigned granule = 1u << std::countr_zero(unsigned(offset) | a.bytes | kLargestGranule), step;
  for (unsigned k = 0; k < a.bytes; k += step) {
    ShadowPage &page = r.shadow[(offset + k) / kShadowPage];
    if (!page.cells || page.granule > granule) shadow.divide(page, granule);
    if (!page.cells || page.granule > granule)
      return fail(w, &i, int(lane), "the host has not enough memory for the check of races; --no-check races");
    step = page.granule;
    GlobalCell &c = page.cells[(offset + k) % kShadowPage / step];
    const uint8_t *end = changed ? changed + k + step : nullptr;
    const uint8_t *firstChanged = changed ? std::find(changed + k, end, 1) : nullptr;
    bool isUnchanged = changed && firstChanged == end;
    uint64_t at = offset + (changed && !isUnchanged ? uint64_t(firstChanged - changed) : k);
    if ((!writes || atomic) && !order.followsWrite(c, at)) return;
    if (!writes)
      order.noteRead(c);
    else if (isUnchanged)
      order.noteRepeated(c);
    else if (!order.noteWrite(c, at))
      return;
  }
}

void ShadowMemory::divide(ShadowPage &page, unsigned granule) {
  constexpr size_t kFirstChunk = 4096, kLargestChunk = 65536; // cells
  size_t count = kShadowPage / granule;
  if (left_ < count) {
    size_ = chunks_.empty() ? kFirstChunk : std::min(size_ * 2, kLargestChunk);
    // A cell of zero bytes is one that nobody has accessed.
    chunks_.emplace_back(static_cast<GlobalCell *>(calloc(size_, sizeof(GlobalCell))));
    if (!chunks_.back()) {
      chunks_.pop_back();
      left_ = 0;
      return; // as it was, which the caller reports
    }
    left_ = size_;
  }
  GlobalCell *cells = chunks_.back().get() + (size_ - left_);
  left_ -= count;
  if (page.cells)
    for (size_t k = 0; k < count; ++k) cells[k] = page.cells[k * granule / page.granule];
  page = {cells, uint8_t(granule)};
}

bool noteSharedAccess(Warp &w, const Instruction &i, unsigned lane, uint32_t offset, unsigned bytes, bool writes,
                      uint64_t now) {
  if (!w.block->launch->checks.races) return true;
  if (writes && !noteEffect(w, i)) return false;
  Access a;
  a.bytes = bytes;
  checkSharedOrder(w, i, a, lane, offset, writes, nullptr, now);
  return !w.stop;
}

bool noteGlobalAccess(Warp &w, const Instruction &i, unsigned lane, Region &r, uint64_t offset, unsigned bytes,
                      bool writes, bool atomic, const uint8_t *changed, uint64_t now) {
  if (!w.block->launch->checks.races) return true;
  if (writes && !noteEffect(w, i)) return false;
  Access a;
  a.bytes = bytes;
  checkGlobalOrder(w, i, a, lane, r, offset, writes, atomic, changed, now);
  return !w.stop;
}

void beginRow(Block &b, const PendingRow &row, uint64_t now) {
  forCells(*row.region, row.offset, row.bytes, [&](GlobalCell &c) {
    if (c.write.stamp != now || c.write.block != b.number) return; // the bytes did not change
    c.write = {kNeverOrdered, row.site, b.number, uint16_t(b.copyUnit()), false};
  });
}

void endRow(Block &b, const PendingRow &row, const Mark &mark) {
  forCells(*row.region, row.offset, row.bytes, [&](GlobalCell &c) {
    if (c.write.stamp == kNeverOrdered && c.write.block == b.number && c.write.site == row.site) c.write = mark;
  });
}

bool isReadOver(const Warp &w, const Mark &read, uint64_t now) {
  return ordered(w, read, w.block->lastGlobalBarrier, w.index * w.lanes, now, /*wasRead=*/true);
}

} // namespace tessera::emulator
