// Lowering of structured control flow, calls, barriers and program ids.
//
//   scf.for %i = %lb to %ub step %s          if (lb < ub) {
//     iter_args(%a = %x) { … yield %y }  →     i = phi(lb, i + s); a = phi(x, y)
//                                              …
//                                              if (i + s < ub) again
//                                            }
//                                            result = phi(x, y)
//
// The phis are in the loop's only header, and the test is at the end: LLVM's rotated form. i + s is marked as not
// wrapping, since counters of scf.for do not wrap (transforms/analyses/integer_facts.h). Values of any kind may be
// loop-carried: tensors as one phi per register element, memory descriptors as their base and offsets.
//
// One question about encodings is answered here (elementsPerPhi): which fragments hold several elements in a 32-bit
// register. It is about ptxas, so it names the NVIDIA fragments.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/print.h"
#include "codegen/lowering/target.h"
#include "ir/attribute_names.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/dot_operand.h"
#include "layouts/nvidia_mma.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {
using namespace ir;

namespace {

/// How many elements of a tensor share a phi, which is then of the 32-bit register that holds them. Two cases:
///   16-bit accumulators of wgmma: a phi of each half would split a register while the instruction is in flight
///   operands of mma.sync that are loaded an iteration ahead: ptxas would merge halves of different words, and separate
///   them again
unsigned elementsPerPhi(FunctionLowering &fl, Type t) {
  auto tensor = t.dyn_cast<TensorType>();
  if (!tensor || !tensor.encoding()) return 1;
  auto types = fl.elementTypes(t);
  if (auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(tensor.encoding())) {
    bool isWgmma = mma->versionMajor() == 3;
    return isWgmma && types.size() % 2 == 0 && types[0]->isHalfTy() ? 2 : 1;
  }
  auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(tensor.encoding());
  unsigned bits = types[0]->getPrimitiveSizeInBits();
  bool isMmaOperand = operand && layouts::dynCast<layouts::NvidiaMmaEncoding>(operand->parent());
  if (!isMmaOperand || (bits != 8 && bits != 16)) return 1;
  bool fillsRegisters = operand->kWidth() * bits % 32 == 0 && types.size() * bits % 32 == 0;
  return fillsRegisters ? 32 / bits : 1;
}

/// One phi per LLVM value of each type, at the builder's point.
struct Phis {
  FunctionLowering &fl;
  llvm::SmallVector<Type, 4> types;
  llvm::SmallVector<Elements, 4> nodes = {};

  Phis(FunctionLowering &fl, llvm::ArrayRef<Type> types) : fl(fl), types(types.begin(), types.end()) {
    for (Type t : types) {
      nodes.emplace_back();
      auto elements = fl.elementTypes(t);
      unsigned every = elementsPerPhi(fl, t);
      for (unsigned i = 0; i < elements.size(); i += every)
        nodes.back().push_back(fl.b.CreatePHI(every > 1 ? fl.b.getInt32Ty() : elements[i], 2));
    }
  }

  void addIncoming(llvm::ArrayRef<Value> values, llvm::BasicBlock *from) {
    llvm::IRBuilderBase::InsertPointGuard guard(fl.b);
    if (auto *end = from->getTerminator())
      fl.b.SetInsertPoint(end);
    else
      fl.b.SetInsertPoint(from);
    for (auto [phi, v, t] : llvm::zip(nodes, values, types)) {
      Elements e = fl.get(v);
      if (unsigned every = elementsPerPhi(fl, t); every > 1) {
        Elements words;
        for (unsigned i = 0; i < e.size(); i += every) {
          llvm::Value *word = llvm::PoisonValue::get(llvm::FixedVectorType::get(e[i]->getType(), every));
          for (unsigned k = 0; k < every; ++k) word = fl.b.CreateInsertElement(word, e[i + k], k);
          words.push_back(fl.b.CreateBitCast(word, fl.b.getInt32Ty()));
        }
        e = std::move(words);
      }
      for (auto [p, x] : llvm::zip(phi, e)) llvm::cast<llvm::PHINode>(p)->addIncoming(x, from);
    }
  }

  /// The values that they stand for. @pre no phi is made at the builder's point any more
  llvm::SmallVector<Elements, 4> values() {
    llvm::SmallVector<Elements, 4> out;
    for (auto [phi, t] : llvm::zip(nodes, types)) {
      unsigned every = elementsPerPhi(fl, t);
      if (every == 1) {
        out.push_back(phi);
        continue;
      }
      out.emplace_back();
      auto *wordType = llvm::FixedVectorType::get(fl.elementTypes(t)[0], every);
      for (llvm::Value *p : phi) {
        llvm::Value *word = fl.b.CreateBitCast(p, wordType);
        for (unsigned k = 0; k < every; ++k) out.back().push_back(fl.b.CreateExtractElement(word, k));
      }
    }
    return out;
  }
};

llvm::SmallVector<Type, 4> typesOf(llvm::ArrayRef<Value> values) {
  llvm::SmallVector<Type, 4> out;
  for (Value v : values) out.push_back(v.type());
  return out;
}

bool lowerLoop(scf::ForOp loop, FunctionLowering &fl) {
  auto &b = fl.b;
  llvm::Value *lower = fl.scalar(loop.lowerBound()), *upper = fl.scalar(loop.upperBound()),
              *step = fl.scalar(loop.step());
  auto less = loop.unsignedCmp() ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_SLT;
  auto inits = loop.initArgs().vec();
  Block *body = loop.body().front();

  llvm::Value *enter = b.CreateICmp(less, lower, upper);
  auto *known = llvm::dyn_cast<llvm::ConstantInt>(enter);
  if (known && known->isZero()) { // never runs
    for (auto [result, init] : llvm::zip(loop.results(), inits)) fl.set(result, fl.get(init));
    return true;
  }
  llvm::BasicBlock *before = b.GetInsertBlock(), *header = fl.newBlock("for");
  llvm::Instruction *guard = known ? (llvm::Instruction *)b.CreateBr(header) : b.CreateCondBr(enter, header, nullptr);

  b.SetInsertPoint(header);
  llvm::PHINode *induction = b.CreatePHI(lower->getType(), 2);
  induction->addIncoming(lower, before);
  Phis phis(fl, typesOf(inits));
  phis.addIncoming(inits, before);
  fl.set(inductionVariable(loop), induction);
  for (auto [i, v] : llvm::enumerate(phis.values())) fl.set(carriedArgument(*body, unsigned(i)), v);
  if (!fl.lowerBlock(body)) return false;

  auto yielded = body->terminator()->operands().vec();
  llvm::Value *next = b.CreateAdd(induction, step, "", loop.unsignedCmp(), !loop.unsignedCmp());
  llvm::BasicBlock *latch = b.GetInsertBlock(), *after = fl.newBlock("end");
  b.CreateCondBr(b.CreateICmp(less, next, upper), header, after);
  induction->addIncoming(next, latch);
  phis.addIncoming(yielded, latch);

  b.SetInsertPoint(after);
  if (known) {
    for (auto [result, y] : llvm::zip(loop.results(), yielded)) fl.set(result, fl.get(y));
    return true;
  }
  llvm::cast<llvm::BranchInst>(guard)->setSuccessor(1, after);
  Phis results(fl, typesOf(inits));
  results.addIncoming(inits, before);
  results.addIncoming(yielded, latch);
  for (auto [result, e] : llvm::zip(loop.results(), results.values())) fl.set(result, e);
  return true;
}

bool lowerFor(scf::ForOp loop, FunctionLowering &fl) {
  if (!dotTurnOf(loop.op)) return lowerLoop(loop, fl);
  if (!fl.beginTurns(loop.op) || !lowerLoop(loop, fl)) return false;
  fl.endTurns();
  return true;
}

bool lowerIf(scf::IfOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  llvm::Value *condition = fl.scalar(op.condition());
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    Region &taken = known->isZero() ? op.elseRegion() : op.thenRegion();
    if (taken.empty()) return true;
    if (!fl.lowerBlock(taken.front())) return false;
    for (auto [result, y] : llvm::zip(op.results(), taken.front()->terminator()->operands())) fl.set(result, fl.get(y));
    return true;
  }
  auto *branch = b.CreateCondBr(condition, fl.newBlock("then"), nullptr);
  b.SetInsertPoint(branch->getSuccessor(0));
  if (!fl.lowerBlock(op.thenRegion().front())) return false;
  llvm::BasicBlock *thenEnd = b.GetInsertBlock(), *elseEnd = branch->getParent();
  if (!op.elseRegion().empty()) {
    branch->setSuccessor(1, fl.newBlock("else"));
    b.SetInsertPoint(branch->getSuccessor(1));
    if (!fl.lowerBlock(op.elseRegion().front())) return false;
    elseEnd = b.GetInsertBlock();
  }
  llvm::BasicBlock *after = fl.newBlock("fi");
  if (op.elseRegion().empty()) {
    branch->setSuccessor(1, after);
  } else {
    b.SetInsertPoint(elseEnd);
    b.CreateBr(after);
  }
  b.SetInsertPoint(thenEnd);
  b.CreateBr(after);
  b.SetInsertPoint(after);
  auto results = op.results().vec();
  Phis phis(fl, typesOf(results));
  if (!results.empty()) {
    phis.addIncoming(op.thenRegion().front()->terminator()->operands().vec(), thenEnd);
    phis.addIncoming(op.elseRegion().front()->terminator()->operands().vec(), elseEnd);
  }
  for (auto [result, e] : llvm::zip(results, phis.values())) fl.set(result, e);
  return true;
}

bool lowerWhile(scf::WhileOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  Block *before = op.before().front(), *body = op.after().front();
  auto inits = op.inits().vec();
  llvm::BasicBlock *from = b.GetInsertBlock(), *header = fl.newBlock("while");
  b.CreateBr(header);
  b.SetInsertPoint(header);
  Phis phis(fl, typesOf(inits));
  phis.addIncoming(inits, from);
  for (auto [i, v] : llvm::enumerate(phis.values())) fl.set(before->arg(unsigned(i)), v);
  if (!fl.lowerBlock(before)) return false;
  auto condition = before->terminator()->dyn<scf::ConditionOp>();
  if (!condition) return fl.error(op, "has a first region that does not end with scf.condition");
  auto carried = condition.args().vec();
  auto *branch = b.CreateCondBr(fl.scalar(condition.condition()), fl.newBlock("do"), nullptr);
  b.SetInsertPoint(branch->getSuccessor(0));
  for (unsigned i = 0; i < carried.size(); ++i) fl.set(body->arg(i), fl.get(carried[i]));
  if (!fl.lowerBlock(body)) return false;
  phis.addIncoming(body->terminator()->operands().vec(), b.GetInsertBlock());
  b.CreateBr(header);
  llvm::BasicBlock *after = fl.newBlock("done");
  branch->setSuccessor(1, after);
  b.SetInsertPoint(after);
  for (auto [result, v] : llvm::zip(op.results(), carried)) fl.set(result, fl.get(v));
  return true;
}

bool lowerExecuteRegion(scf::ExecuteRegionOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  llvm::SmallVector<std::pair<llvm::BasicBlock *, llvm::SmallVector<Value, 4>>, 2> exits;
  bool ok = fl.lowerRegion(op.region(), [&](Operation *yield) {
    exits.push_back({b.GetInsertBlock(), yield->operands().vec()});
    return true;
  });
  if (ok) fl.joinExits(op.results().vec(), exits);
  return ok;
}

/// tt.map_elementwise: a scalar region on groups of `pack` elements: `pack` values of each operand at a time.
bool lowerMapElementwise(tt::MapElementwiseOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  unsigned pack = op.pack(), n = fl.numElements(op.results()[0].type());
  if (!pack || n % pack)
    return fl.error(op, "packs a number of elements that does not divide a thread's " + llvm::Twine(n));
  llvm::SmallVector<Elements, 2> out(op.results().size(), Elements(n, nullptr));
  for (unsigned r = 0; r < n; r += pack) {
    unsigned arg = 0;
    Block *entry = op.scalarOp().front();
    for (Value v : op.srcs())
      for (unsigned i = 0; i < pack; ++i) fl.set(entry->arg(arg++), fl.get(v)[r + i]);
    llvm::SmallVector<std::pair<llvm::BasicBlock *, Operation *>, 2> exits;
    if (!fl.lowerRegion(op.scalarOp(), [&](Operation *t) {
          exits.push_back({b.GetInsertBlock(), t});
          return true;
        }))
      return false;
    llvm::BasicBlock *after = nullptr;
    if (exits.size() > 1) {
      after = fl.newBlock("end");
      for (auto &[block, t] : exits) {
        b.SetInsertPoint(block);
        b.CreateBr(after);
      }
      b.SetInsertPoint(after);
    }
    for (unsigned k = 0; k < out.size(); ++k)
      for (unsigned i = 0; i < pack; ++i) {
        llvm::Value *v;
        if (!after) {
          v = fl.scalar(exits[0].second->operand(k * pack + i));
        } else {
          auto *phi = b.CreatePHI(fl.elementType(op.results()[k].type()), exits.size());
          for (auto &[block, t] : exits) phi->addIncoming(fl.scalar(t->operand(k * pack + i)), block);
          v = phi;
        }
        out[k][r + i] = v;
      }
  }
  for (unsigned k = 0; k < out.size(); ++k) fl.set(op.results()[k], std::move(out[k]));
  return true;
}

} // namespace

void FunctionLowering::joinExits(llvm::ArrayRef<Value> results, Exits exits) {
  if (exits.size() == 1) {
    b.SetInsertPoint(exits[0].first);
    for (auto [result, v] : llvm::zip(results, exits[0].second)) set(result, get(v));
    return;
  }
  llvm::BasicBlock *after = newBlock("end");
  for (auto &[block, values] : exits) {
    b.SetInsertPoint(block);
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
  Phis phis(*this, typesOf(results));
  for (auto &[block, values] : exits) phis.addIncoming(values, block);
  for (auto [result, e] : llvm::zip(results, phis.values())) set(result, e);
}

/// A call passes its operands element by element, then the hidden pointers and the base of the callee's shared memory.
static bool lowerCall(tt::CallOp call, FunctionLowering &fl, llvm::Function *callee,
                      llvm::ArrayRef<llvm::Value *> hidden) {
  auto &b = fl.b;
  if (!callee) return fl.error(call, "calls '" + call.callee() + "', which is not defined here");
  llvm::SmallVector<llvm::Value *, 16> args;
  for (Value v : call.operands()) args.append(fl.get(v).begin(), fl.get(v).end());
  args.append(hidden.begin(), hidden.end());
  auto *result = b.CreateCall(callee, args);
  unsigned i = 0;
  for (Value v : call.results()) {
    Elements e;
    for (unsigned k = 0, n = fl.numElements(v.type()); k < n; ++k) e.push_back(b.CreateExtractValue(result, i++));
    fl.set(v, std::move(e));
  }
  return true;
}

bool lowerControl(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  auto dimension = [&] { return int(op->attr<IntegerAttr>("dimension").sext()); };
  switch (op->opcode()) {
  case Opcode::scf_for: return lowerFor(op->cast<scf::ForOp>(), fl);
  case Opcode::scf_if: return lowerIf(op->cast<scf::IfOp>(), fl);
  case Opcode::scf_while: return lowerWhile(op->cast<scf::WhileOp>(), fl);
  case Opcode::scf_execute_region: return lowerExecuteRegion(op->cast<scf::ExecuteRegionOp>(), fl);
  case Opcode::tt_map_elementwise: return lowerMapElementwise(op->cast<tt::MapElementwiseOp>(), fl);
  case Opcode::tt_call: {
    auto call = op->cast<tt::CallOp>();
    llvm::Function *callee = fl.functionNamed(call.callee());
    if (callee && callee->getCallingConv() != llvm::CallingConv::C) return fl.error(op, "calls a kernel");
    if (fl.inPartition())
      return fl.error(op, "cannot be lowered in a warp partition: only the kernel's own warps may call functions");
    return lowerCall(call, fl, callee, {fl.globalScratchOf(op), fl.profileScratch(), fl.scratch(op)});
  }
  case Opcode::tt_get_program_id: return lowerProgramId(op, fl);
  case Opcode::tt_get_num_programs:
    fl.set(op->result(), fl.target.numPrograms(b, int(op->cast<tt::GetNumProgramsOp>().axis()), fl.numCtas() > 1));
    return true;
  case Opcode::gpu_block_id: fl.set(op->result(), fl.target.programId(b, dimension(), false)); return true;
  case Opcode::rocdl_workitem_id_x: fl.set(op->result(), fl.threadId()); return true;
  case Opcode::gpu_thread_id: fl.set(op->result(), dimension() ? fl.i32(0) : fl.threadId()); return true;
  case Opcode::ttg_warp_id: fl.set(op->result(), fl.warpId()); return true;
  case Opcode::gpu_barrier:
    if (op->hasAttr(kWarpGroupBarrierAttr)) return fl.warpGroupBarrier(op);
    // Barriers that the compiler placed order shared memory alone, those of the user everything.
    fl.barrier(!op->hasAttr(kLocalBarrierAttr));
    return true;
  case Opcode::ttg_local_barrier:
  case Opcode::rocdl_barrier:
  case Opcode::rocdl_s_barrier: fl.barrier(false); return true;
  case Opcode::ttg_barrier: fl.barrier(op->cast<ttg::BarrierOp>().addrSpace() & ~1); return true;
  case Opcode::rocdl_sched_barrier:
    fl.target.scheduleBarrier(b, unsigned(op->cast<rocdl::SchedBarrierOp>().mask()));
    return true;
  // Barriers for some of the warps, before a loop and after it, let these compute while the others load. What is right
  // with warps that are a barrier apart is right with warps in step.
  case Opcode::amdg_cond_barrier:
  case Opcode::rocdl_s_setprio: return true; // a hint
  case Opcode::ttg_global_scratch_alloc: fl.set(op->result(), fl.globalScratchOf(op)); return true;
  case Opcode::llvm_intr_assume:
    b.CreateAssumption(fl.scalar(op->cast<llvm_dialect::IntrAssumeOp>().condition()));
    return true;
  case Opcode::tt_assert:
  case Opcode::cf_assert: lowerAssert(op, fl); return true;
  case Opcode::tt_print: lowerPrint(op->cast<tt::PrintOp>(), fl); return true;
  case Opcode::builtin_unrealized_conversion_cast: {
    auto cast = op->cast<builtin::UnrealizedConversionCastOp>();
    bool isOfOneValue = op->numOperands() == 1 && op->numResults() == 1;
    if (!isOfOneValue || fl.elementTypes(cast.inputs()[0].type()) != fl.elementTypes(cast.outputs()[0].type()))
      return fl.error(op, "joins types that lower to different values");
    fl.set(cast.outputs()[0], fl.get(cast.inputs()[0]));
    return true;
  }
  default: return fl.error(op, "is not control flow");
  }
}

} // namespace tessera::codegen
