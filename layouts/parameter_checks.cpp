// Checks of encodings' parameters (see parameter_checks.h).
#include "layouts/parameter_checks.h"
#include "layouts/encoding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

absl::Status invalid(const std::string &m) { return absl::InvalidArgumentError(m); }

static std::string listText(llvm::ArrayRef<int32_t> v) {
  std::string s;
  llvm::raw_string_ostream o(s);
  printList(o, v);
  return s;
}

absl::Status checkPermutation(llvm::StringRef name, llvm::ArrayRef<int32_t> order) {
  if (order.empty() || order.size() > kMaxRank)
    return invalid(llvm::formatv("{0} has {1} entries; 1 to {2} are possible", name, order.size(), kMaxRank));
  uint32_t seen = 0;
  for (auto d : order) {
    if (d < 0 || d >= int32_t(order.size()) || (seen >> d & 1))
      return invalid(
          llvm::formatv("{0} = {1} is not a permutation of 0 to {2}", name, listText(order), order.size() - 1));
    seen |= 1u << d;
  }
  return absl::OkStatus();
}

absl::Status checkPowersOfTwo(llvm::StringRef name, llvm::ArrayRef<int32_t> v, unsigned rank) {
  if (v.size() != rank)
    return invalid(llvm::formatv("{0} has {1} entries but the layout's rank is {2}", name, v.size(), rank));
  for (auto x : v)
    if (x <= 0 || !llvm::isPowerOf2_32(x))
      return invalid(llvm::formatv("{0} = {1}: every entry must be a power of two", name, listText(v)));
  int64_t product = 1;
  for (auto x : v)
    if ((product *= x) > (1 << 20)) return invalid(llvm::formatv("{0} = {1} is too large", name, listText(v)));
  return absl::OkStatus();
}

absl::Status checkPowerOfTwo(llvm::StringRef name, int64_t v) {
  if (v <= 0 || !llvm::isPowerOf2_64(v)) return invalid(llvm::formatv("{0} = {1} must be a power of two", name, v));
  return absl::OkStatus();
}

absl::Status checkCta(const CtaLayout &c, unsigned rank) {
  if (c.bases.size() > 5) return invalid("CGALayout describes more than 32 blocks");
  for (auto &b : c.bases) {
    if (b.size() != rank)
      return invalid(
          llvm::formatv("a basis of CGALayout has {0} entries but the layout's rank is {1}", b.size(), rank));
    for (auto x : b)
      if (x < 0 || (x && !llvm::isPowerOf2_32(x)) || x > 16)
        return invalid(llvm::formatv("CGALayout: {0} is not zero or a power of two up to 16", x));
  }
  return absl::OkStatus();
}

absl::Status checkShape(llvm::ArrayRef<int64_t> shape, unsigned rank) {
  if (shape.size() != rank)
    return invalid(llvm::formatv("the tensor has rank {0} but its layout has rank {1}", shape.size(), rank));
  int64_t product = 1;
  for (auto d : shape) {
    if (d <= 0 || !llvm::isPowerOf2_64(d))
      return invalid(llvm::formatv("dimension {0} of a tensor with a layout must be a power of two", d));
    if (d > (int64_t(1) << 30) || (product *= d) > (int64_t(1) << 30))
      return invalid("the tensor is too large for a layout");
  }
  return absl::OkStatus();
}

void printCta(llvm::raw_ostream &o, const CtaLayout &c) {
  if (c.isTrivial()) return;
  o << ", CGALayout = [";
  llvm::interleaveComma(c.bases, o, [&](auto &b) { printList(o, b); });
  o << "]";
}

void printBases(llvm::raw_ostream &o, const LinearLayout &l, Dim in) {
  o << "[";
  for (unsigned b = 0; b < l.inDimBits(in); ++b) {
    if (b) o << ", ";
    printList(o, l.basis(in, b));
  }
  o << "]";
}

absl::Status checkSharedBases(const LinearLayout &l) {
  if (l.numOutDims() == 0 || l.numOutDims() > kMaxRank)
    return invalid(llvm::formatv("the layout needs 1 to {0} dimensions", kMaxRank));
  if (l.numInDims() != 2 || l.ins()[0].dim != Dim::Offset || l.ins()[1].dim != Dim::Block)
    return invalid("the layout needs bases of offset and block");
  for (unsigned d = 0; d < l.numOutDims(); ++d)
    if (l.outs()[d].dim != tensorDim(d)) return invalid("the layout's dimensions must be dim0, dim1, …");
  if (l.totalInBits() > 30 || l.totalOutBits() > 30) return invalid("the layout is too large");
  return absl::OkStatus();
}

absl::Status checkShapeIs(const LinearLayout &l, llvm::ArrayRef<int64_t> shape) {
  for (unsigned d = 0; d < shape.size(); ++d)
    if (l.outs()[d].size != shape[d])
      return invalid(
          llvm::formatv("dimension {0} of the tensor is {1} but its layout covers {2}", d, shape[d], l.outs()[d].size));
  return absl::OkStatus();
}

} // namespace tessera::layouts
