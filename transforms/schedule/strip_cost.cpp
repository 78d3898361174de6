// How many strips a group is worth (see strip_cost.h). The estimate walks the group for each number of strips: a value
// is live from its operation to its last user, and what a reduction carries is live throughout.
#include "transforms/schedule/strip_cost.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/register_pressure.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms::strips {
using namespace ir;

namespace {

/// Registers for so many elements, no more than two in one.
int64_t registersFor(TensorType t, int64_t elements) {
  constexpr int64_t kMinBits = 16;
  if (t.element().isInteger(1)) return 0; // predicates, masks of lanes
  return llvm::divideCeil(registerBits(t.element(), elements, kMinBits), 32);
}

struct Needs {
  int64_t registers = 0;     // the most that the group's tensors take at once
  int64_t carriedStrips = 0; // of those, what only a loop has, for reductions to a scalar
  int64_t work = 0;
};

/// Whether the operation can be done where its results are used, one element after the other.
bool isByElement(Operation *op) { return op->info().has(kElementwise) || op->is<arith::SelectOp>(); }

/// Registers for what the whole block loads and stores, if everything between is computed by element. None if something
/// is not.
std::optional<int64_t> loadedAndStored(const Group &g) {
  int64_t registers = 0;
  for (auto &[op, d] : g.ops) {
    auto store = op->dyn<tt::StoreOp>();
    if (!store && !op->is<tt::LoadOp>() && !isByElement(op)) return std::nullopt;
    if (isByElement(op)) continue;
    Value v = store ? store.value() : op->result();
    auto n = elementsPerThread(v.type());
    if (!n) return std::nullopt;
    registers += registersFor(tensorOf(v), *n);
  }
  return registers;
}

/// What a thread needs for one of so many strips.
std::optional<Needs> needsOf(const Group &g, int64_t strips, const Tuning &tuning) {
  Needs needs;
  llvm::DenseMap<ValueImpl *, int64_t> held;
  llvm::DenseMap<Operation *, llvm::SmallVector<ValueImpl *, 2>> freed;
  int64_t live = 0;
  for (auto &[op, d] : g.ops) {
    int64_t widest = 0;
    if (endsGroup(op, d)) { // its result is carried by the loop
      if (tensorOf(op->operand(0)).dim(d) % strips) return std::nullopt;
      auto source = elementsPerThread(stripType(tensorOf(op->operand(0)), d, strips));
      auto carried = carriedType(op, d, strips);
      auto result = elementsPerThread(carried);
      if (!source || !result) return std::nullopt;
      live += registersFor(carried, *result);
      if (!op->result().type().isTensor()) needs.carriedStrips += registersFor(carried, *result);
      needs.work += *source * costOf(op, tuning).instructions;
      continue;
    }
    for (auto r : op->results()) {
      if (tensorOrNull(r).dim(dims::ofResult(op, d)) % strips) return std::nullopt; // divided by a reshape
      auto t = stripType(tensorOrNull(r), dims::ofResult(op, d), strips);
      auto n = elementsPerThread(t);
      if (!n) return std::nullopt;
      auto inlineAsm = op->dyn<tt::ElementwiseInlineAsmOp>();
      bool splitsPack = inlineAsm && *n % inlineAsm.packedElement();
      if (splitsPack) return std::nullopt;
      widest = std::max(widest, *n);
      // Extensions are done where the value is used, element by element.
      bool widened = op->is<arith::ExtfOp>() || op->is<arith::ExtsiOp>() || op->is<arith::ExtuiOp>();
      held[r.impl()] = registersFor(widened ? tensorOrNull(UnaryOp(op).value()) : t, *n);
      Operation *last = op;
      for (auto *u : r.users())
        if (last->isBeforeInBlock(u)) last = u;
      freed[last].push_back(r.impl());
    }
    needs.work += widest * costOf(op, tuning).instructions;
  }
  for (auto &[op, d] : g.ops) {
    for (auto *v : freed[op])
      if (v->definingOp != op) live -= held[v];
    for (auto r : op->results()) live += held.lookup(r.impl());
    needs.registers = std::max(needs.registers, live);
    for (auto *v : freed[op])
      if (v->definingOp == op) live -= held[v];
  }
  return needs;
}

/// Bytes that the block loads for the group; 0 where strips are not for the sake of other blocks.
int64_t loadedBytes(const Group &g, const Tuning &tuning) {
  int64_t bytes = 0;
  for (auto &[op, d] : g.ops)
    if (auto t = op->is<tt::LoadOp>() ? tensorOrNull(op->result()) : TensorType())
      bytes += t.numElements() * registerBits(t.element(), 1, 8) / 8;
  return tuning.stripBlockBytes ? bytes : 0;
}

} // namespace

bool chooseStrips(Group &g, const Budget &budget, const Tuning &tuning) {
  auto whole = needsOf(g, 1, tuning);
  if (!whole) return false;
  int64_t bytes = loadedBytes(g, tuning);
  int64_t crowding = tuning.stripCrowdingRegisters;
  int64_t before = whole->registers - whole->carriedStrips;
  bool isMuchCode = whole->work > tuning.stripMineWork;
  bool isLarge = before > budget.registers || isMuchCode;
  bool crowdsOut = bytes && before > crowding && bytes >= 2 * tuning.stripBlockBytes;
  if (!isLarge && !crowdsOut) return false;
  g.registersBefore = before;
  g.registersAfter = whole->registers;
  int64_t work = whole->work;
  int64_t enoughRegisters = std::min<int64_t>(tuning.stripRegisters, budget.registers);
  for (int64_t strips = 2; strips <= g.length; strips *= 2) {
    bool isSmall = g.registersAfter <= enoughRegisters && work <= tuning.stripWork;
    bool leavesRoom = g.registersAfter <= crowding / 2 || bytes < strips * tuning.stripBlockBytes;
    if (isLarge ? isSmall : leavesRoom) break;
    // As long as halving a strip about halves what it needs: further on, threads would compute the same elements.
    auto half = needsOf(g, strips, tuning);
    auto saves = [&](int64_t now, int64_t before) { return double(now) <= double(before) * tuning.stripHalvingRatio; };
    if (!half || !saves(half->work, work) || !saves(half->registers, g.registersAfter)) break;
    g.registersAfter = half->registers;
    work = half->work;
    g.strips = strips;
  }
  bool gainsBlock = !budget.ofTwoBlocks || g.registersAfter < budget.ofTwoBlocks;
  if (!gainsBlock && !isMuchCode) {
    auto least = loadedAndStored(g);
    if (least && *least <= budget.registers) return false;
  }
  return g.strips > 1;
}

constexpr int64_t kMaxRegisters = 255; // that an instruction can address, except for AMD's accumulation registers

static int64_t registersOfThread(Operation *module, const TargetInfo *t) {
  if (!t || !t->registersPerScheduler) return kMaxRegisters;
  return std::min<int64_t>(t->registersPerThread(numWarps(module), RegisterSplit::PerScheduler), kMaxRegisters);
}

Budget budgetOf(Operation *module, const TargetInfo *target, const Tuning &tuning) {
  Budget budget;
  budget.registers = registersOfThread(module, target) * tuning.usableRegistersPercent / 100;
  if (target && target->registersPerScheduler)
    budget.ofTwoBlocks = target->registersPerThread(2 * numWarps(module), RegisterSplit::PerScheduler);
  return budget;
}

} // namespace tessera::transforms::strips
