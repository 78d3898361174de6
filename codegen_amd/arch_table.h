// The AMD targets, one constant row each (arch_table.cpp).
#pragma once
#include "codegen/object/arch_info.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::amd {

/// All AMD targets: CDNA (gfx9), then RDNA.
llvm::ArrayRef<codegen::ArchInfo> archTable();

} // namespace tessera::amd
