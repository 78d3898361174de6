// Which loads of a loop are issued ahead of its dots, and how (see pipeline_plan.h; docs/software_pipelining.md shows
// the result). The loads are those that operands of the body's dots are computed from; in a loop without dots, those
// through descriptors that are bulk copies. They can be issued ahead if no store of the body may write what they read,
// and if their addresses and masks are computed from what is known an iteration before.
#include "transforms/schedule/pipeline_plan.h"
#include "ir/attribute_names.h"
#include "ir/constants.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/amd_mfma.h"
#include "layouts/conversion_plan.h"
#include "layouts/dot_operand.h"
#include "layouts/layout_order.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/plain_stores.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/schedule/pipeline_blocks.h"
#include "transforms/schedule/pipeline_order.h"
#include "transforms/schedule/transposed_copies.h"
#include "transforms/schedule/warp_copies.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

namespace {

class PipelinePlanner {
public:
  PipelinePlanner(scf::ForOp loop, int64_t stages, const TargetInfo &target, const AxisInfoAnalysis &axis,
                  std::string &whyNot)
      : loop_(loop), body_(*loop.body().front()), stages_(stages), target_(target), axis_(axis), c_(loop->context()),
        whyNot_(whyNot) {}

  std::optional<PipelinePlan> run() {
    if (!isSuitable() || !findLoads() || !findProducer() || !readsNothingStored()) return std::nullopt;
    plan_.byWarps = warpsCopyAll();
    plan_.asyncCopies = plan_.byWarps || threadsCopyAll();
    if (!plan_.asyncCopies && !keepLoadsThroughPointers()) return std::nullopt;
    plan_.distance = 1; // through registers
    if (plan_.asyncCopies) plan_.distance = plan_.byWarps ? kWarpCopyDistance : stages_ - 1;
    if (plan_.asyncCopies)
      findReaders();
    else if (!isWorthRegisters())
      return std::nullopt;
    if (plan_.asyncCopies && plan_.hasDots) plan_.tiles = findTileLoop(loop_, plan_, plan_.whyNoTiles);
    if (plan_.asyncCopies && !plan_.tiles.loop) limitToIterations();
    if (!planBuffers()) return std::nullopt;
    if (mayLoadTwoAhead()) plan_.distance = 2;
    if (plan_.asyncCopies && plan_.hasDots) orderCopiesAndDots(loop_, target_, plan_);
    return std::move(plan_);
  }

private:
  // ---- which loads ----

  bool refuse(const llvm::Twine &reason) {
    whyNot_ = reason.str();
    return false;
  }

  /// Whether no load that would be issued ahead reads what the body stores.
  bool readsNothingStored() {
    llvm::SmallVector<Operation *, 8> early;
    for (auto &a : plan_.loads) early.push_back(a.op);
    for (auto *op : plan_.producer.operations)
      if (op->is<tt::LoadOp>()) early.push_back(op);
    if (auto [store, load] = conflictBetween(stores_, early); store)
      return refuse("'" + store->name() + "' at " + describe(store->loc()) + " may write what '" + load->name() +
                    "' at " + describe(load->loc()) + " reads");
    return true;
  }

  bool isSuitable() {
    plan_.hasDots = llvm::any_of(body_, [](Operation &op) { return isDot(&op); });
    if (!plan_.hasDots && bulkLoads().empty()) return false;
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock())
      return refuse("its counter is unsigned, or its body has several blocks");
    auto contains = [](Operation &op) { return ("it contains '" + op.name() + "' at " + describe(op.loc())).str(); };
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (isLoopOrCall(&op)) return refuse(contains(op));
      if (!onlyStores(&op, stores_))
        return refuse("'" + op.name() + "' at " + describe(op.loc()) + " writes memory or synchronizes");
      bool isPipelinedAlready = op.is<ttg::AsyncCopyGlobalToLocalOp>() || op.is<ttg::AsyncCommitGroupOp>();
      if (isPipelinedAlready) return false;
      for (auto &r : op.regions())
        for (auto *b = r.front(); b; b = b->next())
          for (auto &inner : *b)
            if (isLoopOrCall(&inner)) return refuse(contains(inner));
    }
    return true;
  }

  static bool isLoadOfTensor(Operation *op) {
    if (auto load = op->dyn<tt::DescriptorLoadOp>()) {
      auto buffer = bufferOfBlock(load.desc(), tensorOf(load.result()), /*isMutable=*/true);
      return buffer && isAlignedInMultiBuffer(buffer);
    }
    auto load = op->cast<tt::LoadOp>();
    if (!load.ptr().type().isTensor() || load.isVolatile()) return false;
    return pointeeOf(load.ptr()).bitWidth() >= 8;
  }
  /// Whether all buffers of a multi-buffer, which lie one after the other, begin where a bulk copy may, and where the
  /// layout's swizzle begins anew.
  static bool isAlignedInMultiBuffer(MemDescType buffer) {
    auto *layout = layouts::dynCast<layouts::NvmmaSharedEncoding>(buffer.encoding());
    int64_t bytes = buffer.numElements() * buffer.element().bitWidth() / 8;
    return layout && bytes % layout->alignment() == 0;
  }
  /// Whether the load can fill the buffer: through a descriptor, one in the descriptor's layout alone.
  static bool canBeFilled(ttg::LocalAllocOp alloc, Operation *op) {
    auto load = op->dyn<tt::DescriptorLoadOp>();
    if (!load) return true;
    auto buffer = alloc.result().type().cast<MemDescType>();
    return buffer.encoding() == bufferOfBlock(load.desc(), tensorOf(load.result()), true).encoding();
  }
  llvm::SmallVector<Operation *, 4> bulkLoads() {
    llvm::SmallVector<Operation *, 4> loads;
    for (auto &op : body_)
      if (op.is<tt::DescriptorLoadOp>() && isLoadOfTensor(&op)) loads.push_back(&op);
    return loads;
  }
  /// The loads from which operands of the body's dots are computed, not through another dot; or the bulk loads.
  bool findLoads() {
    for (auto *load : plan_.hasDots ? loadsFeedingDots(body_) : bulkLoads()) {
      if (!isLoadOfTensor(load)) continue;
      PipelinedLoad a;
      a.op = load;
      if (auto buffer = bufferFilledBy(load); buffer && canBeFilled(buffer, load)) a.alloc = buffer;
      a.isBulkCopy = load->is<tt::DescriptorLoadOp>();
      a.selectsOther = target_.hasPerLaneAsyncCopy && hasOtherThanZero(a) && isReadAsValue(load);
      plan_.loads.push_back(a);
    }
    return !plan_.loads.empty() || refuse("no load of the loop feeds a dot");
  }
  static bool hasOtherThanZero(const PipelinedLoad &a) {
    auto load = a.load();
    return load && load.other() && !isZero(load.other());
  }
  /// Whether threads compute with the loaded value, or a few elements of it are converted, which can be read, selected
  /// and converted one after the other. Else it goes to another layout or a buffer as it is, which an asynchronous copy
  /// can replace; reading it to select other elements would undo that.
  bool isReadAsValue(Operation *load) const {
    if (load->result().type().scalar().isa<PointerType>()) return false; // no constant of zeros
    int64_t threads = numWarps(loop_->module().op()) * target_.warpSize;
    bool isSmall = load->result().type().isTensor() && tensorOf(load->result()).numElements() <= threads;
    return llvm::none_of(load->result().users(), [&](Operation *user) {
      return user->is<ttg::LocalAllocOp>() || (user->is<ttg::ConvertLayoutOp>() && !isSmall);
    });
  }
  /// Loads through descriptors stay where they are, if other loads of the loop go through registers.
  bool keepLoadsThroughPointers() {
    std::erase_if(plan_.loads, [](const PipelinedLoad &a) { return a.isBulkCopy; });
    return !plan_.loads.empty() && findProducer();
  }

  /// Whether it is a branch that only computes, like the number of the next tile at the end of one in a loop over all
  /// tiles.
  static bool isPureBranch(Operation *op) {
    if (!op->is<scf::IfOp>()) return false;
    bool pure = true;
    op->walk([&](Operation *inner) {
      if (inner == op || inner->is<scf::YieldOp>()) return;
      bool needsSharedMemory =
          inner->is<ttg::ConvertLayoutOp>() || inner->is<tt::ReduceOp>() || inner->is<tt::ScanOp>();
      pure &= isPure(inner) && !inner->numRegions() && !isDot(inner) && !needsSharedMemory;
    });
    return pure;
  }
  /// Whether the producer may contain the operation.
  static bool mayBeProducer(Operation *def) {
    bool isPlainLoad = def->is<tt::LoadOp>() && !def->cast<tt::LoadOp>().isVolatile();
    if (def->numRegions() && !isPureBranch(def)) return false;
    if (effectsOf(def) && !isPlainLoad) return false;
    return !isDot(def) && !def->is<ttg::LocalAllocOp>();
  }

  /// What addresses and masks are computed from, across iterations: fills plan_.producer.
  bool findProducer() {
    while (true) {
      plan_.producer = {};
      llvm::SmallVector<Value, 16> needed;
      for (auto &a : plan_.loads) needed.append(a.op->operands().begin(), a.op->operands().end());
      auto loadOf = [&](Operation *op) { return llvm::find_if(plan_.loads, [&](auto &a) { return a.op == op; }); };
      auto mayContain = [&](Operation *op) { return loadOf(op) == plan_.loads.end() && mayBeProducer(op); };
      Operation *refused = addToSlice(plan_.producer, body_, needed, Across::Iterations, mayContain);
      if (!refused) return true;
      auto load = loadOf(refused);
      if (load == plan_.loads.end())
        return refuse("an address or mask depends on '" + refused->name() + "' at " + describe(refused->loc()));
      // A load that the address of another one needs is done when the address is: it is not issued ahead by itself.
      plan_.loads.erase(load);
      if (plan_.loads.empty()) return refuse("each load's address depends on another load");
    }
  }

  // ---- asynchronous copies or registers ----

  /// Whether asynchronous copies can do the load: masked-off elements become zero, or are selected later, and an access
  /// has enough bytes. Otherwise plan_.whyNoAsyncCopies gets the reason.
  bool canCopyAsync(const PipelinedLoad &a) {
    auto load = a.load();
    bool masksToZero = a.selectsOther || !hasOtherThanZero(a);
    AccessWidth width = accessWidth(load);
    if (masksToZero && width.bytes >= kMinAsyncCopyBytes) return true;
    plan_.whyNoAsyncCopies = "the load at " + describe(load->loc()) +
                             (masksToZero ? " has accesses of " + text(width)
                                          : std::string(" has another value than 0 for masked-off elements"));
    return false;
  }

  /// Whether warps copy all loads to their buffers: they are in the layouts for it (warp-copy-layouts).
  bool warpsCopyAll() const {
    return target_.warpCopyBytes() & kGlobalAccessBytes && llvm::all_of(plan_.loads, [&](const PipelinedLoad &a) {
             return a.alloc && !a.isBulkCopy && !hasOtherThanZero(a) &&
                    isWarpCopy(a.load(), tensorOf(a.result()).encoding(), a.alloc.result().type().cast<MemDescType>(),
                               axis_);
           });
  }

  /// Where asynchronous copies can do some of the loads, those with narrow accesses stay in the iteration that uses
  /// them, if threads compute with their values, which need no buffer (the scales of groups of weights, packed weights
  /// whose bytes are loaded twice). Through registers, all loads would be a single iteration ahead, and their values
  /// and addresses would be held meanwhile. False: the plan is as it was. (The last step, the producer of fewer
  /// loads, cannot fail where that of all of them was found.)
  bool leaveNarrowLoads() {
    std::vector<PipelinedLoad> copied;
    int64_t left = 0;
    for (auto &a : plan_.loads) {
      if (a.isBulkCopy || canCopyAsync(a)) {
        copied.push_back(a);
        continue;
      }
      bool isNarrow = bytesPerAccess(a.load()) < kMinAsyncCopyBytes;
      bool isStored = llvm::any_of(a.result().users(), [](Operation *user) { return user->is<ttg::LocalAllocOp>(); });
      if (!isNarrow || isStored) return false;
      ++left;
    }
    bool hasOperandInBuffer = llvm::any_of(copied, [](const PipelinedLoad &a) { return bool(a.alloc); });
    if (!left || !hasOperandInBuffer) return false;
    plan_.loadsInPlace = left;
    plan_.loads = std::move(copied);
    return findProducer();
  }

  /// Whether each lane can copy its elements of all loads that are issued ahead asynchronously (or TMA copies them).
  /// Loads too narrow for that may stay in the iteration.
  bool threadsCopyAll() {
    if (!target_.hasPerLaneAsyncCopy) return false;
    if (leaveNarrowLoads()) return true;
    return llvm::all_of(plan_.loads, [&](const PipelinedLoad &a) { return a.isBulkCopy || canCopyAsync(a); });
  }

  /// What a thread can load by one access: along the dimension where that is most, the least of three numbers of
  /// elements.
  struct AccessWidth {
    int64_t bytes = 0;
    int64_t elements = 1;
    int64_t layout = 1;     // consecutive elements in a thread's registers
    int64_t contiguity = 1; // elements that AxisInfo knows to be consecutive, and aligned together
    int64_t mask = 0;       // elements that have the same mask; 0: none has a mask of its own
  };
  static std::string text(const AccessWidth &w) {
    std::string mask = w.mask ? llvm::formatv("mask {0}, ", w.mask).str() : std::string();
    return llvm::formatv("{0} bytes (contiguity {1}, {2}layout {3})", w.bytes, w.contiguity, mask, w.layout);
  }
  AccessWidth accessWidth(tt::LoadOp load) const {
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
      w.contiguity = axis_.contiguousElements(load.ptr(), d);
      bool hasMaskPerElement = load.mask() && load.mask().type().isTensor();
      if (hasMaskPerElement) w.mask = axis_.maskConstancy(load.mask(), d);
      w.elements = std::min(w.layout, w.contiguity);
      if (hasMaskPerElement) w.elements = std::min(w.elements, w.mask);
      w.bytes = w.elements * bits / 8;
      if (!best || w.elements > best->elements) best = w;
    }
    return best.value_or(AccessWidth{bits / 8});
  }
  int64_t bytesPerAccess(tt::LoadOp load) const { return accessWidth(load).bytes; }

  /// Whether threads should hold the loaded values in registers. If the target could copy asynchronously but for the
  /// width of accesses, each narrow access takes a register, an address and a predicate. Assemblers then sink the loads
  /// to the stores of their values, and nothing is gained (ir/tuning.def, pipelineNarrowLoads).
  bool isWorthRegisters() {
    if (!target_.hasPerLaneAsyncCopy) return true;
    int64_t narrow = 0;
    for (auto &a : plan_.loads) {
      int64_t bytes = bytesPerAccess(a.load());
      auto type = tensorOf(a.result());
      auto elements = elementsPerThread(type);
      if (bytes >= kMinAsyncCopyBytes || !elements) continue;
      int64_t elementBytes = std::max<int64_t>(1, type.element().bitWidth() / 8);
      narrow += *elements * elementBytes / std::max<int64_t>(1, bytes);
    }
    return narrow < target_.tuning.pipelineNarrowLoads ||
           refuse("threads would hold the values of " + llvm::Twine(narrow) +
                  " loads of less than 4 bytes; not by asynchronous copies: " + plan_.whyNoAsyncCopies);
  }

  static bool isReadByFma(Value buffer) {
    return llvm::any_of(buffer.users(), [](Operation *u) {
      if (u->is<ttg::MemdescTransOp>()) return isReadByFma(u->result());
      auto *operand = u->is<ttg::LocalLoadOp>()
                          ? layouts::dynCast<layouts::DotOperandEncoding>(tensorOf(u->result()).encoding())
                          : nullptr;
      return operand && operand->parent()->kind() == layouts::EncodingKind::Blocked;
    });
  }
  /// The layout in which a buffer is filled from the multi-buffer in each iteration (transposed_copies.h), if it is.
  const Encoding *squaresFor(const PipelinedLoad &a, ttg::LocalAllocOp alloc) {
    auto type = alloc.result().type().cast<MemDescType>();
    bool isFilledByBulkCopy = a.isBulkCopy && canBeFilled(alloc, a.op);
    if (plan_.byWarps || isFilledByBulkCopy || !runsAcross(tensorOf(a.result()), type)) return nullptr;
    return layoutOfSquares(tensorOf(a.result()), type, numWarps(loop_->module().op()), target_);
  }
  /// What else can read the multi-buffer of an asynchronous copy: the value is in shared memory already.
  void findReaders() {
    for (auto &a : plan_.loads) {
      if (a.alloc && squaresFor(a, a.alloc)) a.alloc = {};
      for (auto *user : a.result().users()) {
        if (user->block() != &body_) continue;
        if (auto c = user->dyn<ttg::ConvertLayoutOp>(); c && !a.selectsOther) a.conversions.push_back(c);
        auto buffer = user->dyn<ttg::LocalAllocOp>();
        if (!buffer || buffer.op == a.alloc.op) continue;
        if (auto *squares = squaresFor(a, buffer)) {
          if (a.acrossRows) continue;
          a.acrossRows = buffer;
          a.squares = squares;
          continue;
        }
        if (!canBeFilled(buffer, a.op)) continue;
        bool isConstant = !buffer.result().type().cast<MemDescType>().isMutable() && isOnlyRead(buffer.result());
        // By fma, a thread reads more of an operand than it can hold; the barrier after the buffer's store keeps
        // these reads late.
        if (!isConstant || isReadByFma(buffer.result())) continue;
        if (!a.alloc)
          a.alloc = buffer;
        else if (buffer.result().type() == a.alloc.result().type())
          a.sameBuffers.push_back(buffer);
      }
    }
  }

  // ---- buffers ----

  /// The layout that a conversion through shared memory would use, if both the copies (whole accesses of threads) and
  /// the reads in the layout `into` are free of conflicts in it; null otherwise.
  const Encoding *layoutOfConversion(const layouts::LinearLayout &from, TensorType into, int64_t elementsPerAccess) {
    auto to = into.encoding()->toLinearLayout(into.shape());
    if (!to.ok()) return nullptr;
    auto plan = layouts::planConversion(from, *to, into.element().bitWidth(), target_.memoryModel());
    bool copiesStayWhole =
        plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory && plan->writeVector >= elementsPerAccess;
    if (!copiesStayWhole) return nullptr;
    auto e = c_.encodings().getSharedLinear(plan->sharedWithBlocks());
    return e.ok() ? *e : nullptr;
  }

  /// The layout of a buffer whose value is read by plain loads. If the value comes back to the threads that copied it:
  /// rows, unswizzled. Else the layout of the first conversion, or rows swizzled in units of 16 bytes.
  const Encoding *bufferLayout(PipelinedLoad &a) {
    auto type = tensorOf(a.result());
    if (auto load = a.descriptorLoad()) return bufferOfBlock(load.desc(), type, /*isMutable=*/true).encoding();
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok()) return nullptr;
    int64_t bytes = std::max<int64_t>(1, type.element().bitWidth() / 8);
    layouts::SwizzledSharedParams p;
    p.order = layouts::orderOf(*layout);
    p.cta = type.encoding()->cta();
    if (a.acrossRows)
      if (auto *e = bufferOfSquares(c_.encodings(), type)) return e;
    if (!a.conversions.empty() && type.rank() == 2) {
      // What a thread copies at once.
      int64_t elementsPerAccess = std::min<int64_t>(layouts::consecutiveElements(*layout, p.order[0]),
                                                    std::max<int64_t>(1, kMaxAsyncCopyBytes / bytes));
      if (auto *e = layoutOfConversion(*layout, tensorOf(a.conversions[0].result()), elementsPerAccess)) return e;
      p = layouts::conflictFreeSwizzle(type.shape(), p.order, p.cta, bytes, target_.memoryModel());
    }
    auto e = c_.encodings().getSwizzledShared(p);
    return e.ok() ? *e : nullptr;
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
    int64_t warps = numWarps(loop_->module().op());
    int64_t ofTwoBlocks = target_.registersPerThread(2 * warps, RegisterSplit::Allocated);
    if (registers - registersOfLaterOperands() <= ofTwoBlocks) return false;
    int64_t most = std::min<int64_t>(registers, target_.maxRegistersPerThread);
    int64_t byRegisters = target_.registersPerScheduler / most * target_.schedulersPerMultiprocessor / warps;
    auto blocks = [&](int64_t buffers) {
      return std::max<int64_t>(1, std::min(byRegisters, target_.blocksBySharedMemory(buffers * bytes)));
    };
    return 2 * blocks(2) > blocks(1);
  }

  /// Of the dot with the most: half of what is read from buffers for it, if it takes several MFMA along K.
  int64_t registersOfLaterOperands() const {
    int64_t most = 0;
    for (Operation &op : body_) {
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

  /// Blocks of a multiprocessor that shared memory should have room for: of so many threads that other waves compute
  /// while one waits.
  int64_t blocksThatHideLatency() const {
    int64_t threads = numWarps(loop_->module().op()) * target_.warpSize;
    return target_.tuning.pipelineThreadsOfScheduler * target_.schedulersPerMultiprocessor / threads;
  }

  /// Whether shared memory has room for the blocks that hide latency beside two buffers, but not with what else the
  /// loop needs of it, such as scratch of its reductions, and one buffer leaves room for more blocks.
  bool otherMemoryEndsBlocks(int64_t bytes) const {
    auto blocks = [&](int64_t buffers) { return target_.blocksBySharedMemory(buffers * bytes + plan_.otherBytes); };
    return blocks(2) < blocksThatHideLatency() && blocks(1) > blocks(2);
  }

  /// Through registers: whether loads may be issued as soon as the values before them are stored, for the iteration
  /// after the next one. They take the registers that those leave, and have a whole iteration to arrive. Only where
  /// the stores come between the dots (order-matrices), not after them, and the loop does nothing but accumulate: work
  /// between dots takes as long as loads do, and the loads' predicates would add to it.
  bool mayLoadTwoAhead() {
    if (plan_.asyncCopies || target_.matrixUnit != MatrixUnit::Mfma) return false;
    // The stores to a single buffer come late, after all reads of it.
    if (plan_.buffers < 2) return false;
    if (!llvm::all_of(plan_.loads, [](const PipelinedLoad &a) { return bool(a.bufferType); })) return false;
    return llvm::all_of(body_, [&](Operation &op) {
      return !isDot(&op) || (op.result().hasOneUse() && op.result().users().front() == body_.terminator());
    });
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

  /// The types of the buffers, and a distance for which they fit.
  bool planBuffers() {
    int64_t bytes = 0;
    for (auto &a : plan_.loads) {
      auto type = tensorOf(a.result());
      const Encoding *shared = nullptr;
      if (a.alloc)
        shared = a.alloc.result().type().cast<MemDescType>().encoding();
      else if (plan_.asyncCopies) {
        shared = bufferLayout(a);
        if (!shared) return false;
      } else
        continue;
      a.bufferType = MemDescType::get(type.shape(), type.element(), shared, sharedMemorySpace(c_), true);
      bytes += a.bytesOfBuffer();
    }
    plan_.bytesPerStage = bytes;
    llvm::SmallVector<Operation *, 4> replaced;
    for (auto &a : plan_.loads) {
      replaced.push_back(a.op);
      for (auto &op : body_)
        if (a.isBuffer(&op)) replaced.push_back(&op);
    }
    plan_.otherBytes = sharedBytesDuring(loop_.op, replaced, target_);
    int64_t room = target_.sharedMemoryPerBlock - plan_.otherBytes;
    auto doNotFit = [&](llvm::StringRef what) {
      return refuse(llvm::formatv("{0} of {1} bytes of shared memory: {2} are left", what, bytes, room).str());
    };
    if (plan_.asyncCopies) {
      if (!plan_.hasBulkCopies() && spillsAnyway(plan_, loop_, target_))
        return refuse("its tensors take more registers than a thread has, and copies ahead would take more");
      // Without dots, one more block hides as much latency as one more stage. The program may require a number of
      // stages.
      int64_t aim = plan_.hasDots || loop_->hasAttr(kNumStagesAttr)
                        ? room
                        : target_.sharedMemoryPerBlock / target_.tuning.copiesPerBlockDivisor;
      while (plan_.distance > 1 && plan_.bytesOfBuffers(plan_.distance + 1) > aim) --plan_.distance;
      while (plan_.distance > 0 && plan_.bytesOfBuffers(plan_.distance + 1) > room) --plan_.distance;
      leaveMemoryForSecondBlock();
      leaveMemoryForBlocks(plan_, loop_, target_);
      if (plan_.tiles.loop) planBuffersOfTiles(replaced);
      if (endsWithAccumulation(loop_)) planSpareBuffer(plan_, loop_, target_, room);
      plan_.buffers = plan_.distance + 1 + plan_.hasSpareBuffer;
      return plan_.distance > 0 || doNotFit("no room for two stages");
    }
    // Two buffers save a barrier, if they leave room for enough waves, or registers do not admit these anyway.
    bool twoFit = plan_.bytesOfBuffers(2) <= room;
    bool secondBlockFits = 2 * bytes <= target_.sharedMemoryPerBlock / 2;
    bool otherBlocksFit = secondBlockFits && target_.blocksBySharedMemory(2 * bytes) >= blocksThatHideLatency() &&
                          !otherMemoryEndsBlocks(bytes);
    plan_.buffers = twoFit && (otherBlocksFit || registersLeaveMemory(bytes)) ? 2 : 1;
    return plan_.bytesOfBuffers(1) <= room || doNotFit("no room for a stage");
  }

  /// A block with an atomic operation in each iteration leaves the matrix unit to another one meanwhile: stages that
  /// leave no room for the other one cost more than they save. (Measured: NVIDIA H200, 2026-11,
  /// benchmarks/public_kernels.py mamba_chunk_scan_gated: `_chunk_state_bwd_db_kernel` 34.8 us with one block of three
  /// stages, 28.5 us with two blocks and no pipeline.)
  void leaveMemoryForSecondBlock() {
    bool hasAtomics = llvm::any_of(stores_, [&](Operation *op) {
      return op->block() == &body_ && (op->is<tt::AtomicRmwOp>() || op->is<tt::DescriptorReduceOp>());
    });
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
  void planBuffersOfTiles(llvm::ArrayRef<Operation *> replaced) {
    plan_.otherBytesOfTiles = sharedBytesDuring(plan_.tiles.loop.op, replaced, target_);
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

  scf::ForOp loop_;
  Block &body_;
  int64_t stages_;
  const TargetInfo &target_;
  const AxisInfoAnalysis &axis_;
  Context &c_;
  std::string &whyNot_;
  PipelinePlan plan_;
  llvm::SmallVector<Operation *, 4> stores_; // of the body, through pointers and descriptors
};

} // namespace

int64_t PipelinedLoad::bytesOfBuffer() const { return bufferType.numElements() * bufferType.element().bitWidth() / 8; }

int64_t PipelinePlan::bytesTaken() const {
  int64_t bytes = bytesPerStage * buffers;
  for (auto &a : loads)
    if (a.isLate) bytes -= (buffers - 1) * a.bytesOfBuffer();
  return bytes;
}

int64_t PipelinePlan::bytesOfBuffers(int64_t count) const {
  int64_t bytes = 0;
  for (auto &a : loads)
    if (a.bufferType) bytes += alignedBufferBytes((a.isLate ? 1 : count) * a.bytesOfBuffer());
  return bytes;
}

std::optional<PipelinePlan> planPipeline(scf::ForOp loop, int64_t stages, const TargetInfo &target,
                                         const AxisInfoAnalysis &axis, std::string &whyNot) {
  return PipelinePlanner(loop, stages, target, axis, whyNot).run();
}

} // namespace tessera::transforms
