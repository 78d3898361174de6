// How values and dots are connected (see dots.h).
#include "transforms/analyses/dots.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"
#include "layouts/infer.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cassert>

namespace tessera::transforms {
using namespace ir;

static bool isElementwiseOrConversion(Operation *op) {
  return op->info().has(kElementwise) || op->is<ttg::ConvertLayoutOp>() || op->is<arith::SelectOp>();
}
static bool isInPlace(Operation *op) { return isElementwiseOrConversion(op) && op->numResults() == 1; }
static bool isOnWayToOperand(Operation *op) {
  bool rearranges = op->is<ttg::ConvertLayoutOp>() || op->is<tt::TransOp>() || op->is<tt::ReshapeOp>();
  return (op->info().has(kElementwise) || rearranges) && op->numResults() == 1;
}

const DotPath kInPlace = {isInPlace, /*oneShape=*/true, /*throughLoops=*/false};
const DotPath kTowardsStore = {isElementwiseOrConversion, /*oneShape=*/false, /*throughLoops=*/true};
const DotPath kFromLoad = {isOnWayToOperand, /*oneShape=*/false, /*throughLoops=*/false};

static bool mayFollow(Value from, Value to, const DotPath &path) {
  return to.type().isTensor() && (!path.oneShape || tensorOf(to).shape() == tensorOf(from).shape());
}

static bool comesFromDot(Value v, const DotPath &path, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = v.definingOp();
  if (!op || !v.type().isTensor() || !seen.insert(op).second) return false;
  if (op->is<tt::DotOp>() || op->is<tt::DotScaledOp>()) return true;
  if (path.throughLoops)
    if (auto loopResult = carriedByResult(v)) return comesFromDot(loopResult->yielded, path, seen);
  if (!path.mayLieBetween(op)) return false;
  return llvm::any_of(op->operands(), [&](Value o) { return mayFollow(v, o, path) && comesFromDot(o, path, seen); });
}
bool comesFromDot(Value v, const DotPath &path) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  return comesFromDot(v, path, seen);
}

static unsigned dotOperandsFedBy(Value v, const DotPath &path, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(v).second) return kNoOperand;
  unsigned found = kNoOperand;
  for (Operation *user : v.users()) {
    if (auto dot = user->dyn<tt::DotOp>()) {
      if (dot.a() == v) found |= kOperandA;
      if (dot.b() == v) found |= kOperandB;
    } else if (path.mayLieBetween(user) && mayFollow(v, user->result(), path)) {
      found |= dotOperandsFedBy(user->result(), path, seen);
    }
  }
  return found;
}
unsigned dotOperandsFedBy(Value v, const DotPath &path) {
  assert(!path.throughLoops && "loops are followed upwards only");
  llvm::DenseSet<Value> seen;
  return dotOperandsFedBy(v, path, seen);
}

static bool feedsDotOrBuffer(Value v, const DotPath &path, llvm::SmallPtrSetImpl<Operation *> &seen) {
  return llvm::any_of(v.users(), [&](Operation *user) {
    if (!seen.insert(user).second) return false;
    if (user->is<tt::DotOp>() || user->is<tt::DotScaledOp>() || user->is<ttg::LocalAllocOp>()) return true;
    return path.mayLieBetween(user) && mayFollow(v, user->result(), path) &&
           feedsDotOrBuffer(user->result(), path, seen);
  });
}
bool feedsDotOrBuffer(Value v, const DotPath &path) {
  assert(!path.throughLoops && "loops are followed upwards only");
  llvm::SmallPtrSet<Operation *, 16> seen;
  return feedsDotOrBuffer(v, path, seen);
}

bool isLargeFmaOperand(Type type, const TargetInfo &target) {
  if (target.hasScheduleBarriers) return false;
  auto t = type.dyn_cast<TensorType>();
  auto *operand = t ? layouts::dynCast<layouts::DotOperandEncoding>(t.encoding()) : nullptr;
  if (!operand || !layouts::dynCast<layouts::BlockedEncoding>(operand->parent())) return false;
  auto layout = operand->toLinearLayout(t.shape());
  if (!layout.ok()) return false;
  int64_t registers = layout->inDimSize(layouts::Dim::Register) * t.element().bitWidth() / kWordBits;
  return registers * 100 > target.maxRegistersPerThread * target.tuning.fmaBufferReadsPercent;
}

bool isScaleOf(Value v, tt::DotScaledOp dot) { return v == dot.aScale() || v == dot.bScale(); }

DotChain chainOf(tt::DotOp dot) {
  DotChain chain;
  chain.to = dotOperandsFedBy(dot.d(), kInPlace);
  if (comesFromDot(dot.a(), kInPlace)) chain.from |= kOperandA;
  if (comesFromDot(dot.b(), kInPlace)) chain.from |= kOperandB;
  return chain;
}

Value beforeConversions(Value v) {
  while (auto c = v.definedBy<ttg::ConvertLayoutOp>()) v = c.src();
  return v;
}

bool addsOutsideOfInstruction(ttng::WarpGroupDotOp dot) {
  auto b = dot.b().type().cast<MemDescType>();
  bool isFloat8 = b.element().bitWidth() == 8 && dot.d().type().scalar().isFloat();
  return isFloat8 && dot.maxNumImpreciseAcc() <= b.dim(0);
}

bool renamesRegisters(Operation &op) {
  if (op.is<tt::TransOp>()) return true;
  auto c = op.dyn<ttg::ConvertLayoutOp>();
  return c && layouts::sameLayout(encodingOf(c.src()), encodingOf(c.result()), tensorOf(c.src()).shape());
}

bool isLoopBodyWithDot(Block *b) {
  return b->parentOp()->is<scf::ForOp>() && llvm::any_of(*b, [](Operation &op) { return isDot(&op); });
}

bool isLoad(const Operation *op) { return op->is<tt::LoadOp>() || op->is<tt::DescriptorLoadOp>(); }

/// Whether the operation is in the block, or in branches of it.
static bool isInBodyOrBranch(Operation *op, const Block &body) {
  while (op->block() != &body && op->parentOp() && op->parentOp()->is<scf::IfOp>()) op = op->parentOp();
  return op->block() == &body;
}

llvm::SmallVector<Operation *, 4> loadsFeedingDots(Block &body) {
  llvm::DenseSet<Operation *> seen;
  llvm::DenseSet<Operation *> loads;
  llvm::DenseSet<Value> branches;
  llvm::SmallVector<Value, 16> work;
  for (auto &op : body) {
    if (auto dot = op.dyn<tt::DotOp>()) work.append({dot.a(), dot.b()});
    if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) work.append({dot.a(), dot.b()});
    if (auto dot = op.dyn<tt::DotScaledOp>()) {
      work.append({dot.a(), dot.b()});
      for (Value scale : {dot.aScale(), dot.bScale()})
        if (scale) work.push_back(scale);
    }
  }
  while (!work.empty()) {
    Value v = work.pop_back_val();
    Operation *def = v.definingOp();
    if (!def || !isInBodyOrBranch(def, body) || isDot(def)) continue;
    // Of a branch each result for itself.
    if (auto branch = def->dyn<scf::IfOp>()) {
      if (!branches.insert(v).second) continue;
      for (auto &r : def->regions())
        if (r.hasOneBlock()) work.push_back(r.front()->terminator()->operand(v.index()));
      continue;
    }
    if (!seen.insert(def).second) continue;
    if (!isLoad(def)) {
      if (!def->numRegions()) work.append(def->operands().begin(), def->operands().end());
    } else if (def->block() == &body) {
      loads.insert(def);
    }
  }
  llvm::SmallVector<Operation *, 4> ordered;
  for (auto &op : body)
    if (loads.contains(&op)) ordered.push_back(&op);
  return ordered;
}

/// Tensors that cost nothing to have in another layout: scalars and constants spread over a tensor.
static bool isSpread(Operation *op) {
  return op && (op->is<tt::BroadcastOp>() || op->is<tt::SplatOp>() || op->is<arith::ConstantOp>());
}

bool isComputedFromOneLoad(Value v, Block *body) {
  if (!body->parentOp()->is<scf::ForOp>()) return false;
  bool computed = false;
  unsigned width = v.type().scalar().bitWidth();
  for (v = beforeConversions(v);; computed = true) {
    Operation *def = v.definingOp();
    if (!def || def->block() != body) return false;
    if (isLoad(def)) return computed && v.type().scalar().bitWidth() >= width;
    if (!isInPlace(def) || !isPure(def)) return false;
    Value large; // the one operand that is made by the body and not spread
    for (auto o : def->operands()) {
      Operation *of = beforeConversions(o).definingOp();
      bool madeOutside = of && of->block() != body;
      if (!o.type().isTensor() || isSpread(of) || madeOutside) continue;
      if (large && large != o) return false;
      large = o;
    }
    if (!large) return false;
    v = beforeConversions(large);
  }
}

static std::optional<unsigned> widestLoadedBits(Value v, Block *body, int depth) {
  constexpr int kMaxDepth = 16;
  v = beforeConversions(v);
  Operation *def = v.definingOp();
  if (!def || def->block() != body || depth > kMaxDepth) return std::nullopt;
  if (isLoad(def)) return bitsOf(v);
  if (auto t = def->dyn<tt::TransOp>()) return widestLoadedBits(t.src(), body, depth + 1);
  if (!isInPlace(def) || !isPure(def)) return std::nullopt;
  std::optional<unsigned> bits;
  for (auto o : def->operands()) {
    bool isCondition = o.type().isTensor() && o.type().scalar().bitWidth() == 1;
    if (!o.type().isTensor() || isCondition || isSpread(beforeConversions(o).definingOp())) continue;
    auto ofOperand = widestLoadedBits(o, body, depth + 1);
    if (!ofOperand) return std::nullopt;
    bits = std::max(bits.value_or(0), *ofOperand);
  }
  return bits;
}
std::optional<unsigned> widestLoadedBits(Value v, Block *body) { return widestLoadedBits(v, body, 0); }

} // namespace tessera::transforms
