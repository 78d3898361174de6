// The printer's types, attributes, locations and aliases (see printer_state.h).
#include "ir/printer_state.h"
#include "ir/tensor_queries.h"

namespace tessera::ir::printing {

void Printer::encoding(const layouts::Encoding *e) {
  auto alias = [&](const layouts::Encoding *x, llvm::raw_ostream &out) {
    auto name = encodingAlias(x);
    if (name.empty()) return false;
    out << name;
    return true;
  };
  if (!alias(e, o)) e->print(o, alias);
}

void Printer::shapedElement(llvm::ArrayRef<int64_t> dimensions, Type element, const layouts::Encoding *e) {
  shape(dimensions);
  type(element);
  if (!e) return;
  o << ", ";
  encoding(e);
}

void Printer::memDesc(MemDescType m, bool stripped) {
  o << (stripped ? "<" : "!ttg.memdesc<");
  shapedElement(m.shape(), m.element(), m.encoding());
  o << ", ";
  attribute(m.memorySpace());
  if (m.isMutable()) o << ", mutable";
  if (m.allocShape() != m.shape()) {
    o << ", ";
    llvm::interleave(m.allocShape(), o, "x");
  }
  o << ">";
}

void Printer::functionType(FunctionType f) {
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
}

void Printer::type(Type t, bool stripped) {
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
    shapedElement(s.shape(), s.element(), s.encoding());
    o << ">";
    break;
  }
  case TypeKind::MemDesc: memDesc(t.cast<MemDescType>(), stripped); break;
  case TypeKind::TensorDesc: {
    auto d = t.cast<TensorDescType>();
    o << (stripped ? "<tensor<" : "!tt.tensordesc<tensor<");
    shapedElement(d.shape(), d.element(), d.encoding());
    o << ">>";
    break;
  }
  case TypeKind::AsyncToken: o << "!ttg.async.token"; break;
  case TypeKind::Function: functionType(t.cast<FunctionType>()); break;
  case TypeKind::Opaque: o << t.cast<OpaqueType>().text(); break;
  }
}

void Printer::string(llvm::StringRef s) {
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

void Printer::floatValue(const llvm::APFloat &f) {
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

void Printer::element(Type t, const llvm::APInt &bits) {
  if (auto f = t.dyn_cast<FloatType>())
    floatValue(llvm::APFloat(f.semantics(), bits));
  else if (t.isInteger(1))
    o << (bits.isZero() ? "false" : "true");
  else
    bits.print(o, !(t.isInteger() && t.cast<IntegerType>().signedness() == Signedness::Unsigned));
}

void Printer::dense(DenseElementsAttr a) {
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

void Printer::denseList(DenseElementsAttr a, unsigned dim, size_t &at) {
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

void Printer::attribute(Attribute a) {
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
    llvm::StringRef stem = text == kSharedMemorySpace ? "smem" : ""; // the only memory space with an alias
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

bool Printer::isBareName(llvm::StringRef n) {
  return !n.empty() && (llvm::isAlpha(n[0]) || n[0] == '_') &&
         llvm::all_of(n, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; });
}

void Printer::attrName(llvm::StringRef n) {
  if (isBareName(n))
    o << n;
  else
    string(n);
}

void Printer::symbol(llvm::StringRef n) {
  o << "@";
  attrName(n);
}

void Printer::dictionary(llvm::ArrayRef<NamedAttribute> entries) {
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

void Printer::location(Location l, bool allowAlias) {
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

unsigned Printer::collect(Location l, bool deferred) {
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

void Printer::trailingLocation(Operation *op) {
  if (!options_.locations) return;
  o << " loc(";
  location(op->loc(), true);
  o << ")";
}

void Printer::blockArg(ValueImpl *a, bool withType) {
  names_->print(a, o);
  if (!withType) return;
  o << ": ";
  type(a->type);
}

void Printer::argLocation(ValueImpl *a) {
  if (!options_.locations) return;
  if (aliases_ && aliases_->collecting) collect(a->loc, false);
  o << " loc(";
  location(a->loc, false);
  o << ")";
}

void Printer::aliasDefinitions(bool deferred) {
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

llvm::StringRef Printer::encodingAlias(const layouts::Encoding *e) {
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

} // namespace tessera::ir::printing
