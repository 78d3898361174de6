// The assembly formats of the op table, interpreted: from an operation's text to its operands, types and attributes
// as they are written (ParserState::OpParse). The printer interprets the same formats (ir/print_formats.cpp).
#include "frontend/parser_state.h"
#include "ir/ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {
using namespace ir;

// ---- formats --------------------------------------------------------------------------------------------------------

bool ParserState::parseFormat(OpParse &o, const std::vector<FormatElement> &es) {
  for (const FormatElement &e : es) {
    if (o.ended) return true;
    if (!parseElementOf(o, e)) return false;
  }
  return true;
}

static bool eatLiteral(Lexer &lex, llvm::StringRef t) { return llvm::isAlpha(t[0]) ? lex.eatWord(t) : lex.eat(t); }

/// An attribute as the format writes it: a keyword, a number, or any attribute.
bool ParserState::parseFormatAttr(OpParse &o, const AttrSpec &spec) {
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
      return error("expected '" + spec.name + "' of '" + o.info->name + "' to be one of: " + list, at);
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

/// Whether an optional group's first element can start here.
bool ParserState::startsHere(const FormatElement &group) {
  auto &first = group.group[0];
  if (first.kind == FormatElement::Operand) return lex.peek() == '%' && !atDefinition();
  if (first.kind != FormatElement::Literal) return true;
  const char *back = lex.position();
  if (!eatLiteral(lex, first.text)) return false;
  bool present = true;
  // `,` may belong to what follows the group: the element after it decides.
  if (group.group.size() > 1) {
    auto &second = group.group[1];
    if (second.kind == FormatElement::Operand)
      present = lex.peek() == '%';
    else if (second.kind == FormatElement::Literal)
      present = llvm::isAlpha(second.text[0]) ? lex.lookingAtWord(second.text) : lex.lookingAt(second.text);
  }
  lex.seek(back);
  return present;
}

static bool isBufferAccess(Opcode opcode) {
  return opcode == Opcode::amdg_buffer_load || opcode == Opcode::amdg_buffer_store ||
         opcode == Opcode::amdg_buffer_atomic_rmw || opcode == Opcode::amdg_buffer_atomic_cas;
}

/// The type of an operand or a result. Triton 3.9 prints that of a buffer access's pointer before it:
/// `!tt.ptr<f32> -> tensor<16xf32, #blocked>`.
Type ParserState::parseFormatType(OpParse &o, TypeRule rule) {
  Type t = parseMaybeStripped(rule);
  if (!t || !isBufferAccess(o.info->opcode) || !lex.eat("->")) return t;
  auto isPointer = [](const ValueSpec &operand) { return operand.name == "ptr"; };
  o.operandTypes[llvm::find_if(o.info->operands, isPointer) - o.info->operands.begin()] = {t};
  return parseMaybeStripped(rule);
}

bool ParserState::parseElementOf(OpParse &o, const FormatElement &e) {
  auto &info = *o.info;
  switch (e.kind) {
  case FormatElement::Literal:
    if (eatLiteral(lex, e.text)) return true;
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
  case FormatElement::Attr: return parseFormatAttr(o, info.attrs[e.index]);
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
      Type t = parseFormatType(o, spec.rule);
      if (!t) return false;
      o.operandTypes[e.index].push_back(t);
    } while (spec.arity == Arity::Variadic && o.operandTypes[e.index].size() < o.operands[e.index].size() &&
             lex.eat(","));
    return true;
  }
  case FormatElement::ResultType: {
    auto &spec = info.results[e.index];
    do {
      Type t = parseFormatType(o, spec.rule);
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
  case FormatElement::OptionalGroup: return !startsHere(e) || parseFormat(o, e.group);
  case FormatElement::Custom: return parseCustom(o, e.text);
  }
  return true;
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

/// Triton 3.9 has the modifier and the policy of a memory access in one attribute,
/// `cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>`. Gluon's `#ttng.cache_policy`
/// has hints for caches besides, which are left out.
bool ParserState::takeCachePolicy(OpParse &o, Attribute policy, const char *at) {
  auto opaque = policy.dyn_cast<OpaqueAttr>();
  llvm::StringRef text = opaque ? opaque.text() : "";
  bool isPolicy =
      (text.consume_front("#tt.cache_policy<") || text.consume_front("#ttng.cache_policy<")) && text.consume_back(">");
  if (!isPolicy) return error("'cachePolicy' must be #tt.cache_policy<…>", at);
  if (o.hasAttr("cache") || o.hasAttr("evict"))
    return error("'cachePolicy' excludes 'cacheModifier' and 'evictionPolicy'", at);
  llvm::SmallVector<llvm::StringRef, 2> entries;
  text.split(entries, ',');
  for (llvm::StringRef entry : entries) {
    auto [key, value] = entry.split('=');
    key = key.trim();
    llvm::StringRef name = key == "cache_modifier" ? "cache" : key == "eviction_policy" ? "evict" : "";
    auto *spec = o.info->attr(name);
    if (!spec) continue;
    auto v = enumValue(*spec->enumInfo, value.trim());
    if (!v) return error("unknown value '" + value.trim() + "' of '" + key + "'", at);
    o.setAttr(ctx, spec->name, IntegerAttr::getI32(ctx, *v));
  }
  return true;
}

/// The value of an attribute in the form of the op table's row, where older dumps, the generic form or a dictionary
/// write another; null: the attribute says nothing (a unit attribute that is `false`). Values of other kinds stay, for
/// the verifier.
static Attribute inFormOfRow(Context &ctx, const AttrSpec &spec, Attribute value) {
  if (auto number = value.dyn_cast<IntegerAttr>()) {
    if (spec.rule == AttrRule::Unit && number.isBool())
      return number.value().isZero() ? Attribute() : UnitAttr::get(ctx);
    if (spec.rule == AttrRule::Enum && number.value().getSignificantBits() <= 32)
      return IntegerAttr::getI32(ctx, number.sext());
    return value;
  }
  if (auto word = value.dyn_cast<StringAttr>(); word && spec.rule == AttrRule::Enum) {
    auto v = enumValue(*spec.enumInfo, word.value());
    return v ? IntegerAttr::getI32(ctx, *v) : value;
  }
  if (auto flags = value.dyn_cast<OpaqueAttr>(); flags && spec.rule == AttrRule::I32) {
    auto bits = flagBits(flags.text());
    return bits ? IntegerAttr::getI32(ctx, *bits) : value;
  }
  if (auto dense = value.dyn_cast<DenseElementsAttr>(); dense && spec.rule == AttrRule::DenseI32) {
    llvm::SmallVector<int64_t, 8> values;
    if (dense.type().element().isInteger() && dense.type().bitWidth() <= 64 && dense.size() <= 64)
      for (unsigned i = 0; i < dense.size(); ++i) values.push_back(dense.element(i).getSExtValue());
    return values.empty() ? value : DenseArrayAttr::getI32(ctx, values);
  }
  return value;
}

/// Reports an attribute that the operation's row does not have: an error if the name is nearly one of the row's, which
/// is most likely a slip, else a warning: it may be a newer Triton's. A dialect's prefix (`tool.note`) makes an
/// attribute somebody else's, of which nothing is said.
bool ParserState::acceptUnknownAttr(const OpParse &o, llvm::StringRef name, const char *at) {
  const OpInfo &info = *o.info;
  // Without a prefix, and in no row: the segment sizes of the generic form, and what Triton writes on functions.
  bool isKnown = name == "operandSegmentSizes" || name == "resultSegmentSizes" ||
                 (info.opcode == Opcode::tt_func && name == "noinline");
  if (isKnown || name.contains('.')) return true;
  for (auto &spec : info.attrs) {
    bool isNear = name.size() > 3 && name.edit_distance(spec.name, true, 3) <= (name.size() > 5 ? 2u : 1u);
    if (!isNear || o.hasAttr(spec.name)) continue;
    Diagnostic d = makeError("'" + info.name + "' has no attribute '" + name + "'", at);
    d.note("did you mean '" + spec.name + "'?");
    return report(std::move(d));
  }
  warnOfAttribute(info.name, name, at);
  return true;
}

bool ParserState::finishAttrs(OpParse &o) {
  auto &info = *o.info;
  auto positionOfName = [&](llvm::StringRef name) {
    for (auto &[n, at] : o.attrNames)
      if (n == name) return at;
    return o.at;
  };
  if (Attribute policy = o.attr("cachePolicy"); policy && info.attr("cache")) {
    if (!takeCachePolicy(o, policy, positionOfName("cachePolicy"))) return false;
    llvm::erase_if(o.attrs, [](auto &a) { return a.name == "cachePolicy"; });
  }
  llvm::SmallVector<NamedAttribute, 8> kept;
  for (auto a : o.attrs) {
    if (a.name.starts_with("triton_gpu.")) a.name = ctx.intern(("ttg." + a.name.drop_front(11)).str());
    if (info.opcode == Opcode::tt_dot && (a.name == "allowTF32" || a.name == "transA" || a.name == "transB")) {
      auto flag = a.value.dyn_cast<IntegerAttr>();
      bool isTrue = flag && !flag.value().isZero();
      if (a.name != "allowTF32" && isTrue)
        return error("transposed operands of the older tt.dot are not supported; use tt.trans", positionOfName(a.name));
      if (isTrue) kept.push_back({ctx.intern("inputPrecision"), IntegerAttr::getI32(ctx, int(InputPrecision::Tf32))});
      continue;
    }
    if (auto *spec = info.attr(a.name))
      a.value = inFormOfRow(ctx, *spec, a.value);
    else if (!acceptUnknownAttr(o, a.name, positionOfName(a.name)))
      return false;
    if (a.value) kept.push_back(a);
  }
  o.attrs = kept;
  olderDefaults(o);
  for (auto &spec : info.attrs)
    if (!spec.optional && !spec.hasDefault && !o.hasAttr(spec.name))
      return error("'" + info.name + "' needs attribute '" + spec.name + "'", o.at);
  return true;
}

} // namespace tessera::frontend
