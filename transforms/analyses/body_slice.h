// What values are computed from in the body of a loop: what must be computed earlier to issue a load or a copy ahead.
// And whether they are computed there at all.
#pragma once
#include "ir/operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {

/// Whether a value is computed outside of an operation's regions: one that a loop does not change.
bool isDefinedOutside(ir::Value, const ir::Operation *);

struct BodySlice {
  llvm::SetVector<ir::Operation *> operations; // of the body, in no particular order
  llvm::SetVector<unsigned> carried;           // indices of the loop-carried values that these, or the values, are
};

/// Whether a slice contains what a loop-carried value is computed from in an iteration, for the next one.
enum class Across { Iterations, Nothing };

/// Adds what `values` are computed from in `body`, the only block of an `scf.for`. What operations use in their regions
/// is included. The operation that `mayContain` refuses, which ends the search; null if there is none.
ir::Operation *addToSlice(BodySlice &, const ir::Block &body, llvm::ArrayRef<ir::Value> values, Across,
                          llvm::function_ref<bool(ir::Operation *)> mayContain);

} // namespace tessera::transforms
