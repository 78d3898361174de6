// The NVIDIA targets, one constant row each (arch_table.cpp).
#pragma once
#include "codegen/object/arch_info.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::nvidia {

/// All NVIDIA targets, oldest first.
llvm::ArrayRef<codegen::ArchInfo> archTable();

} // namespace tessera::nvidia
