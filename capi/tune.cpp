// The C API (see tessera.h): tuning, on top of runtime::tune, which takes buffers of the host: the contents of the
// caller's are copied.
#include "capi/handles.h"
#include "ir/ops.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/debug/tuner.h"
#include "runtime/emulator/emulator_device.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace tessera;
using namespace tessera::capi;

struct tessera_tuning {
  std::vector<runtime::TuneMeasurement> done;
  std::vector<std::string> metadata;
  std::vector<tessera_measurement> measurements; // point into the two above
  size_t best = 0;
};

namespace {

tessera_outcome outcomeOf(runtime::TuneMeasurement::Outcome o) {
  switch (o) {
  case runtime::TuneMeasurement::Measured: return TESSERA_MEASURED;
  case runtime::TuneMeasurement::SameCode: return TESSERA_SAME_CODE;
  case runtime::TuneMeasurement::NotCompiled: return TESSERA_NOT_COMPILED;
  case runtime::TuneMeasurement::Failed: return TESSERA_RUN_FAILED;
  case runtime::TuneMeasurement::Wrong: return TESSERA_WRONG_RESULT;
  }
  return TESSERA_RUN_FAILED;
}

/// The options to try, checked against the device. All name the same kernel.
tessera_status readConfigurations(Call &call, const DeviceState &device, const tessera_options *const *given,
                                  size_t count, std::vector<runtime::CompileOptions> &out) {
  if (!count || !given) return call.fail(TESSERA_USAGE, "there are no options to try");
  for (size_t i = 0; i < count; ++i) {
    auto which = [&] { return llvm::formatv("options {0}", i).str(); };
    if (!given[i]) return call.fail(TESSERA_USAGE, which() + " are null");
    const ir::TargetInfo *target;
    if (auto s = readTarget(call, given[i], target)) return s;
    if (target && target != device.target)
      return call.fail(TESSERA_USAGE,
                       which() + " are for " + target->name + ", and " + device.spec + " is " + device.targetName);
    tessera_options options;
    tessera_options_init(&options, sizeof options);
    std::memcpy(&options, given[i], std::min(given[i]->size, sizeof options));
    options.size = sizeof options;
    options.stage = device.info.stage;
    if (auto s = copyOptions(call, &options, *device.target, out.emplace_back())) return s;
    if (out[i].kernel != out[0].kernel)
      return call.fail(TESSERA_USAGE,
                       which() + " are for kernel '" + out[i].kernel + "', and the first for '" + out[0].kernel + "'");
  }
  return TESSERA_OK;
}

/// The module's text, and name and arguments of its kernel.
tessera_status describeKernel(Call &call, const tessera_module &m, llvm::StringRef name, tessera_kernel &k,
                              std::string &text) {
  std::scoped_lock lock(m.mutex);
  auto function = runtime::selectKernel(*m.module, name);
  if (!function.ok()) return call.fail(TESSERA_INPUT, std::string(function.status().message()), m.file);
  k.metadata.kernel = (*function)->cast<ir::tt::FuncOp>().symName().str();
  k.metadata.args = runtime::describeArguments(*function);
  text = m.text;
  return TESSERA_OK;
}

/// Copies of the buffers (of a tensor descriptor's from its base on), and the scalars.
tessera_status copyArguments(Call &call, const tessera_kernel &k, llvm::ArrayRef<runtime::DeviceArgument> given,
                             runtime::LaunchDescription &d, runtime::LaunchArguments &out) {
  for (auto [i, a] : llvm::enumerate(given)) {
    auto &name = k.metadata.args[i].name;
    auto &type = k.metadata.args[i].type;
    std::string what = llvm::formatv("argument {0} ('{1}') of kernel '{2}'", i, name, k.metadata.kernel).str();
    bool pointer = llvm::StringRef(type).starts_with("*") || a.descriptor;
    runtime::LaunchArg &arg = d.args.emplace_back();
    arg.name = name;
    arg.isScalar = !a.memory;
    auto &bytes = out.buffers.emplace_back();
    out.descriptors.push_back(a.descriptor ? std::optional(*a.descriptor) : std::nullopt);
    out.scalars.push_back(a.memory ? 0 : a.bits);
    out.scalarBytes.push_back(a.memory ? 0 : pointer ? 8 : scalarBytes(type));
    uint64_t offset = a.memory && !a.descriptor ? a.bits : 0, from = a.memory && a.descriptor ? a.bits : 0;
    out.offsets.push_back(offset);
    if (!a.memory) {
      if (pointer && a.bits)
        return call.fail(TESSERA_USAGE, what + " is an address, of whose memory there is no copy: a buffer is needed");
      continue;
    }
    for (auto [j, other] : llvm::enumerate(given.take_front(i)))
      if (other.memory == a.memory)
        return call.fail(
            TESSERA_USAGE,
            what + llvm::formatv(" is of the buffer of argument {0}: each has a copy of its own here", j).str());
    bytes.resize(a.memory->bytes() - from);
    if (auto s = k.device->device->read(*a.memory, from, bytes.data(), bytes.size(), "the buffer of " + what); !s.ok())
      return call.fail(s);
    auto dtype = a.descriptor ? a.descriptor->dtype : runtime::parseDType(llvm::StringRef(type).drop_front(1));
    auto isWhole = [&](uint64_t n) { return n % runtime::dtypeBytes(*dtype) == 0; };
    arg.dtype = dtype && isWhole(bytes.size()) && isWhole(offset) ? *dtype : runtime::DType::U8;
    arg.shape = {int64_t(bytes.size() / runtime::dtypeBytes(arg.dtype))};
    arg.offset = int64_t(offset / runtime::dtypeBytes(arg.dtype));
  }
  return TESSERA_OK;
}

} // namespace

tessera_status tessera_tune(tessera_device *device, const tessera_module *module, const tessera_options *const *options,
                            size_t options_count, const uint32_t grid[3], const tessera_argument *arguments,
                            size_t count, int repetitions, tessera_tuning **tuning, tessera_error **error) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (tuning) *tuning = nullptr;
  if (!device || !module) return call.fail(TESSERA_USAGE, device ? "the module is null" : "the device is null");
  if (!tuning) return call.fail(TESSERA_USAGE, "the out-parameter for the measurements is null");
  if (repetitions < 1)
    return call.fail(TESSERA_USAGE, "repetitions must be at least 1, not " + llvm::Twine(repetitions));
  auto &state = device->state;
  if (!state->device)
    return call.fail(TESSERA_USAGE, "the interpreter's time says nothing of a kernel: a GPU or an emulator is needed");
  if (!state->target) return call.fail(runtime::requireTarget(state->targetName).status());
  return guarded(call, [&] {
    std::vector<runtime::CompileOptions> configurations;
    if (auto s = readConfigurations(call, *state, options, options_count, configurations)) return s;
    tessera_kernel kernel;
    kernel.device = state;
    std::string text;
    if (auto s = describeKernel(call, *module, configurations[0].kernel, kernel, text)) return s;
    LaunchInput input;
    if (auto s = readLaunch(call, kernel, grid, arguments, count, input)) return s;
    runtime::LaunchDescription description;
    runtime::LaunchArguments copies;
    description.grid = input.grid;
    if (auto s = copyArguments(call, kernel, input.arguments, description, copies)) return s;

    // An emulator of its own, whose counters are not shared with other launches.
    emulator::Report report;
    std::unique_ptr<runtime::Device> counting;
    if (state->device->takesBitcode()) {
      emulator::Options o;
      o.print = [&](const std::string &line) { reportPrinted(*state->context, line); };
      auto opened = runtime::openEmulator(state->targetName, o, &report);
      if (!opened.ok()) return call.fail(opened.status());
      counting = std::move(*opened);
    }
    runtime::TuneJob job{description,
                         text,
                         module->file,
                         copies,
                         counting ? *counting : *state->device,
                         counting ? &report : nullptr,
                         state->context->cache,
                         std::move(configurations),
                         repetitions,
                         nullptr,
                         {}};
    auto t = std::make_unique<tessera_tuning>();
    t->done = runtime::tune(job);
    t->best = runtime::best(t->done, counting != nullptr).value_or(t->done.size());
    for (auto &m : t->done)
      t->metadata.push_back(m.outcome == runtime::TuneMeasurement::NotCompiled ? "" : runtime::toJson(m.metadata));
    for (auto [m, json] : llvm::zip(t->done, t->metadata))
      t->measurements.push_back({outcomeOf(m.outcome), m.reason.c_str(), m.sameAs,
                                 counting ? tessera_times{} : tessera_times{m.medianMs, m.minMs}, m.instructions,
                                 json.c_str()});
    *tuning = t.release();
    return TESSERA_OK;
  });
}
size_t tessera_tuning_count(const tessera_tuning *t) { return t ? t->measurements.size() : 0; }
const tessera_measurement *tessera_tuning_measurement(const tessera_tuning *t, size_t index) {
  return t && index < t->measurements.size() ? &t->measurements[index] : nullptr;
}
size_t tessera_tuning_best(const tessera_tuning *t) { return t ? t->best : 0; }
void tessera_tuning_destroy(tessera_tuning *t) { delete t; }
