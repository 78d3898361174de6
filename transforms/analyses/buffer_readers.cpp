// Readers of a buffer in shared memory (see buffer_readers.h).
#include "transforms/analyses/buffer_readers.h"
#include "ir/ops.h"
#include "transforms/analyses/memdesc_root.h"

namespace tessera::transforms {
using namespace ir;

bool isOnlyRead(Value buffer) {
  return llvm::all_of(buffer.users(), [](Operation *user) {
    if (isMemdescView(user)) return isOnlyRead(user->result());
    return user->is<ttg::LocalLoadOp>() || user->is<ttng::WarpGroupDotOp>();
  });
}

} // namespace tessera::transforms
