// tcgen05 as the manual has it (PTX ISA, "TensorCore 5th Generation Family Instructions": "Tensor Memory", "Data
// Movement Shape", "Instruction Descriptor", "Memory Consistency Model", "Tensor Memory Allocation and Management
// Instructions").
//
// Tensor memory has 128 lanes of 512 columns of 32 bits; a warp accesses the 32 lanes of its number modulo 4. A block
// gets columns from the end of it, so that code which takes the first column for granted fails.
//
// A dot is computed when it is issued; order is checked by what is known to have happened before:
//  - Loads and stores of a warp are done at its next tcgen05.wait.
//  - Those of another warp, if it waited for them and executed fence::before_thread_sync, the two synchronised after
//    that (a barrier, an mbarrier), and this warp executed fence::after_thread_sync after that.
//  - Dots, if this warp has seen an mbarrier's phase complete at which a commit of the warp that issued them arrived,
//    and executed fence::after_thread_sync since. A dot follows an earlier one of the same warp without that, if both
//    have the same accumulator, shape and kind: the unit pipelines them.
// The same holds of shared memory that dots read (dotReading), without the fences, which are for tensor memory alone.
// What dots read there must have come through fence.proxy.async, as for wgmma.
#include "runtime/emulator/tensor_memory.h"
#include "runtime/emulator/tensor_memory_order.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {
using namespace llvm;

namespace {

constexpr unsigned kWarpsOfLanes = kTensorLanes / kTensorLanesOfWarp;
constexpr unsigned kLeastColumns = 32;

bool uniform(Warp &w, const Instruction &i, Row r, uint32_t &value, const char *what) {
  value = w.row<uint32_t>(r)[0];
  for (unsigned l = 1; l < w.lanes; ++l)
    if (w.row<uint32_t>(r)[l] != value)
      return fail(w, &i, int(l), formatv("{0} is not the same in all threads of the warp", what)), false;
  return true;
}

// ---- allocation ----

bool isCount(Warp &w, const Instruction &i, uint64_t columns) {
  if (columns >= kLeastColumns && columns <= kTensorColumns && isPowerOf2_64(columns)) return true;
  fail(w, &i, -1,
       formatv("{0} columns of tensor memory; there are powers of two from {1} to {2}", columns, kLeastColumns,
               kTensorColumns));
  return false;
}

/// Whether a whole warp names a number of columns, and one address.
bool isByWarp(Warp &w, const Instruction &i, const char *name, uint32_t &address) {
  return requireConverged(w, i, name) && isCount(w, i, i.immediate) &&
         uniform(w, i, i.a, address, (llvm::StringRef("the address of ") + name).str().c_str());
}

void alloc(Warp &w, const Instruction &i) {
  uint32_t word;
  if (!isByWarp(w, i, "tcgen05.alloc", word)) return;
  Block &b = *w.block;
  auto columns = unsigned(i.immediate);
  if (!b.tensor) {
    b.tensor = std::make_unique<TensorMemory>();
    b.tensor->words.assign(kTensorLanes * kTensorColumns, 0xa5a5a5a5);
    b.tensor->defined.resize(kTensorLanes * kTensorColumns);
    b.tensor->cells.resize(kTensorHalves * kTensorColumns);
    b.tensor->operands.resize(b.shared.size() / 16 + 1);
  }
  TensorMemory &t = *b.tensor;
  if (t.relinquished) return fail(w, &i, -1, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  unsigned end = kTensorColumns;
  for (auto &r : t.ranges) end = std::min(end, r.first);
  if (end < columns)
    return fail(w, &i, -1,
                formatv("tcgen05.alloc waits for ever: it wants {0} columns of tensor memory, of which {1} are left",
                        columns, end));
  uint32_t at = word - kSharedBase;
  if (word < kSharedBase || at % 4 || at + 4 > b.shared.size())
    return fail(w, &i, -1,
                formatv("out of bounds: tcgen05.alloc writes byte {0} of shared memory, which has {1}",
                        int64_t(word) - kSharedBase, b.shared.size()));
  if (!noteSharedAccess(w, i, 0, at, 4, true, ++b.launch->stamp)) return;
  unsigned first = end - columns;
  t.ranges.push_back({first, columns});
  t.defined.reset();
  memcpy(b.shared.data() + at, &first, sizeof(first));
  std::fill_n(b.defined.begin() + at, 4, kArrived);
  ++b.launch->changes;
}

void dealloc(Warp &w, const Instruction &i) {
  uint32_t address;
  if (!isByWarp(w, i, "tcgen05.dealloc", address)) return;
  Block &b = *w.block;
  auto columns = unsigned(i.immediate);
  auto *t = b.tensor.get();
  std::pair<unsigned, unsigned> range(address, columns);
  if (!t || !is_contained(t->ranges, range))
    return fail(w, &i, -1,
                formatv("tcgen05.dealloc of {0} columns at {1:x}, which nobody has allocated", columns, address));
  TensorCellAccess access(w, i, "tcgen05.dealloc", 0);
  for (unsigned half = 0; half < kTensorHalves; ++half)
    for (unsigned c = address; c < address + columns; ++c)
      if (!access(half, c, true)) return;
  t->ranges.erase(find(t->ranges, range));
  ++b.launch->changes;
}

void relinquish(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "tcgen05.relinquish_alloc_permit")) return;
  if (!w.block->tensor) return fail(w, &i, -1, "tcgen05.relinquish_alloc_permit before any tcgen05.alloc");
  w.block->tensor->relinquished = true;
}

// ---- loads and stores ----

void access(Warp &w, const Instruction &i) {
  const auto &form = *reinterpret_cast<const TensorMemoryAccessForm *>(i.immediate);
  const char *what = form.isLoad ? "tcgen05.ld" : "tcgen05.st";
  uint32_t bits;
  if (!requireConverged(w, i, what) || !uniform(w, i, form.address, bits, "the address of an access to tensor memory"))
    return;
  bool off = isGuardedOff(w, form.guard, form.guardNegated, 0);
  for (unsigned l = 1; l < w.lanes; ++l)
    if (isGuardedOff(w, form.guard, form.guardNegated, l) != off)
      return fail(w, &i, int(l), formatv("{0} is executed by some threads of the warp only", what));
  if (off) return;
  TensorAddress at(bits);
  unsigned first = w.index % kWarpsOfLanes * kTensorLanesOfWarp;
  bool isLane = at.lane == first || (form.halves && at.lane == first + kTensorHalf);
  if (!isLane)
    return fail(w, &i, -1,
                formatv("{0} accesses lanes from {1} on; warp {2} has lanes {3} to {4} of tensor memory", what, at.lane,
                        w.index, first, first + kTensorLanesOfWarp - 1));
  auto count = unsigned(form.words.size());
  if (!checkTensorColumns(w, i, what, at.column, count)) return;
  if (form.halves && !checkTensorColumns(w, i, what, at.column + form.offset, count)) return;
  TensorMemory &t = *w.block->tensor;
  TensorCellAccess cell(w, i, what, 0);
  unsigned half = at.lane / kTensorHalf;
  for (unsigned c = 0; c < count; ++c) {
    if (!cell(half, at.column + c, !form.isLoad)) return;
    if (!cell(form.halves ? half : half + 1, at.column + c + (form.halves ? form.offset : 0), !form.isLoad)) return;
  }
  for (unsigned c = 0; c < count; ++c)
    for (unsigned l = 0; l < w.lanes; ++l) {
      bool second = form.halves && l >= kTensorHalf;
      unsigned lane = at.lane + (second ? l - kTensorHalf : l), column = at.column + c + (second ? form.offset : 0);
      uint32_t &word = t.words[lane * kTensorColumns + column];
      if (form.isLoad) {
        if (!checkTensorDefined(w, i, what, lane, column)) return;
        w.row<uint32_t>(form.words[c])[l] = word;
      } else {
        word = w.row<uint32_t>(form.words[c])[l];
        t.defined.set(lane * kTensorColumns + column);
      }
    }
  if (!form.isLoad) ++w.block->launch->changes;
}

void wait(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "tcgen05.wait")) return;
  (i.immediate ? tensorOrderOf(w).loadsWaited : tensorOrderOf(w).storesWaited) = ++w.block->launch->stamp;
}

void fence(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "tcgen05.fence")) return;
  TensorOrder &o = tensorOrderOf(w);
  uint64_t barrier = w.block->lastBarrier;
  if (!i.immediate) {
    o.barrier = barrier;
    o.known = w.known;
    return;
  }
  // Of those before a barrier of the block, which everybody knows, the last will do.
  auto last = std::find_if(o.fences.rbegin(), o.fences.rend(), [&](auto &f) { return f.stamp <= barrier; });
  if (last != o.fences.rend()) o.fences.erase(o.fences.begin(), last.base() - 1);
  o.fences.push_back({++w.block->launch->stamp, o.loadsWaited, o.storesWaited});
}

} // namespace

void emitTensorMemoryAlloc(Decoder &d, Row word, uint64_t columns) {
  d.emit(alloc, kNoRow, word, kNoRow, kNoRow, columns);
}
void emitTensorMemoryFree(Decoder &d, Row address, uint64_t columns) {
  d.emit(dealloc, kNoRow, address, kNoRow, kNoRow, columns);
}
void emitTensorMemoryRelinquish(Decoder &d) { d.emit(relinquish); }
void emitTensorMemoryAccess(Decoder &d, TensorMemoryAccessForm form) { emitKept(d, access, std::move(form)); }
void emitTensorMemoryWait(Decoder &d, bool loads) { d.emitImmediate(wait, loads); }
void emitTensorMemoryFence(Decoder &d, bool before) { d.emitImmediate(fence, before); }

} // namespace tessera::emulator
