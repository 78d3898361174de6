// From an LLVM module of lowered per-thread code (one or more kernels) to assembly and an object that a driver loads:
// PTX and cubin, or AMDGCN assembly and hsaco. The stages, in order, each on the same module:
//
//   prepare → linkDeviceLibrary → optimize → emitAssembly / emitObject
//
// A Backend is made once per (target, options) by nvidia::createBackend or amd::createBackend (runtime::createBackend
// picks) and may be used from many threads at once, each with a module in an LLVMContext of its own. The same module
// gives the same bytes in every program, every run and on any number of threads.
//
// State of the process, all of the compiler's:
//   kept, so that the second compilation of a process is much quicker than the first
//     LLVM's registry of targets, with those that were used
//     a pool of LLVM's target machines (backend.cpp)
//     the files of device libraries that were read (backend.cpp)
//     a loaded libnvJitLink (codegen_nvidia/object.cpp)
//     whether lld can still link (codegen_amd/link.cpp)
//   changed while a compilation runs, and as before when the last one ends
//     LLVM's handler of fatal errors (fatal_errors.h); another program's must be named to us
//     an option of LLVM's loop strength reduction (strength_reduction.h); AMD: two of its scheduler
//     (codegen_amd/scheduler_options.h)
//     AMD: LLVM's signal handlers, while an hsaco is linked (codegen_amd/link.cpp)
//
// Failures are Statuses: InvalidArgument (the module needs something that does not exist: an unknown library function,
// too much shared memory), NotFound (a tool or library is not installed; the text says where it was looked for),
// FailedPrecondition (a tool that is too old for the target), Internal (LLVM, ptxas or the linker refused our code).
#pragma once
#include "absl/status/statusor.h"
#include "codegen/object/arch_info.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace llvm {
class Function;
class LLVMContext;
class MemoryBuffer;
class Module;
class Target;
class TargetMachine;
namespace legacy {
class PassManagerBase;
} // namespace legacy
} // namespace llvm

namespace tessera::codegen {

/// Payloads of failures.
/// The number of the tt.elementwise_inline_asm whose text the assembler refused, counted as inlineAssemblyNumber does
/// (lowering.h).
inline constexpr const char *kInlineAssemblyPayload = "tessera/inline-assembly";
/// The symbol of the function that the program calls and that is unknown or has other types.
inline constexpr const char *kFunctionPayload = "tessera/function";
/// Values without registers take more memory than a thread can have.
inline constexpr const char *kStackSizePayload = "tessera/stack-size";
/// LLVM's state is lost (see Backend::compile).
inline constexpr const char *kAbandonModulePayload = "tessera/abandon-module";
/// An InvalidArgument error about a function that the program calls: "function 'NAME' WHAT".
absl::Status functionError(llvm::StringRef name, const llvm::Twine &what);

/// A tool that was started before its input exists, see BackendOptions::ahead.
class ToolAhead {
public:
  virtual ~ToolAhead() = default;
};

struct BackendOptions {
  int optLevel = 3; // 0: as lowered, 1: scalar clean-up, 2: loops too, 3: also what costs a second compilation (NVIDIA:
                    // ptxas where it can give lower register counts)
  bool fpFusion = true;       // a*b+c may become fma where the IR says `contract` or says nothing
  bool lineInfo = false;      // keep source lines in assembly and object
  int numWarps = 4;           // warps of a block
  int numCtas = 1;            // blocks of a cluster (NVIDIA, sm_90 and later)
  int maxRegisters = 0;       // bound on registers of a thread; 0: none
  int wavesPerEu = 0;         // AMD: waves of a SIMD that the registers are to allow; 0: LLVM's choice
  bool keepOptimized = false; // ObjectInfo::optimized is filled
  int dynamicSharedBytes = 0; // what the launch will give a block, for occupancy
  // NVIDIA: a ptxas that waits for PTX (runtime::startAhead); serves one compilation with these very options.
  std::shared_ptr<ToolAhead> ahead;
};

/// Wall-clock time per stage, in milliseconds; stages that did not run stay 0.
struct StageTimes {
  double deviceLibrary = 0, optimize = 0, assembly = 0, object = 0;
};

/// An object and what it will use per kernel. Resource figures are of the kernel that uses most, as the object itself
/// states them (cubin: .nv.info and symbol table; hsaco: the AMDGPU metadata note).
struct ObjectInfo {
  std::string optimized;         // LLVM IR after optimisation, with BackendOptions::keepOptimized
  std::string assembly;          // text; on AMD empty unless requested
  std::string object;            // ELF bytes
  int registers = 0;             // per thread, 32 bits each (AMD: vector registers, both kinds)
  int accumulatorRegisters = 0;  // AMD: accumulation registers among `registers`
  int scalarRegisters = 0;       // AMD: per wave
  int spillBytes = 0;            // per thread, bytes of memory that registers were spilled to
  int scratchBytesPerThread = 0; // local (private) memory, spills included
  int64_t staticSharedBytes = 0; // shared memory that the object itself declares
  int occupancy = 0;             // blocks per multiprocessor that registers, shared memory and warps allow
  std::string dotsSerialized;    // NVIDIA: why each warp-group dot waits for the one before it; empty: it does not
};

class Backend {
public:
  virtual ~Backend();
  Backend(const Backend &) = delete;
  Backend &operator=(const Backend &) = delete;

  const ArchInfo &arch() const { return arch_; }
  const ir::TargetInfo &info() const { return arch_.info; }
  const BackendOptions &options() const { return options_; }

  /// Sets triple, data layout and module flags, and on every kernel (calling convention PTX_Kernel, AMDGPU_KERNEL) the
  /// launch bounds that follow from the options.
  virtual absl::Status prepare(llvm::Module &) const = 0;

  /// Resolves calls of device-library functions (`__nv_*` of libdevice, `__ocml_*`, each understood on both vendors)
  /// with the functions used and no others. Does nothing, and needs no library installed, where there are no such
  /// calls.
  virtual absl::Status linkDeviceLibrary(llvm::Module &) const = 0;

  /// The vendor's LLVM passes (llvm_passes.cpp) at options().optLevel.
  virtual absl::Status optimize(llvm::Module &) const = 0;

  /// Assembly text. Instruction selection changes the module: afterwards it is good for nothing but destruction.
  virtual absl::StatusOr<std::string> emitAssembly(llvm::Module &) const = 0;

  /// Object and resource figures. Consumes the module as emitAssembly does. `keepAssembly` returns the text as well.
  /// Fatal errors of LLVM are failures with kAbandonModulePayload, as in compile.
  absl::StatusOr<ObjectInfo> emitObject(llvm::Module &, bool keepAssembly = false) const;

  /// Object from assembly text that emitAssembly gave (or a user wrote).
  virtual absl::StatusOr<ObjectInfo> assemble(llvm::StringRef assembly) const = 0;

  enum class Until { Optimized, Assembly, Object };
  /// Calls `use` with LLVM's target machine, for analyses that need it.
  absl::Status withMachine(llvm::function_ref<void(llvm::TargetMachine &)> use) const;

  /// All stages up to the one named, timed. With Until::Optimized the module is the result; with
  /// Until::Assembly only ObjectInfo::assembly is set. A failure with kAbandonModulePayload means that LLVM gave up in
  /// the middle of its work: module and context must not be touched again, nor destroyed.
  absl::StatusOr<ObjectInfo> compile(llvm::Module &, Until, bool keepAssembly = false,
                                     StageTimes *times = nullptr) const;

protected:
  Backend(const ArchInfo &arch, const BackendOptions &options);

  /// A TargetMachine for the use of one thread. LLVM's are not safe to share (they cache subtargets), so those not in
  /// use are kept and another is made when all are taken.
  class Machine {
  public:
    Machine(std::string key, std::unique_ptr<llvm::TargetMachine> tm);
    Machine(Machine &&) = default;
    ~Machine();
    llvm::TargetMachine &operator*() const { return *tm_; }
    llvm::TargetMachine *operator->() const { return tm_.get(); }

  private:
    std::string key_; // what it was made for
    std::unique_ptr<llvm::TargetMachine> tm_;
  };
  absl::StatusOr<std::string> runCodegenPasses(llvm::Module &, bool object) const;
  struct MachinePool;
  absl::StatusOr<Machine> machine(int optLevel) const;
  absl::StatusOr<Machine> machine() const { return machine(options_.optLevel); }
  absl::StatusOr<ObjectInfo> runStages(llvm::Module &, Until, bool keepAssembly, StageTimes *) const;

  /// Runs instruction selection and the printer (`object` false) or the object writer. Errors that LLVM reports
  /// through the context, or would end the process for, become the Status.
  absl::StatusOr<std::string> runCodegen(llvm::Module &, bool object) const;
  /// Runs `body` with the process-wide settings of LLVM's code generator that the vendor needs. `body` returns.
  virtual void withCodegenSettings(llvm::function_ref<void()> body) const { body(); }
  /// Passes of LLVM's code generator that find nothing to do, or nothing that matters, in this vendor's modules.
  virtual llvm::ArrayRef<llvm::StringLiteral> skippedCodegenPasses() const = 0;
  /// Adds analyses that LLVM's code generator uses instead of its own.
  virtual void addCodegenAnalyses(llvm::legacy::PassManagerBase &) const {}
  /// Adds passes of the vendor's after a pass of LLVM's code generator, by the argument that LLVM knows it by.
  virtual void addCodegenPassesAfter(llvm::StringRef /*argument*/, llvm::legacy::PassManagerBase &) const {}
  /// True where an object is made from assembly text (NVIDIA); else emitObjectDirectly goes without text.
  virtual bool objectNeedsAssembly() const = 0;
  /// Whether floating-point multiplications and additions of the device library may be fused as the lowered code's
  /// (which are marked `contract`) may.
  virtual bool libraryMayBeFused() const = 0;
  virtual absl::StatusOr<ObjectInfo> emitObjectDirectly(llvm::Module &) const;
  /// As assemble, of the text that emitAssembly made of the module, whose function attributes may state more.
  virtual absl::StatusOr<ObjectInfo> assembleOf(const llvm::Module &, llvm::StringRef assembly) const;
  /// Sets triple and data layout.
  absl::Status setLayout(llvm::Module &) const;

  const ArchInfo &arch_;
  const BackendOptions options_;
};

/// Whether `s` has kAbandonModulePayload; then module and context are given up without being destroyed. For owners of
/// both, after a stage that failed.
bool abandonIfLost(const absl::Status &s, std::unique_ptr<llvm::Module> &, std::unique_ptr<llvm::LLVMContext> &);

/// LLVM's target of an architecture. The first call for a vendor registers the vendor's target and no other: that
/// costs time at every start of a program that compiles one kernel.
absl::StatusOr<const llvm::Target *> llvmTarget(const ArchInfo &arch);

/// LLVM's registry of targets is a plain list: whoever reads or writes it holds this.
std::mutex &llvmTargetRegistryMutex();

/// Names of device-library functions that the module calls and does not define: those that start with `__nv_`,
/// `__ocml_`, `__ockl_`.
std::vector<std::string> undefinedLibraryFunctions(const llvm::Module &);

/// Links into `module` the functions of a bitcode file that it calls, with what they call, as internal functions.
/// All functions that it calls and whose names start with the prefix must be there. The file is read once per process.
absl::Status linkBitcodeLibrary(llvm::Module &module, const std::string &path, llvm::StringRef prefix);

/// Replaces the declaration `from` by one named `to` of the same type. @pre the module declares `from`.
void renameDeclaration(llvm::Module &module, llvm::StringRef from, llvm::StringRef to);

} // namespace tessera::codegen
