// The printer (see printer.h). A module is printed twice: first into nothing, to learn in which order layouts and
// locations are met and so which aliases they get, then for real. Names of values: printer_names.h.
#include "ir/loops.h"
#include "ir/printer_state.h"

namespace tessera::ir {
namespace printing {

void Printer::shape(llvm::ArrayRef<int64_t> s) {
  for (auto d : s) o << d << "x";
}

void Printer::block(Block *b, bool header) {
  if (header) {
    newline(indent_ - 1);
    o << "^bb" << placeOf(b).number;
    if (b->numArgs()) {
      o << "(";
      for (unsigned i = 0; i < b->numArgs(); ++i) {
        if (i) o << ", ";
        blockArg(b->arg(i).impl());
        argLocation(b->arg(i).impl());
      }
      o << ")";
    }
    o << ":";
    if (b->parent()->front() != b) predecessors(b);
  }
  for (auto &op : *b) {
    if (skip_ == &op) continue;
    newline(indent_);
    operation(&op);
  }
}

const Printer::BlockPlace &Printer::placeOf(Block *b) {
  if (auto found = places_.find(b); found != places_.end()) return found->second;
  Region *region = b->parent();
  if (!region) return places_[b]; // of an operation that is still being built
  unsigned number = 0;
  for (Block *other : region->blocks()) places_[other].number = number++;
  for (Block *from : region->blocks()) {
    unsigned place = places_[from].number;
    for (Block *to : from->successors()) {
      auto &predecessors = places_[to].predecessors;
      if (predecessors.empty() || predecessors.back() != place) predecessors.push_back(place);
    }
  }
  return places_[b];
}

void Printer::predecessors(Block *b) {
  llvm::ArrayRef<unsigned> from = placeOf(b).predecessors;
  if (from.empty())
    o << "  // no predecessors";
  else if (from.size() == 1)
    o << "  // pred: ^bb" << from[0];
  else {
    o << "  // " << from.size() << " preds: ";
    llvm::interleaveComma(from, o, [&](unsigned place) { o << "^bb" << place; });
  }
}

void Printer::region(Region &r, bool entryArgs, bool implicitEnd) {
  o << "{";
  ++indent_;
  for (auto *b = r.front(); b; b = b->next()) {
    auto *was = skip_;
    if (implicitEnd && r.hasOneBlock() && b->back() && b->back()->is<scf::YieldOp>() && !b->back()->numOperands())
      skip_ = b->back();
    block(b, b != r.front() || (entryArgs && b->numArgs()));
    skip_ = was;
  }
  --indent_;
  newline(indent_);
  o << "}";
}

void Printer::newline(int indent) {
  o << "\n";
  o.indent(indent * 2);
}

void Printer::attrDict(Operation *op, llvm::ArrayRef<llvm::StringRef> alsoPrinted, bool keyword) {
  llvm::SmallVector<NamedAttribute, 8> left;
  auto &info = op->info();
  for (auto &a : op->attrs()) {
    if (llvm::is_contained(alsoPrinted, a.name)) continue;
    bool shown = true;
    for (unsigned i = 0; i < info.attrs.size(); ++i) {
      if (info.attrs[i].name != a.name) continue;
      if (formatPrintsAttr(info, i))
        shown = false;
      else if (info.attrs[i].hasDefault)
        if (auto v = a.value.dyn_cast<IntegerAttr>();
            v && (v.isBool() ? int64_t(v.zext()) : v.sext()) == info.attrs[i].defaultValue)
          shown = false;
    }
    if (shown) left.push_back(a);
  }
  if (left.empty()) return;
  o << (keyword ? " attributes " : " ");
  dictionary(left);
}

void Printer::operation(Operation *op, bool skipRegions) {
  if (aliases_ && aliases_->collecting && options_.locations) collect(op->loc(), true);
  skipRegions_ = skipRegions;
  if (op->numResults()) {
    auto &specs = op->info().results;
    bool separate = specs.size() > 1 && specs.size() == op->numResults();
    for (unsigned i = 0; i < (separate ? op->numResults() : 1); ++i) {
      if (i) o << ", ";
      o << "%" << names_->base(op->result(i));
    }
    if (!separate && op->numResults() > 1) o << ":" << op->numResults();
    o << " = ";
  }
  if (options_.genericForm || op->info().has(kGenericForm))
    generic(op);
  else {
    o << (op->opcode() == Opcode::builtin_module ? llvm::StringRef("module") : op->name());
    format(op, assemblyFormat(op->info()));
  }
  trailingLocation(op);
}

void Printer::generic(Operation *op) {
  string(op->name());
  o << "(";
  values(op->operands());
  o << ")";
  if (op->numSuccessors()) {
    o << "[";
    llvm::interleaveComma(op->successors(), o, [&](Block *b) { o << "^bb" << placeOf(b).number; });
    o << "]";
  }
  llvm::SmallVector<NamedAttribute, 8> inherent, other;
  auto &info = op->info();
  for (auto &a : op->attrs()) (info.attr(a.name) ? inherent : other).push_back(a);
  for (auto &spec : info.attrs) // generic form prints defaults as well
    if (spec.hasDefault && !op->hasAttr(spec.name)) {
      auto &c = op->context();
      Attribute v = spec.rule == AttrRule::Bool  ? IntegerAttr::getBool(c, spec.defaultValue)
                    : spec.rule == AttrRule::I64 ? IntegerAttr::get(c.i64(), spec.defaultValue)
                                                 : IntegerAttr::getI32(c, spec.defaultValue);
      inherent.push_back({spec.name, v});
    }
  if (!op->operandSegments().empty()) {
    llvm::SmallVector<int64_t, 4> s(op->operandSegments().begin(), op->operandSegments().end());
    inherent.push_back({"operandSegmentSizes", DenseArrayAttr::getI32(op->context(), s)});
  }
  if (!inherent.empty()) {
    for (auto &a : inherent) a.value = asInMlir(op, a);
    o << " <";
    dictionary(inherent);
    o << ">";
  }
  if (op->numRegions()) {
    o << " (";
    for (unsigned i = 0; i < op->numRegions(); ++i) {
      if (i) o << ", ";
      if (skipRegions_)
        o << "{...}";
      else
        region(op->region(i), true);
    }
    o << ")";
  }
  if (!other.empty()) {
    o << " ";
    dictionary(other);
  }
  o << " : ";
  functional(op);
}

Attribute Printer::asInMlir(Operation *op, const NamedAttribute &a) {
  auto i = a.value.dyn_cast<IntegerAttr>();
  if (!i) return a.value;
  auto &c = op->context();
  if (a.name == "predicate") return IntegerAttr::get(c.i64(), i.sext());
  bool overflow = a.name == "overflowFlags";
  if (!overflow && a.name != "fastmath") return a.value;
  std::string text = overflow ? "#arith.overflow<" : "#arith.fastmath<";
  appendFlags(text, overflow ? FlagNames(kOverflowFlags) : FlagNames(kFastMathFlags), i.sext(), overflow ? ", " : ",");
  return OpaqueAttr::get(c, text + ">");
}

void Printer::appendFlags(std::string &text, FlagNames names, int64_t bits, const char *separator) {
  bool first = true;
  for (auto [bit, n] : names)
    if (bits & bit && bits != 127) {
      text += first ? "" : separator;
      text += n;
      first = false;
    }
  if (first) text += bits == 127 ? "fast" : "none";
}

void Printer::functional(Operation *op) {
  o << "(";
  types(op->operands());
  o << ") -> ";
  bool paren = op->numResults() != 1;
  if (paren) o << "(";
  types(op->results());
  if (paren) o << ")";
}

void Printer::body(Region &r, bool entryArgs, bool implicitEnd) {
  if (skipRegions_)
    o << "{...}";
  else
    region(r, entryArgs, implicitEnd);
}

void Printer::function(Operation *op) {
  auto f = op->cast<tt::FuncOp>();
  if (!f.symVisibility().empty()) o << " " << f.symVisibility();
  o << " ";
  symbol(f.symName());
  o << "(";
  auto type_ = f.functionType().cast<FunctionType>();
  auto argAttrs = op->attr<ArrayAttr>("arg_attrs"), resAttrs = op->attr<ArrayAttr>("res_attrs");
  auto dict = [&](ArrayAttr list, unsigned i) {
    if (!list || i >= list.size()) return;
    auto d = list[i].cast<DictionaryAttr>();
    if (!d.entries().empty()) {
      o << " ";
      dictionary(d.entries());
    }
  };
  Block *entry = f.body().front();
  for (unsigned i = 0; i < type_.numInputs(); ++i) {
    if (i) o << ", ";
    if (entry)
      blockArg(entry->arg(i).impl());
    else
      type(type_.input(i));
    dict(argAttrs, i);
    if (entry) argLocation(entry->arg(i).impl());
  }
  o << ")";
  if (type_.numResults()) {
    o << " -> ";
    bool paren = type_.numResults() != 1 || (resAttrs && resAttrs.size());
    if (paren) o << "(";
    for (unsigned i = 0; i < type_.numResults(); ++i) {
      if (i) o << ", ";
      type(type_.result(i));
      dict(resAttrs, i);
    }
    if (paren) o << ")";
  }
  attrDict(op, {}, true);
  if (!entry) return;
  o << " ";
  body(f.body(), false, false);
}

void Printer::forLoop(Operation *op) {
  auto f = op->cast<scf::ForOp>();
  Block *b = f.body().front();
  if (f.unsignedCmp()) o << " unsigned";
  o << " ";
  value(inductionVariable(f));
  o << " = ";
  value(f.lowerBound());
  o << " to ";
  value(f.upperBound());
  o << " step ";
  value(f.step());
  if (!f.initArgs().empty()) {
    o << " iter_args(";
    for (unsigned i = 0; i < f.initArgs().size(); ++i) {
      if (i) o << ", ";
      value(carriedArgument(*b, i));
      o << " = ";
      value(f.initArgs()[i]);
    }
    o << ") -> (";
    types(f.initArgs());
    o << ")";
  }
  o << " ";
  if (Type counter = inductionVariable(f).type(); !counter.isIndex()) {
    o << " : ";
    type(counter);
    o << " ";
  }
  body(f.body(), false, true);
  attrDict(op);
}

void Printer::ifOp(Operation *op) {
  auto i = op->cast<scf::IfOp>();
  o << " ";
  value(i.condition());
  resultTypes(op);
  o << " ";
  bool implicitEnd = !op->numResults();
  body(i.thenRegion(), false, implicitEnd);
  if (!i.elseRegion().empty()) {
    o << " else ";
    body(i.elseRegion(), false, implicitEnd);
  }
  attrDict(op);
}

void Printer::whileOp(Operation *op) {
  auto w = op->cast<scf::WhileOp>();
  Block *before = w.before().front();
  if (!w.inits().empty()) {
    o << " (";
    for (unsigned i = 0; i < w.inits().size(); ++i) {
      if (i) o << ", ";
      value(before->arg(i));
      o << " = ";
      value(w.inits()[i]);
    }
    o << ")";
  }
  o << " : (";
  types(w.inits());
  o << ") -> ";
  bool paren = op->numResults() != 1;
  if (paren) o << "(";
  types(op->results());
  if (paren) o << ")";
  o << " ";
  body(w.before(), false, false);
  o << " do ";
  body(w.after(), true, false);
  attrDict(op, {}, true);
}

} // namespace printing

using namespace printing;

void print(const Module &m, llvm::raw_ostream &o, const PrintOptions &options) {
  Names names(m.op(), options.nameLocs, /*textKeeps=*/!options.locations);
  Aliases aliases;
  llvm::raw_null_ostream none;
  Printer(none, options, &aliases, &names).operation(m.op());
  aliases.number();
  Printer p(o, options, &aliases, &names);
  p.aliasDefinitions(false);
  p.operation(m.op());
  o << "\n";
  p.aliasDefinitions(true);
}

std::string printToString(const Module &m, const PrintOptions &options) {
  std::string s;
  llvm::raw_string_ostream o(s);
  print(m, o, options);
  return s;
}

std::string printOperation(Operation *op, const PrintOptions &options, bool skipRegions) {
  Operation *root = op;
  while (root->parentOp()) root = root->parentOp();
  Names names(root, options.nameLocs);
  std::string s;
  llvm::raw_string_ostream o(s);
  Printer(o, options, nullptr, &names).operation(op, skipRegions);
  return s;
}

void Type::print(llvm::raw_ostream &o) const { Printer(o, {}, nullptr, nullptr).type(*this); }
std::string Type::str() const {
  std::string s;
  llvm::raw_string_ostream o(s);
  print(o);
  return s;
}
void Attribute::print(llvm::raw_ostream &o) const { Printer(o, {}, nullptr, nullptr).attribute(*this); }
std::string Attribute::str() const {
  std::string s;
  llvm::raw_string_ostream o(s);
  print(o);
  return s;
}
llvm::raw_ostream &operator<<(llvm::raw_ostream &o, Type t) {
  t.print(o);
  return o;
}
llvm::raw_ostream &operator<<(llvm::raw_ostream &o, Attribute a) {
  a.print(o);
  return o;
}

} // namespace tessera::ir
