// The check of the numbers that a kernel is configured by (see kernel_config.h).
#include "runtime/kernel_config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::runtime {

bool KernelOption::allows(int64_t value) const {
  if (value < least || value > most) return false;
  switch (form) {
  case PowerOfTwo: return llvm::isPowerOf2_64(uint64_t(value));
  case Range: return true;
  case MatrixTile: return value == 0 || value == 16 || value == 32;
  }
  llvm_unreachable("form");
}

std::string KernelOption::allowed() const {
  switch (form) {
  case PowerOfTwo: return llvm::formatv("a power of two up to {0}", most);
  case Range: return llvm::formatv("a whole number from {0} to {1}", least, most);
  case MatrixTile: return "0, 16 or 32";
  }
  llvm_unreachable("form");
}

std::string KernelOption::problem(int64_t value) const {
  if (allows(value)) return "";
  return llvm::formatv("must be {0}, not {1}", allowed(), value);
}

} // namespace tessera::runtime
