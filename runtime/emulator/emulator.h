// The emulator: executes an LLVM module, exactly as it would go to instruction selection for a GPU, on the CPU. It
// needs no GPU, no driver and no assembler, and watches what hardware does not.
//
// A warp is executed as hardware does it: all its lanes at once, one LLVM instruction after the other, lanes that
// took another branch switched off until control flow joins again (execute.cpp). Vendor intrinsics and the inline PTX
// that the lowering emits are executed from tables that name the manual's section (nvidia.cpp, inline_ptx.cpp,
// amd.cpp; README.md lists them all); one that is not there is an error that names it. Warps of a block run round-robin
// between barriers, blocks run as if one after the other, so every run gives the same bits.
//
// What it checks, unless disabled:
//   bounds      accesses to global buffers and shared memory out of their bounds, writes to constants
//   alignment   accesses less aligned than the instruction promises
//   undefined   reads of shared memory that the block never wrote, and of buffers where nobody wrote, as far as that
//               is known (Buffer::undefined), and if the launch depends on what it reads there (unwritten_trials.h)
//   races       accesses of two threads to one byte, at least one of them a write that changes it, that no barrier,
//               warp barrier or pair of release and acquire orders: in shared memory, and in global memory also
//               across blocks (block_order.h). Not where a read of the block has no effect (unused_reads.h)
//   wraps       32-bit index arithmetic that overflowed on its way to an address (not where arithmetic modulo 2^32 is
//               meant: in kernels with buffers of less than 2 GiB, codegen/lowering/access_plan.cpp)
//   wgmma       operands that ordinary stores wrote without fence.proxy.async, or that are overwritten before the wait;
//               accumulators read before the wait; warps of a warpgroup that do not issue the same
//   mbarrier    used before it is initialised, by too many, overwritten while it lives
//   always      threads of a block at different barriers, warp-wide operations without all their lanes, deadlock
//
// What it does not model: time, caches, the memory system's reordering, and the last bits of approximate functions
// (they are computed in double and rounded, which is within the manuals' bounds). fmul and fadd that the instruction
// selector may contract are not contracted.
#pragma once
#include "absl/status/statusor.h"
#include "ir/target.h"
#include "runtime/interrupt.h"
#include "runtime/launch/descriptor.h"
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
}
namespace tessera::emulator {

struct Checks {
  bool bounds = true, alignment = true, undefined = true, races = true, wraps = true;
  static Checks none() { return {false, false, false, false, false}; }
};

/// A buffer that the kernel may touch.
struct Buffer {
  std::string name;
  uint8_t *data = nullptr;
  size_t bytes = 0;
  uint8_t *undefined = nullptr; // by byte: 1 if it was never written, which a write changes to 0; null: all were
};

/// One kernel argument: an address in a buffer (its index, and in `bits` the bytes from its start), a scalar's bits, or
/// a tensor map of memory at that address.
struct Argument {
  int buffer = -1;
  uint64_t bits = 0;
  std::optional<runtime::TensorMap> tensorMap = std::nullopt;
};

/// What accesses and warp-wide operations of one place in the program did, over the whole grid.
struct SiteCounters {
  std::string operation; // "load shared 16 bytes", "barrier", "shuffle", …
  std::string where;     // "kernel.py:12:3 (tt.load)" or empty
  enum class Kind : uint8_t { Global, Shared, Atomic, Barrier, Shuffle, Matrix } kind = Kind::Global;
  unsigned bytesPerLane = 0;
  uint64_t executed = 0;      // by warps
  uint64_t lanes = 0;         // active lanes in all
  uint64_t transactions = 0;  // global: sectors of 32 bytes; shared: passes over the banks
  uint64_t leastPossible = 0; // of these, for as many bytes in one piece
};

/// The most of one kind that is live at one point of the executed code, and what stands before the point.
struct LivePeak {
  unsigned count = 0;
  std::string operation, where; // "fadd"; "tt.dot at kernel.py:12:3" or empty
  unsigned allocated = 0;       // by the vendor's allocator, for the whole kernel; 0: not known
};

/// What a thread holds live, in registers of 32 bits (registers_live.h): an estimate from the code before instruction
/// selection, not what an allocator takes.
struct RegistersLive {
  LivePeak vector;     // of a thread
  LivePeak scalar;     // of a warp: uniform values on AMD
  LivePeak predicates; // i1
  bool scalarsApart = false;
};

struct Options {
  int numWarps = 4;
  int64_t dynamicSharedBytes = 0;
  int64_t globalScratchBytes = 0, globalScratchAlign = 1; // per block
  Checks checks;
  bool counters = false;
  /// Host threads that blocks run on, where no order between them can matter: results, reports and counters are the
  /// same whatever their number. Blocks that interact by atomics or flags run one after the other.
  int threads = 1;
  /// Instructions that one block's warps may execute in all before the run is given up.
  uint64_t maxInstructions = uint64_t(1) << 32;
  runtime::Interrupts::Watch watch;               // an interrupt gives Cancelled
  std::function<void(const std::string &)> print; // what device-side printf says; default: standard output
};

struct Report {
  uint64_t instructions = 0;       // executed by warps
  unsigned threads = 1;            // that the blocks ran on
  std::vector<SiteCounters> sites; // with Options::counters
  RegistersLive live;              // with Options::counters
};

/// Runs `kernel` of the module on the grid. The module is changed. What a check finds, and what the kernel does wrong,
/// gives Aborted with a text that says kernel, block, thread, operation and source location; what the emulator does not
/// know gives Unimplemented.
absl::StatusOr<Report> emulate(llvm::Module &module, const std::string &kernel, const ir::TargetInfo &target,
                               std::array<int64_t, 3> grid, std::vector<Buffer> &buffers,
                               const std::vector<Argument> &arguments, const Options &options);

/// The counters as a table for people.
std::string counterTable(const Report &);

/// The intrinsics and forms of inline assembly that the emulator knows, with the section of the manual each was written
/// from: a Markdown table per vendor (README.md has them; a test compares).
std::string knownForms();

} // namespace tessera::emulator
