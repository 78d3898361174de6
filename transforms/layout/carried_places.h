// The places of a value that a loop carries or a branch yields. All of them have one layout, so that they change it
// together (tritongpu-remove-layout-conversions).
//
//   scf.for     argument and result                       are given the initial value and the yielded one
//   scf.while   argument of the first region, and what    the same
//               scf.condition hands on of it: argument
//               of the second region and result
//               what the first region computes: argument  are given the operand of scf.condition
//               of the second region and result
//   scf.if      result                                    is given what the branches yield
#pragma once
#include "ir/ops.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tessera::transforms {

struct CarriedPlaces {
  ir::Operation *carrier;                         // the loop or branch
  unsigned index;                                 // a number of its own among those of the carrier
  llvm::SmallVector<ir::Value, 3> values;         // arguments and results; never empty
  llvm::SmallVector<ir::OpOperand *, 2> sources;  // what they are given; of a loop, first the initial value
  llvm::SmallVector<ir::OpOperand *, 1> handedOn; // operands of scf.condition that are the first value

  /// Whether the loop carries the value from one iteration to the next one.
  bool isCarried() const;
  ir::Value initial() const { return sources[0]->get(); }
  ir::Value yielded() const { return sources[1]->get(); }
};

/// The loop or branch whose argument or result `v` is, or null.
ir::Operation *carrierOf(ir::Value v);
/// The places of an argument or result; none for other values, and where a region has several blocks.
std::optional<CarriedPlaces> placesOf(ir::Value v);
/// The places that are given this operand: an initial value, or one that is yielded or handed on.
std::optional<CarriedPlaces> placesGivenBy(const ir::OpOperand &use);

/// How many values an `scf.for` or `scf.while` carries, and the places of one of them.
unsigned numCarriedBy(ir::Operation *loop);
std::optional<CarriedPlaces> placesCarriedBy(ir::Operation *loop, unsigned i);

} // namespace tessera::transforms
