// Setting and restoring options of LLVM's scheduler (see scheduler_options.h).
#include "codegen_amd/scheduler_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace tessera::amd {
namespace {

using Flag = SchedulerFlag;

constexpr llvm::StringLiteral kTargetsTracker = "amdgpu-use-amdgpu-trackers";
constexpr llvm::StringLiteral kNames[] = {"amdgpu-disable-clustered-low-occupancy-reschedule", kTargetsTracker};

/// The options and their values before the first thread entered.
struct Settings {
  std::mutex mutex;
  std::condition_variable changed;
  PressureTracker tracker = PressureTracker::Targets; // of the threads inside
  int inside = 0;
  int waiting[2] = {}; // threads, by tracker
  std::pair<Flag *, bool> saved[std::size(kNames)];

  static Settings &instance() {
    static auto *settings = new Settings; // never destroyed: threads may outlive static objects
    return *settings;
  }
  void enter(PressureTracker wanted) {
    std::unique_lock<std::mutex> lock(mutex);
    assert((!depth_ || tracker == wanted) && "the tracker changes within a body");
    if (!depth_++) waitFor(wanted, lock);
    if (inside++) return;
    tracker = wanted;
    for (auto [i, name] : llvm::enumerate(kNames)) {
      absl::StatusOr<Flag *> flag = findSchedulerFlag(name); // all are there: checkSchedulerOptions
      if (!flag.ok()) continue;
      saved[i] = {*flag, (*flag)->getValue()};
      (*flag)->setValue(name != kTargetsTracker || wanted == PressureTracker::Targets);
    }
  }
  void leave() {
    std::lock_guard<std::mutex> lock(mutex);
    --depth_;
    if (--inside) return;
    for (auto [flag, value] : saved)
      if (flag) flag->setValue(value);
    changed.notify_all();
  }

private:
  /// Until no thread with the other tracker is inside; nor does one wait longer for those with this one to leave.
  void waitFor(PressureTracker wanted, std::unique_lock<std::mutex> &lock) {
    auto own = size_t(wanted);
    ++waiting[own];
    changed.wait(lock, [&] { return !inside || (tracker == wanted && !waiting[1 - own]); });
    --waiting[own];
    changed.notify_all(); // threads with this tracker may follow
  }

  static thread_local int depth_; // of this thread's bodies
};

thread_local int Settings::depth_ = 0;

} // namespace

absl::StatusOr<SchedulerFlag *> findSchedulerFlag(llvm::StringRef name) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  // LLVM has no other way to find an option's type out: flags are what may stand without a value.
  bool isFlag = found != options.end() && found->second->getValueExpectedFlag() == llvm::cl::ValueOptional;
  if (isFlag) return static_cast<SchedulerFlag *>(found->second);
  return absl::FailedPreconditionError(
      ("this LLVM (" LLVM_VERSION_STRING ") has no flag '" + name + "', which code for AMD is generated with").str());
}

absl::Status checkSchedulerOptions() {
  static const absl::Status status = [] {
    for (llvm::StringRef name : kNames)
      if (absl::StatusOr<Flag *> flag = findSchedulerFlag(name); !flag.ok()) return flag.status();
    return absl::OkStatus();
  }();
  return status;
}

void withSchedulerOptions(llvm::function_ref<void()> body, PressureTracker tracker) {
  Settings::instance().enter(tracker);
  auto restore = llvm::scope_exit([] { Settings::instance().leave(); });
  body();
}

} // namespace tessera::amd
