// Lowering of tt.elementwise_inline_asm: the text runs once per group of `packed_element` elements of each operand. The
// values of a group that are narrower than 32 bits travel packed, as many as fill a register (packed_element = 4 on i8:
// one i32 with four bytes, first element lowest); results come back the same way. Constraints and text are LLVM's
// inline assembly of the target, as in Triton. With several results the assembly returns them in order.
#include "codegen/lowering/lowering.h"
#include "ir/ops.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/Error.h"

namespace tessera::codegen {
using namespace ir;

namespace {

/// How the `pack` elements of one operand or result fill registers.
struct Packing {
  llvm::Type *element;
  unsigned perRegister, registers;
  llvm::Type *registerType;

  Packing(llvm::IRBuilder<> &b, llvm::Type *e, unsigned pack) : element(e) {
    unsigned bits = e->isPointerTy() ? 64 : std::max<unsigned>(8, e->getPrimitiveSizeInBits());
    perRegister = bits < 32 ? std::min(pack, 32 / bits) : 1;
    registers = (pack + perRegister - 1) / perRegister;
    registerType = perRegister == 1 ? e : b.getIntNTy(bits * perRegister);
  }
};

} // namespace

int64_t inlineAssemblyNumber(Operation *op) {
  int64_t n = 0, found = -1;
  op->module().op()->walk([&](Operation *o) {
    if (o == op) found = n;
    n += o->is<tt::ElementwiseInlineAsmOp>();
  });
  return found;
}

/// Adds the registers of the group that begins at element `first`. A thread with fewer elements than a group repeats
/// its last one.
static void packGroup(llvm::IRBuilder<> &b, const Elements &elements, unsigned first, const Packing &p,
                      llvm::SmallVectorImpl<llvm::Value *> &registers) {
  auto at = [&](unsigned i) {
    llvm::Value *e = elements[elements.size() == 1 ? 0 : std::min<unsigned>(first + i, elements.size() - 1)];
    return e->getType()->isIntegerTy(1) ? b.CreateZExt(e, b.getInt8Ty()) : e;
  };
  for (unsigned k = 0; k < p.registers; ++k) {
    if (p.perRegister == 1) {
      registers.push_back(at(k));
      continue;
    }
    llvm::Value *vec = llvm::PoisonValue::get(llvm::FixedVectorType::get(p.element, p.perRegister));
    for (unsigned i = 0; i < p.perRegister; ++i) vec = b.CreateInsertElement(vec, at(k * p.perRegister + i), i);
    registers.push_back(b.CreateBitCast(vec, p.registerType));
  }
}

/// Adds the elements in a register, up to `count` in all.
static void unpackRegister(llvm::IRBuilder<> &b, llvm::Value *v, const Packing &p, bool isBool, unsigned count,
                           Elements &elements) {
  if (p.perRegister > 1) v = b.CreateBitCast(v, llvm::FixedVectorType::get(p.element, p.perRegister));
  for (unsigned i = 0; i < p.perRegister && elements.size() < count; ++i) {
    llvm::Value *e = p.perRegister == 1 ? v : b.CreateExtractElement(v, i);
    elements.push_back(isBool ? b.CreateTrunc(e, b.getInt1Ty()) : e);
  }
}

bool lowerInlineAssembly(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  // Diagnostics of the assembler name the operation by this.
  auto *where =
      llvm::MDNode::get(b.getContext(), {llvm::ConstantAsMetadata::get(b.getInt64(inlineAssemblyNumber(op) + 1))});
  auto assembly = op->cast<tt::ElementwiseInlineAsmOp>();
  unsigned pack = std::max<int64_t>(1, assembly.packedElement());
  // All tensors have one shape and encoding; scalars have one element.
  unsigned n = 1;
  for (Value v : op->results()) n = std::max(n, fl.numElements(v.type()));
  for (Value v : op->operands()) n = std::max(n, fl.numElements(v.type()));

  llvm::SmallVector<Packing, 4> ins, outs;
  llvm::SmallVector<llvm::Type *, 8> inTypes, outTypes;
  for (Value v : op->operands()) {
    ins.emplace_back(b, fl.memoryType(v.type()), pack);
    inTypes.append(ins.back().registers, ins.back().registerType);
  }
  for (Value v : op->results()) {
    outs.emplace_back(b, fl.memoryType(v.type()), pack);
    outTypes.append(outs.back().registers, outs.back().registerType);
  }
  llvm::Type *resultType = outTypes.empty()       ? b.getVoidTy()
                           : outTypes.size() == 1 ? outTypes[0]
                                                  : (llvm::Type *)llvm::StructType::get(b.getContext(), outTypes);
  auto *type = llvm::FunctionType::get(resultType, inTypes, false);
  if (auto e = llvm::InlineAsm::verify(type, assembly.constraints())) {
    return fl.error(op, "has constraints that do not fit its operands: " + llvm::toString(std::move(e)));
  }
  auto *callee = llvm::InlineAsm::get(type, assembly.asmString(), assembly.constraints(), !assembly.pure());

  llvm::SmallVector<Elements, 2> results(op->numResults());
  for (unsigned r = 0; r < n; r += pack) {
    llvm::SmallVector<llvm::Value *, 8> args;
    for (auto [v, p] : llvm::zip(op->operands(), ins)) packGroup(b, fl.get(v), r, p, args);
    auto *call = b.CreateCall(type, callee, args);
    call->setMetadata("srcloc", where);
    if (assembly.pure()) {
      call->setDoesNotAccessMemory();
      call->setDoesNotThrow();
    }
    unsigned next = 0;
    for (unsigned k = 0; k < outs.size(); ++k) {
      bool isBool = fl.elementType(op->result(k).type())->isIntegerTy(1);
      for (unsigned reg = 0; reg < outs[k].registers; ++reg) {
        llvm::Value *v = outTypes.size() == 1 ? (llvm::Value *)call : b.CreateExtractValue(call, next);
        ++next;
        unpackRegister(b, v, outs[k], isBool, std::min(n, r + pack), results[k]);
      }
    }
  }
  for (unsigned k = 0; k < results.size(); ++k) {
    results[k].resize(fl.numElements(op->result(k).type()));
    fl.set(op->result(k), std::move(results[k]));
  }
  return true;
}

} // namespace tessera::codegen
