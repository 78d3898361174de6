// What is counted of each instruction while a kernel runs, and the table of it (docs/counters.md).
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/emulator.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::emulator {

SiteCounters *siteOf(Warp &w, const Instruction &i) {
  auto &sites = w.block->launch->sites;
  if (sites.empty()) return nullptr;
  SiteCounters &s = sites[i.id];
  if (!s.executed) s.where = describe(i.source);
  return &s;
}

void countWarpOperation(Warp &w, const Instruction &i, SiteCounters::Kind kind, const char *name) {
  if (SiteCounters *s = siteOf(w, i)) {
    s->kind = kind;
    if (!s->executed) s->operation = name;
    ++s->executed;
    s->lanes += uint64_t(std::popcount(w.mask));
  }
}

std::string counterTable(const Report &report) {
  std::string out;
  llvm::raw_string_ostream s(out);
  s << llvm::formatv("{0,-26} {1,10} {2,6} {3,6} {4,12} {5,7}  {6}\n", "operation", "executed", "bytes", "lanes",
                     "passes", "of best", "where");
  for (auto &c : report.sites) {
    bool memory = c.kind == SiteCounters::Kind::Global || c.kind == SiteCounters::Kind::Shared ||
                  c.kind == SiteCounters::Kind::Atomic;
    s << llvm::formatv("{0,-26} {1,10} {2,6} {3,6:f1} {4,12} {5,7}  {6}\n", c.operation, c.executed,
                       memory ? std::to_string(c.bytesPerLane) : "", double(c.lanes) / double(c.executed),
                       memory ? std::to_string(c.transactions) : "",
                       memory && c.leastPossible
                           ? llvm::formatv("{0:f2}x", double(c.transactions) / double(c.leastPossible)).str()
                           : "",
                       c.where);
  }
  struct Sum {
    uint64_t executed = 0, transactions = 0, least = 0;
  } sums[6];
  for (auto &c : report.sites) {
    Sum &x = sums[unsigned(c.kind)];
    x.executed += c.executed;
    x.transactions += c.transactions;
    x.least += c.leastPossible;
  }
  s << llvm::formatv("in all: {0} instructions of warps", report.instructions);
  auto part = [&](SiteCounters::Kind k, const char *name, const char *unit) {
    Sum &x = sums[unsigned(k)];
    if (!x.executed) return;
    s << llvm::formatv("; {0} {1}", x.executed, name);
    if (unit) s << llvm::formatv(" ({0} {1}, least possible {2})", x.transactions, unit, x.least);
  };
  part(SiteCounters::Kind::Global, "global accesses", "sectors");
  part(SiteCounters::Kind::Shared, "shared accesses", "passes");
  part(SiteCounters::Kind::Atomic, "atomics", nullptr);
  part(SiteCounters::Kind::Barrier, "barriers", nullptr);
  part(SiteCounters::Kind::Shuffle, "shuffles", nullptr);
  part(SiteCounters::Kind::Matrix, "matrix operations", nullptr);
  s << "\n";
  s << llvm::formatv("{0,-26} {1,10} {2,12}  {3}\n", "live at one point", "at most", "allocated", "after");
  auto live = [&](const char *name, const LivePeak &p) {
    s << llvm::formatv(
        "{0,-26} {1,10} {2,12}  {3}\n", name, p.count, p.allocated ? std::to_string(p.allocated) : "",
        !p.count ? ""
                 : p.operation +
                       (p.where.empty() ? "" : (llvm::StringRef(p.where).starts_with("at ") ? " " : " of ") + p.where));
  };
  live(report.live.scalarsApart ? "vector registers" : "registers", report.live.vector);
  if (report.live.scalarsApart) live("scalar registers", report.live.scalar);
  live("predicates", report.live.predicates);
  return out;
}

} // namespace tessera::emulator
