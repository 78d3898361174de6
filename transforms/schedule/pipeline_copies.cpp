// How the loads of a pipelined loop are copied (see pipeline_copies.h).
#include "transforms/schedule/pipeline_copies.h"
#include "ir/module_attributes.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"
#include "layouts/layout_order.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/schedule/transposed_copies.h"
#include "transforms/schedule/warp_copies.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

namespace {

/// What a thread can load by one access: along the dimension where that is most, the least of three numbers of
/// elements.
struct AccessWidth {
  int64_t bytes = 0;
  int64_t elements = 1;
  int64_t layout = 1;     // consecutive elements in a thread's registers
  int64_t contiguity = 1; // elements that AxisInfo knows to be consecutive, and aligned together
  int64_t mask = 0;       // elements that have the same mask; 0: none has a mask of its own
};

std::string text(const AccessWidth &w) {
  std::string mask = w.mask ? llvm::formatv("mask {0}, ", w.mask).str() : std::string();
  return llvm::formatv("{0} bytes (contiguity {1}, {2}layout {3})", w.bytes, w.contiguity, mask, w.layout);
}

AccessWidth accessWidth(tt::LoadOp load, const AxisInfoAnalysis &axis) {
  auto type = tensorOf(load.result());
  int64_t bits = type.element().bitWidth();
  auto layout = type.encoding()->toLinearLayout(type.shape());
  if (!layout.ok()) return AccessWidth{bits / 8};
  std::optional<AccessWidth> best;
  // The fastest dimension first: of dimensions that allow the same, it is the one whose contiguity is missing.
  for (unsigned d : layouts::storageOrderOf(type.encoding(), *layout)) {
    AccessWidth w;
    for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register); ++bit)
      if (layout->basis(Dim::Register, bit, layouts::tensorDim(d)) == w.layout) w.layout *= 2;
    w.contiguity = axis.contiguousElements(load.ptr(), d);
    bool hasMaskPerElement = load.mask() && load.mask().type().isTensor();
    if (hasMaskPerElement) w.mask = axis.maskConstancy(load.mask(), d);
    w.elements = std::min(w.layout, w.contiguity);
    if (hasMaskPerElement) w.elements = std::min(w.elements, w.mask);
    w.bytes = w.elements * bits / 8;
    if (!best || w.elements > best->elements) best = w;
  }
  return best.value_or(AccessWidth{bits / 8});
}

bool isReadByFma(Value buffer) {
  return llvm::any_of(buffer.users(), [](Operation *u) {
    if (u->is<ttg::MemdescTransOp>()) return isReadByFma(u->result());
    auto *operand = u->is<ttg::LocalLoadOp>()
                        ? layouts::dynCast<layouts::DotOperandEncoding>(tensorOf(u->result()).encoding())
                        : nullptr;
    return operand && operand->parent()->kind() == layouts::EncodingKind::Blocked;
  });
}

/// The choice for one loop.
class CopyChooser {
public:
  CopyChooser(LoopLoads from, scf::ForOp loop, const TargetInfo &target, const AxisInfoAnalysis &axis,
              std::string &whyNot)
      : loop_(loop), body_(*loop.body().front()), target_(target), axis_(axis), whyNot_(whyNot) {
    copies_.from = std::move(from);
  }

  std::optional<LoopCopies> run() {
    copies_.byWarps = warpsCopyAll();
    copies_.asynchronous = copies_.byWarps || threadsCopyAll();
    if (copies_.asynchronous)
      findReaders();
    else if (!keepLoadsThroughPointers() || !isWorthRegisters())
      return std::nullopt;
    return std::move(copies_);
  }

private:
  std::vector<PipelinedLoad> &loads() { return copies_.from.loads; }

  // ---- asynchronous copies or registers ----

  /// Whether warps copy all loads to their buffers: they are in the layouts for it (warp-copy-layouts).
  bool warpsCopyAll() {
    return target_.warpCopyBytes() & kGlobalAccessBytes && llvm::all_of(loads(), [&](const PipelinedLoad &a) {
             return a.alloc && !a.isBulkCopy && !hasOtherThanZero(a) &&
                    isWarpCopy(a.load(), tensorOf(a.result()).encoding(), a.alloc.result().type().cast<MemDescType>(),
                               axis_);
           });
  }

  /// Whether each lane can copy its elements of all loads that are issued ahead asynchronously (or TMA copies them).
  /// Loads too narrow for that may stay in the iteration.
  bool threadsCopyAll() {
    if (!target_.hasPerLaneAsyncCopy) return false;
    if (leaveNarrowLoads()) return true;
    return llvm::all_of(loads(), [&](const PipelinedLoad &a) { return a.isBulkCopy || canCopyAsync(a); });
  }

  /// Whether asynchronous copies can do the load: masked-off elements become zero, or are selected later, and an access
  /// has enough bytes. Otherwise `whyNoAsyncCopies` gets the reason.
  bool canCopyAsync(const PipelinedLoad &a) {
    auto load = a.load();
    bool masksToZero = a.selectsOther || !hasOtherThanZero(a);
    AccessWidth width = accessWidth(load, axis_);
    if (masksToZero && width.bytes >= kMinAsyncCopyBytes) return true;
    copies_.whyNoAsyncCopies = "the load at " + describe(load->loc()) +
                               (masksToZero ? " has accesses of " + text(width)
                                            : std::string(" has another value than 0 for masked-off elements"));
    return false;
  }

  /// Where asynchronous copies can do some of the loads, those with narrow accesses stay in the iteration that uses
  /// them, if threads compute with their values, which need no buffer (the scales of groups of weights, packed weights
  /// whose bytes are loaded twice). Through registers, all loads would be a single iteration ahead, and their values
  /// and addresses would be held meanwhile. False: the loads are as they were. (The last step, the producer of fewer
  /// loads, cannot fail where that of all of them was found.)
  bool leaveNarrowLoads() {
    std::vector<PipelinedLoad> copied;
    int64_t left = 0;
    for (auto &a : loads()) {
      if (a.isBulkCopy || canCopyAsync(a)) {
        copied.push_back(a);
        continue;
      }
      bool isNarrow = accessWidth(a.load(), axis_).bytes < kMinAsyncCopyBytes;
      bool isStored = llvm::any_of(a.result().users(), [](Operation *user) { return user->is<ttg::LocalAllocOp>(); });
      if (!isNarrow || isStored) return false;
      ++left;
    }
    bool hasOperandInBuffer = llvm::any_of(copied, [](const PipelinedLoad &a) { return bool(a.alloc); });
    if (!left || !hasOperandInBuffer) return false;
    copies_.loadsInPlace = left;
    loads() = std::move(copied);
    return findProducer(copies_.from, body_, whyNot_);
  }

  // ---- through registers ----

  /// Loads through descriptors stay where they are, if other loads of the loop go through registers.
  bool keepLoadsThroughPointers() {
    std::erase_if(loads(), [](const PipelinedLoad &a) { return a.isBulkCopy; });
    return !loads().empty() && findProducer(copies_.from, body_, whyNot_);
  }

  /// Whether threads should hold the loaded values in registers. If the target could copy asynchronously but for the
  /// width of accesses, each narrow access takes a register, an address and a predicate. Assemblers then sink the loads
  /// to the stores of their values, and nothing is gained (ir/tuning.def, pipelineNarrowLoads).
  bool isWorthRegisters() {
    if (!target_.hasPerLaneAsyncCopy) return true;
    int64_t narrow = 0;
    for (auto &a : loads()) {
      int64_t bytes = accessWidth(a.load(), axis_).bytes;
      auto type = tensorOf(a.result());
      auto elements = elementsPerThread(type);
      if (bytes >= kMinAsyncCopyBytes || !elements) continue;
      int64_t elementBytes = std::max<int64_t>(1, type.element().bitWidth() / 8);
      narrow += *elements * elementBytes / std::max<int64_t>(1, bytes);
    }
    if (narrow < target_.tuning.pipelineNarrowLoads) return true;
    whyNot_ = llvm::formatv("threads would hold the values of {0} loads of less than 4 bytes; not by asynchronous "
                            "copies: {1}",
                            narrow, copies_.whyNoAsyncCopies);
    return false;
  }

  // ---- readers of asynchronous copies ----

  /// The layout in which a buffer is filled from the multi-buffer in each iteration (transposed_copies.h), if it is.
  const Encoding *squaresFor(const PipelinedLoad &a, ttg::LocalAllocOp alloc) {
    auto type = alloc.result().type().cast<MemDescType>();
    bool isFilledByBulkCopy = a.isBulkCopy && canBeFilled(alloc, a.op);
    if (copies_.byWarps || isFilledByBulkCopy || !runsAcross(tensorOf(a.result()), type)) return nullptr;
    return layoutOfSquares(tensorOf(a.result()), type, numWarps(loop_->module().op()), target_);
  }

  /// Who else can read the multi-buffer of each copy: the value is in shared memory already.
  void findReaders() {
    for (auto &a : loads()) {
      if (a.alloc && squaresFor(a, a.alloc)) a.alloc = {};
      for (auto *user : a.result().users()) {
        if (user->block() != &body_) continue;
        if (auto c = user->dyn<ttg::ConvertLayoutOp>(); c && !a.selectsOther) a.conversions.push_back(c);
        auto buffer = user->dyn<ttg::LocalAllocOp>();
        if (buffer && buffer.op != a.alloc.op) addReader(a, buffer);
      }
    }
  }

  void addReader(PipelinedLoad &a, ttg::LocalAllocOp buffer) {
    if (auto *squares = squaresFor(a, buffer)) {
      if (a.acrossRows) return;
      a.acrossRows = buffer;
      a.squares = squares;
      return;
    }
    if (!canBeFilled(buffer, a.op)) return;
    bool isConstant = !buffer.result().type().cast<MemDescType>().isMutable() && isOnlyRead(buffer.result());
    // By fma, a thread reads more of an operand than it can hold; the barrier after the buffer's store keeps these
    // reads late.
    if (!isConstant || isReadByFma(buffer.result())) return;
    if (!a.alloc)
      a.alloc = buffer;
    else if (buffer.result().type() == a.alloc.result().type())
      a.sameBuffers.push_back(buffer);
  }

  scf::ForOp loop_;
  Block &body_;
  const TargetInfo &target_;
  const AxisInfoAnalysis &axis_;
  std::string &whyNot_;
  LoopCopies copies_;
};

} // namespace

std::optional<LoopCopies> chooseLoopCopies(LoopLoads loads, scf::ForOp loop, const TargetInfo &target,
                                           const AxisInfoAnalysis &axis, std::string &whyNot) {
  return CopyChooser(std::move(loads), loop, target, axis, whyNot).run();
}

} // namespace tessera::transforms
