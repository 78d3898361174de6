// Pass run-loads-ahead: loads of a serial loop are issued some iterations ahead of the work on their values.
// Runs: both TTGIR pipelines; on AMD for loops that request stages (below).
//
//   scf.for %i = %lb to %ub step %s iter_args(%p = %p0, %h = %h0) {       a recurrence: each iteration loads a little,
//     %x = tt.load %p                                                     and synchronises (reductions, conversions) or
//     %h1 = … %x … %h                                                     stores, so that no assembler moves the next
//     %o = "tt.reduce"(%h1) …                                             loads up
//     tt.store %q, %o
//     scf.yield %p + %k, %h1
//   }
//
// The latency of the loads is then most of an iteration. D iterations are unrolled into one (D is 1 where an iteration
// takes longer than a load). Each of them, once it has used the value that was loaded for it, loads for the iteration D
// further on into the same registers:
//
//   %x0 = tt.load …, lb < ub    %x1 = tt.load …, lb + s < ub              prologue, on addresses of its own
//   %main = scf.for %i = %lb to %mid step D·%s iter_args(%h, %a = %x0, %b = %x1, addresses) {
//     the body with %a              %a1 = tt.load …, %i + 2·s < ub
//     the body with %b, at %i + s   %b1 = tt.load …, %i + 3·s < ub
//     scf.yield …, %a1, %b1
//   }
//   scf.for %i = %mid to %ub step %s iter_args(%main…)                    epilogue: fewer than D iterations, as before;
//                                                                         none if D is 1
//
// No value moves from register to register, which would wait for it. A predicate keeps loads for iterations after the
// last one from being executed; their values are not used.
//
// Steps: 1. is the loop suitable, 2. which loads, 3. which distance, 4. rewriting.
//
// A load can be issued ahead if its address and mask depend on no load of the loop and on nothing that must not be
// computed twice, and if no store of the loop may write what it reads (reachDifferentMemory). Not changed: loops with
// dots (tritongpu-pipeline), with inner loops, calls, atomics or barriers; loops with large loads or much work, which
// hide latencies by other warps and need their registers (those that only store: if the block loads much, the rows of a
// norm that are summed and stored); and loops that only store and have no floating-point recurrence, whose iterations
// many warps can have in flight at once.
//
// AMD: only loops that request two stages or more (`tt.num_stages`, tl.range's num_stages), as persistent kernels of
// norms and softmax do. Their loads are issued one iteration ahead, before this iteration's work and into registers of
// their own, since LLVM's scheduler moves no load up across barriers and stores:
//
//   %main = scf.for %i = %lb to %ub step %s iter_args(%h, %a = %x0) {
//     %a1 = tt.load …, %i + s < ub      the body with %a      scf.yield …, %a1
//   }
#include "ir/attribute_names.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/analyses/plain_stores.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/cleanup/predicated_load.h"
#include "transforms/passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;

namespace {

/// Registers of a value with each element in a register of its own. Scalar integers count as one whatever their width:
/// nearly all are extended indices.
int64_t unpackedRegisters(Value v) {
  if (v.type().isInteger()) return 1;
  auto elements = elementsPerThread(v.type());
  return elements ? registerBits(v.type().scalar(), *elements, 32) / 32 : std::numeric_limits<int32_t>::max();
}

/// Registers of a value as they are loaded: two halves in one.
int64_t packedRegisters(Value v) {
  auto elements = elementsPerThread(v.type());
  return elements ? llvm::divideCeil(registerBits(v.type().scalar(), *elements), kWordBits) : unpackedRegisters(v);
}

/// How often the threads exchange values in the operation, each time waiting for the slowest: between the lanes of a
/// warp, then between warps; a scan hands the totals back.
int64_t numExchanges(Operation *op) {
  if (op->is<tt::ScanOp>()) return 2;
  if (op->is<tt::ReduceOp>() || op->is<tt::GatherOp>() || op->is<tt::HistogramOp>()) return 1;
  auto c = op->dyn<ttg::ConvertLayoutOp>();
  if (!c) return 0;
  auto from = tensorOf(c.src());
  return layouts::sameLayout(from.encoding(), encodingOf(c.result()), from.shape()) ? 0 : 1;
}

class LoadsAhead {
public:
  LoadsAhead(scf::ForOp loop, const AxisInfoAnalysis &axis, const Tuning &tuning, bool isAmd)
      : axis_(axis), tuning_(tuning), isAmd_(isAmd), loop_(loop), body_(*loop.body().front()), c_(loop->context()) {}

  bool run() {
    if (!isSuitable() || !findLoads() || !chooseDistance()) return false;
    rewrite();
    return true;
  }
  std::string summary() const {
    return llvm::formatv("{0} of the loop's loads are issued {1} iteration{2} ahead, in {3} registers", loads_.size(),
                         distance_, distance_ == 1 ? "" : "s", registers_ * distance_)
        .str();
  }
  llvm::json::Object facts() const {
    return llvm::json::Object{
        {"loads", int64_t(loads_.size())}, {"distance", distance_}, {"registers", registers_ * distance_}};
  }

private:
  // ---- 1. suitable loops ----

  /// Whether the operation, with what is nested in it, has no effects but loads and stores of tensors by pointers.
  /// Collects the stores.
  bool canBeUnrolled(Operation &op) {
    bool isPlain = onlyStores(&op, stores_);
    op.walk([&](Operation *inner) {
      bool isAccess = inner->is<tt::StoreOp>() || !(effectsOf(inner) & ~kReadsGlobal) || inner->numRegions();
      isPlain &= isAccess && !isLoopOrCall(inner) && !isDot(inner);
    });
    return isPlain;
  }
  /// Bounds are computed in 64 bits. A counter of 64 bits must start at a number that is not negative, and have a small
  /// step, so that nothing wraps.
  bool boundsCannotWrap() {
    Type type = loop_.lowerBound().type();
    if (loop_.unsignedCmp() || !type.isInteger() || type.bitWidth() > 64) return false;
    if (type.bitWidth() <= 32) return true;
    auto *lower = constantBits(loop_.lowerBound());
    auto *step = constantBits(loop_.step());
    bool smallStep = step && step->isStrictlyPositive() && step->getActiveBits() <= 32;
    return lower && lower->isNonNegative() && smallStep;
  }
  bool requestsStages() const {
    auto stages = loop_->attr<IntegerAttr>(kNumStagesAttr);
    return stages && stages.sext() > 1;
  }
  bool isSuitable() {
    if (isAmd_ && !requestsStages()) return false;
    if (!loop_.body().hasOneBlock() || !boundsCannotWrap()) return false;
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (!canBeUnrolled(op)) return false;
      exchanges_ += numExchanges(&op);
      for (auto r : op.results()) work_ += unpackedRegisters(r);
      if (work_ > tuning_.loadsAheadMaxWork) return false;
    }
    // Independent iterations are spread over warps; those of a recurrence cannot be.
    bool isRecurrence = llvm::any_of(loop_.initArgs(), [](Value v) { return v.type().scalar().isFloat(); });
    return exchanges_ || (isRecurrence && !stores_.empty());
  }

  // ---- 2. loads ----

  /// Whether it loads the same in each iteration, such as the weights of a norm.
  bool readsTheSame(tt::LoadOp load) const {
    return llvm::none_of(load->operands(), [&](Value v) { return v.parentBlock() == &body_; });
  }

  bool findLoads() {
    for (auto &op : body_) {
      auto load = op.dyn<tt::LoadOp>();
      if (!load || load.isVolatile() || (effectsOf(&op) & ~kReadsGlobal)) continue;
      if (conflictBetween(stores_, {&op}).store) continue;
      BodySlice producer = producer_;
      llvm::SmallVector<Value, 4> operands(load->operands().begin(), load->operands().end());
      auto canBeRepeated = [](Operation *def) { return !def->numRegions() && isPure(def) && !numExchanges(def); };
      if (addToSlice(producer, body_, operands, Across::Iterations, canBeRepeated)) continue;
      if (isAmd_ && readsTheSame(load)) continue; // in a cache, for which the iteration's other work is long enough
      producer_ = std::move(producer);
      loads_.push_back(load);
      registers_ += isAmd_ ? packedRegisters(load.result()) : unpackedRegisters(load.result());
    }
    return !loads_.empty();
  }
  /// Bytes that the block loads in an iteration.
  int64_t loadedBytes() {
    int64_t bits = 0;
    for (auto load : loads_) {
      Type type = load.result().type();
      int64_t elements = type.isTensor() ? type.cast<TensorType>().numElements() : 1;
      bits += elements * int64_t(type.scalar().isPointer() ? 64 : type.scalar().bitWidth());
    }
    return bits / 8;
  }

  // ---- 3. distance ----

  /// Registers of a loop-carried value of the producer: consecutive addresses are one address and constants.
  int64_t carriedRegisters(unsigned i) {
    CarriedValue c = carried(loop_, i);
    int64_t registers = unpackedRegisters(c.init);
    auto elements = elementsPerThread(c.init.type());
    bool isPointers = c.init.type().isTensor() && c.init.type().scalar().isPointer();
    if (!isPointers || !elements) return registers;
    int64_t consecutive = 1;
    for (int64_t n : axis_.get(c.argument).contiguity) consecutive = std::max(consecutive, std::min(n, *elements));
    return registers / consecutive;
  }

  /// Whether the loop has a second iteration.
  bool isRepeated() const {
    auto *lower = constantBits(loop_.lowerBound());
    auto *upper = constantBits(loop_.upperBound());
    auto *step = constantBits(loop_.step());
    if (step && !step->isStrictlyPositive()) return false;
    if (!lower || !upper || !step) return true;
    return lower->slt(*upper) && (*upper - *lower).ugt(*step);
  }
  /// One iteration ahead, if the loads and their addresses take at most a quarter of the registers that vector
  /// instructions address.
  bool fitsBeforeWork() {
    constexpr int64_t kMostRegisters = 64;
    int64_t held = registers_;
    for (auto i : producer_.carried) held += carriedRegisters(i);
    distance_ = 1;
    isBeforeWork_ = true;
    return held <= kMostRegisters && isRepeated();
  }

  bool chooseDistance() {
    if (isAmd_) return fitsBeforeWork();
    if (!exchanges_ && loadedBytes() >= tuning_.loopBytesOfBlock) return false;
    int64_t available = exchanges_ ? tuning_.loadsAheadRegistersSynchronized : tuning_.loadsAheadRegistersStoring;
    int64_t addresses = 0;
    for (auto i : producer_.carried) addresses += carriedRegisters(i);
    auto fits = [&](int64_t distance) {
      return registers_ * distance + addresses <= available && work_ * distance <= tuning_.loadsAheadMaxWork;
    };
    distance_ = tuning_.loadsAheadMaxDistance;
    while (distance_ > 1 && !fits(distance_)) distance_ /= 2;
    bool isLong = exchanges_ > tuning_.loadsAheadShortExchanges;
    if (isLong) distance_ = 1;
    auto *lower = constantBits(loop_.lowerBound());
    auto *upper = constantBits(loop_.upperBound());
    auto *step = constantBits(loop_.step());
    if (step && !step->isStrictlyPositive()) return false;
    if (lower && upper && step) {
      int64_t s = step->getSExtValue();
      int64_t iterations = (upper->getSExtValue() - lower->getSExtValue() + s - 1) / s;
      if (iterations < 2) return false;
      distance_ = std::min(distance_, iterations);
    }
    return isLong ? fits(distance_) : distance_ > 1;
  }

  // ---- 4. rewriting ----

  Value extend(Builder &b, Value v) {
    return v.type() == c_.i64() ? v : arith::ExtsiOp::create(b, loc_, c_.i64(), v).op->result();
  }
  Value truncate(Builder &b, Value v, Type type) {
    return v.type() == type ? v : arith::TrunciOp::create(b, loc_, type, v).op->result();
  }
  Value number(Builder &b, int64_t v) { return b.intConstant(loc_, c_.i64(), v); }
  template <class OpT> Value make(Builder &b, Value x, Value y) { return OpT::create(b, loc_, x, y).op->result(); }
  Value isLess(Builder &b, Value x, Value y) { return compare(b, loc_, CmpIPredicate::Slt, x, y); }

  /// The producer and the loads on the values of `map`, masked by the predicate.
  llvm::SmallVector<Value, 4> emitLoads(Builder &b, ValueMap &map, Value predicate) {
    for (auto &op : body_)
      if (producer_.operations.contains(&op)) b.clone(&op, map);
    llvm::SmallVector<Value, 4> values;
    for (auto load : loads_) values.push_back(cloneLoad(b, loc_, load, map, predicate));
    return values;
  }

  /// offset_[d] = d·s, and bound_[d] = ub - d·s, below which there is an iteration d further on.
  void computeOffsets(Builder &b, Value upper64, Value step64) {
    Type type = loop_.step().type();
    bool isNarrow = type.bitWidth() < 64;
    Value least = number(b, isNarrow ? -(int64_t(1) << (type.bitWidth() - 1)) : std::numeric_limits<int64_t>::min());
    for (int64_t d = 0; d < 2 * distance_; ++d) {
      offset_.push_back(make<arith::MuliOp>(b, loop_.step(), b.intConstant(loc_, type, d)));
      Value ahead = make<arith::MuliOp>(b, step64, number(b, d));
      Value bound = make<arith::MaxsiOp>(b, make<arith::SubiOp>(b, upper64, ahead), least);
      bound_.push_back(truncate(b, bound, type));
    }
  }
  Value counterAt(Builder &b, Value first, int64_t d) { return d ? make<arith::AddiOp>(b, first, offset_[d]) : first; }
  /// The loads for the iteration `d` after the one at `first`; takes the producer's state one iteration further.
  llvm::SmallVector<Value, 4> emitLoadsAhead(Builder &b, Value first, int64_t d) {
    ValueMap map;
    map.map(inductionVariable(loop_), counterAt(b, first, d));
    for (auto [k, i] : llvm::enumerate(producer_.carried)) map.map(carried(loop_, i).argument, producerState_[k]);
    auto values = emitLoads(b, map, isLess(b, first, bound_[d]));
    for (auto [k, i] : llvm::enumerate(producer_.carried))
      producerState_[k] = map.lookupOrSelf(carried(loop_, i).yielded);
    return values;
  }

  void rewrite() {
    loc_ = loop_->loc();
    Builder b(loop_.op);
    Value lower = loop_.lowerBound();
    Type type = lower.type();
    Value lower64 = extend(b, lower);
    Value upper64 = make<arith::MaxsiOp>(b, extend(b, loop_.upperBound()), lower64);
    Value step64 = extend(b, loop_.step());
    computeOffsets(b, upper64, step64);
    // The unrolled loop ends where fewer than D iterations are left: nowhere, if D is 1.
    Value middle = loop_.upperBound();
    Value unrolledStep = loop_.step();
    if (distance_ > 1) {
      Value unrolled64 = make<arith::MuliOp>(b, step64, number(b, distance_));
      Value trips = make<arith::DivuiOp>(b, make<arith::SubiOp>(b, upper64, lower64), unrolled64);
      middle = truncate(b, make<arith::AddiOp>(b, lower64, make<arith::MuliOp>(b, trips, unrolled64)), type);
      unrolledStep = truncate(b, unrolled64, type);
    }

    // Prologue.
    for (auto i : producer_.carried) producerState_.push_back(loop_.initArgs()[i]);
    llvm::SmallVector<Value, 16> loaded;
    for (int64_t d = 0; d < distance_; ++d)
      for (auto v : emitLoadsAhead(b, lower, d)) loaded.push_back(v);

    // The unrolled loop carries the old loop's values, the producer's, and the loaded ones.
    llvm::SmallVector<Value, 16> inits(loop_.initArgs().begin(), loop_.initArgs().end());
    inits.append(producerState_.begin(), producerState_.end());
    inits.append(loaded.begin(), loaded.end());
    llvm::SmallVector<Type, 16> types;
    for (auto v : inits) types.push_back(v.type());
    auto main = scf::ForOp::create(b, loc_, types, lower, middle, unrolledStep, inits, loop_->attrs());
    Block *block = main.body().addBlock();
    block->addArg(type, inductionVariable(loop_).loc());
    for (auto t : types) block->addArg(t, loc_);
    emitUnrolledBody(*block);

    if (distance_ == 1) {
      for (unsigned i = 0; i < numCarried(loop_); ++i) loop_->result(i).replaceAllUsesWith(main->result(i));
      loop_->erase();
      return;
    }
    // The old loop becomes the epilogue.
    loop_.setLowerBound(middle);
    for (unsigned i = 0; i < numCarried(loop_); ++i) carried(loop_, i).setInit(main->result(i));
  }

  void emitUnrolledBody(Block &block) {
    Builder in = Builder::atEnd(&block);
    Operation *yield = body_.terminator();
    unsigned numOwn = numCarried(loop_);
    auto argument = [&](unsigned carriedValue) { return carriedArgument(block, carriedValue); };
    Value first = inductionVariable(block);
    llvm::SmallVector<Value, 16> current, next;
    for (unsigned i = 0; i < numOwn; ++i) current.push_back(argument(i));
    for (unsigned k = 0; k < producerState_.size(); ++k) producerState_[k] = argument(numOwn + k);
    unsigned loadedAt = numOwn + producerState_.size();
    auto isLoadAhead = [&](Operation &op) { return llvm::any_of(loads_, [&](auto &l) { return l.op == &op; }); };
    for (int64_t d = 0; d < distance_; ++d) {
      ValueMap map;
      map.map(inductionVariable(loop_), counterAt(in, first, d));
      for (unsigned i = 0; i < numOwn; ++i) map.map(carried(loop_, i).argument, current[i]);
      for (auto [k, load] : llvm::enumerate(loads_)) map.map(load.result(), argument(loadedAt + d * loads_.size() + k));
      if (isBeforeWork_) next.append(emitLoadsAhead(in, first, d + distance_));
      for (auto &op : body_)
        if (&op != yield && !isLoadAhead(op)) in.clone(&op, map);
      for (unsigned i = 0; i < numOwn; ++i) current[i] = map.lookupOrSelf(carried(loop_, i).yielded);
      if (!isBeforeWork_) next.append(emitLoadsAhead(in, first, d + distance_));
    }
    llvm::SmallVector<Value, 16> yields(current);
    yields.append(producerState_.begin(), producerState_.end());
    yields.append(next.begin(), next.end());
    scf::YieldOp::create(in, yield->loc(), yields);
  }

  const AxisInfoAnalysis &axis_;
  const Tuning &tuning_;
  bool isAmd_;
  scf::ForOp loop_;
  Block &body_;
  Context &c_;
  Location loc_;
  int64_t exchanges_ = 0; // of values between threads, in every iteration
  int64_t work_ = 0;      // registers of all results of an iteration: a measure of its code
  int64_t registers_ = 0; // of the loaded values of an iteration
  int64_t distance_ = 1;
  bool isBeforeWork_ = false; // the loads for iterations to come, else behind it
  llvm::SmallVector<Operation *, 4> stores_;
  llvm::SmallVector<tt::LoadOp, 8> loads_;     // in the order of the text
  BodySlice producer_;                         // what their addresses and masks are computed from
  llvm::SmallVector<Value, 8> producerState_;  // those values, at the iteration that the producer is at
  llvm::SmallVector<Value, 8> offset_, bound_; // see computeOffsets
};

} // namespace

absl::StatusOr<bool> runLoadsAhead(Module &m, PassContext &c) {
  auto loops = collect<scf::ForOp>(m.op());
  bool changed = false;
  if (loops.empty()) return false;
  AxisInfoAnalysis axis(m);
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  for (auto f : loops) {
    RemarkPlace place(f.op);
    LoadsAhead ahead(f, axis, tuning, c.target && c.target->vendor == Vendor::Amd);
    if (!ahead.run()) continue; // else the loop may be gone
    changed = true;
    c.remark({Remark::Applied, "", "LoadsAhead", place, ahead.summary(), ahead.facts()});
  }
  return changed;
}

} // namespace tessera::transforms
