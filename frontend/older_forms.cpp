// Other spellings of operations than the op table's. Older ones (2022 to 2024) are read into today's. Most are renamed;
// small differences of a format (types in parentheses, types left out) are accepted where the format is read, in
// formats.cpp. What is here changed its meaning:
//
//   tensors with a shared layout    were values; they are buffers (memory descriptors) today, and their type is read
//                                   as one:
//     %t = triton_gpu.alloc_tensor : tensor<3x16xf16, #shared>     ttg.local_alloc
//     triton_gpu.convert_layout to or from one                     ttg.local_alloc of a value, ttg.local_load
//     tensor.extract_slice %t[%i, 0] [1, 16] [1, 1]                ttg.memdesc_index, or memdesc_subslice
//     %u = triton_gpu.insert_slice_async %p, %t, %i, %mask         ttg.async_copy_global_to_local into the slice; %u
//                                                                  is %t, since the copy changes the buffer itself
//   tt.reduce {redOp = 2 : i32}     had no region
//   triton_gpu.memdesc_subview      took every offset as a value
//
// An insert_slice_async was a group of its own until dumps had `async_commit_group`; the group is made here unless the
// text has that operation.
//
// And newer ones, of Triton 3.9:
//
//   tt.broadcast to another layout  that is the same one for the operand's shape, but for copies in registers: a
//                                   ttg.convert_layout comes before it
//   tt.grid_dependency_wait, tt.grid_dependency_launch_dependents
//                                   the inline PTX that they were until 3.8, tt.elementwise_inline_asm
#include "frontend/parser_state.h"
#include "ir/ops.h"

namespace tessera::frontend {
using namespace ir;

std::string currentName(llvm::StringRef name) {
  static const llvm::StringMap<llvm::StringRef> renamed = {
      {"func", "tt.func"},
      {"func.func", "tt.func"},
      {"return", "tt.return"},
      {"func.return", "tt.return"},
      {"call", "tt.call"},
      {"func.call", "tt.call"},
      {"std.constant", "arith.constant"},
      {"arith.maxf", "arith.maxnumf"}, // what Triton lowered it to: a NaN loses
      {"arith.minf", "arith.minnumf"},
      {"math.abs", "math.absf"},
      {"tt.view", "tt.reshape"},
      {"tt.pure_extern_elementwise", "tt.extern_elementwise"},
      {"tt.impure_extern_elementwise", "tt.extern_elementwise"},
      {"tt.experimental_descriptor_load", "tt.descriptor_load"},
      {"tt.experimental_descriptor_store", "tt.descriptor_store"},
      {"tt.experimental_descriptor_gather", "tt.descriptor_gather"},
      {"tt.experimental_descriptor_scatter", "tt.descriptor_scatter"},
      {"triton_gpu.cmpi", "arith.cmpi"},
      {"triton_gpu.cmpf", "arith.cmpf"},
      {"triton_gpu.select", "arith.select"},
      {"triton_nvidia_gpu.dot_async", "ttng.warp_group_dot"},
      {"triton_nvidia_gpu.dot_wait", "ttng.warp_group_dot_wait"},
  };
  if (auto it = renamed.find(name); it != renamed.end()) return it->second.str();
  for (auto [old, now] :
       {std::pair("triton_gpu.", "ttg."), std::pair("triton_nvidia_gpu.", "ttng."), std::pair("amdgpu.", "amdg.")})
    if (llvm::StringRef rest = name; rest.consume_front(old)) return (now + rest).str();
  return name.str();
}

bool ParserState::parseOlderForm(OpParse &o, llvm::StringRef name, Block *block, bool &handled) {
  using Form = bool (ParserState::*)(OpParse &, Block *);
  static const llvm::StringMap<Form> forms = {
      {"tt.reduce", &ParserState::parseOlderReduce},
      {"ttg.alloc_tensor", &ParserState::parseOlderAlloc},
      {"tensor.extract_slice", &ParserState::parseOlderExtractSlice},
      {"ttg.extract_slice", &ParserState::parseOlderExtractSlice},
      {"ttg.insert_slice_async", &ParserState::parseOlderInsertSlice},
      {"ttg.memdesc_subview", &ParserState::parseOlderSubview},
      {"tt.grid_dependency_wait", &ParserState::parseGridDependency},
      {"tt.grid_dependency_launch_dependents", &ParserState::parseGridDependency},
  };
  o.written = name;
  std::string current = currentName(name);
  if (auto it = forms.find(current); it != forms.end()) {
    handled = true;
    return (this->*it->second)(o, block);
  }
  o.info = lookupOp(current);
  return true;
}

void ParserState::olderDefaults(OpParse &o) {
  auto missing = [&](llvm::StringRef name) { return !o.hasAttr(name); };
  switch (o.info->opcode) {
  case Opcode::tt_reshape:
    if (o.written == "tt.view") o.setAttr(ctx, "allow_reorder", UnitAttr::get(ctx));
    break;
  case Opcode::tt_extern_elementwise:
    if (missing("pure") && o.written != "tt.extern_elementwise")
      o.setAttr(ctx, "pure", IntegerAttr::getBool(ctx, o.written.starts_with("tt.pure")));
    break;
  case Opcode::tt_trans:
    if (missing("order") && !o.operandTypes.empty() && !o.operandTypes[0].empty())
      if (auto t = o.operandTypes[0][0].dyn_cast<TensorType>(); t && t.rank() == 2)
        o.setAttr(ctx, "order", DenseArrayAttr::getI32(ctx, {1, 0}));
    break;
  case Opcode::tt_print:
    if (missing("hex")) o.setAttr(ctx, "hex", IntegerAttr::getBool(ctx, false));
    if (missing("isSigned") && !o.operands.empty())
      o.setAttr(ctx, "isSigned", DenseArrayAttr::getI32(ctx, llvm::SmallVector<int64_t>(o.operands[0].size(), 0)));
    break;
  default: break;
  }
}

bool ParserState::parseOlderReduce(OpParse &o, Block *block) {
  if (lex.peek() != '%') return error("'tt.reduce' is written in the generic form: \"tt.reduce\"(…)", o.at);
  startOp(o, opInfo(Opcode::tt_reduce), o.at);
  OperandRef src;
  if (!parseOperand(src)) return false;
  o.operands[0].push_back(src);
  if (!parseOpAttrs(o) || !expect(":", "tt.reduce")) return false;
  bool paren = lex.eat("(");
  const char *typeAt = (lex.skipSpace(), lex.position());
  Type in = parseType();
  if (!in || (paren && !expect(")")) || !expect("->", "tt.reduce")) return false;
  Type out = parseType();
  if (!out) return false;
  if (!in.isTensor()) return error("'tt.reduce' needs a tensor", typeAt);
  auto redOp = o.attr("redOp") ? o.attr("redOp").dyn_cast<IntegerAttr>() : IntegerAttr();
  if (!redOp || redOp.value().getSignificantBits() > 32)
    return error("'tt.reduce' is written in the generic form, \"tt.reduce\"(…) <{axis = …}> ({…}); only the older one "
                 "with a 'redOp' is not",
                 o.at);
  llvm::erase_if(o.attrs, [](auto &a) { return a.name == "redOp"; });
  Opcode combine;
  switch (redOp.sext()) {
  case 1: combine = Opcode::arith_addi; break;
  case 2: combine = Opcode::arith_addf; break;
  case 3: combine = Opcode::arith_minsi; break;
  case 4: combine = Opcode::arith_maxsi; break;
  case 5: combine = Opcode::arith_minui; break;
  case 6: combine = Opcode::arith_maxui; break;
  case 11: combine = Opcode::arith_minnumf; break;
  case 12: combine = Opcode::arith_maxnumf; break;
  case 15: combine = Opcode::arith_xori; break;
  default:
    return error("redOp " + llvm::Twine(redOp.sext()) + " has no form today; only sums, extrema and xor do", o.at);
  }
  o.operandTypes[0] = {in};
  o.resultTypes[0] = {out};
  Operation *op = build(o, block);
  if (!op) return false;
  Block *body = op->region(0).addBlock();
  Type element = in.scalar();
  OperationState c(combine, {});
  c.operands = {body->addArg(element), body->addArg(element)};
  c.resultTypes = {element};
  Operation *combined = emit(c, body, o.at);
  OperationState r(Opcode::tt_reduce_return, {});
  r.operands = {combined->result()};
  emit(r, body, o.at);
  return true;
}

bool ParserState::parseOlderConvertLayout(OpParse &o, Block *block) {
  if (!parseFormat(o, assemblyFormat(*o.info))) return false;
  if (o.operandTypes[0].empty() || o.resultTypes[0].empty()) return error("'ttg.convert_layout' needs its types", o.at);
  bool fromBuffer = o.operandTypes[0][0].isa<MemDescType>(), toBuffer = o.resultTypes[0][0].isa<MemDescType>();
  if (fromBuffer && toBuffer) return error("a conversion between layouts of shared memory has no form today", o.at);
  if (!fromBuffer && !toBuffer) return build(o, block);
  Value src = resolve(o.operands[0][0], o.operandTypes[0][0]);
  if (!src) return false;
  if (src.type() != o.operandTypes[0][0])
    return error("'%" + o.operands[0][0].name + "' has type " + src.type().str() + ", not " +
                     o.operandTypes[0][0].str(),
                 o.operands[0][0].at);
  OperationState s(fromBuffer ? Opcode::ttg_local_load : Opcode::ttg_local_alloc, {});
  s.operands = {src};
  s.resultTypes = {o.resultTypes[0][0]};
  s.attrs.assign(o.attrs.begin(), o.attrs.end());
  emit(s, block, o.at);
  return true;
}

/// Whether each thread holds the same elements in both layouts, but for how many registers hold copies of them.
static bool differInCopies(const layouts::Encoding *a, const layouts::Encoding *b, llvm::ArrayRef<int64_t> shape) {
  auto &la = a->layoutOf(shape), &lb = b->layoutOf(shape);
  return la.ok() && lb.ok() &&
         la->removeZeroBases(layouts::Dim::Register) == lb->removeZeroBases(layouts::Dim::Register);
}

bool ParserState::parseBroadcast(OpParse &o, Block *block) {
  if (!parseFormat(o, assemblyFormat(*o.info))) return false;
  auto from = o.operandTypes[0][0].dyn_cast<TensorType>(), to = o.resultTypes[0][0].dyn_cast<TensorType>();
  bool changesLayout = from && to && from.encoding() && to.encoding() && from.encoding() != to.encoding();
  if (!changesLayout || from.rank() != to.rank() || !differInCopies(from.encoding(), to.encoding(), from.shape()))
    return build(o, block);
  if (!finishAttrs(o)) return false;
  Value src = resolve(o.operands[0][0], from);
  if (!src) return false;
  if (src.type() != from)
    return error("'%" + o.operands[0][0].name + "' has type " + src.type().str() + ", not " + from.str(),
                 o.operands[0][0].at);
  OperationState conversion(Opcode::ttg_convert_layout, {});
  conversion.operands = {src};
  conversion.resultTypes = {from.withEncoding(to.encoding())};
  OperationState broadcast(Opcode::tt_broadcast, {});
  broadcast.operands = {emit(conversion, block, o.at)->result()};
  broadcast.resultTypes = {to};
  broadcast.attrs.assign(o.attrs.begin(), o.attrs.end());
  emit(broadcast, block, o.at);
  return true;
}

bool ParserState::parseGridDependency(OpParse &o, Block *block) {
  startOp(o, opInfo(Opcode::tt_elementwise_inline_asm), o.at);
  if (!parseOpAttrs(o)) return false;
  llvm::StringRef what = o.written;
  what.consume_front("tt.grid_dependency_");
  o.setAttr(ctx, "asm_string", StringAttr::get(ctx, ("griddepcontrol." + what + "; // dummy $0").str()));
  o.setAttr(ctx, "constraints", StringAttr::get(ctx, "=r"));
  o.setAttr(ctx, "pure", IntegerAttr::getBool(ctx, false));
  o.setAttr(ctx, "packed_element", IntegerAttr::getI32(ctx, 1));
  o.resultTypes[0] = {ctx.i32()};
  return build(o, block);
}

bool ParserState::parseOlderAlloc(OpParse &o, Block *block) {
  startOp(o, opInfo(Opcode::ttg_local_alloc), o.at);
  if (!parseOpAttrs(o) || !expect(":", "alloc_tensor")) return false;
  const char *at = (lex.skipSpace(), lex.position());
  Type t = parseType();
  if (!t) return false;
  if (!t.isa<MemDescType>()) return error("'alloc_tensor' needs a tensor with a layout of shared memory", at);
  o.resultTypes[0] = {t};
  return build(o, block);
}

namespace {
/// An offset: a value or a number.
struct Offset {
  OperandRef ref;
  int64_t number = 0;
  bool isValue = false;
};
} // namespace

static bool parseOffsets(ParserState &p, llvm::SmallVectorImpl<Offset> &out, bool values) {
  if (!p.expect("[", "offsets, sizes and strides")) return false;
  if (!p.lex.lookingAt("]")) do {
      Offset o;
      o.isValue = values && p.lex.peek() == '%';
      if (o.isValue ? !p.parseOperand(o.ref) : !p.parseInteger(o.number)) return false;
      out.push_back(o);
    } while (p.lex.eat(","));
  return p.expect("]", "offsets, sizes and strides");
}

/// The slice of a buffer along its first dimension.
static bool indexBuffer(ParserState &p, Block *block, Value buffer, const Offset &index, Type result, const char *at) {
  Value i;
  if (index.isValue) {
    if (!(i = p.resolve(index.ref, p.ctx.i32()))) return false;
    if (i.type().isIndex()) {
      OperationState cast(Opcode::arith_index_cast, {});
      cast.operands = {i};
      cast.resultTypes = {p.ctx.i32()};
      i = p.emit(cast, block, at)->result();
    }
  } else {
    OperationState c(Opcode::arith_constant, {});
    c.attrs.push_back({p.ctx.intern("value"), IntegerAttr::getI32(p.ctx, index.number)});
    c.resultTypes = {p.ctx.i32()};
    i = p.emit(c, block, at)->result();
  }
  OperationState s(Opcode::ttg_memdesc_index, {});
  s.operands = {buffer, i};
  s.resultTypes = {result};
  p.emit(s, block, at);
  return true;
}

/// A view of `buffer` of type `result` at the offsets: an index of the first dimension, or a part of the same rank.
static bool viewBuffer(ParserState &p, Block *block, Value buffer, llvm::ArrayRef<Offset> offsets, Type result,
                       const char *at) {
  auto from = buffer.type().dyn_cast<MemDescType>(), to = result.dyn_cast<MemDescType>();
  if (!from || !to) return p.error("slices are taken of tensors with a layout of shared memory", at);
  if (offsets.size() != from.rank())
    return p.error("there are " + llvm::Twine(offsets.size()) + " offsets for " + counted(from.rank(), "dimension"),
                   at);
  auto isConstant = [&](const Offset &o, int64_t &v) {
    v = o.number;
    if (!o.isValue) return true;
    Value def = p.resolve(o.ref);
    auto c = def ? intConstantOf(def) : std::nullopt;
    v = c.value_or(0);
    return c.has_value();
  };
  int64_t v;
  if (to.rank() + 1 == from.rank()) {
    for (auto &o : offsets.drop_front())
      if (!isConstant(o, v) || v) return p.error("only the first dimension of a buffer can be indexed", at);
    if (to.shape() != from.shape().drop_front())
      return p.error("the slice must have the buffer's other dimensions", at);
    return indexBuffer(p, block, buffer, offsets[0], result, at);
  }
  if (to.rank() != from.rank()) return p.error("the slice must have the buffer's rank, or one less", at);
  llvm::SmallVector<int64_t, 4> constants;
  for (auto &o : offsets) {
    if (!isConstant(o, v)) return p.error("a slice of the buffer's rank needs constant offsets", at);
    constants.push_back(v);
  }
  OperationState s(Opcode::ttg_memdesc_subslice, {});
  s.operands = {buffer};
  s.attrs.push_back({p.ctx.intern("offsets"), DenseArrayAttr::getI32(p.ctx, constants)});
  s.resultTypes = {to.shape() == from.shape() && to.allocShape() == from.allocShape()
                       ? result
                       : Type(MemDescType::get(to.shape(), to.element(), to.encoding(), to.memorySpace(),
                                               to.isMutable(), from.allocShape()))};
  if (s.resultTypes[0] != result && to.allocShape() != to.shape()) s.resultTypes[0] = result; // as written
  p.emit(s, block, at);
  return true;
}

bool ParserState::parseOlderExtractSlice(OpParse &o, Block *block) {
  OperandRef src;
  llvm::SmallVector<Offset, 4> offsets, sizes, strides;
  if (!parseOperand(src) || !parseOffsets(*this, offsets, true) || !parseOffsets(*this, sizes, false) ||
      !parseOffsets(*this, strides, false))
    return false;
  if (lex.peek() == '{' && !parseOpAttrs(o)) return false;
  if (!expect(":", "extract_slice")) return false;
  Type from = parseType();
  if (!from) return false;
  if (!lex.eatWord("to")) return error("expected 'to' in 'extract_slice'");
  Type to = parseType();
  if (!to) return false;
  for (auto &s : strides)
    if (s.number != 1) return error("slices have stride 1", o.at);
  Value v = resolve(src, from);
  if (!v) return false;
  if (v.type() != from) return error("'%" + src.name + "' has type " + v.type().str() + ", not " + from.str(), src.at);
  return viewBuffer(*this, block, v, offsets, to, o.at);
}

bool ParserState::parseOlderSubview(OpParse &o, Block *block) {
  OperandRef src;
  llvm::SmallVector<Offset, 4> offsets;
  if (!parseOperand(src) || !parseOffsets(*this, offsets, true) || !parseOpAttrs(o) || !expect(":", "memdesc_subview"))
    return false;
  Type from = parseMaybeStripped(TypeRule::MemDesc);
  if (!from || !expect("->", "memdesc_subview")) return false;
  Type to = parseMaybeStripped(TypeRule::MemDesc);
  if (!to) return false;
  Value v = resolve(src, from);
  if (!v) return false;
  if (v.type() != from) return error("'%" + src.name + "' has type " + v.type().str() + ", not " + from.str(), src.at);
  if (!viewBuffer(*this, block, v, offsets, to, o.at)) return false;
  for (auto &a : o.attrs) block->back()->setAttr(a.name, a.value);
  return true;
}

bool ParserState::parseOlderInsertSlice(OpParse &o, Block *block) {
  llvm::SmallVector<OperandRef, 5> refs;
  if (!parseOperandList(refs) || !parseOpAttrs(o) || !expect(":", "insert_slice_async")) return false;
  Type from = parseType();
  if (!from || !expect("->", "insert_slice_async")) return false;
  Type to = parseType();
  if (!to) return false;
  if (refs.size() < 3 || refs.size() > 5)
    return error("'insert_slice_async' takes pointers, a buffer, an index, a mask and other values", o.at);
  auto buffer = to.dyn_cast<MemDescType>();
  if (!buffer || buffer.rank() < 2) return error("'insert_slice_async' fills a slice of a shared tensor", o.at);
  auto pointers = from.dyn_cast<TensorType>();
  if (!pointers || !pointers.element().isPointer()) return error("'insert_slice_async' reads through pointers", o.at);
  llvm::SmallVector<Value, 5> values;
  for (auto [i, ref] : llvm::enumerate(refs)) {
    Type want = i == 0   ? from
                : i == 1 ? to
                : i == 2 ? Type(ctx.i32())
                : i == 3 ? from.withScalar(ctx.i1())
                         : from.withScalar(pointers.element().cast<PointerType>().pointee());
    Value v = resolve(ref, want);
    if (!v) return false;
    if (v.type() != want && i != 2)
      return error("'%" + ref.name + "' has type " + v.type().str() + ", not " + want.str(), ref.at);
    values.push_back(v);
  }
  Offset index;
  index.ref = refs[2];
  index.isValue = true;
  Type slice =
      MemDescType::get(buffer.shape().drop_front(), buffer.element(), buffer.encoding(), buffer.memorySpace(), true);
  if (!indexBuffer(*this, block, values[1], index, slice, o.at)) return false;
  OpParse copy;
  startOp(copy, opInfo(Opcode::ttg_async_copy_global_to_local), o.at);
  for (auto &a : o.attrs) {
    auto number = a.value.dyn_cast<IntegerAttr>();
    if (a.name != "axis")
      copy.attrs.push_back(a);
    else if (!number || !number.value().isZero())
      return error("'insert_slice_async' fills along axis 0", o.at);
  }
  llvm::erase_if(copy.attrs,
                 [](auto &a) { return a.name == "operandSegmentSizes" || a.name == "operand_segment_sizes"; });
  if (!finishAttrs(copy)) return false;
  OperationState s(Opcode::ttg_async_copy_global_to_local, {});
  s.operands = {values[0], block->back()->result()};
  s.segments = {1, 1, values.size() > 3, values.size() > 4};
  for (unsigned i = 3; i < values.size(); ++i) s.operands.push_back(values[i]);
  for (auto &a : copy.attrs) {
    auto *spec = copy.info->attr(a.name);
    auto number = a.value.dyn_cast<IntegerAttr>();
    if (!spec || !spec->hasDefault || !number ||
        (number.isBool() ? int64_t(number.zext()) : number.sext()) != spec->defaultValue)
      s.attrs.push_back(a);
  }
  s.resultTypes = {AsyncTokenType::get(ctx)};
  Value token = emit(s, block, o.at)->result();
  if (!llvm::StringRef(lex.begin(), lex.end() - lex.begin()).contains("async_commit_group")) {
    OperationState commit(Opcode::ttg_async_commit_group, {});
    commit.operands = {token};
    commit.resultTypes = {AsyncTokenType::get(ctx)};
    emit(commit, block, o.at);
  }
  o.values.emplace({values[1]});
  return true;
}

} // namespace tessera::frontend
