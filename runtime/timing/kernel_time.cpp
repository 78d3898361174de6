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
  // The descriptor counts registers by 8; a SIMD may allocate more at a time.
  auto vgprs = unsigned(llvm::alignTo(uint64_t(k.vgprs) * widening, m.vgprUnit));
  unsigned byRegisters = vgprs ? m.vgprs / vgprs : m.mostWaves;
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

/// A line that the replayed workgroups access.
struct SharedLine {
  unsigned replayed = 0; // workgroups of the replayed ones
  float readers = 0;     // of all sampled ones; 0: not known yet
};
struct Lines {
  llvm::DenseMap<uint64_t, SharedLine> lines;
  size_t sampled = 0, replayed = 0; // workgroups
};

/// Calls f(line, event's place in its wave, event) for the accesses of a wave to vector memory.
template <class F> void forLinesOf(const WaveTrace &w, const Machine &m, const Program &p, size_t mostEvents, F f) {
  llvm::SmallVector<uint64_t, 64> lines;
  for (size_t k = 0; k < std::min(mostEvents, w.events.size()); ++k) {
    auto &e = w.events[k];
    if (e.addressCount == 0 || p.instructions[e.instruction].unit == code_object::Unit::Smem) continue;
    linesOf(llvm::ArrayRef(w.addresses).slice(e.firstAddress, e.addressCount), e.bytes, m.lineBytes, lines);
    for (uint64_t line : lines) f(line, k, e);
  }
}

/// By line the sampled workgroups that read it with their first instructions, which all of them have executed.
llvm::DenseMap<uint64_t, unsigned> readersOf(const Machine &m, const Program &p, const Trace &trace, size_t horizon,
                                             size_t &workgroups) {
  llvm::DenseMap<uint64_t, unsigned> readers;
  llvm::DenseSet<uint64_t> ofWorkgroup;
  const std::array<uint32_t, 3> *current = nullptr;
  auto finish = [&] {
    for (uint64_t l : ofWorkgroup) ++readers[l];
    ofWorkgroup.clear();
  };
  for (const WaveTrace &w : trace.waves) {
    if (!current || *current != w.workgroup) {
      finish();
      current = &w.workgroup;
      ++workgroups;
    }
    forLinesOf(w, m, p, horizon, [&](uint64_t line, size_t, auto &) { ofWorkgroup.insert(line); });
  }
  finish();
  return readers;
}

/// How many readers the lines of an instruction have: a mean of their inverses, for what a line costs is divided.
struct MeanReaders {
  double inverse = 0, count = 0;
  void add(float readers) {
    inverse += 1 / readers;
    ++count;
  }
  float mean() const { return count > 0 ? float(count / inverse) : 0; }
};

Lines linesOfSample(const Machine &m, const Program &p, const Trace &trace, const Sample &sample, size_t horizon) {
  Lines out;
  auto readers = readersOf(m, p, trace, horizon, out.sampled);
  out.replayed = sample.replayed.size();
  std::vector<MeanReaders> ofInstruction(p.instructions.size());
  MeanReaders all;
  llvm::DenseMap<uint64_t, uint32_t> later; // lines that are read later: the first instruction that does
  for (auto &id : sample.replayed) {
    llvm::DenseSet<uint64_t> mine;
    for (const WaveTrace &w : trace.waves) {
      if (w.workgroup != id) continue;
      forLinesOf(w, m, p, w.events.size(), [&](uint64_t line, size_t k, auto &e) {
        SharedLine &x = out.lines[line];
        x.replayed += mine.insert(line).second;
        if (k >= horizon) {
          later.try_emplace(line, e.instruction);
          return;
        }
        x.readers = float(readers[line]);
        ofInstruction[e.instruction].add(x.readers);
        all.add(x.readers);
      });
    }
  }
  for (auto &[line, instruction] : later) {
    SharedLine &x = out.lines[line];
    if (x.readers > 0) continue;
    float mean = ofInstruction[instruction].mean();
    if (mean == 0) mean = all.mean();
    x.readers = std::max(mean, float(x.replayed));
  }
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
double readersOf(const Lines &lines, const Sample &sample, const SharedLine &line, unsigned active) {
  if (lines.sampled < 2) return 1;
  double others = double(lines.sampled) - 1;
  double resident = std::min(sample.residentOnDie, active);
  return 1 + (line.readers - 1) * std::max(1.0, (resident - 1) / others);
}

/// What one of `active` compute units has.
MemoryShare shareOf(const Machine &m, const Lines &lines, const Sample &sample, unsigned active, const Behind &behind) {
  MemoryShare s;
  unsigned onDie = std::max(1u, unsigned(divideCeil(active, m.dies)));
  s.l2BytesPerCycle = std::min(double(m.unitL2BytesPerCycle), double(m.l2BytesPerCycle) / onDie);
  s.behindBytesPerCycle = std::min(behind.rate(m) / std::max(1u, active), s.l2BytesPerCycle);
  s.behindLatency = behind.inCache ? m.cacheLatency : m.memoryLatency;
  s.l2Bytes = double(m.l2Bytes) / onDie;
  s.readers = [&lines, &sample, active](uint64_t line) {
    auto at = lines.lines.find(line);
    return at == lines.lines.end() ? 1.0 : readersOf(lines, sample, at->second, active);
  };
  return s;
}

/// Footprint, and what of the traffic behind L2 comes from memory.
Behind behindOf(const Machine &m, const Lines &lines, const Sample &sample, const TimeOptions &options, KernelTime &t) {
  double footprint = 0, traffic = 0; // of the replayed workgroups
  for (auto &[line, x] : lines.lines) {
    footprint += double(x.replayed) * m.lineBytes / x.readers;
    traffic += double(x.replayed) * m.lineBytes / readersOf(lines, sample, x, unsigned(t.workgroups));
  }
  double all = lines.replayed ? double(t.workgroups) / double(lines.replayed) : 0;
  traffic *= all;
  // It grows at most as it grows within the sample, and is at most the buffers.
  t.footprintBytes = footprint * all;
  if (options.bufferBytes > 0) t.footprintBytes = std::min(t.footprintBytes, options.bufferBytes);
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

/// The times of a kernel that takes these cycles, of which the matrix units of all compute units together are busy for
/// `matrix`: the clock follows from their load.
/// @pre t has the machine and what memory moves
void setTimes(KernelTime &t, Cycle cycles, double matrix) {
  const Machine &m = t.machine;
  double launch = m.launchNs / 1000.0;
  // The load decides over the time of many launches, so the gaps between them count, too.
  double atPeak = double(cycles) / m.clockMHz;
  t.matrixLoad = std::min(1.0, matrix / (double(m.computeUnits) * m.simds * m.clockMHz * (atPeak + launch)));
  double slowest = std::max(1.0, double(m.clockMHz) / m.matrixClockMHz);
  t.clockMHz = m.clockMHz / (1 + t.matrixLoad * (slowest - 1));
  t.computeMicroseconds = double(cycles) / t.clockMHz;
  double fromCache = m.cacheBytes ? t.behindBytes / (m.cacheGBs * 1e3) : 0;
  double fromMemory = t.inCache ? 0 : std::min(t.footprintBytes, t.behindBytes) / (m.memoryGBs * 1e3);
  t.bandwidthMicroseconds = std::max(fromCache, fromMemory);
  t.microseconds = launch + std::max(t.computeMicroseconds, t.bandwidthMicroseconds);
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

  Lines lines = linesOfSample(m, p, trace, sample, options.sample.neighbourInstructions);
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
  double behind = 0, matrix = 0; // matrix: cycles of all matrix units of the GPU
  auto matrixOf = [](const CuReplay &r) { return double(r.busy[unsigned(Resource::Matrix)]); };
  if (t.fullBatches) {
    auto full = run(unsigned(sample.replayed.size()), m.computeUnits, options.mostRecords);
    if (!full.ok()) return full.status();
    double batches = double(o.workgroups) / double(sample.replayed.size()); // samples in a batch
    t.batchCycles = Cycle(double(full->cycles) * std::max(1.0, std::ceil(batches)));
    if (sample.replayed.size() > o.workgroups) t.batchCycles = Cycle(double(full->cycles) * batches);
    cycles += t.fullBatches * t.batchCycles + (t.fullBatches - 1) * Cycle(m.workgroupStartCycles);
    behind += full->traffic.behindBytes * batches * t.fullBatches * m.computeUnits;
    matrix += matrixOf(*full) * batches * t.fullBatches * m.computeUnits;
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
    matrix += matrixOf(*last) / replayed * double(rest);
    if (!t.fullBatches) t.replay = std::move(*last);
  }
  t.behindBytes = behind;
  setTimes(t, cycles, matrix);
  return t;
}

} // namespace tessera::timing
