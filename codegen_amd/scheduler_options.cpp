// Setting and restoring options of LLVM's scheduler (see scheduler_options.h).
#include "codegen_amd/scheduler_options.h"
#include "codegen/object/process_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"
#include <utility>

namespace tessera::amd {
namespace {

using Flag = SchedulerFlag;

constexpr llvm::StringLiteral kTargetsTracker = "amdgpu-use-amdgpu-trackers";
constexpr llvm::StringLiteral kNames[] = {"amdgpu-disable-clustered-low-occupancy-reschedule", kTargetsTracker};

std::pair<Flag *, bool> saved[std::size(kNames)]; // the options and their values before the first thread entered

void setOptions(unsigned tracker) {
  for (auto [i, name] : llvm::enumerate(kNames)) {
    absl::StatusOr<Flag *> flag = findSchedulerFlag(name); // all are there: checkSchedulerOptions
    if (!flag.ok()) continue;
    saved[i] = {*flag, (*flag)->getValue()};
    (*flag)->setValue(name != kTargetsTracker || PressureTracker(tracker) == PressureTracker::Targets);
  }
}

void restoreOptions() {
  for (auto [flag, value] : saved)
    if (flag) flag->setValue(value);
}

} // namespace

absl::StatusOr<SchedulerFlag *> findSchedulerFlag(llvm::StringRef name) {
  llvm::cl::Option *option = codegen::findProcessOption(name);
  // LLVM has no other way to find an option's type out: flags are what may stand without a value.
  if (option && option->getValueExpectedFlag() == llvm::cl::ValueOptional) return static_cast<Flag *>(option);
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
  static auto *held = new codegen::HeldOptions(setOptions, restoreOptions);
  held->holdDuring(body, unsigned(tracker));
}

} // namespace tessera::amd
