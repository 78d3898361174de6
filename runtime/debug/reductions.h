// The changes by which the reducer (reducer.h) makes a kernel smaller. Each is made to a copy; what it makes may not
// verify, and is thrown away then.
#pragma once
#include "runtime/debug/reducer.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace tessera::runtime {

/// A module, function or terminator: it goes with what it belongs to, never by itself.
bool isStructural(ir::Operation *);
/// In the order of a walk, which a copy shares with its original.
std::vector<ir::Operation *> operationsOf(ir::Module &);
void eraseDead(ir::Module &);

/// A change of one operation, in several variants. False if this operation does not have the variant.
struct OperationChange {
  bool (*apply)(ir::Operation *, unsigned variant);
  unsigned variants;
};
/// In the order in which much goes first.
llvm::ArrayRef<OperationChange> operationChanges();

/// Takes the operation out; the n-th of their substitutes replace its results: operands of the type, zero, a pointer
/// argument. False if there are not as many.
bool dropOperation(ir::Operation *, unsigned n, bool zeroFirst);
/// Every tensor dimension of this size is halved, ranges and constants with them.
bool halveShapes(ir::Module &, int64_t size);
/// The kernel's n-th argument, if nothing uses it; the launch loses it, too.
bool dropArgument(Failing &, unsigned n);
/// Functions that nobody calls any more.
void dropFunctions(Failing &);

/// Whether some division has a constant divisor of zero, of which the result is left open.
bool dividesByZero(ir::Module &);

} // namespace tessera::runtime
