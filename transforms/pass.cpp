// Running pipelines (see pass.h): around every pass verification, dumps, timing, skipping, bisection and reproducers.
#include "transforms/pass.h"
#include "ir/module_attributes.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "ir/write_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

namespace tessera::transforms {
using namespace ir;

const PassInfo *findPass(llvm::StringRef name) {
  for (auto &p : allPasses())
    if (p.name == name) return &p;
  return nullptr;
}

const PassInfo &passOf(AnyFunction function) {
  for (auto &p : allPasses())
    if (p.function == function) return p;
  llvm::reportFatalInternalError("a pipeline has a pass that is not registered");
}

absl::StatusOr<PipelineStep> parseStep(const PassInfo &pass, llvm::StringRef options) {
  PipelineStep s{&pass, {}};
  llvm::SmallVector<llvm::StringRef, 4> parts;
  options.trim("'\" {}").split(parts, ' ', -1, false);
  for (auto part : parts) {
    auto [name, value] = part.split('=');
    const auto *option = llvm::find_if(pass.options, [&](const PassOption &o) { return o.name == name; });
    if (option == pass.options.end()) {
      if (pass.options.empty()) return absl::InvalidArgumentError("pass '" + pass.name.str() + "' takes no options");
      auto known = llvm::map_range(pass.options, [](const PassOption &o) { return o.spelling(); });
      return absl::InvalidArgumentError(
          llvm::formatv("pass '{0}' has no option '{1}'; it has: {2}", pass.name, name, llvm::join(known, " ")).str());
    }
    OptionValue read;
    if (auto status = option->range.read(name, value, read); !status.ok())
      return absl::InvalidArgumentError("pass '" + pass.name.str() + "': " + std::string(status.message()));
    option->set(s.options, read);
  }
  return s;
}

static std::string commandLine(const Pipeline &p, size_t from) {
  std::string s;
  for (size_t i = from; i < p.size(); ++i) {
    s += " -" + p[i].pass->name.str();
    std::string options = writeOptions(p[i].pass->options, p[i].options);
    if (!options.empty()) s += "=\"" + options + "\"";
  }
  return s;
}

namespace {

/// One run of a pipeline: its state between the steps.
class PipelineRun {
public:
  PipelineRun(Module &m, const Pipeline &pipeline, const RunOptions &options, DiagnosticEngine &diag)
      : module_(m), pipeline_(pipeline), options_(options), diag_(diag) {}

  absl::Status run() {
    for (size_t i = 0; i < pipeline_.size(); ++i)
      if (!leftOut(*pipeline_[i].pass))
        if (auto status = runStep(i); !status.ok()) return status;
    return absl::OkStatus();
  }

private:
  void dump(llvm::StringRef when, llvm::StringRef pass) {
    if (!options_.dump) return;
    options_.dump(("// -----// IR " + when + " " + pass + " //----- //\n" + printToString(module_) + "\n").str());
  }

  /// By --skip-pass or --bisect-limit.
  bool leftOut(const PassInfo &pass) {
    if (llvm::is_contained(options_.skip, pass.name.str())) return true;
    if (options_.bisectLimit < 0 || pass.required) return false;
    bool runs = ++options_.bisectDone <= options_.bisectLimit;
    if (options_.dump)
      options_.dump(
          llvm::formatv("bisect: {0} {1} {2}\n", options_.bisectDone, runs ? "runs" : "leaves out", pass.name).str());
    return !runs;
  }

  absl::Status runStep(size_t index) {
    const PassInfo &pass = *pipeline_[index].pass;
    if (options_.printBefore && options_.printBefore(pass.name)) dump("Dump Before", pass.name);
    if (options_.hook) options_.hook(pass, module_, true);
    std::string before = options_.reproducerPath.empty() ? "" : printToString(module_);
    unsigned errors = diag_.errors();

    auto start = std::chrono::steady_clock::now();
    absl::StatusOr<bool> changed =
        stagesHold(pass) ? runPass(pipeline_[index]) : absl::InvalidArgumentError("the pass needs another stage");
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (options_.timings) options_.timings->push_back({pass.name.str(), ms, changed.ok() && *changed});

    absl::Status status = changed.status();
    if (status.ok()) established_ |= pass.establishes;
    if (status.ok() && options_.verifyEach &&
        !(verify(module_, diag_) && verifyStages(module_, established_ | checked_, diag_)))
      status = absl::InternalError(llvm::formatv("the IR is invalid after pass '{0}'", pass.name).str());
    if (!status.ok()) {
      reportFailure(index, before, status, /*reported=*/diag_.errors() != errors);
      return status;
    }
    if (options_.hook) options_.hook(pass, module_, false);
    bool printAfter = options_.printAfterAll || (options_.printAfter && options_.printAfter(pass.name));
    if (printAfter) dump("Dump After", pass.name);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> runPass(const PipelineStep &step) {
    std::function<void(Remark)> remarks;
    if (options_.remarks)
      remarks = [&](Remark r) {
        r.pass = step.pass->name.str();
        options_.remarks(r);
      };
    PassContext context{options_.target, diag_, &remarks};
    if (!context.target && options_.findTarget)
      if (auto name = module_.op()->attr<StringAttr>(kTargetAttr)) context.target = options_.findTarget(name.value());
    return step.pass->run(module_, step.options, context);
  }

  /// Whether the module is at the stages that the pass needs; reports the first operation that is not. No pass takes a
  /// stage away, so each is checked once in a run.
  bool stagesHold(const PassInfo &pass) {
    for (IrStage stage : allIrStages()) {
      if (!pass.needs.has(stage) || checked_.has(stage)) continue;
      if (Operation *op = firstContradicting(module_, stage)) {
        reportMissingStage(pass, stage, op);
        return false;
      }
      checked_ |= stage;
    }
    return true;
  }

  void reportMissingStage(const PassInfo &pass, IrStage stage, Operation *op) {
    Diagnostic d;
    d.loc = op->loc();
    d.op = op;
    d.message = llvm::formatv("'{0}' {1}", op->name(), contradictionOf(stage));
    if (stage == IrStage::LayoutsAssigned && hasLayouts(module_.op()))
      d.message += llvm::formatv(", but the module has '{0}', so that all of its tensors need one; pass '{1}' works on "
                                 "layouts",
                                 kNumWarpsAttr, pass.name);
    else if (stage == IrStage::LayoutsAssigned)
      d.message += llvm::formatv(", and pass '{0}' works on layouts; run {1} first", pass.name, establisherOf(stage));
    else if (stage == IrStage::WarpGroupsAllocated)
      d.message += llvm::formatv(", which pass '{0}' needs; run {1} first", pass.name, establisherOf(stage));
    else
      d.message += llvm::formatv(", and pass '{0}' needs one; run {1} first", pass.name, establisherOf(stage));
    diag_.report(std::move(d));
  }

  static llvm::StringRef establisherOf(IrStage stage) {
    for (auto &pass : allPasses())
      if (pass.establishes.has(stage)) return pass.name;
    return "";
  }

  /// Reports what the pass did not report itself, names the pass and writes the reproducer.
  void reportFailure(size_t index, const std::string &before, const absl::Status &status, bool reported) {
    Diagnostic d;
    d.severity = Severity::Note;
    d.message =
        llvm::formatv("in pass '{0}' (step {1} of {2})", pipeline_[index].pass->name, index + 1, pipeline_.size());
    if (!options_.reproducerPath.empty()) {
      const std::string &path = options_.reproducerPath;
      std::string command = "// tessera opt " + path + commandLine(pipeline_, index) + "\n";
      std::error_code ec = writeFile(path, {command, before});
      d.message += ec ? "; the IR before it could not be written: " + path + ": " + ec.message()
                      : "; the IR before it is in " + path;
    }
    if (!reported) {
      Diagnostic e;
      e.message = std::string(status.message());
      diag_.report(std::move(e));
    }
    diag_.report(std::move(d));
  }

  Module &module_;
  const Pipeline &pipeline_;
  const RunOptions &options_;
  DiagnosticEngine &diag_;
  IrStages established_; // by passes of this run
  IrStages checked_;     // before a pass that needs them
};

} // namespace

bool hasNoObservers(const RunOptions &o) {
  return !o.remarks && !o.hook && !o.timings && !o.verifyEach && !o.printAfterAll && !o.printBefore && !o.printAfter &&
         o.skip.empty() && o.bisectLimit < 0 && o.reproducerPath.empty();
}

absl::Status runPipeline(Module &m, const Pipeline &pipeline, const RunOptions &o, DiagnosticEngine &diag) {
  return PipelineRun(m, pipeline, o, diag).run();
}

} // namespace tessera::transforms
