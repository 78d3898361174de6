// Shared and tensor memory as logical tensors (see program.h): a buffer is its elements in row-major order, a memory
// descriptor a list of which of them it shows. Layouts, swizzles and padding have no part in it. Copies that are
// asynchronous on hardware are done at once; mbarriers count arrivals and bytes all the same, so that a wait that
// nothing satisfies is found.
#include "ir/op_table.h"
#include "layouts/tensor_memory_places.h"
#include "runtime/interpreter/program.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

namespace tessera::runtime {
using namespace ir;

// ---- buffers and views ----------------------------------------------------------------------------------------------

bool Program::localAlloc(Op op, Value src, Value result) {
  auto type = result.type().cast<MemDescType>();
  auto buffer = std::make_shared<SharedBuffer>();
  int64_t n = type.numElements();
  if (!laneBytes(type.element())) return fail(op, "the interpreter cannot hold " + type.str());
  buffer->elements = undefined(type.element(), n);
  std::vector<uint32_t> at(n);
  std::iota(at.begin(), at.end(), 0);
  set(result, Object(SharedView{std::move(buffer), std::move(at)}));
  return !src || writeView(op, result, lanes(src));
}

bool Program::checkLive(Op op, Value v) {
  return !view(v).buffer->freed || fail(op, "the buffer is used after its local_dealloc");
}

Lanes Program::readView(Value v) {
  const SharedView &s = view(v);
  const Lanes &from = s.buffer->elements;
  Lanes out(pool_, from.width(), s.at.size());
  withWord(from.width(), [&](auto zero) {
    using U = decltype(zero);
    const U *x = from.as<U>();
    U *r = out.as<U>();
    for (size_t i = 0; i < s.at.size(); ++i) r[i] = x[s.at[i]];
  });
  return out;
}

bool Program::writeView(Op op, Value v, const Lanes &values) {
  const SharedView &s = view(v);
  if (!checkLive(op, v)) return false;
  Lanes &into = s.buffer->elements;
  if (values.width() != into.width() || values.size() != s.at.size())
    return fail(op, llvm::formatv("{0} elements of {1} bytes do not fit into {2} of {3}", values.size(), values.width(),
                                  s.at.size(), into.width())
                        .str());
  withWord(into.width(), [&](auto zero) {
    using U = decltype(zero);
    const U *x = values.as<U>();
    U *r = into.as<U>();
    for (size_t i = 0; i < s.at.size(); ++i) r[s.at[i]] = x[i];
  });
  return true;
}

/// Whether elements of tensor memory of one shape are where those of the other are.
static bool haveSamePlaces(MemDescType a, MemDescType b) {
  auto *x = layouts::dynCast<layouts::TensorMemoryEncoding>(a.encoding()),
       *y = layouts::dynCast<layouts::TensorMemoryEncoding>(b.encoding());
  if (!x || !y || x == y || a.rank() < 2) return true;
  auto from = layouts::tensorMemoryPlaces(*x, a.shape().take_back(2)),
       to = layouts::tensorMemoryPlaces(*y, b.shape().take_back(2));
  return from.ok() && to.ok() && *from == *to;
}

bool Program::viewOp(Op op) {
  Value src = op->operand(0), result = op->result(0);
  if (!checkLive(op, src)) return false;
  const SharedView &from = view(src);
  auto shape = shapeOf(src), to = shapeOf(result);
  Shape strides = rowMajorStrides(shape);
  SharedView out{from.buffer, {}};
  // The elements of `to` at these strides from `start`.
  auto take = [&](llvm::ArrayRef<int64_t> steps, int64_t start) {
    int64_t n = numElements(to);
    Shape dense = rowMajorStrides(to);
    out.at.resize(n);
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = start;
      for (unsigned d = 0; d < to.size(); ++d) at += i / dense[d] % to[d] * steps[d];
      out.at[i] = from.at[at];
    }
  };
  switch (op->opcode()) {
  case Opcode::ttg_memdesc_index: {
    int64_t i = integer(op->cast<ttg::MemdescIndexOp>().index());
    if (i < 0 || i >= shape[0])
      return fail(op, llvm::formatv("index {0} is outside of a buffer of {1}", i, shape[0]).str());
    if (numElements(to) != strides[0]) return fail(op, "the slice does not have the shape of its result");
    out.at.assign(from.at.begin() + i * strides[0], from.at.begin() + (i + 1) * strides[0]);
    break;
  }
  case Opcode::ttg_memdesc_subslice: {
    auto offsets = op->cast<ttg::MemdescSubsliceOp>().offsets();
    int64_t start = 0;
    bool ok = offsets.size() == shape.size() && to.size() == shape.size();
    for (unsigned d = 0; ok && d < shape.size(); ++d) {
      ok = offsets[d] >= 0 && offsets[d] + to[d] <= shape[d];
      start += offsets[d] * strides[d];
    }
    if (!ok) return fail(op, "the slice does not lie inside its source");
    take(strides, start);
    break;
  }
  case Opcode::ttng_tmem_subslice: take(strides, op->cast<ttng::TmemSubsliceOp>().N()); break;
  case Opcode::ttg_memdesc_trans: {
    Shape steps;
    for (int64_t d : op->cast<ttg::MemdescTransOp>().order()) steps.push_back(strides[d]);
    if (steps.size() != to.size()) return fail(op, "the order does not name every dimension");
    take(steps, 0);
    break;
  }
  case Opcode::ttg_memdesc_reshape:
    if (numElements(to) != int64_t(from.at.size())) return fail(op, "the shapes have different numbers of elements");
    out.at = from.at;
    break;
  default: // ttg.memdesc_reinterpret
    if (to != shape ||
        laneBytes(src.type().cast<MemDescType>().element()) != laneBytes(result.type().cast<MemDescType>().element()) ||
        !haveSamePlaces(src.type().cast<MemDescType>(), result.type().cast<MemDescType>()))
      return fail(op, "the interpreter keeps shared memory as tensors and cannot see " + src.type().str() + " as " +
                          result.type().str());
    out.at = from.at;
  }
  return set(result, Object(std::move(out)));
}

/// Position in a tensor of the element whose coordinate along the axis is replaced.
static int64_t withCoordinate(int64_t i, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                              llvm::ArrayRef<int64_t> otherStrides, unsigned axis, int64_t coordinate) {
  int64_t at = 0;
  for (unsigned d = 0; d < shape.size(); ++d)
    at += (d == axis ? coordinate : i / strides[d] % shape[d]) * otherStrides[d];
  return at;
}

/// The coordinate along the axis that an element's index names; an error if there is none.
std::optional<int64_t> Program::namedCoordinate(Op op, Value indices, size_t i, int64_t size, unsigned axis) {
  int64_t k = signedAt(lanes(indices), i, indices.type().scalar());
  if (k >= 0 && k < size) return k;
  fail(op,
       llvm::formatv("index {0} (element {1}) is outside of dimension {2}, which has {3} elements", k, i, axis, size)
           .str());
  return std::nullopt;
}

bool Program::localGather(ttg::LocalGatherOp op) {
  if (!checkLive(op, op.src())) return false;
  Lanes from = readView(op.src());
  const Lanes &indices = lanes(op.indices());
  auto shape = shapeOf(op.indices()), source = shapeOf(op.src());
  Shape strides = rowMajorStrides(shape), sourceStrides = rowMajorStrides(source);
  Lanes out(pool_, from.width(), indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    auto k = namedCoordinate(op, op.indices(), i, source[op.axis()], op.axis());
    if (!k) return false;
    int64_t at = withCoordinate(i, shape, strides, sourceStrides, op.axis(), *k);
    std::memcpy(out.bytes() + i * from.width(), from.bytes() + at * from.width(), from.width());
  }
  return set(op.result(), std::move(out));
}

bool Program::localScatter(ttg::LocalScatterOp op) {
  if (!checkLive(op, op.dst())) return false;
  Lanes into = readView(op.dst());
  const Lanes &indices = lanes(op.indices()), &values = lanes(op.values());
  auto shape = shapeOf(op.indices()), target = shapeOf(op.dst());
  Shape strides = rowMajorStrides(shape), targetStrides = rowMajorStrides(target);
  for (size_t i = 0; i < indices.size(); ++i) {
    auto k = namedCoordinate(op, op.indices(), i, target[op.axis()], op.axis());
    if (!k) return false;
    int64_t at = withCoordinate(i, shape, strides, targetStrides, op.axis(), *k);
    std::memcpy(into.bytes() + at * into.width(), values.bytes() + i * values.width(), values.width());
  }
  return writeView(op, op.dst(), into);
}

bool Program::localAtomic(ttg::LocalAtomicScatterRmwOp op) {
  if (!checkLive(op, op.dst())) return false;
  Lanes into = readView(op.dst());
  const Lanes &indices = lanes(op.indices()), &values = lanes(op.values());
  const Lanes *mask = op.mask() ? &lanes(op.mask()) : nullptr;
  auto shape = shapeOf(op.indices()), target = shapeOf(op.dst());
  Shape strides = rowMajorStrides(shape), targetStrides = rowMajorStrides(target);
  Type element = op.values().type().scalar();
  Lanes old = undefined(element, indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    if (mask && !mask->flag(mask->size() == 1 ? 0 : i)) continue;
    auto k = namedCoordinate(op, op.indices(), i, target[op.axis()], op.axis());
    if (!k) return false;
    int64_t at = withCoordinate(i, shape, strides, targetStrides, op.axis(), *k);
    uint64_t before = into.word(at);
    old.setWord(i, before);
    into.setWord(at, combineAtomic(op.atomicRmwOp(), element, before, values.word(i)));
  }
  return writeView(op, op.dst(), into) && set(op.result(), std::move(old));
}

// ---- copies ---------------------------------------------------------------------------------------------------------

bool Program::asyncCopy(Op op, Type element, const Lanes &addresses, Value mask, Value other, Value dest) {
  size_t n = addresses.size();
  if (unsigned bytes; !memoryWidth(op, element, bytes)) return false;
  // What the mask leaves out is filled with zeros, as cp.async and buffer loads do.
  Lanes values = padding(element, n, false);
  if (other) {
    const Lanes full = lanes(other).size() == n ? lanes(other) : repeat(pool_, lanes(other), n);
    std::memcpy(values.bytes(), full.bytes(), n * full.width());
  }
  return readLanes(op, element, addresses, mask ? &lanes(mask) : nullptr, values) && writeView(op, dest, values);
}

bool Program::tmaLoad(ttng::AsyncTmaCopyGlobalToLocalOp op) {
  if (!op.offsets().empty()) return fail(op, "the interpreter does not know im2col copies");
  if (!flag(op.pred())) return true;
  Lanes values;
  return descriptorLoad(op, op.desc(), op.coord(), values) && completeCopy(op, op.result(), values, op.barrier());
}

bool Program::tmaGather(ttng::AsyncTmaGatherOp op) {
  if (!flag(op.pred())) return true;
  Lanes values;
  return gatherRows(op, op.desc(), op.xOffsets(), op.yOffset(), op.result().type(), values) &&
         completeCopy(op, op.result(), values, op.barrier());
}

bool Program::completeCopy(Op op, Value into, const Lanes &values, Value mbarrier) {
  if (!writeView(op, into, values)) return false;
  Mbarrier &b = barrier(mbarrier);
  b.bytes -= int64_t(values.size() * values.width());
  completePhase(b);
  return true;
}

bool Program::tmemStore(ttng::TmemStoreOp op) {
  if (flag(op.pred()) && !writeView(op, op.dst(), lanes(op.src()))) return false;
  return !op.token() || set(op.token(), Lanes());
}

bool Program::evaluateMask(ttg::MaskOp op) {
  if (flag(op.pred())) return yieldFrom(op, op.region());
  for (auto v : op.results())
    if (!setUndefined(v)) return false;
  return true;
}

// ---- mbarriers ------------------------------------------------------------------------------------------------------

Mbarrier &Program::barrier(Value v) {
  const SharedView &s = view(v);
  return s.buffer->barriers[s.at[0]];
}
void Program::completePhase(Mbarrier &b) {
  if (b.pending > 0 || b.bytes != 0) return;
  b.parity = !b.parity;
  b.pending = b.count;
}
void Program::arrive(Value v, int64_t count) {
  Mbarrier &b = barrier(v);
  b.pending -= count;
  completePhase(b);
}
bool Program::waitBarrier(ttng::WaitBarrierOp op) {
  if (op.pred() && !flag(op.pred())) return true;
  const Mbarrier &b = barrier(op.alloc());
  // A wait for parity p returns once the phase of that parity is complete, that is, once the other one has begun.
  bool parity = word(op.phase()) & 1;
  while (b.parity == parity && letOthersRun(/*waits=*/true)) {
  }
  continueAfterWait();
  if (b.parity != parity || run_.stop.load(std::memory_order_relaxed)) return b.parity != parity;
  return fail(op, llvm::formatv(
                      "deadlock: nothing completes this phase of the mbarrier ({0} arrivals and {1} bytes are missing)",
                      b.pending, b.bytes)
                      .str());
}

// ---- dots on memory descriptors -------------------------------------------------------------------------------------

bool Program::warpGroupDot(ttng::WarpGroupDotOp op) {
  for (Value v : {op.a(), op.b()})
    if (v.type().isa<MemDescType>() && !checkLive(op, v)) return false;
  Lanes c = lanes(op.c()), d;
  if (op.useC() && !flag(op.useC())) c = padding(op.c().type().scalar(), c.size(), false);
  return dot(op, op.a().type(), contents(op.a()), op.b().type(), contents(op.b()), op.c().type(), c,
             op.inputPrecision(), d) &&
         set(op.d(), std::move(d));
}

bool Program::tensorCoreDot(ttng::TcGen5MmaOp op) {
  for (Value v : {op.a(), op.b(), op.d()})
    if (!checkLive(op, v)) return false;
  if (flag(op.pred())) {
    if (op.isUnsigned()) return fail(op, "the interpreter evaluates dots of signed integers only");
    Lanes c = flag(op.useD()) ? readView(op.d())
                              : padding(op.d().type().cast<MemDescType>().element(), view(op.d()).at.size(), false),
          d;
    if (!dot(op, op.a().type(), readView(op.a()), op.b().type(), readView(op.b()), op.d().type(), c,
             InputPrecision::Tf32, d) ||
        !writeView(op, op.d(), d))
      return false;
    for (unsigned i = 0; i < op.barriers().size(); ++i)
      if (i >= op.barrierPreds().size() || flag(op.barrierPreds()[i])) arrive(op.barriers()[i], 1);
  }
  return !op.token() || set(op.token(), Lanes());
}

} // namespace tessera::runtime
