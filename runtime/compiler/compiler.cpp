// The compiler as one call (see compiler.h). Each stage is timed by name into the metadata.
#include "runtime/compiler/compiler.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "codegen/object/backend.h"
#include "codegen_amd/lowering_target.h"
#include "codegen_nvidia/lowering_target.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "runtime/compiler/bitcode_object.h"
#include "runtime/compiler/targets.h"
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
  std::string list;
  for (auto *t : allTargets()) list += (list.empty() ? "" : ", ") + t->info.name.str();
  return absl::InvalidArgumentError(llvm::formatv("unknown target '{0}'; targets: {1}", name, list).str());
}

llvm::StringRef stageName(Stage s, const TargetInfo &t) {
  bool nv = t.vendor == Vendor::Nvidia;
  switch (s) {
  case Stage::Ttir: return "ttir";
  case Stage::Ttgir: return "ttgir";
  case Stage::Llir: return "llir";
  case Stage::Asm: return nv ? "ptx" : "amdgcn";
  case Stage::Object: return nv ? "cubin" : "hsaco";
  }
  llvm_unreachable("stage");
}

absl::StatusOr<Stage> parseStage(llvm::StringRef name, const TargetInfo &t) {
  std::string names;
  for (auto s : {Stage::Ttir, Stage::Ttgir, Stage::Llir, Stage::Asm, Stage::Object}) {
    if (stageName(s, t) == name) return s;
    names += (names.empty() ? "" : ", ") + stageName(s, t).str();
  }
  return absl::InvalidArgumentError(llvm::formatv("'{0}' is no stage for {1}; stages: {2}", name, t.name, names).str());
}

absl::StatusOr<Operation *> selectKernel(const Module &m, llvm::StringRef name) {
  std::vector<Operation *> kernels;
  std::string list;
  for (auto &op : *m.body()) {
    auto f = op.dyn<tt::FuncOp>();
    if (!f || f.body().empty() || f.symVisibility() == "private") continue;
    if (f.symName() == name) return &op;
    kernels.push_back(&op);
    list += (list.empty() ? "" : ", ") + f.symName().str();
  }
  if (!name.empty())
    return absl::InvalidArgumentError(
        llvm::formatv("no kernel '{0}' in the module; it has: {1}", name, list.empty() ? "none" : list).str());
  if (kernels.size() == 1) return kernels[0];
  // Public ones are kernels; where a module says nothing of visibility, a single function is the kernel.
  std::vector<Operation *> publics;
  for (auto *k : kernels)
    if (k->cast<tt::FuncOp>().symVisibility() == "public") publics.push_back(k);
  if (publics.size() == 1) return publics[0];
  if (kernels.empty()) return absl::InvalidArgumentError("the module has no kernel (a tt.func with a body)");
  return absl::InvalidArgumentError("the module has several kernels, name one: " + list);
}

namespace {

class Stopwatch {
public:
  explicit Stopwatch(KernelMetadata &m) : m_(m) {}
  void lap(llvm::StringRef name) {
    auto now = std::chrono::steady_clock::now();
    m_.compileMs.push_back({name.str(), std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

private:
  KernelMetadata &m_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::string typeName(Type t) {
  if (auto p = t.dyn_cast<PointerType>()) return "*" + p.pointee().str();
  return t.str();
}

void describeKernel(Operation *kernel, Module &m, const TargetInfo &t, KernelMetadata &md) {
  auto f = kernel->cast<tt::FuncOp>();
  md.kernel = f.symName().str();
  md.target = t.name.str();
  md.numWarps = numWarps(m.op());
  md.numCtas = numCtas(m.op());
  md.threadsPerWarp = threadsPerWarp(m.op());
  md.threadsPerBlock = totalNumWarps(m.op()) * md.threadsPerWarp;
  md.clusterDims = {int(md.numCtas), 1, 1};
  md.dynamicSharedBytes = moduleInt(m.op(), kSharedAttr, 0);
  md.globalScratchBytes = moduleInt(m.op(), kGlobalScratchSizeAttr, 0);
  md.globalScratchAlign = moduleInt(m.op(), kGlobalScratchAlignAttr, 1);
  md.args = describeArguments(kernel);
}

/// Reports a failure of the back end at the operation that it is about, as far as that is known: a library function
/// or inline assembly that the message names, else the kernel. Missing tools are not the program's fault: they stay
/// Statuses.
absl::Status located(Module &m, llvm::StringRef kernel, const absl::Status &s, DiagnosticEngine &diag) {
  if (!absl::IsInvalidArgument(s) && !absl::IsInternal(s)) return s;
  Operation *at = nullptr;
  std::vector<Operation *> assemblies;
  std::string text(s.message());
  auto assembly = s.GetPayload(codegen::kInlineAssemblyPayload);
  m.op()->walk([&](Operation *op) {
    if (auto e = op->dyn<tt::ExternElementwiseOp>();
        e && !at && llvm::StringRef(text).contains(("'" + e.symbol() + "'").str()))
      at = op;
    if (!op->is<tt::ElementwiseInlineAsmOp>()) return;
    if (assembly && std::to_string(assemblies.size()) == std::string(*assembly)) at = op;
    assemblies.push_back(op);
  });
  // Without one of these to point at, an internal failure is a tool's or ours, not the program's.
  if (!at && absl::IsInternal(s) && assemblies.empty() && !s.GetPayload(codegen::kAbandonModulePayload)) return s;
  Diagnostic d;
  d.loc = (at ? at : m.lookupSymbol(kernel))->loc();
  if (at) d.snippet = at->str();
  d.message = text;
  // ptxas names a line of the PTX only: any of the program's own assembly may be meant.
  if (!at && absl::IsInternal(s))
    for (size_t i = 0; i < std::min<size_t>(assemblies.size(), 4); ++i)
      d.note("the kernel has inline assembly here").loc = assemblies[i]->loc();
  diag.report(std::move(d));
  return absl::InvalidArgumentError("code generation failed");
}

} // namespace

absl::Status checkShape(const TargetInfo &t, const CompileOptions &o) {
  auto bad = [](const std::string &m) { return absl::InvalidArgumentError(m); };
  if (o.numWarps < 1 || !llvm::isPowerOf2_64(o.numWarps))
    return bad(llvm::formatv("num-warps must be a power of two, not {0}", o.numWarps));
  if (o.numWarps * t.warpSize > t.maxThreadsPerBlock)
    return bad(llvm::formatv("{0} warps of {1} threads are {2} threads per block, but {3} allows {4}", o.numWarps,
                             t.warpSize, o.numWarps * t.warpSize, t.name, t.maxThreadsPerBlock));
  if (o.numStages < 1) return bad(llvm::formatv("num-stages must be at least 1, not {0}", o.numStages));
  if (o.numCtas > 1 && t.maxClusterSize == 1)
    return bad(llvm::formatv("num-ctas = {0}: {1} has no clusters of blocks", o.numCtas, t.name));
  if (o.numCtas < 1 || o.numCtas > t.maxClusterSize)
    return bad(llvm::formatv("num-ctas must be 1 to {0} on {1}, not {2}", t.maxClusterSize, t.name, o.numCtas));
  int waves = t.vendor == Vendor::Amd ? t.maxWarpsPerMultiprocessor / t.schedulersPerMultiprocessor : INT_MAX;
  if (o.wavesPerEu < 0) return bad(llvm::formatv("waves-per-eu must be at least 0, not {0}", o.wavesPerEu));
  if (o.wavesPerEu > waves)
    return bad(llvm::formatv("waves-per-eu must be 0 to {0} on {1}, not {2}", waves, t.name, o.wavesPerEu));
  if (o.matrixInstrNonkdim != 0 && o.matrixInstrNonkdim != 16 && o.matrixInstrNonkdim != 32)
    return bad(llvm::formatv("matrix-instr-nonkdim must be 0, 16 or 32, not {0}", o.matrixInstrNonkdim));
  return absl::OkStatus();
}

std::vector<KernelMetadata::Arg> describeArguments(Operation *kernel) {
  std::vector<KernelMetadata::Arg> args;
  for (auto *a : kernel->cast<tt::FuncOp>().body().front()->args()) {
    // The argument's name in the source, where its location tells it.
    auto loc = a->loc;
    std::string name = loc.kind() == LocationKind::Name ? loc.name().str() : "arg" + std::to_string(a->index);
    args.push_back({name, typeName(a->type)});
  }
  return args;
}

absl::StatusOr<CompileResult> compile(Module &m, const TargetInfo &target, const CompileOptions &o,
                                      DiagnosticEngine &diag) {
  if (auto s = checkShape(target, o); !s.ok()) return s;
  auto kernel = selectKernel(m, o.kernel);
  if (!kernel.ok()) return kernel.status();
  std::string kernelName = (*kernel)->cast<tt::FuncOp>().symName().str();
  bool alreadyTtgir = hasLayouts(m.op());
  if (o.numCtas > 1 && !alreadyTtgir) {
    Diagnostic d;
    d.severity = Severity::Warning;
    d.loc = (*kernel)->loc();
    d.message = llvm::formatv("num-ctas = {0}: programs are not spread over clusters of blocks, each runs on one; the "
                              "metadata says how to launch it",
                              o.numCtas);
    diag.report(std::move(d));
  }

  codegen::BackendOptions bo;
  bo.optLevel = o.optLevel;
  bo.fpFusion = o.fpFusion;
  bo.lineInfo = o.lineInfo;
  if (o.stage == Stage::Object) bo.ahead = startAhead(*findArch(target.name), bo);

  bo.wavesPerEu = o.wavesPerEu;

  CompileResult result;
  result.metadata.wavesPerEu = o.wavesPerEu;
  result.metadata.matrixInstrNonkdim = o.matrixInstrNonkdim;
  Stopwatch watch(result.metadata);
  transforms::RunOptions run = o.passes;
  run.target = &target;
  auto passes = [&](const transforms::Pipeline &p, const char *name) -> absl::Status {
    if (auto s = transforms::runPipeline(m, p, run, diag); !s.ok()) return s;
    watch.lap(name);
    return absl::OkStatus();
  };
  auto printed = [&]() {
    describeKernel(m.lookupSymbol(kernelName), m, target, result.metadata);
    result.output = printToString(m);
    return std::move(result);
  };

  if (!alreadyTtgir)
    if (auto s = passes(transforms::ttirPipeline(target), "ttir"); !s.ok()) return s;
  if (o.stage == Stage::Ttir) return printed();
  if (!alreadyTtgir)
    if (auto s = passes(transforms::ttgirPipeline(target, {.numWarps = o.numWarps,
                                                           .numStages = o.numStages,
                                                           .matrixInstructionSize = o.matrixInstrNonkdim}),
                        "ttgir");
        !s.ok())
      return s;
  if (alreadyTtgir && threadsPerWarp(m.op()) != target.warpSize)
    return absl::InvalidArgumentError(llvm::formatv("the module has {0} threads per warp, but {1} has {2}",
                                                    threadsPerWarp(m.op()), target.name, target.warpSize)
                                          .str());
  if (o.stage == Stage::Ttgir) return printed();

  if (auto s = passes(transforms::loweringPipeline(target), "allocation"); !s.ok()) return s;
  describeKernel(m.lookupSymbol(kernelName), m, target, result.metadata);

  auto lowering = target.vendor == Vendor::Nvidia ? nvidia::makeTarget(target) : amd::makeTarget(target);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto llvmModule = codegen::lowerToLLVM(m, *lowering, *context,
                                         {.fpFusion = o.fpFusion, .lineInfo = o.lineInfo, .opNames = o.opNames}, diag);
  if (!llvmModule) return absl::InvalidArgumentError("lowering failed");
  std::string broken;
  llvm::raw_string_ostream brokenStream(broken);
  if (llvm::verifyModule(*llvmModule, &brokenStream))
    return absl::InternalError("the lowering made an invalid LLVM module; please report this with the input:\n" +
                               broken);
  watch.lap("lower");

  if (run.remarks && o.stage >= Stage::Asm)
    for (const llvm::Function &f : *llvmModule)
      if (f.hasFnAttribute(codegen::kSpillsAnyway)) {
        Operation *function = m.lookupSymbol(f.getName());
        transforms::Remark r{transforms::Remark::Missed,
                             "codegen",
                             "NotOptimized",
                             function ? function->loc() : Location(),
                             "",
                             llvm::json::Object{{"registersPerThread", target.maxRegistersPerThread}}};
        r.message = llvm::formatv("machine code of '{0}' is made without optimisation, in seconds instead of minutes: "
                                  "a single tensor of it takes more than the {1} registers that a thread may have; "
                                  "with more warps or smaller blocks it would fit",
                                  f.getName(), target.maxRegistersPerThread)
                        .str();
        run.remarks(r);
      }

  if (o.bitcode) llvmModule->addModuleFlag(llvm::Module::Override, "tessera.host-prints", 1);
  bo.numWarps = result.metadata.warpsPerBlock();
  bo.numCtas = result.metadata.numCtas;
  bo.dynamicSharedBytes = result.metadata.dynamicSharedBytes;
  bo.maxRegisters = moduleInt(m.op(), kMaxRegistersAttr, 0);
  auto backend = createBackend(*findArch(target.name), bo);
  using Until = codegen::Backend::Until;
  codegen::StageTimes times;
  auto object = backend->compile(*llvmModule,
                                 o.stage == Stage::Llir  ? Until::Optimized
                                 : o.stage == Stage::Asm ? Until::Assembly
                                                         : Until::Object,
                                 o.stage == Stage::Asm, &times);
  if (!object.ok()) {
    if (object.status().GetPayload(codegen::kAbandonModulePayload)) {
      (void)llvmModule.release();
      (void)context.release();
    }
    return located(m, kernelName, object.status(), diag);
  }
  auto &md = result.metadata;
  md.compileMs.push_back({"device library", times.deviceLibrary});
  md.compileMs.push_back({"llir", times.optimize});
  if (o.stage == Stage::Llir) {
    llvm::raw_string_ostream out(result.output);
    if (o.bitcode)
      out << bitcodeObject(*llvmModule);
    else
      llvmModule->print(out, nullptr);
    return result;
  }
  md.compileMs.push_back({stageName(Stage::Asm, target).str(), times.assembly});
  if (o.stage == Stage::Asm) {
    result.output = std::move(object->assembly);
    return result;
  }
  md.compileMs.push_back({stageName(Stage::Object, target).str(), times.object});
  md.registers = object->registers;
  md.spillBytes = object->spillBytes;
  md.occupancy = object->occupancy;
  md.staticSharedBytes = object->staticSharedBytes;
  if (run.remarks) {
    int64_t shared = md.dynamicSharedBytes + md.staticSharedBytes;
    transforms::Remark r{transforms::Remark::Analysis,
                         "codegen",
                         "Resources",
                         m.lookupSymbol(kernelName)->loc(),
                         "",
                         llvm::json::Object{{"registers", md.registers},
                                            {"spillBytes", md.spillBytes},
                                            {"sharedBytes", shared},
                                            {"blocksPerMultiprocessor", md.occupancy}}};
    r.message = llvm::formatv("'{0}' takes {1} registers of a thread ({2} bytes spilled) and {3} bytes of shared "
                              "memory; {4} blocks of {5} warps fit on a multiprocessor",
                              kernelName, md.registers, md.spillBytes, shared, md.occupancy, md.warpsPerBlock())
                    .str();
    run.remarks(r);
  }
  result.output = std::move(object->object);
  return result;
}

} // namespace tessera::runtime
