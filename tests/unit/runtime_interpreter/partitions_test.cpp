// ttg.warp_specialize in the interpreter beyond what the conformance suite runs: partitions that wait for each other
// in vain, faults in one of them, waits for another program from within one.
#include "evaluation.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {
using test::Evaluation;

constexpr const char *kHead = R"(#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
)";

/// The default region waits for phase `first` of a barrier, and the partition for `second` of another; each arrives
/// at the other's before its wait or, `late`, after it.
std::string crossed(int first, int second, bool late) {
  std::string wait = "      ttng.wait_barrier %$W, %$P : !ttg.memdesc<1xi64, #plain, #smem, mutable>\n",
              arrive = "      ttng.arrive_barrier %$A, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>\n";
  auto body = [&](const std::string &waits, const std::string &parity, const std::string &arrives) {
    std::string text = late ? wait + arrive : arrive + wait;
    for (auto [from, to] : {std::pair("$W", waits), std::pair("$P", parity), std::pair("$A", arrives)})
      for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, 2, to);
    return text;
  };
  return kHead + std::string(R"(  tt.func public @k(%o: !tt.ptr<i32>) {
    %p0 = arith.constant )") +
         std::to_string(first) + R"( : i32
    %x = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    %y = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %x, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %y, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttg.warp_specialize(%x, %y, %o)
    default {
)" + body("x", "p0", "y") +
         R"(      ttg.warp_yield
    }
    partition0(%px: !ttg.memdesc<1xi64, #plain, #smem, mutable>, %py: !ttg.memdesc<1xi64, #plain, #smem, mutable>, %po: !tt.ptr<i32>) num_warps(1) {
      %p1 = arith.constant )" +
         std::to_string(second) + R"( : i32
      %c5 = arith.constant 5 : i32
)" + body("py", "p1", "px") +
         R"(      tt.store %po, %c5 : !tt.ptr<i32>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #plain, #smem, mutable>, !ttg.memdesc<1xi64, #plain, #smem, mutable>, !tt.ptr<i32>) -> ()
    tt.return
  }
}
)";
}

TEST(Partitions, WaitForEachOther) {
  for (auto [first, second, late] : {std::tuple(0, 0, false), std::tuple(1, 0, true), std::tuple(0, 1, true)}) {
    std::vector<int32_t> o(1);
    Evaluation(crossed(first, second, late)).buffer(o).ok();
    EXPECT_EQ(o[0], 5);
  }
}

TEST(Partitions, WaitForEachOtherInVain) {
  std::vector<int32_t> o(1);
  Evaluation both(crossed(0, 0, true));
  both.buffer(o).fails("deadlock: nothing completes this phase of the mbarrier (1 arrivals and 0 bytes are missing)");
  EXPECT_NE(both.messages.find("ttng.wait_barrier"), std::string::npos) << both.messages;
}

TEST(Partitions, FaultsInOneEndAll) {
  std::string text = kHead + std::string(R"(  tt.func public @k(%o: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %x = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %x, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttg.warp_specialize(%x, %o)
    default {
      ttng.wait_barrier %x, %zero : !ttg.memdesc<1xi64, #plain, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%px: !ttg.memdesc<1xi64, #plain, #smem, mutable>, %po: !tt.ptr<i32>) num_warps(1) {
      %far = arith.constant 1000 : i32
      %p = tt.addptr %po, %far : !tt.ptr<i32>, i32
      tt.store %p, %far : !tt.ptr<i32>
      ttng.arrive_barrier %px, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
      ttg.warp_return
    }
    partition1(%px: !ttg.memdesc<1xi64, #plain, #smem, mutable>, %po: !tt.ptr<i32>) num_warps(1) {
      %one = arith.constant 1 : i32
      tt.store %po, %one : !tt.ptr<i32>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #plain, #smem, mutable>, !tt.ptr<i32>) -> ()
    tt.return
  }
}
)");
  std::vector<int32_t> o(4);
  Evaluation e(text);
  e.buffer(o).fails("out of bounds");
  EXPECT_NE(e.messages.find("tt.store"), std::string::npos) << e.messages;
}

// A partition of each program counts by atomics until all programs have: the turns of partitions and of programs mix.
TEST(Partitions, WaitForAnotherProgram) {
  std::string text = kHead + std::string(R"(  tt.func public @k(%o: !tt.ptr<i32>, %n: i32) {
    ttg.warp_specialize(%o, %n)
    default {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %x = tt.atomic_rmw add, acq_rel, gpu, %o, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
      ttg.warp_yield
    }
    partition0(%p: !tt.ptr<i32>, %m: i32) num_warps(1) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %last = scf.while (%v = %zero) : (i32) -> i32 {
        %now = tt.atomic_rmw add, acq_rel, gpu, %p, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
        %more = arith.cmpi slt, %now, %m : i32
        scf.condition(%more) %now : i32
      } do {
      ^bb0(%w: i32):
        scf.yield %w : i32
      }
      %to = tt.addptr %p, %one : !tt.ptr<i32>, i32
      %y = tt.atomic_rmw add, acq_rel, gpu, %to, %last, %true : (!tt.ptr<i32>, i32, i1) -> i32
      ttg.warp_return
    } : (!tt.ptr<i32>, i32) -> ()
    tt.return
  }
}
)");
  std::vector<int32_t> o(2);
  Evaluation(text).buffer(o).scalar(6).ok({6, 1, 1});
  EXPECT_EQ(o[0], 6);
  EXPECT_EQ(o[1], 36);
  std::vector<int32_t> never(2);
  Evaluation(text).buffer(never).scalar(7).fails("deadlock", {6, 1, 1});
}

} // namespace
} // namespace tessera
