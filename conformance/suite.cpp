// Reading kernels with parameters, choosing cases, and putting values in (see suite.h and README.md).
#include "conformance/suite.h"
#include "conformance/embedded.h"
#include "ir/diagnostic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <re2/re2.h>

namespace tessera::conformance {

namespace {

absl::Status bad(const llvm::Twine &what) { return absl::InvalidArgumentError(what.str()); }
absl::Status at(const Kernel &k, unsigned line, const llvm::Twine &what) {
  return bad(llvm::Twine(k.file) + ":" + llvm::Twine(line) + ": error: kernel '" + k.name + "': " + what);
}

bool isName(llvm::StringRef s) {
  return !s.empty() && !llvm::isDigit(s[0]) && llvm::all_of(s, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::vector<std::string> fields(llvm::StringRef text, char separator) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  text.split(parts, separator);
  std::vector<std::string> out;
  for (auto p : parts) out.push_back(p.trim().str());
  return out;
}

/// What stands for a parameter's value in a case's name: its first field, and those after it as long as all are whole
/// numbers ("16x64"); warps, stages and lanes say so.
std::string label(const Parameter &p, const std::vector<std::string> &value) {
  std::string out;
  for (auto &field : value) {
    bool number = llvm::all_of(field, llvm::isDigit);
    if (!out.empty() && !number) break;
    if (!out.empty()) out += "x";
    for (char c : field) out += llvm::isAlnum(c) ? c : '_';
    if (!number) break;
  }
  if (p.names[0] == "warps" || p.names[0] == "stages" || p.names[0] == "lanes") out.insert(0, 1, p.names[0][0]);
  return out;
}

const char *const kKeywords[] = {"for",  "when", "grid",   "buffer", "descriptor", "scalar",
                                 "want", "out",  "within", "ignore", "unordered",  "skip"};

/// Reads a file line by line.
struct Reader {
  llvm::StringRef file, feature;
  Suite &suite;
  std::string errors;
  unsigned number = 0;
  std::shared_ptr<Kernel> kernel;
  Macro *macro = nullptr;
  bool inText = false;

  void error(const llvm::Twine &what) {
    errors += (errors.empty() ? "" : "\n") + (file + ":" + llvm::Twine(number) + ": error: " + what).str();
  }

  void addValues(Parameter &p, llvm::StringRef text, bool several) {
    for (auto &v : several ? fields(text, '|') : std::vector<std::string>{text.trim().str()}) {
      if (v.empty()) continue;
      auto parts = fields(v, ';');
      if (parts.size() != p.names.size())
        error(llvm::formatv("'{0}' has {1}, but {2} are named", v, ir::counted(parts.size(), "field"), p.names.size()));
      p.labels.push_back(label(p, parts));
      if (llvm::is_contained(llvm::ArrayRef(p.labels).drop_back(), p.labels.back()))
        error("'" + p.labels.back() + "' stands for two values: begin one with another field");
      p.values.push_back(std::move(parts));
    }
  }

  void finish() {
    for (auto &p : kernel->parameters)
      if (p.values.empty()) error("kernel '" + kernel->name + "': 'for " + p.names[0] + "' has no values");
    for (auto &k : suite.kernels)
      if (k->name == kernel->name && k->feature == kernel->feature)
        error("kernel '" + kernel->name + "' is there twice");
    suite.kernels.push_back(kernel);
    kernel = nullptr;
    inText = false;
  }

  void line(llvm::StringRef raw) {
    auto l = raw.trim();
    if (macro) {
      if (l == "end")
        macro = nullptr;
      else
        macro->body += (macro->body.empty() ? "" : "\n") + raw.rtrim().str();
      return;
    }
    if (inText) {
      if (l == "end")
        finish();
      else
        kernel->text += raw.rtrim().str() + "\n";
      return;
    }
    if (l.empty() || l.starts_with("#")) return;
    auto [word, rest] = l.split(' ');
    rest = rest.trim();
    if (!kernel) {
      if (word == "kernel") {
        if (!isName(rest)) return error("a kernel needs a name");
        kernel = std::make_shared<Kernel>();
        kernel->file = file.str();
        kernel->feature = feature.str();
        kernel->name = rest.str();
        kernel->line = number;
      } else if (word == "define") {
        auto [name, parameters] = rest.split('(');
        if (!isName(name) || !parameters.consume_back(")")) return error("'define NAME(PARAMETERS)' is expected");
        macro = &suite.macros[name.str()];
        *macro = {parameters.trim().empty() ? std::vector<std::string>() : fields(parameters, ','), ""};
      } else
        error("'kernel NAME' or 'define NAME(…)' is expected, not '" + word + "'");
      return;
    }
    if (l.starts_with("|")) {
      if (kernel->parameters.empty() || kernel->lines.size()) return error("values without 'for NAMES in'");
      return addValues(kernel->parameters.back(), l.drop_front(), false);
    }
    if (word == "text") {
      inText = true;
      kernel->textLine = number + 1;
    } else if (word == "for") {
      auto [names, values] = rest.split(" in");
      Parameter p;
      p.names = fields(names, ';');
      for (auto &n : p.names)
        if (!isName(n)) error("'" + n + "' is no name of a parameter");
      kernel->parameters.push_back(std::move(p));
      addValues(kernel->parameters.back(), values, true);
    } else if (llvm::is_contained(kKeywords, word))
      kernel->lines.push_back({word.str(), {number, rest.str()}});
    else
      error("what is '" + word +
            "'? A kernel has: for, when, grid, buffer, descriptor, scalar, want, out, within, ignore, unordered, skip, "
            "text");
  }
};

/// Values and macros put into a text.
class Expander {
public:
  Expander(const Suite &suite, const std::map<std::string, std::string> &values) : suite_(suite), values_(values) {}
  std::string error;

  std::string expand(llvm::StringRef text, const std::map<std::string, std::string> *local = nullptr,
                     unsigned depth = 0) {
    std::string out;
    if (depth > 20) return fail("a macro or a parameter contains itself");
    while (!text.empty()) {
      size_t dollar = text.find('$');
      out += text.take_front(dollar);
      if (dollar == llvm::StringRef::npos) break;
      text = text.drop_front(dollar + 1);
      if (text.starts_with("(")) { // arithmetic
        auto inside = balanced(text);
        auto f = Formula::parse(expand(inside, local, depth), {}, {});
        auto n = f.ok() ? f->evaluate({}, {}) : absl::StatusOr<Number>(f.status());
        if (!n.ok()) return fail(std::string(n.status().message()));
        out += std::to_string(n->real ? int64_t(n->value) : n->integer);
        continue;
      }
      std::string name;
      if (text.consume_front("{")) { // may itself contain values: ${index_$ORDER}(…)
        auto [inside, rest] = text.split('}');
        if (inside.size() == text.size()) return fail("'${" + inside + "' is not closed");
        name = expand(inside, local, depth + 1);
        text = rest;
      } else {
        name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str();
        text = text.drop_front(name.size());
      }
      if (local)
        if (auto it = local->find(name); it != local->end()) {
          out += it->second;
          continue;
        }
      if (auto it = values_.find(name); it != values_.end()) {
        out += expand(it->second, nullptr, depth + 1);
        continue;
      }
      auto m = suite_.macros.find(name);
      if (m == suite_.macros.end()) return fail("there is no parameter or macro '$" + name + "'");

      auto arguments = text.starts_with("(") ? splitArguments(balanced(text)) : std::vector<std::string>();
      if (m->second.parameters.empty() && arguments.size() == 1 && arguments[0].empty()) arguments.clear();
      if (arguments.size() != m->second.parameters.size())
        return fail(llvm::formatv("macro '${0}' takes {1}, not {2}", name,
                                  ir::counted(m->second.parameters.size(), "argument"), arguments.size())
                        .str());
      std::map<std::string, std::string> inner;
      for (size_t i = 0; i < arguments.size(); ++i)
        inner[m->second.parameters[i]] = expand(arguments[i], local, depth + 1);
      out += expand(m->second.body, &inner, depth + 1);
    }
    return out;
  }

private:
  std::string fail(const llvm::Twine &what) {
    if (error.empty()) error = what.str();
    return "";
  }
  /// Takes "(…)" off the text and gives what is inside.
  static llvm::StringRef balanced(llvm::StringRef &text) {
    int open = 0;
    size_t i = 0;
    for (; i < text.size(); ++i) {
      open += llvm::StringRef("([{<").contains(text[i]);
      // "->" closes nothing.
      open -= llvm::StringRef(")]}").contains(text[i]) || (text[i] == '>' && (!i || text[i - 1] != '-'));
      if (!open) break;
    }
    auto inside = text.slice(1, i);
    text = text.drop_front(std::min(i + 1, text.size()));
    return inside;
  }
  static std::vector<std::string> splitArguments(llvm::StringRef text) {
    std::vector<std::string> out(1);
    int open = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      open += llvm::StringRef("([{<").contains(c);
      open -= llvm::StringRef(")]}").contains(c) || (c == '>' && (!i || text[i - 1] != '-'));
      if (c == ',' && !open)
        out.emplace_back();
      else
        out.back() += c;
    }
    for (auto &a : out) a = llvm::StringRef(a).trim().str();
    return out;
  }

  const Suite &suite_;
  const std::map<std::string, std::string> &values_;
};

std::map<std::string, std::string> bindings(const Kernel &k, llvm::ArrayRef<unsigned> values) {
  std::map<std::string, std::string> out;
  for (size_t p = 0; p < k.parameters.size(); ++p)
    for (size_t f = 0; f < k.parameters[p].names.size(); ++f)
      out[k.parameters[p].names[f]] = k.parameters[p].values[values[p]][f];
  return out;
}

/// Whether the kernel's `when` lines hold.
absl::StatusOr<bool> holds(const Suite &suite, const Kernel &k, llvm::ArrayRef<unsigned> values) {
  auto b = bindings(k, values);
  for (auto &[keyword, line] : k.lines) {
    if (keyword != "when") continue;
    Expander e(suite, b);
    auto text = e.expand(line.text);
    if (!e.error.empty()) return at(k, line.number, e.error);
    auto f = Formula::parse(text, {}, {});
    auto n = f.ok() ? f->evaluate({}, {}) : absl::StatusOr<Number>(f.status());
    if (!n.ok()) return at(k, line.number, std::string(n.status().message()));
    if (!n->asReal()) return false;
  }
  return true;
}

/// Of all combinations, those that cover every value and, with `pairs`, every two values of different parameters:
/// always the one that covers most, the first among equals.
std::vector<size_t> cover(const std::vector<std::vector<unsigned>> &all, bool pairs) {
  std::vector<size_t> chosen;
  if (all.empty()) return chosen;
  // A value of a parameter has a number; what is to be covered is a value, or two of them, as an index.
  size_t parameters = all[0].size(), values = 0;
  std::vector<size_t> first;
  for (size_t p = 0; p < parameters; ++p) {
    unsigned most = 0;
    for (auto &v : all) most = std::max(most, v[p]);
    first.push_back(values);
    values += most + 1;
  }
  auto things = [&](const std::vector<unsigned> &v, bool two, llvm::function_ref<void(size_t)> f) {
    for (size_t p = 0; p < parameters; ++p)
      if (!two)
        f(first[p] + v[p]);
      else
        for (size_t q = p + 1; q < parameters; ++q) f((first[p] + v[p]) * values + first[q] + v[q]);
  };
  for (bool two : {false, true}) {
    if (two && !pairs) break;
    std::vector<char> open(two ? values * values : values);
    size_t left = 0;
    for (auto &v : all) things(v, two, [&](size_t t) { left += !open[t], open[t] = 1; });
    for (size_t i : chosen) things(all[i], two, [&](size_t t) { left -= open[t], open[t] = 0; });
    while (left) {
      size_t best = 0, most = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        size_t n = 0;
        things(all[i], two, [&](size_t t) { n += open[t]; });
        if (n > most) {
          most = n;
          best = i;
        }
      }
      chosen.push_back(best);
      things(all[best], two, [&](size_t t) { left -= open[t], open[t] = 0; });
    }
  }
  if (chosen.empty()) chosen.push_back(0); // nothing to cover
  llvm::sort(chosen);
  return chosen;
}

} // namespace

absl::Status readKernels(llvm::StringRef text, llvm::StringRef fileName, llvm::StringRef feature, Suite &suite) {
  Reader r{fileName, feature, suite, {}, 0, nullptr, nullptr, false};
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    ++r.number;
    r.line(line);
  }
  if (r.kernel)
    r.error("kernel '" + r.kernel->name + "' (line " + llvm::Twine(r.kernel->line) + ") has no " +
            (r.inText ? "'end'" : "'text'"));
  if (r.macro) r.error("a definition has no 'end'");
  return r.errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(r.errors);
}

absl::StatusOr<Suite> builtInSuite() {
  Suite s;
  for (auto &f : embeddedKernels())
    if (auto r = readKernels(f.text, f.file, f.feature, s); !r.ok()) return r;
  return s;
}

absl::StatusOr<std::vector<Case>> cases(const Suite &suite, Coverage coverage) {
  std::vector<Case> out;
  for (auto &k : suite.kernels) {
    std::vector<std::vector<unsigned>> all;
    std::vector<unsigned> v(k->parameters.size());
    for (bool more = true; more;) {
      auto ok = holds(suite, *k, v);
      if (!ok.ok()) return ok.status();
      if (*ok) all.push_back(v);
      if (all.size() > 20000) return at(*k, k->line, "has more than 20000 combinations of values");
      more = false;
      for (size_t p = v.size(); p-- > 0;) { // the last parameter fastest
        if (++v[p] < k->parameters[p].values.size()) {
          more = true;
          break;
        }
        v[p] = 0;
      }
    }
    std::vector<size_t> chosen;
    if (coverage != Coverage::All)
      chosen = cover(all, coverage == Coverage::Pairs);
    else
      for (size_t i = 0; i < all.size(); ++i) chosen.push_back(i);
    for (size_t i : chosen) {
      Case c{k, all[i], k->feature + "/" + k->name};
      for (size_t p = 0; p < all[i].size(); ++p) c.name += "-" + k->parameters[p].labels[all[i][p]];
      out.push_back(std::move(c));
    }
  }
  return out;
}

std::string Instance::whyNot(llvm::StringRef target) const {
  for (auto &[pattern, reason] : skips)
    if (RE2::FullMatch(target.str(), pattern)) return reason;
  return "";
}

namespace {

/// One case's kernel with values put in: the lines of its kernel read one after the other.
class Instantiation {
public:
  Instantiation(const Suite &suite, const Case &c)
      : kernel_(*c.kernel), values_(withDefaults(bindings(kernel_, c.values))), expander_(suite, values_) {
    launch_.path = c.name;
    launch_.numWarps = std::atoi(values_["warps"].c_str());
    launch_.numStages = std::atoi(values_["stages"].c_str());
    if (values_.count("lanes")) result_.lanes = std::atoi(values_["lanes"].c_str());
  }

  absl::StatusOr<Instance> run() {
    result_.text = expander_.expand(kernel_.text);
    if (!expander_.error.empty()) return at(kernel_, kernel_.textLine, expander_.error);
    for (auto &[keyword, line] : kernel_.lines) {
      line_ = line.number;
      std::string expanded = expander_.expand(line.text);
      if (!expander_.error.empty()) return error(expander_.error);
      if (auto s = read(keyword, expanded); !s.ok()) return s;
    }
    // The vectors have stopped growing.
    for (size_t i = 0; i < result_.names.size(); ++i) result_.names[i].data = result_.contents[i].data();
    return std::move(result_);
  }

private:
  using Values = std::map<std::string, std::string>; // of parameters
  static Values withDefaults(Values v) {
    v.try_emplace("warps", "4");
    v.try_emplace("stages", "3");
    return v;
  }
  absl::Status error(const llvm::Twine &what) { return at(kernel_, line_, what); }

  absl::Status read(llvm::StringRef keyword, llvm::StringRef text) {
    if (keyword == "grid") return grid(text);
    if (keyword == "buffer" || keyword == "scalar") return argument(text, keyword == "scalar");
    if (keyword == "descriptor") return descriptor(text);
    if (keyword == "want" || keyword == "out" || keyword == "ignore" || keyword == "unordered")
      return output(keyword, text);
    if (keyword == "within") return within(text);
    if (keyword == "skip") return skip(text);
    return absl::OkStatus();
  }

  absl::Status grid(llvm::StringRef text) {
    auto sizes = fields(text, ' ');
    for (size_t i = 0; i < sizes.size(); ++i)
      if (i > 2 || llvm::StringRef(sizes[i]).getAsInteger(10, launch_.grid[i]) || launch_.grid[i] < 1)
        return error("a grid is one to three numbers");
    return absl::OkStatus();
  }

  /// NAME: TYPE[SHAPE] = FORMULA
  absl::Status argument(llvm::StringRef text, bool isScalar) {
    auto [name, rest] = text.split(':');
    auto [type, fill] = rest.split('=');
    auto [element, shape] = type.trim().split('[');
    runtime::LaunchArg a;
    a.name = name.trim().str();
    a.isScalar = isScalar;
    auto dtype = runtime::parseDType(element.trim());
    if (!dtype || !isName(a.name))
      return error("'NAME: TYPE" + llvm::Twine(isScalar ? "" : "[SHAPE]") + " = FORMULA' is expected");
    a.dtype = *dtype;
    if (!isScalar)
      if (auto s = readShape(shape, a); !s.ok()) return s;
    FormulaBuffer b{a.name, *dtype, isScalar ? decltype(a.shape)() : a.shape, nullptr};
    std::vector<uint8_t> bytes(a.elements() * runtime::dtypeBytes(*dtype), 0xFF);
    if (fill.trim() != "poison")
      if (auto s = evaluate(fill.trim(), a, b, bytes); !s.ok()) return s;
    if (isScalar) {
      Number n = elementAt(*dtype, bytes.data());
      a.scalarType = element.trim().str();
      a.floatValue = n.asReal();
      a.intValue = n.integer;
    } else {
      a.source = runtime::LaunchArg::File;
      result_.outputs.push_back({unsigned(launch_.args.size()), Output::Compared, {}, {}, {}, {}});
    }
    result_.contents.push_back(std::move(bytes));
    b.data = result_.contents.back().data();
    result_.names.push_back(std::move(b));
    launch_.args.push_back(std::move(a));
    return absl::OkStatus();
  }
  /// NAME: [SHAPE] block [SHAPE] nan: the last buffer is passed as a descriptor of a part of it.
  absl::Status descriptor(llvm::StringRef text) {
    auto [name, rest] = text.split(':');
    auto [shape, block] = rest.split("block");
    runtime::HostDescriptor d;
    block = block.trim();
    d.nanPadding = block.consume_back("nan");
    if (launch_.args.empty() || launch_.args.back().name != name.trim() || launch_.args.back().isScalar)
      return error("a descriptor follows the buffer that it describes");
    auto &a = launch_.args.back();
    d.dtype = a.dtype;
    d.strides = runtime::contiguousStrides(a.shape);
    for (auto [sizes, out] : {std::pair{shape, &d.shape}, {block, &d.blockShape}}) {
      sizes = sizes.trim();
      if (!sizes.consume_front("[") || !sizes.consume_back("]"))
        return error("'NAME: [SHAPE] block [SHAPE]', and perhaps 'nan', is expected");
      if (auto s = readSizes(sizes, *out); !s.ok()) return s;
    }
    std::string broken;
    runtime::checkDescriptor(d, [&](runtime::DescriptorPart p, const std::string &rule) {
      broken += (broken.empty() ? "the descriptor's " : "; its ") + runtime::partName(p).str() + " " + rule;
    });
    for (size_t k = 0; broken.empty() && k < d.shape.size(); ++k)
      if (d.shape[k] > a.shape[k]) broken = "the descriptor is larger than its buffer";
    if (!broken.empty()) return error(broken);
    a.descriptor = std::move(d);
    return absl::OkStatus();
  }
  absl::Status readSizes(llvm::StringRef text, std::vector<int64_t> &out) {
    for (auto &d : fields(text, ',')) {
      auto f = Formula::parse(d, {}, {});
      auto n = f.ok() ? f->evaluate({}, {}) : absl::StatusOr<Number>(f.status());
      if (!n.ok() || n->integer < 1 || n->integer > (1 << 24)) return error("'" + d + "' is no size");
      out.push_back(n->integer);
    }
    return absl::OkStatus();
  }
  /// What follows the bracket.
  absl::Status readShape(llvm::StringRef shape, runtime::LaunchArg &a) {
    if (!shape.consume_back("]")) return error("'NAME: TYPE[SHAPE] = FORMULA' is expected");
    if (auto s = readSizes(shape, a.shape); !s.ok()) return s;
    if (a.elements() > (1 << 24)) return error("'" + a.name + "' is too large");
    return absl::OkStatus();
  }
  /// The formula's value at every element.
  absl::Status evaluate(llvm::StringRef formula, const runtime::LaunchArg &a, const FormulaBuffer &b,
                        std::vector<uint8_t> &bytes) {
    std::vector<std::string> variables{"i"};
    for (size_t d = 0; d < b.shape.size(); ++d) variables.push_back("i" + std::to_string(d));
    auto f = Formula::parse(formula, variables, result_.names);
    if (!f.ok()) return error(std::string(f.status().message()));
    for (int64_t i = 0; i < a.elements(); ++i) {
      std::vector<int64_t> index{i};
      index.resize(variables.size());
      int64_t rest = i;
      for (size_t d = b.shape.size(); d-- > 0; rest /= b.shape[d]) index[d + 1] = rest % b.shape[d];
      auto n = f->evaluate(index, result_.names, launch_.args.size(), uint64_t(i));
      if (!n.ok()) return error(std::string(n.status().message()));
      store(a.dtype, *n, &bytes[i * runtime::dtypeBytes(a.dtype)]);
    }
    return absl::OkStatus();
  }

  /// NAME[i, j] = FORMULA
  absl::Status output(llvm::StringRef keyword, llvm::StringRef text) {
    auto [left, formula] = text.split('=');
    auto [name, variables] = left.trim().split('[');
    auto found = llvm::find_if(result_.outputs, [&](auto &o) { return launch_.args[o.arg].name == name; });
    if (found == result_.outputs.end()) return error("there is no buffer '" + name + "'");
    last_ = found - result_.outputs.begin();
    Output &o = *found;
    if (keyword == "ignore") o.kind = Output::Ignored;
    if (keyword == "unordered") o.kind = Output::Unordered;
    if (variables.consume_back("]")) o.variables = fields(variables, ',');
    size_t rank = launch_.args[o.arg].shape.size();
    if ((keyword == "want" || !o.variables.empty()) && o.variables.size() != rank)
      return error(llvm::formatv("'{0}' has {1}, not {2}", name, ir::counted(rank, "dimension"), o.variables.size()));
    return keyword == "want" ? parse(formula, o, o.want) : absl::OkStatus();
  }
  /// UNITS [of VALUE], of the last output
  absl::Status within(llvm::StringRef text) {
    if (!last_) return error("'within' follows 'want' or 'out'");
    Output &o = result_.outputs[*last_];
    auto [limit, of] = text.split(" of ");
    for (auto [part, to] : {std::pair(limit, &o.within), {of, &o.of}})
      if (!part.trim().empty())
        if (auto s = parse(part, o, *to); !s.ok()) return s;
    return o.within ? absl::OkStatus() : error("'within UNITS [of VALUE]' is expected");
  }
  absl::Status parse(llvm::StringRef formula, const Output &o, std::optional<Formula> &to) {
    auto f = Formula::parse(formula.trim(), o.variables, result_.names);
    if (!f.ok()) return error(std::string(f.status().message()));
    to = std::move(*f);
    return absl::OkStatus();
  }

  /// TARGETS [if NAME in VALUE VALUE …] : REASON
  absl::Status skip(llvm::StringRef text) {
    auto [left, reason] = text.split(" : ");
    auto [pattern, condition] = left.split(" if ");
    if (reason.trim().empty() || !RE2(pattern.trim().str(), RE2::Quiet).ok())
      return error("'TARGETS [if NAME in VALUES] : REASON' is expected");
    if (!condition.empty()) {
      auto [name, list] = condition.split(" in ");
      auto it = values_.find(name.trim().str());
      if (it == values_.end()) return error("there is no parameter '" + name.trim() + "'");
      if (!llvm::is_contained(fields(list, ' '), it->second)) return absl::OkStatus();
    }
    result_.skips.push_back({pattern.trim().str(), reason.trim().str()});
    return absl::OkStatus();
  }

  const Kernel &kernel_;
  Values values_;
  Expander expander_;
  Instance result_;
  runtime::LaunchDescription &launch_ = result_.launch;
  std::optional<size_t> last_; // the output that a line was about last
  unsigned line_ = 0;
};

} // namespace

absl::StatusOr<Instance> instantiate(const Suite &suite, const Case &c) { return Instantiation(suite, c).run(); }

} // namespace tessera::conformance
