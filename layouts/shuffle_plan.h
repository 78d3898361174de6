// Conversions by shuffles within a warp: the part of conversion_plan.h that fills a WarpShuffle.
#pragma once
#include "layouts/conversion_plan.h"

namespace tessera::layouts {

/// Fills the schedule of a WarpShuffle. Returns whether there is one. `receiveSelect` is the twist C, a column for each
/// bit of the lane: lanes that read from lanes of their own without one come first, the others take the column of
/// fewest registers with which they do.
/// `map`: (register, lane) of the destination → those of the source.
bool planShuffles(const LinearLayout &map, bool laneSelects, ConversionPlan &);

/// What such a plan costs a warp, in the unit of MemoryModel. `sourceRegisters`: of a lane; `bytes`: of an element.
double shuffleCost(const ConversionPlan &, int sourceRegisters, int bytes, int lanes, const MemoryModel &);

} // namespace tessera::layouts
