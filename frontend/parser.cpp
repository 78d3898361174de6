// Parses a text: sections, modules, operations in the pretty and the generic form. The rest is in other files: names
// and regions (names.cpp), formats of the op table (formats.cpp), operations made of what was read
// (build_operation.cpp), errors (recovery.cpp); see parser_state.h.
#include "frontend/parser_state.h"
#include "ir/nearest_name.h"
#include "ir/ops.h"
#include "ir/verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {
using namespace ir;

ParserState::ParserState(llvm::StringRef text, unsigned firstLine, llvm::StringRef f, Context &c, DiagnosticEngine &d,
                         const ParseOptions &o)
    : lex(text, firstLine), ctx(c), diag(d), options(o), file(f.str()), module(std::make_unique<Module>(c)) {}

// ---- one operation --------------------------------------------------------------------------------------------------

bool ParserState::unknownOperation(llvm::StringRef name, const char *at) {
  Diagnostic d = makeError("unknown operation '" + name.take_front(100) + (name.size() > 100 ? "…'" : "'"), at);
  constexpr size_t kLongest = 64;
  constexpr unsigned kMaxEdits = 4;
  llvm::SmallVector<llvm::StringRef, 0> names;
  for (auto &row : allOps()) names.push_back(row.name);
  llvm::StringRef meant = name.size() < kLongest ? nearestName(name, names, kMaxEdits) : "";
  if (!meant.empty()) d.note("did you mean '" + meant + "'?");
  return report(std::move(d));
}

void ParserState::startOp(OpParse &o, const OpInfo &info, const char *at) {
  o.info = &info;
  o.at = at;
  o.operands.resize(info.operands.size());
  o.operandTypes.resize(info.operands.size());
  o.resultTypes.resize(info.results.size());
}

/// `%a, %b:2 =` before an operation.
bool ParserState::parseResultNames(OpParse &o, llvm::SmallVectorImpl<ResultName> &names) {
  constexpr int64_t kMaxResults = 1 << 16; // of one name
  do {
    OperandRef r;
    if (!parseOperand(r)) return false;
    if (r.number) return error("results are named without '#'", r.at);
    names.push_back({r.name, 1, r.at});
    int64_t count = 1;
    if (lex.raw() == ':') {
      lex.bump();
      if (!parseInteger(count)) return false;
      if (count < 1 || count > kMaxResults) return error("number of results out of range", r.at);
    }
    names.back().count = unsigned(count);
    o.numResultNames += unsigned(count);
  } while (lex.eat(","));
  return expect("=", "an operation");
}

/// An operation without its result names and location, in either form.
bool ParserState::parseOperationText(OpParse &o, Block *block) {
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.peek() == '"') {
    std::string quoted;
    if (!lex.string(quoted)) return error("the string does not end", at);
    return parseGenericOperation(block, quoted, at);
  }
  auto name = lex.identifier();
  if (name.empty()) {
    std::string found(1, lex.raw());
    return error("expected an operation" + (llvm::isPrint(found[0]) ? ", not '" + found + "'" : std::string()), at);
  }
  bool handled = false;
  o.at = at;
  bool ok = parseOlderForm(o, name, block, handled);
  if (handled) return ok;
  auto *info = o.info ? o.info : lookupOp(name == "module" ? "builtin.module" : name);
  if (!info) return unknownOperation(name, at);
  startOp(o, *info, at);
  if (info->has(kGenericForm)) return error("'" + name + "' is written in the generic form: \"" + name + "\"(…)", at);
  switch (info->opcode) {
  case Opcode::builtin_module: return parseModule(o, block);
  case Opcode::tt_func:
    if (parseFunc(o, block)) return true;
    // A function whose head is wrong is left out whole: its body knows none of its arguments.
    if (!o.inBody) skipFunctionBody();
    return false;
  case Opcode::scf_for: return parseFor(o, block);
  case Opcode::scf_if: return parseIf(o, block);
  case Opcode::scf_while: return parseWhile(o, block);
  case Opcode::scf_execute_region: return parseExecuteRegion(o, block);
  case Opcode::ttg_warp_specialize: return parseWarpSpecialize(o, block);
  case Opcode::ttg_convert_layout: return parseOlderConvertLayout(o, block);
  case Opcode::tt_broadcast: return parseBroadcast(o, block);
  default: return parseFormat(o, assemblyFormat(*info)) && build(o, block);
  }
}

/// Defines the names as the results of `op`, or as the values that an older form stands for. Null: no operation was
/// made.
bool ParserState::nameResults(const OpParse &o, Operation *op, llvm::ArrayRef<ResultName> names) {
  llvm::SmallVector<Value, 4> values;
  if (o.values)
    values.assign(o.values->begin(), o.values->end());
  else if (op)
    values = op->results().vec();
  if (o.numResultNames != values.size()) {
    llvm::StringRef what = op ? op->name() : "the operation";
    error("'" + what + "' gives " + counted(values.size(), "result") + " but " + llvm::Twine(o.numResultNames) +
              " are named",
          names[0].at);
    return markBad(names);
  }
  bool ok = true;
  auto rest = llvm::ArrayRef(values);
  for (auto &n : names) {
    ok &= define(n.name, rest.take_front(n.count), n.at);
    rest = rest.drop_front(n.count);
  }
  return ok;
}

/// The names of an operation with an error: their uses are not reported again.
bool ParserState::markBad(llvm::ArrayRef<ResultName> names) {
  for (auto &n : names) {
    if (!lookup(n.name)) scopes_.back()->values[n.name].bad = true;
    badNames_.insert(n.name);
  }
  return false;
}

bool ParserState::parseOperation(Block *block) {
  DepthGuard guard(*this);
  if (!guard.ok) return false;
  llvm::SmallVector<ResultName, 2> names;
  OpParse parse;
  if (lex.peek() == '%' && !parseResultNames(parse, names)) return markBad(names);
  Operation *last = block->back();
  Location loc;
  bool ok = parseOperationText(parse, block) && parseTrailingLocation(loc);
  if (!ok) {
    // Removes operations that an error left incomplete.
    while (block->back() != last) block->back()->erase();
    return markBad(names);
  }
  for (Operation *op = block->back(); op && op != last; op = op->prev()) op->setLoc(loc);
  if (names.empty()) return true;
  return nameResults(parse, block->back() != last ? block->back() : nullptr, names);
}

/// The text of the generic form: `"name"(%a) [^b] <{…}> ({…}) {…} : (…) -> …`.
bool ParserState::parseGenericText(OpParse &o, GenericParts &g) {
  if (!expect("(", "the generic form")) return false;
  if (!lex.lookingAt(")") && !parseOperandList(g.operands)) return false;
  if (!expect(")", "the generic form")) return false;
  if (lex.eat("[")) {
    do {
      lex.skipSpace();
      const char *at = lex.position();
      if (!expect("^", "successors")) return false;
      o.successors.push_back(blockNamed(lex.suffixIdentifier(), at));
    } while (lex.eat(","));
    if (!expect("]", "successors")) return false;
  }
  if (lex.lookingAt("<{")) {
    lex.eat("<");
    if (!parseOpAttrs(o) || !expect(">", "properties")) return false;
  }
  if (lex.eat("(")) {
    do {
      OperationState s(Opcode::unregistered, {});
      s.numRegions = 1;
      g.regions.push_back(module->createOperation(s));
      if (!parseRegionBody(g.regions.back()->region(0), {}, o.info->has(kIsolated))) return false;
    } while (lex.eat(","));
    if (!expect(")", "regions")) return false;
  }
  if (!parseOpAttrs(o)) return false;
  if (!expect(":", "the generic form")) return false;
  lex.skipSpace();
  const char *typesAt = lex.position();
  if (!parseFunctionalType(g.operandTypes, g.resultTypes)) return false;
  if (g.operandTypes.size() != g.operands.size())
    return error("'" + g.name + "' has " + counted(g.operands.size(), "operand") + " but its type gives " +
                     llvm::Twine(g.operandTypes.size()),
                 typesAt);
  return true;
}

/// Moves the attributes to the operation; those that give the sizes of operand groups become its segments.
bool ParserState::takeGenericAttrs(const OpParse &o, const GenericParts &g, OperationState &s) {
  bool registered = o.info->opcode != Opcode::unregistered;
  for (auto &a : o.attrs) {
    bool ofOperands = a.name == "operandSegmentSizes" || a.name == "operand_segment_sizes";
    if (!ofOperands && a.name != "resultSegmentSizes") {
      s.attrs.push_back(a);
      continue;
    }
    auto sizes = a.value.dyn_cast<DenseArrayAttr>();
    if (!sizes) return error("'" + a.name + "' must be array<i32: …>", o.at);
    if (!ofOperands) continue;
    int64_t sum = 0;
    for (auto v : sizes.values()) {
      if (v < 0 || v > int64_t(g.operands.size())) return error("segment size out of range", o.at);
      sum += v;
      s.segments.push_back(v);
    }
    bool fits = sum == int64_t(g.operands.size()) && (!registered || s.segments.size() == o.info->operands.size());
    if (!fits) return error("the segment sizes do not match the operands", o.at);
    if (!registered) s.attrs.push_back(a); // its operands have no groups: an attribute like others
  }
  if (!o.info->needsSegments()) s.segments.clear();
  if (o.info->needsSegments() && s.segments.empty()) return error("'" + g.name + "' needs operandSegmentSizes", o.at);
  return true;
}

/// The numbers of operands, results, regions and successors, against the row's.
bool ParserState::checkGenericCounts(const OpParse &o, const GenericParts &g) {
  auto &info = *o.info;
  if (info.opcode == Opcode::unregistered) return true;
  auto isFixed = [](auto &v) { return v.arity == Arity::One; };
  auto outOfRange = [](size_t given, size_t fixed, bool open) { return given < fixed || (!open && given > fixed); };
  size_t fixed = llvm::count_if(info.operands, isFixed);
  bool open = !llvm::all_of(info.operands, isFixed);
  if (outOfRange(g.operands.size(), fixed, open))
    return error("'" + g.name + "' takes " + llvm::Twine(fixed) + (open ? " or more" : "") + " operands, not " +
                     llvm::Twine(g.operands.size()),
                 o.at);
  size_t fixedResults = llvm::count_if(info.results, isFixed);
  if (outOfRange(g.resultTypes.size(), fixedResults, !llvm::all_of(info.results, isFixed)))
    return error("'" + g.name + "' gives " + counted(fixedResults, "result") + ", not " +
                     llvm::Twine(g.resultTypes.size()),
                 o.at);
  if (info.numRegions != kAnyNumber && g.regions.size() > info.numRegions)
    return error(
        "'" + g.name + "' has " + counted(info.numRegions, "region") + ", not " + llvm::Twine(g.regions.size()), o.at);
  if (info.numSuccessors != kAnyNumber && o.successors.size() != info.numSuccessors)
    return error("'" + g.name + "' has " + counted(info.numSuccessors, "successor") + ", not " +
                     llvm::Twine(o.successors.size()),
                 o.at);
  return true;
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
  GenericParts g;
  g.name = name;
  if (!parseGenericText(o, g)) return false;

  bool registered = o.info->opcode != Opcode::unregistered;
  OperationState s(o.info->opcode, {});
  if (!registered) s.unregisteredName = ctx.intern(name);
  for (auto [ref, type] : llvm::zip(g.operands, g.operandTypes)) {
    Value v = resolve(ref, type);
    if (!v) return false;
    if (v.type() != type)
      return error("'%" + ref.name + "' has type " + v.type().str() + ", not " + type.str(), ref.at);
    s.operands.push_back(v);
  }
  s.resultTypes.assign(g.resultTypes.begin(), g.resultTypes.end());
  if (registered && !finishAttrs(o)) return false;
  if (!takeGenericAttrs(o, g, s) || !checkGenericCounts(o, g)) return false;
  bool anyRegions = o.info->numRegions == kAnyNumber;
  s.numRegions = anyRegions ? g.regions.size() : std::max<unsigned>(o.info->numRegions, g.regions.size());
  s.successors = o.successors;
  Operation *op = emit(s, block, at);
  for (unsigned i = 0; i < g.regions.size(); ++i) op->region(i).takeBody(g.regions[i]->region(0));
  return true;
}

// ---- the whole input ------------------------------------------------------------------------------------------------

/// What a text is that surely is not IR, by its beginning: files that are given in place of a kernel's. Null: it may be
/// IR.
static const char *foreignText(llvm::StringRef text) {
  while (text.starts_with("//") || (!text.empty() && llvm::isSpace(text.front()))) // PTX begins with comments
    text = text.starts_with("//") ? text.split('\n').second : text.drop_front();
  const char *python = "Python: docs/from_triton.md says how to get the TTIR of a kernel";
  const std::pair<llvm::StringLiteral, const char *> foreign[] = {
      {"\"\"\"", python},
      {"import ", python},
      {"from ", python},
      {"@triton", python},
      {"; ModuleID", "LLVM IR, which is what `--emit llir` makes"},
      {".version", "PTX, which is what `--emit ptx` makes"},
      {".amdgcn_target", "assembly, which is what `--emit amdgcn` makes"},
      {"\177ELF", "an object, which is what `--emit cubin` and `--emit hsaco` make"},
      {"ML\357R", "MLIR's bytecode: `triton-opt` prints it as text"},
  };
  bool isResources = text.starts_with("{-#"); // a section of MLIR's
  if (text.starts_with("{") && !isResources) return "JSON: a launch description is for `tessera run`";
  for (auto [start, what] : foreign)
    if (text.starts_with(start)) return what;
  return nullptr;
}

bool ParserState::parseTop() {
  llvm::StringRef text(lex.begin(), lex.end() - lex.begin());
  const char *foreign = foreignText(text);
  bool isBinary = text.take_front(4096).contains('\0');
  if (foreign || isBinary) {
    Diagnostic d = makeError(foreign ? llvm::Twine("this is not TTIR or TTGIR but ") + foreign
                                     : "this is not text: it has NUL bytes",
                             lex.begin());
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
