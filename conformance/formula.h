// Formulas: what a conformance kernel must compute, and what it is given, as one expression per element. They know
// nothing of the IR and share no code with the interpreter, so a result that agrees with both was computed twice,
// independently.
//
//   a[i, j] + b[j]                       elements of buffers, index variables, scalar arguments by name
//   sum(k < 64, a[i, k] * b[k, j])       also product, least, greatest, every (bits common to all), any, parity, and
//                                        first(k < 64, c): the first k where c is not 0, or 64
//   c ? x : y   || && | ^ & == != < <= > >= << >> + - * / % - ! ~      precedence as in C
//   abs min max sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh
//   acosh atanh erf erfc
//   pow atan2 copysign remainder (of C's fmod) fma floor ceil trunc round (to even) sign isnan inf nan
//   f16(x) bf16(x) f32(x) f64(x) f8E5M2(x) …    rounded to nearest even; the 8-bit floats saturate
//   toward_zero(bf16, x)                        rounded toward zero
//   i8(x) u8(x) … i64(x)                        wrapped, or from a float truncated and saturated
//   bits(x, f32) as_float(n, f32)               reinterpreted
//   below(a, b)                                 integers compared as unsigned ones
//   normal() uniform(lo, hi) integer(lo, hi) random_bits()
//                                               a function of buffer and element alone, another at each draw
//
// Numbers are 64-bit integers that wrap, or doubles; an operation of both is one of doubles. Division of integers
// rounds toward zero, by zero gives -1 (remainder: the dividend); a shift by 64 or more gives 0, or the sign. An f32,
// f16 or bf16 sum, difference, product, quotient or root is exact after rounding to its type, since double holds more
// than twice the precision.
#pragma once
#include "absl/status/statusor.h"
#include "conformance/number.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace tessera::conformance {

/// What names in a formula stand for.
struct FormulaBuffer {
  std::string name;
  runtime::DType dtype = runtime::DType::F32;
  std::vector<int64_t> shape;    // empty: a scalar
  const uint8_t *data = nullptr; // row-major; set before evaluating
};

class Formula {
public:
  /// `variables` are the index variables that the surroundings set. The error says what is wrong and where.
  static absl::StatusOr<Formula> parse(llvm::StringRef text, llvm::ArrayRef<std::string> variables,
                                       llvm::ArrayRef<FormulaBuffer> buffers);

  /// Indices out of a buffer's bounds give an error. `stream` and `element` seed what is random.
  absl::StatusOr<Number> evaluate(llvm::ArrayRef<int64_t> variables, llvm::ArrayRef<FormulaBuffer> buffers,
                                  uint64_t stream = 0, uint64_t element = 0) const;

  struct Node;
  Formula(const Formula &);
  Formula(Formula &&) noexcept;
  Formula &operator=(const Formula &);
  ~Formula();

private:
  Formula();
  std::shared_ptr<const std::vector<Node>> nodes_;
  int root_ = -1;
  unsigned variableCount_ = 0;
  friend class FormulaParser;
};

} // namespace tessera::conformance
