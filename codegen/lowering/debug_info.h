// Debug locations of lowered code: converts IR locations to LLVM's DILocations, so that profilers and debuggers show
// the user's source lines. Line tables only: no variables, no types. A call-site location (`loc(callsite(callee at
// caller))`) becomes an inlined-at chain, in which every inlined frame has a subprogram named after its file and line,
// since the text does not give the name of the function it came from.
#pragma once
#include "ir/location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace tessera::codegen {

class DebugInfo {
public:
  DebugInfo(llvm::Module &, ir::Location moduleLoc);
  /// Gives the function a subprogram at the location; `at` refers to it from now on.
  void enter(llvm::Function &, ir::Location);
  /// The location, or none for an unknown one.
  llvm::DebugLoc at(ir::Location);
  void finalize() { builder_.finalize(); }

private:
  llvm::DIFile *file(llvm::StringRef path);
  llvm::DILocation *locate(ir::Location, llvm::DISubprogram *scope, llvm::DILocation *inlinedAt);
  llvm::DIScope *scopeIn(llvm::DISubprogram *scope, llvm::StringRef path);
  llvm::DISubprogram *inlined(ir::Location source);

  llvm::Module &module_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit *unit_ = nullptr;
  llvm::DISubprogram *function_ = nullptr;
  llvm::StringMap<llvm::DIFile *> files_;
  llvm::DenseMap<std::pair<llvm::DIScope *, llvm::DIFile *>, llvm::DIScope *> scopes_;
  llvm::StringMap<llvm::DISubprogram *> inlined_;
  llvm::DenseMap<const ir::LocationStorage *, llvm::DILocation *> cache_;
};

} // namespace tessera::codegen
