// See unwritten_trials.h. Trials run one block after the other: which of two blocks reads a byte first is part of what
// is compared.
#include "runtime/emulator/unwritten_trials.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>

namespace tessera::emulator {

using runtime::UnwrittenValue;

// ---- memory ----

MemoryContents::MemoryContents(const Launch &launch) {
  auto add = [&](const Region &r) {
    Piece p{r.data, r.undefined, {r.data, r.data + r.bytes}, {}};
    if (r.undefined) p.flags.assign(r.undefined, r.undefined + r.bytes);
    pieces_.push_back(std::move(p));
  };
  for (auto &r : launch.buffers) add(r);
  for (auto &r : launch.constants)
    if (!r.readOnly) add(r);
}

void MemoryContents::restore() const {
  for (auto &p : pieces_) {
    llvm::copy(p.bytes, p.at);
    llvm::copy(p.flags, p.undefined);
  }
}

void MemoryContents::restoreUnwritten() const {
  for (auto &p : pieces_)
    for (size_t k = 0; k < p.flags.size(); ++k)
      if (p.undefined[k]) p.at[k] = p.bytes[k];
}

bool MemoryContents::isAsNow() const {
  return llvm::all_of(pieces_, [](const Piece &p) {
    return std::equal(p.bytes.begin(), p.bytes.end(), p.at) && std::equal(p.flags.begin(), p.flags.end(), p.undefined);
  });
}

// ---- reads ----

void UnwrittenTrial::read(Warp &w, const Instruction &i, unsigned lane, const Region &r, uint64_t offset,
                          unsigned bytes) {
  size_t place = placeAt(w, i, lane, r, offset, bytes);
  size_t ofElement = i.access && !i.access->elements.empty() ? i.access->elements[0].memoryBytes : 4;
  runtime::putValue(!only || place == *only ? value : UnwrittenValue::Zeros, r.data + offset, r.undefined + offset,
                    bytes, ofElement);
}

/// Instructions that are made of one operation are one place.
size_t UnwrittenTrial::placeAt(Warp &w, const Instruction &i, unsigned lane, const Region &r, uint64_t offset,
                               unsigned bytes) {
  auto [found, isNew] = placeOf.try_emplace(i.id, places.size());
  if (!isNew) return found->second;
  std::string where = describe(i.source);
  auto known =
      llvm::find_if(places, [&](const Place &p) { return where.empty() ? p.instruction == i.id : p.where == where; });
  if (known != places.end()) return found->second = size_t(known - places.begin());
  if (!notesPlaces) return found->second; // only with the value is it reached: no place that is tried
  uint64_t first = firstUnwritten(*w.block->launch, r, offset, bytes).value_or(offset);
  places.push_back({where, i.id, absl::AbortedError(failureText(w, &i, int(lane), neverWritten(r, first)))});
  return found->second;
}

// ---- runs ----

namespace {

void printTo(const std::function<void(const std::string &)> &print, const std::string &line) {
  if (print)
    print(line);
  else
    llvm::outs() << line;
}

class Trials {
public:
  Trials(const MemoryContents &before, llvm::function_ref<std::unique_ptr<Launch>()> again,
         llvm::function_ref<absl::Status(Launch &)> run)
      : before_(before), again_(again), run_(run) {}

  /// The outcome, which the launch gets. `printed`: lines that its first run printed.
  absl::Status judge(Launch &launch, size_t printed) {
    Options options = *launch.options;
    options.threads = 1;
    auto print = options.print;
    options.print = [&](const std::string &line) {
      if (printed)
        --printed;
      else
        printTo(print, line);
    };
    UnwrittenTrial zeros;
    zeros.notesPlaces = true;
    std::unique_ptr<Launch> first = runOnce(options, zeros);
    if (options.watch.isInterrupted()) return first->failure;
    MemoryContents after(*first);
    options.print = [](const std::string &) {};
    uint64_t most = 4 * first->report.instructions + kMoreInstructions; // other values may loop for ever
    options.maxInstructions = std::min(options.maxInstructions, most);
    auto differs = [&](UnwrittenValue value, std::optional<size_t> only) {
      UnwrittenTrial trial;
      trial.value = value;
      trial.only = only;
      trial.places = zeros.places;
      std::unique_ptr<Launch> second = runOnce(options, trial);
      return second->failure != first->failure || !after.isAsNow();
    };
    std::optional<size_t> place = runtime::placeThatMatters(zeros.places.size(), differs);
    if (options.watch.isInterrupted()) return absl::CancelledError("the launch was interrupted");
    after.restore();
    if (place) return zeros.places[*place].failure;
    launch.report = std::move(first->report);
    launch.sites = std::move(first->sites);
    launch.executed = std::move(first->executed);
    return first->failure;
  }

private:
  static constexpr uint64_t kMoreInstructions = 1 << 16;

  std::unique_ptr<Launch> runOnce(const Options &options, UnwrittenTrial &trial) {
    before_.restore();
    std::unique_ptr<Launch> launch = again_();
    launch->options = &options;
    launch->trial = &trial;
    launch->failure = run_(*launch);
    before_.restoreUnwritten();
    return launch;
  }

  const MemoryContents &before_;
  llvm::function_ref<std::unique_ptr<Launch>()> again_;
  llvm::function_ref<absl::Status(Launch &)> run_;
};

/// Whether the launch may read memory that nothing wrote, and can be run again.
bool mayNeedTrials(const Launch &launch) {
  uint64_t bytes = 0;
  bool hasUnwritten = false;
  for (const Region &r : launch.buffers) {
    bytes += r.bytes;
    hasUnwritten = hasUnwritten || (r.undefined && memchr(r.undefined, 1, r.bytes));
  }
  return launch.checks.undefined && hasUnwritten && bytes <= runtime::kMostTrialBytes;
}

} // namespace

absl::Status runWithTrials(Launch &launch, llvm::function_ref<std::unique_ptr<Launch>()> again,
                           llvm::function_ref<absl::Status(Launch &)> run) {
  if (!mayNeedTrials(launch)) return run(launch);
  MemoryContents before(launch);
  const Options *given = launch.options;
  Options counting = *given;
  std::atomic<size_t> printed{0};
  counting.print = [&](const std::string &line) {
    ++printed;
    printTo(given->print, line);
  };
  launch.options = &counting;
  absl::Status first = run(launch);
  launch.options = given;
  if (first.ok() || !launch.failedUnwritten) return first;
  return Trials(before, again, run).judge(launch, printed);
}

} // namespace tessera::emulator
