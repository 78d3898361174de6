// Pass triton-nvidia-optimize-descriptor-encoding: gives the descriptors of a kernel that TMA can serve the layout that
// their blocks have in shared memory.
//
//   tt.func @k(%d: !tt.tensordesc<tensor<64x64xf16>>)
//     →
//   tt.func @k(%d: !tt.tensordesc<tensor<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, …}>>>)
//
// A descriptor with a layout stays a descriptor, and tritongpu-pipeline and triton-nvidia-tma-lowering make bulk copies
// of its loads and stores. For an argument the launcher encodes a tensor map, of which the kernel takes the 128 bytes
// by value. For a tt.make_tensor_descriptor the kernel makes one in scratch memory (triton-nvidia-tma-lowering). All
// other descriptors become pointers (triton-rewrite-tensor-descriptor-to-pointer).
//
// The layout follows from the shape alone: rows of up to 128 bytes, swizzled if there are eight of them. It is what
// wgmma reads, and what every other access to shared memory can read without bank conflicts.
//
// A descriptor gets a layout if the target has TMA, the block fits shared memory and is one that a tensor map can
// describe (elements of 8 to 64 bits, rows of whole 16 bytes, 1 to 5 dimensions; CUDA driver API,
// cuTensorMapEncodeTiled), and the kernel does nothing with it but load, store and reduce blocks of its own shape, or
// of this shape without leading dimensions of size 1. One that is carried by a loop, chosen by a branch, passed to a
// function or used for gathers does not. Blocks that are stored or reduced must be known to begin at multiples of 16
// bytes in their rows: the PTX ISA says nothing of others, and on an H200 copies whose stores began at odd elements
// failed.
//
// A descriptor that the kernel makes also needs rows without gaps (innermost stride 1) and a padding that a tensor map
// has: zero, or NaN of floats of 16 bits and more. Making a map takes about a microsecond, and scratch memory, which
// some launchers refuse. So at least one map of the kernel must serve many copies: one from which a dot's loop loads
// that is nested in another loop, with the descriptor made outside of both. Then it stays, and so does every other one
// that is used in a loop outside of which it is made.
//
// TMA accesses memory by a proxy of its own (PTX ISA, "Async proxy"): neither barriers nor atomic operations order its
// copies with ordinary accesses, as they order accesses through the pointers that the descriptor would become. So a
// descriptor that the kernel makes does not stay in a kernel with calls, atomic operations that order memory or
// assembly with effects; nor where an ordinary access through the same argument reads what is stored through it, or
// writes what is accessed through it (in a kernel with barriers: through any pointer that may reach it). Nor does an
// argument through which a kernel with such operations both loads and stores.
//
// Blocks of such descriptors are loaded and stored in the shape in which the kernel uses them, if their layout is the
// same in that shape. So a dot reads the buffer of a block with more dimensions than two:
//
//   %v = tt.descriptor_load %d[…] : … -> tensor<1x8x16x64xf16>
//   %w = tt.reshape %v : … -> tensor<128x64xf16>   →   %w = tt.descriptor_load %d[…] : … -> tensor<128x64xf16>
//
// A tensor map has at least one element along each dimension. A descriptor may have none: then its copies begin
// outside of every tensor, where loads are padded and stores write nothing:
//
//   %d = tt.make_tensor_descriptor %p, [%m, %n], …     %empty = arith.cmpi slt, %m, 1     (and %n likewise)
//   tt.descriptor_load %d[%i, %j]                  →   %i1 = arith.select %empty, 2^30, %i
//                                                      tt.descriptor_load %d[%i1, %j1]
//
// Runs: TTIR.
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/descriptor_blocks.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/tensor_map.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// The layout of the descriptor's blocks in shared memory; null if a tensor map cannot describe them.
const layouts::Encoding *layoutOfBlocks(TensorDescType desc) {
  constexpr unsigned kMaxDimensions = 5;
  Type element = desc.element();
  if (desc.rank() < 1 || desc.rank() > kMaxDimensions || tensorMapElementType(element) < 0) return nullptr;
  int64_t rowBytes = desc.shape().back() * element.bitWidth() / 8;
  if (rowBytes % kTensorMapAlignment) return nullptr;
  int64_t rows = desc.numElements() / desc.shape().back();
  layouts::NvmmaSharedParams p;
  p.rank = desc.rank();
  p.elementBitWidth = element.bitWidth();
  if (rows >= layouts::kSwizzleRows && rowBytes >= layouts::kMinSwizzleBytes)
    p.swizzlingByteWidth = std::min(rowBytes, layouts::kMaxSwizzleBytes);
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

/// Why the operation, which uses the descriptor, is no copy of a whole block by TMA; empty if it is one.
std::string whyNoBulkAccess(Operation *op, Value desc, const AxisInfoAnalysis &axis) {
  auto type = desc.type().cast<TensorDescType>();
  auto hasShape = [&](Value data) { return hasShapeOfBlock(type, data.type().cast<TensorType>()); };
  auto startsAligned = [&](OperandRange indices) {
    int64_t elements = axis.get(indices[indices.size() - 1]).divisibility[0];
    return elements >= kTensorMapAlignment || elements * (type.element().bitWidth() / 8) >= kTensorMapAlignment;
  };
  constexpr const char *kOtherShape = "moves data of another shape than the block's";
  constexpr const char *kMisaligned =
      "writes blocks that are not known to begin at multiples of 16 bytes in their rows";
  if (auto load = op->dyn<tt::DescriptorLoadOp>()) return hasShape(load.result()) ? "" : kOtherShape;
  if (auto store = op->dyn<tt::DescriptorStoreOp>()) {
    if (!hasShape(store.src())) return kOtherShape;
    return startsAligned(store.indices()) ? "" : kMisaligned;
  }
  if (auto reduce = op->dyn<tt::DescriptorReduceOp>()) {
    if (!hasShape(reduce.src())) return kOtherShape;
    if (!canReduce(reduce.kind(), type.element()))
      return "reduces elements of " + type.element().str() + ", as TMA cannot";
    return startsAligned(reduce.indices()) ? "" : kMisaligned;
  }
  return "uses the descriptor for something else than loading, storing or reducing a block";
}

/// Why the descriptor cannot stay one; empty if it can. `layout`: of its blocks.
std::string whyNot(Value desc, const layouts::Encoding *layout, const TargetInfo &target,
                   const AxisInfoAnalysis &axis) {
  if (desc.useEmpty()) return "nothing uses it";
  auto type = desc.type().cast<TensorDescType>();
  // A block goes through a buffer. Pointers need none.
  if (totalBytes(type) > target.sharedMemoryPerBlock)
    return "its block is larger than the shared memory of " + target.name.str();
  if (!layout)
    return "no tensor map describes its block: that takes 1 to 5 dimensions, elements of 8 to 64 bits and rows of "
           "whole 16 bytes";
  for (Operation *user : desc.users())
    if (std::string reason = whyNoBulkAccess(user, desc, axis); !reason.empty())
      return "'" + user->name().str() + "' at " + describe(user->loc()) + " " + reason;
  return "";
}

// ---- descriptors that the kernel makes ----

/// The number of loops around an operation that the other one, which dominates it, is not in.
unsigned loopsBetween(Operation *outer, Operation *inner) {
  unsigned n = 0;
  for (Operation *p = inner->parentOp(); p && p != outer->parentOp(); p = p->parentOp()) n += isLoop(p);
  return n;
}

/// Why TMA cannot serve a descriptor that the kernel makes; empty if it can.
std::string whyNotMade(tt::MakeTensorDescriptorOp make, const layouts::Encoding *layout, const TargetInfo &target,
                       const AxisInfoAnalysis &axis) {
  if (std::string reason = whyNot(make.result(), layout, target, axis); !reason.empty()) return reason;
  auto innermost = intConstantOf(make.strides()[make.strides().size() - 1]);
  if (!innermost || *innermost != 1) return "its innermost stride is not known to be 1";
  Type element = make.result().type().cast<TensorDescType>().element();
  for (unsigned d = 0; d + 1 < make.strides().size(); ++d) {
    auto stride = intConstantOf(make.strides()[d]);
    if (stride && *stride * (element.bitWidth() / 8) % kTensorMapAlignment)
      return "a stride is not a multiple of 16 bytes";
  }
  bool canBeNan = element.isFloat() && element.bitWidth() >= 16;
  if (make.padding() == PaddingOption::Nan && !canBeNan) return "no tensor map pads its elements with NaN";
  for (Value size : make.shape())
    if (!size.type().isInteger(32)) return "its sizes are no i32";
  return "";
}

/// Ordinary accesses of a kernel to global memory, and what orders them. `candidates`: descriptors that it makes whose
/// accesses would be TMA's.
class OrdinaryAccesses {
public:
  OrdinaryAccesses(tt::FuncOp func, const llvm::DenseSet<Value> &candidates) {
    func->walk([&](Operation *op) {
      uint8_t effects = op->numRegions() ? 0 : effectsOf(op);
      bool reports = op->is<tt::PrintOp>() || op->is<tt::AssertOp>();
      if (!(effects & (kReadsGlobal | kWritesGlobal | kSynchronizes)) || reports) return;
      Value desc = descriptorOf(op);
      if (desc && (desc.type().cast<TensorDescType>().encoding() || candidates.contains(desc))) return;
      if (op->is<gpu::BarrierOp>() || op->is<ttg::BarrierOp>())
        hasBarriers_ = true;
      else if (Value pointer = desc ? desc : pointerOf(op))
        accesses_.push_back({op, pointer, bool(effects & kWritesGlobal)});
      else if (!ordersAll_)
        ordersAll_ = op;
    });
  }

  /// The same for a descriptor that is an argument: other blocks may load what this one stored through it, when atomic
  /// operations say so. (Its bulk stores are waited for, bulk_store_order.cpp.)
  std::string whyNot(Value argument) const {
    auto loads = [](Operation *user) { return user->is<tt::DescriptorLoadOp>(); };
    bool isLoadedAndStored = llvm::any_of(argument.users(), loads) && !llvm::all_of(argument.users(), loads);
    return ordersAll_ && isLoadedAndStored ? say(ordersAll_, " may order its accesses, but not TMA's") : std::string();
  }

  /// Why their order keeps a descriptor that the kernel makes from TMA; empty if it does not.
  std::string whyNot(tt::MakeTensorDescriptorOp make) const {
    if (ordersAll_) return say(ordersAll_, " may order accesses, but not TMA's");
    bool isStoredThrough =
        llvm::any_of(make.result().users(), [](Operation *u) { return !u->is<tt::DescriptorLoadOp>(); });
    for (auto &a : accesses_) {
      Value argument = memoryArgument(a.pointer);
      bool isSame = argument && argument == memoryArgument(make.base());
      bool mayBeSame = isSame || (hasBarriers_ && !reachDifferentMemory(a.pointer, make.base()));
      if (mayBeSame && (a.writes || isStoredThrough))
        return say(a.op, " may reach its memory, and nothing orders that with TMA's copies");
    }
    return "";
  }

private:
  struct Access {
    Operation *op;
    Value pointer;
    bool writes;
  };
  static std::string say(Operation *op, const char *what) {
    return "'" + op->name().str() + "' at " + describe(op->loc()) + what;
  }
  /// The descriptor that the operation accesses memory through.
  static Value descriptorOf(Operation *op) {
    for (Value v : op->operands())
      if (v.type().isa<TensorDescType>() && !op->is<tt::CallOp>()) return v;
    return {};
  }
  /// The pointer of a load, a store or an atomic operation that orders nothing; null for all other operations.
  static Value pointerOf(Operation *op) {
    if (auto rmw = op->dyn<tt::AtomicRmwOp>()) return rmw.sem() == MemSemantic::Relaxed ? rmw.ptr() : Value();
    if (auto cas = op->dyn<tt::AtomicCasOp>()) return cas.sem() == MemSemantic::Relaxed ? cas.ptr() : Value();
    if (auto load = op->dyn<tt::AtomicLoadOp>()) return load.sem() == MemSemantic::Relaxed ? load.ptr() : Value();
    if (auto store = op->dyn<tt::AtomicStoreOp>()) return store.sem() == MemSemantic::Relaxed ? store.ptr() : Value();
    if (auto load = op->dyn<tt::LoadOp>()) return load.isVolatile() ? Value() : load.ptr();
    if (auto store = op->dyn<tt::StoreOp>()) return store.ptr();
    return {};
  }

  std::vector<Access> accesses_;
  bool hasBarriers_ = false;
  Operation *ordersAll_ = nullptr; // the first operation that may order any accesses
};

/// Whether the map would serve the copies of loops with dots that are inside of another loop.
bool servesManyLoops(tt::MakeTensorDescriptorOp make) {
  constexpr unsigned kLoopInLoop = 2;
  for (Operation *user : make.result().users()) {
    if (!user->is<tt::DescriptorLoadOp>() || !isLoopBodyWithDot(user->block())) continue;
    if (loopsBetween(make.op, user) >= kLoopInLoop && llvm::is_contained(loadsFeedingDots(*user->block()), user))
      return true;
  }
  return false;
}
/// Whether the map would serve more than one copy, as far as loops say.
bool servesALoop(tt::MakeTensorDescriptorOp make) {
  return llvm::any_of(make.result().users(), [&](Operation *user) { return loopsBetween(make.op, user) >= 1; });
}

/// Where a block begins: where it did, or outside of the tensor if the tensor has no element along a dimension.
llvm::SmallVector<Value, 5> startOutsideIfEmpty(Operation *access, OperandRange indices,
                                                llvm::ArrayRef<Value> isEmpty) {
  Builder b(access);
  llvm::SmallVector<Value, 5> starts;
  for (auto [index, empty] : llvm::zip(indices, isEmpty)) {
    if (!empty) {
      starts.push_back(index);
      continue;
    }
    Value outside = b.intConstant(access->loc(), index.type(), kOutsideTensor);
    starts.push_back(arith::SelectOp::create(b, access->loc(), empty, outside, index).result());
  }
  return starts;
}

/// Gives a descriptor that the kernel makes the layout, and moves its accesses outside of empty tensors.
void keep(tt::MakeTensorDescriptorOp make, const layouts::Encoding *layout) {
  Builder b(make.op);
  Location loc = make->loc();
  llvm::SmallVector<Value, 5> isEmpty;
  for (Value size : make.shape()) {
    auto known = intConstantOf(size);
    bool hasElements = known && *known >= 1;
    isEmpty.push_back(hasElements ? Value()
                                  : compare(b, loc, CmpIPredicate::Slt, size, b.intConstant(loc, size.type(), 1)));
  }
  auto type = make.result().type().cast<TensorDescType>();
  make.result().setType(TensorDescType::get(type.shape(), type.element(), layout));
  auto users = make.result().users();
  for (Operation *user : llvm::SmallVector<Operation *, 8>(users.begin(), users.end())) {
    constexpr unsigned kIndicesOfLoad = 1;  // operands: desc, indices
    constexpr unsigned kIndicesOfStore = 2; // operands: desc, src, indices
    if (auto load = user->dyn<tt::DescriptorLoadOp>())
      user->setOperandGroup(kIndicesOfLoad, startOutsideIfEmpty(user, load.indices(), isEmpty));
    else if (auto store = user->dyn<tt::DescriptorStoreOp>())
      user->setOperandGroup(kIndicesOfStore, startOutsideIfEmpty(user, store.indices(), isEmpty));
    else
      user->setOperandGroup(kIndicesOfStore,
                            startOutsideIfEmpty(user, user->cast<tt::DescriptorReduceOp>().indices(), isEmpty));
  }
}

/// The decisions for one kernel.
class Kernel {
public:
  Kernel(tt::FuncOp func, const AxisInfoAnalysis &axis, PassContext &c) : func_(func), axis_(axis), context_(c) {}

  bool keepArguments() {
    bool changed = false;
    auto type = func_.functionType().cast<FunctionType>();
    llvm::SmallVector<Type, 16> inputs, results;
    OrdinaryAccesses ordinary(func_, {});
    for (unsigned i = 0; i < type.numResults(); ++i) results.push_back(type.result(i));
    for (unsigned i = 0; i < type.numInputs(); ++i) {
      inputs.push_back(type.input(i));
      auto desc = type.input(i).dyn_cast<TensorDescType>();
      if (!desc || desc.encoding()) continue;
      Value argument = func_.body().front()->arg(i);
      auto *layout = layoutOfBlocks(desc);
      std::string reason = whyNot(argument, layout, *context_.target, axis_);
      if (reason.empty()) reason = ordinary.whyNot(argument);
      remarkArgument(argument, i, reason);
      if (!reason.empty()) continue;
      inputs.back() = TensorDescType::get(desc.shape(), desc.element(), layout);
      argument.setType(inputs.back());
      changed = true;
    }
    func_->setAttr("function_type", TypeAttr::get(FunctionType::get(func_->context(), inputs, results)));
    return changed;
  }

  bool keepMade() {
    std::vector<Made> all;
    func_->walk([&](Operation *op) {
      auto make = op->dyn<tt::MakeTensorDescriptorOp>();
      auto desc = make ? make.result().type().cast<TensorDescType>() : TensorDescType();
      if (!desc || desc.encoding()) return;
      auto *layout = layoutOfBlocks(desc);
      all.push_back({make, layout, whyNotMade(make, layout, *context_.target, axis_)});
    });
    refuseUnordered(all);
    bool isWorthScratch =
        llvm::any_of(all, [](const Made &made) { return made.whyNot.empty() && servesManyLoops(made.make); });
    bool changed = false;
    for (Made &made : all) {
      if (made.whyNot.empty() && !isWorthScratch)
        made.whyNot = "no loop within a loop after it loads operands of dots by it";
      else if (made.whyNot.empty() && !servesALoop(made.make) && !sharesMemory(made, all))
        made.whyNot = "no loop after it uses it";
      context_.remark({kindOf(made.whyNot), "", "TensorMapMade", made.make.op, textOf(made.whyNot), {}});
      if (!made.whyNot.empty()) continue;
      keep(made.make, made.layout);
      changed = true;
    }
    return changed;
  }

private:
  struct Made {
    tt::MakeTensorDescriptorOp make;
    const layouts::Encoding *layout;
    std::string whyNot;
  };
  /// Refuses descriptors whose memory ordinary accesses reach, too. The accesses of each are ordinary ones for others.
  void refuseUnordered(std::vector<Made> &all) {
    for (bool changed = true; changed;) {
      changed = false;
      llvm::DenseSet<Value> candidates;
      for (const Made &made : all)
        if (made.whyNot.empty()) candidates.insert(made.make.result());
      OrdinaryAccesses ordinary(func_, candidates);
      for (Made &made : all) {
        if (!made.whyNot.empty()) continue;
        made.whyNot = ordinary.whyNot(made.make);
        changed |= !made.whyNot.empty();
      }
    }
  }
  /// Whether another descriptor may be of the same memory: then both have the same accesses, TMA's or ordinary ones.
  static bool sharesMemory(const Made &made, const std::vector<Made> &all) {
    return llvm::any_of(all, [&](const Made &other) {
      tt::MakeTensorDescriptorOp a = made.make;
      tt::MakeTensorDescriptorOp b = other.make;
      return a.op != b.op && !reachDifferentMemory(a.base(), b.base());
    });
  }

  void remarkArgument(Value argument, unsigned index, const std::string &whyNot) {
    // The location of an argument is that of the whole kernel, if it has one.
    Location loc = argument.loc().kind() == LocationKind::Unknown ? func_->loc() : argument.loc();
    std::string name = argument.loc().kind() == LocationKind::Name ? " ('" + argument.loc().name().str() + "')" : "";
    std::string message = llvm::formatv("argument {0}{1} of '{2}': {3}", index, name, func_.symName(), textOf(whyNot));
    context_.remark({kindOf(whyNot), "", "TensorMapArgument", loc, message, {}});
  }
  static Remark::Kind kindOf(const std::string &whyNot) { return whyNot.empty() ? Remark::Applied : Remark::Missed; }
  static std::string textOf(const std::string &whyNot) {
    return whyNot.empty() ? "the descriptor is a tensor map: its blocks are copied by TMA"
                          : "the descriptor becomes pointers and masks: " + whyNot;
  }

  tt::FuncOp func_;
  const AxisInfoAnalysis &axis_;
  PassContext &context_;
};

} // namespace

/// Loads a block in the shape to which alone the program reshapes it.
static void reshapeLoad(tt::DescriptorLoadOp load) {
  auto reshape = load.result().hasOneUse() ? load.result().users()[0]->dyn<tt::ReshapeOp>() : tt::ReshapeOp();
  if (!reshape || !bufferOfBlock(load.desc(), tensorOf(reshape.result()), true)) return;
  Builder b(load.op);
  llvm::SmallVector<NamedAttribute, 4> attrs(load->attrs().begin(), load->attrs().end());
  auto reshaped =
      tt::DescriptorLoadOp::create(b, load->loc(), reshape.result().type(), load.desc(), load.indices().vec(), attrs);
  reshape.result().replaceAllUsesWith(reshaped.result());
  reshape->erase();
  load->erase();
}
/// Stores a block in the shape from which the program reshapes it.
static void reshapeStore(tt::DescriptorStoreOp store) {
  auto reshape = store.src().definedBy<tt::ReshapeOp>();
  if (!reshape || !bufferOfBlock(store.desc(), tensorOf(reshape.src()), true)) return;
  Builder b(store.op);
  llvm::SmallVector<NamedAttribute, 4> attrs(store->attrs().begin(), store->attrs().end());
  tt::DescriptorStoreOp::create(b, store->loc(), store.desc(), reshape.src(), store.indices().vec(), attrs);
  store->erase();
  if (reshape.result().useEmpty()) reshape->erase();
}

absl::StatusOr<bool> optimizeDescriptorEncoding(Module &m, PassContext &c) {
  if (!c.target || !c.target->hasTensorCopy || hasLayouts(m.op())) return false;
  AxisInfoAnalysis axis(m);
  bool changed = false;
  for (auto &op : *m.body()) {
    auto func = op.dyn<tt::FuncOp>();
    if (!func || func.symVisibility() == "private" || func.body().empty()) continue;
    Kernel kernel(func, axis, c);
    changed |= kernel.keepArguments();
    changed |= kernel.keepMade();
  }
  if (!changed) return false;
  llvm::SmallVector<Operation *, 16> accesses;
  m.op()->walk([&](Operation *op) {
    if (op->is<tt::DescriptorLoadOp>() || op->is<tt::DescriptorStoreOp>()) accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    if (auto load = op->dyn<tt::DescriptorLoadOp>()) reshapeLoad(load);
    if (auto store = op->dyn<tt::DescriptorStoreOp>()) reshapeStore(store);
  }
  return changed;
}

} // namespace tessera::transforms
