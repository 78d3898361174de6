// How tt.print writes the indices of a tensor's elements, for all who print: as wide as the dimension's largest one.
#pragma once
#include <cstdint>
#include <string>

namespace tessera::ir {

/// Decimal digits of the largest index of a dimension of `extent` elements. @pre extent > 0
inline size_t digitsOfIndex(int64_t extent) { return std::to_string(extent - 1).size(); }

} // namespace tessera::ir
