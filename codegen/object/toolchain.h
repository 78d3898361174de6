// Finding files of a vendor's toolkit (device libraries, assemblers) in the usual places.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tessera::codegen {

/// Looks for the first of `names` (relative paths) in the first of `directories` that has one. If the environment
/// variable `overrideVariable` is set, nothing else is searched: it names the file itself, or a directory that holds
/// one of the names' last components. NotFound lists what `what` is, where it was looked for, and the variable.
absl::StatusOr<std::string> findToolFile(llvm::StringRef what, const char *overrideVariable,
                                         llvm::ArrayRef<std::string> directories,
                                         llvm::ArrayRef<llvm::StringRef> names);

/// Whether the environment variable is set and not empty.
bool isSet(const char *variable);

/// InvalidArgument with the reason if the variable is set and `find`, which reads it, finds nothing.
absl::Status checkVariable(const char *variable, llvm::function_ref<absl::StatusOr<std::string>()> find);

/// Values of those environment variables that are set and not empty.
std::vector<std::string> environmentDirectories(llvm::ArrayRef<const char *> variables);

} // namespace tessera::codegen
