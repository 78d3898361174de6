// The files of conformance/kernels, as parts of the program: `tessera conformance` needs no folder beside it.
// The build writes the contents (CMakeLists.txt).
#pragma once
#include "llvm/ADT/ArrayRef.h"

namespace tessera::conformance {

struct EmbeddedFile {
  const char *file, *feature, *text;
};
llvm::ArrayRef<EmbeddedFile> embeddedKernels();

} // namespace tessera::conformance
