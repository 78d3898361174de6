// Inline PTX under construction: results and operands with their registers, by which its text names them.
//
//   InlinePtx ptx(b);
//   ptx.addResults(b.getInt32Ty(), 2);
//   std::string at = ptx.operand(pointer), guard = ptx.operand(mask);                           "$2", "$3"
//   CallInst *call = ptx.emit("@" + guard + " ld.global.v2.b32 " + InlinePtx::list(0, 2) + ", [" + at + "];",
//                             InlinePtx::Effects::Reads);
//
// Source of the registers' letters: LLVM, "User Guide for NVPTX Back-end"; "Inline PTX Assembly in CUDA", Constraints.
#pragma once
#include "llvm/IR/IRBuilder.h"
#include <string>

namespace tessera::nvidia {

class InlinePtx {
public:
  explicit InlinePtx(llvm::IRBuilder<> &b) : b_(b) {}

  /// Results of one type, $0 and following. They come before all operands. `areEarly`: written before all operands are
  /// read, so that they share no registers with those.
  void addResults(llvm::Type *, unsigned count, bool areEarly = false);
  /// An operand in the register of a result, which keeps its value if the instruction does not write it.
  void addTied(llvm::Value *, unsigned result);
  /// An operand and its name in the text. Pointers to shared memory become the 32 bits that instructions take, by an
  /// instruction of their own, which accesses to the same address share.
  std::string operand(llvm::Value *);
  /// Several of them: "{$4, $5}".
  std::string operands(llvm::ArrayRef<llvm::Value *>);
  static std::string list(unsigned first, unsigned count);

  enum class Effects {
    None,  // a function of its operands
    Reads, // of memory: neither removed nor repeated
    Memory // writes memory, or orders accesses to it: LLVM moves none across
  };
  llvm::CallInst *emit(llvm::StringRef text, Effects = Effects::Memory);
  /// Of instructions that several lanes execute together: LLVM puts them under no further conditions.
  llvm::CallInst *emitConvergent(llvm::StringRef text, Effects = Effects::Memory);
  /// The results of such a call.
  llvm::SmallVector<llvm::Value *, 4> resultsOf(llvm::CallInst *);

private:
  std::string add(llvm::Value *, const std::string &constraint);

  llvm::IRBuilder<> &b_;
  llvm::SmallVector<llvm::Type *, 16> results_;
  llvm::SmallVector<llvm::Value *, 16> operands_;
  std::string constraints_;
};

/// Whether an instruction writes memory or orders accesses to it; of inline PTX, whether it was made so.
bool writesMemory(const llvm::Instruction &);

} // namespace tessera::nvidia
