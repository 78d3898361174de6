// The cycles of one compute unit (see replay.h).
//
// Time advances to the next cycle in which anything can issue. A wave's readiness is computed once, after its previous
// instruction has issued: what its next one waits for is then known but for barriers, which the last arriving wave
// releases, and for units, which are tested when the wave is ready.
#include "runtime/timing/replay.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/timing/lds_phases.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>

namespace tessera::timing {
using code_object::Instruction;
using code_object::RegisterFile;
using code_object::RegisterRange;
using code_object::TraceEvent;
using code_object::WaveTrace;

llvm::StringRef name(Stall s) {
  switch (s) {
  case Stall::None: return "none";
  case Stall::Registers: return "registers";
  case Stall::Unit: return "unit";
  case Stall::VectorMemory: return "memory";
  case Stall::Lds: return "lds";
  case Stall::ScalarMemory: return "scalar memory";
  case Stall::Barrier: return "barrier";
  case Stall::Sleep: return "sleep";
  case Stall::Branch: return "branch";
  case Stall::Counter: return "counter";
  }
  return "";
}

uint64_t InstructionTotals::allStalled() const {
  uint64_t sum = 0;
  for (uint64_t s : stalled) sum += s;
  return sum;
}

namespace {

constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

// Registers as one array: VGPRs, AGPRs, SGPRs, SCC.
constexpr unsigned kAgprs = 1024, kSgprBase = 2048, kScc = kSgprBase + code_object::kSgprs, kRegisters = kScc + 1;

unsigned firstOf(const RegisterRange &r) {
  switch (r.file) {
  case RegisterFile::Vgpr: return r.index;
  case RegisterFile::Agpr: return kAgprs + r.index;
  case RegisterFile::Sgpr: return kSgprBase + r.index;
  case RegisterFile::Scc: return kScc;
  case RegisterFile::None: break;
  }
  return kRegisters;
}
unsigned endOf(const RegisterRange &r) { return std::min(kRegisters, firstOf(r) + r.count); }
bool same(const RegisterRange &a, const RegisterRange &b) {
  return a.file == b.file && a.index == b.index && a.count == b.count;
}

/// Accesses in flight that one counter counts: their completions, the earliest first.
class InFlight {
public:
  void add(Cycle completion) { completions_.insert(llvm::upper_bound(completions_, completion), completion); }
  void retire(Cycle now) {
    size_t done = size_t(llvm::upper_bound(completions_, now) - completions_.begin());
    completions_.erase(completions_.begin(), completions_.begin() + ptrdiff_t(done));
  }
  /// When at most `limit` are left; 0: they are already.
  Cycle downTo(size_t limit) const {
    return completions_.size() <= limit ? 0 : completions_[completions_.size() - limit - 1];
  }

private:
  std::vector<Cycle> completions_;
};

struct Wave {
  const WaveTrace *trace = nullptr;
  unsigned result = 0; // index in CuReplay::waves
  unsigned workgroup = 0;
  size_t next = 0; // event
  unsigned priority = 0;
  Cycle earliest = 0; // in order: after the instruction before, and what it blocks
  Cycle ready = 0;
  Stall reason = Stall::None; // of `ready`, if later than `earliest`
  Cycle blockedUntil = 0;     // behind a barrier, s_sleep, a branch
  Stall blockedBy = Stall::None;
  bool atBarrier = false;
  unsigned signals = 0, awaits = 0;
  std::array<InFlight, kCounters> inFlight;
  Cycle lastInOrder[kCounters] = {0, 0, 0, 0};   // completions of a kind are in order
  std::array<Cycle, kRegisters> written{};       // when a register can be read
  std::array<Cycle, kAgprs + 512> accumulated{}; // … as a matrix instruction's accumulator
  bool done() const { return next >= trace->events.size(); }
};

struct Workgroup {
  size_t firstWave = 0, waves = 0; // in the input
  unsigned started = 0, live = 0;
  std::vector<unsigned> arrivals; // by barrier
  std::vector<Cycle> released;    // by barrier; kNever: not yet
  std::vector<unsigned> ended;    // of each wave that has ended: at how many barriers it had arrived
  /// Barriers need not wait for waves that have ended.
  bool complete(unsigned barrier) const {
    auto absent = llvm::count_if(ended, [&](unsigned signals) { return signals <= barrier; });
    return arrivals[barrier] + unsigned(absent) >= started;
  }
};

struct Simd {
  std::vector<Wave *> waves; // resident, the oldest first
  std::array<Cycle, kResources> free{};
};

class Replayer {
public:
  Replayer(const Machine &m, const ReplayInput &in) : m_(m), in_(in), memory_(m, in.share), simds_(m.simds) {}
  absl::StatusOr<CuReplay> run();

private:
  absl::Status readCode();
  void readWorkgroups();
  void start(Cycle);
  void computeReady(Wave &);
  void waitForRegisters(Wave &, const Instruction &, const InstructionCost &);
  void waitForCounters(Wave &, const Instruction &, const InstructionCost &);
  bool issueAny(Simd &, Cycle now, Cycle &next);
  Cycle unitFree(const Simd &, const InstructionCost &) const;
  void issue(Simd &, Wave &, Cycle now);
  Cycle access(Wave &, const Instruction &, const InstructionCost &, const TraceEvent &, Cycle now);
  Cycle accessLds(const Instruction &, const TraceEvent &, llvm::ArrayRef<uint32_t>, Cycle now, InstructionTotals &);
  void loadIntoLds(const TraceEvent &);
  void applyEffect(Wave &, const InstructionCost &, Cycle now);
  void arrive(Wave &, Cycle now);
  void release(Workgroup &, unsigned barrier, Cycle now);
  void end(Simd &, Wave &, Cycle now);
  void record(Wave &, const InstructionCost &, const TraceEvent &, Cycle now, Cycle completion);

  void later(Wave &w, Cycle c, Stall reason) {
    if (c > w.ready) {
      w.ready = c;
      w.reason = reason;
    }
  }

  const Machine &m_;
  const ReplayInput &in_;
  MemoryPath memory_;
  std::vector<InstructionCost> costs_; // by index in the code; of those that are executed
  std::vector<Workgroup> workgroups_;
  size_t nextWorkgroup_ = 0;
  unsigned resident_ = 0;
  std::vector<std::unique_ptr<Wave>> waves_;
  std::vector<Simd> simds_;
  double ldsFree_ = 0;
  CuReplay out_;
};

absl::Status Replayer::readCode() {
  costs_.resize(in_.code.size());
  std::vector<bool> isExecuted(in_.code.size());
  for (const WaveTrace *w : in_.waves)
    for (auto &e : w->events) {
      if (e.instruction >= in_.code.size())
        return absl::InvalidArgumentError("the trace has an instruction that the code lacks");
      isExecuted[e.instruction] = true;
    }
  for (size_t i = 0; i < in_.code.size(); ++i) {
    if (!isExecuted[i]) continue;
    auto c = costOf(in_.code[i], m_, in_.waveSize);
    if (!c.ok()) return c.status();
    costs_[i] = *c;
  }
  out_.instructions.resize(in_.code.size());
  return absl::OkStatus();
}

void Replayer::readWorkgroups() {
  for (size_t i = 0; i < in_.waves.size(); ++i) {
    if (i == 0 || in_.waves[i]->workgroup != in_.waves[i - 1]->workgroup ||
        in_.waves[i]->wave <= in_.waves[i - 1]->wave) {
      workgroups_.emplace_back();
      workgroups_.back().firstWave = i;
    }
    ++workgroups_.back().waves;
  }
}

/// Starts workgroups while there is room.
void Replayer::start(Cycle now) {
  while (nextWorkgroup_ < workgroups_.size() && resident_ < in_.residentWorkgroups) {
    unsigned index = unsigned(nextWorkgroup_++);
    Workgroup &g = workgroups_[index];
    ++resident_;
    for (size_t i = 0; i < g.waves; ++i) {
      auto wave = std::make_unique<Wave>();
      wave->trace = in_.waves[g.firstWave + i];
      wave->workgroup = index;
      wave->earliest = now;
      auto simd = llvm::min_element(simds_, [](auto &a, auto &b) { return a.waves.size() < b.waves.size(); });
      wave->result = unsigned(out_.waves.size());
      WaveResult r;
      r.workgroup = wave->trace->workgroup;
      r.wave = wave->trace->wave;
      r.simd = unsigned(simd - simds_.begin());
      r.start = r.end = now;
      out_.waves.push_back(r);
      if (wave->done()) continue; // nothing to execute
      ++g.live;
      ++g.started;
      computeReady(*wave);
      simd->waves.push_back(wave.get());
      waves_.push_back(std::move(wave));
    }
    if (g.live == 0) --resident_;
  }
}

void Replayer::waitForRegisters(Wave &w, const Instruction &i, const InstructionCost &c) {
  for (auto &use : i.uses) {
    bool accumulator = c.resource == Resource::Matrix && !i.defs.empty() && same(use, i.defs.front());
    for (unsigned r = firstOf(use); r < endOf(use); ++r)
      later(w, accumulator && r < w.accumulated.size() ? w.accumulated[r] : w.written[r], Stall::Registers);
  }
}

void Replayer::waitForCounters(Wave &w, const Instruction &i, const InstructionCost &c) {
  static constexpr Stall kReasons[kCounters] = {Stall::VectorMemory, Stall::VectorMemory, Stall::Lds,
                                                Stall::ScalarMemory};
  for (unsigned k = 0; k < kCounters; ++k) {
    if (c.effect == Effect::Wait && c.limits[k] >= 0) later(w, w.inFlight[k].downTo(size_t(c.limits[k])), kReasons[k]);
    if (c.isMemory && c.counts[k]) {
      unsigned most =
          Counter(k) == Counter::Lds && i.unit != code_object::Unit::Flat ? m_.ldsCounterMost : m_.vectorCounterMost;
      later(w, w.inFlight[k].downTo(most - 1), Stall::Counter);
    }
  }
}

void Replayer::computeReady(Wave &w) {
  if (w.atBarrier) {
    w.ready = kNever;
    return;
  }
  w.ready = w.earliest;
  w.reason = Stall::None;
  if (w.done()) return;
  later(w, w.blockedUntil, w.blockedBy);
  uint32_t index = w.trace->events[w.next].instruction;
  const Instruction &i = in_.code[index];
  const InstructionCost &c = costs_[index];
  waitForRegisters(w, i, c);
  waitForCounters(w, i, c);
}

Cycle Replayer::unitFree(const Simd &s, const InstructionCost &c) const {
  if (c.resource == Resource::None) return 0;
  Cycle free = s.free[unsigned(c.resource)];
  return c.alsoVector ? std::max(free, s.free[unsigned(Resource::Vector)]) : free;
}

/// Issues one instruction of the SIMD's waves, if any can; `next`: the earliest later cycle in which one may.
bool Replayer::issueAny(Simd &s, Cycle now, Cycle &next) {
  Wave *best = nullptr;
  for (Wave *w : s.waves) {
    Cycle at = w->ready;
    if (at <= now) at = std::max(at, unitFree(s, costs_[w->trace->events[w->next].instruction]));
    if (at > now)
      next = std::min(next, at);
    else if (!best || w->priority > best->priority)
      best = w;
  }
  if (!best) return false;
  issue(s, *best, now);
  return true;
}

Cycle Replayer::accessLds(const Instruction &i, const TraceEvent &e, llvm::ArrayRef<uint32_t> addresses, Cycle now,
                          InstructionTotals &totals) {
  unsigned bytes = e.bytes ? e.bytes : 4;
  bool write = i.isStore && !i.isAtomic;
  const LdsPhases &phases = m_.phases(write, bytes);
  LdsCycles cycles;
  // read2 and write2 access twice; what has no addresses (ds_permute) takes as much as a dword of each lane.
  size_t lanes = std::max(1u, e.lanes());
  for (size_t at = 0; at < addresses.size(); at += lanes) {
    LdsCycles one = ldsCycles(phases, addresses.slice(at, std::min(lanes, addresses.size() - at)), e.mask, bytes);
    cycles.actual += one.actual;
    cycles.least += one.least;
  }
  unsigned plain = std::max(1u, in_.waveSize / 32);
  if (addresses.empty()) cycles.actual = cycles.least = plain;
  double start = std::max(ldsFree_, double(now));
  ldsFree_ = start + cycles.actual;
  out_.ldsCycles += cycles.actual;
  out_.ldsConflictCycles += cycles.actual - cycles.least;
  totals.occupied += cycles.actual;
  totals.conflicts += cycles.actual - cycles.least;
  unsigned more = cycles.actual > plain ? cycles.actual - plain : 0;
  return Cycle(start) + m_.ldsLatency + more;
}

/// Loads straight into LDS write it when their data arrives; they take as many cycles of the banks from others.
void Replayer::loadIntoLds(const TraceEvent &e) {
  unsigned cycles = std::max(1u, e.lanes() * e.bytes / 128);
  ldsFree_ += cycles;
  out_.ldsCycles += cycles;
}

/// Performs the access of a memory instruction: its completion.
Cycle Replayer::access(Wave &w, const Instruction &i, const InstructionCost &c, const TraceEvent &e, Cycle now) {
  InstructionTotals &totals = out_.instructions[e.instruction];
  auto addresses = llvm::ArrayRef(w.trace->addresses).slice(e.firstAddress, e.addressCount);
  auto lds = llvm::ArrayRef(w.trace->ldsAddresses).slice(e.firstLds, e.ldsCount);
  Cycle done = now;
  if (c.resource == Resource::LdsIssue) {
    done = accessLds(i, e, lds, now, totals);
  } else if (c.resource == Resource::ScalarMemory) {
    done = memory_.scalarLoad(now, addresses, e.bytes);
    totals.occupied += c.occupies;
  } else {
    llvm::SmallVector<uint64_t, 64> lines;
    linesOf(addresses, e.bytes, m_.lineBytes, lines);
    uint64_t before = memory_.traffic().busyCycles;
    bool store = i.isStore && !i.isLoad;
    done = store ? memory_.store(now, lines, unsigned(addresses.size()) * e.bytes) : memory_.load(now, lines);
    totals.occupied += memory_.traffic().busyCycles - before;
    if (i.toLds) loadIntoLds(e);
  }
  for (unsigned k = 0; k < kCounters; ++k) {
    if (!c.counts[k]) continue;
    // Accesses of a kind complete in order, scalar loads do not (ISA guides, "Manually inserted wait states").
    if (c.resource != Resource::ScalarMemory) done = w.lastInOrder[k] = std::max(done, w.lastInOrder[k]);
    w.inFlight[k].retire(now);
    w.inFlight[k].add(done);
  }
  return done;
}

void Replayer::release(Workgroup &g, unsigned barrier, Cycle now) {
  g.released[barrier] = now + m_.barrierCycles;
  for (auto &w : waves_) {
    if (!w || w->workgroup != unsigned(&g - workgroups_.data()) || !w->atBarrier || w->awaits != barrier + 1) continue;
    w->atBarrier = false;
    w->blockedUntil = g.released[barrier];
    w->blockedBy = Stall::Barrier;
    computeReady(*w);
  }
}

void Replayer::arrive(Wave &w, Cycle now) {
  Workgroup &g = workgroups_[w.workgroup];
  unsigned barrier = w.signals++;
  if (g.arrivals.size() <= barrier) {
    g.arrivals.resize(barrier + 1);
    g.released.resize(barrier + 1, kNever);
  }
  ++g.arrivals[barrier];
  if (g.complete(barrier)) release(g, barrier, now);
}

void Replayer::applyEffect(Wave &w, const InstructionCost &c, Cycle now) {
  auto block = [&](Cycle until, Stall by) { w.blockedUntil = until, w.blockedBy = by; };
  switch (c.effect) {
  case Effect::None:
  case Effect::Wait:
  case Effect::End: break;
  case Effect::Nop: block(now + Cycle(c.amount) * m_.issueCycles, Stall::Sleep); break;
  case Effect::Sleep: block(now + Cycle(c.amount) * m_.sleepCycles, Stall::Sleep); break;
  case Effect::SetPriority: w.priority = c.amount; break;
  case Effect::Branch: block(now + m_.branchCycles, Stall::Branch); break;
  case Effect::Signal: arrive(w, now); break;
  case Effect::Await:
  case Effect::SignalAndWait: {
    unsigned barrier = w.awaits++;
    w.atBarrier = true; // before it arrives, so that the last one is released with the others
    if (c.effect == Effect::SignalAndWait) arrive(w, now);
    Workgroup &g = workgroups_[w.workgroup];
    if (w.atBarrier && barrier < g.released.size() && g.released[barrier] != kNever) {
      w.atBarrier = false;
      block(g.released[barrier], Stall::Barrier);
    }
    break;
  }
  }
}

void Replayer::record(Wave &w, const InstructionCost &c, const TraceEvent &e, Cycle now, Cycle completion) {
  InstructionTotals &totals = out_.instructions[e.instruction];
  WaveResult &result = out_.waves[w.result];
  Cycle forReason = std::min(now, w.ready) - w.earliest;
  Cycle forUnit = now - std::min(now, w.ready);
  auto add = [&](Stall s, Cycle cycles) {
    totals.stalled[unsigned(s)] += cycles;
    result.stalled[unsigned(s)] += cycles;
    out_.stalled[unsigned(s)] += cycles;
  };
  add(w.reason, forReason);
  add(Stall::Unit, forUnit);
  ++totals.executions;
  ++out_.issued;
  out_.busy[unsigned(c.resource)] += c.occupies;
  if (!c.isMemory) totals.occupied += c.occupies;
  if (in_.mostRecords == 0) return;
  if (out_.records.size() >= in_.mostRecords) {
    out_.recordsCut = true;
    return;
  }
  IssueRecord r;
  r.instruction = e.instruction;
  r.wave = uint16_t(w.result);
  r.stall = forReason + forUnit == 0 ? Stall::None : forReason >= forUnit ? w.reason : Stall::Unit;
  r.resource = c.resource;
  r.cycle = now;
  r.stalled = uint32_t(forReason + forUnit);
  r.busy = uint32_t(c.isMemory ? completion - now : c.occupies);
  out_.records.push_back(r);
}

void Replayer::end(Simd &s, Wave &w, Cycle now) {
  Workgroup &g = workgroups_[w.workgroup];
  out_.waves[w.result].end = now;
  --g.live;
  g.ended.push_back(w.signals);
  for (unsigned b = w.signals; b < g.arrivals.size(); ++b)
    if (g.released[b] == kNever && g.complete(b)) release(g, b, now);
  if (g.live == 0) {
    --resident_;
    // s_endpgm does not wait for stores; the next workgroup's registers and LDS are set up first.
    start(now + m_.workgroupStartCycles);
  }
  llvm::erase(s.waves, &w);
  for (auto &owned : waves_)
    if (owned.get() == &w) {
      owned = std::move(waves_.back());
      waves_.pop_back();
      break;
    }
}

void Replayer::issue(Simd &s, Wave &w, Cycle now) {
  const TraceEvent &e = w.trace->events[w.next];
  const Instruction &i = in_.code[e.instruction];
  const InstructionCost &c = costs_[e.instruction];
  if (c.resource != Resource::None) s.free[unsigned(c.resource)] = now + c.occupies;
  if (c.alsoVector) s.free[unsigned(Resource::Vector)] = now + c.occupies;
  Cycle completion = c.isMemory ? access(w, i, c, e, now) : now + c.occupies;
  record(w, c, e, now, completion);
  if (!c.isMemory)
    for (auto &def : i.defs)
      for (unsigned r = firstOf(def); r < endOf(def); ++r) {
        w.written[r] = now + c.latency;
        if (r < w.accumulated.size()) w.accumulated[r] = now + (c.accumulateLatency ? c.accumulateLatency : c.latency);
      }
  w.earliest = now + m_.issueCycles;
  w.blockedUntil = 0;
  ++w.next;
  applyEffect(w, c, now);
  out_.cycles = std::max(out_.cycles, now + std::max<Cycle>(c.occupies, m_.issueCycles));
  if (w.done()) return end(s, w, now + m_.issueCycles);
  computeReady(w);
}

absl::StatusOr<CuReplay> Replayer::run() {
  if (auto s = readCode(); !s.ok()) return s;
  readWorkgroups();
  start(0);
  for (Cycle now = 0; !waves_.empty();) {
    Cycle next = kNever;
    for (auto &s : simds_)
      while (issueAny(s, now, next)) continue;
    for (auto &w : waves_)
      if (w->ready > now) next = std::min(next, w->ready); // waves that another SIMD's wave started or released
    if (waves_.empty()) break;
    if (next == kNever)
      return absl::FailedPreconditionError("waves wait at a barrier that others of their workgroup never reach");
    now = std::max(now + 1, next);
  }
  out_.traffic = memory_.traffic();
  return std::move(out_);
}

} // namespace

absl::StatusOr<CuReplay> replay(const Machine &m, const ReplayInput &in) { return Replayer(m, in).run(); }

} // namespace tessera::timing
