// Dots in tensor memory: tcgen05.mma and tcgen05.commit. The rules of their order: tensor_memory.cpp. Source: PTX ISA,
// "TensorCore 5th Generation Family Instructions": "Matrix Shape", "Instruction Descriptor", "Data Path Layout
// Organization", "tcgen05.mma", "tcgen05.commit".
#include "runtime/emulator/matrix_descriptor.h"
#include "runtime/emulator/mbarrier.h"
#include "runtime/emulator/tensor_memory.h"
#include "runtime/emulator/tensor_memory_order.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace tessera::emulator {
using namespace llvm;

namespace {

/// "Instruction Descriptor", of the kinds known here.
struct DotShape {
  unsigned m = 0, n = 0, k = 0;
  MatrixElement a = MatrixElement::None, b = MatrixElement::None, c = MatrixElement::None;
  bool acrossA = false, acrossB = false, negateA = false, negateB = false, saturate = false;
};

MatrixElement operandOf(TensorMemoryDotForm::Kind kind, unsigned code) {
  using Kind = TensorMemoryDotForm::Kind;
  using E = MatrixElement;
  switch (kind) {
  case Kind::F16: return code == 0 ? E::F16 : code == 1 ? E::BF16 : E::None;
  case Kind::TF32: return code == 2 ? E::TF32 : E::None;
  case Kind::F8F6F4: return code == 0 ? E::E4M3FN : code == 1 ? E::E5M2 : E::None;
  case Kind::I8: return code == 0 ? E::U8 : code == 1 ? E::S8 : E::None;
  }
  return E::None;
}

/// Why there is no such dot, or null.
const char *decode(TensorMemoryDotForm::Kind kind, uint32_t bits, DotShape &s) {
  using Kind = TensorMemoryDotForm::Kind;
  auto field = [&](unsigned first, unsigned width) { return bits >> first & ((1u << width) - 1); };
  if (field(0, 3)) return "it is sparse, which is not modelled";
  if (field(6, 1) || field(23, 1) || field(29, 1) || field(30, 2)) return "it sets bits that are reserved";
  bool integers = kind == Kind::I8;
  unsigned d = field(4, 2);
  bool halves = kind == Kind::F16 && d == 0;
  if (!halves && d != (integers ? 2u : 1u)) return "its accumulator's type is none of its kind, or not modelled";
  s.c = integers ? MatrixElement::S32 : halves ? MatrixElement::F16 : MatrixElement::F32;
  s.a = operandOf(kind, field(7, 3));
  s.b = operandOf(kind, field(10, 3));
  if (s.a == MatrixElement::None || s.b == MatrixElement::None) return "its operands' types are not the kind's";
  if (halves && (s.a != MatrixElement::F16 || s.b != MatrixElement::F16)) return "it accumulates other types in f16";
  s.saturate = field(3, 1);
  s.negateA = field(13, 1);
  s.negateB = field(14, 1);
  s.acrossA = field(15, 1);
  s.acrossB = field(16, 1);
  if (integers ? s.negateA || s.negateB : s.saturate) return "it sets bits that its kind does not have";
  s.n = field(17, 6) << 3;
  s.m = field(24, 5) << 4;
  s.k = 256 / elementBits(s.a);
  if (s.m != 64 && s.m != 128) return "its M is neither 64 nor 128";
  bool bytesAcross = s.acrossB && elementBits(s.b) == 8;
  unsigned step = s.m == 128 || (integers && s.n > 24) || bytesAcross ? 16 : 8;
  if (!s.n || s.n > 256 || s.n % step) return "its N is none that its kind and M have";
  if ((s.acrossA || s.acrossB) && kind == Kind::TF32) return "it reads 32-bit elements across K, which is not modelled";
  return nullptr;
}

/// One dot of a thread.
class Dot {
public:
  Dot(Warp &w, const Instruction &i, const TensorMemoryDotForm &form, unsigned lane)
      : w_(w), b_(*w.block), i_(i), form_(form), lane_(lane) {}

  void run() {
    auto bits = w_.row<uint32_t>(form_.instruction)[lane_];
    if (const char *why = decode(form_.kind, bits, s_))
      return fail(w_, &i_, int(lane_), formatv("the instruction descriptor {0:x} of tcgen05.mma: {1}", bits, why));
    uint32_t d = w_.row<uint32_t>(form_.d)[lane_];
    if (!isPlace(TensorAddress(d), s_.n, "the accumulator")) return;
    bool accumulate = w_.row<uint8_t>(form_.accumulate)[lane_] & 1;
    a_.resize(size_t(s_.m) * s_.k);
    bNumbers_.resize(size_t(s_.n) * s_.k);
    // The number of a pipeline: never 0, since the kind's sizes are not.
    TensorCellAccess cell(w_, i_, kName, uint64_t(d) << 32 | uint64_t(form_.kind) << 28 | s_.n << 12 | s_.m);
    bool isRead = form_.aDescriptor != kNoRow ? readShared(form_.aDescriptor, s_.m, s_.a, s_.acrossA, a_)
                                              : readTensor(cell, TensorAddress(d).lane);
    if (!isRead) return;
    if (!readShared(form_.bDescriptor, s_.n, s_.b, s_.acrossB, bNumbers_)) return;
    if (!accessAccumulator(cell, TensorAddress(d))) return;
    compute(TensorAddress(d), accumulate);
    uint64_t now = ++b_.launch->stamp;
    tensorOrderOf(w_).lastDot = now;
    noteOperands(now);
    ++b_.launch->changes;
  }

private:
  static constexpr const char *kName = "tcgen05.mma";

  /// Lanes of rows: all 128, or 16 of each warp's 32 ("Data Path Layout Organization", layouts D and F).
  unsigned laneOf(TensorAddress at, unsigned row) const {
    return s_.m == kTensorLanes ? row : at.lane + row / kTensorHalf * kTensorLanesOfWarp + row % kTensorHalf;
  }
  bool isPlace(TensorAddress at, unsigned columns, const char *what) {
    bool isLane = at.lane == 0 || (s_.m == 64 && at.lane == kTensorHalf);
    if (!isLane) {
      fail(w_, &i_, int(lane_), formatv("{0} of tcgen05.mma begins at lane {1} of tensor memory", what, at.lane));
      return false;
    }
    return checkTensorColumns(w_, i_, kName, at.column, columns);
  }
  bool isLaneOf(unsigned half, TensorAddress at) const {
    return s_.m == kTensorLanes || half % 2 == at.lane / kTensorHalf;
  }

  /// Rows of A or columns of B, `count` of them, each with k elements.
  bool readShared(Row row, unsigned count, MatrixElement e, bool across, std::vector<double> &out) {
    uint64_t bits = w_.row<uint64_t>(row)[lane_];
    MatrixDescriptor d;
    if (!MatrixDescriptor::ofTcgen05(bits, d)) {
      fail(w_, &i_, int(lane_), formatv("{0:x} is no descriptor of a matrix in shared memory", bits));
      return false;
    }
    unsigned elementBytes = elementBits(e) / 8, perChunk = 16 / elementBytes;
    auto number = [&](const uint8_t *p, unsigned index) {
      uint64_t v = 0;
      memcpy(&v, p + index * elementBytes, elementBytes);
      return matrixNumber(e, v);
    };
    if (!across) {
      for (unsigned mn = 0; mn < count; ++mn)
        for (unsigned chunk = 0; chunk < s_.k / perChunk; ++chunk) {
          const uint8_t *p = chunkAt(d.alongK(mn, chunk));
          if (!p) return false;
          for (unsigned x = 0; x < perChunk; ++x) out[mn * s_.k + chunk * perChunk + x] = number(p, x);
        }
      return true;
    }
    for (unsigned first = 0; first < count; first += perChunk)
      for (unsigned depth = 0; depth < s_.k; ++depth) {
        const uint8_t *p = chunkAt(d.alongMn(first / perChunk, depth));
        if (!p) return false;
        for (unsigned x = 0; x < perChunk && first + x < count; ++x) out[(first + x) * s_.k + depth] = number(p, x);
      }
    return true;
  }
  const uint8_t *chunkAt(uint32_t address) {
    uint32_t offset = address - kSharedBase;
    if (address < kSharedBase || offset + 16 > b_.shared.size()) {
      fail(w_, &i_, int(lane_),
           formatv("out of bounds: tcgen05.mma reads 16 bytes at byte {0} of shared memory, which has {1}",
                   int64_t(address) - kSharedBase, b_.shared.size()));
      return nullptr;
    }
    if (!mayReadAsynchronously(w_, i_, offset, kName)) return nullptr;
    chunks_.push_back(offset / 16);
    return b_.shared.data() + offset;
  }

  /// A in tensor memory: elements along K packed in columns. Layout F has the same lanes for A and D.
  bool readTensor(TensorCellAccess &cell, unsigned laneOfD) {
    TensorAddress at(w_.row<uint32_t>(form_.aAddress)[lane_]);
    unsigned perWord = 32 / elementBits(s_.a), columns = s_.k / perWord;
    if (!isPlace(at, columns, "operand A")) return false;
    if (at.lane != laneOfD) {
      fail(w_, &i_, int(lane_),
           formatv("tcgen05.mma of 64 rows has operand A at lane {0} of tensor memory and its accumulator at lane {1}",
                   at.lane, laneOfD));
      return false;
    }
    for (unsigned half = 0; half < kTensorHalves; ++half)
      for (unsigned c = 0; c < columns && isLaneOf(half, at); ++c)
        if (!cell(half, at.column + c, false)) return false;
    for (unsigned row = 0; row < s_.m; ++row)
      for (unsigned k = 0; k < s_.k; ++k) {
        unsigned lane = laneOf(at, row), column = at.column + k / perWord;
        if (!checkTensorDefined(w_, i_, kName, lane, column)) return false;
        uint64_t v = b_.tensor->words[lane * kTensorColumns + column];
        unsigned bits = elementBits(s_.a);
        a_[row * s_.k + k] = matrixNumber(s_.a, v >> (k % perWord * bits) & ((uint64_t(1) << bits) - 1));
      }
    return true;
  }

  bool accessAccumulator(TensorCellAccess &cell, TensorAddress at) {
    for (unsigned half = 0; half < kTensorHalves; ++half)
      for (unsigned c = 0; c < s_.n && isLaneOf(half, at); ++c)
        if (!cell(half, at.column + c, true)) return false;
    return true;
  }

  void compute(TensorAddress at, bool accumulate) {
    TensorMemory &t = *b_.tensor;
    bool negative = s_.negateA != s_.negateB;
    for (unsigned row = 0; row < s_.m; ++row)
      for (unsigned n = 0; n < s_.n; ++n) {
        double sum = 0;
        for (unsigned k = 0; k < s_.k; ++k) sum += a_[row * s_.k + k] * bNumbers_[n * s_.k + k];
        if (negative) sum = -sum;
        unsigned lane = laneOf(at, row), column = at.column + n;
        if (accumulate && !checkTensorDefined(w_, i_, kName, lane, column)) return;
        uint32_t &word = t.words[lane * kTensorColumns + column];
        word = accumulated(sum, accumulate, word);
        t.defined.set(lane * kTensorColumns + column);
      }
  }
  uint32_t accumulated(double sum, bool accumulate, uint32_t old) const {
    if (s_.c == MatrixElement::S32) {
      int64_t whole = int64_t(sum) + (accumulate ? int64_t(int32_t(old)) : 0);
      if (s_.saturate) whole = std::clamp<int64_t>(whole, INT32_MIN, INT32_MAX);
      return uint32_t(whole);
    }
    // An f16 is the lower half of a column; of the upper half nothing is known.
    constexpr uint32_t kUpper = 0xdead0000;
    bool halves = s_.c == MatrixElement::F16;
    if (accumulate) sum += matrixNumber(s_.c, halves ? old & 0xffff : old);
    return uint32_t(roundTo(s_.c, sum)) | (halves ? kUpper : 0);
  }

  void noteOperands(uint64_t now) {
    for (uint32_t chunk : chunks_) {
      auto &reads = b_.tensor->operands[chunk];
      OperandRead read{now, i_.id, uint16_t(w_.index)};
      auto same = find_if(reads, [&](auto &r) { return r.warp == w_.index; });
      same == reads.end() ? reads.push_back(read) : void(*same = read);
    }
  }

  Warp &w_;
  Block &b_;
  const Instruction &i_;
  const TensorMemoryDotForm &form_;
  unsigned lane_;
  DotShape s_;
  std::vector<double> a_, bNumbers_; // rows of A and columns of B, along K
  SmallVector<uint32_t, 0> chunks_;  // of shared memory that it reads
};

/// The one lane that executes it; none if there is none, or after an error.
std::optional<unsigned> oneLane(Warp &w, const Instruction &i, Row guard, bool negated, const char *what) {
  std::optional<unsigned> lane;
  for (uint64_t lanes = w.mask; lanes; lanes &= lanes - 1) {
    unsigned l = unsigned(std::countr_zero(lanes));
    if (isGuardedOff(w, guard, negated, l)) continue;
    if (lane) {
      fail(w, &i, int(l), formatv("{0} is issued by several threads of the warp; one does it for all", what));
      return std::nullopt;
    }
    lane = l;
  }
  return lane;
}

void multiply(Warp &w, const Instruction &i) {
  const auto &form = *reinterpret_cast<const TensorMemoryDotForm *>(i.immediate);
  auto lane = oneLane(w, i, form.guard, form.guardNegated, "tcgen05.mma");
  if (!lane) return;
  countWarpOperation(w, i, SiteCounters::Kind::Matrix, "tcgen05.mma");
  Dot(w, i, form, *lane).run();
}

struct CommitForm {
  Row barrier, guard;
  bool guardNegated;
};
void commit(Warp &w, const Instruction &i) {
  const auto &form = *reinterpret_cast<const CommitForm *>(i.immediate);
  auto lane = oneLane(w, i, form.guard, form.guardNegated, "tcgen05.commit");
  if (lane) arriveForDots(w, i, *lane, w.row<uint32_t>(form.barrier)[*lane], tensorOrderOf(w).lastDot);
}

} // namespace

void emitTensorMemoryDot(Decoder &d, TensorMemoryDotForm form) { emitKept(d, multiply, form); }
void emitTensorMemoryCommit(Decoder &d, Row barrier, Row guard, bool guardNegated) {
  emitKept(d, commit, CommitForm{barrier, guard, guardNegated});
}

} // namespace tessera::emulator
