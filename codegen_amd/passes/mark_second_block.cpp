// Notes kernels of which one block fits on a compute unit and for whose second block only registers are missing, and
// few of them. LLVM's scheduler and allocator keep to the registers of as many waves as fit; those of half a block are
// of no use.
//
//   130 registers, blocks of 8 waves, 66 KiB of LDS      →      define amdgpu_kernel void @f()
//   (two blocks: 16 waves, 4 a SIMD, 128 registers)               "tessera-second-block-waves"="4" { … }
//
// The back end then generates the kernel again with the request for these waves (codegen_amd/backend.cpp), and takes
// that code if nothing is spilled in a loop.
//
// Limits: kernels that spill nothing, in which the user requests no number of waves or registers.
//
// Runs: on machine code after prologues and epilogues are inserted, when the registers are known.
#include "codegen_amd/passes/mark_second_block.h"
#include "codegen_amd/passes/block_resources.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::amd {
using namespace llvm;
namespace {

constexpr StringLiteral kWavesOfSimd = "tessera-second-block-waves";

class MarkSecondBlock final : public MachineFunctionPass {
public:
  static char ID;
  explicit MarkSecondBlock(const ir::TargetInfo &info) : MachineFunctionPass(ID), info_(info) {}
  StringRef getPassName() const override { return "Tessera: registers for a second block"; }

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
    int64_t waves = divideCeil(2 * block.warps, info_.schedulersPerMultiprocessor);
    int bound = info_.registersPerThread(2 * block.warps, ir::RegisterSplit::Allocated);
    int64_t excess = block.registers - bound;
    bool isNear = excess > 0 && excess <= info_.tuning.secondBlockRegisters;
    ir::BlockResources bounded = block;
    bounded.registers = bound;
    if (isNear && info_.occupancy(block) == 1 && info_.occupancy(bounded) == 2)
      f.addFnAttr(kWavesOfSimd, std::to_string(waves));
    return false;
  }

private:
  const ir::TargetInfo &info_;
};

char MarkSecondBlock::ID = 0;

} // namespace

Pass *createMarkSecondBlock(const ir::TargetInfo &info) { return new MarkSecondBlock(info); }

bool nearlyHasSecondBlock(const Module &module) {
  return any_of(module, [](const Function &f) { return f.hasFnAttribute(kWavesOfSimd); });
}

void requestSecondBlock(Module &copy, const Module &noted) {
  for (Function &f : copy)
    if (const Function *kernel = noted.getFunction(f.getName()); kernel && kernel->hasFnAttribute(kWavesOfSimd)) {
      StringRef waves = kernel->getFnAttribute(kWavesOfSimd).getValueAsString();
      f.addFnAttr("amdgpu-waves-per-eu", (waves + "," + waves).str());
    }
}

} // namespace tessera::amd
