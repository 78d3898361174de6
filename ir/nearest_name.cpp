// The name that was probably meant (see nearest_name.h).
#include "ir/nearest_name.h"

namespace tessera::ir {

llvm::StringRef nearestName(llvm::StringRef written, llvm::ArrayRef<llvm::StringRef> names, unsigned limit) {
  llvm::StringRef nearest;
  for (llvm::StringRef name : names) {
    unsigned edits = written.edit_distance(name, /*AllowReplacements=*/true, limit);
    if (edits >= limit) continue;
    limit = edits;
    nearest = name;
  }
  return nearest;
}

} // namespace tessera::ir
