// Kernels whose blocks go over an end: masks  start + range < n  of loads, stores and selections, in which n lies
// anywhere within a block, at its ends, before all of them or behind. Starts and ends are arguments or computed from
// them, of 32 and 64 bits, also close to where these numbers wrap around; comparisons are signed and unsigned, strict
// and not, of single elements or of groups of them, alone and combined. The addresses are in bounds wherever a mask
// may be true: they are of the same indices, or of others of their own.
//
// Most of these kernels have no loop, which is what full-block-versions wants of them.
#include "kernel_writer.h"
#include <limits>

namespace tessera::random {

namespace {

constexpr unsigned kMostPrograms = 4, kMostElements = kInputs / kMostPrograms;

int64_t wrapped(Type t, int64_t n) { return t == I32 ? int64_t(int32_t(uint32_t(uint64_t(n)))) : n; }
int64_t sum(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }

} // namespace

Value Generator::extended(const Value &v) {
  Value wide = v;
  wide.type = I64;
  return v.type == I64 ? v : make(v, I64, -1, cat("arith.extsi ", v.name, " : ", typeOf(v), " to ", typeOf(wide)));
}

std::string Generator::scalarSum(const std::string &a, const std::string &b, Type t) {
  return emit(cat("arith.addi ", a, ", ", b, " : ", kTypeNames[t]));
}

Generator::Extent Generator::extent(unsigned size, bool moves) {
  Extent e{size, moves && kernel_.programs > 1 ? size : 0};
  e.type = upTo(3) ? I32 : I64;
  if (upTo(4) == 0) { // not where the addresses begin
    int64_t within = upTo(2 * size * unsigned(kernel_.programs));
    using Of32 = std::numeric_limits<int32_t>;
    using Of64 = std::numeric_limits<int64_t>;
    e.base = e.type == I32 ? pick<int64_t>({-within, within, Of32::max() - within, Of32::min() + within})
                           : pick<int64_t>({-within, within, Of32::max() - within, (int64_t(1) << 32) - within,
                                            Of64::max() - within, Of64::min() + within});
  }
  e.start = number(e.base, e.type);
  if (e.step) {
    std::string n = pid_, t = kTypeNames[e.type];
    if (e.type == I64) n = emit(cat("arith.extsi ", n, " : i32 to i64"));
    n = emit(cat("arith.muli ", n, ", ", emit(cat("arith.constant ", e.step, " : ", t)), " : ", t));
    e.start = e.base || coin() ? scalarSum(n, e.start, e.type) : n;
  }
  // Three ways to count on from the start.
  int64_t later = upTo(3) ? 0 : 1 + upTo(32);
  bool isInRange = coin();
  std::string start = e.start;
  if (later) start = scalarSum(start, emit(cat("arith.constant ", -later, " : ", kTypeNames[e.type])), e.type);
  int64_t first = isInRange ? later : 0;
  Value range{"", {size}, I32, -1, {}};
  range = make(range, I32, -1,
               cat("tt.make_range {end = ", first + size, " : i32, start = ", first, " : i32} : ", typeOf(range)));
  if (e.type == I64) range = extended(range);
  bool isAddedLast = coin();
  auto addRest = [&](const Value &v) {
    return later && !isInRange ? arithmetic("arith.addi", v, constant(v, e.type, later)) : v;
  };
  if (!isAddedLast) range = addRest(range);
  Value from = splat(start, range, e.type);
  e.indices = coin() ? arithmetic("arith.addi", from, range) : arithmetic("arith.addi", range, from);
  if (isAddedLast) e.indices = addRest(e.indices);
  return e;
}

Value Generator::placesOf(const Extent &e, bool isWide) {
  if (!e.base && coin()) return e.indices;
  // Of 32 bits it may not wrap around on the way; the compiler narrows what is truncated to them.
  bool mayWrap = std::abs(e.base) >= 1 << 30 && (e.type == I32 || !isWide);
  if (!mayWrap && coin()) return arithmetic("arith.subi", e.indices, constant(e.indices, e.type, e.base));
  Value v{"", {e.size}, I32, -1, {}};
  v = range(v, 0);
  return e.step ? arithmetic("arith.addi", splat(perProgram(e.step), v, I32), v) : v;
}

int64_t Generator::endOf(const Extent &e, Type t) {
  int64_t start = sum(e.base, int64_t(e.step) * upTo(unsigned(kernel_.programs))), size = e.size;
  bool wraps = e.type == t; // else the sum may be too large for the indices, not for the end
  int64_t greatest = t == I32 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  int64_t n = upTo(8) ? sum(start, pick<int64_t>({0, 1, size - 1, size, size + 1, size / 2, upTo(e.size), upTo(e.size),
                                                  16 * int64_t(upTo(e.size / 16 + 1))}))
                      : pick<int64_t>({0, -1, -int64_t(upTo(1000)), greatest, greatest - 1, -greatest - 1});
  return wraps ? wrapped(t, n) : n;
}

std::string Generator::computedEnd(int64_t n, Type t) {
  int64_t other = 1 + upTo(100);
  bool isShort = n == int64_t(int32_t(n));
  switch (upTo(6)) {
  case 0:
    return scalarSum(number(wrapped(t, sum(n, other)), t), emit(cat("arith.constant ", -other, " : ", kTypeNames[t])),
                     t);
  case 1: {
    std::string least = pick({"arith.minsi ", "arith.minui "}), more = number(n, t);
    return emit(cat(least, number(n, t), ", ", more, " : ", kTypeNames[t]));
  }
  case 2:
    if (t == I64 && isShort) return emit(cat("arith.extsi ", number(n, I32), " : i32 to i64"));
    return number(n, t);
  default: return number(n, t);
  }
}

Value Generator::comparison(const Extent &e, const Shape &s, unsigned dim) {
  Value i = e.indices;
  if (i.type == I32 && upTo(4) == 0) i = extended(i);
  // Elements that stay together.
  int64_t together = upTo(8) ? 1 : int64_t(1) << (1 + upTo(4));
  if (together > 1)
    i = coin() ? arithmetic("arith.andi", i, constant(i, i.type, -together))
               : arithmetic("arith.xori", i, constant(i, i.type, together - 1));
  unsigned form = upTo(3); // compared before it is spread over the block, in between, or after
  if (form == 1) i = expanded(i, s, dim);
  if (form == 2) i = spread(i, s, dim);
  int64_t n = endOf(e, i.type);
  Value end = upTo(5) ? splat(computedEnd(n, i.type), i, i.type) : constant(i, i.type, n);
  bool isFirst = upTo(4); // the end is the right operand
  const char *less = upTo(6) ? pick({"slt", "slt", "sle"}) : pick({"ult", "ule", "ne"}),
             *more = upTo(6) ? pick({"sgt", "sgt", "sge"}) : pick({"ugt", "uge", "eq"});
  if (upTo(10) == 0) std::swap(less, more); // elements from there on
  Value m = make(i, I1, 1,
                 cat("arith.cmpi ", isFirst ? less : more, ", ", isFirst ? i.name : end.name, ", ",
                     isFirst ? end.name : i.name, " : ", typeOf(i)));
  if (form == 0) return spread(m, s, dim);
  return broadcast(m, s);
}

Value Generator::raggedMask(const std::vector<Extent> &extents, const Shape &s) {
  unsigned rank = unsigned(s.size());
  Value m = comparison(extents[rank - 1], s, rank - 1);
  for (unsigned k = coin() ? 0 : 1 + upTo(2); k > 0; --k) {
    unsigned dim = upTo(rank);
    m = arithmetic(upTo(8) ? "arith.andi" : pick({"arith.ori", "arith.xori"}), m, comparison(extents[dim], s, dim), 1);
  }
  return m;
}

Value Generator::placesIn(const RaggedBlock &block, bool isWide) {
  const Shape &s = block.shape;
  unsigned rank = unsigned(s.size());
  Value at;
  for (unsigned d = rank; d-- > 0;) {
    Value i = placesOf(block.extents[d], isWide);
    if (isWide) i = extended(i);
    if (!isWide && i.type == I64)
      i = make(i, I32, -1, cat("arith.trunci ", i.name, " : ", typeOf(i), " to ", like(i, "i32")));
    i = spread(i, s, d);
    if (d + 1 == rank) {
      at = i;
      continue;
    }
    int64_t rows = int64_t(s[1]) * (block.moving == 1 ? kernel_.programs : 1);
    Value rowLength = upTo(4) ? constant(i, i.type, rows) : splat(number(rows, i.type), i, i.type);
    at = arithmetic("arith.addi", arithmetic("arith.muli", i, rowLength), at);
  }
  return at;
}

std::pair<std::string, std::string> Generator::pointersTo(const RaggedBlock &block, const std::string &base, Type t,
                                                          const std::string &offset) {
  Value i = placesIn(block, upTo(3) == 0);
  std::string pt = like(i, (std::string("!tt.ptr<") + kTypeNames[t] + ">").c_str()),
              p = emit(cat("tt.splat ", moved(base, t, offset), " : !tt.ptr<", kTypeNames[t], "> -> ", pt));
  return {emit(cat("tt.addptr ", p, ", ", i.name, " : ", pt, ", ", typeOf(i))), pt};
}

Value Generator::loadRagged(const RaggedBlock &block, Type t, const Value *m, bool hasOther) {
  Value v{"", block.shape, t, t == I32 ? -1 : kSmall, {}};
  unsigned room = kInputs - elementCount(block.shape) * unsigned(kernel_.programs);
  std::string offset = !room || upTo(4) ? "" : scalar(coin() ? upTo(room) : upTo(room / 16) * 16);
  auto [p, pt] = pointersTo(block, inputOf(t), t, offset);
  std::string other = m && hasOther ? ", " + constant(v, t, upTo(4)).name : "";
  return make(v, t, v.bound, cat("tt.load ", p, m ? ", " + m->name : "", other, " : ", pt));
}

void Generator::storeRagged(const RaggedBlock &block, Value v, const Value *m) {
  if (v.type == I1 || isNarrow(v.type)) v = cast(v, v.type == I1 ? I8 : F32);
  unsigned all = elementCount(block.shape) * kTypeBits[v.type] / 8 * unsigned(kernel_.programs), at;
  if (!takeOutput(all, at)) return;
  std::string base = output();
  if (v.type != I32) base = emit(cat("tt.bitcast ", base, " : !tt.ptr<i32> -> !tt.ptr<", kTypeNames[v.type], ">"));
  auto [p, pt] = pointersTo(block, base, v.type, at ? scalar(at * 8 / kTypeBits[v.type]) : "");
  text_ += cat("    tt.store ", p, ", ", v.name, m ? ", " + m->name : "", " : ", pt, "\n");
}

Generator::RaggedBlock Generator::raggedBlock() {
  unsigned rank = upTo(3) ? 1 : 2, bits = 4 + upTo(9);
  RaggedBlock block;
  block.shape = {1u << bits};
  if (rank == 2) {
    unsigned rows = upTo(std::min(bits, 5u) + 1);
    block.shape = {1u << rows, 1u << (bits - rows)};
  }
  static_assert(1 << 12 <= kMostElements);
  if (upTo(6) == 0) { // some programs do nothing
    std::string c = emit(cat("arith.cmpi ", pick({"eq", "sgt"}), ", ", pid_, ", ",
                             number(upTo(unsigned(kernel_.programs)), I32), " : i32"));
    text_ += cat("    cf.cond_br ", c, ", ^nothing, ^work\n  ^nothing:\n    tt.return\n  ^work:\n");
  }
  block.moving = upTo(rank);
  for (unsigned d = 0; d < rank; ++d) block.extents.push_back(extent(block.shape[d], d == block.moving));
  return block;
}

void Generator::raggedSteps() {
  kernel_.programs = 1 + int(upTo(kMostPrograms));
  kernel_.numWarps = 1 << upTo(3); // more leave most threads one element, which no mask makes narrower
  RaggedBlock block = raggedBlock();
  const Shape &s = block.shape;
  std::vector<Value> masks{raggedMask(block.extents, s)};
  auto anyMask = [&] {
    if (upTo(4) == 0) masks.push_back(raggedMask(block.extents, s));
    return masks[upTo(unsigned(masks.size()))];
  };
  auto type = [&] { return pick({I32, I32, I8, F16, BF16, F32, E4M3, E5M2}); };

  if (upTo(4) == 0) { // one mask for all; what it leaves out has no value
    Type t = pick({I32, I8, F16, BF16, F32});
    Value v = loadRagged(block, t, &masks[0], false), w = loadRagged(block, t, &masks[0], false);
    v = arithmetic(isFloat(t) ? "arith.addf" : "arith.addi", v, w, isFloat(t) ? 2 * kSmall : -1);
    storeRagged(block, v, &masks[0]);
    return put(constant({"", {1}, I32, -1, {}}, I32, 1));
  }
  put(loadRagged(block, type(), &masks[0], true));
  for (unsigned k = upTo(5); k > 0; --k) {
    Value v = any();
    if (v.shape != s) v = values_.front();
    switch (upTo(10)) {
    case 0:
    case 1: put(binary(v)); break;
    case 2: put(cast(v, pick({I1, I8, I16, I32, I64, F16, BF16, F32}))); break;
    case 3: {
      Value m = anyMask(), other = constant(v, v.type, v.type == I1 ? 0 : 2);
      put(make(v, v.type, v.bound < 0 ? -1 : std::max<int64_t>(v.bound, 2),
               cat("arith.select ", m.name, ", ", v.name, ", ", other.name, " : ", typeOf(m), ", ", typeOf(v))));
      break;
    }
    case 4: put(reduce(v)); break;
    case 5: put(upTo(3) ? binary(v) : scan(v)); break;
    case 6: put(upTo(3) ? atomic(v) : generalBranch(v)); break;
    case 7: {
      Value m = anyMask();
      storeRagged(block, v, upTo(6) ? &m : nullptr);
      break;
    }
    default: {
      Value m = anyMask();
      put(loadRagged(block, type(), upTo(6) ? &m : nullptr, true));
    }
    }
  }
  Value last = any();
  if (last.shape != s) last = values_.front();
  Value m = anyMask();
  storeRagged(block, last, &m);
}

} // namespace tessera::random
