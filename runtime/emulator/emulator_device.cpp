// The emulator behind the launcher's interface: a Device whose object is LLVM bitcode (CompileOptions::bitcode). It
// has no driver and no memory of its own; buffers are the host's.
#include "runtime/emulator/emulator_device.h"
#include "codegen/object/backend.h"
#include "runtime/compiler/bitcode_object.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include "runtime/launch_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <chrono>
#include <cstring>

namespace tessera::runtime {

namespace {

class EmulatorDevice final : public Device {
public:
  EmulatorDevice(const ir::TargetInfo &target, const emulator::Options &options, emulator::Report *report)
      : target_(target), options_(options), report_(report) {}

  std::string spec() const override { return "emulator:" + target_.name.str(); }
  std::string name() const override { return "emulator of " + target_.name.str(); }
  std::string target() const override { return target_.name.str(); }
  std::string driver() const override { return "built in"; }
  int64_t memoryBytes() const override { return 0; }
  bool takesBitcode() const override { return true; }

  absl::StatusOr<std::unique_ptr<DeviceMemory>> allocate(size_t bytes, const std::string &what) override {
    return HostMemory::allocate(bytes, what);
  }
  absl::Status write(DeviceMemory &m, size_t offset, const void *from, size_t bytes, const std::string &) override {
    auto &host = static_cast<HostMemory &>(m);
    if (bytes) std::memcpy(host.data() + offset, from, bytes);
    host.define(offset, bytes);
    return absl::OkStatus();
  }
  absl::Status read(const DeviceMemory &m, size_t offset, void *to, size_t bytes, const std::string &) override {
    if (bytes) std::memcpy(to, static_cast<const HostMemory &>(m).data() + offset, bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<LoadedKernel>> load(llvm::StringRef object, const KernelMetadata &metadata) override {
    if (auto s = checkCluster(metadata); !s.ok()) return s;
    if (auto s = checkBitcodeObject(object); !s.ok())
      return absl::InvalidArgumentError("the emulator cannot read the object: " + std::string(s.message()));
    llvm::LLVMContext context;
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(object, "kernel"), context);
    if (!module)
      return absl::InvalidArgumentError("the emulator cannot read the object: " + llvm::toString(module.takeError()));
    return std::make_unique<Kernel>(metadata, object);
  }
  absl::Status launch(LoadedKernel &kernel, std::array<int64_t, 3> grid, llvm::ArrayRef<DeviceArgument> args) override {
    return launch(static_cast<Kernel &>(kernel), grid, args, report_).status();
  }
  absl::StatusOr<LaunchTiming> time(LoadedKernel &kernel, std::array<int64_t, 3> grid,
                                    llvm::ArrayRef<DeviceArgument> args, int reps) override {
    std::vector<double> times;
    for (int i = 0; i < reps; ++i) {
      auto ms = launch(static_cast<Kernel &>(kernel), grid, args, nullptr);
      if (!ms.ok()) return ms.status();
      times.push_back(*ms);
    }
    std::sort(times.begin(), times.end());
    return LaunchTiming{times[times.size() / 2], times[0]};
  }
  /// The host's buffers are the device's memory: nothing is copied.
  absl::Status run(llvm::StringRef object, const KernelMetadata &metadata, std::array<int64_t, 3> grid,
                   llvm::MutableArrayRef<LaunchValue> args, int reps, LaunchTiming *timing) override {
    if (auto s = checkGrid(grid, spec(), metadata.globalScratchBytes); !s.ok()) return s;
    Kernel kernel(metadata, object);
    std::vector<std::unique_ptr<HostMemory>> memory;
    std::vector<DeviceArgument> given;
    for (auto &a : args) {
      if (a.buffer) memory.push_back(std::make_unique<HostMemory>(a.buffer->data(), a.buffer->size()));
      given.push_back(a.buffer ? DeviceArgument{memory.back().get(), a.bits, a.descriptor}
                               : DeviceArgument{nullptr, a.bits});
    }
    auto arguments = kernelArguments(metadata, given);
    if (!arguments.ok()) return arguments.status();
    if (auto ms = launch(kernel, grid, *arguments, report_); !ms.ok()) return ms.status();
    if (report_ && options_.counters) countAllocatedRegisters(object, metadata);
    if (reps <= 0 || !timing) return absl::OkStatus();
    auto t = time(kernel, grid, *arguments, reps);
    if (t.ok()) *timing = *t;
    return t.status();
  }

private:
  struct Kernel final : LoadedKernel {
    Kernel(const KernelMetadata &md, llvm::StringRef o) : LoadedKernel(md), object(o.str()) {}
    std::string object;
  };
  /// One launch; its milliseconds.
  absl::StatusOr<double> launch(const Kernel &kernel, std::array<int64_t, 3> grid, llvm::ArrayRef<DeviceArgument> args,
                                emulator::Report *report) {
    auto &metadata = kernel.metadata;
    std::vector<emulator::Buffer> buffers;
    std::vector<emulator::Argument> arguments;
    std::vector<const DeviceMemory *> memory; // of each buffer
    for (auto [i, a] : llvm::enumerate(args)) {
      if (!a.memory) {
        arguments.push_back({-1, a.bits});
        continue;
      }
      size_t at = llvm::find(memory, a.memory) - memory.begin();
      if (at == memory.size()) {
        auto &m = static_cast<const HostMemory &>(*a.memory);
        memory.push_back(&m);
        buffers.push_back({i < metadata.args.size() ? metadata.args[i].name : "arg" + std::to_string(i), m.data(),
                           m.bytes(), m.undefined()});
      }
      arguments.push_back({int(at), a.bits});
      if (a.descriptor && i < metadata.args.size() && metadata.args[i].tensorMap) {
        auto map = tensorMapOf(*a.descriptor, *metadata.args[i].tensorMap);
        if (!map.ok()) return map.status();
        arguments.back().tensorMap = *std::move(map);
      }
    }
    emulator::Options o = options_;
    o.numWarps = metadata.warpsPerBlock();
    o.dynamicSharedBytes = metadata.dynamicSharedBytes;
    o.globalScratchBytes = metadata.globalScratchBytes;
    o.globalScratchAlign = metadata.globalScratchAlign;
    o.watch = kernel.interrupts.watch();
    // Decoding changes the module: each launch has its own.
    llvm::LLVMContext context;
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(kernel.object, "kernel"), context);
    if (!module)
      return absl::InvalidArgumentError("the emulator cannot read the object: " + llvm::toString(module.takeError()));
    auto start = std::chrono::steady_clock::now();
    auto made = emulator::emulate(**module, metadata.kernel, target_, grid, buffers, arguments, o);
    if (!made.ok()) return made.status();
    if (report) *report = std::move(*made);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  /// Counts the registers that the vendor's tools allocate for the same code, where they are installed.
  void countAllocatedRegisters(llvm::StringRef object, const KernelMetadata &metadata) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(object, "kernel"), *context);
    if (!parsed) return llvm::consumeError(parsed.takeError());
    std::unique_ptr<llvm::Module> module = std::move(*parsed);
    CompileOptions o;
    o.config() = metadata.config();
    auto made = createBackend(*findArch(target_.name), backendOptions(o, &metadata))->emitObject(*module);
    if (!made.ok()) {
      codegen::abandonIfLost(made.status(), module, context);
      return;
    }
    report_->live.vector.allocated = unsigned(made->registers);
    report_->live.scalar.allocated = unsigned(made->scalarRegisters);
  }

  const ir::TargetInfo &target_;
  emulator::Options options_;
  emulator::Report *report_;
};

} // namespace

absl::StatusOr<std::unique_ptr<Device>> openEmulator(llvm::StringRef target, const emulator::Options &options,
                                                     emulator::Report *report) {
  if (const codegen::ArchInfo *arch = findArch(target))
    return std::make_unique<EmulatorDevice>(arch->info, options, report);
  if (target.empty())
    return absl::InvalidArgumentError("the emulator needs a target, emulator:TARGET; targets: " + targetNames());
  return absl::InvalidArgumentError(unknownTarget(target, " of the emulator"));
}

} // namespace tessera::runtime
