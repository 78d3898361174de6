// `tessera version`: what this program is made of and which toolchains it finds.
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/compiler.h"
#include "runtime/device.h"
#include "runtime/targets.h"
#include "tools/commands.h"

namespace tessera::tools {

int versionCommand(int argc, char **) {
  if (argc > 1) return fail(kUsage, "`tessera version` takes no arguments");
  llvm::outs() << "tessera 0.1.0, LLVM " << LLVM_VERSION_STRING << "\n";
  auto ptxas = llvm::sys::findProgramByName("ptxas");
  if (!ptxas) ptxas = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  llvm::outs() << "ptxas: " << (ptxas ? *ptxas : "not found") << "\n";
  auto jit = runtime::openLibrary("TESSERA_NVJITLINK", {"libnvJitLink.so.13", "libnvJitLink.so.12", "/usr/local/cuda/lib64/libnvJitLink.so"});
  llvm::outs() << "libnvJitLink: " << (jit.ok() ? "found" : "not found") << "\ntargets:";
  for (auto *t : runtime::allTargets()) llvm::outs() << " " << t->info.name;
  llvm::outs() << "\n";
  return kOk;
}

} // namespace tessera::tools
