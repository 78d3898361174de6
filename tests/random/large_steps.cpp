// Kernels of few warps on blocks that a thread's registers do not hold: elementwise work along rows, columns and
// vectors, in place, with reductions and scans of rows and stores of several shapes, so that compilers work in
// strips.
#include "kernel_writer.h"

namespace tessera::random {

Value Generator::expanded(Value vector, const Shape &s, unsigned dim) {
  for (unsigned d = 0; d < s.size(); ++d) {
    if (d == dim) continue;
    Value e = vector;
    e.shape.insert(e.shape.begin() + d, 1);
    vector = make(e, e.type, e.bound,
                  cat("tt.expand_dims ", vector.name, " {axis = ", d, " : i32} : ", typeOf(vector), " -> ", typeOf(e)));
  }
  return vector;
}

Value Generator::spread(Value vector, const Shape &s, unsigned dim) { return broadcast(expanded(vector, s, dim), s); }

Value Generator::inPlace(Value v) {
  v = toI32(v);
  unsigned bytes = elementCount(v.shape) * 4, all = bytes * unsigned(kernel_.programs);
  if (upTo(4)) output_ = (output_ + 1) % kOutputs;
  unsigned at;
  if (!takeOutput(all, at)) return v;
  std::string offset = scalar(at / 4);
  if (kernel_.programs > 1)
    offset = emit(cat("arith.addi ", offset, ", ", perProgram(elementCount(v.shape)), " : i32"));
  std::string p = pointers(output(), I32, offset, coin() ? index(v) : shuffledIndex(v)), pt = like(v, "!tt.ptr<i32>");
  for (unsigned times = 1 + upTo(3); times-- > 0;) {
    std::string m = upTo(3) ? "" : ", " + mask(v).name;
    Value old = make(v, I32, -1, cat("tt.load ", p, " : ", pt));
    v = arithmetic(pick({"arith.addi", "arith.xori"}), v, old);
    text_ += cat("    tt.store ", p, ", ", v.name, m, " : ", pt, "\n");
  }
  return v;
}

void Generator::largeSteps() {
  kernel_.large = true;
  kernel_.numWarps = upTo(4) ? 1 : 2;
  Shape s = pick<Shape>(
      {{8192}, {8192}, {16384}, {64, 128}, {128, 64}, {32, 256}, {256, 32}, {128, 128}, {16, 512}, {8, 32, 32}});
  auto type = [&] { return pick({I32, I32, F32, F16, I8, BF16}); };
  put(load(s, type()));
  if (coin()) put(load(s, type(), true));
  for (unsigned k = 0, steps = 1 + upTo(5); k < steps; ++k) {
    Value v = any();
    if (v.shape.size() != s.size()) v = values_.front();
    switch (upTo(14)) {
    case 0:
    case 1:
    case 2: put(binary(v)); break;
    case 3: put(cast(v, pick({I8, I16, I32, I64, F16, F32}))); break;
    case 4: put(select(v)); break;
    case 5: put(load(v.shape, type())); break;
    case 6:
    case 7: put(inPlace(v)); break;
    case 8:
      if (v.shape.size() > 1) v = reduce(v); // perhaps spread over the block again
      if (v.shape.size() < s.size())
        store(v);
      else
        put(v);
      break;
    case 9:
      if (v.shape.size() > 1) put(scan(v));
      break;
    case 10: { // a vector along one dimension, which may be stored itself
      unsigned d = upTo(unsigned(v.shape.size()));
      Value vector = binary(load({v.shape[d]}, type()));
      bool before = coin();
      if (before && coin()) store(vector);
      Value all = toI32(spread(vector, v.shape, d));
      put(arithmetic("arith.xori", toI32(v), all));
      if (coin()) store(values_.back());
      if (!before) store(vector);
      break;
    }
    case 11: put(v.shape.size() > 1 && upTo(3) ? transpose(v) : joinOrSplit(v)); break;
    case 12: put(atomic(v)); break;
    default: store(v);
    }
  }
}

} // namespace tessera::random
