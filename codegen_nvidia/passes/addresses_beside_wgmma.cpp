// Addresses in loops with wgmma, without wide multiply-adds. Twelve IMAD.WIDE in an iteration of a matmul of
// 128 x 256 x 64 keep the tensor cores idle for a fifth of the cycles (95 % busy without, 80 % with them: NVIDIA H100,
// 2026-11, 8192 x 8192 x 8192 in f16, B transposed, ncu: sm__pipe_tensor_op_hmma_cycles_active; 1.53 and 1.81 ms).
//
// 1. Pointers that a loop carries and advances by the same step become where they start and one offset. The offset is
//    the same for all threads, and in a uniform register.
//
//   loop: %p = phi [%x, …], [%p2, %loop]           loop: %o = phi [0, …], [%o2, %loop]
//         %q = phi [%y, …], [%q2, %loop]                 %p = asm "add.s64" (%x, %o)
//         …                                        →     %q = asm "add.s64" (%y, %o)
//         %p2 = getelementptr i8, %p, %step              …
//         %q2 = getelementptr i8, %q, %step              %o2 = add %o, %step
//
//    LLVM's strength reduction, which runs in code generation, would split the sums that the pointers start from: each
//    pointer keeps its row, and the column that they share is added to all of them in each iteration, by IMAD.WIDE. The
//    addition is written as assembly to hide it from that.
//
// 2. A pointer and a 32-bit index that is extended: the index is extended, shifted and added, which ptxas does not make
//    one IMAD.WIDE. Not where a constant is a part of the index: code generation takes it out, for others to share.
//
// Only in loops whose threads compute nothing but addresses. Where they have arithmetic between the dots, as in
// attention, the tensor cores wait for that, and both cost more than they save: instructions the second, registers the
// first (block-sparse attention with 16 IMAD.WIDE an iteration: 5 % slower without them, NVIDIA H100, 2026-11).
#include "codegen_nvidia/passes/addresses_beside_wgmma.h"
#include "codegen/address_spaces.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::nvidia {
using namespace llvm;
using namespace PatternMatch;

namespace {

bool computesFloats(const Instruction &i) {
  bool isFloat = i.getType()->isFPOrFPVectorTy();
  return isa<FCmpInst>(i) || (isFloat && isa<UnaryOperator, BinaryOperator, CastInst, SelectInst>(i)) ||
         (isFloat && isa<CallBase>(i) && !isWarpGroupDot(i));
}

/// Whether the loop has wgmma, and besides computes nothing but addresses.
bool onlyMultiplies(const Loop &loop, const LoopInfo &loops) {
  bool hasDot = false;
  for (const BasicBlock *block : loop.blocks()) {
    if (any_of(*block, computesFloats)) return false;
    hasDot |= loops.getLoopFor(block) == &loop && any_of(*block, isWarpGroupDot);
  }
  return hasDot;
}

/// Inline PTX without side effects that computes a pointer.
Value *computeBy(IRBuilder<> &b, Type *pointer, StringRef ptx, StringRef constraints, ArrayRef<Value *> operands) {
  SmallVector<Type *, 2> types;
  for (Value *v : operands) types.push_back(v->getType());
  auto *type = FunctionType::get(pointer, types, /*isVarArg=*/false);
  auto *call = b.CreateCall(type, InlineAsm::get(type, ptx, constraints, /*hasSideEffects=*/false), operands);
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  return call;
}

bool isGlobalPointer(const Value &v) {
  return v.getType()->isPointerTy() && v.getType()->getPointerAddressSpace() == codegen::kGlobalSpace;
}

// ---- 1. ----

/// A pointer that the loop carries.
struct Carried {
  PHINode *pointer;
  Value *start;
  GetElementPtrInst *next;
};

using Step = std::pair<Type *, Value *>; // elements of the type, and how many

std::optional<Carried> carried(PHINode &phi, const Loop &loop) {
  if (!isGlobalPointer(phi) || phi.getNumIncomingValues() != 2) return std::nullopt;
  auto *next = dyn_cast<GetElementPtrInst>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  bool advances = next && next->getPointerOperand() == &phi && next->getNumIndices() == 1 && next->hasOneUse() &&
                  loop.isLoopInvariant(next->getOperand(1));
  if (!advances) return std::nullopt;
  return Carried{&phi, phi.getIncomingValueForBlock(loop.getLoopPreheader()), next};
}

void advanceTogether(ArrayRef<Carried> pointers, Step step, Loop &loop) {
  BasicBlock *before = loop.getLoopPreheader(), *header = loop.getHeader(), *latch = loop.getLoopLatch();
  IRBuilder<> b(before->getTerminator());
  Type *wide = b.getInt64Ty();
  Value *elements = b.CreateSExtOrTrunc(step.second, wide);
  Value *bytes = b.CreateMul(elements, b.getInt64(header->getDataLayout().getTypeAllocSize(step.first)));
  b.SetInsertPoint(header, header->begin());
  PHINode *offset = b.CreatePHI(wide, 2);
  b.SetInsertPoint(latch->getTerminator());
  offset->addIncoming(b.getInt64(0), before);
  offset->addIncoming(b.CreateAdd(offset, bytes), latch);
  b.SetInsertPoint(header, header->getFirstInsertionPt());
  for (const Carried &c : pointers) {
    c.pointer->replaceAllUsesWith(
        computeBy(b, c.pointer->getType(), "add.s64 $0, $1, $2;", "=l,l,l", {c.start, offset}));
    c.pointer->eraseFromParent();
    c.next->eraseFromParent();
  }
}

bool advanceTogether(Loop &loop) {
  if (!loop.getLoopPreheader() || !loop.getLoopLatch()) return false;
  MapVector<Step, SmallVector<Carried, 16>> bySteps;
  for (PHINode &phi : loop.getHeader()->phis())
    if (auto c = carried(phi, loop)) bySteps[{c->next->getSourceElementType(), c->next->getOperand(1)}].push_back(*c);
  for (auto &[step, pointers] : bySteps) advanceTogether(pointers, step, loop);
  return !bySteps.empty();
}

// ---- 2. ----

bool addWithoutMultiplying(GetElementPtrInst &address, const Loop &loop) {
  if (!isGlobalPointer(address) || address.getNumIndices() != 1) return false;
  Value *index = address.getOperand(1), *narrow;
  bool isSigned = match(index, m_SExt(m_Value(narrow))), isUnsigned = match(index, m_ZExt(m_Value(narrow)));
  uint64_t size = address.getDataLayout().getTypeAllocSize(address.getSourceElementType());
  bool isMultiplied = (isSigned || isUnsigned) && narrow->getType()->isIntegerTy(32) && size > 1 && isPowerOf2_64(size);
  if (!isMultiplied || loop.isLoopInvariant(narrow) || match(narrow, m_AddLike(m_Value(), m_ConstantInt())))
    return false;
  IRBuilder<> b(&address);
  std::string ptx = formatv("{{.reg .b64 wide;\ncvt.{0} wide, $2;\nshl.b64 wide, wide, {1};\nadd.s64 $0, $1, wide;}",
                            isSigned ? "s64.s32" : "u64.u32", Log2_64(size));
  address.replaceAllUsesWith(computeBy(b, address.getType(), ptx, "=l,l,r", {address.getPointerOperand(), narrow}));
  address.eraseFromParent();
  return true;
}

bool addWithoutMultiplying(Loop &loop, const LoopInfo &loops) {
  bool changed = false;
  for (BasicBlock *block : loop.blocks()) {
    if (loops.getLoopFor(block) != &loop) continue;
    for (Instruction &i : make_early_inc_range(*block))
      if (auto *address = dyn_cast<GetElementPtrInst>(&i)) changed |= addWithoutMultiplying(*address, loop);
  }
  return changed;
}

} // namespace

PreservedAnalyses AddressesBesideWgmmaPass::run(Function &f, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(f);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!onlyMultiplies(*loop, loops)) continue;
    changed |= advanceTogether(*loop);
    changed |= addWithoutMultiplying(*loop, loops);
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::nvidia
