// The operations with regions whose syntax no format describes: module, tt.func, scf.for, scf.if, scf.while,
// scf.execute_region, ttg.warp_specialize (see parser_state.h).
#include "frontend/parser_state.h"
#include "ir/loops.h"
#include "ir/ops.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {
using namespace ir;

/// The name a value had in the text, as a location, unless it is one the printer would make up (`%arg3`, `%0`): loops
/// print no locations for their arguments, so this is what keeps the names.
static Location nameFromText(Context &ctx, llvm::StringRef name) {
  llvm::StringRef digits = name;
  if (name.empty() || llvm::isDigit(name[0]) ||
      (digits.consume_front("arg") && !digits.empty() && llvm::all_of(digits, llvm::isDigit)))
    return {};
  // Without the suffix that made it unique, nor one before that: what is printed without it would lose another when
  // read again.
  while (true) {
    auto cut = name.rfind('_');
    if (cut == llvm::StringRef::npos || cut == 0 || cut + 1 == name.size() ||
        !llvm::all_of(name.substr(cut + 1), llvm::isDigit))
      break;
    name = name.substr(0, cut);
  }
  return ctx.nameLoc(name);
}

static void endImplicitly(Region &r, Context &ctx) {
  if (r.empty()) r.addBlock();
  if (r.back()->terminator()) return;
  auto b = Builder::atEnd(r.back());
  scf::YieldOp::create(b, ctx.unknownLoc(), {});
}

bool ParserState::parseModule(OpParse &o, Block *block) {
  if (lex.peek() == '@') {
    Attribute a = parseAttribute();
    if (!a) return false;
    o.setAttr(ctx, "sym_name", StringAttr::get(ctx, a.cast<SymbolAttr>().value()));
  }
  if (lex.eatWord("attributes")) {
    llvm::SmallVector<NamedAttribute, 8> more;
    if (!parseAttrDict(more)) return false;
    o.attrs.append(more.begin(), more.end());
  }
  Operation *op = build(o, block);
  if (!op) return false;
  bool ok = parseRegionBody(op->region(0), {}, true);
  if (op->region(0).empty()) op->region(0).addBlock();
  return ok;
}

bool ParserState::parseDictionary(llvm::SmallVectorImpl<Attribute> &list, bool &any) {
  llvm::SmallVector<NamedAttribute, 2> entries;
  if (lex.peek() == '{' && !parseAttrDict(entries)) return false;
  any |= !entries.empty();
  list.push_back(DictionaryAttr::get(ctx, entries));
  return true;
}

bool ParserState::parseFunctionArguments(FunctionHead &f) {
  if (!expect("(", "a function")) return false;
  if (!lex.lookingAt(")")) do {
      OperandRef r;
      if (lex.peek() == '%') {
        if (!parseOperand(r) || !expect(":", "a function argument")) return false;
      } else
        r.at = lex.position();
      Type t = parseType();
      if (!t || !parseDictionary(f.argAttrs, f.anyArgAttr)) return false;
      Location l;
      if (!parseTrailingLocation(l)) return false;
      f.args.push_back({r.name, t});
      f.positions.push_back(r.at);
      f.locs.push_back(l);
    } while (lex.eat(","));
  return expect(")", "a function");
}

/// `-> type` or `-> (type {attributes}, …)`, if it is there.
bool ParserState::parseFunctionResults(FunctionHead &f) {
  if (!lex.eat("->")) return true;
  if (!lex.eat("(")) {
    Type t = parseType();
    if (t) f.results.push_back(t);
    return bool(t);
  }
  if (!lex.lookingAt(")")) do {
      Type t = parseType();
      if (!t || !parseDictionary(f.resAttrs, f.anyResAttr)) return false;
      f.results.push_back(t);
    } while (lex.eat(","));
  return expect(")", "function results");
}

bool ParserState::parseFunc(OpParse &o, Block *block) {
  for (auto v : {"public", "private", "nested"})
    if (lex.eatWord(v)) {
      o.setAttr(ctx, "sym_visibility", StringAttr::get(ctx, v));
      break;
    }
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.peek() != '@') return error("expected the function's name, such as @kernel");
  Attribute name = parseAttribute();
  if (!name) return false;
  auto symbol = name.cast<SymbolAttr>().value();
  if (functions_[block].contains(symbol)) return error("function '@" + symbol + "' is defined twice", at);
  o.setAttr(ctx, "sym_name", StringAttr::get(ctx, symbol));

  FunctionHead f;
  if (!parseFunctionArguments(f) || !parseFunctionResults(f)) return false;
  if (lex.eatWord("attributes")) {
    if (lex.peek() != '{') return error("expected '{' after 'attributes'");
    if (!parseOpAttrs(o)) return false;
  }
  llvm::SmallVector<Type, 8> ins;
  for (auto &a : f.args) ins.push_back(a.second);
  o.setAttr(ctx, "function_type", TypeAttr::get(FunctionType::get(ctx, ins, f.results)));
  if (f.anyArgAttr) o.setAttr(ctx, "arg_attrs", ArrayAttr::get(ctx, f.argAttrs));
  if (f.anyResAttr) o.setAttr(ctx, "res_attrs", ArrayAttr::get(ctx, f.resAttrs));
  Operation *op = build(o, block);
  if (!op) return false;
  functions_[block].insert(symbol);
  if (!lex.lookingAt("{")) return true; // a declaration
  o.inBody = true;
  if (!parseRegionBody(op->region(0), f.args, true, f.positions, f.locs)) return false;
  if (op->region(0).empty()) op->region(0).addBlock(); // `{}`: a body, which the verifier finds empty
  return true;
}

bool ParserState::trailingAttrs(OpParse &o, Operation *op) {
  if (!parseOpAttrs(o) || !finishAttrs(o)) return false;
  op->setAttrs(o.attrs);
  return true;
}

bool ParserState::parseInitialized(llvm::StringRef context,
                                   llvm::SmallVectorImpl<std::pair<llvm::StringRef, Type>> &args,
                                   llvm::SmallVectorImpl<const char *> &positions,
                                   llvm::SmallVectorImpl<OperandRef> &inits) {
  if (!lex.lookingAt(")")) do {
      OperandRef a, init;
      if (!parseOperand(a) || !expect("=", context) || !parseOperand(init)) return false;
      args.push_back({a.name, Type()});
      positions.push_back(a.at);
      inits.push_back(init);
    } while (lex.eat(","));
  return expect(")", context);
}

bool ParserState::parseFor(OpParse &o, Block *block) {
  if (lex.eatWord("unsigned")) o.setAttr(ctx, "unsignedCmp", UnitAttr::get(ctx));
  OperandRef iv, bounds[3];
  if (!parseOperand(iv) || !expect("=", "scf.for") || !parseOperand(bounds[0])) return false;
  if (!lex.eatWord("to")) return error("expected 'to' in 'scf.for'");
  if (!parseOperand(bounds[1])) return false;
  if (!lex.eatWord("step")) return error("expected 'step' in 'scf.for'");
  if (!parseOperand(bounds[2])) return false;
  llvm::SmallVector<std::pair<llvm::StringRef, Type>, 8> args;
  llvm::SmallVector<const char *, 8> positions;
  llvm::SmallVector<OperandRef, 8> inits;
  llvm::SmallVector<Type, 8> types;
  args.push_back({iv.name, Type()});
  positions.push_back(iv.at);
  if (lex.eatWord("iter_args")) {
    const char *typesAt;
    if (!expect("(", "iter_args") || !parseInitialized("iter_args", args, positions, inits) ||
        !expect("->", "iter_args"))
      return false;
    typesAt = (lex.skipSpace(), lex.position());
    if (lex.peek() == '(') {
      if (!parseTypeListParens(types)) return false;
    } else {
      Type t = parseType();
      if (!t) return false;
      types.push_back(t);
    }
    if (types.size() != inits.size())
      return error("scf.for carries " + counted(inits.size(), "value") + " but gives " + counted(types.size(), "type"),
                   typesAt);
  }
  Type ivType = ctx.index();
  if (lex.eat(":") && !(ivType = parseType())) return false;
  args[0].second = ivType;
  OperationState s(Opcode::scf_for, {});
  bool ok = true;
  for (auto &b : bounds) s.operands.push_back(resolveTyped(b, ivType, ok));
  for (unsigned i = 0; i < inits.size(); ++i) {
    s.operands.push_back(resolveTyped(inits[i], types[i], ok));
    args[kFirstCarriedArgument + i].second = types[i];
  }
  s.resultTypes.assign(types.begin(), types.end());
  s.attrs.assign(o.attrs.begin(), o.attrs.end());
  s.numRegions = 1;
  Operation *op = emit(s, block, o.at);
  llvm::SmallVector<Location, 8> locs;
  for (auto &a : args) locs.push_back(nameFromText(ctx, a.first));
  if (!parseRegionBody(op->region(0), args, false, positions, locs)) return false;
  endImplicitly(op->region(0), ctx);
  return trailingAttrs(o, op) && ok;
}

bool ParserState::parseIf(OpParse &o, Block *block) {
  OperandRef c;
  if (!parseOperand(c)) return false;
  OperationState s(Opcode::scf_if, {});
  if (lex.eat("->")) {
    llvm::SmallVector<Type, 4> types;
    if (lex.peek() == '(' ? !parseTypeListParens(types) : !parseTypeList(types)) return false;
    s.resultTypes.assign(types.begin(), types.end());
  }
  bool ok = true;
  s.operands.push_back(resolveTyped(c, ctx.i1(), ok));
  s.numRegions = 2;
  Operation *op = emit(s, block, o.at);
  if (!parseRegionBody(op->region(0), {}, false)) return false;
  endImplicitly(op->region(0), ctx);
  if (lex.eatWord("else")) {
    if (!parseRegionBody(op->region(1), {}, false)) return false;
    endImplicitly(op->region(1), ctx);
  }
  return trailingAttrs(o, op) && ok;
}

bool ParserState::parseWhile(OpParse &o, Block *block) {
  llvm::SmallVector<std::pair<llvm::StringRef, Type>, 8> args;
  llvm::SmallVector<const char *, 8> positions;
  llvm::SmallVector<OperandRef, 8> inits;
  if (lex.eat("(") && !parseInitialized("scf.while", args, positions, inits)) return false;
  llvm::SmallVector<Type, 8> ins, outs;
  if (!expect(":", "scf.while")) return false;
  const char *typesAt = (lex.skipSpace(), lex.position());
  if (!parseFunctionalType(ins, outs)) return false;
  if (ins.size() != inits.size())
    return error("scf.while carries " + counted(inits.size(), "value") + " but gives " + counted(ins.size(), "type"),
                 typesAt);
  OperationState s(Opcode::scf_while, {});
  bool ok = true;
  for (unsigned i = 0; i < inits.size(); ++i) {
    s.operands.push_back(resolveTyped(inits[i], ins[i], ok));
    args[i].second = ins[i];
  }
  s.resultTypes.assign(outs.begin(), outs.end());
  s.numRegions = 2;
  Operation *op = emit(s, block, o.at);
  llvm::SmallVector<Location, 8> locs;
  for (auto &a : args) locs.push_back(nameFromText(ctx, a.first));
  if (!parseRegionBody(op->region(0), args, false, positions, locs)) return false;
  if (!lex.eatWord("do")) return error("expected 'do' in 'scf.while'");
  if (!parseRegionBody(op->region(1), {}, false)) return false;
  endImplicitly(op->region(1), ctx);
  if (lex.eatWord("attributes")) {
    if (lex.peek() != '{') return error("expected '{' after 'attributes'");
    return trailingAttrs(o, op) && ok;
  }
  return ok;
}

bool ParserState::parseExecuteRegion(OpParse &o, Block *block) {
  OperationState s(Opcode::scf_execute_region, {});
  if (lex.eat("->")) {
    llvm::SmallVector<Type, 4> types;
    if (lex.peek() == '(' ? !parseTypeListParens(types) : !parseTypeList(types)) return false;
    s.resultTypes.assign(types.begin(), types.end());
  }
  if (lex.eatWord("no_inline")) o.setAttr(ctx, "no_inline", UnitAttr::get(ctx));
  s.numRegions = 1;
  Operation *op = emit(s, block, o.at);
  if (!parseRegionBody(op->region(0), {}, false)) return false;
  return trailingAttrs(o, op);
}

bool ParserState::parseWarpSpecialize(OpParse &o, Block *block) {
  // ttg.warp_specialize(%a) attributes {…} default {…} partition0(%b: ty) num_warps(4) {…} : (ty) -> ()
  llvm::SmallVector<OperandRef, 8> captures;
  if (!expect("(", "warp_specialize")) return false;
  if (!lex.lookingAt(")") && !parseOperandList(captures)) return false;
  if (!expect(")", "warp_specialize")) return false;
  if (lex.eatWord("attributes")) {
    if (lex.peek() != '{') return error("expected '{' after 'attributes'");
    if (!parseOpAttrs(o)) return false;
  }
  // The captures' types come last, so the operation is made with what it holds first and gets its operands then.
  OperationState holderState(Opcode::unregistered, {});
  holderState.numRegions = 1;
  Operation *defaultHolder = module->createOperation(holderState);
  if (!lex.eatWord("default")) return error("expected 'default' in 'ttg.warp_specialize'");
  if (!parseRegionBody(defaultHolder->region(0), {}, false)) return false;
  llvm::SmallVector<Operation *, 4> partitions;
  llvm::SmallVector<int64_t, 4> warps;
  while (lex.eatWord("partition" + std::to_string(partitions.size()))) {
    llvm::SmallVector<std::pair<llvm::StringRef, Type>, 8> args;
    llvm::SmallVector<const char *, 8> positions;
    llvm::SmallVector<Location, 8> locs;
    if (!expect("(", "a partition")) return false;
    if (!lex.lookingAt(")")) do {
        OperandRef r;
        Location l;
        if (!parseOperand(r) || !expect(":", "a partition's argument")) return false;
        Type t = parseType();
        if (!t || !parseTrailingLocation(l)) return false;
        args.push_back({r.name, t});
        positions.push_back(r.at);
        locs.push_back(l);
      } while (lex.eat(","));
    if (!expect(")", "a partition")) return false;
    if (!lex.eatWord("num_warps")) return error("expected 'num_warps' in a partition");
    if (!expect("(", "num_warps")) return false;
    const char *at = (lex.skipSpace(), lex.position());
    int64_t n;
    if (!parseInteger(n)) return false;
    if (n < 1 || n > 64) return error("a partition has 1 to 64 warps", at);
    if (!expect(")", "num_warps")) return false;
    warps.push_back(n);
    partitions.push_back(module->createOperation(holderState));
    if (!parseRegionBody(partitions.back()->region(0), args, true, positions, locs)) return false;
  }
  if (!expect(":", "warp_specialize")) return false;
  const char *typesAt = (lex.skipSpace(), lex.position());
  llvm::SmallVector<Type, 8> ins, outs;
  if (!parseFunctionalType(ins, outs)) return false;
  if (ins.size() != captures.size())
    return error("'ttg.warp_specialize' captures " + counted(captures.size(), "value") + " but gives " +
                     counted(ins.size(), "type"),
                 typesAt);
  o.setAttr(ctx, "partitionNumWarps", DenseArrayAttr::getI32(ctx, warps));
  if (!finishAttrs(o)) return false;
  bool ok = true;
  OperationState s(Opcode::ttg_warp_specialize, {});
  for (auto [ref, type] : llvm::zip(captures, ins)) s.operands.push_back(resolveTyped(ref, type, ok));
  s.resultTypes.assign(outs.begin(), outs.end());
  s.attrs.assign(o.attrs.begin(), o.attrs.end());
  s.numRegions = 2;
  Operation *op = emit(s, block, o.at);
  op->region(0).takeBody(defaultHolder->region(0));
  OperationState holder(Opcode::ttg_warp_specialize_partitions, {});
  holder.numRegions = partitions.size();
  Operation *inner = emit(holder, op->region(1).addBlock(), o.at);
  for (auto [i, p] : llvm::enumerate(partitions)) inner->region(i).takeBody(p->region(0));
  return ok;
}

} // namespace tessera::frontend
