// The C API (see tessera.h) on top of runtime::compile and transforms::runPipeline. Each call has a context of its own.
#include "capi/tessera.h"
#include "codegen_amd/backend.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/printer.h"
#include "llvm/Support/MathExtras.h"
#include "runtime/compiler.h"
#include "runtime/targets.h"
#include <cstring>
#include <mutex>

using namespace tessera;

struct tessera_result {
  std::string data, metadata;
};

namespace {

/// Says what happened to the caller's handler, as a diagnostic.
class Reporter {
public:
  Reporter(tessera_handler handler, void *user)
      : handler_(handler), user_(user), engine([this](const ir::Diagnostic &d) { take(d); }) {}

  tessera_status fail(tessera_status status, const llvm::Twine &message, llvm::StringRef file = "") {
    ir::Diagnostic d;
    d.message = message.str();
    d.position.file = file.str();
    engine.report(std::move(d));
    return status;
  }

private:
  void take(const ir::Diagnostic &d) {
    if (!handler_) return;
    auto source = d.loc.source();
    bool known = !d.position.line && source.kind() == ir::LocationKind::FileLineCol;
    std::string file = known ? source.file().str() : d.position.file, text = ir::render(d);
    tessera_diagnostic out{tessera_severity(int(d.severity)), d.message.c_str(), file.c_str(), known ? source.line() : d.position.line, known ? source.col() : d.position.col, text.c_str()};
    handler_(&out, user_);
  }
  tessera_handler handler_;
  void *user_;

public:
  ir::DiagnosticEngine engine;
};
static_assert(int(ir::Severity::Error) == TESSERA_ERROR && int(ir::Severity::Warning) == TESSERA_WARNING && int(ir::Severity::Remark) == TESSERA_REMARK && int(ir::Severity::Note) == TESSERA_NOTE);

llvm::StringRef orEmpty(const char *s) { return s ? s : ""; }

/// What both entries do first; OK if the text can be read.
tessera_status begin(Reporter &r, const char *text, size_t length, tessera_result **result) {
  static std::once_flag once;
  std::call_once(once, amd::setSchedulerOptions);
  if (!result) return r.fail(TESSERA_USAGE, "there is no place for the result");
  *result = nullptr;
  if (!text && length) return r.fail(TESSERA_USAGE, "the text is null");
  return TESSERA_OK;
}

} // namespace

void tessera_options_init(tessera_options *o, size_t size) {
  tessera_options defaults{};
  defaults.size = size;
  defaults.num_warps = 4, defaults.num_stages = 3, defaults.num_ctas = 1;
  defaults.opt_level = 3, defaults.fp_fusion = 1;
  if (o) std::memcpy(o, &defaults, std::min(size, sizeof defaults));
}

tessera_status tessera_compile(const char *text, size_t length, const char *file_name, const tessera_options *given, tessera_handler handler, void *user, tessera_result **result) {
  Reporter r(handler, user);
  if (auto s = begin(r, text, length, result)) return s;
  tessera_options options;
  tessera_options_init(&options, sizeof options);
  if (given) {
    if (given->size < sizeof given->size || given->size > 4096) return r.fail(TESSERA_USAGE, "the options were not made by tessera_options_init");
    std::memcpy(&options, given, std::min(given->size, sizeof options)); // a program built with another version has fewer or more
  }
  if (!options.target) return r.fail(TESSERA_USAGE, "a target is needed");
  auto target = runtime::requireTarget(options.target);
  if (!target.ok()) return r.fail(TESSERA_USAGE, std::string(target.status().message()));
  runtime::CompileOptions o;
  if (options.stage) {
    auto stage = runtime::parseStage(options.stage, **target);
    if (!stage.ok()) return r.fail(TESSERA_USAGE, std::string(stage.status().message()));
    o.stage = *stage;
  }
  for (auto [name, value] : {std::pair("num_warps", options.num_warps), std::pair("num_ctas", options.num_ctas)})
    if (value < 1 || !llvm::isPowerOf2_32(value)) return r.fail(TESSERA_USAGE, llvm::Twine(name) + " must be a power of two, not " + llvm::Twine(value));
  if (options.num_stages < 1) return r.fail(TESSERA_USAGE, "num_stages must be at least 1, not " + llvm::Twine(options.num_stages));
  if (options.opt_level < 0 || options.opt_level > 3) return r.fail(TESSERA_USAGE, "opt_level must be 0 to 3, not " + llvm::Twine(options.opt_level));
  o.numWarps = options.num_warps, o.numStages = options.num_stages, o.numCtas = options.num_ctas;
  o.optLevel = options.opt_level, o.fpFusion = options.fp_fusion, o.lineInfo = options.line_info;
  o.kernel = orEmpty(options.kernel).str();

  ir::Context context;
  std::string file = file_name ? file_name : "<text>";
  auto module = frontend::parseModule(llvm::StringRef(text, length), file, context, r.engine, {.locateByText = o.stage > runtime::Stage::Ttgir});
  if (!module) return TESSERA_INPUT;
  auto compiled = runtime::compile(*module, **target, o, r.engine);
  if (!compiled.ok()) {
    bool input = absl::IsInvalidArgument(compiled.status()) || absl::IsResourceExhausted(compiled.status());
    if (!r.engine.errors()) r.fail(TESSERA_FAILED, std::string(compiled.status().message()), input ? file : "");
    return input ? TESSERA_INPUT : TESSERA_FAILED;
  }
  *result = new tessera_result{std::move(compiled->output), runtime::toJson(compiled->metadata)};
  return TESSERA_OK;
}

tessera_status tessera_run_passes(const char *text, size_t length, const char *file_name, const char *const *passes, size_t count, const char *target, tessera_handler handler, void *user, tessera_result **result) {
  Reporter r(handler, user);
  if (auto s = begin(r, text, length, result)) return s;
  transforms::RunOptions run;
  run.findTarget = runtime::findTarget;
  if (target) {
    auto t = runtime::requireTarget(target);
    if (!t.ok()) return r.fail(TESSERA_USAGE, std::string(t.status().message()));
    run.target = *t;
  }
  transforms::Pipeline pipeline;
  for (size_t i = 0; i < count; ++i) {
    auto [name, passOptions] = orEmpty(passes ? passes[i] : nullptr).split('=');
    auto *pass = transforms::findPass(name);
    if (!pass) return r.fail(TESSERA_USAGE, "unknown pass '" + name + "'");
    auto step = transforms::parseStep(*pass, passOptions);
    if (!step.ok()) return r.fail(TESSERA_USAGE, std::string(step.status().message()));
    pipeline.push_back(*std::move(step));
  }
  ir::Context context;
  auto module = frontend::parseModule(llvm::StringRef(text, length), file_name ? file_name : "<text>", context, r.engine);
  if (!module) return TESSERA_INPUT;
  if (auto s = transforms::runPipeline(*module, pipeline, run, r.engine); !s.ok()) {
    if (!r.engine.errors()) r.fail(TESSERA_INPUT, std::string(s.message()));
    // A pass asked for an option's value and could not use it.
    return llvm::any_of(pipeline, [](auto &step) { return !step.options.problem.empty(); }) ? TESSERA_USAGE : TESSERA_INPUT;
  }
  *result = new tessera_result{ir::printToString(*module), ""};
  return TESSERA_OK;
}

const char *tessera_result_data(const tessera_result *r, size_t *length) {
  if (length) *length = r ? r->data.size() : 0;
  return r ? r->data.c_str() : "";
}
const char *tessera_result_metadata(const tessera_result *r) { return r ? r->metadata.c_str() : ""; }
void tessera_result_destroy(tessera_result *r) { delete r; }

const char *tessera_version() { return TESSERA_VERSION_TEXT; }
const char *tessera_target(size_t index) {
  static const auto targets = runtime::allTargets();
  return index < targets.size() ? targets[index]->info.name.data() : nullptr;
}
