// The C API (see tessera.h): errors, contexts, and compiling, on top of runtime::compile and transforms::runPipeline.
// Each compilation has an IR context of its own.
#include "capi/handles.h"
#include "codegen/object/fatal_errors.h"
#include "frontend/parser.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include <cstring>

using namespace tessera;
using namespace tessera::capi;

namespace tessera::capi {

/// Larger than any version of an options structure.
constexpr size_t kMaxOptionsBytes = 4096;

static_assert(int(ir::Severity::Error) == TESSERA_ERROR && int(ir::Severity::Warning) == TESSERA_WARNING &&
              int(ir::Severity::Remark) == TESSERA_REMARK && int(ir::Severity::Note) == TESSERA_NOTE);

void ContextState::report(const ir::Diagnostic &d, const std::string &version) const {
  if (!handler) return;
  auto source = d.loc.source();
  // A position in the text counts more than the location of the operation.
  bool useLocation = !d.position.line && source.kind() == ir::LocationKind::FileLineCol;
  std::string file = useLocation ? source.file().str() : d.position.file;
  std::string text = ir::render(d);
  tessera_diagnostic out{};
  out.severity = tessera_severity(int(d.severity));
  out.message = d.message.c_str();
  out.file = file.c_str();
  out.line = useLocation ? source.line() : d.position.line;
  out.column = useLocation ? source.col() : d.position.col;
  out.text = text.c_str();
  out.version = version.c_str();
  handler(&out, user);
}

Call::Call(const ContextState *context, tessera_error **error)
    : context_(context), error_(error), engine([this](const ir::Diagnostic &d) {
        if (d.severity == ir::Severity::Error) {
          if (collected_.message.empty()) collected_.message = llvm::StringRef(d.message).split('\n').first.str();
          collected_.text += ir::render(d);
        }
        if (context_) context_->report(d);
      }) {
  if (error_) *error_ = nullptr;
}

tessera_status Call::fail(tessera_status status, const llvm::Twine &message, llvm::StringRef file) {
  ir::Diagnostic d;
  d.message = message.str();
  d.position.file = file.str();
  engine.report(std::move(d));
  return end(status);
}

tessera_status Call::end(tessera_status status) {
  if (error_ && status) {
    collected_.status = status;
    *error_ = new tessera_error(std::move(collected_));
  }
  return status;
}

tessera_status readTarget(Call &call, const tessera_options *given, const ir::TargetInfo *&target) {
  target = nullptr;
  if (!given) return TESSERA_OK;
  if (given->size < offsetof(tessera_options, target) + sizeof given->target || given->size > kMaxOptionsBytes)
    return call.fail(TESSERA_USAGE, "the options were not made by tessera_options_init");
  if (!given->target) return TESSERA_OK;
  auto t = runtime::requireTarget(given->target);
  if (!t.ok()) return call.fail(t.status(), TESSERA_USAGE);
  target = *t;
  return TESSERA_OK;
}

/// What passes say of the code, as the program prints it.
static void reportRemark(Call &call, const transforms::Remark &r) {
  ir::Diagnostic d;
  d.severity = ir::Severity::Remark;
  d.loc = r.place.loc;
  d.message = transforms::messageWithName(r);
  call.report(d, r.place.version);
}

tessera_status readConfig(Call &call, const tessera_options &options, runtime::KernelConfig &config) {
#define KERNEL_OPTION(field, key, flag, initial, form, least, most, help, needs) config.field = options.key;
#include "runtime/options.def"
  for (auto &option : runtime::kernelOptions()) {
    auto problem = option.problem(config.*option.field);
    if (!problem.empty()) return call.fail(TESSERA_USAGE, option.key + " " + problem);
  }
  if (options.opt_level < 0 || options.opt_level > 3)
    return call.fail(TESSERA_USAGE, "opt_level must be 0 to 3, not " + llvm::Twine(options.opt_level));
  return TESSERA_OK;
}

tessera_status copyOptions(Call &call, const tessera_options *given, const ir::TargetInfo &target,
                           runtime::CompileOptions &o) {
  tessera_options options;
  tessera_options_init(&options, sizeof options);
  if (given)
    std::memcpy(&options, given,
                std::min(given->size, sizeof options)); // a program built with another version has fewer or more
  if (llvm::StringRef stage = orEmpty(options.stage); stage == "bitcode") {
    o.stage = runtime::Stage::Llir;
    o.bitcode = true;
    o.lineInfo = true;
    o.opNames = true;
  } else if (options.stage) {
    auto s = runtime::parseStage(stage, target);
    if (!s.ok()) return call.fail(s.status(), TESSERA_USAGE);
    o.stage = *s;
  }
  if (auto s = readConfig(call, options, o)) return s;
  o.optLevel = options.opt_level;
  o.exactNumWarps = options.exact_num_warps;
  o.tensorMemory = !options.no_tensor_memory;
  o.fpFusion = options.fp_fusion;
  o.lineInfo |= options.line_info != 0;
  o.keepTexts = options.keep_texts != 0;
  if (options.remarks) o.passes.remarks = [&call](const transforms::Remark &r) { reportRemark(call, r); };
  o.kernel = orEmpty(options.kernel).str();
  return TESSERA_OK;
}

tessera_status readOptions(Call &call, const tessera_options *given, const ir::TargetInfo &target,
                           runtime::CompileOptions &o) {
  if (auto s = copyOptions(call, given, target, o)) return s;
  if (auto s = runtime::checkOptions(target, o); !s.ok()) return call.fail(s, TESSERA_USAGE);
  if (auto s = runtime::checkEnvironment(target, o); !s.ok()) return call.fail(s, TESSERA_USAGE);
  return TESSERA_OK;
}

tessera_status compileText(Call &call, ContextState &state, llvm::StringRef text, const std::string &file,
                           const ir::TargetInfo &target, const runtime::CompileOptions &o,
                           runtime::CompileResult &out) {
  auto compiled = state.cache.compile(text, file, nullptr, target, o, call.engine);
  if (!compiled.ok()) {
    bool input = absl::IsInvalidArgument(compiled.status()) || absl::IsResourceExhausted(compiled.status());
    if (!call.engine.errors())
      return call.fail(input ? TESSERA_INPUT : TESSERA_FAILED, std::string(compiled.status().message()),
                       input ? file : "");
    return call.end(input ? TESSERA_INPUT : TESSERA_FAILED);
  }
  out = *std::move(compiled);
  return TESSERA_OK;
}

} // namespace tessera::capi

tessera_status tessera_error_status(const tessera_error *e) { return e ? e->status : TESSERA_OK; }
const char *tessera_error_message(const tessera_error *e) { return e ? e->message.c_str() : ""; }
const char *tessera_error_text(const tessera_error *e) { return e ? e->text.c_str() : ""; }
void tessera_error_destroy(tessera_error *e) { delete e; }

void tessera_context_options_init(tessera_context_options *o, size_t size) {
  runtime::CompileCacheOptions cache;
  tessera_context_options defaults{};
  defaults.size = size;
  defaults.cache_memory_bytes = cache.memoryBytes;
  defaults.cache_directory_bytes = cache.directoryBytes;
  if (o) std::memcpy(o, &defaults, std::min(size, sizeof defaults));
}

tessera_status tessera_context_create(const tessera_context_options *given, tessera_context **context,
                                      tessera_error **error) {
  tessera_context_options options;
  tessera_context_options_init(&options, sizeof options);
  // A size that no version of the structure has: the caller did not initialise it.
  bool initialised = !given || (given->size >= sizeof given->size && given->size <= kMaxOptionsBytes);
  if (given && initialised) std::memcpy(&options, given, std::min(given->size, sizeof options));
  runtime::CompileCacheOptions cache{orEmpty(options.cache_directory).str(), options.cache_memory_bytes,
                                     options.cache_directory_bytes};
  auto state = std::make_shared<ContextState>(std::move(cache));
  state->handler = options.handler;
  state->user = options.user;
  Call call(state.get(), error);
  if (!context) return call.fail(TESSERA_USAGE, "the out-parameter for the context is null");
  *context = nullptr;
  if (!initialised) return call.fail(TESSERA_USAGE, "the options were not made by tessera_context_options_init");
  *context = new tessera_context{std::move(state)};
  return TESSERA_OK;
}
void tessera_context_destroy(tessera_context *c) { delete c; }

tessera_status tessera_cache_count(tessera_context *context, tessera_cache_counts *counts, tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (counts) *counts = {};
  if (!context || !counts)
    return call.fail(TESSERA_USAGE, context ? "the out-parameter for the counts is null" : "the context is null");
  auto c = context->state->cache.counts();
  *counts = {c.memoryHits, c.directoryHits, c.misses, c.damaged, c.unwritten};
  return TESSERA_OK;
}
tessera_status tessera_cache_clear(tessera_context *context, tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (!context) return call.fail(TESSERA_USAGE, "the context is null");
  context->state->cache.clear();
  return TESSERA_OK;
}

/// The checks of functions that make a result from text.
static tessera_status checkText(Call &call, tessera_context *context, const char *text, size_t length,
                                tessera_result **result) {
  if (result) *result = nullptr;
  if (!context) return call.fail(TESSERA_USAGE, "the context is null");
  if (!result) return call.fail(TESSERA_USAGE, "the out-parameter for the result is null");
  if (!text && length) return call.fail(TESSERA_USAGE, "the text is null");
  return TESSERA_OK;
}

void tessera_options_init(tessera_options *o, size_t size) {
  tessera_options defaults{};
  defaults.size = size;
  defaults.num_warps = 4;
  defaults.num_stages = 3;
  defaults.num_ctas = 1;
  defaults.opt_level = 3;
  defaults.fp_fusion = 1;
  if (o) std::memcpy(o, &defaults, std::min(size, sizeof defaults));
}

/// Reads the options and compiles.
static tessera_status compileInto(Call &call, ContextState &state, llvm::StringRef text, const std::string &file,
                                  const tessera_options *given, tessera_result **result) {
  const ir::TargetInfo *target;
  if (auto s = readTarget(call, given, target)) return s;
  if (!target) return call.fail(TESSERA_USAGE, "tessera_options.target is null; targets: " + runtime::targetNames());
  runtime::CompileOptions o;
  if (auto s = readOptions(call, given, *target, o)) return s;
  runtime::CompileResult compiled;
  if (auto s = compileText(call, state, text, file, *target, o, compiled)) return s;
  *result =
      new tessera_result{std::move(compiled.output), runtime::toJson(compiled.metadata), std::move(compiled.texts)};
  return TESSERA_OK;
}

tessera_status tessera_compile(tessera_context *context, const char *text, size_t length, const char *file_name,
                               const tessera_options *given, tessera_result **result, tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (auto s = checkText(call, context, text, length, result)) return s;
  return guarded(call, [&] {
    return compileInto(call, *context->state, llvm::StringRef(text, length), fileName(file_name), given, result);
  });
}

/// Reads the caller's names of passes, and of the target that passes may query.
static tessera_status readPipeline(Call &call, const char *const *passes, size_t count, const char *target,
                                   transforms::RunOptions &run, transforms::Pipeline &pipeline) {
  run.findTarget = runtime::findTarget;
  if (target) {
    auto t = runtime::requireTarget(target);
    if (!t.ok()) return call.fail(t.status(), TESSERA_USAGE);
    run.target = *t;
  }
  for (size_t i = 0; i < count; ++i) {
    auto [name, passOptions] = orEmpty(passes ? passes[i] : nullptr).split('=');
    auto *pass = transforms::findPass(name);
    if (!pass) return call.fail(TESSERA_USAGE, "unknown pass '" + name + "'");
    auto step = transforms::parseStep(*pass, passOptions);
    if (!step.ok()) return call.fail(step.status(), TESSERA_USAGE);
    pipeline.push_back(*std::move(step));
  }
  return TESSERA_OK;
}

/// Runs passes on a module that `text` gives. It keeps the text's own locations: errors without one come from a second
/// run.
static tessera_status runPasses(Call &call, ir::Module &module, llvm::StringRef text, const std::string &file,
                                const transforms::Pipeline &pipeline, const transforms::RunOptions &run) {
  ir::UnplacedErrors unplaced(call.engine);
  auto s = transforms::runPipeline(module, pipeline, run, unplaced.firstRun());
  if (unplaced.any()) {
    ir::Context context;
    if (auto again = frontend::parseModule(text, file, context, unplaced.secondRun(), {.locateByText = true}))
      (void)transforms::runPipeline(*again, pipeline, run, unplaced.secondRun());
    unplaced.reportRest();
  }
  if (s.ok()) return TESSERA_OK;
  return call.engine.errors() ? call.end(TESSERA_INPUT) : call.fail(s, TESSERA_INPUT);
}

tessera_status tessera_run_passes(tessera_context *context, const char *text, size_t length, const char *file_name,
                                  const char *const *passes, size_t count, const char *target, tessera_result **result,
                                  tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (auto s = checkText(call, context, text, length, result)) return s;
  return guarded(call, [&] {
    transforms::RunOptions run;
    transforms::Pipeline pipeline;
    if (auto status = readPipeline(call, passes, count, target, run, pipeline)) return status;
    ir::Context irContext;
    llvm::StringRef given(text, length);
    std::string file = fileName(file_name);
    auto module = frontend::parseModule(given, file, irContext, call.engine);
    if (!module) return call.end(TESSERA_INPUT);
    if (auto status = runPasses(call, *module, given, file, pipeline, run)) return status;
    *result = new tessera_result{ir::printToString(*module), "", {}};
    return TESSERA_OK;
  });
}

/// Lists the functions that can be compiled: public ones with a body.
static void listKernels(tessera_module &m) {
  m.kernels.clear();
  for (auto &op : *m.module->body())
    if (auto f = op.dyn<ir::tt::FuncOp>(); f && !f.body().empty() && f.symVisibility() != "private")
      m.kernels.push_back(f.symName().str());
}

tessera_status tessera_module_parse(tessera_context *context, const char *text, size_t length, const char *file_name,
                                    tessera_module **module, tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (module) *module = nullptr;
  if (!context) return call.fail(TESSERA_USAGE, "the context is null");
  if (!module) return call.fail(TESSERA_USAGE, "the out-parameter for the module is null");
  if (!text && length) return call.fail(TESSERA_USAGE, "the text is null");
  return guarded(call, [&] {
    auto m = std::make_unique<tessera_module>();
    m->context = context->state;
    m->file = fileName(file_name);
    m->text.assign(text ? text : "", length);
    m->irContext = std::make_unique<ir::Context>();
    m->module = frontend::parseModule(m->text, m->file, *m->irContext, call.engine);
    if (!m->module) return call.end(TESSERA_INPUT);
    listKernels(*m);
    *module = m.release();
    return TESSERA_OK;
  });
}
const char *tessera_module_kernel(const tessera_module *m, size_t index) {
  if (!m) return nullptr;
  std::scoped_lock lock(m->mutex);
  return index < m->kernels.size() ? m->kernels[index].c_str() : nullptr;
}
void tessera_module_destroy(tessera_module *m) { delete m; }

tessera_status tessera_module_run_passes(tessera_module *m, const char *const *passes, size_t count, const char *target,
                                         tessera_error **error) {
  Call call(m ? m->context.get() : nullptr, error);
  if (!m) return call.fail(TESSERA_USAGE, "the module is null");
  return guarded(call, [&] {
    transforms::RunOptions run;
    transforms::Pipeline pipeline;
    if (auto status = readPipeline(call, passes, count, target, run, pipeline)) return status;
    std::scoped_lock lock(m->mutex);
    auto changed = m->module->clone();
    if (auto status = runPasses(call, *changed, m->text, m->file, pipeline, run)) return status;
    m->module = std::move(changed);
    m->text = ir::printToString(*m->module, {.locations = true}); // for the lines of compilations
    return TESSERA_OK;
  });
}

tessera_status tessera_module_print(const tessera_module *m, int locations, tessera_result **result,
                                    tessera_error **error) {
  Call call(m ? m->context.get() : nullptr, error);
  if (result) *result = nullptr;
  if (!m || !result)
    return call.fail(TESSERA_USAGE, m ? "the out-parameter for the result is null" : "the module is null");
  return guarded(call, [&] {
    std::scoped_lock lock(m->mutex);
    *result = new tessera_result{ir::printToString(*m->module, {.locations = locations != 0}), "", {}};
    return TESSERA_OK;
  });
}

namespace tessera::capi {
std::pair<std::string, std::string> textOf(const tessera_module &m) {
  std::scoped_lock lock(m.mutex);
  return {m.text, m.file};
}
} // namespace tessera::capi

tessera_status tessera_module_compile(const tessera_module *m, const tessera_options *given, tessera_result **result,
                                      tessera_error **error) {
  Call call(m ? m->context.get() : nullptr, error);
  if (result) *result = nullptr;
  if (!m || !result)
    return call.fail(TESSERA_USAGE, m ? "the out-parameter for the result is null" : "the module is null");
  return guarded(call, [&] {
    auto [text, file] = textOf(*m);
    return compileInto(call, *m->context, text, file, given, result);
  });
}

const char *tessera_result_data(const tessera_result *r, size_t *length) {
  if (length) *length = r ? r->data.size() : 0;
  return r ? r->data.c_str() : "";
}
const char *tessera_result_metadata(const tessera_result *r) { return r ? r->metadata.c_str() : ""; }
const char *tessera_result_text(const tessera_result *r, const char *stage, size_t *length) {
  if (length) *length = 0;
  if (!r) return nullptr;
  auto it = llvm::find_if(r->texts, [&](auto &text) { return text.first == orEmpty(stage); });
  if (it == r->texts.end()) return nullptr;
  if (length) *length = it->second.size();
  return it->second.c_str();
}
void tessera_result_destroy(tessera_result *r) { delete r; }

const char *tessera_version() { return TESSERA_VERSION_TEXT; }
void tessera_set_fatal_error_handler(tessera_fatal_error_handler handler, void *user) {
  codegen::setHostFatalErrorHandler(handler, user);
}
const char *tessera_target(size_t index) {
  static const auto targets = runtime::allTargets();
  return index < targets.size() ? targets[index]->info.name.data() : nullptr;
}
