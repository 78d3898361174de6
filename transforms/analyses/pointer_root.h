// Where a pointer comes from: the function's argument, or the value, that identifies its memory.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Follows a pointer (or tensor of pointers, or descriptor) back to its origin, through address arithmetic, changes of
/// shape and layout, descriptors that are made of it, loop-carried values and captures of warp partitions. The origin
/// is a block argument, or a value that another operation made or loaded.
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
  bool mayBeWritten(ir::Value pointer) const { return reaching(writes_, pointer, Match::Memory); }
  /// Whether operations other than one store may read or write the memory that it writes through the pointer.
  bool isShared(ir::Value pointer) const { return isShared(pointer, Match::Memory); }
  /// The same, where what matters is not the memory but that threads read what they wrote. They do not rely on that
  /// between tensors of two shapes, as which elements a thread has in the two is not related, nor between a pointer
  /// that the kernel loads from one argument's memory and one that it loads from another's, or an argument itself.
  bool mayBeWrittenByItsThreads(ir::Value pointer) const { return reaching(writes_, pointer, Match::Threads); }
  bool isSharedByItsThreads(ir::Value pointer) const { return isShared(pointer, Match::Threads); }

private:
  /// One for each access. Arguments stay valid while passes rewrite addresses.
  struct Access {
    ir::Value argument;   // the kernel's; null: any memory
    ir::Value table;      // the argument from whose memory the pointer is loaded; null: it is not, or not known
    bool anyShape = true; // not known
    llvm::SmallVector<int64_t, 4> shape; // of the tensor of pointers; empty: one pointer
  };
  using Accesses = llvm::SmallVector<Access, 8>;
  enum class Match { Memory, Threads };
  static Access accessThrough(ir::Value pointer);
  static size_t reaching(const Accesses &, ir::Value pointer, Match);
  bool isShared(ir::Value pointer, Match match) const {
    return reaching(reads_, pointer, match) || reaching(writes_, pointer, match) > 1;
  }
  Accesses reads_, writes_;
};

/// Whether the caller promises that this argument of a function points into a buffer of less than 2 GiB
/// (`tt.pointer_range = 32`). Triton's launcher states that on AMD of tensors whose storage is so small; a tensor may
/// be a view that begins anywhere in it, so what is accessed may lie before the pointer.
bool hasSmallRange(ir::Value argument);

/// The scalar pointer to a small buffer (the argument, or a cast of it) where this is that pointer plus one offset of
/// 32 bits: accesses then lie at the offset, in elements and modulo 2^32, wherever there is an access at all. Read as
/// signed, its bytes modulo 2^32 are how far the access is from the pointer.
ir::Value smallBuffer(ir::Value pointer);

/// On the tt.addptr of such a pointer: its offset was proved to be not negative, wherever there is an access.
inline constexpr llvm::StringLiteral kNonNegativeOffsetAttr = "tessera.non_negative";
/// @pre smallBuffer(pointer)
bool hasNonNegativeOffset(ir::Value pointer);

} // namespace tessera::transforms
