// Computing cheap values a second time in another layout, instead of converting them
// (tritongpu-remove-layout-conversions).
#pragma once
#include "ir/context.h"
#include "ir/ops.h"
#include "ir/tuning.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms {

/// Computes values in other layouts from ranges, splats and constants, from values of up to `convertible` elements,
/// which are converted, and from values whose elements lie in the other layout as they do in theirs: the weights of
/// columns, loaded as a vector, beside rows that all threads share.
class Rematerializer {
public:
  /// `copiesCarried`: also from rows and columns of indices that a loop carries, as long as their updates are as cheap:
  /// the loop then carries them a second time, in the other layout.
  Rematerializer(ir::Context &c, const ir::Tuning &tuning, bool copiesCarried = false)
      : pool_(c.encodings()), tuning_(tuning), copiesCarried_(copiesCarried) {}

  using Made = llvm::DenseMap<std::pair<ir::Value, const layouts::Encoding *>, ir::Value>;

  bool canMake(ir::Value v, const layouts::Encoding *e, int64_t convertible = 0);
  /// Whether it can be made without a conversion of the value itself.
  bool canCompute(ir::Value v, const layouts::Encoding *e);
  /// The value in layout `e`. @pre canMake(v, e, convertible)
  ir::Value make(ir::Value v, const layouts::Encoding *e, Made &made, int64_t convertible = 0);

private:
  /// `budget`: operations that may still be repeated.
  bool canMake(ir::Value v, const layouts::Encoding *e, int64_t &budget, int64_t convertible);
  bool canCompute(ir::Value v, const layouts::Encoding *e, int64_t &budget, int64_t convertible);
  bool canCarryCopy(ir::Value v, const layouts::Encoding *e, int64_t &budget, int64_t convertible);
  ir::Value carryCopy(ir::Value v, const layouts::Encoding *e, Made &made, int64_t convertible);

  layouts::EncodingPool &pool_;
  const ir::Tuning &tuning_;
  bool copiesCarried_;
  llvm::DenseSet<std::pair<ir::Value, const layouts::Encoding *>> copied_; // carried values that canMake has met
};

} // namespace tessera::transforms
