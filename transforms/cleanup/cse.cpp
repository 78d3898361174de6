// Pass cse: if two operations compute the same value from the same operands and the first dominates the second, the
// first replaces the second.
//
//   %a = arith.addi %x, %y : i32            %a = arith.addi %x, %y : i32
//   %b = arith.addi %x, %y : i32     →      use(%a, %a)
//   use(%a, %b)
//
// Scopes follow dominance: a region uses what its ancestors computed before it; of a region with several blocks, only
// the entry block is compared with the others. Operations with effects or regions are left alone, with three
// exceptions: reductions, whose regions are compared; loads, which merge if nothing was written between them in their
// block; and buffers in shared memory that are filled with the same tensor and only read. A tile that two dots read is
// stored once, if the first buffer is still read when the second would be filled, so that no buffer lives longer.
//
// Runs: TTIR, NVIDIA pipeline, AMD pipeline.
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/passes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/ScopedHashTable.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Whether the operation makes a buffer that is filled at once and only read later.
bool isFilledOnce(Operation &op) {
  auto alloc = op.dyn<ttg::LocalAllocOp>();
  return alloc && alloc.src() && !alloc.result().type().cast<MemDescType>().isMutable() && isOnlyRead(alloc.result());
}

/// The operations of the block in which, or in whose regions, the buffer or a view of it is read.
void readersIn(Block *b, Value buffer, llvm::SmallPtrSetImpl<Operation *> &out) {
  for (Operation *u : buffer.users()) {
    for (auto r : u->results())
      if (r.type().isa<MemDescType>()) readersIn(b, r, out);
    while (u && u->block() != b) u = u->parentOp();
    if (u) out.insert(u);
  }
}
/// Whether the buffer is read in its own block after `later`.
bool isReadAfter(Operation *alloc, Operation *later) {
  llvm::SmallPtrSet<Operation *, 8> readers;
  readersIn(alloc->block(), alloc->result(0), readers);
  for (Operation *op = later->next(); op; op = op->next())
    if (readers.contains(op)) return true;
  return false;
}

/// Structural equality of two regions under a correspondence of their values.
bool sameRegion(Region &a, Region &b, llvm::DenseMap<Value, Value> &map);
bool sameOp(Operation *a, Operation *b, llvm::DenseMap<Value, Value> &map) {
  if (a->opcode() != b->opcode() || a->numOperands() != b->numOperands() || a->numResults() != b->numResults() ||
      a->numRegions() != b->numRegions())
    return false;
  if (a->opcode() == Opcode::unregistered || a->operandSegments() != b->operandSegments()) return false;
  for (unsigned i = 0; i < a->numOperands(); ++i) {
    Value x = a->operand(i);
    if (auto it = map.find(x); it != map.end()) x = it->second;
    if (x != b->operand(i)) return false;
  }
  for (unsigned i = 0; i < a->numResults(); ++i)
    if (a->result(i).type() != b->result(i).type()) return false;
  if (a->attrs().size() != b->attrs().size()) return false;
  for (auto &x : a->attrs())
    if (b->attr(x.name) != x.value) return false;
  for (unsigned i = 0; i < a->numRegions(); ++i)
    if (!sameRegion(a->region(i), b->region(i), map)) return false;
  for (unsigned i = 0; i < a->numResults(); ++i) map[a->result(i)] = b->result(i);
  return true;
}
bool sameRegion(Region &a, Region &b, llvm::DenseMap<Value, Value> &map) {
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  if (!a.hasOneBlock() || !b.hasOneBlock()) return false;
  Block *x = a.front(), *y = b.front();
  if (x->numArgs() != y->numArgs()) return false;
  for (unsigned i = 0; i < x->numArgs(); ++i) {
    if (x->arg(i).type() != y->arg(i).type()) return false;
    map[x->arg(i)] = y->arg(i);
  }
  Operation *p = x->front(), *q = y->front();
  for (; p && q; p = p->next(), q = q->next())
    if (!sameOp(p, q, map)) return false;
  return !p && !q;
}

struct OpKey {
  using Base = llvm::DenseMapInfo<Operation *>;
  static Operation *getEmptyKey() { return Base::getEmptyKey(); }
  static Operation *getTombstoneKey() { return Base::getTombstoneKey(); }
  static Operation *mutableOp(const Operation *o) { return const_cast<Operation *>(o); }
  static unsigned getHashValue(const Operation *o) {
    Operation *op = mutableOp(o);
    size_t h = llvm::hash_value(unsigned(op->opcode()));
    for (auto v : op->operands()) h = llvm::hash_combine(h, v.impl());
    for (auto r : op->results()) h = llvm::hash_combine(h, r.type().storage());
    size_t attrs = 0; // order does not matter
    for (auto &a : op->attrs()) attrs ^= llvm::hash_combine(a.name, a.value.storage());
    return llvm::hash_combine(h, attrs);
  }
  static bool isEqual(const Operation *x, const Operation *y) {
    Operation *a = mutableOp(x), *b = mutableOp(y);
    if (a == b) return true;
    if (a == getEmptyKey() || b == getEmptyKey() || a == getTombstoneKey() || b == getTombstoneKey()) return false;
    llvm::DenseMap<Value, Value> map;
    return sameOp(a, b, map);
  }
};

/// Scoped tables hash through a const lookup, which DenseMap wants by the same type.
using Table = llvm::ScopedHashTable<const Operation *, Operation *, struct ConstOpKey>;
struct ConstOpKey {
  static const Operation *getEmptyKey() { return OpKey::getEmptyKey(); }
  static const Operation *getTombstoneKey() { return OpKey::getTombstoneKey(); }
  static unsigned getHashValue(const Operation *o) { return OpKey::getHashValue(o); }
  static bool isEqual(const Operation *a, const Operation *b) { return OpKey::isEqual(a, b); }
};

class Cse {
public:
  bool run(Operation *root) {
    for (auto &r : root->regions()) region(r);
    return changed_;
  }

private:
  void region(Region &r) {
    if (r.empty()) return;
    if (r.hasOneBlock()) {
      Table::ScopeTy scope(table_);
      block(r.front());
      return;
    }
    // The entry block dominates the others, which are not compared among themselves.
    Table::ScopeTy entry(table_);
    block(r.front());
    for (auto *b = r.front()->next(); b; b = b->next()) {
      Table::ScopeTy scope(table_);
      block(b);
    }
  }

  /// Whether the operation may be replaced, apart from its effects.
  static bool isCandidate(Operation &op) {
    if (op.info().has(kTerminator) || op.info().has(kNoCse) || op.opcode() == Opcode::unregistered) return false;
    return op.numResults() && (op.numRegions() == 0 || op.is<tt::ReduceOp>());
  }

  void block(Block *b) {
    llvm::DenseMap<Operation *, unsigned> loads; // load → number of writes before it
    unsigned writes = 0;
    for (auto &op : *b) {
      if (op.info().has(kIsolated)) {
        Cse inner;
        changed_ |= inner.run(&op);
        continue;
      }
      uint8_t effects = effectsOf(&op);
      bool isLoad = op.is<tt::LoadOp>() && !(effects & ~kReadsGlobal); // volatile loads have other effects
      bool isBuffer = isFilledOnce(op);
      if (isCandidate(op) && (effects == 0 || isLoad || isBuffer)) {
        Operation *earlier = table_.lookup(&op);
        if (earlier && isLoad) { // of one block, without a write in between
          auto it = loads.find(earlier);
          if (it == loads.end() || it->second != writes) earlier = nullptr;
        }
        if (earlier && isBuffer && (earlier->block() != b || !isReadAfter(earlier, &op))) {
          table_.insert(&op, &op); // later operations are compared with the nearer one
          continue;
        }
        if (earlier) {
          op.replaceAllUsesWith(earlier);
          op.erase();
          changed_ = true;
          continue;
        }
        if (isLoad) loads[&op] = writes;
        table_.insert(&op, &op);
        continue;
      }
      if (effects & (kWritesGlobal | kSynchronizes)) ++writes;
      for (auto &r : op.regions()) region(r);
    }
  }

  Table table_;
  bool changed_ = false;
};

} // namespace

absl::StatusOr<bool> commonSubexpressions(Module &m, PassContext &) { return Cse().run(m.op()); }

} // namespace tessera::transforms
