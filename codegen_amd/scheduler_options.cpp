// Setting and restoring options of LLVM's scheduler (see scheduler_options.h).
#include "codegen_amd/scheduler_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include <mutex>
#include <utility>

namespace tessera::amd {
namespace {

using Flag = llvm::cl::opt<bool>;

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
    auto &options = llvm::cl::getRegisteredOptions();
    for (auto [i, name] : llvm::enumerate(kNames)) {
      auto it = options.find(name);
      Flag *flag = it == options.end() ? nullptr : static_cast<Flag *>(it->second);
      saved[i] = {flag, flag && flag->getValue()};
      if (flag) flag->setValue(true);
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

void withSchedulerOptions(llvm::function_ref<void()> body) {
  Settings::instance().enter();
  auto restore = llvm::scope_exit([] { Settings::instance().leave(); });
  body();
}

} // namespace tessera::amd
