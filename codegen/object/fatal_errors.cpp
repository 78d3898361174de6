// Catching LLVM's fatal errors (see fatal_errors.h). The handler jumps back over LLVM's frames: LLVM is built without
// exceptions, and libclang's crash recovery does the same.
#include "codegen/object/fatal_errors.h"
#include "llvm/Support/raw_ostream.h"
#include <csetjmp>
#include <cstdlib>
#include <mutex>

namespace tessera::codegen {
namespace {

struct Catcher {
  std::jmp_buf buffer;
  std::string *message;
  Catcher *outer;
};
thread_local Catcher *current = nullptr;

/// LLVM's handler: ours while threads are inside, else the host program's.
struct Handler {
  std::mutex mutex;
  int inside = 0;
  llvm::fatal_error_handler_t host = nullptr;
  void *hostData = nullptr;

  static Handler &instance() {
    static auto *handler = new Handler; // never destroyed: threads may outlive static objects
    return *handler;
  }
  void enter();
  void leave();
  void setHost(llvm::fatal_error_handler_t newHost, void *data);

private:
  void installHost() {
    llvm::remove_fatal_error_handler();
    if (host) llvm::install_fatal_error_handler(host, hostData);
  }
};

void onFatalError(void *, const char *reason, bool wantsCrashDiagnostics) {
  if (Catcher *c = current) {
    current = c->outer;
    c->message->assign(reason);
    std::longjmp(c->buffer, 1);
  }
  // A thread of the host's. LLVM ends the process when this returns.
  llvm::fatal_error_handler_t host;
  void *data;
  {
    Handler &h = Handler::instance();
    std::lock_guard<std::mutex> lock(h.mutex);
    host = h.host;
    data = h.hostData;
  }
  if (host)
    host(data, reason, wantsCrashDiagnostics);
  else
    llvm::errs() << "LLVM ERROR: " << reason << '\n';
}

void Handler::enter() {
  std::lock_guard<std::mutex> lock(mutex);
  if (inside++) return;
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(onFatalError);
}

void Handler::leave() {
  std::lock_guard<std::mutex> lock(mutex);
  if (--inside == 0) installHost();
}

void Handler::setHost(llvm::fatal_error_handler_t newHost, void *data) {
  std::lock_guard<std::mutex> lock(mutex);
  host = newHost;
  hostData = data;
  if (!inside) installHost();
}

/// A catcher in force and the handler ours, until a call ends: by return, by exception, or by a jump out of its body.
/// The jump ends in runWithCatcher, which the function that owns this object calls: it does not skip the destructor.
class Scope {
public:
  explicit Scope(std::string &message) {
    catcher.message = &message;
    catcher.outer = current;
    current = &catcher;
    Handler::instance().enter();
  }
  Scope(const Scope &) = delete;
  ~Scope() {
    current = catcher.outer;
    Handler::instance().leave();
  }
  Catcher catcher;
};

/// True if the body returned. Not inlined: no local of a caller may live in a register across the jump.
[[gnu::noinline]] bool runWithCatcher(llvm::function_ref<void()> body, Catcher &catcher) {
  if (setjmp(catcher.buffer)) return false;
  body();
  return true;
}

} // namespace

bool runCatchingFatalErrors(llvm::function_ref<void()> body, std::string &message) {
  Scope scope(message);
  return runWithCatcher(body, scope.catcher);
}

void setHostFatalErrorHandler(llvm::fatal_error_handler_t handler, void *userData) {
  Handler::instance().setHost(handler, userData);
}

} // namespace tessera::codegen
