// random_kernels: the interpreter against the emulators on random kernels, for as long as one likes.
//
//   random_kernels --seeds 1:20000 [--vendor nvidia|amd] [--target NAME] [--level ttir|ttgir|descriptors|ragged]
//                  [--minutes M] [--show]
//
// Without a target every seed runs on one target of each vendor. A kernel that crashes the compiler, or takes more than
// a minute of processor time (or half an hour of waiting), is a finding like any other: seeds run in a child process,
// which is started anew after one. Findings go to standard output as they are found, the sums at the end; exit code 1
// if there are any. --show prints the kernels.
#include "comparison.h"
#include "runtime/compiler/targets.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::random;

namespace {

struct Settings {
  unsigned from = 1, to = 1000;
  bool vendors[2] = {true, true};
  const ir::TargetInfo *target = nullptr;
  int level = -1;
  double minutes = 0;
  bool show = false;
};

/// What parent and child share.
struct Progress {
  unsigned seed;
  char target[32];
  unsigned kernels[2], same, refused, findings, dots, strips, prefetches, producers,
      fullBlocks; // the last four: kernels where the passes did that
};

void run(const Settings &s, unsigned seed, Progress &p) {
  Level level = s.level >= 0 ? Level(s.level) : levelOf(seed);
  Kernel last;
  Results expected;
  Outcome known;
  bool have = false;
  for (int v = 0; v < 2; ++v) {
    auto vendor = v ? ir::Vendor::Amd : ir::Vendor::Nvidia;
    if (!s.vendors[v]) continue;
    const ir::TargetInfo *t = s.target ? s.target : targetOf(seed, vendor);
    snprintf(p.target, sizeof p.target, "%s", t->name.str().c_str());
    if (!have || level == Level::Ttgir) {
      last = generate(seed, level, t);
      if (s.show)
        printf("// seed %u, %s, %d warps, %d programs\n%s", seed, p.target, last.numWarps, last.programs,
               last.text.c_str());
      known = reference(last, seed, expected);
      have = true;
    }
    Outcome o = known.kind == Outcome::Same ? compare(last, seed, expected, *t) : known;
    ++p.kernels[v];
    p.dots += last.hasDot;
    p.strips += o.strips != 0, p.prefetches += o.prefetches != 0, p.producers += o.producers != 0,
        p.fullBlocks += o.fullBlocks != 0;
    if (o.kind == Outcome::Same)
      ++p.same;
    else if (o.kind == Outcome::Refused)
      ++p.refused;
    else
      ++p.findings;
    if (o.kind != Outcome::Same) {
      static constexpr const char *kLevels[] = {"ttir", "ttgir", "descriptors", "ragged"};
      static constexpr const char *kNames[] = {"same", "refused", "DIFFERENT", "REPORTED", "BROKEN"};
      printf("seed %u, %s, %s, %d warps: %s: %s\n", seed, p.target, kLevels[size_t(level)], last.numWarps,
             kNames[o.kind], o.message.c_str());
      fflush(stdout);
    }
  }
}

int usage(const char *what) {
  fprintf(stderr,
          "random_kernels: %s\nusage: random_kernels --seeds FROM:TO [--vendor nvidia|amd] [--target NAME] [--level "
          "ttir|ttgir|descriptors|ragged] [--minutes M] [--show]\n",
          what);
  return 2;
}

/// Ends the process if the seed that begins now hangs. Processor time does not depend on what else the machine does;
/// the wall clock only ends what waits and computes nothing.
void limitTime() {
  constexpr long kProcessorSeconds = 60;
  constexpr unsigned kWallSeconds = 1800;
  itimerval limit{{0, 0}, {kProcessorSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(kWallSeconds);
}
bool isOutOfTime(int signal) { return signal == SIGPROF || signal == SIGALRM; }

} // namespace

int main(int argc, char **argv) {
  Settings s;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef a = argv[i];
    if (a == "--show") {
      s.show = true;
      continue;
    }
    if (++i == argc) return usage("an option without its value");
    llvm::StringRef v = argv[i];
    if (a == "--seeds") {
      auto [from, to] = v.split(':');
      if (from.getAsInteger(10, s.from) || (to.empty() ? from : to).getAsInteger(10, s.to))
        return usage("--seeds takes FROM:TO");
    } else if (a == "--vendor") {
      if (v != "nvidia" && v != "amd") return usage("--vendor takes nvidia or amd");
      s.vendors[0] = v == "nvidia", s.vendors[1] = v == "amd";
    } else if (a == "--target") {
      auto *t = runtime::findArch(v);
      if (!t) return usage("unknown target");
      s.target = &t->info;
      s.vendors[0] = s.target->vendor == ir::Vendor::Nvidia, s.vendors[1] = !s.vendors[0];
    } else if (a == "--level") {
      s.level = llvm::StringSwitch<int>(v)
                    .Case("ttir", 0)
                    .Case("ttgir", 1)
                    .Case("descriptors", 2)
                    .Case("ragged", 3)
                    .Default(4);
      if (s.level == 4) return usage("--level takes ttir, ttgir, descriptors or ragged");
    } else if (a == "--minutes") {
      if (v.getAsDouble(s.minutes)) return usage("--minutes takes a number");
    } else {
      return usage("unknown option");
    }
  }
  auto *p = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (p == MAP_FAILED) return 1;
  *p = {};
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  unsigned next = s.from;
  bool timeUp = false;
  while (next <= s.to && !timeUp) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (!child) {
      unsigned end = std::min(s.to, next + 499); // a new process now and then, whatever a run leaves behind
      for (unsigned seed = next; seed <= end && !(s.minutes && seconds() > s.minutes * 60); ++seed) {
        p->seed = seed;
        limitTime();
        run(s, seed, *p);
      }
      fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
      ++p->findings;
      printf("seed %u, %s: %s\n", p->seed, p->target,
             WIFSIGNALED(status) && isOutOfTime(WTERMSIG(status)) ? "HANGS: more than a minute" : "CRASHES");
      fflush(stdout);
    }
    next = p->seed + 1;
    timeUp = s.minutes && seconds() > s.minutes * 60;
  }
  printf("%u kernels for NVIDIA, %u for AMD (%u with dots, %u in strips, %u prefetched, %u with a producer of tiles, "
         "%u with versions for full blocks): "
         "%u the same, %u refused, %u "
         "findings, in %.0f s\n",
         p->kernels[0], p->kernels[1], p->dots, p->strips, p->prefetches, p->producers, p->fullBlocks, p->same,
         p->refused, p->findings, seconds());
  return p->findings ? 1 : 0;
}
