// What tritongpu-pipeline does to a loop (pipeline.cpp tells why and how): which loads run ahead, how far, where what
// they bring lies, and what their addresses are computed from.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/tensor_block.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::transforms {

/// One load that runs ahead.
struct AheadLoad {
  ir::tt::LoadOp load;
  ir::ttg::LocalAllocOp alloc; // the buffer that it fills; null: the value itself is used
  // In the background, what else reads the slot: buffers of the same type, conversions of the value, in their layouts.
  llvm::SmallVector<ir::ttg::LocalAllocOp, 2> copies;
  llvm::SmallVector<ir::ttg::ConvertLayoutOp, 2> conversions;
  ir::MemDescType slot; // the type of one slot; null: carried in registers
  TensorBlock block;    // PipelinePlan::blocks: what is copied

  bool isBuffer(ir::Operation *op) const {
    return (alloc && alloc.op == op) || llvm::any_of(copies, [&](auto &x) { return x.op == op; });
  }
  bool isConversion(ir::Operation *op) const {
    return llvm::any_of(conversions, [&](auto &x) { return x.op == op; });
  }
};

struct PipelinePlan {
  std::vector<AheadLoad> ahead;              // in the order of the body
  llvm::SetVector<ir::Operation *> producer; // operations of the body that addresses and masks are computed from
  llvm::SetVector<unsigned> carried;         // numbers of the carried values that these need
  bool background = false;                   // copied to shared memory in the background, else through registers
  bool overlapped = false;                   // multiplications go on beside the next iteration's
  bool readsFirst = false;                   // operands are read before the next copies go out
  bool blocks = false;                       // copied as blocks of tensors, which the target does by itself
  ir::Operation *outermost = nullptr;        // then: the loop of loops before which the tensors are described
  ir::ttng::WarpGroupDotOp beside;           // the product beside which the next copies go out; null: none
  int64_t distance = 1;                      // iterations ahead
  int64_t slots = 1, bytes = 0;              // of the rings, and the bytes of one slot of all of them
};

/// The number by which descriptions of tensors call the type of elements (PTX ISA, tensormap.replace); -1: none.
int tensormapElementType(ir::Type);

/// The plan for a loop, or nothing where it is to be left alone; `why` then tells, if that is a loss (the loop
/// multiplies).
std::optional<PipelinePlan> planPipeline(ir::scf::ForOp, int64_t stages, const ir::TargetInfo &,
                                         const AxisInfoAnalysis &, std::string &why);

} // namespace tessera::transforms
