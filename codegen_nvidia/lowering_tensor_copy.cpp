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
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/lowering_target.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::nvidia {
using namespace llvm;
using codegen::TensorCopy;
using codegen::TensorMap;

namespace {

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
  InlinePtx set(b);
  std::string guard = "@" + set.operand(leader) + " ", at = "[" + set.operand(shared) + "]", text;
  auto field = [&](StringRef name, unsigned bits, const std::string &operands) {
    text += guard + "tensormap.replace.tile." + name.str() + ".shared::cta.b1024.b" + std::to_string(bits) + " " + at +
            ", " + operands + ";\n";
  };
  // Assemblers before CUDA 12.5, which are those that do not know PTX 8.5, take strides in other units: they must
  // refuse the text.
  constexpr int kWithByteStrides = 85;
  requirePtx(*b.GetInsertBlock()->getParent(), kWithByteStrides);
  unsigned rank = t.size.size();
  field("global_address", 64, set.operand(t.address));
  field("rank", 32, std::to_string(rank - 1));
  for (auto [i, v] : enumerate(t.box)) field("box_dim", 32, std::to_string(i) + ", " + set.operand(v));
  for (auto [i, v] : enumerate(t.size)) field("global_dim", 32, std::to_string(i) + ", " + set.operand(v));
  for (auto [i, v] : enumerate(t.stride)) field("global_stride", 64, std::to_string(i) + ", " + set.operand(v));
  for (auto [i, v] : enumerate(t.elementStride)) field("element_stride", 32, std::to_string(i) + ", " + set.operand(v));
  field("elemtype", 32, std::to_string(t.elementType));
  field("interleave_layout", 32, std::to_string(t.interleave));
  field("swizzle_mode", 32, std::to_string(t.swizzle));
  field("fill_mode", 32, std::to_string(t.fill));
  set.emitConvergent(text);
  warpBarrier(b);
  InlinePtx publish(b);
  std::string to = "[" + publish.operand(t.map) + "]", from = "[" + publish.operand(shared) + "]";
  publish.emitConvergent("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned " +
                         to + ", " + from + ", " + std::to_string(kMapBytes) + ";");
}

void NvidiaTarget::acquireTensorMap(IRBuilder<> &b, Value *map) const {
  InlinePtx fence(b);
  std::string at = "[" + fence.operand(map) + "]";
  fence.emitConvergent("fence.proxy.tensormap::generic.acquire.gpu " + at + ", " + std::to_string(kMapBytes) + ";");
}

void NvidiaTarget::tensorMapArgument(Argument &a) const {
  // A CUtensorMap (CUDA Driver API, "Tensor Map Object Management") by value, which nobody writes.
  LLVMContext &c = a.getContext();
  a.addAttr(Attribute::getWithByValType(c, ArrayType::get(Type::getInt8Ty(c), kMapBytes)));
  a.addAttr(Attribute::getWithAlignment(c, Align(64)));
  a.addAttr(Attribute::get(c, "nvvm.grid_constant"));
}

void NvidiaTarget::copyTensor(IRBuilder<> &b, const TensorCopy &c, Value *predicate) const {
  InlinePtx copy(b);
  std::string guard = "@" + copy.operand(predicate) + " ", shared = "[" + copy.operand(c.shared) + "]",
              tensor = "[" + copy.operand(c.map) + ", {";
  for (auto [i, x] : enumerate(c.coordinates)) tensor += (i ? ", " : "") + copy.operand(x);
  tensor += "}]";
  std::string dims = std::to_string(c.coordinates.size()) + "d";
  switch (c.kind) {
  case TensorCopy::ToShared: {
    std::string barrier = "[" + copy.operand(c.barrier) + "]";
    recordBulkLoad(*copy.emitConvergent(guard + "cp.async.bulk.tensor." + dims +
                                        ".shared::cluster.global.mbarrier::complete_tx::bytes " + shared + ", " +
                                        tensor + ", " + barrier + ";"));
    break;
  }
  case TensorCopy::ToGlobal:
    copy.emitConvergent(guard + "cp.async.bulk.tensor." + dims + ".global.shared::cta.bulk_group " + tensor + ", " +
                        shared + ";");
    break;
  case TensorCopy::Reduce:
    copy.emitConvergent(guard + "cp.reduce.async.bulk.tensor." + dims + ".global.shared::cta." +
                        reductionName(c.reduction) + ".bulk_group " + tensor + ", " + shared + ";");
    break;
  }
}

void NvidiaTarget::commitTensorCopies(IRBuilder<> &b) const {
  InlinePtx(b).emitConvergent("cp.async.bulk.commit_group;");
}
void NvidiaTarget::waitForTensorCopies(IRBuilder<> &b, unsigned pending, bool readsOnly) const {
  InlinePtx(b).emitConvergent("cp.async.bulk.wait_group" + std::string(readsOnly ? ".read " : " ") +
                              std::to_string(pending) + ";");
}

void NvidiaTarget::initBarrier(IRBuilder<> &b, Value *barrier, unsigned count, Value *predicate) const {
  InlinePtx init(b);
  std::string guard = "@" + init.operand(predicate) + " ", at = "[" + init.operand(barrier) + "]";
  // The unit that copies completes phases by the asynchronous proxy.
  init.emitConvergent(guard + "mbarrier.init.shared::cta.b64 " + at + ", " + std::to_string(count) +
                      ";\nfence.proxy.async.shared::cta;");
}
void NvidiaTarget::invalidateBarrier(IRBuilder<> &b, Value *barrier, Value *predicate) const {
  InlinePtx invalidate(b);
  std::string guard = "@" + invalidate.operand(predicate) + " ";
  invalidate.emitConvergent(guard + "mbarrier.inval.shared::cta.b64 [" + invalidate.operand(barrier) + "];");
}
void NvidiaTarget::arriveAtBarrier(IRBuilder<> &b, Value *barrier, unsigned count, int64_t bytes,
                                   Value *predicate) const {
  InlinePtx arrive(b);
  std::string guard = "@" + arrive.operand(predicate) + " ", at = "[" + arrive.operand(barrier) + "]";
  if (bytes)
    arrive.emitConvergent(guard + "mbarrier.arrive.expect_tx.shared::cta.b64 _, " + at + ", " + std::to_string(bytes) +
                          ";");
  else
    arrive.emitConvergent(guard + "mbarrier.arrive.shared::cta.b64 _, " + at + ", " + std::to_string(count) + ";");
}
Value *NvidiaTarget::testBarrier(IRBuilder<> &b, Value *barrier, Value *parity) const {
  InlinePtx test(b);
  test.addResults(b.getInt32Ty(), 1);
  std::string at = "[" + test.operand(barrier) + "]", phase = test.operand(parity);
  auto *call = test.emitConvergent("{\n.reg .pred complete;\nmbarrier.try_wait.parity.shared::cta.b64 complete, " + at +
                                   ", " + phase + ";\nselp.b32 $0, 1, 0, complete;\n}");
  return b.CreateICmpNE(call, b.getInt32(0));
}

} // namespace tessera::nvidia
