// The rows of the NVIDIA targets. Limits of threads, registers and shared memory: CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability". Instructions: PTX ISA manual, the "Target ISA Notes" of each
// instruction. Boards: NVIDIA, "CUDA GPU Compute Capability" (developer.nvidia.com/cuda/gpus). Every row starts from
// the one before it and says what changed. The PTX version is the lowest that has all we emit for the target, so that
// older toolkits and drivers can take our text.
#include "codegen_nvidia/arch_table.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>
#include <vector>

namespace tessera::nvidia {
using codegen::ArchInfo;
using codegen::rows;
using ir::MatrixUnit;

static constexpr int64_t kKiB = 1024;

// mma.sync: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: mma", shapes by type. Four lanes share a row.
using ir::MatrixInstruction;
using ir::MatrixType;
static constexpr auto kMmaNarrow = std::to_array<MatrixInstruction>({
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 8, 16, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 8, 8, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F16, 16, 8, 16, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F16, 16, 8, 8, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 8, 16, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 8, 8, 4},
    {MatrixType::TF32, MatrixType::TF32, MatrixType::F32, 16, 8, 8, 4},
    {MatrixType::TF32, MatrixType::TF32, MatrixType::F32, 16, 8, 4, 4},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 8, 32, 4},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 8, 16, 4},
});
static constexpr auto kMmaF64Sm80 = std::to_array<MatrixInstruction>({
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 8, 8, 4, 4},
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 16, 8, 4, 4, 2}, // two of the former: TTGIR may have its layout
});
static constexpr auto kMmaF64Sm90 = std::to_array<MatrixInstruction>({
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 16, 8, 16, 4},
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 16, 8, 8, 4},
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 16, 8, 4, 4},
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 8, 8, 4, 4},
});
static constexpr auto kMmaF8 = std::to_array<MatrixInstruction>({
    {MatrixType::F8E4M3FN, MatrixType::F8E4M3FN, MatrixType::F32, 16, 8, 32, 4},
    {MatrixType::F8E4M3FN, MatrixType::F8E5M2, MatrixType::F32, 16, 8, 32, 4},
    {MatrixType::F8E5M2, MatrixType::F8E4M3FN, MatrixType::F32, 16, 8, 32, 4},
    {MatrixType::F8E5M2, MatrixType::F8E5M2, MatrixType::F32, 16, 8, 32, 4},
});
static constexpr auto kMmaSm80 = rows(kMmaNarrow, kMmaF64Sm80);
static constexpr auto kMmaSm89 = rows(kMmaNarrow, kMmaF64Sm80, kMmaF8);
static constexpr auto kMmaSm90 = rows(kMmaNarrow, kMmaF64Sm90, kMmaF8);

static void registerLLVMTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static ArchInfo sm80() {
  ArchInfo a;
  a.registerLLVMTarget = registerLLVMTarget;
  a.triple = "nvptx64-nvidia-cuda";
  a.cpu = "sm_80";
  a.boards = "a30 a100 a800";
  a.features = "+ptx80";
  a.ptxVersion = 80;
  ir::TargetInfo &t = a.info;
  t.name = "sm_80";
  t.tritonTarget = "cuda:80";
  t.vendor = ir::Vendor::Nvidia;
  t.asmFormat = "ptx";
  t.objectFormat = "cubin";
  t.hasIndependentLanes = true;
  t.takesRegisterBound = true;
  t.computeCapability = 80;
  t.namedBarriers = 16; // bar.sync a, b
  t.maxWarpsPerMultiprocessor = 64;
  t.maxBlocksPerMultiprocessor = 32;
  t.registersPerScheduler = 512; // 16,384 of all 32 lanes together
  t.registerAllocationUnit = 8;  // 256 of all lanes
  t.sharedMemoryPerBlock = 163 * kKiB;
  t.sharedMemoryPerMultiprocessor = 164 * kKiB;
  t.sharedMemoryIsCacheToo = true;
  t.sharedMemoryReservedPerBlock = 1 * kKiB;
  t.asyncCopyBytes = 4 | 8 | 16; // cp.async
  t.hasPerLaneAsyncCopy = true;
  t.hasLdmatrix = true;
  t.hasPredicatedAccess = true;
  t.matrixUnit = MatrixUnit::MmaSync;
  t.matrixVersion = 2;
  t.matrixInstructions = kMmaSm80;
  t.hasBf16Fma = true;
  t.hasBf16Conversion = true;
  t.atomicAddF16 = true;
  t.atomicAddF16x2 = true;
  return a;
}

static ArchInfo sm86() {
  ArchInfo a = sm80();
  a.cpu = a.info.name = "sm_86";
  a.boards = "a2 a10 a10g a16 a40 rtxa6000 rtx3050 rtx3060 rtx3070 rtx3080 rtx3090";
  a.info.tritonTarget = "cuda:86";
  a.info.computeCapability = 86;
  a.info.maxWarpsPerMultiprocessor = 48;
  a.info.maxBlocksPerMultiprocessor = 16;
  a.info.sharedMemoryPerBlock = 99 * kKiB;
  a.info.sharedMemoryPerMultiprocessor = 100 * kKiB;
  return a;
}

static ArchInfo sm89() {
  ArchInfo a = sm86();
  a.cpu = a.info.name = "sm_89";
  a.boards = "l4 l40 l40s rtx6000ada rtx4060 rtx4070 rtx4080 rtx4090";
  a.features = "+ptx84"; // mma.sync on 8-bit floats; cvt to them came in 8.1
  a.ptxVersion = 84;
  a.info.tritonTarget = "cuda:89";
  a.info.computeCapability = 89;
  a.info.maxBlocksPerMultiprocessor = 24;
  a.info.matrixInstructions = kMmaSm89;
  a.info.convertsE4M3FN = true;
  a.info.convertsE5M2 = true;
  return a;
}

static ArchInfo sm90a() {
  ArchInfo a = sm80();
  a.cpu = a.info.name = "sm_90a";
  a.boards = "h20 h100 h200 h800 gh200";
  a.alias = "sm_90";
  a.features = "+ptx84"; // wgmma is 8.0, vector red 8.1, fence.proxy.tensormap 8.3, mma.sync on 8-bit floats 8.4
  a.ptxVersion = 84;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "cuda:90";
  t.measuredOn = "NVIDIA H200";
  t.computeCapability = 90;
  t.maxClusterSize = 8;
  t.reallocatesRegisters = true;
  t.sharedMemoryPerBlock = 227 * kKiB;
  t.sharedMemoryPerMultiprocessor = 228 * kKiB;
  t.hasTensorCopy = true;
  t.hasStmatrix = true;
  t.matrixUnit = MatrixUnit::Wgmma;
  t.matrixVersion = 3;
  t.matrixInstructions = kMmaSm90;
  t.convertsE4M3FN = true;
  t.convertsE5M2 = true;
  t.atomicAddBf16 = true;
  t.atomicAddBf16x2 = true;
  t.atomicVectorBytes = 16;
  return a;
}

static ArchInfo sm100a() {
  ArchInfo a = sm90a();
  a.cpu = a.info.name = "sm_100a";
  a.boards = "b200 gb200";
  a.alias = "sm_100";
  a.features = "+ptx86";
  a.ptxVersion = 86;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "cuda:100";
  t.measuredOn = "";
  t.computeCapability = 100;
  // Without wgmma. Dots that tcgen05 does not take are those of MmaSync.
  t.matrixUnit = MatrixUnit::Tcgen05;
  t.matrixVersion = 5;
  return a;
}

static ArchInfo sm120a() {
  ArchInfo a = sm100a();
  a.cpu = a.info.name = "sm_120a";
  a.boards = "rtxpro6000 rtx5050 rtx5060 rtx5070 rtx5080 rtx5090";
  a.alias = "sm_120";
  a.features = "+ptx87";
  a.ptxVersion = 87;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "cuda:120";
  t.computeCapability = 120;
  t.maxWarpsPerMultiprocessor = 48;
  t.maxBlocksPerMultiprocessor = 24;
  t.sharedMemoryPerBlock = 99 * kKiB;
  t.sharedMemoryPerMultiprocessor = 100 * kKiB;
  t.matrixUnit = MatrixUnit::MmaSync;
  t.matrixVersion = 2;
  return a;
}

llvm::ArrayRef<ArchInfo> archTable() {
  static const std::vector<ArchInfo> table = {sm80(), sm86(), sm89(), sm90a(), sm100a(), sm120a()};
  return table;
}

} // namespace tessera::nvidia
