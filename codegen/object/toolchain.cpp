// Finding files of a vendor's toolkit.
#include "codegen/object/toolchain.h"
#include "absl/status/status.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

namespace tessera::codegen {

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value;
}

absl::Status checkVariable(const char *variable, llvm::function_ref<absl::StatusOr<std::string>()> find) {
  if (!isSet(variable)) return absl::OkStatus();
  absl::StatusOr<std::string> found = find();
  return found.ok() ? absl::OkStatus() : absl::InvalidArgumentError(found.status().message());
}

std::vector<std::string> environmentDirectories(llvm::ArrayRef<const char *> variables) {
  std::vector<std::string> found;
  for (const char *v : variables)
    if (isSet(v)) found.push_back(std::getenv(v));
  return found;
}

absl::StatusOr<std::string> findToolFile(llvm::StringRef what, const char *overrideVariable,
                                         llvm::ArrayRef<std::string> directories,
                                         llvm::ArrayRef<llvm::StringRef> names) {
  auto isFile = [](const std::string &path) { return llvm::sys::fs::is_regular_file(path); };
  if (isSet(overrideVariable)) {
    const char *given = std::getenv(overrideVariable);
    // A bare name would be searched for by dlopen() and execvp(); a file is meant.
    if (isFile(given)) return llvm::sys::path::has_parent_path(given) ? std::string(given) : "./" + std::string(given);
    for (llvm::StringRef name : names) {
      llvm::SmallString<256> path(given);
      llvm::sys::path::append(path, llvm::sys::path::filename(name));
      if (isFile(std::string(path))) return std::string(path);
    }
    return absl::NotFoundError((what + " not found: " + overrideVariable + " is set to '" + given +
                                "', which is neither the file nor a directory with it")
                                   .str());
  }
  std::string looked;
  for (const std::string &directory : directories) {
    for (llvm::StringRef name : names) {
      llvm::SmallString<256> path(directory);
      llvm::sys::path::append(path, name);
      if (isFile(std::string(path))) return std::string(path);
    }
    if (("," + looked + ",").find(", " + directory + ",") != std::string::npos) continue;
    looked += (looked.empty() ? " " : ", ") + directory;
  }
  return absl::NotFoundError(
      (what + " not found; looked in" + looked + "; set " + overrideVariable + " to name it").str());
}

} // namespace tessera::codegen
