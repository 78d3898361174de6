// The parser's way through a text: sections, modules, operations in the pretty and the generic form. What it asks of
// others: names and regions (names.cpp), formats of the op table (formats.cpp), operations made of what was read
// (build_operation.cpp), errors (recovery.cpp); see parser_state.h.
#include "frontend/parser_state.h"
#include "ir/ops.h"
#include "ir/verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {

ParserState::ParserState(llvm::StringRef text, unsigned firstLine, llvm::StringRef f, Context &c, DiagnosticEngine &d,
                         const ParseOptions &o)
    : lex(text, firstLine), ctx(c), diag(d), options(o), file(f.str()), module(std::make_unique<Module>(c)) {}

// ---- one operation --------------------------------------------------------------------------------------------------

bool ParserState::unknownOperation(llvm::StringRef name, const char *at) {
  Diagnostic d = makeError("unknown operation '" + name.take_front(100) + (name.size() > 100 ? "…'" : "'"), at);
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
    return error("'" + name + "' has " + counted(o.info->numRegions, "region") + ", not " + llvm::Twine(holders.size()),
                 at);
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
      Location loc = op->loc();
      bool named = loc.kind() == LocationKind::Name && loc.source().isUnknown();
      auto at = loc.isUnknown() || named ? p.positionOf(op) : SourcePosition();
      if (!at.line) return;
      Location here = ctx.fileLoc(file, at.line, at.col);
      op->setLoc(named ? ctx.nameLoc(loc.name(), here) : here);
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
