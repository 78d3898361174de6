// A row that a norm or a softmax normalises is used twice: for its sum, and again for the result, which depends on the
// sum. A group of strip-mine cannot hold both uses, since the sum has to be complete. If the row does not fit into
// registers meanwhile, it is loaded once more: registers that are spilled go to memory and come back, too, and take
// register allocators minutes.
//
//   %x = tt.load %p                         %x = tt.load %p
//   %s = "tt.reduce"(%x)                    %s = "tt.reduce"(%x)
//   %d = tt.splat %s                   →    %d = tt.splat %s
//   %y = arith.divf %x, %d                  %x' = tt.load %p
//   tt.store %q, %y                         %y = arith.divf %x', %d
//                                           tt.store %q, %y
//
// Phases. An operation's phase is the number of reductions of whole blocks, one after the other, that it depends on. An
// operation without effects, or a load, belongs to the phases of those that use it, and is copied for all but the first
// of them. Reductions and operations with effects are in one phase, their own; a block that is made by one of these
// and used in a later phase stays as it is, and with it everything.
//
// Only memory that the kernel does not write is read again, and only before blocks are stored.
#include "transforms/schedule/strip_phases.h"
#include "ir/builder.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/schedule/strip_group.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

namespace tessera::transforms::strips {
using namespace ir;

namespace {

/// Where each phase repeats nearly all before it, the code grows with the square of their number.
constexpr size_t kMostCopies = 8; // of an operation, on average

class Phases {
public:
  Phases(llvm::ArrayRef<Operation *> ops, llvm::function_ref<bool(Value)> mayBeWritten)
      : ops_(ops), mayBeWritten_(mayBeWritten) {
    for (auto *op : ops)
      if (auto load = op->dyn<tt::LoadOp>())
        if (auto t = tensorOrNull(load.result())) most_ = std::max(most_, t.numElements());
  }

  /// Finds the phases; false if no load is in several, or if something cannot be copied that would have to be.
  bool find() {
    if (!most_) return false;
    for (auto *op : ops_) phase_[op] = phaseOf(op);
    bool any = false;
    size_t copies = 0;
    for (auto *op : llvm::reverse(ops_)) {
      std::set<int> in;
      for (auto *user : usersOf(op)) {
        auto it = phases_.find(user);
        if (it != phases_.end())
          in.insert(it->second.begin(), it->second.end());
        else if (mayBeCopied(op))
          return false; // used elsewhere, as a whole
      }
      if (!mayBeCopied(op)) {
        bool isNeededLater = !in.empty() && *in.rbegin() > phase_[op];
        if (isNeededLater && llvm::any_of(op->results(), [&](Value r) { return isBlock(r); })) return false;
        in = {phase_[op]};
      }
      any |= in.size() > 1 && op->is<tt::LoadOp>();
      copies += in.size();
      if (copies > kMostCopies * ops_.size()) return false;
      for (int phase : in) places_[{op, phase}] = phase == *in.begin() ? op : firstOfUsers(op, phase);
      phases_[op] = std::move(in);
    }
    return any && llvm::none_of(ops_, [&](Operation *op) { return op->is<tt::LoadOp>() && isWrittenBeforeAgain(op); });
  }

  /// What the blocks take that are loaded in one phase and used in another, too.
  int64_t registers() const {
    int64_t sum = 0;
    for (auto *op : ops_) {
      auto t = op->is<tt::LoadOp>() && phases_.at(op).size() > 1 ? tensorOrNull(op->result()) : TensorType();
      if (auto n = t ? elementsPerThread(t) : std::nullopt)
        sum += llvm::divideCeil(registerBits(t.element(), *n, 16), 32);
    }
    return sum;
  }

  std::vector<Operation *> separate() {
    std::vector<Operation *> all(ops_.begin(), ops_.end());
    for (auto *op : llvm::reverse(ops_)) {
      auto in = phases_[op];
      if (in.size() < 2) continue;
      for (int phase : llvm::drop_begin(in)) all.push_back(copyFor(op, phase));
    }
    llvm::sort(all, [](auto *a, auto *b) { return a->isBeforeInBlock(b); });
    return all;
  }

private:
  bool isBlock(Value v) const {
    auto t = tensorOrNull(v);
    return t && t.numElements() == most_;
  }
  static llvm::SmallVector<Operation *, 4> usersOf(Operation *op) {
    llvm::SmallVector<Operation *, 4> users;
    for (auto r : op->results())
      for (auto *user : r.users()) users.push_back(user);
    return users;
  }
  /// The first of the operations of a phase that use `op`, before which a copy for them is put.
  Operation *firstOfUsers(Operation *op, int phase) const {
    Operation *first = nullptr;
    for (auto *user : usersOf(op)) {
      auto it = places_.find({user, phase});
      if (it != places_.end() && (!first || it->second->isBeforeInBlock(first))) first = it->second;
    }
    return first;
  }
  /// Whether a block is stored between a load and a repetition. A caller may pass one tensor as two arguments (a
  /// residual that is updated in place): what is loaded before the store must not be loaded after it.
  bool isWrittenBeforeAgain(Operation *load) const {
    const std::set<int> &in = phases_.at(load);
    return llvm::any_of(llvm::drop_begin(in), [&](int phase) {
      return llvm::any_of(ops_, [&](Operation *op) {
        bool storesBlock = op->is<tt::StoreOp>() && isBlock(op->cast<tt::StoreOp>().ptr());
        if (!storesBlock && (op->is<tt::StoreOp>() || !(effectsOf(op) & kWritesGlobal))) return false;
        return phase_.lookup(op) < phase || op->isBeforeInBlock(places_.at({load, phase}));
      });
    });
  }
  bool reducesBlock(Operation *op) const { return op->is<tt::ReduceOp>() && isBlock(op->operand(0)); }
  int phaseOf(Operation *op) const {
    int phase = 0;
    for (auto o : op->operands())
      if (Operation *def = o.definingOp())
        if (auto it = phase_.find(def); it != phase_.end()) phase = std::max(phase, it->second + reducesBlock(def));
    return phase;
  }
  bool mayBeCopied(Operation *op) const {
    if (!op->numResults() || op->numRegions() ||
        !llvm::all_of(op->results(), [](Value r) { return bool(tensorOrNull(r)); }))
      return false;
    if (auto load = op->dyn<tt::LoadOp>())
      return !load.isVolatile() && !(effectsOf(op) & ~kReadsGlobal) && !mayBeWritten_(load.ptr());
    return isPure(op);
  }

  /// A copy for the users of a phase. @pre they have been copied for it.
  Operation *copyFor(Operation *op, int phase) {
    Operation *copy = Builder(firstOfUsers(op, phase)).clone(op);
    phases_[copy] = {phase};
    places_[{op, phase}] = places_[{copy, phase}] = copy;
    llvm::SmallVector<OpOperand *, 8> uses;
    for (auto r : op->results())
      for (auto *use : r.uses())
        if (const std::set<int> &in = phases_[use->owner]; !in.empty() && *in.begin() == phase) uses.push_back(use);
    for (auto *use : uses) use->set(copy->result(use->get().index()));
    return copy;
  }

  llvm::ArrayRef<Operation *> ops_;
  llvm::function_ref<bool(Value)> mayBeWritten_;
  int64_t most_ = 0;                                  // elements of the largest tensor that is loaded
  llvm::DenseMap<Operation *, int> phase_;            // the first in which it can be computed
  llvm::DenseMap<Operation *, std::set<int>> phases_; // those in which it, or a copy, is
  /// What is at the place of an operation, or of its copy, in each of its phases.
  std::map<std::pair<Operation *, int>, Operation *> places_;
};

} // namespace

bool separatePhases(std::vector<Operation *> &ops, int64_t registers, llvm::function_ref<bool(Value)> mayBeWritten) {
  Phases phases(ops, mayBeWritten);
  if (!phases.find() || phases.registers() <= registers) return false;
  ops = phases.separate();
  return true;
}

} // namespace tessera::transforms::strips
