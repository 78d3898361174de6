// The estimate of register pressure (see register_pressure.h).
#include "transforms/analyses/register_pressure.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/layout_order.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

std::optional<int64_t> elementsPerThread(Type t) {
  auto type = t.dyn_cast<TensorType>();
  if (!type) return 1;
  if (!type.encoding()) return std::nullopt;
  return layouts::elementsPerThread(type.encoding(), type.shape());
}

int64_t registerBits(Type element, int64_t elements, int64_t least) {
  return elements * std::max<int64_t>(least, element.bitWidth());
}

int64_t registersOf(Value v) {
  auto type = v.type().dyn_cast<TensorType>();
  if (!type || type.element().isPointer() || type.element().bitWidth() == 1) return 0;
  if (Operation *op = v.definingOp()) {
    bool isRecomputed = makesAnyLayout(op) || op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>();
    // Integers are data if they come from memory, a conversion or a dot; else they are indices.
    bool isIndex = !type.element().isFloat() && op->info().has(kElementwise);
    if (isRecomputed || isIndex) return 0;
  }
  return registerBits(type.element(), elementsPerThread(type).value_or(0)) / 32;
}

int64_t usableRegisters(const TargetInfo &target, int64_t warps) {
  int64_t registers = target.maxRegistersPerThread;
  if (target.tuning.loadRegistersByBlockSize) registers = target.registersPerThread(warps, RegisterSplit::Evenly);
  return registers * target.tuning.usableRegistersPercent / 100;
}

RegisterPressure::RegisterPressure(Operation *function, int64_t (*registers)(Value), bool separatesBranches)
    : separatesBranches_(separatesBranches) {
  taken_.push_back(0);
  number(function);
  function->walk([&](Operation *op) {
    for (auto r : op->results()) count(r, registers(r));
    for (auto &region : op->regions())
      for (auto *b = region.front(); b; b = b->next())
        for (auto *a : b->args()) count(Value(a), registers(Value(a)));
  });
  for (size_t i = 1; i < taken_.size(); ++i) taken_[i] += taken_[i - 1];
}

void RegisterPressure::number(Operation *op) {
  begins_[op] = unsigned(taken_.size());
  taken_.push_back(0);
  for (auto &r : op->regions())
    for (auto *b = r.front(); b; b = b->next())
      for (auto &inner : *b) number(&inner);
  ends_[op] = unsigned(taken_.size());
  taken_.push_back(0);
}

void RegisterPressure::count(Value v, int64_t registers) {
  if (!registers) return;
  Operation *holder = v.definingOp() ? v.definingOp() : v.ownerBlock()->parentOp();
  unsigned from = v.definingOp() ? ends_.lookup(holder) : begins_.lookup(holder);
  unsigned to = from;
  for (auto *user : v.users()) {
    to = std::max(to, begins_.lookup(user));
    // The value lives to the end of a loop around its use that it is not defined in: the loop iterates again.
    for (Operation *p = user->parentOp(); p && p->parentRegion() && p != holder && !p->is<tt::FuncOp>();
         p = p->parentOp())
      if (isLoop(p) && begins_.lookup(p) > from) to = std::max(to, ends_.lookup(p));
  }
  taken_[from] += registers;
  if (to + 1 < taken_.size()) taken_[to + 1] -= registers;
  if (separatesBranches_) excludeOtherBranches(v, registers, from, to);
}

int64_t RegisterPressure::highest(Operation *first, Operation *last) const {
  auto from = taken_.begin() + begins_.lookup(first), to = taken_.begin() + ends_.lookup(last) + 1;
  return from < to ? *std::max_element(from, to) : 0;
}

/// Between `from` and `to`, a value is not live in the first branch of an `scf.if` after its last use there, if only
/// the second branch uses it later.
void RegisterPressure::excludeOtherBranches(Value v, int64_t registers, unsigned from, unsigned to) {
  llvm::SmallVector<Operation *, 2> done;
  for (auto *user : v.users())
    for (Operation *p = user->parentOp(); p && begins_.lookup(p) > from; p = p->parentOp()) {
      if (!p->is<scf::IfOp>() || ends_.lookup(p) < to || llvm::is_contained(done, p)) continue;
      done.push_back(p);
      Block *first = p->region(0).front();
      unsigned begin = begins_.lookup(first->front());
      unsigned end = ends_.lookup(first->back());
      // Up to its last use in this branch, or the end of the loop of that use, it is live.
      for (auto *other : v.users())
        for (Operation *o = other; o && o != p; o = o->parentOp())
          if (unsigned at = o == other ? begins_.lookup(o) : ends_.lookup(o);
              begins_.lookup(o) >= begins_.lookup(first->front()) && at <= end)
            begin = std::max(begin, at + 1);
      if (begin > end) continue;
      taken_[begin] -= registers;
      taken_[end + 1] += registers;
      return; // the outer ones would exclude the same places again
    }
}

/// What is read from shared memory for operations of the same block costs nothing: it can be read in parts, just before
/// its use. What a loop uses again and again is held.
static int64_t heldRegistersOf(Value v) {
  auto load = v.definedBy<ttg::LocalLoadOp>();
  auto isBeside = [&](Operation *user) { return user->block() == v.definingOp()->block(); };
  bool isReadInParts = load && llvm::all_of(v.users(), isBeside);
  return isReadInParts ? 0 : registersOf(v);
}

int64_t holdableRegisters(const TargetInfo &target, int64_t warps) {
  int64_t registers = target.registersPerThread(warps, RegisterSplit::Allocated);
  return registers * target.tuning.heldRegistersPercent / 100;
}

static int64_t heldRegisters(Operation *function, bool inLoopsOnly) {
  RegisterPressure pressure(function, heldRegistersOf, /*separatesBranches=*/true);
  int64_t most = 0;
  auto place = [&](int64_t registers) { most = std::max(most, registers); };
  function->walk([&](Operation *op) {
    if (isDot(op) && (!inLoopsOnly || isInLoop(op))) {
      place(pressure.before(op));
      place(pressure.after(op));
    }
    if (!isLoop(op)) return;
    for (auto &region : op->regions()) {
      place(pressure.before(region.front()->front()));
      place(pressure.before(region.front()->back()));
    }
  });
  return most;
}

int64_t heldRegisters(Operation *function) { return heldRegisters(function, /*inLoopsOnly=*/false); }
int64_t heldRegistersInLoops(Operation *function) { return heldRegisters(function, /*inLoopsOnly=*/true); }

} // namespace tessera::transforms
