// Values that the IR leaves open: quotients and remainders of a division by zero, shifts by the width or more, numbers
// that a conversion to an integer cannot hold. Hardware gives something, each vendor's something else. Most do no harm:
// elements that a mask or a select drops are computed from whatever is there. So they are found by experiment: the
// launch is run once more with other values in their place, and what then differs depends on them.
//
//   q = x // count      count[9] is 0: q[9] is -1 in the first run, 0 in the second
//   tl.store(o, q)      o[9] differs: a fault of the division
//
// Limits: what is printed is not compared, and a value that makes no difference by chance is not found.
#pragma once
#include "ir/operation.h"
#include "runtime/interpreter/lanes.h"
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

/// Whether the operation can have elements that are left open: not, for example, a shift by a constant that fits.
bool mayLeaveOpen(ir::Operation *);

/// Where a launch came upon such values. Programs that run at once may share it.
class OpenValues {
public:
  /// An operation that left elements open, as the first program that did so found it.
  struct Place {
    ir::Operation *op;
    std::string what; // "division by zero"
    std::array<int64_t, 3> program;
  };

  /// Looks for such elements of the result. In a run with other values they are replaced. @pre mayLeaveOpen(op)
  void visit(ir::Operation *op, llvm::ArrayRef<const Lanes *> operands, Lanes &result, std::array<int64_t, 3> program);

  /// The places of the run so far, in the order in which they were found.
  const std::vector<Place> &places() const { return places_; }

  /// From now on the first `most` open elements of these operations are replaced, in the order in which the run finds
  /// them, and the last of these is the only place that is noted.
  void replace(llvm::ArrayRef<ir::Operation *> ops, size_t most = SIZE_MAX) {
    replaced_.emplace(ops.begin(), ops.end());
    mostReplaced_ = most;
  }

  /// How many open elements the run with other values found.
  size_t numFound() const { return numFound_; }

private:
  std::mutex mutex_;
  std::vector<Place> places_;
  std::optional<std::vector<ir::Operation *>> replaced_;
  size_t mostReplaced_ = SIZE_MAX;
  size_t numFound_ = 0;
};

} // namespace tessera::runtime
