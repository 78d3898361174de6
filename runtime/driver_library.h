// Loads the library of a GPU driver with dlopen.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::runtime {

/// The handle of the first of `names` that loads. The environment variable `variable`, if it is set, overrides the
/// names. NotFound with the loader's text.
absl::StatusOr<void *> openLibrary(const char *variable, llvm::ArrayRef<const char *> names);

} // namespace tessera::runtime
