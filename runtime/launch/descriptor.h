// Tensor descriptors as arguments of launches, as Triton's TensorDescriptor is one: memory with a shape and strides,
// and the block of it that one access of the kernel moves.
//
// A kernel's text takes a descriptor as one argument (`!tt.tensordesc<tensor<64x64xf16>>`). Its compiled code takes
// either the descriptor's parts (base, shape and strides as i64, whether the padding is NaN as i1; the argument is
// "expanded"), or 128 bytes that describe the tensor to the unit of the GPU that copies blocks (a "tensor map"). The
// metadata says which (TensorMapFormat). Shapes, strides and blocks have the outermost dimension first, in elements;
// TensorMap has the driver's order.
//
// The rules that a descriptor must meet are Triton's (triton/tools/tensor_descriptor.py) and those of tensor maps (CUDA
// Driver API, "Tensor Map Object Management"). Descriptions, the C API and the launcher check them here.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/launch/dtype.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace tessera::runtime {

inline constexpr size_t kMaxDescriptorRank = 5;
/// The alignment of bases and strides, in bytes.
inline constexpr unsigned kDescriptorAlignment = 16;

/// A descriptor without its base, which is an address on the device.
struct HostDescriptor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape, strides, blockShape;
  bool nanPadding = false; // elements outside of the tensor read as NaN, not as zero

  /// From the first to the last element, both counted. @pre the descriptor passes checkDescriptor
  int64_t spannedElements() const;
  /// The bits of the parts that follow the base (part 0) where the descriptor is expanded: shape, strides, padding. 0
  /// if there is no such part.
  uint64_t part(size_t) const;
};

/// Strides of a contiguous tensor.
std::vector<int64_t> contiguousStrides(llvm::ArrayRef<int64_t> shape);

/// The part of a descriptor that an error is about.
enum class DescriptorPart : uint8_t { ElementType, Shape, Strides, BlockShape, Padding };
/// Reports every rule that the descriptor breaks, as a clause: "must have 1 to 5 dimensions, not 6".
void checkDescriptor(const HostDescriptor &, llvm::function_ref<void(DescriptorPart, const std::string &)> report);
/// How errors name the part: "strides".
llvm::StringRef partName(DescriptorPart);

/// The type of a kernel's descriptor argument. In metadata it is text: "tensordesc<f16[64, 64]>", where u8 is an
/// unsigned integer.
struct DescriptorType {
  DType dtype = DType::F32;
  std::vector<int64_t> blockShape;

  std::string str() const;
  /// Nothing: the text is not such a type.
  static std::optional<DescriptorType> parse(llvm::StringRef);
  /// Why this descriptor cannot be passed, as a clause; empty: it can. Integers are compared by their width.
  std::string mismatch(const HostDescriptor &, DescriptorPart &) const;
};

/// How a kernel wants a tensor map made: Triton 3.6's entry of `tensordesc_meta`.
struct TensorMapFormat {
  int swizzle = 0;                // 0: none; 1, 2, 3: in spans of 32, 64, 128 bytes
  int elementBytes = 0;           //
  int elementType = 0;            // as tensormap.replace numbers them (PTX ISA)
  std::vector<int64_t> blockSize; // of one copy, which may be a part of the block
  bool fp4Padded = false;         // two 4-bit elements per byte, padded in shared memory

  bool operator==(const TensorMapFormat &) const = default;
};

/// Element types of tensor maps that are floats, whose out-of-bounds elements may be NaN (PTX ISA, tensormap.replace).
bool isFloatElementType(int elementType);

/// All that a tensor map says, but for the address: innermost dimension first, as cuTensorMapEncodeTiled takes it.
struct TensorMap {
  int elementType = 0; // as in TensorMapFormat
  int swizzle = 0;
  bool nanFill = false;
  llvm::SmallVector<uint64_t, 5> size;    // elements
  llvm::SmallVector<uint64_t, 4> strides; // bytes, of all dimensions but the innermost
  llvm::SmallVector<uint32_t, 5> box;     // elements
};

inline constexpr size_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

/// InvalidArgument where a tensor map cannot say it.
/// @pre the descriptor passes checkDescriptor and has the kernel's type
absl::StatusOr<TensorMap> tensorMapOf(const HostDescriptor &, const TensorMapFormat &);

} // namespace tessera::runtime
