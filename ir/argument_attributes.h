// Attributes of a kernel's arguments that connect a pass with what launches the kernel (docs/architecture.md lists all
// attributes between passes).
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tessera::ir {

/// On the base pointer that a tensor descriptor was expanded to: the descriptor's type (a TypeAttr). The arguments that
/// follow are its shape and strides (i64 each) and whether its padding is NaN (i1).
inline constexpr llvm::StringRef kDescriptorArgumentAttr = "tessera.descriptor";

} // namespace tessera::ir
