// Operations: names and scopes, the generic form, formats of the op table, and recovery after errors (see
// parser_state.h). Operand types come from the definitions of the values; where the text prints them they are compared.
#include "frontend/parser_state.h"
#include "ir/ops.h"
#include "ir/verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <tuple>
#include <utility>

namespace tessera::frontend {

ParserState::ParserState(llvm::StringRef text, unsigned firstLine, llvm::StringRef f, Context &c, DiagnosticEngine &d,
                         const ParseOptions &o)
    : lex(text, firstLine), ctx(c), diag(d), options(o), file(f.str()), module(std::make_unique<Module>(c)) {}

// ---- diagnostics ----------------------------------------------------------------------------------------------------

SourcePosition ParserState::positionOf(const char *at) const { return {file, lex.lineOf(at), lex.columnOf(at)}; }

Diagnostic ParserState::makeError(const llvm::Twine &message, const char *at) {
  Diagnostic d;
  d.message = message.str();
  d.position = positionOf(at);
  d.snippet = lineWithCaret(lex.lineText(at), d.position.col);
  return d;
}

bool ParserState::error(const llvm::Twine &message, const char *at) {
  if (!at) {
    lex.skipSpace();
    at = lex.position();
    // Past the end of a line the reader wants to see the line that is unfinished.
    if (at == lex.end() && at > lex.begin())
      while (at > lex.begin() && llvm::isSpace(at[-1])) --at;
  }
  return report(makeError(message, at));
}

bool ParserState::report(Diagnostic d) {
  if (!quiet_ && errors_++ <= options.maxErrors) pending_.push_back(std::move(d));
  return false;
}

void ParserState::flush() {
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

void ParserState::recover(const char *from) {
  // To the next line that starts with %, a dialect's operation, a quoted name, ^ or }; always forward.
  if (lex.position() <= from) lex.seek(from < lex.end() ? from + 1 : from);
  int depth = 0;
  const char *p = lex.position();
  while (p != lex.end()) {
    if (*p == '{') ++depth;
    if (*p == '}') --depth;
    if (*p == '/' && lex.end() - p > 1 && p[1] == '/') // a comment
      while (p != lex.end() && *p != '\n') ++p;
    if (p != lex.end() && *p == '"') // a string, if it ends on its line
      for (const char *q = p + 1; q != lex.end() && *q != '\n'; ++q) {
        if (*q == '\\' && lex.end() - q > 1 && q[1] != '\n')
          ++q;
        else if (*q == '"') {
          p = q;
          break;
        }
      }
    if (p == lex.end() || *p++ != '\n') continue;
    const char *q = p;
    while (q != lex.end() && (*q == ' ' || *q == '\t')) ++q;
    if (q == lex.end() || depth > 0) continue;
    if (*q == '^' || *q == '}' || *q == '"') break;
    // `%a, %b:2 = …` starts an operation, `%a: i32` and `%a, %b : …` continue one; `#a = …` and `!a = …` are aliases.
    if (*q == '%' || *q == '#' || *q == '!') {
      const char *r = q;
      while (r != lex.end() && (llvm::isAlnum(*r) || llvm::StringRef("%#!_$.-, ").contains(*r) ||
                                (*r == ':' && r + 1 != lex.end() && llvm::isDigit(r[1]))))
        ++r;
      if (r != lex.end() && *r == '=' && (*q == '%' || q == p)) break;
      continue;
    }
    const char *w = q;
    while (w != lex.end() && (llvm::isAlnum(*w) || *w == '_')) ++w;
    if (w != q && w != lex.end() && *w == '.') break;
    llvm::StringRef word(q, w - q);
    if (word == "module" || word == "func" || word == "return") break;
  }
  // What is open now is open because the closers were skipped.
  if (p == lex.end()) saidUnclosed_ = true;
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
      lex.seek(p); // recovery goes on behind it
      return;
    }
  }
}

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
  auto &slot = regions_.back().blocks[name];
  if (!slot.first) slot = {module->createBlock(), at};
  return slot.first;
}

bool ParserState::parseBlockHeader(Region &region, Block *&block) {
  const char *at = lex.position();
  lex.bump(); // ^
  auto name = lex.suffixIdentifier();
  if (name.empty()) return error("expected a block name after '^'", at);
  Block *b = blockNamed(name, at);
  if (b->parent()) return error("block '^" + name + "' is defined twice", at);
  regions_.back().blocks[name].second = nullptr;
  // An entry block that has no operations yet and stands first was made implicitly: the header names it.
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

bool ParserState::parseRegionBody(Region &region, llvm::ArrayRef<std::pair<llvm::StringRef, Type>> entryArgs,
                                  bool isolated, llvm::ArrayRef<const char *> positions,
                                  llvm::ArrayRef<Location> locs) {
  DepthGuard guard(*this);
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
      if (!std::exchange(saidUnclosed_, true)) error("expected '}' before the end of the input");
      ok = false;
      break;
    }
    if (lex.eat("}")) break;
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

// ---- one operation --------------------------------------------------------------------------------------------------

bool ParserState::unknownOperation(llvm::StringRef name, const char *at) {
  Diagnostic d = makeError("unknown operation '" + name + "'", at);
  llvm::StringRef best;
  unsigned distance = 4;
  if (name.size() < 64)
    for (auto &row : allOps())
      if (unsigned e = row.name.edit_distance(name, true, 4); e < distance) distance = e, best = row.name;
  if (!best.empty()) d.note("did you mean '" + best + "'?");
  return report(std::move(d));
}

void ParserState::startOp(OpParse &o, const OpInfo &info, const char *at) {
  o.info = &info;
  o.at = at;
  o.operands.resize(info.operands.size());
  o.operandTypes.resize(info.operands.size());
  o.resultTypes.resize(info.results.size());
}

bool ParserState::parseOperation(Block *block) {
  DepthGuard guard(*this);
  if (!guard.ok) return false;
  // Results: %a, %b:2 = …
  struct ResultName {
    llvm::StringRef name;
    unsigned count;
    const char *at;
  };
  llvm::SmallVector<ResultName, 2> names;
  auto markBad = [&] {
    for (auto &n : names) {
      if (!lookup(n.name)) scopes_.back()->values[n.name].bad = true;
      badNames_.insert(n.name);
    }
    return false;
  };
  OpParse parse;
  if (lex.peek() == '%') {
    do {
      OperandRef r;
      if (!parseOperand(r)) return markBad();
      if (r.number) return error("results are named without '#'", r.at), markBad();
      names.push_back({r.name, 1, r.at});
      int64_t count = 1;
      if (lex.raw() == ':') {
        lex.bump();
        if (!parseInteger(count)) return markBad();
        if (count < 1 || count > 1 << 16) return error("number of results out of range", r.at), markBad();
      }
      names.back().count = count;
      parse.numResultNames += count;
    } while (lex.eat(","));
    if (!expect("=", "an operation")) return markBad();
  }
  lex.skipSpace();
  const char *at = lex.position();
  Operation *last = block->back();
  bool ok;
  if (lex.peek() == '"') {
    std::string quoted;
    if (!lex.string(quoted)) return error("the string does not end", at), markBad();
    ok = parseGenericOperation(block, quoted, at);
  } else {
    auto name = lex.identifier();
    if (name.empty()) return error("expected an operation", at), markBad();
    bool handled = false;
    parse.at = at;
    ok = parseOlderForm(parse, name, block, handled);
    if (!handled) {
      auto *info = parse.info ? parse.info : lookupOp(name == "module" ? "builtin.module" : name);
      if (!info) return unknownOperation(name, at), markBad();
      startOp(parse, *info, at);
      if (info->has(kGenericForm))
        return error("'" + name + "' is written in the generic form: \"" + name + "\"(…)", at), markBad();
      switch (info->opcode) {
      case Opcode::builtin_module: ok = parseModule(parse, block); break;
      case Opcode::tt_func:
        // A function whose head is wrong is left out whole: its body knows none of its arguments.
        if (ok = parseFunc(parse, block); !ok && !parse.inBody) skipFunctionBody();
        break;
      case Opcode::scf_for: ok = parseFor(parse, block); break;
      case Opcode::scf_if: ok = parseIf(parse, block); break;
      case Opcode::scf_while: ok = parseWhile(parse, block); break;
      case Opcode::scf_execute_region: ok = parseExecuteRegion(parse, block); break;
      case Opcode::ttg_warp_specialize: ok = parseWarpSpecialize(parse, block); break;
      case Opcode::ttg_convert_layout: ok = parseOlderConvertLayout(parse, block); break;
      default: ok = parseFormat(parse, assemblyFormat(*info)) && build(parse, block);
      }
    }
  }
  Location loc;
  if (ok) ok = parseTrailingLocation(loc);
  if (!ok) {
    // What was half made must not be seen.
    while (block->back() != last) block->back()->erase();
    return markBad();
  }
  for (Operation *op = block->back(); op && op != last; op = op->prev()) op->setLoc(loc);
  if (names.empty()) return true;
  Operation *op = block->back();
  llvm::SmallVector<Value, 4> values;
  if (parse.values)
    values.assign(parse.values->begin(), parse.values->end());
  else if (op != last)
    values = op->results().vec();
  if (parse.numResultNames != values.size()) {
    llvm::StringRef what = op != last ? op->name() : "the operation";
    return error("'" + what + "' gives " + counted(values.size(), "result") + " but " +
                     llvm::Twine(parse.numResultNames) + " are named",
                 names[0].at),
           markBad();
  }
  auto rest = llvm::ArrayRef(values);
  for (auto &n : names) {
    ok &= define(n.name, rest.take_front(n.count), n.at);
    rest = rest.drop_front(n.count);
  }
  return ok;
}

bool ParserState::parseGenericOperation(Block *block, llvm::StringRef name, const char *at) {
  OpParse o;
  o.at = at;
  std::string current = currentName(name);
  o.info = lookupOp(current);
  if (!o.info) {
    if (!options.allowUnregistered) return unknownOperation(name, at);
    o.info = &opInfo(Opcode::unregistered);
  }
  llvm::SmallVector<OperandRef, 4> refs;
  if (!expect("(", "the generic form")) return false;
  if (!lex.lookingAt(")") && !parseOperandList(refs)) return false;
  if (!expect(")", "the generic form")) return false;
  if (lex.eat("[")) {
    do {
      lex.skipSpace();
      const char *bat = lex.position();
      if (!expect("^", "successors")) return false;
      o.successors.push_back(blockNamed(lex.suffixIdentifier(), bat));
    } while (lex.eat(","));
    if (!expect("]", "successors")) return false;
  }
  if (lex.lookingAt("<{")) {
    lex.eat("<");
    if (!parseOpAttrs(o) || !expect(">", "properties")) return false;
  }
  llvm::SmallVector<Operation *, 2> holders; // one region each, moved into the operation once it is known
  if (lex.eat("(")) {
    do {
      OperationState s(Opcode::unregistered, {});
      s.numRegions = 1;
      holders.push_back(module->createOperation(s));
      if (!parseRegionBody(holders.back()->region(0), {}, o.info->has(kIsolated))) return false;
    } while (lex.eat(","));
    if (!expect(")", "regions")) return false;
  }
  if (!parseOpAttrs(o)) return false;
  if (!expect(":", "the generic form")) return false;
  const char *typesAt = (lex.skipSpace(), lex.position());
  llvm::SmallVector<Type, 4> ins, outs;
  if (!parseFunctionalType(ins, outs)) return false;
  if (ins.size() != refs.size())
    return error("'" + name + "' has " + counted(refs.size(), "operand") + " but its type gives " +
                     llvm::Twine(ins.size()),
                 typesAt);

  OperationState s(o.info->opcode, {});
  if (o.info->opcode == Opcode::unregistered) s.unregisteredName = ctx.intern(name);
  for (unsigned i = 0; i < refs.size(); ++i) {
    Value v = resolve(refs[i], ins[i]);
    if (!v) return false;
    if (v.type() != ins[i])
      return error("'%" + refs[i].name + "' has type " + v.type().str() + ", not " + ins[i].str(), refs[i].at);
    s.operands.push_back(v);
  }
  s.resultTypes.assign(outs.begin(), outs.end());
  if (o.info->opcode != Opcode::unregistered && !finishAttrs(o)) return false;
  for (auto &a : o.attrs) {
    if (a.name == "operandSegmentSizes" || a.name == "operand_segment_sizes" || a.name == "resultSegmentSizes") {
      auto d = a.value.dyn_cast<DenseArrayAttr>();
      if (!d) return error("'" + a.name + "' must be array<i32: …>", at);
      if (a.name != "resultSegmentSizes") {
        int64_t sum = 0;
        for (auto v : d.values()) {
          if (v < 0 || v > int64_t(refs.size())) return error("segment size out of range", at);
          sum += v;
          s.segments.push_back(v);
        }
        if (sum != int64_t(refs.size()) ||
            (o.info->opcode != Opcode::unregistered && s.segments.size() != o.info->operands.size()))
          return error("the segment sizes do not match the operands", at);
      }
      continue;
    }
    s.attrs.push_back(a);
  }
  if (o.info->opcode == Opcode::unregistered) {
    if (!s.segments.empty()) s.attrs.push_back({ctx.intern("operandSegmentSizes"), o.attr("operandSegmentSizes")});
    s.segments.clear();
  } else if (!o.info->needsSegments())
    s.segments.clear();
  if (o.info->needsSegments() && s.segments.empty()) return error("'" + name + "' needs operandSegmentSizes", at);
  unsigned fixed = llvm::count_if(o.info->operands, [](auto &v) { return v.arity == Arity::One; });
  bool open = llvm::any_of(o.info->operands, [](auto &v) { return v.arity != Arity::One; }) ||
              o.info->opcode == Opcode::unregistered;
  if (refs.size() < fixed || (!open && refs.size() > fixed))
    return error("'" + name + "' takes " + llvm::Twine(fixed) + (open ? " or more" : "") + " operands, not " +
                     llvm::Twine(refs.size()),
                 at);
  unsigned fixedResults = llvm::count_if(o.info->results, [](auto &v) { return v.arity == Arity::One; });
  bool openResults = llvm::any_of(o.info->results, [](auto &v) { return v.arity != Arity::One; }) ||
                     o.info->opcode == Opcode::unregistered;
  if (outs.size() < fixedResults || (!openResults && outs.size() > fixedResults))
    return error("'" + name + "' gives " + counted(fixedResults, "result") + ", not " + llvm::Twine(outs.size()), at);
  if (o.info->numRegions != 255 && o.info->opcode != Opcode::unregistered && holders.size() > o.info->numRegions)
    return error(
        "'" + name + "' has " + counted(o.info->numRegions, "region") + ", not " + llvm::Twine(holders.size()), at);
  if (o.info->numSuccessors != 255 && o.successors.size() != o.info->numSuccessors &&
      o.info->opcode != Opcode::unregistered)
    return error("'" + name + "' has " + counted(o.info->numSuccessors, "successor") + ", not " +
                     llvm::Twine(o.successors.size()),
                 at);
  s.numRegions = o.info->numRegions == 255 ? holders.size() : std::max<unsigned>(o.info->numRegions, holders.size());
  s.successors = o.successors;
  Operation *op = emit(s, block, at);
  for (unsigned i = 0; i < holders.size(); ++i) op->region(i).takeBody(holders[i]->region(0));
  return true;
}

// ---- formats --------------------------------------------------------------------------------------------------------

bool ParserState::parseFormat(OpParse &o, const std::vector<FormatElement> &es) {
  for (unsigned i = 0; i < es.size(); ++i)
    if (o.ended)
      return true;
    else if (!parseElementOf(o, es[i], i + 1 < es.size() ? &es[i + 1] : nullptr))
      return false;
  return true;
}

bool ParserState::parseElementOf(OpParse &o, const FormatElement &e, const FormatElement *next) {
  auto &info = *o.info;
  auto eatLiteral = [&](llvm::StringRef t) { return llvm::isAlpha(t[0]) ? lex.eatWord(t) : lex.eat(t); };
  switch (e.kind) {
  case FormatElement::Literal:
    if (eatLiteral(e.text)) return true;
    // Older spellings leave out trailing types: `tt.load %p, %m` and `tt.addptr %p, %o : type`; and what an atomic
    // operation orders.
    if ((info.opcode == Opcode::tt_load && e.text == ":") ||
        (info.opcode == Opcode::tt_addptr && e.text == "," && !o.resultTypes[0].empty()))
      return o.ended = true;
    if ((info.opcode == Opcode::tt_atomic_rmw || info.opcode == Opcode::tt_atomic_cas) && e.text == "," &&
        o.operands[0].empty() && lex.peek() == '%')
      return true;
    return error("expected '" + e.text + "' in '" + info.name + "'");
  case FormatElement::Operand: {
    auto &spec = info.operands[e.index];
    if (spec.arity == Arity::Variadic) {
      if (lex.peek() != '%' || atDefinition()) return true;
      return parseOperandList(o.operands[e.index]);
    }
    OperandRef r;
    if (!parseOperand(r)) return false;
    o.operands[e.index].push_back(r);
    return true;
  }
  case FormatElement::Attr: {
    auto &spec = info.attrs[e.index];
    lex.skipSpace();
    const char *at = lex.position();
    switch (spec.rule) {
    case AttrRule::Enum: {
      // Keyword, string, or (older) in the dictionary that follows.
      std::string quoted;
      llvm::StringRef word;
      if (lex.peek() == '"') {
        if (!lex.string(quoted)) return error("the string does not end", at);
        word = quoted;
      } else
        word = lex.identifier();
      if (word.empty() && lex.peek() == '{') return true;
      if (word.empty() && lex.peek() == '%' && (spec.name == "sem" || spec.name == "scope")) {
        o.setAttr(ctx, spec.name,
                  IntegerAttr::getI32(ctx, *enumValue(*spec.enumInfo, spec.name == "sem" ? "acq_rel" : "gpu")));
        return true;
      }
      auto v = enumValue(*spec.enumInfo, word);
      if (!v) {
        std::string list;
        for (auto &c : spec.enumInfo->cases) list += (list.empty() ? "" : ", ") + c.name.str();
        return error("expected '" + spec.name + "' of '" + info.name + "' to be one of: " + list, at);
      }
      o.setAttr(ctx, spec.name, IntegerAttr::getI32(ctx, *v));
      return true;
    }
    case AttrRule::Unit: o.setAttr(ctx, spec.name, UnitAttr::get(ctx)); return true;
    case AttrRule::Bool:
    case AttrRule::I32:
    case AttrRule::I64: {
      Attribute a = parseNumber(spec.rule == AttrRule::Bool  ? ctx.i1()
                                : spec.rule == AttrRule::I32 ? ctx.i32()
                                                             : ctx.i64());
      if (a) o.setAttr(ctx, spec.name, a);
      return bool(a);
    }
    case AttrRule::Any:
      if (lex.peek() == '[') { // a bare list of integers
        Attribute a = parseAttribute();
        auto l = a ? a.dyn_cast<ArrayAttr>() : ArrayAttr();
        if (!l) return false;
        llvm::SmallVector<int64_t, 4> v;
        for (unsigned i = 0; i < l.size(); ++i) {
          auto n = l[i].dyn_cast<IntegerAttr>();
          if (!n) return error("expected integers", at);
          v.push_back(n.sext());
        }
        o.setAttr(ctx, spec.name, DenseArrayAttr::get(ctx.i64(), v));
        return true;
      }
      [[fallthrough]];
    case AttrRule::String:
    case AttrRule::DenseI32:
    case AttrRule::Symbol:
    case AttrRule::Type:
    case AttrRule::Dictionary:
    case AttrRule::Array: {
      Attribute a = parseAttribute();
      if (a) o.setAttr(ctx, spec.name, a);
      return bool(a);
    }
    }
    return true;
  }
  case FormatElement::OperandType: {
    auto &spec = info.operands[e.index];
    if (spec.arity == Arity::Variadic && o.operands[e.index].empty()) return true;
    lex.skipSpace();
    if (lex.eat("(")) { // older: `(i32) -> …`, with the types of all operands
      for (unsigned i = e.index; i < info.operands.size() && (i == e.index || lex.eat(",")); ++i) {
        Type t = parseType();
        if (!t) return false;
        if (i == e.index || !o.operands[i].empty()) o.operandTypes[i].push_back(t);
      }
      return expect(")");
    }
    do {
      Type t = parseMaybeStripped(spec.rule);
      if (!t) return false;
      o.operandTypes[e.index].push_back(t);
    } while (spec.arity == Arity::Variadic && o.operandTypes[e.index].size() < o.operands[e.index].size() &&
             lex.eat(","));
    return true;
  }
  case FormatElement::ResultType: {
    auto &spec = info.results[e.index];
    do {
      Type t = parseMaybeStripped(spec.rule);
      if (!t) return false;
      o.resultTypes[e.index].push_back(t);
    } while (spec.arity == Arity::Variadic && lex.eat(","));
    return true;
  }
  case FormatElement::AllTypes: o.allOperandTypes.emplace(); return parseTypeList(*o.allOperandTypes);
  case FormatElement::Functional: {
    o.allOperandTypes.emplace();
    o.allResultTypes.emplace();
    return parseFunctionalType(*o.allOperandTypes, *o.allResultTypes);
  }
  case FormatElement::AttrDict:
    if (info.opcode == Opcode::tt_assert) // older: the file, the function and the line, which locations say as well
      while (lex.eat(","))
        if (!parseAttribute(ctx.i32())) return false;
    return parseOpAttrs(o);
  case FormatElement::OptionalGroup: {
    // Present if its first element can start here.
    auto &first = e.group[0];
    bool present = false;
    switch (first.kind) {
    case FormatElement::Literal: {
      const char *back = lex.position();
      if (eatLiteral(first.text)) {
        present = true;
        // `,` may belong to what follows the group: look at the element after it.
        if (e.group.size() > 1) {
          auto &second = e.group[1];
          if (second.kind == FormatElement::Operand)
            present = lex.peek() == '%';
          else if (second.kind == FormatElement::Literal)
            present = llvm::isAlpha(second.text[0]) ? lex.lookingAtWord(second.text) : lex.lookingAt(second.text);
        }
        lex.seek(back);
      }
      break;
    }
    case FormatElement::Operand: present = lex.peek() == '%' && !atDefinition(); break;
    default: present = true;
    }
    return !present || parseFormat(o, e.group);
  }
  case FormatElement::Custom: return parseCustom(o, e.text);
  }
  return true;
}

// ---- making the operation -------------------------------------------------------------------------------------------

Operation *ParserState::build(OpParse &o, Block *block) {
  auto &info = *o.info;
  auto fail = [&](const llvm::Twine &m, const char *at) -> Operation * { return error(m, at), nullptr; };
  if (!finishAttrs(o)) return nullptr;
  OperationState s(info.opcode, {});
  bool needsSegments = info.needsSegments();
  // An old store or load prints the type of what is stored or loaded.
  auto oldTyped = [&](unsigned operand) {
    return (info.opcode == Opcode::tt_load || info.opcode == Opcode::tt_store) && operand == 0 &&
           !o.operandTypes[0].empty() && !o.operandTypes[0][0].scalar().isPointer();
  };
  if (info.opcode == Opcode::tt_load && oldTyped(0)) {
    o.resultTypes[0] = o.operandTypes[0];
    o.operandTypes[0].clear();
  } else if (info.opcode == Opcode::tt_store && oldTyped(0)) {
    o.operandTypes[1] = o.operandTypes[0];
    o.operandTypes[0].clear();
  }
  // What the row says of an operand whose type is not printed; forward references need it.
  auto implied = [&](unsigned operand) -> Type {
    auto printedOf = [&](unsigned k) { return !o.operandTypes[k].empty() ? o.operandTypes[k][0] : Type(); };
    if (info.has(kSameTypes))
      return !o.resultTypes.empty() && !o.resultTypes[0].empty() ? o.resultTypes[0][0] : printedOf(0);
    Type first = operand ? printedOf(0) : Type();
    if (!first) return {};
    if (info.opcode == Opcode::arith_cmpi || info.opcode == Opcode::arith_cmpf) return first;
    if (info.opcode != Opcode::tt_load && info.opcode != Opcode::tt_store) return {};
    auto pointer = first.scalar().dyn_cast<PointerType>();
    if (!pointer || pointer.pointee().isTensor()) return {};
    bool mask = info.operands[operand].name == "mask";
    return first.withScalar(mask ? ctx.i1() : pointer.pointee());
  };
  unsigned flat = 0;
  for (unsigned i = 0; i < info.operands.size(); ++i) {
    auto &spec = info.operands[i];
    if (spec.arity == Arity::One && o.operands[i].empty())
      return fail("'" + info.name + "' needs operand '" + spec.name + "'", o.at);
    auto &types = o.operandTypes[i];
    if (!types.empty() && types.size() != o.operands[i].size())
      return fail("operand '" + spec.name + "' has " + counted(o.operands[i].size(), "value") + " but " +
                      counted(types.size(), "type"),
                  o.at);
    for (unsigned k = 0; k < o.operands[i].size(); ++k, ++flat) {
      Type printed = k < types.size() ? types[k] : Type();
      if (!printed && o.allOperandTypes && flat < o.allOperandTypes->size()) printed = (*o.allOperandTypes)[flat];
      Value v = resolve(o.operands[i][k], printed ? printed : implied(i));
      if (!v) return nullptr;
      if (printed && v.type() != printed)
        return fail("'%" + o.operands[i][k].name + "' has type " + v.type().str() + ", not " + printed.str(),
                    o.operands[i][k].at);
      s.operands.push_back(v);
    }
    if (needsSegments) s.segments.push_back(o.operands[i].size());
  }
  if (o.allOperandTypes && o.allOperandTypes->size() != s.operands.size())
    return fail("'" + info.name + "' has " + counted(s.operands.size(), "operand") + " but its type gives " +
                    llvm::Twine(o.allOperandTypes->size()),
                o.at);
  if (o.allResultTypes)
    s.resultTypes.assign(o.allResultTypes->begin(), o.allResultTypes->end());
  else {
    // A variadic result that takes its types from an operand has one per value of it.
    for (unsigned i = 0; i < info.results.size(); ++i)
      if (info.results[i].arity == Arity::Variadic && o.resultTypes[i].empty() &&
          InferRule(info.inference[i].rule) == InferRule::SameAs) {
        unsigned start = 0;
        for (unsigned k = 0; k < info.inference[i].operand; ++k) start += o.operands[k].size();
        for (unsigned k = 0; k < o.operands[info.inference[i].operand].size(); ++k)
          o.resultTypes[i].push_back(s.operands[start + k].type());
      }
    bool all = true;
    for (unsigned i = 0; i < info.results.size(); ++i)
      all &= !o.resultTypes[i].empty() || info.results[i].arity == Arity::Optional ||
             info.results[i].arity == Arity::Variadic;
    if (all)
      for (auto &ts : o.resultTypes) s.resultTypes.append(ts.begin(), ts.end());
    else {
      // What is printed stays; the rest follows by the row's rules, one result after the other.
      llvm::SmallVector<Type, 2> inferred;
      for (unsigned i = 0; i < info.results.size(); ++i) {
        if (!o.resultTypes[i].empty()) {
          inferred.push_back(o.resultTypes[i][0]);
          continue;
        }
        OpInfo one = info;
        one.inference = info.inference.slice(i, 1);
        llvm::SmallVector<Type, 2> type(inferred.begin(), inferred.end());
        bool known = inferResultTypes(one, ctx, s.operands, s.segments, type) && type.size() == inferred.size() + 1;
        if (known)
          if (auto opaque = type.back().scalar().dyn_cast<OpaqueType>()) known = opaque.text() != "!unknown";
        if (!known) return fail("cannot tell the result type of '" + info.name + "' from its operands", o.at);
        inferred.push_back(type.back());
      }
      for (unsigned i = 0; i < inferred.size(); ++i)
        if (!o.resultTypes[i].empty()) inferred[i] = o.resultTypes[i][0];
      s.resultTypes.assign(inferred.begin(), inferred.end());
    }
  }
  // The number of results that stands before `=` decides about a single variadic result.
  unsigned fixed = llvm::count_if(info.results, [](auto &r) { return r.arity == Arity::One; });
  bool open = llvm::any_of(info.results, [](auto &r) { return r.arity != Arity::One; });
  if (s.resultTypes.size() < fixed || (!open && s.resultTypes.size() > fixed))
    return fail(
        "'" + info.name + "' gives " + counted(fixed, "result") + ", not " + llvm::Twine(s.resultTypes.size()), o.at);
  for (auto &a : o.attrs) {
    // A default that is spelt out is the default.
    auto *spec = info.attr(a.name);
    if (spec && spec->hasDefault)
      if (auto i = a.value.dyn_cast<IntegerAttr>(); i && i.value().getSignificantBits() <= 64 &&
                                                    (i.isBool() ? int64_t(i.zext()) : i.sext()) == spec->defaultValue)
        continue;
    s.attrs.push_back(a);
  }
  s.successors = o.successors;
  s.numRegions = info.numRegions == 255 ? 0 : info.numRegions;
  return emit(s, block, o.at);
}

Operation *ParserState::emit(const OperationState &s, Block *block, const char *at) {
  Operation *op = module->createOperation(s);
  block->append(op);
  positions_[op] = at;
  return op;
}

SourcePosition ParserState::positionOf(const Operation *op) const {
  for (; op; op = op->parentOp())
    if (auto it = positions_.find(op); it != positions_.end()) return positionOf(it->second);
  return {};
}

DiagnosticEngine::TextPlace ParserState::placeOf(const Operation *op, int operand) {
  for (; op; op = op->parentOp(), operand = -1)
    if (auto it = positions_.find(op); it != positions_.end()) {
      const char *at = it->second;
      if (operand >= 0)
        if (const char *o = placeOfOperand(*op, operand, at)) at = o;
      Diagnostic d = makeError("", at);
      return {std::move(d.position), std::move(d.snippet)};
    }
  return {};
}

const char *ParserState::placeOfOperand(const Operation &op, unsigned operand, const char *at) {
  // The operation is read once more, without a word: that costs nothing where nothing is wrong.
  llvm::SaveAndRestore quiet(quiet_, true);
  lex.seek(at);
  llvm::SmallVector<OperandRef, 8> refs;
  if (lex.peek() == '"') {
    std::string name;
    if (!lex.string(name) || !lex.eat("(") || !parseOperandList(refs)) return nullptr;
  } else {
    auto *info = lookupOp(lex.identifier());
    auto &format = op.info().format;
    if (!info || info != &op.info() || format.empty() || info->has(kGenericForm)) return nullptr;
    OpParse o;
    startOp(o, *info, at);
    regions_.emplace_back(); // for the names of successors
    bool ok = parseFormat(o, assemblyFormat(*info));
    regions_.pop_back();
    if (!ok) return nullptr;
    for (auto &group : o.operands) refs.append(group.begin(), group.end());
  }
  return operand < refs.size() ? refs[operand].at : nullptr;
}

// ---- attributes of an operation -------------------------------------------------------------------------------------

bool ParserState::parseOpAttrs(OpParse &o) {
  if (lex.peek() != '{') return true;
  llvm::SmallVector<NamedAttribute, 4> more;
  llvm::SmallVector<const char *, 4> positions;
  if (!parseAttrDict(more, &positions)) return false;
  for (auto [a, at] : llvm::zip(more, positions)) {
    if (o.hasAttr(a.name)) return error("attribute '" + a.name + "' is given twice", at);
    o.attrs.push_back(a);
    o.attrNames.push_back({a.name, at});
  }
  return true;
}

/// The bits of `#arith.overflow<nsw, nuw>` and `#arith.fastmath<…>`, as the generic form has them.
static std::optional<int64_t> flagBits(llvm::StringRef text) {
  bool overflow = text.consume_front("#arith.overflow<");
  if ((!overflow && !text.consume_front("#arith.fastmath<")) || !text.consume_back(">")) return std::nullopt;
  int64_t bits = 0;
  llvm::SmallVector<llvm::StringRef, 8> words;
  text.split(words, ',');
  for (auto w : words) {
    auto bit = flagBit(w.trim(), overflow);
    if (bit < 0) return std::nullopt;
    bits |= bit;
  }
  return bits;
}

bool ParserState::finishAttrs(OpParse &o) {
  auto &info = *o.info;
  auto positionOfName = [&](llvm::StringRef name) {
    for (auto &[n, at] : o.attrNames)
      if (n == name) return at;
    return o.at;
  };
  llvm::SmallVector<NamedAttribute, 8> kept;
  for (auto a : o.attrs) {
    if (a.name.starts_with("triton_gpu.")) a.name = ctx.intern(("ttg." + a.name.drop_front(11)).str());
    auto flag = a.value.dyn_cast<IntegerAttr>();
    bool isTrue = flag && !flag.value().isZero();
    if (info.opcode == Opcode::tt_dot && (a.name == "allowTF32" || a.name == "transA" || a.name == "transB")) {
      if (a.name != "allowTF32" && isTrue)
        return error("transposed operands of the older tt.dot are not supported; use tt.trans", positionOfName(a.name));
      if (isTrue) kept.push_back({ctx.intern("inputPrecision"), IntegerAttr::getI32(ctx, int(InputPrecision::Tf32))});
      continue;
    }
    if (auto *spec = info.attr(a.name)) {
      if (spec->rule == AttrRule::Unit && flag && flag.isBool()) {
        if (!isTrue) continue;
        a.value = UnitAttr::get(ctx);
      } else if (spec->rule == AttrRule::Enum && flag && flag.value().getSignificantBits() <= 32) {
        a.value = IntegerAttr::getI32(ctx, flag.sext());
      } else if (spec->rule == AttrRule::Enum && a.value.isa<StringAttr>()) {
        if (auto v = enumValue(*spec->enumInfo, a.value.cast<StringAttr>().value()))
          a.value = IntegerAttr::getI32(ctx, *v);
      } else if (spec->rule == AttrRule::I32 && a.value.isa<OpaqueAttr>()) {
        if (auto bits = flagBits(a.value.cast<OpaqueAttr>().text())) a.value = IntegerAttr::getI32(ctx, *bits);
      } else if (spec->rule == AttrRule::DenseI32 && a.value.isa<DenseElementsAttr>()) {
        auto dense = a.value.cast<DenseElementsAttr>();
        llvm::SmallVector<int64_t, 8> values;
        if (dense.type().element().isInteger() && dense.type().bitWidth() <= 64 && dense.size() <= 64)
          for (unsigned i = 0; i < dense.size(); ++i) values.push_back(dense.element(i).getSExtValue());
        if (!values.empty()) a.value = DenseArrayAttr::getI32(ctx, values);
      }
    } else if (a.name.size() > 3 && !a.name.contains('.')) {
      // It may be anybody's; but a name that is nearly one of the row's is more likely a slip.
      for (auto &spec : info.attrs)
        if (a.name != spec.name && !o.hasAttr(spec.name) &&
            a.name.edit_distance(spec.name, true, 3) <= (a.name.size() > 5 ? 2u : 1u)) {
          Diagnostic d = makeError("'" + info.name + "' has no attribute '" + a.name + "'", positionOfName(a.name));
          d.note("did you mean '" + spec.name + "'?");
          return report(std::move(d));
        }
    }
    kept.push_back(a);
  }
  o.attrs = kept;
  olderDefaults(o);
  for (auto &spec : info.attrs)
    if (!spec.optional && !spec.hasDefault && !o.hasAttr(spec.name))
      return error("'" + info.name + "' needs attribute '" + spec.name + "'", o.at);
  return true;
}

// ---- the whole input ------------------------------------------------------------------------------------------------

bool ParserState::parseTop() {
  llvm::StringRef text(lex.begin(), lex.end() - lex.begin());
  if (text.starts_with("\xEF\xBB\xBF")) lex.seek(lex.begin() + 3); // a byte order mark says nothing in UTF-8
  if (text.take_front(4096).contains('\0')) {
    Diagnostic d = makeError("this is no text: it has NUL bytes", lex.begin());
    d.snippet.clear();
    report(std::move(d));
    flush();
    return false;
  }
  collectAliases();
  pushScope(true);
  regions_.emplace_back();
  bool ok = !failed();
  Block *body = module->body();
  while (!lex.atEnd()) {
    const char *at = lex.position();
    if (lex.peek() == '#' || lex.peek() == '!') {
      if (!parseAliasDefinition()) {
        ok = false;
        recover(at);
      }
      continue;
    }
    if (!parseOperation(body)) {
      ok = false;
      recover(at);
    }
  }
  ok &= popScope();
  regions_.pop_back();
  flush();
  return ok && !failed();
}

std::vector<TextSection> splitSections(llvm::StringRef text) {
  std::vector<TextSection> out;
  unsigned line = 1, first = 1;
  size_t begin = 0, pos = 0;
  while (pos < text.size()) {
    size_t end = text.find('\n', pos);
    if (end == llvm::StringRef::npos) end = text.size();
    if (text.substr(pos, end - pos).starts_with("// -----")) {
      out.push_back({text.substr(begin, pos - begin), first});
      begin = std::min(end + 1, text.size());
      first = line + 1;
    }
    pos = end + 1;
    ++line;
  }
  out.push_back({text.substr(begin), first});
  return out;
}

std::unique_ptr<Module> parseModule(TextSection section, llvm::StringRef file, Context &ctx, DiagnosticEngine &diag,
                                    const ParseOptions &options) {
  ParserState p(section.text, section.firstLine, file, ctx, diag, options);
  if (!p.parseTop()) return nullptr;
  // A file that is one module is that module; anything else is the contents of an implicit one.
  Block *body = p.module->body();
  if (body->front() && body->front() == body->back() && body->front()->opcode() == Opcode::builtin_module) {
    Operation *inner = body->front();
    Operation *outer = p.module->op();
    p.standsFor(outer, inner);
    outer->setAttrs(inner->attrs());
    outer->setLoc(inner->loc());
    if (Block *b = inner->region(0).front())
      for (auto &op : *b) {
        op.remove();
        body->append(&op);
      }
    inner->erase();
  }
  if (options.verify) {
    diag.setLocator([&](const Operation *op, int operand) { return p.placeOf(op, operand); });
    bool ok = verify(*p.module, diag, options.maxErrors);
    diag.setLocator({});
    if (!ok) return nullptr;
  }
  if (options.locateByText)
    p.module->op()->walk([&](Operation *op) {
      auto at = op->loc().isUnknown() ? p.positionOf(op) : SourcePosition();
      if (at.line) op->setLoc(ctx.fileLoc(file, at.line, at.col));
    });
  return std::move(p.module);
}

std::unique_ptr<Module> parseModule(llvm::StringRef text, llvm::StringRef file, Context &ctx, DiagnosticEngine &diag,
                                    const ParseOptions &options) {
  return parseModule(TextSection{text, 1}, file, ctx, diag, options);
}

bool parseNamedLayouts(llvm::StringRef text, llvm::StringRef file, Context &ctx, DiagnosticEngine &diag,
                       std::vector<NamedLayout> &out) {
  ParserState p(text, 1, file, ctx, diag, {});
  p.layoutAlone = true;
  p.collectAliases();
  p.readLayoutAliases(out);
  p.flush();
  return !p.failed();
}

const layouts::Encoding *parseEncoding(llvm::StringRef text, Context &ctx, DiagnosticEngine &diag) {
  ParserState p(text, 1, "<layout>", ctx, diag, {});
  p.layoutAlone = true;
  auto *e = p.parseEncoding();
  if (e && !p.lex.atEnd()) p.error("unexpected text after the layout"), e = nullptr;
  p.flush();
  return e;
}

Type parseType(llvm::StringRef text, Context &ctx, DiagnosticEngine &diag) {
  ParserState p(text, 1, "<type>", ctx, diag, {});
  Type t = p.parseType();
  if (t && !p.lex.atEnd()) p.error("unexpected text after the type"), t = {};
  p.flush();
  return t;
}

} // namespace tessera::frontend
