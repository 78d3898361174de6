// From the arguments that a launch gives to those that a kernel's code takes (see kernel_arguments.h).
#include "runtime/kernel_arguments.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::runtime {

/// Arguments of the code that stand for one of the text, this one the first.
static size_t groupSize(const KernelMetadata::Arg &a) {
  if (a.descriptor.empty()) return 1;
  auto type = DescriptorType::parse(a.descriptor);
  return type ? 2 + 2 * type->blockShape.size() : 1; // base, shape, strides, padding
}

size_t argumentsInText(llvm::ArrayRef<KernelMetadata::Arg> args) {
  size_t n = 0;
  for (size_t at = 0; at < args.size(); at += groupSize(args[at])) ++n;
  return n;
}

std::optional<std::vector<ArgumentSource>> argumentSources(llvm::ArrayRef<KernelMetadata::Arg> args,
                                                           llvm::ArrayRef<bool> given) {
  std::vector<ArgumentSource> out;
  bool asInText = given.size() == argumentsInText(args);
  for (size_t i = 0; i < given.size(); ++i) {
    size_t at = out.size();
    if (at >= args.size()) return std::nullopt;
    out.push_back({i});
    if (!given[i] && !asInText) continue;
    for (size_t part = 1; part < groupSize(args[at]); ++part) out.push_back({i, part});
  }
  if (out.size() != args.size()) return std::nullopt;
  return out;
}

std::string contradiction(const GivenDescriptor &given, const KernelMetadata::Arg &takes, uint64_t bits) {
  llvm::StringRef name = takes.name;
  bool isNamedAfter = !given.name.empty() && name.consume_front(given.name);
  bool isShape = isNamedAfter && name.consume_front("_shape_");
  bool isStride = isNamedAfter && !isShape && name.consume_front("_stride_");
  const std::vector<int64_t> &sizes = isShape ? given.descriptor->shape : given.descriptor->strides;
  size_t dimension;
  unsigned width;
  bool isRepeated = (isShape || isStride) && !name.getAsInteger(10, dimension) && dimension < sizes.size() &&
                    llvm::StringRef(takes.type).consume_front("i") &&
                    !llvm::StringRef(takes.type).drop_front().getAsInteger(10, width) && width >= 1 && width <= 64;
  if (!isRepeated || llvm::SignExtend64(bits, width) == sizes[dimension]) return "";
  return llvm::formatv("is {0}, but {1} {2} of the descriptor '{3}' is {4}", llvm::SignExtend64(bits, width),
                       isShape ? "size" : "stride", dimension, given.name, sizes[dimension])
      .str();
}

} // namespace tessera::runtime
