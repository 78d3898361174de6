// Indices, masks and pointers; loads, stores and atomics, each atomic in a region of its own.
#include "kernel_writer.h"

namespace tessera::random {

Value Generator::range(const Value &shapeOf, unsigned dim) {
  const Shape &s = shapeOf.shape;
  std::string layout = shapeOf.layout;
  // In TTGIR every expanded dimension is one slice.
  std::vector<std::string> layouts{layout};
  if (ttgir_)
    for (unsigned d = unsigned(s.size()); d-- > 0;)
      if (d != dim) layouts.push_back(cat("#ttg.slice<{dim = ", d, ", parent = ", layouts.back(), "}>"));
  Value v{"", {s[dim]}, I32, s[dim], ttgir_ ? layouts.back() : ""};
  v.name = emit(cat("tt.make_range {end = ", s[dim], " : i32, start = 0 : i32} : ", typeOf(v)));
  size_t level = layouts.size() - 1;
  for (unsigned d = 0; d < s.size(); ++d) {
    if (d == dim) continue;
    Value e = v;
    e.shape.insert(e.shape.begin() + d, 1);
    if (ttgir_) e.layout = layouts[--level];
    e.name = emit(cat("tt.expand_dims ", v.name, " {axis = ", d, " : i32} : ", typeOf(v), " -> ", typeOf(e)));
    v = e;
  }
  return broadcast(v, s);
}

Value Generator::broadcast(const Value &v, const Shape &s) {
  if (v.shape == s) return v;
  Value b = v;
  b.shape = s;
  return make(b, v.type, v.bound, cat("tt.broadcast ", v.name, " : ", typeOf(v), " -> ", typeOf(b)));
}

Value Generator::arithmetic(const char *op, const Value &a, const Value &b, int64_t bound) {
  return make(a, a.type, bound, cat(op, " ", a.name, ", ", b.name, " : ", typeOf(a)));
}

Value Generator::splat(const std::string &scalar, const Value &shapeOf, Type t) {
  Value v = shapeOf;
  v.type = t;
  return make(v, t, -1, cat("tt.splat ", scalar, " : ", kTypeNames[t], " -> ", typeOf(v)));
}

Value Generator::index(const Value &shapeOf) {
  Value i = range(shapeOf, 0);
  for (unsigned d = 1; d < shapeOf.shape.size(); ++d) {
    i = arithmetic("arith.muli", i, constant(shapeOf, I32, shapeOf.shape[d]));
    i = arithmetic("arith.addi", i, range(shapeOf, d));
  }
  i.bound = elementCount(shapeOf.shape);
  return i;
}

Value Generator::shuffledIndex(const Value &shapeOf) {
  Value i = index(shapeOf);
  unsigned n = elementCount(shapeOf.shape);
  if (upTo(3) == 0) i = arithmetic("arith.xori", i, constant(shapeOf, I32, upTo(n)));
  if (upTo(4) == 0) {
    i = arithmetic("arith.muli", i, constant(shapeOf, I32, 2 * upTo(8) + 1));
    i = arithmetic("arith.andi", i, constant(shapeOf, I32, n - 1));
  }
  i.bound = n;
  return i;
}

Value Generator::mask(const Value &shapeOf) {
  Value i = index(shapeOf), n = constant(shapeOf, I32, upTo(elementCount(shapeOf.shape) + 1));
  Value m = shapeOf;
  if (coin()) i = arithmetic("arith.xori", i, constant(shapeOf, I32, upTo(64)));
  return make(m, I1, 1,
              cat("arith.cmpi ", pick({"slt", "ult", "sge", "ne"}), ", ", i.name, ", ", n.name, " : ", typeOf(i)));
}

std::string Generator::pointers(const std::string &base, Type t, const std::string &offset, Value i) {
  std::string p = moved(base, t, offset);
  if (extended_ && upTo(6) == 0) { // from farther on back
    int64_t back = upTo(coin() ? 64 : 8192);
    p = moved(p, t, scalar(back));
    i = arithmetic("arith.subi", i, coin() ? constant(i, I32, back) : splat(number(back, I32), i, I32));
  }
  if (extended_ && upTo(8) == 0)
    i = make(i, I64, i.bound, cat("arith.extsi ", i.name, " : ", typeOf(i), " to ", like(i, "i64")));
  std::string pt = like(i, (std::string("!tt.ptr<") + kTypeNames[t] + ">").c_str());
  std::string s = emit(cat("tt.splat ", p, " : !tt.ptr<", kTypeNames[t], "> -> ", pt));
  return emit(cat("tt.addptr ", s, ", ", i.name, " : ", pt, ", ", typeOf(i)));
}

std::string Generator::perProgram(unsigned elements) {
  if (kernel_.programs == 1) return "";
  std::string n = emit(cat("arith.constant ", elements, " : i32"));
  return emit(cat("arith.muli ", pid_, ", ", n, " : i32"));
}

Value Generator::load(const Shape &s, Type t, bool plain) {
  bool isLargerThanInputs = elementCount(s) > kInputs; // of joined tensors
  if (isLargerThanInputs) return constant({"", s, t, -1, newLayout(s, t)}, t, upTo(4));
  if (!ttgir_ && !plain && upTo(4) == 0) return upTo(4) || isNarrow(t) ? loadBlock(s, t) : loadBlocks(s, t);
  Value v{"", s, t, t == I32 ? -1 : kSmall, newLayout(s, t)};
  const char *base = inputOf(t);
  Value i = plain ? index(v) : shuffledIndex(v);
  // Three programs, six iterations of a loop: all within the buffer.
  std::string offset = perProgram(std::min(elementCount(s), (kInputs - elementCount(s)) / 4));
  if (!counter_.empty() && coin()) {
    std::string moved = emit(cat("arith.muli ", counter_, ", ",
                                 scalar(std::min(elementCount(s), (kInputs - elementCount(s)) / 12)), " : i32"));
    offset = offset.empty() ? moved : emit(cat("arith.addi ", offset, ", ", moved, " : i32"));
  }
  std::string p = pointers(base, t, offset, i);
  std::string pt = like(v, (std::string("!tt.ptr<") + kTypeNames[t] + ">").c_str());
  if (plain || upTo(3)) {
    v.name = emit(cat("tt.load ", p, " : ", pt));
  } else {
    Value m = mask(v), other = constant(v, t, upTo(4));
    v.name = emit(cat("tt.load ", p, ", ", m.name, ", ", other.name, " : ", pt));
  }
  return v;
}

void Generator::store(Value v) {
  if (v.shape.empty()) {
    Value one{"", {1}, v.type, v.bound, newLayout({1}, v.type)};
    v = make(one, v.type, v.bound, cat("tt.splat ", v.name, " : ", kTypeNames[v.type], " -> ", typeOf(one)));
  }
  if (v.type == I1 || isNarrow(v.type)) v = cast(v, v.type == I1 ? I8 : F32);
  unsigned bytes = elementCount(v.shape) * kTypeBits[v.type] / 8, all = bytes * unsigned(kernel_.programs);
  if (kernel_.large) output_ = (output_ + 1) % kOutputs;
  unsigned at;
  if (!takeOutput(all, at)) return;
  if (ttgir_ && coin()) v = converted(v, newLayout(v.shape, v.type));
  Value i = shuffledIndex(v);
  std::string base = output();
  if (v.type != I32) base = emit(cat("tt.bitcast ", output(), " : !tt.ptr<i32> -> !tt.ptr<", kTypeNames[v.type], ">"));
  std::string offset = emit(cat("arith.constant ", at * 8 / kTypeBits[v.type], " : i32"));
  if (kernel_.programs > 1)
    offset = emit(cat("arith.addi ", offset, ", ", perProgram(elementCount(v.shape)), " : i32"));
  std::string p = pointers(base, v.type, offset, i),
              pt = like(v, (std::string("!tt.ptr<") + kTypeNames[v.type] + ">").c_str());
  if (upTo(3)) {
    text_ += cat("    tt.store ", p, ", ", v.name, " : ", pt, "\n");
  } else {
    Value m = mask(v);
    text_ += cat("    tt.store ", p, ", ", v.name, ", ", m.name, " : ", pt, "\n");
  }
}

Value Generator::atomic(Value v) {
  if (depth_) return binary(v); // not more often than its region has room for
  // A region of its own; addresses either all different (then the old value may be read) or shared.
  Type t = pick({I32, I32, I64, F32, F16, BF16});
  if ((t == F16 || t == BF16) && elementCount(v.shape) < 2) t = I32;
  v = cast(v, t);
  unsigned elements = elementCount(v.shape), bytes = elements * kTypeBits[t] / 8,
           all = bytes * unsigned(kernel_.programs);
  if (atomicUsed_ + all > kAtomicBytes) return v;
  bool unique = coin() || t == F16 || t == BF16;
  std::string op = isFloat(t) ? "fadd" : pick({"add", "max", "min", "umax", "umin", "and", "or", "xor"});
  if (isFloat(t))
    v = bounded(v, unique ? exactUpTo(t) / 2 : exactUpTo(t) / std::max(1u, elements * unsigned(kernel_.programs)));
  Value i = unique ? shuffledIndex(v) : smallInt(partner(v), int64_t(llvm::bit_floor(elements)) - 1, false);
  std::string base = t == I32 ? "%pz" : emit(cat("tt.bitcast %pz : !tt.ptr<i32> -> !tt.ptr<", kTypeNames[t], ">"));
  std::string offset = scalar(atomicUsed_ * 8 / kTypeBits[t]);
  if (unique && kernel_.programs > 1) offset = emit(cat("arith.addi ", offset, ", ", perProgram(elements), " : i32"));
  std::string p = pointers(base, t, offset, i), pt = like(v, (std::string("!tt.ptr<") + kTypeNames[t] + ">").c_str());
  bool masked = coin();
  std::string m = masked ? mask(v).name : "";
  Value old = make(v, t, -1,
                   cat("tt.atomic_rmw ", op, ", ", pick({"relaxed", "acq_rel", "release"}), ", gpu, ", p, ", ", v.name,
                       masked ? ", " + m : "", " : (", pt, ", ", typeOf(v), masked ? ", " + like(v, "i1") : "", ") -> ",
                       typeOf(v)));
  atomicUsed_ += (all + 15) / 16 * 16;
  if (extended_ && unique && !masked && (t == I32 || t == I64) && upTo(4) == 0) {
    Value is = coin() ? v : constant(v, t, 0), becomes = constant(v, t, 77);
    put(make(v, t, -1,
             cat("tt.atomic_cas acq_rel, gpu, ", p, ", ", is.name, ", ", becomes.name, " : (", pt, ", ", typeOf(v),
                 ", ", typeOf(v), ") -> ", typeOf(v))));
  }
  // Memory starts as zeros, so the old value of a place that nobody else updates is zero where the mask is set.
  if (unique && !isFloat(t) && !masked) return arithmetic("arith.addi", v, old);
  return v;
}

} // namespace tessera::random
