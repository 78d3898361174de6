// Diagnostics about the user's input. Library code reports them to a DiagnosticEngine and never prints; the engine
// hands them to its consumer (the command line's prints them with the source line and a caret, the C API's calls
// back).
#pragma once
#include "ir/location.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tessera::ir {
class Operation;

enum class Severity : uint8_t { Error, Warning, Remark, Note };

/// A position in an input buffer, lines and columns from 1; line 0: none.
struct SourcePosition {
  std::string file;
  unsigned line = 0, col = 0;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string message;
  SourcePosition position;             // in the text being compiled, where it is known
  Location loc;                        // the IR location (the user's own source), where it is known
  const class Operation *op = nullptr; // the operation concerned, for those who know more of it (its place in the text)
  std::string snippet;                 // printed IR or the source line, with a caret line, or empty
  std::vector<Diagnostic> notes;

  Diagnostic &note(const llvm::Twine &text, SourcePosition at = {}) {
    Diagnostic n;
    n.severity = Severity::Note;
    n.message = text.str();
    n.position = std::move(at);
    notes.push_back(std::move(n));
    return notes.back();
  }
};

class DiagnosticEngine {
public:
  using Consumer = std::function<void(const Diagnostic &)>;
  explicit DiagnosticEngine(Consumer c = {}) : consumer_(std::move(c)) {}

  void report(Diagnostic d);
  /// Reports an error at an IR location.
  void error(Location, const llvm::Twine &message);
  unsigned errors() const { return errors_; }
  /// How often anything was reported, warnings and remarks too.
  unsigned reports() const { return reports_; }

  /// While a text is being checked: where an operation, or one of its operands (else -1), stands in it. The verifier's
  /// errors then show the user's own line.
  struct TextPlace {
    SourcePosition position; // line 0: not in the text
    std::string snippet;     // the line, and a caret line
  };
  using Locator = std::function<TextPlace(const Operation *, int operand)>;
  void setLocator(Locator l) { locator_ = std::move(l); }
  TextPlace placeOf(const Operation *op, int operand = -1) const {
    return locator_ ? locator_(op, operand) : TextPlace();
  }
  SourcePosition positionOf(const Operation *op) const { return placeOf(op).position; }

private:
  Locator locator_;
  Consumer consumer_;
  unsigned errors_ = 0, reports_ = 0;
};

/// Errors of work that is done on a module without the text's places, since IR is printed that must not show them
/// (frontend::ParseOptions::locateByText). Errors that name no place wait; if there are any, the same work on a module
/// with the places reports them.
class UnplacedErrors {
public:
  explicit UnplacedErrors(DiagnosticEngine &to);
  UnplacedErrors(const UnplacedErrors &) = delete;
  UnplacedErrors &operator=(const UnplacedErrors &) = delete;

  /// Passes everything on but errors without a place, and the notes that follow these.
  DiagnosticEngine &firstRun() { return first_; }
  bool any() const { return !held_.empty(); }
  /// Passes on the errors that the first run did not.
  DiagnosticEngine &secondRun() { return second_; }
  /// Reports what was held back, if the second run had no such error.
  void reportRest();

private:
  void takeFirst(const Diagnostic &);
  void takeSecond(const Diagnostic &);

  DiagnosticEngine &to_;
  DiagnosticEngine first_, second_;
  std::vector<Diagnostic> held_;
  std::set<std::string> passedOn_; // errors of the first run, as rendered
  bool wasTaken_ = false;          // the last error: a note without a place belongs to it
  bool isReplaced_ = false;        // the second run has reported errors
};

/// The line, and below it a caret under the column (from 1, in bytes); long lines are shown around it, and what would
/// upset a terminal as `?`.
std::string lineWithCaret(llvm::StringRef line, unsigned column);
/// "1 result", "2 results".
std::string counted(size_t n, llvm::StringRef what);
/// "FILE:LINE:COL: error: message", the snippet, then the notes in the same form: what the command line shows.
std::string render(const Diagnostic &);
/// The location as text: the innermost source position, with callers, as "kernel.py:12:4".
std::string describe(Location);

} // namespace tessera::ir
