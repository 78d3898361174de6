// Setting and restoring options of LLVM's scheduler (see scheduler_options.h).
#include "codegen_amd/scheduler_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"
#include <mutex>
#include <utility>

namespace tessera::amd {
namespace {

using Flag = SchedulerFlag;

constexpr llvm::StringLiteral kNames[] = {"amdgpu-disable-clustered-low-occupancy-reschedule",
                                          "amdgpu-use-amdgpu-trackers"};

/// The options and their values before the first thread entered.
struct Settings {
  std::mutex mutex;
  int inside = 0;
  std::pair<Flag *, bool> saved[std::size(kNames)];

  static Settings &instance() {
    static auto *settings = new Settings; // never destroyed: threads may outlive static objects
    return *settings;
  }
  void enter() {
    std::lock_guard<std::mutex> lock(mutex);
    if (inside++) return;
    for (auto [i, name] : llvm::enumerate(kNames)) {
      absl::StatusOr<Flag *> flag = findSchedulerFlag(name); // all are there: checkSchedulerOptions
      if (!flag.ok()) continue;
      saved[i] = {*flag, (*flag)->getValue()};
      (*flag)->setValue(true);
    }
  }
  void leave() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--inside) return;
    for (auto [flag, value] : saved)
      if (flag) flag->setValue(value);
  }
};

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

void withSchedulerOptions(llvm::function_ref<void()> body) {
  Settings::instance().enter();
  auto restore = llvm::scope_exit([] { Settings::instance().leave(); });
  body();
}

} // namespace tessera::amd
