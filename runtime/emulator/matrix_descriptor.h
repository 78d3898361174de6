// A matrix in shared memory as descriptors of matrix units give it: 8 rows (or columns) of 16 bytes lie together, and
// chunks of 16 bytes are permuted by the swizzle. Source: PTX ISA, "Canonical Layouts" (of wgmma and of tcgen05, which
// are the same).
#pragma once
#include <array>
#include <cstdint>

namespace tessera::emulator {

struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0; // bytes
  unsigned base = 0, swizzle = 0;              // swizzle: chunks of 16 bytes that are permuted, less one: 0, 1, 3, 7

  /// "Matrix Descriptor Format" of wgmma.
  static MatrixDescriptor ofWgmma(uint64_t bits) {
    MatrixDescriptor d(bits);
    d.swizzle = std::array{0u, 7u, 3u, 1u}[bits >> 62];
    return d;
  }
  /// "Shared Memory Descriptor" of tcgen05; false if it is none of those modelled here.
  static bool ofTcgen05(uint64_t bits, MatrixDescriptor &d) {
    constexpr uint64_t kFixed = uint64_t(7) << 46 | uint64_t(0x1ff) << 52, kFixedValue = uint64_t(1) << 46;
    constexpr unsigned kInvalid = ~0u;
    d = MatrixDescriptor(bits);
    d.swizzle = std::array{0u, kInvalid, 7u, kInvalid, 3u, kInvalid, 1u, kInvalid}[bits >> 61];
    return (bits & kFixed) == kFixedValue && d.swizzle != kInvalid;
  }
  MatrixDescriptor() = default;

  /// Address of the 16 bytes that hold row (or column) `mn` along K, from the `chunk`-th 16 bytes on. K-major:
  /// ((8,m),(T,2k)) : ((T or swizzle,SBO),(1,T or LBO)).
  uint32_t alongK(unsigned mn, unsigned chunk) const {
    uint32_t offset = swizzle ? mn % 8 * 16 * (swizzle + 1) + mn / 8 * stride + chunk * 16
                              : mn % 8 * 16 + mn / 8 * stride + chunk * leading;
    return swizzled(start + offset);
  }
  /// The same for MN-major: ((T,swizzle,m),(8,k)) : ((1,T,LBO),(swizzle,SBO)); without swizzle ((T,1,m),(8,k)) :
  /// ((1,T,SBO),(T,LBO)).
  uint32_t alongMn(unsigned chunk, unsigned depth) const {
    unsigned across = swizzle + 1;
    uint32_t offset =
        swizzle ? chunk % across * 16 + chunk / across * leading + depth % 8 * 16 * across + depth / 8 * stride
                : chunk * stride + depth % 8 * 16 + depth / 8 * leading;
    return swizzled(start + offset);
  }

private:
  explicit MatrixDescriptor(uint64_t bits)
      : start(uint32_t(bits & 0x3fff) << 4), leading(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride(uint32_t(bits >> 32 & 0x3fff) << 4), base(unsigned(bits >> 49 & 7)) {}
  uint32_t swizzled(uint32_t address) const { return address ^ (((address >> 7) - base) & swizzle) << 4; }
};

} // namespace tessera::emulator
