// Lookup of a target by name in a table of rows. The tables themselves belong to the vendors
// (nvidia::archTable(), amd::archTable()); runtime/compiler/targets.h joins them.
#pragma once
#include "codegen/object/arch_info.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::codegen {

/// The row whose name or alias is `name`, or null.
inline const ArchInfo *findArch(llvm::ArrayRef<ArchInfo> table, llvm::StringRef name) {
  for (const ArchInfo &row : table)
    if (row.info.name == name || (!row.alias.empty() && row.alias == name)) return &row;
  return nullptr;
}

} // namespace tessera::codegen
