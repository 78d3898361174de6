// Accesses to memory: where they go, whether they may, what they find or leave there, and what they cost. Which of
// them race is races.cpp's to say.
//
// What accesses cost. Global: the sectors of 32 bytes that a warp's request touches (CUDA C++ Programming Guide,
// "Device Memory Accesses"). Shared: passes over the banks; a warp's request of more than the banks hold in one pass
// is cut into groups of consecutive lanes, and each pass gives one word per bank, to any number of lanes (the same
// guide, "Shared Memory"; AMD's ISA guides, "Data Share Operations").
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/races.h"
#include "runtime/emulator/unused_reads.h"
#include "runtime/emulator/unwritten_reads.h"
#include "runtime/emulator/unwritten_trials.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {

namespace {

const char *verb(const Access &a) {
  return a.kind == Access::Kind::Load ? "reads" : a.kind == Access::Kind::Store ? "writes" : "updates";
}

// ---- cost ----

void countGlobal(SiteCounters &s, uint64_t lanes, const uint64_t *address, unsigned bytes) {
  llvm::SmallVector<uint64_t, 128> sectors;
  for (uint64_t m = lanes; m; m &= m - 1) {
    uint64_t p = address[std::countr_zero(m)];
    for (uint64_t x = p >> 5; x <= (p + bytes - 1) >> 5; ++x) sectors.push_back(x);
  }
  std::sort(sectors.begin(), sectors.end());
  s.transactions += uint64_t(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
  s.leastPossible += (uint64_t(std::popcount(lanes)) * bytes + 31) / 32;
}

void countShared(SiteCounters &s, const Warp &w, uint64_t lanes, const uint64_t *address, unsigned bytes) {
  unsigned banks = unsigned(w.program->target->sharedMemoryBanks),
           bankBytes = unsigned(w.program->target->sharedMemoryBankBytes);
  unsigned group = std::max(1u, std::min(w.lanes, banks * bankBytes / std::max(bytes, bankBytes)));
  for (unsigned first = 0; first < w.lanes; first += group) {
    llvm::SmallVector<uint64_t, 64> words;
    for (unsigned l = first; l < first + group; ++l)
      if (lanes >> l & 1)
        for (uint64_t x = address[l] / bankBytes; x <= (address[l] + bytes - 1) / bankBytes; ++x) words.push_back(x);
    if (words.empty()) continue;
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    unsigned perBank[256] = {}, most = 0;
    for (uint64_t x : words) most = std::max(most, ++perBank[x % banks]);
    s.transactions += most;
    s.leastPossible += (words.size() + banks - 1) / banks;
  }
}

// ---- atomics ----

double decode(FloatFormat f, uint64_t bits) {
  switch (f) {
  case FloatFormat::F16: return halfToFloat(uint16_t(bits));
  case FloatFormat::BF16: return bfloatToFloat(uint16_t(bits));
  case FloatFormat::F32: return std::bit_cast<float>(uint32_t(bits));
  default: return std::bit_cast<double>(bits);
  }
}
/// The sum in the format itself; narrow ones by way of f32, which rounds right.
uint64_t addFloats(FloatFormat f, uint64_t x, uint64_t y, bool subtract) {
  if (f == FloatFormat::F16x2 || f == FloatFormat::BF16x2) {
    FloatFormat one = f == FloatFormat::F16x2 ? FloatFormat::F16 : FloatFormat::BF16;
    return addFloats(one, x & 0xffff, y & 0xffff, subtract) |
           addFloats(one, x >> 16 & 0xffff, y >> 16 & 0xffff, subtract) << 16;
  }
  if (f == FloatFormat::F64) {
    double q = decode(f, y);
    return std::bit_cast<uint64_t>(decode(f, x) + (subtract ? -q : q));
  }
  float q = float(decode(f, y)), r = float(decode(f, x)) + (subtract ? -q : q);
  return f == FloatFormat::F16    ? floatToHalf(r)
         : f == FloatFormat::BF16 ? floatToBfloat(r)
                                  : std::bit_cast<uint32_t>(r);
}

uint64_t apply(const Access &a, unsigned bytes, uint64_t old, uint64_t v) {
  unsigned shift = 64 - 8 * bytes;
  int64_t so = int64_t(old << shift) >> shift, sv = int64_t(v << shift) >> shift;
  switch (a.atomic) {
  case AtomicKind::Add: return old + v;
  case AtomicKind::Sub: return old - v;
  case AtomicKind::And: return old & v;
  case AtomicKind::Nand: return ~(old & v);
  case AtomicKind::Or: return old | v;
  case AtomicKind::Xor: return old ^ v;
  case AtomicKind::Max: return so > sv ? old : v;
  case AtomicKind::Min: return so < sv ? old : v;
  case AtomicKind::UMax: return std::max(old, v);
  case AtomicKind::UMin: return std::min(old, v);
  case AtomicKind::Exchange: return v;
  case AtomicKind::FAdd: return addFloats(a.format, old, v, false);
  case AtomicKind::FSub: return addFloats(a.format, old, v, true);
  case AtomicKind::FMax: {
    double x = decode(a.format, old), y = decode(a.format, v);
    return std::isnan(y) || x > y ? old : v;
  }
  case AtomicKind::FMin: {
    double x = decode(a.format, old), y = decode(a.format, v);
    return std::isnan(y) || x < y ? old : v;
  }
  case AtomicKind::IncWrap: return old >= v ? 0 : old + 1;
  case AtomicKind::DecWrap: return old == 0 || old > v ? v : old - 1;
  case AtomicKind::Cas: return v; // decided by the caller
  }
  return v;
}

template <unsigned N>
void loadElement(const Warp &w, const AccessElement &p, unsigned at, uint64_t lanes, uint8_t *const *host) {
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    memcpy(w.frame + p.row + l * N, host[l] + at, N);
  }
}

/// Whether all these bytes of shared memory hold something; an error if not.
bool readable(Warp &w, const Instruction &i, unsigned lane, uint32_t offset, unsigned bytes) {
  Block &b = *w.block;
  for (unsigned k = 0; k < bytes; ++k) {
    uint8_t d = b.defined[offset + k];
    if (d == kArrived) continue;
    fail(w, &i, int(lane),
         d ? llvm::formatv("reads byte {0} of shared memory, into which an asynchronous copy is in flight: nobody has "
                           "waited for it",
                           offset + k)
           : llvm::formatv("reads byte {0} of shared memory, which the block never wrote", offset + k));
    return false;
  }
  return true;
}

} // namespace

uint64_t combine(AtomicKind kind, FloatFormat format, unsigned bytes, uint64_t old, uint64_t value) {
  Access a;
  a.atomic = kind;
  a.format = format;
  return apply(a, bytes, old, value);
}

void waitForCopies(Warp &w, uint64_t pending, bool everything) {
  Block &b = *w.block;
  Launch &launch = *b.launch;
  uint64_t now = ++launch.stamp;
  auto arrives = [&](const PendingCopy &c) { return everything || c.group + pending < w.copyGroup; };
  for (auto &c : w.copies) {
    if (!arrives(c)) continue;
    for (auto [k, v] : llvm::enumerate(c.bytes)) {
      if (b.shared[c.offset + k] != v) ++launch.changes;
      b.shared[c.offset + k] = v;
      b.defined[c.offset + k] = kArrived;
      if (launch.checks.races) b.cells[c.offset + k].write = {now, c.site, b.number, c.thread, false};
    }
  }
  llvm::erase_if(w.copies, arrives);
}

Region *regionOf(Launch &l, uint64_t address) {
  if (address >= kGlobalBase) {
    uint64_t k = (address - kGlobalBase) / kGlobalStride;
    return k < l.buffers.size() ? &l.buffers[k] : nullptr;
  }
  if (address >= kConstantBase) {
    uint64_t k = (address - kConstantBase) / kConstantStride;
    return k < l.constants.size() ? &l.constants[k] : nullptr;
  }
  return nullptr;
}

std::optional<uint64_t> firstUnwritten(const Launch &launch, const Region &r, uint64_t offset, unsigned bytes) {
  if (!r.undefined || !launch.checks.undefined) return std::nullopt;
  const uint8_t *first = r.undefined + offset;
  const uint8_t *found = std::find(first, first + bytes, 1);
  if (found == first + bytes) return std::nullopt;
  return offset + uint64_t(found - first);
}

std::string neverWritten(const Region &r, uint64_t offset) {
  return llvm::formatv("reads byte {0} of '{1}', which nothing ever wrote", offset, r.name);
}

bool isWritten(Warp &w, const Instruction &i, unsigned lane, const Region &r, uint64_t offset, unsigned bytes) {
  Launch &launch = *w.block->launch;
  std::optional<uint64_t> found = firstUnwritten(launch, r, offset, bytes);
  if (!found) return true;
  if (launch.trial) {
    launch.trial->read(w, i, lane, r, offset, bytes);
    return true;
  }
  launch.failedUnwritten |= launch.failure.ok();
  fail(w, &i, int(lane), neverWritten(r, *found));
  return false;
}

/// "at byte 4000 of 'x', which has 4000 bytes" for an address outside of everything.
static std::string outside(Launch &l, uint64_t address) {
  if (address < 65536) return llvm::formatv("at address {0}, which a null pointer leads to", address);
  const Region *near = nullptr;
  uint64_t best = ~uint64_t(0);
  for (auto *list : {&l.buffers, &l.constants})
    for (auto &r : *list) {
      uint64_t distance = address < r.base ? r.base - address : address - r.base;
      if (distance < best) {
        best = distance;
        near = &r;
      }
    }
  if (!near || best > kGlobalStride) return llvm::formatv("at address {0:x}, where there is nothing", address);
  return llvm::formatv("at byte {0} of '{1}', which has {2}", int64_t(address - near->base), near->name, near->bytes);
}

/// The space that a generic address is in; `p` becomes the address in that space.
static Space spaceOfGeneric(uint64_t &p) {
  if (p >= kGlobalBase) return Space::Global;
  if (p >= kConstantBase) return Space::Constant;
  if (p >= kPrivateWindow) {
    p -= kPrivateWindow;
    return Space::Private;
  }
  if (p >= kSharedWindow) {
    p -= kSharedWindow;
    return Space::Shared;
  }
  return Space::Global;
}

static std::string misaligned(Launch &launch, const Access &a, Space s, uint64_t p) {
  std::string place;
  if (s == Space::Shared)
    place = llvm::formatv("byte {0} of shared memory", int64_t(p) - kSharedBase);
  else if (Region *r = regionOf(launch, p))
    place = llvm::formatv("byte {0} of '{1}'", p - r->base, r->name);
  else
    place = llvm::formatv("address {0:x}", p);
  return llvm::formatv("misaligned access: it {0} {1} bytes at {2}, which is not a multiple of {3}", verb(a), a.bytes,
                       place, a.alignment);
}

/// Why the access is out of bounds, in words.
static std::string outOfBounds(Warp &w, const Access &a, Space s, uint64_t p) {
  Block &b = *w.block;
  if (s == Space::Shared)
    return llvm::formatv("out of bounds: it {0} {1} bytes at byte {2} of shared memory, which has {3}", verb(a),
                         a.bytes, int64_t(p) - kSharedBase, b.shared.size());
  if (s == Space::Private)
    return llvm::formatv("out of bounds: it {0} {1} bytes at byte {2} of the thread's own memory, which has {3}",
                         verb(a), a.bytes, p, w.program->privateBytes);
  Region *r = regionOf(*b.launch, p);
  if (r && r->readOnly && a.kind != Access::Kind::Load)
    return llvm::formatv("it {0} the constant '{1}'", verb(a), r->name);
  return llvm::formatv("out of bounds: it {0} {1} bytes {2}", verb(a), a.bytes, outside(*b.launch, p));
}

/// The host's address of a lane's access; null: it is not in the space's memory, or may not be written.
static inline uint8_t *hostAddress(Warp &w, const Access &a, Space s, uint64_t p, unsigned lane) {
  Block &b = *w.block;
  if (s == Space::Shared) {
    uint64_t offset = p - kSharedBase;
    return p < kSharedBase || offset + a.bytes > b.shared.size() ? nullptr : b.shared.data() + offset;
  }
  if (s == Space::Private) {
    if (p + a.bytes > w.program->privateBytes) return nullptr;
    return w.privateMemory.get() + size_t(lane) * w.program->privateBytes + p;
  }
  Region *r = regionOf(*b.launch, p);
  if (!r || p - r->base + a.bytes > r->bytes) return nullptr;
  if (r->readOnly && a.kind != Access::Kind::Load) return nullptr;
  return r->data + (p - r->base);
}

bool locate(Warp &w, const Instruction &i, const Access &a, uint64_t lanes, const uint64_t *address, uint8_t **host,
            Space *spaces) {
  Launch &launch = *w.block->launch;
  uint64_t alignMask = a.alignment - 1;
  bool generic = a.space == Space::Generic || a.space == Space::Constant || a.space == Space::Global;
  bool mayOverflow = launch.checks.wraps && !w.exact.empty() && a.address != kNoRow;
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    auto fault = [&](const std::string &what) {
      fail(w, &i, int(l), what);
      return false;
    };
    uint64_t p = address[l];
    Space s = generic ? spaceOfGeneric(p) : a.space;
    spaces[l] = s;
    if (mayOverflow)
      if (std::string why = whyWrong(w, a.address, a.addressBytes, l); !why.empty()) return fault(why);
    if (p & alignMask && launch.checks.alignment) return fault(misaligned(launch, a, s, p));
    host[l] = hostAddress(w, a, s, p, l);
    if (!host[l] && launch.checks.bounds) return fault(outOfBounds(w, a, s, p));
  }
  return true;
}

namespace {

/// One execution of an access: the lanes that take part, and where each of them goes.
struct LaneAccess {
  Warp &w;
  const Instruction &i;
  const Access &a;
  uint64_t active, now = 0;    // now: its stamp
  uint64_t address[kMaxLanes]; // of active lanes, as what follows
  uint8_t *host[kMaxLanes];
  Space space[kMaxLanes];

  LaneAccess(Warp &w, const Instruction &i) : w(w), i(i), a(*i.access), active(w.mask) {} // the arrays stay as they are

  uint32_t sharedOffset(unsigned l) const { return uint32_t(host[l] - w.block->shared.data()); }
  /// The lane does not access memory; what it loads is zero.
  void drop(unsigned l) {
    active &= ~(uint64_t(1) << l);
    if (a.kind == Access::Kind::Load)
      for (auto &p : a.elements) storeRow(w, p.row, p.rowBytes, l, 0);
  }
};

void findAddresses(LaneAccess &x) {
  Warp &w = x.w;
  const Access &a = x.a;
  if (a.predicate != kNoRow) {
    const uint8_t *c = w.row<uint8_t>(a.predicate);
    for (unsigned l = 0; l < w.lanes; ++l)
      if (bool(c[l] & 1) == a.predicateNegated) x.active &= ~(uint64_t(1) << l);
  }
  if (a.resource != kNoRow) {
    // Raw buffer: base + offset + scalar offset; beyond the number of records reads give 0 and writes do nothing. The
    // scalar offset counts on gfx9 alone ("Range checking" in the ISA guides).
    bool countsScalar = w.program->target->matrixUnit == ir::MatrixUnit::Mfma;
    for (uint64_t m = x.active; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      u128 resource = w.row<u128>(a.resource)[l];
      uint64_t offset = uint64_t(w.row<uint32_t>(a.address)[l]) + uint64_t(a.offset);
      uint32_t records = uint32_t(resource >> 64);
      uint64_t scalar = w.row<uint32_t>(a.scalarOffset)[l];
      x.address[l] = (uint64_t(resource) & 0xffffffffffffull) + offset + scalar;
      if (offset + (countsScalar ? scalar : 0) + a.bytes > records) x.drop(l);
    }
  } else if (a.addressBytes == 8) {
    const uint64_t *p = w.row<uint64_t>(a.address);
    for (unsigned l = 0; l < w.lanes; ++l) x.address[l] = p[l] + uint64_t(a.offset);
  } else {
    const uint32_t *p = w.row<uint32_t>(a.address);
    for (unsigned l = 0; l < w.lanes; ++l) x.address[l] = uint32_t(p[l] + uint32_t(a.offset));
  }
}

void count(SiteCounters &s, const LaneAccess &x) {
  const Access &a = x.a;
  bool shared = x.space[std::countr_zero(x.active ? x.active : 1)] == Space::Shared;
  if (!s.executed) {
    s.kind = a.kind == Access::Kind::Atomic ? SiteCounters::Kind::Atomic
             : shared                       ? SiteCounters::Kind::Shared
                                            : SiteCounters::Kind::Global;
    s.operation = std::string(a.kind == Access::Kind::Load    ? "load "
                              : a.kind == Access::Kind::Store ? "store "
                                                              : "atomic ") +
                  (shared ? "shared" : "global");
    s.bytesPerLane = a.bytes;
  }
  ++s.executed;
  s.lanes += uint64_t(std::popcount(x.active));
  if (shared)
    countShared(s, x.w, x.active, x.address, a.bytes);
  else
    countGlobal(s, x.active, x.address, a.bytes);
}

/// Definedness and order of what a lane reads. Whether it may.
bool mayRead(const LaneAccess &x, unsigned l) {
  Launch &launch = *x.w.block->launch;
  if (x.space[l] == Space::Shared) {
    uint32_t at = x.sharedOffset(l);
    if (launch.checks.undefined && !readable(x.w, x.i, l, at, x.a.bytes)) return false;
    if (launch.checks.races) checkSharedOrder(x.w, x.i, x.a, l, at, false, nullptr, x.now);
  } else if (x.space[l] == Space::Global) {
    Region *r = regionOf(launch, x.address[l]);
    if (!mayReadUnwritten(x.w, x.i, l, *r, x.address[l] - r->base, x.a.bytes, x.now)) return false;
    if (launch.checks.races)
      checkGlobalOrder(x.w, x.i, x.a, l, *r, x.address[l] - r->base, false, x.a.isVolatile, nullptr, x.now);
  }
  return !x.w.stop;
}

void load(const LaneAccess &x) {
  Warp &w = x.w;
  auto &checks = w.block->launch->checks;
  if (checks.undefined || checks.races)
    for (uint64_t m = x.active; m; m &= m - 1)
      if (!mayRead(x, unsigned(std::countr_zero(m)))) return;
  unsigned at = 0;
  for (auto &p : x.a.elements) {
    if (p.rowBytes != p.memoryBytes || p.rowBytes == 16) {
      for (uint64_t m = x.active; m; m &= m - 1) {
        unsigned l = unsigned(std::countr_zero(m));
        memset(w.frame + p.row + l * p.rowBytes, 0, p.rowBytes);
        memcpy(w.frame + p.row + l * p.rowBytes, x.host[l] + at, p.memoryBytes);
      }
    } else {
      switch (p.rowBytes) {
      case 1: loadElement<1>(w, p, at, x.active, x.host); break;
      case 2: loadElement<2>(w, p, at, x.active, x.host); break;
      case 4: loadElement<4>(w, p, at, x.active, x.host); break;
      default: loadElement<8>(w, p, at, x.active, x.host); break;
      }
    }
    at += p.memoryBytes;
  }
}

/// Whether a lane may write these bytes of shared memory: an asynchronous copy that is in flight there must bring the
/// same, since nothing says which of the two is last, of one thread's neither. An error if not.
bool noOtherCopy(Warp &w, const Instruction &i, unsigned lane, uint32_t offset, llvm::ArrayRef<uint8_t> bytes) {
  Block &b = *w.block;
  auto inFlight = [&](uint32_t k) { return b.defined[k] == kInFlight; };
  if (llvm::none_of(llvm::seq(offset, offset + uint32_t(bytes.size())), inFlight)) return true;
  for (const Warp &other : b.warps)
    for (const PendingCopy &c : other.copies)
      for (uint32_t k = 0; k < c.bytes.size(); ++k) {
        uint32_t at = c.offset + k;
        if (at < offset || at >= offset + bytes.size() || bytes[at - offset] == c.bytes[k]) continue;
        fail(w, &i, int(lane),
             llvm::formatv(
                 "race: it changes byte {0} of shared memory, into which an asynchronous copy of thread {1} is "
                 "in flight: nobody has waited for it",
                 at, c.thread));
        return false;
      }
  return true;
}

/// A copy to shared memory that arrives when it is waited for.
void startCopy(const LaneAccess &x, unsigned l, uint32_t to, const uint8_t *bytes) {
  Warp &w = x.w;
  PendingCopy c;
  c.group = w.copyGroup;
  c.offset = to;
  c.site = x.i.id;
  c.thread = uint16_t(w.index * w.lanes + l);
  c.bytes.assign(bytes, bytes + x.a.bytes);
  w.copies.push_back(std::move(c));
  memset(w.block->defined.data() + to, kInFlight, x.a.bytes);
}

/// Lane by lane: a later lane's value stands where two write the same place.
void store(const LaneAccess &x) {
  Warp &w = x.w;
  const Access &a = x.a;
  Block &block = *w.block;
  Launch &launch = *block.launch;
  uint8_t fresh[64], changed[64];
  for (uint64_t m = x.active; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint8_t *there = x.host[l];
    unsigned at = 0;
    for (auto &p : a.elements) {
      memcpy(fresh + at, w.frame + p.row + l * p.rowBytes, p.memoryBytes);
      at += p.memoryBytes;
    }
    if (x.space[l] == Space::Shared) {
      uint32_t to = x.sharedOffset(l);
      if (launch.checks.races) {
        for (unsigned k = 0; k < a.bytes; ++k)
          changed[k] = fresh[k] != there[k] || block.defined[to + k] != kArrived || a.asynchronous;
        checkSharedOrder(w, x.i, a, l, to, true, changed, x.now);
        if (!noOtherCopy(w, x.i, l, to, llvm::ArrayRef(fresh, a.bytes))) return;
      }
      if (a.asynchronous) {
        startCopy(x, l, to, fresh);
        continue;
      }
      memset(block.defined.data() + to, kArrived, a.bytes);
    } else if (x.space[l] == Space::Global) {
      Region *r = regionOf(launch, x.address[l]);
      uint64_t to = x.address[l] - r->base;
      if (!launch.unwritten.empty() && !mayWriteAfterReads(w, x.i, l, *r, to, a.bytes)) return;
      if (launch.checks.races) {
        // What nothing wrote changes whatever it held.
        for (unsigned k = 0; k < a.bytes; ++k)
          changed[k] = fresh[k] != there[k] || (r->undefined && r->undefined[to + k]);
        checkGlobalOrder(w, x.i, a, l, *r, to, true, a.isVolatile, changed, x.now);
      }
      markWritten(*r, to, a.bytes);
    }
    if (w.stop) return;
    if (!memcmp(fresh, there, a.bytes)) continue;
    memcpy(there, fresh, a.bytes);
    ++launch.changes;
  }
}

void update(const LaneAccess &x) {
  Warp &w = x.w;
  const Access &a = x.a;
  Launch &launch = *w.block->launch;
  for (uint64_t m = x.active; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (x.space[l] == Space::Shared) {
      if (launch.checks.undefined && !readable(w, x.i, l, x.sharedOffset(l), a.bytes)) return;
    } else if (x.space[l] == Space::Global) {
      Region *r = regionOf(launch, x.address[l]);
      uint64_t at = x.address[l] - r->base;
      bool reads = a.atomic != AtomicKind::Exchange || (x.i.source && !x.i.source->use_empty());
      if (reads && !isWritten(w, x.i, l, *r, at, a.bytes)) return;
      if (launch.checks.races) checkGlobalOrder(w, x.i, a, l, *r, at, true, true, nullptr, x.now);
      if (w.stop) return;
      markWritten(*r, at, a.bytes);
    }
    uint8_t *there = x.host[l];
    for (auto [k, p] : llvm::enumerate(a.elements)) {
      uint64_t old = 0, v = loadRow(w, p.row, p.rowBytes, l);
      memcpy(&old, there, p.memoryBytes);
      uint64_t next = apply(a, p.memoryBytes, old, v);
      if (a.atomic == AtomicKind::Cas) {
        bool equal = old == loadRow(w, a.compare, p.rowBytes, l);
        next = equal ? v : old;
        if (a.success != kNoRow) w.row<uint8_t>(a.success)[l] = equal;
      }
      if (memcmp(&next, there, p.memoryBytes)) ++launch.changes;
      memcpy(there, &next, p.memoryBytes);
      if (k < a.old.size() && a.old[k] != kNoRow) storeRow(w, a.old[k], p.rowBytes, l, old);
      there += p.memoryBytes;
    }
  }
}

/// The word that all active lanes access, or BlockOrder::kAllWords.
uint64_t wordOf(const LaneAccess &x) {
  constexpr uint64_t kWord = 4;
  uint64_t first = x.address[std::countr_zero(x.active)] / kWord;
  for (uint64_t m = x.active; m; m &= m - 1) {
    uint64_t at = x.address[std::countr_zero(m)];
    if (at / kWord != first || (at + x.a.bytes - 1) / kWord != first) return BlockOrder::kAllWords;
  }
  return first;
}

/// What the access orders between blocks, by itself or with a fence before or after it (LangRef, "fence").
void noteOrder(const LaneAccess &x) {
  Warp &w = x.w;
  const Access &a = x.a;
  Block &block = *w.block;
  if (a.isOfBlock || !x.active) return;
  bool isAtomic = a.kind == Access::Kind::Atomic || a.isVolatile;
  bool reads = a.kind != Access::Kind::Store, writes = a.kind != Access::Kind::Load;
  if (writes && !isAtomic && a.space != Space::Shared) w.releasedByFence = false;
  if (!isAtomic && !a.acquires && !a.releases) return;
  BlockOrder &order = block.launch->blockOrder;
  uint64_t word = wordOf(x);
  if (a.acquires) order.acquire(block.acquired, word, x.now);
  if (isAtomic && reads && !a.acquires) order.acquire(w.readBeforeFence, word, x.now);
  if (a.releases || (isAtomic && writes && w.releasedByFence))
    order.release(block.number, word, block.acquired.known, x.now);
}

} // namespace

void fenceBlocks(Warp &w, const Instruction &i) {
  FenceForm form = FenceForm::of(i);
  w.releasedByFence |= form.releases;
  if (!form.acquires) return;
  w.block->acquired.known.join(w.readBeforeFence.known);
  w.readBeforeFence.clear();
}

void runAccess(Warp &w, const Instruction &i) {
  const Access &a = *i.access;
  Launch &launch = *w.block->launch;
  LaneAccess x(w, i);
  findAddresses(x);
  if (!x.active || !locate(w, i, a, x.active, x.address, x.host, x.space)) return;
  if (!launch.checks.bounds)
    for (uint64_t m = x.active; m; m &= m - 1)
      if (unsigned l = unsigned(std::countr_zero(m)); !x.host[l]) x.drop(l);
  x.now = ++launch.stamp;
  if (a.kind != Access::Kind::Load && x.active && !noteEffect(w, i)) return;
  if (SiteCounters *s = siteOf(w, i)) count(*s, x);
  noteOrder(x);
  switch (a.kind) {
  case Access::Kind::Load: return load(x);
  case Access::Kind::Store: return store(x);
  case Access::Kind::Atomic: return update(x);
  }
}

} // namespace tessera::emulator
