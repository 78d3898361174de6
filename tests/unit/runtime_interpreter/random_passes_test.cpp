// Passes on random TTIR: programs of integer and float arithmetic, tensors, memory, nested loops, branches and calls,
// run by the interpreter before and after each pass and the whole pipeline; every byte they store must be the same.
//
// TESSERA_RANDOM_PROGRAMS sets how many programs there are (100), TESSERA_RANDOM_SEED the first one's seed. A failure
// prints the program; its seed makes it again.
#include "evaluation.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "transforms/pass.h"
#include "transforms/pipelines.h"
#include <cstdlib>
#include <map>
#include <random>

namespace tessera {
namespace {

/// Writes a program. Values that are in reach are kept by type; what a region makes is forgotten after it.
class Generator {
public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string module() {
    std::string helpers;
    for (int i = 0, n = pick(3); i < n; ++i) {
      text_.clear();
      values_.clear();
      values_["i32"] = {"%a", "%b"};
      std::string noinline = pick(3) ? "" : " attributes {noinline = true}";
      bool blocks = pick(3) == 0;
      indent_ = "    ";
      helper_ = true;
      statements(2 + pick(5), 1);
      if (blocks) {
        std::string c = value("i1");
        text_ += "    cf.cond_br " + c + ", ^bb1(" + value("i32") + " : i32), ^bb2\n";
        auto saved = values_;
        text_ += "  ^bb1(%m: i32):\n";
        values_["i32"].push_back("%m");
        statements(2, 0);
        text_ += "    cf.br ^bb3(" + value("i32") + " : i32)\n  ^bb2:\n";
        values_ = saved;
        statements(2, 0);
        text_ += "    cf.br ^bb3(" + value("i32") + " : i32)\n  ^bb3(%k: i32):\n";
        values_ = saved;
        values_["i32"].push_back("%k");
      }
      text_ += "    tt.return " + (blocks ? std::string("%k") : value("i32")) + " : i32\n";
      helpers += "  tt.func private @h" + std::to_string(i) + "(%a: i32, %b: i32) -> i32" + noinline + " {\n" + text_ +
                 "  }\n";
      helpers_ = i + 1;
    }
    text_.clear();
    values_.clear();
    helper_ = false;
    values_["i32"] = {"%a", "%b", "%c"};
    values_["i1"] = {"%t"};
    values_["f32"] = {"%x", "%y"};
    indent_ = "    ";
    statements(8 + pick(20), 3);
    // Everything that is left is stored, so that nothing is dead.
    int stored = 0;
    for (auto &v : std::vector<std::string>(values_["i32"])) storeAt("%q", "i32", stored++, v);
    for (auto &v : std::vector<std::string>(values_["i1"]))
      storeAt("%q", "i32", stored++, emit("i32", "arith.extui " + v + " : i1 to i32"));
    for (auto &v : std::vector<std::string>(values_["i64"]))
      storeAt("%q", "i32", stored++, emit("i32", "arith.trunci " + v + " : i64 to i32"));
    for (auto &v : std::vector<std::string>(values_["f32"])) storeAt("%f", "f32", stored++, v);
    for (auto &v : std::vector<std::string>(values_["tensor<8xi32>"])) storeTensor(256 + 8 * stored++, v);
    return "module {\n" + helpers +
           "  tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %f: !tt.ptr<f32>, %a: i32, %b: i32, %c: i32, %t: "
           "i1, %x: f32, %y: f32) {\n" +
           text_ + "    tt.return\n  }\n}\n";
  }

private:
  int pick(int n) { return int(random_() % n); }
  template <size_t N> const char *among(const char *const (&list)[N]) { return list[pick(N)]; }

  std::string fresh() { return "%v" + std::to_string(next_++); }
  void line(const std::string &s) { text_ += indent_ + s + "\n"; }
  std::string emit(const std::string &type, const std::string &op) {
    std::string v = fresh();
    line(v + " = " + op);
    values_[type].push_back(v);
    return v;
  }
  std::string constant(const std::string &type) {
    static const char *const i32[] = {"0", "1",  "-1", "2",   "3",           "7",
                                      "8", "31", "32", "100", "-2147483648", "2147483647"};
    static const char *const f32[] = {"0.0",        "-0.0",       "1.0",        "-1.0",   "2.5",
                                      "0x7FC00000", "0x7F800000", "0xFF800000", "1.0e-40"};
    if (type == "i1") return emit(type, pick(2) ? "arith.constant true" : "arith.constant false");
    if (type == "f32") return emit(type, std::string("arith.constant ") + among(f32) + " : f32");
    if (type == "tensor<8xi32>") return emit(type, std::string("arith.constant dense<") + among(i32) + "> : " + type);
    return emit(type, std::string("arith.constant ") + among(i32) + " : " + type);
  }
  /// A value of the type: one that is there, mostly the last ones, or a new constant.
  std::string value(const std::string &type) {
    auto &all = values_[type];
    if (all.empty() || pick(5) == 0) {
      if (type == "i64" && !values_["i32"].empty() && pick(2))
        return emit(type, "arith.extsi " + value("i32") + " : i32 to i64");
      if (type == "tensor<8xi32>" && pick(2))
        return emit(type, pick(2) ? "tt.splat " + value("i32") + " : i32 -> " + type
                                  : "tt.make_range {start = 0 : i32, end = 8 : i32} : " + type);
      return constant(type);
    }
    return all[pick(3) ? all.size() - 1 - pick(std::min<int>(4, all.size())) : pick(all.size())];
  }
  std::string number() { return pick(3) ? "i32" : "i64"; }
  std::string anyType() {
    static const char *const types[] = {"i32", "i32", "i32", "i64", "i1", "f32", "tensor<8xi32>"};
    return helper_ ? "i32" : among(types);
  }
  std::string address(const char *base, const std::string &element) {
    // Within the buffer whatever the index is.
    std::string mask = emit("i32", "arith.constant 63 : i32"),
                i = emit("i32", "arith.andi " + value("i32") + ", " + mask + " : i32"), v = fresh();
    line(v + " = tt.addptr " + base + ", " + i + " : !tt.ptr<" + element + ">, i32");
    return v;
  }
  void storeAt(const char *base, const std::string &element, int offset, const std::string &v) {
    std::string i = fresh(), p = fresh();
    line(i + " = arith.constant " + std::to_string(64 + offset) + " : i32");
    line(p + " = tt.addptr " + base + ", " + i + " : !tt.ptr<" + element + ">, i32");
    line("tt.store " + p + ", " + v + " : !tt.ptr<" + element + ">");
  }
  void storeTensor(int offset, const std::string &v) {
    std::string s = fresh(), r = fresh(), c = fresh(), o = fresh(), p = fresh();
    line(s + " = tt.splat %q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>");
    line(r + " = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>");
    line(c + " = arith.constant dense<" + std::to_string(offset) + "> : tensor<8xi32>");
    line(o + " = arith.addi " + r + ", " + c + " : tensor<8xi32>");
    line(p + " = tt.addptr " + s + ", " + o + " : tensor<8x!tt.ptr<i32>>, tensor<8xi32>");
    line("tt.store " + p + ", " + v + " : tensor<8x!tt.ptr<i32>>");
  }

  void statements(int n, int depth) {
    for (int i = 0; i < n; ++i) statement(depth);
  }

  void load() {
    std::string p = address("%p", "i32");
    if (pick(2)) {
      emit("i32", "tt.load " + p + " : !tt.ptr<i32>");
      return;
    }
    std::string mask = value("i1"), other = value("i32");
    emit("i32", "tt.load " + p + ", " + mask + ", " + other + " : !tt.ptr<i32>");
  }

  void statement(int depth) {
    static const char *const binary[] = {
        "addi",  "subi",  "muli",      "andi",       "ori",   "xori",  "shli",  "shrsi", "shrui", "divsi", "divui",
        "remsi", "remui", "ceildivsi", "floordivsi", "maxsi", "minsi", "maxui", "minui", "addi",  "subi",  "addi"};
    static const char *const predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    static const char *const floats[] = {"addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"};
    static const char *const orders[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
    switch (pick(depth ? 17 : 12)) {
    case 0:
    case 1:
    case 2: {
      std::string t = pick(4) ? number() : helper_ ? "i32" : "tensor<8xi32>", a = value(t), b = pick(6) ? value(t) : a;
      emit(t, std::string("arith.") + among(binary) + " " + a + ", " + b + " : " + t);
      return;
    }
    case 3: {
      std::string t = number(), a = value(t), b = value(t);
      emit("i1", std::string("arith.cmpi ") + among(predicates) + ", " + a + ", " + b + " : " + t);
      return;
    }
    case 4: {
      std::string t = anyType(), c = value("i1"), a = value(t), b = value(t);
      emit(t, "arith.select " + c + ", " + a + ", " + b + " : " + t);
      return;
    }
    case 5: {
      std::string a = value("i1"), b = pick(3) ? value("i1") : constant("i1");
      emit("i1", std::string(pick(2) ? "arith.xori " : "arith.andi ") + a + ", " + b + " : i1");
      return;
    }
    case 6:
      switch (pick(4)) {
      case 0: emit("i64", (pick(2) ? "arith.extsi " : "arith.extui ") + value("i32") + " : i32 to i64"); return;
      case 1: emit("i32", "arith.trunci " + value("i64") + " : i64 to i32"); return;
      case 2: emit("i32", (pick(2) ? "arith.extsi " : "arith.extui ") + value("i1") + " : i1 to i32"); return;
      default: emit("i1", "arith.trunci " + value("i32") + " : i32 to i1"); return;
      }
    case 7: {
      if (helper_) return statement(depth);
      std::string a = value("f32"), b = pick(3) ? value("f32") : constant("f32");
      emit("f32", pick(8) ? std::string("arith.") + among(floats) + " " + a + ", " + b + " : f32"
                          : "arith.negf " + a + " : f32");
      return;
    }
    case 8: {
      if (helper_) return statement(depth);
      std::string a = value("f32"), b = value("f32");
      emit("i1", std::string("arith.cmpf ") + among(orders) + ", " + a + ", " + b + " : f32");
      return;
    }
    case 9:
      if (helper_) return statement(depth);
      return load();
    case 10: {
      if (helper_) return statement(depth);
      std::string p = address("%p", "i32"), v = value("i32");
      line("tt.store " + p + ", " + v + (pick(2) ? ", " + value("i1") : "") + " : !tt.ptr<i32>");
      return;
    }
    case 11:
      if (helpers_ && !helper_) {
        std::string a = value("i32"), b = value("i32");
        emit("i32", "tt.call @h" + std::to_string(pick(helpers_)) + "(" + a + ", " + b + ") : (i32, i32) -> i32");
      } else
        statement(depth);
      return;
    case 12:
    case 13: return branch(depth - 1);
    case 14:
    case 15: return loop(depth - 1);
    default: return whileLoop(depth - 1);
    }
  }

  std::vector<std::string> types(int atLeast) {
    std::vector<std::string> out;
    for (int i = 0, n = atLeast + pick(3); i < n; ++i) out.push_back(anyType());
    return out;
  }
  static std::string list(const std::vector<std::string> &v) {
    std::string s;
    for (auto &x : v) s += (s.empty() ? "" : ", ") + x;
    return s;
  }
  std::vector<std::string> valuesOf(const std::vector<std::string> &types) {
    std::vector<std::string> out;
    for (auto &t : types) out.push_back(value(t));
    return out;
  }
  void yield(const std::vector<std::string> &types) {
    auto v = valuesOf(types);
    line(types.empty() ? "scf.yield" : "scf.yield " + list(v) + " : " + list(types));
  }
  /// The results of an operation with regions, once those are written.
  std::string results(const std::vector<std::string> &types, std::vector<std::string> &names) {
    if (types.empty()) return "";
    std::string v = fresh();
    for (size_t i = 0; i < types.size(); ++i) names.push_back(types.size() == 1 ? v : v + "#" + std::to_string(i));
    return v + (types.size() > 1 ? ":" + std::to_string(types.size()) : "") + " = ";
  }
  void keep(const std::vector<std::string> &types, const std::vector<std::string> &names) {
    for (size_t i = 0; i < types.size(); ++i) values_[types[i]].push_back(names[i]);
  }

  void branch(int depth) {
    auto t = types(0);
    std::string c = pick(5) ? value("i1") : constant("i1");
    std::vector<std::string> names;
    line(results(t, names) + "scf.if " + c + (t.empty() ? "" : " -> (" + list(t) + ")") + " {");
    auto saved = values_;
    std::string indent = indent_;
    indent_ += "  ";
    statements(pick(5), depth);
    if (!t.empty()) yield(t);
    values_ = saved;
    if (!t.empty() || pick(2)) {
      text_ += indent + "} else {\n";
      statements(pick(5), depth);
      if (!t.empty()) yield(t);
      values_ = saved;
    }
    indent_ = indent;
    line("}");
    keep(t, names);
  }

  void loop(int depth) {
    auto t = types(0);
    std::string lo, hi, step;
    auto small = [&](int low, int n) {
      return emit("i32", "arith.constant " + std::to_string(low + pick(n)) + " : i32");
    };
    lo = small(-2, 4);
    if (pick(2))
      hi = small(-1, 6);
    else {
      std::string mask = small(3, 1);
      hi = emit("i32", "arith.andi " + value("i32") + ", " + mask + " : i32");
    }
    step = small(1, 3);
    auto inits = valuesOf(t);
    std::vector<std::string> names, args;
    std::string carried, i = fresh();
    for (size_t k = 0; k < t.size(); ++k) {
      args.push_back(fresh());
      carried += (k ? ", " : "") + args[k] + " = " + inits[k];
    }
    line(results(t, names) + "scf.for " + i + " = " + lo + " to " + hi + " step " + step +
         (t.empty() ? "" : " iter_args(" + carried + ") -> (" + list(t) + ")") + " : i32 {");
    auto saved = values_;
    std::string indent = indent_;
    indent_ += "  ";
    values_["i32"].push_back(i);
    keep(t, args);
    statements(1 + pick(5), depth);
    if (!t.empty()) yield(t);
    values_ = saved;
    indent_ = indent;
    line(pick(4) ? "}" : "} {tt.loop_unroll_factor = " + std::to_string(1 + pick(4)) + " : i32}");
    keep(t, names);
  }

  /// Counts to a small number, or leaves before; hands on some of what it carries.
  void whileLoop(int depth) {
    std::vector<std::string> carried = types(0), passed = types(0);
    std::string zero = emit("i32", "arith.constant 0 : i32"),
                limit = emit("i32", "arith.constant " + std::to_string(pick(5)) + " : i32"),
                one = emit("i32", "arith.constant 1 : i32");
    auto inits = valuesOf(carried);
    std::vector<std::string> names, before, after, inTypes{"i32"}, outTypes{"i32"};
    std::string counter = fresh(), counter2 = fresh(), init = counter + " = " + zero;
    for (size_t k = 0; k < carried.size(); ++k) {
      before.push_back(fresh());
      init += ", " + before[k] + " = " + inits[k];
    }
    inTypes.insert(inTypes.end(), carried.begin(), carried.end());
    outTypes.insert(outTypes.end(), passed.begin(), passed.end());
    line(results(outTypes, names) + "scf.while (" + init + ") : (" + list(inTypes) + ") -> (" + list(outTypes) + ") {");
    auto saved = values_;
    std::string indent = indent_;
    indent_ += "  ";
    values_["i32"].push_back(counter);
    keep(carried, before);
    statements(pick(4), 0);
    std::string more = emit("i1", "arith.cmpi slt, " + counter + ", " + limit + " : i32");
    if (pick(2)) more = emit("i1", "arith.andi " + more + ", " + value("i1") + " : i1");
    std::vector<std::string> handed{counter};
    for (auto &v : valuesOf(passed)) handed.push_back(v);
    line("scf.condition(" + more + ") " + list(handed) + " : " + list(outTypes));
    values_ = saved;
    text_ += indent + "} do {\n" + indent + "^bb0(" + counter2 + ": i32";
    for (auto &t : passed) {
      after.push_back(fresh());
      text_ += ", " + after.back() + ": " + t;
    }
    text_ += "):\n";
    values_["i32"].push_back(counter2);
    keep(passed, after);
    statements(pick(4), depth);
    std::vector<std::string> back{emit("i32", "arith.addi " + counter2 + ", " + one + " : i32")};
    for (auto &v : valuesOf(carried)) back.push_back(v);
    line("scf.yield " + list(back) + " : " + list(inTypes));
    values_ = saved;
    indent_ = indent;
    line("}");
    keep(outTypes, names);
  }

  std::mt19937_64 random_;
  std::string text_, indent_;
  std::map<std::string, std::vector<std::string>> values_;
  int next_ = 0, helpers_ = 0;
  bool helper_ = false;
};

struct Memory {
  std::vector<uint32_t> in = std::vector<uint32_t>(64), out = std::vector<uint32_t>(16384),
                        real = std::vector<uint32_t>(16384);
};

absl::Status evaluate(ir::Module &m, int round, Memory &mem, ir::DiagnosticEngine &diag) {
  static const uint32_t kInts[] = {0, 1, 5, 0xFFFFFFFF, 0x80000000, 33, 0x7FFFFFFF, 64};
  static const float kFloats[] = {
      0.0f, -0.0f, 1.5f, -3.25f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
  for (size_t i = 0; i < mem.in.size(); ++i) mem.in[i] = uint32_t(i * 2654435761u >> (i % 30));
  std::vector<runtime::InterpreterBuffer> buffers = {
      {"p", reinterpret_cast<uint8_t *>(mem.in.data()), mem.in.size() * 4},
      {"q", reinterpret_cast<uint8_t *>(mem.out.data()), mem.out.size() * 4},
      {"f", reinterpret_cast<uint8_t *>(mem.real.data()), mem.real.size() * 4}};
  std::vector<runtime::InterpreterArg> args = {{0, 0}, {1, 0}, {2, 0}};
  for (int i = 0; i < 3; ++i) args.push_back({-1, kInts[(round * (i + 2) + i) % 8]});
  args.push_back({-1, uint64_t(round & 1)});
  for (int i = 0; i < 2; ++i) args.push_back({-1, std::bit_cast<uint32_t>(kFloats[(round + 2 * i) % 6])});
  runtime::InterpreterOptions io;
  io.maxSteps = 2000000;
  auto s = runtime::interpret(m, m.lookupSymbol("k"), {1, 1, 1}, buffers, args, io, diag);
  // Which NaN comes out is nobody's promise.
  for (auto &bits : mem.real)
    if (std::isnan(std::bit_cast<float>(bits))) bits = 0x7FC00000;
  return s;
}

TEST(RandomPrograms, KeepEveryByte) {
  const char *n = getenv("TESSERA_RANDOM_PROGRAMS"), *first = getenv("TESSERA_RANDOM_SEED");
  uint64_t programs = n ? std::strtoull(n, nullptr, 10) : 100, seed = first ? std::strtoull(first, nullptr, 10) : 1;
  std::vector<std::pair<std::string, transforms::Pipeline>> passes;
  for (auto *name : {"inline", "canonicalize", "cse", "triton-loop-aware-cse", "loop-invariant-code-motion", "sccp",
                     "triton-combine", "triton-reorder-broadcast", "triton-loop-unroll"})
    passes.push_back({name, {{transforms::findPass(name), {}}}});
  passes.push_back({"the pipeline", transforms::ttirPipeline(**runtime::requireTarget("sm_90a"))});
  uint64_t ran = 0;
  for (uint64_t s = seed; s < seed + programs; ++s) {
    std::string text = Generator(s).module(), messages;
    ir::Context context;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
    auto m = frontend::parseModule(text, "random.ttir", context, diag);
    ASSERT_TRUE(m) << "seed " << s << ": " << messages << text;
    const int kRounds = 3;
    Memory expected[kRounds];
    bool ok[kRounds];
    for (int r = 0; r < kRounds; ++r) ran += ok[r] = evaluate(*m, r, expected[r], diag).ok();
    for (auto &[name, p] : passes) {
      auto after = m->clone();
      transforms::RunOptions o;
      o.verifyEach = true;
      messages.clear();
      ASSERT_TRUE(transforms::runPipeline(*after, p, o, diag).ok())
          << "seed " << s << ", " << name << ": " << messages << text;
      for (int r = 0; r < kRounds; ++r) {
        if (!ok[r]) continue;
        Memory got;
        auto status = evaluate(*after, r, got, diag);
        ASSERT_TRUE(status.ok()) << "seed " << s << ", " << name << ": " << status << messages << text
                                 << ir::printToString(*after);
        ASSERT_TRUE(got.in == expected[r].in && got.out == expected[r].out && got.real == expected[r].real)
            << "seed " << s << ", round " << r << ": another result after " << name << "\n"
            << text << ir::printToString(*after);
      }
    }
  }
  EXPECT_GT(ran, programs * 2) << "too many programs fault";
}

} // namespace
} // namespace tessera
