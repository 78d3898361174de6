// Look-ups of functions by name take time that is linear in the number of functions: parser, passes and lowering read a
// module's list of functions so many times, however many calls there are.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/symbol_table.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {

/// A kernel that calls all of the functions, each of which calls the one after the next. `noinline`: they stay calls.
std::string moduleOf(unsigned functions, bool noinline) {
  auto name = [](unsigned i) { return "@f" + std::to_string(i); };
  std::string text = "tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {\n";
  for (unsigned i = 0; i < functions; ++i) {
    std::string n = std::to_string(i);
    text += "  %y" + n + " = tt.call " + name(i) + "(%x) : (f32) -> f32\n  tt.store %p, %y" + n + " : !tt.ptr<f32>\n";
  }
  text += "  tt.return\n}\n";
  for (unsigned i = 0; i < functions; ++i) {
    bool calls = i % 2 == 0 && i + 1 < functions;
    text += "tt.func private " + name(i) + "(%x: f32) -> f32 attributes {noinline = " + (noinline ? "true" : "false") +
            "} {\n  %y = " + (calls ? "tt.call " + name(i + 1) + "(%x) : (f32) -> f32" : "arith.addf %x, %x : f32") +
            "\n  tt.return %y : f32\n}\n";
  }
  return text;
}

/// Functions that are read for look-ups while the module is parsed and compiled to LLVM IR.
uint64_t functionsRead(unsigned functions, bool noinline, llvm::StringRef target) {
  ir::Context context;
  ir::DiagnosticEngine diag([](const ir::Diagnostic &d) { ADD_FAILURE() << ir::render(d); });
  uint64_t before = ir::SymbolTable::operationsRead();
  auto module = frontend::parseModule(moduleOf(functions, noinline), "functions", context, diag);
  runtime::CompileOptions options;
  options.stage = runtime::Stage::Llir;
  EXPECT_TRUE(module && runtime::compile(*module, **runtime::requireTarget(target), options, diag).ok());
  return ir::SymbolTable::operationsRead() - before;
}

TEST(ManyFunctions, AreReadAFixedNumberOfTimes) {
  constexpr unsigned kFew = 10, kMany = 100;
  for (bool noinline : {false, true})
    for (const char *target : {"sm_90a", "gfx942"}) {
      SCOPED_TRACE(testing::Message() << target << ", noinline " << noinline);
      uint64_t few = functionsRead(kFew, noinline, target), many = functionsRead(kMany, noinline, target);
      EXPECT_GT(few, 0u);
      // Each table reads the kernel, too.
      EXPECT_LE(many * (kFew + 1), few * (kMany + 1));
    }
}

} // namespace
} // namespace tessera
