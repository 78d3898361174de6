// A cache of compiled kernels, in memory and in a folder that processes may share.
//
// An entry's key is a hash of everything that its code depends on: the text, the target, the options, this program
// itself and the tools that it finds (CompileCache::key). So nothing ever becomes wrong; what is no longer requested
// becomes the oldest, and the oldest is dropped where a limit is passed.
//
// A damaged entry of the folder is a miss, and is replaced. A folder that cannot be written to is no error: entries
// that are not kept are made again (counts() and problem() report it).
#pragma once
#include "ir/target.h"
#include "runtime/compiler/cache_folder.h"
#include "runtime/compiler/compiler.h"
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace tessera::runtime {

struct CompileCacheOptions {
  std::string directory;                       // empty: memory only; made if it is not there
  uint64_t memoryBytes = uint64_t(64) << 20;   // outputs and metadata held in memory; 0: none
  uint64_t directoryBytes = uint64_t(1) << 30; // of entries' files
};

struct CompileCacheCounts {
  uint64_t memoryHits = 0, directoryHits = 0, misses = 0;
  uint64_t damaged = 0;   // entries of the folder that were not whole
  uint64_t unwritten = 0; // entries that the folder did not take
};

/// May be used from several threads at once.
class CompileCache {
public:
  explicit CompileCache(CompileCacheOptions);

  /// @pre the options' passes are those of a plain compilation: nothing printed, skipped or remarked
  static std::string key(llvm::StringRef text, llvm::StringRef fileName, const ir::TargetInfo &,
                         const CompileOptions &);

  std::optional<CompileResult> find(const std::string &key);
  void insert(const std::string &key, const CompileResult &);
  /// Finds the result for the text, or compiles it and keeps what was made without a diagnostic. `parsed`: the text's
  /// module if the caller has parsed it already, else null. If passes are dumped, timed, remarked on or skipped,
  /// or texts of stages are wanted, nothing is found or kept. Errors are those of runtime::compile, with all that was
  /// reported.
  absl::StatusOr<CompileResult> compile(llvm::StringRef text, const std::string &fileName, ir::Module *parsed,
                                        const ir::TargetInfo &, const CompileOptions &, ir::DiagnosticEngine &);
  /// Forgets all entries, those of the folder too.
  void clear();
  CompileCacheCounts counts() const;
  /// Why the folder did not take an entry, or could not be read: the first such; empty: nothing of the kind.
  std::string problem() const;

private:
  using Entry = std::pair<std::string, CompileResult>;
  void keepInMemory(const std::string &key, const CompileResult &);
  std::optional<CompileResult> readFile(const std::string &key);
  absl::Status writeFile(const std::string &key, const CompileResult &);
  void note(const absl::Status &);

  const CompileCacheOptions options_;
  const CacheFolder folder_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_; // the one used last first
  std::unordered_map<std::string, std::list<Entry>::iterator> byKey_;
  uint64_t memoryUsed_ = 0, directoryUsed_ = 0; // the latter: an estimate, as others write, too
  bool directoryRead_ = false;
  CompileCacheCounts counts_;
  std::string problem_;
};

} // namespace tessera::runtime
