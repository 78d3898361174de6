// A folder of compiled kernels that processes may share: what CompileCache keeps in files, and `tessera cache` shows.
//
// An entry is a file named by its key, written under another name and renamed, so that no process reads a part of one.
// It begins with a hash of the rest: a damaged entry is known as one. Files with other names are left alone. When an
// entry is read its time is set: the oldest are those that nobody requested for longest.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/compiler/compiler.h"
#include "llvm/Support/Chrono.h"
#include <string>
#include <vector>

namespace tessera::runtime {

/// A cache's folder where nobody names one: TESSERA_CACHE_DIR, else tessera in XDG_CACHE_HOME or ~/.cache; empty if the
/// environment has none of them.
std::string defaultCacheDirectory();

/// The SHA-256 of the bytes: 32 bytes.
std::string sha256(llvm::StringRef bytes);

class CacheFolder {
public:
  struct Entry {
    std::string key;
    uint64_t bytes = 0;
    llvm::sys::TimePoint<> used; // last
  };
  struct Dropped {
    uint64_t entries = 0, bytes = 0;
  };

  /// The folder is made when the first entry is written.
  explicit CacheFolder(std::string directory) : directory_(std::move(directory)) {}
  const std::string &directory() const { return directory_; }

  /// NotFound if there is none, DataLoss if it is damaged.
  absl::StatusOr<CompileResult> read(const std::string &key) const;
  /// As read(), without being a use of it.
  absl::StatusOr<CompileResult> look(const std::string &key) const;
  /// The bytes of the entry's file.
  absl::StatusOr<uint64_t> write(const std::string &key, const CompileResult &) const;
  absl::Status remove(const std::string &key) const;

  /// The least recently used first. No folder: no entries. What processes left that ended while they wrote is removed.
  absl::StatusOr<std::vector<Entry>> entries() const;
  /// Drops the least recently used entries until those that stay have at most so many bytes.
  absl::StatusOr<Dropped> dropOldest(uint64_t bytes) const;

private:
  std::string directory_;
};

} // namespace tessera::runtime
