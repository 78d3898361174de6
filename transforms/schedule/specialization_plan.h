// Which loops' copies a producer warp can issue (see automatic_warp_specialization.cpp), and what of the loop it needs.
#pragma once
#include "ir/ops.h"
#include "ir/target.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::transforms {

/// Whether the operation is a copy into a buffer, or announces the bytes of copies to their mbarrier.
inline bool isCopyOrAnnouncement(const ir::Operation *op) {
  return op->is<ir::ttng::AsyncTmaCopyGlobalToLocalOp>() || op->is<ir::ttng::BarrierExpectOp>();
}

/// Multi-buffers that are waited for and released together.
struct BufferGroup {
  llvm::SmallVector<ir::Operation *, 2> allocs;
  ir::Operation *firstRead = nullptr; // a dot of the body
  ir::Operation *lastRead = nullptr;  // of the body: after it, the iteration's buffers may be filled again
};

struct SpecializationPlan {
  llvm::SmallVector<ir::Operation *, 4> copies; // of the body, and the announcements of their bytes
  llvm::SetVector<ir::Operation *> addresses;   // operations of the body that compute what these need
  llvm::SetVector<unsigned> carried;            // indices of the loop's carried values that they need
  ir::ttng::WaitBarrierOp wait;                 // for the copies
  ir::ttg::LocalAllocOp mbarriers;              // which is waited for
  ir::Value read, fill;                         // indices of the buffers, which the loop carries
  int64_t buffers = 0;
  std::vector<BufferGroup> groups; // in the order of their first reads

  /// The group whose buffers the copy fills.
  size_t groupOf(ir::ttng::AsyncTmaCopyGlobalToLocalOp copy) const;
};

/// The plan of a loop whose copies a producer can issue; none, and `whyNot`: why it cannot.
std::optional<SpecializationPlan> planSpecialization(ir::scf::ForOp, const ir::Tuning &, std::string &whyNot);

} // namespace tessera::transforms
