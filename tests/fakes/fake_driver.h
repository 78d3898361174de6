// What the two stand-ins share: the log, the count of what is held, and the call that fails (see README.md).
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace fake {

inline const char *setting(const char *name, const char *otherwise) {
  const char *v = std::getenv(name);
  return v && *v ? v : otherwise;
}

class Driver {
public:
  static Driver &get() {
    static Driver d;
    return d;
  }
  /// Notes a call; the error it must give, or 0.
  int call(const char *name) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (log_) std::fprintf(log_, "%s\n", name), std::fflush(log_);
    if (++calls_ != failAt_) return 0;
    return std::atoi(setting("FAKE_DRIVER_ERROR", "719"));
  }
  int callsSoFar() {
    std::lock_guard<std::mutex> lock(mutex_);
    return calls_;
  }
  void note(const std::string &text) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (log_) std::fprintf(log_, "# %s\n", text.c_str()), std::fflush(log_);
  }
  void *take(const char *kind, size_t bytes = 1) {
    std::lock_guard<std::mutex> lock(mutex_);
    void *p = std::calloc(1, bytes ? bytes : 1);
    held_[p] = {kind, bytes};
    state();
    return p;
  }
  /// False if it was not taken, or given back already.
  bool give(const char *kind, void *p) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = held_.find(p);
    if (it == held_.end() || it->second.kind != kind) {
      if (log_) std::fprintf(log_, "# wrong %s given back\n", kind);
      return false;
    }
    held_.erase(it);
    std::free(p);
    state();
    return true;
  }
  bool holds(const char *kind, void *p) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = held_.upper_bound(p); // the next one: an address inside of one's memory is held, too
    return it != held_.begin() && (--it)->second.kind == kind &&
           static_cast<char *>(p) - static_cast<char *>(it->first) < std::ptrdiff_t(it->second.bytes);
  }
  int heldNow() {
    std::lock_guard<std::mutex> lock(mutex_);
    return int(held_.size()) + contexts_;
  }
  /// A stream whose launches are recorded instead of run (one at a time); null: none. Meanwhile a driver refuses what
  /// would wait for the device, also what waits without saying so, on threads whose mode is not relaxed.
  void *captured = nullptr;
  static constexpr int kRelaxed = 2;
  static int &captureMode() {
    static thread_local int mode = 0; // global
    return mode;
  }
  bool refusesToWait() const { return captured && captureMode() != kRelaxed; }
  void context(int change) {
    std::lock_guard<std::mutex> lock(mutex_);
    contexts_ += change;
    state();
  }

private:
  Driver() : failAt_(std::atoi(setting("FAKE_DRIVER_FAIL_AT", "0"))) {
    if (const char *path = std::getenv("FAKE_DRIVER_LOG")) log_ = std::fopen(path, "w");
    state();
  }
  /// Written at every change, so that it stands in the log however the process ends.
  void state() {
    if (log_) std::fprintf(log_, "held %zu\ncontexts %d\n", held_.size(), contexts_), std::fflush(log_);
  }
  std::mutex mutex_;
  std::FILE *log_ = nullptr;
  int calls_ = 0, failAt_, contexts_ = 0;
  struct Held {
    std::string kind;
    size_t bytes;
  };
  std::map<void *, Held> held_;
};

/// The kernel's parameters are read once, as a driver would: `count` pointers.
inline void readParameters(void **params, int count) {
  unsigned char sum = 0;
  for (int i = 0; i < count; ++i) sum ^= *static_cast<volatile unsigned char *>(params[i]);
  (void)sum;
}

} // namespace fake

/// The call's own name is logged; it ends here if it is the one to fail.
#define FAKE_CALL                                                                                                      \
  if (int e_ = fake::Driver::get().call(__func__)) return e_
/// The same, of a call that waits for the device: captures refuse it (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED).
#define FAKE_WAITING_CALL                                                                                              \
  FAKE_CALL;                                                                                                           \
  if (fake::Driver::get().refusesToWait()) return 900
