// Whether a loaded value has reached an effect yet (see unused_reads.h): what it reaches is found once for each load in
// the function, and compared with what the warp has executed since.
#include "runtime/emulator/unused_reads.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"

namespace tessera::emulator {

namespace {

/// What a value reaches, instruction by instruction of one function into which all calls have been inlined.
class Reach {
public:
  explicit Reach(llvm::Function &f) : postdominators_(f) {}

  const llvm::DenseSet<const llvm::Instruction *> &from(const llvm::Instruction &load) {
    addUsers(load);
    while (!work_.empty()) {
      const llvm::Instruction *i = work_.pop_back_val();
      if (i->isTerminator() && i->getNumSuccessors() > 1)
        addDecided(*i);
      else
        addUsers(*i);
    }
    return reached_;
  }

private:
  void add(const llvm::Instruction &i) {
    if (reached_.insert(&i).second) work_.push_back(&i);
  }
  void addUsers(const llvm::Instruction &i) {
    for (const llvm::User *u : i.users())
      if (auto *user = llvm::dyn_cast<llvm::Instruction>(u)) add(*user);
  }
  /// What runs, or is chosen by a phi, depending on the branch.
  void addDecided(const llvm::Instruction &branch) {
    const llvm::BasicBlock *from = branch.getParent();
    const auto *node = postdominators_.getNode(from);
    const llvm::BasicBlock *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    llvm::DenseSet<const llvm::BasicBlock *> seen;
    llvm::SmallVector<const llvm::BasicBlock *, 8> blocks(llvm::successors(from));
    while (!blocks.empty()) {
      const llvm::BasicBlock *b = blocks.pop_back_val();
      if (b == join || !seen.insert(b).second) continue;
      for (const llvm::Instruction &i : *b) add(i);
      blocks.append(llvm::succ_begin(b), llvm::succ_end(b));
    }
    if (join)
      for (const llvm::PHINode &phi : join->phis()) add(phi);
  }

  llvm::PostDominatorTree postdominators_;
  llvm::DenseSet<const llvm::Instruction *> reached_;
  llvm::SmallVector<const llvm::Instruction *, 32> work_;
};

/// By instruction of the program: whether the value loaded at `site` reaches it.
const llvm::BitVector &reachOf(Launch &launch, uint32_t site) {
  auto [found, isNew] = launch.reach.try_emplace(site);
  if (!isNew) return found->second;
  auto &instructions = launch.program->instructions;
  llvm::BitVector &bits = found->second;
  bits.resize(unsigned(instructions.size()));
  const llvm::Instruction *load = instructions[site].source;
  // Analyses do not change the function, but take it as if they could.
  Reach reach(const_cast<llvm::Function &>(*load->getFunction()));
  auto &reached = reach.from(*load);
  for (const Instruction &i : instructions)
    if (i.source && reached.contains(i.source)) bits.set(i.id);
  return bits;
}

} // namespace

bool noteEffect(Warp &w, const Instruction &i) {
  if (w.acted.empty()) return true; // races are not checked
  w.acted.set(i.id);
  if (w.program->hasSharedBarriers) {
    EffectTimes &times = w.effects[i.id];
    if (times.last <= w.block->lastBarrier) times.beforeBarrier = times.last;
    times.last = w.block->launch->stamp;
  }
  for (const UnusedRead &r : w.unusedReads) {
    if (!reachOf(*w.block->launch, r.site).test(i.id)) continue;
    fail(w, &w.program->instructions[r.site], int(r.lane), r.text);
    return false;
  }
  return true;
}

bool isUnused(Warp &w, uint32_t site) {
  return w.program->instructions[site].source && !w.acted.anyCommon(reachOf(*w.block->launch, site));
}

bool wasUsedBeforeBarrier(Warp &w, const Mark &read) {
  uint64_t barrier = w.block->lastBarrier;
  if (read.stamp > barrier || !w.program->instructions[read.site].source) return false;
  const llvm::BitVector &reach = reachOf(*w.block->launch, read.site);
  return llvm::any_of(w.effects, [&](auto &e) {
    uint64_t at = e.second.last <= barrier ? e.second.last : e.second.beforeBarrier;
    return at >= read.stamp && reach.test(e.first);
  });
}

void putAside(Warp &w, uint32_t site, unsigned lane, const std::string &text) {
  for (const UnusedRead &r : w.unusedReads)
    if (r.site == site) return; // one report is enough
  w.unusedReads.push_back({site, lane, text});
}

} // namespace tessera::emulator
