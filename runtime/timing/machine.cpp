// The table of machines as values (machine.def).
#include "runtime/timing/machine.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdint>
#include <tuple>
#include <utility>

namespace tessera::timing {

namespace {

constexpr llvm::StringRef kTargets[] = {
#define TARGET(name, family) #name,
#include "runtime/timing/machine.def"
};
constexpr Family kFamilies[] = {
#define TARGET(name, family) Family::family,
#include "runtime/timing/machine.def"
};

/// The targets of a family, a bit each by the order of kTargets.
constexpr unsigned targetsOf(Family family) {
  unsigned set = 0;
  for (size_t i = 0; i < std::size(kFamilies); ++i)
    if (kFamilies[i] == family) set |= 1u << i;
  return set;
}

enum Column : unsigned {
#define TARGET(name, family) Column_##name,
#include "runtime/timing/machine.def"
};
// Sets of targets in the rows.
enum TargetSet : unsigned {
#define TARGET(name, family) name = 1u << Column_##name,
#include "runtime/timing/machine.def"
  Gfx94x = gfx942 | gfx950, // CDNA 3 and 4
  Cdna = targetsOf(Family::Gfx9),
  Gfx11 = targetsOf(Family::Gfx11),
  Gfx12 = targetsOf(Family::Gfx12),
  Rdna = Gfx11 | Gfx12,
};
enum Direction : unsigned { Read = 1, Write = 2, Both = Read | Write };

struct NumberRow {
  llvm::StringRef name;
  unsigned Machine::*member;
  unsigned values[std::size(kTargets)];
};
template <typename... Ts>
constexpr NumberRow numberRow(llvm::StringRef name, unsigned Machine::*member, Ts... valuesAndSource) {
  static_assert(sizeof...(Ts) == std::size(kTargets) + 1, "a value for each target, then the source");
  std::tuple all(valuesAndSource...);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return NumberRow{name, member, {unsigned(std::get<I>(all))...}};
  }(std::make_index_sequence<std::size(kTargets)>());
}
constexpr NumberRow kNumbers[] = {
#define NUMBER(name, unit, what, ...) numberRow(#name, &Machine::name, __VA_ARGS__),
#include "runtime/timing/machine.def"
};

void addRows(Machine &m, unsigned target) {
#define MATRIX(targets, mnemonic, cycles, source)                                                                      \
  if ((targets) & target) m.matrixRows.push_back({mnemonic, cycles});
#include "runtime/timing/machine.def"
#define RATE(targets, mnemonic, issue, latency, source)                                                                \
  if ((targets) & target) m.rates.push_back({mnemonic, issue, latency});
#include "runtime/timing/machine.def"
#define LDS_PHASES(targets, direction, bytes, banks, groups, source)                                                   \
  if ((targets) & target)                                                                                              \
    m.ldsPhases.push_back({((direction) & Read) != 0, ((direction) & Write) != 0, bytes, banks, LaneGroups::groups});
#include "runtime/timing/machine.def"
}

absl::Status applyNumber(Machine &m, llvm::StringRef text) {
  auto [name, value] = text.split('=');
  auto *row = llvm::find_if(kNumbers, [&](const NumberRow &r) { return r.name == name; });
  if (row == std::end(kNumbers)) {
    std::string known;
    for (auto &r : kNumbers) absl::StrAppend(&known, known.empty() ? "" : ", ", r.name.str());
    return absl::InvalidArgumentError(absl::StrCat("unknown number '", name.str(), "' of a machine; known: ", known));
  }
  unsigned number = 0;
  if (value.getAsInteger(10, number))
    return absl::InvalidArgumentError(absl::StrCat("a whole number from 0 to ", UINT32_MAX, " is needed, as in ",
                                                   name.str(), "=", m.*(row->member), ", not '", text.str(), "'"));
  m.*(row->member) = number;
  return absl::OkStatus();
}

/// What the replay divides by, and the tables that it reads.
absl::Status checkNumbers(const Machine &m) {
  std::pair<const char *, unsigned> positive[] = {{"clockMHz", m.clockMHz},
                                                  {"computeUnits", m.computeUnits},
                                                  {"dies", m.dies},
                                                  {"simds", m.simds},
                                                  {"mostWaves", m.mostWaves},
                                                  {"vgprs", m.vgprs},
                                                  {"ldsGranule", m.ldsGranule},
                                                  {"issueCycles", m.issueCycles},
                                                  {"nativeLanes", m.nativeLanes},
                                                  {"ldsCounterMost", m.ldsCounterMost},
                                                  {"vectorCounterMost", m.vectorCounterMost},
                                                  {"lineBytes", m.lineBytes},
                                                  {"l1BytesPerCycle", m.l1BytesPerCycle},
                                                  {"l2BytesPerCycle", m.l2BytesPerCycle},
                                                  {"unitL2BytesPerCycle", m.unitL2BytesPerCycle},
                                                  {"matrixClockMHz", m.matrixClockMHz},
                                                  {"cacheGBs", m.cacheGBs},
                                                  {"memoryGBs", m.memoryGBs}};
  for (auto [name, value] : positive)
    if (value == 0) return absl::InvalidArgumentError(absl::StrCat(name, ": must be greater than 0"));
  std::pair<const char *, bool> tables[] = {
      {"MATRIX", m.matrixRows.empty()}, {"RATE", m.rates.empty()}, {"LDS_PHASES", m.ldsPhases.empty()}};
  for (auto [name, isEmpty] : tables)
    if (isEmpty) return absl::UnimplementedError(absl::StrCat("machine.def has no row ", name, " for ", m.target));
  return absl::OkStatus();
}

} // namespace

llvm::ArrayRef<llvm::StringRef> machineTargets() { return kTargets; }

absl::StatusOr<Machine> machineOf(llvm::StringRef target, const MachineOverrides &overrides) {
  auto *found = llvm::find(kTargets, target);
  if (found == std::end(kTargets)) {
    std::string known;
    for (auto t : kTargets) absl::StrAppend(&known, known.empty() ? "" : ", ", t.str());
    return absl::NotFoundError(absl::StrCat("no timing model of ", target.str(), "; there are ", known));
  }
  size_t column = size_t(found - std::begin(kTargets));
  Machine m;
  m.target = target.str();
  m.family = kFamilies[column];
  for (auto &row : kNumbers) m.*(row.member) = row.values[column];
  addRows(m, 1u << column);
  if (overrides.computeUnits) m.computeUnits = overrides.computeUnits;
  if (overrides.clockMHz) m.clockMHz = overrides.clockMHz;
  for (auto &text : overrides.numbers)
    if (auto s = applyNumber(m, text); !s.ok()) return s;
  if (auto s = checkNumbers(m); !s.ok()) return s;
  return m;
}

unsigned Machine::matrixCycles(llvm::StringRef mnemonic, bool eightBitFormats) const {
  const MatrixRow *best = nullptr;
  for (auto &row : matrixRows)
    if (mnemonic.starts_with(row.mnemonic) && (!best || row.mnemonic.size() > best->mnemonic.size())) best = &row;
  if (!best) return 0;
  return mnemonic.ends_with("f8f6f4") && eightBitFormats ? 2 * best->cycles : best->cycles;
}

const Rate *Machine::rate(llvm::StringRef mnemonic, bool transcendental) const {
  const Rate *best = nullptr;
  for (auto &row : rates) {
    bool fits = row.mnemonic == "transcendental" ? transcendental : mnemonic.starts_with(row.mnemonic);
    // A row of the mnemonic itself is more specific than the one of the unit.
    if (fits && (!best || best->mnemonic == "transcendental")) best = &row;
  }
  return best;
}

const LdsPhases &Machine::phases(bool write, unsigned bytes) const {
  unsigned wanted = bytes <= 4 ? 4 : bytes <= 8 ? 8 : bytes <= 12 ? 12 : 16;
  const LdsPhases *best = &ldsPhases.front();
  for (auto &row : ldsPhases)
    if (row.bytes == wanted && (write ? row.writes : row.reads)) best = &row;
  return *best;
}

} // namespace tessera::timing
