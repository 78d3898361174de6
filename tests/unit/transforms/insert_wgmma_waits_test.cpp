// Pass insert-wgmma-waits by its conditions: which restarts become flags, and where waits are needed and where not.
#include "transforms/run_pass.h"

namespace tessera::transforms {
namespace {

/// What the pass makes of a function's body: `dot` and `dot*` (asynchronous; `dot+flag`: with a scale), `wait N`, `use`
/// (math.absf), `select`, and what holds blocks.
std::string outline(const std::string &body) {
  std::string function = R"(
  tt.func public @k(%a: !m, %b: !m, %x: !x, %y: !t, %zeroX: !x, %n: i32, %c: i1, %mask: tensor<64x64xi1, #mma>) -> !t {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : !t
)" + body + "  }\n";
  std::string text = testing::textAfter("insert-wgmma-waits", testing::wgmmaModule(testing::withDots(function)));
  return testing::outlineOf(text, {{"error: .*", "$&"},
                                   {"warp_group_dot %\\w+, %\\w+, %\\w+, .*isAsync = true", "dot+flag"},
                                   {"warp_group_dot %.*isAsync = true", "dot*"},
                                   {"warp_group_dot %", "dot"},
                                   {"warp_group_dot_wait.*pendings = (\\d+)", "wait$1"},
                                   {"math.absf", "use"},
                                   {"arith.select", "select"},
                                   {"arith.xori", "not"},
                                   {"scf\\.(for|if|yield)", "$1"},
                                   {"\\} else", "else"},
                                   {"tt.return", "return"}});
}

/// A loop whose accumulator restarts from zeros, with `old` replaced.
std::string restart(const std::string &old = "", const std::string &replacement = "") {
  std::string body = R"(
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!t) : i32 {
      %last = arith.cmpi eq, %i, %n : i32
      %d = ADOT(%a, %b, %acc)
      %w = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : !t
      %next = arith.select %last, %zeros, %w : !t
      scf.yield %next : !t
    }
    %done = ttng.warp_group_dot_wait %r {pendings = 0 : i32} : !t
    tt.return %zeros : !t
)";
  size_t at = body.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return outline(body.replace(at, old.size(), replacement));
}

TEST(InsertWgmmaWaits, RestartsBecomeFlags) {
  EXPECT_EQ(restart(), "for dot+flag wait1 not yield wait0 return");
  EXPECT_EQ(restart("%zeros, %w", "%w, %zeros"), "for dot+flag wait1 yield wait0 return");
}

TEST(InsertWgmmaWaits, RestartsThatStay) {
  EXPECT_EQ(restart("%d = ADOT", "%u = math.absf %acc : !t\n %d = ADOT"),
            "for use dot* wait1 wait0 select yield wait0 return")
      << "the accumulator has another use";
  EXPECT_EQ(restart("ADOT", "DOT"), "for dot wait1 select yield wait0 return") << "a synchronous dot";
  EXPECT_EQ(restart("ttng.warp_group_dot_wait %r {pendings = 0 : i32}", "math.absf %r"),
            "for dot* wait1 wait0 select yield use return")
      << "the result is used";
  EXPECT_EQ(restart("return %zeros", "return %done"), "for dot* wait1 wait0 select yield wait0 return")
      << "the result is used after a wait";
  EXPECT_EQ(restart("%last, %zeros, %w :", "%mask, %zeros, %w : tensor<64x64xi1, #mma>,"),
            "for dot* wait1 wait0 select yield wait0 return")
      << "elements restart, not the tensor";
  EXPECT_EQ(restart("scf.yield", "%u = math.absf %next : !t\n scf.yield"),
            "for dot* wait1 wait0 select use yield wait0 return")
      << "the next accumulator has another use";
  EXPECT_EQ(restart("%zeros, %w :", "%y, %w :"), "for dot* wait1 wait0 select yield wait0 return") << "not from zeros";
  EXPECT_EQ(restart("ADOT(%a, %b, %acc)", "ttng.warp_group_dot %a, %b, %acc, %c {inputPrecision = 0 : i32, isAsync = "
                                          "true} : !m * !m -> !t"),
            "for dot+flag wait1 wait0 select yield wait0 return")
      << "the dot has a scale already";
}

TEST(InsertWgmmaWaits, RestartFromOutsideOrOfAnOperandStays) {
  EXPECT_EQ(outline(R"(
    %next = arith.select %c, %zeros, %y : !t
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!t) : i32 {
      %d = ADOT(%a, %b, %acc)
      scf.yield %next : !t
    }
    tt.return %zeros : !t
)"),
            "select for dot* yield return");
  EXPECT_EQ(outline(R"(
    %zx = arith.constant dense<0.0> : !x
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%left = %zx) -> (!x) : i32 {
      %d = AXDOT(%left, %b, %zeros)
      %next = arith.select %c, %zx, %x : !x
      scf.yield %next : !x
    }
    tt.return %zeros : !t
)"),
            "for dot* select wait0 yield return");
}

TEST(InsertWgmmaWaits, UsesInFlightAreWaitedForOnce) {
  EXPECT_EQ(outline(R"(
    %d = ADOT(%a, %b, %zeros)
    %u = math.absf %d : !t
    %v = math.absf %d : !t
    tt.return %d : !t
)"),
            "dot* wait0 use use return");
  EXPECT_EQ(outline(R"(
    %d = ADOT(%a, %b, %zeros)
    %e = DOT(%a, %b, %d)
    tt.return %e : !t
)"),
            "dot* wait0 dot return")
      << "a synchronous dot takes no accumulator in flight";
  EXPECT_EQ(outline(R"(
    %d = ADOT(%a, %b, %zeros)
    %e = ADOT(%a, %b, %d)
    tt.return %e : !t
)"),
            "dot* dot* wait0 return");
}

TEST(InsertWgmmaWaits, ValuesInFlightLeaveBranchesAndLoops) {
  EXPECT_EQ(outline(R"(
    %r = scf.if %c -> (!t) {
      %d = ADOT(%a, %b, %zeros)
      scf.yield %d : !t
    } else {
      scf.yield %zeros : !t
    }
    %u = math.absf %r : !t
    tt.return %u : !t
)"),
            "if dot* yield else yield wait0 use return");
  EXPECT_EQ(outline(R"(
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!t) : i32 {
      %u = math.absf %acc : !t
      %d = ADOT(%a, %b, %u)
      scf.yield %d : !t
    }
    %v = math.absf %r : !t
    tt.return %v : !t
)"),
            "for wait0 use dot* yield wait0 use return");
}

TEST(InsertWgmmaWaits, WhichWaitsAreForAValue) {
  std::string three = R"(
    %d = ADOT(%a, %b, %zeros)
    %e = ADOT(%a, %b, %zeros)
    %w = ttng.warp_group_dot_wait %d {pendings = 2 : i32} : !t
    %u = math.absf %w : !t
    tt.return %u : !t
)";
  EXPECT_EQ(outline(three), "dot* dot* wait2 wait0 use return") << "it leaves the dot itself in flight";
  std::string synchronous = three;
  synchronous.replace(synchronous.find("%e = ADOT"), 9, "%e = DOT");
  EXPECT_EQ(outline(synchronous), "dot* dot wait2 use return") << "a synchronous dot waits for all before it";
  EXPECT_EQ(outline(R"(
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (!t) : i32 {
      %w = ttng.warp_group_dot_wait %acc {pendings = 1 : i32} : !t
      %u = math.absf %w : !t
      %d = ADOT(%a, %b, %u)
      scf.yield %d : !t
    }
    tt.return %zeros : !t
)"),
            "for wait1 wait0 use dot* yield return")
      << "dots of the iteration before are not counted";
}

/// An iteration that leaves a dot in flight which reads its A operand from registers, and does `more` after it.
std::string registersInFlight(const std::string &more) {
  return outline(R"(
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zeros, %v = %zeros) -> (!t, !t) : i32 {
      %d = AXDOT(%x, %b, %u)
)" + more + R"(
      scf.yield %d, %e : !t, !t
    }
    tt.return %zeros : !t
)");
}

TEST(InsertWgmmaWaits, RegistersAreReadInTheirIteration) {
  EXPECT_EQ(registersInFlight("%e = ADOT(%a, %b, %v)"), "for dot* dot* wait1 yield return");
  EXPECT_EQ(registersInFlight("%e = DOT(%a, %b, %v)"), "for dot* dot yield return") << "it waits for the first";
  EXPECT_EQ(registersInFlight("%e = ADOT(%a, %b, %v)\n ttng.warp_group_dot_wait {pendings = 1 : i32} :"),
            "for dot* dot* wait1 yield return");
  EXPECT_EQ(registersInFlight("%e = ADOT(%a, %b, %v)\n ttng.warp_group_dot_wait {pendings = 2 : i32} :"),
            "for dot* dot* wait2 wait1 yield return");
}

/// A loop with the dot in a branch.
std::string registersInBranch(const std::string &dot) {
  return outline(R"(
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %c {
        %d = )" + dot +
                 R"((%x, %b, %zeros)
      }
    }
    tt.return %zeros : !t
)");
}

TEST(InsertWgmmaWaits, RegistersAreReadInBranches) {
  EXPECT_EQ(registersInBranch("AXDOT"), "for if dot* wait0 return");
  EXPECT_EQ(registersInBranch("XDOT"), "for if dot return");
}

} // namespace
} // namespace tessera::transforms
