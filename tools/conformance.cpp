// `tessera conformance [--device DEV]… [--filter RE]`: runs the kernels of the conformance suite on devices and tells which
// compute what they should (conformance/README.md). Cases run in child processes: one that crashes is a failure like others.
#include "conformance/isolated.h"
#include "conformance/report.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/compiler.h"
#include "runtime/device.h"
#include "runtime/emulator/emulator_device.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include <CLI/CLI.hpp>
#include <re2/re2.h>
#include <thread>
#include <unistd.h>

namespace tessera::tools {
using namespace conformance;

/// Drivers do not outlive a fork(): GPUs are asked by a process of its own. `specs` empty: all that are there.
static std::vector<DeviceName> askForGpus(const std::vector<std::string> &specs, std::string &problem) {
  std::vector<DeviceName> out;
  IsolatedWork w;
  w.jobs = 1;
  w.parts = [](size_t) { return 1; };
  w.work = [&](size_t, size_t, bool &) {
    std::string text;
    std::vector<std::string> problems;
    if (specs.empty())
      for (auto &d : runtime::enumerateDevices(problems)) text += d->spec() + "\t" + d->target() + "\n";
    for (auto &s : specs) {
      auto d = runtime::openDevice(s);
      if (!d.ok()) return (absl::IsInvalidArgument(d.status()) ? "u" : "f") + std::string(d.status().message());
      text += (*d)->spec() + "\t" + (*d)->target() + "\n";
    }
    return "=" + text;
  };
  w.done = [&](size_t, size_t, const std::string &result) {
    llvm::StringRef rest = result;
    if (!rest.consume_front("=")) {
      problem = result;
      return;
    }
    while (!rest.empty()) {
      auto [line, next] = rest.split('\n');
      auto [spec, target] = line.split('\t');
      out.push_back({spec.str(), target.str()});
      rest = next;
    }
  };
  w.lost = [&](size_t, size_t, const std::string &what, const std::string &said) { problem = "f" + what + (said.empty() ? "" : ": " + said); };
  if (auto s = runIsolated(w); !s.empty()) problem = "f" + s;
  return out;
}

int conformanceCommand(int argc, char **argv) {
  CLI::App app("Runs the conformance suite: every kernel on every device against the interpreter, and the interpreter against formulas", "tessera conformance");
  std::vector<std::string> deviceNames, files;
  std::string filter, html, json, dump;
  bool list = false, quick = false, all = false, noTimes = false;
  int jobs = int(std::max(1u, std::thread::hardware_concurrency()));
  int limit = 60;
  auto many = CLI::MultiOptionPolicy::TakeAll;
  app.add_option("--device", deviceNames, "emulator:TARGET, cuda[:N] or hip[:N]; may be given several times. The interpreter always runs. Default: all GPUs, else the interpreter alone")->expected(1)->multi_option_policy(many);
  app.add_option("--filter", filter, "only cases whose name matches this regular expression");
  app.add_flag("--list", list, "print the names of the cases and run nothing");
  app.add_flag("--quick", quick, "fewer cases: every kernel with every value of every parameter at least once");
  app.add_flag("--all", all, "all combinations of parameters; by default every two values of different parameters meet at least once");
  app.add_option("--html,--report", html, "write a page with the results");
  app.add_option("--json", json, "write the results as JSON");
  app.add_option("--dump", dump, "write the cases into this folder as files for `tessera run`, and run nothing");
  app.add_option("--kernels", files, "a file of kernels to use instead of those of the program; may be given several times")->expected(1)->multi_option_policy(many);
  app.add_option("--jobs", jobs, "processes that work at once; default: one per core")->check(wholeNumber(1, 1024));
  app.add_option("--time-limit", limit, "seconds that one case may take on one device (default 60)")->check(wholeNumber(1, 1000000));
  app.add_flag("--no-times", noTimes, "leave times out of what is printed and written");
  if (auto code = parseArguments(app, argc, argv)) return *code;
  if (quick && all) return fail(kUsage, "--quick and --all exclude each other");
  if (list && !dump.empty()) return fail(kUsage, "--list and --dump exclude each other");
  RE2 re(filter, RE2::Quiet);
  if (!re.ok()) return fail(kUsage, "--filter: bad regular expression '" + filter + "': " + re.error());

  Suite suite;
  if (files.empty()) {
    auto s = builtInSuite();
    if (!s.ok()) return fail(kRunFailed, std::string(s.status().message()));
    suite = std::move(*s);
  }
  for (auto &f : files) {
    auto buffer = readInput(f);
    if (!buffer) return kInputAtFault;
    if (auto s = readKernels(buffer->getBuffer(), f == "-" ? "<stdin>" : f, llvm::sys::path::stem(f), suite); !s.ok()) {
      llvm::errs() << std::string(s.message()) << "\n";
      return kInputAtFault;
    }
  }
  auto everything = conformance::cases(suite, quick ? Coverage::Quick : all ? Coverage::All : Coverage::Pairs);
  if (!everything.ok()) {
    llvm::errs() << std::string(everything.status().message()) << "\n";
    return kInputAtFault;
  }
  Report report;
  for (auto &c : *everything)
    if (filter.empty() || RE2::PartialMatch(c.name, re)) report.cases.push_back(c);
  if (report.cases.empty()) return fail(kUsage, filter.empty() ? "there are no kernels" : "--filter: no case has a name that matches '" + llvm::Twine(filter) + "'" + (all ? "" : "; --all has more"));
  if (!files.empty()) // what is wrong in somebody's own kernels is not a device's failure
    for (auto &c : report.cases)
      if (auto i = instantiate(suite, c); !i.ok()) {
        llvm::errs() << std::string(i.status().message()) << "\n";
        return kInputAtFault;
      }
  if (list) {
    for (auto &c : report.cases) llvm::outs() << c.name << "\n";
    return kOk;
  }
  if (!dump.empty()) {
    for (auto &c : report.cases)
      if (auto s = dumpCase(suite, c, dump + "/" + c.name); !s.ok()) return fail(absl::IsInvalidArgument(s) ? kInputAtFault : kRunFailed, std::string(s.message()));
    llvm::outs() << ir::counted(report.cases.size(), "case") << " written to " << dump << "\n";
    return kOk;
  }

  report.devices.push_back({"interpreter", ""});
  std::vector<std::string> gpus;
  for (auto &name : deviceNames) {
    llvm::StringRef spec(name);
    if (spec == "interpreter") continue;
    for (auto &d : deviceNames)
      if (&d != &name && d == name && &d < &name) return fail(kUsage, "--device " + name + " is given twice");
    if (!spec.consume_front("emulator:")) {
      gpus.push_back(name);
      continue;
    }
    auto opened = runtime::openEmulator(spec);
    if (!opened.ok()) return fail(kUsage, std::string(opened.status().message()));
    report.devices.push_back({(*opened)->spec(), (*opened)->target()});
  }
  if (!gpus.empty() || deviceNames.empty()) {
    std::string problem;
    auto found = askForGpus(gpus, problem);
    if (!problem.empty() && !gpus.empty()) return fail(problem[0] == 'u' ? kUsage : kRunFailed, problem.substr(1));
    report.devices.insert(report.devices.end(), found.begin(), found.end());
  }
  report.coverage = quick ? "--quick" : all ? "--all" : "";
  report.files = files;
  report.times = !noTimes;
  report.outcomes.assign(report.cases.size(), std::vector<Outcome>(report.devices.size()));

  size_t done = 0, failed = 0, total = report.cases.size() * report.devices.size();
  bool terminal = isatty(2);
  auto take = [&](size_t c, size_t d, Outcome o) {
    failed += o.status == Outcome::Failed;
    report.outcomes[c][d] = std::move(o);
    ++done;
    if (terminal) llvm::errs() << llvm::formatv("\r\033[K{0} of {1}, {2} failed: {3}", done, total, failed, report.cases[c].name.substr(0, 50));
  };
  CaseRunner runner(suite); // each child has its own
  IsolatedWork w;
  w.jobs = report.cases.size();
  w.processes = int(std::min<size_t>(size_t(jobs), report.cases.size()));
  w.limitSeconds = limit;
  w.parts = [&](size_t) { return report.devices.size(); };
  w.work = [&](size_t c, size_t d, bool &renew) { return runner.run(report.cases[c], report.devices[d], renew).encode(); };
  w.done = [&](size_t c, size_t d, const std::string &result) { take(c, d, Outcome::decode(result)); };
  w.lost = [&](size_t c, size_t d, const std::string &what, const std::string &said) {
    Outcome o;
    o.status = Outcome::Failed;
    o.message = what + (said.empty() ? "" : "\n" + llvm::StringRef(said).trim().str());
    take(c, d, std::move(o));
  };
  std::string problem = runIsolated(w);
  if (terminal) llvm::errs() << "\r\033[K";
  if (!problem.empty()) return fail(kRunFailed, problem);
  llvm::outs() << failures(report);
  if (failed) llvm::outs() << "\n";
  llvm::outs() << matrix(report);
  if (!html.empty() && !writeOutput(html, toHtml(report))) return kRunFailed;
  if (!json.empty() && !writeOutput(json, toJson(report))) return kRunFailed;
  return report.failed() ? kRunFailed : kOk;
}

} // namespace tessera::tools
