// The number of a program where it is not its block's (transforms/schedule/order_programs.cpp). Blocks b = 0, 1, … go
// to the dies 0, 1, …, d - 1, 0, … A chunk is d * w consecutive blocks, or what is left of the grid at its end: n
// blocks, of which die i runs those with b mod d = i, which are n / d, and one more if i < n mod d. It gets the numbers
// that follow those of the dies before it:
//
//   first of the chunk + i * (n / d) + min(i, n mod d) + (b in the chunk) / d
//
// The dies' ranges of numbers are disjoint and together the chunk's n numbers, so every program runs once.
//
// With two axes all of it is about y * columns + x, the order in which the hardware starts blocks.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {
using namespace ir;

static llvm::Value *programOf(llvm::IRBuilder<> &b, llvm::Value *block, llvm::Value *blocks, unsigned dies,
                              unsigned window) {
  auto smaller = [&](llvm::Value *x, llvm::Value *y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y); };
  llvm::Value *d = b.getInt32(dies), *chunk = b.getInt32(dies * window);
  llvm::Value *inChunk = b.CreateURem(block, chunk);
  llvm::Value *first = b.CreateSub(block, inChunk);
  llvm::Value *n = smaller(chunk, b.CreateSub(blocks, first));
  llvm::Value *die = b.CreateURem(inChunk, d);
  llvm::Value *ofDie = b.CreateAdd(b.CreateMul(die, b.CreateUDiv(n, d)), smaller(die, b.CreateURem(n, d)));
  return b.CreateAdd(b.CreateAdd(first, ofDie), b.CreateUDiv(inChunk, d));
}

bool lowerProgramId(Operation *op, FunctionLowering &fl) {
  auto id = op->cast<tt::GetProgramIdOp>();
  auto &b = fl.b;
  auto &target = fl.target;
  bool clusters = fl.numCtas() > 1;
  auto window = op->attr<IntegerAttr>("tessera.die_window");
  int axis = int(id.axis());
  llvm::Value *x = target.programId(b, 0, clusters);
  if (!window || clusters) {
    fl.set(op->result(), axis == 0 ? x : target.programId(b, axis, clusters));
    return true;
  }
  unsigned dies = target.info().dies;
  llvm::Value *columns = target.numPrograms(b, 0, clusters);
  if (!op->hasAttr("tessera.two_axes")) {
    fl.set(op->result(), programOf(b, x, columns, dies, window.sext()));
    return true;
  }
  llvm::Value *block = b.CreateAdd(b.CreateMul(target.programId(b, 1, clusters), columns), x);
  llvm::Value *blocks = b.CreateMul(columns, target.numPrograms(b, 1, clusters));
  llvm::Value *program = programOf(b, block, blocks, dies, window.sext());
  llvm::Value *y = b.CreateUDiv(program, columns);
  fl.set(op->result(), axis == 1 ? y : b.CreateSub(program, b.CreateMul(y, columns)));
  return true;
}

} // namespace tessera::codegen
