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
// Reductions along the cut dimension itself end a group, if they combine by one operation: the loop carries
// partial results, each strip is combined with them, and the uses of the results move behind the loop (the gradients of
// a norm: those of the rows are stored, those of the weights are sums over the rows). Partial results of other lanes
// and warps are combined once, after the loop (optimize-thread-locality, which runs again).
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
//
// A block that is used before and after a reduction (a row that a norm divides by its root mean square) is read again
// for the second use, if it does not fit in between: strip_phases.cpp.
//
// strip_group.cpp says what a group may hold and how dimensions correspond, strip_cost.cpp how many strips it is worth;
// here groups are found (Segment) and rewritten (StripLoop).
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/reduction.h"
#include "transforms/passes.h"
#include "transforms/schedule/strip_cost.h"
#include "transforms/schedule/strip_group.h"
#include "transforms/schedule/strip_phases.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using namespace strips;

namespace {

bool isRelaxedAtomic(Operation *op) {
  auto rmw = op->dyn<tt::AtomicRmwOp>();
  return rmw && rmw.sem() == MemSemantic::Relaxed;
}

/// Operations of a block between two that must stay where they are.
class Segment {
public:
  using GetAxisInfo = llvm::function_ref<const AxisInfoAnalysis &()>; // computes it at the first call

  Segment(llvm::ArrayRef<Operation *> ops, const strips::Budget &budget, const Tuning &tuning, GetAxisInfo axis)
      : ops_(ops), budget_(budget), tuning_(tuning), axis_(axis) {
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
      if (!collect(g, root, d) || !strips::chooseStrips(g, budget_, tuning_)) {
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
  const strips::Budget &budget_;
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
      Value offset = tt::SplatOp::create(b_, op->loc(), {t}, startAlong(op->loc(), t.dim(0) * g_.strips)).result();
      return define(0, arith::AddiOp::create(b_, op->loc(), copy->result(), offset).result());
    }
    for (unsigned i = 0; i < op->numResults(); ++i) define(i, copy->result(i));
  }

  /// Where the strip begins along a dimension of that length: not the group's where a reshape divides it.
  Value startAlong(Location loc, int64_t length) {
    Type i32 = b_.context().i32();
    if (length > g_.length)
      return arith::MuliOp::create(b_, loc, start_, b_.intConstant(loc, i32, length / g_.length)).result();
    if (length < g_.length)
      return arith::DivuiOp::create(b_, loc, start_, b_.intConstant(loc, i32, g_.length / length)).result();
    return start_;
  }

  Group &g_;
  Builder b_;
  Value start_; // of the strip, along the group's dimension
  llvm::DenseMap<std::pair<Value, int>, Value> map_;
};

/// Whether the operation may not move with a group.
bool staysInPlace(Operation &op) {
  if (op.info().has(kTerminator)) return true;
  uint8_t effects = effectsOf(&op);
  if (op.numRegions() && effects) return true;
  bool hasOtherEffects = effects & ~(kReadsGlobal | kWritesGlobal);
  if (hasOtherEffects && !isRelaxedAtomic(&op)) return true;
  return op.is<tt::LoadOp>() && op.cast<tt::LoadOp>().isVolatile();
}

Remark stripRemark(const Group &g, const RemarkPlace &place) {
  return {
      Remark::Applied,
      "",
      "StripMined",
      place,
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
  strips::Budget budget = strips::budgetOf(m.op(), c.target, tuning);
  if (o.registers) budget = {*o.registers, /*ofTwoBlocks=*/0};
  llvm::SmallVector<Block *, 8> blocks;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::ReduceOp>() || op->is<tt::ScanOp>()) return;
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next()) blocks.push_back(b);
  });
  std::optional<AxisInfoAnalysis> computed; // of the module before it changes
  auto axis = [&]() -> const AxisInfoAnalysis & {
    return computed ? *computed : computed.emplace(m, AssumedArguments(), StatedContiguity::IsLeftOut);
  };
  std::optional<GlobalAccesses> memory;
  auto mayBeWritten = [&](Value pointer) { return (memory ? *memory : memory.emplace(m)).mayBeWritten(pointer); };
  bool changed = false;
  for (auto *block : blocks) {
    std::vector<std::vector<Operation *>> segments(1);
    for (auto &op : *block) {
      if (staysInPlace(op))
        segments.emplace_back();
      else
        segments.back().push_back(&op);
    }
    for (auto &ops : segments) {
      changed |= strips::separatePhases(ops, budget.registers, mayBeWritten);
      for (auto &g : Segment(ops, budget, tuning, axis).groups()) {
        auto loc = StripLoop(g).run();
        if (!loc) continue;
        RemarkPlace place(block->parentOp());
        place.loc = *loc;
        c.remark(stripRemark(g, place));
        changed = true;
      }
    }
  }
  return changed;
}

} // namespace tessera::transforms
