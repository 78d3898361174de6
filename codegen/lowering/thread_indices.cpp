// What a thread knows of itself and of its elements: its lane and warp, and by a layout the indices of the elements
// in its registers.
//
// Everything that depends on the thread's index alone stands in a prologue, a block before the first one, so that it
// dominates every use and is computed once. A layout's part that lanes and warps decide is a linear map of the bits of
// the thread index over F₂: applyLayout groups the bits that move by the same distance, so that the usual layouts cost
// one or two shifts. Registers add constants to it, with `or disjoint` where the bits do not meet, which LLVM folds
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
  LayoutInfo *&slot = layouts_[type];
  if (slot) return *slot;
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
  return *(slot = shared);
}

const LinearLayout &FunctionLowering::layout(Type type) { return layoutInfo(type).layout; }
unsigned FunctionLowering::freeRegisters(Type type) { return layoutInfo(type).freeRegisters; }

llvm::Value *FunctionLowering::inPrologue(llvm::function_ref<llvm::Value *()> make) {
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(part_.prologueEnd);
  b.SetCurrentDebugLocation({});
  return make();
}

llvm::SmallVector<llvm::Value *, 4> FunctionLowering::applyLayout(const LinearLayout &layout,
                                                                  llvm::ArrayRef<std::pair<Dim, llvm::Value *>> in) {
  unsigned outs = layout.numOutDims();
  llvm::SmallVector<int32_t, 4> constants(outs, 0);
  // For each output: (source, distance) → the source's bits that move by the distance.
  struct Group {
    llvm::Value *source;
    int distance;
    uint32_t bits;
  };
  llvm::SmallVector<llvm::SmallVector<Group, 4>, 4> groups(outs);
  llvm::DenseMap<llvm::Value *, unsigned> width; // bits above are zero
  unsigned laneBits = llvm::Log2_32(warpSize_), warpBits = llvm::Log2_32(part_.numWarps);
  llvm::SmallVector<bool, 4> ofLane(outs, false); // the output depends on the lane
  for (auto [dim, value] : in)
    if (value == part_.lane)
      for (unsigned bit = 0; bit < layout.inDimBits(dim); ++bit)
        for (unsigned o = 0; o < outs; ++o) ofLane[o] |= layout.basis(dim, bit)[o] != 0;
  for (auto [dim, value] : in) {
    unsigned n = layout.inDimBits(dim);
    if (!n) continue;
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      for (unsigned bit = 0; bit < n; ++bit)
        if (c->getZExtValue() >> bit & 1)
          for (unsigned o = 0; o < outs; ++o) constants[o] ^= layout.basis(dim, bit)[o];
      continue;
    }
    // The lane and the warp are bits of the thread index: taken from there, bits of both move together. What depends on
    // the warp alone comes from a thread index that is known to be uniform.
    unsigned low = part_.tid && value == part_.warp ? laneBits : 0;
    for (unsigned bit = 0; bit < n; ++bit) {
      auto basis = layout.basis(dim, bit);
      for (unsigned o = 0; o < outs; ++o) {
        llvm::Value *source = value;
        if (part_.tid && value == part_.lane) source = part_.tid;
        if (part_.tid && value == part_.warp) source = ofLane[o] ? part_.tid : part_.tidOfWarp;
        width[source] =
            source == part_.tid || source == part_.tidOfWarp ? laneBits + warpBits : std::max(width[source], n);
        for (uint32_t rest = basis[o]; rest; rest &= rest - 1) {
          int distance = int(llvm::countr_zero(rest)) - int(low + bit);
          uint32_t mask = 1u << (low + bit);
          auto *g = llvm::find_if(
              groups[o], [&](Group &g) { return g.source == source && g.distance == distance && !(g.bits & mask); });
          if (g == groups[o].end())
            groups[o].push_back({source, distance, mask});
          else
            g->bits |= mask;
        }
      }
    }
  }
  llvm::SmallVector<llvm::Value *, 4> out;
  for (unsigned o = 0; o < outs; ++o) {
    llvm::Value *sum = nullptr;
    uint32_t sumBits = 0;
    for (Group &g : groups[o]) {
      llvm::Value *v = g.source;
      uint32_t all = llvm::maskTrailingOnes<uint32_t>(width[g.source]);
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
      if (!sum)
        sum = v;
      else
        sum = sumBits & moved ? b.CreateXor(sum, v) : b.CreateOr(sum, v, "", true);
      sumBits |= moved;
    }
    llvm::Value *c = i32(constants[o]);
    if (!sum)
      sum = c;
    else if (constants[o])
      sum = sumBits & constants[o] ? b.CreateXor(sum, c) : b.CreateOr(sum, c, "", true);
    out.push_back(sum);
  }
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
    if (dim == Dim::Warp) threadMask |= uint64_t(mask) << llvm::Log2_32(warpSize_);
    if (dim == Dim::Block) blockMask |= uint64_t(mask);
  }
  // A layout of fewer threads than the block has: the others hold copies too.
  uint64_t threads = uint64_t(warpSize_) * part_.numWarps;
  for (uint64_t t = uint64_t(l.inDimSize(Dim::Lane)); t < uint64_t(warpSize_); t <<= 1) threadMask |= t;
  for (uint64_t t = uint64_t(l.inDimSize(Dim::Warp)) * warpSize_; t < threads; t <<= 1) threadMask |= t;
  if (!threadMask && !blockMask) return nullptr;
  llvm::Value *&slot = part_.representatives[threadMask | blockMask << 32];
  if (!slot) {
    llvm::Value *tid = threadId(), *block = blockMask ? blockInCluster() : nullptr;
    if (threadMask && !(threadMask & (warpSize_ - 1))) {
      warpId();
      tid = part_.tidOfWarp; // a scalar branch
    }
    slot = inPrologue([&] {
      llvm::Value *v = nullptr;
      if (threadMask) v = b.CreateICmpEQ(threadMask == threads - 1 ? tid : b.CreateAnd(tid, threadMask), i32(0));
      if (!blockMask) return v;
      llvm::Value *w = b.CreateICmpEQ(b.CreateAnd(block, blockMask), i32(0));
      return v ? b.CreateAnd(v, w) : w;
    });
  }
  return slot;
}

llvm::Value *FunctionLowering::isFirstThread() {
  if (!part_.firstThread) {
    llvm::Value *tid = threadId();
    part_.firstThread = inPrologue([&] { return b.CreateICmpEQ(tid, i32(0)); });
  }
  return part_.firstThread;
}

llvm::Value *FunctionLowering::leader() {
  llvm::Value *warp = warpId();
  if (!part_.leader)
    part_.leader = inPrologue([&] { return b.CreateAnd(target.electThread(b), b.CreateICmpEQ(warp, i32(0))); });
  return part_.leader;
}

// ---- the thread ----------------------------------------------------------------------------------------------------

llvm::Value *FunctionLowering::threadId() {
  if (part_.tid) return part_.tid;
  return part_.tid = inPrologue([&] {
           llvm::Value *v = target.threadId(b);
           uint64_t first = uint64_t(warpSize_) * part_.firstWarp;
           if (auto *call = llvm::dyn_cast<llvm::CallInst>(v)) {
             llvm::ConstantRange range(llvm::APInt(32, first),
                                       llvm::APInt(32, first + uint64_t(warpSize_) * part_.numWarps));
             call->addRangeRetAttr(range);
           }
           return first ? b.CreateSub(v, i32(first), "", true, true) : v;
         });
}

llvm::Value *FunctionLowering::laneId() {
  llvm::Value *tid = threadId();
  if (!part_.lane) part_.lane = inPrologue([&] { return b.CreateAnd(tid, i32(warpSize_ - 1)); });
  return part_.lane;
}

llvm::Value *FunctionLowering::warpId() {
  llvm::Value *tid = threadId();
  if (!part_.warp)
    part_.warp = inPrologue([&]() -> llvm::Value * {
      if (part_.numWarps == 1) return i32(0);
      // Made uniform before the shift: LLVM knows that the shifted index is, takes this back, and no longer knows once
      // the shift has become part of something else.
      part_.tidOfWarp = target.uniform(b, tid);
      return b.CreateLShr(part_.tidOfWarp, llvm::Log2_32(warpSize_));
    });
  return part_.warp;
}

llvm::Value *FunctionLowering::blockInCluster() {
  if (!part_.block)
    part_.block = inPrologue([&]() -> llvm::Value * { return numCtas_ == 1 ? i32(0) : target.blockInCluster(b); });
  return part_.block;
}

} // namespace tessera::codegen
