// The launch: blocks of the grid one after the other, the warps of a block round-robin, barriers, and what is reported
// at the end. Blocks run in the grid's order, so a run gives the same bits every time. One that is blocked, because
// it waits in a loop for another, is put aside and the next are started, as on hardware, which has many at once.
//
// Blocks that have nothing to do with each other may run on several host threads (runInParallel). That they have not
// is not believed but checked: every thread keeps its own record of who accessed what; if two threads accessed a byte
// that one of them wrote, or anything was found wrong, buffers are put back as they were and the blocks run one after
// the other.
#include "runtime/emulator/emulator.h"
#include "runtime/compiler/targets.h"
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/matrix.h"
#include "runtime/emulator/registers_live.h"
#include "runtime/emulator/tensor_copy.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <deque>
#include <thread>

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
        if (!launch_.failure.ok()) return launch_.failure;
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
        if (!launch_.failure.ok()) return launch_.failure;
        if (b->finished)
          free_.push_back(std::move(b));
        else
          resident.push_back(std::move(b));
        continue;
      }
      if (!resident.empty() && !progress && allStuck(resident) && !releaseStarvingLanes(resident))
        return deadlock(resident);
    }
    return absl::OkStatus();
  }

private:
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
    b.issued.clear();
    b.mbarriers.clear();
    b.fills.clear();
    b.drains = 0;
    std::fill(b.defined.begin(), b.defined.end(), 0);
    std::fill(b.shared.begin(), b.shared.end(), 0xa5); // so that a kernel that reads what it did not write shows it
    b.lastBarrier = b.lastGlobalBarrier = ++launch_.stamp;
    b.lastAcquire = 0;
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
    w.sinceProgress = w.nextSnapshot = 0;
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
    w.proxyFences = {};
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
        if (!b.issued.empty() && !warpgroupsTogether(b, nullptr, [](auto &) { return true; })) return;
        if (std::string why = copyInFlight(b); !why.empty()) return fail(b.warps[0], nullptr, -1, why);
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

  static unsigned nameOf(const Warp &w) { return BarrierForm::of(*w.barrier).number; }
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
      for (Warp *w : here)
        if (threadsOf(*w) != threads)
          return fail(first, first.barrier, -1,
                      llvm::formatv("waits at barrier {0} for {1} threads, and warp {2} for {3}", nameOf(first),
                                    threads, w->index, threadsOf(*w))),
                 false;
      if (here.size() * first.lanes > threads)
        return fail(first, first.barrier, -1,
                    llvm::formatv("barrier {0} is for {1} threads, and {2} have come to it", nameOf(first), threads,
                                  here.size() * first.lanes)),
               false;
      if (here.size() * first.lanes < threads) continue;
      auto comes = [&](const Warp &w) { return llvm::is_contained(here, &w); };
      auto wholeGroup = [&](const Warp &w) { // of a warpgroup that is here
        for (unsigned k = w.index / 4 * 4; k < std::min<size_t>(w.index / 4 * 4 + 4, b.warps.size()); ++k)
          if (!comes(b.warps[k])) return false;
        return true;
      };
      if (!b.issued.empty() && !warpgroupsTogether(b, first.barrier, wholeGroup)) return false;
      uint64_t stamp = ++launch_.stamp;
      std::vector<uint64_t> known(b.copyUnit());
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

  /// All warps wait or have ended: releases them if they wait for the same barrier.
  void release(Block &b) {
    Warp *first = nullptr;
    for (Warp &w : b.warps)
      if (w.state == Warp::State::AtBarrier) {
        if (!first) first = &w;
        if (threadsOf(w)) {
          unsigned here =
              unsigned(llvm::count_if(b.warps, [&](Warp &o) { return waitsAtNamed(o) && nameOf(o) == nameOf(w); }));
          return fail(w, w.barrier, -1,
                      llvm::formatv("waits at barrier {0} for {1} threads, of which {2} have come, and all others wait "
                                    "elsewhere or have ended",
                                    nameOf(w), threadsOf(w), here * w.lanes));
        }
        if (w.barrier != first->barrier) {
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

  absl::Status deadlock(const std::deque<std::unique_ptr<Block>> &resident) {
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
        return launch_.failure;
      }
    return absl::AbortedError("deadlock");
  }

  Launch &launch_;
  const Program &program_;
  const std::vector<uint64_t> &arguments_;
  std::atomic<uint64_t> &next_;
  std::vector<std::unique_ptr<Block>> free_;
};

Region sameMemory(const Region &r) {
  Region s;
  s.name = r.name;
  s.data = r.data;
  s.base = r.base;
  s.bytes = r.bytes;
  s.undefined = r.undefined;
  s.readOnly = r.readOnly;
  s.holdsTensorMaps = r.holdsTensorMaps;
  return s;
}

/// Whether two threads accessed a byte that one of them wrote.
bool shareWrites(const std::vector<std::unique_ptr<Launch>> &parts) {
  for (size_t b = 0; b < parts[0]->buffers.size(); ++b) {
    size_t pages = 0;
    for (auto &p : parts) pages = std::max(pages, p->buffers[b].shadow.size());
    for (size_t page = 0; page < pages; ++page) {
      llvm::SmallVector<const ShadowPage *, 8> seen;
      unsigned granule = kLargestGranule;
      for (auto &p : parts)
        if (auto &shadow = p->buffers[b].shadow; page < shadow.size() && shadow[page].cells)
          seen.push_back(&shadow[page]), granule = std::min<unsigned>(granule, shadow[page].granule);
      if (seen.size() < 2) continue;
      for (unsigned k = 0; k < kShadowPage; k += granule) {
        unsigned writers = 0, others = 0;
        for (auto *p : seen) {
          const GlobalCell &c = p->cells[k / p->granule];
          if (c.write.stamp || c.touched)
            ++writers;
          else if (c.read.stamp)
            ++others;
        }
        if (writers && writers + others > 1) return true;
      }
    }
  }
  return false;
}

/// Runs the blocks on several threads; false if they must run one after the other, with everything as it was.
bool runInParallel(Launch &launch, const std::vector<uint64_t> &arguments) {
  uint64_t total = uint64_t(launch.grid[0]) * uint64_t(launch.grid[1]) * uint64_t(launch.grid[2]);
  unsigned threads = unsigned(std::min<uint64_t>(uint64_t(std::max(1, launch.options->threads)), total));
  // Without the record of accesses it is unknown whether the order mattered.
  if (threads < 2 || launch.program->blocksInteract || !launch.checks.races) return false;
  for (auto &r : launch.buffers)
    if (r.bytes > kMaxShadowed) return false;
  for (auto &r : launch.constants)
    if (!r.readOnly) return false;
  std::vector<std::vector<uint8_t>> before;
  std::vector<std::vector<uint8_t>> undefinedBefore;
  for (auto &r : launch.buffers) {
    before.emplace_back(r.data, r.data + r.bytes);
    undefinedBefore.emplace_back(r.undefined, r.undefined ? r.undefined + r.bytes : nullptr);
  }
  std::vector<std::unique_ptr<Launch>> parts;
  for (unsigned k = 0; k < threads; ++k) {
    auto p = std::make_unique<Launch>();
    p->program = launch.program;
    p->options = launch.options;
    p->checks = launch.checks;
    p->grid = launch.grid;
    for (auto &r : launch.buffers) p->buffers.push_back(sameMemory(r));
    for (auto &r : launch.constants) p->constants.push_back(sameMemory(r));
    p->sites.resize(launch.sites.size());
    p->executed.resize(launch.executed.size());
    parts.push_back(std::move(p));
  }
  std::atomic<uint64_t> next{0};
  std::atomic<bool> sound{true};
  std::vector<std::thread> workers;
  for (auto &p : parts)
    workers.emplace_back([&, part = p.get()] {
      if (!Grid(*part, arguments, next).run().ok()) { // nobody need begin another
        sound = false;
        next = total;
      }
    });
  for (auto &t : workers) t.join();
  if (!sound || shareWrites(parts)) {
    for (auto [r, data, undefined] : llvm::zip(launch.buffers, before, undefinedBefore)) {
      std::copy(data.begin(), data.end(), r.data);
      std::copy(undefined.begin(), undefined.end(), r.undefined);
    }
    return false;
  }
  launch.report.threads = threads;
  for (auto &p : parts) {
    launch.report.instructions += p->report.instructions;
    for (auto [to, from] : llvm::zip(launch.executed, p->executed)) to |= from;
    for (auto [to, from] : llvm::zip(launch.sites, p->sites)) {
      if (!from.executed) continue;
      if (!to.executed) {
        to.operation = from.operation;
        to.where = from.where;
        to.kind = from.kind;
        to.bytesPerLane = from.bytesPerLane;
      }
      to.executed += from.executed, to.lanes += from.lanes, to.transactions += from.transactions,
          to.leastPossible += from.leastPossible;
    }
  }
  return true;
}

} // namespace

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

static absl::Status checkGridSize(std::array<int64_t, 3> grid) {
  constexpr int64_t kMaxBlocks = int64_t(1) << 31;
  for (int64_t n : grid)
    if (n < 1 || n > kMaxBlocks)
      return absl::InvalidArgumentError(
          llvm::formatv("the grid's size along a dimension must be from 1 to 2^31, not {0}", n).str());
  if (grid[0] * grid[1] > kMaxBlocks || grid[0] * grid[1] * grid[2] > kMaxBlocks)
    return absl::InvalidArgumentError("the grid has more than 2^31 blocks");
  return absl::OkStatus();
}

static void addBuffer(Launch &launch, std::string name, uint8_t *data, size_t bytes, uint8_t *undefined = nullptr) {
  Region r;
  r.name = std::move(name);
  r.data = data;
  r.bytes = bytes;
  r.undefined = undefined;
  r.base = kGlobalBase + kGlobalStride * launch.buffers.size();
  launch.buffers.push_back(std::move(r));
}

/// What AMD kernels find after their arguments (code object V5): counts of blocks, then sizes of a block.
struct ImplicitArguments {
  uint32_t blocks[3];
  uint16_t size[3];
  uint16_t remainder[3];
  uint8_t rest[232];
};

static void addImplicitArguments(Launch &launch, ImplicitArguments &implicit, unsigned threads) {
  for (size_t k = 0; k < 3; ++k) {
    implicit.blocks[k] = uint32_t(launch.grid[k]);
    implicit.size[k] = k ? 1 : uint16_t(threads);
  }
  Region r;
  r.name = "implicit arguments";
  r.data = reinterpret_cast<uint8_t *>(&implicit);
  r.bytes = sizeof implicit;
  r.readOnly = true;
  r.base = kConstantBase;
  launch.constants.push_back(std::move(r));
}

/// The bits of the given arguments. Tensor maps get memory (`maps`), of which the kernel takes the addresses.
static std::vector<uint64_t> argumentBits(Launch &launch, const std::vector<Argument> &arguments,
                                          std::vector<uint8_t> &maps) {
  uint64_t base = kConstantBase + kConstantStride * launch.constants.size();
  std::vector<uint64_t> values;
  for (auto &a : arguments) {
    uint64_t bits = a.buffer >= 0 ? launch.buffers[size_t(a.buffer)].base + a.bits : a.bits;
    if (a.tensorMap) {
      auto encoded = encodeTensorMap(*a.tensorMap, bits);
      bits = base + maps.size();
      maps.insert(maps.end(), encoded.begin(), encoded.end());
    }
    values.push_back(bits);
  }
  if (maps.empty()) return values;
  Region r;
  r.name = "tensor maps of the arguments";
  r.data = maps.data();
  r.bytes = maps.size();
  r.readOnly = r.holdsTensorMaps = true;
  r.base = base;
  launch.constants.push_back(std::move(r));
  return values;
}

/// Counts the live registers of the blocks that were executed.
static absl::Status countRegisters(Launch &launch, llvm::Module &module, const std::string &kernel,
                                   const ir::TargetInfo &target) {
  std::vector<const llvm::BasicBlock *> executed;
  for (auto [block, ran] : llvm::zip(launch.program->blocks, launch.executed))
    if (ran) executed.push_back(block.terminator->getParent());
  auto analyse = [&](llvm::TargetMachine &machine) {
    launch.report.live = registersLive(*module.getFunction(kernel), executed, target, machine);
  };
  return runtime::createBackend(*runtime::findArch(target.name), {})->withMachine(analyse);
}

absl::StatusOr<Report> emulate(llvm::Module &module, const std::string &kernel, const ir::TargetInfo &target,
                               std::array<int64_t, 3> grid, std::vector<Buffer> &buffers,
                               const std::vector<Argument> &arguments, const Options &options) {
  if (auto s = checkGridSize(grid); !s.ok()) return s;
  Launch launch;
  launch.options = &options;
  launch.checks = options.checks;
  launch.grid = grid;
  for (Buffer &b : buffers) addBuffer(launch, b.name, b.data, b.bytes, b.undefined);
  std::vector<uint8_t> scratch;
  if (options.globalScratchBytes) {
    uint64_t align = std::max<int64_t>(1, options.globalScratchAlign);
    uint64_t ofBlock = (uint64_t(options.globalScratchBytes) + align - 1) / align * align;
    scratch.resize(ofBlock * uint64_t(grid[0] * grid[1] * grid[2]));
    addBuffer(launch, "global scratch", scratch.data(), scratch.size());
  }
  ImplicitArguments implicit{};
  addImplicitArguments(launch, implicit, unsigned(options.numWarps * target.warpSize));
  std::vector<uint8_t> tensorMaps;
  std::vector<uint64_t> values = argumentBits(launch, arguments, tensorMaps);

  size_t ofArguments = launch.constants.size();
  Decoder decoder(module, target);
  auto program = decoder.run(kernel, launch);
  struct Constants { // the decoder's, after those of the arguments
    Launch &l;
    size_t first;
    ~Constants() {
      for (size_t k = first; k < l.constants.size(); ++k) delete[] l.constants[k].data;
    }
  } constants{launch, ofArguments};
  if (!program.ok()) return program.status();
  launch.program = program->get();
  if (options.counters) {
    launch.sites.resize((*program)->instructions.size());
    launch.executed.resize((*program)->blocks.size());
  }

  // The two hidden pointers.
  values.push_back(options.globalScratchBytes ? launch.buffers.back().base : 0);
  values.push_back(0);
  if (values.size() != (*program)->arguments.size())
    return absl::InvalidArgumentError(llvm::formatv("kernel '{0}' takes {1} arguments, but {2} are given", kernel,
                                                    (*program)->arguments.size(), values.size())
                                          .str());
  if (!runInParallel(launch, values)) {
    std::atomic<uint64_t> next{0};
    if (auto s = Grid(launch, values, next).run(); !s.ok()) return s;
  }
  for (auto &s : launch.sites)
    if (s.executed) launch.report.sites.push_back(std::move(s));
  if (options.counters)
    if (auto s = countRegisters(launch, module, kernel, target); !s.ok()) return s;
  return std::move(launch.report);
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

std::string knownForms() {
  std::string out;
  auto table = [&](const char *title, llvm::ArrayRef<IntrinsicRow> rows) {
    out += std::string("### ") + title + "\n| intrinsic | manual |\n|---|---|\n";
    // One line per section.
    std::vector<std::pair<std::string, std::string>> sections;
    for (auto &r : rows) {
      std::string name = std::string("`") + r.name + "`";
      if (!sections.empty() && sections.back().second == r.section)
        sections.back().first += " " + name;
      else
        sections.push_back({name, r.section});
    }
    for (auto &[names, section] : sections) out += "| " + names + " | " + section + " |\n";
    out += "\n";
  };
  table("LLVM's own", llvmIntrinsics());
  table("NVIDIA", nvidiaIntrinsics());
  table("AMD", amdIntrinsics());
  table("AMD, matrices", amdMatrixIntrinsics());
  out += "### Inline PTX\n| form | manual |\n|---|---|\n";
  for (auto &f : ptxForms()) out += std::string("| `") + f.form + "` | " + f.section + " |\n";
  return out;
}

} // namespace tessera::emulator
