// Values of every type within the bounds that keep their floats exact: casts, partners of the same shape and type.
#include "kernel_writer.h"

namespace tessera::random {

Value Generator::smallInt(Value v, int64_t m, bool negative) {
  v = toI32(v);
  v = arithmetic("arith.andi", v, constant(v, I32, m), m);
  if (negative) v = arithmetic("arith.subi", v, constant(v, I32, (m + 1) / 2), m);
  return v;
}

Value Generator::toI32(const Value &v) {
  if (v.type == I32) return v;
  if (isNarrow(v.type)) return toI32(cast(v, F32));
  Value to = v;
  to.type = I32;
  if (!isFloat(v.type)) {
    const char *op = v.type == I64 ? "arith.trunci" : v.type == I1 || coin() ? "arith.extui" : "arith.extsi";
    return make(to, I32, -1, cat(op, " ", v.name, " : ", typeOf(v), " to ", typeOf(to)));
  }
  Value f = v.bound >= (int64_t(1) << 31) ? smallFloat(v) : v;
  return make(to, I32, f.bound, cat("arith.fptosi ", f.name, " : ", typeOf(f), " to ", typeOf(to)));
}

Value Generator::smallFloat(const Value &v) { // only f64 gets so large
  Value i = make(v, I64, v.bound, cat("arith.fptosi ", v.name, " : ", typeOf(v), " to ", like(v, "i64")));
  i = arithmetic("arith.andi", i, constant(i, I64, 1023), 1023);
  return make(v, F64, 1023, cat("arith.sitofp ", i.name, " : ", typeOf(i), " to ", like(v, "f64")));
}

Value Generator::cast(Value v, Type t) {
  if (v.type == t) return v;
  Value to = v;
  to.type = t;
  if (isNarrow(t)) {
    if (v.bound < 0 || v.bound > exactUpTo(t) || !isFloat(v.type) || v.type == F64)
      v = cast(smallInt(v, t == E4M3 ? 15 : 7, true), F32);
    if (isNarrow(v.type)) v = cast(v, F32);
    return make(to, t, v.bound, cat("tt.fp_to_fp ", v.name, ", rounding = rtne : ", typeOf(v), " -> ", typeOf(to)));
  }
  if (isNarrow(v.type)) {
    Type wide = t == F16 || t == BF16 ? t : F32;
    Value w = v;
    w.type = wide;
    w = make(w, wide, v.bound, cat("tt.fp_to_fp ", v.name, " : ", typeOf(v), " -> ", typeOf(w)));
    return cast(w, t);
  }
  if (isFloat(t)) {
    if (!isFloat(v.type)) {
      if (v.bound < 0 || v.bound > exactUpTo(t))
        v = smallInt(v, std::min<int64_t>(exactUpTo(t), 65536) / 2 - 1, coin());
      bool isUnsigned = v.type == I1;
      return make(to, t, v.bound,
                  cat(isUnsigned ? "arith.uitofp " : "arith.sitofp ", v.name, " : ", typeOf(v), " to ", typeOf(to)));
    }
    if (v.bound > exactUpTo(t)) return cast(smallInt(v, exactUpTo(t) / 2 - 1, true), t);
    if (kTypeBits[t] == kTypeBits[v.type]) return cast(cast(v, F32), t);
    return make(to, t, v.bound,
                cat(kTypeBits[t] > kTypeBits[v.type] ? "arith.extf " : "arith.truncf ", v.name, " : ", typeOf(v),
                    " to ", typeOf(to)));
  }
  if (isFloat(v.type)) v = toI32(v);
  if (v.type == t) return v;
  if (t == I1)
    return make(to, I1, 1,
                cat("arith.cmpi ", pick({"slt", "ne", "ugt"}), ", ", v.name, ", ", constant(v, v.type, upTo(100)).name,
                    " : ", typeOf(v)));
  bool wider = kTypeBits[t] > kTypeBits[v.type];
  int64_t bound = v.bound >= 0 && (wider || v.bound < (int64_t(1) << (kTypeBits[t] - 1))) ? v.bound : -1;
  return make(to, t, bound,
              cat(wider ? (v.type == I1 || (bound < 0 && coin()) ? "arith.extui " : "arith.extsi ") : "arith.trunci ",
                  v.name, " : ", typeOf(v), " to ", typeOf(to)));
}

Value Generator::partner(const Value &v) {
  for (unsigned tries = 0; tries < 3; ++tries) {
    Value o = any();
    if (o.shape == v.shape && !v.shape.empty()) return cast(converted(o, v.layout), v.type);
  }
  if (v.shape.empty()) return constant(v, v.type, 1 + upTo(5));
  return cast(index(v), v.type);
}

Value Generator::named(Value v, const std::string &n) {
  v.name = n;
  return v;
}

Value Generator::bounded(const Value &v, int64_t most) {
  return v.bound >= 0 && v.bound <= most
             ? v
             : cast(smallInt(v, int64_t(llvm::bit_floor(uint64_t(std::min<int64_t>(most, 1 << 28)) + 1)) - 1, false),
                    v.type);
}
std::string Generator::scalar(int64_t c) { return emit(cat("arith.constant ", c, " : i32")); }

} // namespace tessera::random
