// What operations and layout conversions cost. The one place to look for such numbers; their values are rows of
// ir/tuning.def.
//
// Operations. Passes have three different questions, with different answers for one operation:
//
//   time          conversion slices: is a value cheaper computed in another layout, or converted to it? In simple
//                 instructions of a thread; counts how the layout spreads the work over threads
//   is repeated   the moves of remove-layout-conversions: is the operation so cheap that a second computation always
//                 beats a conversion? Yes or no, since these moves run before layouts are known to be final
//   instructions  strip-mine: how long is straight-line code? Code size, whatever its speed
//
// Layout conversions are compared with three different things, so their cost has three units:
//
//   instructions of a thread   conversion slices, before it is known whether the conversion needs shared memory:
//                              conversionRoundTripCost + words · conversionWordCost (LayoutCosts::conversion)
//   stores of a thread         remove-layout-conversions, for a conversion that only makes stores wider:
//                              extraStoresPerConversion
//   shared-memory passes       conversion plans, which choose between shuffles and shared memory for one conversion
//                              with known layouts: planRoundTripCost + counted passes
//                              (layouts/conversion_plan.cpp)
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"
#include "layouts/encoding.h"

namespace tessera::transforms {

struct OperationCost {
  double time;          // instructions for each 32-bit element of a thread
  bool isRepeated;      // computing it a second time beats a conversion
  int64_t instructions; // of straight-line code for each element, roughly
  bool ofWholeTensor;   // `time` is that of the whole tensor: only names or scalars are computed
};
/// Scans take `time` from their layout instead (LayoutCosts::operation).
OperationCost costOf(ir::Operation *, const ir::Tuning &);

/// Costs that depend on layouts, in simple instructions of a thread.
class LayoutCosts {
public:
  explicit LayoutCosts(const ir::Tuning &tuning) : tuning_(tuning) {}

  /// Of one execution with its results in a layout. @pre they are tensors
  double operation(ir::Operation *, const layouts::Encoding *);
  /// Of one execution. Assumes a round trip through shared memory with its barriers: shuffles and moves of registers
  /// are cheaper, but which it will be is the lowering's choice.
  double conversion(ir::Value, const layouts::Encoding *to);
  /// Of one execution in the layout of its operands.
  double reduction(ir::tt::ReduceOp);
  /// What is known of loops: how many there are, or also how many iterations they have where that is a constant.
  enum class Iterations : uint8_t { Assumed, Known };
  /// How often a block is executed, by the loops around it.
  double frequency(ir::Block *, Iterations = Iterations::Assumed) const;

private:
  double scan(ir::Operation *, const layouts::Encoding *) const;

  const ir::Tuning &tuning_;
};

} // namespace tessera::transforms
