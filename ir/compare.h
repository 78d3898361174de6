// Integer comparisons in short.
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"

namespace tessera::ir {

/// arith.cmpi: an i1, or a tensor of them.
inline Value compare(Builder &b, Location loc, CmpIPredicate predicate, Value x, Value y) {
  Attribute number = IntegerAttr::get(b.context().i64(), int64_t(predicate));
  return arith::CmpiOp::create(b, loc, x, y, {b.named("predicate", number)}).result();
}

} // namespace tessera::ir
