// The state of one run of the printer and the pieces it prints with: types, attributes and locations in
// print_attributes.cpp, what the assembly formats of the op table say in print_formats.cpp and their custom elements in
// print_custom_formats.cpp, operations, blocks and regions in printer.cpp. Private to the printer.
#pragma once
#include "ir/assembly_format.h"
#include "ir/op_table.h"
#include "ir/printer.h"
#include "ir/printer_names.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::ir::printing {

class Printer {
public:
  Printer(llvm::raw_ostream &o, const PrintOptions &options, Aliases *aliases, const Names *names)
      : o(o), options_(options), aliases_(aliases), names_(names) {}

  llvm::raw_ostream &o;

  // -- types and attributes --
  void encoding(const layouts::Encoding *e);
  void type(Type t, bool stripped = false);
  /// "16x32xf16, #layout"
  void shapedElement(llvm::ArrayRef<int64_t> dimensions, Type element, const layouts::Encoding *);
  void memDesc(MemDescType, bool stripped);
  void functionType(FunctionType);
  void shape(llvm::ArrayRef<int64_t> s);
  template <class R> void types(const R &values, bool stripped = false) {
    bool first = true;
    for (Value v : values) {
      if (!first) o << ", ";
      first = false;
      type(v.type(), stripped);
    }
  }

  void string(llvm::StringRef s);
  void floatValue(const llvm::APFloat &f);
  void element(Type t, const llvm::APInt &bits);
  void dense(DenseElementsAttr a);
  void denseList(DenseElementsAttr a, unsigned dim, size_t &at);
  void attribute(Attribute a);
  static bool isBareName(llvm::StringRef n);
  void attrName(llvm::StringRef n);
  void symbol(llvm::StringRef n);
  void dictionary(llvm::ArrayRef<NamedAttribute> entries);

  // -- locations --
  void location(Location l, bool allowAlias);
  static const void *keyOf(Location l) { return l.storage() ? (const void *)l.storage() : &kUnknownLocKey; }
  unsigned collect(Location l, bool deferred);
  void trailingLocation(Operation *op);
  void blockArg(ValueImpl *a, bool withType = true);
  void argLocation(ValueImpl *a);

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

  void block(Block *b, bool header);
  void predecessors(Block *b);
  /// A block's place in its region and its predecessors' places, found for all blocks of the region at once.
  struct BlockPlace {
    unsigned number = 0;
    llvm::SmallVector<unsigned, 2> predecessors;
  };
  const BlockPlace &placeOf(Block *b);
  /// `{ … }` of a region. `entryArgs`: print the entry block's header; `implicitEnd`: leave out a scf.yield without
  /// values.
  void region(Region &r, bool entryArgs, bool implicitEnd = false);
  void newline(int indent);
  void attrDict(Operation *op, llvm::ArrayRef<llvm::StringRef> alsoPrinted = {}, bool keyword = false);
  void operation(Operation *op, bool skipRegions = false);
  void generic(Operation *op);
  /// What the pretty forms show as words is, in the generic form, an attribute of a kind that is kept as a number here.
  static Attribute asInMlir(Operation *op, const NamedAttribute &a);
  using FlagNames = llvm::ArrayRef<std::pair<int, const char *>>;
  static constexpr std::pair<int, const char *> kOverflowFlags[] = {{1, "nsw"}, {2, "nuw"}};
  static constexpr std::pair<int, const char *> kFastMathFlags[] = {
      {1, "reassoc"}, {2, "nnan"}, {4, "ninf"}, {8, "nsz"}, {16, "arcp"}, {32, "contract"}, {64, "afn"}};
  static void appendFlags(std::string &text, FlagNames names, int64_t bits, const char *separator);
  void functional(Operation *op);
  void literal(llvm::StringRef t);
  void space();
  void format(Operation *op, const std::vector<FormatElement> &elements);
  void formatElement(Operation *op, const OpInfo &info, const FormatElement &e);
  void attrValue(Operation *op, const AttrSpec &spec);

  // -- custom elements --
  void custom(Operation *op, llvm::StringRef name);
  OperandRange operandsNamed(Operation *op, llvm::StringRef name);
  void cache(Operation *op);
  void overflow(Operation *op);
  void fastMath(Operation *op);
  void constant(Operation *op);
  void select(Operation *op);
  void module(Operation *op);
  void executeRegion(Operation *op);
  void branch(Operation *op);
  void conditionalBranch(Operation *op);
  void subslice(Operation *op);
  void barrier(Operation *op);
  void bufferLoadToLocal(Operation *op);
  void tokenDep(Operation *op);
  void dotScaled(Operation *op);
  void mma5(Operation *op);
  void scaledMma5(Operation *op);
  void tensorMemoryDot(Operation *op, bool scaled);
  /// `[%dep]`, or `[]` where a token comes out but none goes in.
  void token(Operation *op, OperandRange dep);
  void warpSpecialize(Operation *op);
  void genericTail(Operation *op);
  void flags(Operation *op, llvm::StringRef attr, llvm::StringRef key, FlagNames names, const char *separator);
  void successor(Block *b, OperandRange args);
  void resultTypes(Operation *op);
  void body(Region &r, bool entryArgs, bool implicitEnd);
  void function(Operation *op);
  void forLoop(Operation *op);
  void ifOp(Operation *op);
  void whileOp(Operation *op);

  // -- the module --
  void aliasDefinitions(bool deferred);

private:
  llvm::StringRef encodingAlias(const layouts::Encoding *e);

  PrintOptions options_;
  Aliases *aliases_;
  const Names *names_;
  llvm::DenseMap<Block *, BlockPlace> places_;
  int indent_ = 0;
  Operation *skip_ = nullptr;
  bool tight_ = false, afterComma_ = false, skipRegions_ = false;
};

} // namespace tessera::ir::printing
