// What the commands share that run a kernel as a launch description says (`run`, `bench`, `tune`): the description,
// its kernel and arguments, the device by its name, and compiling for it.
#pragma once
#include "ir/context.h"
#include "runtime/compiler/compile_cache.h"
#include "runtime/launcher.h"
#include "tools/commands.h"

namespace tessera::tools {

/// A description with its kernel and arguments. What fails is printed, and gives the exit code.
struct Launch {
  runtime::LaunchDescription description;
  std::string text;               // of the description
  std::string source, sourcePath; // the kernel's text
  ir::Context context;
  std::unique_ptr<ir::Module> module;
  ir::Operation *kernel = nullptr;
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

/// Reports why the kernel that a description names cannot be read or found, at the place of that key in its text.
int failAtKey(const runtime::LaunchDescription &, runtime::LaunchPlace, llvm::StringRef key, const std::string &why,
              llvm::StringRef text);

/// The GPU or emulator of that name, else an exit code after an error was printed; no name: the first GPU, else wrong
/// usage.
int openMeasuredDevice(const std::string &name, std::unique_ptr<runtime::Device> &);

} // namespace tessera::tools
