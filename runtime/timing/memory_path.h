// The way of a compute unit's accesses to memory: coalescing into lines, L1, the compute unit's share of L2 and of what
// lies behind it.
//
// Each level is a server with a rate: a request starts when the one before it has been served, and its data arrives a
// latency later. Of L2 the compute unit has the share that its own lines need: a line that several compute units of a
// die read counts only as a part of a line, for capacity and for what is fetched from behind L2.
#pragma once
#include "runtime/timing/machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>
#include <functional>

namespace tessera::timing {

using Cycle = uint64_t;

/// What one compute unit has of what it shares with others, and how far its misses go.
struct MemoryShare {
  double l2BytesPerCycle = 64;
  double behindBytesPerCycle = 8; // from the memory-side cache or memory
  unsigned behindLatency = 500;   // of a load that misses L2
  double l2Bytes = 1 << 20;
  /// How many compute units of the die read a line; empty: one.
  std::function<double(uint64_t line)> readers;
};

/// Lines of the accesses of a wave's lanes, each once, in ascending order.
void linesOf(llvm::ArrayRef<uint64_t> addresses, unsigned bytes, unsigned lineBytes,
             llvm::SmallVectorImpl<uint64_t> &lines);

/// A cache whose lines have weights, least recently used first out.
class LineCache {
public:
  explicit LineCache(double capacity) : capacity_(capacity) {}
  /// Whether the line is there; it is afterwards.
  bool access(uint64_t line, double weight);

private:
  struct Entry {
    uint64_t stamp;
    double weight;
  };
  struct Use {
    uint64_t line, stamp;
  };
  double capacity_, used_ = 0;
  uint64_t now_ = 0;
  llvm::DenseMap<uint64_t, Entry> lines_;
  std::deque<Use> uses_; // the oldest first; of a line only its last use counts
};

class MemoryPath {
public:
  MemoryPath(const Machine &, MemoryShare);

  /// When the data of all lines has arrived.
  Cycle load(Cycle issue, llvm::ArrayRef<uint64_t> lines);
  /// When L2 has acknowledged. `bytes`: that are written.
  Cycle store(Cycle issue, llvm::ArrayRef<uint64_t> lines, unsigned bytes);
  /// A load through the scalar cache.
  Cycle scalarLoad(Cycle issue, llvm::ArrayRef<uint64_t> addresses, unsigned bytes);

  struct Traffic {
    uint64_t l1Bytes = 0;    // requested of L1, in lines
    uint64_t l2Bytes = 0;    // requested of L2
    double behindBytes = 0;  // this compute unit's part of what L2 fetched and wrote
    uint64_t busyCycles = 0; // of L1
  };
  const Traffic &traffic() const { return traffic_; }

private:
  Cycle behind(double start, double bytes);

  const Machine &machine_;
  MemoryShare share_;
  LineCache l1_, l2_, scalar_;
  double l1Free_ = 0, l2Free_ = 0, behindFree_ = 0;
  Traffic traffic_;
};

} // namespace tessera::timing
