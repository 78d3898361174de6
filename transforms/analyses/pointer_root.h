// Where a pointer comes from: the argument of the function, or the value, that its memory is told by.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Follows address arithmetic, changes of shape and layout, what loops carry and partitions of warps capture back to
/// where the pointer (or tensor of pointers) came from: a block argument, or what another operation made or loaded.
ir::Value pointerRoot(ir::Value);

/// The argument of a kernel that a pointer comes from, or nothing. Two that come from different ones are taken to
/// reach different memory: that is Triton's contract with its users, who see a kernel's loads and stores through
/// different arguments in any order. It says nothing of functions that are called: a kernel may well pass one pointer
/// twice.
ir::Value memoryArgument(ir::Value);

/// Whether two pointers are taken to reach different memory.
bool reachDifferentMemory(ir::Value, ir::Value);

/// The accesses of a module to global memory. Threads do not wait for each other between two of them: what one tensor
/// operation wrote another may read only if each thread does so for the same elements. A pass that gives a load or a
/// store other threads than its own layout asks here first.
class GlobalAccesses {
public:
  explicit GlobalAccesses(ir::Module &);
  /// Whether anything may write what is read through the pointer.
  bool mayBeWritten(ir::Value pointer) const { return reaching(writes_, pointer); }
  /// Whether anything but one store may read or write what that one writes through the pointer.
  bool isShared(ir::Value pointer) const { return reaching(reads_, pointer) || reaching(writes_, pointer) > 1; }

private:
  /// By access: a kernel's argument, which stays while passes make addresses anew; a null one for any memory.
  using Arguments = llvm::SmallVector<ir::Value, 8>;
  static size_t reaching(const Arguments &, ir::Value pointer);
  Arguments reads_, writes_;
};

/// Whether the caller promises that this argument of a function points at less than 2 GiB, none of which lies before it
/// (`tt.pointer_range = 32`, which Triton's launcher states on AMD of tensors of that size).
bool hasSmallRange(ir::Value argument);

/// The scalar pointer to a small buffer (the argument, or a cast of it) where this is that pointer plus one offset of
/// 32 bits: accesses then lie at the offset, in elements and modulo 2^32, wherever there is an access at all.
ir::Value smallBuffer(ir::Value pointer);

} // namespace tessera::transforms
