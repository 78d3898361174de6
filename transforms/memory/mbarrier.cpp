// Barriers in shared memory as buffers (see mbarrier.h).
#include "transforms/memory/mbarrier.h"
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

} // namespace tessera::transforms
