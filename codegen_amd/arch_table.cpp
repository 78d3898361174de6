// The rows of the AMD targets. Instructions: the instruction set architecture guides "AMD Instinct MI200", "AMD
// Instinct MI300", "AMD Instinct CDNA4", "RDNA3" and "RDNA4". Register files, waves per SIMD and allocation units:
// LLVM's "User Guide for AMDGPU Backend" (kernel descriptor, granulated counts) and the same guides. Every row starts
// from the one before it in its family and says what changed.
//
// gfx9 runs waves of 64 lanes and a block on one compute unit; gfx11 and gfx12 run waves of 32 and a block on a
// work-group processor (WGP mode, LLVM's default), whose two compute units share 128 KiB of LDS of which a block can
// have 64 KiB.
#include "codegen_amd/arch_table.h"
#include <vector>

namespace tessera::amd {
using codegen::ArchInfo;
using ir::MatrixUnit;

static constexpr int64_t kKiB = 1024;

// Matrix instructions: v_mfma_* of the CDNA guides (64 / n lanes share a row), v_wmma_* of the RDNA guides (in RDNA 3
// every lane has whole rows, in RDNA 4 two lanes share one). 8-bit floats: the FNUZ kinds on gfx942, the OCP kinds later.
// Last, because other tiles are better at equal work: 4 by 64 and 64 by 4, series of 16 v_mfma_…_4x4x…_16b whose rows of
// 4 are broadcast (16 lanes share one of those). Each takes 2 passes for 1,024 products (f32: 256), by the guides' tables of
// passes; with 16-bit operands 16 by 16 takes 8 for 4,096 on gfx90a, 4 on gfx942, and 4 for 8,192 on gfx950, with 8-bit
// integers for twice as many from gfx942 on.
using ir::MatrixInstruction;
using ir::MatrixType;
static constexpr MatrixInstruction kMfmaGfx90a[] = {
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 32, 32, 8, 2},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 16, 16, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 32, 32, 8, 2},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 16, 16, 4},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 32, 32, 2, 2},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 16, 16, 4, 4},
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 16, 16, 4, 4},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 32, 32, 8, 2},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 16, 16, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 4, 64, 64, 16},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 64, 4, 64, 16},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 4, 64, 64, 16},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 64, 4, 64, 16},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 4, 64, 16, 16},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 64, 4, 16, 16},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 4, 64, 64, 16},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 64, 4, 64, 16},
};
static constexpr MatrixInstruction kMfmaGfx942[] = {
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 32, 32, 8, 2},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 16, 16, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 32, 32, 8, 2},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 16, 16, 4},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 32, 32, 2, 2},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 16, 16, 4, 4},
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 16, 16, 4, 4},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 32, 32, 16, 2},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 16, 32, 4},
    {MatrixType::TF32, MatrixType::TF32, MatrixType::F32, 32, 32, 4, 2},
    {MatrixType::TF32, MatrixType::TF32, MatrixType::F32, 16, 16, 8, 4},
    {MatrixType::F8E4M3FNUZ, MatrixType::F8E4M3FNUZ, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E4M3FNUZ, MatrixType::F8E4M3FNUZ, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F8E4M3FNUZ, MatrixType::F8E5M2FNUZ, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E4M3FNUZ, MatrixType::F8E5M2FNUZ, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F8E5M2FNUZ, MatrixType::F8E4M3FNUZ, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E5M2FNUZ, MatrixType::F8E4M3FNUZ, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F8E5M2FNUZ, MatrixType::F8E5M2FNUZ, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E5M2FNUZ, MatrixType::F8E5M2FNUZ, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 4, 64, 64, 16, 2},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 64, 4, 64, 16, 2},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 4, 64, 64, 16, 2},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 64, 4, 64, 16, 2},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 4, 64, 16, 16},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 64, 4, 16, 16},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 4, 64, 64, 16, 4},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 64, 4, 64, 16, 4},
};
static constexpr MatrixInstruction kMfmaGfx950[] = {
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 32, 32, 8, 2},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 16, 16, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 32, 32, 8, 2},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 16, 16, 4},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 32, 32, 2, 2},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 16, 16, 4, 4},
    {MatrixType::F64, MatrixType::F64, MatrixType::F64, 16, 16, 4, 4},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 32, 32, 32, 2},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 16, 64, 4},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 32, 32, 16, 2},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 16, 32, 4},
    {MatrixType::F8E4M3FN, MatrixType::F8E4M3FN, MatrixType::F32, 32, 32, 64, 2},
    {MatrixType::F8E4M3FN, MatrixType::F8E4M3FN, MatrixType::F32, 16, 16, 128, 4},
    {MatrixType::F8E4M3FN, MatrixType::F8E5M2, MatrixType::F32, 32, 32, 64, 2},
    {MatrixType::F8E4M3FN, MatrixType::F8E5M2, MatrixType::F32, 16, 16, 128, 4},
    {MatrixType::F8E5M2, MatrixType::F8E4M3FN, MatrixType::F32, 32, 32, 64, 2},
    {MatrixType::F8E5M2, MatrixType::F8E4M3FN, MatrixType::F32, 16, 16, 128, 4},
    {MatrixType::F8E5M2, MatrixType::F8E5M2, MatrixType::F32, 32, 32, 64, 2},
    {MatrixType::F8E5M2, MatrixType::F8E5M2, MatrixType::F32, 16, 16, 128, 4},
    {MatrixType::F8E4M3FN, MatrixType::F8E4M3FN, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E4M3FN, MatrixType::F8E4M3FN, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F8E4M3FN, MatrixType::F8E5M2, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E4M3FN, MatrixType::F8E5M2, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F8E5M2, MatrixType::F8E4M3FN, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E5M2, MatrixType::F8E4M3FN, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F8E5M2, MatrixType::F8E5M2, MatrixType::F32, 32, 32, 16, 2},
    {MatrixType::F8E5M2, MatrixType::F8E5M2, MatrixType::F32, 16, 16, 32, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 4, 64, 64, 16, 4},
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 64, 4, 64, 16, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 4, 64, 64, 16, 4},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 64, 4, 64, 16, 4},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 4, 64, 16, 16},
    {MatrixType::F32, MatrixType::F32, MatrixType::F32, 64, 4, 16, 16},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 4, 64, 64, 16, 8},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 64, 4, 64, 16, 8},
};
static constexpr MatrixInstruction kWmmaGfx11[] = {
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 16, 16, 1},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 16, 16, 1},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 16, 16, 1},
};
static constexpr MatrixInstruction kWmmaGfx12[] = {
    {MatrixType::F16, MatrixType::F16, MatrixType::F32, 16, 16, 16, 2},
    {MatrixType::BF16, MatrixType::BF16, MatrixType::F32, 16, 16, 16, 2},
    {MatrixType::I8, MatrixType::I8, MatrixType::I32, 16, 16, 16, 2},
    {MatrixType::F8E4M3FN, MatrixType::F8E4M3FN, MatrixType::F32, 16, 16, 16, 2},
    {MatrixType::F8E4M3FN, MatrixType::F8E5M2, MatrixType::F32, 16, 16, 16, 2},
    {MatrixType::F8E5M2, MatrixType::F8E4M3FN, MatrixType::F32, 16, 16, 16, 2},
    {MatrixType::F8E5M2, MatrixType::F8E5M2, MatrixType::F32, 16, 16, 16, 2},
};

static ArchInfo gfx90a() {
  ArchInfo a;
  a.triple = "amdgcn-amd-amdhsa";
  a.cpu = "gfx90a";
  a.isaVersion = 9010;
  ir::TargetInfo &t = a.info;
  t.name = "gfx90a";
  t.tritonTarget = "hip:gfx90a";
  t.vendor = ir::Vendor::Amd;
  t.warpSize = 64;
  t.maxWarpsPerMultiprocessor = 32; // 8 on each of 4 SIMDs
  t.maxBlocksPerMultiprocessor = 16;
  t.maxRegistersPerThread = 512; // 256 architectural, 256 accumulation
  t.registersPerScheduler = 512;
  t.registerAllocationUnit = 8;
  t.scalarRegistersPerScheduler = 800;
  t.sharedMemoryPerBlock = 64 * kKiB;
  t.sharedMemoryPerMultiprocessor = 64 * kKiB;
  t.sharedMemoryGranularity = 512;
  t.asyncCopyBytes = 4; // buffer_load_dword … lds
  t.hasBufferOps = true;
  t.hasScheduleBarriers = true;
  t.hasRowShuffles = true;
  t.matrixUnit = MatrixUnit::Mfma;
  t.matrixVersion = 2;
  t.matrixInstructions = kMfmaGfx90a;
  t.hasPackedF32 = true;
  t.atomicAddF16x2 = true;
  t.atomicMinMaxF64 = true;
  return a;
}

static ArchInfo gfx942() {
  ArchInfo a = gfx90a();
  a.cpu = a.info.name = "gfx942";
  a.isaVersion = 9402;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "hip:gfx942";
  t.matrixVersion = 3;
  t.matrixInstructions = kMfmaGfx942;
  t.hasFp8Matrix = true;
  t.hasTf32Matrix = true; // v_mfma_…_xf32
  t.convertsE4M3FNUZ = true;
  t.convertsE5M2FNUZ = true;
  t.atomicAddBf16x2 = true;
  return a;
}

static ArchInfo gfx950() {
  ArchInfo a = gfx942();
  a.cpu = a.info.name = "gfx950";
  a.isaVersion = 9500;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "hip:gfx950";
  t.sharedMemoryPerBlock = 160 * kKiB;
  t.sharedMemoryPerMultiprocessor = 160 * kKiB;
  t.sharedMemoryGranularity = 1280;
  t.sharedMemoryBanks = 64;
  t.asyncCopyBytes = 4 | 16; // buffer_load_dwordx4 … lds
  t.hasTransposedLdsRead = true;
  t.hasHalfWarpSwap = true; // v_permlane32_swap
  t.matrixVersion = 4;
  t.matrixInstructions = kMfmaGfx950;
  t.hasTf32Matrix = false;
  t.hasScaledMatrix = true;
  t.hasBf16Conversion = true; // v_cvt_pk_bf16_f32
  t.hasScaleF8Conversion = true;
  t.convertsE4M3FN = true; // the OCP kinds replace the FNUZ kinds
  t.convertsE5M2 = true;
  t.convertsE4M3FNUZ = false;
  t.convertsE5M2FNUZ = false;
  return a;
}

static ArchInfo gfx1100() {
  ArchInfo a;
  a.triple = "amdgcn-amd-amdhsa";
  a.cpu = "gfx1100";
  a.features = "-real-true16"; // 16-bit values each in a register of their own
  a.isaVersion = 11000;
  ir::TargetInfo &t = a.info;
  t.name = "gfx1100";
  t.tritonTarget = "hip:gfx1100";
  t.vendor = ir::Vendor::Amd;
  t.maxWarpsPerMultiprocessor = 64; // 16 on each of 4 SIMDs
  t.maxBlocksPerMultiprocessor = 32;
  t.maxRegistersPerThread = 256;
  t.registersPerScheduler = 1536;
  t.registerAllocationUnit = 24;
  t.sharedMemoryPerBlock = 64 * kKiB;
  t.sharedMemoryPerMultiprocessor = 128 * kKiB;
  t.sharedMemoryGranularity = 1024;
  t.hasBufferOps = true;
  t.hasScheduleBarriers = true;
  t.hasRowShuffles = true;
  t.hasHalfWarpSwap = true; // v_permlanex16
  t.matrixUnit = MatrixUnit::Wmma;
  t.matrixVersion = 1;
  t.matrixInstructions = kWmmaGfx11;
  t.atomicAddF64 = false;
  t.atomicMinMaxF32 = true;
  return a;
}

static ArchInfo gfx1200() {
  ArchInfo a = gfx1100();
  a.cpu = a.info.name = "gfx1200";
  a.isaVersion = 12000;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "hip:gfx1200";
  t.matrixVersion = 2;
  t.matrixInstructions = kWmmaGfx12;
  t.hasFp8Matrix = true;
  t.convertsE4M3FN = true;
  t.convertsE5M2 = true;
  t.atomicAddF16x2 = true;
  t.atomicAddBf16x2 = true;
  return a;
}

static ArchInfo gfx1201() {
  ArchInfo a = gfx1200();
  a.cpu = a.info.name = "gfx1201";
  a.isaVersion = 12001;
  a.info.tritonTarget = "hip:gfx1201";
  return a;
}

llvm::ArrayRef<ArchInfo> archTable() {
  static const std::vector<ArchInfo> table = {gfx90a(), gfx942(), gfx950(), gfx1100(), gfx1200(), gfx1201()};
  return table;
}

} // namespace tessera::amd
