// Two versions of a kernel's body, one of them faster, for some launches.
//
//   %fast = …                          : i1, from the arguments
//   scf.if %fast {
//     … body with what is known of the arguments
//   } else {
//     … body
//   } {tessera.versions = "fast"}
//
// The attribute names the first version ("fast", "aligned", "contiguous", "full"); the second is "general". Remarks of
// later passes come from both, and say which they are about.
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"
#include <string>

namespace tessera::transforms {

/// Whether an argument of the kernel has `tt.divisibility`, of any value: launches then state what divides it.
bool hasStatedDivisor(ir::tt::FuncOp kernel, ir::Value argument);

/// The block whose operations can be in a branch, since nothing comes after them: the only one that does anything and
/// then returns. Others may return before it (`if …: return`). Null: there is none, or several.
ir::Block *bodyForVersions(ir::tt::FuncOp kernel);

/// Puts the operations of a body into both branches of an `scf.if`. `condition` makes the condition before it;
/// `specialize` makes, at the start of the first branch, what this branch has in place of values that the map then
/// gives. `name`: of the first version.
/// @pre `body` is bodyForVersions of its kernel
ir::scf::IfOp makeVersions(ir::Block *body, llvm::StringRef name,
                           llvm::function_ref<ir::Value(ir::Builder &)> condition,
                           llvm::function_ref<void(ir::Builder &, ir::ValueMap &)> specialize);

/// The branch of the versions that an operation is in; null if the kernel has none.
ir::Block *versionOf(ir::Operation *op);

/// The name of the version that an operation is in; empty if the kernel has none, or the operation is in neither.
std::string nameOfVersion(const ir::Operation *);

} // namespace tessera::transforms
