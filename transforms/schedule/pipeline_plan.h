// What tritongpu-pipeline does to a loop (pipeline.cpp explains why and how): which loads are issued ahead, by how many
// iterations, where their values are buffered, and what their addresses are computed from.
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

/// One load that is issued ahead.
struct PipelinedLoad {
  ir::tt::LoadOp load;
  ir::ttg::LocalAllocOp alloc; // the buffer that the loop copies it to; null: the value itself is used
  // Asynchronous copies: further readers of the multi-buffer, which are replaced by it: buffers of the same type and
  // layout conversions of the value.
  llvm::SmallVector<ir::ttg::LocalAllocOp, 2> sameBuffers;
  llvm::SmallVector<ir::ttg::ConvertLayoutOp, 2> conversions;
  ir::MemDescType bufferType; // of one stage; null: the value is carried in registers
  TensorBlock block;          // what a bulk copy copies (PipelinePlan::bulkCopies)

  bool isBuffer(ir::Operation *op) const {
    return (alloc && alloc.op == op) || llvm::any_of(sameBuffers, [&](auto &x) { return x.op == op; });
  }
  bool isConversion(ir::Operation *op) const {
    return llvm::any_of(conversions, [&](auto &x) { return x.op == op; });
  }
};

struct PipelinePlan {
  std::vector<PipelinedLoad> loads;          // in the order of the body
  llvm::SetVector<ir::Operation *> producer; // operations of the body that compute addresses and masks
  llvm::SetVector<unsigned> producerCarried; // indices of the loop-carried values that these need
  int64_t distance = 1;                      // iterations ahead
  int64_t buffers = 1;                       // in each multi-buffer
  int64_t bytesPerStage = 0;                 // of the buffers of all loads, one of each
  bool asyncCopies = false;                  // copied to shared memory asynchronously; else through registers
  std::string whyNoAsyncCopies;              // the reason, if the target has them
  // The rest concerns asynchronous copies.
  bool dotsInFlight = false;              // dots stay in flight across the iteration's end
  bool operandsFirst = false;             // operands are read before the next copies are issued
  ir::ttng::WarpGroupDotOp copiesAfter;   // the next copies are issued after this dot, which is waited for behind them
  bool bulkCopies = false;                // blocks of tensors, copied by TMA
  ir::Operation *outermostLoop = nullptr; // bulkCopies: the loop before which tensor maps are created
  llvm::StringRef whyNoBulkCopies;        // the reason, if the target has TMA and loads are of descriptors' blocks
};

/// The code of an element type in tensor maps (PTX ISA, tensormap.replace); -1: none.
int tensormapElementType(ir::Type);

/// The plan for a loop, or nothing if it cannot or should not be pipelined; then `whyNot` is the reason, if the loop
/// has dots.
std::optional<PipelinePlan> planPipeline(ir::scf::ForOp, int64_t stages, const ir::TargetInfo &,
                                         const AxisInfoAnalysis &, std::string &whyNot);

} // namespace tessera::transforms
