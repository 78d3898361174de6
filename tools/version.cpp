// `tessera version`: what this program is made of and which toolchains it finds.
#include "runtime/compiler/targets.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

namespace tessera::tools {

int versionCommand(int argc, char **argv) {
  CLI::App app("Prints the versions of Tessera, LLVM and the toolchains found", "tessera version");
  if (auto code = parseArguments(app, argc, argv)) return *code;
  llvm::outs() << "tessera " TESSERA_VERSION_TEXT ", LLVM " << LLVM_VERSION_STRING << "\n";
  for (auto &line : runtime::describeToolchains()) llvm::outs() << line << "\n";
  llvm::outs() << "targets:";
  for (auto *t : runtime::allTargets()) llvm::outs() << " " << t->info.name;
  llvm::outs() << "\n";
  return kOk;
}

} // namespace tessera::tools
