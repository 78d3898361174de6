// Locations (see parser_state.h): `loc("file":1:2)`, `loc(unknown)`, `loc("name"(…))`, `loc(callsite(… at …))`,
// `loc(fused[…])`, and their aliases.
#include "frontend/parser_state.h"

namespace tessera::frontend {
using namespace ir;

bool ParserState::parseTrailingLocation(Location &l) {
  if (!lex.lookingAt("loc(")) return true;
  lex.eat("loc");
  return parseLocation(l);
}
bool ParserState::parseLocation(Location &l) {
  return expect("(", "a location") && parseLocationBody(l) && expect(")", "a location");
}

/// `#name`.
bool ParserState::parseLocationAlias(Location &l) {
  const char *at = lex.position();
  lex.bump(); // #
  auto name = lex.suffixIdentifier();
  auto it = attrAliases_.find(name);
  if (it == attrAliases_.end()) {
    undefinedLocation(name, at);
    return true; // the operation is read without it
  }
  auto &alias = it->second;
  if (!readAlias(alias, "location alias '#", name, at, [&] { return readAttributeAlias(alias); })) return false;
  if (!alias.isLocation) return error("'#" + name + "' is not a location", at);
  l = alias.loc;
  return true;
}

/// After `callsite`: `(callee at caller)`.
bool ParserState::parseCallSite(Location &l) {
  Location callee, caller;
  if (!expect("(", "callsite") || !parseLocationBody(callee)) return false;
  if (!lex.eatWord("at")) return error("expected 'at' in a callsite location");
  if (!parseLocationBody(caller) || !expect(")", "callsite")) return false;
  l = ctx.callSiteLoc(callee, caller);
  return true;
}

/// After `fused`: `[a, b, …]` or `<metadata>[a, b, …]`.
bool ParserState::parseFusedLocation(Location &l) {
  llvm::StringRef meta;
  if (lex.peek() == '<' && !balanced(meta)) return false;
  if (!expect("[", "a fused location")) return false;
  llvm::SmallVector<Location, 4> parts;
  if (!lex.lookingAt("]")) do {
      Location p;
      if (!parseLocationBody(p)) return false;
      parts.push_back(p);
    } while (lex.eat(","));
  if (!expect("]", "a fused location")) return false;
  l = ctx.fusedLoc(parts, meta);
  return true;
}

/// After `"file":` from `at`: `line:col`, `line:col to :col` or `line:col to line:col`.
bool ParserState::parseFileRange(llvm::StringRef file, const char *at, Location &l) {
  int64_t line, col, endLine = 0, endCol = 0;
  if (!parseInteger(line) || !expect(":", "a location") || !parseInteger(col)) return false;
  if (lex.eatWord("to")) {
    endLine = line;
    if (!lex.lookingAt(":") && !parseInteger(endLine)) return false;
    if (!expect(":", "a location") || !parseInteger(endCol)) return false;
  }
  for (int64_t n : {line, col, endLine, endCol})
    if (n < 0 || n > UINT32_MAX) return error("line or column out of range", at);
  l = ctx.fileLoc(file, line, col, endLine, endCol);
  return true;
}

bool ParserState::parseLocationBody(Location &l) {
  DepthGuard guard(*this);
  if (!guard.ok) return false;
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.peek() == '#') return parseLocationAlias(l);
  if (lex.eatWord("unknown")) {
    l = Location();
    return true;
  }
  if (lex.eatWord("callsite")) return parseCallSite(l);
  if (lex.eatWord("fused")) return parseFusedLocation(l);
  std::string text;
  if (lex.peek() != '"' || !lex.string(text)) return error("expected a location", at);
  if (lex.eat(":")) return parseFileRange(text, at, l);
  Location child;
  if (lex.eat("(") && (!parseLocationBody(child) || !expect(")", "a name location"))) return false;
  l = ctx.nameLoc(text, child);
  return true;
}

} // namespace tessera::frontend
