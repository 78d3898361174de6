// Makes an operation from the parts of its text: names are resolved to operands, types that the text leaves out are
// inferred from them, and printed types are compared. Also finds the position of an operation and its operands in the
// text, for the verifier's errors.
#include "frontend/parser_state.h"
#include "ir/ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tessera::frontend {
using namespace ir;

// ---- making the operation -------------------------------------------------------------------------------------------

/// A load or store of older dumps prints the type of the value, not of the pointer: moves it to where it belongs.
static void moveOlderTypes(ParserState::OpParse &o) {
  Opcode opcode = o.info->opcode;
  if (opcode != Opcode::tt_load && opcode != Opcode::tt_store) return;
  bool printsValue = !o.operandTypes[0].empty() && !o.operandTypes[0][0].scalar().isPointer();
  if (!printsValue) return;
  (opcode == Opcode::tt_load ? o.resultTypes[0] : o.operandTypes[1]) = o.operandTypes[0];
  o.operandTypes[0].clear();
}

Type ParserState::impliedOperandType(const OpParse &o, unsigned operand) {
  auto &info = *o.info;
  auto printedOf = [&](unsigned k) { return !o.operandTypes[k].empty() ? o.operandTypes[k][0] : Type(); };
  if (info.has(kSameTypes))
    return !o.resultTypes.empty() && !o.resultTypes[0].empty() ? o.resultTypes[0][0] : printedOf(0);
  Type first = operand ? printedOf(0) : Type();
  if (!first) return {};
  if (info.opcode == Opcode::arith_cmpi || info.opcode == Opcode::arith_cmpf) return first;
  bool followsPointer =
      info.opcode == Opcode::tt_load || info.opcode == Opcode::tt_store || info.opcode == Opcode::tt_atomic_store;
  if (!followsPointer) return {};
  auto pointer = first.scalar().dyn_cast<PointerType>();
  if (!pointer || pointer.pointee().isTensor()) return {};
  bool mask = info.operands[operand].name == "mask";
  return first.withScalar(mask ? ctx.i1() : pointer.pointee());
}

bool ParserState::buildOperands(OpParse &o, OperationState &s) {
  auto &info = *o.info;
  bool needsSegments = info.needsSegments();
  unsigned flat = 0; // number of the operand in the operation
  for (unsigned i = 0; i < info.operands.size(); ++i) {
    auto &spec = info.operands[i];
    if (spec.arity == Arity::One && o.operands[i].empty())
      return error("'" + info.name + "' needs operand '" + spec.name + "'", o.at);
    auto &types = o.operandTypes[i];
    if (!types.empty() && types.size() != o.operands[i].size())
      return error("operand '" + spec.name + "' has " + counted(o.operands[i].size(), "value") + " but " +
                       counted(types.size(), "type"),
                   o.at);
    for (unsigned k = 0; k < o.operands[i].size(); ++k, ++flat) {
      Type printed = k < types.size() ? types[k] : Type();
      if (!printed && o.allOperandTypes && flat < o.allOperandTypes->size()) printed = (*o.allOperandTypes)[flat];
      Value v = resolve(o.operands[i][k], printed ? printed : impliedOperandType(o, i));
      if (!v) return false;
      if (printed && v.type() != printed)
        return error("'%" + o.operands[i][k].name + "' has type " + v.type().str() + ", not " + printed.str(),
                     o.operands[i][k].at);
      s.operands.push_back(v);
    }
    if (needsSegments) s.segments.push_back(o.operands[i].size());
  }
  if (o.allOperandTypes && o.allOperandTypes->size() != s.operands.size())
    return error("'" + info.name + "' has " + counted(s.operands.size(), "operand") + " but its type gives " +
                     llvm::Twine(o.allOperandTypes->size()),
                 o.at);
  return true;
}

bool ParserState::buildResultTypes(OpParse &o, OperationState &s) {
  auto &info = *o.info;
  if (o.allResultTypes) {
    s.resultTypes.assign(o.allResultTypes->begin(), o.allResultTypes->end());
    return true;
  }
  // A variadic result that takes its types from an operand has one per value of it.
  for (unsigned i = 0; i < info.results.size(); ++i) {
    auto &inference = info.inference[i];
    bool followsOperand = info.results[i].arity == Arity::Variadic && o.resultTypes[i].empty() &&
                          InferRule(inference.rule) == InferRule::SameAs;
    if (!followsOperand) continue;
    unsigned start = 0;
    for (unsigned k = 0; k < inference.operand; ++k) start += o.operands[k].size();
    for (unsigned k = 0; k < o.operands[inference.operand].size(); ++k)
      o.resultTypes[i].push_back(s.operands[start + k].type());
  }
  bool allPrinted = true;
  for (unsigned i = 0; i < info.results.size(); ++i)
    allPrinted &= !o.resultTypes[i].empty() || info.results[i].arity != Arity::One;
  if (!allPrinted) return inferMissingResults(o, s);
  for (auto &types : o.resultTypes) s.resultTypes.append(types.begin(), types.end());
  return true;
}

/// Printed types are kept; the others follow by the row's rules, one result after the other.
bool ParserState::inferMissingResults(OpParse &o, OperationState &s) {
  auto &info = *o.info;
  llvm::SmallVector<Type, 2> inferred;
  for (unsigned i = 0; i < info.results.size(); ++i) {
    if (!o.resultTypes[i].empty()) {
      inferred.push_back(o.resultTypes[i][0]);
      continue;
    }
    OpInfo one = info;
    one.inference = info.inference.slice(i, 1);
    llvm::SmallVector<Type, 2> type(inferred.begin(), inferred.end());
    bool known = inferResultTypes(one, ctx, s.operands, s.segments, type) && type.size() == inferred.size() + 1;
    if (known)
      if (auto opaque = type.back().scalar().dyn_cast<OpaqueType>()) known = opaque.text() != "!unknown";
    if (!known) return error("cannot infer the result type of '" + info.name + "' from its operands", o.at);
    inferred.push_back(type.back());
  }
  s.resultTypes.assign(inferred.begin(), inferred.end());
  return true;
}

/// Whether an attribute is written out with the value that it has by default.
static bool isDefault(const OpInfo &info, const NamedAttribute &a) {
  auto *spec = info.attr(a.name);
  if (!spec || !spec->hasDefault) return false;
  auto i = a.value.dyn_cast<IntegerAttr>();
  if (!i || i.value().getSignificantBits() > 64) return false;
  return (i.isBool() ? int64_t(i.zext()) : i.sext()) == spec->defaultValue;
}

Operation *ParserState::build(OpParse &o, Block *block) {
  auto &info = *o.info;
  if (!finishAttrs(o)) return nullptr;
  OperationState s(info.opcode, {});
  moveOlderTypes(o);
  if (!buildOperands(o, s) || !buildResultTypes(o, s)) return nullptr;
  // The number of results before `=` decides about a single variadic result.
  unsigned fixed = llvm::count_if(info.results, [](auto &r) { return r.arity == Arity::One; });
  bool open = llvm::any_of(info.results, [](auto &r) { return r.arity != Arity::One; });
  if (s.resultTypes.size() < fixed || (!open && s.resultTypes.size() > fixed)) {
    error("'" + info.name + "' gives " + counted(fixed, "result") + ", not " + llvm::Twine(s.resultTypes.size()), o.at);
    return nullptr;
  }
  for (auto &a : o.attrs)
    if (!isDefault(info, a)) s.attrs.push_back(a);
  s.successors = o.successors;
  s.numRegions = info.numRegions == kAnyNumber ? 0 : info.numRegions;
  return emit(s, block, o.at);
}

Operation *ParserState::emit(const OperationState &s, Block *block, const char *at) {
  Operation *op = module->createOperation(s);
  block->append(op);
  positions_[op] = at;
  return op;
}

SourcePosition ParserState::positionOf(const Operation *op) const {
  for (; op; op = op->parentOp())
    if (auto it = positions_.find(op); it != positions_.end()) return positionOf(it->second);
  return {};
}

DiagnosticEngine::TextPlace ParserState::placeOf(const Operation *op, int operand) {
  for (; op; op = op->parentOp(), operand = -1)
    if (auto it = positions_.find(op); it != positions_.end()) {
      const char *at = it->second;
      if (operand >= 0)
        if (const char *o = placeOfOperand(*op, operand, at)) at = o;
      Diagnostic d = makeError("", at);
      return {std::move(d.position), std::move(d.snippet)};
    }
  return {};
}

const char *ParserState::placeOfOperand(const Operation &op, unsigned operand, const char *at) {
  // The operation is read once more, without a word: that costs nothing where nothing is wrong.
  llvm::SaveAndRestore quiet(quiet_, true);
  lex.seek(at);
  llvm::SmallVector<OperandRef, 8> refs;
  if (lex.peek() == '"') {
    std::string name;
    if (!lex.string(name) || !lex.eat("(") || !parseOperandList(refs)) return nullptr;
  } else {
    auto *info = lookupOp(lex.identifier());
    auto &format = op.info().format;
    if (!info || info != &op.info() || format.empty() || info->has(kGenericForm)) return nullptr;
    OpParse o;
    startOp(o, *info, at);
    regions_.emplace_back(); // for the names of successors
    bool ok = parseFormat(o, assemblyFormat(*info));
    regions_.pop_back();
    if (!ok) return nullptr;
    for (auto &group : o.operands) refs.append(group.begin(), group.end());
  }
  return operand < refs.size() ? refs[operand].at : nullptr;
}

} // namespace tessera::frontend
