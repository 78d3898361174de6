// Pass warp-copy-layouts: in loops with dots, loads that fill a buffer get the layout by which warps can copy them there
// without registers (layouts/warp_copy.h), so that tritongpu-pipeline can issue such copies ahead.
//
//   %x = tt.load %p : #L                     %q = ttg.convert_layout %p : #L -> #C
//   %m = ttg.local_alloc %x : #L        →    %x = tt.load %q : #C
//                                            %m = ttg.local_alloc %x : #C
//
// #C follows from the buffer's layout, which stays: what is read from it has the same conflicts of banks as before. The
// conversions of addresses are replaced by computing these in #C; where one would be left, the loop's loads stay as
// they were. A loop's loads are changed together, since all of them are copied or none is.
//
// Copies need a buffer more than loads through registers. Where that leaves no memory for blocks that otherwise fit, the
// loads stay as they are.
//
// Limits: what a copy moves, 16 bytes, must be consecutive in memory and in the buffer, and have one mask; masked-off
// elements are zero.
//
// Runs: AMD pipeline, on targets whose warps copy 16 bytes a lane (gfx950), before tritongpu-pipeline.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/constants.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
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

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

namespace {

struct Copy {
  tt::LoadOp load;
  ttg::LocalAllocOp buffer;
  const Encoding *before = nullptr, *layout = nullptr;
};

/// The buffer that the load fills, if nothing else uses it.
ttg::LocalAllocOp bufferOf(tt::LoadOp load) {
  if (!load.result().hasOneUse()) return {};
  auto buffer = load.result().users()[0]->dyn<ttg::LocalAllocOp>();
  return buffer && buffer->block() == load->block() && isOnlyRead(buffer.result()) ? buffer : ttg::LocalAllocOp();
}

/// The layout in which warps copy the load to its buffer; null if they cannot.
const Encoding *copyLayout(tt::LoadOp load, ttg::LocalAllocOp buffer, const AxisInfoAnalysis &axis) {
  Operation *module = load->module().op();
  auto type = tensorOf(load.result());
  int64_t elements = elementsOfWarpCopy(type.element());
  auto shared = buffer.result().type().cast<MemDescType>();
  if (!elements || load.isVolatile() || (load.other() && !isZero(load.other()))) return nullptr;
  if (shared.encoding()->kind() == layouts::EncodingKind::PaddedShared) return nullptr;
  auto places = shared.encoding()->toLinearLayout(shared.shape());
  if (!places.ok()) return nullptr;
  auto layout = layouts::warpCopyLayout(*places, elements, threadsPerWarp(module), numWarps(module));
  if (!layout) return nullptr;
  auto e = load->context().encodings().getLinear(*layout, /*generic=*/true);
  return e.ok() && isWarpCopy(load, *e, shared, axis) ? *e : nullptr;
}

/// The copies of a loop; none unless all loads that feed its dots are some.
std::vector<Copy> copiesOf(scf::ForOp loop, const AxisInfoAnalysis &axis, const TargetInfo &target) {
  std::vector<Copy> copies;
  int64_t bytes = 0;
  for (auto *op : loadsFeedingDots(*loop.body().front())) {
    auto load = op->dyn<tt::LoadOp>();
    if (!load) return {};
    auto buffer = bufferOf(load);
    auto *layout = buffer ? copyLayout(load, buffer, axis) : nullptr;
    if (!layout) return {};
    auto type = tensorOf(load.result());
    bytes += type.numElements() * type.element().bitWidth() / 8;
    copies.push_back({load, buffer, type.encoding(), layout});
  }
  if (!leavesRoomForBlocks(loop, bytes, target)) copies.clear();
  return copies;
}

void give(const Copy &c, const Encoding *e) {
  computeInLayout(c.load.op, e);
  constexpr unsigned kSource = 0;
  c.buffer->setOperand(kSource, c.load.result()); // the conversion back is dead
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
  if (!c.target) return requiresTarget(c, "warp-copy-layouts");
  if (!warpsCopy(*c.target)) return false;
  AxisInfoAnalysis axis(m);
  std::vector<std::vector<Copy>> loops;
  for (auto loop : collect<scf::ForOp>(m.op()))
    if (auto copies = copiesOf(loop, axis, *c.target); !copies.empty()) loops.push_back(std::move(copies));
  if (loops.empty()) return false;
  for (auto &copies : loops)
    for (auto &copy : copies) give(copy, copy.layout);
  eraseDeadOperations(m);
  recomputeConversions(m, c.target->tuning, /*asyncCopies=*/false);
  for (auto &copies : loops)
    if (llvm::any_of(copies, convertsOperands))
      for (auto &copy : copies) give(copy, copy.before);
  eraseDeadOperations(m);
  return true;
}

} // namespace tessera::transforms
