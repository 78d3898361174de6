// Inline PTX under construction (see inline_ptx.h).
#include "codegen_nvidia/inline_ptx.h"
#include "codegen/address_spaces.h"
#include "llvm/IR/InlineAsm.h"

namespace tessera::nvidia {
using namespace llvm;

static constexpr StringLiteral kWritesMemory = "~{memory}"; // a constraint of inline assembly

/// The letter of the registers that hold a type.
static const char *registerOf(Type *t) {
  if (t->isIntegerTy(1)) return "b";
  if (t->isIntegerTy(16)) return "h";
  if (t->isIntegerTy(32)) return "r";
  if (t->isFloatTy()) return "f";
  if (t->isDoubleTy()) return "d";
  return "l";
}

void InlinePtx::addResults(Type *type, unsigned count, bool areEarly) {
  for (unsigned i = 0; i < count; ++i) {
    constraints_ += std::string(constraints_.empty() ? "=" : ",=") + (areEarly ? "&" : "") + registerOf(type);
    results_.push_back(type);
  }
}

std::string InlinePtx::add(Value *v, const std::string &constraint) {
  operands_.push_back(v);
  constraints_ += (constraints_.empty() ? "" : ",") + constraint;
  return "$" + std::to_string(results_.size() + operands_.size() - 1);
}

void InlinePtx::addTied(Value *v, unsigned result) { add(v, std::to_string(result)); }

std::string InlinePtx::operand(Value *v) {
  if (v->getType()->isPointerTy() && v->getType()->getPointerAddressSpace() == codegen::kSharedSpace)
    v = b_.CreatePtrToInt(v, b_.getInt32Ty());
  return add(v, registerOf(v->getType()));
}

std::string InlinePtx::operands(ArrayRef<Value *> values) {
  unsigned first = results_.size() + operands_.size();
  for (Value *v : values) operand(v);
  return list(first, values.size());
}

std::string InlinePtx::list(unsigned first, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i) s += (i ? ", $" : "$") + std::to_string(first + i);
  return s + "}";
}

CallInst *InlinePtx::emit(StringRef text, Effects effects) {
  if (effects == Effects::Memory) constraints_ += (constraints_.empty() ? "" : ",") + kWritesMemory.str();
  Type *result = results_.empty()       ? b_.getVoidTy()
                 : results_.size() == 1 ? results_[0]
                                        : StructType::get(b_.getContext(), results_);
  SmallVector<Type *, 16> types;
  for (Value *v : operands_) types.push_back(v->getType());
  auto *type = FunctionType::get(result, types, false);
  auto *call = b_.CreateCall(type, InlineAsm::get(type, text, constraints_, effects != Effects::None), operands_);
  if (effects == Effects::None) call->setDoesNotAccessMemory();
  return call;
}

CallInst *InlinePtx::emitConvergent(StringRef text, Effects effects) {
  CallInst *call = emit(text, effects);
  call->setConvergent();
  return call;
}

SmallVector<Value *, 4> InlinePtx::resultsOf(CallInst *call) {
  SmallVector<Value *, 4> values;
  for (unsigned i = 0; i < results_.size(); ++i)
    values.push_back(results_.size() == 1 ? call : b_.CreateExtractValue(call, i));
  return values;
}

bool writesMemory(const Instruction &i) {
  auto *call = dyn_cast<CallBase>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return text ? StringRef(text->getConstraintString()).contains(kWritesMemory) : i.mayWriteToMemory();
}

} // namespace tessera::nvidia
