// The number of a program where it is not its block's (transforms/schedule/order_programs.cpp).
//
// By dies. Blocks b = 0, 1, … go to the dies 0, 1, …, d - 1, 0, … A chunk is d * w consecutive blocks, or what is left
// of the grid at its end: n blocks, of which die i runs those with b mod d = i, which are n / d, and one more if
// i < n mod d. It gets the numbers that follow those of the dies before it:
//
//   first of the chunk + i * (n / d) + min(i, n mod d) + (b in the chunk) / d
//
// The dies' ranges of numbers are disjoint and together the chunk's n numbers, so every program runs once.
//
// With two axes all of it is about y * columns + x, the order in which the hardware starts blocks.
//
// By work. The grid has c numbers along the work's axis, and rows along both others together. Blocks are counted as the
// hardware starts them. A section is w rows, or what is left at the end: h rows and h * c consecutive blocks, which get
//
//   row: first of the section + (b in the section) mod h     number on the work's axis: (b in the section) / h
//
// and the latter counted from the end if work increases. Where the grid's size is beyond 32 bits, numbers are blocks'.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/attribute_names.h"
#include "ir/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {
using namespace ir;

/// `fits`: a block's number is below 2^31, and so are the sums.
static llvm::Value *programOf(llvm::IRBuilder<> &b, llvm::Value *block, llvm::Value *blocks, unsigned dies,
                              unsigned window, bool fits) {
  auto smaller = [&](llvm::Value *x, llvm::Value *y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y); };
  llvm::Value *d = b.getInt32(dies), *chunk = b.getInt32(dies * window);
  llvm::Value *inChunk = b.CreateURem(block, chunk);
  llvm::Value *first = b.CreateSub(block, inChunk);
  llvm::Value *n = smaller(chunk, b.CreateSub(blocks, first));
  llvm::Value *die = b.CreateURem(inChunk, d);
  llvm::Value *ofDie = b.CreateAdd(b.CreateMul(die, b.CreateUDiv(n, d)), smaller(die, b.CreateURem(n, d)));
  return b.CreateAdd(b.CreateAdd(first, ofDie, "", fits, fits), b.CreateUDiv(inChunk, d), "", fits, fits);
}

/// Programs in the order of the dies: of one axis, or two.
static llvm::Value *programByDies(Operation *op, FunctionLowering &fl, int axis, int64_t window) {
  auto &b = fl.b;
  auto &target = fl.target;
  unsigned dies = target.info().dies;
  llvm::Value *x = target.programId(b, 0, false);
  llvm::Value *columns = target.numPrograms(b, 0, false);
  if (!op->hasAttr(kTwoAxesAttr)) return programOf(b, x, columns, dies, window, /*fits=*/true);
  llvm::Value *block = b.CreateAdd(b.CreateMul(target.programId(b, 1, false), columns), x);
  llvm::Value *blocks = b.CreateMul(columns, target.numPrograms(b, 1, false));
  llvm::Value *program = programOf(b, block, blocks, dies, window, /*fits=*/false);
  llvm::Value *y = b.CreateUDiv(program, columns);
  return axis == 1 ? y : b.CreateSub(program, b.CreateMul(y, columns));
}

/// Programs in the order of their work, which depends on their number on `workAxis`.
static llvm::Value *programByWork(FunctionLowering &fl, int axis, int workAxis, bool increases, int64_t rows) {
  auto &b = fl.b;
  llvm::Value *id[3], *n[3];
  for (int k = 0; k < 3; ++k) {
    id[k] = fl.target.programId(b, k, false);
    n[k] = fl.target.numPrograms(b, k, false);
  }
  // Of the two other axes, the one that the hardware counts first is the inner one.
  int inner = workAxis == 0 ? 1 : 0, outer = workAxis == 2 ? 1 : 2;
  auto checked = [&](llvm::Value *x, llvm::Value *y, llvm::Value *&beyond) {
    llvm::Value *result = b.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, x, y);
    beyond = b.CreateOr(beyond, b.CreateExtractValue(result, 1));
    return b.CreateExtractValue(result, 0);
  };
  llvm::Value *beyond = b.getFalse();
  llvm::Value *allRows = checked(n[inner], n[outer], beyond);
  checked(allRows, n[workAxis], beyond);
  llvm::Value *sectionRows = b.getInt32(rows);
  llvm::Value *sectionBlocks = checked(sectionRows, n[workAxis], beyond);

  llvm::Value *block = b.CreateAdd(b.CreateMul(b.CreateAdd(b.CreateMul(id[2], n[1]), id[1]), n[0]), id[0]);
  llvm::Value *section = b.CreateUDiv(block, sectionBlocks);
  llvm::Value *inSection = b.CreateSub(block, b.CreateMul(section, sectionBlocks));
  llvm::Value *firstRow = b.CreateMul(section, sectionRows);
  llvm::Value *height = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, sectionRows, b.CreateSub(allRows, firstRow));
  llvm::Value *number = b.CreateUDiv(inSection, height);
  llvm::Value *result;
  if (axis == workAxis) {
    result = increases ? b.CreateSub(b.CreateSub(n[axis], b.getInt32(1)), number) : number;
  } else {
    llvm::Value *row = b.CreateAdd(firstRow, b.CreateSub(inSection, b.CreateMul(number, height)));
    result = axis == inner ? b.CreateURem(row, n[inner]) : b.CreateUDiv(row, n[inner]);
  }
  return b.CreateSelect(beyond, id[axis], result);
}

bool lowerProgramId(Operation *op, FunctionLowering &fl) {
  int axis = int(op->cast<tt::GetProgramIdOp>().axis());
  bool clusters = fl.numCtas() > 1;
  auto number = [&](llvm::StringRef name) {
    auto attr = op->attr<IntegerAttr>(name);
    return attr ? attr.sext() : -1;
  };
  int64_t window = number(kDieWindowAttr), workAxis = number(kWorkAxisAttr);
  int64_t rows = number(kWorkRowsAttr);
  llvm::Value *program;
  if (window > 0 && !clusters)
    program = programByDies(op, fl, axis, window);
  else if (workAxis >= 0 && workAxis < 3 && rows > 0 && !clusters)
    program = programByWork(fl, axis, int(workAxis), op->hasAttr(kWorkIncreasesAttr), rows);
  else
    program = fl.target.programId(fl.b, axis, clusters);
  fl.set(op->result(), program);
  return true;
}

} // namespace tessera::codegen
