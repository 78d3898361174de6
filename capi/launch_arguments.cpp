// What a launch gives, compared with what a kernel takes (see tessera.h). Two readers:
//
//   readPlain        pointers and scalars that fit, which is nearly every launch: a comparison with what was read from
//                    the metadata when the kernel was loaded. It makes no texts and allocates nothing.
//   ArgumentReader   the rest: descriptors, their parts one by one, and everything that is wrong, with its errors.
#include "capi/handles.h"
#include "runtime/kernel_arguments.h"
#include "runtime/launch/descriptor.h"
#include "runtime/launch/dtype.h"
#include "runtime/launch_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace tessera;
using namespace tessera::capi;

namespace {

/// Whether the device's memory is the host's: only addresses in buffers are known.
bool computesOnHost(const DeviceState &d) { return !d.device || d.device->takesBitcode(); }

/// Whether the argument describes a tensor: its value is as large as the first version of that structure.
bool isDescriptor(const tessera_argument &a) { return a.value && a.bytes >= sizeof(tessera_tensor_descriptor); }

/// Reads arguments of which each is a buffer or a value as the kernel takes it. False: it is left to ArgumentReader.
bool readPlain(const tessera_kernel &k, const tessera_argument *given, size_t count, LaunchInput &out) {
  if (!k.arguments || k.arguments->size() != count || (!given && count)) return false;
  const bool onHost = computesOnHost(*k.device);
  for (size_t i = 0; i < count; ++i) {
    const tessera_argument &a = given[i];
    const ArgumentForm &takes = (*k.arguments)[i];
    uint64_t bits = 0;
    if (a.buffer) {
      bool fits = takes.isPointer && !isDescriptor(a) && isSameDevice(*a.buffer->device, *k.device);
      if (!fits || a.offset > a.buffer->memory->bytes()) return false;
      bits = a.offset;
    } else {
      if (!a.value || a.bytes != takes.bytes) return false;
      std::memcpy(&bits, a.value, takes.bytes);
      if (bits > takes.most || (takes.isPointer && bits && onHost)) return false;
    }
    out.arguments.push_back({a.buffer ? a.buffer->memory.get() : nullptr, bits});
  }
  return true;
}

/// The arguments of a launch, compared with what the kernel takes.
class ArgumentReader {
public:
  ArgumentReader(Call &call, const tessera_kernel &k, const tessera_argument *given, size_t count, LaunchInput &out)
      : call_(call), kernel_(k), given_(given), count_(count), out_(out) {}

  tessera_status read() {
    auto &md = kernel_.metadata;
    bool areTooMany = count_ > md.args.size(); // none of them is read: there may be fewer than the caller says
    llvm::SmallVector<bool> descriptors(areTooMany ? 0 : count_, false);
    for (size_t i = 0; given_ && i < descriptors.size(); ++i) descriptors[i] = isDescriptor(given_[i]);
    std::optional<std::vector<runtime::ArgumentSource>> sources;
    if (!areTooMany) sources = runtime::argumentSources(md.args, descriptors);
    if (sources && !given_ && count_) return call_.fail(TESSERA_USAGE, "the arguments are null");
    if (!sources)
      return call_.fail(TESSERA_USAGE, runtime::wrongArgumentCount(
                                           md.kernel, runtime::argumentsInText(md.args),
                                           count_ == 1 ? "1 is given" : std::to_string(count_) + " are given"));
    for (auto [k, source] : llvm::enumerate(*sources)) {
      if (source.part) { // its base was read before it
        out_.arguments.push_back({nullptr, out_.descriptors.back().part(source.part)});
        continue;
      }
      auto &a = given_[source.given];
      auto &takes = md.args[k];
      index_ = source.given;
      takes_ = &takes;
      bool isExpanded = k + 1 < sources->size() && (*sources)[k + 1].part;
      llvm::StringRef type = isExpanded ? takes.descriptor : takes.type;
      auto s = descriptors[source.given] ? readDescriptor(a, takes, type)
               : a.buffer                ? readBuffer(a, type)
                                         : readValue(a, type);
      if (s) return s;
    }
    return TESSERA_OK;
  }

private:
  bool computesOnHost() const { return ::computesOnHost(*kernel_.device); }
  /// The argument that is being read, for errors.
  std::string what() const {
    return llvm::formatv("argument {0} ('{1}') of kernel '{2}'", index_, takes_->name, kernel_.metadata.kernel).str();
  }
  template <class Text> tessera_status refuse(Text &&text) { return call_.fail(TESSERA_USAGE, text.str()); }

  tessera_status readBuffer(const tessera_argument &a, llvm::StringRef type) {
    if (!type.starts_with("*")) return refuse(llvm::formatv("{0} is of type {1}, and a buffer is given", what(), type));
    if (auto s = checkBuffer(a)) return s;
    out_.arguments.push_back({a.buffer->memory.get(), a.offset});
    return TESSERA_OK;
  }
  tessera_status checkBuffer(const tessera_argument &a) {
    if (!isSameDevice(*a.buffer->device, *kernel_.device))
      return refuse(llvm::formatv("{0} is a buffer of {1}, but the kernel is on {2}", what(), a.buffer->device->spec,
                                  kernel_.device->spec));
    if (a.offset > a.buffer->memory->bytes())
      return refuse(
          llvm::formatv("{0} is {1} bytes into a buffer of {2}", what(), a.offset, a.buffer->memory->bytes()));
    return TESSERA_OK;
  }

  tessera_status readValue(const tessera_argument &a, llvm::StringRef type) {
    bool pointer = type.starts_with("*");
    unsigned bytes = pointer ? 8 : scalarBytes(type);
    if (type.starts_with("tensordesc<"))
      return refuse(llvm::formatv("{0} is of type {1}, and a value is given", what(), type));
    if (!bytes) return refuse(llvm::formatv("{0} is of type {1}, which cannot be passed", what(), type));
    if (a.bytes != bytes)
      return refuse(
          llvm::formatv("{0} is of type {1}, of {2} bytes, and a value of {3} is given", what(), type, bytes, a.bytes));
    if (!a.value) return refuse(llvm::formatv("the value of {0} is null", what()));
    uint64_t bits = 0;
    std::memcpy(&bits, a.value, bytes);
    if (type == "i1" && bits > 1) return refuse(llvm::formatv("{0} is of type i1, and {1} is given", what(), bits));
    if (pointer && bits && computesOnHost()) return refuseAddress();
    if (last_.descriptor)
      if (std::string why = runtime::contradiction(last_, *takes_, bits); !why.empty())
        return refuse(llvm::formatv("{0} {1}", what(), why));
    out_.arguments.push_back({nullptr, bits});
    return TESSERA_OK;
  }
  tessera_status refuseAddress() {
    return refuse(llvm::formatv("{0} is an address, of which {1} knows nothing: a buffer is needed", what(),
                                kernel_.device->spec));
  }

  tessera_status readDescriptor(const tessera_argument &a, const runtime::KernelMetadata::Arg &takes,
                                llvm::StringRef type) {
    tessera_tensor_descriptor given;
    std::memcpy(&given, a.value, sizeof given);
    runtime::HostDescriptor &d = out_.descriptors.emplace_back();
    auto kernelType = runtime::DescriptorType::parse(type);
    if (!kernelType) return refuse(llvm::formatv("{0} is of type {1}, and a tensor descriptor is given", what(), type));
    if (auto s = copyDescriptor(given, d)) return s;
    runtime::DescriptorPart part;
    if (std::string why = kernelType->mismatch(d, part); !why.empty())
      return refuse(llvm::formatv("the {0} of {1} {2}", partName(part), what(), why));
    if (takes.tensorMap)
      if (auto map = runtime::tensorMapOf(d, *takes.tensorMap); !map.ok())
        return refuse(llvm::formatv("{0}: {1}", what(), std::string(map.status().message())));
    uint64_t base = a.buffer ? a.offset : given.address;
    if (base % runtime::kDescriptorAlignment)
      return refuse(llvm::formatv("the base of {0} must be a multiple of {1} bytes, not {2}", what(),
                                  runtime::kDescriptorAlignment, base));
    // The tensor may be larger than the buffer: kernels with ragged batches describe 2^30 rows, and select a part by
    // where a block begins. Interpreter and emulators check the elements that are accessed.
    if (a.buffer) {
      if (auto s = checkBuffer(a)) return s;
    } else if (computesOnHost()) {
      return refuseAddress();
    }
    out_.arguments.push_back({a.buffer ? a.buffer->memory.get() : nullptr, base, &d});
    last_ = {takes.name, &d};
    return TESSERA_OK;
  }

  tessera_status copyDescriptor(const tessera_tensor_descriptor &given, runtime::HostDescriptor &d) {
    auto dtype = runtime::parseDType(orEmpty(given.element_type));
    if (!dtype)
      return refuse(llvm::formatv("the element type of {0}, '{1}', is unknown; there are {2}", what(),
                                  orEmpty(given.element_type), runtime::dtypeNames()));
    if (given.rank < 1 || given.rank > runtime::kMaxDescriptorRank)
      return refuse(
          llvm::formatv("the rank of {0} must be 1 to {1}, not {2}", what(), runtime::kMaxDescriptorRank, given.rank));
    d.dtype = *dtype;
    d.shape.assign(given.shape, given.shape + given.rank);
    d.strides.assign(given.strides, given.strides + given.rank);
    d.blockShape.assign(given.block_shape, given.block_shape + given.rank);
    d.nanPadding = given.nan_padding;
    std::string first;
    runtime::checkDescriptor(d, [&](runtime::DescriptorPart part, const std::string &why) {
      if (first.empty()) first = llvm::formatv("the {0} of {1} {2}", partName(part), what(), why);
    });
    return first.empty() ? TESSERA_OK : call_.fail(TESSERA_USAGE, first);
  }

  Call &call_;
  const tessera_kernel &kernel_;
  const tessera_argument *given_;
  size_t count_;
  LaunchInput &out_;
  size_t index_ = 0; // of the argument that is being read
  const runtime::KernelMetadata::Arg *takes_ = nullptr;
  runtime::GivenDescriptor last_{}; // before it
};

tessera_status readGrid(Call &call, const tessera_kernel &k, const uint32_t *given, std::array<int64_t, 3> &grid) {
  if (!given) return call.fail(TESSERA_USAGE, "the grid is null");
  grid = {given[0], given[1], given[2]};
  auto checked = runtime::checkGrid(grid, k.device->spec, k.metadata.globalScratchBytes);
  if (!checked.ok()) return call.fail(checked, TESSERA_USAGE);
  return TESSERA_OK;
}

} // namespace

namespace tessera::capi {

ArgumentForm argumentForm(const runtime::KernelMetadata::Arg &a) {
  llvm::StringRef type = a.type;
  ArgumentForm f;
  if (!a.descriptor.empty() || a.tensorMap) return f;
  f.isPointer = type.starts_with("*");
  f.bytes = f.isPointer ? sizeof(uint64_t) : scalarBytes(type);
  f.isInteger = f.bytes && type.starts_with("i") && type != "i1";
  if (type == "i1") f.most = 1;
  return f;
}

std::optional<std::vector<ArgumentForm>> argumentForms(const runtime::KernelMetadata &md) {
  std::vector<ArgumentForm> forms;
  for (auto &a : md.args) {
    forms.push_back(argumentForm(a));
    if (!forms.back().bytes) return std::nullopt;
  }
  return forms;
}

unsigned scalarBytes(llvm::StringRef type) {
  auto t = runtime::parseDType(type);
  return t ? runtime::dtypeBytes(*t) : 0;
}

tessera_status readLaunch(Call &call, const tessera_kernel &k, const uint32_t *grid, const tessera_argument *arguments,
                          size_t count, LaunchInput &out) {
  if (auto s = readGrid(call, k, grid, out.grid)) return s;
  if (readPlain(k, arguments, count, out)) return TESSERA_OK;
  out.arguments.clear();
  return ArgumentReader(call, k, arguments, count, out).read();
}

} // namespace tessera::capi
