// A block that loads, computes special functions and stores: their results first, then one stored word after the other.
//
//   load %a, load %b                 load %a, load %b
//   unpack %a: a0 … a7               unpack %b: b0 … b7
//   unpack %b: b0 … b7               s0 = sqrt b0, …, s7 = sqrt b7
//   s0 = sqrt b0, …, s7 = sqrt b7    unpack a0, a1; r0 = a0 * s0; r1 = a1 * s1; word 0 = pack r0, r1
//   r0 = a0 * s0, …, r7 = a7 * s7    …
//   words 0 … 3 = pack r0, …, r7     unpack a6, a7; r6 = a6 * s6; r7 = a7 * s7; word 3 = pack r6, r7
//   store words 0 … 3                store words 0 … 3
//
// Tensors are lowered operation by operation, all elements of each. What is loaded is then unpacked long before it is
// used, and 16-bit elements take twice the registers meanwhile. ptxas does not undo that where a special function
// branches (square roots and divisions that round to nearest do). The functions stay together: the branches and
// latencies of one are those of the next (one word after the other from the loads on is 2 to 8 % slower than before).
//
// An H200, 32 Mi elements of bf16: a normalised batch plus a residual (six loads, square root, division), 1,024
// elements by four warps, 54 registers and 58.1 us unordered, 40 and 53.8 us ordered and without a request for
// occupancy (occupancy.cpp, (g)).
#include "codegen_nvidia/passes/order_by_results.h"
#include "codegen/object/run_passes.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tessera::nvidia {
using namespace llvm;

namespace {

enum class Role : uint8_t { Computes, Loads, Stores, Other };

Role roleOf(const Instruction &i) {
  if (!i.mayReadOrWriteMemory() && !i.mayHaveSideEffects()) return Role::Computes;
  if (auto *load = dyn_cast<LoadInst>(&i)) return load->isVolatile() ? Role::Other : Role::Loads;
  if (isa<StoreInst>(i)) return Role::Stores;
  auto *call = dyn_cast<CallInst>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!text) return Role::Other;
  if (!text->hasSideEffects() && call->doesNotAccessMemory()) return Role::Computes; // not known to return, for LLVM
  if (!call->getType()->isVoidTy()) return isRecordedLoad(*call) ? Role::Loads : Role::Other;
  return text->getAsmString().contains("st.global") ? Role::Stores : Role::Other;
}

/// Functions of several instructions, or of the special-function unit.
bool isSpecialFunction(const Instruction &i) {
  if (i.getOpcode() == Instruction::FDiv || i.getOpcode() == Instruction::FRem) return true;
  auto *call = dyn_cast<IntrinsicInst>(&i);
  if (!call) return false;
  StringRef name = Intrinsic::getBaseName(call->getIntrinsicID());
  if (!name.consume_front("llvm.nvvm.")) name.consume_front("llvm.");
  static constexpr StringLiteral kNames[] = {"sqrt", "rsqrt", "div", "rcp", "ex2", "exp",
                                             "lg2",  "log",   "sin", "cos", "tan"};
  return llvm::any_of(kNames, [&](StringRef function) { return name.starts_with(function); });
}

/// The words that a store writes, first to last.
SmallVector<Value *> wordsOf(Instruction &store) {
  if (auto *call = dyn_cast<CallInst>(&store)) return {call->arg_begin(), call->arg_end()};
  SmallVector<Value *> words;
  Value *rest = cast<StoreInst>(store).getValueOperand();
  for (; auto *insert = dyn_cast<InsertElementInst>(rest); rest = insert->getOperand(0))
    words.push_back(insert->getOperand(1));
  words.push_back(rest);
  std::reverse(words.begin(), words.end());
  return words;
}

/// A block in its new order: memory accesses keep theirs, what they need comes before them. What is asked for together
/// keeps its order.
class Order {
public:
  explicit Order(BasicBlock &block) : block_(block) {}

  /// What computes these values, of what has no place yet.
  SmallVector<Instruction *> missing(ArrayRef<Value *> values) const {
    SmallVector<Value *> open(values);
    SmallPtrSet<Instruction *, 32> found;
    SmallVector<Instruction *> missing;
    while (!open.empty()) {
      auto *i = dyn_cast<Instruction>(open.pop_back_val());
      bool computes = i && i->getParent() == &block_ && !isa<PHINode>(i) && roleOf(*i) == Role::Computes;
      if (!computes || places_.contains(i) || !found.insert(i).second) continue;
      missing.push_back(i);
      append_range(open, i->operands());
    }
    return missing;
  }
  /// That comes next.
  void need(ArrayRef<Value *> values) {
    for (Instruction *i : missing(values)) places_[i] = next_;
    ++next_;
  }
  void access(Instruction &i) {
    need(SmallVector<Value *>(i.operands()));
    places_[&i] = next_++;
  }
  void apply() {
    Instruction *end = block_.getTerminator();
    SmallVector<Instruction *> all;
    for (Instruction &i : make_range(block_.getFirstNonPHIIt(), end->getIterator())) all.push_back(&i);
    auto place = [&](Instruction *i) { return places_.try_emplace(i, next_).first->second; }; // for other blocks: last
    llvm::stable_sort(all, [&](Instruction *a, Instruction *b) { return place(a) < place(b); });
    for (Instruction *i : all) i->moveBefore(end->getIterator());
  }

private:
  BasicBlock &block_;
  DenseMap<const Instruction *, unsigned> places_;
  unsigned next_ = 0;
};

/// Stores that follow each other without a load between them.
void orderStores(Order &order, ArrayRef<Instruction *> stores) {
  SmallVector<Value *> written, functions;
  for (Instruction *store : stores) append_range(written, store->operands());
  for (Instruction *i : order.missing(written))
    if (isSpecialFunction(*i)) functions.push_back(i);
  order.need(functions);
  for (Instruction *store : stores) {
    for (Value *word : wordsOf(*store)) order.need(word);
    order.access(*store);
  }
}

bool orderBlock(BasicBlock &block) {
  SmallVector<Instruction *> accesses;
  bool hasFunctions = false;
  for (Instruction &i : make_range(block.getFirstNonPHIIt(), block.getTerminator()->getIterator())) {
    Role role = roleOf(i);
    if (role == Role::Other) return false;
    if (role != Role::Computes) accesses.push_back(&i);
    hasFunctions |= isSpecialFunction(i);
  }
  auto loads = [](const Instruction *i) { return roleOf(*i) == Role::Loads; };
  if (!hasFunctions || llvm::none_of(accesses, loads) || loads(accesses.back())) return false;

  Order order(block);
  for (ArrayRef<Instruction *> rest = accesses; !rest.empty();) {
    ArrayRef<Instruction *> stores = rest.take_until(loads);
    if (stores.empty())
      order.access(*rest.front());
    else
      orderStores(order, stores);
    rest = rest.drop_front(std::max<size_t>(stores.size(), 1));
  }
  order.apply();
  return true;
}

} // namespace

PreservedAnalyses OrderByResultsPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f) changed |= orderBlock(block);
  if (changed) f.addFnAttr(kOrderedByResults);
  return codegen::preservedIn(changed);
}

} // namespace tessera::nvidia
