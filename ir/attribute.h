// Attributes of the IR: constants attached to operations. Uniqued in the Context like types. Enum-valued attributes
// (a comparison's predicate, a load's cache modifier) are 32-bit integer attributes whose names stand in the op table.
// Attributes of dialects that are only carried along are kept as text.
#pragma once
#include "ir/type.h"
#include "llvm/ADT/APInt.h"

namespace tessera::ir {

enum class AttributeKind : uint8_t {
  Unit,
  Integer,
  Float,
  String,
  Type,
  Array,
  DenseArray,
  DenseElements,
  Symbol,
  Dictionary,
  Encoding,
  Opaque
};

struct NamedAttribute;

struct AttributeStorage {
  explicit AttributeStorage(AttributeKind k) : kind(k) {}
  AttributeKind kind;
  Context *context = nullptr;
  const TypeStorage *type = nullptr; // Integer, Float, Type, DenseElements (a tensor), DenseArray (the element type)
  llvm::APInt bits;                  // Integer; Float (its bit pattern)
  llvm::StringRef text;              // String (unescaped), Symbol (without @), Opaque (verbatim, `#` included)
  llvm::ArrayRef<const AttributeStorage *> array; // Array
  llvm::ArrayRef<int64_t> values;                 // DenseArray
  llvm::ArrayRef<llvm::APInt> elements;   // DenseElements: one bit pattern for a splat, else one per element, row-major
  llvm::ArrayRef<NamedAttribute> entries; // Dictionary, sorted by name
  const layouts::Encoding *encoding = nullptr; // Encoding
};

class Attribute {
public:
  Attribute() = default;
  Attribute(const AttributeStorage *s) : s_(s) {}
  explicit operator bool() const { return s_; }
  bool operator==(const Attribute &) const = default;
  AttributeKind kind() const { return s_->kind; }
  const AttributeStorage *storage() const { return s_; }

  template <class T> bool isa() const { return s_ && T::classof(*this); }
  template <class T> T cast() const { return T(s_); }
  template <class T> T dyn_cast() const { return isa<T>() ? T(s_) : T(); }

  void print(llvm::raw_ostream &) const; // without aliases
  std::string str() const;

protected:
  const AttributeStorage *s_ = nullptr;
};

struct NamedAttribute {
  llvm::StringRef name; // interned in the Context
  Attribute value;
  bool operator==(const NamedAttribute &) const = default;
};

struct UnitAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Unit; }
  static UnitAttr get(Context &);
};

struct IntegerAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Integer; }
  static IntegerAttr get(Type, llvm::APInt);
  static IntegerAttr get(Type, int64_t);
  static IntegerAttr getBool(Context &, bool);
  static IntegerAttr getI32(Context &, int64_t);
  Type type() const { return s_->type; }
  const llvm::APInt &value() const { return s_->bits; }
  int64_t sext() const { return s_->bits.getSExtValue(); }
  uint64_t zext() const { return s_->bits.getZExtValue(); }
  bool isBool() const { return type().isInteger(1); }
};

struct FloatAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Float; }
  static FloatAttr get(Type, const llvm::APFloat &);
  static FloatAttr get(Type, double); // rounded to nearest even
  FloatType type() const { return Type(s_->type).cast<FloatType>(); }
  llvm::APFloat value() const { return llvm::APFloat(type().semantics(), s_->bits); }
};

struct StringAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::String; }
  static StringAttr get(Context &, llvm::StringRef);
  llvm::StringRef value() const { return s_->text; }
};

struct TypeAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Type; }
  static TypeAttr get(Type);
  Type value() const { return s_->type; }
};

struct ArrayAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Array; }
  static ArrayAttr get(Context &, llvm::ArrayRef<Attribute>);
  unsigned size() const { return s_->array.size(); }
  Attribute operator[](unsigned i) const { return s_->array[i]; }
};

/// `array<i32: 1, 0>`; floating-point elements hold their bit patterns.
struct DenseArrayAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::DenseArray; }
  static DenseArrayAttr get(Type element, llvm::ArrayRef<int64_t>);
  static DenseArrayAttr getI32(Context &, llvm::ArrayRef<int64_t>);
  Type element() const { return s_->type; }
  llvm::ArrayRef<int64_t> values() const { return s_->values; }
};

/// `dense<...> : tensor<...>`.
struct DenseElementsAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::DenseElements; }
  /// @pre one bit pattern (a splat) or one per element of the type, each as wide as the element type.
  /// A list of equal patterns is stored as a splat.
  static DenseElementsAttr get(TensorType, llvm::ArrayRef<llvm::APInt> patterns);
  TensorType type() const { return Type(s_->type).cast<TensorType>(); }
  bool isSplat() const { return s_->elements.size() == 1; }
  const llvm::APInt &splat() const { return s_->elements[0]; }
  const llvm::APInt &element(size_t i) const { return s_->elements[isSplat() ? 0 : i]; }
  size_t size() const { return type().numElements(); }
  /// The same values in a tensor type of another layout (the shape and element type must be the same).
  DenseElementsAttr withType(TensorType) const;
};

struct SymbolAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Symbol; }
  static SymbolAttr get(Context &, llvm::StringRef);
  llvm::StringRef value() const { return s_->text; }
};

struct DictionaryAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Dictionary; }
  static DictionaryAttr get(Context &, llvm::ArrayRef<NamedAttribute>); // sorts
  llvm::ArrayRef<NamedAttribute> entries() const { return s_->entries; }
  Attribute get(llvm::StringRef name) const;
};

struct EncodingAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Encoding; }
  static EncodingAttr get(Context &, const layouts::Encoding *);
  const layouts::Encoding *value() const { return s_->encoding; }
};

/// An attribute kept as text: `#ttg.shared_memory`, `#llvm.loop_annotation<...>`.
struct OpaqueAttr : Attribute {
  using Attribute::Attribute;
  static bool classof(Attribute a) { return a.kind() == AttributeKind::Opaque; }
  static OpaqueAttr get(Context &, llvm::StringRef text);
  llvm::StringRef text() const { return s_->text; }
};

/// The scalar value of a constant's attribute (an IntegerAttr, a FloatAttr, or the splat of a dense one) as a bit
/// pattern, or nothing if its elements differ.
const llvm::APInt *splatBits(Attribute);

/// The type of the values that a constant's attribute gives; null of attributes of other kinds.
Type typeOfConstant(Attribute);

llvm::raw_ostream &operator<<(llvm::raw_ostream &, Attribute);

} // namespace tessera::ir
