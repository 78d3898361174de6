// Names of values and blocks: scopes, uses before definitions, and the regions that open and close them (see
// parser_state.h).
#include "frontend/parser_state.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <utility>

namespace tessera::frontend {
using namespace ir;

// ---- names ----------------------------------------------------------------------------------------------------------

void ParserState::pushScope(bool isolated) {
  scopes_.push_back(std::make_unique<Scope>());
  scopes_.back()->isolated = isolated;
}

bool ParserState::popScope() {
  unsigned depth = scopes_.size() - 1;
  bool isolated = scopes_.back()->isolated || depth == 0, ok = true;
  std::vector<Forward> kept;
  for (auto &f : forwards_) {
    if (f.scope != depth) {
      kept.push_back(f);
      continue;
    }
    if (!isolated) {
      f.scope = depth - 1;
      kept.push_back(f);
      continue;
    }
    if (!badNames_.contains(f.ref.name)) ok = error("use of undefined value '%" + f.ref.name + "'", f.ref.at);
    f.placeholder->result().replaceAllUsesWith(f.placeholder->result());
  }
  forwards_ = std::move(kept);
  scopes_.pop_back();
  return ok;
}

ParserState::Definition *ParserState::lookup(llvm::StringRef name) {
  for (unsigned i = scopes_.size(); i-- > 0;) {
    auto it = scopes_[i]->values.find(name);
    if (it != scopes_[i]->values.end()) return &it->second;
    if (scopes_[i]->isolated) break;
  }
  return nullptr;
}

Value ParserState::resolve(const OperandRef &ref, Type expected) {
  if (auto *d = lookup(ref.name)) {
    if (d->bad) return {};
    if (ref.number >= d->values.size())
      return error("'%" + ref.name + "' has " + counted(d->values.size(), "result") + "; there is no #" +
                       llvm::Twine(ref.number),
                   ref.at),
             Value();
    return d->values[ref.number];
  }
  OperationState s(Opcode::ub_poison, {});
  s.resultTypes.push_back(expected ? expected : Type(OpaqueType::get(ctx, "!unknown")));
  Operation *placeholder = module->createOperation(s);
  forwards_.push_back({ref, placeholder, unsigned(scopes_.size() - 1)});
  return placeholder->result();
}

Value ParserState::resolveTyped(const OperandRef &ref, Type type, bool &ok) {
  Value v = resolve(ref, type);
  if (v && v.type() != type) {
    error("'%" + ref.name + "' has type " + v.type().str() + ", not " + type.str(), ref.at);
    v = {};
  }
  if (v) return v;
  ok = false;
  OperationState s(Opcode::ub_poison, {});
  s.resultTypes.push_back(type);
  return module->createOperation(s)->result();
}

bool ParserState::define(llvm::StringRef name, llvm::ArrayRef<Value> values, const char *at) {
  if (auto *d = lookup(name)) {
    if (d->bad) return false;
    Diagnostic e = makeError("'%" + name + "' is defined twice", at);
    e.note("first defined here", positionOf(d->at));
    return report(std::move(e));
  }
  auto &d = scopes_.back()->values[name];
  d.values.assign(values.begin(), values.end());
  d.at = at;
  unsigned depth = scopes_.size() - 1;
  llvm::erase_if(forwards_, [&](Forward &f) {
    if (f.ref.name != name || f.scope < depth) return false;
    Value placeholder = f.placeholder->result();
    if (f.ref.number >= values.size()) {
      error("'%" + name + "' has " + counted(values.size(), "result") + "; there is no #" + llvm::Twine(f.ref.number),
            f.ref.at);
      return true;
    }
    Value v = values[f.ref.number];
    if (!placeholder.type().isa<OpaqueType>() && placeholder.type() != v.type())
      error("'%" + name + "' is used here as " + placeholder.type().str() + " but defined as " + v.type().str(),
            f.ref.at);
    placeholder.replaceAllUsesWith(v);
    return true;
  });
  return true;
}

bool ParserState::parseOperand(OperandRef &ref) {
  lex.skipSpace();
  ref.at = lex.position();
  if (lex.raw() != '%') return error("expected an operand such as %0");
  lex.bump();
  ref.name = lex.suffixIdentifier();
  if (ref.name.empty()) return error("expected a name after '%'", ref.at);
  if (lex.raw() == '#') {
    lex.bump();
    int64_t n;
    if (!parseInteger(n)) return false;
    if (n < 0 || n > 1 << 20) return error("result number out of range", ref.at);
    ref.number = n;
  }
  return true;
}

bool ParserState::atDefinition() {
  const char *back = lex.position();
  bool names = true;
  do {
    names = lex.eat("%") && !lex.suffixIdentifier().empty();
    if (names && lex.raw() == ':') {
      lex.bump();
      names = llvm::isDigit(lex.raw());
      while (llvm::isDigit(lex.raw())) lex.bump();
    }
  } while (names && lex.eat(","));
  names = names && lex.lookingAt("=");
  lex.seek(back);
  return names;
}

bool ParserState::parseOperandList(llvm::SmallVectorImpl<OperandRef> &out) {
  do {
    OperandRef r;
    if (!parseOperand(r)) return false;
    out.push_back(r);
  } while (lex.lookingAt(",") && [&] {
    // A comma that does not lead to another operand belongs to what follows.
    const char *back = lex.position();
    lex.eat(",");
    if (lex.peek() == '%') return true;
    lex.seek(back);
    return false;
  }());
  return true;
}

// ---- blocks and regions ---------------------------------------------------------------------------------------------

Block *ParserState::blockNamed(llvm::StringRef name, const char *at) {
  auto &entry = regions_.back().blocks[name];
  if (!entry.first) entry = {module->createBlock(), at};
  return entry.first;
}

bool ParserState::parseBlockHeader(Region &region, Block *&block) {
  const char *at = lex.position();
  lex.bump(); // ^
  auto name = lex.suffixIdentifier();
  if (name.empty()) return error("expected a block name after '^'", at);
  Block *b = blockNamed(name, at);
  if (b->parent()) return error("block '^" + name + "' is defined twice", at);
  regions_.back().blocks[name].second = nullptr;
  region.append(b);
  block = b;
  if (lex.eat("(")) {
    if (!lex.lookingAt(")")) do {
        OperandRef r;
        Location loc;
        if (!parseOperand(r) || !expect(":", "a block argument")) return false;
        Type t = parseType();
        if (!t || !parseTrailingLocation(loc)) return false;
        if (!define(r.name, b->addArg(t, loc), r.at)) return false;
      } while (lex.eat(","));
    if (!expect(")", "block arguments")) return false;
  }
  return expect(":", "a block header");
}

bool ParserState::atAliasDefinition() {
  char sigil = lex.peek();
  const char *at = lex.position();
  bool startsLine = at == lex.begin() || at[-1] == '\n';
  if (!startsLine || (sigil != '#' && sigil != '!')) return false;
  lex.bump();
  bool isDefinition = !lex.suffixIdentifier().empty() && lex.lookingAt("=");
  lex.seek(at);
  return isDefinition;
}

void ParserState::noteIndentation(const char *open, const char *close) {
  if (suspect_) return;
  const char *start = close;
  while (start > lex.begin() && (start[-1] == ' ' || start[-1] == '\t')) --start;
  bool startsLine = start == lex.begin() || start[-1] == '\n';
  if (!startsLine) return;
  llvm::StringRef line = lex.lineText(open);
  if (size_t(close - start) < line.size() - line.ltrim(" \t").size()) suspect_ = open;
}

void ParserState::reportUnclosed() {
  Diagnostic d = makeError(lex.atEnd() ? "expected '}' before the end of the input"
                                       : "expected '}' before the definition of an alias",
                           placeOfNext());
  if (suspect_) d.note("by its indentation, this is the region that is not closed", positionOf(suspect_));
  report(std::move(d));
}

bool ParserState::parseRegionBody(Region &region, llvm::ArrayRef<std::pair<llvm::StringRef, Type>> entryArgs,
                                  bool isolated, llvm::ArrayRef<const char *> positions,
                                  llvm::ArrayRef<Location> locs) {
  DepthGuard guard(*this);
  lex.skipSpace();
  const char *open = lex.position();
  if (!guard.ok || !expect("{", "a region")) return false;
  pushScope(isolated);
  regions_.emplace_back();
  Block *block = nullptr;
  bool ok = true;
  auto entry = [&]() {
    block = region.addBlock();
    for (auto [i, a] : llvm::enumerate(entryArgs)) {
      Location l = i < locs.size() ? locs[i] : Location();
      Value v = block->addArg(a.second, l);
      if (!a.first.empty()) ok &= define(a.first, v, i < positions.size() ? positions[i] : lex.position());
    }
  };
  if (!entryArgs.empty()) entry();
  while (true) {
    if (lex.atEnd()) {
      // Said once for all the regions that are open.
      if (!std::exchange(saidUnclosed_, true)) reportUnclosed();
      ok = false;
      break;
    }
    if (atAliasDefinition()) { // of the file: the region should have ended before
      if (!std::exchange(saidUnclosed_, true)) reportUnclosed();
      ok = false;
      break;
    }
    if (lex.peek() == '}') {
      noteIndentation(open, lex.position());
      lex.bump();
      break;
    }
    if (lex.peek() == '^') {
      const char *at = lex.position();
      if (!parseBlockHeader(region, block)) {
        ok = false;
        recover(at);
      }
      continue;
    }
    if (!block) entry();
    const char *at = lex.position();
    if (!parseOperation(block)) {
      ok = false;
      recover(at);
    }
  }
  for (auto &[name, b] : regions_.back().blocks)
    if (b.second) ok = error("use of undefined block '^" + name + "'", b.second);
  regions_.pop_back();
  ok &= popScope();
  return ok;
}

bool ParserState::parseSuccessor(OpParse &o, llvm::SmallVectorImpl<OperandRef> &args) {
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.raw() != '^') return error("expected a block such as ^bb1");
  lex.bump();
  auto name = lex.suffixIdentifier();
  if (name.empty()) return error("expected a block name after '^'", at);
  o.successors.push_back(blockNamed(name, at));
  if (!lex.eat("(")) return true;
  llvm::SmallVector<Type, 4> types;
  const char *typesAt = nullptr;
  if (!lex.lookingAt(")")) {
    if (!parseOperandList(args) || !expect(":", "block arguments")) return false;
    typesAt = lex.position();
    if (!parseTypeList(types)) return false;
    if (types.size() != args.size()) return error("the number of types differs from the number of values", typesAt);
  }
  // Checked against the values when the operation is made.
  o.operandTypes.emplace_back(types.begin(), types.end());
  return expect(")", "block arguments");
}

} // namespace tessera::frontend
