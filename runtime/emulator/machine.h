// The machine that a decoded program runs on: instructions, warps, blocks and the launch they belong to.
//
// Every SSA value of a scalar type has a row of one entry per lane in its warp's frame: 1, 2, 4, 8 or 16 bytes, the
// least power of two that holds the type. Integers of other widths are kept zero-extended, i1 as a byte of 0 or 1,
// floats as their bits. Vectors and structs are decoded into their elements. A row is named by the byte offset of its
// first entry.
#pragma once
#include "absl/status/status.h"
#include "runtime/emulator/block_order.h"
#include "runtime/emulator/emulator.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace tessera::emulator {

using Row = uint32_t;
constexpr Row kNoRow = ~0u;
constexpr unsigned kMaxLanes = 64;

/// Where the parts of the emulated address space lie. The value of a generic pointer gives its space.
constexpr uint64_t kGlobalBase = uint64_t(1) << 44, kGlobalStride = uint64_t(1) << 40; // buffer i at base + i * stride
constexpr uint64_t kConstantBase = uint64_t(1) << 43, kConstantStride = uint64_t(1) << 32;
constexpr uint64_t kSharedWindow = uint64_t(1) << 41, kPrivateWindow = uint64_t(1) << 42;
constexpr uint32_t kSharedBase =
    1024; // of the block's dynamic shared memory, so that a null pointer points to none of it

enum class Space : uint8_t { Generic, Global, Shared, Constant, Private };

struct Warp;
struct Instruction;
using Handler = void (*)(Warp &, const Instruction &);

/// One element of an access: a row, and how many bytes of memory it stands for (zero-extended to the row's width).
struct AccessElement {
  Row row;
  uint8_t rowBytes, memoryBytes;
};

enum class AtomicKind : uint8_t {
  Add,
  Sub,
  And,
  Or,
  Xor,
  Nand,
  Max,
  Min,
  UMax,
  UMin,
  Exchange,
  FAdd,
  FSub,
  FMax,
  FMin,
  Cas,
  IncWrap,
  DecWrap
};
enum class FloatFormat : uint8_t { None, F16, BF16, F32, F64, F16x2, BF16x2 };

/// A load, store or atomic.
struct Access {
  enum class Kind : uint8_t { Load, Store, Atomic } kind = Kind::Load;
  Space space = Space::Generic;
  Row address = kNoRow;
  uint8_t addressBytes = 8;
  int64_t offset = 0;
  Row predicate = kNoRow; // i1: lanes where it is 0 do nothing
  bool predicateNegated = false;
  llvm::SmallVector<AccessElement, 4> elements; // results or what is stored; of an atomic: the new values
  unsigned bytes = 0, alignment = 1;
  bool isVolatile = false, acquires = false, releases = false;
  bool isOfBlock = false;    // its scope is the block: to other blocks it is not atomic, and orders nothing
  bool asynchronous = false; // a store that arrives when its group is waited for (cp.async)
  // Atomics: old values (may be none) and, for Cas, what is compared with.
  AtomicKind atomic = AtomicKind::Add;
  FloatFormat format = FloatFormat::None;
  llvm::SmallVector<Row, 4> old;
  Row compare = kNoRow, success = kNoRow;
  // Buffer accesses: the resource (16-byte row); `address` is then the 32-bit offset.
  Row resource = kNoRow, scalarOffset = kNoRow;
};

/// What happens on the way from one block to another.
struct Copy {
  Row from, to;
  uint8_t bytes;
};
struct Edge {
  unsigned target = 0;
  llvm::SmallVector<Copy, 4> copies;
  bool throughTemporary = false; // a destination is also a source
};

enum class Tracking : uint8_t { None, Add, Sub, Mul, Shl, SExt, ZExt, Trunc, Select, Wide };

struct Instruction {
  Handler run = nullptr;
  Row to = kNoRow, a = kNoRow, b = kNoRow, c = kNoRow;
  uint64_t immediate = 0;
  const Access *access = nullptr;
  llvm::ArrayRef<Row> more; // operands and results of those that have many
  const llvm::Instruction *source = nullptr;
  Handler tracked = nullptr; // the handler proper, where `run` follows overflow on the way to addresses
  Tracking tracking = Tracking::None;
  uint32_t id = 0; // its number in the program
};

struct BasicBlock {
  unsigned first = 0, last = 0; // instructions [first, last)
  enum class End : uint8_t { Return, Branch, Conditional, Switch, Unreachable } end = End::Return;
  Row condition = kNoRow;
  uint8_t conditionBytes = 1;
  llvm::SmallVector<Edge, 2> edges; // Conditional: true, false; Switch: default, then the cases
  llvm::SmallVector<uint64_t, 4> cases;
  const llvm::Instruction *terminator = nullptr;
};

struct ConstantRow {
  Row row;
  uint8_t bytes;
  uint64_t low, high;
};

struct Program {
  std::string kernel;
  const ir::TargetInfo *target = nullptr;
  unsigned lanes = 32;
  std::vector<Instruction> instructions;
  std::vector<BasicBlock> blocks; // in an order in which loops are contiguous and joins come after what they join
  std::vector<ConstantRow> constants;
  std::vector<std::pair<Row, uint8_t>> arguments; // bytes of each
  uint32_t frameBytes = 0;
  uint32_t privateBytes = 0;      // of a lane
  uint32_t sharedBytes = 0;       // static, before the dynamic part
  unsigned registers = 0;         // that a thread starts with, if the kernel says so (maxnreg)
  bool blocksInteract = false;    // by atomics, volatile accesses, clocks or printing: then their order matters
  bool hasSharedBarriers = false; // barriers that order shared memory alone
  // Owners of what instructions point to.
  std::vector<std::unique_ptr<Access>> accesses;
  std::vector<std::unique_ptr<llvm::SmallVector<Row, 8>>> lists;
  std::vector<std::shared_ptr<void>> owned;
};

/// The last accesses to a byte. Stamps count accesses of the whole launch, so that barriers, which also take a stamp,
/// say which of them came before.
struct Mark {
  uint64_t stamp = 0; // 0: none
  uint32_t site = 0;  // instruction
  uint32_t block = 0;
  uint16_t thread = 0;  // in the block
  bool several = false; // lanes of the warp
};
/// The stamp of a write to global memory that is in flight: nothing is ordered after it.
constexpr uint64_t kNeverOrdered = ~uint64_t(0);
struct SharedCell {
  Mark write, read, otherRead; // otherRead: by another warp than read's
};
struct GlobalCell {
  Mark write, read, otherRead;
  bool atomic = false;          // the write was one
  bool isOfBlock = false;       // … of the block's scope
  bool touched = false;         // written with what was there
  bool changedAgain = false;    // `write` is not the only one that changed something
  bool hasPlain = false;        // an atomic followed one that was not atomic: Launch::plainWrites
  uint16_t repeatingThread = 0; // that last wrote what was there, of the block, at the stamp
  uint32_t repeatingBlock = 0;
  uint64_t repeatedAt = 0;
};
constexpr unsigned kShadowPage = 1024, kLargestGranule = 16; // bytes of a buffer
/// The cells of a page, one for every granule of so many bytes: a power of two that has divided all accesses to it so
/// far, so that the bytes of a granule have been accessed together.
struct ShadowPage {
  GlobalCell *cells = nullptr; // made when first touched
  uint8_t granule = 0;
};
/// Memory for cells, in chunks that go back together: pages are many, and threads that allocate them with malloc wait
/// for each other.
class ShadowMemory {
public:
  /// Makes the page's granules at most as large.
  void divide(ShadowPage &, unsigned granule);

private:
  struct Free {
    void operator()(void *p) const { free(p); }
  };
  std::vector<std::unique_ptr<GlobalCell, Free>> chunks_;
  size_t left_ = 0; // cells of the last one
  size_t size_ = 0;
};

/// Memory that accesses may go to: a buffer, or a constant.
struct Region {
  std::string name;
  uint8_t *data = nullptr;
  uint64_t base = 0, bytes = 0;
  uint8_t *undefined = nullptr; // Buffer::undefined
  bool readOnly = false;
  bool holdsTensorMaps = false;   // that are arguments of the kernel
  std::vector<ShadowPage> shadow; // its cells are the launch's
};
constexpr uint64_t kMaxShadowed = uint64_t(64) << 20; // bytes of a buffer whose order is watched

struct Launch;
struct Block;

/// Follows overflow on the way to addresses: what the value would be without it.
struct Exact {
  std::array<__int128, kMaxLanes> value;
  uint64_t wrong = 0; // lanes whose 64-bit value comes from an overflow
  const llvm::Instruction *origin = nullptr;
};

/// Copies of cp.async in flight: bytes for shared memory, and the warp's group that they belong to.
struct PendingCopy {
  uint64_t group = 0;
  uint32_t offset = 0, site = 0;
  uint16_t thread = 0;
  llvm::SmallVector<uint8_t, 16> bytes;
};
/// What a lane is about to print (AMD, whose message comes in parts).
struct Message {
  std::string format;
  std::vector<uint64_t> words;
};
constexpr uint8_t kArrived = 1, kInFlight = 2; // Block::defined; 0: never written

// ---- wgmma (warpgroup.cpp) ----

/// One that nobody has waited for: its results, register by register and lane by lane, and the 16-byte chunks of shared
/// memory that it reads.
struct PendingMultiply {
  uint64_t group = 0, number = 0;
  uint32_t site = 0;
  std::vector<uint32_t> results;
  llvm::SmallVector<uint32_t, 0> chunks;
};
/// A row's lanes that will hold register `index` of a wgmma's results.
struct Promise {
  uint64_t operation = 0;
  unsigned index = 0;
  uint64_t lanes = 0;
};
struct WarpgroupState {
  uint64_t group = 0; // that wgmmas belong to now
  uint64_t operations = 0, issued = 0;
  bool fenced = false;
  std::vector<PendingMultiply> pending;
  llvm::DenseMap<Row, llvm::SmallVector<Promise, 1>> promises;
};
// ---- tcgen05 (tensor_memory.cpp) ----

constexpr unsigned kTensorLanes = 128, kTensorColumns = 512; // of tensor memory
constexpr unsigned kTensorHalf = 16; // lanes of a cell: accesses have whole halves of a warp's 32 lanes
/// An access to a column of 16 lanes: by a warp, or by the matrix unit for a warp that issued a dot.
struct TensorMark {
  uint64_t stamp = 0; // 0: none
  uint32_t site = 0;
  uint16_t warp = 0;
  bool byUnit = false;
  uint64_t pipeline = 0; // of a dot: dots with the same number of one warp are done in order
};
struct TensorCell {
  TensorMark write, read, otherRead; // otherRead: by another than read's
};
/// A dot's read of 16 bytes of shared memory.
struct OperandRead {
  uint64_t stamp = 0;
  uint32_t site = 0;
  uint16_t warp = 0; // that issued it
};
struct TensorMemory {
  std::vector<uint32_t> words;                       // by lane, then by column
  llvm::BitVector defined;                           // likewise
  std::vector<TensorCell> cells;                     // by half of a warp's lanes, then by column
  std::vector<std::pair<unsigned, unsigned>> ranges; // allocated: first column, how many
  bool relinquished = false;
  std::vector<llvm::SmallVector<OperandRead, 1>> operands; // by 16-byte chunk of shared memory: the last of each warp
};
/// What a warp did in tensor memory, and what it knew of others at its last fence::after_thread_sync.
struct TensorOrder {
  uint64_t loadsWaited = 0, storesWaited = 0; // stamps of the last waits
  struct Fence {
    uint64_t stamp = 0, loadsWaited = 0, storesWaited = 0;
  };
  std::vector<Fence> fences; // fence::before_thread_sync, in order
  uint64_t barrier = 0;      // the block's last one, at the fence after
  std::vector<uint64_t> known;
  uint64_t lastDot = 0; // its stamp
};
/// A barrier object in shared memory (mbarrier.cpp).
struct Mbarrier {
  uint32_t expected = 0, pending = 0; // arrivals of a phase; those that are missing
  int64_t bytes = 0;                  // of asynchronous copies that are missing
  uint64_t phase = 0;
  std::vector<uint64_t> arrived,
      complete; // by thread: stamps up to which its accesses come before arrivals; … of complete phases
};
/// A bulk copy to shared memory that has not arrived (tensor_copy.cpp).
struct PendingFill {
  uint32_t barrier = 0; // its mbarrier's byte
  uint32_t offset = 0, site = 0;
  uint16_t thread = 0;
  uint64_t map = 0; // the address of its tensor map
  std::vector<uint8_t> bytes;
};
/// A bulk copy from shared memory whose buffer is not known to be read: of a lane, in its group.
struct PendingDrain {
  uint64_t group = 0;
  uint32_t offset = 0, bytes = 0, site = 0;
  unsigned lane = 0;
  uint64_t map = 0; // the address of its tensor map
};
/// A row that a bulk copy from shared memory writes, until its thread has waited for all of its group.
struct PendingRow {
  uint64_t group = 0;
  unsigned lane = 0;
  uint32_t site = 0, bytes = 0;
  Region *region = nullptr;
  uint64_t offset = 0;
};
/// A tensor map that the kernel wrote (tensor_copy.cpp).
struct WrittenMap {
  llvm::SmallVector<uint32_t, 1> acquiredBy; // blocks, since it was written
  Mark lastRead;                             // when a copy that read it was known to be done
};
/// What the first warp of a warpgroup issued.
struct Issued {
  uint32_t site = 0;
  unsigned warp = 0;
  uint64_t a = 0, b = 0; // descriptors
};
/// A thread's last fence.proxy.async, and the block's last barrier before it.
struct ProxyFence {
  uint64_t stamp = 0, barrier = 0;
};

/// A race whose read has had no effect so far (unused_reads.h): where it reads, and what is to be said of it.
struct UnusedRead {
  uint32_t site = 0;
  unsigned lane = 0;
  std::string text;
};

/// When an instruction had an effect in a warp (stamps): the last time, and the last one before a barrier of the block
/// that came before that.
struct EffectTimes {
  uint64_t last = 0, beforeBarrier = 0;
};

struct Warp {
  Block *block = nullptr;
  const Program *program = nullptr;
  unsigned index = 0, lanes = 32;
  uint64_t mask = 0, full = 0, live = 0;
  std::unique_ptr<uint8_t[]> frameStorage;
  uint8_t *frame = nullptr;
  std::unique_ptr<uint8_t[]> privateMemory; // lane by lane
  enum class State : uint8_t { Ready, AtBarrier, Done } state = State::Ready;
  llvm::SmallVector<std::pair<unsigned, uint64_t>, 4> groups; // blocks that lanes wait to enter
  unsigned resumeBlock = 0, resumeAt = 0;                     // after a barrier
  const Instruction *barrier = nullptr;
  unsigned barrierNumber = 0; // of that barrier
  uint64_t lastSync = 0;      // stamp of the last warp barrier
  // Fences between blocks: whether one that releases came after the last write that is not atomic, and what the next
  // one that acquires knows by the atomic reads before it.
  bool releasedByFence = false;
  Acquired readBeforeFence;
  uint64_t returns = 0;      // to earlier blocks
  uint64_t idleChanges = 0;  // Launch::changes at `idleSince`
  uint64_t idleSince = 0;    // the number of returns when memory last changed
  uint64_t splitReturns = 0; // those since all lanes were together
  bool stop = false;         // leave the instruction loop
  bool stuck = false;
  bool starving = false; // lanes wait in a loop for other lanes of the warp: all are scheduled
  uint64_t stuckAt = 0;  // Launch::changes then
  std::vector<PendingCopy> copies;
  std::vector<Message> messages; // by lane
  uint64_t copyGroup = 0;        // the group that copies go to now
  std::vector<PendingDrain> drains;
  std::vector<PendingRow> rowsInFlight; // only if races are checked
  llvm::BitVector acted;                // by instruction: it had an effect; only if races are checked
  std::vector<UnusedRead> unusedReads;
  llvm::DenseMap<uint32_t, EffectTimes> effects; // by instruction, where barriers order shared memory alone
  std::array<uint64_t, kMaxLanes> drainGroup{};  // the group that a lane's bulk copies go to now
  std::unique_ptr<WarpgroupState> warpgroup;     // once it executed one of wgmma's instructions
  std::array<ProxyFence, kMaxLanes> proxyFences{};
  std::vector<std::pair<uint64_t, uint64_t>> fences; // stamps and lanes of those that may still be queried, in order
  std::vector<uint64_t> knownAtFence;                // `known` at the last that all lanes executed
  std::unique_ptr<TensorOrder> tensor;               // once it executed one of tcgen05's instructions
  unsigned registers = 0;                            // of a thread, where the kernel says so; setmaxnreg changes it
  std::vector<uint64_t>
      known; // by thread: the stamp up to which its accesses are ordered before this warp's, by mbarriers
  llvm::DenseMap<Row, std::unique_ptr<Exact>> exact;
  // A snapshot of the warp, to find loops that repeat the same state.
  std::vector<uint8_t> snapshot;
  unsigned snapshotBlock = ~0u;
  uint64_t snapshotChanges = 0, snapshotBarriers = 0, snapshotMask = 0, nextSnapshot = 0;

  template <class T> T *row(Row r) const { return reinterpret_cast<T *>(frame + r); }
  bool knows(unsigned thread, uint64_t stamp) const { return thread < known.size() && stamp <= known[thread]; }
};

/// At a named barrier: warps that have come to it and do not wait, and what they did before, or knew of, by thread.
struct BarrierArrivals {
  unsigned threads = 0; // that the barrier is for
  llvm::SmallVector<unsigned, 8> warps;
  std::vector<uint64_t> known;
};

struct Block {
  Launch *launch = nullptr;
  std::array<int64_t, 3> id{};
  uint32_t number = 0;
  std::vector<Warp> warps;
  std::vector<uint8_t> shared, defined;
  std::vector<SharedCell> cells;
  std::vector<uint16_t> inFlight;               // by 16-byte chunk: wgmmas in flight that read it
  std::vector<std::vector<Issued>> issued;      // by warpgroup
  llvm::DenseMap<uint32_t, Mbarrier> mbarriers; // by byte of shared memory
  std::vector<PendingFill> fills;
  unsigned drains = 0; // of its warps, in flight
  /// The number that marks carry of what bulk copies write, which is no thread's.
  unsigned copyUnit() const { return unsigned(warps.size()) * warps[0].lanes; }
  /// That of the matrix unit in Warp::known, for the dots that the warp issued.
  unsigned matrixUnit(unsigned warp) const { return copyUnit() + 1 + warp; }
  std::unique_ptr<TensorMemory> tensor;            // once it was allocated
  uint64_t lastBarrier = 0, lastGlobalBarrier = 0; // stamps
  Acquired acquired;                               // from other blocks
  uint64_t instructions = 0;
  unsigned done = 0;
  bool finished = false;
  uint64_t barriers = 0;                              // passed
  llvm::DenseMap<unsigned, BarrierArrivals> arrivals; // by the barrier's number
  // A snapshot of all warps at a barrier, as that of a warp in a loop.
  std::vector<uint8_t> snapshot;
  const Instruction *snapshotBarrier = nullptr;
  uint64_t snapshotChanges = 0, nextSnapshot = 0, stuckAt = 0;
  bool stuck = false;
};

/// A lane's read of a byte of a buffer that nothing had written (unwritten_reads.h).
struct UnwrittenRead {
  Warp *warp = nullptr;
  const Instruction *instruction = nullptr;
  unsigned lane = 0;
  const Region *region = nullptr;
  uint64_t offset = 0, stamp = 0;
};

struct UnwrittenTrial;

struct Launch {
  const Program *program = nullptr;
  const Options *options = nullptr;
  Checks checks;
  std::array<int64_t, 3> grid{};
  std::vector<Region> buffers, constants;
  ShadowMemory shadow;
  std::vector<PendingMultiply> spare;              // that are done: their memory serves the next ones
  llvm::DenseMap<uint64_t, WrittenMap> tensorMaps; // by address
  uint64_t stamp = 0;                              // accesses and barriers so far
  uint64_t changes = 0;                            // of memory, and blocks and warps begun and ended
  BlockOrder blockOrder;
  llvm::DenseMap<uint64_t, Mark> plainWrites; // the last before atomics, by address; of few places
  std::vector<SiteCounters> sites;            // by instruction, with counters
  llvm::DenseMap<uint32_t, llvm::BitVector>
      reach;                     // by load: instructions that its value reaches, found when first needed
  std::vector<uint8_t> executed; // blocks of the program, with counters
  llvm::SmallVector<UnwrittenRead, 0> unwritten; // of blocks that run, in their order
  UnwrittenTrial *trial = nullptr;               // reads of what nothing wrote are no errors (unwritten_trials.h)
  bool failedUnwritten = false;                  // the failure is such a read
  absl::Status failure;
  Report report;
};

// ---- for handlers ----

template <class F> [[gnu::always_inline]] inline void forLanes(const Warp &w, F f) {
  if (w.mask == w.full) {
    for (unsigned base = 0; base < w.lanes; base += 32)
#pragma clang loop vectorize(assume_safety)
      for (unsigned l = base; l < base + 32; ++l) f(l);
  } else {
    for (uint64_t m = w.mask; m; m &= m - 1) f(unsigned(std::countr_zero(m)));
  }
}
inline uint64_t loadRow(const Warp &w, Row r, unsigned bytes, unsigned lane) {
  switch (bytes) {
  case 1: return w.row<uint8_t>(r)[lane];
  case 2: return w.row<uint16_t>(r)[lane];
  case 4: return w.row<uint32_t>(r)[lane];
  default: return w.row<uint64_t>(r)[lane];
  }
}
inline void storeRow(const Warp &w, Row r, unsigned bytes, unsigned lane, uint64_t v) {
  switch (bytes) {
  case 1: w.row<uint8_t>(r)[lane] = uint8_t(v); break;
  case 2: w.row<uint16_t>(r)[lane] = uint16_t(v); break;
  case 4: w.row<uint32_t>(r)[lane] = uint32_t(v); break;
  default: w.row<uint64_t>(r)[lane] = v; break;
  }
}

/// Ends the run with a message about this instruction; `lane` < 0: about the warp.
void fail(Warp &, const Instruction *, int lane, const std::string &what);
/// The message's text.
std::string failureText(const Warp &, const Instruction *, int lane, const std::string &what);
/// "tt.load at kernel.py:12:3" of an instruction, as far as it is known.
std::string describe(const llvm::Instruction *);
/// All lanes that have not returned must be active: else an error, and false.
bool requireConverged(Warp &, const Instruction &, const char *what);
SiteCounters *siteOf(Warp &, const Instruction &);
void countWarpOperation(Warp &, const Instruction &, SiteCounters::Kind, const char *name);

// memory.cpp
void runAccess(Warp &, const Instruction &);

/// The immediate of a fence between blocks.
struct FenceForm {
  bool releases = false, acquires = false;

  uint64_t packed() const { return uint64_t(releases) | uint64_t(acquires) << 1; }
  static FenceForm of(const Instruction &i) { return {bool(i.immediate & 1), bool(i.immediate & 2)}; }
};
void fenceBlocks(Warp &, const Instruction &);
/// Host addresses of `bytes` bytes at each lane's address, checked as an access of this instruction; false after an
/// error.
bool locate(Warp &, const Instruction &, const Access &, uint64_t lanes, const uint64_t *address, uint8_t **host,
            Space *spaces);
/// cp.async.wait_group: all but the last `pending` committed groups arrive (`everything`: the open one too).
void waitForCopies(Warp &, uint64_t pending, bool everything);
Region *regionOf(Launch &, uint64_t address);
/// The first of these bytes of a buffer that was never written, if that is checked.
std::optional<uint64_t> firstUnwritten(const Launch &, const Region &, uint64_t offset, unsigned bytes);
/// What is said of a read of it.
std::string neverWritten(const Region &, uint64_t offset);
/// A read of buffers' memory that was never written; false after an error. Ask before the memory is read.
bool isWritten(Warp &, const Instruction &, unsigned lane, const Region &, uint64_t offset, unsigned bytes);
/// The bytes of a buffer are written.
inline void markWritten(Region &r, uint64_t offset, unsigned bytes) {
  if (r.undefined) memset(r.undefined + offset, 0, bytes);
}
/// One element updated by an atomic operation.
uint64_t combine(AtomicKind, FloatFormat, unsigned bytes, uint64_t old, uint64_t value);

// races.cpp
/// An access to shared memory by other means than loads and stores, for the order between threads; false after an
/// error.
bool noteSharedAccess(Warp &, const Instruction &, unsigned lane, uint32_t offset, unsigned bytes, bool writes,
                      uint64_t now);
/// The same for buffers; `changed`: byte by byte, or null.
bool noteGlobalAccess(Warp &, const Instruction &, unsigned lane, Region &, uint64_t offset, unsigned bytes,
                      bool writes, bool atomic, const uint8_t *changed, uint64_t now);

// tensor_copy.cpp
/// Copies in flight that signal the mbarrier at this byte arrive.
void arriveFills(Warp &, uint32_t barrier);
/// Why the block may not end yet, or empty.
std::string copyInFlight(const Block &);

// warpgroup.cpp
/// Whether a unit that reads by the asynchronous proxy may read the 16 bytes at `offset` of shared memory for this
/// warp now.
bool mayReadAsynchronously(Warp &, const Instruction &, uint32_t offset, const char *who);
/// Whether a fence of the asynchronous proxy lies between the write and what this warp starts now.
bool fencedSince(Warp &, const Mark &);
/// Accumulators in flight are copied, in these lanes.
void movePromises(Warp &, llvm::ArrayRef<Copy>, uint64_t lanes);
/// Who reads this 16-byte chunk of shared memory.
std::string wgmmaInFlight(const Block &, uint32_t chunk);
/// All of these warps of a warpgroup must have issued the same number of wgmmas; else an error, and false.
bool warpgroupsTogether(Block &, const Instruction *at, llvm::function_ref<bool(const Warp &)> among);

// execute.cpp
/// Runs the warp until it waits, ends, fails or has used its budget.
void runWarp(Warp &, uint64_t &budget);

// tensor_memory.cpp
/// The dot of tcgen05 that may still read this 16-byte chunk of shared memory, as far as the warp knows; or null.
const OperandRead *dotReading(const Warp &, uint32_t chunk);
/// All of these warps know what each of them knew of dots.
void shareDots(Block &);
/// Why the block may not end yet, or empty.
std::string tensorMemoryHeld(const Block &);

// track.cpp
void runTracked(Warp &, const Instruction &);
void copyExact(Warp &, Row from, Row to);
/// Why the lane's address is wrong ("…overflowed 32 bits at …"), or empty.
std::string whyWrong(Warp &, Row address, unsigned bytes, unsigned lane);

} // namespace tessera::emulator
