// How tt.cat puts registers together (see scratch.cpp). Its result holds the elements of both operands in an order of
// no promise, so a thread's registers of the result may be its registers of the one operand and then those of the
// other, whatever layout the result has; but where threads or registers hold copies, those copies must agree.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::transforms {

/// The layout of the registers of two tensors of one layout, one after the other: the second operand's elements
/// follow the first's along dimension 0.
layouts::LinearLayout catLayout(const layouts::LinearLayout &operand);

/// Whether registers put together that way are a tensor of the result's layout: wherever that has copies of one
/// element, they are copies of one element of the operands.
bool catKeepsRegisters(const layouts::LinearLayout &operand, const layouts::LinearLayout &result);

} // namespace tessera::transforms
