// The timing model on the command line: what `time` and `run --timing` share.
#pragma once
#include "runtime/launch/launch_description.h"
#include "runtime/timing/time_object.h"
#include <string>

namespace CLI {
class App;
}
namespace tessera::tools {

struct TimingFlags {
  timing::TimeObjectOptions options;
  std::string timeline; // file
  std::string json;     // file
  size_t mostRecords = 100000;

  void add(CLI::App &);
};

/// Times the object and prints what came out: an exit code. `launchText`: the description's, for the places of errors.
int timeAndReport(const TimingFlags &, const runtime::LaunchDescription &, llvm::StringRef launchText,
                  llvm::StringRef hsaco, const std::string &objectName);

} // namespace tessera::tools
