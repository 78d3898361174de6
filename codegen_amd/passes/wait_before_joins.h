// Waits for loads ahead of branches around stores, and ahead of loops (see wait_before_joins.cpp).
#pragma once

namespace llvm {
class Pass;
}

namespace tessera::amd {

llvm::Pass *createWaitBeforeJoins();

} // namespace tessera::amd
