// Loads of a serial loop run some iterations ahead of the work on what they bring.
//
//   scf.for %i = %lb to %ub step %s iter_args(%p = %p0, %h = %h0) {       a recurrence: each iteration loads a little, and
//     %x = tt.load %p                                                     threads meet in it (reductions, conversions) or
//     %h1 = … %x … %h                                                     store, so that no assembler moves the next loads up
//     %o = "tt.reduce"(%h1) …
//     tt.store %q, %o
//     scf.yield %p + %k, %h1
//   }
//
// The latency of the loads is then most of an iteration. D iterations become one, and each of them, once it has used
// what was loaded for it, loads for the one D further on into the same registers:
//
//   %x0 = tt.load …, lb < ub    %x1 = tt.load …, lb + s < ub              before the loop, on addresses of their own
//   %main = scf.for %i = %lb to %mid step D·%s iter_args(%h, %a = %x0, %b = %x1, addresses) {
//     the body with %a              %a1 = tt.load …, %i + 2·s < ub
//     the body with %b, at %i + s   %b1 = tt.load …, %i + 3·s < ub
//     scf.yield …, %a1, %b1
//   }
//   scf.for %i = %mid to %ub step %s iter_args(%main…)                    the rest, fewer than D iterations, as it was
//
// No value moves from register to register, which would wait for it. A predicate keeps loads of iterations that there
// are not from being done; only iterations that there are use what was loaded.
//
// A load runs ahead if its address and mask depend on no load of the loop and on nothing that may not be computed
// twice, and if no store of the loop may write what it reads (reachDifferentMemory). Loops with multiplications are
// tritongpu-pipeline's; loops with inner loops, calls, atomics or barriers are left alone, and so are those whose
// loads or work are large: they hide latencies by other warps, and want their registers. So do loops that only store,
// and whose iterations hand no sum on: those can be in flight from many warps at once.
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "layouts/infer.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;

namespace {

/// Registers of 32 bits per thread that loads ahead and their addresses may fill where threads meet in every
/// iteration, and where they do not: there other warps go on meanwhile.
constexpr int64_t kRegistersMeeting = 32, kRegistersStoring = 16;
/// Registers that the results of one iteration's operations take, all together: a measure of its code.
constexpr int64_t kMostWork = 1200;

/// Each element in a register of its own. Scalars count as one whatever their width: nearly all are indices, extended.
int64_t unpackedRegisters(Value v) {
  if (v.type().isInteger()) return 1;
  auto elements = elementsPerThread(v.type());
  return elements ? registerBits(v.type().scalar(), *elements, 32) / 32 : std::numeric_limits<int32_t>::max();
}

class RunAhead {
public:
  RunAhead(scf::ForOp loop, const AxisInfoAnalysis &axis)
      : axis_(axis), loop_(loop), body_(*loop.body().front()), c_(loop->context()) {}

  bool run() {
    if (!suitable() || !findLoads() || !chooseDistance()) return false;
    rewrite();
    return true;
  }
  std::string done() const {
    return llvm::formatv("{0} of the loop's loads run {1} iterations ahead, in {2} registers", loads_.size(), distance_,
                         registers_ * distance_)
        .str();
  }
  llvm::json::Object facts() const {
    return llvm::json::Object{
        {"loads", int64_t(loads_.size())}, {"distance", distance_}, {"registers", registers_ * distance_}};
  }

private:
  static bool threadsMeet(Operation *op) {
    if (op->is<tt::ReduceOp>() || op->is<tt::ScanOp>() || op->is<tt::GatherOp>() || op->is<tt::HistogramOp>())
      return true;
    auto c = op->dyn<ttg::ConvertLayoutOp>();
    if (!c) return false;
    auto from = c.src().type().cast<TensorType>(), to = c.result().type().cast<TensorType>();
    return !layouts::sameLayout(from.encoding(), to.encoding(), from.shape());
  }
  bool onlyStores(Operation *op) {
    if (op->is<scf::ForOp>() || op->is<scf::WhileOp>() || op->is<tt::CallOp>() || op->is<tt::DotOp>() ||
        op->is<ttng::WarpGroupDotOp>())
      return false;
    if (auto store = op->dyn<tt::StoreOp>()) {
      stores_.push_back(store);
      return true;
    }
    if (op->info().effects & ~kReadsGlobal && !op->numRegions()) {
      if (effectsOf(op) & ~kReadsGlobal) return false;
    }
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        for (auto &inner : *b)
          if (!onlyStores(&inner)) return false;
    return true;
  }
  bool suitable() {
    Type type = loop_.lowerBound().type();
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock() || !type.isInteger() || type.bitWidth() > 64) return false;
    // Bounds are computed in 64 bits; counters of as many leave room if they begin at a number that is not negative.
    if (auto *lb = constantBits(loop_.lowerBound()), *s = constantBits(loop_.step());
        type.bitWidth() > 32 &&
        !(lb && s && lb->isNonNegative() && s->isStrictlyPositive() && s->getActiveBits() <= 32))
      return false;
    int64_t work = 0;
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (!onlyStores(&op)) return false;
      meets_ |= threadsMeet(&op);
      for (auto r : op.results()) work += unpackedRegisters(r);
      if (work > kMostWork) return false;
    }
    work_ = work;
    // Iterations that are independent of each other are spread over warps; those of a recurrence cannot be.
    bool recurrence = llvm::any_of(loop_.initArgs(), [](Value v) { return v.type().scalar().isFloat(); });
    return meets_ || (recurrence && !stores_.empty());
  }

  /// What the operands of the load are made from, around the loop; false: it cannot run ahead.
  bool collect(tt::LoadOp load, llvm::SetVector<Operation *> &producer, llvm::SetVector<unsigned> &carried) {
    llvm::SmallVector<Value, 16> work(load->operands().begin(), load->operands().end());
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (v.isBlockArgument()) {
        if (v.ownerBlock() == &body_ && v.index() > 0 && carried.insert(v.index() - 1))
          work.push_back(body_.terminator()->operand(v.index() - 1));
        continue;
      }
      Operation *def = v.definingOp();
      if (def->block() != &body_ || !producer.insert(def)) continue;
      if (def->numRegions() || !isPure(def) || threadsMeet(def)) return false;
      for (auto o : def->operands()) work.push_back(o);
    }
    return true;
  }
  bool findLoads() {
    for (auto &op : body_) {
      auto load = op.dyn<tt::LoadOp>();
      if (!load || load.isVolatile() || (effectsOf(&op) & ~kReadsGlobal)) continue;
      if (llvm::any_of(stores_, [&](auto store) { return !reachDifferentMemory(store.ptr(), load.ptr()); })) continue;
      auto producer = producer_;
      auto carried = carried_;
      if (!collect(load, producer, carried)) continue;
      producer_ = std::move(producer), carried_ = std::move(carried);
      loads_.push_back(load);
      registers_ += unpackedRegisters(load.result());
    }
    return !loads_.empty();
  }

  bool chooseDistance() {
    int64_t most = meets_ ? kRegistersMeeting : kRegistersStoring;
    distance_ = 4;
    // Addresses of their own take registers, too.
    int64_t addresses = 0;
    for (auto i : carried_) addresses += carriedRegisters(i);
    while (distance_ > 1 && (registers_ * distance_ + addresses > most || work_ * distance_ > kMostWork))
      distance_ /= 2;
    auto *lb = constantBits(loop_.lowerBound()), *ub = constantBits(loop_.upperBound()),
         *s = constantBits(loop_.step());
    if (s && !s->isStrictlyPositive()) return false;
    if (lb && ub && s) {
      int64_t iterations = (ub->getSExtValue() - lb->getSExtValue() + s->getSExtValue() - 1) / s->getSExtValue();
      if (iterations < 2) return false;
      distance_ = std::min(distance_, iterations);
    }
    return distance_ > 1;
  }

  // ---- rewriting ----

  Value wide(Builder &b, Value v) {
    return v.type() == c_.i64() ? v : arith::ExtsiOp::create(b, loc_, c_.i64(), v).op->result();
  }
  Value narrow(Builder &b, Value v, Type type) {
    return v.type() == type ? v : arith::TrunciOp::create(b, loc_, type, v).op->result();
  }
  Value number(Builder &b, int64_t v) { return b.intConstant(loc_, c_.i64(), v); }
  template <class OpT> Value make(Builder &b, Value x, Value y) { return OpT::create(b, loc_, x, y).op->result(); }
  Value less(Builder &b, Value x, Value y) {
    return arith::CmpiOp::create(b, loc_, x, y,
                                 {b.named("predicate", IntegerAttr::get(c_.i64(), int(CmpIPredicate::Slt)))})
        .op->result();
  }
  static llvm::SmallVector<NamedAttribute, 4> attrsOf(Operation *op) {
    return llvm::SmallVector<NamedAttribute, 4>(op->attrs().begin(), op->attrs().end());
  }

  /// The producer and the loads on the values of `map`, masked by the predicate.
  llvm::SmallVector<Value, 4> emitLoads(Builder &b, ValueMap &map, Value predicate) {
    for (auto &op : body_)
      if (producer_.contains(&op)) b.clone(&op, map);
    llvm::SmallVector<Value, 4> values;
    for (auto load : loads_) {
      Value ptr = map.lookupOrSelf(load.ptr()), mask = load.mask() ? map.lookupOrSelf(load.mask()) : Value(),
            p = predicate;
      if (ptr.type().isTensor() && !(mask && !mask.type().isTensor()))
        p = tt::SplatOp::create(b, loc_, ptr.type().cast<TensorType>().withElement(c_.i1()), p).result();
      mask = mask ? make<arith::AndiOp>(b, mask, p) : p;
      values.push_back(tt::LoadOp::create(b, load->loc(), load.result().type(), ptr, mask,
                                          load.other() ? map.lookupOrSelf(load.other()) : Value(), attrsOf(load.op))
                           .result());
    }
    return values;
  }

  void rewrite() {
    loc_ = loop_->loc();
    Builder b(loop_.op);
    Value iv = body_.arg(0), lower = loop_.lowerBound(), upper = loop_.upperBound(), step = loop_.step();
    Type type = iv.type();
    Operation *yield = body_.terminator();
    unsigned own = loop_->numResults();
    // Offsets of iterations from the first of a round, and the bound below which there is the iteration that many
    // ahead.
    Value lower64 = wide(b, lower), upper64 = make<arith::MaxsiOp>(b, wide(b, upper), lower64), step64 = wide(b, step);
    Value least =
        number(b, type.bitWidth() < 64 ? -(int64_t(1) << (type.bitWidth() - 1)) : std::numeric_limits<int64_t>::min());
    llvm::SmallVector<Value, 8> offset(2 * distance_), bound(2 * distance_);
    for (int64_t d = 0; d < 2 * distance_; ++d) {
      offset[d] = make<arith::MuliOp>(b, step, b.intConstant(loc_, type, d));
      bound[d] = narrow(
          b,
          make<arith::MaxsiOp>(b, make<arith::SubiOp>(b, upper64, make<arith::MuliOp>(b, step64, number(b, d))), least),
          type);
    }
    // Where whole rounds end.
    Value round = make<arith::MuliOp>(b, step64, number(b, distance_));
    Value rounds = make<arith::DivuiOp>(b, make<arith::SubiOp>(b, upper64, lower64), round);
    Value middle = narrow(b, make<arith::AddiOp>(b, lower64, make<arith::MuliOp>(b, rounds, round)), type);

    llvm::SmallVector<Value, 8> state;
    for (auto i : carried_) state.push_back(loop_.initArgs()[i]);
    auto at = [&](Builder &in, Value first, int64_t d) {
      return d ? make<arith::AddiOp>(in, first, offset[d]) : first;
    };
    auto ahead = [&](Builder &in, Value first, int64_t d) {
      ValueMap map;
      map.map(iv, at(in, first, d));
      for (auto [k, i] : llvm::enumerate(carried_)) map.map(body_.arg(i + 1), state[k]);
      auto values = emitLoads(in, map, less(in, first, bound[d]));
      for (auto [k, i] : llvm::enumerate(carried_)) state[k] = map.lookupOrSelf(yield->operand(i));
      return values;
    };
    llvm::SmallVector<Value, 16> inits(loop_.initArgs().begin(), loop_.initArgs().end()), loaded;
    for (int64_t d = 0; d < distance_; ++d)
      for (auto v : ahead(b, lower, d)) loaded.push_back(v);
    inits.append(state.begin(), state.end());
    inits.append(loaded.begin(), loaded.end());
    llvm::SmallVector<Type, 16> types;
    for (auto v : inits) types.push_back(v.type());

    auto main = scf::ForOp::create(b, loc_, types, lower, middle, narrow(b, round, type), inits, attrsOf(loop_.op));
    Block *block = main.body().addBlock();
    Value first = block->addArg(type, iv.loc());
    for (auto t : types) block->addArg(t, loc_);
    Builder in = Builder::atEnd(block);
    llvm::SmallVector<Value, 16> current, next;
    for (unsigned i = 0; i < own; ++i) current.push_back(block->arg(i + 1));
    for (unsigned k = 0; k < state.size(); ++k) state[k] = block->arg(own + k + 1);
    for (int64_t d = 0; d < distance_; ++d) {
      ValueMap map;
      map.map(iv, at(in, first, d));
      for (unsigned i = 0; i < own; ++i) map.map(body_.arg(i + 1), current[i]);
      for (auto [k, load] : llvm::enumerate(loads_))
        map.map(load.result(), block->arg(own + state.size() + d * loads_.size() + k + 1));
      for (auto &op : body_)
        if (&op != yield && !llvm::any_of(loads_, [&](auto &l) { return l.op == &op; })) in.clone(&op, map);
      for (unsigned i = 0; i < own; ++i) current[i] = map.lookupOrSelf(yield->operand(i));
      for (auto v : ahead(in, first, d + distance_)) next.push_back(v);
    }
    llvm::SmallVector<Value, 16> yields(current);
    yields.append(state.begin(), state.end());
    yields.append(next.begin(), next.end());
    scf::YieldOp::create(in, yield->loc(), yields);
    // The loop goes on where whole rounds end.
    loop_->setOperand(0, middle);
    for (unsigned i = 0; i < own; ++i) loop_->setOperand(3 + i, main->result(i));
  }

  /// Registers of a value that the loop carries for its loads: addresses in a row are one address and constants.
  int64_t carriedRegisters(unsigned i) {
    Value v = loop_.initArgs()[i];
    int64_t registers = unpackedRegisters(v);
    auto elements = elementsPerThread(v.type());
    if (!v.type().isTensor() || !v.type().scalar().isPointer() || !elements) return registers;
    int64_t run = 1;
    for (int64_t c : axis_.get(body_.arg(i + 1)).contiguity) run = std::max(run, std::min(c, *elements));
    return registers / run;
  }

  const AxisInfoAnalysis &axis_;
  scf::ForOp loop_;
  Block &body_;
  Context &c_;
  Location loc_;
  bool meets_ = false;
  int64_t work_ = 0, registers_ = 0, distance_ = 1;
  llvm::SmallVector<tt::StoreOp, 4> stores_;
  llvm::SmallVector<tt::LoadOp, 8> loads_; // in the order of the text
  llvm::SetVector<Operation *> producer_;  // what their addresses and masks are made with, in the body
  llvm::SetVector<unsigned> carried_;      // the values that the loop carries for these
};

} // namespace

absl::StatusOr<bool> runLoadsAhead(Module &m, PassContext &c) {
  std::vector<scf::ForOp> loops;
  m.op()->walk([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) loops.push_back(f);
  });
  bool changed = false;
  if (loops.empty()) return false;
  AxisInfoAnalysis axis(m);
  for (auto f : loops) {
    RunAhead ahead(f, axis);
    if (!ahead.run()) continue;
    changed = true;
    c.remark({Remark::Applied, "", "LoadsAhead", f->loc(), ahead.done(), ahead.facts()});
  }
  return changed;
}

} // namespace tessera::transforms
