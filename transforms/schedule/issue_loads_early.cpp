// Pass issue-loads-early: loads are issued one after another before the arithmetic on their values, so that their
// latencies overlap.
// Runs: NVIDIA and AMD pipelines, last.
//
//   %a = tt.load %p                          %a = tt.load %p
//   %x = arith.mulf %a, %s                   %q = tt.addptr %w, %i
//   %q = tt.addptr %w, %i              →     %b = tt.load %q
//   %b = tt.load %q                          %x = arith.mulf %a, %s
//   %y = arith.addf %x, %b                   %y = arith.addf %x, %b
//
// A load moves up to the load before it in its block, with the operations that compute its address, mask and other
// value, if nothing in between writes global memory or synchronises, and if the loads of a group fit: into a fixed
// number of registers (loadGroupBytes of ir/tuning.def), or into the usable part of a thread's registers beside the
// other values. The order of loads does not change.
//
// On AMD, masked loads that become branches (branchlessLoadBytes) move past reductions and scans, too: LLVM moves no
// load out of its branch, so that a norm's weights would be waited for after the reductions.
//
// Where loads come back in the order of their issue and copies to shared memory count among them (AMD's copies to LDS),
// the first load behind such copies moves up to before them: what waits for it would wait for them, too, which are for
// a later iteration.
//
// Assemblers do this too, within their own view of register pressure, but not across barriers, such as the one between
// two operands of a dot that go to shared memory: a dot of 128 x 128 x 128 of f16 in one block took a quarter longer.
//
// Narrow elements that are loaded one by one take a register each, and part of another for the address, which
// neighbours share. Without neighbours, their value is stored to its buffer at once, rather than after the loads for
// another buffer.
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "layouts/blocked.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr int64_t kRegisterBytes = 4;
constexpr int64_t kRegisterBits = 8 * kRegisterBytes;
constexpr int64_t kBitsPerSingleElement = 64; // a register for the element, and most of another for its address
constexpr int64_t kMinElementBits = 8;

/// Whether a thread has several elements of less than a register, each of which is loaded by itself: no two are
/// neighbours along the fastest dimension.
bool isLoadedSingly(Value v) {
  auto type = v.type().dyn_cast<TensorType>();
  auto *blocked = type ? layouts::dynCast<layouts::BlockedEncoding>(type.encoding()) : nullptr;
  if (!blocked || type.scalar().bitWidth() >= 32) return false;
  bool hasNeighbours = blocked->sizePerThread()[blocked->order()[0]] != 1;
  return !hasNeighbours && elementsPerThread(type).value_or(1) > 1;
}

/// Facts about addresses, if any load needs them.
class Addresses {
public:
  explicit Addresses(Module &m) : module_(m) {}

  /// Elements that a thread loads by accesses of their own, although they are neighbours in its registers; 1: none.
  int64_t neighboursLoadedSingly(tt::LoadOp load) {
    auto type = load.result().type().dyn_cast<TensorType>();
    auto *blocked = type ? layouts::dynCast<layouts::BlockedEncoding>(type.encoding()) : nullptr;
    if (!blocked || type.scalar().bitWidth() >= kRegisterBits) return 1;
    unsigned fastest = blocked->order()[0];
    int64_t neighbours = blocked->sizePerThread()[fastest];
    if (neighbours == 1) return 1;
    if (!facts_) facts_.emplace(module_);
    int64_t together = std::min(neighbours, facts_->contiguousElements(load.ptr(), fastest));
    bool hasMaskPerElement = load.mask() && load.mask().type().isTensor();
    if (hasMaskPerElement) together = std::min(together, facts_->maskConstancy(load.mask(), fastest));
    return together == 1 ? neighbours : 1;
  }

private:
  Module &module_;
  std::optional<AxisInfoAnalysis> facts_;
};

/// Bytes of registers that a loaded value takes; nothing if its layout is not known.
std::optional<int64_t> registerBytes(tt::LoadOp load, Addresses &addresses) {
  Value v = load.result();
  auto elements = elementsPerThread(v.type());
  if (!elements) return std::nullopt;
  int64_t neighbours = addresses.neighboursLoadedSingly(load);
  int64_t least = isLoadedSingly(v) ? kBitsPerSingleElement
                  : neighbours > 1  ? kRegisterBits + kRegisterBits / neighbours
                                    : kMinElementBits;
  return registerBits(v.type().scalar(), *elements, least) / 8;
}

/// Moves ttg.local_alloc of singly loaded values after their loads.
bool storeSingleElements(Block &block) {
  llvm::SmallVector<ttg::LocalAllocOp, 4> buffers;
  for (auto &op : block)
    if (auto alloc = op.dyn<ttg::LocalAllocOp>(); alloc && alloc.src()) buffers.push_back(alloc);
  bool changed = false;
  for (auto alloc : buffers) {
    auto load = alloc.src().definedBy<tt::LoadOp>();
    if (!load || load->block() != &block || load->next() == alloc.op) continue;
    if (!load.result().hasOneUse() || !isLoadedSingly(load.result())) continue;
    alloc->moveAfter(load.op);
    changed = true;
  }
  return changed;
}

class LoadGroups {
public:
  LoadGroups(Block &b, const RegisterPressure &pressure, Addresses &addresses, int64_t usableRegisters,
             int64_t groupBytes, int64_t bytesPastReductions, bool isBeforeCopies)
      : block_(b), pressure_(pressure), addresses_(addresses), usableRegisters_(usableRegisters),
        groupBytes_(groupBytes), bytesPastReductions_(bytesPastReductions), isBeforeCopies_(isBeforeCopies) {}

  bool run() {
    llvm::SmallVector<Operation *, 64> ops;
    for (auto &op : block_) ops.push_back(&op);
    bool changed = false;
    for (auto *op : ops) {
      bool isPlainLoad = op->is<tt::LoadOp>() && !(effectsOf(op) & ~kReadsGlobal);
      if (!isPlainLoad) {
        bool isReduction = op->is<tt::ReduceOp>() || op->is<tt::ScanOp>();
        auto effects = effectsOf(op);
        bool endsGroup = (effects & kWritesGlobal) || (!isReduction && (op->numRegions() || (effects & kSynchronizes)));
        isPastReduction_ |= isReduction;
        if (endsGroup) last_ = nullptr;
        if (isBeforeCopies_ && !last_ && op->is<ttg::AsyncCopyGlobalToLocalOp>()) {
          last_ = op->prev();
          bytes_ = 0;
          isPastReduction_ = false;
        }
        continue;
      }
      int64_t bytes = registerBytes(op->cast<tt::LoadOp>(), addresses_).value_or(groupBytes_ + 1);
      llvm::SmallVector<Operation *, 8> needed;
      bool mayPass = !isPastReduction_ || (op->cast<tt::LoadOp>().mask() && bytes < bytesPastReductions_);
      if (last_ && mayPass && fits(op, bytes) && collect(op, needed)) {
        changed |= moveAfterLast(needed);
        bytes_ += bytes;
      } else {
        bytes_ = bytes;
        isPastReduction_ = false;
      }
      last_ = op;
    }
    return changed;
  }

private:
  /// Whether the group may have the load, too.
  bool fits(Operation *load, int64_t bytes) const {
    if (bytes_ + bytes <= groupBytes_) return true;
    int64_t registers = std::max(pressure_.highest(last_, load), bytes_ / kRegisterBytes);
    return registers + bytes / kRegisterBytes <= usableRegisters_;
  }

  /// The operations after the last load that `op` needs, and itself; false if one must stay where it is.
  bool collect(Operation *op, llvm::SmallVectorImpl<Operation *> &needed) {
    if (llvm::is_contained(needed, op)) return true;
    needed.push_back(op);
    for (auto v : op->operands()) {
      auto *def = v.definingOp();
      if (!def || def->block() != &block_ || def->isBeforeInBlock(last_)) continue;
      bool isThere = def == last_ && !def->is<tt::LoadOp>();
      if (isThere) continue;
      bool mayMove = def != last_ && !def->numRegions() && isPure(def);
      if (!mayMove || !collect(def, needed)) return false;
    }
    return true;
  }

  bool moveAfterLast(llvm::SmallVectorImpl<Operation *> &needed) {
    llvm::sort(needed, [](auto *a, auto *b) { return a->isBeforeInBlock(b); });
    bool changed = false;
    Operation *at = last_;
    for (auto *n : needed) {
      changed |= at->next() != n;
      n->moveAfter(at);
      at = n;
    }
    return changed;
  }

  Block &block_;
  const RegisterPressure &pressure_; // before anything moved
  Addresses &addresses_;
  int64_t usableRegisters_; // of a thread
  int64_t groupBytes_;
  int64_t bytesPastReductions_;  // of a thread: narrower masked loads move past reductions
  bool isBeforeCopies_;          // loads move before copies to shared memory
  bool isPastReduction_ = false; // since the last load
  Operation *last_ = nullptr;    // what the next load may follow: a load, or what comes before a copy
  int64_t bytes_ = 0;            // of its group
};

} // namespace

absl::StatusOr<bool> issueLoadsEarly(Module &m, PassContext &c) {
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  int64_t usable = c.target ? usableRegisters(*c.target, numWarps(m.op())) : 0;
  bool isAmd = c.target && c.target->vendor == Vendor::Amd;
  int64_t bytesPastReductions = isAmd ? tuning.branchlessLoadBytes : 0;
  bool isBeforeCopies = c.target && c.target->warpCopyBytes();
  bool changed = false;
  Addresses addresses(m);
  for (auto &function : *m.body()) {
    RegisterPressure pressure(&function);
    function.walk([&](Operation *op) {
      for (auto &r : op->regions())
        for (auto *b = r.front(); b; b = b->next()) {
          changed |= storeSingleElements(*b);
          changed |=
              LoadGroups(*b, pressure, addresses, usable, tuning.loadGroupBytes, bytesPastReductions, isBeforeCopies)
                  .run();
        }
    });
  }
  return changed;
}

} // namespace tessera::transforms
