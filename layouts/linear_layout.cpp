// Linear layouts (see linear_layout.h). Algebra that needs to solve equations flattens the outputs to one bit vector
// per basis and eliminates over F₂; the rest works on the bases directly.
#include "layouts/linear_layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

llvm::StringRef dimName(Dim d) {
  static constexpr const char *names[] = {"register", "lane",  "warp",  "block", "offset", "dim0",  "dim1",  "dim2",
                                          "dim3",     "dim4",  "dim5",  "dim6",  "dim7",   "dim8",  "dim9",  "dim10",
                                          "dim11",    "dim12", "dim13", "dim14", "dim15",  "dim16", "dim17", "dim18",
                                          "dim19",    "dim20", "dim21", "dim22", "dim23",  "dim24", "dim25", "dim26",
                                          "dim27",    "dim28", "dim29", "dim30", "dim31"};
  static_assert(std::size(names) == unsigned(Dim::Dim0) + kMaxRank);
  return names[unsigned(d)];
}

// ---- F2Span ---------------------------------------------------------------------------------------------------------

uint64_t F2Span::reduce(uint64_t v, uint64_t *combination) const {
  for (auto &r : rows_)
    if ((v ^ r.value) < v) { // r's leading bit is set in v
      v ^= r.value;
      if (combination) *combination ^= r.combination;
    }
  return v;
}

bool F2Span::add(uint64_t v) {
  // Combinations are known of the first 64 vectors; callers with more of them query membership only.
  uint64_t combination = count_ < 64 ? uint64_t(1) << count_ : 0;
  ++count_;
  v = reduce(v, &combination);
  if (!v) return false;
  // Rows by falling leading bit, so that one pass reduces.
  auto it = llvm::find_if(rows_, [&](const Row &r) { return r.value < v; });
  rows_.insert(it, Row{v, combination});
  return true;
}

std::optional<uint64_t> F2Span::solve(uint64_t v) const {
  uint64_t combination = 0;
  if (reduce(v, &combination)) return std::nullopt;
  return combination;
}

// ---- construction ---------------------------------------------------------------------------------------------------

LinearLayout LinearLayout::strided1D(int32_t size, int32_t stride, Dim in, Dim out) {
  InDim i{in, {}};
  for (int32_t b = 1; b < size; b <<= 1) i.bases.push_back(Basis{b * stride});
  return LinearLayout({i}, {OutDim{out, size == 1 ? 1 : size * stride}});
}
LinearLayout LinearLayout::identity1D(int32_t size, Dim in, Dim out) { return strided1D(size, 1, in, out); }
LinearLayout LinearLayout::zeros1D(int32_t size, Dim in, Dim out, int32_t outSize) {
  InDim i{in, {}};
  for (int32_t b = 1; b < size; b <<= 1) i.bases.push_back(Basis{0});
  return LinearLayout({i}, {OutDim{out, outSize}});
}

// ---- questions ------------------------------------------------------------------------------------------------------

bool LinearLayout::hasInDim(Dim d) const {
  return llvm::any_of(ins_, [&](auto &i) { return i.dim == d; });
}
bool LinearLayout::hasOutDim(Dim d) const {
  return llvm::any_of(outs_, [&](auto &o) { return o.dim == d; });
}
unsigned LinearLayout::inDimBits(Dim d) const {
  for (auto &i : ins_)
    if (i.dim == d) return i.bases.size();
  return 0;
}
int32_t LinearLayout::inDimSize(Dim d) const { return 1 << inDimBits(d); }
int32_t LinearLayout::outDimSize(Dim d) const {
  for (auto &o : outs_)
    if (o.dim == d) return o.size;
  return 1;
}
unsigned LinearLayout::totalInBits() const {
  unsigned n = 0;
  for (auto &i : ins_) n += i.bases.size();
  return n;
}
unsigned LinearLayout::totalOutBits() const {
  unsigned n = 0;
  for (auto &o : outs_) n += llvm::Log2_32(o.size);
  return n;
}
unsigned LinearLayout::outIndex(Dim d) const {
  return llvm::find_if(outs_, [&](auto &o) { return o.dim == d; }) - outs_.begin();
}

llvm::ArrayRef<int32_t> LinearLayout::basis(Dim d, unsigned bit) const {
  for (auto &i : ins_)
    if (i.dim == d) return i.bases[bit];
  return {};
}
int32_t LinearLayout::basis(Dim in, unsigned bit, Dim out) const { return basis(in, bit)[outIndex(out)]; }

Basis LinearLayout::apply(llvm::ArrayRef<std::pair<Dim, int32_t>> in) const {
  Basis out(outs_.size(), 0);
  for (auto [dim, value] : in) {
    if (!value) continue;
    for (auto &i : ins_) {
      if (i.dim != dim) continue;
      for (unsigned bit = 0; bit < i.bases.size(); ++bit)
        if (value >> bit & 1)
          for (unsigned o = 0; o < out.size(); ++o) out[o] ^= i.bases[bit][o];
    }
  }
  return out;
}

llvm::SmallVector<uint64_t, 8> LinearLayout::columns(Dim d) const {
  llvm::SmallVector<uint64_t, 8> cols;
  for (auto &i : ins_) {
    if (i.dim != d) continue;
    for (auto &basis : i.bases) {
      uint64_t v = 0;
      unsigned shift = 0;
      for (unsigned o = 0; o < outs_.size(); ++o) {
        v |= uint64_t(basis[o]) << shift;
        shift += llvm::Log2_32(outs_[o].size);
      }
      cols.push_back(v);
    }
  }
  return cols;
}

llvm::SmallVector<uint64_t, 24> LinearLayout::columns() const {
  llvm::SmallVector<uint64_t, 24> cols;
  for (auto &i : ins_) llvm::append_range(cols, columns(i.dim));
  return cols;
}

static Basis unflatten(uint64_t v, llvm::ArrayRef<LinearLayout::OutDim> outs) {
  Basis basis;
  for (auto &o : outs) {
    basis.push_back(v & (o.size - 1));
    v >>= llvm::Log2_32(o.size);
  }
  return basis;
}

LinearLayout LinearLayout::fromColumns(Dim in, llvm::ArrayRef<uint64_t> columns, llvm::ArrayRef<OutDim> outs) {
  InDim i{in, {}};
  for (auto c : columns) i.bases.push_back(unflatten(c, outs));
  return LinearLayout({i}, llvm::SmallVector<OutDim, 4>(outs));
}

unsigned LinearLayout::rank() const {
  F2Span span;
  for (auto c : columns()) span.add(c);
  return span.dimension();
}

llvm::SmallVector<std::pair<Dim, int32_t>, 4> LinearLayout::freeVariableMasks() const {
  llvm::SmallVector<std::pair<Dim, int32_t>, 4> out;
  F2Span span;
  for (auto &i : ins_) {
    int32_t mask = 0;
    for (auto [bit, c] : llvm::enumerate(columns(i.dim)))
      if (!span.add(c)) mask |= 1 << bit;
    out.push_back({i.dim, mask});
  }
  return out;
}

// ---- products and sublayouts ----------------------------------------------------------------------------------------

LinearLayout LinearLayout::operator*(const LinearLayout &inner) const {
  // Output dimensions of this one, then the new ones; a shared one is this one's size times the other's.
  llvm::SmallVector<OutDim, 4> outs = outs_;
  llvm::SmallVector<unsigned, 4> place;
  llvm::SmallVector<int32_t, 4> scale;
  for (auto &o : inner.outs_) {
    unsigned at = outIndex(o.dim);
    place.push_back(at < outs_.size() ? at : outs.size());
    scale.push_back(at < outs_.size() ? outs_[at].size : 1);
    if (at < outs_.size())
      outs[at].size *= o.size;
    else
      outs.push_back(o);
  }
  llvm::SmallVector<InDim, 4> ins;
  for (auto &i : ins_) {
    InDim n{i.dim, {}};
    for (auto &b : i.bases) {
      Basis nb(b);
      nb.resize(outs.size(), 0);
      n.bases.push_back(nb);
    }
    ins.push_back(n);
  }
  for (auto &i : inner.ins_) {
    auto it = llvm::find_if(ins, [&](auto &x) { return x.dim == i.dim; });
    if (it == ins.end()) {
      ins.push_back(InDim{i.dim, {}});
      it = ins.end() - 1;
    }
    for (auto &b : i.bases) {
      Basis nb(outs.size(), 0);
      for (unsigned o = 0; o < b.size(); ++o) nb[place[o]] = b[o] * scale[o];
      it->bases.push_back(nb);
    }
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

/// The input dimension with some of the basis' coordinates, by their numbers.
static LinearLayout::InDim selectOuts(const LinearLayout::InDim &in, llvm::ArrayRef<unsigned> outs) {
  LinearLayout::InDim selected{in.dim, {}};
  for (auto &basis : in.bases) {
    auto &of = selected.bases.emplace_back();
    for (unsigned o : outs) of.push_back(basis[o]);
  }
  return selected;
}

LinearLayout LinearLayout::sublayout(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs) const {
  llvm::SmallVector<OutDim, 4> newOuts;
  llvm::SmallVector<unsigned, 4> keep;
  for (unsigned o = 0; o < outs_.size(); ++o)
    if (llvm::is_contained(outs, outs_[o].dim)) {
      newOuts.push_back(outs_[o]);
      keep.push_back(o);
    }
  llvm::SmallVector<InDim, 4> newIns;
  for (auto &i : ins_)
    if (llvm::is_contained(ins, i.dim)) newIns.push_back(selectOuts(i, keep));
  return LinearLayout(std::move(newIns), std::move(newOuts));
}

LinearLayout LinearLayout::removeZeroBases(Dim in) const {
  LinearLayout l = *this;
  for (auto &i : l.ins_)
    if (i.dim == in) llvm::erase_if(i.bases, [](auto &b) { return llvm::all_of(b, [](auto x) { return x == 0; }); });
  return l;
}

LinearLayout LinearLayout::transposeOuts(llvm::ArrayRef<Dim> order) const {
  llvm::SmallVector<unsigned, 4> from;
  llvm::SmallVector<OutDim, 4> outs;
  for (auto d : order) {
    from.push_back(outIndex(d));
    outs.push_back(outs_[from.back()]);
  }
  llvm::SmallVector<InDim, 4> ins;
  for (auto &i : ins_) ins.push_back(selectOuts(i, from));
  return LinearLayout(std::move(ins), std::move(outs));
}

LinearLayout LinearLayout::transposeIns(llvm::ArrayRef<Dim> order) const {
  llvm::SmallVector<InDim, 4> ins;
  for (auto d : order)
    for (auto &i : ins_)
      if (i.dim == d) ins.push_back(i);
  return LinearLayout(std::move(ins), outs_);
}

LinearLayout LinearLayout::reshapeOuts(llvm::ArrayRef<OutDim> outs) const {
  llvm::SmallVector<InDim, 4> ins;
  for (auto &i : ins_) {
    InDim n{i.dim, {}};
    for (auto c : columns(i.dim)) n.bases.push_back(unflatten(c, outs));
    ins.push_back(n);
  }
  return LinearLayout(std::move(ins), llvm::SmallVector<OutDim, 4>(outs));
}

LinearLayout LinearLayout::reshapeIns(llvm::ArrayRef<std::pair<Dim, int32_t>> dims) const {
  llvm::SmallVector<Basis, 16> flat;
  for (auto &i : ins_) llvm::append_range(flat, i.bases);
  llvm::SmallVector<InDim, 4> ins;
  unsigned at = 0;
  for (auto [d, size] : dims) {
    InDim n{d, {}};
    for (int32_t b = 1; b < size; b <<= 1) n.bases.push_back(flat[at++]);
    ins.push_back(n);
  }
  return LinearLayout(std::move(ins), outs_);
}

LinearLayout LinearLayout::renameOuts(llvm::ArrayRef<Dim> names) const {
  LinearLayout l = *this;
  for (unsigned i = 0; i < names.size(); ++i) l.outs_[i].dim = names[i];
  return l;
}
LinearLayout LinearLayout::withOutSizes(llvm::ArrayRef<std::pair<Dim, int32_t>> sizes) const {
  LinearLayout l = *this;
  for (auto [d, s] : sizes)
    for (auto &o : l.outs_)
      if (o.dim == d) o.size = std::max(o.size, s);
  return l;
}

LinearLayout LinearLayout::flattenOuts(Dim as) const { return reshapeOuts({{as, int32_t(1) << totalOutBits()}}); }

LinearLayout LinearLayout::concatIns(const LinearLayout &other) const {
  LinearLayout l = *this;
  for (auto &i : other.ins_) l.ins_.push_back(i);
  for (unsigned o = 0; o < l.outs_.size(); ++o) l.outs_[o].size = std::max(l.outs_[o].size, other.outs_[o].size);
  return l;
}

LinearLayout LinearLayout::concatOuts(const LinearLayout &other) const {
  LinearLayout l = *this;
  for (auto &o : other.outs_) l.outs_.push_back(o);
  for (unsigned i = 0; i < l.ins_.size(); ++i)
    for (unsigned b = 0; b < l.ins_[i].bases.size(); ++b)
      llvm::append_range(l.ins_[i].bases[b], other.ins_[i].bases[b]);
  return l;
}

// ---- composition and inversion --------------------------------------------------------------------------------------

/// Splits a set of input bits (numbered through all input dimensions) into a value per dimension.
static Basis splitInputs(uint64_t bits, llvm::ArrayRef<LinearLayout::InDim> ins) {
  Basis out;
  for (auto &i : ins) {
    unsigned n = i.bases.size();
    out.push_back(bits & ((uint64_t(1) << n) - 1));
    bits >>= n;
  }
  return out;
}

LinearLayout LinearLayout::pseudoInvert() const {
  F2Span span;
  for (auto c : columns()) span.add(c);
  llvm::SmallVector<OutDim, 4> outs;
  for (auto &i : ins_) outs.push_back({i.dim, int32_t(1) << i.bases.size()});
  llvm::SmallVector<InDim, 4> ins;
  unsigned bit = 0;
  for (auto &o : outs_) {
    InDim n{o.dim, {}};
    for (int32_t b = 1; b < o.size; b <<= 1, ++bit)
      n.bases.push_back(splitInputs(span.solve(uint64_t(1) << bit).value_or(0), ins_));
    ins.push_back(n);
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

LinearLayout LinearLayout::invert() const { return pseudoInvert(); }

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &outer) const {
  // Outputs in this layout's order and sizes, so that both flatten alike.
  llvm::SmallVector<Dim, 4> order;
  llvm::SmallVector<std::pair<Dim, int32_t>, 4> sizes;
  for (auto &o : outs_) {
    order.push_back(o.dim);
    sizes.push_back({o.dim, std::max(o.size, outer.outDimSize(o.dim))});
  }
  LinearLayout a = withOutSizes(sizes), b = outer.transposeOuts(order).withOutSizes(sizes);
  auto bCols = b.columns();
  // Spans of growing sets of outer's input dimensions (registers; registers and lanes; …): the smallest that has a
  // solution is taken, so that data moves no further than it must. Vectors keep the numbers of bCols.
  unsigned nIns = b.ins_.size();
  llvm::SmallVector<F2Span, 4> spans(nIns);
  llvm::SmallVector<unsigned, 4> firstBit(nIns);
  for (unsigned k = 0; k < nIns; ++k) {
    unsigned upTo = 0;
    for (unsigned j = 0; j <= k; ++j) {
      if (j == k) firstBit[k] = upTo;
      upTo += b.ins_[j].bases.size();
    }
    for (unsigned c = 0; c < upTo; ++c) spans[k].add(bCols[c]);
  }
  auto solve = [&](Dim dim, unsigned bit, uint64_t target) -> uint64_t {
    // First with the bit in its own place and help from the dimensions below it.
    for (unsigned k = 0; k < nIns; ++k) {
      if (b.ins_[k].dim != dim || bit >= b.ins_[k].bases.size()) continue;
      uint64_t own = uint64_t(1) << (firstBit[k] + bit), rest = target ^ bCols[firstBit[k] + bit];
      if (!rest) return own;
      if (k == 0) break; // registers may be permuted at will
      for (unsigned j = 0; j < k; ++j)
        if (auto s = spans[j].solve(rest)) return own ^ *s;
    }
    for (unsigned k = 0; k < nIns; ++k)
      if (auto s = spans[k].solve(target)) return *s;
    return 0;
  };
  llvm::SmallVector<OutDim, 4> outs;
  for (auto &i : b.ins_) outs.push_back({i.dim, int32_t(1) << i.bases.size()});
  llvm::SmallVector<InDim, 4> ins;
  for (auto &i : a.ins_) {
    InDim n{i.dim, {}};
    for (auto [bit, c] : llvm::enumerate(a.columns(i.dim)))
      n.bases.push_back(splitInputs(solve(i.dim, bit, c), b.ins_));
    ins.push_back(n);
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

void LinearLayout::print(llvm::raw_ostream &o) const {
  if (ins_.empty()) o << "(empty layout)\n";
  for (auto &i : ins_) {
    auto name = dimName(i.dim);
    if (i.bases.empty()) o << " - " << name << " is a size 1 dimension\n";
    for (unsigned b = 0; b < i.bases.size(); ++b) {
      o << (b ? "   " : " - ") << name << "=" << (1 << b) << " -> (";
      llvm::interleaveComma(i.bases[b], o);
      o << ")\n";
    }
  }
  o << "where out dims are: [";
  llvm::interleaveComma(outs_, o, [&](auto &d) { o << dimName(d.dim) << " (size " << d.size << ")"; });
  o << "]";
}

std::string LinearLayout::str() const {
  std::string s;
  llvm::raw_string_ostream o(s);
  print(o);
  return s;
}

} // namespace tessera::layouts
