// Following views of buffers (see memdesc_root.h).
#include "transforms/analyses/memdesc_root.h"

namespace tessera::transforms {
using namespace ir;

bool isMemdescView(const Operation *op) { return op->is<MemdescViewOp>() || op->is<ttng::TmemSubsliceOp>(); }

Value viewedMemdesc(Value memdesc) {
  if (auto part = memdesc.definedBy<ttng::TmemSubsliceOp>()) return part.src();
  auto view = memdesc.definedBy<MemdescViewOp>();
  return view ? view.src() : Value();
}

Value memdescRoot(Value memdesc) {
  while (Value viewed = viewedMemdesc(memdesc)) memdesc = viewed;
  return memdesc;
}

ttg::LocalAllocOp allocationOf(Value memdesc) { return memdescRoot(memdesc).definedBy<ttg::LocalAllocOp>(); }

} // namespace tessera::transforms
