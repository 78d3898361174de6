// The grid: checks the arguments, runs the programs, on one thread or several, and reports what went wrong (see
// interpreter.h). A program is evaluated on the stack of its thread; one that waits for others keeps its thread and
// lets the next program run, on a thread of its own. By default exactly one program runs at any time, and the order is
// always the same.
#include "runtime/interpreter/interpreter.h"
#include "ir/printer.h"
#include "ir/tensor_queries.h"
#include "runtime/interpreter/program.h"
#include "llvm/Support/FormatVariadic.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace tessera::runtime {
using namespace ir;

namespace {

class Grid {
public:
  Grid(Run &run, const GlobalMemory &memory, Operation *kernel, llvm::ArrayRef<InterpreterArg> args)
      : run_(run), memory_(memory), kernel_(kernel), args_(args), total_(run.grid[0] * run.grid[1] * run.grid[2]) {}

  void runAll(int threads) {
    {
      std::unique_lock lock(mutex_);
      for (int i = 1; i < std::min<int64_t>(threads, total_) && !run_.stop; ++i) startThread();
    }
    worker();
    for (size_t i = 0;; ++i) {
      std::thread t;
      {
        std::unique_lock lock(mutex_);
        if (i >= threads_.size()) break;
        t = std::move(threads_[i]);
      }
      t.join();
    }
  }

  struct Failure {
    Fault fault;
    std::array<int64_t, 3> id;
  };
  const std::optional<Failure> &failure() const { return failure_; }
  bool outOfThreads() const { return outOfThreads_; }

private:
  void noteSteps(int64_t steps) {
    int64_t most = run_.mostSteps;
    while (steps > most && !run_.mostSteps.compare_exchange_weak(most, steps)) {
    }
  }

  /// A program that has begun.
  struct Running {
    bool turn = false; // after waiting: may run
    std::condition_variable wake;
    uint64_t seen = 0; // the number of writes when it last gave up its turn
    int64_t idle = 0;  // how often in a row without any write in between
  };
  static constexpr int64_t kPatience = 1000;

  // All with the mutex held.
  bool hasNew() const { return next_ < total_; }
  void startThread() {
    try {
      threads_.emplace_back([this] { worker(); });
    } catch (const std::system_error &) {
      outOfThreads_ = true;
      stopAll();
    }
  }
  void stopAll() {
    run_.stop = true;
    for (auto *r : waiting_) r->turn = true, r->wake.notify_one();
    waiting_.clear();
  }
  /// Gives a turn to whoever is next: a waiting program, or (by a thread of its own) a new one. They alternate, so that
  /// neither starves.
  void passTurn() {
    bool startNew = hasNew() && (waiting_.empty() || newFirst_);
    newFirst_ = !startNew;
    if (startNew)
      startThread();
    else if (!waiting_.empty()) {
      auto *r = waiting_.front();
      waiting_.pop_front();
      r->turn = true;
      r->wake.notify_one();
    }
  }
  bool deadlocked() const {
    if (hasNew()) return false;
    for (auto *r : running_)
      if (r->seen != run_.writes || r->idle < kPatience) return false;
    return true;
  }

  /// Runs new programs until there are none, or until a waiting one is to have the turn.
  void worker() {
    LanePool pool;
    std::unique_lock lock(mutex_);
    while (hasNew() && !run_.stop) {
      int64_t index = next_++;
      Running self;
      running_.push_back(&self);
      lock.unlock();
      std::array<int64_t, 3> id{index % run_.grid[0], index / run_.grid[0] % run_.grid[1],
                                index / run_.grid[0] / run_.grid[1]};
      std::optional<Fault> fault;
      {
        Program program(run_, pool, memory_, id, [&] { return spin(self); });
        program.run(kernel_, args_);
        fault = program.fault();
        noteSteps(program.steps());
      }
      lock.lock();
      llvm::erase(running_, &self);
      run_.writes.fetch_add(1); // an end may be what others wait for
      if (fault) {
        // Of several faults the first program's is reported.
        if (!failure_ || index < failed_) {
          failure_ = Failure{std::move(*fault), id};
          failed_ = index;
        }
        stopAll();
      } else if (!run_.stop && run_.options.progress)
        run_.options.progress(++done_, total_);
      if (!waiting_.empty() && !run_.stop && !(hasNew() && newFirst_)) break;
      if (!waiting_.empty()) newFirst_ = false;
    }
    if (!run_.stop) passTurn();
  }

  /// Called by a program that waits: lets others run first. False if no program can run.
  bool spin(Running &self) {
    std::unique_lock lock(mutex_);
    if (run_.stop) return false;
    uint64_t writes = run_.writes;
    self.idle = writes == self.seen ? self.idle + 1 : 0;
    self.seen = writes;
    if (self.idle >= kPatience && deadlocked()) return false;
    if (!hasNew() && waiting_.empty()) {
      lock.unlock();
      if (run_.options.threads > 1) std::this_thread::yield();
      return true;
    }
    waiting_.push_back(&self);
    self.turn = false;
    passTurn();
    self.wake.wait(lock, [&] { return self.turn; });
    return !run_.stop;
  }

  Run &run_;
  const GlobalMemory &memory_;
  Operation *kernel_;
  llvm::ArrayRef<InterpreterArg> args_;
  int64_t total_, next_ = 0, done_ = 0, failed_ = 0;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::deque<Running *> waiting_; // without a turn, in order
  std::vector<Running *> running_;
  bool newFirst_ = true, outOfThreads_ = false;
  std::optional<Failure> failure_;
};

absl::Status invalid(const llvm::formatv_object_base &text) { return absl::InvalidArgumentError(text.str()); }

absl::Status checkArguments(Operation *kernel, std::array<int64_t, 3> grid, llvm::ArrayRef<InterpreterBuffer> buffers,
                            llvm::ArrayRef<InterpreterArg> args) {
  auto func = kernel->dyn<tt::FuncOp>();
  if (!func || func.body().empty()) return absl::InvalidArgumentError("the kernel is not a function with a body");
  std::string name = func.symName().str();
  int64_t programs = 1;
  for (auto g : grid) {
    if (g < 1) return invalid(llvm::formatv("the grid ({0}, {1}, {2}) is empty", grid[0], grid[1], grid[2]));
    if (programs > kMaxInterpreterPrograms / g)
      return invalid(llvm::formatv("the grid ({0}, {1}, {2}) has too many programs", grid[0], grid[1], grid[2]));
    programs *= g;
  }
  Block *entry = func.body().front();
  if (entry->numArgs() != args.size())
    return invalid(
        llvm::formatv("the kernel '{0}' takes {1} arguments, and {2} are given", name, entry->numArgs(), args.size()));
  for (auto &b : buffers) {
    if (b.bytes > GlobalMemory::kMaxBytes)
      return invalid(llvm::formatv("buffer '{0}' has {1} bytes; the interpreter takes {2} at most", b.name, b.bytes,
                                   GlobalMemory::kMaxBytes));
    if (reinterpret_cast<uintptr_t>(b.data) % 8)
      return invalid(llvm::formatv("the memory of buffer '{0}' is not aligned to 8 bytes", b.name));
  }
  for (unsigned i = 0; i < args.size(); ++i) {
    Type t = entry->arg(i).type();
    auto descriptor = t.dyn_cast<TensorDescType>();
    bool isDescriptor =
        descriptor && args[i].shape.size() == descriptor.rank() && args[i].strides.size() == descriptor.rank();
    if (descriptor && !isDescriptor)
      return invalid(llvm::formatv(
          "argument {0} of '{1}' is a tensor descriptor of {2} dimensions, and {3} is given", i, name,
          descriptor.rank(), args[i].shape.empty() ? "none" : llvm::formatv("one of {0}", args[i].shape.size()).str()));
    if (isDescriptor && size_t(args[i].buffer) < buffers.size()) continue;
    if (t.isTensor() || !laneBytes(t) || laneBytes(t) > 8 || isBlockPointer(t))
      return invalid(
          llvm::formatv("argument {0} of '{1}' has the type {2}, which the interpreter cannot pass", i, name, t.str()));
    if (args[i].buffer < 0) continue;
    if (size_t(args[i].buffer) >= buffers.size())
      return invalid(
          llvm::formatv("argument {0} of '{1}' names buffer {2} of {3}", i, name, args[i].buffer, buffers.size()));
    if (!t.isPointer())
      return invalid(
          llvm::formatv("argument {0} of '{1}' is {2}, not a pointer, and a buffer is given", i, name, t.str()));
  }
  return absl::OkStatus();
}

/// The first line of an operation as text.
std::string firstLine(Operation *op) {
  std::string text = printOperation(op);
  text.resize(std::min(text.find('\n'), text.size()));
  if (text.size() > 200) text = text.substr(0, 200) + "...";
  return text;
}

// ---- a launch, and its outcome with other values in place of those that have no meaning ----

/// What a run of all programs came to.
struct Outcome {
  std::optional<Grid::Failure> failure;
  bool outOfThreads = false;
  int64_t mostSteps = 0; // of a program
  bool isUnwrittenRead() const { return failure && failure->fault.isUnwrittenRead; }
};

class Launch {
public:
  Launch(const Plan &plan, Operation *kernel, std::array<int64_t, 3> grid, llvm::ArrayRef<InterpreterBuffer> buffers,
         llvm::ArrayRef<InterpreterArg> args)
      : plan_(plan), kernel_(kernel), grid_(grid), buffers_(buffers), args_(args) {}

  Outcome run(const InterpreterOptions &options, OpenValues *openValues, UnwrittenTrial *trial) const {
    std::mutex printing;
    Run run{plan_, options, grid_, {}, {}, {}, openValues, trial};
    if (options.print)
      run.print = [&](llvm::StringRef line) {
        std::scoped_lock lock(printing);
        options.print(line);
      };
    GlobalMemory memory(buffers_);
    Grid programs(run, memory, kernel_, args_);
    programs.runAll(trial ? 1 : std::max(1, options.threads));
    return {programs.failure(), programs.outOfThreads(), run.mostSteps};
  }

  using Contents = std::vector<std::vector<uint8_t>>;
  /// The bytes of all buffers, and which of them were written.
  Contents contents() const {
    Contents all;
    for (auto &b : buffers_) {
      all.emplace_back(b.data, b.data + b.bytes);
      if (b.undefined) all.emplace_back(b.undefined, b.undefined + b.bytes);
    }
    return all;
  }
  void restore(const Contents &all) const {
    auto next = all.begin();
    for (auto &b : buffers_) {
      llvm::copy(*next++, b.data);
      if (b.undefined) llvm::copy(*next++, b.undefined);
    }
  }

  /// What a run that began with these contents left in bytes that still nobody has written is put back.
  void restoreUnwritten(const Contents &before) const {
    auto next = before.begin();
    for (auto &b : buffers_) {
      const std::vector<uint8_t> &bytes = *next++;
      if (!b.undefined) continue;
      ++next;
      for (size_t k = 0; k < b.bytes; ++k)
        if (b.undefined[k]) b.data[k] = bytes[k];
    }
  }
  /// Whether the launch may read memory that nothing wrote, and can be run again.
  bool mayNeedTrials() const {
    uint64_t bytes = 0;
    bool hasUnwritten = false;
    for (auto &b : buffers_) {
      bytes += b.bytes;
      hasUnwritten = hasUnwritten || (b.undefined && std::memchr(b.undefined, 1, b.bytes));
    }
    return hasUnwritten && bytes <= kMostTrialBytes;
  }

private:
  const Plan &plan_;
  Operation *kernel_;
  std::array<int64_t, 3> grid_;
  llvm::ArrayRef<InterpreterBuffer> buffers_;
  llvm::ArrayRef<InterpreterArg> args_;
};

bool failsAlike(const Outcome &a, const Outcome &b) {
  if (a.failure.has_value() != b.failure.has_value()) return false;
  return !a.failure || (a.failure->fault.op == b.failure->fault.op &&
                        a.failure->fault.message == b.failure->fault.message && a.failure->id == b.failure->id);
}

/// The options of a run with other values, which may loop for ever. `first`: the run that it is compared with.
InterpreterOptions optionsOfTrial(const InterpreterOptions &options, const Outcome &first) {
  constexpr int64_t kMoreSteps = 1 << 16;
  InterpreterOptions again = options;
  again.print = nullptr;
  again.progress = nullptr;
  again.maxSteps = std::min(options.maxSteps, 4 * first.mostSteps + kMoreSteps);
  return again;
}

/// The first of the places on whose values the outcome depends, if it does, with an element that it depends on. The
/// buffers, which hold what the first run wrote, are left as they are.
std::optional<OpenValues::Place> openPlaceThatMatters(const Launch &launch, const Launch::Contents &before,
                                                      const Outcome &first, const InterpreterOptions &options,
                                                      llvm::ArrayRef<OpenValues::Place> places, bool readsUnwritten) {
  constexpr size_t kTried = 16;         // one by one
  constexpr size_t kTriedElements = 20; // of a million elements one is found
  Launch::Contents after = launch.contents();
  InterpreterOptions again = optionsOfTrial(options, first);
  auto matter = [&](OpenValues &replaced) {
    launch.restore(before);
    UnwrittenTrial zeros;
    Outcome second = launch.run(again, &replaced, readsUnwritten ? &zeros : nullptr);
    if (readsUnwritten) launch.restoreUnwritten(before);
    return !failsAlike(first, second) || launch.contents() != after;
  };
  /// The place of an element of the operation that matters: as long as its first `none` elements do not and its first
  /// `all` do, one between them does.
  auto elementThatMatters = [&](const OpenValues::Place &p, size_t all) {
    size_t none = 0;
    for (size_t tried = 0; none + 1 < all && tried < kTriedElements && !options.watch.isInterrupted(); ++tried) {
      OpenValues some;
      size_t most = none + (all - none) / 2;
      some.replace(p.op, most);
      (matter(some) ? all : none) = most;
    }
    if (all == 1) return p;
    OpenValues some;
    some.replace(p.op, all);
    matter(some);
    return some.places().empty() ? p : some.places().front();
  };
  OpenValues everything;
  llvm::SmallVector<Operation *> ops;
  for (auto &p : places) ops.push_back(p.op);
  everything.replace(ops);
  std::optional<OpenValues::Place> found;
  if (matter(everything)) {
    found = places.front();
    for (auto &p : places.take_front(kTried)) {
      OpenValues every;
      every.replace(p.op);
      if (!matter(every)) continue;
      found = elementThatMatters(p, every.numFound());
      break;
    }
  }
  launch.restore(after);
  return found;
}

/// A launch that read memory that nothing wrote, run again: its outcome where such reads find zeros, or, if it depends
/// on what they find, the fault of the read. The buffers hold what the run with zeros wrote.
Outcome outcomeOfTrials(const Launch &launch, const Launch::Contents &before, int64_t printed,
                        const InterpreterOptions &options, OpenValues *openValues) {
  auto run = [&](const InterpreterOptions &o, UnwrittenTrial &trial, OpenValues *open) {
    launch.restore(before);
    Outcome outcome = launch.run(o, open, &trial);
    launch.restoreUnwritten(before);
    return outcome;
  };
  InterpreterOptions once = options; // lines that the launch has printed are not printed again
  if (options.print)
    once.print = [&](llvm::StringRef line) {
      if (--printed < 0) options.print(line);
    };
  UnwrittenTrial zeros;
  zeros.notesPlaces = true;
  Outcome first = run(once, zeros, openValues);
  Launch::Contents after = launch.contents();
  InterpreterOptions again = optionsOfTrial(options, first);
  auto differs = [&](UnwrittenValue value, std::optional<size_t> only) {
    UnwrittenTrial trial{value, only, false, zeros.places};
    Outcome second = run(again, trial, nullptr);
    return !failsAlike(first, second) || launch.contents() != after;
  };
  std::optional<size_t> place;
  if (!first.outOfThreads && !options.watch.isInterrupted()) place = placeThatMatters(zeros.places.size(), differs);
  launch.restore(after);
  if (place && !options.watch.isInterrupted())
    first.failure = Grid::Failure{zeros.places[*place].fault, zeros.places[*place].program};
  return first;
}

Diagnostic diagnosticOf(Operation *kernel, std::array<int64_t, 3> program, Operation *op, llvm::StringRef message) {
  Diagnostic d;
  d.message = llvm::formatv("kernel '{0}', program ({1}, {2}, {3}): {4}", kernel->cast<tt::FuncOp>().symName(),
                            program[0], program[1], program[2], message)
                  .str();
  d.loc = op->loc();
  d.snippet = "  " + firstLine(op) + "\n";
  return d;
}

/// Whether an operation of the module can leave values open.
bool mayLeaveOpen(Module &m) {
  bool may = false;
  m.op()->walk([&](Operation *op) { may = may || runtime::mayLeaveOpen(op); });
  return may;
}

} // namespace

absl::Status interpret(Module &m, Operation *kernel, std::array<int64_t, 3> grid,
                       llvm::ArrayRef<InterpreterBuffer> buffers, llvm::ArrayRef<InterpreterArg> args,
                       const InterpreterOptions &options, DiagnosticEngine &diag) {
  if (auto s = checkArguments(kernel, grid, buffers, args); !s.ok()) return s;
  Plan plan;
  if (!plan.build(m, diag)) return absl::AbortedError("the module cannot be interpreted");
  Launch launch(plan, kernel, grid, buffers, args);
  // Programs that run at once need not do the same twice.
  bool looksForOpen = options.findOpenValues && options.threads <= 1 && mayLeaveOpen(m);
  bool mayNeedTrials = launch.mayNeedTrials();
  Launch::Contents before = looksForOpen || mayNeedTrials ? launch.contents() : Launch::Contents();
  InterpreterOptions counting = options;
  std::atomic<int64_t> printed{0};
  if (options.print && mayNeedTrials)
    counting.print = [&](llvm::StringRef line) {
      ++printed;
      options.print(line);
    };
  OpenValues ofFirst, ofTrials;
  Outcome outcome = launch.run(counting, looksForOpen ? &ofFirst : nullptr, nullptr);
  bool readsUnwritten = outcome.isUnwrittenRead() && mayNeedTrials;
  if (readsUnwritten) outcome = outcomeOfTrials(launch, before, printed, options, looksForOpen ? &ofTrials : nullptr);
  const OpenValues &openValues = readsUnwritten ? ofTrials : ofFirst;
  bool isToRunAgain = !openValues.places().empty() && !outcome.outOfThreads && !outcome.isUnwrittenRead() &&
                      !options.watch.isInterrupted();
  if (isToRunAgain) {
    auto place = openPlaceThatMatters(launch, before, outcome, options, openValues.places(), readsUnwritten);
    if (place && !options.watch.isInterrupted()) {
      Diagnostic d = diagnosticOf(kernel, place->program, place->op,
                                  place->what + ": the result has no meaning, and what the kernel does depends on it");
      auto status = absl::AbortedError(d.message);
      diag.report(std::move(d));
      return status;
    }
  }
  if (auto &f = outcome.failure) {
    Diagnostic d = diagnosticOf(kernel, f->id, f->fault.op, f->fault.message);
    for (auto *c : f->fault.callers) {
      d.note("called here").loc = c->loc();
      d.notes.back().snippet = "  " + firstLine(c) + "\n";
    }
    auto status = absl::AbortedError(d.message);
    diag.report(std::move(d));
    return status;
  }
  if (outcome.outOfThreads)
    return absl::ResourceExhaustedError(
        llvm::formatv("kernel '{0}': too many programs wait for each other, no more threads can be started",
                      kernel->cast<tt::FuncOp>().symName())
            .str());
  return absl::OkStatus();
}

} // namespace tessera::runtime
