// Operands in shared memory (see shared_matrix.h). The shared layout gives the offsets of an operand: of the tile's
// first element, of the next 8 rows, of the next step. All of these offsets have bits of their own, so that they add
// up.
#include "codegen/lowering/shared_matrix.h"
#include "codegen/lowering/shared_access.h"
#include "layouts/nvmma_shared.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

int64_t SharedOperand::at(int32_t mn, int32_t alongK) const {
  int32_t dims[2];
  dims[k] = alongK;
  dims[1 - k] = mn;
  return places.apply({{Dim::Dim0, dims[0]}, {Dim::Dim1, dims[1]}})[0] * bytes;
}

/// Where the operand begins in its buffer, in bytes: whole steps along K, and 8 rows or columns, after which the
/// swizzle repeats. None after a diagnostic.
static std::optional<int64_t> originOf(Operation *op, Value v, const SharedOperand &f, FunctionLowering &fl) {
  auto &parts = fl.get(v);
  int64_t at[2];
  for (unsigned d = 0; d < 2; ++d) {
    auto *offset = llvm::dyn_cast<llvm::ConstantInt>(parts[d + 1]);
    if (!offset) {
      fl.error(op, "reads a part of a buffer at an offset that is no constant");
      return std::nullopt;
    }
    at[d] = offset->getSExtValue(); // a multiple of the part's size, as of every ttg.memdesc_subslice
  }
  return f.at(int32_t(at[1 - f.k]), int32_t(at[f.k]));
}

/// Whether the tile's rows and columns are at the distances that descriptors give, which this fills in.
static bool isCanonical(SharedOperand &f, const SharedTile &tile) {
  auto &m = f.matrix;
  int32_t rowElements = int32_t(m.swizzleBytes / f.bytes);
  auto regular = [&](int32_t from, int32_t to, auto &&offset, int64_t step) {
    for (int32_t i = from, n = 1; i < to; i *= 2, n *= 2)
      if (offset(i) != step * n) return false;
    return true;
  };
  if (m.kMajor) {
    m.strideBytes = f.at(layouts::kSwizzleRows, 0);
    return regular(layouts::kSwizzleRows, tile.extent, [&](int32_t i) { return f.at(i, 0); }, m.strideBytes);
  }
  m.strideBytes = f.at(0, layouts::kSwizzleRows);
  m.leadingBytes = tile.extent > rowElements ? f.at(rowElements, 0) : 0;
  return regular(
             layouts::kSwizzleRows, tile.depth, [&](int32_t i) { return f.at(0, i); }, m.strideBytes) &&
         regular(rowElements, tile.extent, [&](int32_t i) { return f.at(i, 0); }, m.leadingBytes);
}

std::optional<SharedOperand> sharedOperandOf(Operation *op, Value v, unsigned k, const SharedTile &tile,
                                             FunctionLowering &fl) {
  auto refuse = [&](const llvm::Twine &why) {
    fl.error(op, why);
    return std::nullopt;
  };
  auto type = v.type().cast<MemDescType>();
  auto *encoding = layouts::dynCast<layouts::NvmmaSharedEncoding>(type.encoding());
  if (!encoding || !encoding->params().swizzlingByteWidth)
    return refuse("reads an operand under " + type.encoding()->str() +
                  "; the matrix unit takes #ttg.nvmma_shared with a swizzle");
  auto shared = sharedLayoutOf(type);
  if (!shared.ok()) return refuse(std::string(shared.status().message()));
  SharedOperand f;
  f.places = shared->pseudoInvert();
  f.k = k;
  f.bytes = type.element().bitWidth() / 8;
  auto &m = f.matrix;
  m.swizzleBytes = unsigned(encoding->params().swizzlingByteWidth);
  m.kMajor = (encoding->params().transposed ? 0u : 1u) == k;
  bool readsAcross = f.bytes == 2 || (f.bytes == 1 && tile.readsBytesAcross);
  if (!m.kMajor && !readsAcross)
    return refuse("reads an operand of " + type.element().str() +
                  " across K; the matrix unit does so for 16-bit elements only");
  if (!isCanonical(f, tile))
    return refuse("reads an operand of " + type.str() + ", whose parts are not at regular distances");
  auto origin = originOf(op, v, f, fl);
  if (!origin) return std::nullopt;
  f.origin = *origin;
  return f;
}

} // namespace tessera::codegen
