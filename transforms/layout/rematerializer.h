// Computing cheap values a second time in another layout, instead of converting them
// (tritongpu-remove-layout-conversions).
#pragma once
#include "ir/context.h"
#include "ir/ops.h"
#include "ir/tuning.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::transforms {

/// Computes values in other layouts from ranges, splats and constants, and from values of up to `convertible` elements,
/// which are converted.
class Rematerializer {
public:
  Rematerializer(ir::Context &c, const ir::Tuning &tuning) : pool_(c.encodings()), tuning_(tuning) {}

  using Made = llvm::DenseMap<std::pair<ir::Value, const layouts::Encoding *>, ir::Value>;

  bool canMake(ir::Value v, const layouts::Encoding *e, int64_t convertible = 0);
  /// The value in layout `e`. @pre canMake(v, e, convertible)
  ir::Value make(ir::Value v, const layouts::Encoding *e, Made &made, int64_t convertible = 0);

private:
  /// `budget`: operations that may still be repeated.
  bool canMake(ir::Value v, const layouts::Encoding *e, int64_t &budget, int64_t convertible);

  layouts::EncodingPool &pool_;
  const ir::Tuning &tuning_;
};

} // namespace tessera::transforms
