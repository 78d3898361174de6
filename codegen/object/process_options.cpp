// Setting and restoring options of the whole process (see process_options.h).
#include "codegen/object/process_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include <cassert>

namespace tessera::codegen {

llvm::cl::Option *findProcessOption(llvm::StringRef name) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  return found == options.end() ? nullptr : found->second;
}

void HeldOptions::holdDuring(llvm::function_ref<void()> body, unsigned setting) {
  enter(setting);
  auto restore = llvm::scope_exit([&] { leave(); });
  body();
}

void HeldOptions::enter(unsigned wanted) {
  std::unique_lock<std::mutex> lock(mutex_);
  auto own = depth_.find(std::this_thread::get_id());
  if (own != depth_.end()) {
    assert(setting_ == wanted && "the setting changes within a body");
    ++own->second;
    return;
  }
  ++waiting_[wanted];
  changed_.wait(lock, [&] { return mayEnter(wanted); });
  --waiting_[wanted];
  changed_.notify_all(); // threads with this setting may follow
  if (depth_.empty()) set_(setting_ = wanted);
  depth_[std::this_thread::get_id()] = 1;
}

/// Not while a thread with another setting is inside. Where one waits, those with this setting leave first and none
/// joins them, so that it need not wait for ever.
bool HeldOptions::mayEnter(unsigned wanted) const {
  bool othersWait =
      llvm::any_of(waiting_, [&](const auto &waiting) { return waiting.first != wanted && waiting.second; });
  return depth_.empty() || (setting_ == wanted && !othersWait);
}

void HeldOptions::leave() {
  std::lock_guard<std::mutex> lock(mutex_);
  auto own = depth_.find(std::this_thread::get_id());
  if (--own->second) return;
  depth_.erase(own);
  if (!depth_.empty()) return;
  restore_();
  changed_.notify_all();
}

} // namespace tessera::codegen
