// Lowering of a verified TTGIR module to LLVM IR, one function at a time, in one walk. A tensor value becomes, per
// thread, the list of its register elements (the `register` dimension of its layout, register 0 first); structured
// control flow becomes blocks and phis directly. What depends on the vendor is asked of the Target (codegen/target.h);
// there is one file per family of operations (pointwise.cpp, memory.cpp, reduce.cpp, convert_layout.cpp, …), each of
// which defines the functions that the dispatch table in lowering.cpp names.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "layouts/linear_layout.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tessera::transforms {
class AxisInfoAnalysis;
}
namespace tessera::codegen {
class Target;

/// The LLVM values of one IR value in one thread: one per register element of a tensor, one for a scalar; a memory
/// descriptor has its base pointer (address space 3) first, then one i32 offset per dimension of its view.
using Elements = llvm::SmallVector<llvm::Value *, 8>;

struct LoweringOptions {
  bool fpFusion = true;  // multiplications and additions may be contracted into fma
  bool lineInfo = false; // write debug locations
};

/// State of the lowering of one function. The lower… functions return false after having reported a diagnostic.
class FunctionLowering {
public:
  FunctionLowering(llvm::IRBuilder<> &b, const Target &target, ir::DiagnosticEngine &diag, const LoweringOptions &options)
      : b(b), target(target), diag(diag), options(options) {}

  llvm::IRBuilder<> &b;
  const Target &target;
  ir::DiagnosticEngine &diag;
  const LoweringOptions &options;
  const transforms::AxisInfoAnalysis *axisInfo = nullptr;
  llvm::Function *function = nullptr;

  // ---- types ----
  /// The LLVM type of one element: i1, iN, half, bfloat, float, double; 8-bit floats are i8; pointers ptr addrspace(1);
  /// index is i32. For a tensor: of its element. Null for what has none.
  llvm::Type *elementType(ir::Type);
  /// Number of LLVM values that stand for a value of the type.
  unsigned numElements(ir::Type);

  // ---- values ----
  const Elements &get(ir::Value);
  llvm::Value *scalar(ir::Value v) { return get(v)[0]; }
  void set(ir::Value, Elements);
  void set(ir::Value v, llvm::Value *scalar) { set(v, Elements{scalar}); }

  // ---- layouts ----
  /// The linear layout of a tensor: register, lane, warp, block → dim0, dim1, …. Cached per type. @pre it has one.
  const layouts::LinearLayout &layout(ir::Type);
  /// The index along each dimension of every register element of a tensor of this type in this thread:
  /// result[register][dim], i32. Cached per type and insertion function; computed as lane/warp part xor constant.
  llvm::SmallVector<llvm::SmallVector<llvm::Value *, 4>, 0> indices(ir::Type);
  /// Evaluates a linear layout for given in-dimension values (i32 each, or null for constant `constants` entry):
  /// out-dimension values as i32, with constants folded and bits or-ed where they do not overlap.
  llvm::SmallVector<llvm::Value *, 4> applyLayout(const layouts::LinearLayout &, llvm::ArrayRef<std::pair<layouts::Dim, llvm::Value *>> in);
  /// i1: this thread is the one that acts for a tensor of this layout in this register (lanes, warps and blocks that hold
  /// copies of the same element do not); null where all threads act. Registers that are copies are left to the caller
  /// (see LinearLayout::freeVariableMasks).
  llvm::Value *isRepresentative(const layouts::LinearLayout &);

  // ---- the thread ----
  llvm::Value *threadId(); // in its block, i32
  llvm::Value *laneId();   // in its warp, i32
  llvm::Value *warpId();   // in its block, i32, uniform in a warp
  int warpSize() const;
  int numWarps() const;
  int numCtas() const;

  // ---- shared memory ----
  /// Base of the block's dynamic shared memory plus the op's `allocation.offset` (bytes), ptr addrspace(3).
  llvm::Value *scratch(ir::Operation *op);
  llvm::Value *sharedAt(int64_t byteOffset);

  // ---- small helpers ----
  llvm::Value *i32(int64_t v) { return b.getInt32(v); }
  /// Reports `message` at the op and returns false.
  bool error(ir::Operation *, const llvm::Twine &message);

  // ---- regions ----
  /// Lowers the operations of a block (its arguments are set already) up to its terminator, which it leaves.
  bool lowerBlock(ir::Block *);
  bool lowerOperation(ir::Operation *);

private:
  friend class ModuleLowering;
  llvm::DenseMap<ir::Value, Elements> values_;
  llvm::DenseMap<ir::Type, layouts::LinearLayout> layouts_;
  llvm::Value *tid_ = nullptr, *lane_ = nullptr, *warp_ = nullptr;
  llvm::GlobalVariable *shared_ = nullptr;
  ir::Operation *moduleOp_ = nullptr;
};

/// Lowers the module for the target into a fresh LLVM module. @pre it verifies and has layouts and shared memory
/// allocated (`allocation.offset`, `ttg.shared`). Null after a diagnostic.
std::unique_ptr<llvm::Module> lowerToLLVM(ir::Module &, const Target &, llvm::LLVMContext &, const LoweringOptions &, ir::DiagnosticEngine &);

using LowerFn = bool (*)(ir::Operation *, FunctionLowering &);
/// The lowering of an opcode, or null: those that never reach it are listed with the reason in lowering.cpp, and a test
/// checks that every row of the op table is in one list or the other.
LowerFn loweringOf(ir::Opcode);

// The families; each is one file.
bool lowerConvertLayout(ir::Operation *, FunctionLowering &); // convert_layout.cpp
bool lowerReduce(ir::Operation *, FunctionLowering &);        // reduce.cpp
bool lowerScan(ir::Operation *, FunctionLowering &);          // scan.cpp
bool lowerShape(ir::Operation *, FunctionLowering &);         // shape.cpp: splat, broadcast, expand_dims, reshape, trans, join, split, cat, make_range, …
bool lowerShared(ir::Operation *, FunctionLowering &);        // shared_memory.cpp: local_alloc, local_load, local_store, memdesc views, gather, histogram
bool lowerPointwise(ir::Operation *, FunctionLowering &);     // pointwise.cpp: arith, select, casts
bool lowerMath(ir::Operation *, FunctionLowering &);          // math.cpp: math.*, extern_elementwise, precise_*, clampf
bool lowerMemory(ir::Operation *, FunctionLowering &);        // memory.cpp: load, store, atomics
bool lowerControl(ir::Operation *, FunctionLowering &);       // control_flow.cpp: scf, cf, call, return

/// Runs the combining region of tt.reduce or tt.scan on scalars: args are 2N values, the result N.
llvm::SmallVector<llvm::Value *, 2> lowerCombine(ir::Region &, llvm::ArrayRef<llvm::Value *> args, FunctionLowering &);

} // namespace tessera::codegen
