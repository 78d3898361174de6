// Threads, barriers, functions on AMD GPUs (lanes: lowering_lanes.cpp). A barrier orders what the fences around it
// name: shared memory alone unless global memory is requested.
#include "codegen_amd/lowering_target.h"
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "codegen/lowering/hardware_values.h"
#include "codegen/object/backend.h"
#include "codegen_amd/backend.h"
#include "codegen_amd/passes/copies_to_lds.h"
#include "codegen_amd/passes/merge_branches.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

namespace tessera::amd {
using namespace llvm;
using codegen::readHardware;

std::unique_ptr<codegen::Target> makeTarget(const ir::TargetInfo &info) { return std::make_unique<AmdTarget>(info); }

Value *AmdTarget::threadId(IRBuilder<> &b) const { return readHardware(b, Intrinsic::amdgcn_workitem_id_x); }

Value *AmdTarget::programId(IRBuilder<> &b, int axis, bool) const {
  static constexpr Intrinsic::ID kIds[] = {Intrinsic::amdgcn_workgroup_id_x, Intrinsic::amdgcn_workgroup_id_y,
                                           Intrinsic::amdgcn_workgroup_id_z};
  return codegen::ofGrid(readHardware(b, kIds[axis]), 0);
}

Value *AmdTarget::numPrograms(IRBuilder<> &b, int axis, bool) const {
  // Code object version 5: hidden_block_count_x, y, z are the first three words of the implicit arguments.
  Value *p = b.CreateConstInBoundsGEP1_32(b.getInt8Ty(), readHardware(b, Intrinsic::amdgcn_implicitarg_ptr), 4 * axis);
  auto *load = b.CreateAlignedLoad(b.getInt32Ty(), p, Align(4));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(b.getContext(), {}));
  return codegen::ofGrid(load, 1);
}

Value *AmdTarget::blockInCluster(IRBuilder<> &b) const { return b.getInt32(0); }

Value *AmdTarget::uniform(IRBuilder<> &b, Value *v) const {
  return b.CreateIntrinsic(Intrinsic::amdgcn_readfirstlane, {v->getType()}, {v});
}

void AmdTarget::barrier(IRBuilder<> &b, bool global) const {
  LLVMContext &c = b.getContext();
  auto scope = c.getOrInsertSyncScopeID(blockScope());
  auto fence = [&](AtomicOrdering order) {
    FenceInst *f = b.CreateFence(order, scope);
    if (!global) // what is in flight to global memory need not be waited for
      f->setMetadata(LLVMContext::MD_mmra,
                     MDTuple::get(c, {MDString::get(c, "amdgpu-synchronize-as"), MDString::get(c, "local")}));
  };
  fence(AtomicOrdering::Release);
  b.CreateIntrinsic(Intrinsic::amdgcn_s_barrier, {}, ArrayRef<Value *>());
  fence(AtomicOrdering::Acquire);
}

void AmdTarget::warpBarrier(IRBuilder<> &b) const {
  b.CreateIntrinsic(Intrinsic::amdgcn_wave_barrier, {}, ArrayRef<Value *>());
}

void AmdTarget::scheduleBarrier(IRBuilder<> &b, unsigned mask) const {
  b.CreateIntrinsic(Intrinsic::amdgcn_sched_barrier, {}, {b.getInt32(mask)});
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

/// v_max3, v_min3 and v_add3. On values of 16 bits two are combined at a time instead (v_pk_max_f16).
bool AmdTarget::combinesThree(ir::Opcode op, ir::Type type) const {
  using ir::Opcode;
  switch (op) {
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf: return type.isF32();
  case Opcode::arith_maxsi:
  case Opcode::arith_minsi:
  case Opcode::arith_maxui:
  case Opcode::arith_minui:
  case Opcode::arith_addi: return type.isInteger(32);
  default: return false;
  }
}

// ---- functions -----------------------------------------------------------------------------------------------------

/// A function that traps. On gfx11, where a trap is a sequence with a loop, LLVM 22 leaves instructions of the blocks
/// that follow it in a function unexpanded (FinalizeISel continues after the loop, at the function's end) and cannot
/// write them.
static Function *trapFunction(Module &m) {
  constexpr StringRef kName = "tessera.trap";
  if (Function *f = m.getFunction(kName)) return f;
  auto *f = Function::Create(FunctionType::get(Type::getVoidTy(m.getContext()), false), GlobalValue::InternalLinkage,
                             kName, m);
  f->addFnAttr(Attribute::NoInline);
  f->addFnAttr(Attribute::Cold);
  IRBuilder<> b(BasicBlock::Create(m.getContext(), "entry", f));
  b.CreateIntrinsic(Intrinsic::trap, {}, ArrayRef<Value *>());
  b.CreateRetVoid();
  return f;
}

void AmdTarget::assertFail(IRBuilder<> &b, StringRef message, StringRef file, unsigned line, StringRef function) const {
  std::string format = (file + ":" + Twine(line) + ": " + function + ": Assertion `" + message + "` failed.\n").str(),
              text;
  for (char c : format) text += c == '%' ? std::string("%%") : std::string(1, c);
  print(b, text, {});
  b.CreateCall(trapFunction(*b.GetInsertBlock()->getModule()));
}

/// printf by ockl's host calls: a message is begun, the format appended, then the arguments, seven at a time, as 64-bit
/// words. HIP's runtime starts the service when a kernel's metadata names the host-call buffer, which LLVM takes care
/// of. Source: ROCm-Device-Libs, ockl/inc/ockl.h (__ockl_printf_*).
bool AmdTarget::print(IRBuilder<> &b, StringRef format, ArrayRef<Value *> args) const {
  Module &m = *b.GetInsertBlock()->getModule();
  Type *i64 = b.getInt64Ty();
  auto call = [&](StringRef name, ArrayRef<Value *> operands) {
    SmallVector<Type *, 10> types;
    for (Value *v : operands) types.push_back(v->getType());
    return b.CreateCall(m.getOrInsertFunction(name, FunctionType::get(i64, types, false)), operands);
  };
  Value *message = call("__ockl_printf_begin", {b.getInt64(0)});
  Value *text = b.CreateAddrSpaceCast(b.CreateGlobalString(format, "", codegen::kConstantSpace), b.getPtrTy());
  message =
      call("__ockl_printf_append_string_n", {message, text, b.getInt64(format.size() + 1), b.getInt32(args.empty())});
  for (size_t at = 0; at < args.size(); at += 7) {
    auto some = args.slice(at, std::min<size_t>(7, args.size() - at));
    SmallVector<Value *, 10> operands{message, b.getInt32(some.size())};
    for (Value *v : some) {
      if (v->getType()->isPointerTy())
        v = b.CreatePtrToInt(v, i64);
      else if (v->getType()->isDoubleTy())
        v = b.CreateBitCast(v, i64);
      else
        v = b.CreateZExt(v, i64);
      operands.push_back(v);
    }
    operands.resize(9, b.getInt64(0));
    operands.push_back(b.getInt32(at + 7 >= args.size()));
    message = call("__ockl_printf_append_args", operands);
  }
  return true;
}

void AmdTarget::kernelAttributes(Function &f, unsigned threadsPerBlock, unsigned, unsigned maxRegisters,
                                 unsigned widestTensor) const {
  setKernelAttributes(f, threadsPerBlock, maxRegisters);
  if (widestTensor > unsigned(info().maxRegistersPerThread)) f.addFnAttr(codegen::kSpillsAnyway);
}

void AmdTarget::finish(Function &f) const {
  mergeBranches(f, info().tuning);
  orderCopiesToLds(f);
}

GlobalVariable *AmdTarget::sharedMemory(Module &m) const {
  return codegen::dynamicSharedMemory(m, Align(16)); // of the widest access
}

} // namespace tessera::amd
