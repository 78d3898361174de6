// The order of a tensor's dimensions (see layout_order.h).
#include "transforms/layout_order.h"

namespace tessera::transforms {
using layouts::Dim;

llvm::SmallVector<int32_t, 4> orderOf(const layouts::LinearLayout &l) {
  llvm::SmallVector<int32_t, 4> order;
  auto take = [&](unsigned d) {
    if (!llvm::is_contained(order, int32_t(d))) order.push_back(d);
  };
  for (Dim in : {Dim::Register, Dim::Lane})
    for (unsigned bit = 0; bit < l.inDimBits(in); ++bit)
      for (unsigned d = 0; d < l.numOutDims(); ++d)
        if (l.basis(in, bit)[d]) {
          // The first bit that moves by one says what is fastest.
          if (order.empty() && l.basis(in, bit)[d] != 1) continue;
          take(d);
        }
  for (unsigned d = l.numOutDims(); d-- > 0;) take(d);
  return order;
}

} // namespace tessera::transforms
