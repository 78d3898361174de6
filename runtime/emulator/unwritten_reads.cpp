// See unwritten_reads.h.
#include "runtime/emulator/unwritten_reads.h"
#include "runtime/emulator/unused_reads.h"
#include "runtime/emulator/unwritten_trials.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::emulator {

namespace {

/// Whole tensors of memory that nobody wrote are no race: the first of them is reported at once.
constexpr size_t kMostReads = 4096;

std::string textOf(const UnwrittenRead &r) { return neverWritten(*r.region, r.offset); }

/// A read that another thread's write follows, without a barrier between the two.
std::string textOf(const UnwrittenRead &r, const Warp &writer, const Instruction &i, unsigned lane) {
  std::string at = describe(i.source);
  return llvm::formatv("race: it reads byte {0} of '{1}', which thread {2} (warp {3}, lane {4}) writes later{5}, and "
                       "no barrier orders the two",
                       r.offset, r.region->name, writer.index * writer.lanes + lane, writer.index, lane,
                       at.empty() ? "" : " (" + at + ")");
}

bool report(Launch &launch, const UnwrittenRead &r, const std::string &text) {
  UnwrittenRead kept = r;
  launch.unwritten.clear();
  fail(*kept.warp, kept.instruction, int(kept.lane), text);
  return false;
}

bool reportUnwritten(Launch &launch, const UnwrittenRead &r) {
  launch.failedUnwritten |= launch.failure.ok();
  return report(launch, r, textOf(r));
}

} // namespace

bool mayReadUnwritten(Warp &w, const Instruction &i, unsigned lane, const Region &r, uint64_t offset, unsigned bytes,
                      uint64_t now) {
  Launch &launch = *w.block->launch;
  if (!launch.checks.races) return isWritten(w, i, lane, r, offset, bytes);
  std::optional<uint64_t> found = firstUnwritten(launch, r, offset, bytes);
  if (!found) return true;
  if (launch.trial) {
    launch.trial->read(w, i, lane, r, offset, bytes);
    return true;
  }
  launch.unwritten.push_back({&w, &i, lane, &r, *found, now});
  return launch.unwritten.size() <= kMostReads || !reportRead(launch);
}

bool mayWriteAfterReads(Warp &w, const Instruction &i, unsigned lane, const Region &r, uint64_t offset,
                        unsigned bytes) {
  Block &b = *w.block;
  Launch &launch = *b.launch;
  for (size_t k = 0; k < launch.unwritten.size();) {
    const UnwrittenRead &read = launch.unwritten[k];
    bool isOther = read.warp != &w || read.lane != lane;
    bool isOfBytes = read.region == &r && read.offset >= offset && read.offset < offset + bytes;
    bool isRace = isOfBytes && isOther && read.warp->block == &b && read.stamp > b.lastGlobalBarrier &&
                  !w.knows(read.warp->index * w.lanes + read.lane, read.stamp);
    if (!isRace) {
      ++k;
      continue;
    }
    std::string text = textOf(read, w, i, lane);
    if (!isUnused(*read.warp, read.instruction->id)) {
      report(launch, read, text);
      w.stop = true;
      return false;
    }
    putAside(*read.warp, read.instruction->id, read.lane, text);
    launch.unwritten.erase(launch.unwritten.begin() + long(k));
  }
  return true;
}

bool endReads(Block &b) {
  Launch &launch = *b.launch;
  auto *read = llvm::find_if(launch.unwritten, [&](auto &r) { return r.warp->block == &b; });
  return read == launch.unwritten.end() || reportUnwritten(launch, *read);
}

bool reportRead(Launch &launch) {
  if (launch.unwritten.empty()) return false;
  reportUnwritten(launch, launch.unwritten.front());
  return true;
}

} // namespace tessera::emulator
