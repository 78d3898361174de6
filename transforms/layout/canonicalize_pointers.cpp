// Pass tritonamdgpu-canonicalize-pointers.
// Pointers into small buffers become the buffer and an offset of 32 bits. Where the caller promises that a kernel's
// argument points into less than 2 GiB (`tt.pointer_range = 32`), whatever is accessed through it lies less than 2^31
// bytes before it or after it, so arithmetic modulo 2^32 suffices, however the program itself computes the address:
// half the registers and half the additions of 64-bit pointers, and addresses of the form that buffer instructions and
// scalar-base addressing take.
//
//   %a = tt.splat %p                                       (%p: argument with tt.pointer_range = 32)
//   %b = tt.addptr %a, %row : tensor<64x1xi64>        →    %r = arith.trunci %row : … to tensor<64x1xi32>
//   %c = tt.broadcast %b                                   %s = tt.broadcast %r
//   %d = tt.addptr %c, %col : tensor<64x32xi32>            %o = arith.addi %s, %col
//   %v = tt.load %d                                        %v = tt.load (tt.addptr (tt.splat %p), %o)
//
// Loops and branches carry the offsets. By its form alone, an access in the new form has an offset that is a number of
// elements modulo 2^32 (smallBuffer in analyses/pointer_root.h), which is how it is lowered.
//
// Those instructions take the offset as unsigned. That is right for offsets that are not negative, which is proved here
// (the attribute tessera.non_negative of the tt.addptr): here alone offsets are to be seen before their truncation, and
// what is accessed is not beyond 2^31 even if its truncated offset is. For all others the lowering moves base and
// offset by 2^31 bytes. (Triton 3.6 proves nothing there by default: its buffer accesses at negative offsets read zero
// and store nothing.)
//
// Steps: findRoots determines which argument each pointer is computed from; rewriteRegion gives each pointer with such
// a root an offset, and each access an address made of the two; markSigns says which offsets are not negative.
//
// Limits: pointers that while loops or branches between blocks carry, that come from memory, from several arguments
// or from a pointer cast to elements of another size stay as they are.
//
// Runs: AMD pipeline, after all accesses are there and before index arithmetic leaves loops.
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/cleanup/erase_dead_operations.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool isPointer(Value v) { return v && v.type().scalar().isPointer() && !pointeeOf(v).isTensor(); }
bool keepsAddresses(Operation *op) {
  return op->is<tt::SplatOp>() || op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>() || op->is<tt::ReshapeOp>() ||
         op->is<tt::TransOp>() || op->is<ttg::ConvertLayoutOp>();
}

/// The operand by which an operation accesses global memory; none if it does not, or by scalar pointers alone.
std::optional<unsigned> pointerOperand(Operation *op) {
  constexpr unsigned kPointer = 0; // of all of them
  bool accesses = op->dyn<GlobalAccessOp>() || op->is<ttg::AsyncCopyGlobalToLocalOp>();
  return accesses ? std::optional(kPointer) : std::nullopt;
}

class SmallBuffers {
public:
  SmallBuffers(Module &m, Operation *function) : module_(m), function_(function) {}

  bool run() {
    Block *entry = function_->region(0).front();
    bool anySmall = false;
    for (auto *a : entry->args())
      if (isPointer(a)) {
        bool isSmall = hasSmallRange(a);
        roots_[a] = isSmall ? Value(a) : Value();
        anySmall |= isSmall;
      }
    if (!anySmall) return false;
    findRoots();
    rewriteRegion(function_->region(0));
    markSigns();
    return changed_;
  }

private:
  // ---- which argument each pointer is computed from
  // ------------------------------------------------------------------ A value without an entry has not been reached
  // yet; a null root means that no single argument is known.

  /// Joins what is known of a value's root with one more source.
  void joinRoot(Value v, Value root) {
    auto [it, isNew] = roots_.try_emplace(v, root);
    if (isNew) rootsChanged_ = true;
    bool contradicts = !isNew && it->second && it->second != root;
    if (!contradicts) return;
    it->second = Value();
    rootsChanged_ = true;
  }
  void propagateRoot(Value from, Value to) {
    if (auto it = roots_.find(from); it != roots_.end()) joinRoot(to, it->second);
  }
  void hasNoRoot(Value v) { joinRoot(v, {}); }

  void propagateThroughLoop(scf::ForOp loop) {
    for (unsigned i = 0; i < numCarried(loop); ++i) {
      auto c = carried(loop, i);
      if (!isPointer(c.result)) continue;
      propagateRoot(c.init, c.argument);
      propagateRoot(c.yielded, c.argument);
      propagateRoot(c.argument, c.result);
    }
  }
  void propagateThroughBranch(scf::IfOp branch) {
    for (auto *r : {&branch.thenRegion(), &branch.elseRegion()})
      for (auto result : branch->results()) {
        if (!isPointer(result)) continue;
        if (r->hasOneBlock())
          propagateRoot(r->front()->terminator()->operand(result.index()), result);
        else
          hasNoRoot(result);
      }
  }
  /// Whether the pointers that an operation makes are in the buffer of its first operand, or of both of a select's.
  bool staysInBuffer(Operation *op) {
    if (auto add = op->dyn<tt::AddptrOp>()) {
      Type offset = add.offset().type().scalar();
      return offset.isInteger() && offset.bitWidth() > 1;
    }
    if (auto cast = op->dyn<tt::BitcastOp>(); cast && isPointer(cast.src())) {
      bool keepsUnit = pointeeBytes(cast.src().type()) == pointeeBytes(cast.result().type());
      bool isOfBuffer = rootOf(cast.src()) == cast.src(); // there are no offsets yet whose unit could change
      return keepsUnit || isOfBuffer;
    }
    return keepsAddresses(op) || op->is<arith::SelectOp>();
  }
  /// The roots of the pointers that an operation makes.
  void propagateThrough(Operation *op) {
    if (auto loop = op->dyn<scf::ForOp>()) return propagateThroughLoop(loop);
    if (auto branch = op->dyn<scf::IfOp>(); branch && op->numResults()) return propagateThroughBranch(branch);
    for (auto r : op->results()) {
      if (!isPointer(r)) continue;
      if (!staysInBuffer(op)) {
        hasNoRoot(r);
      } else if (auto select = op->dyn<arith::SelectOp>()) {
        propagateRoot(select.trueValue(), r);
        propagateRoot(select.falseValue(), r);
      } else if (auto add = op->dyn<tt::AddptrOp>()) {
        propagateRoot(add.ptr(), r);
      } else {
        propagateRoot(UnaryOp(op).value(), r);
      }
    }
  }
  void findRoots() {
    // Arguments of blocks other than bodies of loops.
    function_->walk([&](Operation *op) {
      if (op->is<scf::ForOp>()) return;
      for (auto &r : op->regions())
        for (Block *b : r.blocks())
          for (auto *a : b->args())
            if (isPointer(a)) roots_.try_emplace(a, Value());
    });
    do {
      rootsChanged_ = false;
      function_->walk([&](Operation *op) {
        if (op != function_) propagateThrough(op);
      });
    } while (rootsChanged_);
  }
  /// The argument that v is computed from, or none.
  Value rootOf(Value v) const {
    auto it = roots_.find(v);
    return it == roots_.end() ? Value() : it->second;
  }

  // ---- rewriting ---------------------------------------------------------------------------------------------------

  Type offsetType(Value pointer) const { return pointer.type().withScalar(pointer.type().context()->i32()); }
  Value as32Bits(Builder &b, Location loc, Value offset) {
    unsigned bits = offset.type().scalar().bitWidth();
    if (bits == 32) return offset;
    if (auto wide = offset.definedBy<arith::ExtsiOp>(); wide && wide.in().type().scalar().isInteger(32))
      return wide.in();
    Type to = offset.type().withScalar(b.context().i32());
    if (bits < 32) return arith::ExtsiOp::create(b, loc, to, offset)->result();
    return truncations_.emplace_back(arith::TrunciOp::create(b, loc, to, offset)->result());
  }
  /// The offset of a pointer with a root; zero is made where it is needed.
  Value offsetOf(Builder &b, Location loc, Value pointer) {
    if (Value o = offsets_.lookup(pointer)) return o;
    return b.intConstant(loc, offsetType(pointer), 0);
  }
  /// The address in the form that accesses take.
  Value pointerTo(Builder &b, Location loc, Value root, Value offset, Type type) {
    Value base = root;
    if (base.type() != type.scalar()) {
      Value &cast = casts_[{root, type.scalar()}];
      if (!cast) {
        Builder start = Builder::atStart(function_->region(0).front());
        cast = tt::BitcastOp::create(start, loc, type.scalar(), root)->result();
      }
      base = cast;
    }
    if (type.isTensor()) base = tt::SplatOp::create(b, loc, type, base).result();
    return tt::AddptrOp::create(b, loc, base, offset).result();
  }

  /// Has the value carried as an offset from now on; users get the pointer made from it.
  void carryOffset(Builder b, Value v) {
    Value root = rootOf(v);
    Type type = v.type();
    v.setType(offsetType(v));
    Value back = pointerTo(b, v.loc(), root, v, type);
    Operation *last = back.definingOp();
    v.replaceUsesIf(back, [&](OpOperand &u) { return u.owner != last; });
    roots_[back] = root;
    offsets_[back] = v;
    changed_ = true;
  }

  void rewriteRegion(Region &r) {
    for (Block *b : r.blocks())
      for (Operation *op = b->front(), *next; op; op = next) {
        next = op->next();
        rewrite(op);
      }
  }

  void rewrite(Operation *op) {
    if (auto loop = op->dyn<scf::ForOp>()) return rewriteLoop(loop);
    if (auto branch = op->dyn<scf::IfOp>()) return rewriteBranch(branch);
    for (auto &r : op->regions()) rewriteRegion(r);
    if (op->numResults() == 1 && isPointer(op->result()) && rootOf(op->result())) return makeOffset(op);
    auto at = pointerOperand(op);
    if (!at) return;
    Value p = op->operand(*at);
    Value root = isPointer(p) ? rootOf(p) : Value();
    if (!root) return;
    bool hasNoArithmetic = !offsets_.lookup(p);
    if (hasNoArithmetic || smallBuffer(p)) return;
    Builder b(op);
    op->setOperand(*at, pointerTo(b, op->loc(), root, offsetOf(b, op->loc(), p), p.type()));
    changed_ = true;
  }

  /// Makes the offset of the pointer that the operation makes. Offsets of zero have no entry.
  void makeOffset(Operation *op) {
    Value r = op->result();
    if (offsets_.count(r)) return; // made from a carried offset
    Builder b(op);
    if (auto add = op->dyn<tt::AddptrOp>()) {
      Value more = as32Bits(b, op->loc(), add.offset());
      Value from = offsets_.lookup(add.ptr());
      offsets_[r] = from ? arith::AddiOp::create(b, op->loc(), from, more).result() : more;
      return;
    }
    if (auto select = op->dyn<arith::SelectOp>()) {
      if (!offsets_.lookup(select.trueValue()) && !offsets_.lookup(select.falseValue())) return;
      Value ifTrue = offsetOf(b, op->loc(), select.trueValue());
      Value ifFalse = offsetOf(b, op->loc(), select.falseValue());
      offsets_[r] = arith::SelectOp::create(b, op->loc(), select.condition(), ifTrue, ifFalse).result();
      return;
    }
    Value from = offsets_.lookup(UnaryOp(op).value());
    if (!from) return;
    if (op->is<tt::BitcastOp>()) {
      offsets_[r] = from;
      return;
    }
    OperationState s(op->opcode(), op->loc());
    s.attrs.assign(op->attrs().begin(), op->attrs().end());
    s.operands.push_back(from);
    s.resultTypes.push_back(offsetType(r));
    offsets_[r] = b.create(s)->result();
  }

  void rewriteLoop(scf::ForOp loop) {
    llvm::SmallVector<unsigned, 4> carriedPointers;
    for (unsigned i = 0; i < numCarried(loop); ++i) {
      auto c = carried(loop, i);
      if (isPointer(c.result) && rootOf(c.argument)) carriedPointers.push_back(i);
    }
    Builder b(loop.op);
    for (unsigned i : carriedPointers) {
      auto c = carried(loop, i);
      c.setInit(offsetOf(b, loop->loc(), c.init));
      carryOffset(Builder::atStart(loop.body().front()), c.argument);
      carryOffset(Builder::after(loop.op), c.result);
    }
    rewriteRegion(loop.body());
    yieldOffsets(loop.body().front()->terminator(), carriedPointers);
  }
  void rewriteBranch(scf::IfOp branch) {
    llvm::SmallVector<unsigned, 4> pointers;
    for (auto r : branch->results())
      if (isPointer(r) && rootOf(r)) pointers.push_back(r.index());
    for (unsigned i : pointers) carryOffset(Builder::after(branch.op), branch->result(i));
    for (auto &r : branch->regions()) {
      rewriteRegion(r);
      if (!pointers.empty()) yieldOffsets(r.front()->terminator(), pointers);
    }
  }
  void yieldOffsets(Operation *yield, llvm::ArrayRef<unsigned> indices) {
    Builder b(yield);
    for (unsigned i : indices) yield->setOperand(i, offsetOf(b, yield->loc(), yield->operand(i)));
  }

  // ---- signs -------------------------------------------------------------------------------------------------------

  /// Marks addresses whose offsets are not negative where there is an access.
  void markSigns() {
    SignAnalysis signs(module_, Overflow::Assumed);
    for (Value v : truncations_) signs.trustTruncation(v);
    function_->walk([&](Operation *op) {
      auto at = pointerOperand(op);
      if (!at || !isPointer(op->operand(*at)) || !smallBuffer(op->operand(*at))) return;
      auto sum = op->operand(*at).definedBy<tt::AddptrOp>();
      if (hasNonNegativeOffset(op->operand(*at)) || !signs.nonNegative(sum.offset())) return;
      sum->setAttr(kNonNegativeOffsetAttr, UnitAttr::get(function_->context()));
      changed_ = true;
    });
  }

  Module &module_;
  Operation *function_;
  llvm::SmallVector<Value, 16> truncations_; // of offsets, made here
  llvm::DenseMap<Value, Value> roots_, offsets_;
  llvm::DenseMap<std::pair<Value, Type>, Value> casts_;
  bool rootsChanged_ = false; // by the current walk of findRoots
  bool changed_ = false;      // the function
};

} // namespace

absl::StatusOr<bool> canonicalizePointers(Module &m, PassContext &) {
  bool changed = false;
  for (auto &op : *m.body())
    if (op.is<tt::FuncOp>() && !op.region(0).empty()) changed |= SmallBuffers(m, &op).run();
  if (changed) eraseDeadOperations(m);
  return changed;
}

} // namespace tessera::transforms
