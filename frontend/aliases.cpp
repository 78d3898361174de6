// Aliases of attributes, types and locations (see parser_state.h): `#blocked = …`, `!tile = …`, `#loc1 = loc(…)`. They
// may be used before they are defined, so all are found first and read where they are used.
#include "frontend/parser_state.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <utility>

namespace tessera::frontend {
using namespace ir;

bool ParserState::readAttributeAlias(Alias &alias) {
  alias.isLocation = lex.eatWord("loc");
  return alias.isLocation ? parseLocation(alias.loc) : bool(alias.attr = parseAttribute());
}

bool ParserState::readAlias(Alias &alias, llvm::StringRef kind, llvm::StringRef name, const char *at,
                            llvm::function_ref<bool()> read) {
  if (alias.bad) return false; // reported where it was read first
  if (alias.busy) return error(kind + name + "' refers to itself", at);
  if (!alias.known) {
    // Its own height and size are measured from nothing.
    alias.busy = true;
    const char *back = lex.position();
    unsigned outerDeepest = deepest_, outerSize = size_, base = depth_;
    deepest_ = depth_;
    size_ = 0;
    Type element = std::exchange(layoutElement_, Type());
    lex.seek(alias.at);
    bool ok = read();
    lex.seek(back);
    layoutElement_ = element;
    alias.busy = false;
    alias.height = deepest_ - base;
    alias.size = size_;
    deepest_ = std::max(outerDeepest, deepest_);
    size_ = outerSize;
    if (ok && alias.size > kMaxAliasSize) ok = error(kind + name + "' stands for too much text", at);
    alias.bad = !ok;
    alias.known = ok;
    if (!ok) return false;
  }
  if (depth_ + alias.height >= kMaxNesting) return error("nested too deeply", at);
  deepest_ = std::max(deepest_, depth_ + alias.height);
  size_ += alias.size;
  return true;
}

void ParserState::collectAliases() {
  // `#name = …` and `!name = …` at the start of a line.
  const char *p = lex.begin(), *end = lex.end();
  bool lineStart = true;
  for (; p != end; ++p) {
    if (*p == '\n') {
      lineStart = true;
      continue;
    }
    if (!lineStart || llvm::isSpace(*p)) continue;
    lineStart = false;
    if (*p != '#' && *p != '!') continue;
    const char *q = p + 1;
    while (q != end && (llvm::isAlnum(*q) || *q == '_' || *q == '$' || *q == '-')) ++q;
    llvm::StringRef name(p + 1, q - p - 1);
    while (q != end && (*q == ' ' || *q == '\t')) ++q;
    if (name.empty() || q == end || *q != '=') continue;
    auto &map = *p == '#' ? attrAliases_ : typeAliases_;
    if (auto [it, fresh] = map.try_emplace(name); fresh)
      it->second.at = q + 1;
    else
      error(llvm::Twine("alias '") + llvm::StringRef(p, 1) + name + "' is defined twice", p);
  }
}

void ParserState::readLayoutAliases(std::vector<NamedLayout> &out) {
  llvm::SmallVector<std::pair<const char *, llvm::StringRef>, 8> names;
  for (auto &[name, alias] : attrAliases_) names.push_back({alias.at, name});
  llvm::sort(names);
  for (auto [at, name] : names) {
    lex.seek(at);
    if (lex.peek() != '#') continue;
    if (auto a = parseAttribute())
      if (auto e = a.dyn_cast<EncodingAttr>()) out.push_back({name.str(), e.value()});
  }
}

bool ParserState::parseAliasDefinition() {
  // Known already; here its text is read even if nothing uses it.
  const char *at = lex.position();
  bool isType = lex.peek() == '!';
  lex.bump();
  auto name = lex.suffixIdentifier();
  if (name.empty()) return error("expected an alias name", at);
  if (!expect("=", "an alias definition")) return false;
  auto &map = isType ? typeAliases_ : attrAliases_;
  auto &alias = map[name];
  if (!alias.at) alias.at = lex.position();     // not at the start of a line
  if (alias.at != lex.position()) return false; // defined twice, which was reported
  const char *end = lex.position();
  auto read = [&] {
    bool ok = isType ? bool(alias.type = parseType()) : readAttributeAlias(alias);
    end = lex.position();
    return ok;
  };
  bool wasKnown = alias.known;
  if (alias.bad) return false; // reported already
  if (!readAlias(alias, isType ? "type alias '!" : "attribute alias '#", name, at, read)) return lex.seek(end), false;
  if (wasKnown) { // its end is not known: read it once more
    lex.seek(alias.at);
    return read();
  }
  lex.seek(end);
  return true;
}

} // namespace tessera::frontend
