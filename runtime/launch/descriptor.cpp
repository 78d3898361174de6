// Tensor descriptors as arguments of launches (see descriptor.h).
#include "runtime/launch/descriptor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace tessera::runtime {

namespace {

constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max(); // kernels also take the sizes as i32
constexpr int64_t kMaxStrideBytes = int64_t(1) << 40;             // exclusive; of tensor maps
constexpr int64_t kMaxBlockElements = int64_t(1) << 20;           // as Triton's tensors

std::string listText(llvm::ArrayRef<int64_t> sizes) {
  std::string s = "[";
  for (auto [i, n] : llvm::enumerate(sizes)) s += (i ? ", " : "") + std::to_string(n);
  return s + "]";
}

} // namespace

int64_t HostDescriptor::spannedElements() const {
  int64_t n = 1;
  for (auto [size, stride] : llvm::zip(shape, strides)) n += (size - 1) * stride;
  return n;
}

uint64_t HostDescriptor::part(size_t k) const {
  size_t rank = shape.size();
  if (k == 0 || k > 2 * rank + 1) return 0;
  if (k <= rank) return uint64_t(shape[k - 1]);
  return k <= 2 * rank ? uint64_t(strides[k - 1 - rank]) : nanPadding;
}

std::vector<int64_t> contiguousStrides(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

llvm::StringRef partName(DescriptorPart p) {
  switch (p) {
  case DescriptorPart::ElementType: return "element type";
  case DescriptorPart::Shape: return "shape";
  case DescriptorPart::Strides: return "strides";
  case DescriptorPart::BlockShape: return "block shape";
  case DescriptorPart::Padding: return "padding";
  }
  llvm_unreachable("part");
}

void checkDescriptor(const HostDescriptor &d, llvm::function_ref<void(DescriptorPart, const std::string &)> report) {
  size_t rank = d.shape.size();
  if (d.dtype == DType::I1) report(DescriptorPart::ElementType, "must have 8 bits or more, and i1 is one");
  if (rank < 1 || rank > kMaxDescriptorRank)
    return report(DescriptorPart::Shape,
                  llvm::formatv("must have 1 to {0} dimensions, not {1}", kMaxDescriptorRank, rank));
  for (int64_t n : d.shape)
    if (n < 1 || n > kMaxSize)
      report(DescriptorPart::Shape, llvm::formatv("must have sizes from 1 to {0}, not {1}", kMaxSize, n));

  if (d.strides.size() != rank)
    report(DescriptorPart::Strides, llvm::formatv("must have as many numbers as the shape has dimensions, {0}, not {1}",
                                                  rank, d.strides.size()));
  else {
    int64_t bytes = dtypeBytes(d.dtype);
    for (int64_t s : llvm::ArrayRef(d.strides).drop_back()) {
      if (s < 0 || s >= kMaxStrideBytes / bytes)
        report(DescriptorPart::Strides,
               llvm::formatv("must be from 0 to less than 2^40 bytes, and one is {0} elements of {1}", s,
                             dtypeName(d.dtype)));
      else if (s * bytes % kDescriptorAlignment)
        report(DescriptorPart::Strides,
               llvm::formatv("must be multiples of {0} bytes, except for the last, and one is {1} elements of {2}, {3} "
                             "bytes",
                             kDescriptorAlignment, s, dtypeName(d.dtype), s * bytes));
    }
    if (d.strides.back() != 1)
      report(DescriptorPart::Strides, llvm::formatv("must end in 1, not {0}: rows are contiguous", d.strides.back()));
  }

  int64_t elements = 1;
  if (d.blockShape.size() != rank)
    report(
        DescriptorPart::BlockShape,
        llvm::formatv("must have as many sizes as the shape has dimensions, {0}, not {1}", rank, d.blockShape.size()));
  for (int64_t n : d.blockShape) {
    if (n < 1 || !llvm::isPowerOf2_64(uint64_t(n)))
      return report(DescriptorPart::BlockShape, llvm::formatv("must have powers of two, and one size is {0}", n));
    if (n > kMaxBlockElements || (elements *= n) > kMaxBlockElements)
      return report(DescriptorPart::BlockShape,
                    llvm::formatv("is too large: a block has at most {0} elements", kMaxBlockElements));
  }

  if (d.nanPadding && !isFloat(d.dtype))
    report(DescriptorPart::Padding, llvm::formatv("cannot be NaN: the elements are {0}", dtypeName(d.dtype)));
}

std::string DescriptorType::str() const {
  return llvm::formatv("tensordesc<{0}{1}>", dtypeName(dtype), listText(blockShape));
}

std::optional<DescriptorType> DescriptorType::parse(llvm::StringRef text) {
  DescriptorType t;
  if (!text.consume_front("tensordesc<") || !text.consume_back("]>")) return std::nullopt;
  auto [element, sizes] = text.split('[');
  auto dtype = parseDType(element);
  if (!dtype) return std::nullopt;
  t.dtype = *dtype;
  llvm::SmallVector<llvm::StringRef, 5> list;
  sizes.split(list, ',');
  if (list.empty() || list.size() > kMaxDescriptorRank) return std::nullopt;
  for (llvm::StringRef s : list) {
    int64_t n;
    if (s.trim().getAsInteger(10, n) || n < 1 || n > kMaxBlockElements) return std::nullopt;
    t.blockShape.push_back(n);
  }
  return t;
}

std::string DescriptorType::mismatch(const HostDescriptor &d, DescriptorPart &part) const {
  bool sameElements = dtype == d.dtype || (!isFloat(dtype) && !isFloat(d.dtype) && d.dtype != DType::I1 &&
                                           dtypeBytes(dtype) == dtypeBytes(d.dtype));
  if (!sameElements) {
    part = DescriptorPart::ElementType;
    return llvm::formatv("is {0}, but the kernel's descriptor has {1}", dtypeName(d.dtype), dtypeName(dtype));
  }
  if (blockShape != d.blockShape) {
    part = DescriptorPart::BlockShape;
    return llvm::formatv("is {0}, but the kernel's is {1}", listText(d.blockShape), listText(blockShape));
  }
  return "";
}

bool isFloatElementType(int t) {
  constexpr int kF16 = 6;
  constexpr int kLastTF32 = 12; // f16, f32, f32.ftz, f64, bf16, tf32, tf32.ftz
  return t >= kF16 && t <= kLastTF32;
}

absl::StatusOr<TensorMap> tensorMapOf(const HostDescriptor &d, const TensorMapFormat &f) {
  if (f.blockSize.size() != d.shape.size())
    return absl::InvalidArgumentError(
        llvm::formatv("the kernel's tensor map has {0} dimensions, but the descriptor {1}", f.blockSize.size(),
                      d.shape.size())
            .str());
  if (f.elementBytes != int(dtypeBytes(d.dtype)))
    return absl::InvalidArgumentError(
        llvm::formatv("the kernel's tensor map has elements of {0} bytes, but {1} has {2}", f.elementBytes,
                      dtypeName(d.dtype), dtypeBytes(d.dtype))
            .str());
  if (d.nanPadding && !isFloatElementType(f.elementType))
    return absl::InvalidArgumentError(
        llvm::formatv("tensor maps of {0} cannot be padded with NaN; those of f16, bf16, f32 and f64 can",
                      dtypeName(d.dtype))
            .str());
  TensorMap m;
  m.elementType = f.elementType;
  m.swizzle = f.swizzle;
  m.nanFill = d.nanPadding;
  for (size_t k = d.shape.size(); k-- > 0;) {
    bool isInnermost = k + 1 == d.shape.size();
    m.size.push_back(uint64_t(d.shape[k]) * (f.fp4Padded && isInnermost ? 2 : 1));
    if (!isInnermost) m.strides.push_back(uint64_t(d.strides[k]) * f.elementBytes);
    m.box.push_back(uint32_t(f.blockSize[k]));
  }
  return m;
}

} // namespace tessera::runtime
