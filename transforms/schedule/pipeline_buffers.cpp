// The buffers of a pipelined loop (see pipeline_buffers.h).
#include "transforms/schedule/pipeline_buffers.h"
#include "ir/attribute_names.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/tensor_queries.h"
#include "layouts/amd_mfma.h"
#include "layouts/conversion_plan.h"
#include "layouts/layout_order.h"
#include "transforms/analyses/alternating_waves.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/schedule/pipeline_blocks.h"
#include "transforms/schedule/transposed_copies.h"
#include "transforms/schedule/warp_copies.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstdint>

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

/// The layout that a conversion through shared memory would use, if both the copies (whole accesses of threads) and the
/// reads in the layout `into` are free of conflicts in it; null otherwise.
const Encoding *layoutOfConversion(const layouts::LinearLayout &from, TensorType into, int64_t elementsPerAccess,
                                   const TargetInfo &target, Context &c) {
  auto to = into.encoding()->toLinearLayout(into.shape());
  if (!to.ok()) return nullptr;
  auto plan = layouts::planConversion(from, *to, into.element().bitWidth(), target.memoryModel());
  bool copiesStayWhole =
      plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory && plan->writeVector >= elementsPerAccess;
  if (!copiesStayWhole) return nullptr;
  auto e = c.encodings().getSharedLinear(plan->sharedWithBlocks());
  return e.ok() ? *e : nullptr;
}

/// The layout of a buffer whose value is read by plain loads. If the value comes back to the threads that copied it:
/// rows, unswizzled. Else the layout of the first conversion, or rows swizzled in units of 16 bytes.
const Encoding *bufferLayout(PipelinedLoad &a, const TargetInfo &target, Context &c) {
  auto type = tensorOf(a.result());
  if (auto load = a.descriptorLoad()) return bufferOfBlock(load.desc(), type, /*isMutable=*/true).encoding();
  auto layout = type.encoding()->toLinearLayout(type.shape());
  if (!layout.ok()) return nullptr;
  int64_t bytes = std::max<int64_t>(1, type.element().bitWidth() / 8);
  layouts::SwizzledSharedParams p;
  p.order = layouts::orderOf(*layout);
  p.cta = type.encoding()->cta();
  if (a.acrossRows)
    if (auto *e = bufferOfSquares(c.encodings(), type)) return e;
  if (!a.conversions.empty() && type.rank() == 2) {
    // What a thread copies at once.
    int64_t elementsPerAccess = std::min<int64_t>(layouts::consecutiveElements(*layout, p.order[0]),
                                                  std::max<int64_t>(1, kMaxAsyncCopyBytes / bytes));
    auto converted = tensorOf(a.conversions[0].result());
    if (auto *e = layoutOfConversion(*layout, converted, elementsPerAccess, target, c)) return e;
    p = layouts::conflictFreeSwizzle(type.shape(), p.order, p.cta, bytes, target.memoryModel());
  }
  auto e = c.encodings().getSwizzledShared(p);
  return e.ok() ? *e : nullptr;
}

/// Of the dot with the most: half of the registers of what is read from buffers for it, if it takes several MFMA along
/// K.
int64_t registersOfLaterOperands(const Block &body) {
  int64_t most = 0;
  for (const Operation &op : body) {
    auto *mfma = isDot(&op) ? layouts::dynCast<layouts::AmdMfmaEncoding>(tensorOf(op.result()).encoding()) : nullptr;
    constexpr unsigned kK = 2; // of an instruction's shape, in current text
    bool takesSeveral = mfma && mfma->params().instrShape.size() > kK &&
                        tensorOf(op.operand(0)).shape().back() > mfma->params().instrShape[kK];
    if (!takesSeveral) continue;
    int64_t registers = 0;
    for (Value v : op.operands())
      if (v.definedBy<ttg::LocalLoadOp>()) registers += registersOf(v);
    most = std::max(most, registers / 2);
  }
  return most;
}

/// The buffers of one loop.
class BufferPlanner {
public:
  BufferPlanner(PipelinePlan &plan, scf::ForOp loop, int64_t stages, const TargetInfo &target, std::string &whyNot)
      : plan_(plan), loop_(loop), body_(*loop.body().front()), stages_(stages), target_(target), whyNot_(whyNot),
        warps_(numWarps(loop->module().op())) {}

  bool run() {
    plan_.distance = 1; // through registers
    if (plan_.asyncCopies) plan_.distance = plan_.byWarps ? kWarpCopyDistance : stages_ - 1;
    if (plan_.asyncCopies && !plan_.tiles.loop) limitToIterations();
    if (!chooseTypes()) return false;
    collectReplaced();
    plan_.otherBytes = sharedBytesDuring(loop_.op, replaced_, target_);
    room_ = target_.sharedMemoryPerBlock - plan_.otherBytes;
    return plan_.asyncCopies ? planMultiBuffers() : planBuffersOfRegisters();
  }

private:
  /// False, with the reason that so many bytes do not fit.
  bool doNotFit(llvm::StringRef what) {
    whyNot_ = llvm::formatv("{0} of {1} bytes of shared memory: {2} are left", what, plan_.bytesPerStage, room_).str();
    return false;
  }

  /// At most as many stages as iterations, and two at least: further buffers would stay empty. (With a loop over tiles
  /// around it, the next tile's copies fill them.)
  void limitToIterations() {
    auto iterations = constantIterations(loop_);
    int64_t most = iterations ? std::max<int64_t>(*iterations - 1, 1) : plan_.distance;
    if (plan_.distance <= most) return;
    plan_.distance = most;
    plan_.whyFewerStages = llvm::formatv("the loop iterates {0} times", *iterations).str();
  }

  /// The types of the buffers of one stage, and their bytes.
  bool chooseTypes() {
    Context &c = loop_->context();
    for (auto &a : plan_.loads) {
      auto type = tensorOf(a.result());
      bool isCarried = !a.alloc && !plan_.asyncCopies;
      if (isCarried) continue;
      const Encoding *shared =
          a.alloc ? a.alloc.result().type().cast<MemDescType>().encoding() : bufferLayout(a, target_, c);
      if (!shared) return false;
      a.bufferType = MemDescType::get(type.shape(), type.element(), shared, sharedMemorySpace(c), true);
      plan_.bytesPerStage += a.bytesOfBuffer();
    }
    return true;
  }

  void collectReplaced() {
    for (auto &a : plan_.loads) {
      replaced_.push_back(a.op);
      for (auto &op : body_)
        if (a.isBuffer(&op)) replaced_.push_back(&op);
    }
  }

  // ---- asynchronous copies ----

  /// The distance for which the multi-buffers fit, and their number of buffers.
  bool planMultiBuffers() {
    if (!plan_.hasBulkCopies() && spillsAnyway(plan_, loop_, target_)) {
      whyNot_ = "its tensors take more registers than a thread has, and copies ahead would take more";
      return false;
    }
    // Without dots, one more block hides as much latency as one more stage. The program may require a number of stages.
    int64_t aim = plan_.hasDots || loop_->hasAttr(kNumStagesAttr)
                      ? room_
                      : target_.sharedMemoryPerBlock / target_.tuning.copiesPerBlockDivisor;
    while (plan_.distance > 1 && plan_.bytesOfBuffers(plan_.distance + 1) > aim) --plan_.distance;
    while (plan_.distance > 0 && plan_.bytesOfBuffers(plan_.distance + 1) > room_) --plan_.distance;
    leaveMemoryForSecondBlock();
    leaveMemoryForBlocks(plan_, loop_, target_);
    if (plan_.tiles.loop) planBuffersOfTiles();
    plan_.buffers = plan_.distance + 1;
    return plan_.distance > 0 || doNotFit("no room for two stages");
  }

  /// A block with an atomic operation in each iteration leaves the matrix unit to another one meanwhile: stages that
  /// leave no room for the other one cost more than they save. (Measured: NVIDIA H200, 2026-11,
  /// benchmarks/public_kernels.py mamba_chunk_scan_gated: `_chunk_state_bwd_db_kernel` 34.8 us with one block of three
  /// stages, 28.5 us with two blocks and no pipeline.)
  void leaveMemoryForSecondBlock() {
    bool hasAtomics =
        llvm::any_of(body_, [](Operation &op) { return op.is<tt::AtomicRmwOp>() || op.is<tt::DescriptorReduceOp>(); });
    if (!hasAtomics || loop_->hasAttr(kNumStagesAttr)) return;
    auto blocks = [&](int64_t distance) {
      return target_.blocksBySharedMemory(plan_.bytesOfBuffers(distance + 1) + plan_.otherBytes);
    };
    if (blocks(1) < 2) return;
    for (; plan_.distance > 1 && blocks(plan_.distance) < 2; --plan_.distance)
      plan_.whyFewerStages = "with fewer, a second block fits on a multiprocessor";
  }

  /// The buffers of a loop over tiles hold copies while a tile is stored: what the stores need comes on top. A loop
  /// that would have to do with fewer than three stages for that is left as it is.
  void planBuffersOfTiles() {
    plan_.otherBytesOfTiles = sharedBytesDuring(plan_.tiles.loop.op, replaced_, target_);
    int64_t room = target_.sharedMemoryPerBlock - plan_.otherBytesOfTiles;
    int64_t distance = plan_.distance;
    while (distance > 0 && plan_.bytesOfBuffers(distance + 1) > room) --distance;
    if (distance < std::min(plan_.distance, target_.tuning.tileLeastDistance)) {
      plan_.tiles = {};
      plan_.whyNoTiles = llvm::formatv("{0} bytes of shared memory are left beside those of the tile's stores, for "
                                       "stages of {1}",
                                       std::max<int64_t>(room, 0), plan_.bytesPerStage)
                             .str();
      return;
    }
    plan_.distance = distance;
  }

  // ---- through registers ----

  /// Two buffers save a barrier, if they leave room for enough waves, or registers do not admit these anyway.
  bool planBuffersOfRegisters() {
    int64_t bytes = plan_.bytesPerStage;
    bool twoFit = plan_.bytesOfBuffers(2) <= room_;
    bool secondBlockFits = 2 * bytes <= target_.sharedMemoryPerBlock / 2;
    bool otherBlocksFit = secondBlockFits && target_.blocksBySharedMemory(2 * bytes) >= blocksThatHideLatency() &&
                          !otherMemoryEndsBlocks(bytes);
    plan_.buffers = twoFit && (otherBlocksFit || (registersLeaveMemory(bytes) && !wavesAlternate())) ? 2 : 1;
    if (plan_.bytesOfBuffers(1) > room_) return doNotFit("no room for a stage");
    if (mayLoadTwoAhead()) plan_.distance = 2;
    return true;
  }

  /// Blocks of a multiprocessor that shared memory should have room for: of so many threads that other waves compute
  /// while one waits.
  int64_t blocksThatHideLatency() const {
    int64_t threads = warps_ * target_.warpSize;
    return target_.tuning.pipelineThreadsOfScheduler * target_.schedulersPerMultiprocessor / threads;
  }

  /// Whether shared memory has room for the blocks that hide latency beside two buffers, but not with what else the
  /// loop needs of it, such as scratch of its reductions, and one buffer leaves room for more blocks.
  bool otherMemoryEndsBlocks(int64_t bytes) const {
    auto blocks = [&](int64_t buffers) { return target_.blocksBySharedMemory(buffers * bytes + plan_.otherBytes); };
    return blocks(2) < blocksThatHideLatency() && blocks(1) > blocks(2);
  }

  /// Whether the loop takes so many registers that shared memory for two buffers costs less than half of the blocks: of
  /// two blocks by their registers, or of as many registers as a thread has. Beside the dots' operands, which are read
  /// ahead, are the loaded values of a later iteration. Of a dot that takes several instructions along K, half of the
  /// operands can be read after the other half is used.
  bool registersLeaveMemory(int64_t bytes) const {
    auto function = loop_->parentOfType<tt::FuncOp>();
    if (!function || !plan_.hasDots) return false;
    int64_t registers = RegisterPressure(function.op).highest(loop_.op, loop_.op);
    for (auto &a : plan_.loads) registers += registersOf(a.result());
    int64_t ofTwoBlocks = target_.registersPerThread(2 * warps_, RegisterSplit::Allocated);
    if (registers - registersOfLaterOperands(body_) <= ofTwoBlocks) return false;
    int64_t most = std::min<int64_t>(registers, target_.maxRegistersPerThread);
    int64_t byRegisters = target_.registersPerScheduler / most * target_.schedulersPerMultiprocessor / warps_;
    auto blocks = [&](int64_t buffers) {
      return std::max<int64_t>(1, std::min(byRegisters, target_.blocksBySharedMemory(buffers * bytes)));
    };
    return 2 * blocks(2) > blocks(1);
  }

  /// Whether half of the block's waves will access memory while the other half uses the matrix units, for which they
  /// have one buffer (codegen_amd/passes/alternate_waves.cpp): two waves on each SIMD, and one dot, which accumulates
  /// what is read from the buffers, with as many clocks of MFMA, and as few of LDS, as that pass requires.
  bool wavesAlternate() const {
    if (target_.matrixUnit != MatrixUnit::Mfma || !hasAlternatingWaves(target_, warps_)) return false;
    Operation *dot = nullptr;
    for (Operation &op : body_) {
      if (!isDot(&op)) continue;
      if (dot) return false;
      dot = &op;
    }
    if (!dot || !dot->is<tt::DotOp>()) return false;
    if (!dot->result().hasOneUse() || dot->result().users().front() != body_.terminator()) return false;
    int64_t read = 0;                 // registers of a thread
    constexpr unsigned kOperands = 2; // A and B
    for (unsigned i = 0; i < kOperands; ++i) {
      auto operand = dot->operand(i).definedBy<ttg::LocalLoadOp>();
      auto isFilledFrom = [&](const PipelinedLoad &a) { return a.alloc && operand.src() == a.alloc.result(); };
      if (!operand || llvm::none_of(plan_.loads, isFilledFrom)) return false;
      read += registersOf(operand.result());
    }
    auto *mfma = layouts::dynCast<layouts::AmdMfmaEncoding>(tensorOf(dot->result()).encoding());
    if (!mfma || mfma->params().instrShape.size() != 3) return false;
    int64_t m = mfma->params().instrShape[0], n = mfma->params().instrShape[1], k = mfma->params().instrShape[2];
    int64_t instructions = tensorOf(dot->result()).numElements() / (m * n * warps_) *
                           llvm::divideCeil(tensorOf(dot->operand(0)).shape().back(), k);
    // Half of the waves read all operands and write half of the buffers.
    int64_t bytes = read * (kWordBits / 8) * target_.warpSize * warps_ / 2 + plan_.bytesPerStage / 2;
    return matricesCoverLds(target_, instructions * clocksOfMfma(m), bytes);
  }

  /// Whether loads may be issued as soon as the values before them are stored, for the iteration after the next one.
  /// They take the registers that those leave, and have a whole iteration to arrive. Only where the stores come between
  /// the dots (order-matrices), not after them, and the loop does nothing but accumulate: work between dots takes as
  /// long as loads do, and the loads' predicates would add to it.
  bool mayLoadTwoAhead() const {
    if (target_.matrixUnit != MatrixUnit::Mfma) return false;
    // The stores to a single buffer come late, after all reads of it.
    if (plan_.buffers < 2) return false;
    if (!llvm::all_of(plan_.loads, [](const PipelinedLoad &a) { return bool(a.bufferType); })) return false;
    return llvm::all_of(body_, [&](Operation &op) {
      return !isDot(&op) || (op.result().hasOneUse() && op.result().users().front() == body_.terminator());
    });
  }

  PipelinePlan &plan_;
  scf::ForOp loop_;
  Block &body_;
  int64_t stages_;
  const TargetInfo &target_;
  std::string &whyNot_;
  int64_t warps_;
  llvm::SmallVector<Operation *, 8> replaced_; // by the copies: the loads, and the buffers that they fill
  int64_t room_ = 0;                           // bytes of shared memory for the buffers
};

} // namespace

bool planBuffers(PipelinePlan &plan, scf::ForOp loop, int64_t stages, const TargetInfo &target, std::string &whyNot) {
  return BufferPlanner(plan, loop, stages, target, whyNot).run();
}

} // namespace tessera::transforms
