// Bulk copies of tensors and barriers in shared memory: the tensor memory accelerator. What is peculiar: the copies
// are made by a unit that reads the tensor's description (a tensor map, 128 bytes of no public format) from global
// memory by a proxy of its own, so that one made on the device is written field by field in shared memory, copied by
// an instruction that releases it to that proxy, and acquired before it is used:
//
//   tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [shared], 0, size;                (per field)
//   tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [map], [shared], 128;
//   fence.proxy.tensormap::generic.acquire.gpu [map], 128;
//   @leader cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map, {x, y}], [barrier];
//
// Strides are given in bytes, as assemblers of CUDA 12.5 and later take them (older ones take 16th parts): the text
// of such kernels says `.version 8.5` at least (backend.cpp).
//
// Source: PTX ISA, "Data Movement and Conversion Instructions: tensormap.replace, tensormap.cp_fenceproxy,
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.commit_group, cp.async.bulk.wait_group", "Parallel
// Synchronization and Communication Instructions: mbarrier, elect.sync, fence.proxy.tensormap", "Tensors:
// Tensor-map".
#include "codegen_nvidia/backend.h"
#include "codegen_nvidia/lowering_target.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::nvidia {
using namespace llvm;
using codegen::TensorCopy;
using codegen::TensorMap;

namespace {

/// A piece of inline PTX under construction: its text names operands as they are added.
class Assembly {
public:
  explicit Assembly(IRBuilder<> &b) : b_(b) {}
  /// $n of a new operand; shared addresses have 32 bits.
  std::string operator()(Value *v) {
    if (v->getType()->isPointerTy() && v->getType()->getPointerAddressSpace() == 3)
      v = b_.CreatePtrToInt(v, b_.getInt32Ty());
    args_.push_back(v);
    types_.push_back(v->getType());
    constraints_ += (constraints_.empty() ? "" : ",") + std::string(v->getType()->isIntegerTy(1)    ? "b"
                                                                    : v->getType()->isIntegerTy(32) ? "r"
                                                                                                    : "l");
    return "$" + std::to_string(next_++);
  }
  void emit(StringRef text) {
    auto *type = FunctionType::get(b_.getVoidTy(), types_, false);
    b_.CreateCall(
          type, InlineAsm::get(type, text, constraints_ + (constraints_.empty() ? "" : ",") + "~{memory}", true), args_)
        ->setConvergent();
  }

private:
  IRBuilder<> &b_;
  SmallVector<Value *, 16> args_;
  SmallVector<Type *, 16> types_;
  std::string constraints_;
  unsigned next_ = 0;
};

constexpr unsigned kMapBytes = 128;

const char *reductionName(ir::DescriptorReduceKind k) {
  using ir::DescriptorReduceKind;
  switch (k) {
  case DescriptorReduceKind::Add: return "add";
  case DescriptorReduceKind::Min: return "min";
  case DescriptorReduceKind::Max: return "max";
  case DescriptorReduceKind::Inc: return "inc";
  case DescriptorReduceKind::Dec: return "dec";
  case DescriptorReduceKind::And: return "and";
  case DescriptorReduceKind::Or: return "or";
  case DescriptorReduceKind::Xor: return "xor";
  }
  llvm_unreachable("a kind of reduction");
}

} // namespace

Value *NvidiaTarget::electThread(IRBuilder<> &b) const {
  return b.CreateExtractValue(b.CreateIntrinsic(Intrinsic::nvvm_elect_sync, {}, {b.getInt32(-1)}), 1);
}

void NvidiaTarget::makeTensorMap(IRBuilder<> &b, const TensorMap &t, Value *shared, Value *lane, Value *leader) const {
  // Fields that are never set are zero.
  b.CreateAlignedStore(b.getInt32(0), b.CreateGEP(b.getInt32Ty(), shared, lane), Align(4));
  warpBarrier(b);
  Assembly set(b);
  std::string guard = "@" + set(leader) + " ", at = "[" + set(shared) + "]", text;
  auto field = [&](StringRef name, unsigned bits, const std::string &operands) {
    text += guard + "tensormap.replace.tile." + name.str() + ".shared::cta.b1024.b" + std::to_string(bits) + " " + at +
            ", " + operands + ";\n";
  };
  // Assemblers before CUDA 12.5, which are those that do not know PTX 8.5, take strides in other units: they must
  // refuse the text.
  constexpr int kWithByteStrides = 85;
  requirePtx(*b.GetInsertBlock()->getParent(), kWithByteStrides);
  unsigned rank = t.size.size();
  field("global_address", 64, set(t.address));
  field("rank", 32, std::to_string(rank - 1));
  for (auto [i, v] : enumerate(t.box)) field("box_dim", 32, std::to_string(i) + ", " + set(v));
  for (auto [i, v] : enumerate(t.size)) field("global_dim", 32, std::to_string(i) + ", " + set(v));
  for (auto [i, v] : enumerate(t.stride)) field("global_stride", 64, std::to_string(i) + ", " + set(v));
  for (auto [i, v] : enumerate(t.elementStride)) field("element_stride", 32, std::to_string(i) + ", " + set(v));
  field("elemtype", 32, std::to_string(t.elementType));
  field("interleave_layout", 32, std::to_string(t.interleave));
  field("swizzle_mode", 32, std::to_string(t.swizzle));
  field("fill_mode", 32, std::to_string(t.fill));
  set.emit(text);
  warpBarrier(b);
  Assembly publish(b);
  std::string to = "[" + publish(t.map) + "]", from = "[" + publish(shared) + "]";
  publish.emit("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned " + to + ", " +
               from + ", " + std::to_string(kMapBytes) + ";");
}

void NvidiaTarget::acquireTensorMap(IRBuilder<> &b, Value *map) const {
  Assembly fence(b);
  std::string at = "[" + fence(map) + "]";
  fence.emit("fence.proxy.tensormap::generic.acquire.gpu " + at + ", " + std::to_string(kMapBytes) + ";");
}

void NvidiaTarget::tensorMapArgument(Argument &a) const {
  // A CUtensorMap (CUDA Driver API, "Tensor Map Object Management") by value, which nobody writes.
  LLVMContext &c = a.getContext();
  a.addAttr(Attribute::getWithByValType(c, ArrayType::get(Type::getInt8Ty(c), kMapBytes)));
  a.addAttr(Attribute::getWithAlignment(c, Align(64)));
  a.addAttr(Attribute::get(c, "nvvm.grid_constant"));
}

void NvidiaTarget::copyTensor(IRBuilder<> &b, const TensorCopy &c, Value *predicate) const {
  Assembly copy(b);
  std::string guard = "@" + copy(predicate) + " ", shared = "[" + copy(c.shared) + "]",
              tensor = "[" + copy(c.map) + ", {";
  for (auto [i, x] : enumerate(c.coordinates)) tensor += (i ? ", " : "") + copy(x);
  tensor += "}]";
  std::string dims = std::to_string(c.coordinates.size()) + "d";
  switch (c.kind) {
  case TensorCopy::ToShared: {
    std::string barrier = "[" + copy(c.barrier) + "]";
    return copy.emit(guard + "cp.async.bulk.tensor." + dims + ".shared::cluster.global.mbarrier::complete_tx::bytes " +
                     shared + ", " + tensor + ", " + barrier + ";");
  }
  case TensorCopy::ToGlobal:
    return copy.emit(guard + "cp.async.bulk.tensor." + dims + ".global.shared::cta.bulk_group " + tensor + ", " +
                     shared + ";");
  case TensorCopy::Reduce:
    return copy.emit(guard + "cp.reduce.async.bulk.tensor." + dims + ".global.shared::cta." +
                     reductionName(c.reduction) + ".bulk_group " + tensor + ", " + shared + ";");
  }
}

void NvidiaTarget::commitTensorCopies(IRBuilder<> &b) const { Assembly(b).emit("cp.async.bulk.commit_group;"); }
void NvidiaTarget::waitForTensorCopies(IRBuilder<> &b, unsigned pending, bool readsOnly) const {
  Assembly(b).emit("cp.async.bulk.wait_group" + std::string(readsOnly ? ".read " : " ") + std::to_string(pending) +
                   ";");
}

void NvidiaTarget::initBarrier(IRBuilder<> &b, Value *barrier, unsigned count, Value *predicate) const {
  Assembly init(b);
  std::string guard = "@" + init(predicate) + " ", at = "[" + init(barrier) + "]";
  // The unit that copies completes phases by the asynchronous proxy.
  init.emit(guard + "mbarrier.init.shared::cta.b64 " + at + ", " + std::to_string(count) +
            ";\nfence.proxy.async.shared::cta;");
}
void NvidiaTarget::invalidateBarrier(IRBuilder<> &b, Value *barrier, Value *predicate) const {
  Assembly invalidate(b);
  std::string guard = "@" + invalidate(predicate) + " ";
  invalidate.emit(guard + "mbarrier.inval.shared::cta.b64 [" + invalidate(barrier) + "];");
}
void NvidiaTarget::arriveAtBarrier(IRBuilder<> &b, Value *barrier, unsigned count, int64_t bytes,
                                   Value *predicate) const {
  Assembly arrive(b);
  std::string guard = "@" + arrive(predicate) + " ", at = "[" + arrive(barrier) + "]";
  if (bytes)
    arrive.emit(guard + "mbarrier.arrive.expect_tx.shared::cta.b64 _, " + at + ", " + std::to_string(bytes) + ";");
  else
    arrive.emit(guard + "mbarrier.arrive.shared::cta.b64 _, " + at + ", " + std::to_string(count) + ";");
}
Value *NvidiaTarget::testBarrier(IRBuilder<> &b, Value *barrier, Value *parity) const {
  auto *type = FunctionType::get(b.getInt32Ty(), {b.getInt32Ty(), b.getInt32Ty()}, false);
  StringRef text = "{\n.reg .pred complete;\nmbarrier.try_wait.parity.shared::cta.b64 complete, [$1], $2;\nselp.b32 "
                   "$0, 1, 0, complete;\n}";
  auto *call = b.CreateCall(type, InlineAsm::get(type, text, "=r,r,r,~{memory}", true),
                            {b.CreatePtrToInt(barrier, b.getInt32Ty()), parity});
  call->setConvergent();
  return b.CreateICmpNE(call, b.getInt32(0));
}

} // namespace tessera::nvidia
