// mbarrier as the manual has it (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"): an
// object of eight bytes counts the arrivals and the bytes of asynchronous copies of its phase; when none are missing
// any more, the phase is complete and the next begins. Its contents are kept beside shared memory, whose eight bytes
// are nobody's to read or write as long as the object lives.
//
// An arrival releases what its thread did before (and what the warp's other lanes did before their last warp
// barrier), a wait that finds the phase complete acquires what all who arrived released: accesses before an arrival
// and after such a wait are no race (Warp::known).
#include "runtime/emulator/mbarrier.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {
using namespace llvm;

namespace {

void join(std::vector<uint64_t> &to, const std::vector<uint64_t> &from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (auto [t, f] : zip(to, from)) t = std::max(t, f);
}

/// What the lane's thread can vouch for now.
void release(Warp &w, unsigned lane, uint64_t now, std::vector<uint64_t> &to) {
  join(to, w.known);
  to.resize(std::max(to.size(), w.block->warps.size() * w.lanes));
  for (unsigned l = 0; l < w.lanes; ++l)
    to[w.index * w.lanes + l] = std::max(to[w.index * w.lanes + l], l == lane ? now : w.lastSync);
}

void completeIfDone(Mbarrier &m) {
  if (m.pending || m.bytes) return;
  m.pending = m.expected;
  ++m.phase;
  join(m.complete, m.arrived);
}

/// The byte of shared memory that the lane's mbarrier is at; false: a fault was reported.
bool barrierOffset(Warp &w, const Instruction &i, uint64_t address, unsigned addressBytes, unsigned l,
                   uint32_t &offset) {
  Block &b = *w.block;
  if (addressBytes == 8 && address >= kSharedWindow && address < kPrivateWindow) address -= kSharedWindow;
  uint64_t at = address - kSharedBase;
  if (address < kSharedBase || at + 8 > b.shared.size()) {
    fail(w, &i, int(l),
         formatv("out of bounds: an mbarrier at byte {0} of shared memory, which has {1}",
                 int64_t(address) - kSharedBase, b.shared.size()));
    return false;
  }
  if (at % 8) {
    fail(w, &i, int(l),
         formatv("misaligned access: an mbarrier at byte {0} of shared memory, which is not a multiple of 8", at));
    return false;
  }
  offset = uint32_t(at);
  return true;
}

void initialise(Warp &w, const Instruction &i, unsigned l, uint32_t offset, uint32_t count, uint64_t now) {
  Block &b = *w.block;
  if (b.mbarriers.contains(offset))
    return fail(w, &i, int(l), formatv("the mbarrier at byte {0} of shared memory is initialised already", offset));
  if (count < 1 || count >= 1u << 20)
    return fail(w, &i, int(l), formatv("an mbarrier for {0} arrivals; there must be from 1 to 2^20 - 1", count));
  if (!noteSharedAccess(w, i, l, offset, 8, true, now)) return;
  std::fill_n(b.defined.begin() + offset, 8, 0);
  Mbarrier m;
  m.expected = m.pending = count;
  b.mbarriers.try_emplace(offset, std::move(m));
  ++b.launch->changes;
}

void invalidate(Warp &w, const Instruction &i, unsigned l, uint32_t offset, uint64_t now) {
  Block &b = *w.block;
  for (auto &f : b.fills)
    if (f.barrier == offset)
      return fail(
          w, &i, int(l),
          formatv("the mbarrier at byte {0} of shared memory is invalidated while a bulk copy that it counts is "
                  "in flight",
                  offset));
  b.mbarriers.erase(offset);
  if (!noteSharedAccess(w, i, l, offset, 8, true, now)) return;
  ++b.launch->changes;
}

void arrive(Warp &w, const Instruction &i, const MbarrierOperation &op, unsigned l, uint32_t offset, uint32_t count,
            uint64_t now, Mbarrier &m) {
  if (op.state != kNoRow) w.row<uint64_t>(op.state)[l] = m.phase;
  if (op.expectsTx) { // `count` is then a number of bytes, and one thread arrives
    m.bytes += count;
    count = 1;
  }
  if (count > m.pending)
    return fail(
        w, &i, int(l),
        formatv("{0} arrive at the mbarrier at byte {1} of shared memory, whose phase waits for {2} more of {3}", count,
                offset, m.pending, m.expected));
  m.pending -= count;
  release(w, l, now, m.arrived);
  completeIfDone(m);
  ++w.block->launch->changes;
}

void testWait(Warp &w, const MbarrierOperation &op, unsigned l, uint32_t offset, Mbarrier &m) {
  if (!w.block->fills.empty()) {
    arriveFills(w, offset);
    completeIfDone(m);
  }
  bool byPhase = op.kind == MbarrierOperation::Kind::Wait;
  uint64_t waited = byPhase ? w.row<uint64_t>(op.state)[l] : w.row<uint32_t>(op.state)[l];
  bool complete = byPhase ? m.phase > waited : (m.phase & 1) != (waited & 1);
  w.row<uint8_t>(op.complete)[l] = complete;
  if (complete) join(w.known, m.complete);
}

void runMbarrierOfLane(Warp &w, const Instruction &i, const MbarrierOperation &op, unsigned l, uint64_t now) {
  using Kind = MbarrierOperation::Kind;
  Block &b = *w.block;
  uint32_t offset;
  uint64_t address = loadRow(w, op.address, op.addressBytes, l) + uint64_t(op.offset);
  if (!barrierOffset(w, i, address, op.addressBytes, l, offset)) return;
  uint32_t count = op.count == kNoRow ? 1 : w.row<uint32_t>(op.count)[l];
  if (op.kind == Kind::Init) return initialise(w, i, l, offset, count, now);
  auto found = b.mbarriers.find(offset);
  if (found == b.mbarriers.end())
    return fail(w, &i, int(l), formatv("there is no initialised mbarrier at byte {0} of shared memory", offset));
  if (op.kind == Kind::Invalidate) return invalidate(w, i, l, offset, now);
  // A read of the barrier's bytes: the initialisation must have come before.
  if (!noteSharedAccess(w, i, l, offset, 8, false, now)) return;
  Mbarrier &m = found->second;
  switch (op.kind) {
  case Kind::Arrive: return arrive(w, i, op, l, offset, count, now, m);
  case Kind::ExpectTx:
    m.bytes += count;
    ++b.launch->changes;
    return;
  case Kind::CompleteTx:
    m.bytes -= count;
    completeIfDone(m);
    ++b.launch->changes;
    return;
  default: return testWait(w, op, l, offset, m);
  }
}

void runMbarrier(Warp &w, const Instruction &i) {
  const auto &op = *reinterpret_cast<const MbarrierOperation *>(i.immediate);
  using Kind = MbarrierOperation::Kind;
  uint64_t now = ++w.block->launch->stamp;
  bool waits = op.kind == Kind::Wait || op.kind == Kind::WaitParity;
  countWarpOperation(w, i, SiteCounters::Kind::Barrier, waits ? "mbarrier wait" : "mbarrier");
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) {
    unsigned l = unsigned(std::countr_zero(lanes));
    bool off = op.guard != kNoRow && bool(w.row<uint8_t>(op.guard)[l] & 1) == op.guardNegated;
    if (off) continue;
    runMbarrierOfLane(w, i, op, l, now);
    if (!w.block->launch->failure.ok()) return;
  }
}

void elect(Warp &w, const Instruction &i) {
  uint32_t members = w.row<uint32_t>(i.c)[std::countr_zero(w.mask)], present = uint32_t(w.mask);
  if (members & ~present)
    return fail(w, &i, int(std::countr_zero(w.mask)),
                formatv("elect.sync waits for lane {0}, which is not here", std::countr_zero(members & ~present)));
  if (present & ~members)
    return fail(w, &i, int(std::countr_zero(present & ~members)),
                "elect.sync is executed by a lane that its member mask leaves out");
  unsigned leader = unsigned(std::countr_zero(members));
  forLanes(w, [&](unsigned l) {
    if (i.a != kNoRow) w.row<uint32_t>(i.a)[l] = leader;
    if (i.b != kNoRow) w.row<uint8_t>(i.b)[l] = l == leader;
  });
}

} // namespace

void arriveForDots(Warp &w, const Instruction &i, unsigned lane, uint64_t address, uint64_t stamp) {
  Block &b = *w.block;
  uint32_t offset;
  if (!barrierOffset(w, i, address, sizeof(uint32_t), lane, offset)) return;
  auto found = b.mbarriers.find(offset);
  if (found == b.mbarriers.end())
    return fail(w, &i, int(lane), formatv("there is no initialised mbarrier at byte {0} of shared memory", offset));
  if (!noteSharedAccess(w, i, lane, offset, 8, false, ++b.launch->stamp)) return;
  Mbarrier &m = found->second;
  if (!m.pending)
    return fail(
        w, &i, int(lane),
        formatv("one arrives at the mbarrier at byte {0} of shared memory, whose phase waits for none", offset));
  --m.pending;
  unsigned unit = b.matrixUnit(w.index);
  m.arrived.resize(std::max<size_t>(m.arrived.size(), unit + 1));
  m.arrived[unit] = std::max(m.arrived[unit], stamp);
  // What other units did before the dots were issued, as far as the warp knew, is done as well.
  for (unsigned other = b.copyUnit(); other < w.known.size(); ++other) {
    m.arrived.resize(std::max<size_t>(m.arrived.size(), other + 1));
    m.arrived[other] = std::max(m.arrived[other], w.known[other]);
  }
  completeIfDone(m);
  ++b.launch->changes;
}

void emitMbarrier(Decoder &d, MbarrierOperation op) {
  auto kept = std::make_shared<MbarrierOperation>(op);
  d.emitImmediate(runMbarrier, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
}
void emitElect(Decoder &d, Row leader, Row isLeader, Row members) { d.emit(elect, kNoRow, leader, isLeader, members); }

} // namespace tessera::emulator
