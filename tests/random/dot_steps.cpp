// Dots, alone, chained, and in loops over K; in TTGIR in the target's own layouts.
#include "kernel_writer.h"

namespace tessera::random {

Generator::Kind Generator::dotKind() {
  return pick<Kind>({{F16, F32, "tf32"},
                     {F16, F32, "tf32"},
                     {BF16, F32, "tf32"},
                     {F32, F32, "tf32"},
                     {F32, F32, "ieee"},
                     {I8, I32, "tf32"},
                     {F16, F16, "tf32"},
                     {E4M3, F32, "tf32"},
                     {E5M2, F32, "tf32"}});
}

Value Generator::operand(Type t, unsigned rows, unsigned columns, bool plain) {
  switch (plain ? 2 : upTo(4)) {
  case 0: return transpose2(load({columns, rows}, t, true));
  case 1: { // computed
    Value v = load({rows, columns}, I32, true);
    return cast(smallInt(v, 3, true), t);
  }
  default: return load({rows, columns}, t, true);
  }
}

Value Generator::transpose2(const Value &v) {
  Value w = v;
  w.shape = {v.shape[1], v.shape[0]};
  return make(w, v.type, v.bound,
              cat("tt.trans ", v.name, " {order = array<i32: 1, 0>} : ", typeOf(v), " -> ", typeOf(w)));
}

Value Generator::multiply(const Value &a, const Value &b, const Value &c, const char *precision) {
  int64_t bound = c.bound + a.bound * b.bound * a.shape.back();
  kernel_.hasDot = true;
  return make(c, c.type, bound,
              cat("tt.dot ", a.name, ", ", b.name, ", ", c.name, ", inputPrecision = ", precision, " : ", typeOf(a),
                  " * ", typeOf(b), " -> ", typeOf(c)));
}

void Generator::dot() {
  Kind kind = dotKind();
  if (upTo(5) == 0) return batchedDot();
  if (!depth_ && upTo(3) == 0) return dotLoop();
  unsigned m, n, k;
  // Every other one is high enough for a warpgroup's instructions.
  if (coin()) {
    do m = 64u << upTo(2), n = 8u << upTo(5), k = 16u << upTo(4);
    while (m * n * k > 1 << 18 || n < 16);
  } else {
    do m = 16u << upTo(4), n = 16u << upTo(4), k = 16u << upTo(4);
    while (m * n * k > 1 << 17);
  }
  if (isNarrow(kind.operand) || kind.operand == I8) k = std::max(k, 32u);
  int64_t most = exactUpTo(kind.accumulator), each = int64_t(kSmall + 1) * (kSmall + 1) * k;
  if (each > most) return;
  Value c = constant({"", {m, n}, kind.accumulator, 0, {}}, kind.accumulator, coin() ? 0 : 1);
  Value r;
  if (coin()) { // a loop over K with moving pointers
    unsigned rounds = unsigned(std::min<int64_t>(1 + upTo(5), most / each));
    Value a{"", {m, k}, kind.operand, kSmall, {}}, b{"", {k, n}, kind.operand, kSmall, {}};
    const char *base = inputOf(kind.operand);
    // A is m by 128, B is k * rounds by n in memory; some rows of A overlap.
    Value ia = arithmetic("arith.addi", arithmetic("arith.muli", range(a, 0), constant(a, I32, 64)), range(a, 1)),
          ib = index(b);
    std::string pa = pointers(base, kind.operand, "", ia), pb = pointers(base, kind.operand, "", ib), lo = scalar(0),
                hi = scalar(rounds), one = scalar(1);
    Value stepA = constant(a, I32, k), stepB = constant(b, I32, k * n < 2048 ? k * n : 16);
    std::string pt = std::string("!tt.ptr<") + kTypeNames[kind.operand] + ">", ta = like(a, pt.c_str()),
                tb = like(b, pt.c_str()), res = fresh(), s = res.substr(2);
    std::string ra = fresh(), rb = fresh(), acc = fresh(), la = fresh(), lb = fresh(), d = fresh(), na = fresh(),
                nb = fresh(), ma, mb;
    bool masked = upTo(3) == 0;
    if (masked) {
      Value limA = mask(a), limB = mask(b), zeroA = constant(a, kind.operand, 0), zeroB = constant(b, kind.operand, 1);
      ma = cat(", ", limA.name, ", ", zeroA.name), mb = cat(", ", limB.name, ", ", zeroB.name);
    }
    text_ +=
        cat("    ", res, ":3 = scf.for %i", s, " = ", lo, " to ", hi, " step ", one, " iter_args(", ra, " = ", pa, ", ",
            rb, " = ", pb, ", ", acc, " = ", c.name, ") -> (", ta, ", ", tb, ", ", typeOf(c), ") : i32 {\n      ", la,
            " = tt.load ", ra, ma, " : ", ta, "\n      ", lb, " = tt.load ", rb, mb, " : ", tb, "\n      ", d,
            " = tt.dot ", la, ", ", lb, ", ", acc, ", inputPrecision = ", kind.precision, " : ", typeOf(a), " * ",
            typeOf(b), " -> ", typeOf(c), "\n      ", na, " = tt.addptr ", ra, ", ", stepA.name, " : ", ta, ", ",
            typeOf(stepA), "\n      ", nb, " = tt.addptr ", rb, ", ", stepB.name, " : ", tb, ", ", typeOf(stepB),
            "\n      scf.yield ", na, ", ", nb, ", ", d, " : ", ta, ", ", tb, ", ", typeOf(c), "\n    }\n");
    kernel_.hasDot = true;
    r = named(c, res + "#2");
    r.bound = 1 + each * rounds;
  } else {
    r = multiply(operand(kind.operand, m, k, false), operand(kind.operand, k, n, false), c, kind.precision);
  }
  if (upTo(3) == 0 && m * n * 16 <= 1 << 17) { // another after it
    unsigned n2 = 16u << upTo(2);
    Value a = cast(smallInt(r, 3, true), kind.operand), b = operand(kind.operand, n, n2, true);
    if (int64_t(4) * kSmall * n < most)
      r = multiply(a, b, constant({"", {m, n2}, kind.accumulator, 0, {}}, kind.accumulator, 0), kind.precision);
  }
  put(r);
}

void Generator::dotLoop() {
  Kind kind = dotKind();
  unsigned m = coin() ? 64 : 16u << upTo(4), n = 16u << upTo(3), k = 32u << upTo(2), n2 = 16u << upTo(2),
           rounds = 1 + upTo(5);
  enum { Plain, Chained, WithItself } form = pick({Plain, Chained, WithItself});
  if (form == WithItself) n = m = std::min(m, 64u);
  int64_t most = exactUpTo(kind.accumulator),
          each = int64_t(kSmall + 1) * (kSmall + 1) * (form == Chained ? std::max(n, k) : k);
  rounds = unsigned(std::min<int64_t>(rounds, most / each));
  if (!rounds || m * n * k > 1 << 18) return;
  if (form == Chained && (isNarrow(kind.operand) || kind.operand == I8)) n = std::max(n, 32u);
  Value c = constant({"", {m, form == Chained ? n2 : n}, kind.accumulator, 0, {}}, kind.accumulator, coin() ? 0 : 1),
        none = constant({"", {m, n}, kind.accumulator, 0, {}}, kind.accumulator, 0);
  std::string lo = scalar(0), hi = scalar(rounds), one = scalar(1), t = typeOf(c), r = fresh(), i = r.substr(2),
              body = inside([&] {
                counter_ = "%i" + i;
                Value acc = named(c, "%a" + i), a = operand(kind.operand, m, k, false), sum;
                if (form == WithItself) {
                  sum = multiply(a, transpose2(a), acc, kind.precision);
                } else {
                  Value b = operand(kind.operand, k, n, false);
                  sum = form == Plain
                            ? multiply(a, b, acc, kind.precision)
                            : multiply(cast(smallInt(multiply(a, b, none, kind.precision), 3, true), kind.operand),
                                       operand(kind.operand, n, n2, false), acc, kind.precision);
                }
                text_ += cat("      scf.yield ", sum.name, " : ", t, "\n");
              });
  counter_.clear();
  text_ += cat("    ", r, " = scf.for %i", i, " = ", lo, " to ", hi, " step ", one, " iter_args(%a", i, " = ", c.name,
               ") -> (", t, ") : i32 {\n", body, "    }\n");
  c.bound = 1 + each * int64_t(rounds);
  put(named(c, r));
}

void Generator::pipelinedDots() {
  Kind kind = dotKind();
  kernel_.numStages = int(2 + upTo(4));
  unsigned m = 16u << upTo(2), n = 16u << upTo(2), k = 32u << upTo(2), dots = upTo(3) ? 1 : 2, rounds = upTo(5);
  int64_t each = int64_t(kSmall + 1) * (kSmall + 1) * k * dots, most = exactUpTo(kind.accumulator);
  if (each * 3 > most) return;
  rounds = unsigned(std::min<int64_t>(rounds, most / each - 3));
  Value c = constant({"", {m, n}, kind.accumulator, 0, {}}, kind.accumulator, coin() ? 0 : 1);
  // As many rounds as the program says: none, perhaps.
  std::string lo = scalar(0), hi = emit(cat("arith.addi ", pid_, ", ", scalar(rounds), " : i32")), one = scalar(1),
              t = typeOf(c), r = fresh(), i = r.substr(2),
              body = inside([&] {
                auto moving = [&](unsigned rows, unsigned columns) {
                  bool transposed = upTo(3) == 0;
                  Value v{"", transposed ? Shape{columns, rows} : Shape{rows, columns}, kind.operand, kSmall, {}};
                  std::string step = scalar(std::min(rows * columns, (kInputs - rows * columns) / 12)),
                              offset = emit(cat("arith.muli %i", i, ", ", step, " : i32"));
                  std::string p = pointers(inputOf(kind.operand), kind.operand, offset, index(v)),
                              pt = like(v, (std::string("!tt.ptr<") + kTypeNames[kind.operand] + ">").c_str()), m;
                  if (upTo(4) == 0) m = cat(", ", mask(v).name, ", ", constant(v, kind.operand, upTo(2)).name);
                  v.name = emit(cat("tt.load ", p, m, " : ", pt));
                  return transposed ? transpose2(v) : v;
                };
                Value acc = named(c, "%a" + i);
                for (unsigned d = 0; d < dots; ++d) {
                  Value a = moving(m, k);
                  acc = multiply(a, moving(k, n), acc, kind.precision);
                }
                text_ += cat("      scf.yield ", acc.name, " : ", t, "\n");
              });
  text_ += cat("    ", r, " = scf.for %i", i, " = ", lo, " to ", hi, " step ", one, " iter_args(%a", i, " = ", c.name,
               ") -> (", t, ") : i32 {\n", body, "    }\n");
  c.bound = 1 + each * int64_t(rounds + 2);
  put(named(c, r));
  store(values_.back());
}

Value Generator::ofRows(const Value &v, const char *op, int64_t bound) {
  Value r{"", {v.shape[0]}, v.type, bound, {}};
  std::string e = kTypeNames[v.type];
  return make(r, v.type, bound,
              cat("\"tt.reduce\"(", v.name, ") <{axis = 1 : i32}> ({\n    ^bb0(%a: ", e, ", %b: ", e,
                  "):\n      %s = ", op, " %a, %b : ", e, "\n      tt.reduce.return %s : ", e, "\n    }) : (",
                  typeOf(v), ") -> ", typeOf(r)));
}

void Generator::attention() {
  kernel_.numStages = 1 + int(upTo(4));
  Type t = pick({F16, F16, BF16, E4M3});
  unsigned m = 16u << upTo(4), n = 32u << upTo(2), depth = 32u << upTo(2), rounds = 1 + upTo(4);
  bool isCausal = coin();
  Value score{"", {m, n}, F32, 0, {}}, row{"", {m}, F32, 0, {}};
  auto choose = [&](const Value &c, const Value &a, const Value &b) {
    return make(a, F32, std::max(a.bound, b.bound),
                cat("arith.select ", c.name, ", ", a.name, ", ", b.name, " : ", typeOf(c), ", ", typeOf(a)));
  };
  Value q = load({m, depth}, t, true), none = constant(score, F32, 0), hidden = constant(score, F32, -500),
        one = constant(row, F32, 1), half = make(row, F32, 1, "arith.constant dense<0.5> : " + typeOf(row)),
        sums = constant({"", {m, depth}, F32, 0, {}}, F32, 0), weights = constant(row, F32, 0),
        largest = constant(row, F32, -1000);
  std::string lo = scalar(0), hi = scalar(rounds), step = scalar(1), ts = typeOf(sums), tr = typeOf(row), r = fresh(),
              i = r.substr(2),
              body = inside([&] {
                counter_ = "%i" + i;
                Value s = multiply(q, operand(t, depth, n, false), none, "tf32");
                if (isCausal) {
                  Value first = splat(emit(cat("arith.muli ", counter_, ", ", scalar(n / 2), " : i32")), score, I32),
                        column = arithmetic("arith.addi", range(score, 1), first), c = score;
                  c = make(c, I1, 1,
                           cat("arith.cmpi sge, ", range(score, 0).name, ", ", column.name, " : ", typeOf(column)));
                  s = choose(c, s, hidden);
                }
                Value before = named(largest, "%m" + i),
                      now = arithmetic("arith.maxnumf", before, ofRows(s, "arith.maxnumf", 1000), 1000);
                auto equal = [&](const Value &a, const Value &b) {
                  return make(a, I1, 1, cat("arith.cmpf oeq, ", a.name, ", ", b.name, " : ", typeOf(a)));
                };
                Value scale = choose(equal(before, now), one, half),
                      p = choose(equal(s, spread(now, s.shape, 0)), constant(score, F32, 1), none),
                      w = arithmetic("arith.mulf", named(weights, "%w" + i), scale),
                      scaled = arithmetic("arith.mulf", named(sums, "%a" + i), spread(scale, sums.shape, 0));
                w = arithmetic("arith.addf", w, ofRows(p, "arith.addf", n));
                Value next = multiply(cast(p, t), operand(t, n, depth, false), scaled, "tf32");
                text_ += cat("      scf.yield ", next.name, ", ", w.name, ", ", now.name, " : ", ts, ", ", tr, ", ", tr,
                             "\n");
              });
  counter_.clear();
  text_ += cat("    ", r, ":3 = scf.for %i", i, " = ", lo, " to ", hi, " step ", step, " iter_args(%a", i, " = ",
               sums.name, ", %w", i, " = ", weights.name, ", %m", i, " = ", largest.name, ") -> (", ts, ", ", tr, ", ",
               tr, ") : i32 {\n", body, "    }\n");
  // Halved at most once in an iteration: whole numbers again.
  auto whole = [&](Value v, int64_t bound) {
    constexpr int kScale = 16;
    return arithmetic("arith.mulf", v, constant(v, F32, kScale), bound * kScale);
  };
  put(whole(named(weights, r + "#1"), int64_t(n) * rounds));
  put(whole(named(sums, r + "#0"), int64_t(n) * (kSmall + 1) * rounds));
  store(values_.back());
}

void Generator::batchedDot() {
  Kind kind = dotKind();
  if (isNarrow(kind.operand)) kind.operand = F16;
  unsigned b = 1u << upTo(4), m = 16u << upTo(2), n = 16u << upTo(2), k = 32;
  if (int64_t(kSmall + 1) * (kSmall + 1) * k > exactUpTo(kind.accumulator)) return;
  Value x = load({b, m, k}, kind.operand, true), y = load({b, k, n}, kind.operand, true);
  put(multiply(x, y, constant({"", {b, m, n}, kind.accumulator, 0, {}}, kind.accumulator, coin() ? 0 : 1),
               kind.precision));
}

void Generator::ttgirDot() {
  Kind kind = dotKind();
  if (isNarrow(kind.operand)) kind.operand = F16;
  if (kind.operand == F32 && target_->matrixUnit != ir::MatrixUnit::Mfma && kind.precision[0] == 'i') return;
  if (target_->matrixUnit == ir::MatrixUnit::Wmma && (kind.operand == F32 || kind.accumulator == F16)) return;
  if (target_->matrixUnit == ir::MatrixUnit::Mfma &&
      (kind.accumulator == F16 || (kind.operand == F32 && kind.precision[0] == 't')))
    return;
  std::string acc = matrix(kind.operand, true);
  if (acc.empty()) return;
  unsigned m, n, k;
  do m = 32u << upTo(2), n = 32u << upTo(2), k = 32u << upTo(2);
  while (m * n * k > 1 << 17);
  if (int64_t(kSmall + 1) * (kSmall + 1) * k > exactUpTo(kind.accumulator)) return;
  unsigned bits = kTypeBits[kind.operand];
  unsigned width = target_->vendor == ir::Vendor::Nvidia         ? 32 / bits
                   : target_->matrixUnit == ir::MatrixUnit::Wmma ? (target_->matrixVersion == 1 ? 16u : 8u)
                                                                 : 0;
  if (target_->matrixUnit == ir::MatrixUnit::Mfma) {
    // instrShape = [m, m, k]: every lane holds k / (64 / m) elements along K.
    size_t at = acc.find("instrShape = [") + 14;
    unsigned tile = unsigned(std::stoi(acc.substr(at))),
             depth = unsigned(std::stoi(acc.substr(acc.find(", ", acc.find(", ", at) + 1) + 2)));
    width = depth / (64 / tile);
  }
  if (target_->matrixUnit == ir::MatrixUnit::Wmma && kind.operand == I8 && target_->matrixVersion == 1) width = 16;
  auto side = [&](unsigned index, Shape s) {
    std::string layout = cat("#ttg.dot_op<{opIdx = ", index, ", parent = ", acc, ", kWidth = ", width, "}>");
    Value v = load(s, kind.operand, true);
    if (coin()) return converted(v, layout);
    std::string shared = sharedLayout(s, kind.operand, nullptr), type = "!ttg.memdesc<";
    for (unsigned d : s) type += std::to_string(d) + "x";
    type += std::string(kTypeNames[kind.operand]) + ", " + shared + ", #ttg.shared_memory>";
    std::string mem = emit(cat("ttg.local_alloc ", v.name, " : (", typeOf(v), ") -> ", type));
    v.layout = layout;
    return make(v, v.type, v.bound, cat("ttg.local_load ", mem, " : ", type, " -> ", typeOf(v)));
  };
  Value a = side(0, {m, k}), b = side(1, {k, n});
  put(multiply(a, b, constant({"", {m, n}, kind.accumulator, 0, acc}, kind.accumulator, coin() ? 0 : 1),
               kind.precision));
}

} // namespace tessera::random
