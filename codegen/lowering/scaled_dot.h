// Lowering of tt.dot_scaled (see scaled_dot.cpp).
#pragma once

namespace tessera::ir {
class Operation;
}
namespace tessera::codegen {
class FunctionLowering;

bool lowerScaledDot(ir::Operation *, FunctionLowering &);

} // namespace tessera::codegen
