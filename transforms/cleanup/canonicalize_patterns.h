// The pattern groups of canonicalize, each in the file of its name, which lists them.
#pragma once
#include "ir/rewriter.h"
#include <optional>

namespace tessera::transforms {

llvm::ArrayRef<ir::Pattern> arithmeticPatterns();  // canonicalize_arithmetic.cpp
llvm::ArrayRef<ir::Pattern> controlFlowPatterns(); // canonicalize_control_flow.cpp
llvm::ArrayRef<ir::Pattern> tensorPatterns();      // canonicalize_tensors.cpp

/// Merges, drops and simplifies blocks of regions that have several. Returns whether anything changed.
bool simplifyBlocks(ir::Module &); // canonicalize_control_flow.cpp

/// A truth value that is constant: an i1, or a tensor of one value throughout.
std::optional<bool> constantTruth(ir::Value); // canonicalize_tensors.cpp

} // namespace tessera::transforms
