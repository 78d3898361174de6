// One program of the grid: walks a kernel's IR and evaluates operation after operation. Where to read what:
//   dispatch.cpp           which function evaluates an operation, or why none does
//   program.cpp            values, prints, assertions, faults
//   control_flow.cpp       functions, regions, loops, branches
//   plan.cpp               where values are kept, and for how long
//   tensor_ops.cpp         shapes, reductions, scans, dots
//   memory_ops.cpp         loads, stores, atomics, block pointers, tensor descriptors
//   shared_memory_ops.cpp  shared and tensor memory, asynchronous copies, mbarriers, warp-group dots
//   partitions.cpp         the regions of ttg.warp_specialize, which run at once
//   elementwise.h          arithmetic
// Every evaluator returns false after `fault`; then the program ends.
#pragma once
#include "ir/ops.h"
#include "runtime/interpreter/elementwise.h"
#include "runtime/interpreter/global_memory.h"
#include "runtime/interpreter/interpreter.h"
#include "runtime/interpreter/lanes.h"
#include "runtime/interpreter/open_values.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <optional>
#include <variant>

namespace tessera::runtime {

/// The extents of a tensor or a buffer. @pre the value is one
inline llvm::ArrayRef<int64_t> shapeOf(ir::Value v) { return v.type().cast<ir::ShapedType>().shape(); }

/// tt.make_tensor_ptr's result; strides and offsets in elements.
struct BlockPointer {
  uint64_t base;
  Shape shape, strides, offsets;
};

/// A tensor descriptor; outermost dimension first, strides in elements.
struct TensorDescriptor {
  uint64_t base;
  Shape shape, strides;
  bool nanPadding;
};

/// An mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
struct Mbarrier {
  int64_t count = 0, pending = 0, bytes = 0; // bytes announced and not yet arrived
  bool parity = false;                       // of the phase that is not complete yet
};

/// A buffer in shared or tensor memory: the elements of its logical tensor, row-major.
struct SharedBuffer {
  Lanes elements;
  std::map<uint32_t, Mbarrier> barriers; // by element
  bool freed = false;
};

/// A view of a buffer: which elements, in row-major order of the view.
struct SharedView {
  std::shared_ptr<SharedBuffer> buffer;
  std::vector<uint32_t> at;
};

using Object = std::variant<BlockPointer, TensorDescriptor, SharedView>;

/// The value of an SSA value: lanes, or an object, or nothing (tokens).
struct Datum {
  Lanes lanes;
  std::shared_ptr<const Object> object;
};

/// What is known of the functions of a module before any program runs. Not changed by running.
class Plan {
public:
  /// Fails where a type cannot be evaluated at all, with a diagnostic.
  bool build(ir::Module &, ir::DiagnosticEngine &);

  unsigned place(ir::Value v) const { return places_.find(v.impl())->second; }
  unsigned numValues(const ir::Operation *func) const { return numValues_.lookup(func); }
  /// Places whose values are dead after the operation.
  const llvm::SmallVector<unsigned, 2> *dying(const ir::Operation *op) const {
    auto it = dying_.find(op);
    return it == dying_.end() ? nullptr : &it->second;
  }
  /// Whether a region of scalar operations may be run on many lanes at once: one block, nothing but elementwise
  /// operations, constants and calls of such functions.
  bool isLanewise(const ir::Region *r) const { return lanewise_.lookup(r); }
  ir::Operation *function(llvm::StringRef name) const { return functions_.lookup(name); }

private:
  bool visit(ir::Operation *func, ir::DiagnosticEngine &);
  bool computeLanewise(ir::Region &);

  llvm::DenseMap<const ir::ValueImpl *, unsigned> places_;
  llvm::DenseMap<const ir::Operation *, unsigned> numValues_;
  llvm::DenseMap<const ir::Operation *, llvm::SmallVector<unsigned, 2>> dying_;
  llvm::DenseMap<const ir::Region *, bool> lanewise_;
  llvm::StringMap<ir::Operation *> functions_;
};

/// What all programs of a run share.
/// Where and why a program ended.
struct Fault {
  ir::Operation *op = nullptr;
  std::string message;
  llvm::SmallVector<ir::Operation *, 4> callers; // innermost first
  bool isUnwrittenRead = false;                  // of memory that nothing wrote
};

/// What reads of memory that nothing wrote find in a run that is made to see whether it matters
/// (runtime/unwritten_values.h). One program runs at any time.
struct UnwrittenTrial {
  struct Place {
    Fault fault; // what is reported of its first read
    std::array<int64_t, 3> program;
  };
  UnwrittenValue value = UnwrittenValue::Zeros;
  std::optional<size_t> only; // the place that finds the value; the others find zeros
  bool notesPlaces = false;   // otherwise they are known
  std::vector<Place> places;  // in the order in which they were found
};

struct Run {
  const Plan &plan;
  const InterpreterOptions &options;
  std::array<int64_t, 3> grid;
  std::atomic<uint64_t> writes{0}; // counts changes of global memory
  std::atomic<bool> stop{false};   // some program failed
  std::function<void(llvm::StringRef)> print;
  OpenValues *openValues = nullptr;  // null: they are not looked for
  UnwrittenTrial *trial = nullptr;   // null: reads of what nothing wrote are faults
  std::atomic<int64_t> mostSteps{0}; // of a program that has ended
};

/// Why an operation is never evaluated, or null if it is (terminators and functions by what holds them).
const char *whyNotInterpreted(ir::Opcode);

class Program {
public:
  /// `spin` is called now and then while the program waits in a loop for others; false: they all wait.
  Program(Run &run, LanePool &pool, const GlobalMemory &memory, std::array<int64_t, 3> id, std::function<bool()> spin)
      : run_(run), pool_(pool), memory_(memory), id_(id), spin_(std::move(spin)) {}

  /// False after a fault, or without one when another program failed.
  bool run(ir::Operation *kernel, llvm::ArrayRef<InterpreterArg> args);
  const std::optional<Fault> &fault() const { return fault_; }
  int64_t steps() const { return steps_; }

private:
  using Op = ir::Operation *;
  struct Frame {
    std::vector<Datum> values;
    Op caller;
  };

  // Values.
  Datum &datum(ir::Value v) { return at_.frame->values[run_.plan.place(v)]; }
  const Datum &get(ir::Value v) { return datum(v); }
  const Lanes &lanes(ir::Value v) { return datum(v).lanes; }
  uint64_t word(ir::Value v) { return lanes(v).word(); }
  bool flag(ir::Value v) { return lanes(v).flag(); }
  int64_t integer(ir::Value v) { return signedAt(lanes(v), 0, v.type().scalar()); }
  bool set(ir::Value v, Lanes l) {
    datum(v) = {std::move(l), nullptr};
    return true;
  }
  bool set(ir::Value v, Object o) {
    datum(v) = {Lanes(), std::make_shared<const Object>(std::move(o))};
    return true;
  }
  bool setUndefined(ir::Value v);
  bool pass(ir::Value from, ir::Value to) {
    Datum d = datum(from);
    datum(to) = std::move(d);
    return true;
  }
  const BlockPointer &blockPointer(ir::Value v) { return std::get<BlockPointer>(*datum(v).object); }
  const TensorDescriptor &descriptor(ir::Value v) { return std::get<TensorDescriptor>(*datum(v).object); }
  const SharedView &view(ir::Value v) { return std::get<SharedView>(*datum(v).object); }
  Lanes undefined(ir::Type scalar, size_t count) {
    return undefinedLanes(pool_, scalar, count, run_.options.undefinedIsZero);
  }

  bool fail(Op, const llvm::Twine &what);
  bool notInterpreted(Op);

  // Control flow.
  bool evaluate(Op);
  bool dispatch(Op);
  /// Runs the blocks of a region; gives the terminator that leaves it, or null after a fault.
  Op runRegion(ir::Region &);
  bool call(Op func, llvm::ArrayRef<Datum> args, llvm::SmallVectorImpl<Datum> &results, Op caller);
  /// After an iteration. `waitsInVain`: set instead of a fault where no other program can continue.
  bool loopBack(Op loop, int64_t iteration, bool *waitsInVain = nullptr);
  bool evaluateCall(ir::tt::CallOp);
  bool evaluateFor(ir::scf::ForOp);
  bool evaluateWhile(ir::scf::WhileOp);
  bool evaluateIf(ir::scf::IfOp);
  bool yieldFrom(Op op, ir::Region &);
  bool warpSpecialize(ir::ttg::WarpSpecializeOp);
  /// In a partition: lets the others run; `waits`: this one cannot continue without them. False if no one can
  /// run, after a fault, or without others.
  bool letOthersRun(bool waits);
  void continueAfterWait(); // what the partition waited for has happened
  bool evaluateConstant(Op);
  bool evaluateElementwiseOp(Op);
  bool evaluatePrint(ir::tt::PrintOp);
  bool evaluateAssert(Op, ir::Value condition, llvm::StringRef message);

  // Tensors.
  bool broadcast(ir::tt::BroadcastOp);
  bool transpose(ir::tt::TransOp);
  bool join(ir::tt::JoinOp);
  bool split(ir::tt::SplitOp);
  bool cat(ir::tt::CatOp);
  bool gather(ir::tt::GatherOp);
  bool histogram(ir::tt::HistogramOp);
  bool makeRange(ir::tt::MakeRangeOp);
  bool reduce(ir::tt::ReduceOp);
  bool scan(ir::tt::ScanOp);
  bool mapElementwise(ir::tt::MapElementwiseOp);
  /// Runs a region of scalar operations on every lane.
  bool runOnLanes(ir::Region &, llvm::ArrayRef<Lanes> args, llvm::SmallVectorImpl<Lanes> &results);
  bool dot(Op, ir::Type aType, const Lanes &a, ir::Type bType, const Lanes &b, ir::Type cType, const Lanes &c,
           ir::InputPrecision, Lanes &d);
  bool dotScaled(ir::tt::DotScaledOp);
  bool fp4ToFp(ir::ttg::Fp4ToFpOp);
  bool scaledUpcast(ir::amdg::ScaledUpcastFp8Op);
  bool scaledUpcast(ir::amdg::ScaledUpcastFp4Op);
  bool scaledUpcast(ir::amdg::UpcastMxfpOp);
  bool setScaled(ir::Value result, std::vector<double> numbers, ir::Value scale);
  bool extractSlice(ir::amdg::ExtractSliceOp);
  bool concat(ir::amdg::ConcatOp);

  // Global memory.
  bool readLanes(Op, ir::Type element, const Lanes &addresses, const Lanes *mask, Lanes &into);
  bool writeLanes(Op, ir::Type element, const Lanes &addresses, const Lanes *mask, const Lanes &values);
  bool atomicLanes(Op, ir::Type element, const Lanes &addresses, const Lanes *mask,
                   llvm::function_ref<uint64_t(size_t lane, uint64_t old)>, Lanes &old);
  bool faultyAccess(Op, const char *what, uint64_t address, unsigned bytes, size_t lane, size_t lanes);
  /// Before a read of memory that nothing wrote, at an address that resolves: whether it may be made.
  bool mayReadUnwritten(Op, const char *what, uint64_t address, unsigned bytes, size_t lane, size_t lanes);
  bool memoryWidth(Op, ir::Type element, unsigned &bytes);
  bool load(ir::tt::LoadOp);
  bool store(ir::tt::StoreOp);
  bool atomicRmw(ir::tt::AtomicRmwOp);
  bool atomicCas(ir::tt::AtomicCasOp);
  /// Compares and swaps; sets `result` to the old values.
  bool casLanes(Op, const Lanes &addresses, ir::Value expected, ir::Value value, ir::Value result);
  bool atomicLoad(ir::tt::AtomicLoadOp);
  bool atomicPoll(ir::tt::AtomicPollOp);
  bool makeBlockPointer(ir::tt::MakeTensorPtrOp);
  bool advance(ir::tt::AdvanceOp);
  /// Addresses of a block's elements and, in `inside`, which are in bounds in the checked dimensions.
  void blockAddresses(ir::Type element, llvm::ArrayRef<int64_t> block, uint64_t base, llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> checked,
                      Lanes &addresses, Lanes &inside);
  bool makeDescriptor(ir::tt::MakeTensorDescriptorOp);
  /// Addresses of the block of a descriptor at these indices.
  bool descriptorAddresses(Op, ir::Value desc, ir::OperandRange indices, Lanes &addresses, Lanes &inside);
  void rowAddresses(ir::Value desc, ir::Value rows, ir::Value column, ir::Type block, Lanes &addresses, Lanes &inside);
  Lanes padding(ir::Type element, size_t count, bool nan);
  bool descriptorLoad(Op, ir::Value desc, ir::OperandRange indices, Lanes &into);
  bool descriptorStore(Op, ir::Value desc, ir::OperandRange indices, const Lanes &);
  bool descriptorReduce(Op, ir::Value desc, ir::OperandRange indices, ir::DescriptorReduceKind, const Lanes &);
  /// Rows of a matrix, one for each index, from a column on. `block`: of the rows that are moved.
  bool gatherRows(Op, ir::Value desc, ir::Value rows, ir::Value column, ir::Type block, Lanes &into);
  bool scatterRows(Op, ir::Value desc, ir::Value rows, ir::Value column, ir::Type block, const Lanes &);
  Lanes bufferAddresses(ir::Value base, ir::Value offsets);
  bool bufferLoad(ir::amdg::BufferLoadOp);
  bool bufferStore(ir::amdg::BufferStoreOp);
  bool bufferAtomic(ir::amdg::BufferAtomicRmwOp);
  bool bufferCas(ir::amdg::BufferAtomicCasOp);
  bool scratch(ir::ttg::GlobalScratchAllocOp);
  bool tensormapCreate(ir::ttng::TensormapCreateOp);
  bool reinterpretDescriptor(ir::ttng::ReinterpretTensorDescriptorOp);

  // Shared memory.
  bool localAlloc(Op, ir::Value src, ir::Value result);
  Lanes readView(ir::Value v);
  /// Lanes of a tensor, or of what a memory descriptor shows.
  Lanes contents(ir::Value v) { return v.type().isTensor() ? lanes(v) : readView(v); }
  bool writeView(Op, ir::Value view, const Lanes &);
  bool checkLive(Op, ir::Value view);
  bool viewOp(Op);
  bool asyncCopy(Op, ir::Type element, const Lanes &addresses, ir::Value mask, ir::Value other, ir::Value dest);
  bool localGather(ir::ttg::LocalGatherOp);
  bool localScatter(ir::ttg::LocalScatterOp);
  bool localAtomic(ir::ttg::LocalAtomicScatterRmwOp);
  std::optional<int64_t> namedCoordinate(Op, ir::Value indices, size_t i, int64_t size, unsigned axis);
  bool evaluateMask(ir::ttg::MaskOp);
  bool warpGroupDot(ir::ttng::WarpGroupDotOp);
  bool tensorCoreDot(ir::ttng::TcGen5MmaOp);
  bool tmaLoad(ir::ttng::AsyncTmaCopyGlobalToLocalOp);
  bool tmaGather(ir::ttng::AsyncTmaGatherOp);
  /// Writes what a bulk copy has brought, and counts its bytes at the mbarrier.
  bool completeCopy(Op, ir::Value into, const Lanes &, ir::Value barrier);
  bool tmemStore(ir::ttng::TmemStoreOp);
  Mbarrier &barrier(ir::Value v);
  void arrive(ir::Value barrier, int64_t count);
  void completePhase(Mbarrier &);
  bool waitBarrier(ir::ttng::WaitBarrierOp);

  Run &run_;
  LanePool &pool_;
  GlobalMemory memory_;
  std::array<int64_t, 3> id_;
  std::function<bool()> spin_;
  /// Where evaluation is: each partition has a position of its own.
  struct Position {
    Frame *frame = nullptr;
    unsigned depth = 0;   // of calls
    unsigned nesting = 0; // of regions
  };
  Position at_;
  struct Scheduler;
  Scheduler *scheduler_ = nullptr; // while partitions run
  int64_t steps_ = 0;
  int64_t idle_ = 0;                                // iterations since global memory changed
  uint64_t idleWrites_ = 0;                         // Run::writes at that time
  bool waited_ = false, wrote_ = false;             // since the last look: atomics or volatile loads, changes of memory
  std::map<uint64_t, TensorDescriptor> tensormaps_; // by the address that they were written to
  std::optional<Fault> fault_;
};

} // namespace tessera::runtime
