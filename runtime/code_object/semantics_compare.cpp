// v_cmp, v_cmpx, v_cmp_class and v_cndmask (ISA guides, "VOPC instructions").
#include "runtime/code_object/rows.h"
#include <cmath>

namespace tessera::code_object {

namespace {

enum class Condition : uint8_t { F, Lt, Eq, Le, Gt, Lg, Ge, O, U, Nge, Nlg, Ngt, Nle, Neq, Nlt, T };
constexpr const char *kFloatNames[] = {"f", "lt",  "eq",  "le",  "gt",  "lg",  "ge",  "o",
                                       "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"};

template <class V> bool holds(Condition c, V a, V b) {
  switch (c) {
  case Condition::F: return false;
  case Condition::Lt: return a < b;
  case Condition::Eq: return a == b;
  case Condition::Le: return a <= b;
  case Condition::Gt: return a > b;
  case Condition::Lg: return a < b || a > b;
  case Condition::Ge: return a >= b;
  case Condition::O: return a == a && b == b;
  case Condition::U: return a != a || b != b;
  case Condition::Nge: return !(a >= b);
  case Condition::Nlg: return !(a < b || a > b);
  case Condition::Ngt: return !(a > b);
  case Condition::Nle: return !(a <= b);
  case Condition::Neq: return !(a == b);
  case Condition::Nlt: return !(a < b);
  case Condition::T: return true;
  }
  return false;
}

template <class E, Condition C> uint64_t compareRows(const void *a, const void *b) {
  auto *x = static_cast<const typename E::Storage *>(a);
  auto *y = static_cast<const typename E::Storage *>(b);
  alignas(64) uint8_t bit[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) bit[l] = holds(C, E::load(x[l]), E::load(y[l]));
  return gatherBits(bit);
}

/// Results of inactive lanes are 0. Where no mask is named the instruction is a v_cmpx that writes EXEC alone.
template <class E, Condition C, bool IsX> void compare(Wave &w, const Step &s) {
  bool hasMask = s.operandCount > 2;
  Row64 a, b;
  const void *x = readSource(w, s, hasMask, 0, E::type, a);
  const void *y = readSource(w, s, hasMask + 1, 1, E::type, b);
  uint64_t mask = compareRows<E, C>(x, y) & writableLanes(w, s);
  if (hasMask) writeMask(w, s[0], mask);
  if (IsX) w.setPair(kExecLo, mask & w.allLanes());
}

/// The ten classes of v_cmp_class, by the bits of its second source.
template <class T> uint32_t classOf(T x) {
  bool negative = std::signbit(x);
  if (x != x) {
    constexpr unsigned mantissa = sizeof(T) == 4 ? 22 : 51;
    bool isQuiet;
    if constexpr (sizeof(T) == 4)
      isQuiet = asBits(x) >> mantissa & 1;
    else
      isQuiet = std::bit_cast<uint64_t>(x) >> mantissa & 1;
    return isQuiet ? 2 : 1;
  }
  if (std::isinf(x)) return negative ? 4 : 512;
  if (x == 0) return negative ? 32 : 64;
  if (std::fabs(x) < std::numeric_limits<T>::min()) return negative ? 16 : 128;
  return negative ? 8 : 256;
}
template <class E> uint32_t classOfBits(typename E::Storage bits) {
  if constexpr (E::type == Type::F16) {
    uint32_t magnitude = bits & 0x7fff;
    bool negative = bits & 0x8000;
    if (magnitude > 0x7c00) return bits & 0x200 ? 2 : 1;
    if (magnitude && magnitude < 0x400) return negative ? 16 : 128;
    return classOf(E::load(bits));
  } else {
    return classOf(E::load(bits));
  }
}
template <class E, bool IsX> void compareClass(Wave &w, const Step &s) {
  bool hasMask = s.operandCount > 2;
  Row64 a, b;
  auto *x = static_cast<const typename E::Storage *>(readSource(w, s, hasMask, 0, E::type, a));
  auto *y = static_cast<const uint32_t *>(readSource(w, s, hasMask + 1, 1, Type::B32, b));
  uint64_t mask = 0;
  for (unsigned l = 0; l < kLanes; ++l) mask |= uint64_t((classOfBits<E>(x[l]) & y[l]) != 0) << l;
  mask &= writableLanes(w, s);
  if (hasMask) writeMask(w, s[0], mask);
  if (IsX) w.setPair(kExecLo, mask & w.allLanes());
}

template <class E, Condition C> void add(std::vector<Semantic> &t, const std::string &name) {
  std::array<Type, 3> types{E::type, E::type};
  t.push_back(special(("v_cmp_" + name).c_str(), compare<E, C, false>, Type::Mask, types));
  t.push_back(special(("v_cmpx_" + name).c_str(), compare<E, C, true>, Type::Mask, types));
}
template <class E, unsigned... I>
void addAll(std::vector<Semantic> &t, const char *suffix, bool isFloat, std::integer_sequence<unsigned, I...>) {
  auto name = [&](unsigned i) -> std::string {
    if (isFloat) return kFloatNames[i];
    return i == 5 ? "ne" : i == 15 ? "t" : kFloatNames[i];
  };
  (add<E, Condition(I)>(t, name(I) + "_" + suffix), ...);
  if (isFloat) add<E, Condition::T>(t, std::string("t_") + suffix);
}
template <class E> void addAll(std::vector<Semantic> &t, const char *suffix, bool isFloat) {
  addAll<E>(t, suffix, isFloat, std::make_integer_sequence<unsigned, 16>());
}
template <class E> void addClass(std::vector<Semantic> &t, const char *suffix) {
  std::array<Type, 3> types{E::type, Type::B32};
  t.push_back(special((std::string("v_cmp_class_") + suffix).c_str(), compareClass<E, false>, Type::Mask, types));
  t.push_back(special((std::string("v_cmpx_class_") + suffix).c_str(), compareClass<E, true>, Type::Mask, types));
}

/// D = mask ? B : A. The mask is VCC where none is named (VOPD).
template <Type T> void select(Wave &w, const Step &s) {
  Row64 a, b, out;
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 1, 0, T, a));
  auto *y = static_cast<const uint32_t *>(readSource(w, s, 2, 1, T, b));
  uint64_t mask = s.operandCount > 3 ? readMask(w, s[3]) : w.vcc();
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  for (unsigned l = 0; l < kLanes; ++l) d[l] = mask >> l & 1 ? y[l] : x[l];
  writeResult(w, s, s[0], T, out);
}

} // namespace

std::vector<Semantic> compareSemantics() {
  std::vector<Semantic> t;
  addAll<F32>(t, "f32", true);
  addAll<F64>(t, "f64", true);
  addAll<F16>(t, "f16", true);
  addAll<I32>(t, "i32", false);
  addAll<U32>(t, "u32", false);
  addAll<I64>(t, "i64", false);
  addAll<U64>(t, "u64", false);
  addAll<I16>(t, "i16", false);
  addAll<U16>(t, "u16", false);
  addClass<F32>(t, "f32");
  addClass<F64>(t, "f64");
  addClass<F16>(t, "f16");
  // Sign modifiers are those of f32 (ISA guides, V_CNDMASK_B32); its literals are bits.
  t.push_back(special("v_cndmask_b32", select<Type::F32>, Type::F32, {Type::F32, Type::F32}));
  t.back().isBitwise = true;
  t.push_back(special("v_cndmask_b16", select<Type::F16>, Type::F16, {Type::F16, Type::F16}));
  return t;
}

} // namespace tessera::code_object
