// The functions that the two device libraries have in common under different names: libdevice's `__nv_NAME[f]` and
// ocml's `__ocml_NAME_f32/_f64`, so that IR written for one vendor compiles for the other. Only functions with the same
// arguments and the same result are in the table; those that return through pointers (sincos, frexp, modf, remquo) are
// not, since the two libraries take different pointer types.
// Sources: CUDA "libdevice User's Guide"; ROCm-Device-Libs, doc/OCML.md.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera::codegen {

/// The ocml function that is `libdeviceName` ("__nv_powf" → "__ocml_pow_f32"), or empty.
std::string ocmlEquivalent(llvm::StringRef libdeviceName);
/// The libdevice function that is `ocmlName` ("__ocml_pow_f32" → "__nv_powf"), or empty.
std::string libdeviceEquivalent(llvm::StringRef ocmlName);

} // namespace tessera::codegen
