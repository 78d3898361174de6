// A tool as a child process that does not outlive us.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <sys/types.h>

namespace tessera::codegen {

/// Starts a program with an empty input; what it prints goes to the file `log`. `arguments` begin with the program's
/// name, `environment` has strings "NAME=value". The caller waits for the process.
///
/// It is killed (SIGKILL) when the calling *thread* ends: with our process, however that ends, but also before. So the
/// thread that starts a program waits for it, too.
absl::StatusOr<pid_t> startChild(const std::string &program, llvm::ArrayRef<std::string> arguments,
                                 llvm::ArrayRef<std::string> environment, const std::string &log);

/// Kills a program of startChild that has not been waited for, with the processes that it started (a wrapper script's
/// tool, for example), and waits for it.
void killChild(pid_t);

} // namespace tessera::codegen
