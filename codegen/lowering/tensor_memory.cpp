// Lowering of tensor memory (tcgen05, layouts/tensor_memory_places.h); of dots in it: tensor_memory_dot.cpp.
//
//   %acc = ttng.tmem_alloc                           an address: the block's first column and the buffer's place
//   ttng.tmem_store %x, %acc, %true                  each warp writes its 32 lanes, and waits
//   ttng.tc_gen5_mma %a, %b, %acc, %useD, %pred, %bar[%p] {is_async}
//                                                    one thread issues the tiles' steps along K and the arrival at %bar
//   ttng.wait_barrier %bar, %phase                   all threads
//   %y = ttng.tmem_load %acc
//
// A buffer's memory descriptor is one i32: the lane of tensor memory in the upper half, the column in the lower. A
// kernel allocates once, at its beginning, and frees before it returns; allocate-tensor-memory has given each buffer
// its columns.
//
// Loads and stores. A tensor's layout says which element a register of a lane of a warp holds, the buffer's where the
// element is. Together they must be what one access does: lane l of warp w is lane 32 (w mod 4) + l of tensor memory,
// or its lanes 16 to 31 are further columns of lanes 0 to 15; registers are columns. Registers that hold further rows,
// and warps beyond four, are accesses elsewhere.
//
// Not lowered: buffers of pairs of blocks, registers under other layouts.
#include "codegen/lowering/tensor_memory.h"
#include "codegen/lowering/target.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "layouts/tensor_memory_access.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/memory/tensor_memory.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;
using layouts::LinearLayout;

const layouts::TensorMemoryEncoding *tensorMemoryEncodingOf(MemDescType type) {
  return layouts::dynCast<layouts::TensorMemoryEncoding>(type.encoding());
}

std::optional<LinearLayout> tensorMemoryPlacesOf(Operation *op, MemDescType type, FunctionLowering &fl) {
  auto *encoding = tensorMemoryEncodingOf(type);
  if (!encoding) {
    fl.error(op, "accesses tensor memory under " + type.encoding()->str() + ", which its lowering does not know");
    return std::nullopt;
  }
  auto places = layouts::tensorMemoryPlaces(*encoding, type.shape().take_back(2));
  if (!places.ok()) {
    fl.error(op, std::string(places.status().message()));
    return std::nullopt;
  }
  return places->pseudoInvert();
}

TensorPlace TensorPlace::of(const LinearLayout &places, int32_t row, int32_t column) {
  auto at = places.apply({{Dim::Dim0, row}, {Dim::Dim1, column}});
  return {at[0], at[1]};
}

int64_t TensorPlace::address(unsigned bits) const {
  return (int64_t(lane) << layouts::kTensorMemoryLaneBit) + int64_t(element) * bits / layouts::kTensorMemoryColumnBits;
}

std::optional<int32_t> firstLaneOf(Value buffer, FunctionLowering &fl) {
  int32_t lane = 0;
  while (!buffer.definedBy<ttng::TmemAllocOp>()) {
    if (auto part = buffer.definedBy<ttng::TmemSubsliceOp>()) {
      auto places = tensorMemoryPlacesOf(part, part.src().type().cast<MemDescType>(), fl);
      if (!places) return std::nullopt;
      lane += TensorPlace::of(*places, 0, int32_t(part.N())).lane;
    }
    Value capture = captureOf(buffer);
    buffer = capture ? capture : transforms::viewedMemdesc(buffer);
    if (!buffer) return std::nullopt;
  }
  return lane;
}

namespace {

constexpr unsigned kMostColumns = 128;  // of one access
constexpr int64_t kOtherRegisters = 18; // beside an access's words: ptxas 13.0 refuses 8 words of 24, 16 of 32

// ---- loads and stores ----

/// The registers of a tensor as words of tensor memory.
class TensorMemoryRegisters {
public:
  TensorMemoryRegisters(Operation *op, Type tensor, Value buffer, FunctionLowering &fl)
      : op_(op), tensor_(tensor), buffer_(buffer), fl_(fl), b_(fl.b), element_(fl.elementType(tensor)),
        bits_(tensor.scalar().bitWidth()) {}

  /// Plans the accesses. False after a diagnostic.
  bool run() {
    auto type = buffer_.type().cast<MemDescType>();
    auto *encoding = tensorMemoryEncodingOf(type);
    if (!tensorMemoryPlacesOf(op_, type, fl_)) return false;
    if (fl_.numWarps() < layouts::kTensorMemoryWarps || fl_.firstWarp() % layouts::kTensorMemoryWarps)
      return fl_.error(op_,
                       "accesses tensor memory from warps that are not whole groups of four, which have its lanes");
    auto plan = layouts::planTensorMemoryAccess(fl_.layout(tensor_), *encoding, type.shape().take_back(2), bits_);
    if (!plan.ok()) return fl_.error(op_, std::string(plan.status().message()) + ": " + tensor_.str());
    plan_ = std::move(*plan);
    findAddress();
    findAccesses();
    return true;
  }

  llvm::ArrayRef<TensorMemoryAccess> accesses() const { return accesses_; }

  /// Whether this warp stores: of warps that hold the same elements, the first does.
  llvm::Value *stores() {
    llvm::Value *isFirst = b_.getTrue();
    for (auto [bit, add] : llvm::enumerate(plan_.warps))
      if (!add) isFirst = b_.CreateAnd(isFirst, b_.CreateICmpEQ(bitOfWarp(unsigned(bit)), fl_.i32(0)));
    return isFirst;
  }

  llvm::SmallVector<llvm::Value *, 32> wordsOf(const Elements &values) {
    llvm::SmallVector<llvm::Value *, 32> out;
    for (auto &word : plan_.words) out.push_back(join(word, values));
    return out;
  }
  Elements valuesOf(llvm::ArrayRef<llvm::Value *> words) {
    Elements out(plan_.sameAs.size(), nullptr);
    for (auto [word, value] : llvm::zip(plan_.words, words)) split(word, value, out);
    for (auto [r, from] : llvm::enumerate(plan_.sameAs)) out[r] = out[from];
    return out;
  }

private:
  using Word = layouts::TensorMemoryPlan::Word;

  /// Of this warp's lanes of the buffer.
  void findAddress() {
    llvm::Value *warp = fl_.sharedWarpId();
    llvm::Value *group = b_.CreateAnd(warp, fl_.i32(layouts::kTensorMemoryWarps - 1));
    constexpr unsigned kLanes = llvm::CTLog2<layouts::kTensorMemoryLanesOfWarp>();
    address_ = b_.CreateAdd(fl_.scalar(buffer_), b_.CreateShl(group, layouts::kTensorMemoryLaneBit + kLanes));
    for (auto [bit, add] : llvm::enumerate(plan_.warps))
      address_ = b_.CreateAdd(address_, b_.CreateMul(bitOfWarp(unsigned(bit)), fl_.i32(add)));
  }
  /// A bit of the warp's number, from the third on.
  llvm::Value *bitOfWarp(unsigned bit) {
    constexpr unsigned kGroupBits = llvm::CTLog2<layouts::kTensorMemoryWarps>();
    return b_.CreateAnd(b_.CreateLShr(fl_.sharedWarpId(), kGroupBits + bit), fl_.i32(1));
  }

  /// The registers that a thread has here at most: as many as each has in a block of so many warps, no more than the
  /// kernel says that it begins with, and those of the warps' partition.
  int64_t registersOfThread() const {
    Operation *module = op_->module().op();
    int64_t most = fl_.target.info().registersPerThread(totalNumWarps(module), RegisterSplit::Evenly);
    if (int64_t given = moduleInt(module, kMaxRegistersAttr, 0)) most = std::min(most, given);
    Partition partition = partitionOf(op_);
    ttg::WarpSpecializeOp specialize = partition.op;
    // The kernel's own warps keep what they have in the only operation's default region.
    auto *s = fl_.specialized();
    if (!partition && s && s->once && !s->ops.empty()) specialize = s->ops[0]->cast<ttg::WarpSpecializeOp>();
    if (!specialize) return most;
    auto registers = specialize.actualRegisters();
    auto region = size_t(partition.index + 1); // the default region's come first
    return region < registers.size() ? std::min(most, registers[region]) : most;
  }
  /// The most columns of an access: those of half of a thread's registers (255 are as good as 256), with room for what
  /// else is live.
  size_t mostColumns() const {
    int64_t registers = registersOfThread(), words = std::min((registers + 1) / 2, registers - kOtherRegisters);
    return size_t(std::clamp<int64_t>(llvm::bit_floor(uint64_t(std::max<int64_t>(words, 1))), 1, kMostColumns));
  }

  /// Runs of columns, cut into accesses.
  void findAccesses() {
    size_t most = mostColumns();
    auto &words = plan_.words;
    for (size_t i = 0; i < words.size();) {
      size_t end = i + 1;
      while (end < words.size() && words[end].address == words[end - 1].address + 1) ++end;
      while (i < end) {
        size_t n = std::min(most, llvm::bit_floor(end - i));
        accesses_.push_back({b_.CreateAdd(address_, fl_.i32(words[i].address)), unsigned(n), plan_.half});
        i += n;
      }
    }
  }

  llvm::Value *join(const Word &word, const Elements &values) {
    llvm::Value *out = nullptr;
    for (auto [in, r] : llvm::enumerate(word.registers)) {
      if (r < 0) continue;
      llvm::Value *v = b_.CreateZExt(b_.CreateBitCast(values[r], b_.getIntNTy(bits_)), b_.getInt32Ty());
      v = b_.CreateShl(v, in * bits_);
      out = out ? b_.CreateOr(out, v) : v;
    }
    return out;
  }
  void split(const Word &word, llvm::Value *value, Elements &out) {
    for (auto [in, r] : llvm::enumerate(word.registers)) {
      if (r < 0) continue;
      llvm::Value *v = b_.CreateTrunc(b_.CreateLShr(value, in * bits_), b_.getIntNTy(bits_));
      out[r] = b_.CreateBitCast(v, element_);
    }
  }

  Operation *op_;
  Type tensor_;
  Value buffer_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
  llvm::Type *element_;
  unsigned bits_;
  layouts::TensorMemoryPlan plan_;
  llvm::Value *address_ = nullptr;
  llvm::SmallVector<TensorMemoryAccess, 4> accesses_;
};

bool store(Operation *op, Value src, Value dst, llvm::Value *predicate, FunctionLowering &fl) {
  TensorMemoryRegisters registers(op, src.type(), dst, fl);
  if (!registers.run()) return false;
  predicate = fl.b.CreateAnd(predicate, registers.stores());
  fl.target.storeTensorMemory(fl.b, registers.accesses(), registers.wordsOf(fl.get(src)), predicate);
  return true;
}

bool lowerAlloc(ttng::TmemAllocOp op, FunctionLowering &fl) {
  auto column = op->attr<IntegerAttr>(transforms::kTensorMemoryColumnAttr);
  if (!column || !fl.tensorMemory()) return fl.error(op, "has no columns of tensor memory (allocate-tensor-memory)");
  fl.set(op.result(), fl.b.CreateAdd(fl.tensorMemory(), fl.i32(column.sext())));
  if (op.token()) fl.set(op.token(), Elements());
  return !op.src() || store(op.op, op.src(), op.result(), fl.b.getTrue(), fl);
}

// ---- views ----

bool lowerIndex(ttg::MemdescIndexOp op, FunctionLowering &fl) {
  auto columns = transforms::tensorMemoryColumns(op.result().type().cast<MemDescType>());
  if (!columns.ok()) return fl.error(op, std::string(columns.status().message()));
  auto &b = fl.b;
  fl.set(op.result(), b.CreateAdd(fl.scalar(op.src()), b.CreateMul(fl.scalar(op.index()), fl.i32(*columns))));
  return true;
}

/// Whether elements lie in the second half of each warp's lanes.
bool hasSecondHalves(const LinearLayout &places, MemDescType type) {
  constexpr int32_t kHalf = layouts::kTensorMemoryLanesOfWarp / 2;
  bool any = false;
  for (int32_t row = 1; row < type.dim(type.rank() - 2); row *= 2) any |= TensorPlace::of(places, row, 0).lane & kHalf;
  for (int32_t column = 1; column < type.dim(type.rank() - 1); column *= 2)
    any |= TensorPlace::of(places, 0, column).lane & kHalf;
  return any;
}

/// The same columns under another layout (the verifier counts them), and no lanes beyond those of a part.
bool lowerReinterpret(Operation *op, FunctionLowering &fl) {
  Value buffer = op->operand(0);
  auto src = buffer.type().cast<MemDescType>(), dst = op->result().type().cast<MemDescType>();
  auto from = tensorMemoryPlacesOf(op, src, fl), to = tensorMemoryPlacesOf(op, dst, fl);
  if (!from || !to) return false;
  if (hasSecondHalves(*to, dst) && !hasSecondHalves(*from, src) && firstLaneOf(buffer, fl) != 0)
    return fl.error(op, "gives a view with more lanes of tensor memory than the part of a buffer has: " + dst.str());
  fl.set(op->result(), fl.scalar(buffer));
  return true;
}

/// Columns from N on: the part's layout must place them as the whole one's does.
bool lowerSubslice(ttng::TmemSubsliceOp op, FunctionLowering &fl) {
  auto src = op.src().type().cast<MemDescType>(), dst = op.result().type().cast<MemDescType>();
  auto whole = tensorMemoryPlacesOf(op, src, fl), part = tensorMemoryPlacesOf(op, dst, fl);
  if (!whole || !part) return false;
  unsigned bits = src.element().bitWidth();
  TensorPlace first = TensorPlace::of(*whole, 0, int32_t(op.N()));
  bool same = op.N() % dst.dim(1) == 0 && int64_t(first.element) * bits % layouts::kTensorMemoryColumnBits == 0;
  for (int32_t row = 1; row < dst.dim(0); row *= 2)
    same &= TensorPlace::of(*whole, row, 0) == TensorPlace::of(*part, row, 0);
  for (int32_t column = 1; column < dst.dim(1); column *= 2)
    same &= TensorPlace::of(*whole, 0, column) == TensorPlace::of(*part, 0, column);
  if (!same) return fl.error(op, "gives a view whose layout places elements elsewhere than the buffer's: " + dst.str());
  fl.set(op.result(), fl.b.CreateAdd(fl.scalar(op.src()), fl.i32(first.address(bits))));
  return true;
}

} // namespace

void FunctionLowering::beginTensorMemory(unsigned columns) {
  // Nothing else is in shared memory yet: the address passes through its first word (transforms/memory/scratch.cpp).
  llvm::Value *passed = sharedAt(0);
  tensorMemoryColumns_ = columns;
  inBranch(b.CreateICmpEQ(warpId(), i32(0)), [&] { target.allocateTensorMemory(b, passed, columns); });
  barrier();
  tensorMemory_ = target.loadShared(b, passed, b.getInt32Ty(), 4);
  barrier();
}

void FunctionLowering::endTensorMemory() {
  if (!tensorMemory_) return;
  barrier();
  inBranch(b.CreateICmpEQ(warpId(), i32(0)), [&] { target.freeTensorMemory(b, tensorMemory_, tensorMemoryColumns_); });
}

bool lowerTensorMemory(Operation *op, FunctionLowering &fl) {
  switch (op->opcode()) {
  case Opcode::ttng_tmem_alloc: return lowerAlloc(op->cast<ttng::TmemAllocOp>(), fl);
  case Opcode::ttng_tmem_load: {
    auto load = op->cast<ttng::TmemLoadOp>();
    TensorMemoryRegisters registers(op, load.result().type(), load.src(), fl);
    if (!registers.run()) return false;
    fl.set(load.result(), registers.valuesOf(fl.target.loadTensorMemory(fl.b, registers.accesses())));
    if (load.token()) fl.set(load.token(), Elements());
    return true;
  }
  case Opcode::ttng_tmem_store: {
    auto s = op->cast<ttng::TmemStoreOp>();
    if (s.token()) fl.set(s.token(), Elements());
    return store(op, s.src(), s.dst(), fl.scalar(s.pred()), fl);
  }
  case Opcode::ttng_tmem_subslice: return lowerSubslice(op->cast<ttng::TmemSubsliceOp>(), fl);
  case Opcode::ttng_tc_gen5_mma: return lowerTensorMemoryDot(op->cast<ttng::TcGen5MmaOp>(), fl);
  case Opcode::ttng_tc_gen5_commit: return lowerTensorMemoryCommit(op->cast<ttng::TcGen5CommitOp>(), fl);
  case Opcode::ttg_memdesc_index: return lowerIndex(op->cast<ttg::MemdescIndexOp>(), fl);
  case Opcode::ttg_memdesc_reinterpret: return lowerReinterpret(op, fl);
  default: return fl.error(op, "is a view of tensor memory that its lowering does not know");
  }
}

} // namespace tessera::codegen
