// ttg.warp_specialize: the default region and the partitions, which run at once. Each is evaluated by a thread of its
// own. Exactly one runs at a time: until it waits for an mbarrier whose phase is not complete, or ends; then the next
// in order runs. So every run is the same; if all of them wait, it is a deadlock.
#include "ir/partitions.h"
#include "runtime/interpreter/program.h"
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace tessera::runtime {
using namespace ir;

struct Program::Scheduler {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> ended; // by region; the default region is the first
  unsigned current = 0;
  unsigned idle = 0; // partitions in a row that ran without leaving their wait

  unsigned live() const { return unsigned(llvm::count(ended, false)); }
  /// Lets the next that has not ended run; false if there is no other.
  bool pass() {
    for (unsigned k = 1; k < ended.size(); ++k)
      if (unsigned next = (current + k) % ended.size(); !ended[next]) {
        current = next;
        changed.notify_all();
        return true;
      }
    return false;
  }
  void await(std::unique_lock<std::mutex> &lock, unsigned self) {
    changed.wait(lock, [&] { return current == self; });
  }
};

bool Program::letOthersRun(bool waits) {
  if (!scheduler_) return false;
  std::unique_lock lock(scheduler_->mutex);
  scheduler_->idle = waits ? scheduler_->idle + 1 : 0;
  if (scheduler_->idle > scheduler_->live()) return false;
  unsigned self = scheduler_->current;
  const Position at = at_;
  if (!scheduler_->pass()) return false;
  scheduler_->await(lock, self);
  at_ = at;
  return !fault_ && !run_.stop.load(std::memory_order_relaxed);
}
void Program::continueAfterWait() {
  if (scheduler_) scheduler_->idle = 0;
}

bool Program::warpSpecialize(ttg::WarpSpecializeOp op) {
  if (scheduler_) return fail(op, "'ttg.warp_specialize' must not be nested in a partition of another");
  auto partitions = partitionRegions(op);
  auto captures = capturesOf(op);
  for (auto &r : partitions)
    for (auto [arg, v] : llvm::zip(r.front()->args(), captures)) pass(v, Value(arg));
  Scheduler scheduler;
  scheduler.ended.assign(partitions.size() + 1, false);
  scheduler_ = &scheduler;
  const Position at = at_;
  bool ok = true;
  auto end = [&](unsigned self) { // with the lock
    scheduler.ended[self] = true;
    scheduler.idle = 0;
    scheduler.pass();
  };
  std::vector<std::thread> threads;
  try {
    for (unsigned k = 0; k < partitions.size(); ++k)
      threads.emplace_back([&, k] {
        std::unique_lock lock(scheduler.mutex);
        scheduler.await(lock, k + 1);
        scheduler.idle = 0;
        lock.unlock();
        at_ = at;
        bool finished = ok && !fault_ && runRegion(partitions[k]);
        lock.lock();
        ok &= finished;
        end(k + 1);
      });
  } catch (const std::system_error &) {
    ok = fail(op, "no more threads can be started for the partitions");
    std::scoped_lock lock(scheduler.mutex);
    for (size_t k = threads.size() + 1; k < scheduler.ended.size(); ++k) scheduler.ended[k] = true;
  }
  llvm::SmallVector<Datum, 4> values;
  Op yield = ok ? runRegion(op.defaultRegion()) : nullptr;
  if (yield)
    for (auto v : yield->operands()) values.push_back(get(v));
  {
    std::unique_lock lock(scheduler.mutex);
    ok &= yield != nullptr;
    end(0);
  }
  for (auto &t : threads) t.join();
  scheduler_ = nullptr;
  at_ = at;
  if (!ok) return false;
  for (unsigned i = 0; i < values.size(); ++i) datum(op->result(i)) = std::move(values[i]);
  return true;
}

} // namespace tessera::runtime
