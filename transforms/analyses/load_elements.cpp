// See load_elements.h.
#include "transforms/analyses/load_elements.h"
#include "ir/tensor_queries.h"
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

} // namespace tessera::transforms
