// The custom elements of assembly formats, and the operations with regions whose syntax no format describes: module,
// tt.func, scf.for, scf.if, scf.while, scf.execute_region (see parser_state.h).
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

static void endImplicitly(Region &r, Context &ctx, Module &m) {
  if (r.empty()) r.addBlock();
  if (r.back()->terminator()) return;
  auto b = Builder::atEnd(r.back());
  scf::YieldOp::create(b, ctx.unknownLoc(), {});
}

int64_t flagBit(llvm::StringRef w, bool overflow) {
  if (w == "none") return 0;
  if (overflow) return w == "nsw" ? 1 : w == "nuw" ? 2 : -1;
  static constexpr std::pair<llvm::StringLiteral, int> bits[] = {
      {"reassoc", 1}, {"nnan", 2}, {"ninf", 4}, {"nsz", 8}, {"arcp", 16}, {"contract", 32}, {"afn", 64}, {"fast", 127}};
  for (auto &[word, bit] : bits)
    if (w == word) return bit;
  return -1;
}

/// `lhs = e4m3 rhs = e2m1`
bool ParserState::parseElementTypes(OpParse &o, llvm::StringRef lhs, llvm::StringRef rhs) {
  for (auto [key, attr] : {std::pair("lhs", lhs), std::pair("rhs", rhs)}) {
    if (!lex.eatWord(key)) return error(llvm::Twine("expected '") + key + " =' and an element type");
    if (!expect("=", "an element type")) return false;
    const char *at = (lex.skipSpace(), lex.position());
    auto v = enumValue(*o.info->attr(attr)->enumInfo, lex.identifier());
    if (!v) return error("unknown element type", at);
    o.setAttr(ctx, attr, IntegerAttr::getI32(ctx, *v));
  }
  return true;
}

bool ParserState::parseCacheWords(OpParse &o, bool evict) {
  while (true) {
    const char *at = (lex.skipSpace(), lex.position());
    llvm::StringRef key = lex.eatWord("cacheModifier")             ? "cache"
                          : evict && lex.eatWord("evictionPolicy") ? "evict"
                                                                   : "";
    if (key.empty()) return true;
    if (!expect("=", "a memory operation")) return false;
    const char *vat = (lex.skipSpace(), lex.position());
    auto word = lex.identifier();
    auto *spec = o.info->attr(key);
    auto v = spec ? enumValue(*spec->enumInfo, word) : std::nullopt;
    if (!v) return error("unknown value '" + word + "'", vat);
    if (o.hasAttr(key)) return error("given twice", at);
    o.setAttr(ctx, key, IntegerAttr::getI32(ctx, *v));
  }
}

bool ParserState::parseArithmeticFlags(OpParse &o, bool overflow) {
  llvm::StringRef key = overflow ? "overflow" : "fastmath";
  if (!lex.eatWord(key)) return true;
  if (!expect("<", key)) return false;
  int64_t mask = 0;
  do {
    const char *at = (lex.skipSpace(), lex.position());
    auto w = lex.identifier();
    int64_t bit = flagBit(w, overflow);
    if (bit < 0) return error("unknown flag '" + w + "'", at);
    mask |= bit;
  } while (lex.eat(","));
  if (mask) o.setAttr(ctx, overflow ? "overflowFlags" : "fastmath", IntegerAttr::getI32(ctx, mask));
  return expect(">", key);
}

bool ParserState::parseConstant(OpParse &o) {
  if (lex.peek() == '{') {
    llvm::SmallVector<NamedAttribute, 4> more;
    if (!parseAttrDict(more)) return false;
    o.attrs.append(more.begin(), more.end());
  }
  const char *at = (lex.skipSpace(), lex.position());
  Attribute a = o.attr("value"); // in the dictionary of the generic spelling
  if (!a && !(a = parseAttribute())) return false;
  Type t = typeOfConstant(a);
  if (!t) return error("a constant must be a number or dense<…>", at);
  if (a.isa<IntegerAttr>() && t.isInteger(1) && lex.lookingAt(":")) { // `true : i1`
    lex.eat(":");
    if (!parseType()) return false;
  }
  o.setAttr(ctx, "value", a);
  o.resultTypes[0] = {t};
  return true;
}

bool ParserState::parseSelect(OpParse &o) {
  for (unsigned i = 0; i < 3; ++i) {
    OperandRef r;
    if ((i && !expect(",", "arith.select")) || !parseOperand(r)) return false;
    o.operands[i].push_back(r);
  }
  if (!parseOpAttrs(o) || !expect(":", "arith.select")) return false;
  Type t = parseType();
  if (!t) return false;
  if (lex.eat(",")) {
    o.operandTypes[0] = {t};
    if (!(t = parseType())) return false;
  }
  o.operandTypes[1] = {t};
  o.operandTypes[2] = {t};
  o.resultTypes[0] = {t};
  return true;
}

bool ParserState::parseBranch(OpParse &o) {
  o.operandTypes.clear();
  if (!parseSuccessor(o, o.operands[0])) return false;
  o.operandTypes.resize(1);
  return parseOpAttrs(o);
}

bool ParserState::parseCondBranch(OpParse &o) {
  OperandRef c;
  if (!parseOperand(c)) return false;
  o.operands[0].push_back(c);
  if (!parseOpAttrs(o)) return false;
  llvm::SmallVector<Type, 2> types[2];
  for (unsigned i = 0; i < 2; ++i) {
    o.operandTypes.clear();
    if (!expect(",", "cf.cond_br") || !parseSuccessor(o, o.operands[i + 1])) return false;
    if (!o.operandTypes.empty()) types[i] = o.operandTypes[0];
  }
  o.operandTypes.clear();
  o.operandTypes.resize(3);
  o.operandTypes[1] = types[0];
  o.operandTypes[2] = types[1];
  return true;
}

bool ParserState::parseMemDescSubslice(OpParse &o) {
  OperandRef r;
  if (!parseOperand(r) || !expect("[", "memdesc_subslice")) return false;
  o.operands[0].push_back(r);
  llvm::SmallVector<int64_t, 4> offsets;
  if (!lex.lookingAt("]")) do {
      int64_t v;
      if (!parseInteger(v)) return false;
      offsets.push_back(v);
    } while (lex.eat(","));
  if (!expect("]", "memdesc_subslice")) return false;
  o.setAttr(ctx, "offsets", DenseArrayAttr::getI32(ctx, offsets));
  if (!parseOpAttrs(o) || !expect(":", "memdesc_subslice")) return false;
  Type a = parseMaybeStripped(TypeRule::MemDesc);
  if (!a || !expect("->", "memdesc_subslice")) return false;
  Type b = parseMaybeStripped(TypeRule::MemDesc);
  o.operandTypes[0] = {a};
  o.resultTypes[0] = {b};
  return bool(b);
}

bool ParserState::parseBarrier(OpParse &o) {
  int64_t mask = 0;
  do {
    const char *at = (lex.skipSpace(), lex.position());
    auto w = lex.identifier();
    int64_t bit = w == "none"           ? 0
                  : w == "local"        ? 1
                  : w == "global_read"  ? 2
                  : w == "global_write" ? 4
                  : w == "tensor_read"  ? 8
                  : w == "tensor_write" ? 16
                  : w == "all"          ? 31
                                        : -1;
    if (bit < 0) return error("unknown address space '" + w + "'", at);
    mask |= bit;
  } while (lex.eat("|"));
  o.setAttr(ctx, "addrSpace", IntegerAttr::getI32(ctx, mask));
  return parseOpAttrs(o);
}

bool ParserState::parseTokenDep(OpParse &o) {
  if (!lex.eat("[")) return true;
  if (lex.peek() == '%') {
    OperandRef r;
    if (!parseOperand(r)) return false;
    o.operands[1].push_back(r);
  }
  // A token result follows.
  for (unsigned i = 0; i < o.info->results.size(); ++i)
    if (o.info->results[i].name == "token") o.resultTypes[i] = {AsyncTokenType::get(ctx)};
  return expect("]", "a token");
}

bool ParserState::parseTcGen5Mma(OpParse &o, bool scaled) {
  // %a, %b, %d[%dep], %useD, %pred, %bar[%p] {…} : types; the scaled one has %a_scale, %b_scale after %d and its
  // element types after %pred
  auto group = [&](llvm::StringRef operand) -> auto & {
    for (unsigned i = 0;; ++i)
      if (o.info->operands[i].name == operand) return o.operands[i];
  };
  auto operand = [&](llvm::StringRef n) {
    OperandRef r;
    if (!parseOperand(r)) return false;
    group(n).push_back(r);
    return true;
  };
  auto comma = [&] { return expect(",", o.info->name); };
  if (!operand("a") || !comma() || !operand("b") || !comma() || !operand("d")) return false;
  if (lex.eat("[")) {
    if (lex.peek() == '%' && !operand("acc_dep")) return false;
    o.resultTypes[0] = {AsyncTokenType::get(ctx)};
    if (!expect("]", "a token")) return false;
  }
  if (!comma() || (scaled && (!operand("a_scale") || !comma() || !operand("b_scale") || !comma())) ||
      !operand("useD") || !comma() || !operand("pred"))
    return false;
  if (scaled && (!parseElementTypes(o, "a_type", "b_type"))) return false;
  while (lex.eat(","))
    if (!operand("barriers") || !expect("[", "a barrier") || !operand("barrier_preds") || !expect("]", "a barrier"))
      return false;
  if (!parseOpAttrs(o) || !expect(":", o.info->name)) return false;
  llvm::SmallVector<llvm::StringRef, 5> typed = {"a", "b", "d"};
  if (scaled) typed.append({"a_scale", "b_scale"});
  auto typesOf = [&](llvm::StringRef n) -> auto & { return o.operandTypes[&group(n) - o.operands.data()]; };
  for (auto [i, n] : llvm::enumerate(typed)) {
    if (i && !comma()) return false;
    Type t = parseMaybeStripped(TypeRule::MemDesc);
    if (!t) return false;
    typesOf(n) = {t};
  }
  for (unsigned i = 0; i < group("barriers").size(); ++i) {
    if (!comma()) return false;
    Type t = parseMaybeStripped(TypeRule::MemDesc);
    if (!t) return false;
    typesOf("barriers").push_back(t);
  }
  return true;
}

bool ParserState::parseBufferLoadToLocal(OpParse &o) {
  OperandRef ptr, offsets;
  if (!parseOperand(ptr) || !expect("[", "buffer_load_to_local") || !parseOperand(offsets) ||
      !expect("]", "buffer_load_to_local"))
    return false;
  o.operands[1] = {ptr};
  o.operands[2] = {offsets};
  for (auto [key, index] : {std::pair("mask", 3u), std::pair("other", 4u), std::pair("stride", 5u)})
    if (lex.eatWord(key)) {
      OperandRef r;
      if (!expect("=", key) || !parseOperand(r)) return false;
      o.operands[index] = {r};
    }
  if (!parseCustom(o, "Cache")) return false;
  if (!lex.eatWord("into")) return error("expected 'into' in 'amdg.buffer_load_to_local'");
  OperandRef dest;
  if (!parseOperand(dest)) return false;
  o.operands[0] = {dest};
  if (!parseOpAttrs(o) || !expect(":", "buffer_load_to_local")) return false;
  Type p = parseMaybeStripped(TypeRule::Ptr);
  if (!p || !expect("[", "buffer_load_to_local")) return false;
  Type off = parseType();
  if (!off || !expect("]", "buffer_load_to_local")) return false;
  if (!lex.lookingAt("->")) {
    Type other = parseType();
    if (!other) return false;
    if (!o.operands[4].empty()) o.operandTypes[4] = {other};
  }
  if (!expect("->", "buffer_load_to_local")) return false;
  Type d = parseMaybeStripped(TypeRule::MemDesc);
  o.operandTypes[0] = {d};
  o.operandTypes[1] = {p};
  o.operandTypes[2] = {off};
  return bool(d);
}

bool ParserState::parseDotScaled(OpParse &o) {
  enum Operand : unsigned { A, B, C, AScale, BScale }; // of the row
  auto operand = [&](Operand which) {
    OperandRef r;
    if (!parseOperand(r)) return false;
    o.operands[which].push_back(r);
    return true;
  };
  auto withScale = [&](Operand which, Operand scale) {
    return operand(which) && (!lex.eatWord("scale") || operand(scale)) && expect(",", "dot_scaled");
  };
  if (!withScale(A, AScale) || !withScale(B, BScale) || !operand(C)) return false;
  if (!parseElementTypes(o, "a_elem_type", "b_elem_type")) return false;
  if (!parseOpAttrs(o) || !expect(":", "dot_scaled")) return false;
  for (unsigned i = 0; i < 2; ++i) {
    Type t = parseType(), scale;
    if (!t) return false;
    o.operandTypes[i] = {t};
    if (lex.eat(",")) {
      if (!(scale = parseType())) return false;
      o.operandTypes[AScale + i] = {scale};
    }
    if (!expect(i ? "->" : "*", "dot_scaled")) return false;
  }
  Type d = parseType();
  o.resultTypes[0] = {d};
  return bool(d);
}

bool ParserState::parseCustom(OpParse &o, llvm::StringRef name) {
  lex.skipSpace();
  if (name == "CacheEvict") return parseCacheWords(o, /*evict=*/true);
  if (name == "Cache") return parseCacheWords(o, /*evict=*/false);
  if (name == "Overflow") return parseArithmeticFlags(o, /*overflow=*/true);
  if (name == "FastMath") return parseArithmeticFlags(o, /*overflow=*/false);
  if (name == "Constant") return parseConstant(o);
  if (name == "Select") return parseSelect(o);
  if (name == "Br") return parseBranch(o);
  if (name == "CondBr") return parseCondBranch(o);
  if (name == "MemDescSubslice") return parseMemDescSubslice(o);
  if (name == "Barrier") return parseBarrier(o);
  if (name == "TokenDep") return parseTokenDep(o);
  if (name == "TcGen5Mma") return parseTcGen5Mma(o, /*scaled=*/false);
  if (name == "TcGen5MmaScaled") return parseTcGen5Mma(o, /*scaled=*/true);
  if (name == "BufferLoadToLocal") return parseBufferLoadToLocal(o);
  if (name == "DotScaled") return parseDotScaled(o);
  return error("'" + o.info->name + "' is only read in the generic form");
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

  llvm::SmallVector<std::pair<llvm::StringRef, Type>, 8> args;
  llvm::SmallVector<const char *, 8> positions;
  llvm::SmallVector<Location, 8> locs;
  llvm::SmallVector<Attribute, 8> argAttrs, resAttrs;
  bool anyArgAttr = false, anyResAttr = false;
  auto dictionary = [&](llvm::SmallVectorImpl<Attribute> &list, bool &any) {
    llvm::SmallVector<NamedAttribute, 2> entries;
    if (lex.peek() == '{' && !parseAttrDict(entries)) return false;
    any |= !entries.empty();
    list.push_back(DictionaryAttr::get(ctx, entries));
    return true;
  };
  if (!expect("(", "a function")) return false;
  if (!lex.lookingAt(")")) do {
      OperandRef r;
      if (lex.peek() == '%') {
        if (!parseOperand(r) || !expect(":", "a function argument")) return false;
      } else
        r.at = lex.position();
      Type t = parseType();
      if (!t || !dictionary(argAttrs, anyArgAttr)) return false;
      Location l;
      if (!parseTrailingLocation(l)) return false;
      args.push_back({r.name, t});
      positions.push_back(r.at);
      locs.push_back(l);
    } while (lex.eat(","));
  if (!expect(")", "a function")) return false;
  llvm::SmallVector<Type, 2> results;
  if (lex.eat("->")) {
    if (lex.eat("(")) {
      if (!lex.lookingAt(")")) do {
          Type t = parseType();
          if (!t || !dictionary(resAttrs, anyResAttr)) return false;
          results.push_back(t);
        } while (lex.eat(","));
      if (!expect(")", "function results")) return false;
    } else {
      Type t = parseType();
      if (!t) return false;
      results.push_back(t);
    }
  }
  if (lex.eatWord("attributes")) {
    if (lex.peek() != '{') return error("expected '{' after 'attributes'");
    if (!parseOpAttrs(o)) return false;
  }
  llvm::SmallVector<Type, 8> ins;
  for (auto &a : args) ins.push_back(a.second);
  o.setAttr(ctx, "function_type", TypeAttr::get(FunctionType::get(ctx, ins, results)));
  if (anyArgAttr) o.setAttr(ctx, "arg_attrs", ArrayAttr::get(ctx, argAttrs));
  if (anyResAttr) o.setAttr(ctx, "res_attrs", ArrayAttr::get(ctx, resAttrs));
  Operation *op = build(o, block);
  if (!op) return false;
  functions_[block].insert(symbol);
  if (!lex.lookingAt("{")) return true; // a declaration
  o.inBody = true;
  if (!parseRegionBody(op->region(0), args, true, positions, locs)) return false;
  if (op->region(0).empty()) op->region(0).addBlock(); // `{}`: a body, which the verifier finds empty
  return true;
}

bool ParserState::trailingAttrs(OpParse &o, Operation *op) {
  if (!parseOpAttrs(o) || !finishAttrs(o)) return false;
  op->setAttrs(o.attrs);
  return true;
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
    if (!expect("(", "iter_args")) return false;
    if (!lex.lookingAt(")")) do {
        OperandRef a, init;
        if (!parseOperand(a) || !expect("=", "iter_args") || !parseOperand(init)) return false;
        args.push_back({a.name, Type()});
        positions.push_back(a.at);
        inits.push_back(init);
      } while (lex.eat(","));
    const char *typesAt;
    if (!expect(")", "iter_args") || !expect("->", "iter_args")) return false;
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
  endImplicitly(op->region(0), ctx, *module);
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
  endImplicitly(op->region(0), ctx, *module);
  if (lex.eatWord("else")) {
    if (!parseRegionBody(op->region(1), {}, false)) return false;
    endImplicitly(op->region(1), ctx, *module);
  }
  return trailingAttrs(o, op) && ok;
}

bool ParserState::parseWhile(OpParse &o, Block *block) {
  llvm::SmallVector<std::pair<llvm::StringRef, Type>, 8> args;
  llvm::SmallVector<const char *, 8> positions;
  llvm::SmallVector<OperandRef, 8> inits;
  if (lex.eat("(")) {
    if (!lex.lookingAt(")")) do {
        OperandRef a, init;
        if (!parseOperand(a) || !expect("=", "scf.while") || !parseOperand(init)) return false;
        args.push_back({a.name, Type()});
        positions.push_back(a.at);
        inits.push_back(init);
      } while (lex.eat(","));
    if (!expect(")", "scf.while")) return false;
  }
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
  endImplicitly(op->region(1), ctx, *module);
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
