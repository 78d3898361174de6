// Operations on whole tensors: shapes, reductions, scans, dots (see program.h). Shape operations are strided views made
// dense; a reduction runs its region on all pairs of a level of its tree at once.
#include "ir/op_table.h"
#include "ir/scaled_upcasts.h"
#include "ir/tensor_queries.h"
#include "runtime/float_formats.h"
#include "runtime/interpreter/program.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace tessera::runtime {
using namespace ir;

// ---- shapes ---------------------------------------------------------------------------------------------------------

bool Program::broadcast(tt::BroadcastOp op) {
  auto from = shapeOf(op.src());
  Shape strides = rowMajorStrides(from);
  for (unsigned d = 0; d < from.size(); ++d)
    if (from[d] == 1) strides[d] = 0;
  return set(op.result(), gatherStrided(pool_, lanes(op.src()), shapeOf(op.result()), strides));
}

bool Program::transpose(tt::TransOp op) {
  Shape from = rowMajorStrides(shapeOf(op.src())), strides;
  for (int64_t d : op.order()) strides.push_back(from[d]);
  return set(op.result(), gatherStrided(pool_, lanes(op.src()), shapeOf(op.result()), strides));
}

bool Program::join(tt::JoinOp op) {
  const Lanes &a = lanes(op.lhs()), &b = lanes(op.rhs());
  Lanes out(pool_, a.width(), 2 * a.size());
  scatterStrided(out, a, {int64_t(a.size())}, {2}, 0);
  scatterStrided(out, b, {int64_t(b.size())}, {2}, 1);
  return set(op.result(), std::move(out));
}

bool Program::split(tt::SplitOp op) {
  const Lanes src = lanes(op.src());
  int64_t n = src.size() / 2;
  set(op.outLHS(), gatherStrided(pool_, src, {n}, {2}, 0));
  return set(op.outRHS(), gatherStrided(pool_, src, {n}, {2}, 1));
}

bool Program::cat(tt::CatOp op) {
  const Lanes &a = lanes(op.lhs()), &b = lanes(op.rhs());
  Lanes out(pool_, a.width(), a.size() + b.size());
  std::memcpy(out.bytes(), a.bytes(), a.size() * a.width());
  std::memcpy(out.bytes() + a.size() * a.width(), b.bytes(), b.size() * b.width());
  return set(op.result(), std::move(out));
}

bool Program::makeRange(tt::MakeRangeOp op) {
  int64_t n = op.result().type().cast<TensorType>().numElements();
  Lanes out(pool_, laneBytes(op.result().type().scalar()), n);
  for (int64_t i = 0; i < n; ++i) out.setWord(i, zeroExtend(uint64_t(op.start() + i), op.result().type().bitWidth()));
  return set(op.result(), std::move(out));
}

bool Program::extractSlice(amdg::ExtractSliceOp op) {
  Shape strides = rowMajorStrides(shapeOf(op.source()));
  llvm::SmallVector<int64_t, 4> offsets;
  if (auto a = op.staticOffsets().dyn_cast<DenseArrayAttr>())
    offsets.assign(a.values().begin(), a.values().end());
  else if (auto list = op.staticOffsets().dyn_cast<ArrayAttr>()) {
    for (unsigned i = 0; i < list.size(); ++i)
      if (auto x = list[i].dyn_cast<IntegerAttr>()) offsets.push_back(x.sext());
  }
  auto from = shapeOf(op.source()), to = shapeOf(op.result());
  int64_t start = 0;
  bool ok = offsets.size() == from.size() && to.size() == from.size();
  for (unsigned d = 0; ok && d < offsets.size(); ++d) {
    ok = offsets[d] >= 0 && offsets[d] + to[d] <= from[d];
    start += offsets[d] * strides[d];
  }
  if (!ok) return fail(op, "the slice does not lie inside its source");
  return set(op.result(), gatherStrided(pool_, lanes(op.source()), to, strides, start));
}

/// The sources tile the result, in row-major order of the tiles.
bool Program::concat(amdg::ConcatOp op) {
  auto whole = shapeOf(op.result());
  if (op.sources().empty()) return fail(op, "nothing to put together");
  auto part = shapeOf(op.sources()[0]);
  Shape strides = rowMajorStrides(whole), grid;
  bool ok = part.size() == whole.size();
  for (unsigned d = 0; ok && d < whole.size(); ++d) {
    ok = whole[d] % part[d] == 0;
    grid.push_back(whole[d] / part[d]);
  }
  if (!ok || numElements(grid) != int64_t(op.sources().size())) return fail(op, "the sources do not tile the result");
  Shape gridStrides = rowMajorStrides(grid);
  Lanes out(pool_, laneBytes(op.result().type().scalar()), numElements(whole));
  for (unsigned i = 0; i < op.sources().size(); ++i) {
    int64_t start = 0;
    for (unsigned d = 0; d < grid.size(); ++d) start += i / gridStrides[d] % grid[d] * part[d] * strides[d];
    scatterStrided(out, lanes(op.sources()[i]), part, strides, start);
  }
  return set(op.result(), std::move(out));
}

bool Program::gather(tt::GatherOp op) {
  auto from = shapeOf(op.src()), to = shapeOf(op.result());
  unsigned axis = op.axis();
  const Lanes &src = lanes(op.src()), &indices = lanes(op.indices());
  Shape fromStrides = rowMajorStrides(from), toStrides = rowMajorStrides(to);
  Lanes out(pool_, src.width(), indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t k = signedAt(indices, i, op.indices().type().scalar()), at = 0;
    if (k < 0 || k >= from[axis])
      return fail(op, llvm::formatv("index {0} (element {1}) is outside of dimension {2}, which has {3} elements", k, i,
                                    axis, from[axis])
                          .str());
    for (unsigned d = 0; d < to.size(); ++d) at += (d == axis ? k : int64_t(i) / toStrides[d] % to[d]) * fromStrides[d];
    std::memcpy(out.bytes() + i * src.width(), src.bytes() + at * src.width(), src.width());
  }
  return set(op.result(), std::move(out));
}

/// Values outside of the bins are not counted.
bool Program::histogram(tt::HistogramOp op) {
  const Lanes &src = lanes(op.src());
  const Lanes *mask = op.mask() ? &lanes(op.mask()) : nullptr;
  std::vector<uint64_t> bins(op.result().type().cast<TensorType>().numElements());
  for (size_t i = 0; i < src.size(); ++i) {
    uint64_t v = src.word(i);
    if ((!mask || mask->flag(mask->size() == 1 ? 0 : i)) && v < bins.size()) ++bins[v];
  }
  Type t = op.result().type().scalar();
  Lanes out(pool_, laneBytes(t), bins.size());
  for (size_t i = 0; i < bins.size(); ++i) out.setWord(i, zeroExtend(bins[i], t.bitWidth()));
  return set(op.result(), std::move(out));
}

// ---- regions of scalar operations -----------------------------------------------------------------------------------

static Lanes element(const Lanes &l, size_t i) {
  Lanes one = Lanes::one(l.width(), 0);
  std::memcpy(one.bytes(), l.bytes() + i * l.width(), l.width());
  return one;
}

bool Program::runOnLanes(Region &region, llvm::ArrayRef<Lanes> args, llvm::SmallVectorImpl<Lanes> &results) {
  Block *entry = region.front();
  size_t n = 1;
  for (auto &a : args) n = std::max(n, a.size());
  if (run_.plan.isLanewise(&region) || n == 1) {
    for (unsigned k = 0; k < args.size(); ++k) set(entry->arg(k), args[k]);
    Op end = runRegion(region);
    if (!end) return false;
    for (auto v : end->operands()) results.push_back(lanes(v).size() == n ? lanes(v) : repeat(pool_, lanes(v), n));
    return true;
  }
  for (size_t i = 0; i < n; ++i) {
    for (unsigned k = 0; k < args.size(); ++k) set(entry->arg(k), element(args[k], args[k].size() == 1 ? 0 : i));
    Op end = runRegion(region);
    if (!end) return false;
    for (unsigned k = 0; k < end->numOperands(); ++k) {
      const Lanes &r = lanes(end->operand(k));
      if (i == 0) results.push_back(Lanes(pool_, r.width(), n));
      std::memcpy(results[k].bytes() + i * r.width(), r.bytes(), r.width());
    }
  }
  return true;
}

/// A tensor seen as [outer, length, inner] around an axis.
struct AroundAxis {
  int64_t outer = 1, length, inner = 1;
  AroundAxis(llvm::ArrayRef<int64_t> shape, unsigned axis) : length(shape[axis]) {
    for (unsigned d = 0; d < shape.size(); ++d)
      (d < axis ? outer : d > axis ? inner : length) *= d == axis ? 1 : shape[d];
  }
  /// Positions start, start + step, … of the axis, `count` of them.
  Lanes pick(LanePool &p, const Lanes &l, int64_t start, int64_t step, int64_t count) const {
    return gatherStrided(p, l, {outer, count, inner}, {length * inner, step * inner, 1}, start * inner);
  }
  void put(Lanes &into, const Lanes &l, int64_t start, int64_t step, int64_t count) const {
    scatterStrided(into, l, {outer, count, inner}, {length * inner, step * inner, 1}, start * inner);
  }
};

bool Program::reduce(tt::ReduceOp op) {
  unsigned n = op.srcs().size();
  AroundAxis view(shapeOf(op.srcs()[0]), op.axis());
  llvm::SmallVector<Lanes, 2> level;
  for (auto v : op.srcs()) level.push_back(lanes(v));
  while (view.length > 1) {
    int64_t pairs = view.length / 2;
    bool odd = view.length % 2;
    llvm::SmallVector<Lanes, 4> args;
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned k = 0; k < n; ++k) args.push_back(view.pick(pool_, level[k], side, 2, pairs));
    llvm::SmallVector<Lanes, 2> combined;
    if (!runOnLanes(op.combine(), args, combined)) return false;
    AroundAxis next = view;
    next.length = pairs + odd;
    for (unsigned k = 0; k < n; ++k) {
      if (odd) {
        Lanes joined(pool_, combined[k].width(), next.outer * next.length * next.inner);
        next.put(joined, combined[k], 0, 1, pairs);
        next.put(joined, view.pick(pool_, level[k], view.length - 1, 1, 1), pairs, 1, 1);
        level[k] = std::move(joined);
      } else
        level[k] = std::move(combined[k]);
    }
    view = next;
  }
  for (unsigned k = 0; k < n; ++k) set(op->result(k), std::move(level[k]));
  return true;
}

bool Program::scan(tt::ScanOp op) {
  unsigned n = op.srcs().size();
  AroundAxis view(shapeOf(op.srcs()[0]), op.axis());
  llvm::SmallVector<Lanes, 2> out, sources;
  llvm::SmallVector<Lanes, 4> args; // the values so far, then the next ones
  for (auto v : op.srcs()) {
    sources.push_back(lanes(v));
    out.push_back(Lanes(pool_, lanes(v).width(), lanes(v).size()));
  }
  for (int64_t i = 0; i < view.length; ++i) {
    int64_t at = op.reverse() ? view.length - 1 - i : i;
    llvm::SmallVector<Lanes, 2> next;
    for (unsigned k = 0; k < n; ++k) next.push_back(view.pick(pool_, sources[k], at, 1, 1));
    if (i == 0)
      args.assign(next.begin(), next.end());
    else {
      args.append(next.begin(), next.end());
      llvm::SmallVector<Lanes, 4> combined;
      if (!runOnLanes(op.combine(), args, combined)) return false;
      args = std::move(combined);
    }
    for (unsigned k = 0; k < n; ++k) view.put(out[k], args[k], at, 1, 1);
  }
  for (unsigned k = 0; k < n; ++k) set(op->result(k), std::move(out[k]));
  return true;
}

/// The region takes `pack` neighbours of the first source, then of the second, …, and gives its results likewise.
bool Program::mapElementwise(tt::MapElementwiseOp op) {
  int64_t pack = op.pack(), count = lanes(op.srcs()[0]).size();
  if (pack < 1 || count % pack) return fail(op, llvm::formatv("{0} elements are not groups of {1}", count, pack).str());
  llvm::SmallVector<Lanes, 4> args, results;
  for (auto v : op.srcs())
    for (int64_t i = 0; i < pack; ++i) args.push_back(gatherStrided(pool_, lanes(v), {count / pack}, {pack}, i));
  if (!runOnLanes(op.scalarOp(), args, results)) return false;
  if (int64_t(results.size()) != int64_t(op->numResults()) * pack)
    return fail(op,
                llvm::formatv("the region gives {0} values, not {1}", results.size(), op->numResults() * pack).str());
  for (unsigned r = 0; r < op->numResults(); ++r) {
    Lanes out(pool_, laneBytes(op->result(r).type().scalar()), count);
    for (int64_t i = 0; i < pack; ++i) scatterStrided(out, results[r * pack + i], {count / pack}, {pack}, i);
    set(op->result(r), std::move(out));
  }
  return true;
}

// ---- dots -----------------------------------------------------------------------------------------------------------

/// c += a * b for one matrix of the batch, row-major.
template <class T> static void multiply(const T *a, const T *b, T *c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      T x = a[i * k + l];
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += x * b[l * n + j];
    }
}

bool Program::dot(Op op, Type aType, const Lanes &a, Type bType, const Lanes &b, Type cType, const Lanes &c,
                  InputPrecision precision, Lanes &d) {
  auto as = aType.cast<ShapedType>().shape(), bs = bType.cast<ShapedType>().shape();
  unsigned rank = as.size();
  if (rank < 2 || rank > 3 || bs.size() != rank)
    return fail(op, "the interpreter evaluates dots of matrices and batches of them only");
  int64_t batch = rank == 3 ? as[0] : 1, m = as[rank - 2], k = as[rank - 1], n = bs[rank - 1];
  if (bs[rank - 2] != k || (rank == 3 && bs[0] != batch) || int64_t(c.size()) != batch * m * n)
    return fail(op, "the operands' shapes do not fit together");
  Type ae = aType.cast<ShapedType>().element(), be = bType.cast<ShapedType>().element(),
       ce = cType.cast<ShapedType>().element();
  if (ae.isInteger() && be.isInteger() && ce.isInteger() && ce.bitWidth() <= 64) {
    auto words = [](const Lanes &l, Type t) {
      std::vector<uint64_t> v(l.size());
      for (size_t i = 0; i < l.size(); ++i) v[i] = uint64_t(signedAt(l, i, t));
      return v;
    };
    auto x = words(a, ae), y = words(b, be), z = words(c, ce);
    for (int64_t i = 0; i < batch; ++i) multiply(&x[i * m * k], &y[i * k * n], &z[i * m * n], m, n, k);
    d = Lanes(pool_, c.width(), c.size());
    for (size_t i = 0; i < z.size(); ++i) d.setWord(i, zeroExtend(z[i], ce.bitWidth()));
    return true;
  }
  if (!ae.isFloat() || !be.isFloat() || !ce.isFloat())
    return fail(op, "the interpreter does not multiply " + ae.str() + " and " + be.str() + " into " + ce.str());
  auto numbers = [&](const Lanes &l, Type t) {
    std::vector<double> v(l.size());
    toDoubles(l, t.cast<FloatType>().floatKind(), v.data());
    if (t.isF32() && precision == InputPrecision::Tf32 && run_.options.tf32 != Tf32::Exact)
      for (auto &e : v) e = roundToTf32(float(e), run_.options.tf32 == Tf32::Truncate);
    return v;
  };
  std::vector<double> x = numbers(a, ae), y = numbers(b, be), z(c.size());
  toDoubles(c, ce.cast<FloatType>().floatKind(), z.data());
  for (int64_t i = 0; i < batch; ++i) multiply(&x[i * m * k], &y[i * k * n], &z[i * m * n], m, n, k);
  d = fromDoubles(pool_, ce.cast<FloatType>().floatKind(), z.data(), z.size());
  return true;
}

/// 6-bit floats e2m3 and e3m2.
static double decodeFp6(unsigned bits, bool e3m2) {
  unsigned mantissa = e3m2 ? 2 : 3, exponent = (bits & 31) >> mantissa, m = bits & ((1u << mantissa) - 1);
  int bias = e3m2 ? 3 : 1;
  double v = exponent ? std::ldexp(1.0 + double(m) / (1 << mantissa), int(exponent) - bias)
                      : std::ldexp(double(m) / (1 << mantissa), 1 - bias);
  return bits & 32 ? -v : v;
}

namespace {
/// An operand of dot_scaled as numbers: [rows, k] for the left one, [k, columns] for the right one.
/// e8m0 (OCP Microscaling Formats).
double powerOfE8m0(unsigned bits) { return bits == 255 ? std::nan("") : std::ldexp(1.0, int(bits) - 127); }

struct ScaledOperand {
  std::vector<double> v;
  int64_t outer, k;
};
} // namespace

/// The matrix of that number in a batch (of one, where the rank is 2).
static void decodeScaled(const Lanes &l, TensorType type, int64_t batch, ScaleDotElemType kind, bool isLeft,
                         bool packsK, ScaledOperand &out) {
  bool fp4 = kind == ScaleDotElemType::E2m1;
  int64_t rows = type.dim(type.rank() - 2), columns = type.dim(type.rank() - 1), first = batch * rows * columns;
  // Which dimension the two values of a byte lie along: 0 rows, 1 columns.
  unsigned along = isLeft == packsK ? 1 : 0;
  int64_t outRows = rows * (fp4 && along == 0 ? 2 : 1), outColumns = columns * (fp4 && along == 1 ? 2 : 1);
  out.v.resize(outRows * outColumns);
  out.outer = isLeft ? outRows : outColumns;
  out.k = isLeft ? outColumns : outRows;
  for (int64_t r = 0; r < outRows; ++r)
    for (int64_t c = 0; c < outColumns; ++c) {
      int64_t at = fp4 ? (along == 0 ? r / 2 : r) * columns + (along == 1 ? c / 2 : c) : r * columns + c;
      uint64_t bits = l.word(first + at);
      double v = 0;
      switch (kind) {
      case ScaleDotElemType::E2m1: v = decodeE2m1(unsigned((along == 0 ? r : c) % 2 ? bits >> 4 : bits) & 15); break;
      case ScaleDotElemType::E2m3: v = decodeFp6(unsigned(bits), false); break;
      case ScaleDotElemType::E3m2: v = decodeFp6(unsigned(bits), true); break;
      case ScaleDotElemType::E4m3: v = decodeFloat(FloatKind::F8E4M3FN, bits); break;
      case ScaleDotElemType::E5m2: v = decodeFloat(FloatKind::F8E5M2, bits); break;
      case ScaleDotElemType::Bf16: v = decodeFloat(FloatKind::BF16, bits); break;
      case ScaleDotElemType::Fp16: v = decodeFloat(FloatKind::F16, bits); break;
      }
      out.v[r * outColumns + c] = v;
    }
}

/// Scales are [rows or columns of the result, k / group]: integers are e8m0 exponents, floats are themselves.
bool Program::dotScaled(tt::DotScaledOp op) {
  auto cType = op.c().type().cast<TensorType>(), aType = op.a().type().cast<TensorType>();
  if (!cType.element().isFloat()) return fail(op, "the interpreter evaluates dot_scaled on matrices of floats only");
  FloatKind kind = cType.element().cast<FloatType>().floatKind();
  std::vector<double> c(cType.numElements());
  toDoubles(lanes(op.c()), kind, c.data());
  int64_t batches = cType.rank() == 3 ? cType.dim(0) : 1, size = cType.numElements() / batches;
  for (int64_t batch = 0; batch < batches; ++batch) {
    ScaledOperand a, b;
    decodeScaled(lanes(op.a()), aType, batch, op.aElemType(), true, op.lhsKPack(), a);
    decodeScaled(lanes(op.b()), op.b().type().cast<TensorType>(), batch, op.bElemType(), false, op.rhsKPack(), b);
    auto scale = [&](ScaledOperand &x, Value s, bool isLeft) {
      if (!s) return;
      auto type = s.type().cast<TensorType>();
      int64_t groups = type.dim(type.rank() - 1), group = x.k / groups;
      for (int64_t o = 0; o < x.outer; ++o)
        for (int64_t i = 0; i < x.k; ++i) {
          uint64_t bits = lanes(s).word((batch * x.outer + o) * groups + i / group);
          double f = type.element().isFloat() ? decodeFloat(type.element().cast<FloatType>().floatKind(), bits)
                                              : powerOfE8m0(unsigned(bits));
          x.v[isLeft ? o * x.k + i : i * x.outer + o] *= f;
        }
    };
    scale(a, op.aScale(), true), scale(b, op.bScale(), false);
    multiply(a.v.data(), b.v.data(), c.data() + batch * size, a.outer, b.outer, a.k);
  }
  return set(op.d(), fromDoubles(pool_, kind, c.data(), c.size()));
}

/// Two values per byte along the axis, the low four bits first. False if the shapes do not fit together.
static bool unpackE2m1(const Lanes &bytes, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, unsigned axis,
                       std::vector<double> &v) {
  AroundAxis source(from, axis), result(to, axis);
  if (result.length != 2 * source.length || result.outer != source.outer || result.inner != source.inner) return false;
  v.resize(result.outer * result.length * result.inner);
  for (int64_t o = 0; o < source.outer; ++o)
    for (int64_t k = 0; k < result.length; ++k)
      for (int64_t i = 0; i < source.inner; ++i) {
        uint64_t byte = bytes.word((o * source.length + k / 2) * source.inner + i);
        v[(o * result.length + k) * result.inner + i] = decodeE2m1(unsigned(k % 2 ? byte >> 4 : byte) & 15);
      }
  return true;
}

bool Program::fp4ToFp(ttg::Fp4ToFpOp op) {
  std::vector<double> v;
  if (!unpackE2m1(lanes(op.src()), shapeOf(op.src()), shapeOf(op.result()), unsigned(op.axis()), v))
    return fail(op, "the shapes do not fit together");
  return set(op.result(),
             fromDoubles(pool_, op.result().type().scalar().cast<FloatType>().floatKind(), v.data(), v.size()));
}

bool Program::scaledUpcast(amdg::ScaledUpcastFp8Op op) {
  std::vector<double> v(lanes(op.input()).size());
  toDoubles(lanes(op.input()), op.input().type().scalar().cast<FloatType>().floatKind(), v.data());
  return setScaled(op.output(), std::move(v), op.scale());
}
bool Program::scaledUpcast(amdg::ScaledUpcastFp4Op op) {
  std::vector<double> v;
  if (!unpackE2m1(lanes(op.input()), shapeOf(op.input()), shapeOf(op.output()), unsigned(op.axis()), v))
    return fail(op, "the shapes do not fit together");
  return setScaled(op.output(), std::move(v), op.scale());
}
bool Program::scaledUpcast(amdg::UpcastMxfpOp op) {
  auto axis = axisOfK(op);
  if (!axis) return fail(op, "its elements and scales do not fit together");
  auto shape = shapeOf(op.output());
  Type element = op.src().type().scalar();
  std::vector<double> v(tensorOf(op.output()).numElements());
  if (op.fpType() == ScaleDotElemType::E2m1)
    unpackE2m1(lanes(op.src()), shapeOf(op.src()), shape, *axis, v);
  else
    toDoubles(lanes(op.src()), element.isFloat() ? element.cast<FloatType>().floatKind() : float8KindOf(op), v.data());
  // […, m, k] has the scale at […, m, k / 32], K being the last dimension or the one before it.
  bool isLast = *axis == shape.size() - 1;
  int64_t rows = shape[shape.size() - 2], columns = shape.back(), k = shape[*axis];
  for (int64_t i = 0; i < int64_t(v.size()); ++i) {
    int64_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
    int64_t outer = batch * (rows * columns / k) + (isLast ? row : column);
    int64_t group = (isLast ? column : row) / kElementsOfMxfpScale;
    v[i] *= powerOfE8m0(unsigned(lanes(op.scale()).word(outer * (k / kElementsOfMxfpScale) + group)));
  }
  return set(op.output(),
             fromDoubles(pool_, op.output().type().scalar().cast<FloatType>().floatKind(), v.data(), v.size()));
}

/// Numbers times their scales, which are e8m0: bytes, or bf16 with these as exponents.
bool Program::setScaled(Value result, std::vector<double> numbers, Value scale) {
  bool isBf16 = scale.type().scalar().isFloat();
  for (auto [i, number] : llvm::enumerate(numbers)) {
    uint64_t bits = lanes(scale).word(i);
    number *= powerOfE8m0(unsigned(isBf16 ? bits >> 7 : bits) & 0xff);
  }
  return set(result,
             fromDoubles(pool_, result.type().scalar().cast<FloatType>().floatKind(), numbers.data(), numbers.size()));
}

} // namespace tessera::runtime
