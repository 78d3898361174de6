// What the commands share that read a launch description: the description and its kernel; for those that run it (`run`,
// `bench`, `tune`) its arguments, the device by its name, and compiling for it, too.
#pragma once
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/compiler/compile_cache.h"
#include "runtime/launcher.h"
#include "tools/commands.h"

namespace tessera::tools {

/// Reads a launch description; `text` becomes its text, for errors at places in it. `path`: - for standard input. What
/// fails is printed, and gives the exit code.
int readDescription(const std::string &path, std::string &text, runtime::LaunchDescription &);

/// The kernel that a description names.
struct DescribedKernel {
  std::string path, source; // its file and text
  std::unique_ptr<ir::Module> module;
  ir::Operation *function = nullptr;
};
/// `text`: the description's. What fails is printed, and gives the exit code.
int readDescribedKernel(const runtime::LaunchDescription &, llvm::StringRef text, ir::Context &, ir::DiagnosticEngine &,
                        const frontend::ParseOptions &, DescribedKernel &);

/// A description with its kernel and arguments. What fails is printed, and gives the exit code.
struct Launch {
  runtime::LaunchDescription description;
  std::string text; // of the description
  ir::Context context;
  DescribedKernel kernel;
  runtime::LaunchArguments arguments;

  /// `path`: - for standard input.
  int readDescription(const std::string &path);
  int readKernel(ir::DiagnosticEngine &);
  /// The options of the description, for the device.
  runtime::CompileOptions options(const runtime::Device &) const;
  /// For the device, or for the target of --target. The module is used up.
  int compile(runtime::CompileCache &, const runtime::Device &, const std::string &targetName,
              const runtime::CompileOptions &, ir::DiagnosticEngine &, runtime::CompileResult &);
};

/// The GPU or emulator of that name, else an exit code after an error was printed; no name: the first GPU, else wrong
/// usage.
int openMeasuredDevice(const std::string &name, std::unique_ptr<runtime::Device> &);

} // namespace tessera::tools
