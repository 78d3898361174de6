// The order of accesses to tensor memory (see tensor_memory_order.h).
#include "runtime/emulator/tensor_memory_order.h"
#include "runtime/emulator/races.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {
using namespace llvm;

TensorOrder &tensorOrderOf(Warp &w) {
  if (!w.tensor) w.tensor = std::make_unique<TensorOrder>();
  return *w.tensor;
}
bool isGuardedOff(const Warp &w, Row guard, bool negated, unsigned lane) {
  return guard != kNoRow && bool(w.row<uint8_t>(guard)[lane] & 1) == negated;
}

namespace {

bool isAllocated(const TensorMemory *t, unsigned column) {
  return t && any_of(t->ranges, [&](auto &r) { return column >= r.first && column < r.first + r.second; });
}

/// Who did it: "warp 3 wrote", "a tcgen05.mma of warp 0 reads".
std::string deedOf(const Warp &w, const TensorMark &m, bool wrote) {
  if (m.byUnit)
    return formatv("a tcgen05.mma of warp {0}{1} {2}", m.warp, placeOf(w, m.site), wrote ? "writes" : "reads");
  return formatv("warp {0}{1} {2}", m.warp, placeOf(w, m.site), wrote ? "wrote" : "read");
}

/// Why the access of the warp (a dot's if `pipeline`) is not known to come after the mark, or null.
const char *notAfter(Warp &w, const TensorMark &m, bool wrote, uint64_t pipeline) {
  if (!m.stamp) return nullptr;
  const Block &b = *w.block;
  TensorOrder &o = tensorOrderOf(w);
  bool own = m.warp == w.index;
  if (m.byUnit) {
    if (own && pipeline && m.pipeline == pipeline) return nullptr;
    unsigned unit = b.matrixUnit(m.warp);
    if (unit < o.known.size() && m.stamp <= o.known[unit]) return nullptr;
    return w.knows(unit, m.stamp) ? "no tcgen05.fence::after_thread_sync follows the wait for its mbarrier"
                                  : "no wait for an mbarrier at which a tcgen05.commit arrives lies between";
  }
  auto waited = [&](const auto &of) { return (wrote ? of.storesWaited : of.loadsWaited) > m.stamp; };
  if (own) return waited(o) ? nullptr : wrote ? "no tcgen05.wait::st lies between" : "no tcgen05.wait::ld lies between";
  const Warp &other = b.warps[m.warp];
  if (!other.tensor || !waited(*other.tensor)) return "it has not waited for that";
  auto &fences = other.tensor->fences;
  auto f = find_if(fences, waited);
  if (f == fences.end()) return "it has executed no tcgen05.fence::before_thread_sync since";
  uint64_t known = 0;
  for (unsigned l = 0; l < w.lanes; ++l)
    if (m.warp * w.lanes + l < o.known.size()) known = std::max(known, o.known[m.warp * w.lanes + l]);
  if (f->stamp <= o.barrier || f->stamp <= known) return nullptr;
  return "no barrier and tcgen05.fence::after_thread_sync order the two";
}

} // namespace

bool TensorCellAccess::operator()(unsigned half, unsigned column, bool writes) {
  if (!w_.block->launch->checks.races) return true;
  TensorCell &c = t_.cells[half * kTensorColumns + column];
  if (!follows(c.write, true, half, column, writes)) return false;
  if (writes && (!follows(c.read, false, half, column, writes) || !follows(c.otherRead, false, half, column, writes)))
    return false;
  TensorMark mark{now_, i_.id, uint16_t(w_.index), pipeline_ != 0, pipeline_};
  if (writes) {
    c = TensorCell();
    c.write = mark;
    return true;
  }
  bool isOther = c.read.stamp && (c.read.warp != mark.warp || c.read.byUnit != mark.byUnit);
  if (isOther) c.otherRead = c.read;
  c.read = mark;
  return true;
}

bool TensorCellAccess::follows(const TensorMark &m, bool wrote, unsigned half, unsigned column, bool writes) {
  const char *why = notAfter(w_, m, wrote, pipeline_);
  if (!why) return true;
  fail(w_, &i_, -1,
       formatv("race: {0} {1} column {2} of lanes {3} to {4} of tensor memory, which {5}, and {6}", what_,
               writes ? "writes" : "reads", column, half * kTensorHalf, (half + 1) * kTensorHalf - 1,
               deedOf(w_, m, wrote), why));
  return false;
}

/// Whether columns are the block's; false after an error.
bool checkTensorColumns(Warp &w, const Instruction &i, const char *what, unsigned first, unsigned count) {
  for (unsigned c = first; c < first + count; ++c)
    if (!isAllocated(w.block->tensor.get(), c)) {
      fail(w, &i, -1, formatv("{0} accesses column {1} of tensor memory, which the block has not allocated", what, c));
      return false;
    }
  return true;
}
bool checkTensorDefined(Warp &w, const Instruction &i, const char *what, unsigned lane, unsigned column) {
  if (!w.block->launch->checks.undefined || w.block->tensor->defined[lane * kTensorColumns + column]) return true;
  fail(w, &i, -1,
       formatv("{0} reads column {1} of lane {2} of tensor memory, which the block never wrote", what, column, lane));
  return false;
}

const OperandRead *dotReading(const Warp &w, uint32_t chunk) {
  const Block &b = *w.block;
  if (chunk >= b.tensor->operands.size()) return nullptr;
  for (auto &read : b.tensor->operands[chunk])
    if (!w.knows(b.matrixUnit(read.warp), read.stamp)) return &read;
  return nullptr;
}

void shareDots(Block &b) {
  unsigned first = b.matrixUnit(0), end = b.matrixUnit(unsigned(b.warps.size()));
  std::vector<uint64_t> known(end);
  for (Warp &w : b.warps)
    for (unsigned unit = first; unit < std::min<size_t>(end, w.known.size()); ++unit)
      known[unit] = std::max(known[unit], w.known[unit]);
  for (Warp &w : b.warps) {
    w.known.resize(std::max<size_t>(w.known.size(), end));
    std::copy(known.begin() + first, known.end(), w.known.begin() + first);
  }
}

std::string tensorMemoryHeld(const Block &b) {
  if (!b.tensor || b.tensor->ranges.empty()) return {};
  return "the block ends without tcgen05.dealloc of its tensor memory";
}

} // namespace tessera::emulator
