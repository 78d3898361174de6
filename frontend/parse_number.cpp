// Numbers, and tensors of them (see parser_state.h): `3 : i32`, `0x7FC0 : bf16`, `dense<[1, 2]> : tensor<2xi32>`,
// `dense<"0x…">`. The type follows what it is the type of, so it is read first.
#include "frontend/parser_state.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

namespace tessera::frontend {
using namespace ir;

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

} // namespace tessera::frontend
