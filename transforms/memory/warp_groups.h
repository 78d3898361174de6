// Warp groups of a block that run different code (ttg.warp_specialize), and their registers.
#pragma once
#include "ir/target.h"

namespace tessera::transforms {

constexpr int64_t kWarpGroup = 4;        // warps that reallocate registers and run wgmma together
constexpr int64_t kFewestRegisters = 24; // least of a thread that setmaxnreg accepts (PTX ISA, "setmaxnreg")
constexpr int64_t kRegisterStep = 8;     // setmaxnreg accepts multiples of it

/// Registers that each thread has in a block of so many warps, before any warp group changes its number.
int64_t registersAtStart(const ir::TargetInfo &, int64_t warps);

/// What each thread of a kernel's `own` warps has, of `each` times `total` warps, beside others that take `taken` for
/// their warps together. 0: the others take too many.
int64_t registersOfOwnWarps(int64_t each, const ir::TargetInfo &, int64_t own, int64_t total, int64_t taken);

/// The same beside one warp group that only issues copies.
int64_t registersBesideProducer(const ir::TargetInfo &, int64_t own);

} // namespace tessera::transforms
