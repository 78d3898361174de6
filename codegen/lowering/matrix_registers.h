// Which register of a thread holds which element of a matrix (or of a batch of matrices), by its layout. For the
// lowerings of dots.
#pragma once
#include "layouts/linear_layout.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

namespace llvm {
class Value;
}

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

  /// The first register of each element, whatever copies of it there are.
  bool isFirst(unsigned r) const { return at(places_[r]) == int(r); }

private:
  unsigned rank_;
  int32_t rows_, columns_;
  llvm::SmallVector<Place, 32> places_;
  std::map<Place, unsigned> byPlace_;
};

/// A tile of a dot's result that one matrix instruction accumulates into: its first element, and its registers' values
/// in the instruction's order.
struct MatrixTile {
  Place first;
  llvm::SmallVector<llvm::Value *, 16> accumulator;
};

/// The tiles of a warp, without copies, from the registers of its accumulator. `places`: (row, column) in the tile of
/// each register of the instruction. False if the layout lacks some.
inline bool tilesOf(const Registers &registers, llvm::ArrayRef<llvm::Value *> values,
                    llvm::ArrayRef<std::pair<int, int>> places, llvm::SmallVectorImpl<MatrixTile> &tiles) {
  int32_t rowsInTile = 0, columnsInTile = 0;
  for (auto [row, column] : places) {
    rowsInTile |= row;
    columnsInTile |= column;
  }
  for (auto [r, p] : llvm::enumerate(registers.places()))
    if (registers.isFirst(r) && !(p.row & rowsInTile) && !(p.column & columnsInTile)) tiles.push_back({p, {}});
  for (auto &[p, of] : tiles)
    for (auto [row, column] : places) {
      int r = registers.at({p.batch, p.row | row, p.column | column});
      if (r < 0) return false;
      of.push_back(values[r]);
    }
  return true;
}

/// Puts the tiles' values back, into copies too.
inline void replaceTiles(const Registers &registers, llvm::ArrayRef<MatrixTile> tiles,
                         llvm::ArrayRef<std::pair<int, int>> places, llvm::MutableArrayRef<llvm::Value *> values) {
  for (auto &[p, of] : tiles)
    for (auto [i, at] : llvm::enumerate(places))
      values[registers.at({p.batch, p.row | at.first, p.column | at.second})] = of[i];
  for (unsigned r = 0; r < values.size(); ++r) values[r] = values[registers.at(registers.places()[r])];
}

} // namespace tessera::codegen
