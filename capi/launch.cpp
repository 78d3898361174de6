// The C API (see tessera.h): devices, memory, kernels and launches, on top of runtime::Device; the interpreter, which
// takes text, directly on runtime::interpret. launch_arguments.cpp reads what a launch gives.
#include "capi/handles.h"
#include "frontend/parser.h"
#include "ir/ops.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/targets.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/interpreter/interpreter.h"
#include "runtime/open_device.h"
#include "runtime/whole_object.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cstring>

using namespace tessera;
using namespace tessera::capi;

struct tessera_device_list {
  std::vector<std::shared_ptr<DeviceState>> devices;
};

namespace {

std::shared_ptr<DeviceState> describe(std::shared_ptr<ContextState> context, std::unique_ptr<runtime::Device> device) {
  auto s = std::make_shared<DeviceState>();
  s->context = std::move(context);
  const char *stage = "ttir";
  if (device) {
    s->spec = device->spec();
    s->name = device->name();
    s->targetName = device->target();
    s->driver = device->driver();
    s->target = runtime::findTarget(s->targetName);
    stage = device->takesBitcode() ? "bitcode" : llvm::StringRef(s->spec).starts_with("cuda") ? "cubin" : "hsaco";
    s->info.memory_bytes = uint64_t(device->memoryBytes());
  } else {
    s->spec = "interpreter";
    s->name = "interpreter";
    s->driver = "built in";
  }
  if (s->target) {
    s->info.shared_bytes_per_block = uint64_t(s->target->sharedMemoryPerBlock);
    s->info.threads_per_warp = uint32_t(s->target->warpSize);
  }
  s->info.spec = s->spec.c_str();
  s->info.name = s->name.c_str();
  s->info.target = s->targetName.c_str();
  s->info.stage = stage;
  s->info.driver = s->driver.c_str();
  s->device = std::move(device);
  return s;
}

/// All devices of the machine. Drivers that fail are warnings.
std::vector<std::shared_ptr<DeviceState>> allDevices(Call &call, const std::shared_ptr<ContextState> &context) {
  std::vector<std::string> problems;
  std::vector<std::shared_ptr<DeviceState>> out;
  for (auto &d : runtime::enumerateDevices(problems)) out.push_back(describe(context, std::move(d)));
  for (auto &p : problems) {
    if (llvm::StringRef(p).contains(": no driver:")) continue; // not installed: no warning
    ir::Diagnostic d;
    d.severity = ir::Severity::Warning;
    d.message = p;
    call.engine.report(std::move(d));
  }
  out.push_back(describe(context, nullptr));
  return out;
}

/// The checks of functions that make a kernel.
tessera_status checkKernelCall(Call &call, tessera_device *device, tessera_kernel **kernel, const char *text,
                               size_t length) {
  if (kernel) *kernel = nullptr;
  if (!device) return call.fail(TESSERA_USAGE, "the device is null");
  if (!kernel) return call.fail(TESSERA_USAGE, "the out-parameter for the kernel is null");
  if (!text && length) return call.fail(TESSERA_USAGE, "the text is null");
  return TESSERA_OK;
}

/// The interpreter's kernel: the parsed text.
tessera_status loadText(Call &call, const std::shared_ptr<DeviceState> &device, llvm::StringRef text,
                        const std::string &file, llvm::StringRef name, tessera_kernel **kernel) {
  auto k = std::make_unique<tessera_kernel>();
  k->device = device;
  k->irContext = std::make_unique<ir::Context>();
  k->module = frontend::parseModule(text, file, *k->irContext, call.engine, {.locateByText = true});
  if (!k->module) return call.end(TESSERA_INPUT);
  auto function = runtime::selectKernel(*k->module, name);
  if (!function.ok()) return call.fail(TESSERA_INPUT, std::string(function.status().message()), file);
  k->function = *function;
  k->metadata.known = runtime::KernelMetadata::Configuration;
  k->metadata.kernel = k->function->cast<ir::tt::FuncOp>().symName().str();
  k->metadata.args = runtime::describeArguments(k->function);
  k->arguments = argumentForms(k->metadata);
  k->json = runtime::toJson(k->metadata);
  *kernel = k.release();
  return TESSERA_OK;
}

tessera_status loadObject(Call &call, const std::shared_ptr<DeviceState> &device, llvm::StringRef object,
                          const runtime::KernelMetadata &md, tessera_kernel **kernel) {
  auto loaded = device->device->load(object, md);
  if (!loaded.ok())
    return call.fail(loaded.status(), absl::IsInvalidArgument(loaded.status()) ? TESSERA_USAGE : TESSERA_FAILED);
  auto k = std::make_unique<tessera_kernel>();
  k->device = device;
  k->metadata = md;
  k->arguments = argumentForms(md);
  k->json = runtime::toJson(md);
  k->loaded = std::move(*loaded);
  *kernel = k.release();
  return TESSERA_OK;
}

tessera_status interpret(Call &call, tessera_kernel &k, const LaunchInput &launch) {
  std::vector<runtime::InterpreterBuffer> buffers;
  std::vector<runtime::InterpreterArg> args;
  std::vector<const runtime::DeviceMemory *> memory; // of each buffer
  for (auto [i, a] : llvm::enumerate(launch.arguments)) {
    if (!a.memory) {
      args.push_back({-1, a.bits});
      continue;
    }
    size_t at = llvm::find(memory, a.memory) - memory.begin();
    if (at == memory.size()) {
      auto &m = static_cast<const runtime::HostMemory &>(*a.memory);
      memory.push_back(&m);
      buffers.push_back({k.metadata.args[i].name, m.data(), m.bytes(), m.undefined()});
    }
    args.push_back({int(at), a.bits});
    if (a.descriptor) {
      args.back().shape = a.descriptor->shape;
      args.back().strides = a.descriptor->strides;
      args.back().nanPadding = a.descriptor->nanPadding;
    }
  }
  // Programs run on threads of their own, but the handler is called on the caller's: collect first.
  std::vector<std::string> printed;
  std::vector<ir::Diagnostic> found;
  runtime::InterpreterOptions o;
  o.print = [&](llvm::StringRef line) { printed.push_back(line.str()); };
  o.watch = k.interpreted.watch();
  o.findOpenValues = true;
  o.undefinedIsZero = true; // what Triton's code gives masked-off elements on GPUs; many kernels depend on it
  ir::DiagnosticEngine engine([&](const ir::Diagnostic &d) { found.push_back(d); });
  absl::Status s;
  {
    std::scoped_lock lock(k.interpreting);
    s = runtime::interpret(*k.module, k.function, launch.grid, buffers, args, o, engine);
  }
  for (auto &line : printed) reportPrinted(*k.device->context, line);
  for (auto &d : found) call.engine.report(d);
  if (s.ok()) return TESSERA_OK;
  return call.engine.errors() ? call.end(TESSERA_FAILED) : call.fail(s);
}

} // namespace

namespace tessera::capi {

void reportPrinted(const ContextState &context, llvm::StringRef line) {
  ir::Diagnostic d;
  d.severity = ir::Severity::Remark;
  d.message = line.rtrim('\n').str();
  context.report(d);
}

tessera_status compileAndLoad(Call &call, const std::shared_ptr<DeviceState> &d, llvm::StringRef source,
                              const std::string &file, const tessera_options *given, tessera_kernel **kernel) {
  const ir::TargetInfo *target;
  if (auto s = readTarget(call, given, target)) return s;
  tessera_options options;
  tessera_options_init(&options, sizeof options);
  if (given) std::memcpy(&options, given, std::min(given->size, sizeof options));
  options.size = sizeof options;
  options.stage = d->info.stage;
  if (!d->device) {
    // It evaluates the text whatever they say, but a program must not depend on values that no other device takes.
    runtime::KernelConfig unused;
    if (auto s = readConfig(call, options, unused)) return s;
    return loadText(call, d, source, file, orEmpty(options.kernel), kernel);
  }
  if (!target) target = d->target;
  // An emulator executes what was lowered for its own target; a GPU's driver refuses an object itself.
  if (d->device->takesBitcode() && target != d->target)
    return call.fail(TESSERA_USAGE,
                     "the options' target is " + target->name + ", but " + d->spec + " runs code for " + d->targetName);
  if (!target) return call.fail(runtime::requireTarget(d->targetName).status());
  runtime::CompileOptions o;
  if (auto s = readOptions(call, &options, *target, o)) return s;
  runtime::CompileResult compiled;
  if (auto s = compileText(call, *d->context, source, file, *target, o, compiled)) return s;
  return loadObject(call, d, compiled.output, compiled.metadata, kernel);
}

} // namespace tessera::capi

tessera_status tessera_device_list_create(tessera_context *context, tessera_device_list **list, tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (list) *list = nullptr;
  if (!context || !list)
    return call.fail(TESSERA_USAGE, context ? "the out-parameter for the list is null" : "the context is null");
  return guarded(call, [&] {
    *list = new tessera_device_list{allDevices(call, context->state)};
    return TESSERA_OK;
  });
}
size_t tessera_device_list_count(const tessera_device_list *l) { return l ? l->devices.size() : 0; }
const tessera_device_info *tessera_device_list_info(const tessera_device_list *l, size_t index) {
  return l && index < l->devices.size() ? &l->devices[index]->info : nullptr;
}
void tessera_device_list_destroy(tessera_device_list *l) { delete l; }

tessera_status tessera_device_open(tessera_context *context, const char *spec, tessera_device **device,
                                   tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (device) *device = nullptr;
  if (!context || !device)
    return call.fail(TESSERA_USAGE, context ? "the out-parameter for the device is null" : "the context is null");
  return guarded(call, [&] {
    if (!spec) {
      *device = new tessera_device{allDevices(call, context->state).front()};
      return TESSERA_OK;
    }
    std::unique_ptr<runtime::Device> opened;
    llvm::StringRef name = spec;
    if (name != "interpreter") {
      emulator::Options o;
      o.print = [state = std::weak_ptr(context->state)](const std::string &line) {
        if (auto s = state.lock()) reportPrinted(*s, line);
      };
      auto d = name.consume_front("emulator:") ? runtime::openEmulator(name, o) : runtime::openDevice(spec);
      if (!d.ok()) return call.fail(d.status(), absl::IsInvalidArgument(d.status()) ? TESSERA_USAGE : TESSERA_FAILED);
      opened = std::move(*d);
    }
    *device = new tessera_device{describe(context->state, std::move(opened))};
    return TESSERA_OK;
  });
}
const tessera_device_info *tessera_device_describe(const tessera_device *d) { return d ? &d->state->info : nullptr; }
void tessera_device_destroy(tessera_device *d) { delete d; }

tessera_status tessera_buffer_create(tessera_device *device, size_t bytes, tessera_buffer **buffer,
                                     tessera_error **error) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (buffer) *buffer = nullptr;
  if (!device || !buffer)
    return call.fail(TESSERA_USAGE, device ? "the out-parameter for the buffer is null" : "the device is null");
  return guarded(call, [&] {
    std::unique_ptr<runtime::DeviceMemory> memory;
    absl::Status s;
    if (auto &d = device->state->device) {
      auto m = d->allocate(bytes, "a buffer");
      if (m.ok()) memory = std::move(*m);
      s = m.status();
    } else {
      auto m = runtime::HostMemory::allocate(bytes, "a buffer");
      if (m.ok()) memory = std::move(*m);
      s = m.status();
    }
    if (!s.ok()) return call.fail(s);
    *buffer = new tessera_buffer{device->state, std::move(memory)};
    return TESSERA_OK;
  });
}
size_t tessera_buffer_bytes(const tessera_buffer *b) { return b ? b->memory->bytes() : 0; }
void tessera_buffer_destroy(tessera_buffer *b) { delete b; }

/// Whether a range of bytes lies in the buffer.
static tessera_status checkRange(Call &call, const tessera_buffer *b, size_t offset, const void *host, size_t bytes) {
  if (!b) return call.fail(TESSERA_USAGE, "the buffer is null");
  if (!host && bytes) return call.fail(TESSERA_USAGE, "the host's memory is null");
  size_t size = b->memory->bytes();
  if (offset > size || bytes > size - offset)
    return call.fail(TESSERA_USAGE,
                     llvm::formatv("{0} bytes from {1} on do not lie in a buffer of {2}", bytes, offset, size).str());
  return TESSERA_OK;
}
tessera_status tessera_buffer_write(tessera_buffer *b, size_t offset, const void *from, size_t bytes,
                                    tessera_error **error) {
  Call call(b ? b->device->context.get() : nullptr, error);
  if (auto s = checkRange(call, b, offset, from, bytes)) return s;
  if (!b->device->device) {
    auto &host = static_cast<runtime::HostMemory &>(*b->memory);
    if (bytes) std::memcpy(host.data() + offset, from, bytes);
    host.define(offset, bytes);
    return TESSERA_OK;
  }
  auto s = b->device->device->write(*b->memory, offset, from, bytes, "a buffer");
  return s.ok() ? TESSERA_OK : call.fail(s);
}
tessera_status tessera_buffer_undefine(tessera_buffer *b, size_t offset, size_t bytes, tessera_error **error) {
  Call call(b ? b->device->context.get() : nullptr, error);
  if (auto s = checkRange(call, b, offset, b, bytes)) return s;
  bool isHost = !b->device->device || b->device->device->takesBitcode();
  if (!isHost) return TESSERA_OK;
  auto s = static_cast<runtime::HostMemory &>(*b->memory).undefine(offset, bytes);
  return s.ok() ? TESSERA_OK : call.fail(s);
}
tessera_status tessera_buffer_read(const tessera_buffer *b, size_t offset, void *to, size_t bytes,
                                   tessera_error **error) {
  Call call(b ? b->device->context.get() : nullptr, error);
  if (auto s = checkRange(call, b, offset, to, bytes)) return s;
  if (!b->device->device) {
    if (bytes) std::memcpy(to, static_cast<const runtime::HostMemory &>(*b->memory).data() + offset, bytes);
    return TESSERA_OK;
  }
  auto s = b->device->device->read(*b->memory, offset, to, bytes, "a buffer");
  return s.ok() ? TESSERA_OK : call.fail(s);
}

tessera_status tessera_kernel_compile(tessera_device *device, const char *text, size_t length, const char *file_name,
                                      const tessera_options *given, tessera_kernel **kernel, tessera_error **error) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (auto s = checkKernelCall(call, device, kernel, text, length)) return s;
  return guarded(call, [&] {
    return compileAndLoad(call, device->state, llvm::StringRef(text, length), fileName(file_name), given, kernel);
  });
}
tessera_status tessera_kernel_compile_module(tessera_device *device, const tessera_module *module,
                                             const tessera_options *given, tessera_kernel **kernel,
                                             tessera_error **error) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (auto s = checkKernelCall(call, device, kernel, "", 0)) return s;
  if (!module) return call.fail(TESSERA_USAGE, "the module is null");
  return guarded(call, [&] {
    auto [text, file] = textOf(*module);
    return compileAndLoad(call, device->state, text, file, given, kernel);
  });
}

tessera_status tessera_kernel_load(tessera_device *device, const char *object, size_t length, const char *metadata,
                                   tessera_kernel **kernel, tessera_error **error) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (auto s = checkKernelCall(call, device, kernel, object, length)) return s;
  return guarded(call, [&] {
    auto &d = device->state;
    runtime::KernelMetadata md;
    if (metadata && *metadata) {
      auto m = runtime::metadataFromJson(metadata);
      if (!m.ok()) return call.fail(m.status(), TESSERA_USAGE);
      md = *std::move(m);
    } else if (d->device)
      return call.fail(TESSERA_USAGE, "the metadata is missing");
    if (!d->device) return loadText(call, d, llvm::StringRef(object, length), "<text>", md.kernel, kernel);
    if (md.known < runtime::KernelMetadata::Launch)
      return call.fail(TESSERA_USAGE, "the metadata says nothing of a launch: it is that of TTIR or TTGIR");
    if (d->device->takesBitcode()) {
      if (md.target != d->targetName)
        return call.fail(TESSERA_USAGE, "the object is for " + md.target + ", not for " + d->spec);
    } else if (std::string why = runtime::whyNotWholeObject({object, length}); !why.empty()) {
      return call.fail(TESSERA_USAGE, llvm::Twine("this is no ") + d->info.stage + ": " + why);
    }
    return loadObject(call, d, std::string(object, length), md, kernel);
  });
}
const char *tessera_kernel_metadata(const tessera_kernel *k) { return k ? k->json.c_str() : ""; }
void tessera_kernel_destroy(tessera_kernel *k) { delete k; }

tessera_argument tessera_argument_buffer(const tessera_buffer *b) { return {b, 0, nullptr, 0}; }
tessera_argument tessera_argument_value(const void *value, size_t bytes) { return {nullptr, 0, value, bytes}; }
void tessera_tensor_descriptor_init(tessera_tensor_descriptor *d, size_t size) {
  tessera_tensor_descriptor defaults{};
  defaults.size = size;
  if (d) std::memcpy(d, &defaults, std::min(size, sizeof defaults));
}
tessera_argument tessera_argument_descriptor(const tessera_buffer *b, size_t offset,
                                             const tessera_tensor_descriptor *d) {
  return {b, offset, d, d ? d->size : 0};
}

tessera_status tessera_launch(tessera_kernel *k, const uint32_t grid[3], const tessera_argument *arguments,
                              size_t count, tessera_error **error) {
  Call call(k ? k->device->context.get() : nullptr, error);
  if (!k) return call.fail(TESSERA_USAGE, "the kernel is null");
  return guarded(call, [&] {
    LaunchInput input;
    if (auto s = readLaunch(call, *k, grid, arguments, count, input)) return s;
    if (!k->loaded) return interpret(call, *k, input);
    auto s = k->device->device->launch(*k->loaded, input.grid, input.arguments);
    return s.ok() ? TESSERA_OK : call.fail(s);
  });
}

void tessera_kernel_interrupt(tessera_kernel *k) {
  if (k) (k->loaded ? k->loaded->interrupts : k->interpreted).interrupt();
}

static tessera_status
makeStream(tessera_device *device, tessera_stream **stream, tessera_error **error,
           llvm::function_ref<absl::StatusOr<std::unique_ptr<runtime::DeviceStream>>(runtime::Device *)> make) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (stream) *stream = nullptr;
  if (!device || !stream)
    return call.fail(TESSERA_USAGE, device ? "the out-parameter for the stream is null" : "the device is null");
  return guarded(call, [&] {
    auto made = make(device->state->device.get());
    if (!made.ok())
      return call.fail(made.status(), absl::IsInvalidArgument(made.status()) ? TESSERA_USAGE : TESSERA_FAILED);
    *stream = new tessera_stream{device->state, std::move(*made)};
    return TESSERA_OK;
  });
}
tessera_status tessera_stream_create(tessera_device *device, tessera_stream **stream, tessera_error **error) {
  return makeStream(device, stream, error,
                    [](runtime::Device *d) -> absl::StatusOr<std::unique_ptr<runtime::DeviceStream>> {
                      if (!d) return std::make_unique<runtime::HostStream>();
                      return d->createStream();
                    });
}
tessera_status tessera_stream_adopt(tessera_device *device, void *native, tessera_stream **stream,
                                    tessera_error **error) {
  return makeStream(
      device, stream, error, [&](runtime::Device *d) -> absl::StatusOr<std::unique_ptr<runtime::DeviceStream>> {
        if (!d) return absl::InvalidArgumentError("the interpreter has no driver whose stream could be adopted");
        return d->adoptStream(native);
      });
}
void *tessera_stream_native(const tessera_stream *s) { return s ? s->stream->native() : nullptr; }
void tessera_stream_destroy(tessera_stream *s) { delete s; }

tessera_status tessera_stream_launch(tessera_stream *stream, tessera_kernel *k, const uint32_t grid[3],
                                     const tessera_argument *arguments, size_t count, tessera_error **error) {
  Call call(stream ? stream->device->context.get() : nullptr, error);
  if (!stream || !k) return call.fail(TESSERA_USAGE, stream ? "the kernel is null" : "the stream is null");
  if (!isSameDevice(*stream->device, *k->device))
    return call.fail(TESSERA_USAGE, llvm::Twine("the kernel is on ") + k->device->spec + ", but the stream is one of " +
                                        stream->device->spec);
  return guarded(call, [&] {
    LaunchInput input;
    if (auto s = readLaunch(call, *k, grid, arguments, count, input)) return s;
    if (!k->loaded) return interpret(call, *k, input);
    auto s = k->device->device->launchOn(*stream->stream, *k->loaded, input.grid, input.arguments);
    return s.ok() ? TESSERA_OK : call.fail(s);
  });
}
tessera_status tessera_stream_synchronize(tessera_stream *stream, tessera_error **error) {
  Call call(stream ? stream->device->context.get() : nullptr, error);
  if (!stream) return call.fail(TESSERA_USAGE, "the stream is null");
  if (!stream->device->device) return TESSERA_OK;
  auto s = stream->device->device->synchronize(*stream->stream);
  return s.ok() ? TESSERA_OK : call.fail(s);
}

tessera_status tessera_event_create(tessera_device *device, tessera_event **event, tessera_error **error) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (event) *event = nullptr;
  if (!device || !event)
    return call.fail(TESSERA_USAGE, device ? "the out-parameter for the event is null" : "the device is null");
  return guarded(call, [&] {
    std::unique_ptr<runtime::DeviceEvent> made = std::make_unique<runtime::HostEvent>();
    if (auto &d = device->state->device) {
      auto e = d->createEvent();
      if (!e.ok()) return call.fail(e.status());
      made = std::move(*e);
    }
    *event = new tessera_event{device->state, std::move(made)};
    return TESSERA_OK;
  });
}
void tessera_event_destroy(tessera_event *e) { delete e; }

/// The checks of functions that take an event and a stream.
static tessera_status checkEventAndStream(Call &call, const tessera_event *event, const tessera_stream *stream) {
  if (!event || !stream) return call.fail(TESSERA_USAGE, event ? "the stream is null" : "the event is null");
  if (!isSameDevice(*event->device, *stream->device))
    return call.fail(TESSERA_USAGE, llvm::Twine("the event is one of ") + event->device->spec +
                                        ", but the stream is one of " + stream->device->spec);
  return TESSERA_OK;
}
tessera_status tessera_event_record(tessera_event *event, tessera_stream *stream, tessera_error **error) {
  Call call(event ? event->device->context.get() : nullptr, error);
  if (auto s = checkEventAndStream(call, event, stream)) return s;
  if (auto &d = event->device->device) {
    if (auto s = d->record(*event->event, *stream->stream); !s.ok()) return call.fail(s);
  } else
    static_cast<runtime::HostEvent &>(*event->event).record();
  event->recorded = true;
  return TESSERA_OK;
}
tessera_status tessera_stream_wait(tessera_stream *stream, tessera_event *event, tessera_error **error) {
  Call call(stream ? stream->device->context.get() : nullptr, error);
  if (auto s = checkEventAndStream(call, event, stream)) return s;
  if (!event->recorded) return call.fail(TESSERA_USAGE, "the event has not been recorded");
  if (auto &d = event->device->device)
    if (auto s = d->waitFor(*stream->stream, *event->event); !s.ok()) return call.fail(s);
  return TESSERA_OK;
}
tessera_status tessera_event_elapsed(tessera_event *start, tessera_event *stop, double *milliseconds,
                                     tessera_error **error) {
  Call call(start ? start->device->context.get() : nullptr, error);
  if (milliseconds) *milliseconds = 0;
  if (!start || !stop || !milliseconds)
    return call.fail(TESSERA_USAGE, start && stop ? "the out-parameter for the time is null" : "the event is null");
  if (start->device->spec != stop->device->spec)
    return call.fail(TESSERA_USAGE,
                     llvm::Twine("one event is of ") + start->device->spec + ", the other of " + stop->device->spec);
  if (!start->recorded || !stop->recorded) return call.fail(TESSERA_USAGE, "the event has not been recorded");
  if (auto &d = start->device->device) {
    auto ms = d->millisecondsBetween(*start->event, *stop->event);
    if (!ms.ok()) return call.fail(ms.status());
    *milliseconds = *ms;
  } else
    *milliseconds = static_cast<runtime::HostEvent &>(*stop->event).milliseconds -
                    static_cast<runtime::HostEvent &>(*start->event).milliseconds;
  return TESSERA_OK;
}

tessera_status tessera_time(tessera_kernel *k, const uint32_t grid[3], const tessera_argument *arguments, size_t count,
                            int repetitions, tessera_times *times, tessera_error **error) {
  Call call(k ? k->device->context.get() : nullptr, error);
  if (times) *times = {};
  if (!k || !times)
    return call.fail(TESSERA_USAGE, k ? "the out-parameter for the times is null" : "the kernel is null");
  if (repetitions < 1)
    return call.fail(TESSERA_USAGE, "repetitions must be at least 1, not " + llvm::Twine(repetitions));
  return guarded(call, [&] {
    LaunchInput input;
    if (auto s = readLaunch(call, *k, grid, arguments, count, input)) return s;
    if (k->loaded) {
      auto t = k->device->device->time(*k->loaded, input.grid, input.arguments, repetitions);
      if (!t.ok()) return call.fail(t.status());
      *times = {t->medianMs, t->minMs};
      return TESSERA_OK;
    }
    std::vector<double> ms;
    for (int i = 0; i < repetitions; ++i) {
      auto start = std::chrono::steady_clock::now();
      if (auto s = interpret(call, *k, input)) return s;
      ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    llvm::sort(ms);
    *times = {ms[ms.size() / 2], ms[0]};
    return TESSERA_OK;
  });
}
