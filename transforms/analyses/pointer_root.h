// Where a pointer comes from: the argument of the function, or the value, that its memory is told by.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Follows address arithmetic, changes of shape and layout, and what loops carry back to where the pointer (or tensor of
/// pointers) came from: a block argument, or what another operation made or loaded.
ir::Value pointerRoot(ir::Value);

/// Whether two pointers are taken to reach different memory: they come from different arguments of the function. That is
/// Triton's contract with its users, who see a kernel's loads and stores through different arguments in any order.
bool reachDifferentMemory(ir::Value, ir::Value);

} // namespace tessera::transforms
