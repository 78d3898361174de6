// Copies of a load for an iteration that may not exist: they are executed where a scalar predicate holds.
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"

namespace tessera::transforms {

/// The mask of an access through `ptr` with `mask` (null: none) where the scalar `predicate` (null: true) must hold as
/// well. Null if there is neither.
ir::Value maskByPredicate(ir::Builder &, ir::Location, ir::Value ptr, ir::Value mask, ir::Value predicate);

/// The load on the values of `map`, where the predicate holds. `loc`: of the mask.
ir::Value cloneLoad(ir::Builder &, ir::Location loc, ir::tt::LoadOp, const ir::ValueMap &, ir::Value predicate);

} // namespace tessera::transforms
