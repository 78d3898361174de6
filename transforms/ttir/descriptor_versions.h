// Two versions of a kernel whose arguments are tensor descriptors that become pointers.
//
// What a tensor map would do for any descriptor takes masks here: rows whose size is no multiple of a vector need one
// for every element, padding is a value that is known at the launch, and offsets take 64 bits. Few launches need that.
// A kernel therefore tests for it once, and has its body twice:
//
//   %fast = fast %x, %y : i1
//   scf.if %fast {
//     %fx = fast %x                  rows of whole vectors, padding with zero, offsets of 31 bits
//     %fy = fast %y
//     … body with %fx, %fy
//   } else {
//     … body with %x, %y
//   }
//
// Both `fast` are casts that triton-rewrite-tensor-descriptor-to-pointer rewrites: it knows the descriptors' parts.
// Loops of the other version are not pipelined, unless TMA serves all of their accesses: its code is small, and rarely
// used.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// On the casts, builtin.unrealized_conversion_cast.
inline constexpr const char *kFastDescriptorAttr = "tessera.fast_descriptor";

/// Makes the versions. False: the kernel has no descriptor argument whose accesses may become vectors, or other control
/// flow than structured one.
bool makeDescriptorVersions(ir::tt::FuncOp kernel);

} // namespace tessera::transforms
