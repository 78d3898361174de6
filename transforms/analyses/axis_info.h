// AxisInfo: what is known about the integers and pointers of a tensor along each of its dimensions. For dimension d:
//   contiguity    the elements fall into aligned groups of this many whose values rise by one (pointers: by one element)
//   divisibility  the largest power of two known to divide the first value of each such group (pointers: bytes)
//   constancy     the elements fall into aligned groups of this many equal values
// All are powers of two. Scalars are treated as one dimension of size one. A constant value is known where all elements
// are that. Memory accesses take their width from it, so it must never claim too much; where it knows nothing it says 1.
#pragma once
#include "ir/operation.h"
#include <optional>

namespace tessera::transforms {

struct AxisInfo {
  llvm::SmallVector<int64_t, 2> contiguity, divisibility, constancy;
  std::optional<int64_t> constant;
  unsigned rank() const { return contiguity.size(); }
  bool operator==(const AxisInfo &) const = default;
};

class AxisInfoAnalysis {
public:
  /// Analyses every function of the module. Valid until the module changes.
  explicit AxisInfoAnalysis(ir::Module &);
  AxisInfo get(ir::Value) const;

  /// Elements that lie one after the other in memory from each aligned group's first, along `dim`, as far as both
  /// contiguity and alignment (divisibility) tell. `ptr` is a pointer or tensor of pointers.
  int64_t contiguousElements(ir::Value ptr, unsigned dim) const;
  /// Known alignment in bytes of the first pointer of each such group.
  int64_t alignment(ir::Value ptr, unsigned dim) const;
  /// Elements of a mask that are equal from each aligned group's first, along `dim`.
  int64_t maskConstancy(ir::Value mask, unsigned dim) const;

private:
  void walk(ir::Block *);
  void visit(ir::Operation *);
  AxisInfo compute(ir::Operation *) const;
  bool join(ir::Value, const AxisInfo &);
  llvm::DenseMap<ir::Value, AxisInfo> info_;
};

} // namespace tessera::transforms
