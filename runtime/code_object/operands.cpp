// Parses operands and modifiers of AMD assembly (see operands.h).
#include "runtime/code_object/operands.h"
#include "runtime/code_object/wave.h"
#include "runtime/float_formats.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::code_object {
using namespace llvm;

namespace {

/// Splits at commas outside of brackets.
SmallVector<StringRef, 8> splitOperands(StringRef text) {
  SmallVector<StringRef, 8> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c != ',' || depth) continue;
    out.push_back(text.slice(start, i).trim());
    start = i + 1;
  }
  if (StringRef rest = text.substr(start).trim(); !rest.empty()) out.push_back(rest);
  return out;
}

/// Words outside of brackets; spaces within brackets do not separate.
SmallVector<StringRef, 8> splitWords(StringRef text) {
  SmallVector<StringRef, 8> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ' ';
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c != ' ' || (depth && i < text.size())) continue;
    if (i > start) out.push_back(text.slice(start, i));
    start = i + 1;
  }
  return out;
}

struct NamedRegister {
  const char *name;
  uint16_t index, count;
};
constexpr NamedRegister kNamed[] = {
    {"vcc", kVccLo, 2},
    {"vcc_lo", kVccLo, 1},
    {"vcc_hi", kVccLo + 1, 1},
    {"exec", kExecLo, 2},
    {"exec_lo", kExecLo, 1},
    {"exec_hi", kExecLo + 1, 1},
    {"m0", kM0, 1},
    {"null", kNull, 1},
    {"flat_scratch", kFlatScratchLo, 2},
    {"flat_scratch_lo", kFlatScratchLo, 1},
    {"flat_scratch_hi", kFlatScratchLo + 1, 1},
    {"xnack_mask", 104, 2},
    {"xnack_mask_lo", 104, 1},
    {"xnack_mask_hi", 105, 1},
};

/// "v[4:5]", "v4", "4", "[4:5]" after the letter: index and count.
bool parseIndex(StringRef t, RegisterRange &out) {
  unsigned first, last;
  if (t.consume_front("[")) {
    if (t.consumeInteger(10, first)) return false;
    last = first;
    if (t.consume_front(":") && t.consumeInteger(10, last)) return false;
    if (t != "]" || last < first || last > 1023) return false;
  } else {
    if (t.getAsInteger(10, first) || first > 1023) return false;
    last = first;
  }
  out.index = uint16_t(first);
  out.count = uint16_t(last - first + 1);
  return true;
}

/// VGPR4_VGPR5, SGPR2, AGPR0_…, VGPR3_LO16
bool parseLlvmName(StringRef t, RegisterRange &out) {
  static constexpr std::pair<const char *, RegisterFile> kPrefixes[] = {{"VGPR", RegisterFile::Vgpr},
                                                                        {"AGPR", RegisterFile::Agpr},
                                                                        {"SGPR", RegisterFile::Sgpr},
                                                                        {"TTMP", RegisterFile::Sgpr}};
  for (auto [prefix, file] : kPrefixes) {
    StringRef rest = t;
    unsigned index;
    if (!rest.consume_front(prefix) || rest.consumeInteger(10, index)) continue;
    out.file = file;
    out.index = uint16_t(index + (StringRef(prefix) == "TTMP" ? kTtmp0 : 0));
    out.count = uint16_t(1 + rest.count(prefix));
    return true;
  }
  return false;
}

/// Lanes that DPP takes its source from (ISA guides, "Data Parallel Processing (DPP)", DPP_CTRL).
void setDpp(Modifiers &m, StringRef kind, ArrayRef<unsigned> n, unsigned lanes) {
  m.isDpp = true;
  unsigned k = n.empty() ? 0 : n[0];
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned row = l & ~15u, in = l & 15;
    int from = -1;
    if (kind == "quad_perm" && n.size() == 4)
      from = int((l & ~3u) + (n[l & 3] & 3));
    else if (kind == "dpp8" && n.size() == 8)
      from = int((l & ~7u) + (n[l & 7] & 7));
    else if (kind == "row_shl")
      from = in + k < 16 ? int(l + k) : -1;
    else if (kind == "row_shr")
      from = in >= k ? int(l - k) : -1;
    else if (kind == "row_ror")
      from = int(row + ((in - k) & 15));
    else if (kind == "wave_shl")
      from = l + 1 < lanes ? int(l + 1) : -1;
    else if (kind == "wave_rol")
      from = int((l + 1) % lanes);
    else if (kind == "wave_shr")
      from = int(l) - 1;
    else if (kind == "wave_ror")
      from = int((l + lanes - 1) % lanes);
    else if (kind == "row_mirror")
      from = int(row + 15 - in);
    else if (kind == "row_half_mirror")
      from = int((l & ~7u) + 7 - (l & 7));
    else if (kind == "row_bcast")
      from = k == 15 ? (row ? int(row - 1) : -1) : (l >= 32 ? 31 : -1);
    else if (kind == "row_newbcast" || kind == "row_share")
      from = int(row + (k & 15));
    else if (kind == "row_xmask")
      from = int(row + (in ^ (k & 15)));
    m.dppSource[l] = int8_t(from);
  }
}

void setDppMask(Modifiers &m, uint64_t bits, bool isRow) {
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned of = isRow ? l / 16 : l % 16 / 4;
    if (!(bits >> of & 1)) m.dppLanes &= ~(uint64_t(1) << l);
  }
}

Select parseSelect(StringRef t) {
  return StringSwitch<Select>(t)
      .Case("BYTE_0", Select::Byte0)
      .Case("BYTE_1", Select::Byte1)
      .Case("BYTE_2", Select::Byte2)
      .Case("BYTE_3", Select::Byte3)
      .Case("WORD_0", Select::Word0)
      .Case("WORD_1", Select::Word1)
      .Default(Select::Dword);
}

void parseSdwa(StringRef key, StringRef value, ParsedAssembly &p) {
  Modifiers &m = p.modifiers;
  m.isSdwa = true;
  if (key == "dst_sel") m.destination = parseSelect(value);
  if (key == "dst_unused")
    m.unused = StringSwitch<Modifiers::Unused>(value)
                   .Case("UNUSED_SEXT", Modifiers::Unused::SignExtend)
                   .Case("UNUSED_PRESERVE", Modifiers::Unused::Preserve)
                   .Default(Modifiers::Unused::Pad);
  // Sources are what follows the destination: of compares the mask, of the others the vector register.
  unsigned source = key == "src0_sel" ? 1 : key == "src1_sel" ? 2 : 0;
  bool hasCarry = p.operands.size() > 1 && p.operands[1].isScalar() && p.operands.size() > 3;
  if (source && hasCarry) ++source;
  if (source && source < p.operands.size()) p.operands[source].select = parseSelect(value);
}

void parseFlag(StringRef word, Modifiers &m) {
  if (word == "offen") m.offen = true;
  if (word == "idxen") m.idxen = true;
  if (word == "glc" || word == "sc0" || word == "th:TH_ATOMIC_RETURN") m.returns = true;
  if (word == "lds") m.lds = true;
  if (word == "gds") m.gds = true;
  if (word == "clamp") m.clamp = true;
}

uint8_t bitsOf(ArrayRef<unsigned> n) {
  unsigned out = 0;
  for (auto [i, x] : enumerate(n)) out |= (x & 1) << i;
  return uint8_t(out);
}

/// One entry for each source; where there is one more, it is the destination's, which Modifiers have in bit 3.
void setOpSel(ParsedAssembly &p, ArrayRef<unsigned> list) {
  uint8_t bits = bitsOf(list);
  if (list.size() == p.operands.size() && !list.empty()) {
    auto last = unsigned(list.size() - 1);
    bits = uint8_t((bits & ((1u << last) - 1)) | (bits >> last & 1) << 3);
  }
  p.modifiers.opSel = bits;
}

void parseModifier(StringRef word, ParsedAssembly &p, unsigned lanes) {
  Modifiers &m = p.modifiers;
  auto [key, value] = word.split(':');
  SmallVector<unsigned, 8> list;
  if (value.starts_with("[")) {
    for (StringRef part : llvm::split(value.drop_front().rtrim(']'), ',')) {
      unsigned x = 0;
      if (!part.trim().getAsInteger(0, x)) list.push_back(x);
    }
  }
  int64_t n = 0;
  bool isNumber = !value.getAsInteger(0, n);
  if (isNumber && list.empty()) list.push_back(unsigned(n));
  parseFlag(word, m);
  if (StringRef(word).starts_with("th:TH_ATOMIC") && word.contains("RETURN")) m.returns = true;
  if (key.starts_with("row_mask")) return setDppMask(m, uint64_t(n), true);
  if (key.starts_with("bank_mask")) return setDppMask(m, uint64_t(n), false);
  if (key.starts_with("row_") || key.starts_with("wave_") || key == "quad_perm" || key == "dpp8")
    return setDpp(m, key, list, lanes);
  if (key == "bound_ctrl") m.boundControl = true; // printed only where it is set; older texts say 0
  if (key == "fi") m.fetchInactive = n != 0;
  if (key == "op_sel") return setOpSel(p, list);
  if ((key.ends_with("_sel") && key != "byte_sel") || key == "dst_unused") return parseSdwa(key, value, p);
  if (key == "op_sel_hi") m.opSelHi = bitsOf(list);
  if (key == "neg_lo") m.negLo = bitsOf(list);
  if (key == "neg_hi") m.negHi = bitsOf(list);
  if (key == "mul") m.outputScale = n == 4 ? 2 : 1;
  if (key == "div") m.outputScale = 3;
  if (key == "cbsz") m.cbsz = unsigned(n);
  if (key == "abid") m.abid = unsigned(n);
  if (key == "blgp") m.blgp = unsigned(n);
  if (key == "bitop3") m.bitop3 = unsigned(n);
  if (key == "byte_sel") m.byteSelect = unsigned(n);
  if (key == "offset" && isNumber) m.offset = n;
  if (key == "offset0") m.offset0 = n;
  if (key == "offset1") m.offset1 = n;
  // scaled matrix instructions: matrix_a_fmt and the like are gfx1250's
}

void parseHwreg(StringRef t, Modifiers &m) {
  if (!t.consume_front("hwreg(") || !t.consume_back(")")) return;
  SmallVector<StringRef, 3> parts;
  t.split(parts, ',');
  m.hwregName = parts[0].trim().str();
  m.hwreg = 1;
  if (parts.size() > 2) {
    parts[1].trim().getAsInteger(0, m.hwregOffset);
    parts[2].trim().getAsInteger(0, m.hwregSize);
  }
}

/// "gpr_idx(SRC0,DST)"
void parseIndexMode(StringRef t, Modifiers &m) {
  static constexpr const char *kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
  for (unsigned k = 0; k < 4; ++k)
    if (t.contains(kNames[k])) m.indexMode |= 1u << k;
}

bool parseNumber(StringRef t, Operand &o) {
  if (t.consume_front("lit64(") || t.consume_front("lit(")) t.consume_back(")");
  o.kind = Operand::Kind::Literal;
  o.count = 1;
  if (t.starts_with("0x")) {
    o.written = Operand::Written::Hexadecimal;
    return !t.getAsInteger(0, o.literal);
  }
  int64_t n;
  if (!t.getAsInteger(10, n)) {
    o.literal = uint64_t(n);
    return true;
  }
  double d;
  if (!t.contains('.') || t.getAsDouble(d)) return false;
  o.written = Operand::Written::Float;
  o.literal = std::bit_cast<uint64_t>(d);
  return true;
}

Operand parseOperand(StringRef t, unsigned firstAgpr, Modifiers &m) {
  Operand o;
  if (t.starts_with("hwreg(")) parseHwreg(t, m);
  if (t.starts_with("gpr_idx(")) parseIndexMode(t, m);
  bool isNumber = t.starts_with("-") && t.size() > 1 && (isDigit(t[1]));
  if (!isNumber && t.consume_front("-")) o.negate = true;
  if (t.consume_front("neg(")) {
    o.negate = true;
    t.consume_back(")");
  }
  if (t.consume_front("|")) {
    o.absolute = true;
    t.consume_back("|");
  }
  if (t.consume_front("abs(")) {
    o.absolute = true;
    t.consume_back(")");
  }
  if (t.consume_front("sext(")) {
    o.signExtend = true;
    t.consume_back(")");
  }
  if (t.consume_back(".h")) o.highHalf = true;
  t.consume_back(".l");
  if (RegisterRange r = parseRegister(t); r.file != RegisterFile::None) {
    o.isAgpr = r.file == RegisterFile::Agpr;
    o.kind = r.file == RegisterFile::Sgpr  ? Operand::Kind::Scalar
             : r.file == RegisterFile::Scc ? Operand::Kind::Scc
                                           : Operand::Kind::Vector;
    o.index = uint16_t(r.index + (o.isAgpr ? firstAgpr : 0));
    o.count = uint8_t(std::min<unsigned>(r.count, 255));
    return o;
  }
  uint64_t aperture = StringSwitch<uint64_t>(t)
                          .Case("src_shared_base", kSharedBase)
                          .Case("src_private_base", kPrivateBase)
                          .Case("src_shared_limit", kSharedBase | 0xffffffff)
                          .Case("src_private_limit", kPrivateBase | 0xffffffff)
                          .Default(0);
  if (aperture) {
    o.kind = Operand::Kind::Literal;
    o.literal = aperture;
    o.written = Operand::Written::Integer;
    o.count = 2;
    return o;
  }
  if (!parseNumber(t, o)) o.kind = Operand::Kind::Off;
  return o;
}

} // namespace

RegisterRange parseRegister(StringRef t) {
  RegisterRange out;
  StringRef name = t;
  std::string lower = t.lower();
  if (lower == "scc" || lower == "src_scc") return {RegisterFile::Scc, 0, 1};
  for (auto &n : kNamed)
    if (lower == n.name || lower == std::string("sgpr_") + n.name || lower.rfind(std::string(n.name) + "_gfx", 0) == 0)
      return {RegisterFile::Sgpr, n.index, n.count};
  if (parseLlvmName(name, out)) return out;
  if (t.consume_front("ttmp")) {
    if (!parseIndex(t, out)) return {};
    out.file = RegisterFile::Sgpr;
    out.index = uint16_t(out.index + kTtmp0);
    return out;
  }
  RegisterFile file = t.starts_with("v")   ? RegisterFile::Vgpr
                      : t.starts_with("a") ? RegisterFile::Agpr
                      : t.starts_with("s") ? RegisterFile::Sgpr
                                           : RegisterFile::None;
  if (file == RegisterFile::None || !parseIndex(t.drop_front(), out)) return {};
  out.file = file;
  return out;
}

ParsedAssembly parseAssembly(StringRef text, unsigned firstAgpr, unsigned lanes) {
  ParsedAssembly p;
  auto [mnemonic, rest] = text.trim().split(' ');
  for (const char *suffix : {"_dpp", "_sdwa", "_e32", "_e64"})
    if (mnemonic.consume_back(suffix) && StringRef(suffix) == "_dpp") mnemonic.consume_back("_e64");
  p.mnemonic = mnemonic.str();
  SmallVector<StringRef, 8> operands = splitOperands(rest);
  SmallVector<StringRef, 8> modifiers;
  for (StringRef o : operands) {
    SmallVector<StringRef, 8> words = splitWords(o);
    if (words.empty()) continue;
    p.operands.push_back(parseOperand(words[0], firstAgpr, p.modifiers));
    modifiers.append(words.begin() + 1, words.end());
  }
  for (StringRef word : modifiers) parseModifier(word, p, lanes);
  return p;
}

void resolveLiteral(Operand &o, Type type) {
  if (o.kind != Operand::Kind::Literal) return;
  if (o.written == Operand::Written::Hexadecimal) {
    // 32 bits in the code: of an f64 the upper ones (ISA guides, "Literal constants").
    if (type == Type::F64 && o.literal <= 0xffffffff) o.literal <<= 32;
    return;
  }
  if (o.written == Operand::Written::Integer) return;
  double d = std::bit_cast<double>(o.literal);
  // 1 / (2 pi) is printed in decimals; its bits are those of the nearest number of each type.
  switch (type) {
  case Type::F64:
  case Type::B64: o.literal = std::bit_cast<uint64_t>(d); break;
  case Type::F16:
  case Type::B16:
  case Type::PackedF16:
  case Type::PackedB16: o.literal = runtime::encodeHalf(float(d)); break;
  case Type::BF16: o.literal = runtime::encodeBfloat(float(d)); break;
  default: o.literal = std::bit_cast<uint32_t>(float(d)); break;
  }
}

} // namespace tessera::code_object
