// Which register of a thread holds which element of a matrix (or of a batch of matrices), by its layout. For the
// lowerings of dots.
#pragma once
#include "layouts/linear_layout.h"
#include <map>

namespace tessera::codegen {

/// Batch, row, column.
struct Place {
  int32_t batch = 0, row = 0, column = 0;
  auto operator<=>(const Place &) const = default;
};

/// The registers of a tensor's layout by the element that they hold in the thread whose indices are all zero.
class Registers {
public:
  explicit Registers(const layouts::LinearLayout &l) : rank_(l.numOutDims()) {
    rows_ = l.outs()[rank_ - 2].size;
    columns_ = l.outs()[rank_ - 1].size;
    for (int32_t r = 0, n = l.inDimSize(layouts::Dim::Register); r < n; ++r) {
      places_.push_back(of(l.apply({{layouts::Dim::Register, r}})));
      byPlace_.try_emplace(places_.back(), r);
    }
  }
  Place of(llvm::ArrayRef<int32_t> index) const {
    return {rank_ == 3 ? index[0] : 0, index[rank_ - 2], index[rank_ - 1]};
  }
  llvm::ArrayRef<Place> places() const { return places_; }
  /// Places outside of the tensor wrap around: the layout holds copies there. -1 where no register has it.
  int at(Place p) const {
    p.row &= rows_ - 1;
    p.column &= columns_ - 1;
    auto it = byPlace_.find(p);
    return it == byPlace_.end() ? -1 : int(it->second);
  }
  /// The distinct columns (`alongColumns`, else rows) that registers of batch 0 and row (else column) 0 hold,
  /// ascending.
  llvm::SmallVector<int32_t, 16> line(bool alongColumns) const {
    llvm::SmallVector<int32_t, 16> out;
    for (auto &[p, r] : byPlace_)
      if (p.batch == 0 && (alongColumns ? p.row : p.column) == 0) out.push_back(alongColumns ? p.column : p.row);
    return out;
  }

private:
  unsigned rank_;
  int32_t rows_, columns_;
  llvm::SmallVector<Place, 32> places_;
  std::map<Place, unsigned> byPlace_;
};

} // namespace tessera::codegen
