// Following views of buffers (see memdesc_root.h).
#include "transforms/analyses/memdesc_root.h"

namespace tessera::transforms {
using namespace ir;

bool isMemdescView(const Operation *op) {
  switch (op->opcode()) {
  case Opcode::ttg_memdesc_index:
  case Opcode::ttg_memdesc_subslice:
  case Opcode::ttg_memdesc_trans:
  case Opcode::ttg_memdesc_reshape:
  case Opcode::ttg_memdesc_reinterpret: return true;
  default: return false;
  }
}

Value viewedMemdesc(Value memdesc) {
  Operation *def = memdesc.definingOp();
  return def && isMemdescView(def) ? def->operand(0) : Value();
}

Value memdescRoot(Value memdesc) {
  while (Value viewed = viewedMemdesc(memdesc)) memdesc = viewed;
  return memdesc;
}

ttg::LocalAllocOp allocationOf(Value memdesc) { return memdescRoot(memdesc).definedBy<ttg::LocalAllocOp>(); }

} // namespace tessera::transforms
