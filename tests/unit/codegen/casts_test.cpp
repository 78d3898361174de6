// Float conversions by bit manipulation against APFloat: every f16 and bf16, every 8-bit pattern, and several hundred
// thousand f32 and f64 around every rounding boundary of the result, for both rounding modes.
#include "codegen/lowering/lowering.h"
#include "host_execution.h"
#include "ir/type.h"
#include "llvm/IR/IRBuilder.h"
#include <bit>
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {
using ir::FloatKind;
using ir::RoundingMode;
using llvm::APFloat;

const llvm::fltSemantics &semantics(FloatKind k) { return ir::FloatType::semantics(k); }
unsigned bitsOf(FloatKind k) { return APFloat::semanticsSizeInBits(semantics(k)); }
bool isF8(FloatKind k) { return bitsOf(k) == 8; }
bool isFnuz(FloatKind k) {
  return k == FloatKind::F8E4M3FNUZ || k == FloatKind::F8E5M2FNUZ || k == FloatKind::F8E4M3B11FNUZ;
}

llvm::Type *typeOf(llvm::IRBuilder<> &b, FloatKind k) {
  switch (k) {
  case FloatKind::F16: return b.getHalfTy();
  case FloatKind::BF16: return b.getBFloatTy();
  case FloatKind::F32: return b.getFloatTy();
  case FloatKind::F64: return b.getDoubleTy();
  default: return b.getInt8Ty();
  }
}

/// What the conversion is specified to give (codegen/lowering/casts.cpp), from APFloat. NaN is reported as nothing.
std::optional<uint64_t> expected(uint64_t bits, FloatKind from, FloatKind to, RoundingMode mode) {
  APFloat v(semantics(from), llvm::APInt(bitsOf(from), bits));
  if (v.isNaN()) return std::nullopt;
  bool negative = v.isNegative(), infinite = v.isInfinity(), lossy;
  APFloat r = v;
  r.convert(semantics(to), mode == RoundingMode::Rtz ? APFloat::rmTowardZero : APFloat::rmNearestTiesToEven, &lossy);
  if (infinite && to == FloatKind::F8E5M2 && mode == RoundingMode::Rtz) return r.bitcastToAPInt().getZExtValue();
  if (isF8(to) && (infinite || r.isNaN() || r.isInfinity())) r = APFloat::getLargest(semantics(to), negative);
  if (isFnuz(to) && r.isZero()) return 0;
  return r.bitcastToAPInt().getZExtValue();
}

/// void convert(const from *in, to *out, i64 n)
class Converter {
public:
  Converter(FloatKind from, FloatKind to, RoundingMode mode) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("convert", *context);
    llvm::IRBuilder<> b(*context);
    auto *f = llvm::Function::Create(
        llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false),
        llvm::GlobalValue::ExternalLinkage, "convert", *module);
    auto *entry = llvm::BasicBlock::Create(*context, "", f), *loop = llvm::BasicBlock::Create(*context, "", f),
         *end = llvm::BasicBlock::Create(*context, "", f);
    b.SetInsertPoint(entry);
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    auto *i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(b.getInt64(0), entry);
    auto *v = b.CreateLoad(typeOf(b, from), b.CreateGEP(typeOf(b, from), f->getArg(0), i));
    auto *r = codegen::convertFloatBits(b, from, to, mode, v);
    EXPECT_EQ(r->getType(), typeOf(b, to));
    b.CreateStore(r, b.CreateGEP(typeOf(b, to), f->getArg(1), i));
    auto *next = b.CreateAdd(i, b.getInt64(1));
    i->addIncoming(next, loop);
    b.CreateCondBr(b.CreateICmpULT(next, f->getArg(2)), loop, end);
    b.SetInsertPoint(end);
    b.CreateRetVoid();
    program_ = std::make_unique<testing::HostProgram>(std::move(context), std::move(module));
    run_ = (void (*)(const void *, void *, int64_t))program_->lookup("convert");
    EXPECT_TRUE(run_) << program_->error;
  }
  void operator()(const void *in, void *out, int64_t n) { run_(in, out, n); }
  explicit operator bool() const { return run_; }

private:
  std::unique_ptr<testing::HostProgram> program_;
  void (*run_)(const void *, void *, int64_t) = nullptr;
};

template <class In> void checkAll(FloatKind from, FloatKind to, RoundingMode mode, const std::vector<In> &in) {
  Converter convert(from, to, mode);
  ASSERT_TRUE(bool(convert));
  unsigned bytes = bitsOf(to) / 8;
  std::vector<uint8_t> out(in.size() * bytes);
  convert(in.data(), out.data(), in.size());
  unsigned wrong = 0;
  for (size_t i = 0; i < in.size() && wrong < 5; ++i) {
    uint64_t got = 0;
    memcpy(&got, &out[i * bytes], bytes);
    auto want = expected(in[i], from, to, mode);
    bool ok = want ? got == *want : APFloat(semantics(to), llvm::APInt(bitsOf(to), got)).isNaN();
    EXPECT_TRUE(ok) << ir::FloatType::name(from).str() << " 0x" << std::hex << uint64_t(in[i]) << " → "
                    << ir::FloatType::name(to).str() << (mode == RoundingMode::Rtz ? " toward zero" : " to nearest")
                    << ": 0x" << got << ", expected 0x" << want.value_or(0xbad);
    wrong += !ok;
  }
}

constexpr FloatKind kF8[] = {FloatKind::F8E4M3FN, FloatKind::F8E4M3FNUZ, FloatKind::F8E4M3B11FNUZ, FloatKind::F8E5M2,
                             FloatKind::F8E5M2FNUZ};
constexpr RoundingMode kModes[] = {RoundingMode::Rtne, RoundingMode::Rtz};

template <class T> std::vector<T> all() {
  std::vector<T> v(size_t(1) << (8 * sizeof(T)));
  for (size_t i = 0; i < v.size(); ++i) v[i] = T(i);
  return v;
}

/// Patterns of a wide kind on both sides of every value and every halfway point of the narrow one, and random ones.
template <class T, class F> std::vector<T> around(FloatKind narrow) {
  std::vector<T> v;
  std::mt19937_64 random(1);
  std::vector<F> values;
  for (uint64_t p = 0; p < uint64_t(1) << bitsOf(narrow); ++p) {
    APFloat a(semantics(narrow), llvm::APInt(bitsOf(narrow), p));
    if (a.isNaN() || a.isNegative()) continue;
    bool lossy;
    a.convert(sizeof(T) == 4 ? APFloat::IEEEsingle() : APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    values.push_back(sizeof(T) == 4 ? F(a.convertToFloat()) : F(a.convertToDouble()));
  }
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    F mid = values[i] + (values[i + 1] - values[i]) / 2;
    for (F x : {values[i], mid}) {
      T bits = std::bit_cast<T>(x);
      for (int d = -2; d <= 2; ++d) {
        v.push_back(bits + d);
        v.push_back((bits + d) | T(1) << (8 * sizeof(T) - 1));
      }
    }
  }
  for (int i = 0; i < 200000; ++i) v.push_back(T(random()));
  // Random fractions at exponents near the narrow kind's range.
  for (int i = 0; i < 200000; ++i) {
    F x = std::ldexp(F(1) + F(random() >> 12) / F(uint64_t(1) << 52), int(random() % 60) - 30);
    v.push_back(std::bit_cast<T>(random() & 1 ? -x : x));
  }
  for (T special :
       {T(0), T(1), T(sizeof(T) == 4 ? 0x7f800000u : 0x7ff0000000000000u),
        T(sizeof(T) == 4 ? 0x7f800001u : 0x7ff0000000000001u), T(sizeof(T) == 4 ? 0x7f7fffffu : 0x7fefffffffffffffu)}) {
    v.push_back(special);
    v.push_back(special | T(1) << (8 * sizeof(T) - 1));
  }
  return v;
}

TEST(Casts, F16AndBf16ToF8AreExact) {
  for (auto from : {FloatKind::F16, FloatKind::BF16})
    for (auto to : kF8)
      for (auto mode : kModes) checkAll(from, to, mode, all<uint16_t>());
}

TEST(Casts, F8ToEverythingIsExact) {
  for (auto from : kF8)
    for (auto to : {FloatKind::F16, FloatKind::BF16, FloatKind::F32, FloatKind::F64})
      checkAll(from, to, RoundingMode::Rtne, all<uint8_t>());
}

TEST(Casts, F8ToF8) {
  for (auto from : kF8)
    for (auto to : kF8)
      if (from != to) checkAll(from, to, RoundingMode::Rtne, all<uint8_t>());
}

TEST(Casts, F32ToF8) {
  for (auto to : kF8)
    for (auto mode : kModes) checkAll(FloatKind::F32, to, mode, around<uint32_t, float>(to));
}

TEST(Casts, F64ToF8RoundsOnce) {
  for (auto to : kF8)
    for (auto mode : kModes) checkAll(FloatKind::F64, to, mode, around<uint64_t, double>(to));
}

TEST(Casts, TowardZero) {
  for (auto to : {FloatKind::F16, FloatKind::BF16}) {
    checkAll(FloatKind::F32, to, RoundingMode::Rtz, around<uint32_t, float>(to));
    checkAll(FloatKind::F64, to, RoundingMode::Rtz, around<uint64_t, double>(to));
  }
  checkAll(FloatKind::F64, FloatKind::F32, RoundingMode::Rtz, around<uint64_t, double>(FloatKind::BF16));
  checkAll(FloatKind::BF16, FloatKind::F16, RoundingMode::Rtz, all<uint16_t>());
  checkAll(FloatKind::F16, FloatKind::BF16, RoundingMode::Rtz, all<uint16_t>());
}

} // namespace
} // namespace tessera
