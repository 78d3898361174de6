// A file for a tool that only takes files.
#include "codegen/object/temporary_file.h"
#include "absl/status/status.h"
#include "ir/write_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tessera::codegen {

absl::StatusOr<TemporaryFile> TemporaryFile::create(llvm::StringRef suffix) {
  TemporaryFile f;
  if (!llvm::sys::fs::createUniqueFile("/dev/shm/tessera-%%%%%%%%%%%%." + suffix, f.path_)) return f;
  if (std::error_code e = llvm::sys::fs::createTemporaryFile("tessera", suffix, f.path_)) {
    f.path_.clear();
    return absl::InternalError("cannot make a temporary file: " + e.message());
  }
  return f;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) llvm::sys::fs::remove(path_);
}

absl::Status TemporaryFile::write(llvm::StringRef bytes) {
  std::error_code error = ir::writeFile(path(), bytes);
  return error ? absl::InternalError(std::string("cannot write ") + path() + ": " + error.message()) : absl::OkStatus();
}

absl::StatusOr<std::string> TemporaryFile::read() {
  auto buffer = llvm::MemoryBuffer::getFile(path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return absl::InternalError(std::string("cannot read ") + path() + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

} // namespace tessera::codegen
