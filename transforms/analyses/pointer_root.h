// Where a pointer comes from: the function's argument, or the value, that identifies its memory.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Follows a pointer (or tensor of pointers) back to its origin, through address arithmetic, changes of shape and
/// layout, loop-carried values and captures of warp partitions. The origin is a block argument, or a value that another
/// operation made or loaded.
ir::Value pointerRoot(ir::Value);

/// The kernel argument that a pointer comes from, or null. Pointers from different arguments are taken to reach
/// different memory: by Triton's contract loads and stores through different arguments may be reordered. This does not
/// hold for called functions: a kernel may pass one pointer twice.
ir::Value memoryArgument(ir::Value);

/// Whether two pointers are taken to reach different memory.
bool reachDifferentMemory(ir::Value, ir::Value);

/// The accesses of a module to global memory. Threads do not synchronise between two of them: an operation may read
/// what another wrote only if each thread reads the elements that it wrote. A pass that moves a load or a store to
/// another layout, and thus to other threads, must query this first.
class GlobalAccesses {
public:
  explicit GlobalAccesses(ir::Module &);
  /// Whether any operation may write the memory that is read through the pointer.
  bool mayBeWritten(ir::Value pointer) const { return reaching(writes_, pointer); }
  /// Whether operations other than one store may read or write the memory that it writes through the pointer.
  bool isShared(ir::Value pointer) const { return reaching(reads_, pointer) || reaching(writes_, pointer) > 1; }

private:
  /// One for each access: the kernel's argument, which stays valid while passes rewrite addresses; null: any memory.
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
