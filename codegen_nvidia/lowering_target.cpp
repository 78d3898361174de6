// Threads, lanes, barriers, functions on NVIDIA GPUs. What is peculiar: shuffles name their participating lanes (all
// here: the lowering never shuffles in divergent code), a predicated instruction needs no branch, device-side printf
// and assertions are functions of the driver (vprintf, __assertfail) declared by CUDA's programming guide.
#include "codegen_nvidia/lowering_target.h"
#include "codegen/address_spaces.h"
#include "codegen/lowering/hardware_values.h"
#include "codegen_nvidia/backend.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace tessera::nvidia {
using namespace llvm;
using codegen::readHardware;

std::unique_ptr<codegen::Target> makeTarget(const ir::TargetInfo &info) { return std::make_unique<NvidiaTarget>(info); }

Value *NvidiaTarget::threadId(IRBuilder<> &b) const { return readHardware(b, Intrinsic::nvvm_read_ptx_sreg_tid_x); }

Value *NvidiaTarget::programId(IRBuilder<> &b, int axis, bool ofCluster) const {
  static constexpr Intrinsic::ID kBlock[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                             Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                             Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  static constexpr Intrinsic::ID kCluster[] = {Intrinsic::nvvm_read_ptx_sreg_clusterid_x,
                                               Intrinsic::nvvm_read_ptx_sreg_clusterid_y,
                                               Intrinsic::nvvm_read_ptx_sreg_clusterid_z};
  return codegen::ofGrid(readHardware(b, ofCluster ? kCluster[axis] : kBlock[axis]), 0);
}

Value *NvidiaTarget::numPrograms(IRBuilder<> &b, int axis, bool ofCluster) const {
  static constexpr Intrinsic::ID kBlocks[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                                              Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                              Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
  static constexpr Intrinsic::ID kClusters[] = {Intrinsic::nvvm_read_ptx_sreg_nclusterid_x,
                                                Intrinsic::nvvm_read_ptx_sreg_nclusterid_y,
                                                Intrinsic::nvvm_read_ptx_sreg_nclusterid_z};
  return codegen::ofGrid(readHardware(b, ofCluster ? kClusters[axis] : kBlocks[axis]), 1);
}

Value *NvidiaTarget::blockInCluster(IRBuilder<> &b) const {
  return readHardware(b, Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank);
}

Value *NvidiaTarget::uniform(IRBuilder<> &b, Value *v) const { return v; } // ptxas finds out by itself

void NvidiaTarget::barrier(IRBuilder<> &b, bool) const {
  // bar.sync orders accesses to global memory as well.
  b.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {b.getInt32(0)});
}
void NvidiaTarget::namedBarrier(IRBuilder<> &b, Value *number, unsigned threads, bool onePlace) const {
  // Before barrier.sync, ptxas lets the lanes of a warp join again that a branch has separated. Before bar.sync
  // (.aligned) it need not. The barrier waits for all lanes then, too, but compute-sanitizer does not know such a
  // barrier if warps come to it in several places of the code: synccheck reports divergent threads, racecheck hazards
  // across it (CUDA 13.0, H200).
  auto id = onePlace ? Intrinsic::nvvm_barrier_cta_sync_aligned_count : Intrinsic::nvvm_barrier_cta_sync_count;
  b.CreateIntrinsic(id, {}, {number, b.getInt32(threads)});
}
void NvidiaTarget::arriveAtNamedBarrier(IRBuilder<> &b, Value *number, unsigned threads) const {
  b.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_arrive_aligned_count, {}, {number, b.getInt32(threads)});
}
void NvidiaTarget::setRegisters(IRBuilder<> &b, unsigned count, bool more) const {
  b.CreateIntrinsic(more ? Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32
                         : Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32,
                    {}, {b.getInt32(count)});
}
void NvidiaTarget::warpBarrier(IRBuilder<> &b) const {
  b.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {b.getInt32(-1)});
}

static Value *shuffle(IRBuilder<> &b, Intrinsic::ID id, Value *v, Value *lane, unsigned clamp) {
  return b.CreateIntrinsic(id, {}, {b.getInt32(-1), v, lane, b.getInt32(clamp)});
}
Value *NvidiaTarget::shuffleXor32(IRBuilder<> &b, Value *v, unsigned mask, unsigned) const {
  return shuffle(b, Intrinsic::nvvm_shfl_sync_bfly_i32, v, b.getInt32(mask), 31);
}
Value *NvidiaTarget::shuffleIndex32(IRBuilder<> &b, Value *v, Value *lane) const {
  return shuffle(b, Intrinsic::nvvm_shfl_sync_idx_i32, v, lane, 31);
}

/// shfl takes any lanes at one price, but the number of the lane costs instructions unless it is an operand: where its
/// upper bits are those of the reading lane (segments, by the mask in the last operand) and the others are constant.
Value *NvidiaTarget::shuffleFixed32(IRBuilder<> &b, Value *v, ArrayRef<int8_t> sources) const {
  constexpr unsigned kAll = 31, kSegmentShift = 8;
  unsigned own = kAll, ones = kAll, zeros = kAll;
  for (auto [lane, source] : enumerate(sources)) {
    if (source < 0) continue;
    own &= ~(unsigned(lane) ^ unsigned(source));
    ones &= unsigned(source);
    zeros &= ~unsigned(source);
  }
  unsigned inSegment = kAll & ~own;
  bool areSegments = !(inSegment & (inSegment + 1)), isConstant = (own | ones | zeros) == kAll;
  if (!areSegments || !isConstant) return nullptr;
  return shuffle(b, Intrinsic::nvvm_shfl_sync_idx_i32, v, b.getInt32(ones & inSegment), kAll | own << kSegmentShift);
}

Value *NvidiaTarget::combineLanes(IRBuilder<> &b, codegen::LaneCombination how, Value *v) const {
  using codegen::LaneCombination;
  if (v->getType()->isIntegerTy(1)) { // vote.sync
    auto id = how == LaneCombination::And ? Intrinsic::nvvm_vote_all_sync : Intrinsic::nvvm_vote_any_sync;
    return b.CreateIntrinsic(id, {}, {b.getInt32(-1), v});
  }
  auto id = [&] { // redux.sync, from sm_80 on
    switch (how) {
    case LaneCombination::Add: return Intrinsic::nvvm_redux_sync_add;
    case LaneCombination::MinS: return Intrinsic::nvvm_redux_sync_min;
    case LaneCombination::MaxS: return Intrinsic::nvvm_redux_sync_max;
    case LaneCombination::MinU: return Intrinsic::nvvm_redux_sync_umin;
    case LaneCombination::MaxU: return Intrinsic::nvvm_redux_sync_umax;
    case LaneCombination::And: return Intrinsic::nvvm_redux_sync_and;
    case LaneCombination::Or: return Intrinsic::nvvm_redux_sync_or;
    case LaneCombination::Xor: return Intrinsic::nvvm_redux_sync_xor;
    }
    llvm_unreachable("a combination is one of these");
  }();
  return b.CreateIntrinsic(id, {}, {v, b.getInt32(-1)});
}

void NvidiaTarget::assertFail(IRBuilder<> &b, StringRef message, StringRef file, unsigned line,
                              StringRef function) const {
  Module &m = *b.GetInsertBlock()->getModule();
  auto text = [&](StringRef s) {
    return b.CreateAddrSpaceCast(b.CreateGlobalString(s, "", codegen::kGlobalSpace), b.getPtrTy());
  };
  auto *type = FunctionType::get(b.getVoidTy(),
                                 {b.getPtrTy(), b.getPtrTy(), b.getInt32Ty(), b.getPtrTy(), b.getInt64Ty()}, false);
  auto callee = m.getOrInsertFunction("__assertfail", type);
  cast<Function>(callee.getCallee())->setDoesNotReturn();
  auto *call = b.CreateCall(callee, {text(message), text(file), b.getInt32(line), text(function), b.getInt64(1)});
  call->setDoesNotReturn();
}

bool NvidiaTarget::print(IRBuilder<> &b, StringRef format, ArrayRef<Value *> args) const {
  // vprintf takes a pointer to the arguments in local memory, each at its natural alignment.
  Module &m = *b.GetInsertBlock()->getModule();
  SmallVector<Type *, 8> types;
  for (Value *a : args) types.push_back(a->getType());
  auto *record = StructType::get(b.getContext(), types);
  BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  IRBuilder<> e(&entry, entry.begin());
  Value *storage = e.CreateAlloca(record);
  for (auto [i, a] : enumerate(args)) b.CreateStore(a, b.CreateStructGEP(record, storage, i));
  auto callee =
      m.getOrInsertFunction("vprintf", FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false));
  b.CreateCall(callee, {b.CreateAddrSpaceCast(b.CreateGlobalString(format, "", codegen::kGlobalSpace), b.getPtrTy()),
                        b.CreateAddrSpaceCast(storage, b.getPtrTy())});
  return true;
}

void NvidiaTarget::kernelAttributes(Function &f, unsigned threadsPerBlock, unsigned numCtas, unsigned maxRegisters,
                                    unsigned widestTensor) const {
  setKernelAttributes(f, threadsPerBlock, numCtas, maxRegisters);
  recordWidestTensor(f, widestTensor);
}

GlobalVariable *NvidiaTarget::sharedMemory(Module &m) const {
  return codegen::dynamicSharedMemory(m, Align(1024)); // swizzled buffers of the tensor memory accelerator need it
}

} // namespace tessera::nvidia
