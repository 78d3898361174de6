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

void runMbarrier(Warp &w, const Instruction &i) {
  const auto &op = *reinterpret_cast<const MbarrierOperation *>(i.immediate);
  using Kind = MbarrierOperation::Kind;
  Block &b = *w.block;
  Launch &launch = *b.launch;
  uint64_t now = ++launch.stamp;
  countWarpOperation(w, i, SiteCounters::Kind::Barrier,
                     op.kind == Kind::Wait || op.kind == Kind::WaitParity ? "mbarrier wait" : "mbarrier");
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) {
    unsigned l = unsigned(std::countr_zero(lanes));
    if (op.guard != kNoRow && bool(w.row<uint8_t>(op.guard)[l] & 1) == op.guardNegated) continue;
    uint64_t address = loadRow(w, op.address, op.addressBytes, l) + uint64_t(op.offset);
    if (op.addressBytes == 8 && address >= kSharedWindow && address < kPrivateWindow) address -= kSharedWindow;
    uint64_t at = address - kSharedBase;
    if (address < kSharedBase || at + 8 > b.shared.size())
      return fail(w, &i, int(l),
                  formatv("out of bounds: an mbarrier at byte {0} of shared memory, which has {1}",
                          int64_t(address) - kSharedBase, b.shared.size()));
    if (at % 8)
      return fail(
          w, &i, int(l),
          formatv("misaligned access: an mbarrier at byte {0} of shared memory, which is not a multiple of 8", at));
    uint32_t offset = uint32_t(at);
    uint32_t count = op.count == kNoRow ? 1 : w.row<uint32_t>(op.count)[l];
    auto found = b.mbarriers.find(offset);
    if (op.kind == Kind::Init) {
      if (found != b.mbarriers.end())
        return fail(w, &i, int(l), formatv("the mbarrier at byte {0} of shared memory is initialised already", at));
      if (count < 1 || count >= 1u << 20)
        return fail(w, &i, int(l), formatv("an mbarrier for {0} arrivals; there must be from 1 to 2^20 - 1", count));
      if (!noteSharedAccess(w, i, l, offset, 8, true, now)) return;
      std::fill_n(b.defined.begin() + offset, 8, 0);
      Mbarrier m;
      m.expected = m.pending = count;
      b.mbarriers.try_emplace(offset, std::move(m));
      ++launch.changes;
      continue;
    }
    if (found == b.mbarriers.end())
      return fail(w, &i, int(l), formatv("there is no initialised mbarrier at byte {0} of shared memory", at));
    Mbarrier &m = found->second;
    if (op.kind == Kind::Invalidate) {
      for (auto &f : b.fills)
        if (f.barrier == offset)
          return fail(w, &i, int(l),
                      formatv("the mbarrier at byte {0} of shared memory is invalidated while a bulk copy that it "
                              "counts is under way",
                              at));
      b.mbarriers.erase(found);
      if (!noteSharedAccess(w, i, l, offset, 8, true, now)) return;
      ++launch.changes;
      continue;
    }
    // The initialisation must have come before.
    if (!noteSharedAccess(w, i, l, offset, 8, false, now)) return;
    switch (op.kind) {
    case Kind::Arrive:
      if (op.state != kNoRow) w.row<uint64_t>(op.state)[l] = m.phase;
      if (op.expectsTx) m.bytes += count, count = 1;
      if (count > m.pending)
        return fail(
            w, &i, int(l),
            formatv("{0} arrive at the mbarrier at byte {1} of shared memory, whose phase waits for {2} more of {3}",
                    count, at, m.pending, m.expected));
      m.pending -= count;
      release(w, l, now, m.arrived);
      completeIfDone(m);
      ++launch.changes;
      break;
    case Kind::ExpectTx:
      m.bytes += count;
      ++launch.changes;
      break;
    case Kind::CompleteTx:
      m.bytes -= count;
      completeIfDone(m);
      ++launch.changes;
      break;
    default: {
      if (!b.fills.empty()) {
        arriveFills(w, offset);
        completeIfDone(m);
      }
      uint64_t waited = op.kind == Kind::Wait ? w.row<uint64_t>(op.state)[l] : w.row<uint32_t>(op.state)[l];
      bool complete = op.kind == Kind::Wait ? m.phase > waited : (m.phase & 1) != (waited & 1);
      w.row<uint8_t>(op.complete)[l] = complete;
      if (complete) join(w.known, m.complete);
    }
    }
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

void emitMbarrier(Decoder &d, MbarrierOperation op) {
  auto kept = std::make_shared<MbarrierOperation>(std::move(op));
  d.emit(runMbarrier, kNoRow, kNoRow, kNoRow, kNoRow, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
}
void emitElect(Decoder &d, Row leader, Row isLeader, Row members) { d.emit(elect, kNoRow, leader, isLeader, members); }

} // namespace tessera::emulator
