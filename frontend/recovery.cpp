// Error recovery: an error is kept until all of the text is read, and parsing continues at the next line that starts
// with an operation (see parser_state.h).
#include "frontend/parser_state.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <tuple>

namespace tessera::frontend {
using namespace ir;

// ---- diagnostics ----------------------------------------------------------------------------------------------------

SourcePosition ParserState::positionOf(const char *at) const { return {file, lex.lineOf(at), lex.columnOf(at)}; }

Diagnostic ParserState::makeError(const llvm::Twine &message, const char *at) {
  Diagnostic d;
  d.message = message.str();
  d.position = positionOf(at);
  d.snippet = lineWithCaret(lex.lineText(at), d.position.col);
  return d;
}

const char *ParserState::placeOfNext() {
  lex.skipSpace();
  const char *at = lex.position();
  // Past the end of a line the reader wants to see the line that is unfinished.
  if (at == lex.end() && at > lex.begin())
    while (at > lex.begin() && llvm::isSpace(at[-1])) --at;
  return at;
}

bool ParserState::error(const llvm::Twine &message, const char *at) {
  return report(makeError(message, at ? at : placeOfNext()));
}

void ParserState::undefinedLocation(llvm::StringRef name, const char *at) {
  if (quiet_ || undefinedLocations_++) return; // one error for all
  ++errors_;
  firstUndefinedLocation_ = makeError("undefined location alias '#" + name + "'", at);
}

bool ParserState::report(Diagnostic d) {
  if (!quiet_ && errors_++ <= options.maxErrors) pending_.push_back(std::move(d));
  return false;
}

void ParserState::warnOfAttribute(llvm::StringRef op, llvm::StringRef attribute, const char *at) {
  if (quiet_ || !attributesWarnedOf_.insert((op + " " + attribute).str()).second) return;
  Diagnostic d = makeError("'" + op + "' has no attribute '" + attribute + "': it has no effect", at);
  d.severity = Severity::Warning;
  d.note("names of other tools' attributes have a prefix: 'tool." + attribute + "'");
  warnings_.push_back(std::move(d));
}

void ParserState::flush() {
  if (!failed())
    for (auto &d : warnings_) diag.report(std::move(d));
  warnings_.clear();
  // A text that was cut off lacks the definitions at its end: that it ends too early says it all.
  bool isCutOff = saidUnclosed_ && !pending_.empty();
  if (undefinedLocations_ > 1)
    firstUndefinedLocation_.note(counted(undefinedLocations_ - 1, "more use") +
                                 " of undefined location aliases: the end of the text may be missing");
  if (undefinedLocations_ && !isCutOff) pending_.push_back(std::move(firstUndefinedLocation_));
  undefinedLocations_ = 0;
  // Undefined names are known at the end of their scope only; the reader wants the errors from top to bottom.
  llvm::stable_sort(pending_, [](const Diagnostic &a, const Diagnostic &b) {
    return std::tie(a.position.line, a.position.col) < std::tie(b.position.line, b.position.col);
  });
  bool more = pending_.size() > options.maxErrors;
  if (more) pending_.resize(options.maxErrors);
  for (auto &d : pending_) diag.report(std::move(d));
  pending_.clear();
  if (!more) return;
  Diagnostic note;
  note.severity = Severity::Note;
  note.message = "too many errors; more are not shown";
  note.position.file = file;
  diag.report(std::move(note));
}

bool ParserState::expect(llvm::StringRef punctuation, llvm::StringRef context) {
  if (lex.eat(punctuation)) return true;
  return error("expected '" + punctuation + "'" + (context.empty() ? llvm::Twine("") : " in " + context));
}

/// The closing quote of the string that opens at `p`, if it ends on its line; else `p`.
static const char *endOfString(const char *p, const char *end) {
  for (const char *q = p + 1; q != end && *q != '\n'; ++q) {
    if (*q == '\\' && end - q > 1 && q[1] != '\n')
      ++q;
    else if (*q == '"')
      return q;
  }
  return p;
}

/// What a line starts with, from which parsing can continue.
enum class LineStart : uint8_t { Other, Operation, Alias };

/// `line` is the line's beginning, `text` what its blanks are followed by.
static LineStart startOfLine(const char *line, const char *text, const char *end) {
  if (*text == '^' || *text == '}' || *text == '"') return LineStart::Operation;
  // `%a, %b:2 = …` starts an operation, `%a: i32` and `%a, %b : …` continue one; `#a = …` and `!a = …` are aliases,
  // which are not indented.
  if (*text == '%' || *text == '#' || *text == '!') {
    auto isOfResults = [&](const char *p) {
      bool isNumberOfResults = *p == ':' && end - p > 1 && llvm::isDigit(p[1]);
      return llvm::isAlnum(*p) || llvm::StringRef("%#!_$.-, ").contains(*p) || isNumberOfResults;
    };
    const char *p = text;
    while (p != end && isOfResults(p)) ++p;
    if (p == end || *p != '=') return LineStart::Other;
    if (*text == '%') return LineStart::Operation;
    return text == line ? LineStart::Alias : LineStart::Other;
  }
  const char *p = text;
  while (p != end && (llvm::isAlnum(*p) || *p == '_')) ++p;
  llvm::StringRef word(text, size_t(p - text));
  bool hasDialect = !word.empty() && p != end && *p == '.';
  bool isOperation = hasDialect || word == "module" || word == "func" || word == "return";
  return isOperation ? LineStart::Operation : LineStart::Other;
}

/// Where the line of `text` begins, if blanks alone stand before `text`; else null.
static const char *lineBefore(const char *text, const char *begin) {
  const char *line = text;
  while (line != begin && (line[-1] == ' ' || line[-1] == '\t')) --line;
  return line == begin || line[-1] == '\n' ? line : nullptr;
}

/// Goes to the next line outside of braces that starts an operation, a block, an alias or a region's end; always
/// forward.
void ParserState::recover(const char *from) {
  bool isForward = lex.position() > from;
  if (!isForward) lex.seek(from < lex.end() ? from + 1 : from);
  const char *end = lex.end();
  int depth = 0;
  const char *p = lex.position();
  // The parser may have read up to the next operation before it found the fault: that one is not at fault.
  const char *line = isForward && p != end ? lineBefore(p, lex.begin()) : nullptr;
  bool closesSkipped = p != end && *p == '}'; // of a function whose body was skipped
  if (line && !closesSkipped && startOfLine(line, p, end) == LineStart::Operation) return;
  while (p != end) {
    if (*p == '{') ++depth;
    if (*p == '}') --depth;
    bool isComment = *p == '/' && end - p > 1 && p[1] == '/';
    while (isComment && p != end && *p != '\n') ++p;
    if (p != end && *p == '"') p = endOfString(p, end);
    if (p == end || *p++ != '\n') continue;
    const char *text = p;
    while (text != end && (*text == ' ' || *text == '\t')) ++text;
    if (text == end || depth > 0) continue;
    LineStart start = startOfLine(p, text, end);
    if (start == LineStart::Alias) saidUnclosed_ = true; // it is defined outside of regions: the closers were skipped
    if (start != LineStart::Other) break;
  }
  // What is open now is open because the closers were skipped.
  if (p == end) saidUnclosed_ = true;
  lex.seek(p);
}

void ParserState::skipFunctionBody() {
  // The body opens with the `{` that ends a line; what stands after the head's fault up to there is the head's.
  const char *p = lex.position();
  auto endsLine = [&](const char *q) {
    while (q != lex.end() && (*q == ' ' || *q == '\t' || *q == '\r')) ++q;
    return q == lex.end() || *q == '\n';
  };
  while (p != lex.end() && !(*p == '{' && endsLine(p + 1))) {
    if (*p == '\n' && lex.end() - p > 1 && !llvm::isSpace(p[1])) return; // another thing starts: there is no body
    ++p;
  }
  int depth = 0;
  for (; p != lex.end(); ++p) {
    if (*p == '/' && lex.end() - p > 1 && p[1] == '/')
      while (p != lex.end() && *p != '\n') ++p;
    if (p == lex.end()) break;
    if (*p == '{') ++depth;
    if (*p == '}' && --depth == 0) {
      lex.seek(p); // recovery continues after it
      return;
    }
  }
}

} // namespace tessera::frontend
