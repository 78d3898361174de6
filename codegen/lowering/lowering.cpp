// The walk through a function: values, blocks, regions and operations (see lowering.h). Modules and their functions are
// lowered by lower_module.cpp; indices of elements are in thread_indices.cpp; dispatch.cpp says which file lowers an
// operation.
#include "codegen/lowering/lowering.h"
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "codegen/lowering/debug_info.h"
#include "codegen/lowering/target.h"
#include "ir/attribute_names.h"
#include "ir/ops.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/memory/tensor_memory.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

FunctionLowering::FunctionLowering(llvm::IRBuilder<> &builder, const Target &target, DiagnosticEngine &diag,
                                   const LoweringOptions &options, const FunctionContext &context)
    : b(builder), target(target), diag(diag), options(options), context_(context) {
  partition_.numWarps = context.numWarps;
  partition_.barrier = context.barrier;
}

void FunctionLowering::setHiddenArguments(const HiddenArguments &arguments) { hidden_ = arguments; }

int64_t FunctionLowering::contiguity(Value pointersOrOffsets, unsigned dim) const {
  int64_t stated = axisInfo().get(pointersOrOffsets).contiguity[dim];
  if (!context_.provedAxisInfo) return stated;
  int64_t proved = context_.provedAxisInfo->get(pointersOrOffsets).contiguity[dim];
  return std::min(stated, std::max(proved, axisInfo().contiguousElements(pointersOrOffsets, dim)));
}

// ---- types ---------------------------------------------------------------------------------------------------------

llvm::Type *FunctionLowering::elementType(Type type) {
  if (auto shaped = type.dyn_cast<ShapedType>(); shaped && !type.isa<TensorDescType>()) type = shaped.element();
  auto &c = b.getContext();
  switch (type.kind()) {
  case TypeKind::Integer: return b.getIntNTy(type.bitWidth());
  case TypeKind::Index: return b.getInt32Ty();
  case TypeKind::Float:
    switch (type.cast<FloatType>().floatKind()) {
    case FloatKind::F16: return llvm::Type::getHalfTy(c);
    case FloatKind::BF16: return llvm::Type::getBFloatTy(c);
    case FloatKind::F32: return llvm::Type::getFloatTy(c);
    case FloatKind::F64: return llvm::Type::getDoubleTy(c);
    case FloatKind::F8E4M3FN:
    case FloatKind::F8E4M3FNUZ:
    case FloatKind::F8E4M3B11FNUZ:
    case FloatKind::F8E5M2:
    case FloatKind::F8E5M2FNUZ: return b.getInt8Ty();
    }
    return nullptr;
  case TypeKind::Pointer: return llvm::PointerType::get(c, type.cast<PointerType>().addressSpace());
  case TypeKind::TensorDesc: return llvm::PointerType::get(c, 0);
  case TypeKind::Tensor:
  case TypeKind::MemDesc:
  case TypeKind::AsyncToken:
  case TypeKind::Function:
  case TypeKind::Opaque: return nullptr;
  }
  return nullptr;
}

llvm::Type *FunctionLowering::memoryType(Type type) {
  llvm::Type *t = elementType(type);
  return t && t->isIntegerTy(1) ? b.getInt8Ty() : t;
}

llvm::SmallVector<llvm::Type *, 8> FunctionLowering::elementTypes(Type type) {
  if (transforms::isInTensorMemory(type)) return {b.getInt32Ty()};
  if (auto desc = type.dyn_cast<MemDescType>()) {
    llvm::SmallVector<llvm::Type *, 8> out{b.getPtrTy(kSharedSpace)};
    out.append(desc.rank(), b.getInt32Ty());
    return out;
  }
  if (type.kind() == TypeKind::AsyncToken) return {};
  return llvm::SmallVector<llvm::Type *, 8>(numElements(type), elementType(type));
}

unsigned FunctionLowering::numElements(Type type) {
  if (type.isTensor()) return layout(type).inDimSize(Dim::Register);
  if (transforms::isInTensorMemory(type)) return 1;
  if (auto desc = type.dyn_cast<MemDescType>()) return 1 + desc.rank();
  return type.kind() == TypeKind::AsyncToken ? 0 : 1;
}

// ---- values --------------------------------------------------------------------------------------------------------

const Elements &FunctionLowering::get(Value v) {
  auto it = values_.find(v);
  if (it != values_.end()) return *it->second;
  // IR that verifies defines values before their uses: a missing one is a gap of the lowering, which has been reported,
  // or the work of a pass.
  if (!diag.errors())
    diag.error(v.loc(), "internal error: a value of type " + v.type().str() + " is used before it is computed");
  Elements undefined;
  for (llvm::Type *t : elementTypes(v.type())) undefined.push_back(llvm::PoisonValue::get(t));
  set(v, std::move(undefined));
  return *values_[v];
}

void FunctionLowering::set(Value v, Elements e) {
  storage_.push_back(std::move(e));
  values_[v] = &storage_.back();
}

bool FunctionLowering::error(Operation *op, const llvm::Twine &message) {
  Diagnostic d;
  d.message = ("'" + op->name() + "' " + message).str();
  d.loc = op->loc();
  d.snippet = op->str();
  diag.report(std::move(d));
  return false;
}

llvm::FunctionCallee FunctionLowering::declare(llvm::StringRef name, llvm::FunctionType *type, bool pure) {
  auto callee = context_.function->getParent()->getOrInsertFunction(name, type);
  if (auto *f = llvm::dyn_cast<llvm::Function>(callee.getCallee()); f && pure) {
    f->setDoesNotAccessMemory();
    f->setDoesNotThrow();
    f->setWillReturn();
  }
  return callee;
}

llvm::BasicBlock *FunctionLowering::newBlock(const llvm::Twine &name) {
  return llvm::BasicBlock::Create(b.getContext(), name, context_.function, b.GetInsertBlock()->getNextNode());
}

void FunctionLowering::inBranch(llvm::Value *condition, llvm::function_ref<void()> body) {
  if (!condition) return body();
  llvm::BasicBlock *then = newBlock("act");
  b.CreateCondBr(condition, then, nullptr);
  llvm::Instruction *branch = &b.GetInsertBlock()->back();
  b.SetInsertPoint(then);
  body();
  llvm::BasicBlock *after = newBlock("after");
  b.CreateBr(after);
  llvm::cast<llvm::BranchInst>(branch)->setSuccessor(1, after);
  b.SetInsertPoint(after);
}

// ---- shared memory -------------------------------------------------------------------------------------------------

llvm::Value *FunctionLowering::sharedAt(int64_t byteOffset) {
  if (!hidden_.shared) hidden_.shared = target.sharedMemory(*context_.function->getParent());
  return byteOffset ? b.CreateConstInBoundsGEP1_32(b.getInt8Ty(), hidden_.shared, byteOffset) : hidden_.shared;
}

llvm::Value *FunctionLowering::globalScratchOf(Operation *op) {
  auto offset = op->attr<IntegerAttr>("ttg.global_scratch_memory_offset");
  if (!hidden_.globalScratchBytes)
    return b.CreateConstGEP1_64(b.getInt8Ty(), hidden_.globalScratch, offset ? offset.sext() : 0);
  if (!partition_.programScratch)
    partition_.programScratch = inPrologue([&] {
      bool clusters = numCtas() > 1;
      llvm::Value *number = target.programId(b, 2, clusters);
      for (int axis : {1, 0})
        number = b.CreateAdd(b.CreateMul(number, target.numPrograms(b, axis, clusters)),
                             target.programId(b, axis, clusters));
      llvm::Value *bytes = b.CreateMul(b.CreateZExt(number, b.getInt64Ty()), b.getInt64(hidden_.globalScratchBytes));
      return b.CreateGEP(b.getInt8Ty(), hidden_.globalScratch, bytes);
    });
  return b.CreateConstGEP1_64(b.getInt8Ty(), partition_.programScratch, offset ? offset.sext() : 0);
}

llvm::Value *FunctionLowering::scratch(Operation *op) {
  auto offset = op->attr<IntegerAttr>(kAllocationOffsetAttr);
  return sharedAt(offset ? offset.sext() : 0);
}

// ---- operations ----------------------------------------------------------------------------------------------------

bool FunctionLowering::lowerOperation(Operation *op) {
  if (context_.debug) b.SetCurrentDebugLocation(context_.debug->at(op->loc()));
  Operation *outer = named_;
  nameInstructions(op);
  LowerFn fn = loweringOf(op->opcode());
  if (!fn) {
    llvm::StringRef why = whyNotLowered(op->opcode());
    return error(op, why.empty() ? "has no lowering" : "cannot be lowered here: it is " + why);
  }
  if (!isLoweredFor(op->opcode(), target.info())) return error(op, "cannot be lowered for " + target.info().name);
  for (auto v : op->results())
    if (v.type().isTensor() && v.type().scalar().isInteger(4))
      return error(op, "cannot be lowered: it makes a tensor of i4 (pairs of them packed into i8 can be lowered)");
  bool ok = fn(op, *this);
  if (ok) shareEqual(op);
  nameInstructions(outer); // an operation inside of another's region is done
  return ok;
}

/// Registers that hold equal elements by AxisInfo (a bound on columns that is a multiple of 16, a quotient by 8) get
/// one value. What was computed for the others becomes dead, and nothing more is computed from it. LLVM cannot find
/// this: it knows no tensors.
void FunctionLowering::shareEqual(Operation *op) {
  if (op->numResults() != 1 || !op->result().type().isTensor()) return;
  bool elementwise = (op->info().has(kElementwise) || op->is<arith::SelectOp>()) && isPure(op) && op->numOperands();
  if (!elementwise && !op->is<tt::LoadOp>()) return;
  Value v = op->result();
  auto it = values_.find(v);
  if (it == values_.end() || it->second->size() < 2) return;
  auto constancy = axisInfo().get(v).constancy;
  if (llvm::all_of(constancy, [](int64_t c) { return c <= 1; })) return;
  // Which group of equal elements a register is in: its index without the bits inside groups (their size's power of
  // two).
  auto &l = layout(v.type());
  std::map<layouts::Basis, unsigned> first;
  for (unsigned r = 0; r < it->second->size(); ++r) {
    layouts::Basis group(constancy.size(), 0);
    for (unsigned bit = 0; r >> bit; ++bit)
      if (r >> bit & 1)
        for (unsigned d = 0; d < group.size(); ++d) group[d] ^= l.basis(Dim::Register, bit)[d];
    for (unsigned d = 0; d < group.size(); ++d) group[d] &= int32_t(-(constancy[d] & -constancy[d]));
    (*it->second)[r] = (*it->second)[first.try_emplace(std::move(group), r).first->second];
  }
}

void FunctionLowering::nameInstructions(Operation *op) {
  if (!options.opNames) return;
  named_ = op;
  if (!op) return;
  // The builder copies metadata from an instruction to those it makes.
  auto *carrier = new llvm::UnreachableInst(b.getContext());
  unsigned kind = b.getContext().getMDKindID(kOperationMetadata);
  carrier->setMetadata(kind, llvm::MDNode::get(b.getContext(), llvm::MDString::get(b.getContext(), op->name())));
  b.CollectMetadataToCopy(carrier, {kind});
  carrier->deleteValue();
}

bool FunctionLowering::lowerBlock(Block *block) {
  for (Operation &op : *block) {
    if (&op == block->terminator()) {
      if (context_.debug) b.SetCurrentDebugLocation(context_.debug->at(op.loc()));
      return true;
    }
    if (!lowerOperation(&op)) return false;
  }
  return true;
}

bool FunctionLowering::lowerRegion(Region &region, llvm::function_ref<bool(Operation *)> exit) {
  if (region.hasOneBlock()) return lowerBlock(region.front()) && exit(region.front()->terminator());
  // Blocks in reverse post-order, so that definitions come before uses; those that nothing reaches are left out.
  llvm::SmallVector<Block *, 8> order;
  llvm::DenseMap<Block *, bool> seen;
  std::function<void(Block *)> visit = [&](Block *block) {
    if (!seen.try_emplace(block, true).second) return;
    for (Block *s : llvm::reverse(block->successors())) visit(s);
    order.push_back(block);
  };
  visit(region.front());
  std::reverse(order.begin(), order.end());
  llvm::BasicBlock *last = b.GetInsertBlock();
  for (Block *block : llvm::drop_begin(order)) {
    last = llvm::BasicBlock::Create(b.getContext(), "bb", context_.function, last->getNextNode());
    blocks_[block] = last;
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(last);
    for (auto *arg : block->args()) {
      Elements phis;
      for (llvm::Type *t : elementTypes(arg->type)) phis.push_back(b.CreatePHI(t, 2));
      set(Value(arg), std::move(phis));
    }
  }
  auto branch = [&](Block *to, OperandRange args) {
    unsigned i = 0;
    for (Value v : args) {
      Elements &phis = *values_[to->arg(i++)];
      for (auto [phi, e] : llvm::zip(phis, get(v))) llvm::cast<llvm::PHINode>(phi)->addIncoming(e, b.GetInsertBlock());
    }
    return blocks_[to];
  };
  for (Block *block : order) {
    if (block != region.front()) b.SetInsertPoint(blocks_[block]);
    if (!lowerBlock(block)) return false;
    Operation *t = block->terminator();
    if (auto br = t->dyn<cf::BrOp>()) {
      b.CreateBr(branch(t->successor(0), br.args()));
    } else if (auto cond = t->dyn<cf::CondBrOp>()) {
      // Both edges to one block with different arguments need an edge each for the phis.
      llvm::BasicBlock *from = b.GetInsertBlock();
      llvm::Value *condition = scalar(cond.condition());
      if (t->successor(0) == t->successor(1)) {
        for (auto [i, arg] : llvm::enumerate(t->successor(0)->args())) {
          Elements &phis = *values_[Value(arg)];
          for (auto [phi, x, y] : llvm::zip(phis, get(cond.trueArgs()[i]), get(cond.falseArgs()[i])))
            llvm::cast<llvm::PHINode>(phi)->addIncoming(b.CreateSelect(condition, x, y), from);
        }
        b.CreateBr(blocks_[t->successor(0)]);
      } else {
        llvm::BasicBlock *yes = branch(t->successor(0), cond.trueArgs()),
                         *no = branch(t->successor(1), cond.falseArgs());
        b.CreateCondBr(condition, yes, no);
      }
    } else if (!exit(t)) {
      return false;
    }
  }
  return true;
}

llvm::SmallVector<llvm::Value *, 2> lowerCombine(Region &region, llvm::ArrayRef<llvm::Value *> args,
                                                 FunctionLowering &fl) {
  Block *entry = region.front();
  for (auto [i, arg] : llvm::enumerate(entry->args())) fl.set(Value(arg), args[i]);
  llvm::SmallVector<llvm::Value *, 2> out;
  auto collect = [&](Operation *terminator) {
    for (Value v : terminator->operands()) out.push_back(fl.scalar(v));
    return true;
  };
  if (!fl.lowerRegion(region, collect)) // the error is reported
    for (Value v : region.front()->terminator()->operands())
      out.push_back(llvm::PoisonValue::get(fl.elementType(v.type())));
  return out;
}

} // namespace tessera::codegen
