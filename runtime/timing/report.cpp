// Texts of a kernel's time (see report.h).
#include "runtime/timing/report.h"
#include "runtime/timing/timeline.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tessera::timing {
using code_object::Program;

namespace {

/// The part of the replayed cycles that a unit is busy.
double utilisation(const KernelTime &t, Resource r) {
  if (t.replay.cycles == 0) return 0;
  return double(t.replay.busy[unsigned(r)]) / (double(t.replay.cycles) * t.machine.simds);
}
double ldsUtilisation(const KernelTime &t) {
  return t.replay.cycles ? double(t.replay.ldsCycles) / double(t.replay.cycles) : 0;
}
double l1Utilisation(const KernelTime &t) {
  return t.replay.cycles ? double(t.replay.traffic.busyCycles) / double(t.replay.cycles) : 0;
}

/// Cycles that the replayed waves were there.
double waveCycles(const CuReplay &r) {
  double sum = 0;
  for (auto &w : r.waves) sum += double(w.end - w.start);
  return std::max(sum, 1.0);
}

} // namespace

std::string bottleneck(const KernelTime &t) {
  if (t.bandwidthMicroseconds > t.computeMicroseconds) return "memory";
  constexpr double kBusy = 0.8;
  std::pair<double, std::string> most{0, ""};
  for (Resource r : {Resource::Matrix, Resource::Vector, Resource::Scalar})
    most = std::max(most, std::pair(utilisation(t, r), name(r).str()));
  most = std::max(most, std::pair(ldsUtilisation(t), std::string("lds")));
  most = std::max(most, std::pair(l1Utilisation(t), std::string("L1")));
  if (most.first >= kBusy) return most.second;
  unsigned stall =
      unsigned(std::max_element(t.replay.stalled.begin() + 1, t.replay.stalled.end()) - t.replay.stalled.begin());
  return ("waits: " + name(Stall(stall))).str();
}

static void writeLoop(llvm::raw_ostream &o, const KernelTime &t, const Program &p) {
  auto loop = hottestLoop(p.instructions, t.replay);
  if (!loop) return;
  o << llvm::formatv("\nhottest loop, {0} executions; cycles of an execution on average\n", loop->executions);
  o << llvm::formatv("{0,10}{1,9}{2,9}{3,9}  {4}\n", "busy", "conflict", "waited", "for", "instruction");
  for (uint32_t i = loop->first; i <= loop->last; ++i) {
    const InstructionTotals &n = t.replay.instructions[i];
    if (n.executions == 0) continue;
    auto per = [&](uint64_t cycles) {
      return cycles ? llvm::formatv("{0:f1}", double(cycles) / double(n.executions)).str() : "";
    };
    unsigned most = unsigned(std::max_element(n.stalled.begin(), n.stalled.end()) - n.stalled.begin());
    o << llvm::formatv("{0,10}{1,9}{2,9}{3,9}  {4}\n", per(n.occupied), per(n.conflicts), per(n.allStalled()),
                       n.allStalled() ? name(Stall(most)) : "", p.describe(i));
  }
}

std::string reportText(const KernelTime &t, const Program &p) {
  std::string text;
  llvm::raw_string_ostream o(text);
  const CuReplay &r = t.replay;
  o << llvm::formatv("{0} on {1}: {2:f2} us (model), bound by {3}\n", p.kernel, t.machine.target, t.microseconds,
                     bottleneck(t));
  o << llvm::formatv("  {0} workgroups of {1} waves, {2} at a time on each of {3} compute units (limit: {4})\n",
                     t.workgroups, t.occupancy.wavesPerWorkgroup, t.occupancy.workgroups, t.machine.computeUnits,
                     t.occupancy.limit);
  o << "  ";
  if (t.fullBatches)
    o << llvm::formatv("{0} full batch{1} of {2} cycles, ", t.fullBatches, t.fullBatches == 1 ? "" : "es",
                       t.batchCycles);
  if (t.lastResident)
    o << llvm::formatv("a last batch of {0} workgroup{1} per compute unit in {2} cycles, ", t.lastResident,
                       t.lastResident == 1 ? "" : "s", t.lastCycles);
  o << llvm::formatv("{0:f0} MHz", t.clockMHz);
  if (t.clockMHz < t.machine.clockMHz)
    o << llvm::formatv(" (peak {0}, matrix units {1:f0} % busy)", t.machine.clockMHz, 100 * t.matrixLoad);
  o << "\n";
  o << llvm::formatv("  execution {0:f2} us, bandwidth {1:f2} us, launch {2:f2} us; {3:f1} MB used, {4:f1} MB moved "
                     "behind L2\n",
                     t.computeMicroseconds, t.bandwidthMicroseconds, t.machine.launchNs / 1000.0,
                     t.footprintBytes / 1e6, t.behindBytes / 1e6);
  o << llvm::formatv("\nreplayed: {0} workgroup{3}, {1} instructions in {2} cycles of one compute unit\n",
                     t.sample.replayed.size(), r.issued, r.cycles, t.sample.replayed.size() == 1 ? "" : "s");
  o << "unit      busy\n";
  for (Resource u : {Resource::Matrix, Resource::Vector, Resource::Scalar, Resource::Branch})
    o << llvm::formatv("{0,-8}{1,5:f1} %\n", name(u), 100 * utilisation(t, u));
  o << llvm::formatv("{0,-8}{1,5:f1} % ({2} of {3} cycles are conflicts)\n", "lds", 100 * ldsUtilisation(t),
                     r.ldsConflictCycles, r.ldsCycles);
  o << llvm::formatv("{0,-8}{1,5:f1} % ({2:f1} kB, {3:f1} kB from L2, {4:f1} kB from behind it)\n", "L1",
                     100 * l1Utilisation(t), double(r.traffic.l1Bytes) / 1e3, double(r.traffic.l2Bytes) / 1e3,
                     r.traffic.behindBytes / 1e3);
  o << "waves wait for\n";
  for (unsigned s = 1; s < kStalls; ++s)
    if (r.stalled[s])
      o << llvm::formatv("{0,-14}{1,5:f1} % of their cycles\n", name(Stall(s)),
                         100 * double(r.stalled[s]) / waveCycles(r));
  writeLoop(o, t, p);
  return text;
}

llvm::json::Object reportJson(const KernelTime &t, const Program &p) {
  const CuReplay &r = t.replay;
  llvm::json::Object busy, stalls;
  for (Resource u : {Resource::Matrix, Resource::Vector, Resource::Scalar, Resource::Branch})
    busy[name(u)] = utilisation(t, u);
  busy["lds"] = ldsUtilisation(t);
  busy["l1"] = l1Utilisation(t);
  for (unsigned s = 1; s < kStalls; ++s) stalls[name(Stall(s))] = double(r.stalled[s]) / waveCycles(r);
  llvm::json::Object out{
      {"kernel", llvm::json::fixUTF8(p.kernel)},
      {"target", t.machine.target},
      {"us", t.microseconds},
      {"execution_us", t.computeMicroseconds},
      {"bandwidth_us", t.bandwidthMicroseconds},
      {"launch_us", t.machine.launchNs / 1000.0},
      {"bound_by", bottleneck(t)},
      {"clock_mhz", t.clockMHz},
      {"matrix_load", t.matrixLoad},
      {"peak_clock_mhz", t.machine.clockMHz},
      {"compute_units", t.machine.computeUnits},
      {"workgroups", int64_t(t.workgroups)},
      {"waves_per_workgroup", t.occupancy.wavesPerWorkgroup},
      {"resident_workgroups", t.occupancy.workgroups},
      {"occupancy_limit", t.occupancy.limit},
      {"full_batches", t.fullBatches},
      {"batch_cycles", int64_t(t.batchCycles)},
      {"last_resident", t.lastResident},
      {"last_cycles", int64_t(t.lastCycles)},
      {"footprint_bytes", t.footprintBytes},
      {"bytes_behind_l2", t.behindBytes},
      {"replayed_workgroups", int64_t(t.sample.replayed.size())},
      {"replayed_cycles", int64_t(r.cycles)},
      {"replayed_instructions", int64_t(r.issued)},
      {"lds_cycles", int64_t(r.ldsCycles)},
      {"lds_conflict_cycles", int64_t(r.ldsConflictCycles)},
      {"busy", std::move(busy)},
      {"stalls", std::move(stalls)},
  };
  return out;
}

} // namespace tessera::timing
