// Child processes and the pipes to them (see isolated.h). A request is two 64-bit numbers, job and part; a child does
// this part and those after it. A result is a length of 64 bits, whose top bit says that the child ends now, and the
// text.
#include "runtime/debug/isolated.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tessera::runtime {

namespace {
using Clock = std::chrono::steady_clock;
constexpr uint64_t kRenew = uint64_t(1) << 63;

bool readAll(int fd, void *to, size_t bytes) {
  for (auto *p = static_cast<char *>(to); bytes;) {
    ssize_t n = read(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    bytes -= size_t(n);
  }
  return true;
}
bool writeAll(int fd, const void *from, size_t bytes) {
  for (auto *p = static_cast<const char *>(from); bytes;) {
    ssize_t n = write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    bytes -= size_t(n);
  }
  return true;
}

struct Child {
  pid_t pid = 0; // 0: none
  int requests = -1, results = -1, said = -1;
  bool busy = false;
  size_t job = 0, part = 0;
  Clock::time_point since;
};

class Pool {
public:
  explicit Pool(const IsolatedWork &w) : w_(w), children_(std::max(1, w.processes)) {}

  std::string run() {
    auto *old = std::signal(SIGPIPE, SIG_IGN); // a child may be gone when it is written to
    loop();
    for (auto &c : children_) stop(c);
    std::signal(SIGPIPE, old);
    return error_;
  }

private:
  void loop() {
    while (error_.empty()) {
      bool any = false;
      for (auto &c : children_) {
        while (!c.busy && (!waiting_.empty() || next_ < w_.jobs)) {
          std::pair<size_t, size_t> what;
          if (waiting_.empty())
            what = {next_++, 0};
          else
            what = waiting_.pop_back_val();
          if (what.second < w_.parts(what.first)) give(c, what.first, what.second);
          if (!error_.empty()) return;
        }
        any |= c.busy;
      }
      if (!any) return;
      wait();
    }
  }

  void give(Child &c, size_t job, size_t part) {
    uint64_t request[] = {job, part};
    for (int attempt = 0; attempt < 2; ++attempt) { // a child that waited may have been killed by somebody
      if (!c.pid && !start(c)) return;
      c.busy = true;
      c.job = job;
      c.part = part;
      c.since = Clock::now();
      if (writeAll(c.requests, request, sizeof request)) return;
      c.busy = false;
      stop(c);
    }
    error_ = "a process that was just started is gone";
  }

  bool start(Child &c) {
    int down[2], up[2];
    std::FILE *said = std::tmpfile();
    if (!said || pipe(down) || pipe(up)) {
      error_ = std::string("cannot make a process: ") + std::strerror(errno);
      return false;
    }
    llvm::outs().flush();
    llvm::errs().flush();
    std::fflush(nullptr);
    pid_t pid = fork();
    if (pid < 0) {
      error_ = std::string("cannot make a process: ") + std::strerror(errno);
      return false;
    }
    if (!pid) {
      // Only this child's own ends stay open: a parent that is gone must be noticed, and so must a sibling.
      for (auto &other : children_)
        if (other.pid) close(other.requests), close(other.results), close(other.said);
      close(down[1]), close(up[0]);
      serve(down[0], up[1], fileno(said));
    }
    close(down[0]), close(up[1]);
    c = {pid, down[1], up[0], dup(fileno(said)), false, 0, 0, {}};
    std::fclose(said);
    return true;
  }

  /// The child's life.
  [[noreturn]] void serve(int requests, int results, int said) {
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(said, 1), dup2(said, 2);
    uint64_t request[2];
    while (readAll(requests, request, sizeof request))
      for (size_t part = request[1], parts = w_.parts(request[0]); part < parts; ++part) {
        bool renew = false;
        std::string result = w_.work(request[0], part, renew);
        uint64_t length = result.size() | (renew ? kRenew : 0);
        if (!writeAll(results, &length, sizeof length) || !writeAll(results, result.data(), result.size()))
          std::_Exit(1);
        if (renew) std::_Exit(0);
        llvm::outs().flush();
        std::fflush(nullptr);
        // What an earlier part said does not belong to a later one's end.
        if (ftruncate(said, 0) == 0) lseek(said, 0, SEEK_SET);
      }
    std::_Exit(0);
  }

  void wait() {
    std::vector<pollfd> fds;
    std::vector<Child *> who;
    double least = 3600;
    for (auto &c : children_) {
      if (!c.busy) continue;
      fds.push_back({c.results, POLLIN, 0});
      who.push_back(&c);
      least = std::min(least, w_.limitSeconds - std::chrono::duration<double>(Clock::now() - c.since).count());
    }
    poll(fds.data(), fds.size(), least <= 0 ? 0 : int(std::ceil(least * 1000)));
    for (size_t i = 0; i < fds.size(); ++i) {
      Child &c = *who[i];
      if (fds[i].revents)
        receive(c);
      else if (std::chrono::duration<double>(Clock::now() - c.since).count() >= w_.limitSeconds) {
        char text[60];
        std::snprintf(text, sizeof text, "took longer than %g s", w_.limitSeconds);
        lose(c, text);
      }
    }
  }

  void receive(Child &c) {
    uint64_t length;
    std::string result;
    if (!readAll(c.results, &length, sizeof length)) return lose(c, "");
    bool renew = length & kRenew;
    result.resize(length & ~kRenew);
    if (!readAll(c.results, result.data(), result.size())) return lose(c, "");
    w_.done(c.job, c.part, result);
    ++c.part;
    c.since = Clock::now();
    if (renew) {
      waiting_.push_back({c.job, c.part});
      c.busy = false;
      stop(c);
    } else if (c.part == w_.parts(c.job))
      c.busy = false;
  }

  /// The part that the child is at has no result; `what`: why, or empty to take it from the child's exit status.
  void lose(Child &c, std::string what) {
    int status = 0;
    if (!what.empty()) kill(c.pid, SIGKILL);
    waitpid(c.pid, &status, 0);
    if (what.empty() && WIFSIGNALED(status))
      what = "killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
    else if (what.empty())
      what = "the process ended with exit code " + std::to_string(WEXITSTATUS(status));
    c.pid = 0;
    c.busy = false;
    // The last 2000 bytes.
    char text[2001];
    off_t size = lseek(c.said, 0, SEEK_END);
    ssize_t n = pread(c.said, text, 2000, std::max<off_t>(0, size - 2000));
    size_t job = c.job, part = c.part;
    close(c.requests), close(c.results), close(c.said);
    w_.lost(job, part, what, std::string(text, size_t(std::max<ssize_t>(0, n))));
    waiting_.push_back({job, part + 1});
  }

  /// Ends a child that is idle, or any at the end of all.
  void stop(Child &c) {
    if (!c.pid) return;
    if (c.busy) kill(c.pid, SIGKILL);
    close(c.requests);
    waitpid(c.pid, nullptr, 0);
    close(c.results), close(c.said);
    c.pid = 0;
    c.busy = false;
  }

  const IsolatedWork &w_;
  std::vector<Child> children_;
  llvm::SmallVector<std::pair<size_t, size_t>, 8> waiting_; // jobs to continue, from a part on
  size_t next_ = 0;
  std::string error_;
};

} // namespace

std::string runIsolated(const IsolatedWork &w) { return Pool(w).run(); }

} // namespace tessera::runtime
