// The layouts in which loops carry values and branches yield results (tritongpu-remove-layout-conversions).
//
//   %r = scf.for … iter_args(%x = %c : #A) {            %r = scf.for … iter_args(%x = %d : #B) {       (%d: %c in #B)
//     %y = f(%x in #B) : #B                        →      %y = f(%x) : #B
//     scf.yield ttg.convert_layout %y : #B -> #A          scf.yield %y : #B
//
// Each value changes its layout once, so that two layouts do not alternate; a dot's layout may still replace the first.
#pragma once
#include "transforms/analyses/pointer_root.h"
#include "transforms/layout/available_values.h"
#include "transforms/layout/carried_places.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {

class CarriedLayouts {
public:
  CarriedLayouts(ir::Module &, AvailableValues &, const GlobalAccesses &, const ir::Tuning &);

  /// Values that are yielded converted are carried in the layout from before the conversion. Whether any is.
  bool changeAll();

  bool mayChange(ir::Operation *carrier, unsigned i, const layouts::Encoding *e) const;
  /// The loop carries the value in layout `e`. @pre isCarried, mayChange
  void change(const CarriedPlaces &, const layouts::Encoding *e);
  /// Whether it is a loop-carried value that has not been given another layout yet, and that can start in layout `e`:
  /// once its update is computed in `e`, the loop carries it so.
  bool canCarry(ir::Value, const layouts::Encoding *e);

  using Leaves = llvm::SmallSetVector<ir::Value, 4>;
  /// The loop-carried values from which `v` is computed (with constants and other cheap values), if all of them can be
  /// carried in layout `e`: a count of elements beside their sum, say. Empty: there are none, or others are needed too.
  Leaves leavesOf(ir::Value v, const layouts::Encoding *e);

private:
  bool isOnlyUpdated(const CarriedPlaces &) const;
  bool collectLeaves(ir::Value, const layouts::Encoding *e, Leaves &, int64_t &budget);
  bool changeCarriedBy(ir::Operation *loop);
  bool changeResultsOf(ir::scf::IfOp);

  ir::Module &m_;
  AvailableValues &values_;
  const GlobalAccesses &memory_;
  const ir::Tuning &tuning_;
  const int64_t threads_; // of a block
  llvm::DenseMap<std::pair<ir::Operation *, unsigned>, const layouts::Encoding *>
      changed_; // by loop or branch, and index
};

} // namespace tessera::transforms
