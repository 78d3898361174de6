// One of our passes on LLVM IR, run alone on a function's text.
#pragma once
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <regex>
#include <string>

namespace tessera::testing {

/// A module before a pass and after it, as LLVM prints it.
struct PassRun {
  std::string before, after;

  bool changed() const { return before != after; }
  bool has(llvm::StringRef text) const { return llvm::StringRef(after).contains(text); }
};

inline std::string textOf(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

/// The functions alone, without the metadata of their loops, which no analysis is about.
inline std::string withoutMetadata(const std::string &module) {
  std::string text = std::regex_replace(module, std::regex(", !llvm.loop ![0-9]+"), "");
  return std::regex_replace(text, std::regex("\n+![^\n]*"), "");
}

/// Expects that the pass leaves correct IR, and says that it kept everything only if it changed nothing but metadata.
template <class Pass> PassRun runPass(Pass pass, llvm::StringRef ir) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  if (!module) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    error.print("ir", stream, /*ShowColors=*/false);
    ADD_FAILURE() << message;
    return {};
  }
  PassRun run{textOf(*module), {}};
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  bool keptAll = true;
  for (llvm::Function &f : *module)
    if (!f.isDeclaration()) keptAll &= pass.run(f, functions).areAllPreserved();
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << broken;
  run.after = textOf(*module);
  if (keptAll) EXPECT_EQ(withoutMetadata(run.before), withoutMetadata(run.after));
  return run;
}

} // namespace tessera::testing
