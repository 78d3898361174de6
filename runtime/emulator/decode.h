// From an LLVM function to a Program (machine.h). Calls of functions with bodies are inlined first; what is left of
// calls are intrinsics, inline assembly and a few functions of the drivers (printf, assertions), each looked up in a
// table whose row decodes the call into instructions.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/emulator/machine.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <functional>
#include <map>

namespace tessera::emulator {

class Decoder {
public:
  Decoder(llvm::Module &m, const ir::TargetInfo &target) : module_(m), dl_(m.getDataLayout()), target_(target) {}
  absl::StatusOr<std::unique_ptr<Program>> run(const std::string &kernel, Launch &);

  // ---- for the tables ----
  const ir::TargetInfo &target() const { return target_; }
  Program &program() { return *program_; }
  const llvm::DataLayout &layout() const { return dl_; }
  /// The rows of a value's elements; of one that has a single element.
  llvm::ArrayRef<Row> rows(llvm::Value *);
  Row row(llvm::Value *v) { return rows(v)[0]; }
  /// The scalar types a type consists of.
  llvm::SmallVector<llvm::Type *, 4> elements(llvm::Type *);
  unsigned bytesOf(llvm::Type *scalar);
  unsigned bitsOf(llvm::Type *scalar);
  Row fresh(unsigned bytes);
  Row constant(uint64_t low, unsigned bytes, uint64_t high = 0);
  void define(llvm::Value *v, llvm::SmallVector<Row, 4> rows) { rows_[v] = std::move(rows); }
  /// Fresh rows for all elements of an instruction's result.
  llvm::ArrayRef<Row> defineFresh(llvm::Value *);
  Instruction &emit(Handler, Row to = kNoRow, Row a = kNoRow, Row b = kNoRow, Row c = kNoRow, uint64_t immediate = 0);
  /// An instruction without rows.
  Instruction &emitImmediate(Handler h, uint64_t immediate) {
    return emit(h, kNoRow, kNoRow, kNoRow, kNoRow, immediate);
  }
  llvm::ArrayRef<Row> list(llvm::ArrayRef<Row>);
  Access &emitAccess(Access);
  void copy(Row to, Row from, unsigned bytes);
  /// Integer of any width, sign-extended to its row.
  Row signExtended(Row, unsigned bits, unsigned bytes);
  void maskTo(Row, unsigned bits, unsigned bytes);
  /// Integer zero-extended or truncated from one row width to another.
  Row resized(Row, unsigned from, unsigned to);
  /// An operand as f32 (half and bfloat are computed in it) or f64 row, and a result from it.
  Row toFloat(Row, llvm::Type *);
  void fromFloat(Row to, Row from, llvm::Type *);
  /// Applies the handler of the result's float type to every element; half and bfloat by way of f32.
  void elementwiseFloat(llvm::CallInst &, Handler f32, Handler f64, unsigned operands);
  /// Applies a handler to every element, whatever the type.
  void elementwise(llvm::CallInst &, Handler, unsigned operands);
  uint64_t constantOperand(llvm::CallInst &, unsigned index);
  /// Reports what is not known; the first report is the outcome.
  void unknown(const llvm::Instruction &, const std::string &what);
  Access memoryAccess(llvm::Type *, llvm::Value *pointer, unsigned alignment);
  Space spaceOf(llvm::Type *pointer);
  bool isAmd() const { return target_.vendor == ir::Vendor::Amd; }
  const llvm::Instruction *current() const { return current_; }

private:
  absl::Status inlineCalls(llvm::Function &);
  absl::Status layOutGlobals(Launch &);
  void orderBlocks(llvm::Function &);
  void decodeBlock(llvm::BasicBlock &, BasicBlock &);
  void decodeInstruction(llvm::Instruction &);
  void decodeTerminator(llvm::Instruction &, BasicBlock &);
  void decodeEdge(llvm::BasicBlock *from, llvm::BasicBlock *to, Edge &);
  void decodeBinary(llvm::BinaryOperator &);
  void decodeCompare(llvm::CmpInst &);
  void decodeNegation(llvm::Instruction &);
  void decodeSelect(llvm::Instruction &);
  void decodeAlloca(llvm::AllocaInst &);
  void decodeLoad(llvm::LoadInst &);
  void decodeStore(llvm::StoreInst &);
  void decodeExtractElement(llvm::ExtractElementInst &);
  void decodeInsertElement(llvm::Instruction &);
  void decodeShuffle(llvm::ShuffleVectorInst &);
  void decodeAggregate(llvm::Instruction &);
  void decodeCast(llvm::CastInst &);
  void decodeRegrouping(llvm::CastInst &);
  void unknownConversion(llvm::CastInst &);
  /// One element of a conversion; false: unknown.
  bool castElement(llvm::CastInst &, Row to, llvm::Type *toType, Row from, llvm::Type *fromType);
  bool castAddressSpace(Row to, llvm::Type *toType, Row from, llvm::Type *fromType, bool tracked);
  bool castFloat(Row to, llvm::Type *toType, Row from, llvm::Type *fromType);
  void castToFloat(Row to, llvm::Type *toType, Row from, llvm::Type *fromType, bool isSigned);
  /// Follows 32-bit overflow through an instruction that addresses are computed from (track.cpp).
  static void track(Instruction &, Tracking);
  void decodeGep(llvm::GetElementPtrInst &);
  void decodeCall(llvm::CallInst &);
  void decodeAtomic(llvm::Instruction &);
  void decodeFence(llvm::FenceInst &);
  void constantRows(llvm::Constant *, llvm::SmallVector<Row, 4> &);
  void writeConstant(llvm::Constant *, uint8_t *);
  void markAddresses(llvm::Function &);
  void markAccumulators(llvm::Function &);
  void checkAccumulators(llvm::Instruction &);

  llvm::Module &module_;
  const llvm::DataLayout &dl_;
  const ir::TargetInfo &target_;
  std::unique_ptr<Program> program_;
  llvm::DenseMap<llvm::Value *, llvm::SmallVector<Row, 4>> rows_;
  std::map<std::tuple<uint64_t, uint64_t, unsigned>, Row> constants_;
  llvm::DenseMap<llvm::GlobalVariable *, uint64_t> globals_;
  llvm::DenseMap<llvm::BasicBlock *, unsigned> blockIndex_;
  std::vector<llvm::BasicBlock *> order_;
  llvm::DenseSet<const llvm::Value *> addresses_;    // values that addresses are computed from
  llvm::DenseSet<const llvm::Value *> accumulators_; // results of wgmma, wherever they are handed on
  const llvm::Instruction *current_ = nullptr;
  absl::Status status_;
};

/// An instruction or constant as text, for messages.
std::string printed(const llvm::Value &);

/// A row of a table: an intrinsic by its base name.
struct IntrinsicRow {
  const char *name;
  const char *section; // of the manual
  void (*decode)(Decoder &, llvm::CallInst &);
};
llvm::ArrayRef<IntrinsicRow> llvmIntrinsics();   // llvm_intrinsics.cpp
llvm::ArrayRef<IntrinsicRow> nvidiaIntrinsics(); // nvidia.cpp
llvm::ArrayRef<IntrinsicRow> amdIntrinsics();    // amd.cpp
/// Part of AMD's: values exchanged between lanes (amd_lanes.cpp).
llvm::ArrayRef<IntrinsicRow> amdLaneIntrinsics();
/// Part of NVIDIA's: reads of special registers (nvidia_special_registers.cpp).
llvm::ArrayRef<IntrinsicRow> nvidiaSpecialRegisters();

/// Reads a special register into a new row, by its name in PTX without "%": "globaltimer", "lanemask_lt"
/// (nvidia_special_registers.cpp). False: it is not known.
bool emitSpecialRegister(Decoder &, llvm::StringRef name, Row &, unsigned &bytes);

/// Inline PTX (inline_ptx.cpp). False if a statement is not one of its forms; `problem` then names it.
bool decodeInlinePtx(Decoder &, llvm::CallInst &, std::string &problem);
struct PtxForm {
  const char *form, *section;
};
llvm::ArrayRef<PtxForm> ptxForms();

/// Functions of the NVIDIA driver: vprintf, __assertfail. False if it is another.
bool decodeDriverFunction(Decoder &, llvm::CallInst &);

} // namespace tessera::emulator
