// Lowering of tt.scan, for any layout and any combining region: the tensor goes to shared memory with the scanned axis
// fastest, the block's threads take its rows in turn and scan each in place, one element after the other, and every thread
// reads its registers back. Sequential along the axis: simple and exact in order, not fast for long rows.
//
// Scratch (transforms/scratch.cpp): the elements of every operand, one array after the other, each aligned to 16 bytes.
#include "codegen/lowering.h"
#include "codegen/shared_access.h"
#include "codegen/target.h"
#include "ir/ops.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

bool lowerScan(Operation *op, FunctionLowering &fl) {
  auto scan = op->cast<tt::ScanOp>();
  auto &b = fl.b;
  auto type = op->operand(0).type().cast<TensorType>();
  unsigned axis = scan.axis(), n = op->numOperands();
  int64_t length = type.dim(axis), rows = type.numElements() / length;
  LinearLayout shared = LinearLayout::identity1D(length, Dim::Offset, layouts::tensorDim(axis));
  for (unsigned d = type.rank(); d-- > 0;)
    if (d != axis) shared *= LinearLayout::identity1D(type.dim(d), Dim::Offset, layouts::tensorDim(d));
  auto &registers = fl.layout(type);

  llvm::SmallVector<llvm::Value *, 2> bases;
  llvm::SmallVector<llvm::Type *, 2> elements, stored;
  int64_t offset = 0;
  for (auto v : op->operands()) {
    llvm::Type *e = fl.elementType(v.type());
    elements.push_back(e);
    stored.push_back(e->isIntegerTy(1) ? b.getInt8Ty() : e);
    bases.push_back(b.CreateConstGEP1_32(b.getInt8Ty(), fl.scratch(op), offset));
    int64_t bytes = e->isPointerTy() ? 8 : std::max<int64_t>(1, e->getPrimitiveSizeInBits() / 8);
    SharedAccess(registers, shared, e, fl).store(bases.back(), fl.get(v), fl.isRepresentative(registers));
    offset += llvm::alignTo(type.numElements() * bytes, 16);
  }
  fl.target.barrier(b);

  // for (row = thread; row < rows; row += threads) for (k = 1; k < length; ++k) element[k] = combine(element[k-1], element[k])
  auto &c = b.getContext();
  auto *function = b.GetInsertBlock()->getParent();
  auto newBlock = [&](const char *name) { return llvm::BasicBlock::Create(c, name, function); };
  auto *before = b.GetInsertBlock(), *rowHead = newBlock("scan.row"), *rowBody = newBlock("scan.first"), *head = newBlock("scan.element"), *body = newBlock("scan.combine"), *rowEnd = newBlock("scan.next"), *after = newBlock("scan.end");
  llvm::Value *thread = fl.threadId();
  b.CreateBr(rowHead);
  b.SetInsertPoint(rowHead);
  auto *row = b.CreatePHI(b.getInt32Ty(), 2);
  row->addIncoming(thread, before);
  b.CreateCondBr(b.CreateICmpULT(row, fl.i32(rows)), rowBody, after);

  b.SetInsertPoint(rowBody);
  llvm::Value *rowStart = b.CreateMul(row, fl.i32(length)), *first = scan.reverse() ? fl.i32(length - 1) : fl.i32(0);
  auto address = [&](unsigned i, llvm::Value *k) { return b.CreateGEP(stored[i], bases[i], b.CreateAdd(rowStart, k)); };
  auto align = [&](unsigned i) { return stored[i]->isPointerTy() ? 8u : std::max(1u, unsigned(stored[i]->getPrimitiveSizeInBits() / 8)); };
  auto read = [&](unsigned i, llvm::Value *k) {
    llvm::Value *v = fl.target.loadShared(b, address(i, k), stored[i], align(i));
    return elements[i] == stored[i] ? v : b.CreateTrunc(v, elements[i]);
  };
  llvm::SmallVector<llvm::Value *, 2> initial;
  for (unsigned i = 0; i < n; ++i) initial.push_back(read(i, first));
  auto *enter = b.GetInsertBlock();
  b.CreateBr(head);

  b.SetInsertPoint(head);
  auto *k = b.CreatePHI(b.getInt32Ty(), 2);
  k->addIncoming(fl.i32(1), enter);
  llvm::SmallVector<llvm::PHINode *, 2> carried;
  for (unsigned i = 0; i < n; ++i) {
    carried.push_back(b.CreatePHI(elements[i], 2));
    carried[i]->addIncoming(initial[i], enter);
  }
  b.CreateCondBr(b.CreateICmpULT(k, fl.i32(length)), body, rowEnd);

  b.SetInsertPoint(body);
  llvm::Value *at = scan.reverse() ? b.CreateSub(fl.i32(length - 1), k) : (llvm::Value *)k;
  llvm::SmallVector<llvm::Value *, 4> args(carried.begin(), carried.end());
  for (unsigned i = 0; i < n; ++i) args.push_back(read(i, at));
  auto results = lowerCombine(scan.combine(), args, fl);
  if (results.size() != n) return fl.error(op, "its combining region cannot be lowered");
  for (unsigned i = 0; i < n; ++i) {
    fl.target.storeShared(b, address(i, at), elements[i] == stored[i] ? results[i] : b.CreateZExt(results[i], stored[i]), align(i));
    carried[i]->addIncoming(results[i], b.GetInsertBlock());
  }
  k->addIncoming(b.CreateAdd(k, fl.i32(1)), b.GetInsertBlock());
  b.CreateBr(head);

  b.SetInsertPoint(rowEnd);
  row->addIncoming(b.CreateAdd(row, fl.i32(fl.warpSize() * fl.numWarps())), rowEnd);
  b.CreateBr(rowHead);

  b.SetInsertPoint(after);
  fl.target.barrier(b);
  for (unsigned i = 0; i < n; ++i) fl.set(op->result(i), SharedAccess(registers, shared, elements[i], fl).load(bases[i], elements[i]));
  return true;
}

} // namespace tessera::codegen
