// Operations by the assembly formats of the op table (see printer_state.h).
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

} // namespace tessera::ir::printing
