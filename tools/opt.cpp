// `tessera opt FILE [-PASS[=OPTIONS]…] [--split-input-file] [--verify-diagnostics] [--target T]`: runs passes, by
// triton-opt's names, and prints. Operations that have no location are given their place in the text, so that what a
// pass complains about is found there. Where locations are printed they are not: passes that fail then run once more,
// for the places of their errors.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/module_attributes.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include "runtime/debug/check_passes.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/launch.h"
#include "tools/pass_list.h"
#include "tools/verify_diagnostics.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/pipelines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::tools {
using namespace transforms;

constexpr llvm::StringRef kOptions[] = {"split-input-file",
                                        "allow-unregistered-dialect",
                                        "target",
                                        "verify-each",
                                        "print-ir-before",
                                        "print-ir-after",
                                        "print-ir-before-all",
                                        "print-ir-after-all",
                                        "time-passes",
                                        "remarks",
                                        "remarks-json",
                                        "skip-pass",
                                        "bisect-limit",
                                        "check-passes",
                                        "mlir-print-debuginfo",
                                        "mlir-use-nameloc-as-prefix",
                                        "list-passes",
                                        "help"};

/// The pass or option that was meant: one without its prefix (`coalesce` for `tritongpu-coalesce`), or the nearest.
static std::string hint(llvm::StringRef written, llvm::StringRef name, llvm::ArrayRef<std::string> known) {
  for (auto &p : allPasses())
    if (p.name.ends_with(("-" + name).str())) return "; did you mean '-" + p.name.str() + "'?";
  return suggest(written, std::vector<llvm::StringRef>(known.begin(), known.end()));
}

static int help() {
  llvm::outs()
      << "usage: tessera opt FILE [-PASS[=\"key=value …\"]]... [options]\n\noptions:\n"
         "  --split-input-file        treat the parts between `// -----` lines as files of their own\n"
         "  --verify-diagnostics      compare the diagnostics with `// expected-error @+1 {{…}}` comments (also "
         "-warning,\n"
         "                            -note, -remark, @-1, @above, @below, @unknown, expected-error-re with "
         "{{regex}});\n"
         "                            =only-expected: others may come too\n"
         "  --allow-unregistered-dialect  keep operations of unknown dialects\n"
         "  --target T                the target that passes query; default: the module's ttg.target\n"
         "  --verify-each             verify after every pass\n"
         "  --print-ir-before=RE      dump the IR to stderr before passes whose name matches\n"
         "  --print-ir-after=RE       … after them\n"
         "  --print-ir-before-all     dump the IR to stderr before every pass\n"
         "  --print-ir-after-all      … after it\n"
         "  --time-passes             print the time of every pass to stderr\n"
         "  --remarks[=RE]            print what passes did and what they could not do, and why (PASS:NAME matches "
         "RE)\n"
         "  --remarks-json=FILE       write the remarks to a file, as JSON\n"
         "  --skip-pass=NAME          skip a pass (may be given several times)\n"
         "  --bisect-limit=N          run only the first N passes that can be skipped, and print which ran\n"
         "  --check-passes=LAUNCH     evaluate the kernel on the data of a launch description before and after every "
         "pass,\n"
         "                            and name the first that changes an output or leaves invalid IR; without passes:\n"
         "                            all of the compiler's for the target. FILE may be left out: the description "
         "names "
         "it\n"
         "  --mlir-print-debuginfo    print locations\n"
         "  --mlir-use-nameloc-as-prefix=false  number all values, also those whose location names them\n"
         "  --list-passes=markdown    print the passes with options, stages and pipelines, and the pipelines, and end\n"
         "  -o OUT                    write to a file\n\npasses:\n";
  for (auto &p : allPasses()) {
    llvm::outs() << "  -" << p.name << std::string(p.name.size() < 38 ? 38 - p.name.size() : 1, ' ')
                 << (p.aliasOf.empty() ? p.help.str() : "alias of -" + p.aliasOf.str()) << "\n";
    if (!p.aliasOf.empty()) continue;
    for (auto &o : p.options) {
      std::string range = o.range.str();
      llvm::outs() << "      " << o.spelling() << "  " << o.help << (range.empty() ? "" : "; " + range) << " (default "
                   << o.defaultValue() << ")\n";
    }
  }
  return kOk;
}

namespace {

/// The command line of `tessera opt`. The functions return an exit code after they reported an error.
struct Opt {
  std::string input, output, targetName, checked, launchText;
  bool split = false, debugInfo = false, nameLocs = true, verifyDiagnostics = false, onlyExpected = false;
  frontend::ParseOptions parse;
  RunOptions run;
  PassFlags flags;
  Pipeline pipeline;
  std::optional<runtime::LaunchDescription> launch; // --check-passes

  int option(llvm::StringRef written, llvm::StringRef next, bool &nextUsed);
  /// The flag that an option sets, or null.
  bool *switchNamed(llvm::StringRef);
  /// Where an option's value goes, and what it is.
  struct ValueOption {
    std::string *to = nullptr;
    const char *what = "";
  };
  ValueOption valueNamed(llvm::StringRef);
  int prepare();
  int section(const frontend::TextSection &, const std::string &file, std::string &out, bool &over);
  void placeErrors(const frontend::TextSection &, const std::string &file, int64_t bisectDone,
                   ir::DiagnosticEngine &) const;
};

bool *Opt::switchNamed(llvm::StringRef name) {
  const std::pair<llvm::StringRef, bool *> switches[] = {
      {"split-input-file", &split},
      {"allow-unregistered-dialect", &parse.allowUnregistered},
      {"verify-each", &flags.verifyEach},
      {"print-ir-before-all", &flags.beforeAll},
      {"mlir-print-ir-before-all", &flags.beforeAll},
      {"print-ir-after-all", &flags.afterAll},
      {"mlir-print-ir-after-all", &flags.afterAll},
      {"time-passes", &flags.time},
      {"mlir-timing", &flags.time},
      {"mlir-print-debuginfo", &debugInfo},
      {"mlir-use-nameloc-as-prefix", &nameLocs},
  };
  for (auto [option, to] : switches)
    if (name == option) return to;
  return nullptr;
}

Opt::ValueOption Opt::valueNamed(llvm::StringRef name) {
  const std::pair<llvm::StringRef, ValueOption> options[] = {
      {"remarks-json", {&flags.remarksFile, "a file"}},
      {"print-ir-before", {&flags.before, "a regular expression"}},
      {"print-ir-after", {&flags.after, "a regular expression"}},
      {"check-passes", {&checked, "a launch description"}},
      {"target", {&targetName, "a name"}},
      {"o", {&output, "a file"}},
  };
  for (auto &[option, value] : options)
    if (name == option) return value;
  return {};
}

/// One option or pass. Those that need a value take it after `=`, or else `next`.
int Opt::option(llvm::StringRef written, llvm::StringRef next, bool &nextUsed) {
  llvm::StringRef a = written.drop_front(written.starts_with("--") ? 2 : 1);
  auto [name, value] = a.split('=');
  auto needValue = [&](std::string &to) {
    if (a.contains('='))
      to = value.str();
    else if (next.data()) {
      to = next.str();
      nextUsed = true;
    }
    return !to.empty();
  };
  auto takeFlag = [&](bool &to) -> int {
    bool isNone = !a.contains('=');
    if (!isNone && value != "true" && value != "false")
      return fail(kUsage, "--" + name + " is true or false, not '" + value + "'");
    to = isNone || value == "true";
    return kOk;
  };
  if (bool *to = switchNamed(name)) return takeFlag(*to);
  if (auto [to, what] = valueNamed(name); to)
    return needValue(*to) ? int(kOk) : fail(kUsage, (name.size() > 1 ? "--" : "-") + name + " needs " + what);
  if (name == "mlir-disable-threading") return kOk; // there are no threads
  if (name == "verify-diagnostics") {
    verifyDiagnostics = true;
    onlyExpected = value == "only-expected";
    if (a.contains('=') && value != "all" && !onlyExpected)
      return fail(kUsage, "--verify-diagnostics is all or only-expected, not '" + value + "'");
  } else if (name == "remarks") {
    flags.remarks = a.contains('=') ? value.str() : ".";
    if (flags.remarks.empty()) return fail(kUsage, "--remarks needs a regular expression after '='");
  } else if (name == "skip-pass") {
    if (!needValue(flags.skip.emplace_back())) return fail(kUsage, "--skip-pass needs the name of a pass");
  } else if (name == "bisect-limit") {
    std::string n;
    if (!needValue(n) || llvm::StringRef(n).getAsInteger(10, flags.bisectLimit) || flags.bisectLimit < 0)
      return fail(kUsage, "--bisect-limit needs a number of passes");
  } else if (auto *pass = findPass(name)) {
    auto step = parseStep(*pass, value);
    if (!step.ok()) return fail(kUsage, std::string(step.status().message()));
    pipeline.push_back(*std::move(step));
  } else {
    std::vector<std::string> known;
    for (auto o : kOptions) known.push_back("--" + o.str());
    for (auto &p : allPasses()) known.push_back("-" + p.name.str());
    return fail(kUsage, "unknown pass or option '" + written + "'" + hint(written, name, known));
  }
  return kOk;
}

/// What the options say together: the launch description, the input and the target.
int Opt::prepare() {
  if (!flags.apply(run)) return kUsage;
  if (!checked.empty()) {
    if (split) return fail(kUsage, "--check-passes and --split-input-file exclude each other");
    if (int code = readDescription(checked, launchText, launch.emplace())) return code;
    if (input.empty() && launch->ttir.empty())
      return fail(kUsage, "no input file, and " + checked + " names none (\"ttir\")");
    if (input.empty()) input = launch->resolve(launch->ttir);
  }
  if (input.empty()) return fail(kUsage, "no input file; see `tessera opt --help`");
  if (int code = checkOutputFiles(
          {{"-o", output.empty() && checked.empty() ? "-" : output}, {"--remarks-json", flags.remarksFile}}))
    return code;
  // -o may replace the input by the output, unless it belongs to a description.
  if (int code = checkInputsAreKept({{"--remarks-json", flags.remarksFile}}, {input, checked})) return code;
  if (launch)
    if (int code = checkInputsAreKept({{"-o", output}, {"--remarks-json", flags.remarksFile}}, launch->files()))
      return code;
  run.findTarget = runtime::findTarget;
  if (!targetName.empty()) {
    auto t = runtime::requireTarget(targetName);
    if (!t.ok()) return fail(kUsage, t.status().message().data());
    run.target = *t;
  }
  if (launch && pipeline.empty()) {
    if (!run.target) return fail(kUsage, "--check-passes without passes needs --target");
    for (auto &p :
         {ttirPipeline(*run.target), ttgirPipeline(*run.target, {.numWarps = launch->numWarps,
                                                                 .numCtas = launch->numCtas,
                                                                 .numStages = launch->numStages,
                                                                 .matrixInstructionSize = launch->matrixInstrNonkdim})})
      pipeline.insert(pipeline.end(), p.begin(), p.end());
  }
  parse.locateByText = !debugInfo && !flags.dumps(); // dumps show the locations that the text has
  return kOk;
}

/// Runs the passes on a section in which operations without a location have their place in the text, for their errors.
/// `bisectDone`: passes that sections before it counted.
void Opt::placeErrors(const frontend::TextSection &text, const std::string &file, int64_t bisectDone,
                      ir::DiagnosticEngine &diag) const {
  frontend::ParseOptions located = parse;
  located.locateByText = true;
  RunOptions errorsAlone = run; // everything else has been reported
  errorsAlone.bisectDone = bisectDone;
  errorsAlone.dump = nullptr;
  errorsAlone.timings = nullptr;
  errorsAlone.remarks = nullptr;
  ir::Context context;
  if (auto m = frontend::parseModule(text, file, context, diag, located)) // a failure has been reported
    (void)runPipeline(*m, pipeline, errorsAlone, diag);
}

/// Runs the passes on a section and adds what is printed to `out`. `over`: the command ends with the code given, and
/// without printing the IR.
int Opt::section(const frontend::TextSection &text, const std::string &file, std::string &out, bool &over) {
  ir::Context context;
  std::optional<DiagnosticVerifier> verifier;
  if (verifyDiagnostics) verifier.emplace(text.text, text.firstLine, file, onlyExpected);
  auto shown =
      verifier ? ir::DiagnosticEngine([&](const ir::Diagnostic &d) { verifier->take(d); }) : printingDiagnostics();
  ir::UnplacedErrors unplaced(shown);
  const int64_t bisectDone = run.bisectDone;
  auto &diag = parse.locateByText ? shown : unplaced.firstRun();
  auto m = frontend::parseModule(text, file, context, diag, parse);
  std::optional<runtime::PassChecker> checker;
  over = true;
  if (m && launch) {
    checker.emplace(*launch);
    if (auto s = checker->start(*m); !s.ok()) return failLocated(std::string(s.message()), checked, launchText);
    run.hook = [&](const PassInfo &p, ir::Module &changed, bool before) {
      if (!before) checker->after(p.name, changed);
    };
  }
  bool ok = m && runPipeline(*m, pipeline, run, diag).ok();
  run.hook = nullptr; // the checker goes with the section
  if (unplaced.any()) placeErrors(text, file, bisectDone, unplaced.secondRun());
  unplaced.reportRest();
  if (checker && (ok || !checker->finding().empty())) {
    if (!checker->finding().empty()) return fail(kRunFailed, checker->finding());
    llvm::outs() << "ok   " << checker->passes() << (checker->passes() == 1 ? " pass leaves" : " passes leave")
                 << " what the kernel computes as it is\n";
    if (output.empty()) return kOk;
  }
  over = false;
  int code = kOk;
  if (verifier) {
    std::string complaints = verifier->finish();
    llvm::errs() << complaints;
    if (!complaints.empty()) code = kInputAtFault;
  } else if (!ok)
    code = kInputAtFault;
  if (ok) out += ir::printToString(*m, {.locations = debugInfo, .nameLocs = nameLocs});
  return code;
}

} // namespace

int optCommand(int argc, char **argv) {
  Opt o;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef a = argv[i];
    if (a == "-" || !a.starts_with("-")) {
      if (!o.input.empty()) return fail(kUsage, "more than one input: '" + o.input + "' and '" + a + "'");
      o.input = a.str();
      continue;
    }
    auto [name, value] = a.ltrim('-').split('=');
    if (name == "help" || name == "h") return help();
    if (name == "list-passes") {
      if (value != "markdown") return fail(kUsage, "--list-passes must be markdown, not '" + value + "'");
      llvm::outs() << passListAsMarkdown();
      return kOk;
    }
    bool nextUsed = false;
    if (int code = o.option(a, i + 1 < argc ? llvm::StringRef(argv[i + 1]) : llvm::StringRef(), nextUsed)) return code;
    i += nextUsed;
  }
  if (int code = o.prepare()) return code;
  auto buffer = readInput(o.input);
  if (!buffer) return kInputAtFault;
  std::vector<frontend::TextSection> sections;
  if (o.split)
    sections = frontend::splitSections(buffer->getBuffer());
  else
    sections.push_back({buffer->getBuffer(), 1});
  std::string out, file = o.input == "-" ? "<stdin>" : o.input;
  int code = kOk;
  bool printsNothing = false; // --check-passes without -o
  for (auto &s : sections) {
    if (&s != &sections.front()) out += "// -----\n";
    bool over = false;
    int one = o.section(s, file, out, over);
    if (over && one) return one;
    if (one) code = one;
    printsNothing = over;
  }
  o.flags.printTimings();
  if (!o.flags.writeRemarks()) return kRunFailed;
  if (!printsNothing && !writeOutput(o.output, out)) return kRunFailed;
  return code;
}

} // namespace tessera::tools
