// Running pipelines (see pass.h): the one place where passes meet verification, dumps, timing, skipping, bisection and
// reproducers.
#include "transforms/pass.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
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
      auto known = llvm::map_range(pass.options, [](const PassOption &o) { return o.spelling(); });
      return absl::InvalidArgumentError(llvm::formatv("pass '{0}' has no option '{1}'; it has: {2}", pass.name, name,
                                                      pass.options.empty() ? "none" : llvm::join(known, " "))
                                            .str());
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

/// The first operation that makes, takes or gives a tensor without a layout. A module may say that its tensors have
/// them (`ttg.num-warps`) and hold functions without any: the verifier lets those be, since passes on TTIR may still
/// run there.
static Operation *firstWithoutLayout(Module &m) {
  Operation *found = nullptr;
  auto bare = [](Type t) { return t.isTensor() && !t.cast<TensorType>().encoding(); };
  m.op()->walk([&](Operation *op) {
    if (found) return;
    for (auto r : op->results())
      if (bare(r.type())) found = op;
    if (auto f = op->dyn<tt::FuncOp>()) {
      auto type = f.functionType().cast<FunctionType>();
      for (unsigned i = 0; i < type.numInputs(); ++i)
        if (bare(type.input(i))) found = op;
      for (unsigned i = 0; i < type.numResults(); ++i)
        if (bare(type.result(i))) found = op;
    }
    for (auto &region : op->regions())
      for (auto *b = region.front(); b; b = b->next())
        for (auto *a : b->args())
          if (bare(a->type)) found = op;
  });
  return found;
}

absl::Status runPipeline(Module &m, const Pipeline &pipeline, const RunOptions &o, DiagnosticEngine &diag) {
  auto dump = [&](llvm::StringRef when, llvm::StringRef pass) {
    if (o.dump) o.dump(("// -----// IR " + when + " " + pass + " //----- //\n" + printToString(m) + "\n").str());
  };
  bool layoutsChecked = false;
  for (size_t i = 0; i < pipeline.size(); ++i) {
    auto &[pass, options] = pipeline[i];
    if (llvm::is_contained(o.skip, pass->name.str())) continue;
    if (o.bisectLimit >= 0 && !pass->has(kRequired)) {
      bool runs = ++o.bisectDone <= o.bisectLimit;
      if (o.dump)
        o.dump(llvm::formatv("bisect: {0} {1} {2}\n", o.bisectDone, runs ? "runs" : "leaves out", pass->name).str());
      if (!runs) continue;
    }
    if (o.printBefore && o.printBefore(pass->name)) dump("Dump Before", pass->name);
    if (o.hook) o.hook(*pass, m, true);
    std::string before;
    if (!o.reproducerPath.empty()) before = printToString(m);
    unsigned errors = diag.errors();
    auto start = std::chrono::steady_clock::now();
    std::function<void(Remark)> remarks;
    if (o.remarks)
      remarks = [&, name = pass->name](Remark r) {
        r.pass = name.str();
        o.remarks(r);
      };
    PassContext context{o.target, diag, &remarks};
    if (!context.target && o.findTarget)
      if (auto name = m.op()->attr<StringAttr>(kTargetAttr)) context.target = o.findTarget(name.value());
    absl::StatusOr<bool> changed = false;
    // No pass takes layouts away: one look before the first that needs them is enough.
    bool look = pass->has(kNeedsLayouts) && !layoutsChecked;
    layoutsChecked |= look;
    if (Operation *bare = look ? firstWithoutLayout(m) : nullptr) {
      Diagnostic d;
      d.message = llvm::formatv(hasLayouts(m.op()) ? "'{0}' makes a tensor without a layout, but the module has '{2}', "
                                                     "so that all of its tensors need one; pass '{1}' works on layouts"
                                                   : "'{0}' makes a tensor without a layout, and pass '{1}' works on "
                                                     "layouts; run convert-triton-to-tritongpu first",
                                bare->name(), pass->name, kNumWarpsAttr);
      d.loc = bare->loc();
      d.op = bare;
      diag.report(std::move(d));
      changed = absl::InvalidArgumentError("the input has no layouts");
    } else
      changed = pass->run(m, options, context);
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (o.timings) o.timings->push_back({pass->name.str(), ms, changed.ok() && *changed});
    absl::Status status = changed.status();
    if (status.ok() && o.verifyEach && !verify(m, diag))
      status = absl::InternalError(llvm::formatv("the IR is invalid after pass '{0}'", pass->name).str());
    if (!status.ok()) {
      Diagnostic d;
      d.severity = Severity::Note;
      d.message = llvm::formatv("in pass '{0}' (step {1} of {2})", pass->name, i + 1, pipeline.size());
      if (!o.reproducerPath.empty()) {
        std::error_code ec;
        llvm::raw_fd_ostream f(o.reproducerPath, ec);
        if (!ec) {
          f << "// tessera opt " << o.reproducerPath << commandLine(pipeline, i) << "\n" << before;
          d.message += "; the IR before it is in " + o.reproducerPath;
        }
      }
      if (diag.errors() == errors) {
        Diagnostic e;
        e.message = std::string(status.message());
        diag.report(std::move(e));
      }
      diag.report(std::move(d));
      return status;
    }
    if (o.hook) o.hook(*pass, m, false);
    if (o.printAfterAll || (o.printAfter && o.printAfter(pass->name))) dump("Dump After", pass->name);
  }
  return absl::OkStatus();
}

} // namespace tessera::transforms
