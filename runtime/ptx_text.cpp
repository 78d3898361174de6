// Inline PTX as text (see ptx_text.h): statements end at semicolons, scopes are braces between them.
#include "runtime/ptx_text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace tessera::inline_ptx {
using namespace llvm;

namespace {

constexpr unsigned kMostRegisters = 256; // of one declaration: a thread has no more
constexpr StringRef kSpace = " \t\n\r";

class TextParser {
public:
  TextParser(Text &out, std::string &problem) : out_(out), problem_(problem) {}

  bool run(StringRef assembly) {
    std::string text = withoutComments(assembly);
    StringRef rest = text;
    scopes_.emplace_back();
    while (true) {
      rest = rest.ltrim(kSpace);
      if (rest.empty()) return scopes_.size() == 1 || refuse("inline PTX with a scope that does not end");
      if (rest.consume_front(";")) continue;
      if (rest.consume_front("{")) {
        scopes_.emplace_back();
        continue;
      }
      if (rest.consume_front("}")) {
        if (scopes_.size() == 1) return refuse("inline PTX with a '}' that ends nothing");
        scopes_.pop_back();
        continue;
      }
      StringRef one = statementOf(rest);
      if (one.starts_with(".reg")) {
        if (!declare(one)) return refuse("the declaration '" + one.str() + "' in inline PTX");
      } else if (!statement(one)) {
        return refuse("the inline PTX '" + one.str() + "'" + (why_.empty() ? "" : " (" + why_ + ")"));
      }
    }
  }

private:
  bool refuse(const std::string &what) {
    problem_ = what;
    return false;
  }

  static std::string withoutComments(StringRef s) {
    std::string out;
    while (!s.empty()) {
      size_t at = std::min(s.find("//"), s.find("/*"));
      out += s.take_front(at);
      if (at == StringRef::npos) break;
      bool isLine = s[at + 1] == '/';
      size_t end = s.find(isLine ? "\n" : "*/", at);
      out += ' ';
      s = end == StringRef::npos ? "" : s.drop_front(end + (isLine ? 0 : 2));
    }
    return out;
  }

  /// Up to the semicolon, or to the brace that ends the scope; the braces of operands are passed over.
  static StringRef statementOf(StringRef &rest) {
    int depth = 0;
    size_t k = 0;
    for (; k < rest.size() && rest[k] != ';'; ++k) {
      bool isArgument = rest[k] == '{' && k && rest[k - 1] == '$';
      if (isArgument) {
        k = std::min(rest.find('}', k), rest.size() - 1);
        continue;
      }
      if (rest[k] == '{') ++depth;
      if (rest[k] == '}' && depth-- == 0) break;
    }
    StringRef one = rest.take_front(k).rtrim(kSpace);
    rest = rest.drop_front(k);
    return one;
  }

  /// .reg .u32 a, b; .reg .b8 c<4>: c0 to c3
  bool declare(StringRef s) {
    s = s.drop_front(4).ltrim(kSpace);
    StringRef type = s.take_until([](char c) { return kSpace.contains(c); });
    StringRef names = s.drop_front(type.size());
    Type t = type.consume_front(".") ? typeOf(type) : Type();
    if (!t) return false;
    while (!names.trim(kSpace).empty()) {
      auto [name, rest] = names.split(',');
      names = rest;
      auto [stem, count] = name.trim(kSpace).split('<');
      unsigned n = 0;
      if (count.empty()) {
        add(stem.str(), t);
        continue;
      }
      if (!count.consume_back(">") || count.trim().getAsInteger(10, n) || n > kMostRegisters) return false;
      for (unsigned k = 0; k < n; ++k) add((stem.trim() + Twine(k)).str(), t);
    }
    return true;
  }
  /// A name, in which $$ is a dollar sign.
  static std::string unescaped(StringRef s) {
    std::string name;
    for (size_t k = 0; k < s.size(); ++k) {
      if (s.substr(k).starts_with("$$")) ++k;
      name += s[k];
    }
    return name;
  }
  void add(const std::string &name, Type t) {
    scopes_.back()[unescaped(name)] = unsigned(out_.registers.size());
    out_.registers.push_back(t);
  }

  bool statement(StringRef one) {
    auto s = std::make_unique<TextStatement>();
    s->text = one.str();
    StringRef rest = s->text;
    if (rest.consume_front("@")) {
      bool negated = rest.consume_front("!");
      StringRef name = rest.take_until([](char c) { return kSpace.contains(c); });
      s->guard.emplace();
      if (!operand(name, *s->guard) || s->guard->kind > TextOperand::Argument) return bad("guard '" + name + "'");
      s->guard->negated = negated;
      rest = rest.drop_front(name.size()).ltrim(kSpace);
    }
    StringRef name = rest.take_until([](char c) { return kSpace.contains(c); });
    if (name.ends_with(":")) return bad("labels are not known");
    SmallVector<StringRef, 8> words;
    name.split(words, '.');
    s->opcode = words[0];
    s->modifiers.assign(words.begin() + 1, words.end());
    rest = rest.drop_front(name.size()).trim(kSpace);
    int depth = 0;
    size_t from = 0;
    for (size_t k = 0; k <= rest.size(); ++k) {
      if (k < rest.size() && StringRef("{[").contains(rest[k])) ++depth;
      if (k < rest.size() && StringRef("}]").contains(rest[k])) --depth;
      if (k < rest.size() && (rest[k] != ',' || depth)) continue;
      StringRef each = rest.slice(from, k).trim(kSpace);
      from = k + 1;
      if (each.empty()) continue;
      s->operands.emplace_back();
      if (!operand(each, s->operands.back())) return bad("operand '" + each + "'");
    }
    out_.statements.push_back(std::move(s));
    return true;
  }
  bool bad(const Twine &why) {
    why_ = why.str();
    return false;
  }

  bool operand(StringRef s, TextOperand &o) {
    s = s.trim(kSpace);
    if (s.consume_front("{")) return s.consume_back("}") && vector(s, ',', o);
    if (s.contains('|') && !s.contains('[')) return vector(s, '|', o);
    if (s.consume_front("[")) return s.consume_back("]") && address(s, o);
    if (s == "_") {
      o.kind = TextOperand::Sink;
      return true;
    }
    if (s.consume_front("!")) o.negated = true;
    if (s.starts_with("$") && !s.starts_with("$$")) return argument(s.drop_front(), o);
    std::string name = unescaped(s);
    for (auto &scope : reverse(scopes_))
      if (auto it = scope.find(name); it != scope.end()) {
        o.index = it->second;
        return true;
      }
    if (s.starts_with("%")) {
      o.kind = TextOperand::Special;
      o.name = name.substr(1);
      return true;
    }
    return number(s, o);
  }

  bool vector(StringRef s, char separator, TextOperand &o) {
    o.kind = TextOperand::Vector;
    while (!s.empty()) {
      auto [one, rest] = s.split(separator);
      o.parts.emplace_back();
      if (!operand(one, o.parts.back())) return false;
      s = rest;
    }
    return true;
  }

  /// The inside of brackets: a register and an offset, or a tensor map and coordinates.
  bool address(StringRef s, TextOperand &o) {
    if (auto [map, coordinates] = s.split(','); !coordinates.empty()) {
      o.kind = TextOperand::Vector;
      o.parts.resize(2);
      return address(map.trim(kSpace), o.parts[0]) && operand(coordinates, o.parts[1]);
    }
    size_t sign = s.find('+', 1); // a negative offset is written +-4, as ptxas wants it
    if (sign != StringRef::npos) {
      if (s.drop_front(sign + 1).trim(kSpace).getAsInteger(0, o.offset)) return false;
      s = s.take_front(sign);
    }
    o.kind = TextOperand::Address;
    o.parts.resize(1);
    return operand(s, o.parts[0]) && o.parts[0].kind <= TextOperand::Argument;
  }

  /// $1, ${1}, ${1:h}: after the dollar sign.
  bool argument(StringRef s, TextOperand &o) {
    if (s.consume_front("{")) {
      if (!s.consume_back("}")) return false;
      s = s.split(':').first;
    }
    o.kind = TextOperand::Argument;
    return !s.getAsInteger(10, o.index);
  }

  static bool number(StringRef s, TextOperand &o) {
    o.kind = TextOperand::Integer;
    bool isBits = (s.size() == 10 && (s.starts_with("0f") || s.starts_with("0F"))) ||
                  (s.size() == 18 && (s.starts_with("0d") || s.starts_with("0D")));
    if (isBits) return !s.drop_front(2).getAsInteger(16, o.bits);
    s.consume_back("U");
    if (!s.getAsInteger(0, o.bits)) return true;
    int64_t v;
    if (!s.getAsInteger(0, v)) {
      o.bits = uint64_t(v);
      return true;
    }
    o.kind = TextOperand::Real;
    StringRef digits = s.ltrim("+-");
    return !digits.empty() && isDigit(digits[0]) && !s.getAsDouble(o.real);
  }

  Text &out_;
  std::string &problem_;
  std::string why_; // of the statement
  std::vector<StringMap<unsigned>> scopes_;
};

} // namespace

bool parseText(StringRef assembly, Text &out, std::string &problem) { return TextParser(out, problem).run(assembly); }

std::optional<std::vector<Constraint>> parseConstraints(StringRef s) {
  std::vector<Constraint> out;
  while (!s.empty()) {
    auto [spaced, rest] = s.split(',');
    s = rest;
    StringRef one = spaced.trim(kSpace);
    if (one.starts_with("~")) continue;
    Constraint c;
    c.isResult = one.consume_front("=");
    one.consume_front("&");
    unsigned same;
    if (!one.getAsInteger(10, same)) {
      if (same >= out.size()) return std::nullopt;
      c.sameAs = same;
    } else if (one.size() != 1 || !isAlpha(one[0])) {
      return std::nullopt;
    } else {
      c.registers = one[0];
    }
    out.push_back(c);
  }
  return out;
}

} // namespace tessera::inline_ptx
