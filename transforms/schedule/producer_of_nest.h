// A producer warp for loops inside of a loop over tiles (see producer_of_nest.cpp).
#pragma once
#include "transforms/schedule/loops_of_producer.h"

namespace tessera::transforms {

/// Lets a producer warp issue the copies of the nest's loops. Replaces the loops by others.
void specializeNest(LoopNest &);

} // namespace tessera::transforms
