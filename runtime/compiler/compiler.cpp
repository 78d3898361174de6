// The compiler as one call (see compiler.h). Each stage is timed by name into the metadata.
#include "runtime/compiler/compiler.h"
#include "codegen/attribute_names.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "codegen/object/backend.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/printer.h"
#include "ir/tensor_queries.h"
#include "ir/verifier.h"
#include "runtime/compiler/backend_errors.h"
#include "runtime/compiler/bitcode_object.h"
#include "runtime/compiler/compile_remarks.h"
#include "runtime/compiler/fewer_warps.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/more_warps.h"
#include "runtime/compiler/spill_trials.h"
#include "runtime/compiler/targets.h"
#include "runtime/compiler/warps_after_spills.h"
#include "transforms/pipelines.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <climits>

namespace tessera::runtime {
using namespace ir;

absl::StatusOr<const TargetInfo *> requireTarget(llvm::StringRef name) {
  if (auto *t = findArch(name)) return &t->info;
  return absl::InvalidArgumentError(unknownTarget(name));
}

llvm::StringRef stageName(Stage s, const TargetInfo &t) {
  switch (s) {
  case Stage::Ttir: return "ttir";
  case Stage::Ttgir: return "ttgir";
  case Stage::Llir: return "llir";
  case Stage::Asm: return t.asmFormat;
  case Stage::Object: return t.objectFormat;
  }
  llvm_unreachable("stage");
}

absl::StatusOr<Stage> parseStage(llvm::StringRef name, const TargetInfo &t) {
  std::string names;
  for (auto s : {Stage::Ttir, Stage::Ttgir, Stage::Llir, Stage::Asm, Stage::Object}) {
    if (stageName(s, t) == name) return s;
    names += (names.empty() ? "" : ", ") + stageName(s, t).str();
  }
  return absl::InvalidArgumentError(
      llvm::formatv("'{0}' is not a stage of {1}; stages: {2}", name, t.name, names).str());
}

namespace {

class Stopwatch {
public:
  explicit Stopwatch(KernelMetadata &m) : m_(m) {}
  void start() { last_ = std::chrono::steady_clock::now(); }
  void lap(llvm::StringRef name) {
    auto now = std::chrono::steady_clock::now();
    m_.compileMs.push_back({name.str(), std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

private:
  KernelMetadata &m_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace

absl::Status checkOptions(const TargetInfo &t, const CompileOptions &o) {
  auto bad = [](const std::string &m) { return absl::InvalidArgumentError(m); };
  for (auto &option : kernelOptions())
    if (auto problem = option.problem(o.*option.field); !problem.empty())
      return bad(option.flag.ltrim('-').str() + " " + problem);
  if (o.numWarps * t.warpSize > t.maxThreadsPerBlock)
    return bad(llvm::formatv("{0} warps of {1} threads are {2} threads per block, but {3} allows {4}", o.numWarps,
                             t.warpSize, o.numWarps * t.warpSize, t.name, t.maxThreadsPerBlock));
  if (o.numCtas > 1 && t.maxClusterSize == 1)
    return bad(llvm::formatv("num-ctas = {0}: {1} has no clusters of blocks", o.numCtas, t.name));
  if (o.numCtas < 1 || o.numCtas > t.maxClusterSize)
    return bad(llvm::formatv("num-ctas must be a power of two up to {0} on {1}, not {2}", t.maxClusterSize, t.name,
                             o.numCtas));
  // Where nothing reads the hint, any number will do.
  int waves = t.takesOccupancyHint ? t.maxWarpsPerMultiprocessor / t.schedulersPerMultiprocessor : INT_MAX;
  if (o.wavesPerEu < 0) return bad(llvm::formatv("waves-per-eu must be at least 0, not {0}", o.wavesPerEu));
  if (o.wavesPerEu > waves)
    return bad(llvm::formatv("waves-per-eu must be 0 to {0} on {1}, not {2}", waves, t.name, o.wavesPerEu));
  return absl::OkStatus();
}

namespace {

/// One compilation: its input, and what the stages hand on.
class Compilation {
public:
  Compilation(Module &m, const TargetInfo &target, const CompileOptions &o, DiagnosticEngine &diag)
      : module_(&m), target_(target), arch_(*findArch(target.name)), options_(o), run_(o.passes), diag_(diag),
        watch_(result_.metadata) {
    run_.target = &target;
  }

  absl::StatusOr<CompileResult> run() {
    if (auto s = checkInput(); !s.ok()) return s;
    startTools();
    if (auto s = runPasses(); !s.ok()) return s;
    describeKernel();
    if (options_.keepTexts && options_.stage >= Stage::Ttgir) keepText(Stage::Ttgir, printToString(*module_));
    if (options_.stage <= Stage::Ttgir) {
      result_.output = printToString(*module_);
      return std::move(result_);
    }
    if (auto s = lower(); !s.ok()) return s;
    if (auto s = generateCode(); !s.ok()) return s;
    return std::move(result_);
  }
  /// After run: bytes of registers that an iteration of the kernel's innermost loops stores to memory and loads again,
  /// as far as the back end says.
  int64_t spilledInLoops() const { return spilledInLoops_; }
  /// Instructions in these loops, in the same way.
  int64_t instructionsInLoops() const { return instructionsInLoops_; }

private:
  absl::Status refuse(Location, absl::Status) const;
  void warn(Location, std::string) const;
  absl::Status checkInput();
  void takeTarget();
  void startTools();
  absl::Status runPasses();
  absl::Status verifyPasses();
  absl::Status assignLayouts();
  absl::Status runPipeline(const transforms::Pipeline &, const char *lap);
  void describeKernel();
  void keepText(Stage stage, std::string text) {
    result_.texts.emplace_back(stageName(stage, target_).str(), std::move(text));
  }
  absl::Status lower();
  absl::Status generateCode();
  void takeObject(codegen::ObjectInfo &&);
  void remarkCode(CodeRemarks which) const {
    if (options_.passes.remarks)
      reportCodeRemarks(*llvmModule_, *module_, target_, options_.stage, which, options_.passes.remarks);
  }
  Operation *kernel() const { return module_->lookupSymbol(kernelName_); }

  Module *module_;                        // the input, or `withMoreWarps_`
  std::unique_ptr<Module> withMoreWarps_; // null: the warps are the requested ones
  const TargetInfo &target_;
  const codegen::ArchInfo &arch_;
  const CompileOptions &options_;
  transforms::RunOptions run_; // of all pipelines: it counts passes for bisection
  DiagnosticEngine &diag_;
  CompileResult result_;
  Stopwatch watch_;
  int64_t spilledInLoops_ = 0, instructionsInLoops_ = 0;
  std::string kernelName_;  // passes may replace the operation
  bool hadLayouts_ = false; // the input is TTGIR
  std::shared_ptr<codegen::ToolAhead> tool_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> llvmModule_;
};

/// Reports an error of the input at its place, and returns it: callers name the file if it has none.
absl::Status Compilation::refuse(Location place, absl::Status why) const {
  if (!place.source().isUnknown()) diag_.error(place, std::string(why.message()));
  return why;
}

void Compilation::warn(Location place, std::string message) const {
  Diagnostic d;
  d.severity = Severity::Warning;
  d.loc = place;
  d.message = std::move(message);
  diag_.report(std::move(d));
}

absl::Status Compilation::checkInput() {
  if (auto s = checkOptions(target_, options_); !s.ok()) return s;
  auto selected = selectKernel(*module_, options_.kernel);
  if (!selected.ok()) {
    // At the first function, or at the module.
    Operation *first = module_->body()->front();
    return refuse(first ? first->loc() : module_->op()->loc(), selected.status());
  }
  kernelName_ = (*selected)->cast<tt::FuncOp>().symName().str();
  hadLayouts_ = hasLayouts(module_->op());
  if (int64_t lanes = threadsPerWarp(module_->op()); hadLayouts_ && lanes != target_.warpSize)
    return refuse(module_->op()->loc(),
                  absl::InvalidArgumentError(llvm::formatv("the module has {0} threads per warp, but {1} has {2}",
                                                           lanes, target_.name, target_.warpSize)
                                                 .str()));
  takeTarget();
  if (options_.numCtas > 1 && !hadLayouts_)
    warn((*selected)->loc(), llvm::formatv("num-ctas = {0}: programs are not spread over clusters of blocks, each runs "
                                           "on one; the metadata says how to launch it",
                                           options_.numCtas));
  return absl::OkStatus();
}

/// The requested target has precedence over the one that the module names, as clang's has over the triple of an LLVM
/// module. Layouts stay as they are; what the target lacks, the lowering refuses.
void Compilation::takeTarget() {
  auto named = module_->op()->attr<StringAttr>(kTargetAttr);
  if (!named || findArch(named.value()) == &arch_) return;
  warn(module_->op()->loc(),
       llvm::formatv("the module's {0} is \"{1}\", but it is compiled for {2} (\"{3}\"), which may make its layouts "
                     "slow or refuse them",
                     kTargetAttr, named.value(), target_.name, target_.tritonTarget));
  module_->op()->setAttr(kTargetAttr, StringAttr::get(module_->context(), target_.tritonTarget));
}

/// First of all: ptxas needs some milliseconds before it reads its input.
void Compilation::startTools() {
  if (options_.stage == Stage::Object) tool_ = startAhead(arch_, backendOptions(options_));
}

absl::Status Compilation::runPipeline(const transforms::Pipeline &pipeline, const char *lap) {
  absl::Status s = transforms::runPipeline(*module_, pipeline, run_, diag_);
  if (s.ok()) watch_.lap(lap);
  return s;
}

/// Up to the requested stage, or to the stages that the lowering needs.
absl::Status Compilation::runPasses() {
  watch_.start();
  if (!hadLayouts_)
    if (auto s = runPipeline(transforms::ttirPipeline(target_, options_.numWarps), "ttir"); !s.ok()) return s;
  if (options_.stage == Stage::Ttir) return absl::OkStatus();
  if (options_.maxnreg && target_.takesRegisterBound && !moduleInt(module_->op(), kMaxRegistersAttr, 0))
    setModuleInt(module_->op(), kMaxRegistersAttr, options_.maxnreg); // what the text says has precedence
  absl::Status toTtgir = hadLayouts_ ? runPipeline(transforms::givenTtgirPipeline(target_), "ttgir") : assignLayouts();
  if (!toTtgir.ok()) return toTtgir;
  if (options_.stage == Stage::Ttgir) return absl::OkStatus();
  // The warps of a ttg.warp_specialize are the module's: other kernels would have them, too.
  if (specializesWarps(module_->op())) keepReachable(*module_, kernel());
  if (auto s = runPipeline(transforms::loweringPipeline(target_), "lowering preparation"); !s.ok()) return s;
  return verifyPasses();
}

/// A mistake of a pass must not become wrong code. `--verify-each` names the pass.
absl::Status Compilation::verifyPasses() {
  if (!verify(*module_, diag_))
    return absl::InternalError("the passes made invalid IR, see above; please report this with the input");
  watch_.lap("verify");
  return absl::OkStatus();
}

/// To TTGIR, with the requested warps, or with more or fewer.
absl::Status Compilation::assignLayouts() {
  // Without numCtas: programs are not spread over clusters, so that the layouts are those of one block (checkInput
  // warns).
  transforms::TtgirPipelineOptions o{.numWarps = options_.numWarps,
                                     .numStages = options_.numStages,
                                     .matrixInstructionSize = options_.matrixInstrNonkdim,
                                     .mayAddWarps = !options_.exactNumWarps,
                                     .tensorMemory = options_.tensorMemory};
  if (!options_.exactNumWarps) {
    FewerWarps fewer = takeFewerWarps(*module_, kernelName_, target_, options_.numWarps);
    if (fewer.warps < o.numWarps && options_.passes.remarks)
      options_.passes.remarks(fewerWarpsRemark(kernel(), fewer, o.numWarps));
    o.numWarps = fewer.warps;
  }
  std::unique_ptr<Module> ttir;
  bool foreseesSpills = target_.tuning.heldRegistersPercent;
  if (foreseesSpills && !options_.exactNumWarps && mayTakeMoreWarps(*module_, kernelName_)) ttir = module_->clone();
  // Where passes are observed, a copy decides (trials.h says why).
  bool isUnobserved = transforms::hasNoObservers(options_.passes);
  MoreWarps more;
  if (ttir && !isUnobserved)
    if (auto requested = runWithoutReports(ttir->clone(), transforms::ttgirPipeline(target_, o), target_))
      more = takeMoreWarps(*ttir, *requested, kernelName_, target_, o);
  if (more.ttgir) o.numWarps = more.warps;
  if (auto s = runPipeline(transforms::ttgirPipeline(target_, o), "ttgir"); !s.ok()) return s;
  if (ttir && isUnobserved) {
    more = takeMoreWarps(*ttir, *module_, kernelName_, target_, o);
    withMoreWarps_ = std::move(more.ttgir);
    if (withMoreWarps_) module_ = withMoreWarps_.get();
  }
  if (more.ttgir && options_.passes.remarks)
    options_.passes.remarks(moreWarpsRemark(kernel(), more, options_.numWarps, target_));
  return absl::OkStatus();
}

void Compilation::describeKernel() {
  KernelMetadata &md = result_.metadata;
  Operation *m = module_->op();
  md.known = options_.stage <= Stage::Ttgir ? KernelMetadata::Configuration : KernelMetadata::Launch;
  md.config() = options_.config();
  md.kernel = kernelName_;
  md.target = target_.name.str();
  md.numWarps = numWarps(m);
  md.numCtas = numCtas(m);
  md.threadsPerWarp = threadsPerWarp(m);
  md.threadsPerBlock = totalNumWarps(m) * md.threadsPerWarp;
  md.clusterDims = {int(md.numCtas), 1, 1};
  md.dynamicSharedBytes = moduleInt(m, kSharedAttr, 0);
  md.globalScratchBytes = moduleInt(m, kGlobalScratchSizeAttr, 0);
  md.globalScratchAlign = moduleInt(m, kGlobalScratchAlignAttr, 1);
  md.args = describeArguments(kernel());
}

absl::Status Compilation::lower() {
  auto lowering = createTarget(target_);
  context_ = std::make_unique<llvm::LLVMContext>();
  llvmModule_ = codegen::lowerToLLVM(
      *module_, *lowering, *context_,
      {.fpFusion = options_.fpFusion, .lineInfo = options_.lineInfo, .opNames = options_.opNames}, diag_);
  if (!llvmModule_) return absl::InvalidArgumentError("lowering failed");
  std::string broken;
  llvm::raw_string_ostream brokenStream(broken);
  if (llvm::verifyModule(*llvmModule_, &brokenStream))
    return absl::InternalError("the lowering made an invalid LLVM module; please report this with the input:\n" +
                               broken);
  if (options_.bitcode) llvmModule_->addModuleFlag(llvm::Module::Override, codegen::kHostPrintsFlag, 1);
  watch_.lap("lower");
  return absl::OkStatus();
}

absl::Status Compilation::generateCode() {
  codegen::BackendOptions bo =
      backendOptions(options_, &result_.metadata, moduleInt(module_->op(), kMaxRegistersAttr, 0));
  bo.ahead = std::move(tool_);
  using Until = codegen::Backend::Until;
  Until until = options_.stage == Stage::Llir  ? Until::Optimized
                : options_.stage == Stage::Asm ? Until::Assembly
                                               : Until::Object;
  bo.keepOptimized = options_.keepTexts;
  bool keepAssembly = options_.stage == Stage::Asm || options_.keepTexts;
  codegen::StageTimes times;
  auto object = createBackend(arch_, bo)->compile(*llvmModule_, until, keepAssembly, &times);
  if (!object.ok()) {
    if (!codegen::abandonIfLost(object.status(), llvmModule_, context_)) remarkCode(CodeRemarks::Unoptimized);
    return reportBackendError(object.status(), {*module_, kernel(), target_}, diag_);
  }
  remarkCode(CodeRemarks::All);
  for (const llvm::Function &f : *llvmModule_) {
    spilledInLoops_ += int64_t(f.getFnAttributeAsParsedInteger(codegen::kSpilledInLoops));
    instructionsInLoops_ += int64_t(f.getFnAttributeAsParsedInteger(codegen::kInstructionsInLoops));
  }
  auto &laps = result_.metadata.compileMs;
  laps.push_back({"device library", times.deviceLibrary});
  laps.push_back({"llir", times.optimize});
  if (options_.stage >= Stage::Asm) laps.push_back({stageName(Stage::Asm, target_).str(), times.assembly});
  if (options_.stage >= Stage::Object) laps.push_back({stageName(Stage::Object, target_).str(), times.object});
  if (options_.keepTexts) {
    keepText(Stage::Llir, std::move(object->optimized));
    if (options_.stage >= Stage::Asm) keepText(Stage::Asm, object->assembly);
  }
  switch (options_.stage) {
  case Stage::Llir: {
    llvm::raw_string_ostream out(result_.output);
    if (options_.bitcode)
      out << bitcodeObject(*llvmModule_);
    else
      llvmModule_->print(out, nullptr);
    break;
  }
  case Stage::Asm: result_.output = std::move(object->assembly); break;
  case Stage::Object: takeObject(*std::move(object)); break;
  case Stage::Ttir:
  case Stage::Ttgir: llvm_unreachable("printed before");
  }
  return absl::OkStatus();
}

void Compilation::takeObject(codegen::ObjectInfo &&object) {
  KernelMetadata &md = result_.metadata;
  md.known = KernelMetadata::Resources;
  md.registers = object.registers;
  md.spillBytes = object.spillBytes;
  md.occupancy = object.occupancy;
  md.staticSharedBytes = object.staticSharedBytes;
  result_.output = std::move(object.object);
  if (!options_.passes.remarks) return;
  options_.passes.remarks(resourcesRemark(kernel(), md));
  if (!object.dotsSerialized.empty()) options_.passes.remarks(dotsSerializedRemark(kernel(), object.dotsSerialized));
}

/// A compilation as the options say.
Trial compileOnce(Module &m, const TargetInfo &target, const CompileOptions &o, DiagnosticEngine &diag) {
  Compilation c(m, target, o, diag);
  absl::StatusOr<CompileResult> result = c.run();
  return {o, std::move(result), c.spilledInLoops(), c.instructionsInLoops()};
}

} // namespace

/// Every compilation chooses the number of warps from its TTGIR (assignLayouts, more_warps.h). Trials choose by what
/// the generated code spills; the first of these applies:
///   spill_trials.h         assembly and objects of loops with dots, on targets that hold loads in registers (RDNA): by
///                          what an iteration spills; twice the warps, fewer stages
///   warps_after_spills.h   objects, on targets with Tuning::spillBytesForMoreWarps (NVIDIA): by what a thread spills;
///                          with MFMA, where schedulers are idle; twice the warps
absl::StatusOr<CompileResult> compile(Module &m, const TargetInfo &target, const CompileOptions &o,
                                      DiagnosticEngine &diag) {
  if (hasSpillTrials(m, target, o)) return compileWithSpillTrials(m, target, o, diag, compileOnce);
  if (hasWarpsTrial(m, target, o)) return compileWithWarpsTrial(m, target, o, diag, compileOnce);
  return compileOnce(m, target, o, diag).result;
}

absl::StatusOr<CompileResult> compileText(llvm::StringRef text, const std::string &fileName, const TargetInfo &target,
                                          const CompileOptions &o, DiagnosticEngine &diag) {
  const transforms::RunOptions &run = o.passes;
  // Printed IR shows the locations that the text itself has; errors are better off with places in the text.
  auto compileWith = [&](const CompileOptions &options, bool locateByText, ir::Context &context,
                         DiagnosticEngine &to) -> absl::StatusOr<CompileResult> {
    auto module = frontend::parseModule(text, fileName, context, to, {.locateByText = locateByText});
    if (!module) return absl::InvalidArgumentError("the text does not parse");
    return compile(*module, target, options, to);
  };
  ir::Context context;
  bool printsIr = run.printBefore || run.printAfter || run.printAfterAll || o.stage <= Stage::Ttgir;
  if (!printsIr) return compileWith(o, /*locateByText=*/true, context, diag);
  ir::UnplacedErrors unplaced(diag);
  auto result = compileWith(o, /*locateByText=*/false, context, unplaced.firstRun());
  bool saysNothing = !unplaced.firstRun().errors() && absl::IsInvalidArgument(result.status());
  if (result.ok() || (!unplaced.any() && !saysNothing)) {
    unplaced.reportRest();
    return result;
  }
  CompileOptions errorsAlone = o; // the first run has reported everything else
  errorsAlone.passes.dump = nullptr;
  errorsAlone.passes.hook = nullptr;
  errorsAlone.passes.timings = nullptr;
  errorsAlone.passes.remarks = nullptr;
  ir::Context again;
  result = compileWith(errorsAlone, /*locateByText=*/true, again, unplaced.secondRun());
  unplaced.reportRest();
  return result;
}

} // namespace tessera::runtime
