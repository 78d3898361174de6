// The users of a buffer in shared memory (see buffer_readers.h).
#include "transforms/analyses/buffer_readers.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

bool isOnlyRead(Value buffer) {
  return llvm::all_of(buffer.users(), [](Operation *u) {
    bool view = u->is<ttg::MemdescTransOp>() || u->is<ttg::MemdescSubsliceOp>() || u->is<ttg::MemdescIndexOp>() ||
                u->is<ttg::MemdescReshapeOp>();
    return view ? isOnlyRead(u->result()) : u->is<ttg::LocalLoadOp>() || u->is<ttng::WarpGroupDotOp>();
  });
}

} // namespace tessera::transforms
