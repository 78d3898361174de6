// The AMD back end's stages; the work of each is in device_library.cpp, llvm_passes.cpp and object.cpp.
//
// Peculiar to AMD: LLVM makes the final machine code, so order and registers are its doing; the object is a shared
// library of code object version 5 that lld links; resource figures stand in a note of it. Kernels that do not use
// dispatch packet, queue, y and z of ids and so on say so by attributes, or else registers are set up for them.
// Source: LLVM "User Guide for AMDGPU Backend" (function attributes, module flags, code object V5).
#include "codegen_amd/backend.h"
#include "absl/status/status.h"
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "codegen_amd/device_library.h"
#include "codegen_amd/eviction_budget.h"
#include "codegen_amd/llvm_passes.h"
#include "codegen_amd/machine_passes.h"
#include "codegen_amd/object.h"
#include "codegen_amd/passes/block_attributes.h"
#include "codegen_amd/passes/mark_next_block.h"
#include "codegen_amd/passes/mark_spills.h"
#include "codegen_amd/scheduler_options.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tessera::amd {

using codegen::ObjectInfo;

void setKernelAttributes(llvm::Function &kernel, unsigned threadsPerBlock, unsigned maxRegisters) {
  kernel.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  kernel.addFnAttr("amdgpu-flat-work-group-size", "1," + std::to_string(threadsPerBlock));
  kernel.addFnAttr("uniform-work-group-size", "true");
  if (maxRegisters) kernel.addFnAttr("amdgpu-num-vgpr", std::to_string(maxRegisters));
  for (llvm::Argument &a : kernel.args()) a.addAttr(llvm::Attribute::InReg);
}

/// Names the beginning of LDS by its address, as nothing of it is allocated statically: LLVM, which learns that only
/// when it encodes instructions, would add the symbol, 0, to each address. Nothing reads the symbol after this.
static void addressSharedMemory(llvm::Module &module) {
  llvm::GlobalVariable *dynamic = nullptr;
  for (llvm::GlobalVariable &g : module.globals()) {
    if (g.getAddressSpace() != codegen::kSharedSpace) continue;
    if (dynamic || !g.isDeclaration()) return;
    dynamic = &g;
  }
  if (!dynamic) return;
  dynamic->replaceAllUsesWith(llvm::ConstantPointerNull::get(dynamic->getType()));
  dynamic->eraseFromParent();
}

/// Whether a function calls intrinsics whose names have a part.
static bool calls(const llvm::Function &f, llvm::StringRef part) {
  return llvm::any_of(llvm::instructions(f), [&](const llvm::Instruction &i) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    return call && call->getCalledFunction()->getName().contains(part);
  });
}

/// Says how many waves LDS admits where there are WMMA: LLVM, which does not know how much a block takes, saves
/// registers for more of them.
static void boundWavesByShared(llvm::Module &module, const ir::TargetInfo &info) {
  if (info.matrixUnit != ir::MatrixUnit::Wmma) return;
  for (llvm::Function &f : module) {
    int64_t bytes = sharedBytesOfBlock(f);
    if (f.isDeclaration() || !bytes || !calls(f, "wmma") || f.hasFnAttribute("amdgpu-waves-per-eu")) continue;
    int64_t blocks = std::max<int64_t>(1, info.blocksBySharedMemory(bytes));
    int64_t waves = int64_t(llvm::divideCeil(blocks * wavesOfBlock(f, info), info.schedulersPerMultiprocessor));
    waves = std::max(waves, info.tuning.leastWavesByShared);
    if (waves * info.schedulersPerMultiprocessor < info.maxWarpsPerMultiprocessor)
      f.addFnAttr("amdgpu-waves-per-eu", "1," + std::to_string(waves));
  }
}

namespace {

class AmdBackend final : public codegen::Backend {
public:
  AmdBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &options, CodegenVariant variant = {})
      : Backend(arch, options), variant_(variant) {}

  absl::Status prepare(llvm::Module &module) const override {
    if (options_.numCtas > 1)
      return absl::InvalidArgumentError(info().name.str() + " has no clusters of blocks: --num-ctas must be 1");
    if (absl::Status s = checkSchedulerOptions(); !s.ok()) return s;
    if (absl::Status s = setLayout(module); !s.ok()) return s;
    module.setModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
    for (llvm::Function &f : module)
      if (f.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && !f.isDeclaration()) {
        setKernelAttributes(f, unsigned(options_.numWarps * info().warpSize), unsigned(options_.maxRegisters));
        // Least and most in one: LLVM aims at one number of registers. What block size or LDS rule out it ignores.
        std::string waves = std::to_string(options_.wavesPerEu);
        if (options_.wavesPerEu) f.addFnAttr("amdgpu-waves-per-eu", waves + "," + waves);
      }
    return absl::OkStatus();
  }

  absl::Status linkDeviceLibrary(llvm::Module &module) const override { return amd::linkDeviceLibrary(module, arch_); }

  absl::Status optimize(llvm::Module &module) const override {
    absl::StatusOr<Machine> tm = machine();
    if (!tm.ok()) return tm.status();
    return runLLVMPasses(module, **tm, options_.optLevel, info());
  }

  absl::StatusOr<std::string> emitAssembly(llvm::Module &module) const override {
    addressSharedMemory(module);
    return generateByTrial(module, /*object=*/false);
  }

  absl::StatusOr<ObjectInfo> assemble(llvm::StringRef assembly) const override {
    absl::StatusOr<std::string> relocatable = assembleText(assembly, arch_);
    if (!relocatable.ok()) return relocatable.status();
    return makeHsaco(*relocatable, arch_, options_);
  }

protected:
  bool objectNeedsAssembly() const override { return false; }
  void withCodegenSettings(llvm::function_ref<void()> body) const override {
    withSchedulerOptions(body, variant_.tracker);
  }
  llvm::ArrayRef<llvm::StringLiteral> skippedCodegenPasses() const override {
    static constexpr llvm::StringLiteral kSkipped[] = {"amdgpu-image-intrinsic-opt", "amdgpu-lower-ctor-dtor",
                                                       "amdgpu-sw-lower-lds"};
    return kSkipped;
  }
  void addCodegenAnalyses(llvm::legacy::PassManagerBase &passes) const override {
    passes.add(createEvictionBudget(info().tuning.maxEvictionTries));
  }
  void addCodegenPassesAfter(llvm::StringRef argument, llvm::legacy::PassManagerBase &passes) const override {
    addMachinePassesAfter(argument, info(), options_.optLevel, variant_, passes);
  }
  bool libraryMayBeFused() const override { return false; } // fused, ocml's sinh of small numbers loses half its bits

  absl::StatusOr<ObjectInfo> emitObjectDirectly(llvm::Module &module) const override {
    addressSharedMemory(module);
    absl::StatusOr<std::string> relocatable = generateByTrial(module, /*object=*/true);
    if (!relocatable.ok()) return relocatable.status();
    return makeHsaco(*relocatable, arch_, options_);
  }

private:
  /// Code of the module; where it misses a mark, the first of the other variants that does not. Where registers are
  /// spilled:
  ///   - what is not used in loops with matrix instructions is computed again after them;
  ///   - LLVM's scheduler with the other tracker. Not with MFMA, between which another scheduler puts what fills their
  ///     latency (mfma-scheduler).
  /// Each if nothing is spilled then. Where a few registers less make room for a second block of threads, code for two;
  /// if that spills a little, code that computes again for two, if it spills nothing. For a third block or a later one,
  /// the first of both that spills nothing.
  absl::StatusOr<std::string> generateByTrial(llvm::Module &module, bool object) const {
    if (options_.optLevel < 2) return runCodegen(module, object);
    bool hasMfma = declares(module, "mfma");
    bool hasMatrices = hasMfma || declares(module, "wmma");
    boundWavesByShared(module, info());
    // For copies in contexts of their own, which can be given up if LLVM fails.
    llvm::SmallString<0> bitcode;
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(module, stream);
    absl::StatusOr<std::string> code = runCodegen(module, object);
    if (!code.ok()) return code;
    llvm::SmallVector<CodegenVariant, 2> variants;
    if (spilledBytes(module) > 0) {
      if (hasMatrices) variants.push_back({.recomputed = RecomputedAfter::EveryLoop});
      if (!hasMfma) variants.push_back({.tracker = PressureTracker::Shared});
    } else if (int64_t blocks = hasMatrices ? blocksWithNext(module) : 0; blocks > 2) {
      variants.push_back({.isForNextBlock = true});
      variants.push_back({.recomputed = RecomputedAfter::EveryLoop, .isForNextBlock = true});
    } else if (blocks == 2) {
      int64_t spilled = 0;
      auto two = generateAgain(module, bitcode, {.isForNextBlock = true}, object, &spilled);
      if (!two.ok()) return code;
      constexpr int64_t kRegisterBytes = 4;
      CodegenVariant again = {.recomputed = RecomputedAfter::EveryLoop, .isForNextBlock = true};
      if (spilled)
        for (int64_t most : {2 * spilled / kRegisterBytes, int64_t(0)}) {
          again.mostRecomputed = most;
          if (auto other = generateAgain(module, bitcode, again, object); other.ok()) return other;
        }
      return two;
    }
    for (CodegenVariant variant : variants)
      if (auto other = generateAgain(module, bitcode, variant, object); other.ok()) return other;
    return code;
  }

  /// Code of the module's copy, as a variant; an error if it is no better, or if LLVM fails. `spilled`: takes a few
  /// spills around loops for a second block, and says how many bytes.
  absl::StatusOr<std::string> generateAgain(llvm::Module &module, llvm::StringRef bitcode, CodegenVariant variant,
                                            bool object, int64_t *spilled = nullptr) const {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, module.getModuleIdentifier()), *context);
    if (!parsed) return absl::InternalError(llvm::toString(parsed.takeError()));
    std::unique_ptr<llvm::Module> copy = std::move(*parsed);
    if (variant.isForNextBlock) requestNextBlock(*copy, module);
    absl::StatusOr<std::string> other = AmdBackend(arch_, options_, variant).runCodegen(*copy, object);
    if (codegen::abandonIfLost(other.status(), copy, context) || !other.ok()) return other;
    // A few spills less may cost more than they save; around loops, some cost less than a second block saves.
    int64_t bytes = spilledBytes(*copy), most = spilled ? info().tuning.secondBlockRegisterSpills : 0;
    if (bytes > most || (bytes && spillsInLoops(*copy))) return absl::ResourceExhaustedError("registers are spilled");
    if (spilled) *spilled = bytes;
    takeNotes(module, *copy);
    return other;
  }

  static bool declares(const llvm::Module &module, llvm::StringRef instruction) {
    return llvm::any_of(
        module, [&](const llvm::Function &f) { return f.isDeclaration() && f.getName().contains(instruction); });
  }

  static bool spillsInLoops(const llvm::Module &module) {
    return llvm::any_of(module, [](const llvm::Function &f) { return f.hasFnAttribute(codegen::kSpilledInLoops); });
  }

  /// Of the code that is taken: what remarks and trials of the compiler read.
  static void takeNotes(llvm::Module &module, const llvm::Module &taken) {
    removeSpills(module);
    for (llvm::Function &f : module) {
      const llvm::Function *other = taken.getFunction(f.getName());
      f.removeFnAttr(codegen::kRaisedPriorities);
      if (other && other->hasFnAttribute(codegen::kRaisedPriorities))
        f.addFnAttr(other->getFnAttribute(codegen::kRaisedPriorities));
    }
  }

  const CodegenVariant variant_;
};

} // namespace

std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &options) {
  return std::make_unique<AmdBackend>(arch, options);
}

} // namespace tessera::amd
