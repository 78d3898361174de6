// Catches what LLVM reports through an LLVMContext while a stage runs, so that it becomes a Status and never output.
#pragma once
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tessera::codegen {

/// Collects errors for as long as it lives; warnings and remarks are dropped. The context's own handler comes back at
/// the end. @pre one thread uses the context meanwhile.
class CollectDiagnostics {
public:
  explicit CollectDiagnostics(llvm::LLVMContext &context)
      : context_(context), previous_(context.getDiagnosticHandler()) {
    auto handler = std::make_unique<Handler>();
    handler->errors = &errors_;
    handler->assembly = &assembly_;
    handler->stackSize = &stackSize_;
    context.setDiagnosticHandler(std::move(handler));
  }
  ~CollectDiagnostics() { context_.setDiagnosticHandler(std::move(previous_)); }
  CollectDiagnostics(const CollectDiagnostics &) = delete;
  CollectDiagnostics &operator=(const CollectDiagnostics &) = delete;

  bool hasErrors() const { return !errors_.empty(); }
  const std::string &text() const { return errors_; }
  /// The first error is about the text of an inline assembly of the program; its number (the `srcloc` of its call).
  bool ofUserAssembly() const { return assembly_ >= 0; }
  int64_t assemblyNumber() const { return assembly_; }
  /// A function needs more memory for values without registers than a thread can have.
  bool ofStackSize() const { return stackSize_; }

private:
  struct Handler : llvm::DiagnosticHandler {
    std::string *errors = nullptr;
    int64_t *assembly = nullptr;
    bool *stackSize = nullptr;
    bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
      if (info.getSeverity() != llvm::DS_Error) return true;
      uint64_t cookie = 0; // from 1
      if (auto *a = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info)) cookie = a->getLocCookie();
      if (auto *s = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) cookie = s->getLocCookie();
      if (cookie && errors->empty()) *assembly = int64_t(cookie) - 1;
      *stackSize |= info.getKind() == llvm::DK_StackSize;
      if (!errors->empty()) *errors += "; ";
      llvm::raw_string_ostream out(*errors);
      llvm::DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
      return true;
    }
  };
  llvm::LLVMContext &context_;
  std::unique_ptr<llvm::DiagnosticHandler> previous_;
  std::string errors_;
  int64_t assembly_ = -1;
  bool stackSize_ = false;
};

} // namespace tessera::codegen
