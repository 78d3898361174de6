// Rendering of diagnostics and locations as text (see diagnostic.h).
#include "ir/diagnostic.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tessera::ir {

Location Location::source() const {
  Location l = *this;
  while (true) switch (l.kind()) {
    case LocationKind::Unknown:
    case LocationKind::FileLineCol: return l;
    case LocationKind::Name:
      if (!l.numParts()) return {};
      l = l.part(0);
      break;
    case LocationKind::CallSite:
    case LocationKind::Fused:
      // The first part that is known: an argument of an inlined function has a caller alone.
      for (unsigned i = 0; i < l.numParts(); ++i)
        if (Location known = l.part(i).source(); !known.isUnknown()) return known;
      return {};
    }
}

void DiagnosticEngine::report(Diagnostic d) {
  ++reports_;
  if (d.severity == Severity::Error) ++errors_;
  if (consumer_) consumer_(d);
}

void DiagnosticEngine::error(Location loc, const llvm::Twine &message) {
  Diagnostic d;
  d.message = message.str();
  d.loc = loc;
  report(std::move(d));
}

static bool hasPlace(const Diagnostic &d) {
  return d.position.line || !d.position.file.empty() || !d.loc.source().isUnknown();
}

UnplacedErrors::UnplacedErrors(DiagnosticEngine &to)
    : to_(to), first_([this](const Diagnostic &d) { takeFirst(d); }),
      second_([this](const Diagnostic &d) { takeSecond(d); }) {}

void UnplacedErrors::takeFirst(const Diagnostic &d) {
  bool belongsToLast = d.severity == Severity::Note && !hasPlace(d);
  if (!belongsToLast) wasTaken_ = d.severity == Severity::Error && !hasPlace(d);
  if (wasTaken_) {
    held_.push_back(d);
    held_.back().op = nullptr; // gone with its module before this is reported
    return;
  }
  if (d.severity == Severity::Error) passedOn_.insert(render(d));
  to_.report(d);
}

void UnplacedErrors::takeSecond(const Diagnostic &d) {
  bool belongsToLast = d.severity == Severity::Note && !hasPlace(d);
  if (!belongsToLast) wasTaken_ = d.severity == Severity::Error && !passedOn_.contains(render(d));
  if (!wasTaken_) return;
  isReplaced_ = true;
  to_.report(d);
}

void UnplacedErrors::reportRest() {
  if (isReplaced_) return;
  for (Diagnostic &d : held_) to_.report(std::move(d));
  held_.clear();
}

std::string lineWithCaret(llvm::StringRef line, unsigned column) {
  size_t col = column ? column - 1 : 0, from = col > 160 ? col - 100 : 0;
  std::string shown, caret;
  for (size_t i = from; i < std::min(line.size(), from + 240);) {
    // A whole character of UTF-8, or else a byte that no terminal can show.
    auto *p = reinterpret_cast<const llvm::UTF8 *>(line.data()) + i;
    size_t n = llvm::isLegalUTF8Sequence(p, reinterpret_cast<const llvm::UTF8 *>(line.data()) + line.size())
                   ? llvm::getNumBytesForUTF8(*p)
                   : 1;
    uint8_t c = line[i];
    if (n > 1)
      shown += line.substr(i, n);
    else
      shown += c == '\t' ? ' ' : c < 32 || c >= 127 ? '?' : char(c);
    if (i + n <= col) caret += ' ';
    i += n;
  }
  if (col > line.size()) caret.append(col - std::max(line.size(), from), ' ');
  return shown + "\n" + caret + "^\n";
}

std::string counted(size_t n, llvm::StringRef what) {
  return (llvm::Twine(n) + " " + what + (n == 1 ? "" : "s")).str();
}

std::string describe(Location loc) {
  std::string s;
  llvm::raw_string_ostream o(s);
  switch (loc.kind()) {
  case LocationKind::Unknown: o << "unknown location"; break;
  case LocationKind::FileLineCol: o << loc.file() << ":" << loc.line() << ":" << loc.col(); break;
  case LocationKind::Name:
    if (!loc.numParts())
      o << "\"" << loc.name() << "\"";
    else
      return describe(loc.part(0));
    break;
  case LocationKind::CallSite: {
    // An unknown callee (an argument of an inlined function) is described by its caller.
    if (loc.callee().source().isUnknown()) return describe(loc.caller());
    o << describe(loc.callee());
    if (!loc.caller().source().isUnknown()) o << " (called at " << describe(loc.caller()) << ")";
    break;
  }
  case LocationKind::Fused:
    for (unsigned i = 0; i < loc.numParts(); ++i)
      if (!loc.part(i).source().isUnknown()) return describe(loc.part(i));
    o << "unknown location";
  }
  return s;
}

static void renderInto(const Diagnostic &d, llvm::raw_ostream &o) {
  if (d.position.line)
    o << d.position.file << ":" << d.position.line << ":" << d.position.col << ": ";
  else if (!d.position.file.empty())
    o << d.position.file << ": ";
  else if (!d.loc.source().isUnknown())
    o << describe(d.loc) << ": ";
  static const char *names[] = {"error: ", "warning: ", "remark: ", "note: "};
  o << names[int(d.severity)] << d.message << "\n";
  if (!d.snippet.empty()) {
    o << d.snippet;
    if (d.snippet.back() != '\n') o << "\n";
  }
  for (auto &n : d.notes) renderInto(n, o);
  // An error in a text with source locations shows both places.
  if (d.position.line && !d.loc.source().isUnknown()) o << describe(d.loc) << ": note: it comes from here\n";
}

std::string render(const Diagnostic &d) {
  std::string s;
  llvm::raw_string_ostream o(s);
  renderInto(d, o);
  return s;
}

} // namespace tessera::ir
