// Pointers into small buffers become the buffer and an offset of 32 bits. Where the caller promises that a kernel's
// argument points at less than 2 GiB (`tt.pointer_range = 32`), whatever is accessed through it lies at an offset
// from 0 to 2^31 bytes, so arithmetic modulo 2^32 suffices, however the program itself computes the address: half the
// registers and half the additions of 64-bit pointers, and addresses of the form that buffer instructions and
// scalar-base addressing take.
//
//   %a = tt.splat %p                                       (%p: argument with tt.pointer_range = 32)
//   %b = tt.addptr %a, %row : tensor<64x1xi64>        →    %r = arith.trunci %row : … to tensor<64x1xi32>
//   %c = tt.broadcast %b                                   %s = tt.broadcast %r
//   %d = tt.addptr %c, %col : tensor<64x32xi32>            %o = arith.addi %s, %col
//   %v = tt.load %d                                        %v = tt.load (tt.addptr (tt.splat %p), %o)
//
// Loops and branches carry the offsets. Every access in the new form says by that form alone that its offset is a
// number of elements modulo 2^32 (smallBuffer in analyses/pointer_root.h), which is how it is lowered.
//
// Limits: pointers that while loops or branches between blocks carry, that come from memory, from several arguments
// or from a pointer cast to elements of another size stay as they are.
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool isPointer(Value v) {
  return v && v.type().scalar().isPointer() && !v.type().scalar().cast<PointerType>().pointee().isTensor();
}
unsigned elementBytes(Type t) { return std::max(1u, t.scalar().cast<PointerType>().pointee().bitWidth() / 8); }
bool keepsAddresses(Operation *op) {
  return op->is<tt::SplatOp>() || op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>() || op->is<tt::ReshapeOp>() ||
         op->is<tt::TransOp>() || op->is<ttg::ConvertLayoutOp>();
}

class SmallBuffers {
public:
  explicit SmallBuffers(Operation *function) : function_(function) {}

  bool run() {
    Block *entry = function_->region(0).front();
    for (auto *a : entry->args())
      if (isPointer(a)) {
        bool small = hasSmallRange(a);
        roots_[a] = small ? Value(a) : Value();
        any_ |= small;
      }
    if (!any_) return false;
    findRoots();
    region(function_->region(0));
    return changed_;
  }

private:
  // ---- where pointers come from
  // -------------------------------------------------------------------------------------- A value without an entry
  // has not been reached yet; a null root is none that helps.

  void meet(Value v, Value root) {
    auto [it, isNew] = roots_.try_emplace(v, root);
    if (isNew || it->second == root || !it->second) {
      moved_ |= isNew;
      return;
    }
    it->second = Value();
    moved_ = true;
  }
  void follow(Value from, Value to) {
    if (auto it = roots_.find(from); it != roots_.end()) meet(to, it->second);
  }
  /// The pointers that op makes, by those that it is given.
  void transfer(Operation *op) {
    if (auto loop = op->dyn<scf::ForOp>()) {
      Block *body = loop.body().front();
      Operation *yield = body->terminator();
      for (unsigned i = 0; i < op->numResults(); ++i) {
        if (!isPointer(op->result(i))) continue;
        follow(loop.initArgs()[i], body->arg(i + 1));
        follow(yield->operand(i), body->arg(i + 1));
        follow(body->arg(i + 1), op->result(i));
      }
      return;
    }
    if (auto branch = op->dyn<scf::IfOp>(); branch && op->numResults()) {
      for (auto *r : {&branch.thenRegion(), &branch.elseRegion()})
        for (unsigned i = 0; i < op->numResults(); ++i)
          if (isPointer(op->result(i))) {
            if (r->hasOneBlock())
              follow(r->front()->terminator()->operand(i), op->result(i));
            else
              meet(op->result(i), {});
          }
      return;
    }
    for (auto r : op->results()) {
      if (!isPointer(r)) continue;
      if (op->is<tt::AddptrOp>()) {
        Type offset = op->operand(1).type().scalar();
        if (offset.isInteger() && offset.bitWidth() > 1)
          follow(op->operand(0), r);
        else
          meet(r, {});
      } else if (keepsAddresses(op))
        follow(op->operand(0), r);
      else if (op->is<tt::BitcastOp>() && isPointer(op->operand(0))) {
        // A cast of the buffer itself may change the unit of offsets: there are none yet.
        if (elementBytes(op->operand(0).type()) == elementBytes(r.type()) || rootOf(op->operand(0)) == op->operand(0))
          follow(op->operand(0), r);
        else
          meet(r, {});
      } else if (op->is<arith::SelectOp>()) {
        follow(op->operand(1), r);
        follow(op->operand(2), r);
      } else
        meet(r, {});
    }
  }
  void findRoots() {
    // Arguments of blocks that are no bodies of loops.
    function_->walk([&](Operation *op) {
      if (op->is<scf::ForOp>()) return;
      for (auto &r : op->regions())
        for (Block *b : r.blocks())
          for (auto *a : b->args())
            if (isPointer(a)) roots_.try_emplace(a, Value());
    });
    do {
      moved_ = false;
      function_->walk([&](Operation *op) {
        if (op != function_) transfer(op);
      });
    } while (moved_);
  }
  /// The argument that v is computed from, or none.
  Value rootOf(Value v) const {
    auto it = roots_.find(v);
    return it == roots_.end() ? Value() : it->second;
  }

  // ---- rewriting ---------------------------------------------------------------------------------------------------

  Type offsetType(Value pointer) const { return pointer.type().withScalar(pointer.type().context()->i32()); }
  Value narrow(Builder &b, Location loc, Value offset) {
    unsigned bits = offset.type().scalar().bitWidth();
    if (bits == 32) return offset;
    if (auto wide = offset.definedBy<arith::ExtsiOp>(); wide && wide->operand(0).type().scalar().isInteger(32))
      return wide->operand(0);
    Type to = offset.type().withScalar(b.context().i32());
    return bits > 32 ? arith::TrunciOp::create(b, loc, to, offset)->result()
                     : arith::ExtsiOp::create(b, loc, to, offset)->result();
  }
  /// The offset of a pointer with a root, made if it is still none.
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

  /// Carried from now on as an offset; users get the pointer made from it.
  void retype(Builder b, Value v) {
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

  void region(Region &r) {
    for (Block *b : r.blocks())
      for (Operation *op = b->front(), *next; op; op = next) {
        next = op->next();
        operation(op);
      }
  }

  void operation(Operation *op) {
    if (auto loop = op->dyn<scf::ForOp>()) return forLoop(op, loop);
    if (auto branch = op->dyn<scf::IfOp>()) return conditional(op, branch);
    for (auto &r : op->regions()) region(r);
    if (op->numResults() == 1 && isPointer(op->result()) && rootOf(op->result())) return arithmetic(op);
    if (!accesses(op)) return;
    Value p = op->operand(0), root = isPointer(p) ? rootOf(p) : Value();
    if (!root) return;
    if (!offsets_.lookup(p) || smallBuffer(p)) return; // no arithmetic, or as it should be
    Builder b(op);
    op->setOperand(0, pointerTo(b, op->loc(), root, offsetOf(b, op->loc(), p), p.type()));
    changed_ = true;
  }

  static bool accesses(Operation *op) {
    return op->is<tt::LoadOp>() || op->is<tt::StoreOp>() || op->is<tt::AtomicRmwOp>() || op->is<tt::AtomicCasOp>();
  }

  /// Makes the offset of the pointer that op makes. An offset of zero is not written down.
  void arithmetic(Operation *op) {
    Value r = op->result();
    if (offsets_.count(r)) return; // made from a carried offset
    Builder b(op);
    if (op->is<tt::AddptrOp>()) {
      Value more = narrow(b, op->loc(), op->operand(1)), from = offsets_.lookup(op->operand(0));
      offsets_[r] = from ? arith::AddiOp::create(b, op->loc(), from, more).result() : more;
      return;
    }
    if (op->is<arith::SelectOp>()) {
      Value x = offsets_.lookup(op->operand(1)), y = offsets_.lookup(op->operand(2));
      if (!x && !y) return;
      x = offsetOf(b, op->loc(), op->operand(1)), y = offsetOf(b, op->loc(), op->operand(2));
      offsets_[r] = arith::SelectOp::create(b, op->loc(), op->operand(0), x, y).result();
      return;
    }
    Value from = offsets_.lookup(op->operand(0));
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

  void forLoop(Operation *op, scf::ForOp loop) {
    Block *body = loop.body().front();
    llvm::SmallVector<unsigned, 4> carried;
    for (unsigned i = 0; i < op->numResults(); ++i)
      if (isPointer(op->result(i)) && rootOf(body->arg(i + 1))) carried.push_back(i);
    Builder b(op);
    unsigned first = op->numOperands() - op->numResults();
    for (unsigned i : carried) {
      op->setOperand(first + i, offsetOf(b, op->loc(), loop.initArgs()[i]));
      retype(Builder::atStart(body), body->arg(i + 1));
      retype(Builder::after(op), op->result(i));
    }
    region(loop.body());
    yield(body->terminator(), carried);
  }
  void conditional(Operation *op, scf::IfOp branch) {
    llvm::SmallVector<unsigned, 4> carried;
    for (unsigned i = 0; i < op->numResults(); ++i)
      if (isPointer(op->result(i)) && rootOf(op->result(i))) carried.push_back(i);
    for (unsigned i : carried) retype(Builder::after(op), op->result(i));
    for (auto &r : op->regions()) {
      region(r);
      if (!carried.empty()) yield(r.front()->terminator(), carried);
    }
  }
  void yield(Operation *end, llvm::ArrayRef<unsigned> carried) {
    Builder b(end);
    for (unsigned i : carried) end->setOperand(i, offsetOf(b, end->loc(), end->operand(i)));
  }

  Operation *function_;
  llvm::DenseMap<Value, Value> roots_, offsets_;
  llvm::DenseMap<std::pair<Value, Type>, Value> casts_;
  bool any_ = false, moved_ = false, changed_ = false;
};

} // namespace

absl::StatusOr<bool> canonicalizePointers(Module &m, PassContext &) {
  bool changed = false;
  for (auto &op : *m.body())
    if (op.is<tt::FuncOp>() && !op.region(0).empty()) changed |= SmallBuffers(&op).run();
  if (changed) eraseDeadOperations(m);
  return changed;
}

} // namespace tessera::transforms
