// What is counted of each instruction while a kernel runs, and the table of it (docs/counters.md).
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/emulator.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <tuple>

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

/// Instructions of one operation, size and source line, added up.
struct SiteGroup {
  SiteCounters sum;
  unsigned sites = 0;
};

/// The groups in the order of their first instructions.
static std::vector<SiteGroup> groupsOf(llvm::ArrayRef<SiteCounters> sites) {
  std::vector<SiteGroup> groups;
  std::map<std::tuple<SiteCounters::Kind, std::string, unsigned, std::string>, size_t> places;
  for (auto &c : sites) {
    auto [place, isNew] = places.try_emplace({c.kind, c.operation, c.bytesPerLane, c.where}, groups.size());
    if (isNew) groups.push_back({c, 0});
    SiteGroup &g = groups[place->second];
    ++g.sites;
    if (isNew) continue;
    g.sum.executed += c.executed;
    g.sum.lanes += c.lanes;
    g.sum.transactions += c.transactions;
    g.sum.leastPossible += c.leastPossible;
  }
  return groups;
}

std::string counterTable(const Report &report) {
  std::string out;
  llvm::raw_string_ostream s(out);
  s << llvm::formatv("{0,-26} {1,6} {2,10} {3,6} {4,6} {5,12} {6,7}  {7}\n", "operation", "sites", "executed", "bytes",
                     "lanes", "passes", "of best", "where");
  for (auto &[c, sites] : groupsOf(report.sites)) {
    bool memory = c.kind == SiteCounters::Kind::Global || c.kind == SiteCounters::Kind::Shared ||
                  c.kind == SiteCounters::Kind::Atomic;
    s << llvm::formatv("{0,-26} {1,6} {2,10} {3,6} {4,6:f1} {5,12} {6,7}  {7}\n", c.operation, sites, c.executed,
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
