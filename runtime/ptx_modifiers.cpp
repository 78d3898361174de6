// PTX's instructions by name and modifiers (see ptx_arithmetic.h). Modifiers that select another function (.lo, .wide,
// .f4e, …) are part of the name of a row in the table; those that change how it rounds or what it gives at the edges
// are fields of Operation.
#include "runtime/ptx_rows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

namespace tessera::inline_ptx {
using namespace llvm;

Type typeOf(StringRef s) {
  Type t;
  if (s == "pred") return {'p', 1, false};
  if (s == "tf32") return {'t', 32, false};
  t.pair = s.consume_back("x2");
  if (s == "f16") return {'h', 16, t.pair};
  if (s == "bf16") return {'y', 16, t.pair};
  if (s == "e4m3") return {'e', 8, t.pair};
  if (s == "e5m2") return {'m', 8, t.pair};
  if (s == "e2m1" && t.pair) return {'q', 4, true}; // pairs only: a byte
  if (s == "ue8m0" && t.pair) return {'k', 8, true};
  unsigned bits;
  if (s.size() < 2 || !StringRef("busf").contains(s[0]) || s.drop_front().getAsInteger(10, bits)) return {};
  bool isPair = s == "f32" || s == "u16" || s == "s16";
  if (t.pair && !isPair) return {};
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  if (s[0] == 'f' && bits < 32) return {};
  return {s[0], bits, t.pair};
}

namespace {

/// The modifiers of an instruction, as they stand.
struct Modifiers {
  Operation op;
  StringRef part; // lo, hi, wide, l, r, …: selects another function
  bool hasComparison = false, hasCarry = false, clamp = false;
};

constexpr unsigned kNoVariant = ~0u;
unsigned comparisonOf(StringRef m) {
  return StringSwitch<unsigned>(m)
      .Case("eq", Eq)
      .Case("ne", Ne)
      .Cases({"lt", "lo"}, Lt) // .lo, .ls, .hi and .hs are unsigned
      .Cases({"le", "ls"}, Le)
      .Cases({"gt", "hi"}, Gt)
      .Cases({"ge", "hs"}, Ge)
      .Case("equ", Eq | OrUnordered)
      .Case("neu", Ne | OrUnordered)
      .Case("ltu", Lt | OrUnordered)
      .Case("leu", Le | OrUnordered)
      .Case("gtu", Gt | OrUnordered)
      .Case("geu", Ge | OrUnordered)
      .Case("num", Number)
      .Case("nan", NotNumber)
      .Default(kNoVariant);
}

/// False: the modifier is unknown.
bool readModifier(StringRef opcode, StringRef m, Modifiers &out) {
  static constexpr StringRef kParts[] = {"lo",     "hi",  "wide", "shiftamt",  "finite", "infinite",
                                         "number", "f4e", "b4e",  "rc8",       "ecl",    "ecr",
                                         "rc16",   "l",   "r",    "notanumber"};
  Operation &op = out.op;
  if (Type t = typeOf(m)) {
    (op.type ? op.from : op.type) = t;
    return true;
  }
  if (opcode == "setp" || opcode == "set") {
    if (unsigned v = comparisonOf(m); v != kNoVariant && !out.hasComparison) {
      op.variant = v;
      out.hasComparison = true;
      return true;
    }
    op.combine = m == "and" ? '&' : m == "or" ? '|' : m == "xor" ? '^' : 0;
    if (op.combine) return true;
  }
  int rounding = StringSwitch<int>(m)
                     .Cases({"rn", "rna"}, FE_TONEAREST)
                     .Case("rz", FE_TOWARDZERO)
                     .Case("rm", FE_DOWNWARD)
                     .Case("rp", FE_UPWARD)
                     .Default(-1);
  if (rounding != -1) return op.rounding = rounding, true;
  unsigned integral = StringSwitch<unsigned>(m)
                          .Case("rni", RoundEven)
                          .Case("rzi", RoundToZero)
                          .Case("rmi", RoundDown)
                          .Case("rpi", RoundUp)
                          .Default(NoRounding);
  if (integral != NoRounding && opcode == "cvt") return op.variant = integral, true;
  bool *flag = StringSwitch<bool *>(m)
                   .Case("ftz", &op.ftz)
                   .Case("sat", &op.saturate)
                   .Case("satfinite", &op.finite)
                   .Case("relu", &op.relu)
                   .Case("NaN", &op.nan)
                   .Case("cc", &out.hasCarry)
                   .Case("clamp", &out.clamp)
                   .Default(nullptr);
  if (flag) return *flag = true, true;
  if (is_contained(kParts, m) && out.part.empty()) return out.part = m, true;
  // All is computed as the approximation allows, and shf wraps unless it clamps.
  return m == "approx" || m == "full" || m == "wrap";
}

/// add.cc, addc, mad.lo.cc, …: false if it is none.
bool readCarryChain(StringRef opcode, size_t operands, Modifiers &m) {
  bool chained = opcode == "addc" || opcode == "subc" || opcode == "madc";
  if (!m.hasCarry && !chained) return false;
  Operation &op = m.op;
  op.variant = StringSwitch<unsigned>(opcode)
                   .Cases({"add", "addc"}, CarryAdd)
                   .Cases({"sub", "subc"}, CarrySub)
                   .Cases({"mad", "madc"}, m.part == "hi" ? CarryMadHi : CarryMadLo)
                   .Default(kNoVariant);
  bool isMad = op.variant == CarryMadLo || op.variant == CarryMadHi;
  op.readsCarry = chained;
  op.writesCarry = m.hasCarry;
  return op.variant != kNoVariant && operands == (isMad ? 3u : 2u) && !op.type.isFloat() && op.type.bits >= 32;
}

} // namespace

std::optional<Operation> operationOf(StringRef opcode, ArrayRef<StringRef> modifiers, size_t operands,
                                     std::string &why) {
  Modifiers m;
  auto refuse = [&](const Twine &reason) {
    why = reason.str();
    return std::nullopt;
  };
  for (StringRef text : modifiers)
    if (!readModifier(opcode, text, m)) return refuse("modifier ." + text);
  Operation &op = m.op;
  if (!op.type) return refuse("no type");
  if (readCarryChain(opcode, operands, m)) return op;
  if (m.hasCarry) return refuse("modifier .cc");
  SmallString<16> name(opcode);
  if (!m.part.empty()) (name += ".") += m.part;
  if (opcode == "shf") name += m.clamp ? ".clamp" : ".wrap";
  bool isKnown = false;
  const Row *row = rowOf(name, op.type.kind, operands, isKnown);
  if (!row && !isKnown) return refuse("instruction '" + name.str() + "'");
  if (!row) return refuse("type or number of operands");
  bool hasTwoTypes = opcode == "cvt" || opcode == "set" || opcode == "slct" || opcode.starts_with("dp");
  bool comparesWithout = (opcode == "setp" || opcode == "set") && !m.hasComparison;
  if (comparesWithout) return refuse("no comparison");
  if (hasTwoTypes != bool(op.from)) return refuse("number of types");
  if (opcode == "setp" && (operands == 3) != bool(op.combine)) return refuse("number of operands");
  if (opcode == "cvt" && op.type.pair != (operands == 2 || op.from.pair)) return refuse("number of operands");
  bool isDirected = op.rounding == FE_DOWNWARD || op.rounding == FE_UPWARD;
  bool isPower = op.type.kind == 'k'; // up, or to zero
  if (isPower && op.rounding != FE_UPWARD && op.rounding != FE_TOWARDZERO) return refuse("rounding of ue8m0");
  if (op.type.isFloat() && op.type.bits < 32 && !isPower &&
      (isDirected || (op.rounding != FE_TONEAREST && opcode != "cvt")))
    return refuse("rounding of " + Twine(op.type.bits) + " bits");
  op.evaluate = row->evaluate;
  op.hasSecond = opcode == "setp";
  return op;
}

} // namespace tessera::inline_ptx
