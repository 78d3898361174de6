// Which layouts are good for a store (tritongpu-remove-layout-conversions).
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"
#include "layouts/blocked.h"

namespace tessera::transforms {

/// The least that global memory transfers (NVIDIA: a sector of a cache line; lines of AMD are longer).
inline constexpr int64_t kSectorBytes = 32;

/// Elements of a thread; many if there is no such layout, so that no move chooses it.
int64_t elementsPerThreadOrMany(const layouts::Encoding *, llvm::ArrayRef<int64_t> shape);

/// Whether stores in layout `e` are as good as in the layout that the store has, a conversion counted in.
/// `accessBytes`: of the widest access.
bool storesAsWell(ir::tt::StoreOp store, const layouts::BlockedEncoding *now, const layouts::Encoding *e,
                  int64_t accessBytes, const ir::Tuning &);

} // namespace tessera::transforms
