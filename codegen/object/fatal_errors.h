// LLVM ends the process where it meets what it cannot handle (`report_fatal_error`: "Cannot select …", unsupported
// calls, broken inline assembly). Here such an end becomes a failed call: the thread goes back to where
// runCatchingFatalErrors was called, with LLVM's text. What LLVM had allocated or referred to at that moment is lost:
// the module, its context and the target machine must be left alone, not destroyed.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace tessera::codegen {

/// Installs LLVM's process-wide handler of fatal errors. Done once, by the first Backend. Threads that are not inside
/// runCatchingFatalErrors end the process as before, after the message.
void installFatalErrorHandler();

/// Runs `body`; false, with LLVM's text, if it ended in a fatal error. Objects that `body` made are then never
/// destroyed.
bool runCatchingFatalErrors(llvm::function_ref<void()> body, std::string &message);

} // namespace tessera::codegen
