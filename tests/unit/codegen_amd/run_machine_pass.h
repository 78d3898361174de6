// One of our passes on machine code, run alone on a kernel in LLVM's textual form of machine code (MIR).
#pragma once
#include "codegen/lowering/targets.h"
#include "codegen_amd/arch_table.h"
#include "llvm/CodeGen/MIRParser/MIRParser.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/InitializePasses.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <gtest/gtest.h>
#include <memory>
#include <regex>
#include <string>

namespace tessera::amd {

/// A kernel's instructions before a pass and after it, as LLVM prints them, and its attributes after it.
struct MachinePassRun {
  std::string before, after;
  llvm::StringMap<std::string> attributes;

  bool changed() const { return before != after; }
  size_t count(llvm::StringRef text) const { return llvm::StringRef(after).count(text); }
  bool has(llvm::StringRef text) const { return count(text) != 0; }
  /// Whether the texts follow each other, with anything in between.
  bool hasInOrder(std::initializer_list<llvm::StringRef> texts) const {
    llvm::StringRef rest = after;
    for (llvm::StringRef text : texts) {
      size_t at = rest.find(text);
      if (at == llvm::StringRef::npos) return false;
      rest = rest.substr(at + text.size());
    }
    return true;
  }
};

/// Notes a function's instructions as they are when another pass runs: analyses that it requires may have renamed
/// registers. Marks of last uses, which come and go with analyses, are left out.
class NoteInstructions final : public llvm::MachineFunctionPass {
public:
  inline static char ID = 0;
  NoteInstructions(std::string &text, const llvm::Pass &other) : MachineFunctionPass(ID), text_(text) {
    other.getAnalysisUsage(ofOther_);
  }
  void getAnalysisUsage(llvm::AnalysisUsage &au) const override {
    for (llvm::AnalysisID id : ofOther_.getRequiredSet()) au.addRequiredID(id);
    au.setPreservesAll();
  }
  bool runOnMachineFunction(llvm::MachineFunction &mf) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (const llvm::MachineBasicBlock &block : mf) stream << block;
    text_ = std::regex_replace(text, std::regex("killed |dead "), "");
    return false;
  }

private:
  std::string &text_;
  llvm::AnalysisUsage ofOther_;
};

/// Runs the pass, which this deletes, on a kernel with these blocks. Expects that LLVM's verifier accepts what the pass
/// leaves, and that the pass says whether it changed instructions. Where all registers are physical ones, each may be
/// read that nothing defines.
inline MachinePassRun runMachinePass(llvm::Pass *pass, llvm::StringRef target, llvm::StringRef blocks,
                                     llvm::StringRef attributes = "") {
  std::unique_ptr<llvm::Pass> owned(pass);
  const codegen::ArchInfo &arch = *codegen::findArch(archTable(), target);
  arch.registerLLVMTarget();
  llvm::initializeCodeGen(*llvm::PassRegistry::getPassRegistry());
  llvm::Triple triple(arch.triple);
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine(
      llvmTarget->createTargetMachine(triple, arch.cpu, arch.features, {}, llvm::Reloc::PIC_));
  bool hasVirtual = std::regex_search(blocks.str(), std::regex("%[0-9]"));
  std::string text = "--- |\n  define amdgpu_kernel void @f() " + attributes.str() +
                     " { unreachable }\n...\n---\nname: f\ntracksRegLiveness: " + (hasVirtual ? "true" : "false") +
                     "\nbody: |\n" + blocks.str() + "...\n";
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *into) {
        llvm::raw_string_ostream stream(*static_cast<std::string *>(into));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &error);
  std::unique_ptr<llvm::MIRParser> parser =
      llvm::createMIRParser(llvm::MemoryBuffer::getMemBufferCopy(text, "f.mir"), context);
  std::unique_ptr<llvm::Module> module = parser ? parser->parseIRModule() : nullptr;
  auto *functions = new llvm::MachineModuleInfoWrapperPass(machine.get());
  llvm::legacy::PassManager passes;
  passes.add(functions);
  if (module) {
    module->setTargetTriple(triple);
    module->setDataLayout(machine->createDataLayout());
  }
  if (!module || parser->parseMachineFunctions(*module, functions->getMMI())) {
    ADD_FAILURE() << error << "\n" << text;
    return {};
  }
  MachinePassRun run;
  passes.add(llvm::createMachineVerifierPass("Test: the pass gets wrong code"));
  auto *noteAfter = new NoteInstructions(run.after, *pass);
  passes.add(new NoteInstructions(run.before, *pass));
  passes.add(owned.release());
  passes.add(llvm::createMachineVerifierPass("Test: the pass leaves wrong code")); // with what analyses it kept
  passes.add(noteAfter);
  EXPECT_EQ(passes.run(*module), run.changed()) << "what the pass says\n" << run.before << run.after;
  for (llvm::Attribute a : module->getFunction("f")->getAttributes().getFnAttrs())
    if (a.isStringAttribute()) run.attributes[a.getKindAsString()] = a.getValueAsString().str();
  return run;
}

} // namespace tessera::amd
