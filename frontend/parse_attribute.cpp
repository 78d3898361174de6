// Attributes (see parser_state.h), but numbers and locations.
#include "frontend/parser_state.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {
using namespace ir;

bool ParserState::balanced(llvm::StringRef &text) {
  const char *begin = lex.position();
  llvm::SmallVector<char, 16> stack;
  while (lex.position() != lex.end()) {
    char c = lex.raw();
    if (c == '"') {
      std::string s;
      const char *at = lex.position();
      if (!lex.string(s)) return error("the string does not end", at);
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') stack.push_back(c);
    if (c == '-' && lex.rawAt(1) == '>') {
      lex.bump(), lex.bump();
      continue;
    }
    if (c == ')' || c == ']' || c == '}' || c == '>') {
      char want = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
      if (stack.empty() || stack.back() != want) return error(llvm::Twine("unbalanced '") + llvm::Twine(c) + "'");
      stack.pop_back();
      lex.bump();
      if (stack.empty()) {
        text = llvm::StringRef(begin + 1, lex.position() - begin - 2);
        return true;
      }
      continue;
    }
    lex.bump();
  }
  llvm::StringRef close = llvm::StringRef(begin, lex.end() - begin).starts_with("[") ? "]" : ">";
  return error("expected '" + close + "' before the end of the input", begin);
}

Attribute ParserState::parseHashAttribute() {
  DepthGuard guard(*this);
  if (!guard.ok) return {};
  const char *at = lex.position();
  lex.bump(); // #
  auto name = lex.suffixIdentifier();
  if (name.empty()) return error("expected an attribute's name after '#'", at), Attribute();
  if (!name.contains('.')) {
    auto it = attrAliases_.find(name);
    if (it == attrAliases_.end()) return error("undefined attribute alias '#" + name + "'", at), Attribute();
    auto &alias = it->second;
    if (!readAlias(alias, "attribute alias '#", name, at, [&] { return readAttributeAlias(alias); })) return {};
    if (alias.isLocation) return error("'#" + name + "' is a location, not an attribute", at), Attribute();
    return alias.attr;
  }
  auto [dialect, mnemonic] = name.split('.');
  if ((dialect == "ttg" || dialect == "triton_gpu" || dialect == "ttng" || dialect == "triton_nvidia_gpu") &&
      isEncoding(mnemonic)) {
    auto *e = parseEncodingBody(mnemonic, at, dialect.starts_with("triton_"));
    return e ? EncodingAttr::get(ctx, e) : Attribute();
  }
  if (name == "triton_gpu.shared_memory") name = "ttg.shared_memory";
  if (lex.raw() == '<') {
    llvm::StringRef body;
    if (!balanced(body)) return {};
    return OpaqueAttr::get(ctx, llvm::StringRef(at, lex.position() - at));
  }
  return OpaqueAttr::get(ctx, ("#" + name).str());
}

/// `@name` or `@"name"`.
Attribute ParserState::parseSymbol() {
  const char *at = lex.position();
  lex.bump(); // @
  std::string quoted;
  if (lex.raw() == '"' && lex.string(quoted)) return SymbolAttr::get(ctx, quoted);
  auto name = lex.suffixIdentifier();
  if (name.empty()) return error("expected a symbol name after '@'", at), Attribute();
  return SymbolAttr::get(ctx, name);
}

/// `[a, b, …]`.
Attribute ParserState::parseArray() {
  lex.bump(); // [
  llvm::SmallVector<Attribute, 4> list;
  if (!lex.lookingAt("]")) do {
      Attribute a = parseAttribute();
      if (!a) return {};
      list.push_back(a);
    } while (lex.eat(","));
  if (!expect("]", "an array attribute")) return {};
  return ArrayAttr::get(ctx, list);
}

/// `array<i32: 1, 2>`.
Attribute ParserState::parseDenseArray() {
  const char *at = lex.position();
  lex.eat("array<");
  Type t = parseType();
  if (!t) return {};
  if (!t.isInteger() && !t.isFloat()) return error("array<…> holds integers or floats", at), Attribute();
  llvm::SmallVector<int64_t, 4> values;
  if (lex.eat(":")) do {
      auto v = parseElement(t);
      if (!v) return {};
      if (v->getBitWidth() > 64) return error("array<…> elements have at most 64 bits", at), Attribute();
      values.push_back(t.isInteger(1) || t.isFloat() ? v->getZExtValue() : v->getSExtValue());
    } while (lex.eat(","));
  if (!expect(">", "array<…>")) return {};
  return DenseArrayAttr::get(t, values);
}

/// Attributes of other dialects, and locations as attributes: kept as their text. Nothing if it is none of these.
std::optional<Attribute> ParserState::parseOpaqueAttribute() {
  const char *at = lex.position();
  auto textFrom = [&] { return OpaqueAttr::get(ctx, llvm::StringRef(at, lex.position() - at)); };
  static constexpr const char *kOpaque[] = {"affine_map<", "affine_set<", "dense_resource<",
                                            "sparse<",     "strided<",    "distinct["};
  if (llvm::any_of(kOpaque, [&](const char *start) { return lex.lookingAt(start); })) {
    lex.identifier();
    llvm::StringRef body;
    return balanced(body) ? textFrom() : Attribute();
  }
  if (lex.lookingAt("loc(")) {
    lex.eat("loc");
    Location l;
    return parseLocation(l) ? textFrom() : Attribute();
  }
  return std::nullopt;
}

Attribute ParserState::parseAttribute(Type hint) {
  DepthGuard guard(*this);
  if (!guard.ok) return {};
  lex.skipSpace();
  const char *at = lex.position();
  char c = lex.peek();
  if (c == '#') return parseHashAttribute();
  if (c == '@') return parseSymbol();
  if (c == '"') {
    std::string s;
    if (!lex.string(s)) return error("the string does not end", at), Attribute();
    return StringAttr::get(ctx, s);
  }
  if (c == '[') return parseArray();
  if (c == '{') {
    llvm::SmallVector<NamedAttribute, 4> entries;
    if (!parseAttrDict(entries)) return {};
    return DictionaryAttr::get(ctx, entries);
  }
  if (llvm::isDigit(c) || c == '-' || lex.lookingAtWord("true") || lex.lookingAtWord("false")) return parseNumber(hint);
  if (lex.eatWord("unit")) return UnitAttr::get(ctx);
  if (lex.lookingAt("dense<")) {
    lex.eat("dense");
    return parseDense();
  }
  if (lex.lookingAt("array<")) return parseDenseArray();
  if (auto opaque = parseOpaqueAttribute()) return *opaque;
  if (c == '!' || c == '(' || llvm::isAlpha(c)) {
    Type t = parseType();
    return t ? TypeAttr::get(t) : Attribute();
  }
  return error("expected an attribute", at), Attribute();
}

bool ParserState::parseAttrDict(llvm::SmallVectorImpl<NamedAttribute> &out,
                                llvm::SmallVectorImpl<const char *> *positions) {
  if (!expect("{", "an attribute dictionary")) return false;
  if (lex.eat("}")) return true;
  do {
    lex.skipSpace();
    const char *at = lex.position();
    std::string quoted;
    llvm::StringRef name;
    if (lex.peek() == '"') {
      if (!lex.string(quoted)) return error("the string does not end", at);
      name = quoted;
    } else
      name = lex.identifier();
    if (name.empty()) return error("expected an attribute name", at);
    for (auto &a : out)
      if (a.name == name) return error("attribute '" + name + "' is given twice", at);
    Attribute v = UnitAttr::get(ctx);
    if (lex.eat("=") && !(v = parseAttribute())) return false;
    out.push_back({ctx.intern(name), v});
    if (positions) positions->push_back(at);
  } while (lex.eat(","));
  return expect("}", "an attribute dictionary");
}

} // namespace tessera::frontend
