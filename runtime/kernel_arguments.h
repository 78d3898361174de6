// From the arguments that a launch gives to those that a kernel's code takes: a tensor descriptor is one argument of
// the text, and where the code takes its parts, several of the code (launch/descriptor.h).
#pragma once
#include "runtime/compiler/metadata.h"
#include "runtime/launch/descriptor.h"
#include <optional>
#include <string>

namespace tessera::runtime {

/// What an argument of the code is: a given argument (of a descriptor its base, or all of it as a tensor map), or a
/// part of a given descriptor that follows its base.
struct ArgumentSource {
  size_t given;
  size_t part = 0; // HostDescriptor::part
};

/// The sources of a kernel's arguments, in their order. `given`: for each given argument whether it is a descriptor.
/// Where the code takes a descriptor's parts, they may also be given one by one, unless as many arguments are given as
/// the text takes. Nothing: the numbers of arguments do not fit.
std::optional<std::vector<ArgumentSource>> argumentSources(llvm::ArrayRef<KernelMetadata::Arg>,
                                                           llvm::ArrayRef<bool> given);

/// As many as the kernel's text takes: descriptors count once.
size_t argumentsInText(llvm::ArrayRef<KernelMetadata::Arg>);

/// A descriptor that a launch gives, and the name of the kernel's argument.
struct GivenDescriptor {
  llvm::StringRef name;
  const HostDescriptor *descriptor;
};

/// Triton's kernels take shape and strides of a descriptor `x` once more behind it, as integers `x_shape_0`, …,
/// `x_stride_0`, …, and compute with them what is masked and where. Why `bits` cannot be the value of the argument
/// `takes`, as a clause, if it is such an integer of the descriptor; empty: it can, or is none.
std::string contradiction(const GivenDescriptor &, const KernelMetadata::Arg &takes, uint64_t bits);

} // namespace tessera::runtime
