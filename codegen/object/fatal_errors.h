// LLVM ends the process at an error that it cannot handle (`report_fatal_error`: "Cannot select …", unsupported calls,
// broken inline assembly). Here such an error becomes a failed call: the thread returns to runCatchingFatalErrors with
// LLVM's text. Objects that LLVM had allocated or used at that moment are lost: the module, its context and the target
// machine must be left alone, not destroyed.
//
// LLVM has one handler of fatal errors for the process. It is ours only while some thread is inside
// runCatchingFatalErrors; the last one to leave takes it away. LLVM does not say which handler was there before: a host
// program that shares LLVM with us and has a handler of its own names it by setHostFatalErrorHandler (in the C API:
// tessera_set_fatal_error_handler). In a library or program with LLVM linked into it the handler is private.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <string>

namespace tessera::codegen {

/// Runs `body`; false, with LLVM's text, if it ended in a fatal error. Objects that `body` made are then never
/// destroyed. Threads may be in it at once, and a call may be inside another. An exception of the body passes through.
bool runCatchingFatalErrors(llvm::function_ref<void()> body, std::string &message);

/// The handler that LLVM is to have while no thread is in runCatchingFatalErrors, and that serves other threads
/// meanwhile; null: none, as LLVM starts with. Thread-safe.
void setHostFatalErrorHandler(llvm::fatal_error_handler_t handler, void *userData = nullptr);

} // namespace tessera::codegen
