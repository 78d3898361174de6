// How many registers the tensors of a function take in each thread at a place: an estimate for passes that can choose where
// values are made. Counted are values from their operation to their last use, or to the end of the loop in which they are
// used, in order of the text. What is made again for less than a register costs (constants, splats, ranges, masks,
// indices and pointers) is left out: assemblers keep bases and add constants.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace tessera::transforms {

/// Registers of 32 bits that a tensor takes in each thread, by its layout; 0 for what the estimate leaves out.
int64_t registersOf(ir::Value);

/// What a thread can have in a block of so many.
int64_t registersPerThread(const ir::TargetInfo &, int64_t threads);

class RegisterPressure {
public:
  explicit RegisterPressure(ir::Operation *function);
  /// The most that are taken at once from `first` to `last`, what is nested in them included.
  int64_t highest(ir::Operation *first, ir::Operation *last) const;

private:
  void number(ir::Operation *);
  void count(ir::Value);

  llvm::DenseMap<ir::Operation *, unsigned> begins_, ends_;
  std::vector<int64_t> taken_; // at each number
};

} // namespace tessera::transforms
