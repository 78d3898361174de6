// What loaded values are used for.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Whether a value is only stored, as it is or after elementwise operations. If several threads hold an element, one
/// of them stores it and the others' copies are not used. So the other threads need not load it, and it does not
/// matter what they load.
bool isOnlyStored(ir::Value);

} // namespace tessera::transforms
