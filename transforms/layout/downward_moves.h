// Layout conversions move down: an operation on a converted value is done in the value's own layout, and its result is
// converted instead (the move `down` of tritongpu-remove-layout-conversions).
//
//   %b = ttg.convert_layout %a : #L -> #D                %y = op %a, (%z in #L) : #L
//   %y = op %b, %z : #D                             →    %r = ttg.convert_layout %y : #L -> #D
//
// Each kind of operation has a function that says when this costs nothing: when the operation has a layout of its
// result for that of its operand, other operands can be had in the same layout, and no thread does more than before.
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/layout/available_values.h"
#include "transforms/layout/carried_layouts.h"
#include <cstdint>
#include <limits>

namespace tessera::transforms {

/// Which of two equals decides. Neither is right always: what follows decides which one costs less.
struct LayoutPreferences {
  bool laterOperand = false; // of operands that cost as much to convert, the later one gives an operation its layout
  bool wideOfLoop = false;   // a narrow value that is made wide in a loop takes the layout of the wide one
  bool widerOperand = false; // of an operand as it is and one that arrives converted, the one of wider elements decides
};

class DownwardMoves {
public:
  struct Limits {
    // Bytes of partial results that a reduction may exchange between warps where it exchanged fewer.
    int64_t mostExchanged = std::numeric_limits<int64_t>::max();
    bool hasRowShuffles = false; // elements change lanes without memory
    LayoutPreferences preferences;
  };
  DownwardMoves(ir::Module &, AvailableValues &, CarriedLayouts &, const GlobalAccesses &, const Limits &,
                const ir::Tuning &);

  /// Does the operation in layout `e`, from which its operand `at` was converted. False: it stays as it is.
  bool move(ir::Operation *op, unsigned at, const layouts::Encoding *e);
  /// The preferences that made a difference so far.
  const LayoutPreferences &asked() const { return asked_; }

private:
  bool decidesLayout(ir::Operation *op, unsigned i, unsigned at);
  bool spreads(ir::tt::BroadcastOp op, const layouts::Encoding *e);
  bool moveTo(ir::Operation *op, const layouts::Encoding *e, const layouts::Encoding *result);
  bool moveElementwise(ir::Operation *op, unsigned at, const layouts::Encoding *e);
  bool mayConvertOperand(ir::Operation *op, unsigned i, unsigned at, const layouts::Encoding *e);
  bool movesWithUse(ir::Value v, const layouts::Encoding *e);
  bool moveLoad(ir::tt::LoadOp op, unsigned at, const layouts::Encoding *e);
  bool moveGather(ir::tt::GatherOp op, unsigned at, const layouts::Encoding *e);
  bool moveReshape(ir::tt::ReshapeOp op, const layouts::Encoding *e);
  bool moveSplit(ir::tt::SplitOp op, const layouts::Encoding *e);
  bool moveJoin(ir::tt::JoinOp op, unsigned at, const layouts::Encoding *e);
  bool moveScan(ir::tt::ScanOp op, unsigned at, const layouts::Encoding *e);
  bool moveReduce(ir::tt::ReduceOp op, unsigned at, const layouts::Encoding *e);
  bool moveIntoLoop(ir::Operation *loop, unsigned at, const layouts::Encoding *e);

  layouts::EncodingPool &pool_;
  AvailableValues &values_;
  CarriedLayouts &carried_;
  const GlobalAccesses &memory_;
  const Limits limits_;
  LayoutPreferences asked_;
  LayoutCosts costs_;
  const int64_t threads_; // of a block
};

} // namespace tessera::transforms
