// ptxas as a process (see ptxas_process.h).
//
// Started ahead, it is given the name of our end of a pipe, /proc/PID/fd/N, and waits in its first read. It opens its
// input twice (13.0, 12.9 and 12.8 do: to parse it, and to take it whole), so once the text is in the pipe descriptor N
// becomes a file in memory with the same text: a ptxas that has opened the pipe reads it from there, one that is not
// that far opens the file twice. What it makes and prints goes to files in memory, too, of which nothing is left if we
// are killed. If it does anything else than what is described here it fails, and the PTX is compiled again the plain
// way, by files. The cubin is the same, byte by byte. If we die, it is killed, whatever it does
// (codegen/object/child_process.h).
#include "codegen_nvidia/ptxas_process.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "codegen/object/child_process.h"
#include "codegen/object/temporary_file.h"
#include "codegen/object/toolchain.h"
#include "codegen_nvidia/device_library.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::nvidia {

using codegen::ArchInfo;
using codegen::BackendOptions;
using codegen::TemporaryFile;

absl::StatusOr<std::string> findPtxas() {
  constexpr const char *kVariable = "TESSERA_PTXAS";
  if (codegen::isSet(kVariable)) {
    if (llvm::StringRef(std::getenv(kVariable)) == "none")
      return absl::NotFoundError("ptxas is not to be used: TESSERA_PTXAS is 'none'");
    absl::StatusOr<std::string> given = codegen::findToolFile("ptxas (CUDA toolkit)", kVariable, {}, {"ptxas"});
    if (!given.ok()) return absl::InvalidArgumentError(given.status().message());
    if (!llvm::sys::fs::can_execute(*given))
      return absl::InvalidArgumentError(absl::StrCat("TESSERA_PTXAS: ", *given, " is not an executable file"));
    return given;
  }
  std::vector<std::string> directories;
  for (const std::string &cuda : cudaDirectories()) directories.push_back(cuda + "/bin");
  if (const char *path = std::getenv("PATH")) {
    llvm::SmallVector<llvm::StringRef, 16> parts;
    llvm::StringRef(path).split(parts, ':', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef p : parts) directories.push_back(p.str());
  }
  return codegen::findToolFile("ptxas (CUDA toolkit)", kVariable, directories, {"ptxas"});
}

std::vector<std::string> compilerOptions(const ArchInfo &arch, const BackendOptions &options, bool forPtxas,
                                         const PtxOptions &how) {
  std::vector<std::string> o;
  o.push_back((forPtxas ? "--gpu-name=" : "-arch=") + arch.cpu.str());
  o.push_back((forPtxas ? "--opt-level=" : "-O") + std::to_string(options.optLevel ? how.level : 0));
  if (options.lineInfo) o.push_back("-lineinfo");
  if (!options.fpFusion) o.push_back(forPtxas ? "--fmad=false" : "-fma=0");
  if (how.minBlocks) o.push_back((forPtxas ? "" : "-Xptxas=") + ("--minnctapersm=" + std::to_string(how.minBlocks)));
  o.push_back(forPtxas ? "-v" : "-verbose");
  return o;
}

namespace {

/// A descriptor that is closed with the object.
struct Descriptor {
  int fd = -1;
  ~Descriptor() { close(); }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

/// The name of one of our descriptors for other processes of ours.
std::string nameOf(const Descriptor &d) { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(d.fd); }

std::optional<std::string> readAll(const Descriptor &file) {
  std::string text;
  char bytes[16 << 10];
  while (true) {
    ssize_t n = pread(file.fd, bytes, sizeof bytes, off_t(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) return text;
    text.append(bytes, size_t(n));
  }
}

/// How long a compilation may take. Large kernels take a minute; ptxas that waits for a file system or a licence of a
/// wrapper takes forever.
class Deadline {
public:
  explicit Deadline(unsigned seconds)
      : seconds_(seconds), end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}
  /// Sleeps until the child process has ended, so that waitpid returns at once, or for a moment if the kernel cannot
  /// wait for a process with a time limit (before Linux 5.3). False if time is up.
  bool waitFor(pid_t process) {
    Descriptor handle{int(syscall(kPidfdOpen, process, 0))};
    pollfd p{handle.fd, POLLIN, 0};
    int ready = handle.fd < 0 ? -1 : poll(&p, 1, millisecondsLeft());
    if (handle.fd < 0) pause();
    return ready > 0 || !isOver();
  }
  bool isOver() const { return std::chrono::steady_clock::now() >= end_; }
  absl::Status error(const std::string &ptxas) const {
    return absl::DeadlineExceededError(ptxas + " did not end within " + std::to_string(seconds_) +
                                       " s and was killed; TESSERA_PTXAS_SECONDS is the time that it may take");
  }

private:
  static constexpr long kPidfdOpen = 434; // on all architectures; older headers do not name it

  int millisecondsLeft() const {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
    return int(std::clamp<int64_t>(left.count(), 0, INT_MAX));
  }
  /// A short moment at first, since small kernels are done in milliseconds.
  void pause() {
    timespec moment{0, rounds_++ < 200 ? 50'000 : 1'000'000};
    nanosleep(&moment, nullptr);
  }

  unsigned seconds_, rounds_ = 0;
  std::chrono::steady_clock::time_point end_;
};

/// The seconds of a Deadline: TESSERA_PTXAS_SECONDS, else ten minutes.
absl::StatusOr<unsigned> timeLimit() {
  const char *text = std::getenv("TESSERA_PTXAS_SECONDS");
  if (!text || !*text) return 600;
  unsigned seconds;
  if (llvm::StringRef(text).getAsInteger(10, seconds) || !seconds)
    return absl::InvalidArgumentError(
        absl::StrCat("TESSERA_PTXAS_SECONDS must be a whole number of seconds from 1 up, not '", text, "'"));
  return seconds;
}

/// The environment of ptxas: ours, and memory in large pages, 16 MiB at a time, unless the user has set how malloc
/// works. ptxas takes 10 MiB before it reads its input, in 2,600 page faults, which are half of what a small kernel
/// costs.
std::vector<std::string> ptxasEnvironment() {
  constexpr llvm::StringLiteral kName = "GLIBC_TUNABLES=";
  std::string tunables = (kName + "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216").str();
  std::vector<std::string> strings;
  for (char **variable = environ; *variable; ++variable) {
    llvm::StringRef text(*variable);
    if (!text.starts_with(kName))
      strings.push_back(text.str());
    else if (text.contains("glibc.malloc."))
      tunables = text.str();
    else
      tunables += (":" + text.drop_front(kName.size())).str();
  }
  strings.push_back(tunables);
  return strings;
}

} // namespace

absl::Status checkPtxasSeconds() { return timeLimit().status(); }

absl::Status refusedPtx(llvm::StringRef tool, const ArchInfo &arch, llvm::StringRef log) {
  absl::Status s = absl::InternalError((tool + " refused the PTX for " + arch.cpu + ": " + log.rtrim()).str());
  llvm::StringRef name = log.split("Unresolved extern function '").second.split('\'').first;
  if (!name.empty()) s.SetPayload(codegen::kFunctionPayload, absl::Cord(absl::string_view(name.data(), name.size())));
  return s;
}

absl::StatusOr<Compiled> compileByProcess(const std::string &ptxas, llvm::StringRef ptx, const ArchInfo &arch,
                                          const BackendOptions &options, const PtxOptions &how) {
  absl::StatusOr<unsigned> seconds = timeLimit();
  if (!seconds.ok()) return seconds.status();
  absl::StatusOr<TemporaryFile> in = TemporaryFile::create("ptx"), out = TemporaryFile::create("cubin"),
                                log = TemporaryFile::create("log");
  for (const auto *f : {&in, &out, &log})
    if (!f->ok()) return f->status();
  if (absl::Status s = in->write(ptx); !s.ok()) return s;
  std::vector<std::string> strings = compilerOptions(arch, options, /*forPtxas=*/true, how);
  strings.insert(strings.begin(), ptxas);
  strings.insert(strings.end(), {in->path(), "-o", out->path()});
  std::string message;
  Deadline deadline(*seconds);
  absl::StatusOr<pid_t> pid = codegen::startChild(ptxas, strings, ptxasEnvironment(), log->path());
  if (!pid.ok()) return pid.status();
  llvm::sys::ProcessInfo process, ended;
  process.Pid = process.Process = *pid;
  while (true) {
    ended = llvm::sys::Wait(process, /*SecondsToWait=*/0, &message);
    if (ended.Pid != 0) break;
    if (deadline.waitFor(process.Pid)) continue;
    codegen::killChild(process.Pid);
    return deadline.error(ptxas);
  }
  int result = ended.ReturnCode;
  absl::StatusOr<std::string> cubin = out->read(), text = log->read();
  if (!text.ok()) return text.status();
  Compiled c{cubin.ok() ? *std::move(cubin) : std::string(), *std::move(text)};
  if (result == 0 && !c.cubin.empty()) return c;
  if (llvm::StringRef(c.log).contains("is not defined for option 'gpu-name'"))
    return absl::FailedPreconditionError(ptxas + " does not know the target " + arch.cpu.str() +
                                         "; a newer CUDA toolkit is needed");
  if (result == 0) return absl::InternalError(ptxas + " gave no cubin: its exit code is 0 and it wrote no file");
  if (result < 0) // it says nothing of the PTX
    return absl::InternalError(absl::StrCat(ptxas, " did not finish: ", message));
  return refusedPtx(ptxas, arch, !c.log.empty() ? c.log : "exit code " + std::to_string(result));
}

namespace {

class PtxasAhead final : public codegen::ToolAhead {
public:
  ~PtxasAhead() override { end(); }

  bool start(const std::string &ptxas, const ArchInfo &arch, const BackendOptions &options) {
    out_.fd = memfd_create("kernel.cubin", MFD_CLOEXEC);
    log_.fd = memfd_create("ptxas.log", MFD_CLOEXEC);
    int ends[2];
    if (out_.fd < 0 || log_.fd < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    read_.fd = ends[0];
    write_.fd = ends[1];
    ptxas_ = ptxas;
    std::vector<std::string> strings = compilerOptions(arch, options, /*forPtxas=*/true);
    strings.insert(strings.begin(), ptxas);
    strings.insert(strings.end(), {nameOf(read_), "-o", nameOf(out_)});
    absl::StatusOr<pid_t> pid = codegen::startChild(ptxas, strings, ptxasEnvironment(), nameOf(log_));
    if (pid.ok()) process_ = *pid;
    return pid.ok();
  }

  std::optional<Compiled> finish(const std::string &ptxas, llvm::StringRef ptx) {
    if (used_.exchange(true) || ptxas != ptxas_) return std::nullopt;
    auto whenDone = llvm::scope_exit([&] { end(); });
    Descriptor whole{memfd_create("kernel.ptx", MFD_CLOEXEC)};
    for (size_t done = 0; done < ptx.size();) {
      ssize_t n = whole.fd < 0 ? -1 : ::write(whole.fd, ptx.data() + done, ptx.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return std::nullopt;
      done += size_t(n);
    }
    // Both ends are ours, so a write never meets a pipe without a reader. What is over the pipe's size goes in as ptxas
    // takes out.
    (void)fcntl(write_.fd, F_SETPIPE_SZ, 1 << 20);
    absl::StatusOr<unsigned> seconds = timeLimit();
    if (!seconds.ok()) return std::nullopt;
    Deadline deadline(*seconds);
    for (size_t done = 0; done < ptx.size();) {
      ssize_t n = ::write(write_.fd, ptx.data() + done, ptx.size() - done);
      if (n > 0)
        done += size_t(n);
      else if (errno != EAGAIN && errno != EINTR)
        return std::nullopt;
      else if (!running() || deadline.isOver())
        return std::nullopt;
      else if (pollfd p{write_.fd, POLLOUT, 0}; errno == EAGAIN)
        poll(&p, 1, /*milliseconds=*/20);
    }
    // ptxas may have resolved the name of the pipe and not have opened it: the pipe must live on.
    Descriptor pipe{fcntl(read_.fd, F_DUPFD_CLOEXEC, 0)};
    if (pipe.fd < 0 || dup3(whole.fd, read_.fd, O_CLOEXEC) < 0) return std::nullopt;
    write_.close(); // the end of the first reading
    int status = 0;
    pid_t ended = 0;
    Deadline compilation(*seconds);
    while (ended == 0 || (ended < 0 && errno == EINTR)) {
      ended = waitpid(process_, &status, WNOHANG);
      if (ended == 0 && !compilation.waitFor(process_))
        return std::nullopt; // the destructor of `whenDone` ends the process
    }
    process_ = -1;
    if (ended < 0) return std::nullopt; // the host program waits for all children itself
    std::optional<std::string> cubin = readAll(out_), log = readAll(log_);
    if (status != 0 || !cubin || cubin->empty() || !log) return std::nullopt;
    return Compiled{*std::move(cubin), *std::move(log)};
  }

private:
  bool running() {
    int status = 0;
    pid_t ended = waitpid(process_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return true;
    process_ = -1;
    return false;
  }

  void end() {
    if (process_ > 0) codegen::killChild(process_);
    process_ = -1;
    read_.close(), write_.close();
  }

  std::atomic<bool> used_ = false;
  pid_t process_ = -1;
  std::string ptxas_;
  Descriptor read_, write_, out_, log_;
};

} // namespace

std::shared_ptr<codegen::ToolAhead> startPtxasAhead(const ArchInfo &arch, const BackendOptions &options) {
  absl::StatusOr<std::string> ptxas = findPtxas();
  if (!ptxas.ok()) return nullptr;
  auto ahead = std::make_shared<PtxasAhead>();
  return ahead->start(*ptxas, arch, options) ? ahead : nullptr;
}

std::optional<Compiled> compileAhead(codegen::ToolAhead *tool, const std::string &ptxas, llvm::StringRef ptx) {
  return tool ? static_cast<PtxasAhead *>(tool)->finish(ptxas, ptx) : std::nullopt;
}

} // namespace tessera::nvidia
