// Moving a tensor's registers to or from shared memory under two linear layouts; used by the shared-memory operations
// and by layout conversions.
#pragma once
#include "codegen/lowering/lowering.h"
#include "layouts/padded_shared.h"
#include <map>
#include <optional>
#include <tuple>

namespace tessera::codegen {

/// Where a view begins inside its allocation, as an offset in elements to xor with: shared layouts are linear over F₂.
struct ViewOffset {
  llvm::Value *value = nullptr; // i32; null at zero
  int32_t bits = 0;             // that it may have
};

class SharedAccess {
public:
  /// `registers`: register, lane, warp, block → dims; `shared`: offset (elements), block → dims. i1 is kept as a byte.
  /// `encoding`: the buffer's, if it has one: a padded one puts gaps between the offsets.
  /// @pre every index that the registers hold lies in the shared layout
  SharedAccess(const layouts::LinearLayout &registers, const layouts::LinearLayout &shared, llvm::Type *element,
               FunctionLowering &, const layouts::Encoding *encoding = nullptr, ViewOffset view = {});

  /// Writes the registers; `mask` (i1 or null) says whether this thread writes at all.
  void store(llvm::Value *base, llvm::ArrayRef<llvm::Value *> values, llvm::Value *mask = nullptr);
  /// Reads all registers, as values of `type` (the element type before i1 became a byte).
  Elements load(llvm::Value *base, llvm::Type *type);
  /// From now on store and loadPart move only elements whose offset divided by `elements` is `number`, through that
  /// many elements of memory. `elements`: a power of two, a multiple of an access's elements.
  void setPart(int32_t elements, int32_t number) {
    window_ = elements;
    part_ = number;
  }
  /// Replaces the part's elements in `values`; a first part finds it empty.
  void loadPart(llvm::Value *base, llvm::Type *type, Elements &values);
  /// Registers r … r + vectorLength() - 1 lie one after the other, r a multiple of it. (Accesses may be longer.)
  unsigned vectorLength() const;
  /// Where the register's element is.
  llvm::Value *address(llvm::Value *base, unsigned reg);
  /// Whether the lanes of a warp have each group of so many registers one after the other (layouts/warp_copy.h).
  bool followsLanes(unsigned elements) const;
  /// From now on `address` is that of lane 0.
  void takeAddressOfWarp();

private:
  llvm::SmallVector<uint64_t, 16> columns(layouts::Dim) const; // offsets of the basis
  /// Whether an access starts at the register, and from there the register of the k-th element, as an xor.
  bool starts(unsigned reg) const;
  int32_t offsetOf(unsigned reg) const; // the register's part
  /// The view's offset to xor with at run time, or null. A constant one becomes a part of the register's offset
  /// instead: what no thread's part reaches of it is then added by the instruction.
  llvm::Value *viewBeside(int32_t &constant) const;
  /// Whether the access at the register can be in the repetition; what threads decide of that is `condition` (null:
  /// nothing).
  bool inRepetition(unsigned reg, llvm::Value *&condition);
  unsigned inVector(unsigned k) const;
  /// How instructions that move 8 by 8 matrices would do it, where the map has their form.
  struct Matrices {
    bool transposed = false;
    unsigned wordBits = 0, logCount = 0,
             inOne = 0;  // elements of a word, matrices of an instruction, and the registers of one
    unsigned copies = 0; // registers that hold what others hold
    llvm::SmallVector<unsigned, 8> matrixBits; // registers that number the matrices
    layouts::LinearLayout addresses;           // lane, warp → offset of the row whose address the lane gives
    int32_t threadBits = 0;
    llvm::Value *thread = nullptr;
    std::map<int32_t, llvm::Value *> bases;
    /// The register of an instruction's w-th word that starts at r.
    unsigned firstOf(unsigned r, unsigned w) const;
  };
  std::optional<Matrices> matrices(llvm::Type *type) const;
  llvm::Value *matrixAddress(Matrices &, llvm::Value *base, unsigned reg);
  /// Reads and writes by those instructions; false where the map has not their form, or where it is no better.
  bool loadMatrices(llvm::Value *base, llvm::Type *type, Elements &out);
  bool storeMatrices(llvm::Value *base, llvm::ArrayRef<llvm::Value *> values);
  /// Reads by instructions that transpose among 16 lanes, likewise.
  bool loadTransposed(llvm::Value *base, llvm::Type *type, Elements &out);

  layouts::LinearLayout map_; // register, lane, warp, block → offset, block
  llvm::Type *element_;
  FunctionLowering &fl_;
  const ViewOffset view_;
  unsigned vector_ = 1;                            // elements of an access
  llvm::SmallVector<uint64_t, 16> registers_;      // their offsets
  llvm::SmallVector<uint64_t, 4> vectorRegisters_; // registers (as sets of bits) whose offsets are 1, 2, 4, …
  llvm::Value *thread_ = nullptr;
  int32_t threadBits_ = 0;
  int32_t window_ = 0, part_ = 0;
  const layouts::PaddedSharedEncoding *padded_ = nullptr;
  std::map<std::tuple<llvm::Value *, llvm::Value *, int32_t>, llvm::Value *> bases_;
};

/// The offset (in elements, i32) with a padded encoding's gaps before it; other encodings have none.
llvm::Value *withPadding(const layouts::Encoding *, llvm::Value *offset, FunctionLowering &);
/// A memory descriptor's shared layout over its own shape: offset → dims.
absl::StatusOr<layouts::LinearLayout> sharedLayoutOf(ir::MemDescType);
ViewOffset viewOffset(ir::Value desc, const layouts::LinearLayout &shared, FunctionLowering &);

} // namespace tessera::codegen
