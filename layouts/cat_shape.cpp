// Layouts of tt.cat (see cat_shape.h).
#include "layouts/cat_shape.h"

namespace tessera::layouts {

LinearLayout catLayout(const LinearLayout &operand) {
  llvm::SmallVector<LinearLayout::InDim, 4> ins(operand.ins());
  llvm::SmallVector<LinearLayout::OutDim, 4> outs(operand.outs());
  Basis second(outs.size(), 0);
  second[0] = outs[0].size;
  outs[0].size *= 2;
  for (auto &in : ins)
    if (in.dim == Dim::Register) in.bases.push_back(second);
  return LinearLayout(std::move(ins), std::move(outs));
}

bool catKeepsRegisters(const LinearLayout &operand, const LinearLayout &result) {
  auto cat = catLayout(operand);
  for (auto &in : cat.ins())
    if (in.bases.size() != result.inDimBits(in.dim)) return false;
  if (cat.numInDims() != result.numInDims()) return false;
  // Places that the result's layout maps to one element must be mapped to one element by `cat` as well: then it adds
  // nothing to the rank.
  return result.concatOuts(cat.flattenOuts(Dim::Offset)).rank() == result.rank();
}

} // namespace tessera::layouts
