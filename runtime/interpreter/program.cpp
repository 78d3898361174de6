// Values, dispatch and control flow of a program (see program.h).
#include "runtime/interpreter/program.h"
#include "ir/op_table.h"
#include "ir/printer.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/interpreter/float_formats.h"

namespace tessera::runtime {
using namespace ir;

// ---- the plan ---------------------------------------------------------------------------------------------------------

/// More elements than any tensor of a real kernel, few enough to hold.
static constexpr int64_t kMaxElements = int64_t(1) << 26;

/// The operation of the block in which `op` is nested, or null.
static Operation *ancestorIn(Operation *op, Block *block) {
  while (op && op->block() != block) op = op->parentOp();
  return op;
}

static std::string unusable(Type t) {
  if (!t.isa<ShapedType>()) return "";
  int64_t n = 1;
  for (int64_t d : t.cast<ShapedType>().shape()) {
    if (d <= 0) return "has a dimension of " + std::to_string(d);
    if (d > kMaxElements || n * d > kMaxElements) return "has more than " + std::to_string(kMaxElements) + " elements";
    n *= d;
  }
  if (!t.isa<TensorDescType>() && !laneBytes(t.scalar())) {
    Type e = t.cast<ShapedType>().element();
    if (!laneBytes(e)) return "has elements that the interpreter cannot hold";
  }
  return "";
}

bool Plan::visit(Operation *func, DiagnosticEngine &diag) {
  unsigned next = 0;
  bool ok = true;
  auto define = [&](Value v, Operation *at) {
    slots_[v.impl()] = next++;
    if (auto why = unusable(v.type()); !why.empty() && ok) {
      ok = false;
      diag.error(at->loc(), "the type " + v.type().str() + " " + why);
    }
    // The last operation of the value's block that uses it, itself or through what is nested in it.
    Block *block = v.parentBlock();
    Operation *last = nullptr;
    for (auto *use = v.firstUse(); use; use = use->nextUse) {
      Operation *user = ancestorIn(use->owner, block);
      if (!user || user->info().has(kTerminator)) return; // lives on in other blocks, or leaves this one
      if (!last || last->isBeforeInBlock(user)) last = user;
    }
    if (!last) last = v.definingOp();
    if (last) dying_[last].push_back(slots_[v.impl()]);
  };
  func->walk([&](Operation *op) {
    for (auto v : op->results()) define(v, op);
    for (auto &r : op->regions())
      for (auto *b : r.blocks())
        for (auto *a : b->args()) define(Value(a), op);
  });
  numSlots_[func] = next;
  return ok;
}

bool Plan::computeLanewise(Region &r) {
  if (auto it = lanewise_.find(&r); it != lanewise_.end()) return it->second;
  lanewise_[&r] = false; // while it is being computed: recursive functions are not
  bool ok = r.hasOneBlock();
  if (ok)
    for (auto &op : *r.front()) {
      if (op.info().has(kTerminator) ? op.numSuccessors() == 0 : isElementwise(&op)) continue;
      if (op.is<arith::ConstantOp>() || op.is<ub::PoisonOp>()) continue;
      if (auto c = op.dyn<tt::CallOp>()) {
        Operation *callee = function(c.callee());
        if (callee && !callee->region(0).empty() && computeLanewise(callee->region(0))) continue;
      }
      ok = false;
      break;
    }
  return lanewise_[&r] = ok;
}

bool Plan::build(Module &m, DiagnosticEngine &diag) {
  bool ok = true;
  for (auto &op : *m.body())
    if (auto f = op.dyn<tt::FuncOp>()) functions_[f.symName()] = &op;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::FuncOp>()) ok &= visit(op, diag);
  });
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::ReduceOp>() || op->is<tt::ScanOp>() || op->is<tt::MapElementwiseOp>()) computeLanewise(op->region(0));
  });
  return ok;
}

// ---- faults -----------------------------------------------------------------------------------------------------------

bool Program::fail(Op op, const llvm::Twine &what) {
  if (!fault_) {
    fault_.emplace();
    fault_->op = op;
    fault_->message = what.str();
    if (frame_ && frame_->caller) fault_->callers.push_back(frame_->caller);
  }
  return false;
}

const char *whyNotInterpreted(Opcode o) {
  switch (o) {
  case Opcode::tt_elementwise_inline_asm: return "it is assembly of a target";
  case Opcode::gpu_thread_id:
  case Opcode::ttg_warp_id: return "it names a single thread or warp, and the interpreter evaluates whole blocks";
  case Opcode::ttg_warp_specialize:
  case Opcode::ttg_warp_specialize_partitions:
  case Opcode::ttg_warp_yield:
  case Opcode::ttg_warp_return: return "it runs groups of warps at once, and the interpreter evaluates whole blocks";
  case Opcode::amdg_local_load_packed_tranposed: return "its order of packed elements depends on the instruction that reads them";
  case Opcode::amdg_scaled_upcast_fp8:
  case Opcode::amdg_scaled_upcast_fp4: return "the format of its scales depends on the instruction";
  case Opcode::ttng_clc_get_program_id:
  case Opcode::ttng_clc_is_canceled:
  case Opcode::ttng_clc_load_result:
  case Opcode::ttng_clc_try_cancel: return "it asks the hardware which block runs next";
  case Opcode::amdg_arrive_barrier:
  case Opcode::amdg_async_copy_local_to_global:
  case Opcode::amdg_async_copy_mbarrier_arrive:
  case Opcode::amdg_buffer_atomic_cas:
  case Opcode::amdg_init_barrier:
  case Opcode::amdg_masked_load:
  case Opcode::amdg_masked_store:
  case Opcode::amdg_wait_barrier:
  case Opcode::ttg_local_atomic_scatter_rmw:
  case Opcode::ttng_async_copy_mbarrier_arrive:
  case Opcode::ttng_async_shared_store:
  case Opcode::ttng_async_tma_gather:
  case Opcode::ttng_async_tma_scatter:
  case Opcode::ttng_tc_gen5_mma_scaled:
  case Opcode::ttng_tmem_copy:
  case Opcode::ttng_tmem_subslice: return "this version does not know what it does to memory";
  case Opcode::unregistered: return "it is of a dialect that is not known";
  default: return nullptr;
  }
}

bool Program::notInterpreted(Op op) {
  const char *why = whyNotInterpreted(op->opcode());
  return fail(op, "the interpreter cannot evaluate '" + op->name() + "': " + (why ? why : "it is not expected here"));
}

// ---- values -----------------------------------------------------------------------------------------------------------

static bool isBlockPointer(Type t) { return t.isPointer() && t.cast<PointerType>().pointee().isTensor(); }

bool Program::setUndefined(Value v) {
  Type t = v.type();
  if (t.isa<AsyncTokenType>()) return set(v, Lanes());
  Type s = t.scalar();
  if (t.isa<MemDescType>() || t.isa<TensorDescType>() || isBlockPointer(t) || !laneBytes(s)) return fail(v.definingOp() ? v.definingOp() : v.ownerBlock()->parentOp(), "an undefined value of type " + t.str() + " cannot be evaluated");
  return set(v, undefined(s, t.isTensor() ? t.cast<TensorType>().numElements() : 1));
}

bool Program::evaluateConstant(Op op) {
  Attribute a = op->attr("value");
  Value result = op->result();
  unsigned width = laneBytes(result.type().scalar());
  if (!width) return fail(op, "the interpreter cannot hold constants of type " + result.type().str());
  auto bitsAt = [&](Lanes &l, size_t i, const llvm::APInt &bits) {
    std::memcpy(l.bytes() + i * width, bits.getRawData(), std::min<size_t>(width, bits.getNumWords() * 8));
  };
  Lanes first = Lanes::one(width, 0);
  if (auto dense = a.dyn_cast<DenseElementsAttr>()) {
    if (dense.isSplat()) {
      bitsAt(first, 0, dense.splat());
      return set(result, repeat(pool_, first, dense.size()));
    }
    Lanes l(pool_, width, dense.size());
    for (size_t i = 0; i < dense.size(); ++i) bitsAt(l, i, dense.element(i));
    return set(result, std::move(l));
  }
  const llvm::APInt *bits = splatBits(a);
  if (!bits) return fail(op, "the interpreter does not know this constant");
  bitsAt(first, 0, *bits);
  return set(result, std::move(first));
}

bool Program::evaluateElementwiseOp(Op op) {
  // Whole objects can be chosen between, and pointers to blocks renamed.
  if (op->numOperands() && get(op->operand(op->numOperands() - 1)).object) {
    if (op->is<arith::SelectOp>()) return pass(op->operand(flag(op->operand(0)) ? 1 : 2), op->result());
    if (op->is<tt::BitcastOp>()) return pass(op->operand(0), op->result());
  }
  for (auto v : op->results())
    if (isBlockPointer(v.type())) return fail(op, "the interpreter cannot make a block pointer with '" + op->name() + "'");
  llvm::SmallVector<const Lanes *, 4> in;
  for (auto v : op->operands()) {
    in.push_back(&lanes(v));
    if (in.back()->empty()) return fail(op, "the interpreter cannot evaluate '" + op->name() + "' on a value of type " + v.type().str());
  }
  llvm::SmallVector<Lanes, 2> results;
  std::string reason;
  if (!evaluateElementwise(op, in, pool_, results, reason)) return fail(op, reason);
  for (unsigned i = 0; i < results.size(); ++i) set(op->result(i), std::move(results[i]));
  return true;
}

static std::string printed(Type t, uint64_t bits, bool hex, bool isSigned) {
  if (hex || t.isPointer()) return llvm::formatv("{0:x}", bits).str();
  if (t.isFloat()) {
    char text[40];
    snprintf(text, sizeof text, "%f", decodeFloat(t.cast<FloatType>().floatKind(), bits));
    return text;
  }
  return isSigned ? std::to_string(signExtend(bits, t.bitWidth())) : std::to_string(bits);
}

bool Program::evaluatePrint(tt::PrintOp op) {
  if (!run_.print) return true;
  std::string program = llvm::formatv("pid ({0}, {1}, {2}) ", id_[0], id_[1], id_[2]).str();
  if (op.args().empty()) run_.print(program + op.prefix().str());
  for (unsigned k = 0; k < op.args().size(); ++k) {
    Value v = op.args()[k];
    Type t = v.type().scalar();
    const Lanes &l = lanes(v);
    bool isSigned = k < op.isSigned().size() ? op.isSigned()[k] : true;
    Shape shape = v.type().isTensor() ? Shape(v.type().cast<TensorType>().shape()) : Shape(), strides = rowMajorStrides(shape);
    for (size_t i = 0; i < l.size(); ++i) {
      std::string line = program + "idx (";
      for (unsigned d = 0; d < shape.size(); ++d) line += (d ? ", " : "") + std::to_string(int64_t(i) / strides[d] % shape[d]);
      line += ")" + op.prefix().str();
      if (op.args().size() > 1) line += "(operand " + std::to_string(k) + ") ";
      run_.print(line + printed(t, l.word(i), op.hex(), isSigned));
    }
  }
  return true;
}

bool Program::evaluateAssert(Op op, Value condition, llvm::StringRef message) {
  const Lanes &l = lanes(condition);
  for (size_t i = 0; i < l.size(); ++i)
    if (!l.flag(i)) return fail(op, "assertion failed: " + message + (l.size() > 1 ? " (element " + llvm::Twine(i) + ")" : llvm::Twine()).str());
  return true;
}

// ---- control flow -----------------------------------------------------------------------------------------------------

bool Program::run(Op kernel, llvm::ArrayRef<InterpreterArg> args) {
  llvm::SmallVector<Datum, 16> in;
  Block *entry = kernel->region(0).front();
  for (unsigned i = 0; i < args.size(); ++i) {
    Type t = entry->arg(i).type();
    uint64_t bits = args[i].buffer >= 0 ? GlobalMemory::baseOf(args[i].buffer) + args[i].bits : args[i].bits;
    in.push_back({Lanes::one(laneBytes(t), zeroExtend(bits, t.bitWidth())), nullptr});
  }
  llvm::SmallVector<Datum, 2> results;
  return call(kernel, in, results, nullptr);
}

bool Program::call(Op func, llvm::ArrayRef<Datum> args, llvm::SmallVectorImpl<Datum> &results, Op caller) {
  Region &body = func->region(0);
  if (body.empty()) return fail(caller ? caller : func, "the function '" + func->cast<tt::FuncOp>().symName() + "' has no body");
  if (depth_ >= 128) return fail(caller ? caller : func, "calls nest more than 128 deep");
  Frame frame{std::vector<Datum>(run_.plan.numSlots(func)), caller}, *outer = frame_;
  ++depth_;
  frame_ = &frame;
  for (unsigned i = 0; i < args.size(); ++i) slot(body.front()->arg(i)) = args[i];
  Op end = runRegion(body);
  if (end)
    for (auto v : end->operands()) results.push_back(get(v));
  frame_ = outer;
  --depth_;
  if (!end && fault_ && frame_ && frame_->caller) fault_->callers.push_back(frame_->caller);
  return end;
}

Operation *Program::runRegion(Region &r) {
  if (nesting_ >= 400) {
    fail(r.parentOp(), "regions nest more than 400 deep");
    return nullptr;
  }
  ++nesting_;
  Block *b = r.front();
  Op end = nullptr;
  for (int64_t branches = 0;; ++branches) {
    Op t = nullptr;
    for (auto &op : *b) {
      if (op.info().has(kTerminator)) {
        t = &op;
        break;
      }
      if (!evaluate(&op)) break;
    }
    if (!t) break;
    OperandRange values;
    if (t->is<cf::BrOp>()) {
      b = t->successor(0);
      values = t->operands();
    } else if (auto c = t->dyn<cf::CondBrOp>()) {
      bool taken = flag(c.condition());
      b = t->successor(taken ? 0 : 1);
      values = taken ? c.trueArgs() : c.falseArgs();
    } else {
      if (whyNotInterpreted(t->opcode())) notInterpreted(t);
      else end = t;
      break;
    }
    if (!loopBack(t, branches)) break;
    llvm::SmallVector<Datum, 8> passed;
    for (auto v : values) passed.push_back(get(v));
    for (unsigned i = 0; i < passed.size(); ++i) slot(b->arg(i)) = std::move(passed[i]);
  }
  --nesting_;
  return end;
}

bool Program::loopBack(Op loop, int64_t iteration) {
  if (iteration >= run_.options.maxIterations)
    return fail(loop, llvm::formatv("'{0}' has run {1} times without an end: a loop that does not terminate", loop->name(), iteration).str());
  if (iteration % 64 != 63) return true;
  if (run_.stop.load(std::memory_order_relaxed)) return false;
  // Atomics that change nothing, again and again: it waits for another program.
  bool spins = waited_ && !wrote_;
  waited_ = wrote_ = false;
  if (spins && !spin_()) return run_.stop ? false : fail(loop, llvm::formatv("deadlock: '{0}' waits for another program, and no program can go on", loop->name()).str());
  return true;
}

bool Program::evaluateCall(tt::CallOp op) {
  Op callee = run_.plan.function(op.callee());
  if (!callee) return fail(op, "the function '" + op.callee() + "' is not in the module");
  llvm::SmallVector<Datum, 8> args, results;
  for (auto v : op.operands()) args.push_back(get(v));
  if (!call(callee, args, results, op)) return false;
  for (unsigned i = 0; i < results.size(); ++i) slot(op->result(i)) = std::move(results[i]);
  return true;
}

bool Program::evaluateFor(scf::ForOp op) {
  Type t = op.lowerBound().type();
  bool isUnsigned = op.unsignedCmp();
  auto value = [&](Value v) -> Int128 { return isUnsigned ? Int128(word(v)) : Int128(integer(v)); };
  Int128 upper = value(op.upperBound()), step = value(op.step());
  if (step <= 0) return fail(op, "the loop's step is " + std::to_string(int64_t(step)) + ", and must be positive");
  unsigned n = op.initArgs().size();
  llvm::SmallVector<Datum, 8> carried;
  for (auto v : op.initArgs()) carried.push_back(get(v));
  Block *body = op.body().front();
  int64_t iteration = 0;
  for (Int128 i = value(op.lowerBound()); i < upper; i += step) {
    set(body->arg(0), Lanes::one(laneBytes(t), zeroExtend(uint64_t(i), t.bitWidth())));
    for (unsigned k = 0; k < n; ++k) slot(body->arg(k + 1)) = std::move(carried[k]);
    Op end = runRegion(op.body());
    if (!end) return false;
    for (unsigned k = 0; k < n; ++k) carried[k] = get(end->operand(k));
    if (!loopBack(op, iteration++)) return false;
  }
  for (unsigned k = 0; k < n; ++k) slot(op->result(k)) = std::move(carried[k]);
  return true;
}

bool Program::evaluateWhile(scf::WhileOp op) {
  llvm::SmallVector<Datum, 8> carried;
  for (auto v : op.inits()) carried.push_back(get(v));
  for (int64_t iteration = 0;; ++iteration) {
    for (unsigned k = 0; k < carried.size(); ++k) slot(op.before().front()->arg(k)) = std::move(carried[k]);
    Op end = runRegion(op.before());
    if (!end) return false;
    auto condition = end->cast<scf::ConditionOp>();
    llvm::SmallVector<Datum, 8> passed;
    for (auto v : condition.args()) passed.push_back(get(v));
    if (!flag(condition.condition())) {
      for (unsigned k = 0; k < passed.size(); ++k) slot(op->result(k)) = std::move(passed[k]);
      return true;
    }
    for (unsigned k = 0; k < passed.size(); ++k) slot(op.after().front()->arg(k)) = std::move(passed[k]);
    end = runRegion(op.after());
    if (!end) return false;
    carried.clear();
    for (auto v : end->operands()) carried.push_back(get(v));
    if (!loopBack(op, iteration)) return false;
  }
}

bool Program::yieldFrom(Op op, Region &r) {
  if (r.empty()) return true;
  Op end = runRegion(r);
  if (!end) return false;
  llvm::SmallVector<Datum, 4> values;
  for (auto v : end->operands()) values.push_back(get(v));
  for (unsigned i = 0; i < op->numResults(); ++i) slot(op->result(i)) = std::move(values[i]);
  return true;
}

bool Program::evaluateIf(scf::IfOp op) { return yieldFrom(op, flag(op.condition()) ? op.thenRegion() : op.elseRegion()); }

bool Program::evaluate(Op op) {
  if (++steps_ > run_.options.maxSteps) return fail(op, "the program has run " + std::to_string(run_.options.maxSteps) + " operations without an end");
  if (!dispatch(op)) return false;
  if (auto *dead = run_.plan.dying(op))
    for (unsigned s : *dead) frame_->values[s] = Datum();
  return true;
}

// ---- dispatch ---------------------------------------------------------------------------------------------------------

bool Program::dispatch(Op op) {
  switch (op->opcode()) {
  case Opcode::arith_constant: return evaluateConstant(op);
  case Opcode::ub_poison: return setUndefined(op->result());

  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int:
  case Opcode::tt_bitcast:
  case Opcode::tt_fp_to_fp:
  case Opcode::tt_clampf:
  case Opcode::tt_precise_sqrt:
  case Opcode::tt_precise_divf:
  case Opcode::tt_mulhiui:
  case Opcode::tt_addptr:
  case Opcode::tt_extern_elementwise:
  case Opcode::arith_addi:
  case Opcode::arith_subi:
  case Opcode::arith_muli:
  case Opcode::arith_shli:
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi:
  case Opcode::arith_andi:
  case Opcode::arith_ori:
  case Opcode::arith_xori:
  case Opcode::arith_maxsi:
  case Opcode::arith_maxui:
  case Opcode::arith_minsi:
  case Opcode::arith_minui:
  case Opcode::arith_subf:
  case Opcode::arith_divf:
  case Opcode::arith_remf:
  case Opcode::arith_addf:
  case Opcode::arith_mulf:
  case Opcode::arith_maximumf:
  case Opcode::arith_minimumf:
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf:
  case Opcode::arith_negf:
  case Opcode::arith_addui_extended:
  case Opcode::arith_mulsi_extended:
  case Opcode::arith_mului_extended:
  case Opcode::arith_cmpi:
  case Opcode::arith_cmpf:
  case Opcode::arith_select:
  case Opcode::arith_extsi:
  case Opcode::arith_extui:
  case Opcode::arith_trunci:
  case Opcode::arith_extf:
  case Opcode::arith_truncf:
  case Opcode::arith_sitofp:
  case Opcode::arith_uitofp:
  case Opcode::arith_fptosi:
  case Opcode::arith_fptoui:
  case Opcode::arith_bitcast:
  case Opcode::arith_index_cast:
  case Opcode::arith_index_castui:
  case Opcode::math_absf:
  case Opcode::math_ceil:
  case Opcode::math_floor:
  case Opcode::math_trunc:
  case Opcode::math_round:
  case Opcode::math_roundeven:
  case Opcode::math_exp:
  case Opcode::math_exp2:
  case Opcode::math_expm1:
  case Opcode::math_log:
  case Opcode::math_log1p:
  case Opcode::math_log2:
  case Opcode::math_log10:
  case Opcode::math_sqrt:
  case Opcode::math_rsqrt:
  case Opcode::math_sin:
  case Opcode::math_cos:
  case Opcode::math_tan:
  case Opcode::math_asin:
  case Opcode::math_acos:
  case Opcode::math_atan:
  case Opcode::math_sinh:
  case Opcode::math_cosh:
  case Opcode::math_tanh:
  case Opcode::math_asinh:
  case Opcode::math_acosh:
  case Opcode::math_atanh:
  case Opcode::math_cbrt:
  case Opcode::math_erf:
  case Opcode::math_erfc:
  case Opcode::math_atan2:
  case Opcode::math_copysign:
  case Opcode::math_powf:
  case Opcode::math_absi:
  case Opcode::math_ctlz:
  case Opcode::math_cttz:
  case Opcode::math_ctpop:
  case Opcode::math_fma:
  case Opcode::math_fpowi: return evaluateElementwiseOp(op);

  // Control flow.
  case Opcode::tt_call: return evaluateCall(op->cast<tt::CallOp>());
  case Opcode::scf_for: return evaluateFor(op->cast<scf::ForOp>());
  case Opcode::scf_while: return evaluateWhile(op->cast<scf::WhileOp>());
  case Opcode::scf_if: return evaluateIf(op->cast<scf::IfOp>());
  case Opcode::scf_execute_region: return yieldFrom(op, op->region(0));
  case Opcode::tt_get_program_id: return set(op->result(), Lanes::one(4, uint32_t(id_[unsigned(op->cast<tt::GetProgramIdOp>().axis())])));
  case Opcode::tt_get_num_programs: return set(op->result(), Lanes::one(4, uint32_t(run_.grid[unsigned(op->cast<tt::GetNumProgramsOp>().axis())])));
  case Opcode::gpu_block_id: {
    Type t = op->result().type();
    return set(op->result(), Lanes::one(laneBytes(t), zeroExtend(id_[unsigned(op->cast<gpu::BlockIdOp>().dimension())], t.bitWidth())));
  }
  case Opcode::tt_print: return evaluatePrint(op->cast<tt::PrintOp>());
  case Opcode::tt_assert: return evaluateAssert(op, op->cast<tt::AssertOp>().condition(), op->cast<tt::AssertOp>().message());
  case Opcode::cf_assert: return evaluateAssert(op, op->cast<cf::AssertOp>().condition(), op->cast<cf::AssertOp>().msg());
  case Opcode::llvm_intr_assume: return flag(op->operand(0)) || fail(op, "an assumption does not hold");
  case Opcode::builtin_unrealized_conversion_cast:
    if (op->numOperands() != op->numResults()) return fail(op, "the interpreter cannot evaluate a cast of " + llvm::Twine(op->numOperands()) + " values to " + llvm::Twine(op->numResults()));
    for (unsigned i = 0; i < op->numResults(); ++i) {
      Type from = op->operand(i).type(), to = op->result(i).type();
      bool same = from == to || (from.isTensor() && to.isTensor() && from.cast<TensorType>().shape() == to.cast<TensorType>().shape() && from.scalar() == to.scalar());
      if (!same) return fail(op, "the interpreter cannot evaluate a cast of " + from.str() + " to " + to.str());
      pass(op->operand(i), op->result(i));
    }
    return true;

  // Tensors.
  case Opcode::tt_splat: return set(op->result(), repeat(pool_, lanes(op->operand(0)), op->result().type().cast<TensorType>().numElements()));
  case Opcode::tt_unsplat:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape: // in row-major order, which allow_reorder allows too
  case Opcode::ttg_convert_layout:
  case Opcode::amdg_in_thread_transpose: return pass(op->operand(0), op->result());
  case Opcode::tt_broadcast: return broadcast(op->cast<tt::BroadcastOp>());
  case Opcode::tt_trans: return transpose(op->cast<tt::TransOp>());
  case Opcode::tt_cat: return cat(op->cast<tt::CatOp>());
  case Opcode::tt_join: return join(op->cast<tt::JoinOp>());
  case Opcode::tt_split: return split(op->cast<tt::SplitOp>());
  case Opcode::tt_gather: return gather(op->cast<tt::GatherOp>());
  case Opcode::tt_histogram: return histogram(op->cast<tt::HistogramOp>());
  case Opcode::tt_make_range: return makeRange(op->cast<tt::MakeRangeOp>());
  case Opcode::tt_reduce: return reduce(op->cast<tt::ReduceOp>());
  case Opcode::tt_scan: return scan(op->cast<tt::ScanOp>());
  case Opcode::tt_map_elementwise: return mapElementwise(op->cast<tt::MapElementwiseOp>());
  case Opcode::tt_dot: {
    auto d = op->cast<tt::DotOp>();
    Lanes out;
    return dot(op, d.a().type(), lanes(d.a()), d.b().type(), lanes(d.b()), d.c().type(), lanes(d.c()), d.inputPrecision(), out) && set(op->result(), std::move(out));
  }
  case Opcode::tt_dot_scaled: return dotScaled(op->cast<tt::DotScaledOp>());
  case Opcode::ttg_fp4_to_fp: return fp4ToFp(op->cast<ttg::Fp4ToFpOp>());
  case Opcode::amdg_extract_slice: return extractSlice(op->cast<amdg::ExtractSliceOp>());
  case Opcode::amdg_concat: return concat(op->cast<amdg::ConcatOp>());

  // Global memory.
  case Opcode::tt_load: return load(op->cast<tt::LoadOp>());
  case Opcode::tt_store: return store(op->cast<tt::StoreOp>());
  case Opcode::tt_atomic_rmw: return atomicRmw(op->cast<tt::AtomicRmwOp>());
  case Opcode::tt_atomic_cas: return atomicCas(op->cast<tt::AtomicCasOp>());
  case Opcode::tt_make_tensor_ptr: return makeBlockPointer(op->cast<tt::MakeTensorPtrOp>());
  case Opcode::tt_advance: return advance(op->cast<tt::AdvanceOp>());
  case Opcode::tt_make_tensor_descriptor: return makeDescriptor(op->cast<tt::MakeTensorDescriptorOp>());
  case Opcode::tt_descriptor_load: {
    auto d = op->cast<tt::DescriptorLoadOp>();
    Lanes out;
    return descriptorLoad(op, d.desc(), d.indices(), out) && set(op->result(), std::move(out));
  }
  case Opcode::tt_descriptor_store: {
    auto d = op->cast<tt::DescriptorStoreOp>();
    return descriptorStore(op, d.desc(), d.indices(), lanes(d.src()));
  }
  case Opcode::tt_descriptor_reduce: {
    auto d = op->cast<tt::DescriptorReduceOp>();
    return descriptorReduce(op, d.desc(), d.indices(), d.kind(), lanes(d.src()));
  }
  case Opcode::tt_descriptor_gather: return descriptorGather(op->cast<tt::DescriptorGatherOp>());
  case Opcode::tt_descriptor_scatter: return descriptorScatter(op->cast<tt::DescriptorScatterOp>());
  case Opcode::amdg_buffer_load: return bufferLoad(op->cast<amdg::BufferLoadOp>());
  case Opcode::amdg_buffer_store: return bufferStore(op->cast<amdg::BufferStoreOp>());
  case Opcode::amdg_buffer_atomic_rmw: return bufferAtomic(op->cast<amdg::BufferAtomicRmwOp>());
  case Opcode::ttg_global_scratch_alloc: return scratch(op->cast<ttg::GlobalScratchAllocOp>());
  case Opcode::ttng_tensormap_create: return tensormapCreate(op->cast<ttng::TensormapCreateOp>());
  case Opcode::ttng_reinterpret_tensor_descriptor: return reinterpretDescriptor(op->cast<ttng::ReinterpretTensorDescriptorOp>());

  // Shared and tensor memory.
  case Opcode::ttg_local_alloc: return localAlloc(op, op->cast<ttg::LocalAllocOp>().src(), op->cast<ttg::LocalAllocOp>().result());
  case Opcode::ttng_tmem_alloc: {
    auto t = op->cast<ttng::TmemAllocOp>();
    return localAlloc(op, t.src(), t.result()) && (!t.token() || set(t.token(), Lanes()));
  }
  case Opcode::ttg_local_dealloc:
    view(op->operand(0)).buffer->freed = true;
    return true;
  case Opcode::ttg_memdesc_index:
  case Opcode::ttg_memdesc_subslice:
  case Opcode::ttg_memdesc_trans:
  case Opcode::ttg_memdesc_reshape:
  case Opcode::ttg_memdesc_reinterpret: return viewOp(op);
  case Opcode::ttg_local_load: {
    auto l = op->cast<ttg::LocalLoadOp>();
    return checkLive(op, l.src()) && set(op->result(), readView(l.src()));
  }
  case Opcode::ttng_tmem_load: {
    auto l = op->cast<ttng::TmemLoadOp>();
    return checkLive(op, l.src()) && set(l.result(), readView(l.src())) && (!l.token() || set(l.token(), Lanes()));
  }
  case Opcode::ttg_local_store: {
    auto s = op->cast<ttg::LocalStoreOp>();
    return writeView(op, s.dst(), lanes(s.src()));
  }
  case Opcode::ttng_tmem_store: return tmemStore(op->cast<ttng::TmemStoreOp>());
  case Opcode::ttg_local_gather: return localGather(op->cast<ttg::LocalGatherOp>());
  case Opcode::ttg_local_scatter: return localScatter(op->cast<ttg::LocalScatterOp>());
  case Opcode::ttg_async_copy_global_to_local: {
    auto c = op->cast<ttg::AsyncCopyGlobalToLocalOp>();
    return asyncCopy(op, c.src().type().scalar().cast<PointerType>().pointee(), lanes(c.src()), c.mask(), c.other(), c.result()) && set(c.token(), Lanes());
  }
  case Opcode::amdg_buffer_load_to_local: {
    auto c = op->cast<amdg::BufferLoadToLocalOp>();
    return asyncCopy(op, c.ptr().type().cast<PointerType>().pointee(), bufferAddresses(c.ptr(), c.offsets()), c.mask(), c.other(), c.dest()) && set(c.token(), Lanes());
  }
  case Opcode::ttg_predicate_stage: {
    // Whether iteration iv + stage of the unpipelined loop exists: iv < ub - (maxStage - stage) * step.
    auto s = op->cast<ttg::PredicateStageOp>();
    Int128 bound = Int128(integer(s.ub())) - Int128(s.maxStage() - s.stage()) * integer(s.step());
    return set(op->result(), Lanes::one(1, integer(s.iv()) < bound));
  }
  case Opcode::ttg_mask: return evaluateMask(op->cast<ttg::MaskOp>());
  case Opcode::ttng_warp_group_dot: return warpGroupDot(op->cast<ttng::WarpGroupDotOp>());
  case Opcode::ttng_warp_group_dot_wait:
    for (unsigned i = 0; i < op->numOperands(); ++i) pass(op->operand(i), op->result(i));
    return true;
  case Opcode::ttng_tc_gen5_mma: return tensorCoreDot(op->cast<ttng::TcGen5MmaOp>());
  case Opcode::ttng_tc_gen5_commit: {
    auto c = op->cast<ttng::TcGen5CommitOp>();
    if (!c.pred() || flag(c.pred())) arrive(c.barrier(), 1);
    return true;
  }
  case Opcode::ttng_async_tma_copy_global_to_local: return tmaLoad(op->cast<ttng::AsyncTmaCopyGlobalToLocalOp>());
  case Opcode::ttng_async_tma_copy_local_to_global: {
    auto c = op->cast<ttng::AsyncTmaCopyLocalToGlobalOp>();
    return checkLive(op, c.src()) && descriptorStore(op, c.desc(), c.coord(), readView(c.src()));
  }
  case Opcode::ttng_async_tma_reduce: {
    auto c = op->cast<ttng::AsyncTmaReduceOp>();
    return checkLive(op, c.src()) && descriptorReduce(op, c.desc(), c.coord(), c.kind(), readView(c.src()));
  }
  case Opcode::ttng_init_barrier: {
    auto b = op->cast<ttng::InitBarrierOp>();
    barrier(b.alloc()) = {b.count(), b.count(), 0, false};
    return true;
  }
  case Opcode::ttng_inval_barrier: {
    const SharedView &v = view(op->operand(0));
    for (uint32_t i : v.at) v.buffer->barriers.erase(i);
    return true;
  }
  case Opcode::ttng_barrier_expect: {
    auto b = op->cast<ttng::BarrierExpectOp>();
    if (!flag(b.pred())) return true;
    barrier(b.alloc()).bytes += b.size();
    arrive(b.alloc(), 1);
    return true;
  }
  case Opcode::ttng_arrive_barrier: {
    auto b = op->cast<ttng::ArriveBarrierOp>();
    if (!b.pred() || flag(b.pred())) arrive(b.alloc(), b.count());
    return true;
  }
  case Opcode::ttng_wait_barrier: return waitBarrier(op->cast<ttng::WaitBarrierOp>());

  // Everything has happened already when these run.
  case Opcode::ttg_async_wait:
  case Opcode::ttg_async_commit_group:
  case Opcode::amdg_async_wait: return set(op->result(), Lanes());
  case Opcode::gpu_barrier:
  case Opcode::ttg_barrier:
  case Opcode::ttg_local_barrier:
  case Opcode::ttng_fence_async_shared:
  case Opcode::ttng_async_tma_store_wait:
  case Opcode::ttng_tensormap_fenceproxy_acquire:
  case Opcode::ttng_cluster_arrive:
  case Opcode::ttng_cluster_wait:
  case Opcode::ttng_cluster_barrier:
  case Opcode::ttng_fence_mbarrier_init_release_cluster:
  case Opcode::amdg_cluster_barrier_arrive:
  case Opcode::amdg_cluster_barrier_wait:
  case Opcode::amdg_cond_barrier:
  case Opcode::rocdl_sched_barrier:
  case Opcode::rocdl_s_setprio:
  case Opcode::rocdl_barrier: return true;

  // Evaluated by what holds them, or not at all (whyNotInterpreted).
  case Opcode::builtin_module:
  case Opcode::tt_func:
  case Opcode::tt_return:
  case Opcode::tt_reduce_return:
  case Opcode::tt_scan_return:
  case Opcode::tt_map_elementwise_return:
  case Opcode::scf_condition:
  case Opcode::scf_yield:
  case Opcode::cf_br:
  case Opcode::cf_cond_br:
  case Opcode::ttg_mask_return:
  case Opcode::tt_elementwise_inline_asm:
  case Opcode::gpu_thread_id:
  case Opcode::ttg_warp_id:
  case Opcode::ttg_warp_specialize:
  case Opcode::ttg_warp_specialize_partitions:
  case Opcode::ttg_warp_yield:
  case Opcode::ttg_warp_return:
  case Opcode::amdg_local_load_packed_tranposed:
  case Opcode::amdg_scaled_upcast_fp8:
  case Opcode::amdg_scaled_upcast_fp4:
  case Opcode::amdg_arrive_barrier:
  case Opcode::amdg_async_copy_local_to_global:
  case Opcode::amdg_async_copy_mbarrier_arrive:
  case Opcode::amdg_buffer_atomic_cas:
  case Opcode::amdg_init_barrier:
  case Opcode::amdg_masked_load:
  case Opcode::amdg_masked_store:
  case Opcode::amdg_wait_barrier:
  case Opcode::ttg_local_atomic_scatter_rmw:
  case Opcode::ttng_async_copy_mbarrier_arrive:
  case Opcode::ttng_async_shared_store:
  case Opcode::ttng_async_tma_gather:
  case Opcode::ttng_async_tma_scatter:
  case Opcode::ttng_clc_get_program_id:
  case Opcode::ttng_clc_is_canceled:
  case Opcode::ttng_clc_load_result:
  case Opcode::ttng_clc_try_cancel:
  case Opcode::ttng_tc_gen5_mma_scaled:
  case Opcode::ttng_tmem_copy:
  case Opcode::ttng_tmem_subslice:
  case Opcode::unregistered: return notInterpreted(op);
  }
  return notInterpreted(op);
}

} // namespace tessera::runtime
