// Where a pointer comes from: the argument of the function, or the value, that its memory is told by.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Follows address arithmetic, changes of shape and layout, and what loops carry back to where the pointer (or tensor of
/// pointers) came from: a block argument, or what another operation made or loaded.
ir::Value pointerRoot(ir::Value);

/// The argument of a kernel that a pointer comes from, or nothing. Two that come from different ones are taken to reach
/// different memory: that is Triton's contract with its users, who see a kernel's loads and stores through different arguments
/// in any order. It says nothing of functions that are called: a kernel may well pass one pointer twice.
ir::Value memoryArgument(ir::Value);

/// Whether two pointers are taken to reach different memory.
bool reachDifferentMemory(ir::Value, ir::Value);

/// Whether the caller promises that this argument of a function points at less than 2 GiB, none of which lies before it
/// (`tt.pointer_range = 32`, which Triton's launcher states on AMD of tensors of that size).
bool hasSmallRange(ir::Value argument);

/// The scalar pointer to a small buffer (the argument, or a cast of it) where this is that pointer plus one offset of 32 bits:
/// accesses then lie at the offset, in elements and modulo 2^32, wherever there is an access at all.
ir::Value smallBuffer(ir::Value pointer);

} // namespace tessera::transforms
