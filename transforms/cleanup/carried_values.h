// Values that a loop carries from one iteration to the next.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Takes out of the loop what nobody needs: operations without uses, and carried values that only their own updates
/// use, with these. The loop is another operation afterwards, if any went.
void dropUnneededCarriedValues(ir::scf::ForOp);

} // namespace tessera::transforms
