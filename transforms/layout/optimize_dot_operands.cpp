// Pass tritongpu-optimize-dot-operands: operands of dots that have to move between warps go through a buffer of their
// own in shared memory:
//
//   %b = ttg.convert_layout %a : #blocked -> #ttg.dot_op<…>
//   →
//   %m = ttg.local_alloc %a : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
//   %b = ttg.local_load %m : … -> tensor<64x32xf16, #ttg.dot_op<…>>
//
// so that the pipeliner can give the buffer several stages, and the lowering can use instructions that read matrices. A
// conversion that is a renaming of registers or a few shuffles stays one: values computed in the layout of one dot's
// result feed the next without memory. A conversion of an operand that is larger than a block's shared memory stays,
// too: it is moved in repetitions. Three exceptions:
//
//   copied loads    what a loop loads, where the target copies it to shared memory asynchronously: the operand is read
//                   from there as well as what was loaded
//   fma operands    of which each lane needs rows that others loaded, a shuffle for each element: through a buffer if
//                   that takes less than half as many accesses (in loops on AMD, where reads are scheduled next to the
//                   dot; in straight code of many small dots the scheduler hoists them and spills)
//   warp groups     an A operand that its threads already have as the instruction takes it goes the other way, from
//                   its buffer to registers
//
// An operand of fma that would fill a thread's registers during a loop, a loop-invariant one, is read in the loop.
//
// The buffer's layout. Where the target reads 8 by 8 matrices (ldmatrix), rows are swizzled in groups of 16 bytes, a
// matrix row, such that the eight rows of a matrix lie in different banks (conflictFreeSwizzle). What TMA copies is
// read in the layout of its descriptor, whose swizzle is as good. Bytes and words across K that a loop copies
// asynchronously are swizzled like matrix rows (a layout for reads of several along K would split the copies).
// Elsewhere it is the layout that the conversion's plan finds best for the writes and the reads
// (layouts/conversion_plan.h), as #ttg.shared_linear; where reads transpose (ds_read_b64_tr_b…), the one for rows that
// are written as they were loaded, if that costs less.
//
// Scales of dots of microscaled operands go the same way.
//
// Several dots that read what a loop loads, and nothing else does, have one buffer for it, though their instructions
// and warps differ, where threads fill buffers (AMD):
//
//   %x = tt.load %p : #blocked                          %x = tt.load %p : #blocked
//   %m = ttg.local_alloc %x : #shared                   %m = ttg.local_alloc %x : #shared
//   %a = ttg.local_load %m : #ttg.dot_op<#wide>         %a = ttg.local_load %m : #ttg.dot_op<#wide>
//   %n = ttg.local_alloc %x : #shared1             →    %b = ttg.local_load %m : #ttg.dot_op<#narrow>
//   %b = ttg.local_load %n : #ttg.dot_op<#narrow>
//
// Runs: both pipelines.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/conversion_plan.h"
#include "layouts/infer.h"
#include "layouts/layout_order.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/dots.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "llvm/ADT/MapVector.h"

namespace tessera::transforms {
using namespace ir;
using layouts::ConversionPlan;
using layouts::Dim;
using layouts::DotOperandEncoding;
using layouts::Encoding;
using layouts::LinearLayout;

namespace {

/// The conversion of a tensor to an operand's layout, with all that decides how it is done.
struct OperandConversion {
  ttg::ConvertLayoutOp op;
  TensorType type;              // of the source
  const DotOperandEncoding *to; // null: scales of an operand
  LinearLayout from, into;
  ConversionPlan plan;
  bool loadedInLoop; // loaded in the innermost loop for the conversion alone: the pipeliner copies it to shared memory

  int64_t bits() const { return type.element().bitWidth(); }
};

bool swapsTwo(tt::TransOp trans) { return trans && trans.order().size() == 2 && trans.order()[0] == 1; }

bool isLoadedInLoop(Value v) {
  // What is transposed is copied as it lies in memory (bufferOfTransposedLoad).
  if (auto trans = v.definedBy<tt::TransOp>(); swapsTwo(trans) && v.hasOneUse()) v = trans.src();
  return v.definedBy<tt::LoadOp>() && v.hasOneUse() && v.parentBlock()->parentOp()->is<scf::ForOp>();
}

bool isScale(Value v) {
  return llvm::any_of(v.users(), [&](Operation *user) {
    auto dot = user->dyn<tt::DotScaledOp>();
    return dot && isScaleOf(v, dot);
  });
}

/// Whether threads permute consecutive rows that they loaded as vectors (tritonamdgpu-in-thread-transpose): the vectors
/// along K that they store are then gathered from registers apart.
bool permutesRows(const LinearLayout &from, const DotOperandEncoding &to, TensorType type, const TargetInfo &target) {
  if (type.element().bitWidth() > target.tuning.permutesLoadedBits || target.hasTransposedLdsRead) return false;
  unsigned rank = from.numOutDims();
  bool next[2] = {}; // registers have the next row, the next column
  for (unsigned bit = 0; bit < from.inDimBits(Dim::Register); ++bit)
    for (unsigned d = 0; d < rank; ++d)
      if (from.basis(Dim::Register, bit)[d] == 1) next[d == to.kDim()] = true;
  return next[0] && next[1];
}

/// None for conversions to other layouts, and for operands that cannot be planned.
std::optional<OperandConversion> operandConversion(ttg::ConvertLayoutOp op, const TargetInfo &target) {
  auto type = tensorOf(op.src());
  auto *to = layouts::dynCast<DotOperandEncoding>(encodingOf(op.result()));
  constexpr int kByte = 8; // narrower elements are not stored one by one
  if ((!to && !isScale(op.result())) || type.element().isPointer() || type.element().bitWidth() < kByte)
    return std::nullopt;
  auto from = type.encoding()->toLinearLayout(type.shape());
  auto into = encodingOf(op.result())->toLinearLayout(type.shape());
  if (!from.ok() || !into.ok()) return std::nullopt;
  layouts::PlanOptions options;
  options.gatherRegisters = isLoadedInLoop(op.src()) && to && permutesRows(*from, *to, type, target);
  auto plan = layouts::planConversion(*from, *into, type.element().bitWidth(), target.memoryModel(), options);
  if (!plan.ok()) return std::nullopt;
  return OperandConversion{op, type, to, *from, *into, *std::move(plan), isLoadedInLoop(op.src())};
}

// ---- the buffer's layout --------------------------------------------------------------------------------------------

/// Whether ldmatrix serves the reads: rows along K of any width up to a word, and transposed ones of 16 bits.
bool isReadByLdmatrix(const OperandConversion &c, const TargetInfo &target) {
  if (!target.hasLdmatrix || !c.to || !layouts::dynCast<layouts::NvidiaMmaEncoding>(c.to->parent())) return false;
  int64_t bytes = c.bits() / 8;
  return bytes == 2 || (bytes <= 4 && layouts::storageOrderOf(c.type.encoding(), c.from)[0] == int32_t(c.to->kDim()));
}

/// The layout in which a bulk copy brings the operand, or what it is the transpose of; null if none does.
const Encoding *layoutOfBulkCopy(layouts::EncodingPool &pool, const OperandConversion &c) {
  auto trans = c.op.src().definedBy<tt::TransOp>();
  auto load = (swapsTwo(trans) ? trans.src() : c.op.src()).definedBy<tt::DescriptorLoadOp>();
  if (!load) return nullptr;
  MemDescType buffer = bufferOfBlock(load.desc(), tensorOf(load.result()), /*isMutable=*/false);
  if (!buffer) return nullptr;
  return swapsTwo(trans) ? layouts::inferTrans(pool, buffer.encoding(), {1, 0}, buffer.shape()) : buffer.encoding();
}

/// The swizzle for reads by ldmatrix, or for elements across K that a loop copies asynchronously; none for other
/// operands.
std::optional<layouts::SwizzledSharedParams> swizzleOf(const OperandConversion &c, const TargetInfo &target) {
  auto *mma = c.to ? layouts::dynCast<layouts::NvidiaMmaEncoding>(c.to->parent()) : nullptr;
  if (!target.hasLdmatrix || !mma) return std::nullopt;
  int64_t bytes = c.bits() / 8;
  auto order = layouts::storageOrderOf(c.type.encoding(), c.from);
  bool alongK = order[0] == int32_t(c.to->kDim());
  auto swizzle = [&](int64_t minRowsPerPhase, int64_t minPhases, int64_t groupBytes = 16) {
    return layouts::conflictFreeSwizzle(c.type.shape(), order, c.type.encoding()->cta(), bytes, target.memoryModel(),
                                        minRowsPerPhase, minPhases, groupBytes);
  };
  if (isReadByLdmatrix(c, target)) return swizzle(1, 1);
  // Elements across K: the plan may let a thread read several along K at once, but only whole words that are
  // consecutive in memory can be copied asynchronously, and copies of less than 16 bytes are as many more.
  int64_t consecutive = layouts::consecutiveElements(c.from, order[0]);
  bool copied = target.hasPerLaneAsyncCopy && c.loadedInLoop && consecutive * bytes >= kMinAsyncCopyBytes;
  if (!copied || alongK) return std::nullopt;
  // Lanes that differ in K read rows a word's elements apart, eight lanes eight elements of a row.
  constexpr int64_t kLanesAlongK = 4, kLanesAcrossK = 8; // of an operand of mma.sync
  if (bytes == 1) return swizzle(c.to->kWidth(), kLanesAlongK);
  // Words: a wgmma's A operand, of all rows of its warps, is read in the plan's layout unless that splits the copies.
  constexpr int64_t kWordBytes = 4;
  bool splitsCopies = c.plan.writeVector < std::min(consecutive, kMaxAsyncCopyBytes / bytes);
  if (bytes == kWordBytes && (mma->versionMajor() == 2 || splitsCopies))
    return swizzle(1, 1, kLanesAcrossK * kWordBytes);
  return std::nullopt;
}

/// What a plan costs: accesses, and passes over the banks.
int costOf(const ConversionPlan &plan, const LinearLayout &from, const LinearLayout &into) {
  return plan.sharedPasses + from.inDimSize(Dim::Register) / plan.writeVector +
         into.inDimSize(Dim::Register) / plan.readVector;
}

/// Whether the operand is read as a bulk copy leaves it: by ldmatrix, or if that costs no more than to read it in rows
/// and to go through a second buffer (two barriers, too, which count nothing here).
bool readsBulkCopy(const OperandConversion &c, const Encoding *copied, const TargetInfo &target) {
  if (isReadByLdmatrix(c, target)) return true;
  auto buffer = copied->toLinearLayout(c.type.shape());
  if (!buffer.ok() || c.plan.kind != ConversionPlan::SharedMemory) return false;
  int bytes = int(c.bits() / 8);
  auto cost = [&](const LinearLayout &side) {
    return layouts::costOfSharedAccess(side, *buffer, bytes, target.memoryModel()).total();
  };
  return cost(c.into) <= cost(c.from) + costOf(c.plan, c.from, c.into);
}

/// Null if there is none.
const Encoding *bufferLayout(layouts::EncodingPool &pool, const OperandConversion &c, const TargetInfo &target) {
  if (auto *copied = layoutOfBulkCopy(pool, c); copied && readsBulkCopy(c, copied, target)) return copied;
  if (auto swizzle = swizzleOf(c, target))
    if (auto e = pool.getSwizzledShared(*swizzle); e.ok()) return *e;
  auto e = pool.getSharedLinear(c.plan.sharedWithBlocks());
  return e.ok() ? *e : nullptr;
}

/// Where the target's reads transpose: the plan by which rows that do not run along K are written as they were loaded
/// and transposed by the reads, if it costs less.
std::optional<ConversionPlan> transposedPlan(const OperandConversion &c, const TargetInfo &target) {
  if (!target.hasTransposedLdsRead) return std::nullopt;
  auto read = layouts::transposedReadAddresses(c.into, int(c.bits()));
  if (!read) return std::nullopt;
  auto plan = layouts::planConversion(c.from, *read, c.bits(), target.memoryModel());
  if (!plan.ok() || plan->kind != ConversionPlan::SharedMemory) return std::nullopt;
  if (!layouts::canReadTransposed(c.into.invertAndCompose(plan->shared), int(c.bits()))) return std::nullopt;
  if (costOf(*plan, c.from, *read) >= costOf(c.plan, c.from, c.into)) return std::nullopt;
  return *std::move(plan);
}

// ---- which operands go through a buffer -----------------------------------------------------------------------------

/// Whether a dot by fma gets an operand by many more shuffles than it takes accesses of a buffer.
bool takesManyShuffles(const OperandConversion &c, const TargetInfo &target) {
  bool isOfFma = c.to && layouts::dynCast<layouts::BlockedEncoding>(c.to->parent());
  if (c.plan.kind != ConversionPlan::WarpShuffle || !target.hasScheduleBarriers || !isOfFma) return false;
  if (c.plan.writeVector < 1 || c.plan.readVector < 1) return false;
  int64_t reads = c.into.inDimSize(Dim::Register);
  int64_t writes = c.from.inDimSize(Dim::Register);
  const Tuning &t = target.tuning;
  if (reads * 100 > target.maxRegistersPerThread * t.fmaBufferReadsPercent) return false;
  int64_t shuffles = 0;
  for (unsigned r = 0; r < c.plan.sourceRegister.size(); ++r) shuffles += !c.plan.staysInLane(r);
  return shuffles > t.fmaBufferShuffleRatio * (writes / c.plan.writeVector + reads / c.plan.readVector);
}

bool needsBuffer(const OperandConversion &c, const TargetInfo &target) {
  if (c.plan.kind == ConversionPlan::SharedMemory) return true;
  bool shufflesCopiedLoad = c.plan.kind == ConversionPlan::WarpShuffle && c.plan.instructions > 0 && c.loadedInLoop;
  if (shufflesCopiedLoad && target.hasPerLaneAsyncCopy) return true;
  return c.op->parentOfType<scf::ForOp>() && takesManyShuffles(c, target);
}

// ---- buffers of several dots ----------------------------------------------------------------------------------------

/// A conversion, and the layout of the buffer that it goes through; null if it needs none.
struct BufferedOperand {
  OperandConversion conversion;
  const Encoding *layout;
};

/// What reads of an operand from a buffer cost, by reads that transpose where they can.
int costOfReads(const OperandConversion &c, const LinearLayout &buffer, const TargetInfo &target) {
  int bytes = int(c.bits() / 8);
  auto cost = [&](const LinearLayout &side) {
    return layouts::costOfSharedAccess(side, buffer, bytes, target.memoryModel()).total();
  };
  auto addresses = target.hasTransposedLdsRead ? layouts::transposedReadAddresses(c.into, int(c.bits())) : std::nullopt;
  bool transposes = addresses && layouts::canReadTransposed(c.into.invertAndCompose(buffer), int(c.bits()));
  return transposes ? std::min(cost(*addresses), cost(c.into)) : cost(c.into);
}

/// What it costs to store the operands' value once in the layout and to read it for all of them.
/// @pre the layout is one of the value's shape
int costOfSharing(llvm::ArrayRef<BufferedOperand *> operands, const Encoding *layout, const TargetInfo &target) {
  const OperandConversion &first = operands.front()->conversion;
  LinearLayout buffer = *layout->toLinearLayout(first.type.shape());
  int cost = layouts::costOfSharedAccess(first.from, buffer, int(first.bits() / 8), target.memoryModel()).total();
  for (auto *o : operands) cost += costOfReads(o->conversion, buffer, target);
  return cost;
}

/// The layout of one of the buffers that suits all operands best; null if all buffers together cost less.
const Encoding *sharedLayout(llvm::ArrayRef<BufferedOperand *> operands, const TargetInfo &target) {
  int least = 0;
  for (auto *o : operands) least += costOfSharing({o}, o->layout, target);
  const Encoding *best = nullptr;
  for (auto *o : operands) {
    int cost = costOfSharing(operands, o->layout, target);
    if (cost > least || (best && cost == least)) continue;
    best = o->layout;
    least = cost;
  }
  return best;
}

/// Whether a block has memory for the whole operand. A conversion moves larger ones in several repetitions.
bool hasRoom(const OperandConversion &c, const TargetInfo &target) {
  return totalBytes(c.type) <= target.sharedMemoryPerBlock;
}

/// Dots of different widths have instructions or warps of their own, and with them layouts of an operand that they
/// share, each with a buffer that suits it best. Of a value that a loop loads, all read one buffer, which is stored
/// once and which the loop fills ahead. A dot whose threads loaded its operand as it is reads the buffer as well: the
/// others would wait for it otherwise. (Copies that are asynchronous fill buffers of each layout, and threads have
/// nothing that they loaded.)
void shareBuffers(std::vector<BufferedOperand> &operands, const TargetInfo &target) {
  llvm::MapVector<Value, llvm::SmallVector<BufferedOperand *, 2>> groups;
  for (auto &o : operands) groups[o.conversion.op.src()].push_back(&o);
  for (auto &[value, group] : groups) {
    auto load = value.definedBy<tt::LoadOp>();
    if (!load || !load->block()->parentOp()->is<scf::ForOp>() || target.hasPerLaneAsyncCopy) continue;
    bool isAnythingElse = value.users().size() != group.size() || llvm::any_of(group, [&](BufferedOperand *o) {
                            return o->conversion.op->block() != load->block();
                          });
    llvm::SmallVector<BufferedOperand *, 2> buffered;
    for (auto *o : group)
      if (o->layout) buffered.push_back(o);
    if (isAnythingElse || buffered.empty()) continue;
    if (const Encoding *layout = sharedLayout(buffered, target))
      for (auto *o : group) o->layout = layout;
  }
}

// ---- rewriting ------------------------------------------------------------------------------------------------------

Value bufferOf(Builder &b, Location loc, Value v, const Encoding *layout) {
  auto t = tensorOf(v);
  auto type = MemDescType::get(t.shape(), t.element(), layout, sharedMemorySpace(b.context()), false);
  return ttg::LocalAllocOp::create(b, loc, type, v).result();
}

/// A load that is transposed before it is converted goes to the buffer as it is loaded, so that the copy can be
/// asynchronous. Null for other values.
Value bufferOfTransposedLoad(Builder &b, const OperandConversion &c, const Encoding *layout) {
  auto trans = c.op.src().definedBy<tt::TransOp>();
  if (!swapsTwo(trans)) return {};
  bool isBulkCopy = layoutOfBulkCopy(b.context().encodings(), c) == layout;
  if (!isBulkCopy && !trans.src().definedBy<tt::LoadOp>()) return {};
  auto *transposed = layouts::inferTrans(b.context().encodings(), layout, {1, 0}, c.type.shape());
  if (!transposed) return {};
  Location loc = c.op->loc();
  auto view = MemDescType::get(c.type.shape(), c.type.element(), layout, sharedMemorySpace(b.context()), false);
  return ttg::MemdescTransOp::create(b, loc, view, bufferOf(b, loc, trans.src(), transposed),
                                     {b.denseI32Attr("order", {1, 0})})
      ->result();
}

/// Dots in loops read an operand that would fill the registers during the loop just before they need it.
void readInLoops(ttg::LocalLoadOp load) {
  llvm::SmallVector<Operation *, 4> dots;
  for (Operation *user : load.result().users())
    if (user->is<tt::DotOp>() && user->block() != load->block()) dots.push_back(user);
  for (Operation *dot : dots) {
    Builder b(dot);
    Value again = ttg::LocalLoadOp::create(b, load->loc(), tensorOf(load.result()), load.src(), Value()).result();
    for (unsigned i = 0; i < dot->numOperands(); ++i)
      if (dot->operand(i) == load.result()) dot->setOperand(i, again);
  }
  if (load->useEmpty()) load->erase();
}

void goThroughBuffer(const OperandConversion &c, const Encoding *layout, const TargetInfo &target) {
  ttg::ConvertLayoutOp op = c.op;
  Builder b(op.op);
  Value buffer = bufferOfTransposedLoad(b, c, layout);
  if (!buffer) buffer = bufferOf(b, op->loc(), op.src(), layout);
  auto load = ttg::LocalLoadOp::create(b, op->loc(), tensorOf(op.result()), buffer, Value());
  op.result().replaceAllUsesWith(load.result());
  if (isLargeFmaOperand(load.result().type(), target)) readInLoops(load);
  auto trans = op.src().definedBy<tt::TransOp>();
  op->erase();
  // The load then has one user, as the pipeliner requires.
  if (trans && trans->useEmpty()) trans->erase();
}

/// A loop's load that fills several buffers alike, and does nothing else, fills one: the pipeliner then fills it ahead.
/// The buffer lives from the first to the last use, which there must be memory for.
void mergeBuffersOf(tt::LoadOp load, const TargetInfo &target) {
  auto users = load.result().users();
  auto loop = load->block()->parentOp()->dyn<scf::ForOp>();
  auto first = users.empty() ? ttg::LocalAllocOp() : users.front()->dyn<ttg::LocalAllocOp>();
  if (users.size() < 2 || !loop || !first) return;
  auto type = first.result().type().cast<MemDescType>();
  bool areAlike = llvm::all_of(users, [&](Operation *user) {
    auto buffer = user->dyn<ttg::LocalAllocOp>();
    return buffer && buffer->block() == load->block() && buffer.result().type() == type && isOnlyRead(buffer.result());
  });
  if (!areAlike || sharedBytesDuring(loop.op, {}, target) + totalBytes(type) > target.sharedMemoryPerBlock) return;
  Builder b = Builder::after(load.op);
  Value merged = ttg::LocalAllocOp::create(b, load->loc(), type, load.result()).result();
  for (Operation *user : users) {
    user->result().replaceAllUsesWith(merged);
    user->erase();
  }
}

/// The A operand of a dot by warp groups goes to registers if it is stored for the dot alone and its threads have it
/// as the instruction takes it from registers: another dot's result, say, that a loop carries.
bool keepLeftInRegisters(ttng::WarpGroupDotOp dot, const TargetInfo &target) {
  auto buffer = dot.a().definedBy<ttg::LocalAllocOp>();
  auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(encodingOf(dot.d()));
  bool isStoredForDot = buffer && buffer.src() && buffer->block() == dot->block() && buffer.result().hasOneUse();
  if (!isStoredForDot || !mma || mma->versionMajor() != 3) return false;
  auto type = tensorOf(buffer.src());
  auto to =
      dot->context().encodings().getDotOperand(0, mma, std::max<unsigned>(1, kWordBits / type.element().bitWidth()));
  if (!to.ok()) return false;
  auto plan =
      layouts::planConversionOf(type.encoding(), *to, type.shape(), type.element().bitWidth(), target.memoryModel());
  bool staysInThreads =
      plan.ok() && (plan->kind == ConversionPlan::None || plan->kind == ConversionPlan::RegisterPermutation);
  if (!staysInThreads) return false;
  Builder b(dot.op);
  dot.setA(ttg::ConvertLayoutOp::create(b, buffer->loc(), type.withEncoding(*to), buffer.src()).result());
  buffer->erase();
  return true;
}

} // namespace

absl::StatusOr<bool> optimizeDotOperands(Module &m, PassContext &context) {
  if (!context.target) return requiresTarget(context, m, "tritongpu-optimize-dot-operands");
  const TargetInfo &target = *context.target;
  std::vector<ttg::ConvertLayoutOp> conversions;
  std::vector<ttng::WarpGroupDotOp> warpGroupDots;
  m.op()->walk([&](Operation *op) {
    if (auto x = op->dyn<ttg::ConvertLayoutOp>()) conversions.push_back(x);
    if (auto x = op->dyn<ttng::WarpGroupDotOp>()) warpGroupDots.push_back(x);
  });
  bool changed = false;
  for (auto dot : warpGroupDots) changed |= keepLeftInRegisters(dot, target);
  std::vector<BufferedOperand> operands;
  for (auto x : conversions) {
    auto c = operandConversion(x, target);
    if (!c) continue;
    const Encoding *layout = nullptr;
    if (needsBuffer(*c, target) && hasRoom(*c, target)) {
      if (auto transposed = transposedPlan(*c, target)) c->plan = *std::move(transposed);
      layout = bufferLayout(m.context().encodings(), *c, target);
    }
    operands.push_back({*std::move(c), layout});
  }
  shareBuffers(operands, target);
  for (auto &o : operands) {
    if (!o.layout) continue;
    goThroughBuffer(o.conversion, o.layout, target);
    changed = true;
  }
  if (!target.hasPerLaneAsyncCopy)
    for (auto load : collect<tt::LoadOp>(m.op())) mergeBuffersOf(load, target);
  return changed;
}

} // namespace tessera::transforms
