// The link of an hsaco by lld, which is part of our program: it lays out sections, resolves the kernel descriptors'
// offsets and adds the dynamic symbol table in which the HSA loader finds kernels.
//
// lld keeps its state in a global, so links are serialised (0.3 ms each, the first one 1.7), and it reads and writes
// files only. It has LLVM remove the unfinished output on a signal, which installs handlers for all fatal signals in
// the process. A library must not change those: they are restored after each link.
//
// lld's driver calls the initialisers of every target that its LLVM was built with, at each link. The empty ones below
// replace those that we do not use: without them a statically linked program would contain twenty back ends. NVPTX and
// AMDGPU keep their real ones, and so does the host's target if the tests are built, which run code on it
// (TESSERA_HOST_TARGET). The list is that of LLVM 22 (llvm/Config/Targets.def); a target that is missing in it is a
// link error in a static program, harmless otherwise. Links hold the lock of LLVM's registry of targets, which these
// initialisers write.
// Source: LLVM "User Guide for AMDGPU Backend", section "ELF Code Object".
#include "codegen_amd/link.h"
#include "absl/status/status.h"
#include "codegen/object/backend.h"
#include "codegen/object/fatal_errors.h"
#include "codegen/object/temporary_file.h"
#include "lld/Common/Driver.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <mutex>

LLD_HAS_DRIVER(elf)

#define TESSERA_NO_PRINTER(TARGET)                                                                                     \
  extern "C" void LLVMInitialize##TARGET##TargetInfo();                                                                \
  extern "C" void LLVMInitialize##TARGET##Target();                                                                    \
  extern "C" void LLVMInitialize##TARGET##TargetMC();                                                                  \
  extern "C" void LLVMInitialize##TARGET##AsmPrinter();                                                                \
  extern "C" void LLVMInitialize##TARGET##TargetInfo() {}                                                              \
  extern "C" void LLVMInitialize##TARGET##Target() {}                                                                  \
  extern "C" void LLVMInitialize##TARGET##TargetMC() {}                                                                \
  extern "C" void LLVMInitialize##TARGET##AsmPrinter() {}
#define TESSERA_NO_TARGET(TARGET)                                                                                      \
  TESSERA_NO_PRINTER(TARGET)                                                                                           \
  extern "C" void LLVMInitialize##TARGET##AsmParser();                                                                 \
  extern "C" void LLVMInitialize##TARGET##AsmParser() {}

#if !defined(__aarch64__) || !defined(TESSERA_HOST_TARGET)
TESSERA_NO_TARGET(AArch64)
#endif
#if !defined(__arm__) || !defined(TESSERA_HOST_TARGET)
TESSERA_NO_TARGET(ARM)
#endif
#if !defined(__x86_64__) || !defined(TESSERA_HOST_TARGET)
TESSERA_NO_TARGET(X86)
#endif
TESSERA_NO_TARGET(AVR)
TESSERA_NO_TARGET(BPF)
TESSERA_NO_TARGET(Hexagon)
TESSERA_NO_TARGET(Lanai)
TESSERA_NO_TARGET(LoongArch)
TESSERA_NO_TARGET(M68k)
TESSERA_NO_TARGET(MSP430)
TESSERA_NO_TARGET(Mips)
TESSERA_NO_TARGET(PowerPC)
TESSERA_NO_TARGET(RISCV)
TESSERA_NO_PRINTER(SPIRV)
TESSERA_NO_TARGET(Sparc)
TESSERA_NO_TARGET(SystemZ)
TESSERA_NO_TARGET(VE)
TESSERA_NO_TARGET(WebAssembly)
TESSERA_NO_PRINTER(XCore)
TESSERA_NO_TARGET(Xtensa)

// Debian's LLVM registers Polly with the link-time optimiser, which lld references; the archive is not needed.
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "", [](llvm::PassBuilder &) {}, nullptr};
}

// lld gives all options of LLVM their defaults before it links, although it is passed none. They are the whole
// process's: two of them are set while other threads generate code (scheduler_options.h), and a host may have set its
// own. `--wrap` (CMakeLists.txt) directs lld's call here.
extern "C" void __wrap__ZN4llvm2cl25ResetAllOptionOccurrencesEv();   // NOLINT(bugprone-reserved-identifier)
extern "C" void __wrap__ZN4llvm2cl25ResetAllOptionOccurrencesEv() {} // NOLINT(bugprone-reserved-identifier)

#undef TESSERA_NO_PRINTER
#undef TESSERA_NO_TARGET

namespace tessera::amd {

/// What the process does on SIGINT: one of the signals that LLVM handles.
static struct sigaction interruptAction() {
  struct sigaction action = {};
  sigaction(SIGINT, nullptr, &action);
  return action;
}

absl::StatusOr<std::string> linkShared(llvm::StringRef relocatable) {
  absl::StatusOr<codegen::TemporaryFile> in = codegen::TemporaryFile::create("o"),
                                         out = codegen::TemporaryFile::create("hsaco");
  if (!in.ok()) return in.status();
  if (!out.ok()) return out.status();
  if (absl::Status s = in->write(relocatable); !s.ok()) return s;
  std::string messages;
  llvm::raw_string_ostream log(messages);
  // --threads=1: our callers compile in parallel themselves, and small links gain nothing.
  const char *arguments[] = {"ld.lld", "-shared", "--no-undefined", "--threads=1", in->path(), "-o", out->path()};
  {
    std::lock_guard<std::mutex> lock(codegen::llvmTargetRegistryMutex());
    // lld's state is lost if a link ends in the middle.
    static bool canRun = true;
    if (!canRun) return absl::InternalError("lld cannot link in this process any more: an earlier link ended in it");
    struct sigaction before = interruptAction();
    lld::Result result{1, false};
    std::string fatal;
    // Inside the lock: a fatal error would otherwise leave it locked.
    codegen::runCatchingFatalErrors([&] { result = lld::lldMain(arguments, log, log, {{lld::Gnu, &lld::elf::link}}); },
                                    fatal);
    canRun = result.canRunAgain;
    // If LLVM's handlers were there before, the program wants them.
    if (interruptAction().sa_sigaction != before.sa_sigaction) llvm::sys::unregisterHandlers();
    if (result.retCode != 0) return absl::InternalError("lld could not link the code object: " + messages + fatal);
  }
  return out->read();
}

} // namespace tessera::amd
