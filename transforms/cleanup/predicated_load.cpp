// Loads where a predicate holds (see predicated_load.h).
#include "transforms/cleanup/predicated_load.h"
#include "ir/tensor_queries.h"

namespace tessera::transforms {
using namespace ir;

Value maskByPredicate(Builder &b, Location loc, Value ptr, Value mask, Value predicate) {
  if (!predicate) return mask;
  if (ptr.type().isTensor())
    predicate = tt::SplatOp::create(b, loc, tensorOf(ptr).withElement(predicate.type()), predicate).result();
  return mask ? arith::AndiOp::create(b, loc, mask, predicate).op->result() : predicate;
}

Value cloneLoad(Builder &b, Location loc, tt::LoadOp load, const ValueMap &map, Value predicate) {
  auto lookup = [&](Value v) { return v ? map.lookupOrSelf(v) : Value(); };
  Value ptr = lookup(load.ptr());
  Value mask = maskByPredicate(b, loc, ptr, lookup(load.mask()), predicate);
  return tt::LoadOp::create(b, load->loc(), load.result().type(), ptr, mask, lookup(load.other()), load->attrs())
      .result();
}

} // namespace tessera::transforms
