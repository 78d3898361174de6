// Lowering of ttg.convert_layout by its plan (layouts/conversion_plan.h): registers are renamed, exchanged by
// shuffles within the warp, or go through shared memory under the plan's layout: every thread that owns an element
// stores it, one barrier, every thread reads what it needs. If the allocation gave less memory than the tensor needs
// (transforms::planOptionsOf), this is repeated for parts of the tensor.
//
// Shuffles move words: narrow elements are packed with their neighbours, and a word that several results need moves
// once. If a lane reads the one at a fixed distance (xor), it is a shuffle by that distance. If both halves of a wave
// hold copies of the source, one bit of the source lane is free: lanes choose between the value and its shuffle.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/shared_access.h"
#include "codegen/lowering/target.h"
#include "ir/ops.h"
#include "layouts/conversion_plan.h"
#include "transforms/memory/scratch.h"

#include "llvm/ADT/bit.h"
#include <map>

namespace tessera::codegen {
using namespace ir;
using layouts::ConversionPlan;
using layouts::Dim;

namespace {

class WarpShuffles {
public:
  WarpShuffles(const ConversionPlan &plan, const Elements &values, FunctionLowering &fl)
      : plan_(plan), values_(values), fl_(fl), b_(fl.b) {
    unsigned bits = values[0]->getType()->getPrimitiveSizeInBits();
    if (plan.hasSelects()) { // registers are chosen one by one; the planner has seen to the distances
      byDistance_ = true;
      return;
    }
    if (bits && bits < 32 && bits % 8 == 0) perWord_ = 32 / bits;
    // A lane's own part of the source lane: its own bits, or zero, whatever the warp.
    bool own = true;
    unsigned lane = plan.sourceOf.outIndex(Dim::Lane);
    for (unsigned bit = 0; bit < plan.sourceOf.inDimBits(Dim::Lane); ++bit) {
      auto word = unsigned(plan.sourceOf.basis(Dim::Lane, bit)[lane]);
      own &= word == 1u << bit || !word;
      if (!word) free_ |= 1u << bit;
    }
    for (Dim in : {Dim::Warp, Dim::Block})
      for (unsigned bit = 0; bit < plan.sourceOf.inDimBits(in); ++bit) own &= !plan.sourceOf.basis(in, bit)[lane];
    byDistance_ = own && llvm::popcount(free_) <= 1 && (!free_ || fl.target.info().hasRowShuffles);
  }

  llvm::Value *result(unsigned k) { return plan_.hasSelects() ? selected(k) : received(k); }

private:
  llvm::Value *received(unsigned k) {
    unsigned reg = plan_.sourceRegister[k];
    if (values_.size() % perWord_) perWord_ = 1;
    llvm::Value *w = moved(reg / perWord_, plan_.sourceLaneConstant[k]);
    return perWord_ == 1 ? w : b_.CreateExtractElement(w, reg % perWord_);
  }

  // ---- registers chosen by the lane (ConversionPlan::sendSelect, receiveSelect) ----

  llvm::Value *selected(unsigned k) {
    if (llvm::Value *half = exchanged(k)) return half;
    return choose(plan_.receiveSelect, plan_.receiveSelect.size(), k, [&](unsigned i) { return received(i); });
  }
  /// The value of register i ^ (the xor of the columns of the lane's first `bits` bits).
  llvm::Value *choose(llvm::ArrayRef<unsigned> columns, unsigned bits, unsigned i,
                      llvm::function_ref<llvm::Value *(unsigned)> value) {
    while (bits && !columns[bits - 1]) --bits;
    if (!bits) return value(i);
    llvm::Value *set = choose(columns, bits - 1, i ^ columns[bits - 1], value);
    return b_.CreateSelect(laneBit(bits - 1), set, choose(columns, bits - 1, i, value));
  }
  llvm::Value *laneBit(unsigned bit) {
    llvm::Value *&set = laneBits_[bit];
    if (!set) set = b_.CreateICmpNE(b_.CreateAnd(fl_.laneId(), fl_.i32(1u << bit)), fl_.i32(0));
    return set;
  }
  /// Register k, if one bit of the lane and of the register change places and the target exchanges halves: two
  /// registers take one instruction.
  llvm::Value *exchanged(unsigned k) {
    auto *column = llvm::find_if(plan_.receiveSelect, [](unsigned c) { return c != 0; });
    unsigned bit = column - plan_.receiveSelect.begin();
    if (column == plan_.receiveSelect.end() || bit >= plan_.sendSelect.size()) return nullptr;
    unsigned receive = plan_.receiveSelect[bit], send = plan_.sendSelect[bit], mask = 1u << bit;
    auto isAlone = [&](llvm::ArrayRef<unsigned> columns) {
      return size_t(llvm::count(columns, 0u)) + 1 == columns.size();
    };
    if (!fl_.target.hasHalves(mask) || !isAlone(plan_.receiveSelect) || !isAlone(plan_.sendSelect)) return nullptr;
    if (values_[0]->getType()->getPrimitiveSizeInBits() != 32 || !send) return nullptr;
    bool moves = plan_.sourceLaneConstant[k] == mask;
    unsigned stays = moves ? k ^ receive : k, other = stays ^ receive;
    unsigned a = plan_.sourceRegister[stays], b = plan_.sourceRegister[other];
    if (plan_.sourceLaneConstant[stays] || plan_.sourceLaneConstant[other] != mask || b != (a ^ send)) return nullptr;
    auto &halves = halves_[stays];
    if (!halves.first) {
      auto word = [&](unsigned i) { return b_.CreateBitCast(values_[i], b_.getInt32Ty()); };
      halves = fl_.target.halves32(b_, word(a), word(b), mask);
    }
    return b_.CreateBitCast(moves ? halves.second : halves.first, values_[a]->getType());
  }

  llvm::Value *word(unsigned w) {
    if (plan_.hasSelects()) {
      llvm::Value *&sent = words_[w];
      if (!sent) sent = choose(plan_.sendSelect, plan_.sendSelect.size(), w, [&](unsigned i) { return values_[i]; });
      return sent;
    }
    if (perWord_ == 1) return values_[w];
    llvm::Value *&packed = words_[w];
    if (!packed) {
      packed = llvm::PoisonValue::get(llvm::FixedVectorType::get(values_[0]->getType(), perWord_));
      for (unsigned i = 0; i < perWord_; ++i) packed = b_.CreateInsertElement(packed, values_[w * perWord_ + i], i);
    }
    return packed;
  }
  /// The word of the lane at the distance.
  llvm::Value *at(unsigned w, unsigned distance) {
    if (!distance) return word(w);
    llvm::Value *&shuffled = shuffled_[{w, distance}];
    if (!shuffled) shuffled = shuffleXor(b_, fl_.target, word(w), distance);
    return shuffled;
  }
  /// The word of the source lane of a register whose part of the lane's number is `constant`.
  llvm::Value *moved(unsigned w, unsigned constant) {
    llvm::Value *&result = moved_[{w, constant}];
    if (!result) result = move(w, constant);
    return result;
  }
  llvm::Value *move(unsigned w, unsigned constant) {
    if (!byDistance_) {
      // This lane's part (which may depend on its warp) xor the register's constant.
      if (!own_)
        own_ = fl_.applyLayout(
            plan_.sourceOf, {{Dim::Lane, fl_.laneId()}, {Dim::Warp, fl_.warpId()}})[plan_.sourceOf.outIndex(Dim::Lane)];
      return shuffleIndex(b_, fl_.target, word(w), constant ? b_.CreateXor(own_, fl_.i32(constant)) : own_);
    }
    if (!free_) return at(w, constant);
    // Lanes whose free bit equals the constant's read at the distance without it, the others with it.
    unsigned distance = constant & ~free_;
    llvm::Value *same = at(w, distance), *other = at(w, distance | free_);
    if (!bit_) bit_ = b_.CreateICmpNE(b_.CreateAnd(fl_.laneId(), fl_.i32(free_)), fl_.i32(0));
    return constant & free_ ? b_.CreateSelect(bit_, same, other) : b_.CreateSelect(bit_, other, same);
  }

  const ConversionPlan &plan_;
  const Elements &values_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  unsigned perWord_ = 1;    // elements that move together
  bool byDistance_ = false; // the source lane is this lane, but for constants and the free bit
  unsigned free_ = 0;       // the bit of the lane that does not count for the source lane
  llvm::Value *own_ = nullptr, *bit_ = nullptr;
  std::map<unsigned, llvm::Value *> words_, laneBits_;
  std::map<unsigned, std::pair<llvm::Value *, llvm::Value *>> halves_; // of pairs of registers
  std::map<std::pair<unsigned, unsigned>, llvm::Value *> shuffled_, moved_;
};

/// A layout of 16-bit elements as instructions that move 8 by 8 matrices see it (SharedAccess::matrices): an access
/// takes the 8 elements of register 1 and lanes 1, 2, or transposed of lanes 4, 8, 16; the other three of these six
/// and up to two more registers are in the place of the lanes.
std::optional<layouts::LinearLayout> asMatrices(const layouts::LinearLayout &l, bool transposed) {
  if (l.inDimBits(Dim::Lane) != 5 || !l.inDimBits(Dim::Register)) return std::nullopt;
  llvm::SmallVector<layouts::LinearLayout::InDim, 4> ins(l.ins().begin(), l.ins().end());
  layouts::LinearLayout::InDim *registers = nullptr, *lanes = nullptr;
  for (auto &i : ins) {
    if (i.dim == Dim::Register) registers = &i;
    if (i.dim == Dim::Lane) lanes = &i;
  }
  auto oldRegisters = registers->bases, oldLanes = lanes->bases;
  registers->bases.assign(oldLanes.begin() + 2, oldLanes.end());
  lanes->bases = {oldRegisters[0], oldLanes[0], oldLanes[1]};
  if (!transposed) std::swap(registers->bases, lanes->bases);
  for (auto &column : llvm::drop_begin(oldRegisters)) {
    if (llvm::all_of(column, [](int32_t x) { return x == 0; })) continue;
    (lanes->bases.size() < 5 ? lanes : registers)->bases.push_back(column);
  }
  while (lanes->bases.size() < 5) lanes->bases.push_back(layouts::Basis(oldLanes[0].size(), 0));
  return layouts::LinearLayout(std::move(ins), {l.outs().begin(), l.outs().end()});
}

/// Whether those instructions find their 8 elements together under this layout of shared memory, and the other bits
/// move multiples of 8 elements. If the tensor goes through the memory in parts of `part` elements, only registers
/// beyond an instruction's may decide the part.
bool holdsMatrices(const layouts::LinearLayout &l, const layouts::LinearLayout &shared, bool transposed, int64_t part) {
  auto map = l.invertAndCompose(shared);
  unsigned matrices = 0;
  for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp})
    for (unsigned bit = 0; bit < map.inDimBits(d); ++bit) {
      int32_t offset = map.basis(d, bit)[0];
      int step = transposed                   ? (d == Dim::Lane && bit >= 2 ? 1 << (bit - 2) : 0)
                 : d == Dim::Register && !bit ? 1
                 : d == Dim::Lane && bit < 2  ? 2 << bit
                                              : 0;
      if (step ? offset != step : offset % 8) return false;
      bool inOne = d != Dim::Register || !bit || (offset && matrices++ < 2);
      if (inOne && offset >= part) return false;
    }
  return true;
}

constexpr int kMatrixElementBits = 16; // of the matrices of ldmatrix and stmatrix

/// The destination as the target's transposed reads see it, if it has such reads.
std::optional<layouts::LinearLayout> asTransposedReads(const TargetInfo &info, const layouts::LinearLayout &dst,
                                                       int bits) {
  if (info.hasLdmatrix && bits == kMatrixElementBits) return asMatrices(dst, true);
  if (info.hasTransposedLdsRead) return layouts::transposedReadAddresses(dst, bits);
  return std::nullopt;
}
bool canReadTransposed(const TargetInfo &info, const layouts::LinearLayout &dst, const ConversionPlan &plan, int bits) {
  return info.hasLdmatrix ? holdsMatrices(dst, plan.shared, true, plan.scratchBytes / 2)
                          : layouts::canReadTransposed(dst.invertAndCompose(plan.shared), bits);
}

/// A plan for elements of 16 bits, or 8, that is better where an end moves by the target's instructions that transpose
/// or distribute whole matrices: these have conflicts of their own, or none, and are fewer. `store`: all threads do.
void preferMatrices(const TargetInfo &info, const layouts::LinearLayout &src, const layouts::LinearLayout &dst,
                    int bits, const layouts::MemoryModel &model, const layouts::PlanOptions &options, bool store,
                    ConversionPlan &plan) {
  const ConversionPlan first = plan;
  std::optional<bool> kept; // how the matrices that the plan stores lie
  struct View {
    layouts::LinearLayout layout;
    std::optional<bool> transposed; // none: as it is
  };
  llvm::SmallVector<View, 3> writes{{src, {}}}, reads{{dst, {}}};
  if (store && info.hasStmatrix && bits == kMatrixElementBits && plan.writeVector < 8)
    for (bool transposed : {false, true})
      if (auto l = asMatrices(src, transposed)) writes.push_back({*l, transposed});
  if (plan.repetitions == 1)
    if (auto l = asTransposedReads(info, dst, bits)) reads.push_back({*l, true});
  for (auto &w : writes)
    for (auto &r : reads) {
      if (!w.transposed && !r.transposed) continue;
      if (w.transposed && w.transposed != kept && kept) continue; // rows or columns: as many instructions
      auto other = layouts::planConversion(w.layout, r.layout, bits, model, options);
      if (!other.ok() || other->kind != ConversionPlan::SharedMemory || other->repetitions != first.repetitions ||
          other->scratchBytes > first.scratchBytes)
        continue;
      if (w.transposed && !holdsMatrices(src, other->shared, *w.transposed, other->scratchBytes / 2)) continue;
      if (r.transposed && !canReadTransposed(info, dst, *other, bits)) continue;
      if (other->sharedPasses < plan.sharedPasses ||
          (w.transposed && other->sharedPasses == plan.sharedPasses && other->instructions < plan.instructions)) {
        plan = std::move(*other);
        kept = w.transposed;
      }
    }
}

} // namespace

/// Whether warps write what they hold copies of, too, all with one store each, rather than branch. What is loaded to be
/// written would be loaded behind the branch, since nothing else uses it: a round trip to memory that nothing hides,
/// and one that all loads before it share, since loads complete in order. On CDNA: dots on RDNA lack the registers for
/// what is loaded earlier, by the timing model such kernels are 0.82 to 1.22 times as fast.
static bool writeCopies(const TargetInfo &info, const layouts::LinearLayout &src, const ConversionPlan &plan) {
  bool isOneStore = src.inDimSize(Dim::Register) <= plan.writeVector;
  bool onlyWarpsHoldCopies = llvm::all_of(src.freeVariableMasks(), [](auto &free) {
    auto [dim, mask] = free;
    return !mask || dim == Dim::Warp || dim == Dim::Register;
  });
  bool hasAllLanes = src.inDimSize(Dim::Lane) == info.warpSize;
  return info.matrixUnit == MatrixUnit::Mfma && isOneStore && onlyWarpsHoldCopies && hasAllLanes;
}

bool convertElements(Operation *op, FunctionLowering &fl, const Elements &values, Type type,
                     const layouts::LinearLayout &src, const layouts::LinearLayout &dst, Elements &out) {
  auto &info = fl.target.info();
  layouts::MemoryModel model = info.memoryModel();
  auto options = transforms::planOptionsOf(op, info);
  auto plan = layouts::planConversion(src, dst, type.scalar().bitWidth(), model, options);
  if (!plan.ok()) return fl.error(op, llvm::StringRef(plan.status().message().data(), plan.status().message().size()));
  switch (plan->kind) {
  case ConversionPlan::None: out = values; break;
  case ConversionPlan::RegisterPermutation:
    for (auto r : plan->sourceRegister) out.push_back(values[r]);
    break;
  case ConversionPlan::WarpShuffle: {
    WarpShuffles shuffles(*plan, values, fl);
    for (unsigned r = 0; r < plan->sourceRegister.size(); ++r) out.push_back(shuffles.result(r));
    break;
  }
  case ConversionPlan::SharedMemory: {
    llvm::Type *element = fl.elementType(type);
    int bits = int(type.scalar().bitWidth());
    auto *writes = writeCopies(info, src, *plan) ? nullptr : fl.isRepresentative(src);
    if (bits == kMatrixElementBits || (info.hasTransposedLdsRead && layouts::transposedReadBits(bits)))
      preferMatrices(info, src, dst, bits, model, options, !writes, *plan);
    llvm::Value *base = fl.scratch(op);
    SharedAccess write(src, plan->shared, element, fl), read(dst, plan->shared, element, fl);
    if (plan->repetitions == 1) {
      write.store(base, values, writes);
      fl.barrier();
      out = read.load(base, element);
      break;
    }
    int32_t elements = plan->scratchBytes / std::max<int64_t>(1, type.scalar().bitWidth() / 8);
    for (int part = 0; part < plan->repetitions; ++part) {
      write.setPart(elements, part);
      read.setPart(elements, part);
      if (part) fl.barrier(); // the part before has been read
      write.store(base, values, writes);
      fl.barrier();
      read.loadPart(base, element, out);
    }
    break;
  }
  }
  return true;
}

bool lowerConvertLayout(Operation *op, FunctionLowering &fl) {
  auto convert = op->cast<ttg::ConvertLayoutOp>();
  Elements out;
  if (!convertElements(op, fl, fl.get(convert.src()), convert.src().type(), fl.layout(convert.src().type()),
                       fl.layout(convert.result().type()), out))
    return false;
  fl.set(convert.result(), std::move(out));
  return true;
}

bool lowerInThreadTranspose(Operation *op, FunctionLowering &fl) {
  auto transpose = op->cast<amdg::InThreadTransposeOp>();
  auto &src = fl.layout(transpose.src().type()), &dst = fl.layout(transpose.result().type());
  for (Dim d : {Dim::Lane, Dim::Warp, Dim::Block})
    for (unsigned bit = 0; bit < std::max(src.inDimBits(d), dst.inDimBits(d)); ++bit)
      if (bit >= src.inDimBits(d) || bit >= dst.inDimBits(d) || src.basis(d, bit) != dst.basis(d, bit))
        return fl.error(op, "would move values between threads");
  Elements out;
  if (!convertElements(op, fl, fl.get(transpose.src()), transpose.src().type(), src, dst, out)) return false;
  fl.set(op->result(), std::move(out));
  return true;
}

} // namespace tessera::codegen
