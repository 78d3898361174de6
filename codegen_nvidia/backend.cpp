// The NVIDIA back end's stages; the work of each is in device_library.cpp, pipeline.cpp and object.cpp.
//
// Peculiar to NVIDIA: the object is made from the assembly text (PTX), by a compiler of NVIDIA's that has its own
// optimiser and register allocator; what matters in the PTX is the instructions chosen, not their order or registers.
// Sources: LLVM "User Guide for NVPTX Back-end" (kernel attributes, module flags), PTX ISA.
#include "codegen_nvidia/backend.h"
#include "absl/status/status.h"
#include "codegen_nvidia/device_library.h"
#include "codegen_nvidia/object.h"
#include "codegen_nvidia/occupancy.h"
#include "codegen_nvidia/pipeline.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tessera::nvidia {

using codegen::ObjectInfo;

void setKernelAttributes(llvm::Function &kernel, unsigned threadsPerBlock, unsigned numCtas, unsigned maxRegisters) {
  kernel.setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel.addFnAttr("nvvm.reqntid", std::to_string(threadsPerBlock));
  if (numCtas > 1) kernel.addFnAttr("nvvm.cluster_dim", std::to_string(numCtas) + ",1,1");
  if (maxRegisters) kernel.addFnAttr("nvvm.maxnreg", std::to_string(maxRegisters));
}

namespace {

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
    absl::Status s = runPipeline(module, **tm, options_.optLevel, info().tuning);
    if (s.ok()) applyPlans(module, info(), options_);
    return s;
  }

  absl::StatusOr<std::string> emitAssembly(llvm::Module &module) const override {
    absl::StatusOr<std::string> ptx = runCodegen(module, /*object=*/false);
    if (ptx.ok()) {
      dropDebugFlag(*ptx);
      stateStrideUnit(*ptx);
    }
    return ptx;
  }

  absl::StatusOr<ObjectInfo> assemble(llvm::StringRef ptx) const override { return makeCubin(ptx, arch_, options_); }

protected:
  std::unique_ptr<llvm::Module> copyForEmittingAgain(const llvm::Module &module) const override {
    bool mayNeedOtherPtx = planOf(module).requestMayCostSpills(info(), options_);
    return mayNeedOtherPtx ? llvm::CloneModule(module) : nullptr;
  }
  absl::StatusOr<ObjectInfo> assembleOf(const llvm::Module &module, llvm::StringRef ptx,
                                        std::unique_ptr<llvm::Module> copy) const override {
    auto emitWithoutRequest = [&]() -> absl::StatusOr<std::string> {
      withdrawRequests(*copy);
      absl::StatusOr<std::string> other = emitAssembly(*copy);
      if (!other.ok() && other.status().GetPayload(codegen::kAbandonModulePayload)) (void)copy.release();
      return other;
    };
    return makeCubin(ptx, arch_, options_, planOf(module), emitWithoutRequest);
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
  bool libraryMayBeFused() const override { return true; } // libdevice is written for that, as nvcc does

private:
  // Assemblers before CUDA 12.5, which are those that do not know PTX 8.5, take strides of tensor maps in other
  // units: they must refuse the text.
  static void stateStrideUnit(std::string &ptx) {
    static constexpr llvm::StringLiteral kOld = "\n.version 8.4\n";
    if (!llvm::StringRef(ptx).contains("tensormap.replace")) return;
    if (size_t at = ptx.find(kOld.data()); at != std::string::npos) ptx.replace(at, kOld.size(), "\n.version 8.5\n");
  }
  // `.target sm_90a, debug` makes ptxas keep code debuggable, that is, not optimise; line numbers do not need it.
  static void dropDebugFlag(std::string &ptx) {
    size_t target = ptx.find("\n.target ");
    if (target == std::string::npos) return;
    size_t end = ptx.find('\n', target + 1), debug = ptx.find(", debug", target);
    if (debug < end) ptx.erase(debug, strlen(", debug"));
  }
};

} // namespace

std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &options) {
  return std::make_unique<NvidiaBackend>(arch, options);
}

} // namespace tessera::nvidia
