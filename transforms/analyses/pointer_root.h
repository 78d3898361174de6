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

} // namespace tessera::transforms
