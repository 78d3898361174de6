// All operations of one kind, so that a pass can change the IR while it goes over them.
#pragma once
#include "ir/operation.h"
#include <vector>

namespace tessera::ir {

/// The operations of a kind below `root`, itself included, in the order of Operation::walk.
template <class OpT> std::vector<OpT> collect(Operation *root) {
  std::vector<OpT> found;
  root->walk([&](Operation *op) {
    if (auto typed = op->dyn<OpT>()) found.push_back(typed);
  });
  return found;
}

} // namespace tessera::ir
