// Expectations in comments and their matching (see verify_diagnostics.h).
#include "tools/verify_diagnostics.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <re2/re2.h>

namespace tessera::tools {
using ir::Severity;

static const char *const kNames[] = {"error", "warning", "remark", "note"};

/// Literal text with regular expressions between {{ and }}, as one regular expression.
static std::string toPattern(llvm::StringRef text) {
  std::string out;
  while (!text.empty()) {
    auto [literal, rest] = text.split("{{");
    out += RE2::QuoteMeta({literal.data(), literal.size()});
    if (literal.size() == text.size()) break;
    auto [pattern, after] = rest.split("}}");
    out += "(?:" + pattern.str() + ")";
    text = after;
  }
  return out;
}

DiagnosticVerifier::DiagnosticVerifier(llvm::StringRef text, unsigned firstLine, std::string fileName,
                                       bool onlyExpected)
    : file_(std::move(fileName)), onlyExpected_(onlyExpected) {
  static const RE2 kExpectation(
      R"(expected-(error|warning|remark|note)(-re)? *(?:@([+-][0-9]+|above|below|unknown))? *\{\{(.*)\}\})");
  unsigned number = firstLine, lastPlain = 0;
  std::vector<size_t> below; // expectations that wait for the next line without one
  llvm::SmallVector<llvm::StringRef, 0> lines;
  text.split(lines, '\n');
  for (auto line : lines) {
    std::string severity, re, where, message;
    if (RE2::PartialMatch({line.data(), line.size()}, kExpectation, &severity, &re, &where, &message)) {
      Expectation e{Severity::Error, number, number, message, !re.empty()};
      for (unsigned i = 0; i < 4; ++i)
        if (severity == kNames[i]) e.severity = Severity(i);
      int offset;
      if (where == "unknown")
        e.line = 0;
      else if (where == "above")
        e.line = lastPlain;
      else if (where == "below")
        below.push_back(expected_.size());
      else if (!where.empty() && !llvm::StringRef(where).ltrim('+').getAsInteger(10, offset))
        e.line = number + offset;
      if (e.isRegex && !RE2(toPattern(message)).ok())
        complaints_ += llvm::formatv("{0}:{1}: error: the expected message is no regular expression\n", file_, number);
      expected_.push_back(std::move(e));
    } else {
      lastPlain = number;
      for (auto i : below) expected_[i].line = number;
      below.clear();
    }
    ++number;
  }
}

void DiagnosticVerifier::match(Severity severity, unsigned line, const std::string &message) {
  for (auto &e : expected_) {
    if (e.met || e.severity != severity || e.line != line) continue;
    if (e.isRegex ? RE2::PartialMatch(message, toPattern(e.text)) : message.find(e.text) != std::string::npos) {
      e.met = true;
      return;
    }
  }
  if (onlyExpected_ || (severity == Severity::Note && !line)) return;
  complaints_ += file_ + (line ? ":" + std::to_string(line) : "") + ": error: unexpected " + kNames[int(severity)] +
                 ": " + message + "\n";
}

void DiagnosticVerifier::take(const ir::Diagnostic &d) {
  unsigned line = d.position.line;
  auto source = d.loc.source();
  if (!line && !source.isUnknown() && source.file() == file_) line = source.line();
  match(d.severity, line, d.message);
  for (auto &n : d.notes) take(n);
}

std::string DiagnosticVerifier::finish() {
  for (auto &e : expected_)
    if (!e.met)
      complaints_ += llvm::formatv("{0}:{1}: error: expected {2} \"{3}\" was not produced\n", file_, e.at,
                                   kNames[int(e.severity)], e.text);
  return std::move(complaints_);
}

} // namespace tessera::tools
