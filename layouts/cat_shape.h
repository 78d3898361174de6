// How tt.cat joins registers. The result holds the elements of both operands in an unspecified order, so a thread's
// registers of the result may be its registers of the first operand followed by those of the second, whatever layout
// the result has. Only where the result's layout has copies of an element must those copies agree.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::layouts {

/// The layout of the registers of two tensors of one layout, joined: the second operand's elements follow the first's
/// along dimension 0.
LinearLayout catLayout(const LinearLayout &operand);

/// Whether registers joined that way are a tensor of the result's layout: registers, lanes and warps are as many, and
/// places that hold copies of one element of the result hold copies of one element of the operands.
bool catKeepsRegisters(const LinearLayout &operand, const LinearLayout &result);

} // namespace tessera::layouts
