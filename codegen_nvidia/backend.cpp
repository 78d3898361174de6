// The NVIDIA back end's stages; the work of each is in device_library.cpp, llvm_passes.cpp and object.cpp.
//
// Peculiar to NVIDIA: the object is made from the assembly text (PTX), by a compiler of NVIDIA's that has its own
// optimiser and register allocator; what matters in the PTX is the instructions chosen, not their order or registers.
// The text is as LLVM writes it: what it says otherwise than LLVM's defaults is set in the module before.
// Sources: LLVM "User Guide for NVPTX Back-end" (kernel attributes, module flags), PTX ISA.
#include "codegen_nvidia/backend.h"
#include "absl/status/status.h"
#include "codegen_nvidia/device_library.h"
#include "codegen_nvidia/llvm_passes.h"
#include "codegen_nvidia/object.h"
#include "codegen_nvidia/occupancy.h"
#include "codegen_nvidia/passes/count_loops.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tessera::nvidia {

using codegen::ObjectInfo;

static constexpr llvm::StringLiteral kPtxVersion = "tessera-ptx-version"; // an attribute of functions

void setKernelAttributes(llvm::Function &kernel, unsigned threadsPerBlock, unsigned numCtas, unsigned maxRegisters) {
  kernel.setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel.addFnAttr("nvvm.reqntid", std::to_string(threadsPerBlock));
  if (numCtas > 1) kernel.addFnAttr("nvvm.cluster_dim", std::to_string(numCtas) + ",1,1");
  if (maxRegisters) kernel.addFnAttr("nvvm.maxnreg", std::to_string(maxRegisters));
}

void requirePtx(llvm::Function &f, int version) { f.addFnAttr(kPtxVersion, std::to_string(version)); }

namespace {

/// The version of PTX that the target or a function (requirePtx) needs.
int ptxVersionOf(const llvm::Module &module, const codegen::ArchInfo &arch) {
  int version = arch.ptxVersion;
  for (const llvm::Function &f : module) {
    int required = 0;
    if (!f.getFnAttribute(kPtxVersion).getValueAsString().getAsInteger(10, required))
      version = std::max(version, required);
  }
  return version;
}

/// Leaves of line tables the directives (.file, .loc), from which ptxas makes its own. With DWARF beside them LLVM
/// writes `.target sm_90a, debug`, which makes ptxas keep code debuggable, that is, not optimise.
void writeLineDirectives(llvm::Module &module) {
  llvm::NamedMDNode *units = module.getNamedMetadata("llvm.dbg.cu");
  if (!units) return;
  llvm::DebugInfoFinder found;
  found.processModule(module);
  for (unsigned i = 0; i < units->getNumOperands(); ++i) {
    auto *old = llvm::cast<llvm::DICompileUnit>(units->getOperand(i));
    auto *unit = llvm::DICompileUnit::getDistinct(
        module.getContext(), old->getSourceLanguage(), old->getFile(), old->getProducer(), old->isOptimized(),
        old->getFlags(), old->getRuntimeVersion(), old->getSplitDebugFilename(),
        llvm::DICompileUnit::DebugDirectivesOnly, old->getEnumTypes(), old->getRetainedTypes(),
        old->getGlobalVariables(), old->getImportedEntities(), old->getMacros(), old->getDWOId(),
        old->getSplitDebugInlining(), old->getDebugInfoForProfiling(), old->getNameTableKind(),
        old->getRangesBaseAddress(), old->getSysRoot(), old->getSDK());
    units->setOperand(i, unit);
    for (llvm::DISubprogram *s : found.subprograms())
      if (s->getUnit() == old) s->replaceUnit(unit);
  }
}

/// LLVM numbers calls by a counter of the process and writes the numbers into comments: the text of a kernel would
/// depend on what the process compiles beside it.
void dropCallNumbers(std::string &ptx) {
  constexpr llvm::StringLiteral kComment = " // callseq ";
  llvm::StringRef rest = ptx;
  size_t at = rest.find(kComment);
  if (at == llvm::StringRef::npos) return;
  std::string kept;
  for (; at != llvm::StringRef::npos; at = rest.find(kComment)) {
    kept += rest.take_front(at);
    rest = rest.drop_front(at).drop_until([](char c) { return c == '\n'; });
  }
  kept += rest;
  ptx = std::move(kept);
}

class NvidiaBackend final : public codegen::Backend {
public:
  NvidiaBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &options) : Backend(arch, options) {}

  absl::Status prepare(llvm::Module &module) const override {
    if (options_.numCtas > info().maxClusterSize)
      return absl::InvalidArgumentError("a cluster of " + std::to_string(options_.numCtas) + " blocks: " +
                                        info().name.str() + " has at most " + std::to_string(info().maxClusterSize));
    if (absl::Status s = setLayout(module); !s.ok()) return s;
    // libdevice queries by __nvvm_reflect whether f32 denormals are flushed; its functions flush them, as Triton's do.
    module.setModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 1);
    for (llvm::Function &f : module)
      if (f.getCallingConv() == llvm::CallingConv::PTX_Kernel && !f.isDeclaration())
        setKernelAttributes(f, unsigned(options_.numWarps * info().warpSize), unsigned(options_.numCtas),
                            unsigned(options_.maxRegisters));
    return absl::OkStatus();
  }

  absl::Status linkDeviceLibrary(llvm::Module &module) const override { return nvidia::linkDeviceLibrary(module); }

  absl::Status optimize(llvm::Module &module) const override {
    absl::StatusOr<Machine> tm = machine();
    if (!tm.ok()) return tm.status();
    absl::Status s = runLLVMPasses(module, **tm, options_.optLevel, info().tuning);
    if (s.ok()) applyPlans(module, info(), options_);
    return s;
  }

  absl::StatusOr<std::string> emitAssembly(llvm::Module &module) const override {
    writeLineDirectives(module);
    int version = ptxVersionOf(module, arch_);
    std::string features = "+ptx" + std::to_string(version);
    codegen::ArchInfo newer = arch_;
    newer.features = features;
    absl::StatusOr<std::string> ptx = version == arch_.ptxVersion
                                          ? runCodegen(module, /*object=*/false)
                                          : NvidiaBackend(newer, options_).runCodegen(module, /*object=*/false);
    if (ptx.ok()) dropCallNumbers(*ptx);
    return ptx;
  }

  absl::StatusOr<ObjectInfo> assemble(llvm::StringRef ptx) const override { return makeCubin(ptx, arch_, options_); }

protected:
  absl::StatusOr<ObjectInfo> assembleOf(const llvm::Module &module, llvm::StringRef ptx) const override {
    return makeCubin(ptx, arch_, options_, planOf(module));
  }
  bool objectNeedsAssembly() const override { return true; }
  llvm::ArrayRef<llvm::StringLiteral> skippedCodegenPasses() const override {
    // The first three find nothing. ptxas does the work of the others again, or the lowering has done it (vectors):
    // over 121 kernels of many kinds the registers stay the same and the instructions within 0.04 %.
    static constexpr llvm::StringLiteral kSkipped[] = {"NVPTX Image Optimizer",
                                                       "NVPTX Replace Image Handles",
                                                       "nvptx-lower-ctor-dtor",
                                                       "Speculatively execute instructions",
                                                       "load-store-vectorizer",
                                                       "machine-scheduler",
                                                       "opt-phis",
                                                       "peephole-opt",
                                                       "stack-slot-coloring"};
    return kSkipped;
  }
  void addCodegenPassesAfter(llvm::StringRef argument, llvm::legacy::PassManagerBase &passes) const override {
    if (argument == "loop-reduce" && options_.optLevel >= 2) passes.add(createCountLoops());
  }
  bool libraryMayBeFused() const override { return true; } // libdevice is written for that, as nvcc does
};

} // namespace

std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &options) {
  return std::make_unique<NvidiaBackend>(arch, options);
}

} // namespace tessera::nvidia
