// Text → IR: TTIR and TTGIR as Triton 3.x prints them, MLIR's generic form, and the older spellings.
#pragma once
#include "ir/context.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include <memory>
#include <vector>

namespace tessera::frontend {

struct ParseOptions {
  bool allowUnregistered = false; // operations of unknown dialects are kept instead of being errors
  bool verify = true;             // run ir::verify on what was read
  bool locateByText = false;      // operations without a location get their place in the text as one
  unsigned maxErrors = 20;        // reporting stops after so many, with a note
};

/// Parses one module (an implicit one where the text has only functions). Errors are reported to the engine with file,
/// line, column, source line and caret, and all of a file's are, where recovery is sound; then the result is null.
std::unique_ptr<ir::Module> parseModule(llvm::StringRef text, llvm::StringRef fileName, ir::Context &,
                                        ir::DiagnosticEngine &, const ParseOptions & = {});

/// The parts of a text between `// -----` lines; each keeps the number of its first line.
struct TextSection {
  llvm::StringRef text;
  unsigned firstLine;
};
std::vector<TextSection> splitSections(llvm::StringRef text);
std::unique_ptr<ir::Module> parseModule(TextSection, llvm::StringRef fileName, ir::Context &, ir::DiagnosticEngine &,
                                        const ParseOptions & = {});

/// The layouts that a text gives names to (`#blocked = #ttg.blocked<…>`), in its order; the rest of it is not read.
/// False after an error was reported.
struct NamedLayout {
  std::string name;
  const layouts::Encoding *layout;
};
bool parseNamedLayouts(llvm::StringRef text, llvm::StringRef fileName, ir::Context &, ir::DiagnosticEngine &,
                       std::vector<NamedLayout> &);

/// A layout attribute or a type alone, as `tessera layout` takes them. Null after an error was reported.
const layouts::Encoding *parseEncoding(llvm::StringRef text, ir::Context &, ir::DiagnosticEngine &);
ir::Type parseType(llvm::StringRef text, ir::Context &, ir::DiagnosticEngine &);

} // namespace tessera::frontend
