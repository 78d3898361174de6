// The names of functions that libdevice and ocml share. A row of ir/math_functions.def names a function in both
// libraries; the type suffixes ("f" or nothing, "_f32" or "_f64") are added by rule. Names that break the rule are
// written out in kExceptions.
#include "codegen/object/device_functions.h"
#include "llvm/ADT/Twine.h"

namespace tessera::codegen {
namespace {

struct Row {
  llvm::StringRef libdevice, ocml;
  /// Else the function has no equivalent: an empty name would be that of another function.
  bool isInBoth() const { return !libdevice.empty() && !ocml.empty(); }
};

// f32 and f64 each.
constexpr Row kRows[] = {
#define MATH_UNARY(name, host, intrinsic, libdevice, ocml, sentence) {#libdevice, #ocml},
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence) {#libdevice, #ocml},
#define LIBRARY_FUNCTION(operands, host, libdevice, ocml) {#libdevice, #ocml},
#define LIBRARY_NAMES(libdevice, ocml) {#libdevice, #ocml},
#include "ir/math_functions.def"
};

// Whole names. For the ocml → libdevice direction the first row with the ocml name counts.
constexpr Row kExceptions[] = {
    {"__nv_isnanf", "__ocml_isnan_f32"},
    {"__nv_isnand", "__ocml_isnan_f64"},
    {"__nv_isinff", "__ocml_isinf_f32"},
    {"__nv_isinfd", "__ocml_isinf_f64"},
    {"__nv_finitef", "__ocml_isfinite_f32"},
    {"__nv_isfinited", "__ocml_isfinite_f64"},
    {"__nv_signbitf", "__ocml_signbit_f32"},
    {"__nv_signbitd", "__ocml_signbit_f64"},
    // Approximations, of about the same accuracy in both.
    {"__nv_fast_cosf", "__ocml_native_cos_f32"},
    {"__nv_fast_sinf", "__ocml_native_sin_f32"},
    {"__nv_fast_expf", "__ocml_native_exp_f32"},
    {"__nv_fast_exp10f", "__ocml_native_exp10_f32"},
    {"__nv_fast_logf", "__ocml_native_log_f32"},
    {"__nv_fast_log2f", "__ocml_native_log2_f32"},
    {"__nv_fast_log10f", "__ocml_native_log10_f32"},
    // No fast form in ocml: the accurate one.
    {"__nv_fast_tanf", "__ocml_tan_f32"},
    {"__nv_fast_tanhf", "__ocml_tanh_f32"},
    {"__nv_fast_powf", "__ocml_pow_f32"},
    // Rounding to nearest is what ocml's functions do.
    {"__nv_fsqrt_rn", "__ocml_sqrt_f32"},
    {"__nv_dsqrt_rn", "__ocml_sqrt_f64"},
    {"__nv_fmaf_rn", "__ocml_fma_f32"},
    {"__nv_fmaf_ieee_rn", "__ocml_fma_f32"},
    {"__nv_fma_rn", "__ocml_fma_f64"},
    // No native form in libdevice: the plain one.
    {"__nv_exp2f", "__ocml_native_exp2_f32"},
    {"__nv_sqrtf", "__ocml_native_sqrt_f32"},
    {"__nv_rsqrtf", "__ocml_native_rsqrt_f32"},
    {"__nv_fmaf", "__ocml_mad_f32"},
    {"__nv_fma", "__ocml_mad_f64"},
    {"__nv_exp", "__ocml_native_exp_f64"},
    {"__nv_exp2", "__ocml_native_exp2_f64"},
    {"__nv_log", "__ocml_native_log_f64"},
    {"__nv_log2", "__ocml_native_log2_f64"},
    {"__nv_log10", "__ocml_native_log10_f64"},
    {"__nv_sin", "__ocml_native_sin_f64"},
    {"__nv_cos", "__ocml_native_cos_f64"},
    {"__nv_sqrt", "__ocml_native_sqrt_f64"},
    {"__nv_rsqrt", "__ocml_native_rsqrt_f64"},
    {"__nv_fmaf", "__ocml_fmuladd_f32"},
    {"__nv_fma", "__ocml_fmuladd_f64"},
    {"__nv_fmaxf", "__ocml_max_f32"},
    {"__nv_fminf", "__ocml_min_f32"},
    {"__nv_fmax", "__ocml_max_f64"},
    {"__nv_fmin", "__ocml_min_f64"},
};

} // namespace

std::string ocmlEquivalent(llvm::StringRef name) {
  // Rows first: for the names that kExceptions mentions a second time the accurate function is meant.
  llvm::StringRef base = name;
  if (!base.consume_front("__nv_")) return {};
  for (const Row &r : kRows) {
    if (!r.isInBoth()) continue;
    if (base == r.libdevice) return ("__ocml_" + llvm::Twine(r.ocml) + "_f64").str();
    if (base.ends_with("f") && base.drop_back() == r.libdevice) return ("__ocml_" + llvm::Twine(r.ocml) + "_f32").str();
  }
  for (const Row &r : kExceptions)
    if (r.libdevice == name) return r.ocml.str();
  return {};
}

std::string libdeviceEquivalent(llvm::StringRef name) {
  llvm::StringRef base = name;
  if (!base.consume_front("__ocml_")) return {};
  bool isF32 = base.ends_with("_f32");
  if (isF32 || base.ends_with("_f64"))
    for (const Row &r : kRows)
      if (r.isInBoth() && base.drop_back(4) == r.ocml)
        return ("__nv_" + llvm::Twine(r.libdevice) + (isF32 ? "f" : "")).str();
  for (const Row &r : kExceptions)
    if (r.ocml == name) return r.libdevice.str();
  return {};
}

} // namespace tessera::codegen
