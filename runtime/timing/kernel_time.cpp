// Occupancy, sample and sum over the grid (see kernel_time.h).
#include "runtime/timing/kernel_time.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

namespace tessera::timing {
using code_object::Grid;
using code_object::Kernel;
using code_object::Program;
using code_object::Trace;
using code_object::WaveTrace;
using code_object::WorkgroupId;
using llvm::divideCeil;

namespace {

uint64_t count(const std::array<uint32_t, 3> &a) { return uint64_t(a[0]) * a[1] * a[2]; }

WorkgroupId idOf(uint64_t index, const Grid &g) {
  return {uint32_t(index % g.workgroups[0]), uint32_t(index / g.workgroups[0] % g.workgroups[1]),
          uint32_t(index / g.workgroups[0] / g.workgroups[1])};
}

} // namespace

absl::StatusOr<Occupancy> occupancy(const Machine &m, const Kernel &k, const Grid &g) {
  Occupancy o;
  o.wavesPerWorkgroup = unsigned(divideCeil(count(g.workItems), k.waveSize));
  unsigned widening = std::max(1u, k.waveSize / m.nativeLanes); // a register of a wider wave takes as many rows
  unsigned byRegisters = k.vgprs ? m.vgprs / (k.vgprs * widening) : m.mostWaves;
  o.wavesByRegisters = std::min(byRegisters, m.mostWaves);
  unsigned lds = unsigned(llvm::alignTo(k.descriptor.ldsBytes + g.dynamicLdsBytes, m.ldsGranule));
  unsigned waves = m.simds * o.wavesByRegisters;
  unsigned byWaves = o.wavesPerWorkgroup ? waves / o.wavesPerWorkgroup : 0;
  unsigned byLds = lds ? m.ldsBytes / lds : byWaves;
  o.workgroups = std::min(byWaves, byLds);
  o.limit = byLds < byWaves ? "LDS" : byRegisters < m.mostWaves ? "registers" : "number of waves";
  if (o.workgroups == 0)
    return absl::ResourceExhaustedError(absl::StrCat("no workgroup of ", k.name, " fits a compute unit of ", m.target,
                                                     ": ", o.wavesPerWorkgroup, " waves with ", k.vgprs,
                                                     " registers each, ", lds, " bytes of LDS"));
  return o;
}

std::vector<WorkgroupId> Sample::all() const {
  std::vector<WorkgroupId> ids = replayed;
  ids.insert(ids.end(), neighbours.begin(), neighbours.end());
  return ids;
}

Sample sampleOf(const Machine &m, const Occupancy &o, const Grid &g, const SampleOptions &options) {
  uint64_t total = count(g.workgroups);
  uint64_t unitsOfDie = std::max(1u, m.computeUnits / m.dies);
  // The workgroup that compute unit `unit` of the first die gets as its `repetition`th.
  auto index = [&](uint64_t unit, uint64_t repetition) { return (repetition * unitsOfDie + unit) * m.dies; };
  // A compute unit in the middle: the first workgroups of a grid are often special (causal masks, borders).
  uint64_t onDie = divideCeil(total, uint64_t(m.dies));
  uint64_t unit = std::min(unitsOfDie, onDie) / 2;
  Sample s;
  uint64_t most = std::max<uint64_t>(1, divideCeil(total, uint64_t(m.computeUnits)));
  uint64_t wanted = std::min<uint64_t>(options.workgroups ? options.workgroups : o.workgroups, most);
  llvm::DenseSet<uint64_t> used;
  auto add = [&](uint64_t at, std::vector<WorkgroupId> &to) {
    if (at < total && used.insert(at).second) to.push_back(idOf(at, g));
  };
  for (uint64_t r = 0; r < most && s.replayed.size() < wanted; ++r) add(index(unit, r), s.replayed);
  // The last incomplete repetition may not reach this compute unit: then any others stand for it.
  for (uint64_t at = 0; at < total && s.replayed.size() < wanted; ++at) add(at, s.replayed);
  // Next neighbours and far ones alternate.
  uint64_t units = std::min(unitsOfDie, onDie);
  for (uint64_t n = 1; n < units && s.neighbours.size() < options.neighbours; ++n) {
    uint64_t distance = n % 2 ? n / 2 + 1 : units / 2 + n / 2;
    add(index((unit + distance) % units, 0), s.neighbours);
  }
  s.residentOnDie = unsigned(std::min<uint64_t>(onDie, unitsOfDie * o.workgroups));
  return s;
}

namespace {

/// By line: by how many of the sample's workgroups it is read.
using Readers = llvm::DenseMap<uint64_t, unsigned>;

struct Lines {
  Readers readers;
  size_t workgroups = 0;
  uint64_t uniqueBytes = 0, allBytes = 0; // all: of each workgroup its own
};

Lines linesOfSample(const Machine &m, const Program &p, const Trace &trace) {
  Lines out;
  llvm::DenseSet<uint64_t> ofWorkgroup;
  auto finish = [&] {
    for (uint64_t l : ofWorkgroup) ++out.readers[l];
    out.allBytes += ofWorkgroup.size() * m.lineBytes;
    ofWorkgroup.clear();
  };
  const std::array<uint32_t, 3> *current = nullptr;
  llvm::SmallVector<uint64_t, 64> lines;
  for (const WaveTrace &w : trace.waves) {
    if (!current || *current != w.workgroup) {
      finish();
      current = &w.workgroup;
      ++out.workgroups;
    }
    for (auto &e : w.events) {
      if (e.addressCount == 0 || p.instructions[e.instruction].unit == code_object::Unit::Smem) continue;
      linesOf(llvm::ArrayRef(w.addresses).slice(e.firstAddress, e.addressCount), e.bytes, m.lineBytes, lines);
      ofWorkgroup.insert(lines.begin(), lines.end());
    }
  }
  finish();
  out.uniqueBytes = uint64_t(out.readers.size()) * m.lineBytes;
  return out;
}

/// Where lines that L2 lacks come from.
struct Behind {
  bool inCache = false;
  double memoryPart = 1; // of what is fetched behind L2: from memory, because nobody has fetched it before
  /// Bytes a cycle of the whole GPU.
  double rate(const Machine &m) const {
    if (inCache) return m.cacheBytesPerCycle();
    double memory = m.memoryBytesPerCycle() / std::max(memoryPart, 1e-3);
    return m.cacheBytes ? std::min(memory, m.cacheBytesPerCycle()) : m.memoryBytesPerCycle();
  }
};

/// How many of the die's compute units read a line: lines that k of the n sampled workgroups read are assumed to be
/// read by as large a part of the die's resident ones.
double readersOf(const Lines &lines, const Sample &sample, uint64_t line, unsigned active) {
  auto it = lines.readers.find(line);
  if (it == lines.readers.end() || lines.workgroups < 2) return 1;
  double others = double(lines.workgroups) - 1;
  double resident = std::min(sample.residentOnDie, active);
  return 1 + (it->second - 1) * std::max(1.0, (resident - 1) / others);
}

/// What one of `active` compute units has.
MemoryShare shareOf(const Machine &m, const Lines &lines, const Sample &sample, unsigned active, const Behind &behind) {
  MemoryShare s;
  unsigned onDie = std::max(1u, unsigned(divideCeil(active, m.dies)));
  s.l2BytesPerCycle = std::min(double(m.unitL2BytesPerCycle), double(m.l2BytesPerCycle) / onDie);
  s.behindBytesPerCycle = std::min(behind.rate(m) / std::max(1u, active), s.l2BytesPerCycle);
  s.behindLatency = behind.inCache ? m.cacheLatency : m.memoryLatency;
  s.l2Bytes = double(m.l2Bytes) / onDie;
  s.readers = [&lines, &sample, active](uint64_t line) { return readersOf(lines, sample, line, active); };
  return s;
}

/// Footprint, and what of the traffic behind L2 comes from memory.
Behind behindOf(const Machine &m, const Lines &lines, const Sample &sample, const TimeOptions &options, KernelTime &t) {
  double perWorkgroup = lines.workgroups ? double(lines.uniqueBytes) / double(lines.workgroups) : 0;
  // It grows at most as it grows within the sample, and is at most the buffers.
  t.footprintBytes = perWorkgroup * double(t.workgroups);
  if (options.bufferBytes > 0) t.footprintBytes = std::min(t.footprintBytes, options.bufferBytes);
  double traffic = 0;
  for (auto &[line, readers] : lines.readers)
    traffic += readers * m.lineBytes / readersOf(lines, sample, line, unsigned(t.workgroups));
  traffic *= lines.workgroups ? double(t.workgroups) / double(lines.workgroups) : 0;
  Behind b;
  b.inCache = t.inCache = !options.cold && t.footprintBytes <= m.cacheBytes;
  b.memoryPart = traffic > 0 ? std::min(1.0, t.footprintBytes / traffic) : 1;
  return b;
}

/// The replayed workgroups' waves, in the order in which the compute unit starts them.
absl::StatusOr<std::vector<const WaveTrace *>> wavesOf(const Trace &trace, llvm::ArrayRef<WorkgroupId> ids) {
  std::vector<const WaveTrace *> waves;
  for (auto &id : ids) {
    size_t before = waves.size();
    for (auto &w : trace.waves)
      if (w.workgroup == id) waves.push_back(&w);
    if (waves.size() == before)
      return absl::InvalidArgumentError(
          absl::StrCat("the trace lacks workgroup (", id[0], ", ", id[1], ", ", id[2], ")"));
  }
  return waves;
}

} // namespace

absl::StatusOr<KernelTime> timeKernel(const Machine &m, const Occupancy &o, const Sample &sample, const Program &p,
                                      const Grid &g, const Trace &trace, const TimeOptions &options) {
  KernelTime t;
  t.machine = m;
  t.occupancy = o;
  t.sample = sample;
  t.workgroups = count(g.workgroups);
  uint64_t atOnce = uint64_t(m.computeUnits) * o.workgroups;
  t.fullBatches = unsigned(t.workgroups / atOnce);
  uint64_t rest = t.workgroups % atOnce;
  t.lastResident = unsigned(divideCeil(rest, uint64_t(m.computeUnits)));

  Lines lines = linesOfSample(m, p, trace);
  Behind behindL2 = behindOf(m, lines, sample, options, t);

  auto waves = wavesOf(trace, sample.replayed);
  if (!waves.ok()) return waves.status();
  // Replays `resident` workgroups; the sample may be smaller, then its time is the one of what there is.
  auto run = [&](unsigned resident, unsigned active, size_t records) -> absl::StatusOr<CuReplay> {
    std::array<uint32_t, 3> last = sample.replayed[std::min<size_t>(resident, sample.replayed.size()) - 1];
    size_t end = waves->size();
    if (resident < sample.replayed.size())
      end = size_t(llvm::find_if(llvm::reverse(*waves), [&](auto *w) { return w->workgroup == last; }).base() -
                   waves->begin());
    ReplayInput in{p.instructions,
                   p.waveSize,
                   llvm::ArrayRef(*waves).take_front(end),
                   o.workgroups,
                   shareOf(m, lines, sample, active, behindL2),
                   records};
    return replay(m, in);
  };
  Cycle cycles = 0;
  double behind = 0;
  if (t.fullBatches) {
    auto full = run(unsigned(sample.replayed.size()), m.computeUnits, options.mostRecords);
    if (!full.ok()) return full.status();
    double batches = double(o.workgroups) / double(sample.replayed.size()); // samples in a batch
    t.batchCycles = Cycle(double(full->cycles) * std::max(1.0, std::ceil(batches)));
    if (sample.replayed.size() > o.workgroups) t.batchCycles = Cycle(double(full->cycles) * batches);
    cycles += t.fullBatches * t.batchCycles + (t.fullBatches - 1) * Cycle(m.workgroupStartCycles);
    behind += full->traffic.behindBytes * batches * t.fullBatches * m.computeUnits;
    t.replay = std::move(*full);
  }
  if (t.lastResident) {
    unsigned active = unsigned(std::min<uint64_t>(rest, m.computeUnits));
    auto last = run(t.lastResident, active, t.fullBatches ? 0 : options.mostRecords);
    if (!last.ok()) return last.status();
    t.lastCycles = last->cycles;
    cycles += t.lastCycles + (t.fullBatches ? m.workgroupStartCycles : 0);
    double replayed = std::min<double>(t.lastResident, double(sample.replayed.size()));
    behind += last->traffic.behindBytes / replayed * double(rest);
    if (!t.fullBatches) t.replay = std::move(*last);
  }
  t.behindBytes = behind;
  double launch = m.launchNs / 1000.0;
  t.computeMicroseconds = double(cycles) / m.clockMHz;
  double fromCache = m.cacheBytes ? t.behindBytes / (m.cacheGBs * 1e3) : 0;
  double fromMemory = t.inCache ? 0 : std::min(t.footprintBytes, t.behindBytes) / (m.memoryGBs * 1e3);
  t.bandwidthMicroseconds = std::max(fromCache, fromMemory);
  t.microseconds = launch + std::max(t.computeMicroseconds, t.bandwidthMicroseconds);
  return t;
}

} // namespace tessera::timing
