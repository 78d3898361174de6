// A replay as one HTML page: waves as rows, units by colour, what each instruction waited for.
#pragma once
#include "runtime/code_object/instruction.h"
#include "runtime/timing/kernel_time.h"
#include <optional>
#include <string>

namespace tessera::timing {

/// A range of instructions that a backward branch repeats.
struct Loop {
  uint32_t first = 0, last = 0; // instructions, both in it
  uint64_t executions = 0;      // of its last instruction, by all waves
};
/// The innermost loop in which the replayed waves spent most; none if the code has no loop that was repeated.
std::optional<Loop> hottestLoop(llvm::ArrayRef<code_object::Instruction>, const CuReplay &);

/// The page; it needs no network. @pre the replay has records.
std::string timelinePage(const KernelTime &, const code_object::Program &);

} // namespace tessera::timing
