// Which loads warps can copy to shared memory, and when it pays (see warp_copies.h).
#include "transforms/schedule/warp_copies.h"
#include "ir/module_attributes.h"
#include "ir/tensor_queries.h"
#include "layouts/layout_order.h"
#include "layouts/warp_copy.h"
#include "transforms/analyses/register_pressure.h"

namespace tessera::transforms {
using namespace ir;

int64_t elementsOfWarpCopy(Type element) {
  if (element.isa<PointerType>()) return 0;
  int64_t bits = element.bitWidth();
  return bits >= 8 && llvm::isPowerOf2_64(bits) ? kGlobalAccessBytes * 8 / bits : 0;
}

bool isWarpCopy(tt::LoadOp load, const layouts::Encoding *e, MemDescType buffer, const AxisInfoAnalysis &axis) {
  auto type = tensorOf(load.result());
  int64_t elements = elementsOfWarpCopy(type.element());
  auto registers = e->toLinearLayout(type.shape());
  auto places = buffer.encoding()->toLinearLayout(buffer.shape());
  if (!elements || !registers.ok() || !places.ok()) return false;
  if (buffer.encoding()->kind() == layouts::EncodingKind::PaddedShared) return false;
  if (!layouts::isWarpCopy(registers->invertAndCompose(*places), elements)) return false;
  unsigned fastest = layouts::storageOrderOf(*registers)[0];
  bool hasMaskPerElement = load.mask() && load.mask().type().isTensor();
  return layouts::consecutiveElements(*registers, fastest) >= elements &&
         axis.contiguousElements(load.ptr(), fastest) >= elements &&
         (!hasMaskPerElement || axis.maskConstancy(load.mask(), fastest) >= elements);
}

RoomForBlocks roomForBlocks(scf::ForOp loop, int64_t bytes, const TargetInfo &target) {
  auto function = loop->parentOfType<tt::FuncOp>();
  if (!function) return {};
  int64_t registers = std::max<int64_t>(1, RegisterPressure(function.op).highest(loop.op, loop.op));
  int64_t most = std::min<int64_t>(registers, target.maxRegistersPerThread);
  int64_t warps = numWarps(loop->module().op());
  int64_t byRegisters = target.registersPerScheduler / most * target.schedulersPerMultiprocessor / warps;
  auto blocks = [&](int64_t buffers) { return target.blocksBySharedMemory(buffers * bytes); };
  constexpr int64_t kLeastBlocks = 2; // one computes while the other waits at its barrier
  int64_t leastWarps = target.tuning.warpCopyWarpsOfScheduler * target.schedulersPerMultiprocessor;
  int64_t enough = std::max<int64_t>(kLeastBlocks, llvm::divideCeil(leastWarps, warps));
  int64_t wanted = std::min({std::max<int64_t>(1, byRegisters), blocks(kWarpCopyDistance), enough});
  return {std::max<int64_t>(1, wanted), blocks(kWarpCopyDistance + 1)};
}

} // namespace tessera::transforms
