// A file for a tool that only takes files: made in memory (/dev/shm) where there is such a folder, else in the usual
// temporary folder, and removed with the object.
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera::codegen {

class TemporaryFile {
public:
  static absl::StatusOr<TemporaryFile> create(llvm::StringRef suffix);
  TemporaryFile(TemporaryFile &&o) noexcept : path_(std::move(o.path_)) { o.path_.clear(); }
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile();

  const char *path() { return path_.c_str(); }
  absl::Status write(llvm::StringRef bytes);
  absl::StatusOr<std::string> read();

private:
  TemporaryFile() = default;
  llvm::SmallString<64> path_;
};

} // namespace tessera::codegen
