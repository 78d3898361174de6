// The LLVM passes of an AMD module. LLVM's O3 takes three times as long for code that is no better: over 16 kernels
// this list gives the same number of machine instructions within 1.5 % and up to 7 % fewer registers (gfx942, gfx1100;
// the attention kernels have 3 % more instructions than with O3). Unlike on NVIDIA no second compiler follows, so loops
// are rotated here and redundancy across blocks is removed by GVN.
#include "codegen_amd/pipeline.h"
#include "codegen/object/run_passes.h"
#include "codegen_amd/passes/merge_branches.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"

namespace tessera::amd {
using namespace llvm;

namespace {

struct MergeBranchesPass : PassInfoMixin<MergeBranchesPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    mergeBranches(f);
    return PreservedAnalyses::none();
  }
};

/// Pointers that a loop carries and advances stay one register pair each. LLVM's strength reduction (in code
/// generation) takes the sum that such a pointer starts from apart again: each of many pointers keeps its row, the
/// column that they share is added to all of them in every iteration. What the pointer starts from is hidden from it,
/// by an intrinsic that becomes nothing afterwards.
struct KeepCarriedPointersPass : PassInfoMixin<KeepCarriedPointersPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    bool changed = false;
    for (BasicBlock &block : f)
      for (PHINode &phi : block.phis()) {
        if (!phi.getType()->isPointerTy() || phi.getNumIncomingValues() != 2) continue;
        for (unsigned i = 0; i < 2; ++i) {
          auto *next = dyn_cast<GetElementPtrInst>(phi.getIncomingValue(1 - i));
          auto *start = dyn_cast<GetElementPtrInst>(phi.getIncomingValue(i));
          if (!next || next->getPointerOperand() != &phi || !start || start->getPointerOperand() == &phi) continue;
          IRBuilder<> b(phi.getIncomingBlock(i)->getTerminator());
          phi.setIncomingValue(i, b.CreateLaunderInvariantGroup(start));
          changed = true;
          break;
        }
      }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

/// A buffer access that no lane does, since its mask turned out false: what it would load is zero.
struct DropMaskedBuffersPass : PassInfoMixin<DropMaskedBuffersPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    SmallVector<IntrinsicInst *, 8> dropped;
    for (Instruction &i : instructions(f)) {
      auto *call = dyn_cast<IntrinsicInst>(&i);
      if (!call) continue;
      bool load = call->getIntrinsicID() == Intrinsic::amdgcn_raw_ptr_buffer_load;
      if (!load && call->getIntrinsicID() != Intrinsic::amdgcn_raw_ptr_buffer_store) continue;
      auto *offset = dyn_cast<ConstantInt>(call->getArgOperand(load ? 1 : 2));
      if (offset && offset->isNegative()) dropped.push_back(call); // from 2^31 on: beyond the end
    }
    for (IntrinsicInst *call : dropped) {
      if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
      call->eraseFromParent();
    }
    return dropped.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
  }
};

/// Offsets of buffer accesses get their constants back as immediates. A lane that is masked off has an offset beyond
/// the end, chosen before the constant is added (codegen_amd/lowering_memory.cpp); InstCombine adds it to both
/// choices, which then take two instructions more for each access of a tensor whose elements have masks of their own.
///
///   select %m, (%o + 8), 0x80000008   →   (select %m, %o, 0x80000000) + 8
struct BufferImmediatesPass : PassInfoMixin<BufferImmediatesPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    constexpr uint32_t kBeyond = 0x80000000, kImmediates = 4096;
    bool changed = false;
    for (Instruction &i : instructions(f)) {
      auto *call = dyn_cast<IntrinsicInst>(&i);
      if (!call) continue;
      unsigned at;
      switch (call->getIntrinsicID()) {
      case Intrinsic::amdgcn_raw_ptr_buffer_load: at = 1; break;
      case Intrinsic::amdgcn_raw_ptr_buffer_store: at = 2; break;
      default: continue;
      }
      auto *select = dyn_cast<SelectInst>(call->getArgOperand(at));
      auto *beyond = select ? dyn_cast<ConstantInt>(select->getFalseValue()) : nullptr;
      if (!beyond || beyond->getZExtValue() <= kBeyond || beyond->getZExtValue() >= kBeyond + kImmediates) continue;
      Value *inside = nullptr;
      using namespace PatternMatch;
      if (!match(select->getTrueValue(), m_AddLike(m_Value(inside), m_SpecificInt(beyond->getZExtValue() - kBeyond))))
        continue;
      IRBuilder<> b(call);
      Value *o = b.CreateSelect(select->getCondition(), inside, b.getInt32(kBeyond));
      call->setArgOperand(at, b.CreateAdd(o, b.getInt32(beyond->getZExtValue() - kBeyond)));
      changed = true;
    }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

/// Work on what a masked load brought comes after its branch. InstCombine moves it in, since the other lanes' zeros
/// fold; there it waits for the load before the next one is issued.
///
///   masked: %x = load i32 …;  %y = sitofp %x      →   masked: %x = load i32 …
///   after:  phi [%y, %masked], [0.0, %head]           after:  %p = phi [%x, %masked], [0, %head];  %y = sitofp %p
struct WorkAfterBranchesPass : PassInfoMixin<WorkAfterBranchesPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    SmallVector<PHINode *, 16> phis;
    for (BasicBlock &b : f)
      for (PHINode &phi : b.phis())
        if (phi.getNumIncomingValues() == 2) phis.push_back(&phi);
    bool changed = false;
    for (PHINode *phi : phis)
      for (unsigned i = 0; i < 2; ++i) {
        auto *other = dyn_cast<Constant>(phi->getIncomingValue(1 - i));
        if (!other || !moveOut(*phi, i, other)) continue;
        changed = true;
        break;
      }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }

private:
  /// Moves what stands between a load and the phi's value i behind the phi.
  static bool moveOut(PHINode &phi, unsigned i, Constant *other) {
    BasicBlock *masked = phi.getIncomingBlock(i);
    if (masked->getSinglePredecessor() != phi.getIncomingBlock(1 - i) ||
        masked->getSingleSuccessor() != phi.getParent())
      return false;
    SmallVector<std::pair<Instruction *, unsigned>, 4> chain; // with the operand that comes from the load
    auto *value = dyn_cast<Instruction>(phi.getIncomingValue(i));
    for (;; value = cast<Instruction>(value->getOperand(chain.back().second))) {
      if (!value || value->getParent() != masked || !value->hasOneUse()) return false;
      if (isGlobalLoad(*value)) break;
      if (isa<PHINode>(value) || value->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(value)) return false;
      if (auto *call = dyn_cast<CallBase>(value); call && call->isConvergent()) return false;
      int from = -1;
      for (Use &u : value->operands())
        if (auto *o = dyn_cast<Instruction>(u); o && o->getParent() == masked) {
          if (from >= 0) return false;
          from = int(u.getOperandNo());
        }
      if (from < 0) return false;
      chain.push_back({value, unsigned(from)});
    }
    if (chain.empty()) return false;
    // The lanes that load nothing have the same from a zero.
    Constant *zero = Constant::getNullValue(value->getType()), *folded = zero;
    SimplifyQuery query(phi.getDataLayout(), chain[0].first);
    for (auto &[op, from] : reverse(chain)) {
      SmallVector<Value *, 4> operands(op->operands());
      operands[from] = folded;
      folded = dyn_cast_or_null<Constant>(simplifyInstructionWithOperands(op, operands, query));
      if (!folded) return false;
    }
    if (folded != other) return false;
    auto *loaded = PHINode::Create(value->getType(), 2, "", phi.getIterator());
    loaded->addIncoming(value, masked);
    loaded->addIncoming(zero, phi.getIncomingBlock(1 - i));
    BasicBlock::iterator at = phi.getParent()->getFirstInsertionPt();
    Instruction *last = loaded;
    for (auto &[op, from] : reverse(chain)) {
      op->moveBefore(*phi.getParent(), at);
      op->setOperand(from, last);
      last = op;
    }
    phi.replaceAllUsesWith(last);
    phi.eraseFromParent();
    return true;
  }
  static bool isGlobalLoad(Instruction &i) {
    if (auto *load = dyn_cast<LoadInst>(&i)) return load->getPointerAddressSpace() != 3;
    auto *call = dyn_cast<IntrinsicInst>(&i);
    return call && call->getIntrinsicID() == Intrinsic::amdgcn_raw_ptr_buffer_load;
  }
};

/// Vectors that all lanes read from one place of LDS, as the partial values of a reduction's warps, are combined in
/// vector registers. LLVM sees that they are the same in all lanes and computes with integers (gfx12: with f32 too)
/// on the scalar unit, after a v_readfirstlane for each and with several instructions for a comparison and selection.
/// An address that looks as if it differed between the lanes prevents it. Left alone are values on which branches or
/// addresses depend.
///
///   load <4 x i32>, @smem + 16   →   %zero = mbcnt(0, 0);   load <4 x i32>, @smem + %zero + 16
struct VectorPartialsPass : PassInfoMixin<VectorPartialsPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    SmallVector<LoadInst *, 16> loads;
    for (Instruction &i : instructions(f))
      if (auto *load = dyn_cast<LoadInst>(&i); load && load->isSimple() && load->getType()->isVectorTy() &&
                                               load->getPointerAddressSpace() == 3 &&
                                               isa<Constant>(load->getPointerOperand()) && isData(load))
        loads.push_back(load);
    const DataLayout &layout = f.getDataLayout();
    DenseMap<BasicBlock *, Value *> zeros;
    for (LoadInst *load : loads) {
      IRBuilder<> b(load);
      APInt offset(32, 0);
      Value *base =
          load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
      Value *&zero = zeros[load->getParent()];
      if (!zero) {
        zero = b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_lo, {},
                                 {b.getInt32(0), b.getInt32(0)}); // lanes before this one, of none
      }
      load->setOperand(0, b.CreatePtrAdd(b.CreatePtrAdd(base, zero), b.getInt32(offset.getSExtValue())));
    }
    return loads.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
  }

private:
  /// Whether all that is computed from a value, if not much, ends up as data.
  static bool isData(Instruction *value) {
    constexpr size_t kMost = 512;
    SmallVector<Instruction *, 32> work{value};
    SmallPtrSet<Instruction *, 32> seen{value};
    while (!work.empty()) {
      for (Use &use : work.pop_back_val()->uses()) {
        auto *user = cast<Instruction>(use.getUser());
        if (auto *store = dyn_cast<StoreInst>(user)) {
          if (use.getOperandNo() == store->getPointerOperandIndex()) return false;
          continue;
        }
        if (auto *call = dyn_cast<IntrinsicInst>(user); call && call->mayWriteToMemory() && use.getOperandNo() == 0)
          continue; // what buffer stores store
        if (user->isTerminator() || user->mayReadOrWriteMemory() || isa<GetElementPtrInst>(user)) return false;
        if (seen.insert(user).second) work.push_back(user);
      }
      if (seen.size() > kMost) return false;
    }
    return true;
  }
};

/// Rounds f32 to bf16 where no instruction does. LLVM keeps the payload of a NaN, which takes an instruction more for
/// every element than to give the one NaN that conversion instructions give. Arithmetic on bf16 is done in f32 and
/// rounded alike.
///
///   fptrunc float %x to bfloat   →   the upper half of  %x is ordered ? bits(%x) + 0x7fff + bit 16 of it : 0x7fff0000
struct RoundToBfloatPass : PassInfoMixin<RoundToBfloatPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    SmallVector<Instruction *, 32> work;
    for (Instruction &i : instructions(f)) {
      if (!i.getType()->getScalarType()->isBFloatTy()) continue;
      bool arithmetic = is_contained({Instruction::FAdd, Instruction::FSub, Instruction::FMul}, i.getOpcode());
      if (arithmetic || (isa<FPTruncInst>(i) && i.getOperand(0)->getType()->getScalarType()->isFloatTy()))
        work.push_back(&i);
    }
    for (Instruction *i : work) {
      IRBuilder<> b(i);
      Value *x = i->getOperand(0);
      Type *wide = i->getType()->getWithNewType(b.getFloatTy());
      if (auto *op = dyn_cast<BinaryOperator>(i)) {
        x = b.CreateBinOp(op->getOpcode(), b.CreateFPExt(x, wide), b.CreateFPExt(op->getOperand(1), wide));
        if (auto *made = dyn_cast<Instruction>(x)) made->copyFastMathFlags(i);
      }
      Value *rounded;
      if (auto *vector = dyn_cast<FixedVectorType>(i->getType())) {
        rounded = PoisonValue::get(vector);
        for (unsigned k = 0; k < vector->getNumElements(); ++k)
          rounded = b.CreateInsertElement(rounded, round(b, b.CreateExtractElement(x, k)), k);
      } else {
        rounded = round(b, x);
      }
      i->replaceAllUsesWith(rounded);
      i->eraseFromParent();
    }
    return work.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
  }

private:
  static Value *round(IRBuilder<> &b, Value *x) {
    Value *bits = b.CreateBitCast(x, b.getInt32Ty()), *odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
    Value *r = b.CreateAdd(b.CreateAdd(bits, odd), b.getInt32(0x7fff));
    if (!isKnownNeverNaN(x, SimplifyQuery(b.GetInsertBlock()->getModule()->getDataLayout())))
      r = b.CreateSelect(b.CreateFCmpORD(x, x), r, b.getInt32(0x7fff0000));
    return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(r, 16), b.getInt16Ty()), b.getBFloatTy());
  }
};

/// Packs arithmetic on f16 in functions that have some, but for matrix multiplications, whose fragments it takes apart.
struct PackHalvesPass : PassInfoMixin<PackHalvesPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &analyses) {
    constexpr unsigned kFew = 4;
    unsigned n = 0;
    for (Instruction &i : instructions(f)) {
      auto *call = dyn_cast<IntrinsicInst>(&i);
      if (call && Intrinsic::getBaseName(call->getIntrinsicID()).starts_with("llvm.amdgcn.wmma"))
        return PreservedAnalyses::all();
      bool fma = call && (call->getIntrinsicID() == Intrinsic::fma || call->getIntrinsicID() == Intrinsic::fmuladd);
      n += i.getType()->isHalfTy() &&
           (fma || is_contained({Instruction::FAdd, Instruction::FSub, Instruction::FMul}, i.getOpcode()));
    }
    if (n < kFew) return PreservedAnalyses::all();
    PreservedAnalyses kept = SLPVectorizerPass().run(f, analyses);
    if (kept.areAllPreserved()) return kept;
    analyses.invalidate(f, kept);
    InstCombinePass().run(f, analyses);
    return PreservedAnalyses::none();
  }
};

/// LLVM's scheduler by kernels. Where MFMA instructions wait for each other, filling their latency is worth more than
/// further waves (whose number the accumulators bound anyway): with max-ilp loops have up to a tenth fewer
/// instructions and registers (22 kernels for gfx90a and gfx942).
struct ScheduleMatricesPass : PassInfoMixin<ScheduleMatricesPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    bool mfma = any_of(instructions(f), [](Instruction &i) {
      auto *call = dyn_cast<IntrinsicInst>(&i);
      return call && Intrinsic::getBaseName(call->getIntrinsicID()).starts_with("llvm.amdgcn.mfma");
    });
    if (mfma && !f.hasFnAttribute("amdgpu-sched-strategy")) f.addFnAttr("amdgpu-sched-strategy", "max-ilp");
    return PreservedAnalyses::all();
  }
};

/// Multiplications stay where they stand. LLVM 22's machine code sinking does not know that RDNA 3's WMMA take values
/// of all lanes, and moves one whose result only a masked store uses, with the moves that make up its operands,
/// behind the branch, where the lanes without the mask no longer run the moves. A use in its own block, which becomes
/// nothing, holds it. (The other matrix instructions are marked convergent there.)
struct HoldMatricesPass : PassInfoMixin<HoldMatricesPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &) {
    SmallVector<IntrinsicInst *, 16> loose;
    for (Instruction &i : instructions(f))
      if (auto *call = dyn_cast<IntrinsicInst>(&i)) {
        SmallPtrSet<Instruction *, 32> seen;
        if (Intrinsic::getBaseName(call->getIntrinsicID()).starts_with("llvm.amdgcn.wmma") && !anchored(call, seen))
          loose.push_back(call);
      }
    for (IntrinsicInst *call : loose)
      IRBuilder<>(call->getNextNode())
          .CreateCall(Intrinsic::getOrInsertDeclaration(f.getParent(), Intrinsic::fake_use), {call});
    return loose.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
  }

private:
  /// Whether the value, or something made from it that could be moved with it, is used in its own block by what stays.
  static bool anchored(Instruction *value, SmallPtrSetImpl<Instruction *> &seen) {
    for (Use &use : value->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      if (auto *phi = dyn_cast<PHINode>(user)) {
        if (phi->getIncomingBlock(use) == value->getParent()) return true;
        continue;
      }
      if (user->getParent() != value->getParent()) continue;
      auto *call = dyn_cast<CallBase>(user);
      if (user->isTerminator() || user->mayHaveSideEffects() || user->mayReadFromMemory() ||
          (call && call->isConvergent()))
        return true;
      if (seen.insert(user).second && anchored(user, seen)) return true;
    }
    return false;
  }
};

} // namespace

absl::Status runPipeline(llvm::Module &module, llvm::TargetMachine &tm, int optLevel, const ir::TargetInfo &info) {
  absl::Status parsed;
  absl::Status ran = codegen::runPasses(module, tm, [&](PassBuilder &builder, ModulePassManager &passes) {
    // First AMDGPU's own (predicates on features). Calls are dear on AMD (registers for every eventuality, scratch):
    // LLVM's thresholds for inlining take nearly all of ocml.
    bool helpers = codegen::addCleaning(module, builder, passes, optLevel);
    if (optLevel >= 2) {
      FunctionPassManager late;
      late.addPass(
          ReassociatePass()); // lane-dependent and uniform parts of indices apart: the latter go to scalar registers
      LoopPassManager loops;
      loops.addPass(LoopRotatePass()); // a loop whose test is at its end, so that the next pass may hoist loads
      loops.addPass(LICMPass(LICMOptions()));
      late.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
      late.addPass(
          createFunctionToLoopPassAdaptor(LoopFullUnrollPass(/*OptLevel=*/2))); // short loops of a constant count
      late.addPass(DropMaskedBuffersPass());
      late.addPass(GVNPass()); // redundancy across blocks
      late.addPass(InstCombinePass());
      late.addPass(CorrelatedValuePropagationPass()); // narrow divisions of 64-bit numbers that are known to be small
      late.addPass(DivRemPairsPass());                // a quotient and a remainder of the same numbers: one division
      late.addPass(MergeBranchesPass());              // masks that were seen to be one
      late.addPass(SimplifyCFGPass());                // small ifs to selects
      // CDNA multiplies and adds pairs of f32. RDNA pairs f32 when instructions are encoded; f16 it packs, which pays
      // where there is arithmetic on it (elsewhere, up to 7 % more instructions).
      if (info.hasPackedF32) {
        late.addPass(SLPVectorizerPass());
        late.addPass(InstCombinePass());
      } else {
        late.addPass(PackHalvesPass());
      }
      late.addPass(WorkAfterBranchesPass());
      late.addPass(BufferImmediatesPass()); // nothing combines instructions after it
      late.addPass(VectorPartialsPass());   // likewise
      if (!info.hasBf16Conversion) late.addPass(RoundToBfloatPass());
      late.addPass(ADCEPass());
      late.addPass(KeepCarriedPointersPass()); // last: what is known of the pointers' starts is used up
      late.addPass(ScheduleMatricesPass());
      passes.addPass(createModuleToFunctionPassAdaptor(std::move(late)));
    }
    bool isRdna3 = info.matrixUnit == ir::MatrixUnit::Wmma && info.matrixVersion == 1;
    if (optLevel >= 1 && isRdna3) passes.addPass(createModuleToFunctionPassAdaptor(HoldMatricesPass()));
    if (helpers) passes.addPass(GlobalDCEPass()); // bodies that were inlined everywhere
    // Finds out which of the implicit inputs (dispatch packet, queue, y and z of ids, accumulation registers, …) are
    // not used: else registers are set up and kept for them. At level 0 too: without it the metadata would name hidden
    // arguments.
    if (Error e = builder.parsePassPipeline(passes, "amdgpu-attributor"))
      parsed = absl::InternalError(toString(std::move(e)));
  });
  if (!ran.ok()) return ran;
  // gfx12 has y and z of the block's id in the halves of one register. A kernel that does not ask for z must not take
  // the whole register for y, since the launch may have more than one block along z all the same.
  if (info.packsBlockIds)
    for (Function &f : module)
      for (StringRef attribute : {"amdgpu-no-workgroup-id-x", "amdgpu-no-workgroup-id-y", "amdgpu-no-workgroup-id-z"})
        f.removeFnAttr(attribute);
  return parsed;
}

} // namespace tessera::amd
