// Pattern rewriting: a worklist driver that applies local patterns, folds (the rows' fold hooks) and dead-code removal
// until nothing changes.
#pragma once
#include "ir/builder.h"
#include <vector>

namespace tessera::ir {

/// Changes the IR in the way the driver can follow: every operation made, replaced or updated goes back on the
/// worklist.
class Rewriter : public Builder {
public:
  explicit Rewriter(Module &m) : Builder(m) {}
  /// Replaces all uses of the results and erases the operation.
  virtual void replaceOp(Operation *, llvm::ArrayRef<Value>) = 0;
  virtual void eraseOp(Operation *) = 0;
  /// Replaces all uses of the value.
  virtual void replaceValue(Value, Value by) = 0;
  /// Says that the operation was changed in place.
  virtual void updated(Operation *) = 0;
  void replaceOp(Operation *op, Operation *by) { replaceOp(op, by->results().vec()); }
};

/// Returns true if it changed the IR. `op` is of the pattern's opcode.
using PatternFn = bool (*)(Operation *op, Rewriter &);

struct Pattern {
  Opcode root; // Opcode::unregistered: any operation
  PatternFn apply;
  const char *name;
};

struct RewriteOptions {
  bool fold = true;
  bool eraseDead = true;
  bool uniqueConstants = false; // constants move to the entry of their function, equal ones become one
  unsigned maxIterations = 10;  // passes over the whole region; 10 as in MLIR
};

/// Applies the patterns to everything nested in `root`. Returns whether anything changed.
bool applyPatterns(Operation *root, llvm::ArrayRef<Pattern>, const RewriteOptions & = {});

} // namespace tessera::ir
