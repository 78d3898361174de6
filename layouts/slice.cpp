// The slice encoding (see slice.h).
#include "layouts/slice.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

absl::Status SliceEncoding::check(int64_t dim, const Encoding *parent) {
  if (!parent || !parent->isDistributed()) return invalid("the parent of a slice must be a distributed layout");
  if (parent->rank() < 2) return invalid("the parent of a slice must have at least two dimensions");
  if (dim < 0 || dim >= int64_t(parent->rank()))
    return invalid(llvm::formatv("dim = {0} is not a dimension of the parent, whose rank is {1}", dim, parent->rank()));
  return absl::OkStatus();
}

absl::StatusOr<LinearLayout> SliceEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  llvm::SmallVector<int64_t, 4> parentShape(shape.begin(), shape.end());
  parentShape.insert(parentShape.begin() + dim_, 1);
  auto &parent = parent_->layoutOf(parentShape);
  if (!parent.ok()) return parent.status();
  llvm::SmallVector<Dim, 4> ins, outs, names;
  for (auto &i : parent->ins()) ins.push_back(i.dim);
  for (auto &o : parent->outs())
    if (o.dim != tensorDim(dim_)) {
      outs.push_back(o.dim);
      names.push_back(tensorDim(names.size()));
    }
  // Registers that differed along the dimension alone are one register now.
  return parent->sublayout(ins, outs).removeZeroBases(Dim::Register).renameOuts(names);
}

void SliceEncoding::print(llvm::raw_ostream &o, AliasPrinter alias) const {
  o << "#ttg.slice<{dim = " << dim_ << ", parent = ";
  if (!alias(parent_, o)) parent_->print(o, alias);
  o << "}>";
}

} // namespace tessera::layouts
