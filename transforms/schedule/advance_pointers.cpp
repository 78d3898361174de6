// Pointers that advance with a loop (see advance_pointers.h), a part of tritongpu-pipeline.
//
//   scf.for %i = %lb to %ub step %s {               %p0 = the address for %lb
//     %k = arith.muli %i, 64                        %d = splat (%s · 64)
//     %o = %row + splat %k              →           scf.for %i = … iter_args(%p = %p0) {
//     %p = tt.addptr %base, %o                        %x = tt.load %p
//     %x = tt.load %p                                 %q = tt.addptr %p, %d
//   }                                                 scf.yield %q
//                                                   }
//
// Kernels write either form. An address that is computed anew takes three instructions for each access, one of them
// with a 64-bit result that is not an addition; a pointer that advances takes the two halves of one addition. Threads
// that issue asynchronous copies beside warp group dots share the register file with these: in the first form, a
// persistent GEMM with 12 copies a thread took 1268 cycles an iteration on an H200, whose tensor cores need 1024.
//
// But such pointers are held in registers, two for each access. Where the loop's tensors leave no room for them
// (pipelineRegistersBesideDots of ir/tuning.def), they would be spilled: addresses are then computed anew.
//
// A value's change per iteration is found by rules on its definitions: the counter changes by the step; sums of such
// values, multiples by what does not change, extensions and broadcasts change by a scalar. Its value in the first
// iteration is computed by copies of its definitions before the loop.
//
// Wrap-around: offsets of pointers of 32 and more bits are assumed not to wrap (analyses/integer_facts.h), so that the
// address after n iterations is the first one and n changes.
#include "transforms/schedule/advance_pointers.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/analyses/register_pressure.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::transforms {
using namespace ir;

namespace {

class PointersOfLoop {
public:
  PointersOfLoop(scf::ForOp loop, const TargetInfo &target)
      : loop_(loop), body_(*loop.body().front()), target_(target), loc_(loop->loc()), b_(loop.op) {}

  scf::ForOp run(bool &changed) {
    if (!pointersFit()) return loop_;
    for (auto *op : loadsFeedingDots(body_)) {
      auto load = op->dyn<tt::LoadOp>();
      bool isComputedHere =
          load && load.ptr().type().isTensor() && load.ptr().definingOp() && load.ptr().definingOp()->block() == &body_;
      if (!isComputedHere) continue;
      auto change = changeOf(load.ptr());
      if (!change || !change->perIteration) continue;
      advanced_.push_back({load, firstOf(load.ptr()), change->perIteration});
    }
    if (advanced_.empty()) return loop_;
    changed = true;
    return rebuild();
  }

private:
  struct Change {
    Value perIteration; // a scalar from before the loop, of the width of the value's elements; null: it stays the same
  };
  struct Advanced {
    tt::LoadOp load;
    Value first;  // pointers of the first iteration
    Value change; // elements per iteration
  };

  /// Whether the registers of a thread hold the loaded tensors' pointers beside the loop's tensors.
  bool pointersFit() const {
    constexpr int64_t kRegistersOfPointer = 2;
    int64_t pointers = 0;
    for (auto *op : loadsFeedingDots(body_)) {
      auto load = op->dyn<tt::LoadOp>();
      if (!load || !load.ptr().type().isTensor()) continue;
      int64_t bits = load.result().type().scalar().isPointer() ? 64 : load.result().type().scalar().bitWidth();
      int64_t elements = elementsPerThread(load.ptr().type()).value_or(1);
      pointers += std::max<int64_t>(1, elements * bits / (8 * kMaxAsyncCopyBytes));
    }
    auto function = loop_->parentOfType<tt::FuncOp>();
    int64_t held = function ? heldRegistersInLoops(function.op) : 0;
    int64_t beside = target_.tuning.pipelineRegistersBesideDots;
    int64_t registers = target_.registersPerThread(numWarps(loop_->module().op()), RegisterSplit::Allocated);
    return held + pointers * kRegistersOfPointer + beside <= registers;
  }

  // ---- changes ----

  /// How a value changes from iteration to iteration; nothing if not by an equal number for all elements.
  std::optional<Change> changeOf(Value v) {
    if (isDefinedOutside(v, loop_.op)) return Change{};
    if (v == inductionVariable(loop_)) return isIndex(v) ? std::optional(Change{loop_.step()}) : std::nullopt;
    if (v.isBlockArgument()) return {};
    auto [known, isNew] = changes_.try_emplace(v);
    if (isNew) {
      auto change = computeChange(v.definingOp());
      changes_[v] = change;
      return change;
    }
    return known->second;
  }
  /// Integers that are assumed not to wrap.
  static bool isIndex(Value v) {
    Type type = v.type().scalar();
    return type.isInteger() && type.bitWidth() >= kNarrowestIndex;
  }

  std::optional<Change> computeChange(Operation *op) {
    switch (op->opcode()) {
    case Opcode::tt_splat:
    case Opcode::tt_broadcast:
    case Opcode::tt_expand_dims: return changeOf(op->operand(0));
    case Opcode::ttg_convert_layout: return {}; // threads exchange it through shared memory
    case Opcode::arith_extsi: return extended(op->cast<arith::ExtsiOp>());
    case Opcode::arith_addi: {
      auto add = op->cast<arith::AddiOp>();
      return isIndex(op->result()) ? sum(add.lhs(), add.rhs()) : std::nullopt;
    }
    case Opcode::arith_muli: {
      auto multiply = op->cast<arith::MuliOp>();
      if (!isIndex(op->result())) return {};
      bool rightStays = isDefinedOutside(multiply.rhs(), loop_.op);
      return rightStays ? scaled(multiply.lhs(), multiply.rhs()) : scaled(multiply.rhs(), multiply.lhs());
    }
    case Opcode::tt_addptr: {
      auto add = op->cast<tt::AddptrOp>();
      return isIndex(add.offset()) ? sum(add.ptr(), add.offset()) : std::nullopt;
    }
    default: {
      // Its copy runs even if the loop has no iteration.
      bool mayRunBefore = isPure(op) && !op->numRegions() && !mayBeUndefined(op);
      bool staysTheSame = mayRunBefore && llvm::all_of(op->operands(), [&](Value v) {
                            auto change = changeOf(v);
                            return change && !change->perIteration;
                          });
      return staysTheSame ? std::optional(Change{}) : std::nullopt;
    }
    }
  }
  std::optional<Change> extended(arith::ExtsiOp op) {
    auto change = changeOf(op.in());
    if (!change || !change->perIteration) return change;
    if (!isIndex(op.in())) return {};
    Type type = op.op->result().type().scalar();
    return Change{arith::ExtsiOp::create(b_, loc_, type, change->perIteration).op->result()};
  }
  std::optional<Change> sum(Value x, Value y) {
    auto left = changeOf(x);
    auto right = changeOf(y);
    if (!left || !right) return {};
    if (!left->perIteration || !right->perIteration) return left->perIteration ? left : right;
    if (left->perIteration.type() != right->perIteration.type()) return {};
    return Change{arith::AddiOp::create(b_, loc_, left->perIteration, right->perIteration).op->result()};
  }
  std::optional<Change> scaled(Value x, Value by) {
    auto change = changeOf(x);
    if (!change || !isDefinedOutside(by, loop_.op)) return {};
    if (!change->perIteration) return change;
    Value scalar = scalarOf(by);
    if (!scalar) return {};
    return Change{arith::MuliOp::create(b_, loc_, change->perIteration, scalar).op->result()};
  }
  /// The number that all elements of a value from before the loop are; null if they may differ.
  Value scalarOf(Value v) {
    if (!v.type().isTensor()) return v;
    if (const llvm::APInt *bits = splatBits(constantOf(v)))
      return b_.intConstant(loc_, v.type().scalar(), bits->getSExtValue());
    while (v.definedBy<tt::BroadcastOp>() || v.definedBy<tt::ExpandDimsOp>()) v = v.definingOp()->operand(0);
    auto splat = v.definedBy<tt::SplatOp>();
    return splat ? splat.src() : Value();
  }

  // ---- the new loop ----

  /// The value in the first iteration, by copies of its definitions before the loop.
  /// @pre changeOf knows its change
  Value firstOf(Value v) {
    if (isDefinedOutside(v, loop_.op)) return v;
    if (v == inductionVariable(loop_)) return loop_.lowerBound();
    if (!first_.contains(v)) {
      for (Value operand : v.definingOp()->operands()) first_.map(operand, firstOf(operand));
      b_.clone(v.definingOp(), first_);
    }
    return first_.lookupOrSelf(v);
  }

  scf::ForOp rebuild() {
    Operation *yield = body_.terminator();
    Builder atEnd(yield);
    llvm::SmallVector<Value, 8> inits(loop_.initArgs().begin(), loop_.initArgs().end());
    llvm::SmallVector<Value, 8> yields(yield->operands().begin(), yield->operands().end());
    for (auto &a : advanced_) {
      Value pointer = a.load.ptr();
      Value carried = body_.addArg(pointer.type(), pointer.loc());
      Type offsets = tensorOf(pointer).withElement(a.change.type());
      Value change = tt::SplatOp::create(b_, loc_, offsets, a.change).result();
      inits.push_back(a.first);
      yields.push_back(tt::AddptrOp::create(atEnd, pointer.loc(), pointer.type(), carried, change).op->result());
      pointer.replaceUsesIf(carried, [&](OpOperand &use) { return use.owner == a.load.op && use.index() == 0; });
    }
    scf::YieldOp::create(atEnd, yield->loc(), yields);
    yield->erase();
    llvm::SmallVector<Type, 8> types;
    for (auto v : inits) types.push_back(v.type());
    auto loop = scf::ForOp::create(b_, loc_, types, loop_.lowerBound(), loop_.upperBound(), loop_.step(), inits,
                                   loop_->attrs());
    unsigned numOld = loop_->numResults();
    loop.body().takeBody(loop_.body());
    for (unsigned i = 0; i < numOld; ++i) loop_->result(i).replaceAllUsesWith(loop->result(i));
    loop_->erase();
    return loop;
  }

  scf::ForOp loop_;
  Block &body_;
  const TargetInfo &target_;
  Location loc_;
  Builder b_; // before the loop
  llvm::DenseMap<Value, std::optional<Change>> changes_;
  ValueMap first_; // values of the body to those of the first iteration
  llvm::SmallVector<Advanced, 4> advanced_;
};

} // namespace

scf::ForOp advancePointers(scf::ForOp loop, const TargetInfo &target, bool &changed) {
  if (loop.unsignedCmp() || !loop.body().hasOneBlock()) return loop;
  Block &body = *loop.body().front();
  bool hasWarpGroupDots = llvm::any_of(body, [](Operation &op) { return op.is<ttng::WarpGroupDotOp>(); });
  return hasWarpGroupDots ? PointersOfLoop(loop, target).run(changed) : loop;
}

} // namespace tessera::transforms
