// Copies to shared memory for which a warp gives one place, after which each lane's bytes follow those of the lane
// before (AMD's loads into LDS). A swizzle cannot be in the places then; it is in what each lane loads:
//
//   row 0   c0 c1 c2 c3      offset   0  1  2  3  4  5  6  7     units of 16 bytes, in the buffer
//   row 1   c0 c1 c2 c3      holds   00 01 02 03 11 10 13 12     rows swizzled by xor of their number
//                            lane     0  1  2  3  4  5  6  7     lane 4 loads the unit at column 1 of row 1
#pragma once
#include "layouts/linear_layout.h"
#include <optional>

namespace tessera::layouts {

/// The layout by which warps copy a buffer so: register, lane, warp → dims of the buffer. None if the buffer is not
/// enough for one copy of each warp. `shared`: offset (elements), block → dims. `elements`: of a lane's copy.
/// @pre all numbers are powers of two
std::optional<LinearLayout> warpCopyLayout(const LinearLayout &shared, int64_t elements, int64_t lanes, int64_t warps);

/// Whether each group of so many consecutive registers of a warp's lanes lies one after the other. `map`: register,
/// lane, warp, block → offset (elements), block.
bool isWarpCopy(const LinearLayout &map, int64_t elements);

} // namespace tessera::layouts
