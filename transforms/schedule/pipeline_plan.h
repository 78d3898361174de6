// What tritongpu-pipeline does to a loop (docs/software_pipelining.md explains why and how): which loads are issued
// ahead, by how many iterations, where their values are buffered, and what their addresses are computed from. Planning
// has four phases, of which pipeline_plan.cpp gives the order and the files.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/schedule/dot_slices.h"
#include "transforms/schedule/tile_loop.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::transforms {

/// One load that is issued ahead.
struct PipelinedLoad {
  ir::Operation *op = nullptr; // tt.load or tt.descriptor_load
  ir::ttg::LocalAllocOp alloc; // the buffer that the loop copies it to; null: the value itself is used
  // Asynchronous copies: further readers of the multi-buffer, which are replaced by it: buffers of the same type and
  // layout conversions of the value.
  llvm::SmallVector<ir::ttg::LocalAllocOp, 2> sameBuffers;
  llvm::SmallVector<ir::ttg::ConvertLayoutOp, 2> conversions;
  // Asynchronous copies: a buffer that each iteration fills from the multi-buffer, in a layout of squares
  // (transposed_copies.h).
  ir::ttg::LocalAllocOp acrossRows;
  const layouts::Encoding *squares = nullptr;
  ir::MemDescType bufferType; // of one stage; null: the value is carried in registers
  bool isBulkCopy = false;    // by TMA
  // Asynchronous copies write zeros for masked-off elements: the load's other value is selected after the read.
  bool selectsOther = false;
  // Asynchronous copies of threads: copied at the start of the iteration that uses it, into a single buffer.
  bool isLate = false;

  ir::Value result() const { return op->result(); }
  /// @pre it has a buffer
  int64_t bytesOfBuffer() const;
  /// The load through pointers; null if it is through a descriptor.
  ir::tt::LoadOp load() const { return op->dyn<ir::tt::LoadOp>(); }
  ir::tt::DescriptorLoadOp descriptorLoad() const { return op->dyn<ir::tt::DescriptorLoadOp>(); }
  bool isBuffer(ir::Operation *op) const {
    return (alloc && alloc.op == op) || llvm::any_of(sameBuffers, [&](auto &x) { return x.op == op; });
  }
  bool isAcrossRows(ir::Operation *op) const { return acrossRows && acrossRows.op == op; }
  bool isConversion(ir::Operation *op) const {
    return llvm::any_of(conversions, [&](auto &x) { return x.op == op; });
  }
};

struct PipelinePlan {
  std::vector<PipelinedLoad> loads; // in the order of the body
  BodySlice producer;               // what addresses and masks are computed from
  int64_t loadsInPlace = 0;         // narrow loads beside asynchronous copies, which are not issued ahead
  int64_t distance = 1;             // iterations ahead
  int64_t buffers = 1;              // in each multi-buffer, but those of late loads
  int64_t bytesPerStage = 0;        // of the buffers of all loads, one of each
  int64_t otherBytes = 0;           // of the block's shared memory, beside the buffers, while the loop runs
  std::string whyFewerStages;       // than requested, if not for lack of shared memory
  bool hasDots = true;              // of the body; else all loads are bulk copies
  bool asyncCopies = false;         // copied to shared memory asynchronously; else through registers
  std::string whyNoAsyncCopies;     // the reason, if the target has them; that of a load in place
  // The rest concerns asynchronous copies.
  bool byWarps = false;                 // a warp's lanes copy to consecutive places (warp-copy-layouts)
  bool dotsInFlight = false;            // dots stay in flight across the iteration's end
  std::vector<SlicedDot> slicedDots;    // … but these, whose A operand is in registers, to its end (dot_slices.h)
  bool operandsFirst = false;           // operands are read before the next copies are issued
  bool refillsStage = false;            // the next copies go into the buffers that the iteration has read itself
  bool keepsLastBuffers = false;        // an iteration's buffers are not filled again before the next one has ended
  ir::ttng::WarpGroupDotOp copiesAfter; // the next copies are issued after this dot, which is waited for after them
  TileLoop tiles;                       // around the loop: a tile's first copies are issued before the last's stores
  std::string whyNoTiles;               // the reason, if the loop is in another one
  int64_t otherBytesOfTiles = 0;        // as otherBytes, while the loop over tiles runs
  bool hasProducerWarp = false;         // for all tiles (producer_of_tiles.h)
  std::string whyNoProducer;            // the reason, if tiles are copied by TMA

  /// Through registers, all into buffers: what is loaded waits in registers for an iteration.
  bool loadsTwoAhead() const { return !asyncCopies && distance == 2; }
  /// Through registers: whether the loop carries the loaded value.
  bool isCarried(const PipelinedLoad &a) const { return !a.bufferType || loadsTwoAhead(); }
  /// Whether the last iterations of a tile issue the next tile's first copies; else they come after all of them.
  bool copiesCrossTiles() const { return tiles.loop && dotsInFlight; }
  /// Bytes of the buffers, and those that so many of each load (one of a late load) take at most with their alignment.
  int64_t bytesTaken() const;
  int64_t bytesOfBuffers(int64_t count) const;
  int64_t lateLoads() const {
    return llvm::count_if(loads, [](const PipelinedLoad &a) { return a.isLate; });
  }
  bool hasBulkCopies() const {
    return llvm::any_of(loads, [](const PipelinedLoad &a) { return a.isBulkCopy; });
  }
  /// Whether some loads are copied by cp.async, or by warps.
  bool hasThreadCopies() const {
    return asyncCopies && llvm::any_of(loads, [](const PipelinedLoad &a) { return !a.isBulkCopy; });
  }
};

/// The plan for a loop, or nothing if it cannot or should not be pipelined; then `whyNot` is the reason, if the loop
/// has dots or bulk copies.
std::optional<PipelinePlan> planPipeline(ir::scf::ForOp, int64_t stages, const ir::TargetInfo &,
                                         const AxisInfoAnalysis &, std::string &whyNot);

} // namespace tessera::transforms
