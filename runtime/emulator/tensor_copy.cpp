// cp.async.bulk.tensor as the manual has it (PTX ISA, "Tensors", "Data Movement and Conversion Instructions:
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, tensormap.replace, tensormap.cp_fenceproxy",
// "fence.proxy.tensormap").
//
// A tensor map is 128 bytes of no public format. Here it has the format of TensorMap below, which nobody but this
// file reads or writes: its fields are set by tensormap.replace, and those that a copy needs must have been.
//
// A copy to shared memory takes what global memory holds when it is issued and keeps it aside; the bytes count as
// under way, and reading them is reported, until somebody looks at the copy's mbarrier: then it arrives, and its
// bytes count there. What it brings is written by a thread of its own (Block::copyUnit), whose writes are known to
// whoever finds the phase complete. A copy from shared memory is made when it is issued, but its buffer may not be
// changed before its thread has waited for its group. Both proxies' accesses are ordered by fence.proxy.async:
// ordinary writes must be fenced before a copy reads them, and before a copy overwrites them.
#include "runtime/emulator/tensor_copy.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {
using namespace llvm;

namespace {

constexpr unsigned kMapBytes = 128, kMostDimensions = 5;

struct TensorMap {
  uint64_t address;
  uint64_t stride[kMostDimensions - 1]; // bytes
  uint32_t size[kMostDimensions];
  uint32_t written; // with written2, one bit for every field and ordinal that was set
  uint16_t box[kMostDimensions];
  uint8_t elementStride[kMostDimensions];
  uint8_t rank, elementType, interleave, swizzle, fill;
  uint32_t written2;
};
static_assert(sizeof(TensorMap) <= kMapBytes);

bool wasWritten(const TensorMap &m, TensorMapField::Field f, unsigned ordinal) {
  unsigned bit = unsigned(f) * kMostDimensions + ordinal;
  return (bit < 32 ? m.written >> bit : m.written2 >> (bit - 32)) & 1;
}
void setWritten(TensorMap &m, TensorMapField::Field f, unsigned ordinal) {
  unsigned bit = unsigned(f) * kMostDimensions + ordinal;
  (bit < 32 ? m.written : m.written2) |= 1u << bit % 32;
}

/// tensormap.replace's numbers of element types.
struct ElementType {
  const char *name;
  uint8_t bytes;
  FloatFormat format;
  bool isSigned;
};
constexpr ElementType kElementTypes[] = {{"u8", 1, FloatFormat::None, false},    {"u16", 2, FloatFormat::None, false},
                                         {"u32", 4, FloatFormat::None, false},   {"s32", 4, FloatFormat::None, true},
                                         {"u64", 8, FloatFormat::None, false},   {"s64", 8, FloatFormat::None, true},
                                         {"f16", 2, FloatFormat::F16, true},     {"f32", 4, FloatFormat::F32, true},
                                         {"f32.ftz", 4, FloatFormat::F32, true}, {"f64", 8, FloatFormat::F64, true},
                                         {"bf16", 2, FloatFormat::BF16, true},   {"tf32", 4, FloatFormat::F32, true},
                                         {"tf32.ftz", 4, FloatFormat::F32, true}};

uint64_t quietNan(FloatFormat f) {
  return f == FloatFormat::F16    ? 0x7e00
         : f == FloatFormat::BF16 ? 0x7fc0
         : f == FloatFormat::F32  ? 0x7fc00000
         : f == FloatFormat::F64  ? 0x7ff8000000000000
                                  : 0;
}

bool isOff(const Warp &w, Row guard, bool negated, unsigned lane) {
  return guard != kNoRow && bool(w.row<uint8_t>(guard)[lane] & 1) == negated;
}

/// The byte of shared memory at the lane's address; false after an error.
bool sharedByte(Warp &w, const Instruction &i, unsigned lane, Row row, unsigned rowBytes, int64_t offset,
                uint64_t bytes, unsigned alignment, const char *what, uint32_t &out) {
  uint64_t address = loadRow(w, row, rowBytes, lane) + uint64_t(offset);
  if (rowBytes == 4)
    address = uint32_t(address);
  else if (address >= kSharedWindow && address < kPrivateWindow)
    address -= kSharedWindow;
  uint64_t at = address - kSharedBase;
  size_t size = w.block->shared.size();
  if (address < kSharedBase || at > size || bytes > size - at)
    return fail(w, &i, int(lane),
                formatv("out of bounds: {0} of {1} bytes at byte {2} of shared memory, which has {3}", what, bytes,
                        int64_t(address) - kSharedBase, size)),
           false;
  if (at % alignment)
    return fail(w, &i, int(lane),
                formatv("misaligned access: {0} at byte {1} of shared memory, which is not a multiple of {2}", what, at,
                        alignment)),
           false;
  out = uint32_t(at);
  return true;
}

/// Host memory of a piece of a buffer; null after an error.
uint8_t *globalBytes(Warp &w, const Instruction &i, unsigned lane, uint64_t address, uint64_t bytes, const char *what,
                     Region *&region) {
  region = regionOf(*w.block->launch, address);
  if (region && address - region->base <= region->bytes && bytes <= region->bytes - (address - region->base))
    return region->data + (address - region->base);
  if (region)
    fail(w, &i, int(lane),
         formatv("out of bounds: {0} of {1} bytes at byte {2} of '{3}', which has {4}", what, bytes,
                 int64_t(address - region->base), region->name, region->bytes));
  else
    fail(w, &i, int(lane),
         formatv("out of bounds: {0} of {1} bytes at address {2:x}, where there is nothing", what, bytes, address));
  return nullptr;
}

// ---- tensor maps ----

void replaceField(Warp &w, const Instruction &i) {
  const auto &op = *reinterpret_cast<const TensorMapField *>(i.immediate);
  Block &b = *w.block;
  uint64_t now = ++b.launch->stamp;
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) {
    unsigned l = unsigned(std::countr_zero(lanes));
    if (isOff(w, op.guard, op.guardNegated, l)) continue;
    uint32_t at;
    if (!sharedByte(w, i, l, op.address, op.addressBytes, op.offset, kMapBytes, kMapBytes, "a tensor map", at)) return;
    if (b.launch->checks.undefined)
      for (unsigned k = 0; k < kMapBytes; ++k)
        if (b.defined[at + k] != kArrived)
          return fail(w, &i, int(l),
                      formatv("a field of the tensor map at byte {0} of shared memory is replaced, but the block never "
                              "wrote its byte {1}",
                              at, k));
    if (!noteSharedAccess(w, i, l, at, kMapBytes, true, now)) return;
    TensorMap m;
    memcpy(&m, b.shared.data() + at, sizeof m);
    bool wide = op.field == TensorMapField::Address || op.field == TensorMapField::Stride;
    uint64_t v = wide ? w.row<uint64_t>(op.value)[l] : w.row<uint32_t>(op.value)[l];
    auto bad = [&](const char *what) { fail(w, &i, int(l), formatv("{0} {1} of a tensor map", what, v)); };
    switch (op.field) {
    case TensorMapField::Address:
      if (v % 16) return bad("misaligned access: the address must be a multiple of 16; this is the address");
      m.address = v;
      break;
    case TensorMapField::Rank:
      if (v >= kMostDimensions) return bad("there are 1 to 5 dimensions (rank 0 to 4); this is the rank");
      m.rank = uint8_t(v);
      break;
    case TensorMapField::BoxSize:
      if (v < 1 || v > 256) return bad("a box has 1 to 256 elements along a dimension; this is the size");
      m.box[op.ordinal] = uint16_t(v);
      break;
    case TensorMapField::Size: m.size[op.ordinal] = uint32_t(v); break;
    case TensorMapField::Stride:
      if (v % 16 || v >= uint64_t(1) << 40)
        return bad("a stride is a multiple of 16 bytes less than 2^40; this is the stride");
      m.stride[op.ordinal] = v;
      break;
    case TensorMapField::ElementStride:
      if (v < 1 || v > 8) return bad("an element stride is from 1 to 8; this is the element stride");
      m.elementStride[op.ordinal] = uint8_t(v);
      break;
    case TensorMapField::ElementType: m.elementType = uint8_t(v); break;
    case TensorMapField::Interleave: m.interleave = uint8_t(v); break;
    case TensorMapField::Swizzle: m.swizzle = uint8_t(v); break;
    case TensorMapField::Fill: m.fill = uint8_t(v); break;
    }
    setWritten(m, op.field, op.ordinal);
    memcpy(b.shared.data() + at, &m, sizeof m);
    ++b.launch->changes;
  }
}

void publish(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "tensormap.cp_fenceproxy")) return;
  Block &b = *w.block;
  Launch &launch = *b.launch;
  uint64_t now = ++launch.stamp, to = w.row<uint64_t>(i.a)[0];
  uint32_t from;
  if (!sharedByte(w, i, 0, i.b, unsigned(i.immediate), 0, kMapBytes, kMapBytes, "a tensor map", from)) return;
  for (unsigned l = 1; l < w.lanes; ++l)
    if (w.row<uint64_t>(i.a)[l] != to ||
        loadRow(w, i.b, unsigned(i.immediate), l) != loadRow(w, i.b, unsigned(i.immediate), 0))
      return fail(w, &i, int(l),
                  "the addresses of tensormap.cp_fenceproxy are not the same in all threads of the warp");
  if (to % kMapBytes)
    return fail(w, &i, -1,
                formatv("misaligned access: a tensor map is copied to address {0:x}, which is not a multiple of {1}",
                        to, kMapBytes));
  Region *region;
  uint8_t *host = globalBytes(w, i, 0, to, kMapBytes, "a tensor map", region);
  if (!host) return;
  for (unsigned k = 0; k < kMapBytes; k += 4)
    if (!noteSharedAccess(w, i, k / 4 % w.lanes, from + k, 4, false, now)) return;
  uint8_t changed[kMapBytes];
  for (unsigned k = 0; k < kMapBytes; ++k) changed[k] = host[k] != b.shared[from + k];
  for (unsigned k = 0; k < kMapBytes; k += 4)
    if (!noteGlobalAccess(w, i, k / 4 % w.lanes, *region, to - region->base + k, 4, true, false, changed + k, now))
      return;
  memcpy(host, b.shared.data() + from, kMapBytes);
  launch.tensorMaps[to].clear();
  ++launch.changes;
}

void acquire(Warp &w, const Instruction &i) {
  Launch &launch = *w.block->launch;
  forLanes(w, [&](unsigned l) {
    auto found = launch.tensorMaps.find(w.row<uint64_t>(i.a)[l]);
    if (found != launch.tensorMaps.end() && !is_contained(found->second, w.block->number))
      found->second.push_back(w.block->number);
  });
}

bool readMap(Warp &w, const Instruction &i, unsigned lane, uint64_t address, uint64_t now, TensorMap &m) {
  Launch &launch = *w.block->launch;
  auto bad = [&](const Twine &what) { return fail(w, &i, int(lane), what.str()), false; };
  if (address % 64)
    return bad(
        formatv("misaligned access: a tensor map at address {0:x}, which is not a multiple of 64", address).str());
  Region *region;
  uint8_t *host = globalBytes(w, i, lane, address, kMapBytes, "a tensor map", region);
  if (!host) return false;
  auto found = launch.tensorMaps.find(address);
  if (found == launch.tensorMaps.end())
    return bad(formatv("there is no tensor map at byte {0} of '{1}'", address - region->base, region->name).str());
  if (!is_contained(found->second, w.block->number))
    return bad("the tensor map was written by the kernel, and no fence.proxy.tensormap::generic.acquire of this block "
               "lies between");
  if (!noteGlobalAccess(w, i, lane, *region, address - region->base, kMapBytes, false, false, nullptr, now))
    return false;
  memcpy(&m, host, sizeof m);
  using F = TensorMapField;
  for (auto [f, name] : {std::pair{F::Address, "address"},
                         {F::Rank, "rank"},
                         {F::ElementType, "element type"},
                         {F::Interleave, "interleaving"},
                         {F::Swizzle, "swizzle"},
                         {F::Fill, "fill mode"}})
    if (!wasWritten(m, f, 0)) return bad(Twine("the tensor map's ") + name + " was never set");
  for (unsigned d = 0; d <= m.rank; ++d)
    if (!wasWritten(m, F::BoxSize, d) || !wasWritten(m, F::Size, d) || !wasWritten(m, F::ElementStride, d) ||
        (d && !wasWritten(m, F::Stride, d - 1)))
      return bad("dimension " + Twine(d) + " of the tensor map was never described");
  if (m.elementType >= std::size(kElementTypes))
    return bad("a tensor map of element type " + Twine(unsigned(m.elementType)) + ", which the emulator does not know");
  if (m.interleave) return bad("a tensor map of interleaved tensors, which the emulator does not know");
  if (m.swizzle > 3)
    return bad("a tensor map of swizzle mode " + Twine(unsigned(m.swizzle)) + ", which the emulator does not know");
  for (unsigned d = 0; d <= m.rank; ++d)
    if (m.elementStride[d] != 1)
      return bad("a tensor map with element strides other than 1, which the emulator does not know");
  unsigned row = m.box[0] * kElementTypes[m.elementType].bytes;
  if (row % 16)
    return bad("a tensor map whose box has rows of " + Twine(row) + " bytes; they must be a multiple of 16");
  if (m.swizzle && row > 16u << m.swizzle)
    return bad("a tensor map whose box has rows of " + Twine(row) + " bytes; its swizzle spans " +
               Twine(16u << m.swizzle));
  return true;
}

// ---- copies ----

/// Where the piece of 16 bytes at this byte of shared memory lies under the swizzle ("Swizzling Modes").
uint32_t swizzled(uint32_t byte, unsigned mode) {
  uint32_t address = byte + kSharedBase;
  return byte ^ (address >> 7 & ((1u << mode) - 1)) << 4;
}

/// Rows of the box: their place in it, and the elements [from, to) that lie in the tensor, at this address.
template <class F> bool forRows(const TensorMap &m, const int32_t *at, F f) {
  unsigned bytes = kElementTypes[m.elementType].bytes, index[kMostDimensions] = {};
  for (uint32_t row = 0;; ++row) {
    bool inside = true;
    uint64_t address = m.address + uint64_t(int64_t(at[0]) * bytes);
    for (unsigned d = 1; d <= m.rank; ++d) {
      int64_t c = int64_t(at[d]) + index[d];
      inside &= c >= 0 && c < int64_t(m.size[d]);
      address += uint64_t(c) * m.stride[d - 1];
    }
    int64_t from = std::clamp<int64_t>(-int64_t(at[0]), 0, m.box[0]),
            to = std::clamp<int64_t>(int64_t(m.size[0]) - at[0], 0, m.box[0]);
    if (!inside || to < from) from = to = 0;
    if (!f(row, unsigned(from), unsigned(to), address + uint64_t(from) * bytes)) return false;
    unsigned d = 1;
    while (d <= m.rank && ++index[d] == m.box[d]) index[d++] = 0;
    if (d > m.rank) return true;
  }
}

AtomicKind reductionOf(StringRef name, const ElementType &t) {
  bool isFloat = t.format != FloatFormat::None;
  return name == "add"   ? (isFloat ? AtomicKind::FAdd : AtomicKind::Add)
         : name == "min" ? (isFloat      ? AtomicKind::FMin
                            : t.isSigned ? AtomicKind::Min
                                         : AtomicKind::UMin)
         : name == "max" ? (isFloat      ? AtomicKind::FMax
                            : t.isSigned ? AtomicKind::Max
                                         : AtomicKind::UMax)
         : name == "inc" ? AtomicKind::IncWrap
         : name == "dec" ? AtomicKind::DecWrap
         : name == "and" ? AtomicKind::And
         : name == "or"  ? AtomicKind::Or
                         : AtomicKind::Xor;
}
/// Which reductions there are for a type ("cp.reduce.async.bulk.tensor" and the table of "cp.reduce.async.bulk").
bool reduces(StringRef name, const ElementType &t) {
  if (t.format == FloatFormat::F64 || StringRef(t.name).starts_with("tf32")) return false;
  if (t.format == FloatFormat::F32) return name == "add";
  if (t.format != FloatFormat::None) return name == "add" || name == "min" || name == "max";
  if (t.bytes < 4) return false;
  if (name == "inc" || name == "dec") return t.bytes == 4 && !t.isSigned;
  return true;
}

void copyTensor(Warp &w, const Instruction &i) {
  const auto &op = *reinterpret_cast<const TensorCopyOperation *>(i.immediate);
  Block &b = *w.block;
  Launch &launch = *b.launch;
  uint64_t now = ++launch.stamp;
  bool in = op.kind == TensorCopyOperation::ToShared;
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) {
    unsigned l = unsigned(std::countr_zero(lanes));
    if (isOff(w, op.guard, op.guardNegated, l)) continue;
    TensorMap m;
    if (!readMap(w, i, l, w.row<uint64_t>(op.map)[l] + uint64_t(op.mapOffset), now, m)) return;
    if (op.coordinates.size() != m.rank + 1u)
      return fail(w, &i, int(l),
                  formatv("a copy of {0} dimensions by a tensor map of {1}", op.coordinates.size(), m.rank + 1));
    const ElementType &type = kElementTypes[m.elementType];
    int32_t at[kMostDimensions] = {};
    for (auto [d, row] : enumerate(op.coordinates)) at[d] = int32_t(w.row<uint32_t>(row)[l]);
    uint32_t rowBytes = m.box[0] * type.bytes, bytes = rowBytes;
    for (unsigned d = 1; d <= m.rank; ++d) bytes *= m.box[d];
    uint32_t shared, barrier = 0;
    // "Shared memory addresses must be 128-byte aligned."
    if (!sharedByte(w, i, l, op.shared, op.sharedBytes, op.sharedOffset, bytes, 128, "a bulk copy", shared)) return;
    if (in && !sharedByte(w, i, l, op.barrier, op.barrierBytes, op.barrierOffset, 8, 8, "an mbarrier", barrier)) return;
    if (SiteCounters *s = siteOf(w, i)) {
      s->kind = SiteCounters::Kind::Global;
      if (!s->executed)
        s->operation = in                                       ? "bulk copy in"
                       : op.kind == TensorCopyOperation::Reduce ? "bulk reduction"
                                                                : "bulk copy out",
        s->bytesPerLane = bytes;
      ++s->executed, ++s->lanes;
      s->transactions += bytes / 32, s->leastPossible += bytes / 32;
    }
    if (in) {
      if (!b.mbarriers.contains(barrier))
        return fail(w, &i, int(l), formatv("there is no initialised mbarrier at byte {0} of shared memory", barrier));
      PendingFill fill;
      fill.barrier = barrier, fill.offset = shared, fill.site = i.id, fill.thread = uint16_t(w.index * w.lanes + l);
      for (uint32_t k = 0; k < bytes; ++k)
        if (b.defined[shared + k] == kUnderWay)
          return fail(
              w, &i, int(l),
              formatv("race: two asynchronous copies into byte {0} of shared memory are under way", shared + k));
      if (launch.checks.races)
        for (uint32_t k = 0; k < bytes; ++k)
          if (const Mark &mark = b.cells[shared + k].write; mark.stamp && !fencedSince(w, mark))
            return fail(w, &i, int(l),
                        formatv("race: a bulk copy changes byte {0} of shared memory, which thread {1} wrote by an "
                                "ordinary store: no fence.proxy.async lies between, together with a barrier",
                                shared + k, mark.thread));
      if (!noteSharedAccess(w, i, l, shared, bytes, true, now)) return;
      fill.bytes.resize(bytes);
      uint64_t nan = m.fill ? quietNan(type.format) : 0;
      std::vector<uint8_t> row(rowBytes);
      bool ok = forRows(m, at, [&](uint32_t number, unsigned from, unsigned to, uint64_t address) {
        for (unsigned e = 0; e < m.box[0]; ++e) memcpy(row.data() + e * type.bytes, &nan, type.bytes);
        if (to > from) {
          Region *region;
          uint32_t n = (to - from) * type.bytes;
          uint8_t *host = globalBytes(w, i, l, address, n, "a bulk copy that reads a row", region);
          if (!host || !noteGlobalAccess(w, i, l, *region, address - region->base, n, false, false, nullptr, now))
            return false;
          memcpy(row.data() + from * type.bytes, host, n);
        }
        for (uint32_t k = 0; k < rowBytes; k += 16)
          memcpy(fill.bytes.data() + (swizzled(shared + number * rowBytes + k, m.swizzle) - shared), row.data() + k,
                 16);
        return true;
      });
      if (!ok) return;
      memset(b.defined.data() + shared, kUnderWay, bytes);
      b.fills.push_back(std::move(fill));
      ++launch.changes;
      continue;
    }
    bool reduce = op.kind == TensorCopyOperation::Reduce;
    if (reduce && !reduces(op.reduction, type))
      return fail(w, &i, int(l), formatv("there is no bulk reduction '{0}' of {1}", op.reduction, type.name));
    for (uint32_t k = 0; k < bytes; k += 16)
      if (!mayReadAsynchronously(w, i, shared + k, "the bulk copy")) return;
    if (!noteSharedAccess(w, i, l, shared, bytes, false, now)) return;
    std::vector<uint8_t> row(rowBytes), changed(rowBytes);
    bool ok = forRows(m, at, [&](uint32_t number, unsigned from, unsigned to, uint64_t address) {
      if (to <= from) return true;
      for (uint32_t k = 0; k < rowBytes; k += 16)
        memcpy(row.data() + k, b.shared.data() + swizzled(shared + number * rowBytes + k, m.swizzle), 16);
      Region *region;
      uint32_t n = (to - from) * type.bytes;
      uint8_t *host = globalBytes(w, i, l, address, n, "a bulk copy that writes a row", region),
              *mine = row.data() + from * type.bytes;
      if (!host) return false;
      if (region->readOnly) return fail(w, &i, int(l), formatv("it writes the constant '{0}'", region->name)), false;
      if (reduce)
        for (uint32_t k = 0; k < n; k += type.bytes) {
          uint64_t old = 0, v = 0;
          memcpy(&old, host + k, type.bytes), memcpy(&v, mine + k, type.bytes);
          v = combine(reductionOf(op.reduction, type), type.format, type.bytes, old, v);
          memcpy(mine + k, &v, type.bytes);
        }
      for (uint32_t k = 0; k < n; ++k) changed[k] = host[k] != mine[k];
      if (!noteGlobalAccess(w, i, l, *region, address - region->base, n, true, reduce,
                            reduce ? nullptr : changed.data(), now))
        return false;
      memcpy(host, mine, n);
      return true;
    });
    if (!ok) return;
    w.drains.push_back({w.drainGroup[l], shared, bytes, i.id, l});
    ++b.drains;
    ++launch.changes;
  }
}

void commit(Warp &w, const Instruction &) {
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) ++w.drainGroup[unsigned(std::countr_zero(lanes))];
}

void waitForDrains(Warp &w, const Instruction &i) {
  Block &b = *w.block;
  uint64_t now = ++b.launch->stamp;
  auto done = [&](const PendingDrain &d) {
    return w.mask >> d.lane & 1 && d.group + i.immediate < w.drainGroup[d.lane];
  };
  for (auto &d : w.drains) {
    if (!done(d)) continue;
    --b.drains;
    // The buffer was read until now.
    if (b.launch->checks.races)
      for (uint32_t k = 0; k < d.bytes; ++k) {
        SharedCell &c = b.cells[d.offset + k];
        unsigned thread = w.index * w.lanes + d.lane;
        if (c.read.stamp > b.lastBarrier && c.read.thread / w.lanes != w.index) c.otherRead = c.read;
        c.read = {now, d.site, b.number, uint16_t(thread), false};
      }
  }
  erase_if(w.drains, done);
}

} // namespace

void arriveFills(Warp &w, uint32_t barrier) {
  Block &b = *w.block;
  if (b.fills.empty()) return;
  auto mine = [&](const PendingFill &f) { return f.barrier == barrier; };
  Mbarrier &m = b.mbarriers.find(barrier)->second;
  for (auto &f : b.fills) {
    if (!mine(f)) continue;
    uint64_t now = ++b.launch->stamp;
    memcpy(b.shared.data() + f.offset, f.bytes.data(), f.bytes.size());
    memset(b.defined.data() + f.offset, kArrived, f.bytes.size());
    if (b.launch->checks.races)
      for (size_t k = 0; k < f.bytes.size(); ++k)
        b.cells[f.offset + k].write = {now, f.site, b.number, uint16_t(b.copyUnit()), false};
    m.bytes -= int64_t(f.bytes.size());
    m.arrived.resize(std::max<size_t>(m.arrived.size(), b.copyUnit() + 1));
    m.arrived[b.copyUnit()] = now;
    ++b.launch->changes;
  }
  erase_if(b.fills, mine);
}

std::string copyUnderWay(const Block &b) {
  if (!b.fills.empty())
    return "a bulk copy to shared memory is under way when the block ends: nobody has waited for its mbarrier";
  if (b.drains)
    return "a bulk copy from shared memory is under way when the block ends: no cp.async.bulk.wait_group has waited "
           "for it";
  return {};
}

void emitTensorMapField(Decoder &d, TensorMapField op) {
  auto kept = std::make_shared<TensorMapField>(op);
  d.emit(replaceField, kNoRow, kNoRow, kNoRow, kNoRow, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
}
void emitTensorMapPublish(Decoder &d, Row to, Row from, uint8_t fromBytes) {
  d.emit(publish, kNoRow, to, from, kNoRow, fromBytes);
}
void emitTensorMapAcquire(Decoder &d, Row map) { d.emit(acquire, kNoRow, map); }
void emitTensorCopy(Decoder &d, TensorCopyOperation op) {
  auto kept = std::make_shared<TensorCopyOperation>(std::move(op));
  d.emit(copyTensor, kNoRow, kNoRow, kNoRow, kNoRow, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
}
void emitTensorCopyCommit(Decoder &d) { d.emit(commit); }
void emitTensorCopyWait(Decoder &d, uint64_t pending) {
  d.emit(waitForDrains, kNoRow, kNoRow, kNoRow, kNoRow, pending);
}

} // namespace tessera::emulator
