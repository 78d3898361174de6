// Comparing outputs (see check.h).
#include "runtime/launch/check.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::runtime {

namespace {

/// The square root of a sum of squares, scaled by the largest so far (as BLAS's nrm2 does).
class Norm {
public:
  void add(double v) {
    v = std::abs(v);
    if (v == 0) return;
    if (v > scale_) {
      sum_ = 1 + sum_ * (scale_ / v) * (scale_ / v);
      scale_ = v;
    } else
      sum_ += (v / scale_) * (v / scale_);
  }
  double scale() const { return scale_; }
  /// This norm over another that is not zero.
  double over(const Norm &o) const { return scale_ / o.scale_ * std::sqrt(sum_ / o.sum_); }

private:
  double scale_ = 0, sum_ = 0;
};

/// The value of an integer element without rounding.
__int128 integerAt(DType t, const uint8_t *p) {
  if (t == DType::U64) {
    uint64_t v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  if (t == DType::I64) {
    int64_t v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  return __int128(toDouble(t, p));
}

std::string indexText(int64_t flat, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) index[d] = flat % shape[d];
  std::string s;
  for (int64_t i : index) (s += s.empty() ? "[" : ", ") += std::to_string(i);
  return s.empty() ? "[]" : s + "]";
}

std::string valueText(DType t, const uint8_t *p) {
  if (!isFloat(t)) {
    if (t == DType::U64) return std::to_string(uint64_t(integerAt(t, p)));
    return std::to_string(int64_t(integerAt(t, p)));
  }
  // Enough digits to distinguish two neighbours of the type.
  char text[40];
  if (std::isnan(toDouble(t, p))) return "nan"; // printf shows its sign
  int digits = t == DType::F64 ? 17 : t == DType::F32 ? 9 : dtypeBytes(t) == 2 ? 6 : 4;
  std::snprintf(text, sizeof text, "%.*g", digits, toDouble(t, p));
  return text;
}

std::string shortNumber(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

/// |u - v| of elements with these values, neither of them NaN; infinity where only one is infinite, both are with other
/// signs, or f64 values are further apart than the largest number.
double differenceOf(DType t, const uint8_t *a, const uint8_t *e, double u, double v) {
  if (std::isinf(u) || std::isinf(v)) return u == v ? 0 : std::numeric_limits<double>::infinity();
  return isFloat(t) ? std::abs(u - v) : std::abs(double(integerAt(t, a) - integerAt(t, e)));
}

/// Counts the differences of r.elements elements and finds the worst.
void measure(CheckResult &r, DType dtype, const uint8_t *actual, const uint8_t *expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  unsigned bytes = dtypeBytes(dtype);
  Norm error, norm;
  double worstDifference = -1;
  bool infinite = false;
  int64_t firstNan = -1;
  for (int64_t i = 0; i < r.elements; ++i) {
    const uint8_t *a = &actual[i * bytes], *e = &expected[i * bytes];
    bool same = std::memcmp(a, e, bytes) == 0;
    double u = toDouble(dtype, a), v = toDouble(dtype, e);
    r.differing += !same;
    if (std::isnan(u) || std::isnan(v)) {
      if (firstNan < 0) firstNan = i;
      ++r.nans;
      continue;
    }
    double difference = same ? 0 : differenceOf(dtype, a, e, u, v);
    if (std::isinf(difference))
      infinite = true;
    else
      error.add(difference);
    if (!std::isinf(u) && !std::isinf(v)) norm.add(v);
    // Bits that differ without a difference in value (-0 and 0) are the worst only where nothing else is.
    if (!same && difference > worstDifference) {
      worstDifference = difference;
      r.worst = i;
    }
  }
  if (firstNan >= 0) r.worst = firstNan;
  r.relL2 = infinite || (error.scale() != 0 && norm.scale() == 0) ? kInfinity
            : error.scale() == 0                                  ? 0
                                                                  : error.over(norm);
}

} // namespace

CheckResult compareArrays(llvm::StringRef name, DType dtype, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<uint8_t> actual, llvm::ArrayRef<uint8_t> expected, double limit) {
  CheckResult r;
  unsigned bytes = dtypeBytes(dtype);
  r.elements = 1;
  for (int64_t d : shape) r.elements *= d;
  size_t needed = size_t(r.elements) * bytes;
  if (actual.size() != needed || expected.size() != needed) {
    r.line = llvm::formatv("FAIL {0}: {1} bytes came out and {2} are expected, but the shape has {3}", name,
                           actual.size(), expected.size(), needed);
    return r;
  }
  measure(r, dtype, actual.data(), expected.data());
  r.ok = r.nans == 0 && (limit == 0 ? r.differing == 0 : r.relL2 <= limit);

  std::string measured = r.differing == 0 && r.nans == 0 ? "bit-exact" : "rel_l2 " + shortNumber(r.relL2);
  r.line = (llvm::Twine(r.ok ? "ok   " : "FAIL ") + name + ": " + measured).str();
  r.line += limit == 0 ? " (must be bit-exact)" : " (limit " + shortNumber(limit) + ")";
  if (r.differing) r.line += llvm::formatv(", {0} of {1} elements differ", r.differing, r.elements).str();
  if (r.nans) r.line += llvm::formatv(", {0} NaN", r.nans).str();
  if (r.worst >= 0) {
    const uint8_t *a = &actual[r.worst * bytes], *e = &expected[r.worst * bytes];
    r.worstActual = toDouble(dtype, a);
    r.worstExpected = toDouble(dtype, e);
    r.line += llvm::formatv("; {0} {1}: {2}, expected {3}", r.nans ? "first NaN at" : "worst at",
                            indexText(r.worst, shape), valueText(dtype, a), valueText(dtype, e))
                  .str();
  }
  return r;
}

CheckResult compareWithin(llvm::StringRef name, DType dtype, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<uint8_t> actual, llvm::ArrayRef<uint8_t> expected,
                          llvm::ArrayRef<double> bounds) {
  CheckResult r = compareArrays(name, dtype, shape, actual, expected, 0);
  if (actual.size() != expected.size() || actual.size() != bounds.size() * dtypeBytes(dtype)) return r; // says so
  unsigned bytes = dtypeBytes(dtype);
  int64_t wrong = 0;
  double worst = -1;
  for (int64_t i = 0; i < r.elements; ++i) {
    const uint8_t *a = &actual[i * bytes], *e = &expected[i * bytes];
    if (std::memcmp(a, e, bytes) == 0) continue;
    double difference = std::numeric_limits<double>::infinity();
    if (isFloat(dtype)) {
      double u = toDouble(dtype, a), v = toDouble(dtype, e);
      if (u == v || (std::isnan(u) && std::isnan(v))) continue;
      if (!std::isnan(u - v)) difference = std::abs(u - v);
    } else
      difference = std::abs(double(integerAt(dtype, a) - integerAt(dtype, e)));
    if (difference <= bounds[i]) continue;
    ++wrong;
    if (difference - bounds[i] > worst) {
      worst = difference - bounds[i];
      r.worst = i;
    }
  }
  r.ok = wrong == 0;
  r.line = (llvm::Twine(r.ok ? "ok   " : "FAIL ") + name + ": " +
            (r.differing ? "rel_l2 " + shortNumber(r.relL2) : "bit-exact"))
               .str();
  if (r.differing) r.line += llvm::formatv(", {0} of {1} elements differ", r.differing, r.elements).str();
  if (wrong) {
    const uint8_t *a = &actual[r.worst * bytes], *e = &expected[r.worst * bytes];
    r.worstActual = toDouble(dtype, a);
    r.worstExpected = toDouble(dtype, e);
    r.line +=
        llvm::formatv(", {0} by more than they may; worst at {1}: {2}, expected {3} within {4}", wrong,
                      indexText(r.worst, shape), valueText(dtype, a), valueText(dtype, e), shortNumber(bounds[r.worst]))
            .str();
  }
  return r;
}

} // namespace tessera::runtime
