// The decoder of inline PTX, inside: the statements of a text (runtime/ptx_text.h) with the rows of their operands, and
// the forms that a statement may have.
// The forms are in files by subject: inline_ptx_scalar.cpp, inline_ptx_memory.cpp, inline_ptx_matrix.cpp.
#pragma once
#include "runtime/emulator/decode.h"
#include "runtime/ptx_text.h"
#include "llvm/IR/InlineAsm.h"

namespace tessera::emulator::ptx {

using PtxType = inline_ptx::Type;
using inline_ptx::typeOf;

struct Operand {
  enum Kind { Register, Immediate, Address, Vector, Sink } kind = Register; // Sink: _
  Row row = kNoRow;
  unsigned bytes = 0;
  uint64_t immediate = 0;
  bool isReal = false;        // the immediate is a double's bits
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

/// An instruction of arithmetic, lane by lane.
struct ScalarCall {
  inline_ptx::Operation operation;
  bool second = false; // its second result
  llvm::SmallVector<uint8_t, 4> bytes;
  uint8_t to = 8;
  Row guard = kNoRow;
  bool negated = false;
  Row carry = kNoRow;
};

class PtxDecoder {
public:
  PtxDecoder(Decoder &d, llvm::CallInst &c)
      : d_(d), call_(c), asm_(llvm::cast<llvm::InlineAsm>(c.getCalledOperand())) {}
  bool run(std::string &problem);

private:
  void bindArguments();
  bool bind(const inline_ptx::TextStatement &, Statement &out);
  bool bind(const inline_ptx::TextOperand &, Operand &out);
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
  void call(const Statement &s, const Operand &to, llvm::ArrayRef<Operand> in, const inline_ptx::Operation &,
            bool second = false);
  Row carry() {
    if (carry_ == kNoRow) carry_ = d_.fresh(1);
    return carry_;
  }
  bool emitMove(Statement &s);
  bool emitTrap(Statement &s);
  bool emitScalar(Statement &s);
  bool emitCopy(Statement &s);
  bool emitMatrixAccess(Statement &s);
  bool emitMma(Statement &s);
  bool emitWarpgroupDot(Statement &s);
  bool emitWarpgroup(Statement &s);
  bool emitFence(Statement &s);
  bool emitBarrier(const Statement &s);
  bool emitMbarrierForm(Statement &s);
  bool emitElectForm(Statement &s);
  bool emitTensorCopyForm(Statement &s);
  bool emitTensorMapForm(Statement &s);
  bool emitTensorMemoryForm(Statement &s);
  bool emitTensorMemoryAccess(Statement &s, bool isLoad);
  bool emitTensorMemoryDot(Statement &s);

  Decoder &d_;
  llvm::CallInst &call_;
  llvm::InlineAsm *asm_;
  inline_ptx::Text text_;
  std::string why_;
  llvm::SmallVector<Operand, 16> bound_; // arguments of the text
  std::vector<Operand> registers_;
  Row carry_ = kNoRow;
  bool loadsTensorMemory_ = false; // and has not waited yet
};

} // namespace tessera::emulator::ptx
