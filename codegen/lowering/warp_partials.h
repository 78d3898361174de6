// Partial values that warps exchange through shared memory: one for each result of a reduction or scan, each chunk of
// it and each warp along the axis. The scratch (layouts/reduce_shape.h says how much) has, for each operand, an array
// of its element type, aligned to 16 bytes, in one of two orders:
//
//   [result][chunk][warp]   by default: a thread reads the values of one result with vector loads (store, load).
//   [chunk][warp][result]   (storeByWarp, loadByWarp)
//     - where lanes have results of their own: all of them, or in scans many (lanesApart, manyLanesApart). These lie
//       side by side, not as many banks apart as there are warps and chunks.
//     - where results of one thread fill vectors (fillVectors; in reductions vectorsApart): they are stored and loaded
//       as vectors.
//
// If the block combines them once (combinesOnce), an array of the results for each operand follows.
#pragma once
#include "codegen/lowering/lowering.h"
#include "layouts/reduce_shape.h"
#include <map>
#include <optional>

namespace tessera::codegen {

class WarpPartials {
public:
  using Partial = llvm::SmallVector<llvm::Value *, 2>; // one value per operand
  using Key = llvm::SmallVector<int64_t, 4>;           // a register's index without the axis

  /// The key of a register: its index in the first lane and warp, without the axis (with it if none is given).
  static Key keyOf(const layouts::LinearLayout &, unsigned reg, std::optional<int> axis = std::nullopt);

  /// `lastAlongAxis`: the lane that stores is the last along the axis (a forward scan's total), else the first.
  WarpPartials(FunctionLowering &, ir::Operation *, const layouts::LinearLayout &, int axis,
               const layouts::ReduceShape &, unsigned chunks = 1, bool lastAlongAxis = false);

  /// The value of this thread's warp; one lane of those that hold it stores.
  void store(const Key &, unsigned chunk, const Partial &);
  /// The values of all warps along the axis, first warp first. After a barrier.
  llvm::SmallVector<Partial, 8> load(const Key &key, unsigned chunk) {
    return load(key, chunk, fl_.i32(0), shape_.warps);
  }
  /// … of a share of them: the lanes that want the same result read `count` values each, starting at `first`;
  /// exchanging what they make of them under the lane masks `exchanges`, one after another, brings all together.
  /// Every lane reading all of them would cost registers (softmax over 16 warps: 40 instead of 31, and a quarter of
  /// the occupancy).
  struct Share {
    llvm::Value *first;
    unsigned count;
    llvm::SmallVector<unsigned, 5> exchanges;
  };
  Share share();
  llvm::SmallVector<Partial, 8> load(const Key &key, unsigned chunk, const Share &s) {
    return load(key, chunk, s.first, s.count);
  }
  /// Whether each lane has results of its own, of more warps than one access brings anyway: all values then go by the
  /// next two.
  bool lanesApart() const { return !sameResult_ && chunks_ == 1 && shape_.warps >= 4; }
  /// Whether many lanes have results of their own, as in a scan along columns.
  bool manyLanesApart() const { return resultsOfLanes_ >= 8; }
  /// Whether a thread's results lie side by side in vectors of 16 bytes, where values go by the next two.
  bool fillVectors(llvm::ArrayRef<Key>);
  /// Whether that is so, and lanes with results of their own would meet in the same banks otherwise, where each reads
  /// all warps' values of one result by one access or two: the results of a thread lie between what two lanes read. By
  /// two accesses, four lanes must meet, since each reads more then than its share.
  bool vectorsApart(llvm::ArrayRef<Key>);
  void storeByWarp(const std::map<Key, Partial> &, unsigned chunk = 0);
  /// For each key the values of all warps along the axis, first warp first. After a barrier.
  std::map<Key, llvm::SmallVector<Partial, 8>> loadByWarp(llvm::ArrayRef<Key>, unsigned chunk = 0);
  /// The values of all warps of a result given by its flat index, i32.
  llvm::SmallVector<Partial, 8> loadResult(llvm::Value *flat);
  /// The combined value of a result goes to the place after all partial values where `acts` (null: in every thread),
  /// from which all of a thread's results come back after a barrier.
  void storeCombined(llvm::Value *flat, const Partial &, llvm::Value *acts);
  std::map<Key, Partial> loadCombined(llvm::ArrayRef<Key>);
  /// This warp's number along the axis, i32.
  llvm::Value *warpAlongAxis() const { return along_; }

private:
  llvm::SmallVector<Partial, 8> load(const Key &, unsigned chunk, llvm::Value *first, unsigned count);
  llvm::SmallVector<Partial, 8> load(llvm::function_ref<llvm::Value *(unsigned)> addressOf, unsigned count);
  /// Results that stand side by side for every thread, up to 16 bytes of them: calls with their keys.
  void forRuns(llvm::ArrayRef<Key>, unsigned bytes, llvm::function_ref<void(int64_t first, llvm::ArrayRef<Key>)>);
  /// A flat result index, as the sum of a value and a constant: of the thread's result that its registers add `key` to
  /// (modulo 2, bit by bit: in a layout that lanes and registers may share bits of).
  struct Place {
    llvm::Value *thread;
    int64_t offset;
  };
  Place place(int64_t key);
  llvm::Value *address(unsigned operand, const Key &, unsigned chunk, llvm::Value *along);

  FunctionLowering &fl_;
  layouts::ReduceShape shape_;
  unsigned chunks_, sameResult_ = 0; // the lane bits that have no part in the result's index
  unsigned resultsOfLanes_ = 1;      // different ones
  int64_t laneStride_ = 0;           // results from a lane to the next with another one
  int64_t threadResults_ = 0;        // bits of the flat result index that the thread decides
  llvm::Value *base_, *result_, *along_, *writes_ = nullptr;
  llvm::SmallVector<llvm::Type *, 2> types_, stored_;
  llvm::SmallVector<int64_t, 2> offsets_, combined_; // of the operands' partial and combined values
};

} // namespace tessera::codegen
