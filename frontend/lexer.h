// Characters of the input with positions, and the small scanners that the parser is built from: no token stream is
// made, because what a `<` or an `x` means depends on what is being read. Never reads past the end; NUL bytes are
// ordinary (wrong) characters.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tessera::frontend {

class Lexer {
public:
  /// A byte order mark says nothing in UTF-8: positions and lines are without it.
  Lexer(llvm::StringRef text, unsigned firstLine)
      : text_(text.starts_with(kByteOrderMark) ? text.drop_front(kByteOrderMark.size()) : text), p_(text_.begin()),
        end_(text_.end()), firstLine_(firstLine) {}

  const char *position() const { return p_; }
  void seek(const char *p) { p_ = p; }
  bool atEnd() {
    skipSpace();
    return p_ == end_;
  }
  char peek() {
    skipSpace();
    return p_ == end_ ? '\0' : *p_;
  }
  /// The character without skipping space first.
  char raw() const { return p_ == end_ ? '\0' : *p_; }
  char rawAt(size_t i) const { return size_t(end_ - p_) > i ? p_[i] : '\0'; }
  void bump() {
    if (p_ != end_) ++p_;
  }
  void skipSpace();

  /// Takes the punctuation if it comes next.
  bool eat(llvm::StringRef punctuation);
  bool lookingAt(llvm::StringRef punctuation);
  /// Takes the word if it comes next and ends there.
  bool eatWord(llvm::StringRef word);
  bool lookingAtWord(llvm::StringRef word);
  /// [A-Za-z_][A-Za-z0-9_$.]*, or empty.
  llvm::StringRef identifier();
  /// What may follow % ^ @ # ! : letters, digits, _ $ . -
  llvm::StringRef suffixIdentifier();
  /// "…" with escapes resolved; false if there is none or it does not end.
  bool string(std::string &out);

  unsigned lineOf(const char *) const;
  unsigned columnOf(const char *) const;
  llvm::StringRef lineText(const char *) const;
  const char *begin() const { return text_.data(); }
  const char *end() const { return end_; }

private:
  static constexpr llvm::StringLiteral kByteOrderMark = "\xEF\xBB\xBF";

  llvm::StringRef text_;
  const char *p_, *end_;
  unsigned firstLine_;
  mutable std::vector<const char *> lineEnds_; // made when a line is first queried
};

} // namespace tessera::frontend
