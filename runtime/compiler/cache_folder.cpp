// A folder of compiled kernels (see cache_folder.h). A file: the magic, the hash of what follows, the metadata's
// length as eight bytes, the metadata, the output.
#include "runtime/compiler/cache_folder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <sys/time.h>

namespace tessera::runtime {

namespace {

constexpr llvm::StringLiteral kMagic = "tessera kernel 1\n";
constexpr size_t kHashBytes = 32, kNameChars = 2 * kHashBytes;

bool isEntryName(llvm::StringRef name) {
  return name.size() == kNameChars &&
         llvm::all_of(name, [](char c) { return llvm::isDigit(c) || (c >= 'a' && c <= 'f'); });
}

std::optional<CompileResult> parseEntry(llvm::StringRef bytes) {
  if (!bytes.consume_front(kMagic) || bytes.size() < kHashBytes + 8) return std::nullopt;
  llvm::StringRef rest = bytes.drop_front(kHashBytes);
  if (sha256(rest) != bytes.take_front(kHashBytes)) return std::nullopt;
  uint64_t length = 0;
  for (unsigned i = 0; i < 8; ++i) length |= uint64_t(uint8_t(rest[i])) << 8 * i;
  rest = rest.drop_front(8);
  if (length > rest.size()) return std::nullopt;
  auto metadata = metadataFromJson(rest.take_front(length));
  if (!metadata.ok()) return std::nullopt;
  return CompileResult{rest.drop_front(length).str(), *std::move(metadata)};
}

absl::Status failed(const std::string &path, const std::error_code &ec) {
  return absl::UnavailableError(path + ": " + ec.message());
}

} // namespace

std::string sha256(llvm::StringRef bytes) {
  return llvm::toStringRef(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes))).str();
}

std::string defaultCacheDirectory() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (auto d = variable("TESSERA_CACHE_DIR"); !d.empty()) return d;
  // A relative path there means nothing and is to be ignored (XDG Base Directory Specification).
  if (auto d = variable("XDG_CACHE_HOME"); llvm::sys::path::is_absolute(d)) return d + "/tessera";
  if (auto d = variable("HOME"); !d.empty()) return d + "/.cache/tessera";
  return "";
}

absl::StatusOr<CompileResult> CacheFolder::look(const std::string &key) const {
  std::string path = directory_ + "/" + key;
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  if (!buffer) return absl::NotFoundError(path + ": " + buffer.getError().message());
  if (auto r = parseEntry((*buffer)->getBuffer())) return *std::move(r);
  return absl::DataLossError(path + ": the entry is damaged");
}

absl::StatusOr<CompileResult> CacheFolder::read(const std::string &key) const {
  auto r = look(key);
  if (r.ok()) (void)::utimes((directory_ + "/" + key).c_str(), nullptr);
  return r;
}

absl::StatusOr<uint64_t> CacheFolder::write(const std::string &key, const CompileResult &r) const {
  if (auto ec = llvm::sys::fs::create_directories(directory_)) return failed(directory_, ec);
  std::string metadata = toJson(r.metadata), rest;
  for (unsigned i = 0; i < 8; ++i) rest += char(uint64_t(metadata.size()) >> 8 * i);
  rest += metadata;
  rest += r.output;
  llvm::SmallString<256> temporary;
  int fd;
  if (auto ec = llvm::sys::fs::createUniqueFile(directory_ + "/%%%%%%%%%%%%.tmp", fd, temporary))
    return failed(directory_, ec);
  llvm::raw_fd_ostream out(fd, /*shouldClose=*/true);
  out << kMagic << sha256(rest) << rest;
  uint64_t bytes = out.tell();
  out.close();
  auto ec = out.error();
  out.clear_error();
  if (!ec) ec = llvm::sys::fs::rename(temporary, directory_ + "/" + key);
  if (!ec) return bytes;
  llvm::sys::fs::remove(temporary);
  return failed(directory_, ec);
}

absl::Status CacheFolder::remove(const std::string &key) const {
  std::string path = directory_ + "/" + key;
  if (auto ec = llvm::sys::fs::remove(path)) return failed(path, ec);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CacheFolder::Entry>> CacheFolder::entries() const {
  std::vector<CacheFolder::Entry> found;
  std::error_code ec;
  auto now = std::chrono::system_clock::now();
  for (llvm::sys::fs::directory_iterator it(directory_, ec), end; !ec && it != end; it.increment(ec)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    auto status = it->status();
    if (!status) continue; // another process was as fast
    bool left =
        name.size() == 16 && name.ends_with(".tmp") && now - status->getLastModificationTime() > std::chrono::hours(1);
    if (left) llvm::sys::fs::remove(it->path());
    if (isEntryName(name)) found.push_back({name.str(), status->getSize(), status->getLastModificationTime()});
  }
  if (ec && ec != std::errc::no_such_file_or_directory) return failed(directory_, ec);
  llvm::sort(found, [](auto &a, auto &b) { return std::tie(a.used, a.key) < std::tie(b.used, b.key); });
  return found;
}

absl::StatusOr<CacheFolder::Dropped> CacheFolder::dropOldest(uint64_t limit) const {
  auto found = entries();
  if (!found.ok()) return found.status();
  uint64_t used = 0;
  for (auto &e : *found) used += e.bytes;
  Dropped dropped;
  absl::Status problem;
  for (auto &e : *found) {
    if (used <= limit) break;
    if (auto s = remove(e.key); !s.ok()) {
      problem = s;
      continue;
    }
    used -= e.bytes;
    ++dropped.entries, dropped.bytes += e.bytes;
  }
  return used <= limit ? absl::StatusOr<Dropped>(dropped) : problem;
}

} // namespace tessera::runtime
