// Decoding of a function (see decode.h): functions inlined, globals placed, blocks ordered, what its values need to
// be watched for. Instructions: decode_instructions.cpp.
//
// The order of blocks makes lanes reconverge: a warp always runs the group of lanes whose block comes first
// in it (execute.cpp). Bourdoncle's weak topological order puts a join after everything that leads to it and keeps
// each loop in one piece, so that lanes that have left a loop wait after it. Source: F. Bourdoncle, "Efficient
// chaotic iteration strategies with widenings", 1993; for the scheduling: G. Diamos et al., "SIMD re-convergence at
// thread frontiers", 2011.
#include "runtime/emulator/decode.h"
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/warpgroup.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tessera::emulator {
using namespace llvm;

// ---- the function ---------------------------------------------------------------------------------------------------

absl::Status Decoder::inlineCalls(Function &f) {
  for (unsigned inlined = 0;;) {
    CallInst *next = nullptr;
    for (llvm::BasicBlock &b : f) {
      for (llvm::Instruction &i : b)
        if (auto *c = dyn_cast<CallInst>(&i); c && c->getCalledFunction() && !c->getCalledFunction()->isDeclaration()) {
          next = c;
          break;
        }
      if (next) break;
    }
    if (!next) return absl::OkStatus();
    std::string name = next->getCalledFunction()->getName().str();
    if (next->getCalledFunction() == &f || ++inlined > 20000)
      return absl::UnimplementedError("the emulator does not know recursion (function '" + name + "')");
    InlineFunctionInfo info;
    if (auto r = InlineFunction(*next, info); !r.isSuccess())
      return absl::UnimplementedError("the emulator cannot take up function '" + name + "': " + r.getFailureReason());
  }
}

void Decoder::writeConstant(Constant *c, uint8_t *to) {
  Type *t = c->getType();
  if (c->isNullValue() || isa<UndefValue>(c)) return;
  if (auto *d = dyn_cast<ConstantDataSequential>(c)) {
    StringRef raw = d->getRawDataValues();
    memcpy(to, raw.data(), raw.size());
  } else if (auto *i = dyn_cast<ConstantInt>(c)) {
    uint64_t v = i->getValue().extractBitsAsZExtValue(std::min(64u, i->getBitWidth()), 0);
    memcpy(to, &v, dl_.getTypeStoreSize(t));
  } else if (auto *f = dyn_cast<ConstantFP>(c)) {
    uint64_t v = f->getValueAPF().bitcastToAPInt().getZExtValue();
    memcpy(to, &v, dl_.getTypeStoreSize(t));
  } else if (auto *g = dyn_cast<GlobalVariable>(c)) {
    uint64_t v = globals_.lookup(g);
    memcpy(to, &v, dl_.getTypeStoreSize(t));
  } else if (auto *s = dyn_cast<StructType>(t)) {
    for (unsigned k = 0; k < s->getNumElements(); ++k)
      writeConstant(c->getAggregateElement(k), to + dl_.getStructLayout(s)->getElementOffset(k));
  } else if (auto *a = dyn_cast<ArrayType>(t)) {
    for (unsigned k = 0; k < a->getNumElements(); ++k)
      writeConstant(c->getAggregateElement(k), to + k * dl_.getTypeAllocSize(a->getElementType()));
  } else if (auto *v = dyn_cast<FixedVectorType>(t)) {
    for (unsigned k = 0; k < v->getNumElements(); ++k)
      writeConstant(c->getAggregateElement(k), to + k * dl_.getTypeStoreSize(v->getElementType()));
  } else if (status_.ok()) {
    status_ = absl::UnimplementedError("the emulator does not know the initial value " + printed(*c));
  }
}

absl::Status Decoder::layOutGlobals(Launch &launch) {
  SmallVector<Constant *, 8> all;
  for (GlobalVariable &g : module_.globals()) all.push_back(&g);
  convertUsersOfConstantsToInstructions(all);
  // Shared: the static ones first, then those of size 0, which stand for the dynamic part.
  uint64_t at = kSharedBase;
  for (GlobalVariable &g : module_.globals()) {
    uint64_t size = dl_.getTypeAllocSize(g.getValueType());
    if (g.getAddressSpace() != codegen::kSharedSpace || !size) continue;
    at = alignTo(at, g.getAlign().valueOrOne());
    globals_[&g] = at;
    at += size;
  }
  at = alignTo(at, 1024);
  program_->sharedBytes = uint32_t(at - kSharedBase);
  for (GlobalVariable &g : module_.globals()) {
    uint64_t size = dl_.getTypeAllocSize(g.getValueType());
    if (g.getAddressSpace() == codegen::kSharedSpace) {
      if (!size) globals_[&g] = at;
      continue;
    }
    if (!g.hasInitializer()) {
      if (!g.use_empty())
        return absl::UnimplementedError("the emulator does not know the global variable '" + g.getName().str() + "'");
      continue;
    }
    Region r;
    r.name = g.getName().str();
    r.base = kConstantBase + kConstantStride * launch.constants.size();
    r.bytes = size;
    r.readOnly = g.isConstant();
    r.data = new uint8_t[size + 1]();
    globals_[&g] = r.base;
    launch.constants.push_back(std::move(r));
  }
  // Once all have their places, since one may hold another's address.
  for (GlobalVariable &g : module_.globals())
    if (g.getAddressSpace() != codegen::kSharedSpace && g.hasInitializer())
      writeConstant(g.getInitializer(), launch.constants[(globals_[&g] - kConstantBase) / kConstantStride].data);
  return status_;
}

void Decoder::orderBlocks(Function &f) {
  DenseMap<llvm::BasicBlock *, unsigned> number;
  std::vector<llvm::BasicBlock *> stack;
  unsigned count = 0;
  constexpr unsigned kDone = ~0u;
  using List = std::vector<llvm::BasicBlock *>; // in reverse
  auto visit = [&](auto &self, llvm::BasicBlock *v, List &out) -> unsigned {
    stack.push_back(v);
    unsigned own = number[v] = ++count, head = own;
    bool loop = false;
    for (llvm::BasicBlock *s : successors(v)) {
      unsigned n = number.lookup(s);
      unsigned least = n ? n : self(self, s, out);
      if (least <= head) {
        head = least;
        loop = true;
      }
    }
    if (head != own) return head;
    number[v] = kDone;
    llvm::BasicBlock *e = stack.back();
    stack.pop_back();
    if (!loop) {
      out.push_back(v);
      return head;
    }
    while (e != v) {
      number[e] = 0;
      e = stack.back();
      stack.pop_back();
    }
    List inner;
    for (llvm::BasicBlock *s : successors(v))
      if (!number.lookup(s)) self(self, s, inner);
    out.insert(out.end(), inner.begin(), inner.end());
    out.push_back(v);
    return head;
  };
  List reversed;
  visit(visit, &f.getEntryBlock(), reversed);
  order_.assign(reversed.rbegin(), reversed.rend());
  for (auto [i, b] : enumerate(order_)) blockIndex_[b] = unsigned(i);
}

/// What addresses are computed from, back through arithmetic that keeps the meaning of an index.
void Decoder::markAddresses(Function &f) {
  SmallVector<const Value *, 32> work;
  auto add = [&](const Value *v) {
    if (isa<Constant>(v) ||
        !(v->getType()->isPointerTy() || v->getType()->isIntegerTy(32) || v->getType()->isIntegerTy(64)))
      return;
    if (addresses_.insert(v).second) work.push_back(v);
  };
  for (llvm::BasicBlock &b : f)
    for (llvm::Instruction &i : b) {
      if (const Value *p = getLoadStorePointerOperand(&i)) add(p);
      if (auto *r = dyn_cast<AtomicRMWInst>(&i)) add(r->getPointerOperand());
      if (auto *x = dyn_cast<AtomicCmpXchgInst>(&i)) add(x->getPointerOperand());
      if (auto *c = dyn_cast<CallInst>(&i)) {
        bool buffer = c->getCalledFunction() && c->getCalledFunction()->getName().contains(".buffer.");
        for (Value *a : c->args())
          if (a->getType()->isPointerTy() || (buffer && a->getType()->isIntegerTy(32))) add(a);
      }
    }
  while (!work.empty()) {
    auto *i = dyn_cast<llvm::Instruction>(work.pop_back_val());
    if (!i) continue;
    switch (i->getOpcode()) {
    case llvm::Instruction::Or:
      if (!cast<PossiblyDisjointInst>(i)->isDisjoint()) break;
      [[fallthrough]];
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl:
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::PHI:
    case llvm::Instruction::Select:
      for (Value *o : i->operands()) add(o);
      break;
    default: break;
    }
  }
}

/// Whether an instruction passes on an accumulator of wgmma without reading it.
static bool handsOn(const llvm::Instruction &i) {
  if (isa<PHINode, ExtractValueInst, InsertValueInst, FreezeInst>(i)) return true;
  if (isa<BitCastInst>(i)) return !i.getType()->isVectorTy() && !i.getOperand(0)->getType()->isVectorTy();
  auto *c = dyn_cast<CallInst>(&i);
  if (!c || !c->isInlineAsm()) return false;
  StringRef text = cast<InlineAsm>(c->getCalledOperand())->getAsmString();
  return text.contains("wgmma.") || text.trim().empty();
}
/// Values that are accumulators of wgmma, which may still be in flight.
void Decoder::markAccumulators(Function &f) {
  SmallVector<const Value *, 32> work;
  for (llvm::BasicBlock &b : f)
    for (llvm::Instruction &i : b)
      if (auto *c = dyn_cast<CallInst>(&i);
          c && c->isInlineAsm() &&
          StringRef(cast<InlineAsm>(c->getCalledOperand())->getAsmString()).contains("wgmma.mma_async"))
        if (accumulators_.insert(c).second) work.push_back(c);
  while (!work.empty())
    for (const User *u : work.pop_back_val()->users())
      if (auto *i = dyn_cast<llvm::Instruction>(u); i && handsOn(*i) && accumulators_.insert(i).second)
        work.push_back(i);
}
void Decoder::checkAccumulators(llvm::Instruction &i) {
  if (accumulators_.empty() || handsOn(i)) return;
  SmallVector<Row, 8> read;
  for (Value *o : i.operands())
    if (accumulators_.contains(o)) read.append(rows(o).begin(), rows(o).end());
  if (!read.empty()) emitArrivalCheck(*this, read);
}

absl::StatusOr<std::unique_ptr<Program>> Decoder::run(const std::string &kernel, Launch &launch) {
  Function *f = module_.getFunction(kernel);
  if (!f || f->isDeclaration()) return absl::InvalidArgumentError("the module has no kernel '" + kernel + "'");
  program_ = std::make_unique<Program>();
  program_->kernel = kernel;
  program_->target = &target_;
  program_->lanes = unsigned(target_.warpSize);
  program_->registers = unsigned(f->getFnAttributeAsParsedInteger("nvvm.maxnreg", 0));
  if (auto s = inlineCalls(*f); !s.ok()) return s;
  if (auto s = layOutGlobals(launch); !s.ok()) return s;
  orderBlocks(*f);
  if (launch.checks.wraps && !f->hasFnAttribute(codegen::kModuloOffsets)) markAddresses(*f);
  markAccumulators(*f);
  for (llvm::Argument &a : f->args()) {
    if (!a.getType()->isSingleValueType() || a.getType()->isVectorTy())
      return absl::UnimplementedError("the emulator does not know kernel arguments of vector or struct type");
    auto r = defineFresh(&a);
    program_->arguments.push_back({r[0], uint8_t(bytesOf(a.getType()))});
  }
  for (llvm::BasicBlock *b : order_)
    for (PHINode &phi : b->phis()) (void)defineFresh(&phi);
  program_->blocks.resize(order_.size());
  for (auto [i, b] : enumerate(order_)) {
    decodeBlock(*b, program_->blocks[i]);
    if (!status_.ok()) return status_;
  }
  program_->frameBytes = (program_->frameBytes + 63) & ~63u;
  return std::move(program_);
}

void Decoder::decodeBlock(llvm::BasicBlock &b, BasicBlock &out) {
  out.first = unsigned(program_->instructions.size());
  for (llvm::Instruction &i : b) {
    if (isa<PHINode>(i) || i.isTerminator()) continue;
    current_ = &i;
    checkAccumulators(i);
    decodeInstruction(i);
    if (!status_.ok()) return;
  }
  current_ = b.getTerminator();
  out.terminator = current_;
  decodeTerminator(*b.getTerminator(), out);
  out.last = unsigned(program_->instructions.size());
}

void Decoder::decodeEdge(llvm::BasicBlock *from, llvm::BasicBlock *to, Edge &e) {
  e.target = blockIndex_.lookup(to);
  for (PHINode &phi : to->phis()) {
    auto types = elements(phi.getType());
    SmallVector<Row, 4> in(rows(phi.getIncomingValueForBlock(from))), out(rows(&phi));
    for (auto [k, t] : enumerate(types))
      if (in[k] != out[k]) e.copies.push_back({in[k], out[k], uint8_t(bytesOf(t))});
  }
  for (auto &c : e.copies)
    for (auto &d : e.copies) e.throughTemporary |= c.from == d.to;
}

void Decoder::decodeTerminator(llvm::Instruction &i, BasicBlock &out) {
  llvm::BasicBlock *from = i.getParent();
  if (isa<ReturnInst>(i)) {
    out.end = BasicBlock::End::Return;
  } else if (isa<UnreachableInst>(i)) {
    out.end = BasicBlock::End::Unreachable;
  } else if (auto *s = dyn_cast<SwitchInst>(&i)) {
    out.end = BasicBlock::End::Switch;
    out.condition = row(s->getCondition());
    out.conditionBytes = uint8_t(bytesOf(s->getCondition()->getType()));
    out.edges.emplace_back();
    decodeEdge(from, s->getDefaultDest(), out.edges.back());
    for (auto &c : s->cases()) {
      out.cases.push_back(
          c.getCaseValue()->getValue().extractBitsAsZExtValue(std::min(64u, c.getCaseValue()->getBitWidth()), 0));
      out.edges.emplace_back();
      decodeEdge(from, c.getCaseSuccessor(), out.edges.back());
    }
  } else if (i.getOpcode() == llvm::Instruction::Br || successors(from).begin() != successors(from).end()) {
    unsigned n = i.getNumSuccessors();
    if (n == 2) out.condition = row(i.getOperand(0));
    if (n > 2) return unknown(i, "the terminator " + printed(i));
    out.end = n == 2 ? BasicBlock::End::Conditional : BasicBlock::End::Branch;
    for (unsigned k = 0; k < n; ++k) {
      out.edges.emplace_back();
      decodeEdge(from, i.getSuccessor(k), out.edges.back());
    }
  } else {
    unknown(i, "the terminator " + printed(i));
  }
}

} // namespace tessera::emulator
