// How a warp runs. All lanes that are about to enter the same block form a group; the group whose block comes first
// in the program's order runs next, up to the end of the block, where it parts or joins others. Since joins come
// after what they join and loops are in one piece (decode.cpp), lanes reconverge as early as on hardware, whatever
// the control flow looks like, and code that structured programs reach with all lanes is reached by all at once.
//
// A warp that waits in a loop for another is found out by its snapshot: when it comes back to a block with the same
// values in all rows and nothing changed memory meanwhile, the loop never ends unless something else does (`stuck`).
// One that changes rows alone, such as a counter, is given up after millions of iterations.
#include "codegen/attribute_names.h"
#include "runtime/emulator/machine.h"
#include "runtime/emulator/unwritten_reads.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::emulator {

std::string describe(const llvm::Instruction *i) {
  if (!i) return "";
  std::string out;
  if (auto *op = i->getMetadata(codegen::kOperationMetadata))
    if (auto *s = llvm::dyn_cast<llvm::MDString>(op->getOperand(0))) out = s->getString().str();
  if (const llvm::DILocation *l = i->getDebugLoc().get(); l && l->getLine()) {
    out += (out.empty() ? "at " : " at ") +
           llvm::formatv("{0}:{1}:{2}", l->getFilename(), l->getLine(), l->getColumn()).str();
    for (l = l->getInlinedAt(); l; l = l->getInlinedAt())
      out += llvm::formatv(", called at {0}:{1}:{2}", l->getFilename(), l->getLine(), l->getColumn()).str();
  }
  return out;
}

std::string failureText(const Warp &w, const Instruction *i, int lane, const std::string &what) {
  auto &id = w.block->id;
  std::string text = llvm::formatv("kernel '{0}', block ({1}, {2}, {3}), ", w.program->kernel, id[0], id[1], id[2]);
  if (lane >= 0)
    text += llvm::formatv("thread {0} (warp {1}, lane {2})", w.index * w.lanes + lane, w.index, lane);
  else
    text += llvm::formatv("warp {0}", w.index);
  std::string at = describe(i ? i->source : nullptr);
  if (!at.empty()) text += ", " + at;
  return text + ": " + what;
}

void fail(Warp &w, const Instruction *i, int lane, const std::string &what) {
  w.stop = true;
  Launch &l = *w.block->launch;
  if (!l.failure.ok() || reportRead(l)) return;
  l.failure = absl::AbortedError(failureText(w, i, lane, what));
}

bool requireConverged(Warp &w, const Instruction &i, const char *what) {
  if (w.mask == w.live && w.live == w.full) return true;
  unsigned missing = unsigned(std::countr_zero(w.full & ~w.mask));
  bool ended = !(w.live >> missing & 1);
  fail(w, &i, int(std::countr_zero(w.mask)),
       llvm::formatv("{0} is reached by {1} of the warp's {2} threads only; thread {3} {4}", what,
                     std::popcount(w.mask), w.lanes, w.index * w.lanes + missing,
                     ended ? "has ended" : "is in another branch"));
  return false;
}

namespace {

void addGroup(Warp &w, unsigned block, uint64_t mask) {
  if (!mask) return;
  for (auto &g : w.groups)
    if (g.first == block) {
      g.second |= mask;
      w.splitReturns = 0;
      w.starving = false;
      return;
    }
  w.groups.push_back({block, mask});
}

void copyLanes(const uint8_t *from, uint8_t *to, unsigned bytes, uint64_t mask, uint64_t full, unsigned lanes) {
  if (mask == full) {
    memcpy(to, from, size_t(bytes) * lanes);
    return;
  }
  for (; mask; mask &= mask - 1) {
    unsigned l = unsigned(std::countr_zero(mask));
    switch (bytes) {
    case 1: to[l] = from[l]; break;
    case 2: memcpy(to + 2 * l, from + 2 * l, 2); break;
    case 4: memcpy(to + 4 * l, from + 4 * l, 4); break;
    case 8: memcpy(to + 8 * l, from + 8 * l, 8); break;
    default: memcpy(to + 16 * l, from + 16 * l, 16); break;
    }
  }
}

/// The values that phis take on the edge, in the lanes of the mask.
void takeEdge(Warp &w, const Edge &e, uint64_t mask) {
  if (!mask) return;
  if (e.throughTemporary) {
    thread_local std::vector<uint8_t> temporary;
    temporary.resize(e.copies.size() * 16 * kMaxLanes);
    uint8_t *t = temporary.data();
    for (auto &c : e.copies) memcpy(t, w.frame + c.from, size_t(c.bytes) * w.lanes), t += size_t(c.bytes) * w.lanes;
    t = temporary.data();
    for (auto &c : e.copies)
      copyLanes(t, w.frame + c.to, c.bytes, mask, w.full, w.lanes), t += size_t(c.bytes) * w.lanes;
  } else {
    for (auto &c : e.copies) copyLanes(w.frame + c.from, w.frame + c.to, c.bytes, mask, w.full, w.lanes);
  }
  if (!w.exact.empty())
    for (auto &c : e.copies) copyExact(w, c.from, c.to);
  if (w.warpgroup && !w.warpgroup->promises.empty()) movePromises(w, e.copies, mask);
  addGroup(w, e.target, mask);
}

constexpr uint64_t kFirstSnapshot = 64;              // returns to earlier blocks while nothing in memory changes
constexpr uint64_t kIdleReturns = uint64_t(1) << 22; // returns while nothing in memory changes
constexpr uint64_t kPatience = uint64_t(1) << 20;    // such returns, while other lanes wait all the time

/// Whether the warp, about to enter `block` again, is in the state that it was in before: it will never leave the loop.
bool isInSameState(Warp &w, unsigned block, uint64_t mask) {
  uint64_t changes = w.block->launch->changes;
  if (w.idleChanges != changes) {
    w.idleChanges = changes;
    w.idleSince = w.returns;
    w.nextSnapshot = w.returns + kFirstSnapshot;
  }
  if (w.snapshotBlock == block && w.snapshotChanges == changes && w.snapshotBarriers == w.block->barriers &&
      w.snapshotMask == mask && !memcmp(w.snapshot.data(), w.frame, w.snapshot.size()))
    return true;
  if (++w.returns < w.nextSnapshot) return false;
  // A wait is found soon, also late in a long run; a long loop of arithmetic takes few copies of its registers.
  w.nextSnapshot = w.returns + std::max(kFirstSnapshot, w.returns - w.idleSince);
  w.snapshot.assign(w.frame, w.frame + w.program->frameBytes);
  w.snapshotBlock = block;
  w.snapshotChanges = changes;
  w.snapshotBarriers = w.block->barriers;
  w.snapshotMask = mask;
  return false;
}

/// The group of lanes to run next: the first in the program's order or, if the lanes of the warp make progress
/// independently, every other time the last.
std::pair<unsigned, uint64_t> *nextGroup(Warp &w, bool independent, unsigned &switches) {
  auto *next = w.groups.begin();
  for (auto &g : w.groups)
    if (g.first < next->first) next = &g;
  if (independent && (++switches & 1))
    for (auto &g : w.groups)
      if (g.first > next->first) next = &g;
  return next;
}

/// Sends the active lanes to the successors of the block that they have executed. False: a fault was reported.
bool leaveBlock(Warp &w, const BasicBlock &b) {
  switch (b.end) {
  case BasicBlock::End::Return: w.live &= ~w.mask; return true;
  case BasicBlock::End::Branch: takeEdge(w, b.edges[0], w.mask); return true;
  case BasicBlock::End::Conditional: {
    const uint8_t *c = w.row<uint8_t>(b.condition);
    uint64_t taken = 0;
    for (unsigned l = 0; l < w.lanes; ++l) taken |= uint64_t(c[l] & 1) << l;
    taken &= w.mask;
    takeEdge(w, b.edges[0], taken);
    takeEdge(w, b.edges[1], w.mask & ~taken);
    return true;
  }
  case BasicBlock::End::Switch: {
    uint64_t rest = w.mask;
    for (unsigned k = 0; k < b.cases.size(); ++k) {
      uint64_t taken = 0;
      for (uint64_t m = rest; m; m &= m - 1) {
        unsigned l = unsigned(std::countr_zero(m));
        if (loadRow(w, b.condition, b.conditionBytes, l) == b.cases[k]) taken |= uint64_t(1) << l;
      }
      takeEdge(w, b.edges[k + 1], taken);
      rest &= ~taken;
    }
    takeEdge(w, b.edges[0], rest);
    return true;
  }
  case BasicBlock::End::Unreachable: {
    Instruction end;
    end.source = b.terminator;
    fail(w, &end, int(std::countr_zero(w.mask)), "the program reaches a place that it declared unreachable");
    return false;
  }
  }
  return false;
}

} // namespace

void runWarp(Warp &w, uint64_t &budget) {
  const Program &p = *w.program;
  w.stop = w.stuck = false;
  unsigned block = 0;
  unsigned at = 0; // instruction
  bool resumed = w.barrier != nullptr;
  if (resumed) {
    block = w.resumeBlock;
    at = w.resumeAt;
    w.mask = w.live;
    w.barrier = nullptr;
  }
  unsigned switches = 0;
  for (;;) {
    if (!resumed) {
      if (w.groups.empty()) {
        w.state = Warp::State::Done;
        return;
      }
      // Independent lanes all make progress: one that holds a lock is not starved by those that wait.
      // Lanes that left a loop still wait where the paths join, as long as other lanes can still leave it too.
      if (w.groups.size() == 1) {
        w.splitReturns = 0;
        w.starving = false;
      }
      bool divergent = w.groups.size() > 1 && p.target->hasIndependentLanes;
      bool independent = divergent && (w.starving || w.splitReturns > kPatience);
      auto *next = nextGroup(w, independent, switches);
      unsigned last = block;
      w.splitReturns += next->first <= last;
      if (next->first <= last && isInSameState(w, next->first, next->second) && !independent) {
        w.stuck = true;
        w.stuckAt = w.block->launch->changes;
        w.resumeBlock = next->first;
        return;
      }
      if (w.returns - w.idleSince > kIdleReturns) {
        Instruction end;
        end.source = p.blocks[next->first].terminator;
        fail(w, &end, -1,
             llvm::formatv("a loop does not end: it has run {0} times, and nothing in memory changed", kIdleReturns));
        return;
      }
      if (!budget) return;
      block = next->first;
      w.mask = next->second;
      w.groups.erase(next);
      at = p.blocks[block].first;
    }
    resumed = false;
    const BasicBlock &b = p.blocks[block];
    if (auto &executed = w.block->launch->executed; !executed.empty()) executed[block] = 1;
    const Instruction *i = p.instructions.data() + at;
    const Instruction *end = p.instructions.data() + b.last;
    uint64_t count = uint64_t(end - i) + 1;
    for (; i != end; ++i) {
      i->run(w, *i);
      if (w.stop) [[unlikely]] {
        w.stop = false;
        w.block->instructions += count - uint64_t(end - i);
        w.resumeBlock = block;
        w.resumeAt = unsigned(i - p.instructions.data()) + 1;
        return;
      }
    }
    w.block->instructions += count;
    budget = budget > count ? budget - count : 0;
    if (w.block->launch->options->watch.isInterrupted()) [[unlikely]]
      budget = 0; // before the next block, for the caller
    if (!leaveBlock(w, b)) return;
  }
}

} // namespace tessera::emulator
