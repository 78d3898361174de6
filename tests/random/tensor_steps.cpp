// Steps from tensors to a tensor: arithmetic, reductions, scans, changes of shape, gathers, histograms, selections.
#include "kernel_writer.h"

namespace tessera::random {

Value Generator::binary(Value a) {
  if (isNarrow(a.type)) a = cast(a, F32);
  if (!isFloat(a.type)) {
    Value b = partner(a);
    const char *op = a.type == I1 ? pick({"arith.andi", "arith.ori", "arith.xori"})
                                  : pick({"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori",
                                          "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
                                          "arith.shli", "arith.shrui", "arith.shrsi", "arith.divsi", "arith.remui"});
    std::string name = op;
    if (name.find("arith.sh") == 0) b = arithmetic("arith.andi", b, constant(b, b.type, kTypeBits[a.type] - 1));
    if (name == "arith.divsi" || name == "arith.remui") { // by one or more
      b = arithmetic("arith.andi", b, constant(b, b.type, 31));
      b = arithmetic("arith.addi", b, constant(b, b.type, 1));
    }
    return arithmetic(op, a, b);
  }
  Value b = partner(a);
  int64_t most = exactUpTo(a.type);
  switch (upTo(6)) {
  case 5: { // rounded once: not a whole number, so back to one at once
    if (a.type != F32) return arithmetic("arith.maxnumf", a, b, std::max(a.bound, b.bound));
    Value q = make(a, F32, b.bound, cat("math.absf ", b.name, " : ", typeOf(b)));
    q = arithmetic("arith.addf", bounded(q, 1 << 20), constant(a, F32, 1));
    q = coin() ? make(a, F32, a.bound, cat("tt.precise_divf ", a.name, ", ", q.name, " : ", typeOf(a)))
               : make(a, F32, 1 << 12, cat("tt.precise_sqrt ", q.name, " : ", typeOf(a)));
    q = arithmetic("arith.mulf", q, constant(a, F32, 64));
    Value i = make(a, I32, -1, cat("arith.fptosi ", q.name, " : ", typeOf(q), " to ", like(q, "i32")));
    return cast(smallInt(i, (1 << 20) - 1, false), F32);
  }
  case 0:
    a = bounded(a, most / 2), b = bounded(b, most / 2);
    return arithmetic(coin() ? "arith.addf" : "arith.subf", a, b, a.bound + b.bound);
  case 1: {
    int64_t root = a.type == F64 ? 1 << 20 : a.type == F32 ? 2048 : a.type == F16 ? 31 : 15;
    a = bounded(a, root), b = bounded(b, root);
    return arithmetic("arith.mulf", a, b, a.bound * b.bound);
  }
  case 2: return make(a, a.type, a.bound, cat("arith.negf ", a.name, " : ", typeOf(a)));
  case 3: return make(a, a.type, a.bound, cat("math.absf ", a.name, " : ", typeOf(a)));
  default:
    return arithmetic(pick({"arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"}), a, b,
                      std::max(a.bound, b.bound));
  }
}

Generator::Combiner Generator::combiner(const Value &v) {
  if (isFloat(v.type))
    return coin() ? Combiner{"arith.addf", true} : Combiner{pick({"arith.maxnumf", "arith.minnumf"}), false};
  return {v.type == I1 ? pick({"arith.andi", "arith.ori", "arith.xori"})
                       : pick({"arith.addi", "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.ori",
                               "arith.andi", "arith.muli"}),
          true};
}

Value Generator::forSum(const Value &v, const Combiner &c, unsigned count) {
  if (!isFloat(v.type) || !c.sums) return v;
  if (exactUpTo(v.type) < int64_t(count) * 4) return forSum(cast(v, F32), c, count);
  return bounded(v, exactUpTo(v.type) / count);
}

Value Generator::reduce(Value v) {
  if (isNarrow(v.type)) v = cast(v, coin() ? F16 : F32);
  unsigned axis = upTo(unsigned(v.shape.size())), count = v.shape[axis];
  Combiner c = combiner(v);
  v = forSum(v, c, count);
  c = isFloat(v.type) && c.op[6] != 'm' ? Combiner{"arith.addf", true} : c;
  std::string e = kTypeNames[v.type];
  Value r = v;
  r.shape.erase(r.shape.begin() + axis);
  if (ttgir_) r.layout = r.shape.empty() ? "" : cat("#ttg.slice<{dim = ", axis, ", parent = ", v.layout, "}>");
  r.name = emit(cat("\"tt.reduce\"(", v.name, ") <{axis = ", axis, " : i32}> ({\n    ^bb0(%a: ", e, ", %b: ", e,
                    "):\n      %s = ", c.op, " %a, %b : ", e, "\n      tt.reduce.return %s : ", e, "\n    }) : (",
                    typeOf(v), ") -> ", typeOf(r)));
  r.bound = isFloat(v.type) ? (c.sums ? v.bound * count : v.bound) : -1;
  if (r.shape.empty() || upTo(3) == 0) return r;
  // Broadcast back and combined with what it came from.
  Value back = r;
  back.shape = v.shape, back.shape[axis] = 1, back.layout = v.layout;
  back.name = emit(cat("tt.expand_dims ", r.name, " {axis = ", axis, " : i32} : ", typeOf(r), " -> ", typeOf(back)));
  back = broadcast(back, v.shape);
  if (isFloat(v.type)) return arithmetic("arith.maxnumf", v, back, std::max(v.bound, back.bound));
  return arithmetic(pick({"arith.subi", "arith.xori", "arith.addi"}), v.type == I1 ? cast(v, I32) : v,
                    v.type == I1 ? cast(back, I32) : back);
}

Value Generator::argMax(Value v) {
  if (isNarrow(v.type) || v.type == I1) v = cast(v, I32);
  unsigned axis = upTo(unsigned(v.shape.size()));
  Value i = range(v, axis);
  std::string e = kTypeNames[v.type], more = isFloat(v.type) ? "arith.cmpf ogt" : "arith.cmpi sgt",
              same = isFloat(v.type) ? "arith.cmpf oeq" : "arith.cmpi eq";
  Value m = v, at = i;
  m.shape.erase(m.shape.begin() + axis);
  if (ttgir_) m.layout = m.shape.empty() ? "" : cat("#ttg.slice<{dim = ", axis, ", parent = ", v.layout, "}>");
  at.shape = m.shape, at.layout = m.layout;
  m.name = fresh(), at.name = m.name + "#1";
  text_ +=
      cat("    ", m.name, ":2 = \"tt.reduce\"(", v.name, ", ", i.name, ") <{axis = ", axis,
          " : i32}> ({\n    ^bb0(%a: ", e, ", %i: i32, %b: ", e, ", %j: i32):\n      %t = ", same, ", %a, %b : ", e,
          "\n      %l = arith.cmpi slt, %i, %j : i32\n      %u = arith.andi %t, %l : i1\n      %g = ", more,
          ", %a, %b : ", e, "\n      %w = arith.ori %g, %u : i1\n      %m = arith.select %w, %a, %b : ", e,
          "\n      %n = arith.select %w, %i, %j : i32\n      tt.reduce.return %m, %n : ", e, ", i32\n    }) : (",
          typeOf(v), ", ", typeOf(i), ") -> (", typeOf(m), ", ", typeOf(at), ")\n");
  m.name += "#0";
  put(m);
  return at;
}

Value Generator::scan(Value v) {
  if (isNarrow(v.type)) v = cast(v, F32);
  unsigned axis = upTo(unsigned(v.shape.size()));
  Combiner c = combiner(v);
  v = forSum(v, c, v.shape[axis]);
  c = isFloat(v.type) && c.op[6] != 'm' ? Combiner{"arith.addf", true} : c;
  std::string e = kTypeNames[v.type];
  return make(v, v.type, isFloat(v.type) ? (c.sums ? v.bound * v.shape[axis] : v.bound) : -1,
              cat("\"tt.scan\"(", v.name, ") <{axis = ", axis, " : i32, reverse = ", coin() ? "true" : "false",
                  "}> ({\n    ^bb0(%a: ", e, ", %b: ", e, "):\n      %s = ", c.op, " %a, %b : ", e,
                  "\n      tt.scan.return %s : ", e, "\n    }) : (", typeOf(v), ") -> ", typeOf(v)));
}

Value Generator::transpose(const Value &v) {
  std::vector<unsigned> order(v.shape.size());
  for (unsigned k = 0; k < order.size(); ++k) order[k] = k;
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[upTo(unsigned(k))]);
  Value w = v;
  for (unsigned k = 0; k < order.size(); ++k) w.shape[k] = v.shape[order[k]];
  std::string o;
  for (auto [k, x] : llvm::enumerate(order)) o += (k ? ", " : "") + std::to_string(x);
  return make(w, v.type, v.bound,
              cat("tt.trans ", v.name, " {order = array<i32: ", o, ">} : ", typeOf(v), " -> ", typeOf(w)));
}

Value Generator::reshape(const Value &v, Shape s) {
  Value w = v;
  w.shape = std::move(s);
  return make(w, v.type, v.bound, cat("tt.reshape ", v.name, " : ", typeOf(v), " -> ", typeOf(w)));
}

Shape Generator::otherShape(unsigned elements) {
  Shape s{1};
  for (unsigned rank = upTo(3); rank > 0; --rank) s.push_back(1);
  while (elements > 1) s[upTo(unsigned(s.size()))] *= 2, elements /= 2;
  return s;
}

Value Generator::joinOrSplit(Value v) {
  if (v.shape.back() == 2 && v.shape.size() > 1 && coin()) {
    Value l = v;
    l.shape.pop_back();
    Value r = l;
    l.name = fresh(), r.name = fresh();
    text_ += cat("    ", l.name, ", ", r.name, " = tt.split ", v.name, " : ", typeOf(v), " -> ", typeOf(l), "\n");
    put(l);
    return r;
  }
  Value o = partner(v), j = v;
  if (elementCount(v.shape) > 4096 || v.shape.size() > 3) return v;
  j.shape.push_back(2);
  return make(j, v.type, v.bound < 0 || o.bound < 0 ? -1 : std::max(v.bound, o.bound),
              cat("tt.join ", v.name, ", ", o.name, " : ", typeOf(v), " -> ", typeOf(j)));
}

Value Generator::gather(const Value &v) {
  unsigned axis = upTo(unsigned(v.shape.size()));
  Value i = smallInt(partner(v), v.shape[axis] - 1, false);
  return make(v, v.type, v.bound,
              cat("tt.gather ", v.name, "[", i.name, "] {axis = ", axis, " : i32} : (", typeOf(v), ", ", typeOf(i),
                  ") -> ", typeOf(v)));
}

Value Generator::histogram(const Value &v) {
  if (elementCount(v.shape) < 32) return v;
  unsigned bins = 1u << (1 + upTo(7));
  Value i = smallInt(v, bins - 1, false);
  if (i.shape.size() > 1) i = ttgir_ ? i : reshape(i, {elementCount(i.shape)});
  if (i.shape.size() > 1) return v;
  Value h = i;
  h.shape = {bins};
  h.layout = newLayout(h.shape, I32);
  return make(h, I32, elementCount(i.shape),
              cat("tt.histogram ", i.name, coin() ? "" : ", " + mask(i).name, " : ", typeOf(i), " -> ", typeOf(h)));
}

Value Generator::select(const Value &v) {
  Value o = partner(v), c = mask(v);
  if (!isFloat(v.type) && v.type != I1 && coin())
    c = make(v, I1, 1, cat("arith.cmpi ", pick({"slt", "eq", "ugt"}), ", ", v.name, ", ", o.name, " : ", typeOf(v)));
  if (isFloat(v.type) && !isNarrow(v.type) && coin())
    c = make(v, I1, 1, cat("arith.cmpf ", pick({"olt", "oeq", "une"}), ", ", v.name, ", ", o.name, " : ", typeOf(v)));
  return make(v, v.type, v.bound < 0 || o.bound < 0 ? -1 : std::max(v.bound, o.bound),
              cat("arith.select ", c.name, ", ", v.name, ", ", o.name, " : ", typeOf(c), ", ", typeOf(v)));
}

Value Generator::recurrence(Value v) {
  if (isFloat(v.type) || v.type == I1) v = toI32(v);
  Value o = partner(v), r = v;
  unsigned axis = upTo(unsigned(v.shape.size()));
  std::string e = kTypeNames[v.type], t = typeOf(v), n = fresh();
  text_ += cat("    ", n, ":2 = \"tt.scan\"(", v.name, ", ", o.name, ") <{axis = ", axis,
               " : i32, reverse = ", coin() ? "true" : "false", "}> ({\n    ^bb0(%a: ", e, ", %b: ", e, ", %c: ", e,
               ", %d: ", e, "):\n      %m = arith.muli %a, %c : ", e, "\n      %t = arith.muli %c, %b : ", e,
               "\n      %s = arith.addi %t, %d : ", e, "\n      tt.scan.return %m, %s : ", e, ", ", e, "\n    }) : (",
               t, ", ", t, ") -> (", t, ", ", t, ")\n");
  r.bound = -1;
  put(named(r, n + "#0"));
  return named(r, n + "#1");
}

Value Generator::reduceInAnyOrder(const Value &line) {
  Value r{"", {}, I32, -1, {}};
  return make(r, I32, -1,
              cat("\"tt.reduce\"(", line.name, ") <{axis = 0 : i32}> ({\n    ^bb0(%a: i32, %b: i32):\n      %s = ",
                  pick({"arith.addi", "arith.xori", "arith.maxsi"}),
                  " %a, %b : i32\n      tt.reduce.return %s : i32\n    }) : (", typeOf(line), ") -> i32"));
}

Value Generator::concatenate(Value v) {
  v = toI32(v);
  if (!ttgir_ && v.shape.size() > 1 && coin()) { // all of one instead
    Value line = v;
    line.shape = {elementCount(v.shape)};
    line = make(line, I32, -1, cat("tt.reshape ", v.name, " allow_reorder : ", typeOf(v), " -> ", typeOf(line)));
    return reduceInAnyOrder(line);
  }
  if (v.shape.size() > 1) v = ttgir_ ? v : reshape(v, {elementCount(v.shape)});
  if (v.shape.size() > 1) return v;
  Value o = partner(v), both = v;
  both.shape[0] *= 2;
  both = make(both, I32, -1, cat("tt.cat ", v.name, ", ", o.name, " : ", typeOf(v), " -> ", typeOf(both)));
  return reduceInAnyOrder(both);
}

} // namespace tessera::random
