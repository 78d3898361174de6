// The op table at run time: lookups, effects and the inference of result types (see op_table.h).
#include "ir/op_table.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "llvm/ADT/StringMap.h"

namespace tessera::ir {
#include "ir_generated/op_rows.inc"

static const OpInfo kUnregistered = {"unregistered",
                                     Opcode::unregistered,
                                     "generic",
                                     {},
                                     {},
                                     {},
                                     {},
                                     kGenericForm,
                                     kReadsGlobal | kWritesGlobal | kReadsShared | kWritesShared | kSynchronizes,
                                     kAnyNumber,
                                     kAnyNumber,
                                     nullptr,
                                     nullptr,
                                     "An operation of an unknown dialect, carried along."};

const OpInfo &opInfo(Opcode o) { return o == Opcode::unregistered ? kUnregistered : kRows[unsigned(o)]; }
llvm::ArrayRef<OpInfo> allOps() { return kRows; }

const OpInfo *lookupOp(llvm::StringRef name) {
  static const llvm::StringMap<const OpInfo *> map = [] {
    llvm::StringMap<const OpInfo *> m;
    for (auto &row : kRows) m[row.name] = &row;
    return m;
  }();
  return map.lookup(name);
}

llvm::StringRef enumName(const EnumInfo &e, int64_t value) {
  for (auto &c : e.cases)
    if (c.value == value) return c.name;
  return {};
}
std::optional<int32_t> enumValue(const EnumInfo &e, llvm::StringRef name) {
  for (auto &c : e.cases)
    if (c.name == name) return c.value;
  return std::nullopt;
}

bool OpInfo::needsSegments() const {
  unsigned n = 0;
  for (auto &o : operands) n += o.arity != Arity::One;
  return n > 1;
}
const AttrSpec *OpInfo::attr(llvm::StringRef n) const {
  for (auto &a : attrs)
    if (a.name == n) return &a;
  return nullptr;
}

uint8_t effectsOf(Operation *op) {
  uint8_t e = op->info().effects;
  // What a row says at most; some operations do less.
  if (auto load = op->dyn<tt::LoadOp>(); load && load.isVolatile()) e |= kWritesGlobal;
  if (auto asm_ = op->dyn<tt::ElementwiseInlineAsmOp>(); asm_ && asm_.pure()) e = 0;
  if (auto ext = op->dyn<tt::ExternElementwiseOp>(); ext && !ext.pure()) e |= kReadsGlobal | kWritesGlobal;
  if (auto alloc = op->dyn<ttg::LocalAllocOp>(); alloc && alloc.src()) e |= kWritesShared;
  for (auto &r : op->regions())
    for (auto *b = r.front(); b; b = b->next())
      for (auto &inner : *b) e |= effectsOf(&inner);
  return e;
}
bool isPure(Operation *op) { return effectsOf(op) == 0; }

bool isTriviallyDead(Operation *op) {
  if (!op->useEmpty() || op->info().has(kTerminator) || op->info().has(kSymbol)) return false;
  // Reading and allocating leave nothing behind; an allocation's own initial store goes with it.
  uint8_t e = effectsOf(op) & ~(kReadsGlobal | kReadsShared | kAllocates);
  if (op->is<ttg::LocalAllocOp>()) e &= ~kWritesShared;
  if (op->is<scf::WhileOp>()) return false; // it may not end
  return e == 0;
}

bool inferResultTypes(const OpInfo &info, Context &c, llvm::ArrayRef<Value> operands, llvm::ArrayRef<int32_t> segments,
                      llvm::SmallVectorImpl<Type> &out) {
  auto operandType = [&](unsigned i) -> Type {
    unsigned start = i;
    if (!segments.empty()) {
      start = 0;
      for (unsigned j = 0; j < i; ++j) start += segments[j];
      if (!segments[i]) return {};
    } else {
      for (unsigned j = 0; j < i; ++j)
        if (info.operands[j].arity != Arity::One) start = operands.size() - (info.operands.size() - i);
    }
    return start < operands.size() && operands[start] ? operands[start].type() : Type();
  };
  for (auto &inf : info.inference) {
    unsigned result = inf.operand - kInferredResult; // of an earlier result
    Type of = inf.operand >= kInferredResult ? (result < out.size() ? out[result] : Type())
                                             : (inf.operand < info.operands.size() ? operandType(inf.operand) : Type());
    Type t;
    switch (InferRule(inf.rule)) {
    case InferRule::None: return false;
    case InferRule::SameAs: t = of; break;
    case InferRule::Pointee: {
      if (!of) return false;
      auto p = of.scalar().dyn_cast<PointerType>();
      if (!p) return false;
      t = of.isTensor() ? of.withScalar(p.pointee()) : p.pointee();
      break;
    }
    case InferRule::BoolLike:
      if (of) t = of.withScalar(c.i1());
      break;
    case InferRule::I32: t = c.i32(); break;
    case InferRule::I64: t = c.i64(); break;
    case InferRule::I1: t = c.i1(); break;
    case InferRule::Token: t = AsyncTokenType::get(c); break;
    case InferRule::Index: t = c.index(); break;
    case InferRule::Scalar:
      if (of) t = of.scalar();
      break;
    }
    if (!t) return false;
    out.push_back(t);
  }
  return true;
}

} // namespace tessera::ir
