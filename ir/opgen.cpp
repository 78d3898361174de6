// Build-time generator: reads ir/ops.table (its head explains the notation) and writes three files that the ir
// library includes: opcodes.inc (the Opcode enum and the enums of attributes), ops.inc (typed views of operations and
// of families of them, with named accessors and create functions) and op_rows.inc (the run-time rows of
// ir/op_table.h). Uses the standard library alone, because it is built and run before everything else. A mistake in the
// table is an error with its line number.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {
struct ValueRow {
  std::string name, rule = "Any", arity = "One", inferRule = "None", inferOf;
};
struct AttrRow {
  std::string name, rule, enumName, def;
  bool optional = false;
};
struct Op {
  std::string name, format, summary;
  std::vector<ValueRow> operands, results;
  std::vector<AttrRow> attrs;
  std::vector<std::string> regions, traits, effects;
  std::string successors = "0";
  bool anyRegions = false, verify = false, fold = false;
  int line = 0;
};
struct EnumDef {
  std::string name;
  std::vector<std::pair<std::string, int>> cases;
};

std::vector<Op> ops;
std::vector<EnumDef> enums;
int lineNo = 0;

[[noreturn]] void fail(const std::string &m) {
  std::cerr << "ops.table:" << lineNo << ": " << m << "\n";
  std::exit(1);
}
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
std::string camel(const std::string &s, bool upper) { // a_b.c -> ABC
  std::string out;
  bool up = upper;
  for (char c : s) {
    if (c == '_' || c == '.') {
      up = true;
      continue;
    }
    out += up ? (char)std::toupper((unsigned char)c) : c;
    up = false;
  }
  return out;
}
std::string ident(std::string s) {
  for (char &c : s)
    if (c == '.') c = '_';
  return s;
}
// The namespace of a dialect's views; `llvm` would hide the library's own namespace.
std::string dialectOf(const Op &o) {
  auto d = o.name.substr(0, o.name.find('.'));
  return d == "llvm" ? "llvm_dialect" : d;
}
std::string className(const Op &o) {
  std::string mnemonic = o.name.substr(o.name.find('.') + 1), s = camel(mnemonic, true);
  return s + "Op";
}
std::string cppName(const std::string &n) { // operand and attribute names as C++ identifiers
  static const char *keywords[] = {"true", "false", "default", "and", "or", "xor", "not", "op"};
  for (auto *k : keywords)
    if (n == k) return n + "_";
  return camel(n, false);
}
std::string escape(const std::string &s) {
  std::string o;
  for (char c : s) {
    if (c == '"' || c == '\\') o += '\\';
    o += c;
  }
  return o;
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
      {"sitofp", "Signed integer to floating point, rounded to nearest even."},
      {"uitofp", "Unsigned integer to floating point, rounded to nearest even."},
      {"fptosi", "Floating point to signed integer, rounded towards zero."},
      {"fptoui", "Floating point to unsigned integer, rounded towards zero."},
      {"absf", "Absolute value."},
      {"ceil", "Rounds up to an integer."},
      {"floor", "Rounds down to an integer."},
      {"trunc", "Rounds towards zero to an integer."},
      {"round", "Rounds to the nearest integer, halves away from zero."},
      {"roundeven", "Rounds to the nearest integer, halves to even."},
      {"exp", "e to the power of x."},
      {"exp2", "2 to the power of x."},
      {"expm1", "e to the power of x, minus 1."},
      {"log", "Natural logarithm."},
      {"log1p", "Natural logarithm of 1 + x."},
      {"log2", "Logarithm to base 2."},
      {"log10", "Logarithm to base 10."},
      {"sqrt", "Square root."},
      {"rsqrt", "1 / square root."},
      {"sin", "Sine."},
      {"cos", "Cosine."},
      {"tan", "Tangent."},
      {"asin", "Arc sine."},
      {"acos", "Arc cosine."},
      {"atan", "Arc tangent."},
      {"sinh", "Hyperbolic sine."},
      {"cosh", "Hyperbolic cosine."},
      {"tanh", "Hyperbolic tangent."},
      {"asinh", "Inverse hyperbolic sine."},
      {"acosh", "Inverse hyperbolic cosine."},
      {"atanh", "Inverse hyperbolic tangent."},
      {"cbrt", "Cube root."},
      {"erf", "Error function."},
      {"erfc", "Complementary error function, 1 - erf(x)."},
      {"atan2", "Arc tangent of lhs / rhs, in the quadrant of both."},
      {"copysign", "The magnitude of lhs with the sign of rhs."},
      {"powf", "lhs to the power of rhs."},
      {"ctlz", "Number of leading zero bits."},
      {"cttz", "Number of trailing zero bits."},
      {"ctpop", "Number of one bits."}};
  auto it = sentences.find(name);
  if (it == sentences.end()) fail("no sentence of semantics for " + name + " (sentenceOf in ir/opgen.cpp)");
  return it->second;
}

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
    else if (kind == "@math_unary")
      ops.push_back(family("math", n, "operand: FloatLike -> result = same(operand)", "fastmath: i32=0",
                           "$operand custom(FastMath) attrs : type($result)", ew, sentenceOf(n)));
    else if (kind == "@math_binary")
      ops.push_back(family("math", n, binf, "fastmath: i32=0", "$lhs , $rhs custom(FastMath) attrs : type($result)", ew,
                           sentenceOf(n)));
    else if (kind == "@math_unary_int")
      ops.push_back(family("math", n, "operand: SignlessIntLike -> result = same(operand)", "",
                           "$operand attrs : type($result)", ew, sentenceOf(n)));
    else
      return false;
  }
  return true;
}

void parse(std::istream &in) {
  std::string line;
  Op *cur = nullptr;
  while (std::getline(in, line)) {
    ++lineNo;
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

std::string traitList(const std::vector<std::string> &ts) {
  std::string s;
  for (auto &t : ts) s += (s.empty() ? "" : " | ") + ("k" + camel(t, true));
  return s.empty() ? "0" : s;
}

std::string firstCase(const std::string &n) {
  for (auto &e : enums)
    if (e.name == n) return e.cases[0].first;
  return "";
}
bool enumExists(const std::string &n) {
  for (auto &e : enums)
    if (e.name == n) return true;
  return false;
}

void writeOpcodes(std::ostream &o) {
  o << "// Generated by ir/opgen.cpp from ir/ops.table.\nenum class Opcode : uint16_t {\n";
  for (auto &op : ops) o << "  " << ident(op.name) << ",\n";
  o << "  unregistered,\n};\ninline constexpr unsigned kNumOpcodes = " << ops.size() << ";\n";
  for (auto &e : enums) {
    o << "enum class " << e.name << " : int32_t {";
    for (auto &[n, v] : e.cases) o << " " << camel(n, true) << " = " << v << ",";
    o << " };\n";
  }
}

/// Whether the i-th operand of the row is always the i-th of the operation: nothing optional or variadic is before it.
bool hasFixedIndex(const Op &op, unsigned i) {
  for (unsigned before = 0; before < i; ++before)
    if (op.operands[before].arity != "One") return false;
  return true;
}

void writeAccessors(std::ostream &o, const Op &op) {
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    auto &v = op.operands[i];
    std::string n = cppName(v.name);
    if (v.arity == "Variadic")
      o << "  OperandRange " << n << "() const { return op->operandGroup(" << i << "); }\n";
    else if (v.arity == "Optional")
      o << "  Value " << n << "() const { auto g = op->operandGroup(" << i
        << "); return g.empty() ? Value() : g[0]; }\n";
    else if (hasFixedIndex(op, i)) {
      o << "  Value " << n << "() const { return op->operand(" << i << "); }\n";
      o << "  void set" << camel(v.name, true) << "(Value v) const { op->setOperand(" << i << ", v); }\n";
    } else
      o << "  Value " << n << "() const { return op->operand(op->operandGroupStart(" << i << ")); }\n";
  }
  for (unsigned i = 0; i < op.results.size(); ++i) {
    auto &v = op.results[i];
    std::string n = cppName(v.name);
    bool clash = false;
    for (auto &p : op.operands) clash |= p.name == v.name;
    if (clash) n += "Result";
    if (v.arity == "Variadic")
      o << "  ResultRange " << n << "() const { return op->resultGroup(" << i << "); }\n";
    else if (v.arity == "Optional")
      o << "  Value " << n << "() const { auto g = op->resultGroup(" << i
        << "); return g.empty() ? Value() : g[0]; }\n";
    else
      o << "  Value " << n << "() const { return op->result(" << i << "); }\n";
  }
  for (auto &a : op.attrs) {
    std::string n = cppName(a.name), q = "\"" + a.name + "\"";
    bool clash = false;
    for (auto &p : op.operands) clash |= p.name == a.name;
    for (auto &p : op.results) clash |= p.name == a.name;
    if (clash) n += "Attr";
    std::string def = a.def;
    if (a.rule == "unit")
      o << "  bool " << n << "() const { return op->hasAttr(" << q << "); }\n";
    else if (a.rule == "enum") {
      if (!enumExists(a.enumName)) {
        lineNo = op.line;
        fail("unknown enum " + a.enumName);
      }
      if (a.optional)
        o << "  std::optional<" << a.enumName << "> " << n << "() const { auto a = op->attr<IntegerAttr>(" << q
          << "); if (!a) return std::nullopt; return " << a.enumName << "(a.sext()); }\n";
      else
        o << "  " << a.enumName << " " << n << "() const { auto a = op->attr<IntegerAttr>(" << q << "); return a ? "
          << a.enumName << "(a.sext()) : " << a.enumName
          << "::" << camel(def.empty() ? firstCase(a.enumName) : def, true) << "; }\n";
    } else if (a.rule == "bool")
      o << "  bool " << n << "() const { auto a = op->attr<IntegerAttr>(" << q
        << "); return a ? !a.value().isZero() : " << (def.empty() ? "false" : def) << "; }\n";
    else if (a.rule == "i32" || a.rule == "i64") {
      if (a.optional)
        o << "  std::optional<int64_t> " << n << "() const { auto a = op->attr<IntegerAttr>(" << q
          << "); if (!a) return std::nullopt; return a.sext(); }\n";
      else
        o << "  int64_t " << n << "() const { auto a = op->attr<IntegerAttr>(" << q
          << "); return a ? a.sext() : " << (def.empty() ? "0" : def) << "; }\n";
    } else if (a.rule == "string")
      o << "  llvm::StringRef " << n << "() const { auto a = op->attr<StringAttr>(" << q
        << "); return a ? a.value() : llvm::StringRef(); }\n";
    else if (a.rule == "symbol")
      o << "  llvm::StringRef " << n << "() const { auto a = op->attr<SymbolAttr>(" << q
        << "); return a ? a.value() : llvm::StringRef(); }\n";
    else if (a.rule == "dense_i32")
      o << "  llvm::ArrayRef<int64_t> " << n << "() const { auto a = op->attr<DenseArrayAttr>(" << q
        << "); return a ? a.values() : llvm::ArrayRef<int64_t>(); }\n";
    else if (a.rule == "type")
      o << "  Type " << n << "() const { auto a = op->attr<TypeAttr>(" << q << "); return a ? a.value() : Type(); }\n";
    else
      o << "  Attribute " << n << "() const { return op->attr(" << q << "); }\n";
  }
  for (unsigned i = 0; i < op.regions.size() && !op.anyRegions; ++i)
    o << "  Region &" << cppName(op.regions[i]) << "() const { return op->region(" << i << "); }\n";
}

void writeCreate(std::ostream &o, const Op &op) {
  std::string cls = className(op), params, args;
  bool variable = false;
  for (auto &v : op.operands) {
    params += std::string(", ") + (v.arity == "Variadic" ? "llvm::ArrayRef<Value> " : "Value ") + cppName(v.name);
    args += std::string(args.empty() ? "" : ", ") + cppName(v.name);
    variable |= v.arity != "One";
  }
  bool inferable = true;
  for (auto &r : op.results) inferable &= r.inferRule != "None" && r.arity == "One";
  std::string common = "llvm::ArrayRef<NamedAttribute> attrs_ = {}";
  std::string extra = (op.successors != "0" ? ", llvm::ArrayRef<Block *> successors_" : "") +
                      std::string(op.anyRegions ? ", unsigned numRegions_" : "");
  auto body = [&](bool infer) {
    o << "    OperationState s_(Opcode::" << ident(op.name) << ", loc_);\n";
    unsigned nVar = 0;
    for (auto &v : op.operands) nVar += v.arity != "One";
    for (auto &v : op.operands) {
      std::string n = cppName(v.name);
      if (v.arity == "Variadic")
        o << "    s_.operands.append(" << n << ".begin(), " << n << ".end());\n";
      else if (v.arity == "Optional")
        o << "    if (" << n << ") s_.operands.push_back(" << n << ");\n";
      else
        o << "    s_.operands.push_back(" << n << ");\n";
    }
    if (nVar > 1) {
      o << "    s_.segments = {";
      for (auto &v : op.operands) {
        std::string n = cppName(v.name);
        o << (v.arity == "Variadic" ? "int32_t(" + n + ".size()), " : v.arity == "Optional" ? n + " ? 1 : 0, " : "1, ");
      }
      o << "};\n";
    }
    if (infer)
      o << "    inferInto(b_, s_);\n";
    else if (!op.results.empty())
      o << "    s_.resultTypes.assign(types_.begin(), types_.end());\n";
    o << "    s_.attrs.assign(attrs_.begin(), attrs_.end());\n";
    if (op.successors != "0") o << "    s_.successors.assign(successors_.begin(), successors_.end());\n";
    o << "    s_.numRegions = " << (op.anyRegions ? "numRegions_" : std::to_string(op.regions.size())) << ";\n";
    o << "    return " << cls << "(b_.create(s_));\n  }\n";
  };
  if (inferable && !op.results.empty()) {
    o << "  /// Result types follow from the operands.\n  static " << cls << " create(Builder &b_, Location loc_"
      << params << extra << ", " << common << ") {\n";
    body(true);
  }
  o << "  static " << cls << " create(Builder &b_, Location loc_"
    << (op.results.empty() ? "" : ", llvm::ArrayRef<Type> types_") << params << extra << ", " << common << ") {\n";
  body(false);
}

// Views of families: one view for all operations whose operands are used alike.
struct Family {
  const char *view, *summary;
  std::vector<std::string> operands; // the names of its accessors
  bool (*contains)(const Op &);
};

bool hasNames(const Op &op, const char *first, const char *second) {
  return op.operands.size() == 2 && op.operands[0].name == first && op.operands[1].name == second;
}
bool isUnary(const Op &op) {
  return op.operands.size() == 1 && op.operands[0].arity == "One" && op.results.size() == 1 &&
         op.results[0].arity == "One" && op.regions.empty();
}
bool isBinary(const Op &op) { return hasNames(op, "lhs", "rhs") || hasNames(op, "x", "y"); }
bool isGlobalAccess(const Op &op) {
  return dialectOf(op) == "tt" && !op.effects.empty() && !op.operands.empty() && op.operands[0].name == "ptr";
}
bool isMemdescView(const Op &op) { return op.name.rfind("ttg.memdesc_", 0) == 0; }

const Family families[] = {
    {"UnaryOp",
     "One value of one: conversions, functions of one number, and changes of shape or layout.",
     {"value"},
     isUnary},
    {"BinaryOp",
     "An operation on a left and a right side: arithmetic, comparisons, tt.join and tt.cat.",
     {"lhs", "rhs"},
     isBinary},
    {"GlobalAccessOp",
     "An access through pointers: tt.load, tt.store, tt.atomic_rmw and tt.atomic_cas.",
     {"ptr"},
     isGlobalAccess},
    {"MemdescViewOp", "A view of a buffer: ttg.memdesc_index and the like.", {"src"}, isMemdescView},
};

void writeFamily(std::ostream &o, const Family &family) {
  o << "/// " << family.summary << "\nstruct " << family.view << " : OpView {\n  using OpView::OpView;\n"
    << "  static bool classof(const Operation *o) {\n    switch (o->opcode()) {\n";
  for (auto &op : ops)
    if (family.contains(op)) o << "    case Opcode::" << ident(op.name) << ":\n";
  o << "      return true;\n    default: return false;\n    }\n  }\n";
  for (unsigned i = 0; i < family.operands.size(); ++i)
    o << "  Value " << family.operands[i] << "() const { return op->operand(" << i << "); }\n"
      << "  void set" << camel(family.operands[i], true) << "(Value v) const { op->setOperand(" << i << ", v); }\n";
  if (family.operands.size() == 2)
    o << "  /// The operand that is not the i-th.\n  Value other(unsigned i) const { return op->operand(1 - i); }\n";
  bool allHaveResult = true;
  for (auto &op : ops) allHaveResult &= !family.contains(op) || !op.results.empty();
  if (allHaveResult) o << "  Value result() const { return op->result(); }\n";
  o << "};\n";
}

void writeOps(std::ostream &o) {
  o << "// Generated by ir/opgen.cpp from ir/ops.table.\n";
  for (auto &op : ops) {
    std::string cls = className(op), ns = dialectOf(op);
    o << "namespace " << ns << " {\n/// `" << op.name << "`: " << op.summary << "\nstruct " << cls
      << " : OpView {\n  using OpView::OpView;\n"
      << "  static constexpr Opcode kOpcode = Opcode::" << ident(op.name) << ";\n"
      << "  static bool classof(const Operation *o) { return o->opcode() == kOpcode; }\n";
    writeAccessors(o, op);
    writeCreate(o, op);
    o << "};\n} // namespace " << ns << "\n";
  }
  for (auto &family : families) writeFamily(o, family);
}

void writeEnums(std::ostream &o) {
  for (auto &e : enums) {
    o << "static constexpr EnumCase kCases_" << e.name << "[] = {";
    for (auto &[n, v] : e.cases) o << "{\"" << n << "\", " << v << "}, ";
    o << "};\nstatic constexpr EnumInfo kEnum_" << e.name << "{\"" << e.name << "\", kCases_" << e.name << "};\n";
  }
}

void declareHooks(std::ostream &o, const Op &op) {
  if (op.verify) o << "bool verify_" << ident(op.name) << "(Operation *, DiagnosticEngine &);\n";
  if (op.fold)
    o << "bool fold_" << ident(op.name)
      << "(Operation *, llvm::ArrayRef<Attribute>, llvm::SmallVectorImpl<FoldResult> &);\n";
}

void writeValueSpecs(std::ostream &o, const char *what, const std::string &id, const std::vector<ValueRow> &values) {
  if (values.empty()) return;
  o << "static constexpr ValueSpec k" << what << "_" << id << "[] = {";
  for (auto &v : values) o << "{\"" << v.name << "\", TypeRule::" << v.rule << ", Arity::" << v.arity << "}, ";
  o << "};\n";
}

/// The operand that a result's type follows from, as ResultInference has it.
std::string inferenceSource(const Op &op, const std::string &name) {
  if (name.empty()) return "0";
  for (unsigned i = 0; i < op.operands.size(); ++i)
    if (op.operands[i].name == name) return std::to_string(i);
  for (unsigned i = 0; i < op.results.size(); ++i)
    if (op.results[i].name == name) return "kInferredResult + " + std::to_string(i);
  lineNo = op.line;
  fail("no operand " + name);
}

void writeInference(std::ostream &o, const Op &op) {
  if (op.results.empty()) return;
  o << "static constexpr ResultInference kInfer_" << ident(op.name) << "[] = {";
  for (auto &r : op.results)
    o << "{uint8_t(InferRule::" << r.inferRule << "), " << inferenceSource(op, r.inferOf) << "}, ";
  o << "};\n";
}

/// The default value of an attribute as a number.
template <class A> long defaultOf(const A &a) {
  if (a.rule == "bool") return a.def == "true";
  if (a.def.empty()) return 0;
  if (a.rule != "enum") return std::atol(a.def.c_str());
  for (auto &e : enums)
    if (e.name == a.enumName)
      for (auto &[n, v] : e.cases)
        if (n == a.def) return v;
  return 0;
}

void writeAttributeSpecs(std::ostream &o, const Op &op) {
  if (op.attrs.empty()) return;
  static const std::map<std::string, std::string> rules = {
      {"any", "Any"},       {"unit", "Unit"},     {"bool", "Bool"},       {"i32", "I32"},
      {"i64", "I64"},       {"string", "String"}, {"enum", "Enum"},       {"dense_i32", "DenseI32"},
      {"symbol", "Symbol"}, {"type", "Type"},     {"dict", "Dictionary"}, {"array", "Array"}};
  o << "static constexpr AttrSpec kAttrs_" << ident(op.name) << "[] = {";
  for (auto &a : op.attrs)
    o << "{\"" << a.name << "\", AttrRule::" << rules.at(a.rule) << ", "
      << (a.optional || a.rule == "unit" ? "true" : "false") << ", " << (a.def.empty() ? "false" : "true") << ", "
      << defaultOf(a) << ", " << (a.enumName.empty() ? "nullptr" : "&kEnum_" + a.enumName) << "}, ";
  o << "};\n";
}

void writeRow(std::ostream &o, const Op &op) {
  std::string id = ident(op.name);
  auto ref = [&](const char *what, bool has) { return has ? std::string("k") + what + "_" + id : std::string("{}"); };
  auto traits = op.traits;
  if (op.format == "generic") traits.push_back("generic_form");
  o << "  {\"" << op.name << "\", Opcode::" << id << ", \"" << escape(op.format) << "\", "
    << ref("Operands", !op.operands.empty()) << ", " << ref("Results", !op.results.empty()) << ", "
    << ref("Infer", !op.results.empty()) << ", " << ref("Attrs", !op.attrs.empty()) << ", " << traitList(traits) << ", "
    << traitList(op.effects) << ", " << (op.anyRegions ? "kAnyNumber" : std::to_string(op.regions.size())) << ", "
    << (op.successors == "*" ? "kAnyNumber" : op.successors) << ", " << (op.verify ? "verify_" + id : "nullptr") << ", "
    << (op.fold ? "fold_" + id : "nullptr") << ", \"" << escape(op.summary) << "\"},\n";
}

void writeRows(std::ostream &o) {
  o << "// Generated by ir/opgen.cpp from ir/ops.table.\n";
  writeEnums(o);
  for (auto &op : ops) declareHooks(o, op);
  for (auto &op : ops) {
    writeValueSpecs(o, "Operands", ident(op.name), op.operands);
    writeValueSpecs(o, "Results", ident(op.name), op.results);
    writeInference(o, op);
    writeAttributeSpecs(o, op);
  }
  o << "static constexpr OpInfo kRows[] = {\n";
  for (auto &op : ops) writeRow(o, op);
  o << "};\n";
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: opgen OPS_TABLE OUT_DIR\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  if (!in) {
    std::cerr << "opgen: cannot read " << argv[1] << "\n";
    return 1;
  }
  parse(in);
  auto write = [&](const char *name, void (*f)(std::ostream &)) {
    std::ostringstream s;
    f(s);
    std::string path = std::string(argv[2]) + "/" + name;
    std::ifstream old(path);
    std::stringstream was;
    was << old.rdbuf();
    if (old && was.str() == s.str()) return; // keep the time stamp
    std::ofstream(path) << s.str();
  };
  write("opcodes.inc", writeOpcodes);
  write("ops.inc", writeOps);
  write("op_rows.inc", writeRows);
  return 0;
}
