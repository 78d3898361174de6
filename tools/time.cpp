// `tessera time OBJECT.hsaco --launch LAUNCH.json`: how long a kernel of an AMD code object takes, by the timing model.
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/launch.h"
#include "tools/timing.h"
#include "llvm/Support/MemoryBuffer.h"
#include <CLI/CLI.hpp>

namespace tessera::tools {

int timeCommand(int argc, char **argv) {
  CLI::App app("Times a kernel of an AMD code object by a model of the machine", "tessera time");
  std::string object, launch;
  TimingFlags flags;
  app.add_option("OBJECT", object, "code object (hsaco) of any compiler")->required();
  app.add_option("--launch", launch, "launch description: grid and arguments (docs/launch.md)")->required();
  app.add_option("--kernel", flags.options.kernel, "which kernel of the object, if there are several");
  app.add_option("--threads-per-block", flags.options.workItems,
                 "work-items of a workgroup (default: what the object requires, else the description's warps)")
      ->check(wholeNumber(1, 1024));
  app.add_option("--dynamic-lds", flags.options.dynamicLdsBytes, "bytes of LDS beside those that the object states")
      ->check(wholeNumber(0, 1 << 20));
  flags.add(app);
  app.add_option("--json", flags.json, "write the figures as JSON (- for standard output)");
  if (auto code = parseArguments(app, argc, argv)) return *code;

  if (int code = checkOutputFiles({{"--timeline", flags.timeline}, {"--json", flags.json}}, {object, launch}))
    return code;
  std::string text;
  runtime::LaunchDescription description;
  if (int code = readDescription(launch, text, description)) return code;
  if (int code = checkInputsAreKept({{"--timeline", flags.timeline}, {"--json", flags.json}}, description.files()))
    return code;
  auto bytes = readInput(object);
  if (!bytes) return kInputAtFault;
  return timeAndReport(flags, description, text, bytes->getBuffer(), object);
}

} // namespace tessera::tools
