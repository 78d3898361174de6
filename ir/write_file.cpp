// Whole files, written at once (see write_file.h).
#include "ir/write_file.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::ir {

std::error_code writeFile(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error) return error;
  for (llvm::StringRef part : parts) out << part;
  out.close(); // some errors come only now
  error = out.error();
  out.clear_error();
  return error;
}

} // namespace tessera::ir
