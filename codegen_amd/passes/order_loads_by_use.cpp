// Issues loads in the order in which they are waited for, on RDNA.
//
//   v1 = global_load                       v2 = global_load
//   v2 = global_load                       v1 = global_load
//   s_waitcnt vmcnt(0)                     s_waitcnt vmcnt(1)
//   ds_store v2                     →      ds_store v2
//   ds_store v1                            s_waitcnt vmcnt(0)
//                                          ds_store v1
//
// Results arrive in the order in which loads are issued, and a wait counts how many may still be missing. LLVM's
// schedulers do not know: they order loads by registers and addresses. The more registers they have, the more loads
// that are used last the first use waits for.
//
// The places of loads stay where the scheduler put them. Each place gets, of the loads whose addresses are known there,
// the one that is used first; a few instructions of arithmetic for its address move with it. So about as many results
// are live at each place as before. LLVM's next scheduler, after register allocation, keeps neighbouring loads in
// order. Ahead of other loads of global memory that are used later than the last one, a SCHED_BARRIER, which becomes no
// instruction, keeps it from exchanging them.
//
// Limits: loads of global memory, and reads of LDS, each among themselves, within a block, between stores to the same
// memory and barriers. Loads that keep a part of the register they write (d16_hi) stay where they are. No more
// registers than the function takes somewhere.
//
// Runs: after LLVM's scheduler, before register allocation (codegen/object/backend.h, addCodegenPassesAfter).
#include "codegen_amd/passes/order_loads_by_use.h"
#include "codegen_amd/passes/opcodes.h"
#include "codegen_amd/passes/vector_pressure.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include <limits>
#include <optional>

namespace tessera::amd {
using namespace llvm;
namespace {

using Order = SmallVector<MachineInstr *, 0>; // of a block's instructions

// What may still cross a SCHED_BARRIER: all but loads of global memory.
constexpr int64_t kMayCross = 0x1 | 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400;

enum class Memory { None, Global, Lds };

constexpr int kMostArithmetic = 8; // instructions that move ahead with a load

/// A load that may change its place. Positions count the instructions of the block.
struct Load {
  MachineInstr *mi;
  int position;
  int earliest = 0;                               // position: behind what its operands and its result wait for
  int firstUse = std::numeric_limits<int>::max(); // of its result; behind the block's end: in the next iteration
  int deadline = std::numeric_limits<int>::max(); // the first instruction that must stay behind it
  int before = -1;                                // index of another load, of the same register, that stays ahead
  SmallVector<int, 4> addresses = {};             // positions of arithmetic that may move ahead of it
};

/// Operands that are virtual registers.
auto registersOf(const MachineInstr &mi) {
  return llvm::make_filter_range(mi.operands(),
                                 [](const MachineOperand &o) { return o.isReg() && o.getReg().isVirtual(); });
}

/// Collects the loads of a region that may change their places. Instructions are added in order; of a load, that gives
/// the earliest place, behind what writes its operands and what reads or writes its result.
class LoadScan {
public:
  enum class Kind : uint8_t { Load, Arithmetic, Fixed };

  explicit LoadScan(int begin) : begin_(begin) {}

  void add(MachineInstr &mi, int position, Kind kind) {
    Load load{&mi, position};
    bool moves = kind != Kind::Fixed;
    Ahead ahead{begin_, {}};
    for (const MachineOperand &o : registersOf(mi)) {
      auto other = loaded_.find(o.getReg());
      bool isLoaded = other != loaded_.end();
      // What a load brings, or what replaces the address of another load.
      if (o.isDef() ? addresses_.contains(o.getReg()) : isLoaded) moves = false;
      if (isLoaded && kind != Kind::Load) moves = false;
      if (isLoaded) load.before = other->second;
      addAccesses(o, ahead);
    }
    bound(ahead);
    if (moves && kind == Kind::Load) {
      load.earliest = ahead.position;
      load.addresses = ahead.addresses;
      addLoad(load);
      return;
    }
    if (moves) movable_.try_emplace(position, ahead);
    for (const MachineOperand &o : registersOf(mi)) {
      (o.isDef() ? written_ : read_)[o.getReg()] = position + 1;
      loaded_.erase(o.getReg()); // used: the next load into it stays behind by `read_` or `written_`
    }
  }

  SmallVector<Load, 0> takeLoads() { return std::move(loads_); }

private:
  /// What must be ahead of an instruction: all that is before a position, and arithmetic behind it that may move there.
  struct Ahead {
    int position;
    SmallVector<int, 4> addresses;

    void add(const Ahead &other) {
      position = std::max(position, other.position);
      addresses.append(other.addresses);
    }
  };

  /// The last instruction that writes a register, with what must be ahead of it where it may move.
  Ahead aheadOfWriter(Register r) const {
    auto it = written_.find(r);
    if (it == written_.end()) return {begin_, {}};
    auto writer = movable_.find(it->second - 1);
    if (writer == movable_.end()) return {it->second, {}};
    Ahead ahead = writer->second;
    ahead.addresses.push_back(it->second - 1);
    return ahead;
  }

  /// Adds what accesses an operand's register and must stay ahead of the operand's instruction.
  void addAccesses(const MachineOperand &o, Ahead &ahead) const {
    ahead.add(aheadOfWriter(o.getReg()));
    auto it = read_.find(o.getReg());
    if (o.isDef() && it != read_.end()) ahead.position = std::max(ahead.position, it->second);
  }

  /// More arithmetic than may move stays where it is.
  static void bound(Ahead &ahead) {
    llvm::sort(ahead.addresses);
    ahead.addresses.erase(llvm::unique(ahead.addresses), ahead.addresses.end());
    if (int(ahead.addresses.size()) <= kMostArithmetic) return;
    ahead.position = std::max(ahead.position, ahead.addresses.back() + 1);
    ahead.addresses.clear();
  }

  void addLoad(const Load &load) {
    for (const MachineOperand &o : registersOf(*load.mi)) {
      if (o.isDef())
        loaded_[o.getReg()] = int(loads_.size());
      else
        addresses_.insert(o.getReg());
    }
    loads_.push_back(load);
  }

  const int begin_;
  SmallVector<Load, 0> loads_;
  DenseMap<Register, int> written_, read_; // by other instructions: positions behind
  DenseMap<Register, int> loaded_;         // index of the last load into it, until it is used
  DenseSet<Register> addresses_;           // of `loads_`
  DenseMap<int, Ahead> movable_;           // arithmetic, by position
};

class OrderLoadsByUse final : public MachineFunctionPass {
public:
  static char ID;
  OrderLoadsByUse() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Tessera: loads in the order of uses"; }

  void getAnalysisUsage(AnalysisUsage &au) const override {
    au.addRequired<LiveIntervalsWrapperPass>();
    au.setPreservesAll(); // live intervals are updated
    MachineFunctionPass::getAnalysisUsage(au);
  }

  bool runOnMachineFunction(MachineFunction &mf) override {
    tii_ = mf.getSubtarget().getInstrInfo();
    tri_ = mf.getSubtarget().getRegisterInfo();
    lis_ = &getAnalysis<LiveIntervalsWrapperPass>().getLIS();
    mostRegisters_.reset();
    barrier_ = opcodeNamed(*tii_, "SCHED_BARRIER");
    if (!barrier_) return false;
    bool changed = false;
    for (MachineBasicBlock &block : mf) changed |= orderIn(mf, block);
    return changed;
  }

private:
  Memory memoryOf(const MachineInstr &mi) const {
    StringRef name = tii_->getName(mi.getOpcode());
    if (name.starts_with("DS_")) return Memory::Lds;
    if (name.starts_with("BUFFER_") || name.starts_with("GLOBAL_")) return Memory::Global;
    return Memory::None;
  }

  /// A load whose place may change.
  bool isMovable(const MachineInstr &mi) const {
    if (!mi.mayLoad() || mi.mayStore() || mi.hasOrderedMemoryRef() || mi.hasUnmodeledSideEffects()) return false;
    StringRef name = tii_->getName(mi.getOpcode());
    if (!name.starts_with("BUFFER_LOAD") && !name.starts_with("GLOBAL_LOAD") && !name.starts_with("DS_READ"))
      return false;
    unsigned results = 0;
    for (const MachineOperand &o : mi.operands()) {
      if (!o.isReg() || !o.getReg()) continue;
      if (o.isTied()) return false;
      if (o.getReg().isPhysical() && (o.isDef() || !tri_->getName(o.getReg()) || !isMask(o.getReg()))) return false;
      results += o.isDef();
    }
    return results == 1;
  }

  bool isMask(Register r) const { return StringRef(tri_->getName(r)).starts_with("EXEC"); }

  /// Arithmetic that may move ahead of loads.
  bool movesAhead(const MachineInstr &mi) const {
    return isArithmetic(mi, [&](Register r) { return isMask(r); });
  }

  /// No load crosses it.
  bool isBoundary(const MachineInstr &mi, Memory memory) const {
    if (mi.isTerminator() || mi.isCall() || mi.isInlineAsm() || mi.isPosition() || mi.isBundle() ||
        mi.hasUnmodeledSideEffects())
      return true;
    if (mi.mayLoadOrStore() && mi.hasOrderedMemoryRef()) return true;
    if (mi.mayStore() && (memoryOf(mi) == memory || memoryOf(mi) == Memory::None)) return true;
    return llvm::any_of(mi.all_defs(),
                        [&](const MachineOperand &o) { return o.getReg().isPhysical() && isMask(o.getReg()); });
  }

  bool orderIn(MachineFunction &mf, MachineBasicBlock &block) {
    Order order = orderOf(block), before = order;
    DenseMap<const MachineInstr *, int> firstUses; // of loads of global memory
    for (Memory memory : {Memory::Global, Memory::Lds})
      for (int begin = 0, size = int(order.size()); begin < size;) {
        int end = begin;
        while (end < size && !isBoundary(*order[end], memory)) ++end;
        orderRegion(block, order, begin, end, memory, firstUses);
        begin = end + 1;
      }
    if (order != before) {
      if (VectorPressure(mf, *lis_).of(block, order) > mostRegisters(mf)) return false;
      move(block, order);
    }
    return hold(block, firstUses) || order != before;
  }

  /// Vector registers that the function takes, as it was.
  int64_t mostRegisters(MachineFunction &mf) {
    if (!mostRegisters_) mostRegisters_ = VectorPressure(mf, *lis_).ofFunction();
    return *mostRegisters_;
  }

  void move(MachineBasicBlock &block, const Order &order) {
    auto at = block.begin();
    for (MachineInstr *mi : order) {
      if (&*at == mi) {
        ++at;
        continue;
      }
      block.splice(at, &block, mi->getIterator());
      lis_->handleMove(*mi, /*UpdateFlags=*/true);
    }
  }

  /// Keeps loads behind those that are used earlier.
  bool hold(MachineBasicBlock &block, const DenseMap<const MachineInstr *, int> &firstUses) {
    SmallVector<MachineInstr *, 0> held;
    int last = std::numeric_limits<int>::max();
    const MachineInstr *previous = nullptr;
    for (MachineInstr &mi : block) {
      if (auto it = firstUses.find(&mi); it != firstUses.end()) {
        if (it->second > last && !firstUses.contains(previous)) held.push_back(&mi);
        last = it->second;
      }
      previous = &mi;
    }
    for (MachineInstr *mi : held) {
      MachineInstr *barrier =
          BuildMI(block, mi->getIterator(), mi->getDebugLoc(), tii_->get(barrier_)).addImm(kMayCross);
      lis_->InsertMachineInstrInMaps(*barrier);
    }
    return !held.empty();
  }

  /// Orders the loads between two positions.
  void orderRegion(MachineBasicBlock &block, Order &order, int begin, int end, Memory memory,
                   DenseMap<const MachineInstr *, int> &firstUses) const {
    SmallVector<Load, 0> loads = loadsOf(order, begin, end, memory);
    if (loads.size() < 2) return;
    findUses(block, order, begin, loads);

    SmallVector<MachineInstr *, 0> result;
    DenseSet<int> moved; // positions of addresses that are computed earlier, and of loads
    for (const Load &load : loads) moved.insert(load.position);
    SmallVector<bool, 0> placed(loads.size(), false);
    size_t place = 0;
    for (int i = begin; i < end; ++i) {
      if (place == loads.size() || i != loads[place].position) {
        if (!moved.contains(i)) result.push_back(order[i]);
        continue;
      }
      ++place;
      int best = -1;
      for (int j = 0; j < int(loads.size()); ++j) {
        const Load &load = loads[j];
        if (placed[j] || load.earliest > i || (load.before >= 0 && !placed[load.before])) continue;
        if (best < 0 || load.firstUse < loads[best].firstUse) best = j;
      }
      if (best < 0 || loads[best].deadline <= i) return;
      placed[best] = true;
      for (int address : loads[best].addresses)
        if (address > i && moved.insert(address).second) result.push_back(order[address]);
      result.push_back(loads[best].mi);
    }
    llvm::copy(result, order.begin() + begin);
    if (memory == Memory::Global)
      for (const Load &load : loads) firstUses[load.mi] = load.firstUse;
  }

  SmallVector<Load, 0> loadsOf(ArrayRef<MachineInstr *> order, int begin, int end, Memory memory) const {
    LoadScan scan(begin);
    for (int i = begin; i < end; ++i) {
      MachineInstr &mi = *order[i];
      if (mi.isDebugInstr()) continue;
      bool isLoad = isMovable(mi) && memoryOf(mi) == memory;
      scan.add(mi, i,
               isLoad           ? LoadScan::Kind::Load
               : movesAhead(mi) ? LoadScan::Kind::Arithmetic
                                : LoadScan::Kind::Fixed);
    }
    return scan.takeLoads();
  }

  /// The first uses of the loads' results, and what must stay behind them.
  void findUses(MachineBasicBlock &block, ArrayRef<MachineInstr *> order, int begin,
                SmallVectorImpl<Load> &loads) const {
    DenseMap<Register, SmallVector<int, 2>> results, addresses;
    DenseMap<const MachineInstr *, int> index;
    for (int i = 0; i < int(loads.size()); ++i) {
      index[loads[i].mi] = i;
      for (const MachineOperand &o : loads[i].mi->operands())
        if (o.isReg() && o.getReg().isVirtual()) (o.isDef() ? results : addresses)[o.getReg()].push_back(i);
    }
    int size = int(order.size());
    auto see = [&](const MachineInstr &mi, int position) {
      if (mi.isDebugInstr()) return;
      auto own = index.find(&mi);
      for (const MachineOperand &o : mi.operands()) {
        if (!o.isReg() || !o.getReg().isVirtual()) continue;
        if (auto it = results.find(o.getReg()); it != results.end())
          for (int i : it->second) {
            Load &load = loads[i];
            if ((own != index.end() && position < size) || load.position >= position) continue;
            load.firstUse = std::min(load.firstUse, position);
            load.deadline = std::min(load.deadline, position);
          }
        if (auto it = addresses.find(o.getReg()); o.isDef() && it != addresses.end())
          for (int i : it->second)
            if (loads[i].position < position) loads[i].deadline = std::min(loads[i].deadline, position);
      }
    };
    for (int i = begin; i < size; ++i) see(*order[i], i);
    if (block.isSuccessor(&block))
      for (int i = 0; i < size; ++i) see(*order[i], size + i);
  }

  const TargetInstrInfo *tii_ = nullptr;
  const TargetRegisterInfo *tri_ = nullptr;
  LiveIntervals *lis_ = nullptr;
  unsigned barrier_ = 0;                 // opcode of SCHED_BARRIER
  std::optional<int64_t> mostRegisters_; // of the function
};

char OrderLoadsByUse::ID = 0;

} // namespace

Pass *createOrderLoadsByUse() { return new OrderLoadsByUse(); }

} // namespace tessera::amd
