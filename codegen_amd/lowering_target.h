// The AMD Target of the lowering.
#pragma once
#include "codegen/target.h"
#include <memory>

namespace tessera::amd {

/// @pre info is a row of archTable()
std::unique_ptr<codegen::Target> makeTarget(const ir::TargetInfo &info);

} // namespace tessera::amd
