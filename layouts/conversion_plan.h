// How to convert a distributed layout into another: with nothing, by renaming registers, by shuffles within a warp, or
// through shared memory under a layout chosen so that both sides use wide accesses without bank conflicts.
//
// A plan is pure data: the lowering emits what it lists. All of it holds for warps of any power of two of lanes.
#pragma once
#include "layouts/bank_conflicts.h"
#include "layouts/encoding.h"
#include <optional>

namespace tessera::layouts {

/// What the lowering can do, and how much memory it may take.
struct PlanOptions {
  /// Shuffles may have registers chosen by the lane (sendSelect, receiveSelect); without it such conversions go through
  /// memory.
  bool laneSelects = false;
  /// A vector access may gather its elements from any registers (writeVectorRegisters, readVectorRegisters); without it
  /// a vector is registers r, r + 1, r + 2, … with r a multiple of its length.
  bool gatherRegisters = false;
  /// Scratch to stay under by splitting the conversion in repetitions, in bytes; 0: no limit.
  int64_t maxScratchBytes = 0;
  /// Shuffles may have such registers where every lane reads lanes at fixed distances (xor) of these bits only.
  unsigned selectDistances = 0;

  /// All that a plan can list.
  static PlanOptions all() { return {true, true, 0, ~0u}; }
};

struct ConversionPlan {
  enum Kind { None, RegisterPermutation, WarpShuffle, SharedMemory } kind = None;

  /// Destination (register, lane, warp, block) → where in the source its element is.
  LinearLayout sourceOf;

  // ---- RegisterPermutation, WarpShuffle ----

  /// For every destination register the source register to read.
  llvm::SmallVector<unsigned, 16> sourceRegister;
  /// WarpShuffle: for every destination register the constant part of the source lane.
  llvm::SmallVector<unsigned, 16> sourceLaneConstant;
  /// WarpShuffle: one word per bit of the lane number; a lane's own part of the source lane is the xor of the words of
  /// its set bits. The whole shuffle:
  ///   sent[i]   = in[i ^ send(lane)]                                              for every source register i
  ///   got[k]    = sent[sourceRegister[k]] of lane laneOf(lane) ^ sourceLaneConstant[k]
  ///   out[k]    = got[k ^ receive(lane)]                                          for every destination register k
  /// where send, laneOf and receive are such xors over the lane's bits. Without selects send and receive are zero.
  llvm::SmallVector<unsigned, 6> laneOf, sendSelect, receiveSelect;
  bool hasSelects() const;
  /// WarpShuffle: every lane reads lanes at fixed distances, the registers' constants, which have none but these bits.
  bool readsAtDistances(unsigned bits) const;
  /// WarpShuffle: got[k] is the lane's own sent[sourceRegister[k]]; nothing moves.
  bool staysInLane(unsigned k) const;

  // ---- SharedMemory ----

  /// offset (elements), block → dims. Elements that several threads hold are written by the ones whose free bits
  /// (LinearLayout::freeVariableMasks of the source) are zero.
  LinearLayout shared;
  /// The same with a dimension of blocks in any case, as #ttg.shared_linear takes it.
  LinearLayout sharedWithBlocks() const;
  int64_t scratchBytes = 0;                  // of one repetition
  int writeVector = 1, readVector = 1;       // elements per access
  int writeConflicts = 1, readConflicts = 1; // passes per access over the least possible; 1: none
  int sharedPasses = 0;                      // of one warp, all of its accesses on both sides
  int instructions = 0;                      // these accesses
  /// Register numbers whose offsets are 1, 2, 4, … up to half the vector: element e of an access that starts at
  /// register r is register r ^ (the xor of those of e's set bits). 1, 2, 4, … in the common case.
  llvm::SmallVector<unsigned, 4> writeVectorRegisters, readVectorRegisters;
  /// The conversion is done in this many repetitions, each through the same scratch with a barrier before and after:
  /// repetition t moves the elements whose offsets have t in the bits above scratchBytes. Registers of both sides
  /// decide those bits as far as possible; of accesses where threads decide them, some threads' are in each repetition.
  int repetitions = 1;
};

/// @pre both layouts cover the same shape. `elementBits`: 1 counts as 8.
/// Errors: data would move between the blocks of a cluster.
absl::StatusOr<ConversionPlan> planConversion(const LinearLayout &src, const LinearLayout &dst, int elementBits,
                                              const MemoryModel &, const PlanOptions & = {});
absl::StatusOr<ConversionPlan> planConversionOf(const Encoding *src, const Encoding *dst, llvm::ArrayRef<int64_t> shape,
                                                int elementBits, const MemoryModel &, const PlanOptions & = {});

/// What it takes a warp to access a buffer.
struct SharedAccessCost {
  int instructions = 0;
  int passes = 0; // over the banks
  int total() const { return instructions + passes; }
};
/// Of all elements of `side` (register, lane, warp, block) in a buffer of the layout `shared` (offset, block). `bytes`:
/// of an element.
/// @pre both layouts cover the same shape.
SharedAccessCost costOfSharedAccess(const LinearLayout &side, const LinearLayout &shared, int bytes,
                                    const MemoryModel &);

// ---- reads that transpose among 16 lanes (ds_read_b64_tr_b16, ds_read_b64_tr_b8) ----
//
// Each lane gives the address of E elements that follow each other, 8 bytes: four of 16 bits, eight of 8. Element j of
// lane l is then element l mod E of the E at lane (16 / E) j + (l mod 16) / E of the same 16. Such a read gives a
// layout whose lanes step through memory:
//
//   16 bits         8 bits             in both
//   lanes 1, 2      lanes 1, 2, 4      the elements at an address
//   lanes 4, 8      lane 8             which of the addresses that differ along the same line
//   two registers   three registers    which of as many lines
//
// Registers are counted without copies (zero bases); the two or three are the first.

/// The element's index in an address's 8 bytes, in bits: as many registers and lanes change places. None for widths
/// that no read transposes.
std::optional<unsigned> transposedReadBits(int elementBits);
/// Whether a map (register, lane, warp, block → offset in elements, block) can be read in this way.
bool canReadTransposed(const LinearLayout &map, int elementBits);
/// The layout, or map to offsets, with those registers in the places of the last of the four lane bits, the others of
/// these before them, and the first of the lane bits in the places of the registers: what is at the address that a lane
/// gives, in its registers. Nothing where there are less than 4 bits of lanes or too few registers that are no copies.
std::optional<LinearLayout> transposedReadAddresses(const LinearLayout &layout, int elementBits);

} // namespace tessera::layouts
