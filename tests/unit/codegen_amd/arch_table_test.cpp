// The rows of the AMD targets against what LLVM knows of the same processors: a row that was copied from another target
// and not changed where the hardware differs fails here, with the name of the field.
#include "codegen/object/backend.h"
#include "codegen_amd/arch_table.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"
#include <gtest/gtest.h>
#include <memory>

namespace tessera::amd {
namespace {

using codegen::ArchInfo;
using ir::TargetInfo;

constexpr int64_t kKiB = 1024;

/// A capability of a row, and the feature of LLVM's processor that goes with it (`llc -mtriple=amdgcn -mattr=help`).
struct Capability {
  const char *field;
  const char *feature;
  bool (*has)(const TargetInfo &);
};
const Capability kCapabilities[] = {
    {"warpSize", "wavefrontsize64", [](const TargetInfo &t) { return t.warpSize == 64; }},
    {"registersPerScheduler and registerAllocationUnit of RDNA", "allocate1_5xvgprs",
     [](const TargetInfo &t) { return t.registersPerScheduler == 1536 && t.registerAllocationUnit == 24; }},
    {"sharedMemoryPerBlock", "addressablelocalmemorysize65536",
     [](const TargetInfo &t) { return t.sharedMemoryPerBlock == 64 * kKiB; }},
    {"sharedMemoryPerBlock", "addressablelocalmemorysize163840",
     [](const TargetInfo &t) { return t.sharedMemoryPerBlock == 160 * kKiB; }},
    {"packsBlockIds", "architected-sgprs", [](const TargetInfo &t) { return t.packsBlockIds; }},
    {"asyncCopyBytes", "vmem-to-lds-load-insts", [](const TargetInfo &t) { return t.asyncCopyBytes != 0; }},
    {"matrixUnit", "mai-insts", [](const TargetInfo &t) { return t.matrixUnit == ir::MatrixUnit::Mfma; }},
    {"hasRowBroadcast", "gfx90a-insts", [](const TargetInfo &t) { return t.hasRowBroadcast; }},
    {"hasWideAddressAdd", "lshl-add-u64-inst", [](const TargetInfo &t) { return t.hasWideAddressAdd; }},
    {"hasPackedF32", "packed-fp32-ops", [](const TargetInfo &t) { return t.hasPackedF32; }},
    {"hasScalarFloat", "salu-float", [](const TargetInfo &t) { return t.hasScalarFloat; }},
    {"hasBf16Conversion", "bf16-cvt-insts", [](const TargetInfo &t) { return t.hasBf16Conversion; }},
    {"convertsE4M3FN or convertsE4M3FNUZ", "fp8-conversion-insts",
     [](const TargetInfo &t) { return t.convertsE4M3FN || t.convertsE4M3FNUZ; }},
    {"convertsE5M2 or convertsE5M2FNUZ", "fp8-conversion-insts",
     [](const TargetInfo &t) { return t.convertsE5M2 || t.convertsE5M2FNUZ; }},
    {"atomicAddF16x2", "atomic-buffer-global-pk-add-f16-insts", [](const TargetInfo &t) { return t.atomicAddF16x2; }},
    {"atomicAddBf16x2", "atomic-global-pk-add-bf16-inst", [](const TargetInfo &t) { return t.atomicAddBf16x2; }},
};

TEST(AmdArchTable, CapabilitiesAreThoseOfLLVMsProcessor) {
  for (const ArchInfo &arch : archTable()) {
    SCOPED_TRACE(arch.info.name.str());
    absl::StatusOr<const llvm::Target *> target = codegen::llvmTarget(arch);
    ASSERT_TRUE(target.ok()) << target.status();
    std::unique_ptr<llvm::MCSubtargetInfo> processor(
        (*target)->createMCSubtargetInfo(llvm::Triple(arch.triple), arch.cpu, ""));
    ASSERT_TRUE(processor && processor->isCPUStringValid(arch.cpu)) << "LLVM does not know " << arch.cpu.str();
    for (const Capability &c : kCapabilities)
      EXPECT_EQ(c.has(arch.info), processor->checkFeatures(std::string("+") + c.feature))
          << c.field << " against LLVM's feature " << c.feature;
  }
}

} // namespace
} // namespace tessera::amd
