// Catching LLVM's fatal errors (see fatal_errors.h): the handler jumps back over LLVM's frames. LLVM is built without
// exceptions, so a jump is what there is; libclang's crash recovery does the same.
#include "codegen/object/fatal_errors.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <csetjmp>
#include <cstdlib>

namespace tessera::codegen {
namespace {

struct Catcher {
  std::jmp_buf buffer;
  std::string *message;
  Catcher *outer;
};
thread_local Catcher *current = nullptr;

void onFatalError(void *, const char *reason, bool) {
  if (Catcher *c = current) {
    current = c->outer;
    c->message->assign(reason);
    std::longjmp(c->buffer, 1);
  }
  llvm::errs() << "LLVM ERROR: " << reason << '\n';
}

} // namespace

void installFatalErrorHandler() {
  llvm::remove_fatal_error_handler(); // one that the host program may have set would end the process
  llvm::install_fatal_error_handler(onFatalError);
}

// Not inlined: no local of a caller may live in a register across the jump.
[[gnu::noinline]] bool runCatchingFatalErrors(llvm::function_ref<void()> body, std::string &message) {
  Catcher catcher;
  catcher.message = &message;
  catcher.outer = current;
  current = &catcher;
  if (setjmp(catcher.buffer)) return false;
  body();
  current = catcher.outer;
  return true;
}

} // namespace tessera::codegen
