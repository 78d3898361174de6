// A launch description on a code object (see run_object.h).
#include "runtime/code_object/run_object.h"
#include "absl/status/status.h"
#include "runtime/code_object/decoder.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <deque>
#include <sys/mman.h>
#include <utility>

namespace tessera::code_object {
using namespace llvm;
using runtime::LaunchArg;
using runtime::LaunchDescription;

bool ObjectRun::ok() const {
  return llvm::all_of(checks, [](const runtime::CheckResult &c) { return c.ok; });
}

namespace {

/// A value of the argument segment, in the order of the description: a descriptor is several.
struct Value {
  uint64_t bits = 0;
  unsigned bytes = 0;
  std::string name;
};

/// The values of one argument: of a descriptor also its shape, strides and padding (runtime/launch/descriptor.h).
void addValues(const LaunchArg &a, uint64_t address, std::vector<Value> &out) {
  if (a.isScalar) {
    runtime::ScalarBits s = runtime::scalarBits(a);
    out.push_back({s.bits, s.bytes, a.name});
    return;
  }
  out.push_back({address, 8, a.name});
  if (!a.descriptor) return;
  size_t rank = a.descriptor->shape.size();
  for (size_t part = 1; part < 2 + 2 * rank; ++part)
    out.push_back({uint64_t(a.descriptor->part(part)), part <= 2 * rank ? 8u : 1u, a.name});
}

/// Without metadata: one value after the other, each at a multiple of its size.
std::vector<uint8_t> placeInOrder(ArrayRef<Value> values) {
  std::vector<uint8_t> out;
  for (const Value &v : values) {
    while (out.size() % v.bytes) out.push_back(0);
    for (unsigned k = 0; k < v.bytes; ++k) out.push_back(uint8_t(v.bits >> (8 * k)));
  }
  return out;
}

/// By the metadata. The kernel may take pointers after the description's arguments, to scratch memory of the compiler;
/// they are null.
absl::StatusOr<std::vector<uint8_t>> placeByMetadata(const Kernel &k, ArrayRef<Value> values) {
  std::vector<uint8_t> out(k.descriptor.kernargBytes, 0);
  size_t next = 0;
  for (const KernelArgument &a : k.arguments) {
    if (a.isHidden()) continue;
    if (next == values.size()) {
      if (a.valueKind == "global_buffer") continue;
      return absl::InvalidArgumentError(
          formatv("kernel '{0}' takes more than the {1} values of the description", k.name, values.size()).str());
    }
    const Value &v = values[next++];
    bool fits = a.size == v.bytes || (v.bytes == 1 && a.size <= 8);
    if (!fits)
      return absl::InvalidArgumentError(
          formatv("argument '{0}' has {1} bytes, but kernel '{2}' takes {3} there", v.name, v.bytes, k.name, a.size)
              .str());
    for (unsigned b = 0; b < a.size; ++b) out[a.offset + b] = b < 8 ? uint8_t(v.bits >> (8 * b)) : 0;
  }
  if (next < values.size())
    return absl::InvalidArgumentError(
        formatv("the description gives {0} values, but kernel '{1}' takes {2}", values.size(), k.name, next).str());
  return out;
}

absl::StatusOr<const Kernel *> chooseKernel(const CodeObject &object, const LaunchDescription &d,
                                            const ObjectRunOptions &o) {
  std::string name = o.kernel.empty() ? d.kernel : o.kernel;
  if (const Kernel *k = object.find(name)) return k;
  if (o.kernel.empty() && object.kernels.size() == 1) return &object.kernels[0];
  std::string list;
  for (const Kernel &k : object.kernels) list += (list.empty() ? "" : ", ") + k.name;
  return absl::InvalidArgumentError(formatv("the code object has no kernel '{0}'; it has: {1}", name, list).str());
}

/// Work-items of a workgroup: the caller's, what the object requires, or the description's warps.
uint32_t workItemsOf(const Kernel &k, const LaunchDescription &d, const ObjectRunOptions &o) {
  if (o.workItems) return o.workItems;
  if (uint32_t n = k.requiredWorkgroup[0]; n) return n * k.requiredWorkgroup[1] * k.requiredWorkgroup[2];
  uint32_t n = uint32_t(d.numWarps) * k.waveSize;
  // Compilers may take more warps than the launch requests; Tessera's and Triton's objects allow as many as they take.
  return k.maxWorkItems && k.maxWorkItems < 1024 ? k.maxWorkItems : n;
}

/// Zeros that take memory only where they are accessed.
class LazyZeros {
public:
  explicit LazyZeros(size_t size) : size_(std::max<size_t>(size, 1)) {
    void *at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = at == MAP_FAILED ? nullptr : static_cast<uint8_t *>(at);
  }
  LazyZeros(LazyZeros &&o) noexcept : data_(std::exchange(o.data_, nullptr)), size_(o.size_) {}
  LazyZeros &operator=(LazyZeros &&) = delete;
  ~LazyZeros() {
    if (data_) munmap(data_, size_);
  }
  uint8_t *data() const { return data_; } // null if there is no room

private:
  uint8_t *data_ = nullptr;
  size_t size_;
};

/// All that the launch's buffers are in while it runs.
struct Buffers {
  Memory memory;
  std::deque<LazyZeros> zeros;
};

/// Gives the argument's buffer a device address.
absl::StatusOr<uint64_t> addBuffer(const LaunchDescription &d, unsigned i, bool keep, ObjectRun &run, Buffers &to) {
  const LaunchArg &a = d.args[i];
  std::string name = formatv("argument {0} ('{1}')", i, a.name);
  bool isZero = a.source == LaunchArg::Fill && a.fill == 0 && !std::signbit(a.fill) && !a.descriptor;
  if (isZero && !keep) {
    LazyZeros zeros(size_t(a.bytes()));
    if (uint8_t *data = zeros.data()) {
      to.zeros.push_back(std::move(zeros));
      return to.memory.add(std::move(name), data, uint64_t(a.bytes()));
    }
  }
  auto bytes = runtime::materialize(d, i);
  if (!bytes.ok()) return bytes.status();
  run.buffers[i] = std::move(*bytes);
  return to.memory.add(std::move(name), run.buffers[i].data(), run.buffers[i].size());
}

absl::Status runChecks(const LaunchDescription &d, ObjectRun &run) {
  for (const runtime::ExpectedOutput &e : d.expected) {
    auto result = runtime::check(d, e, run.buffers[e.arg]);
    if (!result.ok()) return result.status();
    run.checks.push_back(std::move(*result));
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<ObjectRun> runObject(const LaunchDescription &d, StringRef hsaco, const ObjectRunOptions &o) {
  ObjectRun run;
  auto object = readCodeObject(hsaco);
  if (!object.ok()) return object.status();
  run.object = std::move(*object);
  auto kernel = chooseKernel(run.object, d, o);
  if (!kernel.ok()) return kernel.status();
  run.kernel = *kernel;
  auto program = decode(run.object, *run.kernel);
  if (!program.ok()) return program.status();
  run.program = std::move(*program);
  if (absl::Status s = runtime::checkGrid(d.grid, "hip:0", 0); !s.ok()) return s;
  for (unsigned k = 0; k < 3; ++k) run.grid.workgroups[k] = uint32_t(d.grid[k]);
  run.grid.workItems = {workItemsOf(*run.kernel, d, o), 1, 1};
  run.grid.dynamicLdsBytes = o.dynamicLdsBytes;
  Buffers buffers;
  std::vector<Value> values;
  run.buffers.resize(d.args.size());
  for (unsigned i = 0; i < d.args.size(); ++i) {
    uint64_t address = 0;
    if (!d.args[i].isScalar) {
      auto at = addBuffer(d, i, o.keepBuffers || o.check, run, buffers);
      if (!at.ok()) return at.status();
      address = *at + uint64_t(d.args[i].offsetBytes());
    }
    addValues(d.args[i], address, values);
  }
  absl::StatusOr<std::vector<uint8_t>> kernarg = placeInOrder(values);
  if (!run.kernel->arguments.empty()) kernarg = placeByMetadata(*run.kernel, values);
  if (!kernarg.ok()) return kernarg.status();
  auto trace = execute(run.object, *run.kernel, run.program, run.grid, *kernarg, buffers.memory, o.execute);
  if (!trace.ok()) return trace.status();
  run.trace = std::move(*trace);
  if (o.check && o.execute.workgroups.empty())
    if (absl::Status s = runChecks(d, run); !s.ok()) return s;
  return run;
}

} // namespace tessera::code_object
