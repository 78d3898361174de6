// The interpreter: evaluates TTIR and TTGIR tensor by tensor, simply and obviously. It is the oracle that everything
// else is compared with, so it checks what hardware does not: every access to memory must lie in a buffer and be
// aligned to its element, nothing may depend on memory that nothing wrote (as far as that is known, see
// InterpreterBuffer and runtime/unwritten_values.h), a loop that does not end is reported, and so are programs that
// wait for each other without an end.
//
// Programs of the grid run one after the other, x fastest, so that a run gives the same bits every time; a program that
// waits in a loop for another (a lock, a barrier across the grid) lets the next ones run. With `threads` several run at
// once, and atomics happen in any order, as on a device.
//
// What it knows nothing of: threads and warps inside a program. Shared and tensor memory hold logical tensors,
// layouts do not matter, asynchronous copies happen at once. Operations that mean something to a single thread only
// are errors; the list is whyNotInterpreted in program.h.
//
// Semantics where the text leaves room:
//   floats      f32 and f64 in their own precision; f16, bf16 and the 8-bit kinds are computed in f32 and rounded
//               once to nearest even; fma is rounded once in all; math functions are computed in f64 and rounded
//               once; the bits of NaNs are not specified
//   8-bit       conversions to them saturate, infinities too, as PTX's cvt.rn.satfinite
//   to integer  saturates and takes NaN to 0, as PTX's cvt.rzi; to 8 bits and fewer by way of 16. The IR leaves it open
//   integers    wrap; division by zero gives all ones and the remainder the dividend (NVIDIA's code: all ones);
//               shifts by the width or more give 0 (or the sign). The IR leaves all of these open; with findOpenValues
//               a launch whose outcome depends on them is a fault
//   undefined   elements that a masked load leaves open, poison, fresh shared memory: all bits set (NaN, -1)
//   reductions  combine neighbours pairwise, a tree in the order of the elements; scans go element by element
//   dots        each a * b is exact; summed in f64 (f32 operands rounded to tf32 first if requested), rounded once;
//               integers wrap at the accumulator's width; the x3 and x6 precisions compute as ieee
//   cat         the first operand's elements, then the second's; map_elementwise packs neighbours in row-major order
#pragma once
#include "absl/status/status.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "runtime/interrupt.h"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace tessera::runtime {

/// Programs of a grid, at most.
inline constexpr int64_t kMaxInterpreterPrograms = int64_t(1) << 40;

/// Memory that kernels may touch. `data` is aligned to 8 bytes and outlives the run.
struct InterpreterBuffer {
  std::string name;
  uint8_t *data = nullptr;
  size_t bytes = 0;
  uint8_t *undefined = nullptr; // by byte: 1 if it was never written, which a write changes to 0; null: all were
};

/// One kernel argument: an address inside a registered buffer (its index and byte offset) or a scalar's bits. For a
/// tensor descriptor it is the base; shape and strides, in elements, follow.
struct InterpreterArg {
  int buffer = -1;
  uint64_t bits = 0;
  std::vector<int64_t> shape = {}, strides = {};
  bool nanPadding = false;
};

/// How f32 operands of dots with inputPrecision = tf32 are rounded: to nearest (PTX cvt.rna.tf32), by dropping bits
/// (what matrix units do with plain f32 registers), or not at all.
enum class Tf32 : uint8_t { Nearest, Truncate, Exact };

struct InterpreterOptions {
  int64_t maxSteps = int64_t(1) << 40;      // operations of one program
  int64_t maxIterations = int64_t(1) << 26; // of one loop
  int64_t maxIdle = int64_t(1) << 22;       // of loops without a count, while nothing in global memory changes
  int threads = 1;                          // programs that run at once
  bool undefinedIsZero = false;             // instead of all bits set
  bool findOpenValues = false;              // report what depends on values that the IR leaves open (open_values.h)
  Tf32 tf32 = Tf32::Nearest;
  Interrupts::Watch watch;                                 // an interrupt is a fault of the program that runs
  std::function<void(int64_t done, int64_t all)> progress; // after each program, by one thread at a time
  std::function<void(llvm::StringRef)> print;              // a line of tt.print; null: dropped
};

/// Runs the kernel (a tt.func of the module) over the grid. A fault of the kernel is reported to the engine with the
/// operation, its location and the program it happened in, and gives Aborted; arguments that do not fit give
/// InvalidArgument. The buffers hold what was written until then.
/// @pre the module verifies
absl::Status interpret(ir::Module &, ir::Operation *kernel, std::array<int64_t, 3> grid,
                       llvm::ArrayRef<InterpreterBuffer>, llvm::ArrayRef<InterpreterArg>, const InterpreterOptions &,
                       ir::DiagnosticEngine &);

} // namespace tessera::runtime
