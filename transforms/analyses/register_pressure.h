// How many registers the tensors of a function take in each thread at a place: an estimate for passes that can choose
// where values are made. Counted are values from their operation to their last use, or to the end of the loop in
// which they are used, in order of the text. What is made again for less than a register costs (constants, splats,
// ranges, masks, indices and pointers) is left out: assemblers keep bases and add constants.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace tessera::transforms {

/// Elements of a value of the type that each thread holds, 1 of a scalar; nothing if the layout is not known for the
/// shape.
std::optional<int64_t> elementsPerThread(ir::Type);

/// Bits of registers for so many elements of a scalar type, of which each takes `least` or more: 8 as loads bring
/// them, 32 where arithmetic gives each a register of its own.
int64_t registerBits(ir::Type element, int64_t elements, int64_t least = 1);

/// Registers of 32 bits that a tensor takes in each thread, packed; 0 for what the estimate leaves out.
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
