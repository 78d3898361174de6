// Further compilations of a kernel's PTX, where ptxas made poor use of the registers: without a request for blocks, or
// with another one, or with a limit of registers. Spills and occupancy are known after ptxas has run, so each attempt
// compiles, and its object replaces the best one if it is better. object.cpp runs them.
#pragma once
#include "codegen/object/backend.h"
#include "codegen_nvidia/occupancy.h"

namespace tessera::nvidia {

/// A further compilation of the same kernel's PTX.
enum class Attempt : uint8_t {
  WithoutRequest, // without `.minnctapersm`
  BlocksThatFit,  // for as many blocks as the best compilation allows
  OneBlock,       // for one block on a multiprocessor
  OneMoreBlock,   // for one block more than the first compilation allowed
  FewerRegisters, // for that block, with one unit of registers less than it leaves a thread
  LowerLevel,     // at optimisation level 1
};

/// The attempts in order.
inline constexpr Attempt kAttempts[] = {Attempt::WithoutRequest, Attempt::BlocksThatFit,  Attempt::OneBlock,
                                        Attempt::OneMoreBlock,   Attempt::FewerRegisters, Attempt::LowerLevel};

/// What is known of a kernel between attempts. It refers to all of it.
struct Compilations {
  const OccupancyPlan &plan;
  const codegen::ObjectInfo &first; // of the PTX as it is
  const codegen::ObjectInfo &best;  // of all that were made
  const ir::TargetInfo &target;
  const codegen::BackendOptions &options;
};

/// Whether an attempt is worth a compilation.
bool isWorthTrying(Attempt, const Compilations &);
/// Whether the object of an attempt replaces the best one.
bool isBetter(Attempt, const codegen::ObjectInfo &made, const Compilations &);

/// The registers that Attempt::FewerRegisters leaves a thread.
int fewerRegisters(const Compilations &);
/// The same PTX without requests for blocks.
std::string withoutRequests(llvm::StringRef ptx);
/// The same PTX with a limit of registers of a thread instead of requests for blocks.
std::string withRegisterLimit(llvm::StringRef ptx, int registers);

} // namespace tessera::nvidia
