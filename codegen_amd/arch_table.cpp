// The rows of the AMD targets. Instructions: the instruction set architecture guides "AMD Instinct MI200", "AMD
// Instinct MI300", "AMD Instinct CDNA4", "RDNA3" and "RDNA4". Register files, waves per SIMD and allocation units:
// LLVM's "User Guide for AMDGPU Backend" (kernel descriptor, granulated counts) and the same guides. Every row starts
// from the one before it in its family and says what changed; a unit test (arch_table_test.cpp) compares capabilities
// with the features of LLVM's processor. Boards: ROCm documentation, "Accelerator and GPU hardware specifications".
// How to add a row: docs/extending.md.
//
// gfx9 runs waves of 64 lanes and a block on one compute unit; gfx11 and gfx12 run waves of 32 and a block on a
// work-group processor (WGP mode, LLVM's default), whose two compute units share 128 KiB of LDS of which a block can
// have 64 KiB.
#include "codegen_amd/arch_table.h"
#include "ir/scaled_dots.h"
#include "llvm/Support/TargetSelect.h"
#include <array>
#include <mutex>
#include <vector>

namespace tessera::amd {
using codegen::ArchInfo;
using codegen::rows;
using ir::MatrixUnit;

static constexpr int64_t kKiB = 1024;

// Matrix instructions: v_mfma_* of the CDNA guides (64 / n lanes share a row), v_wmma_* of the RDNA guides (in RDNA 3
// every lane has whole rows, in RDNA 4 two lanes share one). 8-bit floats: the FNUZ kinds on gfx942, the OCP kinds
// later.
using ir::MatrixInstruction;
using ir::MatrixType;
struct Tile {
  int m, n, k, lanesPerRow, slowness = 1;
};

/// One type on several tiles.
template <size_t N> static constexpr auto onTiles(MatrixType a, MatrixType b, MatrixType c, const Tile (&tiles)[N]) {
  std::array<MatrixInstruction, N> out{};
  for (size_t i = 0; i < N; ++i)
    out[i] = {a, b, c, tiles[i].m, tiles[i].n, tiles[i].k, tiles[i].lanesPerRow, tiles[i].slowness};
  return out;
}
template <size_t N> static constexpr auto onTiles(MatrixType ab, MatrixType c, const Tile (&tiles)[N]) {
  return onTiles(ab, ab, c, tiles);
}
/// Both kinds of 8-bit floats, in every pairing.
template <size_t N> static constexpr auto f8(MatrixType e4m3, MatrixType e5m2, const Tile (&tiles)[N]) {
  return rows(onTiles(e4m3, e4m3, MatrixType::F32, tiles), onTiles(e4m3, e5m2, MatrixType::F32, tiles),
              onTiles(e5m2, e4m3, MatrixType::F32, tiles), onTiles(e5m2, e5m2, MatrixType::F32, tiles));
}
template <size_t N> static constexpr auto halves(const Tile (&tiles)[N]) {
  return rows(onTiles(MatrixType::F16, MatrixType::F32, tiles), onTiles(MatrixType::BF16, MatrixType::F32, tiles));
}

static constexpr auto kMfmaHalves = halves({{32, 32, 8, 2}, {16, 16, 16, 4}});
static constexpr auto kMfmaF32 = onTiles(MatrixType::F32, MatrixType::F32, {{32, 32, 2, 2}, {16, 16, 4, 4}});
static constexpr auto kMfmaF64 = onTiles(MatrixType::F64, MatrixType::F64, {{16, 16, 4, 4}});
static constexpr auto kMfmaI8Gfx942 = onTiles(MatrixType::I8, MatrixType::I32, {{32, 32, 16, 2}, {16, 16, 32, 4}});
// Last, because other tiles are better at equal work: 4 by 64 and 64 by 4, series of 16 v_mfma_…_4x4x…_16b whose rows
// of 4 are broadcast (16 lanes share one of those). Each takes 2 passes for 1,024 multiply-adds (f32: 256), by the
// guides' tables of passes; with 16-bit operands 16 by 16 takes 8 for 4,096 on gfx90a, 4 on gfx942, and 4 for 8,192 on
// gfx950, with 8-bit integers for twice as many from gfx942 on.
static constexpr auto broadcast(int slownessOfHalves, int slownessOfI8) {
  return rows(halves({{4, 64, 64, 16, slownessOfHalves}, {64, 4, 64, 16, slownessOfHalves}}),
              onTiles(MatrixType::F32, MatrixType::F32, {{4, 64, 16, 16}, {64, 4, 16, 16}}),
              onTiles(MatrixType::I8, MatrixType::I32, {{4, 64, 64, 16, slownessOfI8}, {64, 4, 64, 16, slownessOfI8}}));
}

static constexpr auto kMfmaGfx90a =
    rows(kMfmaHalves, kMfmaF32, kMfmaF64, onTiles(MatrixType::I8, MatrixType::I32, {{32, 32, 8, 2}, {16, 16, 16, 4}}),
         broadcast(1, 1));
static constexpr auto kMfmaGfx942 =
    rows(kMfmaHalves, kMfmaF32, kMfmaF64, kMfmaI8Gfx942,
         onTiles(MatrixType::TF32, MatrixType::F32, {{32, 32, 4, 2}, {16, 16, 8, 4}}),
         f8(MatrixType::F8E4M3FNUZ, MatrixType::F8E5M2FNUZ, {{32, 32, 16, 2}, {16, 16, 32, 4}}), broadcast(2, 4));
static constexpr auto kMfmaGfx950 =
    rows(halves({{32, 32, 16, 2}, {16, 16, 32, 4}}), kMfmaHalves, kMfmaF32, kMfmaF64,
         onTiles(MatrixType::I8, MatrixType::I32, {{32, 32, 32, 2}, {16, 16, 64, 4}}), kMfmaI8Gfx942,
         f8(MatrixType::F8E4M3FN, MatrixType::F8E5M2, {{32, 32, 64, 2}, {16, 16, 128, 4}}),
         f8(MatrixType::F8E4M3FN, MatrixType::F8E5M2, {{32, 32, 16, 2}, {16, 16, 32, 4}}), broadcast(4, 8));
// v_mfma_scale_f32_32x32x64_f8f6f4 and …_16x16x128_f8f6f4 ("CDNA4 Instruction Set Architecture", "Matrix Arithmetic
// Instructions"); of its formats those of 8 and 4 bits.
template <size_t N> static constexpr auto withScales(const Tile (&tiles)[N]) {
  constexpr MatrixType kE4M3 = MatrixType::F8E4M3FN, kE5M2 = MatrixType::F8E5M2, kE2M1 = ir::kPackedE2M1;
  auto with = [&](MatrixType a) {
    return rows(onTiles(a, kE4M3, MatrixType::F32, tiles), onTiles(a, kE5M2, MatrixType::F32, tiles),
                onTiles(a, kE2M1, MatrixType::F32, tiles));
  };
  return rows(with(kE4M3), with(kE5M2), with(kE2M1));
}
static constexpr auto kScaledMfmaGfx950 = withScales({{32, 32, 64, 2}, {16, 16, 128, 4}});
static constexpr auto kWmmaGfx11 =
    rows(halves({{16, 16, 16, 1}}), onTiles(MatrixType::I8, MatrixType::I32, {{16, 16, 16, 1}}));
static constexpr auto kWmmaGfx12 =
    rows(halves({{16, 16, 16, 2}}), onTiles(MatrixType::I8, MatrixType::I32, {{16, 16, 16, 2}}),
         f8(MatrixType::F8E4M3FN, MatrixType::F8E5M2, {{16, 16, 16, 2}}));

static void registerLLVMTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

static ArchInfo gfx90a() {
  ArchInfo a;
  a.registerLLVMTarget = registerLLVMTarget;
  a.triple = "amdgcn-amd-amdhsa";
  a.cpu = "gfx90a";
  a.boards = "mi210 mi250 mi250x";
  a.isaVersion = 9010;
  ir::TargetInfo &t = a.info;
  t.name = "gfx90a";
  t.tritonTarget = "hip:gfx90a";
  t.vendor = ir::Vendor::Amd;
  t.asmFormat = "amdgcn";
  t.objectFormat = "hsaco";
  t.hasScalarRegisters = true;
  t.takesOccupancyHint = true;
  t.choosesMatrixTile = true;
  t.tuning.loadRegistersByBlockSize = false;
  t.tuning.conversionRoundTripCost = 64; // modelled: ir/tuning.def
  t.tuning.stripBlockBytes = 0;          // not modelled
  t.tuning.reduceByFma = false;
  t.tuning.reduceInOneChain = false;
  t.tuning.heldRegistersPercent = 0;
  t.tuning.spillBytesForMoreWarps = 0;
  t.tuning.permutesLoadedBits = 16;
  t.tuning.priorityLevels = 1; // gfx942: GEMMs gain or lose 2 % by the model
  t.warpSize = 64;
  t.maxWarpsPerMultiprocessor = 32; // 8 on each of 4 SIMDs
  t.maxBlocksPerMultiprocessor = 16;
  t.limitsOneWarpBlocks = false;
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
  t.hasRowBroadcast = true;
  t.cachePolicy = ir::CachePolicyBits::GlcSlc;
  t.matrixUnit = MatrixUnit::Mfma;
  t.matrixVersion = 2;
  t.matrixInstructions = kMfmaGfx90a;
  t.hasPackedF32 = true;
  t.hasIeeeMode = true;
  t.atomicAddF16x2 = true;
  t.atomicLoopsTakePairs = true;
  return a;
}

static ArchInfo gfx942() {
  ArchInfo a = gfx90a();
  a.cpu = a.info.name = "gfx942";
  a.boards = "mi300a mi300x mi325x";
  a.isaVersion = 9402;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "hip:gfx942";
  t.dies = 8; // XCDs: white paper "CDNA 3"; workgroups go to them round-robin (ROCm documentation, workload tuning)
  t.hasWideAddressAdd = true;
  t.cachePolicy = ir::CachePolicyBits::Sc0Sc1Nt;
  t.matrixVersion = 3;
  t.matrixInstructions = kMfmaGfx942;
  t.convertsE4M3FNUZ = true;
  t.convertsE5M2FNUZ = true;
  t.atomicAddBf16x2 = true;
  return a;
}

static ArchInfo gfx950() {
  ArchInfo a = gfx942();
  a.cpu = a.info.name = "gfx950";
  a.boards = "mi350x mi355x";
  a.isaVersion = 9500;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "hip:gfx950";
  t.sharedMemoryPerBlock = 160 * kKiB;
  t.sharedMemoryPerMultiprocessor = 160 * kKiB;
  t.sharedMemoryGranularity = 1280;
  t.sharedMemoryBanks = 64;
  // Modelled, 2026-11: matmuls of e2m1 whose rows begin at 8 bytes have a fifth fewer instructions, as the halves of a
  // fragment need not be copied together. Of 16 bits, 14 kernels took 1.5 % less to 1.6 % more.
  t.widensSharedReads = true;
  t.tuning.priorityLevels = 2;
  t.asyncCopyBytes = 4 | 16; // buffer_load_dwordx4 … lds
  t.hasTransposedLdsRead = true;
  t.hasHalfWarpSwap = true; // v_permlane32_swap
  t.matrixVersion = 4;
  t.matrixInstructions = kMfmaGfx950;
  t.scaledMatrixInstructions = kScaledMfmaGfx950;
  t.hasBf16Conversion = true; // v_cvt_pk_bf16_f32
  t.convertsE4M3FN = true;    // the OCP kinds replace the FNUZ kinds
  t.convertsE5M2 = true;
  t.convertsE4M3FNUZ = false;
  t.convertsE5M2FNUZ = false;
  return a;
}

static ArchInfo gfx1100() {
  ArchInfo a;
  a.registerLLVMTarget = registerLLVMTarget;
  a.triple = "amdgcn-amd-amdhsa";
  a.cpu = "gfx1100";
  a.boards = "rx7900xt rx7900xtx rx7900gre w7800 w7900";
  a.features = "-real-true16"; // 16-bit values each in a register of their own
  a.isaVersion = 11000;
  ir::TargetInfo &t = a.info;
  t.name = "gfx1100";
  t.tritonTarget = "hip:gfx1100";
  t.vendor = ir::Vendor::Amd;
  t.asmFormat = "amdgcn";
  t.objectFormat = "hsaco";
  t.hasScalarRegisters = true;
  t.takesOccupancyHint = true;
  t.choosesMatrixTile = true;
  t.tuning.loadRegistersByBlockSize = false;
  t.tuning.conversionRoundTripCost = 64; // modelled: ir/tuning.def
  t.tuning.narrowLoadMaxAccesses = 0;    // modelled: ir/tuning.def
  t.tuning.stripBlockBytes = 0;          // not modelled
  t.tuning.reduceInOneChain = false;
  t.tuning.permutesLoadedBits = 8;
  t.tuning.heldRegistersPercent = 85;
  t.tuning.moreWarpsHeldPercent = 85;
  t.tuning.straightLineHeldPercent = 85;
  t.tuning.spillBytesForMoreWarps = 0;
  // Modelled: gfx1100 and gfx1201, 2026-11: GEMMs of 1024 take 5 to 15 % less with one buffer and eight blocks than
  // with two and four; where six blocks fit beside two buffers, these are better
  // (benchmarks/results/2026-11-24-amd-linear-attention.md).
  t.tuning.pipelineThreadsOfScheduler = 192;
  t.maxWarpsPerMultiprocessor = 64; // 16 on each of 4 SIMDs
  t.maxBlocksPerMultiprocessor = 32;
  t.limitsOneWarpBlocks = false;
  t.maxRegistersPerThread = 256;
  t.registersPerScheduler = 1536;
  t.registerAllocationUnit = 24;
  t.sharedMemoryPerBlock = 64 * kKiB;
  // Modelled: gfx1100, 2026-11: attention with heads of 128 has a sixth fewer instructions and takes 3 % less. CDNA has
  // these instructions too, but the order that suits them costs more there: attention with heads of 64 takes 3 % longer
  // on gfx950, a GEMM in 8-bit floats a fifth on gfx942.
  t.pairsSharedReads = true;
  t.sharedMemoryPerMultiprocessor = 128 * kKiB;
  t.sharedMemoryGranularity = 1024;
  t.hasBufferOps = true;
  t.hasScheduleBarriers = true;
  t.hasRowShuffles = true;
  t.hasHalfWarpSwap = true; // v_permlanex16
  t.cachePolicy = ir::CachePolicyBits::GlcSlc;
  t.matrixUnit = MatrixUnit::Wmma;
  t.matrixVersion = 1;
  t.tuning.repeatedLoadMostBits = 16; // modelled: ir/tuning.def
  t.matrixInstructions = kWmmaGfx11;
  t.hasIeeeMode = true;
  t.atomicLoopsTakePairs = true;
  return a;
}

static ArchInfo gfx1200() {
  ArchInfo a = gfx1100();
  a.cpu = a.info.name = "gfx1200";
  a.boards = "rx9060xt";
  a.isaVersion = 12000;
  ir::TargetInfo &t = a.info;
  t.tritonTarget = "hip:gfx1200";
  t.packsBlockIds = true;
  t.hasScalarFloat = true; // s_add_f32 and the like
  t.hasIeeeMode = false;   // minima and maxima come in both kinds: "RDNA4", v_min_num_f32 and v_minimum_f32
  t.cachePolicy = ir::CachePolicyBits::ScopeTh;
  t.addressImmediateBytes = 1 << 23; // a signed number of 24 bits; of 13 before
  t.matrixVersion = 2;
  t.tuning.repeatedLoadMostBits = 32;
  t.matrixInstructions = kWmmaGfx12;
  t.convertsE4M3FN = true;
  t.convertsE5M2 = true;
  t.atomicAddF16x2 = true;
  t.atomicAddBf16x2 = true;
  return a;
}

static ArchInfo gfx1201() {
  ArchInfo a = gfx1200();
  a.cpu = a.info.name = "gfx1201";
  a.boards = "rx9070 rx9070xt r9700";
  a.isaVersion = 12001;
  a.info.tritonTarget = "hip:gfx1201";
  return a;
}

llvm::ArrayRef<ArchInfo> archTable() {
  static const std::vector<ArchInfo> table = {gfx90a(), gfx942(), gfx950(), gfx1100(), gfx1200(), gfx1201()};
  return table;
}

} // namespace tessera::amd
