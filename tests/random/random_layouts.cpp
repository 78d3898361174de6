// Random layouts for tensors of TTGIR: blocked, linear, slices, the matrix layouts of the target and their operands.
#include "kernel_writer.h"

namespace tessera::random {

std::string Generator::blocked(const Shape &s) {
  unsigned rank = unsigned(s.size());
  std::vector<unsigned> size(rank), threads(rank, 1), warps(rank, 1), order(rank);
  for (unsigned d = 0; d < rank; ++d) size[d] = 1u << upTo(3), order[d] = d;
  for (unsigned l = llvm::Log2_32(unsigned(target_->warpSize)); l > 0; --l) threads[upTo(rank)] *= 2;
  for (unsigned w = llvm::Log2_32(unsigned(kernel_.numWarps)); w > 0; --w) warps[upTo(rank)] *= 2;
  for (unsigned k = rank; k > 1; --k) std::swap(order[k - 1], order[upTo(k)]);
  // The verifier bounds the copies of elements that a thread has.
  uint64_t elements = 1, registers = 1;
  for (unsigned d = 0; d < rank; ++d) {
    elements *= uint64_t(s[d]);
    registers *= size[d] * std::max<uint64_t>(1, uint64_t(s[d]) / (size[d] * threads[d] * warps[d]));
  }
  if (registers > std::max<uint64_t>(elements, 1024))
    for (unsigned d = 0; d < rank; ++d) size[d] = std::min(size[d], s[d]);
  return cat("#ttg.blocked<{sizePerThread = ", list(size), ", threadsPerWarp = ", list(threads),
             ", warpsPerCTA = ", list(warps), ", order = ", list(order), "}>");
}

std::string Generator::linear(const Shape &s) {
  // The tensor's coordinate bits in any order, the first to registers, then lanes, then warps.
  std::vector<std::vector<unsigned>> bits;
  for (unsigned d = 0; d < s.size(); ++d)
    for (unsigned b = 1; b < s[d]; b *= 2) {
      std::vector<unsigned> v(s.size(), 0);
      v[d] = b;
      bits.push_back(v);
    }
  for (size_t k = bits.size(); k > 1; --k) std::swap(bits[k - 1], bits[upTo(unsigned(k))]);
  unsigned lanes = llvm::Log2_32(unsigned(target_->warpSize)), warps = llvm::Log2_32(unsigned(kernel_.numWarps));
  size_t at = 0, registers = bits.size() > lanes + warps ? bits.size() - lanes - warps : 0;
  std::string zero = list(std::vector<unsigned>(s.size(), 0)), out;
  auto part = [&](const char *name, size_t count) {
    out += cat(out.empty() ? "" : ", ", name, " = [");
    for (size_t k = 0; k < count; ++k) out += (k ? ", " : "") + (at < bits.size() ? list(bits[at++]) : zero);
    out += "]";
  };
  part("register", registers), part("lane", lanes), part("warp", warps);
  return "#ttg.linear<{" + out + ", block = []}>";
}

std::string Generator::matrix(Type element, bool forDot) {
  unsigned w = unsigned(kernel_.numWarps), rows = 1u << upTo(llvm::Log2_32(w) + 1);
  std::string warps = list({rows, w / rows});
  switch (target_->matrixUnit) {
  case ir::MatrixUnit::None: return "";
  case ir::MatrixUnit::Mfma: {
    bool small = coin();
    unsigned tile = small ? 16 : 32, k = 0;
    for (auto &i : target_->matrixInstructions)
      if (unsigned(i.m) == tile && unsigned(i.n) == tile && matches(i.a, element) && unsigned(i.k) > k &&
          (!k || coin()))
        k = unsigned(i.k);
    if (forDot && !k) return "";
    return cat("#ttg.amd_mfma<{version = ", target_->matrixVersion, ", warpsPerCTA = ", warps,
               ", instrShape = ", list({tile, tile, k ? k : 8u}), ", isTransposed = ", coin() ? "true" : "false", "}>");
  }
  case ir::MatrixUnit::Wmma:
    return cat("#ttg.amd_wmma<{version = ", target_->matrixVersion, ", isTranspose = ", coin() ? "true" : "false",
               ", warpsPerCTA = ", warps, target_->matrixVersion == 1 && coin() ? ", consecutiveRows = true}>" : "}>");
  default:
    return cat("#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = ", warps,
               ", instrShape = [16, 8]}>");
  }
}

bool Generator::matches(ir::MatrixType m, Type t) {
  switch (t) {
  case F16: return m == ir::MatrixType::F16;
  case BF16: return m == ir::MatrixType::BF16;
  case F32: return m == ir::MatrixType::F32;
  case I8: return m == ir::MatrixType::I8;
  default: return false;
  }
}

std::string Generator::randomLayout(const Shape &s, Type element) {
  if (s.size() == 2) switch (upTo(8)) {
    case 0: {
      std::string m = matrix(element, false);
      if (!m.empty() && s[0] >= 16 && s[1] >= 16) return m;
      break;
    }
    case 1: { // an operand of a dot
      std::string m = matrix(element, false);
      if (m.empty() || s[0] < 32 || s[1] < 32 || kTypeBits[element] > 32 || element == I1) break;
      unsigned bits = kTypeBits[element];
      return cat("#ttg.dot_op<{opIdx = ", upTo(2), ", parent = ", m, ", kWidth = ",
                 target_->matrixUnit == ir::MatrixUnit::Wmma && target_->matrixVersion == 1 ? 16
                 : target_->vendor == ir::Vendor::Amd                                       ? 4
                                                                                            : 32 / int(bits),
                 "}>");
    }
    case 2:
    case 3: return linear(s);
    case 4: { // a slice of three dimensions
      unsigned dim = upTo(3), extra = 1u << upTo(3);
      Shape parent = s;
      parent.insert(parent.begin() + dim, extra);
      return cat("#ttg.slice<{dim = ", dim, ", parent = ", blocked(parent), "}>");
    }
    default: break;
    }
  if (s.size() == 1 && coin()) {
    unsigned dim = upTo(2);
    Shape parent = s;
    parent.insert(parent.begin() + dim, 1u << upTo(5));
    return cat("#ttg.slice<{dim = ", dim, ", parent = ", coin() ? blocked(parent) : linear(parent), "}>");
  }
  return upTo(4) ? blocked(s) : linear(s);
}

std::string Generator::newLayout(const Shape &s, Type element) {
  return ttgir_ && !s.empty() ? randomLayout(s, element) : "";
}

Value Generator::converted(Value v, const std::string &layout) {
  if (v.layout == layout || v.shape.empty()) return v;
  Value to = v;
  to.layout = layout;
  return make(to, v.type, v.bound, cat("ttg.convert_layout ", v.name, " : ", typeOf(v), " -> ", typeOf(to)));
}

} // namespace tessera::random
