// Fuzzing of what a run reads besides the kernel: launch descriptions (first byte `J`) and .npy files (anything
// else). Bad ones give an error with their file's name, never a crash; good .npy files are written back and read as
// the same.
#include "runtime/launch/argument_data.h"
#include "runtime/launch/launch_description.h"
#include "runtime/launch/npy.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace tessera::runtime;

static void fail(const char *what, llvm::StringRef more) {
  std::fprintf(stderr, "%s\n--- more\n%.*s\n", what, int(more.size()), more.data());
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size || size > 65536) return 0;
  llvm::StringRef text(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] == 'J') {
    auto d = parseLaunch(text, "l.json");
    if (!d.ok()) {
      if (!absl::IsInvalidArgument(d.status()) ||
          !llvm::StringRef(std::string(d.status().message())).starts_with("l.json:"))
        fail("an error without its place", std::string(d.status().message()));
      return 0;
    }
    for (unsigned i = 0; i < d->args.size(); ++i) {
      if (d->args[i].isScalar) {
        auto bits = scalarBits(d->args[i]);
        if (bits.bytes != 1 && bits.bytes != 2 && bits.bytes != 4 && bits.bytes != 8)
          fail("a scalar of an odd width", d->args[i].name);
        continue;
      }
      if (d->args[i].bytes() < 0) fail("a buffer of a negative size", d->args[i].name);
      if (d->args[i].source == LaunchArg::File || d->args[i].bytes() > 1 << 16) continue;
      auto contents = materialize(*d, i);
      if (contents.ok() && int64_t(contents->size()) != d->args[i].bytes())
        fail("contents of another size", d->args[i].name);
    }
    return 0;
  }
  auto a = parseNpy(text, "a.npy");
  if (!a.ok()) {
    if (!llvm::StringRef(std::string(a.status().message())).starts_with("a.npy:"))
      fail("an error without its file", std::string(a.status().message()));
    return 0;
  }
  int64_t bytes = dtypeBytes(a->dtype);
  for (int64_t d : a->shape) bytes *= d;
  if (int64_t(a->data.size()) != bytes) fail("data of another size than the shape's", "");
  return 0;
}
