// cp.async.bulk.tensor as the manual has it (PTX ISA, "Tensors", "Data Movement and Conversion Instructions:
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor").
//
// What a copy moves is described by a tensor map (tensor_map.h).
//
// A copy to shared memory takes what global memory holds when it is issued and keeps it aside; the bytes count as in
// flight, and reading them is reported, until a thread tests the copy's mbarrier: then it arrives, and its bytes count
// there. What it brings is written by a thread of its own (Block::copyUnit), whose writes are known to whoever finds
// the phase complete. A copy from shared memory is made when it is issued. Its buffer may not be changed before its
// thread has waited for its group. What it wrote is in flight, where nobody may read or change it, until that thread
// has waited for all of its group, not for the reads alone (.read). Both proxies' accesses are ordered by
// fence.proxy.async: ordinary writes must be fenced before a copy reads them, and before a copy overwrites them.
#include "runtime/emulator/tensor_copy.h"
#include "runtime/emulator/races.h"
#include "runtime/emulator/tensor_map.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {
using namespace llvm;

namespace {

uint64_t quietNan(FloatFormat f) {
  return f == FloatFormat::F16    ? 0x7e00
         : f == FloatFormat::BF16 ? 0x7fc0
         : f == FloatFormat::F32  ? 0x7fc00000
         : f == FloatFormat::F64  ? 0x7ff8000000000000
                                  : 0;
}

/// Where the chunk of 16 bytes at this byte of shared memory lies under the swizzle ("Swizzling Modes").
uint32_t swizzled(uint32_t byte, unsigned mode) {
  uint32_t address = byte + kSharedBase;
  return byte ^ (address >> 7 & ((1u << mode) - 1)) << 4;
}

/// Rows of the box: their place in it, and the elements [from, to) that lie in the tensor, at this address.
template <class F> bool forRows(const TensorMap &m, const int32_t *at, F f) {
  unsigned bytes = kElementTypes[m.elementType].bytes, index[kMaxDimensions] = {};
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

/// One lane's bulk copy: between a box of a tensor and bytes of shared memory.
class TensorCopy {
public:
  TensorCopy(Warp &w, const Instruction &i, unsigned lane, uint64_t now)
      : w_(w), i_(i), lane_(lane), op_(*reinterpret_cast<const TensorCopyOperation *>(i.immediate)), b_(*w.block),
        launch_(*w.block->launch), now_(now), in_(op_.kind == TensorCopyOperation::ToShared),
        reduce_(op_.kind == TensorCopyOperation::Reduce) {}

  /// False: a fault was reported.
  bool run() {
    if (!readOperands()) return false;
    count();
    return in_ ? copyIn() : copyOut();
  }

private:
  bool fault(const std::string &what) {
    fail(w_, &i_, int(lane_), what);
    return false;
  }

  bool readOperands() {
    mapAddress_ = w_.row<uint64_t>(op_.map)[lane_] + uint64_t(op_.mapOffset);
    if (!readMap(w_, i_, lane_, mapAddress_, now_, map_)) return false;
    if (op_.coordinates.size() != map_.rank + 1u)
      return fault(formatv("a copy of {0} dimensions by a tensor map of {1}", op_.coordinates.size(), map_.rank + 1));
    type_ = &kElementTypes[map_.elementType];
    for (auto [d, row] : enumerate(op_.coordinates)) at_[d] = int32_t(w_.row<uint32_t>(row)[lane_]);
    rowBytes_ = map_.box[0] * type_->bytes;
    bytes_ = rowBytes_;
    for (unsigned d = 1; d <= map_.rank; ++d) bytes_ *= map_.box[d];
    // "Shared memory addresses must be 128-byte aligned."
    constexpr unsigned kSharedAlignment = 128;
    if (!sharedByte(w_, i_, lane_, op_.shared, op_.sharedBytes, op_.sharedOffset, bytes_, kSharedAlignment,
                    "a bulk copy", shared_))
      return false;
    return !in_ ||
           sharedByte(w_, i_, lane_, op_.barrier, op_.barrierBytes, op_.barrierOffset, 8, 8, "an mbarrier", barrier_);
  }

  void count() {
    constexpr uint32_t kSector = 32; // bytes of a transaction of global memory
    SiteCounters *s = siteOf(w_, i_);
    if (!s) return;
    s->kind = SiteCounters::Kind::Global;
    if (!s->executed) {
      s->operation = in_ ? "bulk copy in" : reduce_ ? "bulk reduction" : "bulk copy out";
      s->bytesPerLane = bytes_;
    }
    ++s->executed;
    ++s->lanes;
    s->transactions += bytes_ / kSector;
    s->leastPossible += bytes_ / kSector;
  }

  bool copyIn() {
    if (!b_.mbarriers.contains(barrier_))
      return fault(formatv("there is no initialised mbarrier at byte {0} of shared memory", barrier_));
    PendingFill fill;
    fill.barrier = barrier_;
    fill.offset = shared_;
    fill.site = i_.id;
    fill.thread = uint16_t(w_.index * w_.lanes + lane_);
    fill.map = mapAddress_;
    for (uint32_t k = 0; k < bytes_; ++k)
      if (b_.defined[shared_ + k] == kInFlight)
        return fault(
            formatv("race: two asynchronous copies into byte {0} of shared memory are in flight", shared_ + k));
    if (launch_.checks.races)
      for (uint32_t k = 0; k < bytes_; ++k)
        if (const Mark &mark = b_.cells[shared_ + k].write; mark.stamp && !fencedSince(w_, mark))
          return fault(formatv("race: a bulk copy changes byte {0} of shared memory, which thread {1} wrote by an "
                               "ordinary store: no fence.proxy.async lies between, together with a barrier",
                               shared_ + k, mark.thread));
    if (!noteSharedAccess(w_, i_, lane_, shared_, bytes_, true, now_)) return false;
    if (!readRows(fill.bytes)) return false;
    memset(b_.defined.data() + shared_, kInFlight, bytes_);
    b_.fills.push_back(std::move(fill));
    ++launch_.changes;
    return true;
  }

  /// The box's bytes as they will lie in shared memory; elements outside the tensor are zero or NaN.
  bool readRows(std::vector<uint8_t> &out) {
    out.resize(bytes_);
    uint64_t outside = map_.fill ? quietNan(type_->format) : 0;
    std::vector<uint8_t> row(rowBytes_);
    return forRows(map_, at_, [&](uint32_t number, unsigned from, unsigned to, uint64_t address) {
      for (unsigned e = 0; e < map_.box[0]; ++e) memcpy(row.data() + e * type_->bytes, &outside, type_->bytes);
      if (to > from) {
        Region *region;
        uint32_t n = (to - from) * type_->bytes;
        uint8_t *host = globalBytes(w_, i_, lane_, address, n, "a bulk copy that reads a row", region);
        if (!host || !isWritten(w_, i_, lane_, *region, address - region->base, n) ||
            !noteGlobalAccess(w_, i_, lane_, *region, address - region->base, n, false, false, nullptr, now_))
          return false;
        memcpy(row.data() + from * type_->bytes, host, n);
      }
      for (uint32_t k = 0; k < rowBytes_; k += 16)
        memcpy(out.data() + (swizzled(shared_ + number * rowBytes_ + k, map_.swizzle) - shared_), row.data() + k, 16);
      return true;
    });
  }

  bool copyOut() {
    if (reduce_ && !reduces(op_.reduction, *type_))
      return fault(formatv("there is no bulk reduction '{0}' of {1}", op_.reduction, type_->name));
    for (uint32_t k = 0; k < bytes_; k += 16)
      if (!mayReadAsynchronously(w_, i_, shared_ + k, "the bulk copy")) return false;
    if (!noteSharedAccess(w_, i_, lane_, shared_, bytes_, false, now_)) return false;
    std::vector<uint8_t> row(rowBytes_);
    std::vector<uint8_t> changed(rowBytes_);
    bool ok = forRows(map_, at_, [&](uint32_t number, unsigned from, unsigned to, uint64_t address) {
      if (to <= from) return true;
      for (uint32_t k = 0; k < rowBytes_; k += 16)
        memcpy(row.data() + k, b_.shared.data() + swizzled(shared_ + number * rowBytes_ + k, map_.swizzle), 16);
      return writeRow(row.data() + from * type_->bytes, (to - from) * type_->bytes, address, changed.data());
    });
    if (!ok) return false;
    w_.drains.push_back({w_.drainGroup[lane_], shared_, bytes_, i_.id, lane_, mapAddress_});
    ++b_.drains;
    ++launch_.changes;
    return true;
  }

  /// Writes `n` bytes of a row to the tensor, or combines them with what is there. `changed`: a byte for each.
  bool writeRow(uint8_t *row, uint32_t n, uint64_t address, uint8_t *changed) {
    Region *region;
    uint8_t *host = globalBytes(w_, i_, lane_, address, n, "a bulk copy that writes a row", region);
    if (!host) return false;
    if (region->readOnly) return fault(formatv("it writes the constant '{0}'", region->name));
    uint64_t offset = address - region->base;
    if (reduce_ && !isWritten(w_, i_, lane_, *region, offset, n)) return false;
    if (reduce_)
      for (uint32_t k = 0; k < n; k += type_->bytes) {
        uint64_t old = 0;
        uint64_t v = 0;
        memcpy(&old, host + k, type_->bytes);
        memcpy(&v, row + k, type_->bytes);
        v = combine(reductionOf(op_.reduction, *type_), type_->format, type_->bytes, old, v);
        memcpy(row + k, &v, type_->bytes);
      }
    for (uint32_t k = 0; k < n; ++k)
      changed[k] = host[k] != row[k] || (region->undefined && region->undefined[offset + k]);
    const uint8_t *changes = reduce_ ? nullptr : changed;
    if (!noteGlobalAccess(w_, i_, lane_, *region, offset, n, true, reduce_, changes, now_)) return false;
    markWritten(*region, offset, n);
    memcpy(host, row, n);
    if (!launch_.checks.races) return true;
    PendingRow pending{w_.drainGroup[lane_], lane_, i_.id, n, region, offset};
    beginRow(b_, pending, now_);
    w_.rowsInFlight.push_back(pending);
    return true;
  }

  Warp &w_;
  const Instruction &i_;
  unsigned lane_;
  const TensorCopyOperation &op_;
  Block &b_;
  Launch &launch_;
  uint64_t now_;
  bool in_;     // to shared memory
  bool reduce_; // the tensor's elements are combined, not replaced
  uint64_t mapAddress_ = 0;
  TensorMap map_;
  const ElementType *type_ = nullptr;
  int32_t at_[kMaxDimensions] = {}; // the box's first element
  uint32_t rowBytes_ = 0;
  uint32_t bytes_ = 0; // of the box
  uint32_t shared_ = 0;
  uint32_t barrier_ = 0;
};

void copyTensor(Warp &w, const Instruction &i) {
  const auto &op = *reinterpret_cast<const TensorCopyOperation *>(i.immediate);
  uint64_t now = ++w.block->launch->stamp;
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) {
    unsigned l = unsigned(std::countr_zero(lanes));
    if (isOff(w, op.guard, op.guardNegated, l)) continue;
    if (!TensorCopy(w, i, l, now).run()) return;
  }
}

void commit(Warp &w, const Instruction &) {
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) ++w.drainGroup[unsigned(std::countr_zero(lanes))];
}

/// The immediate: how many groups of a lane may be pending.
void waitForDrains(Warp &w, const Instruction &i) {
  Block &b = *w.block;
  uint64_t now = ++b.launch->stamp;
  auto done = [&](const auto &d) { return w.mask >> d.lane & 1 && d.group + i.immediate < w.drainGroup[d.lane]; };
  for (auto &d : w.drains) {
    if (!done(d)) continue;
    --b.drains;
    noteMapRead(b, d.map, {now, d.site, b.number, uint16_t(w.index * w.lanes + d.lane), false});
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

void waitForRows(Warp &w, const Instruction &i) {
  waitForDrains(w, i);
  Block &b = *w.block;
  uint64_t now = ++b.launch->stamp;
  auto done = [&](const PendingRow &r) { return w.mask >> r.lane & 1 && r.group + i.immediate < w.drainGroup[r.lane]; };
  for (auto &r : w.rowsInFlight)
    if (done(r)) endRow(b, r, {now, r.site, b.number, uint16_t(w.index * w.lanes + r.lane), false});
  erase_if(w.rowsInFlight, done);
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
    noteMapRead(b, f.map, {now, f.site, b.number, uint16_t(b.copyUnit()), false});
    ++b.launch->changes;
  }
  erase_if(b.fills, mine);
}

std::string copyInFlight(const Block &b) {
  if (!b.fills.empty())
    return "a bulk copy to shared memory is in flight when the block ends: nobody has waited for its mbarrier";
  if (b.drains)
    return "a bulk copy from shared memory is in flight when the block ends: no cp.async.bulk.wait_group has waited "
           "for it";
  return {};
}

void emitTensorCopy(Decoder &d, TensorCopyOperation op) {
  auto kept = std::make_shared<TensorCopyOperation>(std::move(op));
  d.emitImmediate(copyTensor, reinterpret_cast<uint64_t>(kept.get()));
  d.program().owned.push_back(kept);
}
void emitTensorCopyCommit(Decoder &d) { d.emit(commit); }
void emitTensorCopyWait(Decoder &d, uint64_t pending, bool readsOnly) {
  d.emitImmediate(readsOnly ? waitForDrains : waitForRows, pending);
}

} // namespace tessera::emulator
