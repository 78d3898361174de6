// `tessera tune LAUNCH.json --device DEV`: finds the fastest values of the options that a kernel is configured by.
// Which options are searched over is the table searchedOptions(); how each is spelled and checked is in options.def.
#include "runtime/compiler/targets.h"
#include "runtime/debug/tuner.h"
#include "runtime/emulator/emulator_device.h"
#include "tools/arguments.h"
#include "tools/launch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <optional>
#include <unistd.h>

namespace tessera::tools {
using namespace runtime;

namespace {

using Outcome = TuneMeasurement::Outcome;

llvm::StringRef outcomeName(Outcome o) {
  switch (o) {
  case Outcome::Measured: return "measured";
  case Outcome::SameCode: return "same code";
  case Outcome::NotCompiled: return "not compiled";
  case Outcome::Failed: return "failed";
  case Outcome::Wrong: return "wrong";
  }
  llvm_unreachable("outcome");
}

/// An option that is searched over.
struct SearchedOption {
  const KernelOption *option;
  llvm::StringRef column;         // its heading in the table
  std::string (*words)(int);      // a value in a sentence
  std::vector<int> values;        // to try; none: the description's value
  std::vector<std::string> lists; // of values, as the command line gives them: "2,4"

  /// The values of the lists, instead of the initial ones; an exit code after an error was printed.
  int readLists();
  int of(const CompileOptions &c) const { return c.config().*option->field; }
};

int SearchedOption::readLists() {
  if (lists.empty()) return kOk;
  values.clear();
  for (llvm::StringRef list : lists)
    for (llvm::StringRef text : llvm::split(list, ',')) {
      if (std::string wrong = valueOf(*option)(text.str()); !wrong.empty())
        return fail(kUsage, option->flag + ": " + wrong);
      int value = 0;
      text.getAsInteger(10, value);
      if (llvm::is_contained(values, value)) return fail(kUsage, option->flag + ": " + text + " is given twice");
      values.push_back(value);
    }
  return kOk;
}

SearchedOption searched(int KernelConfig::*field, llvm::StringRef column, std::string (*words)(int),
                        std::vector<int> values) {
  auto *option = llvm::find_if(kernelOptions(), [&](auto &o) { return o.field == field; });
  return {option, column, words, std::move(values), {}};
}

// Table: the options that are searched over, the first one outermost, with the values to try if the command line gives
// none.
std::vector<SearchedOption> searchedOptions() {
  return {
      searched(&KernelConfig::numWarps, "warps", [](int n) { return ir::counted(n, "warp"); }, {1, 2, 4, 8}),
      searched(&KernelConfig::numStages, "stages", [](int n) { return ir::counted(n, "stage"); }, {1, 2, 3, 4}),
      searched(&KernelConfig::wavesPerEu, "waves/EU", [](int n) { return std::to_string(n) + " waves per EU"; }, {}),
      searched(&KernelConfig::matrixInstrNonkdim, "nonkdim", [](int n) { return "tiles of " + std::to_string(n); }, {}),
  };
}

/// The values to try of all searched options. Those without values are not in tables and texts.
struct Search {
  std::vector<SearchedOption> all = searchedOptions();

  auto given() const {
    return llvm::make_filter_range(all, [](const SearchedOption &s) { return !s.values.empty(); });
  }
  std::vector<CompileOptions> configurations(const CompileOptions &base) const {
    std::vector<CompileOptions> result{base};
    for (auto &s : given()) {
      std::vector<CompileOptions> more;
      for (auto &c : result)
        for (int value : s.values) more.emplace_back(c).config().*s.option->field = value;
      result = std::move(more);
    }
    return result;
  }
  std::string text(const CompileOptions &c) const {
    std::string t;
    for (auto &s : given()) t += (t.empty() ? "" : ", ") + s.words(s.of(c));
    return t;
  }
  std::string flags(const CompileOptions &c) const {
    std::string t;
    for (auto &s : given()) t += (t.empty() ? "" : " ") + s.option->flag.str() + " " + std::to_string(s.of(c));
    return t;
  }
  llvm::json::Object toJson(const CompileOptions &c) const {
    llvm::json::Object o;
    for (auto &s : given()) o[s.option->key] = s.of(c);
    return o;
  }
};

/// The columns of the tables.
struct Figures {
  Search search;
  bool emulated; // instructions instead of milliseconds
  bool isAmd;    // whose multiprocessors are compute units
};

bool isObject(const runtime::KernelMetadata &m) { return m.known >= runtime::KernelMetadata::Resources; }

/// A line per configuration, in columns.
void printTable(llvm::ArrayRef<TuneMeasurement> all, const Figures &f) {
  auto &o = llvm::outs();
  for (auto &s : f.search.given()) o << s.column << "  ";
  o << "registers  spilled  shared  " << (f.isAmd ? "blocks/CU" : "blocks/SM") << "  "
    << (f.emulated ? "instructions" : " median ms     min ms") << "\n";
  for (auto &m : all) {
    for (auto &s : f.search.given())
      o << llvm::right_justify(std::to_string(s.of(m.configuration)), s.column.size()) << "  ";
    auto &md = m.metadata;
    if (m.outcome == Outcome::NotCompiled) {
      o << "not compiled: " << m.reason << "\n";
      continue;
    }
    if (isObject(md))
      o << llvm::formatv("{0,9}  {1,7}  {2,6}  {3,9}  ", md.registers, md.spillBytes,
                         md.dynamicSharedBytes + md.staticSharedBytes, md.occupancy);
    else
      o << llvm::formatv("        -        -  {0,6}          -  ", md.dynamicSharedBytes + md.staticSharedBytes);
    if (m.outcome == Outcome::Failed || m.outcome == Outcome::Wrong) {
      o << (m.outcome == Outcome::Failed ? "failed: " : "wrong: ") << m.reason << "\n";
      continue;
    }
    if (f.emulated)
      o << llvm::formatv("{0,12}", m.instructions);
    else
      o << llvm::formatv("{0,10:f4} {1,10:f4}", m.medianMs, m.minMs);
    if (m.outcome == Outcome::SameCode) o << "  same code as " << f.search.text(all[m.sameAs].configuration);
    o << "\n";
  }
}

/// The best configuration and its rates.
void printBest(const TuneMeasurement &m, const Figures &f, const LaunchDescription &d) {
  llvm::outs() << "best: " << f.search.flags(m.configuration);
  if (f.emulated) llvm::outs() << " (fewest executed instructions: an emulator has no time)";
  auto rate = [&](double amount, double unit) { return amount / (m.medianMs / 1000) / unit; };
  if (!f.emulated && m.medianMs > 0 && d.flops > 0)
    llvm::outs() << llvm::formatv(", {0:f2} TFLOP/s", rate(d.flops, 1e12));
  if (!f.emulated && m.medianMs > 0 && d.bytesMoved > 0)
    llvm::outs() << llvm::formatv(", {0:f1} GB/s", rate(d.bytesMoved, 1e9));
  llvm::outs() << "\n";
}

llvm::json::Value toJson(const TuneMeasurement &m, const Figures &f) {
  llvm::json::Object o = f.search.toJson(m.configuration);
  o["outcome"] = outcomeName(m.outcome);
  if (!m.reason.empty()) o["reason"] = m.reason;
  if (m.outcome == Outcome::NotCompiled) return o;
  auto &md = m.metadata;
  o["shared_bytes"] = md.dynamicSharedBytes + md.staticSharedBytes;
  if (isObject(md)) {
    o["registers"] = md.registers;
    o["spill_bytes"] = md.spillBytes;
    o["occupancy"] = md.occupancy;
  }
  if (m.outcome == Outcome::Failed || m.outcome == Outcome::Wrong) return o;
  if (f.emulated)
    o["instructions"] = int64_t(m.instructions);
  else {
    o["median_ms"] = m.medianMs;
    o["min_ms"] = m.minMs;
  }
  return o;
}

struct TuneFlags {
  std::string path;
  std::string deviceName;
  std::string jsonFile;
  std::string output;
  std::string reference = "first"; // or "interpreter"
  Search search;
  int reps = 100;
  int threads = 1;
  CacheFlags cache;

  void add(CLI::App &);
  bool printsTable() const { return jsonFile != "-" && output != "-"; }
  /// The emulator's target after "emulator:"; nullopt: another device.
  std::optional<llvm::StringRef> emulatedTarget() const {
    llvm::StringRef spec(deviceName);
    return spec.consume_front("emulator:") ? std::optional(spec) : std::nullopt;
  }
};

void TuneFlags::add(CLI::App &app) {
  app.add_option("LAUNCH", path, "launch description (launch.json), - for standard input")->required();
  app.add_option("--device", deviceName,
                 "cuda[:N], hip[:N], or emulator:TARGET, which counts executed instructions; default: the first GPU "
                 "found");
  for (auto &s : search.all) {
    std::string initial = s.values.empty()
                              ? "the description's"
                              : llvm::join(llvm::map_range(s.values, [](int v) { return std::to_string(v); }), ",");
    app.add_option(s.option->flag.str(), s.lists, s.option->help.str() + "; values to try (default: " + initial + ")")
        ->type_name("INT,INT");
  }
  app.add_option("--reps", reps, "measured launches of each configuration, after one that is checked (default 100)")
      ->check(wholeNumber(1));
  app.add_option("--reference", reference,
                 "what results are compared with if the description expects none: first (the first configuration that "
                 "runs) or interpreter")
      ->check(oneOf("first", "interpreter"));
  app.add_option("--threads", threads, "emulator: host threads that execute blocks")->check(wholeNumber(1, 1024));
  app.add_option("-o", output,
                 "write the description with the best configuration (- for standard output, then without the table)");
  app.add_option("--json", jsonFile, "write the figures as JSON (- for standard output, then without the table)");
  cache.add(app);
}

/// Opens the device to measure on, an emulator or a GPU, and checks that its target reads the searched options.
int openDeviceToTune(const TuneFlags &flags, emulator::Report &report, std::unique_ptr<Device> &device) {
  if (auto target = flags.emulatedTarget()) {
    emulator::Options eo;
    eo.threads = flags.threads;
    auto opened = openEmulator(*target, eo, &report);
    if (!opened.ok()) return fail(kUsage, std::string(opened.status().message()));
    device = std::move(*opened);
  } else if (int code = openMeasuredDevice(flags.deviceName, device))
    return code;
  auto *target = findTarget(device->target());
  for (auto &s : flags.search.given())
    if (target && !s.option->isReadBy(*target))
      return fail(kUsage, s.option->flag + " does nothing on " + device->target() + " (" + device->spec() + ")");
  return kOk;
}

/// Whether the device's target can have any of the configurations; else, why it cannot have the first.
absl::Status findPossible(llvm::ArrayRef<CompileOptions> configurations, const Device &device) {
  auto *target = findTarget(device.target());
  auto isPossible = [&](const CompileOptions &c) { return checkOptions(*target, c).ok(); };
  if (!target || configurations.empty() || llvm::any_of(configurations, isPossible)) return absl::OkStatus();
  return checkOptions(*target, configurations.front());
}

/// The figures of all configurations as JSON. `winner`: the best one's index.
std::string jsonReport(llvm::ArrayRef<TuneMeasurement> all, std::optional<size_t> winner, const Figures &figures,
                       llvm::StringRef kernel, const Device &device, int reps) {
  llvm::json::Array list;
  for (auto &m : all) list.push_back(toJson(m, figures));
  llvm::json::Object o{{"kernel", kernel},
                       {"device", device.spec()},
                       {"name", device.name()},
                       {"target", device.target()},
                       {"driver", device.driver()},
                       {"measure", figures.emulated ? "instructions" : "median_ms"},
                       {"configurations", std::move(list)}};
  if (!figures.emulated) o["reps"] = reps;
  if (winner) o["best"] = figures.search.toJson(all[*winner].configuration);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(o)));
  return text;
}

/// Writes the description with the best configuration's values.
bool writeTunedDescription(const std::string &output, const Launch &l, const CompileOptions &c) {
  auto folder = output == "-" ? std::string(".") : llvm::sys::path::parent_path(output).str();
  return writeOutput(output, launchWith(l.text, l.description, c.config(), folder));
}

/// Measures all configurations of the launch.
int measure(const TuneFlags &flags, Launch &l, Device &device, const emulator::Report &report, CompileCache &cache,
            const CompileOptions &base, ir::DiagnosticEngine &diag, std::vector<TuneMeasurement> &out) {
  LaunchArguments interpreted; // the expected results, if the interpreter gives them
  if (flags.reference == "interpreter" && l.description.expected.empty()) {
    interpreted = l.arguments;
    auto s =
        interpretLaunch(*l.kernel.module, l.kernel.function, l.description, interpreted, InterpreterOptions(), diag);
    if (!s.ok()) return diag.errors() ? kRunFailed : fail(kRunFailed, std::string(s.message()));
  }
  TuneJob job{l.description,
              l.kernel.source,
              l.kernel.path,
              l.arguments,
              device,
              flags.emulatedTarget() ? &report : nullptr,
              cache,
              flags.search.configurations(base),
              flags.reps,
              interpreted.buffers.empty() ? nullptr : &interpreted,
              {}};
  if (isatty(STDERR_FILENO))
    job.progress = [&](size_t done) {
      llvm::errs() << "\r\033[K";
      if (done < job.configurations.size())
        llvm::errs() << done << " of " << job.configurations.size() << ": "
                     << flags.search.text(job.configurations[done]);
    };
  out = tune(job);
  CacheFlags::warn(cache);
  return kOk;
}

} // namespace

int tuneCommand(int argc, char **argv) {
  CLI::App app("Finds the fastest numbers of warps and stages (and other options of code generation) for a kernel",
               "tessera tune");
  TuneFlags flags;
  flags.add(app);
  if (auto code = parseArguments(app, argc, argv)) return *code;
  for (SearchedOption &s : flags.search.all)
    if (int code = s.readLists()) return code;
  if (int code = checkOutputFiles({{"--json", flags.jsonFile}, {"-o", flags.output}})) return code;
  std::unique_ptr<CompileCache> cache;
  if (int code = flags.cache.open(cache)) return code;

  Launch l;
  std::unique_ptr<Device> device;
  emulator::Report report;
  bool emulated = flags.emulatedTarget().has_value();
  if (!emulated && app.count("--threads")) return fail(kUsage, "--threads needs --device emulator:TARGET");
  if (flags.deviceName == "interpreter") return openMeasuredDevice(flags.deviceName, device); // an error
  if (int code = l.readDescription(flags.path)) return code;
  // -o may replace the description, which comes first, by the tuned one.
  std::vector<std::string> inputs = l.description.files();
  if (int code = checkInputsAreKept({{"--json", flags.jsonFile}}, inputs)) return code;
  inputs.erase(inputs.begin());
  if (int code = checkInputsAreKept({{"-o", flags.output}}, inputs)) return code;
  if (int code = openDeviceToTune(flags, report, device)) return code;
  auto diag = printingDiagnostics();
  if (int code = l.readKernel(diag)) return code;

  CompileOptions base = l.options(*device);
  if (absl::Status s = findPossible(flags.search.configurations(base), *device); !s.ok())
    return fail(kUsage, std::string(s.message()));
  std::vector<TuneMeasurement> all;
  if (int code = measure(flags, l, *device, report, *cache, base, diag, all)) return code;

  auto winner = best(all, emulated);
  Figures figures{flags.search, emulated, llvm::StringRef(device->target()).starts_with("gfx")};
  if (flags.printsTable()) {
    llvm::outs() << llvm::formatv("{0} on {1} ({2})\n", base.kernel, device->spec(), device->name());
    printTable(all, figures);
    if (winner) printBest(all[*winner], figures, l.description);
  }
  if (!flags.jsonFile.empty() &&
      !writeOutput(flags.jsonFile, jsonReport(all, winner, figures, base.kernel, *device, flags.reps)))
    return kRunFailed;
  bool broken = llvm::any_of(all, [](auto &m) { return m.outcome == Outcome::Failed || m.outcome == Outcome::Wrong; });
  if (!winner)
    return fail(broken ? kRunFailed : kInputAtFault,
                broken ? "no configuration gives correct results" : "no configuration can be compiled");
  if (!flags.output.empty() && !writeTunedDescription(flags.output, l, all[*winner].configuration)) return kRunFailed;
  return broken ? kRunFailed : kOk;
}

} // namespace tessera::tools
