// Strip-mining: elementwise work on a block so large that a thread's share does not fit its registers is done in
// strips, one after another in a loop. Operations are lowered one by one for the whole block, so that between the
// loads and the stores every element is live at once: beyond the registers there are, that is spills, and seconds to
// minutes for register allocators.
//
//   %i = tt.make_range {start = 0, end = 65536}          scf.for %s = 0 to 65536 step 2048 {
//   %p = tt.addptr %x, %i                                  %r = tt.make_range {start = 0, end = 2048}
//   %v = tt.load %p                                  →     %i = arith.addi %r, splat(%s)
//   %w = math.exp %v                                       …
//   tt.store %q, %w                                        tt.store %q', %w'
//                                                        }
//
// A group is what hangs together around stores in one block: their operands, back to loads and ranges, and every
// other use of those. It is cut along one dimension of its tensors if each of its operations acts on the elements
// along it one by one (reductions and scans along another dimension are such, too), and nothing else uses what it
// computes, apart from index arithmetic, which is computed anew. Layouts stay: a strip has the same layout in fewer
// registers.
//
// Loads of a later strip come after stores of an earlier one. So every access that moves must reach other memory than
// any store around it (Triton's contract about arguments, see memoryArgument), or go through the very same pointers,
// no two of which are the same. Atomics that order other accesses are left where they are.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// Registers of a strip per thread: enough loads in flight to hide their latency, at more than one block a
/// multiprocessor.
constexpr int64_t kStripRegisters = 64;

/// Instructions of a thread, roughly, beyond which a block is cut though its registers suffice, and what a strip then
/// has: straight-line code of tens of thousands of instructions is compiled slowly and fills the instruction cache.
constexpr int64_t kMostWork = 8192, kStripWork = 4096;

constexpr int64_t kMostRegisters = 255; // that instructions address, but for AMD's accumulation registers

constexpr int kMostIndexSteps = 500; // from a range to an address

constexpr int kWhole = -1; // in place of a dimension: not cut

TensorType tensorOf(Value v) { return v.type().isTensor() ? v.type().cast<TensorType>() : TensorType(); }

/// The type of a strip: a `strips`-th along the dimension.
TensorType stripType(TensorType t, int dim, int64_t strips) {
  llvm::SmallVector<int64_t, 4> shape(t.shape());
  shape[dim] /= strips;
  return TensorType::get(shape, t.element(), t.encoding());
}

/// Registers that hold so many elements, of which no more than two share one.
int64_t registersFor(TensorType t, int64_t elements) {
  return t.element().isInteger(1)
             ? 0
             : llvm::divideCeil(registerBits(t.element(), elements, 16), 32); // i1: predicates, masks of lanes
}

/// Instructions per element, roughly.
int64_t workOf(Operation *op) {
  switch (op->opcode()) {
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi:
  case Opcode::arith_divf:
  case Opcode::arith_remf:
  case Opcode::tt_precise_divf:
  case Opcode::tt_extern_elementwise: return 16;
  default: return op->name().starts_with("math.") ? 16 : 1;
  }
}

/// Dimensions of an operation's tensors in terms of one: that of its result, or of its operands where it removes one
/// or has no result.
namespace dims {

bool has(Operation *op) {
  if (op->is<tt::LoadOp>() || op->is<tt::StoreOp>())
    return tensorOf(op->operand(0)) && tensorOf(op->operand(0)).encoding();
  if (op->is<tt::AtomicRmwOp>()) return bool(tensorOf(op->operand(0)));
  if (op->info().has(kElementwise) || op->is<arith::SelectOp>() || op->is<tt::ElementwiseInlineAsmOp>())
    return isPure(op);
  return op->is<tt::SplatOp>() || op->is<tt::MakeRangeOp>() || op->is<tt::ExpandDimsOp>() ||
         op->is<tt::BroadcastOp>() || op->is<tt::TransOp>() || op->is<tt::JoinOp>() || op->is<tt::SplitOp>() ||
         op->is<arith::ConstantOp>() || op->is<ttg::ConvertLayoutOp>() ||
         ((op->is<tt::ReduceOp>() || op->is<tt::ScanOp>()) && isPure(op));
}

int ofOperand(Operation *op, unsigned operand, int d) {
  auto t = tensorOf(op->operand(operand));
  if (!t) return kWhole;
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d > int(e.axis()) ? d - 1 : d;
  if (op->is<tt::BroadcastOp>() && t.dim(d) == 1) return kWhole;
  if (auto trans = op->dyn<tt::TransOp>()) return int(trans.order()[d]);
  return d;
}
int ofResult(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d > int(r.axis()) ? d - 1 : d;
  return d;
}
int fromOperand(Operation *op, int d) {
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d >= int(e.axis()) ? d + 1 : d;
  if (auto trans = op->dyn<tt::TransOp>()) return int(llvm::find(trans.order(), d) - trans.order().begin());
  return d;
}
int fromResult(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d >= int(r.axis()) ? d + 1 : d;
  return d;
}
/// Whether elements along the dimension have nothing to do with each other.
bool separate(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d != int(r.axis());
  if (auto s = op->dyn<tt::ScanOp>()) return d != int(s.axis());
  if (op->is<tt::JoinOp>()) return d + 1 < int(tensorOf(op->result()).rank());
  if (op->is<tt::SplitOp>()) return d + 1 < int(tensorOf(op->operand(0)).rank());
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d != int(e.axis()); // the operand has no such dimension
  if (op->is<arith::ConstantOp>()) return splatBits(op->attr("value"));
  if (op->is<tt::MakeRangeOp>()) return tensorOf(op->result()).element().bitWidth() == 32;
  return true;
}

} // namespace dims

bool accessesMemory(Operation *op) {
  return op->is<tt::LoadOp>() || op->is<tt::StoreOp>() || op->is<tt::AtomicRmwOp>();
}
bool writesMemory(Operation *op) { return !op->is<tt::LoadOp>(); }
bool isRelaxedAtomic(Operation *op) {
  auto rmw = op->dyn<tt::AtomicRmwOp>();
  return rmw && rmw.sem() == MemSemantic::Relaxed;
}

/// Stores with all that is cut together with them.
struct Group {
  llvm::MapVector<Operation *, int> ops; // and the dimension that each is cut along, in terms of dims::
  int64_t length = 0;                    // of the dimension
  int64_t strips = 1;
  int64_t before = 0, after = 0; // registers that a thread needs at once
};

/// Operations of a block between two that must stay where they are.
class Run {
public:
  Run(llvm::ArrayRef<Operation *> ops, int64_t registers, llvm::function_ref<const AxisInfoAnalysis &()> axis)
      : ops_(ops), registers_(registers), axis_(axis) {
    inRun_.insert(ops.begin(), ops.end());
  }

  std::vector<Group> groups() {
    std::vector<Group> all;
    llvm::DenseSet<Operation *> done;
    for (auto *root : ops_) {
      bool isRoot = accessesMemory(root) && writesMemory(root) && tensorOf(root->operand(0));
      if (!isRoot || done.count(root)) continue;
      auto g = bestGroup(root);
      if (!g) continue;
      // What another group uses as a whole may hang together with that group's operations along another dimension.
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
    for (int d = 0; d < int(tensorOf(root->operand(0)).rank()); ++d) {
      Group g;
      g.length = tensorOf(root->operand(0)).dim(d);
      if (!collect(g, root, d) || !chooseStrips(g)) {
        failed_.insert(g.ops.begin(), g.ops.end());
        continue;
      }
      if (!best || g.after < best->after) best = std::move(g);
    }
    return best;
  }

  // ---- what hangs together ----

  bool collect(Group &g, Operation *root, int d) {
    llvm::SmallVector<std::pair<Operation *, int>, 16> list{{root, d}};
    llvm::SmallVector<Value, 8> whole; // used as a whole by the group
    while (!list.empty()) {
      auto [op, dim] = list.pop_back_val();
      auto [it, fresh] = g.ops.insert({op, dim});
      if (!fresh) {
        if (it->second != dim) return false;
        continue;
      }
      if (failed_.contains({op, dim}))
        return false; // what hangs together with this does not depend on where one begins
      if (!inRun_.count(op) || !dims::has(op) || !dims::separate(op, dim)) return false;
      for (unsigned i = 0; i < op->numOperands(); ++i) {
        Value v = op->operand(i);
        int along = dims::ofOperand(op, i, dim);
        if (along == kWhole) {
          whole.push_back(v);
        } else if (!isIndex(v)) {
          if (!v.definingOp()) return false;
          list.push_back({v.definingOp(), dims::fromResult(v.definingOp(), along)});
        } else if (!indexMayBeCut(v, along))
          return false;
      }
      for (auto r : op->results()) {
        if (!tensorOf(r) && !r.useEmpty()) return false;
        for (auto *use : r.uses()) {
          if (!inRun_.count(use->owner) || !dims::has(use->owner)) return false;
          list.push_back({use->owner, dims::fromOperand(use->owner, dims::ofResult(op, dim))});
        }
      }
    }
    if (llvm::any_of(whole, [&](Value v) { return v.definingOp() && g.ops.count(v.definingOp()); })) return false;
    llvm::SmallVector<std::pair<Operation *, int>, 32> sorted(g.ops.begin(), g.ops.end());
    llvm::sort(sorted, [](auto &a, auto &b) { return a.first->isBeforeInBlock(b.first); });
    g.ops.clear();
    for (auto &e : sorted) g.ops.insert(e);
    return true;
  }

  /// Whether a tensor is made of ranges, constants and scalars by the arithmetic of indices, addresses and masks,
  /// which costs little to compute again and, most of it, no registers.
  bool isIndex(Value v) { return indexSteps(v, 0) <= kMostIndexSteps; }

  /// The most operations from a range, constant or scalar to an index; more than kMostIndexSteps if it is none.
  int indexSteps(Value v, int depth) {
    constexpr int none = kMostIndexSteps + 1;
    auto [it, fresh] = index_.try_emplace(v, none);
    if (!fresh) return it->second;
    Operation *op = v.definingOp();
    if (!op || !tensorOf(v) || depth > kMostIndexSteps) return none;
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
      if (tensorOf(x) && steps < none) steps = std::max(steps, 1 + indexSteps(x, depth + 1));
    return index_[v] = std::min(steps, none);
  }

  bool indexMayBeCut(Value v, int along) {
    auto [it, fresh] = mayBeCut_.try_emplace({v, along}, true);
    if (!fresh) return it->second;
    Operation *op = v.definingOp();
    int d = dims::fromResult(op, along);
    bool may = dims::separate(op, d);
    for (unsigned i = 0; may && i < op->numOperands(); ++i) {
      int x = dims::ofOperand(op, i, d);
      may = x == kWhole || indexMayBeCut(op->operand(i), x);
    }
    return mayBeCut_[{v, along}] = may;
  }

  // ---- how many strips ----

  struct Needs {
    int64_t registers = 0; // the most that the group's tensors take at once
    int64_t work = 0;
  };

  /// What a thread needs for one of so many strips.
  std::optional<Needs> needsOf(const Group &g, int64_t strips) {
    Needs needs;
    llvm::DenseMap<ValueImpl *, int64_t> held;
    llvm::DenseMap<Operation *, llvm::SmallVector<ValueImpl *, 2>> freed;
    for (auto &[op, d] : g.ops) {
      int64_t widest = 0;
      for (auto r : op->results()) {
        auto t = stripType(tensorOf(r), dims::ofResult(op, d), strips);
        auto n = elementsPerThread(t);
        if (!n || (op->is<tt::ElementwiseInlineAsmOp>() && *n % op->cast<tt::ElementwiseInlineAsmOp>().packedElement()))
          return std::nullopt;
        widest = std::max(widest, *n);
        // What was made wider is made so where it is used, element by element.
        bool widened = op->is<arith::ExtfOp>() || op->is<arith::ExtsiOp>() || op->is<arith::ExtuiOp>();
        held[r.impl()] = registersFor(widened ? tensorOf(op->operand(0)) : t, *n);
        Operation *last = op;
        for (auto *u : r.users())
          if (last->isBeforeInBlock(u)) last = u;
        freed[last].push_back(r.impl());
      }
      needs.work += widest * workOf(op);
    }
    int64_t live = 0;
    for (auto &[op, d] : g.ops) {
      for (auto *v : freed[op])
        if (v->definingOp != op) live -= held[v];
      for (auto r : op->results()) live += held[r.impl()];
      needs.registers = std::max(needs.registers, live);
      for (auto *v : freed[op])
        if (v->definingOp == op) live -= held[v];
    }
    return needs;
  }

  bool chooseStrips(Group &g) {
    auto whole = needsOf(g, 1);
    if (!whole || (whole->registers <= registers_ && whole->work <= kMostWork)) return false;
    g.before = g.after = whole->registers;
    int64_t work = whole->work, enough = std::min(kStripRegisters, registers_);
    // As long as halving a strip halves what it needs: further on, threads would compute the same elements.
    for (int64_t strips = 2; strips <= g.length && (g.after > enough || work > kStripWork); strips *= 2) {
      auto n = needsOf(g, strips);
      if (!n || n->work * 8 > work * 5 || n->registers * 8 > g.after * 5) break;
      g.after = n->registers;
      work = n->work;
      g.strips = strips;
    }
    return g.strips > 1;
  }

  // ---- what may move ----

  /// The run's accesses, by the argument that they go through; null: what may reach any memory.
  struct Accesses {
    llvm::SmallVector<Operation *, 4> reads, writes;
  };

  void collectAccesses() {
    for (auto *b : ops_) {
      uint8_t effects = effectsOf(b) & (kReadsGlobal | kWritesGlobal);
      if (!effects || b->opcode() == Opcode::llvm_intr_assume) continue;
      Value root = accessesMemory(b) ? memoryArgument(b->operand(0)) : Value();
      auto &of = accesses_[root];
      (accessesMemory(b) && !writesMemory(b) ? of.reads : of.writes).push_back(b);
    }
  }

  bool mayMove(const Group &g) {
    auto mayPass = [&](Operation *a, int dim, llvm::ArrayRef<Operation *> others) {
      return llvm::all_of(others, [&](Operation *b) {
        if (a == b) return true;
        auto other = g.ops.find(b);
        return other != g.ops.end() && other->second == dim && a->operand(0) == b->operand(0) &&
               distinct(a->operand(0));
      });
    };
    for (auto &[a, dim] : g.ops) {
      if (!accessesMemory(a)) continue;
      Value root = memoryArgument(a->operand(0));
      for (auto &[of, others] : accesses_) {
        if (of && root && of != root) continue; // other memory
        if (!mayPass(a, dim, others.writes) || (writesMemory(a) && !mayPass(a, dim, others.reads))) return false;
      }
    }
    return true;
  }

  /// Whether no two elements of the pointers are the same, as far as that is easily seen.
  bool distinct(Value pointers) {
    auto t = tensorOf(pointers);
    return t.rank() == 1 && axis_().get(pointers).contiguity[0] >= t.dim(0);
  }

  llvm::ArrayRef<Operation *> ops_;
  int64_t registers_;
  llvm::DenseSet<Operation *> inRun_;
  llvm::function_ref<const AxisInfoAnalysis &()> axis_;
  llvm::DenseMap<Value, int> index_;
  llvm::DenseMap<std::pair<Value, int>, bool> mayBeCut_;
  llvm::DenseSet<std::pair<Operation *, int>> failed_; // of groups that are not cut, with the dimension
  llvm::MapVector<Value, Accesses> accesses_;
};

/// Writes a group as a loop.
class Loop {
public:
  Loop(Group &g) : g_(g), b_(g.ops.back().first) {}

  Location run() {
    Location loc = g_.ops.back().first->loc();
    Type i32 = b_.context().i32();
    int64_t step = g_.length / g_.strips;
    auto loop = scf::ForOp::create(b_, loc, llvm::ArrayRef<Type>{}, b_.intConstant(loc, i32, 0),
                                   b_.intConstant(loc, i32, g_.length), b_.intConstant(loc, i32, step),
                                   llvm::ArrayRef<Value>{});
    Block *body = loop.body().addBlock();
    start_ = body->addArg(i32, loc);
    b_.setInsertionPointToEnd(body);
    for (auto &[op, d] : g_.ops) clone(op, d);
    scf::YieldOp::create(b_, loc, llvm::ArrayRef<Value>{});
    llvm::SmallVector<Operation *, 32> old;
    for (auto &[op, d] : g_.ops) old.push_back(op);
    for (auto *op : llvm::reverse(old)) op->erase();
    return loc;
  }

private:
  Value cut(Value v, int dim) {
    if (dim == kWhole) return v;
    if (Value done = map_.lookup({v, dim})) return done;
    clone(v.definingOp(), dims::fromResult(v.definingOp(), dim)); // index arithmetic: the rest is in order
    return map_.lookup({v, dim});
  }

  void clone(Operation *op, int d) {
    auto define = [&](unsigned i, Value by) { map_[{op->result(i), dims::ofResult(op, d)}] = by; };
    if (op->is<arith::ConstantOp>()) {
      auto t = stripType(tensorOf(op->result()), d, g_.strips);
      return define(0, b_.constant(op->loc(), t, DenseElementsAttr::get(t, {*splatBits(op->attr("value"))})));
    }
    ValueMap operands;
    llvm::SmallVector<std::pair<unsigned, Value>, 4> replaced; // the same value may be cut along two dimensions
    for (unsigned i = 0; i < op->numOperands(); ++i)
      replaced.push_back({i, cut(op->operand(i), dims::ofOperand(op, i, d))});
    Operation *copy = b_.clone(op, operands);
    for (auto &[i, v] : replaced) copy->setOperand(i, v);
    for (auto r : copy->results())
      if (auto t = tensorOf(r)) r.setType(stripType(t, dims::ofResult(op, d), g_.strips));
    if (auto range = copy->dyn<tt::MakeRangeOp>()) {
      auto t = tensorOf(copy->result());
      copy->setAttr("end", IntegerAttr::getI32(op->context(), int64_t(range.start()) + t.dim(0)));
      Value offset = tt::SplatOp::create(b_, op->loc(), {t}, start_).result();
      return define(0, arith::AddiOp::create(b_, op->loc(), copy->result(), offset).result());
    }
    for (unsigned i = 0; i < op->numResults(); ++i) define(i, copy->result(i));
  }

  Group &g_;
  Builder b_;
  Value start_;
  llvm::DenseMap<std::pair<Value, int>, Value> map_;
};

/// What a thread of such a module can hold.
int64_t registersPerThread(Operation *module, const TargetInfo *t) {
  if (!t || !t->registersPerScheduler) return kMostRegisters;
  return std::min<int64_t>(t->registersPerThread(numWarps(module), RegisterSplit::PerScheduler), kMostRegisters);
}

} // namespace

absl::StatusOr<bool> stripMine(Module &m, const StripMineOptions &o, PassContext &c) {
  // A quarter is for addresses and intermediate results.
  int64_t registers = o.registers.value_or(registersPerThread(m.op(), c.target) * 3 / 4);
  llvm::SmallVector<Block *, 8> blocks;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::ReduceOp>() || op->is<tt::ScanOp>()) return;
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next()) blocks.push_back(b);
  });
  std::optional<AxisInfoAnalysis> computed; // of the module before, for accesses in place
  auto axis = [&]() -> const AxisInfoAnalysis & { return computed ? *computed : computed.emplace(m); };
  bool changed = false;
  for (auto *block : blocks) {
    std::vector<std::vector<Operation *>> runs(1);
    for (auto &op : *block) {
      uint8_t effects = effectsOf(&op);
      bool stays = op.info().has(kTerminator) || (op.numRegions() && effects) ||
                   (effects & ~(kReadsGlobal | kWritesGlobal) && !isRelaxedAtomic(&op)) ||
                   (op.is<tt::LoadOp>() && op.cast<tt::LoadOp>().isVolatile());
      if (stays)
        runs.emplace_back();
      else
        runs.back().push_back(&op);
    }
    for (auto &ops : runs)
      for (auto &g : Run(ops, registers, axis).groups()) {
        std::string what = llvm::formatv("a block of {0} elements along one dimension is worked on in {1} strips of "
                                         "{2}: {3} registers of a thread instead of {4}",
                                         g.length, g.strips, g.length / g.strips, g.after, g.before);
        llvm::json::Object facts{
            {"length", g.length}, {"strips", g.strips}, {"registersBefore", g.before}, {"registersAfter", g.after}};
        Location loc = Loop(g).run();
        c.remark({Remark::Applied, "", "StripMined", loc, what, std::move(facts)});
        changed = true;
      }
  }
  return changed;
}

} // namespace tessera::transforms
