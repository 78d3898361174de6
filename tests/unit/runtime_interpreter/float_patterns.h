// Patterns of float formats, elementwise kernels on them, and how their results compare.
#pragma once
#include "evaluation.h"
#include "runtime/float_formats.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <random>

namespace tessera::test {
using ir::FloatKind;

struct Format {
  FloatKind kind;
  const char *name;
};
inline const Format kFormats[] = {
    {FloatKind::F16, "f16"}, {FloatKind::BF16, "bf16"}, {FloatKind::F32, "f32"}, {FloatKind::F64, "f64"}};

/// Patterns of a format: all its special values against each other, then random ones.
inline std::vector<uint64_t> floatPatterns(FloatKind k, uint64_t seed, size_t n, bool transposed) {
  std::vector<double> special = {0.0,       -0.0, 1,    -1,    1.5,   -2,   3,   INFINITY,
                                 -INFINITY, NAN,  1e-7, -1e-7, 60000, 1e30, 0.1, -0.1};
  std::mt19937_64 random(seed);
  std::vector<uint64_t> out;
  for (size_t i = 0; i < special.size() * special.size(); ++i)
    out.push_back(runtime::encodeFloat(k, special[transposed ? i / special.size() : i % special.size()]));
  unsigned bits = llvm::APFloat::semanticsSizeInBits(ir::FloatType::semantics(k));
  while (out.size() < n) {
    // Half of them near each other in size.
    uint64_t v = random() >> (64 - bits);
    if (random() % 2) v = runtime::encodeFloat(k, std::ldexp(double(int64_t(random())), -62));
    out.push_back(v);
  }
  return out;
}
template <class T> std::vector<T> narrow(const std::vector<uint64_t> &v) { return {v.begin(), v.end()}; }

inline llvm::APFloat value(FloatKind k, uint64_t bits) {
  auto &s = ir::FloatType::semantics(k);
  return llvm::APFloat(s, llvm::APInt(llvm::APFloat::semanticsSizeInBits(s), bits));
}
inline uint64_t pattern(const llvm::APFloat &f) { return f.bitcastToAPInt().getZExtValue(); }

/// Runs %r = TEXT on patterns held in words of the format's size.
inline std::vector<uint64_t> runFloats(const Format &f, llvm::ArrayRef<std::vector<uint64_t>> in,
                                       const std::string &line) {
  size_t n = in[0].size();
  std::vector<std::string> types(in.size(), f.name);
  std::string text =
      elementwiseKernel(n, types, {f.name}, line + " : tensor<" + std::to_string(n) + "x" + f.name + ">");
  auto go = [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::vector<T>> data;
    for (auto &v : in) data.push_back(narrow<T>(v));
    std::vector<T> r(n);
    Evaluation e(text);
    for (auto &v : data) e.buffer(v);
    e.buffer(r).ok();
    return std::vector<uint64_t>(r.begin(), r.end());
  };
  return f.kind == FloatKind::F64 ? go(uint64_t()) : f.kind == FloatKind::F32 ? go(uint32_t()) : go(uint16_t());
}

inline void expectSame(const Format &f, const char *what, uint64_t want, uint64_t got, uint64_t a, uint64_t b) {
  if (value(f.kind, want).isNaN())
    ASSERT_TRUE(value(f.kind, got).isNaN())
        << what << " " << f.name << std::hex << " " << a << " " << b << " gives " << got;
  else
    ASSERT_EQ(want, got) << what << " " << f.name << std::hex << " " << a << " " << b;
}

} // namespace tessera::test
