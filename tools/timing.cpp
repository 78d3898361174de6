// Options and output of the timing model (see timing.h).
#include "tools/timing.h"
#include "runtime/timing/report.h"
#include "runtime/timing/timeline.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <unistd.h>

namespace tessera::tools {
using namespace timing;

void TimingFlags::add(CLI::App &app) {
  auto &t = options.time;
  app.add_option("--workgroups", t.sample.workgroups,
                 "workgroups that the model executes and replays on one compute unit (default: as many as are resident "
                 "at a time)")
      ->check(wholeNumber(1, 4096));
  app.add_option("--neighbours", t.sample.neighbours,
                 "workgroups of other compute units that the model executes to find what L2 shares (default " +
                     std::to_string(t.sample.neighbours) + ")")
      ->check(wholeNumber(0, 4096));
  app.add_flag("--cold", t.cold,
               "the buffers are in memory when the kernel starts; else in the memory-side cache, if they fit");
  app.add_option("--timeline", timeline, "write an HTML page with the replay: waves as rows, units by colour");
  app.add_option("--timeline-instructions", mostRecords,
                 "executed instructions that the page shows at most (default 100000)")
      ->check(wholeNumber(1));
  app.add_option("--compute-units", t.machine.computeUnits, "compute units of the board (default: machine.def)")
      ->check(wholeNumber(1, 4096));
  app.add_option("--clock", t.machine.clockMHz, "clock in MHz (default: the board's peak)")
      ->check(wholeNumber(1, 10000));
  app.add_option("--machine", t.machine.numbers, "NAME=VALUE: replace a number of the machine (docs/amd_timing.md)");
}

int timeAndReport(const TimingFlags &flags, const runtime::LaunchDescription &d, llvm::StringRef launchText,
                  llvm::StringRef hsaco, const std::string &objectName) {
  TimeObjectOptions options = flags.options;
  if (!flags.timeline.empty()) options.time.mostRecords = flags.mostRecords;
  bool terminal = isatty(STDERR_FILENO);
  if (terminal)
    options.progress = [](uint64_t done, uint64_t all) {
      llvm::errs() << "\rexecuted " << done << " of " << all << " workgroups\033[K";
      return false;
    };
  auto timed = timeObject(d, hsaco, options);
  if (terminal) llvm::errs() << "\r\033[K";
  if (!timed.ok()) {
    auto &s = timed.status();
    bool badNumber = absl::IsInvalidArgument(s) && !machineOf("gfx942", options.time.machine).ok();
    int code = badNumber ? kUsage : absl::IsFailedPrecondition(s) ? kRunFailed : kInputAtFault;
    llvm::StringRef message(s.message().data(), s.message().size());
    bool isOfAnInput = message.starts_with(d.path + ":"); // a file that the description names
    if (isOfAnInput && code == kInputAtFault) return failLocated(message, d.path, launchText);
    std::string subject = badNumber ? "--machine: " : isOfAnInput ? "" : objectName + ": ";
    return fail(code, subject + message.str());
  }
  if (flags.json != "-") llvm::outs() << reportText(timed->time, timed->program);
  if (!flags.timeline.empty() && !writeOutput(flags.timeline, timelinePage(timed->time, timed->program)))
    return kRunFailed;
  if (flags.json.empty()) return kOk;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n",
                                                  llvm::json::Value(reportJson(timed->time, timed->program)));
  return writeOutput(flags.json, text) ? kOk : kRunFailed;
}

} // namespace tessera::tools
