// Questions about constants (see constants.h).
#include "ir/constants.h"
#include "ir/attribute.h"
#include "ir/builder.h"

namespace tessera::ir {

const llvm::APInt *constantBits(Value v) {
  auto a = constantOf(v);
  return a ? splatBits(a) : nullptr;
}

bool isZero(Value v) {
  auto *bits = constantBits(v);
  return bits && bits->isZero();
}

} // namespace tessera::ir
