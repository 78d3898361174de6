// Scanning (see lexer.h).
#include "frontend/lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {

void Lexer::skipSpace() {
  while (p_ != end_) {
    if (llvm::isSpace(*p_))
      ++p_;
    else if (*p_ == '/' && rawAt(1) == '/')
      while (p_ != end_ && *p_ != '\n') ++p_;
    else if (*p_ == '{' && rawAt(1) == '-' && rawAt(2) == '#') {
      // {-# … #-}: resources of a reproducer.
      const char *q = p_;
      while (q != end_ && !(*q == '#' && end_ - q >= 3 && q[1] == '-' && q[2] == '}')) ++q;
      if (q == end_) return;
      p_ = q + 3;
    } else
      return;
  }
}

bool Lexer::lookingAt(llvm::StringRef t) {
  skipSpace();
  return llvm::StringRef(p_, end_ - p_).starts_with(t);
}
bool Lexer::eat(llvm::StringRef t) {
  if (!lookingAt(t)) return false;
  p_ += t.size();
  return true;
}
static bool wordChar(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }
bool Lexer::lookingAtWord(llvm::StringRef w) { return lookingAt(w) && !wordChar(rawAt(w.size())); }
bool Lexer::eatWord(llvm::StringRef w) {
  if (!lookingAtWord(w)) return false;
  p_ += w.size();
  return true;
}

llvm::StringRef Lexer::identifier() {
  skipSpace();
  const char *b = p_;
  if (p_ != end_ && (llvm::isAlpha(*p_) || *p_ == '_'))
    while (p_ != end_ && wordChar(*p_)) ++p_;
  return {b, size_t(p_ - b)};
}

llvm::StringRef Lexer::suffixIdentifier() {
  const char *b = p_;
  while (p_ != end_ && (wordChar(*p_) || (*p_ == '-' && rawAt(1) != '>'))) ++p_;
  return {b, size_t(p_ - b)};
}

bool Lexer::string(std::string &out) {
  skipSpace();
  if (raw() != '"') return false;
  const char *q = p_ + 1;
  for (; q != end_ && *q != '"'; ++q) {
    if (*q == '\n') return false;
    if (*q != '\\') {
      out += *q;
      continue;
    }
    if (++q == end_) return false;
    if (*q == 'n')
      out += '\n';
    else if (*q == 't')
      out += '\t';
    else if (*q == '"' || *q == '\\')
      out += *q;
    else if (q + 1 != end_ && llvm::isHexDigit(*q) && llvm::isHexDigit(q[1])) {
      out += char(llvm::hexDigitValue(*q) * 16 + llvm::hexDigitValue(q[1]));
      ++q;
    } else
      return false;
  }
  if (q == end_) return false;
  p_ = q + 1;
  return true;
}

unsigned Lexer::lineOf(const char *at) const {
  if (lineEnds_.empty()) {
    for (const char &c : text_)
      if (c == '\n') lineEnds_.push_back(&c);
    lineEnds_.push_back(end_);
  }
  return firstLine_ + (llvm::lower_bound(lineEnds_, at) - lineEnds_.begin());
}
unsigned Lexer::columnOf(const char *at) const {
  unsigned n = 1;
  while (at > text_.data() && at[-1] != '\n') --at, ++n;
  return n;
}
llvm::StringRef Lexer::lineText(const char *at) const {
  const char *b = at, *e = at;
  while (b > text_.data() && b[-1] != '\n') --b;
  while (e < end_ && *e != '\n') ++e;
  return {b, size_t(e - b)};
}

} // namespace tessera::frontend
