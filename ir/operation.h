// Operations, values, blocks and regions: the SSA graph. Everything lives in the arena of its Module and is freed with
// it; erasing an operation unlinks it and drops its uses, its memory comes back when the Module goes. Nothing here
// checks invariants beyond use lists: the verifier does (ir/verifier.h).
//
// An Operation has an opcode (one row of ir/ops.table each), operands, results, attributes, regions and successors.
// Typed views with named accessors are generated from the table (ir/ops.h):
//
//   if (auto load = op->dyn<tt::LoadOp>()) use(load.ptr(), load.mask());   // mask() is null when absent
#pragma once
#include "ir/attribute.h"
#include "ir/location.h"
#include "ir/opcode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator_range.h"
#include "llvm/Support/Allocator.h"

namespace tessera::ir {
class Operation;
class Block;
class Region;
class Module;
struct OpInfo;
struct OpOperand;

/// The definition behind a Value: a result of an operation or an argument of a block.
struct ValueImpl {
  Type type;
  OpOperand *firstUse = nullptr;
  Operation *definingOp = nullptr; // null for block arguments
  Block *ownerBlock = nullptr;     // block arguments
  unsigned index = 0;              // among the results or arguments
  Location loc;                    // block arguments; results have their operation's
};

class Value {
public:
  Value() = default;
  Value(ValueImpl *impl) : impl_(impl) {}
  explicit operator bool() const { return impl_; }
  bool operator==(const Value &) const = default;
  ValueImpl *impl() const { return impl_; }

  Type type() const { return impl_->type; }
  void setType(Type t) const { impl_->type = t; }
  /// The operation this is a result of, or null for a block argument.
  Operation *definingOp() const { return impl_->definingOp; }
  template <class OpT> OpT definedBy() const;
  bool isBlockArgument() const { return !impl_->definingOp; }
  Block *ownerBlock() const { return impl_->ownerBlock; } // block arguments only
  /// The block in which the value is defined.
  Block *parentBlock() const;
  unsigned index() const { return impl_->index; }
  Location loc() const;
  void setLoc(Location l) const { impl_->loc = l; } // block arguments only

  bool useEmpty() const { return !impl_->firstUse; }
  bool hasOneUse() const;
  OpOperand *firstUse() const { return impl_->firstUse; }
  /// The uses at the time of the call (safe to change uses while walking them).
  llvm::SmallVector<OpOperand *, 8> uses() const;
  llvm::SmallVector<Operation *, 8> users() const; // one entry per use
  void replaceAllUsesWith(Value) const;
  void replaceUsesIf(Value, llvm::function_ref<bool(OpOperand &)>) const;

private:
  ValueImpl *impl_ = nullptr;
};

/// One operand: a link in the use list of its value.
struct OpOperand {
  ValueImpl *value = nullptr;
  Operation *owner = nullptr;
  OpOperand *nextUse = nullptr;
  OpOperand **prevLink = nullptr;

  Value get() const { return value; }
  void set(Value);
  unsigned index() const;
};

class OperandRange {
public:
  OperandRange() = default;
  OperandRange(OpOperand *b, unsigned n) : b_(b), n_(n) {}
  unsigned size() const { return n_; }
  bool empty() const { return n_ == 0; }
  Value operator[](unsigned i) const { return b_[i].value; }
  struct iterator {
    OpOperand *p;
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Value;
    Value operator*() const { return p->value; }
    iterator &operator++() {
      ++p;
      return *this;
    }
    iterator operator++(int) {
      auto t = *this;
      ++p;
      return t;
    }
    iterator operator+(std::ptrdiff_t d) const { return {p + d}; }
    std::ptrdiff_t operator-(const iterator &o) const { return p - o.p; }
    bool operator==(const iterator &) const = default;
  };
  iterator begin() const { return {b_}; }
  iterator end() const { return {b_ + n_}; }
  OpOperand &operand(unsigned i) const { return b_[i]; }
  OperandRange slice(unsigned from, unsigned n) const { return {b_ + from, n}; }
  llvm::SmallVector<Value, 4> vec() const { return llvm::SmallVector<Value, 4>(begin(), end()); }

private:
  OpOperand *b_ = nullptr;
  unsigned n_ = 0;
};

class ResultRange {
public:
  ResultRange() = default;
  ResultRange(ValueImpl *b, unsigned n) : b_(b), n_(n) {}
  unsigned size() const { return n_; }
  bool empty() const { return n_ == 0; }
  Value operator[](unsigned i) const { return b_ + i; }
  struct iterator {
    ValueImpl *p;
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Value;
    Value operator*() const { return p; }
    iterator &operator++() {
      ++p;
      return *this;
    }
    iterator operator++(int) {
      auto t = *this;
      ++p;
      return t;
    }
    std::ptrdiff_t operator-(const iterator &o) const { return p - o.p; }
    bool operator==(const iterator &) const = default;
  };
  iterator begin() const { return {b_}; }
  iterator end() const { return {b_ + n_}; }
  llvm::SmallVector<Value, 4> vec() const { return llvm::SmallVector<Value, 4>(begin(), end()); }

private:
  ValueImpl *b_ = nullptr;
  unsigned n_ = 0;
};

/// A sequence of blocks owned by an operation.
class Region {
public:
  Operation *parentOp() const { return parent_; }
  bool empty() const { return !first_; }
  bool hasOneBlock() const { return first_ && first_ == last_; }
  Block *front() const { return first_; }
  Block *back() const { return last_; }
  /// Appends a new empty block.
  Block *addBlock();
  void append(Block *);                     // takes a block that is in no region
  void insertAfter(Block *where, Block *b); // likewise
  /// Moves all blocks of the other region to the end of this one.
  void takeBody(Region &other);
  llvm::SmallVector<Block *, 4> blocks() const;

private:
  friend class Operation;
  friend class Block;
  friend class Module;
  Operation *parent_ = nullptr;
  Block *first_ = nullptr, *last_ = nullptr;
};

class Block {
public:
  Region *parent() const { return parent_; }
  Operation *parentOp() const { return parent_ ? parent_->parentOp() : nullptr; }
  Block *next() const { return next_; }
  Block *prev() const { return prev_; }
  Module &module() const { return *module_; }

  unsigned numArgs() const { return args_.size(); }
  Value arg(unsigned i) const { return args_[i]; }
  llvm::ArrayRef<ValueImpl *> args() const { return args_; }
  Value addArg(Type, Location = {});
  /// @pre the argument has no uses
  void eraseArg(unsigned i);

  bool empty() const { return !first_; }
  Operation *front() const { return first_; }
  Operation *back() const { return last_; }
  /// The last operation if it is a terminator, else null.
  Operation *terminator() const;

  void append(Operation *op) { insertBefore(nullptr, op); }
  /// @pre op is in no block. `where` null: at the end.
  void insertBefore(Operation *where, Operation *op);

  /// Operations in order. The next one is read before the body runs, so the body may erase or move the current one.
  class iterator {
  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Operation;
    using difference_type = std::ptrdiff_t;
    using pointer = Operation *;
    using reference = Operation &;
    explicit iterator(Operation *op);
    Operation &operator*() const { return *cur_; }
    Operation *operator->() const { return cur_; }
    iterator &operator++();
    bool operator==(const iterator &o) const { return cur_ == o.cur_; }

  private:
    Operation *cur_, *next_;
  };
  iterator begin() const { return iterator(first_); }
  iterator end() const { return iterator(nullptr); }

  llvm::ArrayRef<Block *> successors() const;
  /// Unlinks the block from its region and drops every operation in it.
  void erase();

private:
  friend class Region;
  friend class Operation;
  friend class Module;
  Module *module_ = nullptr;
  Region *parent_ = nullptr;
  Block *prev_ = nullptr, *next_ = nullptr;
  Operation *first_ = nullptr, *last_ = nullptr;
  llvm::ArrayRef<ValueImpl *> args_; // arena
  unsigned argCapacity_ = 0;
  mutable bool orderValid_ = false;
};

class Operation {
public:
  Opcode opcode() const { return opcode_; }
  const OpInfo &info() const;
  /// `tt.load`; for operations of unknown dialects the name as written.
  llvm::StringRef name() const;
  Location loc() const { return loc_; }
  void setLoc(Location l) { loc_ = l; }
  Module &module() const { return *module_; }
  Context &context() const;

  Block *block() const { return block_; }
  Region *parentRegion() const { return block_ ? block_->parent() : nullptr; }
  Operation *parentOp() const { return block_ ? block_->parentOp() : nullptr; }
  template <class OpT> OpT parentOfType() const;
  Operation *next() const { return next_; }
  Operation *prev() const { return prev_; }
  bool isAncestorOf(const Operation *) const; // reflexive
  /// @pre both are in the same block
  bool isBeforeInBlock(const Operation *) const;

  template <class OpT> bool is() const { return OpT::classof(this); }
  template <class OpT> OpT dyn() { return OpT::classof(this) ? OpT(this) : OpT(); }
  template <class OpT> OpT cast() { return OpT(this); }

  unsigned numOperands() const { return numOperands_; }
  Value operand(unsigned i) const { return operands_[i].value; }
  OpOperand &opOperand(unsigned i) { return operands_[i]; }
  OperandRange operands() const { return {operands_, numOperands_}; }
  void setOperand(unsigned i, Value v) { operands_[i].set(v); }
  /// Replaces the operand list. For operations whose row has more than one optional or variadic operand, `segments`
  /// gives the number of values of each row operand.
  void setOperands(llvm::ArrayRef<Value>, llvm::ArrayRef<int32_t> segments = {});
  void eraseOperand(unsigned at);
  /// The values of the i-th operand of the row: one, none (optional and absent) or several (variadic).
  OperandRange operandGroup(unsigned i) const;
  /// Index of the group's first operand.
  unsigned operandGroupStart(unsigned i) const;
  void setOperandGroup(unsigned i, llvm::ArrayRef<Value>);
  llvm::ArrayRef<int32_t> operandSegments() const { return segments_; }

  unsigned numResults() const { return numResults_; }
  Value result(unsigned i = 0) const { return results_ + i; }
  ResultRange results() const { return {results_, numResults_}; }
  /// The values of the i-th result of the row (at most one row result is optional or variadic).
  ResultRange resultGroup(unsigned i) const;
  bool useEmpty() const;

  llvm::ArrayRef<NamedAttribute> attrs() const { return attrs_; }
  Attribute attr(llvm::StringRef name) const; // null when absent
  template <class A> A attr(llvm::StringRef name) const {
    auto a = attr(name);
    return a ? a.dyn_cast<A>() : A();
  }
  bool hasAttr(llvm::StringRef name) const { return bool(attr(name)); }
  void setAttr(llvm::StringRef name, Attribute);
  void removeAttr(llvm::StringRef name);
  void setAttrs(llvm::ArrayRef<NamedAttribute>);

  unsigned numRegions() const { return numRegions_; }
  Region &region(unsigned i) const { return regions_[i]; }
  llvm::MutableArrayRef<Region> regions() const { return {regions_, numRegions_}; }

  unsigned numSuccessors() const { return successors_.size(); }
  Block *successor(unsigned i) const { return successors_[i]; }
  llvm::ArrayRef<Block *> successors() const { return successors_; }
  void setSuccessor(unsigned i, Block *);

  /// Unlinks it from its block, keeping it usable.
  void remove();
  void moveBefore(Operation *);
  void moveAfter(Operation *);
  /// Unlinks it and drops it with everything nested in it. @pre its results have no uses.
  void erase();
  /// Drops every operand of this and all nested operations (before erasing things that use each other).
  void dropAllReferences();
  void replaceAllUsesWith(llvm::ArrayRef<Value>);
  void replaceAllUsesWith(Operation *other) { replaceAllUsesWith(other->results().vec()); }

  /// Pre-order walk over this operation and all nested ones; the callback may erase the operation it is given.
  void walk(llvm::function_ref<void(Operation *)>);
  void walkPostOrder(llvm::function_ref<void(Operation *)>);
  template <class OpT> void walk(llvm::function_ref<void(OpT)> f) {
    walk([&](Operation *op) {
      if (auto o = op->dyn<OpT>()) f(o);
    });
  }

  /// Generic text of the operation alone, for diagnostics and debuggers (see ir/printer.h for real printing).
  std::string str() const;

private:
  friend class Module;
  friend class Block;
  friend struct OpOperand;
  Opcode opcode_ = Opcode::unregistered;
  Location loc_;
  Module *module_ = nullptr;
  Block *block_ = nullptr;
  Operation *prev_ = nullptr, *next_ = nullptr;
  OpOperand *operands_ = nullptr;
  unsigned numOperands_ = 0, operandCapacity_ = 0;
  unsigned numResults_ = 0, numRegions_ = 0;
  ValueImpl *results_ = nullptr;
  Region *regions_ = nullptr;
  llvm::ArrayRef<NamedAttribute> attrs_;
  llvm::MutableArrayRef<int32_t> segments_;
  llvm::MutableArrayRef<Block *> successors_;
  llvm::StringRef unregisteredName_;
  mutable unsigned order_ = 0;
};

/// Old values to new ones while cloning.
class ValueMap {
public:
  void map(Value from, Value to) { map_[from.impl()] = to.impl(); }
  Value lookupOrSelf(Value v) const {
    auto it = map_.find(v.impl());
    return it == map_.end() ? v : Value(it->second);
  }
  Value lookup(Value v) const { return map_.lookup(v.impl()); }
  bool contains(Value v) const { return map_.count(v.impl()); }
  void map(Block *from, Block *to) { blocks_[from] = to; }
  Block *lookupOrSelf(Block *b) const {
    auto it = blocks_.find(b);
    return it == blocks_.end() ? b : it->second;
  }

private:
  llvm::DenseMap<ValueImpl *, ValueImpl *> map_;
  llvm::DenseMap<Block *, Block *> blocks_;
};

/// What an operation is made from.
struct OperationState {
  Opcode opcode;
  Location loc;
  llvm::SmallVector<Value, 4> operands;
  llvm::SmallVector<int32_t, 4> segments; // one per row operand, or empty where the row needs none
  llvm::SmallVector<Type, 2> resultTypes;
  llvm::SmallVector<NamedAttribute, 4> attrs;
  llvm::SmallVector<Block *, 2> successors;
  unsigned numRegions = 0;
  llvm::StringRef unregisteredName; // with Opcode::unregistered

  OperationState(Opcode op, Location l) : opcode(op), loc(l) {}
};

/// Owns one top-level `builtin.module` operation and the arena in which everything nested in it lives.
class Module {
public:
  explicit Module(Context &);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  Context &context() const { return context_; }
  Operation *op() const { return op_; }
  Block *body() const { return op_->region(0).front(); }
  llvm::BumpPtrAllocator &arena() { return arena_; }

  Operation *createOperation(const OperationState &); // in no block yet
  Block *createBlock();                               // in no region yet

  /// The `tt.func` (or `llvm.func`) of that name directly in the module, or null. It reads the module: for many names
  /// there is SymbolTable.
  Operation *lookupSymbol(llvm::StringRef name) const;
  /// A deep copy in the same Context.
  std::unique_ptr<Module> clone() const;

private:
  Context &context_;
  llvm::BumpPtrAllocator arena_;
  Operation *op_ = nullptr;
};

/// Copies an operation with its regions into `into` (which may be the same module); operands and blocks are looked up
/// in the map, and new results, block arguments and blocks are added to it. The copy is in no block.
Operation *cloneOperation(Operation *, Module &into, ValueMap &);

template <class OpT> OpT Value::definedBy() const { return definingOp() ? definingOp()->dyn<OpT>() : OpT(); }
template <class OpT> OpT Operation::parentOfType() const {
  for (auto *p = parentOp(); p; p = p->parentOp())
    if (auto o = p->dyn<OpT>()) return o;
  return OpT();
}

} // namespace tessera::ir

namespace llvm {
template <> struct DenseMapInfo<tessera::ir::Value> {
  using P = DenseMapInfo<tessera::ir::ValueImpl *>;
  static tessera::ir::Value getEmptyKey() { return P::getEmptyKey(); }
  static tessera::ir::Value getTombstoneKey() { return P::getTombstoneKey(); }
  static unsigned getHashValue(tessera::ir::Value v) { return P::getHashValue(v.impl()); }
  static bool isEqual(tessera::ir::Value a, tessera::ir::Value b) { return a == b; }
};
template <> struct DenseMapInfo<tessera::ir::Type> {
  using P = DenseMapInfo<const tessera::ir::TypeStorage *>;
  static tessera::ir::Type getEmptyKey() { return P::getEmptyKey(); }
  static tessera::ir::Type getTombstoneKey() { return P::getTombstoneKey(); }
  static unsigned getHashValue(tessera::ir::Type v) { return P::getHashValue(v.storage()); }
  static bool isEqual(tessera::ir::Type a, tessera::ir::Type b) { return a == b; }
};
template <> struct DenseMapInfo<tessera::ir::Attribute> {
  using P = DenseMapInfo<const tessera::ir::AttributeStorage *>;
  static tessera::ir::Attribute getEmptyKey() { return P::getEmptyKey(); }
  static tessera::ir::Attribute getTombstoneKey() { return P::getTombstoneKey(); }
  static unsigned getHashValue(tessera::ir::Attribute v) { return P::getHashValue(v.storage()); }
  static bool isEqual(tessera::ir::Attribute a, tessera::ir::Attribute b) { return a == b; }
};
} // namespace llvm
