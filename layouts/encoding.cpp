// What encodings share: building blocks of their linear layouts, printing, cluster layouts (see encoding.h).
#include "layouts/encoding.h"
#include "layouts/tensor_dims.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

void Encoding::print(llvm::raw_ostream &o) const {
  print(o, [](const Encoding *, llvm::raw_ostream &) { return false; });
}
const absl::StatusOr<LinearLayout> &Encoding::layoutOf(llvm::ArrayRef<int64_t> shape) const {
  for (auto &[known, layout] : layouts_)
    if (llvm::ArrayRef<int64_t>(known) == shape) return layout;
  return layouts_.emplace_back(llvm::SmallVector<int64_t, 4>(shape), toLinearLayout(shape)).second;
}

std::string Encoding::str() const {
  std::string s;
  llvm::raw_string_ostream o(s);
  print(o);
  return s;
}

llvm::StringRef Encoding::aliasStem() const {
  switch (kind_) {
  case EncodingKind::Blocked: return "blocked";
  case EncodingKind::Slice:
  case EncodingKind::DotOperand: return "";
  case EncodingKind::NvidiaMma:
  case EncodingKind::AmdMfma:
  case EncodingKind::AmdWmma: return "mma";
  case EncodingKind::Linear: return "linear";
  case EncodingKind::GenericLinear: return "generic_linear";
  case EncodingKind::SwizzledShared:
  case EncodingKind::NvmmaShared:
  case EncodingKind::AmdRotatingShared:
  case EncodingKind::PaddedShared:
  case EncodingKind::SharedLinear:
  case EncodingKind::PartitionedShared: return "shared";
  case EncodingKind::TensorMemory: return "tmem";
  case EncodingKind::TensorMemoryScales: return "tmem_scales";
  }
  llvm_unreachable("encoding kind");
}

void printList(llvm::raw_ostream &o, llvm::ArrayRef<int32_t> v) {
  o << "[";
  llvm::interleaveComma(v, o);
  o << "]";
}

LinearLayout identityND(Dim in, llvm::ArrayRef<int32_t> shape, llvm::ArrayRef<int32_t> order) {
  LinearLayout l;
  for (auto d : order) l *= LinearLayout::identity1D(shape[d], in, tensorDim(d));
  return l;
}

LinearLayout ensureNotLargerThan(const LinearLayout &l, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<LinearLayout::InDim, 4> ins(l.ins());
  llvm::SmallVector<LinearLayout::OutDim, 4> outs(l.outs());
  for (unsigned o = 0; o < outs.size(); ++o) {
    int64_t want = shape[unsigned(outs[o].dim) - unsigned(Dim::Dim0)];
    if (outs[o].size <= want) continue;
    for (auto &i : ins)
      for (auto &b : i.bases)
        if (b[o] >= want)
          b[o] = 0; // sizes are powers of two and each basis one bit along a dimension, or a sum below it
    outs[o].size = want;
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

LinearLayout ensureNotSmallerThan(const LinearLayout &l, llvm::ArrayRef<int64_t> shape) {
  LinearLayout r = l;
  Dim first = l.ins().empty() ? Dim::Register : l.ins()[0].dim;
  for (auto &o : l.outs()) {
    int64_t want = shape[unsigned(o.dim) - unsigned(Dim::Dim0)];
    if (o.size < want) r *= LinearLayout::identity1D(want / o.size, first, o.dim);
  }
  return r;
}

LinearLayout combineCtaWithShape(const LinearLayout &block, const CtaLayout &cta, llvm::ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  LinearLayout clusters = ensureNotLargerThan(cta.layout(rank), shape);
  llvm::SmallVector<int64_t, 4> blockShape;
  for (unsigned d = 0; d < rank; ++d)
    blockShape.push_back(std::max<int64_t>(1, shape[d] / clusters.outDimSize(tensorDim(d))));
  LinearLayout inner = ensureNotLargerThan(ensureNotSmallerThan(block, blockShape), blockShape);
  return (inner * clusters.transposeOuts(llvm::map_to_vector(inner.outs(), [](auto &o) { return o.dim; })))
      .transposeOuts(tensorDims(rank));
}

LinearLayout CtaLayout::layout(unsigned rank) const {
  llvm::SmallVector<LinearLayout::OutDim, 4> outs;
  for (unsigned d = 0; d < rank; ++d) {
    int32_t size = 1;
    for (auto &b : bases)
      if (b[d]) size = std::max<int32_t>(size, llvm::PowerOf2Ceil(b[d] + 1));
    outs.push_back({tensorDim(d), size});
  }
  return LinearLayout({LinearLayout::InDim{Dim::Block, llvm::SmallVector<Basis, 6>(bases.begin(), bases.end())}},
                      std::move(outs));
}

llvm::SmallVector<int32_t, 4> CtaLayout::splits(unsigned rank) const {
  llvm::SmallVector<int32_t, 4> s;
  LinearLayout l = layout(rank);
  for (unsigned d = 0; d < rank; ++d) s.push_back(l.outDimSize(tensorDim(d)));
  return s;
}

CtaLayout CtaLayout::fromSplitParams(llvm::ArrayRef<int32_t> per, llvm::ArrayRef<int32_t> split,
                                     llvm::ArrayRef<int32_t> order) {
  CtaLayout c;
  unsigned rank = per.size();
  for (auto d : order)
    for (int32_t b = 1; b < per[d]; b <<= 1) {
      Basis basis(rank, 0);
      if (b < split[d]) basis[d] = b; // blocks beyond the number of parts hold copies
      c.bases.push_back(basis);
    }
  return c;
}

CtaLayout CtaLayout::ofBlockBases(const LinearLayout &l) {
  CtaLayout c;
  unsigned rank = l.numOutDims(), n = l.inDimBits(Dim::Block);
  for (unsigned i = 0; i < n; ++i) {
    Basis b(rank, 0);
    for (unsigned d = 0; d < rank; ++d) {
      int32_t v = l.basis(Dim::Block, i)[d];
      if (!v) continue;
      // In units of a block's tile: its place among the block bases of the dimension.
      b[d] = 1;
      for (unsigned j = 0; j < n; ++j)
        if (int32_t w = l.basis(Dim::Block, j)[d]; w && w < v) b[d] *= 2;
    }
    c.bases.push_back(b);
  }
  return c;
}

CtaLayout CtaLayout::broadcastDim(unsigned dim) const {
  CtaLayout c = *this;
  for (auto &b : c.bases) b[dim] = 0;
  return c;
}

CtaLayout CtaLayout::dropDim(unsigned dim) const {
  CtaLayout c = *this;
  for (auto &b : c.bases) b.erase(b.begin() + dim);
  return c;
}

} // namespace tessera::layouts
