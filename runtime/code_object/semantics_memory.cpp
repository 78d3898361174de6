// Global, flat, scratch, buffer and scalar memory. Sources: ISA guides, "Vector Memory Operations", "Flat Memory
// Instructions", "Scalar Memory Operations", "Buffer resource descriptor"; LLVM's AMDGPUUsage for the order of
// operands.
#include "runtime/code_object/execute.h"
#include "runtime/code_object/lds.h"
#include "runtime/code_object/memory_access.h"
#include "runtime/code_object/rows.h"

namespace tessera::code_object {
using namespace llvm;

namespace {

enum class Space : uint8_t { Global, Flat, Scratch, Buffer };
enum class Action : uint8_t { Load, Store, Atomic, LoadToLds };

/// What a name says, kept in Semantic::parameters.
struct Parts {
  Space space = Space::Global;
  Action action = Action::Load;
  AccessForm form;
  AtomicForm atomic;
};
Parts partsOf(const Semantic &s) {
  Parts p;
  p.space = Space(s.parameters[0]);
  p.action = Action(s.parameters[1]);
  p.form = {s.parameters[2], s.parameters[3] != 0, AccessForm::Half(s.parameters[4])};
  p.atomic = {Atomic(s.parameters[5]), s.parameters[6]};
  return p;
}
Semantic withParts(Handler h, const Parts &p) {
  Semantic s = special("", h);
  s.parameters = {uint8_t(p.space),     uint8_t(p.action),           p.form.bytes,   p.form.isSigned,
                  uint8_t(p.form.half), uint8_t(p.atomic.operation), p.atomic.bytes, 0};
  return s;
}

/// Where each lane accesses; of the first kind those outside of a buffer's bounds are not in `mask`.
struct Addresses {
  uint64_t lane[kLanes];
  uint64_t mask = 0;
  bool isScratch = false; // offsets in the lane's scratch
  bool isWhole = true;    // all bytes of all lanes are in bounds
  unsigned valid[kLanes]; // of buffers, unless they are whole: bytes from the address on that are in bounds
  unsigned validOf(unsigned lane, unsigned bytes) const { return isWhole ? bytes : valid[lane]; }
};

/// The operands of an instruction after its data: address register, scalar base.
struct Places {
  const Operand *data = nullptr, *result = nullptr, *address = nullptr, *base = nullptr, *offset = nullptr;
};
Places placesOf(const Step &s, const Parts &p, bool returns) {
  Places at;
  auto next = [&, k = 0u]() mutable { return k < s.operandCount ? &s[k++] : nullptr; };
  if (p.space == Space::Buffer) {
    if (p.action != Action::LoadToLds) at.data = at.result = next();
    at.address = next();
    at.base = next();
    at.offset = next();
    return at;
  }
  if (p.action == Action::Load) at.result = next();
  if (p.action == Action::Atomic && returns) at.result = next();
  at.address = next();
  if (p.action == Action::Store || p.action == Action::Atomic) at.data = next();
  at.base = next();
  return at;
}

void flatAddresses(Wave &w, const Step &s, const Parts &p, const Places &at, Addresses &out) {
  out.mask = w.exec();
  out.isScratch = p.space == Space::Scratch;
  auto offset = uint64_t(s.modifiers->offset);
  const Operand *a = at.address;
  bool hasBase = at.base && at.base->isScalar() && at.base->index != kNull;
  uint64_t base = hasBase ? readScalar(w, *at.base, p.space == Space::Scratch ? 32 : 64) : 0;
  bool isWide = a && a->isVector() && a->count >= 2;
  const uint32_t *low = a && a->isVector() ? w.row(a->index) : nullptr, *high = isWide ? w.row(a->index + 1) : nullptr;
  uint64_t fixed = base + offset;
  if (out.isScratch)
    for (unsigned l = 0; l < kLanes; ++l) out.lane[l] = uint32_t(fixed + (low ? low[l] : 0));
  else if (high)
    for (unsigned l = 0; l < kLanes; ++l) out.lane[l] = fixed + (low[l] | uint64_t(high[l]) << 32);
  else
    for (unsigned l = 0; l < kLanes; ++l) out.lane[l] = fixed + (low ? low[l] : 0);
}

/// The fields of a buffer resource descriptor that are used here.
struct Resource {
  uint64_t base = 0;
  uint32_t stride = 0, records = 0;
  bool swizzles = false;
  /// Records are of `stride` bytes; else of one. On gfx9 only swizzled buffers have such ("Range checking").
  bool isStructured = false;
};
Resource readResource(const Wave &w, const Operand &o) {
  const uint32_t *d = &w.scalars[o.index];
  Resource r;
  r.base = d[0] | uint64_t(d[1] & 0xffff) << 32;
  r.stride = d[1] >> 16 & 0x3fff;
  r.swizzles = d[1] >> 31;
  r.records = d[2];
  r.isStructured = r.stride && (r.swizzles || !w.program->code->isGfx9);
  return r;
}

void bufferAddresses(Wave &w, const Step &s, const Parts &p, const Places &at, Addresses &out) {
  const Modifiers &m = *s.modifiers;
  if (!at.base || !at.base->isScalar() || at.base->count != 4) return w.fail("has no buffer descriptor");
  Resource r = readResource(w, *at.base);
  if (r.swizzles && r.stride) return w.fail("swizzled buffers are not known to this model yet");
  uint64_t scalarOffset = at.offset ? uint32_t(readScalar(w, *at.offset, 32)) : 0;
  const uint32_t *index = m.idxen ? w.row(at.address->index) : nullptr;
  const uint32_t *offset = m.offen ? w.row(at.address->index + m.idxen) : nullptr;
  unsigned bytes = p.action == Action::Atomic ? p.atomic.bytes : p.form.bytes;
  uint64_t exec = w.exec();
  if (!r.stride || (!index && !r.isStructured)) { // the common case: raw, and nobody is out of bounds
    uint64_t fixed = r.base + scalarOffset + uint64_t(m.offset);
    for (unsigned l = 0; l < kLanes; ++l) out.lane[l] = fixed + (offset ? offset[l] : 0);
    uint64_t last = exec ? extentOf(out.lane, exec).most - r.base : 0;
    out.mask = exec;
    if (last + bytes <= r.records) return;
    out.mask = 0;
  }
  out.isWhole = false;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(exec >> l & 1)) continue;
    uint64_t in = uint64_t(m.offset) + (offset ? offset[l] : 0), row = index ? index[l] : 0;
    uint64_t whole = in + row * r.stride;
    out.lane[l] = r.base + scalarOffset + whole;
    // Raw: the offset against the number of bytes; structured: the index against that of records.
    uint64_t end = r.isStructured ? whole : whole + scalarOffset;
    bool isInside = r.isStructured ? row < r.records : end < r.records;
    out.valid[l] = !isInside ? 0 : r.isStructured ? bytes : unsigned(std::min<uint64_t>(bytes, r.records - end));
    if (out.valid[l] >= std::min(bytes, 4u)) out.mask |= uint64_t(1) << l;
  }
}

uint8_t *placeOf(Wave &w, const Addresses &a, unsigned lane, unsigned bytes, bool isWrite) {
  uint64_t address = a.lane[lane];
  if (a.isScratch || address >> 48 == kPrivateBase >> 48) {
    uint64_t offset = a.isScratch ? address : address - kPrivateBase;
    if (offset + bytes > w.scratchBytes) {
      w.fail("accesses byte " + std::to_string(offset) + " of " + std::to_string(w.scratchBytes) + " of its scratch");
      return nullptr;
    }
    return w.scratch.data() + size_t(lane) * w.scratchBytes + offset;
  }
  if (address >> 48 == kSharedBase >> 48) return resolveLds(w, address - kSharedBase, bytes, isWrite);
  return resolve(w, address, bytes, isWrite);
}

/// One buffer that has the bytes of all lanes of a mask.
struct HostBytes {
  uint8_t *data = nullptr; // null: there is none
  uint64_t address = 0;
  uint8_t *at(uint64_t a) const { return data + (a - address); }
};
HostBytes hostOf(Wave &w, const Addresses &a, uint64_t mask, unsigned bytes) {
  if (a.isScratch || !a.isWhole || !mask) return {};
  Extent<uint64_t> e = extentOf(a.lane, mask);
  const Memory::Region *r = w.group->memory->find(e.least, e.most - e.least + bytes);
  return r ? HostBytes{r->data, r->address} : HostBytes{};
}

void trace(Wave &w, const Addresses &a, unsigned bytes) {
  if (!w.trace) return;
  if (!a.isScratch) {
    bool isLds = a.mask && a.lane[std::countr_zero(a.mask)] >> 48 == kSharedBase >> 48;
    if (!isLds) return traceMemory(w, a.mask, a.lane, bytes);
    uint32_t lds[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) lds[l] = uint32_t(a.lane[l]);
    return traceLds(w, a.mask, lds, nullptr, bytes);
  }
  uint64_t interleaved[kLanes];
  for (unsigned l = 0; l < kLanes; ++l)
    interleaved[l] = kScratchBase + 4 * (a.lane[l] / 4 * w.lanes + l) + a.lane[l] % 4;
  traceMemory(w, a.mask, interleaved, bytes);
}

/// LDS address = M0 + offset + lane * size (ISA guides, "Memory to LDS"; M0 has 16 bits before gfx950).
void loadToLds(Wave &w, const Step &s, const Parts &p, const Addresses &a) {
  uint32_t base = w.scalars[kM0] + uint32_t(s.modifiers->offset);
  unsigned size = std::max<unsigned>(p.form.bytes, 4);
  uint32_t lds[kLanes];
  uint64_t exec = w.exec();
  for (unsigned l = 0; l < kLanes; ++l) lds[l] = base + l * size;
  HostBytes host = size == p.form.bytes ? hostOf(w, a, exec, size) : HostBytes{};
  uint8_t *all = host.data ? ldsOf(w, lds, exec, size) : nullptr;
  if (all) forLanesOf(exec, [&](unsigned l) { std::memcpy(all + lds[l], host.at(a.lane[l]), size); });
  forLanes(w, all ? 0 : exec, [&](unsigned l) {
    uint8_t *to = resolveLds(w, lds[l], size, true);
    if (!to) return;
    std::memset(to, 0, size);
    if (!(a.mask >> l & 1)) return;
    unsigned bytes = a.validOf(l, p.form.bytes);
    if (const uint8_t *from = placeOf(w, a, l, bytes, false)) std::memcpy(to, from, bytes);
  });
  if (!w.trace) return;
  trace(w, a, p.form.bytes);
  uint64_t mask = w.trace->events.back().mask;
  traceLds(w, exec, lds, nullptr, p.form.bytes);
  w.trace->events.back().mask = mask;
}

/// One lane that reads may wait for another wave; many lanes do not.
void noteReturned(Wave &w, const Step &s, const Addresses &a, unsigned row) {
  if (std::popcount(w.exec()) != 1) return;
  auto lane = unsigned(std::countr_zero(w.exec()));
  w.returned(s, a.lane[lane], w.row(row)[lane]);
}

/// What an instruction of vector memory accesses.
struct VectorAccess {
  Parts parts;
  Places at;
  Addresses addresses;
  unsigned bytes = 0;   // of a lane
  bool returns = false; // the value before, of an atomic
};

void loadVector(Wave &w, const Step &s, const VectorAccess &v) {
  const Addresses &a = v.addresses;
  unsigned result = v.at.result->index;
  if (HostBytes host = hostOf(w, a, w.exec(), v.bytes); host.data) {
    loadLanes(w, v.parts.form, result, w.exec(), [=, &a](unsigned l) { return host.at(a.lane[l]); });
    return noteReturned(w, s, a, result);
  }
  forLanes(w, w.exec(), [&](unsigned l) {
    uint8_t parts[64] = {};
    unsigned valid = a.mask >> l & 1 ? a.validOf(l, v.bytes) : 0;
    const uint8_t *from = valid ? placeOf(w, a, l, valid, false) : parts;
    if (!from) return;
    if (valid && valid < v.bytes) {
      std::memcpy(parts, from, valid);
      from = parts;
    }
    loadLane(w, v.parts.form, result, l, from);
  });
}

void storeVector(Wave &w, const VectorAccess &v) {
  const Addresses &a = v.addresses;
  unsigned data = v.at.data ? v.at.data->index : 0;
  ++w.changes;
  if (HostBytes host = hostOf(w, a, w.exec(), v.bytes); host.data)
    return storeLanes(w, v.parts.form, data, w.exec(), [=, &a](unsigned l) { return host.at(a.lane[l]); });
  forLanes(w, a.mask, [&](unsigned l) {
    unsigned valid = a.validOf(l, v.bytes);
    uint8_t *to = placeOf(w, a, l, valid, true);
    if (!to) return;
    if (valid == v.bytes) return storeLane(w, v.parts.form, data, l, to);
    uint8_t parts[64];
    storeLane(w, v.parts.form, data, l, parts);
    std::memcpy(to, parts, valid);
  });
}

void updateVector(Wave &w, const Step &s, const VectorAccess &v) {
  const Addresses &a = v.addresses;
  const auto &atomic = v.parts.atomic;
  unsigned data = v.at.data ? v.at.data->index : 0;
  bool givesOld = v.returns && v.at.result;
  forLanes(w, w.exec(), [&](unsigned l) {
    uint64_t old = 0;
    if (a.mask >> l & 1) {
      uint8_t *place = placeOf(w, a, l, v.bytes, true);
      if (!place) return;
      bool compares = atomic.operation == Atomic::CompareSwap;
      uint64_t value = laneValue(w, data, l, v.bytes);
      uint64_t compare = compares ? laneValue(w, data + v.bytes / 4, l, v.bytes) : 0;
      uint64_t before = 0, after = 0;
      std::memcpy(&before, place, v.bytes);
      old = applyAtomic(atomic, place, value, compare);
      std::memcpy(&after, place, v.bytes);
      w.changes += after != before;
    }
    if (givesOld) setLaneValue(w, v.at.result->index, l, v.bytes, old);
  });
  if (givesOld) noteReturned(w, s, a, v.at.result->index);
}

void vectorMemory(Wave &w, const Step &s) {
  VectorAccess v;
  Parts &p = v.parts = partsOf(*s.semantic);
  if (s.modifiers->lds && p.action == Action::Load) p.action = Action::LoadToLds;
  v.returns = s.modifiers->returns || (p.action == Action::Atomic && p.space != Space::Buffer &&
                                       s.operandCount > (p.space == Space::Flat ? 2u : 3u));
  v.at = placesOf(s, p, v.returns);
  if (p.space == Space::Buffer)
    bufferAddresses(w, s, p, v.at, v.addresses);
  else
    flatAddresses(w, s, p, v.at, v.addresses);
  if (w.state == Wave::State::Failed) return;
  v.bytes = p.action == Action::Atomic ? p.atomic.bytes : p.form.bytes;
  if (p.action == Action::LoadToLds) return loadToLds(w, s, p, v.addresses);
  trace(w, v.addresses, v.bytes);
  switch (p.action) {
  case Action::Load: return loadVector(w, s, v);
  case Action::Store: return storeVector(w, v);
  case Action::Atomic: return updateVector(w, s, v);
  case Action::LoadToLds: break; // above
  }
}

// ---- scalar memory ----

struct ScalarAccess {
  uint64_t address = 0;
  unsigned valid = 0; // bytes in bounds
};
/// Of an access of `bytes`, which is traced.
ScalarAccess scalarAccess(Wave &w, const Step &s, bool isBuffer, unsigned bytes) {
  uint64_t offset = uint64_t(s.modifiers->offset);
  if (s.operandCount > 2)
    offset += s[2].kind == Operand::Kind::Literal ? uint64_t(int64_t(s[2].literal)) : uint32_t(readScalar(w, s[2], 32));
  uint64_t base, limit = ~uint64_t(0);
  if (isBuffer) {
    Resource r = readResource(w, s[1]);
    base = r.base;
    limit = r.stride ? uint64_t(r.records) * r.stride : r.records; // of scalar loads in all generations
  } else
    base = w.pair(s[1].index);
  uint64_t address = base + offset;
  if (bytes >= 4) address &= ~uint64_t(3);
  if (w.trace) {
    TraceEvent &e = w.trace->events.back();
    e.firstAddress = uint32_t(w.trace->addresses.size());
    e.addressCount = 1;
    e.bytes = uint8_t(bytes);
    w.trace->addresses.push_back(address);
  }
  uint64_t inBounds = offset >= limit ? 0 : std::min<uint64_t>(bytes, limit - offset);
  return {address, isBuffer ? unsigned(inBounds) : bytes};
}

/// parameters: bytes, whether the base is a buffer descriptor, signed.
void scalarLoad(Wave &w, const Step &s) {
  unsigned bytes = s.semantic->parameters[0];
  bool isBuffer = s.semantic->parameters[1], isSigned = s.semantic->parameters[2];
  ScalarAccess a = scalarAccess(w, s, isBuffer, bytes);
  uint8_t data[64] = {};
  if (a.valid) {
    const uint8_t *from = resolve(w, a.address, a.valid, false);
    if (!from) return;
    std::memcpy(data, from, a.valid);
  }
  if (bytes == 4) {
    uint32_t value;
    std::memcpy(&value, data, 4);
    w.returned(s, a.address, value);
  }
  if (s[0].index == kNull) return;
  if (bytes < 4) {
    uint32_t v = bytes == 1 ? data[0] : uint32_t(data[0] | data[1] << 8);
    if (isSigned) v = bytes == 1 ? uint32_t(int8_t(v)) : uint32_t(int16_t(v));
    w.scalars[s[0].index] = v;
  } else
    std::memcpy(&w.scalars[s[0].index], data, bytes);
}

/// Of gfx8 to gfx9 (ISA guides, "Scalar Memory Operations"): the first operand is the data.
void scalarStore(Wave &w, const Step &s) {
  unsigned bytes = s.semantic->parameters[0];
  ScalarAccess a = scalarAccess(w, s, s.semantic->parameters[1], bytes);
  ++w.changes;
  if (!a.valid) return;
  if (uint8_t *to = resolve(w, a.address, a.valid, true)) std::memcpy(to, &w.scalars[s[0].index], a.valid);
}
void scalarAtomic(Wave &w, const Step &s) {
  AtomicForm form{Atomic(s.semantic->parameters[2]), s.semantic->parameters[0]};
  ScalarAccess a = scalarAccess(w, s, s.semantic->parameters[1], form.bytes);
  if (a.valid < form.bytes) return;
  uint8_t *place = resolve(w, a.address, form.bytes, true);
  if (!place) return;
  auto value = [&](unsigned at) { return form.bytes == 8 ? w.pair(s[0].index + at) : w.scalars[s[0].index + at]; };
  bool compares = form.operation == Atomic::CompareSwap;
  uint64_t old = applyAtomic(form, place, value(0), compares ? value(form.bytes / 4) : 0);
  ++w.changes;
  if (s.modifiers->returns) writeScalar(w, s[0], old, 8 * form.bytes);
}

/// The number of executed instructions stands for a clock.
void readClock(Wave &w, const Step &s) { writeScalar(w, s[0], w.executed * 4, 64); }
void ignored(Wave &, const Step &) {}

Semantic scalarMemory(StringRef m) {
  if (m == "s_memtime" || m == "s_memrealtime") return special("", readClock, Type::B64);
  m.consume_front("s_");
  bool isBuffer = m.consume_front("buffer_");
  if (m.consume_front("atomic_")) {
    auto atomic = parseAtomic(m);
    if (!atomic) return {};
    Semantic s = special("", scalarAtomic, Type::B32);
    s.parameters = {atomic->bytes, isBuffer, uint8_t(atomic->operation)};
    return s;
  }
  bool isStore = m.consume_front("store_");
  if (!isStore && !m.consume_front("load_")) return {};
  auto form = parseForm(m);
  if (!form) return {};
  Semantic s = special("", isStore ? scalarStore : scalarLoad, Type::B32);
  s.parameters = {form->bytes, isBuffer, form->isSigned};
  return s;
}

} // namespace

Semantic memorySemantic(StringRef m) {
  for (const char *name : {"buffer_wbl2", "buffer_inv", "buffer_gl0_inv", "buffer_gl1_inv", "buffer_wbinvl1",
                           "buffer_wbinvl1_vol", "global_inv", "global_wb", "global_wbinv", "global_prefetch_b8"})
    if (m == name) return special("", ignored);
  if (m.starts_with("s_")) return scalarMemory(m);
  Parts p;
  if (m.consume_front("global_"))
    p.space = Space::Global;
  else if (m.consume_front("flat_"))
    p.space = Space::Flat;
  else if (m.consume_front("scratch_"))
    p.space = Space::Scratch;
  else if (m.consume_front("buffer_"))
    p.space = Space::Buffer;
  else
    return {};
  if (m.consume_front("atomic_")) {
    auto atomic = parseAtomic(m);
    if (!atomic) return {};
    p.action = Action::Atomic;
    p.atomic = *atomic;
    return withParts(vectorMemory, p);
  }
  if (m.consume_front("load_lds_"))
    p.action = Action::LoadToLds;
  else if (m.consume_front("load_"))
    p.action = Action::Load;
  else if (m.consume_front("store_"))
    p.action = Action::Store;
  else
    return {};
  auto form = parseForm(m);
  if (!form) return {};
  p.form = *form;
  return withParts(vectorMemory, p);
}

} // namespace tessera::code_object
