// Readers of a buffer in shared memory (see buffer_readers.h).
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/memdesc_root.h"

namespace tessera::transforms {
using namespace ir;

bool isOnlyRead(Value buffer) {
  return llvm::all_of(buffer.users(), [](Operation *user) {
    if (isMemdescView(user)) return isOnlyRead(user->result());
    return user->is<ttg::LocalLoadOp>() || user->is<ttng::WarpGroupDotOp>();
  });
}

ttg::LocalAllocOp bufferFilledBy(Operation *load) {
  if (!load->result().hasOneUse()) return {};
  auto alloc = load->result().users()[0]->dyn<ttg::LocalAllocOp>();
  bool isReadHere = alloc && alloc->block() == load->block() && isOnlyRead(alloc.result());
  return isReadHere ? alloc : ttg::LocalAllocOp();
}

} // namespace tessera::transforms
