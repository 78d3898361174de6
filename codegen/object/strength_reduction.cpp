// Setting and restoring an option of LLVM's loop strength reduction (see strength_reduction.h).
#include "codegen/object/strength_reduction.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include <mutex>

namespace tessera::codegen {
namespace {

constexpr llvm::StringLiteral kOption = "lsr-drop-solution";

llvm::cl::Option *findOption() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(kOption);
  return found == options.end() ? nullptr : found->second;
}

/// How many threads are inside, and whether the option was set for them.
struct Setting {
  std::mutex mutex;
  int inside = 0;
  bool isOurs = false;

  static Setting &instance() {
    static auto *setting = new Setting; // never destroyed: threads may outlive static objects
    return *setting;
  }
  void enter() {
    std::lock_guard<std::mutex> lock(mutex);
    if (inside++) return;
    llvm::cl::Option *option = findOption();
    isOurs = option && !option->getNumOccurrences() && !option->addOccurrence(0, kOption, "true");
  }
  void leave() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--inside || !isOurs) return;
    findOption()->reset();
    isOurs = false;
  }
};

} // namespace

bool canDropReductions() { return findOption(); }

void withDroppedReductions(llvm::function_ref<void()> body) {
  Setting::instance().enter();
  auto restore = llvm::scope_exit([] { Setting::instance().leave(); });
  body();
}

} // namespace tessera::codegen
