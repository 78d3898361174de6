// Operations on global memory (see program.h). All of them come down to lists of addresses with a mask: a load, store
// or atomic of each lane in turn, checked.
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "runtime/float_formats.h"
#include "runtime/interpreter/program.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace tessera::runtime {
using namespace ir;

static llvm::ArrayRef<int64_t> shapeOf(Type t) { return t.cast<ShapedType>().shape(); }

// ---- lists of addresses ---------------------------------------------------------------------------------------------

bool Program::memoryWidth(Op op, Type element, unsigned &bytes) {
  unsigned bits = element.isTensor() ? 0 : element.bitWidth();
  bytes = bits == 1 ? 1 : bits / 8;
  if ((bits == 1 || bits % 8 == 0) && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) return true;
  return fail(op, "the interpreter does not access memory in elements of type " + element.str());
}

bool Program::faultyAccess(Op op, const char *what, uint64_t address, unsigned bytes, size_t lane, size_t lanes) {
  std::string where = lanes > 1 ? llvm::formatv(" (element {0} of {1})", lane, lanes).str() : "";
  return fail(op, llvm::formatv("{0} of {1} byte{2} {3}{4}", what, bytes, bytes == 1 ? "" : "s",
                                memory_.explain(address, bytes), where)
                      .str());
}

bool Program::mayReadUnwritten(Op op, const char *what, uint64_t address, unsigned bytes, size_t lane, size_t lanes) {
  UnwrittenTrial *trial = run_.trial;
  if (!trial) {
    faultyAccess(op, what, address, bytes, lane, lanes);
    fault_->isUnwrittenRead = true;
    return false;
  }
  auto found = llvm::find_if(trial->places, [&](auto &p) { return p.fault.op == op; });
  size_t place = size_t(found - trial->places.begin());
  if (found == trial->places.end() && trial->notesPlaces) {
    faultyAccess(op, what, address, bytes, lane, lanes);
    trial->places.push_back({*std::exchange(fault_, std::nullopt), id_});
  }
  bool findsValue = !trial->only || place == *trial->only;
  memory_.putUnwritten(findsValue ? trial->value : UnwrittenValue::Zeros, address, bytes);
  return true;
}

bool Program::readLanes(Op op, Type element, const Lanes &addresses, const Lanes *mask, Lanes &into) {
  unsigned bytes;
  if (!memoryWidth(op, element, bytes)) return false;
  size_t n = addresses.size();
  const uint64_t *at = addresses.as<uint64_t>();
  bool one = element.bitWidth() == 1;
  return withWord(bytes, [&](auto zero) {
    using U = decltype(zero);
    U *out = into.as<U>();
    for (size_t i = 0; i < n; ++i) {
      if (mask && !mask->flag(mask->size() == 1 ? 0 : i)) continue;
      const uint8_t *p = memory_.resolve(at[i], bytes);
      if (!p) return faultyAccess(op, "load", at[i], bytes, i, n);
      if (!memory_.isWritten(at[i], bytes) && !mayReadUnwritten(op, "load", at[i], bytes, i, n)) return false;
      U v = U(readMemory(p, sizeof(U)));
      out[i] = one ? U(v & 1) : v;
    }
    return true;
  });
}

bool Program::writeLanes(Op op, Type element, const Lanes &addresses, const Lanes *mask, const Lanes &values) {
  unsigned bytes;
  if (!memoryWidth(op, element, bytes)) return false;
  size_t n = addresses.size();
  const uint64_t *at = addresses.as<uint64_t>();
  wrote_ = true;
  run_.writes.fetch_add(1, std::memory_order_relaxed);
  return withWord(bytes, [&](auto zero) {
    using U = decltype(zero);
    const U *v = values.as<U>();
    for (size_t i = 0; i < n; ++i) {
      if (mask && !mask->flag(mask->size() == 1 ? 0 : i)) continue;
      uint8_t *p = memory_.resolve(at[i], bytes);
      if (!p) return faultyAccess(op, "store", at[i], bytes, i, n);
      memory_.markWritten(at[i], bytes);
      writeMemory(p, sizeof(U), v[values.size() == 1 ? 0 : i]);
    }
    return true;
  });
}

/// Whether what an atomic leaves in memory, or gives, depends on what it finds there: not an exchange whose result
/// nobody uses.
static bool dependsOnMemory(Operation *op) {
  auto exchange = op->dyn<tt::AtomicRmwOp>();
  auto ofBuffer = op->dyn<amdg::BufferAtomicRmwOp>();
  bool isExchange =
      (exchange && exchange.atomicRmwOp() == RmwOp::Exch) || (ofBuffer && ofBuffer.atomicRmwOp() == RmwOp::Exch);
  return !isExchange || !op->result().useEmpty();
}

bool Program::atomicLanes(Op op, Type element, const Lanes &addresses, const Lanes *mask,
                          llvm::function_ref<uint64_t(size_t, uint64_t)> f, Lanes &old) {
  unsigned bytes;
  if (!memoryWidth(op, element, bytes)) return false;
  size_t n = addresses.size();
  old = undefined(element, n);
  bool changed = false;
  bool reads = dependsOnMemory(op);
  for (size_t i = 0; i < n; ++i) {
    if (mask && !mask->flag(mask->size() == 1 ? 0 : i)) continue;
    uint64_t address = addresses.word(i), written = 0;
    uint8_t *p = memory_.resolve(address, bytes);
    if (!p) return faultyAccess(op, "atomic", address, bytes, i, n);
    if (reads && !memory_.isWritten(address, bytes) && !mayReadUnwritten(op, "atomic", address, bytes, i, n))
      return false;
    memory_.markWritten(address, bytes);
    uint64_t before = updateMemory(p, bytes, [&](uint64_t v) { return written = f(i, v); });
    changed |= before != written;
    old.setWord(i, before);
  }
  waited_ = true;
  if (changed) {
    wrote_ = true;
    run_.writes.fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

// ---- pointers -------------------------------------------------------------------------------------------------------

Lanes Program::padding(Type element, size_t count, bool nan) {
  uint64_t bits = nan && element.isFloat() ? quietNan(element.cast<FloatType>().floatKind()) : 0;
  return repeat(pool_, Lanes::one(laneBytes(element), bits), count);
}

void Program::blockAddresses(Type element, llvm::ArrayRef<int64_t> block, uint64_t base, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> offsets,
                             llvm::ArrayRef<int64_t> checked, Lanes &addresses, Lanes &inside) {
  size_t n = numElements(block);
  uint64_t bytes = std::max(1u, element.bitWidth() / 8);
  addresses = Lanes(pool_, 8, n);
  inside = Lanes(pool_, 1, n);
  Shape dense = rowMajorStrides(block);
  for (size_t i = 0; i < n; ++i) {
    uint64_t offset = 0;
    bool in = true;
    for (unsigned d = 0; d < block.size(); ++d) {
      int64_t x = int64_t(uint64_t(offsets[d]) + uint64_t(int64_t(i) / dense[d] % block[d]));
      offset += uint64_t(x) * uint64_t(strides[d]);
      if (llvm::is_contained(checked, d)) in &= x >= 0 && x < shape[d];
    }
    addresses.setWord(i, base + offset * bytes);
    inside.setWord(i, in);
  }
}

bool Program::makeBlockPointer(tt::MakeTensorPtrOp op) {
  BlockPointer p{word(op.base()), {}, {}, {}};
  for (auto v : op.shape()) p.shape.push_back(integer(v));
  for (auto v : op.strides()) p.strides.push_back(integer(v));
  for (auto v : op.offsets()) p.offsets.push_back(integer(v));
  return set(op.result(), Object(std::move(p)));
}

bool Program::advance(tt::AdvanceOp op) {
  BlockPointer p = blockPointer(op.ptr());
  for (unsigned d = 0; d < op.offsets().size(); ++d) {
    // Offsets are 32-bit numbers and wrap as such.
    p.offsets[d] = int32_t(uint32_t(p.offsets[d]) + uint32_t(integer(op.offsets()[d])));
  }
  return set(op.result(), Object(std::move(p)));
}

bool Program::load(tt::LoadOp op) {
  Type element = op.result().type().scalar();
  waited_ |= op.isVolatile();
  if (isBlockPointer(op.ptr().type())) {
    BlockPointer p = blockPointer(op.ptr());
    Lanes addresses, inside;
    auto block = shapeOf(op.result().type());
    blockAddresses(element, block, p.base, p.shape, p.strides, p.offsets, op.boundaryCheck(), addresses, inside);
    Lanes out = op.padding() ? padding(element, addresses.size(), *op.padding() == PaddingOption::Nan)
                             : undefined(element, addresses.size());
    return readLanes(op, element, addresses, &inside, out) && set(op.result(), std::move(out));
  }
  const Lanes &addresses = lanes(op.ptr());
  size_t n = addresses.size();
  if (unsigned bytes; !memoryWidth(op, element, bytes)) return false;
  Lanes out;
  if (op.other()) {
    // A copy that is ours to fill in.
    const Lanes &other = lanes(op.other());
    out = Lanes(pool_, other.width(), n);
    if (other.size() == n)
      std::memcpy(out.bytes(), other.bytes(), n * other.width());
    else
      out = repeat(pool_, other, n);
  } else if (op.mask())
    out = undefined(element, n);
  else
    out = Lanes(pool_, laneBytes(element), n);
  return readLanes(op, element, addresses, op.mask() ? &lanes(op.mask()) : nullptr, out) &&
         set(op.result(), std::move(out));
}

bool Program::store(tt::StoreOp op) {
  Type element = op.value().type().scalar();
  if (isBlockPointer(op.ptr().type())) {
    BlockPointer p = blockPointer(op.ptr());
    Lanes addresses, inside;
    blockAddresses(element, shapeOf(op.value().type()), p.base, p.shape, p.strides, p.offsets, op.boundaryCheck(),
                   addresses, inside);
    return writeLanes(op, element, addresses, &inside, lanes(op.value()));
  }
  return writeLanes(op, element, lanes(op.ptr()), op.mask() ? &lanes(op.mask()) : nullptr, lanes(op.value()));
}

bool Program::atomicRmw(tt::AtomicRmwOp op) {
  Type element = pointeeOf(op.ptr());
  const Lanes &value = lanes(op.val());
  RmwOp kind = op.atomicRmwOp();
  Lanes old;
  auto f = [&](size_t i, uint64_t before) {
    return combineAtomic(kind, element, before, value.word(value.size() == 1 ? 0 : i));
  };
  return atomicLanes(op, element, lanes(op.ptr()), op.mask() ? &lanes(op.mask()) : nullptr, f, old) &&
         set(op.result(), std::move(old));
}

bool Program::casLanes(Op op, const Lanes &addresses, Value expected, Value value, Value result) {
  const Lanes &compared = lanes(expected), &swapped = lanes(value);
  Lanes old;
  auto f = [&](size_t i, uint64_t before) {
    return before == compared.word(compared.size() == 1 ? 0 : i) ? swapped.word(swapped.size() == 1 ? 0 : i) : before;
  };
  return atomicLanes(op, result.type().scalar(), addresses, nullptr, f, old) && set(result, std::move(old));
}
bool Program::atomicCas(tt::AtomicCasOp op) { return casLanes(op, lanes(op.ptr()), op.cmp(), op.val(), op.result()); }

bool Program::atomicLoad(tt::AtomicLoadOp op) {
  Type element = pointeeOf(op.ptr());
  const Lanes &addresses = lanes(op.ptr());
  waited_ = true;
  Lanes out = undefined(element, addresses.size());
  return readLanes(op, element, addresses, op.mask() ? &lanes(op.mask()) : nullptr, out) &&
         set(op.result(), std::move(out));
}

/// Time passes where no other program can continue: then a poll with a timeout ends.
bool Program::atomicPoll(tt::AtomicPollOp op) {
  Type element = pointeeOf(op.ptr());
  const Lanes &addresses = lanes(op.ptr()), &expected = lanes(op.expected());
  size_t n = addresses.size();
  Lanes values(pool_, laneBytes(element), n), matched = repeat(pool_, Lanes::one(1, 0), n);
  for (int64_t iteration = 0;; ++iteration) {
    if (!readLanes(op, element, addresses, nullptr, values)) return false;
    size_t missing = 0;
    for (size_t i = 0; i < n; ++i) {
      if (values.word(i) == expected.word(expected.size() == 1 ? 0 : i)) matched.setWord(i, 1);
      missing += !matched.flag(i);
    }
    if (!missing || (op.timeout() && integer(op.timeout()) == 0)) break;
    waited_ = true;
    bool isOver = false;
    if (!loopBack(op, iteration, op.timeout() ? &isOver : nullptr)) return false;
    if (isOver) break;
  }
  return set(op.result(), std::move(matched));
}

// ---- descriptors ----------------------------------------------------------------------------------------------------

bool Program::makeDescriptor(tt::MakeTensorDescriptorOp op) {
  TensorDescriptor d{word(op.base()), {}, {}, op.padding() == PaddingOption::Nan};
  for (auto v : op.shape()) d.shape.push_back(integer(v));
  for (auto v : op.strides()) d.strides.push_back(integer(v));
  unsigned rank = op.result().type().cast<TensorDescType>().rank();
  if (d.shape.size() != rank || d.strides.size() != rank)
    return fail(op, "the descriptor's shape and strides do not have the rank of its block");
  return set(op.result(), Object(std::move(d)));
}

bool Program::descriptorAddresses(Op op, Value desc, OperandRange indices, Lanes &addresses, Lanes &inside) {
  const TensorDescriptor &d = descriptor(desc);
  auto type = desc.type().cast<TensorDescType>();
  if (indices.size() != d.shape.size() || type.rank() != d.shape.size())
    return fail(op, "as many indices are needed as the descriptor has dimensions");
  Shape offsets, checked;
  for (unsigned k = 0; k < indices.size(); ++k) {
    offsets.push_back(integer(indices[k]));
    checked.push_back(k);
  }
  blockAddresses(type.element(), type.shape(), d.base, d.shape, d.strides, offsets, checked, addresses, inside);
  return true;
}

bool Program::descriptorLoad(Op op, Value desc, OperandRange indices, Lanes &into) {
  Lanes addresses, inside;
  if (!descriptorAddresses(op, desc, indices, addresses, inside)) return false;
  Type element = desc.type().cast<TensorDescType>().element();
  into = padding(element, addresses.size(), descriptor(desc).nanPadding);
  return readLanes(op, element, addresses, &inside, into);
}

bool Program::descriptorStore(Op op, Value desc, OperandRange indices, const Lanes &values) {
  Lanes addresses, inside;
  if (!descriptorAddresses(op, desc, indices, addresses, inside)) return false;
  if (values.size() != addresses.size()) return fail(op, "the block does not have the size of the descriptor's");
  return writeLanes(op, desc.type().cast<TensorDescType>().element(), addresses, &inside, values);
}

bool Program::descriptorReduce(Op op, Value desc, OperandRange indices, DescriptorReduceKind kind,
                               const Lanes &values) {
  Lanes addresses, inside, old;
  if (!descriptorAddresses(op, desc, indices, addresses, inside)) return false;
  if (values.size() != addresses.size()) return fail(op, "the block does not have the size of the descriptor's");
  Type t = desc.type().cast<TensorDescType>().element();
  bool isUnsigned = t.isInteger() && t.cast<IntegerType>().signedness() == Signedness::Unsigned;
  auto combine = [&](size_t i, uint64_t before) -> uint64_t {
    uint64_t v = values.word(i);
    switch (kind) {
    case DescriptorReduceKind::Add: return combineAtomic(RmwOp::Add, t, before, v);
    case DescriptorReduceKind::Min: return combineAtomic(isUnsigned ? RmwOp::Umin : RmwOp::Min, t, before, v);
    case DescriptorReduceKind::Max: return combineAtomic(isUnsigned ? RmwOp::Umax : RmwOp::Max, t, before, v);
    // PTX red.inc and red.dec: count up to v, down from v, and around.
    case DescriptorReduceKind::Inc: return before >= v ? 0 : before + 1;
    case DescriptorReduceKind::Dec: return before == 0 || before > v ? v : before - 1;
    case DescriptorReduceKind::And: return before & v;
    case DescriptorReduceKind::Or: return before | v;
    case DescriptorReduceKind::Xor: return before ^ v;
    }
    return before;
  };
  return atomicLanes(op, t, addresses, &inside, combine, old);
}

/// Rows rows[i], columns column, column + 1, … of a matrix.
void Program::rowAddresses(Value desc, Value rows, Value column, Type block, Lanes &addresses, Lanes &inside) {
  const TensorDescriptor &d = descriptor(desc);
  auto shape = shapeOf(block);
  Type element = desc.type().cast<TensorDescType>().element();
  int64_t n = shape[0], width = shape[1], first = integer(column), bytes = std::max(1u, element.bitWidth() / 8);
  addresses = Lanes(pool_, 8, n * width);
  inside = Lanes(pool_, 1, n * width);
  for (int64_t i = 0; i < n; ++i) {
    int64_t row = signedAt(lanes(rows), i, rows.type().scalar());
    for (int64_t j = 0; j < width; ++j) {
      int64_t c = first + j;
      addresses.setWord(i * width + j,
                        d.base + (uint64_t(row) * uint64_t(d.strides[0]) + uint64_t(c) * uint64_t(d.strides[1])) *
                                     uint64_t(bytes));
      inside.setWord(i * width + j, row >= 0 && row < d.shape[0] && c >= 0 && c < d.shape[1]);
    }
  }
}

static bool rowsFit(const TensorDescriptor &d, Value rows, Type block) {
  auto shape = shapeOf(block);
  return d.shape.size() == 2 && shape.size() == 2 && rows.type().cast<TensorType>().numElements() == shape[0];
}

bool Program::gatherRows(Op op, Value desc, Value rows, Value column, Type block, Lanes &into) {
  if (!rowsFit(descriptor(desc), rows, block)) return fail(op, "rows are gathered from matrices, one for each index");
  Type element = desc.type().cast<TensorDescType>().element();
  Lanes addresses, inside;
  rowAddresses(desc, rows, column, block, addresses, inside);
  into = padding(element, addresses.size(), descriptor(desc).nanPadding);
  return readLanes(op, element, addresses, &inside, into);
}

bool Program::scatterRows(Op op, Value desc, Value rows, Value column, Type block, const Lanes &values) {
  if (!rowsFit(descriptor(desc), rows, block)) return fail(op, "rows are scattered to matrices, one for each index");
  Lanes addresses, inside;
  rowAddresses(desc, rows, column, block, addresses, inside);
  return writeLanes(op, desc.type().cast<TensorDescType>().element(), addresses, &inside, values);
}

bool Program::tensormapCreate(ttng::TensormapCreateOp op) {
  // The text has the hardware's order: innermost dimension first, strides in bytes, the innermost one left out.
  Type element = pointeeOf(op.globalAddress());
  int64_t bytes = std::max(1u, element.bitWidth() / 8);
  TensorDescriptor d{word(op.globalAddress()), {}, {}, op.fillMode() == 1};
  unsigned rank = op.globalDim().size();
  if (op.globalStride().size() + 1 != rank) return fail(op, "a tensor map has one stride less than dimensions");
  for (unsigned k = rank; k-- > 0;) {
    int64_t stride = k == 0 ? bytes : integer(op.globalStride()[k - 1]);
    if (stride % bytes)
      return fail(op, llvm::formatv("stride {0} is not a multiple of the element's {1} bytes", stride, bytes).str());
    d.shape.push_back(integer(op.globalDim()[k]));
    d.strides.push_back(stride / bytes);
  }
  for (auto v : op.elementStride())
    if (integer(v) != 1) return fail(op, "the interpreter knows tensor maps with element strides of 1 only");
  tensormaps_[word(op.descPtr())] = std::move(d);
  return true;
}

bool Program::reinterpretDescriptor(ttng::ReinterpretTensorDescriptorOp op) {
  auto it = tensormaps_.find(word(op.rawDesc()));
  if (it == tensormaps_.end()) return fail(op, "no tensor map was written at this address");
  return set(op.result(), Object(it->second));
}

bool Program::scratch(ttg::GlobalScratchAllocOp op) {
  if (op.nbytes() < 0 || op.nbytes() > int64_t(1) << 30)
    return fail(op, "scratch memory of " + std::to_string(op.nbytes()) + " bytes");
  uint64_t base = memory_.addScratch("scratch" + std::to_string(memory_.size()), op.nbytes());
  return set(op.result(), Lanes::one(8, base));
}

// ---- buffer operations ----------------------------------------------------------------------------------------------

/// Offsets are in elements, 32 bits and not negative; those with the top bit set are beyond any buffer.
Lanes Program::bufferAddresses(Value base, Value offsets) {
  const Lanes &o = lanes(offsets);
  Type t = offsets.type().scalar();
  uint64_t start = word(base), bytes = std::max(1u, pointeeOf(base).bitWidth() / 8);
  Lanes out(pool_, 8, o.size());
  for (size_t i = 0; i < o.size(); ++i) out.setWord(i, start + uint64_t(signedAt(o, i, t)) * bytes);
  return out;
}

bool Program::bufferLoad(amdg::BufferLoadOp op) {
  Type element = op.result().type().scalar();
  Lanes addresses = bufferAddresses(op.ptr(), op.offsets());
  size_t n = addresses.size();
  if (unsigned bytes; !memoryWidth(op, element, bytes)) return false;
  // Masked-off lanes read out of range, which gives zero.
  Lanes out = padding(element, n, false);
  if (op.other()) {
    out = Lanes(pool_, lanes(op.other()).width(), n);
    std::memcpy(out.bytes(),
                (lanes(op.other()).size() == n ? lanes(op.other()) : repeat(pool_, lanes(op.other()), n)).bytes(),
                n * out.width());
  }
  return readLanes(op, element, addresses, op.mask() ? &lanes(op.mask()) : nullptr, out) &&
         set(op.result(), std::move(out));
}

bool Program::bufferStore(amdg::BufferStoreOp op) {
  return writeLanes(op, op.value().type().scalar(), bufferAddresses(op.ptr(), op.offsets()),
                    op.mask() ? &lanes(op.mask()) : nullptr, lanes(op.value()));
}

bool Program::bufferAtomic(amdg::BufferAtomicRmwOp op) {
  Type element = op.value().type().scalar();
  const Lanes &value = lanes(op.value());
  RmwOp kind = op.atomicRmwOp();
  Lanes old;
  auto f = [&](size_t i, uint64_t before) {
    return combineAtomic(kind, element, before, value.word(value.size() == 1 ? 0 : i));
  };
  return atomicLanes(op, element, bufferAddresses(op.ptr(), op.offsets()), op.mask() ? &lanes(op.mask()) : nullptr, f,
                     old) &&
         set(op.result(), std::move(old));
}

bool Program::bufferCas(amdg::BufferAtomicCasOp op) {
  return casLanes(op, bufferAddresses(op.ptr(), op.offsets()), op.cmp(), op.val(), op.result());
}

} // namespace tessera::runtime
