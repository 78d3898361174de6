// The opcode of every operation of the table (`tt.load` is Opcode::tt_load) and the enums that attributes take their
// values from; generated from ir/ops.table.
#pragma once
#include <cstdint>

namespace tessera::ir {
#include "ir_generated/opcodes.inc"
} // namespace tessera::ir
