// Compiled kernels kept (see compile_cache.h).
#include "runtime/compile_cache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/targets.h"
#include <algorithm>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace tessera::runtime {

namespace {

constexpr llvm::StringLiteral kMagic = "tessera kernel 1\n";
constexpr size_t kHashBytes = 32, kNameChars = 2 * kHashBytes;

std::string hash(llvm::StringRef bytes) { return llvm::toStringRef(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes))).str(); }

/// Which file it is: where, how large and when it was written.
std::string fileIdentity(const std::string &path) {
  struct stat s;
  if (stat(path.c_str(), &s)) return path + " is not there";
  return (path + "|" + llvm::Twine(s.st_size) + "|" + llvm::Twine(s.st_mtim.tv_sec) + "." + llvm::Twine(s.st_mtim.tv_nsec)).str();
}

/// Of the program or library that this code is part of.
const std::string &compilerIdentity() {
  static const std::string identity = [] {
    Dl_info info;
    std::string path = dladdr(reinterpret_cast<void *>(&compilerIdentity), &info) && info.dli_fname && *info.dli_fname == '/' && !access(info.dli_fname, R_OK) ? info.dli_fname : "/proc/self/exe";
    return fileIdentity(path) + "|LLVM " LLVM_VERSION_STRING;
  }();
  return identity;
}

bool isEntryName(llvm::StringRef name) { return name.size() == kNameChars && llvm::all_of(name, [](char c) { return llvm::isDigit(c) || (c >= 'a' && c <= 'f'); }); }

uint64_t bytesOf(const CompileResult &r) {
  uint64_t n = r.output.size() + sizeof r + 64;
  for (auto &a : r.metadata.args) n += a.name.size() + a.type.size() + sizeof a;
  return n;
}

} // namespace

CompileCache::CompileCache(CompileCacheOptions o) : options_(std::move(o)) {}

std::string CompileCache::key(llvm::StringRef text, llvm::StringRef fileName, const ir::TargetInfo &target, const CompileOptions &o) {
  std::string all;
  auto add = [&](llvm::StringRef part) { all += std::to_string(part.size()) + ":" + part.str(); };
  add(compilerIdentity());
  add(target.name);
  for (int i : {int(o.stage), o.numWarps, o.numStages, o.numCtas, o.wavesPerEu, o.matrixInstrNonkdim, o.optLevel, int(o.fpFusion), int(o.lineInfo), int(o.opNames), int(o.bitcode)}) add(std::to_string(i));
  add(o.kernel);
  // What uses files of the toolkits depends on which are there.
  if (o.stage > Stage::Ttgir)
    for (auto &line : describeTools(*findArch(target.name))) {
      add(line);
      if (size_t at = line.find(": /"); at != std::string::npos) add(fileIdentity(line.substr(at + 2)));
    }
  add(fileName);
  add(text);
  return llvm::toHex(hash(all), /*LowerCase=*/true);
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
  if (!options_.directory.empty() && !writeFile(key, r)) ++counts_.unwritten;
}

void CompileCache::clear() {
  std::scoped_lock lock(mutex_);
  entries_.clear(), byKey_.clear();
  memoryUsed_ = 0;
  if (!options_.directory.empty()) dropOldestFiles(0);
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

// A file: the magic, the hash of what follows, the metadata's length as eight bytes, the metadata, the output.
std::optional<CompileResult> CompileCache::readFile(const std::string &key) {
  std::string path = options_.directory + "/" + key;
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  if (!buffer) return std::nullopt;
  llvm::StringRef bytes = (*buffer)->getBuffer();
  auto whole = [&]() -> std::optional<CompileResult> {
    if (!bytes.consume_front(kMagic) || bytes.size() < kHashBytes + 8) return std::nullopt;
    llvm::StringRef rest = bytes.drop_front(kHashBytes);
    if (hash(rest) != bytes.take_front(kHashBytes)) return std::nullopt;
    uint64_t length = 0;
    for (unsigned i = 0; i < 8; ++i) length |= uint64_t(uint8_t(rest[i])) << 8 * i;
    rest = rest.drop_front(8);
    if (length > rest.size()) return std::nullopt;
    auto metadata = metadataFromJson(rest.take_front(length));
    if (!metadata.ok()) return std::nullopt;
    return CompileResult{rest.drop_front(length).str(), *std::move(metadata)};
  };
  auto r = whole();
  if (!r) ++counts_.damaged;
  else (void)::utimes(path.c_str(), nullptr); // the oldest are those not used for longest
  return r;
}

bool CompileCache::writeFile(const std::string &key, const CompileResult &r) {
  if (llvm::sys::fs::create_directories(options_.directory)) return false;
  std::string metadata = toJson(r.metadata), rest;
  for (unsigned i = 0; i < 8; ++i) rest += char(uint64_t(metadata.size()) >> 8 * i);
  rest += metadata;
  rest += r.output;
  if (rest.size() > options_.directoryBytes) return false;
  llvm::SmallString<256> temporary;
  int fd;
  if (llvm::sys::fs::createUniqueFile(options_.directory + "/%%%%%%%%%%%%.tmp", fd, temporary)) return false;
  llvm::raw_fd_ostream out(fd, /*shouldClose=*/true);
  out << kMagic << hash(rest) << rest;
  out.close();
  bool failed = out.has_error();
  out.clear_error();
  if (failed || llvm::sys::fs::rename(temporary, options_.directory + "/" + key)) {
    llvm::sys::fs::remove(temporary);
    return false;
  }
  directoryUsed_ += rest.size();
  if (!directoryRead_ || directoryUsed_ > options_.directoryBytes) dropOldestFiles(options_.directoryBytes);
  return true;
}

/// Looks how much is there, and where it is more than the limit, drops entries until a tenth of the limit is free.
void CompileCache::dropOldestFiles(uint64_t limit) {
  struct File {
    std::string path;
    uint64_t bytes;
    llvm::sys::TimePoint<> used;
  };
  std::vector<File> files;
  directoryUsed_ = 0;
  directoryRead_ = true;
  std::error_code ec;
  auto now = std::chrono::system_clock::now();
  for (llvm::sys::fs::directory_iterator it(options_.directory, ec), end; !ec && it != end; it.increment(ec)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    auto status = it->status();
    if (!status) continue;
    // What a process left that ended while it wrote.
    if (name.size() == 16 && name.ends_with(".tmp") && now - status->getLastModificationTime() > std::chrono::hours(1)) llvm::sys::fs::remove(it->path());
    if (!isEntryName(name)) continue;
    files.push_back({it->path(), status->getSize(), status->getLastModificationTime()});
    directoryUsed_ += status->getSize();
  }
  if (directoryUsed_ <= limit) return;
  llvm::sort(files, [](auto &a, auto &b) { return a.used < b.used; });
  for (auto &f : files) {
    if (directoryUsed_ <= limit - limit / 10) return;
    if (!llvm::sys::fs::remove(f.path)) directoryUsed_ -= f.bytes;
  }
}

} // namespace tessera::runtime
