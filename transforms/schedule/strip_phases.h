// Blocks that are needed before and after a reduction, which strip-mine can cut only apart (see strip_phases.cpp).
#pragma once
#include "ir/op_table.h"
#include "ir/ops.h"
#include <vector>

namespace tessera::transforms::strips {

/// Computes what a reduction is made of a second time, from its loads on, for what depends on the reduction's result,
/// if the loaded values would fill more than `registers` of a thread until then. `mayBeWritten`: whether anything in
/// the module may write the memory behind a pointer. `ops`: operations of a block, in order; copies are inserted.
bool separatePhases(std::vector<ir::Operation *> &ops, int64_t registers,
                    llvm::function_ref<bool(ir::Value)> mayBeWritten);

} // namespace tessera::transforms::strips
