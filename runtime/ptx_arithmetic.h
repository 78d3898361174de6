// What PTX's instructions compute on the operands of one thread: arithmetic, logic, comparisons, conversions. Shared by
// the emulator, which runs inline PTX lane by lane, and the interpreter, which evaluates tt.elementwise_inline_asm.
//
//   fma.rn.relu.bf16x2 d, a, b, c     operationOf("fma", {"rn", "relu", "bf16x2"}, 3, why)->run({a, b, c})
//
// Values are bit patterns in the low bits of a word. Source: "Parallel Thread Execution ISA", Instruction Set, by the
// sections that the rows of ptx_arithmetic.cpp name. Approximations (.approx, .full) are computed in double and rounded
// once, which is within the manual's bounds.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cfenv>
#include <cstdint>
#include <optional>
#include <string>

namespace tessera::inline_ptx {

/// A type's modifier: ".f32" without its dot.
struct Type {
  /// b u s f (32 and 64 bits) h (f16) y (bf16) p (predicate) t (tf32); of conversions: e (e4m3) m (e5m2) q (e2m1)
  /// k (ue8m0)
  char kind = 0;
  unsigned bits = 0; // of one element
  bool pair = false; // two elements, the first in the low bits
  unsigned bytes() const { return kind == 'p' ? 1 : bits * (pair ? 2 : 1) / 8; }
  bool isFloat() const { return kind && llvm::StringRef("fhytemqk").contains(kind); }
  explicit operator bool() const { return kind; }
};
Type typeOf(llvm::StringRef);

/// An instruction with its modifiers.
class Operation {
public:
  /// The first result. `carry`: the condition code's carry, for those that read or write it.
  uint64_t run(const uint64_t *in, bool *carry = nullptr) const;
  /// The second result, after the bar: `setp.lt.f32 p|q, a, b`.
  uint64_t runSecond(const uint64_t *in) const;

  using Evaluate = uint64_t (*)(const Operation &, const uint64_t *in);
  Evaluate evaluate = nullptr;
  Type type; // of the result, and of the operands
  Type from; // of cvt's and set's operands
  unsigned variant = 0;
  int rounding = FE_TONEAREST;
  bool ftz = false, saturate = false, relu = false, nan = false;
  bool finite = false;    // .satfinite; `saturate` is .sat
  uint8_t combine = 0;    // setp with a third operand: & | ^
  bool hasSecond = false; // may have a second result
  bool readsCarry = false, writesCarry = false;
  /// The type in which a floating-point literal among the operands is written; 64 bits for f64 alone.
  Type literalType() const { return from ? from : type; }

private:
  uint64_t runPair(const uint64_t *in) const;
};

/// The instruction, or nothing with the reason: "modifier .rna".
std::optional<Operation> operationOf(llvm::StringRef opcode, llvm::ArrayRef<llvm::StringRef> modifiers, size_t operands,
                                     std::string &why);

/// A number as bits of the type: of literals such as 0.5.
uint64_t encodeLiteral(Type, double);

} // namespace tessera::inline_ptx
