// Values in other layouts and element types, for passes that choose layouts.
#pragma once
#include "ir/builder.h"
#include "layouts/encoding.h"

namespace tessera::transforms {

/// The tensor in a layout; converted by the builder if it has another.
ir::Value inLayout(ir::Builder &, ir::Location, ir::Value, const layouts::Encoding *);

/// The tensor of floats with other elements; cast by the builder if it has others. Widening and narrowing by IEEE rules
/// have operations of their own (extf, truncf); 8-bit floats are widened by tt.fp_to_fp.
/// @pre the element types are equal or of different widths (not f16 and bf16), and the new one has more than 8 bits
ir::Value inElementType(ir::Builder &, ir::Location, ir::Value, ir::Type element);

/// Gives a value another layout in place. Its users, which expect the old one, get a conversion back.
/// Returns that conversion's operation; null where nothing uses the value or it has the layout.
ir::Operation *changeLayout(ir::Value, const layouts::Encoding *);

/// Has the operation compute in a layout: its operands are converted to it, its results back.
void computeInLayout(ir::Operation *, const layouts::Encoding *);

} // namespace tessera::transforms
