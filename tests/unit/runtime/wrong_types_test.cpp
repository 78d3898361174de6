// Every operation with one operand or result of another type than it should have: of another shape, layout or element
// type. The compiler refuses it with an error that has a place in the text, or compiles it; it never ends the process.
//
// Examples are the operations of tests/golden/roundtrip, which has every row of the op table. Each is put into a kernel
// of its own, whose other values are arguments, buffers, and ub.poison. A quick run takes the rows that access memory
// or have operands that may be absent (masks and the like); with TESSERA_STRESS set, all rows and twice as many
// examples of each. TESSERA_STRESS_FILTER takes operations whose name contains it, TESSERA_STRESS_DUMP prints each
// outcome.
#include "codegen/lowering/lowering.h"
#include "frontend/parser.h"
#include "ir/builder.h"
#include "ir/context.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "runtime/debug/isolated.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <regex>

namespace tessera {
namespace {
using namespace ir;

struct Example {
  std::string text; // a module
  unsigned index;   // the operation's place in a walk over it
  std::string name, target;
  unsigned places = 0; // operands and results
};

/// Operations, not their modules and functions, in the order of a walk.
std::vector<Operation *> operationsOf(Module &m) {
  std::vector<Operation *> all;
  m.op()->walk([&](Operation *op) { all.push_back(op); });
  return all;
}

bool mayStandAlone(Operation *op) {
  bool isContainer = op->is<tt::FuncOp>() || op->opcode() == Opcode::builtin_module;
  bool isPart = op->info().has(kTerminator) || op->is<ttg::WarpSpecializePartitionsOp>() || op->is<tt::CallOp>();
  return !isContainer && !isPart && op->opcode() != Opcode::unregistered;
}

/// Rows of which a wrong type is most likely a wrong access.
bool isInQuickRun(const OpInfo &info) {
  bool isMemory = llvm::StringRef(info.name).contains("load") || llvm::StringRef(info.name).contains("store");
  return info.effects || isMemory || llvm::any_of(info.operands, [](auto &o) { return o.arity == Arity::Optional; });
}

std::vector<Example> examples() {
  bool all = std::getenv("TESSERA_STRESS");
  const char *filter = std::getenv("TESSERA_STRESS_FILTER");
  std::vector<Example> out;
  std::map<std::string, unsigned> taken;
  for (const char *file : {"tt", "ttg", "ttng", "amdg", "arith", "math", "control"}) {
    auto buffer =
        llvm::MemoryBuffer::getFile(std::string(TESSERA_SOURCE_DIR "/tests/golden/roundtrip/") + file + ".mlir");
    EXPECT_TRUE(bool(buffer)) << file;
    for (auto &section : frontend::splitSections((*buffer)->getBuffer())) {
      Context context;
      DiagnosticEngine diag([](const Diagnostic &) {});
      auto m = frontend::parseModule(section, file, context, diag);
      EXPECT_NE(m, nullptr) << file;
      if (!m) continue;
      std::string fixed = m->op()->hasAttr(kTargetAttr) ? (llvm::StringRef(file) == "amdg" ? "gfx942" : "sm_90a") : "";
      for (auto [i, op] : llvm::enumerate(operationsOf(*m))) {
        std::string name = op->name().str();
        if (!mayStandAlone(op) || (!all && !filter && !isInQuickRun(op->info()))) continue;
        if ((filter && name.find(filter) == std::string::npos) || taken[name]++ >= (all ? 4 : 2)) continue;
        for (const char *target : {"sm_90a", "gfx942"})
          if (fixed.empty() || fixed == target)
            out.push_back(
                {section.text.str(), unsigned(i), name, target, unsigned(op->numOperands() + op->numResults())});
      }
    }
  }
  return out;
}

using Change = std::string (*)(const std::string &type, Type t);
std::string replaced(const std::string &type, const char *pattern, const char *by) {
  return std::regex_replace(type, std::regex(pattern), by, std::regex_constants::format_first_only);
}
/// What a type is changed to, in the order of the parts of a job. The same type again: there is no such change.
const std::pair<const char *, Change> kChanges[] = {
    {"half as many",
     [](const std::string &s, Type) {
       return replaced(s, "<(1|2|4)x", "<8x") == s ? replaced(s, "<\\d+x", "<4x") : replaced(s, "<\\d+x", "<1x");
     }},
    {"more", [](const std::string &s, Type) { return replaced(s, "<\\d+x", "<512x"); }},
    {"fewer in the last dimension", [](const std::string &s, Type) { return replaced(s, "<(\\d+x)+", "<$&2x"); }},
    {"another dimension", [](const std::string &s, Type) { return replaced(s, "<(\\d+x)", "<2x$1"); }},
    {"no first dimension", [](const std::string &s, Type) { return replaced(s, "<\\d+x(\\d+x)", "<$1"); }},
    {"bytes", [](const std::string &s,
                 Type t) { return replaced(s, "(i32|i64|f16|f32|bf16)(?=[,>]|$)", t.isTensor() ? "i8" : "i16"); }},
    {"wider", [](const std::string &s, Type) { return replaced(s, "(i1|i8|i32|f16|f32|bf16)(?=[,>]|$)", "i64"); }},
    {"floats", [](const std::string &s, Type) { return replaced(s, "(i1|i8|i32|i64|f16|bf16)(?=[,>]|$)", "f32"); }},
    {"pointers",
     [](const std::string &s, Type) { return replaced(s, "(i1|i8|i32|i64|f16|bf16|f32)(?=[,>]|$)", "!tt.ptr<f32>"); }},
    {"the element alone", [](const std::string &s, Type t) { return t.isTensor() ? t.scalar().str() : s; }},
    {"a tensor",
     [](const std::string &s, Type t) { return t.isTensor() || t.isa<MemDescType>() ? s : "tensor<128x" + s + ">"; }},
    {"no layout", [](const std::string &s, Type t) { return t.isTensor() ? replaced(s, ", #.*>$", ">") : s; }},
    {"another layout",
     [](const std::string &s, Type t) {
       auto tensor = t.dyn_cast<TensorType>();
       if (!tensor || !tensor.encoding() || tensor.rank() > 2) return s;
       bool wide = s.find("[16, 4]") != std::string::npos || s.find("[4, 16]") != std::string::npos ||
                   s.find("[64]") != std::string::npos;
       std::string two = llvm::formatv(
           "sizePerThread = [2, 1], threadsPerWarp = [{0}, 2], warpsPerCTA = [2, 2], order = [0, 1]", wide ? 32 : 16);
       std::string one =
           llvm::formatv("sizePerThread = [2], threadsPerWarp = [{0}], warpsPerCTA = [4], order = [0]", wide ? 64 : 32);
       return replaced(s, ", #.*>$", (", #ttg.blocked<{" + (tensor.rank() == 2 ? two : one) + "}>>").c_str());
     }},
};

/// Names and definitions of values with the given types, to be an operation's operands: some are arguments of the
/// kernel, some are made in it.
struct Values {
  std::string arguments, body;
  void add(unsigned i, Type t, const std::string &text) {
    bool isArgument = !t.isTensor() && (t.isPointer() || t.isIntOrIndex() || t.isFloat() || t.isa<TensorDescType>());
    if (isArgument && !llvm::StringRef(text).starts_with("tensor")) {
      arguments += llvm::formatv("{0}%v{1}: {2}", arguments.empty() ? "" : ", ", i, text).str();
    } else if (llvm::StringRef(text).starts_with("!ttg.memdesc")) {
      body += llvm::formatv("%v{0} = ttg.local_alloc : () -> {1}\n", i, text).str();
    } else {
      body += llvm::formatv("%v{0} = ub.poison : {1}\n", i, text).str();
    }
  }
};

/// The example in a kernel of its own, with the type of operand or result `place` changed; empty: there is no such
/// type.
std::string kernelOf(const Example &e, int place, Change change) {
  Context context;
  DiagnosticEngine diag([](const Diagnostic &) {});
  auto from = frontend::parseModule(e.text, "example", context, diag);
  Operation *op = operationsOf(*from)[e.index];
  Values values;
  std::string resultType;
  for (unsigned i = 0; i < op->numOperands() + op->numResults(); ++i) {
    bool isOperand = i < op->numOperands();
    Type t = isOperand ? op->operand(i).type() : op->result(i - op->numOperands()).type();
    std::string text = t.str();
    if (int(i) == place) {
      std::string other = change(text, t);
      if (other == text) return "";
      text = other;
    }
    if (isOperand)
      values.add(i, t, text);
    else if (int(i) == place)
      resultType = text;
  }
  if (!resultType.empty()) values.body += "%type = ub.poison : " + resultType + "\n";
  std::string attributes = printToString(*from);
  size_t start = attributes.find("module"), end = attributes.find("{\n", start);
  std::string text = attributes.substr(start, end - start) + "{\ntt.func public @k(" + values.arguments + ") {\n" +
                     values.body + "tt.return\n}\n}\n";
  auto to = frontend::parseModule(text, "kernel", context, diag);
  if (!to) return ""; // not a type that the IR has
  std::vector<Operation *> in = operationsOf(*to);
  Operation *last = *llvm::find_if(in, [](Operation *o) { return o->is<tt::ReturnOp>(); });
  Block *body = last->block();
  llvm::SmallVector<Value, 8> made;
  for (auto *a : body->args()) made.push_back(a);
  for (Operation &o : *body)
    for (auto r : o.results()) made.push_back(r);
  // Arguments come before what the body makes; an operand is found by its type's place in both lists.
  ValueMap map;
  unsigned argument = 0, defined = body->args().size();
  llvm::SmallVector<Value, 8> operands;
  for (unsigned i = 0; i < op->numOperands(); ++i) {
    bool isArgument = values.body.find(llvm::formatv("%v{0} = ", i).str()) == std::string::npos;
    operands.push_back(made[isArgument ? argument++ : defined++]);
  }
  Builder b(last);
  Operation *copy = b.clone(op, map);
  for (auto [i, v] : llvm::enumerate(operands)) copy->setOperand(i, v);
  if (!resultType.empty()) copy->result(place - op->numOperands()).setType(made.back().type());
  for (auto r : copy->results()) { // results are used
    if (r.type().isa<AsyncTokenType>() || r.type().isa<MemDescType>() || r.type().isa<TensorDescType>()) continue;
    OperationState cast(Opcode::tt_print, copy->loc());
    cast.operands.push_back(r);
    cast.attrs = {b.named("prefix", StringAttr::get(context, "r")), b.boolAttr("hex", false),
                  b.denseI32Attr("isSigned", {0})};
    b.create(cast);
  }
  return printToString(*to);
}

/// Compiles to LLVM IR: "compiled", "refused: …", or "no place: …" for an error without a place.
std::string outcomeOf(const std::string &text, const Example &e) {
  std::string errors;
  bool located = true;
  DiagnosticEngine diag([&](const Diagnostic &d) {
    if (d.severity != Severity::Error) return;
    errors += render(d);
    located &= d.position.line || !d.loc.source().isUnknown();
  });
  runtime::CompileOptions options;
  options.stage = runtime::Stage::Llir;
  auto result = runtime::compileText(text, "kernel.mlir", **runtime::requireTarget(e.target), options, diag);
  if (result.ok()) return "compiled";
  if (absl::IsInternal(result.status())) return "internal error: " + std::string(result.status().message());
  if (errors.empty()) return "no error: " + std::string(result.status().message());
  return (located ? "refused: " : "no place: ") + errors;
}

TEST(WrongTypes, AreRefusedOrCompiled) {
  auto all = examples();
  bool dump = std::getenv("TESSERA_STRESS_DUMP");
  auto caseOf = [&](size_t job, size_t part) {
    auto &e = all[job];
    if (!part) return kernelOf(e, -1, nullptr);
    --part;
    return kernelOf(e, int(part / std::size(kChanges)), kChanges[part % std::size(kChanges)].second);
  };
  std::map<std::string, unsigned> compiled, refused;
  runtime::IsolatedWork work;
  work.jobs = all.size();
  work.processes = 2;
  work.parts = [&](size_t job) { return 1 + all[job].places * std::size(kChanges); };
  work.work = [&](size_t job, size_t part, bool &) {
    std::string text = caseOf(job, part);
    return text.empty() ? "" : outcomeOf(text, all[job]);
  };
  work.done = [&](size_t job, size_t part, const std::string &result) {
    llvm::StringRef r = result;
    if (dump) llvm::errs() << all[job].name << ' ' << all[job].target << ' ' << part << ' ' << result << '\n';
    if (r == "compiled" && !part) ++compiled[all[job].name];
    if (r.starts_with("refused")) ++refused[all[job].name];
    bool isFine = r.empty() || r == "compiled" || r.starts_with("refused") || !part;
    EXPECT_TRUE(isFine) << all[job].name << " for " << all[job].target << ": " << result << '\n' << caseOf(job, part);
  };
  work.lost = [&](size_t job, size_t part, const std::string &what, const std::string &said) {
    ADD_FAILURE() << all[job].name << " for " << all[job].target << ": " << what << "\n"
                  << said << '\n'
                  << caseOf(job, part);
  };
  EXPECT_EQ(runtime::runIsolated(work), "");
  for (auto &e : all)
    if (isInQuickRun(*ir::lookupOp(e.name)) &&
        codegen::isLoweredFor(ir::lookupOp(e.name)->opcode, **runtime::requireTarget(e.target)))
      EXPECT_TRUE(compiled.contains(e.name)) << e.name << ": the example itself is not compiled";
}

} // namespace
} // namespace tessera
