// The custom elements of assembly formats: what `custom(Name)` of ir/ops.table stands for (see parser_state.h).
// ir/print_custom_formats.cpp writes what is read here.
#include "frontend/parser_state.h"
#include "ir/ops.h"

namespace tessera::frontend {
using namespace ir;

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
    auto word = lex.identifier();
    auto v = enumValue(*o.info->attr(attr)->enumInfo, word);
    if (!v) return error("unknown element type '" + word + "'", at);
    o.setAttr(ctx, attr, IntegerAttr::getI32(ctx, *v));
  }
  return true;
}

bool ParserState::parseCacheWords(OpParse &o, bool evict) {
  while (true) {
    const char *at = (lex.skipSpace(), lex.position());
    llvm::StringRef written = lex.eatWord("cacheModifier")             ? "cacheModifier"
                              : evict && lex.eatWord("evictionPolicy") ? "evictionPolicy"
                                                                       : "";
    if (written.empty()) return true;
    llvm::StringRef key = written == "cacheModifier" ? "cache" : "evict";
    if (!expect("=", "a memory operation")) return false;
    const char *valueAt = (lex.skipSpace(), lex.position());
    auto word = lex.identifier();
    auto *spec = o.info->attr(key);
    auto v = spec ? enumValue(*spec->enumInfo, word) : std::nullopt;
    if (!v) return error("unknown " + written + " '" + word + "'", valueAt);
    if (o.hasAttr(key)) return error("'" + written + "' is given twice", at);
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
    const char *typeAt = (lex.skipSpace(), lex.position());
    Type written = parseType();
    if (written && written != t) error("'true' and 'false' have type i1, not " + written.str(), typeAt);
    if (written != t) return false;
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

} // namespace tessera::frontend
