// The name that was probably meant, for errors about unknown names.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tessera::ir {

/// The name that fewer than `limit` edits make of what was written, and no other name fewer; empty if there is none.
llvm::StringRef nearestName(llvm::StringRef written, llvm::ArrayRef<llvm::StringRef> names, unsigned limit);

} // namespace tessera::ir
