// The walk: module → functions → blocks → operations (what codegen/lowering.h promises).
//
// A kernel becomes a function of its arguments in order and two pointers (global scratch, profile scratch); a function
// that stays a call becomes an internal function whose tensors are passed element by element, with the same two
// pointers and the base of its shared memory at the end.
//
// Everything that depends on the thread's index alone stands in a prologue, a block before the first one, so that it
// dominates every use and is computed once. A layout's part that lanes and warps decide is a linear map of the bits of
// the thread index over F₂: applyLayout groups the bits that move by the same distance, so that the usual layouts cost
// one or two shifts. Registers add constants to it, with `or disjoint` where the bits do not meet, which LLVM folds
// into addresses.
#include "codegen/lowering.h"
#include "codegen/debug_info.h"
#include "codegen/target.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "transforms/analyses/axis_info.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

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
  if (auto desc = type.dyn_cast<MemDescType>()) {
    llvm::SmallVector<llvm::Type *, 8> out{b.getPtrTy(3)};
    out.append(desc.rank(), b.getInt32Ty());
    return out;
  }
  if (type.kind() == TypeKind::AsyncToken) return {};
  return llvm::SmallVector<llvm::Type *, 8>(numElements(type), elementType(type));
}

unsigned FunctionLowering::numElements(Type type) {
  if (type.isTensor()) return layout(type).inDimSize(Dim::Register);
  if (auto desc = type.dyn_cast<MemDescType>()) return 1 + desc.rank();
  return type.kind() == TypeKind::AsyncToken ? 0 : 1;
}

// ---- values --------------------------------------------------------------------------------------------------------

const Elements &FunctionLowering::get(Value v) {
  auto it = values_.find(v);
  if (it != values_.end()) return *it->second;
  // Verified IR defines values before their uses; a missing one is a gap of the lowering that has been reported.
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
  auto callee = function->getParent()->getOrInsertFunction(name, type);
  if (auto *f = llvm::dyn_cast<llvm::Function>(callee.getCallee()); f && pure) {
    f->setDoesNotAccessMemory();
    f->setDoesNotThrow();
    f->setWillReturn();
  }
  return callee;
}

llvm::BasicBlock *FunctionLowering::newBlock(const llvm::Twine &name) {
  return llvm::BasicBlock::Create(b.getContext(), name, function, b.GetInsertBlock()->getNextNode());
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
  b.SetInsertPoint(prologueEnd_);
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
  unsigned laneBits = llvm::Log2_32(warpSize_), warpBits = llvm::Log2_32(numWarps_);
  llvm::SmallVector<bool, 4> ofLane(outs, false); // the output depends on the lane
  for (auto [dim, value] : in)
    if (value == lane_)
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
    unsigned low = tid_ && value == warp_ ? laneBits : 0;
    for (unsigned bit = 0; bit < n; ++bit) {
      auto basis = layout.basis(dim, bit);
      for (unsigned o = 0; o < outs; ++o) {
        llvm::Value *source = value;
        if (tid_ && value == lane_) source = tid_;
        if (tid_ && value == warp_) source = ofLane[o] ? tid_ : tidOfWarp_;
        width[source] = source == tid_ || source == tidOfWarp_ ? laneBits + warpBits : std::max(width[source], n);
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
  uint64_t threads = uint64_t(warpSize_) * numWarps_;
  for (uint64_t t = uint64_t(l.inDimSize(Dim::Lane)); t < uint64_t(warpSize_); t <<= 1) threadMask |= t;
  for (uint64_t t = uint64_t(l.inDimSize(Dim::Warp)) * warpSize_; t < threads; t <<= 1) threadMask |= t;
  if (!threadMask && !blockMask) return nullptr;
  llvm::Value *&slot = representatives_[threadMask | blockMask << 32];
  if (!slot) {
    llvm::Value *tid = threadId(), *block = blockMask ? blockInCluster() : nullptr;
    if (threadMask && !(threadMask & (warpSize_ - 1))) {
      warpId();
      tid = tidOfWarp_; // a scalar branch
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
  if (!firstThread_) {
    llvm::Value *tid = threadId();
    firstThread_ = inPrologue([&] { return b.CreateICmpEQ(tid, i32(0)); });
  }
  return firstThread_;
}

// ---- the thread ----------------------------------------------------------------------------------------------------

llvm::Value *FunctionLowering::threadId() {
  if (tid_) return tid_;
  return tid_ = inPrologue([&] {
           llvm::Value *v = target.threadId(b);
           if (auto *call = llvm::dyn_cast<llvm::CallInst>(v)) {
             llvm::ConstantRange range(llvm::APInt(32, 0), llvm::APInt(32, uint64_t(warpSize_) * numWarps_));
             call->addRangeRetAttr(range);
           }
           return v;
         });
}

llvm::Value *FunctionLowering::laneId() {
  llvm::Value *tid = threadId();
  if (!lane_) lane_ = inPrologue([&] { return b.CreateAnd(tid, i32(warpSize_ - 1)); });
  return lane_;
}

llvm::Value *FunctionLowering::warpId() {
  llvm::Value *tid = threadId();
  if (!warp_)
    warp_ = inPrologue([&]() -> llvm::Value * {
      if (numWarps_ == 1) return i32(0);
      // Made uniform before the shift: LLVM knows that the shifted index is, takes this back, and no longer knows once
      // the shift has become part of something else.
      tidOfWarp_ = target.uniform(b, tid);
      return b.CreateLShr(tidOfWarp_, llvm::Log2_32(warpSize_));
    });
  return warp_;
}

llvm::Value *FunctionLowering::blockInCluster() {
  if (!block_)
    block_ = inPrologue([&]() -> llvm::Value * { return numCtas_ == 1 ? i32(0) : target.blockInCluster(b); });
  return block_;
}

// ---- shared memory -------------------------------------------------------------------------------------------------

llvm::Value *FunctionLowering::sharedAt(int64_t byteOffset) {
  if (!shared_) shared_ = target.sharedMemory(*function->getParent());
  return byteOffset ? b.CreateConstInBoundsGEP1_32(b.getInt8Ty(), shared_, byteOffset) : shared_;
}

llvm::Value *FunctionLowering::scratch(Operation *op) {
  auto offset = op->attr<IntegerAttr>("allocation.offset");
  return sharedAt(offset ? offset.sext() : 0);
}

// ---- operations ----------------------------------------------------------------------------------------------------

bool FunctionLowering::lowerOperation(Operation *op) {
  if (debug_) b.SetCurrentDebugLocation(debug_->at(op->loc()));
  Operation *outer = named_;
  nameInstructions(op);
  LowerFn fn = loweringOf(op->opcode());
  if (!fn) {
    llvm::StringRef why = whyNotLowered(op->opcode());
    return error(op, why.empty() ? "has no lowering" : "cannot be lowered here: it is " + why);
  }
  for (auto v : op->results())
    if (v.type().isTensor() && v.type().scalar().isInteger(4)) return error(op, "cannot be lowered: it makes a tensor of i4 (pairs of them packed into i8 can be lowered)");
  bool ok = fn(op, *this);
  if (ok) shareEqual(op);
  nameInstructions(outer); // an operation inside of another's region is done
  return ok;
}

/// Registers that hold equal elements, by AxisInfo (a bound on columns that is a multiple of 16, a quotient by 8), get one
/// value: what was computed for the others, and what would be computed from them, is not used any more. LLVM, which sees no
/// tensors, does not know.
void FunctionLowering::shareEqual(Operation *op) {
  if (op->numResults() != 1 || !op->result().type().isTensor()) return;
  bool elementwise = (op->info().has(kElementwise) || op->is<arith::SelectOp>()) && isPure(op) && op->numOperands();
  if (!elementwise && !op->is<tt::LoadOp>()) return;
  Value v = op->result();
  auto it = values_.find(v);
  if (it == values_.end() || it->second->size() < 2) return;
  auto constancy = axisInfo->get(v).constancy;
  if (llvm::all_of(constancy, [](int64_t c) { return c <= 1; })) return;
  // Which group of equal elements a register is in: its index without the bits inside groups (their size's power of two).
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
  unsigned kind = b.getContext().getMDKindID("tessera.op");
  carrier->setMetadata(kind, llvm::MDNode::get(b.getContext(), llvm::MDString::get(b.getContext(), op->name())));
  b.CollectMetadataToCopy(carrier, {kind});
  carrier->deleteValue();
}

bool FunctionLowering::lowerBlock(Block *block) {
  for (Operation &op : *block) {
    if (&op == block->terminator()) {
      if (debug_) b.SetCurrentDebugLocation(debug_->at(op.loc()));
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
    last = llvm::BasicBlock::Create(b.getContext(), "bb", function, last->getNextNode());
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

// ---- functions -----------------------------------------------------------------------------------------------------

/// 32-bit registers that the largest tensor of a function takes in a thread; pointers, which are mostly one base and
/// constants, do not count, nor do operands of sums of fma, which are loaded where they are multiplied (dot.cpp).
static unsigned widestTensor(Operation *function, FunctionLowering &fl) {
  unsigned widest = 0;
  function->walk([&](Operation *op) {
    for (auto r : op->results())
      if (r.type().isTensor() && r.type().cast<TensorType>().encoding()) {
        auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(r.type().cast<TensorType>().encoding());
        if (fl.target.info().hasScheduleBarriers && operand && operand->parent()->kind() == layouts::EncodingKind::Blocked && op->is<ttg::LocalLoadOp>()) continue;
        unsigned bits = r.type().scalar().isPointer() ? 0 : std::max(8u, unsigned(r.type().scalar().bitWidth()));
        widest = std::max<unsigned>(widest, fl.layout(r.type()).inDimSize(Dim::Register) * bits / 32);
      }
  });
  return widest;
}

class ModuleLowering {
public:
  ModuleLowering(ir::Module &module, const Target &target, llvm::LLVMContext &context, const LoweringOptions &options,
                 DiagnosticEngine &diag)
      : module_(module), target_(target), options_(options), diag_(diag), b_(context),
        out_(std::make_unique<llvm::Module>("tessera", context)) {
    if (options.lineInfo) debug_ = std::make_unique<DebugInfo>(*out_, module.op()->loc());
  }

  std::unique_ptr<llvm::Module> run() {
    llvm::SmallVector<tt::FuncOp, 4> functions;
    for (Operation &op : *module_.body()) {
      if (auto f = op.dyn<tt::FuncOp>()) {
        if (!f.body().empty()) functions.push_back(f);
        continue;
      }
      diag_.error(op.loc(), "'" + op.name() + "' cannot stand in a module that is lowered");
      return nullptr;
    }
    for (auto f : functions)
      if (!declare(f)) return nullptr;
    transforms::AxisInfoAnalysis axisInfo(module_);
    for (auto f : functions)
      if (!lower(f, axisInfo)) return nullptr;
    if (debug_) debug_->finalize();
    return std::move(out_);
  }

private:
  static bool isKernel(tt::FuncOp f) { return f.symVisibility() != "private"; }

  /// A FunctionLowering with the module's facts filled in.
  void init(FunctionLowering &fl, tt::FuncOp f) {
    Operation *m = module_.op();
    fl.warpSize_ = threadsPerWarp(m);
    auto own = f->attr<IntegerAttr>(kNumWarpsAttr);
    fl.numWarps_ = own ? own.sext() : numWarps(m);
    fl.numCtas_ = numCtas(m);
    fl.functions_ = &functions_;
    fl.debug_ = debug_.get();
  }

  bool declare(tt::FuncOp f) {
    FunctionLowering fl(b_, target_, diag_, options_);
    init(fl, f);
    auto type = f.functionType().cast<FunctionType>();
    bool kernel = isKernel(f);
    llvm::SmallVector<llvm::Type *, 16> params, results;
    for (unsigned i = 0; i < type.numInputs(); ++i) {
      auto types = fl.elementTypes(type.input(i));
      if (llvm::is_contained(types, nullptr) || (kernel && (type.input(i).isTensor() || types.size() != 1))) {
        diag_.error(f.loc(), "argument " + llvm::Twine(i) + " of '" + f.symName() + "' has type " +
                                 type.input(i).str() + ", which " + (kernel ? "a kernel" : "a function") +
                                 " cannot take");
        return false;
      }
      params.append(types.begin(), types.end());
    }
    for (unsigned i = 0; i < type.numResults(); ++i) {
      auto types = fl.elementTypes(type.result(i));
      if (kernel || llvm::is_contained(types, nullptr)) {
        diag_.error(f.loc(), "'" + f.symName() + "' cannot return " + type.result(i).str() +
                                 (kernel ? ": it is public, so it is a kernel" : ""));
        return false;
      }
      results.append(types.begin(), types.end());
    }
    params.append(2, b_.getPtrTy(1));
    if (!kernel) params.push_back(b_.getPtrTy(3));
    llvm::Type *result = results.empty() ? b_.getVoidTy() : llvm::StructType::get(b_.getContext(), results);
    auto *fn = llvm::Function::Create(llvm::FunctionType::get(result, params, false),
                                      kernel ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
                                      f.symName(), *out_);
    fn->setDoesNotThrow();
    if (kernel) {
      // A launch passes bits. Where LLVM asks whether a value may be poison, as strength reduction does for every pair of
      // candidates, it need not look for instructions that would forbid it.
      for (llvm::Argument &a : fn->args()) a.addAttr(llvm::Attribute::NoUndef);
      target_.kernelAttributes(*fn, fl.warpSize_ * fl.numWarps_, fl.numCtas_,
                               moduleInt(module_.op(), kMaxRegistersAttr, 0), widestTensor(f.op, fl));
    } else {
      fn->addFnAttr(llvm::Attribute::NoInline);
      fn->addFnAttr(llvm::Attribute::Convergent);
    }
    // Divisibility of pointers is alignment.
    unsigned at = 0;
    for (unsigned i = 0; i < type.numInputs(); ++i) {
      if (auto list = f.argAttrs() ? f.argAttrs().dyn_cast<ArrayAttr>() : ArrayAttr();
          list && i < list.size() && type.input(i).isPointer())
        if (auto dict = list[i].dyn_cast<DictionaryAttr>())
          if (auto d =
                  dict.get("tt.divisibility") ? dict.get("tt.divisibility").dyn_cast<IntegerAttr>() : IntegerAttr())
            if (llvm::isPowerOf2_64(d.zext()) && d.zext() <= 4096)
              fn->addParamAttr(at, llvm::Attribute::getWithAlignment(b_.getContext(), llvm::Align(d.zext())));
      at += fl.numElements(type.input(i));
    }
    functions_[f] = fn;
    return true;
  }

  bool lower(tt::FuncOp f, const transforms::AxisInfoAnalysis &axisInfo) {
    FunctionLowering fl(b_, target_, diag_, options_);
    init(fl, f);
    fl.axisInfo = &axisInfo;
    fl.function = functions_[f];
    if (debug_) debug_->enter(*fl.function, f.loc());
    auto *prologue = llvm::BasicBlock::Create(b_.getContext(), "entry", fl.function);
    auto *body = llvm::BasicBlock::Create(b_.getContext(), "body", fl.function);
    b_.SetInsertPoint(prologue);
    b_.SetCurrentDebugLocation({});
    // What the lowering itself computes may be fused as well; device libraries decide for themselves.
    llvm::FastMathFlags flags;
    flags.setAllowContract(options_.fpFusion);
    b_.setFastMathFlags(flags);
    fl.prologueEnd_ = b_.CreateBr(body);
    b_.SetInsertPoint(body);

    auto arg = fl.function->arg_begin();
    for (auto *a : f.body().front()->args()) {
      Elements e;
      for (unsigned i = 0, n = fl.numElements(a->type); i < n; ++i) e.push_back(&*arg++);
      if (a->loc.kind() == LocationKind::Name && e.size() == 1) e[0]->setName(a->loc.name());
      fl.set(Value(a), std::move(e));
    }
    fl.globalScratch_ = &*arg++;
    fl.profileScratch_ = &*arg++;
    if (!isKernel(f)) fl.shared_ = &*arg++;

    unsigned before = diag_.errors();
    bool ok = fl.lowerRegion(f.body(), [&](Operation *terminator) {
      auto ret = terminator->dyn<tt::ReturnOp>();
      if (!ret) return fl.error(terminator, "does not end a function");
      llvm::Type *type = fl.function->getReturnType();
      if (type->isVoidTy()) {
        b_.CreateRetVoid();
        return true;
      }
      llvm::Value *result = llvm::PoisonValue::get(type);
      unsigned i = 0;
      for (Value v : ret.srcs())
        for (llvm::Value *e : fl.get(v)) result = b_.CreateInsertValue(result, e, i++);
      b_.CreateRet(result);
      return true;
    });
    if (!ok || diag_.errors() != before) return false;
    llvm::MergeBlockIntoPredecessor(body);
    target_.finish(*fl.function);
    return true;
  }

  ir::Module &module_;
  const Target &target_;
  const LoweringOptions &options_;
  DiagnosticEngine &diag_;
  llvm::IRBuilder<> b_;
  std::unique_ptr<llvm::Module> out_;
  std::unique_ptr<DebugInfo> debug_;
  llvm::DenseMap<Operation *, llvm::Function *> functions_;
};

std::unique_ptr<llvm::Module> lowerToLLVM(ir::Module &module, const Target &target, llvm::LLVMContext &context,
                                          const LoweringOptions &options, DiagnosticEngine &diag) {
  return ModuleLowering(module, target, context, options, diag).run();
}

// ---- the dispatch table --------------------------------------------------------------------------------------------

namespace {
struct Row {
  LowerFn lower;
  const char *reason;
};
constexpr const char *kTerminatorReason = "a terminator, lowered with its region",
                     *kRewrittenReason = "rewritten into other operations before lowering",
                     *kMatrixReason = "a matrix or asynchronous operation that no pass of this version makes",
                     *kPartitionReason = "part of warp specialisation, which no pass of this version makes";

/// Exhaustive: a new row of the op table does not compile until it has its place here.
Row rowOf(Opcode opcode) {
  switch (opcode) {
  // pointwise
  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int:
  case Opcode::tt_bitcast:
  case Opcode::tt_mulhiui:
  case Opcode::tt_addptr:
  case Opcode::arith_constant:
  case Opcode::arith_addi:
  case Opcode::arith_subi:
  case Opcode::arith_muli:
  case Opcode::arith_shli:
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi:
  case Opcode::arith_andi:
  case Opcode::arith_ori:
  case Opcode::arith_xori:
  case Opcode::arith_maxsi:
  case Opcode::arith_maxui:
  case Opcode::arith_minsi:
  case Opcode::arith_minui:
  case Opcode::arith_subf:
  case Opcode::arith_addf:
  case Opcode::arith_mulf:
  case Opcode::arith_maximumf:
  case Opcode::arith_minimumf:
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf:
  case Opcode::arith_negf:
  case Opcode::arith_addui_extended:
  case Opcode::arith_mulsi_extended:
  case Opcode::arith_mului_extended:
  case Opcode::arith_cmpi:
  case Opcode::arith_cmpf:
  case Opcode::arith_select:
  case Opcode::arith_extsi:
  case Opcode::arith_extui:
  case Opcode::arith_trunci:
  case Opcode::arith_bitcast:
  case Opcode::arith_index_cast:
  case Opcode::arith_index_castui:
  case Opcode::math_absi:
  case Opcode::math_ctlz:
  case Opcode::math_cttz:
  case Opcode::math_ctpop:
  case Opcode::ub_poison: return {lowerPointwise, nullptr};

  // conversions
  case Opcode::tt_fp_to_fp:
  case Opcode::arith_extf:
  case Opcode::arith_truncf:
  case Opcode::arith_sitofp:
  case Opcode::arith_uitofp:
  case Opcode::arith_fptosi:
  case Opcode::arith_fptoui: return {lowerCast, nullptr};

  // mathematics
  case Opcode::tt_clampf:
  case Opcode::tt_precise_sqrt:
  case Opcode::tt_precise_divf:
  case Opcode::tt_extern_elementwise:
  case Opcode::arith_divf:
  case Opcode::arith_remf:
  case Opcode::math_absf:
  case Opcode::math_ceil:
  case Opcode::math_floor:
  case Opcode::math_trunc:
  case Opcode::math_round:
  case Opcode::math_roundeven:
  case Opcode::math_exp:
  case Opcode::math_exp2:
  case Opcode::math_expm1:
  case Opcode::math_log:
  case Opcode::math_log1p:
  case Opcode::math_log2:
  case Opcode::math_log10:
  case Opcode::math_sqrt:
  case Opcode::math_rsqrt:
  case Opcode::math_sin:
  case Opcode::math_cos:
  case Opcode::math_tan:
  case Opcode::math_asin:
  case Opcode::math_acos:
  case Opcode::math_atan:
  case Opcode::math_sinh:
  case Opcode::math_cosh:
  case Opcode::math_tanh:
  case Opcode::math_asinh:
  case Opcode::math_acosh:
  case Opcode::math_atanh:
  case Opcode::math_cbrt:
  case Opcode::math_erf:
  case Opcode::math_erfc:
  case Opcode::math_atan2:
  case Opcode::math_copysign:
  case Opcode::math_powf:
  case Opcode::math_fma:
  case Opcode::math_fpowi: return {lowerMath, nullptr};

  // memory
  case Opcode::tt_load:
  case Opcode::tt_store:
  case Opcode::amdg_buffer_load:
  case Opcode::amdg_buffer_store: return {lowerMemory, nullptr};
  case Opcode::tt_atomic_rmw:
  case Opcode::tt_atomic_cas:
  case Opcode::amdg_buffer_atomic_rmw:
  case Opcode::amdg_buffer_atomic_cas: return {lowerAtomic, nullptr};

  // shape
  case Opcode::tt_splat:
  case Opcode::tt_unsplat:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape:
  case Opcode::tt_broadcast:
  case Opcode::tt_cat:
  case Opcode::tt_join:
  case Opcode::tt_split:
  case Opcode::tt_trans:
  case Opcode::tt_make_range: return {lowerShape, nullptr};

  // across threads
  case Opcode::tt_reduce: return {lowerReduce, nullptr};
  case Opcode::tt_scan: return {lowerScan, nullptr};
  case Opcode::ttg_convert_layout: return {lowerConvertLayout, nullptr};
  case Opcode::amdg_in_thread_transpose: return {lowerInThreadTranspose, nullptr};
  case Opcode::tt_dot: return {lowerDot, nullptr};
  case Opcode::ttng_fence_async_shared:
  case Opcode::ttng_warp_group_dot:
  case Opcode::ttng_warp_group_dot_wait: return {lowerWarpGroup, nullptr};
  case Opcode::ttg_async_wait:
  case Opcode::ttg_async_commit_group:
  case Opcode::ttg_async_copy_global_to_local: return {lowerAsyncCopy, nullptr};
  case Opcode::tt_gather:
  case Opcode::tt_histogram: return {lowerGatherLike, nullptr};
  case Opcode::ttg_local_alloc:
  case Opcode::ttg_local_dealloc:
  case Opcode::ttg_memdesc_index:
  case Opcode::ttg_memdesc_subslice:
  case Opcode::ttg_memdesc_trans:
  case Opcode::ttg_memdesc_reshape:
  case Opcode::ttg_memdesc_reinterpret:
  case Opcode::ttg_local_load:
  case Opcode::ttg_local_store:
  case Opcode::ttg_local_gather:
  case Opcode::ttg_local_atomic_scatter_rmw:
  case Opcode::ttg_local_scatter: return {lowerShared, nullptr};

  // control
  case Opcode::tt_call:
  case Opcode::tt_get_program_id:
  case Opcode::tt_get_num_programs:
  case Opcode::tt_print:
  case Opcode::tt_assert:
  case Opcode::tt_map_elementwise:
  case Opcode::scf_for:
  case Opcode::scf_if:
  case Opcode::scf_while:
  case Opcode::scf_execute_region:
  case Opcode::cf_assert:
  case Opcode::llvm_intr_assume:
  case Opcode::gpu_barrier:
  case Opcode::gpu_thread_id:
  case Opcode::gpu_block_id:
  case Opcode::ttg_barrier:
  case Opcode::ttg_local_barrier:
  case Opcode::ttg_warp_id:
  case Opcode::ttg_global_scratch_alloc:
  case Opcode::rocdl_barrier:
  case Opcode::rocdl_sched_barrier:
  case Opcode::rocdl_s_setprio:
  case Opcode::builtin_unrealized_conversion_cast: return {lowerControl, nullptr};
  case Opcode::tt_elementwise_inline_asm: return {lowerInlineAssembly, nullptr};

  // Never reach the lowering.
  case Opcode::builtin_module:
  case Opcode::tt_func: return {nullptr, "a container, walked by the lowering of the module"};
  case Opcode::tt_return:
  case Opcode::tt_reduce_return:
  case Opcode::tt_scan_return:
  case Opcode::tt_map_elementwise_return:
  case Opcode::scf_condition:
  case Opcode::scf_yield:
  case Opcode::cf_br:
  case Opcode::cf_cond_br:
  case Opcode::ttg_mask_return: return {nullptr, kTerminatorReason};
  case Opcode::tt_advance:
  case Opcode::tt_make_tensor_ptr: return {nullptr, "a block pointer, rewritten by tritongpu-rewrite-tensor-pointer"};
  case Opcode::tt_make_tensor_descriptor:
  case Opcode::tt_descriptor_load:
  case Opcode::tt_descriptor_store:
  case Opcode::tt_descriptor_reduce:
  case Opcode::tt_descriptor_gather:
  case Opcode::tt_descriptor_scatter: return {nullptr, kRewrittenReason};
  case Opcode::ttg_predicate_stage:
  case Opcode::ttg_mask: return {nullptr, "an intermediate form of the pipeliner"};
  case Opcode::tt_dot_scaled:
  case Opcode::ttg_fp4_to_fp:
  case Opcode::ttng_init_barrier:
  case Opcode::ttng_inval_barrier:
  case Opcode::ttng_barrier_expect:
  case Opcode::ttng_wait_barrier:
  case Opcode::ttng_arrive_barrier:
  case Opcode::ttng_async_tma_copy_global_to_local:
  case Opcode::ttng_async_tma_copy_local_to_global:
  case Opcode::ttng_async_tma_reduce:
  case Opcode::ttng_async_tma_store_wait:
  case Opcode::ttng_tensormap_create:
  case Opcode::ttng_tensormap_fenceproxy_acquire:
  case Opcode::ttng_reinterpret_tensor_descriptor:
  case Opcode::ttng_cluster_arrive:
  case Opcode::ttng_cluster_wait:
  case Opcode::ttng_tmem_alloc:
  case Opcode::ttng_tmem_load:
  case Opcode::ttng_tmem_store:
  case Opcode::ttng_tc_gen5_mma:
  case Opcode::ttng_tc_gen5_commit:
  case Opcode::amdg_extract_slice:
  case Opcode::amdg_concat:
  case Opcode::amdg_cond_barrier:
  case Opcode::amdg_buffer_load_to_local:
  case Opcode::amdg_local_load_packed_tranposed:
  case Opcode::amdg_async_wait:
  case Opcode::amdg_scaled_upcast_fp8:
  case Opcode::amdg_arrive_barrier:
  case Opcode::amdg_async_copy_local_to_global:
  case Opcode::amdg_async_copy_mbarrier_arrive:
  case Opcode::amdg_cluster_barrier_arrive:
  case Opcode::amdg_cluster_barrier_wait:
  case Opcode::amdg_init_barrier:
  case Opcode::amdg_wait_barrier:
  case Opcode::ttng_async_copy_mbarrier_arrive:
  case Opcode::ttng_async_shared_store:
  case Opcode::ttng_async_tma_gather:
  case Opcode::ttng_async_tma_scatter:
  case Opcode::ttng_clc_get_program_id:
  case Opcode::ttng_clc_is_canceled:
  case Opcode::ttng_clc_load_result:
  case Opcode::ttng_clc_try_cancel:
  case Opcode::ttng_cluster_barrier:
  case Opcode::ttng_fence_mbarrier_init_release_cluster:
  case Opcode::ttng_tc_gen5_mma_scaled:
  case Opcode::ttng_tmem_copy:
  case Opcode::ttng_tmem_subslice:
  case Opcode::amdg_scaled_upcast_fp4: return {nullptr, kMatrixReason};
  case Opcode::amdg_masked_load:
  case Opcode::amdg_masked_store: return {nullptr, "an access of one thread, which only a lowering makes"};
  case Opcode::ttg_warp_specialize:
  case Opcode::ttg_warp_specialize_partitions:
  case Opcode::ttg_warp_yield:
  case Opcode::ttg_warp_return: return {nullptr, kPartitionReason};
  case Opcode::unregistered: return {nullptr, "an operation of an unknown dialect"};
  }
  return {nullptr, "unknown"};
}
} // namespace

LowerFn loweringOf(Opcode opcode) { return rowOf(opcode).lower; }
llvm::StringRef whyNotLowered(Opcode opcode) {
  const char *r = rowOf(opcode).reason;
  return r ? r : "";
}

} // namespace tessera::codegen
