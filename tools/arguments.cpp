// Command lines (see arguments.h).
#include "tools/arguments.h"
#include "ir/nearest_name.h"
#include "tools/commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <re2/re2.h>

namespace tessera::tools {

std::string suggest(llvm::StringRef written, llvm::ArrayRef<llvm::StringRef> names) {
  llvm::StringRef meant = ir::nearestName(written, names, unsigned(std::min<size_t>(6, written.size() / 2 + 1)));
  return meant.empty() ? "" : "; did you mean '" + meant.str() + "'?";
}

// Table: every remark, with the first stage whose compilation reports it. tools/check_style.py compares it with the
// code and with docs/remarks.md.
static constexpr KnownRemark kRemarks[] = {
    {"tritongpu-accelerate-matmul", "DotInstruction", runtime::Stage::Ttgir},
    {"tritongpu-accelerate-scaled-dot", "DotInstruction", runtime::Stage::Ttgir},
    {"triton-nvidia-optimize-descriptor-encoding", "TensorMapArgument", runtime::Stage::Ttir},
    {"triton-nvidia-optimize-descriptor-encoding", "TensorMapMade", runtime::Stage::Ttir},
    {"triton-rewrite-tensor-descriptor-to-pointer", "DescriptorVersions", runtime::Stage::Ttir},
    {"alignment-versions", "AlignmentVersions", runtime::Stage::Ttir},
    {"full-block-versions", "FullBlockVersions", runtime::Stage::Ttir},
    {"warp-copy-layouts", "WarpCopies", runtime::Stage::Ttgir},
    {"tritongpu-pipeline", "LoopPipelined", runtime::Stage::Ttgir},
    {"overlap-dots", "DotsOverlapped", runtime::Stage::Ttgir},
    {"order-programs", "ProgramsOrdered", runtime::Stage::Ttgir},
    {"order-programs", "LongestFirst", runtime::Stage::Ttgir},
    {"tritongpu-automatic-warp-specialization", "WarpsSpecialized", runtime::Stage::Ttgir},
    {"tritongpu-prefetch", "Prefetched", runtime::Stage::Ttgir},
    {"run-loads-ahead", "LoadsAhead", runtime::Stage::Ttgir},
    {"load-scalars-ahead", "ScalarsAhead", runtime::Stage::Ttgir},
    {"strip-mine", "StripMined", runtime::Stage::Ttgir},
    {"allocate-shared-memory", "LayoutConversion", runtime::Stage::Llir},
    {"allocate-shared-memory", "SharedMemoryBuffer", runtime::Stage::Llir},
    {"allocate-shared-memory", "SharedMemory", runtime::Stage::Llir},
    {"more-warps", "MoreWarps", runtime::Stage::Ttgir},
    {"more-warps", "WarpsDoubled", runtime::Stage::Asm},
    {"fewer-warps", "FewerWarps", runtime::Stage::Ttgir},
    {"fewer-stages", "FewerStages", runtime::Stage::Asm},
    {"codegen", "NotOptimized", runtime::Stage::Asm},
    {"codegen", "PrioritiesRaised", runtime::Stage::Asm},
    {"codegen", "WavesAlternate", runtime::Stage::Asm},
    {"codegen", "DotsSerialized", runtime::Stage::Object},
    {"codegen", "Resources", runtime::Stage::Object},
};

/// What to write instead of an unknown option.
static std::string hint(const CLI::App &app, llvm::StringRef option, llvm::ArrayRef<llvm::StringRef> names) {
  if (option.ltrim('-').starts_with("O") && app.get_option_no_throw("--O0")) return "; the levels are -O0 to -O3";
  return suggest(option, names);
}

static std::string describe(const CLI::App &app, const CLI::ParseError &e) {
  std::string message = e.what();
  if (message.empty()) return "wrong arguments";
  // An unknown option is reported even if a required argument is missing, too.
  bool extras = e.get_exit_code() == int(CLI::ExitCodes::ExtrasError) ||
                (e.get_exit_code() == int(CLI::ExitCodes::RequiredError) && app.remaining_size());
  if (!extras) {
    llvm::StringRef text = message;
    if (text.consume_front("Could not convert: ")) { // NAME = VALUE
      auto [name, value] = text.split(" = ");
      auto *option = app.get_option_no_throw(name.str());
      bool isFlag = option && option->get_items_expected_max() == 0;
      return (name + (isFlag ? " takes no value, and has '" : " needs a number, not '") + value + "'").str();
    }
    // "NAME: 1 required TEXT missing" and "NAME: At Most 1 required but received 2"
    auto [name, what] = text.split(": ");
    if (what.starts_with("1 required")) return (name + " needs a value").str();
    if (what.starts_with("At Most 1")) return (name + " is given more than once").str();
    return text.rtrim(".\n").str();
  }
  std::string text;
  bool isAfterDashes = false; // what follows `--` is positional, whatever it looks like
  for (auto &extra : app.remaining()) {
    if (extra == "--") {
      isAfterDashes = true;
      continue;
    }
    std::vector<std::string> longNames;
    for (auto *o : app.get_options())
      for (auto &n : o->get_lnames()) longNames.push_back("--" + n);
    std::vector<llvm::StringRef> names(longNames.begin(), longNames.end());
    auto name = llvm::StringRef(extra).split('=').first;
    bool option = name.starts_with("-") && name != "-";
    if (!text.empty()) text += "\ntessera: error: ";
    if (option && isAfterDashes)
      return text + "'" + name.str() + "' follows `--`, after which nothing is an option; write options before it";
    text += (option ? "unknown option '" : "unexpected argument '") + name.str() + "'" +
            (option ? hint(app, name, names) : "");
    if (option && !llvm::StringRef(extra).contains('=')) break; // what follows may have been its value
  }
  return text;
}

/// Which passes a regular expression (empty: none) selects by name.
static std::function<bool(llvm::StringRef)> nameMatcher(const std::string &pattern) {
  if (pattern.empty()) return nullptr;
  return [re = std::make_shared<RE2>(pattern, RE2::Quiet)](llvm::StringRef name) {
    return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *re);
  };
}

std::function<std::string(const std::string &)> wholeNumber(int64_t least, int64_t most) {
  return [=](const std::string &s) -> std::string {
    int64_t v;
    bool isNumber = !llvm::StringRef(s).getAsInteger(10, v);
    if (isNumber && v >= least && v <= most) return "";
    bool isTooLarge = isNumber ? v > most : !s.empty() && llvm::all_of(s, llvm::isDigit);
    return "must be a whole number from " + std::to_string(least) +
           (most < INT32_MAX || isTooLarge ? " to " + std::to_string(most) : " up") + ", not '" + s + "'";
  };
}

std::function<std::string(const std::string &)> oneOf(llvm::StringRef first, llvm::StringRef second) {
  return [=](const std::string &s) -> std::string {
    if (s == first || s == second) return "";
    return ("must be " + first + " or " + second + ", not '" + s + "'").str();
  };
}

/// What keeps a folder from getting a new file, or nothing.
static std::error_code whyNotWritable(const std::string &folder) {
  namespace fs = llvm::sys::fs;
  if (!fs::exists(folder)) return std::make_error_code(std::errc::no_such_file_or_directory);
  if (!fs::is_directory(folder)) return std::make_error_code(std::errc::not_a_directory);
  return fs::access(folder, fs::AccessMode::Write);
}

/// Whether two paths name one file, which need not exist.
static bool isSameFile(const std::string &a, const std::string &b) {
  namespace fs = llvm::sys::fs;
  auto absolute = [](const std::string &path) {
    llvm::SmallString<128> p(path);
    fs::make_absolute(p);
    llvm::sys::path::remove_dots(p, /*remove_dot_dot=*/true);
    return p;
  };
  return absolute(a) == absolute(b) || fs::equivalent(a, b);
}

int checkInputsAreKept(const std::vector<OutputOption> &outputs, const std::vector<std::string> &inputs) {
  for (auto &o : outputs) {
    if (o.path.empty() || o.path == "-" || !llvm::sys::fs::is_regular_file(o.path)) continue;
    for (auto &input : inputs)
      if (isSameFile(input, o.path))
        return fail(kUsage, llvm::Twine(o.option) + " would overwrite the input '" + input + "'");
  }
  return kOk;
}

int checkOutputFiles(const std::vector<OutputOption> &outputs, const std::vector<std::string> &inputs) {
  namespace fs = llvm::sys::fs;
  for (auto &o : outputs) {
    if (o.path.empty()) continue;
    for (const OutputOption *other = outputs.data(); other != &o; ++other)
      if (!other->path.empty() && isSameFile(other->path, o.path) && o.path != "/dev/null")
        return fail(kUsage, llvm::Twine(other->option) + " and " + o.option + " cannot both write to " +
                                (o.path == "-" ? "standard output" : "'" + o.path + "'"));
    if (o.path == "-") continue;
    if (int code = checkInputsAreKept({o}, inputs)) return code;
    std::error_code problem;
    if (fs::is_directory(o.path))
      problem = std::make_error_code(std::errc::is_a_directory);
    else if (fs::exists(o.path))
      problem = fs::access(o.path, fs::AccessMode::Write);
    else {
      auto folder = llvm::sys::path::parent_path(o.path).str();
      problem = whyNotWritable(folder.empty() ? "." : folder);
    }
    if (problem) return fail(kRunFailed, o.path + ": " + problem.message());
  }
  return kOk;
}

int checkOutputFolder(const std::string &path) {
  if (path.empty()) return kOk;
  std::string existing = path;
  while (!existing.empty() && !llvm::sys::fs::exists(existing)) existing = llvm::sys::path::parent_path(existing).str();
  if (auto problem = whyNotWritable(existing.empty() ? "." : existing))
    return fail(kRunFailed, path + ": " + problem.message());
  return kOk;
}

/// The arguments after the program's name, the last one first, as CLI11 takes them. `-o=FILE` means `-o FILE`, as for
/// LLVM's tools; to CLI11 the file would be `=FILE`.
static std::vector<std::string> reversedArguments(int argc, char **argv) {
  std::vector<std::string> arguments;
  bool isAfterDashes = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef a = argv[i];
    isAfterDashes |= a == "--";
    bool hasValue = !isAfterDashes && a.size() >= 3 && a[0] == '-' && llvm::isAlpha(a[1]) && a[2] == '=';
    if (hasValue) arguments.push_back(a.take_front(2).str());
    arguments.push_back(a.drop_front(hasValue ? 3 : 0).str());
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

namespace {

/// `--remarks[=RE]` for an option whose value may be left out, where CLI11 writes `--remarks{.} [=RE]`.
class HelpFormatter : public CLI::Formatter {
  std::string make_option_name(const CLI::Option *o, bool isPositional) const override {
    std::string name = CLI::Formatter::make_option_name(o, isPositional);
    return hasOptionalValue(*o) ? name.substr(0, name.find('{')) + o->get_option_text() : name;
  }
  std::string make_option_opts(const CLI::Option *o) const override {
    return hasOptionalValue(*o) ? "" : CLI::Formatter::make_option_opts(o);
  }
  static bool hasOptionalValue(const CLI::Option &o) { return !o.get_fnames().empty(); }
};

} // namespace

std::optional<int> parseArguments(CLI::App &app, int argc, char **argv) {
  auto usageError = [&](const std::string &message) {
    fail(kUsage, message);
    llvm::errs() << "see `" << app.get_name() << " --help`\n";
    return kUsage;
  };
  app.formatter(std::make_shared<HelpFormatter>());
  try {
    app.parse(reversedArguments(argc, argv));
  } catch (const CLI::CallForHelp &) {
    llvm::outs() << app.help();
    return kOk;
  } catch (const CLI::ParseError &e) {
    return usageError(describe(app, e));
  }
  // `--emit ""`, which a script's empty variable makes, is the same as `--emit=`; it would read as if the option were
  // absent, and `--cache=` as if it had no value.
  for (auto *o : app.get_options())
    if (llvm::is_contained(o->results(), "")) return usageError(o->get_name() + " needs a value");
  for (llvm::StringRef a : llvm::ArrayRef(argv, argc).drop_front()) {
    if (a == "--") break;
    if (a.consume_back("=") && app.get_option_no_throw(a.str()))
      return usageError(a.str() + " needs a value after '='");
  }
  return std::nullopt;
}

std::optional<int> parseArguments(CLI::App &app, std::vector<std::string> arguments) {
  std::vector<char *> argv;
  for (auto &a : arguments) argv.push_back(a.data());
  return parseArguments(app, int(argv.size()), argv.data());
}

bool PassFlags::apply(transforms::RunOptions &o) {
  std::vector<llvm::StringRef> names;
  for (auto &p : transforms::allPasses()) names.push_back(p.name);
  for (auto &s : skip) {
    if (transforms::findPass(s)) continue;
    fail(kUsage, "--skip-pass: unknown pass '" + s + "'" + suggest(s, names));
    return false;
  }
  for (auto &[flag, pattern] :
       {std::pair<const char *, std::string &>("--print-ir-before", before), {"--print-ir-after", after}}) {
    if (pattern.empty()) continue;
    RE2 re(pattern, RE2::Quiet);
    if (!re.ok()) {
      fail(kUsage, llvm::Twine(flag) + ": bad regular expression '" + pattern + "': " + re.error());
      return false;
    }
    bool any = false;
    for (auto n : names) any |= RE2::PartialMatch(re2::StringPiece(n.data(), n.size()), re);
    if (any) continue;
    fail(kUsage, llvm::Twine(flag) + ": no pass has a name that matches '" + pattern + "'" + suggest(pattern, names));
    return false;
  }
  bool wantsRemarks = !remarks.empty();
  if (wantsRemarks || !remarksFile.empty()) {
    auto filter = std::make_shared<RE2>(remarks.empty() ? "." : remarks, RE2::Quiet);
    if (!filter->ok()) {
      fail(kUsage, "--remarks: bad regular expression '" + remarks + "': " + filter->error());
      return false;
    }
    auto known = matchingRemarks();
    if (known.empty()) {
      std::vector<llvm::StringRef> remarkNames;
      for (auto &r : kRemarks) {
        remarkNames.push_back(r.name);
        remarkNames.push_back(r.pass);
      }
      fail(kUsage,
           "--remarks: no remark has a PASS:NAME that matches '" + remarks + "'" + suggest(remarks, remarkNames));
      return false;
    }
    o.remarks = [this, filter, wantsRemarks](const transforms::Remark &r) {
      if (!RE2::PartialMatch(r.pass + ":" + r.name, *filter)) return;
      if (wantsRemarks) llvm::errs() << toText(r) << "\n";
      if (!remarksFile.empty()) remarkList.push_back(toJson(r));
    };
  }
  o.skip = skip;
  o.printBefore = nameMatcher(beforeAll ? "." : before);
  o.printAfter = nameMatcher(after);
  o.printAfterAll = afterAll;
  o.verifyEach = verifyEach;
  o.bisectLimit = bisectLimit;
  o.dump = [](llvm::StringRef s) { llvm::errs() << s; };
  if (time) o.timings = &timings;
  return true;
}

llvm::SmallVector<const KnownRemark *, 12> PassFlags::matchingRemarks() const {
  RE2 filter(remarks.empty() ? "." : remarks, RE2::Quiet);
  llvm::SmallVector<const KnownRemark *, 12> found;
  for (auto &r : kRemarks)
    if (RE2::PartialMatch((r.pass + ":" + r.name).str(), filter)) found.push_back(&r);
  return found;
}

void PassFlags::warnOfLaterRemarks(runtime::Stage last, const ir::TargetInfo &target) const {
  if (remarks.empty()) return;
  const KnownRemark *earliest =
      *llvm::min_element(matchingRemarks(), [](auto *a, auto *b) { return a->stage < b->stage; });
  if (earliest->stage <= last) return;
  llvm::errs() << "tessera: warning: --remarks: what matches is reported by " << earliest->pass << ", from --emit "
               << runtime::stageName(earliest->stage, target) << " on; --emit " << runtime::stageName(last, target)
               << " ends before\n";
}

void PassFlags::addRemarks(CLI::App &app) {
  app.add_flag("--remarks{.}", remarks,
               "say what passes did and what they could not do, and why; RE: only remarks whose PASS:NAME matches")
      ->option_text("[=RE]");
  app.add_option("--remarks-json", remarksFile, "write the remarks to a file, as JSON");
}

bool PassFlags::writeRemarks() const {
  if (remarksFile.empty()) return true;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Array(remarkList)));
  return writeOutput(remarksFile, text);
}

void PassFlags::printTimings() const {
  if (!time) return;
  for (auto &p : timings)
    llvm::errs() << llvm::formatv("{0,8:f3} ms  pass {1}{2}\n", p.ms, p.name, p.changed ? "" : " (no change)");
}

std::function<std::string(const std::string &)> valueOf(const runtime::KernelOption &option) {
  return [&option](const std::string &s) -> std::string {
    int64_t v;
    bool isAllowed = !llvm::StringRef(s).getAsInteger(10, v) && option.allows(v);
    return isAllowed ? "" : "must be " + option.allowed() + ", not '" + s + "'";
  };
}

void addKernelOptions(CLI::App &app, runtime::KernelConfig &config) {
  for (auto &option : runtime::kernelOptions()) {
    std::string help = option.help.str() + " (default " + std::to_string(option.initial) + ")";
    app.add_option(option.flag.str(), config.*option.field, help)->check(valueOf(option));
  }
}

void warnOfUnreadOptions(const CLI::App &app, const ir::TargetInfo &target) {
  for (auto &option : runtime::kernelOptions())
    if (app.count(option.flag.str()) && !option.isReadBy(target))
      llvm::errs() << "tessera: warning: " << option.flag << " does nothing on " << target.name << "\n";
}

void addExactNumWarps(CLI::App &app, bool &exact) {
  app.add_flag("--exact-num-warps", exact,
               "no more warps than requested: none to avoid spills, and none that only issues copies");
}

void addNoTensorMemory(CLI::App &app, bool &tensorMemory) {
  app.add_flag_callback(
      "--no-tensor-memory", [&tensorMemory] { tensorMemory = false; }, "sm_100a: dots by mma.sync instead of tcgen05");
}

void NumberFlags::add(CLI::App &app) {
  for (auto [option, value] : llvm::zip_equal(runtime::kernelOptions(), values))
    app.add_option(option.flag.str(), value, option.help.str() + ", instead of the description's")
        ->check(valueOf(option));
  addExactNumWarps(app, exactNumWarps);
  addNoTensorMemory(app, tensorMemory);
}
void NumberFlags::apply(runtime::CompileOptions &o) const {
  for (auto [option, value] : llvm::zip_equal(runtime::kernelOptions(), values))
    if (value) o.*option.field = *value;
  o.exactNumWarps = exactNumWarps;
  o.tensorMemory = tensorMemory;
}

void CacheFlags::add(CLI::App &app) {
  app.add_flag("--cache{.default}", directory,
               "use the cache of compiled kernels in TESSERA_CACHE_DIR, else in the user's cache folder; "
               "DIR: in this folder")
      ->option_text("[=DIR]");
  app.add_flag("--no-cache", off, "do not use it, even if TESSERA_CACHE_DIR is set");
}

int cacheLimit(uint64_t &bytes) {
  bytes = runtime::CompileCacheOptions().directoryBytes;
  const char *variable = std::getenv("TESSERA_CACHE_BYTES");
  if (!variable || !*variable) return kOk;
  auto n = parseBytes(variable);
  if (!n)
    return fail(kUsage, llvm::Twine("TESSERA_CACHE_BYTES must be a number of bytes such as 500M or 2G, not '") +
                            variable + "'");
  bytes = *n;
  return kOk;
}

int CacheFlags::open(std::unique_ptr<runtime::CompileCache> &cache) const {
  runtime::CompileCacheOptions o;
  o.memoryBytes = 0;
  const char *variable = std::getenv("TESSERA_CACHE_DIR");
  bool byVariable = variable && *variable;
  if (off && !directory.empty()) return fail(kUsage, "--cache and --no-cache exclude each other");
  if (!off && (byVariable || !directory.empty())) {
    o.directory = directory.empty() || directory == ".default" ? runtime::defaultCacheDirectory() : directory;
    if (o.directory.empty())
      return fail(kUsage, "--cache: neither TESSERA_CACHE_DIR nor HOME is set, so it needs a folder: --cache=DIR");
    if (int code = cacheLimit(o.directoryBytes)) return code;
  }
  cache = std::make_unique<runtime::CompileCache>(std::move(o));
  return kOk;
}

void CacheFlags::warn(const runtime::CompileCache &cache) {
  if (auto p = cache.problem(); !p.empty()) llvm::errs() << "tessera: warning: the kernel is not kept: " << p << "\n";
}

std::optional<uint64_t> parseBytes(llvm::StringRef s) {
  unsigned shift = 0;
  if (s.consume_back_insensitive("K"))
    shift = 10;
  else if (s.consume_back_insensitive("M"))
    shift = 20;
  else if (s.consume_back_insensitive("G"))
    shift = 30;
  uint64_t n;
  if (s.getAsInteger(10, n) || n > UINT64_MAX >> shift) return std::nullopt;
  return n << shift;
}

std::string formatBytes(uint64_t n) {
  if (n < 1024) return llvm::formatv("{0} B", n);
  if (n < 1024 * 1024) return llvm::formatv("{0:f1} KiB", n / 1024.0);
  if (n < 1024 * 1024 * 1024) return llvm::formatv("{0:f1} MiB", n / 1048576.0);
  return llvm::formatv("{0:f1} GiB", n / 1073741824.0);
}

} // namespace tessera::tools
