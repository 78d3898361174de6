// Values in other layouts, and which can be had there without a conversion (tritongpu-remove-layout-conversions).
#pragma once
#include "transforms/layout/rematerializer.h"

namespace tessera::transforms {

class AvailableValues {
public:
  explicit AvailableValues(Rematerializer &cheap) : cheap_(cheap) {}

  /// Whether the value can be had in layout `e` without a new conversion: it is in it, was converted from it, or is
  /// cheap.
  bool isAvailable(ir::Value, const layouts::Encoding *e);
  /// Whether the value is available in layout `e` (isAvailable), or is worth a conversion, since `e` is a dot's layout
  /// and the value's is not.
  bool isAcceptable(ir::Value, const layouts::Encoding *e);
  /// The same of an operation's operands, but that one.
  bool othersAreAcceptable(ir::Operation *, unsigned but, const layouts::Encoding *e);
  /// Whether the value can be computed in the layout from narrower ones, which alone are converted.
  bool isWidened(ir::Value, const layouts::Encoding *e);

  /// The value in layout `e`, for the operation `at`: as it is, computed anew or converted.
  ir::Value getIn(ir::Value, const layouts::Encoding *e, ir::Operation *at);
  void setOperandLayout(ir::Operation *, unsigned i, const layouts::Encoding *e);
  void setOperandLayouts(ir::Operation *, const layouts::Encoding *e);

private:
  Rematerializer &cheap_;
};

} // namespace tessera::transforms
