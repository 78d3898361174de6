// What the two back ends share: the stages in order with their times, a pool of TargetMachines, the run of LLVM's code
// generator with its errors caught, and linking from bitcode libraries. Everything an LLVM module or context reports
// while a stage runs is collected and becomes the stage's Status; nothing is printed. An error at which LLVM would end
// the process (`report_fatal_error`) fails the call too, see fatal_errors.h.
#include "codegen/object/backend.h"
#include "absl/status/status.h"
#include "codegen/attribute_names.h"
#include "codegen/object/collect_diagnostics.h"
#include "codegen/object/fatal_errors.h"
#include "codegen/object/strength_reduction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <cassert>
#include <chrono>

namespace tessera::codegen {

std::mutex &llvmTargetRegistryMutex() {
  static std::mutex mutex;
  return mutex;
}

absl::StatusOr<const llvm::Target *> llvmTarget(const ArchInfo &arch) {
  std::lock_guard<std::mutex> lock(llvmTargetRegistryMutex());
  arch.registerLLVMTarget();
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(llvm::Triple(arch.triple), error);
  if (!target) return absl::InternalError("this LLVM has no back end for " + arch.triple.str() + ": " + error);
  return target;
}

Backend::Backend(const ArchInfo &arch, const BackendOptions &options) : arch_(arch), options_(options) {}
Backend::~Backend() = default;

// ---- machines ----

// Kept for the whole process, by what they were made for: making one and what it caches costs more than it takes to
// generate the code of a small kernel (AMDGPU: more than half of a compilation). Never destroyed: threads may outlive
// us.
struct Backend::MachinePool {
  using Free = std::vector<std::unique_ptr<llvm::TargetMachine>>;
  std::mutex mutex;
  llvm::StringMap<Free> free;

  static MachinePool &instance() {
    static auto *pool = new MachinePool;
    return *pool;
  }
};

Backend::Machine::Machine(std::string key, std::unique_ptr<llvm::TargetMachine> tm)
    : key_(std::move(key)), tm_(std::move(tm)) {}
Backend::Machine::~Machine() {
  if (!tm_) return;
  MachinePool &pool = MachinePool::instance();
  std::lock_guard<std::mutex> lock(pool.mutex);
  pool.free[key_].push_back(std::move(tm_));
}

absl::StatusOr<Backend::Machine> Backend::machine(int optLevel) const {
  std::string key =
      llvm::formatv("{0} {1} {2} {3} {4}", arch_.triple, arch_.cpu, arch_.features, options_.fpFusion, optLevel);
  {
    MachinePool &pool = MachinePool::instance();
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (MachinePool::Free &free = pool.free[key]; !free.empty()) {
      std::unique_ptr<llvm::TargetMachine> tm = std::move(free.back());
      free.pop_back();
      return Machine(std::move(key), std::move(tm));
    }
  }
  absl::StatusOr<const llvm::Target *> target = llvmTarget(arch_);
  if (!target.ok()) return target.status();
  llvm::TargetOptions o;
  o.AllowFPOpFusion = !options_.fpFusion    ? llvm::FPOpFusion::Strict
                      : libraryMayBeFused() ? llvm::FPOpFusion::Fast
                                            : llvm::FPOpFusion::Standard;
  o.MCOptions.AsmVerbose = false; // comments cost time to write and again to parse
  // Aggressive instead of Default costs 3 % (NVPTX) to 8 % (AMDGPU) of the time and gives the same PTX registers and
  // instructions, and 2 % more AMD instructions (measured over 18 kernels).
  auto level = optLevel <= 0   ? llvm::CodeGenOptLevel::None
               : optLevel == 1 ? llvm::CodeGenOptLevel::Less
                               : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> tm((*target)->createTargetMachine(
      llvm::Triple(arch_.triple), arch_.cpu, arch_.features, o, llvm::Reloc::PIC_, std::nullopt, level));
  if (!tm) return absl::InternalError("LLVM cannot make a target machine for " + arch_.info.name.str());
  return Machine(std::move(key), std::move(tm));
}

absl::Status Backend::withMachine(llvm::function_ref<void(llvm::TargetMachine &)> use) const {
  absl::StatusOr<Machine> tm = machine();
  if (tm.ok()) use(**tm);
  return tm.status();
}

// ---- stages ----

absl::Status Backend::setLayout(llvm::Module &module) const {
  absl::StatusOr<Machine> tm = machine();
  if (!tm.ok()) return tm.status();
  module.setTargetTriple((*tm)->getTargetTriple());
  module.setDataLayout((*tm)->createDataLayout());
  return absl::OkStatus();
}

namespace {

/// Passes of LLVM's code generators that find nothing in our modules, by the argument LLVM knows a pass by, or else by
/// its name. They are for calls of a C library, garbage collection, exceptions, instrumentation, statepoints, variadic
/// functions, variables in a debugger and masked vector accesses; or the lowering and the pipelines have done their
/// work (constants are placed, no loop has a freeze that its induction variable needs, sums are in order). To make such
/// a pass, place it among the analyses and run it on each function costs as much as the useful ones for a small kernel.
constexpr llvm::StringLiteral kSkippedPasses[] = {"Expand variadic functions",
                                                  "callbrprepare",
                                                  "canon-freeze",
                                                  "consthoist",
                                                  "expand-memcmp",
                                                  "fentry-insert",
                                                  "fixup-statepoint-caller-saved",
                                                  "gc-analysis",
                                                  "gc-lowering",
                                                  "livedebugvalues",
                                                  "lowerinvoke",
                                                  "machine-sanmd",
                                                  "mergeicmps",
                                                  "nary-reassociate",
                                                  "objc-arc-contract",
                                                  "partially-inline-libcalls",
                                                  "post-inline-ee-instrument",
                                                  "remove-loads-into-fake-uses",
                                                  "removeredundantdebugvalues",
                                                  "replace-with-veclib",
                                                  "safe-stack",
                                                  "scalarize-masked-mem-intrin",
                                                  "shadow-stack-gc-lowering",
                                                  "stack-frame-layout",
                                                  "xray-instrumentation"};

/// Adds, muls and addresses of a function beyond which LLVM's straight-line strength reduction is left out: it compares
/// each with those before it. Measured: x86-64, 2026-11, tessera compile --target sm_90a --emit ptx: 2,000 of them take
/// 1.7 s, 3,000 take 10 s. Kernels of tests/kernels have at most 424.
constexpr int kMostReducedInstructions = 2048;

bool isReduced(const llvm::Instruction &i) {
  unsigned op = i.getOpcode();
  return op == llvm::Instruction::Add || op == llvm::Instruction::Mul || op == llvm::Instruction::GetElementPtr;
}

/// Whether straight-line strength reduction would take too long for some function.
bool hasTooManyToReduce(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &f) {
    return llvm::count_if(llvm::instructions(f), isReduced) > kMostReducedInstructions;
  });
}

/// A pass manager without the passes that find nothing, those above and the vendor's, and with passes that the vendor
/// adds after LLVM's.
class UsefulPasses final : public llvm::legacy::PassManagerBase {
public:
  using AddAfter = llvm::function_ref<void(llvm::StringRef, llvm::legacy::PassManagerBase &)>;
  UsefulPasses(const llvm::Module &module, llvm::ArrayRef<llvm::StringLiteral> skippedByVendor, AddAfter addAfter)
      : skippedByVendor_(skippedByVendor), addAfter_(addAfter), reducesStrength_(!hasTooManyToReduce(module)) {}
  void add(llvm::Pass *pass) override {
    const llvm::PassInfo *info = llvm::Pass::lookupPassInfo(pass->getPassID());
    llvm::StringRef name = info ? info->getPassArgument() : pass->getPassName();
    bool cleansUp = name == "early-cse" && afterReassociation_; // LLVM adds one more after nary-reassociate
    afterReassociation_ = name == "nary-reassociate";
    bool takesTooLong = name == "slsr" && !reducesStrength_;
    if (cleansUp || takesTooLong || llvm::is_contained(kSkippedPasses, name) ||
        llvm::is_contained(skippedByVendor_, name))
      delete pass;
    else {
      std::string argument = name.str(); // the pass may be gone once it is added
      passes_.add(pass);
      addAfter_(argument, passes_);
    }
  }
  void run(llvm::Module &module) { passes_.run(module); }

private:
  llvm::legacy::PassManager passes_;
  llvm::ArrayRef<llvm::StringLiteral> skippedByVendor_;
  AddAfter addAfter_;
  bool afterReassociation_ = false;
  bool reducesStrength_;
};

absl::Status fatalError(const ir::TargetInfo &target, const std::string &text) {
  absl::Status s = absl::InternalError("LLVM cannot compile this for " + target.name.str() + ": " + text);
  s.SetPayload(kAbandonModulePayload, absl::Cord("1"));
  return s;
}

} // namespace

absl::StatusOr<std::string> Backend::runCodegen(llvm::Module &module, bool object) const {
  // The settings are outside: a fatal error leaves the body without running destructors.
  absl::StatusOr<std::string> result;
  std::string fatal;
  bool finished = false;
  withCodegenSettings([&] {
    withDroppedReductions(
        [&] { finished = runCatchingFatalErrors([&] { result = runCodegenPasses(module, object); }, fatal); });
  });
  return finished ? result : fatalError(arch_.info, fatal);
}

absl::StatusOr<std::string> Backend::runCodegenPasses(llvm::Module &module, bool object) const {
  assert(!llvm::verifyModule(module, &llvm::errs()) && "our passes have broken the module");
  // A machine of its own, not another level for this one: at level 0 LLVM sets options of the machine (EnableFastISel)
  // and never resets them, so that later kernels would get other code.
  bool spillsAnyway = llvm::any_of(module, [](auto &f) { return f.hasFnAttribute(kSpillsAnyway); });
  absl::StatusOr<Machine> tm = machine(spillsAnyway ? 0 : options_.optLevel);
  if (!tm.ok()) return tm.status();
  CollectDiagnostics diagnostics(module.getContext());
  llvm::SmallString<0> text;
  text.reserve(64 << 10);
  {
    llvm::raw_svector_ostream out(text);
    auto addAfter = [&](llvm::StringRef argument, llvm::legacy::PassManagerBase &to) {
      addCodegenPassesAfter(argument, to);
    };
    UsefulPasses passes(module, skippedCodegenPasses(), addAfter);
    addCodegenAnalyses(passes);
    auto kind = object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
    if ((*tm)->addPassesToEmitFile(passes, out, nullptr, kind, /*DisableVerify=*/true))
      return absl::InternalError("LLVM cannot write this kind of file for " + arch_.info.name.str());
    passes.run(module);
  }
  if (diagnostics.hasErrors()) {
    absl::Status s =
        diagnostics.ofUserAssembly()
            ? absl::InvalidArgumentError(diagnostics.text())
            : absl::InternalError("code generation for " + arch_.info.name.str() + " failed: " + diagnostics.text());
    if (diagnostics.ofUserAssembly())
      s.SetPayload(kInlineAssemblyPayload, absl::Cord(std::to_string(diagnostics.assemblyNumber()).c_str()));
    if (diagnostics.ofStackSize()) s.SetPayload(kStackSizePayload, absl::Cord());
    return s;
  }
  return std::string(text);
}

absl::StatusOr<ObjectInfo> Backend::compile(llvm::Module &module, Until until, bool keepAssembly,
                                            StageTimes *times) const {
  absl::StatusOr<ObjectInfo> result;
  std::string fatal;
  if (runCatchingFatalErrors([&] { result = runStages(module, until, keepAssembly, times); }, fatal)) return result;
  return fatalError(arch_.info, fatal);
}

bool abandonIfLost(const absl::Status &s, std::unique_ptr<llvm::Module> &module,
                   std::unique_ptr<llvm::LLVMContext> &context) {
  if (!s.GetPayload(kAbandonModulePayload)) return false;
  (void)module.release();
  (void)context.release();
  return true;
}

absl::StatusOr<ObjectInfo> Backend::runStages(llvm::Module &module, Until until, bool keepAssembly,
                                              StageTimes *times) const {
  auto last = std::chrono::steady_clock::now();
  auto lap = [&](double StageTimes::*stage) {
    auto now = std::chrono::steady_clock::now();
    if (times) times->*stage += std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
  };
  if (absl::Status s = prepare(module); !s.ok()) return s;
  if (absl::Status s = linkDeviceLibrary(module); !s.ok()) return s;
  lap(&StageTimes::deviceLibrary);
  if (absl::Status s = optimize(module); !s.ok()) return s;
  lap(&StageTimes::optimize);
  // Instruction selection changes the module: what is kept of it is printed now.
  ObjectInfo info;
  if (options_.keepOptimized) {
    llvm::raw_string_ostream text(info.optimized);
    module.print(text, nullptr);
  }
  if (until == Until::Optimized) return info;
  if (until == Until::Assembly || keepAssembly || objectNeedsAssembly()) {
    absl::StatusOr<std::string> assembly = emitAssembly(module);
    if (!assembly.ok()) return assembly.status();
    lap(&StageTimes::assembly);
    if (until == Until::Assembly) {
      info.assembly = *std::move(assembly);
      return info;
    }
    absl::StatusOr<ObjectInfo> object = assembleOf(module, *assembly);
    if (object.ok()) {
      object->optimized = std::move(info.optimized);
      if (keepAssembly || objectNeedsAssembly()) object->assembly = *std::move(assembly);
    }
    lap(&StageTimes::object);
    return object;
  }
  absl::StatusOr<ObjectInfo> object = emitObject(module);
  if (object.ok()) object->optimized = std::move(info.optimized);
  lap(&StageTimes::object);
  return object;
}

absl::StatusOr<ObjectInfo> Backend::emitObject(llvm::Module &module, bool keepAssembly) const {
  if (!keepAssembly && !objectNeedsAssembly()) return emitObjectDirectly(module);
  absl::StatusOr<std::string> assembly = emitAssembly(module);
  if (!assembly.ok()) return assembly.status();
  absl::StatusOr<ObjectInfo> object = assembleOf(module, *assembly);
  if (object.ok()) object->assembly = *std::move(assembly);
  return object;
}

absl::StatusOr<ObjectInfo> Backend::assembleOf(const llvm::Module &, llvm::StringRef assembly) const {
  return assemble(assembly);
}

absl::StatusOr<ObjectInfo> Backend::emitObjectDirectly(llvm::Module &) const {
  return absl::InternalError("this back end makes objects from assembly text only");
}

// ---- device libraries ----

std::vector<std::string> undefinedLibraryFunctions(const llvm::Module &module) {
  std::vector<std::string> names;
  for (const llvm::Function &f : module)
    if (f.isDeclaration() && !f.use_empty() &&
        (f.getName().starts_with("__nv_") || f.getName().starts_with("__ocml_") || f.getName().starts_with("__ockl_")))
      names.push_back(f.getName().str());
  return names;
}

void renameDeclaration(llvm::Module &module, llvm::StringRef from, llvm::StringRef to) {
  llvm::Function *f = module.getFunction(from);
  if (llvm::Function *existing = module.getFunction(to);
      existing && existing->getFunctionType() == f->getFunctionType()) {
    f->replaceAllUsesWith(existing);
    f->eraseFromParent();
    return;
  }
  f->setName(to);
}

// The bytes of a library file; read once, kept to the end of the process. Null if it cannot be read.
static const llvm::MemoryBuffer *libraryFile(const std::string &path) {
  static std::mutex mutex;
  static llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<llvm::MemoryBuffer> &file = files[path];
  if (!file)
    if (auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false))
      file = std::move(*buffer);
  return file.get();
}

static std::string textOf(const llvm::Type &t) {
  std::string text;
  llvm::raw_string_ostream(text) << t;
  return text;
}

absl::Status functionError(llvm::StringRef name, const llvm::Twine &what) {
  absl::Status s = absl::InvalidArgumentError(("function '" + name + "' " + what).str());
  s.SetPayload(kFunctionPayload, absl::Cord(absl::string_view(name.data(), name.size())));
  return s;
}

namespace {

/// Functions of libraries with all that they call, as bitcode, by library and names; kept to the end of the process. To
/// parse the names and types of a whole library takes two milliseconds, and the kernels of a program call few sets.
class LibraryParts {
public:
  using Bitcode = llvm::SmallVector<char, 0>;

  static LibraryParts &instance() {
    static auto *parts = new LibraryParts;
    return *parts;
  }
  /// Null: it is not kept.
  const Bitcode *find(llvm::StringRef key) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto known = parts_.find(key);
    return known == parts_.end() ? nullptr : &known->second;
  }
  void keep(llvm::StringRef key, const llvm::Module &part) {
    Bitcode bitcode;
    llvm::raw_svector_ostream out(bitcode);
    llvm::WriteBitcodeToFile(part, out);
    std::lock_guard<std::mutex> lock(mutex_);
    parts_.try_emplace(key, std::move(bitcode)); // another thread's stays
  }

private:
  std::mutex mutex_;
  llvm::StringMap<Bitcode> parts_; // entries are never moved nor erased
};

} // namespace

/// The functions `wanted` of a library, with what they call, for linking into the module.
static absl::StatusOr<std::unique_ptr<llvm::Module>> libraryPart(llvm::Module &module, const std::string &path,
                                                                 llvm::ArrayRef<std::string> wanted) {
  auto unreadable = [&](llvm::Error e) {
    return absl::FailedPreconditionError("device library " + path + ": " + llvm::toString(std::move(e)));
  };
  std::string key = path + '\n' + llvm::join(wanted, "\n");
  if (const LibraryParts::Bitcode *bitcode = LibraryParts::instance().find(key)) {
    auto part = llvm::parseBitcodeFile({{bitcode->data(), bitcode->size()}, path}, module.getContext());
    if (!part) return unreadable(part.takeError());
    (*part)->setTargetTriple(module.getTargetTriple());
    (*part)->setDataLayout(module.getDataLayout());
    return std::move(*part);
  }
  const llvm::MemoryBuffer *file = libraryFile(path);
  if (!file) return absl::NotFoundError("cannot read the device library " + path);
  // Lazy: function bodies are parsed only when the linker takes them.
  llvm::Expected<std::unique_ptr<llvm::Module>> library =
      llvm::getLazyBitcodeModule(file->getMemBufferRef(), module.getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (!library) return unreadable(library.takeError());
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  auto part = std::make_unique<llvm::Module>(path, module.getContext());
  part->setTargetTriple(module.getTargetTriple());
  part->setDataLayout(module.getDataLayout());
  for (const std::string &name : wanted)
    if (const llvm::Function *f = (*library)->getFunction(name)) part->getOrInsertFunction(name, f->getFunctionType());
  if (llvm::Linker::linkModules(*part, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return absl::InternalError("linking the device library " + path + " failed");
  LibraryParts::instance().keep(key, *part);
  return part;
}

absl::Status linkBitcodeLibrary(llvm::Module &module, const std::string &path, llvm::StringRef prefix) {
  CollectDiagnostics diagnostics(module.getContext());
  std::vector<std::string> wanted = undefinedLibraryFunctions(module);
  llvm::erase_if(wanted, [&](const std::string &n) { return !llvm::StringRef(n).starts_with(prefix); });
  if (wanted.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<llvm::Module>> part = libraryPart(module, path, wanted);
  if (!part.ok()) return part.status();
  bool failed = llvm::Linker::linkModules(module, *std::move(part), llvm::Linker::LinkOnlyNeeded,
                                          [](llvm::Module &m, const llvm::StringSet<> &linked) {
                                            llvm::internalizeModule(m, [&](const llvm::GlobalValue &v) {
                                              return !v.hasName() || !linked.contains(v.getName());
                                            });
                                          });
  if (failed || diagnostics.hasErrors())
    return absl::InternalError("linking the device library " + path + " failed: " + diagnostics.text());
  for (const std::string &name : wanted) {
    const llvm::Function *f = module.getFunction(name);
    if (f->isDeclaration()) return functionError(name, "is not in the device library " + path);
    // With opaque pointers a call may disagree with the definition that it got.
    for (const llvm::Use &use : f->uses())
      if (const auto *call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
          call && call->isCallee(&use) && call->getFunctionType() != f->getFunctionType())
        return functionError(name, "has type " + textOf(*f->getFunctionType()) + " in the device library, not " +
                                       textOf(*call->getFunctionType()));
  }
  // The library was compiled for no processor in particular; what it says of one would keep it from being inlined.
  for (llvm::Function &f : module)
    for (llvm::StringRef attribute : {"target-cpu", "target-features"}) f.removeFnAttr(attribute);
  return absl::OkStatus();
}

} // namespace tessera::codegen
