// The Context: uniquing of types, attributes, locations and names by hash of their contents (see context.h).
#include "ir/context.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"
#include <deque>
#include <unordered_map>

namespace tessera::ir {

struct Context::Impl {
  llvm::BumpPtrAllocator arena;
  llvm::StringSet<llvm::BumpPtrAllocator &> strings{arena};
  layouts::EncodingPool encodings;
  // Storage with destructors (APInt) lives in deques, the rest in the arena; buckets hold what has one hash.
  std::deque<AttributeStorage> attributeStore;
  std::deque<std::vector<llvm::APInt>> elementStore;
  std::unordered_map<size_t, llvm::SmallVector<const TypeStorage *, 1>> types;
  std::unordered_map<size_t, llvm::SmallVector<const AttributeStorage *, 1>> attributes;
  std::unordered_map<size_t, llvm::SmallVector<const LocationStorage *, 1>> locations;

  template <class T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> a) {
    if (a.empty()) return {};
    T *mem = arena.Allocate<T>(a.size());
    std::uninitialized_copy(a.begin(), a.end(), mem);
    return {mem, a.size()};
  }
};

static size_t hashOf(const TypeStorage &s) {
  return llvm::hash_combine(s.kind, s.width, s.signedness, s.floatKind, s.flag, s.element,
                            llvm::hash_combine_range(s.shape.begin(), s.shape.end()),
                            llvm::hash_combine_range(s.allocShape.begin(), s.allocShape.end()), s.encoding,
                            s.memorySpace, llvm::hash_combine_range(s.inputs.begin(), s.inputs.end()),
                            llvm::hash_combine_range(s.results.begin(), s.results.end()), s.text);
}
static bool same(const TypeStorage &a, const TypeStorage &b) {
  return a.kind == b.kind && a.width == b.width && a.signedness == b.signedness && a.floatKind == b.floatKind &&
         a.flag == b.flag && a.element == b.element && a.shape == b.shape && a.allocShape == b.allocShape &&
         a.encoding == b.encoding && a.memorySpace == b.memorySpace && a.inputs == b.inputs && a.results == b.results &&
         a.text == b.text;
}
static size_t hashOf(const AttributeStorage &s) {
  size_t h = llvm::hash_combine(
      s.kind, s.type, llvm::hash_value(s.bits), s.text, llvm::hash_combine_range(s.array.begin(), s.array.end()),
      llvm::hash_combine_range(s.values.begin(), s.values.end()), s.encoding, s.elements.size());
  for (auto &e : s.elements) h = llvm::hash_combine(h, llvm::hash_value(e));
  for (auto &e : s.entries) h = llvm::hash_combine(h, e.name, e.value.storage());
  return h;
}
static bool same(const AttributeStorage &a, const AttributeStorage &b) {
  return a.kind == b.kind && a.type == b.type && a.bits.getBitWidth() == b.bits.getBitWidth() && a.bits == b.bits &&
         a.text == b.text && a.array == b.array && a.values == b.values && a.encoding == b.encoding &&
         a.elements.size() == b.elements.size() &&
         llvm::equal(a.elements, b.elements,
                     [](auto &x, auto &y) { return x.getBitWidth() == y.getBitWidth() && x == y; }) &&
         a.entries == b.entries;
}
static size_t hashOf(const LocationStorage &s) {
  return llvm::hash_combine(s.kind, s.text, s.line, s.col, s.endLine, s.endCol,
                            llvm::hash_combine_range(s.parts.begin(), s.parts.end()));
}
static bool same(const LocationStorage &a, const LocationStorage &b) {
  return a.kind == b.kind && a.text == b.text && a.line == b.line && a.col == b.col && a.endLine == b.endLine &&
         a.endCol == b.endCol && a.parts == b.parts;
}

static const TypeStorage *unique(Context &c, const TypeStorage &key) {
  auto &im = c.impl();
  auto &bucket = im.types[hashOf(key)];
  for (auto *s : bucket)
    if (same(*s, key)) return s;
  auto *s = new (im.arena.Allocate<TypeStorage>()) TypeStorage(key);
  s->context = &c;
  s->shape = im.copy(key.shape);
  s->allocShape = im.copy(key.allocShape);
  s->inputs = im.copy(key.inputs);
  s->results = im.copy(key.results);
  s->text = c.intern(key.text);
  bucket.push_back(s);
  return s;
}

static const AttributeStorage *unique(Context &c, const AttributeStorage &key) {
  auto &im = c.impl();
  auto &bucket = im.attributes[hashOf(key)];
  for (auto *s : bucket)
    if (same(*s, key)) return s;
  AttributeStorage *s = &im.attributeStore.emplace_back(key);
  s->context = &c;
  s->array = im.copy(key.array);
  s->values = im.copy(key.values);
  s->entries = im.copy(key.entries);
  s->text = c.intern(key.text);
  if (!key.elements.empty()) s->elements = im.elementStore.emplace_back(key.elements.begin(), key.elements.end());
  bucket.push_back(s);
  return s;
}

static Location unique(Context &c, const LocationStorage &key) {
  auto &im = c.impl();
  auto &bucket = im.locations[hashOf(key)];
  for (auto *s : bucket)
    if (same(*s, key)) return Location(s);
  auto *s = new (im.arena.Allocate<LocationStorage>()) LocationStorage(key);
  s->text = c.intern(key.text);
  s->parts = im.copy(key.parts);
  bucket.push_back(s);
  return Location(s);
}

Context::Context() : impl_(std::make_unique<Impl>()) {
  i1_ = IntegerType::get(*this, 1);
  i8_ = IntegerType::get(*this, 8);
  i16_ = IntegerType::get(*this, 16);
  i32_ = IntegerType::get(*this, 32);
  i64_ = IntegerType::get(*this, 64);
  index_ = IndexType::get(*this);
  f16_ = FloatType::get(*this, FloatKind::F16);
  bf16_ = FloatType::get(*this, FloatKind::BF16);
  f32_ = FloatType::get(*this, FloatKind::F32);
  f64_ = FloatType::get(*this, FloatKind::F64);
}
Context::~Context() = default;

layouts::EncodingPool &Context::encodings() { return impl_->encodings; }
llvm::StringRef Context::intern(llvm::StringRef s) {
  return s.empty() ? llvm::StringRef("") : impl_->strings.insert(s).first->first();
}

// ---- locations ------------------------------------------------------------------------------------------------------

Location Context::fileLoc(llvm::StringRef file, unsigned line, unsigned col, unsigned endLine, unsigned endCol) {
  return unique(*this, {LocationKind::FileLineCol, file, line, col, endLine, endCol, {}});
}
Location Context::nameLoc(llvm::StringRef name, Location child) {
  const LocationStorage *parts[] = {child.storage()};
  return unique(*this, {LocationKind::Name, name, 0, 0, 0, 0,
                        child.storage() ? llvm::ArrayRef(parts) : llvm::ArrayRef<const LocationStorage *>()});
}
Location Context::callSiteLoc(Location callee, Location caller) {
  const LocationStorage *parts[] = {callee.storage(), caller.storage()};
  return unique(*this, {LocationKind::CallSite, "", 0, 0, 0, 0, parts});
}
Location Context::fusedLoc(llvm::ArrayRef<Location> locs, llvm::StringRef metadata) {
  llvm::SmallVector<const LocationStorage *, 4> parts;
  for (auto l : locs) parts.push_back(l.storage());
  return unique(*this, {LocationKind::Fused, metadata, 0, 0, 0, 0, parts});
}

// ---- types ----------------------------------------------------------------------------------------------------------

IntegerType IntegerType::get(Context &c, unsigned width, Signedness sign) {
  TypeStorage k(TypeKind::Integer);
  k.width = width;
  k.signedness = sign;
  return unique(c, k);
}
IndexType IndexType::get(Context &c) { return unique(c, TypeStorage(TypeKind::Index)); }
FloatType FloatType::get(Context &c, FloatKind kind) {
  TypeStorage k(TypeKind::Float);
  k.floatKind = kind;
  return unique(c, k);
}
PointerType PointerType::get(Type pointee, unsigned addressSpace) {
  TypeStorage k(TypeKind::Pointer);
  k.element = pointee.storage();
  k.width = addressSpace;
  return unique(*pointee.context(), k);
}
TensorType TensorType::get(llvm::ArrayRef<int64_t> shape, Type element, const layouts::Encoding *encoding) {
  TypeStorage k(TypeKind::Tensor);
  k.shape = shape;
  k.element = element.storage();
  k.encoding = encoding;
  return unique(*element.context(), k);
}
MemDescType MemDescType::get(llvm::ArrayRef<int64_t> shape, Type element, const layouts::Encoding *encoding,
                             Attribute memorySpace, bool isMutable, llvm::ArrayRef<int64_t> allocShape) {
  TypeStorage k(TypeKind::MemDesc);
  k.shape = shape;
  k.allocShape = allocShape.empty() ? shape : allocShape;
  k.element = element.storage();
  k.encoding = encoding;
  k.memorySpace = memorySpace.storage();
  k.flag = isMutable;
  return unique(*element.context(), k);
}
Attribute MemDescType::memorySpace() const { return s_->memorySpace; }
TensorDescType TensorDescType::get(llvm::ArrayRef<int64_t> shape, Type element, const layouts::Encoding *encoding) {
  TypeStorage k(TypeKind::TensorDesc);
  k.shape = shape;
  k.element = element.storage();
  k.encoding = encoding;
  return unique(*element.context(), k);
}
AsyncTokenType AsyncTokenType::get(Context &c) { return unique(c, TypeStorage(TypeKind::AsyncToken)); }
FunctionType FunctionType::get(Context &c, llvm::ArrayRef<Type> inputs, llvm::ArrayRef<Type> results) {
  llvm::SmallVector<const TypeStorage *, 8> in, out;
  for (auto t : inputs) in.push_back(t.storage());
  for (auto t : results) out.push_back(t.storage());
  TypeStorage k(TypeKind::Function);
  k.inputs = in;
  k.results = out;
  return unique(c, k);
}
OpaqueType OpaqueType::get(Context &c, llvm::StringRef text) {
  TypeStorage k(TypeKind::Opaque);
  k.text = text;
  return unique(c, k);
}

const llvm::fltSemantics &FloatType::semantics(FloatKind k) {
  switch (k) {
  case FloatKind::F16: return llvm::APFloat::IEEEhalf();
  case FloatKind::BF16: return llvm::APFloat::BFloat();
  case FloatKind::F32: return llvm::APFloat::IEEEsingle();
  case FloatKind::F64: return llvm::APFloat::IEEEdouble();
  case FloatKind::F8E4M3FN: return llvm::APFloat::Float8E4M3FN();
  case FloatKind::F8E4M3FNUZ: return llvm::APFloat::Float8E4M3FNUZ();
  case FloatKind::F8E4M3B11FNUZ: return llvm::APFloat::Float8E4M3B11FNUZ();
  case FloatKind::F8E5M2: return llvm::APFloat::Float8E5M2();
  case FloatKind::F8E5M2FNUZ: return llvm::APFloat::Float8E5M2FNUZ();
  }
  llvm_unreachable("float kind");
}
const llvm::fltSemantics &FloatType::semantics() const { return semantics(s_->floatKind); }

llvm::StringRef FloatType::name(FloatKind k) {
  switch (k) {
  case FloatKind::F16: return "f16";
  case FloatKind::BF16: return "bf16";
  case FloatKind::F32: return "f32";
  case FloatKind::F64: return "f64";
  case FloatKind::F8E4M3FN: return "f8E4M3FN";
  case FloatKind::F8E4M3FNUZ: return "f8E4M3FNUZ";
  case FloatKind::F8E4M3B11FNUZ: return "f8E4M3B11FNUZ";
  case FloatKind::F8E5M2: return "f8E5M2";
  case FloatKind::F8E5M2FNUZ: return "f8E5M2FNUZ";
  }
  llvm_unreachable("float kind");
}

unsigned Type::bitWidth() const {
  switch (s_->kind) {
  case TypeKind::Integer: return s_->width;
  case TypeKind::Index:
  case TypeKind::Pointer: return 64;
  case TypeKind::Float: return llvm::APFloat::semanticsSizeInBits(FloatType::semantics(s_->floatKind));
  case TypeKind::Tensor:
  case TypeKind::MemDesc:
  case TypeKind::TensorDesc: return Type(s_->element).bitWidth();
  case TypeKind::AsyncToken:
  case TypeKind::Function:
  case TypeKind::Opaque: return 0;
  }
  llvm_unreachable("type kind");
}

Type Type::scalar() const { return s_->kind == TypeKind::Tensor ? Type(s_->element) : *this; }
Type Type::withScalar(Type element) const {
  if (auto t = dyn_cast<TensorType>()) return t.withElement(element);
  return element;
}

int64_t ShapedType::numElements() const {
  int64_t n = 1;
  for (auto d : shape()) n *= d;
  return n;
}

// ---- attributes -----------------------------------------------------------------------------------------------------

UnitAttr UnitAttr::get(Context &c) { return unique(c, AttributeStorage(AttributeKind::Unit)); }
IntegerAttr IntegerAttr::get(Type type, llvm::APInt value) {
  AttributeStorage k(AttributeKind::Integer);
  k.type = type.storage();
  k.bits = std::move(value);
  return unique(*type.context(), k);
}
IntegerAttr IntegerAttr::get(Type type, int64_t v) { return get(type, llvm::APInt(type.bitWidth(), v, true, true)); }
IntegerAttr IntegerAttr::getBool(Context &c, bool b) { return get(c.i1(), llvm::APInt(1, b)); }
IntegerAttr IntegerAttr::getI32(Context &c, int64_t v) { return get(c.i32(), v); }

FloatAttr FloatAttr::get(Type type, const llvm::APFloat &value) {
  AttributeStorage k(AttributeKind::Float);
  k.type = type.storage();
  k.bits = value.bitcastToAPInt();
  return unique(*type.context(), k);
}
FloatAttr FloatAttr::get(Type type, double d) {
  llvm::APFloat f(d);
  bool lost;
  f.convert(type.cast<FloatType>().semantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return get(type, f);
}
StringAttr StringAttr::get(Context &c, llvm::StringRef s) {
  AttributeStorage k(AttributeKind::String);
  k.text = s;
  return unique(c, k);
}
TypeAttr TypeAttr::get(Type t) {
  AttributeStorage k(AttributeKind::Type);
  k.type = t.storage();
  return unique(*t.context(), k);
}
ArrayAttr ArrayAttr::get(Context &c, llvm::ArrayRef<Attribute> a) {
  llvm::SmallVector<const AttributeStorage *, 8> v;
  for (auto x : a) v.push_back(x.storage());
  AttributeStorage k(AttributeKind::Array);
  k.array = v;
  return unique(c, k);
}
DenseArrayAttr DenseArrayAttr::get(Type element, llvm::ArrayRef<int64_t> values) {
  AttributeStorage k(AttributeKind::DenseArray);
  k.type = element.storage();
  k.values = values;
  return unique(*element.context(), k);
}
DenseArrayAttr DenseArrayAttr::getI32(Context &c, llvm::ArrayRef<int64_t> v) { return get(c.i32(), v); }

DenseElementsAttr DenseElementsAttr::get(TensorType type, llvm::ArrayRef<llvm::APInt> patterns) {
  if (patterns.size() > 1 && llvm::all_equal(patterns)) patterns = patterns.take_front(1);
  AttributeStorage k(AttributeKind::DenseElements);
  k.type = type.storage();
  k.elements = patterns;
  return unique(*type.context(), k);
}
DenseElementsAttr DenseElementsAttr::withType(TensorType t) const { return get(t, s_->elements); }

SymbolAttr SymbolAttr::get(Context &c, llvm::StringRef s) {
  AttributeStorage k(AttributeKind::Symbol);
  k.text = s;
  return unique(c, k);
}
DictionaryAttr DictionaryAttr::get(Context &c, llvm::ArrayRef<NamedAttribute> entries) {
  llvm::SmallVector<NamedAttribute, 8> sorted(entries.begin(), entries.end());
  llvm::sort(sorted, [](auto &a, auto &b) { return a.name < b.name; });
  AttributeStorage k(AttributeKind::Dictionary);
  k.entries = sorted;
  return unique(c, k);
}
Attribute DictionaryAttr::get(llvm::StringRef name) const {
  for (auto &e : entries())
    if (e.name == name) return e.value;
  return {};
}
EncodingAttr EncodingAttr::get(Context &c, const layouts::Encoding *e) {
  AttributeStorage k(AttributeKind::Encoding);
  k.encoding = e;
  return unique(c, k);
}
OpaqueAttr OpaqueAttr::get(Context &c, llvm::StringRef text) {
  AttributeStorage k(AttributeKind::Opaque);
  k.text = text;
  return unique(c, k);
}

Type typeOfConstant(Attribute a) {
  if (auto i = a.dyn_cast<IntegerAttr>()) return i.type();
  if (auto f = a.dyn_cast<FloatAttr>()) return f.type();
  if (auto d = a.dyn_cast<DenseElementsAttr>()) return d.type();
  return Type();
}

const llvm::APInt *splatBits(Attribute a) {
  if (auto i = a.dyn_cast<IntegerAttr>()) return &i.storage()->bits;
  if (auto f = a.dyn_cast<FloatAttr>()) return &f.storage()->bits;
  if (auto d = a.dyn_cast<DenseElementsAttr>(); d && d.isSplat()) return &d.splat();
  return nullptr;
}

} // namespace tessera::ir
