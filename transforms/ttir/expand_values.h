// Replaces values of some types by several values each, throughout a module: a block pointer by its base, shape,
// strides and offsets, a tensor descriptor by what it was made from. Control flow is handled here (arguments and
// results of functions, loops, branches and blocks, selects between two), so that a pass only says what its types
// stand for and how the operations that make and use such values are written without them.
//
//   scf.for … iter_args(%p = %p0) -> (T) {         scf.for … iter_args(%a = %a0, %b = %b0) -> (A, B) {
//     …                                       →      …
//     scf.yield %q : T                               scf.yield %c, %d : A, B
//
// Parts that do not change in a loop become loop-carried values, too; canonicalize drops them.
#pragma once
#include "absl/status/statusor.h"
#include "ir/builder.h"
#include "ir/diagnostic.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::transforms {

class ValueExpansion {
public:
  ValueExpansion(ir::Module &m, ir::DiagnosticEngine &d, llvm::StringRef what) : m_(m), diagnostics_(d), what_(what) {}
  virtual ~ValueExpansion() = default;

  /// Rewrites the module. An operation that uses such values and is not known gives a diagnostic.
  absl::StatusOr<bool> run();

protected:
  /// The types that values of this type are replaced by; none: it stays.
  virtual llvm::SmallVector<ir::Type, 8> partsOf(ir::Type) = 0;
  /// What the part of that number is, for the names of arguments: "shape.0".
  virtual std::string partName(ir::Type, unsigned part) = 0;
  /// Attributes of the argument of a function that a part becomes; null: none.
  virtual ir::DictionaryAttr partAttrs(ir::Type, unsigned part) { return {}; }
  /// Rewrites an operation other than control flow that has operands or results of such types: new operations are made
  /// before it, define() is called for results of such types, uses of other results are replaced. False: it cannot be,
  /// which is then reported. The operation itself is erased later.
  virtual bool rewrite(ir::Operation *) = 0;

  llvm::ArrayRef<ir::Value> parts(ir::Value v) { return map_.find(v)->second; }
  void define(ir::Value v, llvm::ArrayRef<ir::Value> by) { map_[v].assign(by.begin(), by.end()); }
  /// Reports that this operation cannot be rewritten, with a reason of its own.
  bool fail(ir::Operation *, const llvm::Twine &why);

private:
  bool expands(ir::Type t) { return !partsOf(t).empty(); }
  llvm::SmallVector<ir::Value, 8> expand(ir::OperandRange);
  void function(ir::Operation *);
  void arguments(ir::Block *);
  bool region(ir::Region &);
  bool operation(ir::Operation *);
  bool controlFlow(ir::Operation *);

  ir::Module &m_;
  ir::DiagnosticEngine &diagnostics_;
  llvm::StringRef what_;
  llvm::DenseMap<ir::Value, llvm::SmallVector<ir::Value, 8>> map_;
  std::vector<ir::Operation *> obsolete_;
  std::vector<std::pair<ir::Block *, unsigned>> oldArguments_; // so many at the front go in the end
};

} // namespace tessera::transforms
