// Device-library functions (NVIDIA's libdevice `__nv_*`, AMD's `__ocml_*`) as host functions, for
// tt.extern_elementwise. The names are the vendors' (CUDA libdevice user's guide; ROCm-Device-Libs doc/OCML.md). All
// are evaluated in double and rounded once to the result's type, but for those with a rounding mode in the name, which
// are evaluated in their own type; `fast` and `native` variants give the accurate result, as does the host's libm up to
// its own last-place errors in f64.
#pragma once
#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace tessera::runtime {

struct DeviceFunction {
  unsigned arity = 0;                           // of whichever function is set
  double (*real)(const double *args) = nullptr; // floats or integers → float or integer (saturating)
  bool (*predicate)(double) = nullptr;          // float → i32 or i1: isnan and the like
  uint64_t (*integer)(const uint64_t *args, unsigned width) = nullptr; // integers of one width, zero-extended → integer
  bool isUnsigned = false; // integer arguments and results of `real`, and arguments of `rounded`, are unsigned
  // Floats, or one integer extended to 64 bits → float of the type in the name, rounded in a mode of <cfenv>.
  double (*rounded)(const double *args, uint64_t integer, int mode) = nullptr;
  int mode = 0;
  bool takesPatterns = false; // arguments and results of `integer` may be floats: their bits
};

/// The function of that symbol, or nothing.
std::optional<DeviceFunction> findDeviceFunction(llvm::StringRef symbol);

/// Whether a library's function stores a result to where an argument points (sincos, frexp, modf, remquo, …): a private
/// variable, which tt.extern_elementwise has none of.
bool hasOutputParameter(llvm::StringRef symbol);

} // namespace tessera::runtime
