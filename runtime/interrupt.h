// Ends launches that run on the host (interpreter, emulators) from another thread, or from a handler of signals.
//
// There is no flag to reset: a launch remembers how often its kernel had been interrupted when it began. An interrupt
// thus ends the launches that run at the time, and none that begin later.
#pragma once
#include <atomic>
#include <cstdint>

namespace tessera::runtime {

class Interrupts {
public:
  /// Of one launch. Without Interrupts it is never interrupted.
  class Watch {
  public:
    Watch() = default;
    explicit Watch(const Interrupts &i) : count_(&i.count_), atStart_(i.count_.load(std::memory_order_relaxed)) {}
    bool isInterrupted() const { return count_ && count_->load(std::memory_order_relaxed) != atStart_; }

  private:
    const std::atomic<uint64_t> *count_ = nullptr; // the Interrupts outlive the launch
    uint64_t atStart_ = 0;
  };

  /// Takes no lock.
  void interrupt() { count_.fetch_add(1, std::memory_order_relaxed); }
  /// For a launch that begins now.
  Watch watch() const { return Watch(*this); }

private:
  std::atomic<uint64_t> count_ = 0;
};

} // namespace tessera::runtime
