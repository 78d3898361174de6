// Operations by the assembly formats of the op table, and the forms that are written by hand (see printer_state.h).
#include "ir/printer_state.h"

namespace tessera::ir::printing {

void Printer::literal(llvm::StringRef t) {
  // Commas, closing brackets and parentheses hug what stands before them, opening ones what follows.
  bool hugsLeft = t == "," || t == ")" || t == "]" || t == "(" || t == "[";
  if (!hugsLeft || (t == "[" && afterComma_)) space();
  o << t;
  tight_ = t == "(" || t == "[";
  afterComma_ = t == ",";
}

void Printer::space() {
  if (!tight_) o << " ";
  tight_ = false;
  afterComma_ = false;
}

void Printer::format(Operation *op, const std::vector<FormatElement> &elements) {
  auto &info = op->info();
  tight_ = false;
  afterComma_ = false;
  for (auto &e : elements) formatElement(op, info, e);
}

void Printer::formatElement(Operation *op, const OpInfo &info, const FormatElement &e) {
  switch (e.kind) {
  case FormatElement::Literal: literal(e.text); break;
  case FormatElement::Operand: {
    auto g = op->operandGroup(e.index);
    if (g.empty()) break;
    space();
    values(g);
    break;
  }
  case FormatElement::Attr: {
    if (info.attrs[e.index].rule == AttrRule::Unit) break; // the keyword of its group says it
    space();
    attrValue(op, info.attrs[e.index]);
    break;
  }
  case FormatElement::OperandType: {
    auto g = op->operandGroup(e.index);
    if (g.empty()) break;
    space();
    types(g, e.stripped);
    break;
  }
  case FormatElement::ResultType:
    space();
    types(op->resultGroup(e.index), e.stripped);
    break;
  case FormatElement::AllTypes:
    space();
    types(op->operands());
    break;
  case FormatElement::Functional:
    space();
    functional(op);
    break;
  case FormatElement::AttrDict:
    attrDict(op);
    tight_ = false;
    break;
  case FormatElement::OptionalGroup: {
    auto *anchor = groupAnchor(e);
    bool present = false;
    if (anchor) {
      if (anchor->kind == FormatElement::Attr) {
        present = op->hasAttr(info.attrs[anchor->index].name);
        // A value that is the default is not shown.
        auto &spec = info.attrs[anchor->index];
        if (present && spec.hasDefault)
          if (auto v = op->attr<IntegerAttr>(spec.name); v && v.sext() == spec.defaultValue) present = false;
      } else if (anchor->kind == FormatElement::ResultType)
        present = !op->resultGroup(anchor->index).empty();
      else
        present = !op->operandGroup(anchor->index).empty();
    }
    if (present)
      for (auto &inner : e.group) formatElement(op, info, inner);
    break;
  }
  case FormatElement::Custom: custom(op, e.text); break;
  }
}

void Printer::attrValue(Operation *op, const AttrSpec &spec) {
  Attribute a = op->attr(spec.name);
  if (spec.rule == AttrRule::Enum) {
    o << enumName(*spec.enumInfo, a ? a.cast<IntegerAttr>().sext() : spec.defaultValue);
    return;
  }
  if (!a) {
    o << spec.defaultValue;
    return;
  }
  if (spec.rule == AttrRule::Unit) return;
  if (auto i = a.dyn_cast<IntegerAttr>())
    element(i.type(), i.value());
  else if (auto d = a.dyn_cast<DenseArrayAttr>(); d && spec.rule == AttrRule::Any) {
    o << "[";
    llvm::interleaveComma(d.values(), o);
    o << "]";
  } else
    attribute(a);
}

void Printer::custom(Operation *op, llvm::StringRef name) {
  tight_ = false;
  if (name == "CacheEvict" || name == "Cache") {
    for (auto [attr, key] : {std::pair("cache", "cacheModifier"), std::pair("evict", "evictionPolicy")}) {
      auto *spec = op->info().attr(attr);
      auto a = op->attr<IntegerAttr>(attr);
      if (!spec || !a || a.sext() == spec->defaultValue) continue;
      o << " " << key << " = " << enumName(*spec->enumInfo, a.sext());
    }
  } else if (name == "Overflow")
    flags(op, "overflowFlags", "overflow", kOverflowFlags, ", ");
  else if (name == "FastMath")
    flags(op, "fastmath", "fastmath", kFastMathFlags, ",");
  else if (name == "Constant") {
    attrDict(op, {"value"});
    o << " ";
    attribute(op->attr("value"));
  } else if (name == "Select") {
    auto s = op->cast<arith::SelectOp>();
    o << " ";
    values(op->operands());
    attrDict(op);
    o << " : ";
    if (s.condition().type().isTensor()) {
      type(s.condition().type());
      o << ", ";
    }
    type(s.result().type());
  } else if (name == "Module") {
    if (auto n = op->attr<StringAttr>("sym_name")) o << " ", symbol(n.value());
    attrDict(op, {}, true);
    o << " ";
    region(op->region(0), false);
  } else if (name == "Func")
    function(op);
  else if (name == "For")
    forLoop(op);
  else if (name == "If")
    ifOp(op);
  else if (name == "While")
    whileOp(op);
  else if (name == "ExecuteRegion") {
    if (op->numResults() == 1) {
      o << " -> ";
      types(op->results());
    } else
      resultTypes(op);
    if (op->hasAttr("no_inline")) o << " no_inline";
    o << " ";
    body(op->region(0), false, false);
    attrDict(op);
  } else if (name == "Br") {
    successor(op->successor(0), op->operands());
    attrDict(op);
  } else if (name == "CondBr") {
    auto c = op->cast<cf::CondBrOp>();
    o << " ";
    value(c.condition());
    attrDict(op);
    o << ",";
    successor(op->successor(0), c.trueArgs());
    o << ",";
    successor(op->successor(1), c.falseArgs());
  } else if (name == "MemDescSubslice") {
    auto s = op->cast<ttg::MemdescSubsliceOp>();
    o << " ";
    value(s.src());
    o << "[";
    llvm::interleaveComma(s.offsets(), o);
    o << "]";
    attrDict(op);
    o << " : ";
    type(s.src().type());
    o << " -> ";
    type(s.result().type());
  } else if (name == "Barrier") {
    int64_t mask = op->cast<ttg::BarrierOp>().addrSpace();
    static constexpr std::pair<int, const char *> names[] = {
        {1, "local"}, {2, "global_read"}, {4, "global_write"}, {8, "tensor_read"}, {16, "tensor_write"}};
    o << " ";
    if (mask == 0)
      o << "none";
    else if (mask == 31)
      o << "all";
    else {
      bool first = true;
      for (auto [bit, n] : names)
        if (mask & bit) {
          o << (first ? "" : "|") << n;
          first = false;
        }
    }
    attrDict(op);
  } else if (name == "TcGen5Mma" || name == "TcGen5MmaScaled") {
    mma5(op, name == "TcGen5MmaScaled");
  } else if (name == "WarpSpecialize") {
    warpSpecialize(op);
  } else if (name == "BufferLoadToLocal") {
    auto l = op->cast<amdg::BufferLoadToLocalOp>();
    o << " ";
    value(l.ptr());
    o << "[";
    value(l.offsets());
    o << "]";
    for (auto [key, v] :
         {std::pair("mask", l.mask()), std::pair("other", l.other()), std::pair("stride", l.stride())})
      if (v) {
        o << " " << key << " = ";
        value(v);
      }
    custom(op, "Cache");
    o << " into ";
    value(l.dest());
    attrDict(op);
    o << " : ";
    type(l.ptr().type(), true);
    o << "[";
    type(l.offsets().type());
    o << "]";
    o << " "; // also where no type of `other` follows, as Triton prints it
    if (l.other()) type(l.other().type());
    o << " -> ";
    type(l.dest().type(), true);
  } else if (name == "TokenDep") {
    token(op, op->operandGroup(1)); // the row's dep operand
  } else if (name == "DotScaled") {
    auto d = op->cast<tt::DotScaledOp>();
    o << " ";
    value(d.a());
    if (d.aScale()) o << " scale ", value(d.aScale());
    o << ", ";
    value(d.b());
    if (d.bScale()) o << " scale ", value(d.bScale());
    o << ", ";
    value(d.c());
    o << " lhs = ";
    attrValue(op, *op->info().attr("a_elem_type"));
    o << " rhs = ";
    attrValue(op, *op->info().attr("b_elem_type"));
    attrDict(op);
    o << " : ";
    type(d.a().type());
    if (d.aScale()) o << ", ", type(d.aScale().type());
    o << " * ";
    type(d.b().type());
    if (d.bScale()) o << ", ", type(d.bScale().type());
    o << " -> ";
    type(d.d().type());
  } else
    genericTail(op); // forms that have no printer of their own fall back on the generic one's pieces
}

OperandRange Printer::operandsNamed(Operation *op, llvm::StringRef name) {
  auto &specs = op->info().operands;
  for (unsigned i = 0; i < specs.size(); ++i)
    if (specs[i].name == name) return op->operandGroup(i);
  return {};
}

void Printer::mma5(Operation *op, bool scaled) {
  auto one = [&](llvm::StringRef name) { return operandsNamed(op, name)[0]; };
  o << " ";
  value(one("a"));
  o << ", ";
  value(one("b"));
  o << ", ";
  value(one("d"));
  token(op, operandsNamed(op, "acc_dep"));
  llvm::SmallVector<llvm::StringRef, 4> rest;
  if (scaled) rest.append({"a_scale", "b_scale"});
  rest.append({"useD", "pred"});
  for (auto n : rest) {
    o << ", ";
    value(one(n));
  }
  if (scaled) {
    o << " lhs = ";
    attrValue(op, *op->info().attr("a_type"));
    o << " rhs = ";
    attrValue(op, *op->info().attr("b_type"));
  }
  auto barriers = operandsNamed(op, "barriers"), preds = operandsNamed(op, "barrier_preds");
  for (unsigned i = 0; i < barriers.size(); ++i) {
    o << ", ";
    value(barriers[i]);
    if (i >= preds.size()) continue;
    o << "[";
    value(preds[i]);
    o << "]";
  }
  attrDict(op);
  o << " : ";
  type(one("a").type());
  llvm::SmallVector<llvm::StringRef, 4> typed = {"b", "d"};
  if (scaled) typed.append({"a_scale", "b_scale"});
  for (auto n : typed) {
    o << ", ";
    type(one(n).type());
  }
  for (Value b : barriers) {
    o << ", ";
    type(b.type());
  }
}

void Printer::token(Operation *op, OperandRange dep) {
  if (!dep.empty()) {
    o << "[";
    values(dep);
    o << "]";
  } else if (op->numResults() && op->result(op->numResults() - 1).type().isa<AsyncTokenType>())
    o << "[]";
}

void Printer::warpSpecialize(Operation *op) {
  auto w = op->cast<ttg::WarpSpecializeOp>();
  o << "(";
  values(op->operands());
  o << ")";
  attrDict(op, {}, true);
  newline(indent_);
  o << "default ";
  body(op->region(0), false, false);
  Block *holder = op->region(1).front();
  auto warps = w.partitionNumWarps();
  if (holder && holder->front())
    for (auto [i, r] : llvm::enumerate(holder->front()->regions())) {
      newline(indent_);
      o << "partition" << i << "(";
      if (Block *entry = r.front())
        for (unsigned k = 0; k < entry->numArgs(); ++k) {
          if (k) o << ", ";
          blockArg(entry->arg(k).impl());
          argLocation(entry->arg(k).impl());
        }
      o << ") num_warps(" << (i < warps.size() ? warps[i] : 0) << ") ";
      body(r, false, false);
    }
  o << " : ";
  functional(op);
}

void Printer::genericTail(Operation *op) {
  o << " ";
  values(op->operands());
  attrDict(op);
  o << " : ";
  functional(op);
}

void Printer::flags(Operation *op, llvm::StringRef attr, llvm::StringRef key, FlagNames names, const char *separator) {
  auto a = op->attr<IntegerAttr>(attr);
  if (!a || !a.sext()) return;
  std::string text;
  appendFlags(text, names, a.sext(), separator);
  o << " " << key << "<" << text << ">";
}

void Printer::successor(Block *b, OperandRange args) {
  o << " ^bb" << b->number();
  if (args.empty()) return;
  o << "(";
  values(args);
  o << " : ";
  types(args);
  o << ")";
}

void Printer::resultTypes(Operation *op) {
  if (!op->numResults()) return;
  o << " -> (";
  types(op->results());
  o << ")";
}

} // namespace tessera::ir::printing
