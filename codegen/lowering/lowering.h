// Lowering of a verified TTGIR module to LLVM IR, one function at a time, in one walk. A tensor value becomes, per
// thread, the list of its register elements (the `register` dimension of its layout, register 0 first); structured
// control flow becomes blocks and phis directly. What depends on the vendor is behind the Target
// (codegen/lowering/target.h). There is one file per family of operations (pointwise.cpp, memory.cpp, reduce.cpp,
// convert_layout.cpp, …); each defines functions that the dispatch table in dispatch.cpp names.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "layouts/linear_layout.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <deque>
#include <memory>
#include <optional>

namespace tessera::transforms {
class AxisInfoAnalysis;
class GlobalAccesses;
} // namespace tessera::transforms
namespace tessera::codegen {
class Target;
class DebugInfo;

/// The LLVM values of one IR value in one thread: one per register element of a tensor, one for a scalar; a memory
/// descriptor has its base pointer (address space 3) first, then one i32 offset per dimension of its view, or, in
/// tensor memory, its address alone, i32; a token has none.
using Elements = llvm::SmallVector<llvm::Value *, 8>;

struct LoweringOptions {
  bool fpFusion = true;  // mulf and addf may be contracted into fma
  bool lineInfo = false; // write debug locations
  bool opNames = false;  // instructions carry the name of the operation they come from (metadata "tessera.op")
};

/// What the lowering of a function is given of its module.
struct FunctionContext {
  int warpSize = 32;
  int numCtas = 1;
  int numWarps = 4;                // that run the function
  std::optional<unsigned> barrier; // of these warps alone; none: they are the whole block
  llvm::Function *function = nullptr;
  const llvm::StringMap<llvm::Function *> *functions = nullptr; // of the module, by name
  const transforms::AxisInfoAnalysis *axisInfo = nullptr;
  const transforms::AxisInfoAnalysis *provedAxisInfo = nullptr; // without stated contiguity; null: none is stated
  const transforms::GlobalAccesses *globalAccesses = nullptr;
  DebugInfo *debug = nullptr; // null: no debug locations
};

/// Bytes of an element in memory; an i1 takes a byte.
inline int64_t byteSize(llvm::Type *t) {
  return t->isPointerTy() ? 8 : std::max<int64_t>(1, int64_t(t->getPrimitiveSizeInBits()) / 8);
}

/// State of the lowering of one function. The public part is what families of operations use, by groups; the state
/// itself is private. Functions that return a bool return false after having reported a diagnostic.
class FunctionLowering {
public:
  FunctionLowering(llvm::IRBuilder<> &, const Target &, ir::DiagnosticEngine &, const LoweringOptions &,
                   const FunctionContext &);

  /// Where instructions are made. Families may move it, and leave it where the next operation's instructions belong.
  llvm::IRBuilder<> &b;
  const Target &target;
  ir::DiagnosticEngine &diag; // see also error()
  const LoweringOptions &options;

  // ---- facts about the function ----
  const transforms::AxisInfoAnalysis &axisInfo() const { return *context_.axisInfo; }
  /// Elements along `dim` of each aligned group whose addresses follow from its first one's. What the kernel merely
  /// states of them counts as far as it is the width of an access.
  int64_t contiguity(ir::Value pointersOrOffsets, unsigned dim) const;
  const transforms::GlobalAccesses &globalAccesses() const { return *context_.globalAccesses; }
  llvm::Function *function() const { return context_.function; }
  /// What the function of that name became; null if it has no body.
  llvm::Function *functionNamed(llvm::StringRef name) const { return context_.functions->lookup(name); }

  // ---- types ----
  /// The LLVM type of one element: i1, iN, half, bfloat, float, double; 8-bit floats are i8; pointers ptr of their
  /// address space; index is i32. For a tensor: of its element. Null for what has none.
  llvm::Type *elementType(ir::Type);
  /// The type of a value of the type in memory: as elementType, but i1 takes a byte.
  llvm::Type *memoryType(ir::Type);
  /// Number of LLVM values that stand for a value of the type.
  unsigned numElements(ir::Type);
  /// Their types.
  llvm::SmallVector<llvm::Type *, 8> elementTypes(ir::Type);

  // ---- values ----
  /// The reference stays valid as long as the function is being lowered.
  const Elements &get(ir::Value);
  llvm::Value *scalar(ir::Value v) { return get(v)[0]; }
  bool has(ir::Value v) const { return values_.contains(v); }
  void set(ir::Value, Elements);
  void set(ir::Value v, llvm::Value *scalar) { set(v, Elements{scalar}); }

  // ---- layouts ----
  /// The linear layout of a tensor: register, lane, warp, block → dim0, dim1, …. Cached per shape and encoding; the
  /// reference stays valid. @pre it has one.
  const layouts::LinearLayout &layout(ir::Type);
  /// Registers whose bits are a subset of this mask hold copies: register r is the same element as r & ~mask.
  unsigned freeRegisters(ir::Type);
  /// The index along each dimension of every register element of a tensor of this type in this thread:
  /// result[register][dim], i32. The thread's part is computed once, in the function's prologue; a register adds a
  /// constant to it (`or disjoint`, or xor where bits of the two overlap).
  llvm::SmallVector<llvm::SmallVector<llvm::Value *, 4>, 0> indices(ir::Type);
  /// The thread's part of the above: the indices of register 0.
  llvm::ArrayRef<llvm::Value *> threadIndices(ir::Type);
  /// Evaluates a linear layout for given in-dimension values (i32 each, less than the dimension's size; dimensions not
  /// given are zero): out-dimension values as i32, with constants folded and bits or-ed where they do not overlap.
  llvm::SmallVector<llvm::Value *, 4> applyLayout(const layouts::LinearLayout &,
                                                  llvm::ArrayRef<std::pair<layouts::Dim, llvm::Value *>> in);
  /// i1: this thread is the one that acts for a tensor of this layout in this register (lanes, warps and blocks that
  /// hold copies of the same element do not); null where all threads act. Registers that are copies are left to the
  /// caller (see freeRegisters).
  llvm::Value *isRepresentative(const layouts::LinearLayout &);
  /// i1: the first thread of the block, or of those that run its partition.
  llvm::Value *isFirstThread();
  /// i1: one thread of the block's first warp, always the same, in a form that the assembler knows to be one.
  llvm::Value *leader();

  // ---- the thread ----
  llvm::Value *threadId();       // in its block, or of those that run its partition, i32
  llvm::Value *laneId();         // in its warp, i32
  llvm::Value *warpId();         // likewise, i32, uniform in a warp
  llvm::Value *sharedWarpId();   // warpId() from one lane of the warp, so that assemblers know it to be uniform
  llvm::Value *blockInCluster(); // i32
  int warpSize() const { return context_.warpSize; }
  int numWarps() const { return partition_.numWarps; } // that run what is being lowered
  int firstWarp() const { return partition_.firstWarp; }
  int numCtas() const { return context_.numCtas; }

  /// All threads that run what is being lowered; shared memory is visible after it, and with `global` their accesses to
  /// global memory too.
  void barrier(bool global = false);
  /// Each warp group of a kernel's own warps by itself, beside partitions. False after a diagnostic.
  bool warpGroupBarrier(ir::Operation *);
  /// Turns of a kernel's own warp groups, beside partitions: one after the other executes what is between takeTurn and
  /// passTurn, each once in an iteration of `loop`, which beginTurns precedes and endTurns follows. beginTurns: false
  /// after a diagnostic.
  bool beginTurns(ir::Operation *loop);
  void takeTurn();
  void passTurn();
  void endTurns();
  llvm::Value *warpGroup();         // number of this warp's, i32, uniform in a warp
  llvm::Value *leaderOfWarpGroup(); // i1: one thread of each, always the same

  // ---- partitions of warps (for warp_specialize.cpp and lower_module.cpp) ----
  /// A kernel with ttg.warp_specialize.
  struct Specialized {
    ir::Operation *func = nullptr;
    bool once = false;                         // specializesWarpsOnce
    int ownWarps = 0, totalWarps = 0;          // the kernel's; the block's
    int64_t registers = 0;                     // of a thread, where partitions change their number
    int64_t firstGroupBarrier = 0;             // of the named barriers that warp groups have
    llvm::Value *warp = nullptr;               // in the block
    llvm::BasicBlock *workers = nullptr;       // where the warps of partitions wait
    llvm::SmallVector<ir::Operation *, 2> ops; // lowered so far, whose partitions follow; their numbers begin at 1
  };
  Specialized *specialized() { return specialized_ ? &*specialized_ : nullptr; }
  static constexpr unsigned kOwnBarrier = 0; // that of a kernel's own warps
  bool inPartition() const { return partition_.firstWarp; }
  void beginSpecialized(ir::Operation *func, llvm::BasicBlock *entry, llvm::BasicBlock *main);
  /// Before a return: lets the warps of partitions end too.
  void endSpecialized();
  /// Lowers the partitions, when all of the kernel's own code is.
  bool lowerWorkers();
  /// What is lowered from here on runs on these warps; `barrier`: their own, none: the block's.
  void enterPartition(int firstWarp, int numWarps, std::optional<unsigned> barrier, llvm::Instruction *prologueEnd);
  void blockBarrier(); // all warps of the block, with those of partitions

  // ---- shared memory ----
  /// Base of the block's dynamic shared memory plus the op's `allocation.offset` (bytes), ptr addrspace(3).
  llvm::Value *scratch(ir::Operation *op);
  llvm::Value *sharedAt(int64_t byteOffset);

  // ---- tensor memory (for lower_module.cpp and tensor_memory.cpp) ----
  /// At the beginning of a kernel: allocates so many columns.
  void beginTensorMemory(unsigned columns);
  /// Before a return.
  void endTensorMemory();
  /// The address of the block's first column, i32; null without tensor memory.
  llvm::Value *tensorMemory() const { return tensorMemory_; }

  // ---- scratch in global memory ----
  /// The op's part of the program's scratch (ttg.global_scratch_memory_offset).
  llvm::Value *globalScratchOf(ir::Operation *op);
  llvm::Value *profileScratch() const { return hidden_.profileScratch; }

  // ---- making instructions ----
  llvm::Value *i32(int64_t v) { return b.getInt32(v); }
  /// Reports `message` at the op and returns false.
  bool error(ir::Operation *, const llvm::Twine &message);
  /// The function of that name and type, declared if need be.
  llvm::FunctionCallee declare(llvm::StringRef name, llvm::FunctionType *, bool pure);
  /// A fresh block after the current one.
  llvm::BasicBlock *newBlock(const llvm::Twine &name);
  /// Runs `body` where the condition holds (null: always); leaves the builder after it.
  void inBranch(llvm::Value *condition, llvm::function_ref<void()> body);

  // ---- regions ----
  /// Lowers the operations of a block (its arguments are set already) up to its terminator, which it leaves.
  bool lowerBlock(ir::Block *);
  bool lowerOperation(ir::Operation *);
  /// Lowers a region of any blocks from the builder's point (the entry block's arguments are set already). `exit` is
  /// called at each terminator that leaves the region.
  bool lowerRegion(ir::Region &, llvm::function_ref<bool(ir::Operation *terminator)> exit);
  /// Leaves the builder where the exits of a region join; the results are what each exit yields.
  using Exits = llvm::ArrayRef<std::pair<llvm::BasicBlock *, llvm::SmallVector<ir::Value, 4>>>;
  void joinExits(llvm::ArrayRef<ir::Value> results, Exits);

  // ---- a function's frame (for lower_module.cpp) ----
  /// Marks the end of the prologue, a block that dominates all other code and in which nothing else is made.
  void setPrologueEnd(llvm::Instruction *end) { partition_.prologueEnd = end; }
  /// The function's arguments after those of the IR.
  struct HiddenArguments {
    llvm::Value *globalScratch = nullptr;
    int64_t globalScratchBytes = 0; // of a program, if `globalScratch` is the scratch of all programs
    llvm::Value *profileScratch = nullptr;
    llvm::Value *shared = nullptr; // null: the base of the block's shared memory
  };
  void setHiddenArguments(const HiddenArguments &);

  // ---- copies to shared memory by warps (for async_copy.cpp) ----
  /// How many copies each operation became, and the waits, each with the instruction that stands for it until the
  /// function's copies are all known.
  struct WarpCopies {
    llvm::DenseMap<ir::Operation *, unsigned> count;
    llvm::SmallVector<std::pair<ir::Operation *, llvm::Instruction *>, 4> waits;
  };
  WarpCopies warpCopies;

private:
  // ---- warp groups (warp_groups.cpp) ----
  int64_t warpGroups() const; // of the kernel's own warps
  enum class GroupBarrier { Alone, Turn };
  bool hasGroupBarriers(ir::Operation *, GroupBarrier); // false after a diagnostic
  llvm::Value *barrierOfGroup(llvm::Value *group, GroupBarrier);
  void giveTurn(llvm::Value *group);
  /// What `emit` makes is for one group's warps.
  void inGroup(int64_t group, llvm::function_ref<void()> emit);

  struct LayoutInfo {
    layouts::LinearLayout layout;
    unsigned freeRegisters = 0;
    llvm::SmallVector<llvm::Value *, 4> thread; // indices of register 0; made by the first use, of partition_
  };
  /// The warps whose code is being lowered, and what they know of themselves: made by the first use, in their prologue.
  struct Partition {
    int firstWarp = 0, numWarps = 4;
    std::optional<unsigned> barrier; // their own's number; none: they are all of the block
    llvm::Instruction *prologueEnd = nullptr;
    llvm::Value *tid = nullptr;
    llvm::Value *lane = nullptr;
    llvm::Value *warp = nullptr;
    llvm::Value *sharedWarp = nullptr;
    llvm::Value *tidOfWarp =
        nullptr;                  // of any of the warp's lanes, uniform: only its bits above the lane's have a meaning
    llvm::Value *block = nullptr; // in the cluster
    llvm::Value *firstThread = nullptr;
    llvm::Value *leader = nullptr;
    llvm::Value *programScratch = nullptr; // in global memory
    llvm::DenseMap<uint64_t, llvm::Value *> representatives;
  };
  LayoutInfo &layoutInfo(ir::Type);
  /// Instructions made from now on are the operation's (null: no operation's).
  void nameInstructions(ir::Operation *);
  void shareEqual(ir::Operation *);
  /// Runs `make` with the builder at the end of the prologue, which dominates everything.
  llvm::Value *inPrologue(llvm::function_ref<llvm::Value *()> make);

  const FunctionContext context_;
  HiddenArguments hidden_;
  llvm::Value *tensorMemory_ = nullptr;
  unsigned tensorMemoryColumns_ = 0;

  // Values and blocks of the IR.
  std::deque<Elements> storage_;
  llvm::DenseMap<ir::Value, Elements *> values_;
  llvm::DenseMap<ir::Block *, llvm::BasicBlock *> blocks_;

  // Layouts, by type, and shared by types of one encoding and shape.
  std::deque<LayoutInfo> layoutStorage_;
  llvm::DenseMap<ir::Type, LayoutInfo *> layouts_;
  llvm::DenseMap<std::pair<const layouts::Encoding *, llvm::ArrayRef<int64_t>>, LayoutInfo *> byEncoding_;

  // Where the walk is.
  Partition partition_;
  std::optional<Specialized> specialized_;
  ir::Operation *named_ = nullptr; // what instructions are made for, with LoweringOptions::opNames
};

/// Lowers the module for the target into a fresh LLVM module. @pre it verifies and has layouts and shared memory
/// allocated (`allocation.offset`, `ttg.shared`). Null after a diagnostic.
std::unique_ptr<llvm::Module> lowerToLLVM(ir::Module &, const Target &, llvm::LLVMContext &, const LoweringOptions &,
                                          ir::DiagnosticEngine &);

/// Which of its module's tt.elementwise_inline_asm this is, in the order of the text: what names it in LLVM's
/// diagnostics.
int64_t inlineAssemblyNumber(ir::Operation *);

using LowerFn = bool (*)(ir::Operation *, FunctionLowering &);
/// The lowering of an opcode, or null: those that never reach it are listed with the reason in dispatch.cpp.
LowerFn loweringOf(ir::Opcode);
/// Whether an opcode has a lowering that serves the target.
bool isLoweredFor(ir::Opcode, const ir::TargetInfo &);
/// Whether lowerMath knows a way to compute the operation that all targets share (math.cpp).
bool hasScalarMath(ir::Opcode);
/// Why an opcode has no lowering ("a terminator, lowered with its region"), or empty for those that have one.
llvm::StringRef whyNotLowered(ir::Opcode);

/// Elements of a tensor (or of one like `type`) from one layout to another, in the scratch of `op`
/// (convert_layout.cpp).
bool convertElements(ir::Operation *op, FunctionLowering &, const Elements &values, ir::Type type,
                     const layouts::LinearLayout &from, const layouts::LinearLayout &to, Elements &out);

/// Gives every thread the values of an atomic's result that the acting threads hold, through the scratch of `op`. What
/// an acquiring one has seen, the threads see after the barrier: it orders global memory too (atomics.cpp).
void shareAtomicResult(ir::Operation *op, FunctionLowering &, Elements &values, llvm::Value *acts, ir::MemSemantic);

/// Waits for copies by warps get their numbers, when all operations of the function are lowered (async_copy.cpp).
void completeWaits(FunctionLowering &);

// The families; each is one file.
bool lowerConvertLayout(ir::Operation *, FunctionLowering &); // convert_layout.cpp
bool lowerInThreadTranspose(ir::Operation *, FunctionLowering &);
bool lowerReduce(ir::Operation *, FunctionLowering &); // reduce.cpp
bool lowerScan(ir::Operation *, FunctionLowering &);   // scan.cpp
bool lowerShape(ir::Operation *, FunctionLowering &);  // shape.cpp: splat, broadcast, reshape, trans, join, split, …
bool lowerShared(ir::Operation *, FunctionLowering &); // shared_memory.cpp: local_alloc, local_load, views, …
bool lowerGatherLike(ir::Operation *, FunctionLowering &);   // gather.cpp: tt.gather, tt.histogram
bool lowerPointwise(ir::Operation *, FunctionLowering &);    // pointwise.cpp: arith, select, pointers
bool lowerCast(ir::Operation *, FunctionLowering &);         // casts.cpp: conversions between floats and integers
bool lowerE2m1ToFp(ir::Operation *, FunctionLowering &);     // fp4.cpp: 4-bit floats in bytes
bool lowerFp4ToFp(ir::Operation *, FunctionLowering &);      // … pairs of them
bool lowerMath(ir::Operation *, FunctionLowering &);         // math.cpp: math.*, extern_elementwise, divf, clampf
bool lowerMemory(ir::Operation *, FunctionLowering &);       // memory.cpp: load, store, buffer accesses
bool lowerAtomic(ir::Operation *, FunctionLowering &);       // atomics.cpp: atomic_rmw, atomic_cas
bool lowerProgramId(ir::Operation *, FunctionLowering &);    // program_ids.cpp: tt.get_program_id
bool lowerAsyncCopy(ir::Operation *, FunctionLowering &);    // async_copy.cpp: asynchronous copies global → shared
bool lowerDot(ir::Operation *, FunctionLowering &);          // dot.cpp: tt.dot
bool lowerWarpGroup(ir::Operation *, FunctionLowering &);    // warp_group_dot.cpp: ttng.warp_group_dot and its wait
bool lowerTensorMemory(ir::Operation *, FunctionLowering &); // tensor_memory.cpp: tensor memory and dots in it
bool lowerTensorCopy(ir::Operation *, FunctionLowering &);   // tensor_copy.cpp: bulk copies, barriers in shared memory
bool lowerInlineAssembly(ir::Operation *, FunctionLowering &); // inline_assembly.cpp
bool lowerControl(ir::Operation *, FunctionLowering &);        // control_flow.cpp: scf, call, barriers, assert, print
bool lowerWarpSpecialize(ir::Operation *, FunctionLowering &); // warp_specialize.cpp: code of partitions of warps

/// Runs the combining region of tt.reduce or tt.scan on scalars: args are 2N values, the result N.
llvm::SmallVector<llvm::Value *, 2> lowerCombine(ir::Region &, llvm::ArrayRef<llvm::Value *> args, FunctionLowering &);

/// Converts floats between kinds, by the target's instructions or bit manipulation; see casts.cpp. Values of 8-bit
/// kinds are i8.
void convertFloats(FunctionLowering &, ir::FloatKind from, ir::FloatKind to, ir::RoundingMode,
                   llvm::ArrayRef<llvm::Value *> in, Elements &out);
/// The same by bit manipulation alone, whatever the target: one value; no FunctionLowering needed.
llvm::Value *convertFloatBits(llvm::IRBuilder<> &, ir::FloatKind from, ir::FloatKind to, ir::RoundingMode,
                              llvm::Value *);

} // namespace tessera::codegen
