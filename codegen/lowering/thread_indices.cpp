// A thread's own numbers (thread, lane, warp) and, by a layout, the indices of the elements in its registers.
//
// Everything that depends on the thread's index alone stands in a prologue, a block before the first one, so that it
// dominates every use and is computed once. A layout's part that lanes and warps decide is a linear map of the bits of
// the thread index over F₂: applyLayout groups the bits that move by the same distance, so that the usual layouts cost
// one or two shifts. Registers add constants to it, with `or disjoint` where the bits do not overlap, which LLVM folds
// into addresses.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

// ---- layouts -------------------------------------------------------------------------------------------------------

FunctionLowering::LayoutInfo &FunctionLowering::layoutInfo(Type type) {
  LayoutInfo *&known = layouts_[type];
  if (known) return *known;
  auto shaped = type.cast<ShapedType>();
  LayoutInfo *&shared = byEncoding_[{shaped.encoding(), shaped.shape()}];
  if (!shared) {
    layoutStorage_.emplace_back();
    shared = &layoutStorage_.back();
    // The verifier has made sure of the encoding; what it cannot see would be an internal error.
    if (auto l = shaped.encoding()->toLinearLayout(shaped.shape()); l.ok()) {
      shared->layout = *std::move(l);
      for (auto [dim, mask] : shared->layout.freeVariableMasks())
        if (dim == Dim::Register) shared->freeRegisters = mask;
    } else {
      diag.error({}, "no linear layout for " + type.str() + ": " + std::string(l.status().message()));
      LinearLayout l1 = LinearLayout::zeros1D(1, Dim::Register, layouts::tensorDim(0));
      for (unsigned d = 1; d < shaped.rank(); ++d) l1 *= LinearLayout::zeros1D(1, Dim::Register, layouts::tensorDim(d));
      shared->layout = l1;
    }
  }
  known = shared;
  return *known;
}

const LinearLayout &FunctionLowering::layout(Type type) { return layoutInfo(type).layout; }
unsigned FunctionLowering::freeRegisters(Type type) { return layoutInfo(type).freeRegisters; }

llvm::Value *FunctionLowering::inPrologue(llvm::function_ref<llvm::Value *()> make) {
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(partition_.prologueEnd);
  b.SetCurrentDebugLocation({});
  return make();
}

namespace {

/// One output of a linear layout: bits of some values, each moved by a distance, and a constant, all xor-ed.
class LayoutOutput {
public:
  /// The source's bit `mask` becomes the bit `distance` above it.
  void add(llvm::Value *source, int distance, uint32_t mask) {
    // A bit that moves twice by one distance needs a group of its own.
    auto *g = llvm::find_if(groups_,
                            [&](Group &g) { return g.source == source && g.distance == distance && !(g.bits & mask); });
    if (g == groups_.end())
      groups_.push_back({source, distance, mask});
    else
      g->bits |= mask;
  }
  void addConstant(int32_t c) { constant_ ^= c; }

  /// `widths`: of each source, the number of low bits that may be set.
  llvm::Value *evaluate(llvm::IRBuilder<> &b, const llvm::DenseMap<llvm::Value *, unsigned> &widths) const {
    llvm::Value *sum = nullptr;
    uint32_t sumBits = 0;
    for (const Group &g : groups_) {
      llvm::Value *v = g.source;
      uint32_t all = llvm::maskTrailingOnes<uint32_t>(widths.lookup(g.source));
      uint32_t moved;
      if (g.distance >= 0) {
        if (g.bits != all) v = b.CreateAnd(v, g.bits);
        if (g.distance) v = b.CreateShl(v, g.distance, "", true, true);
        moved = g.bits << g.distance;
      } else {
        v = b.CreateLShr(v, -g.distance);
        moved = g.bits >> -g.distance;
        if (moved != all >> -g.distance) v = b.CreateAnd(v, moved);
      }
      sum = sum ? combined(b, sum, v, sumBits & moved) : v;
      sumBits |= moved;
    }
    llvm::Value *c = b.getInt32(constant_);
    if (!sum) return c;
    return constant_ ? combined(b, sum, c, sumBits & constant_) : sum;
  }

private:
  /// Bits of one source that move by one distance.
  struct Group {
    llvm::Value *source;
    int distance;
    uint32_t bits;
  };
  static llvm::Value *combined(llvm::IRBuilder<> &b, llvm::Value *x, llvm::Value *y, bool overlap) {
    return overlap ? b.CreateXor(x, y) : b.CreateOr(x, y, "", /*IsDisjoint=*/true);
  }

  llvm::SmallVector<Group, 4> groups_;
  int32_t constant_ = 0;
};

} // namespace

llvm::SmallVector<llvm::Value *, 4> FunctionLowering::applyLayout(const LinearLayout &layout,
                                                                  llvm::ArrayRef<std::pair<Dim, llvm::Value *>> in) {
  unsigned outs = layout.numOutDims();
  llvm::SmallVector<LayoutOutput, 4> outputs(outs);
  llvm::DenseMap<llvm::Value *, unsigned> widths; // bits above are zero
  unsigned laneBits = llvm::Log2_32(warpSize()), warpBits = llvm::Log2_32(numWarps());
  llvm::SmallVector<bool, 4> dependsOnLane(outs, false);
  for (auto [dim, value] : in)
    if (value == partition_.lane)
      for (unsigned bit = 0; bit < layout.inDimBits(dim); ++bit)
        for (unsigned o = 0; o < outs; ++o) dependsOnLane[o] |= layout.basis(dim, bit)[o] != 0;
  for (auto [dim, value] : in) {
    unsigned n = layout.inDimBits(dim);
    if (!n) continue;
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      for (unsigned bit = 0; bit < n; ++bit)
        if (c->getZExtValue() >> bit & 1)
          for (unsigned o = 0; o < outs; ++o) outputs[o].addConstant(layout.basis(dim, bit)[o]);
      continue;
    }
    // The lane and the warp are bits of the thread index: taken from there, bits of both move together. What depends on
    // the warp alone comes from a thread index that is known to be uniform.
    bool isLane = partition_.tid && value == partition_.lane, isWarp = partition_.tid && value == partition_.warp;
    unsigned low = isWarp ? laneBits : 0;
    for (unsigned bit = 0; bit < n; ++bit) {
      auto basis = layout.basis(dim, bit);
      for (unsigned o = 0; o < outs; ++o) {
        llvm::Value *source = value;
        if (isLane) source = partition_.tid;
        if (isWarp) source = dependsOnLane[o] ? partition_.tid : partition_.tidOfWarp;
        bool isThread = source == partition_.tid || source == partition_.tidOfWarp;
        widths[source] = isThread ? laneBits + warpBits : std::max(widths[source], n);
        for (uint32_t rest = basis[o]; rest; rest &= rest - 1)
          outputs[o].add(source, int(llvm::countr_zero(rest)) - int(low + bit), 1u << (low + bit));
      }
    }
  }
  llvm::SmallVector<llvm::Value *, 4> out;
  for (auto &o : outputs) out.push_back(o.evaluate(b, widths));
  return out;
}

llvm::ArrayRef<llvm::Value *> FunctionLowering::threadIndices(Type type) {
  auto &info = layoutInfo(type);
  if (info.thread.empty() && info.layout.numOutDims()) {
    llvm::Value *lane = laneId(), *warp = warpId(), *block = blockInCluster();
    inPrologue([&]() -> llvm::Value * {
      info.thread = applyLayout(info.layout, {{Dim::Lane, lane}, {Dim::Warp, warp}, {Dim::Block, block}});
      return nullptr;
    });
  }
  return info.thread;
}

llvm::SmallVector<llvm::SmallVector<llvm::Value *, 4>, 0> FunctionLowering::indices(Type type) {
  auto thread = threadIndices(type);
  auto &l = layoutInfo(type).layout;
  unsigned n = l.inDimSize(Dim::Register), outs = l.numOutDims();
  // Which bits of an index the thread can set.
  llvm::SmallVector<uint32_t, 4> threadBits(outs, 0);
  for (Dim d : {Dim::Lane, Dim::Warp, Dim::Block})
    for (unsigned bit = 0; bit < l.inDimBits(d); ++bit)
      for (unsigned o = 0; o < outs; ++o) threadBits[o] |= l.basis(d, bit)[o];
  llvm::SmallVector<llvm::SmallVector<llvm::Value *, 4>, 0> out(n);
  llvm::SmallVector<std::map<int32_t, llvm::Value *>, 4> made(outs);
  for (unsigned r = 0; r < n; ++r) {
    auto constant = l.apply({{Dim::Register, int32_t(r)}});
    for (unsigned o = 0; o < outs; ++o) {
      llvm::Value *&v = made[o][constant[o]];
      if (!v) {
        if (!constant[o])
          v = thread[o];
        else if (threadBits[o] & constant[o])
          v = b.CreateXor(thread[o], i32(constant[o]));
        else
          v = b.CreateOr(thread[o], i32(constant[o]), "", true);
      }
      out[r].push_back(v);
    }
  }
  return out;
}

llvm::Value *FunctionLowering::isRepresentative(const LinearLayout &l) {
  uint64_t threadMask = 0, blockMask = 0;
  for (auto [dim, mask] : l.freeVariableMasks()) {
    if (dim == Dim::Lane) threadMask |= uint64_t(mask);
    if (dim == Dim::Warp) threadMask |= uint64_t(mask) << llvm::Log2_32(warpSize());
    if (dim == Dim::Block) blockMask |= uint64_t(mask);
  }
  // A layout of fewer threads than the block has: the others hold copies too.
  uint64_t threads = uint64_t(warpSize()) * numWarps();
  for (uint64_t t = uint64_t(l.inDimSize(Dim::Lane)); t < uint64_t(warpSize()); t <<= 1) threadMask |= t;
  for (uint64_t t = uint64_t(l.inDimSize(Dim::Warp)) * warpSize(); t < threads; t <<= 1) threadMask |= t;
  if (!threadMask && !blockMask) return nullptr;
  llvm::Value *&representative = partition_.representatives[threadMask | blockMask << 32];
  if (!representative) {
    llvm::Value *tid = threadId(), *block = blockMask ? blockInCluster() : nullptr;
    if (threadMask && !(threadMask & (warpSize() - 1))) {
      warpId();
      tid = partition_.tidOfWarp; // a scalar branch
    }
    representative = inPrologue([&] {
      llvm::Value *v = nullptr;
      if (threadMask) v = b.CreateICmpEQ(threadMask == threads - 1 ? tid : b.CreateAnd(tid, threadMask), i32(0));
      if (!blockMask) return v;
      llvm::Value *w = b.CreateICmpEQ(b.CreateAnd(block, blockMask), i32(0));
      return v ? b.CreateAnd(v, w) : w;
    });
  }
  return representative;
}

llvm::Value *FunctionLowering::isFirstThread() {
  if (!partition_.firstThread) {
    llvm::Value *tid = threadId();
    partition_.firstThread = inPrologue([&] { return b.CreateICmpEQ(tid, i32(0)); });
  }
  return partition_.firstThread;
}

llvm::Value *FunctionLowering::leader() {
  llvm::Value *warp = warpId();
  if (!partition_.leader)
    partition_.leader = inPrologue([&] { return b.CreateAnd(target.electThread(b), b.CreateICmpEQ(warp, i32(0))); });
  return partition_.leader;
}

// ---- the thread ----------------------------------------------------------------------------------------------------

llvm::Value *FunctionLowering::threadId() {
  if (partition_.tid) return partition_.tid;
  return partition_.tid = inPrologue([&] {
           llvm::Value *v = target.threadId(b);
           uint64_t first = uint64_t(warpSize()) * partition_.firstWarp;
           if (auto *call = llvm::dyn_cast<llvm::CallInst>(v)) {
             llvm::ConstantRange range(llvm::APInt(32, first),
                                       llvm::APInt(32, first + uint64_t(warpSize()) * numWarps()));
             call->addRangeRetAttr(range);
           }
           return first ? b.CreateSub(v, i32(first), "", true, true) : v;
         });
}

llvm::Value *FunctionLowering::laneId() {
  llvm::Value *tid = threadId();
  if (!partition_.lane) partition_.lane = inPrologue([&] { return b.CreateAnd(tid, i32(warpSize() - 1)); });
  return partition_.lane;
}

llvm::Value *FunctionLowering::warpId() {
  llvm::Value *tid = threadId();
  if (!partition_.warp)
    partition_.warp = inPrologue([&]() -> llvm::Value * {
      if (numWarps() == 1) return i32(0);
      // Made uniform before the shift: LLVM knows that the shifted index is, takes this back, and no longer knows once
      // the shift has become part of something else.
      partition_.tidOfWarp = target.uniform(b, tid);
      return b.CreateLShr(partition_.tidOfWarp, llvm::Log2_32(warpSize()));
    });
  return partition_.warp;
}

llvm::Value *FunctionLowering::sharedWarpId() {
  llvm::Value *warp = warpId();
  if (!partition_.sharedWarp)
    partition_.sharedWarp = inPrologue([&] { return target.shuffleIndex32(b, warp, i32(0)); });
  return partition_.sharedWarp;
}

llvm::Value *FunctionLowering::blockInCluster() {
  if (!partition_.block)
    partition_.block =
        inPrologue([&]() -> llvm::Value * { return numCtas() == 1 ? i32(0) : target.blockInCluster(b); });
  return partition_.block;
}

} // namespace tessera::codegen
