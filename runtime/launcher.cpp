// From a launch description to a run (see launcher.h).
#include "runtime/launcher.h"
#include "ir/attribute_names.h"
#include "ir/ops.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/kernel_arguments.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <bit>

namespace tessera::runtime {

std::vector<LaunchValue> LaunchArguments::values() {
  std::vector<LaunchValue> out;
  for (size_t i = 0; i < buffers.size(); ++i) {
    LaunchValue v;
    if (scalarBytes[i]) {
      v.bits = scalars[i];
      v.bytes = scalarBytes[i];
    } else {
      v.buffer = &buffers[i];
      v.bits = i < offsets.size() ? offsets[i] : 0;
    }
    if (i < descriptors.size() && descriptors[i]) v.descriptor = &*descriptors[i];
    out.push_back(v);
  }
  return out;
}

static llvm::SmallVector<bool> areDescriptors(const LaunchDescription &d) {
  llvm::SmallVector<bool> out;
  for (auto &a : d.args) out.push_back(a.descriptor.has_value());
  return out;
}

/// Whether a kernel's pointer may point to elements of the type. Kernels take floats that numpy lacks as integers, too.
static bool mayPointTo(ir::Type pointer, DType elements) {
  auto pointee = parseDType(pointer.cast<ir::PointerType>().pointee().str());
  return !pointee || mayHold(elements, *pointee) || mayHold(*pointee, elements);
}

/// Why the argument cannot be passed for the kernel's, as a clause; empty: it can. `isExpanded`: the kernel's next ones
/// are the parts of the descriptor that it must be.
static std::string whyNotPassed(const LaunchArg &a, const KernelMetadata::Arg &takes, ir::Type t, bool isExpanded) {
  auto type = DescriptorType::parse(takes.descriptor.empty() ? takes.type : takes.descriptor);
  if (a.descriptor && type) {
    DescriptorPart part;
    std::string why = type->mismatch(*a.descriptor, part);
    return why.empty() ? "" : llvm::formatv("has a wrong {0}: it {1}", partName(part), why).str();
  }
  if (a.descriptor) return llvm::formatv("is a tensor descriptor (\"block_shape\"), but the kernel takes {0}", t.str());
  const char *kind = a.isScalar ? "scalar" : "buffer";
  if (t.isa<ir::TensorDescType>() || isExpanded)
    return llvm::formatv(
        "is a {0}, but the kernel takes a tensor descriptor, {1}; a buffer with \"block_shape\" is one", kind,
        isExpanded ? takes.descriptor : t.str());
  if (t.isPointer() == a.isScalar) return llvm::formatv("is a {0}, but the kernel takes {1}", kind, t.str());
  if (t.isPointer() && !mayPointTo(t, a.dtype))
    return llvm::formatv("has elements of {0}, but the kernel takes {1}", dtypeName(a.dtype), t.str());
  if (a.isScalar && t.str() != a.scalarType)
    return llvm::formatv("has type {0}, but the kernel takes {1}", a.scalarType, t.str());
  return "";
}

/// What the kernel's text says divides an argument (tt.divisibility); 1 if it says nothing.
static int64_t promisedDivisor(ir::tt::FuncOp kernel, size_t k) {
  auto all = kernel.argAttrs() ? kernel.argAttrs().dyn_cast<ir::ArrayAttr>() : ir::ArrayAttr();
  auto attributes = all && k < all.size() ? all[unsigned(k)].dyn_cast<ir::DictionaryAttr>() : ir::DictionaryAttr();
  ir::Attribute divisor = attributes ? attributes.get(ir::kDivisibilityAttr) : ir::Attribute();
  auto number = divisor ? divisor.dyn_cast<ir::IntegerAttr>() : ir::IntegerAttr();
  return number ? std::max<int64_t>(1, number.sext()) : 1;
}

/// How the argument breaks that promise, as a clause; empty: it does not. Kernels are compiled for it.
static std::string brokenPromise(const LaunchArg &a, int64_t divisor) {
  if (a.descriptor) return "";
  auto number = int64_t(a.isScalar ? scalarBits(a).bits : uint64_t(a.offsetBytes()));
  if (number % divisor == 0) return "";
  return llvm::formatv("{0}, but the kernel's tt.divisibility promises a multiple of {1}",
                       a.isScalar ? llvm::formatv("is {0}", number) : llvm::formatv("points at byte {0}", number),
                       divisor);
}

absl::StatusOr<LaunchArguments> prepareArguments(const LaunchDescription &d, ir::Operation *kernel) {
  auto *entry = kernel->region(0).front();
  auto name = kernel->cast<ir::tt::FuncOp>().symName();
  auto takes = describeArguments(kernel);
  std::string errors;
  auto bad = [&](LaunchPlace at, const std::string &what) { errors += (errors.empty() ? "" : "\n") + d.at(at) + what; };
  auto sources = argumentSources(takes, areDescriptors(d));
  if (!sources)
    bad(d.argsPlace, wrongArgumentCount(name, argumentsInText(takes),
                                        ("the description gives " + llvm::Twine(d.args.size())).str()));
  else {
    GivenDescriptor last{}; // before the argument
    for (auto [k, source] : llvm::enumerate(*sources)) {
      if (source.part) continue;
      auto &a = d.args[source.given];
      bool isExpanded = k + 1 < sources->size() && (*sources)[k + 1].part;
      std::string why = whyNotPassed(a, takes[k], entry->arg(k).type(), isExpanded);
      if (why.empty() && a.isScalar && last.descriptor) why = contradiction(last, takes[k], scalarBits(a).bits);
      if (why.empty()) why = brokenPromise(a, promisedDivisor(kernel->cast<ir::tt::FuncOp>(), k));
      if (a.descriptor) last = {takes[k].name, &*a.descriptor};
      if (!why.empty()) bad(a.place, llvm::formatv("args[{0}] ('{1}') {2}", source.given, a.name, why));
    }
  }
  if (!errors.empty()) return absl::InvalidArgumentError(errors);
  LaunchArguments out;
  for (unsigned i = 0; i < d.args.size(); ++i) {
    auto &a = d.args[i];
    out.buffers.emplace_back();
    out.scalars.push_back(0);
    out.scalarBytes.push_back(0);
    out.descriptors.push_back(a.descriptor);
    out.offsets.push_back(a.isScalar ? 0 : uint64_t(a.offsetBytes()));
    if (a.isScalar) {
      ScalarBits s = scalarBits(a);
      out.scalars.back() = s.bits;
      out.scalarBytes.back() = s.bytes;
      continue;
    }
    auto bytes = materialize(d, i);
    if (!bytes.ok()) return bytes.status();
    out.buffers.back() = std::move(*bytes);
  }
  return out;
}

absl::Status interpretLaunch(ir::Module &m, ir::Operation *kernel, const LaunchDescription &d, LaunchArguments &a,
                             const InterpreterOptions &o, ir::DiagnosticEngine &diag) {
  if (auto s = checkGrid(d.grid, "interpreter", 0); !s.ok()) return s;
  std::vector<InterpreterBuffer> memory;
  std::vector<InterpreterArg> given;
  for (unsigned i = 0; i < d.args.size(); ++i) {
    if (d.args[i].isScalar) {
      given.push_back({-1, a.scalars[i]});
      continue;
    }
    given.push_back({int(memory.size()), uint64_t(d.args[i].offsetBytes())});
    memory.push_back({d.args[i].name, a.buffers[i].data(), a.buffers[i].size()});
    if (auto &descriptor = d.args[i].descriptor) {
      given.back().shape = descriptor->shape;
      given.back().strides = descriptor->strides;
      given.back().nanPadding = descriptor->nanPadding;
    }
  }
  auto sources = argumentSources(describeArguments(kernel), areDescriptors(d));
  if (!sources) return absl::InvalidArgumentError("the arguments are not the kernel's");
  std::vector<InterpreterArg> args;
  for (auto &s : *sources)
    args.push_back(s.part ? InterpreterArg{-1, d.args[s.given].descriptor->part(s.part)} : given[s.given]);
  return interpret(m, kernel, d.grid, memory, args, o, diag);
}

} // namespace tessera::runtime
