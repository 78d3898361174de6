// The functions of a module by name, for code that looks up many: the operand of a tt.call is a name, and a search of
// the module for each of them would be quadratic in the number of functions.
#pragma once
#include "ir/ops.h"
#include "llvm/ADT/StringMap.h"

namespace tessera::ir {

/// What the body of a module names when the table is made. It does not follow later changes: whoever erases or adds
/// functions makes a new one.
class SymbolTable {
public:
  explicit SymbolTable(Operation *module);
  explicit SymbolTable(Module &m) : SymbolTable(m.op()) {}

  /// The first operation of that name directly in the module, or null.
  Operation *lookup(llvm::StringRef name) const { return symbols_.lookup(name); }
  Operation *callee(tt::CallOp call) const { return lookup(call.callee()); }

  /// Operations that look-ups of this thread have read so far, those of Module::lookupSymbol included: tests compare it
  /// between modules of different sizes.
  static uint64_t operationsRead();

private:
  friend class Module;
  static thread_local uint64_t operationsRead_;
  llvm::StringMap<Operation *> symbols_;
};

} // namespace tessera::ir
