// Pass strip-mine: elementwise work on a block that does not fit a thread's registers is done strip by strip in a loop.
// Operations are lowered one by one for the whole block, so that between the loads and the stores every element is live
// at once: with more elements than registers, that means spills, and seconds to minutes for register allocators.
// Runs: NVIDIA and AMD pipelines.
//
//   %i = tt.make_range {start = 0, end = 65536}          scf.for %s = 0 to 65536 step 2048 {
//   %p = tt.addptr %x, %i                                  %r = tt.make_range {start = 0, end = 2048}
//   %v = tt.load %p                                  →     %i = arith.addi %r, splat(%s)
//   %w = math.exp %v                                       …
//   tt.store %q, %w                                        tt.store %q', %w'
//                                                        }
//
// Segments. A block is divided at operations that must stay where they are (terminators, barriers, calls, atomics that
// order other accesses, …); everything below happens within a segment.
//
// Groups. A group consists of stores, or reductions to a scalar, with their operands, back to loads and ranges, and all
// other uses of those. It is cut along one dimension of its tensors, if each of its operations works on the elements
// along that dimension independently (reductions and scans along another dimension do, too), and nothing else uses its
// results. Index arithmetic is not part of groups: it is recomputed for every strip. Layouts do not change: a strip has
// the same layout in fewer registers.
//
// A block of many warps whose threads fit, but take so many registers that few warps are resident, is cut as well, as
// long as a strip loads enough for its block to hide the latency: while one block computes, another loads.
//
// Reductions along the cut dimension itself end a group, if they combine by one operation: the loop carries what it has
// of their results, each strip adds to it, and what uses the results moves behind the loop (the gradients of a norm:
// those of the rows are stored, those of the weights are sums over the rows). What other threads have of the dimension
// is added once, after the loop (optimize-thread-locality, which runs again).
//
//   %s = "tt.reduce"(%v) <{axis = 0}> {addf}             %s = scf.for … iter_args(%a = -0.0) {
//   %t = arith.addf %carried, %s                   →       %r = "tt.reduce"(%v') <{axis = 0}> {addf}
//   tt.store %q, %v                                        %b = arith.addf %a, %r
//                                                          tt.store %q', %v'
//                                                          scf.yield %b
//                                                        }
//                                                        %t = arith.addf %carried, %s
//
// A reduction to a scalar is carried as a strip, to which the others are added element by element, and which is reduced
// after the loop.
//
// Order of accesses. Loads of a later strip come after stores of an earlier one. So every access that moves must reach
// other memory than any store around it (Triton's contract about arguments, see memoryArgument), or use the very same
// pointers, no two of which are equal.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/reduction.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr int64_t kMaxRegisters = 255; // that an instruction can address, except for AMD's accumulation registers

constexpr int kWhole = -1; // in place of a dimension: not cut

/// The type of a strip: a `strips`-th along the dimension.
TensorType stripType(TensorType t, int dim, int64_t strips) {
  llvm::SmallVector<int64_t, 4> shape(t.shape());
  shape[dim] /= strips;
  return TensorType::get(shape, t.element(), t.encoding());
}

/// Registers for so many elements, no more than two in one.
int64_t registersFor(TensorType t, int64_t elements) {
  constexpr int64_t kMinBits = 16;
  if (t.element().isInteger(1)) return 0; // predicates, masks of lanes
  return llvm::divideCeil(registerBits(t.element(), elements, kMinBits), 32);
}

/// Loads, stores and atomics that strips are made of.
bool accessesMemory(Operation *op) {
  return op->is<tt::LoadOp>() || op->is<tt::StoreOp>() || op->is<tt::AtomicRmwOp>();
}
/// @pre accessesMemory(op)
bool writesMemory(Operation *op) { return !op->is<tt::LoadOp>(); }
/// @pre accessesMemory(op)
Value pointerOf(Operation *op) { return op->cast<GlobalAccessOp>().ptr(); }
bool isRelaxedAtomic(Operation *op) {
  auto rmw = op->dyn<tt::AtomicRmwOp>();
  return rmw && rmw.sem() == MemSemantic::Relaxed;
}

/// How the dimensions of an operation's operands and results correspond. Each operation has one dimension that it is
/// cut along: that of its result, or of its operands if it removes a dimension or has no result.
namespace dims {

/// The dimension that a reshape divides into two, by which a part of a reduction stays in a thread
/// (optimize-thread-locality); kWhole: it does something else. Strips are cut along the first of the two.
int dividedBy(tt::ReshapeOp r) {
  auto from = tensorOf(r.src()).shape(), to = tensorOf(r.result()).shape();
  if (r.allowReorder() || to.size() != from.size() + 1) return kWhole;
  int d = 0;
  while (d < int(from.size()) && from[d] == to[d]) ++d;
  bool divides = d < int(from.size()) && from[d] == to[d] * to[d + 1] && from.drop_front(d + 1) == to.drop_front(d + 2);
  return divides ? d : kWhole;
}

/// Whether strips may contain the operation.
bool isKnown(Operation *op) {
  switch (op->opcode()) {
  case Opcode::tt_load:
  case Opcode::tt_store: {
    auto pointers = tensorOrNull(pointerOf(op));
    return pointers && pointers.encoding();
  }
  case Opcode::tt_atomic_rmw: return bool(tensorOrNull(pointerOf(op)));
  case Opcode::tt_splat:
  case Opcode::tt_make_range:
  case Opcode::tt_expand_dims:
  case Opcode::tt_broadcast:
  case Opcode::tt_trans:
  case Opcode::tt_join:
  case Opcode::tt_split:
  case Opcode::arith_constant:
  case Opcode::ttg_convert_layout: return true;
  case Opcode::tt_reshape: return dividedBy(tt::ReshapeOp(op)) != kWhole;
  case Opcode::tt_reduce:
  case Opcode::tt_scan:
  case Opcode::arith_select:
  case Opcode::tt_elementwise_inline_asm: return isPure(op);
  default: return op->info().has(kElementwise) && isPure(op);
  }
}

/// The operand's dimension, from the operation's.
int ofOperand(Operation *op, unsigned operand, int d) {
  auto t = tensorOrNull(op->operand(operand));
  if (!t) return kWhole;
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d > int(e.axis()) ? d - 1 : d;
  if (op->is<tt::BroadcastOp>() && t.dim(d) == 1) return kWhole;
  if (auto trans = op->dyn<tt::TransOp>()) return int(trans.order()[d]);
  if (auto r = op->dyn<tt::ReshapeOp>()) return d > dividedBy(r) ? d - 1 : d;
  return d;
}
/// The results' dimension, from the operation's.
int ofResult(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d > int(r.axis()) ? d - 1 : d;
  return d;
}
/// The operation's dimension, from that of its operands.
int fromOperand(Operation *op, int d) {
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d >= int(e.axis()) ? d + 1 : d;
  if (auto trans = op->dyn<tt::TransOp>()) return int(llvm::find(trans.order(), d) - trans.order().begin());
  if (auto r = op->dyn<tt::ReshapeOp>()) return d > dividedBy(r) ? d + 1 : d;
  return d;
}
/// The operation's dimension, from that of its results.
int fromResult(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d >= int(r.axis()) ? d + 1 : d;
  return d;
}
/// Whether the elements along the dimension are computed independently of each other.
bool areIndependent(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d != int(r.axis());
  if (auto s = op->dyn<tt::ScanOp>()) return d != int(s.axis());
  if (op->is<tt::JoinOp>()) return d + 1 < int(tensorOrNull(op->result()).rank());
  if (auto s = op->dyn<tt::SplitOp>()) return d + 1 < int(tensorOrNull(s.src()).rank());
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d != int(e.axis()); // the operand has no such dimension
  if (auto r = op->dyn<tt::ReshapeOp>()) return d != dividedBy(r) + 1;
  if (op->is<arith::ConstantOp>()) return splatBits(op->attr("value"));
  if (op->is<tt::MakeRangeOp>()) return tensorOrNull(op->result()).element().bitWidth() == 32;
  return true;
}

} // namespace dims

/// Whether the operation, cut along the dimension, reduces it.
bool endsGroup(Operation *op, int d) {
  auto r = op->dyn<tt::ReduceOp>();
  return r && int(r.axis()) == d;
}

/// Whether a reduction can be computed strip by strip.
bool canBeAccumulated(tt::ReduceOp r) {
  if (r->numOperands() != 1) return false;
  Operation *combine = combination(r.op);
  return combine && neutralBits(combine->opcode(), r->result().type().scalar());
}

/// The type of the loop-carried value of a reduction that ends a group: its result's, or a strip's if that is a scalar.
TensorType carriedType(Operation *reduce, int d, int64_t strips) {
  auto result = tensorOrNull(reduce->result());
  return result ? result : stripType(tensorOf(reduce->operand(0)), d, strips);
}

/// The tensor along whose dimensions a group may be cut that has the operation as its last one: a store's pointers, or
/// what is reduced to a scalar. Null for other operations.
TensorType cutFrom(Operation *op) {
  if (accessesMemory(op)) return writesMemory(op) ? tensorOrNull(pointerOf(op)) : TensorType();
  bool isToScalar = op->is<tt::ReduceOp>() && op->numOperands() == 1 && !op->result().type().isTensor();
  return isToScalar ? tensorOf(op->operand(0)) : TensorType();
}

/// Stores, or reductions to a scalar, with all that is cut together with them.
struct Group {
  llvm::MapVector<Operation *, int> ops; // with the dimension that each is cut along (see dims)
  int64_t length = 0;                    // of that dimension, in the stored tensors
  int64_t strips = 1;
  int64_t registersBefore = 0; // that a thread needs at once for the whole block
  int64_t registersAfter = 0;  // … for a strip
};

/// The operations before the group's last one that use reductions which end the group: they move behind the loop. None
/// if one of them must stay, or the group itself uses such a reduction. @pre g.ops are in the order of the block
std::optional<llvm::SmallVector<Operation *, 4>> usersOfEnds(const Group &g) {
  llvm::DenseSet<Operation *> ends;
  llvm::SmallVector<Operation *, 4> users;
  Operation *after = g.ops.back().first->next();
  for (Operation *op = g.ops.front().first; op != after; op = op->next()) {
    bool usesEnd =
        llvm::any_of(op->operands(), [&](Value v) { return v.definingOp() && ends.contains(v.definingOp()); });
    auto found = g.ops.find(op);
    bool isInGroup = found != g.ops.end();
    if (usesEnd && (isInGroup || !isPure(op) || op->numRegions())) return std::nullopt;
    if (usesEnd) users.push_back(op);
    if (usesEnd || (isInGroup && endsGroup(op, found->second))) ends.insert(op);
  }
  return users;
}

/// Operations of a block between two that must stay where they are.
class Segment {
public:
  using GetAxisInfo = llvm::function_ref<const AxisInfoAnalysis &()>; // computes it at the first call

  Segment(llvm::ArrayRef<Operation *> ops, int64_t registers, const Tuning &tuning, GetAxisInfo axis)
      : ops_(ops), registers_(registers), tuning_(tuning), axis_(axis) {
    inSegment_.insert(ops.begin(), ops.end());
  }

  std::vector<Group> groups() {
    std::vector<Group> all;
    llvm::DenseSet<Operation *> done;
    for (auto *root : ops_) {
      if (!cutFrom(root) || done.count(root)) continue;
      auto g = bestGroup(root);
      if (!g) continue;
      // Values that another group uses as a whole may belong to that group along another dimension.
      if (llvm::any_of(g->ops, [&](auto &op) { return done.contains(op.first); })) {
        failed_.insert(g->ops.begin(), g->ops.end());
        continue;
      }
      for (auto &[op, d] : g->ops) done.insert(op);
      all.push_back(std::move(*g));
    }
    if (!all.empty()) collectAccesses();
    llvm::erase_if(all, [&](const Group &g) { return !mayMove(g); });
    return all;
  }

private:
  std::optional<Group> bestGroup(Operation *root) {
    std::optional<Group> best;
    TensorType type = cutFrom(root);
    for (int d = 0; d < int(type.rank()); ++d) {
      Group g;
      g.length = type.dim(d);
      if (!collect(g, root, d) || !chooseStrips(g)) {
        failed_.insert(g.ops.begin(), g.ops.end());
        continue;
      }
      if (!best || g.registersAfter < best->registersAfter) best = std::move(g);
    }
    return best;
  }

  // ---- groups ----

  /// Adds everything that must be cut together with `root` along dimension `d`; false if that is not possible.
  bool collect(Group &g, Operation *root, int d) {
    llvm::SmallVector<std::pair<Operation *, int>, 16> list{{root, d}};
    llvm::SmallVector<Value, 8> whole; // used as a whole by the group
    while (!list.empty()) {
      auto [op, dim] = list.pop_back_val();
      auto [it, isNew] = g.ops.insert({op, dim});
      if (!isNew) {
        if (it->second != dim) return false;
        continue;
      }
      // The group of an operation is the same from whichever of its operations one starts.
      if (failed_.contains({op, dim})) return false;
      bool isEnd = endsGroup(op, dim);
      if (!inSegment_.count(op) || !dims::isKnown(op)) return false;
      if (isEnd ? !canBeAccumulated(tt::ReduceOp(op)) : !dims::areIndependent(op, dim)) return false;
      for (unsigned i = 0; i < op->numOperands(); ++i) {
        Value v = op->operand(i);
        int along = dims::ofOperand(op, i, dim);
        if (along == kWhole) {
          whole.push_back(v);
        } else if (isBroadcastFromOutside(v, along)) {
          whole.push_back(v.definingOp()->operand(0)); // a strip broadcasts it again
        } else if (!isIndex(v)) {
          if (!v.definingOp()) return false;
          list.push_back({v.definingOp(), dims::fromResult(v.definingOp(), along)});
        } else if (!indexMayBeCut(v, along))
          return false;
      }
      if (isEnd) continue;
      for (auto r : op->results()) {
        if (!tensorOrNull(r) && !r.useEmpty()) return false;
        for (auto *use : r.uses()) {
          if (!inSegment_.count(use->owner) || !dims::isKnown(use->owner)) return false;
          list.push_back({use->owner, dims::fromOperand(use->owner, dims::ofResult(op, dim))});
        }
      }
    }
    if (llvm::any_of(whole, [&](Value v) { return v.definingOp() && g.ops.count(v.definingOp()); })) return false;
    llvm::SmallVector<std::pair<Operation *, int>, 32> sorted(g.ops.begin(), g.ops.end());
    llvm::sort(sorted, [](auto &a, auto &b) { return a.first->isBeforeInBlock(b.first); });
    g.ops.clear();
    for (auto &e : sorted) g.ops.insert(e);
    return usersOfEnds(g).has_value();
  }

  /// Whether all elements along the dimension are the same ones of a smaller tensor from outside of the segment, such
  /// as a row of weights that is loaded before a loop.
  bool isBroadcastFromOutside(Value v, int along) {
    auto b = v.definedBy<tt::BroadcastOp>();
    return b && !inSegment_.count(b.op) && dims::ofOperand(b.op, 0, along) == kWhole;
  }

  /// Whether a tensor is computed from ranges, constants and scalars by arithmetic of indices, addresses and masks,
  /// which is cheap to recompute and takes, most of it, no registers.
  bool isIndex(Value v) { return indexSteps(v, 0) <= tuning_.stripIndexSteps; }

  /// The length of the longest chain of operations from a range, constant or scalar to an index; more than
  /// stripIndexSteps if the value is no index.
  int indexSteps(Value v, int depth) {
    const int none = int(tuning_.stripIndexSteps) + 1;
    auto [it, isNew] = indexSteps_.try_emplace(v, none);
    if (!isNew) return it->second;
    Operation *op = v.definingOp();
    if (!op || !tensorOrNull(v) || depth >= none) return none;
    switch (op->opcode()) {
    case Opcode::tt_make_range:
    case Opcode::tt_splat:
    case Opcode::arith_constant:
    case Opcode::tt_expand_dims:
    case Opcode::tt_broadcast:
    case Opcode::tt_addptr:
    case Opcode::arith_addi:
    case Opcode::arith_subi:
    case Opcode::arith_muli:
    case Opcode::arith_extsi:
    case Opcode::arith_extui:
    case Opcode::arith_cmpi:
    case Opcode::arith_andi:
    case Opcode::arith_ori:
    case Opcode::ttg_convert_layout: break;
    default: return none;
    }
    int steps = 1;
    for (auto x : op->operands())
      if (tensorOrNull(x) && steps < none) steps = std::max(steps, 1 + indexSteps(x, depth + 1));
    return indexSteps_[v] = std::min(steps, none);
  }

  bool indexMayBeCut(Value v, int along) {
    auto [it, isNew] = mayBeCut_.try_emplace({v, along}, true);
    if (!isNew) return it->second;
    Operation *op = v.definingOp();
    int d = dims::fromResult(op, along);
    bool may = dims::areIndependent(op, d);
    for (unsigned i = 0; may && i < op->numOperands(); ++i) {
      int x = dims::ofOperand(op, i, d);
      may = x == kWhole || indexMayBeCut(op->operand(i), x);
    }
    return mayBeCut_[{v, along}] = may;
  }

  // ---- how many strips ----

  struct Needs {
    int64_t registers = 0;     // the most that the group's tensors take at once
    int64_t carriedStrips = 0; // of those, what only a loop has, for reductions to a scalar
    int64_t work = 0;
  };

  /// What a thread needs for one of so many strips.
  std::optional<Needs> needsOf(const Group &g, int64_t strips) {
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
        needs.work += *source * costOf(op, tuning_).instructions;
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
      needs.work += widest * costOf(op, tuning_).instructions;
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
  int64_t loadedBytes(const Group &g) const {
    int64_t bytes = 0;
    for (auto &[op, d] : g.ops)
      if (auto t = op->is<tt::LoadOp>() ? tensorOrNull(op->result()) : TensorType())
        bytes += t.numElements() * registerBits(t.element(), 1, 8) / 8;
    return tuning_.stripBlockBytes ? bytes : 0;
  }

  bool chooseStrips(Group &g) {
    auto whole = needsOf(g, 1);
    if (!whole) return false;
    int64_t bytes = loadedBytes(g), most = tuning_.stripCrowdingRegisters;
    int64_t before = whole->registers - whole->carriedStrips;
    bool isLarge = before > registers_ || whole->work > tuning_.stripMineWork;
    bool crowdsOut = bytes && before > most && bytes >= 2 * tuning_.stripBlockBytes;
    if (!isLarge && !crowdsOut) return false;
    g.registersBefore = before;
    g.registersAfter = whole->registers;
    int64_t work = whole->work;
    int64_t enoughRegisters = std::min<int64_t>(tuning_.stripRegisters, registers_);
    for (int64_t strips = 2; strips <= g.length; strips *= 2) {
      bool isSmall = g.registersAfter <= enoughRegisters && work <= tuning_.stripWork;
      bool leavesRoom = g.registersAfter <= most / 2 || bytes < strips * tuning_.stripBlockBytes;
      if (isLarge ? isSmall : leavesRoom) break;
      // As long as halving a strip about halves what it needs: further on, threads would compute the same elements.
      auto half = needsOf(g, strips);
      auto saves = [&](int64_t now, int64_t before) {
        return double(now) <= double(before) * tuning_.stripHalvingRatio;
      };
      if (!half || !saves(half->work, work) || !saves(half->registers, g.registersAfter)) break;
      g.registersAfter = half->registers;
      work = half->work;
      g.strips = strips;
    }
    return g.strips > 1;
  }

  // ---- what may move ----

  /// The segment's accesses, by the kernel argument that their pointers derive from; null: they may reach any memory.
  struct Accesses {
    llvm::SmallVector<Operation *, 4> reads, writes;
  };

  void collectAccesses() {
    for (auto *op : ops_) {
      uint8_t effects = effectsOf(op) & (kReadsGlobal | kWritesGlobal);
      if (!effects || op->opcode() == Opcode::llvm_intr_assume) continue;
      bool isKnown = accessesMemory(op);
      auto &ofArgument = accesses_[isKnown ? memoryArgument(pointerOf(op)) : Value()];
      bool onlyReads = isKnown && !writesMemory(op);
      (onlyReads ? ofArgument.reads : ofArgument.writes).push_back(op);
    }
  }

  bool mayMove(const Group &g) {
    // Whether `a` may change places with each of the others: they are in the same group, cut along the same dimension,
    // and access the same elements strip by strip.
    auto mayPass = [&](Operation *a, int dim, llvm::ArrayRef<Operation *> others) {
      return llvm::all_of(others, [&](Operation *b) {
        if (a == b) return true;
        auto other = g.ops.find(b);
        bool isCutAlike = other != g.ops.end() && other->second == dim;
        return isCutAlike && pointerOf(a) == pointerOf(b) && areDistinct(pointerOf(a));
      });
    };
    for (auto &[a, dim] : g.ops) {
      if (!accessesMemory(a)) continue;
      Value root = memoryArgument(pointerOf(a));
      for (auto &[argument, others] : accesses_) {
        bool isOtherMemory = argument && root && argument != root;
        if (isOtherMemory) continue;
        if (!mayPass(a, dim, others.writes)) return false;
        if (writesMemory(a) && !mayPass(a, dim, others.reads)) return false;
      }
    }
    return true;
  }

  /// Whether no two of the pointers are equal; false if that is not easily seen.
  bool areDistinct(Value pointers) {
    auto t = tensorOf(pointers);
    return t.rank() == 1 && axis_().get(pointers).contiguity[0] >= t.dim(0);
  }

  llvm::ArrayRef<Operation *> ops_;
  int64_t registers_;
  const Tuning &tuning_;
  llvm::DenseSet<Operation *> inSegment_;
  GetAxisInfo axis_;
  llvm::DenseMap<Value, int> indexSteps_;
  llvm::DenseMap<std::pair<Value, int>, bool> mayBeCut_;
  llvm::DenseSet<std::pair<Operation *, int>> failed_; // in groups that cannot be cut, with the dimension
  llvm::MapVector<Value, Accesses> accesses_;
};

/// Replaces a group by a loop over its strips.
class StripLoop {
public:
  explicit StripLoop(Group &g) : g_(g), b_(g.ops.back().first) {}

  /// None, and nothing changes, if other groups' loops are in the way.
  std::optional<Location> run() {
    auto behind = usersOfEnds(g_);
    if (!behind) return std::nullopt;
    Location loc = g_.ops.back().first->loc();
    Type i32 = b_.context().i32();
    int64_t step = g_.length / g_.strips;
    llvm::SmallVector<Operation *, 2> ends;
    llvm::SmallVector<Type, 2> types;
    llvm::SmallVector<Value, 2> inits, sums;
    for (auto &[op, d] : g_.ops) {
      if (!endsGroup(op, d)) continue;
      auto type = carriedType(op, d, g_.strips);
      auto neutral = *neutralBits(combination(op)->opcode(), type.element());
      ends.push_back(op);
      types.push_back(type);
      inits.push_back(b_.constant(loc, type, DenseElementsAttr::get(type, {neutral})));
    }
    auto loop = scf::ForOp::create(b_, loc, types, b_.intConstant(loc, i32, 0), b_.intConstant(loc, i32, g_.length),
                                   b_.intConstant(loc, i32, step), inits);
    Block *body = loop.body().addBlock();
    start_ = body->addArg(i32, loc);
    for (Type t : types) body->addArg(t, loc);
    b_.setInsertionPointToEnd(body);
    for (auto &[op, d] : g_.ops) {
      if (endsGroup(op, d))
        sums.push_back(accumulate(op, d, body->arg(unsigned(1 + sums.size()))));
      else
        clone(op, d);
    }
    scf::YieldOp::create(b_, loc, sums);
    Operation *at = loop.op;
    for (auto [i, op] : llvm::enumerate(ends)) {
      Value result = loop->result(unsigned(i));
      if (!op->result().type().isTensor()) {
        at = Builder::after(at).clone(op);
        at->setOperand(0, result);
        result = at->result();
      }
      op->result().replaceAllUsesWith(result);
    }
    for (auto *op : *behind) {
      op->moveAfter(at);
      at = op;
    }
    llvm::SmallVector<Operation *, 32> old;
    for (auto &[op, d] : g_.ops) old.push_back(op);
    for (auto *op : llvm::reverse(old)) op->erase();
    return loc;
  }

private:
  /// The strip of a value.
  Value cut(Value v, int dim) {
    if (dim == kWhole) return v;
    if (Value done = map_.lookup({v, dim})) return done;
    clone(v.definingOp(), dims::fromResult(v.definingOp(), dim)); // index arithmetic; the group is cloned in order
    return map_.lookup({v, dim});
  }

  /// The value of a reduction so far, with that of a strip.
  Value accumulate(Operation *reduce, int d, Value carried) {
    if (!reduce->result().type().isTensor())
      return combineLike(b_, combination(reduce), carried, cut(reduce->operand(0), d));
    Operation *copy = b_.clone(reduce);
    copy->setOperand(0, cut(reduce->operand(0), d));
    return combineLike(b_, combination(reduce), carried, copy->result());
  }

  void clone(Operation *op, int d) {
    auto define = [&](unsigned i, Value by) { map_[{op->result(i), dims::ofResult(op, d)}] = by; };
    if (op->is<arith::ConstantOp>()) {
      auto t = stripType(tensorOrNull(op->result()), d, g_.strips);
      return define(0, b_.constant(op->loc(), t, DenseElementsAttr::get(t, {*splatBits(op->attr("value"))})));
    }
    ValueMap operands;
    llvm::SmallVector<std::pair<unsigned, Value>, 4> replaced; // the same value may be cut along two dimensions
    for (unsigned i = 0; i < op->numOperands(); ++i)
      replaced.push_back({i, cut(op->operand(i), dims::ofOperand(op, i, d))});
    Operation *copy = b_.clone(op, operands);
    for (auto &[i, v] : replaced) copy->setOperand(i, v);
    for (auto r : copy->results())
      if (auto t = tensorOrNull(r)) r.setType(stripType(t, dims::ofResult(op, d), g_.strips));
    if (auto range = copy->dyn<tt::MakeRangeOp>()) {
      auto t = tensorOrNull(copy->result());
      copy->setAttr("end", IntegerAttr::getI32(op->context(), int64_t(range.start()) + t.dim(0)));
      Value offset = tt::SplatOp::create(b_, op->loc(), {t}, start_).result();
      return define(0, arith::AddiOp::create(b_, op->loc(), copy->result(), offset).result());
    }
    for (unsigned i = 0; i < op->numResults(); ++i) define(i, copy->result(i));
  }

  Group &g_;
  Builder b_;
  Value start_; // of the strip
  llvm::DenseMap<std::pair<Value, int>, Value> map_;
};

int64_t registersOfThread(Operation *module, const TargetInfo *t) {
  if (!t || !t->registersPerScheduler) return kMaxRegisters;
  return std::min<int64_t>(t->registersPerThread(numWarps(module), RegisterSplit::PerScheduler), kMaxRegisters);
}

/// Whether the operation may not move with a group.
bool staysInPlace(Operation &op) {
  if (op.info().has(kTerminator)) return true;
  uint8_t effects = effectsOf(&op);
  if (op.numRegions() && effects) return true;
  bool hasOtherEffects = effects & ~(kReadsGlobal | kWritesGlobal);
  if (hasOtherEffects && !isRelaxedAtomic(&op)) return true;
  return op.is<tt::LoadOp>() && op.cast<tt::LoadOp>().isVolatile();
}

Remark stripRemark(const Group &g, Location loc) {
  return {
      Remark::Applied,
      "",
      "StripMined",
      loc,
      llvm::formatv("a block of {0} elements along one dimension is processed in {1} strips of {2}: {3} registers of "
                    "a thread instead of {4}",
                    g.length, g.strips, g.length / g.strips, g.registersAfter, g.registersBefore)
          .str(),
      llvm::json::Object{{"length", g.length},
                         {"strips", g.strips},
                         {"registersBefore", g.registersBefore},
                         {"registersAfter", g.registersAfter}}};
}

} // namespace

absl::StatusOr<bool> stripMine(Module &m, const StripMineOptions &o, PassContext &c) {
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  int64_t registers = o.registers.value_or(registersOfThread(m.op(), c.target) * tuning.usableRegistersPercent / 100);
  llvm::SmallVector<Block *, 8> blocks;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::ReduceOp>() || op->is<tt::ScanOp>()) return;
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next()) blocks.push_back(b);
  });
  std::optional<AxisInfoAnalysis> computed; // of the module before it changes
  auto axis = [&]() -> const AxisInfoAnalysis & { return computed ? *computed : computed.emplace(m); };
  bool changed = false;
  for (auto *block : blocks) {
    std::vector<std::vector<Operation *>> segments(1);
    for (auto &op : *block) {
      if (staysInPlace(op))
        segments.emplace_back();
      else
        segments.back().push_back(&op);
    }
    for (auto &ops : segments)
      for (auto &g : Segment(ops, registers, tuning, axis).groups()) {
        auto loc = StripLoop(g).run();
        if (!loc) continue;
        c.remark(stripRemark(g, *loc));
        changed = true;
      }
  }
  return changed;
}

} // namespace tessera::transforms
