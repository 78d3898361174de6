// The occupancy that a kernel asks ptxas for. The lowering asks for half of it where tensors are small, and for a
// quarter where they are of medium size, so that ptxas has registers for loads that are under way at the same time. A
// kernel that loads little has no use for them: all that it loads is under way with the registers of full occupancy,
// and more warps hide more. Counted is what the optimised code loads, in which short loops are unrolled; of loops
// that are left, ptxas has four iterations under way. Kernels with matrix instructions keep half of it where the
// lowering asked for that, and are asked for nothing where it asked for less: of 174 products as many lost as gained
// by it. Over 530 kernels of torch.compile on an H200, half occupancy made those that load up to 4 registers 2 to 6 %
// slower, those up to 8 as often slower as faster, and the rest 7 % faster.
//
// Where shared memory admits so few blocks that each thread can have all the registers there are, fewer gain nothing,
// and ptxas is told so: by itself it gives the addresses of a row of copies one pair of registers, each copy waiting
// for the one before (64 x 64 x 128 products by four warps, five stages: 64 registers become 96).
#include "codegen_nvidia/occupancy_hint.h"
#include "codegen_nvidia/object.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

constexpr unsigned kFewRegisters = 4, kSomeRegisters = 8, kIterations = 4;

/// 32-bit registers that an instruction brings from global memory, or copies through to shared memory.
unsigned loadedRegisters(const Instruction &i, const DataLayout &layout) {
  auto registers = [&](Type *t) { return unsigned(divideCeil(layout.getTypeStoreSizeInBits(t).getFixedValue(), 32)); };
  if (auto *load = dyn_cast<LoadInst>(&i)) return load->getPointerAddressSpace() == 1 ? registers(load->getType()) : 0;
  auto *call = dyn_cast<CallBase>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!text) return 0;
  if (text->getAsmString().contains("cp.async.c")) return 4;
  if (!text->getAsmString().contains("ld.global") && !text->getAsmString().contains("ld.volatile.global")) return 0;
  auto *words = dyn_cast<StructType>(call->getType());
  return words ? unsigned(words->getNumElements()) * registers(words->getElementType(0)) : registers(call->getType());
}

/// Matrix instructions take their registers in blocks: ptxas refuses the code if there are too few for one.
bool isMatrixInstruction(const Instruction &i) {
  auto *call = dyn_cast<CallBase>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return text && StringRef(text->getAsmString()).contains("mma");
}

} // namespace

int registersPerThread(const ir::TargetInfo &t, int blocks, int warps) {
  return t.registersPerThread(int64_t(blocks) * warps, ir::RegisterSplit::Allocated);
}

void setOccupancyHints(Module &module, const ir::TargetInfo &t, const codegen::BackendOptions &options) {
  int shared = occupancy(t, /*registersPerThread=*/0, options.dynamicSharedBytes, options.numWarps);
  bool allRegisters = shared > 0 && options.dynamicSharedBytes > 0 && options.numCtas == 1 && !options.maxRegisters &&
                      registersPerThread(t, shared, options.numWarps) == registersPerThread(t, 1, options.numWarps);
  for (Function &f : module) {
    if (f.isDeclaration() || f.getCallingConv() != CallingConv::PTX_Kernel) continue;
    if (allRegisters) {
      f.removeFnAttr("nvvm.minctasm");
      f.addFnAttr("nvvm.minctasm", itostr(shared));
      continue;
    }
    unsigned blocks = unsigned(f.getFnAttributeAsParsedInteger("nvvm.minctasm", 0)), loaded = 0;
    if (!blocks) continue;
    if (any_of(instructions(f), isMatrixInstruction)) {
      if (int(blocks) * options.numWarps < t.maxWarpsPerMultiprocessor / 2) f.removeFnAttr("nvvm.minctasm");
      continue;
    }
    for (auto part = scc_begin(&f); !part.isAtEnd(); ++part)
      for (BasicBlock *block : *part)
        for (Instruction &i : *block)
          loaded += loadedRegisters(i, module.getDataLayout()) * (part.hasCycle() ? kIterations : 1);
    if (loaded > kSomeRegisters) continue;
    f.removeFnAttr("nvvm.minctasm");
    if (loaded > kFewRegisters)
      f.addFnAttr("nvvm.minctasm",
                  utostr(std::min(blocks + blocks / 2, unsigned(t.maxBlocksPerMultiprocessor)))); // three quarters
  }
}

} // namespace tessera::nvidia
