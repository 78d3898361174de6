// `tessera devices`: the GPUs of this machine.
#include "runtime/open_device.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

namespace tessera::tools {
using namespace runtime;

int devicesCommand(int argc, char **argv) {
  CLI::App app("Lists the GPUs of this machine with their targets", "tessera devices");
  if (auto code = parseArguments(app, argc, argv)) return *code;
  std::vector<std::string> problems;
  for (auto &d : enumerateDevices(problems))
    llvm::outs() << llvm::formatv("{0,-16}  {1}  {2}  {3} MiB  {4}\n", d->spec(), d->name(), d->target(),
                                  d->memoryBytes() >> 20, d->driver());
  llvm::outs() << "interpreter       any IR\nemulator:TARGET   any target, on the CPU\n";
  for (auto &p : problems) llvm::outs() << "note: " << p << "\n";
  return kOk;
}

} // namespace tessera::tools
