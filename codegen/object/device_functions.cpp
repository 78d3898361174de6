// The table of functions that libdevice and ocml share. A row names a function in both libraries; the type suffixes
// ("f" or nothing, "_f32" or "_f64") are added by rule. Names that break the rule are written out in kExceptions.
#include "codegen/object/device_functions.h"
#include "llvm/ADT/Twine.h"

namespace tessera::codegen {
namespace {

struct Row {
  llvm::StringRef libdevice, ocml;
};

// f32 and f64 each.
constexpr Row kRows[] = {
    // one argument
    {"acos", "acos"},
    {"acosh", "acosh"},
    {"asin", "asin"},
    {"asinh", "asinh"},
    {"atan", "atan"},
    {"atanh", "atanh"},
    {"cbrt", "cbrt"},
    {"ceil", "ceil"},
    {"cos", "cos"},
    {"cosh", "cosh"},
    {"cospi", "cospi"},
    {"cyl_bessel_i0", "i0"},
    {"cyl_bessel_i1", "i1"},
    {"erf", "erf"},
    {"erfc", "erfc"},
    {"erfcinv", "erfcinv"},
    {"erfcx", "erfcx"},
    {"erfinv", "erfinv"},
    {"exp", "exp"},
    {"exp10", "exp10"},
    {"exp2", "exp2"},
    {"expm1", "expm1"},
    {"fabs", "fabs"},
    {"floor", "floor"},
    {"ilogb", "ilogb"},
    {"j0", "j0"},
    {"j1", "j1"},
    {"lgamma", "lgamma"},
    {"log", "log"},
    {"log10", "log10"},
    {"log1p", "log1p"},
    {"log2", "log2"},
    {"logb", "logb"},
    {"nearbyint", "nearbyint"},
    {"normcdf", "ncdf"},
    {"normcdfinv", "ncdfinv"},
    {"rcbrt", "rcbrt"},
    {"rint", "rint"},
    {"round", "round"},
    {"rsqrt", "rsqrt"},
    {"sin", "sin"},
    {"sinh", "sinh"},
    {"sinpi", "sinpi"},
    {"sqrt", "sqrt"},
    {"tan", "tan"},
    {"tanh", "tanh"},
    {"tgamma", "tgamma"},
    {"trunc", "trunc"},
    {"y0", "y0"},
    {"y1", "y1"},
    // two
    {"atan2", "atan2"},
    {"copysign", "copysign"},
    {"fdim", "fdim"},
    {"fmax", "fmax"},
    {"fmin", "fmin"},
    {"fmod", "fmod"},
    {"hypot", "hypot"},
    {"ldexp", "ldexp"},
    {"nextafter", "nextafter"},
    {"pow", "pow"},
    {"powi", "pown"},
    {"remainder", "remainder"},
    {"rhypot", "rhypot"},
    {"scalbn", "scalbn"},
    // three and four
    {"fma", "fma"},
    {"norm3d", "len3"},
    {"norm4d", "len4"},
    {"rnorm3d", "rlen3"},
    {"rnorm4d", "rlen4"},
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
      if (base.drop_back(4) == r.ocml) return ("__nv_" + llvm::Twine(r.libdevice) + (isF32 ? "f" : "")).str();
  for (const Row &r : kExceptions)
    if (r.ocml == name) return r.libdevice.str();
  return {};
}

} // namespace tessera::codegen
