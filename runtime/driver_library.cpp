// Loads the libraries of GPU drivers (see driver_library.h).
#include "runtime/driver_library.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace tessera::runtime {

absl::StatusOr<void *> openLibrary(const char *variable, llvm::ArrayRef<const char *> names) {
  if (const char *path = std::getenv(variable); path && *path) {
    if (void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return h;
    return absl::NotFoundError(llvm::formatv("{0} names a library that does not load: {1}", variable, dlerror()).str());
  }
  std::string first;
  for (auto *n : names) {
    if (void *h = dlopen(n, RTLD_NOW | RTLD_LOCAL)) return h;
    if (first.empty()) first = dlerror();
  }
  if (names.size() > 1) first += "; also tried: " + llvm::join(names.drop_front(), ", ");
  return absl::NotFoundError(first);
}

} // namespace tessera::runtime
