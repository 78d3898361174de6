// Barriers in shared memory as buffers (see mbarrier.h).
#include "transforms/memory/mbarrier.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/swizzled_shared.h"

namespace tessera::transforms {
using namespace ir;

MemDescType mbarrierType(Context &c) {
  layouts::SwizzledSharedParams unswizzled;
  unswizzled.vec = unswizzled.perPhase = unswizzled.maxPhase = 1;
  unswizzled.order = {0};
  return MemDescType::get({1}, c.i64(), *c.encodings().getSwizzledShared(unswizzled), sharedMemorySpace(c), true);
}

static Value numbered(Builder &b, Location loc, Value mbarriers, int64_t k) {
  return mbarrierAt(b, loc, mbarriers, b.intConstant(loc, b.context().i32(), k));
}

Value createMbarriers(Builder &b, Location loc, int64_t number, int64_t arrivals) {
  MemDescType one = mbarrierType(b.context());
  auto type = MemDescType::get({number, 1}, one.element(), one.encoding(), one.memorySpace(), true);
  Value mbarriers = ttg::LocalAllocOp::create(b, loc, type, Value()).result();
  for (int64_t k = 0; k < number; ++k)
    ttng::InitBarrierOp::create(b, loc, numbered(b, loc, mbarriers, k), {b.i32Attr("count", arrivals)});
  return mbarriers;
}

Value mbarrierAt(Builder &b, Location loc, Value mbarriers, Value index) {
  return ttg::MemdescIndexOp::create(b, loc, mbarrierType(b.context()), mbarriers, index).op->result();
}

void releaseMbarriers(Builder &b, Location loc, Value mbarriers) {
  int64_t number = mbarriers.type().cast<MemDescType>().shape()[0];
  for (int64_t k = 0; k < number; ++k) ttng::InvalBarrierOp::create(b, loc, numbered(b, loc, mbarriers, k));
  ttg::LocalDeallocOp::create(b, loc, mbarriers);
}

} // namespace tessera::transforms
