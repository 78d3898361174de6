// The Target: what a vendor does its own way in the lowering, per thread. One implementation in codegen_nvidia/
// (inline PTX and nvvm intrinsics) and one in codegen_amd/ (amdgcn intrinsics); the files of the two have the same
// names for the same jobs. All functions insert at the builder's point. Lengths are in bytes unless said otherwise.
// All functions are pure: what a target lacks its class says (target_without.h).
#pragma once
#include "ir/op_table.h"
#include "ir/target.h"
#include "llvm/IR/IRBuilder.h"
#include <optional>

namespace tessera::layouts {
class Encoding;
}
namespace tessera::codegen {

/// How far bases are moved where they and the beginning of their buffer are multiples of 16 bytes: an access lies at
/// most 2^31 - 16 bytes before such a base, and moved offsets of accesses end below 2^32 - 16.
inline constexpr uint32_t kMovedBytes = 0x7ffffff0;

/// One access of `count` consecutive elements.
struct MemoryAccess {
  llvm::Value *pointer = nullptr; // ptr addrspace(1)
  // The same address as a base that is equal in all lanes plus a per-lane offset in bytes, i32, not negative, where
  // that is known; offset + constant + the access's length stay below 2^31, unless `moved`.
  llvm::Value *base = nullptr;
  llvm::Value *offset = nullptr;
  // Whether offset + constant is such an offset only where the mask is true. Elsewhere, and without the constant, the
  // offset may be any number: additions are modulo 2^32.
  bool wraps = false;
  // The base lies so many bytes before where the offset counts from, and the offset is larger by them: one that may be
  // negative, as an unsigned number. 0, kMovedBytes, or 2^31 where no more is known of base and buffer.
  uint32_t moved = 0;
  bool repeated = false;       // in a loop
  bool masksDiffer = false;    // accesses beside it have other masks and, most of them, this base
  uint32_t constant = 0;       // added to the offset
  llvm::Value *mask = nullptr; // i1; null: always
  unsigned alignment = 1;      // known alignment of the pointer
  ir::CacheModifier cache = ir::CacheModifier::None;
  ir::EvictionPolicy evict = ir::EvictionPolicy::EvictNormal;
  bool isVolatile = false;
};

struct LoadAccess : MemoryAccess {
  unsigned count = 1;
  llvm::SmallVector<llvm::Value *, 8> other;  // values where the mask is false; empty: undefined
  llvm::SmallVector<llvm::Value *, 8> result; // filled by Target::load
};
struct StoreAccess : MemoryAccess {
  llvm::SmallVector<llvm::Value *, 8> values;
  // The mask leaves out lanes that hold copies of others' elements, and nothing else: it is true in lanes of each warp.
  bool inEachWarp = false;
};

/// What one lane gives to and gets from one matrix instruction, as offsets from the first element that it holds: rows
/// of A and columns of B (of each it gives instruction.depth() elements along K), and (row, column) of the
/// accumulator in the order of the instruction's registers. `transposed`: the instruction computes the transposed
/// result from exchanged operands (its A is the tensor's B); the offsets are the instruction's own.
/// `broadcasts`: the instruction is one of a series (multiplyBroadcast), each of which takes A from the lanes of one
/// part of K.
struct MatrixFragment {
  llvm::SmallVector<int, 2> rows = {0}, columns = {0};
  llvm::SmallVector<std::pair<int, int>, 16> accumulator;
  unsigned lanesOfK = 0; // bits of the lane number that choose the part of K
  bool transposed = false, broadcasts = false;
};

/// A matrix in shared memory as a warp group's matrix unit reads it: tiles of 8 rows of `swizzleBytes` (32, 64 or 128)
/// whose chunks of 16 bytes are exchanged by xor with the row's number (layouts/nvmma_shared.h). Rows run along K
/// (`kMajor`), or across it.
struct SharedMatrix {
  llvm::Value *pointer = nullptr; // of the first element, ptr addrspace(3), equal in all lanes of a warp group
  unsigned swizzleBytes = 128;
  bool kMajor = true;
  int64_t strideBytes = 0;  // from 8 rows to the next 8
  int64_t leadingBytes = 0; // across K: from as many columns as a row has to the next
};

/// Dots of tiles of 64 rows by n columns that a warp group (four warps) adds to its accumulators, each in several steps
/// along K.
struct WarpGroupDot {
  ir::MatrixType a, b, c;
  unsigned n = 0, k = 0; // of one step
  struct Step {
    unsigned tile = 0;                      // which accumulator
    llvm::SmallVector<llvm::Value *, 16> a; // A in registers: row 0, then row 8, of the fragment's elements along K
    int64_t offsetA = 0, offsetB = 0;       // bytes from the matrices' pointers
  };
  std::optional<SharedMatrix> matrixA; // none: A is in registers
  SharedMatrix matrixB;
  llvm::SmallVector<Step, 8> steps;
  llvm::Value *accumulates = nullptr; // i1: whether a tile's first step adds to its accumulator; null: it does
};

/// An access of a warp to its 32 lanes of tensor memory, `columns` columns of 32 bits: lane l of the warp holds a word
/// of each for lane l of tensor memory. With `half`, which is a number of columns, the access has 16 lanes of tensor
/// memory instead, and lanes 16 to 31 of the warp hold words of lanes 0 to 15, so many columns further on.
struct TensorMemoryAccess {
  llvm::Value *address = nullptr; // i32, equal in all lanes of the warp: the lane in the upper half, then the column
  unsigned columns = 0;           // a power of two up to 128
  unsigned half = 0;
};

/// Dots of tiles of m by n that the matrix unit adds to accumulators in tensor memory, each in several steps along K.
struct TensorMemoryDot {
  ir::MatrixType a, b, c;
  bool isUnsigned = false;             // integers
  unsigned m = 0, n = 0, k = 0;        // of one step
  std::optional<SharedMatrix> matrixA; // none: A is in tensor memory, at `addressA`
  SharedMatrix matrixB;
  llvm::Value *accumulators = nullptr, *addressA = nullptr; // i32
  struct Step {
    int64_t accumulator = 0; // added to the address of the accumulators
    int64_t offsetA = 0;     // bytes from the matrix, or added to its address
    int64_t offsetB = 0;     // bytes from the matrix
    bool begins = false;     // the tile's first: whether it adds to the accumulator is `accumulates`
  };
  llvm::SmallVector<Step, 8> steps;
  llvm::Value *accumulates = nullptr, *predicate = nullptr; // i1; of one thread of the block alone
  struct Arrival {
    llvm::Value *barrier, *predicate;
  };
  llvm::SmallVector<Arrival, 1> arrivals; // at barriers in shared memory, when all dots issued so far are done
};

/// A tensor as the unit that copies blocks of it addresses it; the innermost dimension comes first.
struct TensorMap {
  llvm::Value *address = nullptr, *map = nullptr; // ptr addrspace(1): the tensor; where its description goes
  llvm::SmallVector<llvm::Value *, 5> box, size, elementStride;   // i32
  llvm::SmallVector<llvm::Value *, 4> stride;                     // i64, bytes; the innermost dimension has none
  int64_t elementType = 0, interleave = 0, swizzle = 0, fill = 0; // as the manual numbers them
};

/// A bulk copy of one box of a tensor.
struct TensorCopy {
  enum Kind { ToShared, ToGlobal, Reduce } kind = ToShared;
  ir::DescriptorReduceKind reduction = ir::DescriptorReduceKind::Add;
  llvm::Value *map = nullptr;                        // ptr
  llvm::SmallVector<llvm::Value *, 5> coordinates;   // i32, innermost dimension first
  llvm::Value *shared = nullptr, *barrier = nullptr; // ptr addrspace(3); barrier: of copies to shared memory
};

/// How Target::combineLanes combines integers.
enum class LaneCombination { Add, MinS, MaxS, MinU, MaxU, And, Or, Xor };

class Target {
public:
  virtual ~Target() = default;
  virtual const ir::TargetInfo &info() const = 0;

  // ---- the thread ----
  virtual llvm::Value *threadId(llvm::IRBuilder<> &) const = 0; // i32, x dimension
  /// Index of the block in the grid and size of the grid, in blocks or, with clusters, in clusters; i32. See ofGrid.
  virtual llvm::Value *programId(llvm::IRBuilder<> &, int axis, bool ofCluster) const = 0;
  virtual llvm::Value *numPrograms(llvm::IRBuilder<> &, int axis, bool ofCluster) const = 0;
  virtual llvm::Value *blockInCluster(llvm::IRBuilder<> &) const = 0; // i32, 0 without clusters
  /// The value as one that the hardware knows to be the same in all lanes of a warp. @pre it is.
  virtual llvm::Value *uniform(llvm::IRBuilder<> &, llvm::Value *i32) const = 0;
  /// All threads of the block; shared memory is visible after it, and with `global` the block's accesses to global
  /// memory too.
  virtual void barrier(llvm::IRBuilder<> &, bool global = false) const = 0;
  /// The same for `threads` threads, whole warps that all name the barrier: one of info().namedBarriers, which are
  /// different from each other. `onePlace`: all of them come to it in the same place of the code.
  virtual void namedBarrier(llvm::IRBuilder<> &, llvm::Value *number, unsigned threads, bool onePlace) const = 0;
  /// One warp of the `threads` threads of a named barrier comes to it and does not wait.
  virtual void arriveAtNamedBarrier(llvm::IRBuilder<> &, llvm::Value *number, unsigned threads) const = 0;
  /// From here on the thread has so many registers, more or fewer than before; four warps do it together. @pre
  /// info().reallocatesRegisters
  virtual void setRegisters(llvm::IRBuilder<> &, unsigned count, bool more) const = 0;
  /// What LLVM calls the synchronisation scope of a block's threads.
  virtual llvm::StringRef blockScope() const = 0;
  virtual void warpBarrier(llvm::IRBuilder<> &) const = 0; // orders shared-memory accesses of one warp's lanes
  /// The scheduler moves only the kinds of instructions across that `mask` names (llvm.amdgcn.sched.barrier's bits; 0:
  /// none). Nothing where info().hasScheduleBarriers is false.
  virtual void scheduleBarrier(llvm::IRBuilder<> &, unsigned mask) const = 0;

  // ---- lanes ----
  /// Value of lane (lane ^ mask) / of lane `lane`, for i32. Other types go through codegen::shuffleXor and
  /// shuffleIndex, which cut them into words. Lanes that differ only in bits of `uniform` hold equal values, so the
  /// value of any lane that equals lane ^ mask up to those bits will do (on AMD xor 4 after 1 and 2 is a half-row
  /// mirror, for instance).
  virtual llvm::Value *shuffleXor32(llvm::IRBuilder<> &, llvm::Value *v, unsigned mask, unsigned uniform) const = 0;
  virtual llvm::Value *shuffleIndex32(llvm::IRBuilder<> &, llvm::Value *v, llvm::Value *lane) const = 0;
  /// Value of lane sources[l] in each lane l, for i32; where that is negative, any value will do. Null where the target
  /// has nothing better for these lanes than shuffleIndex32.
  virtual llvm::Value *shuffleFixed32(llvm::IRBuilder<> &, llvm::Value *v, llvm::ArrayRef<int8_t> sources) const = 0;
  /// Whether halves32 is there for the mask, which costs less than shuffleXor32: what the lane of a pair
  /// without that bit holds (first), and the one with it (second), for i32 (codegen::halves for others). Of two values
  /// the lane without the bit gets both lanes' `low`, the lane with it their `high`: this bit of the lane and the
  /// number of the register change places.
  virtual bool hasHalves(unsigned mask) const = 0;
  virtual std::pair<llvm::Value *, llvm::Value *> halves32(llvm::IRBuilder<> &, llvm::Value *low, llvm::Value *high,
                                                           unsigned mask) const = 0;
  /// What all lanes of a warp hold, combined, in every lane: values are i32, or i1 for And and Or. Null where the
  /// target has no instruction for it.
  virtual llvm::Value *combineLanes(llvm::IRBuilder<> &, LaneCombination, llvm::Value *) const = 0;

  /// Whether the target has one instruction for op(op(a, b), c).
  virtual bool combinesThree(ir::Opcode, ir::Type) const = 0;

  // ---- global memory ----
  /// Reads each access's consecutive elements of type `element` (i1 is a byte in memory and comes as i8). Accesses are
  /// in program order, none depends on another.
  virtual void load(llvm::IRBuilder<> &, llvm::Type *element, llvm::MutableArrayRef<LoadAccess>) const = 0;
  virtual void store(llvm::IRBuilder<> &, llvm::ArrayRef<StoreAccess>) const = 0;
  /// One atomic on values.size() consecutive elements; the old values where the mask is true.
  virtual llvm::SmallVector<llvm::Value *, 4> atomicRmw(llvm::IRBuilder<> &, ir::RmwOp, const MemoryAccess &,
                                                        llvm::ArrayRef<llvm::Value *> values, ir::MemSemantic,
                                                        ir::MemSyncScope, bool resultUsed) const = 0;
  virtual llvm::Value *atomicCas(llvm::IRBuilder<> &, const MemoryAccess &, llvm::Value *cmp, llvm::Value *value,
                                 ir::MemSemantic, ir::MemSyncScope) const = 0;
  /// LLVM's name of a scope.
  virtual llvm::SyncScope::ID syncScope(llvm::LLVMContext &, ir::MemSyncScope) const = 0;
  /// Time, in nanoseconds from any moment on, i64.
  virtual llvm::Value *nanoseconds(llvm::IRBuilder<> &) const = 0;
  /// The scope of the fences before and behind several relaxed atomics that together order memory; none where each one
  /// had better do so itself.
  virtual std::optional<llvm::SyncScope::ID> fenceScope(llvm::LLVMContext &, ir::MemSyncScope) const { return {}; }

  // ---- shared memory ----
  virtual llvm::Value *loadShared(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Type *type, unsigned alignment,
                                  llvm::Value *mask = nullptr) const = 0;
  virtual void storeShared(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Value *value, unsigned alignment,
                           llvm::Value *mask = nullptr) const = 0;

  /// Starts a copy of `bytes` bytes (one of info().asyncCopyBytes) from global to shared memory that no register takes
  /// part in; zeros where the access's mask is false; nothing at all where `acts` (may be null) is. False where the
  /// target has no such copy with a destination of each lane's own choice.
  virtual bool copyToShared(llvm::IRBuilder<> &, const MemoryAccess &, llvm::Value *shared, unsigned bytes,
                            llvm::Value *acts) const = 0;
  /// The same for all lanes of a warp, lane l's bytes to `shared` + l · bytes; `shared` is the same in all lanes. False
  /// where the target has no such copy.
  virtual bool copyWarpToShared(llvm::IRBuilder<> &, const MemoryAccess &, llvm::Value *shared,
                                unsigned bytes) const = 0;
  /// Closes the group of copies started since the last one; waits until at most `pending` groups are in flight. Targets
  /// whose warps copy (copyWarpToShared) have no groups: there, `pending` counts copies.
  virtual void commitCopies(llvm::IRBuilder<> &) const = 0;
  virtual void waitForCopies(llvm::IRBuilder<> &, unsigned pending) const = 0;

  // ---- arithmetic ----
  /// A `math.*`, `arith.divf`, `tt.precise_*` … operation on scalars the target's own way, or null: then the neutral
  /// expansion or the device library is used.
  virtual llvm::Value *mathOp(llvm::IRBuilder<> &, ir::Opcode, llvm::Type *,
                              llvm::ArrayRef<llvm::Value *> args) const = 0;
  /// A quotient or remainder of integers the target's own way, or null: then it is LLVM's instruction, whose divisor
  /// must not be zero. By zero the quotient is all ones and the remainder x; the smallest integer by -1 is itself.
  virtual llvm::Value *divideIntegers(llvm::IRBuilder<> &, llvm::Instruction::BinaryOps, llvm::Value *x,
                                      llvm::Value *y) const = 0;
  /// What the device library calls libdevice's function of that name for f32 or f64: "sin" is "__nv_sinf" and
  /// "__ocml_sin_f32" (codegen/object/device_functions.cpp); empty where there is no library, or no such function.
  virtual std::string libraryFunction(llvm::StringRef name, llvm::Type *) const = 0;
  /// Converts floats between element kinds with the target's instructions, several at once where they pack; false when
  /// it has none for the pair (then LLVM's own conversions or the neutral bit manipulation are used).
  virtual bool convertFloat(llvm::IRBuilder<> &, ir::FloatKind from, ir::FloatKind to, ir::RoundingMode,
                            llvm::ArrayRef<llvm::Value *> in, llvm::SmallVectorImpl<llvm::Value *> &out) const = 0;
  /// The same for the 4-bit floats (e2m1) in the low or the high halves of bytes, to f16, bf16 or f32.
  virtual bool convertE2m1(llvm::IRBuilder<> &, bool high, ir::FloatKind to, llvm::ArrayRef<llvm::Value *> bytes,
                           llvm::SmallVectorImpl<llvm::Value *> &out) const = 0;

  // ---- matrices ----
  /// The fragment of an instruction of the target's table under a result layout.
  virtual MatrixFragment matrixFragment(const ir::MatrixInstruction &, const layouts::Encoding *) const = 0;
  /// One instruction: a[row · depth + i], b[column · depth + i] in the order of the fragment's rows and columns; the
  /// accumulator's values are replaced.
  virtual void multiply(llvm::IRBuilder<> &, const ir::MatrixInstruction &, llvm::ArrayRef<llvm::Value *> a,
                        llvm::ArrayRef<llvm::Value *> b, llvm::MutableArrayRef<llvm::Value *> acc) const = 0;
  /// One instruction of those that broadcast: A is what the lanes hold whose bits of `lanesOfK` are `group`, for all
  /// lanes; B has the same elements along K in every lane.
  virtual void multiplyBroadcast(llvm::IRBuilder<> &, const ir::MatrixInstruction &, llvm::ArrayRef<llvm::Value *> a,
                                 llvm::ArrayRef<llvm::Value *> b, llvm::MutableArrayRef<llvm::Value *> acc,
                                 unsigned group) const = 0;
  /// Reads `count` (1, 2 or 4) matrices of 8 rows of 16 bytes from shared memory, one word of each per lane: word i of
  /// lane l is bytes 4 (l mod 4) … of row l / 4 of matrix i; transposed: the 16-bit elements (2 (l mod 4), l / 4) and
  /// (2 (l mod 4) + 1, l / 4). Lane l gives the address of row l mod 8 of matrix l / 8. @pre info().hasLdmatrix
  virtual llvm::SmallVector<llvm::Value *, 4> loadMatrices(llvm::IRBuilder<> &, llvm::Value *ptr, unsigned count,
                                                           bool transposed) const = 0;
  /// Writes matrices, one word of each per lane: the reverse of loadMatrices. @pre info().hasStmatrix
  virtual void storeMatrices(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::ArrayRef<llvm::Value *> words,
                             bool transposed) const = 0;
  /// Reads 8 bytes per lane of shared memory, E elements of 16 or 8 bits, transposed among each 16 lanes: element j of
  /// lane l is element l mod E of the 8 bytes that lane (16 / E) j + (l mod 16) / E of the same 16 gives the address
  /// of. Gives a vector of E elements. @pre info().hasTransposedLdsRead
  virtual llvm::Value *loadTransposed(llvm::IRBuilder<> &, llvm::Value *ptr, llvm::Type *element) const = 0;

  // ---- matrices of a warp group (info().matrixUnit == Wgmma) ----
  /// Issues the steps. The accumulators, of equal lengths one after the other (row 0 columns 0 and 1, row 8 of the
  /// same, then the same of the next 8 columns), are replaced by the values that they will have when they are waited
  /// for.
  virtual void warpGroupMultiply(llvm::IRBuilder<> &, const WarpGroupDot &,
                                 llvm::MutableArrayRef<llvm::Value *> acc) const = 0;
  /// False, which an assembler cannot know: a dot with it for `accumulates` keeps the registers that it is given.
  virtual llvm::Value *opaqueFalse(llvm::IRBuilder<> &b) const = 0;
  /// Closes the group of dots issued since the last one; waits until at most `pending` groups are in flight, after
  /// which the values are the results.
  virtual void commitDots(llvm::IRBuilder<> &) const = 0;
  virtual void waitForDots(llvm::IRBuilder<> &, unsigned pending, llvm::MutableArrayRef<llvm::Value *>) const = 0;
  /// This thread's accesses to shared memory before it come before what units of the multiprocessor other than its
  /// lanes do after it.
  virtual void fenceAsyncShared(llvm::IRBuilder<> &) const = 0;

  // ---- tensor memory (info().matrixUnit == Tcgen05) ----
  // Accesses of this thread are done when a function returns, and ordered with those of other threads by a barrier.
  /// Allocates columns for the block. Executed by one warp; their address comes to be in the word `word` of shared
  /// memory. The block allocates no more.
  virtual void allocateTensorMemory(llvm::IRBuilder<> &, llvm::Value *word, unsigned columns) const = 0;
  /// Executed by the same warp, when all accesses and dots of the block are done.
  virtual void freeTensorMemory(llvm::IRBuilder<> &, llvm::Value *address, unsigned columns) const = 0;
  /// The words of all accesses, one after the other; i32.
  virtual llvm::SmallVector<llvm::Value *, 32> loadTensorMemory(llvm::IRBuilder<> &,
                                                                llvm::ArrayRef<TensorMemoryAccess>) const = 0;
  /// `predicate`: equal in all lanes of the warp.
  virtual void storeTensorMemory(llvm::IRBuilder<> &, llvm::ArrayRef<TensorMemoryAccess>,
                                 llvm::ArrayRef<llvm::Value *> words, llvm::Value *predicate) const = 0;
  /// Issues dots, or without any, arrivals for those that the thread issued before. Executed by all threads.
  virtual void multiplyInTensorMemory(llvm::IRBuilder<> &, const TensorMemoryDot &) const = 0;

  // ---- bulk copies of tensors and barriers in shared memory (info().hasTensorCopy) ----
  // All addresses are equal in all threads, all predicates i1. Who acts is the one thread that `leader` is true for.
  /// True for one thread of those of the warp that execute it together, which are all.
  virtual llvm::Value *electThread(llvm::IRBuilder<> &b) const = 0;
  /// Puts the description of a tensor together in 128 bytes of shared memory, and then into global memory. Executed
  /// by one warp.
  virtual void makeTensorMap(llvm::IRBuilder<> &, const TensorMap &, llvm::Value *shared, llvm::Value *lane,
                             llvm::Value *leader) const = 0;
  /// What is at `map` in global memory may be used as a tensor's description from here on. Executed by one warp.
  virtual void acquireTensorMap(llvm::IRBuilder<> &, llvm::Value *map) const = 0;
  /// The kernel's argument, a pointer, points to a description of a tensor that comes with the launch, in the
  /// arguments' own memory.
  virtual void tensorMapArgument(llvm::Argument &) const = 0;
  virtual void copyTensor(llvm::IRBuilder<> &, const TensorCopy &, llvm::Value *predicate) const = 0;
  /// Closes the group of this thread's copies to global memory since the last one; waits until at most `pending`
  /// groups' buffers are still to be read.
  virtual void commitTensorCopies(llvm::IRBuilder<> &) const = 0;
  /// `readsOnly`: until the buffers have been read; else until global memory has been written, too.
  virtual void waitForTensorCopies(llvm::IRBuilder<> &, unsigned pending, bool readsOnly) const = 0;
  virtual void initBarrier(llvm::IRBuilder<> &, llvm::Value *barrier, unsigned count, llvm::Value *predicate) const = 0;
  virtual void invalidateBarrier(llvm::IRBuilder<> &, llvm::Value *barrier, llvm::Value *predicate) const = 0;
  /// Arrives `count` times; `bytes` other than 0: once, and so many bytes of copies are to come.
  virtual void arriveAtBarrier(llvm::IRBuilder<> &, llvm::Value *barrier, unsigned count, int64_t bytes,
                               llvm::Value *predicate) const = 0;
  /// i1: whether the barrier's phase of that parity (i32) is complete, after waiting for it for a while.
  virtual llvm::Value *testBarrier(llvm::IRBuilder<> &b, llvm::Value *barrier, llvm::Value *parity) const = 0;

  // ---- talking back ----
  virtual void assertFail(llvm::IRBuilder<> &, llvm::StringRef message, llvm::StringRef file, unsigned line,
                          llvm::StringRef function) const = 0;
  /// printf; false where the target has none.
  virtual bool print(llvm::IRBuilder<> &, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> args) const = 0;

  // ---- functions ----
  /// Calling convention, launch bounds and attributes of a kernel of so many threads. `widestTensor`: how many 32-bit
  /// registers its largest tensor takes in a thread.
  virtual void kernelAttributes(llvm::Function &, unsigned threadsPerBlock, unsigned numCtas, unsigned maxRegisters,
                                unsigned widestTensor) const = 0;
  /// Called when all of the function is lowered.
  virtual void finish(llvm::Function &) const = 0;
  /// The block's dynamic shared memory.
  virtual llvm::GlobalVariable *sharedMemory(llvm::Module &) const = 0;
};

/// The array that stands for a block's dynamic shared memory, made when it is first requested. The launch gives its
/// size. Both vendors' shared memory is address space 3.
llvm::GlobalVariable *dynamicSharedMemory(llvm::Module &, llvm::Align);

/// Says of a call or load that its i32 is at least `least` and less than 2³¹, as the indices and sizes of grids are
/// for every driver: arithmetic on it need not keep signs.
llvm::Value *ofGrid(llvm::Instruction *, unsigned least);

/// LLVM's name for an atomic operation on scalars or vectors of the type.
llvm::AtomicRMWInst::BinOp rmwOperation(ir::RmwOp, llvm::Type *);
llvm::AtomicOrdering orderingOf(ir::MemSemantic);

/// Any scalar, vector or pointer value through 32-bit shuffles.
/// Lanes that differ only in bits of `uniform` are known to hold equal values (see shuffleXor32).
llvm::Value *shuffleXor(llvm::IRBuilder<> &, const Target &, llvm::Value *, unsigned mask, unsigned uniform = 0);
/// @pre target.hasHalves(mask)
std::pair<llvm::Value *, llvm::Value *> halves(llvm::IRBuilder<> &, const Target &, llvm::Value *, unsigned mask);
llvm::Value *shuffleIndex(llvm::IRBuilder<> &, const Target &, llvm::Value *, llvm::Value *lane);
/// The same where it is known which lane that is: sources[l] for lane l; negative: any value will do there.
llvm::Value *shuffleFixed(llvm::IRBuilder<> &, const Target &, llvm::Value *, llvm::ArrayRef<int8_t> sources,
                          llvm::Value *lane);

} // namespace tessera::codegen
