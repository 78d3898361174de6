// How wide tt.print writes numbers, for interpreter and lowering: an index as wide as the largest one of its dimension,
// a value in hexadecimal with all digits of its type, as Triton does.
#pragma once
#include <cstdint>
#include <string>

namespace tessera::ir {

/// Decimal digits of the largest index of a dimension of `extent` elements. @pre extent > 0
inline size_t digitsOfIndex(int64_t extent) { return std::to_string(extent - 1).size(); }

/// Hexadecimal digits of a value of `bits` bits.
inline unsigned hexDigitsOf(unsigned bits) { return (bits + 3) / 4; }

} // namespace tessera::ir
