// Compiled kernels kept (see compile_cache.h).
#include "runtime/compiler/compile_cache.h"
#include "runtime/compiler/targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include <algorithm>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::runtime {

namespace {

/// Which file it is: where, how large and when it was written.
std::string fileIdentity(const std::string &path) {
  struct stat s;
  if (stat(path.c_str(), &s)) return path + " is not there";
  return (path + "|" + llvm::Twine(s.st_size) + "|" + llvm::Twine(s.st_mtim.tv_sec) + "." +
          llvm::Twine(s.st_mtim.tv_nsec))
      .str();
}

/// Of the program or library that this code is part of.
const std::string &compilerIdentity() {
  static const std::string identity = [] {
    Dl_info info;
    std::string path = dladdr(reinterpret_cast<void *>(&compilerIdentity), &info) && info.dli_fname &&
                               *info.dli_fname == '/' && !access(info.dli_fname, R_OK)
                           ? info.dli_fname
                           : "/proc/self/exe";
    return fileIdentity(path) + "|LLVM " LLVM_VERSION_STRING;
  }();
  return identity;
}

uint64_t bytesOf(const CompileResult &r) {
  uint64_t n = r.output.size() + sizeof r + 64;
  for (auto &a : r.metadata.args) n += a.name.size() + a.type.size() + sizeof a;
  return n;
}

std::string keyPart(const std::string &text) { return text; }
template <typename T> std::string keyPart(T value) { return std::to_string(int64_t(value)); }

} // namespace

CompileCache::CompileCache(CompileCacheOptions o) : options_(std::move(o)), folder_(options_.directory) {}

std::string CompileCache::key(llvm::StringRef text, llvm::StringRef fileName, const ir::TargetInfo &target,
                              const CompileOptions &o) {
  std::string all;
  auto add = [&](llvm::StringRef part) { all += std::to_string(part.size()) + ":" + part.str(); };
  add(compilerIdentity());
  add(target.name);
  for (auto &option : kernelOptions()) add(std::to_string(o.*option.field));
  for (const std::string &value : {
#define COMPILE_OPTION(type, field, initial) keyPart(o.field),
#include "runtime/options.def"
       })
    add(value);
  // What uses files of the toolkits depends on which are there.
  if (o.stage > Stage::Ttgir)
    for (auto &line : describeTools(*findArch(target.name))) {
      add(line);
      if (size_t at = line.find(": /"); at != std::string::npos) add(fileIdentity(line.substr(at + 2)));
    }
  add(fileName);
  add(text);
  return llvm::toHex(sha256(all), /*LowerCase=*/true);
}

std::optional<CompileResult> CompileCache::find(const std::string &key) {
  std::scoped_lock lock(mutex_);
  if (auto it = byKey_.find(key); it != byKey_.end()) {
    entries_.splice(entries_.begin(), entries_, it->second);
    ++counts_.memoryHits;
    return it->second->second;
  }
  auto r = options_.directory.empty() ? std::nullopt : readFile(key);
  if (!r) {
    ++counts_.misses;
    return r;
  }
  ++counts_.directoryHits;
  keepInMemory(key, *r);
  return r;
}

void CompileCache::insert(const std::string &key, const CompileResult &r) {
  std::scoped_lock lock(mutex_);
  keepInMemory(key, r);
  if (options_.directory.empty()) return;
  auto s = writeFile(key, r);
  counts_.unwritten += !s.ok();
  note(s);
}

absl::StatusOr<CompileResult> CompileCache::compile(llvm::StringRef text, const std::string &fileName,
                                                    ir::Module *parsed, const ir::TargetInfo &target,
                                                    const CompileOptions &o, ir::DiagnosticEngine &diag) {
  bool kept =
      transforms::hasNoObservers(o.passes) && !o.keepTexts && (options_.memoryBytes || !options_.directory.empty());
  std::string id = kept ? key(text, fileName, target, o) : "";
  if (kept)
    if (auto found = find(id)) return *std::move(found);
  unsigned before = diag.reports();
  auto compiled =
      parsed ? runtime::compile(*parsed, target, o, diag) : runtime::compileText(text, fileName, target, o, diag);
  if (kept && compiled.ok() && diag.reports() == before) insert(id, *compiled);
  return compiled;
}

void CompileCache::clear() {
  std::scoped_lock lock(mutex_);
  entries_.clear(), byKey_.clear();
  memoryUsed_ = directoryUsed_ = 0;
  if (!options_.directory.empty()) note(folder_.dropOldest(0).status());
}

std::string CompileCache::problem() const {
  std::scoped_lock lock(mutex_);
  return problem_;
}

CompileCacheCounts CompileCache::counts() const {
  std::scoped_lock lock(mutex_);
  return counts_;
}

void CompileCache::keepInMemory(const std::string &key, const CompileResult &r) {
  if (bytesOf(r) > options_.memoryBytes) return;
  if (auto it = byKey_.find(key); it != byKey_.end()) { // another thread was as fast
    memoryUsed_ -= bytesOf(it->second->second);
    entries_.erase(it->second);
  }
  entries_.emplace_front(key, r);
  byKey_[key] = entries_.begin();
  memoryUsed_ += bytesOf(r);
  for (; memoryUsed_ > options_.memoryBytes; entries_.pop_back()) {
    memoryUsed_ -= bytesOf(entries_.back().second);
    byKey_.erase(entries_.back().first);
  }
}

std::optional<CompileResult> CompileCache::readFile(const std::string &key) {
  auto r = folder_.read(key);
  if (r.ok()) return *std::move(r);
  if (absl::IsDataLoss(r.status())) ++counts_.damaged;
  return std::nullopt;
}

/// What was kept is dropped again where it is more than the limit: until a tenth of the limit is free.
absl::Status CompileCache::writeFile(const std::string &key, const CompileResult &r) {
  uint64_t limit = options_.directoryBytes;
  if (bytesOf(r) > limit)
    return absl::ResourceExhaustedError(options_.directory + ": the kernel is larger than the cache may become");
  auto written = folder_.write(key, r);
  if (!written.ok()) return written.status();
  directoryUsed_ += *written;
  if (directoryRead_ && directoryUsed_ <= limit) return absl::OkStatus();
  auto entries = folder_.entries();
  if (!entries.ok()) return entries.status();
  directoryRead_ = true;
  directoryUsed_ = 0;
  for (auto &e : *entries) directoryUsed_ += e.bytes;
  if (directoryUsed_ <= limit) return absl::OkStatus();
  auto dropped = folder_.dropOldest(limit - limit / 10);
  if (dropped.ok()) directoryUsed_ -= std::min(dropped->bytes, directoryUsed_);
  return dropped.status();
}

void CompileCache::note(const absl::Status &s) {
  if (!s.ok() && problem_.empty()) problem_ = std::string(s.message());
}

} // namespace tessera::runtime
