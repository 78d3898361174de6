// Builder: makes operations at an insertion point, and constants and attributes in short.
#pragma once
#include "ir/context.h"
#include "ir/operation.h"
#include <optional>

namespace tessera::ir {

class Builder {
public:
  explicit Builder(Module &m) : module_(m) {}
  /// Inserts before `op`.
  explicit Builder(Operation *op) : module_(op->module()), block_(op->block()), before_(op) {}
  static Builder atEnd(Block *b) {
    Builder r(b->module());
    r.setInsertionPointToEnd(b);
    return r;
  }
  static Builder atStart(Block *b) {
    Builder r(b->module());
    r.setInsertionPointToStart(b);
    return r;
  }
  static Builder after(Operation *op) {
    Builder r(op->module());
    r.setInsertionPointAfter(op);
    return r;
  }

  void setInsertionPoint(Operation *before) {
    block_ = before->block();
    before_ = before;
  }
  void setInsertionPointAfter(Operation *op) {
    block_ = op->block();
    before_ = op->next();
  }
  void setInsertionPointToEnd(Block *b) {
    block_ = b;
    before_ = nullptr;
  }
  void setInsertionPointToStart(Block *b) {
    block_ = b;
    before_ = b->front();
  }

  Module &module() const { return module_; }
  Context &context() const { return module_.context(); }

  /// Makes the operation and inserts it (if there is an insertion point).
  Operation *create(const OperationState &);
  Operation *insert(Operation *);
  /// A copy of the operation with its regions; operands are looked up in the map.
  Operation *clone(Operation *, ValueMap &);
  Operation *clone(Operation *);

  NamedAttribute named(llvm::StringRef name, Attribute value) { return {context().intern(name), value}; }
  NamedAttribute i32Attr(llvm::StringRef name, int64_t v) { return named(name, IntegerAttr::getI32(context(), v)); }
  NamedAttribute boolAttr(llvm::StringRef name, bool v) { return named(name, IntegerAttr::getBool(context(), v)); }
  NamedAttribute denseI32Attr(llvm::StringRef name, llvm::ArrayRef<int64_t> v) {
    return named(name, DenseArrayAttr::getI32(context(), v));
  }

  /// `arith.constant` of the attribute, of the given type (a tensor type needs a DenseElementsAttr of that type).
  Value constant(Location, Type, Attribute);
  /// An integer or index constant, or a splat of one for a tensor type.
  Value intConstant(Location, Type, int64_t);
  /// A floating-point constant, or a splat of one; the value is rounded to the type.
  Value floatConstant(Location, Type, double);

private:
  Module &module_;
  Block *block_ = nullptr;
  Operation *before_ = nullptr;
};

/// The attribute of a constant (`arith.constant`) that defines the value, or null.
Attribute constantOf(Value);
/// The integer constant (or splat) that defines the value, sign-extended, if there is one and it fits.
std::optional<int64_t> intConstantOf(Value);

} // namespace tessera::ir
