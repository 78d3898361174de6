// Types of the IR. A Type is a handle to storage uniqued in a Context: two types of one Context are the same type
// exactly if the handles are equal. The kinds are those of Triton's text: integers, floats, index, pointers, tensors
// (with an optional layout), memory descriptors, tensor descriptors, async tokens and function types; types of dialects
// that Tessera only carries (`!llvm.ptr<3>`, `!nvws.token`, `vector<4xf32>`) are kept as text.
#pragma once
#include "layouts/encoding.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
}
namespace tessera::ir {
class Context;
class Attribute;
struct AttributeStorage;

enum class TypeKind : uint8_t {
  Integer,
  Index,
  Float,
  Pointer,
  Tensor,
  MemDesc,
  TensorDesc,
  AsyncToken,
  Function,
  Opaque
};
enum class FloatKind : uint8_t { F16, BF16, F32, F64, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ };
enum class Signedness : uint8_t { Signless, Signed, Unsigned };

struct TypeStorage {
  explicit TypeStorage(TypeKind k) : kind(k) {}
  TypeKind kind;
  Context *context = nullptr;
  // Integer: width and signedness; Pointer: address space; MemDesc: mutability in `flag`.
  unsigned width = 0;
  Signedness signedness = Signedness::Signless;
  FloatKind floatKind = FloatKind::F32;
  bool flag = false;
  const TypeStorage *element = nullptr;                // Pointer: pointee; Tensor, MemDesc, TensorDesc: element type
  llvm::ArrayRef<int64_t> shape;                       // Tensor, MemDesc, TensorDesc
  llvm::ArrayRef<int64_t> allocShape;                  // MemDesc: shape of the whole allocation
  const layouts::Encoding *encoding = nullptr;         // Tensor, MemDesc, TensorDesc; null: none
  const AttributeStorage *memorySpace = nullptr;       // MemDesc
  llvm::ArrayRef<const TypeStorage *> inputs, results; // Function
  llvm::StringRef text;                                // Opaque: as written, `!` included
};

class Type {
public:
  Type() = default;
  Type(const TypeStorage *s) : s_(s) {}
  explicit operator bool() const { return s_; }
  bool operator==(const Type &) const = default;

  TypeKind kind() const { return s_->kind; }
  Context *context() const { return s_->context; }
  const TypeStorage *storage() const { return s_; }

  template <class T> bool isa() const { return s_ && T::classof(*this); }
  template <class T> T cast() const { return T(s_); }
  template <class T> T dyn_cast() const { return isa<T>() ? T(s_) : T(); }

  bool isInteger(unsigned width) const { return s_->kind == TypeKind::Integer && s_->width == width; }
  bool isInteger() const { return s_->kind == TypeKind::Integer; }
  bool isIndex() const { return s_->kind == TypeKind::Index; }
  bool isIntOrIndex() const { return isInteger() || isIndex(); }
  bool isFloat() const { return s_->kind == TypeKind::Float; }
  bool isFloat(FloatKind k) const { return isFloat() && s_->floatKind == k; }
  bool isPointer() const { return s_->kind == TypeKind::Pointer; }
  bool isTensor() const { return s_->kind == TypeKind::Tensor; }
  bool isF32() const { return isFloat(FloatKind::F32); }

  /// Width in bits of a value of this scalar type: pointers 64, index 64 (lowered as i32 where it is safe), i1 is 1.
  /// 0 for types without one (tokens, functions, opaque). For a tensor: of its element.
  unsigned bitWidth() const;

  /// The element type of a tensor, else the type itself.
  Type scalar() const;
  /// The same tensor with another element type, or `element` itself for scalars.
  Type withScalar(Type element) const;

  void print(llvm::raw_ostream &) const; // without aliases
  std::string str() const;

protected:
  const TypeStorage *s_ = nullptr;
};

struct IntegerType : Type {
  using Type::Type;
  static bool classof(Type t) { return t.kind() == TypeKind::Integer; }
  static IntegerType get(Context &, unsigned width, Signedness = Signedness::Signless);
  unsigned width() const { return s_->width; }
  Signedness signedness() const { return s_->signedness; }
};

struct IndexType : Type {
  using Type::Type;
  static bool classof(Type t) { return t.kind() == TypeKind::Index; }
  static IndexType get(Context &);
};

struct FloatType : Type {
  using Type::Type;
  static bool classof(Type t) { return t.kind() == TypeKind::Float; }
  static FloatType get(Context &, FloatKind);
  FloatKind floatKind() const { return s_->floatKind; }
  const llvm::fltSemantics &semantics() const;
  static const llvm::fltSemantics &semantics(FloatKind);
  static llvm::StringRef name(FloatKind);
  bool isF8() const { return bitWidth() == 8; }
};

struct PointerType : Type {
  using Type::Type;
  static bool classof(Type t) { return t.kind() == TypeKind::Pointer; }
  /// `!tt.ptr<pointee, addressSpace>`; address space 1 (global memory) is elided in print.
  static PointerType get(Type pointee, unsigned addressSpace = 1);
  Type pointee() const { return s_->element; }
  unsigned addressSpace() const { return s_->width; }
};

/// What tensors, memory descriptors and tensor descriptors have in common.
struct ShapedType : Type {
  using Type::Type;
  static bool classof(Type t) {
    return t.kind() == TypeKind::Tensor || t.kind() == TypeKind::MemDesc || t.kind() == TypeKind::TensorDesc;
  }
  llvm::ArrayRef<int64_t> shape() const { return s_->shape; }
  int64_t dim(unsigned i) const { return s_->shape[i]; }
  unsigned rank() const { return s_->shape.size(); }
  Type element() const { return s_->element; }
  const layouts::Encoding *encoding() const { return s_->encoding; }
  int64_t numElements() const;
};

struct TensorType : ShapedType {
  using ShapedType::ShapedType;
  static bool classof(Type t) { return t.kind() == TypeKind::Tensor; }
  static TensorType get(llvm::ArrayRef<int64_t> shape, Type element, const layouts::Encoding *encoding = nullptr);
  TensorType withEncoding(const layouts::Encoding *e) const { return get(shape(), element(), e); }
  TensorType withShape(llvm::ArrayRef<int64_t> s) const { return get(s, element(), encoding()); }
  TensorType withElement(Type t) const { return get(shape(), t, encoding()); }
};

/// A view of an on-chip allocation. `allocShape` differs from `shape` for views of part of an allocation.
struct MemDescType : ShapedType {
  using ShapedType::ShapedType;
  static bool classof(Type t) { return t.kind() == TypeKind::MemDesc; }
  static MemDescType get(llvm::ArrayRef<int64_t> shape, Type element, const layouts::Encoding *encoding,
                         Attribute memorySpace, bool isMutable, llvm::ArrayRef<int64_t> allocShape = {});
  Attribute memorySpace() const;
  bool isMutable() const { return s_->flag; }
  llvm::ArrayRef<int64_t> allocShape() const { return s_->allocShape; }
};

struct TensorDescType : ShapedType {
  using ShapedType::ShapedType;
  static bool classof(Type t) { return t.kind() == TypeKind::TensorDesc; }
  static TensorDescType get(llvm::ArrayRef<int64_t> shape, Type element, const layouts::Encoding *encoding = nullptr);
};

struct AsyncTokenType : Type {
  using Type::Type;
  static bool classof(Type t) { return t.kind() == TypeKind::AsyncToken; }
  static AsyncTokenType get(Context &);
};

struct FunctionType : Type {
  using Type::Type;
  static bool classof(Type t) { return t.kind() == TypeKind::Function; }
  static FunctionType get(Context &, llvm::ArrayRef<Type> inputs, llvm::ArrayRef<Type> results);
  unsigned numInputs() const { return s_->inputs.size(); }
  unsigned numResults() const { return s_->results.size(); }
  Type input(unsigned i) const { return s_->inputs[i]; }
  Type result(unsigned i) const { return s_->results[i]; }
};

struct OpaqueType : Type {
  using Type::Type;
  static bool classof(Type t) { return t.kind() == TypeKind::Opaque; }
  static OpaqueType get(Context &, llvm::StringRef text);
  llvm::StringRef text() const { return s_->text; }
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &, Type);

} // namespace tessera::ir
