// Occupancy (see occupancy.h). A request is a number of blocks per multiprocessor (`nvvm.minctasm`): more blocks, fewer
// registers per thread. planOccupancy and requestedBlocks take the first row that fits; their numbers are in
// ir/tuning.def:
//
//   kernel                                               request
//   the user gives registers or clusters                 none
//   shared memory admits so few blocks that each thread
//     can have all registers                             those blocks (a)
//   its widest tensor is unknown, or wide                none: it needs its registers
//   less than two blocks would be requested              none
//   with matrix instructions                             half of full occupancy, if the widest tensor is small;
//                                                        none if it is medium, or if blocks do not fill the half (b)
//   keeps a row over a barrier, without loops            none (c)
//   computes special functions between loads and
//     stores, without loops                              none (g)
//   has loops, which load nothing                        none (h)
//   the block loads much in an iteration of each loop,
//     the widest tensor is small                         none (d)
//   loads many registers                                 half of full occupancy; a quarter if the tensor is medium;
//                                                        fewer if a loop's accumulators, addresses and loads of an
//                                                        iteration do not fit into the registers (e)
//   loads few registers                                  none (f)
//   loads some registers                                 three quarters; three eighths if the tensor is medium
//
// (a) By itself ptxas gives the addresses of a row of copies one pair of registers, each copy waiting for the one
//     before (dots of 64 x 64 x 128 by four warps, five stages: 64 registers become 96).
// (b) With fewer blocks than half of full occupancy requested, as many of 174 kernels with dots were slower as were
//     faster than without a request. Nor is more than half requested: matrix instructions take registers in blocks, and
//     ptxas refuses the code if there are too few for one.
// (c) A row that is reduced and used again: its loads are in flight together whatever ptxas does. With a request it
//     takes more registers than it needs, and fewer blocks compute while one waits at a barrier (layer normalisation by
//     eight warps on an H200: 56 registers and four blocks instead of 48 and five, 77.4 us instead of 70.9).
// (d) Full occupancy has the loads in flight that hide their latency, and rows of one iteration have no others.
// (e) ptxas otherwise keeps few of the loads in flight: two of the sixteen of a sum of 16 masked rows in 128 registers,
//     all of them in 206.
// (f) All loads are in flight with the registers of full occupancy, and more warps hide more.
// (g) Ordered by results, it has its loads in flight and few registers whatever ptxas does; more warps hide the latency
//     of the functions (passes/order_by_results.cpp).
// (h) Its time goes into the loops, whose arithmetic more warps hide (one-hot rows of a loss's gradient by 16 warps on
//     an H200: 38 registers and three blocks instead of 48 and two).
//
// Loads are counted in the optimised code, in which short loops are unrolled. Sources: CUDA C++ Programming Guide,
// "Occupancy Calculator"; PTX ISA, "Performance-Tuning Directives".
#include "codegen_nvidia/occupancy.h"
#include "codegen/address_spaces.h"
#include "codegen_nvidia/passes/order_by_results.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::nvidia {
using namespace llvm;
using codegen::BackendOptions;

namespace {

constexpr StringLiteral kWidestTensor = "tessera-widest-tensor";
constexpr StringLiteral kLoads = "tessera-loads";
constexpr StringLiteral kMatrix = "tessera-matrix", kWarp = "warp", kWarpGroup = "warp-group"; // and its values
constexpr StringLiteral kWarpGroupDots = "tessera-warp-group-dots";
constexpr StringLiteral kLoadsLittle = "tessera-loads-little", kWaitsInLoops = "tessera-waits-in-loops";
constexpr StringLiteral kBulkLoad = "tessera-bulk-load", kLoadsInBulk = "tessera-loads-in-bulk";
constexpr StringLiteral kMinBlocks = "nvvm.minctasm";

bool isKernel(const Function &f) { return !f.isDeclaration() && f.getCallingConv() == CallingConv::PTX_Kernel; }

} // namespace

unsigned loadedRegisters(const Instruction &i, const DataLayout &layout) {
  if (auto *load = dyn_cast<LoadInst>(&i)) {
    bool isGlobal = load->getPointerAddressSpace() == codegen::kGlobalSpace;
    return isGlobal ? unsigned(divideCeil(layout.getTypeStoreSizeInBits(load->getType()).getFixedValue(), 32)) : 0;
  }
  auto *call = dyn_cast<CallBase>(&i);
  unsigned registers = 0;
  if (call) call->getFnAttr(kLoads).getValueAsString().getAsInteger(10, registers);
  return registers;
}

namespace {

/// The registers that a loop carries, and those of what it uses from outside: accumulators, addresses. Conditions are
/// in predicates; the kernel's arguments are read where they are used.
unsigned heldRegisters(ArrayRef<const BasicBlock *> loop, const DataLayout &layout) {
  SmallPtrSet<const BasicBlock *, 8> blocks(loop.begin(), loop.end());
  SmallPtrSet<const Value *, 32> held;
  for (const BasicBlock *block : loop)
    for (const Instruction &i : *block) {
      if (auto *phi = dyn_cast<PHINode>(&i)) {
        if (llvm::any_of(phi->blocks(), [&](const BasicBlock *from) { return !blocks.contains(from); }))
          held.insert(phi);
        continue;
      }
      for (const Value *operand : i.operand_values())
        if (auto *outside = dyn_cast<Instruction>(operand); outside && !blocks.contains(outside->getParent()))
          held.insert(outside);
    }
  unsigned registers = 0;
  for (const Value *v : held)
    if (v->getType()->isSized() && !v->getType()->isIntOrIntVectorTy(1))
      registers += unsigned(divideCeil(layout.getTypeSizeInBits(v->getType()).getFixedValue(), 32));
  return registers;
}

bool isBarrier(const Instruction &i) {
  auto *call = dyn_cast<IntrinsicInst>(&i);
  return call && call->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all;
}

/// The registers of what a block loads before its first barrier, or computes from that, and uses after it.
unsigned keptRegisters(const BasicBlock &block, const DataLayout &layout) {
  auto barrier = llvm::find_if(block, isBarrier);
  if (barrier == block.end()) return 0;
  unsigned registers = 0;
  SmallPtrSet<const Value *, 32> loaded;
  for (auto i = block.begin(); i != barrier; ++i) {
    bool isLoaded = loadedRegisters(*i, layout) ||
                    llvm::any_of(i->operands(), [&](const Use &operand) { return loaded.contains(operand.get()); });
    if (!isLoaded || i->getType()->isVoidTy()) continue;
    loaded.insert(&*i);
    auto isUsedLater = [&](const User *user) {
      auto *by = cast<Instruction>(user);
      return by->getParent() != &block || barrier->comesBefore(by);
    };
    if (llvm::any_of(i->users(), isUsedLater))
      registers += unsigned(divideCeil(layout.getTypeSizeInBits(i->getType()).getFixedValue(), 32));
  }
  return registers;
}

/// Registers of a thread where so many blocks are to fit.
int registersFor(int blocks, const ir::TargetInfo &t, const BackendOptions &o) {
  return t.registersPerThread(int64_t(blocks) * o.numWarps, ir::RegisterSplit::Allocated);
}

/// Whether so few blocks are requested that each thread can have all registers there are.
bool leavesAllRegisters(int blocks, const ir::TargetInfo &t, const BackendOptions &o) {
  return registersFor(blocks, t, o) == registersFor(1, t, o);
}

/// The blocks that a kernel requests by its tensors, loads and matrix instructions; 0: none.
int requestedBlocks(const KernelFacts &facts, const ir::TargetInfo &t, const BackendOptions &o) {
  if (!facts.widestTensor || *facts.widestTensor > t.tuning.mediumTensorElements) return 0;
  bool isSmall = *facts.widestTensor <= t.tuning.smallTensorElements;
  int warps = t.maxWarpsPerMultiprocessor / (isSmall ? t.tuning.smallTensorWarps : t.tuning.mediumTensorWarps);
  unsigned most = std::max(*facts.widestTensor, facts.loadedRegisters);
  if (!isSmall && most <= t.tuning.threeEighthsTensorElements && !facts.hasMatrixInstructions)
    warps = t.maxWarpsPerMultiprocessor * 3 / 8;
  int blocks = std::min(warps / o.numWarps, t.maxBlocksPerMultiprocessor);
  if (blocks <= 1) return 0;
  if (facts.hasMatrixInstructions) {
    bool belowHalf = blocks * o.numWarps < t.maxWarpsPerMultiprocessor / 2;
    return belowHalf ? 0 : blocks;
  }
  bool computesInLoops = facts.hasLoops && !facts.mostLoopRegisters;
  if (computesInLoops) return 0;
  bool keepsRow = !facts.hasLoops && facts.keptRegisters * t.tuning.keptRowParts >= facts.loadedRegisters;
  if (keepsRow || (facts.isOrderedByResults && !facts.hasLoops)) return 0;
  int64_t loopBytes = int64_t(facts.leastLoopRegisters) * (ir::kWordBits / 8) * o.numWarps * t.warpSize;
  if (isSmall && loopBytes >= t.tuning.loopBytesOfBlock) return 0;
  if (facts.loadedRegisters > t.tuning.threeQuartersMaxLoaded) {
    while (blocks > 1 && registersFor(blocks, t, o) < int(facts.mostLoopRegisters)) --blocks;
    return blocks;
  }
  if (facts.loadedRegisters <= t.tuning.noRequestMaxLoaded) return 0;
  return std::min(blocks + blocks / 2, t.maxBlocksPerMultiprocessor);
}

} // namespace

void recordWidestTensor(Function &kernel, unsigned elements) { kernel.addFnAttr(kWidestTensor, utostr(elements)); }

void recordLoad(CallBase &call, unsigned registers) {
  call.addFnAttr(Attribute::get(call.getContext(), kLoads, utostr(registers)));
}

bool isRecordedLoad(const CallBase &call) { return call.hasFnAttr(kLoads); }

void recordBulkLoad(CallBase &call) { call.addFnAttr(Attribute::get(call.getContext(), kBulkLoad)); }

void recordMatrixInstruction(CallBase &call, bool ofWarpGroup) {
  call.addFnAttr(Attribute::get(call.getContext(), kMatrix, ofWarpGroup ? kWarpGroup : kWarp));
}

bool isMatrixInstruction(const Instruction &i) {
  auto *call = dyn_cast<CallBase>(&i);
  return call && call->hasFnAttr(kMatrix);
}

bool isWarpGroupDot(const Instruction &i) {
  auto *call = dyn_cast<CallBase>(&i);
  return call && call->getFnAttr(kMatrix).getValueAsString() == kWarpGroup;
}

KernelFacts collectFacts(const Function &kernel, const ir::Tuning &tuning) {
  KernelFacts facts;
  if (kernel.hasFnAttribute(kWidestTensor))
    facts.widestTensor = unsigned(kernel.getFnAttributeAsParsedInteger(kWidestTensor));
  facts.isOrderedByResults = kernel.hasFnAttribute(kOrderedByResults);
  const DataLayout &layout = kernel.getDataLayout();
  for (auto part = scc_begin(&kernel); !part.isAtEnd(); ++part) {
    unsigned iterations = part.hasCycle() ? tuning.ptxasUnrolledIterations : 1;
    bool synchronizes = llvm::any_of(*part, [](const BasicBlock *b) { return llvm::any_of(*b, isBarrier); });
    facts.hasLoops |= part.hasCycle();
    unsigned loadedByPart = 0;
    for (const BasicBlock *block : *part) {
      facts.keptRegisters = std::max(facts.keptRegisters, keptRegisters(*block, layout));
      for (const Instruction &i : *block) {
        unsigned loaded = loadedRegisters(i, layout);
        loadedByPart += loaded;
        facts.loadedRegisters += loaded * iterations;
        facts.loadedBetweenBarriers += loaded * (synchronizes ? 1 : iterations);
        auto *call = dyn_cast<CallBase>(&i);
        facts.hasBulkLoads |= call && call->hasFnAttr(kBulkLoad);
        if (!isMatrixInstruction(i)) continue;
        facts.hasMatrixInstructions = true;
        facts.hasWarpGroupDots |= isWarpGroupDot(i);
      }
    }
    if (!part.hasCycle() || !loadedByPart) continue;
    facts.mostLoopRegisters = std::max(facts.mostLoopRegisters, loadedByPart + heldRegisters(*part, layout));
    bool isFirst = !facts.leastLoopRegisters;
    facts.leastLoopRegisters = isFirst ? loadedByPart : std::min(facts.leastLoopRegisters, loadedByPart);
  }
  return facts;
}

OccupancyPlan planOccupancy(const KernelFacts &facts, const ir::TargetInfo &t, const BackendOptions &o) {
  OccupancyPlan plan;
  plan.hasWarpGroupDots = facts.hasWarpGroupDots;
  bool userDecides = o.maxRegisters || o.numCtas > 1;
  if (userDecides) return plan;
  int admitted = t.occupancy({o.numWarps, o.dynamicSharedBytes});
  bool sharedMemoryLimits = o.dynamicSharedBytes > 0 && admitted > 0 && leavesAllRegisters(admitted, t, o);
  plan.minBlocks = sharedMemoryLimits ? admitted : requestedBlocks(facts, t, o);
  plan.waitsInLoops = !facts.hasMatrixInstructions && facts.loadedBetweenBarriers < facts.loadedRegisters;
  // Small tiles, by plain loads: none of another iteration are in flight, whatever registers there are.
  unsigned loaded = facts.loadedBetweenBarriers;
  plan.loadsLittle = facts.hasMatrixInstructions && loaded && loaded <= t.tuning.noRequestMaxLoaded;
  bool loadsFewRegisters = facts.loadedRegisters <= t.tuning.noRequestMaxLoaded;
  plan.loadsInBulk = facts.hasBulkLoads && loadsFewRegisters && !facts.hasMatrixInstructions;
  return plan;
}

void applyPlans(Module &module, const ir::TargetInfo &t, const BackendOptions &o) {
  for (Function &f : module) {
    if (!isKernel(f)) continue;
    OccupancyPlan plan = planOccupancy(collectFacts(f, t.tuning), t, o);
    if (plan.minBlocks) f.addFnAttr(kMinBlocks, itostr(plan.minBlocks));
    if (plan.hasWarpGroupDots) f.addFnAttr(kWarpGroupDots);
    if (plan.waitsInLoops) f.addFnAttr(kWaitsInLoops);
    if (plan.loadsLittle) f.addFnAttr(kLoadsLittle);
    if (plan.loadsInBulk) f.addFnAttr(kLoadsInBulk);
  }
}

OccupancyPlan planOf(const Module &module) {
  OccupancyPlan plan;
  for (const Function &f : module) {
    if (!isKernel(f)) continue;
    if (!plan.minBlocks) plan.minBlocks = int(f.getFnAttributeAsParsedInteger(kMinBlocks));
    plan.hasWarpGroupDots |= f.hasFnAttribute(kWarpGroupDots);
    plan.waitsInLoops |= f.hasFnAttribute(kWaitsInLoops);
    plan.loadsLittle |= f.hasFnAttribute(kLoadsLittle);
    plan.loadsInBulk |= f.hasFnAttribute(kLoadsInBulk);
  }
  return plan;
}

bool OccupancyPlan::requestMayCostSpills(const ir::TargetInfo &t, const BackendOptions &o) const {
  return minBlocks && !leavesAllRegisters(minBlocks, t, o);
}

} // namespace tessera::nvidia
