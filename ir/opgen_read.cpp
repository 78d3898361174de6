// Reads ir/ops.table (see opgen.cpp): rows, fields, and families of rows.
#include "opgen_table.h"
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

namespace opgen {

std::vector<Op> ops;
std::vector<EnumDef> enums;
int lineNo = 0;

void fail(const std::string &m) {
  std::cerr << "ops.table:" << lineNo << ": " << m << "\n";
  std::exit(1);
}

namespace {

std::string trim(std::string s) {
  while (!s.empty() && std::isspace((unsigned char)s.back())) s.pop_back();
  size_t i = 0;
  while (i < s.size() && std::isspace((unsigned char)s[i])) ++i;
  return s.substr(i);
}
std::vector<std::string> split(const std::string &s, char sep) { // commas inside (...) do not count
  std::vector<std::string> out;
  int depth = 0;
  std::string cur;
  for (char c : s) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == sep && depth == 0) {
      out.push_back(trim(cur));
      cur.clear();
    } else
      cur += c;
  }
  if (!trim(cur).empty()) out.push_back(trim(cur));
  return out;
}
ValueRow parseValue(std::string t) {
  ValueRow v;
  if (auto eq = t.find('='); eq != std::string::npos) {
    std::string inf = trim(t.substr(eq + 1));
    t = trim(t.substr(0, eq));
    if (auto p = inf.find('('); p != std::string::npos) {
      v.inferOf = inf.substr(p + 1, inf.find(')') - p - 1);
      inf = inf.substr(0, p);
    }
    static const std::map<std::string, std::string> rules = {
        {"same", "SameAs"}, {"pointee", "Pointee"}, {"boollike", "BoolLike"}, {"i32", "I32"},      {"i64", "I64"},
        {"i1", "I1"},       {"token", "Token"},     {"index", "Index"},       {"scalar", "Scalar"}};
    auto it = rules.find(inf);
    if (it == rules.end()) fail("unknown inference rule '" + inf + "'");
    v.inferRule = it->second;
  }
  if (auto c = t.find(':'); c != std::string::npos) {
    v.rule = trim(t.substr(c + 1));
    t = trim(t.substr(0, c));
  }
  if (!t.empty() && t.back() == '?') {
    v.arity = "Optional";
    t.pop_back();
  } else if (!t.empty() && t.back() == '*') {
    v.arity = "Variadic";
    t.pop_back();
  }
  if (t.empty()) fail("a value without a name");
  v.name = t;
  return v;
}

AttrRow parseAttr(const std::string &t) {
  AttrRow a;
  auto c = t.find(':');
  if (c == std::string::npos) fail("attribute needs 'name: rule': " + t);
  a.name = trim(t.substr(0, c));
  if (a.name.back() == '?') {
    a.optional = true;
    a.name.pop_back();
  }
  a.rule = trim(t.substr(c + 1));
  if (auto eq = a.rule.find('='); eq != std::string::npos) {
    a.def = trim(a.rule.substr(eq + 1));
    a.rule = trim(a.rule.substr(0, eq));
  }
  if (a.rule.rfind("enum(", 0) == 0) {
    a.enumName = a.rule.substr(5, a.rule.size() - 6);
    a.rule = "enum";
  }
  static const char *known[] = {"any",  "unit",      "bool",   "i32",  "i64",  "string",
                                "enum", "dense_i32", "symbol", "type", "dict", "array"};
  for (auto *k : known)
    if (a.rule == k) return a;
  fail("unknown attribute rule '" + a.rule + "'");
}

void parseHeader(Op &o, const std::string &line) {
  auto sp = line.find_first_of(" \t");
  o.name = line.substr(0, sp);
  std::string rest = sp == std::string::npos ? "" : trim(line.substr(sp));
  auto arrow = rest.find("->");
  if (arrow == std::string::npos) fail("no '->' in the row of " + o.name);
  for (auto &t : split(rest.substr(0, arrow), ',')) o.operands.push_back(parseValue(t));
  // `a, b: Rule` gives the rule to b alone; names without a rule are Any.
  for (auto &t : split(rest.substr(arrow + 2), ',')) o.results.push_back(parseValue(t));
}

// Families: rows that differ in their names alone.
Op family(const std::string &dialect, const std::string &n, const std::string &header, const std::string &attrs,
          const std::string &format, std::vector<std::string> traits, const std::string &summary, bool verify = false) {
  Op o;
  o.line = lineNo;
  parseHeader(o, dialect + "." + n + " " + header);
  for (auto &t : split(attrs, ',')) o.attrs.push_back(parseAttr(t));
  o.format = format;
  o.traits = std::move(traits);
  o.summary = summary;
  o.fold = dialect != "math"; // the device's functions, not the host's, say what these give
  o.verify = verify;
  return o;
}

// Table: sentences of semantics of the operations that come in families.
std::string sentenceOf(const std::string &name) {
  static const std::map<std::string, std::string> sentences = {
      {"divsi", "Signed division, rounded towards zero."},
      {"divui", "Unsigned division."},
      {"remsi", "Remainder of the signed division, with the sign of the dividend."},
      {"remui", "Remainder of the unsigned division."},
      {"shrsi", "Arithmetic shift right; poison if the amount is the width or more."},
      {"shrui", "Logical shift right; poison if the amount is the width or more."},
      {"ceildivsi", "Signed division, rounded up."},
      {"ceildivui", "Unsigned division, rounded up."},
      {"floordivsi", "Signed division, rounded down."},
      {"andi", "Bitwise and."},
      {"ori", "Bitwise or."},
      {"xori", "Bitwise exclusive or."},
      {"maxsi", "Signed maximum."},
      {"maxui", "Unsigned maximum."},
      {"minsi", "Signed minimum."},
      {"minui", "Unsigned minimum."},
      {"subf", "Floating-point subtraction."},
      {"divf", "Floating-point division."},
      {"remf", "Floating-point remainder, with the sign of the dividend (fmod)."},
      {"addf", "Floating-point addition."},
      {"mulf", "Floating-point multiplication."},
      {"maximumf", "Maximum; NaN if an operand is NaN."},
      {"minimumf", "Minimum; NaN if an operand is NaN."},
      {"maxnumf", "Maximum; the other operand if one is NaN."},
      {"minnumf", "Minimum; the other operand if one is NaN."},
      {"extsi", "Sign extension."},
      {"extui", "Zero extension."},
      {"trunci", "Truncation to fewer bits."},
      {"extf", "Conversion to a wider floating-point format, exact."},
      {"sitofp", "Signed integer to floating point, rounded to nearest even; to bf16 by way of f32."},
      {"uitofp", "Unsigned integer to floating point, rounded to nearest even; to bf16 by way of f32."},
      {"fptosi", "Floating point to signed integer, rounded towards zero."},
      {"fptoui", "Floating point to unsigned integer, rounded towards zero."},
      {"ctlz", "Number of leading zero bits."},
      {"cttz", "Number of trailing zero bits."},
      {"ctpop", "Number of one bits."}};
  auto it = sentences.find(name);
  if (it == sentences.end()) fail("no sentence of semantics for " + name + " (sentenceOf in ir/opgen.cpp)");
  return it->second;
}

/// Math functions of floats.
struct MathRow {
  const char *family, *name, *libdevice, *ocml, *sentence;
  bool hasOneLibrary() const { return !*libdevice != !*ocml; }
};
const MathRow mathRows[] = {
#define MATH_UNARY(name, host, intrinsic, libdevice, ocml, sentence)                                                   \
  {"@math_unary", #name, #libdevice, #ocml, sentence},
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence)                                                  \
  {"@math_binary", #name, #libdevice, #ocml, sentence},
#include "math_functions.def"
};

/// Rows for the names of a line `@FAMILY NAME…`; those of math functions are in math_functions.def.
bool expandFamily(const std::string &line) {
  std::istringstream in(line);
  std::string kind, n;
  in >> kind;
  const std::string bin = "lhs: SignlessIntLike, rhs: SignlessIntLike -> result = same(lhs)",
                    binf = "lhs: FloatLike, rhs: FloatLike -> result = same(lhs)";
  const std::vector<std::string> ew = {"elementwise", "same_types"}, ewc = {"elementwise", "same_types", "commutative"},
                                 e = {"elementwise"};
  while (in >> n) {
    if (kind == "@binary_int")
      ops.push_back(family("arith", n, bin, "", "$lhs , $rhs attrs : type($result)", ew, sentenceOf(n)));
    else if (kind == "@binary_int_commutative")
      ops.push_back(family("arith", n, bin, "", "$lhs , $rhs attrs : type($result)", ewc, sentenceOf(n)));
    else if (kind == "@binary_float")
      ops.push_back(family("arith", n, binf, "fastmath: i32=0", "$lhs , $rhs custom(FastMath) attrs : type($result)",
                           ew, sentenceOf(n)));
    else if (kind == "@binary_float_commutative")
      ops.push_back(family("arith", n, binf, "fastmath: i32=0", "$lhs , $rhs custom(FastMath) attrs : type($result)",
                           ewc, sentenceOf(n)));
    else if (kind == "@int_cast")
      ops.push_back(
          family("arith", n, "in: SignlessIntLike -> out: SignlessIntLike", n == "trunci" ? "overflowFlags: i32=0" : "",
                 std::string("$in ") + (n == "trunci" ? "custom(Overflow) " : "") + "attrs : type($in) to type($out)",
                 e, sentenceOf(n), true));
    else if (kind == "@float_cast")
      ops.push_back(family("arith", n, "in: FloatLike -> out: FloatLike", "fastmath: i32=0",
                           "$in custom(FastMath) attrs : type($in) to type($out)", e, sentenceOf(n), true));
    else if (kind == "@int_to_float")
      ops.push_back(family("arith", n, "in: SignlessIntLike -> out: FloatLike", "",
                           "$in attrs : type($in) to type($out)", e, sentenceOf(n)));
    else if (kind == "@float_to_int")
      ops.push_back(family("arith", n, "in: FloatLike -> out: SignlessIntLike", "",
                           "$in attrs : type($in) to type($out)", e, sentenceOf(n)));
    else if (kind == "@math_unary_int")
      ops.push_back(family("math", n, "operand: SignlessIntLike -> result = same(operand)", "",
                           "$operand attrs : type($result)", ew, sentenceOf(n)));
    else
      return false;
  }
  for (auto &row : mathRows) {
    if (kind != row.family) continue;
    if (row.hasOneLibrary())
      fail("math." + std::string(row.name) +
           " names one library's function: name both or, if either library lacks it, none (ir/math_functions.def)");
    bool unary = kind == "@math_unary";
    ops.push_back(family(
        "math", row.name, unary ? "operand: FloatLike -> result = same(operand)" : binf, "fastmath: i32=0",
        std::string(unary ? "$operand" : "$lhs , $rhs") + " custom(FastMath) attrs : type($result)", ew, row.sentence));
  }
  return true;
}

/// A line, joined with the next one while it ends in a backslash.
bool nextLine(std::istream &in, std::string &line) {
  if (!std::getline(in, line)) return false;
  ++lineNo;
  std::string more;
  while (line.size() && line.back() == '\\' && std::getline(in, more)) {
    ++lineNo;
    line = line.substr(0, line.find_last_not_of("\\ ") + 1) + " " + trim(more);
  }
  return true;
}

} // namespace

void parse(std::istream &in) {
  std::string line;
  Op *cur = nullptr;
  while (nextLine(in, line)) {
    if (trim(line).empty() || line[0] == '#') continue;
    if (line.rfind("enum ", 0) == 0) {
      std::istringstream s(line.substr(5));
      EnumDef e;
      s >> e.name;
      std::string c;
      while (s >> c) e.cases.push_back({c.substr(0, c.find('=')), std::atoi(c.c_str() + c.find('=') + 1)});
      enums.push_back(e);
      continue;
    }
    if (line[0] == '@') {
      if (!expandFamily(line)) fail("unknown family");
      cur = nullptr;
      continue;
    }
    if (!std::isspace((unsigned char)line[0])) {
      ops.emplace_back();
      cur = &ops.back();
      cur->line = lineNo;
      parseHeader(*cur, line);
      continue;
    }
    if (!cur) fail("a field outside a row");
    std::string t = trim(line);
    if (t[0] == '"') {
      cur->summary = t.substr(1, t.size() - 2);
      continue;
    }
    auto sp = t.find_first_of(" \t");
    std::string key = t.substr(0, sp), val = sp == std::string::npos ? "" : trim(t.substr(sp));
    if (key == "attrs")
      for (auto &a : split(val, ',')) cur->attrs.push_back(parseAttr(a));
    else if (key == "regions")
      for (auto &r : split(val, ',')) {
        if (r.back() == '*') {
          cur->anyRegions = true;
          r.pop_back();
        }
        cur->regions.push_back(r);
      }
    else if (key == "successors")
      cur->successors = val;
    else if (key == "format")
      cur->format = val;
    else if (key == "traits")
      cur->traits = split(val, ',');
    else if (key == "effects")
      cur->effects = split(val, ',');
    else if (key == "verify")
      cur->verify = true;
    else if (key == "fold")
      cur->fold = true;
    else
      fail("unknown field '" + key + "'");
  }
  for (auto &o : ops) {
    lineNo = o.line;
    if (o.format.empty()) fail("no format for " + o.name);
    if (o.summary.empty()) fail("no summary for " + o.name);
  }
}

} // namespace opgen
