// Pass warp-copy-layouts: in loops with dots, loads that fill a buffer get the layout by which warps can copy them
// there without registers (layouts/warp_copy.h), so that tritongpu-pipeline can issue such copies ahead.
//
//   %x = tt.load %p : #L                     %q = ttg.convert_layout %p : #L -> #C
//   %m = ttg.local_alloc %x : #L        →    %x = tt.load %q : #C
//                                            %m = ttg.local_alloc %x : #C
//
// #C follows from the buffer's layout, which stays, with its bank conflicts or none. Buffers that are read by
// transposing (ds_read_b64_tr_b16) may have 8 bytes of a row here and the next 8 there; they get a layout with rows in
// groups of 16 bytes or more, if there is one that is read in as few passes over the banks. The conversions of
// addresses are replaced by computing these in #C; where one would be left, the loop's loads stay as they were. A
// loop's loads are changed together, since all of them are copied or none is.
//
// Copies need a buffer more than loads through registers. Where that leaves no memory for blocks that otherwise fit,
// the loads stay as they are.
//
// Limits: what a copy moves, 16 bytes, must be consecutive in memory and in the buffer, and have one mask; masked-off
// elements are zero.
//
// Runs: AMD pipeline, on targets whose warps copy 16 bytes a lane (gfx950), before tritongpu-pipeline.
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/conversion_plan.h"
#include "layouts/layout_order.h"
#include "layouts/swizzled_shared.h"
#include "layouts/warp_copy.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/dots.h"
#include "transforms/cleanup/erase_dead_operations.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/convert_values.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"
#include "transforms/schedule/warp_copies.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;
using layouts::LinearLayout;

namespace {

struct Copy {
  tt::LoadOp load;
  ttg::LocalAllocOp buffer;
  const Encoding *before = nullptr, *layout = nullptr;         // of the load
  const Encoding *bufferBefore = nullptr, *ofBuffer = nullptr; // of the buffer
};

MemDescType withEncoding(MemDescType t, const Encoding *e) {
  return MemDescType::get(t.shape(), t.element(), e, t.memorySpace(), t.isMutable());
}

/// The layout in which warps copy the load to a buffer of this layout; null if they cannot.
const Encoding *copyLayout(tt::LoadOp load, MemDescType buffer, const AxisInfoAnalysis &axis) {
  Operation *module = load->module().op();
  int64_t elements = elementsOfWarpCopy(buffer.element());
  if (buffer.encoding()->kind() == layouts::EncodingKind::PaddedShared) return nullptr;
  auto places = buffer.encoding()->toLinearLayout(buffer.shape());
  if (!places.ok()) return nullptr;
  auto layout = layouts::warpCopyLayout(*places, elements, threadsPerWarp(module), numWarps(module));
  if (!layout) return nullptr;
  auto e = load->context().encodings().getLinear(*layout, /*generic=*/true);
  return e.ok() && isWarpCopy(load, *e, buffer, axis) ? *e : nullptr;
}

/// Passes over the banks in which a warp reads a buffer of this layout by reads that transpose; none unless all reads
/// do.
std::optional<int64_t> passesOfTransposedReads(ttg::LocalAllocOp buffer, const Encoding *shared,
                                               const TargetInfo &target) {
  auto type = buffer.result().type().cast<MemDescType>();
  auto places = shared->toLinearLayout(type.shape());
  int bits = int(type.element().bitWidth());
  auto registerBits = layouts::transposedReadBits(bits);
  if (!target.hasTransposedLdsRead || !registerBits || !places.ok()) return std::nullopt;
  int64_t passes = 0;
  for (Operation *user : buffer.result().users()) {
    auto *load = user->is<ttg::LocalLoadOp>() ? encodingOf(user->result()) : nullptr;
    auto into = load ? load->toLinearLayout(type.shape()) : absl::StatusOr<LinearLayout>(absl::NotFoundError(""));
    if (!into.ok() || !layouts::canReadTransposed(into->invertAndCompose(*places), bits)) return std::nullopt;
    auto addresses = layouts::transposedReadAddresses(*into, bits)->invertAndCompose(*places);
    for (int32_t r = 0; r < addresses.inDimSize(Dim::Register); r += 1 << *registerBits) {
      llvm::SmallVector<int64_t, 64> lanes;
      for (int32_t lane = 0; lane < addresses.inDimSize(Dim::Lane); ++lane)
        lanes.push_back(addresses.apply({{Dim::Register, r}, {Dim::Lane, lane}})[0] * bits / 8);
      passes += layouts::countSharedPasses(lanes, (bits << *registerBits) / 8, target.memoryModel()).actual;
    }
  }
  return passes;
}

/// A layout with rows in groups of 16 bytes or more for a buffer that is read by transposing, whose reads take no more
/// passes than they do; null if there is none.
const Encoding *layoutInWholeCopies(tt::LoadOp load, ttg::LocalAllocOp buffer, const TargetInfo &target) {
  auto type = buffer.result().type().cast<MemDescType>();
  auto most = passesOfTransposedReads(buffer, type.encoding(), target);
  auto registers = tensorOf(load.result()).encoding()->toLinearLayout(type.shape());
  if (!most || !registers.ok() || type.rank() != 2) return nullptr;
  layouts::SwizzledSharedParams p;
  p.order = layouts::storageOrderOf(tensorOf(load.result()).encoding(), *registers);
  p.cta = tensorOf(load.result()).encoding()->cta();
  int64_t columns = type.shape()[p.order[0]], rows = type.shape()[p.order[1]];
  for (p.vec = int32_t(elementsOfWarpCopy(type.element())); p.vec <= columns; p.vec *= 2)
    for (p.perPhase = 1; p.perPhase <= rows; p.perPhase *= 2)
      for (p.maxPhase = 1; p.maxPhase * p.vec <= columns && p.maxPhase * p.perPhase <= rows; p.maxPhase *= 2) {
        auto e = load->context().encodings().getSwizzledShared(p);
        if (!e.ok()) continue;
        auto passes = passesOfTransposedReads(buffer, *e, target);
        if (passes && *passes <= *most) return *e;
      }
  return nullptr;
}

/// `whyNot`: why the load cannot be copied.
std::optional<Copy> copyOf(tt::LoadOp load, const AxisInfoAnalysis &axis, const TargetInfo &target,
                           std::string &whyNot) {
  auto buffer = bufferFilledBy(load.op);
  auto no = [&](llvm::StringRef reason) {
    whyNot = llvm::formatv("the load at {0} {1}", describe(load->loc()), reason).str();
    return std::nullopt;
  };
  if (!buffer) return no("has other uses than one buffer that is only read");
  if (load.isVolatile()) return no("is volatile");
  if (load.other() && !isZero(load.other())) return no("has something else than zeros where it is masked off");
  auto type = buffer.result().type().cast<MemDescType>();
  if (!elementsOfWarpCopy(type.element())) return no("has elements of which 16 bytes are no whole number");
  Copy c{load, buffer, tensorOf(load.result()).encoding(), nullptr, type.encoding(), type.encoding()};
  c.layout = copyLayout(load, type, axis);
  if (!c.layout) {
    c.ofBuffer = layoutInWholeCopies(load, buffer, target);
    if (c.ofBuffer) c.layout = copyLayout(load, withEncoding(type, c.ofBuffer), axis);
  }
  if (!c.layout) return no("has no 16 bytes that are consecutive in memory and in the buffer, with one mask");
  return c;
}

/// The copies of a loop; none unless all loads that feed its dots are some. `whyNot`: the reason, if there are loads.
std::vector<Copy> copiesOf(scf::ForOp loop, const AxisInfoAnalysis &axis, const TargetInfo &target,
                           std::string &whyNot) {
  std::vector<Copy> copies;
  int64_t bytes = 0;
  for (auto *op : loadsFeedingDots(*loop.body().front())) {
    auto load = op->dyn<tt::LoadOp>();
    auto copy = load ? copyOf(load, axis, target, whyNot) : std::nullopt;
    if (!copy) return {};
    bytes += totalBytes(tensorOf(load.result()));
    copies.push_back(*copy);
  }
  if (copies.empty()) return copies;
  if (RoomForBlocks room = roomForBlocks(loop, bytes, target); !room.isEnough()) {
    copies.clear();
    whyNot = llvm::formatv("three buffers of {0} bytes leave room for {1} block{2} on a compute unit, where registers "
                           "and two buffers leave it for {3}",
                           bytes, room.left, room.left == 1 ? "" : "s", room.wanted)
                 .str();
  }
  return copies;
}

void give(const Copy &c, const Encoding *ofLoad, const Encoding *ofBuffer) {
  computeInLayout(c.load.op, ofLoad);
  constexpr unsigned kSource = 0;
  c.buffer->setOperand(kSource, c.load.result()); // the conversion back is dead
  Value buffer = c.buffer.result();
  buffer.setType(withEncoding(buffer.type().cast<MemDescType>(), ofBuffer));
}

/// Whether addresses or masks are converted in the loop.
bool convertsOperands(const Copy &c) {
  return llvm::any_of(c.load->operands(), [&](Value v) {
    auto convert = v.definedBy<ttg::ConvertLayoutOp>();
    return convert && convert->block() == c.load->block();
  });
}

} // namespace

absl::StatusOr<bool> warpCopyLayouts(Module &m, PassContext &c) {
  if (!c.target) return requiresTarget(c, m, "warp-copy-layouts");
  if (!(c.target->warpCopyBytes() & kGlobalAccessBytes)) return false;
  AxisInfoAnalysis axis(m);
  std::vector<std::vector<Copy>> loops;
  auto remark = [&](const RemarkPlace &loop, llvm::StringRef whyNot) {
    c.remark({Remark::Missed,
              "",
              "WarpCopies",
              loop,
              llvm::formatv("loads of the loop do not go straight into LDS: {0}", whyNot).str(),
              {}});
  };
  for (auto loop : collect<scf::ForOp>(m.op())) {
    std::string whyNot;
    if (auto copies = copiesOf(loop, axis, *c.target, whyNot); !copies.empty()) loops.push_back(std::move(copies));
    if (!whyNot.empty()) remark(loop.op, whyNot);
  }
  if (loops.empty()) return false;
  for (auto &copies : loops)
    for (auto &copy : copies) give(copy, copy.layout, copy.ofBuffer);
  eraseDeadOperations(m);
  recomputeConversions(m, c.target->tuning, /*asyncCopies=*/false);
  for (auto &copies : loops)
    if (llvm::any_of(copies, convertsOperands)) {
      Operation *loop = copies.front().load->block()->parentOp();
      remark(loop ? RemarkPlace(loop) : RemarkPlace(), "their addresses or masks would be converted in each iteration");
      for (auto &copy : copies) give(copy, copy.before, copy.bufferBefore);
    }
  eraseDeadOperations(m);
  return true;
}

} // namespace tessera::transforms
