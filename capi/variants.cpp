// Variants of a kernel (see tessera.h): one text, compiled on demand for the classes of the arguments of a launch.
//
// The key of a variant has two bits for each argument (runtime::ArgumentClass). Variants are found in a hash table
// whose buckets are lists that only grow at their heads, so that looking one up takes no lock and no allocation; a
// variant that is missing is compiled by one thread, while others look up or compile other ones.
#include "capi/handles.h"
#include "frontend/parser.h"
#include "ir/attribute_names.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/specialize.h"
#include "runtime/kernel_arguments.h"
#include "runtime/launch_checks.h"
#include <array>
#include <cstring>

using namespace tessera;
using namespace tessera::capi;
using runtime::ArgumentClass;

namespace {

constexpr unsigned kClassBits = 2;
constexpr unsigned kClassesPerWord = 64 / kClassBits;

using Key = llvm::SmallVector<uint64_t, 2>; // without allocation up to 64 arguments

struct Variant {
  Key key;
  Variant *next = nullptr;                       // of the bucket
  std::atomic<tessera_kernel *> ready = nullptr; // `kernel`, once it is loaded
  std::mutex compiling;                          // protects what follows
  std::unique_ptr<tessera_kernel> kernel;
};

/// What is known of an argument. What does not fit is of no class: the launch refuses it.
ArgumentClass classify(const ArgumentForm &form, const tessera_argument &a) {
  uint64_t bits = 0;
  if (form.isPointer && a.buffer) {
    bits = a.offset; // buffers begin at multiples of 16
  } else if ((form.isPointer || form.isInteger) && a.value && a.bytes == form.bytes) {
    std::memcpy(&bits, a.value, form.bytes);
    if (form.isInteger && bits == 1) return ArgumentClass::One;
  } else {
    return ArgumentClass::Any;
  }
  return bits % uint64_t(ir::kLaunchDivisor) ? ArgumentClass::Any : ArgumentClass::DivisibleBy16;
}

} // namespace

struct tessera_variants {
  std::shared_ptr<DeviceState> device;
  std::string text, file;
  std::string kernelName, target; // of the options
  tessera_options options;
  std::string function; // the kernel's name in the text
  std::vector<ArgumentForm> arguments;

  static constexpr unsigned kBucketBits = 6;
  static constexpr size_t kBuckets = size_t(1) << kBucketBits;
  std::array<std::atomic<Variant *>, kBuckets> buckets{};
  mutable std::mutex mutex; // protects what follows, and the heads of the buckets
  std::vector<std::unique_ptr<Variant>> all;

  static size_t bucketOf(const Key &key) {
    uint64_t hash = 0;
    for (uint64_t word : key) hash = (hash ^ word) * 0x9e3779b97f4a7c15; // Knuth, TAOCP 6.4: the golden ratio's bits
    return hash >> (64 - kBucketBits);
  }
  Variant *find(const Key &key, size_t bucket) const {
    for (Variant *v = buckets[bucket].load(std::memory_order_acquire); v; v = v->next)
      if (v->key == key) return v;
    return nullptr;
  }
  Key keyOf(const tessera_argument *given) const {
    Key key((arguments.size() + kClassesPerWord - 1) / kClassesPerWord, 0);
    for (size_t i = 0; i < arguments.size(); ++i)
      key[i / kClassesPerWord] |= uint64_t(classify(arguments[i], given[i])) << (i % kClassesPerWord * kClassBits);
    return key;
  }
  Variant *findOrAdd(const Key &key, size_t bucket) {
    std::scoped_lock lock(mutex);
    if (Variant *v = find(key, bucket)) return v; // another thread's
    auto &added = all.emplace_back(std::make_unique<Variant>());
    added->key = key;
    added->next = buckets[bucket].load(std::memory_order_relaxed);
    buckets[bucket].store(added.get(), std::memory_order_release);
    return added.get();
  }
  tessera_status compile(Call &, Variant &);
};

/// Compiles and loads it, unless another thread has done so meanwhile.
tessera_status tessera_variants::compile(Call &call, Variant &variant) {
  std::scoped_lock lock(variant.compiling);
  if (variant.kernel) return TESSERA_OK;
  ir::Context context;
  auto module = frontend::parseModule(text, file, context, call.engine, {.locateByText = true});
  if (!module) return call.end(TESSERA_INPUT);
  auto kernelOp = runtime::selectKernel(*module, kernelName);
  if (!kernelOp.ok()) return call.fail(TESSERA_INPUT, std::string(kernelOp.status().message()), file);
  llvm::SmallVector<ArgumentClass, 32> classes;
  for (size_t i = 0; i < arguments.size(); ++i)
    classes.push_back(ArgumentClass(variant.key[i / kClassesPerWord] >> (i % kClassesPerWord * kClassBits) & 3));
  runtime::specialize(*kernelOp, classes);
  tessera_kernel *kernel = nullptr;
  std::string specialized = ir::printToString(*module, {.locations = true});
  if (auto s = compileAndLoad(call, device, specialized, file, &options, &kernel)) return s;
  variant.kernel.reset(kernel);
  variant.ready.store(kernel, std::memory_order_release);
  return TESSERA_OK;
}

static tessera_status describe(Call &call, const tessera_module &module, const tessera_options *given,
                               tessera_variants &out) {
  tessera_options_init(&out.options, sizeof out.options);
  const ir::TargetInfo *target;
  if (auto s = readTarget(call, given, target)) return s; // checks the options' size, too
  if (given) std::memcpy(&out.options, given, std::min(given->size, sizeof out.options));
  out.options.size = sizeof out.options;
  out.kernelName = orEmpty(out.options.kernel);
  out.target = orEmpty(out.options.target);
  if (out.options.kernel) out.options.kernel = out.kernelName.c_str();
  if (out.options.target) out.options.target = out.target.c_str();
  out.options.stage = nullptr;
  std::tie(out.text, out.file) = textOf(module);
  ir::Context context;
  auto parsed = frontend::parseModule(out.text, out.file, context, call.engine);
  if (!parsed) return call.end(TESSERA_INPUT);
  auto kernel = runtime::selectKernel(*parsed, out.kernelName);
  if (!kernel.ok()) return call.fail(TESSERA_INPUT, std::string(kernel.status().message()), out.file);
  out.function = (*kernel)->cast<ir::tt::FuncOp>().symName().str();
  for (auto &a : runtime::describeArguments(*kernel)) out.arguments.push_back(argumentForm(a));
  return TESSERA_OK;
}

tessera_status tessera_variants_create(tessera_device *device, const tessera_module *module,
                                       const tessera_options *options, tessera_variants **variants,
                                       tessera_error **error) {
  Call call(device ? device->state->context.get() : nullptr, error);
  if (variants) *variants = nullptr;
  if (!device) return call.fail(TESSERA_USAGE, "the device is null");
  if (!module) return call.fail(TESSERA_USAGE, "the module is null");
  if (!variants) return call.fail(TESSERA_USAGE, "the out-parameter for the variants is null");
  return guarded(call, [&] {
    auto made = std::make_unique<tessera_variants>();
    made->device = device->state;
    if (auto s = describe(call, *module, options, *made)) return s;
    *variants = made.release();
    return TESSERA_OK;
  });
}

/// The variant where it must be compiled, or the arguments are wrong.
static tessera_status compileVariant(tessera_variants *variants, const Key &key, size_t bucket, tessera_kernel **kernel,
                                     tessera_error **error) {
  Call call(variants->device->context.get(), error);
  return guarded(call, [&] {
    Variant *v = variants->findOrAdd(key, bucket);
    if (auto s = variants->compile(call, *v)) return s;
    *kernel = v->ready.load(std::memory_order_acquire);
    return TESSERA_OK;
  });
}

tessera_status tessera_variants_kernel(tessera_variants *variants, const tessera_argument *arguments, size_t count,
                                       tessera_kernel **kernel, tessera_error **error) {
  if (kernel) *kernel = nullptr;
  bool isRight = variants && kernel && (arguments || !count) && count == variants->arguments.size();
  if (!isRight) {
    Call call(variants ? variants->device->context.get() : nullptr, error);
    if (!variants) return call.fail(TESSERA_USAGE, "the variants are null");
    if (!kernel) return call.fail(TESSERA_USAGE, "the out-parameter for the kernel is null");
    if (!arguments && count) return call.fail(TESSERA_USAGE, "the arguments are null");
    return call.fail(TESSERA_USAGE,
                     runtime::wrongArgumentCount(variants->function, variants->arguments.size(),
                                                 count == 1 ? "1 is given" : std::to_string(count) + " are given"));
  }
  if (error) *error = nullptr;
  Key key = variants->keyOf(arguments);
  size_t bucket = tessera_variants::bucketOf(key);
  if (Variant *v = variants->find(key, bucket))
    if ((*kernel = v->ready.load(std::memory_order_acquire))) return TESSERA_OK;
  return compileVariant(variants, key, bucket, kernel, error);
}

size_t tessera_variants_count(const tessera_variants *variants) {
  if (!variants) return 0;
  std::scoped_lock lock(variants->mutex);
  return size_t(llvm::count_if(variants->all, [](auto &v) { return v->ready.load() != nullptr; }));
}
void tessera_variants_destroy(tessera_variants *variants) { delete variants; }
