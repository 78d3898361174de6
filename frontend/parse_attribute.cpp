// Attributes, locations and aliases (see parser_state.h).
#include "frontend/parser_state.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <utility>

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

bool ParserState::parseInteger(int64_t &v) {
  lex.skipSpace();
  const char *at = lex.position();
  bool negative = lex.eat("-");
  const char *b = lex.position();
  while (llvm::isDigit(lex.raw())) lex.bump();
  llvm::StringRef digits(b, lex.position() - b);
  uint64_t u;
  if (digits.empty()) return error("expected an integer", at);
  if (digits.getAsInteger(10, u) || u > uint64_t(INT64_MAX) + negative)
    return error("the integer does not fit 64 bits", at);
  v = int64_t(negative ? 0 - u : u);
  return true;
}

/// The text of a number: sign, digits, fraction, exponent, or 0x….
static llvm::StringRef numberText(Lexer &lex) {
  lex.skipSpace();
  const char *b = lex.position();
  if (lex.raw() == '-' || lex.raw() == '+') lex.bump();
  if (lex.raw() == '0' && (lex.rawAt(1) == 'x' || lex.rawAt(1) == 'X') && llvm::isHexDigit(lex.rawAt(2))) {
    lex.bump(), lex.bump();
    while (llvm::isHexDigit(lex.raw())) lex.bump();
  } else {
    while (llvm::isDigit(lex.raw())) lex.bump();
    if (lex.raw() == '.') {
      lex.bump();
      while (llvm::isDigit(lex.raw())) lex.bump();
    }
    if ((lex.raw() == 'e' || lex.raw() == 'E') &&
        (llvm::isDigit(lex.rawAt(1)) ||
         ((lex.rawAt(1) == '-' || lex.rawAt(1) == '+') && llvm::isDigit(lex.rawAt(2))))) {
      lex.bump(), lex.bump();
      while (llvm::isDigit(lex.raw())) lex.bump();
    }
  }
  return {b, size_t(lex.position() - b)};
}

std::optional<llvm::APInt> ParserState::parseElement(Type t) {
  lex.skipSpace();
  const char *at = lex.position();
  auto fail = [&](const llvm::Twine &m) -> std::optional<llvm::APInt> { return error(m, at), std::nullopt; };
  if (lex.eatWord("true")) return t.isInteger(1) ? std::optional(llvm::APInt(1, 1)) : fail("'true' needs type i1");
  if (lex.eatWord("false")) return t.isInteger(1) ? std::optional(llvm::APInt(1, 0)) : fail("'false' needs type i1");
  auto text = numberText(lex);
  if (text.empty() || text == "-" || text == "+") return fail("expected a number");
  bool hex = text.contains("0x") || text.contains("0X");
  unsigned width = t.bitWidth();
  // A digit is more than a bit; converting thousands of them would take long.
  bool tooLong = text.ltrim("+-").drop_front(hex ? 2 : 0).ltrim('0').size() > std::max(width, 1u);
  if (auto f = t.dyn_cast<FloatType>()) {
    if (hex) {
      llvm::APInt v;
      if (tooLong) return fail("the hexadecimal float has more bits than its type");
      if (text.starts_with("-") || text.drop_front(2).getAsInteger(16, v)) return fail("malformed hexadecimal float");
      if (v.getActiveBits() > width) return fail("the hexadecimal float has more bits than its type");
      return v.zextOrTrunc(width);
    }
    if (!text.contains('.')) return fail("expected a floating-point literal such as 1.0 for type " + t.str());
    // No value needs more than 800 digits, and APFloat's buffers end at 16,000.
    if (text.size() > 4096) return fail("a floating-point literal has at most 4096 characters");
    llvm::APFloat v(f.semantics());
    auto status = v.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return fail("malformed floating-point literal");
    }
    return v.bitcastToAPInt();
  }
  if (!t.isIntOrIndex()) return fail("a number cannot have type " + t.str());
  if (text.contains('.') || (!hex && text.contains_insensitive('e')))
    return fail("expected an integer for type " + t.str());
  if (tooLong) return fail("the integer does not fit type " + t.str());
  bool negative = text.consume_front("-");
  llvm::APInt v;
  if (hex ? text.drop_front(2).getAsInteger(16, v) : text.getAsInteger(10, v)) return fail("malformed integer");
  v = v.zext(std::max(v.getBitWidth() + 1, width + 1));
  if (negative) v.negate();
  if (negative ? v.getSignificantBits() > width : v.getActiveBits() > width)
    return fail("the integer does not fit type " + t.str());
  return v.trunc(width);
}

Attribute ParserState::parseNumber(Type hint) {
  // The type follows the number, so it is looked up first.
  const char *at = (lex.skipSpace(), lex.position());
  bool isBool = lex.lookingAtWord("true") || lex.lookingAtWord("false");
  llvm::StringRef text;
  if (isBool)
    lex.identifier();
  else
    text = numberText(lex);
  Type t = hint;
  const char *after = lex.position();
  if (isBool)
    t = ctx.i1();
  else if (!hint) {
    if (lex.lookingAt(":") && !lex.lookingAt("::")) {
      lex.eat(":");
      if (!(t = parseType())) return {};
      after = lex.position();
    } else
      t = text.contains('.') ? ctx.f64() : ctx.i64();
  }
  lex.seek(at);
  if (t.isTensor()) return error("a number cannot have type " + t.str(), at), Attribute();
  auto bits = parseElement(t);
  if (!bits) return {};
  lex.seek(after);
  if (auto f = t.dyn_cast<FloatType>()) return FloatAttr::get(t, llvm::APFloat(f.semantics(), *bits));
  return IntegerAttr::get(t, *bits);
}

/// "0x…": the elements' bytes, or one element's for all; i1 has a bit each.
bool ParserState::parseDenseHex(TensorType tensor, std::vector<llvm::APInt> &values) {
  Type element = tensor.element();
  size_t count = tensor.numElements();
  std::string s;
  const char *at = lex.position();
  if (!lex.string(s)) return error("the string does not end", at);
  llvm::StringRef hex(s);
  unsigned bytes = (element.bitWidth() + 7) / 8;
  if (!hex.consume_front("0x") || hex.size() % 2) return error("expected \"0x…\" with an even number of digits", at);
  auto byteAt = [&](size_t i) -> std::optional<unsigned> {
    unsigned high = llvm::hexDigitValue(hex[i * 2]);
    unsigned low = llvm::hexDigitValue(hex[i * 2 + 1]);
    return high > 15 || low > 15 ? std::nullopt : std::optional(high * 16 + low);
  };
  auto malformed = [&] { return error("malformed hexadecimal data", at); };
  size_t given = hex.size() / 2;
  bool oneBitEach = element.isInteger(1) && given == (count + 7) / 8 && count > 1;
  if (oneBitEach) {
    for (size_t i = 0; i < count; ++i) {
      auto v = byteAt(i / 8);
      if (!v) return malformed();
      values.push_back(llvm::APInt(1, *v >> i % 8 & 1));
    }
    return true;
  }
  size_t elements = given / bytes;
  if (given % bytes || (elements != 1 && elements != count))
    return error("the data has " + llvm::Twine(given) + " bytes; the type needs " + llvm::Twine(count * bytes), at);
  for (size_t i = 0; i < elements; ++i) {
    llvm::APInt v(std::max(64u, bytes * 8), 0);
    for (unsigned b = 0; b < bytes; ++b) {
      auto byte = byteAt(i * bytes + b);
      if (!byte) return malformed();
      v.insertBits(*byte, b * 8, 8);
    }
    values.push_back(v.trunc(element.bitWidth()));
  }
  return true;
}

/// Nested lists, one level per dimension.
bool ParserState::parseDenseList(TensorType tensor, unsigned dimension, std::vector<llvm::APInt> &values) {
  DepthGuard guard(*this);
  if (!guard.ok) return false;
  if (dimension == tensor.rank()) {
    if (lex.peek() == '[') return error("more nested lists than the type has dimensions");
    auto v = parseElement(tensor.element());
    if (v) values.push_back(*v);
    return v.has_value();
  }
  lex.skipSpace();
  const char *listAt = lex.position();
  if (!expect("[", "dense elements")) return false;
  int64_t n = 0;
  if (!lex.lookingAt("]")) do {
      if (!parseDenseList(tensor, dimension + 1, values)) return false;
      ++n;
    } while (lex.eat(","));
  if (!expect("]", "dense elements")) return false;
  if (n != tensor.dim(dimension))
    return error("the list has " + counted(n, "element") + " but dimension " + llvm::Twine(dimension) +
                     " of the type is " + llvm::Twine(tensor.dim(dimension)),
                 listAt);
  return true;
}

Attribute ParserState::parseDense() {
  auto fail = [&](const llvm::Twine &message, const char *place) {
    error(message, place);
    return Attribute();
  };
  const char *at = lex.position();
  const char *wordAt = at - llvm::StringRef("dense").size();
  if (!expect("<", "dense")) return {};
  // The type comes last: the body is skipped, then read with the type known.
  lex.skipSpace();
  const char *body = lex.position();
  lex.seek(at);
  lex.skipSpace();
  llvm::StringRef skipped;
  if (!balanced(skipped)) return {};
  if (!expect(":", "a dense attribute")) return {};
  lex.skipSpace();
  const char *typeAt = lex.position();
  Type type = parseType();
  if (!type) return {};
  auto tensor = type.dyn_cast<TensorType>();
  if (!tensor && type.isa<OpaqueType>()) // of a vector: kept as text
    return OpaqueAttr::get(ctx, llvm::StringRef(wordAt, lex.position() - wordAt));
  if (!tensor) return fail("a dense attribute needs a tensor type", typeAt);
  const char *after = lex.position();
  lex.seek(body);
  Type element = tensor.element();
  if (!element.isInteger() && !element.isIndex() && !element.isFloat())
    return fail("a dense attribute cannot hold elements of type " + element.str(), typeAt);
  std::vector<llvm::APInt> values;
  if (lex.peek() == '"') {
    if (!parseDenseHex(tensor, values)) return {};
  } else if (lex.peek() == '[') {
    if (!parseDenseList(tensor, 0, values)) return {};
  } else if (!lex.lookingAt(">")) {
    auto v = parseElement(element);
    if (!v) return {};
    values.push_back(*v);
  }
  if (!expect(">", "dense")) return {};
  if (values.empty()) return fail("a dense attribute needs at least one element", at);
  lex.seek(after);
  return DenseElementsAttr::get(tensor, values);
}

bool ParserState::readAttributeAlias(Alias &alias) {
  alias.isLocation = lex.eatWord("loc");
  return alias.isLocation ? parseLocation(alias.loc) : bool(alias.attr = parseAttribute());
}

bool ParserState::readAlias(Alias &alias, llvm::StringRef kind, llvm::StringRef name, const char *at,
                            llvm::function_ref<bool()> read) {
  if (alias.bad) return false; // reported where it was read first
  if (alias.busy) return error(kind + name + "' refers to itself", at);
  if (!alias.known) {
    // Its own height and size are measured from nothing.
    alias.busy = true;
    const char *back = lex.position();
    unsigned outerDeepest = deepest_, outerSize = size_, base = depth_;
    deepest_ = depth_;
    size_ = 0;
    Type element = std::exchange(layoutElement_, Type());
    lex.seek(alias.at);
    bool ok = read();
    lex.seek(back);
    layoutElement_ = element;
    alias.busy = false;
    alias.height = deepest_ - base;
    alias.size = size_;
    deepest_ = std::max(outerDeepest, deepest_);
    size_ = outerSize;
    if (ok && alias.size > kMaxAliasSize) ok = error(kind + name + "' stands for too much text", at);
    alias.bad = !ok;
    alias.known = ok;
    if (!ok) return false;
  }
  if (depth_ + alias.height >= kMaxNesting) return error("nested too deeply", at);
  deepest_ = std::max(deepest_, depth_ + alias.height);
  size_ += alias.size;
  return true;
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

// ---- locations ------------------------------------------------------------------------------------------------------

bool ParserState::parseTrailingLocation(Location &l) {
  if (!lex.lookingAt("loc(")) return true;
  lex.eat("loc");
  return parseLocation(l);
}
bool ParserState::parseLocation(Location &l) {
  return expect("(", "a location") && parseLocationBody(l) && expect(")", "a location");
}

/// `#name`.
bool ParserState::parseLocationAlias(Location &l) {
  const char *at = lex.position();
  lex.bump(); // #
  auto name = lex.suffixIdentifier();
  auto it = attrAliases_.find(name);
  if (it == attrAliases_.end()) {
    undefinedLocation(name, at);
    return true; // the operation is read without it
  }
  auto &alias = it->second;
  if (!readAlias(alias, "location alias '#", name, at, [&] { return readAttributeAlias(alias); })) return false;
  if (!alias.isLocation) return error("'#" + name + "' is not a location", at);
  l = alias.loc;
  return true;
}

/// After `callsite`: `(callee at caller)`.
bool ParserState::parseCallSite(Location &l) {
  Location callee, caller;
  if (!expect("(", "callsite") || !parseLocationBody(callee)) return false;
  if (!lex.eatWord("at")) return error("expected 'at' in a callsite location");
  if (!parseLocationBody(caller) || !expect(")", "callsite")) return false;
  l = ctx.callSiteLoc(callee, caller);
  return true;
}

/// After `fused`: `[a, b, …]` or `<metadata>[a, b, …]`.
bool ParserState::parseFusedLocation(Location &l) {
  llvm::StringRef meta;
  if (lex.peek() == '<' && !balanced(meta)) return false;
  if (!expect("[", "a fused location")) return false;
  llvm::SmallVector<Location, 4> parts;
  if (!lex.lookingAt("]")) do {
      Location p;
      if (!parseLocationBody(p)) return false;
      parts.push_back(p);
    } while (lex.eat(","));
  if (!expect("]", "a fused location")) return false;
  l = ctx.fusedLoc(parts, meta);
  return true;
}

/// After `"file":` from `at`: `line:col`, `line:col to :col` or `line:col to line:col`.
bool ParserState::parseFileRange(llvm::StringRef file, const char *at, Location &l) {
  int64_t line, col, endLine = 0, endCol = 0;
  if (!parseInteger(line) || !expect(":", "a location") || !parseInteger(col)) return false;
  if (lex.eatWord("to")) {
    endLine = line;
    if (!lex.lookingAt(":") && !parseInteger(endLine)) return false;
    if (!expect(":", "a location") || !parseInteger(endCol)) return false;
  }
  for (int64_t n : {line, col, endLine, endCol})
    if (n < 0 || n > UINT32_MAX) return error("line or column out of range", at);
  l = ctx.fileLoc(file, line, col, endLine, endCol);
  return true;
}

bool ParserState::parseLocationBody(Location &l) {
  DepthGuard guard(*this);
  if (!guard.ok) return false;
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.peek() == '#') return parseLocationAlias(l);
  if (lex.eatWord("unknown")) {
    l = Location();
    return true;
  }
  if (lex.eatWord("callsite")) return parseCallSite(l);
  if (lex.eatWord("fused")) return parseFusedLocation(l);
  std::string text;
  if (lex.peek() != '"' || !lex.string(text)) return error("expected a location", at);
  if (lex.eat(":")) return parseFileRange(text, at, l);
  Location child;
  if (lex.eat("(") && (!parseLocationBody(child) || !expect(")", "a name location"))) return false;
  l = ctx.nameLoc(text, child);
  return true;
}

// ---- aliases --------------------------------------------------------------------------------------------------------

void ParserState::collectAliases() {
  // `#name = …` and `!name = …` at the start of a line.
  const char *p = lex.begin(), *end = lex.end();
  bool lineStart = true;
  for (; p != end; ++p) {
    if (*p == '\n') {
      lineStart = true;
      continue;
    }
    if (!lineStart || llvm::isSpace(*p)) continue;
    lineStart = false;
    if (*p != '#' && *p != '!') continue;
    const char *q = p + 1;
    while (q != end && (llvm::isAlnum(*q) || *q == '_' || *q == '$' || *q == '-')) ++q;
    llvm::StringRef name(p + 1, q - p - 1);
    while (q != end && (*q == ' ' || *q == '\t')) ++q;
    if (name.empty() || q == end || *q != '=') continue;
    auto &map = *p == '#' ? attrAliases_ : typeAliases_;
    if (auto [it, fresh] = map.try_emplace(name); fresh)
      it->second.at = q + 1;
    else
      error(llvm::Twine("alias '") + llvm::StringRef(p, 1) + name + "' is defined twice", p);
  }
}

void ParserState::readLayoutAliases(std::vector<NamedLayout> &out) {
  llvm::SmallVector<std::pair<const char *, llvm::StringRef>, 8> names;
  for (auto &[name, alias] : attrAliases_) names.push_back({alias.at, name});
  llvm::sort(names);
  for (auto [at, name] : names) {
    lex.seek(at);
    if (lex.peek() != '#') continue;
    if (auto a = parseAttribute())
      if (auto e = a.dyn_cast<EncodingAttr>()) out.push_back({name.str(), e.value()});
  }
}

bool ParserState::parseAliasDefinition() {
  // Known already; here its text is read even if nothing uses it.
  const char *at = lex.position();
  bool isType = lex.peek() == '!';
  lex.bump();
  auto name = lex.suffixIdentifier();
  if (name.empty()) return error("expected an alias name", at);
  if (!expect("=", "an alias definition")) return false;
  auto &map = isType ? typeAliases_ : attrAliases_;
  auto &alias = map[name];
  if (!alias.at) alias.at = lex.position();     // not at the start of a line
  if (alias.at != lex.position()) return false; // defined twice, which was reported
  const char *end = lex.position();
  auto read = [&] {
    bool ok = isType ? bool(alias.type = parseType()) : readAttributeAlias(alias);
    end = lex.position();
    return ok;
  };
  bool wasKnown = alias.known;
  if (alias.bad) return false; // reported already
  if (!readAlias(alias, isType ? "type alias '!" : "attribute alias '#", name, at, read)) return lex.seek(end), false;
  if (wasKnown) { // its end is not known: read it once more
    lex.seek(alias.at);
    return read();
  }
  lex.seek(end);
  return true;
}

} // namespace tessera::frontend
