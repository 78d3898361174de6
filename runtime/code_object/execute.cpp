// Workgroups: initial state of waves, turns, barriers, errors (see execute.h). Sources: LLVM's AMDGPUUsage, "Initial
// Kernel Execution State" and "Kernarg preload"; "Code Object V5 Metadata" for hidden arguments.
#include "runtime/code_object/execute.h"
#include "absl/status/status.h"
#include "runtime/code_object/wave.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

namespace tessera::code_object {
using namespace llvm;

namespace {

/// What a workgroup may have (LLVM's AMDGPUUsage, "Processors"; ISA guides, "LDS").
uint32_t largestLds(StringRef target) { return target == "gfx950" ? 160 * 1024 : 64 * 1024; }

/// hsa_kernel_dispatch_packet_t, of which kernels read the sizes.
std::array<uint8_t, 64> dispatchPacket(const Grid &g) {
  std::array<uint8_t, 64> p{};
  for (unsigned d = 0; d < 3; ++d) {
    auto size = uint16_t(g.workItems[d]);
    uint32_t all = g.workgroups[d] * g.workItems[d];
    std::memcpy(&p[4 + 2 * d], &size, 2);
    std::memcpy(&p[12 + 4 * d], &all, 4);
  }
  return p;
}

void fillHidden(const Kernel &k, const Grid &g, std::vector<uint8_t> &kernarg) {
  for (const KernelArgument &a : k.arguments) {
    uint64_t value = 0;
    StringRef kind = a.valueKind;
    if (!a.isHidden()) continue;
    unsigned d = kind.ends_with("_y") ? 1 : kind.ends_with("_z") ? 2 : 0;
    if (kind.starts_with("hidden_block_count")) value = g.workgroups[d];
    if (kind.starts_with("hidden_group_size")) value = g.workItems[d];
    if (kind == "hidden_grid_dims") value = g.workgroups[2] > 1 ? 3 : g.workgroups[1] > 1 ? 2 : 1;
    if (kind == "hidden_dynamic_lds_size") value = g.dynamicLdsBytes;
    if (kind == "hidden_private_base") value = kPrivateBase >> 32;
    if (kind == "hidden_shared_base") value = kSharedBase >> 32;
    if (a.size <= 8 && uint64_t(a.offset) + a.size <= kernarg.size()) std::memcpy(&kernarg[a.offset], &value, a.size);
  }
}

/// A workgroup while it runs.
struct ActiveGroup {
  Group group;
  std::vector<Wave> waves;
  bool hasEnded() const {
    return llvm::all_of(waves, [](const Wave &w) { return w.state == Wave::State::Ended; });
  }
};

/// What a wave polls for; of one that does not, nothing.
std::array<uint64_t, 4> pollOf(const Wave &w) {
  if (w.state != Wave::State::Polling) return {w.executed, uint64_t(w.state)};
  return {w.poll.step, w.poll.address, w.poll.value, w.changes};
}

/// One launch while it runs.
class Executor {
public:
  Executor(const CodeObject &object, const Kernel &kernel, const Program &program, const Grid &grid,
           ArrayRef<uint8_t> kernarg, Memory &memory, const ExecuteOptions &options)
      : object_(object), kernel_(kernel), program_(program), grid_(grid), options_(options), memory_(memory),
        kernarg_(kernarg.begin(), kernarg.end()), packet_(dispatchPacket(grid)) {
    kernarg_.resize(std::max<size_t>(kernarg_.size(), kernel.descriptor.kernargBytes));
    fillHidden(kernel, grid, kernarg_);
    // An object's code and constants are read, and its variables written, in memory of this launch.
    segments_ = object.segments;
    for (Segment &s : segments_)
      memory_.addAt("the object's segment at " + utohexstr(s.address), kCodeBase + s.address, s.bytes.data(),
                    s.bytes.size());
    kernargAddress_ = memory_.add("the argument segment", kernarg_.data(), kernarg_.size());
    packetAddress_ = memory_.add("the dispatch packet", packet_.data(), packet_.size());
  }
  absl::StatusOr<Trace> run();

private:
  absl::Status check() const;
  absl::Status run(const WorkgroupId &);
  std::unique_ptr<ActiveGroup> startGroup(const WorkgroupId &, bool mayStop);
  /// Until it has ended or all of its waves wait for what other workgroups do. Whether it has come further.
  absl::StatusOr<bool> advance(ActiveGroup &);
  std::unique_ptr<ActiveGroup> startAnother(const WorkgroupId &waiting);
  void finish(std::unique_ptr<ActiveGroup>);
  uint64_t indexOf(const WorkgroupId &id) const {
    return (uint64_t(id[2]) * grid_.workgroups[1] + id[1]) * grid_.workgroups[0] + id[0];
  }
  void start(Wave &, unsigned index, const WorkgroupId &, Group &);
  void startScalars(Wave &, const WorkgroupId &);
  void startWorkItemIds(Wave &);
  /// Until it comes to a barrier or its end.
  void runWave(Wave &);
  void executeIndexed(Wave &, const Step &);
  absl::Status failure(const Wave &, const WorkgroupId &, StringRef what) const;
  unsigned workItems() const { return grid_.workItems[0] * grid_.workItems[1] * grid_.workItems[2]; }

  const CodeObject &object_;
  const Kernel &kernel_;
  const Program &program_;
  const Grid &grid_;
  const ExecuteOptions &options_;
  Memory memory_; // a copy, which has this launch's own regions too
  std::vector<uint8_t> kernarg_;
  std::array<uint8_t, 64> packet_;
  std::vector<Segment> segments_;
  uint64_t kernargAddress_ = 0, packetAddress_ = 0;
  uint32_t entry_ = 0;
  uint64_t ldsBytes_ = 0;
  std::unique_ptr<ActiveGroup> spare_;                // reused from group to group
  std::vector<std::unique_ptr<ActiveGroup>> waiting_; // started and not ended
  DenseSet<uint64_t> started_;                        // workgroups, by their place in the grid
  Trace trace_;
};

absl::Status Executor::check() const {
  auto bad = [](const Twine &what) { return absl::InvalidArgumentError(what.str()); };
  uint64_t items = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (!grid_.workgroups[d] || !grid_.workItems[d]) return bad("the grid is empty");
    items *= grid_.workItems[d];
    if (items > 1024) return bad("a workgroup has more than 1024 work-items");
    if (kernel_.requiredWorkgroup[d] && kernel_.requiredWorkgroup[d] != grid_.workItems[d])
      return bad(formatv("kernel '{0}' requires workgroups of {1} x {2} x {3} work-items", kernel_.name,
                         kernel_.requiredWorkgroup[0], kernel_.requiredWorkgroup[1], kernel_.requiredWorkgroup[2]));
  }
  if (kernel_.maxWorkItems && items > kernel_.maxWorkItems)
    return bad(formatv("kernel '{0}' takes workgroups of at most {1} work-items, not {2}", kernel_.name,
                       kernel_.maxWorkItems, items));
  uint32_t largest = options_.maxLdsBytes ? options_.maxLdsBytes : largestLds(object_.target);
  if (ldsBytes_ > largest)
    return bad(formatv("kernel '{0}' needs {1} bytes of LDS; a workgroup has {2}", kernel_.name, ldsBytes_, largest));
  for (const WorkgroupId &id : options_.workgroups)
    for (unsigned d = 0; d < 3; ++d)
      if (id[d] >= grid_.workgroups[d])
        return bad(formatv("there is no workgroup ({0}, {1}, {2})", id[0], id[1], id[2]));
  return absl::OkStatus();
}

/// AMDGPUUsage, "SGPR Register Set Up Order".
void Executor::startScalars(Wave &w, const WorkgroupId &id) {
  const KernelDescriptor &d = kernel_.descriptor;
  unsigned at = 0;
  auto put = [&](uint64_t value, unsigned count) {
    for (unsigned k = 0; k < count && at < 104; ++k, ++at) w.scalars[at] = k < 2 ? uint32_t(value >> (32 * k)) : 0;
  };
  if (d.privateSegmentBuffer()) {
    put(kPrivateBase, 2);
    put(0xffffffff, 2);
  }
  if (d.dispatchPtr()) put(packetAddress_, 2);
  if (d.queuePtr()) put(0, 2);
  if (d.kernargSegmentPtr()) put(kernargAddress_, 2);
  if (d.dispatchId()) put(0, 2);
  if (d.flatScratchInit()) put(0, 2);
  if (d.privateSegmentSize()) put(d.privateBytes, 1);
  for (unsigned k = 0; k < d.preloadLength(); ++k) {
    uint32_t v = 0;
    size_t from = 4 * (size_t(d.preloadOffset()) + k);
    if (from + 4 <= kernarg_.size()) std::memcpy(&v, &kernarg_[from], 4);
    put(v, 1);
  }
  // gfx12: in trap handler registers, whatever is enabled.
  if (program_.code->isGfx12) {
    w.scalars[kTtmp0 + 9] = id[0];
    w.scalars[kTtmp0 + 7] = (id[1] & 0xffff) | id[2] << 16;
    w.scalars[kTtmp0 + 8] = w.index << 25; // the wave's number in bits 29:25
  } else {
    at = std::max(at, d.userSgprs());
    for (unsigned k = 0; k < 3; ++k)
      if (d.workgroupId(k)) put(id[k], 1);
    if (d.workgroupInfo()) put(0, 1);
    if (d.usesScratch()) put(0, 1);
  }
}

/// Packed into v0 on gfx90a and later.
void Executor::startWorkItemIds(Wave &w) {
  uint32_t x = grid_.workItems[0], y = grid_.workItems[1];
  for (unsigned l = 0; l < w.lanes; ++l) {
    uint32_t item = w.index * w.lanes + l;
    w.row(0)[l] = item % x | item / x % y << 10 | item / x / y << 20;
  }
}

void Executor::start(Wave &w, unsigned index, const WorkgroupId &id, Group &group) {
  unsigned rows = std::max(1u, program_.code->vectorRows);
  w.vectors.resize(rows);
  // What a register holds at the start is not defined: not zero, so that reading one shows.
  for (Row &r : w.vectors) std::fill(std::begin(r.lane), std::end(r.lane), 0xdeadbeef);
  std::fill(std::begin(w.scalars), std::end(w.scalars), 0xdeadbeef);
  w.scalars[kNull] = 0;
  w.lanes = program_.waveSize;
  w.index = index;
  w.scc = false;
  w.state = Wave::State::Ready;
  w.executed = w.changes = w.barriers = 0;
  w.poll.step = kNoInstruction;
  w.indexesVectors = false;
  w.pc = entry_;
  w.group = &group;
  w.program = &program_;
  w.trace = nullptr;
  w.error.clear();
  w.scratchBytes = kernel_.descriptor.privateBytes;
  w.scratch.assign(size_t(w.scratchBytes) * w.lanes, 0xee);
  w.modeRegister = (kernel_.descriptor.resource1 >> 12 & 0xff) | (kernel_.descriptor.resource1 >> 26 & 1) << 23;
  w.mode.flush32 = (w.modeRegister >> 4 & 3) != 3;
  w.mode.flush16 = (w.modeRegister >> 6 & 3) != 3;
  unsigned items = workItems(), first = index * w.lanes, active = std::min(w.lanes, items - first);
  w.setPair(kExecLo, active == 64 ? ~uint64_t(0) : (uint64_t(1) << active) - 1);
  w.execOfRow = 0;
  w.execRow = Row{};
  w.setPair(kVccLo, 0);
  w.scalars[kM0] = ~0u;
  w.setPair(kFlatScratchLo, 0);
  startScalars(w, id);
  startWorkItemIds(w);
}

void Executor::runWave(Wave &w) {
  const Step *steps = program_.code->steps.data();
  auto count = uint32_t(program_.instructions.size());
  while (w.state == Wave::State::Ready) {
    if (w.pc >= count) return w.fail("execution has left the kernel's code");
    const Step &s = steps[w.pc];
    if (!s.handler) return w.fail("the instruction is not known to this model yet");
    if (w.executed >= w.stopsAfter) {
      w.state = Wave::State::Ended;
      return;
    }
    if (w.executed++ >= options_.maxInstructionsPerWave)
      return w.fail(formatv("the wave has executed {0} instructions: an endless loop?", w.executed - 1));
    if (w.trace) {
      TraceEvent e;
      e.mask = w.exec();
      e.instruction = w.pc;
      w.trace->events.push_back(e);
    }
    ++w.pc;
    if (w.indexesVectors && s.isVector)
      executeIndexed(w, s);
    else
      s.handler(w, s);
    if (w.state == Wave::State::Failed) w.pc = s.index;
  }
}

/// M0[7:0] is added to the vector registers that M0[15:12] names: sources 0 to 2, the destination.
void Executor::executeIndexed(Wave &w, const Step &s) {
  uint32_t m0 = w.scalars[kM0];
  SmallVector<Operand, 6> operands(s.operands, s.operands + s.operandCount);
  // Carries have a second destination, a mask.
  unsigned firstSource = (s.semantic->result != Type::None) + StringRef(s.semantic->mnemonic).contains("_co_");
  for (unsigned k = 0; k < operands.size(); ++k) {
    unsigned bit = k >= firstSource ? 12 + (k - firstSource) : 15; // 12 to 14: sources, 15: the destination
    bool isIndexed = (k < firstSource || bit < 15) && (m0 >> bit & 1);
    if (isIndexed && operands[k].isVector()) operands[k].index = uint16_t(operands[k].index + (m0 & 0xff));
  }
  Step indexed = s;
  indexed.operands = operands.data();
  s.handler(w, indexed);
}

absl::Status Executor::failure(const Wave &w, const WorkgroupId &id, StringRef what) const {
  std::string text = formatv("kernel '{0}' ({1}), workgroup ({2}, {3}, {4}), wave {5}, {6}: {7}", kernel_.name,
                             object_.target, id[0], id[1], id[2], w.index, program_.describe(w.pc), what);
  return absl::FailedPreconditionError(text);
}

/// `mayStop`: as ExecuteOptions::stopsAfter says; what others wait for executes all.
std::unique_ptr<ActiveGroup> Executor::startGroup(const WorkgroupId &id, bool mayStop) {
  unsigned count = (workItems() + program_.waveSize - 1) / program_.waveSize;
  auto g = spare_ ? std::move(spare_) : std::make_unique<ActiveGroup>();
  started_.insert(indexOf(id));
  g->waves.resize(count);
  g->group.id = id;
  g->group.lds.assign(ldsBytes_, 0xcd); // not zero, so that reading what was not written shows
  g->group.memory = &memory_;
  bool isTraced = options_.isTraced && options_.isTraced(id);
  size_t firstTrace = trace_.waves.size();
  for (unsigned k = 0; k < count; ++k) {
    start(g->waves[k], k, id, g->group);
    g->waves[k].stopsAfter = mayStop && options_.stopsAfter ? options_.stopsAfter(id) : ~uint64_t(0);
    if (!isTraced) continue;
    trace_.waves.push_back({id, k, {}, {}, {}});
    g->waves[k].trace = &trace_.waves[firstTrace + k];
  }
  return g;
}

absl::StatusOr<bool> Executor::advance(ActiveGroup &g) {
  auto count = unsigned(g.waves.size());
  std::vector<std::array<uint64_t, 4>> first, before(count), after(count);
  while (!g.hasEnded()) {
    for (unsigned k = 0; k < count; ++k) before[k] = pollOf(g.waves[k]);
    if (first.empty()) first = before;
    for (Wave &w : g.waves)
      if (w.state == Wave::State::Polling) w.state = Wave::State::Ready;
    for (unsigned k = 0; k < count; ++k) {
      Wave &w = g.waves[options_.reverseWaves ? count - 1 - k : k];
      runWave(w);
      if (w.state == Wave::State::Failed) return failure(w, g.group.id, w.error);
    }
    bool polls = llvm::any_of(g.waves, [](const Wave &w) { return w.state == Wave::State::Polling; });
    for (unsigned k = 0; k < count; ++k) after[k] = pollOf(g.waves[k]);
    if (polls && before == after) return first != after;
    if (polls) continue;
    // Waves that have ended are no longer waited for (ISA guides, S_BARRIER). One that was stopped would have come to
    // the barrier: what the others read behind it may be its.
    bool wasStopped = llvm::any_of(g.waves, [](const Wave &w) { return w.executed >= w.stopsAfter; });
    for (Wave &w : g.waves)
      if (w.state == Wave::State::AtBarrier) w.state = wasStopped ? Wave::State::Ended : Wave::State::Ready;
  }
  return true;
}

/// A workgroup that has not been started, for whom `waiting` may wait: first those that differ in one dimension of the
/// grid, as the parts of a split K do, then any. Null: there is none.
std::unique_ptr<ActiveGroup> Executor::startAnother(const WorkgroupId &waiting) {
  for (unsigned d : {2u, 0u, 1u}) {
    WorkgroupId id = waiting;
    for (id[d] = 0; id[d] < grid_.workgroups[d]; ++id[d])
      if (!started_.contains(indexOf(id))) return startGroup(id, false);
  }
  for (uint32_t z = 0; z < grid_.workgroups[2]; ++z)
    for (uint32_t y = 0; y < grid_.workgroups[1]; ++y)
      for (uint32_t x = 0; x < grid_.workgroups[0]; ++x)
        if (!started_.contains(indexOf({x, y, z}))) return startGroup({x, y, z}, false);
  return nullptr;
}

void Executor::finish(std::unique_ptr<ActiveGroup> g) {
  for (const Wave &w : g->waves) trace_.executedInstructions += w.executed;
  trace_.executedWaves += g->waves.size();
  if (!spare_) spare_ = std::move(g);
}

/// The workgroup, and others as long as it waits for what they do. Those that then wait themselves continue later.
absl::Status Executor::run(const WorkgroupId &wanted) {
  if (!started_.contains(indexOf(wanted))) waiting_.push_back(startGroup(wanted, true));
  auto isWanted = [&](const std::unique_ptr<ActiveGroup> &g) { return g->group.id == wanted; };
  while (llvm::any_of(waiting_, isWanted)) {
    bool isFurther = false;
    for (size_t k = waiting_.size(); k-- > 0;) { // the newest first
      auto advanced = advance(*waiting_[k]);
      if (!advanced.ok()) return advanced.status();
      isFurther |= *advanced;
      if (!waiting_[k]->hasEnded()) continue;
      finish(std::move(waiting_[k]));
      waiting_.erase(waiting_.begin() + ptrdiff_t(k));
    }
    if (isFurther || waiting_.empty()) continue;
    auto another = startAnother(wanted);
    if (!another) {
      ActiveGroup &g = **llvm::find_if(waiting_, isWanted);
      // What it waits for may come from one that was stopped: then it stops here, too.
      if (g.waves.front().stopsAfter != ~uint64_t(0)) {
        for (Wave &w : g.waves) w.state = Wave::State::Ended;
        continue;
      }
      const Wave &w = *llvm::find_if(g.waves, [](const Wave &x) { return x.state == Wave::State::Polling; });
      return failure(w, wanted, "the wave waits for a change of memory that no workgroup makes");
    }
    waiting_.push_back(std::move(another));
  }
  return absl::OkStatus();
}

absl::StatusOr<Trace> Executor::run() {
  ldsBytes_ = uint64_t(kernel_.descriptor.ldsBytes) + grid_.dynamicLdsBytes;
  if (absl::Status s = check(); !s.ok()) return s;
  // Hardware that preloads arguments skips the code that loads them, which has 256 bytes.
  uint64_t entry = kernel_.entry + (kernel_.descriptor.preloadLength() ? 256 : 0);
  for (const Instruction &i : program_.instructions)
    if (i.address < entry) ++entry_;
  auto lastReport = std::chrono::steady_clock::now();
  uint64_t finished = 0;
  auto one = [&](const WorkgroupId &id) -> absl::Status {
    if (absl::Status s = run(id); !s.ok()) return s;
    ++finished;
    auto now = std::chrono::steady_clock::now();
    if (!options_.progress || now - lastReport < std::chrono::seconds(1)) return absl::OkStatus();
    lastReport = now;
    return options_.progress(finished) ? absl::CancelledError("stopped") : absl::OkStatus();
  };
  for (const WorkgroupId &id : options_.workgroups)
    if (absl::Status s = one(id); !s.ok()) return s;
  if (!options_.workgroups.empty()) return std::move(trace_);
  for (uint32_t z = 0; z < grid_.workgroups[2]; ++z)
    for (uint32_t y = 0; y < grid_.workgroups[1]; ++y)
      for (uint32_t x = 0; x < grid_.workgroups[0]; ++x)
        if (absl::Status s = one({x, y, z}); !s.ok()) return s;
  return std::move(trace_);
}

} // namespace

absl::StatusOr<Trace> execute(const CodeObject &object, const Kernel &kernel, const Program &program, const Grid &grid,
                              ArrayRef<uint8_t> kernarg, Memory &memory, const ExecuteOptions &options) {
  return Executor(object, kernel, program, grid, kernarg, memory, options).run();
}

} // namespace tessera::code_object
