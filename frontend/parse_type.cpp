// Types (see parser_state.h).
#include "frontend/parser_state.h"
#include "ir/tensor_queries.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {
using namespace ir;

static std::optional<FloatKind> floatKind(llvm::StringRef n) {
  for (auto k : {FloatKind::F16, FloatKind::BF16, FloatKind::F32, FloatKind::F64, FloatKind::F8E4M3FN,
                 FloatKind::F8E4M3FNUZ, FloatKind::F8E4M3B11FNUZ, FloatKind::F8E5M2, FloatKind::F8E5M2FNUZ})
    if (FloatType::name(k) == n) return k;
  return std::nullopt;
}

Type ParserState::parseType() {
  DepthGuard guard(*this);
  if (!guard.ok) return {};
  const char *at = (lex.skipSpace(), lex.position());
  if (lex.peek() == '!') {
    lex.bump();
    auto name = lex.suffixIdentifier();
    if (name == "tt.ptr") return parsePointerBody();
    if (name == "tt.tensordesc") return parseTensorDescBody();
    if (name == "ttg.memdesc" || name == "triton_gpu.memdesc" || name == "tt.memdesc") return parseMemDescBody();
    if (name == "ttg.async.token" || name == "triton_gpu.async.token") return AsyncTokenType::get(ctx);
    if (!name.contains('.')) {
      auto it = typeAliases_.find(name);
      if (it == typeAliases_.end()) return error("undefined type alias '!" + name + "'", at), Type();
      auto &alias = it->second;
      if (!readAlias(alias, "type alias '!", name, at, [&] { return bool(alias.type = parseType()); })) return {};
      return alias.type;
    }
    // A type of a dialect that is only carried.
    if (lex.raw() == '<') {
      llvm::StringRef body;
      if (!balanced(body)) return {};
    }
    return OpaqueType::get(ctx, llvm::StringRef(at, lex.position() - at));
  }
  if (lex.peek() == '(') {
    llvm::SmallVector<Type, 4> ins, outs;
    if (!parseFunctionalType(ins, outs)) return {};
    return FunctionType::get(ctx, ins, outs);
  }
  auto word = lex.identifier();
  if (word == "tensor") return parseTensorType();
  if (word == "index") return ctx.index();
  if (word == "none") return OpaqueType::get(ctx, "none");
  if (word == "vector" || word == "memref" || word == "tuple") {
    llvm::StringRef body;
    if (lex.raw() != '<' || !balanced(body)) return error("expected '<' after '" + word + "'", at), Type();
    return OpaqueType::get(ctx, llvm::StringRef(at, lex.position() - at));
  }
  if (auto k = floatKind(word)) return FloatType::get(ctx, *k);
  auto width = word;
  Signedness sign = width.consume_front("si")   ? Signedness::Signed
                    : width.consume_front("ui") ? Signedness::Unsigned
                    : width.consume_front("i")  ? Signedness::Signless
                                                : Signedness::Signless;
  unsigned n = 0;
  if (!width.empty() && width.size() < word.size() && !width.getAsInteger(10, n)) {
    if (n == 0 || n > 4096)
      return error("integer type of " + llvm::Twine(n) + " bits; 1 to 4096 are possible", at), Type();
    return IntegerType::get(ctx, n, sign);
  }
  lex.seek(at);
  if (word.empty())
    error("expected a type", at);
  else
    error("unknown type '" + word + "'", at);
  return {};
}

bool ParserState::parseDimensions(llvm::SmallVectorImpl<int64_t> &dims, bool elementFollows) {
  // 128x64xf16: digits and x; a dimension is followed by `x`.
  while (llvm::isDigit(lex.peek())) {
    const char *at = lex.position();
    // `0x…` in a dimension list is zero and x, not a hexadecimal number.
    uint64_t v = 0;
    while (llvm::isDigit(lex.raw())) {
      if (v > (uint64_t(1) << 58)) return error("dimension is too large", at);
      v = v * 10 + (lex.raw() - '0');
      lex.bump();
    }
    dims.push_back(v);
    if (lex.raw() == 'x')
      lex.bump();
    else if (elementFollows)
      return error("expected 'x' and an element type after a dimension");
    else
      return true;
  }
  if (lex.peek() == '?' || lex.peek() == '*') return error("dimensions must be known");
  if (!elementFollows && !dims.empty()) return error("expected a dimension");
  return true;
}

/// A buffer may have one dimension more than its layout: that of the copies of a pipeline.
static bool rankFits(size_t rank, const layouts::Encoding *e) {
  return e->rank() == rank || e->rank() + 1 == rank || e->kind() == layouts::EncodingKind::NvmmaShared ||
         e->kind() == layouts::EncodingKind::TensorMemory || e->kind() == layouts::EncodingKind::TensorMemoryScales;
}

Type ParserState::rankError(llvm::StringRef what, size_t rank, const layouts::Encoding *e, const char *at) {
  error("the " + what + " has rank " + llvm::Twine(rank) + " but its layout has rank " + llvm::Twine(e->rank()), at);
  return {};
}

/// Whether so many elements can be counted and their bytes, too.
static bool isCountable(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t d : shape)
    if (d && elements > (int64_t(1) << 40) / d)
      return false;
    else
      elements *= std::max<int64_t>(d, 1); // an empty dimension does not excuse the others
  return true;
}

Type ParserState::parseTensorType(bool descriptor) {
  const char *at = lex.position();
  if (!expect("<", "a tensor type")) return {};
  llvm::SmallVector<int64_t, 4> shape;
  if (!parseDimensions(shape, true)) return {};
  Type element = parseType();
  if (!element) return {};
  if (element.isa<ShapedType>() || element.isa<FunctionType>() || element.isa<AsyncTokenType>())
    return error("a tensor cannot hold this type", at), Type();
  if (!isCountable(shape)) return error("the tensor has too many elements", at), Type();
  if (shape.size() > layouts::kMaxRank)
    return error("tensors have at most " + llvm::Twine(layouts::kMaxRank) + " dimensions", at), Type();
  const layouts::Encoding *e = nullptr;
  if (lex.eat(",")) {
    const char *layoutAt = (lex.skipSpace(), lex.position());
    layoutElement_ = element;
    e = parseEncoding();
    layoutElement_ = {};
    if (!e) return {};
    if (descriptor) {
      if (!expect(">", "a tensor type")) return {};
      return TensorDescType::get(shape, element, e);
    }
    if (e->isShared()) {
      // Before memory descriptors, a tensor with a shared layout was a buffer.
      if (!rankFits(shape.size(), e)) return rankError("buffer", shape.size(), e, layoutAt);
      if (!expect(">", "a tensor type")) return {};
      return MemDescType::get(shape, element, e, sharedMemorySpace(ctx), true);
    }
    if (!e->isDistributed()) return error("a tensor's layout must be distributed over threads", layoutAt), Type();
    if (e->rank() != shape.size()) return rankError("tensor", shape.size(), e, layoutAt);
  }
  if (!expect(">", "a tensor type")) return {};
  return descriptor ? Type(TensorDescType::get(shape, element)) : Type(TensorType::get(shape, element, e));
}

Type ParserState::parsePointerBody() {
  if (!expect("<", "a pointer type")) return {};
  const char *at = lex.position();
  Type pointee = parseType();
  if (!pointee) return {};
  int64_t space = 1;
  if (lex.eat(",") && !parseInteger(space)) return {};
  if (space < 0 || space > 100) return error("address space " + llvm::Twine(space) + " is out of range", at), Type();
  if (!expect(">", "a pointer type")) return {};
  return PointerType::get(pointee, space);
}

Type ParserState::parseTensorDescBody() {
  // <tensor<128x64xf16>> (up to 3.6) or <128x64xf16, #shared>.
  const char *at = lex.position();
  if (!expect("<", "a tensor descriptor type")) return {};
  if (lex.eatWord("tensor")) {
    Type t = parseTensorType(true);
    return t && expect(">", "a tensor descriptor type") ? t : Type();
  }
  llvm::SmallVector<int64_t, 4> shape;
  if (!parseDimensions(shape, true)) return {};
  Type element = parseType();
  if (!element) return {};
  if (!element.isInteger() && !element.isFloat() && !element.isPointer())
    return error("a tensor descriptor cannot hold this type", at), Type();
  if (shape.size() > layouts::kMaxRank)
    return error("tensor descriptors have at most " + llvm::Twine(layouts::kMaxRank) + " dimensions", at), Type();
  const layouts::Encoding *e = nullptr;
  if (lex.eat(",") && !(e = parseEncoding())) return {};
  if (!expect(">", "a tensor descriptor type")) return {};
  return TensorDescType::get(shape, element, e);
}

Type ParserState::parseMemDescBody() {
  const char *at = lex.position();
  auto fail = [&](const llvm::Twine &message, const char *place) {
    error(message, place);
    return Type();
  };
  if (!expect("<", "a memory descriptor type")) return {};
  llvm::SmallVector<int64_t, 4> shape, alloc;
  if (!parseDimensions(shape, true)) return {};
  Type element = parseType();
  if (!element) return {};
  if (shape.size() > layouts::kMaxRank)
    return fail("memory descriptors have at most " + llvm::Twine(layouts::kMaxRank) + " dimensions", at);
  if (!isCountable(shape)) return fail("the buffer has too many elements", at);
  const layouts::Encoding *e = nullptr;
  const char *layoutAt = nullptr;
  Attribute space;
  bool isMutable = false;
  while (lex.eat(",")) {
    lex.skipSpace();
    if (!e) layoutAt = lex.position();
    if (lex.eatWord("mutable"))
      isMutable = true;
    else if (llvm::isDigit(lex.peek())) {
      if (!parseDimensions(alloc, false)) return {};
    } else if (!e) {
      if (!(e = parseEncoding())) return {};
    } else if (!(space = parseAttribute()))
      return {};
  }
  if (!expect(">", "a memory descriptor type")) return {};
  if (!e) return fail("a memory descriptor needs a layout", at);
  if (e->isDistributed()) return fail("a memory descriptor needs a layout of memory", layoutAt);
  if (!rankFits(shape.size(), e)) return rankError("buffer", shape.size(), e, layoutAt);
  bool isWrongRank = !alloc.empty() && (alloc.size() < shape.size() || alloc.size() > layouts::kMaxRank);
  if (isWrongRank)
    return fail("the shape of the allocation has " + counted(alloc.size(), "dimension") + "; the buffer has " +
                    llvm::Twine(shape.size()),
                at);
  if (!isCountable(alloc)) return fail("the buffer has too many elements", at);
  if (!space) space = sharedMemorySpace(ctx); // older spelling
  return MemDescType::get(shape, element, e, space, isMutable, alloc);
}

Type ParserState::parseMaybeStripped(TypeRule rule) {
  if (lex.peek() == '<') {
    if (rule == TypeRule::MemDesc) return parseMemDescBody();
    if (rule == TypeRule::Ptr || rule == TypeRule::PtrLike) return parsePointerBody();
    if (rule == TypeRule::TensorDesc) return parseTensorDescBody();
  }
  return parseType();
}

bool ParserState::parseTypeList(llvm::SmallVectorImpl<Type> &out) {
  do {
    Type t = parseType();
    if (!t) return false;
    out.push_back(t);
  } while (lex.eat(","));
  return true;
}
bool ParserState::parseTypeListParens(llvm::SmallVectorImpl<Type> &out) {
  if (!expect("(")) return false;
  if (lex.eat(")")) return true;
  return parseTypeList(out) && expect(")");
}
bool ParserState::parseFunctionalType(llvm::SmallVectorImpl<Type> &ins, llvm::SmallVectorImpl<Type> &outs) {
  if (!parseTypeListParens(ins) || !expect("->", "a function type")) return false;
  if (lex.peek() == '(') return parseTypeListParens(outs);
  Type t = parseType();
  if (!t) return false;
  outs.push_back(t);
  return true;
}

} // namespace tessera::frontend
