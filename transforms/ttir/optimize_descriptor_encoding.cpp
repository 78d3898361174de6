// Pass triton-nvidia-optimize-descriptor-encoding: gives a kernel's descriptor arguments that TMA can serve the layout
// that their blocks have in shared memory.
//
//   tt.func @k(%d: !tt.tensordesc<tensor<64x64xf16>>)
//     →
//   tt.func @k(%d: !tt.tensordesc<tensor<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, …}>>>)
//
// A descriptor with a layout stays a descriptor: the launcher encodes a tensor map for it, the kernel takes its 128
// bytes by value, and tritongpu-pipeline and triton-nvidia-tma-lowering make bulk copies of its loads and stores. All
// other descriptors become pointers (triton-rewrite-tensor-descriptor-to-pointer).
//
// The layout follows from the shape alone: rows of up to 128 bytes, swizzled if there are eight of them. It is what
// wgmma reads, and what every other access to shared memory can read without bank conflicts.
//
// A descriptor gets a layout if the target has TMA, the block fits shared memory and is one that a tensor map can
// describe (elements of 8 to 64 bits, rows of whole 16 bytes, 1 to 5 dimensions; CUDA driver API,
// cuTensorMapEncodeTiled), and the kernel does nothing with it but load, store and reduce blocks of its own shape, or
// of this shape without leading dimensions of size 1. One that is carried by a loop, chosen by a branch, passed to a
// function or used for gathers does not.
//
// Runs: TTIR.
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/tensor_map.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr int64_t kMostSwizzledBytes = 128; // of a row
constexpr int64_t kLeastSwizzledBytes = 32;
constexpr int64_t kRowsOfSwizzle = 8;

/// The layout of the descriptor's blocks in shared memory; null if a tensor map cannot describe them.
const layouts::Encoding *layoutOfBlocks(TensorDescType desc) {
  constexpr unsigned kMostDimensions = 5;
  Type element = desc.element();
  if (desc.rank() < 1 || desc.rank() > kMostDimensions || tensorMapElementType(element) < 0) return nullptr;
  int64_t rowBytes = desc.shape().back() * element.bitWidth() / 8;
  if (rowBytes % kTensorMapAlignment) return nullptr;
  int64_t rows = desc.numElements() / desc.shape().back();
  layouts::NvmmaSharedParams p;
  p.rank = desc.rank();
  p.elementBitWidth = element.bitWidth();
  if (rows >= kRowsOfSwizzle && rowBytes >= kLeastSwizzledBytes)
    p.swizzlingByteWidth = std::min(rowBytes, kMostSwizzledBytes);
  auto layout = element.context()->encodings().getNvmmaShared(p);
  bool canBeCopied =
      layout.ok() && (*layout)->copyBox(desc.shape()).ok() && (*layout)->toLinearLayout(desc.shape()).ok();
  return canBeCopied ? *layout : nullptr;
}

/// Whether TMA can combine elements of the type with memory that way (PTX ISA, "cp.reduce.async.bulk.tensor").
bool canReduce(DescriptorReduceKind kind, Type element) {
  unsigned bits = element.bitWidth();
  bool isInteger = !element.isFloat();
  bool isSigned = isInteger && element.cast<IntegerType>().signedness() == Signedness::Signed;
  switch (kind) {
  case DescriptorReduceKind::Add:
    if (isInteger) return bits == 32 || (bits == 64 && !isSigned);
    return bits == 16 || bits == 32;
  case DescriptorReduceKind::Min:
  case DescriptorReduceKind::Max: return isInteger ? bits == 32 || bits == 64 : bits == 16;
  case DescriptorReduceKind::And:
  case DescriptorReduceKind::Or:
  case DescriptorReduceKind::Xor: return isInteger && (bits == 32 || bits == 64);
  case DescriptorReduceKind::Inc:
  case DescriptorReduceKind::Dec: return isInteger && bits == 32 && !isSigned;
  }
  return false;
}

/// Whether the operation only moves blocks of the descriptor.
bool isBulkAccess(Operation *op, Value desc) {
  auto type = desc.type().cast<TensorDescType>();
  if (auto load = op->dyn<tt::DescriptorLoadOp>())
    return hasShapeOfBlock(type, load.result().type().cast<TensorType>());
  if (auto store = op->dyn<tt::DescriptorStoreOp>())
    return hasShapeOfBlock(type, store.src().type().cast<TensorType>());
  if (auto reduce = op->dyn<tt::DescriptorReduceOp>())
    return hasShapeOfBlock(type, reduce.src().type().cast<TensorType>()) && canReduce(reduce.kind(), type.element());
  return false;
}

/// Why the argument cannot stay a descriptor; empty if it can. `layout`: of its blocks.
std::string whyNot(Value argument, const layouts::Encoding *layout, const TargetInfo &target) {
  if (argument.useEmpty()) return "nothing uses it";
  auto desc = argument.type().cast<TensorDescType>();
  // A block goes through a buffer. Pointers need none.
  if (desc.numElements() * desc.element().bitWidth() / 8 > target.sharedMemoryPerBlock)
    return "its block is larger than the shared memory of " + target.name.str();
  if (!layout)
    return "no tensor map describes its block: that takes 1 to 5 dimensions, elements of 8 to 64 bits and rows of "
           "whole "
           "16 bytes";
  for (Operation *user : argument.users())
    if (!isBulkAccess(user, argument))
      return "'" + user->name().str() + "' at " + describe(user->loc()) + " does not move whole blocks by TMA";
  return "";
}

} // namespace

absl::StatusOr<bool> optimizeDescriptorEncoding(Module &m, PassContext &c) {
  if (!c.target || !c.target->hasTensorCopy || hasLayouts(m.op())) return false;
  bool changed = false;
  for (auto &op : *m.body()) {
    auto func = op.dyn<tt::FuncOp>();
    if (!func || func.symVisibility() == "private" || func.body().empty()) continue;
    auto type = func.functionType().cast<FunctionType>();
    llvm::SmallVector<Type, 16> inputs, results;
    for (unsigned i = 0; i < type.numResults(); ++i) results.push_back(type.result(i));
    for (unsigned i = 0; i < type.numInputs(); ++i) {
      inputs.push_back(type.input(i));
      auto desc = type.input(i).dyn_cast<TensorDescType>();
      if (!desc || desc.encoding()) continue;
      Value argument = func.body().front()->arg(i);
      auto *layout = layoutOfBlocks(desc);
      if (std::string reason = whyNot(argument, layout, *c.target); !reason.empty()) {
        c.remark({Remark::Missed,
                  "",
                  "TensorMapArgument",
                  argument.loc(),
                  "the descriptor becomes pointers and masks: " + reason,
                  {}});
        continue;
      }
      c.remark({Remark::Applied,
                "",
                "TensorMapArgument",
                argument.loc(),
                "the descriptor is a tensor map: its blocks are copied by TMA",
                {}});
      inputs.back() = TensorDescType::get(desc.shape(), desc.element(), layout);
      argument.setType(inputs.back());
      changed = true;
    }
    op.setAttr("function_type", TypeAttr::get(FunctionType::get(m.context(), inputs, results)));
  }
  return changed;
}

} // namespace tessera::transforms
