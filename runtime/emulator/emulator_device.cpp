// The emulator behind the launcher's interface: a Device whose object is LLVM bitcode (CompileOptions::bitcode). It has no
// driver and no memory of its own; buffers are the host's.
#include "runtime/emulator/emulator_device.h"
#include "codegen/fatal_errors.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "runtime/targets.h"
#include <algorithm>
#include <chrono>

namespace tessera::runtime {

namespace {

class EmulatorDevice final : public Device {
public:
  EmulatorDevice(const ir::TargetInfo &target, const emulator::Options &options, emulator::Report *report) : target_(target), options_(options), report_(report) {}

  std::string spec() const override { return "emulator:" + target_.name.str(); }
  std::string name() const override { return "emulator of " + target_.name.str(); }
  std::string target() const override { return target_.name.str(); }
  std::string driver() const override { return "built in"; }
  int64_t memoryBytes() const override { return 0; }
  bool takesBitcode() const override { return true; }

  absl::Status run(llvm::StringRef object, const KernelMetadata &metadata, std::array<int64_t, 3> grid, llvm::MutableArrayRef<LaunchValue> args, int reps, LaunchTiming *timing) override {
    std::vector<emulator::Buffer> buffers;
    std::vector<emulator::Argument> arguments;
    for (auto [i, a] : llvm::enumerate(args)) {
      if (!a.buffer) {
        arguments.push_back({-1, a.bits});
        continue;
      }
      arguments.push_back({int(buffers.size()), 0});
      buffers.push_back({i < metadata.args.size() ? metadata.args[i].name : "arg" + std::to_string(i), a.buffer->data(), a.buffer->size()});
    }
    emulator::Options o = options_;
    o.numWarps = metadata.numWarps;
    o.dynamicSharedBytes = metadata.dynamicSharedBytes;
    o.globalScratchBytes = metadata.globalScratchBytes;
    o.globalScratchAlign = metadata.globalScratchAlign;
    std::vector<double> times;
    for (int k = 0; k <= reps; ++k) {
      // Decoding changes the module: each launch has its own.
      llvm::LLVMContext context;
      auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(object, "kernel"), context);
      if (!module) return absl::InvalidArgumentError("the emulator cannot read the object: " + llvm::toString(module.takeError()));
      auto start = std::chrono::steady_clock::now();
      auto report = emulator::emulate(**module, metadata.kernel, target_, grid, buffers, arguments, o);
      if (!report.ok()) return report.status();
      if (k) times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      if (!k && report_) *report_ = std::move(*report);
      if (!k && report_ && o.counters) allocate(object, metadata);
    }
    if (timing && !times.empty()) {
      std::sort(times.begin(), times.end());
      timing->medianMs = times[times.size() / 2];
      timing->minMs = times[0];
    }
    return absl::OkStatus();
  }

private:
  /// What the vendor's allocator takes for the same code, where its tools are installed.
  void allocate(llvm::StringRef object, const KernelMetadata &metadata) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(object, "kernel"), *context);
    if (!module) return llvm::consumeError(module.takeError());
    codegen::BackendOptions o;
    o.numWarps = metadata.numWarps, o.numCtas = metadata.numCtas, o.dynamicSharedBytes = int(metadata.dynamicSharedBytes);
    absl::StatusOr<codegen::ObjectInfo> made;
    std::string fatal;
    if (!codegen::runCatchingFatalErrors([&] { made = createBackend(*findArch(target_.name), o)->emitObject(**module); }, fatal)) {
      // LLVM gave up in the middle of its work: neither may be touched again.
      (void)module->release();
      (void)context.release();
      return;
    }
    if (!made.ok()) return;
    report_->live.vector.allocated = unsigned(made->registers);
    report_->live.scalar.allocated = unsigned(made->scalarRegisters);
  }

  const ir::TargetInfo &target_;
  emulator::Options options_;
  emulator::Report *report_;
};

} // namespace

absl::StatusOr<std::unique_ptr<Device>> openEmulator(llvm::StringRef target, const emulator::Options &options, emulator::Report *report) {
  if (const codegen::ArchInfo *arch = findArch(target)) return std::make_unique<EmulatorDevice>(arch->info, options, report);
  std::string list;
  for (auto *t : allTargets()) list += (list.empty() ? "" : ", ") + t->info.name.str();
  return absl::InvalidArgumentError(llvm::formatv("unknown target '{0}' of the emulator; targets: {1}", target, list).str());
}

} // namespace tessera::runtime
