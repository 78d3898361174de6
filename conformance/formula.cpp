// Formulas: a recursive-descent parser into a list of nodes, and their evaluation by walking it (see formula.h).
// Mathematics goes through the C library in double.
#include "conformance/formula.h"
#include "runtime/launch/random.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::conformance {
using runtime::CounterRandom;
using runtime::DType;

namespace {

enum class Op : uint8_t {
  Constant,
  Variable,
  Element,
  Scalar,
  Choose,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Shl,
  Shr,
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Neg,
  Not,
  Invert,
  Sum,
  Multiply,
  Least,
  Greatest,
  Every,
  Any,
  Parity,
  First,
  Real1,
  Real2,
  Fma,
  Abs,
  Min,
  Max,
  Floor,
  Ceil,
  Trunc,
  Round,
  IsNan,
  Cast,
  TowardZero,
  Bits,
  AsFloat,
  Below,
  Normal,
  Uniform,
  Integer,
  RandomBits,
};

struct Function {
  const char *name;
  Op op;
  unsigned arguments;
  double (*real1)(double) = nullptr;
  double (*real2)(double, double) = nullptr;
};
double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
double signOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double infinity(double) { return std::numeric_limits<double>::infinity(); }
double notANumber(double) { return std::numeric_limits<double>::quiet_NaN(); }

const Function kFunctions[] = {
    {"sqrt", Op::Real1, 1, std::sqrt},
    {"rsqrt", Op::Real1, 1, reciprocalRoot},
    {"cbrt", Op::Real1, 1, std::cbrt},
    {"exp", Op::Real1, 1, std::exp},
    {"exp2", Op::Real1, 1, std::exp2},
    {"expm1", Op::Real1, 1, std::expm1},
    {"log", Op::Real1, 1, std::log},
    {"log2", Op::Real1, 1, std::log2},
    {"log10", Op::Real1, 1, std::log10},
    {"log1p", Op::Real1, 1, std::log1p},
    {"sin", Op::Real1, 1, std::sin},
    {"cos", Op::Real1, 1, std::cos},
    {"tan", Op::Real1, 1, std::tan},
    {"asin", Op::Real1, 1, std::asin},
    {"acos", Op::Real1, 1, std::acos},
    {"atan", Op::Real1, 1, std::atan},
    {"sinh", Op::Real1, 1, std::sinh},
    {"cosh", Op::Real1, 1, std::cosh},
    {"tanh", Op::Real1, 1, std::tanh},
    {"asinh", Op::Real1, 1, std::asinh},
    {"acosh", Op::Real1, 1, std::acosh},
    {"atanh", Op::Real1, 1, std::atanh},
    {"erf", Op::Real1, 1, std::erf},
    {"erfc", Op::Real1, 1, std::erfc},
    {"sign", Op::Real1, 1, signOf},
    {"inf", Op::Real1, 0, infinity},
    {"nan", Op::Real1, 0, notANumber},
    {"pow", Op::Real2, 2, nullptr, std::pow},
    {"atan2", Op::Real2, 2, nullptr, std::atan2},
    {"copysign", Op::Real2, 2, nullptr, std::copysign},
    {"remainder", Op::Real2, 2, nullptr, std::fmod},
    {"fma", Op::Fma, 3},
    {"abs", Op::Abs, 1},
    {"min", Op::Min, 2},
    {"max", Op::Max, 2},
    {"floor", Op::Floor, 1},
    {"ceil", Op::Ceil, 1},
    {"trunc", Op::Trunc, 1},
    {"round", Op::Round, 1},
    {"isnan", Op::IsNan, 1},
    {"below", Op::Below, 2},
    {"normal", Op::Normal, 0},
    {"uniform", Op::Uniform, 2},
    {"integer", Op::Integer, 2},
    {"random_bits", Op::RandomBits, 0},
};
const std::pair<const char *, Op> kReductions[] = {
    {"sum", Op::Sum},     {"product", Op::Multiply}, {"least", Op::Least},   {"greatest", Op::Greatest},
    {"every", Op::Every}, {"any", Op::Any},          {"parity", Op::Parity}, {"first", Op::First}};

} // namespace

struct Formula::Node {
  Op op;
  int a = -1, b = -1, c = -1;
  std::vector<int> indices = {}; // Element
  Number constant = {};
  unsigned index = 0; // of the variable (Variable, reductions), buffer (Element, Scalar) or draw
  DType dtype = DType::F32;
  double (*real1)(double) = nullptr;
  double (*real2)(double, double) = nullptr;
};

Formula::Formula() = default;
Formula::Formula(const Formula &) = default;
Formula::Formula(Formula &&) noexcept = default;
Formula &Formula::operator=(const Formula &) = default;
Formula::~Formula() = default;

class FormulaParser {
  using Node = Formula::Node;

public:
  FormulaParser(llvm::StringRef text, llvm::ArrayRef<std::string> variables, llvm::ArrayRef<FormulaBuffer> buffers)
      : text_(text), rest_(text), variables_(variables.begin(), variables.end()), buffers_(buffers) {}

  absl::StatusOr<Formula> run() {
    Formula f;
    f.variableCount_ = variables_.size();
    f.root_ = choice();
    skip();
    if (error_.empty() && !rest_.empty()) fail("'" + rest_.take_front(12) + "' is left over");
    if (!error_.empty()) return absl::InvalidArgumentError(error_);
    f.variableCount_ = variableCount_ = std::max<unsigned>(variableCount_, variables_.size());
    f.nodes_ = std::make_shared<const std::vector<Node>>(std::move(nodes_));
    return f;
  }

private:
  int fail(const llvm::Twine &what) {
    if (error_.empty())
      error_ = ("formula '" + text_ + "', column " + llvm::Twine(text_.size() - rest_.size() + 1) + ": " + what).str();
    rest_ = "";
    return add({Op::Constant});
  }
  int add(Node n) {
    nodes_.push_back(std::move(n));
    return int(nodes_.size()) - 1;
  }
  int binary(Op op, int a, int b) {
    Node n{op};
    n.a = a;
    n.b = b;
    return add(std::move(n));
  }
  void skip() { rest_ = rest_.ltrim(); }
  bool take(llvm::StringRef token) {
    skip();
    return rest_.consume_front(token);
  }
  void expect(llvm::StringRef token) {
    if (!take(token)) fail("'" + token + "' is expected");
  }
  llvm::StringRef word() {
    skip();
    auto w = rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!w.empty() && !llvm::isDigit(w[0]))
      rest_ = rest_.drop_front(w.size());
    else
      w = "";
    return w;
  }

  int choice() {
    if (++depth_ > 100) return fail("is nested too deeply");
    int c = level(0);
    if (take("?")) {
      Node n{Op::Choose};
      n.a = c;
      n.b = choice();
      expect(":");
      n.c = choice();
      c = add(std::move(n));
    }
    --depth_;
    return c;
  }

  /// Binary operators by precedence, weakest first.
  int level(unsigned l) {
    struct Operator {
      const char *token;
      Op op;
    };
    static const std::vector<std::vector<Operator>> kLevels = {
        {{"||", Op::Or}},
        {{"&&", Op::And}},
        {{"|", Op::BitOr}},
        {{"^", Op::BitXor}},
        {{"&", Op::BitAnd}},
        {{"==", Op::Eq}, {"!=", Op::Ne}},
        {{"<=", Op::Le}, {">=", Op::Ge}, {"<", Op::Lt}, {">", Op::Gt}},
        {{"<<", Op::Shl}, {">>", Op::Shr}},
        {{"+", Op::Add}, {"-", Op::Sub}},
        {{"*", Op::Mul}, {"/", Op::Div}, {"%", Op::Rem}}};
    if (l == kLevels.size()) return unary();
    int a = level(l + 1);
    for (bool again = true; again;) {
      again = false;
      skip();
      for (auto &o : kLevels[l]) {
        llvm::StringRef token = o.token;
        if (!rest_.starts_with(token)) continue;
        // "<" is not the start of "<<", nor "|" of "||".
        if (token.size() == 1 && rest_.size() > 1 && rest_[1] == token[0] && llvm::StringRef("<>|&").contains(token[0]))
          continue;
        rest_ = rest_.drop_front(token.size());
        a = binary(o.op, a, level(l + 1));
        again = true;
        break;
      }
    }
    return a;
  }

  int unary() {
    skip();
    for (auto [token, op] : {std::pair<const char *, Op>("-", Op::Neg), {"!", Op::Not}, {"~", Op::Invert}})
      if (take(token)) {
        Node n{op};
        if (++depth_ > 100) return fail("is nested too deeply");
        n.a = unary();
        --depth_;
        return add(std::move(n));
      }
    return primary();
  }

  int primary() {
    skip();
    if (rest_.empty()) return fail("ends too soon");
    if (take("(")) {
      int e = choice();
      expect(")");
      return e;
    }
    if (llvm::isDigit(rest_[0])) return number();
    auto name = word();
    if (name.empty()) return fail("what is '" + rest_.take_front(8) + "'?");
    if (take("[")) return element(name);
    if (take("(")) return call(name);
    for (size_t i = variables_.size(); i-- > 0;)
      if (variables_[i] == name) {
        Node n{Op::Variable};
        n.index = i;
        return add(std::move(n));
      }
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (buffers_[i].name == name) {
        if (!buffers_[i].shape.empty()) return fail("'" + name + "' is a buffer and needs indices");
        Node n{Op::Scalar};
        n.index = i;
        return add(std::move(n));
      }
    return fail("there is no '" + name + "'");
  }

  int number() {
    Node n{Op::Constant};
    auto digits = rest_.take_while([&, previous = ' '](char c) mutable {
      bool in = llvm::isAlnum(c) || c == '.' ||
                ((c == '+' || c == '-') && (previous == 'e' || previous == 'E') && !rest_.starts_with("0x"));
      previous = c;
      return in;
    });
    rest_ = rest_.drop_front(digits.size());
    uint64_t u;
    if (!digits.getAsInteger(0, u) && (digits.size() == 1 || digits[0] != '0' || digits.starts_with("0x")))
      n.constant = Number::of(int64_t(u));
    else {
      double d;
      if (digits.getAsDouble(d)) return fail("'" + digits + "' is no number");
      n.constant = Number::ofReal(d);
    }
    return add(std::move(n));
  }

  int element(llvm::StringRef name) {
    Node n{Op::Element};
    size_t i = 0;
    while (i < buffers_.size() && buffers_[i].name != name) ++i;
    if (i == buffers_.size()) return fail("there is no buffer '" + name + "'");
    n.index = i;
    do n.indices.push_back(choice());
    while (take(","));
    expect("]");
    if (n.indices.size() != buffers_[i].shape.size())
      return fail(
          llvm::formatv("'{0}' has {1} dimensions, not {2}", name, buffers_[i].shape.size(), n.indices.size()).str());
    return add(std::move(n));
  }

  std::optional<DType> dtype() {
    auto name = word();
    auto t = runtime::parseDType(name);
    if (!t) fail("'" + name + "' is no type");
    return t;
  }

  int call(llvm::StringRef name) {
    for (auto &[reduction, op] : kReductions) {
      if (name != reduction) continue;
      // sum(k < COUNT, BODY): the variable is known in the body only.
      Node n{op};
      auto variable = word();
      if (variable.empty()) return fail("a variable is expected");
      expect("<");
      n.a = level(7); // binds tighter than comparisons
      expect(",");
      n.index = variables_.size();
      variables_.push_back(variable.str());
      variableCount_ = std::max<unsigned>(variableCount_, variables_.size());
      n.b = choice();
      variables_.pop_back();
      expect(")");
      return add(std::move(n));
    }
    if (name == "toward_zero" || name == "bits" || name == "as_float") {
      Node n{name == "toward_zero" ? Op::TowardZero : name == "bits" ? Op::Bits : Op::AsFloat};
      if (n.op == Op::TowardZero) {
        n.dtype = dtype().value_or(DType::F32);
        expect(",");
        n.a = choice();
      } else {
        n.a = choice();
        expect(",");
        n.dtype = dtype().value_or(DType::F32);
      }
      expect(")");
      if (!runtime::isFloat(n.dtype)) return fail("a floating-point type is expected");
      return add(std::move(n));
    }
    if (auto t = runtime::parseDType(name)) {
      Node n{Op::Cast};
      n.dtype = *t;
      n.a = choice();
      expect(")");
      return add(std::move(n));
    }
    for (auto &f : kFunctions) {
      if (name != f.name) continue;
      Node n{f.op};
      n.real1 = f.real1;
      n.real2 = f.real2;
      n.index = draws_++;
      int *to[] = {&n.a, &n.b, &n.c};
      for (unsigned i = 0; i < f.arguments; ++i) {
        if (i) expect(",");
        *to[i] = choice();
      }
      expect(")");
      return add(std::move(n));
    }
    return fail("there is no function '" + name + "'");
  }

  llvm::StringRef text_, rest_;
  std::vector<std::string> variables_;
  llvm::ArrayRef<FormulaBuffer> buffers_;
  std::vector<Node> nodes_;
  std::string error_;
  unsigned variableCount_ = 0, draws_ = 0, depth_ = 0;
};

absl::StatusOr<Formula> Formula::parse(llvm::StringRef text, llvm::ArrayRef<std::string> variables,
                                       llvm::ArrayRef<FormulaBuffer> buffers) {
  return FormulaParser(text, variables, buffers).run();
}

namespace {

class Evaluation {
public:
  Evaluation(const std::vector<Formula::Node> &nodes, llvm::ArrayRef<FormulaBuffer> buffers, uint64_t stream,
             uint64_t element)
      : nodes_(nodes), buffers_(buffers), random_(stream), element_(element) {}
  std::vector<int64_t> variables;
  std::string error;

  Number of(int index) {
    auto &n = nodes_[index];
    switch (n.op) {
    case Op::Constant: return n.constant;
    case Op::Variable: return Number::of(variables[n.index]);
    case Op::Scalar: return elementAt(buffers_[n.index].dtype, buffers_[n.index].data);
    case Op::Element: return element(n);
    case Op::Choose: return truth(of(n.a)) ? of(n.b) : of(n.c);
    case Op::Or: return Number::of(truth(of(n.a)) || truth(of(n.b)));
    case Op::And: return Number::of(truth(of(n.a)) && truth(of(n.b)));
    case Op::Not: return Number::of(!truth(of(n.a)));
    case Op::Neg: {
      Number a = of(n.a);
      return a.real ? Number::ofReal(-a.value) : Number::of(int64_t(0 - uint64_t(a.integer)));
    }
    case Op::Invert: return Number::of(~of(n.a).integer);
    case Op::Sum:
    case Op::Multiply:
    case Op::Least:
    case Op::Greatest:
    case Op::Every:
    case Op::Any:
    case Op::Parity:
    case Op::First: return reduction(n);
    case Op::Real1: return Number::ofReal(n.real1(n.a < 0 ? 0 : of(n.a).asReal()));
    case Op::Real2: return Number::ofReal(n.real2(of(n.a).asReal(), of(n.b).asReal()));
    case Op::Fma: return Number::ofReal(std::fma(of(n.a).asReal(), of(n.b).asReal(), of(n.c).asReal()));
    case Op::Abs: {
      Number a = of(n.a);
      return a.real ? Number::ofReal(std::abs(a.value))
                    : Number::of(a.integer < 0 ? int64_t(0 - uint64_t(a.integer)) : a.integer);
    }
    case Op::Min: return lesser(of(n.a), of(n.b), true);
    case Op::Max: return lesser(of(n.a), of(n.b), false);
    case Op::Floor: return Number::ofReal(std::floor(of(n.a).asReal()));
    case Op::Ceil: return Number::ofReal(std::ceil(of(n.a).asReal()));
    case Op::Trunc: return Number::ofReal(std::trunc(of(n.a).asReal()));
    case Op::Round: return Number::ofReal(std::nearbyint(of(n.a).asReal()));
    case Op::IsNan: return Number::of(std::isnan(of(n.a).asReal()));
    case Op::Cast:
    case Op::TowardZero:
    case Op::Bits:
    case Op::AsFloat: return conversion(n);
    case Op::Below: return Number::of(uint64_t(of(n.a).integer) < uint64_t(of(n.b).integer));
    case Op::Normal:
    case Op::Uniform:
    case Op::Integer:
    case Op::RandomBits: return random(n);
    case Op::BitOr:
    case Op::BitXor:
    case Op::BitAnd:
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
    case Op::Shl:
    case Op::Shr:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Rem: return operation(n.op, of(n.a), of(n.b));
    }
    llvm_unreachable("operation of a formula");
  }

private:
  static bool truth(Number n) { return n.real ? n.value != 0 : n.integer != 0; }
  uint64_t draw(const Formula::Node &n) const { return element_ * 16 + n.index; }

  Number conversion(const Formula::Node &n) {
    using llvm::RoundingMode;
    Number a = of(n.a);
    switch (n.op) {
    case Op::TowardZero: return Number::ofReal(toReal(convert(n.dtype, a, RoundingMode::TowardZero)));
    case Op::Bits: {
      auto bits = convert(n.dtype, a, RoundingMode::NearestTiesToEven).bitcastToAPInt();
      return Number::of(bits.getSExtValue());
    }
    case Op::AsFloat: {
      auto &semantics = *semanticsOf(n.dtype);
      llvm::APInt bits(llvm::APFloat::getSizeInBits(semantics), uint64_t(a.integer), false, true);
      return Number::ofReal(toReal(llvm::APFloat(semantics, bits)));
    }
    default: // Op::Cast
      if (!runtime::isFloat(n.dtype)) return Number::of(toInteger(n.dtype, a));
      return Number::ofReal(toReal(convert(n.dtype, a, RoundingMode::NearestTiesToEven)));
    }
  }

  Number random(const Formula::Node &n) {
    switch (n.op) {
    case Op::Normal: return Number::ofReal(random_.normal(draw(n)));
    case Op::Uniform: {
      double lo = of(n.a).asReal();
      double hi = of(n.b).asReal();
      double unit = double(random_.bits(draw(n)) >> 11) * 0x1p-53; // in [0, 1)
      return Number::ofReal(lo + (hi - lo) * unit);
    }
    case Op::Integer: {
      int64_t lo = of(n.a).integer;
      int64_t hi = of(n.b).integer;
      return Number::of(lo < hi ? random_.integer(draw(n), lo, hi) : lo);
    }
    default: return Number::of(int64_t(random_.bits(draw(n)))); // Op::RandomBits
    }
  }

  /// The smaller (larger) of two; a NaN gives the other.
  static Number lesser(Number a, Number b, bool smaller) {
    if (!a.real && !b.real)
      return Number::of(smaller ? std::min(a.integer, b.integer) : std::max(a.integer, b.integer));
    return Number::ofReal(smaller ? std::fmin(a.asReal(), b.asReal()) : std::fmax(a.asReal(), b.asReal()));
  }

  static Number operation(Op op, Number a, Number b) {
    bool real = a.real || b.real;
    double x = a.asReal(), y = b.asReal();
    int64_t i = a.integer, j = b.integer;
    auto wrapped = [](uint64_t v) { return Number::of(int64_t(v)); };
    switch (op) {
    case Op::BitOr: return Number::of(i | j);
    case Op::BitXor: return Number::of(i ^ j);
    case Op::BitAnd: return Number::of(i & j);
    case Op::Eq: return Number::of(real ? x == y : i == j);
    case Op::Ne: return Number::of(real ? x != y : i != j);
    case Op::Lt: return Number::of(real ? x < y : i < j);
    case Op::Le: return Number::of(real ? x <= y : i <= j);
    case Op::Gt: return Number::of(real ? x > y : i > j);
    case Op::Ge: return Number::of(real ? x >= y : i >= j);
    case Op::Shl: return wrapped(uint64_t(j) > 63 ? 0 : uint64_t(i) << j);
    case Op::Shr: return Number::of(i >> std::min<uint64_t>(uint64_t(j), 63));
    case Op::Add: return real ? Number::ofReal(x + y) : wrapped(uint64_t(i) + uint64_t(j));
    case Op::Sub: return real ? Number::ofReal(x - y) : wrapped(uint64_t(i) - uint64_t(j));
    case Op::Mul: return real ? Number::ofReal(x * y) : wrapped(uint64_t(i) * uint64_t(j));
    case Op::Div:
      if (real) return Number::ofReal(x / y);
      return j == 0 ? Number::of(-1) : j == -1 ? wrapped(0 - uint64_t(i)) : Number::of(i / j);
    case Op::Rem:
      if (real) return Number::ofReal(std::fmod(x, y));
      return j == 0 ? a : Number::of(j == -1 ? 0 : i % j);
    default: llvm_unreachable("binary operation");
    }
  }

  Number element(const Formula::Node &n) {
    auto &b = buffers_[n.index];
    int64_t flat = 0;
    for (size_t d = 0; d < n.indices.size(); ++d) {
      int64_t i = of(n.indices[d]).integer;
      if (i < 0 || i >= b.shape[d]) {
        if (error.empty())
          error = llvm::formatv("index {0} of '{1}' is {2}; the dimension has {3}", d, b.name, i, b.shape[d]).str();
        return Number::of(0);
      }
      flat = flat * b.shape[d] + i;
    }
    return elementAt(b.dtype, b.data + flat * runtime::dtypeBytes(b.dtype));
  }

  Number reduction(const Formula::Node &n) {
    int64_t count = of(n.a).integer;
    Number r = Number::of(n.op == Op::Multiply ? 1 : n.op == Op::Every ? -1 : 0);
    for (int64_t k = 0; k < count; ++k) {
      variables[n.index] = k;
      Number v = of(n.b);
      if (n.op == Op::First) {
        if (truth(v)) return Number::of(k);
      } else if (n.op == Op::Least || n.op == Op::Greatest)
        r = k ? lesser(r, v, n.op == Op::Least) : v;
      else
        r = operation(n.op == Op::Sum        ? Op::Add
                      : n.op == Op::Multiply ? Op::Mul
                      : n.op == Op::Every    ? Op::BitAnd
                      : n.op == Op::Any      ? Op::BitOr
                                             : Op::BitXor,
                      r, v);
    }
    return n.op == Op::First ? Number::of(count) : r;
  }

  const std::vector<Formula::Node> &nodes_;
  llvm::ArrayRef<FormulaBuffer> buffers_;
  CounterRandom random_;
  uint64_t element_;
};

} // namespace

absl::StatusOr<Number> Formula::evaluate(llvm::ArrayRef<int64_t> variables, llvm::ArrayRef<FormulaBuffer> buffers,
                                         uint64_t stream, uint64_t element) const {
  Evaluation e(*nodes_, buffers, stream, element);
  e.variables.assign(variables.begin(), variables.end());
  e.variables.resize(variableCount_);
  Number n = e.of(root_);
  if (!e.error.empty()) return absl::InvalidArgumentError(e.error);
  return n;
}

} // namespace tessera::conformance
