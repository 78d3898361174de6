// Servers and caches of a compute unit's memory accesses (see memory_path.h).
#include "runtime/timing/memory_path.h"
#include <algorithm>
#include <cmath>

namespace tessera::timing {

void linesOf(llvm::ArrayRef<uint64_t> addresses, unsigned bytes, unsigned lineBytes,
             llvm::SmallVectorImpl<uint64_t> &lines) {
  lines.clear();
  for (uint64_t a : addresses) {
    uint64_t last = (a + std::max(bytes, 1u) - 1) / lineBytes;
    for (uint64_t l = a / lineBytes; l <= last; ++l)
      if (lines.empty() || lines.back() != l) lines.push_back(l); // neighbours mostly share a line
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
}

bool LineCache::access(uint64_t line, double weight) {
  ++now_;
  uses_.push_back({line, now_});
  auto [it, isNew] = lines_.try_emplace(line, Entry{now_, weight});
  if (!isNew) {
    it->second.stamp = now_;
    return true;
  }
  used_ += weight;
  while (used_ > capacity_ && uses_.size() > 1) {
    Use oldest = uses_.front();
    uses_.pop_front();
    auto old = lines_.find(oldest.line);
    if (old == lines_.end() || old->second.stamp != oldest.stamp) continue; // used again later
    used_ -= old->second.weight;
    lines_.erase(old);
  }
  return false;
}

MemoryPath::MemoryPath(const Machine &m, MemoryShare share)
    : machine_(m), share_(std::move(share)), l1_(m.l1Bytes), l2_(share_.l2Bytes), scalar_(16384) {}

Cycle MemoryPath::behind(double start, double bytes) {
  behindFree_ = std::max(behindFree_, start) + bytes / share_.behindBytesPerCycle;
  traffic_.behindBytes += bytes;
  return Cycle(std::ceil(behindFree_));
}

Cycle MemoryPath::load(Cycle issue, llvm::ArrayRef<uint64_t> lines) {
  Cycle done = issue + machine_.l1Latency;
  for (uint64_t line : lines) {
    double start = std::max(l1Free_, double(issue));
    double transfer = double(machine_.lineBytes) / machine_.l1BytesPerCycle;
    l1Free_ = start + transfer;
    traffic_.l1Bytes += machine_.lineBytes;
    traffic_.busyCycles += uint64_t(transfer);
    double arrival = start + machine_.l1Latency;
    if (!l1_.access(line, machine_.lineBytes)) {
      l2Free_ = std::max(l2Free_, start) + machine_.lineBytes / share_.l2BytesPerCycle;
      traffic_.l2Bytes += machine_.lineBytes;
      double readers = share_.readers ? std::max(1.0, share_.readers(line)) : 1;
      double weight = machine_.lineBytes / readers;
      if (l2_.access(line, weight))
        arrival = l2Free_ + machine_.l2Latency;
      else
        arrival = std::max(double(behind(start, weight)), l2Free_) + share_.behindLatency;
    }
    done = std::max(done, Cycle(std::ceil(arrival)));
  }
  return done;
}

Cycle MemoryPath::store(Cycle issue, llvm::ArrayRef<uint64_t> lines, unsigned bytes) {
  if (lines.empty()) return issue + machine_.l2Latency;
  // L1 writes through: the bytes pass it and the way to L2, which writes them out later.
  double start = std::max(l1Free_, double(issue));
  double transfer = std::max(double(bytes), double(lines.size())) / machine_.l1BytesPerCycle;
  l1Free_ = start + transfer;
  traffic_.l1Bytes += bytes;
  traffic_.busyCycles += uint64_t(transfer);
  l2Free_ = std::max(l2Free_, start) + bytes / share_.l2BytesPerCycle;
  traffic_.l2Bytes += bytes;
  Cycle written = behind(start, bytes);
  // The acknowledgement waits for the writes behind L2 only where these are the bottleneck.
  return std::max(Cycle(std::ceil(l2Free_)), written) + machine_.l2Latency;
}

Cycle MemoryPath::scalarLoad(Cycle issue, llvm::ArrayRef<uint64_t> addresses, unsigned bytes) {
  llvm::SmallVector<uint64_t, 4> lines;
  linesOf(addresses, bytes, 64, lines);
  bool hit = true;
  for (uint64_t line : lines) hit &= scalar_.access(line, 64);
  return issue + machine_.scalarLatency + (hit ? 0 : machine_.scalarMissExtra);
}

} // namespace tessera::timing
