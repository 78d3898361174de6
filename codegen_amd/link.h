// The link of an hsaco.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera::amd {

/// Makes a shared object of one relocatable object. Undefined symbols are errors that name them. May be called from
/// many threads; links take turns.
absl::StatusOr<std::string> linkShared(llvm::StringRef relocatable);

} // namespace tessera::amd
