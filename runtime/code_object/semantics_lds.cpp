// LDS: reads, writes, atomics, the exchanges between lanes that its hardware makes, and gfx950's transposing reads.
// Sources: ISA guides, "Data Share Operations", "LDS instructions"; CDNA4's for DS_READ_B64_TR_*.
#include "runtime/code_object/lds.h"
#include "runtime/code_object/memory_access.h"
#include "runtime/code_object/rows.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::code_object {
using namespace llvm;

uint8_t *resolveLds(Wave &w, uint64_t address, unsigned bytes, bool isWrite) {
  auto &lds = w.group->lds;
  if (address + bytes <= lds.size() && address + bytes >= address) return lds.data() + address;
  // Objects of Triton and Tessera state no LDS: the launch gives it.
  w.fail(formatv("{0} {1} bytes at address {2} of LDS, of which the workgroup has {3} bytes{4}",
                 isWrite ? "writes" : "reads", bytes, address, lds.size(),
                 lds.empty() ? "; `tessera time` gives it more by --dynamic-lds" : ""));
  return nullptr;
}

uint8_t *ldsOf(Wave &w, const uint32_t *addresses, uint64_t mask, unsigned bytes) {
  if (!mask) return nullptr;
  uint64_t last = extentOf(addresses, mask).most;
  return last + bytes <= w.group->lds.size() ? w.group->lds.data() : nullptr;
}

namespace {

void addressesOf(Wave &w, const Operand &o, uint32_t offset, uint32_t *out) {
  const uint32_t *a = w.row(o.index);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = a[l] + offset;
}

struct LdsParts {
  AccessForm form;
  unsigned stride = 0; // of read2, write2: bytes that an offset counts
};
LdsParts partsOf(const Semantic &s) {
  return {{s.parameters[0], s.parameters[1] != 0, AccessForm::Half(s.parameters[2])},
          s.detail ? unsigned(s.detail) : 0};
}

void read(Wave &w, const Step &s) {
  LdsParts p = partsOf(*s.semantic);
  uint32_t at[kLanes];
  addressesOf(w, s[1], uint32_t(s.modifiers->offset), at);
  traceLds(w, w.exec(), at, nullptr, p.form.bytes);
  if (const uint8_t *lds = ldsOf(w, at, w.exec(), p.form.bytes))
    return loadLanes(w, p.form, s[0].index, w.exec(), [=, &at](unsigned l) { return lds + at[l]; });
  forLanes(w, w.exec(), [&](unsigned l) {
    if (const uint8_t *from = resolveLds(w, at[l], p.form.bytes, false)) loadLane(w, p.form, s[0].index, l, from);
  });
}
void write(Wave &w, const Step &s) {
  LdsParts p = partsOf(*s.semantic);
  uint32_t at[kLanes];
  addressesOf(w, s[0], uint32_t(s.modifiers->offset), at);
  traceLds(w, w.exec(), at, nullptr, p.form.bytes);
  if (uint8_t *lds = ldsOf(w, at, w.exec(), p.form.bytes))
    return storeLanes(w, p.form, s[1].index, w.exec(), [=, &at](unsigned l) { return lds + at[l]; });
  forLanes(w, w.exec(), [&](unsigned l) {
    if (uint8_t *to = resolveLds(w, at[l], p.form.bytes, true)) storeLane(w, p.form, s[1].index, l, to);
  });
}
void read2(Wave &w, const Step &s) {
  LdsParts p = partsOf(*s.semantic);
  uint32_t first[kLanes], second[kLanes];
  addressesOf(w, s[1], uint32_t(s.modifiers->offset0) * p.stride, first);
  addressesOf(w, s[1], uint32_t(s.modifiers->offset1) * p.stride, second);
  traceLds(w, w.exec(), first, second, p.form.bytes);
  const uint8_t *lds = ldsOf(w, first, w.exec(), p.form.bytes);
  if (lds && ldsOf(w, second, w.exec(), p.form.bytes)) {
    loadLanes(w, p.form, s[0].index, w.exec(), [=, &first](unsigned l) { return lds + first[l]; });
    loadLanes(w, p.form, s[0].index + p.form.registers(), w.exec(),
              [=, &second](unsigned l) { return lds + second[l]; });
    return;
  }
  forLanes(w, w.exec(), [&](unsigned l) {
    const uint8_t *a = resolveLds(w, first[l], p.form.bytes, false), *b = resolveLds(w, second[l], p.form.bytes, false);
    if (!a || !b) return;
    loadLane(w, p.form, s[0].index, l, a);
    loadLane(w, p.form, s[0].index + p.form.registers(), l, b);
  });
}
void write2(Wave &w, const Step &s) {
  LdsParts p = partsOf(*s.semantic);
  uint32_t first[kLanes], second[kLanes];
  addressesOf(w, s[0], uint32_t(s.modifiers->offset0) * p.stride, first);
  addressesOf(w, s[0], uint32_t(s.modifiers->offset1) * p.stride, second);
  traceLds(w, w.exec(), first, second, p.form.bytes);
  forLanes(w, w.exec(), [&](unsigned l) {
    uint8_t *a = resolveLds(w, first[l], p.form.bytes, true), *b = resolveLds(w, second[l], p.form.bytes, true);
    if (!a || !b) return;
    storeLane(w, p.form, s[1].index, l, a);
    storeLane(w, p.form, s[2].index, l, b);
  });
}

/// parameters: operation, bytes, returns. Operands: [D,] address, data [, second data].
void atomic(Wave &w, const Step &s) {
  AtomicForm form{Atomic(s.semantic->parameters[0]), s.semantic->parameters[1]};
  bool returns = s.semantic->parameters[2], isOldOrder = s.semantic->parameters[3];
  unsigned k = returns;
  uint32_t at[kLanes];
  addressesOf(w, s[k], uint32_t(s.modifiers->offset), at);
  traceLds(w, w.exec(), at, nullptr, form.bytes);
  bool compares = form.operation == Atomic::CompareSwap;
  forLanes(w, w.exec(), [&](unsigned l) {
    uint8_t *place = resolveLds(w, at[l], form.bytes, true);
    if (!place) return;
    uint64_t data = laneValue(w, s[k + 1].index, l, form.bytes), other = 0;
    // ds_cmpst has the value to compare with first, ds_cmpstore last.
    if (compares) other = laneValue(w, s[k + 2].index, l, form.bytes);
    if (compares && isOldOrder) std::swap(data, other);
    uint64_t old = applyAtomic(form, place, data, other);
    if (returns) setLaneValue(w, s[0].index, l, form.bytes, old);
  });
}

void permuteBackward(Wave &w, const Step &s) {
  const uint32_t *at = w.row(s[1].index), *from = w.row(s[2].index);
  uint64_t exec = w.exec();
  Row out;
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned lane = (at[l] + uint32_t(s.modifiers->offset)) / 4 & (w.lanes - 1);
    out.lane[l] = exec >> lane & 1 ? from[lane] : 0;
  }
  writeRow(w, s[0], 0, out.lane, exec);
}
void permuteForward(Wave &w, const Step &s) {
  const uint32_t *at = w.row(s[1].index), *from = w.row(s[2].index);
  uint64_t exec = w.exec();
  Row out{};
  for (unsigned l = 0; l < kLanes; ++l)
    if (exec >> l & 1) out.lane[(at[l] + uint32_t(s.modifiers->offset)) / 4 & (w.lanes - 1)] = from[l];
  writeRow(w, s[0], 0, out.lane, exec);
}
/// Bit 15: quads permuted; else lane = ((lane & and) | or) ^ xor among 32 lanes. A lane that is off gives 0. On gfx9
/// and later offsets from 0xc000 on rotate (ISA guides, "DS_SWIZZLE_B32").
void swizzle(Wave &w, const Step &s) {
  const uint32_t *v = w.row(s[1].index);
  auto o = uint32_t(uint16_t(s.immediate));
  uint64_t exec = w.exec();
  Row out;
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned from;
    if (o >= 0xe000) {
      w.fail("FFT swizzles are not known to this model yet");
      return;
    }
    if (o >= 0xc000) {
      unsigned by = o >> 5 & 31, keep = o & 31;
      unsigned moved = (l + (o & 0x400 ? 32 - by : by)) & 31;
      from = (l & ~31u) | (l & keep) | (moved & ~keep & 31);
    } else if (o & 0x8000)
      from = (l & ~3u) | (o >> (2 * (l & 3)) & 3);
    else
      from = (l & ~31u) | ((((l & 31 & o) | (o >> 5)) ^ (o >> 10)) & 31);
    out.lane[l] = exec >> from & 1 ? v[from] : 0;
  }
  writeRow(w, s[0], 0, out.lane, exec);
}

/// Every lane reads bytes at its address; of each 16 lanes, lane l gets as element j one of what others read. Of 16
/// bits: element l % 4 of lane 4 j + l / 4. detail: bits of an element.
void readTransposed(Wave &w, const Step &s) {
  auto bits = unsigned(s.semantic->detail), bytes = unsigned(s.semantic->parameters[0]);
  uint32_t at[kLanes];
  addressesOf(w, s[1], uint32_t(s.modifiers->offset), at);
  if (w.exec() != w.allLanes()) return w.fail("a transposing read with inactive lanes is not defined");
  traceLds(w, w.exec(), at, nullptr, bytes);
  uint8_t read[kLanes][16] = {};
  forLanes(w, w.exec(), [&](unsigned l) {
    if (const uint8_t *from = resolveLds(w, at[l], bytes, false)) std::memcpy(read[l], from, bytes);
  });
  if (w.state == Wave::State::Failed) return;
  // A block of 16 lanes holds a matrix of (elements of a lane) columns in 16 / (lanes of a row) rows; lane l of the
  // result has its column l.
  unsigned elements = bytes * 8 / bits; // of a lane
  unsigned lanesOfRow = 16 / elements;  // 16 columns
  auto element = [&](unsigned lane, unsigned k) -> uint32_t {
    unsigned bit = k * bits;
    uint32_t v = read[lane][bit / 8] | (bits == 16 ? uint32_t(read[lane][bit / 8 + 1]) << 8 : 0);
    return v >> (bit % 8) & ((1u << bits) - 1);
  };
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t out[4] = {};
    unsigned column = l % 16;
    for (unsigned j = 0; j < elements; ++j) {
      unsigned lane = (l & ~15u) + j * lanesOfRow + column / elements;
      out[j * bits / 32] |= element(lane, column % elements) << (j * bits % 32);
    }
    for (unsigned k = 0; k < bytes / 4; ++k) w.row(s[0].index + k)[l] = out[k];
  }
}

void nothing(Wave &, const Step &) {}

Semantic access(Handler h, const AccessForm &f, unsigned stride = 0) {
  Semantic s = special("", h);
  s.parameters = {f.bytes, f.isSigned, uint8_t(f.half)};
  s.detail = stride;
  return s;
}

/// "read2st64_b64": the form, and what its offsets count.
Semantic pairAccess(Handler h, StringRef rest) {
  bool isFar = rest.consume_front("st64") || rest.consume_front("_stride64");
  if (!rest.consume_front("_")) return {};
  auto form = parseForm(rest);
  if (!form) return {};
  return access(h, *form, form->bytes * (isFar ? 64 : 1));
}

} // namespace

Semantic ldsSemantic(StringRef m) {
  m.consume_front("ds_");
  if (m == "nop") return special("", nothing);
  if (m == "bpermute_b32") return special("", permuteBackward);
  if (m == "permute_b32") return special("", permuteForward);
  if (m == "swizzle_b32") return special("", swizzle);
  if (m == "read_b64_tr_b16" || m == "read_b64_tr_b8") {
    Semantic s = special("", readTransposed, Type::None, {}, m.ends_with("b8") ? 8 : 16);
    s.parameters[0] = 8;
    return s;
  }
  if (m == "read2_b32" || m.starts_with("read2")) return pairAccess(read2, m.drop_front(5));
  if (m.starts_with("load_2addr")) return pairAccess(read2, m.drop_front(10));
  if (m.starts_with("write2")) return pairAccess(write2, m.drop_front(6));
  if (m.starts_with("store_2addr")) return pairAccess(write2, m.drop_front(11));
  for (auto [prefix, handler] :
       {std::pair<const char *, Handler>("read_", read), {"load_", read}, {"write_", write}, {"store_", write}}) {
    StringRef rest = m;
    if (!rest.consume_front(prefix)) continue;
    if (auto form = parseForm(rest)) return access(handler, *form);
    return {};
  }
  bool returns = false;
  size_t at = m.find("_rtn");
  std::string name = m.str();
  if (at != StringRef::npos) {
    returns = true;
    name = (m.take_front(at) + m.drop_front(at + 4)).str();
  } else if (StringRef(name).starts_with("wrxchg") || StringRef(name).starts_with("storexchg"))
    returns = true;
  if (StringRef(name).starts_with("storexchg")) name.replace(0, 9, "swap");
  auto form = parseAtomic(name);
  if (!form) return {};
  Semantic s = special("", atomic);
  s.parameters = {uint8_t(form->operation), form->bytes, returns, StringRef(name).starts_with("cmpst_")};
  return s;
}

} // namespace tessera::code_object
