// AxisInfo: what is known about the integers and pointers of a tensor along each of its dimensions. For dimension d:
//   contiguity    the elements fall into aligned groups of this many whose values rise by one (pointers: by one
//                 element)
//   divisibility  the largest power of two known to divide the first value of each such group (pointers: bytes)
//   constancy     the elements fall into aligned groups of this many equal values
// All are powers of two. Scalars are treated as one dimension of size one. A constant value is known where all
// elements are that. Memory accesses take their width from it, so it must never claim too much; where it knows
// nothing it says 1.
//
// Wrap-around. A group that starts at a multiple of its size cannot overflow its type inside, so aligned groups of
// min(contiguity, divisibility) elements rise by one whatever the values are, and start at multiples of both. Claims of
// more contiguity than divisibility are made of integers of 32 and more bits alone. They hold as long as index
// arithmetic does not overflow inside a tensor; they are meant for choosing layouts and for sharing address arithmetic,
// where an overflow means an access 2^31 elements away. Zero extension of an index that may be negative ends them.
//
// Signs. Division and remainder of signed integers round towards zero, so what they do to a group is known only where
// the dividend is not negative; that is proved by SignAnalysis
// (analyses/integer_facts.h), under the assumption that index arithmetic of 32 and more bits does not wrap. A proof may
// use the conditions of the branches and loops around the value.
#pragma once
#include "ir/operation.h"
#include "ir/symbol_table.h"
#include "transforms/analyses/integer_facts.h"
#include <optional>

namespace tessera::transforms {

struct AxisInfo {
  llvm::SmallVector<int64_t, 2> contiguity, divisibility, constancy;
  std::optional<int64_t> constant; // sign-extended from the type's width; a comparison's truth is 1
  unsigned rank() const { return contiguity.size(); }
  bool operator==(const AxisInfo &) const = default;
};

/// Whether contiguity that a kernel states (tl.max_contiguous) counts. Kernels state it of indices that wrap inside the
/// tensor too (`rows % M`), where it is wrong: they rely on it for the width of accesses alone, which alignment bounds.
enum class StatedContiguity { Counts, IsLeftOut };

/// What is assumed of a scalar argument.
struct AssumedArgument {
  int64_t divisor = 1;
  bool isOne = false;
};
using AssumedArguments = llvm::DenseMap<ir::Value, AssumedArgument>;

class AxisInfoAnalysis {
public:
  /// Analyses every function of the module. A pass may rewrite the module meanwhile: values that exist now keep their
  /// facts, as long as their operations get only operands that are equal to the old ones. Of later values nothing is
  /// known; none has the address of an erased one, since operations come from the module's arena.
  /// `assumed`: of scalar arguments, beside what the module says of them.
  explicit AxisInfoAnalysis(ir::Module &, const AssumedArguments &assumed = AssumedArguments(),
                            StatedContiguity = StatedContiguity::Counts);
  AxisInfo get(ir::Value) const;

  /// Elements that lie one after the other in memory from each aligned group's first, along `dim`, by both contiguity
  /// and alignment (divisibility). `ptr` is a pointer or tensor of pointers.
  int64_t contiguousElements(ir::Value ptr, unsigned dim) const;
  /// Known alignment in bytes of the first pointer of each such group.
  int64_t alignment(ir::Value ptr, unsigned dim) const;
  /// Elements of a mask that are equal from each aligned group's first, along `dim`.
  int64_t maskConstancy(ir::Value mask, unsigned dim) const;
  bool nonNegative(ir::Value v) const { return signs_.nonNegative(v); }
  StatedContiguity statedContiguity() const { return stated_; }

private:
  void function(ir::Operation *);
  void region(ir::Region &);
  void block(ir::Block *);
  void visit(ir::Operation *);
  void visitFor(ir::Operation *);
  void visitWhile(ir::Operation *);
  void visitIf(ir::Operation *);
  void visitWarpSpecialize(ir::Operation *);
  void visitCall(ir::Operation *);
  void visitSplit(ir::Operation *);
  bool join(ir::Value, const AxisInfo &);
  llvm::DenseMap<ir::Value, AxisInfo> info_;
  llvm::DenseMap<ir::Operation *, llvm::SmallVector<std::optional<AxisInfo>, 8>> callArgs_; // by function called
  AssumedArguments assumed_;
  ir::SymbolTable symbols_; // when the analysis is made
  SignAnalysis signs_;
  StatedContiguity stated_;
};

} // namespace tessera::transforms
