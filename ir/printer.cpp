// The printer (see printer.h). A module is printed twice: first into nothing, to learn in which order layouts and
// locations are met and so which aliases they get, then for real. SSA names follow MLIR: a value takes the name of its
// name location, else the one its operation suggests (%c256_i32, %cst), else a number; names that are taken get a
// suffix from a counter that nested regions continue and sibling regions share.
#include "ir/printer.h"
#include "ir/assembly_format.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <unordered_map>

namespace tessera::ir {

// ---- names ----------------------------------------------------------------------------------------------------------

namespace {

llvm::StringRef nameOf(Location l) {
  if (l.kind() == LocationKind::Name) return l.name();
  for (unsigned i = 0; i < l.numParts(); ++i)
    if (auto n = nameOf(l.part(i)); !n.empty()) return n;
  return {};
}

class Names {
public:
  /// `textKeeps`: only names that a text without locations keeps, those of loops' arguments.
  Names(Operation *root, bool nameLocs, bool textKeeps = false) : nameLocs_(nameLocs), textKeeps_(textKeeps) {
    State s;
    numberOp(root, s);
    regionsOf(root, s);
  }

  void print(Value v, llvm::raw_ostream &o) const {
    auto it = names_.find(v.impl());
    if (it == names_.end()) {
      o << "<<unknown>>";
      return;
    }
    o << "%" << it->second;
    if (auto g = groups_.find(v.impl()); g != groups_.end()) o << "#" << g->second;
  }
  /// The name without the `#N` of a result group.
  llvm::StringRef base(Value v) const {
    auto it = names_.find(v.impl());
    return it == names_.end() ? llvm::StringRef("<<unknown>>") : llvm::StringRef(it->second);
  }
  bool known(Value v) const { return names_.count(v.impl()); }

private:
  struct State {
    unsigned nextValue = 0, nextArg = 0, nextConflict = 0;
  };
  // Names in use, each with a count of the scopes that hold it; a region's names are dropped when it is done.
  void regionsOf(Operation *op, State s) {
    for (auto &r : op->regions()) {
      State inner = s;
      std::vector<std::string> mine;
      auto *outer = scope_;
      scope_ = &mine;
      for (auto *b = r.front(); b; b = b->next()) numberBlock(b, inner);
      for (auto *b = r.front(); b; b = b->next())
        for (auto &nested : *b) regionsOf(&nested, inner);
      for (auto &n : mine) used_.erase(n);
      scope_ = outer;
    }
  }
  static bool keepsNames(Block *b) {
    auto *loop = b->parentOp();
    return loop && (loop->is<scf::ForOp>() || loop->is<scf::WhileOp>()) && b->parent() == &loop->region(0);
  }
  void numberBlock(Block *b, State &s) {
    bool entry = !b->prev();
    for (auto *a : b->args()) {
      std::string name = entry ? "arg" + std::to_string(s.nextArg++) : "";
      bool named = nameLocs_ && (!textKeeps_ || keepsNames(b));
      if (auto n = named ? nameOf(a->loc) : llvm::StringRef(); !n.empty()) name = n.str();
      set(a, name, s);
    }
    for (auto &op : *b) numberOp(&op, s);
  }
  void numberOp(Operation *op, State &s) {
    unsigned n = op->numResults();
    if (!n) return;
    std::string name;
    if (nameLocs_ && !textKeeps_) name = nameOf(op->loc()).str();
    if (name.empty())
      if (auto c = op->dyn<arith::ConstantOp>()) name = constantName(c);
    // Operations with several results in their row name each group of them by it.
    if (auto &specs = op->info().results; name.empty() && specs.size() > 1) {
      for (unsigned g = 0; g < specs.size(); ++g) {
        auto group = op->resultGroup(g);
        for (unsigned k = 0; k < group.size(); ++k)
          if (!k) set(group[0].impl(), specs[g].name, s);
          else {
            names_[group[k].impl()] = names_[group[0].impl()];
            groups_[group[k].impl()] = k;
          }
        if (group.size() > 1) groups_[group[0].impl()] = 0;
      }
      return;
    }
    for (unsigned i = 0; i < n; ++i) {
      ValueImpl *v = op->result(i).impl();
      if (i == 0) set(v, name, s);
      else {
        std::string shared = names_[op->result(0).impl()];
        names_[v] = std::move(shared);
      }
      if (n > 1) groups_[v] = i;
    }
  }
  static std::string constantName(arith::ConstantOp c) {
    auto a = c.value().dyn_cast<IntegerAttr>();
    if (!a) return "cst";
    if (a.isBool()) return a.value().isZero() ? "false" : "true";
    std::string n = "c" + llvm::toString(a.value(), 10, true);
    return a.type().isIndex() ? n : n + "_" + a.type().str();
  }
  void set(ValueImpl *v, llvm::StringRef wanted, State &s) {
    if (wanted.empty()) {
      names_[v] = std::to_string(s.nextValue++);
      return;
    }
    std::string name;
    for (char c : wanted) name += llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-' ? c : '_';
    if (llvm::isDigit(name[0])) name = "_" + name;
    if (!used_.insert(name).second) {
      std::string probe;
      do probe = name + "_" + std::to_string(s.nextConflict++);
      while (!used_.insert(probe).second);
      name = probe;
    }
    if (scope_) scope_->push_back(name);
    names_[v] = name;
  }

  bool nameLocs_, textKeeps_;
  llvm::DenseMap<ValueImpl *, std::string> names_;
  llvm::DenseMap<ValueImpl *, unsigned> groups_;
  llvm::StringSet<> used_;
  std::vector<std::string> *scope_ = nullptr;
};

// ---- aliases --------------------------------------------------------------------------------------------------------

/// What gets an alias: a layout, a location, or the shared-memory space, each by its address.
struct Aliases {
  struct Entry {
    std::string stem;
    unsigned depth = 0;
    bool deferred = true;
    const layouts::Encoding *encoding = nullptr;
    Location loc;
    const AttributeStorage *attr = nullptr;
    std::string name;
  };
  llvm::MapVector<const void *, Entry> entries;
  bool collecting = true;

  llvm::StringRef lookup(const void *p) const {
    auto it = entries.find(p);
    return it == entries.end() ? llvm::StringRef() : llvm::StringRef(it->second.name);
  }
  void number() {
    std::vector<Entry *> order;
    for (auto &[p, e] : entries) order.push_back(&e);
    llvm::stable_sort(order,
                      [](auto *a, auto *b) { return a->depth != b->depth ? a->depth < b->depth : a->stem < b->stem; });
    llvm::StringMap<unsigned> counts;
    sorted.clear();
    for (auto *e : order) {
      unsigned n = counts[e->stem]++;
      e->name = "#" + e->stem + (n ? std::to_string(n) : "");
      sorted.push_back(e);
    }
    collecting = false;
  }
  std::vector<Entry *> sorted;
};

static constexpr char kUnknownLocKey = 0; // stands for the unknown location, which has no storage

// ---- the printer ----------------------------------------------------------------------------------------------------

class Printer {
public:
  Printer(llvm::raw_ostream &o, const PrintOptions &options, Aliases *aliases, const Names *names)
      : o(o), options_(options), aliases_(aliases), names_(names) {}

  llvm::raw_ostream &o;

  // -- types and attributes --
  void encoding(const layouts::Encoding *e) {
    auto alias = [&](const layouts::Encoding *x, llvm::raw_ostream &out) {
      auto name = encodingAlias(x);
      if (name.empty()) return false;
      out << name;
      return true;
    };
    if (!alias(e, o)) e->print(o, alias);
  }

  void type(Type t, bool stripped = false) {
    switch (t.kind()) {
    case TypeKind::Integer: {
      auto i = t.cast<IntegerType>();
      o << (i.signedness() == Signedness::Signed     ? "si"
            : i.signedness() == Signedness::Unsigned ? "ui"
                                                     : "i")
        << i.width();
      break;
    }
    case TypeKind::Index: o << "index"; break;
    case TypeKind::Float: o << FloatType::name(t.cast<FloatType>().floatKind()); break;
    case TypeKind::Pointer: {
      auto p = t.cast<PointerType>();
      o << (stripped ? "<" : "!tt.ptr<");
      type(p.pointee());
      if (p.addressSpace() != 1) o << ", " << p.addressSpace();
      o << ">";
      break;
    }
    case TypeKind::Tensor: {
      auto s = t.cast<TensorType>();
      o << "tensor<";
      shape(s.shape());
      type(s.element());
      if (s.encoding()) {
        o << ", ";
        encoding(s.encoding());
      }
      o << ">";
      break;
    }
    case TypeKind::MemDesc: {
      auto m = t.cast<MemDescType>();
      o << (stripped ? "<" : "!ttg.memdesc<");
      shape(m.shape());
      type(m.element());
      if (m.encoding()) {
        o << ", ";
        encoding(m.encoding());
      }
      o << ", ";
      attribute(m.memorySpace());
      if (m.isMutable()) o << ", mutable";
      if (m.allocShape() != m.shape()) {
        o << ", ";
        llvm::interleave(m.allocShape(), o, "x");
      }
      o << ">";
      break;
    }
    case TypeKind::TensorDesc: {
      auto d = t.cast<TensorDescType>();
      o << (stripped ? "<tensor<" : "!tt.tensordesc<tensor<");
      shape(d.shape());
      type(d.element());
      if (d.encoding()) {
        o << ", ";
        encoding(d.encoding());
      }
      o << ">>";
      break;
    }
    case TypeKind::AsyncToken: o << "!ttg.async.token"; break;
    case TypeKind::Function: {
      auto f = t.cast<FunctionType>();
      o << "(";
      for (unsigned i = 0; i < f.numInputs(); ++i) {
        if (i) o << ", ";
        type(f.input(i));
      }
      o << ") -> ";
      bool paren = f.numResults() != 1;
      if (paren) o << "(";
      for (unsigned i = 0; i < f.numResults(); ++i) {
        if (i) o << ", ";
        type(f.result(i));
      }
      if (paren) o << ")";
      break;
    }
    case TypeKind::Opaque: o << t.cast<OpaqueType>().text(); break;
    }
  }
  void shape(llvm::ArrayRef<int64_t> s) {
    for (auto d : s) o << d << "x";
  }
  template <class R> void types(const R &values, bool stripped = false) {
    bool first = true;
    for (Value v : values) {
      if (!first) o << ", ";
      first = false;
      type(v.type(), stripped);
    }
  }

  void string(llvm::StringRef s) {
    o << '"';
    for (unsigned char c : s) {
      if (c == '\\')
        o << "\\\\";
      else if (c < 32 || c > 126 || c == '"')
        o << '\\' << llvm::hexdigit(c >> 4) << llvm::hexdigit(c & 15);
      else
        o << c;
    }
    o << '"';
  }

  void floatValue(const llvm::APFloat &f) {
    if (!f.isInfinity() && !f.isNaN()) {
      llvm::SmallString<32> s;
      f.toString(s, 6, 0, false);
      if (llvm::APFloat(f.getSemantics(), s).bitwiseIsEqual(f)) {
        o << s;
        return;
      }
      s.clear();
      f.toString(s);
      if (s.str().contains('.')) {
        o << s;
        return;
      }
    }
    llvm::SmallString<32> s;
    f.bitcastToAPInt().toString(s, 16, false, true);
    // Padded to the type's width, as MLIR does.
    std::string digits = s.str().drop_front(2).str();
    unsigned width = f.getSizeInBits(f.getSemantics()) / 4;
    o << "0x" << std::string(width > digits.size() ? width - digits.size() : 0, '0') << digits;
  }

  void element(Type t, const llvm::APInt &bits) {
    if (auto f = t.dyn_cast<FloatType>())
      floatValue(llvm::APFloat(f.semantics(), bits));
    else if (t.isInteger(1))
      o << (bits.isZero() ? "false" : "true");
    else
      bits.print(o, !(t.isInteger() && t.cast<IntegerType>().signedness() == Signedness::Unsigned));
  }

  void dense(DenseElementsAttr a) {
    o << "dense<";
    auto t = a.type();
    if (a.isSplat())
      element(t.element(), a.splat());
    else if (t.numElements() > 100) {
      // MLIR's form for long lists: the bytes in hexadecimal, little endian; i1 as a byte here.
      o << "\"0x";
      unsigned bytes = (t.element().bitWidth() + 7) / 8;
      for (size_t i = 0; i < a.size(); ++i)
        for (unsigned b = 0; b < bytes; ++b) {
          unsigned v = a.element(i).zext(std::max(64u, a.element(i).getBitWidth())).extractBitsAsZExtValue(8, b * 8);
          o << llvm::hexdigit(v >> 4) << llvm::hexdigit(v & 15);
        }
      o << "\"";
    } else {
      size_t at = 0;
      denseList(a, 0, at);
    }
    o << "> : ";
    type(t);
  }
  void denseList(DenseElementsAttr a, unsigned dim, size_t &at) {
    auto t = a.type();
    if (dim == t.rank()) {
      element(t.element(), a.element(at++));
      return;
    }
    o << "[";
    for (int64_t i = 0; i < t.dim(dim); ++i) {
      if (i) o << ", ";
      denseList(a, dim + 1, at);
    }
    o << "]";
  }

  void attribute(Attribute a) {
    switch (a.kind()) {
    case AttributeKind::Unit: o << "unit"; break;
    case AttributeKind::Integer: {
      auto i = a.cast<IntegerAttr>();
      element(i.type(), i.value());
      if (!i.isBool()) {
        o << " : ";
        type(i.type());
      }
      break;
    }
    case AttributeKind::Float: {
      auto f = a.cast<FloatAttr>();
      floatValue(f.value());
      o << " : ";
      type(f.type());
      break;
    }
    case AttributeKind::String: string(a.cast<StringAttr>().value()); break;
    case AttributeKind::Type: type(a.cast<TypeAttr>().value()); break;
    case AttributeKind::Array: {
      auto l = a.cast<ArrayAttr>();
      o << "[";
      for (unsigned i = 0; i < l.size(); ++i) {
        if (i) o << ", ";
        attribute(l[i]);
      }
      o << "]";
      break;
    }
    case AttributeKind::DenseArray: {
      auto d = a.cast<DenseArrayAttr>();
      o << "array<";
      type(d.element());
      if (!d.values().empty()) o << ": ";
      llvm::interleaveComma(d.values(), o, [&](int64_t v) {
        if (d.element().isInteger(1))
          o << (v ? "true" : "false");
        else if (auto f = d.element().dyn_cast<FloatType>())
          floatValue(llvm::APFloat(f.semantics(), llvm::APInt(f.bitWidth(), v, false, true)));
        else
          o << v;
      });
      o << ">";
      break;
    }
    case AttributeKind::DenseElements: dense(a.cast<DenseElementsAttr>()); break;
    case AttributeKind::Symbol: symbol(a.cast<SymbolAttr>().value()); break;
    case AttributeKind::Dictionary: dictionary(a.cast<DictionaryAttr>().entries()); break;
    case AttributeKind::Encoding: encoding(a.cast<EncodingAttr>().value()); break;
    case AttributeKind::Opaque: {
      auto text = a.cast<OpaqueAttr>().text();
      llvm::StringRef stem = text == "#ttg.shared_memory" ? "smem" : ""; // the only memory space with an alias
      if (aliases_ && !stem.empty()) {
        if (aliases_->collecting) {
          auto &e = aliases_->entries[a.storage()];
          e.stem = stem.str();
          e.attr = a.storage();
          e.deferred = false;
        } else if (auto n = aliases_->lookup(a.storage()); !n.empty()) {
          o << n;
          break;
        }
      }
      o << text;
    }
    }
  }

  static bool isBareName(llvm::StringRef n) {
    return !n.empty() && (llvm::isAlpha(n[0]) || n[0] == '_') &&
           llvm::all_of(n, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; });
  }
  void attrName(llvm::StringRef n) {
    if (isBareName(n))
      o << n;
    else
      string(n);
  }
  void symbol(llvm::StringRef n) {
    o << "@";
    attrName(n);
  }
  void dictionary(llvm::ArrayRef<NamedAttribute> entries) {
    o << "{";
    llvm::SmallVector<NamedAttribute, 8> sorted(entries.begin(), entries.end());
    llvm::sort(sorted, [](auto &a, auto &b) { return a.name < b.name; });
    llvm::interleaveComma(sorted, o, [&](const NamedAttribute &a) {
      attrName(a.name);
      if (a.value.isa<UnitAttr>()) return;
      o << " = ";
      attribute(a.value);
    });
    o << "}";
  }

  // -- locations --
  void location(Location l, bool allowAlias) {
    if (!options_.locations) return;
    if (allowAlias && aliases_) {
      if (auto n = aliases_->lookup(keyOf(l)); !n.empty()) {
        o << n;
        return;
      }
    }
    switch (l.kind()) {
    case LocationKind::Unknown: o << "unknown"; break;
    case LocationKind::FileLineCol:
      string(l.file());
      o << ":" << l.line() << ":" << l.col();
      if (l.endCol()) {
        o << " to ";
        if (l.endLine() != l.line()) o << l.endLine();
        o << ":" << l.endCol();
      }
      break;
    case LocationKind::Name:
      string(l.name());
      if (l.numParts()) {
        o << "(";
        location(l.part(0), true);
        o << ")";
      }
      break;
    case LocationKind::CallSite:
      o << "callsite(";
      location(l.callee(), true);
      o << " at ";
      location(l.caller(), true);
      o << ")";
      break;
    case LocationKind::Fused:
      o << "fused";
      if (!l.metadata().empty()) o << "<" << l.metadata() << ">";
      o << "[";
      for (unsigned i = 0; i < l.numParts(); ++i) {
        if (i) o << ", ";
        location(l.part(i), true);
      }
      o << "]";
    }
  }
  static const void *keyOf(Location l) { return l.storage() ? (const void *)l.storage() : &kUnknownLocKey; }
  unsigned collect(Location l, bool deferred) {
    auto [it, fresh] = aliases_->entries.try_emplace(keyOf(l));
    if (!fresh && (deferred || !it->second.deferred)) return it->second.depth;
    unsigned depth = 0;
    it->second.stem = "loc";
    it->second.loc = l;
    it->second.deferred = deferred;
    for (unsigned i = 0; i < l.numParts(); ++i) depth = std::max(depth, collect(l.part(i), deferred) + 1);
    aliases_->entries[keyOf(l)].depth = depth;
    return depth;
  }
  void trailingLocation(Operation *op) {
    if (!options_.locations) return;
    o << " loc(";
    location(op->loc(), true);
    o << ")";
  }
  void blockArg(ValueImpl *a, bool withType = true) {
    names_->print(a, o);
    if (!withType) return;
    o << ": ";
    type(a->type);
  }
  void argLocation(ValueImpl *a) {
    if (!options_.locations) return;
    if (aliases_ && aliases_->collecting) collect(a->loc, false);
    o << " loc(";
    location(a->loc, false);
    o << ")";
  }

  // -- operations --
  void value(Value v) { names_->print(v, o); }
  template <class R> void values(const R &vs) {
    bool first = true;
    for (Value v : vs) {
      if (!first) o << ", ";
      first = false;
      value(v);
    }
  }

  void block(Block *b, bool header) {
    if (header) {
      newline(indent_ - 1);
      o << "^bb" << b->number();
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
  void predecessors(Block *b) {
    auto preds = b->predecessors();
    if (preds.empty())
      o << "  // no predecessors";
    else if (preds.size() == 1)
      o << "  // pred: ^bb" << preds[0]->number();
    else {
      o << "  // " << preds.size() << " preds: ";
      llvm::interleaveComma(preds, o, [&](Block *p) { o << "^bb" << p->number(); });
    }
  }
  /// `{ … }` of a region. `entryArgs`: print the entry block's header; `implicitEnd`: leave out a scf.yield without
  /// values.
  void region(Region &r, bool entryArgs, bool implicitEnd = false) {
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
  void newline(int indent) {
    o << "\n";
    o.indent(indent * 2);
  }

  void attrDict(Operation *op, llvm::ArrayRef<llvm::StringRef> alsoPrinted = {}, bool keyword = false) {
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

  void operation(Operation *op, bool skipRegions = false) {
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

  void generic(Operation *op) {
    string(op->name());
    o << "(";
    values(op->operands());
    o << ")";
    if (op->numSuccessors()) {
      o << "[";
      llvm::interleaveComma(op->successors(), o, [&](Block *b) { o << "^bb" << b->number(); });
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
  /// What the pretty forms show as words is, in the generic form, an attribute of a kind that is kept as a number here.
  static Attribute asInMlir(Operation *op, const NamedAttribute &a) {
    auto i = a.value.dyn_cast<IntegerAttr>();
    if (!i) return a.value;
    auto &c = op->context();
    if (a.name == "predicate") return IntegerAttr::get(c.i64(), i.sext());
    bool overflow = a.name == "overflowFlags";
    if (!overflow && a.name != "fastmath") return a.value;
    std::string text = overflow ? "#arith.overflow<" : "#arith.fastmath<";
    appendFlags(text, overflow ? FlagNames(kOverflowFlags) : FlagNames(kFastMathFlags), i.sext(),
                overflow ? ", " : ",");
    return OpaqueAttr::get(c, text + ">");
  }
  using FlagNames = llvm::ArrayRef<std::pair<int, const char *>>;
  static constexpr std::pair<int, const char *> kOverflowFlags[] = {{1, "nsw"}, {2, "nuw"}};
  static constexpr std::pair<int, const char *> kFastMathFlags[] = {
      {1, "reassoc"}, {2, "nnan"}, {4, "ninf"}, {8, "nsz"}, {16, "arcp"}, {32, "contract"}, {64, "afn"}};
  static void appendFlags(std::string &text, FlagNames names, int64_t bits, const char *separator) {
    bool first = true;
    for (auto [bit, n] : names)
      if (bits & bit && bits != 127) {
        text += first ? "" : separator;
        text += n;
        first = false;
      }
    if (first) text += bits == 127 ? "fast" : "none";
  }

  void functional(Operation *op) {
    o << "(";
    types(op->operands());
    o << ") -> ";
    bool paren = op->numResults() != 1;
    if (paren) o << "(";
    types(op->results());
    if (paren) o << ")";
  }

  void literal(llvm::StringRef t) {
    // Commas, closing brackets and parentheses hug what stands before them, opening ones what follows.
    bool hugsLeft = t == "," || t == ")" || t == "]" || t == "(" || t == "[";
    if (!hugsLeft || (t == "[" && afterComma_)) space();
    o << t;
    tight_ = t == "(" || t == "[";
    afterComma_ = t == ",";
  }
  void space() {
    if (!tight_) o << " ";
    tight_ = false;
    afterComma_ = false;
  }

  void format(Operation *op, const std::vector<FormatElement> &elements) {
    auto &info = op->info();
    tight_ = false;
    afterComma_ = false;
    for (auto &e : elements) formatElement(op, info, e);
  }

  void formatElement(Operation *op, const OpInfo &info, const FormatElement &e) {
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

  void attrValue(Operation *op, const AttrSpec &spec) {
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

  // -- custom elements --
  void custom(Operation *op, llvm::StringRef name) {
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

  OperandRange operandsNamed(Operation *op, llvm::StringRef name) {
    auto &specs = op->info().operands;
    for (unsigned i = 0; i < specs.size(); ++i)
      if (specs[i].name == name) return op->operandGroup(i);
    return {};
  }
  void mma5(Operation *op, bool scaled) {
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
  /// `[%dep]`, or `[]` where a token comes out but none goes in.
  void token(Operation *op, OperandRange dep) {
    if (!dep.empty()) {
      o << "[";
      values(dep);
      o << "]";
    } else if (op->numResults() && op->result(op->numResults() - 1).type().isa<AsyncTokenType>())
      o << "[]";
  }
  void warpSpecialize(Operation *op) {
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

  void genericTail(Operation *op) {
    o << " ";
    values(op->operands());
    attrDict(op);
    o << " : ";
    functional(op);
  }

  void flags(Operation *op, llvm::StringRef attr, llvm::StringRef key, FlagNames names, const char *separator) {
    auto a = op->attr<IntegerAttr>(attr);
    if (!a || !a.sext()) return;
    std::string text;
    appendFlags(text, names, a.sext(), separator);
    o << " " << key << "<" << text << ">";
  }

  void successor(Block *b, OperandRange args) {
    o << " ^bb" << b->number();
    if (args.empty()) return;
    o << "(";
    values(args);
    o << " : ";
    types(args);
    o << ")";
  }
  void resultTypes(Operation *op) {
    if (!op->numResults()) return;
    o << " -> (";
    types(op->results());
    o << ")";
  }
  void body(Region &r, bool entryArgs, bool implicitEnd) {
    if (skipRegions_)
      o << "{...}";
    else
      region(r, entryArgs, implicitEnd);
  }

  void function(Operation *op) {
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

  void forLoop(Operation *op) {
    auto f = op->cast<scf::ForOp>();
    Block *b = f.body().front();
    if (f.unsignedCmp()) o << " unsigned";
    o << " ";
    value(b->arg(0));
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
        value(b->arg(i + 1));
        o << " = ";
        value(f.initArgs()[i]);
      }
      o << ") -> (";
      types(f.initArgs());
      o << ")";
    }
    o << " ";
    if (!b->arg(0).type().isIndex()) {
      o << " : ";
      type(b->arg(0).type());
      o << " ";
    }
    body(f.body(), false, true);
    attrDict(op);
  }

  void ifOp(Operation *op) {
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

  void whileOp(Operation *op) {
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

  // -- the module --
  void aliasDefinitions(bool deferred) {
    for (auto *e : aliases_->sorted) {
      if (e->deferred != deferred) continue;
      o << e->name << " = ";
      if (e->encoding) {
        auto alias = [&](const layouts::Encoding *x, llvm::raw_ostream &out) {
          auto n = x == e->encoding ? llvm::StringRef() : encodingAlias(x);
          out << n;
          return !n.empty();
        };
        e->encoding->print(o, alias);
      } else if (e->attr)
        o << Attribute(e->attr).cast<OpaqueAttr>().text();
      else {
        o << "loc(";
        location(e->loc, false);
        o << ")";
      }
      o << "\n";
    }
  }

private:
  llvm::StringRef encodingAlias(const layouts::Encoding *e) {
    if (!aliases_ || e->aliasStem().empty()) return {};
    if (aliases_->collecting) {
      auto &entry = aliases_->entries[e];
      if (entry.stem.empty()) {
        entry.stem = e->aliasStem().str();
        entry.encoding = e;
        entry.deferred = false;
      }
      return {};
    }
    return aliases_->lookup(e);
  }

  PrintOptions options_;
  Aliases *aliases_;
  const Names *names_;
  int indent_ = 0;
  Operation *skip_ = nullptr;
  bool tight_ = false, afterComma_ = false, skipRegions_ = false;
};

} // namespace

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
