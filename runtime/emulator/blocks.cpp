// Blocks of the grid one after the other, the warps of a block round-robin, and barriers. Blocks run in the grid's
// order, so a run gives the same bits every time. One that is blocked, because it waits in a loop for another, is put
// aside and the next are started, as on hardware, which has many at once. If all that are begun are blocked, that is a
// deadlock, which is reported with what each warp waits for.
#include "runtime/emulator/blocks.h"
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/emulator.h"
#include "runtime/emulator/unwritten_reads.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

namespace tessera::emulator {

namespace {

constexpr uint64_t kTimeSlice = uint64_t(1) << 20; // instructions of a warp before the next one runs
constexpr unsigned kMaxResident = 256;             // blocks begun and not ended

class Grid {
public:
  /// `next`: the first block that nobody has begun.
  Grid(Launch &launch, const std::vector<uint64_t> &arguments, std::atomic<uint64_t> &next)
      : launch_(launch), program_(*launch.program), arguments_(arguments), next_(next) {}

  absl::Status run() {
    uint64_t total = uint64_t(launch_.grid[0]) * uint64_t(launch_.grid[1]) * uint64_t(launch_.grid[2]);
    auto more = [&] { return next_.load(std::memory_order_relaxed) < total; };
    std::deque<std::unique_ptr<Block>> resident;
    while (more() || !resident.empty()) {
      // Those that are put aside go first, in order, if something changed; else a new one.
      bool progress = false;
      for (size_t k = 0; k < resident.size();) {
        uint64_t before = launch_.changes;
        advance(*resident[k]);
        if (!launch_.failure.ok()) return failed(resident);
        progress |= launch_.changes != before || resident[k]->finished;
        if (resident[k]->finished) {
          free_.push_back(std::move(resident[k]));
          resident.erase(resident.begin() + long(k));
        } else {
          ++k;
        }
      }
      if (more() && resident.size() < kMaxResident) {
        uint64_t number = next_++;
        if (number >= total) continue; // another thread has it
        auto b = begin(uint32_t(number));
        advance(*b);
        bool ended = b->finished;
        (ended ? free_ : resident).push_back(std::move(b));
        if (!launch_.failure.ok()) return failed(resident);
        continue;
      }
      if (!resident.empty() && !progress && allStuck(resident) && !releaseStarvingLanes(resident)) {
        deadlock(resident);
        return failed(resident);
      }
    }
    return absl::OkStatus();
  }

private:
  /// What blocks executed that have not ended counts, too.
  absl::Status failed(const std::deque<std::unique_ptr<Block>> &resident) {
    for (auto &b : resident) launch_.report.instructions += b->instructions;
    return launch_.failure;
  }

  /// A block at its first instruction, in the memory of one that has ended if there is any.
  std::unique_ptr<Block> begin(uint32_t number) {
    std::unique_ptr<Block> b;
    if (free_.empty()) {
      b = allocateBlock();
    } else {
      b = std::move(free_.back());
      free_.pop_back();
    }
    reset(*b, number);
    for (Warp &w : b->warps) reset(w, *b);
    ++launch_.changes;
    return b;
  }

  /// What all blocks have alike: sizes, constants and arguments.
  std::unique_ptr<Block> allocateBlock() {
    auto b = std::make_unique<Block>();
    b->launch = &launch_;
    b->warps.resize(size_t(launch_.options->numWarps));
    for (auto [i, w] : llvm::enumerate(b->warps)) {
      w.program = &program_;
      w.index = unsigned(i);
      w.lanes = program_.lanes;
      w.full = w.lanes == 64 ? ~uint64_t(0) : (uint64_t(1) << w.lanes) - 1;
      w.frameStorage.reset(new uint8_t[program_.frameBytes + 64]());
      w.frame = reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(w.frameStorage.get()) + 63) & ~uintptr_t(63));
      if (program_.privateBytes) w.privateMemory.reset(new uint8_t[size_t(program_.privateBytes) * w.lanes]());
      fill(w);
    }
    b->shared.resize(program_.sharedBytes + size_t(launch_.options->dynamicSharedBytes));
    b->defined.resize(b->shared.size());
    if (launch_.checks.races) b->cells.resize(b->shared.size());
    return b;
  }

  void reset(Block &b, uint32_t number) {
    auto &g = launch_.grid;
    b.number = number;
    b.id = {int64_t(number) % g[0], int64_t(number) / g[0] % g[1], int64_t(number) / g[0] / g[1]};
    b.finished = false;
    b.instructions = 0;
    b.done = 0;
    b.barriers = b.nextSnapshot = 0;
    b.snapshotBarrier = nullptr;
    b.stuck = false;
    b.inFlight.clear();
    b.tensor.reset();
    b.issued.clear();
    b.mbarriers.clear();
    b.arrivals.clear();
    b.fills.clear();
    b.drains = 0;
    std::fill(b.defined.begin(), b.defined.end(), 0);
    std::fill(b.shared.begin(), b.shared.end(), 0xa5); // so that a kernel that reads what it did not write shows it
    b.lastBarrier = b.lastGlobalBarrier = ++launch_.stamp;
    b.acquired.clear();
  }

  void reset(Warp &w, Block &b) {
    w.block = &b;
    w.state = Warp::State::Ready;
    w.mask = w.live = w.full;
    w.groups.clear();
    w.groups.push_back({0, w.full});
    w.barrier = nullptr;
    w.lastSync = b.lastBarrier;
    w.stuck = w.stop = w.starving = false;
    w.returns = w.splitReturns = w.nextSnapshot = w.idleChanges = w.idleSince = 0;
    w.snapshotBlock = ~0u;
    w.exact.clear();
    w.unusedReads.clear();
    w.effects.clear();
    w.acted.clear();
    if (launch_.checks.races) w.acted.resize(unsigned(program_.instructions.size()));
    w.copies.clear();
    w.copyGroup = 0;
    w.drains.clear();
    w.drainGroup = {};
    w.warpgroup.reset();
    w.tensor.reset();
    w.proxyFences = {};
    w.releasedByFence = false;
    w.readBeforeFence.clear();
    w.fences.clear();
    w.knownAtFence.clear();
    w.registers = program_.registers;
    w.known.clear();
  }

  /// Constants and arguments; they are never overwritten, so once per frame will do.
  void fill(Warp &w) {
    auto set = [&](Row row, unsigned bytes, uint64_t low, uint64_t high) {
      for (unsigned l = 0; l < w.lanes; ++l) {
        memcpy(w.frame + row + l * bytes, &low, std::min(bytes, 8u));
        if (bytes == 16) memcpy(w.frame + row + l * 16 + 8, &high, 8);
      }
    };
    for (auto &c : program_.constants) set(c.row, c.bytes, c.low, c.high);
    for (auto [a, v] : llvm::zip(program_.arguments, arguments_)) set(a.first, a.second, v, 0);
  }

  /// Runs the block until it ends, fails, or can only wait.
  void advance(Block &b) {
    if (launch_.options->watch.isInterrupted()) return interrupted();
    if (b.stuck && b.stuckAt == launch_.changes) return;
    b.stuck = false;
    for (;;) {
      bool ran = false;
      for (Warp &w : b.warps) {
        if (w.state != Warp::State::Ready || (w.stuck && w.stuckAt == launch_.changes)) continue;
        uint64_t budget = std::min(kTimeSlice, launch_.options->maxInstructions);
        runWarp(w, budget);
        if (!launch_.failure.ok()) return;
        if (launch_.options->watch.isInterrupted()) return interrupted();
        ran = true;
        if (w.state == Warp::State::Done) ++b.done, ++launch_.changes;
        if (b.instructions > launch_.options->maxInstructions) return tooMany(w);
      }
      if (b.done == b.warps.size()) {
        if (!endReads(b)) return;
        if (!b.issued.empty() && !warpgroupsTogether(b, nullptr, [](auto &) { return true; })) return;
        if (std::string why = copyInFlight(b); !why.empty()) return fail(b.warps[0], nullptr, -1, why);
        if (std::string why = tensorMemoryHeld(b); !why.empty()) return fail(b.warps[0], nullptr, -1, why);
        b.finished = true;
        launch_.report.instructions += b.instructions;
        return;
      }
      if (releaseNamed(b)) continue;
      if (!launch_.failure.ok()) return;
      bool anyReady = false;
      for (Warp &w : b.warps) anyReady |= w.state == Warp::State::Ready;
      if (!anyReady) {
        release(b);
        if (!launch_.failure.ok() || b.stuck) return;
        if (b.instructions > launch_.options->maxInstructions) return tooMany(b.warps[0]);
        continue;
      }
      if (!ran) return;
    }
  }

  void interrupted() { launch_.failure = absl::CancelledError("the launch was interrupted"); }

  void tooMany(Warp &w) {
    fail(w, nullptr, -1,
         llvm::formatv("the block has executed {0} instructions and does not end; last in {1}", w.block->instructions,
                       place(w)));
  }

  std::string place(const Warp &w) {
    std::string s = describe(program_.blocks[std::min<size_t>(w.resumeBlock, program_.blocks.size() - 1)].terminator);
    return s.empty() ? "an unknown place" : s;
  }

  static unsigned nameOf(const Warp &w) { return w.barrierNumber; }
  static unsigned threadsOf(const Warp &w) { return BarrierForm::of(*w.barrier).threads; }
  static bool waitsAtNamed(const Warp &w) { return w.state == Warp::State::AtBarrier && threadsOf(w); }

  /// Releases the warps at named barriers at which all expected threads have arrived; whether there are any.
  /// What each of them did before, or knew of, all of them know of.
  bool releaseNamed(Block &b) {
    bool any = false;
    for (Warp &first : b.warps) {
      if (!waitsAtNamed(first)) continue;
      llvm::SmallVector<Warp *, 16> here;
      for (Warp &w : b.warps)
        if (waitsAtNamed(w) && nameOf(w) == nameOf(first)) here.push_back(&w);
      unsigned threads = threadsOf(first);
      BarrierArrivals &arrived = b.arrivals[nameOf(first)];
      if (!arrived.warps.empty() && arrived.threads != threads)
        return fail(first, first.barrier, -1,
                    llvm::formatv("waits at barrier {0} for {1} threads, and warp {2} arrives for {3}", nameOf(first),
                                  threads, arrived.warps[0], arrived.threads)),
               false;
      size_t come = (here.size() + arrived.warps.size()) * first.lanes;
      for (Warp *w : here)
        if (threadsOf(*w) != threads)
          return fail(first, first.barrier, -1,
                      llvm::formatv("waits at barrier {0} for {1} threads, and warp {2} for {3}", nameOf(first),
                                    threads, w->index, threadsOf(*w))),
                 false;
      if (come > threads)
        return fail(first, first.barrier, -1,
                    llvm::formatv("barrier {0} is for {1} threads, and {2} have come to it", nameOf(first), threads,
                                  come)),
               false;
      if (come < threads) continue;
      auto comes = [&](const Warp &w) { return llvm::is_contained(here, &w); };
      auto wholeGroup = [&](const Warp &w) { // of a warpgroup that is here
        for (unsigned k = w.index / 4 * 4; k < std::min<size_t>(w.index / 4 * 4 + 4, b.warps.size()); ++k)
          if (!comes(b.warps[k])) return false;
        return true;
      };
      if (!b.issued.empty() && !warpgroupsTogether(b, first.barrier, wholeGroup)) return false;
      uint64_t stamp = ++launch_.stamp;
      std::vector<uint64_t> known = std::move(arrived.known);
      arrived = BarrierArrivals();
      known.resize(std::max<size_t>(known.size(), b.copyUnit()));
      for (Warp *w : here) {
        if (w->known.size() > known.size()) known.resize(w->known.size());
        for (auto [to, from] : llvm::zip(known, w->known)) to = std::max(to, from);
      }
      for (Warp *w : here) std::fill_n(known.begin() + w->index * w->lanes, w->lanes, stamp);
      for (Warp *w : here) {
        w->known = known;
        w->lastSync = stamp;
        w->state = Warp::State::Ready;
      }
      if (here.size() == b.warps.size()) b.lastBarrier = b.lastGlobalBarrier = stamp;
      ++b.barriers;
      any = true;
    }
    return any;
  }

  /// Whether warps that wait at two barriers of the program release each other.
  static bool meet(const Instruction &a, const Instruction &b) {
    return a.immediate == b.immediate && (BarrierForm::of(a).orders & BarrierForm::kMeetsOthers);
  }

  /// All warps wait or have ended: releases them if they wait for the same barrier.
  void release(Block &b) {
    Warp *first = nullptr;
    for (Warp &w : b.warps)
      if (w.state == Warp::State::AtBarrier) {
        if (!first) first = &w;
        if (threadsOf(w)) {
          size_t here = b.arrivals[nameOf(w)].warps.size() +
                        llvm::count_if(b.warps, [&](Warp &o) { return waitsAtNamed(o) && nameOf(o) == nameOf(w); });
          return fail(w, w.barrier, -1,
                      llvm::formatv("waits at barrier {0} for {1} threads, of which {2} have come, and all others wait "
                                    "elsewhere or have ended",
                                    nameOf(w), threadsOf(w), here * w.lanes));
        }
        if (w.barrier != first->barrier && !meet(*w.barrier, *first->barrier)) {
          std::string other = describe(w.barrier->source);
          return fail(*first, first->barrier, -1,
                      llvm::formatv("waits at this barrier while warp {0} waits at another{1}", w.index,
                                    other.empty() ? std::string() : " (" + other + ")"));
        }
      }
    for (Warp &w : b.warps)
      if (w.state == Warp::State::Done)
        return fail(*first, first->barrier, -1,
                    llvm::formatv("waits at this barrier, but warp {0} has ended without it", w.index));
    if (!b.issued.empty() && !warpgroupsTogether(b, first->barrier, [](auto &) { return true; })) return;
    uint64_t stamp = ++launch_.stamp;
    uint8_t orders = BarrierForm::of(*first->barrier).orders;
    if (orders & BarrierForm::kShared) b.lastBarrier = stamp;
    if (orders & BarrierForm::kGlobal) b.lastGlobalBarrier = stamp;
    if (b.tensor) shareDots(b);
    ++b.barriers;
    detectLivelock(b, *first->barrier);
    for (Warp &w : b.warps) {
      if (orders & BarrierForm::kShared) w.lastSync = stamp;
      w.state = Warp::State::Ready;
    }
  }

  /// Sets `stuck` if all warps are at this barrier with the values they had before, and nobody changed memory since.
  void detectLivelock(Block &b, const Instruction &barrier) {
    size_t frame = program_.frameBytes;
    auto same = [&] {
      for (Warp &w : b.warps)
        if (memcmp(b.snapshot.data() + w.index * frame, w.frame, frame)) return false;
      return true;
    };
    if (b.snapshotBarrier == &barrier && b.snapshotChanges == launch_.changes && same()) {
      b.stuck = true;
      b.stuckAt = launch_.changes;
      return;
    }
    if (b.barriers < b.nextSnapshot) return;
    b.nextSnapshot = std::max<uint64_t>(1024, b.barriers + b.barriers / 2);
    if (b.barriers < 1024) return;
    b.snapshot.resize(frame * b.warps.size());
    for (Warp &w : b.warps) memcpy(b.snapshot.data() + w.index * frame, w.frame, frame);
    b.snapshotBarrier = &barrier;
    b.snapshotChanges = launch_.changes;
  }

  /// Warps may wait for lanes of their own that wait for the others to reconverge: those may run now.
  bool releaseStarvingLanes(const std::deque<std::unique_ptr<Block>> &resident) {
    if (!program_.target->hasIndependentLanes) return false;
    bool any = false;
    for (auto &b : resident)
      for (Warp &w : b->warps)
        if (w.state == Warp::State::Ready && w.groups.size() > 1 && !w.starving) {
          w.starving = any = true;
          w.stuck = b->stuck = false;
        }
    return any;
  }

  bool allStuck(const std::deque<std::unique_ptr<Block>> &resident) {
    for (auto &b : resident) {
      if (b->stuck && b->stuckAt == launch_.changes) continue;
      for (Warp &w : b->warps)
        if (w.state == Warp::State::Ready && !(w.stuck && w.stuckAt == launch_.changes)) return false;
    }
    return true;
  }

  void deadlock(const std::deque<std::unique_ptr<Block>> &resident) {
    for (auto &b : resident)
      for (Warp &w : b->warps) {
        if (w.state != Warp::State::Ready) continue;
        std::string others;
        unsigned count = 0;
        for (auto &c : resident)
          for (Warp &v : c->warps)
            if (&v != &w && v.state == Warp::State::Ready) ++count;
        if (count) others = llvm::formatv("; {0} other warps wait too", count);
        fail(w, nullptr, -1,
             llvm::formatv("deadlock: a loop repeats the same state without an end, and no other warp can change "
                           "memory ({0}){1}",
                           place(w), others));
        return;
      }
    launch_.failure = absl::AbortedError("deadlock");
  }

  Launch &launch_;
  const Program &program_;
  const std::vector<uint64_t> &arguments_;
  std::atomic<uint64_t> &next_;
  std::deque<std::unique_ptr<Block>> free_;
};

} // namespace

absl::Status runBlocks(Launch &launch, const std::vector<uint64_t> &arguments, std::atomic<uint64_t> &next) {
  return Grid(launch, arguments, next).run();
}

} // namespace tessera::emulator
