// The buffer behind a memory descriptor. Views (ttg.memdesc_index, _subslice, _trans, _reshape, _reinterpret) make
// descriptors of a part of a buffer, or of all of it in another shape:
//
//   %buffers = ttg.local_alloc ; %b = ttg.memdesc_index %buffers[%i] ; %t = ttg.memdesc_trans %b
//
// Here %buffers is the root of %b and %t.
#pragma once
#include "ir/ops.h"

namespace tessera::transforms {

/// Whether the operation makes a view of its first operand.
bool isMemdescView(const ir::Operation *);
/// The descriptor that `memdesc` is a view of; null if it is no view.
ir::Value viewedMemdesc(ir::Value memdesc);
/// The descriptor at the beginning of a chain of views: the result of a ttg.local_alloc, or a value whose buffer is
/// not known (an argument, the result of a branch, of a loop, of a call).
ir::Value memdescRoot(ir::Value memdesc);
/// The allocation behind a descriptor; null if it is not known.
ir::ttg::LocalAllocOp allocationOf(ir::Value memdesc);

} // namespace tessera::transforms
