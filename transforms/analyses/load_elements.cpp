// See load_elements.h.
#include "transforms/analyses/load_elements.h"
#include "ir/target.h"
#include "ir/tensor_queries.h"
#include "layouts/layout_order.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

int64_t differentElements(const AxisInfoAnalysis &axes, tt::LoadOp load, const layouts::LinearLayout &layout) {
  auto info = axes.get(load.ptr());
  auto equalAlong = [&](unsigned d) {
    int64_t equal = info.constancy[d];
    return load.mask() ? std::min(equal, axes.maskConstancy(load.mask(), d)) : equal;
  };
  int64_t different = layout.inDimSize(layouts::Dim::Register);
  for (unsigned bit = 0; bit < layout.inDimBits(layouts::Dim::Register); ++bit) {
    bool isEqual = true;
    for (unsigned d = 0; d < tensorOf(load.result()).rank(); ++d)
      isEqual &= layout.basis(layouts::Dim::Register, bit, layouts::tensorDim(d)) < equalAlong(d);
    if (isEqual) different /= 2;
  }
  return different;
}

int64_t elementsPerAccess(const AxisInfoAnalysis &axes, Value pointers, Value mask, const layouts::Encoding *e) {
  auto type = tensorOf(pointers);
  auto &layout = e->layoutOf(type.shape());
  if (!layout.ok()) return 1;
  int64_t bits = pointeeOf(pointers.type()).bitWidth();
  int64_t widest = std::max<int64_t>(1, kGlobalAccessBytes * 8 / bits), most = 1;
  for (unsigned d = 0; d < type.rank(); ++d) {
    int64_t n = std::min(axes.contiguousElements(pointers, d), int64_t(layouts::consecutiveElements(*layout, d)));
    if (mask) n = std::min(n, axes.maskConstancy(mask, d));
    most = std::max(most, std::min(n, widest));
  }
  return most;
}

} // namespace tessera::transforms
