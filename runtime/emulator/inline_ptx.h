// The decoder of inline PTX, inside: a text as statements and their operands, and the forms that a statement may
// have. The forms are in files by subject: inline_ptx_scalar.cpp, inline_ptx_memory.cpp, inline_ptx_matrix.cpp.
#pragma once
#include "runtime/emulator/decode.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InlineAsm.h"
#include <cfenv>

namespace tessera::emulator::ptx {

struct PtxType {
  char kind = 0; // b u s f (float) h (half) y (bfloat) p (predicate)
  unsigned bits = 0;
  bool pair = false;
  unsigned bytes() const { return kind == 'p' ? 1 : bits / 8 * (pair ? 2 : 1); }
  explicit operator bool() const { return kind; }
};
PtxType typeOf(llvm::StringRef);

struct Operand {
  enum Kind { Register, Immediate, Address, Vector, Sink } kind = Register; // Sink: _
  Row row = kNoRow;
  unsigned bytes = 0;
  uint64_t immediate = 0;
  int64_t offset = 0;         // Address
  std::vector<Operand> parts; // Vector
};

struct Statement {
  Row guard = kNoRow;
  bool guardNegated = false;
  llvm::StringRef opcode;
  llvm::SmallVector<llvm::StringRef, 8> modifiers; // after the first word
  llvm::SmallVector<Operand, 6> operands;
  bool has(llvm::StringRef m) const { return llvm::is_contained(modifiers, m); }
};

struct ScalarCall;
struct ScalarModifiers; // inline_ptx_scalar.cpp
using Evaluate = uint64_t (*)(const ScalarCall &, const uint64_t *in);
struct ScalarCall {
  Evaluate evaluate = nullptr;
  PtxType type, from; // from: cvt's second type
  unsigned variant = 0;
  int rounding = FE_TONEAREST;
  bool ftz = false, saturate = false;
  llvm::SmallVector<uint8_t, 4> bytes;
  uint8_t to = 8;
  Row guard = kNoRow;
  bool negated = false;
  Row carryIn = kNoRow, carryOut = kNoRow;
};

class PtxDecoder {
public:
  PtxDecoder(Decoder &d, llvm::CallInst &c)
      : d_(d), call_(c), asm_(llvm::cast<llvm::InlineAsm>(c.getCalledOperand())) {}
  bool run(std::string &problem);

private:
  static std::string unescaped(llvm::StringRef s);
  void bindOperands();
  bool declare(llvm::StringRef s);
  bool operand(llvm::StringRef s, Operand &o);
  bool parse(llvm::StringRef s, Statement &out);
  Row source(const Operand &o, unsigned bytes) {
    if (o.kind == Operand::Immediate) return d_.constant(o.immediate, bytes);
    return d_.resized(o.row, o.bytes, bytes);
  }
  bool bad(const llvm::Twine &why) {
    why_ = why.str();
    return false;
  }

  // ---- forms ----
  bool emit(Statement &s);
  Access access(const Statement &s, const Operand &address);
  static bool isHint(llvm::StringRef m);
  bool emitLoadStore(Statement &s);
  bool emitAtomic(Statement &s);
  ScalarCall &call(const Statement &s, Operand &to, llvm::ArrayRef<Operand> in, PtxType type);
  Row carry() {
    if (carry_ == kNoRow) carry_ = d_.fresh(1);
    return carry_;
  }
  bool emitMove(Statement &s);
  bool emitScalar(Statement &s);
  bool emitEvaluation(Statement &, const ScalarModifiers &, llvm::ArrayRef<Operand> in, Evaluate, unsigned variant,
                      size_t operands);
  bool emitComparison(Statement &, const ScalarModifiers &, llvm::ArrayRef<Operand> in);
  bool emitConversion(Statement &, const ScalarModifiers &, llvm::ArrayRef<Operand> in);
  bool emitFloatArithmetic(Statement &, const ScalarModifiers &, llvm::ArrayRef<Operand> in);
  bool emitCarryChain(Statement &, const ScalarModifiers &, llvm::ArrayRef<Operand> in, bool chained);
  bool emitIntegerArithmetic(Statement &, ScalarModifiers, llvm::ArrayRef<Operand> in);
  bool emitCopy(Statement &s);
  bool emitMatrixAccess(Statement &s);
  bool emitMma(Statement &s);
  bool emitWarpgroup(Statement &s);
  bool emitFence(Statement &s);
  bool emitBarrier(const Statement &s);
  bool emitMbarrierForm(Statement &s);
  bool emitElectForm(Statement &s);
  bool emitTensorCopyForm(Statement &s);
  bool emitTensorMapForm(Statement &s);

  Decoder &d_;
  llvm::CallInst &call_;
  llvm::InlineAsm *asm_;
  std::string text_, why_;
  llvm::SmallVector<Operand, 16> bound_;
  llvm::StringMap<Operand> registers_;
  Row carry_ = kNoRow;
  bool isReal_ = false;
};

} // namespace tessera::emulator::ptx
