// Whole files, written at once. Errors, such as a full disk, are the caller's to report. (llvm::raw_fd_ostream ends the
// process where its user does not clear them.)
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <system_error>

namespace tessera::ir {

/// Makes the file, or replaces it, with these parts one after the other. After an error it may have some of them.
std::error_code writeFile(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

} // namespace tessera::ir
