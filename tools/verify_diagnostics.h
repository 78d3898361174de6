// `tessera opt --verify-diagnostics`: the diagnostics of a text against the expectations written in its comments, as
// mlir-opt has them:
//
//   // expected-error @+1 {{part of the message}}       also @-2, @above, @below, @unknown; without: this line
//   // expected-note-re @below {{has {{[0-9]+}} lanes}}  regular expressions between inner braces
//
// Severities: error, warning, remark, note. @above and @below skip lines that hold expectations themselves; @unknown
// matches what has no place in the text. Each expectation matches one diagnostic. A note without a place (the name of
// the pass that failed) needs no expectation; everything else that was not expected, or not produced, is an error.
#pragma once
#include "ir/diagnostic.h"
#include <string>
#include <vector>

namespace tessera::tools {

class DiagnosticVerifier {
public:
  /// Reads the expectations of a text whose first line has the number given.
  /// With `onlyExpected` diagnostics that nothing speaks of are let pass.
  DiagnosticVerifier(llvm::StringRef text, unsigned firstLine, std::string fileName, bool onlyExpected = false);
  /// Takes a diagnostic with its notes.
  void take(const ir::Diagnostic &);
  /// What did not match, as rendered errors; empty: all is as expected.
  std::string finish();

private:
  struct Expectation {
    ir::Severity severity;
    unsigned at, line; // where it stands, and the line it speaks of (0: none)
    std::string text;
    bool isRegex, met = false;
  };
  void match(ir::Severity, unsigned line, const std::string &message);

  std::string file_, complaints_;
  bool onlyExpected_ = false;
  std::vector<Expectation> expected_;
};

} // namespace tessera::tools
