// Scalar instructions: SOP1, SOP2, SOPK, SOPC and SOPP (ISA guides, "SOP… instructions"). Operations on 64 bits read
// and write pairs of SGPRs.
#include "runtime/code_object/decoder.h"
#include "runtime/code_object/rows.h"
#include <algorithm>
#include <cmath>

namespace tessera::code_object {

namespace {

// ---- operations from functions of their operands ----

/// What becomes of SCC.
enum class SccRule : uint8_t { Kept, NotZero };

template <class D, class A, class F, SccRule R> void scalar1(Wave &w, const Step &s) {
  auto r = D(F{}(A(readScalar(w, s[1], 8 * sizeof(A)))));
  writeScalar(w, s[0], uint64_t(std::make_unsigned_t<D>(r)), 8 * sizeof(D));
  if (R == SccRule::NotZero) w.scc = r != 0;
}
template <class D, class A, class B, class F, SccRule R> void scalar2(Wave &w, const Step &s) {
  auto r = D(F{}(A(readScalar(w, s[1], 8 * sizeof(A))), B(readScalar(w, s[2], 8 * sizeof(B)))));
  writeScalar(w, s[0], uint64_t(std::make_unsigned_t<D>(r)), 8 * sizeof(D));
  if (R == SccRule::NotZero) w.scc = r != 0;
}
template <class T> constexpr Type kBits = sizeof(T) == 8 ? Type::B64 : Type::B32;
template <class D, class A, SccRule R = SccRule::Kept, class F> Semantic op1(const char *name, F) {
  return special(name, scalar1<D, A, F, R>, kBits<D>, {kBits<A>});
}
template <class D, class A, class B, SccRule R = SccRule::NotZero, class F> Semantic op2(const char *name, F) {
  return special(name, scalar2<D, A, B, F, R>, kBits<D>, {kBits<A>, kBits<B>});
}
template <class T, SccRule R = SccRule::NotZero, class F> Semantic op2(const char *name, F f) {
  return op2<T, T, T, R>(name, f);
}

/// SCC from the function: (a, b, scc in and out) → result.
template <class T, class F> void scalarCarry(Wave &w, const Step &s) {
  bool scc = w.scc;
  T r = F{}(T(readScalar(w, s[1], 8 * sizeof(T))), T(readScalar(w, s[2], 8 * sizeof(T))), scc);
  writeScalar(w, s[0], uint64_t(std::make_unsigned_t<T>(r)), 8 * sizeof(T));
  w.scc = scc;
}
template <class T, class F> Semantic opCarry(const char *name, F) {
  return special(name, scalarCarry<T, F>, kBits<T>, {kBits<T>, kBits<T>});
}

template <class T, class F> void scalarCompare(Wave &w, const Step &s) {
  w.scc = F{}(T(readScalar(w, s[0], 8 * sizeof(T))), T(readScalar(w, s[1], 8 * sizeof(T))));
}
template <class T, class F> Semantic compare(const char *name, F) {
  return special(name, scalarCompare<T, F>, Type::None, {kBits<T>, kBits<T>});
}

// ---- floats of gfx11.5 and gfx12 ----

template <class F> void scalarFloat2(Wave &w, const Step &s) {
  float a = asFloat(uint32_t(readScalar(w, s[1], 32))), b = asFloat(uint32_t(readScalar(w, s[2], 32)));
  writeScalar(w, s[0], asBits(F{}(a, b)), 32);
}
template <class F> Semantic float2(const char *name, F) {
  return special(name, scalarFloat2<F>, Type::F32, {Type::F32, Type::F32});
}
template <class F> void scalarFloatCompare(Wave &w, const Step &s) {
  w.scc = F{}(asFloat(uint32_t(readScalar(w, s[0], 32))), asFloat(uint32_t(readScalar(w, s[1], 32))));
}
template <class F> Semantic floatCompare(const char *name, F) {
  return special(name, scalarFloatCompare<F>, Type::None, {Type::F32, Type::F32});
}
void scalarFma(Wave &w, const Step &s) {
  float a = asFloat(uint32_t(readScalar(w, s[1], 32))), b = asFloat(uint32_t(readScalar(w, s[2], 32))),
        c = asFloat(uint32_t(readScalar(w, s[3], 32)));
  writeScalar(w, s[0], asBits(std::fma(a, b, c)), 32);
}
template <class D, class A, class F> void scalarConvert(Wave &w, const Step &s) {
  auto a = std::bit_cast<A>(uint32_t(readScalar(w, s[1], 32)));
  writeScalar(w, s[0], std::bit_cast<uint32_t>(D(F{}(a))), 32);
}
template <class D, class A, class F> Semantic convert(const char *name, F) {
  return special(name, scalarConvert<D, A, F>, Type::F32, {Type::F32});
}
/// v_s_exp_f32 and others of gfx12: a transcendental of a scalar.
template <class F> Semantic onScalar(const char *name, F) {
  return special(name, scalarConvert<float, float, F>, Type::F32, {Type::F32});
}
int32_t floatToInt(float x) { return x != x ? 0 : x <= -0x1p31f ? INT32_MIN : x >= 0x1p31f ? INT32_MAX : int32_t(x); }
uint32_t floatToUnsigned(float x) { return x != x || x <= 0 ? 0 : x >= 0x1p32f ? ~0u : uint32_t(x); }

// ---- EXEC ----

template <class F> void saveExec(Wave &w, const Step &s) {
  unsigned bits = w.lanes == 64 ? 64 : 32;
  uint64_t source = readScalar(w, s[1], bits), exec = w.exec(), mask = w.allLanes();
  uint64_t next = F{}(source, exec) & mask;
  writeScalar(w, s[0], exec, bits);
  w.setPair(kExecLo, next);
  w.scc = next != 0;
}
template <class F> void addSaveExec(std::vector<Semantic> &t, const char *name, F) {
  for (const char *suffix : {"_saveexec_b64", "_saveexec_b32"}) {
    std::string full = std::string("s_") + name + suffix;
    Type type = full.back() == '4' ? Type::B64 : Type::B32;
    t.push_back(special(full.c_str(), saveExec<F>, type, {type}));
  }
}
/// s_andn1_wrexec_b64 and others: the result goes to the destination and to EXEC.
template <class F> void writeExec(Wave &w, const Step &s) {
  unsigned bits = w.lanes == 64 ? 64 : 32;
  uint64_t next = F{}(readScalar(w, s[1], bits), w.exec()) & w.allLanes();
  writeScalar(w, s[0], next, bits);
  w.setPair(kExecLo, next);
  w.scc = next != 0;
}

// ---- control ----

void nothing(Wave &, const Step &) {}
void endProgram(Wave &w, const Step &) { w.state = Wave::State::Ended; }
void barrier(Wave &w, const Step &) {
  w.state = Wave::State::AtBarrier;
  ++w.barriers;
}
void trap(Wave &w, const Step &) { w.fail("the code has come to a trap"); }

void jump(Wave &w, const Step &s) {
  if (s.target == kNoInstruction) return w.fail("the branch leaves the kernel's code");
  w.pc = s.target;
}
template <class F> void branchIf(Wave &w, const Step &s) {
  if (F{}(w)) jump(w, s);
}
template <class F> Semantic branch(const char *name, F) { return special(name, branchIf<F>); }

uint64_t nextAddress(const Step &s) { return kCodeBase + s.address + s.bytes; }
void getPc(Wave &w, const Step &s) { writeScalar(w, s[0], nextAddress(s), 64); }
void jumpTo(Wave &w, uint64_t address) {
  const auto &steps = w.program->instructions;
  auto at = std::lower_bound(steps.begin(), steps.end(), address - kCodeBase,
                             [](const Instruction &i, uint64_t a) { return i.address < a; });
  if (at == steps.end() || at->address != address - kCodeBase) return w.fail("the jump leaves the kernel's code");
  w.pc = uint32_t(at - steps.begin());
}
void setPc(Wave &w, const Step &s) { jumpTo(w, readScalar(w, s[0], 64)); }
void swapPc(Wave &w, const Step &s) {
  uint64_t to = readScalar(w, s[1], 64);
  writeScalar(w, s[0], nextAddress(s), 64);
  jumpTo(w, to);
}
void call(Wave &w, const Step &s) {
  writeScalar(w, s[0], nextAddress(s), 64);
  jump(w, s);
}

// ---- MODE and other hardware registers ----

/// MODE's bits 7:4 (ISA guides, "Mode register"): 5:4 f32, 7:6 f16 and f64; bit 0: inputs, bit 1: results are kept.
void applyMode(Wave &w) {
  w.mode.flush32 = (w.modeRegister >> 4 & 3) != 3;
  w.mode.flush16 = (w.modeRegister >> 6 & 3) != 3;
  if (w.modeRegister & 15) w.fail("rounding modes other than to nearest are not known to this model yet");
}
/// gfx12 calls it WAVE_MODE.
bool isMode(const Modifiers &m) { return m.hwregName == "HW_REG_MODE" || m.hwregName == "HW_REG_WAVE_MODE"; }
void setRegister(Wave &w, const Step &s) {
  const Modifiers &m = *s.modifiers;
  if (!isMode(m)) return; // nothing of the others changes what is computed
  auto value = uint32_t(readScalar(w, s[1], 32));
  uint32_t mask = (m.hwregSize >= 32 ? ~0u : (1u << m.hwregSize) - 1) << m.hwregOffset;
  w.modeRegister = (w.modeRegister & ~mask) | (value << m.hwregOffset & mask);
  applyMode(w);
}
void getRegister(Wave &w, const Step &s) {
  const Modifiers &m = *s.modifiers;
  uint32_t value = isMode(m) ? w.modeRegister : 0;
  uint32_t mask = m.hwregSize >= 32 ? ~0u : (1u << m.hwregSize) - 1;
  writeScalar(w, s[0], value >> m.hwregOffset & mask, 32);
}
void denormalMode(Wave &w, const Step &s) {
  w.modeRegister = (w.modeRegister & ~0xf0u) | (uint32_t(s.immediate) & 15) << 4;
  applyMode(w);
}
void roundMode(Wave &w, const Step &s) {
  w.modeRegister = (w.modeRegister & ~15u) | (uint32_t(s.immediate) & 15);
  applyMode(w);
}

// ---- VGPR indexing of gfx9: which operands are indexed is in M0[15:12], the index in M0[7:0] ----

void indexOn(Wave &w, const Step &s) {
  // SIMM4 is the second operand, printed as gpr_idx(SRC0,DST): it is taken from the code.
  w.scalars[kM0] = (uint32_t(readScalar(w, s[0], 32)) & 0xff) | s.modifiers->indexMode << 12;
  w.indexesVectors = true;
}
void indexOff(Wave &w, const Step &) { w.indexesVectors = false; }
void indexSet(Wave &w, const Step &s) {
  w.scalars[kM0] = (w.scalars[kM0] & ~0xffu) | (uint32_t(readScalar(w, s[0], 32)) & 0xff);
}
void indexMode(Wave &w, const Step &s) { w.scalars[kM0] = (w.scalars[kM0] & ~0xf000u) | s.modifiers->indexMode << 12; }

// ---- tables ----

void addMoves(std::vector<Semantic> &t) {
  auto same = [](auto a) { return a; };
  auto invert = [](auto a) { return ~a; };
  using u32 = uint32_t;
  using u64 = uint64_t;
  constexpr SccRule kSets = SccRule::NotZero;
  auto quads = [](auto a) {
    decltype(a) out = 0;
    for (unsigned k = 0; k < 8 * sizeof(a); k += 4)
      if (a >> k & 15) out |= decltype(a)(15) << k;
    return out;
  };
  t.insert(t.end(),
           {
               op1<u32, u32>("s_mov_b32", same),
               op1<u64, u64>("s_mov_b64", same),
               op1<u32, u32, kSets>("s_not_b32", invert),
               op1<u64, u64, kSets>("s_not_b64", invert),
               op1<u32, u32, kSets>("s_wqm_b32", quads),
               op1<u64, u64, kSets>("s_wqm_b64", quads),
               op1<u32, u32>("s_brev_b32", [](u32 a) { return __builtin_bitreverse32(a); }),
               op1<u64, u64>("s_brev_b64", [](u64 a) { return __builtin_bitreverse64(a); }),
               op1<u32, u32, kSets>("s_bcnt0_i32_b32", [](u32 a) { return 32 - std::popcount(a); }),
               op1<u32, u64, kSets>("s_bcnt0_i32_b64", [](u64 a) { return 64 - std::popcount(a); }),
               op1<u32, u32, kSets>("s_bcnt1_i32_b32", [](u32 a) { return std::popcount(a); }),
               op1<u32, u64, kSets>("s_bcnt1_i32_b64", [](u64 a) { return std::popcount(a); }),
               op1<u32, u32>("s_ff1_i32_b32", [](u32 a) { return a ? std::countr_zero(a) : -1; }),
               op1<u32, u64>("s_ff1_i32_b64", [](u64 a) { return a ? std::countr_zero(a) : -1; }),
               op1<u32, u32>("s_ctz_i32_b32", [](u32 a) { return a ? std::countr_zero(a) : -1; }),
               op1<u32, u64>("s_ctz_i32_b64", [](u64 a) { return a ? std::countr_zero(a) : -1; }),
               op1<u32, u32>("s_ff0_i32_b32", [](u32 a) { return ~a ? std::countr_one(a) : -1; }),
               op1<u32, u64>("s_ff0_i32_b64", [](u64 a) { return ~a ? std::countr_one(a) : -1; }),
               op1<u32, u32>("s_flbit_i32_b32", [](u32 a) { return a ? std::countl_zero(a) : -1; }),
               op1<u32, u64>("s_flbit_i32_b64", [](u64 a) { return a ? std::countl_zero(a) : -1; }),
               op1<u32, u32>("s_clz_i32_u32", [](u32 a) { return a ? std::countl_zero(a) : -1; }),
               op1<u32, u64>("s_clz_i32_u64", [](u64 a) { return a ? std::countl_zero(a) : -1; }),
               op1<u32, u32>("s_flbit_i32",
                             [](u32 a) {
                               u32 x = int32_t(a) < 0 ? ~a : a;
                               return x ? std::countl_zero(x) : -1;
                             }),
               op1<u32, u32>("s_cls_i32",
                             [](u32 a) {
                               u32 x = int32_t(a) < 0 ? ~a : a;
                               return x ? std::countl_zero(x) : -1;
                             }),
               op1<int32_t, u32>("s_sext_i32_i8", [](u32 a) { return int8_t(a); }),
               op1<int32_t, u32>("s_sext_i32_i16", [](u32 a) { return int16_t(a); }),
               op1<int32_t, int32_t, kSets>("s_abs_i32", [](int32_t a) { return a < 0 ? int32_t(0u - u32(a)) : a; }),
           });
}

void addLogic(std::vector<Semantic> &t) {
  using u32 = uint32_t;
  using u64 = uint64_t;
  auto both = [&](const char *name, auto f) {
    t.push_back(op2<u32>((std::string(name) + "_b32").c_str(), f));
    t.push_back(op2<u64>((std::string(name) + "_b64").c_str(), f));
  };
  both("s_and", [](auto a, auto b) { return a & b; });
  both("s_or", [](auto a, auto b) { return a | b; });
  both("s_xor", [](auto a, auto b) { return a ^ b; });
  for (const char *n : {"s_andn2", "s_and_not1"}) both(n, [](auto a, auto b) { return a & ~b; });
  for (const char *n : {"s_orn2", "s_or_not1"}) both(n, [](auto a, auto b) { return a | ~b; });
  both("s_nand", [](auto a, auto b) { return ~(a & b); });
  both("s_nor", [](auto a, auto b) { return ~(a | b); });
  both("s_xnor", [](auto a, auto b) { return ~(a ^ b); });
  t.insert(
      t.end(),
      {
          op2<u32>("s_lshl_b32", [](u32 a, u32 b) { return a << (b & 31); }),
          op2<u64, u64, u32>("s_lshl_b64", [](u64 a, u32 b) { return a << (b & 63); }),
          op2<u32>("s_lshr_b32", [](u32 a, u32 b) { return a >> (b & 31); }),
          op2<u64, u64, u32>("s_lshr_b64", [](u64 a, u32 b) { return a >> (b & 63); }),
          op2<int32_t, int32_t, u32>("s_ashr_i32", [](int32_t a, u32 b) { return a >> (b & 31); }),
          op2<int64_t, int64_t, u32>("s_ashr_i64", [](int64_t a, u32 b) { return a >> (b & 63); }),
          op2<u32, u32, u32, SccRule::Kept>("s_bfm_b32",
                                            [](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
          op2<u64, u32, u32, SccRule::Kept>("s_bfm_b64",
                                            [](u32 a, u32 b) { return ((u64(1) << (a & 63)) - 1) << (b & 63); }),
          op2<u32>("s_bfe_u32",
                   [](u32 a, u32 b) {
                     u32 at = b & 31, width = std::min(b >> 16 & 127, 32u);
                     return width == 32 ? a >> at : a >> at & ((1u << width) - 1);
                   }),
          op2<int32_t, int32_t, u32>("s_bfe_i32",
                                     [](int32_t a, u32 b) {
                                       u32 at = b & 31, width = std::min(b >> 16 & 127, 32 - at);
                                       return width ? int32_t(u32(a) << (32 - at - width)) >> (32 - width) : 0;
                                     }),
          op2<u64, u64, u32>("s_bfe_u64",
                             [](u64 a, u32 b) {
                               u32 at = b & 63, width = std::min(b >> 16 & 127, 64u);
                               return width == 64 ? a >> at : a >> at & ((u64(1) << width) - 1);
                             }),
          op2<int64_t, int64_t, u32>("s_bfe_i64",
                                     [](int64_t a, u32 b) {
                                       u32 at = b & 63, width = std::min(b >> 16 & 127, 64 - at);
                                       return width ? int64_t(u64(a) << (64 - at - width)) >> (64 - width) : 0;
                                     }),
          op2<u32, u32, u32, SccRule::Kept>("s_pack_ll_b32_b16", [](u32 a, u32 b) { return (a & 0xffff) | b << 16; }),
          op2<u32, u32, u32, SccRule::Kept>("s_pack_lh_b32_b16",
                                            [](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }),
          op2<u32, u32, u32, SccRule::Kept>("s_pack_hh_b32_b16",
                                            [](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); }),
          op2<u32, u32, u32, SccRule::Kept>("s_pack_hl_b32_b16", [](u32 a, u32 b) { return a >> 16 | b << 16; }),
      });
}

void addArithmetic(std::vector<Semantic> &t) {
  using u32 = uint32_t;
  using u64 = uint64_t;
  using i32 = int32_t;
  auto addU = [](u32 a, u32 b, bool &scc) { return scc = a + b < a, a + b; };
  auto subU = [](u32 a, u32 b, bool &scc) { return scc = b > a, a - b; };
  auto addI = [](i32 a, i32 b, bool &scc) {
    i32 r;
    scc = __builtin_add_overflow(a, b, &r);
    return r;
  };
  auto subI = [](i32 a, i32 b, bool &scc) {
    i32 r;
    scc = __builtin_sub_overflow(a, b, &r);
    return r;
  };
  for (const char *n : {"s_add_u32", "s_add_co_u32"}) t.push_back(opCarry<u32>(n, addU));
  for (const char *n : {"s_sub_u32", "s_sub_co_u32"}) t.push_back(opCarry<u32>(n, subU));
  for (const char *n : {"s_add_i32", "s_add_co_i32"}) t.push_back(opCarry<i32>(n, addI));
  for (const char *n : {"s_sub_i32", "s_sub_co_i32"}) t.push_back(opCarry<i32>(n, subI));
  for (const char *n : {"s_addc_u32", "s_add_co_ci_u32"})
    t.push_back(opCarry<u32>(n, [](u32 a, u32 b, bool &scc) {
      u64 r = u64(a) + b + scc;
      return scc = r >> 32, u32(r);
    }));
  for (const char *n : {"s_subb_u32", "s_sub_co_ci_u32"})
    t.push_back(opCarry<u32>(n, [](u32 a, u32 b, bool &scc) {
      u64 r = u64(a) - b - scc;
      return scc = r >> 32 & 1, u32(r);
    }));
  auto shifted = [](auto by) {
    return [](u32 a, u32 b, bool &scc) {
      u64 r = (u64(a) << decltype(by)::value) + b;
      return scc = r >> 32, u32(r);
    };
  };
  t.insert(t.end(),
           {
               opCarry<u32>("s_lshl1_add_u32", shifted(std::integral_constant<unsigned, 1>())),
               opCarry<u32>("s_lshl2_add_u32", shifted(std::integral_constant<unsigned, 2>())),
               opCarry<u32>("s_lshl3_add_u32", shifted(std::integral_constant<unsigned, 3>())),
               opCarry<u32>("s_lshl4_add_u32", shifted(std::integral_constant<unsigned, 4>())),
               opCarry<i32>("s_min_i32", [](i32 a, i32 b, bool &scc) { return scc = a < b, std::min(a, b); }),
               opCarry<i32>("s_max_i32", [](i32 a, i32 b, bool &scc) { return scc = a > b, std::max(a, b); }),
               opCarry<u32>("s_min_u32", [](u32 a, u32 b, bool &scc) { return scc = a < b, std::min(a, b); }),
               opCarry<u32>("s_max_u32", [](u32 a, u32 b, bool &scc) { return scc = a > b, std::max(a, b); }),
               opCarry<i32>("s_absdiff_i32",
                            [](i32 a, i32 b, bool &scc) {
                              i32 r = i32(u32(a) - u32(b));
                              r = r < 0 ? i32(0u - u32(r)) : r;
                              return scc = r != 0, r;
                            }),
               op2<u32, u32, u32, SccRule::Kept>("s_mul_i32", [](u32 a, u32 b) { return a * b; }),
               op2<u32, u32, u32, SccRule::Kept>("s_mul_hi_u32", [](u32 a, u32 b) { return u64(a) * b >> 32; }),
               op2<i32, i32, i32, SccRule::Kept>("s_mul_hi_i32", [](i32 a, i32 b) { return int64_t(a) * b >> 32; }),
               op2<u64, u64, u64, SccRule::Kept>("s_add_nc_u64", [](u64 a, u64 b) { return a + b; }),
               op2<u64, u64, u64, SccRule::Kept>("s_sub_nc_u64", [](u64 a, u64 b) { return a - b; }),
               op2<u64, u64, u64, SccRule::Kept>("s_add_u64", [](u64 a, u64 b) { return a + b; }),
               op2<u64, u64, u64, SccRule::Kept>("s_sub_u64", [](u64 a, u64 b) { return a - b; }),
               op2<u64, u64, u64, SccRule::Kept>("s_mul_u64", [](u64 a, u64 b) { return a * b; }),
               special("s_cselect_b32",
                       [](Wave &w, const Step &s) { writeScalar(w, s[0], readScalar(w, w.scc ? s[1] : s[2], 32), 32); },
                       Type::B32, {Type::B32, Type::B32}),
               special("s_cselect_b64",
                       [](Wave &w, const Step &s) { writeScalar(w, s[0], readScalar(w, w.scc ? s[1] : s[2], 64), 64); },
                       Type::B64, {Type::B64, Type::B64}),
               special("s_cmov_b32",
                       [](Wave &w, const Step &s) {
                         if (w.scc) writeScalar(w, s[0], readScalar(w, s[1], 32), 32);
                       },
                       Type::B32, {Type::B32}),
               special("s_cmov_b64",
                       [](Wave &w, const Step &s) {
                         if (w.scc) writeScalar(w, s[0], readScalar(w, s[1], 64), 64);
                       },
                       Type::B64, {Type::B64}),
           });
}

/// SOPK: the constant is SIMM16, sign-extended or not.
void addConstants(std::vector<Semantic> &t) {
  t.insert(t.end(), {
                        special(
                            "s_movk_i32",
                            [](Wave &w, const Step &s) { writeScalar(w, s[0], uint32_t(s.immediate), 32); }, Type::B32),
                        special(
                            "s_cmovk_i32",
                            [](Wave &w, const Step &s) {
                              if (w.scc) writeScalar(w, s[0], uint32_t(s.immediate), 32);
                            },
                            Type::B32),
                        special(
                            "s_mulk_i32",
                            [](Wave &w, const Step &s) {
                              writeScalar(w, s[0], uint32_t(readScalar(w, s[0], 32)) * uint32_t(s.immediate), 32);
                            },
                            Type::B32),
                        special("s_version", nothing),
                    });
  for (const char *n : {"s_addk_i32", "s_addk_co_i32"})
    t.push_back(special(
        n,
        [](Wave &w, const Step &s) {
          int32_t r;
          w.scc = __builtin_add_overflow(int32_t(readScalar(w, s[0], 32)), s.immediate, &r);
          writeScalar(w, s[0], uint32_t(r), 32);
        },
        Type::B32));
}

template <class T, class F> void addCompareK(std::vector<Semantic> &t, const char *name, F) {
  t.push_back(special(name, [](Wave &w, const Step &s) {
    T k = std::is_signed_v<T> ? T(s.immediate) : T(uint16_t(s.immediate));
    w.scc = F{}(T(readScalar(w, s[0], 32)), k);
  }));
}
void addCompares(std::vector<Semantic> &t) {
  auto all = [&](const char *op, auto f) {
    std::string o = op;
    t.push_back(compare<int32_t>(("s_cmp_" + o + "_i32").c_str(), f));
    t.push_back(compare<uint32_t>(("s_cmp_" + o + "_u32").c_str(), f));
    t.push_back(compare<uint64_t>(("s_cmp_" + o + "_u64").c_str(), f));
    addCompareK<int32_t>(t, ("s_cmpk_" + o + "_i32").c_str(), f);
    addCompareK<uint32_t>(t, ("s_cmpk_" + o + "_u32").c_str(), f);
    t.push_back(floatCompare(("s_cmp_" + o + "_f32").c_str(), f));
  };
  all("eq", [](auto a, auto b) { return a == b; });
  all("lg", [](auto a, auto b) { return a != b; });
  all("gt", [](auto a, auto b) { return a > b; });
  all("ge", [](auto a, auto b) { return a >= b; });
  all("lt", [](auto a, auto b) { return a < b; });
  all("le", [](auto a, auto b) { return a <= b; });
  t.insert(t.end(),
           {
               floatCompare("s_cmp_lg_f32", [](float a, float b) { return a < b || a > b; }),
               floatCompare("s_cmp_nge_f32", [](float a, float b) { return !(a >= b); }),
               floatCompare("s_cmp_nlg_f32", [](float a, float b) { return !(a < b || a > b); }),
               floatCompare("s_cmp_ngt_f32", [](float a, float b) { return !(a > b); }),
               floatCompare("s_cmp_nle_f32", [](float a, float b) { return !(a <= b); }),
               floatCompare("s_cmp_neq_f32", [](float a, float b) { return a != b; }),
               floatCompare("s_cmp_nlt_f32", [](float a, float b) { return !(a < b); }),
               floatCompare("s_cmp_o_f32", [](float a, float b) { return a == a && b == b; }),
               floatCompare("s_cmp_u_f32", [](float a, float b) { return a != a || b != b; }),
               compare<uint32_t>("s_bitcmp0_b32", [](uint32_t a, uint32_t b) { return !(a >> (b & 31) & 1); }),
               compare<uint32_t>("s_bitcmp1_b32", [](uint32_t a, uint32_t b) { return a >> (b & 31) & 1; }),
               compare<uint64_t>("s_bitcmp0_b64", [](uint64_t a, uint64_t b) { return !(a >> (b & 63) & 1); }),
               compare<uint64_t>("s_bitcmp1_b64", [](uint64_t a, uint64_t b) { return a >> (b & 63) & 1; }),
               special("s_bitset0_b32",
                       [](Wave &w, const Step &s) {
                         writeScalar(w, s[0], readScalar(w, s[0], 32) & ~(1u << (readScalar(w, s[1], 32) & 31)), 32);
                       },
                       Type::B32, {Type::B32}),
               special("s_bitset1_b32",
                       [](Wave &w, const Step &s) {
                         writeScalar(w, s[0], readScalar(w, s[0], 32) | 1u << (readScalar(w, s[1], 32) & 31), 32);
                       },
                       Type::B32, {Type::B32}),
               special("s_bitset0_b64",
                       [](Wave &w, const Step &s) {
                         writeScalar(w, s[0],
                                     readScalar(w, s[0], 64) & ~(uint64_t(1) << (readScalar(w, s[1], 32) & 63)), 64);
                       },
                       Type::B64, {Type::B32}),
               special("s_bitset1_b64",
                       [](Wave &w, const Step &s) {
                         writeScalar(w, s[0], readScalar(w, s[0], 64) | uint64_t(1) << (readScalar(w, s[1], 32) & 63),
                                     64);
                       },
                       Type::B64, {Type::B32}),
           });
}

void addFloats(std::vector<Semantic> &t) {
  t.insert(t.end(),
           {
               float2("s_add_f32", [](float a, float b) { return a + b; }),
               float2("s_sub_f32", [](float a, float b) { return a - b; }),
               float2("s_mul_f32", [](float a, float b) { return a * b; }),
               float2("s_min_f32", [](float a, float b) { return minimumNumber(a, b); }),
               float2("s_max_f32", [](float a, float b) { return maximumNumber(a, b); }),
               float2("s_min_num_f32", [](float a, float b) { return minimumNumber(a, b); }),
               float2("s_max_num_f32", [](float a, float b) { return maximumNumber(a, b); }),
               convert<float, int32_t>("s_cvt_f32_i32", [](int32_t a) { return float(a); }),
               convert<float, uint32_t>("s_cvt_f32_u32", [](uint32_t a) { return float(a); }),
               convert<int32_t, float>("s_cvt_i32_f32", [](auto... x) { return floatToInt(x...); }),
               convert<uint32_t, float>("s_cvt_u32_f32", [](auto... x) { return floatToUnsigned(x...); }),
               convert<float, float>("s_floor_f32", [](float a) { return std::floor(a); }),
               convert<float, float>("s_ceil_f32", [](float a) { return std::ceil(a); }),
               convert<float, float>("s_trunc_f32", [](float a) { return std::trunc(a); }),
               convert<float, float>("s_rndne_f32", [](float a) { return std::nearbyint(a); }),
               convert<uint32_t, float>("s_cvt_f16_f32", [](float a) { return uint32_t(runtime::encodeHalf(a)); }),
               convert<float, uint32_t>("s_cvt_f32_f16", [](uint32_t a) { return runtime::decodeHalf(uint16_t(a)); }),
               special("s_fmaak_f32", scalarFma, Type::F32, {Type::F32, Type::F32, Type::F32}),
               special("s_fmamk_f32", scalarFma, Type::F32, {Type::F32, Type::F32, Type::F32}),
               accumulating(special("s_fmac_f32", scalarFma, Type::F32, {Type::F32, Type::F32, Type::F32})),
               onScalar("v_s_exp_f32", [](float a) { return std::exp2(a); }),
               onScalar("v_s_log_f32", [](float a) { return std::log2(a); }),
               onScalar("v_s_rcp_f32", [](float a) { return 1 / a; }),
               onScalar("v_s_rsq_f32", [](float a) { return 1 / std::sqrt(a); }),
               onScalar("v_s_sqrt_f32", [](float a) { return std::sqrt(a); }),
           });
}

void addExec(std::vector<Semantic> &t) {
  addSaveExec(t, "and", [](uint64_t s, uint64_t e) { return s & e; });
  addSaveExec(t, "or", [](uint64_t s, uint64_t e) { return s | e; });
  addSaveExec(t, "xor", [](uint64_t s, uint64_t e) { return s ^ e; });
  for (const char *n : {"andn2", "and_not1"}) addSaveExec(t, n, [](uint64_t s, uint64_t e) { return s & ~e; });
  for (const char *n : {"andn1", "and_not0"}) addSaveExec(t, n, [](uint64_t s, uint64_t e) { return ~s & e; });
  for (const char *n : {"orn2", "or_not1"}) addSaveExec(t, n, [](uint64_t s, uint64_t e) { return s | ~e; });
  for (const char *n : {"orn1", "or_not0"}) addSaveExec(t, n, [](uint64_t s, uint64_t e) { return ~s | e; });
  addSaveExec(t, "nand", [](uint64_t s, uint64_t e) { return ~(s & e); });
  addSaveExec(t, "nor", [](uint64_t s, uint64_t e) { return ~(s | e); });
  addSaveExec(t, "xnor", [](uint64_t s, uint64_t e) { return ~(s ^ e); });
  auto andNot0 = [](uint64_t s, uint64_t e) { return ~s & e; };
  auto andNot1 = [](uint64_t s, uint64_t e) { return s & ~e; };
  for (const char *n : {"s_andn1_wrexec_b64", "s_and_not0_wrexec_b64", "s_and_not0_wrexec_b32"})
    t.push_back(special(n, writeExec<decltype(andNot0)>, Type::B64, {Type::B64}));
  for (const char *n : {"s_andn2_wrexec_b64", "s_and_not1_wrexec_b64", "s_and_not1_wrexec_b32"})
    t.push_back(special(n, writeExec<decltype(andNot1)>, Type::B64, {Type::B64}));
}

void addControl(std::vector<Semantic> &t) {
  for (const char *n : {"s_nop",
                        "s_sleep",
                        "s_setprio",
                        "s_delay_alu",
                        "s_clause",
                        "s_sendmsg",
                        "s_sethalt",
                        "s_icache_inv",
                        "s_inst_prefetch",
                        "s_set_inst_prefetch_distance",
                        "s_ttracedata",
                        "s_ttracedata_imm",
                        "s_singleuse_vdst",
                        "s_dcache_inv",
                        "s_dcache_wb",
                        "s_dcache_wb_vol",
                        "s_dcache_inv_vol",
                        "s_gl1_inv",
                        "s_code_end",
                        "s_prefetch_inst",
                        "s_prefetch_inst_pc_rel",
                        "s_prefetch_data",
                        "s_incperflevel",
                        "s_decperflevel",
                        "s_barrier_signal",
                        "s_setkill",
                        "s_nop_0"})
    t.push_back(special(n, nothing));
  for (const char *n : waitInstructions()) t.push_back(special(n, nothing));
  for (const char *n : {"s_endpgm", "s_endpgm_saved"}) t.push_back(special(n, endProgram));
  for (const char *n : {"s_barrier", "s_barrier_wait"}) t.push_back(special(n, barrier));
  t.insert(t.end(), {
                        special("s_trap", trap),
                        special("s_branch", jump),
                        special("s_call_b64", call, Type::B64),
                        branch("s_cbranch_scc0", [](Wave &w) { return !w.scc; }),
                        branch("s_cbranch_scc1", [](Wave &w) { return w.scc; }),
                        branch("s_cbranch_vccz", [](Wave &w) { return (w.vcc() & w.allLanes()) == 0; }),
                        branch("s_cbranch_vccnz", [](Wave &w) { return (w.vcc() & w.allLanes()) != 0; }),
                        branch("s_cbranch_execz", [](Wave &w) { return w.exec() == 0; }),
                        branch("s_cbranch_execnz", [](Wave &w) { return w.exec() != 0; }),
                        special("s_getpc_b64", getPc, Type::B64),
                        special("s_setpc_b64", setPc, Type::None, {Type::B64}),
                        special("s_swappc_b64", swapPc, Type::B64, {Type::B64}),
                        special("s_setreg_b32", setRegister),
                        special("s_setreg_imm32_b32", setRegister),
                        special("s_getreg_b32", getRegister, Type::B32),
                        special("s_set_gpr_idx_on", indexOn, Type::None, {Type::B32}),
                        special("s_set_gpr_idx_off", indexOff),
                        special("s_set_gpr_idx_idx", indexSet, Type::None, {Type::B32}),
                        special("s_set_gpr_idx_mode", indexMode),
                        special("s_denorm_mode", denormalMode),
                        special("s_round_mode", roundMode),
                    });
}

} // namespace

std::vector<Semantic> scalarSemantics() {
  std::vector<Semantic> t;
  addMoves(t);
  addLogic(t);
  addArithmetic(t);
  addConstants(t);
  addCompares(t);
  addFloats(t);
  addExec(t);
  addControl(t);
  return t;
}

} // namespace tessera::code_object
