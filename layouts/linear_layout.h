// Linear layouts: linear maps over F₂ from named hardware dimensions (register, lane, warp, block, or offset) to the
// dimensions of a tensor. A layout is given by its *bases*: where each power of two of each input dimension goes. Since
// the map is linear, L(x ^ y) = L(x) ^ L(y), the bases determine it everywhere. All sizes are powers of two.
//
// Example: a warp of 32 lanes over a row of 64 elements, two consecutive elements per lane:
//   register: bit 0 → 1        lane: bit 0 → 2, bit 1 → 4, … bit 4 → 32
//
// Background: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F₂", arXiv 2505.23819.
//
// Values are small and cheap to copy; nothing here aborts on input: preconditions are the callers' (the encodings check
// what users write).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace llvm {
class raw_ostream;
}
namespace tessera::layouts {

/// Names of dimensions. Dim0… are the dimensions of tensors.
enum class Dim : uint8_t { Register, Lane, Warp, Block, Offset, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Dim7 };
inline Dim tensorDim(unsigned i) { return Dim(unsigned(Dim::Dim0) + i); }
llvm::StringRef dimName(Dim);
/// Dimensions of a tensor at most; the names above stand for the first. A tensor has at most 2^20 elements, and
/// sorting makes a dimension of each power of two.
inline constexpr unsigned kMaxRank = 32;

/// One image vector: a value per output dimension, in the layout's order of output dimensions.
using Basis = llvm::SmallVector<int32_t, 4>;

class LinearLayout {
public:
  LinearLayout() = default; // the map from nothing to nothing: the unit of the product

  struct InDim {
    Dim dim;
    llvm::SmallVector<Basis, 6> bases;
    bool operator==(const InDim &o) const { return dim == o.dim && bases == o.bases; }
  };
  struct OutDim {
    Dim dim;
    int32_t size;
    bool operator==(const OutDim &) const = default;
  };
  /// @pre every basis has one entry per output dimension, each less than that dimension's size
  LinearLayout(llvm::SmallVector<InDim, 4> ins, llvm::SmallVector<OutDim, 4> outs)
      : ins_(std::move(ins)), outs_(std::move(outs)) {}

  /// @post L(x) = x for x < size
  static LinearLayout identity1D(int32_t size, Dim in, Dim out);
  /// @post L(x) = stride · x; the output has size·stride elements
  static LinearLayout strided1D(int32_t size, int32_t stride, Dim in, Dim out);
  /// @post L(x) = 0, into an output of size outSize
  static LinearLayout zeros1D(int32_t size, Dim in, Dim out, int32_t outSize = 1);

  llvm::ArrayRef<InDim> ins() const { return ins_; }
  llvm::ArrayRef<OutDim> outs() const { return outs_; }
  unsigned numInDims() const { return ins_.size(); }
  unsigned numOutDims() const { return outs_.size(); }
  bool hasInDim(Dim) const;
  bool hasOutDim(Dim) const;
  /// 1 when there is no such dimension.
  int32_t inDimSize(Dim) const;
  int32_t outDimSize(Dim) const;
  unsigned inDimBits(Dim) const;
  /// log2 of the number of inputs / outputs in all.
  unsigned totalInBits() const;
  unsigned totalOutBits() const;
  /// Image of 1 << bit of the dimension. @pre bit < inDimBits(dim)
  llvm::ArrayRef<int32_t> basis(Dim, unsigned bit) const;
  int32_t basis(Dim in, unsigned bit, Dim out) const;
  /// Position among the output dimensions. @pre it is one
  unsigned outIndex(Dim) const;

  /// Image of the given inputs (those not named are zero), in the order of the output dimensions.
  Basis apply(llvm::ArrayRef<std::pair<Dim, int32_t>> in) const;

  /// The product: dimensions that both have are put one above the other, this layout's bits low.
  /// @post (A*B)(x) = A(x mod |A|) + |A_out| · B(x / |A|), per dimension
  LinearLayout operator*(const LinearLayout &) const;
  LinearLayout &operator*=(const LinearLayout &o) { return *this = *this * o; }

  /// @post result(this(x)) == x. @pre isInvertible()
  LinearLayout invert() const;
  /// A right inverse: this(result(y)) == y for every y in the image, with as many zero input bits as possible (low
  /// inputs are preferred).
  LinearLayout pseudoInvert() const;
  /// @post outer(result(x)) == this(x) for all x. @pre outer's image contains this one's. Of several solutions one is
  /// taken that keeps an input bit in the same dimension and place where it can (a lane stays that lane).
  LinearLayout invertAndCompose(const LinearLayout &outer) const;

  /// The layout without the inputs/outputs not named.
  LinearLayout sublayout(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs) const;
  LinearLayout removeZeroBases(Dim in) const;
  LinearLayout transposeOuts(llvm::ArrayRef<Dim> order) const;
  LinearLayout transposeIns(llvm::ArrayRef<Dim> order) const;
  /// Reinterprets the flattened outputs (first dimension lowest) as the given ones. @pre same total size
  LinearLayout reshapeOuts(llvm::ArrayRef<OutDim>) const;
  LinearLayout reshapeIns(llvm::ArrayRef<std::pair<Dim, int32_t>>) const;
  /// Gives output dimensions other names, in order.
  LinearLayout renameOuts(llvm::ArrayRef<Dim>) const;
  /// Output sizes grown to at least those given, the bases unchanged.
  LinearLayout withOutSizes(llvm::ArrayRef<std::pair<Dim, int32_t>>) const;
  /// All outputs as one dimension, the first lowest. @post one output dimension of the same total size
  LinearLayout flattenOuts(Dim as) const;
  /// The other layout's inputs (outputs) after this one's.
  /// @pre the outputs (inputs) are the same; no input (output) dimension is in both
  LinearLayout concatIns(const LinearLayout &) const;
  LinearLayout concatOuts(const LinearLayout &) const;

  unsigned rank() const;
  bool isSurjective() const { return rank() == totalOutBits(); }
  bool isInjective() const { return rank() == totalInBits(); }
  bool isInvertible() const { return isSurjective() && isInjective(); }
  /// For each input dimension, in order, the bits that do not add to the image: setting them gives the same elements
  /// again. Bits of earlier dimensions are taken as the ones that count.
  llvm::SmallVector<std::pair<Dim, int32_t>, 4> freeVariableMasks() const;

  /// The bases as bit vectors over the flattened outputs (first output dimension lowest), inputs in order, low bits
  /// first.
  llvm::SmallVector<uint64_t, 24> columns() const;
  llvm::SmallVector<uint64_t, 8> columns(Dim) const;
  /// The layout with one input dimension whose bases are the given bit vectors over these outputs.
  static LinearLayout fromColumns(Dim in, llvm::ArrayRef<uint64_t> columns, llvm::ArrayRef<OutDim> outs);

  bool operator==(const LinearLayout &) const = default;
  /// " - register=1 -> (0, 1)\n …\nwhere out dims are: [dim0 (size 4), …]"
  void print(llvm::raw_ostream &) const;
  std::string str() const;

private:
  llvm::SmallVector<InDim, 4> ins_;
  llvm::SmallVector<OutDim, 4> outs_;
};

/// The sum over F₂ (xor) of the columns that the bits select.
inline uint64_t sumOf(llvm::ArrayRef<uint64_t> columns, uint64_t bits) {
  uint64_t v = 0;
  for (unsigned b = 0; b < columns.size(); ++b)
    if (bits >> b & 1) v ^= columns[b];
  return v;
}

/// Gaussian elimination over F₂ with memory of how each vector was made: answers whether a vector is a sum of those
/// added, and of which.
class F2Span {
public:
  /// Adds the vector (its number is the count of vectors added before). Returns whether it was independent.
  bool add(uint64_t v);
  /// The set of added vectors (bit i: the i-th) whose sum is v, or nothing. Earlier vectors are preferred.
  std::optional<uint64_t> solve(uint64_t v) const;
  bool contains(uint64_t v) const { return reduce(v, nullptr) == 0; }
  unsigned dimension() const { return rows_.size(); }

private:
  uint64_t reduce(uint64_t v, uint64_t *combination) const;
  struct Row {
    uint64_t value, combination;
  };
  llvm::SmallVector<Row, 24> rows_; // each with its own leading bit
  unsigned count_ = 0;
};

} // namespace tessera::layouts
