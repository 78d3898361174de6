// Tensor maps as the manual has them (PTX ISA, "Tensors", "Data Movement and Conversion Instructions:
// tensormap.replace, tensormap.cp_fenceproxy", "fence.proxy.tensormap").
//
// Fields are set by tensormap.replace, and those that a copy needs must have been. A map is written in shared memory
// and published to global memory, where a block must acquire it before its copies use it. Maps that are arguments of
// the kernel are made by encodeTensorMap.
#include "runtime/emulator/tensor_map.h"
#include "runtime/emulator/races.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

bool wasWritten(const TensorMap &m, TensorMapField::Field f, unsigned ordinal) {
  unsigned bit = unsigned(f) * kMaxDimensions + ordinal;
  return (bit < 32 ? m.written >> bit : m.written2 >> (bit - 32)) & 1;
}
void setWritten(TensorMap &m, TensorMapField::Field f, unsigned ordinal) {
  unsigned bit = unsigned(f) * kMaxDimensions + ordinal;
  (bit < 32 ? m.written : m.written2) |= 1u << bit % 32;
}

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
      if (v >= kMaxDimensions) return bad("there are 1 to 5 dimensions (rank 0 to 4); this is the rank");
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

/// Whether the copies that read the map at the address are done, as far as the warp knows; else a fault is reported.
bool isReadByNoCopy(Warp &w, const Instruction &i, uint64_t map, uint64_t now) {
  Block &b = *w.block;
  auto fault = [&](const char *why) {
    fail(w, &i, -1,
         formatv("race: the tensor map at address {0:x} is written while a bulk copy reads it: {1}", map, why));
    return false;
  };
  if (any_of(b.fills, [&](const PendingFill &f) { return f.map == map; }))
    return fault("nobody has waited for its mbarrier");
  for (auto &other : b.warps)
    if (any_of(other.drains, [&](const PendingDrain &d) { return d.map == map; }))
      return fault("no cp.async.bulk.wait_group has waited for it");
  auto found = b.launch->tensorMaps.find(map);
  if (found == b.launch->tensorMaps.end() || !b.launch->checks.races) return true;
  const Mark &read = found->second.lastRead;
  return read.block != b.number || isReadOver(w, read, now) ||
         fault("another warp has waited for it, and no barrier lies between");
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
  if (!host || !isReadByNoCopy(w, i, to, now)) return;
  for (unsigned k = 0; k < kMapBytes; k += 4)
    if (!noteSharedAccess(w, i, k / 4 % w.lanes, from + k, 4, false, now)) return;
  uint8_t changed[kMapBytes];
  for (unsigned k = 0; k < kMapBytes; ++k) changed[k] = host[k] != b.shared[from + k];
  for (unsigned k = 0; k < kMapBytes; k += 4)
    if (!noteGlobalAccess(w, i, k / 4 % w.lanes, *region, to - region->base + k, 4, true, false, changed + k, now))
      return;
  markWritten(*region, to - region->base, kMapBytes);
  memcpy(host, b.shared.data() + from, kMapBytes);
  launch.tensorMaps[to].acquiredBy.clear();
  ++launch.changes;
}

void acquire(Warp &w, const Instruction &i) {
  Launch &launch = *w.block->launch;
  forLanes(w, [&](unsigned l) {
    auto found = launch.tensorMaps.find(w.row<uint64_t>(i.a)[l]);
    if (found != launch.tensorMaps.end() && !is_contained(found->second.acquiredBy, w.block->number))
      found->second.acquiredBy.push_back(w.block->number);
  });
}

} // namespace

bool isOff(const Warp &w, Row guard, bool negated, unsigned lane) {
  return guard != kNoRow && bool(w.row<uint8_t>(guard)[lane] & 1) == negated;
}

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

void noteMapRead(Block &b, uint64_t map, const Mark &mark) {
  auto found = b.launch->tensorMaps.find(map);
  if (found != b.launch->tensorMaps.end()) found->second.lastRead = mark;
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
  if (!region->holdsTensorMaps) {
    auto found = launch.tensorMaps.find(address);
    if (found == launch.tensorMaps.end())
      return bad(formatv("there is no tensor map at byte {0} of '{1}'", address - region->base, region->name).str());
    if (!is_contained(found->second.acquiredBy, w.block->number))
      return bad("the tensor map was written by the kernel, and no fence.proxy.tensormap::generic.acquire of this "
                 "block lies between");
    if (!noteGlobalAccess(w, i, lane, *region, address - region->base, kMapBytes, false, false, nullptr, now))
      return false;
  }
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

std::array<uint8_t, kMapBytes> encodeTensorMap(const runtime::TensorMap &from, uint64_t address) {
  using F = TensorMapField;
  TensorMap m{};
  m.address = address;
  m.rank = uint8_t(from.size.size() - 1);
  m.elementType = uint8_t(from.elementType);
  m.swizzle = uint8_t(from.swizzle);
  m.fill = from.nanFill;
  for (auto f : {F::Address, F::Rank, F::ElementType, F::Interleave, F::Swizzle, F::Fill}) setWritten(m, f, 0);
  for (unsigned d = 0; d < from.size.size(); ++d) {
    m.size[d] = uint32_t(from.size[d]);
    m.box[d] = uint16_t(from.box[d]);
    m.elementStride[d] = 1;
    for (auto f : {F::Size, F::BoxSize, F::ElementStride}) setWritten(m, f, d);
  }
  for (unsigned d = 0; d < from.strides.size(); ++d) {
    m.stride[d] = from.strides[d];
    setWritten(m, F::Stride, d);
  }
  std::array<uint8_t, kMapBytes> out{};
  memcpy(out.data(), &m, sizeof m);
  return out;
}

void emitTensorMapField(Decoder &d, TensorMapField op) {
  auto kept = std::make_shared<TensorMapField>(op);
  d.emitImmediate(replaceField, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
}
void emitTensorMapPublish(Decoder &d, Row to, Row from, uint8_t fromBytes) {
  d.emit(publish, kNoRow, to, from, kNoRow, fromBytes);
}
void emitTensorMapAcquire(Decoder &d, Row map) { d.emit(acquire, kNoRow, map); }

} // namespace tessera::emulator
