// Setting and restoring an option of LLVM's loop strength reduction (see strength_reduction.h).
#include "codegen/object/strength_reduction.h"
#include "codegen/object/process_options.h"
#include "llvm/Support/CommandLine.h"

namespace tessera::codegen {
namespace {

constexpr llvm::StringLiteral kOption = "lsr-drop-solution";

bool isOurs = false; // whether the option was set by setOption: not if the program has set it itself

void setOption(unsigned) {
  llvm::cl::Option *option = findProcessOption(kOption);
  isOurs = option && !option->getNumOccurrences() && !option->addOccurrence(0, kOption, "true");
}

void restoreOption() {
  if (isOurs) findProcessOption(kOption)->reset();
}

} // namespace

bool canDropReductions() { return findProcessOption(kOption); }

void withDroppedReductions(llvm::function_ref<void()> body) {
  static auto *held = new HeldOptions(setOption, restoreOption);
  held->holdDuring(body);
}

} // namespace tessera::codegen
