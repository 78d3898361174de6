// Child processes (see child_process.h). posix_spawn cannot ask for a signal at the parent's death (PR_SET_PDEATHSIG);
// vfork can, and is as fast: neither copies page tables, which of a process with PyTorch take milliseconds.
//
// After vfork both processes have one memory, and ours waits until the child has exec'd. So the child makes system
// calls only, and no signal handler of ours may run in it: all signals are blocked until the child has given up the
// handlers, as exec would.
//
// The child stays in our process group: Ctrl-C in a terminal ends the program, and what the program started, with us.
// So killChild cannot kill a group and finds the processes by their parents (/proc/PID/task/TID/children, which Linux
// has if it is built with CONFIG_PROC_CHILDREN; without it only the program itself is killed).
#include "codegen/object/child_process.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tessera::codegen {

namespace {

/// A descriptor above those of the standard streams, closed on exec; -1 and errno.
int openAboveStreams(const char *path, int flags) {
  int low = open(path, flags | O_CLOEXEC, 0600);
  if (low < 0 || low > STDERR_FILENO) return low;
  int fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(low);
  return fd;
}

std::vector<char *> pointers(llvm::ArrayRef<std::string> strings) {
  std::vector<char *> made;
  for (const std::string &s : strings) made.push_back(const_cast<char *>(s.c_str()));
  made.push_back(nullptr);
  return made;
}

/// What the child is made of: all memory that it needs.
struct Plan {
  const char *program;
  char *const *arguments, *const *environment;
  int input, output;
  pid_t parent;
  sigset_t mask; // of signals, before they were blocked
};

/// The child's life up to exec. Returns only with an error.
int become(const Plan &plan) {
  for (int s = 1; s < NSIG; ++s) {
    struct sigaction action;
    bool hasHandler = sigaction(s, nullptr, &action) == 0 && action.sa_handler != SIG_IGN;
    if (!hasHandler || action.sa_handler == SIG_DFL) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(s, &action, nullptr);
  }
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (getppid() != plan.parent) return ECHILD; // it died before that
  for (auto [from, to] :
       {std::pair(plan.input, STDIN_FILENO), {plan.output, STDOUT_FILENO}, {plan.output, STDERR_FILENO}})
    if (dup2(from, to) < 0) return errno;
  sigprocmask(SIG_SETMASK, &plan.mask, nullptr);
  execve(plan.program, plan.arguments, plan.environment);
  return errno;
}

/// The children of all threads of a process.
std::vector<pid_t> childrenOf(pid_t process) {
  std::vector<pid_t> children;
  std::string threads = absl::StrCat("/proc/", process, "/task");
  DIR *folder = opendir(threads.c_str());
  if (!folder) return children;
  while (dirent *thread = readdir(folder)) {
    std::ifstream file(absl::StrCat(threads, "/", thread->d_name, "/children"));
    for (pid_t child; file >> child;) children.push_back(child);
  }
  closedir(folder);
  return children;
}

} // namespace

absl::StatusOr<pid_t> startChild(const std::string &program, llvm::ArrayRef<std::string> arguments,
                                 llvm::ArrayRef<std::string> environment, const std::string &log) {
  auto failed = [&](int error) {
    return absl::InternalError(absl::StrCat("cannot run ", program, ": ", std::strerror(error)));
  };
  int input = openAboveStreams("/dev/null", O_RDONLY);
  if (input < 0) return failed(errno);
  auto closeInput = llvm::scope_exit([&] { close(input); });
  int output = openAboveStreams(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  if (output < 0) return failed(errno);
  auto closeOutput = llvm::scope_exit([&] { close(output); });

  std::vector<char *> argv = pointers(arguments), envp = pointers(environment);
  Plan plan{program.c_str(), argv.data(), envp.data(), input, output, getpid(), {}};
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &plan.mask);
  volatile int error = 0; // written by the child
  pid_t pid = vfork();
  if (pid == 0) {
    error = become(plan);
    _exit(127);
  }
  int forkError = errno;
  pthread_sigmask(SIG_SETMASK, &plan.mask, nullptr);
  if (pid < 0) return failed(forkError);
  if (error == 0) return pid;
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return failed(error);
}

void killChild(pid_t child) {
  // A process that is stopped neither starts others nor waits for its children, so that none is missed and no number is
  // another process's by now. The second pass finds what was being started when the signal came.
  std::vector<pid_t> stopped;
  for (size_t before = 0; stopped.empty() || stopped.size() > before;) {
    before = stopped.size();
    std::vector<pid_t> found{child};
    for (size_t i = 0; i < found.size(); ++i) {
      kill(found[i], SIGSTOP);
      llvm::append_range(found, childrenOf(found[i]));
    }
    stopped = std::move(found);
  }
  for (pid_t process : stopped) kill(process, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace tessera::codegen
