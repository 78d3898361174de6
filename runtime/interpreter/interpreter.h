// The interpreter: evaluates TTIR and TTGIR tensor by tensor, one program of the grid after the other, simply and
// obviously. It is the oracle that everything else is compared with, so it checks what hardware does not: every access to
// memory must lie in a buffer and be aligned to its element, and a loop that does not end is reported.
//
// Semantics where the text leaves room: arithmetic on f16, bf16 and the 8-bit floats is done in f32 or f64 and rounded once
// to nearest even; conversions to e4m3 and e5m2 saturate; float to integer saturates and takes NaN to 0; shifts by the
// width or more give 0 (or the sign); integer division by zero gives all ones, remainder the dividend; elements that a
// masked load leaves open are all one bits; reductions combine neighbours pairwise.
#pragma once
#include "absl/status/status.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace tessera::runtime {

struct InterpreterBuffer {
  std::string name;
  uint8_t *data = nullptr;
  size_t bytes = 0;
};

/// One kernel argument: an address inside a registered buffer (its index and byte offset) or a scalar's bits.
struct InterpreterArg {
  int buffer = -1;
  uint64_t bits = 0;
};

struct InterpreterOptions {
  int64_t maxSteps = int64_t(1) << 40;      // operations in all
  int64_t maxIterations = int64_t(1) << 26; // of one loop
  std::function<void(int64_t done, int64_t all)> progress; // after each program
};

/// Runs the kernel (a tt.func of the module) over the grid. A fault of the kernel is reported to the engine, with the
/// operation and the program it happened in, and gives an error; the buffers hold what was written until then.
absl::Status interpret(ir::Module &, ir::Operation *kernel, std::array<int64_t, 3> grid, llvm::ArrayRef<InterpreterBuffer>, llvm::ArrayRef<InterpreterArg>, const InterpreterOptions &, ir::DiagnosticEngine &);


} // namespace tessera::runtime
