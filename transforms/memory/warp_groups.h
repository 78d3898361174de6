// Warp groups of a block that run different code (ttg.warp_specialize), and their registers.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include <string>

namespace tessera::transforms {

constexpr int64_t kWarpGroup = 4;        // warps that reallocate registers and run wgmma together
constexpr int64_t kFewestRegisters = 24; // least of a thread that setmaxnreg accepts (PTX ISA, "setmaxnreg")
constexpr int64_t kRegisterStep = 8;     // setmaxnreg accepts multiples of it

/// Named barriers of the block and of the kernel's own warps. Those of partitions follow, then those of the own warps'
/// groups.
constexpr int64_t kReservedBarriers = 2;

/// Registers that each thread has in a block of so many warps, before any warp group changes its number.
int64_t registersAtStart(const ir::TargetInfo &, int64_t warps);

/// What each thread of a kernel's `own` warps has, of `each` times `total` warps, beside others that take `taken` for
/// their warps together. 0: the others take too many.
int64_t registersOfOwnWarps(int64_t each, const ir::TargetInfo &, int64_t own, int64_t total, int64_t taken);

/// The same beside one warp group that only issues copies, in a kernel of that module (its ttg.maxnreg bounds what the
/// block has).
int64_t registersBesideProducer(const ir::TargetInfo &, ir::Operation *module);

// ---- a producer: a warp that only issues copies, beside the kernel's own ----

constexpr int64_t kRegistersOfProducer = kFewestRegisters;
constexpr int64_t kBytesOfProducer = 1024; // of shared memory, more than mbarriers and captured scalars take

/// Whether the target can have one.
bool mayHaveProducers(const ir::TargetInfo &);
/// Whether a block of so many own warps has room for one, and they are whole warp groups.
bool hasRoomForProducer(const ir::TargetInfo &, int64_t own);
/// Whether the loop says that it wants none (`tessera.warp_specialize = false`).
bool forbidsProducer(ir::Operation *loop);
/// Why a loop is not the only place of a kernel at which warps part; empty if it is.
std::string whyWarpsCannotPart(ir::Operation *loop);
/// Whether the value is an argument of its function: a descriptor whose tensor map the launcher made. (The fence that
/// acquires a map that a kernel made is for the threads that execute it.)
bool isArgumentOfFunction(ir::Value);

} // namespace tessera::transforms
