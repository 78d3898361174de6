// Facts about integers: which numbers a value may be (as signed ones), and which values cannot be negative. All passes
// and the lowering get such facts here, so that what is assumed about wrap-around is written down once.
//
//   integerRange(%v)          least and greatest number, from a few definitions above the value. No induction.
//   SignAnalysis::nonNegative a proof that no element is negative: follows all definitions, and loop-carried values by
//                             induction over the loop. Uses what the kernel promises with llvm.intr.assume, and the
//                             conditions under which a value is computed (scf.if, scf.for, scf.while).
//
// Both apply the same rules, one for each operation (integer_rules.h), on bounds of the operands.
//
// Wrap-around. Integers of the IR wrap around at their width. What a query assumes is its Overflow mode:
//   MayWrap   Nothing. Bounds of an add, mul or shift that leave the type become those of the type.
//   Assumed   Add, sub, mul and left shifts of 32 and more bits stay within their type, unless the
//             operands are known at compile time and show that they do not. Divisors that are no constants are
//             positive. Narrower types wrap as under MayWrap: 8 and 16 bits are data as often as indices.
// integerRange answers under MayWrap. SignAnalysis takes the mode: proofs alone are worth the assumption.
// In both modes: shift amounts are below the width (others are undefined), and counters of scf.for do not wrap (the
// interpreter counts without bounds, and the lowering marks the addition as not wrapping).
//
// Who assumes what, and why that is sound:
//   canonicalize (comparisons that are always true or false), loop-invariant-code-motion (divisors that cannot be zero)
//   and combine (sums of offsets): MayWrap. They rewrite any arithmetic, data included.
//   codegen/lowering/access_plan (sizes of offsets from a common base): MayWrap, with index as the i32 to which it is
//   lowered. The plan assumes by itself that *offsets of pointers* of 32 and more bits do not wrap when it splits them.
//   tritongpu-pipeline (advance_pointers.cpp): the same for offsets to which each iteration of a loop adds a number.
//   AxisInfo (signed quotients and remainders; groups of neighbours that pass zero extension and unsigned min and max):
//   Assumed. Its numbers are indices. An index that wrapped at 32 bits would address memory 2^31 elements away from its
//   base, on the other side. Programs that compute with wrapped numbers on purpose (hashes, random numbers) multiply by
//   large constants; where these make numbers wrap that are known at compile time, nothing is assumed. What remains is
//   a contract with the kernel's author: a hash of a program id must be masked, or taken modulo as an unsigned number,
//   before it is divided as a signed one. Triton's analysis assumes more: that dividends of any origin are positive.
#pragma once
#include "ir/ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tessera::transforms {

enum class Overflow { MayWrap, Assumed };
/// Narrower arithmetic may always wrap: 8 and 16 bits are data as often as indices.
inline constexpr unsigned kNarrowestIndex = 32;

/// Bounds, both inclusive, of a number read as signed. An i1 that is true is -1.
struct IntegerRange {
  int64_t low, high;
  bool operator==(const IntegerRange &) const = default;
};

struct RangeOptions {
  /// Definitions above the value that are followed. A query may visit up to 3^depth values: operations have up to three
  /// operands.
  int depth = 8;
  /// Width of the type index: 64 in the IR; the lowering makes it i32.
  unsigned indexBits = 64;
};

/// Bounds of an integer or index value, or of a tensor's elements; at most those of its type. None for other values and
/// for integers of more than 64 bits.
std::optional<IntegerRange> integerRange(ir::Value, const RangeOptions & = {});

/// Operand of integer divisions and remainders, of all kinds.
constexpr unsigned kDivisorOperand = 1;
/// Whether the operation is a division that is undefined for some values of its operands, so that it must not run if it
/// did not before.
bool mayBeUndefined(ir::Operation *);
/// Makes such a division divide by a large power of two where the i1 `condition` is false. (By 1, `rows % M` would lose
/// the alignment and contiguity that a divisible M gives it, and its accesses their width.)
void divideSafelyUnless(ir::Operation *division, ir::Value condition);

/// Proofs that integers are not negative. Answers are kept. A pass may rewrite the module meanwhile: values that
/// existed at the time keep their answers, as long as their operations get only operands that are equal to the old
/// ones. (Operations come from the module's arena, so no later value has the address of an erased one.)
class SignAnalysis {
public:
  /// Collects what the module's functions assume (llvm.intr.assume in entry blocks, which every run executes).
  SignAnalysis(ir::Module &, Overflow);
  /// This result of arith.trunci counts as the number that was truncated: only elements whose number fits matter.
  /// Before the first query.
  void trustTruncation(ir::Value v) { exact_.insert(v); }
  /// True: no element of the integer (or tensor of integers) is negative whenever its operation is executed. False: not
  /// known.
  bool nonNegative(ir::Value) const;

private:
  /// A value that must be non-negative whenever the block is executed.
  using Goal = std::pair<ir::Value, ir::Block *>;
  using Goals = llvm::DenseSet<Goal>;
  /// greater >= lesser, or greater > lesser, as signed numbers.
  struct Order {
    ir::Value greater, lesser;
    bool strict;
  };
  using Orders = llvm::SmallVector<Order, 4>;

  bool prove(ir::Value, ir::Block *at, Goals &, unsigned &budget) const;
  bool proveCarried(ir::Value, Goals &, unsigned &budget) const;
  bool proveCarriedByWhile(ir::scf::WhileOp, ir::Value, Goals &, unsigned &budget) const;
  bool proveByOperands(ir::Operation *, ir::Block *at, Goals &, unsigned &budget) const;

  static void addOrders(ir::Value condition, bool holds, Orders &);
  const Orders &ordersOf(ir::Block *) const;
  ir::Block *contextOf(ir::Value, ir::Block *at) const;
  int64_t leastOfPart(ir::Value v, ir::Value from, int64_t least) const;
  int64_t leastByConditions(ir::Value, ir::Block *at) const;
  IntegerRange boundsAt(ir::Value, ir::Block *at, int depth) const;
  Overflow overflowOf(ir::Operation *) const;

  Overflow overflow_;
  llvm::DenseMap<ir::Value, int64_t> assumedLeast_; // by llvm.intr.assume
  llvm::DenseSet<ir::Value> exact_;
  mutable Goals proved_, failed_;
  mutable llvm::DenseMap<ir::Block *, Orders> orders_;
};

} // namespace tessera::transforms
