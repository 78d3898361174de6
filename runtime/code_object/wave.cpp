// Operands of vector instructions: reading them with their modifiers, writing results (see wave.h).
// Sources: ISA guides, "VOP3 … input and output modifiers", "Sub-Dword Addressing (SDWA)", "Data Parallel Processing
// (DPP)", "Packed Math"; LLVM's GCNSubtarget::zeroesHigh16BitsOfDest for the high halves of results.
#include "runtime/code_object/wave.h"
#include "runtime/float_formats.h"
#include <algorithm>

namespace tessera::code_object {

const Row &Wave::execMaskRow() {
  uint64_t e = exec();
  if (e != execOfRow) {
    for (unsigned l = 0; l < kLanes; ++l) execRow.lane[l] = e >> l & 1 ? ~0u : 0;
    execOfRow = e;
  }
  return execRow;
}

uint32_t *Wave::rowOutside(unsigned index) {
  fail("uses vector register " + std::to_string(index) + " of " + std::to_string(vectors.size()) + " allocated ones");
  return outside.lane;
}

void Wave::returned(const Step &s, uint64_t address, uint64_t value) {
  constexpr uint64_t kLongestLoop = 256; // instructions
  bool isSame = poll.step == s.index && poll.address == address && poll.value == value && poll.changes == changes &&
                executed - poll.executed <= kLongestLoop;
  poll.executed = executed;
  if (!isSame) {
    poll.step = s.index;
    poll.address = address;
    poll.value = value;
    poll.changes = changes;
    poll.barriers = barriers;
    poll.isSaved = false;
    if (!trace) return;
    poll.events = trace->events.size();
    poll.addresses = trace->addresses.size();
    poll.ldsAddresses = trace->ldsAddresses.size();
    return;
  }
  bool isUnchanged = poll.isSaved && poll.scc == scc &&
                     std::equal(poll.scalars.begin(), poll.scalars.end(), std::begin(scalars)) &&
                     std::memcmp(poll.vectors.data(), vectors.data(), vectors.size() * sizeof(Row)) == 0;
  if (!isUnchanged) {
    poll.isSaved = true;
    poll.scc = scc;
    std::copy_n(std::begin(scalars), kSgprs, poll.scalars.begin());
    poll.vectors = vectors;
    return;
  }
  if (state == State::Ready) state = State::Polling;
  if (!trace || poll.barriers != barriers) return; // other waves' traces have these barriers, too
  trace->events.resize(poll.events);
  trace->addresses.resize(poll.addresses);
  trace->ldsAddresses.resize(poll.ldsAddresses);
}

uint64_t readScalar(const Wave &w, const Operand &o, unsigned bits) {
  switch (o.kind) {
  case Operand::Kind::Scalar: return bits == 64 && o.count > 1 ? w.pair(o.index) : w.scalars[o.index];
  case Operand::Kind::Literal: return bits == 64 ? o.literal : uint32_t(o.literal);
  case Operand::Kind::Scc: return w.scc;
  case Operand::Kind::Vector: return 0; // no scalar instruction has one
  case Operand::Kind::Off: return 0;
  }
  return 0;
}
void writeScalar(Wave &w, const Operand &o, uint64_t value, unsigned bits) {
  if (o.index == kNull || !o.isScalar()) return;
  w.scalars[o.index] = uint32_t(value);
  if (bits == 64) w.scalars[o.index + 1] = uint32_t(value >> 32);
  if (w.lanes == 32) w.scalars[kExecLo + 1] = 0;
}
uint64_t readMask(const Wave &w, const Operand &o) { return readScalar(w, o, w.lanes == 64 ? 64 : 32) & w.allLanes(); }
void writeMask(Wave &w, const Operand &o, uint64_t v) { writeScalar(w, o, v, w.lanes == 64 ? 64 : 32); }

const uint32_t *readRow(Wave &w, const Operand &o, unsigned at, Row &scratch) {
  if (o.kind == Operand::Kind::Vector) return w.row(o.index + at);
  uint32_t v;
  if (o.kind == Operand::Kind::Scalar)
    v = w.scalars[o.index + (at < o.count ? at : 0)];
  else if (o.kind == Operand::Kind::Literal)
    v = at ? uint32_t(o.literal >> 32) : uint32_t(o.literal);
  else
    v = o.kind == Operand::Kind::Scc && w.scc;
  for (uint32_t &x : scratch.lane) x = v;
  return scratch.lane;
}

void writeRow(Wave &w, const Operand &o, unsigned at, const uint32_t *values, uint64_t mask) {
  uint32_t *to = w.row(o.index + at);
  if (mask == ~uint64_t(0)) {
    std::memcpy(to, values, sizeof(Row));
  } else if (mask == w.exec()) {
    const uint32_t *m = w.execMaskRow().lane;
    for (unsigned l = 0; l < kLanes; ++l) to[l] = (to[l] & ~m[l]) | (values[l] & m[l]);
  } else {
    for (unsigned l = 0; l < kLanes; ++l)
      if (mask >> l & 1) to[l] = values[l];
  }
}

namespace {

bool isFloat(Type t) {
  return t == Type::F16 || t == Type::BF16 || t == Type::F32 || t == Type::F64 || t == Type::PackedF16 ||
         t == Type::PackedF32;
}

/// Row `from` taken from other lanes as DPP says.
void permute(const Modifiers &m, uint64_t exec, const uint32_t *from, uint32_t *to) {
  uint32_t out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    int s = m.dppSource[l];
    out[l] = s >= 0 && (m.fetchInactive || exec >> s & 1) ? from[s] : 0;
  }
  std::memcpy(to, out, sizeof out);
}

void selectPart(Select s, bool signExtend, const uint32_t *from, uint32_t *to) {
  if (s == Select::Dword) {
    std::memmove(to, from, sizeof(Row));
    return;
  }
  bool isWord = s >= Select::Word0;
  unsigned shift = isWord ? (s == Select::Word1 ? 16 : 0) : 8 * unsigned(s), bits = isWord ? 16 : 8;
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t v = from[l] >> shift << (32 - bits);
    to[l] = signExtend ? uint32_t(int32_t(v) >> (32 - bits)) : v >> (32 - bits);
  }
}

void changeSigns(uint32_t *x, uint32_t sign, bool absolute, bool negate) {
  uint32_t keep = absolute ? ~sign : ~0u, flip = negate ? sign : 0;
  for (unsigned l = 0; l < kLanes; ++l) x[l] = (x[l] & keep) ^ flip;
}

void flush(uint32_t *x) {
  for (unsigned l = 0; l < kLanes; ++l) x[l] = x[l] & 0x7f800000 ? x[l] : x[l] & 0x80000000;
}

/// Both halves, as op_sel and op_sel_hi choose them.
void readPacked16(const Modifiers &m, const Operand &o, unsigned source, Type type, const uint32_t *from,
                  uint32_t *to) {
  bool low = m.opSel >> source & 1, high = m.opSelHi >> source & 1;
  uint32_t flip = (m.negLo >> source & 1 ? 0x8000 : 0) | (m.negHi >> source & 1 ? 0x80000000 : 0);
  if (o.negate) flip ^= 0x80008000;
  if (type == Type::PackedB16) flip = 0;
  unsigned lowShift = low ? 16 : 0, highShift = high ? 16 : 0;
  for (unsigned l = 0; l < kLanes; ++l) to[l] = ((from[l] >> lowShift & 0xffff) | from[l] >> highShift << 16) ^ flip;
}

void readPacked32(Wave &w, const Modifiers &m, const Operand &o, unsigned source, Row64 &scratch) {
  Row a, b;
  bool low = m.opSel >> source & 1, high = m.opSelHi >> source & 1;
  const uint32_t *x = readRow(w, o, low, a), *y = readRow(w, o, high, b);
  uint32_t flipLow = m.negLo >> source & 1 ? 0x80000000 : 0, flipHigh = m.negHi >> source & 1 ? 0x80000000 : 0;
  auto *to = reinterpret_cast<uint32_t *>(scratch.lane); // the first parts of all lanes, then the second ones
  for (unsigned l = 0; l < kLanes; ++l) to[l] = x[l] ^ flipLow;
  for (unsigned l = 0; l < kLanes; ++l) to[kLanes + l] = y[l] ^ flipHigh;
  if (!w.mode.flush32) return;
  flush(to);
  flush(to + kLanes);
}

void read64(Wave &w, const Step &s, const Operand &o, unsigned source, Type type, Row64 &scratch) {
  Row a, b;
  const uint32_t *x = readRow(w, o, 0, a), *y = readRow(w, o, 1, b);
  if (o.kind == Operand::Kind::Scalar && o.count < 2) {
    std::memset(b.lane, 0, sizeof b);
    y = b.lane;
  }
  if (source == 0 && s.modifiers->isDpp) {
    permute(*s.modifiers, w.exec(), x, a.lane);
    permute(*s.modifiers, w.exec(), y, b.lane);
    x = a.lane;
    y = b.lane;
  }
  uint64_t sign = uint64_t(1) << 63, keep = o.absolute && type == Type::F64 ? ~sign : ~uint64_t(0),
           flip = o.negate && type == Type::F64 ? sign : 0;
  for (unsigned l = 0; l < kLanes; ++l) scratch.lane[l] = ((x[l] | uint64_t(y[l]) << 32) & keep) ^ flip;
}

} // namespace

const void *readSource(Wave &w, const Step &s, unsigned operand, unsigned source, Type type, Row64 &scratch) {
  const Operand &o = s[operand];
  const Modifiers &m = *s.modifiers;
  auto *to = reinterpret_cast<uint32_t *>(scratch.lane);
  if (type == Type::PackedF32) {
    readPacked32(w, m, o, source, scratch);
    return to;
  }
  if (typeBits(type) == 64) {
    read64(w, s, o, source, type, scratch);
    return to;
  }
  Row broadcast;
  const uint32_t *from = readRow(w, o, 0, broadcast);
  bool isTouched = false;
  if (source == 0 && m.isDpp) {
    permute(m, w.exec(), from, to);
    from = to;
    isTouched = true;
  }
  if (m.isSdwa) {
    selectPart(o.select, o.signExtend, from, to);
    from = to;
    isTouched = true;
  }
  if (type == Type::PackedB16 || type == Type::PackedF16) {
    readPacked16(m, o, source, type, from, to);
    return to;
  }
  if (typeBits(type) == 16) {
    unsigned shift = !m.isSdwa && (o.highHalf || m.opSel >> source & 1) ? 16 : 0;
    for (unsigned l = 0; l < kLanes; ++l) to[l] = from[l] >> shift & 0xffff;
    if (isFloat(type) && (o.negate || o.absolute)) changeSigns(to, 0x8000, o.absolute, o.negate);
    return to;
  }
  bool changesSign = isFloat(type) && (o.negate || o.absolute);
  bool flushes = type == Type::F32 && !s.semantic->isBitwise && w.mode.flush32;
  if (!isTouched && (changesSign || flushes || from == broadcast.lane))
    std::memcpy(to, from, sizeof(Row));
  else if (!isTouched)
    return from;
  if (changesSign) changeSigns(to, 0x80000000, o.absolute, o.negate);
  if (flushes) flush(to);
  return to;
}

namespace {

template <class F> void mapFloats(uint32_t *x, unsigned count, F f) {
  for (unsigned l = 0; l < count; ++l) x[l] = asBits(f(asFloat(x[l])));
}
float clampToOne(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; } // NaN gives 0: DX10_CLAMP is set

/// omod, then clamp (ISA guides, "Output modifiers").
void outputModifiers(const Modifiers &m, Type type, Row64 &values) {
  static constexpr double kScale[] = {1, 2, 4, 0.5};
  double scale = kScale[m.outputScale];
  auto *x = reinterpret_cast<uint32_t *>(values.lane);
  auto f32 = [&](float v) {
    v = m.outputScale ? float(v * scale) : v;
    return m.clamp ? clampToOne(v) : v;
  };
  if (type == Type::F32) mapFloats(x, kLanes, f32);
  if (type == Type::PackedF32) mapFloats(x, 2 * kLanes, f32);
  for (unsigned l = 0; l < kLanes; ++l) {
    if (type == Type::F16) x[l] = runtime::encodeHalf(f32(runtime::decodeHalf(uint16_t(x[l]))));
    if (type == Type::PackedF16)
      x[l] = runtime::encodeHalf(f32(runtime::decodeHalf(uint16_t(x[l])))) |
             uint32_t(runtime::encodeHalf(f32(runtime::decodeHalf(uint16_t(x[l] >> 16))))) << 16;
    if (type == Type::F64) {
      double v = std::bit_cast<double>(values.lane[l]) * scale;
      if (m.clamp) v = v > 0 ? std::min(v, 1.0) : 0.0;
      values.lane[l] = std::bit_cast<uint64_t>(v);
    }
  }
}

/// A result of 16 bits, or of SDWA, merged with what the register holds.
void mergeParts(const Step &s, const Operand &o, Type type, const uint32_t *old, uint32_t *x) {
  const Modifiers &m = *s.modifiers;
  if (m.isSdwa) {
    if (m.destination == Select::Dword) return;
    bool isWord = m.destination >= Select::Word0;
    unsigned shift = isWord ? (m.destination == Select::Word1 ? 16 : 0) : 8 * unsigned(m.destination);
    uint32_t part = isWord ? 0xffff : 0xff, sign = (part >> 1) + 1;
    for (unsigned l = 0; l < kLanes; ++l) {
      uint32_t v = x[l] & part;
      if (m.unused == Modifiers::Unused::Preserve)
        x[l] = (old[l] & ~(part << shift)) | v << shift;
      else if (m.unused == Modifiers::Unused::SignExtend)
        x[l] = ((v ^ sign) - sign) << shift;
      else
        x[l] = v << shift;
    }
    return;
  }
  if (typeBits(type) != 16) return;
  bool high = o.highHalf || m.opSel >> 3 & 1;
  if (!high && s.semantic->zeroesHighHalf) return;
  for (unsigned l = 0; l < kLanes; ++l)
    x[l] = high ? (old[l] & 0xffff) | x[l] << 16 : (old[l] & 0xffff0000) | (x[l] & 0xffff);
}

} // namespace

uint64_t writableLanes(Wave &w, const Step &s) {
  uint64_t mask = w.exec();
  const Modifiers &m = *s.modifiers;
  if (!m.isDpp) return mask;
  uint64_t exec = mask;
  mask &= m.dppLanes;
  if (!m.boundControl)
    for (unsigned l = 0; l < kLanes; ++l) {
      int from = m.dppSource[l];
      if (from < 0 || !(m.fetchInactive || exec >> from & 1)) mask &= ~(uint64_t(1) << l);
    }
  return mask;
}

void writeResult(Wave &w, const Step &s, const Operand &o, Type type, Row64 &values) {
  const Modifiers &m = *s.modifiers;
  auto *x = reinterpret_cast<uint32_t *>(values.lane);
  if ((m.clamp || m.outputScale) && isFloat(type)) outputModifiers(m, type, values);
  uint64_t mask = writableLanes(w, s);
  if (type == Type::PackedF32) {
    if (w.mode.flush32) {
      flush(x);
      flush(x + kLanes);
    }
    writeRow(w, o, 0, x, mask);
    writeRow(w, o, 1, x + kLanes, mask);
    return;
  }
  if (typeBits(type) == 64) {
    Row low, high;
    for (unsigned l = 0; l < kLanes; ++l) {
      low.lane[l] = uint32_t(values.lane[l]);
      high.lane[l] = uint32_t(values.lane[l] >> 32);
    }
    writeRow(w, o, 0, low.lane, mask);
    writeRow(w, o, 1, high.lane, mask);
    return;
  }
  if (type == Type::F32 && w.mode.flush32 && !s.semantic->isBitwise) flush(x);
  mergeParts(s, o, type, w.row(o.index), x);
  writeRow(w, o, 0, x, mask);
}

} // namespace tessera::code_object
