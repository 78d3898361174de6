// `tessera conformance [--device DEV]… [--filter RE]`: runs the kernels of the conformance suite on devices and reports
// which compute the right results (conformance/README.md). Cases run in child processes: one that crashes is a failure
// like others.
#include "conformance/report.h"
#include "runtime/compiler/compiler.h"
#include "runtime/debug/isolated.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/open_device.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <re2/re2.h>
#include <thread>
#include <unistd.h>

namespace tessera::tools {
using namespace conformance;
using runtime::IsolatedWork;
using runtime::runIsolated;

static std::string descriptionOf(const runtime::Device &d) {
  return llvm::formatv("{0}, {1} GiB, {2}", d.name(), d.memoryBytes() >> 30, d.driver()).str();
}

/// Drivers do not outlive a fork(): GPUs are enumerated in a child process. `specs` empty: all that are there.
static std::vector<DeviceName> enumerateGpus(const std::vector<std::string> &specs, std::string &problem) {
  std::vector<DeviceName> out;
  IsolatedWork w;
  w.jobs = 1;
  w.parts = [](size_t) { return 1; };
  auto line = [](const runtime::Device &d) {
    return llvm::join(std::vector<std::string>{d.spec(), d.target(), descriptionOf(d)}, "\t") + "\n";
  };
  w.work = [&](size_t, size_t, bool &) {
    std::string text;
    std::vector<std::string> problems;
    if (specs.empty())
      for (auto &d : runtime::enumerateDevices(problems)) text += line(*d);
    for (auto &s : specs) {
      auto d = runtime::openDevice(s);
      if (!d.ok()) return (absl::IsInvalidArgument(d.status()) ? "u" : "f") + std::string(d.status().message());
      text += line(**d);
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
      auto [spec, other] = line.split('\t');
      auto [target, description] = other.split('\t');
      out.push_back({spec.str(), target.str(), description.str()});
      rest = next;
    }
  };
  w.lost = [&](size_t, size_t, const std::string &what, const std::string &said) {
    problem = "f" + what + (said.empty() ? "" : ": " + said);
  };
  if (auto s = runIsolated(w); !s.empty()) problem = "f" + s;
  return out;
}

/// The command line's options.
struct ConformanceOptions {
  std::vector<std::string> devices, files;
  std::string filter, html, json, markdown, dump;
  bool list = false, quick = false, all = false, noTimes = false;
  int jobs = int(std::max(1u, std::thread::hardware_concurrency()));
  int limit = 60;
};

static std::optional<int> readOptions(int argc, char **argv, ConformanceOptions &o) {
  CLI::App app("Runs the conformance suite: every kernel on every device against the interpreter, and the interpreter "
               "against formulas",
               "tessera conformance");
  auto many = CLI::MultiOptionPolicy::TakeAll;
  app.add_option("--device", o.devices,
                 "emulator:TARGET, cuda[:N] or hip[:N]; may be repeated. The interpreter always runs. "
                 "By default every GPU found is tested")
      ->expected(1)
      ->multi_option_policy(many);
  app.add_option("--filter", o.filter, "only cases whose name matches this regular expression");
  app.add_flag("--list", o.list, "print the names of the cases and run nothing");
  app.add_flag("--quick", o.quick, "fewer cases: every kernel with every value of every parameter at least once");
  app.add_flag(
      "--all", o.all,
      "all combinations of parameters; by default every two values of different parameters are combined at least once");
  app.add_option("--html,--report", o.html, "write a page with the results");
  app.add_option("--json", o.json, "write the results as JSON");
  app.add_option("--markdown", o.markdown,
                 "write a short report for an issue tracker: versions, devices, the table, as many failures as fit");
  app.add_option("--dump", o.dump, "write the cases into this folder as files for `tessera run`, and run nothing");
  app.add_option("--kernels", o.files, "a file of kernels to use instead of the built-in ones; may be repeated")
      ->expected(1)
      ->multi_option_policy(many);
  app.add_option("--jobs", o.jobs, "number of parallel processes; default: one per core")->check(wholeNumber(1, 1024));
  app.add_option("--time-limit", o.limit, "seconds for one case on one device (default 60)")
      ->check(wholeNumber(1, 1000000));
  app.add_flag("--no-times", o.noTimes, "leave times out of what is printed and written");
  if (auto code = parseArguments(app, argc, argv)) return code;
  if (o.quick && o.all) return fail(kUsage, "--quick and --all exclude each other");
  if (o.list && !o.dump.empty()) return fail(kUsage, "--list and --dump exclude each other");
  for (const char *report : {"--html", "--markdown", "--json"})
    if (app.count(report) && (o.list || !o.dump.empty()))
      return fail(kUsage, llvm::Twine(report) + (o.list ? " and --list" : " and --dump") + " exclude each other");
  if (int code = checkOutputFiles({{"--html", o.html}, {"--markdown", o.markdown}, {"--json", o.json}}, o.files))
    return code;
  if (int code = checkOutputFolder(o.dump)) return code;
  return std::nullopt;
}

/// An error in a file of kernels, with its position.
static int failInKernels(const absl::Status &s) {
  llvm::errs() << std::string(s.message()) << "\n";
  return kInputAtFault;
}

/// Reads the kernels and selects the cases.
static int chooseCases(const ConformanceOptions &o, Suite &suite, std::vector<Case> &chosen) {
  RE2 re(o.filter, RE2::Quiet);
  if (!re.ok()) return fail(kUsage, "--filter: bad regular expression '" + o.filter + "': " + re.error());
  auto builtIn = builtInSuite();
  if (!builtIn.ok()) return fail(kRunFailed, std::string(builtIn.status().message()));
  suite = std::move(*builtIn);
  if (!o.files.empty()) suite.kernels.clear(); // its macros serve others too
  for (auto &f : o.files) {
    auto buffer = readInput(f);
    if (!buffer) return kInputAtFault;
    std::string name = f == "-" ? "<stdin>" : f;
    if (buffer->getBuffer().contains('\0')) return fail(kInputAtFault, name + ": this is not text: it has NUL bytes");
    if (auto s = readKernels(buffer->getBuffer(), name, llvm::sys::path::stem(f), suite); !s.ok())
      return failInKernels(s);
  }
  auto everything = conformance::cases(suite, o.quick ? Coverage::Quick : o.all ? Coverage::All : Coverage::Pairs);
  if (!everything.ok()) return failInKernels(everything.status());
  for (auto &c : *everything)
    if (o.filter.empty() || RE2::PartialMatch(c.name, re)) chosen.push_back(c);
  if (chosen.empty() && o.filter.empty())
    return fail(kInputAtFault, llvm::join(o.files, ", ") + ": there are no kernels");
  if (chosen.empty())
    return fail(kUsage,
                "--filter: no case has a name that matches '" + o.filter + "'" + (o.all ? "" : "; --all has more"));
  if (!o.files.empty()) // what is wrong in somebody's own kernels is not a device's failure
    for (auto &c : chosen)
      if (auto i = instantiate(suite, c); !i.ok()) return failInKernels(i.status());
  return kOk;
}

static int dumpCases(const Suite &suite, const std::vector<Case> &cases, const std::string &folder) {
  for (auto &c : cases)
    if (auto s = dumpCase(suite, c, folder + "/" + c.name); !s.ok())
      return fail(absl::IsInvalidArgument(s) ? kInputAtFault : kRunFailed, std::string(s.message()));
  llvm::outs() << ir::counted(cases.size(), "case") << " written to " << folder << "\n";
  return kOk;
}

/// The interpreter, then the requested emulators and GPUs.
static int findDevices(const std::vector<std::string> &names, std::vector<DeviceName> &devices) {
  devices.push_back({"interpreter", ""});
  std::vector<std::string> gpus;
  for (auto &name : names) {
    llvm::StringRef spec(name);
    if (spec == "interpreter") continue;
    for (auto &d : names)
      if (&d != &name && d == name && &d < &name) return fail(kUsage, "--device " + name + " is given twice");
    if (!spec.consume_front("emulator:")) {
      gpus.push_back(name);
      continue;
    }
    auto opened = runtime::openEmulator(spec);
    if (!opened.ok()) return fail(kUsage, std::string(opened.status().message()));
    devices.push_back({(*opened)->spec(), (*opened)->target()});
  }
  if (gpus.empty() && !names.empty()) return kOk;
  std::string problem;
  auto found = enumerateGpus(gpus, problem);
  if (!problem.empty() && !gpus.empty()) return fail(problem[0] == 'u' ? kUsage : kRunFailed, problem.substr(1));
  devices.insert(devices.end(), found.begin(), found.end());
  return kOk;
}

/// Every case on every device, in child processes. Empty, or what is wrong with these.
static std::string runCases(const ConformanceOptions &o, const Suite &suite, Report &report) {
  report.outcomes.assign(report.cases.size(), std::vector<Outcome>(report.devices.size()));
  size_t done = 0, failed = 0, total = report.cases.size() * report.devices.size();
  bool terminal = isatty(2);
  auto take = [&](size_t c, size_t d, Outcome outcome) {
    failed += outcome.status == Outcome::Failed;
    report.outcomes[c][d] = std::move(outcome);
    ++done;
    if (terminal)
      llvm::errs() << llvm::formatv("\r\033[K{0} of {1}, {2} failed: {3}", done, total, failed,
                                    report.cases[c].name.substr(0, 50));
  };
  CaseRunner runner(suite); // each child has its own
  IsolatedWork w;
  w.jobs = report.cases.size();
  w.processes = int(std::min<size_t>(size_t(o.jobs), report.cases.size()));
  w.limitSeconds = o.limit;
  w.parts = [&](size_t) { return report.devices.size(); };
  w.work = [&](size_t c, size_t d, bool &renew) {
    return runner.run(report.cases[c], report.devices[d], renew).encode();
  };
  w.done = [&](size_t c, size_t d, const std::string &result) { take(c, d, Outcome::decode(result)); };
  w.lost = [&](size_t c, size_t d, const std::string &what, const std::string &said) {
    Outcome lost;
    lost.status = Outcome::Failed;
    lost.message = what + (said.empty() ? "" : "\n" + llvm::StringRef(said).trim().str());
    take(c, d, std::move(lost));
  };
  std::string problem = runIsolated(w);
  if (terminal) llvm::errs() << "\r\033[K";
  return problem;
}

int conformanceCommand(int argc, char **argv) {
  ConformanceOptions o;
  if (auto code = readOptions(argc, argv, o)) return *code;
  Suite suite;
  Report report;
  if (int code = chooseCases(o, suite, report.cases)) return code;
  if (o.list) {
    for (auto &c : report.cases) llvm::outs() << c.name << "\n";
    return kOk;
  }
  if (!o.dump.empty()) return dumpCases(suite, report.cases, o.dump);
  if (int code = findDevices(o.devices, report.devices)) return code;
  report.coverage = o.quick ? "--quick" : o.all ? "--all" : "";
  report.files = o.files;
  report.times = !o.noTimes;
  report.versions = "tessera " TESSERA_VERSION_TEXT ", LLVM " LLVM_VERSION_STRING ": `tessera " +
                    llvm::join(argv, argv + argc, " ") + "`";
  if (std::string problem = runCases(o, suite, report); !problem.empty()) return fail(kRunFailed, problem);
  llvm::outs() << failures(report);
  if (report.failed()) llvm::outs() << "\n";
  llvm::outs() << matrix(report);
  if (!o.html.empty() && !writeOutput(o.html, toHtml(report))) return kRunFailed;
  if (!o.markdown.empty() && !writeOutput(o.markdown, toMarkdown(report))) return kRunFailed;
  if (!o.json.empty() && !writeOutput(o.json, toJson(report))) return kRunFailed;
  return report.failed() ? kRunFailed : kOk;
}

} // namespace tessera::tools
