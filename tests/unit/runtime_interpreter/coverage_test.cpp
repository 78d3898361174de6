// Every row of the op table is evaluated or on the list of those that are not, with a reason. (That an operation
// cannot be forgotten altogether is the compiler's doing: the dispatch is a switch over all opcodes.) Growing the
// list is a decision that shows here.
#include "ir/op_table.h"
#include "runtime/interpreter/elementwise.h"
#include "runtime/interpreter/program.h"
#include <gmock/gmock.h>

namespace tessera {
namespace {

TEST(Coverage, OperationsThatAreNotInterpreted) {
  std::vector<std::string> without;
  for (auto &row : ir::allOps())
    if (runtime::whyNotInterpreted(row.opcode)) without.push_back(row.name.str());
  EXPECT_THAT(without, testing::UnorderedElementsAre(
                           "gpu.thread_id", "rocdl.workitem.id.x", "ttg.warp_id", "amdg.local_load_packed_tranposed",
                           "amdg.arrive_barrier", "amdg.async_copy_local_to_global", "amdg.async_copy_mbarrier_arrive",
                           "amdg.init_barrier", "amdg.masked_load", "amdg.masked_store", "amdg.wait_barrier",
                           "ttng.async_copy_mbarrier_arrive", "ttng.async_shared_store", "ttng.clc_get_program_id",
                           "ttng.clc_is_canceled", "ttng.clc_load_result", "ttng.clc_try_cancel",
                           "ttng.tc_gen5_mma_scaled", "ttng.tmem_copy"));
}

TEST(Coverage, ElementwiseOperationsHaveNoRegions) {
  // What has the trait must be evaluated lane by lane, or reductions could not use it.
  for (auto &row : ir::allOps())
    if (row.has(ir::kElementwise)) EXPECT_EQ(row.numRegions, 0) << row.name.str();
}

TEST(Coverage, ElementwiseOperationsAreEvaluated) {
  for (auto &row : ir::allOps()) {
    if (!row.has(ir::kElementwise) || runtime::whyNotInterpreted(row.opcode)) continue;
    EXPECT_TRUE(runtime::isEvaluatedElementwise(row.opcode)) << row.name.str();
  }
}

} // namespace
} // namespace tessera
