// `tessera tune LAUNCH.json --device DEV`: which numbers of warps and stages, and on AMD of waves, a kernel runs
// fastest with.
#include "runtime/compiler/targets.h"
#include "runtime/debug/tuner.h"
#include "runtime/emulator/emulator_device.h"
#include "tools/arguments.h"
#include "tools/launch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
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

/// The numbers that are searched, and those that the description settles.
struct Search {
  std::vector<int> warps{1, 2, 4, 8}, stages{1, 2, 3, 4}, waves, nonkdim;

  std::vector<CompileOptions> configurations(const CompileOptions &base) const {
    auto or1 = [](const std::vector<int> &given, int described) {
      return given.empty() ? std::vector<int>{described} : given;
    };
    std::vector<CompileOptions> all;
    for (int w : warps)
      for (int s : stages)
        for (int e : or1(waves, base.wavesPerEu))
          for (int k : or1(nonkdim, base.matrixInstrNonkdim)) {
            CompileOptions &o = all.emplace_back(base);
            o.numWarps = w, o.numStages = s, o.wavesPerEu = e, o.matrixInstrNonkdim = k;
          }
    return all;
  }
  std::string text(const CompileOptions &c) const {
    std::string s = ir::counted(c.numWarps, "warp") + ", " + ir::counted(c.numStages, "stage");
    if (!waves.empty()) s += llvm::formatv(", {0} waves per EU", c.wavesPerEu).str();
    if (!nonkdim.empty()) s += llvm::formatv(", tiles of {0}", c.matrixInstrNonkdim).str();
    return s;
  }
  std::string flags(const CompileOptions &c) const {
    std::string s = llvm::formatv("--num-warps {0} --num-stages {1}", c.numWarps, c.numStages).str();
    if (!waves.empty()) s += llvm::formatv(" --waves-per-eu {0}", c.wavesPerEu).str();
    if (!nonkdim.empty()) s += llvm::formatv(" --matrix-instr-nonkdim {0}", c.matrixInstrNonkdim).str();
    return s;
  }
  llvm::json::Object toJson(const CompileOptions &c) const {
    llvm::json::Object o{{"num_warps", c.numWarps}, {"num_stages", c.numStages}};
    if (!waves.empty()) o["waves_per_eu"] = c.wavesPerEu;
    if (!nonkdim.empty()) o["matrix_instr_nonkdim"] = c.matrixInstrNonkdim;
    return o;
  }
};

/// What the tables say of all configurations.
struct Figures {
  Search search;
  bool emulated, registersKnown;
};

/// A line per configuration, in columns.
void printTable(llvm::ArrayRef<TuneMeasurement> all, const Figures &f) {
  auto &o = llvm::outs();
  o << "warps  stages  " << (f.search.waves.empty() ? "" : "waves/EU  ")
    << (f.search.nonkdim.empty() ? "" : "nonkdim  ") << "registers  spilled  shared  blocks/SM  "
    << (f.emulated ? "instructions" : " median ms     min ms") << "\n";
  for (auto &m : all) {
    auto &c = m.configuration;
    o << llvm::formatv("{0,5}  {1,6}  ", c.numWarps, c.numStages);
    if (!f.search.waves.empty()) o << llvm::formatv("{0,8}  ", c.wavesPerEu);
    if (!f.search.nonkdim.empty()) o << llvm::formatv("{0,7}  ", c.matrixInstrNonkdim);
    auto &md = m.metadata;
    if (m.outcome == Outcome::NotCompiled) {
      o << "not compiled: " << m.reason << "\n";
      continue;
    }
    if (f.registersKnown)
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

/// Which is best, and how fast that is.
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
  if (f.registersKnown) o["registers"] = md.registers, o["spill_bytes"] = md.spillBytes, o["occupancy"] = md.occupancy;
  if (m.outcome == Outcome::Failed || m.outcome == Outcome::Wrong) return o;
  if (f.emulated)
    o["instructions"] = int64_t(m.instructions);
  else
    o["median_ms"] = m.medianMs, o["min_ms"] = m.minMs;
  return o;
}

} // namespace

int tuneCommand(int argc, char **argv) {
  CLI::App app("Finds the numbers of warps and stages (on AMD also of waves) that a kernel runs fastest with",
               "tessera tune");
  std::string path, deviceName, jsonFile, output, reference = "first";
  Search search;
  int reps = 100, threads = 1;
  CacheFlags cacheFlags;
  app.add_option("LAUNCH", path, "launch description (launch.json), - for standard input")->required();
  app.add_option(
      "--device", deviceName,
      "cuda[:N], hip[:N], or emulator:TARGET, where executed instructions are counted; default: the first GPU found");
  app.add_option("--num-warps", search.warps, "warps per block to try (default 1,2,4,8)")
      ->delimiter(',')
      ->check(powerOfTwo);
  app.add_option("--num-stages", search.stages, "pipeline stages to try (default 1,2,3,4)")
      ->delimiter(',')
      ->check(wholeNumber(1, 100));
  app.add_option("--waves-per-eu", search.waves,
                 "AMD: waves of a SIMD to try, for which the registers are to do; 0: the compiler's choice (default: "
                 "the description's)")
      ->delimiter(',')
      ->check(wholeNumber(0, 16));
  app.add_option("--matrix-instr-nonkdim", search.nonkdim,
                 "AMD: rows and columns of matrix instructions to try, 16, 32 or 0: the compiler's choice (default: "
                 "the description's)")
      ->delimiter(',')
      ->check(matrixTile);
  app.add_option("--reps", reps, "launches of each that are measured, after one that is checked (default 100)")
      ->check(wholeNumber(1));
  app.add_option("--reference", reference,
                 "what results are compared with where the description expects none: first (the first configuration "
                 "that runs) or interpreter")
      ->check(CLI::IsMember({"first", "interpreter"}));
  app.add_option("--threads", threads, "emulator: blocks that run at once")->check(wholeNumber(1, 1024));
  app.add_option("-o", output,
                 "write the description with the best numbers (- for standard output, then without the table)");
  app.add_option("--json", jsonFile, "write the figures as JSON (- for standard output, then without the table)");
  cacheFlags.add(app);
  if (auto code = parseArguments(app, argc, argv)) return *code;
  if (jsonFile == "-" && output == "-") return fail(kUsage, "--json and -o cannot both write to standard output");
  std::unique_ptr<CompileCache> cache;
  if (int code = cacheFlags.open(cache)) return code;

  Launch l;
  std::unique_ptr<Device> device;
  emulator::Report report;
  llvm::StringRef spec(deviceName);
  bool emulated = spec.consume_front("emulator:");
  if (!emulated && app.count("--threads")) return fail(kUsage, "--threads needs --device emulator:TARGET");
  if (deviceName == "interpreter") return openMeasuredDevice(deviceName, device);
  if (int code = l.readDescription(path)) return code;
  if (emulated) {
    emulator::Options eo;
    eo.threads = threads;
    auto opened = openEmulator(spec, eo, &report);
    if (!opened.ok()) return fail(kUsage, std::string(opened.status().message()));
    device = std::move(*opened);
  } else if (int code = openMeasuredDevice(deviceName, device))
    return code;
  auto *target = findTarget(device->target());
  if (target && target->vendor != ir::Vendor::Amd && (!search.waves.empty() || !search.nonkdim.empty()))
    return fail(kUsage, llvm::Twine(search.waves.empty() ? "--matrix-instr-nonkdim" : "--waves-per-eu") +
                            " is for AMD's targets, and " + device->spec() + " is " + device->target());
  auto diag = printingDiagnostics();
  if (int code = l.readKernel(diag)) return code;
  auto &d = l.description;

  LaunchArguments right;
  if (reference == "interpreter" && d.expected.empty()) {
    right = l.arguments;
    if (auto s = interpretLaunch(*l.module, l.kernel, d, right, InterpreterOptions(), diag); !s.ok())
      return diag.errors() ? kRunFailed : fail(kRunFailed, std::string(s.message()));
  }
  CompileOptions base = l.options(*device);
  TuneJob job{d,
              l.source,
              l.sourcePath,
              l.arguments,
              *device,
              emulated ? &report : nullptr,
              *cache,
              search.configurations(base),
              reps,
              right.buffers.empty() ? nullptr : &right,
              {}};
  if (isatty(2))
    job.progress = [&](size_t done) {
      llvm::errs() << "\r\033[K";
      if (done < job.configurations.size())
        llvm::errs() << done << " of " << job.configurations.size() << ": " << search.text(job.configurations[done]);
    };
  auto all = tune(job);
  CacheFlags::warn(*cache);

  auto winner = best(all, emulated);
  Figures figures{search, emulated, llvm::any_of(all, [](auto &m) { return m.metadata.registers > 0; })};
  if (jsonFile != "-" && output != "-") {
    llvm::outs() << llvm::formatv("{0} on {1} ({2})\n", base.kernel, device->spec(), device->name());
    printTable(all, figures);
    if (winner) printBest(all[*winner], figures, d);
  }
  if (!jsonFile.empty()) {
    llvm::json::Array list;
    for (auto &m : all) list.push_back(toJson(m, figures));
    llvm::json::Object o{{"kernel", base.kernel},
                         {"device", device->spec()},
                         {"name", device->name()},
                         {"target", device->target()},
                         {"driver", device->driver()},
                         {"measure", emulated ? "instructions" : "median_ms"},
                         {"configurations", std::move(list)}};
    if (!emulated) o["reps"] = reps;
    if (winner) o["best"] = search.toJson(all[*winner].configuration);
    std::string text;
    llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(o)));
    if (!writeOutput(jsonFile, text)) return kRunFailed;
  }
  bool broken = llvm::any_of(all, [](auto &m) { return m.outcome == Outcome::Failed || m.outcome == Outcome::Wrong; });
  if (!winner)
    return fail(broken ? kRunFailed : kInputAtFault,
                broken ? "no configuration runs rightly" : "no configuration can be compiled");
  if (!output.empty()) {
    auto folder = output == "-" ? std::string(".") : llvm::sys::path::parent_path(output).str();
    auto &c = all[*winner].configuration;
    if (!writeOutput(output,
                     launchWith(l.text, d, {c.numWarps, c.numStages, c.wavesPerEu, c.matrixInstrNonkdim}, folder)))
      return kRunFailed;
  }
  return broken ? kRunFailed : kOk;
}

} // namespace tessera::tools
