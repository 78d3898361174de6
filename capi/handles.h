// The objects behind the handles of tessera.h, and the class that reports the errors of one call: shared by the files
// of this folder.
#pragma once
#include "capi/tessera.h"
#include "ir/context.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "runtime/compiler/compile_cache.h"
#include "runtime/device.h"
#include "llvm/ADT/SmallVector.h"
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

struct tessera_error {
  tessera_status status = TESSERA_OK;
  std::string message, text;
};

struct tessera_result {
  std::string data, metadata;
  std::vector<std::pair<std::string, std::string>> texts; // by stage
};

namespace tessera::capi {

/// Shared by all handles that were made with a context, so that they may be destroyed in any order.
struct ContextState {
  tessera_handler handler = nullptr;
  void *user = nullptr;
  runtime::CompileCache cache;
  explicit ContextState(runtime::CompileCacheOptions o) : cache(std::move(o)) {}
  /// Calls the handler, if there is one. `version`: of the kernel, which a remark is about.
  void report(const ir::Diagnostic &, const std::string &version = "") const;
};

struct DeviceState {
  std::shared_ptr<ContextState> context;
  std::unique_ptr<runtime::Device> device; // null: the interpreter
  const ir::TargetInfo *target = nullptr;  // null: none, or one that the compiler does not know
  std::string spec, name, targetName, driver;
  tessera_device_info info{};
};
inline bool isSameDevice(const DeviceState &a, const DeviceState &b) { return &a == &b || a.spec == b.spec; }

/// What a kernel takes as one argument.
struct ArgumentForm {
  unsigned bytes = 0;           // 0: neither a pointer nor a scalar
  uint64_t most = ~uint64_t(0); // the largest value, without sign
  bool isPointer = false;
  bool isInteger = false; // of more than one bit
};

} // namespace tessera::capi

struct tessera_context {
  std::shared_ptr<tessera::capi::ContextState> state;
};
struct tessera_device {
  std::shared_ptr<tessera::capi::DeviceState> state;
};
struct tessera_buffer {
  std::shared_ptr<tessera::capi::DeviceState> device;
  std::unique_ptr<tessera::runtime::DeviceMemory> memory;
};
struct tessera_kernel {
  std::shared_ptr<tessera::capi::DeviceState> device;
  tessera::runtime::KernelMetadata metadata;
  std::optional<std::vector<tessera::capi::ArgumentForm>> arguments; // of the metadata (argumentForms)
  std::string json;
  std::unique_ptr<tessera::runtime::LoadedKernel> loaded; // null on the interpreter, which uses what follows
  std::unique_ptr<tessera::ir::Context> irContext;
  std::unique_ptr<tessera::ir::Module> module;
  tessera::ir::Operation *function = nullptr;
  std::mutex interpreting;                  // one launch at a time
  tessera::runtime::Interrupts interpreted; // of the interpreter's launches; others: LoadedKernel's
};

struct tessera_stream {
  std::shared_ptr<tessera::capi::DeviceState> device;
  std::unique_ptr<tessera::runtime::DeviceStream> stream;
};
struct tessera_event {
  std::shared_ptr<tessera::capi::DeviceState> device;
  std::unique_ptr<tessera::runtime::DeviceEvent> event;
  std::atomic<bool> recorded = false;
};
struct tessera_module {
  std::shared_ptr<tessera::capi::ContextState> context;
  std::string file;
  mutable std::mutex mutex; // protects what follows
  std::string text;         // the module, printed
  std::unique_ptr<tessera::ir::Context> irContext;
  std::unique_ptr<tessera::ir::Module> module;
  std::vector<std::string> kernels;
};

namespace tessera::capi {

/// One call of the API: collects its errors, reports to the context's handler, and sets the error out-parameter.
class Call {
public:
  Call(const ContextState *context, tessera_error **error);

  /// Reports what is no error: `version` as above.
  void report(const ir::Diagnostic &d, const std::string &version) const {
    if (context_) context_->report(d, version);
  }
  /// Reports an error and ends the call.
  tessera_status fail(tessera_status, const llvm::Twine &message, llvm::StringRef file = "");
  /// Ends the call with the errors that the engine has.
  tessera_status end(tessera_status);
  /// Ends the call with the error of a device or driver.
  tessera_status fail(const absl::Status &s, tessera_status status = TESSERA_FAILED) {
    return fail(status, llvm::Twine(std::string(s.message())));
  }

private:
  const ContextState *context_;
  tessera_error **error_;
  tessera_error collected_;

public:
  ir::DiagnosticEngine engine;
};

/// Runs the body of a call. A failed allocation becomes a failed call.
template <class Body> tessera_status guarded(Call &call, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return call.fail(TESSERA_FAILED, "the host has not enough memory");
  }
}

inline llvm::StringRef orEmpty(const char *s) { return s ? s : ""; }
inline std::string fileName(const char *s) { return s ? s : "<text>"; }

/// The numbers of the options that configure the kernel, checked as far as no target decides.
tessera_status readConfig(Call &, const tessera_options &, runtime::KernelConfig &);
/// Copies the caller's options (null: the defaults) to `o`. Without a stage `o.stage` does not change.
tessera_status copyOptions(Call &, const tessera_options *given, const ir::TargetInfo &, runtime::CompileOptions &o);
/// The same, and checks them against the target.
tessera_status readOptions(Call &, const tessera_options *given, const ir::TargetInfo &, runtime::CompileOptions &o);
/// The target that the options name, or null.
tessera_status readTarget(Call &, const tessera_options *given, const ir::TargetInfo *&);
/// Grid and arguments of a launch, checked against the kernel.
struct LaunchInput {
  std::array<int64_t, 3> grid;
  llvm::SmallVector<runtime::DeviceArgument, 24> arguments; // of the kernel's code
  std::list<runtime::HostDescriptor> descriptors;           // that they point to
};
tessera_status readLaunch(Call &, const tessera_kernel &, const uint32_t *grid, const tessera_argument *, size_t count,
                          LaunchInput &out);
/// Bytes of a scalar argument of this type; 0 if the type cannot be passed.
unsigned scalarBytes(llvm::StringRef type);
ArgumentForm argumentForm(const runtime::KernelMetadata::Arg &);
/// What argumentSources and scalarBytes say of every launch, found once. Nothing: a launch must look (descriptors,
/// types that cannot be passed).
std::optional<std::vector<ArgumentForm>> argumentForms(const runtime::KernelMetadata &);
/// Reports a line that a kernel prints on an emulator or the interpreter.
void reportPrinted(const ContextState &, llvm::StringRef line);

/// Copies of a module's text and file name: another thread may be changing the module.
std::pair<std::string, std::string> textOf(const tessera_module &);
/// Compiles for the device, or finds in the cache, and loads.
tessera_status compileAndLoad(Call &, const std::shared_ptr<DeviceState> &, llvm::StringRef source,
                              const std::string &file, const tessera_options *, tessera_kernel **);
/// Compiles or finds in the cache.
tessera_status compileText(Call &, ContextState &, llvm::StringRef text, const std::string &file,
                           const ir::TargetInfo &, const runtime::CompileOptions &, runtime::CompileResult &);

} // namespace tessera::capi
