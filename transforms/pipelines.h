// The pipelines, one readable function per level and, where vendors differ, per vendor: which passes run, in which
// order, and why. docs/passes.md is generated from them and from the registry.
#pragma once
#include "transforms/pass.h"

namespace tessera::transforms {

/// What a pipeline to TTGIR is configured by; the rest comes from the target.
struct TtgirPipelineOptions {
  int numWarps = 4;              // of a block
  int numCtas = 1;               // blocks of a cluster
  int numStages = 3;             // of loops that do not say tt.num_stages
  int matrixInstructionSize = 0; // AMD: rows and columns of matrix instructions; 0: accelerate-matmul chooses
  bool mayAddWarps = true;       // warps beside numWarps that only copy
  bool tensorMemory = true;      // dots may have their accumulators there, if the target has it
};

/// TTIR to better TTIR, the same for all targets; `numWarps` of a block.
Pipeline ttirPipeline(const ir::TargetInfo &, int64_t numWarps = 1);
/// TTIR to TTGIR with good layouts, software pipelines and a schedule.
Pipeline nvidiaTtgirPipeline(const ir::TargetInfo &, const TtgirPipelineOptions &);
Pipeline amdTtgirPipeline(const ir::TargetInfo &, const TtgirPipelineOptions &);
/// The one of the target's vendor.
Pipeline ttgirPipeline(const ir::TargetInfo &, const TtgirPipelineOptions &);
/// What TTGIR that is given needs before its lowering; it keeps its layouts.
Pipeline givenTtgirPipeline(const ir::TargetInfo &);
/// What the lowering to LLVM IR requires: the stages of kLoweringNeeds.
Pipeline loweringPipeline(const ir::TargetInfo &);

/// The stages at which codegen::lowerToLLVM takes a module.
inline constexpr ir::IrStages kLoweringNeeds = ir::IrStage::LayoutsAssigned | ir::IrStage::WarpGroupsAllocated |
                                               ir::IrStage::SharedMemoryAllocated | ir::IrStage::BarriersInserted;

} // namespace tessera::transforms
