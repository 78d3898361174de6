// The values that a pipelined loop, and a loop over tiles around it, carry from iteration to iteration, by kind. What a
// loop starts with, its arguments, what it yields and its results are one such record each, with the same kinds.
#pragma once
#include "ir/loops.h"

namespace tessera::transforms {

/// Kinds in the order in which a loop carries them. A null value or an empty list: the loop carries none of this kind.
struct PipelinedCarried {
  llvm::SmallVector<ir::Value, 8> ofLoop;     // of the loop that is replaced
  llvm::SmallVector<ir::Value, 8> ofProducer; // the producer's, for the iteration that it is at
  ir::Value readIndex;                        // of the buffer to read, if there are several
  ir::Value fillIndex;                        // asynchronous copies: of the buffer to fill, or of the last one read
  llvm::SmallVector<ir::Value, 4> loaded;     // through registers: values that the last iteration loaded
  ir::Value nextIteration;                    // through registers: the induction variable of the next iteration
  ir::Value phase;                            // bulk copies: of the mbarriers
  ir::Value counter;                          // copies that cross tiles: of the iteration that they are for
  llvm::SmallVector<ir::Value, 8> position;   // loop over tiles: of the tile

  /// All of them, in the order in which the loop carries them.
  llvm::SmallVector<ir::Value, 16> values() const {
    llvm::SmallVector<ir::Value, 16> all;
    const_cast<PipelinedCarried *>(this)->forEach([&](ir::Value &v) { all.push_back(v); });
    return all;
  }
  /// The same kinds, with the arguments of a loop's body.
  PipelinedCarried argumentsOf(const ir::Block &body) const {
    return with([&](unsigned i) { return ir::carriedArgument(body, i); });
  }
  /// The same kinds, with the results of a loop.
  PipelinedCarried resultsOf(ir::scf::ForOp loop) const {
    return with([&](unsigned i) { return loop->result(i); });
  }

private:
  void forEach(llvm::function_ref<void(ir::Value &)> visit) {
    auto visitOne = [&](ir::Value &v) {
      if (v) visit(v);
    };
    llvm::for_each(ofLoop, visit);
    llvm::for_each(ofProducer, visit);
    visitOne(readIndex);
    visitOne(fillIndex);
    llvm::for_each(loaded, visit);
    visitOne(nextIteration);
    visitOne(phase);
    visitOne(counter);
    llvm::for_each(position, visit);
  }
  PipelinedCarried with(llvm::function_ref<ir::Value(unsigned)> valueAt) const {
    PipelinedCarried other = *this;
    unsigned i = 0;
    other.forEach([&](ir::Value &v) { v = valueAt(i++); });
    return other;
  }
};

} // namespace tessera::transforms
