// Accesses to memory: where they go, whether they may, what they find or leave there, and what they cost.
//
// Order between threads. Every access takes a stamp, a number that counts up over the launch; so do barriers. An access is
// ordered after an earlier one of another thread if a barrier of the block lies between their stamps (for global memory:
// one that orders global memory), if both are of one warp and a warp barrier does, or, on AMD, if both are of one wave and
// of different instructions, since a wave's accesses are carried out in order; on NVIDIA only a
// write after a read, since the lanes of a warp that runs together have issued the read; between blocks, if the other block released
// after it and this block acquired after that. Two that are not ordered, and of which one changes what is there, are a
// race. A write of what is there already changes nothing: layouts that hold copies write them. In buffers the record is kept
// by pieces, the largest that all accesses nearby are made of; a piece is changed if one of its bytes is.
//
// What accesses cost. Global: the sectors of 32 bytes that a warp's request touches (CUDA C++ Programming Guide, "Device
// Memory Accesses"). Shared: passes over the banks; a warp's request of more than the banks hold in one pass is cut
// into groups of consecutive lanes, and each pass gives one word per bank, to any number of lanes (the same guide, "Shared
// Memory"; AMD's ISA guides, "Data Share Operations").
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/emulator/lane_functions.h"
#include <algorithm>

namespace tessera::emulator {

namespace {

const char *verb(const Access &a) { return a.kind == Access::Kind::Load ? "reads" : a.kind == Access::Kind::Store ? "writes" : "updates"; }

std::string threadName(const Warp &w, unsigned thread) {
  if (thread >= w.block->copyUnit()) return "a bulk copy";
  return llvm::formatv("thread {0} (warp {1}, lane {2})", thread, thread / w.lanes, thread % w.lanes);
}

// ---- order ----

/// `wasRead`: the earlier access was a read, this one is a write.
bool ordered(const Warp &w, const Mark &m, uint64_t barrier, unsigned thread, uint64_t now, bool wasRead = false) {
  if (!m.stamp || m.stamp <= barrier) return true;
  if (m.thread == thread && !m.several) return true;
  if (w.knows(m.thread, m.stamp)) return true;
  if (m.thread / w.lanes != w.index) return false;
  if (w.program->target->vendor == ir::Vendor::Amd) return m.stamp != now;
  return m.stamp <= w.lastSync || (wasRead && m.stamp != now);
}

void raceBetween(Warp &w, const Instruction &i, unsigned lane, const char *doing, const Mark &m, const char *did, const std::string &place, bool otherBlock) {
  std::string who = otherBlock ? [&] {
    auto &g = w.block->launch->grid;
    return llvm::formatv("thread {0} of block ({1}, {2}, {3})", m.thread, m.block % g[0], m.block / g[0] % g[1], m.block / g[0] / g[1]).str();
  }() : threadName(w, m.thread);
  std::string at = describe(w.program->instructions[m.site].source);
  fail(w, &i, int(lane), llvm::formatv("race: it {0} {1}, which {2} {3}{4}, and no {5} orders the two", doing, place, who, did, at.empty() ? "" : " (" + at + ")",
                                       otherBlock ? "release and acquire" : "barrier"));
}

void checkSharedOrder(Warp &w, const Instruction &i, const Access &a, unsigned lane, uint32_t offset, bool writes, const uint8_t *changed, uint64_t now) {
  Block &b = *w.block;
  unsigned thread = w.index * w.lanes + lane;
  auto drained = [&](unsigned byte) -> const PendingDrain * {
    for (Warp &other : b.warps)
      for (auto &d : other.drains)
        if (byte >= d.offset && byte < d.offset + d.bytes) return &d;
    return nullptr;
  };
  for (unsigned k = 0; k < a.bytes; ++k) {
    SharedCell &c = b.cells[offset + k];
    auto place = [&] { return llvm::formatv("byte {0} of shared memory", offset + k).str(); };
    if (!writes) {
      if (!ordered(w, c.write, b.lastBarrier, thread, now)) return raceBetween(w, i, lane, "reads", c.write, "wrote", place(), false);
      if (c.read.stamp > b.lastBarrier && c.read.thread / w.lanes != w.index) c.otherRead = c.read;
      bool several = c.read.stamp > b.lastBarrier && c.read.thread / w.lanes == w.index && c.read.stamp > w.lastSync && (c.read.several || c.read.thread != thread);
      c.read = {now, i.id, b.number, uint16_t(thread), several};
      continue;
    }
    if (changed && !changed[k]) continue;
    if (!b.mbarriers.empty() && b.mbarriers.contains((offset + k) & ~7u)) return fail(w, &i, int(lane), llvm::formatv("it writes {0}, where an mbarrier lives", place()));
    if (!b.inFlight.empty() && b.inFlight[(offset + k) / 16])
      return fail(w, &i, int(lane), llvm::formatv("race: it changes {0}, which {1} reads: that is under way, no wgmma.wait_group has waited for it", place(), multiplicationUnderWay(b, (offset + k) / 16)));
    if (auto *d = b.drains ? drained(offset + k) : nullptr) {
      std::string at = describe(w.program->instructions[d->site].source);
      return fail(w, &i, int(lane), llvm::formatv("race: it changes {0}, which a bulk copy{1} reads: that is under way, no cp.async.bulk.wait_group has waited for it", place(), at.empty() ? "" : " (" + at + ")"));
    }
    if (!ordered(w, c.write, b.lastBarrier, thread, now)) return raceBetween(w, i, lane, "changes", c.write, "wrote", place(), false);
    if (!ordered(w, c.read, b.lastBarrier, thread, now, true)) return raceBetween(w, i, lane, "changes", c.read, "read", place(), false);
    if (!ordered(w, c.otherRead, b.lastBarrier, thread, now, true)) return raceBetween(w, i, lane, "changes", c.otherRead, "read", place(), false);
    c.write = {now, i.id, b.number, uint16_t(thread), false};
  }
}

/// Whether what `other` did by `stamp` is known to this block: it released later, and this block acquired after that.
bool acquired(const Block &b, uint32_t other, uint64_t stamp) {
  auto found = b.launch->releases.find(other);
  if (found == b.launch->releases.end()) return false;
  auto &r = found->second;
  auto it = std::upper_bound(r.begin(), r.end(), stamp);
  return it != r.end() && *it < b.lastAcquire;
}

void checkGlobalOrder(Warp &w, const Instruction &i, const Access &a, unsigned lane, Region &r, uint64_t offset, bool writes, bool atomic, const uint8_t *changed, uint64_t now) {
  if (r.bytes > kMostShadowed) return;
  if (r.shadow.empty()) r.shadow.resize((r.bytes + kShadowPage - 1) / kShadowPage);
  Block &b = *w.block;
  unsigned thread = w.index * w.lanes + lane;
  unsigned piece = 1u << std::countr_zero(unsigned(offset) | a.bytes | kLargestPiece), step;
  for (unsigned k = 0; k < a.bytes; k += step) {
    ShadowPage &page = r.shadow[(offset + k) / kShadowPage];
    if (!page.cells || page.piece > piece) b.launch->shadow.divide(page, piece);
    step = page.piece;
    GlobalCell &c = page.cells[(offset + k) % kShadowPage / step];
    const uint8_t *firstChanged = changed ? std::find(changed + k, changed + k + step, 1) : nullptr;
    auto known = [&](const Mark &m, bool wasRead = false) {
      if (!m.stamp) return true;
      return m.block == b.number ? ordered(w, m, b.lastGlobalBarrier, thread, now, wasRead) : acquired(b, m.block, m.stamp);
    };
    auto place = [&] { return llvm::formatv("byte {0} of '{1}'", offset + (firstChanged && firstChanged != changed + k + step ? uint64_t(firstChanged - changed) : k), r.name).str(); };
    auto race = [&](const char *doing, const Mark &m, const char *did) { raceBetween(w, i, lane, doing, m, did, place(), m.block != b.number); };
    if (!writes || atomic) {
      if (!(atomic && c.atomic) && !known(c.write)) return race(writes ? "updates" : "reads", c.write, c.atomic ? "updated" : "wrote");
    }
    if (!writes) {
      if (c.read.stamp && (c.read.block != b.number || c.read.thread / w.lanes != w.index)) c.otherRead = c.read;
      bool several = c.read.stamp && c.read.block == b.number && c.read.thread / w.lanes == w.index && c.read.stamp > std::max(w.lastSync, b.lastGlobalBarrier) && (c.read.several || c.read.thread != thread);
      // An atomic read (volatile, acquire) races with no atomic.
      if (!atomic) c.read = {now, i.id, b.number, uint16_t(thread), several};
      continue;
    }
    if (changed && firstChanged == changed + k + step) {
      c.touched = true;
      continue;
    }
    if (!atomic && !known(c.write)) return race("changes", c.write, c.atomic ? "updated" : "wrote");
    if (!known(c.read, true)) return race(atomic ? "updates" : "changes", c.read, "read");
    if (!known(c.otherRead, true)) return race(atomic ? "updates" : "changes", c.otherRead, "read");
    c.write = {now, i.id, b.number, uint16_t(thread), false};
    c.atomic = atomic;
  }
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
  unsigned banks = unsigned(w.program->target->sharedMemoryBanks), bankBytes = unsigned(w.program->target->sharedMemoryBankBytes);
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
    return addFloats(one, x & 0xffff, y & 0xffff, subtract) | addFloats(one, x >> 16 & 0xffff, y >> 16 & 0xffff, subtract) << 16;
  }
  if (f == FloatFormat::F64) {
    double q = decode(f, y);
    return std::bit_cast<uint64_t>(decode(f, x) + (subtract ? -q : q));
  }
  float q = float(decode(f, y)), r = float(decode(f, x)) + (subtract ? -q : q);
  return f == FloatFormat::F16 ? floatToHalf(r) : f == FloatFormat::BF16 ? floatToBfloat(r) : std::bit_cast<uint32_t>(r);
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

template <unsigned N> void loadPiece(const Warp &w, const Piece &p, unsigned at, uint64_t lanes, uint8_t *const *host) {
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    memcpy(w.frame + p.row + l * N, host[l] + at, N);
  }
}
template <unsigned N> void storePiece(const Warp &w, const Piece &p, unsigned at, uint64_t lanes, uint8_t *const *host) {
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    memcpy(host[l] + at, w.frame + p.row + l * N, N);
  }
}

/// Whether all these bytes of shared memory hold something; an error if not.
bool readable(Warp &w, const Instruction &i, unsigned lane, uint32_t offset, unsigned bytes) {
  Block &b = *w.block;
  for (unsigned k = 0; k < bytes; ++k) {
    uint8_t d = b.defined[offset + k];
    if (d == kArrived) continue;
    fail(w, &i, int(lane), d ? llvm::formatv("reads byte {0} of shared memory, into which an asynchronous copy is under way: nobody has waited for it", offset + k)
                             : llvm::formatv("reads byte {0} of shared memory, which the block never wrote", offset + k));
    return false;
  }
  return true;
}

} // namespace

void ShadowMemory::divide(ShadowPage &page, unsigned piece) {
  constexpr size_t kFirstChunk = 4096, kLargestChunk = 65536; // cells
  size_t count = kShadowPage / piece;
  if (left_ < count) {
    size_ = chunks_.empty() ? kFirstChunk : std::min(size_ * 2, kLargestChunk);
    // A cell of zero bytes is one that nobody has accessed.
    chunks_.emplace_back(static_cast<GlobalCell *>(calloc(size_, sizeof(GlobalCell))));
    if (!chunks_.back()) llvm::report_bad_alloc_error("the emulator's record of accesses");
    left_ = size_;
  }
  GlobalCell *cells = chunks_.back().get() + (size_ - left_);
  left_ -= count;
  if (page.cells)
    for (size_t k = 0; k < count; ++k) cells[k] = page.cells[k * piece / page.piece];
  page = {cells, uint8_t(piece)};
}

bool noteSharedAccess(Warp &w, const Instruction &i, unsigned lane, uint32_t offset, unsigned bytes, bool writes, uint64_t now) {
  if (!w.block->launch->checks.races) return true;
  Access a;
  a.bytes = bytes;
  checkSharedOrder(w, i, a, lane, offset, writes, nullptr, now);
  return !w.stop;
}

bool noteGlobalAccess(Warp &w, const Instruction &i, unsigned lane, Region &r, uint64_t offset, unsigned bytes, bool writes, bool atomic, const uint8_t *changed, uint64_t now) {
  if (!w.block->launch->checks.races) return true;
  Access a;
  a.bytes = bytes;
  checkGlobalOrder(w, i, a, lane, r, offset, writes, atomic, changed, now);
  return !w.stop;
}

uint64_t combine(AtomicKind kind, FloatFormat format, unsigned bytes, uint64_t old, uint64_t value) {
  Access a;
  a.atomic = kind, a.format = format;
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

/// "at byte 4000 of 'x', which has 4000 bytes" for an address outside of everything.
static std::string outside(Launch &l, uint64_t address) {
  if (address < 65536) return llvm::formatv("at address {0}, which a null pointer leads to", address);
  const Region *near = nullptr;
  uint64_t best = ~uint64_t(0);
  for (auto *list : {&l.buffers, &l.constants})
    for (auto &r : *list) {
      uint64_t distance = address < r.base ? r.base - address : address - r.base;
      if (distance < best) best = distance, near = &r;
    }
  if (!near || best > kGlobalStride) return llvm::formatv("at address {0:x}, where there is nothing", address);
  return llvm::formatv("at byte {0} of '{1}', which has {2}", int64_t(address - near->base), near->name, near->bytes);
}

bool locate(Warp &w, const Instruction &i, const Access &a, uint64_t lanes, const uint64_t *address, uint8_t **host, Space *spaces) {
  Launch &launch = *w.block->launch;
  Block &b = *w.block;
  uint64_t alignMask = a.alignment - 1;
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t p = address[l];
    Space s = a.space;
    if (s == Space::Generic || s == Space::Constant || s == Space::Global) {
      s = p >= kGlobalBase ? Space::Global : p >= kConstantBase ? Space::Constant : p >= kPrivateWindow ? Space::Private : p >= kSharedWindow ? Space::Shared : Space::Global;
      if (s == Space::Private) p -= kPrivateWindow;
      if (s == Space::Shared) p -= kSharedWindow;
    }
    spaces[l] = s;
    if (launch.checks.wraps && !w.exact.empty() && a.address != kNoRow)
      if (std::string why = whyWrong(w, a.address, a.addressBytes, l); !why.empty()) return fail(w, &i, int(l), why), false;
    if (p & alignMask && launch.checks.alignment) {
      Region *r = regionOf(launch, p);
      std::string place = s == Space::Shared ? llvm::formatv("byte {0} of shared memory", int64_t(p) - kSharedBase).str() : r ? llvm::formatv("byte {0} of '{1}'", p - r->base, r->name).str() : llvm::formatv("address {0:x}", p).str();
      return fail(w, &i, int(l), llvm::formatv("misaligned access: it {0} {1} bytes at {2}, which is not a multiple of {3}", verb(a), a.bytes, place, a.alignment)), false;
    }
    switch (s) {
    case Space::Shared: {
      uint64_t offset = p - kSharedBase;
      if (p < kSharedBase || offset + a.bytes > b.shared.size()) {
        if (launch.checks.bounds)
          return fail(w, &i, int(l), llvm::formatv("out of bounds: it {0} {1} bytes at byte {2} of shared memory, which has {3}", verb(a), a.bytes, int64_t(p) - kSharedBase, b.shared.size())), false;
        host[l] = nullptr;
        break;
      }
      host[l] = b.shared.data() + offset;
      break;
    }
    case Space::Private:
      if (p + a.bytes > w.program->privateBytes) {
        if (launch.checks.bounds) return fail(w, &i, int(l), llvm::formatv("out of bounds: it {0} {1} bytes at byte {2} of the thread's own memory, which has {3}", verb(a), a.bytes, p, w.program->privateBytes)), false;
        host[l] = nullptr;
        break;
      }
      host[l] = w.privateMemory.get() + size_t(l) * w.program->privateBytes + p;
      break;
    default: {
      Region *r = regionOf(launch, p);
      if (!r || p - r->base + a.bytes > r->bytes || (r->readOnly && a.kind != Access::Kind::Load)) {
        if (launch.checks.bounds) {
          if (r && r->readOnly && a.kind != Access::Kind::Load) return fail(w, &i, int(l), llvm::formatv("it {0} the constant '{1}'", verb(a), r->name)), false;
          return fail(w, &i, int(l), llvm::formatv("out of bounds: it {0} {1} bytes {2}", verb(a), a.bytes, outside(launch, p))), false;
        }
        host[l] = nullptr;
        break;
      }
      host[l] = r->data + (p - r->base);
      break;
    }
    }
  }
  return true;
}

void runAccess(Warp &w, const Instruction &i) {
  const Access &a = *i.access;
  Launch &launch = *w.block->launch;
  Block &block = *w.block;
  uint64_t lanes = w.mask;
  if (a.predicate != kNoRow) {
    const uint8_t *c = w.row<uint8_t>(a.predicate);
    for (unsigned l = 0; l < w.lanes; ++l)
      if (bool(c[l] & 1) == a.predicateNegated) lanes &= ~(uint64_t(1) << l);
  }
  uint64_t address[kMaxLanes];
  uint8_t *host[kMaxLanes];
  Space spaces[kMaxLanes];
  if (a.resource != kNoRow) {
    // Raw buffer: base + offset + scalar offset; beyond the number of records reads give 0 and writes do nothing.
    for (uint64_t m = lanes; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      u128 resource = w.row<u128>(a.resource)[l];
      uint64_t offset = uint64_t(w.row<uint32_t>(a.address)[l]) + uint64_t(a.offset);
      uint32_t records = uint32_t(resource >> 64);
      address[l] = (uint64_t(resource) & 0xffffffffffffull) + offset + w.row<uint32_t>(a.scalarOffset)[l];
      if (offset + a.bytes > records) {
        lanes &= ~(uint64_t(1) << l);
        if (a.kind == Access::Kind::Load)
          for (auto &p : a.pieces) storeRow(w, p.row, p.rowBytes, l, 0);
      }
    }
  } else if (a.addressBytes == 8) {
    const uint64_t *p = w.row<uint64_t>(a.address);
    for (unsigned l = 0; l < w.lanes; ++l) address[l] = p[l] + uint64_t(a.offset);
  } else {
    const uint32_t *p = w.row<uint32_t>(a.address);
    for (unsigned l = 0; l < w.lanes; ++l) address[l] = uint32_t(p[l] + uint32_t(a.offset));
  }
  if (!lanes) return;
  if (!locate(w, i, a, lanes, address, host, spaces)) return;
  if (!launch.checks.bounds)
    for (uint64_t m = lanes; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      if (host[l]) continue;
      lanes &= ~(uint64_t(1) << l);
      if (a.kind == Access::Kind::Load)
        for (auto &p : a.pieces) storeRow(w, p.row, p.rowBytes, l, 0);
    }
  uint64_t now = ++launch.stamp;
  if (SiteCounters *s = siteOf(w, i)) {
    bool shared = spaces[std::countr_zero(lanes ? lanes : 1)] == Space::Shared;
    if (!s->executed) {
      s->kind = a.kind == Access::Kind::Atomic ? SiteCounters::Kind::Atomic : shared ? SiteCounters::Kind::Shared : SiteCounters::Kind::Global;
      s->operation = std::string(a.kind == Access::Kind::Load ? "load " : a.kind == Access::Kind::Store ? "store " : "atomic ") + (shared ? "shared" : "global");
      s->bytesPerLane = a.bytes;
    }
    ++s->executed;
    s->lanes += uint64_t(std::popcount(lanes));
    if (shared) countShared(*s, w, lanes, address, a.bytes);
    else countGlobal(*s, lanes, address, a.bytes);
  }
  if (a.acquires) block.lastAcquire = now;
  if (a.releases) launch.releases[block.number].push_back(now);
  bool races = launch.checks.races;
  auto sharedOffset = [&](unsigned l) { return uint32_t(host[l] - block.shared.data()); };

  if (a.kind == Access::Kind::Load) {
    bool atomic = a.isVolatile;
    if (launch.checks.undefined || races)
      for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned l = unsigned(std::countr_zero(m));
        if (spaces[l] == Space::Shared) {
          uint32_t at = sharedOffset(l);
          if (launch.checks.undefined && !readable(w, i, l, at, a.bytes)) return;
          if (races) checkSharedOrder(w, i, a, l, at, false, nullptr, now);
        } else if (races && spaces[l] == Space::Global) {
          Region *r = regionOf(launch, address[l]);
          checkGlobalOrder(w, i, a, l, *r, address[l] - r->base, false, atomic, nullptr, now);
        }
        if (w.stop) return;
      }
    unsigned at = 0;
    for (auto &p : a.pieces) {
      if (p.rowBytes != p.memoryBytes || p.rowBytes == 16) {
        for (uint64_t m = lanes; m; m &= m - 1) {
          unsigned l = unsigned(std::countr_zero(m));
          memset(w.frame + p.row + l * p.rowBytes, 0, p.rowBytes);
          memcpy(w.frame + p.row + l * p.rowBytes, host[l] + at, p.memoryBytes);
        }
      } else {
        switch (p.rowBytes) {
        case 1: loadPiece<1>(w, p, at, lanes, host); break;
        case 2: loadPiece<2>(w, p, at, lanes, host); break;
        case 4: loadPiece<4>(w, p, at, lanes, host); break;
        default: loadPiece<8>(w, p, at, lanes, host); break;
        }
      }
      at += p.memoryBytes;
    }
    return;
  }

  if (a.kind == Access::Kind::Store) {
    // Lane by lane: a later lane's value stands where two write the same place.
    uint8_t fresh[64], changed[64];
    for (uint64_t m = lanes; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      unsigned at = 0;
      for (auto &p : a.pieces) {
        memcpy(fresh + at, w.frame + p.row + l * p.rowBytes, p.memoryBytes);
        at += p.memoryBytes;
      }
      bool isShared = spaces[l] == Space::Shared;
      bool changes = memcmp(fresh, host[l], a.bytes) != 0;
      if (isShared) {
        uint32_t to = sharedOffset(l);
        if (races) {
          for (unsigned k = 0; k < a.bytes; ++k) changed[k] = fresh[k] != host[l][k] || block.defined[to + k] != kArrived || a.asynchronous;
          checkSharedOrder(w, i, a, l, to, true, changed, now);
        }
        if (a.asynchronous) {
          PendingCopy c;
          c.group = w.copyGroup, c.offset = to, c.site = i.id, c.thread = uint16_t(w.index * w.lanes + l);
          c.bytes.assign(fresh, fresh + a.bytes);
          w.copies.push_back(std::move(c));
          memset(block.defined.data() + to, kUnderWay, a.bytes);
          continue;
        }
        memset(block.defined.data() + to, kArrived, a.bytes);
      } else if (races && spaces[l] == Space::Global) {
        Region *r = regionOf(launch, address[l]);
        for (unsigned k = 0; k < a.bytes; ++k) changed[k] = fresh[k] != host[l][k];
        checkGlobalOrder(w, i, a, l, *r, address[l] - r->base, true, a.isVolatile, changed, now);
      }
      if (w.stop) return;
      if (changes) {
        memcpy(host[l], fresh, a.bytes);
        ++launch.changes;
      }
    }
    return;
  }

  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (spaces[l] == Space::Shared) {
      if (launch.checks.undefined && !readable(w, i, l, sharedOffset(l), a.bytes)) return;
    } else if (races && spaces[l] == Space::Global) {
      Region *r = regionOf(launch, address[l]);
      checkGlobalOrder(w, i, a, l, *r, address[l] - r->base, true, true, nullptr, now);
      if (w.stop) return;
    }
    unsigned at = 0;
    for (auto [k, p] : llvm::enumerate(a.pieces)) {
      uint64_t old = 0, v = loadRow(w, p.row, p.rowBytes, l);
      memcpy(&old, host[l] + at, p.memoryBytes);
      uint64_t next = apply(a, p.memoryBytes, old, v);
      if (a.atomic == AtomicKind::Cas) {
        bool equal = old == loadRow(w, a.compare, p.rowBytes, l);
        next = equal ? v : old;
        if (a.success != kNoRow) w.row<uint8_t>(a.success)[l] = equal;
      }
      if (memcmp(&next, host[l] + at, p.memoryBytes)) ++launch.changes;
      memcpy(host[l] + at, &next, p.memoryBytes);
      if (k < a.old.size() && a.old[k] != kNoRow) storeRow(w, a.old[k], p.rowBytes, l, old);
      at += p.memoryBytes;
    }
  }
}

} // namespace tessera::emulator
