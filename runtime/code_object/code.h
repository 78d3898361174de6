// Instructions in the form that is executed: operands resolved to rows of registers, one function for each.
#pragma once
#include "runtime/code_object/instruction.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace tessera::code_object {

struct Wave;
struct Step;
struct Semantic;
struct MatrixPlan;

/// How the bits of an operand are read: its width, and which bit a sign modifier changes.
enum class Type : uint8_t {
  None,
  B16,
  F16,
  BF16,
  B32,
  F32,
  B64,
  F64,
  PackedB16, // two halves of a register, chosen by op_sel and op_sel_hi
  PackedF16,
  PackedF32, // two registers, likewise
  Mask,      // one bit a lane, in SGPRs
};
constexpr unsigned typeBits(Type t) {
  switch (t) {
  case Type::None: return 0;
  case Type::B16:
  case Type::F16:
  case Type::BF16: return 16;
  case Type::B32:
  case Type::F32:
  case Type::PackedB16:
  case Type::PackedF16: return 32;
  case Type::B64:
  case Type::F64:
  case Type::PackedF32:
  case Type::Mask: return 64;
  }
  return 0;
}

/// Selections of SDWA, numbered as in its encoding.
enum class Select : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };

struct Operand {
  enum class Kind : uint8_t { Vector, Scalar, Scc, Literal, Off };
  Kind kind = Kind::Off;
  uint8_t count = 0;  // registers
  uint16_t index = 0; // SGPR, or row of vector registers: AGPRs follow the VGPRs
  bool negate = false, absolute = false, signExtend = false;
  bool highHalf = false; // v1.h
  bool isAgpr = false;
  Select select = Select::Dword;
  enum class Written : uint8_t { Integer, Hexadecimal, Float } written = Written::Integer;
  uint64_t literal = 0; // bits; before the type is known the number as written, a float as a double
  bool isVector() const { return kind == Kind::Vector; }
  bool isScalar() const { return kind == Kind::Scalar; }
};

/// op_sel_hi is not printed where it has its default: ones for packed instructions, zeros for mixed and scaled ones.
inline constexpr uint8_t kOpSelHiNotWritten = 0xff;

/// What follows the operands in the assembly.
struct Modifiers {
  int64_t offset = 0, offset0 = 0, offset1 = 0;
  bool offen = false, idxen = false, returns = false, lds = false, clamp = false, gds = false;
  unsigned outputScale = 0; // 1: mul:2, 2: mul:4, 3: div:2
  uint8_t opSel = 0, opSelHi = kOpSelHiNotWritten, negLo = 0, negHi = 0;
  unsigned cbsz = 0, abid = 0, blgp = 0, bitop3 = 0, byteSelect = 0;
  // DPP: the lane that each takes its first source from; -1: outside of its row. Lanes that may be written.
  bool isDpp = false, boundControl = false, fetchInactive = false;
  std::array<int8_t, 64> dppSource{};
  uint64_t dppLanes = ~uint64_t(0);
  // SDWA.
  bool isSdwa = false;
  Select destination = Select::Dword;
  enum class Unused : uint8_t { Pad, SignExtend, Preserve } unused = Unused::Pad;
  // s_getreg, s_setreg
  // s_set_gpr_idx_on and _mode: bit 0 to 2: sources, bit 3: the destination
  unsigned indexMode = 0;
  unsigned hwreg = 0, hwregOffset = 0, hwregSize = 32;
  std::string hwregName;
};

/// Executes one instruction for a wave.
using Handler = void (*)(Wave &, const Step &);
/// Computes all lanes of a result from all lanes of its sources: rows of 64 entries of 4 bytes, of 8 for types of 64
/// bits.
using RowFunction = void (*)(void *result, const void *a, const void *b, const void *c);

/// What a mnemonic does. One row of the tables in semantics_*.cpp, or made from the parts of a name.
struct Semantic {
  std::string mnemonic;
  Handler handler = nullptr;
  RowFunction rows = nullptr;
  Type result = Type::None;
  std::array<Type, 3> sources{};
  bool addsToResult = false;           // the destination is the last source too (v_fmac_f32)
  bool zeroesHighHalf = false;         // a result of 16 bits, on gfx9
  bool isBitwise = false;              // sign modifiers of floats, but bits that no mode flushes (v_cndmask_b32)
  uint64_t detail = 0;                 // the handler's own
  std::array<uint8_t, 8> parameters{}; // likewise
  const MatrixPlan *matrix = nullptr;  // of matrix instructions: matrix_layout.h
};

struct Step {
  Handler handler = nullptr;
  const Semantic *semantic = nullptr;
  const Operand *operands = nullptr;
  const Modifiers *modifiers = nullptr;
  uint32_t index = 0, target = kNoInstruction;
  uint16_t operandCount = 0;
  uint8_t bytes = 4;
  /// No modifiers, operands of 32 bits, a vector register as the destination: rows are read in place.
  bool isPlain = false;
  bool isVector = false; // VALU: its vector registers may be indexed
  int32_t immediate = 0;
  uint64_t address = 0;
  /// An operand that the instruction does not have is Off.
  const Operand &operator[](unsigned i) const {
    static constexpr Operand kNone;
    return i < operandCount ? operands[i] : kNone;
  }
};

struct Code {
  std::vector<Step> steps;
  std::deque<std::vector<Operand>> operands;
  std::deque<Modifiers> modifiers;
  std::deque<Semantic> semantics; // made for this code
  unsigned vectorRows = 0;
  bool isGfx9 = true, isGfx12 = false;
};

/// The handler of the first half of a pair (VOPD); Step::immediate is then the step of the second.
Handler dualHandler();
/// Null if the mnemonic is not known to this model. `target`: "gfx942".
const Semantic *findSemantic(Code &, llvm::StringRef mnemonic, llvm::StringRef target);

} // namespace tessera::code_object
