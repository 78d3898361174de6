// Notes kernels for whose next block on a compute unit only registers are missing, and few of them. LLVM's scheduler
// and allocator keep to the registers of as many waves as fit; those of part of a block are of no use.
//
//   130 registers, blocks of 8 waves, 66 KiB of LDS      →      define amdgpu_kernel void @f()
//   (two blocks: 16 waves, 4 a SIMD, 128 registers)               "tessera-next-block"="2"
//                                                                 "tessera-next-block-waves"="4" { … }
//
// The back end then generates the kernel again with the request for these waves (codegen_amd/backend.cpp), and takes
// that code if nothing is spilled in a loop; beyond the second block, where there is less to gain, if nothing is
// spilled at all.
//
// Limits: kernels that spill nothing, in which the user requests no number of waves or registers. A third block or a
// later one may make no more waves than order-matrices orders instructions for (orderMostWaves). How many blocks are
// launched is not known: where they do not fill the GPU, the code may be a little slower.
//
// Runs: on machine code after prologues and epilogues are inserted, when the registers are known.
#include "codegen_amd/passes/mark_next_block.h"
#include "codegen_amd/passes/block_resources.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::amd {
using namespace llvm;
namespace {

constexpr StringLiteral kBlocks = "tessera-next-block", kWavesOfSimd = "tessera-next-block-waves";

class MarkNextBlock final : public MachineFunctionPass {
public:
  static char ID;
  explicit MarkNextBlock(const ir::TargetInfo &info) : MachineFunctionPass(ID), info_(info) {}
  StringRef getPassName() const override { return "Tessera: registers for one more block"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    Function &f = mf.getFunction();
    bool isRequested = f.hasFnAttribute("amdgpu-waves-per-eu") || f.hasFnAttribute("amdgpu-num-vgpr");
    if (f.getCallingConv() != CallingConv::AMDGPU_KERNEL || isRequested || mf.getFrameInfo().getStackSize())
      return false;
    ir::BlockResources block = resourcesOf(mf, info_);
    int64_t blocks = info_.occupancy(block) + 1;
    int64_t waves = divideCeil(blocks * block.warps, info_.schedulersPerMultiprocessor);
    int bound = info_.registersPerThread(int(blocks * block.warps), ir::RegisterSplit::Allocated);
    int64_t excess = block.registers - bound;
    bool isNear = excess > 0 && excess <= info_.tuning.secondBlockRegisters;
    bool isWorthwhile = blocks == 2 || (blocks > 2 && waves <= info_.tuning.orderMostWaves);
    ir::BlockResources bounded = block;
    bounded.registers = bound;
    if (isNear && isWorthwhile && info_.occupancy(bounded) == blocks) {
      f.addFnAttr(kBlocks, std::to_string(blocks));
      f.addFnAttr(kWavesOfSimd, std::to_string(waves));
    }
    return false;
  }

private:
  const ir::TargetInfo &info_;
};

char MarkNextBlock::ID = 0;

} // namespace

Pass *createMarkNextBlock(const ir::TargetInfo &info) { return new MarkNextBlock(info); }

int64_t blocksWithNext(const Module &module) {
  int64_t fewest = 0;
  for (const Function &f : module)
    if (int64_t blocks = int64_t(f.getFnAttributeAsParsedInteger(kBlocks)); blocks && (!fewest || blocks < fewest))
      fewest = blocks;
  return fewest;
}

void requestNextBlock(Module &copy, const Module &noted) {
  for (Function &f : copy)
    if (const Function *kernel = noted.getFunction(f.getName()); kernel && kernel->hasFnAttribute(kWavesOfSimd)) {
      StringRef waves = kernel->getFnAttribute(kWavesOfSimd).getValueAsString();
      f.addFnAttr("amdgpu-waves-per-eu", (waves + "," + waves).str());
    }
}

} // namespace tessera::amd
