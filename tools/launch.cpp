// Descriptions, kernels and devices for the commands that run something (see launch.h).
#include "tools/launch.h"
#include "frontend/parser.h"
#include "ir/ops.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/targets.h"
#include "runtime/open_device.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::tools {
using namespace runtime;

int readDescription(const std::string &path, std::string &text, LaunchDescription &description) {
  std::string name = path == "-" ? "<stdin>" : path; // its files are then relative to the working directory
  auto buffer = readText(path);
  if (!buffer) {
    std::string inFolder = path + "/launch.json";
    bool isItsFolder = llvm::sys::fs::is_directory(path) && llvm::sys::fs::exists(inFolder);
    return fail(kInputAtFault, name + ": " + buffer.getError().message() +
                                   (isItsFolder ? "; its launch description is " + inFolder : ""));
  }
  text = (*buffer)->getBuffer().str();
  auto d = readLaunchText(text, name);
  if (!d.ok()) return failLocated(std::string(d.status().message()), name, text);
  description = *std::move(d);
  return kOk;
}

/// Reports why the kernel that a description names cannot be read or found, at the place of that key in its text.
static int failAtKey(const LaunchDescription &d, LaunchPlace place, llvm::StringRef key, const std::string &why,
                     llvm::StringRef text) {
  return failLocated(place.first ? d.at(place) + key.str() + ": " + why : why, d.path, text);
}

/// Whether the description names a file with a kernel; else an exit code after an error was printed.
static int requireKernel(const LaunchDescription &d) {
  return d.ttir.empty() ? fail(kInputAtFault, d.path + ": \"ttir\" is missing") : kOk;
}

int readDescribedKernel(const LaunchDescription &d, llvm::StringRef text, ir::Context &context,
                        ir::DiagnosticEngine &diag, const frontend::ParseOptions &options, DescribedKernel &out) {
  if (int code = requireKernel(d)) return code;
  out.path = d.resolve(d.ttir);
  auto buffer = readText(out.path);
  if (!buffer) return failAtKey(d, d.ttirPlace, "ttir", out.path + ": " + buffer.getError().message(), text);
  out.source = (*buffer)->getBuffer().str();
  out.module = frontend::parseModule(out.source, out.path, context, diag, options);
  if (!out.module) return kInputAtFault;
  auto k = selectKernel(*out.module, d.kernel);
  if (!k.ok()) return failAtKey(d, d.kernelPlace, "kernel", out.path + ": " + std::string(k.status().message()), text);
  out.function = *k;
  return kOk;
}

int Launch::readDescription(const std::string &path) {
  if (int code = tools::readDescription(path, text, description)) return code;
  return requireKernel(description);
}

int Launch::readKernel(ir::DiagnosticEngine &diag) {
  if (int code = readDescribedKernel(description, text, context, diag, {.locateByText = true}, kernel)) return code;
  auto args = prepareArguments(description, kernel.function);
  if (!args.ok()) return failLocated(std::string(args.status().message()), description.path, text);
  arguments = *std::move(args);
  return kOk;
}

CompileOptions Launch::options(const Device &device) const {
  CompileOptions o;
  o.config() = description.config();
  o.kernel = kernel.function->cast<ir::tt::FuncOp>().symName().str();
  if (device.takesBitcode()) {
    o.stage = Stage::Llir;
    o.bitcode = o.lineInfo = o.opNames = true;
  }
  return o;
}

int Launch::compile(CompileCache &cache, const Device &device, const std::string &targetName, const CompileOptions &o,
                    ir::DiagnosticEngine &diag, CompileResult &out) {
  auto t = requireTarget(targetName.empty() ? device.target() : targetName);
  if (!t.ok()) {
    std::string why(t.status().message());
    return targetName.empty() ? fail(kRunFailed, device.name() + ": " + why) : fail(kUsage, why);
  }
  if (auto s = checkOptions(**t, o); !s.ok()) {
    // The command line is at fault, unless the description is without it.
    CompileOptions described = o;
    described.config() = description.config();
    std::string why(s.message());
    if (checkOptions(**t, described).ok()) return fail(kUsage, why);
    return fail(kInputAtFault, description.path + ": " + why);
  }
  if (auto s = checkEnvironment(**t, o); !s.ok()) return fail(kUsage, std::string(s.message()));
  auto r = cache.compile(kernel.source, kernel.path, kernel.module.get(), **t, o, diag);
  if (!r.ok()) {
    int code =
        absl::IsInvalidArgument(r.status()) || absl::IsResourceExhausted(r.status()) ? kInputAtFault : kRunFailed;
    return diag.errors() ? code : fail(code, std::string(r.status().message()));
  }
  out = *std::move(r);
  return kOk;
}

int openMeasuredDevice(const std::string &name, std::unique_ptr<Device> &device) {
  if (name == "interpreter")
    return fail(kUsage, "the interpreter's time says nothing of a kernel: --device is a GPU or an emulator");
  if (name.empty()) {
    std::vector<std::string> problems;
    auto all = enumerateDevices(problems);
    if (all.empty()) return fail(kUsage, "no GPU found, so --device is needed: emulator:TARGET, cuda[:N] or hip[:N]");
    device = std::move(all[0]);
    return kOk;
  }
  auto opened = openDevice(name);
  if (!opened.ok())
    return fail(absl::IsInvalidArgument(opened.status()) ? kUsage : kRunFailed, std::string(opened.status().message()));
  device = std::move(*opened);
  return kOk;
}

} // namespace tessera::tools
